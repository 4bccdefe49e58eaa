# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""What the page says, as plain data: tables and findings."""

from dataclasses import dataclass

from . import stats, text
from .order import ordered

FEATURES = (("pipe-streams-hold", "hold"),
            ("pipe-streams-mread", "M_READ"),
            ("pipe-streams-rfill", "read fill"))

# The variant that gives deferral up, and the one that is the same but for
# that; the plain pipe stands in when the latter was not measured.
EAGER, DEFERRED = "pipe-streams-service", "pipe-streams-srvmod"


def delay_fits(data):
    """[(implementation, {mode: Fit})]."""
    rows = []
    for name in ordered({r.implementation for r in data.suite("pipe")}):
        found = {}
        for mode in data.modes("pipe"):
            fit = stats.delay_fit(data, "pipe", name, mode)
            if fit:
                found[mode] = fit
        if found:
            rows.append((name, found))
    return rows


@dataclass
class Ablation:
    """A variant against the plain STREAMS pipe of the same suite."""

    name: str
    mode: str
    ratio: stats.Ratio
    switches: float | None          # per 1,000 messages, mean over sizes
    plain_switches: float | None


def _switches(data, suite, name, mode, sizes):
    found = [r.switches_per_message * 1000
             for r in data.curve(suite, name, mode)
             if r.size in sizes and r.switches_per_message is not None]
    return sum(found) / len(found) if found else None


def ablations(data):
    rows = []
    names = ordered({r.implementation for r in data.suite("ablation")})
    for mode in data.modes("ablation"):
        base_suite = "ablation" if data.rates(
            "ablation", "pipe-streams", mode) else "pipe"
        base = data.rates(base_suite, "pipe-streams", mode)
        for name in names:
            if name == "pipe-streams":
                continue
            rates = data.rates("ablation", name, mode)
            common = {s: rates[s] / base[s] for s in rates if s in base}
            if not common:
                continue
            rows.append(Ablation(
                name, mode,
                stats.Ratio(name, "pipe-streams", mode, common),
                _switches(data, "ablation", name, mode, common),
                _switches(data, base_suite, "pipe-streams", mode, common)))
    return rows


def _ratio(over, under):
    common = {z: over[z] / under[z] for z in over if z in under}
    return stats.geomean(common.values())


def explanation(data):
    """Sentences: does the paper's explanation hold on this machine?

    The paper says: hold, M_READ and read fill each explain little; fewer
    wake-ups, hence fewer context switches, explain the gain.  The first
    half is called confirmed when none of the three moves the mean by a
    quarter; the second when giving deferral up costs at least a third of
    the rate and raises the context switches.
    """
    sentences = []
    rows = ablations(data)
    for mode in data.modes("ablation"):
        here = {r.name: r for r in rows if r.mode == mode}
        where = f"On {text.mode(mode)}"
        given = [(what, here[name].ratio.mean) for name, what in FEATURES
                 if name in here]
        if given:
            parts = text.join(f"{what} by {text.signed_percent(mean)}"
                              for what, mean in given)
            small = all(0.75 <= mean <= 1.25 for _, mean in given)
            verdict = ("They explain little, as the paper found." if small
                       else "The paper found that they explain little. Here "
                       "at least one of them matters.")
            sentences.append(f"{where}, the rate is changed by {parts}. "
                             f"{verdict}")
        if EAGER in here:
            sentence = _eager(here[EAGER], here.get(DEFERRED))
            if sentence:
                sentences.append(f"{where}, {sentence}")
    return sentences


def _eager(slow, deferred):
    """What giving deferral up costs, and what that says."""
    mean, before = slow.ratio.mean, slow.plain_switches
    against = "the plain pipe"
    if deferred:
        mean = _ratio(slow.ratio.by_size, deferred.ratio.by_size)
        before, against = deferred.switches, "deferred service"
    if mean is None:
        return None
    said = (f"eager service changes the rate by {text.signed_percent(mean)} "
            f"against {against}")
    more = None
    if slow.switches is not None and before is not None:
        more = slow.switches > before * 1.1
        said += (f". There are {text.figures(slow.switches)} voluntary "
                 f"context switches per 1,000 messages instead of "
                 f"{text.figures(before)}")
    if mean > 2 / 3:
        return said + ". That is too little for the paper's explanation."
    if more is None:
        return (said + ". The paper expects such a loss; context switches "
                "were not counted.")
    if more:
        return (said + ". As the paper says, the gain comes from deferred "
                "service and fewer wake-ups.")
    return (said + ". The loss is real, but context switches do not explain "
            "it.")


def linux_switches(data):
    """[(mode, {implementation: per 1,000 messages})], mean over sizes."""
    rows = []
    for mode in data.modes("pipe"):
        found = {}
        for name in ordered({r.implementation for r in data.suite("pipe")}):
            sizes = data.rates("pipe", name, mode)
            mean = _switches(data, "pipe", name, mode, sizes)
            if mean is not None:
                found[name] = mean
        if found:
            rows.append((mode, found))
    return rows


def round_trips(data):
    """[((state, size), implementation, {mode: (run, ratio or None)})]."""
    runs = {(r.state or "", r.size, r.implementation, r.mode): r
            for r in data.suite("rtt")}
    groups = sorted({(k[0], k[1]) for k in runs},
                    key=lambda k: (k[0] != "warm", k[0], k[1]))
    rows = []
    for state, size in groups:
        for name in ordered({k[2] for k in runs if k[:2] == (state, size)}):
            found = {}
            for mode in data.modes("rtt"):
                run = runs.get((state, size, name, mode))
                base = runs.get((state, size, "pipe-linux", mode))
                if run:
                    found[mode] = (run, run.p50 / base.p50
                                   if base and base.p50 else None)
            rows.append(((state, size), name, found))
    return rows


def perftest(data):
    """{mode: Ratio of perftest over perftestn}."""
    found = {}
    for mode in data.modes("perftest"):
        ratio = stats.ratio(data, "perftest", "perftest", "perftestn", mode)
        if ratio:
            found[mode] = ratio
    return found


def opened(data):
    """[(implementation, ns for an opening and two closes, of Linux)]."""
    found = {r.implementation: r.p50 for r in data.suite("open")}
    base = found.get("pipe-linux")
    return [(n, found[n], found[n] / base if base else None)
            for n in ordered(found)]
