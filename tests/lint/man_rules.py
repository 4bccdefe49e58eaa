# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Rules about the manual."""

import re
import shutil
import subprocess

from lintlib import Skip, rule


def pages(tree):
    names = [n for n in tree.files(under=('docs/man/',))
             if re.search(r'\.[1-9][a-z]*$', n)]
    if not names:
        raise Skip('no pages yet')
    return names


@rule
def pages_are_clean(tree):
    """mandoc finds nothing wrong with a page"""
    names = pages(tree)
    if shutil.which('mandoc') is None:
        raise Skip('no mandoc')
    wrong = []
    for name in names:
        r = subprocess.run(['mandoc', '-T', 'lint', '-W', 'warning', name],
                           cwd=tree.root, capture_output=True, text=True,
                           check=False)
        wrong += r.stdout.splitlines()
        if r.returncode and not r.stdout:
            wrong.append(f'{name}: mandoc ended with {r.returncode}')
    return wrong


@rule
def pages_are_where_they_say(tree):
    """a page lies in the folder of its section"""
    wrong = []
    for name in pages(tree):
        section = re.search(r'\.([1-9])[a-z]*$', name)[1]
        if not name.startswith(f'docs/man/man{section}/'):
            wrong.append(f'{name}: not in docs/man/man{section}')
        m = re.search(r'^\.Dt \S+ (\S+)', tree.text(name), re.M)
        if not m or m[1][0] != section:
            wrong.append(f'{name}: .Dt says {m[1] if m else "nothing"}')
    return wrong
