# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""TCP, UDP and the loopback transports: what is compared, what is said."""

from dataclasses import dataclass, field

from . import stats, text
from .order import ordered


SMALL = 1024    # bytes


@dataclass(frozen=True)
class Pair:
    """A comparison, and what is wanted of it: the bar."""

    over: str
    under: str
    what: str
    mean: float | None = None       # geometric mean, at least
    each: float | None = None       # at any size, at least
    arrive: float | None = None     # of the messages sent, at least
    small: float | None = None      # at any size up to SMALL, at least

    @property
    def wanted(self):
        parts = []
        if self.mean:
            parts.append(f"at least {text.plain(self.mean)}")
        if self.small:
            parts.append(f"at least {text.plain(self.small)} up to "
                         f"{SMALL:,} bytes")
        if self.each:
            parts.append(f"no size below {text.plain(self.each)}")
        if self.arrive:
            parts.append(f"{text.plain(self.arrive * 100)} % arrive")
        return ", ".join(parts) or text.NONE

    @property
    def bar(self):
        return self.mean or self.small

    def met(self, ratio, part):
        """None: nothing is wanted."""
        if not self.bar:
            return None
        if self.mean and ratio.mean < self.mean:
            return False
        if any(r < (self.small if self.small and size <= SMALL
                    else self.each or 0)
               for size, r in ratio.by_size.items()):
            return False
        return not self.arrive or (part or 0) >= self.arrive


@dataclass(frozen=True)
class Part:
    suite: str
    title: str
    base: str
    over: str                   # in the words of a chart's title
    pairs: tuple
    paper: str | None = None
    against: dict = field(default_factory=dict, hash=False)


PARTS = (
    Part("tcp", "TCP", "tcp-sockets", "Sockets (N)", (
        Pair("tcp-xtios", "tcp-sockets", "XTI over Sockets", 3, 0.95),
        Pair("tcp-sockets-nice", "tcp-sockets",
             "artificial priorities (A), for comparison"),
        Pair("tcp-xtios", "tcp-sockets-nice", "XTI over Sockets against (A)"),
    ), "tcp-sctp"),
    Part("udp", "UDP", "udp-sockets", "Sockets (N)", (
        Pair("udp-xti", "udp-sockets", "XTI, native", 10, 4, 0.999),
        Pair("udp-xtios", "udp-sockets", "XTI over Sockets", 1.5, 0.9, 0.99),
        Pair("udp-sockets-nice", "udp-sockets",
             "artificial priorities (A), for comparison"),
        Pair("udp-xtios", "udp-sockets-nice", "XTI over Sockets against (A)"),
    ), "udp"),
    Part("wire", "UDP over the wire of kernel sockets", "udp-sockets",
         "Sockets (N)", (
             Pair("udp-xti-out", "udp-sockets", "XTI, native, to a socket",
                  each=0.95, small=1.2),
             Pair("udp-xti-in", "udp-sockets", "XTI, native, from a socket",
                  each=0.95, small=1.2),
         )),
    Part("netns", "UDP between two network namespaces", "udp-sockets-netns",
         "Sockets", tuple(
             Pair(f"wire-{kind}-{way}", "udp-sockets-netns",
                  f"XTI, native, {'to' if way == 'out' else 'from'} a socket "
                  f"over {what}")
             for kind, what in (("socket", "the wire of kernel sockets"),
                                ("raw", "a raw wire"),
                                ("packet", "a packet wire"),
                                ("tun", "a TUN wire"))
             for way in ("out", "in"))),
    Part("loopback", "Loopback transports", "unix-stream", "UNIX sockets", (
        Pair("ticotsord", "unix-stream", "connections", 6),
        Pair("ticlts", "unix-dgram", "datagrams", 6),
    ), None, {"ticlts": "unix-dgram"}),
)


@dataclass(frozen=True)
class Trip:
    """Round trips of one byte: the median over the other's, at most."""

    over: str
    under: str
    most: dict      # mode: bar


TRIPS = (
    Trip("tcp-xtios", "tcp-sockets", {"split": 1.15, "same": 1.15}),
    Trip("udp-xti", "udp-sockets", {"split": 0.1, "same": 1}),
    Trip("udp-xtios", "udp-sockets", {"split": 1.15, "same": 1.15}),
    *(Trip(f"wire-{kind}-{way}", "udp-sockets-netns", {})
      for kind in ("socket", "raw", "packet", "tun")
      for way in ("out", "in")),
    Trip("ticotsord", "unix-stream", {"split": 0.2, "same": 1.2}),
    Trip("ticlts", "unix-dgram", {}),
)


@dataclass
class Verdict:
    """A pair in one mode."""

    ratio: stats.Ratio
    arrived: float | None       # the least part of all sizes
    met: bool | None            # None: nothing is wanted


def arrived(data, suite, name, mode):
    parts = [r.arrived for r in data.curve(suite, name, mode)
             if r.arrived is not None]
    return min(parts) if parts else None


def verdict(data, suite, pair, mode):
    ratio = stats.ratio(data, suite, pair.over, pair.under, mode)
    if not ratio:
        return None
    part = arrived(data, suite, pair.over, mode)
    return Verdict(ratio, part, pair.met(ratio, part))


def summary(data):
    """[(suite, pair, {mode: Verdict})] for what was measured."""
    rows = []
    for part in PARTS:
        for pair in part.pairs:
            found = {m: v for m in data.modes(part.suite)
                     if (v := verdict(data, part.suite, pair, m))}
            if found:
                rows.append((part.suite, pair, found))
    return rows


def trips(data):
    """[(trip, {mode: (our ns, their ns, ratio, met)})], one byte, warm."""
    runs = {(r.implementation, r.mode): r for r in data.suite("netrtt")
            if (r.state or "warm") == "warm" and r.size == 1 and r.p50}
    rows = []
    for trip in TRIPS:
        found = {}
        for mode in data.modes("netrtt"):
            ours = runs.get((trip.over, mode))
            theirs = runs.get((trip.under, mode))
            if ours and theirs:
                ratio = ours.p50 / theirs.p50
                most = trip.most.get(mode)
                found[mode] = (ours.p50, theirs.p50, ratio,
                               None if most is None else ratio <= most)
        if found:
            rows.append((trip, found))
    return rows


def round_trips(data):
    """[((state, size), implementation, {mode: (run, ratio or None)})]."""
    base = {t.over: t.under for t in TRIPS}
    runs = {(r.state or "", r.size, r.implementation, r.mode): r
            for r in data.suite("netrtt")}
    rows = []
    for state, size in sorted({k[:2] for k in runs},
                              key=lambda k: (k[0] != "warm", k[0], k[1])):
        for name in ordered({k[2] for k in runs if k[:2] == (state, size)}):
            found = {}
            for mode in data.modes("netrtt"):
                run = runs.get((state, size, name, mode))
                other = runs.get((state, size, base.get(name), mode))
                if run:
                    found[mode] = (run, run.p50 / other.p50
                                   if other and other.p50 else None)
            rows.append(((state, size), name, found))
    return rows


@dataclass
class Cost:
    """The narrative questions about one implementation in one mode."""

    fit: stats.Fit | None       # ns per message, ns per byte
    peak: float                 # bytes per second at best
    saturated: int              # the smallest size with 90 % of that
    switches: float | None      # per 1,000 messages, mean over the sizes
    arrived: float | None       # the least part of all sizes

    @property
    def half(self):
        """Where the bytes cost as much as the message."""
        if not self.fit or self.fit.slope <= 0 or self.fit.intercept <= 0:
            return None
        return self.fit.intercept / self.fit.slope


def cost(data, suite, name, mode):
    runs = data.curve(suite, name, mode)
    if not runs:
        return None
    peak = max(r.rate * r.size for r in runs)
    switches = [r.switches_per_message * 1000 for r in runs
                if r.switches_per_message is not None]
    return Cost(
        stats.delay_fit(data, suite, name, mode), peak,
        min(r.size for r in runs if r.rate * r.size >= 0.9 * peak),
        sum(switches) / len(switches) if switches else None,
        arrived(data, suite, name, mode))


def costs(data, suite):
    """[(implementation, {mode: Cost})]."""
    rows = []
    for name in ordered({r.implementation for r in data.suite(suite)}):
        found = {m: c for m in data.modes(suite)
                 if (c := cost(data, suite, name, m))}
        if found:
            rows.append((name, found))
    return rows


def _megabytes(value):
    return f"{text.figures(value / 1e6)}\N{NO-BREAK SPACE}MB/s"


def _question(ours, theirs, pair, mode):
    """One pair in one mode, in words; every number is computed."""
    over, under = text.label(pair.over), text.label(pair.under)
    where = f"On {text.mode(mode)}"
    said = []
    if ours.fit and theirs.fit:
        said.append(
            f"{where} a message costs {text.ns(ours.fit.intercept)} with "
            f"{over} and {text.ns(theirs.fit.intercept)} with {under} "
            f"whatever its size, and each KiB of it "
            f"{text.ns(ours.fit.slope * 1024)} and "
            f"{text.ns(theirs.fit.slope * 1024)}.")
        where = "There"
    said.append(
        f"{where} {over} saturates from {text.size(ours.saturated)} on, at "
        f"{_megabytes(ours.peak)}, {under} from "
        f"{text.size(theirs.saturated)} on, at {_megabytes(theirs.peak)}.")
    if ours.switches is not None and theirs.switches is not None:
        fewer = ours.switches < theirs.switches
        said.append(
            f"There are {text.figures(ours.switches)} voluntary context "
            f"switches per 1,000 messages with {over} and "
            f"{text.figures(theirs.switches)} with {under}: "
            + ("fewer, as the papers explain the gain." if fewer else
               "not fewer, so they do not explain a gain."))
    return " ".join(said)


def narrative(data, part):
    """Paragraphs: the papers' questions, for the pairs with a bar."""
    found = []
    for pair in part.pairs:
        if not pair.bar:
            continue
        for mode in data.modes(part.suite):
            ours = cost(data, part.suite, pair.over, mode)
            theirs = cost(data, part.suite, pair.under, mode)
            if ours and theirs:
                found.append(_question(ours, theirs, pair, mode))
    return found


def answer(data):
    """One sentence for each comparison with a bar."""
    said = []
    for suite, pair, found in summary(data):
        if not pair.bar:
            continue
        title = {"tcp": "TCP through XTI over Sockets",
                 "udp": "UDP through XTI over Sockets",
                 "wire": f"Native UDP, {pair.what.split(', ')[-1]},"}.get(
                     suite, f"The loopback transport {pair.over}")
        under = {"tcp": "Sockets", "udp": "Sockets", "wire": "Sockets",
                 "loopback": text.label(pair.under) + " sockets"}[suite]
        said.append(
            f"{title} delivered "
            + text.join(f"{text.factor(v.ratio.mean)} times as many messages "
                        f"as {under} on {text.mode(m)}"
                        if i == 0 else
                        f"{text.factor(v.ratio.mean)} times on "
                        f"{text.mode(m)}"
                        for i, (m, v) in enumerate(found.items())) + ".")
    return " ".join(said)
