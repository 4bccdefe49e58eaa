/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What the cases of the Stream head suite share.
 *
 * Every case has a pipe.  How it came by the descriptors is the target: opened
 * by itself, or duplicated, inherited through fork or exec, or received
 * through a socket.  The answers must be the same.
 */
#ifndef TESTS_CONFORMANCE_STREAMS_ST_H
#define TESTS_CONFORMANCE_STREAMS_ST_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/stat.h>
#include <sys/testmod.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"
#ifdef ST_SIM
#include "st_sim.h"
#endif

enum { ST_ROOM = 8192 };

/* One message as getmsg() or getpmsg() gave it; a length of -1: no part. */
struct st_msg {
	int ret, ctl_len, data_len, band, flags;
	char ctl[ST_ROOM], data[ST_ROOM];
};

/*
 * A case of this suite.  Its pipe is made, and handed on as the target says,
 * before the body runs, maybe in another process.
 *
 * ST_CASE: what only a pipe has, two ends.  ST_ANY_CASE: what is true of a
 * FIFO, and of a device that sends back what it gets, too: there both
 * descriptors are of one Stream, and what is written comes to be read.  The
 * latter are built a second time, with ST_ANY, for these.
 */
#define ST_BODY_(name_)							\
	static void st_body_##name_(struct t *t);			\
	T_CASE(name_)							\
	{								\
		st_run(t, st_body_##name_);				\
	}								\
	static void							\
	st_body_##name_(struct t *t T_UNUSED)
#ifdef ST_ANY
#define ST_CASE(name_)							\
	T_UNUSED static void						\
	st_body_##name_(struct t *t T_UNUSED)
#else
#define ST_CASE(name_) ST_BODY_(name_)
#endif
#define ST_ANY_CASE(name_) ST_BODY_(name_)

void st_run(struct t *t, void (*body)(struct t *t));

/* The pipe of the case; no case name may be part of another. */
void st_pipe(struct t *t, int fd[2]);

/* Any other pipe. */
void st_pipe_more(int fd[2]);

void st_nonblock(int fd);
void st_marks(int fd, int hiwat, int lowat);
void *st_bad(void);		/* a bad address */
char *st_edge(const char *s, size_t n);	/* s, right before a bad address */
void *st_shared(size_t n);	/* zeroed, shared with children */

/* Send; a part that is NULL is not there.  Results of the call. */
int st_put(int fd, const char *ctl, const char *data, int flags);
int st_putp(int fd, const char *ctl, const char *data, int band, int flags);
int st_putn(int fd, int band, size_t n, int c);	/* n data bytes c */

/* Retrieve with room for all; the result of the call is also m->ret. */
int st_get(int fd, struct st_msg *m, int flags);
int st_getp(int fd, struct st_msg *m, int band, int flags);

/* Retrieve with this much room; -1 as in maxlen, -2 for a NULL pointer. */
int st_get_room(int fd, struct st_msg *m, int ctl_room, int data_room,
	int flags);

/* I_STR with a long as data, which is how testmod wants its argument. */
int st_str_long(int fd, int cmd, long arg);
int st_str(int fd, int cmd, int timeout, int *len, void *dp);

/* Push testmod on fd and let it do cmd; whatever the command answers. */
void st_break(int fd, int cmd, long arg);

int st_revents(int fd, int events);	/* of a poll() that does not wait */
int st_queued(int fd);			/* messages waiting: I_NREAD */

/* Processes. */
pid_t st_fork(void);
void st_reap(pid_t pid);		/* must have left with status 0 */
int st_asleep(pid_t pid);		/* in a system call, not running */
void st_wait_asleep(pid_t pid);		/* until it stays asleep */
pid_t st_helper(const char *what, int fd0, int fd1);	/* exec of ourselves */

/* The next message is exactly this.  NULL: no such part. */
#define ST_IS(m, c, d) do {						\
	T_EQ((m)->ctl_len, (c) == NULL ? -1 : (int)strlen(ST_S_(c)));	\
	if ((c) != NULL)						\
		T_MEM((m)->ctl, ST_S_(c), strlen(ST_S_(c)));		\
	T_EQ((m)->data_len, (d) == NULL ? -1 : (int)strlen(ST_S_(d)));	\
	if ((d) != NULL)						\
		T_MEM((m)->data, ST_S_(d), strlen(ST_S_(d)));		\
} while (0)
#define ST_GOT(fd, c, d) do {						\
	struct st_msg m_;						\
									\
	T_EQ(st_get(fd, &m_, 0), 0);					\
	ST_IS(&m_, c, d);						\
} while (0)
#define ST_READS(fd, n, s) do {						\
	char b_[ST_ROOM] = "";						\
									\
	T_EQ(read(fd, b_, n), (ssize_t)strlen(s));			\
	T_STR(b_, s);							\
} while (0)
#define ST_WRITES(fd, s) \
	T_EQ(write(fd, s, strlen(s)), (ssize_t)strlen(s))
#define ST_S_(s) st_or_empty(s)

static inline const char *
st_or_empty(const char *s)
{
	return s != NULL ? s : "";
}

#endif
