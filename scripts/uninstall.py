#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Take away what `make install' has put there.

usage: uninstall.py BUILD-DIR

Meson's log has the files and the directories of the last installation only,
and a second installation finds the directories of the first one.  So `make
install' collects the logs, and all that they name goes; of directories those
that an installation has made and that are empty now.
"""

import os
import sys


def lines(path):
    """Of a log, without comments; none where there is no log."""
    try:
        with open(path, encoding='utf-8') as f:
            return [line.rstrip('\n') for line in f if line[0] != '#']
    except FileNotFoundError:
        return []


def main(argv):
    if len(argv) != 2:
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    logs = [os.path.join(argv[1], *name) for name in
            (('installed.txt',), ('meson-logs', 'install-log.txt'))]
    paths = {path for log in logs for path in lines(log)}
    if not paths:
        print('Nothing was installed from here.', file=sys.stderr)
        return 1
    gone, kept = 0, []
    # What lies in a directory has a longer name than that.
    for path in sorted(paths, key=len, reverse=True):
        if os.path.isdir(path) and not os.path.islink(path):
            try:
                os.rmdir(path)
            except OSError:
                kept.append(path)
        elif os.path.lexists(path):
            os.unlink(path)
            gone += 1
    for log in logs:
        if os.path.exists(log):
            os.unlink(log)
    print(f'{gone} files removed')
    for path in kept:
        print(f'not empty: {path}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
