#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Is musl refused when configuring, and in words?

usage: musl.py SOURCE-DIR
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

WORDS = ['needs the GNU C library', 'musl-gcc', 'musl is not supported']


def main(argv):
    if shutil.which('musl-gcc') is None:
        print('1..0 # SKIP no musl-gcc here')
        return 0
    with tempfile.TemporaryDirectory() as build:
        r = subprocess.run(
            ['meson', 'setup', build, argv[1]],
            env={**os.environ, 'CC': 'musl-gcc'}, capture_output=True,
            text=True, check=False)
    said = re.sub(r'\s+', ' ', r.stdout)
    missing = [w for w in WORDS if w not in said]
    good = r.returncode != 0 and not missing
    print('1..1')
    print(f'{"" if good else "not "}ok 1 - musl is refused, in words')
    if not good:
        print(f'# status {r.returncode}, not said: {missing}')
        for line in r.stdout.splitlines()[-8:]:
            print(f'# {line}')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv))
