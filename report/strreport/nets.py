# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""TCP, UDP and the loopback transports: costs and round trips."""

from dataclasses import dataclass

from . import compare, stats
from .order import ordered


def arrived(data, suite, name, mode):
    parts = [r.arrived for r in data.curve(suite, name, mode)
             if r.arrived is not None]
    return min(parts) if parts else None


def round_trips(data):
    """[((state, size), implementation, {mode: (run, ratio or None)})]."""
    base = compare.NET_TRIPS
    runs = {(r.state or "", r.size, r.implementation, r.mode): r
            for r in data.suite("netrtt")}
    rows = []
    for state, size in sorted({k[:2] for k in runs},
                              key=lambda k: (k[0] != "warm", k[0], k[1])):
        for name in ordered({k[2] for k in runs if k[:2] == (state, size)}):
            found = {}
            for mode in data.modes("netrtt"):
                run = runs.get((state, size, name, mode))
                other = runs.get((state, size, base.get(name), mode))
                if run:
                    found[mode] = (run, run.p50 / other.p50
                                   if other and other.p50 else None)
            rows.append(((state, size), name, found))
    return rows


@dataclass
class Cost:
    """What one implementation costs in one mode."""

    fit: stats.Fit | None       # ns per message, ns per byte
    peak: float                 # bytes per second at best
    saturated: int              # the smallest size with 90 % of that
    switches: float | None      # per 1,000 messages, mean over the sizes
    arrived: float | None       # the least part of all sizes

    @property
    def half(self):
        """Where the bytes cost as much as the message."""
        if not self.fit or self.fit.slope <= 0 or self.fit.intercept <= 0:
            return None
        return self.fit.intercept / self.fit.slope


def cost(data, suite, name, mode):
    runs = data.curve(suite, name, mode)
    if not runs:
        return None
    peak = max(r.rate * r.size for r in runs)
    switches = [r.switches_per_message * 1000 for r in runs
                if r.switches_per_message is not None]
    return Cost(
        stats.delay_fit(data, suite, name, mode), peak,
        min(r.size for r in runs if r.rate * r.size >= 0.9 * peak),
        sum(switches) / len(switches) if switches else None,
        arrived(data, suite, name, mode))


def costs(data, suite):
    """[(implementation, {mode: Cost})]."""
    rows = []
    for name in ordered({r.implementation for r in data.suite(suite)}):
        found = {m: c for m in data.modes(suite)
                 if (c := cost(data, suite, name, m))}
        if found:
            rows.append((name, found))
    return rows
