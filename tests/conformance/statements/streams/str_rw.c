/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of read(2) and write(2) on Streams. */
#include "str.h"

#include <sys/uio.h>

static struct st_msg m;
static char buf[1 << 20];

/* Two data messages wait at R. */
static void
two(const char *a, const char *b)
{
	T_EQ(st_put(W, NULL, a, 0), 0);
	T_EQ(st_put(W, NULL, b, 0), 0);
	s_arrive(R, 2);
}

CASE(rd_bytes)
{
	two("one", "two");
	ST_READS(R, 10, "onetwo");
}

CASE(rd_rest_kept)
{
	two("first", "second");
	ST_READS(R, 3, "fir");
	ST_READS(R, 4, "stse");
	ST_READS(R, 10, "cond");
}

CASE(rd_default_norm)
{
	int v = -1;

	T_OK(ioctl(R, I_GRDOPT, &v));
	S_HOLDS((v & RMODEMASK) == RNORM);
	S_HOLDS((v & RPROTMASK) == RPROTNORM);
}

CASE(rd_zero_message)
{
	T_OK(ioctl(W, I_SWROPT, SNDZERO));
	T_EQ(st_put(W, NULL, "", 0), 0);
	s_arrive(R, 1);
	S_HOLDS(read(R, buf, 10) == 0);
	S_HOLDS(st_queued(R) == 0);
}

CASE(rd_zero_ends)
{
	T_OK(ioctl(W, I_SWROPT, SNDZERO));
	two("data", "");
	ST_WRITES(W, "more");
	s_arrive(R, 3);
	ST_READS(R, 10, "data");
	S_HOLDS(read(R, buf, 10) == 0);
	ST_READS(R, 10, "more");
}

CASE(rd_rmsgn)
{
	T_OK(ioctl(R, I_SRDOPT, RMSGN));
	two("first", "second");
	ST_READS(R, 3, "fir");
	ST_READS(R, 10, "st");
	ST_READS(R, 10, "second");
}

CASE(rd_rmsgd)
{
	T_OK(ioctl(R, I_SRDOPT, RMSGD));
	two("first", "second");
	ST_READS(R, 3, "fir");
	ST_READS(R, 10, "second");
}

CASE(rd_protnorm)
{
	T_EQ(st_put(W, "c", "d", 0), 0);
	S_FAILS(read(R, buf, 10), EBADMSG);
}

CASE(rd_protnorm_stays)
{
	T_EQ(st_put(W, "c", "d", 0), 0);
	T_ERR(read(R, buf, 10), EBADMSG);
	ST_GOT(R, "c", "d");
}

CASE(rd_protdat)
{
	T_OK(ioctl(R, I_SRDOPT, RNORM | RPROTDAT));
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	ST_READS(R, 10, "ctldata");
}

CASE(rd_protdis)
{
	T_OK(ioctl(R, I_SRDOPT, RNORM | RPROTDIS));
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	ST_READS(R, 10, "data");
}

CASE(rd_prot_ends)
{
	ST_WRITES(W, "data");
	T_EQ(st_put(W, "ctl", "more", 0), 0);
	s_arrive(R, 2);
	ST_READS(R, 10, "data");
	ST_GOT(R, "ctl", "more");
}

CASE(rd_band_first)
{
	ST_WRITES(W, "low");
	T_EQ(st_putp(W, NULL, "high", 4, MSG_BAND), 0);
	s_arrive(R, 2);
	ST_READS(R, 4, "high");
	ST_READS(R, 4, "low");
}

CASE(rd_blocks)
{
	pid_t pid = st_fork();

	if (pid == 0) {
		ST_READS(R, 10, "late");
		_exit(0);
	}
	st_wait_asleep(pid);
	ST_WRITES(W, "late");
	st_reap(pid);
}

CASE(rd_partial)
{
	ST_WRITES(W, "some");
	ST_READS(R, 1000, "some");
}

CASE(rd_nbyte_zero)
{
	ST_WRITES(W, "data");
	S_HOLDS(read(R, buf, 0) == 0);
	ST_READS(R, 10, "data");
}

CASE(rd_readv)
{
	char a[4] = "", b[8] = "";
	struct iovec v[2] = { { a, 3 }, { b, 7 } };

	ST_WRITES(W, "onetwo");
	T_EQ(readv(R, v, 2), 6);
	T_STR(a, "one");
	T_STR(b, "two");
}

CASE(rd_hangup_drains)
{
	ST_WRITES(W, "left");
	s_arrive(R, 1);
	st_break(R, TM_IOC_HANGUP, 0);
	ST_READS(R, 10, "left");
}

CASE(rd_hangup_eof)
{
	st_break(R, TM_IOC_HANGUP, 0);
	S_HOLDS(read(R, buf, 10) == 0);
	S_HOLDS(read(R, buf, 10) == 0);
}

CASE(rd_close_eof)
{
	ST_WRITES(W, "last");
	T_OK(close(W));
	ST_READS(R, 10, "last");
	S_HOLDS(read(R, buf, 10) == 0);
}

CASE(rd_eagain)
{
	st_nonblock(R);
	S_FAILS(read(R, buf, 10), EAGAIN);
}

CASE(rd_ebadf)
{
	int fd = T_OK(dup(R));

	T_OK(close(fd));
	S_FAILS(read(fd, buf, 10), EBADF);
}

CASE(rd_efault)
{
	ST_WRITES(W, "x");
	S_FAILS(read(R, st_bad(), 10), EFAULT);
}

CASE(rd_eintr)
{
	s_interrupt();
	S_FAILS(read(R, buf, 10), EINTR);
}

CASE(rd_einval_linked)
{
	T_GT(ioctl(s_mux(), I_LINK, R), 0);
	S_FAILS(read(R, buf, 10), EINVAL);
}

CASE(rd_error)
{
	st_break(R, TM_IOC_RDERR, EPROTO);
	S_FAILS(read(R, buf, 10), EPROTO);
	S_FAILS(read(R, buf, 10), EPROTO);
}

CASE(rd_error_write_only)
{
	ST_WRITES(W, "data");
	s_arrive(R, 1);
	st_break(R, TM_IOC_WRERR, EPROTO);
	ST_READS(R, 10, "data");
}

CASE(wr_message)
{
	ST_WRITES(W, "text");
	T_EQ(st_getp(R, &m, 0, MSG_ANY), 0);
	ST_IS(&m, NULL, "text");
	S_HOLDS(m.flags == MSG_BAND && m.band == 0);
}

CASE(wr_returns)
{
	S_HOLDS(write(W, "12345", 5) == 5);
}

CASE(wr_zero_device)
{
	T_EQ(write(W, "", 0), 0);
	ST_WRITES(W, "x");
	T_EQ(st_get(R, &m, 0), 0);
	S_HOLDS(m.data_len == 0);
}

CASE(wr_zero_pipe)
{
	S_HOLDS(write(W, "", 0) == 0);
	ST_WRITES(W, "x");
	ST_GOT(R, NULL, "x");
}

CASE(wr_zero_sndzero)
{
	T_OK(ioctl(W, I_SWROPT, SNDZERO));
	T_EQ(write(W, "", 0), 0);
	ST_WRITES(W, "x");
	T_EQ(st_get(R, &m, 0), 0);
	S_HOLDS(m.data_len == 0);
}

CASE(wr_blocks)
{
	pid_t pid;

	(void)s_fill(0);
	pid = st_fork();
	if (pid == 0) {
		T_EQ(write(W, "late", 4), 4);
		_exit(0);
	}
	st_wait_asleep(pid);
	s_drain();
	st_reap(pid);
}

CASE(wr_writev)
{
	struct iovec v[2] = { { (char[]){ "one" }, 3 },
		{ (char[]){ "three" }, 5 } };

	T_EQ(writev(W, v, 2), 8);
	s_arrive(R, 1);
	ST_READS(R, 10, "onethree");
}

CASE(wr_long)
{
	enum { N = 300000 };
	size_t n = 0;
	pid_t pid;

	for (size_t i = 0; i < N; i++)
		buf[i] = (char)(i * 7 % 251);
	pid = st_fork();
	if (pid == 0) {
		T_EQ(write(W, buf, N), N);
		_exit(0);
	}
	while (n < N) {
		ssize_t r = T_OK(read(R, buf + N, N));

		T_MEM(buf + N, buf + n, (size_t)r);
		n += (size_t)r;
	}
	st_reap(pid);
}

CASE(wr_partial)
{
	ssize_t n, all = 0;

	st_nonblock(W);
	do {
		n = write(W, buf, sizeof buf);
		all += n > 0 ? n : 0;
	} while (n == (ssize_t)sizeof buf);
	S_HOLDS(all > 0);
	S_HOLDS(n > 0 || errno == EAGAIN);
}

CASE(wr_eagain)
{
	(void)s_fill(0);
	st_nonblock(W);
	S_FAILS(write(W, "x", 1), EAGAIN);
}

CASE(wr_ebadf)
{
	int fd = T_OK(dup(W));

	T_OK(close(fd));
	S_FAILS(write(fd, "x", 1), EBADF);
}

CASE(wr_efault)
{
	S_FAILS(write(W, st_bad(), 10), EFAULT);
}

CASE(wr_eintr)
{
	(void)s_fill(0);
	s_interrupt();
	S_FAILS(write(W, "x", 1), EINTR);
}

CASE(wr_einval_linked)
{
	T_GT(ioctl(s_mux(), I_LINK, W), 0);
	S_FAILS(write(W, "x", 1), EINVAL);
}

CASE(wr_enxio)
{
	st_break(W, TM_IOC_HANGUP, 0);
	S_FAILS(write(W, "x", 1), ENXIO);
}

static volatile sig_atomic_t pipes;

static void
on_pipe(int sig)
{
	(void)sig;
	pipes++;
}

CASE(wr_epipe)
{
	signal(SIGPIPE, on_pipe);
	T_OK(close(R));
	S_FAILS(write(W, "x", 1), EPIPE);
	S_HOLDS(pipes == 1);
}

CASE(wr_error)
{
	st_break(W, TM_IOC_WRERR, EPROTO);
	S_FAILS(write(W, "x", 1), EPROTO);
}

CASE(wr_error_read_only)
{
	st_break(W, TM_IOC_RDERR, EPROTO);
	S_HOLDS(write(W, "x", 1) == 1);
}

CASE(wr_error_rw)
{
	st_break(W, TM_IOC_RWERR, EPROTO);
	S_FAILS(write(W, "x", 1), EPROTO);
	S_FAILS(read(W, buf, 10), EPROTO);
}
