#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Programs that are linked in this way and that.

usage: order.py SOURCE-DIR BUILD-DIR COMPILER...
"""

import os
import shutil
import subprocess
import sys
import tempfile

CASES = []
SOURCE = BUILD = WORK = ''
CC = []


def case(f):
    CASES.append(f)
    return f


def link(name, *args, xti=False):
    """Compile alone.c with @args at the end.  The program's path."""
    libs = [WORK, *(os.path.join(BUILD, 'lib', d) for d in ('xti', 'streams'))]
    here = os.path.join(SOURCE, 'tests', 'linking')
    path = os.path.join(WORK, name)
    files = [os.path.join(here, 'alone.c')]
    if xti:
        files += ['-DWITH_XTI', os.path.join(here, 'ends.c')]
    subprocess.run(
        [*CC, '-w', '-D_GNU_SOURCE', f'-I{SOURCE}/include', *files, '-o', path,
         *(f'-L{d}' for d in libs), *(f'-Wl,-rpath,{d}' for d in libs), *args],
        check=True, timeout=60)
    return path


def run(*command, **env):
    return subprocess.run(command, env=dict(os.environ, **env), timeout=60,
                          capture_output=True, text=True, check=False)


def works(r):
    assert (r.returncode, r.stdout, r.stderr) == (0, 'hello\n', ''), r


def complains(r):
    assert '-lstreams' in r.stderr and 'LD_PRELOAD' in r.stderr, r


@case
def in_order_nothing_is_said():
    works(run(link('right', '-lstreams')))
    works(run(link('c', '-lstreams', '-lc')))


@case
def xti_alone_brings_all_that_is_needed():
    for name in ('xti', 'xnet', 'xnsl'):
        for needed in ('--as-needed', '--no-as-needed'):
            works(run(link(name, f'-Wl,{needed}', f'-l{name}', xti=True)))


@case
def behind_the_c_library_it_says_what_to_do():
    complains(run(link('wrong', '-Wl,--no-as-needed', '-lc', '-lstreams')))


@case
def preloading_mends_it():
    wrong = link('mended', '-Wl,--no-as-needed', '-lc', '-lstreams')
    lib = os.path.join(BUILD, 'lib/streams/libstreams.so.1')
    works(run(wrong, LD_PRELOAD=lib))
    works(run(link('none'), LD_PRELOAD=lib))


@case
def loaded_late_it_says_what_to_do():
    lib = os.path.join(BUILD, 'lib/streams/libstreams.so.1')
    complains(run(sys.executable, '-c',
                  f'import ctypes; ctypes.CDLL({lib!r})'))


def main(argv):
    global SOURCE, BUILD, CC, WORK      # pylint: disable=global-statement
    SOURCE, BUILD, *CC = argv[1:]
    bad = 0
    print(f'1..{len(CASES)}', flush=True)
    with tempfile.TemporaryDirectory(prefix='streams-order-') as WORK:
        for name in ('xti', 'xnet', 'xnsl'):    # as they are installed
            shutil.copy(os.path.join(SOURCE, 'lib/xti/libxti.ld'),
                        os.path.join(WORK, f'lib{name}.so'))
        for n, f in enumerate(CASES, 1):
            try:
                f()
                ok = 'ok'
            except (AssertionError, subprocess.SubprocessError) as e:
                print(f'# {type(e).__name__}: {e}')
                ok = 'not ok'
            bad += ok != 'ok'
            print(f'{ok} {n} - {f.__name__.replace("_", " ")}', flush=True)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
