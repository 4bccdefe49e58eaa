#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Run the tests of a build directory and count their cases.

usage: check.py BUILD-DIR [arguments of meson test]

Meson counts programs; one of ours has many cases, so we read the TAP each
program wrote.  A program that crashed, ran out of time or stopped before its
plan was fulfilled is one failure more.  Skipped cases are one line for each
reason, and failures come behind them.  The last line is always
"N passed, N failed", with ", N skipped" when there were any.
"""

import collections
import json
import os
import re
import subprocess
import sys

CASE = re.compile(r'(not )?ok(?!\S)(?:\s+\d+)?\s*(?:-\s*)?([^#]*)(?:#\s*(.*))?$')
PLAN = re.compile(r'1\.\.(\d+)\s*(?:#\s*skip\w*\s*(.*))?$', re.I)

PROGRAMS = 4    # that a line of skips names


class Tally:
    """What a set of cases came to."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.skips = []

    def fail(self, name, lines):
        self.failed += 1
        self.failures.append((name, lines))

    def skip(self, name, reason):
        self.skipped += 1
        self.skips.append((name, reason.strip()))

    def line(self):
        tail = f', {self.skipped} skipped' if self.skipped else ''
        return f'{self.passed} passed, {self.failed} failed{tail}'


def is_tap(out):
    """Does this output hold a plan or a case?"""
    return any(PLAN.match(l) or CASE.match(l) for l in out.splitlines())


def count_tap(tally, test):
    """Count the cases of one TAP program; returns nothing."""
    program = test['name']
    seen = bad = 0
    plan = None
    diagnosis = None
    for line in test['stdout'].splitlines():
        if m := PLAN.match(line):
            plan = int(m[1])
            if plan == 0:
                tally.skip(program, m[2] or '')
        elif m := CASE.match(line):
            seen += 1
            diagnosis = None
            name = f'{program}: {m[2].strip()}'
            directive = (m[3] or '').strip()
            if m[1] is None and directive.lower().startswith('skip'):
                tally.skip(name, re.sub(r'^skip\w*', '', directive,
                                        flags=re.I))
            elif m[1] is None:
                tally.passed += 1
            else:
                bad += 1
                diagnosis = []
                tally.fail(name, diagnosis)
        elif diagnosis is not None and line.startswith('#'):
            diagnosis.append(line.lstrip('# '))
        elif line.startswith('Bail out!'):
            plan = None
    if bad and test.get('stderr'):
        tally.failures[-1][1].extend(test['stderr'].splitlines()[-40:])
    code = test['returncode']
    if plan is None or (plan > 0 and seen != plan) or (code and not bad):
        tally.fail(program, [f'{test["result"]}, status {code}, '
                             f'{seen} of {plan or "?"} cases seen'] +
                   tail(test))


def tail(test):
    """The end of what a program wrote."""
    return ((test['stdout'] or '') + (test.get('stderr') or '')) \
        .splitlines()[-20:]


def count(tests):
    """Tally decoded entries of Meson's testlog.json."""
    tally = Tally()
    for test in tests:
        test['stdout'] = test.get('stdout') or ''
        result = test['result']
        if result == 'SKIP' and test['returncode'] == 77 and \
                not is_tap(test['stdout']):
            tally.skip(test['name'], '')
        elif is_tap(test['stdout']):
            count_tap(tally, test)
        elif result in ('OK', 'EXPECTEDFAIL'):
            tally.passed += 1
        else:
            tally.fail(test['name'], [f'{result}, status '
                                      f'{test["returncode"]}'] + tail(test))
    return tally


def skips_by_reason(tally):
    """A line for each reason: how many cases, and of which programs."""
    reasons = collections.defaultdict(collections.Counter)
    for name, reason in tally.skips:
        reasons[reason or 'no reason given'][name.split(': ')[0]] += 1
    rows = sorted(reasons.items(),
                  key=lambda row: (-row[1].total(), row[0]))
    for reason, programs in rows:
        most = [f'{p} {n}' for p, n in programs.most_common(PROGRAMS)]
        if len(programs) > PROGRAMS:
            most.append(f'{len(programs) - PROGRAMS} more')
        yield f'skipped {programs.total()}: {reason} ({", ".join(most)})'


def main(argv):
    if len(argv) < 2:
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    build = argv[1]
    log = os.path.join(build, 'meson-logs', 'testlog.json')
    if os.path.exists(log):
        os.unlink(log)
    env = dict(os.environ)
    for i, arg in enumerate(argv[:-1]):
        if arg == '-t':
            env.setdefault('T_TIMEOUT_SCALE', argv[i + 1])
    status = subprocess.call(
        ['meson', 'test', '-C', build, '--no-rebuild', *argv[2:]], env=env)
    tests = []
    if os.path.exists(log):
        with open(log, encoding='utf-8') as f:
            tests = [json.loads(line) for line in f]
    tally = count(tests)
    if not tests:
        tally.fail('meson test', [f'status {status}, and no test ran'])
    elif status and not tally.failed:
        tally.fail('meson test', [f'status {status}'])
    for line in skips_by_reason(tally):
        print(line)
    for name, lines in tally.failures:
        print(f'FAILED: {name}')
        for line in lines:
            print(f'    {line}')
    print(tally.line(), flush=True)
    return 1 if tally.failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
