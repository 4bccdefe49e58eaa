#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""strrun and programs that get into its way.

usage: robust.py STRRUN AWKWARD [CASE...], or -CASE...: all but these
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 120
AWKWARD = None  # the program awkward.c
CASES = []


def case(f):
    CASES.append(f)
    return f


def run_stat(strrun, text, prefix=(), lines=None):
    """The output of `sh -c text`, and what strrun says of its pipes."""
    p = subprocess.run([*prefix, strrun, '--stat', 'sh', '-c', text],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=LIMIT, check=False)
    out, err = p.stdout.decode(), p.stderr.decode()
    print('# ' + err.rstrip().replace('\n', '\n# '), flush=True)
    if lines is not None:
        assert out == ''.join(f'{i}\n' for i in range(1, lines + 1)), \
            f'other bytes: {len(out)} of them'
    return out, err


def run(strrun, text, prefix=(), lines=None):
    """The output of `sh -c text`; how often a pipe was carried."""
    out, err = run_stat(strrun, text, prefix, lines)
    found = re.search(r'(\d+) times a pipe was carried', err)
    return out, int(found.group(1)) if found else 0


def py(text):
    return f"{sys.executable} -c '{text}'"


# The process has no free descriptor when it makes its first process, so it
# cannot reach the area.  Its grandchild holds the pipe, unknown to the others.
FULL = '''
import os
hold = []
try:
    while True: hold.append(os.dup(2))
except OSError: pass
if os.fork() == 0:
    if os.fork(): os._exit(0)
    os.close(hold.pop()); os.close(hold.pop())
    open("go").close()
    os.write(1, b"20001\\n")
    os._exit(0)
os.wait()
'''


@case
def no_free_descriptor(strrun):
    """a process without a free descriptor keeps its pipes out of it"""
    with tempfile.TemporaryDirectory() as d:
        _, n = run(strrun, f'cd {d}; mkfifo go; ulimit -n 64; (' + py(FULL) +
                   '; exec seq 20000) | exec perl -ne \'print; '
                   'open F, ">", "go" if $. == 20000\'', lines=20001)
    assert n == 0, 'the pipe was carried'


@case
def changed_program(strrun):
    """a file is looked at again after it has changed"""
    with tempfile.TemporaryDirectory() as d:
        # what has changed less than two seconds ago is not remembered
        _, said = run_stat(strrun, f'cd {d}; cp "$(command -v cat)" copy; '
                           'sleep 2.1; : | ./copy; : | ./copy; '
                           'chmod 2755 copy; seq 20000 | ./copy', lines=20000)
    assert '1 kept from it: a program outside got them' in said


KILLED = '''
import os, signal
for i in range(300):
    r, w = os.pipe()
    w2r, w2 = os.pipe()
    reader = os.fork()
    if reader == 0:
        os.close(w); os.close(w2r)
        for k in range(3000): os.read(r, 100)
        os.write(w2, b"x")
        signal.pause()
    os.close(r); os.close(w2)
    writer = os.fork()
    if writer == 0:
        os.close(w2r)
        while True: os.write(w, b"y" * 100)
    os.close(w)
    os.read(w2r, 1)
    os.kill(reader, signal.SIGKILL); os.kill(writer, signal.SIGKILL)
    os.waitpid(reader, 0); os.waitpid(writer, 0)
    os.close(w2r)
'''


@case
def killed_pairs(strrun):
    """more killed readers and writers than there are records"""
    _, n = run(strrun, py(KILLED) + '; seq 200000 | cat', lines=200000)
    assert n > 270, f'{n} carried'


@case
def sealed(strrun):
    """no process can cut the area off"""
    out, _ = run(strrun, py('''
import os
pid, fd, _ = os.environ["STRRUN"].split(":")
f = os.open(f"/proc/{pid}/fd/{fd}", os.O_RDWR)
for size in 0, 4096, 1 << 30:
    try: os.ftruncate(f, size)
    except PermissionError: print("refused")
''') + '; seq 100000 | md5sum')
    assert out == 'refused\n' * 3 + 'dea9193b768319cbb4ff1a137ac03113  -\n'


BAD = '''
import ctypes, errno, os, sys
c = ctypes.CDLL(None, use_errno=True)
c.mmap.restype = ctypes.c_void_p
c.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                   ctypes.c_int, ctypes.c_long]
c.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def call(f, fd, p, n):
    r = f(fd, ctypes.c_void_p(p), ctypes.c_size_t(n))
    return r if r >= 0 else errno.errorcode[ctypes.get_errno()]
m = c.mmap(None, 16384, 3, 0x22, -1, 0)
ctypes.memset(m, 120, 4096)
c.mprotect(m + 4096, 12288, 0)
'''
BAD_WRITER = BAD + '''
for i in range(1, 200001): os.write(1, b"%d\\n" % i)
said = [call(c.write, 1, 8, 10), call(c.write, 1, m + 4096, 5000),
        call(c.write, 1, m + 4090, 100)]
sys.stderr.write(repr(said) + "\\n")
for i in range(200001, 230001): os.write(1, b"%d\\n" % i)
'''
BAD_READER = BAD + '''
got, said = 0, []
while got < 800000:
    b = os.read(0, 50); got += len(b); sys.stdout.buffer.write(b)
for p in 8, m + 4096: said.append(call(c.read, 0, p, 10))
sys.stderr.write(repr(said) + "\\n")
while True:
    b = os.read(0, 50); sys.stdout.buffer.write(b)
    if not b: break
'''


def native_too(strrun, text):
    """The same output with strrun and without."""
    want = subprocess.run(['sh', '-c', text], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout
    out, n = run(strrun, text)
    assert out == want.decode(), 'other bytes'
    assert n > 0, 'never carried'


@case
def bad_address_written(strrun):
    """a bad address in write() gives EFAULT, and loses nothing"""
    native_too(strrun, '(' + py(BAD_WRITER) + ' | cat | md5sum) 2>&1')


@case
def bad_address_read(strrun):
    """a bad address in read() gives EFAULT, and loses nothing"""
    native_too(strrun, '(seq 200000 | ' + py(BAD_READER) + ' | md5sum) 2>&1')


# Other faults are those of the program: its handler, its death.
FAULTS = BAD + '''
import signal, faulthandler
for i in range(200000): os.write(1, b"%7d\\n" % i)
how = sys.argv[1] if len(sys.argv) > 1 else "die"
if how == "handler":
    signal.signal(signal.SIGSEGV, lambda *a: os.write(2, b"handled\\n"))
    os.kill(os.getpid(), signal.SIGSEGV)
    print(signal.getsignal(signal.SIGSEGV) is not None, file=sys.stderr)
elif how == "ignore":
    signal.signal(signal.SIGSEGV, signal.SIG_IGN)
    os.kill(os.getpid(), signal.SIGSEGV)
elif how == "sent":
    os.kill(os.getpid(), signal.SIGSEGV)
else:
    ctypes.memset(m + 4096, 0, 1)
for i in range(200000, 220000): os.write(1, b"%7d\\n" % i)
'''


@case
def other_faults(strrun):
    """other faults reach the program, or end it"""
    for how in 'handler', 'ignore', 'sent', 'die':
        text = f'{py(FAULTS)} {how} | cat | md5sum; echo ${{PIPESTATUS[@]}}'
        # the writer must be the only one: no subshell around it
        native_too(strrun, 'exec bash -c ' + shlex.quote(text))


SIGNALS = '''
import os, signal, sys
signal.signal(signal.SIGALRM, lambda *a: None)
signal.siginterrupt(signal.SIGALRM, True)
signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
while True:
    b = os.read(0, 7)
    if not b: break
    while b: b = b[os.write(1, b):]
signal.setitimer(signal.ITIMER_REAL, 0)
'''


@case
def many_signals(strrun):
    """a signal each 0.2 ms changes neither data nor order"""
    for _ in range(5):
        _, n = run(strrun, f'seq 40000 | {py(SIGNALS)} | cat', lines=40000)
        assert n > 0, 'never carried'


# The reader gives the pipe back again and again, while the writer fills it.
AGAIN = '''
import os, time
got = []
def rd(n):
    b = os.read(0, n); got.append(b); return b
for j in range(6):
    for i in range(40 << j): rd(64)
    time.sleep(0.05)
    os.close(os.dup(0))
while rd(65536): pass
print(b"".join(got) == b"".join(b"%07d\\n" % i for i in range(150000)))
'''


@case
def carried_again(strrun):
    """a pipe that is full when it is carried again loses nothing"""
    out, n = run(strrun, f'{AWKWARD} fill 150000 | {py(AGAIN)}')
    assert out == 'True\n' and n > 1, f'{out}, carried {n} times'


@case
def unseen_ways(strrun):
    """a line read in another way is the next one"""
    for how in 'alias', 'link', 'wordexp', 'dup', 'user':
        if how == 'user' and os.geteuid() != 0:
            continue
        with tempfile.TemporaryDirectory() as d:
            out, n = run(strrun, f'cd {d}; {AWKWARD} fill 200000 | '
                         f'{AWKWARD} next {how}')
        assert out == '200000 lines\n' and n > 0, f'{how}: {out}, {n}'


@case
def writing_handler(strrun):
    """what a handler writes while write() runs is neither lost nor doubled"""
    out, _ = run(strrun, f'{AWKWARD} handler 2 | {AWKWARD} records')
    assert out == 'in order\n', out


@case
def restarted(strrun):
    """a handler with SA_RESTART does not end a write"""
    out, n = run(strrun, f'{AWKWARD} restart | perl -e \'while ($n = sysread '
                 'STDIN, $b, 4096) { $all += $n; select undef, undef, undef, '
                 '.001 } print $all\'')
    assert out == '2048000' and n > 0, f'{out}, carried {n} times'


@case
def signal_at_each_step(strrun):
    """a signal ends a blocked write, whenever it comes"""
    for _ in range(10):
        with tempfile.TemporaryDirectory() as d:
            out, _ = run(strrun, f'cd {d}; ({AWKWARD} signals | {AWKWARD} '
                         'idle) 2>&1')
        if out != 'not carried\n':
            break
    if out == 'not traced\n':
        return 'tracing is not permitted'
    assert out == 'none missed\n', out
    return None


@case
def small_stack(strrun):
    """a thread with the smallest stack can start programs"""
    out, _ = run(strrun, f'{AWKWARD} spawn')
    assert out == '0\n', out


@case
def unknown_holders(strrun):
    """a reader that the library cannot know keeps the pipe out of it"""
    for text in (f'{AWKWARD} raw',
                 f'(exec 3<&0; {AWKWARD} lone <&3 3<&- & '
                 f'exec {AWKWARD} first 3<&-)'):
        with tempfile.TemporaryDirectory() as d:
            out, _ = run(strrun, f'cd {d}; {AWKWARD} fill 100000 2>/dev/null |'
                         f' {text} | cat')
        assert out == 'both\n', f'{text}: {out}'


POLLED = '''
import os, select
d = os.dup(0)
e = select.epoll()
e.register(d)
n = 0
while True:
    e.poll()
    b = os.read(0, 64)
    if not b: break
    n += len(b)
print(n)
'''


@case
def polled_copy(strrun):
    """epoll on a copy of a descriptor sees what its reader has not read"""
    out, _ = run(strrun, f'{AWKWARD} fill 100000 | {py(POLLED)}')
    assert out == '800000\n', out


# Another process sets O_NONBLOCK on the file that both have.
NONBLOCK = '''
import os, fcntl
if os.fork() == 0:
    fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK | os.O_WRONLY)
    os._exit(0)
for i in range(10): os.write(1, b"x" * 10)
os.wait()
try:
    for i in range(100000): os.write(1, b"x" * 10)
except BlockingIOError: os.write(2, b"refused\\n")
'''


@case
def nonblocking_by_another(strrun):
    """O_NONBLOCK set by another process holds"""
    out, _ = run(strrun, f'({py(NONBLOCK)} 2>&3 | (read x; cat >/dev/null)) '
                 '3>&1')
    assert out in ('refused\n', ''), out


@case
def started_oddly(strrun):
    """exec of a FIFO; SIGCHLD and SIGXFSZ that the caller ignores"""
    with tempfile.TemporaryDirectory() as d:
        text = (f'cd {d}; mkfifo f; chmod +x f; ./f 2>/dev/null; echo $?; '
                'ulimit -f 0; dd if=/dev/zero of=x count=1 2>/dev/null; '
                'echo $?')
        p = subprocess.run(['perl', '-e', '$SIG{CHLD} = $SIG{XFSZ} = "IGNORE";'
                            'exec @ARGV', strrun, 'sh', '-c', text],
                           stdout=subprocess.PIPE, timeout=LIMIT, check=False)
    assert p.returncode == 0 and p.stdout == b'126\n1\n', \
        f'{p.returncode} {p.stdout}'


# Each pipe is a reason to look at all descriptors, of both processes.
CROWD = '''
import os
p = [os.pipe() for _ in range(150)]
if os.fork() == 0:
    for k in range(20):
        for r, w in p: os.write(w, b"hello\\n")
    os._exit(0)
for r, w in p: os.close(w)
print(sum(len(os.read(r, 6)) for k in range(20) for r, w in p))
'''


@case
def many_pipes(strrun):
    """a process with many pipes looks at no more descriptors than it makes calls"""
    out, err = run_stat(strrun, py(CROWD))
    assert out == '18000\n', out
    found = re.search(r'(\d+) descriptors examined', err)
    assert found and int(found.group(1)) < 6000 + 4000, err


def in_mounts(text):
    return ('unshare', '-m', 'sh', '-c', text + ' && exec "$@"', 'sh')


def can(prefix):
    return subprocess.run([*prefix, 'true'], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


@case
def no_proc(strrun):
    """without /proc the kernel carries all, in silence"""
    prefix = in_mounts('mount -t tmpfs none /proc')
    if not can(prefix):
        return 'mounting is not permitted'
    _, n = run(strrun, 'seq 100000 | cat | cat', prefix, lines=100000)
    assert n == 0
    return None


@case
def hidden_processes(strrun):
    """a holder that /proc does not show counts as one"""
    prefix = in_mounts('mount -t proc -o hidepid=2 proc /proc')
    user = (*prefix, 'setpriv', '--reuid=65534', '--regid=65534',
            '--clear-groups')
    if not can(user):
        return 'mounting or another user is not permitted'
    # the second writer is hidden from the first
    _, n = run(strrun, 'seq 100000 | cat | cat', user, lines=100000)
    return None if n else 'nothing is carried here'


COUNTS = ('i=0; until [ -e in ]; do i=$((i+1)); echo $i; done; '
          'seq $((i+1)) $((i+100000))')


def wait_for(path):
    """What the file has, when it has a line."""
    text = ''
    while not text.endswith('\n'):
        os.sched_yield()
        if os.path.exists(path):
            with open(path, encoding='ascii') as f:
                text = f.read()
    return text.strip()


def pipeline(strrun, d, writer, reader):
    """writer | reader >out, in the directory d; the reader's pid."""
    text = (f'sh -c {shlex.quote(writer)} | '
            f'sh -c {shlex.quote("echo $$ >pid; " + reader)} >out')
    # what the reader writes goes into a file, so that it never waits
    p = subprocess.Popen([strrun, '--stat', 'sh', '-c', text], cwd=d,
                         stderr=subprocess.PIPE)
    return p, wait_for(os.path.join(d, 'pid'))


def tool(strrun, name, *args):
    """A tool that lies beside strrun."""
    path = os.path.join(os.path.dirname(strrun), name)
    return subprocess.Popen([path, *args], stdout=subprocess.PIPE, bufsize=0,
                            stderr=subprocess.PIPE)


def insert(strrun, *args):
    return tool(strrun, 'strinsert', *args)


def output(d):
    with open(os.path.join(d, 'out'), encoding='ascii') as f:
        return f.read()


@case
def inserted_stream(strrun):
    """a stream with a module goes into a running pipeline, and loses nothing"""
    with tempfile.TemporaryDirectory() as d:
        p, reader = pipeline(strrun, d, COUNTS, 'exec cat')
        t = insert(strrun, '-t', str(LIMIT), '-v', '-h', 'nullmod', reader)
        said = t.stdout.readline()
        with open(os.path.join(d, 'in'), 'w', encoding='ascii'):
            pass
        t.send_signal(signal.SIGINT)  # the module goes
        _, err = p.communicate(timeout=LIMIT)
        _, passed = t.communicate(timeout=LIMIT)
        out = output(d)
    n = out.count('\n')
    assert said == b'inserted\n', passed
    assert out == ''.join(f'{i}\n' for i in range(1, n + 1)), 'other bytes'
    assert n >= 100000 and b'a stream was inserted' in err, err
    assert int(re.search(rb'(\d+) bytes', passed).group(1)) > 500000, passed


@case
def refused_streams(strrun):
    """a process that does not read gets no stream, and strinsert says why"""
    waits = 'read x <go; exec seq 1000'
    cases = [('exec cat', 'has not read'),
             ('kill -STOP $$; exec cat', 'is stopped|has not read'),
             ('exec 3<&0 <&-; read x <go2; exec cat <&3', 'has closed|fd/0: ')]
    with tempfile.TemporaryDirectory() as top:
        todo = []
        for k, (reader, why) in enumerate(cases):
            d = os.path.join(top, str(k))
            os.mkdir(d)
            os.mkfifo(os.path.join(d, 'go'))
            os.mkfifo(os.path.join(d, 'go2'))
            p, pid = pipeline(strrun, d, waits, reader)
            killed = insert(strrun, '-t', str(LIMIT), pid)
            killed.kill()
            killed.communicate(timeout=LIMIT)
            todo.append((d, p, pid, why, insert(strrun, '-t', '1', pid)))
        for d, p, pid, why, t in todo:
            _, err = t.communicate(timeout=LIMIT)
            assert t.returncode == 1 and re.search(why, err.decode()), err
            for name in ['go'] if 'closed' not in why else ['go', 'go2']:
                with open(os.path.join(d, name), 'w', encoding='ascii') as f:
                    f.write('\n')
            while p.poll() is None:
                try:
                    os.kill(int(pid), signal.SIGCONT)
                except ProcessLookupError:
                    pass
                os.sched_yield()
            p.communicate()
            assert output(d) == ''.join(f'{i}\n' for i in range(1, 1001)), d
    t = insert(strrun, str(os.getpid()) + ':0')
    t.communicate(timeout=LIMIT)
    assert t.returncode == 1, 'a process without strrun'


@case
def tapped_pipe(strrun):
    """a tap copies what flows, goes, and loses nothing"""
    # each reader reads in another way
    for reader in ('exec cat', 'exec dd bs=7 2>/dev/null', 'exec perl -pe 1',
                   'while read x; do echo $x; done'):
        with tempfile.TemporaryDirectory() as d:
            p, pid = pipeline(strrun, d, COUNTS.replace('00000', '0000'),
                              reader)
            copies = []
            for n in 20, 3000:
                t = tool(strrun, 'strtap', '-t', str(LIMIT), '-c', str(n), pid)
                copy, said = t.communicate(timeout=LIMIT)
                assert t.returncode == 0 and len(copy) == n, said
                copies.append(copy)
            t = tool(strrun, 'strtap', '-t', str(LIMIT), pid)
            copies.append(t.stdout.readline())
            t.send_signal(signal.SIGINT)
            copies[-1] += t.communicate(timeout=LIMIT)[0]
            with open(os.path.join(d, 'in'), 'w', encoding='ascii'):
                pass
            p.communicate(timeout=LIMIT)
            out = output(d)
        n = out.count('\n')
        assert out == ''.join(f'{i}\n' for i in range(1, n + 1)), 'other bytes'
        at = 0
        for copy in copies:
            at = out.find(copy.decode(), at) + len(copy)
            assert at >= len(copy), f'{reader}: not what flowed'


@case
def tap_to_the_end(strrun):
    """a tap that stays copies the rest, and is found by the writer's end, too"""
    with tempfile.TemporaryDirectory() as d:
        # in a subshell: the shell's own output is the pipe all the time
        p, _ = pipeline(strrun, d, '(echo $$ >writer); ' + COUNTS, 'exec cat')
        t = tool(strrun, 'strtap', '-t', str(LIMIT), '-w',
                 os.path.join(d, 'copy'),
                 wait_for(os.path.join(d, 'writer')) + ':1')
        said = t.stderr.readline()
        with open(os.path.join(d, 'in'), 'w', encoding='ascii'):
            pass
        p.communicate(timeout=LIMIT)
        said += t.communicate(timeout=LIMIT)[1]
        out = output(d)
        with open(os.path.join(d, 'copy'), encoding='ascii') as f:
            copy = f.read()
    n = out.count('\n')
    assert t.returncode == 0, said
    assert out == ''.join(f'{i}\n' for i in range(1, n + 1)), 'other bytes'
    assert len(copy) > 400000 and out.endswith(copy), said


@case
def seen_by_its_user(strrun):
    """strtop shows a pipeline to its user; other users do not see it"""
    def look(prefix=()):
        p = subprocess.run([*prefix, os.path.join(os.path.dirname(strrun),
                           'strtop'), '-r', '--json', reader],
                           stdout=subprocess.PIPE, check=True)
        return json.loads(p.stdout)['strruns']

    with tempfile.TemporaryDirectory() as d:
        os.mkfifo(os.path.join(d, 'go'))
        p, reader = pipeline(strrun, d, 'seq 100000; read x <go; seq 10',
                             'exec cat')
        # the writer waits for `go', the reader for the writer
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            pipes = look()[0]['pipes']
            if (len(pipes) == 1 and pipes[0]['reader_waits'] and
                    len(pipes[0]['writers']) == 1):
                break
        pipe = pipes[0]
        user = ('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups')
        hidden, tap = [], None
        if os.geteuid() == 0:
            hidden = look(user)
            tap = subprocess.run([*user, os.path.join(os.path.dirname(
                strrun), 'strtap'), reader], capture_output=True, check=False)
        with open(os.path.join(d, 'go'), 'w', encoding='ascii') as f:
            f.write('\n')
        p.communicate(timeout=LIMIT)
        out = output(d)
    assert len(out) == 588895 + 21, len(out)
    assert pipe['reader_waits'] and not pipe['writer_waits'], pipe
    assert pipe['bytes'] == 0, pipe
    assert [r['command'] for r in pipe['readers']] == ['cat'], pipe
    assert pipe['readers'][0]['pid'] == int(reader), pipe
    assert [w['command'] for w in pipe['writers']] == ['sh'], pipe
    assert hidden == [] and (tap is None or (tap.returncode == 1 and
                             b'ermission denied' in tap.stderr)), tap


def main(argv):
    global AWKWARD
    AWKWARD = argv[2]
    bad = 0
    todo = [f for f in CASES if not argv[3:] or f.__name__ in argv[3:] or
            (argv[3][0] == '-' and '-' + f.__name__ not in argv[3:])]
    print(f'1..{len(todo)}', flush=True)
    for i, f in enumerate(todo, 1):
        try:
            skip = f(argv[1])
            print(f'ok {i} - {f.__doc__}' + (f' # SKIP {skip}' if skip else ''),
                  flush=True)
        except (AssertionError, subprocess.TimeoutExpired) as e:
            bad += 1
            print(f'# {e}\nnot ok {i} - {f.__doc__}', flush=True)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
