/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of I_FLUSH and I_FLUSHBAND. */
#include "str.h"

/* Messages of band 0, of band 3 and of high priority wait at @to. */
static void
three(int from, int to)
{
	ST_WRITES(from, "low");
	T_EQ(st_putp(from, NULL, "band", 3, MSG_BAND), 0);
	T_EQ(st_put(from, "hi", NULL, RS_HIPRI), 0);
	s_arrive(to, 3);
}

CASE(fl_read)
{
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	T_OK(ioctl(R, I_FLUSH, FLUSHR));
	s_arrive(R, 0);
}

CASE(fl_read_not_other)
{
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	T_OK(ioctl(W, I_FLUSH, FLUSHR));
	ST_GOT(R, NULL, "x");
}

CASE(fl_write_pipe)
{
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	T_OK(ioctl(W, I_FLUSH, FLUSHW));
	s_arrive(R, 0);
}

CASE(fl_write_fifo)
{
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	T_OK(ioctl(W, I_FLUSH, FLUSHW));
	s_arrive(R, 0);
}

CASE(fl_write_not_here)
{
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	T_OK(ioctl(R, I_FLUSH, FLUSHW));
	ST_GOT(R, NULL, "x");
}

CASE(fl_both)
{
	three(W, R);
	if (s_kind & ENDS)
		three(R, W);
	T_OK(ioctl(R, I_FLUSH, FLUSHRW));
	s_arrive(R, 0);
	if (s_kind == PIPE)
		s_arrive(W, 0);
}

CASE(fl_bands)
{
	three(W, R);
	T_OK(ioctl(R, I_FLUSH, FLUSHR));
	s_arrive(R, 0);
}

CASE(fl_flow)
{
	(void)s_fill(0);
	T_OK(ioctl(R, I_FLUSH, FLUSHRW));
	if (s_kind == LOOP || s_kind == SPX)
		T_OK(ioctl(W, I_FLUSH, FLUSHRW));
	T_SOON((st_revents(W, POLLOUT) & POLLOUT) != 0, 2000);
}

CASE(fl_einval)
{
	S_FAILS(ioctl(R, I_FLUSH, 0), EINVAL);
	S_FAILS(ioctl(R, I_FLUSH, 4), EINVAL);
	S_FAILS(ioctl(R, I_FLUSH, -1), EINVAL);
}

CASE(fl_hangup)
{
	st_break(R, TM_IOC_HANGUP, 0);
	S_FAILS(ioctl(R, I_FLUSH, FLUSHR), ENXIO);
}

CASE(fb_band)
{
	struct bandinfo b = { 3, FLUSHR };

	three(W, R);
	T_OK(ioctl(R, I_FLUSHBAND, &b));
	s_arrive(R, 2);
	ST_GOT(R, "hi", NULL);
	ST_GOT(R, NULL, "low");
}

CASE(fb_zero)
{
	struct bandinfo b = { 0, FLUSHR };

	three(W, R);
	T_OK(ioctl(R, I_FLUSHBAND, &b));
	s_arrive(R, 2);
	ST_GOT(R, "hi", NULL);
	ST_GOT(R, NULL, "band");
}

CASE(fb_einval)
{
	struct bandinfo b = { 3, 0 };

	S_FAILS(ioctl(R, I_FLUSHBAND, &b), EINVAL);
	b.bi_flag = 8;
	S_FAILS(ioctl(R, I_FLUSHBAND, &b), EINVAL);
}

CASE(fb_efault)
{
	S_FAILS(ioctl(R, I_FLUSHBAND, st_bad()), EFAULT);
}

CASE(fb_hangup)
{
	struct bandinfo b = { 3, FLUSHR };

	st_break(R, TM_IOC_HANGUP, 0);
	S_FAILS(ioctl(R, I_FLUSHBAND, &b), ENXIO);
}
