# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The report where neither matplotlib nor jinja2 is: tables and no charts."""

import csv
import html
import io

from . import compare, csvfiles, losses, papers, text as words

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>STREAMS, pipes and Sockets: results</title>
<style>
body { font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 72em;
  padding: 0 1em; }
table { border-collapse: collapse; }
td, th { padding: 2px 10px; text-align: right; }
td:first-child, th:first-child { text-align: left; }
tr:nth-child(even) { background: #8882; }
</style>
</head>
<body>
<h1>Results</h1>
"""


def table(rows):
    """Rows of cells as a table; the first one is its head."""
    text = ["<table>"]
    for n, row in enumerate(rows):
        tag = "td" if n else "th"
        text.append("<tr>" + "".join(f"<{tag}>{html.escape(str(c))}</{tag}>"
                                     for c in row) + "</tr>")
    return "\n".join(text + ["</table>\n"])


def build(data):
    """{file name: text} of the whole report."""
    parts = [p for p in compare.PARTS if data.suite(p.suite)]
    histories = {p.paper: papers.tables(paper=p.paper)
                 for p in compare.PARTS if p.paper}
    csvs = csvfiles.csv_files(data, papers.tables(),
                            histories if parts else None)
    text = [HEAD, "<p>Messages received per second, STREAMS over the kernel: "
            "geometric means over the message sizes. Above 1, STREAMS is "
            "faster.</p>\n",
            table([("what", "CPUs", "mean", "lowest", "at bytes"),
                   *((f"{card.title}: {card.ours} against {card.kernel}",
                      words.mode(mode), words.factor(ratio.mean),
                      words.factor(ratio.low[1]), ratio.low[0])
                     for card, by_mode in compare.cards(data)
                     for mode, ratio in by_mode.items())]),
            "<h2>Where the kernel is faster</h2>\n",
            table([("comparison", "measure", "CPUs", "bytes", "by"),
                   *((x.what, x.measure, words.mode(x.mode), x.where,
                      words.factor(x.factor))
                     for x in losses.losses(data))]),
            "<p><b>No charts</b>: matplotlib and jinja2 draw and set them, "
            "and one is missing here. All figures are below, and in the "
            "files named.</p>\n",
            "<h2>Machine</h2>\n",
            table([("what", "is"), *data.machine.items()])]
    for name in sorted(csvs):
        text += [f'<h2><a href="{html.escape(name)}">{html.escape(name)}'
                 "</a></h2>\n", table(csv.reader(io.StringIO(csvs[name])))]
    return {**csvs, "index.html": "".join([*text, "</body>\n</html>\n"])}
