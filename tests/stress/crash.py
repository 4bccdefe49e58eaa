# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""crash.py PROGRAM SOURCE-ROOT PASSAGES [LABEL[:N]...]

Kill a process at every labelled crash point and look at its survivors.

The labels are those that the sources name in STR_CRASH_POINT("...").  For
each, PROGRAM is run with PASSAGES different passages: the first, and then
some chosen by T_SEED.  A label that no passage of the traffic reaches is
told as skipped; if none at all is reached the library was built without
crash points, and so is everything.  Labels on the command line replay those.
"""
import os
import pathlib
import random
import re
import subprocess
import sys

FOLDERS = ('core', 'host/user', 'lib', 'mod')
POINT = re.compile(r'STR_CRASH_POINT\("([^"]+)"\)')


def labels(root):
    found = set()
    for folder in FOLDERS:
        for path in sorted(pathlib.Path(root, folder).rglob('*.[ch]')):
            if not path.name.endswith('_test.c'):
                found.update(POINT.findall(path.read_text()))
    return sorted(found)


def run(program, point, seed):
    """(reached, what went wrong or None, what it said)"""
    try:
        r = subprocess.run([program, point, str(seed)], timeout=60,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           text=True)
    except subprocess.TimeoutExpired:
        return True, 'did not end', ''
    if r.returncode == 77:
        return False, None, r.stderr
    if r.returncode == 0:
        return True, None, r.stderr
    return True, f'exit status {r.returncode}', r.stderr


def main():
    program, root, passages = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = int(os.environ.get('T_SEED', '0'), 0) or random.randrange(1 << 30)
    dice = random.Random(seed)
    todo = []
    for label in sys.argv[4:] or labels(root):
        if ':' in label and label.rsplit(':', 1)[1].isdigit():
            todo.append((label.rsplit(':', 1)[0],
                         [int(label.rsplit(':', 1)[1])]))
            continue
        many = [1] + [dice.choice((2, 3, dice.randrange(4, 300)))
                      for _ in range(passages - 1)]
        todo.append((label, many))

    print(f'TAP version 13\n1..{len(todo)}\n# T_SEED={seed}', flush=True)
    failed = reached_any = 0
    for number, (label, many) in enumerate(todo, 1):
        reached, trouble, said = 0, None, ''
        for n in many:
            hit, wrong, text = run(program, f'{label}:{n}', seed + n)
            reached += hit
            said += text
            if wrong is not None:
                trouble = f'{label}:{n}: {wrong}'
                break
            if not hit and n == 1:
                break
        sys.stdout.write(said)
        if trouble is not None:
            failed += 1
            print(f'not ok {number} - {label}\n# {trouble}', flush=True)
        elif reached == 0:
            print(f'ok {number} - {label} # SKIP not reached', flush=True)
        else:
            reached_any += 1
            print(f'ok {number} - {label}', flush=True)
    if reached_any == 0 and failed == 0:
        print('# no point was reached: built without crash points?')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
