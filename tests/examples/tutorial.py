#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Build and run the programs of docs/tutorial.md, docs/sctp.md, examples/tli.

usage: tutorial.py BUILD-DIR SOURCE-DIR PREFIX COMPILER...

Installs the build below a directory of our own and builds with pkg-config
alone.  A program has to write what its .out file says.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', 'modules'))
from run import Kit, Tap  # noqa: E402

XTI = ('call', 'packet', 'phone', 'phoned')
SCTP = ('client', 'server')


class Examples:
    def __init__(self, kit, tap):
        self.kit, self.tap = kit, tap
        self.env = dict(kit.env, LC_ALL='C')
        bins = [d for d, _, files in os.walk(kit.root)
                if {'strtop', 'strtap'} & set(files)]
        self.env['PATH'] = ':'.join(bins + [self.env['PATH']])

    def build(self, path, name, *flags):
        package = 'fast-streams' + ('-xti' if name in XTI else
                                    '-sctp' if name in SCTP else '')
        out = os.path.join(self.kit.work, name)
        self.kit.run(self.kit.cc + [*flags, '-o', out, path] +
                     self.kit.config('--cflags', '--libs', package))
        return out

    def run(self, command, name, wanted=None):
        done = subprocess.run(command, env=self.env, cwd=self.kit.work,
                              timeout=100, capture_output=True, text=True,
                              check=False)
        self.tap.case(done.returncode == 0 and wanted in (None, done.stdout),
                      name, f'{done.returncode}\n{done.stdout}{done.stderr}')

    def tutorial(self, folder):
        modules = os.path.join(self.kit.source, 'examples', 'module-pass')
        self.kit.module(os.path.join(modules, 'tally.c'))
        for path in sorted(glob.glob(os.path.join(folder, '*.c'))):
            name = os.path.basename(path)[:-2]
            out = self.build(path, name, '-Wall', '-Werror', '-I' + modules)
            if os.path.exists(path[:-2] + '.out'):
                with open(path[:-2] + '.out', encoding='utf-8') as f:
                    self.run([out], f'{name} writes what the tutorial says',
                             f.read())
        self.run(['sh', os.path.join(folder, 'watch.sh')],
                 'streams and packets can be watched')

    def sctp(self, folder):
        for name in SCTP:
            self.build(os.path.join(folder, name + '.c'), name, '-Wall',
                       '-Werror')
        with open(os.path.join(folder, 'run.out'), encoding='utf-8') as f:
            self.run(['sh', os.path.join(folder, 'run.sh')],
                     'sockets of SCTP write what their page says', f.read())

    def complaints(self, folder):
        """What gcc says of the original, when it refuses what GCC 14 does."""
        name = 'the compiler complains of the original as the document says'
        version = subprocess.run(self.kit.cc + ['--version'], text=True,
                                 capture_output=True, check=True).stdout
        if 'Free Software Foundation' not in version:
            self.tap.case(True, f'{name} # SKIP not gcc')
            return
        said = ''
        for path in sorted(glob.glob(os.path.join(folder, 'original/*.c'))):
            done = subprocess.run(
                self.kit.cc + self.kit.config('--cflags', 'fast-streams-xti') +
                ['-std=gnu11', '-Werror=implicit-int',
                 '-Werror=implicit-function-declaration', '-fsyntax-only',
                 path], env=self.env, capture_output=True, text=True,
                check=False)
            for n, text in re.findall(r':(\d+):\d+: error: (.*) \[',
                                      done.stderr):
                said += f'{os.path.basename(path)}:{n}: {text}\n'
        with open(os.path.join(folder, 'complaints.txt'),
                  encoding='utf-8') as f:
            self.tap.case(said == f.read(), name, said)

    def unported(self, folder):
        """The original, as the language of its time."""
        for name in ('phone', 'phoned'):
            self.build(os.path.join(folder, 'original', name + '.c'), name,
                       '-std=gnu89', '-w')
        self.run(['sh', '-c', './phoned 1 >ready & '
                  'until grep -q . ready 2>/dev/null; do kill -0 $!; done; '
                  'test "$(./phone alice)" = 4711 && wait $!'],
                 'the original works unchanged with -std=gnu89')
        os.unlink(os.path.join(self.kit.work, 'ready'))

    def ported(self, folder):
        for name in ('phone', 'phoned'):
            self.build(os.path.join(folder, name + '.c'), name, '-Wall',
                       '-Wextra', '-Werror')
        self.run(['sh', os.path.join(folder, 'run.sh')],
                 'the port works over ticotsord and TCP')


def main():
    build, source, prefix, *cc = sys.argv[1:]
    tap = Tap()
    top = tempfile.mkdtemp(prefix='streams-tutorial-')
    print('TAP version 13')
    try:
        examples = Examples(Kit(build, source, prefix, cc, top), tap)
        examples.tutorial(os.path.join(source, 'examples', 'tutorial'))
        examples.sctp(os.path.join(source, 'examples', 'sctp'))
        folder = os.path.join(source, 'examples', 'tli')
        examples.complaints(folder)
        examples.unported(folder)
        examples.ported(folder)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as e:
        tap.case(False, 'the examples are built', str(e))
    finally:
        shutil.rmtree(top, ignore_errors=True)
    print(f'1..{tap.count}')
    return tap.bad != 0


if __name__ == '__main__':
    sys.exit(main())
