#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Build and run the examples for other tools: CMake, ctypes, event loops.

usage: others.py BUILD-DIR SOURCE-DIR PREFIX COMPILER...

What an example needs and the machine has not is a reason to skip it.
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', 'modules'))
from run import Kit, Tap  # noqa: E402


def says(kit, command, wanted):
    """Run; what is wrong with what it printed, or None."""
    done = subprocess.run(command, env=kit.env, timeout=60,
                          capture_output=True, text=True, check=False)
    if done.returncode == 0 and done.stdout == wanted:
        return None
    return f'{done.returncode}: {done.stdout}{done.stderr}'


def cmake(kit, examples):
    build = os.path.join(kit.work, 'cmake')
    env = dict(kit.env, CC=' '.join(kit.cc), LDFLAGS='')
    kit.run(['cmake', '-S', os.path.join(examples, 'cmake'), '-B', build],
            env=env)
    kit.run(['cmake', '--build', build], env=env)
    return says(kit, [os.path.join(build, 'band')], '3 high\n0 low\n')


def ctypes(kit, examples):
    return says(kit, [sys.executable, '-B',
                      os.path.join(examples, 'python', 'message.py')],
                'ctl! hello\n')


def loop(name, wanted):
    def run(kit, examples):
        flags = subprocess.run(
            ['pkg-config', '--cflags', '--libs', name], check=True,
            capture_output=True, text=True).stdout.split()
        out = kit.program(
            name, os.path.join(examples, 'loops', f'{name}.c'),
            extra=['-Wall', '-Wl,--no-as-needed', *flags])
        return says(kit, [out], wanted)
    return run


MESSAGE = 'message of 5 bytes: hello\n'
CASES = [
    ('a program built with CMake', shutil.which('cmake'), cmake),
    ('Python, by ctypes', True, ctypes),
    ('a loop of libevent', 'libevent', loop('libevent', MESSAGE + 'eventfd\n')),
    ('a loop of libuv', 'libuv', loop('libuv', MESSAGE)),
]


def there(what):
    """Is it, or is it a package of pkg-config that is?"""
    return bool(what) and (not isinstance(what, str) or what.startswith('/') or
                           subprocess.run(['pkg-config', '--exists', what],
                                          check=False).returncode == 0)


def main():
    build, source, prefix, *cc = sys.argv[1:]
    tap = Tap()
    top = tempfile.mkdtemp(prefix='streams-others-')
    print('TAP version 13')
    try:
        kit = Kit(build, source, prefix, cc, top)
        for name, needs, function in CASES:
            if not there(needs):
                tap.case(True, f'{name} # SKIP not installed here')
                continue
            try:
                wrong = function(kit, os.path.join(source, 'examples'))
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                wrong = str(e)
            tap.case(wrong is None, name, wrong or '')
    except (RuntimeError, OSError) as e:
        tap.case(False, 'the kit is complete', str(e))
    finally:
        shutil.rmtree(top, ignore_errors=True)
    print(f'1..{tap.count}')
    return tap.bad != 0


if __name__ == '__main__':
    sys.exit(main())
