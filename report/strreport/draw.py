# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""How charts are drawn, as SVG text.

One drawing, two uses
    Every chart is drawn once, in the light colours on paper.  As a file it
    stays so and looks the same in any viewer.  Inside the page each colour
    is replaced by a style variable, so that the page decides (dark mode,
    print).  Text stays text: it can be searched, selected and read aloud,
    and takes the page's font.  Space is reckoned with DejaVu Sans, which is
    wider than what browsers will use.

Values
    A chart carries its values: an invisible strip for each message size has
    a title with the value of every curve there.  A browser shows it under
    the pointer; the page's script does the same at once, and for the keys.

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
from matplotlib.ticker import NullLocator  # noqa: E402

from . import text  # noqa: E402

# Colours: kernel family warm, ours cool, the floor grey; distinct under the
# common colour blindnesses, and each has its own marker as well.  The second
# colour of a pair is for a dark page.
INK, SOFT, RULE, PAPER = "#1b1b1d", "#66666a", "#dedee1", "#fefefe"
PALETTE = {
    "pipe-streams": ("#005ea6", "#5ab0f5"),
    "pipe-streams-msg": ("#6a4fb0", "#b9a3ea"),
    "pipe-streams-nullmod": ("#00785a", "#2fc9a0"),
    "pipe-linux": ("#c05000", "#ff8b47"),
    "unix-stream": ("#946600", "#f0bb45"),
    "unix-seqpacket": ("#b04f8b", "#e594c4"),
    "ring": ("#75757a", "#a9a9ae"),
    "pipe-streams-hold": ("#7354a8", "#b49be0"),
    "pipe-streams-mread": ("#437d25", "#93c873"),
    "pipe-streams-rfill": ("#86654a", "#c8a68a"),
    "pipe-streams-service": ("#a3123d", "#f27795"),
    "pipe-streams-srvmod": ("#237f8f", "#68c2d2"),
    "pipe-lis": ("#75757b", "#a9a9af"),
    "tcp-xtios": ("#005ea8", "#5ab0f7"),
    "tcp-sockets": ("#c05002", "#ff8b49"),
    "tcp-sockets-nice": ("#946601", "#f0bb46"),
    "udp-xtios": ("#005ea9", "#5ab0f8"),
    "udp-sockets": ("#c05003", "#ff8b4a"),
    "udp-sockets-nice": ("#946602", "#f0bb47"),
    "ticotsord": ("#005eaa", "#5ab0f9"),
    "ticlts": ("#00785b", "#2fc9a1"),
    "unix-dgram": ("#b04f8c", "#e594c5"),
    "sctp-xti": ("#7354a9", "#b49be1"),
    "udp-xti": ("#7354aa", "#b49be2"),
    "udp-xti-out": ("#7354ab", "#b49be3"),
    "udp-xti-in": ("#00785c", "#2fc9a2"),
    "udp-sockets-netns": ("#c05004", "#ff8b4b"),
    "wire-socket-out": ("#7354ac", "#b49be4"),
    "wire-socket-in": ("#7354ad", "#b49be5"),
    "wire-raw-out": ("#b04f8d", "#e594c6"),
    "wire-raw-in": ("#b04f8e", "#e594c7"),
    "wire-packet-out": ("#00785d", "#2fc9a3"),
    "wire-packet-in": ("#00785e", "#2fc9a4"),
    "wire-tun-out": ("#005eab", "#5ab0fa"),
    "wire-tun-in": ("#005eac", "#5ab0fb"),
    "perftest": ("#005ea7", "#5ab0f6"),
    "perftestn": ("#c05001", "#ff8b48"),
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
        self.values = []        # (left, bottom, right, top, title)
        self.by_size = False    # whether they are those of message sizes
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

    def show_values(self, curves, form, named=text.label):
        """What is to be read at each size of @curves; the limits are set."""
        by_size = {}
        self.by_size = True
        for name, sizes, values in curves:
            for size, value in zip(sizes, values):
                by_size.setdefault(size, []).append((value, named(name)))
        left, bottom, right, top = self.box
        sizes = sorted(by_size)
        at = [self.axes.transData.transform((s, self.axes.get_ylim()[0]))[0]
              for s in sizes]
        edges = [left, *((a + b) / 2 for a, b in zip(at, at[1:])), right]
        for size, x0, x1 in zip(sizes, edges, edges[1:]):
            lines = [f"{name}: {form(value)}" for value, name
                     in sorted(by_size[size], key=lambda v: -v[0])]
            self.values.append((x0, bottom, x1, top,
                                "\n".join([text.size(size), *lines])))

    def _strips(self):
        if not self.values:
            return ""
        strips = "\n".join(
            f'<rect x="{x0:.1f}" y="{self.height - y1:.1f}" '
            f'width="{x1 - x0:.1f}" height="{y1 - y0:.1f}">'
            f"<title>{_escape(title)}</title></rect>"
            for x0, y0, x1, y1, title in self.values)
        return ('<g class="values" fill="none" pointer-events="all">\n'
                f"{strips}\n</g>\n")

    def svg(self):
        out = io.StringIO()
        with matplotlib.rc_context():
            matplotlib.rcParams.update(_RC)
            self.figure.savefig(out, format="svg", facecolor=PAPER,
                                metadata={"Date": None, "Creator": None,
                                          "Format": None, "Type": None})
        head, end, tail = out.getvalue().rpartition("</svg>")
        return head + self._strips() + end + tail


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
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: kilo(v)))


def kilo(size):
    """A message size on an axis: 512, 4 K."""
    return f"{size / 1024:,.0f} K" if size >= 1024 and size % 1024 == 0 \
        else f"{size:,.0f}"


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


def bounds(values, low_pad=1.5, high_pad=1.5):
    return min(values) / low_pad, max(values) * high_pad


def ratio_axis(axes, low, high, color=None):
    """Ratios, logarithmic; where the kernel is faster, the ground is tinted
    in its colour."""
    axes.set_yscale("log", base=2)
    axes.set_ylim(low, high)
    axes.yaxis.set_minor_locator(NullLocator())
    for steps in ((0.01, 0.1, 1, 10, 100, 1000),
                  (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500),
                  (0.5, 0.7, 1, 1.5, 2, 3, 4),
                  (0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4)):
        marks = [r for r in steps if low <= r <= high]
        if len(marks) > 2:
            break
    axes.yaxis.set_major_locator(FixedLocator(marks))
    axes.yaxis.set_major_formatter(FuncFormatter(
        lambda v, _: f"{v:g}\N{MULTIPLICATION SIGN}"))
    if color and low < 1:
        axes.axhspan(low, 1, facecolor=color, alpha=0.1, linewidth=0,
                     zorder=0)
