#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Build and run examples/port as somebody else would.

usage: run.py BUILD-DIR SOURCE-DIR PREFIX COMPILER...

Installs the build below a directory of our own, copies the example away and
has its own Makefile build and run it.
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', 'modules'))
from run import Kit, Tap  # noqa: E402


def script(tap, name, command, env, cwd, timeout):
    """A case that is a command."""
    done = subprocess.run(command, env=env, cwd=cwd, timeout=timeout,
                          capture_output=True, text=True)
    tap.case(done.returncode == 0, name, done.stdout + done.stderr)


def main():
    build, source, prefix, *cc = sys.argv[1:]
    tap = Tap()
    top = tempfile.mkdtemp(prefix='streams-examples-')
    print('TAP version 13')
    try:
        kit = Kit(build, source, prefix, cc, top)
        env = dict(kit.env)
        bins = [d for d, _, files in os.walk(kit.root + prefix)
                if {'strtop', 'strsetup'} & set(files)]
        env['PATH'] = ':'.join(bins + [env['PATH']])
        work = os.path.join(top, 'port')
        shutil.copytree(os.path.join(source, 'examples', 'port'), work)
        os.chmod(work, 0o755)
        env['STREAMS_MODULE_PATH'] = work
        make = ['make', '-s', 'CC=' + ' '.join(cc)]
        script(tap, 'the example is built with pkg-config alone',
               make + ['CFLAGS=-O2 -Wall -Werror -Wno-unknown-warning-option'],
               env, work, 120)
        script(tap, 'module, driver, server and clients work, and survive',
               make + ['check'], env, work, 120)
        script(tap, 'a port is looked at with the tools',
               ['sh', os.path.join(source, 'tests', 'examples', 'look.sh')],
               env, work, 60)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as e:
        tap.case(False, 'the kit is complete', str(e))
    finally:
        shutil.rmtree(top, ignore_errors=True)
    print(f'1..{tap.count}')
    sys.exit(tap.bad != 0)


if __name__ == '__main__':
    main()
