#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Take away what `make install' has put there.

usage: uninstall.py BUILD-DIR [PREFIX]

Meson's log has the files and the directories of the last installation only,
and a second installation finds the directories of the first one.  So `make
install' collects the logs, and all that they name goes; of directories those
that an installation has made and that are empty now.  With PREFIX only what
was installed there goes.

A configuration file that was edited stays: one that differs from the copy of
it that was installed beside it; see share/install.py.
"""

import filecmp
import os
import sys


def sections(path):
    """[(prefix, lines)] of a log; the prefix is None where it is not told."""
    found = [(None, [])]
    try:
        with open(path, encoding='utf-8') as f:
            for line in f:
                line = line.rstrip('\n')
                if line.startswith('# prefix '):
                    found.append((line[len('# prefix '):], []))
                found[-1][1].append(line)
    except FileNotFoundError:
        pass
    return found


def is_edited(target, copy):
    return os.path.isfile(target) and not (
        os.path.isfile(copy) and filecmp.cmp(target, copy, shallow=False))


def remove(paths, edited):
    """Return how many files have gone, and the directories that have not."""
    gone, kept = 0, []
    # What lies in a directory has a longer name than that.
    for path in sorted(paths, key=len, reverse=True):
        if path in edited:
            continue
        if os.path.isdir(path) and not os.path.islink(path):
            try:
                os.rmdir(path)
            except OSError:
                kept.append(path)
        elif os.path.lexists(path):
            os.unlink(path)
            gone += 1
    return gone, kept


def main(argv):
    if len(argv) not in (2, 3):
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    build, prefix = argv[1], os.path.normpath(argv[2]) if argv[2:] else None
    installed = os.path.join(build, 'installed.txt')
    last = [os.path.join(build, 'meson-logs', name)
            for name in ('install-conf.txt', 'install-log.txt')]
    logs = sections(installed)
    # the last installation, should `make' not have made it
    conf = sections(last[0])[-1]
    logs.append((conf[0], conf[1] + sections(last[1])[0][1]))
    stays = [s for s in logs if prefix not in (None, s[0])]
    lines = {line for s in logs if s not in stays for line in s[1]}
    paths = {line for line in lines if line[:1] != '#' and line}
    if not paths:
        print(f'Nothing was installed from here{" in " if prefix else ""}'
              f'{prefix or ""}.', file=sys.stderr)
        return 1
    confs = [line[len('# conf '):].split('\t') for line in lines
             if line.startswith('# conf ')]
    edited = {target for target, copy in confs if is_edited(target, copy)}
    gone, kept = remove(paths, edited)
    for path in (installed, *last):
        if os.path.exists(path):
            os.unlink(path)
    rest = [line for s in stays for line in s[1]]
    if rest:
        with open(installed, 'w', encoding='utf-8') as f:
            f.write('\n'.join(rest) + '\n')
    print(f'{gone} files removed')
    for path in sorted(edited):
        print(f'edited, and stays: {path}')
    for path in kept:
        print(f'not empty: {path}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
