/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of getmsg(2) and getpmsg(2). */
#include "str.h"

static struct st_msg m;

CASE(get_parts)
{
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	s_arrive(R, 1);
	T_EQ(st_get(R, &m, 0), 0);
	ST_IS(&m, "ctl", "data");
}

CASE(get_len_is_bytes)
{
	T_EQ(st_put(W, "12345", "1234567", 0), 0);
	T_EQ(st_get(R, &m, 0), 0);
	S_HOLDS(m.ctl_len == 5 && m.data_len == 7);
}

CASE(get_len_zero_part)
{
	T_EQ(st_put(W, "", "", 0), 0);
	T_EQ(st_get(R, &m, 0), 0);
	S_HOLDS(m.ctl_len == 0 && m.data_len == 0);
}

CASE(get_len_no_control)
{
	T_EQ(st_put(W, NULL, "d", 0), 0);
	T_EQ(st_get(R, &m, 0), 0);
	S_HOLDS(m.ctl_len == -1);
}

CASE(get_len_no_data)
{
	T_EQ(st_put(W, "c", NULL, 0), 0);
	T_EQ(st_get(R, &m, 0), 0);
	S_HOLDS(m.data_len == -1);
}

CASE(get_null_control_stays)
{
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	s_arrive(R, 1);
	T_EQ(st_get_room(R, &m, -2, 100, 0), MORECTL);
	T_EQ(m.data_len, 4);
	T_EQ(st_get(R, &m, 0), 0);
	S_HOLDS(m.ctl_len == 3 && memcmp(m.ctl, "ctl", 3) == 0);
}

CASE(get_null_data_stays)
{
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	s_arrive(R, 1);
	T_EQ(st_get_room(R, &m, 100, -2, 0), MOREDATA);
	T_EQ(m.ctl_len, 3);
	T_EQ(st_get(R, &m, 0), 0);
	S_HOLDS(m.data_len == 4 && memcmp(m.data, "data", 4) == 0);
}

CASE(get_maxlen_minus_stays)
{
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	T_EQ(st_get_room(R, &m, -1, -1, 0), MORECTL | MOREDATA);
	S_HOLDS(m.ctl_len == -1 && m.data_len == -1);
	T_EQ(st_get(R, &m, 0), 0);
	ST_IS(&m, "ctl", "data");
}

CASE(get_maxlen_zero_takes_empty)
{
	T_EQ(st_put(W, "", NULL, 0), 0);
	T_EQ(st_get_room(R, &m, 0, 0, 0), 0);
	S_HOLDS(m.ctl_len == 0 && m.data_len == -1);
	S_HOLDS(st_queued(R) == 0);
}

CASE(get_maxlen_zero_leaves_bytes)
{
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	T_EQ(st_get_room(R, &m, 0, 0, 0), MORECTL | MOREDATA);
	S_HOLDS(m.ctl_len == 0 && m.data_len == 0);
	S_HOLDS(st_queued(R) == 1);
}

CASE(get_rest_stays)
{
	T_EQ(st_put(W, "control", "data part", 0), 0);
	T_EQ(st_get_room(R, &m, 3, 4, 0), MORECTL | MOREDATA);
	T_MEM(m.ctl, "con", 3);
	T_MEM(m.data, "data", 4);
	T_EQ(st_get(R, &m, 0), 0);
	ST_IS(&m, "trol", " part");
}

CASE(get_flags_zero_any)
{
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	T_EQ(st_put(W, "lo", NULL, 0), 0);
	s_arrive(R, 2);
	ST_GOT(R, "hi", NULL);
	ST_GOT(R, "lo", NULL);
}

CASE(get_hipri_only)
{
	st_nonblock(R);
	T_EQ(st_put(W, "lo", NULL, 0), 0);
	s_arrive(R, 1);
	S_FAILS(st_get(R, &m, RS_HIPRI), EAGAIN);
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	s_arrive(R, 2);
	T_EQ(st_get(R, &m, RS_HIPRI), 0);
	ST_IS(&m, "hi", NULL);
}

CASE(get_flags_out_hipri)
{
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	T_EQ(st_get(R, &m, 0), 0);
	S_HOLDS(m.flags == RS_HIPRI);
}

CASE(get_flags_out_zero)
{
	T_EQ(st_putp(W, "c", NULL, 9, MSG_BAND), 0);
	T_EQ(st_get(R, &m, 0), 0);
	S_HOLDS(m.flags == 0);
}

static void
blocks_for(int flags, int put_flags)
{
	pid_t pid = st_fork();

	if (pid == 0) {
		T_EQ(st_get(R, &m, flags), 0);
		ST_IS(&m, "ctl", NULL);
		_exit(0);
	}
	st_wait_asleep(pid);
	if (flags != 0) {
		T_EQ(st_put(W, "normal", NULL, 0), 0);
		st_wait_asleep(pid);
	}
	T_EQ(st_put(W, "ctl", NULL, put_flags), 0);
	st_reap(pid);
}

CASE(get_blocks)
{
	blocks_for(0, 0);
}

CASE(get_hipri_blocks)
{
	blocks_for(RS_HIPRI, RS_HIPRI);
}

CASE(get_hangup_drains)
{
	ST_WRITES(W, "left");
	s_arrive(R, 1);
	st_break(R, TM_IOC_HANGUP, 0);
	ST_GOT(R, NULL, "left");
}

CASE(get_hangup_zero)
{
	st_break(R, TM_IOC_HANGUP, 0);
	S_HOLDS(st_get(R, &m, 0) == 0 && m.ctl_len == 0 && m.data_len == 0);
	m.band = 0;
	S_HOLDS(st_getp(R, &m, 0, MSG_ANY) == 0 && m.ctl_len == 0 &&
		m.data_len == 0);
}

CASE(get_takes_written)
{
	ST_WRITES(W, "text");
	ST_GOT(R, NULL, "text");
}

CASE(getp_hipri)
{
	st_nonblock(R);
	T_EQ(st_putp(W, "c", NULL, 200, MSG_BAND), 0);
	s_arrive(R, 1);
	S_FAILS(st_getp(R, &m, 0, MSG_HIPRI), EAGAIN);
	T_EQ(st_putp(W, "hi", NULL, 0, MSG_HIPRI), 0);
	s_arrive(R, 2);
	T_EQ(st_getp(R, &m, 0, MSG_HIPRI), 0);
	ST_IS(&m, "hi", NULL);
}

CASE(getp_band_at_least)
{
	T_EQ(st_putp(W, NULL, "five", 5, MSG_BAND), 0);
	T_EQ(st_putp(W, NULL, "nine", 9, MSG_BAND), 0);
	s_arrive(R, 2);
	T_EQ(st_getp(R, &m, 5, MSG_BAND), 0);
	ST_IS(&m, NULL, "nine");
	T_EQ(st_getp(R, &m, 5, MSG_BAND), 0);
	ST_IS(&m, NULL, "five");
}

CASE(getp_band_not_below)
{
	st_nonblock(R);
	T_EQ(st_putp(W, NULL, "five", 5, MSG_BAND), 0);
	s_arrive(R, 1);
	S_FAILS(st_getp(R, &m, 6, MSG_BAND), EAGAIN);
	T_EQ(st_getp(R, &m, 0, MSG_BAND), 0);
}

CASE(getp_band_takes_hipri)
{
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	T_EQ(st_getp(R, &m, 200, MSG_BAND), 0);
	ST_IS(&m, "hi", NULL);
}

CASE(getp_any)
{
	T_EQ(st_putp(W, NULL, "low", 0, MSG_BAND), 0);
	T_EQ(st_putp(W, NULL, "band", 3, MSG_BAND), 0);
	s_arrive(R, 2);
	T_EQ(st_getp(R, &m, 0, MSG_ANY), 0);
	ST_IS(&m, NULL, "band");
	T_EQ(st_getp(R, &m, 0, MSG_ANY), 0);
	ST_IS(&m, NULL, "low");
}

CASE(getp_out_hipri)
{
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	T_EQ(st_getp(R, &m, 0, MSG_ANY), 0);
	S_HOLDS(m.flags == MSG_HIPRI && m.band == 0);
}

CASE(getp_out_band)
{
	T_EQ(st_putp(W, "c", "d", 255, MSG_BAND), 0);
	T_EQ(st_getp(R, &m, 0, MSG_ANY), 0);
	S_HOLDS(m.flags == MSG_BAND && m.band == 255);
}

CASE(getp_flags_required)
{
	ST_WRITES(W, "x");
	S_FAILS(st_getp(R, &m, 0, 0), EINVAL);
	S_FAILS(st_getp(R, &m, 0, MSG_HIPRI | MSG_BAND), EINVAL);
	S_FAILS(st_getp(R, &m, 0, MSG_ANY | MSG_BAND), EINVAL);
	S_FAILS(st_getp(R, &m, 0, 8), EINVAL);
}

CASE(getp_hipri_band_zero)
{
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	S_FAILS(st_getp(R, &m, 1, MSG_HIPRI), EINVAL);
}

CASE(getp_band_range)
{
	ST_WRITES(W, "x");
	S_FAILS(st_getp(R, &m, 256, MSG_BAND), EINVAL);
	S_FAILS(st_getp(R, &m, -1, MSG_BAND), EINVAL);
}

CASE(get_order)
{
	T_EQ(st_putp(W, NULL, "zero", 0, MSG_BAND), 0);
	T_EQ(st_putp(W, NULL, "one", 1, MSG_BAND), 0);
	T_EQ(st_putp(W, NULL, "two", 2, MSG_BAND), 0);
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	T_EQ(st_putp(W, NULL, "again two", 2, MSG_BAND), 0);
	s_arrive(R, 5);
	ST_GOT(R, "hi", NULL);
	ST_GOT(R, NULL, "two");
	ST_GOT(R, NULL, "again two");
	ST_GOT(R, NULL, "one");
	ST_GOT(R, NULL, "zero");
}

CASE(get_returns_zero)
{
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	S_HOLDS(st_get_room(R, &m, 3, 4, 0) == 0);
}

CASE(get_returns_morectl)
{
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	S_HOLDS(st_get_room(R, &m, 2, 4, 0) == MORECTL);
}

CASE(get_returns_moredata)
{
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	S_HOLDS(st_get_room(R, &m, 3, 3, 0) == MOREDATA);
}

CASE(get_returns_both)
{
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	S_HOLDS(st_get_room(R, &m, 1, 1, 0) == (MORECTL | MOREDATA));
}

CASE(get_urgent_before_rest)
{
	T_EQ(st_put(W, NULL, "data", 0), 0);
	T_EQ(st_get_room(R, &m, 10, 2, 0), MOREDATA);
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	s_arrive(R, 2);
	ST_GOT(R, "hi", NULL);
	ST_GOT(R, NULL, "ta");
}

CASE(get_rest_keeps_priority)
{
	T_EQ(st_put(W, "control", NULL, RS_HIPRI), 0);
	T_EQ(st_get_room(R, &m, 3, 0, 0), MORECTL);
	T_EQ(st_get(R, &m, RS_HIPRI), 0);
	S_HOLDS(m.flags == RS_HIPRI && m.ctl_len == 4);
}

CASE(get_eagain)
{
	st_nonblock(R);
	S_FAILS(st_get(R, &m, 0), EAGAIN);
	S_FAILS(st_getp(R, &m, 0, MSG_ANY), EAGAIN);
}

CASE(get_eagain_hipri)
{
	st_nonblock(R);
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	S_FAILS(st_get(R, &m, RS_HIPRI), EAGAIN);
}

CASE(get_ebadf)
{
	int fd = T_OK(dup(R));

	T_OK(close(fd));
	S_FAILS(st_get(fd, &m, 0), EBADF);
	S_FAILS(st_getp(fd, &m, 0, MSG_ANY), EBADF);
	S_FAILS(st_get(-1, &m, 0), EBADF);
}

static const char *
device(void)
{
	return s_kind == FIFO ? "/dev/streams/fifo/0" :
		s_kind == SPX ? "/dev/spx" :
		s_kind == ECHO ? "/dev/streams/clone/echo" : "/dev/loop_clone";
}

CASE(get_ebadf_mode)
{
	int fd = T_OK(open(device(), O_WRONLY | O_NONBLOCK));

	S_FAILS(st_get(fd, &m, 0), EBADF);
	S_FAILS(st_getp(fd, &m, 0, MSG_ANY), EBADF);
}

CASE(get_ebadmsg)
{
	T_OK(ioctl(W, I_SENDFD, 2));
	S_FAILS(st_get(R, &m, 0), EBADMSG);
}

CASE(get_efault)
{
	struct strbuf d = { 10, 0, st_bad() };
	int flags = 0;

	ST_WRITES(W, "x");
	S_FAILS(getmsg(R, NULL, &d, &flags), EFAULT);
	S_FAILS(getmsg(R, NULL, st_bad(), &flags), EFAULT);
	S_FAILS(getmsg(R, NULL, NULL, st_bad()), EFAULT);
}

CASE(get_eintr)
{
	s_interrupt();
	S_FAILS(st_get(R, &m, 0), EINTR);
}

CASE(get_einval)
{
	ST_WRITES(W, "x");
	S_FAILS(st_get(R, &m, 2), EINVAL);
	S_FAILS(st_get(R, &m, -1), EINVAL);
}

CASE(get_einval_linked)
{
	T_GT(ioctl(s_mux(), I_LINK, R), 0);
	S_FAILS(st_get(R, &m, 0), EINVAL);
	S_FAILS(st_getp(R, &m, 0, MSG_ANY), EINVAL);
}

CASE(get_enostr)
{
	int fd = T_OK(open("/dev/null", O_RDWR));

	S_FAILS(st_get(fd, &m, 0), ENOSTR);
	S_FAILS(st_getp(fd, &m, 0, MSG_ANY), ENOSTR);
}

CASE(get_error)
{
	st_break(R, TM_IOC_RDERR, EPROTO);
	S_FAILS(st_get(R, &m, 0), EPROTO);
	S_FAILS(st_getp(R, &m, 0, MSG_ANY), EPROTO);
}
