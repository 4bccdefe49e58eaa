# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Rules about headers: each compiles alone."""

import os
import re
import shlex
import shutil
import subprocess

from lintlib import Skip, rule

# Commands, which may have arguments: CC='ccache gcc'.
CC = shlex.split(os.environ.get('CC', 'cc'))
CXX = shlex.split(os.environ.get('CXX', 'c++'))


def alone(tree, names, compiler, *flags):
    """
    Compile each header as the only content of a file, twice over: in ISO C a
    file that declares nothing is an error.
    """
    if shutil.which(compiler[0]) is None:
        raise Skip(f'no {compiler[0]}')
    if not names:
        raise Skip('no headers yet')
    wrong = []
    for name in names:
        path = re.sub(r'^include/', '', name)
        r = subprocess.run(
            [*compiler, *flags, '-Wall', '-Wextra', '-Werror', '-fsyntax-only',
             '-I' + tree.path('include'), '-'],
            input=f'#include <{path}>\n' * 2,
            capture_output=True, text=True, check=False)
        if r.returncode:
            wrong += [f'{name}: {l}' for l in r.stderr.splitlines()
                      if re.search('error', l)][:3] or [f'{name}: failed']
    return wrong


def installed(tree):
    return [n for n in tree.files('.h', under=('include/',))
            if not n.startswith('include/str/')]


@rule
def headers_stand_alone_in_c(tree):
    """each installed header compiles alone in C"""
    return alone(tree, installed(tree), CC,
                 '-xc', '-std=c99', '-pedantic-errors', '-D_GNU_SOURCE')


@rule
def headers_stand_alone_in_cxx(tree):
    """each installed header compiles alone in C++"""
    return alone(tree, installed(tree), CXX,
                 '-xc++', '-std=c++11')


@rule
def headers_stand_alone_in_old_dialects(tree):
    """each installed header compiles alone in C90 and C++98, pedantically"""
    strict = ('-pedantic', '-Wundef', '-Wno-long-long',
              '-Wno-variadic-macros')
    return (alone(tree, installed(tree), CC,
                  '-xc', '-std=c89', '-Wstrict-prototypes', *strict) +
            alone(tree, installed(tree), CXX,
                  '-xc++', '-std=c++98', *strict))


@rule
def private_headers_stand_alone(tree):
    """each private header compiles alone"""
    return alone(tree, tree.files('.h', under=('include/str/',)),
                 CC, '-xc', '-std=gnu11',
                 '-D_GNU_SOURCE', '-Wno-unused-function',
                 '-Wno-unused-parameter')


@rule
def installed_headers_are_public(tree):
    """an installed header does without the private ones"""
    wrong = []
    for name in installed(tree):
        r = subprocess.run(
            [*CC, '-M', '-xc', '-D_GNU_SOURCE',
             '-I' + tree.path('include'), tree.path(name)],
            capture_output=True, text=True, check=False)
        wrong += [f'{name}: includes {m}' for m in
                  re.findall(r'include/(str/\S+)', r.stdout)]
        if r.returncode:
            wrong.append(f'{name}: cannot be read')
    return wrong


@rule
def examples_compile(tree):
    """the programs shown in the documents compile"""
    compiler = CC
    wrong = []
    for name in tree.files('.md'):
        for block in re.findall(r'^```c\n(.*?)^```', tree.text(name),
                                re.S | re.M):
            if not block.startswith('#include'):
                continue
            r = subprocess.run(
                [*compiler, '-xc', '-std=gnu11', '-D_GNU_SOURCE', '-Wall',
                 '-Werror', '-fsyntax-only', '-I' + tree.path('include'),
                 '-I' + tree.path('tests/harness'), '-'],
                input=block, capture_output=True,
                text=True, check=False)
            if r.returncode:
                wrong += [f'{name}: {l}' for l in r.stderr.splitlines()
                          if 'error' in l][:3] or [f'{name}: failed']
    return wrong
