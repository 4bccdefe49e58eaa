#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Install configuration files; those that a user has edited stay.

usage: install.py DATADIR (FILE TARGET)...

Meson runs it at the end of an installation.  A copy of each FILE goes to
DATADIR.  The copy of the last installation tells whether TARGET was edited.
Then FILE is installed as TARGET.new.

Meson does not record what a script installs, so this one does, in
meson-logs/install-conf.txt, for scripts/uninstall.py: the prefix, each
configuration file with its copy, and all paths.  Nor does Meson show what a
script prints, so `make install' prints the lines about edited files.
"""

import os
import sys


def read(path):
    """The bytes of a file; None where there is none."""
    try:
        with open(path, 'rb') as f:
            return f.read()
    except FileNotFoundError:
        return None


def write(path, data, log):
    """Make a file and its directories; log what is there then."""
    new, folder = [], os.path.dirname(path)
    while not os.path.isdir(folder):
        new.append(folder)
        folder = os.path.dirname(folder)
    for folder in reversed(new):
        os.mkdir(folder)
        os.chmod(folder, 0o755)
        log.append(folder)
    log.append(path)
    if read(path) != data:
        with open(path, 'wb') as f:
            f.write(data)
    os.chmod(path, 0o644)


def install(source, target, copy, log):
    data, there = read(source), read(target)
    log.append(f'# conf {target}\t{copy}')
    if there in (None, data, read(copy)):
        write(target, data, log)
    else:
        log.append(target)
        write(target + '.new', data, log)
        log.append(f'# edited: {target} stays; the new one is {target}.new')
    write(copy, data, log)


def main(argv):
    if len(argv) < 4 or len(argv) % 2:
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    prefix = os.environ['MESON_INSTALL_PREFIX']
    dest = os.environ.get('DESTDIR', '')

    def place(path):
        path = os.path.join(prefix, path)
        return os.path.join(dest, path.lstrip('/')) if dest else path

    log = [f'# prefix {prefix}']
    for source, target in zip(argv[2::2], argv[3::2]):
        install(source, place(target),
                place(os.path.join(argv[1], os.path.basename(target))), log)
    path = os.path.join(os.environ['MESON_BUILD_ROOT'], 'meson-logs',
                        'install-conf.txt')
    with open(path, 'w', encoding='utf-8') as f:
        f.write('\n'.join(log) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
