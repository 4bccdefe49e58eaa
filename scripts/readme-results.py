#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Put measured results into README.md.

usage: readme-results.py RESULT.json [README]

The table between the two marks is written anew, and so are the figure of pipes
before it and the chart below it, docs/img/pipe-performance.svg beside the
README.  What they look like is decided in report/strreport/readme.py.
"""

import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN, END = '<!-- results:begin -->', '<!-- results:end -->'


def machine_line(result):
    with open(result, encoding='utf-8') as f:
        machine = json.load(f).get('machine', {})
    virtual = machine.get('virtualization') not in (None, 'none')
    facts = [before + str(machine[k]) + after for before, k, after in (
        ('', 'cpu_model', ' (a virtual machine)' if virtual else ''),
        ('Linux ', 'kernel', ''), ('build ', 'build_id', ''))
             if machine.get(k)]
    return 'Measured with `make bench`' + (
        ' on ' + ', '.join(facts) if facts else '') + '.'


def main(argv):
    if len(argv) not in (2, 3):
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    result = os.path.abspath(argv[1])
    readme = os.path.abspath(argv[2] if len(argv) == 3 else
                             os.path.join(ROOT, 'README.md'))
    with open(readme, encoding='utf-8') as f:
        before, mark, rest = f.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        print(f'{argv[0]}: {readme} has lost its marks', file=sys.stderr)
        return 1
    chart = os.path.join(os.path.dirname(readme), 'docs', 'img',
                         'pipe-performance.svg')
    os.makedirs(os.path.dirname(chart), exist_ok=True)
    r = subprocess.run(
        [os.path.join(ROOT, 'scripts', 'report-python'), '-B', '-m',
         'strreport.readme', result, '--svg', chart],
        stdout=subprocess.PIPE, text=True, check=False,
        env=dict(os.environ, PYTHONPATH=os.path.join(ROOT, 'report')))
    if r.returncode:
        return r.returncode
    pipes = re.search(r'\*\*([\d.]+)\*\* times as many', r.stdout)
    if pipes:
        before = re.sub(r'(passes )[\d.]+(\s+times as many)',
                        rf'\g<1>{float(pipes[1]):.0f}\2', before)
    with open(readme, 'w', encoding='utf-8') as f:
        f.write(f'{before}{BEGIN}\n{r.stdout.rstrip()}\n\n'
                f'{machine_line(result)}\n{END}{after}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
