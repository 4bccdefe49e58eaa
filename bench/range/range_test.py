#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""strbench server and the range commands, here and between two hosts.

    range_test.py STRBENCH [xti]

The two hosts are network namespaces with a pair of Ethernet devices between
them; where these may not be made, that is skipped.  Nothing leaves the
machine.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

STRBENCH = os.path.abspath(sys.argv[1])
XTI = "xti" in sys.argv[2:]
RANGE = os.path.join(os.path.dirname(STRBENCH), "range")
SHORT = ("--testtime=0.05", "--start=1", "--end=1024", "--mult=32")
SIZES = [1, 32, 1024]
STARTED = []


def start(*command, **more):
    process = subprocess.Popen(command, **more)
    STARTED.append(process)
    return process


def end_started():
    for process in STARTED:
        process.kill()
        process.wait()
    STARTED.clear()


def until(predicate, seconds=10):
    deadline = time.monotonic() + seconds
    while not predicate():
        assert time.monotonic() < deadline, "deadline passed"
        time.sleep(0.01)


def run(*command, status=0, timeout=100):
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=timeout)
    assert done.returncode == status, (command, done.returncode, done.stdout,
                                       done.stderr)
    return done


def command(protocol):
    return os.path.join(RANGE, f"netperf_{protocol}_range")


def server(*prefix, arguments=()):
    """A server; where it listens."""
    process = start(*prefix, STRBENCH, "server", *arguments,
                    stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    found = re.fullmatch(r"strbench: listening on (\S+) port (\d+)\n", line)
    assert found, line
    return process, found[1], int(found[2])


def rows(done):
    """[(buffer, message, seconds, sent, received, tx/s, rx/s, Mbit/s)]."""
    return [tuple(float(word) for word in line.split())
            for line in done.stdout.splitlines()
            if line and not line.startswith("#")]


def check(done, sizes, lossless, buffers=131071):
    found = rows(done)
    assert [row[1] for row in found] == sizes, done.stdout
    for row in found:
        assert row[0] == buffers and row[2] >= 0.05
        assert row[3] > 0 and 0 < row[4] <= row[3], row
        if lossless:
            assert row[3] == row[4], row


def ours(protocol):
    """The arguments that ask for STREAMS."""
    return ("-x", f"/dev/{protocol}")


def variants(protocol):
    return [()] + ([ours(protocol)] if XTI else [])


def every_message_of_a_stream_arrives():
    for extra in variants("tcp"):
        check(run(command("tcp"), *SHORT, *extra), SIZES, True)


def what_arrives_of_datagrams_is_counted():
    for extra in variants("udp"):
        check(run(command("udp"), *SHORT, *extra), SIZES, False)


def sizes_may_be_added_and_buffers_listed():
    done = run(STRBENCH, "range", "tcp", "--testtime=0.05", "--start=100",
               "--end=300", "--add=100", "--bufsizes=0,65536")
    assert [row[:2] for row in rows(done)] == [
        (b, s) for b in (0, 65536) for s in (100, 200, 300)]


def a_server_can_be_asked_again_and_again():
    process, host, port = server(arguments=("-p", "0"))
    for protocol in ("tcp", "udp"):
        for extra in variants(protocol):
            check(run(command(protocol), "-H", host, "-p", str(port),
                      "--testtime=0.05", "--start=64", "--end=64", *extra),
                  [64], protocol == "tcp")
    assert process.poll() is None


def nobody_is_there():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        done = run(command("tcp"), "-H", "127.0.0.1", "-p", str(port),
                   "--end=1", status=1, timeout=20)
    assert "no server there" in done.stderr, done.stderr


def help_and_version_say_the_name_of_the_command():
    for protocol in ("tcp", "udp"):
        name = f"netperf_{protocol}_range"
        for option in ("-h", "--help"):
            assert name in run(command(protocol), option).stdout
        for option in ("-V", "--version"):
            said = run(command(protocol), option).stdout
            assert said.startswith(f"{name} (Fast-STREAMS) "), said


def bad_options_exit_2():
    for args in (["range"], ["range", "sctp"], ["range", "tcp", "--mult=1"],
                 ["range", "tcp", "--start=9", "--end=8"],
                 ["range", "udp", "--end=65508"], ["range", "tcp", "-x", "t"],
                 ["range", "tcp", "--bufsizes=x"], ["range", "tcp", "more"],
                 ["range", "tcp", "-p", "0"], ["server", "-p", "65536"],
                 ["server", "more"], ["server", "-q"]):
        done = run(STRBENCH, *args, status=2, timeout=10)
        assert "strbench: " in done.stderr, args


def ask(port, text):
    """What the server says to these bytes before it hangs up."""
    with socket.create_connection(("127.0.0.1", port), 10) as control:
        control.settimeout(20)
        control.sendall(text)
        with contextlib.suppress(OSError):  # it may have hung up already
            control.shutdown(socket.SHUT_WR)
        said = b""
        while chunk := control.recv(4096):
            said += chunk
        return said.decode()


def strangers_get_a_reason_and_the_server_goes_on():
    process, host, port = server(arguments=("-p", "0"))
    for text, answer in (
            (b"", "no request"), (b"GET / HTTP/1.0\r\n\r\n", "protocol 1"),
            (b"strbench 1 \n", "no such transport"),
            (b"strbench 1 ../../bin/sh\n", "no such transport"),
            (b"strbench 1 pipe-linux\n", "no such transport"),
            (b"strbench 1 tcp-sockets cpus=0,0\n", "bad request"),
            (b"strbench 1 tcp-sockets" + b" size=1" * 9 + b"\n", "too long"),
            (b"strbench 1 tcp-sockets size=0\n", "bad setting"),
            (b"strbench 1 tcp-sockets size=99999999999\n", "bad setting"),
            (b"strbench 1 tcp-sockets device=/etc/passwd\n", "bad setting"),
            (b"x" * 600 + b"\n", "no request")):
        try:
            said = ask(port, text)
        except ConnectionResetError:
            said = answer   # it hung up before it had read all
        assert answer in said, (text, said)
    check(run(command("tcp"), "-H", host, "-p", str(port),
              "--testtime=0.05", "--start=1", "--end=1"), [1], True)
    assert process.poll() is None


def status(pid):
    """(parent, state); a state of Z for who has gone."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0, "Z"
    return int(fields[1]), fields[0]


def alive(pids):
    return [p for p in pids if status(p)[1] != "Z"]


def children(pid):
    found = [int(p) for p in os.listdir("/proc") if p.isdigit()]
    return alive([p for p in found if status(p)[0] == pid])


def a_killed_server_ends_those_it_serves():
    process, _, port = server(arguments=("-p", "0"))
    with socket.create_connection(("127.0.0.1", port), 10) as control:
        control.sendall(b"strbench 1 tcp-sockets size=1 seconds=5\n")
        assert control.recv(100).startswith(b"port ")
        left = children(process.pid)
        assert left
        process.kill()
        process.wait()
        until(lambda: not alive(left))


def an_interrupt_ends_it():
    test = start(command("tcp"), "--testtime=30", "--end=1",
                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: len(children(test.pid)) >= 2)
    left = children(test.pid)
    test.send_signal(signal.SIGTERM)
    assert test.wait(timeout=20) == 128 + signal.SIGTERM
    until(lambda: not alive(left))


def namespace():
    """A process that keeps a network namespace; None where it may not be."""
    holder = start("unshare", "--net", "sh", "-c",
                   "ip link set lo up && echo up && exec cat",
                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                   stderr=subprocess.DEVNULL, text=True)
    return holder if holder.stdout.readline() == "up\n" else None


def two_hosts():
    """The prefixes of commands on two hosts, or why there are none."""
    if not all(shutil.which(c) for c in ("unshare", "nsenter", "ip")):
        return None, "no unshare, nsenter or ip"
    hosts = [namespace(), namespace()]
    if None in hosts:
        return None, "network namespaces may not be made"
    inside = [("nsenter", "--net", "--target", str(h.pid)) for h in hosts]
    done = subprocess.run(
        [*inside[0], "ip", "link", "add", "strb0", "type", "veth", "peer",
         "name", "strb1", "netns", str(hosts[1].pid)],
        capture_output=True, text=True)
    if done.returncode:
        return None, f"no veth devices: {done.stderr.strip()}"
    for number, prefix in enumerate(inside):
        run(*prefix, "ip", "addr", "add", f"192.0.2.{number + 1}/30", "dev",
            f"strb{number}")
        run(*prefix, "ip", "link", "set", f"strb{number}", "up")
    return inside, None


def client_and_server_are_on_different_hosts():
    inside, why = two_hosts()
    if why:
        return why
    there = inside[1]
    server(*there, arguments=("-L", "192.0.2.2", "-p", "4711"))
    for protocol in ("tcp", "udp"):
        for extra in variants(protocol):
            check(run(*inside[0], command(protocol), "-H", "192.0.2.2", "-p",
                      "4711", *SHORT, *extra), SIZES, protocol == "tcp")
    # That it was the other one: nobody listens at that address here.
    done = run(command("tcp"), "-H", "127.0.0.1", "-p", "4711", "--end=1",
               status=1, timeout=20)
    assert "no server there" in done.stderr


CASES = [
    every_message_of_a_stream_arrives,
    what_arrives_of_datagrams_is_counted,
    sizes_may_be_added_and_buffers_listed,
    a_server_can_be_asked_again_and_again,
    nobody_is_there,
    bad_options_exit_2,
    strangers_get_a_reason_and_the_server_goes_on,
    a_killed_server_ends_those_it_serves,
    an_interrupt_ends_it,
    client_and_server_are_on_different_hosts,
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
