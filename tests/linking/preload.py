#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Python with libstreams preloaded: its pipes are STREAMS pipes.

usage: preload.py LIBSTREAMS
"""

import asyncio
import ctypes
import os
import select
import selectors
import subprocess
import sys

CASES = []


def case(f):
    CASES.append(f)
    return f


def pipe():
    r, w = os.pipe()
    assert ctypes.CDLL(None).isastream(r) == 1, 'no STREAMS pipe'
    return r, w


@case
def os_reads_what_it_writes():
    r, w = pipe()
    os.write(w, b'hello')
    assert os.read(r, 10) == b'hello'
    with os.fdopen(w, 'w') as out:
        out.write('one\ntwo\n')
    with os.fdopen(r) as lines:
        assert lines.read() == 'one\ntwo\n'


@case
def select_and_poll_and_epoll_find_it():
    r, w = pipe()
    assert select.select([r], [w], [], 0) == ([], [w], [])
    p = select.poll()
    p.register(r, select.POLLIN)
    e = select.epoll()
    e.register(r, select.EPOLLIN)
    assert p.poll(0) == [] and e.poll(0) == []
    os.write(w, b'x')
    assert select.select([r], [], [], 5) == ([r], [], [])
    assert p.poll(5000) == [(r, select.POLLIN)]
    assert e.poll(5) == [(r, select.EPOLLIN)]


@case
def selectors_find_it():
    for kind in (selectors.DefaultSelector, selectors.PollSelector,
                 selectors.SelectSelector):
        r, w = pipe()
        with kind() as s:
            s.register(r, selectors.EVENT_READ, 'data')
            assert s.select(0) == []
            if os.fork() == 0:
                os.write(w, b'x')
                os._exit(0)
            (key, _), = s.select(10)
            assert key.data == 'data' and os.read(r, 5) == b'x'
        os.wait()
        os.close(r)
        os.close(w)


@case
def asyncio_copies():
    async def main():
        loop = asyncio.get_running_loop()
        r, w = pipe()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(r, 'rb'))
        out, _ = await loop.connect_write_pipe(
            asyncio.Protocol, os.fdopen(w, 'wb'))
        text = bytes(range(256)) * 8000
        out.write(text)
        out.close()
        assert await asyncio.wait_for(reader.read(), 20) == text

    asyncio.run(main())


@case
def asyncio_has_children():
    async def main():
        p = await asyncio.create_subprocess_exec(
            'sh', '-c', 'cat; echo end', stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        out, _ = await asyncio.wait_for(p.communicate(b'hello '), 20)
        assert out == b'hello end\n' and p.returncode == 0

    asyncio.run(main())


@case
def children_are_heard():
    assert subprocess.check_output(['echo', 'hello']) == b'hello\n'
    r = subprocess.run(['sh', '-c', 'echo out; echo err >&2; exit 3'],
                       capture_output=True, text=True)
    assert (r.stdout, r.stderr, r.returncode) == ('out\n', 'err\n', 3)


@case
def children_have_an_input():
    text = bytes(range(256)) * 8000
    r = subprocess.run(['cat'], input=text, capture_output=True, timeout=20)
    assert r.stdout == text


@case
def a_child_answers_line_by_line():
    with subprocess.Popen(['sh', '-c', 'while read x; do echo "got $x"; done'],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, bufsize=1) as p:
        for i in range(5):
            p.stdin.write(f'{i}\n')
            p.stdin.flush()
            assert p.stdout.readline() == f'got {i}\n'
        p.stdin.close()
        assert p.stdout.read() == ''


@case
def children_that_are_members_are_heard():
    out = subprocess.check_output(
        [sys.executable, '-c', 'import sys; print(sys.stdin.read())'],
        input=b'hello')
    assert out == b'hello\n'


@case
def children_side_by_side():
    with subprocess.Popen(['echo', 'hello'], stdout=subprocess.PIPE) as a, \
            subprocess.Popen(['cat'], stdin=a.stdout,
                             stdout=subprocess.PIPE) as b:
        a.stdout.close()
        assert b.stdout.read() == b'hello\n'


def main(argv):
    if os.environ.get('LD_PRELOAD') != argv[1]:
        os.environ['LD_PRELOAD'] = argv[1]
        os.execv(sys.executable, [sys.executable, '-B', *argv])
    bad = 0
    print(f'1..{len(CASES)}', flush=True)
    for n, f in enumerate(CASES, 1):
        name = f.__name__.replace('_', ' ')
        pid = os.fork()
        if pid == 0:
            try:
                f()
            except BaseException as e:  # pylint: disable=broad-except
                print(f'# {type(e).__name__}: {e}', flush=True)
                os._exit(1)
            os._exit(0)
        ok = os.waitpid(pid, 0)[1] == 0
        bad += not ok
        print(f'{"ok" if ok else "not ok"} {n} - {name}', flush=True)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
