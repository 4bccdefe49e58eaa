# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The charts, as SVG text.

One drawing, two uses
    Every chart is drawn once, in the light colours on paper.  As a file it
    stays so and looks the same in any viewer.  Inside the page each colour
    is replaced by a style variable, so that the page decides (dark mode,
    print).  Text stays text: it can be searched, selected and read aloud,
    and takes the page's font.  Space is reckoned with DejaVu Sans, which is
    wider than what browsers will use.

Determinism
    The same data gives the same bytes: no dates, a fixed salt for
    identifiers, no user configuration, axes at fixed positions.
"""

import atexit
import io
import math
import os
import re
import shutil
import sys
import tempfile


def _keep_home_clean():
    """matplotlib keeps a font cache; give it a place that is ours."""
    if "MPLCONFIGDIR" in os.environ:
        return
    if sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK):
        os.environ["MPLCONFIGDIR"] = os.path.join(sys.prefix, "mplconfig")
        return
    path = tempfile.mkdtemp(prefix="strreport-")
    atexit.register(shutil.rmtree, path, True)
    os.environ["MPLCONFIGDIR"] = path


_keep_home_clean()

import matplotlib  # noqa: E402  (after its cache has a place)
from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter  # noqa: E402
from matplotlib.ticker import MaxNLocator, NullLocator  # noqa: E402

from . import stats, text  # noqa: E402
from .order import ordered  # noqa: E402

# Colours: kernel family warm, ours cool, the floor grey; distinct under the
# common colour blindnesses, and each has its own marker as well.  The second
# colour of a pair is for a dark page.
INK, SOFT, RULE, PAPER = "#1b1b1d", "#66666a", "#dedee1", "#fefefe"
PALETTE = {
    "pipe-streams": ("#005ea6", "#5ab0f5"),
    "pipe-streams-msg": ("#2f97d8", "#a5d5f7"),
    "pipe-streams-nullmod": ("#00906a", "#2fc9a0"),
    "pipe-linux": ("#d25a00", "#ff8b47"),
    "unix-stream": ("#b98000", "#f0bb45"),
    "unix-seqpacket": ("#b04f8b", "#e594c4"),
    "ring": ("#75757a", "#a9a9ae"),
    "pipe-streams-hold": ("#7354a8", "#b49be0"),
    "pipe-streams-mread": ("#4c8a2c", "#93c873"),
    "pipe-streams-rfill": ("#86654a", "#c8a68a"),
    "pipe-streams-service": ("#a3123d", "#f27795"),
    "pipe-streams-srvmod": ("#237f8f", "#68c2d2"),
    "pipe-lis": ("#75757b", "#a9a9af"),
    "tcp-xtios": ("#005ea8", "#5ab0f7"),
    "tcp-sockets": ("#d25a02", "#ff8b49"),
    "tcp-sockets-nice": ("#b98001", "#f0bb46"),
    "udp-xtios": ("#005ea9", "#5ab0f8"),
    "udp-sockets": ("#d25a03", "#ff8b4a"),
    "udp-sockets-nice": ("#b98002", "#f0bb47"),
    "ticotsord": ("#005eaa", "#5ab0f9"),
    "ticlts": ("#00906b", "#2fc9a1"),
    "unix-dgram": ("#b04f8c", "#e594c5"),
    "sctp-xti": ("#7354a9", "#b49be1"),
    "udp-xti": ("#7354aa", "#b49be2"),
    "udp-xti-out": ("#7354ab", "#b49be3"),
    "udp-xti-in": ("#00906c", "#2fc9a2"),
    "udp-sockets-netns": ("#d25a04", "#ff8b4b"),
    "wire-socket-out": ("#7354ac", "#b49be4"),
    "wire-socket-in": ("#7354ad", "#b49be5"),
    "wire-raw-out": ("#b04f8d", "#e594c6"),
    "wire-raw-in": ("#b04f8e", "#e594c7"),
    "wire-packet-out": ("#00906d", "#2fc9a3"),
    "wire-packet-in": ("#00906e", "#2fc9a4"),
    "wire-tun-out": ("#005eab", "#5ab0fa"),
    "wire-tun-in": ("#005eac", "#5ab0fb"),
    "perftest": ("#005ea7", "#5ab0f6"),
    "perftestn": ("#d25a01", "#ff8b48"),
}
OTHER = ("#4d4d52", "#c9c9ce")
VARIABLES = {INK: "ink", SOFT: "soft", RULE: "rule", PAPER: "paper",
             OTHER[0]: "other"}
VARIABLES.update((pair[0], "c-" + name) for name, pair in PALETTE.items())

MARKERS = {"pipe-streams": "o", "pipe-streams-msg": "D",
           "pipe-streams-nullmod": "^", "pipe-linux": "s",
           "unix-stream": "v", "unix-seqpacket": "P", "ring": "",
           "pipe-streams-hold": "v", "pipe-streams-mread": "D",
           "pipe-streams-rfill": "^", "pipe-streams-service": "s",
           "pipe-streams-srvmod": "P",
           "tcp-xtios": "o", "tcp-sockets": "s", "tcp-sockets-nice": "v",
           "udp-xtios": "o", "udp-sockets": "s", "udp-sockets-nice": "v",
           "ticotsord": "o", "ticlts": "D", "unix-dgram": "P",
           "sctp-xti": "^", "udp-xti": "^",
           "udp-xti-out": "^", "udp-xti-in": "D",
           "udp-sockets-netns": "s",
           "wire-socket-out": "^", "wire-socket-in": "^",
           "wire-raw-out": "P", "wire-raw-in": "P",
           "wire-packet-out": "D", "wire-packet-in": "D",
           "wire-tun-out": "o", "wire-tun-in": "o"}
MAIN = ("pipe-streams", "pipe-linux", "perftest", "perftestn", "tcp-xtios",
        "tcp-sockets", "udp-xtios", "udp-xti", "udp-xti-out", "udp-xti-in",
        "udp-sockets", "udp-sockets-netns", "ticotsord", "ticlts")

# The papers dash the curves of artificial priorities; of a wire, what comes
# in is dashed.
DASHED = ("ring", "tcp-sockets-nice", "udp-sockets-nice", "wire-socket-in",
          "wire-raw-in", "wire-packet-in", "wire-tun-in")

FONT = 10.0     # points, and units of the drawing

_RC = {
    "svg.fonttype": "none", "svg.hashsalt": "strreport",
    "text.parse_math": False, "font.family": ["DejaVu Sans"],
    "font.size": FONT, "path.simplify": False,
    "axes.unicode_minus": True,
}


def colour(name):
    return PALETTE.get(name, OTHER)[0]


class Chart:
    """A figure with one pair of axes at a place given in points."""

    def __init__(self, width, height, left, right, top, bottom):
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width / 72, height / 72), dpi=72,
                             facecolor=PAPER)
        FigureCanvasSVG(self.figure)
        self.box = (left, bottom, width - right, height - top)
        self.axes = self.add_axes(self.box)

    def add_axes(self, box):
        left, bottom, right, top = box
        axes = self.figure.add_axes((
            left / self.width, bottom / self.height,
            (right - left) / self.width, (top - bottom) / self.height))
        axes.set_facecolor("none")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(SOFT)
            axes.spines[side].set_linewidth(0.7)
        axes.tick_params(colors=SOFT, labelcolor=SOFT, width=0.7, length=3,
                         labelsize=FONT - 0.5)
        axes.grid(True, axis="y", color=RULE, linewidth=0.6)
        axes.set_axisbelow(True)
        return axes

    def write(self, x, y, string, color=INK, size=FONT, **more):
        """Text at a place in points from the lower left corner."""
        return self.figure.text(x / self.width, y / self.height, string,
                                color=color, fontsize=size, **more)

    def title(self, string, unit=None):
        self.write(2, self.height - 13, string, size=FONT + 1,
                   fontweight="bold")
        if unit:
            self.write(2, self.height - 27, unit, color=SOFT,
                       size=FONT - 0.5)

    def below(self, string):
        self.write((self.box[0] + self.box[2]) / 2, 5, string, color=SOFT,
                   size=FONT - 0.5, ha="center")

    def rule(self, x0, y0, x1, y1, color, **more):
        self.figure.add_artist(Line2D(
            (x0 / self.width, x1 / self.width),
            (y0 / self.height, y1 / self.height), color=color, **more))

    def axis_right(self):
        """Values to the right, to leave the left to the names."""
        self.axes.yaxis.tick_right()
        self.axes.spines["left"].set_visible(False)
        self.axes.spines["right"].set_visible(True)
        self.axes.spines["right"].set_color(SOFT)
        self.axes.spines["right"].set_linewidth(0.7)

    def label_ends(self, ends, gap=FONT + 1.8, left=False):
        """Name each curve at its right end, or at its left.

        @ends holds (x, y, string, colour, bold) in data coordinates.
        Labels keep the order of the ends; where these crowd, the labels
        are spread and a thin line leads from each end to its label.
        """
        placed = []
        for x, y, string, color, bold in ends:
            px, py = self.axes.transData.transform((x, y))
            placed.append((py, px, string, color, bold))
        placed.sort(key=lambda item: item[0])
        bottom, top = self.box[1], self.box[3]
        wanted = [min(max(p[0], bottom), top) for p in placed]
        at, out = ((self.box[0] - 12, -1) if left
                   else (self.box[2] + 14, 1))
        for y, (py, px, string, color, bold) in zip(
                spread(wanted, gap, bottom - 4, top + 6), placed):
            self.rule(px + 4 * out, min(max(py, bottom), top),
                      at - 3 * out, y, color, linewidth=0.6, alpha=0.7)
            self.write(at, y, string, color=color, size=FONT - 0.5,
                       va="center_baseline",
                       ha="right" if left else "left",
                       fontweight="bold" if bold else "normal")

    def svg(self):
        out = io.StringIO()
        with matplotlib.rc_context():
            matplotlib.rcParams.update(_RC)
            self.figure.savefig(out, format="svg", facecolor=PAPER,
                                metadata={"Date": None, "Creator": None,
                                          "Format": None, "Type": None})
        return out.getvalue()


def spread(wanted, gap, low, high):
    """Move ascending positions as little as needed to lie @gap apart.

    Neighbours that collide form a block around the mean of their wishes
    (pool adjacent violators), so that a crowd opens evenly both ways.
    """
    blocks = []
    for index, want in enumerate(wanted):
        blocks.append([want - gap * index, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            start, count = blocks.pop()
            blocks[-1][0] = (blocks[-1][0] * blocks[-1][1]
                             + start * count) / (blocks[-1][1] + count)
            blocks[-1][1] += count
    places, index = [], 0
    for start, count in blocks:
        for _ in range(count):
            places.append(start + gap * index)
            index += 1
    if places and places[-1] > high:
        for i in range(len(places) - 1, -1, -1):
            limit = high - gap * (len(places) - 1 - i)
            places[i] = min(places[i], limit)
    for i, place in enumerate(places):
        places[i] = max(place, low + gap * i)
    return places


# --- from matplotlib's SVG to a file and to the page ---------------------

_ID = re.compile(r' id="([^"]+)"')


def _tidy(svg, name):
    """Only the identifiers that are used, unique to the chart."""
    used = set(re.findall(r"url\(#([^)]+)\)", svg))
    used |= set(re.findall(r'href="#([^"]+)"', svg))
    svg = _ID.sub(lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "",
                  svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.S)
    svg = re.sub(r"<metadata>.*?</metadata>\n?", "", svg, flags=re.S)
    svg = re.sub(r"<!DOCTYPE.*?>\n?", "", svg, flags=re.S)
    svg = re.sub(r"\n +", "\n", svg)
    return svg.replace("xlink:href", "href").replace(
        ' xmlns:xlink="http://www.w3.org/1999/xlink"', "")


def _escape(string):
    return (string.replace("&", "&amp;").replace("<", "&lt;")
            .replace('"', "&quot;"))


def as_file(svg, name, alt):
    svg = _tidy(svg, name)
    svg = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    return re.sub(r"(<svg [^>]*>)",
                  lambda m: m[1] + f"\n<title>{_escape(alt)}</title>", svg,
                  count=1)


def as_inline(svg, name, alt):
    svg = _tidy(svg, name)
    svg = re.sub(r"<\?xml.*?\?>\n?", "", svg)
    # The replaced colours are in style properties, where var() counts.
    for value, variable in VARIABLES.items():
        svg = svg.replace(value, f"var(--{variable})")
    svg = re.sub(r"'DejaVu Sans'[^;\"]*", "var(--sans)", svg)
    # A shorthand font with a variable inside is safe only in long form.
    svg = re.sub(r"font: (?:(bold|\d+) )?([\d.]+)px var\(--sans\)",
                 lambda m: (f"font-weight: {m[1]}; " if m[1] else "")
                 + f"font-size: {m[2]}px", svg)
    head = (f'<svg role="img" aria-label="{_escape(alt)}" '
            f'viewBox="\\1">')
    return re.sub(r'<svg [^>]*viewBox="([^"]+)"[^>]*>', head, svg, count=1)


# --- axes ----------------------------------------------------------------

def size_axis(chart, sizes, axes=None, step=2, every=None):
    """Logarithmic message size; ticks at every fourth power or so."""
    axes = axes or chart.axes
    low, high = min(sizes), max(sizes)
    if low == high:
        low, high = low / 2, high * 2
    axes.set_xscale("log", base=2)
    axes.set_xlim(low / 1.15, high * 1.06)
    first = math.ceil(math.log2(low) - 1e-9)
    last = math.floor(math.log2(high) + 1e-9)
    ticks = [2.0 ** e for e in range(first, last + 1, every or step)]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))


def log_axis(axes, low, high, form):
    """Logarithmic value axis over whole decades or near."""
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    axes.yaxis.set_major_locator(FixedLocator(
        [10.0 ** e for e in range(first, last + 1)
         if low <= 10.0 ** e * 1.0001 and 10.0 ** e <= high * 1.0001]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: form(v)))


def short(value):
    """Axis values: 250, 10 k, 2.5 M, 1 G."""
    for limit, scale, unit in ((1e9, 1e9, " G"), (1e6, 1e6, " M"),
                               (1e3, 1e3, " k")):
        if abs(value) >= limit * 0.9999:
            return f"{value / scale:.4g}{unit}"
    return f"{value:.4g}"


def _bounds(values, low_pad=1.5, high_pad=1.5):
    return min(values) / low_pad, max(values) * high_pad


# --- the charts ----------------------------------------------------------

_SHAPE = {"width": 408, "height": 306, "left": 46, "right": 108,
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


def _head(suite, what, mode):
    prefix = {"pipe": "", "rtt": "", "netrtt": "Networks: ", "tcp": "TCP: ",
              "udp": "UDP: ", "loopback": "Loopback: ",
              "wire": "Wire: ", "netns": "Namespaces: "}.get(suite, "")
    if prefix:
        what = what[:1].lower() + what[1:]
    return f"{prefix}{what}, {text.mode(mode)}"


def performance(data, mode, suite="pipe"):
    curves = _curves(data, suite, mode, lambda r: r.rate)
    if not curves:
        return None
    top = max(r.spread[1] if r.spread else r.rate for name, _, _ in curves
              for r in data.curve(suite, name, mode))
    scale, unit = (1e6, "million") if top >= 2e6 else (1e3, "thousand")
    # The curves part at small messages, so that is where their names go.
    chart = Chart(**{**_SHAPE, "left": _SHAPE["right"],
                     "right": _SHAPE["left"] - 6})
    chart.axis_right()
    chart.title(_head(suite, "Performance", mode),
                f"{unit} messages per second")
    size_axis(chart, _all_sizes(curves))
    chart.axes.set_ylim(0, top / scale * 1.05)
    chart.axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    chart.axes.yaxis.set_major_formatter(
        FuncFormatter(lambda v, _: f"{v:,.4g}"))
    for name, _, _ in curves:
        band = [(r.size, r.spread) for r in data.curve(suite, name, mode)
                if r.spread]
        if len(band) > 1:
            chart.axes.fill_between(
                [s for s, _ in band], [b[0] / scale for _, b in band],
                [b[1] / scale for _, b in band], color=colour(name),
                alpha=0.15, linewidth=0)
    scaled = [(n, s, [v / scale for v in vs]) for n, s, vs in curves]
    chart.label_ends(_plot(chart, scaled, 0), left=True)
    chart.below("message size, bytes (logarithmic)")
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
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))
    for name, _, _ in curves:
        line = stats.delay_fit(data, suite, name, mode)
        if line:
            ends = (min(sizes), max(sizes))
            axes.plot(ends, [line.at(s) / scale for s in ends],
                      color=colour(name), linewidth=0.8,
                      linestyle=(0, (5, 3)), alpha=0.75, zorder=2)
    scaled = [(n, s, [v / scale for v in vs]) for n, s, vs in curves]
    chart.label_ends(_plot(chart, scaled))
    chart.below("message size, bytes (linear)")
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
    log_axis(chart.axes, *_bounds(values), short)
    chart.label_ends(_plot(chart, curves))
    chart.below("message size, bytes (logarithmic)")
    return chart


def improvement(data, mode, suite="pipe", base="pipe-linux",
                over="the Linux pipe", against=None):
    """@against: {implementation: its own base}, where it is not @base."""
    against = against or {}
    bases = {n: data.rates(suite, n, mode)
             for n in {base, *against.values()}}

    def gain(r):
        rates = bases[against.get(r.implementation, base)]
        return ((r.rate / rates[r.size] - 1) * 100 if r.size in rates
                else None)
    curves = [c for c in _curves(data, suite, mode, gain)
              if c[0] not in bases]
    if not curves:
        return None
    values = [v for _, _, vs in curves for v in vs]
    chart = Chart(**{**_SHAPE, "left": 54})
    chart.title(_head(suite, f"Improvement over {over}", mode),
                "percent more messages per second")
    size_axis(chart, _all_sizes(curves))
    span = max(max(values), 100)
    chart.axes.set_ylim(min(min(values) * 1.1, -0.04 * span, -10),
                        span * 1.05)
    chart.axes.yaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 5, 10]))
    chart.axes.yaxis.set_major_formatter(FuncFormatter(
        lambda v, _: f"{v:+,.0f}\N{NO-BREAK SPACE}%" if v else "0"))
    chart.axes.axhline(0, color=colour(base), linewidth=1.6)
    ends = _plot(chart, curves)
    right = max(_all_sizes(curves))
    ends.append((right, 0, "UNIX sockets" if against
                 else text.label(base), colour(base), True))
    chart.label_ends(ends)
    chart.below("message size, bytes (logarithmic)")
    return chart


def _positive_log(data, mode, value, title, unit, form, suite="pipe"):
    """A log-log chart; zero is drawn hollow on the lower edge."""
    curves = _curves(data, suite, mode, value)
    positive = [v for _, _, vs in curves for v in vs if v > 0]
    if not positive:
        return None
    low, high = _bounds(positive, 2, 2)
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
    chart.below("message size, bytes (logarithmic)")
    return chart


def switches(data, mode, suite="pipe"):
    return _positive_log(
        data, mode,
        lambda r: None if r.switches_per_message is None
        else r.switches_per_message * 1000,
        "Context switches", "voluntary switches per 1,000 messages, "
        "logarithmic", lambda v: text.figures(v, 1), suite)


def cpu_time(data, mode, suite="pipe"):
    return _positive_log(
        data, mode, lambda r: r.cpu_ns, "Processor time",
        "ns of CPU per message, all processes, logarithmic",
        lambda v: f"{v:,.0f}", suite)


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
    chart.below("message size, bytes (logarithmic)")
    return chart


def _trip_label(name):
    """Here TCP and UDP stand side by side."""
    protocol = name[:3].upper() + " " if name[:4] in ("tcp-", "udp-") else ""
    return protocol + text.label(name).replace(" (N)", "")


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
    chart = Chart(408, height, 104, 58, 44, 36)
    chart.title(_head(suite, "Round trip", mode),
                "dot: median; bar: up to the 99th percentile; logarithmic")
    axes = chart.axes
    axes.set_xscale("log")
    values = [r.p50 for r in runs] + [r.p99 for r in runs if r.p99]
    low, high = _bounds(values, 1.6, 1.3)
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
                        _trip_label(implementation), color=color,
                        size=FONT - 0.5, ha="right", va="center_baseline",
                        fontweight="bold" if implementation in MAIN
                        else "normal")
            chart.write(chart.box[2] + 8, chart.box[1] + middle,
                        text.ns(run.p50), color=color, size=FONT - 0.5,
                        va="center_baseline")
            y -= pitch
    chart.below("round trip time")
    return chart


# Names that fit beside a small panel.
PANEL = {"pipe-linux": "Linux", "tcp-sockets": "(N)",
         "tcp-sockets-nice": "(A)", "udp-sockets": "(N)",
         "udp-sockets-nice": "(A)", "sctp-xti": "SCTP"}


def history(title, subtitle, rates, limits, sizes):
    """A small panel: writes per second of one host, then or now."""
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
    return chart


def improvements(tables, ours, what="STREAMS over Linux pipe",
                 over="pipe-streams", under="pipe-linux"):
    """Every host of the paper, and ours: {mode: {size: ratio}}."""
    values = [v for t in tables for v in t.improvement.values()]
    values += [v for by_size in ours.values() for v in by_size.values()]
    sizes = sorted({s for t in tables for s in t.improvement}
                   | {s for by_size in ours.values() for s in by_size})
    chart = Chart(**{**_SHAPE, "height": 380, "left": 54,
                     "right": 148})
    chart.title(f"{what}, then and now",
                "percent more messages per second (logarithmic in the ratio)")
    size_axis(chart, sizes)
    axes = chart.axes
    axes.set_yscale("log", base=2)
    axes.set_ylim(*_bounds(values, 1.15, 1.15))
    axes.yaxis.set_minor_locator(NullLocator())
    marks = [r for r in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)
             if min(values) / 1.15 <= r <= max(values) * 1.15]
    axes.yaxis.set_major_locator(FixedLocator(marks))
    axes.yaxis.set_major_formatter(FuncFormatter(
        lambda v, _: f"{(v - 1) * 100:+,.0f}\N{NO-BREAK SPACE}%"
        if v != 1 else "0"))
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
        ends.append((*points[-1], f"this machine, {text.mode(mode)}",
                     colour(over), True))
    chart.label_ends(ends)
    chart.below("message size, bytes (logarithmic)")
    return chart
