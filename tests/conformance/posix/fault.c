/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Bad pointers.  Every call answers EFAULT, and the pipe is as it was: not a
 * byte lost, added or torn from an atomic write.
 */
#include "posix.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* the compiler must not reason about what it is told is no pointer */
static void *volatile nowhere = (void *)8;
static void *volatile kernel_side = (void *)0xffff800000000000ul;

T_CASE(pipe_into_bad_memory_fails_with_EFAULT_and_opens_nothing)
{
	int low = T_OK(dup(0));

	p_warm_up();
	T_OK(close(low));
	T_ERR(pipe(nowhere), EFAULT);
	T_ERR(pipe2(nowhere, O_NONBLOCK), EFAULT);
	T_ERR(pipe((int *)(void *)p_bad_page()), EFAULT);
	T_ERR(pipe((int *)(void *)(p_bad_page() - 4)), EFAULT);
	T_EQ(dup(0), low);
}

T_CASE(read_into_bad_memory_fails_with_EFAULT_and_takes_nothing)
{
	int fd[2];
	char buf[8];

	p_pipe(fd);
	T_EQ(write(fd[1], "abcdef", 6), 6);
	T_ERR(read(fd[0], nowhere, 6), EFAULT);
	T_ERR(read(fd[0], kernel_side, 6), EFAULT);
	T_ERR(read(fd[0], p_bad_page(), 1), EFAULT);
	T_EQ(read(fd[0], buf, 8), 6);
	T_MEM(buf, "abcdef", 6);
}

T_CASE(read_into_read_only_memory_fails_with_EFAULT)
{
	char *page = p_bad_page();
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "abc", 3), 3);
	T_OK(mprotect(page, 1, PROT_READ));
	T_ERR(read(fd[0], page, 3), EFAULT);
	T_EQ(write(fd[1], page, 3), 3);
	T_EQ(p_drain(fd[0]), 6u);
}

/* what is reported as read and what is left make up what was written */
T_CASE(read_across_the_end_of_memory_accounts_for_every_byte)
{
	char *bad = p_bad_page(), buf[16];
	size_t left;
	ssize_t n;
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "0123456789", 10), 10);
	n = read(fd[0], bad - 4, 10);
	T_TRUE((n == -1 && errno == EFAULT) || n == 4);
	left = n == 4 ? 6 : 10;
	p_nonblock(fd[0], 1);
	T_EQ(p_read_all(fd[0], buf, left), left);
	T_MEM(buf, n == 4 ? "456789" : "0123456789", left);
	T_ERR(read(fd[0], buf, 1), EAGAIN);
}

T_CASE(write_from_bad_memory_fails_with_EFAULT_and_adds_nothing)
{
	int fd[2];

	p_pipe(fd);
	T_ERR(write(fd[1], nowhere, 1), EFAULT);
	T_ERR(write(fd[1], kernel_side, 64), EFAULT);
	T_ERR(write(fd[1], p_bad_page(), PIPE_BUF), EFAULT);
	T_EQ(p_drain(fd[0]), 0u);
	T_EQ(write(fd[1], "ok", 2), 2);
	T_EQ(p_drain(fd[0]), 2u);
}

/* POSIX write(): atomic up to {PIPE_BUF}, so half of it may not appear */
T_CASE(atomic_write_across_the_end_of_memory_adds_nothing)
{
	static const size_t good[] = { 1, 60, 500, 2000, 4000 };
	char *bad = p_bad_page();
	int fd[2];

	p_pipe(fd);
	memset(bad - 4096, 'x', 4096);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		T_ERR(write(fd[1], bad - good[i], good[i] + 50), EFAULT);
		T_EQ(p_drain(fd[0]), 0u);
	}
}

T_CASE(big_write_across_the_end_of_memory_accounts_for_every_byte)
{
	char *bad = p_bad_page();
	ssize_t n;
	int fd[2];

	p_pipe(fd);
	memset(bad - 4096, 'x', 4096);
	n = write(fd[1], bad - 4096, 20000);
	T_TRUE((n == -1 && errno == EFAULT) || (n > 0 && n <= 4096));
	T_EQ(p_drain(fd[0]), n < 0 ? 0u : (size_t)n);
}

T_CASE(a_bad_vector_gives_EFAULT)
{
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "abc", 3), 3);
	T_ERR(readv(fd[0], nowhere, 1), EFAULT);
	T_ERR(readv(fd[0], (struct iovec *)(void *)p_bad_page(), 2), EFAULT);
	T_ERR(writev(fd[1], nowhere, 3), EFAULT);
	T_ERR(writev(fd[1], (struct iovec *)(void *)(p_bad_page() - 16), 2),
		EFAULT);
	T_EQ(p_drain(fd[0]), 3u);
}

T_CASE(readv_with_a_bad_area_accounts_for_every_byte)
{
	char a[4], buf[16];
	struct iovec iov[2] = { { a, 4 }, { nowhere, 100 } };
	size_t left;
	ssize_t n;
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "0123456789", 10), 10);
	n = readv(fd[0], iov, 2);
	T_TRUE((n == -1 && errno == EFAULT) || n == 4);
	left = n == 4 ? 6 : 10;
	T_EQ(p_read_all(fd[0], buf, left), left);
	T_MEM(buf, n == 4 ? "456789" : "0123456789", left);
	T_EQ(p_drain(fd[0]), 0u);
}

T_CASE(readv_whose_bad_area_is_not_reached_succeeds)
{
	char a[4];
	struct iovec iov[2] = { { a, 4 }, { nowhere, 100 } };
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "012", 3), 3);
	T_EQ(readv(fd[0], iov, 2), 3);
	T_MEM(a, "012", 3);
}

T_CASE(atomic_writev_with_a_bad_area_adds_nothing)
{
	char a[100];
	struct iovec iov[3] = { { a, 100 }, { nowhere, 50 }, { a, 100 } };
	int fd[2];

	memset(a, 'x', sizeof(a));
	p_pipe(fd);
	T_ERR(writev(fd[1], iov, 3), EFAULT);
	T_EQ(p_drain(fd[0]), 0u);
}

T_CASE(fstat_and_ioctl_into_bad_memory_fail_with_EFAULT)
{
	int fd[2];

	p_pipe(fd);
	T_ERR(fstat(fd[0], nowhere), EFAULT);
	T_ERR(ioctl(fd[0], FIONREAD, nowhere), EFAULT);
	T_ERR(ioctl(fd[0], FIONBIO, nowhere), EFAULT);
}

/* POSIX poll(): EFAULT, "fds argument is not part of the address space" */
T_CASE(poll_and_select_of_bad_memory_fail_with_EFAULT)
{
	struct pollfd *p = (struct pollfd *)(void *)(p_bad_page() -
		sizeof(*p));
	int fd[2];

	p_pipe(fd);
	p->fd = fd[0];
	p->events = POLLIN;
	T_ERR(poll(nowhere, 1, 0), EFAULT);
	T_ERR(poll(p, 2, 0), EFAULT);
	T_EQ(poll(p, 1, 0), 0);
	T_ERR(select(fd[0] + 1, nowhere, NULL, NULL, NULL), EFAULT);
}

/* a fault must not take the pipe, a lock or the process with it */
T_CASE(faults_among_traffic_do_no_harm)
{
	char buf[64], *bad = p_bad_page();
	int fd[2];

	p_pipe(fd);
	for (int i = 0; i < 2000; i++) {
		T_ERR(write(fd[1], bad - 10, 20), EFAULT);
		T_EQ(write(fd[1], "0123456789", 10), 10);
		T_ERR(read(fd[0], bad, 10), EFAULT);
		T_EQ(read(fd[0], buf, 64), 10);
		T_MEM(buf, "0123456789", 10);
	}
}

/* our own faults stay ours: a program's SIGSEGV handler still runs */
static void
segv(int sig)
{
	(void)sig;
	_exit(42);
}

T_CASE(a_fault_of_the_program_itself_reaches_its_handler)
{
	int fd[2];
	pid_t pid;

	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	T_ERR(read(fd[0], nowhere, 1), EFAULT);
	pid = fork();
	if (pid == 0) {
		p_signal(SIGSEGV, segv, 0);
		T_ERR(read(fd[0], nowhere, 1), EFAULT);
		*(volatile char *)nowhere = 1;
		_exit(1);
	}
	T_TRUE(p_exited(pid, 42));
}

/* ... and a handler installed before or after does not see ours */
T_CASE(EFAULT_does_not_run_a_handler_of_SIGSEGV)
{
	int fd[2];

	p_signal(SIGSEGV, segv, 0);
	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	T_ERR(read(fd[0], nowhere, 1), EFAULT);
	p_signal(SIGSEGV, segv, SA_NODEFER);
	T_ERR(read(fd[0], nowhere, 1), EFAULT);
	signal(SIGSEGV, SIG_IGN);
	T_ERR(write(fd[1], nowhere, 1), EFAULT);
}
