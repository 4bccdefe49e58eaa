/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of poll(2) on Streams. */
#include "str.h"

enum {
	READS = POLLIN | POLLRDNORM | POLLRDBAND | POLLPRI,
	WRITES = POLLOUT | POLLWRNORM | POLLWRBAND,
};

CASE(po_rdnorm)
{
	T_EQ(st_revents(R, READS), 0);
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	S_HOLDS(st_revents(R, READS) == (POLLIN | POLLRDNORM));
}

CASE(po_rdband)
{
	T_EQ(st_putp(W, NULL, "x", 7, MSG_BAND), 0);
	s_arrive(R, 1);
	S_HOLDS(st_revents(R, POLLRDBAND) == POLLRDBAND);
	S_HOLDS(st_revents(R, POLLRDNORM) == 0);
}

CASE(po_in_band)
{
	T_EQ(st_putp(W, NULL, "x", 7, MSG_BAND), 0);
	s_arrive(R, 1);
	S_HOLDS(st_revents(R, POLLIN) == POLLIN);
}

CASE(po_pri)
{
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	s_arrive(R, 1);
	S_HOLDS(st_revents(R, POLLPRI) == POLLPRI);
}

CASE(po_in_not_pri)
{
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	s_arrive(R, 1);
	S_HOLDS(st_revents(R, READS) == POLLPRI);
}

CASE(po_zero_length)
{
	T_OK(ioctl(W, I_SWROPT, SNDZERO));
	T_EQ(st_put(W, NULL, "", 0), 0);
	s_arrive(R, 1);
	S_HOLDS((st_revents(R, READS) & POLLIN) != 0);
}

CASE(po_out)
{
	S_HOLDS((st_revents(W, POLLOUT) & POLLOUT) != 0);
	S_HOLDS((st_revents(W, POLLWRNORM) & POLLWRNORM) != 0);
}

CASE(po_out_full)
{
	(void)s_fill(0);
	S_HOLDS(st_revents(W, POLLOUT | POLLWRNORM) == 0);
	s_drain();
	T_SOON((st_revents(W, WRITES) & POLLOUT) != 0, 2000);
}

/* A band exists at the queue that is asked when a message has been there. */
CASE(po_wrband)
{
	(void)s_fill(7);
	s_drain();
	T_SOON((st_revents(W, POLLWRBAND) & POLLWRBAND) != 0, 2000);
	(void)s_fill(0);
	S_HOLDS((st_revents(W, POLLWRBAND) & POLLWRBAND) != 0);
}

CASE(po_err)
{
	st_break(R, TM_IOC_RWERR, EPROTO);
	S_HOLDS((st_revents(R, 0) & POLLERR) != 0);
	S_HOLDS((st_revents(R, READS | WRITES) & POLLERR) != 0);
}

CASE(po_hup)
{
	st_break(R, TM_IOC_HANGUP, 0);
	S_HOLDS((st_revents(R, 0) & POLLHUP) != 0);
}

CASE(po_hup_not_out)
{
	st_break(R, TM_IOC_HANGUP, 0);
	S_HOLDS((st_revents(R, WRITES) & (POLLHUP | WRITES)) == POLLHUP);
}

CASE(po_hup_and_in)
{
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	st_break(R, TM_IOC_HANGUP, 0);
	S_HOLDS((st_revents(R, POLLIN) & (POLLHUP | POLLIN)) ==
		(POLLHUP | POLLIN));
}

CASE(po_nval)
{
	int fd = T_OK(dup(R));

	T_OK(close(fd));
	S_HOLDS(st_revents(fd, POLLIN) == POLLNVAL);
}

CASE(po_negative)
{
	struct pollfd p[2] = { { -1, POLLIN, 77 }, { W, POLLOUT, 0 } };

	S_HOLDS(poll(p, 2, 0) == 1);
	S_HOLDS(p[0].revents == 0 && p[1].revents == POLLOUT);
}

CASE(po_count)
{
	struct pollfd p[3] = { { R, POLLIN, 0 }, { W, POLLOUT, 0 },
		{ R, POLLRDNORM, 0 } };

	S_HOLDS(poll(p, 3, 0) == 1);
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	S_HOLDS(poll(p, 3, 0) == 3);
}

CASE(po_timeout)
{
	struct pollfd p = { R, POLLIN, 0 };
	uint64_t since = t_now_ns();

	S_HOLDS(poll(&p, 1, 30) == 0);
	S_HOLDS(t_now_ns() - since >= 30000000u);
}

CASE(po_at_once)
{
	struct pollfd p = { R, POLLIN, 5 };

	S_HOLDS(poll(&p, 1, 0) == 0 && p.revents == 0);
}

CASE(po_blocks)
{
	struct pollfd p = { R, POLLIN, 0 };
	pid_t pid = st_fork();

	if (pid == 0) {
		T_EQ(poll(&p, 1, -1), 1);
		T_EQ(p.revents, POLLIN);
		_exit(0);
	}
	st_wait_asleep(pid);
	ST_WRITES(W, "x");
	st_reap(pid);
}

CASE(po_eintr)
{
	struct pollfd p = { R, POLLIN, 0 };

	s_interrupt();
	S_FAILS(poll(&p, 1, 5000), EINTR);
}

CASE(po_efault)
{
	S_FAILS(poll(st_bad(), 1, 0), EFAULT);
}

CASE(po_einval)
{
	struct pollfd p = { R, POLLIN, 0 };
	volatile nfds_t n = (nfds_t)-1;

	S_FAILS(poll(&p, n, 0), EINVAL);
}
