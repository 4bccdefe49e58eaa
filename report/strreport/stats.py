# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The few statistics of the report."""

import math
from dataclasses import dataclass


def geomean(values):
    values = list(values)
    if not values or min(values) <= 0:
        return None
    return math.exp(math.fsum(map(math.log, values)) / len(values))


@dataclass
class Ratio:
    """How one implementation compares with another over common sizes."""

    over: str
    under: str
    mode: str
    by_size: dict

    @property
    def mean(self):
        return geomean(self.by_size.values())

    @property
    def low(self):
        """(size, ratio) where the ratio is smallest."""
        return min(self.by_size.items(), key=lambda item: item[1])

    @property
    def high(self):
        return max(self.by_size.items(), key=lambda item: item[1])

    @property
    def sizes(self):
        return sorted(self.by_size)


def ratio(data, suite, over, under, mode, by="rate"):
    """The Ratio, or None when no size was measured for both."""
    top = data.rates(suite, over, mode, by)
    bottom = data.rates(suite, under, mode, by)
    common = {s: top[s] / bottom[s] for s in sorted(top) if s in bottom}
    return Ratio(over, under, mode, common) if common else None


@dataclass
class Fit:
    """delay = intercept + slope * size, in ns and ns per byte."""

    intercept: float
    slope: float
    error: float    # root mean square of the relative residuals
    points: int

    def at(self, size):
        return self.intercept + self.slope * size


def fit(points):
    """Weighted least squares through (size, ns) pairs; None below three.

    Sizes double from point to point, so plain least squares would be
    decided by the two largest sizes alone and say nothing about small
    messages.  A weight of 1/ns^2 minimises the sum of the squared
    *relative* residuals: each size has the same say.
    """
    points = [(float(x), float(y)) for x, y in points if y > 0]
    if len(points) < 3:
        return None
    weights = [1.0 / (y * y) for _, y in points]
    total = math.fsum(weights)
    mx = math.fsum(w * x for w, (x, _) in zip(weights, points)) / total
    my = math.fsum(w * y for w, (_, y) in zip(weights, points)) / total
    sxx = math.fsum(w * (x - mx) ** 2 for w, (x, _) in zip(weights, points))
    sxy = math.fsum(w * (x - mx) * (y - my)
                    for w, (x, y) in zip(weights, points))
    if sxx == 0:
        return None
    slope = sxy / sxx
    intercept = my - slope * mx
    error = math.sqrt(math.fsum(
        ((intercept + slope * x) / y - 1) ** 2 for x, y in points)
        / len(points))
    return Fit(intercept, slope, error, len(points))


def delay_fit(data, suite, implementation, mode):
    rates = data.rates(suite, implementation, mode)
    return fit((size, 1e9 / rate) for size, rate in rates.items())
