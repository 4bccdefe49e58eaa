#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Does the other compiler take the sources, and plain char without a sign?

usage: compilers.py BUILD-DIR CC...

Each source of the libraries, the tools and the benchmark is compiled again,
with the options of this build, by gcc where the build is clang's and by clang
where it is gcc's.  Only the front end runs.  Plain char has no sign there, as
on ARM.  A warning is a failure.

clang's front end takes many sources in one process, which saves two thirds of
the time: most of it is the start of a process.
"""

import collections
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

INSTALLED = re.compile(
    r'(core/libcore\.a|host/user/libhost_user\.a|(mod|drv)/lib\w+\.a|'
    r'lib/(streams|xti)/lib\w+\.so[.\d]*|tools/|bench/)')
# Options of the compiler that the build has chosen, unknown to the other one.
UNKNOWN = {'clang': ['-Wno-unknown-warning-option'], 'gcc': []}
# What is given to a compiler only after it was asked, and stays with it.
ASKED = ('-malign-data=',)
BATCH = 40      # sources of one process


def other(command):
    """The family that the build does not use, and its newest compiler."""
    version = subprocess.run([*command, '--version'], capture_output=True,
                             text=True, check=True).stdout
    family = 'gcc' if 'clang' in version else 'clang'
    names = [family] + [f'{family}-{n}' for n in range(30, 11, -1)]
    return family, next((n for n in names if shutil.which(n)), None)


def sources(build):
    """(directory, file, options) of each source that is installed, once."""
    with open(os.path.join(build, 'compile_commands.json'),
              encoding='utf-8') as f:
        entries = json.load(f)
    seen = set()
    for e in entries:
        if e['file'] in seen or not e['file'].endswith('.c') or \
                not INSTALLED.match(e['output']):
            continue
        seen.add(e['file'])
        words = iter(shlex.split(e['command']))
        options = []
        for w in words:
            if w in ('-o', '-MF', '-MQ'):
                next(words)
            elif 'color' in w or w.startswith(ASKED):
                continue
            elif w.startswith(('-D', '-U', '-I', '-std', '-W', '-f', '-m',
                               '-nostdinc', '-O', '-include', '-pthread')):
                options.append(w)
            elif w == '-idirafter':
                next(words)     # the other compiler has its own
        yield e['directory'], e['file'], options


def own_headers(compiler):
    """Where a compiler has its <stddef.h>."""
    out = subprocess.run([compiler, '-print-file-name=include'],
                         capture_output=True, text=True, check=True).stdout
    return out.strip()


def front_end(command, directory):
    """clang's command for one source, as its front end's without a source."""
    out = subprocess.run([*command, '-###'], cwd=directory, check=True,
                         capture_output=True, text=True).stderr
    line = next(x for x in out.splitlines() if '"-cc1"' in x)
    return [w for w in shlex.split(line) if w != command[-1]]


def main(argv):
    if len(argv) < 3:
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    print('1..1')
    family, compiler = other(argv[2:])
    name = f'{family} takes what is installed, with a char that has no sign'
    if compiler is None:
        print(f'ok 1 - {name} # SKIP no {family} here')
        return 0
    own = own_headers(compiler)

    alike = collections.defaultdict(list)
    count = 0
    for directory, path, options in sources(argv[1]):
        alike[directory, tuple(options)].append(path)
        count += 1
    most = BATCH if family == 'clang' else 1
    todo = [(directory, options, paths[i:i + most])
            for (directory, options), paths in alike.items()
            for i in range(0, len(paths), most)]

    def compile_some(job):
        directory, options, paths = job
        command = [compiler, *options, *UNKNOWN[family], '-idirafter', own,
                   '-fsyntax-only', '-funsigned-char', '-Werror', paths[0]]
        if len(paths) > 1:
            command = front_end(command, directory) + paths
        r = subprocess.run(command, cwd=directory, capture_output=True,
                           text=True)
        return r.stderr if r.returncode else ''

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [w for w in pool.map(compile_some, todo) if w]
    good = count > 150 and not wrong
    print(f'{"" if good else "not "}ok 1 - {name}')
    print(f'# {compiler}: {count} sources in {len(todo)} batches, '
          f'{len(wrong)} refused')
    for text in wrong[:10]:
        for line in text.splitlines()[:12]:
            print(f'# {line}')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv))
