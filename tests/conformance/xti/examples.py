#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Build examples/xti-* as somebody else would, and run them.

usage: examples.py BUILD-DIR SOURCE-DIR PREFIX COMPILER...

With `pkg-config --cflags --libs' only, outside of the tree.  Servers and
clients over each transport, and with plain sockets of the operating system
(python's) at the other end of tcp, both ways.
"""

import glob
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', '..', 'modules'))
from run import Kit, Tap  # noqa: E402

LOCAL = '127.0.0.1.0.0'


def port_of(uaddr):
    a = [int(x) for x in uaddr.split('.')]
    return a[4] * 256 + a[5]


def uaddr_of(port):
    return f'127.0.0.1.{port // 256}.{port % 256}'


class Examples:
    def __init__(self, kit, tap):
        self.kit, self.tap = kit, tap
        self.env = dict(kit.env, STREAMS_LINGER='250')
        self.data = os.path.join(kit.work, 'data')
        with open(self.data, 'wb') as f:
            f.write(os.urandom(1 << 20))

    def build(self):
        libs = self.kit.config('--cflags', '--libs', 'fast-streams-xti')
        for path in sorted(glob.glob(os.path.join(
                self.kit.source, 'examples', 'xti-*', '*.c'))):
            out = os.path.join(self.kit.work, os.path.basename(path)[:-2])
            self.kit.run(self.kit.cc + ['-O2', '-Wall', '-o', out, path] +
                         libs)

    def start(self, *args):
        """A server, and the address it writes."""
        p = subprocess.Popen([os.path.join(self.kit.work, args[0]),
                              *args[1:]], env=self.env, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return p, p.stdout.readline().strip()

    def run(self, *args):
        return subprocess.run([os.path.join(self.kit.work, args[0]),
                               *args[1:]], env=self.env, text=True,
                              capture_output=True, timeout=60)

    def end(self, p, name, ok, text=''):
        """The server ends by itself; then the case is decided."""
        try:
            out, err = p.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = p.communicate()
            ok, err = False, 'the server did not end\n' + err
        self.tap.case(ok and p.returncode == 0, name, f'{text}{out}{err}')

    def daytime(self, netid, uaddr):
        p, at = self.start('daytimed', netid, uaddr, '3')
        done = [self.run('daytime', netid, at) for _ in range(3)]
        ok = all(d.returncode == 0 and d.stdout.count(':') == 2 for d in done)
        self.end(p, f'daytime, {netid}', ok,
                 ''.join(d.stdout + d.stderr for d in done))

    def echo(self, netid, uaddr):
        p, at = self.start('echod', netid, uaddr, '100')
        done = self.run('echo', netid, at, '100', '5')
        self.end(p, f'echo over 100 connections, {netid}',
                 done.returncode == 0, done.stdout + done.stderr)

    def file(self, netid, uaddr):
        copy = self.data + '.' + netid
        p, at = self.start('tlirecv', netid, copy, uaddr)
        done = self.run('tlisend', netid, self.data, at)
        self.end(p, f'TLI file transfer, {netid}',
                 done.returncode == 0 and self.same(copy), done.stderr)

    def same(self, copy):
        with open(self.data, 'rb') as a, open(copy, 'rb') as b:
            return a.read() == b.read()

    def has(self, netid):
        done = self.run('daytimed', netid, LOCAL if netid == 'tcp' else
                        'is.it.there', '0')
        sys.stderr.write(done.stderr)
        return done.returncode == 0

    # ------------------------------------------------------- plain sockets

    def sockets_ask(self):
        """Sockets call XTI servers."""
        p, at = self.start('daytimed', 'tcp', LOCAL, '1')
        with socket.create_connection(('127.0.0.1', port_of(at)), 20) as s:
            text = b''.join(iter(lambda: s.recv(100), b''))
        self.end(p, 'a socket asks daytimed', text.count(b':') == 2)
        p, at = self.start('echod', 'tcp', LOCAL, '1')
        with socket.create_connection(('127.0.0.1', port_of(at)), 20) as s:
            s.sendall(b'echo' * 500)
            got = b''
            while len(got) < 2000:
                got += s.recv(4096)
        self.end(p, 'a socket asks echod', got == b'echo' * 500)
        copy = self.data + '.socket'
        p, at = self.start('tlirecv', 'tcp', copy, LOCAL)
        with socket.create_connection(('127.0.0.1', port_of(at)), 20) as s, \
                open(self.data, 'rb') as f:
            s.sendall(f.read())
            s.shutdown(socket.SHUT_WR)
            s.recv(1)
        self.end(p, 'a socket sends a file to tlirecv', self.same(copy))

    def serve(self, handler, count=1):
        s = socket.create_server(('127.0.0.1', 0), backlog=200)
        s.settimeout(30)

        def loop():
            with s:
                for _ in range(count):
                    c, _ = s.accept()
                    threading.Thread(target=handler, args=(c,)).start()
        t = threading.Thread(target=loop)
        t.start()
        return t, uaddr_of(s.getsockname()[1])

    def sockets_answer(self):
        """XTI clients call servers of sockets."""
        def daytime(c):
            with c:
                c.sendall(b'Thu Jan  1 00:00:00 1970\r\n')
                c.recv(1)

        t, at = self.serve(daytime)
        done = self.run('daytime', 'tcp', at)
        t.join()
        self.tap.case(done.stdout.startswith('Thu Jan'),
                      'daytime asks a socket', done.stdout + done.stderr)

        def echo(c):
            with c:
                for b in iter(lambda: c.recv(65536), b''):
                    c.sendall(b)

        t, at = self.serve(echo, 100)
        done = self.run('echo', 'tcp', at, '100', '5')
        t.join()
        self.tap.case(done.returncode == 0, 'echo asks sockets',
                      done.stdout + done.stderr)
        got = []

        def file(c):
            with c:
                got.append(b''.join(iter(lambda: c.recv(65536), b'')))

        t, at = self.serve(file)
        done = self.run('tlisend', 'tcp', self.data, at)
        t.join()
        with open(self.data, 'rb') as f:
            self.tap.case(done.returncode == 0 and got == [f.read()],
                          'tlisend sends a file to a socket', done.stderr)


def main():
    build, source, prefix, *cc = sys.argv[1:]
    tap = Tap()
    top = tempfile.mkdtemp(prefix='streams-xti-')
    print('TAP version 13')
    try:
        ex = Examples(Kit(build, source, prefix, cc, top), tap)
        ex.build()
        for netid, uaddr in (('ticotsord', 'some.name'),
                             ('ticots', 'other.name'), ('tcp', LOCAL)):
            if not ex.has(netid):
                tap.case(True, f'{netid} # SKIP it does not open')
                continue
            ex.daytime(netid, uaddr)
            ex.echo(netid, uaddr)
            if netid != 'ticots':
                ex.file(netid, uaddr)
            if netid == 'tcp':
                ex.sockets_ask()
                ex.sockets_answer()
    except (RuntimeError, OSError) as e:
        tap.case(False, 'the examples can be built and run', str(e))
    finally:
        shutil.rmtree(top, ignore_errors=True)
    print(f'1..{tap.count}')
    return tap.bad != 0


if __name__ == '__main__':
    sys.exit(main())
