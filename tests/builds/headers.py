#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Does each installed header compile before and behind each other one?

usage: headers.py INCLUDE-DIR CC [--all]

For each header there is a file that includes it first and all others behind
it, so that of each two headers each is included before the other in one file.
System headers are among them.  Every file is compiled as a module's and as a
program's; the dialects, C99 to C23, C++17 and C++20, take turns.  With --all,
every file is compiled in every dialect.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

SYSTEM = ['string.h', 'strings.h', 'stdlib.h', 'stdio.h', 'unistd.h',
          'sys/types.h', 'sys/param.h', 'limits.h', 'sys/sysmacros.h',
          'netinet/in.h', 'sys/ioctl.h', 'poll.h', 'stdbool.h', 'fcntl.h']
# A source is written to one of them.
EXCLUSIVE = [
    {'tiuser.h', 'xti.h'},              # #error says so
    {'tiuser.h', 'xti_inet.h'},
    {'sys/loop.h', 'sys/LiS/loop.h'},   # two drivers
]
SIDES = {'module': ['-D_KERNEL'], 'program': ['-D_STREAMS_PROGRAM']}
DIALECTS = ['c99', 'gnu11', 'c17', 'gnu2x', 'c++17', 'gnu++20']


def wrapper(path):
    """Is this header nothing but a guard around others?"""
    with open(path, encoding='utf-8') as f:
        text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
    return not [line for line in text.splitlines() if line.strip() and
                not re.match(r'\s*#\s*(ifndef _|define _\w+_H\b|endif|include)',
                             line)]


def installed(top):
    for folder, _, files in os.walk(top):
        for f in files:
            name = os.path.relpath(os.path.join(folder, f), top)
            if f.endswith('.h') and not name.startswith('str/'):
                yield name


def program(names, first):
    """All headers, beginning with @first; of two enemies the former."""
    taken = []
    for n in names[first:] + names[:first]:
        if not any(n in pair and pair & set(taken) for pair in EXCLUSIVE):
            taken.append(n)
    return ''.join(f'#include <{n}>\n' for n in taken) + 'extern int end;\n'


def main(argv):
    if len(argv) < 3:
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    top, every = argv[1], '--all' in argv
    cc = [a for a in argv[2:] if a != '--all']
    names = sorted(installed(top)) + SYSTEM
    heads = [i for i, n in enumerate(names)
             if n in SYSTEM or not wrapper(os.path.join(top, n))]
    dialects = [d for d in DIALECTS if 'c++' not in d and 'gnu++' not in d or
                shutil.which('c++')]
    todo = []
    for s, side in enumerate(SIDES):
        for turn, head in enumerate(heads):
            for d, dialect in enumerate(dialects):
                if every or (turn + 3 * s) % len(dialects) == d:
                    todo.append((side, head, dialect))

    def compile_one(job):
        side, head, dialect = job
        compiler = ['c++', '-xc++'] if '++' in dialect else [*cc, '-xc']
        r = subprocess.run(
            [*compiler, f'-std={dialect}', '-I', top, *SIDES[side],
             '-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-'],
            input=program(names, head), capture_output=True, text=True)
        if r.returncode == 0:
            return None
        errors = [x for x in r.stderr.splitlines() if 'error' in x]
        return f'{side}, {dialect}, {names[head]} first: ' + \
            ' / '.join((errors or r.stderr.splitlines())[:2])

    print(f'1..{len(SIDES)}')
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [w for w in pool.map(compile_one, todo) if w]
    for n, side in enumerate(SIDES, 1):
        bad = [w for w in wrong if w.startswith(side)]
        good = len(heads) > 60 and not bad
        print(f'{"" if good else "not "}ok {n} - headers in any order, '
              f'of a {side}: {len(names)} headers, '
              f'{sum(j[0] == side for j in todo)} files')
        for w in bad[:30]:
            print(f'# {w}')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
