#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Print the ERRORS sections of manual pages from errno.def.

usage: errno-sections.py [--list] [CALL ...]

For each CALL (all of them if none is given): an mdoc list, errors in
alphabetical order, reasons in the order of the table, each reason once.  An
error that a module may choose is shown as "any".  --list prints the calls.
"""

import pathlib
import re
import sys

TABLE = pathlib.Path(__file__).with_name("errno.def")
ROW = re.compile(r'^E\((\w+), (\w+), \w+, \w+,\n(.*?)\n\t"([^"\n]+)"\)$',
                 re.M | re.S)


def rows(text):
    """Yield (call, errno, reason); fail on a row that does not parse."""
    found = ROW.findall(text)
    starts = len(re.findall(r'^E\(', text, re.M))
    if len(found) != starts:
        sys.exit(f'{TABLE.name}: {starts - len(found)} rows do not parse')
    for call, err, _, reason in found:
        if reason.startswith('any: '):
            err, reason = 'any', reason[5:]
        yield call, err, reason


def section(call, table):
    out = ['.\\" ' + call, '.Bl -tag -width Er']
    for err in sorted(table, key=lambda e: (e == 'any', e)):
        out.append('.It Bq ' + ('any' if err == 'any' else 'Er ' + err))
        out.extend(table[err])
    out.append('.El')
    return '\n'.join(out)


def main(args):
    calls = {}
    for call, err, reason in rows(TABLE.read_text()):
        reasons = calls.setdefault(call, {}).setdefault(err, [])
        if reason not in reasons:
            reasons.append(reason)
    if args == ['--list']:
        print('\n'.join(calls))
        return 0
    for call in args or calls:
        if call not in calls:
            sys.exit(f'{call}: not in {TABLE.name}')
        print(section(call, calls[call]))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
