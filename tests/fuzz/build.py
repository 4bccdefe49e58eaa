# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Build a fuzz target with everything it is about, instrumented.

usage: build.py ROOT OUTPUT DEPFILE CLANG SOURCE ...

OUTPUT may be an archive, SOURCE may be one too.  A source of the executive, of
a module or driver, or of a host is compiled as it always is; of a header among
the sources, its folder is searched for headers.  DEPFILE says which headers
OUTPUT was made of.
"""

import os
import subprocess
import sys
import tempfile

FLAGS = ['-g', '-O1', '-D_GNU_SOURCE', '-fno-strict-aliasing', '-fno-common',
         # clang's __atomic_load_n() takes no _Atomic
         '-D_Atomic=volatile', '-w',
         '-fsanitize=fuzzer-no-link,address,undefined',
         # users' addresses are added to before they are looked at
         '-fno-sanitize=alignment,shift,pointer-overflow', '-fno-sanitize-recover=all']
CORE = ['-D__STR_CORE__', '-DSTR_DEBUG', '-DSTR_CRASH_POINTS',
        '-ffreestanding']
KIND = {'core': CORE, 'mod': ['-D__STR_MOD__'], 'drv': ['-D__STR_MOD__']}


def flags(root, path):
    """How a source is compiled: by the folder it is in."""
    name = os.path.relpath(os.path.abspath(path), root)
    if name == 'host/sim/fast.c':
        return CORE
    return KIND.get(name.split(os.sep)[0], [])


def headers(depfile):
    """What a compiler's rule names, without its target."""
    with open(depfile, encoding='utf-8') as f:
        return f.read().replace('\\\n', ' ').partition(':')[2].split()


def main():
    root, output, depfile, clang, *sources = sys.argv[1:]
    inc = [f'-I{root}/{d}' for d in ('include', 'core', 'host/sim',
                                     'host/user', 'lib/streams', 'drv', 'drv/ip',
                                     'drv/sctp')]
    inc += ['-I' + os.path.dirname(s) for s in sources if s.endswith('.h')]
    used = set()
    with tempfile.TemporaryDirectory() as d:
        objects = []
        for n, s in enumerate(sources):
            if s.endswith('.a'):
                objects.append(s)
            if not s.endswith(('.c', '.S')):
                continue
            obj = os.path.join(d, f'{n}.o')
            subprocess.run([clang, *FLAGS, *flags(root, s), *inc, '-MD',
                            '-MF', obj + '.d', '-c', s, '-o', obj],
                           check=True)
            used.update(headers(obj + '.d'))
            objects.append(obj)
        with open(depfile, 'w', encoding='utf-8') as f:
            f.write(f'{output}: ' + ' '.join(sorted(used)) + '\n')
        if os.path.exists(output):
            os.unlink(output)
        if output.endswith('.a'):
            subprocess.run(['ar', 'rcs', output, *objects], check=True)
            return
        subprocess.run([clang, '-fsanitize=fuzzer,address,undefined',
                        *objects, '-lpthread', '-ldl', '-o', output],
                       check=True)


if __name__ == '__main__':
    main()
