# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The rule that compares a table of a test with what the library exports."""

import re

from lintlib import Skip, rule, without_comments
from object_rules import map_patterns

MAP = 'lib/streams/libstreams.base.map'
TEST = 'tests/conformance/posix/pointers.c'


def takes_pointer(name, code):
    """Does function @name, defined in @code, take one?  If unknown, it does."""
    params = re.findall(rf'\b{name}\s*\(([^;{{}}]*?)\)\s*\{{', code)
    # by a macro that has the name and the parameters as arguments
    params += re.findall(rf'\b{name},(?:\s*\w+,)?\s*\(([^()]*)\)', code)
    return not params or any(re.search(r'\*|\[|\.\.\.', p) for p in params)


@rule
def pointers_are_tried(tree):
    """calls of the C library's that take a pointer are tried with bad ones"""
    if not {MAP, TEST} <= set(tree.files('.map', '.c')):
        raise Skip('no map, or no test')
    calls = map_patterns(tree.text(MAP))
    code = '\n'.join(without_comments(tree.text(n), strings=True)
                     for n in tree.files('.c', under=('lib/streams/',)))
    test = without_comments(tree.text(TEST))
    tried = set(re.findall(r'\{ [FRE]\(\w+, (\w+)', test))
    apart = re.search(r'\bapart\[\] = \{(.*?)\n\};', test, re.S)
    names = r'\{ ((?:"[^"]*"\s*)+),'
    for names in re.findall(names, apart[1]) if apart else []:
        tried.update(re.findall(r'\w+', names))
    return [f'{TEST}: {n} takes a pointer and is not in the table'
            for n in calls if n not in tried and takes_pointer(n, code)] + [
            f'{TEST}: {n} is not in {MAP}'
            for n in sorted(tried - set(calls))]
