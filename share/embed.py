# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Make a C array of a text file.

usage: embed.py FILE NAME HEADER OUTPUT
"""

import sys


def main():
    path, name, header, output = sys.argv[1:]
    with open(path, encoding='ascii') as f:
        lines = f.read().splitlines()
    with open(output, 'w', encoding='ascii') as f:
        f.write(f'#include "{header}"\n\nconst char {name}[] =\n')
        for line in lines:
            text = line.replace('\\', '\\\\').replace('"', '\\"')
            text = text.replace('\t', '\\t')
            f.write(f'\t"{text}\\n"\n')
        f.write('\t;\n')


if __name__ == '__main__':
    main()
