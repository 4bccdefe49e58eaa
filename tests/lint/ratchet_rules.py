# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Counts that may only fall: their bounds are in ratchet.txt.

A commit that lowers a count lowers its bound, too.
"""

import functools
import os
import re

from lintlib import output, rule

BOUNDS = 'tests/lint/ratchet.txt'
LONG = 600 # lines of a C file

# The executive's folders, lowest first.  A folder calls those before it.
LAYERS = ['sync', 'mem', 'msg', 'sched', 'perim', 'queue', 'sock', 'ddi',
          'plumb', 'head', 'inspect', 'pipe']

# Sentences whose subject is not a thing with a name.
RIDDLE = re.compile(
    r'\b(?i:somebody|nobody|whoever|him|his|he)\b|'
    r'(^|[.;:(]\s)(\s*\*\s*)?[Ww]ho (is|has|was|dies|waits|sleeps|takes|'
    r'wants|reads|sends|writes|had|does|comes|goes|gets|finds|looks)\b')


def bound(tree, name):
    """What ratchet.txt says of a count; 0 when it says nothing."""
    if not os.path.exists(tree.path(BOUNDS)):
        return 0
    lines = [line.split() for line in tree.text(BOUNDS).splitlines()
             if not line.startswith('#')]
    return int(dict(lines).get(name, 0))


def ratchet(count):
    """Make a rule of a function that counts."""
    @functools.wraps(count)
    def judged(tree):
        n = count(tree)
        most = bound(tree, count.__name__)
        return [f'{count.__name__}: {n}, at most {most}'] if n > most else []
    judged.count = count
    return rule(judged)


def comments(text):
    """The lines of C that are in comments."""
    for m in re.finditer(r'/\*.*?\*/|//[^\n]*', text, flags=re.S):
        yield from m[0].splitlines()


@ratchet
def riddles_in_comments(tree):
    """comments have no more sentences without a named subject than before"""
    return sum(bool(RIDDLE.search(line))
               for name in tree.files('.c', '.h')
               for line in comments(tree.text(name)))


@ratchet
def riddles_in_documents(tree):
    """documents have no more sentences without a named subject than before"""
    pages = tree.files('.md') + [
        n for n in tree.files(under=('docs/man/',))
        if re.search(r'\.\d[a-z]*$', n)]
    return sum(bool(RIDDLE.search(line))
               for name in pages for line in tree.text(name).splitlines())


@ratchet
def long_files(tree):
    """no more C files have over 600 lines than before"""
    return sum(tree.text(n).count('\n') > LONG for n in tree.files('.c', '.h'))


def references(tree):
    """(folder, folder of the definition), for each name the executive uses."""
    where, wanted = {}, []
    for o in tree.objects('core'):
        for line in output('nm', '-A', '-P', o).splitlines():
            member, _, rest = line.rpartition(': ')
            folder = re.search(r'/core/(?:libcore\.a\.p/)?([a-z]+)[_/]\w+\.c\.o',
                               member)
            if folder is None:
                continue
            name, kind = rest.split()[:2]
            if kind in 'Uwv':
                wanted.append((folder[1], name))
            elif kind.isupper():
                where[name] = folder[1]
    return [(f, where[name]) for f, name in wanted if name in where]


@ratchet
def upward_calls(tree):
    """folders of the executive refer no more to those above than before"""
    rank = {f: i for i, f in enumerate(LAYERS)}
    return sum(rank[a] < rank[b] for a, b in references(tree))


@ratchet
def mutual_folders(tree):
    """no more folders of the executive refer to each other than before"""
    pairs = {(a, b) for a, b in references(tree) if a != b}
    return sum((b, a) in pairs for a, b in pairs) // 2
