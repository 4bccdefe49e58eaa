/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The same cases on the simulated host: in ST_SIM builds the calls below go to
 * st_sim.c, which makes them on a simulated pipe.  One process, no handlers:
 * what needs more is skipped.
 */
#ifndef TESTS_CONFORMANCE_STREAMS_ST_SIM_H
#define TESTS_CONFORMANCE_STREAMS_ST_SIM_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stropts.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

void st_sim_begin(struct t *t);
int st_sim_pipe(int fd[2]);
int st_sim_close(int fd);
ssize_t st_sim_read(int fd, void *buf, size_t n);
ssize_t st_sim_write(int fd, const void *buf, size_t n);
ssize_t st_sim_readv(int fd, const void *iov, int n);
ssize_t st_sim_writev(int fd, const void *iov, int n);
int st_sim_putmsg(int fd, const void *ctl, const void *data, int band,
	int flags);
int st_sim_getmsg(int fd, void *ctl, void *data, int *band, int *flags);
int st_sim_ioctl(int fd, unsigned long cmd, unsigned long arg);
int st_sim_setfl(int fd, int set, int flags);
int st_sim_isastream(int fd);
int st_sim_poll(void *p, unsigned long n, int timeout);
void *st_sim_bad_memory(size_t n);	/* one block of it, at its end */
void *st_sim_edge(void);		/* where bad memory begins */
int st_sim_skip(const char *why);

#ifndef ST_SIM_IMPLEMENTATION
#define pipe(fd) st_sim_pipe(fd)
#define close(fd) st_sim_close(fd)
#define read(fd, b, n) st_sim_read(fd, b, n)
#define write(fd, b, n) st_sim_write(fd, b, n)
#define readv(fd, v, n) st_sim_readv(fd, v, n)
#define writev(fd, v, n) st_sim_writev(fd, v, n)
#define putmsg(fd, c, d, f) st_sim_putmsg(fd, c, d, -1, f)
#define putpmsg(fd, c, d, b, f) \
	st_sim_putmsg(fd, c, d, (b) == -1 ? -2 : (b), f)
#define getmsg(fd, c, d, f) st_sim_getmsg(fd, c, d, NULL, f)
#define getpmsg(fd, c, d, b, f) st_sim_getmsg(fd, c, d, \
	(b) != NULL ? (int *)(b) : (int *)8, f)
#define ioctl(fd, cmd, ...) \
	st_sim_ioctl(fd, (unsigned int)(cmd), (unsigned long)(__VA_ARGS__))
#define ST_FCNTL3(fd, cmd, v) \
	((cmd) == F_SETFL ? st_sim_setfl(fd, 1, (int)(v)) : st_sim_skip("fcntl"))
#define ST_FCNTL2(fd, cmd) st_sim_setfl(fd, 0, 0)
#define ST_PICK(a, b, c, name, ...) name
#define fcntl(...) ST_PICK(__VA_ARGS__, ST_FCNTL3, ST_FCNTL2)(__VA_ARGS__)
#define isastream(fd) st_sim_isastream(fd)
#define poll(p, n, t) st_sim_poll(p, n, t)
#define select(...) st_sim_skip("select")
#define pipe2(...) st_sim_skip("pipe2")
#define dup(...) st_sim_skip("dup")
#define dup2(...) st_sim_skip("dup2")
#define fork() st_sim_skip("a second process")
#define vfork() st_sim_skip("a second process")
#define lseek(...) st_sim_skip("lseek")
#define geteuid() 1000 /* so says the simulation */
#define fstat(...) st_sim_skip("fstat")
#define sigaction(...) st_sim_skip("signal handlers")
#endif

#endif
