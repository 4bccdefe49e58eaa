# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Tests of the comparisons: wins and losses, both said plainly."""

import copy
import re
import unittest

from base import Base, small

from strreport import everyday, load, page, plain


def one(name, better, ours, peer, unit="ns", measure="p50",
        mode="unpinned"):
    def side(implementation, values):
        values = values if isinstance(values, list) else [values]
        return {"implementation": implementation,
                "value": sorted(values)[len(values) // 2],
                "samples": values}
    return {"suite": "life", "name": name, "mode": mode, "measure": measure,
            "unit": unit, "better": better,
            "ours": side("pipe-streams", ours),
            "peer": side("pipe-linux", peer),
            # not believed: the report takes it anew
            "ratio": 99.0, "verdict": "win"}


def result(*comparisons):
    content = small()
    content["comparisons"] = list(comparisons)
    return content


class Everyday(Base):
    def test_below_one_is_a_loss_whichever_way_the_measure_goes(self):
        data = self.load(result(
            one("slow", "less", 300.0, 100.0),
            one("fast", "less", 100.0, 300.0),
            one("many", "more", 300.0, 100.0, "1/s", "rate"),
            one("few", "more", 100.0, 300.0, "1/s", "rate"),
            one("as good", "less", 103.0, 100.0)))
        got = {c.name: (round(c.ratio, 2), c.verdict)
               for c in data.comparisons}
        self.assertEqual(got, {
            "slow": (0.33, "loss"), "fast": (3.0, "win"),
            "many": (3.0, "win"), "few": (0.33, "loss"),
            "as good": (0.97, "even")})
        self.assertEqual(everyday.counts(data.comparisons),
                         {"win": 2, "even": 1, "loss": 2})

    def test_the_table_is_sorted_by_ratio_and_shows_losses_as_such(self):
        data = self.load(result(
            one("a win", "less", 100.0, 300.0),
            one("a loss", "less", 1000.0, 100.0),
            one("a small loss", "less", 120.0, 100.0)))
        html = page.build(data)["index.html"]
        self.assertIn("Where we win, where we lose", html)
        self.assertIn("2 losses, 0 even (within\n5 %), 1 wins", html)
        rows = re.findall(r'<tr class="(win|even|loss)">'
                          r'<th scope="row">([^<]*)', html)
        self.assertEqual(rows, [("loss", "a loss"), ("loss", "a small loss"),
                                ("win", "a win")])
        self.assertRegex(html, r'<td class="big">0\.10</td>'
                               r'<td class="l">loss</td>')

    def test_without_comparisons_there_is_no_table(self):
        html = page.build(self.load(small()))["index.html"]
        self.assertNotIn('id="everyday"', html)

    def test_comparisons_alone_make_a_page(self):
        content = result(one("slow", "less", 300.0, 100.0))
        content["runs"] = []
        for build in (page.build, plain.build):
            files = build(self.load(content))
            self.assertIn("loss", files["index.html"])
            self.assertIn("life,slow,unpinned,p50,ns,pipe-streams,300",
                          files["everyday.csv"])

    def test_files_are_repetitions_and_medians_are_taken_anew(self):
        first = result(one("x", "less", [100.0, 110.0, 120.0], 100.0))
        second = copy.deepcopy(first)
        second["comparisons"][0]["ours"].update(
            value=200.0, samples=[190.0, 200.0, 210.0])
        data = load.load([self.put("a.json", first),
                          self.put("b.json", second)])
        self.assertEqual(len(data.comparisons), 1)
        got = data.comparisons[0]
        self.assertEqual(got.ours.value, 155)
        self.assertEqual(len(got.ours.samples), 6)
        self.assertEqual(got.verdict, "loss")

    def test_unusable_comparisons_are_left_out_with_a_note(self):
        bad = one("bad", "less", 1.0, 1.0)
        bad["ours"]["value"] = "much"
        worse = one("worse", "sideways", 1.0, 1.0)
        data = self.load(result(bad, worse, 7, one("x", "less", 1.0, 2.0)))
        self.assertEqual([c.name for c in data.comparisons], ["x"])
        self.assertEqual(sum("comparison" in n for n in data.notes), 3)

    def test_a_cost_of_nothing_is_compared_without_dividing_by_it(self):
        data = self.load(result(one("rest", "less", 5.0, 0.0),
                                one("both", "less", 0.0, 0.0)))
        got = {c.name: (c.ratio, c.verdict) for c in data.comparisons}
        self.assertEqual(got["rest"], (0.0, "loss"))
        self.assertIsNone(got["both"][0])
        self.assertIn("rest", page.build(data)["index.html"])


if __name__ == "__main__":
    unittest.main()
