# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Rules about the manual."""

import os
import re
import shutil
import subprocess

from lintlib import Skip, rule, without_comments
from object_rules import map_patterns


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


# An error's text, and what the description must have for it to be understood.
ABOVE = {
    'one of the states above': r'^Valid states',
    'flag is not one of those above': r'^\.Fa \S*flags?\b',
}


@rule
def pages_have_what_they_call_above(tree):
    """a page that says "above" of states or flags describes them"""
    return [f'{name}: "{words}", but there are none'
            for name in pages(tree) for words, needed in ABOVE.items()
            for head, found, _ in [tree.text(name).partition(words)]
            if found and not re.search(needed, head.partition(
                '\n.Sh DESCRIPTION')[2], re.M)]


@rule
def defaults_are_named(tree):
    """an option's default is called so: "3 by default", not "; 3." """
    return [f'{name}:{n}: "{line}": is that the default?'
            for name in pages(tree) if re.search(r'/man[18]/', name)
            for n, line in enumerate(tree.text(name).splitlines(), 1)
            if re.match(r'[^.].*; [\w.]+\.$', line)]


@rule
def differences_begin_alike(tree):
    """a difference from SVR4 begins with "Unlike in SVR4": CAVEATS.md"""
    return [f'{name}:{i}: {line}' for name in pages(tree)
            for i, line in enumerate(tree.text(name).splitlines(), 1)
            if re.search(r'(?<!nlike )(?<!s )\bin SVR4', line, re.I)]


def names_of(text):
    """What the section NAME of a page names."""
    m = re.search(r'^\.Sh NAME\n(.*?)^\.(?:Sh|Nd)', text, re.S | re.M)
    return re.findall(r'^\.Nm +(\S+)', m[1], re.M) if m else []


def named(tree, *sections):
    """Name -> page, of these sections of the manual."""
    return {n: page for page in pages(tree) for n in names_of(tree.text(page))
            if page.startswith(tuple(f'docs/man/man{s}/' for s in sections))}


@rule
def exports_have_pages(tree):
    """each function of the library has a page, each page its function"""
    have = named(tree, 2, 3)
    text = ''.join(tree.text(p) for p in pages(tree)
                   if p.endswith(('/libstreams.3', '/libstreams-sctp.3')))
    have.pop('libstreams', None)
    have.pop('libstreams-sctp', None)
    # Calls that have pages on every system share ours.
    for shared in re.findall(r'^\.Sh FUNCTIONS\n(.*?)^\.Sh', text,
                             re.S | re.M):
        for n in re.findall(r'^\.Ic (\w+)', shared, re.M):
            have.setdefault(n, 'libstreams.3')
    maps = tree.files('.map', under=('lib/',))
    if not maps:
        raise Skip('no library')
    ours = set()
    for m in maps:
        # What is for our own tools only has a version that says so.
        public = re.sub(r'\w+_PRIVATE\s*\{.*?\};', '',
                        without_comments(tree.text(m)), flags=re.S)
        ours |= {n for n in map_patterns(public) if n.isidentifier()}
    return [f'{n}: exported, without a page' for n in sorted(ours - set(have))
            ] + [f'{have[n]}: {n} is not exported'
                 for n in sorted(set(have) - ours)]


# Entry points, whose names each module chooses: open(9), close(9), ...
ENTRY = {'open', 'close', 'put', 'srv'}


@rule
def ddi_has_pages(tree):
    """each function of the DDI has a page, each page its function"""
    have = named(tree, 9)
    ddi, words = set(), set()
    for h in tree.files('.h', under=('include/',)):
        if h.startswith('include/str/'):
            continue
        text = without_comments(tree.text(h))
        words |= set(re.findall(r'\w+', text))
        words.add(h.rsplit('/', 1)[-1][:-2])
        ddi |= set(re.findall(r'\bSTR_DDI\((\w+)\)',
                              re.sub(r'^\s*#.*$', '', text, flags=re.M)))
    if not ddi:
        raise Skip('no DDI')
    return [f'{n}: no page in section 9' for n in sorted(ddi - set(have))] + [
        f'{have[n]}: {n} is in no header'
        for n in sorted(set(have) - words - ENTRY)]


# What the tests' library reads, and no other.
CRASH = 'host/user/crash.c'


def variables(tree):
    """The environment variables that the library and the tools read."""
    found = set()
    for name in tree.files('.c', under=('host/user/', 'lib/', 'tools/',
                                        'bench/')):
        if name == CRASH or '_test' in name:
            continue
        text = without_comments(tree.text(name))
        found |= set(re.findall(r'getenv\("(\w+)"', text))
        found |= set(re.findall(r'"(STREAMS_[A-Z]+)"', text))
    if os.path.exists(tree.path(CRASH)):
        found -= set(re.findall(r'"(\w+)"', tree.text(CRASH)))
    return found | {'LD_PRELOAD'}


@rule
def streams_names_everything(tree):
    """streams(7) names every environment variable and every page"""
    top = 'docs/man/man7/streams.7'
    if top not in pages(tree):
        raise Skip('no streams(7)')
    text = tree.text(top)
    have = set(re.findall(r'^\.It Ev (\S+)', text, re.M))
    linked = set(re.findall(r'^\.Xr (\S+) (\d)', text, re.M))
    ours = {tuple(os.path.basename(p).rsplit('.', 1)) for p in pages(tree)}
    return [f'{n}: read by the library or a tool, not in streams(7)'
            for n in sorted(variables(tree) - have)] + [
        f'{n}({s}): not in streams(7)'
        for n, s in sorted(ours - linked - {('streams', '7')})]
