#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Pipelines with strrun and without: the same bytes, the same exit statuses.

usage: pipelines.py STRRUN OUTSIDE [PART]
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HERE_DOC = 'line 3\nline 1\nline 2\nX\n'
LIMIT = 60
# programs that not every system has
NEEDED = {'awk', 'bc', 'bzip2', 'cpio', 'ed', 'gcc', 'git', 'gzip', 'make',
          'man', 'perl', 'ps', 'python3', 'xz', 'busybox', 'column', 'nl',
          'pr', 'setsid', 'rev', 'tac'}


def programs():
    with open(os.path.join(HERE, 'pipelines.txt'), encoding='utf-8') as f:
        for line in f:
            text = line.rstrip('\n')
            if not text or text.startswith('#'):
                continue
            shell = 'sh'
            if text.startswith('bash: '):
                shell, text = 'bash', text[6:]
            yield shell, text


def missing(shell, text):
    for word in re.findall(r'[a-z0-9]+', text) + [shell]:
        if word in NEEDED | {'bash'} and shutil.which(word) is None:
            return word
    return None


def run(prefix, shell, text, outside):
    if '<<X' in text:
        text += '\n' + HERE_DOC
    env = dict(os.environ, O=outside, LC_ALL='C', TZ='UTC')
    with tempfile.TemporaryDirectory() as d:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                p = subprocess.run([*prefix, shell, '-c', text], cwd=d,
                                   env=env, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=err, timeout=LIMIT,
                                   check=False, start_new_session=True)
                status = p.returncode
            except subprocess.TimeoutExpired:
                status = 'no end'
            out.seek(0)
            err.seek(0)
            # a name of this directory, and pids in messages of the shell
            said = re.sub(rb'/tmp/\w+|\b\d{3,} (?=Killed|Broken|Term)', b'',
                          err.read())
            return status, out.read(), said


def main(argv):
    strrun, outside, *part = argv[1:]
    cases = list(programs())
    if part:
        n, of = map(int, part[0].split('/'))
        cases = cases[n - 1::of]
    bad = 0
    print(f'1..{len(cases)}', flush=True)
    for i, (shell, text) in enumerate(cases, 1):
        name = text.replace('#', '\\#')
        lack = missing(shell, text)
        if lack:
            print(f'ok {i} - {name} # SKIP no {lack}', flush=True)
            continue
        want = run([], shell, text, outside)
        have = run([strrun], shell, text, outside)
        if want != have:
            bad += 1
            print(f'# without: {want}'[:2000].replace('\n', ' '))
            print(f'# with: {have}'[:2000].replace('\n', ' '))
        print(f'{"ok" if want == have else "not ok"} {i} - {name}', flush=True)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
