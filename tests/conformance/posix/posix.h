/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What the cases of the POSIX oracle share.
 *
 * The suite is compiled twice from the same source: once against the C
 * library alone, where pipe() is the kernel's, and once linked with
 * libstreams, where pipe() makes a STREAMS pipe.  A case may therefore use
 * only what POSIX (or, where POSIX is silent, Linux) says of a pipe: fd[0]
 * is read, fd[1] is written, the capacity is finite but unknown.
 *
 * A helper that cannot go on ends the process with p_die(): the harness runs
 * every case in a child of its own and reports how that child ended.
 */
#ifndef TESTS_POSIX_H
#define TESTS_POSIX_H

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t.h"

#define P_MS_LONG 5000	   /* nothing that works takes that long */
#define P_BIG (8u << 20) /* more than any pipe holds */

#define p_die(...) p_die_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void p_die_at(const char *file, int line, const char *fmt, ...);

/* Time and waiting: a predicate with a deadline, never a fixed delay. */
double p_ms(void);
void p_pause(int ms); /* between two looks at a predicate only */
/* true once (pid, tid) is seen asleep; false after five seconds */
int p_asleep(pid_t pid, pid_t tid);
/* status of the child, or -1 after @ms, the child having been killed */
int p_wait(pid_t pid, int ms);
/* true when the child left with exit status @code within five seconds */
int p_exited(pid_t pid, int code);

/* Pipes. */
void p_pipe(int fd[2]);
void p_warm_up(void); /* one pipe, so that what opens once is open */
void p_kernel_pipe(int fd[2]); /* the kernel's, whatever we are linked to */
void p_nonblock(int fd, int on);
int p_is_closed(int fd);
size_t p_fill(int fd);	/* writes until EAGAIN; how much went in */
size_t p_drain(int fd); /* reads until empty or EOF; how much came out */
int p_write_all(int fd, const void *buf, size_t n); /* 0 or -1 */
size_t p_read_all(int fd, void *buf, size_t n); /* less than n at EOF only */
int p_ready(int fd, short events, int ms);	/* revents of one poll() */
void p_pattern(void *buf, size_t n, size_t offset);
size_t p_pattern_ok(const void *buf, size_t n, size_t offset);
/* a page that cannot be touched, preceded by one that can */
char *p_bad_page(void);

/* Signals: installs @fn with @flags; NULL counts into p_signals. */
extern _Atomic int p_signals;
void p_signal(int sig, void (*fn)(int), int flags);

/*
 * One call in a thread of its own, to look at while it blocks.
 */
enum p_op { P_READ, P_WRITE, P_READV, P_WRITEV, P_POLL, P_SELECT, P_EPOLL };
struct p_call {
	enum p_op op;
	int fd;
	void *buf;
	size_t len;
	short events;	   /* P_POLL; P_SELECT: POLLIN or POLLOUT */
	int timeout;	   /* of P_POLL, P_SELECT and P_EPOLL; -1 for none */
	long ret;
	int err;
	short revents;
	pthread_t thread;
	_Atomic pid_t tid;
	_Atomic int done;
};
void p_call(struct p_call *c, enum p_op op, int fd, void *buf, size_t len);
void p_call_poll(struct p_call *c, enum p_op op, int fd, short events);
int p_call_blocks(struct p_call *c);	     /* asleep and not back */
int p_call_returns(struct p_call *c, int ms); /* joined when true */

/*
 * The thread sanitizer puts handlers off until the interrupted call returns:
 * no use for cases in which it goes on, or in which the moment matters.
 */
#ifdef __SANITIZE_THREAD__
#define P_HANDLERS_AT_ONCE() T_SKIP("the thread sanitizer puts handlers off")
#else
#define P_HANDLERS_AT_ONCE() ((void)0)
#endif

/* The helper program, linked like this one; p_helper_path names it. */
extern const char *const p_helper_path;
extern char **environ;

#endif
