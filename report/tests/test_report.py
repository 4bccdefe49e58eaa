# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Tests of what is read, computed and refused."""

import csv
import io
import os
import re
import subprocess
import sys
import unittest

import synthetic
from base import HERE, SMALL, Base, complete, small

from strreport import charts, compare, csvfiles, draw, load, losses, nets, nice
from strreport import page, papers, readme, stats, tables, text


class Numbers(Base):
    def test_geometric_mean(self):
        self.assertAlmostEqual(stats.geomean([8, 4, 2]), 4)
        self.assertAlmostEqual(stats.geomean([0.5, 2]), 1)
        self.assertIsNone(stats.geomean([]))
        self.assertIsNone(stats.geomean([1, 0]))

    def test_ratio_covers_common_sizes_only(self):
        data = load.load([SMALL])
        ratio = stats.ratio(data, "pipe", "pipe-streams", "pipe-linux",
                            "split")
        self.assertEqual(ratio.by_size, {1: 8, 1001: 4, 3001: 2})
        self.assertAlmostEqual(ratio.mean, 4)
        self.assertEqual(ratio.low, (3001, 2))
        self.assertEqual(ratio.high, (1, 8))
        self.assertIsNone(stats.ratio(data, "pipe", "pipe-streams", "ring",
                                      "split"))

    def test_fit_of_an_exact_line(self):
        fit = stats.delay_fit(load.load([SMALL]), "pipe", "pipe-linux",
                              "split")
        self.assertAlmostEqual(fit.intercept, 999)
        self.assertAlmostEqual(fit.slope, 1)
        self.assertAlmostEqual(fit.error, 0)

    def test_fit_minimises_relative_residuals(self):
        points = [(1, 100.0), (2, 110.0), (64, 95.0), (1024, 400.0),
                  (16384, 9000.0)]
        fit = stats.fit(points)

        def cost(intercept, slope):
            return sum(((intercept + slope * x) / y - 1) ** 2
                       for x, y in points)
        best = cost(fit.intercept, fit.slope)
        for step in (0.999, 1.001):
            self.assertGreater(cost(fit.intercept * step, fit.slope), best)
            self.assertGreater(cost(fit.intercept, fit.slope * step), best)
        self.assertAlmostEqual(fit.error, (best / len(points)) ** 0.5)

    def test_fit_needs_three_points_and_two_sizes(self):
        self.assertIsNone(stats.fit([(1, 1), (2, 2)]))
        self.assertIsNone(stats.fit([(1, 1), (1, 2), (1, 3)]))

    def test_context_switches_per_message(self):
        run = load.load([SMALL]).curve("pipe", "pipe-linux", "split")[0]
        self.assertAlmostEqual(run.switches_per_message, 0.05)

    def test_numbers_in_words(self):
        self.assertEqual(text.integer(1234567.4), "1,234,567")
        self.assertEqual([text.factor(v) for v in
                          (0.005532, 0.77, 9.994, 9.996, 12.84, 99.96, 1234)],
                         ["0.0055", "0.77", "9.99", "10.0", "12.8", "100",
                          "1,234"])
        self.assertEqual([text.figures(v) for v in
                          (0.00999999, 0.5, 999.6, -3.14159, 0)],
                         ["0.0100", "0.500", "1,000", "\u22123.14", "0"])
        self.assertEqual([text.ns(v) for v in (28.04, 999.8, 4460, 52e6)],
                         ["28.0\xa0ns", "1.00\xa0µs", "4.46\xa0µs",
                          "52.0\xa0ms"])
        self.assertEqual(text.signed_percent(1.25), "+25\xa0%")
        self.assertEqual(text.signed_percent(0.21), "\u221279\xa0%")

    def test_labels_are_spread_in_order(self):
        places = draw.spread([10, 10, 10, 50, 98, 99], 5, 0, 100)
        self.assertEqual(places, sorted(places))
        for a, b in zip(places, places[1:]):
            self.assertGreaterEqual(b - a, 5 - 1e-9)
        self.assertEqual(places[:4], [5, 10, 15, 50])
        self.assertLessEqual(places[-1], 100)


class Words(Base):
    def test_cards_are_computed(self):
        (card, found), = compare.cards(load.load([SMALL]))
        self.assertEqual((card.title, card.over), ("Pipes", "pipe-streams"))
        self.assertEqual(list(found), ["split"])
        self.assertAlmostEqual(found["split"].mean, 4)

    def test_cards_name_the_implementation(self):
        """Native UDP is not XTI over a socket, though in one suite."""
        found = {card.title: (card, r)
                 for card, r in compare.cards(complete()[0])}
        self.assertEqual(list(found), ["Pipes", "Messages", "UDP", "TCP",
                                       "Loopback"])
        card, by_mode = found["UDP"]
        self.assertEqual((card.over, card.ours),
                         ("udp-xti", "native UDP through XTI"))
        self.assertAlmostEqual(by_mode["split"].by_size[1],
                               (1400 + 0.11) / (120 + 0.04), 4)

    def test_losses_are_ranked_by_their_worst_size(self):
        content = small()
        content["runs"][4].update(rx_per_s=400000)      # of 500,000
        content["runs"][5].update(rx_per_s=100000)      # of 250,000
        for state, ours in (("warm", 90), ("idle", 500)):
            for name, p50 in (("pipe-streams", ours), ("pipe-linux", 100)):
                content["runs"].append({
                    "suite": "rtt", "implementation": name, "mode": "same",
                    "message_bytes": 1, "state": state, "p50_ns": p50,
                    "p99_ns": p50})
        found = losses.losses(self.load(content))
        self.assertEqual(
            [(x.measure, x.mode, x.where, round(x.factor, 6))
             for x in found],
            [("round trip after silence", "same", "1 byte", 5),
             ("messages per second", "split", "1,001 to 3,001 bytes", 2.5)])
        self.assertEqual(found[1].what, "STREAMS pipe against Linux pipe")

    def test_what_is_not_the_kernels_is_no_loss(self):
        """The bare ring is faster, and it is no part of the kernel."""
        found = losses.losses(complete()[0])
        self.assertNotIn("ring", {x.under for x in found})
        self.assertIn(("wire-packet-in", "udp-sockets-netns"),
                      {(x.over, x.under) for x in found})
        self.assertIn("open", {x.part for x in found})

    def test_first_screen_has_one_loss_of_each_kind(self):
        kept = losses.worst(losses.losses(complete()[0]))
        kinds = [(x.part, x.measure) for x in kept]
        self.assertEqual(len(kinds), len(set(kinds)))
        self.assertEqual([x.factor for x in kept],
                         sorted((x.factor for x in kept), reverse=True))

    def test_sizes_in_words(self):
        measured = [1, 2, 4, 8, 16]
        self.assertEqual([text.sizes(s, measured) for s in
                          ([1], [2, 4, 8], [16, 1], [2, 4, 16])],
                         ["1 byte", "2 to 8 bytes", "1 and 16 bytes",
                          "2 to 4 and 16 bytes"])

    def ablation(self, features, service, switches, eager=None):
        runs = []
        slow = (("-service", service, switches),) if eager is None else (
            ("-srvmod", service, switches), ("-service", *eager))
        for name, factor, count in (
                ("", 1, 1), ("-hold", features, 1), ("-mread", 1, 1),
                ("-rfill", 1, 1), *slow):
            for size in (1, 64):
                runs.append({
                    "suite": "ablation",
                    "implementation": "pipe-streams" + name,
                    "mode": "same", "message_bytes": size,
                    "tx_per_s": 1e6 * factor,
                    "voluntary_switches_per_s": 1e3 * factor * count})
        return tables.explanation(self.load({"schema": 1, "runs": runs}))

    def test_explanation_that_holds(self):
        first, second = self.ablation(1.1, 0.2, 500)
        self.assertIn("hold by +10\xa0%", first)
        self.assertIn("as the paper found", first)
        self.assertNotIn("matters", first)
        self.assertIn("by \u221280\xa0% against the plain pipe. There are "
                      "500 voluntary context switches per 1,000 messages "
                      "instead of 1.00.", second)
        self.assertIn("As the paper says", second)

    def test_eager_service_is_compared_with_deferred_service(self):
        sentences = self.ablation(1, 0.5, 2, (0.1, 900))
        self.assertEqual(len(sentences), 2)
        self.assertIn("by \u221280\xa0% against deferred service. There are "
                      "900 voluntary context switches per 1,000 messages "
                      "instead of 2.00.", sentences[1])

    def test_explanation_that_does_not_hold(self):
        first, second = self.ablation(2, 0.9, 1)
        self.assertIn("at least one of them matters", first)
        self.assertIn("too little", second)
        self.assertIn("do not explain it",
                      self.ablation(1, 0.2, 1)[1])


class Loading(Base):
    def test_unknown_fields_and_suites_are_welcome(self):
        content = small()
        content["news"] = [1]
        content["runs"][0]["more"] = {"x": 1}
        content["runs"].append({"suite": "future", "implementation": "x",
                                "mode": "same", "score": 7})
        data = self.load(content)
        self.assertEqual(len(data.suite("future")), 1)
        self.assertIn("Suite future", page.build(data)["index.html"])

    def test_unusable_results_are_left_out_with_a_note(self):
        content = small()
        content["runs"] += [
            17, {"suite": "pipe"},
            {"suite": "pipe", "implementation": "ring", "mode": "same",
             "message_bytes": 1, "tx_per_s": float("nan")},
            {"suite": "pipe", "implementation": "ring", "mode": "same",
             "message_bytes": "1", "tx_per_s": 3.0}]
        data = self.load(content)
        self.assertEqual(len(data.runs), 7)
        self.assertEqual(
            sum(n.startswith("Left out:") for n in data.notes), 5)

    def test_failures_load_and_settings_are_shown(self):
        content = small()
        content["errors"] = [{"suite": "rtt", "implementation": "ring",
                              "mode": "split", "message": "timed out"}]
        content["machine"]["load_average"] = [3.21, 1, 1]
        content["settings"] = {"seconds": 0.25, "repeat": 7,
                               "warmup_seconds": 0.125}
        shown = page.build(self.load(content))["index.html"]
        self.assertIn("Failed: rtt ring split: timed out", shown)
        self.assertIn("busy", shown)
        self.assertIn("(load average 3.21)", shown)
        self.assertRegex(shown, r"lasts 0\.25 s after 0\.125 s of warm-up;"
                                r"\s+each point has 7")
        self.assertNotIn("were sampled again", shown)
        content["settings"]["again_seconds"] = 120
        shown = page.build(self.load(content))["index.html"]
        self.assertRegex(shown, r"until the samples\s+agreed, had 21, or\s+"
                         r"120 s were")

    def test_absurd_values_do_no_harm(self):
        for value in (10 ** 400, -1, 1e300, 1e-300, float("inf"), True, [],
                      "7", None):
            content = small()
            for run in content["runs"][:2]:
                run.update(tx_per_s=value, rx_per_s=value, samples=[value],
                           cpu_ns_per_message=value,
                           voluntary_switches_per_s=value)
            content["runs"][2]["message_bytes"] = value
            with self.subTest(value=str(value)[:9]):
                data = self.load(content)
                self.assertLess(len(data.runs), 7)
                self.assertTrue(data.notes)
        page.build(data)

    def test_interrupted_run_says_so(self):
        content = small()
        content["partial"] = True
        data = self.load(content)
        self.assertTrue(data.partial)
        self.assertIn("An incomplete run",
                      page.build(data)["index.html"])
        self.assertNotIn("An incomplete run",
                         page.build(load.load([SMALL]))["index.html"])

    def test_every_single_suite_makes_a_page(self):
        everything = synthetic.complete()
        for suite in ("pipe", "rtt", "ablation", "perftest", "idle"):
            content = {"schema": 1, "machine": {}, "runs": [
                r for r in everything["runs"]
                if r["suite"] == suite and r["mode"] == "split"]}
            with self.subTest(suite=suite):
                self.assertIn("</html>",
                              page.build(self.load(content))["index.html"])

    def test_one_result_makes_a_page(self):
        content = small()
        content["runs"] = content["runs"][:1]
        self.assertIn("1,000,000",
                      page.build(self.load(content))["index.html"])

    def test_repetitions_are_merged_by_median(self):
        first, second, third = small(), small(), small()
        for content, rate in ((first, 7e6), (second, 8e6), (third, 12e6)):
            content["runs"][3].update(tx_per_s=rate, rx_per_s=rate)
        data = load.load([self.put(f"{i}.json", c) for i, c in
                          enumerate((first, second, third))])
        run = data.curve("pipe", "pipe-streams", "split")[0]
        self.assertEqual((run.tx, run.rx), (8e6, 8e6))
        self.assertEqual(run.spread, (7e6, 12e6))
        linux = data.curve("pipe", "pipe-linux", "split")[0]
        self.assertEqual(len(linux.samples), 9)

    def test_reads_that_differ_from_writes_are_noted(self):
        content = small()
        self.assertFalse(self.load(content).notes[1:])
        content["runs"][0]["rx_per_s"] = 500000
        data = self.load(content)
        self.assertIn("At 1 point messages read and written per second "
                      "differ", data.notes[1])
        self.assertIn("pipe-linux, split, 1 B (1,000,000 written, 500,000 "
                      "read)", data.notes[1])
        # 16, 4 and 2 where 8, 4 and 2 were written: what is read counts.
        (_, found), = compare.cards(data)
        self.assertAlmostEqual(found["split"].mean, 128 ** (1 / 3))


class Refusals(Base):
    def test_not_json(self):
        self.assertIn("not JSON", self.refused(self.put("a", "{\"schema\":")))
        self.assertIn("not JSON", self.refused(self.put("b", "")))
        with open(self.path("c"), "wb") as stream:
            stream.write(b"\xff\xfe\x00")
        self.assertIn("not JSON", self.refused(self.path("c")))

    def test_missing_file_and_directory(self):
        self.assertIn("No such file", self.refused(self.path("none")))
        self.assertIn("directory", self.refused(self.dir))

    def test_wrong_schema(self):
        content = small()
        content["schema"] = 2
        self.assertIn("schema 2", self.refused(self.put("a", content)))
        del content["schema"]
        self.assertIn("no \"schema\"", self.refused(self.put("a", content)))
        self.assertIn("one object", self.refused(self.put("a", [content])))

    def test_no_runs(self):
        content = small()
        content["runs"] = []
        self.assertIn("no runs", self.refused(self.put("a", content)))
        content["runs"] = [{"suite": "pipe", "implementation": "ring",
                            "mode": "same"}]
        self.assertIn("no runs", self.refused(self.put("a", content)))

    def test_no_runs_names_the_first_failure(self):
        content = {"schema": 1, "runs": [], "errors": [
            {"suite": "pipe", "implementation": "ring", "mode": "same",
             "message_bytes": 1, "message": "cannot pin"}]}
        self.assertIn("no runs: pipe ring same 1: cannot pin",
                      self.refused(self.put("a", content)))

    def test_mixed_hosts_and_builds(self):
        for field, what in (("hostname", "host"), ("build_id", "build id"),
                            ("kernel", "kernel")):
            other = small()
            other["machine"][field] = "another"
            path = self.put("other", other)
            with self.subTest(field=field):
                said = self.refused(SMALL, path)
                self.assertIn(f"{what} \"another\" differs", said)
                self.assertIn("--force", said)
        status, _, err = self.run_main(SMALL, path, "--force",
                                       "-o", self.path("out"))
        self.assertEqual((status, err), (0, ""))
        with open(self.path("out/index.html"), encoding="utf-8") as stream:
            self.assertIn("Mixed by request", stream.read())

    def test_build_id_beside_the_machine(self):
        first, second = small(), small()
        for content, build in ((first, "a"), (second, "b")):
            del content["machine"]["build_id"]
            content["build_id"] = build
        self.assertIn("build id", self.refused(self.put("1", first),
                                               self.put("2", second)))

    def test_unwritable_output(self):
        occupied = self.put("file", "mine")
        status, _, err = self.run_main(SMALL, "-o", occupied)
        self.assertEqual(status, 1)
        self.assertIn("cannot write the report: not a directory", err)
        with open(occupied, encoding="utf-8") as stream:
            self.assertEqual(stream.read(), "mine")
        status, _, err = self.run_main(SMALL, "-o",
                                       os.path.join(occupied, "below"))
        self.assertEqual(status, 1)
        self.assertIn("cannot write the report", err)

    def test_unwritable_file_leaves_no_temporary(self):
        out = self.path("out")
        os.makedirs(os.path.join(out, "summary.csv"))
        status, _, err = self.run_main(SMALL, "-o", out)
        self.assertEqual(status, 1)
        self.assertIn("cannot write the report", err)
        self.assertEqual([n for n in os.listdir(out)
                          if n.startswith(".strreport")], [])

    def test_without_packages_there_are_tables(self):
        """Measuring was not in vain where nothing can be installed."""
        out = self.path("plain")
        done = subprocess.run(
            [sys.executable, "-S", "-B", "-m", "strreport", SMALL, "-o", out],
            env=dict(os.environ, PYTHONPATH=os.path.dirname(HERE)),
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tables and no charts", done.stderr)
        with open(os.path.join(out, "index.html"), encoding="utf-8") as f:
            page = f.read()
        self.assertIn("<td>pipe-streams</td>", page)
        self.assertNotIn("<svg", page)
        self.assertTrue([n for n in os.listdir(out) if n.endswith(".csv")])

    def test_usage(self):
        self.assertEqual(self.run_main()[0], 2)
        self.assertEqual(self.run_main(SMALL)[0], 2)
        self.assertEqual(self.run_main("--what", SMALL)[0], 2)


class Networks(Base):
    """Suites where messages may be lost, and what is wanted of them."""

    def result(self, *points, suite="udp"):
        """Points (implementation, size, sent, received, switches)."""
        content = small()
        content["runs"] = [
            {"suite": suite, "implementation": name, "mode": "split",
             "message_bytes": size, "tx_per_s": tx, "rx_per_s": rx,
             "samples": [tx], "rx_samples": [rx],
             "voluntary_switches_per_s": switches}
            for name, size, tx, rx, switches in points]
        return content

    def test_what_arrives_counts(self):
        data = self.load(self.result(("udp-sockets", 1, 1000, 400, 80)))
        run = data.suite("udp")[0]
        self.assertEqual((run.rate, run.arrived, run.samples,
                          run.switches_per_message), (400, 0.4, [400], 0.2))
        rows = list(csv.DictReader(io.StringIO(
            csvfiles.csv_files(data, None)["results.csv"])))
        self.assertEqual((rows[0]["tx_per_s"], rows[0]["rx_per_s"],
                          rows[0]["ns_per_message"]),
                         ("1000", "400", "2500000"))

    def test_what_was_counted_comes_before_rates(self):
        content = self.result(("udp-xtios", 1, 1000, 980, 0))
        content["runs"][0]["arrived"] = 0.999
        self.assertEqual(self.load(content).suite("udp")[0].arrived, 0.999)

    def test_repetitions_are_merged_by_what_arrived(self):
        paths = [self.put(f"{n}.json", self.result(
            ("udp-sockets", 1, 1000, rx, 80)))
            for n, rx in enumerate((100, 300, 200))]
        run = load.load(paths).suite("udp")[0]
        self.assertEqual((run.rate, sorted(run.samples)),
                         (200, [100, 200, 300]))

    def test_costs_are_those_of_the_line(self):
        # 1000 ns and 2 ns per byte; 1 in 100 messages switches.
        sizes = (1, 512, 1024, 8192, 1 << 20)
        data = self.load(self.result(*(
            ("tcp-xtios", s, 1e9 / (1000 + 2 * s), 1e9 / (1000 + 2 * s),
             1e7 / (1000 + 2 * s)) for s in sizes), suite="tcp"))
        c = nets.cost(data, "tcp", "tcp-xtios", "split")
        self.assertAlmostEqual(c.fit.intercept, 1000)
        self.assertAlmostEqual(c.fit.slope, 2)
        self.assertAlmostEqual(c.half, 500)
        self.assertAlmostEqual(c.switches, 10)
        # 8192 bytes in 17384 ns are 94 % of the 2 ns per byte at best.
        self.assertEqual(c.saturated, 8192)
        self.assertEqual(c.arrived, 1)

    def test_round_trips_against_the_same_kind(self):
        found = {(key, name): by_mode for key, name, by_mode
                 in nets.round_trips(complete()[0])}
        run, ratio = found[("warm", 1), "ticotsord"]["split"]
        self.assertEqual(run.p50, 1400)
        self.assertAlmostEqual(ratio, 0.035)
        self.assertIsNone(found[("warm", 1), "udp-sockets"]["split"][1])
        self.assertAlmostEqual(
            found[("warm", 1), "wire-packet-out"]["same"][1], 3)

    def test_wires_between_namespaces_are_compared_with_sockets_there(self):
        data, files = complete()
        part = next(p for p in compare.PARTS if p.suite == "netns")
        found = {pair.over: by_mode
                 for pair, by_mode in compare.ratios(data, part)}
        self.assertEqual(list(found), ["wire-socket-out", "wire-packet-in"])
        for by_mode in found.values():
            for ratio in by_mode.values():
                self.assertEqual(ratio.under, "udp-sockets-netns")
        self.assertAlmostEqual(
            found["wire-socket-out"]["split"].by_size[1], 1801 / 900.5)
        # What is lost is shown with what it is lost of.
        base = dict(nets.costs(data, "netns"))["udp-sockets-netns"]["same"]
        self.assertAlmostEqual(base.arrived, 0.8)
        html = files["index.html"]
        self.assertIn('id="netns"', html)
        self.assertIn("stand for two hosts", html)

    def test_papers_xti_is_compared_with_ours_over_sockets(self):
        """The paper measured XTI over Sockets, and not native UDP."""
        data, files = complete()
        ratio = stats.ratio(data, "udp", "udp-xtios", "udp-sockets", "same")
        page_part = files["index.html"].partition(
            "UDP: XTI over a kernel socket\nagainst the socket alone, then "
            "and now")[2].partition("</table>")[0]
        self.assertIn("This machine, one CPU", page_part)
        self.assertIn(f">{text.factor(ratio.mean)}<",
                      page_part.partition("This machine, one CPU")[2])

    def test_loopback_transports_have_a_base_each(self):
        data = self.load(synthetic.complete())
        chart = charts.improvement(data, "split", "loopback", "unix-stream",
                                   "UNIX sockets", {"ticlts": "unix-dgram"})
        for name, base in (("ticotsord", "unix-stream"),
                           ("ticlts", "unix-dgram")):
            line = next(l for l in chart.axes.lines
                        if l.get_color() == draw.colour(name))
            ratio = stats.ratio(data, "loopback", name, base, "split")
            self.assertAlmostEqual(line.get_ydata()[0],
                                   ratio.by_size[1])

    def test_page_shows_all_of_it(self):
        _, files = complete()
        for suite in ("tcp", "udp", "loopback", "wire", "netns"):
            for kind in ("performance", "delay", "throughput", "improvement",
                         "switches", "cpu"):
                self.assertIn(f"{suite}-{kind}-split.svg", files)
        for suite in ("tcp", "udp"):
            for number in range(1, 8):
                self.assertIn(f"{suite}-history-{number}.svg", files)
        for name in ("net-summary", "net-costs", "net-round-trips",
                     "net-history"):
            self.assertIn(f"{name}.csv", files)
        html = files["index.html"]
        for word in ("TCP socket with nice", "kernel UDP through XTI",
                     "native UDP through XTI",
                     "Not measured: sctp-xti: no such device"):
            self.assertIn(word, re.sub(r"<[^>]*>", "", html))
        self.assertNotRegex(html, r"(?i)\bnot met\b|\bwanted\b|>met<")

    def test_networks_alone_make_a_page(self):
        content = synthetic.complete()
        content["runs"] = [r for r in content["runs"] if r["suite"] == "tcp"
                           and r["mode"] == "split"]
        html = page.build(self.load(content))["index.html"]
        self.assertIn('id="tcp"', html)
        self.assertNotIn('id="udp"', html)

    def test_published_figures(self):
        found = papers.tables(paper="tcp-sctp")
        self.assertEqual([t.number for t in found], list(range(1, 8)))
        self.assertEqual(found[0].rates["tcp-xtios"][1], 115984.9)
        self.assertEqual(found[0].rates["tcp-sockets-nice"][16384], 14065.7)
        # On the one machine with two threads XTIoS won nothing.
        daisy = next(t for t in found if t.host == "daisy")
        self.assertLess(stats.geomean(daisy.improvement.values()), 1)
        udp = papers.tables(paper="udp")
        self.assertEqual([t.number for t in udp], list(range(1, 8)))
        self.assertEqual(set(udp[0].rates),
                         {"udp-sockets", "udp-xti", "udp-xtios"})


class Priorities(Base):
    def test_results_below_half_are_named(self):
        data, files = complete()
        rows = {(r.ours, r.size): r.found for r in nice.rows(data)}
        self.assertEqual(list(rows), [
            ("pipe-streams", 1), ("pipe-streams", 4096), ("udp-xtios", 1),
            ("udp-xtios", 4096), ("udp-xti", 1), ("udp-xti", 4096),
            ("sctp-xti", 1), ("sctp-xti", 4096)])
        ours, theirs = rows["udp-xti", 1]["same"]
        self.assertAlmostEqual(ours.ratio, 0.05)
        self.assertFalse(ours.enough)
        self.assertEqual((theirs.artificial, theirs.ratio), (0, 0))
        self.assertTrue(rows["udp-xtios", 1]["split"][0].enough)
        said = nice.answer(data)
        name = text.name("udp-xti")
        self.assertEqual(
            said, "Of 16 results of STREAMS 14 keep at least 0.5 of the "
            f"rate. Those that do not: {name} on one CPU at 1 byte (0.050) "
            f"and {name} on one CPU at 4,096 bytes (0.050).")
        html = files["index.html"]
        self.assertIn(said, html)
        table = html[html.index('<h2 id="priorities"'):]
        table = table[:table.index("</table>")]
        self.assertEqual(table.count('class="big lost"'), 2)
        self.assertEqual(table.count('class="big"'), 26)

    def test_all_that_keep_half_are_counted(self):
        content = synthetic.complete()
        content["runs"] = [r for r in content["runs"]
                           if r["suite"] == "nice" and r["mode"] == "split"]
        self.assertEqual(nice.answer(self.load(content)),
                         "All 8 results of STREAMS keep at least 0.5 of the "
                         "rate.")

    def test_a_rate_without_the_other_is_no_result(self):
        content = synthetic.complete()
        content["runs"] = [r for r in content["runs"]
                           if r["suite"] != "nice"
                           or not r["implementation"].endswith("-nice")]
        data = self.load(content)
        self.assertEqual(nice.rows(data), [])
        self.assertNotIn("nice -20", readme.markdown(data))

    def test_figures_are_in_a_table_of_their_own(self):
        rows = list(csv.DictReader(io.StringIO(
            complete()[1]["priorities.csv"])))
        self.assertEqual(len(rows), 6 * 2 * 2)
        row = next(r for r in rows if r["implementation"] == "udp-xti"
                   and r["mode"] == "same" and r["message_bytes"] == "1")
        self.assertEqual(row["artificial_over_normal"], "0.05")

    def test_front_page_has_the_lowest_of_each(self):
        said = readme.markdown(complete()[0])
        self.assertIn(f"| {text.name('udp-xti')} ({text.name('udp-sockets')})"
                      " | **0.99** (1.00) | **0.050** (none arrived) |", said)


class History(Base):
    def test_published_figures(self):
        found = papers.tables()
        self.assertEqual([t.number for t in found], list(range(1, 10)))
        first = found[0]
        self.assertEqual((first.distribution, first.host), ("FC6", "porky"))
        self.assertEqual(first.rates["pipe-streams"][1], 344307)
        self.assertEqual(first.rates["pipe-linux"][4096], 100510)
        self.assertEqual(first.rates["pipe-lis"][64], 36809)

    def test_centos_5_lost(self):
        table = papers.tables()[6]
        self.assertEqual(table.distribution, "CentOS 5")
        gain = table.improvement
        self.assertEqual([round((gain[s] - 1) * 100)
                          for s in (1, 64, 1024)], [-12, -32, -22])
        self.assertTrue(all(gain[s] < 1 for s in gain if s <= 1024))

    def test_lis_columns_that_repeat(self):
        groups = papers.shared_columns(papers.tables(), "pipe-lis")
        self.assertEqual([[t.number for t in g] for g in groups],
                         [[1, 6], [2, 3, 4]])

    def test_missing_data_is_an_error(self):
        with self.assertRaises(load.ReportError):
            papers.tables(self.path("none.csv"))


if __name__ == "__main__":
    unittest.main()
