# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Run all packet scripts of a folder, one case each.

usage: scripts.py RUNNER FOLDER [NAME ...]
"""

import os
import subprocess
import sys


def main(argv):
    runner, folder, *names = argv[1:]
    names = names or sorted(n for n in os.listdir(folder)
                            if not n.endswith(('.inc', '.md', '~')))
    failed = 0
    print(f'1..{len(names)}')
    for i, name in enumerate(names, 1):
        try:
            r = subprocess.run([runner, os.path.join(folder, name)],
                               stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.STDOUT, timeout=60)
            code, said = r.returncode, r.stdout
        except subprocess.TimeoutExpired:
            code, said = 1, 'it does not end'
        print(f'{"not " if code else ""}ok {i} - {name}')
        for line in said.splitlines():
            print('#', line.lstrip('# '))
        failed += code != 0
    return failed != 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
