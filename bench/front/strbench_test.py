#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""strbench as a user meets it: results, bad input, interruption.

    strbench_test.py STRBENCH [IMPLEMENTATION...] [--background-thread]

The implementations are those this build can measure, apart from the kernel's
and the ring; all of them go through a short run.  --background-thread says
that the thread sanitizer has put a thread of its own into each process.
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

STRBENCH = sys.argv[1]
# A background job of a shell ignores it, and so would what we start.
signal.signal(signal.SIGINT, signal.default_int_handler)
OURS = [a for a in sys.argv[2:] if not a.startswith("--")]
BACKGROUND_THREAD = "--background-thread" in sys.argv
SHORT = ("--seconds", "0.05", "--warmup", "0.02", "--repeat", "1")


def run(*args, status=0, timeout=100, **more):
    done = subprocess.run([STRBENCH, *args], capture_output=True, text=True,
                          timeout=timeout, **more)
    assert done.returncode == status, (args, done.returncode, done.stderr)
    return done


def measure(*args, **more):
    return json.loads(run("run", *SHORT, *args, "--json", "-", **more).stdout)


def processes():
    """{pid: (parent, state, name)} of everybody."""
    out = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as stat:
                head, tail = stat.read().rsplit(")", 1)
        except OSError:
            continue
        fields = tail.split()
        out[int(name)] = (int(fields[1]), fields[0], head.split("(", 1)[1])
    return out


def descendants(pid):
    table = processes()
    found, grew = {pid}, True
    while grew:
        more = {p for p, (parent, state, _) in table.items()
                if parent in found and state != "Z"}
        grew = not more <= found
        found |= more
    return found - {pid}


def until(predicate, seconds=60):
    deadline = time.monotonic() + seconds
    while not predicate():
        assert time.monotonic() < deadline, "deadline passed"
        time.sleep(0.01)


STARTED = []


def start(*args, **more):
    test = subprocess.Popen([STRBENCH, *args], **more)
    STARTED.append(test)
    return test


def end_started():
    """Whatever the case has come to, nothing of it goes on."""
    for test in STARTED:
        test.kill()
        test.wait()
    STARTED.clear()


def alive(pids):
    table = processes()
    return {p for p in pids if p in table and table[p][1] != "Z"}


def start_long(path):
    """A run of a minute, and what it has started when both sides run."""
    test = start(
        "run", "--suite", "pipe", "--mode", "same", "--sizes", "1..4",
        "--impl", "pipe-linux,ring", "--seconds", "0.2", "--repeat", "20",
        "--json", path,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: len(descendants(test.pid)) >= 3)
    return test, descendants(test.pid)


def a_result_has_the_documented_shape():
    result = measure("--suite", "pipe", "--mode", "same", "--sizes", "64",
                     "--impl", "pipe-linux,ring")
    assert result["schema"] == 1 and result["partial"] is False
    for name in ("cpu_model", "cores", "kernel", "glibc", "clock", "date",
                 "load_average", "governor", "build_id", "compiler",
                 "virtualization"):
        assert name in result["machine"], name
    assert result["errors"] == []
    assert [r["implementation"] for r in result["runs"]] == ["pipe-linux",
                                                             "ring"]
    for r in result["runs"]:
        assert (r["suite"], r["mode"], r["message_bytes"]) == ("pipe", "same",
                                                               64)
        assert r["tx_per_s"] > 0 and r["rx_per_s"] > 0
        assert r["samples"] == [r["tx_per_s"]]
        assert r["voluntary_switches_per_s"] >= 0
        assert r["cpu_ns_per_message"] > 0
        assert r["read_calls_per_message"] >= 1


def the_result_is_the_median_of_the_samples():
    result = measure("--suite", "pipe", "--mode", "same", "--sizes", "1",
                     "--impl", "pipe-linux", "--repeat", "3",
                     "--again", "0")
    r = result["runs"][0]
    assert len(r["samples"]) == 3
    assert sorted(r["samples"])[1] == r["tx_per_s"]


def spread(samples):
    """As bench_spread() has it."""
    s = sorted(samples)
    off = 0 if len(s) < 5 else (len(s) - 1) // 4
    return (s[-1 - off] - s[off]) / statistics.median(s)


def where_samples_disagree_all_are_sampled_again():
    result = measure("--suite", "pipe,rtt", "--mode", "same", "--sizes",
                     "1,64", "--impl", "pipe-linux,ring", "--repeat", "2",
                     "--seconds", "0.01", "--warmup", "0",
                     "--idle-samples", "0", "--again", "30")
    assert result["settings"]["again_seconds"] == 30
    points = {}
    for r in result["runs"]:
        points.setdefault((r["suite"], r["message_bytes"]), []).append(
            r["samples"])
    assert len(points) == 4
    for both in points.values():
        a, b = both
        assert len(a) == len(b) and len(a) in (2, 4, 6), both
        wide = max(spread(a), spread(b)) > 0.25
        assert not wide or len(a) == 6, both
        # it was not for nothing
        for n in range(2, len(a), 2):
            assert max(spread(a[:n]), spread(b[:n])) > 0.25, both


def sizes_are_sorted_and_measured_once():
    result = measure("--suite", "pipe", "--mode", "same", "--sizes",
                     "4,1..4,1", "--impl", "ring")
    assert [r["message_bytes"] for r in result["runs"]] == [1, 2, 4]


def every_implementation_is_measured_in_both_modes():
    names = ["pipe-linux", "unix-stream", "unix-seqpacket", "ring"] + [
        o for o in OURS if o in ("pipe-streams", "pipe-streams-msg",
                                 "pipe-streams-nullmod")]
    modes = ["same"] + (["split"] if len(os.sched_getaffinity(0)) > 1 else [])
    result = measure("--suite", "pipe", "--mode", ",".join(modes), "--sizes",
                     "1,16384", "--impl", ",".join(names))
    got = {(r["implementation"], r["mode"], r["message_bytes"])
           for r in result["runs"]}
    assert got == {(n, m, s) for n in names for m in modes
                   for s in (1, 16384)}, got


def round_trips_are_measured_warm_and_after_a_pause():
    result = measure("--suite", "rtt", "--mode", "same", "--sizes", "1",
                     "--impl", "pipe-linux,ring", "--idle-samples", "1")
    got = {(r["implementation"], r["state"]): r for r in result["runs"]}
    assert len(got) == 4
    for r in got.values():
        assert 0 < r["p50_ns"] <= r["p99_ns"]
    assert got["pipe-linux", "idle"]["samples"] == [
        got["pipe-linux", "idle"]["p50_ns"]]


def every_transport_is_measured():
    modes = ["same"] + (["split"] if len(os.sched_getaffinity(0)) > 1 else [])
    for suite, names in (
            ("tcp", ["tcp-sockets", "tcp-xtios", "sctp-xti",
                     "sctp-xti-full"]),
            ("udp", ["udp-sockets", "udp-xtios", "udp-xti"]),
            ("wire", ["udp-sockets", "udp-xti-out", "udp-xti-in"]),
            ("loopback", ["unix-stream", "unix-dgram", "ticotsord",
                          "ticlts"])):
        names = [n for n in names if n in OURS
                 or not n.startswith("ti") and "-xti" not in n]
        result = measure("--suite", suite, "--mode", ",".join(modes),
                         "--sizes", "1,16384", "--impl", ",".join(names))
        got = {(r["implementation"], r["mode"], r["message_bytes"])
               for r in result["runs"]}
        assert got == {(n, m, s) for n in names for m in modes
                       for s in (1, 16384)}, got
        assert result["skipped"] == []
        for r in result["runs"]:
            assert r["tx_per_s"] > 0 and r["rx_per_s"] > 0
            assert 0 < r["arrived"] <= 1
            if not r["implementation"].startswith("udp"):
                assert r["arrived"] == 1, r


def transports_answer():
    names = ["tcp-sockets", "udp-sockets", "unix-stream", "unix-dgram"] + [
        o for o in OURS if o in ("tcp-xtios", "udp-xtios", "udp-xti",
                                 "ticotsord", "ticlts")]
    result = measure("--suite", "netrtt", "--mode", "same", "--sizes", "1",
                     "--impl", ",".join(names), "--idle-samples", "1")
    got = {(r["implementation"], r["state"]): r for r in result["runs"]}
    assert len(got) == 2 * len(names), got
    for r in got.values():
        assert 0 < r["p50_ns"] <= r["p99_ns"]


def what_is_not_permitted_is_skipped_with_the_reason():
    without = ["setpriv", "--bounding-set=-sys_nice"]
    if os.geteuid() != 0:
        without = []    # an ordinary user may not raise priorities
    elif not shutil.which("setpriv"):
        return "no setpriv to take the permission away"
    done = subprocess.run(
        [*without, STRBENCH, "run", *SHORT, "--suite", "tcp", "--mode",
         "same", "--sizes", "1,2", "--impl", "tcp-sockets,tcp-sockets-nice",
         "--json", "-"], capture_output=True, text=True, timeout=60)
    if not without and "is skipped" not in done.stderr:
        return "this user may raise priorities"
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("tcp-sockets-nice is skipped: nice -20 is not "
                             "permitted") == 1, done.stderr
    result = json.loads(done.stdout)
    assert {r["implementation"] for r in result["runs"]} == {"tcp-sockets"}
    assert len(result["runs"]) == 2 and result["errors"] == []
    assert [s["implementation"] for s in result["skipped"]] == [
        "tcp-sockets-nice"]
    assert "not permitted" in result["skipped"][0]["reason"]


def priorities_are_measured_beside_each_other():
    """Of each transport (N), then (A), as one point."""
    names = ["pipe-linux", "fifo-linux", "unix-seqpacket", "unix-stream",
             "unix-dgram", "tcp-sockets"] + [
        o for o in OURS if o in ("pipe-streams", "fifo-streams",
                                 "pipe-streams-msg", "tcp-xtios", "udp-xtios",
                                 "udp-xti", "sctp-xti", "ticotsord",
                                 "ticlts")]
    both = [n + suffix for n in names for suffix in ("", "-nice")]
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "r.json")
        table = run("run", *SHORT, "--suite", "nice", "--mode", "same",
                    "--sizes", "64", "--impl", ",".join(both), "--json",
                    path).stdout
        with open(path) as stream:
            result = json.load(stream)
    if result["skipped"]:
        assert {s["implementation"] for s in result["skipped"]} == {
            b for b in both if b.endswith("-nice")}, result["skipped"]
        return result["skipped"][0]["reason"]
    got = [r["implementation"] for r in result["runs"]]
    assert sorted(got) == sorted(both), got
    rates = {r["implementation"]: r["rx_per_s"] for r in result["runs"]}
    for n in names:
        assert got.index(n + "-nice") == got.index(n) + 1, got
        line = next(l.split() for l in table.splitlines()
                    if l.split()[1:2] == [n])
        assert line[0] == "64" and abs(
            float(line[4]) - rates[n + "-nice"] / rates[n]) < 0.01, line
    return None


def raw_ip_is_measured():
    names = ["raw-sockets"] + [o for o in OURS if o == "raw-xti"]
    result = measure("--suite", "nice", "--mode", "same", "--sizes",
                     "1,4096", "--impl", ",".join(names))
    if result["skipped"]:
        assert not result["runs"], result
        return result["skipped"][0]["reason"]
    assert {(r["implementation"], r["message_bytes"])
            for r in result["runs"]} == {(n, s) for n in names
                                         for s in (1, 4096)}
    assert all(r["rx_per_s"] > 0 for r in result["runs"])
    return None


def wires():
    return [o for o in OURS if o.startswith("wire-")]


def devices():
    return sorted(os.listdir("/sys/class/net"))


def domains():
    """The files of domains of strbench, of other runs too."""
    return {f for _, _, files in os.walk("/dev/shm") for f in files
            if f.startswith("strbench-")}


def between_namespaces_every_wire_is_measured():
    before, files = devices(), domains()
    split = "split" if len(os.sched_getaffinity(0)) > 1 else "same"
    for suite, mode, keys, ways in (
            ("netns", split, ("tx_per_s", "rx_per_s", "arrived"), "out in"),
            ("netrtt", "same", ("p50_ns", "p99_ns"), "out")):
        names = ["udp-sockets-netns"] + [
            w for w in wires() if w.rsplit("-", 1)[1] in ways.split()]
        # Longer than others: on a busy CPU nothing may arrive for a while.
        result = measure("--suite", suite, "--mode", mode, "--sizes", "2000",
                         "--seconds", "0.2", "--impl", ",".join(names))
        skipped = {s["implementation"]: s["reason"]
                   for s in result["skipped"]}
        if names[0] in skipped:
            assert set(skipped) == set(names) and not result["runs"], result
            return skipped[names[0]]
        # A machine may have namespaces and still not all that wires need.
        assert all(n.startswith(("wire-tun", "wire-packet", "wire-raw"))
                   for n in skipped), skipped
        got = {(r["implementation"], r["mode"]) for r in result["runs"]}
        assert got == {(n, mode) for n in names if n not in skipped}, got
        for r in result["runs"]:
            assert all(r[k] > 0 for k in keys), r
            assert r.get("arrived", 1) <= 1, r
    assert devices() == before
    until(lambda: not domains() - files)


def without_privilege_namespaces_are_skipped_once():
    without = ["setpriv", "--bounding-set=-sys_admin"]
    if os.geteuid() != 0:
        without = []
    elif not shutil.which("setpriv"):
        return "no setpriv to take the privilege away"
    names = ["udp-sockets-netns", *wires()]
    done = subprocess.run(
        [*without, STRBENCH, "run", *SHORT, "--suite", "netns,tcp", "--mode",
         "same", "--sizes", "1,2", "--impl", ",".join([*names, "tcp-sockets"]),
         "--json", "-"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    if not result["skipped"] and not without:
        return "this user may make network namespaces"
    assert done.stderr.count("is skipped: ") == 1, done.stderr
    assert "Operation not permitted" in done.stderr, done.stderr
    assert {s["implementation"] for s in result["skipped"]} == set(names)
    assert [r["implementation"] for r in result["runs"]] == ["tcp-sockets"] * 2
    assert result["errors"] == []


def in_namespaces(own):
    """Processes in another network namespace than @own, and which."""
    found = {}
    for pid in processes():
        try:
            space = os.readlink(f"/proc/{pid}/ns/net")
        except OSError:
            continue
        if space != own:
            found[pid] = space
    return found


def namespaces_go_with_who_is_interrupted_or_killed():
    own = os.readlink("/proc/self/ns/net")
    names = ["udp-sockets-netns"] + [w for w in wires()
                                     if w in ("wire-tun-in", "wire-packet-in")]
    for signo in (signal.SIGINT, signal.SIGKILL):
        with tempfile.TemporaryDirectory() as directory:
            before, files = devices(), domains()
            test = start(
                "run", "--suite", "netns", "--mode", "same", "--sizes", "1",
                "--impl", names[-1], "--seconds", "60", "--repeat", "1",
                "--json", os.path.join(directory, "result.json"),
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

            def ours():
                """What this run has in namespaces of its own."""
                return descendants(test.pid) & set(in_namespaces(own))

            # two sides and the worker, past the check, which has fewer
            until(lambda: test.poll() is not None or len(ours()) >= 3)
            if test.poll() is not None:
                assert "is skipped" in test.communicate()[1]
                return "network namespaces may not be made"
            spaces = {in_namespaces(own).get(p) for p in ours()} - {None}
            # By process: the number of a namespace is used again.
            inside = {p for p, space in in_namespaces(own).items()
                      if space in spaces}
            test.send_signal(signo)
            test.communicate(timeout=20)
            until(lambda: not {p for p in inside
                               if in_namespaces(own).get(p) in spaces})
            assert devices() == before
            until(lambda: not domains() - files)


def blocked_processes_do_not_switch():
    if BACKGROUND_THREAD:
        return "the thread of the sanitizer does"
    names = ["pipe-linux"] + [o for o in OURS if o == "pipe-streams"]
    result = measure("--suite", "idle", "--mode", "same", "--impl",
                     ",".join(names), "--idle-seconds", "0.3")
    assert [r["implementation"] for r in result["runs"]] == names
    for r in result["runs"]:
        assert (r["reader_switches"], r["writer_switches"],
                r["poller_switches"]) == (0, 0, 0), r


def opening_and_closing_is_measured():
    names = ["pipe-linux"] + [o for o in OURS if o == "pipe-streams"]
    result = measure("--suite", "open", "--sizes", "64,128")
    assert [r["implementation"] for r in result["runs"]] == names
    for r in result["runs"]:
        assert r["mode"] == "same" and r["message_bytes"] == 1, r
        assert 0 < r["p50_ns"] <= r["p99_ns"] and r["samples"], r


def the_paper_program_is_run_too():
    result = measure("--suite", "perftest", "--mode", "same", "--sizes", "64",
                     "--impl", "perftestn")
    assert result["runs"][0]["tx_per_s"] > 0


def the_ablations_are_measured():
    names = [o for o in OURS if o.startswith("pipe-streams") and o not in (
        "pipe-streams-msg", "pipe-streams-nullmod")]
    if not names:
        return "nothing to ablate in this build"
    result = measure("--suite", "ablation", "--mode", "same", "--sizes", "64",
                     "--impl", ",".join(names))
    assert {r["implementation"] for r in result["runs"]} == set(names)


def a_file_is_replaced_as_a_whole():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "result.json")
        with open(path, "w") as old:
            old.write("old")
        link = os.path.join(directory, "link.json")
        os.symlink(path, link)
        done = run("run", *SHORT, "--suite", "pipe", "--mode", "same",
                   "--sizes", "1", "--impl", "ring", "--json", link)
        assert "ring" in done.stdout
        with open(path) as new:
            assert json.load(new)["runs"]
        assert os.path.islink(link)
        assert sorted(os.listdir(directory)) == ["link.json", "result.json"]


def an_unusable_output_is_refused_before_measuring():
    with tempfile.TemporaryDirectory() as directory:
        for path in (directory, os.path.join(directory, "no", "such"),
                     "/proc/nothing", ""):
            done = run("run", "--sizes", "1", "--json", path, status=1,
                       timeout=5)
            assert "strbench: " in done.stderr and not done.stdout
        assert os.listdir(directory) == []


def bad_options_exit_2_and_say_why():
    for args in ([], ["walk"], ["run", "--nosuch"], ["run", "extra"],
                 ["run", "--suite", "pope"], ["run", "--suite", ""],
                 ["run", "--mode", "both"], ["run", "--impl", "pipe-bsd"],
                 ["run", "--suite", "pipe", "--impl", "perftestn"],
                 ["run", "--sizes", "0"], ["run", "--sizes", "64..1"],
                 ["run", "--sizes", "1..65537"], ["run", "--sizes", "1,,2"],
                 ["run", "--sizes", "many"], ["run", "--seconds", "0"],
                 ["run", "--seconds", "nan"], ["run", "--repeat", "0"],
                 ["run", "--repeat"], ["run", "--cpus", "1"],
                 ["run", "--suite", "perftest", "--sizes", "65536"],
                 ["list", "extra"]):
        done = run(*args, status=2, timeout=5)
        assert "strbench: " in done.stderr and not done.stdout, args


def a_cpu_that_may_not_be_used_is_refused():
    done = run("run", "--cpus", "0,1023", status=1, timeout=5)
    assert "1023" in done.stderr


def one_cpu_means_mode_same_only():
    cpu = str(min(os.sched_getaffinity(0)))
    done = subprocess.run(
        ["taskset", "-c", cpu, STRBENCH, "run", *SHORT, "--suite", "pipe",
         "--sizes", "1", "--impl", "ring", "--json", "-"],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "split is left out" in done.stderr
    assert [r["mode"] for r in json.loads(done.stdout)["runs"]] == ["same"]
    done = subprocess.run(
        ["taskset", "-c", cpu, STRBENCH, "run", "--mode", "split"],
        capture_output=True, text=True, timeout=5)
    assert done.returncode == 1 and "two CPUs" in done.stderr


def an_interrupt_leaves_a_partial_result_and_no_processes():
    for signo in (signal.SIGINT, signal.SIGTERM):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "result.json")
            test, _ = start_long(path)
            # Let it have at least one result to save.
            first = descendants(test.pid)
            until(lambda: descendants(test.pid) - first)
            until(lambda: len(descendants(test.pid)) >= 3)
            left = descendants(test.pid)
            test.send_signal(signo)
            assert test.wait(timeout=20) == 128 + signo
            assert not alive(left)
            with open(path) as saved:
                result = json.load(saved)
            assert result["partial"] is True and result["schema"] == 1
            assert result["errors"] == []
            assert os.listdir(directory) == ["result.json"]


def a_killed_front_end_takes_its_workers_along():
    with tempfile.TemporaryDirectory() as directory:
        test, workers = start_long(os.path.join(directory, "result.json"))
        test.kill()
        test.wait()
        until(lambda: not alive(workers))
        assert os.listdir(directory) == []


def a_worker_that_dies_is_reported_and_the_rest_measured():
    test = start(
        "run", "--suite", "pipe", "--mode", "same", "--sizes", "1", "--impl",
        "pipe-linux,ring", "--seconds", "2", "--warmup", "0.01", "--repeat",
        "1", "--json", "-",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: len(descendants(test.pid)) >= 3)
    worker = min(p for p, (parent, _, _) in processes().items()
                 if parent == test.pid)
    os.kill(worker, signal.SIGKILL)
    out, err = test.communicate(timeout=60)
    assert test.returncode == 1
    result = json.loads(out)
    assert [e["implementation"] for e in result["errors"]] == ["pipe-linux"]
    assert [r["implementation"] for r in result["runs"]] == ["ring"]
    assert "pipe-linux" in err and "signal 9" in err


def domain_of(pid):
    """STREAMS_DOMAIN in the environment that a process began with.

    None: it is not set there, the process has ended, or its user may not read
    it, as while it executes a program."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as environ:
            entries = environ.read().split(b"\0")
    except (FileNotFoundError, PermissionError, ProcessLookupError):
        return None
    for entry in entries:
        if entry.startswith(b"STREAMS_DOMAIN="):
            return entry.split(b"=", 1)[1].decode()
    return None


def measured_programs_have_a_domain_with_a_name_and_streamsd():
    """As ordinary programs have; and nothing of it is left."""
    if "pipe-streams" not in OURS:
        return
    test = start(
        "run", "--suite", "pipe", "--mode", "same", "--sizes", "1", "--impl",
        "pipe-streams", "--seconds", "1", "--warmup", "0.01", "--repeat", "1",
        "--json", "-",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    workers, seen = {}, set()

    def both_seen():
        table = processes()
        for pid in descendants(test.pid):
            parent, _, program = table.get(pid, (0, 0, ""))
            seen.add(program)
            domain = domain_of(pid)
            # streamsd was a child of a worker, and its name is that of the
            # worker until it has executed
            if parent == test.pid and domain is not None and \
                    processes().get(pid, (0, 0, ""))[2] != "streamsd":
                workers[pid] = domain
        return workers and "streamsd" in seen

    until(both_seen)
    out, err = test.communicate(timeout=60)
    assert test.returncode == 0, err
    for pid, name in workers.items():
        assert name == f"strbench-{pid}", workers
        until(lambda: not [f for _, _, files in os.walk("/dev/shm")
                           for f in files if f.startswith(name)])


def help_version_and_list_succeed():
    for args in (["--help"], ["--version"], ["list"]):
        assert run(*args).stdout


def a_report_without_its_python_is_an_error():
    environment = dict(os.environ, STRBENCH_PYTHON="/nosuch/python")
    done = run("report", "x.json", "-o", "y", status=1, env=environment)
    assert "/nosuch/python" in done.stderr


CASES = [
    a_result_has_the_documented_shape,
    the_result_is_the_median_of_the_samples,
    where_samples_disagree_all_are_sampled_again,
    sizes_are_sorted_and_measured_once,
    every_implementation_is_measured_in_both_modes,
    round_trips_are_measured_warm_and_after_a_pause,
    every_transport_is_measured,
    transports_answer,
    what_is_not_permitted_is_skipped_with_the_reason,
    priorities_are_measured_beside_each_other,
    raw_ip_is_measured,
    between_namespaces_every_wire_is_measured,
    without_privilege_namespaces_are_skipped_once,
    namespaces_go_with_who_is_interrupted_or_killed,
    blocked_processes_do_not_switch,
    opening_and_closing_is_measured,
    the_paper_program_is_run_too,
    the_ablations_are_measured,
    a_file_is_replaced_as_a_whole,
    an_unusable_output_is_refused_before_measuring,
    bad_options_exit_2_and_say_why,
    a_cpu_that_may_not_be_used_is_refused,
    one_cpu_means_mode_same_only,
    an_interrupt_leaves_a_partial_result_and_no_processes,
    a_killed_front_end_takes_its_workers_along,
    a_worker_that_dies_is_reported_and_the_rest_measured,
    measured_programs_have_a_domain_with_a_name_and_streamsd,
    help_version_and_list_succeed,
    a_report_without_its_python_is_an_error,
]


def main():
    print("TAP version 13")
    print(f"1..{len(CASES)}")
    for number, case in enumerate(CASES, 1):
        name = case.__name__.replace("_", " ")
        try:
            skipped = case()
        except Exception as error:  # every failure is one line of the report
            print(f"not ok {number} - {name}")
            print("\n".join("# " + line for line in
                            f"{error!r}".splitlines()), flush=True)
        else:
            print(f"ok {number} - {name}"
                  + (f" # SKIP {skipped}" if skipped else ""), flush=True)
        finally:
            end_started()


main()
