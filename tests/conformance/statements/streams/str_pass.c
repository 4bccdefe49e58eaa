/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of I_SENDFD and I_RECVFD. */
#include "str.h"

static struct strrecvfd rf;

/* A file with one byte in it. */
static int
file(const char *name, char c)
{
	int fd = T_OK(open(s_file(name), O_RDWR));

	T_EQ(write(fd, &c, 1), 1);
	return fd;
}

static char
content(int fd)
{
	char c = 0;

	T_EQ(pread(fd, &c, 1, 0), 1);
	return c;
}

CASE(ps_passes)
{
	int fd = file("a", 'a');

	T_EQ(ioctl(W, I_SENDFD, fd), 0);
	T_EQ(ioctl(R, I_RECVFD, &rf), 0);
	S_HOLDS(content(rf.fd) == 'a');
	/* the same open file: one position */
	T_EQ(lseek(fd, 77, SEEK_SET), 77);
	S_HOLDS(lseek(rf.fd, 0, SEEK_CUR) == 77);
}

CASE(ps_ids)
{
	T_OK(ioctl(W, I_SENDFD, file("a", 'a')));
	T_OK(ioctl(R, I_RECVFD, &rf));
	S_HOLDS(rf.uid == geteuid() && rf.gid == getegid());
}

CASE(ps_new)
{
	int fd = file("a", 'a');

	T_OK(ioctl(W, I_SENDFD, fd));
	T_OK(ioctl(R, I_RECVFD, &rf));
	S_HOLDS(rf.fd != fd);
	T_OK(close(fd));
	S_HOLDS(content(rf.fd) == 'a');
}

CASE(ps_blocks)
{
	pid_t pid = st_fork();

	if (pid == 0) {
		T_OK(ioctl(R, I_RECVFD, &rf));
		T_EQ(content(rf.fd), 'a');
		_exit(0);
	}
	st_wait_asleep(pid);
	T_OK(ioctl(W, I_SENDFD, file("a", 'a')));
	st_reap(pid);
}

CASE(ps_order)
{
	T_OK(ioctl(W, I_SENDFD, file("a", 'a')));
	T_OK(ioctl(W, I_SENDFD, file("b", 'b')));
	T_OK(ioctl(R, I_RECVFD, &rf));
	S_HOLDS(content(rf.fd) == 'a');
	T_OK(ioctl(R, I_RECVFD, &rf));
	S_HOLDS(content(rf.fd) == 'b');
}

CASE(ps_open)
{
	int fd = file("a", 'a');

	T_OK(ioctl(W, I_SENDFD, fd));
	T_OK(close(fd));
	T_OK(ioctl(R, I_RECVFD, &rf));
	S_HOLDS(content(rf.fd) == 'a');
}

CASE(ps_ebadf)
{
	int fd = T_OK(dup(2));

	T_OK(close(fd));
	S_FAILS(ioctl(W, I_SENDFD, fd), EBADF);
	S_FAILS(ioctl(W, I_SENDFD, -1), EBADF);
}

CASE(ps_einval)
{
	S_FAILS(ioctl(W, I_SENDFD, 2), EINVAL);
}

CASE(ps_hangup)
{
	T_OK(close(R));
	S_FAILS(ioctl(W, I_SENDFD, 2), ENXIO);
}

CASE(ps_full)
{
	(void)s_fill(0);
	S_FAILS(ioctl(W, I_SENDFD, 2), EAGAIN);
}

CASE(ps_eagain)
{
	st_nonblock(R);
	S_FAILS(ioctl(R, I_RECVFD, &rf), EAGAIN);
}

CASE(ps_ebadmsg)
{
	ST_WRITES(W, "x");
	S_FAILS(ioctl(R, I_RECVFD, &rf), EBADMSG);
	ST_GOT(R, NULL, "x");
}

CASE(ps_efault)
{
	T_OK(ioctl(W, I_SENDFD, 2));
	S_FAILS(ioctl(R, I_RECVFD, st_bad()), EFAULT);
}

CASE(ps_recv_hangup)
{
	T_OK(close(W));
	S_FAILS(ioctl(R, I_RECVFD, &rf), ENXIO);
}
