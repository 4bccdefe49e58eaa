#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Build modules and drivers as others do, and run them.

usage: run.py BUILD-DIR SOURCE-DIR PREFIX COMPILER...

Installs the build below a directory of our own, builds what is in
tests/modules and examples/module-* with the compiler and pkg-config alone,
outside of the tree, and runs it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile


class Kit:
    """What was installed, and a place to build in."""

    def __init__(self, build, source, prefix, cc, top):
        self.source, self.cc, self.top = source, cc, top
        # The folder has a new name each time: a cache finds nothing.
        os.environ['CCACHE_DISABLE'] = '1'
        self.root = os.path.join(top, 'root')
        self.work = os.path.join(top, 'work')
        self.modules = os.path.join(top, 'modules')
        for d in (self.work, self.modules):
            os.mkdir(d, 0o755)
        env = dict(os.environ, DESTDIR=self.root)
        self.run(['meson', 'install', '-C', build, '--no-rebuild',
                  '--quiet'], env=env)
        pc = [d for d, _, files in os.walk(self.root)
              if 'fast-streams-module.pc' in files]
        self.env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=self.root,
                        PKG_CONFIG_PATH=':'.join(pc),
                        PKG_CONFIG_LIBDIR=':'.join(pc))
        libs = [d for d, _, files in os.walk(self.root + prefix)
                if 'libstreams.so' in files]
        self.env['LD_LIBRARY_PATH'] = ':'.join(
            libs + [os.environ.get('LD_LIBRARY_PATH', '')]).rstrip(':')
        self.env['STREAMS_DAEMON'] = ':'.join(
            os.path.join(d, 'streamsd') for d, _, files in os.walk(self.root)
            if 'streamsd' in files)
        self.env['STREAMS_MODULE_PATH'] = self.modules
        self.env['STREAMS_DOMAIN'] = os.path.join(top, 'domain')

    def run(self, command, **kw):
        done = subprocess.run(command, capture_output=True, text=True, **kw)
        if done.returncode != 0:
            raise RuntimeError(f'{" ".join(command)}: {done.returncode}\n'
                               f'{done.stdout}{done.stderr}')
        return done.stdout

    def config(self, *args):
        return self.run(['pkg-config', *args], env=self.env).split()

    def module(self, path, name=None, libs=None):
        """cc -c, then a shared object: the two commands of the document."""
        name = name or os.path.basename(path)[:-2]
        obj = os.path.join(self.work, name + '.o')
        so = os.path.join(self.modules, name + '.so')
        self.run(self.cc + self.config('--cflags', 'fast-streams-module') +
                 ['-std=gnu11', '-O2', '-Wall', '-Werror',
                  '-Wno-unknown-warning-option',
                  '-Wno-deprecated-non-prototype', '-c', path, '-o', obj])
        self.run(self.cc + [obj] + (
            self.config('--libs', 'fast-streams-module')
            if libs is None else libs) + ['-o', so])
        return so

    def program(self, name, *sources, extra=()):
        out = os.path.join(self.work, name)
        self.run(self.cc + ['-g', '-O1', '-D_GNU_SOURCE', *extra, '-o', out,
                            *sources] +
                 self.config('--cflags', '--libs', 'fast-streams') +
                 ['-pthread'])
        return out


def bad_modules(kit):
    """Files that are in the path and cannot be loaded."""
    tests = os.path.join(kit.source, 'tests', 'modules')
    with open(os.path.join(kit.modules, 'broken.so'), 'wb') as f:
        f.write(b'\x7fELF' + bytes(200))
    source = os.path.join(kit.work, 'alien.c')
    with open(source, 'w', encoding='ascii') as f:
        f.write('int printf(const char *, ...);\n'
                'int alieninfo(void);\n'
                'int alieninfo(void) { return printf("x"); }\n')
    kit.module(source)
    source = os.path.join(kit.work, 'noinfo.c')
    with open(source, 'w', encoding='ascii') as f:
        f.write('int other;\nint f(void);\nint f(void) { return other; }\n')
    kit.module(source)
    so = kit.module(os.path.join(tests, 'serial.c'), 'notmine')
    os.chmod(so, 0o666)


class Tap:
    """Cases of our own between those of programs."""

    def __init__(self):
        self.count = self.bad = 0

    def case(self, ok, name, text=''):
        self.count += 1
        self.bad += not ok
        print(f'{"ok" if ok else "not ok"} {self.count} - {name}')
        for line in text.splitlines() if not ok else ():
            print(f'# {line}')
        sys.stdout.flush()

    def program(self, command, env):
        """Its cases, as ours."""
        done = subprocess.run(command, capture_output=True, text=True,
                              env=env)
        seen = 0
        for line in done.stdout.splitlines():
            m = re.match(r'(not )?ok \d+ - (.*)', line)
            if m:
                seen += 1
                self.case(not m[1], m[2])
            elif line.startswith('#'):
                print(line)
        if done.returncode != 0:
            print('\n'.join('# ' + s for s in done.stderr.splitlines()))
        if seen == 0:
            self.case(False, os.path.basename(command[0]),
                      done.stdout + done.stderr)


def main():
    build, source, prefix, *cc = sys.argv[1:]
    tests = os.path.join(source, 'tests', 'modules')
    harness = os.path.join(source, 'tests', 'harness')
    tap = Tap()
    top = tempfile.mkdtemp(prefix='streams-modules-')
    print('TAP version 13')
    try:
        kit = Kit(build, source, prefix, cc, top)
        for name in ('serial', 'batch', 'metro', 'xover'):
            kit.module(os.path.join(tests, name + '.c'))
        tap.case(True, 'modules and drivers are built outside of the tree')
        bad_modules(kit)
        program = kit.program(
            'modules', os.path.join(tests, 'modules.c'),
            os.path.join(harness, 't.c'), os.path.join(harness, 'file.c'),
            extra=[f'-I{harness}', f'-I{tests}'])
        # those who count on what others did share a domain; cases are alone
        tap.program([program], dict(kit.env, STREAMS_DOMAIN='private'))
        for d, name in (('module-pass', 'tally'), ('module-queue', 'pace'),
                        ('module-mux', 'fan')):
            d = os.path.join(source, 'examples', d)
            kit.module(os.path.join(d, name + '.c'))
            use = kit.program('try-' + name, os.path.join(d, 'try.c'))
            done = subprocess.run([use], env=kit.env, capture_output=True,
                                  text=True, timeout=60)
            tap.case(done.returncode == 0, f'the example {name} runs',
                     done.stdout + done.stderr)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as e:
        tap.case(False, 'the kit is complete', str(e))
    finally:
        shutil.rmtree(top, ignore_errors=True)
    print(f'1..{tap.count}')
    sys.exit(tap.bad != 0)


if __name__ == '__main__':
    main()
