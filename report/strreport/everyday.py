# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Where we win, where we lose: the comparisons of the everyday suites.

A ratio says how many times better ours is, whichever way the measure goes,
so below 1 is a loss.  Files of one machine and build are repetitions: their
samples are put together, and medians, ratio and verdict are taken anew.
"""

import math
import statistics
from collections import Counter
from dataclasses import dataclass, field

from . import text

# Nearer to 1 it is neither; bench/front/compare.c says the same.
EVEN = 0.05

MEASURED = ("suite", "name", "mode", "measure", "unit", "better")
MODES = {**text.MODES, "unpinned": "any CPU"}


@dataclass
class Side:
    implementation: str
    value: float
    samples: list = field(default_factory=list)

    def shown(self, unit):
        if unit == "ns":
            return text.ns(self.value)
        if unit == "1/s":
            return f"{text.figures(self.value)}/s"
        return text.figures(self.value)


@dataclass
class Comparison:
    suite: str
    name: str
    mode: str
    measure: str
    unit: str
    better: str
    ours: Side
    peer: Side

    @property
    def key(self):
        return (self.suite, self.name, self.mode, self.measure,
                self.ours.implementation, self.peer.implementation)

    @property
    def ratio(self):
        """How many times better ours is; None when ours costs nothing, or
        only ours does anything."""
        over, under = self.ours.value, self.peer.value
        if self.better == "less":
            over, under = under, over
        return over / under if under > 0 else None

    @property
    def verdict(self):
        if self.ratio is None:
            return "even" if self.peer.value == self.ours.value else "win"
        if self.ratio < 1 - EVEN:
            return "loss"
        return "win" if self.ratio > 1 + EVEN else "even"

    @property
    def where(self):
        return MODES.get(self.mode, self.mode)


def _value(value):
    usable = (isinstance(value, (int, float)) and not isinstance(value, bool)
              and math.isfinite(value) and value >= 0)
    return float(value) if usable else None


def _side(raw):
    if not isinstance(raw, dict) or _value(raw.get("value")) is None \
            or not isinstance(raw.get("implementation"), str):
        return None
    samples = raw.get("samples")
    samples = [v for s in (samples if isinstance(samples, list) else [])
               if (v := _value(s)) is not None]
    return Side(raw["implementation"], _value(raw["value"]), samples)


def read(data, path, notes):
    """The usable comparisons of one file; a note for each that is not."""
    found = []
    raw = data.get("comparisons", [])
    for number, one in enumerate(raw if isinstance(raw, list) else [], 1):
        sides = [_side(one.get(s)) if isinstance(one, dict) else None
                 for s in ("ours", "peer")]
        if None in sides or not all(isinstance(one.get(k), str)
                                    for k in MEASURED) \
                or one["better"] not in ("less", "more"):
            notes.append(f"Left out: {path}: comparison {number}: not usable")
            continue
        found.append(Comparison(*(one[k] for k in MEASURED), *sides))
    return found


def _side_of(sides):
    samples = [v for s in sides for v in s.samples or [s.value]]
    value = sides[0].value if len(sides) == 1 else statistics.median(samples)
    return Side(sides[0].implementation, value, samples)


def merge(found):
    """Repetitions of one comparison become one; losses first."""
    groups = {}
    for one in found:
        groups.setdefault(one.key, []).append(one)
    merged = [Comparison(*(getattr(group[0], k) for k in MEASURED),
                         _side_of([c.ours for c in group]),
                         _side_of([c.peer for c in group]))
              for group in groups.values()]
    return sorted(merged, key=lambda c: math.inf if c.ratio is None
                  else c.ratio)


def counts(comparisons):
    """{verdict: how many}."""
    found = Counter(c.verdict for c in comparisons)
    return {v: found[v] for v in ("win", "even", "loss")}


def rows(comparisons):
    """For CSV: a head, then a row for each."""
    head = ("suite", "name", "mode", "measure", "unit", "ours",
            "ours_value", "peer", "peer_value", "ratio", "verdict")
    return head, [(c.suite, c.name, c.mode, c.measure, c.unit,
                   c.ours.implementation, c.ours.value,
                   c.peer.implementation, c.peer.value, c.ratio, c.verdict)
                  for c in comparisons]
