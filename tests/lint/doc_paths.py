#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""What the documents cite exists.

usage: doc_paths.py ROOT

The documents lead into the source by `path:name` and `path`.  Every path must
be a file or folder, every name a function, macro, structure or structure tag
of that file.  The first case shows that a wrong citation is noticed.
"""

import glob
import os
import re
import sys

CITED = re.compile(
    r'`((?:core|drv|host|include|lib|mod|models|tests|docs|bench|report|'
    r'scripts)/[\w./-]*)(?::(\w+)(?:\(\))?)?`')


def documents(root):
    return sorted(glob.glob(f'{root}/docs/*.md') +
                  glob.glob(f'{root}/*/README.md') + [f'{root}/CAVEATS.md'])


def defines(text, name):
    """Is @name defined in this file, not merely used?"""
    n = re.escape(name)
    return re.search(
        rf'^{n}\(|^#\s*define\s+{n}\b|^(?:struct|union|enum)\s+{n}\b[^;]*\{{|'
        rf'^ENTRY\({n}\)|^{n}:|^\s+{n}[,=\s]|^(?:proctype|inline)\s+{n}\b|'
        rf'^(?:static |STR_INLINE |extern )*[\w ]+\*?{n}(?:\[|;| =)|'
        rf'^T_CASE(?:_TIMEOUT)?\({n}\b|^def {n}\(', text, re.M) is not None


def check(root, where, text):
    """What is wrong with the citations in @text."""
    wrong = []
    for n, line in enumerate(text.splitlines(), 1):
        for path, name in CITED.findall(line):
            if 'NAME' in path:
                continue  # the reader's choice
            full = os.path.join(root, path)
            if not os.path.exists(full):
                wrong.append(f'{where}:{n}: {path}: there is no such file')
            elif name and os.path.isdir(full):
                wrong.append(f'{where}:{n}: {path}:{name}: a folder')
            elif name:
                with open(full, encoding='utf-8', errors='replace') as f:
                    if not defines(f.read(), name):
                        wrong.append(f'{where}:{n}: {path}:{name}: '
                                     'not defined there')
    return wrong


def main(argv):
    if len(argv) != 2:
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    root = argv[1]
    print('TAP version 13')
    names = documents(root)
    print(f'1..{len(names) + 1}')
    bad = check(root, 'x', '`core/core.h:no_such_function` and\n'
                           '`core/no_such_file.c`, `core/mem/mem.c:str_load`\n'
                           '`core/mem/mem.c:str_mem_alloc`\n')
    failed = len(bad) != 3
    print(f'{"not " if failed else ""}ok 1 - a wrong citation is noticed')
    for i, name in enumerate(names, 2):
        where = os.path.relpath(name, root)
        with open(name, encoding='utf-8') as f:
            wrong = check(root, where, f.read())
        print(f'{"not " if wrong else ""}ok {i} - what {where} cites exists')
        for line in wrong:
            print(f'# {line}')
        failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
