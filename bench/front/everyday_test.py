#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The everyday suites of strbench: short runs, and what they report.

    everyday_test.py STRBENCH [IMPLEMENTATION...]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

STRBENCH = sys.argv[1]
OURS = sys.argv[2:]
SHORT = ("--seconds", "0.02", "--warmup", "0.01", "--repeat", "1")


def run(*args, status=0, timeout=600):
    done = subprocess.run([STRBENCH, "run", *args], capture_output=True,
                          text=True, timeout=timeout)
    assert done.returncode == status, (args, done.returncode, done.stderr)
    return done


# With one sample of an everyday suite, what is measured: the measures of a
# question, at least.
EVERYDAY = {
    "sizes": ({"rate", "CPU each"}, "pipe-streams", "pipe-linux"),
    "paced": ({"p50", "CPU each"}, "pipe-streams", "pipe-linux"),
    "servers": ({"rate", "CPU each"}, "pipe-streams", "unix-stream"),
    "crowd": ({"rate", "CPU each"}, "pipe-streams", "pipe-linux"),
    "busy": ({"mean", "p50", "CPU each"}, "pipe-streams", "pipe-linux"),
    "life": ({"p50"}, "pipe-streams", "pipe-linux"),
}


def check_comparison(c):
    """A comparison has the documented shape, and a ratio that is true."""
    ours, peer = c["ours"]["value"], c["peer"]["value"]
    for side in (c["ours"], c["peer"]):
        assert statistics.median(side["samples"]) == side["value"], c
    assert c["better"] in ("less", "more") and c["unit"], c
    assert c["suite"] in EVERYDAY and c["name"] and c["measure"], c
    over, under = (peer, ours) if c["better"] == "less" else (ours, peer)
    if under > 0:
        assert abs(c["ratio"] * under / over - 1 if over else
                   c["ratio"]) < 1e-5, c
    want = ("loss" if c["ratio"] < 0.95 else
            "win" if c["ratio"] > 1.05 else "even")
    assert c["verdict"] == want, c


def everyday_suites_are_compared():
    if "pipe-streams" not in OURS:
        return "nothing to compare in this build"
    for suite, (measures, ours, peer) in EVERYDAY.items():
        result = json.loads(run(
            *SHORT, "--mode", "unpinned", "--suite", suite, "--impl",
            f"{ours},{peer}", "--json", "-").stdout)
        assert result["errors"] == [] and result["runs"] == [], result
        assert result["settings"]["full"] is False
        found = result["comparisons"]
        questions = {c["name"] for c in found}
        for name in questions:
            got = {c["measure"] for c in found if c["name"] == name}
            assert got >= measures or got == {"CPU per second"}, (name, got)
        assert len(questions) >= 2, questions
        assert [c["ratio"] for c in found] == sorted(
            c["ratio"] for c in found)
        for c in found:
            assert c["suite"] == suite and c["mode"] == "unpinned", c
            assert (c["ours"]["implementation"],
                    c["peer"]["implementation"]) == (ours, peer), c
            check_comparison(c)


def everyday_transports_are_compared():
    pairs = {("ticotsord", "unix-stream"), ("udp-xti", "udp-sockets")}
    if "ticotsord" not in OURS:
        return "no XTI in this build"
    result = json.loads(run(
        *SHORT, "--suite", "servers,life", "--mode", "unpinned", "--impl",
        ",".join(n for p in pairs for n in p), "--json", "-").stdout)
    assert result["errors"] == [], result["errors"]
    got = {(c["suite"], c["ours"]["implementation"],
            c["peer"]["implementation"]) for c in result["comparisons"]}
    assert got == {(s, *p) for p in pairs for s in ("servers", "life")}, got
    for c in result["comparisons"]:
        check_comparison(c)


def a_losing_ratio_is_reported_as_a_loss():
    """To attach to a domain takes longer than a pipe of the kernel does."""
    if "pipe-streams" not in OURS:
        return "nothing that could lose in this build"
    args = (*SHORT, "--suite", "life", "--mode", "unpinned", "--impl",
            "pipe-linux,pipe-streams")
    name = "first pipe of a program, new domain"
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "result.json")
        shown = run(*args, "--json", path).stdout
        with open(path) as saved:
            result = json.load(saved)
    found = [c for c in result["comparisons"] if c["name"] == name]
    assert found
    for c in found:
        assert c["better"] == "less" and c["ratio"] < 0.95, c
        assert c["verdict"] == "loss", c
    lines = [line.split() for line in shown.splitlines() if name in line]
    assert len(lines) == len(found), shown
    for line in lines:
        assert line[1] == "loss" and float(line[0]) < 0.95, line
    assert "where we win, where we lose" in shown


def unpinned_belongs_to_the_everyday_suites():
    done = run("--suite", "pipe", "--mode", "unpinned", status=1, timeout=5)
    assert "nothing to measure" in done.stderr


def full_asks_more():
    """Not run to its end: by what the progress says that it takes."""
    seconds = []
    for more in ((), ("--full",)):
        with subprocess.Popen(
                [STRBENCH, "run", "--suite", "paced", "--again", "0", *more,
                 "--json", "-"], stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True) as test:
            seconds.append(float(test.stderr.readline().split()[-2]))
            test.terminate()
            test.communicate(timeout=20)
    assert seconds[1] > 3 * seconds[0], seconds


CASES = [
    everyday_suites_are_compared,
    everyday_transports_are_compared,
    a_losing_ratio_is_reported_as_a_loss,
    unpinned_belongs_to_the_everyday_suites,
    full_asks_more,
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


main()
