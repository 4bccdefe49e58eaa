# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Rules that hold documents and the tree to each other."""

import fnmatch
import re

from lintlib import Skip, rule
from ratchet_rules import comments

LEGEND = 'docs/locking.md'
HOST, PORTING = 'include/str/host.h', 'docs/host-porting.md'
OURS = r'(?:str|host|strm|STR|HOST|T)_\w+'


def style(tree):
    """The text of STYLE.md."""
    if 'STYLE.md' not in tree.files('.md'):
        raise Skip('no STYLE.md')
    return tree.text('STYLE.md')


@rule
def style_names_what_exists(tree):
    """each name and file that STYLE.md mentions is in the tree"""
    spans = re.findall(r'`([^`\n]+)`', style(tree))
    words = set()
    for name in tree.files('.c', '.h', '.map', '.S'):
        words |= set(re.findall(r'\w+', tree.text(name)))
    files = set(tree.files())
    wrong = []
    for span in spans:
        if re.search(r'[*<]', span):
            continue  # a pattern
        wrong += [f'STYLE.md: {n} is nowhere' for n in
                  re.findall(rf'\b{OURS}', span) if n not in words]
        if re.fullmatch(r'[\w./-]+\.[a-z]+', span) and not any(
                f == span or f.endswith('/' + span) for f in files):
            wrong.append(f'STYLE.md: {span}: there is no such file')
        elif re.fullmatch(r'[\w-]+(?:/[\w.-]+)*/?', span) and '/' in span \
                and not any(f.startswith(span) for f in files):
            wrong.append(f'STYLE.md: {span}: there is no such folder')
    return wrong


@rule
def drivers_include_what_style_says(tree):
    """a private header that modules and drivers include is in STYLE.md"""
    row = re.search(r'^\| `mod/`, `drv/` \|(.*)\|$', style(tree), re.M)
    if row is None:
        return ['STYLE.md: no row for `mod/`, `drv/`']
    listed = set(re.findall(r'\b(\w+\.h)\b', row[1]))
    used, wrong = set(), []
    for name in tree.files('.c', '.h', under=('mod/', 'drv/')):
        if re.search(r'_test\.c$|drvfix', name):
            continue
        for h in re.findall(r'^#\s*include <str/(\w+\.h)>',
                            tree.text(name), re.M):
            used.add(h)
            if h not in listed:
                wrong.append(f'{name}: includes <str/{h}>')
    return wrong + [f'STYLE.md: {h} is included by no driver'
                    for h in sorted(listed - used)]


@rule
def tags_have_one_legend(tree):
    """the tags of fields are those of the legend in docs/locking.md"""
    if LEGEND not in tree.files('.md'):
        raise Skip('no legend')
    legend = set(re.findall(r'^\| `\[([A-Z])\]` \|', tree.text(LEGEND), re.M))
    wrong, used = [], set()
    for name in tree.files('.c', '.h'):
        for line in comments(tree.text(name)):
            for tag in re.findall(r'\[([A-Z])\]', line):
                used.add(tag)
                if tag not in legend:
                    wrong.append(f'{name}: [{tag}]: {line.strip()}')
    wrong += [f'{LEGEND}: no field has [{t}]' for t in sorted(legend - used)]
    return wrong + [f'{name}: [{t}]: a second legend'
                    for name in tree.files('.md') if name != LEGEND
                    for t in re.findall(r'`\[([A-Z])\]`', tree.text(name))]


@rule
def readme_begins_with_its_results(tree):
    """the figure of pipes in README's first lines is that of its table"""
    if 'README.md' not in tree.files('.md'):
        raise Skip('no README.md')
    before, _, after = tree.text('README.md').partition('<!-- results:begin')
    said = re.search(r'passes ([\d.]+)\s+times as many', before)
    measured = re.search(r'\*\*([\d.]+)\*\* times as many', after)
    if said is None or measured is None:
        return ['README.md: no figure of pipes']
    wanted = f'{float(measured[1]):.0f}'
    return [] if said[1] == wanted else [
        f'README.md: {said[1]} times, and its table says {wanted}']


@rule
def host_functions_are_listed(tree):
    """docs/host-porting.md lists what host.h declares, and nothing else"""
    if HOST not in tree.files('.h') or PORTING not in tree.files('.md'):
        raise Skip('no host.h, or no page about it')
    # the header itself has functions whose names begin a line
    declared = set(re.findall(
        r'^\w[\w ]*[ *]\(?\*?(host_\w+)(?:\)?\(| STR_HIDDEN)',
        tree.text(HOST), re.M))
    listed = [n for cell in re.findall(r'^\|[^|]*\| `(host_[^`|]*)` \|',
                                       tree.text(PORTING), re.M)
              for n in cell.split()]
    return [f'{PORTING}: {n} is in no row' for n in sorted(declared)
            if not any(fnmatch.fnmatch(n, p) for p in listed)] + [
        f'{PORTING}: {p} is not in {HOST}' for p in listed
        if not fnmatch.filter(declared, p)]
