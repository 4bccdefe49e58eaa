# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Rules that read the sources."""

import re

from lintlib import Skip, rule, search

CODE = ('.c', '.h', '.S')
SCRIPTS = ('.py', '.sh', 'meson.build', 'meson_options.txt', 'Makefile',
           '.ci/run', 'scripts/report-python')
OTHER = ('.map', '.def', '.pml', '.js', '.css')
MAN = tuple(f'.{n}' for n in '123456789')


def but(names, *folders):
    """The names that are not in these folders."""
    return [n for n in names if not n.startswith(folders)]


@rule
def one_host(tree):
    """only host/ knows which system it runs on"""
    return search(tree, but(tree.files(*CODE), 'host/'),
                  r'^\s*#\s*(el)?if.*\b(__KERNEL__|__linux__|linux)\b')


@rule
def one_thread_library(tree):
    """pthreads are the business of host/user, lib, tools, bench and tests"""
    return search(tree, but(tree.files(*CODE), 'host/user/', 'lib/', 'tools/',
                            'bench/', 'tests/'), r'\bpthread_')


@rule
def attributes_have_names(tree):
    """attributes are spelled out in annot.h and the installed headers only"""
    ours = [n for n in tree.files(*CODE)
            if not re.match(r'include/(?!str/)', n) and
            n not in ('include/str/annot.h', 'tests/harness/t.h')]
    return search(tree, ours, r'\b__attribute__\b')


@rule
def core_has_no_malloc(tree):
    """core/ and mod/ allocate from the region"""
    names = tree.files(*CODE, under=('core/', 'mod/', 'drv/'))
    if not names:
        raise Skip('no core yet')
    return search(tree, [n for n in names if not n.endswith('_test.c')],
                  r'\b(malloc|calloc|realloc|free|alloca)\s*\(')


@rule
def tests_do_not_sleep(tree):
    """tests wait for something, they do not sleep"""
    names = tree.files(*CODE, under=('tests/',)) + [
        n for n in tree.files('_test.c') if not n.startswith('tests/')]
    return search(tree, names, r'\b(u|nano|clock_nano)?sleep\s*\(')


# In two parts, or this file would be the first to fail.
UNFINISHED = '|'.join(('XX' r'X\b', 'TO' 'DO', 'FIX' 'ME', 'un' 'implemented',
                       'not ' 'implemented', 'place' 'holder'))
PRIVATE = '|'.join(('/wo' 'rk/', '/fa' 'rm/', '/ro' 'ot/'))


@rule
def nothing_unfinished(tree):
    """no source says that it is unfinished"""
    return search(tree, tree.files(*CODE, *SCRIPTS, *OTHER, *MAN),
                  rf'\b({UNFINISHED})', code_only=False)


@rule
def no_private_paths(tree):
    """no file names a place on somebody's machine"""
    return search(tree, tree.files(*CODE, *SCRIPTS, *OTHER, *MAN, '.md',
                                   '.txt', '.json', '.svg', '.html'),
                  rf'(?<![\w.])({PRIVATE})', code_only=False)


@rule
def licence_is_stated(tree):
    """each file starts with its licence and copyright"""
    wrong = []
    for name in tree.files(*CODE, *SCRIPTS, *OTHER, *MAN):
        head = '\n'.join(tree.text(name).splitlines()[:4])
        if not re.search(r'SPDX-License-Identifier: BSD-2-Clause\b', head):
            wrong.append(f'{name}: no SPDX line at its head')
        elif 'Copyright (c) 2026 The Fast-STREAMS authors' not in head:
            wrong.append(f'{name}: no copyright line at its head')
    return wrong


def has_test(tree, said):
    """Is it the name of a packet script, or of a case of a C program?"""
    script = re.fullmatch(r'`(tests/sctp/scripts/[\w-]+)`', said)
    if script:
        return script[1] in tree.files()
    test = re.fullmatch(r'`([\w./-]+):(\w+)`', said)
    return test is not None and test[1] in tree.files('_test.c') + \
        tree.files('.c', under=('tests/',)) and re.search(
            rf'^T_CASE(?:_TIMEOUT)?\({test[2]}\b', tree.text(test[1]), re.M)


@rule
def statements_have_tests(tree):
    """each statement of a standard has a test that exists, or a reason"""
    wrong, pages = [], tree.files('-conformance.md', under=('docs/',))
    if not pages:
        raise Skip('no page of statements')
    for name in pages:
        rows = 0
        for n, line in enumerate(tree.text(name).splitlines(), 1):
            cells = [c.strip() for c in line.strip('| ').split('|')]
            if len(cells) < 2 or \
                    not re.match(r'(MUST|SHOULD|MAY)\b', cells[1]):
                continue
            rows += 1
            said = cells[2] if len(cells) == 3 else ''
            if said.startswith('`'):
                if not has_test(tree, said):
                    wrong.append(f'{name}:{n}: {said} does not exist')
            elif not re.match(r'not held: \w', said):
                wrong.append(f'{name}:{n}: no test and no reason')
        if rows == 0:
            wrong.append(f'{name}: no statements')
    return wrong
