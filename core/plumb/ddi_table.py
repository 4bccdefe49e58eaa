#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Write the table of DDI functions for foreign.c.

usage: ddi_table.py INCLUDE-DIR OUTPUT DEPFILE

A function is part of the DDI when an installed header declares it with
STR_DDI(its name).  The table is sorted by name.  A reference is weak: what is
declared and not defined is no function for modules.
"""

import glob
import os
import re
import sys


def main():
    include, output, depfile = sys.argv[1:]
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
    with open(output, 'w', encoding='utf-8') as f:
        f.write('/* Made by ddi_table.py. */\n')
        for n in sorted(names):
            f.write(f'extern void str_ddi_{n}(void) __asm__("ddi_{n}") '
                    '__attribute__((weak));\n')
        f.write('static const struct ddi ddi[] = {\n')
        for n in sorted(names):
            f.write(f'\t{{"{n}", str_ddi_{n}}},\n')
        f.write('};\n#define DDI_HASH 0x%016xull\n' % number)
    with open(depfile, 'w', encoding='utf-8') as f:
        deps = ' '.join(os.path.abspath(h) for h in headers)
        f.write(f'{output}: {deps}\n')


main()
