# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""python -m strreport.readme FILE... --svg OUT.svg

One chart for the front page, on no background and in middle tones that can
be read on a light and on a dark page, and tables in Markdown on stdout.
"""

import argparse
import os
import sys

from . import stats, tables, text
from .load import ReportError, load

NAMES = ("pipe-streams", "ring", "unix-stream", "pipe-linux")

# Contrast of at least 3.4 both against white and against near-black.
TONES = {"pipe-streams": "#2f81d9", "ring": "#84848a",
         "unix-stream": "#b07d0a", "pipe-linux": "#df6210"}
GREY = "#7d828a"


def draw(data):
    """The chart as SVG text."""
    from . import charts
    modes = [m for m in data.modes("pipe")
             if any(data.curve("pipe", n, m) for n in NAMES)]
    curves = {m: [(n, data.curve("pipe", n, m)) for n in NAMES] for m in modes}
    rates = [r.rate for c in curves.values() for _, runs in c for r in runs]
    if not rates:
        raise ReportError("no suite \"pipe\" to draw")
    sizes = sorted({r.size for c in curves.values() for _, runs in c
                    for r in runs})
    width, height, left, right, gap = 760, 300, 46, 100, 22
    chart = charts.Chart(width, height, left, right, 46, 40)
    each = (width - left - right - gap * (len(modes) - 1)) / len(modes)
    chart.figure.delaxes(chart.axes)
    chart.write(2, height - 14, "Messages per second by message size",
                color=GREY, size=12, fontweight="bold")
    for index, mode in enumerate(modes):
        x = left + index * (each + gap)
        box = (x, chart.box[1], x + each, chart.box[3])
        axes = chart.axes = chart.add_axes(box)
        charts.size_axis(chart, sizes)
        charts.log_axis(axes, min(rates) / 1.6, max(rates) * 1.5,
                         charts.short)
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
                         TONES[name], name in charts.MAIN))
        if index == len(modes) - 1:
            chart.label_ends(ends, gap=13)
    chart.write((left + width - right) / 2, 6,
                "message size, bytes (both axes logarithmic)", color=GREY,
                size=9.5, ha="center")
    chart.figure.patch.set_visible(False)
    return charts.as_file(
        chart.svg(), "readme", "Messages per second against message size "
        "for a STREAMS pipe, a Linux pipe, a UNIX stream socket and a bare "
        "ring: " + text.join(text.mode(m) for m in modes))


# What the front page compares: suite, ours, the kernel's, and in words.
RATES = (
    ("pipe", "pipe-streams", "pipe-linux",
     "STREAMS pipe, over the kernel's pipe"),
    ("pipe", "pipe-streams-msg", "unix-seqpacket",
     "STREAMS messages (`putmsg`), over a UNIX `SOCK_SEQPACKET` socket"),
    ("udp", "udp-xti", "udp-sockets",
     "UDP of our own (`udp2`, XTI), over a UDP socket"),
    ("tcp", "tcp-xtios", "tcp-sockets",
     "the kernel's TCP through XTI (`/dev/tcp`), over a TCP socket"),
    ("loopback", "ticotsord", "unix-stream",
     "XTI between two programs (`ticotsord`), over a UNIX stream socket"),
)
TRIPS = (("warm", "round trip of one byte, both programs busy"),
         ("idle", "round trip of one byte after a second of silence"))


def _row(what, cells, modes):
    return f"| {what} | " + " | ".join(cells.get(m, text.NONE)
                                       for m in modes) + " |"


def markdown(data):
    """Two tables: rates, then round trips; a column per mode."""
    modes = data.modes("pipe")
    head = " | ".join(text.mode(m) for m in modes) + " |"
    line = "|---|" + "---:|" * len(modes)
    lines = ["| messages received per second, ours over the kernel's | " + head,
             line]
    sizes = set()
    for suite, over, under, what in RATES:
        cells = {}
        for mode in data.modes(suite):
            r = stats.ratio(data, suite, over, under, mode, by="rx")
            if r:
                sizes.update(r.sizes)
                cells[mode] = (f"**{text.factor(r.mean)}** "
                               f"({text.factor(r.low[1])} at "
                               f"{r.low[0]:,} B)")
        if cells:
            lines.append(_row(what, cells, modes))
    if sizes:
        lines += ["", f"Geometric means over {min(sizes):,} to "
                  f"{max(sizes):,} bytes a message; the lowest ratio is in "
                  "parentheses. Above 1, ours is faster."]
    lines += ["", "| time, ours over the kernel's pipe | " + head, line]
    trips = {key: found for key, name, found in tables.round_trips(data)
             if name == "pipe-streams"}
    for state, what in TRIPS:
        found = trips.get((state, 1), {})
        cells = {m: f"{text.ns(run.p50)} (**{text.factor(ratio)}**)"
                 for m, (run, ratio) in found.items() if ratio}
        if cells:
            lines.append(_row(what, cells, modes))
    lines += ["", "Medians. Below 1, ours is faster."]
    return "\n".join(lines)


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
