#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Put measured results into README.md.

usage: readme-results.py RESULT.json [REPORT-DIR]

The table between the two marks of README.md is written anew; the chart, if the
report made from the same result is named, goes to docs/img.
"""

import glob
import math
import os
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'report'))
sys.dont_write_bytecode = True

from strreport import load, text  # noqa: E402

BEGIN, END = '<!-- results:begin -->', '<!-- results:end -->'
CHART = 'docs/img/pipe-performance.svg'
SIZES = (1, 64, 256, 1024, 4096, 16384)
# What is compared: ours, theirs, and the words for it.
PAIRS = (
    ('pipe-streams', 'pipe-linux', 'bytes: `write`/`read`', 'Linux pipe'),
    ('pipe-streams-msg', 'unix-seqpacket', 'records: `putmsg`/`getmsg`',
     'UNIX seqpacket'),
    ('pipe-streams-nullmod', 'pipe-linux', 'bytes, through a module',
     'Linux pipe'),
)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def millions(rate):
    return text.figures(rate / 1e6) if rate else text.NONE


def rates_table(data):
    """Rates of the two kinds of pipe by size, and their ratio."""
    modes = [m for m in data.modes('pipe')
             if data.rates('pipe', 'pipe-streams', m) and
             data.rates('pipe', 'pipe-linux', m)]
    if not modes:
        raise load.ReportError('the result compares no two kinds of pipe')
    yield '| million messages/s | ' + ' | '.join(
        f'{text.mode(m)}: STREAMS | Linux | ratio' for m in modes) + ' |'
    yield '|--:|' + '--:|--:|--:|' * len(modes)
    for size in SIZES:
        row = []
        for m in modes:
            ours = data.rates('pipe', 'pipe-streams', m).get(size)
            theirs = data.rates('pipe', 'pipe-linux', m).get(size)
            ratio = ours / theirs if ours and theirs else None
            row += [millions(ours), millions(theirs), text.factor(ratio)]
        if set(row) != {text.NONE}:
            yield f'| {size:,} bytes | ' + ' | '.join(row) + ' |'


def means_table(data):
    """Geometric means over all sizes, for each pair."""
    modes = data.modes('pipe')
    yield '| geometric mean over all sizes | against | ' + ' | '.join(
        text.mode(m) for m in modes) + ' |'
    yield '|---|---|' + '--:|' * len(modes)
    for ours, theirs, what, against in PAIRS:
        row = []
        for m in modes:
            a = data.rates('pipe', ours, m)
            b = data.rates('pipe', theirs, m)
            both = [a[s] / b[s] for s in a if s in b]
            row.append(text.factor(geometric_mean(both)) + ' times'
                       if both else text.NONE)
        if set(row) != {text.NONE}:
            yield f'| {what} | {against} | ' + ' | '.join(row) + ' |'


def round_trips(data):
    """Median round trips of one byte, as a sentence for each mode."""
    for mode in data.modes('rtt'):
        found = {r.implementation: r.p50 for r in data.suite('rtt')
                 if r.mode == mode and r.size == 1 and r.p50 and
                 r.state in (None, 'warm')}
        if {'pipe-streams', 'pipe-linux'} <= found.keys():
            yield (f'A byte there and back, {text.mode(mode)}: '
                   f'{text.ns(found["pipe-streams"])}; '
                   f'Linux pipe {text.ns(found["pipe-linux"])}.')


def machine_line(machine):
    facts = [str(machine[k]) for k in ('cpu_model', 'kernel', 'build_id')
             if machine.get(k)]
    return 'Measured with `make bench`' + (
        ' on ' + ', '.join(facts) if facts else '') + '.'


def main(argv):
    if len(argv) not in (2, 3):
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    try:
        data = load.load([argv[1]])
        lines = [*rates_table(data), '', *means_table(data), '',
                 *round_trips(data), machine_line(data.machine)]
    except load.ReportError as e:
        print(f'{argv[0]}: {e}', file=sys.stderr)
        return 1
    if len(argv) == 3:
        charts = glob.glob(os.path.join(argv[2], '**',
                                        'performance-split.svg'),
                           recursive=True)
        if not charts:
            print(f'{argv[0]}: no performance-split.svg in {argv[2]}',
                  file=sys.stderr)
            return 1
        os.makedirs(os.path.join(ROOT, os.path.dirname(CHART)), exist_ok=True)
        shutil.copyfile(charts[0], os.path.join(ROOT, CHART))
    readme = os.path.join(ROOT, 'README.md')
    with open(readme, encoding='utf-8') as f:
        before, mark, rest = f.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        print(f'{argv[0]}: README.md has lost its marks', file=sys.stderr)
        return 1
    with open(readme, 'w', encoding='utf-8') as f:
        f.write(before + BEGIN + '\n' + '\n'.join(lines) + '\n' + END + after)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
