#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The statements of XTI and their cases.

usage: statements.py --check CAVEATS [FILE ...]   complain about what is missing
       statements.py --table [FILE ...]           print a line for each statement

A row is an XS() or XS_NONE() of the C files: a statement stands at the head of its
case, so there is none without.  What is checked is that the rows cover the text:
each function has one for each section and for each error that the text lists, and
that each known difference stands in CAVEATS in the same words.
"""

import pathlib
import re
import sys

LEAST = 220
SECTIONS = ['DESCRIPTION', 'STATES', 'ERRORS', 'RETURN']
# Errors of XNS 5.2.  TPROTO is no case's: it tells of a provider that breaks the
# protocol between it and the library, and none here does.  TSYSERR may be any
# function's; named here where a program can bring it about.
ERRORS = {
    't_accept': 'TACCES TBADADDR TBADDATA TBADF TBADOPT TBADSEQ TINDOUT TLOOK TNOTSUPPORT '
                'TOUTSTATE TPROVMISMATCH TRESADDR TRESQLEN TSYSERR',
    't_alloc': 'TBADF TNOSTRUCTYPE TSYSERR',
    't_bind': 'TACCES TADDRBUSY TBADADDR TBADF TBUFOVFLW TNOADDR TOUTSTATE TSYSERR',
    't_close': 'TBADF',
    't_connect': 'TACCES TADDRBUSY TBADADDR TBADDATA TBADF TBADOPT TBUFOVFLW TLOOK TNODATA '
                 'TNOTSUPPORT TOUTSTATE TSYSERR',
    't_error': '',
    't_free': 'TNOSTRUCTYPE',
    't_getinfo': 'TBADF',
    't_getprotaddr': 'TBADF TBUFOVFLW',
    't_getstate': 'TBADF TSTATECHNG',
    't_listen': 'TBADF TBADQLEN TBUFOVFLW TLOOK TNODATA TNOTSUPPORT TOUTSTATE TQFULL TSYSERR',
    't_look': 'TBADF',
    't_open': 'TBADFLAG TBADNAME TSYSERR',
    't_optmgmt': 'TACCES TBADF TBADFLAG TBADOPT TBUFOVFLW TNOTSUPPORT TSYSERR',
    't_rcv': 'TBADF TLOOK TNODATA TNOTSUPPORT TOUTSTATE TSYSERR',
    't_rcvconnect': 'TBADF TBUFOVFLW TLOOK TNODATA TNOTSUPPORT TOUTSTATE',
    't_rcvdis': 'TBADF TBUFOVFLW TNODIS TNOTSUPPORT TOUTSTATE',
    't_rcvrel': 'TBADF TLOOK TNOREL TNOTSUPPORT TOUTSTATE',
    't_rcvreldata': 'TBADF TBUFOVFLW TLOOK TNOREL TNOTSUPPORT TOUTSTATE',
    't_rcvudata': 'TBADF TBUFOVFLW TLOOK TNODATA TNOTSUPPORT TOUTSTATE',
    't_rcvuderr': 'TBADF TBUFOVFLW TNOTSUPPORT TNOUDERR TOUTSTATE',
    't_rcvv': 'TBADDATA TBADF TLOOK TNODATA TNOTSUPPORT TOUTSTATE TSYSERR',
    't_rcvvudata': 'TBADDATA TBADF TBUFOVFLW TLOOK TNODATA TNOTSUPPORT TOUTSTATE',
    't_snd': 'TBADDATA TBADF TBADFLAG TFLOW TLOOK TNOTSUPPORT TOUTSTATE TSYSERR',
    't_snddis': 'TBADDATA TBADF TBADSEQ TLOOK TNOTSUPPORT TOUTSTATE',
    't_sndrel': 'TBADF TFLOW TLOOK TNOTSUPPORT TOUTSTATE',
    't_sndreldata': 'TBADDATA TBADF TFLOW TLOOK TNOTSUPPORT TOUTSTATE',
    't_sndudata': 'TBADADDR TBADDATA TBADF TBADOPT TFLOW TLOOK TNOTSUPPORT TOUTSTATE TSYSERR',
    't_sndv': 'TBADDATA TBADF TBADFLAG TFLOW TLOOK TNOTSUPPORT TOUTSTATE TSYSERR',
    't_sndvudata': 'TBADADDR TBADDATA TBADF TBADOPT TFLOW TLOOK TNOTSUPPORT TOUTSTATE',
    't_strerror': '',
    't_sync': 'TBADF TSTATECHNG',
    't_sysconf': 'TBADFLAG',
    't_unbind': 'TBADF TLOOK TOUTSTATE',
}

STRING = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
ROW = re.compile(r'^XS\((\w+), (\w+), (\w+), (\w+),\s*' + STRING + r'\)', re.M)
NONE = re.compile(r'^XS_NONE\((\w+), (\w+), (\w+),\s*' + STRING + r',\s*' + STRING + r'\);', re.M)
KNOWN = re.compile(r'XS_KNOWN\([^"]*?,\s*' + STRING + r'\)')


def joined(strings):
    """The value of adjacent string literals."""
    return ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings))


def rows(files):
    """(function, section, name, services, statement) of each row."""
    out = []
    for f in files:
        text = pathlib.Path(f).read_text()
        found = [(m.start(), m[2], m[3], m[4], m[1], joined(m[5])) for m in ROW.finditer(text)]
        found += [(m.start(), m[1], m[2], m[3], 'none', joined(m[4]))
                  for m in NONE.finditer(text)]
        begun = len(re.findall(r'^XS(?:_NONE)?\(', text, re.M))
        if begun != len(found):
            sys.exit(f'{f}: {begun} rows, of which {len(found)} can be read')
        out += [r[1:] for r in sorted(found)]
    return out


def wrong(table):
    """What is missing or in the wrong form."""
    names = [r[:3] for r in table]
    for r in table:
        where = '_'.join(r[:3])
        if names.count(r[:3]) > 1:
            yield f'{where}: twice'
        if r[0] not in ERRORS:
            yield f'{where}: no function of XTI'
        if r[1] not in SECTIONS:
            yield f'{where}: no section'
        if not r[4].endswith('.'):
            yield f'{where}: no sentence'
    for fn, errors in ERRORS.items():
        for section in SECTIONS:
            if section == 'ERRORS' and not errors:
                continue
            if not any(r[:2] == (fn, section) for r in table):
                yield f'{fn}: nothing of {section}'
        for e in errors.split():
            if not any(r[:2] == (fn, 'ERRORS') and r[2].split('_')[0] == e.lower()
                       for r in table):
                yield f'{fn}: nothing of {e}'
    if len(table) < LEAST:
        yield f'{len(table)} statements, fewer than {LEAST}'


def unexplained(files, caveats):
    """Known differences that CAVEATS does not tell."""
    said = ' '.join(pathlib.Path(caveats).read_text().split())
    for f in files:
        for m in KNOWN.finditer(pathlib.Path(f).read_text()):
            if joined(m[1]) not in said:
                yield f'{f}: not in {caveats}: {joined(m[1])}'


def main():
    args = sys.argv[1:]
    if args[:1] == ['--table']:
        for fn, section, name, services, text in rows(args[1:]):
            print(f'{fn}\t{section}\t{name}\t{services}\t{text}')
    elif args[:1] == ['--check'] and len(args) > 2:
        table = rows(args[2:])
        faults = [*wrong(table), *unexplained(args[2:], args[1])]
        print(*faults, f'{len(table)} statements', sep='\n')
        sys.exit(bool(faults))
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main()
