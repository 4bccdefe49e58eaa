# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Tests of the page, its charts and the front page."""

import base64
import csv
import hashlib
import html.parser
import io
import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

import synthetic
from base import HERE, SMALL, Base, complete, small

from strreport import charts, compare, csvfiles, draw, load, losses, page
from strreport import papers, readme, stats, text


class References(html.parser.HTMLParser):
    """Everything a page would fetch, and its identifiers."""

    def __init__(self):
        super().__init__()
        self.fetched, self.links, self.ids, self.tags = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name == "href" and tag == "a":
                self.links.append(value)
            elif name in ("src", "href", "srcset", "data", "poster"):
                self.fetched.append((tag, value))


class Output(Base):
    @classmethod
    def setUpClass(cls):
        cls.data, cls.files = complete()
        cls.html = cls.files["index.html"]

    def test_page_needs_no_network_and_no_other_file(self):
        found = References()
        found.feed(self.html)
        for tag, value in found.fetched:
            self.assertTrue(value.startswith(("#", "data:")), (tag, value))
        self.assertFalse({"img", "iframe", "object", "embed"}
                         & set(found.tags))
        self.assertEqual(found.tags.count("script"), 1)
        self.assertNotIn("@import", self.html)
        for target in re.findall(r"url\(([^)]*)\)", self.html):
            self.assertTrue(target.startswith("#"), target)
        self.assertNotRegex(self.html, r"https?://(?!www\.w3\.org/)")
        for link in found.links:
            if link.startswith("#"):
                self.assertIn(link[1:], found.ids)
            else:
                self.assertIn(link, self.files)

    def test_first_screen_is_cards(self):
        first = self.html.partition("<nav")[0]
        cards = re.findall(r'<article class="card[^"]*">(.*?)</article>',
                           first, flags=re.S)
        self.assertEqual(len(cards), 6)
        for card in cards[:5]:
            self.assertEqual(card.count("<dd"), 2)
            self.assertEqual(card.count("<svg "), 1)
        for paragraph in re.findall(r"<p[ >].*?</p>", first, flags=re.S):
            self.assertLess(len(re.sub(r"<[^>]*>", "", paragraph)), 330)

    def test_first_screen_shows_what_is_lost(self):
        data = self.load(self.lossy())
        html = page.build(data)["index.html"]
        first = html.partition("<nav")[0]
        self.assertIn("The kernel is faster at 3,001 bytes on two CPUs: "
                      "0.80×", first)
        kernel = first.partition("card kernel")[2]
        self.assertIn("1.25×", kernel)
        self.assertNotIn("Nowhere", kernel)

    def test_losses_are_listed(self):
        html = page.build(self.load(self.lossy()))["index.html"]
        listed = html.partition('<h2 id="losses">')[2].partition("<h2")[0]
        self.assertIn("3,001 bytes", listed)
        self.assertIn("1.25×", listed)
        shown = page.build(load.load([SMALL]))["index.html"]
        self.assertIn("Nowhere in this run", shown)

    @staticmethod
    def lossy():
        content = small()
        content["runs"][5].update(tx_per_s=200000, rx_per_s=200000)
        return content

    def test_script_is_inlined_and_the_only_one_permitted(self):
        body = re.search(r"<script>(.*?)</script>", self.html, flags=re.S)[1]
        digest = base64.b64encode(
            hashlib.sha256(body.encode()).digest()).decode()
        self.assertIn(f"script-src 'sha256-{digest}'", self.html)
        self.assertIn("default-src 'none'", self.html)
        for word in ("fetch", "XMLHttp", "import", "http", "eval",
                     "innerHTML"):
            self.assertNotIn(word, body.partition("*/\n(function")[2])
        self.assertLess(len(body), 6000)

    def test_values_are_there_without_the_script(self):
        chart = self.files["performance-split.svg"]
        strips = [t.text for t in xml.fromstring(chart).findall(
            ".//{*}g[@class='values']/{*}rect/{*}title")]
        self.assertEqual(len(strips), 15)
        rate = self.data.rates("pipe", "pipe-streams", "split")[64]
        self.assertIn(f"STREAMS: {text.short(rate)}/s",
                      next(s for s in strips if s.startswith("64 bytes\n")))
        lines = strips[0].split("\n")[1:]
        self.assertEqual(len(lines), 7)
        self.assertIn("bare ring", lines[0])    # the highest curve first
        for name, content in self.files.items():
            if name.endswith(".svg"):
                self.assertIn('<g class="values"', content, name)

    def test_alternative_texts_say_the_values(self):
        alts = re.findall(r'<svg role="img" aria-label="([^"]*)"', self.html)
        self.assertEqual(len(alts), len(set(alts)))
        found = next(a for a in alts if a.startswith(
            "Messages per second against message size, two CPUs. 1 byte: "))
        self.assertIn("16,384 bytes: ", found)

    def test_performance_is_logarithmic_where_curves_lie_far_apart(self):
        def scale(*rates):
            content = small()
            content["runs"] = [
                {"suite": "tcp", "implementation": name, "mode": "same",
                 "message_bytes": size, "tx_per_s": rate, "rx_per_s": rate,
                 "rx_samples": [rate]} for size in (1, 64)
                for name, rate in zip(("tcp-xtios", "tcp-sockets"), rates)]
            chart = charts.performance(self.load(content), "same", "tcp")
            return chart.axes.get_yscale()
        self.assertEqual(scale(2e6, 1e5), "log")
        self.assertEqual(scale(1.9e6, 1e5), "linear")

    def test_tables_can_be_sorted_and_scrolled(self):
        for found in re.findall(r"<table[^>]*>", self.html):
            self.assertIn(found, ('<table class="sort">',
                                  '<table class="facts">'))
        self.assertEqual(self.html.count('<table class="sort">'),
                         self.html.count('<div class="scroll" tabindex="0" '
                                         'role="region" aria-label="'))
        # Links without a space between them make one line without end.
        self.assertNotIn("</a><a ", self.html)
        # Every column of a body is one of the head's.
        for table in re.findall(r'<table class="sort">.*?</table>',
                                self.html, flags=re.S):
            head, _, body = table.partition("</thead>")
            rows = re.findall(r"<tr.*?</tr>", body, flags=re.S)
            wide = {sum(int((re.search(r'colspan="(\d+)"', cell) or
                             [0, 1])[1])
                        for cell in re.findall(r"<t[hd]\b[^>]*>", row))
                    for row in rows}
            first = re.findall(r"<th\b[^>]*>",
                               head.partition("</tr>")[0])
            columns = sum(int((re.search(r'colspan="(\d+)"', cell) or
                               [0, 1])[1]) for cell in first)
            self.assertEqual(wide, {columns}, table[:200])

    def test_colours_of_text_have_contrast(self):
        """4.5 to 1 against the paper, in the light and in the dark."""
        def light(colour):
            parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
            r, g, b = (c / 12.92 if c <= 0.04045
                       else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
            return 0.2126 * r + 0.7152 * g + 0.0722 * b

        def contrast(a, b):
            high, low = sorted((light(a), light(b)), reverse=True)
            return (high + 0.05) / (low + 0.05)
        style = self.html.partition("<style>")[2].partition("</style>")[0]
        bright, dark = style.split("@media screen and (prefers-color-scheme")
        dark = dark.partition("* { box-sizing")[0]
        for page_colours in (bright, dark):
            found = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})",
                                    page_colours))
            self.assertGreater(len(found), 40)
            for name, colour in found.items():
                if name in ("paper", "rule", "tint"):
                    continue
                for ground in ("paper", "tint"):
                    if ground == "tint" and name.startswith("c-"):
                        continue
                    self.assertGreaterEqual(
                        contrast(colour, found[ground]), 4.5,
                        (name, colour, ground))

    def test_identifiers_are_unique_and_resolve(self):
        found = References()
        found.feed(self.html)
        self.assertEqual(len(found.ids), len(set(found.ids)))
        used = set(re.findall(r'(?:url\(|href=")#([^")]+)', self.html))
        self.assertEqual(used - set(found.ids), set())

    def test_page_is_light_and_dark(self):
        self.assertIn("prefers-color-scheme: dark", self.html)
        inline = self.html[self.html.index("<h1>"):]
        left = set(re.findall(r"#[0-9a-f]{6}\b", inline))
        self.assertEqual(left, set(), "colours that do not follow the page")
        used = set(re.findall(r"var\(--([a-z-]+)\)", self.html))
        defined = set(re.findall(r"--([a-z-]+):", self.html))
        self.assertEqual(used - defined, set())

    def test_all_that_was_promised_is_there(self):
        for kind in ("performance", "delay", "throughput", "improvement",
                     "switches", "cpu", "round-trip", "ablation"):
            for mode in ("split", "same"):
                self.assertIn(f"{kind}-{mode}.svg", self.files)
        for number in range(1, 10):
            self.assertIn(f"history-{number}.svg", self.files)
        self.assertIn("history-improvement.svg", self.files)
        for name in ("results", "summary", "ratios", "delay-fits",
                     "round-trips", "ablations", "history"):
            self.assertIn(f"{name}.csv", self.files)
        self.assertRegex(self.html, r"4\.50\sµs with.*\(3\.00× as long\)")
        for word in ("Synthetic processor", "-12", "none of 2\nobservations",
                     "Method and caveats"):
            self.assertIn(word.replace("-12", "\u221212"), self.html)


    def test_charts_are_well_formed_and_undated(self):
        for name, content in self.files.items():
            if not name.endswith(".svg"):
                continue
            root = xml.fromstring(content)
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            self.assertTrue(root[0].text, name)
            self.assertNotIn("dc:date", content)
            self.assertNotRegex(content, r"href=\"(?!#)")

    def test_curves_are_where_the_data_is(self):
        """The drawn end of a curve agrees with the numbers."""
        chart = charts.throughput(self.data, "split")
        run = self.data.curve("pipe", "pipe-streams", "split")[-1]
        line = next(l for l in chart.axes.lines
                    if l.get_color() == draw.colour("pipe-streams"))
        self.assertEqual((line.get_xdata()[-1], line.get_ydata()[-1]),
                         (run.size, run.rate * run.size))
        gain = charts.improvement(self.data, "same")
        line = next(l for l in gain.axes.lines
                    if l.get_color() == draw.colour("ring"))
        ratio = stats.ratio(self.data, "pipe", "ring", "pipe-linux", "same")
        self.assertAlmostEqual(line.get_ydata()[0], ratio.by_size[1])

    def test_output_is_deterministic(self):
        """Byte for byte, in another process with another hash seed."""
        data = self.put("in.json", synthetic.complete())
        out = self.path("out")
        environment = {**os.environ, "PYTHONHASHSEED": "4711",
                       "PYTHONPATH": os.path.dirname(HERE),
                       "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, "-m", "strreport", data, "-o", out],
                       check=True, env=environment,
                       stdout=subprocess.DEVNULL)
        self.assertEqual(sorted(os.listdir(out)), sorted(self.files))
        for name, content in self.files.items():
            with open(os.path.join(out, name), encoding="utf-8") as stream:
                got = stream.read()
            self.assertEqual(got, content, name)

    def rows(self, data, name):
        files = csvfiles.csv_files(data, papers.tables())
        return list(csv.DictReader(io.StringIO(files[name])))

    def test_csv(self):
        data = load.load([SMALL])
        results = self.rows(data, "results.csv")
        self.assertEqual(len(results), 7)
        self.assertEqual(
            (results[0]["implementation"], results[0]["tx_per_s"],
             results[0]["ns_per_message"], results[0]["lowest_sample"],
             results[0]["voluntary_switches_per_message"],
             results[0]["cpu_ns_per_message"]),
            ("pipe-linux", "1000000", "1000", "900000", "0.05", "1500"))
        self.assertEqual(results[1]["lowest_sample"], "")
        summary = self.rows(data, "summary.csv")
        self.assertEqual(len(summary), 1)
        self.assertEqual(
            (summary[0]["geometric_mean"], summary[0]["lowest"],
             summary[0]["lowest_at_bytes"], summary[0]["sizes"]),
            ("4", "2", "3001", "3"))
        self.assertEqual([r["improvement_percent"]
                          for r in self.rows(data, "ratios.csv")],
                         ["700", "300", "100"])
        fits = {r["implementation"]: r
                for r in self.rows(data, "delay-fits.csv")}
        self.assertEqual((fits["pipe-linux"]["intercept_ns"],
                          fits["pipe-linux"]["slope_ns_per_byte"]),
                         ("999", "1"))
        trips = self.rows(self.data, "round-trips.csv")
        self.assertEqual(len(trips), 40)

    def test_hostile_strings_stay_text(self):
        content = small()
        evil = "<script>alert(1)</script>$\\alpha$ & \"' \0\x1b\ud800"
        content["machine"]["hostname"] = evil
        content["machine"]["kernel"] = evil
        for run in content["runs"]:
            run["mode"] = evil
            if run["implementation"] == "pipe-streams":
                run["implementation"] = "x" + evil
        content["runs"].append({**content["runs"][0],
                                "implementation": "pipe-streams"})
        files = page.build(self.load(content))
        found = References()
        found.feed(files["index.html"])
        self.assertEqual(found.tags.count("script"), 1)
        for name in files:
            files[name].encode("utf-8")
            self.assertRegex(name, r"^[a-z0-9.-]+$")
            if name.endswith(".svg"):
                xml.fromstring(files[name])

    def test_front_page_chart_and_table(self):
        data = self.put("in.json", synthetic.complete())
        svg = self.path("chart.svg")
        status, out, err = self.run_main(data, "--svg", svg,
                                         program=readme.main)
        self.assertEqual((status, err), (0, ""))
        with open(svg, encoding="utf-8") as stream:
            drawn = stream.read()
        xml.fromstring(drawn)
        self.assertNotIn(draw.PAPER, drawn)
        for word in ("two CPUs", "one CPU", "STREAMS", "Linux pipe",
                     "UNIX stream", "bare ring"):
            self.assertIn(word, drawn)
        for card, by_mode in compare.cards(self.data):
            self.assertIn(f"{card.title}: {card.ours}".replace("’", "'"),
                          out)
            self.assertIn(f"**{text.factor(by_mode['same'].mean)}**", out)
        self.assertIn("after a second of silence", out)
        widths = {line.count("|") for line in out.splitlines()
                  if line.startswith("|")}
        self.assertEqual(widths, {4})

    def test_front_page_shows_losses_on_the_scale_of_the_gains(self):
        """An opening takes 3 times as long: that is 0.33 times as fast."""
        out = readme.markdown(self.data)
        self.assertIn("Opening and closing a pipe | – | **0.33** "
                      "(4.50\xa0µs) |", out)
        lost = len(losses.table(losses.losses(self.data)))
        self.assertLess(lost, losses.compared(self.data))
        self.assertIn(f"{losses.compared(self.data)} comparisons were made; "
                      f"in {lost} of them", " ".join(out.split()))
        worst = losses.worst(losses.losses(self.data))
        self.assertGreater(len(worst), 3)
        for loss in worst:
            self.assertIn(f"**{text.factor(loss.factor)}** times", out)
        content = small()
        self.assertIn("nowhere in this run",
                      readme.markdown(self.load(content)))

    def test_front_page_needs_pipes(self):
        content = small()
        content["runs"] = [{"suite": "rtt", "implementation": "ring",
                            "mode": "same", "message_bytes": 1,
                            "state": "warm", "p50_ns": 5}]
        status, _, err = self.run_main(self.put("in", content),
                                       program=readme.main)
        self.assertEqual(status, 1)
        self.assertIn("no suite \"pipe\"", err)


if __name__ == "__main__":
    unittest.main()
