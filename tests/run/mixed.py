#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Random pipelines under strrun, whose processes are stopped and killed.

The text that flows tells at each place what must come next: each line is its
number.  So a lost byte, a repeated one and a wrong order are seen.  Pipelines
in which nothing is killed must end with all lines; those in which a process is
killed must end, with one gap at most and perhaps without the end.

Run N is the same for the same SEED, whatever JOBS is.  FROM is the first run.

usage: mixed.py STRRUN OUTSIDE RUNS [SEED [JOBS [FROM]]]
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 120
WRITES = ('for (\\$o = 0; \\$o < \\$r; \\$o += \\$w) {{ \\$w = syswrite(STDOUT, '
          '\\$b, \\$r - \\$o, \\$o) // 0 }} ')
COPIES = ('perl -e "while (\\$r = sysread STDIN, \\$b, {n}) {{ ' + WRITES +
          '}}"')
SIGNALS = (
    'perl -MTime::HiRes=setitimer,ITIMER_REAL -e "\\$SIG{{ALRM}} = sub {{}}; '
    'setitimer(ITIMER_REAL, .001, .001); for (;;) {{ \\$r = sysread(STDIN, '
    '\\$b, {n}); next if !defined \\$r; last if !\\$r; ' + WRITES + '}}"')
POLLS = (
    'perl -e "for (;;) {{ \\$v = q(); vec(\\$v, 0, 1) = 1; select(\\$v, undef, '
    'undef, undef) if rand() < .1; \\$r = sysread(STDIN, \\$b, {n}); '
    'last if !\\$r; ' + WRITES + '}}"')
STAGES = [
    'cat', 'cat', 'dd bs={n} 2>/dev/null', 'dd ibs={n} obs={m} 2>/dev/null',
    '$O cat', 'env -i /bin/cat', 'sed -u s/x/y/', 'awk "{{ print }}"',
    'perl -pe 1', 'tee /dev/null', '(dd bs={n} count=50 2>/dev/null; cat)',
    '(dd bs={n} count=50 2>/dev/null; $O head {m}; cat)',
    '(head -n 0; cat)', 'sh -c "cat; :"', '$O run cat', '$O child cat',
    'grep ""', 'tail -n +1', COPIES, 'bash -c "exec cat"',
    'cat /dev/stdin', '(exec 3<&0; cat <&3 & wait)', 'xz -0 | xz -d',
    'gzip -1 | gzip -d', '(cat | cat)', 'sh -c "cat | cat"',
    '(head -c {m}; cat)', '(exec 5>&1; cat >&5)', 'setsid -w cat',
    'stdbuf -o0 cat', 'timeout 100 cat', '(ulimit -n 20; cat)',
    '(echo $(echo x | cat) >/dev/null; cat)', '$O child dd bs={n} 2>/dev/null',
    '(dd bs={n} count=80 2>/dev/null; env -i /bin/dd bs={n} count=9 '
    '2>/dev/null; cat)', SIGNALS, POLLS,
]
SOURCES = ['seq {c}', '(seq {h}; seq {h1} {c})', 'seq {c} | cat',
           '(seq {h} | cat; seq {h1} {c})',
           'perl -e "\\$| = 1; print qq(\\$_\\n) for 1..{c}"',
           'awk "BEGIN {{ for (i = 1; i <= {c}; i++) print i }}"',
           '(seq {h}; $O run seq {h1} {c})',
           '(seq {h} | dd bs=64 2>/dev/null; seq {h1} {c} & wait)']


def pipeline(rng):
    count = rng.choice([10, 1000, 20000, 20000, 60000])
    half = rng.randrange(count)
    text = rng.choice(SOURCES).format(c=count, h=half, h1=half + 1)
    for _ in range(rng.randrange(1, 6)):
        text += ' | ' + rng.choice(STAGES).format(
            n=rng.choice([7, 64, 100, 512, 4096, 4097, 65536, 200000]),
            m=rng.choice([1, 100, 4096, 70000]))
    return count, text


def members(leader):
    """The living descendants of strrun, and what is left of its session."""
    parent, session = {}, {}
    for name in os.listdir('/proc'):
        if not name.isdigit():
            continue
        try:
            with open(f'/proc/{name}/stat', encoding='latin-1') as f:
                field = f.read().rpartition(')')[2].split()
            if field[0] != 'Z':
                parent[int(name)] = int(field[1])
                session[int(name)] = int(field[3])
        except (OSError, IndexError):
            pass
    found = {p for p, s in session.items() if s == leader}
    while True:
        more = {p for p, pp in parent.items() if pp in found} - found
        if not more:
            return sorted(found - {leader})
        found |= more


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


def one(strrun, env, rng):
    """Return: what is wrong; None."""
    count, text = pipeline(rng)
    mode = rng.choice(['calm', 'stops', 'kills'])
    shell = rng.choice(['sh', 'bash'])
    with tempfile.TemporaryFile() as out:
        p = subprocess.Popen([*strrun, shell, '-c', text], env=env,
                             stdin=subprocess.DEVNULL, stdout=out,
                             stderr=subprocess.DEVNULL,
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
            os.system('ps -eo pid,ppid,sid,stat,wchan:20,args | sed "s/^/# /"')
            for pid in [*members(p.pid), p.pid]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        p.wait()
        out.seek(0)
        wrong = wrong or verdict(out.read(), count, killed)
    return wrong and f'({mode}, {shell}): {wrong}: {text}'


def job(strrun, env, runs, seed):
    """Return: the number of runs that went wrong."""
    bad = 0
    for k, n in enumerate(runs, 1):
        wrong = one(strrun, env, random.Random(f'{seed} {n}'))
        if k % 250 == 0:
            print(f'# {k} runs of {len(runs)} in one job', flush=True)
        if wrong is not None:
            bad += 1
            print(f'# run {n} {wrong}', flush=True)
    return bad


def main(argv):
    strrun, outside, runs = argv[1].split(), argv[2], int(argv[3])
    seed = int(argv[4]) if len(argv) > 4 else random.randrange(1 << 30)
    jobs = int(argv[5]) if len(argv) > 5 else 4
    first = int(argv[6]) if len(argv) > 6 else 0
    env = dict(os.environ, O=outside, LC_ALL='C')
    print(f'1..1\n# seed {seed}', flush=True)
    pids = []
    for k in range(jobs):
        pid = os.fork()
        if pid == 0:
            bad = job(strrun, env, range(first + k, first + runs, jobs), seed)
            os._exit(1 if bad else 0)
        pids.append(pid)
    bad = any([os.waitpid(pid, 0)[1] for pid in pids])
    print(f'{"not ok" if bad else "ok"} 1 - {runs} random pipelines')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
