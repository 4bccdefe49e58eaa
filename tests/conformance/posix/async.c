/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * O_ASYNC, with F_SETOWN and F_SETSIG, and F_SETPIPE_SZ.
 */
#include "posix.h"

#include <sys/ioctl.h>
#include <sys/wait.h>

static _Atomic int told_fd, told_code;
static _Atomic long told_band;

static void
told(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	told_fd = si->si_fd;
	told_code = si->si_code;
	told_band = si->si_band;
	p_signals++;
}

static void
async(int fd, int on)
{
	int flags = T_OK(fcntl(fd, F_GETFL));

	T_OK(fcntl(fd, F_SETFL, on ? flags | O_ASYNC : flags & ~O_ASYNC));
	T_EQ(fcntl(fd, F_GETFL), on ? flags | O_ASYNC : flags & ~O_ASYNC);
}

/* A pipe of which this process is told by SIGIO what there is to read. */
static void
async_pipe(int fd[2])
{
	p_pipe(fd);
	p_signal(SIGIO, NULL, 0);
	T_OK(fcntl(fd[0], F_SETOWN, getpid()));
	async(fd[0], 1);
	p_signals = 0;
}

T_CASE(SIGIO_comes_with_data)
{
	int fd[2];
	char c;

	async_pipe(fd);
	T_EQ(p_signals, 0);
	T_EQ(write(fd[1], "x", 1), 1);
	T_SOON(p_signals == 1, P_MS_LONG);
	T_EQ(read(fd[0], &c, 1), 1);
	T_EQ(write(fd[1], "x", 1), 1);
	T_SOON(p_signals == 2, P_MS_LONG);
}

/* Not only with the first: a handler may read one message at a time. */
T_CASE(SIGIO_comes_with_each_write)
{
	int fd[2];

	async_pipe(fd);
	for (int i = 1; i <= 5; i++) {
		T_EQ(write(fd[1], "x", 1), 1);
		T_SOON(p_signals == i, P_MS_LONG);
	}
}

T_CASE(SIGIO_comes_from_another_process)
{
	int fd[2];
	pid_t pid;

	async_pipe(fd);
	pid = T_OK(fork());
	if (pid == 0) {
		T_EQ(write(fd[1], "x", 1), 1);
		_exit(0);
	}
	T_TRUE(p_exited(pid, 0));
	T_SOON(p_signals >= 1, P_MS_LONG);
}

T_CASE(SIGIO_comes_when_the_writer_is_gone)
{
	int fd[2];

	async_pipe(fd);
	T_OK(close(fd[1]));
	T_SOON(p_signals >= 1, P_MS_LONG);
}

T_CASE(SIGIO_comes_when_there_is_room_again)
{
	int fd[2];

	p_pipe(fd);
	p_signal(SIGIO, NULL, 0);
	T_OK(fcntl(fd[1], F_SETOWN, getpid()));
	async(fd[1], 1);
	p_nonblock(fd[1], 1);
	p_nonblock(fd[0], 1);
	T_GT(p_fill(fd[1]), 0u);
	p_signals = 0;
	T_GT(p_drain(fd[0]), 0u);
	T_SOON(p_signals >= 1, P_MS_LONG);
}

T_CASE(no_SIGIO_without_an_owner_or_after_O_ASYNC_is_off)
{
	int fd[2];

	p_pipe(fd);
	p_signal(SIGIO, NULL, 0);
	async(fd[0], 1);
	T_EQ(write(fd[1], "x", 1), 1);
	p_pause(20);
	T_EQ(p_signals, 0);
	T_OK(fcntl(fd[0], F_SETOWN, getpid()));
	T_EQ(fcntl(fd[0], F_GETOWN), getpid());
	T_EQ(write(fd[1], "x", 1), 1);
	T_SOON(p_signals == 1, P_MS_LONG);
	async(fd[0], 0);
	T_EQ(write(fd[1], "x", 1), 1);
	p_pause(20);
	T_EQ(p_signals, 1);
}

T_CASE(FIOASYNC_is_O_ASYNC)
{
	int fd[2], on = 1;

	p_pipe(fd);
	p_signal(SIGIO, NULL, 0);
	T_OK(fcntl(fd[0], F_SETOWN, getpid()));
	T_OK(ioctl(fd[0], FIOASYNC, &on));
	T_EQ(fcntl(fd[0], F_GETFL) & O_ASYNC, O_ASYNC);
	T_EQ(write(fd[1], "x", 1), 1);
	T_SOON(p_signals == 1, P_MS_LONG);
	on = 0;
	T_OK(ioctl(fd[0], FIOASYNC, &on));
	T_EQ(fcntl(fd[0], F_GETFL) & O_ASYNC, 0);
}

/* fcntl(2): with F_SETSIG a handler is told of which descriptor, and what */
T_CASE(F_SETSIG_chooses_the_signal_and_tells_the_descriptor)
{
	struct sigaction sa = { .sa_sigaction = told, .sa_flags = SA_SIGINFO };
	int fd[2], sig = SIGRTMIN + 3;

	p_pipe(fd);
	T_OK(sigaction(sig, &sa, NULL));
	T_OK(fcntl(fd[0], F_SETOWN, getpid()));
	async(fd[0], 1);
	T_OK(fcntl(fd[0], F_SETSIG, sig));
	T_EQ(fcntl(fd[0], F_GETSIG), sig);
	T_EQ(write(fd[1], "x", 1), 1);
	T_SOON(p_signals == 1, P_MS_LONG);
	T_EQ(told_fd, fd[0]);
	T_EQ(told_code, POLL_IN);
	T_EQ(told_band & POLLIN, POLLIN);
}

T_CASE(a_process_group_is_told)
{
	int fd[2], ready[2];
	pid_t pid;
	char c;

	p_pipe(fd);
	p_kernel_pipe(ready);
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(setpgid(0, 0));
		p_signal(SIGIO, NULL, 0);
		T_EQ(write(ready[1], "r", 1), 1);
		T_SOON(p_signals >= 1, P_MS_LONG);
		_exit(0);
	}
	T_EQ(read(ready[0], &c, 1), 1);
	T_OK(fcntl(fd[0], F_SETOWN, -pid));
	async(fd[0], 1);
	T_EQ(write(fd[1], "x", 1), 1);
	T_TRUE(p_exited(pid, 0));
}

T_CASE(the_owner_changes)
{
	int fd[2], ready[2];
	pid_t pid;
	char c;

	async_pipe(fd);
	p_kernel_pipe(ready);
	pid = T_OK(fork());
	if (pid == 0) {
		p_signals = 0;
		T_EQ(write(ready[1], "r", 1), 1);
		T_SOON(p_signals >= 1, P_MS_LONG);
		_exit(0);
	}
	T_EQ(read(ready[0], &c, 1), 1);
	T_OK(fcntl(fd[0], F_SETOWN, pid));
	T_EQ(write(fd[1], "x", 1), 1);
	T_TRUE(p_exited(pid, 0));
	T_EQ(p_signals, 0);
}

T_CASE(a_duplicate_keeps_it)
{
	int fd[2], d;

	async_pipe(fd);
	d = T_OK(dup(fd[0]));
	T_OK(close(fd[0]));
	T_EQ(write(fd[1], "x", 1), 1);
	T_SOON(p_signals == 1, P_MS_LONG);
	T_OK(close(d));
}

/* F_SETPIPE_SZ: at least what was asked for, and as much goes in */
T_CASE(the_size_of_a_pipe_is_set_and_told)
{
	int fd[2], size;

	p_pipe(fd);
	size = T_OK(fcntl(fd[0], F_GETPIPE_SZ));
	T_GE(size, 4096);
	T_EQ(fcntl(fd[1], F_GETPIPE_SZ), size);
	T_EQ(fcntl(fd[1], F_SETPIPE_SZ, 16384), 16384);
	T_EQ(fcntl(fd[0], F_GETPIPE_SZ), 16384);
	p_nonblock(fd[1], 1);
	T_GE(p_fill(fd[1]), 16384u);
	T_ERR(fcntl(fd[1], F_SETPIPE_SZ, 4096), EBUSY);
	T_EQ(fcntl(fd[0], F_SETPIPE_SZ, 100000), 131072);
	T_EQ(fcntl(fd[1], F_GETPIPE_SZ), 131072);
	T_GT(p_fill(fd[1]), 60000u);
	T_ERR(fcntl(fd[1], F_SETPIPE_SZ, -1), EINVAL);
}
