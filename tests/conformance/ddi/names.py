#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Are the names that modules use in the headers, and only those that are said?

usage: names.py INCLUDE-DIR NAMES.TAB
"""

import glob
import re
import sys


def main():
    include, tab = sys.argv[1:]
    words, bad = set(), []
    for h in glob.glob(f'{include}/**/*.h', recursive=True):
        if not h.startswith(f'{include}/str/'):
            with open(h, encoding='utf-8') as f:
                text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
            words |= set(re.findall(r'\w+', text))
    why, n = None, 0
    print('TAP version 13')
    with open(tab, encoding='utf-8') as f:
        for line in f:
            if line.startswith('#') or not line.strip():
                continue
            if line.rstrip().endswith(':'):
                why = line.strip()[:-1]
                continue
            for name in line.split():
                n += 1
                ok = (name in words) == (why == 'here')
                said = 'is declared' if why == 'here' else f'is not: {why}'
                print(f'{"ok" if ok else "not ok"} {n} - {name} {said}')
                bad += [] if ok else [name]
    print(f'1..{n}')
    sys.exit(bool(bad))


main()
