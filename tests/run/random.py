#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Random pipelines under strrun, whose processes are stopped and killed.

The text that flows tells at each place what must come next: each line is its
number.  So a lost byte, a repeated one and a wrong order are seen.  Pipelines
in which nothing is killed must end with all lines; those in which a process is
killed must end, with one gap at most and perhaps without the end.

usage: random.py STRRUN OUTSIDE RUNS [SEED]
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 60
STAGES = [
    'cat', 'cat', 'dd bs={n} 2>/dev/null', 'dd ibs={n} obs={m} 2>/dev/null',
    '$O cat', 'env -i /bin/cat', 'sed -u s/x/y/', 'awk "{{ print }}"',
    'perl -pe 1', 'tee /dev/null', '(dd bs={n} count=50 2>/dev/null; cat)',
    '(dd bs={n} count=50 2>/dev/null; $O head {m}; cat)',
    '(head -n 0; cat)', 'sh -c "cat; :"', '$O run cat', '$O child cat',
    'grep ""', 'tail -n +1', 'perl -e "while (sysread STDIN, \\$b, {n}) '
    '{{ syswrite STDOUT, \\$b }}"', 'bash -c "exec cat"',
    'cat /dev/stdin', '(exec 3<&0; cat <&3 & wait)', 'xz -0 | xz -d',
    'gzip -1 | gzip -d',
]
SOURCES = ['seq {c}', '(seq {h}; seq {h1} {c})', 'seq {c} | cat',
           '(seq {h} | cat; seq {h1} {c})',
           'perl -e "\\$| = 1; print qq(\\$_\\n) for 1..{c}"',
           'awk "BEGIN {{ for (i = 1; i <= {c}; i++) print i }}"']


def pipeline(rng):
    count = rng.choice([10, 1000, 20000, 20000, 60000])
    half = rng.randrange(count)
    text = rng.choice(SOURCES).format(c=count, h=half, h1=half + 1)
    for _ in range(rng.randrange(1, 6)):
        text += ' | ' + rng.choice(STAGES).format(
            n=rng.choice([7, 64, 100, 512, 4096, 4097, 65536, 200000]),
            m=rng.choice([1, 100, 4096, 70000]))
    return count, text


def members(session):
    """The processes of a session, but its leader."""
    found = []
    for name in os.listdir('/proc'):
        if not name.isdigit() or int(name) == session:
            continue
        try:
            with open(f'/proc/{name}/stat', encoding='latin-1') as f:
                field = f.read().rpartition(')')[2].split()
            if int(field[3]) == session and field[0] != 'Z':
                found.append(int(name))
        except (OSError, IndexError):
            pass
    return found


def hurt(pid, rng, stops, kills):
    """Stop and continue processes; kill one.  True: one was killed."""
    killed = False
    for _ in range(rng.randrange(1, 8)):
        time.sleep(rng.random() * 0.03)
        victims = members(pid)
        if not victims:
            break
        victim = rng.choice(victims)
        try:
            if kills and not killed and rng.random() < 0.3:
                os.kill(victim, signal.SIGKILL)
                killed = True
            elif stops:
                os.kill(victim, signal.SIGSTOP)
                time.sleep(rng.random() * 0.02)
                os.kill(victim, signal.SIGCONT)
        except ProcessLookupError:
            pass
    return killed


def verdict(data, count, killed):
    want = b''.join(b'%d\n' % i for i in range(1, count + 1))
    if data == want:
        return None
    at = next((i for i, (a, b) in enumerate(zip(data, want)) if a != b),
              min(len(data), len(want)))
    # A killed process loses what it has read; what comes after it in its list
    # may go on.  Some bytes after the gap may be as before by chance.
    if killed and any(want.find(data[i:], i) >= 0
                      for i in range(max(0, at - 12), at + 1)):
        return None
    return f'{len(data)} of {len(want)} bytes, wrong from byte {at}'


def main(argv):
    strrun, outside, runs = argv[1], argv[2], int(argv[3])
    seed = int(argv[4]) if len(argv) > 4 else random.randrange(1 << 30)
    rng = random.Random(seed)
    env = dict(os.environ, O=outside, LC_ALL='C')
    bad = 0
    print(f'1..1\n# seed {seed}', flush=True)
    for n in range(runs):
        count, text = pipeline(rng)
        mode = rng.choice(['calm', 'stops', 'kills'])
        with tempfile.TemporaryFile() as out:
            p = subprocess.Popen([strrun, rng.choice(['sh', 'bash']), '-c',
                                  text], env=env, stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=subprocess.DEVNULL,
                                 start_new_session=True)
            killed = mode != 'calm' and hurt(p.pid, rng, True, mode == 'kills')
            try:
                p.wait(LIMIT)
                # what a killed shell has left behind
                end = time.monotonic() + LIMIT
                while members(p.pid) and time.monotonic() < end:
                    time.sleep(0.005)
                wrong = 'processes are left' if members(p.pid) else None
            except subprocess.TimeoutExpired:
                wrong = 'no end'
            if wrong is not None:
                os.system(f'ps -s {p.pid} -o pid,stat,wchan:20,args | '
                          'sed "s/^/# /"')
                for pid in [*members(p.pid), p.pid]:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
            p.wait()
            out.seek(0)
            wrong = wrong or verdict(out.read(), count, killed)
        if wrong is not None:
            bad += 1
            print(f'# run {n} ({mode}): {wrong}: {text}', flush=True)
    print(f'{"not ok" if bad else "ok"} 1 - {runs} random pipelines')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
