#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Compile the programs of this folder as strangers do, and run them.

usage: run.py BUILD-DIR SOURCE-DIR PREFIX COMPILER... [-- NAME...]

Each with plain flags, with _FORTIFY_SOURCE, and with large files; whatever a
pedantic compiler says of a program, it says nothing of our headers.  Modules
and drivers that they use are in kit/, in a style that compilers complain of;
FIFOs they make in TMPDIR are STREAMS FIFOs.  With plain flags they share a
domain, one after the other; else each has its own.
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

FLAGS = {
    'plain': [],
    'fortified': ['-O2', '-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=2'],
    'large files': ['-D_FILE_OFFSET_BITS=64'],
}

OLD = {'.c': 'gnu89', '.cc': 'c++11'}


def module(kit, path, name=None, flags=()):
    """The two commands of docs/writing-a-module.md."""
    name = name or os.path.basename(path)[:-2]
    obj = os.path.join(kit.work, name + '.o')
    kit.run(kit.cc + kit.config('--cflags', 'fast-streams-module') +
            ['-O2', '-w', *flags, '-c', path, '-o', obj])
    kit.run(kit.cc + [obj] + kit.config('--libs', 'fast-streams-module') +
            ['-o', os.path.join(kit.modules, name + '.so')])


def pedantic(cc, *flags):
    """What a pedantic compiler has against our headers, and how it ended."""
    done = subprocess.run(cc + ['-Wall', '-Wextra', '-pedantic', *flags],
                          text=True, capture_output=True,
                          env=dict(os.environ, LC_ALL='C'))
    return [line for line in done.stderr.splitlines() if re.match(
        r'.*/include/fast-streams/.*(warning|error): ', line)], done


def main():
    build, source, prefix, *cc = sys.argv[1:]
    names = []
    if '--' in cc:
        cc, names = cc[:cc.index('--')], cc[cc.index('--') + 1:]
    tap = Tap()
    top = tempfile.mkdtemp(prefix='streams-strangers-')
    print('TAP version 13')
    try:
        kit = Kit(build, source, prefix, cc, top)
        libs = kit.config('--cflags', '--libs', 'fast-streams')
        xti = kit.config('--cflags', '--libs', 'fast-streams-xti')
        fifos = os.path.join(top, 'fifos')
        os.mkdir(fifos, 0o755)
        env = dict(kit.env, STREAMS_LINGER='250', TMPDIR=fifos,
                   STREAMS_FIFOS=os.path.join(fifos, '*'))
        here = os.path.join(source, 'tests', 'strangers')
        for path in sorted(glob.glob(os.path.join(here, 'kit', '*.c'))):
            module(kit, path)
        path = os.path.join(here, 'kit', 'hostile.c')
        for i in range(1, 27) if not names or 'flavours' in names else ():
            module(kit, path, f'wrong{i}', (f'-DWHO=wrong{i}', f'-DWRONG={i}'))
        cxx = os.environ.get('CXX', 'c++').split()
        for path in sorted(glob.glob(os.path.join(here, '*.c')) +
                           glob.glob(os.path.join(here, '*.cc'))):
            name, kind = os.path.splitext(os.path.basename(path))
            if names and name not in names:
                continue
            if kind == '.cc' and shutil.which(cxx[0]) is None:
                continue
            comp = kit.cc if kind == '.c' else cxx
            wrong, _ = pedantic(
                comp, '-std=' + OLD[kind], '-fsyntax-only', path,
                *(f for f in xti if f.startswith(('-I', '-D'))))
            for how, flags in FLAGS.items():
                if how != 'plain':
                    env['STREAMS_DOMAIN'] = 'private'
                else:
                    env['STREAMS_DOMAIN'] = kit.env['STREAMS_DOMAIN']
                out = os.path.join(kit.work, name)
                build_one = ['-pthread', '-o', out, path] + (
                    xti if name.startswith('xti') else libs)
                if how == 'plain':
                    # in the dialect that the compiler has chosen
                    more, done = pedantic(comp, *build_one)
                    wrong += more
                    tap.case(not wrong, f'{name} is said nothing of headers',
                             '\n'.join(wrong))
                    if done.returncode != 0:
                        raise RuntimeError(f'{path}:\n{done.stderr}')
                else:
                    kit.run(comp + flags + ['-w'] + build_one)
                try:
                    done = subprocess.run([out], env=env, text=True,
                                          capture_output=True, timeout=30)
                    tap.case(done.returncode == 0, f'{name}, {how}',
                             f'status {done.returncode}\n{done.stdout}'
                             f'{done.stderr}')
                except subprocess.TimeoutExpired as e:
                    tap.case(False, f'{name}, {how}', str(e))
    except (RuntimeError, OSError) as e:
        tap.case(False, 'strangers can be built', str(e))
    finally:
        shutil.rmtree(top, ignore_errors=True)
    print(f'1..{tap.count}')
    sys.exit(tap.bad != 0)


if __name__ == '__main__':
    main()
