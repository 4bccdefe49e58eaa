#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Install, use what README says, and uninstall, on a system of its own.

usage: run.py BUILD-DIR SOURCE-DIR COMPILER...

A layer lies above the prefix, /etc and the build directory, in a mount
namespace that ends with this test; for a user without privileges, in a user
namespace too.  So everything lies where it will lie, and ldconfig, pkg-config,
the compiler and the loader find it where they look by themselves.
"""

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

NAMES = [
    'libraries go where the loader looks, without dpkg-architecture',
    'so they do with a compiler that cannot name the directory',
    'a configured build moves to another prefix',
    'make uninstall with a prefix takes that prefix only',
    'installed programs run before ldconfig',
    'the ten lines of README run',
    'a program with XTI runs',
    'a program linked with -lxti, or -lxnet, alone runs',
    'the reporter is found',
    'pages have no names that the system has; each call and program has one',
    'one name for all directories',
    'a configuration file is replaced unless it was edited',
    'after make uninstall nothing is left but what was edited',
]
NEEDED = ['meson', 'ninja', 'python3', 'cc', 'gcc', 'ld', 'sh', 'env', 'as',
          'ar', 'pkg-config', 'uname', 'sed']
HELPFUL = re.compile(r'usage|fast-streams|strbench|0\.\d', re.I)


def run(command, **kw):
    kw.setdefault('timeout', 60)
    return subprocess.run(command, capture_output=True, text=True, **kw)


class Tap:
    def __init__(self):
        self.n = self.bad = 0

    def case(self, ok, text=''):
        name = NAMES[self.n]
        self.n += 1
        self.bad += not ok
        print(f'{"ok" if ok else "not ok"} {self.n} - {name}', flush=True)
        if not ok:
            for line in str(text).splitlines()[-25:]:
                print(f'# {line}')

    def skip_rest(self, reason):
        while self.n < len(NAMES):
            name = NAMES[self.n]
            self.n += 1
            print(f'ok {self.n} - {name} # SKIP {reason}')


def options(build):
    out = run(['meson', 'introspect', '--buildoptions', build]).stdout
    return {o['name']: o['value'] for o in json.loads(out)}


# ----------------------------------------------------------- configuring

def configure(tap, source, top):
    """scripts/configure.sh, on a project of three lines."""
    tools = os.path.join(top, 'bin')
    os.mkdir(tools)
    for name in NEEDED:
        path = shutil.which(name)
        if path:
            # a shim of pyenv and its like looks at its own name and place
            with open(os.path.join(tools, name), 'w', encoding='utf-8') as f:
                f.write(f'#!/bin/sh\nexec {path} "$@"\n')
            os.chmod(os.path.join(tools, name), 0o755)
    with open(os.path.join(top, 'meson.build'), 'w', encoding='utf-8') as f:
        f.write("project('three', 'c')\n")
    env = dict(os.environ, PATH=tools, CC='cc')
    script = os.path.join(source, 'scripts', 'configure.sh')
    multiarch = run(['cc', '-print-multiarch']).stdout.strip()
    r = run([script, 'b', '/opt/one'], cwd=top, env=env)
    o = options(os.path.join(top, 'b')) if r.returncode == 0 else {}
    tap.case(o.get('prefix') == '/opt/one' and
             (not multiarch or o.get('libdir') == f'lib/{multiarch}'),
             f'{o.get("prefix")} {o.get("libdir")}\n{r.stdout}{r.stderr}')
    # a compiler that does not know the directory's name, as new clangs
    path = os.path.join(tools, 'newcc')
    with open(path, 'w', encoding='utf-8') as f:
        f.write('#!/bin/sh\ncase $1 in\n-print-multiarch) exit 1 ;;\n'
                f'-dumpmachine) echo {multiarch.replace("-", "-pc-", 1)} ;;\n'
                '*) exec cc "$@" ;;\nesac\n')
    os.chmod(path, 0o755)
    r = run([script, 'c', '/opt/one'], cwd=top, env=dict(env, CC='newcc'))
    o = options(os.path.join(top, 'c')) if r.returncode == 0 else {}
    tap.case(not multiarch or o.get('libdir') == f'lib/{multiarch}',
             f'{o.get("libdir")}\n{r.stdout}{r.stderr}')
    r = run([script, 'b', '/opt/two'], cwd=top, env=env)
    two = options(os.path.join(top, 'b'))['prefix']
    run([script, 'b', ''], cwd=top, env=env)
    still = options(os.path.join(top, 'b'))['prefix']
    tap.case(two == '/opt/two' and still == '/opt/two',
             f'{two} {still}\n{r.stdout}{r.stderr}')


def uninstall_one(tap, source, top):
    """scripts/uninstall.py, on the logs of two installations."""
    build = os.path.join(top, 'logs')
    os.mkdir(build)
    one, two = (os.path.join(top, name) for name in ('one', 'two'))
    with open(os.path.join(build, 'installed.txt'), 'w',
              encoding='utf-8') as log:
        for prefix in (one, two):
            os.mkdir(prefix)
            for name in ('f', 'g'):
                open(os.path.join(prefix, name), 'w').close()
            log.write(f'# prefix {prefix}\n{prefix}\n{prefix}/f\n'
                      f'# Meson\n{prefix}/g\n')
    script = [sys.executable, os.path.join(source, 'scripts/uninstall.py'),
              build]
    said = [run([*script, one]), os.path.exists(one), os.path.exists(two),
            run([*script, one]), run(script), os.path.exists(two),
            run(script)]
    ok = [s if isinstance(s, bool) else s.returncode for s in said]
    tap.case(ok == [0, False, True, 1, 0, False, 1], said)


# ----------------------------------------------- the system of its own

def layered(top, places):
    """A layer above each place.  Runs inside the namespace."""
    subprocess.run(['mount', '--make-rprivate', '/'], check=True)
    subprocess.run(['mount', '-t', 'tmpfs', 'none', top], check=True)
    root = os.environ['LAYER'] == '0'
    for n, place in enumerate(places):
        up, work = (os.path.join(top, d + str(n)) for d in ('up', 'work'))
        os.mkdir(work)
        os.mkdir(up)
        # In a user namespace, directories of root are not ours to write in
        # unless the layer has them.
        for d, dirs, _ in os.walk(place) if not root else ():
            deep = d[len(place):].count('/')
            dirs[:] = [] if deep > 4 else [
                x for x in dirs if not os.path.islink(os.path.join(d, x))]
            os.makedirs(up + d[len(place):], exist_ok=True)
        subprocess.run(['mount', '-t', 'overlay', 'none', '-o',
                        f'lowerdir={place},upperdir={up},workdir={work}' +
                        ('' if root else ',userxattr'), place],
                       check=True, stderr=subprocess.PIPE, text=True)
    if os.path.isdir('/var/cache/ldconfig'):
        subprocess.run(['mount', '-t', 'tmpfs', 'none',
                        '/var/cache/ldconfig'], check=True)


def everything(*places):
    found = set()
    for place in places:
        for d, dirs, files in os.walk(place):
            found.update(os.path.join(d, n) for n in dirs + files)
    return found


def hello_of(source):
    """The program and the command of README's ten lines."""
    with open(os.path.join(source, 'README.md'), encoding='utf-8') as f:
        text = f.read()
    part = text.split('## Ten lines')[1].split('## The map')[0]
    program = re.search(r'^```c\n(.*?)^```', part, re.S | re.M)[1]
    command = re.search(r'^    (cc hello\.c .*)$', part, re.M)[1]
    return program, command


def programs(prefix):
    """What was installed and can be started, by folder."""
    for d in ('bin', 'sbin', 'libexec/fast-streams'):
        folder = os.path.join(prefix, d)
        for n in sorted(os.listdir(folder) if os.path.isdir(folder) else []):
            yield os.path.join(folder, n)


def install(build):
    """What make install does."""
    r = run(['meson', 'install', '-C', build, '--no-rebuild'])
    for name in ('install-conf.txt', 'install-log.txt'):
        if r.returncode == 0:
            with open(os.path.join(build, 'meson-logs', name),
                      encoding='utf-8') as log, \
                    open(os.path.join(build, 'installed.txt'), 'a',
                         encoding='utf-8') as all_logs:
                all_logs.write(log.read())
    return r


def edited(build, prefix):
    """Install over files that are new, old, and edited.

    Return what is wrong, and the path of the edited one.
    """
    o = options(build)
    etc = os.path.join(prefix, o['sysconfdir'])
    copies = os.path.join(prefix, o['datadir'], 'fast-streams')
    paths = [os.path.join(etc, 'streams.conf'),
             os.path.join(etc, 'netconfig.xnsl')]

    def text(path):
        with open(path, encoding='utf-8') as f:
            return f.read()

    def put(path, what):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(what)

    first = [text(p) for p in paths]
    put(paths[0], first[0] + '# mine\n')
    # as an older release installed it
    for p in (paths[1], os.path.join(copies, 'netconfig.xnsl')):
        put(p, '# old\n')
    r = install(build)
    wrong = []
    if text(paths[0]) != first[0] + '# mine\n':
        wrong.append('the edited file was overwritten')
    log = text(os.path.join(build, 'meson-logs', 'install-conf.txt'))
    if text(paths[0] + '.new') != first[0] or \
            f'# edited: {paths[0]} stays' not in log:
        wrong.append('the new file is not beside it')
    if text(paths[1]) != first[1] or os.path.exists(paths[1] + '.new'):
        wrong.append('the old file was not replaced')
    return wrong and wrong + [r.stdout + r.stderr], paths[0]


def inside(build, source, cc):
    """The cases that need the system; its root is ours."""
    tap = Tap()
    tap.n = 4
    # A build that is not in the layer still has its own libraries.
    os.environ.pop('LD_LIBRARY_PATH', None)
    os.environ.pop('PKG_CONFIG_PATH', None)
    os.environ.update(STREAMS_DOMAIN='/tmp/domain', STREAMS_LINGER='100')
    prefix = options(build)['prefix']
    places = (prefix, '/etc')
    if os.path.exists(os.path.join(prefix, 'include/fast-streams')):
        tap.skip_rest(f'there is an installed copy in {prefix}')
        return 0
    before = everything(*places)
    for log in ('meson-logs/install-log.txt', 'meson-logs/install-conf.txt',
                'installed.txt'):
        if os.path.exists(os.path.join(build, log)):
            os.unlink(os.path.join(build, log))     # of the layer
    for _ in range(2):  # the second time directories are there
        r = install(build)
    new = everything(*places) - before
    wrong = [r.stdout + r.stderr] if r.returncode else []
    for p in programs(prefix):
        if p not in new:
            continue
        with open(p, 'rb') as f:
            if f.read(4) != b'\x7fELF':
                continue
        # No tool fails to be loaded; most say their version.
        r = run([p, '--version' if 'strbench-' not in p else '--help'],
                stdin=subprocess.DEVNULL)
        if r.returncode not in (0, 1, 2) or \
                'shared libraries' in r.stderr or \
                (r.returncode == 0 and not HELPFUL.search(r.stdout)):
            wrong.append(f'{p}: {r.returncode} {r.stdout}{r.stderr}')
    tap.case(len(new) > 300 and not wrong, '\n'.join(wrong))

    work = tempfile.mkdtemp(dir='/tmp')
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    run(['ldconfig'])
    program, command = hello_of(source)
    with open(os.path.join(work, 'hello.c'), 'w', encoding='utf-8') as f:
        f.write(program)
    if cc[-1:] != ['cc']:
        command = command.replace('cc hello', ' '.join(cc) + ' hello', 1)
    r = run(['sh', '-c', command], cwd=work)
    tap.case(r.returncode == 0 and r.stdout == 'hello', r.stdout + r.stderr)

    for name in ('daytimed', 'daytime'):
        r = run(['sh', '-c', f'{" ".join(cc)} {source}/examples/xti-daytime/'
                 f'{name}.c -o {name} '
                 '$(pkg-config --cflags --libs fast-streams-xti)'], cwd=work)
        if r.returncode:
            break
    text = r.stdout + r.stderr
    if not text:
        with subprocess.Popen(
                ['./daytimed', 'ticotsord', 'installed', '1'], cwd=work,
                stdout=subprocess.PIPE, text=True) as server:
            at = server.stdout.readline().strip()
            r = run(['./daytime', 'ticotsord', at], cwd=work)
            server.wait(30)
        text = r.stdout + r.stderr
    tap.case(r.returncode == 0 and text.count(':') == 2, text)

    wrong = []
    for lib in ('xti', 'xnet', 'xnsl'):
        r = run(['sh', '-c', f'{" ".join(cc)} -w -D_GNU_SOURCE -DWITH_XTI '
                 f'-o alone {source}/tests/linking/alone.c '
                 f'{source}/tests/linking/ends.c '
                 '$(pkg-config --cflags --libs-only-L fast-streams-xti) '
                 f'-l{lib} && ./alone'], cwd=work)
        if (r.returncode, r.stdout, r.stderr) != (0, 'hello\n', ''):
            wrong.append(f'{lib}: {r}')
    tap.case(not wrong, '\n'.join(wrong))

    r = run([os.path.join(prefix, 'bin/strbench'), 'report', '--help'])
    tap.case(r.returncode == 0 and 'strreport' in r.stdout,
             r.stdout + r.stderr)

    pages = {os.path.basename(p) for p in new if '/man/man' in p}
    clash = pages & {'getmsg.2', 'putmsg.2', 'loop.4', 'netconfig.5'}
    lacks = {'getpmsg.2str', 'putpmsg.2str', 't_rcvvudata.3str',
             'rw_tryenter.9str', 'loop.4str', 'strbench.1',
             'streamsd.8'} - pages
    for p in programs(prefix):
        d, name = os.path.split(p)
        if p in new and d.endswith('bin'):
            lacks |= {f'{name}.{"8" if d.endswith("sbin") else "1"}'} - pages
    tap.case(not clash and not lacks, f'{clash} {lacks}')

    odd = [p for p in new if re.search(r'/streams(/|\.pc$)', p)]
    tap.case(not odd and any(p.endswith('/fast-streams.pc') for p in new),
             '\n'.join(odd))

    wrong, mine = edited(build, prefix)
    tap.case(not wrong, '\n'.join(wrong))

    run(['sh', '-c', f'{prefix}/sbin/strclean'])
    r = run([sys.executable, os.path.join(source, 'scripts/uninstall.py'),
             build])
    left = everything(*places) - before - {'/etc/ld.so.cache'}
    lost = before - everything(*places)
    stays = {mine, os.path.dirname(mine)}
    tap.case(r.returncode == 0 and mine in left and left <= stays and
             not lost and f'edited, and stays: {mine}' in r.stdout,
             '\n'.join([r.stdout, r.stderr, *sorted(left)[:10],
                        *sorted(lost)[:10]]))
    return 1 if tap.bad else 0


def main(argv):
    if argv[1:2] == ['--inside']:
        build, source, top, *cc = argv[2:]
        try:
            layered(top, [options(build)['prefix'], '/etc', build])
        except subprocess.CalledProcessError as e:
            print(f'cannot: {e.stderr or e}', file=sys.stderr)
            return 77
        return inside(build, source, cc)
    build, source, *cc = argv[1:]
    tap = Tap()
    print(f'1..{len(NAMES)}', flush=True)
    top = tempfile.mkdtemp(prefix='streams-install-')
    try:
        configure(tap, source, top)
        uninstall_one(tap, source, top)
        layer = os.path.join(top, 'layer')
        os.mkdir(layer)
        alone = ['unshare', '--mount', '--pid', '--fork', '--kill-child',
                 '--ipc', '--net']
        if os.geteuid() != 0:
            alone += ['--user', '--map-root-user']
        r = subprocess.run(
            [*alone, sys.executable, '-B', os.path.abspath(__file__),
             '--inside', build, source, layer, *cc],
            env=dict(os.environ, LAYER=str(os.geteuid())),
            stderr=subprocess.PIPE, text=True, timeout=200)
        if r.returncode == 77 or 'unshare' in r.stderr:
            why = r.stderr.strip().splitlines()[:1] or ['?']
            tap.skip_rest(f'no layer above the file system: {why[0]}')
            return 1 if tap.bad else 0
        sys.stderr.write(r.stderr)
        return 1 if tap.bad or r.returncode else 0
    finally:
        shutil.rmtree(top, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main(sys.argv))
