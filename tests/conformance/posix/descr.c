/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The descriptors that pipe() returns: how they are numbered, their flags,
 * what they are (fstat), and what cannot be done with them.
 */
#include "posix.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <termios.h>

/* POSIX pipe(): "shall return 0 ... and place two file descriptors" */
T_CASE(pipe_returns_two_different_open_descriptors)
{
	int fd[2] = { -1, -1 };

	p_warm_up();
	T_CHECK_FDS();
	T_EQ(pipe(fd), 0);
	T_NE(fd[0], fd[1]);
	T_OK(fcntl(fd[0], F_GETFD));
	T_OK(fcntl(fd[1], F_GETFD));
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

/*
 * POSIX pipe(), 2.6 File Descriptor Allocation: "shall allocate ... the
 * lowest numbered available".  What an implementation opens for itself must
 * not get in between.
 */
T_CASE(pipe_takes_the_two_lowest_free_numbers)
{
	int a[2], b[2], low = T_OK(dup(0));

	T_OK(close(low));
	p_pipe(a);
	T_EQ(a[0], low);
	T_EQ(a[1], low + 1);
	p_pipe(b);
	T_EQ(b[0], low + 2);
	T_EQ(b[1], low + 3);
	T_OK(close(a[0]));
	T_OK(close(b[0]));
	p_pipe(a);
	T_EQ(a[0], low);
	T_EQ(a[1], low + 2);
}

/* POSIX pipe(): EMFILE; and nothing may have been allocated on failure */
T_CASE(pipe_fails_with_EMFILE_and_leaves_nothing_open)
{
	int fd[2], low;
	struct rlimit rl;

	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	low = T_OK(dup(0));
	T_OK(close(low));
	T_OK(getrlimit(RLIMIT_NOFILE, &rl));
	rl.rlim_cur = (rlim_t)low + 1;
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
	fd[0] = fd[1] = -7;
	T_ERR(pipe(fd), EMFILE);
	T_EQ(fd[0], -7);
	T_EQ(fd[1], -7);
	T_EQ(dup(0), low);
	T_ERR(pipe(fd), EMFILE);
}

/* POSIX pipe(): O_NONBLOCK and FD_CLOEXEC "shall be clear on both" */
T_CASE(pipe_descriptors_start_blocking_and_kept_over_exec)
{
	int fd[2];

	p_pipe(fd);
	for (int i = 0; i < 2; i++) {
		T_EQ(fcntl(fd[i], F_GETFL) & O_NONBLOCK, 0);
		T_EQ(fcntl(fd[i], F_GETFD), 0);
	}
}

/* POSIX pipe(): fildes[0] is open for reading, fildes[1] for writing */
T_CASE(access_mode_of_each_end_allows_its_use)
{
	int fd[2], m;

	p_pipe(fd);
	m = fcntl(fd[0], F_GETFL) & O_ACCMODE;
	T_TRUE(m == O_RDONLY || m == O_RDWR);
	m = fcntl(fd[1], F_GETFL) & O_ACCMODE;
	T_TRUE(m == O_WRONLY || m == O_RDWR);
}

/* POSIX pipe2(): O_NONBLOCK sets the status flag of both ends */
T_CASE(pipe2_O_NONBLOCK_holds_for_both_ends)
{
	int fd[2];
	char c;

	T_EQ(pipe2(fd, O_NONBLOCK), 0);
	T_NE(fcntl(fd[0], F_GETFL) & O_NONBLOCK, 0);
	T_NE(fcntl(fd[1], F_GETFL) & O_NONBLOCK, 0);
	T_EQ(fcntl(fd[0], F_GETFD), 0);
	T_ERR(read(fd[0], &c, 1), EAGAIN);
	T_GT(p_fill(fd[1]), 0u);
	T_ERR(write(fd[1], "x", 1), EAGAIN);
}

/* POSIX pipe2(): O_CLOEXEC sets FD_CLOEXEC, and no status flag */
T_CASE(pipe2_O_CLOEXEC_sets_the_descriptor_flag_only)
{
	int fd[2];

	T_EQ(pipe2(fd, O_CLOEXEC), 0);
	T_EQ(fcntl(fd[0], F_GETFD), FD_CLOEXEC);
	T_EQ(fcntl(fd[1], F_GETFD), FD_CLOEXEC);
	T_EQ(fcntl(fd[0], F_GETFL) & O_NONBLOCK, 0);
	T_EQ(fcntl(fd[1], F_GETFL) & O_NONBLOCK, 0);
}

/* POSIX pipe2(): EINVAL, "the value of the flag argument is invalid" */
T_CASE(pipe2_refuses_flags_it_does_not_know)
{
	int fd[2] = { -7, -7 }, low = T_OK(dup(0));

	T_OK(close(low));
	T_ERR(pipe2(fd, O_CREAT), EINVAL);
	T_ERR(pipe2(fd, O_NONBLOCK | O_APPEND), EINVAL);
	T_ERR(pipe2(fd, -1), EINVAL);
	T_EQ(fd[0], -7);
	T_EQ(dup(0), low);
}

/* POSIX pipe2(): with a zero flag it is pipe() */
T_CASE(pipe2_without_flags_is_pipe)
{
	int fd[2];
	char c = 0;

	T_EQ(pipe2(fd, 0), 0);
	T_EQ(fcntl(fd[0], F_GETFD), 0);
	T_EQ(write(fd[1], "k", 1), 1);
	T_EQ(read(fd[0], &c, 1), 1);
	T_EQ(c, 'k');
}

/* POSIX fcntl() F_SETFL: sets the status flags of the description named */
T_CASE(F_SETFL_changes_one_end_only)
{
	int fd[2];

	p_pipe(fd);
	p_nonblock(fd[0], 1);
	T_NE(fcntl(fd[0], F_GETFL) & O_NONBLOCK, 0);
	T_EQ(fcntl(fd[1], F_GETFL) & O_NONBLOCK, 0);
	p_nonblock(fd[1], 1);
	p_nonblock(fd[0], 0);
	T_EQ(fcntl(fd[0], F_GETFL) & O_NONBLOCK, 0);
	T_NE(fcntl(fd[1], F_GETFL) & O_NONBLOCK, 0);
}

/* POSIX fcntl() F_SETFL: bits of the access mode are ignored */
T_CASE(F_SETFL_cannot_change_the_access_mode)
{
	int fd[2], before;
	char c;

	p_pipe(fd);
	before = fcntl(fd[0], F_GETFL);
	T_OK(fcntl(fd[0], F_SETFL, O_WRONLY | O_NONBLOCK));
	T_EQ(fcntl(fd[0], F_GETFL) & O_ACCMODE, before & O_ACCMODE);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(read(fd[0], &c, 1), 1);
}

/*
 * POSIX fcntl(): file status flags belong to the open file description, and
 * dup() shares that.
 */
T_CASE(O_NONBLOCK_is_shared_by_duplicates)
{
	int fd[2], d;
	char c;

	p_pipe(fd);
	d = T_OK(dup(fd[0]));
	p_nonblock(d, 1);
	T_NE(fcntl(fd[0], F_GETFL) & O_NONBLOCK, 0);
	T_ERR(read(fd[0], &c, 1), EAGAIN);
	p_nonblock(fd[0], 0);
	T_EQ(fcntl(d, F_GETFL) & O_NONBLOCK, 0);
}

/* ... and so does fork() */
T_CASE(O_NONBLOCK_set_by_a_child_is_seen_by_the_parent)
{
	int fd[2];
	pid_t pid;
	char c;

	p_pipe(fd);
	T_EQ(fcntl(fd[0], F_GETFL) & O_NONBLOCK, 0);
	pid = fork();
	if (pid == 0) {
		p_nonblock(fd[0], 1);
		_exit(0);
	}
	T_TRUE(p_exited(pid, 0));
	T_NE(fcntl(fd[0], F_GETFL) & O_NONBLOCK, 0);
	T_ERR(read(fd[0], &c, 1), EAGAIN);
}

/* ioctl(FIONBIO) is the older way to the same flag */
T_CASE(FIONBIO_is_O_NONBLOCK)
{
	int fd[2], on = 1, off = 0;
	char c;

	p_pipe(fd);
	T_OK(ioctl(fd[0], FIONBIO, &on));
	T_NE(fcntl(fd[0], F_GETFL) & O_NONBLOCK, 0);
	T_ERR(read(fd[0], &c, 1), EAGAIN);
	T_OK(ioctl(fd[0], FIONBIO, &off));
	T_EQ(fcntl(fd[0], F_GETFL) & O_NONBLOCK, 0);
}

/* POSIX fcntl() F_SETFD: per descriptor, not per description */
T_CASE(FD_CLOEXEC_belongs_to_one_descriptor)
{
	int fd[2], d;

	p_pipe(fd);
	d = T_OK(dup(fd[0]));
	T_OK(fcntl(fd[0], F_SETFD, FD_CLOEXEC));
	T_EQ(fcntl(fd[0], F_GETFD), FD_CLOEXEC);
	T_EQ(fcntl(d, F_GETFD), 0);
	T_OK(fcntl(fd[0], F_SETFD, 0));
	T_EQ(fcntl(fd[0], F_GETFD), 0);
}

/* POSIX fstat(), <sys/stat.h> S_ISFIFO(m): "Test for a pipe or FIFO" */
T_CASE(fstat_says_both_ends_are_pipes)
{
	struct stat st;
	int fd[2];

	p_pipe(fd);
	for (int i = 0; i < 2; i++) {
		memset(&st, 0xff, sizeof(st));
		T_OK(fstat(fd[i], &st));
		T_TRUE(S_ISFIFO(st.st_mode));
		T_FALSE(S_ISSOCK(st.st_mode));
		T_EQ(st.st_uid, geteuid());
		T_GT(st.st_blksize, 0);
	}
}

/* POSIX fstat(): one file, one (st_dev, st_ino); two pipes are two files */
T_CASE(fstat_tells_pipes_apart_and_duplicates_alike)
{
	struct stat a, b, c;
	int fd[2], other[2];

	p_pipe(fd);
	p_pipe(other);
	T_OK(fstat(fd[0], &a));
	T_OK(fstat(T_OK(dup(fd[0])), &b));
	T_OK(fstat(other[0], &c));
	T_TRUE(a.st_dev == b.st_dev && a.st_ino == b.st_ino);
	T_FALSE(a.st_dev == c.st_dev && a.st_ino == c.st_ino);
}

/* POSIX lseek(): ESPIPE, "associated with a pipe, FIFO, or socket" */
T_CASE(lseek_fails_with_ESPIPE)
{
	int fd[2];

	p_pipe(fd);
	T_ERR(lseek(fd[0], 0, SEEK_CUR), ESPIPE);
	T_ERR(lseek(fd[1], 0, SEEK_SET), ESPIPE);
	T_ERR(lseek(fd[0], 0, SEEK_END), ESPIPE);
}

/* POSIX pread(), pwrite(): ESPIPE, "the file is incapable of seeking" */
T_CASE(pread_and_pwrite_fail_with_ESPIPE)
{
	int fd[2];
	char c;

	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	T_ERR(pread(fd[0], &c, 1, 0), ESPIPE);
	T_ERR(pwrite(fd[1], "y", 1, 0), ESPIPE);
	T_EQ(p_drain(fd[0]), 1u);
}

/* preadv2(2): "If offset is -1, then the current file offset is used" */
T_CASE(preadv2_and_pwritev2_at_no_position_read_and_write)
{
	char in = 'x', out = 0;
	struct iovec w = {&in, 1}, r = {&out, 1};
	int fd[2];

	p_pipe(fd);
	T_EQ(pwritev2(fd[1], &w, 1, -1, 0), 1);
	T_EQ(preadv2(fd[0], &r, 1, -1, 0), 1);
	T_EQ(out, 'x');
	T_ERR(pwritev2(fd[1], &w, 1, 0, 0), ESPIPE);
	T_ERR(preadv2(fd[0], &r, 1, 0, 0), ESPIPE);
	T_ERR(preadv2(fd[0], &r, 1, -2, 0), EINVAL);
	p_nonblock(fd[0], 1);
	T_ERR(preadv2(fd[0], &r, 1, -1, 0), EAGAIN);
}

/* POSIX isatty(), tcgetattr(): ENOTTY */
T_CASE(a_pipe_is_no_terminal)
{
	struct termios tio;
	int fd[2];

	p_pipe(fd);
	errno = 0;
	T_EQ(isatty(fd[0]), 0);
	T_EQ(errno, ENOTTY);
	T_EQ(isatty(fd[1]), 0);
	T_ERR(tcgetattr(fd[0], &tio), ENOTTY);
}

/* POSIX fsync(): EINVAL, "does not refer to a file" that can be synced */
T_CASE(fsync_and_ftruncate_fail_with_EINVAL)
{
	int fd[2];

	p_pipe(fd);
	T_ERR(fsync(fd[1]), EINVAL);
	T_ERR(ftruncate(fd[1], 0), EINVAL);
}

/* POSIX mmap(): ENODEV, "a file whose type is not supported by mmap()" */
T_CASE(mmap_of_a_pipe_fails_with_ENODEV)
{
	int fd[2];

	p_pipe(fd);
	T_TRUE(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd[0], 0) ==
		MAP_FAILED);
	T_TRUE(errno == ENODEV || errno == EACCES);
}

/* ioctl(FIONREAD): the bytes a read would find now */
T_CASE(FIONREAD_counts_the_bytes_to_read)
{
	char buf[300];
	int fd[2], n;

	p_pipe(fd);
	n = -1;
	T_OK(ioctl(fd[0], FIONREAD, &n));
	T_EQ(n, 0);
	T_EQ(write(fd[1], "hello", 5), 5);
	T_OK(ioctl(fd[0], FIONREAD, &n));
	T_EQ(n, 5);
	memset(buf, 'x', sizeof(buf));
	T_EQ(write(fd[1], buf, sizeof(buf)), 300);
	T_OK(ioctl(fd[0], FIONREAD, &n));
	T_EQ(n, 305);
	T_EQ(read(fd[0], buf, 105), 105);
	T_OK(ioctl(fd[0], FIONREAD, &n));
	T_EQ(n, 200);
	T_OK(close(fd[1]));
	T_OK(ioctl(fd[0], FIONREAD, &n));
	T_EQ(n, 200);
	T_EQ(p_drain(fd[0]), 200u);
	T_OK(ioctl(fd[0], FIONREAD, &n));
	T_EQ(n, 0);
}

T_CASE(FIONREAD_of_a_full_pipe_is_what_went_in)
{
	int fd[2], n = -1;
	size_t in;

	p_pipe(fd);
	in = p_fill(fd[1]);
	T_OK(ioctl(fd[0], FIONREAD, &n));
	T_EQ((size_t)n, in);
}

/* POSIX close(): EBADF the second time; read(), write(), fcntl() likewise */
T_CASE(a_closed_descriptor_gives_EBADF_everywhere)
{
	struct stat st;
	int fd[2], n;
	char c;

	p_pipe(fd);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	T_ERR(close(fd[0]), EBADF);
	T_ERR(read(fd[0], &c, 1), EBADF);
	T_ERR(write(fd[1], "x", 1), EBADF);
	T_ERR(read(fd[0], &c, 0), EBADF);
	T_ERR(fcntl(fd[0], F_GETFD), EBADF);
	T_ERR(fcntl(fd[0], F_GETFL), EBADF);
	T_ERR(fcntl(fd[0], F_SETFL, 0), EBADF);
	T_ERR(fstat(fd[0], &st), EBADF);
	T_ERR(lseek(fd[0], 0, SEEK_CUR), EBADF);
	T_ERR(ioctl(fd[0], FIONREAD, &n), EBADF);
	T_ERR(dup(fd[0]), EBADF);
}

T_CASE(impossible_descriptors_give_EBADF)
{
	char c;

	T_ERR(read(-1, &c, 1), EBADF);
	T_ERR(write(-1, "x", 1), EBADF);
	T_ERR(close(-1), EBADF);
	T_ERR(read(INT_MAX, &c, 1), EBADF);
	T_ERR(write(INT_MIN, "x", 1), EBADF);
	T_ERR(fcntl(INT_MAX, F_GETFL), EBADF);
	T_ERR(dup(-1), EBADF);
	T_ERR(dup2(-1, 50), EBADF);
}

/* POSIX fcntl(): EINVAL, "the cmd argument is invalid" */
T_CASE(fcntl_refuses_an_unknown_command)
{
	int fd[2];

	p_pipe(fd);
	T_ERR(fcntl(fd[0], 12345, 0), EINVAL);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(p_drain(fd[0]), 1u);
}

/* POSIX close(): the number is free for the next open at once */
T_CASE(a_number_is_reused_and_means_the_new_file)
{
	int a[2], b[2], k[2];
	char buf[8];

	p_pipe(a);
	T_EQ(write(a[1], "old", 3), 3);
	T_OK(close(a[0]));
	p_kernel_pipe(k);
	T_EQ(k[0], a[0]);
	T_EQ(write(k[1], "kernel", 6), 6);
	T_EQ(read(k[0], buf, 8), 6);
	T_OK(close(k[0]));
	T_OK(close(k[1]));
	p_pipe(b);
	T_EQ(b[0], a[0]);
	T_EQ(write(b[1], "new", 3), 3);
	T_EQ(read(b[0], buf, 8), 3);
	T_MEM(buf, "new", 3);
}

/* thousands of pipes come and go: nothing piles up */
T_CASE(opening_and_closing_pipes_leaks_nothing)
{
	int fd[2], first = -1;
	char c;

	p_warm_up();
	T_CHECK_FDS();
	for (int i = 0; i < 3000; i++) {
		p_pipe(fd);
		if (first < 0)
			first = fd[0];
		T_EQ(fd[0], first);
		T_EQ(write(fd[1], "x", 1), 1);
		if (i & 1)
			T_EQ(read(fd[0], &c, 1), 1);
		T_OK(close(fd[i & 1]));
		T_OK(close(fd[!(i & 1)]));
	}
}

/* many at once, each with its own data */
T_CASE(three_hundred_pipes_do_not_mix_their_data)
{
	static int fd[300][2];
	int i, v;

	for (i = 0; i < 300; i++) {
		p_pipe(fd[i]);
		T_EQ(write(fd[i][1], &i, sizeof(i)), (ssize_t)sizeof(i));
	}
	for (i = 299; i >= 0; i--) {
		T_EQ(read(fd[i][0], &v, sizeof(v)), (ssize_t)sizeof(v));
		T_EQ(v, i);
	}
}
