#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Under which names the manual is installed.

usage: pages.py MAN-DIR

Writes a line for each page, its path below MAN-DIR and the name it gets, and
a line "= NAME PAGE" for each further name that the page documents.  Sections
but those of commands get "str" behind their number: getmsg(2), loop(4),
netconfig(5) and others are on a Linux system already.
"""

import os
import re
import sys

COMMANDS = '18'


def names_of(text):
    """What the section NAME of a page names."""
    m = re.search(r'^\.Sh NAME\n(.*?)^\.(?:Sh|Nd)', text, re.S | re.M)
    return re.findall(r'^\.Nm +(\S+)', m[1], re.M) if m else []


def main(argv):
    if len(argv) != 2:
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    pages = []
    for folder, dirs, files in sorted(os.walk(argv[1])):
        dirs.sort()
        for f in sorted(files):
            if re.search(r'\.[1-9]$', f):
                pages.append((os.path.relpath(folder, argv[1]), f))
    taken = {(d, f) for d, f in pages}
    for d, f in pages:
        end = f[-1] + ('' if f[-1] in COMMANDS else 'str')
        print(f'{d}/{f} {f[:-1]}{end}')
        with open(os.path.join(argv[1], d, f), encoding='utf-8') as page:
            names = names_of(page.read())
        for n in names:
            if (d, f'{n}.{f[-1]}') not in taken:
                taken.add((d, f'{n}.{f[-1]}'))
                print(f'= {d}/{n}.{end} {f[:-1]}{end}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
