# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""What the page says, as plain data: tables, findings and CSV rows."""

import csv
import io
from dataclasses import dataclass

from . import nets, stats, text
from .order import ordered

# The comparisons of the summary, with what each of them answers.
PAIRS = (
    ("pipe-streams", "pipe-linux", "read and write, the paper's question"),
    ("pipe-streams-msg", "unix-seqpacket", "messages with boundaries"),
    ("pipe-streams-nullmod", "pipe-linux", "with one module pushed"),
    ("pipe-streams", "unix-stream", "against UNIX stream sockets"),
    ("pipe-streams", "ring", "share of a bare shared-memory ring"),
)

FEATURES = (("pipe-streams-hold", "write coalescing (hold)"),
            ("pipe-streams-mread", "read notification (M_READ)"),
            ("pipe-streams-rfill", "read fill"))

# The variant that gives deferral up, and the one that is the same but for
# that; the plain pipe stands in when the latter was not measured.
EAGER, DEFERRED = "pipe-streams-service", "pipe-streams-srvmod"


def summary(data):
    """[(pair, {mode: Ratio})] for what was measured."""
    rows = []
    for over, under, what in PAIRS:
        found = {}
        for mode in data.modes("pipe"):
            ratio = stats.ratio(data, "pipe", over, under, mode)
            if ratio:
                found[mode] = ratio
        if found:
            rows.append(((over, under, what), found))
    return rows


def read_side(data):
    """The main comparison again, counted where messages arrive."""
    found = [f"{text.factor(r.mean)} on {text.mode(m)}"
             for m in data.modes("pipe")
             if (r := stats.ratio(data, "pipe", "pipe-streams",
                                  "pipe-linux", m, by="rx"))]
    if not found:
        return ""
    return ("A check: messages are counted where they are written, as in "
            "the paper. Counted where they are read, the first mean is "
            + text.join(found) + ".")


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
            verdict = ("none explains the gain, as the paper found"
                       if small else
                       "so at least one of them matters, other than the "
                       "paper found")
            sentences.append(f"{where}, the geometric mean of the rate is "
                             f"changed by {parts}: {verdict}.")
        if EAGER in here:
            sentence = _eager(here[EAGER], here.get(DEFERRED))
            if sentence:
                sentences.append(f"{where}, {sentence}.")
    return sentences


def _eager(slow, deferred):
    """What giving deferral up costs, and what that says."""
    mean, before = slow.ratio.mean, slow.plain_switches
    against = "the plain pipe"
    if deferred:
        mean = _ratio(slow.ratio.by_size, deferred.ratio.by_size)
        before, against = deferred.switches, DEFERRED
    if mean is None:
        return None
    said = (f"serving queues and waking sleepers at every call, instead of "
            f"deferring it, changes the rate by "
            f"{text.signed_percent(mean)} against {against}")
    more = None
    if slow.switches is not None and before is not None:
        more = slow.switches > before * 1.1
        said += (f", with {text.figures(slow.switches)} voluntary context "
                 f"switches per 1,000 messages in place of "
                 f"{text.figures(before)}")
    if mean > 2 / 3:
        return said + ": too little to carry the paper's explanation here"
    if more is None:
        return (said + ": a loss as the paper expects; context switches "
                "were not counted")
    if more:
        return (said + ": deferral and with it fewer wake-ups carry the "
                "gain, as the paper says")
    return (said + ": the loss is real, but context switches do not explain "
            "it here")


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


def _range(sizes):
    if len(sizes) == 1:
        return text.size(sizes[0])
    return (f"{len(sizes)} message sizes from {sizes[0]:,} to "
            f"{sizes[-1]:,} bytes")


def _times(value):
    return f"{text.factor(value)} times"


def answer(data):
    """The report in one paragraph; every number is computed here."""
    sentences = []
    main = {m: r for m in data.modes("pipe")
            if (r := stats.ratio(data, "pipe", "pipe-streams",
                                 "pipe-linux", m))}
    if main:
        first, *rest = main.items()
        mode, ratio = first
        sentence = (f"On this machine STREAMS pipes moved "
                    f"{_times(ratio.mean)} as many messages per second as "
                    f"Linux pipes on {text.mode(mode)}")
        for mode, other in rest:
            sentence += f", and {_times(other.mean)} on {text.mode(mode)}"
        basis = ("geometric mean over " if len(ratio.sizes) > 1 else "at ")
        sentences.append(f"{sentence} ({basis}{_range(ratio.sizes)}).")
        low = min(main.values(), key=lambda r: r.low[1])
        high = max(main.values(), key=lambda r: r.high[1])
        if len(low.sizes) > 1:
            sentences.append(
                f"The ratio ranged from {text.factor(low.low[1])} "
                f"({text.size(low.low[0])}, {text.mode(low.mode)}) to "
                f"{text.factor(high.high[1])} "
                f"({text.size(high.high[0])}, {text.mode(high.mode)}).")
        lost = [f"{text.size(size)} on {text.mode(m)}"
                for m, r in main.items()
                for size, value in r.by_size.items() if value < 1]
        if lost:
            sentences.append(f"The Linux pipe was faster at "
                             f"{text.join(lost)}.")
    for over, under, phrase in (
            ("pipe-streams-msg", "unix-seqpacket",
             "With record boundaries (putmsg and getmsg against "
             "SOCK_SEQPACKET) the factor is "),
            ("pipe-streams", "ring",
             "The share of what a bare ring in shared memory moves is ")):
        found = [f"{text.factor(r.mean)} on {text.mode(m)}"
                 for m in data.modes("pipe")
                 if (r := stats.ratio(data, "pipe", over, under, m))]
        if found:
            sentences.append(phrase + text.join(found) + ".")
    trips = []
    for (state, size), name, found in round_trips(data):
        if (state, name) != ("warm", "pipe-streams"):
            continue
        for mode, (run, ratio) in found.items():
            if ratio:
                trips.append((size, mode, run.p50, run.p50 / ratio))
    if trips:
        smallest = min(t[0] for t in trips)
        parts = [f"{text.ns(ours)} against {text.ns(theirs)} on "
                 f"{text.mode(mode)}"
                 for size, mode, ours, theirs in trips if size == smallest]
        sentences.append(f"A round trip of {text.size(smallest)} took "
                         f"{text.join(parts)} (medians).")
    networks = nets.answer(data)
    if networks:
        sentences.append(networks)
    if not sentences:
        sentences.append("These files hold no comparison of STREAMS pipes "
                         "with Linux pipes; what they do hold follows.")
    return " ".join(sentences)


# --- CSV -------------------------------------------------------------

def _cell(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}" if value < 1e6 else f"{value:.0f}"
    return str(value)


def to_csv(header, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


RATED = ("pipe", "ablation", "perftest", "tcp", "udp", "loopback",
         "wire", "netns")


def _network_files(data, histories):
    """{file name: content} of TCP, UDP and the loopback transports."""
    files = {}
    rows = [(suite, pair.over, pair.under, mode, v.ratio.mean,
             *v.ratio.low[::-1], *v.ratio.high[::-1], v.arrived,
             pair.mean, pair.each, pair.arrive,
             None if v.met is None else int(v.met))
            for suite, pair, found in nets.summary(data)
            for mode, v in found.items()]
    if rows:
        files["net-summary.csv"] = to_csv(
            ("suite", "implementation", "over", "mode", "geometric_mean",
             "lowest", "lowest_at_bytes", "highest", "highest_at_bytes",
             "least_part_received", "wanted_mean", "wanted_lowest",
             "wanted_part_received", "met"), rows)
    rows = [(part.suite, name, mode,
             c.fit and c.fit.intercept, c.fit and c.fit.slope, c.half,
             c.peak, c.saturated, c.switches, c.arrived)
            for part in nets.PARTS
            for name, found in nets.costs(data, part.suite)
            for mode, c in found.items()]
    if rows:
        files["net-costs.csv"] = to_csv(
            ("suite", "implementation", "mode", "ns_per_message",
             "ns_per_byte", "bytes_that_cost_a_message", "peak_bytes_per_s",
             "saturated_from_bytes", "switches_per_1000_messages",
             "least_part_received"), rows)
    rows = [(name, mode, state, size, run.p50, run.p99, ratio)
            for (state, size), name, by_mode in nets.round_trips(data)
            for mode, (run, ratio) in by_mode.items()]
    if rows:
        files["net-round-trips.csv"] = to_csv(
            ("implementation", "mode", "state", "message_bytes", "p50_ns",
             "p99_ns", "p50_over_kernel"), rows)
    rows = [(paper, t.number, t.distribution, t.kernel, t.host, name, size,
             rate)
            for paper, found in histories.items() for t in found
            for name in ordered(t.rates)
            for size, rate in sorted(t.rates[name].items())]
    if rows:
        files["net-history.csv"] = to_csv(
            ("paper", "table", "distribution", "kernel", "host",
             "implementation", "message_bytes", "messages_received_per_s"),
            rows)
    return files


def csv_files(data, history, net_histories=None):
    """{file name: content}."""
    files = _network_files(data, net_histories or {})
    rated = []
    for suite in RATED:
        for r in sorted(data.suite(suite), key=lambda r: (
                r.mode, r.implementation, r.size)):
            low, high = r.spread or (None, None)
            rated.append((
                suite, r.implementation, r.mode, r.size, r.tx, r.rx,
                1e9 / r.rate, r.rate * r.size, low, high, len(r.samples),
                r.switches, r.switches_per_message, r.cpu_ns))
    if rated:
        files["results.csv"] = to_csv(
            ("suite", "implementation", "mode", "message_bytes", "tx_per_s",
             "rx_per_s", "ns_per_message", "bytes_per_s", "lowest_sample",
             "highest_sample", "samples", "voluntary_switches_per_s",
             "voluntary_switches_per_message", "cpu_ns_per_message"), rated)
    ratios, means = [], []
    found = [r for _, by_mode in summary(data) for r in by_mode.values()]
    for ratio in found:
        means.append((ratio.over, ratio.under, ratio.mode, ratio.mean,
                      *ratio.low[::-1], *ratio.high[::-1],
                      len(ratio.sizes), ratio.sizes[0], ratio.sizes[-1]))
        ratios.extend((ratio.over, ratio.under, ratio.mode, size, value,
                       (value - 1) * 100)
                      for size, value in sorted(ratio.by_size.items()))
    if found:
        files["summary.csv"] = to_csv(
            ("implementation", "over", "mode", "geometric_mean",
             "lowest", "lowest_at_bytes", "highest", "highest_at_bytes",
             "sizes", "smallest_bytes", "largest_bytes"), means)
        files["ratios.csv"] = to_csv(
            ("implementation", "over", "mode", "message_bytes", "ratio",
             "improvement_percent"), ratios)
    fits = [(name, mode, f.intercept, f.slope, f.error * 100, f.points)
            for name, by_mode in delay_fits(data)
            for mode, f in by_mode.items()]
    if fits:
        files["delay-fits.csv"] = to_csv(
            ("implementation", "mode", "intercept_ns", "slope_ns_per_byte",
             "rms_relative_residual_percent", "points"), fits)
    trips = [(name, mode, state, size, run.p50, run.p99, ratio)
             for (state, size), name, by_mode in round_trips(data)
             for mode, (run, ratio) in by_mode.items()]
    if trips:
        files["round-trips.csv"] = to_csv(
            ("implementation", "mode", "state", "message_bytes", "p50_ns",
             "p99_ns", "p50_over_pipe_linux"), trips)
    parts = [(r.name, r.mode, r.ratio.mean, r.switches, r.plain_switches)
             for r in ablations(data)]
    if parts:
        files["ablations.csv"] = to_csv(
            ("implementation", "mode", "geometric_mean_over_pipe_streams",
             "switches_per_1000_messages",
             "plain_switches_per_1000_messages"), parts)
    if history:
        files["history.csv"] = to_csv(
            ("table", "distribution", "kernel", "host", "message_bytes",
             "pipe_linux_writes_per_s", "pipe_streams_writes_per_s",
             "pipe_lis_writes_per_s", "streams_over_linux"),
            [(t.number, t.distribution, t.kernel, t.host, size,
              t.rates["pipe-linux"].get(size),
              t.rates["pipe-streams"].get(size),
              t.rates.get("pipe-lis", {}).get(size),
              t.improvement.get(size))
             for t in history
             for size in sorted(t.rates["pipe-streams"])])
    return files
