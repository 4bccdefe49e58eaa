#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Write the table of DDI functions for foreign.c.

usage: ddi_table.py INCLUDE-DIR OUTPUT.S OUTPUT.H DEPFILE

A function is part of the DDI when an installed header declares it with
STR_DDI(its name), and must be defined.  The table is sorted by name.

The table is in assembly language: a declaration of a function in C without the
true type disagrees with the function's own under link-time optimization, and a
table in C would contain addresses.  The dynamic linker would relocate these,
and copy their pages, at the start of each program.
"""

import glob
import os
import re
import sys


def main():
    include, table, header, depfile = sys.argv[1:]
    headers = sorted(h for h in glob.glob(f'{include}/**/*.h', recursive=True)
                     if not h.startswith(f'{include}/str/'))
    names = set()
    for h in headers:
        with open(h, encoding='utf-8') as f:
            text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
        text = re.sub(r'^\s*#.*$', '', text, flags=re.M)
        names.update(re.findall(r'\bSTR_DDI\((\w+)\)', text))
    number = 0xcbf29ce484222325
    for byte in '\n'.join(sorted(names)).encode():
        number = (number ^ byte) * 0x100000001b3 % (1 << 64)
    with open(table, 'w', encoding='utf-8') as f:
        f.write('/* Made by ddi_table.py: struct ddi str_ddi_table[]. */\n'
                '\t.section .rodata,"a",%progbits\n\t.balign 4\n'
                '\t.globl str_ddi_table\n\t.hidden str_ddi_table\n'
                '\t.type str_ddi_table, %object\nstr_ddi_table:\n')
        for n in sorted(names):
            f.write(f'\t.hidden ddi_{n}\n'
                    f'\t.long .Lname_{n} - ., ddi_{n} - .\n')
        f.write('\t.size str_ddi_table, . - str_ddi_table\n'
                '\t.section .rodata.str1.1,"aMS",%progbits,1\n')
        for n in sorted(names):
            f.write(f'.Lname_{n}:\n\t.asciz "{n}"\n')
        f.write('\t.section .note.GNU-stack,"",%progbits\n')
    with open(header, 'w', encoding='utf-8') as f:
        f.write('/* Made by ddi_table.py. */\n'
                f'#define DDI_COUNT {len(names)}u\n'
                f'#define DDI_HASH 0x{number:016x}ull\n')
    with open(depfile, 'w', encoding='utf-8') as f:
        deps = ' '.join(os.path.abspath(h) for h in headers)
        f.write(f'{table} {header}: {deps}\n')


main()
