/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Chaos: many processes do anything, legal or not, to streams they share,
 * and are killed while they do.
 *
 * A case has three sorts of processes.  *Monkeys* draw operations from their
 * seed: messages of every sort, push and pop, link and unlink, flush, options,
 * passed descriptors, opens and closes, bad arguments.  *Couriers* send
 * numbered records through pipes of which the monkeys may push and pop
 * modules but take nothing.  The parent kills monkeys, makes new ones, and
 * looks whether all go on.
 *
 * What must hold.  No operation takes a second: all are non-blocking, or a
 * signal ends them, or they have a limit of a second of their own; couriers' records arrive once and in order; when all is closed
 * the domain holds no stream, no message and no queue.
 *
 * CHAOS_MS, CHAOS_PROCS, CHAOS_STREAMS set the size; T_SEED repeats the draw;
 * CHAOS_WITHOUT leaves operations out, a bit for each; CHAOS_KILLS=2 kills
 * none.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/testmod.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <str/inspect.h>

#include "left.h"
#include "t.h"

#define MAXPROC 64
#define MAXSTREAM 256
#define NCOURIER 6
#define HANG_NS 1000000000ull

enum { PIPE, FIFO, ECHO, LOOP, NULS, MINIMUX, NKIND };

struct slot {
	int kind;
	int fd[2];
};

/* What a monkey tells of itself. */
struct beat {
	_Atomic uint64_t at; /* when its operation began; 0: none yet */
	_Atomic uint32_t op;
	_Atomic uint32_t on;
	_Atomic uint64_t ops;
	_Atomic uint64_t worst;
	_Atomic uint64_t net; /* the longest, without waiting for CPUs */
	_Atomic uint32_t net_op;
};

struct shared {
	struct beat beat[MAXPROC];
	_Atomic uint32_t stop;
	_Atomic uint64_t paused; /* pauses of 1 ms that the supervisor made */
	_Atomic uint64_t sent[NCOURIER], got[NCOURIER];
};

static struct shared *sh;
static unsigned without; /* operations left out, one bit each */
static struct slot slot[MAXSTREAM];
static unsigned nslot, nproc;
static int courier[NCOURIER][2];

/* ---------------------------------------------------------------- monkeys */

static uint64_t rnd_;

static uint32_t
rnd(uint32_t n)
{
	rnd_ = rnd_ * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(rnd_ >> 33) % n;
}

static void *
bad_pointer(void)
{
	static void *const bad[] = {NULL, (void *)16, (void *)-4096L};

	return bad[rnd(3)];
}

static int
open_slot(int kind, unsigned i)
{
	char path[64];

	switch (kind) {
	case FIFO:
		snprintf(path, sizeof(path), "/dev/streams/fifo/%u", i);
		break;
	case ECHO:
		snprintf(path, sizeof(path), "/dev/streams/echo/%u", i);
		break;
	case LOOP:
		snprintf(path, sizeof(path), "/dev/streams/loop/%u", 1 + i % 20);
		break;
	case NULS:
		snprintf(path, sizeof(path), "/dev/streams/nuls/%u", i);
		break;
	default:
		snprintf(path, sizeof(path), "/dev/streams/minimux/%u",
			1 + i % 99);
		break;
	}
	return open(path, O_RDWR | O_NONBLOCK);
}

static void
message(int fd)
{
	char ctl[64], data[2048];
	struct strbuf c = {sizeof(ctl), (int)rnd(64), ctl};
	struct strbuf d = {sizeof(data), (int)rnd(2048), data};
	int band = (int)rnd(4), flags = MSG_ANY;

	memset(ctl, 'c', sizeof(ctl));
	memset(data, 'd', sizeof(data));
	switch (rnd(8)) {
	case 0:
		(void)putmsg(fd, &c, &d, rnd(4) == 0 ? RS_HIPRI : 0);
		break;
	case 1:
		(void)putpmsg(fd, &c, rnd(2) ? &d : NULL, band, MSG_BAND);
		break;
	case 2:
		(void)putpmsg(fd, NULL, &d, (int)rnd(300) - 10, (int)rnd(6));
		break;
	case 3:
	case 4:
		(void)getpmsg(fd, &c, &d, &band, &flags);
		break;
	case 5:
		c.maxlen = (int)rnd(10) - 2;
		flags = 0;
		(void)getmsg(fd, &c, &d, &flags);
		break;
	case 6:
		(void)putmsg(fd, bad_pointer(), &d, (int)rnd(3));
		break;
	default:
		(void)getmsg(fd, &c, bad_pointer(), &flags);
		break;
	}
}

static const char *
module(void)
{
	static const char *const name[] = {"nullmod", "pipemod", "srvmod",
		"testmod", "relay", "bufmod", "connld", "nosuch", "",
		"muchtoolongname"};

	return name[rnd(10)];
}

static void
control(int fd)
{
	static const int plain[] = {I_FLUSH, I_SRDOPT, I_SWROPT, I_CANPUT,
		I_CKBAND, I_ATMARK, I_SETSIG, I_ANCHOR};
	struct strioctl si = {.ic_timout = 1};
	char buf[128];
	long arg = 0;
	int v = (int)rnd(40);

	switch (rnd(10)) {
	case 0:
		(void)ioctl(fd, plain[rnd(8)], (long)rnd(40) - 2);
		break;
	case 1:
		(void)ioctl(fd, I_NREAD, rnd(4) ? &v : bad_pointer());
		break;
	case 2:
		(void)ioctl(fd, I_LOOK, rnd(4) ? (void *)buf : bad_pointer());
		break;
	case 3:
		/* errors that testmod makes, on streams of the monkeys' own */
		si.ic_cmd = rnd(2) ? TM_IOC_IOCTL : TM_IOC_NSIGNAL + 90;
		si.ic_len = (int)rnd(64);
		si.ic_dp = rnd(8) ? buf : bad_pointer();
		memset(buf, 0, sizeof(buf));
		(void)ioctl(fd, I_STR, &si);
		break;
	case 4:
		arg = TM_IOC_COPYIO + (long)rnd(2) * 100;
		(void)ioctl(fd, (unsigned long)arg, buf);
		break;
	case 5:
		(void)ioctl(fd, I_LIST, NULL);
		break;
	case 6: {
		struct strpeek pk = {.ctlbuf = {32, 0, buf},
			.databuf = {64, 0, buf + 32}};

		(void)ioctl(fd, I_PEEK, &pk);
		break;
	}
	case 7: {
		struct bandinfo bi = {.bi_pri = (unsigned char)rnd(4),
			.bi_flag = (int)rnd(5)};

		(void)ioctl(fd, I_FLUSHBAND, &bi);
		break;
	}
	case 8:
		(void)ioctl(fd, 0x5300u + rnd(256), bad_pointer());
		break;
	default:
		(void)ioctl(fd, I_FIND, module());
		break;
	}
}

static int
some_fd(unsigned *ret_slot)
{
	unsigned i = rnd(nslot);

	*ret_slot = i;
	return slot[i].fd[slot[i].kind == PIPE ? rnd(2) : 0];
}

static void
pass(int fd)
{
	struct strrecvfd r;
	unsigned other;

	if (rnd(2)) {
		(void)ioctl(fd, I_SENDFD, some_fd(&other));
	} else if (ioctl(fd, I_RECVFD, &r) == 0) {
		(void)write(r.fd, "passed", 6);
		(void)close(r.fd);
	}
}

static void
link_some(void)
{
	unsigned i, other;
	int fd;

	for (i = 0; i < 20; i++) {
		fd = some_fd(&other);
		if (slot[other].kind == MINIMUX)
			break;
	}
	if (rnd(2))
		(void)ioctl(fd, I_LINK, some_fd(&i));
	else
		(void)ioctl(fd, I_UNLINK, rnd(3) ? MUXID_ALL : (int)rnd(1000));
}

static void
reopen(unsigned i)
{
	struct slot *s = &slot[i];

	if (s->kind == PIPE) {
		int d = dup(s->fd[0]);

		if (d >= 0)
			(void)close(d);
		return;
	}
	if (s->fd[0] >= 0)
		(void)close(s->fd[0]);
	s->fd[0] = open_slot(s->kind, i);
}

static void
look(int fd)
{
	struct pollfd p[4];
	unsigned other;

	p[0].fd = fd;
	for (int i = 0; i < 4; i++) {
		if (i > 0)
			p[i].fd = some_fd(&other);
		p[i].events = (short)rnd(0x400);
	}
	(void)poll(p, 4, (int)rnd(3));
}

static void
on_alarm(int sig)
{
	(void)sig;
}

/* A signal every 300 ms, for what waits without a limit: it may be asked of
 * a stream whose modules go while it waits. */
static void
limit(bool on)
{
	struct itimerval it = {{0, 300000}, {0, 300000}};

	if (!on)
		memset(&it, 0, sizeof(it));
	(void)setitimer(ITIMER_REAL, &it, NULL);
}

static void
operate(uint32_t op, int fd, unsigned on)
{
	char buf[4096];

	limit(true); /* RFILL, too, waits although it is told not to */
	switch (op) {
	case 0:
	case 1:
		memset(buf, 'w', sizeof(buf));
		(void)write(fd, buf, rnd(sizeof(buf)));
		break;
	case 2:
	case 3:
		(void)read(fd, buf, rnd(sizeof(buf)));
		break;
	case 4:
	case 5:
		message(fd);
		break;
	case 6:
		(void)ioctl(fd, I_PUSH, rnd(16) ? module() : bad_pointer());
		break;
	case 7:
	case 8:
		(void)ioctl(fd, I_POP, 0);
		break;
	case 9:
		control(fd);
		break;
	case 10:
		pass(fd);
		break;
	case 11:
		link_some();
		break;
	case 12:
		reopen(on);
		break;
	case 13:
		look(fd);
		break;
	default:
		/* a courier's pipe: modules come and go, nothing is taken */
		fd = courier[rnd(NCOURIER)][rnd(2)];
		if (ioctl(fd, I_PUSH, rnd(2) ? "nullmod" : "relay") == 0)
			(void)ioctl(fd, I_POP, 0);
		break;
	}
}

static void
monkey(unsigned me, uint64_t seed)
{
	struct beat *b = &sh->beat[me];
	int stat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);

	rnd_ = seed;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGPOLL, SIG_IGN);
	T_OK(sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm},
		NULL));
	while (sh->stop == 0) {
		uint32_t op;
		unsigned on;
		int fd = some_fd(&on);
		uint64_t t0 = t_now_ns(), t1, w = cpu_wait(stat), net;
		uint64_t paused = sh->paused;

		do
			op = rnd(15);
		while ((without >> op & 1) != 0);
		b->op = op;
		b->on = on;
		b->at = t0;
		operate(op, fd, on);
		limit(false);
		t1 = t_now_ns();
		b->at = t1;
		b->ops++;
		if (t1 - t0 > b->worst)
			b->worst = t1 - t0;
		w = cpu_wait(stat) - w;
		net = t1 - t0 > w ? t1 - t0 - w : 0;
		/* nor does the time count in which other processes had no CPU */
		paused = (sh->paused - paused + 1) * 1000000;
		if (net > paused)
			net = paused;
		/* I_STR has a limit of a second of its own; who links waits
		 * half a second for the driver's answer, and as long for what
		 * one had begun who was killed */
		if (op == 9 || op == 11)
			net /= 2;
		if (net > b->net) {
			b->net = net;
			b->net_op = op;
		}
	}
}

/* --------------------------------------------------------------- couriers */

static void
courier_writer(unsigned k)
{
	uint64_t n = 0;

	(void)close(courier[k][1]);
	while (sh->stop == 0) {
		T_EQ(T_OK(write(courier[k][0], &n, sizeof(n))),
			(ssize_t)sizeof(n));
		sh->sent[k] = ++n;
	}
}

static void
courier_reader(unsigned k)
{
	uint64_t want = 0, n;
	ssize_t ret;

	(void)close(courier[k][0]);
	while ((ret = T_OK(read(courier[k][1], &n, sizeof(n)))) != 0) {
		T_EQ(ret, (ssize_t)sizeof(n));
		if (n != want)
			T_FAIL("courier %u: record %llu came instead of %llu",
				k, (unsigned long long)n,
				(unsigned long long)want);
		sh->got[k] = ++want;
	}
}

/* ----------------------------------------------------------------- parent */

static pid_t
spawn(void (*fn)(unsigned, uint64_t), unsigned me, uint64_t seed)
{
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		fn(me, seed);
		_exit(0);
	}
	return pid;
}

static void
run_writer(unsigned me, uint64_t seed)
{
	(void)seed;
	/* its own ends alone, so that the end of file is seen */
	for (unsigned k = 0; k < NCOURIER; k++)
		if (k != me) {
			(void)close(courier[k][0]);
			(void)close(courier[k][1]);
		}
	courier_writer(me);
}

static void
run_reader(unsigned me, uint64_t seed)
{
	(void)seed;
	for (unsigned k = 0; k < NCOURIER; k++)
		if (k != me) {
			(void)close(courier[k][0]);
			(void)close(courier[k][1]);
		}
	courier_reader(me);
}

static void
make_streams(void)
{
	for (unsigned i = 0; i < nslot; i++) {
		slot[i].kind = (int)(i % (NKIND + 2));
		if (slot[i].kind >= NKIND)
			slot[i].kind = PIPE;
		slot[i].fd[1] = -1;
		if (slot[i].kind == PIPE) {
			T_OK(pipe2(slot[i].fd, O_NONBLOCK));
		} else {
			slot[i].fd[0] = open_slot(slot[i].kind, i);
		}
	}
	for (unsigned k = 0; k < NCOURIER; k++)
		T_OK(pipe(courier[k]));
}

static void
close_streams(void)
{
	for (unsigned i = 0; i < nslot; i++)
		for (int e = 0; e < 2; e++)
			if (slot[i].fd[e] >= 0)
				(void)close(slot[i].fd[e]);
}

static void
nap(void)
{
	t_pause();
	sh->paused++;
}

static void
hang(pid_t pid, unsigned i)
{
	left_call("CHAOS_ON_HANG", pid);
	T_FAIL("monkey %u hangs: operation %u on stream %u", i,
		(unsigned)sh->beat[i].op, (unsigned)sh->beat[i].on);
}

/* Fails when a monkey has been in one operation for too long. */
static void
watch(const pid_t *pid)
{
	uint64_t now = t_now_ns();

	for (unsigned i = 0; i < nproc; i++) {
		struct beat *b = &sh->beat[i];
		uint64_t at = b->at;

		/* I_STR with a limit of a second */
		if (at == 0 || now <= at || now - at <
				(b->op == 9 ? 2 : 1) * HANG_NS * t_scale())
			continue;
		/* a loaded machine is no hang: does it go on by itself? */
		for (unsigned n = 0; n < 1000 * t_scale() && b->at == at; n++)
			nap();
		if (b->at == at)
			hang(pid[i], i);
	}
}

static void
slowest(const struct beat *b, uint64_t *net, uint32_t *op)
{
	if (b->net > *net) {
		*net = b->net;
		*op = b->net_op;
	}
}

T_CASE_TIMEOUT(anything_goes_and_nothing_breaks, 600)
{
	unsigned ms = env_number("CHAOS_MS", 3000, 600000), kills = 0, i;
	uint64_t end, ops = 0, worst = 0, net = 0;
	uint32_t net_op = 0;
	pid_t pid[MAXPROC], cw[NCOURIER], cr[NCOURIER];
	char why[400] = "";
	int status;

	without = env_number("CHAOS_WITHOUT", 0x80000000, ~0u);
	nproc = env_number("CHAOS_PROCS", 12, MAXPROC);
	nslot = env_number("CHAOS_STREAMS", 64, MAXSTREAM);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_NE((void *)sh, MAP_FAILED);
	make_streams();
	for (i = 0; i < NCOURIER; i++) {
		cw[i] = spawn(run_writer, i, 0);
		cr[i] = spawn(run_reader, i, 0);
	}
	for (i = 0; i < nproc; i++)
		pid[i] = spawn(monkey, i, t_rand());
	end = t_now_ns() + (uint64_t)ms * 1000000;
	while (t_now_ns() < end) {
		for (i = 0; i < 20; i++)
			nap();
		watch(pid);
		if (env_number("CHAOS_KILLS", 1, 2) == 2)
			continue; /* none */
		i = (unsigned)t_rand_below(nproc);
		T_OK(kill(pid[i], SIGKILL));
		T_EQ(T_OK(waitpid(pid[i], &status, 0)), pid[i]);
		T_TRUE(WIFSIGNALED(status));
		if (WTERMSIG(status) != SIGKILL)
			T_FAIL("a monkey died by itself: signal %d in operation "
				"%u", WTERMSIG(status),
				(unsigned)sh->beat[i].op);
		kills++;
		ops += sh->beat[i].ops;
		worst = sh->beat[i].worst > worst ? sh->beat[i].worst : worst;
		slowest(&sh->beat[i], &net, &net_op);
		memset((void *)&sh->beat[i], 0, sizeof(sh->beat[i]));
		pid[i] = spawn(monkey, i, t_rand());
	}
	sh->stop = 1;
	for (i = 0; i < nproc; i++) {
		uint64_t t0 = t_now_ns();

		while (waitpid(pid[i], &status, WNOHANG) == 0) {
			if (t_now_ns() - t0 > 5000000000ull * t_scale())
				hang(pid[i], i);
			nap();
		}
		T_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		ops += sh->beat[i].ops;
		worst = sh->beat[i].worst > worst ? sh->beat[i].worst : worst;
		slowest(&sh->beat[i], &net, &net_op);
	}
	for (i = 0; i < NCOURIER; i++) {
		(void)close(courier[i][0]);
		(void)close(courier[i][1]);
	}
	for (i = 0; i < NCOURIER; i++) {
		T_EQ(T_OK(waitpid(cw[i], &status, 0)), cw[i]);
		T_EQ(status, 0);
		T_EQ(T_OK(waitpid(cr[i], &status, 0)), cr[i]);
		T_EQ(status, 0);
		T_EQ(sh->got[i], sh->sent[i]);
		T_GT(sh->got[i], 0u);
	}
	close_streams();
	fprintf(stderr, "# %llu operations, %u kills, slowest %llu us, of its "
		"own time %llu (operation %u)\n", (unsigned long long)ops,
		kills, (unsigned long long)worst / 1000,
		(unsigned long long)net / 1000, net_op);
	T_LT(net, HANG_NS * t_scale());
	end = t_now_ns() + 10000000000ull;
	while (!nothing_left(why, sizeof(why)))
		if (t_now_ns() > end) {
			left_dump();
			left_call("CHAOS_ON_LEFT", getpid());
			T_FAIL("left in the domain: %s", why);
		} else {
			t_pause();
		}
}
