#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""perftest and perftestn as a user meets them: lines, exit codes, signals.

    perftest_test.py PROGRAM
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
# A domain that is somebody else's may be full, or at another address.
os.environ["STREAMS_DOMAIN"] = "private"
# A background job of a shell ignores it, and so would what we start.
signal.signal(signal.SIGINT, signal.default_int_handler)
LINE = re.compile(
    r"^(?P<fd>\d+) Msgs (?P<what>sent|read): +(?P<rate>\d+) \( *(?P<mean>\d+)\), "
    r"throughput: +(?P<bytes>\d+) \( *(?P<mean_bytes>\d+)\), "
    r"size \( *(?P<size>\d+)\) +(?P<min>\d+)- *(?P<max>\d+)"
    r"(?P<counters>(?: +\d+){3})?$")


def run(*args, status=0, timeout=20):
    done = subprocess.run([PROGRAM, *args], capture_output=True, text=True,
                          timeout=timeout)
    assert done.returncode == status, (args, done.returncode, done.stderr)
    return done


STARTED = []


def start(*args, **more):
    test = subprocess.Popen([PROGRAM, *args], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, **more)
    STARTED.append(test)
    return test


def end_started():
    """Whatever the case has come to, nothing of it goes on."""
    for test in STARTED:
        test.kill()
        test.wait()
    STARTED.clear()


def lines(text):
    out = []
    for line in text.splitlines():
        match = LINE.match(line)
        assert match, line
        out.append(match.groupdict())
    return out


def moved(out, what):
    """Over all reports: a busy machine can keep a process off for one."""
    return sum(int(o["rate"]) for o in out if o["what"] == what)


def children_of(pid):
    out = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            out.append(int(name))
    return out


def until(predicate, seconds=10):
    deadline = time.monotonic() + seconds
    while not predicate():
        assert time.monotonic() < deadline, "deadline passed"
        time.sleep(0.01)


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def sync_reports_what_it_sent_and_read():
    out = lines(run("-q", "-r", "-t", "0.1", "-i", "2").stdout)
    assert [o["what"] for o in out] == ["sent", "read"] * 2
    for o in out:
        assert o["counters"] is None
        assert (o["size"], o["min"], o["max"]) == ("64", "64", "64")
        assert int(o["bytes"]) >= int(o["rate"]) * 64
    # a tenth of a second can pass without any, where others have the CPUs
    for what in ("sent", "read"):
        assert sum(int(o["rate"]) for o in out if o["what"] == what) > 0


def the_first_mean_is_the_first_value():
    out = lines(run("-q", "-r", "-t", "0.1", "-i", "1").stdout)
    assert out[0]["rate"] == out[0]["mean"]


def the_mean_weighs_recent_reports_twice():
    sent = [o for o in lines(run("-q", "-r", "-t", "0.1", "-i", "3").stdout)
            if o["what"] == "sent"]
    mean = 0
    for n, o in enumerate(sent):
        mean = (mean * n + 2 * int(o["rate"])) // (n + 2)
        assert int(o["mean"]) == mean


def blocking_sync_moves_one_at_a_time():
    out = lines(run("-q", "-r", "-b", "-t", "0.1", "-i", "1", "-s", "100").stdout)
    assert abs(int(out[0]["rate"]) - int(out[1]["rate"])) <= 20
    assert out[0]["size"] == "100"


def async_reports_from_both_sides():
    out = lines(run("-q", "-r", "-a", "-t", "0.1", "-i", "3").stdout)
    for what in ("sent", "read"):
        of = [o for o in out if o["what"] == what]
        assert len(of) == 3, out
        assert all(o["counters"] for o in of)
        assert moved(out, what) > 0


def async_blocking_works_with_all_that_configures_it():
    out = lines(run("-q", "-r", "-a", "-b", "-F", "-S", "-R5", "--hiwat=65536",
                    "--lowat=8192", "-t", "0.1", "-i", "2").stdout)
    assert len(out) == 4
    assert max(int(o["max"]) for o in out if o["what"] == "read") <= 4096


def without_r_it_uses_getmsg_and_putmsg():
    for args in ((), ("-b",), ("-a",), ("-a", "-b")):
        out = lines(run("-q", "-t", "0.1", "-i", "2", "-s", "100",
                        *args).stdout)
        assert moved(out, "sent") > 0 and moved(out, "read") > 0, out
        for o in out:
            if int(o["rate"]) == 0:
                continue
            assert o["size"] == "100", o
            # There, minimum and maximum are those of the return code.
            extent = "100" if PROGRAM.endswith("perftestn") else "0"
            assert (o["min"], o["max"]) == (extent, extent), o


def what_configures_the_stream_is_accepted():
    for args in (("-H",), ("-M",), ("-w",), ("-m", "nullmod", "-p", "2"),
                 ("-H", "-M", "-F", "-w")):
        out = lines(run("-q", "-r", "-a", "-t", "0.1", "-i", "2",
                        *args).stdout)
        assert len(out) == 4, (args, out)
        assert moved(out, "sent") > 0 and moved(out, "read") > 0, (args, out)


def a_large_message_does_not_lock_the_synchronous_test():
    out = lines(run("-q", "-r", "-t", "0.1", "-i", "1", "-s", "32768").stdout)
    assert int(out[1]["bytes"]) > 0


def it_says_what_it_is_unless_quiet():
    loud = run("-r", "-t", "0.05", "-i", "1").stdout
    assert "BSD-2-Clause" in loud
    assert "BSD" not in run("-q", "-r", "-t", "0.05", "-i", "1").stdout


def help_and_version_succeed():
    for option in ("-h", "-?", "--help", "-V", "--version", "-C", "--copying"):
        assert run(option).stdout


def bad_options_exit_2_and_say_why():
    for args in (["-x"], ["--nosuch"], ["-s", "0"], ["-s", "32769"],
                 ["-s", "64k"], ["-t", "0"], ["-i", "0"], ["-p", "-1"],
                 ["-m", "ninechars"], ["-m", ""], ["--hiwat=1", "--lowat=2"],
                 ["--cpus=1"], ["-v", "extra"], ["-s"], ["--async=1"]):
        done = run(*args, status=2)
        assert done.stderr and not done.stdout, args


def a_killed_parent_leaves_no_children():
    test = start("-q", "-r", "-a", "-t", "5")
    until(lambda: len(children_of(test.pid)) == 2)
    children = children_of(test.pid)
    test.kill()
    test.wait()
    until(lambda: all(gone(pid) for pid in children))


def an_interrupt_ends_all_of_it():
    test = start("-q", "-r", "-a", "-t", "5", start_new_session=True)
    until(lambda: len(children_of(test.pid)) == 2)
    children = children_of(test.pid)
    os.killpg(test.pid, signal.SIGINT)
    assert test.wait(timeout=10) == -signal.SIGINT
    until(lambda: all(gone(pid) for pid in children))


def a_killed_reader_ends_the_writer():
    test = start("-q", "-r", "-a", "-t", "30")
    until(lambda: len(children_of(test.pid)) == 2)
    os.kill(min(children_of(test.pid)), signal.SIGKILL)
    assert test.wait(timeout=10) == 1


def the_script_runs_both_for_all_sizes():
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          "perftest_script")
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(script, directory)
        for name in ("perftest", "perftestn"):
            path = os.path.join(directory, name)
            with open(path, "w") as program:
                program.write(f'#!/bin/sh\necho "{name} $*"\n'
                              f'case $FAIL in {name}) exit 3;; esac\n')
            os.chmod(path, 0o755)
        command = [os.path.join(directory, "perftest_script"), "-a", "-S10"]
        done = subprocess.run(command, cwd=directory, capture_output=True,
                              text=True, timeout=20)
        assert done.returncode == 0, done
        calls = [line for line in done.stdout.splitlines()
                 if line.startswith("perftest")]
        expected = []
        for power in range(12, -1, -1):
            expected += [f"{name} -q -r -t 2 -i 5 -m nullmod -p 0 "
                         f"-s {2 ** power} -a -S10"
                         for name in ("perftest", "perftestn")]
        assert calls == expected, calls
        logs = [n for n in os.listdir(directory) if n.endswith(".log")]
        assert len(logs) == 1
        with open(os.path.join(directory, logs[0])) as log:
            assert log.read() == done.stdout
        done = subprocess.run(command, cwd=directory, capture_output=True,
                              text=True, timeout=20,
                              env=dict(os.environ, FAIL="perftestn"))
        assert done.returncode == 3, done
        before = sorted(os.listdir(directory))
        for option, says in (("--version", "perftest_script --version\n"),
                             ("--help", "Usage: perftest_script")):
            done = subprocess.run([command[0], option], cwd=directory,
                                  capture_output=True, text=True, timeout=20)
            assert done.returncode == 0, done
            assert done.stdout.startswith(says), done
        assert sorted(os.listdir(directory)) == before


HELPERS = ("run", "start", "end_started", "lines", "moved", "children_of",
           "until", "gone")
CASES = [value for name, value in list(globals().items())
         if callable(value) and getattr(value, "__module__", "") == "__main__"
         and name not in HELPERS]


def main():
    print("TAP version 13")
    print(f"1..{len(CASES)}")
    for number, case in enumerate(CASES, 1):
        name = case.__name__.replace("_", " ")
        try:
            case()
        except Exception as error:  # every failure is one line of the report
            print(f"not ok {number} - {name}")
            print("\n".join("# " + line
                            for line in f"{error!r}".splitlines()), flush=True)
        else:
            print(f"ok {number} - {name}", flush=True)
        finally:
            end_started()


main()
