#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Run the commands of docs/strrun.md: they print what the document says.

In the document NNN stands for a number, and `...' at the end of a line for any
text.  A line that is `strrun: ...' stands for any number of such lines.

usage: tutorial.py STRRUN DOCUMENT
"""

import os
import re
import subprocess
import sys


def commands(path):
    """The commands of the document, with what they print."""
    found = []
    with open(path, encoding='utf-8') as f:
        for line in f:
            text = line.rstrip('\n')
            if text.startswith('    $ '):
                found.append((text[6:], []))
            elif text.startswith('    ') and found:
                found[-1][1].append(text[4:])
    return found


def pattern(lines):
    text = ''
    for line in lines:
        if line == 'strrun: ...':
            text += r'(strrun: [^\n]*\n)*'
            continue
        p = re.escape(line).replace('NNN', r'\d+')
        text += re.sub(r'(\\\.){3}$', '[^\n]*', p) + '\n'
    return text


def main(argv):
    strrun, document = argv[1:]
    env = dict(os.environ, LC_ALL='C', PATH=os.path.dirname(strrun) + ':' +
               os.environ['PATH'])
    cases = commands(document)
    bad = 0
    print(f'1..{len(cases)}')
    for n, (command, lines) in enumerate(cases, 1):
        done = subprocess.run(['sh', '-c', command], env=env, timeout=60,
                              capture_output=True, text=True, check=False)
        ok = re.fullmatch(pattern(lines), done.stdout) is not None
        if not ok:
            bad += 1
            print(f'# {done.stdout!r} {done.stderr!r}')
        print(f'{"ok" if ok else "not ok"} {n} - {command}'.replace('#', '\\#'))
    if not cases:
        print('Bail out! no commands')
    return 1 if bad or not cases else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
