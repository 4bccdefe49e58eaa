#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Build everything in another way, without a warning, and run the unit tests.

usage: variants.py SOURCE-DIR WORK-DIR NAME COMPILER [option of meson setup...]

COMPILER is a command, or a family and a number, such as gcc-11.  The build is
below WORK-DIR and is removed when the test passes.  The unit tests are the
suites unit, host, lib and ddi.
"""

import os
import shutil
import subprocess
import sys

SUITES = ['unit', 'host', 'lib', 'ddi']


def last(text, lines=25):
    for line in text.splitlines()[-lines:]:
        print(f'# {line}')


def run(*command, **more):
    r = subprocess.run(command, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, errors='replace',
                       check=False, **more)
    return r.returncode, r.stdout


def main(argv):
    if len(argv) < 5:
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    source, work, name, compiler, *options = argv[1:]
    if shutil.which(compiler) is None:
        print(f'1..0 # SKIP no {compiler} here')
        return 0
    build = os.path.join(work, name)
    shutil.rmtree(build, ignore_errors=True)
    ccache = 'ccache ' if shutil.which('ccache') else ''
    env = {**os.environ, 'CC': ccache + compiler, 'MAKEFLAGS': ''}
    env.pop('CFLAGS', None)

    print('1..2')
    status, text = run('meson', 'setup', '-Dwerror=true', *options, build,
                       source, env=env)
    if status == 0:
        # All of it, for the other warnings.
        status, text = run('ninja', '-C', build, '-k', '0', 'all',
            'meson-test-prereq')
        warned = [x for x in text.splitlines() if 'warning:' in x]
        status = status or len(warned)
        text = '\n'.join([x for x in text.splitlines() if 'error' in x] +
                         warned or text.splitlines())
    print(f'{"not " if status else ""}ok 1 - {name}: builds without a warning')
    if status:
        last(text)
        print('not ok 2 - the unit tests pass')
        return 1
    suites = [x for s in SUITES for x in ('--suite', s)]
    # Without the optimizer, time is no question, as under the sanitizers.
    status, text = run('meson', 'test', '-C', build, '--no-rebuild', '-t', '5',
                       '--print-errorlogs', *suites,
                       env={**os.environ, 'T_TIMEOUT_SCALE': '5'})
    ran = [int(x.split()[-1]) for x in text.splitlines()
           if x.startswith('Ok:')]
    good = status == 0 and ran and ran[0] > 50
    print(f'{"" if good else "not "}ok 2 - {name}: the unit tests pass '
          f'({ran[0] if ran else 0} programs)')
    if not good:
        last(text, 60)
        return 1
    shutil.rmtree(build)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
