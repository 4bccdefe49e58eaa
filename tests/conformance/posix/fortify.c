/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The calls as a fortified, large-file build makes them: with an object whose
 * size the compiler knows and a length that it does not, read() becomes
 * __read_chk(), poll() __poll_chk(), open() __open64_2() and so on.  Without
 * fortification the same cases make the plain calls.
 */
#include "posix.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* For clang, glibc's headers do not. */
#if defined(_FORTIFY_SOURCE) && _FORTIFY_SOURCE > 0 && !defined(__clang__)
#define FORTIFIED 1
#else
#define FORTIFIED 0
#endif

static volatile size_t four = 4;
static volatile nfds_t two = 2;
static volatile int rdonly = O_RDONLY;

T_CASE(read_of_a_checked_length)
{
	char buf[16];
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "abcdef", 6), 6);
	T_EQ(read(fd[0], buf, four), 4);
	T_MEM(buf, "abcd", 4);
	T_EQ(read(fd[0], buf, four), 2);
	p_nonblock(fd[0], 1);
	T_ERR(read(fd[0], buf, four), EAGAIN);
	T_OK(close(fd[1]));
	T_EQ(read(fd[0], buf, four), 0);
	T_OK(close(fd[0]));
	T_ERR(read(fd[0], buf, four), EBADF);
}

T_CASE(poll_of_a_checked_number)
{
	struct timespec ts = { 0, 0 };
	struct pollfd p[3];
	int fd[2];

	p_pipe(fd);
	p[0] = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	p[1] = (struct pollfd){ .fd = fd[1], .events = POLLOUT };
	T_EQ(poll(p, two, 0), 1);
	T_EQ(p[1].revents, POLLOUT);
	T_EQ(ppoll(p, two, &ts, NULL), 1);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(poll(p, two, -1), 2);
	T_EQ(ppoll(p, two, NULL, NULL), 2);
	T_EQ(p[0].revents, POLLIN);
}

T_CASE(pread_of_a_checked_length)
{
	char buf[16];
	int fd[2];

	p_pipe(fd);
	T_ERR(pread(fd[0], buf, four, 0), ESPIPE);
}

T_CASE(open_with_checked_flags)
{
	char buf[16];
	int fd = T_OK(open("/proc/self/comm", rdonly));

	T_GT(read(fd, buf, four), 0);
	T_OK(close(fd));
	T_ERR(open("/nonexistent/file", rdonly), ENOENT);
	fd = T_OK(open("/dev/null", O_RDWR | O_CLOEXEC));
	T_EQ(write(fd, "x", 1), 1);
	T_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	T_OK(close(fd));
	T_ERR(open("/nonexistent/file", O_RDWR | O_CREAT, 0600), ENOENT);
	fd = T_OK(openat(AT_FDCWD, "/dev/null", rdonly));
	T_EQ(read(fd, buf, four), 0);
	T_OK(close(fd));
}

/* files that are no streams keep what they can do */
T_CASE(large_file_calls_work_on_files)
{
	char path[] = "/tmp/posix-large-XXXXXX", buf[4];
	off_t far = (off_t)1 << 33;
	struct stat st;
	int fd = T_OK(mkstemp(path));

	T_OK(unlink(path));
	T_EQ(lseek(fd, far, SEEK_SET), far);
	T_EQ(write(fd, "end", 3), 3);
	T_OK(fstat(fd, &st));
	T_TRUE(S_ISREG(st.st_mode));
	T_EQ(st.st_size, far + 3);
	T_EQ(pread(fd, buf, four - 1, far), 3);
	T_MEM(buf, "end", 3);
	T_OK(fcntl(fd, F_SETLK, &(struct flock){ .l_type = F_WRLCK,
		.l_start = far, .l_len = 3 }));
	T_OK(close(fd));
}

/* a length beyond the object ends the process, as it must */
T_CASE(a_read_beyond_the_object_is_caught_when_fortified)
{
	static volatile size_t many = 100;
	int fd[2], status;
	char buf[16];
	pid_t pid;

	p_pipe(fd);
	T_EQ(write(fd[1], "0123456789abcdef0123", 20), 20);
	if (!FORTIFIED)
		T_SKIP("not fortified");
	pid = fork();
	if (pid == 0) {
		struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_CORE, &none);
		close(2);
		_exit(read(fd[0], buf, many) > 0 ? 1 : 2);
	}
	status = p_wait(pid, P_MS_LONG);
	T_TRUE(WIFSIGNALED(status));
	T_EQ(WTERMSIG(status), SIGABRT);
}
