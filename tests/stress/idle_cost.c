/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What an idle pipe costs: four processes open 2,500 each, and the arena must
 * not have grown by more than 4 KiB for each of the 10,000.  All of it comes
 * back, when they are closed and when who has them is killed.
 *
 * IDLE_PIPES is their number, for a quicker look or a longer one.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <stropts.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <str/inspect.h>
#include <str/types.h>

#include "t.h"

#define NPROC 4
#define MOST 4096u /* bytes of arena for a pipe */

/* What the processes tell each other. */
struct board {
	volatile int open[NPROC];  /* pipes it has; -1: it could not */
	volatile int close;	   /* they are to be closed */
};

static void
look(struct str_i_domain *ret)
{
	static _Alignas(8) char buf[1 << 16];

	T_TRUE(strm_inspect(buf, sizeof(buf), STR_I_WANT_MEMORY) >=
		(long)sizeof(*ret));
	*ret = *(const struct str_i_domain *)(const void *)buf;
}

/* Is nothing left of any pipe? */
static bool
clean(const struct str_i_domain *d)
{
	/* segments, queue pairs, streams, buffers, messages */
	return d->nstream == 0 && d->blocks[2] == 0 && d->blocks[3] == 0 &&
		d->blocks[4] == 0 && d->blocks[5] == 0 && d->blocks[6] == 0;
}

static void
hold(struct board *b, int me, int n)
{
	int (*fd)[2] = malloc((size_t)n * sizeof(*fd));
	int i;

	for (i = 0; i < n; i++)
		if (fd == NULL || pipe(fd[i]) != 0) {
			b->open[me] = -1;
			_exit(1);
		}
	b->open[me] = n;
	while (!b->close)
		t_pause();
	for (i = 0; i < n; i++)
		if (close(fd[i][0]) != 0 || close(fd[i][1]) != 0)
			_exit(2);
	_exit(0);
}

/* @kill9: how they end. */
static void
idle_pipes(int npipe, bool kill9)
{
	const char *env = getenv("IDLE_PIPES");
	int each = (env != NULL ? atoi(env) : npipe) / NPROC, i, st;
	struct str_i_domain before, full, after;
	uint64_t end, grown, bytes;
	struct rlimit rl;
	struct board *b;
	int dev = -1;
	pid_t pid[NPROC];
	int fd[2];

	T_OK(getrlimit(RLIMIT_NOFILE, &rl));
	if (rl.rlim_max < (rlim_t)(2 * each + 64))
		T_SKIP("%d pipes in a process need more than %ld descriptors",
			each, (long)rl.rlim_max);
	rl.rlim_cur = STR_MAX(rl.rlim_cur, (rlim_t)(2 * each + 64));
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
	b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_TRUE(b != MAP_FAILED);

	/* streamsd looks for what they had; a private domain has it while a device
	 * is open */
	if (kill9)
		dev = T_OK(open("/dev/echo", O_RDWR));
	/* what the first pipe needs is not the others' cost */
	T_OK(pipe(fd));
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	look(&before);
	for (i = 0; i < NPROC; i++) {
		pid[i] = T_OK(fork());
		if (pid[i] == 0)
			hold(b, i, each);
	}
	for (i = 0; i < NPROC; i++)
		while (b->open[i] != each) {
			T_TRUE(b->open[i] >= 0);
			t_pause();
		}
	look(&full);
	T_EQ(full.nstream, before.nstream + (uint64_t)(NPROC * each));
	grown = (full.used - before.used) / (uint64_t)(NPROC * each);
	bytes = (full.bytes - before.bytes) / (uint64_t)(NPROC * each);
	fprintf(stderr, "# an idle pipe takes %llu bytes of the arena, %llu of them "
		"in use\n",
		(unsigned long long)grown, (unsigned long long)bytes);
	T_TRUE(bytes > 0 && bytes <= MOST);
	T_TRUE(grown <= MOST);

	b->close = !kill9;
	for (i = 0; i < NPROC; i++) {
		if (kill9)
			T_OK(kill(pid[i], SIGKILL));
		T_EQ(waitpid(pid[i], &st, 0), pid[i]);
		T_EQ(st, kill9 ? SIGKILL : 0);
	}
	/* what killed processes had goes by itself */
	end = t_now_ns() + 20 * 1000000000ull;
	do {
		t_pause();
		T_OK(pipe(fd));
		T_OK(close(fd[0]));
		T_OK(close(fd[1]));
		look(&after);
		if (dev >= 0 && after.nstream == 1) {
			T_OK(close(dev));
			dev = -1;
		}
	} while (!clean(&after) && t_now_ns() < end);
	T_EQ(after.nstream, (uint64_t)0);
	T_TRUE(clean(&after));
	T_TRUE(after.bytes <= before.bytes + (64u << 10));
	munmap(b, sizeof(*b));
}

T_CASE_TIMEOUT(an_idle_pipe_costs_at_most_4_KiB, 60)
{
	idle_pipes(10000, false);
}

T_CASE_TIMEOUT(what_killed_holders_of_idle_pipes_had_comes_back, 60)
{
	idle_pipes(1200, true);
}
