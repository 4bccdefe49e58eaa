#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""What the documents show is the text of files that are compiled and run.

usage: doc_quotes.py ROOT

A block of code or of commands in one of these documents is contiguous text of
a file, so that no line that a reader needs is left out.  In a document with
FOLLOWS, that file is the one that was cited last before the block, as
`path/name`.  In the others it is any file below the folders that are listed.
The first cases show that a wrong quotation is noticed.
"""

import os
import re
import sys

FOLLOWS = None
DOCUMENTS = {
    'docs/adding.md': FOLLOWS,
    'docs/sctp.md': FOLLOWS,
    'docs/tutorial.md': FOLLOWS,
    'docs/porting.md': ['examples', 'tests/strangers', 'tests/examples'],
    'docs/writing-a-module.md': ['examples'],
}
# Its commands are those of Kit.module() in tests/modules/run.py.
NO_COMMANDS = ['docs/writing-a-module.md']
LANGUAGES = ('c', 'make', 'meson', 'roff', 'text', 'sh')
CITED = re.compile(r'`((?:[\w.-]+/)+[\w-]+\.\w+|Makefile)`')


def below(root, folders):
    """All text below these folders."""
    text = []
    for folder in folders:
        for d, _, files in os.walk(os.path.join(root, folder)):
            for n in sorted(files):
                with open(os.path.join(d, n), encoding='utf-8',
                          errors='replace') as f:
                    text.append(f.read())
    return text


def blocks(text):
    """(line, language, block, path cited last) of each block."""
    cited, inside = None, None
    for n, line in enumerate(text.splitlines(), 1):
        if inside is not None:
            if line.startswith('```'):
                yield inside[0], inside[1], ''.join(inside[2]), cited
                inside = None
            else:
                inside[2].append(line + '\n')
        elif line.startswith('```'):
            inside = (n, line[3:].strip(), [])
        else:
            for m in CITED.finditer(line):
                cited = m[1]


def check(root, where, text, folders):
    """What is wrong with the quotations in @text."""
    have = None if folders is FOLLOWS else below(root, folders)
    wrong = []
    for n, language, block, cited in blocks(text):
        if language not in LANGUAGES:
            wrong.append(f'{where}:{n}: a block of "{language}"')
            continue
        if language == 'sh' and where in NO_COMMANDS:
            continue
        sources = have
        if folders is FOLLOWS:
            if cited is None or not os.path.isfile(os.path.join(root, cited)):
                wrong.append(f'{where}:{n}: no file is cited before: {cited}')
                continue
            with open(os.path.join(root, cited), encoding='utf-8') as f:
                sources = [f.read()]
        if not any(block in t for t in sources):
            wrong.append(f'{where}:{n}: not in {cited or folders}: {block}')
    return wrong


def case(number, name, wrong):
    print(f'{"not " if wrong else ""}ok {number} - {name}')
    for text in wrong:
        for line in text.splitlines():
            print(f'# {line}')
    return bool(wrong)


def main(argv):
    if len(argv) != 2:
        print(__doc__.split('\n\n')[1], file=sys.stderr)
        return 2
    root = argv[1]
    print(f'TAP version 13\n1..{len(DOCUMENTS) + 1}')
    bad = check(root, 'x', 'See `tests/lint/doc_quotes.py`:\n```c\nint no;\n'
                '```\n```sh\n"""What the documents show is the text of files '
                'that are compiled and run.\nno\n```\n`core/none.c`\n```c\n'
                '```\n', FOLLOWS)
    bad += check(root, 'x', '```c\nint no_such_text;\n```\n', ['tests/lint'])
    failed = case(1, 'a wrong quotation is noticed',
                  [] if len(bad) == 4 else bad + [str(len(bad))])
    for i, (name, folders) in enumerate(DOCUMENTS.items(), 2):
        path = os.path.join(root, name)
        wrong = [f'{name}: there is no such document']
        if os.path.exists(path):
            with open(path, encoding='utf-8') as f:
                text = f.read()
            wrong = check(root, name, text, folders)
            if not list(blocks(text)):
                wrong = [f'{name}: it quotes nothing']
        failed = case(i, f'what {name} shows is in files', wrong) or failed
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
