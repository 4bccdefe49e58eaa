# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""What becomes of the rate under the priorities of the papers.

(N): sender and receiver alike; (A): the sender at nice -20, the receiver at
nice 19.  The ratio (A)/(N) of each transport, beside that of what the kernel
has for the same purpose.
"""

from dataclasses import dataclass

from . import text

SUFFIX = "-nice"
ENOUGH = 0.5    # of (N)

# Ours, the kernel's, and in words.
PAIRS = (
    ("pipe-streams", "pipe-linux", "pipes"),
    ("fifo-streams", "fifo-linux", "FIFOs"),
    ("pipe-streams-msg", "unix-seqpacket", "messages with boundaries"),
    ("tcp-xtios", "tcp-sockets", "TCP, XTI over Sockets"),
    ("udp-xtios", "udp-sockets", "UDP, XTI over Sockets"),
    ("udp-xti", "udp-sockets", "UDP, XTI, native"),
    ("sctp-xti", "tcp-sockets", "SCTP, XTI, native"),
    ("raw-xti", "raw-sockets", "raw IP, XTI"),
    ("ticotsord", "unix-stream", "connections between processes"),
    ("ticlts", "unix-dgram", "datagrams between processes"),
)


@dataclass
class Cell:
    """Messages received per second at one size in one mode."""

    normal: float
    artificial: float   # 0: the receiver was never let run

    @property
    def ratio(self):
        return self.artificial / self.normal

    @property
    def enough(self):
        return self.ratio >= ENOUGH


@dataclass
class Row:
    ours: str
    theirs: str
    what: str
    size: int
    found: dict     # {mode: (Cell or None, Cell or None)}, ours and theirs


def _cells(data):
    """{(implementation, mode, size): Cell}."""
    rates = {(r.implementation, r.mode, r.size): r.rx
             for r in data.suite("nice") if r.rx is not None}
    return {(name, mode, size): Cell(normal, rates[name + SUFFIX, mode, size])
            for (name, mode, size), normal in rates.items()
            if normal and (name + SUFFIX, mode, size) in rates}


def rows(data):
    """[Row] for what was measured, a transport's sizes side by side."""
    cells = _cells(data)
    modes = data.modes("nice")
    found = []
    for ours, theirs, what in PAIRS:
        for size in sorted({s for n, _, s in cells if n in (ours, theirs)}):
            by_mode = {m: (cells.get((ours, m, size)),
                           cells.get((theirs, m, size))) for m in modes}
            if any(c for c, _ in by_mode.values()):
                found.append(Row(ours, theirs, what, size, by_mode))
    return found


def sizes(data):
    """The message sizes of all rows."""
    return sorted({row.size for row in rows(data)})


def answer(data):
    """In words: of ours, which have less than half of the rate left."""
    cells = [(row, mode, cell) for row in rows(data)
             for mode, (cell, _) in row.found.items() if cell]
    if not cells:
        return ""
    lost = [f"{text.name(row.ours)} on {text.mode(mode)} at "
            f"{text.size(row.size)} ({text.factor(cell.ratio)})"
            for row, mode, cell in cells if not cell.enough]
    half = f"at least {text.plain(ENOUGH)} of the rate"
    if not lost:
        return f"All {len(cells)} results of STREAMS keep {half}."
    return (f"Of {len(cells)} results of STREAMS {len(cells) - len(lost)} "
            f"keep {half}. Those that do not: {text.join(lost)}.")


def lowest(data):
    """[(what, ours, theirs, {mode: (Cell or None, Cell or None)})]: of each
    transport the size at which its ratio is the lowest, for the front page.
    """
    found = {}
    for row in rows(data):
        best = found.setdefault((row.what, row.ours, row.theirs), {})
        for mode, pair in row.found.items():
            best[mode] = tuple(
                min((c for c in both if c), key=lambda c: c.ratio,
                    default=None)
                for both in zip(best.get(mode, (None, None)), pair))
    return [(*key, by_mode) for key, by_mode in found.items()]
