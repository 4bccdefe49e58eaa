#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""errno.tab: test cases and manual pages of one table.

usage: errno.py --cases OUT        write the cases, for errno.c
       errno.py --man PAGE ...     bring the ERRORS sections of pages in step
       errno.py --check PAGE ...   complain about pages that are not
       errno.py --list             print the calls

In a page, what stands between the lines
	.\\" errno.py: CALL ...
	.\\" errno.py: end
is the list of these calls' errors.  With more calls than one, or in a page of
commands, each has a list of its own.  The page of commands itself says what all
of them have in common (COMMON).
"""

import pathlib
import re
import sys

TABLE = pathlib.Path(__file__).with_name('errno.tab')
ROW = re.compile(r'row (\w+) (E\w+|-) (\w+) (\w+)( pipe)?\n\t(.+)\n\t(.+)\n')
CALL = re.compile(r'call (\w+) (\w+)( pipe)?\n\t(.+)\n')
ALSO = re.compile(r'also (\w+) (E\w+)\n\t(.+)\n')
CLASS = re.compile(r'class (\w+)\n((?:\t\w+ (?:E\w+ .+|-)\n)+)')
# Only a pipe can be in these, or they are the same for any kind.
PIPE_ONLY = {'GONE', 'NULLDEV', 'KPIPE', 'LINKED', 'PEERLESS'}

COMMON = {('EBADF', 'The descriptor is not open.'),
          ('EFAULT', 'The argument points to memory that cannot be used.'),
          ('EINVAL', 'The stream is linked below a multiplexor.'),
          ('ENOTTY', 'The descriptor is not a stream.')}


def parse():
    """Return [(call, errno or '-', state, when, pipe only, expr, text)]."""
    text = re.sub(r'^#.*\n', '', TABLE.read_text(), flags=re.M)
    classes, out = {}, []
    for block in re.split(r'\n\n+', text.strip()):
        block += '\n'
        if m := CLASS.fullmatch(block):
            classes[m[1]] = [line.strip().split(' ', 2)
                             for line in m[2].splitlines()]
        elif m := CALL.fullmatch(block):
            for state, err, *why in classes[m[2]]:
                out.append((m[1], err, state, 'when_' + state.lower(),
                            bool(m[3]), m[4], why[0] if why else ''))
        elif m := ROW.fullmatch(block):
            out.append((m[1], m[2], m[3], m[4], bool(m[5]), m[6], m[7]))
        elif m := ALSO.fullmatch(block):
            out.append((m[1], m[2], None, None, False, None, m[3]))
        else:
            sys.exit(f'{TABLE.name}: what is this?\n{block}')
    return out


def cases(rows):
    """C: E() for an error, S() for success; the suffix: pipes only or any."""
    out = ['/* Made from errno.tab. */']
    for call, err, state, when, pipe, expr, _ in rows:
        if state is None:
            continue
        kind = 'PIPE' if pipe or state in PIPE_ONLY else 'ANY'
        name = f'{call}_{"works" if err == "-" else "is_" + err}_{when}'
        what = f'S({name}' if err == '-' else f'E({name}, {err}'
        out.append(f'{kind}_{what}, {state},\n\t{expr})')
    return '\n'.join(out) + '\n'


def item(text):
    """A reason as mdoc: a line for each sentence, none begins with a control
    character."""
    text = '\\&' + text if text[0] in ".'" else text
    return text.replace('. ', '.\n')


def listing(call, rows, common=frozenset()):
    """The mdoc list of one call; nothing if all its errors are common ones."""
    table = {}
    for name, err, _, _, _, _, text in rows:
        if name != call or err == '-' or (err, text) in common:
            continue
        if text.startswith('any: '):
            err, text = 'any', text[5:]
        reasons = table.setdefault(err, [])
        if text not in reasons:
            reasons.append(text)
    out = ['.Bl -tag -width Er']
    for err in sorted(table, key=lambda e: (e == 'any', e)):
        for text in table[err]:
            out += ['.It Bq ' + ('any' if err == 'any' else 'Er ' + err),
                    item(text)]
    return out + ['.El'] if table else []


def section(names, rows, known):
    """What stands between the marks."""
    if names == ['commands']:
        names = [c for c in known if not c.islower()]
        out = ['.Bl -tag -width Ds']
        for call in names:
            errors = listing(call, rows, COMMON)
            out += ['.It Dv ' + call] + errors if errors else []
        return out + ['.El']
    out = []
    for call in names:
        if call not in known:
            sys.exit(f'{call}: not in {TABLE.name}')
        if len(names) > 1:
            out.append(f'.Ss {call}()')
        out += listing(call, rows)
    return out


MARK = re.compile(r'^\.\\" errno\.py: ([^\n]+)\n(.*?)^\.\\" errno\.py: end\n',
                  re.M | re.S)


def page(text, rows, known):
    """The page with its sections in step."""
    def fill(m):
        return (f'.\\" errno.py: {m[1]}\n'
                + '\n'.join(section(m[1].split(), rows, known))
                + '\n.\\" errno.py: end\n')
    return MARK.sub(fill, text)


def main(args):
    rows = parse()
    known = list(dict.fromkeys(r[0] for r in rows))
    if args == ['--list']:
        print('\n'.join(known))
        return 0
    if len(args) == 2 and args[0] == '--cases':
        pathlib.Path(args[1]).write_text(cases(rows))
        return 0
    if len(args) < 2 or args[0] not in ('--man', '--check'):
        sys.exit(__doc__)
    told, bad = set(), 0
    for name in args[1:]:
        path = pathlib.Path(name)
        old = path.read_text()
        for m in MARK.finditer(old):
            told.update(c for c in known if not c.islower()
                        ) if m[1] == 'commands' else told.update(m[1].split())
        new = page(old, rows, known)
        if new == old:
            continue
        if args[0] == '--man':
            path.write_text(new)
        else:
            print(f'{path.name}: ERRORS are not those of {TABLE.name}; '
                  f'run errno.py --man')
            bad = 1
    for call in known:
        if call not in told:
            print(f'{call}: in {TABLE.name}, in no page')
            bad = 1
    return bad


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
