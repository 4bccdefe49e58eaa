#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Does the harness report every kind of failure as one?

usage: self_test.py SAMPLE

It is not written with the harness, which could not be trusted to judge itself.
"""

import os
import re
import subprocess
import sys
import time

CASES = []


def case(function):
    """Register a test; its name is its docstring."""
    CASES.append(function)
    return function


def run(*args, **env):
    """Run the sample, one target unless the arguments say otherwise."""
    if not any(a.startswith('--') for a in args):
        args = ('--target=one', *args)
    full = {k: v for k, v in os.environ.items()
            if not k.startswith(('T_', 'MESON_'))}
    full.update(env)
    return subprocess.run([SAMPLE, *args], capture_output=True, text=True,
                          env=full, timeout=60, check=False)


def expect(condition, r):
    """Fail, with the output as the reason."""
    if not condition:
        raise AssertionError(f'status {r.returncode}\n{r.stdout}{r.stderr}')


def expect_failure(name, *words):
    """One case fails, and says all these words."""
    r = run(name, T_TIMEOUT_SCALE='1')
    expect(r.returncode == 1, r)
    expect(f'not ok 1 - one: {name.replace("_", " ")}\n' in r.stdout, r)
    expect('\n1..1\n' in r.stdout, r)
    for w in words:
        expect(w in r.stdout, r)


def alive(pid):
    """Is there such a process, and not a zombie?"""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
            return f.read().rpartition(') ')[2][0] != 'Z'
    except FileNotFoundError:
        return False


@case
def passing():
    """good checks pass"""
    r = run('good_checks_pass')
    expect(r.returncode == 0, r)
    expect(re.fullmatch(r'TAP version 13\n# T_SEED=\d+\n'
                        r'ok 1 - one: good checks pass\n1\.\.1\n',
                        r.stdout), r)


@case
def checks():
    """each check fails with file, line and values"""
    for name, words in {
            'bad_eq': ['40 + 1 == 42: 41 (0x29), 42 (0x2a)'],
            'bad_ne': ['42 != 42'],
            'bad_lt': ['2 < 1'],
            'bad_true': ['1 > 2 is false'],
            'bad_false': ['2 > 1 is true'],
            'bad_null': ['t is 0x'],
            'bad_notnull': ['NULL is'],
            'bad_str': ['is "left", not "right"'],
            'bad_mem': ['differs at byte 2 of 3: 0x63, not 0x64'],
            'bad_ok': ['close(-1) failed: EBADF'],
            'bad_err_value': ['is 1, not -1 with EBADF'],
            'bad_err_errno': ['EBADF, not EPIPE'],
            'bad_soon': ['0 is false after 5 ms'],
            'bad_within': ['0 is false after 3 pauses'],
            'bad_fail': ['said 7']}.items():
        expect_failure(name, 'sample.c:', *words)


@case
def crashes():
    """a crash, an early exit and a timeout are failures"""
    expect_failure('crash_by_signal', 'killed by SIGUSR1')
    expect_failure('crash_by_exit', 'exited with status 3')
    expect_failure('crash_by_early_exit', 'exited before its end')
    expect_failure('crash_by_timeout', 'not finished after 1 s')


@case
def children():
    """a check that fails in a child or a thread fails the case"""
    expect_failure('child_fails', '1 == 2')
    expect_failure('child_comes_back', 'came back')
    expect_failure('thread_fails', 'in a thread')
    expect_failure('fds_all_closed', '1 == 2')


@case
def skips():
    """a skip is reported with its reason, and is no failure"""
    r = run('skipped_for')
    expect(r.returncode == 0, r)
    expect('ok 1 - one: skipped for a reason # SKIP no reason\n' in r.stdout,
           r)
    r = run('skipped_for', 'good_checks')
    expect(r.returncode == 0, r)


@case
def descriptors():
    """a descriptor left open is a failure where that is checked"""
    expect_failure('fd_left_open', '/dev/null', 'was left open')
    r = run('fd_closed_again')
    expect(r.returncode == 0, r)


@case
def seeds():
    """a seed repeats, for one case alone too"""
    def shown(*args, **env):
        r = run(*args, **env)
        return re.search(r'rand is shown\n#   .*?: (\w+)\n', r.stdout)[1]

    assert shown('rand_is_shown', T_SEED='7') == \
        shown('rand_is_shown', 'bad_eq', T_SEED='7')
    assert shown('rand_is_shown', T_SEED='7') != \
        shown('rand_is_shown', T_SEED='8')
    r = run('bad_eq', T_SEED='7')
    expect('# T_SEED=7\n' in r.stdout, r)


@case
def processes():
    """no process is left, in whatever group or session"""
    r = run('processes_left')
    expect(r.returncode == 0, r)
    pids = re.findall(r'pid (\d+)', r.stderr)
    expect(len(pids) == 3, r)
    for pid in pids:
        expect(not alive(pid), r)


@case
def daemon():
    """streamsd of a domain with a name may end by itself"""
    for domain, ends in ('a-name', True), ('fd:9', False):
        r = run('streamsd_left', STREAMS_DOMAIN=domain)
        expect(r.returncode == 0, r)
        expect(('ended by itself' in r.stderr) == ends, r)


@case
def termination():
    """a runner that is told to stop takes its case along"""
    with subprocess.Popen([SAMPLE, '--target=one', 'waits_for_sigterm'],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as p:
        pid = re.search(r'pid (\d+)', p.stderr.readline())[1]
        p.terminate()
        out, _ = p.communicate(timeout=10)
        assert 'Bail out!' in out, out
        assert p.returncode == 1, p.returncode
    end = time.monotonic() + 5
    while alive(pid):
        assert time.monotonic() < end, 'the case is still there'
        time.sleep(0.001)


@case
def selection():
    """targets and filters select, and what does not exist is an error"""
    r = run('--list')
    expect('one: bad eq\n' in r.stdout and 'two: bad eq\n' in r.stdout, r)
    r = run('--target=two', 'bad eq')
    expect('two: bad eq' in r.stdout and 'one:' not in r.stdout, r)
    for args in (['--target=three'], ['no such case'], ['--what']):
        r = run(*args)
        expect(r.returncode == 2 and r.stderr, r)


def main():
    print(f'1..{len(CASES)}')
    failed = 0
    for i, function in enumerate(CASES, 1):
        name = ' '.join(function.__doc__.split())
        try:
            function()
            print(f'ok {i} - {name}', flush=True)
        except (AssertionError, subprocess.TimeoutExpired, TypeError) as e:
            failed += 1
            print(f'not ok {i} - {name}')
            for line in str(e).splitlines():
                print(f'# {line}')
    return 1 if failed else 0


SAMPLE = sys.argv[1]
sys.exit(main())
