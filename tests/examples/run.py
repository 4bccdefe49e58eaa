#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Build and run examples/port as somebody else would.

usage: run.py BUILD-DIR SOURCE-DIR PREFIX COMPILER...

Installs the build below a directory of our own, copies the example away and
has its own Makefile build and run it.  What docs/porting.md shows must be in
there.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', 'modules'))
from run import Kit, Tap  # noqa: E402


def texts(*roots):
    """Everything below these directories, as one text."""
    text = ''
    for root in roots:
        for d, _, files in os.walk(root):
            for n in sorted(files):
                if n.endswith(('.pyc',)):
                    continue
                with open(os.path.join(d, n), encoding='utf-8') as f:
                    text += f.read() + '\n'
    return text


def snippets(tap, source):
    """Code and commands of the document are in files that are run."""
    with open(os.path.join(source, 'docs', 'porting.md'),
              encoding='utf-8') as f:
        doc = f.read()
    have = texts(os.path.join(source, 'examples'),
                 os.path.join(source, 'tests', 'strangers'),
                 os.path.join(source, 'tests', 'examples'))
    code = re.findall(r'^```c\n(.*?)^```', doc, re.S | re.M)
    lost = [s for s in code if s not in have]
    tap.case(code and not lost, 'the code of the document is compiled',
             '\n'.join(lost))
    lines = {s.strip() for s in have.splitlines()}
    commands = [s.strip()
                for b in re.findall(r'^```sh\n(.*?)^```', doc, re.S | re.M)
                for s in b.splitlines() if s.strip()]
    lost = [s for s in commands if s not in lines]
    tap.case(commands and not lost, 'the commands of the document are run',
             '\n'.join(lost))


def script(tap, name, command, env, cwd, timeout):
    """A case that is a command."""
    done = subprocess.run(command, env=env, cwd=cwd, timeout=timeout,
                          capture_output=True, text=True)
    tap.case(done.returncode == 0, name, done.stdout + done.stderr)


def main():
    build, source, prefix, *cc = sys.argv[1:]
    tap = Tap()
    top = tempfile.mkdtemp(prefix='streams-examples-')
    print('TAP version 13')
    try:
        kit = Kit(build, source, prefix, cc, top)
        env = dict(kit.env)
        bins = [d for d, _, files in os.walk(kit.root + prefix)
                if {'strtop', 'strsetup'} & set(files)]
        env['PATH'] = ':'.join(bins + [env['PATH']])
        work = os.path.join(top, 'port')
        shutil.copytree(os.path.join(source, 'examples', 'port'), work)
        os.chmod(work, 0o755)
        env['STREAMS_MODULE_PATH'] = work
        make = ['make', '-s', 'CC=' + ' '.join(cc)]
        script(tap, 'the example is built with pkg-config alone',
               make + ['CFLAGS=-O2 -Wall -Werror -Wno-unknown-warning-option'],
               env, work, 120)
        script(tap, 'module, driver, server and clients work, and survive',
               make + ['check'], env, work, 120)
        script(tap, 'a port is looked at with the tools',
               ['sh', os.path.join(source, 'tests', 'examples', 'look.sh')],
               env, work, 60)
        snippets(tap, source)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as e:
        tap.case(False, 'the kit is complete', str(e))
    finally:
        shutil.rmtree(top, ignore_errors=True)
    print(f'1..{tap.count}')
    sys.exit(tap.bad != 0)


if __name__ == '__main__':
    main()
