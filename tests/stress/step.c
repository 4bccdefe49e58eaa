/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * kill -9 at every instruction.
 *
 * A case is one operation on streams that a parent and its child share.  The
 * child is stepped through it (ptrace(2)) and killed after N instructions, for
 * every N there is, or for some.  Whatever it was in the middle of: the parent
 * finds streams that work or have ended, its calls return, and when it has
 * closed them the domain holds nothing.  (A pipe that only the dead had waits for
 * the collector, whenever that comes: so none is made or sent here.)
 *
 * STEP_MOST is how many places of an operation are tried at most, 0 for all;
 * STEP_AT tries one; T_SEED repeats the draw.  STEP_ON_LEFT is a command that
 * is given the number of the process that finds something left.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/LiS/loop.h>
#include <sys/ptrace.h>
#include <sys/testmod.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "left.h"
#include "t.h"

#define NFD 6

static int fd[NFD]; /* the streams; what is not open is -1 */
static char data[4096];

static unsigned long
from_env(const char *name, unsigned long otherwise)
{
	const char *s = getenv(name);

	return s == NULL ? otherwise : strtoul(s, NULL, 0);
}

/* ------------------------------------------------------------- what there is */

static void
two_ends(void)
{
	T_OK(pipe2(fd, O_NONBLOCK));
}

static void
with(const char *mod)
{
	two_ends();
	T_OK(ioctl(fd[0], I_PUSH, mod));
}

static void
with_nullmod(void)
{
	with("nullmod");
}

static void
with_srvmod(void)
{
	with("srvmod");
}

static void
with_testmod(void)
{
	with("testmod");
}

static int
put(int to, int ctl, int len, int band, int flags)
{
	struct strbuf c = {.len = ctl, .buf = data};
	struct strbuf d = {.len = len, .buf = data};

	return putpmsg(to, ctl >= 0 ? &c : NULL, len >= 0 ? &d : NULL, band,
		flags);
}

static void
with_data(void)
{
	two_ends();
	T_EQ(write(fd[0], data, 300), 300);
	T_EQ(write(fd[0], data, 10), 10);
}

static void
with_messages(void)
{
	two_ends();
	T_OK(put(fd[0], 20, 300, 0, MSG_BAND));
	T_OK(put(fd[0], -1, 40, 3, MSG_BAND));
	T_OK(put(fd[0], 8, -1, 0, MSG_HIPRI));
	T_OK(put(fd[0], 8, 3000, 0, MSG_BAND));
}

static void
with_what_srvmod_holds(void)
{
	with_srvmod();
	/* more than the other end's queue takes: the rest stays in the module */
	while (write(fd[0], data, sizeof(data)) > 0)
		;
	T_EQ(errno, EAGAIN);
}

static void
with_much(void)
{
	two_ends();
	while (write(fd[0], data, sizeof(data)) > 0)
		;
	T_EQ(errno, EAGAIN);
}

static void
two_pipes(void)
{
	T_OK(pipe2(fd, O_NONBLOCK));
	T_OK(pipe2(fd + 2, O_NONBLOCK));
}

static void
with_a_passed_one(void)
{
	two_pipes();
	T_OK(ioctl(fd[0], I_SENDFD, fd[2]));
}

static int
opened(const char *path)
{
	return T_OK(open(path, O_RDWR | O_NONBLOCK));
}

static int
command(int to, int cmd, int arg)
{
	struct strioctl si = {.ic_cmd = cmd, .ic_timout = 5,
		.ic_len = sizeof(arg), .ic_dp = (char *)&arg};

	return ioctl(to, I_STR, &si);
}

static void
two_loops(void)
{
	fd[0] = opened("/dev/streams/loop/1");
	fd[1] = opened("/dev/streams/loop/2");
	T_OK(command(fd[0], LOOP_SET, 2));
}

static void
with_a_burst(void)
{
	two_loops();
	T_OK(command(fd[0], LOOP_BURST, 4));
}

static void
with_what_waits(void)
{
	two_loops();
	T_OK(command(fd[0], LOOP_MSGLVL, 2));
	T_EQ(write(fd[0], data, 50), 50);
	T_EQ(write(fd[0], data, 50), 50);
}

static void
an_echo(void)
{
	fd[0] = opened("/dev/streams/echo/1");
}

static void
with_an_echo(void)
{
	an_echo();
	T_OK(put(fd[0], 20, 300, 0, MSG_BAND));
	T_EQ(write(fd[0], data, 300), 300);
}

static void
a_mux_and_an_echo(void)
{
	an_echo();
	fd[1] = opened("/dev/streams/minimux/1");
}

static void
linked(void)
{
	a_mux_and_an_echo();
	T_OK(ioctl(fd[1], I_LINK, fd[0]));
}

static void
a_fifo(void)
{
	fd[0] = opened("/dev/streams/fifo/1");
	fd[1] = opened("/dev/streams/fifo/1");
}

/* ---------------------------------------------------------- what is done to it */

static void
writes(void)
{
	(void)write(fd[0], data, 100);
}

static void
writes_much(void)
{
	(void)write(fd[0], data, sizeof(data));
}

static void
reads(void)
{
	(void)read(fd[1], data, 200);
}

static void
reads_all(void)
{
	while (read(fd[1], data, sizeof(data)) > 0)
		;
}

static void
reads_own(void)
{
	while (read(fd[0], data, sizeof(data)) > 0)
		;
}

static void
puts_a_message(void)
{
	(void)put(fd[0], 20, 300, 0, MSG_BAND);
}

static void
puts_a_long_one(void)
{
	(void)put(fd[0], 20, 4000, 2, MSG_BAND);
}

static void
puts_first(void)
{
	(void)put(fd[0], 20, 30, 0, MSG_HIPRI);
}

static void
gets(int from, int room)
{
	struct strbuf c = {.maxlen = 64, .buf = data};
	struct strbuf d = {.maxlen = room, .buf = data};
	int band = 0, flags = MSG_ANY;

	while (getpmsg(from, &c, &d, &band, &flags) >= 0) {
		band = 0;
		flags = MSG_ANY;
	}
}

static void
gets_messages(void)
{
	gets(fd[1], sizeof(data));
}

static void
gets_them_by_pieces(void)
{
	gets(fd[1], 1000);
}

static void
peeks(void)
{
	struct strpeek pk = {.ctlbuf = {32, 0, data},
		.databuf = {64, 0, data + 32}};

	(void)ioctl(fd[1], I_PEEK, &pk);
}

static void
pushes(void)
{
	(void)ioctl(fd[0], I_PUSH, "srvmod");
}

static void
pops(void)
{
	(void)ioctl(fd[0], I_POP, 0);
}

static void
flushes(void)
{
	(void)ioctl(fd[0], I_FLUSH, FLUSHRW);
}

static void
takes_a_passed_one(void)
{
	struct strrecvfd r;

	if (ioctl(fd[1], I_RECVFD, &r) == 0)
		(void)close(r.fd);
}

static void
opens_an_echo(void)
{
	(void)close(open("/dev/streams/echo/1", O_RDWR | O_NONBLOCK));
}

static void
asks_testmod(void)
{
	(void)command(fd[0], TM_IOC_IOCTL, 1);
}

static void
asks_testmod_openly(void)
{
	(void)ioctl(fd[0], TM_IOC_COPYIO, data);
}

static void
links(void)
{
	int id = ioctl(fd[1], I_LINK, fd[0]);

	if (id >= 0)
		(void)ioctl(fd[1], I_UNLINK, id);
}

static void
registers(void)
{
	(void)ioctl(fd[1], I_SETSIG, S_INPUT | S_HANGUP);
	(void)ioctl(fd[1], I_SETSIG, 0);
}

/* -------------------------------------------------------------------- the step */

static void
close_all(void)
{
	for (unsigned i = 0; i < NFD; i++) {
		if (fd[i] >= 0)
			(void)close(fd[i]);
		fd[i] = -1;
	}
}

static pid_t
child(void (*act)(void))
{
	pid_t pid = T_OK(fork());
	int status, n;

	if (pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		for (unsigned i = 0; i < NFD; i++)
			if (fd[i] >= 0)
				(void)ioctl(fd[i], I_NREAD, &n); /* attached now */
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		(void)raise(SIGSTOP);
		act();
		(void)raise(SIGSTOP);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_TRUE(WIFSTOPPED(status));
	return pid;
}

/* Steps @pid on; how many instructions there were until it was done, or @most. */
static unsigned long
steps(pid_t pid, unsigned long most)
{
	unsigned long n;
	int status, sig = 0;

	for (n = 0; n < most; n++) {
		T_OK(ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(long)sig));
		T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
		T_TRUE(WIFSTOPPED(status));
		sig = WSTOPSIG(status);
		if (sig == SIGTRAP)
			sig = 0;
		if (sig == SIGSTOP)
			break;
	}
	return n;
}

/* A process that attaches to the domain finds out which have died. */
static void
another_comes(void)
{
	pid_t pid = T_OK(fork());
	int status;

	if (pid == 0)
		_exit(pipe(fd) != 0);
	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_EQ(status, 0);
}

/* Who is left uses what is left: every call returns. */
static void
survives(void)
{
	for (unsigned i = 0; i < NFD; i++) {
		if (fd[i] < 0)
			continue;
		(void)write(fd[i], data, 10);
		(void)put(fd[i], 4, 4, 1, MSG_BAND);
	}
	for (unsigned i = 0; i < NFD; i++)
		if (fd[i] >= 0)
			gets(fd[i], sizeof(data));
}

/* The next instruction of @pid: its file, and the address there. */
static void
tell_where(pid_t pid, char *buf, size_t size)
{
	struct user_regs_struct r;
	unsigned long from, to, off;
	char line[600], path[400];
	FILE *f;

	T_OK(ptrace(PTRACE_GETREGS, pid, NULL, &r));
	snprintf(buf, size, "%llx", (unsigned long long)r.rip);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "r");
	T_NOTNULL(f);
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %399s", &from, &to,
			    &off, path) == 4 &&
			r.rip >= from && r.rip < to)
			snprintf(buf, size, "%s+0x%lx", path,
				(unsigned long)r.rip - from + off);
	(void)fclose(f);
}

static void
on_left(void)
{
	const char *cmd = getenv("STEP_ON_LEFT");
	char line[300];

	if (cmd == NULL)
		return;
	snprintf(line, sizeof(line), "%s %d", cmd, (int)getpid());
	(void)system(line);
}

static void
killed_at(void (*make)(void), void (*act)(void), unsigned long at)
{
	char why[400], where[400];
	uint64_t end;
	int status;
	pid_t pid;

	make();
	pid = child(act);
	(void)steps(pid, at);
	tell_where(pid, where, sizeof(where));
	T_OK(kill(pid, SIGKILL));
	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_TRUE(WIFSIGNALED(status));
	survives();
	close_all();
	another_comes();
	end = t_now_ns() + 5000000000ull * t_scale();
	for (unsigned n = 1; !nothing_left(why, sizeof(why)); n++) {
		if (t_now_ns() > end) {
			on_left();
			T_FAIL("killed after %lu instructions, at %s: left in the "
				"domain: %s", at, where, why);
		}
		if (n % 500 == 0)
			another_comes();
		t_pause();
	}
}

static void
killed_everywhere(void (*make)(void), void (*act)(void))
{
	unsigned long most = from_env("STEP_MOST", 25), at, all, n;
	pid_t pid;
	int status;

	signal(SIGPIPE, SIG_IGN);
	memset(data, 'd', sizeof(data));
	memset(fd, -1, sizeof(fd));
	at = from_env("STEP_AT", 0);
	if (at != 0) {
		killed_at(make, act, at);
		return;
	}
	/* twice: the second is as all the others */
	for (unsigned i = 0; i < 2; i++) {
		make();
		pid = child(act);
		all = steps(pid, 10000000);
		T_OK(kill(pid, SIGKILL));
		T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
		close_all();
	}
	T_GT(all, 100u);
	fprintf(stderr, "# %lu instructions\n", all);
	if (most == 0 || most >= all)
		for (at = 1; at < all; at++)
			killed_at(make, act, at);
	else
		for (n = 0; n < most; n++)
			killed_at(make, act, 1 + t_rand_below(all));
}

#define STEP(make, act)                                                      \
	T_CASE_TIMEOUT(killed_as_he_##act##_##make, 900)                     \
	{                                                                    \
		killed_everywhere(make, act);                                \
	}

STEP(two_ends, writes)
STEP(two_ends, puts_a_message)
STEP(two_ends, puts_a_long_one)
STEP(two_ends, puts_first)
STEP(with_data, reads)
STEP(with_data, reads_all)
STEP(with_data, pushes)
STEP(with_data, flushes)
STEP(with_much, reads_all)
STEP(with_messages, gets_messages)
STEP(with_messages, gets_them_by_pieces)
STEP(with_messages, peeks)
STEP(with_messages, reads_all)
STEP(with_messages, pushes)
STEP(with_messages, flushes)
STEP(with_nullmod, writes)
STEP(with_nullmod, writes_much)
STEP(with_nullmod, pops)
STEP(with_srvmod, writes)
STEP(with_srvmod, puts_a_long_one)
STEP(with_srvmod, puts_first)
STEP(with_what_srvmod_holds, reads_all)
STEP(with_what_srvmod_holds, pops)
STEP(with_what_srvmod_holds, flushes)
STEP(with_testmod, asks_testmod)
STEP(with_testmod, asks_testmod_openly)
STEP(with_a_passed_one, takes_a_passed_one)
STEP(with_a_passed_one, flushes)
STEP(two_ends, registers)
STEP(two_loops, writes)
STEP(with_a_burst, writes)
STEP(with_what_waits, writes)
STEP(with_an_echo, reads_own)
STEP(an_echo, puts_a_long_one)
STEP(an_echo, opens_an_echo)
STEP(a_mux_and_an_echo, links)
STEP(linked, writes)
STEP(a_fifo, writes)
