/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What the survival tests share: participants that keep pipes busy, and a
 * board in shared memory on which they tell how they are.
 *
 * Every record on a busy pipe has the same length, which divides PIPE_BUF,
 * and carries its own check: the reader of a record that is not whole fails
 * the case.  A participant never waits for a supervisor, so one may be
 * killed, stopped and restarted at any moment.
 */
#ifndef TESTS_SURVIVE_H
#define TESTS_SURVIVE_H

#include "posix.h"

#define S_RECORD 64
#define S_MAX 64 /* participants */

enum s_role {
	S_WRITE,	/* blocking writes, full speed */
	S_READ,		/* blocking reads */
	S_POLL_READ,	/* O_NONBLOCK by poll() before each read */
	S_EPOLL_READ,	/* level-triggered epoll */
	S_SLOW_WRITE,	/* one record every few milliseconds */
	S_CHURN,	/* makes, uses and closes pipes of its own */
};

struct s_seat {
	volatile uint64_t progress;
	volatile uint64_t ended_ns; /* when it saw the end; 0 if not yet */
	volatile int end;	    /* 0 EOF, else errno */
	volatile int started;
	pid_t pid;
	enum s_role role;
	int fd[2];
};

struct s_board {
	struct s_seat seat[S_MAX];
	int n;
};

struct s_board *s_board_new(void);
/* seat for @role on the pipe @fd; started with s_start() */
int s_seat(struct s_board *b, enum s_role role, const int fd[2]);
/* @keep: both ends stay open in the child, else only the one it uses */
void s_start(struct s_board *b, int seat, int keep);
void s_kill(struct s_board *b, int seat, int sig);
void s_kill_all(struct s_board *b);
/*
 * Wait until each but @but (-1: none) and those whose bit is not in
 * @who has got on or has seen the end.  Milliseconds it took, or -1.
 */
double s_all_get_on(struct s_board *b, uint64_t who, int but, int ms);
#define S_ALL UINT64_MAX
int s_number(const char *name, int otherwise); /* from the environment */

#endif
