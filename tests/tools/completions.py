#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Do the completions know the tools, their options and what those take?

usage: completions.py SOURCE-DIR TOOLS-DIR TOOL...
"""

import os
import re
import shutil
import subprocess
import sys

# words of a command, of which the last is being typed: what must be offered
BASH = [
    (['scls', '--j'], ['--json']),
    (['scls', '--'], ['--all', '--domain=', '--json', '--version']),
    (['scls', 'nullm'], ['nullmod']),
    (['strconf', '-m', 'nullm'], ['nullmod']),
    (['strconf', '--module', '=', 'nullm'], ['nullmod']),
    (['strchg', '-h', 'nullm'], ['nullmod']),
    (['strtune', '-n', 'loo'], ['loop']),
    (['strwire', '--add'], ['--address=']),
]
TYPE = '''source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_fast_streams "$1"; printf '%s\\n' "${COMPREPLY[@]}"'''


def run(command, env):
    return subprocess.run(command, env=env, capture_output=True, text=True,
                          timeout=60, check=False)


def named(text, pattern):
    """The words of the list of tools in a completion file."""
    return set(re.search(pattern, text, re.S)[1].replace('\\', ' ').split())


def main(argv):
    source, tools, *names = argv[1:]
    where = os.path.join(source, 'share', 'completions')
    bash = os.path.join(where, 'fast-streams.bash')
    zsh = os.path.join(where, '_fast-streams')
    env = dict(os.environ, PATH=tools + ':' + os.environ['PATH'])
    texts = []
    for path in (bash, zsh):
        with open(path, encoding='utf-8') as f:
            texts.append(f.read())
    cases = [('each tool has a completion',
              [] if named(texts[0], r'-F _fast_streams (.*)$') == set(names) ==
              named(texts[1], r'^#compdef (.*?)\n') else names)]
    for words, wanted in BASH:
        r = run(['bash', '-c', TYPE, 'bash', bash, *words], env)
        offered = r.stdout.split()
        wrong = [w for w in wanted if w not in offered] + \
            [o for o in offered if not o.startswith(words[-1])]
        cases.append((f'bash: {" ".join(words)}',
                      wrong and [*wrong, r.stdout, r.stderr]))
    name = 'zsh: the file is read, and gives a function'
    if shutil.which('zsh'):
        r = run(['zsh', '-fc', 'fpath=($1 $fpath); autoload -Uz compinit; '
                 'compinit -D -u && print $_comps[scls]', 'zsh', where], env)
        cases.append((name, [] if r.stdout.strip() == '_fast-streams'
                      else [r.stdout, r.stderr]))
    else:
        cases.append((f'{name} # SKIP no zsh here', []))
    print(f'1..{len(cases)}')
    for n, (name, wrong) in enumerate(cases, 1):
        print(f'{"not " if wrong else ""}ok {n} - {name}')
        for line in '\n'.join(wrong).splitlines():
            print(f'# {line}')
    return any(wrong for _, wrong in cases)


if __name__ == '__main__':
    sys.exit(main(sys.argv))
