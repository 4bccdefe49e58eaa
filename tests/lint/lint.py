#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The walls of the project, enforced.

usage: lint.py ROOT BUILD [RULE ...]

Each rule is one case of TAP output.  A rule looks at the sources below ROOT or
at the objects below BUILD, and returns what is wrong; it is skipped where its
subject does not exist.  self_test.py shows for every rule that it can fail.

Where a rule makes a line worse, the line may say "lint-ok: reason".
"""

import sys

import header_rules
import man_rules
import object_rules
import pointer_rules
import ratchet_rules
import source_rules
import style_rules
from lintlib import RULES, Skip, Tree

assert (header_rules and man_rules and object_rules and pointer_rules and
        ratchet_rules and source_rules and style_rules)


def main(argv):
    if len(argv) < 3:
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    tree = Tree(argv[1], argv[2])
    rules = [r for r in RULES if not argv[3:] or r.__name__ in argv[3:]]
    failed = 0
    print(f'1..{len(rules)}')
    for i, rule in enumerate(rules, 1):
        name = ' '.join(rule.__doc__.split())
        try:
            wrong = rule(tree)
        except Skip as e:
            print(f'ok {i} - {name} # SKIP {e}')
            continue
        print(f'{"not " if wrong else ""}ok {i} - {name}')
        for line in wrong:
            print(f'# {line}')
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
