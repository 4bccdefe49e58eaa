# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Rules that read what the compiler made: who calls whom, who owns data."""

import fnmatch
import glob
import os
import re

from lintlib import Skip, output, rule, without_comments

MEM = {'memcpy', 'memmove', 'memset', 'memcmp'}
# What C compilers and linkers refer to by themselves, or make.
MACHINERY = {'_GLOBAL_OFFSET_TABLE_', '__tls_get_addr', '__start_str_wires',
             '__stop_str_wires'}
STRING = MEM | {'memchr', 'strcmp', 'strncmp', 'strlen', 'strnlen', 'strcpy',
                'strncpy', 'strcat', 'strncat', 'strchr', 'strrchr', 'strstr'}


def symbols(objects):
    """(defined, undefined) of a set of objects or archives taken together."""
    defined, undefined = set(), {}
    for line in output('nm', '-A', '-P', *objects).splitlines():
        where, _, rest = line.rpartition(': ')
        name, kind = rest.split()[:2]
        if kind in 'Uwv':
            undefined.setdefault(name, os.path.relpath(where, '/'))
        else:
            defined.add(name)
    return defined, undefined


def foreign(tree, folder, names, pattern):
    """References out of a folder that are not among the allowed ones."""
    defined, undefined = symbols(tree.objects(folder))
    return [f'{os.path.basename(where).rstrip("]")} refers to {name}'
            for name, where in sorted(undefined.items())
            if name not in defined and name not in names | MACHINERY and
            not re.match(pattern, name)]


@rule
def core_is_host_neutral(tree):
    """core calls the host interface and nothing else"""
    wrong = foreign(tree, 'core', MEM, r'(str_)?host_\w')
    # The registry's list of what is built in: data, and by name only.
    return [w for w in wrong if not re.match(
        r'plumb_registry\.c\.o refers to str_(mod|drv)_[a-z0-9_]+$', w)]


# Beside the DDI: what <str/builtin.h>, <str/registry.h>, <str/apush.h>,
# <str/direct.h>, <str/hold.h>, <str/short.h>, <str/timer.h>, <str/ksock.h> offer to the
# built-in ones.
FOR_BUILTIN = r'(ddi|ksock)_\w|str_(drv_state|now|random|self|stopped|registry_entry|apush_[a-z]+|head_again|head_end|direct_(up|enter|leave)|queue_drops|getq_done|msg_(settle|hold|taken|goes|went|watch|fate)|read_mark|read_soon|wake_(begin|end)|ref|ref_(gone|unheld)|hold|hold_note|unhold|unread|short_[a-z]+|timer_(make|set|stop|free))$'


@rule
def modules_see_the_ddi(tree):
    """modules call the DDI and nothing else"""
    return foreign(tree, 'mod', STRING, FOR_BUILTIN)


@rule
def drivers_see_the_ddi(tree):
    """drivers call the DDI and nothing else"""
    return foreign(tree, 'drv', STRING, FOR_BUILTIN)


def writable(tree, folder):
    """Symbols in sections that stay writable after relocation."""
    wrong = []
    for o in tree.objects(folder):
        for line in output('objdump', '-t', o).splitlines():
            m = re.match(r'[0-9a-f]+ .{7} (\S+)\t[0-9a-f]+ +(.*)', line)
            if not m or m[1] == m[2]:
                continue
            if re.match(r'\.t?(data|bss)|\*COM\*', m[1]) and \
                    not m[1].startswith('.data.rel.ro'):
                wrong.append(f'{os.path.basename(o)}: {m[2]} in {m[1]}')
    return wrong


@rule
def modules_have_no_state(tree):
    """built-in modules have no writable statics"""
    return writable(tree, 'mod')


@rule
def core_has_no_state(tree):
    """core has no writable statics, so that there may be two instances"""
    return writable(tree, 'core')


def map_patterns(text):
    """The global names of a version script."""
    text = without_comments(text)
    names = []
    for body in re.findall(r'\{(.*?)\}', text, re.S):
        scope = 'global'
        for token in re.findall(r'[^\s;:]+\s*[;:]', body):
            word = token[:-1].strip()
            if token.endswith(':'):
                scope = word
            elif scope == 'global':
                names.append(word)
    return names


@rule
def exports_are_the_map(tree):
    """a library exports what its map file says, all of it and no more"""
    wrong, seen = [], 0
    for name in tree.files('.map', under=('lib/',)):
        stem = os.path.basename(name)[:-len('.map')]
        libs = [p for p in glob.glob(f'{tree.build}/lib/**/{stem}.so*',
                                     recursive=True)
                if os.path.isfile(p) and not os.path.islink(p)]
        if not libs:
            continue
        seen += 1
        patterns = map_patterns(tree.text(name))
        # what is exported in no version
        base = f'{name[:-len(".map")]}.base.map'
        if base in tree.files('.map', under=('lib/',)):
            patterns += map_patterns(tree.text(base))
        exported = {re.sub(r'@.*', '', l.split()[0])
                    for l in output('nm', '-D', '-P', '--defined-only',
                                    libs[0]).splitlines()
                    if l.split()[1] != 'A'}
        wrong += [f'{name}: {p} is not in the library' for p in patterns
                  if not fnmatch.filter(exported, p)]
        wrong += [f'{name}: {e} is exported and not listed'
                  for e in sorted(exported)
                  if not any(fnmatch.fnmatchcase(e, p) for p in patterns)]
    if not seen:
        raise Skip('no library with a map file')
    return wrong
