# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The charts of the report."""

import math

from . import stats, text
from .draw import DASHED, FONT, MAIN, MARKERS, OTHER, RULE
from .draw import Chart, bounds, colour, kilo, log_axis, ratio_axis
from .draw import short, size_axis
from .order import ordered

# draw has given matplotlib's cache a place before this.
from matplotlib.ticker import FixedLocator, FuncFormatter
from matplotlib.ticker import MaxNLocator, NullLocator

SIZE = "message size, bytes (K = 1,024)"

# Where the curves of a size differ by this, linear hides the lower ones.
FAR = 20

_SHAPE = {"width": 376, "height": 290, "left": 42, "right": 104,
          "top": 42, "bottom": 38}


def style(name, dashed=False):
    main = name in MAIN
    return {
        "color": colour(name), "linewidth": 2.0 if main else 1.2,
        "linestyle": (0, (4, 2)) if dashed or name in DASHED else "-",
        "marker": MARKERS.get(name, "."), "markersize": 4 if main else 3.4,
        "markeredgewidth": 0, "zorder": 4 if main else 3,
        "solid_capstyle": "round",
    }


def _curves(data, suite, mode, transform, names=None):
    """[(name, sizes, values)] of what was measured in @mode."""
    if names is None:
        names = {r.implementation for r in data.suite(suite)}
    found = []
    for name in ordered(names):
        runs = data.curve(suite, name, mode)
        points = [(r.size, transform(r)) for r in runs]
        points = [(s, v) for s, v in points if v is not None]
        if points:
            found.append((name, [p[0] for p in points],
                          [p[1] for p in points]))
    return found


def _all_sizes(curves):
    return sorted({s for _, sizes, _ in curves for s in sizes})


def _plot(chart, curves, end=-1):
    ends = []
    for name, sizes, values in curves:
        chart.axes.plot(sizes, values, **style(name))
        ends.append((sizes[end], values[end], text.label(name), colour(name),
                     name in MAIN))
    return ends


PREFIXES = {"pipe": "", "rtt": "", "netrtt": "Networks: ", "tcp": "TCP: ",
            "udp": "UDP: ", "loopback": "Loopback: ",
            "wire": "Native UDP: ", "netns": "Namespaces: "}


def _head(suite, what, mode):
    prefix = PREFIXES.get(suite, "")
    if prefix:
        what = what[:1].lower() + what[1:]
    return f"{prefix}{what}, {text.mode(mode)}"


def _far(data, suite):
    """Whether curves of @suite lie so far apart that a linear axis hides
    some: the same answer for all modes, which stand side by side."""
    for mode in data.modes(suite):
        by_size = {}
        for _, sizes, rates in _curves(data, suite, mode, lambda r: r.rate):
            for size, rate in zip(sizes, rates):
                by_size.setdefault(size, []).append(rate)
        if any(max(rates) >= FAR * min(rates)
               for rates in by_size.values()):
            return True
    return False


def _rate(value):
    return f"{text.short(value)}/s"


def performance(data, mode, suite="pipe"):
    curves = _curves(data, suite, mode, lambda r: r.rate)
    if not curves:
        return None
    every = [v for m in data.modes(suite) for _, _, vs in
             _curves(data, suite, m, lambda r: r.rate) for v in vs]
    # The curves part at small messages, so that is where their names go.
    chart = Chart(**{**_SHAPE, "left": _SHAPE["right"],
                     "right": _SHAPE["left"] - 2})
    chart.axis_right()
    far = _far(data, suite)
    chart.title(_head(suite, "Performance", mode), "messages per second"
                + (" (logarithmic)" if far else ""))
    size_axis(chart, _all_sizes(curves))
    if far:
        log_axis(chart.axes, *bounds(every, 1.5, 1.5), short)
    else:
        chart.axes.set_ylim(0, max(every) * 1.05)
        chart.axes.yaxis.set_major_locator(
            MaxNLocator(6, steps=[1, 2, 5, 10]))
        chart.axes.yaxis.set_major_formatter(
            FuncFormatter(lambda v, _: short(v)))
    for name, _, _ in curves:
        band = [(r.size, r.spread) for r in data.curve(suite, name, mode)
                if r.spread]
        if len(band) > 1:
            chart.axes.fill_between(
                [s for s, _ in band], [b[0] for _, b in band],
                [b[1] for _, b in band], color=colour(name),
                alpha=0.15, linewidth=0)
    chart.label_ends(_plot(chart, curves, 0), left=True)
    chart.below(SIZE)
    chart.show_values(curves, _rate)
    return chart


def delay(data, mode, suite="pipe"):
    curves = _curves(data, suite, mode, lambda r: 1e9 / r.rate)
    if not curves:
        return None
    top = max(max(values) for _, _, values in curves)
    scale, unit = (1e3, "microseconds") if top >= 2e3 else (1, "ns")
    sizes = _all_sizes(curves)
    chart = Chart(**_SHAPE)
    chart.title(_head(suite, "Delay", mode),
                f"{unit} per message; dashed: fitted line")
    axes = chart.axes
    axes.set_xlim(-0.01 * max(sizes), max(sizes) * 1.01)
    axes.set_ylim(0, top / scale * 1.05)
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.4g}"))
    step = 2 ** max(0, math.ceil(math.log2(max(sizes) / 4)))
    axes.xaxis.set_major_locator(FixedLocator(
        [step * i for i in range(0, max(sizes) // step + 1)]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: kilo(v)))
    for name, _, _ in curves:
        line = stats.delay_fit(data, suite, name, mode)
        if line:
            ends = (min(sizes), max(sizes))
            axes.plot(ends, [line.at(s) / scale for s in ends],
                      color=colour(name), linewidth=0.8,
                      linestyle=(0, (5, 3)), alpha=0.75, zorder=2)
    scaled = [(n, s, [v / scale for v in vs]) for n, s, vs in curves]
    chart.label_ends(_plot(chart, scaled))
    chart.below(SIZE)
    chart.show_values(curves, text.ns)
    return chart


def throughput(data, mode, suite="pipe"):
    curves = _curves(data, suite, mode, lambda r: r.rate * r.size)
    if not curves:
        return None
    chart = Chart(**_SHAPE)
    chart.title(_head(suite, "Throughput", mode),
                "bytes per second (logarithmic)")
    size_axis(chart, _all_sizes(curves))
    values = [v for _, _, vs in curves for v in vs]
    log_axis(chart.axes, *bounds(values), short)
    chart.label_ends(_plot(chart, curves))
    chart.below(SIZE)
    chart.show_values(curves, lambda v: text.short(v, "B/s"))
    return chart


def improvement(data, mode, suite="pipe", base="pipe-linux",
                over="the Linux pipe", against=None):
    """@against: {implementation: its own base}, where it is not @base."""
    against = against or {}
    bases = {n: data.rates(suite, n, mode)
             for n in {base, *against.values()}}

    def gain(r):
        rates = bases[against.get(r.implementation, base)]
        return r.rate / rates[r.size] if r.size in rates else None
    curves = [c for c in _curves(data, suite, mode, gain)
              if c[0] not in bases]
    if not curves:
        return None
    values = [1.0, *(v for _, _, vs in curves for v in vs)]
    chart = Chart(**_SHAPE)
    chart.title(_head(suite, f"Times {over}", mode),
                "ratio of messages per second (logarithmic); "
                "tinted: below 1")
    size_axis(chart, _all_sizes(curves))
    ratio_axis(chart.axes, *bounds(values, 1.2, 1.2), colour(base))
    chart.axes.axhline(1, color=colour(base), linewidth=1.6)
    ends = _plot(chart, curves)
    right = max(_all_sizes(curves))
    ends.append((right, 1, "UNIX sockets" if against
                 else text.label(base), colour(base), True))
    chart.label_ends(ends)
    chart.below(SIZE)
    chart.show_values(curves, text.times)
    return chart


# On the first screen there are two parties.
OURS, KERNEL = "pipe-streams", "pipe-linux"


def card(by_mode, limits):
    """The small chart of the first screen: {mode: Ratio} against size."""
    curves = [(mode, ratio.sizes, [ratio.by_size[s] for s in ratio.sizes])
              for mode, ratio in by_mode.items()]
    chart = Chart(300, 128, 34, 58, 8, 22)
    size_axis(chart, _all_sizes(curves), every=4)
    ratio_axis(chart.axes, *limits, colour(KERNEL))
    chart.axes.axhline(1, color=colour(KERNEL), linewidth=1.2)
    ends = [(max(_all_sizes(curves)), 1, "equal", colour(KERNEL), False)]
    for number, (mode, sizes, ratios) in enumerate(curves):
        chart.axes.plot(sizes, ratios, **{
            **style(OURS, dashed=number > 0), "marker": ""})
        ends.append((sizes[-1], ratios[-1], text.mode(mode), colour(OURS),
                     number == 0))
    chart.label_ends(ends)
    chart.show_values(curves, text.times, text.mode)
    return chart


def _positive_log(data, mode, value, title, unit, form, suite="pipe",
                  shown=None):
    """A log-log chart; zero is drawn hollow on the lower edge."""
    curves = _curves(data, suite, mode, value)
    positive = [v for _, _, vs in curves for v in vs if v > 0]
    if not positive:
        return None
    low, high = bounds(positive, 2, 2)
    zeros = any(v == 0 for _, _, vs in curves for v in vs)
    if zeros:
        low /= 2
    chart = Chart(**_SHAPE)
    chart.title(_head(suite, title, mode),
                unit + ("; lower edge: none" if zeros else ""))
    size_axis(chart, _all_sizes(curves))
    log_axis(chart.axes, low, high, form)
    drawn = [(n, s, [max(v, low) for v in vs]) for n, s, vs in curves]
    chart.label_ends(_plot(chart, drawn))
    chart.below(SIZE)
    chart.show_values(curves, shown or form)
    return chart


def switches(data, mode, suite="pipe"):
    return _positive_log(
        data, mode,
        lambda r: None if r.switches_per_message is None
        else r.switches_per_message * 1000,
        "Context switches", "voluntary switches per 1,000 messages, "
        "logarithmic", lambda v: text.figures(v, 1), suite, text.figures)


def cpu_time(data, mode, suite="pipe"):
    return _positive_log(
        data, mode, lambda r: r.cpu_ns, "Processor time",
        "ns of CPU per message, all processes, logarithmic",
        lambda v: f"{v:,.0f}", suite, text.ns)


def ablation(data, mode):
    base = data.rates("ablation", "pipe-streams", mode) \
        or data.rates("pipe", "pipe-streams", mode)
    curves = _curves(data, "ablation", mode,
                     lambda r: r.rate / base[r.size] * 100
                     if r.size in base else None)
    curves = [c for c in curves if c[0] != "pipe-streams"]
    if not curves:
        return None
    values = [v for _, _, vs in curves for v in vs]
    chart = Chart(**{**_SHAPE, "height": 260})
    chart.title(f"Ablations, {text.mode(mode)}",
                "messages per second, percent of the plain STREAMS pipe")
    size_axis(chart, _all_sizes(curves))
    chart.axes.set_ylim(0, max(max(values), 100) * 1.08)
    chart.axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    chart.axes.yaxis.set_major_formatter(FuncFormatter(
        lambda v, _: f"{v:,.0f}\N{NO-BREAK SPACE}%"))
    chart.axes.axhline(100, color=colour("pipe-streams"), linewidth=1.8)
    ends = _plot(chart, curves)
    ends.append((max(_all_sizes(curves)), 100, "plain",
                 colour("pipe-streams"), True))
    chart.label_ends(ends)
    chart.below(SIZE)
    chart.show_values(curves, lambda v: f"{text.figures(v)} %")
    return chart


def round_trip(data, mode, suite="rtt"):
    """A dot at the median, a whisker to the 99th percentile."""
    runs = [r for r in data.suite(suite) if r.mode == mode and r.p50]
    if not runs:
        return None
    groups = {}
    for run in runs:
        groups.setdefault((run.state or "", run.size), {})[
            run.implementation] = run
    keys = sorted(groups, key=lambda k: (k[0] != "warm", k[0], k[1]))
    pitch, head = 14, 22
    rows = sum(len(groups[k]) * pitch + head for k in keys)
    height = rows + 44 + 36
    chart = Chart(_SHAPE["width"], height, 104, 54, 44, 36)
    chart.title(_head(suite, "Round trip", mode),
                "dot: median; bar: up to the 99th percentile; logarithmic")
    axes = chart.axes
    axes.set_xscale("log")
    values = [r.p50 for r in runs] + [r.p99 for r in runs if r.p99]
    low, high = bounds(values, 1.6, 1.3)
    axes.set_xlim(low, high)
    axes.set_ylim(0, rows)
    axes.yaxis.set_major_locator(NullLocator())
    axes.spines["left"].set_visible(False)
    axes.grid(False)
    axes.grid(True, axis="x", color=RULE, linewidth=0.6)
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    axes.xaxis.set_major_locator(FixedLocator(
        [10.0 ** e for e in range(first, last + 1)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(
        lambda v, _: text.ns(v).replace(".0", "").replace("\xa0", " ")
        if v < 1e3 else f"{v / 1e3:,.0f} µs" if v < 1e6
        else f"{v / 1e6:,.0f} ms"))
    y = rows
    for key in keys:
        y -= head
        state, size = key
        name = {"warm": "warm", "idle": "after idle"}.get(state, state)
        chart.write(2, chart.box[1] + y + 4,
                    f"{text.size(size)}, {name}",
                    size=FONT - 0.5, fontweight="bold")
        for implementation in ordered(groups[key]):
            run = groups[key][implementation]
            middle = y - pitch / 2 + 1
            color = colour(implementation)
            if run.p99 and run.p99 > run.p50:
                axes.plot((run.p50, run.p99), (middle, middle),
                          color=color, linewidth=1.6, alpha=0.55,
                          solid_capstyle="butt")
            axes.plot((run.p50,), (middle,), marker="o", markersize=5,
                      color=color, markeredgewidth=0, linestyle="none")
            chart.write(chart.box[0] - 6, chart.box[1] + middle,
                        text.label(implementation), color=color,
                        size=FONT - 0.5, ha="right", va="center_baseline",
                        fontweight="bold" if implementation in MAIN
                        else "normal")
            chart.write(chart.box[2] + 8, chart.box[1] + middle,
                        text.ns(run.p50), color=color, size=FONT - 0.5,
                        va="center_baseline")
            chart.values.append((
                0, chart.box[1] + y - pitch + 1, chart.width,
                chart.box[1] + y + 1,
                f"{text.name(implementation)}\n{text.size(size)}, {name}\n"
                f"median: {text.ns(run.p50)}"
                + (f"\n99th percentile: {text.ns(run.p99)}" if run.p99
                   else "")))
            y -= pitch
    chart.below("round trip time")
    return chart


# Names that fit beside a small panel.
PANEL = {"pipe-linux": "Linux", "tcp-sockets": "socket",
         "tcp-sockets-nice": "nice", "udp-sockets": "socket",
         "udp-sockets-nice": "nice", "tcp-xtios": "XTI, TCP",
         "udp-xtios": "XTI, UDP", "udp-xti": "native", "sctp-xti": "SCTP"}


def history(title, subtitle, rates, limits, sizes):
    """A small panel: messages per second of one host, then or now."""
    chart = Chart(214, 176, 34, 58, 40, 22)
    chart.title(title, subtitle)
    size_axis(chart, sizes, every=4)
    log_axis(chart.axes, *limits, short)
    ends = []
    for name in ordered(rates):
        points = sorted(rates[name].items())
        chart.axes.plot([p[0] for p in points], [p[1] for p in points],
                        **{**style(name), "markersize": 2.4,
                           "linestyle": (0, (3, 1.5))
                           if name.endswith("-nice") else "-"})
        string = PANEL.get(name, text.label(name))
        ends.append((points[-1][0], points[-1][1], string, colour(name),
                     name in MAIN))
    chart.label_ends(ends)
    chart.show_values([(n, sorted(rates[n]), [r for _, r in
                                              sorted(rates[n].items())])
                       for n in ordered(rates)], _rate)
    return chart


def improvements(tables, ours, what="STREAMS over Linux pipe",
                 over="pipe-streams", under="pipe-linux"):
    """Every host of the paper, and ours: {mode: {size: ratio}}."""
    values = [v for t in tables for v in t.improvement.values()]
    values += [v for by_size in ours.values() for v in by_size.values()]
    sizes = sorted({s for t in tables for s in t.improvement}
                   | {s for by_size in ours.values() for s in by_size})
    chart = Chart(**{**_SHAPE, "height": 380, "left": 54,
                     "right": 140})
    chart.title(f"{what}, then and now",
                "ratio of messages per second (logarithmic); "
                "tinted: below 1")
    size_axis(chart, sizes)
    axes = chart.axes
    ratio_axis(axes, *bounds([1.0, *values], 1.15, 1.15), colour(under))
    axes.axhline(1, color=colour(under), linewidth=1.4)
    ends = []
    for table in tables:
        points = sorted(table.improvement.items())
        lost = points[0][1] < 1
        color = OTHER[0] if lost else colour("ring")
        axes.plot([p[0] for p in points], [p[1] for p in points],
                  color=color, linewidth=1.1, alpha=0.9,
                  linestyle=(0, (2, 1.5)) if lost else "-")
        ends.append((*points[-1], f"{table.name}", color, False))
    for mode in ours:
        points = sorted(ours[mode].items())
        axes.plot([p[0] for p in points], [p[1] for p in points],
                  **style(over, dashed=mode == "same"))
        ends.append((*points[-1], f"here, {text.mode(mode)}",
                     colour(over), True))
    chart.label_ends(ends)
    chart.below(SIZE)
    named = {t.name: t.improvement for t in tables}
    named.update((f"here, {text.mode(m)}", ours[m]) for m in ours)
    chart.show_values([(n, sorted(g), [g[s] for s in sorted(g)])
                       for n, g in named.items()], text.times)
    return chart
