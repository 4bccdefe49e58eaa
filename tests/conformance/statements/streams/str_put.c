/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of putmsg(2) and putpmsg(2). */
#include "str.h"

static struct st_msg m;

CASE(put_both)
{
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	ST_GOT(R, "ctl", "data");
}

CASE(put_control_only)
{
	T_EQ(st_put(W, "ctl", NULL, 0), 0);
	ST_GOT(R, "ctl", NULL);
}

CASE(put_data_only)
{
	T_EQ(st_put(W, NULL, "data", 0), 0);
	ST_GOT(R, NULL, "data");
}

CASE(put_len_minus)
{
	struct strbuf none = { 0, -1, (char *)st_bad() };
	struct strbuf some = { 0, 4, (char[]){ "text" } };

	T_EQ(putmsg(W, &none, &some, 0), 0);
	T_EQ(putmsg(W, &some, &none, 0), 0);
	ST_GOT(R, NULL, "text");
	ST_GOT(R, "text", NULL);
}

CASE(put_len_zero)
{
	T_EQ(st_put(W, "", "", 0), 0);
	ST_GOT(R, "", "");
	T_EQ(st_put(W, "", NULL, 0), 0);
	ST_GOT(R, "", NULL);
}

CASE(put_empty_data)
{
	T_EQ(st_put(W, NULL, "", 0), 0);
	ST_WRITES(W, "x");
	T_EQ(st_get(R, &m, 0), 0);
	S_HOLDS(m.data_len == 0);
}

CASE(put_nothing)
{
	struct strbuf none = { 0, -1, NULL };

	S_HOLDS(putmsg(W, NULL, NULL, 0) == 0);
	S_HOLDS(putmsg(W, &none, &none, 0) == 0);
	ST_WRITES(W, "x");
	s_arrive(R, 1);
}

CASE(put_hipri)
{
	T_EQ(st_put(W, "hi", "data", RS_HIPRI), 0);
	T_EQ(st_get(R, &m, RS_HIPRI), 0);
	ST_IS(&m, "hi", "data");
	T_EQ(m.flags, RS_HIPRI);
}

CASE(put_hipri_no_control)
{
	S_FAILS(st_put(W, NULL, "data", RS_HIPRI), EINVAL);
	S_FAILS(st_put(W, NULL, NULL, RS_HIPRI), EINVAL);
}

CASE(put_normal)
{
	T_EQ(st_put(W, "c", "d", 0), 0);
	T_EQ(st_getp(R, &m, 0, MSG_ANY), 0);
	S_HOLDS(m.flags == MSG_BAND && m.band == 0);
}

CASE(put_maxlen_unused)
{
	struct strbuf c = { -5, 1, (char[]){ "c" } };
	struct strbuf d = { -1, 1, (char[]){ "d" } };

	T_EQ(putmsg(W, &c, &d, 0), 0);
	ST_GOT(R, "c", "d");
}

CASE(put_boundaries)
{
	T_EQ(st_put(W, NULL, "one", 0), 0);
	T_EQ(st_put(W, NULL, "two", 0), 0);
	s_arrive(R, 2);
	ST_GOT(R, NULL, "one");
	ST_GOT(R, NULL, "two");
}

CASE(putp_hipri)
{
	T_EQ(st_putp(W, "hi", NULL, 0, MSG_HIPRI), 0);
	T_EQ(st_getp(R, &m, 0, MSG_ANY), 0);
	S_HOLDS(m.flags == MSG_HIPRI);
}

CASE(putp_hipri_no_control)
{
	S_FAILS(st_putp(W, NULL, "data", 0, MSG_HIPRI), EINVAL);
}

CASE(putp_hipri_band)
{
	S_FAILS(st_putp(W, "hi", NULL, 1, MSG_HIPRI), EINVAL);
}

CASE(putp_band)
{
	for (int band = 0; band <= 255; band += 51) {
		T_EQ(st_putp(W, NULL, "d", band, MSG_BAND), 0);
		T_EQ(st_getp(R, &m, 0, MSG_ANY), 0);
		S_HOLDS(m.band == band);
	}
}

CASE(putp_band_nothing)
{
	S_HOLDS(putpmsg(W, NULL, NULL, 3, MSG_BAND) == 0);
	ST_WRITES(W, "x");
	s_arrive(R, 1);
}

CASE(putp_flags_zero)
{
	S_FAILS(st_putp(W, "c", "d", 0, 0), EINVAL);
}

CASE(putp_flags_other)
{
	S_FAILS(st_putp(W, "c", "d", 0, MSG_HIPRI | MSG_BAND), EINVAL);
	S_FAILS(st_putp(W, "c", "d", 0, MSG_ANY), EINVAL);
	S_FAILS(st_putp(W, "c", "d", 0, 16), EINVAL);
}

CASE(putp_band_range)
{
	S_FAILS(st_putp(W, "c", "d", 256, MSG_BAND), EINVAL);
	S_FAILS(st_putp(W, "c", "d", -1, MSG_BAND), EINVAL);
}

CASE(putp_is_putmsg)
{
	T_EQ(st_put(W, "c", "1", 0), 0);
	T_EQ(st_putp(W, "c", "2", 0, MSG_BAND), 0);
	s_arrive(R, 2);
	ST_GOT(R, "c", "1");
	T_EQ(st_get(R, &m, 0), 0);
	ST_IS(&m, "c", "2");
	S_HOLDS(m.flags == 0);
}

CASE(put_blocks)
{
	pid_t pid;

	(void)s_fill(0);
	pid = st_fork();
	if (pid == 0) {
		T_EQ(st_put(W, NULL, "late", 0), 0);
		_exit(0);
	}
	st_wait_asleep(pid);
	s_drain();
	st_reap(pid);
}

CASE(put_eagain)
{
	(void)s_fill(0);
	st_nonblock(W);
	S_FAILS(st_put(W, NULL, "d", 0), EAGAIN);
	S_FAILS(st_put(W, "c", NULL, 0), EAGAIN);
}

CASE(put_hipri_flow)
{
	(void)s_fill(0);
	S_HOLDS(st_put(W, "hi", NULL, RS_HIPRI) == 0);
	T_EQ(st_get(R, &m, RS_HIPRI), 0);
	ST_IS(&m, "hi", NULL);
}

CASE(putp_bands_flow)
{
	(void)s_fill(0);
	st_nonblock(W);
	S_HOLDS(st_putp(W, NULL, "band", 5, MSG_BAND) == 0);
	T_EQ(st_getp(R, &m, 1, MSG_BAND), 0);
	ST_IS(&m, NULL, "band");
}

/* All that was written before the writer was refused can be read. */
static void
held_arrives(int band)
{
	size_t n = s_fill(band);

	while (n > 0) {
		T_SOON(st_queued(R) > 0, 2000);
		T_EQ(st_get(R, &m, 0), 0);
		T_LE((size_t)m.data_len, n);
		n -= (size_t)m.data_len;
	}
}

CASE(put_held_arrives)
{
	held_arrives(0);
}

CASE(putp_held_arrives)
{
	held_arrives(4);
}

CASE(put_no_part_sent)
{
	struct strbuf c = { 0, 1, (char[]){ "c" } };
	struct strbuf d = { 0, 10, st_bad() };

	T_ERR(putmsg(W, &c, &d, 0), EFAULT);
	ST_WRITES(W, "x");
	ST_GOT(R, NULL, "x");
}

CASE(put_returns_zero)
{
	S_HOLDS(st_put(W, "c", "d", 0) == 0);
	S_HOLDS(st_putp(W, "c", "d", 1, MSG_BAND) == 0);
}

CASE(put_ebadf)
{
	int fd = T_OK(dup(W));

	T_OK(close(fd));
	S_FAILS(st_put(fd, "c", "d", 0), EBADF);
	S_FAILS(st_putp(fd, "c", "d", 0, MSG_BAND), EBADF);
}

CASE(put_ebadf_mode)
{
	int fd = T_OK(open(s_kind == FIFO ? "/dev/streams/fifo/0" :
		s_kind == SPX ? "/dev/spx" : s_kind == ECHO ?
		"/dev/streams/clone/echo" : "/dev/loop_clone",
		O_RDONLY | O_NONBLOCK));

	S_FAILS(st_put(fd, "c", "d", 0), EBADF);
	S_FAILS(st_putp(fd, "c", "d", 0, MSG_BAND), EBADF);
}

CASE(put_efault)
{
	struct strbuf d = { 0, 10, st_bad() };

	S_FAILS(putmsg(W, NULL, &d, 0), EFAULT);
	S_FAILS(putmsg(W, st_bad(), NULL, 0), EFAULT);
	S_FAILS(putpmsg(W, &d, NULL, 1, MSG_BAND), EFAULT);
}

CASE(put_eintr)
{
	(void)s_fill(0);
	s_interrupt();
	S_FAILS(st_put(W, NULL, "d", 0), EINTR);
}

CASE(put_einval)
{
	S_FAILS(st_put(W, "c", "d", 2), EINVAL);
	S_FAILS(st_put(W, "c", "d", -1), EINVAL);
}

CASE(put_einval_linked)
{
	T_GT(ioctl(s_mux(), I_LINK, W), 0);
	S_FAILS(st_put(W, "c", "d", 0), EINVAL);
	S_FAILS(st_putp(W, "c", "d", 0, MSG_BAND), EINVAL);
}

CASE(put_enostr)
{
	int fd = T_OK(open("/dev/null", O_RDWR));

	S_FAILS(st_put(fd, "c", "d", 0), ENOSTR);
	S_FAILS(st_putp(fd, "c", "d", 0, MSG_BAND), ENOSTR);
}

CASE(put_enxio)
{
	st_break(W, TM_IOC_HANGUP, 0);
	S_FAILS(st_put(W, "c", "d", 0), ENXIO);
	S_FAILS(st_put(W, "c", NULL, RS_HIPRI), ENXIO);
	S_FAILS(st_putp(W, "c", "d", 1, MSG_BAND), ENXIO);
}

CASE(put_epipe)
{
	T_OK(close(R));
	S_FAILS(st_put(W, "c", "d", 0), EPIPE);
	S_FAILS(st_putp(W, "c", "d", 1, MSG_BAND), EPIPE);
}

CASE(put_erange_control)
{
	static char buf[2 << 20];
	struct strbuf b = { 0, sizeof buf, buf };

	S_FAILS(putmsg(W, &b, NULL, 0), ERANGE);
	S_FAILS(putpmsg(W, &b, NULL, 1, MSG_BAND), ERANGE);
}

CASE(put_erange_data)
{
	static char buf[2 << 20];
	struct strbuf b = { 0, sizeof buf, buf };

	S_FAILS(putmsg(W, NULL, &b, 0), ERANGE);
	S_FAILS(putpmsg(W, NULL, &b, 1, MSG_BAND), ERANGE);
}

CASE(put_error)
{
	st_break(W, TM_IOC_WRERR, EPROTO);
	S_FAILS(st_put(W, "c", "d", 0), EPROTO);
	S_FAILS(st_putp(W, "c", "d", 1, MSG_BAND), EPROTO);
}
