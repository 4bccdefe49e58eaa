#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""states.tab: test cases and a document of one table.

usage: states.py --cases OUT     write the rows, for states.c
       states.py --doc OUT       write the document
       states.py --check DOC     complain when it is not in step
"""

import pathlib
import re
import sys

TABLE = pathlib.Path(__file__).with_name('states.tab')
SERVICES = {'cots_ord': 'T_COTS_ORD', 'cots': 'T_COTS', 'clts': 'T_CLTS'}
TITLES = {
    'cots_ord': 'Connections with orderly release (`ticotsord`, `tcp`, `sctp`)',
    'cots': 'Connections without orderly release (`ticots`)',
    'clts': 'Datagrams (`ticlts`, `udp`, `rawip`, `udp2`, `rawip2`)',
}


def parse():
    """Return {service: (states, {call: cells})}."""
    out, states, calls = {}, None, None
    for line in TABLE.read_text().splitlines():
        words = line.split()
        if not words or line.startswith('#'):
            continue
        if words[0] == 'service':
            states, calls = words[2:], {}
            out[words[1]] = (states, calls)
        elif len(words) != len(states) + 1:
            sys.exit(f'{TABLE.name}: {words[0]}: not {len(states)} cells')
        else:
            calls[words[0]] = words[1:]
    return out


def choice(cell, state):
    """(error or 0, state after) of one alternative."""
    m = re.fullmatch(r'(T[A-Z]+)?(?:>([A-Z]+))?|=', cell)
    if not m:
        sys.exit(f'{TABLE.name}: what is {cell}?')
    return m[1] or '0', 'T_' + (m[2] or state)


def cases(table):
    out = ['/* Made from states.tab. */']
    for service, (states, calls) in table.items():
        for call, cells in calls.items():
            for state, cell in zip(states, cells):
                if cell == '-':
                    continue
                both = [choice(c, state) for c in cell.split('|')]
                (e1, s1), (e2, s2) = both[0], both[-1]
                what = 'works' if e1 == '0' else f'is_{e1}'
                out.append(
                    f'ROW({SERVICES[service]}, {call}, T_{state}, {e1}, {s1}, '
                    f'{e2}, {s2}, "{call}_when_T_{state}_{what}")')
    return '\n'.join(out) + '\n'


def doc(table):
    out = ['<!-- SPDX-License-Identifier: BSD-2-Clause -->',
           '<!-- Copyright (c) 2026 The Fast-STREAMS authors -->',
           '<!-- Made from tests/conformance/xti/states.tab. -->', '',
           '# XTI: what each call does in each state', '',
           'This page is for programmers who use XTI.', '',
           '| cell | the call |', '|---|---|',
           '| an error | fails; the state stays |',
           '| `=` | works; the state stays |',
           '| `>STATE` | works; this is the new state |',
           '| `TNODATA>OUTCON` | fails with TNODATA; the new state is '
           'T_OUTCON |',
           '| A or B | does either |', '',
           'The endpoints are non-blocking (O_NONBLOCK), and the program has '
           'received all data', 'and events that have arrived. An endpoint '
           'in T_IDLE was bound with qlen 0. One in', 'T_INCON was bound with '
           'qlen 2, and has one indication.', '',
           'A call on a descriptor that is not an endpoint (T_UNINIT) fails '
           'with TBADF. `t_accept`', 'accepts on another endpoint, '
           '`t_accept_self` on the one that listened. Each cell is a',
           'test case, run on every transport of its heading.', '']
    for service, (states, calls) in table.items():
        out += [f'## {TITLES[service]}', '']
        out.append('| call | ' + ' | '.join('T_' + s for s in states) + ' |')
        out.append('|---' * (len(states) + 1) + '|')
        for call, cells in calls.items():
            text = [c.replace('|', ' or ').replace('=', '`=`')
                    for c in cells]
            out.append(f'| {call} | ' + ' | '.join(text) + ' |')
        out.append('')
    return '\n'.join(out)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    what, path = sys.argv[1], pathlib.Path(sys.argv[2])
    table = parse()
    if what == '--cases':
        path.write_text(cases(table))
    elif what == '--doc':
        path.write_text(doc(table))
    elif what == '--check':
        if path.read_text() != doc(table):
            sys.exit(f'{path}: run states.py --doc {path}')
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main()
