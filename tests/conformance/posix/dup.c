/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Duplicates of a descriptor and all the ways to close one: a pipe ends when
 * the last descriptor of a side is gone, whichever call it went by.
 */
#include "posix.h"

#include <sys/resource.h>
#include <sys/stat.h>

static int
at_eof(int fd)
{
	char c;

	p_nonblock(fd, 1);
	return read(fd, &c, 1) == 0;
}

/* POSIX dup(): "refers to the same open file description" */
T_CASE(a_duplicate_is_the_same_pipe)
{
	int fd[2], d;
	char c;

	p_pipe(fd);
	d = T_OK(dup(fd[1]));
	T_EQ(write(d, "a", 1), 1);
	T_EQ(read(fd[0], &c, 1), 1);
	T_EQ(c, 'a');
	d = T_OK(dup(fd[0]));
	T_EQ(write(fd[1], "bc", 2), 2);
	T_EQ(read(d, &c, 1), 1);
	T_EQ(c, 'b');
	T_EQ(read(fd[0], &c, 1), 1);
	T_EQ(c, 'c');
}

/* POSIX dup(): the lowest free number, FD_CLOEXEC clear */
T_CASE(dup_returns_the_lowest_number_without_FD_CLOEXEC)
{
	int fd[2], d;

	T_EQ(pipe2(fd, O_CLOEXEC), 0);
	d = T_OK(dup(fd[0]));
	T_EQ(d, fd[1] + 1);
	T_EQ(fcntl(d, F_GETFD), 0);
	T_OK(close(fd[0]));
	T_EQ(dup(d), fd[0]);
}

/* POSIX dup2(): closes fildes2 first */
T_CASE(dup2_closes_what_was_there)
{
	int a[2], b[2];

	p_pipe(a);
	p_pipe(b);
	T_EQ(dup2(a[1], b[1]), b[1]);
	T_TRUE(at_eof(b[0]));
	T_EQ(write(b[1], "x", 1), 1);
	T_EQ(p_drain(a[0]), 1u);
}

T_CASE(dup2_of_a_kernel_descriptor_closes_the_pipe_that_was_there)
{
	int fd[2], k[2];
	char c;

	p_pipe(fd);
	p_kernel_pipe(k);
	T_EQ(dup2(k[1], fd[1]), fd[1]);
	T_TRUE(at_eof(fd[0]));
	T_EQ(write(fd[1], "k", 1), 1);
	T_EQ(read(k[0], &c, 1), 1);
	T_EQ(c, 'k');
}

T_CASE(dup2_of_a_pipe_replaces_a_kernel_descriptor)
{
	int fd[2], k[2];
	char c;

	p_pipe(fd);
	p_kernel_pipe(k);
	T_EQ(dup2(fd[0], k[0]), k[0]);
	T_EQ(write(fd[1], "s", 1), 1);
	T_EQ(read(k[0], &c, 1), 1);
	T_EQ(c, 's');
	signal(SIGPIPE, SIG_IGN);
	T_ERR(write(k[1], "k", 1), EPIPE);
}

/* POSIX dup2(): equal numbers: "return fildes2 without closing it" */
T_CASE(dup2_onto_itself_changes_nothing)
{
	int fd[2];
	char c;

	T_EQ(pipe2(fd, O_CLOEXEC), 0);
	T_EQ(dup2(fd[0], fd[0]), fd[0]);
	T_EQ(fcntl(fd[0], F_GETFD), FD_CLOEXEC);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(read(fd[0], &c, 1), 1);
}

/* POSIX dup2(): fildes not valid: EBADF "and not close fildes2" */
T_CASE(dup2_of_nothing_fails_and_closes_nothing)
{
	int fd[2];

	p_pipe(fd);
	T_ERR(dup2(fd[1] + 1, fd[1]), EBADF);
	T_ERR(dup2(fd[1] + 1, fd[1] + 1), EBADF);
	T_ERR(dup2(fd[0], -1), EBADF);
	T_ERR(dup2(fd[0], INT_MAX), EBADF);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(p_drain(fd[0]), 1u);
}

/* POSIX dup3(): EINVAL for equal numbers or an unknown flag */
T_CASE(dup3_refuses_equal_numbers_and_unknown_flags)
{
	int fd[2];

	p_pipe(fd);
	T_ERR(dup3(fd[0], fd[0], 0), EINVAL);
	T_ERR(dup3(fd[0], fd[0], O_CLOEXEC), EINVAL);
	T_ERR(dup3(fd[0], 60, O_NONBLOCK), EINVAL);
	T_TRUE(p_is_closed(60));
	T_ERR(dup3(61, 60, 0), EBADF);
}

T_CASE(dup3_can_set_FD_CLOEXEC)
{
	int fd[2], b[2];

	p_pipe(fd);
	p_pipe(b);
	T_EQ(dup3(fd[0], 60, O_CLOEXEC), 60);
	T_EQ(fcntl(60, F_GETFD), FD_CLOEXEC);
	T_EQ(fcntl(fd[0], F_GETFD), 0);
	T_EQ(dup3(fd[1], b[1], 0), b[1]);
	T_EQ(fcntl(b[1], F_GETFD), 0);
	T_TRUE(at_eof(b[0]));
}

/* POSIX fcntl() F_DUPFD: "the lowest numbered ... greater than or equal" */
T_CASE(F_DUPFD_returns_the_lowest_number_from_its_argument)
{
	int fd[2], d;
	char c;

	p_pipe(fd);
	d = T_OK(fcntl(fd[0], F_DUPFD, 70));
	T_EQ(d, 70);
	T_EQ(fcntl(d, F_GETFD), 0);
	T_EQ(fcntl(fd[0], F_DUPFD, 70), 71);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(read(d, &c, 1), 1);
	T_OK(close(fd[1]));
	T_EQ(read(71, &c, 1), 0);
}

T_CASE(F_DUPFD_CLOEXEC_sets_the_flag)
{
	int fd[2], d;

	p_pipe(fd);
	d = T_OK(fcntl(fd[1], F_DUPFD_CLOEXEC, 80));
	T_EQ(d, 80);
	T_EQ(fcntl(d, F_GETFD), FD_CLOEXEC);
	T_OK(close(fd[1]));
	T_EQ(write(d, "x", 1), 1);
	T_EQ(p_drain(fd[0]), 1u);
}

/* POSIX fcntl(): F_DUPFD EINVAL, arg "negative or ... {OPEN_MAX}" */
T_CASE(F_DUPFD_refuses_numbers_out_of_range)
{
	struct rlimit rl;
	int fd[2];

	p_pipe(fd);
	T_OK(getrlimit(RLIMIT_NOFILE, &rl));
	T_ERR(fcntl(fd[0], F_DUPFD, -1), EINVAL);
	T_ERR(fcntl(fd[0], F_DUPFD, (int)rl.rlim_cur), EINVAL);
	T_ERR(fcntl(fd[0], F_DUPFD_CLOEXEC, -1), EINVAL);
}

T_CASE(end_of_file_waits_for_the_last_of_many_duplicates)
{
	int fd[2], d[20];
	char c;

	p_pipe(fd);
	p_nonblock(fd[0], 1);
	for (int i = 0; i < 20; i++)
		d[i] = T_OK(dup(fd[1]));
	T_OK(close(fd[1]));
	for (int i = 0; i < 20; i++) {
		T_ERR(read(fd[0], &c, 1), EAGAIN);
		T_OK(close(d[i]));
	}
	T_EQ(read(fd[0], &c, 1), 0);
}

/* Linux close_range(2) */
T_CASE(close_range_closes_pipes)
{
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	p_pipe(fd);
	T_EQ(dup2(fd[0], 60), 60);
	T_EQ(dup2(fd[1], 62), 62);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	T_OK(close_range(61, 65, 0));
	T_TRUE(p_is_closed(62));
	T_TRUE(at_eof(60));
	T_OK(close_range(60, ~0u, 0));
	T_TRUE(p_is_closed(60));
	T_ERR(close_range(9, 8, 0), EINVAL);
	T_ERR(close_range(90, 91, 1u << 30), EINVAL);
}

T_CASE(close_range_can_mark_instead_of_closing)
{
	int fd[2];

	p_pipe(fd);
	T_OK(close_range((unsigned)fd[0], (unsigned)fd[1],
		CLOSE_RANGE_CLOEXEC));
	T_EQ(fcntl(fd[0], F_GETFD), FD_CLOEXEC);
	T_EQ(fcntl(fd[1], F_GETFD), FD_CLOEXEC);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(p_drain(fd[0]), 1u);
}

/* what a daemon does first; afterwards it must still be able to work */
T_CASE(pipes_work_after_close_range_of_everything)
{
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	T_OK(close_range(3, ~0u, 0));
	T_TRUE(p_is_closed(fd[0]));
	p_pipe(fd);
	T_EQ(write(fd[1], "yz", 2), 2);
	T_EQ(p_drain(fd[0]), 2u);
	T_OK(close(fd[1]));
	T_TRUE(at_eof(fd[0]));
}

T_CASE(pipes_work_after_closing_every_number)
{
	int fd[2];

	p_pipe(fd);
	for (int i = 3; i < 1024; i++)
		close(i);
	p_pipe(fd);
	T_EQ(write(fd[1], "yz", 2), 2);
	T_EQ(p_drain(fd[0]), 2u);
	T_OK(close(fd[1]));
	T_TRUE(at_eof(fd[0]));
}

/* glibc closefrom() */
T_CASE(closefrom_closes_pipes_and_leaves_the_lower_ones)
{
	int fd[2], k[2];

	p_pipe(fd);
	p_kernel_pipe(k);
	T_EQ(dup2(fd[1], 60), 60);
	T_OK(close(fd[1]));
	closefrom(50);
	T_TRUE(p_is_closed(60));
	T_FALSE(p_is_closed(fd[0]));
	T_TRUE(at_eof(fd[0]));
	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(p_drain(fd[0]), 1u);
}

/* POSIX fclose(): "shall perform the equivalent of a close()" */
T_CASE(fclose_closes_the_pipe)
{
	int fd[2];
	FILE *f;

	p_pipe(fd);
	f = fdopen(fd[1], "w");
	T_NOTNULL(f);
	T_EQ(fclose(f), 0);
	T_TRUE(p_is_closed(fd[1]));
	T_TRUE(at_eof(fd[0]));
}

T_CASE(freopen_closes_the_pipe)
{
	int fd[2];
	FILE *f;

	p_pipe(fd);
	f = fdopen(fd[1], "w");
	T_NOTNULL(f);
	f = freopen("/dev/null", "w", f);
	T_NOTNULL(f);
	T_TRUE(at_eof(fd[0]));
	T_EQ(fclose(f), 0);
}

/* the shell's way to put a pipe on standard input and output */
T_CASE(a_pipe_on_descriptors_0_and_1_works)
{
	int fd[2];
	struct stat st;
	pid_t pid = fork();
	char c;

	if (pid == 0) {
		p_pipe(fd);
		T_EQ(dup2(fd[0], 0), 0);
		T_EQ(dup2(fd[1], 1), 1);
		T_OK(close(fd[0]));
		T_OK(close(fd[1]));
		T_EQ(write(STDOUT_FILENO, "x", 1), 1);
		T_EQ(read(STDIN_FILENO, &c, 1), 1);
		T_OK(fstat(STDIN_FILENO, &st));
		T_TRUE(S_ISFIFO(st.st_mode));
		_exit(0);
	}
	T_TRUE(p_exited(pid, 0));
}

T_CASE(a_pipe_may_take_the_numbers_0_and_1)
{
	pid_t pid = fork();
	int fd[2];
	char c;

	if (pid == 0) {
		close(0);
		close(1);
		p_pipe(fd);
		T_EQ(fd[0], 0);
		T_EQ(fd[1], 1);
		T_EQ(write(1, "x", 1), 1);
		T_EQ(read(0, &c, 1), 1);
		T_OK(close(1));
		T_EQ(read(0, &c, 1), 0);
		_exit(0);
	}
	T_TRUE(p_exited(pid, 0));
}

/* numbers change hands in all directions and each always means one thing */
T_CASE(shuffled_numbers_always_mean_the_right_pipe)
{
	int a[8][2], to, from;
	char c;

	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 8; i++)
		p_pipe(a[i]);
	for (int i = 0; i < 1000; i++) {
		to = (int)t_rand_below(8);
		from = (int)t_rand_below(8);
		if (to == from)
			continue;
		/* write end of `to' now leads into pipe `from' */
		T_EQ(dup2(a[from][1], a[to][1]), a[to][1]);
		T_EQ(write(a[to][1], "z", 1), 1);
		for (int k = 0; k < 8; k++) {
			p_nonblock(a[k][0], 1);
			if (read(a[k][0], &c, 1) == 1)
				break;
			T_LT(k, 7);
		}
		if (i % 100 != 99)
			continue;
		for (int k = 0; k < 8; k++) {
			T_OK(close(a[k][0]));
			T_OK(close(a[k][1]));
		}
		for (int k = 0; k < 8; k++)
			p_pipe(a[k]);
	}
}
