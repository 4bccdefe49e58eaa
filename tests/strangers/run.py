#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Compile the programs of this folder as strangers do, and run them.

usage: run.py BUILD-DIR SOURCE-DIR PREFIX COMPILER...

Each with plain flags, with _FORTIFY_SOURCE, and with large files.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', 'modules'))
from run import Kit, Tap  # noqa: E402

FLAGS = {
    'plain': [],
    'fortified': ['-O2', '-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=2'],
    'large files': ['-O2', '-D_FILE_OFFSET_BITS=64'],
}


def main():
    build, source, prefix, *cc = sys.argv[1:]
    tap = Tap()
    top = tempfile.mkdtemp(prefix='streams-strangers-')
    print('TAP version 13')
    try:
        kit = Kit(build, source, prefix, cc, top)
        libs = kit.config('--cflags', '--libs', 'fast-streams')
        env = dict(kit.env, STREAMS_DOMAIN='private')
        here = os.path.join(source, 'tests', 'strangers')
        for path in sorted(glob.glob(os.path.join(here, '*.c'))):
            name = os.path.basename(path)[:-2]
            for how, flags in FLAGS.items():
                out = os.path.join(kit.work, name)
                kit.run(kit.cc + flags + ['-w', '-o', out, path] + libs)
                done = subprocess.run([out], env=env, capture_output=True,
                                      text=True, timeout=30)
                tap.case(done.returncode == 0, f'{name}, {how}',
                         done.stdout + done.stderr)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as e:
        tap.case(False, 'strangers can be built', str(e))
    finally:
        shutil.rmtree(top, ignore_errors=True)
    print(f'1..{tap.count}')
    sys.exit(tap.bad != 0)


if __name__ == '__main__':
    main()
