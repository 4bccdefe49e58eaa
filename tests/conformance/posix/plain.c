/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Descriptors that are no pipes of ours.  A library that stands in front of
 * read(), fcntl(), open() and the rest must leave everything else as it was:
 * files, directories, sockets, terminals, kernel pipes and the odd ones.
 */
#include "posix.h"

#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <termios.h>

static int
scratch(void)
{
	char path[] = "/tmp/posix-plain-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || unlink(path) != 0)
		p_die("mkstemp");
	return fd;
}

T_CASE(files_are_read_and_written_as_ever)
{
	char buf[16];
	struct iovec iov[2] = { { buf, 4 }, { buf + 4, 4 } };
	int fd, d;

	p_warm_up();
	fd = scratch();
	T_EQ(write(fd, "0123456789", 10), 10);
	T_EQ(lseek(fd, 0, SEEK_SET), 0);
	T_EQ(read(fd, buf, 3), 3);
	d = T_OK(dup(fd));
	T_EQ(lseek(d, 0, SEEK_CUR), 3);
	T_EQ(readv(d, iov, 2), 7);
	T_EQ(read(fd, buf, 1), 0);
	T_EQ(pwrite(fd, "ab", 2, 100), 2);
	T_EQ(pread(fd, buf, 2, 100), 2);
	T_EQ(writev(fd, iov, 2), 8);
	T_EQ(lseek(fd, 0, SEEK_CUR), 18);
	T_OK(ftruncate(fd, 5));
	T_OK(fsync(fd));
}

T_CASE(open_creates_with_mode_and_umask)
{
	char dir[] = "/tmp/posix-plain-XXXXXX", path[64];
	struct stat st;
	int fd;

	T_NOTNULL(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	umask(027);
	fd = T_OK(open(path, O_RDWR | O_CREAT | O_EXCL, 0666));
	T_OK(fstat(fd, &st));
	T_EQ(st.st_mode & 07777, 0640u);
	T_ERR(open(path, O_RDWR | O_CREAT | O_EXCL, 0666), EEXIST);
	T_OK(close(fd));
	fd = T_OK(open(path, O_WRONLY | O_APPEND));
	T_EQ(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND), O_WRONLY | O_APPEND);
	T_ERR(read(fd, path, 1), EBADF);
	T_OK(close(fd));
	T_OK(unlink(path));
	fd = T_OK(open(dir, O_RDONLY | O_DIRECTORY));
	T_ERR(read(fd, path, 1), EISDIR);
	T_ERR(openat(fd, "file", O_RDONLY), ENOENT);
	fd = T_OK(openat(fd, "file", O_CREAT | O_WRONLY, 0600));
	T_EQ(write(fd, "x", 1), 1);
	T_OK(unlink(path));
	T_OK(rmdir(dir));
}

/* fcntl() commands of every kind of argument go through unchanged */
T_CASE(fcntl_passes_every_command_on)
{
	struct flock fl = { .l_type = F_WRLCK, .l_len = 10 };
	struct f_owner_ex own = { F_OWNER_PID, getpid() }, got;
	int fd, k[2], m;

	p_warm_up();
	fd = scratch();
	T_OK(fcntl(fd, F_SETLK, &fl));
	fl.l_pid = 0; /* as the commands of open file descriptions want it */
	T_OK(fcntl(fd, F_OFD_GETLK, &fl));
	T_EQ(fl.l_type, F_WRLCK);
	p_kernel_pipe(k);
	T_GE(fcntl(k[1], F_SETPIPE_SZ, 65536), 65536);
	T_EQ(fcntl(k[0], F_GETPIPE_SZ), 65536);
	T_OK(fcntl(k[0], F_SETOWN, getpid()));
	T_EQ(fcntl(k[0], F_GETOWN), getpid());
	T_OK(fcntl(k[0], F_SETOWN_EX, &own));
	T_OK(fcntl(k[0], F_GETOWN_EX, &got));
	T_EQ(got.pid, getpid());
	T_OK(fcntl(k[0], F_SETSIG, SIGUSR1));
	T_EQ(fcntl(k[0], F_GETSIG), SIGUSR1);
	m = T_OK(memfd_create("posix-plain", MFD_ALLOW_SEALING));
	T_OK(fcntl(m, F_ADD_SEALS, F_SEAL_GROW));
	T_EQ(fcntl(m, F_GET_SEALS), F_SEAL_GROW);
	T_ERR(write(m, "x", 1), EPERM);
}

T_CASE(kernel_pipes_behave_as_kernel_pipes)
{
	char buf[8];
	int k[2], n;

	signal(SIGPIPE, SIG_IGN);
	p_warm_up();
	p_kernel_pipe(k);
	T_ERR(write(k[0], "x", 1), EBADF);
	T_ERR(read(k[1], buf, 1), EBADF);
	T_EQ(write(k[1], "abc", 3), 3);
	T_OK(ioctl(k[0], FIONREAD, &n));
	T_EQ(n, 3);
	T_EQ(p_fill(k[1]) + 3, p_drain(k[0]));
	T_OK(close(k[0]));
	T_ERR(write(k[1], "x", 1), EPIPE);
}

T_CASE(sockets_behave_as_sockets)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);
	char buf[8];
	int s[2], n, type;

	p_warm_up();
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	T_OK(getsockname(s[0], (struct sockaddr *)&sun, &len));
	len = sizeof(type);
	T_OK(getsockopt(s[0], SOL_SOCKET, SO_TYPE, &type, &len));
	T_EQ(type, SOCK_STREAM);
	T_EQ(write(s[0], "abc", 3), 3);
	T_OK(ioctl(s[1], FIONREAD, &n));
	T_EQ(n, 3);
	T_EQ(recv(s[1], buf, 8, MSG_PEEK), 3);
	T_EQ(read(s[1], buf, 8), 3);
	T_OK(shutdown(s[0], SHUT_WR));
	T_EQ(read(s[1], buf, 8), 0);
	T_EQ(p_ready(s[1], POLLIN | POLLRDHUP, 0), POLLIN | POLLRDHUP);
	T_EQ(write(s[1], "back", 4), 4);
	T_EQ(read(s[0], buf, 8), 4);
	T_OK(close(s[1]));
	signal(SIGPIPE, SIG_IGN);
	T_ERR(write(s[0], "x", 1), EPIPE);
}

T_CASE(terminals_behave_as_terminals)
{
	struct winsize ws = { .ws_row = 33, .ws_col = 77 }, got;
	struct termios tio;
	char buf[16];
	int m, s, unlock = 0;

	p_warm_up();
	m = posix_openpt(O_RDWR | O_NOCTTY);
	if (m < 0)
		T_SKIP("no pseudo terminals here");
	T_OK(ioctl(m, TIOCSPTLCK, &unlock));
	s = ioctl(m, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	if (s < 0)
		T_SKIP("no TIOCGPTPEER here");
	T_EQ(isatty(s), 1);
	T_OK(tcgetattr(s, &tio));
	T_OK(ioctl(s, TIOCSWINSZ, &ws));
	T_OK(ioctl(m, TIOCGWINSZ, &got));
	T_EQ(got.ws_col, 77);
	T_EQ(write(m, "line\n", 5), 5);
	T_EQ(read(s, buf, sizeof(buf)), 5);
	T_EQ(p_ready(s, POLLIN, 0), 0);
}

T_CASE(the_odd_descriptors_behave_as_ever)
{
	struct signalfd_siginfo si;
	uint64_t v = 7;
	sigset_t set;
	int e, s;

	p_warm_up();
	e = T_OK(eventfd(0, EFD_NONBLOCK));
	T_ERR(read(e, &v, 8), EAGAIN);
	T_ERR(read(e, &v, 4), EINVAL);
	T_EQ(write(e, &v, 8), 8);
	T_EQ(read(e, &v, 8), 8);
	T_EQ(v, 7u);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	T_OK(sigprocmask(SIG_BLOCK, &set, NULL));
	s = T_OK(signalfd(-1, &set, 0));
	T_OK(raise(SIGUSR1));
	T_EQ(p_ready(s, POLLIN, 0), POLLIN);
	T_EQ(read(s, &si, sizeof(si)), (ssize_t)sizeof(si));
	T_EQ(si.ssi_signo, (uint32_t)SIGUSR1);
}

T_CASE(poll_and_select_without_pipes_behave_as_ever)
{
	struct timeval tv = { 0, 0 };
	struct pollfd p[2];
	int k[2], fd;
	fd_set r, w;

	p_kernel_pipe(k);
	fd = scratch();
	p[0] = (struct pollfd){ k[0], POLLIN, 0 };
	p[1] = (struct pollfd){ fd, POLLIN | POLLOUT, 0 };
	T_EQ(poll(p, 2, 0), 1);
	T_EQ(p[1].revents, POLLIN | POLLOUT);
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(k[0], &r);
	FD_SET(k[1], &w);
	T_EQ(select(k[1] + 1, &r, &w, NULL, &tv), 1);
	T_TRUE(FD_ISSET(k[1], &w));
	T_OK(close(k[1]));
	T_EQ(poll(p, 1, -1), 1);
	T_EQ(p[0].revents, POLLHUP);
}

T_CASE(stdio_system_and_popen_work_beside_pipes)
{
	char line[64] = "";
	int fd[2];
	FILE *f;

	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	f = popen("echo from a shell", "r");
	T_NOTNULL(f);
	T_NOTNULL(fgets(line, sizeof(line), f));
	T_STR(line, "from a shell\n");
	T_EQ(pclose(f), 0);
	f = popen("exit 3", "w");
	T_NOTNULL(f);
	T_EQ(WEXITSTATUS(pclose(f)), 3);
	T_EQ(WEXITSTATUS(system("exit 5")), 5);
	f = tmpfile();
	T_NOTNULL(f);
	T_GT(fprintf(f, "hello %d\n", 42), 0);
	rewind(f);
	T_NOTNULL(fgets(line, sizeof(line), f));
	T_STR(line, "hello 42\n");
	T_EQ(fclose(f), 0);
	T_EQ(p_drain(fd[0]), 1u);
}

/* a program that is not linked with us gets its descriptors, and its exit */
T_CASE(a_foreign_program_runs_beside_pipes)
{
	char buf[32];
	int k[2], fd[2];
	pid_t pid;

	p_pipe(fd);
	p_kernel_pipe(k);
	pid = fork();
	if (pid == 0) {
		dup2(k[1], 1);
		close(fd[0]);
		close(fd[1]);
		execl("/bin/sh", "sh", "-c", "echo foreign; exit 7",
			(char *)NULL);
		_exit(1);
	}
	T_OK(close(k[1]));
	T_EQ(p_read_all(k[0], buf, sizeof(buf)), 8u);
	T_MEM(buf, "foreign\n", 8);
	T_TRUE(p_exited(pid, 7));
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(p_drain(fd[0]), 1u);
}
