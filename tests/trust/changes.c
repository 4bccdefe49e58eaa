/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A process changes its user to and fro while its threads make Streams: after
 * each change it is a member of no domain but the new user's.
 *
 * As root, which becomes OTHER.  Domains: "changes", a named one, in the target
 * "named"; one without a name in "private".
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t.h"

#define OTHER 1000
#define THREADS 3
#define CHANGES 40u
#define FDS 2000 /* above the library's own */

T_TARGETS("named", "private");

static volatile int stop;
static volatile unsigned pipes;

static void *
maker(void *arg)
{
	int p[2];

	while (!stop) {
		/* gone in the middle, or the attach fails for a while */
		if (pipe(p) != 0)
			continue;
		(void)close(p[0]);
		(void)close(p[1]);
		(void)__atomic_add_fetch(&pipes, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* The owner of the domain whose memory descriptor @fd is; -1: it is none's. */
static long
owner_of(int fd)
{
	char path[64], to[256];
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	n = readlink(path, to, sizeof to - 1);
	if (n < 0)
		return -1;
	to[n] = '\0';
	if (strstr(to, "memfd:streams") == NULL &&
	    strstr(to, "/streams-") == NULL)
		return -1;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (long)st.st_uid :
		-1;
}

/* How many descriptors of another user's domain has this process? */
static unsigned
wrong_ones(uid_t user)
{
	unsigned n = 0;

	for (int fd = 3; fd < FDS; fd++) {
		long owner = owner_of(fd);

		n += owner >= 0 && owner != (long)user;
	}
	return n;
}

static int
change(int how, uid_t to)
{
	switch (how) {
	case 0:
		return seteuid(to);
	case 1:
		return setreuid((uid_t)-1, to);
	default:
		return setresuid((uid_t)-1, to, (uid_t)-1);
	}
}

T_CASE_TIMEOUT(no_change_leaves_the_process_in_the_other_users_domain, 100)
{
	unsigned changes = 0, refused = 0, wrong = 0;
	pthread_t id[THREADS];
	int fd;

	if (geteuid() != 0)
		T_SKIP("only root can take another user");
	T_OK(setenv("STREAMS_DOMAIN", strcmp(t_target(), "named") == 0 ?
		"changes" : "private", 1));
	(void)unsetenv("XDG_RUNTIME_DIR");
	(void)signal(SIGPIPE, SIG_IGN);
	fd = T_OK(dup(0)); /* above it nothing has been opened */
	T_LT(fd, FDS / 2);
	T_OK(close(fd));
	for (int i = 0; i < THREADS; i++)
		T_EQ(pthread_create(&id[i], NULL, maker, NULL), 0);
	while (changes < CHANGES) {
		uid_t to = geteuid() == 0 ? OTHER : 0;

		if (change((int)(changes % 3), to) == 0) {
			changes++;
			wrong += wrong_ones(to) != 0;
		} else {
			T_EQ(errno, EAGAIN);
			refused++;
		}
		t_pause();
	}
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		T_EQ(pthread_join(id[i], NULL), 0);
	printf("# %u changes, %u refused, %u wrong, %u pipes\n", changes,
		refused, wrong, pipes);
	T_EQ(wrong, 0u);
	T_GT(pipes, CHANGES);
}
