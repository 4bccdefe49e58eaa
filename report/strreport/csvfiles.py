# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The tables as files of comma-separated values."""

import csv
import io

from . import compare, everyday, losses, nets, nice, tables
from .order import ordered


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
    rows = [(part.suite, pair.over, pair.under, mode, ratio.mean,
             *ratio.low[::-1], *ratio.high[::-1],
             nets.arrived(data, part.suite, pair.over, mode))
            for part in compare.PARTS
            for pair, found in compare.ratios(data, part)
            for mode, ratio in found.items()]
    if rows:
        files["net-summary.csv"] = to_csv(
            ("suite", "implementation", "over", "mode", "geometric_mean",
             "lowest", "lowest_at_bytes", "highest", "highest_at_bytes",
             "least_part_received"), rows)
    rows = [(part.suite, name, mode,
             c.fit and c.fit.intercept, c.fit and c.fit.slope, c.half,
             c.peak, c.saturated, c.switches, c.arrived)
            for part in compare.PARTS
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


def _nice_file(data):
    """{file name: content} of the two priorities."""
    # one of the kernel's may stand beside two of ours
    rows = list(dict.fromkeys(
        (name, mode, row.size, cell.normal, cell.artificial, cell.ratio)
        for row in nice.rows(data) for mode, pair in row.found.items()
        for name, cell in zip((row.ours, row.theirs), pair) if cell))
    return {"priorities.csv": to_csv(
        ("implementation", "mode", "message_bytes",
         "normal_messages_received_per_s",
         "artificial_messages_received_per_s", "artificial_over_normal"),
        rows)} if rows else {}


def csv_files(data, history, net_histories=None):
    """{file name: content}."""
    files = _network_files(data, net_histories or {}) | _nice_file(data)
    if data.comparisons:
        files["everyday.csv"] = to_csv(*everyday.rows(data.comparisons))
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
    found = [r for _, by_mode in compare.ratios(data, compare.PIPES)
             for r in by_mode.values()]
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
            for name, by_mode in tables.delay_fits(data)
            for mode, f in by_mode.items()]
    if fits:
        files["delay-fits.csv"] = to_csv(
            ("implementation", "mode", "intercept_ns", "slope_ns_per_byte",
             "rms_relative_residual_percent", "points"), fits)
    trips = [(name, mode, state, size, run.p50, run.p99, ratio)
             for (state, size), name, by_mode in tables.round_trips(data)
             for mode, (run, ratio) in by_mode.items()]
    if trips:
        files["round-trips.csv"] = to_csv(
            ("implementation", "mode", "state", "message_bytes", "p50_ns",
             "p99_ns", "p50_over_pipe_linux"), trips)
    parts = [(r.name, r.mode, r.ratio.mean, r.switches, r.plain_switches)
             for r in tables.ablations(data)]
    if parts:
        files["ablations.csv"] = to_csv(
            ("implementation", "mode", "geometric_mean_over_pipe_streams",
             "switches_per_1000_messages",
             "plain_switches_per_1000_messages"), parts)
    rows = [(x.part, x.over, x.under, x.measure, x.mode, x.where, x.factor)
            for x in losses.losses(data)]
    if rows:
        files["kernel-faster.csv"] = to_csv(
            ("suite", "implementation", "kernel", "measure", "mode",
             "message_bytes", "kernel_faster_by"), rows)
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
