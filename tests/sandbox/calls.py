# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Write a table of the system calls that sources make by number.

calls.py OUTPUT SOURCE...
"""

import re
import sys


def main(argv):
    names = set()
    for source in argv[2:]:
        with open(source, encoding='utf-8') as f:
            names.update(re.findall(r'\bSYS_([a-z]\w*)', f.read()))
    with open(argv[1], 'w', encoding='utf-8') as f:
        for name in sorted(names):
            f.write(f'#ifdef SYS_{name}\n{{ "{name}", SYS_{name} }},\n'
                    f'#endif\n')


main(sys.argv)
