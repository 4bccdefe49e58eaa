# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""python -m strreport.readme FILE... --svg OUT.svg

One chart for the front page, on no background and in middle tones that can
be read on a light and on a dark page, and tables in Markdown on stdout.
"""

import argparse
import os
import sys
import textwrap

from . import compare, losses, nice, tables, text
from .load import ReportError, load

NAMES = ("pipe-streams", "ring", "unix-stream", "pipe-linux")

# Contrast of at least 3.4 both against white and against near-black.
TONES = {"pipe-streams": "#2f81d9", "ring": "#84848a",
         "unix-stream": "#b07d0a", "pipe-linux": "#df6210"}
GREY = "#7d828a"


def draw(data):
    """The chart as SVG text."""
    from . import charts, draw as drawing
    modes = [m for m in data.modes("pipe")
             if any(data.curve("pipe", n, m) for n in NAMES)]
    curves = {m: [(n, data.curve("pipe", n, m)) for n in NAMES] for m in modes}
    rates = [r.rate for c in curves.values() for _, runs in c for r in runs]
    if not rates:
        raise ReportError("no suite \"pipe\" to draw")
    sizes = sorted({r.size for c in curves.values() for _, runs in c
                    for r in runs})
    width, height, left, right, gap = 760, 300, 46, 100, 22
    chart = drawing.Chart(width, height, left, right, 46, 40)
    each = (width - left - right - gap * (len(modes) - 1)) / len(modes)
    chart.figure.delaxes(chart.axes)
    chart.write(2, height - 14, "Messages per second by message size",
                color=GREY, size=12, fontweight="bold")
    for index, mode in enumerate(modes):
        x = left + index * (each + gap)
        box = (x, chart.box[1], x + each, chart.box[3])
        axes = chart.axes = chart.add_axes(box)
        drawing.size_axis(chart, sizes)
        drawing.log_axis(axes, min(rates) / 1.6, max(rates) * 1.5,
                         drawing.short)
        axes.tick_params(colors=GREY, labelcolor=GREY)
        axes.grid(True, axis="y", color=GREY, alpha=0.3)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(GREY)
        if index:
            axes.set_yticklabels([])
        chart.write(x + 6, chart.box[3] + 6, text.mode(mode), color=GREY,
                    size=11)
        ends = []
        for name, runs in curves[mode]:
            if not runs:
                continue
            look = {**charts.style(name), "color": TONES[name]}
            axes.plot([r.size for r in runs], [r.rate for r in runs],
                      **look)
            ends.append((runs[-1].size, runs[-1].rate, text.label(name),
                         TONES[name], name in drawing.MAIN))
        if index == len(modes) - 1:
            chart.label_ends(ends, gap=13)
    chart.write((left + width - right) / 2, 6,
                "message size, bytes (both axes logarithmic)", color=GREY,
                size=9.5, ha="center")
    chart.figure.patch.set_visible(False)
    return drawing.as_file(
        chart.svg(), "readme", "Messages per second against message size "
        "for a STREAMS pipe, a Linux pipe, a UNIX stream socket and a bare "
        "ring: " + text.join(text.mode(m) for m in modes))


# Round trips of one byte, in the words of the front page.
TRIPS = (("warm", "Round trip of one byte, without a pause"),
         ("idle", "Round trip of one byte after a second of silence"))
OPENED = "Opening and closing a pipe"


def _cell(value, note):
    return f"**{text.factor(value)}** ({note})"


def _rates(data):
    for card, by_mode in compare.cards(data):
        yield (f"{card.title}: {card.ours}, against {card.kernel}",
               {m: _cell(r.mean, f"{text.factor(r.low[1])} at "
                         f"{r.low[0]:,} B") for m, r in by_mode.items()})


def _times(data):
    """Our time and the kernel's over it, as with rates: above 1 is better."""
    trips = {key: found for key, name, found in tables.round_trips(data)
             if name == "pipe-streams"}
    for state, what in TRIPS:
        yield what, {m: _cell(1 / ratio, text.ns(run.p50)) for m, (run, ratio)
                     in trips.get((state, 1), {}).items() if ratio}
    for name, ns, ratio in tables.opened(data):
        if name == "pipe-streams" and ratio:
            yield OPENED, {m: _cell(1 / ratio, text.ns(ns))
                           for m in data.modes("open")}


def _headline(data):
    """Pipes in a sentence, and the first thing that is lost in another."""
    said = []
    for card, by_mode in compare.cards(data):
        if card.title == "Pipes":
            said.append("A STREAMS pipe passes " + text.join(
                f"**{text.factor(r.mean)}** times"
                + (" as many messages a second as the kernel's pipe"
                   if not i else "") + f" on {text.mode(m)}"
                for i, (m, r) in enumerate(by_mode.items())) + ".")
    trips = {key: found for key, name, found in tables.round_trips(data)
             if name == "pipe-streams"}
    slow = [f"**{text.factor(ratio)}** times as long on {text.mode(m)}"
            for m, (_, ratio) in trips.get(("idle", 1), {}).items()
            if ratio and ratio >= losses.LEAST]
    if slow:
        said.append("Waking a process is slower: a round trip after a "
                    f"second of silence takes {text.join(slow)}.")
    return " ".join(said)


def _remains(cell):
    """The ratio of a cell of nice.py."""
    if not cell:
        return text.NONE
    return text.factor(cell.ratio) if cell.artificial else "none arrived"


def _priorities(data):
    """What remains of the rate under the priorities of the papers."""
    found = nice.lowest(data)
    modes = data.modes("nice")
    if not found:
        return []
    return ["", "The next table shows how much of its rate a transport "
            "keeps when the sender has the highest priority (nice -20) and "
            "the receiver the lowest (nice 19). The rate with equal "
            "priorities is 1. In parentheses is the kernel's counterpart. "
            "Each figure is the lowest of those at "
            f"{text.join(f'{s:,}' for s in nice.sizes(data))} bytes.", "",
            "| fraction of the rate that remains | "
            + " | ".join(text.mode(m) for m in modes) + " |",
            "|---|" + "---:|" * len(modes),
            *(f"| {text.name(ours)} ({text.name(theirs)}) | " + " | ".join(
                f"**{_remains(by_mode[m][0])}** ({_remains(by_mode[m][1])})"
                if m in by_mode else text.NONE for m in modes) + " |"
              for _, ours, theirs, by_mode in found)]


def _lost(data):
    """Where the kernel is faster: the worst of each kind, and how many."""
    found = losses.losses(data)
    if not found:
        return ["The kernel is faster nowhere in this run."]
    worst, rows = losses.worst(found), len(losses.table(found))
    nice_is = (' ("with nice": the sender has the highest priority, the '
               'receiver the lowest)'
               if any("with nice" in x.what for x in worst) else "")
    return ["In throughput, round trips and opening a pipe, "
            f"{losses.compared(data)} comparisons were made; in {rows} of "
            "them the kernel is faster with some message size or number of "
            "CPUs. "
            "The report of `make bench` lists these in `kernel-faster.csv`. "
            "[CAVEATS.md](CAVEATS.md#what-costs-more) lists other costs. "
            "The list below has one line for each suite of "
            "[docs/benchmarks.md](docs/benchmarks.md) and each kind of "
            "measurement: its worst case. A line has the factor at the worst "
            "message size, then all sizes at which the kernel is "
            f"faster{nice_is}.",
            "",
            *(f"- kernel **{text.factor(x.factor)}** times as fast: " + ", ".join(filter(
                None, [x.what, x.measure if x.measure != losses.RATE else "",
                       x.where, text.mode(x.mode)])) for x in worst)]


def _folded(line):
    """Prose at most 120 columns wide; tables and items stay as they are."""
    return line if line.startswith(("|", "-")) else "\n".join(
        textwrap.wrap(line, 120, break_long_words=False,
                      break_on_hyphens=False))


def markdown(data):
    """A sentence; a table with one scale, a column per mode; the losses."""
    modes = data.modes("pipe")
    lines = [*filter(None, [_headline(data)]), "",
             "| how many times as fast as the kernel | "
             + " | ".join(text.mode(m) for m in modes) + " |",
             "|---|" + "---:|" * len(modes)]
    for what, cells in (*_rates(data), *_times(data)):
        if cells:
            lines.append(f"| {what} | " + " | ".join(
                cells.get(m, text.NONE) for m in modes) + " |")
    cards = compare.cards(data)
    sizes = {s for _, by_mode in cards for r in by_mode.values()
             for s in r.sizes}
    if sizes:
        lines += ["", "Above 1, STREAMS is faster; below 1, the kernel is. "
                  f"The first {len(cards)} rows compare messages received "
                  "per second, at message sizes of "
                  f"{min(sizes):,} to {max(sizes):,} bytes: each figure is "
                  "the geometric mean of the ratios at all sizes, and the "
                  "lowest ratio is in parentheses. The other rows compare "
                  "times; our time is in parentheses."]
    lines += [*_priorities(data), "", *_lost(data), ""]
    return "\n".join(map(_folded, lines)).replace(
        "\N{RIGHT SINGLE QUOTATION MARK}", "'")


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="strreport.readme", description="Draw the chart of the front "
        "page and print its table in Markdown.")
    parser.add_argument("file", nargs="+", metavar="FILE")
    parser.add_argument("--svg", metavar="OUT.svg")
    parser.add_argument("--force", action="store_true",
                        help="mix files of different hosts or builds")
    options = parser.parse_args(argv)
    try:
        data = load(options.file, options.force)
        if not data.suite("pipe"):
            raise ReportError(f"{options.file[0]}: no suite \"pipe\"")
        if options.svg:
            from .__main__ import write_all
            directory, name = os.path.split(options.svg)
            write_all(directory or ".", {name: draw(data)})
        print(markdown(data))
    except ReportError as error:
        print(f"strreport: {error}", file=sys.stderr)
        return 1
    except ImportError as error:
        print(f"strreport: {error}; install report/requirements.txt",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
