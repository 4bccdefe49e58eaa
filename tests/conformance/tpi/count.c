/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams under overload: what is sent is received, or counted as dropped.
 */
#include "tp.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/timod.h>

enum { SENDERS = 3 };

struct board {
	volatile unsigned sent[SENDERS];
	volatile unsigned stop;
};

struct datagram {
	unsigned who, nr;
	char more[56];
};

static unsigned
drops_of(int fd)
{
	unsigned n = 0;
	struct strioctl si = { .ic_cmd = TI_GETDROPS, .ic_dp = (char *)&n };

	T_OK(ioctl(fd, I_STR, &si));
	return n;
}

static pid_t
sender(struct board *b, int fd, unsigned who, const struct tp_addr *a)
{
	struct datagram d = { .who = who };
	pid_t pid = T_OK(fork());

	if (pid != 0)
		return pid;
	while (!b->stop) {
		d.nr = b->sent[who];
		tp_udata(fd, a, &d, sizeof(d));
		b->sent[who]++;
	}
	_exit(0);
}

/* It holds every endpoint and sends nothing; service procedures run in it. */
static pid_t
bystander(const int *fd)
{
	pid_t pid = T_OK(fork());

	if (pid != 0)
		return pid;
	for (;;) {
		struct pollfd p[SENDERS + 1];
		int i, n;

		for (i = 0; i <= SENDERS; i++) {
			p[i] = (struct pollfd){ fd[i], POLLOUT | POLLIN, 0 };
			(void)ioctl(fd[i], I_NREAD, &n);
		}
		(void)poll(p, SENDERS + 1, 0);
	}
}

static unsigned
receive(int fd, unsigned *next, unsigned *missing, int wait)
{
	struct pollfd p = { fd, POLLIN, 0 };
	struct datagram *d = (struct datagram *)(void *)tp.data;

	if (T_OK(poll(&p, 1, wait)) == 0)
		return 0;
	T_EQ(tp_get(fd), T_UNITDATA_IND);
	T_EQ(tp.datalen, (int)sizeof(*d));
	T_LT(d->who, (unsigned)SENDERS);
	T_GE(d->nr, next[d->who]); /* none twice, none overtakes */
	missing[d->who] += d->nr - next[d->who];
	next[d->who] = d->nr + 1;
	return 1;
}

T_CASE_TIMEOUT(a_killed_bystander_loses_no_datagram, 120)
{
	const char *env = getenv("TPI_KILLS");
	unsigned next[SENDERS] = { 0 }, missing[SENDERS] = { 0 }, i, n;
	unsigned kills = env != NULL ? (unsigned)atoi(env) : 40;
	struct board *b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[SENDERS], idle;
	struct tp_addr a;
	int fd[SENDERS + 1];

	tp_need_clts();
	tp_need_loopback();
	T_TRUE(b != MAP_FAILED);
	for (i = 0; i <= SENDERS; i++) {
		fd[i] = tp_open();
		tp_bind(fd[i], 0, i == SENDERS ? &a : NULL);
	}
	for (i = 0; i < SENDERS; i++)
		pid[i] = sender(b, fd[i], i, &a);
	while (kills-- > 0) {
		uint64_t end = t_now_ns() + t_rand_below(3000) * 1000u;

		idle = bystander(fd);
		do {
			for (n = 0; n < 64; n++)
				(void)receive(fd[SENDERS], next, missing, 0);
			(void)sched_yield();
		} while (t_now_ns() < end);
		T_OK(kill(idle, SIGKILL));
		T_OK(waitpid(idle, NULL, 0));
	}
	b->stop = 1;
	while (receive(fd[SENDERS], next, missing, 500))
		;
	for (i = 0; i < SENDERS; i++) {
		T_OK(waitpid(pid[i], NULL, 0));
		while (receive(fd[SENDERS], next, missing, 50))
			;
		fprintf(stderr, "# %u sent, %u missing, %u dropped\n",
			b->sent[i], missing[i] + b->sent[i] - next[i],
			drops_of(fd[i]));
		T_EQ(missing[i] + b->sent[i] - next[i], drops_of(fd[i]));
	}
}
