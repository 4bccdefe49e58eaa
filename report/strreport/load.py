# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Read, check and merge result files.

Strict where a wrong answer could come out (not JSON, another schema,
results of different hosts or builds in one comparison), lenient where only
less comes out: a missing suite, an interrupted run, unknown fields and
unusable single results are dropped with a note that the page shows.

Several files of one host and build are repetitions: their samples are put
together and the median is taken again.
"""

import json
import os
import statistics
from dataclasses import dataclass, field

from . import everyday

SCHEMA = 1

# Here messages may be lost: only those that arrive are of use.
RECEIVED = ("tcp", "udp", "loopback", "wire", "netns", "nice")

# Here nothing is lost, and messages read are counted as well.  perftest is
# not among them: the papers' program prints what it has written.
READ = ("pipe", "ablation")

# Here samples are times.
TIMED = ("rtt", "netrtt", "open")

# What must agree between files, under the names a writer may use.
IDENTITY = (
    ("host", ("hostname", "host", "nodename", "node", "machine_id")),
    ("processor", ("cpu_model", "cpu.model", "cpu", "model_name",
                   "processor")),
    ("kernel", ("kernel", "kernel_release", "release")),
    ("build id", ("build_id", "build")),
)


class ReportError(Exception):
    """Something the user must be told; the text is the whole message."""


@dataclass
class Run:
    """One measured point; a figure that was not measured is None."""

    suite: str
    implementation: str
    mode: str
    size: int | None = None
    state: str | None = None
    tx: float | None = None
    rx: float | None = None
    samples: list = field(default_factory=list)
    switches: float | None = None
    cpu_ns: float | None = None
    p50: float | None = None
    p99: float | None = None
    extra: dict = field(default_factory=dict)

    @property
    def key(self):
        return (self.suite, self.implementation, self.mode, self.size,
                self.state)

    @property
    def rate(self):
        """Messages received per second; written, where only that is
        known or the papers' program counts so."""
        if self.suite in RECEIVED:
            return self.rx
        first, second = (self.rx, self.tx) if self.suite in READ \
            else (self.tx, self.rx)
        return first if first is not None else second

    @property
    def spread(self):
        """(lowest, highest) sample, when they really surround the rate."""
        if len(self.samples) < 2 or self.rate is None:
            return None
        low, high = min(self.samples), max(self.samples)
        if not low * 0.999 <= self.rate <= high * 1.001:
            return None
        return low, high

    @property
    def arrived(self):
        """The part of the messages sent that was received: of all of a
        sample, if they were counted, else by the rates."""
        counted = _usable(self.extra.get("arrived"), 0)
        if counted is not None:
            return counted
        return self.rx / self.tx if self.rx and self.tx else None

    @property
    def switches_per_message(self):
        if self.switches is None or not self.rate:
            return None
        return self.switches / self.rate


@dataclass
class Dataset:
    machine: dict
    runs: list
    partial: bool = False
    settings: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)
    sources: list = field(default_factory=list)
    comparisons: list = field(default_factory=list)

    def suite(self, name):
        return [r for r in self.runs if r.suite == name]

    def modes(self, suite):
        """Modes present, two CPUs first, then one, then any other."""
        found = {r.mode for r in self.suite(suite)}
        return [m for m in ("split", "same") if m in found] + sorted(
            found - {"split", "same"})

    def curve(self, suite, implementation, mode):
        """Runs with a rate by ascending message size."""
        runs = [r for r in self.runs
                if (r.suite, r.implementation, r.mode)
                == (suite, implementation, mode)
                and r.size is not None and r.rate]
        return sorted(runs, key=lambda r: r.size)

    def rates(self, suite, implementation, mode, by="rate"):
        """{size: messages per second}; @by may be "rx", those read."""
        return {r.size: getattr(r, by)
                for r in self.curve(suite, implementation, mode)
                if getattr(r, by)}


def flatten(value, prefix=""):
    """Nested machine facts as one level of dotted names."""
    if not isinstance(value, dict):
        return {prefix: value}
    flat = {}
    for key in value:
        name = f"{prefix}.{key}" if prefix else str(key)
        flat.update(flatten(value[key], name))
    return flat


def identity(machine):
    found = {}
    for what, names in IDENTITY:
        for name in names:
            if machine.get(name) not in (None, ""):
                found[what] = str(machine[name])
                break
    return found


def _usable(value, low):
    """@value as a float, if it is a number something can have measured."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if low <= value <= 1e18 else None


def _number(raw, name, positive=False):
    return _usable(raw.get(name), 1e-9 if positive else 0)


_KNOWN = {"suite", "implementation", "mode", "message_bytes", "state",
          "tx_per_s", "rx_per_s", "samples", "voluntary_switches_per_s",
          "cpu_ns_per_message", "p50_ns", "p99_ns"}

# A result is of use only with one of these.
_NEEDS = {"pipe": ("tx", "rx"), "ablation": ("tx", "rx"),
          "perftest": ("tx", "rx"), "rtt": ("p50",), "netrtt": ("p50",),
          "open": ("p50",),
          **{suite: ("rx",) for suite in RECEIVED}}


def _run(raw, where):
    """(run, None), or (None, why it cannot be used)."""
    if not isinstance(raw, dict):
        return None, f"{where}: not an object"
    names = []
    for name in ("suite", "implementation"):
        if not isinstance(raw.get(name), str) or not raw[name]:
            return None, f"{where}: no {name}"
        names.append(raw[name])
    mode = raw.get("mode")
    state = raw.get("state")
    size = raw.get("message_bytes")
    if isinstance(size, bool) or not isinstance(size, int) \
            or not 1 <= size <= 1 << 40:
        size = None
    samples = raw.get("samples")
    if names[0] in RECEIVED or names[0] in READ and "rx_samples" in raw:
        samples = raw.get("rx_samples")
    if not isinstance(samples, list):
        samples = []
    run = Run(
        suite=names[0], implementation=names[1],
        mode=mode if isinstance(mode, str) and mode else "unknown",
        size=size, state=state if isinstance(state, str) else None,
        tx=_number(raw, "tx_per_s", True),
        # a receiver that never gets the CPU receives none: that is a result
        rx=_number(raw, "rx_per_s", names[0] != "nice"),
        samples=[v for s in samples
                 if (v := _usable(s, 1e-9)) is not None],
        switches=_number(raw, "voluntary_switches_per_s"),
        cpu_ns=_number(raw, "cpu_ns_per_message"),
        p50=_number(raw, "p50_ns", True), p99=_number(raw, "p99_ns", True),
        extra={k: v for k, v in raw.items() if k not in _KNOWN})
    needs = _NEEDS.get(run.suite)
    if needs is not None:
        label = f"{where}: {run.suite} {run.implementation} {run.mode}"
        if run.size is None:
            return None, f"{label}: no usable message_bytes"
        if all(getattr(run, n) is None for n in needs):
            why = raw.get("error")
            return None, (f"{label} {run.size} B: no usable result"
                          + (f" ({why[:200]})" if isinstance(why, str)
                             and why else ""))
    return run, None


def _median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def _merge(group):
    """Repetitions of one point in several files become one."""
    if len(group) == 1:
        return group[0]
    samples = []
    for run in group:
        if run.samples:
            samples.extend(run.samples)
        elif run.rate is not None:
            samples.append(run.rate)
    first = group[0]
    by_rx = first.suite in RECEIVED or first.suite in READ and all(
        r.rx is not None for r in group)
    by_tx = not by_rx and first.suite not in TIMED and all(
        r.tx is not None for r in group)
    return Run(
        suite=first.suite, implementation=first.implementation,
        mode=first.mode, size=first.size, state=first.state,
        tx=_median(samples) if by_tx and samples
        else _median(r.tx for r in group),
        rx=_median(samples) if by_rx and samples
        else _median(r.rx for r in group), samples=samples,
        switches=_median(r.switches for r in group),
        cpu_ns=_median(r.cpu_ns for r in group),
        p50=_median(r.p50 for r in group),
        p99=_median(r.p99 for r in group), extra=first.extra)


def _clean(value):
    """Without characters that neither HTML nor SVG can hold."""
    if isinstance(value, str):
        return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}"
                       for c in value)
    if isinstance(value, list):
        return [_clean(v) for v in value]
    if isinstance(value, dict):
        return {_clean(k): _clean(v) for k, v in value.items()}
    return value


def _failures(data):
    """What the measuring program says went wrong, a line for each."""
    errors = data.get("errors")
    found = []
    for error in errors if isinstance(errors, list) else []:
        if isinstance(error, dict):
            where = " ".join(str(error[k]) for k in (
                "suite", "implementation", "mode", "message_bytes", "state")
                if isinstance(error.get(k), (str, int)))
            found.append(f"{where}: {str(error.get('message', ''))[:200]}")
    return found


def _skipped(data):
    """What the machine has not got or does not permit, a line for each."""
    found = data.get("skipped")
    return [f"Not measured: {one.get('implementation')}: "
            f"{str(one.get('reason', ''))[:200]}"
            for one in (found if isinstance(found, list) else [])
            if isinstance(one, dict)]


def _imbalance(runs):
    """A note on points where one side moved more than the other did.

    What is buffered at the end of a sample was written and not read, so a
    short sample flatters an implementation with a large buffer.
    """
    found = [(abs(r.rx / r.tx - 1), r) for r in runs
             if r.suite == "pipe" and r.tx and r.rx
             and abs(r.rx / r.tx - 1) > 0.05]
    if not found:
        return []
    found.sort(key=lambda item: -item[0])
    worst = "; ".join(
        f"{r.implementation}, {r.mode}, {r.size:,} B ({r.tx:,.0f} written, "
        f"{r.rx:,.0f} read)" for _, r in found[:6])
    return [f"At {len(found)} point{'s' if len(found) > 1 else ''} messages "
            f"read and written per second differ by more than 5 %, which "
            f"longer samples would even out: {worst}"
            + (" and others." if len(found) > 6 else ".")]


def read_file(path):
    """The object in @path after the checks a single file allows."""
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ReportError(f"{path}: not JSON: not UTF-8 text") from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path}: not JSON: {error}") from error
    data = _clean(data)
    if not isinstance(data, dict):
        raise ReportError(f"{path}: not a strbench result: the file must "
                          f"hold one object")
    if "schema" not in data:
        raise ReportError(f"{path}: not a strbench result: no \"schema\"")
    if isinstance(data["schema"], bool) or data["schema"] != SCHEMA:
        raise ReportError(f"{path}: schema {data['schema']!r}, this program "
                          f"reads schema {SCHEMA}")
    if not isinstance(data.get("runs"), list) or not (
            data["runs"] or data.get("comparisons")):
        failures = _failures(data)
        raise ReportError(f"{path}: no runs"
                          + (f": {failures[0]}" if failures else ""))
    if not isinstance(data.get("machine", {}), dict):
        raise ReportError(f"{path}: \"machine\" is not an object")
    return data


def load(paths, force=False):
    machine, who, settings, runs, notes = {}, {}, {}, [], []
    paths = [os.fspath(p) for p in paths]
    partial, comparisons = False, []
    for number, path in enumerate(paths):
        data = read_file(path)
        facts = flatten(data.get("machine", {}))
        for outer in ("build_id", "date", "command"):
            if outer in data and outer not in facts \
                    and not isinstance(data[outer], dict):
                facts[outer] = data[outer]
        if isinstance(facts.get("command"), list):
            words = [str(word) for word in facts["command"]]
            if words[:1] == ["run"]:    # without the program's name
                words.insert(0, "strbench")
            facts["command"] = " ".join(words)
        mine = identity(facts)
        if number == 0:
            machine, who = facts, mine
            if isinstance(data.get("settings"), dict):
                settings = data["settings"]
        for what in mine:
            if who.setdefault(what, mine[what]) == mine[what]:
                continue
            text = (f"{path}: {what} \"{mine[what]}\" differs from "
                    f"\"{who[what]}\" in {paths[0]}")
            if not force:
                raise ReportError(text + " (--force mixes them anyway)")
            notes.append("Mixed by request. " + text)
        if data.get("partial"):
            partial = True
            notes.append(f"{path}: the run was interrupted; what had been "
                         f"measured by then is shown.")
        notes += [f"Failed: {line}" for line in _failures(data)]
        notes += _skipped(data)
        load = facts.get("load_average")
        if isinstance(load, list) and load \
                and (busy := _usable(load[0], 0)) and busy > 1:
            notes.append(f"{path}: the machine was busy when the "
                         f"measurement began (load average {busy:.2f}); "
                         f"that disturbs it.")
        found = everyday.read(data, path, notes)
        comparisons += found
        usable = len(found)
        for index, raw in enumerate(data["runs"]):
            run, why = _run(raw, f"{path}: result {index + 1}")
            if run is None:
                notes.append(f"Left out: {why}")
            else:
                runs.append(run)
                usable += 1
        if usable == 0:
            raise ReportError(f"{path}: no runs: none of the "
                              f"{len(data['runs'])} results is usable")
    groups = {}
    for run in runs:
        groups.setdefault(run.key, []).append(run)
    merged = [_merge(group) for group in groups.values()]
    notes += _imbalance(merged)
    notes = [_clean(note) for note in notes]
    merged.sort(key=lambda r: (r.suite, r.mode, r.implementation,
                               r.size or 0, r.state or ""))
    return Dataset(machine=machine, settings={
                       k: v for k in settings
                       if (v := _number(settings, k)) is not None},
                   runs=merged, partial=partial,
                   comparisons=everyday.merge(comparisons),
                   notes=notes, sources=paths)
