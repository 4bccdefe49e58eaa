# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Where the kernel is faster: every figure of a run that says so."""

from dataclasses import dataclass

from . import compare, nets, tables, text

# What would be shown as 1.00 is equal.
LEAST = 1.005

STATES = {"warm": "round trip", "idle": "round trip after silence"}
RATE, OPENED = "messages per second", "opening and closing"


@dataclass
class Loss:
    """A comparison that the kernel wins in one mode."""

    part: str           # the suite
    over: str
    under: str
    measure: str
    mode: str
    where: str          # message sizes in words, or nothing
    factor: float       # the kernel is faster by, at worst

    @property
    def what(self):
        return f"{text.name(self.over)} against {text.name(self.under)}"

    @property
    def label(self):
        """Without the other side, for the first screen."""
        said = [text.name(self.over)]
        if self.measure != RATE:
            said.append(self.measure)
        return ", ".join([*said, *filter(None, [self.where]),
                          text.mode(self.mode)])


def _rates(data):
    """(suite, over, under, measure, mode, {size: factor}), as _all()."""
    for part, rows in compare.groups(data):
        for pair, by_mode in rows:
            for mode, ratio in by_mode.items():
                if pair.kernel:
                    yield (part.suite, pair.over, pair.under, RATE, mode,
                           {s: 1 / r for s, r in ratio.by_size.items()})


def _trips(data):
    found = {}
    for suite, rows, base in (
            ("rtt", tables.round_trips(data), {}),
            ("netrtt", nets.round_trips(data), compare.NET_TRIPS)):
        for (state, size), name, by_mode in rows:
            if suite == "rtt" and not name.startswith("pipe-streams"):
                continue
            under = base.get(name, "pipe-linux")
            for mode, (_, ratio) in by_mode.items():
                if ratio is None:
                    continue
                key = suite, name, under, STATES.get(state, state), mode
                found.setdefault(key, {})[size] = ratio
    for key, by_size in found.items():
        yield *key, by_size


def _opened(data):
    for name, _, ratio in tables.opened(data):
        if name.startswith("pipe-streams") and ratio:
            mode = next(iter(data.modes("open")), "same")
            yield "open", name, "pipe-linux", OPENED, mode, {None: ratio}


def _all(data):
    """Every comparison: by how much the kernel is faster, by message size."""
    return (*_rates(data), *_trips(data), *_opened(data))


def losses(data):
    """[Loss], where the kernel is faster by most first."""
    found = []
    for *what, by_size in _all(data):
        lost = {s: f for s, f in by_size.items() if f >= LEAST}
        if lost:
            where = "" if None in lost else text.sizes(lost, sorted(by_size))
            found.append(Loss(*what, where, max(lost.values())))
    return sorted(found, key=lambda loss: -loss.factor)


def compared(data):
    """How many rows table() would have if the kernel won everywhere."""
    return len({what[1:4] for what in _all(data)})


def worst(found):
    """One of each part and measure, for the first screen."""
    seen, kept = set(), []
    for loss in found:
        if (loss.part, loss.measure) not in seen:
            seen.add((loss.part, loss.measure))
            kept.append(loss)
    return kept


def table(found):
    """[(over, under, measure, {mode: Loss})], the worst first."""
    rows = {}
    for loss in found:
        rows.setdefault((loss.over, loss.under, loss.measure),
                        {})[loss.mode] = loss
    return [(*key, by_mode) for key, by_mode in rows.items()]
