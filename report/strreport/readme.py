# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""python -m strreport.readme FILE... --svg OUT.svg

One chart for the front page, on no background and in middle tones that can
be read on a light and on a dark page, and a table in Markdown on stdout.
"""

import argparse
import os
import sys

from . import nets, tables, text
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


def markdown(data):
    """The table: a row per comparison, a column per mode."""
    modes = data.modes("pipe")
    lines = ["| messages per second | "
             + " | ".join(text.mode(m) for m in modes) + " |",
             "|---|" + "---:|" * len(modes)]
    for (over, under, _), found in tables.summary(data):
        cells = []
        for mode in modes:
            r = found.get(mode)
            cells.append(text.NONE if r is None else
                         f"**{text.factor(r.mean)}** "
                         f"({text.factor(r.low[1])} at {r.low[0]:,} B)")
        lines.append(f"| `{over}` / `{under}` | " + " | ".join(cells) + " |")
    trips = [row for row in tables.round_trips(data)
             if row[1] == "pipe-streams"]
    for (state, size), _, found in trips:
        cells = []
        for mode in modes:
            run, ratio = found.get(mode, (None, None))
            cells.append(text.NONE if run is None else text.ns(run.p50)
                         + (f" ({text.factor(ratio)} of `pipe-linux`)"
                            if ratio else ""))
        when = "after idle" if state == "idle" else state
        lines.append(f"| round trip, {text.size(size)}, {when} | "
                     + " | ".join(cells) + " |")
    lines += _networks(data, modes)
    sizes = sorted({s for _, found in tables.summary(data)
                    for r in found.values() for s in r.sizes})
    lines.append("")
    if sizes:
        lines.append(f"Geometric means over {sizes[0]:,} to {sizes[-1]:,} "
                     f"bytes, and the lowest ratio; round trips are "
                     f"medians.")
    return "\n".join(lines)


def _networks(data, modes):
    """Rows of TCP, UDP and the loopback transports, with what is wanted."""
    lines = []
    for suite, pair, found in nets.summary(data):
        if not pair.bar:
            continue
        cells = []
        for mode in modes:
            v = found.get(mode)
            cell = text.NONE if v is None else (
                f"**{text.factor(v.ratio.mean)}** "
                f"({text.factor(v.ratio.low[1])} at "
                f"{v.ratio.low[0]:,} B)")
            if v is not None and pair.arrive and v.arrived is not None:
                cell += f", {text.figures(v.arrived * 100)} % arrive"
            cells.append(cell)
        lines.append(f"| `{pair.over}` / `{pair.under}`, received "
                     f"(wanted: {pair.wanted}) | " + " | ".join(cells)
                     + " |")
    for trip, found in nets.trips(data):
        if trip.under == "udp-sockets-netns":   # nothing is wanted of it
            continue
        cells = []
        for mode in modes:
            if mode not in found:
                cells.append(text.NONE)
                continue
            ours, _, ratio, _ = found[mode]
            most = trip.most.get(mode)
            cells.append(f"{text.ns(ours)} ({text.factor(ratio)} of "
                         f"`{trip.under}`"
                         + (f"; wanted: at most {text.plain(most)}"
                            if most else "") + ")")
        lines.append(f"| `{trip.over}`, round trip, 1 byte, warm | "
                     + " | ".join(cells) + " |")
    return lines


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
