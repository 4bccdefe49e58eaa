#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Does what `meson dist' packs configure, build and pass its unit tests?

usage: dist.py SOURCE-DIR BUILD-DIR WORK-DIR
"""

import glob
import os
import shutil
import subprocess
import sys

import variants


def main(argv):
    source, build, work = argv[1:]
    if not os.path.exists(os.path.join(source, '.git')):
        print('1..0 # SKIP not a clone of git')
        return 0
    top = os.path.join(work, 'dist')
    shutil.rmtree(top, ignore_errors=True)
    os.makedirs(top)
    # What is committed; what is not is another test's matter.
    subprocess.run(['meson', 'dist', '-C', build, '--no-tests',
                    '--allow-dirty', '--formats', 'gztar'],
                   check=True, stdout=subprocess.DEVNULL)
    packed = max(glob.glob(os.path.join(build, 'meson-dist', '*.tar.gz')),
                 key=os.path.getmtime)
    subprocess.run(['tar', '-C', top, '-xzf', packed], check=True)
    (name,) = os.listdir(top)
    status = variants.main(['', os.path.join(top, name), work, 'dist-build',
                            'gcc'])
    if status == 0:
        shutil.rmtree(top)
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv))
