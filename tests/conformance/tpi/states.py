#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""What follows from TPI's state table, drv/tpi/states.h.

  states.py --cases OUT TABLE     a case for every request in every state that
                                  a user can be in, and for every way in which
                                  a request can be malformed
  states.py --doc TABLE           the table, as docs/networking.md has it
  states.py --check DOC TABLE     is it there?
"""

import re
import sys

STATES = ['UNBND', 'BREQ', 'UREQ', 'IDLE', 'OREQ', 'CREQ', 'WCON', 'WRES',
          'CRES', 'DATA', 'WIND', 'WREQ', 'D6', 'D7', 'D9', 'D10', 'D11']
FULL = {'UNBND': 'TS_UNBND', 'IDLE': 'TS_IDLE', 'WCON': 'TS_WCON_CREQ',
        'WRES': 'TS_WRES_CIND', 'DATA': 'TS_DATA_XFER',
        'WIND': 'TS_WIND_ORDREL', 'WREQ': 'TS_WREQ_ORDREL'}
ACKED = {'T_CONN_REQ', 'T_CONN_RES', 'T_DISCON_REQ', 'T_INFO_REQ',
         'T_BIND_REQ', 'T_UNBIND_REQ', 'T_OPTMGMT_REQ', 'T_ADDR_REQ',
         'T_CAPABILITY_REQ'}
# Requests with a range: (name of length, of offset, what is wrong then).
RANGES = {
    'T_CONN_REQ': [('conn_req.DEST', 'TBADADDR'), ('conn_req.OPT', 'TBADOPT')],
    'T_CONN_RES': [('conn_res.OPT', 'TBADOPT')],
    'T_BIND_REQ': [('bind_req.ADDR', 'TBADADDR')],
    'T_OPTMGMT_REQ': [('optmgmt_req.OPT', 'TBADOPT')],
}
RIGHT_STATE = {'T_CONN_REQ': 'TS_IDLE', 'T_CONN_RES': 'TS_WRES_CIND',
               'T_BIND_REQ': 'TS_UNBND', 'T_OPTMGMT_REQ': 'TS_IDLE'}


def table(path, which):
    with open(path, encoding='ascii') as f:
        text = f.read().replace('\\\n', ' ')
    line = next(l for l in text.splitlines()
                if l.startswith(f'#define {which}(X)'))
    rows = []
    for prim, service, member, cells in re.findall(
            r'X\((\w+), "(\w+)", (\w+),([^)]*)\)', line):
        cells = [c.strip() for c in cells.split(',')]
        assert len(cells) == len(STATES), prim
        rows.append((prim, service, member, dict(zip(STATES, cells))))
    return rows


def doc(path):
    short = {'__': 'same', 'xx': 'out', 'EE': 'EPROTO', 'ZZ': 'dropped'}
    shown = ['UNBND', 'IDLE', 'WCON', 'WRES', 'DATA', 'WIND', 'WREQ']
    out = []
    for title, which in (('request', 'TPI_DOWN'), ('indication', 'TPI_UP')):
        out.append(f'| {title} | of | ' + ' | '.join(shown) + ' |')
        out.append('|---' * (len(shown) + 2) + '|')
        for prim, service, _, cells in table(path, which):
            out.append(f'| {prim} | {service} | ' + ' | '.join(
                short.get(cells[s], cells[s]) for s in shown) + ' |')
        out.append('')
    return '\n'.join(out)


def case(name, body):
    return f'T_CASE({name})\n{{\n{body}}}\n'


def state_cases(path):
    for prim, service, _, cells in table(path, 'TPI_DOWN'):
        for short, full in FULL.items():
            yield case(
                f'{prim}_in_{full}'.lower(),
                f'\tstate_case({prim}, "{service}", {full}, '
                f'"{cells[short]}");\n')


def malformed_cases(path):
    for prim, service, member, _ in table(path, 'TPI_DOWN'):
        low = prim.lower()
        acked = int(prim in ACKED)
        for short in (3,):
            yield case(
                f'{low}_of_{short}_bytes_is_no_request',
                f'\tstub_case({prim}, {short});\n')
        yield case(
            f'{low}_that_lacks_its_last_byte',
            f'\tshort_case({prim}, "{service}", sizeof(struct '
            f'{prim[0] + low[1:]}) - 1, {acked});\n')
        yield case(
            f'{low}_of_its_number_alone',
            f'\tshort_case({prim}, "{service}", 4, {acked});\n')
        for what, tli in RANGES.get(prim, []):
            for how, length, offset in (
                    ('is_negative', '-1', '20'),
                    ('is_too_long', '0x7fffffff', '20'),
                    ('begins_before', '4', '0'),
                    ('begins_below_zero', '4', '-4'),
                    ('begins_behind', '4', '4096'),
                    ('wraps_around', '16', '0x7ffffff0'),
                    ('ends_behind', '4096', '20')):
                yield case(
                    f'{low}_whose_{what.split(".")[1].lower()}_{how}',
                    f'\trange_case({prim}, "{service}", '
                    f'{RIGHT_STATE[prim]},\n'
                    f'\t\toffsetof(union T_primitives, {what}_length),\n'
                    f'\t\toffsetof(union T_primitives, {what}_offset),\n'
                    f'\t\t{length}, {offset}, {tli});\n')
    for prim in (11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 26, 27,
                 29, 30, 99, -1, 0x7fffffff):
        yield case(f'number_{prim & 0xffffffff}_is_not_known',
                   f'\tunknown_case({prim});\n')


def main():
    if sys.argv[1] == '--doc':
        print(doc(sys.argv[2]))
    elif sys.argv[1] == '--check':
        with open(sys.argv[2], encoding='utf-8') as f:
            have = f.read()
        ok = doc(sys.argv[3]).strip() in have
        print('TAP version 13\n1..1')
        print(('ok' if ok else 'not ok') + ' 1 the table is in the document')
        sys.exit(not ok)
    else:
        with open(sys.argv[2], 'w', encoding='ascii') as f:
            f.write('/* Made by states.py. */\n\n')
            f.write('\n'.join([*state_cases(sys.argv[3]),
                               *malformed_cases(sys.argv[3])]))


if __name__ == '__main__':
    main()
