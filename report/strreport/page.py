# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The page: charts and tables put into the template."""

import base64
import hashlib
import os

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import charts, compare, csvfiles, draw, everyday, losses, nets, nice
from . import papers, stats, tables, text
from .order import ordered

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                         "templates")

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
        """@alt is completed by the values at both ends of the curves."""
        if chart is None:
            return None
        ends = [title.partition("\n") for *_, title in
                (chart.values[0], chart.values[-1])] \
            if chart.by_size else []
        said = [f"{alt}.", *(f"{size}: {values}.".replace("\n", ", ")
                             for size, _, values in ends)]
        self.svgs[name] = (chart.svg(), " ".join(said))
        return name

    def inline(self, name):
        svg, alt = self.svgs[name]
        return Markup(draw.as_inline(svg, name, alt))

    def files(self):
        return {f"{name}.svg": draw.as_file(svg, name, alt)
                for name, (svg, alt) in self.svgs.items()}


class Numbers:
    """Figures and tables are numbered as they come."""

    def __init__(self):
        self.last = {}

    def __call__(self, kind):
        self.last[kind] = self.last.get(kind, 0) + 1
        return Markup(f"<b>{kind}\N{NO-BREAK SPACE}{self.last[kind]}.</b>")


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
            f"Messages per second on {t.host}, {t.distribution}, "
            f"{t.kernel}: Linux pipe, STREAMS pipe"
            + (", LiS" if "pipe-lis" in t.rates else "")))
    kernel = str(data.machine.get("kernel", ""))[:30]
    for mode, rates in ours.items():
        panels.append(book.add(
            f"history-ours-{_safe(mode)}",
            charts.history(f"This machine, {text.mode(mode)}", kernel,
                           rates, limits, sizes),
            f"Messages per second on this machine, {text.mode(mode)}"))
    ratios = {m: r.by_size for m in ours
              if (r := stats.ratio(data, "pipe", "pipe-streams",
                                   "pipe-linux", m))}
    both = book.add("history-improvement",
                    charts.improvements(all_tables, ratios),
                    "STREAMS against Linux pipes on the hosts of the paper "
                    "and on this machine")
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
                        - {*csvfiles.RATED, "rtt", "netrtt"}):
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
    over, under = papers.PAPERS[part.paper][2:]
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
        charts.improvements(found, ratios, f"{part.title}: XTI over a socket",
                            over, under),
        f"XTI over Sockets against Sockets for {part.title} on the hosts of "
        f"the paper and on this machine")
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
    ("improvement", None, "Times the kernel’s messages per second"),
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
        "history": _net_history(book, data, part, histories[part.paper])
        if part.paper else None,
    }


# Where a card leads.
ANCHORS = {"pipe": "pipes"}


def _cards(book, data):
    """What the first screen shows; all small charts have one scale."""
    found = compare.cards(data)
    every = [1.0, *(v for _, by_mode in found for r in by_mode.values()
                    for v in r.by_size.values())]
    shown = []
    for card, by_mode in found:
        low = min(by_mode.values(), key=lambda r: r.low[1])
        shown.append({
            "card": card, "by_mode": by_mode,
            "anchor": ANCHORS.get(card.suite, card.suite),
            "low": low.low[1], "at": low.low[0], "mode": low.mode,
            "chart": book.add(
                f"card-{card.title.lower()}",
                charts.card(by_mode, draw.bounds(every, 1.3, 1.3)),
                f"{card.title}: {card.ours} as a multiple of {card.kernel}, "
                "against message size")})
    return shown


def _grouped(rows, ours):
    """Round trips by state and size: [(key, [(name, found, is ours)])]."""
    groups = {}
    for key, name, found in rows:
        groups.setdefault(key, []).append((name, found, ours(name)))
    return list(groups.items())


def _modes(compared, lost=()):
    """The modes that any comparison has, in the usual order."""
    found = {m for _, rows in compared for _, by_mode in rows
             for m in by_mode} | {x.mode for x in lost}
    return [m for m in text.MODES if m in found] + sorted(
        found - set(text.MODES))


def _sections(known):
    """[(anchor, title)] of the page, as its navigation lists them."""
    return [(anchor, title) for anchor, title, there in known if there]


def _script():
    """(the script, what permits it and nothing else to run)."""
    with open(os.path.join(TEMPLATES, "page.js"), encoding="utf-8") as f:
        script = f.read()
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return Markup(script), base64.b64encode(digest).decode("ascii")


def build(data):
    """{file name: text} of the whole report."""
    book = Book()
    all_tables = papers.tables()
    cards = _cards(book, data)
    groups = {kind: _group(book, data, "pipe", kind, draw_one, what)
              for kind, draw_one, what in (
                  ("performance", charts.performance,
                   "Messages per second against message size"),
                  ("delay", charts.delay,
                   "Time per message against message size"),
                  ("throughput", charts.throughput,
                   "Bytes per second against message size"),
                  ("improvement", charts.improvement,
                   "Times the Linux pipe’s messages per second"),
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
                  for p in compare.PARTS if p.paper}
    parts = [_part(book, data, p, net_tables) for p in compare.PARTS
             if data.suite(p.suite)]
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True,
        trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    script, digest = _script()
    environment.globals.update(
        text=text, chart=book.inline, numbered=Numbers(),
        variable=lambda n: draw.VARIABLES[draw.colour(n)])
    environment.filters["mode_name"] = text.mode
    compared = compare.groups(data)
    lost = losses.losses(data)
    trips = _grouped(tables.round_trips(data),
                     lambda name: name.startswith("pipe-streams"))
    net_trips = _grouped(nets.round_trips(data),
                         compare.NET_TRIPS.__contains__)
    ablations = tables.ablations(data)
    opened, raw = tables.opened(data), _raw(data)
    perftest_rows = _perftest_rows(data)
    switches = tables.linux_switches(data)
    csvs = csvfiles.csv_files(data, all_tables, net_tables if parts else None)
    machine = facts(data.machine)
    why = bool(groups["switches"] or groups["cpu"] or ablations)
    html = environment.get_template("index.html").render(
        everyday=data.comparisons,
        everyday_counts=everyday.counts(data.comparisons),
        data=data, script=script, digest=digest, cards=cards,
        modes=data.modes("pipe"), compared=compared, losses=losses.table(lost),
        loss_modes=[m for m in _modes(compared, lost)
                    if any(x.mode == m for x in lost)],
        worst=losses.worst(lost), compared_modes=_modes(compared),
        sections=_sections((
            ("overview", "Overview", cards or lost),
            ("compared", "All comparisons", compared),
            ("losses", "Where the kernel is faster", compared or lost),
            ("everyday", "Where we win, where we lose", data.comparisons),
            ("pipes", "Pipes", groups["performance"]),
            *((p["part"].suite, p["part"].title, True) for p in parts),
            ("trips", "Round trips", trips or net_trips),
            ("open", "Opening and closing", opened),
            ("why", "Context switches and variants", why),
            ("perftest", "perftest", perftest_rows),
            ("priorities", "Priorities", nice.rows(data)),
            ("history", "2007 and now", True),
            ("method", "Method and caveats", True),
            ("machine", "Machine", machine),
            ("data", "Data", True))),
        fits=tables.delay_fits(data), groups=groups,
        history=history, facts=machine, why=why,
        ablations=ablations, ablation_rows=[
            (n, {a.mode: a for a in ablations if a.name == n})
            for n in ordered({a.name for a in ablations})],
        ablation_note=_ablation_note(ablations),
        ablation_modes=data.modes("ablation"),
        explanation=tables.explanation(data),
        switches=switches, switch_names=ordered(
            {n for _, found in switches for n in found}),
        parts=parts, net_trips=net_trips,
        nice_rows=nice.rows(data), nice_modes=data.modes("nice"),
        nice_answer=nice.answer(data),
        net_trip_modes=data.modes("netrtt"),
        trips=trips, trip_modes=data.modes("rtt"),
        perftest=tables.perftest(data), perftest_rows=perftest_rows,
        perftest_modes=data.modes("perftest"),
        idle=_idle(data), opened=opened, raw=raw,
        names=ordered({r.implementation for r in data.runs}),
        history_tables=all_tables, csvs=sorted(csvs),
        svgs=sorted(book.files()),
        palette=[(draw.VARIABLES[c[0]], *c)
                 for c in [*draw.PALETTE.values(), draw.OTHER]])
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
