#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Does scripts/check.py count what happened?

usage: check_test.py CHECK.PY

A project with tests that end in every way is made and counted.
"""

import importlib
import json
import os
import subprocess
import sys
import tempfile

# Name, protocol, what the test does, what it counts for.
TESTS = [
    ('plain', 'exitcode', 'pass', '1 passed, 0 failed'),
    ('plain fails', 'exitcode', 'sys.exit(3)', '0 passed, 1 failed'),
    ('plain skips', 'exitcode', 'sys.exit(77)',
     '0 passed, 0 failed, 1 skipped'),
    ('plain crashes', 'exitcode', 'os.kill(os.getpid(), 11)',
     '0 passed, 1 failed'),
    ('plain is chatty', 'exitcode', 'print("ok: that went well")',
     '1 passed, 0 failed'),
    ('two cases', 'tap', 'print("1..2\\nok 1 - a\\nok 2 - b")',
     '2 passed, 0 failed'),
    ('one of three', 'tap',
     'print("TAP version 13\\nok 1 - a\\nnot ok 2 - b\\n# why\\n'
     'ok 3 - c # SKIP no wire\\n1..3"); sys.exit(1)',
     '1 passed, 1 failed, 1 skipped'),
    ('all skipped', 'tap', 'print("1..0 # SKIP none here")',
     '0 passed, 0 failed, 1 skipped'),
    ('skips for one reason', 'tap',
     'print("ok 1 - a # SKIP no wire\\nok 2 - b # SKIP no wire\\n1..2")',
     '0 passed, 0 failed, 2 skipped'),
    ('stops early', 'tap', 'print("1..3\\nok 1 - a"); sys.exit(0)',
     '1 passed, 1 failed'),
    ('has no plan', 'tap', 'print("ok 1 - a"); sys.exit(0)',
     '1 passed, 1 failed'),
    ('fails after all', 'tap', 'print("1..1\\nok 1 - a"); sys.exit(5)',
     '1 passed, 1 failed'),
    ('crashes', 'tap', 'print("1..2\\nok 1 - a", flush=True); '
     'os.kill(os.getpid(), 11)', '1 passed, 1 failed'),
    ('hangs', 'tap', 'print("1..2\\nok 1 - a", flush=True); '
     'signal.pause()', '1 passed, 1 failed'),
    ('says nothing', 'tap', 'sys.exit(0)', '0 passed, 1 failed'),
]


def make_project(d):
    """One Meson test per row, in a build directory that is returned."""
    with open(os.path.join(d, 'meson.build'), 'w', encoding='utf-8') as f:
        f.write("project('x')\npython = find_program('python3')\n")
        for i, (name, protocol, code, _) in enumerate(TESTS):
            with open(os.path.join(d, f't{i}.py'), 'w',
                      encoding='utf-8') as t:
                t.write(f'import os, signal, sys\n{code}\n')
            f.write(f"test('{name}', python, args: files('t{i}.py'), "
                    f"protocol: '{protocol}', "
                    f"timeout: {8 if name == 'hangs' else 60})\n")
    build = os.path.join(d, 'build')
    subprocess.run(['meson', 'setup', build, d], check=True,
                   stdout=subprocess.DEVNULL)
    return build


def run(program, build, *args):
    """What check.py prints, and its status."""
    r = subprocess.run([sys.executable, '-B', program, build, *args],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, check=False)
    return r.stdout.splitlines() or [''], r.returncode


def main(program):
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
    check = importlib.import_module('check')
    n = failed = 0

    def report(name, ok, lines):
        nonlocal n, failed
        n += 1
        failed += not ok
        print(f'{"" if ok else "not "}ok {n} - {name}')
        for line in lines if not ok else []:
            print(f'# {line}')

    print(f'1..{len(TESTS) + 3}')
    with tempfile.TemporaryDirectory(prefix='check-') as d:
        build = make_project(d)
        lines, status = run(program, build)
        with open(os.path.join(build, 'meson-logs', 'testlog.json'),
                  encoding='utf-8') as f:
            entries = {e['name']: e for e in map(json.loads, f)}
        for name, _, _, want in TESTS:
            got = check.count([entries[name]]).line()
            report(f'counts a test that is: {name}', got == want, [got])
        report('adds up, and prints one such line',
               lines[-1] == '10 passed, 9 failed, 5 skipped' and status == 1
               and sum(' passed, ' in l and ' failed' in l
                       for l in lines) == 1, lines)
        skips = [l for l in lines if l.startswith('skipped')]
        report('has one line for each reason, and failures behind them',
               skips == ['skipped 3: no wire (skips for one reason 2, '
                         'one of three 1)',
                         'skipped 1: no reason given (plain skips 1)',
                         'skipped 1: none here (all skipped 1)'] and
               lines.index(skips[-1]) < min(
                   i for i, l in enumerate(lines)
                   if l.startswith('FAILED')), skips)
        lines, status = run(program, build, '--suite', 'none')
        report('takes nothing to run for a failure',
               lines[-1] == '0 passed, 1 failed' and status == 1, lines)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
