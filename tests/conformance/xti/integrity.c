/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data of a connection, much of it: sizes at random, units in pieces,
 * expedited data in between, either side stalling, either side killed.  Every
 * byte is compared with what belongs at its place.
 *
 *	XT_TARGET	the transport
 *	XTI_MB		megabytes of a run (16)
 *	XTI_KILLS	connections that end by a kill (20)
 */
#include "xt.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { PERIOD = 65521, MOST = 60000, URGENT = 200 };

static char pattern[PERIOD + MOST];

/* What the two ends tell each other beside the connection. */
struct both {
	volatile uint64_t sent, rcvd;	    /* bytes */
	volatile uint64_t exsent, exrcvd;   /* expedited messages */
};

/* The same numbers on both sides. */
static uint64_t
draw(uint64_t *state, uint64_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % below;
}

static uint64_t
env(const char *name, uint64_t dflt)
{
	const char *s = getenv(name);

	return s != NULL ? strtoull(s, NULL, 10) : dflt;
}

static struct both *
begin(void)
{
	uint64_t s = 88172645463325252u;
	void *b = mmap(NULL, sizeof(struct both), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < PERIOD; i++)
		pattern[i] = (char)draw(&s, 256);
	memcpy(pattern + PERIOD, pattern, MOST);
	T_TRUE(b != MAP_FAILED);
	return b;
}

static size_t
some(void)
{
	switch (t_rand_below(4)) {
	case 0:
		return 1 + t_rand_below(16);
	case 1:
		return 1 + t_rand_below(2000);
	default:
		return 1 + t_rand_below(MOST);
	}
}

/* Now and then one side does not go on for a while. */
static void
stall(void)
{
	if (t_rand_below(3000) == 0)
		for (uint64_t n = t_rand_below(30); n > 0; n--)
			t_pause();
}

/* An expedited message: its number, and bytes that follow from it. */
static unsigned
urgent(char *buf, uint64_t nr)
{
	unsigned n = xt->inet ? 1 : 1 + (unsigned)(nr * 7 % URGENT);

	for (unsigned i = 0; i < n; i++)
		buf[i] = (char)(nr * 31 + i);
	return n;
}

/* One at a time: an urgent byte may take the place of the one before. */
static int
send_urgent(int fd, struct both *b)
{
	char buf[URGENT];
	unsigned n;
	int ret;

	if (!xt->expedited || b->exsent != b->exrcvd)
		return 0;
	n = urgent(buf, b->exsent);
	b->exsent++;
	ret = t_snd(fd, buf, n, T_EXPEDITED);
	if (ret > 0)
		T_EQ(ret, (int)n);
	return ret;
}

/* @total bytes; units, where there are such, as @seed says.  -1: it ended. */
static int
sender(int fd, struct both *b, uint64_t total, uint64_t seed)
{
	uint64_t at = 0, unit = 0;

	while (at < total) {
		size_t n = some();
		int ret, more = 0;

		if (xt->service == T_COTS) {
			if (unit == 0)
				unit = 1 + draw(&seed, 3 * MOST);
			n = n < unit ? n : unit;
			more = n < unit ? T_MORE : 0;
		}
		b->sent = at + n;
		ret = t_snd(fd, pattern + at % PERIOD, (unsigned)n, more);
		if (ret < 0)
			return -1;
		T_GT(ret, 0);
		at += (uint64_t)ret;
		if (unit != 0)
			unit -= (uint64_t)ret;
		/* not within a unit whose rest is owed */
		if (ret == (int)n && t_rand_below(200) == 0 &&
			send_urgent(fd, b) < 0)
			return -1;
		stall();
	}
	/* the unit that was begun ends */
	while (unit != 0) {
		size_t n = unit < MOST ? unit : MOST;
		int ret;

		b->sent = at + n;
		ret = t_snd(fd, pattern + at % PERIOD, (unsigned)n,
			n < unit ? T_MORE : 0);
		if (ret < 0)
			return -1;
		at += (uint64_t)ret;
		unit -= (uint64_t)ret;
	}
	return 0;
}

static void
check_urgent(const char *buf, unsigned n, unsigned *part, uint64_t nr)
{
	char want[URGENT];
	unsigned len = urgent(want, nr);

	T_LE(*part + n, len);
	T_EQ(memcmp(buf, want + *part, n), 0);
	*part = *part + n == len ? 0 : *part + n;
}

/* Until it ends: T_ORDREL or T_DISCONNECT. */
static int
receiver(int fd, struct both *b, uint64_t seed)
{
	static char buf[MOST];
	uint64_t at = 0, unit = 0;
	unsigned part = 0;

	for (;;) {
		int flags = 0, ret;

		ret = t_rcv(fd, buf, (unsigned)some(), &flags);
		if (ret < 0) {
			T_EQ(t_errno, TLOOK);
			return T_TOK(t_look(fd));
		}
		if (flags & T_EXPEDITED) {
			check_urgent(buf, (unsigned)ret, &part, b->exrcvd);
			if (part == 0)
				b->exrcvd++;
			continue;
		}
		T_EQ(memcmp(buf, pattern + at % PERIOD, (size_t)ret), 0);
		at += (uint64_t)ret;
		T_LE(at, b->sent);
		b->rcvd = at;
		if (xt->service == T_COTS) {
			if (unit == 0)
				unit = 1 + draw(&seed, 3 * MOST);
			T_LE((uint64_t)ret, unit);
			unit -= (uint64_t)ret;
			T_EQ((flags & T_MORE) != 0, unit != 0);
		}
		stall();
	}
}

XT_CASE_TIMEOUT(CO, much_data_of_all_kinds_arrives_as_it_was_sent, 30)
{
	uint64_t total = env("XTI_MB", 16) << 20, seed = t_rand() | 1;
	struct both *b = begin();
	int fd[2], st;
	pid_t pid;

	xt_pair(fd);
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(fd[1]));
		T_EQ(sender(fd[0], b, total, seed), 0);
		if (xt->service == T_COTS_ORD) {
			T_TOK(t_sndrel(fd[0]));
			T_EVENT(fd[0], T_ORDREL);
			T_TOK(t_rcvrel(fd[0]));
		} else {
			/* what ends it ends what was not read, too */
			T_SOON(b->rcvd == b->sent, 20000);
		}
		T_TOK(t_close(fd[0]));
		_exit(0);
	}
	T_OK(close(fd[0]));
	if (receiver(fd[1], b, seed) == T_ORDREL) {
		T_TOK(t_rcvrel(fd[1]));
		T_TOK(t_sndrel(fd[1]));
	}
	T_EQ(b->rcvd, b->sent);
	T_GE(b->rcvd, total);
	T_EQ(b->exrcvd, b->exsent);
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	T_TOK(t_close(fd[1]));
}

/* Returns when the connection has ended for @fd's user; a side of its own. */
static pid_t
side(int fd, int other, int sends, struct both *b, uint64_t seed)
{
	pid_t pid = T_OK(fork());
	int event;

	if (pid != 0)
		return pid;
	T_OK(close(other));
	if (sends) {
		T_EQ(sender(fd, b, UINT64_MAX, seed), -1);
		T_EQ(t_errno, TLOOK);
		event = T_TOK(t_look(fd));
	} else {
		event = receiver(fd, b, seed);
	}
	/* a killed peer may have said that it is done; the kernel says so for it */
	if (event == T_DISCONNECT)
		T_TOK(t_rcvdis(fd, NULL));
	else
		T_EQ(event, T_ORDREL);
	T_TOK(t_close(fd));
	_exit(0);
}

XT_CASE_TIMEOUT(CO, who_is_killed_over_much_data_ends_it_for_the_other_one, 60)
{
	uint64_t kills = env("XTI_KILLS", 20);
	struct both *b = begin();

	for (uint64_t i = 0; i < kills; i++) {
		uint64_t seed = t_rand() | 1;
		int fd[2], st, who;
		pid_t pid[2];

		memset((void *)b, 0, sizeof(*b));
		xt_pair(fd);
		for (int k = 0; k < 2; k++)
			pid[k] = side(fd[k], fd[!k], k == 0, b, seed);
		T_OK(close(fd[0]));
		T_OK(close(fd[1]));
		T_SOON(b->rcvd > 0, 10000);
		for (uint64_t n = t_rand_below(20); n > 0; n--)
			t_pause();
		who = (int)t_rand_below(2);
		T_OK(kill(pid[who], SIGKILL));
		T_EQ(T_OK(waitpid(pid[who], &st, 0)), pid[who]);
		T_EQ(T_OK(waitpid(pid[!who], &st, 0)), pid[!who]);
		T_EQ(st, 0);
	}
}

/*
 * Who releases and is killed at once: all that was accepted arrives, then the
 * release, whatever of it still stood in a queue.
 */
XT_CASE_TIMEOUT(ORD, what_was_released_before_a_kill_arrives, 60)
{
	uint64_t kills = env("XTI_KILLS", 20);
	struct both *b = begin();

	for (uint64_t i = 0; i < kills; i++) {
		uint64_t seed = t_rand() | 1, total = t_rand_below(3 << 20);
		int fd[2], st;
		pid_t pid;

		memset((void *)b, 0, sizeof(*b));
		xt_pair(fd);
		pid = T_OK(fork());
		if (pid == 0) {
			T_OK(close(fd[1]));
			T_EQ(sender(fd[0], b, total, seed), 0);
			T_TOK(t_sndrel(fd[0]));
			_exit(kill(getpid(), SIGKILL));
		}
		T_OK(close(fd[0]));
		/* now and then it is dead before anything has been read */
		if (i % 2 != 0)
			for (uint64_t n = t_rand_below(40); n > 0; n--)
				t_pause();
		T_EQ(receiver(fd[1], b, seed), T_ORDREL);
		T_TOK(t_rcvrel(fd[1]));
		T_EQ(b->rcvd, b->sent);
		T_GE(b->rcvd, total);
		T_TOK(t_sndrel(fd[1]));
		T_TOK(t_close(fd[1]));
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
		T_TRUE(WIFSIGNALED(st));
	}
}
