#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Does scripts/check.py count what happened?

usage: check_test.py CHECK.PY

A project with tests that end in every way is made and counted.
"""

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
    ('two cases', 'tap', 'print("1..2\\nok 1 - a\\nok 2 - b")',
     '2 passed, 0 failed'),
    ('one of three', 'tap',
     'print("TAP version 13\\nok 1 - a\\nnot ok 2 - b\\n# why\\n'
     'ok 3 - c # SKIP d\\n1..3"); sys.exit(1)',
     '1 passed, 1 failed, 1 skipped'),
    ('all skipped', 'tap', 'print("1..0 # SKIP none here")',
     '0 passed, 0 failed, 1 skipped'),
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


def run(check, build, *args):
    """check.py on some of the tests; (last line, status, all lines)."""
    r = subprocess.run([sys.executable, '-B', check, build, *args],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, check=False)
    lines = r.stdout.splitlines() or ['']
    return lines[-1], r.returncode, lines


def main(check):
    check = os.path.abspath(check)
    failed = 0
    print(f'1..{len(TESTS) + 2}')

    def report(n, name, ok, lines):
        nonlocal failed
        failed += not ok
        print(f'{"" if ok else "not "}ok {n} - {name}')
        for line in lines if not ok else []:
            print(f'# {line}')

    with tempfile.TemporaryDirectory(prefix='check-') as d:
        with open(os.path.join(d, 'meson.build'), 'w',
                  encoding='utf-8') as f:
            f.write("project('x')\npython = find_program('python3')\n")
            for i, (name, protocol, code, _) in enumerate(TESTS):
                with open(os.path.join(d, f't{i}.py'), 'w',
                          encoding='utf-8') as t:
                    t.write(f'import os, signal, sys\n{code}\n')
                f.write(f"test('{name}', python, args: files('t{i}.py'), "
                        f"protocol: '{protocol}', suite: 's{i}', "
                        f"timeout: {1 if name == 'hangs' else 30})\n")
        build = os.path.join(d, 'build')
        subprocess.run(['meson', 'setup', build, d], check=True,
                       stdout=subprocess.DEVNULL)
        for i, (name, _, _, want) in enumerate(TESTS):
            last, status, lines = run(check, build, '--suite', f's{i}')
            report(i + 1, f'counts a test that is: {name}', last == want and
                   (status != 0) == (', 0 failed' not in want), lines)
        last, status, lines = run(check, build)
        report(len(TESTS) + 1, 'adds up, and prints one such line',
               last == '9 passed, 9 failed, 3 skipped' and status == 1 and
               sum(' passed, ' in l and ' failed' in l for l in lines) == 1,
               lines)
        last, status, lines = run(check, build, '--suite', 'none')
        report(len(TESTS) + 2, 'takes nothing to run for a failure',
               last == '0 passed, 1 failed' and status == 1, lines)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
