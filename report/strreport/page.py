# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The page: charts and tables put into the template."""

import os

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import charts, nets, papers, stats, tables, text
from .order import ordered

# Machine facts in the order a reader asks for them; others follow.
FACTS = (
    (("hostname", "host", "nodename", "node"), "Host"),
    (("cpu_model", "cpu.model", "model_name", "processor", "cpu"),
     "Processor"),
    (("architecture",), "Architecture"),
    (("cpus", "cores", "ncpus", "cpu_count", "nproc", "online_cpus"),
     "Processors online"),
    (("cpus_used",), "Processors used"),
    (("smt", "threads_per_core"), "SMT"),
    (("memory_bytes", "mem_bytes", "memory"), "Memory"),
    (("virtualization", "hypervisor", "virt"), "Virtualization"),
    (("governor", "cpu_governor"), "Frequency governor"),
    (("clock",), "Clock"),
    (("clocksource",), "Clock source"),
    (("os", "distribution", "os_release", "sysname"), "System"),
    (("kernel", "kernel_release", "release"), "Kernel"),
    (("libc", "glibc"), "C library"),
    (("compiler", "cc"), "Compiler"),
    (("version",), "Version"),
    (("build_id", "build"), "Build id"),
    (("date", "started", "time"), "Measured"),
    (("load_average",), "Load average at the start"),
    (("command",), "Command"),
)


def _fact(name, value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name.endswith("bytes") \
            and value >= 1 << 20:
        return f"{value / (1 << 30):,.1f} GiB"
    if isinstance(value, float):
        return text.figures(value, 5)
    if isinstance(value, int) and abs(value) >= 10000:
        return f"{value:,}"
    if isinstance(value, (list, tuple)):
        return ", ".join(_fact("", v) for v in value)
    return "" if value is None else str(value)


def facts(machine):
    rows, used = [], set()
    for names, title in FACTS:
        for name in names:
            if name in machine and name not in used:
                used.add(name)
                rows.append((title, _fact(name, machine[name])))
                break
    for name in machine:
        if name not in used:
            title = name.replace("_", " ").replace(".", ", ")
            rows.append((title[:1].upper() + title[1:],
                         _fact(name, machine[name])))
    return [row for row in rows if row[1] != ""]


class Book:
    """Charts by name, drawn once; numbers figures as they are shown."""

    def __init__(self):
        self.svgs = {}      # file name without suffix: (svg, alt)

    def add(self, name, chart, alt):
        if chart is None:
            return None
        self.svgs[name] = (chart.svg(), alt)
        return name

    def inline(self, name):
        svg, alt = self.svgs[name]
        return Markup(charts.as_inline(svg, name, alt))

    def files(self):
        return {f"{name}.svg": charts.as_file(svg, name, alt)
                for name, (svg, alt) in self.svgs.items()}


def _safe(mode):
    """A mode as part of a file name."""
    return "".join(c if c.isalnum() else "-" for c in mode.lower()) or "x"


def _group(book, data, suite, kind, draw, what):
    """The chart of each mode of @suite; a list of names."""
    found = []
    for mode in data.modes(suite):
        name = book.add(f"{kind}-{_safe(mode)}", draw(data, mode),
                        f"{what}, {text.mode(mode)}")
        if name:
            found.append(name)
    return found


def _history(book, data, all_tables):
    ours = {}
    for mode in data.modes("pipe"):
        rates = {n: data.rates("pipe", n, mode)
                 for n in ("pipe-linux", "pipe-streams")}
        if all(rates.values()):
            ours[mode] = rates
    values = [v for t in all_tables for rates in t.rates.values()
              for v in rates.values()]
    values += [v for by_name in ours.values() for rates in by_name.values()
               for v in rates.values()]
    sizes = {s for t in all_tables for rates in t.rates.values()
             for s in rates}
    sizes |= {s for by_name in ours.values() for rates in by_name.values()
              for s in rates}
    limits = (min(values) / 1.4, max(values) * 1.4)
    panels = []
    for t in all_tables:
        panels.append(book.add(
            f"history-{t.number}",
            charts.history(t.name, t.kernel, t.rates, limits, sizes),
            f"Writes per second on {t.host}, {t.distribution}, "
            f"{t.kernel}: Linux pipe, STREAMS pipe"
            + (", LiS" if "pipe-lis" in t.rates else "")))
    kernel = str(data.machine.get("kernel", ""))[:30]
    for mode, rates in ours.items():
        panels.append(book.add(
            f"history-ours-{_safe(mode)}",
            charts.history(f"This machine, {text.mode(mode)}", kernel,
                           rates, limits, sizes),
            f"Writes per second on this machine, {text.mode(mode)}"))
    ratios = {m: r.by_size for m in ours
              if (r := stats.ratio(data, "pipe", "pipe-streams",
                                   "pipe-linux", m))}
    both = book.add("history-improvement",
                    charts.improvements(all_tables, ratios),
                    "Improvement of STREAMS over Linux pipes on the hosts "
                    "of the paper and on this machine")
    rows = [{"name": t.name, "kernel": t.kernel, "number": t.number,
             "mean": stats.geomean(t.improvement.values()),
             "low": min(t.improvement.items(), key=lambda i: i[1]),
             "high": max(t.improvement.items(), key=lambda i: i[1]),
             "sizes": sorted(t.improvement)} for t in all_tables]
    for mode, by_size in ratios.items():
        rows.append({"name": f"This machine, {text.mode(mode)}",
                     "kernel": kernel, "number": None,
                     "mean": stats.geomean(by_size.values()),
                     "low": min(by_size.items(), key=lambda i: i[1]),
                     "high": max(by_size.items(), key=lambda i: i[1]),
                     "sizes": sorted(by_size)})
    by_number = {t.number: t.rates["pipe-streams"] for t in all_tables}
    twins = None
    if 8 in by_number and 9 in by_number:
        twins = max(abs(by_number[9][s] / by_number[8][s] - 1)
                    for s in by_number[9] if s in by_number[8])
    return {
        "twins": twins, "panels": panels, "improvement": both, "rows": rows,
        "ours": bool(ours),
        "lis": [[t.number for t in g]
                for g in papers.shared_columns(all_tables, "pipe-lis")],
        "centos5": next((t for t in all_tables
                         if t.distribution == "CentOS 5"), None),
    }


def _raw(data):
    """[(title, [column], [[cell]])] of the collapsible tables."""
    found = []
    for suite, name in (("pipe", "Pipes"), ("ablation", "Ablations"),
                        ("perftest", "perftest"), ("tcp", "TCP"),
                        ("udp", "UDP"), ("loopback", "Loopback"),
                        ("wire", "Wire"), ("netns", "Namespaces")):
        for mode in data.modes(suite):
            runs = [r for r in data.suite(suite) if r.mode == mode]
            names = ordered({r.implementation for r in runs})
            runs.sort(key=lambda r: (names.index(r.implementation), r.size))
            rows = []
            for r in runs:
                spread = r.spread
                rows.append([
                    r.implementation, text.integer(r.size),
                    text.integer(r.tx), text.integer(r.rx),
                    f"{text.integer(spread[0])} {text.NONE} "
                    f"{text.integer(spread[1])}" if spread else text.NONE,
                    text.integer(len(r.samples)) if r.samples
                    else text.NONE,
                    text.figures(1e9 / r.rate),
                    text.figures(r.rate * r.size / 1e6),
                    text.NONE if r.switches_per_message is None else
                    text.figures(r.switches_per_message * 1000),
                    text.figures(r.cpu_ns)])
            if rows:
                found.append((
                    f"{name}, {text.mode(mode)}",
                    ["implementation", "bytes", "written/s", "read/s",
                     "samples, range", "n", "ns per message", "MB/s",
                     "switches per 1,000", "CPU ns per message"], rows))
    for suite in sorted({r.suite for r in data.runs}
                        - {*tables.RATED, "rtt", "netrtt"}):
        runs = data.suite(suite)
        extra = []
        for run in runs:
            extra += [k for k, v in run.extra.items() if k not in extra
                      and not isinstance(v, (dict, list))]
        fields = [("message_bytes", lambda r: r.size),
                  ("state", lambda r: r.state),
                  ("round trips/s" if suite == "rtt" else "written/s",
                   lambda r: r.tx),
                  ("read/s", lambda r: None if suite == "rtt" else r.rx),
                  ("switches/s", lambda r: r.switches),
                  ("CPU ns per message", lambda r: r.cpu_ns),
                  ("p50 ns", lambda r: r.p50), ("p99 ns", lambda r: r.p99)]
        fields = [(n, f) for n, f in fields
                  if any(f(r) is not None for r in runs)]

        def cell(value):
            if value is None:
                return text.NONE
            if isinstance(value, float):
                return text.figures(value, 4)
            if isinstance(value, int) and not isinstance(value, bool):
                return f"{value:,}"
            return str(value)
        rows = [[r.implementation, text.mode(r.mode)]
                + [cell(f(r)) for _, f in fields]
                + [cell(r.extra.get(k)) for k in extra] for r in runs]
        found.append((f"Suite {suite}", ["implementation", "mode"]
                      + [n for n, _ in fields]
                      + [k.replace("_", " ") for k in extra], rows))
    return found


def _idle(data):
    """Idle results as (what, context switches) if they say so plainly."""
    found = []
    for run in data.suite("idle"):
        count = None
        for name, value in run.extra.items():
            if "switch" in name and isinstance(value, (int, float)) \
                    and not isinstance(value, bool):
                count = (count or 0) + value
        if count is None and run.switches is not None:
            count = run.switches
        if count is not None:
            found.append(count)
    return {"runs": len(found), "busy": sum(1 for c in found if c > 0),
            "most": max(found)} if found else None


def _opened(data):
    """(implementation, ns for an opening and two closes, of Linux)."""
    found = {r.implementation: r.p50 for r in data.suite("open")}
    base = found.get("pipe-linux")
    return [(n, found[n], found[n] / base if base else None)
            for n in ordered(found)]


def _ablation_note(ablations):
    """What the variants with service procedures are, if any is there."""
    names = {a.name for a in ablations}
    note = ""
    if "pipe-streams-srvmod" in names:
        note += (" Srvmod: a pushed module queues every message for its "
                 "service procedure.")
    if "pipe-streams-service" in names:
        note += (" Service: the same module, but queues are served and "
                 "sleepers woken at every call, as in what gave STREAMS its "
                 "name for slowness.")
    return note


def _net_history(book, data, part, found):
    """The panels of a paper's hosts and of this machine, and the gain."""
    over, under = part.pairs[0].over, part.pairs[0].under
    names = sorted({n for t in found for n in t.rates}
                   | {part.base + "-nice"})
    ours = {}
    for mode in data.modes(part.suite):
        rates = {n: r for n in names
                 if (r := data.rates(part.suite, n, mode))}
        if over in rates and under in rates:
            ours[mode] = rates
    everything = [r for t in found for r in t.rates.values()] + [
        r for by_name in ours.values() for r in by_name.values()]
    values = [v for rates in everything for v in rates.values() if v > 0]
    sizes = {s for rates in everything for s in rates}
    limits = (min(values) / 1.4, max(values) * 1.4)
    panels = [book.add(
        f"{part.suite}-history-{t.number}",
        charts.history(t.name, t.kernel, t.rates, limits, sizes),
        f"{part.title} messages per second on {t.host}, {t.distribution}, "
        f"{t.kernel}") for t in found]
    kernel = str(data.machine.get("kernel", ""))[:30]
    ratios, rows = {}, [(t.name, t.kernel, t.number, t.improvement)
                        for t in found]
    for mode, rates in ours.items():
        where = f"This machine, {text.mode(mode)}"
        panels.append(book.add(
            f"{part.suite}-history-ours-{_safe(mode)}",
            charts.history(where, kernel, rates, limits, sizes),
            f"{part.title} messages per second on this machine, "
            f"{text.mode(mode)}"))
        ratio = stats.ratio(data, part.suite, over, under, mode)
        if ratio:
            ratios[mode] = ratio.by_size
            rows.append((where, kernel, None, ratio.by_size))
    gain = book.add(
        f"{part.suite}-history-improvement",
        charts.improvements(found, ratios, f"{part.title}, XTIoS over "
                            f"Sockets", over, under),
        f"Improvement of XTI over Sockets over Sockets for {part.title} on "
        f"the hosts of the paper and on this machine")
    return {"panels": panels, "improvement": gain, "tables": found,
            "rows": [{"name": n, "kernel": k, "number": t,
                      "mean": stats.geomean(g.values()),
                      "low": min(g.items(), key=lambda i: i[1]),
                      "high": max(g.items(), key=lambda i: i[1])}
                     for n, k, t, g in rows]}


NET_CHARTS = (
    ("performance", charts.performance,
     "Messages received per second against message size"),
    ("delay", charts.delay, "Time per message against message size"),
    ("throughput", charts.throughput,
     "Bytes per second against message size"),
    ("improvement", None, "Improvement in percent"),
    ("switches", charts.switches, "Context switches per 1,000 messages"),
    ("cpu", charts.cpu_time, "Processor time per message"),
)


def _part(book, data, part, histories):
    """What the page shows of TCP, UDP or the loopback transports."""
    groups = {}
    for kind, draw, what in NET_CHARTS:
        def one(data, mode, draw=draw):
            if draw is None:
                return charts.improvement(data, mode, part.suite, part.base,
                                          part.over, part.against)
            return draw(data, mode, part.suite)
        groups[kind] = _group(book, data, part.suite, f"{part.suite}-{kind}",
                              one, f"{part.title}: {what}")
    return {
        "part": part, "modes": data.modes(part.suite), "groups": groups,
        "costs": nets.costs(data, part.suite),
        "narrative": nets.narrative(data, part),
        "history": _net_history(book, data, part, histories[part.paper])
        if part.paper else None,
    }


def build(data):
    """{file name: text} of the whole report."""
    book = Book()
    all_tables = papers.tables()
    groups = {kind: _group(book, data, "pipe", kind, draw, what)
              for kind, draw, what in (
                  ("performance", charts.performance,
                   "Messages per second against message size"),
                  ("delay", charts.delay,
                   "Time per message against message size"),
                  ("throughput", charts.throughput,
                   "Bytes per second against message size"),
                  ("improvement", charts.improvement,
                   "Improvement over the Linux pipe in percent"),
                  ("switches", charts.switches,
                   "Context switches per 1,000 messages"),
                  ("cpu", charts.cpu_time, "Processor time per message"))}
    groups["rtt"] = _group(book, data, "rtt", "round-trip",
                           charts.round_trip, "Round trip times")
    groups["ablation"] = _group(book, data, "ablation", "ablation",
                                charts.ablation,
                                "Rate of the variants in percent")
    groups["netrtt"] = _group(
        book, data, "netrtt", "net-round-trip",
        lambda d, m: charts.round_trip(d, m, "netrtt"),
        "Round trip times over networks")
    history = _history(book, data, all_tables)
    net_tables = {p.paper: papers.tables(paper=p.paper)
                  for p in nets.PARTS if p.paper}
    parts = [_part(book, data, p, net_tables) for p in nets.PARTS
             if data.suite(p.suite)]
    environment = Environment(
        loader=FileSystemLoader(os.path.join(
            os.path.dirname(os.path.abspath(__file__)), "templates")),
        autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=StrictUndefined)
    environment.globals.update(
        text=text, chart=book.inline,
        variable=lambda n: charts.VARIABLES[charts.colour(n)])
    environment.filters["mode_name"] = text.mode
    modes = data.modes("pipe")
    switches = tables.linux_switches(data)
    ablations = tables.ablations(data)
    csvs = tables.csv_files(data, all_tables,
                            net_tables if parts else None)
    perftest = tables.perftest(data)
    html = environment.get_template("index.html").render(
        data=data, answer=tables.answer(data), modes=modes,
        summary=tables.summary(data), fits=tables.delay_fits(data),
        read_side=tables.read_side(data), groups=groups,
        history=history, facts=facts(data.machine),
        ablations=ablations, ablation_rows=[
            (n, {a.mode: a for a in ablations if a.name == n})
            for n in ordered({a.name for a in ablations})],
        ablation_note=_ablation_note(ablations),
        ablation_modes=data.modes("ablation"),
        explanation=tables.explanation(data),
        switches=switches, switch_names=ordered(
            {n for _, found in switches for n in found}),
        parts=parts, net_summary=nets.summary(data),
        net_modes=[m for m in ("split", "same")
                   if any(m in p["modes"] for p in parts)],
        net_trips=nets.trips(data), net_round_trips=nets.round_trips(data),
        net_trip_modes=data.modes("netrtt"),
        trips=tables.round_trips(data), trip_modes=data.modes("rtt"),
        perftest=perftest, perftest_rows=_perftest_rows(data),
        perftest_modes=data.modes("perftest"),
        idle=_idle(data), opened=_opened(data), raw=_raw(data),
        history_tables=all_tables, csvs=sorted(csvs),
        svgs=sorted(book.files()),
        palette=[(charts.VARIABLES[c[0]], *c)
                 for c in [*charts.PALETTE.values(), charts.OTHER]])
    return {**book.files(), **csvs, "index.html": html}


def _perftest_rows(data):
    """[(size, {mode: (perftest, perftestn, ratio)})]."""
    sizes = sorted({r.size for r in data.suite("perftest")})
    rows = []
    for size in sizes:
        found = {}
        for mode in data.modes("perftest"):
            ours = data.rates("perftest", "perftest", mode).get(size)
            theirs = data.rates("perftest", "perftestn", mode).get(size)
            found[mode] = (ours, theirs,
                           ours / theirs if ours and theirs else None)
        rows.append((size, found))
    return rows
