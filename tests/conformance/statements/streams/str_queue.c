/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of the commands that look at queues, and of I_FDINSERT. */
#include "str.h"

#include <sys/LiS/loop.h>

static struct st_msg m;
static int v;
static char ctl[32], data[32];

CASE(nread_count)
{
	S_HOLDS(ioctl(R, I_NREAD, &v) == 0);
	ST_WRITES(W, "one");
	T_EQ(st_put(W, "c", "two", 0), 0);
	s_arrive(R, 2);
}

CASE(nread_bytes)
{
	ST_WRITES(W, "12345");
	T_EQ(st_put(W, NULL, "12", 0), 0);
	s_arrive(R, 2);
	T_EQ(ioctl(R, I_NREAD, &v), 2);
	S_HOLDS(v == 5);
}

CASE(nread_blocks)
{
	T_EQ(st_put(W, "control", "12", 0), 0);
	s_arrive(R, 1);
	T_EQ(ioctl(R, I_NREAD, &v), 1);
	S_HOLDS(v == 2);
}

CASE(nread_zero)
{
	T_OK(ioctl(W, I_SWROPT, SNDZERO));
	T_EQ(st_put(W, NULL, "", 0), 0);
	s_arrive(R, 1);
	v = 7;
	S_HOLDS(ioctl(R, I_NREAD, &v) == 1 && v == 0);
}

CASE(nread_empty)
{
	v = 7;
	S_HOLDS(ioctl(R, I_NREAD, &v) == 0 && v == 0);
}

CASE(nread_efault)
{
	S_FAILS(ioctl(R, I_NREAD, st_bad()), EFAULT);
}

static struct strpeek pk = { { sizeof ctl, 7, ctl }, { sizeof data, 7, data },
	0 };

CASE(peek_parts)
{
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	s_arrive(R, 1);
	T_EQ(ioctl(R, I_PEEK, &pk), 1);
	S_HOLDS(pk.ctlbuf.len == 3 && pk.databuf.len == 4);
	T_MEM(ctl, "ctl", 3);
	T_MEM(data, "data", 4);
}

CASE(peek_stays)
{
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	s_arrive(R, 1);
	T_EQ(ioctl(R, I_PEEK, &pk), 1);
	ST_GOT(R, "ctl", "data");
}

CASE(peek_returns_one)
{
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	S_HOLDS(ioctl(R, I_PEEK, &pk) == 1);
}

CASE(peek_returns_zero)
{
	S_HOLDS(ioctl(R, I_PEEK, &pk) == 0);
}

CASE(peek_hipri_only)
{
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	pk.flags = RS_HIPRI;
	S_HOLDS(ioctl(R, I_PEEK, &pk) == 0);
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	s_arrive(R, 2);
	S_HOLDS(ioctl(R, I_PEEK, &pk) == 1);
	T_MEM(ctl, "hi", 2);
}

CASE(peek_flags_out)
{
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	s_arrive(R, 1);
	T_EQ(ioctl(R, I_PEEK, &pk), 1);
	S_HOLDS(pk.flags == RS_HIPRI);
	ST_GOT(R, "hi", NULL);
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	pk.flags = 0;
	T_EQ(ioctl(R, I_PEEK, &pk), 1);
	S_HOLDS(pk.flags == 0);
}

CASE(peek_len)
{
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	T_EQ(ioctl(R, I_PEEK, &pk), 1);
	S_HOLDS(pk.ctlbuf.len == -1 && pk.databuf.len == 1);
}

CASE(peek_maxlen)
{
	T_EQ(st_put(W, "control", "data", 0), 0);
	s_arrive(R, 1);
	pk.ctlbuf.maxlen = 3;
	pk.databuf.maxlen = 2;
	T_EQ(ioctl(R, I_PEEK, &pk), 1);
	S_HOLDS(pk.ctlbuf.len == 3 && pk.databuf.len == 2);
	S_HOLDS(ctl[3] == '\0' && data[2] == '\0');
	ST_GOT(R, "control", "data");
}

CASE(peek_einval)
{
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	pk.flags = 6;
	S_FAILS(ioctl(R, I_PEEK, &pk), EINVAL);
}

CASE(peek_efault)
{
	T_EQ(st_put(W, "c", "d", 0), 0);
	s_arrive(R, 1);
	S_FAILS(ioctl(R, I_PEEK, st_bad()), EFAULT);
	pk.databuf.buf = st_bad();
	S_FAILS(ioctl(R, I_PEEK, &pk), EFAULT);
}

CASE(peek_ebadmsg)
{
	T_OK(ioctl(W, I_SENDFD, 2));
	s_arrive(R, 1);
	S_FAILS(ioctl(R, I_PEEK, &pk), EBADMSG);
}

/* ------------------------------------------------------------- I_FDINSERT */

static struct strfdinsert fi = { { 0, 8, ctl }, { 0, 4, data }, 0, 0, 4 };

static int
insert(void)
{
	return ioctl(W, I_FDINSERT, &fi);
}

/* A token that was sent; spx answers to it by pairing, so not there. */
static unsigned int
token(int fildes)
{
	unsigned int n = 0;

	fi.fildes = fildes;
	T_EQ(insert(), 0);
	T_EQ(st_get(R, &m, 0), 0);
	T_EQ(m.ctl_len, 8);
	memcpy(&n, m.ctl + 4, sizeof n);
	return n;
}

CASE(fdi_sends)
{
	memcpy(ctl, "abcdefgh", 8);
	memcpy(data, "data", 4);
	S_HOLDS(token(R) != 0);
	T_MEM(m.ctl, "abcd", 4);
	T_EQ(m.data_len, 4);
	T_MEM(m.data, "data", 4);
}

CASE(fdi_same_token)
{
	int p[2];
	unsigned int a, b;

	T_OK(pipe(p));
	a = token(p[0]);
	b = token(p[1]);
	S_HOLDS(a != b);
	S_HOLDS(token(p[0]) == a);
	S_HOLDS(token(dup(p[1])) == b);
}

CASE(fdi_hipri)
{
	fi.flags = RS_HIPRI;
	fi.fildes = R;
	T_EQ(insert(), 0);
	T_EQ(st_get(R, &m, RS_HIPRI), 0);
	S_HOLDS(m.flags == RS_HIPRI);
}

CASE(fdi_hipri_flow)
{
	(void)s_fill(0);
	st_nonblock(W);
	fi.flags = RS_HIPRI;
	fi.fildes = R;
	S_HOLDS(insert() == 0);
}

CASE(fdi_blocks)
{
	pid_t pid;

	(void)s_fill(0);
	fi.fildes = R;
	pid = st_fork();
	if (pid == 0) {
		T_EQ(insert(), 0);
		_exit(0);
	}
	st_wait_asleep(pid);
	s_drain();
	st_reap(pid);
}

CASE(fdi_error)
{
	int p[2];

	T_OK(pipe(p));
	st_break(p[0], TM_IOC_RWERR, EPROTO);
	fi.fildes = p[0];
	S_FAILS(insert(), EPROTO);
}

CASE(fdi_eagain)
{
	(void)s_fill(0);
	st_nonblock(W);
	fi.fildes = R;
	S_FAILS(insert(), EAGAIN);
}

CASE(fdi_short)
{
	fi.fildes = R;
	fi.offset = 8;
	S_FAILS(insert(), EINVAL);
	fi.ctlbuf.len = 2;
	fi.offset = 0;
	S_FAILS(insert(), EINVAL);
}

CASE(fdi_align)
{
	fi.fildes = R;
	fi.offset = 2;
	S_FAILS(insert(), EINVAL);
}

CASE(fdi_negative)
{
	fi.fildes = R;
	fi.offset = -4;
	S_FAILS(insert(), EINVAL);
}

CASE(fdi_flags)
{
	fi.fildes = R;
	fi.flags = 2;
	S_FAILS(insert(), EINVAL);
}

CASE(fdi_fildes)
{
	fi.fildes = T_OK(open("/dev/null", O_RDWR));
	S_FAILS(insert(), EINVAL);
	fi.fildes = -1;
	S_FAILS(insert(), EINVAL);
}

CASE(fdi_efault)
{
	S_FAILS(ioctl(W, I_FDINSERT, st_bad()), EFAULT);
	fi.fildes = R;
	fi.ctlbuf.buf = st_bad();
	S_FAILS(insert(), EFAULT);
}

CASE(fdi_hangup)
{
	int p[2];

	T_OK(pipe(p));
	st_break(p[0], TM_IOC_HANGUP, 0);
	fi.fildes = p[0];
	S_FAILS(insert(), ENXIO);
	fi.fildes = p[1];
	st_break(W, TM_IOC_HANGUP, 0);
	S_FAILS(insert(), ENXIO);
}

CASE(fdi_erange)
{
	static char large[2 << 20];

	fi.fildes = R;
	fi.databuf = (struct strbuf){ 0, sizeof large, large };
	S_FAILS(insert(), ERANGE);
}

/* ------------------------------------------------------------------ bands */

CASE(ck_yes)
{
	T_EQ(st_putp(W, NULL, "x", 3, MSG_BAND), 0);
	ST_WRITES(W, "x");
	s_arrive(R, 2);
	S_HOLDS(ioctl(R, I_CKBAND, 3) == 1);
	S_HOLDS(ioctl(R, I_CKBAND, 0) == 1);
}

CASE(ck_no)
{
	T_EQ(st_putp(W, NULL, "x", 3, MSG_BAND), 0);
	s_arrive(R, 1);
	S_HOLDS(ioctl(R, I_CKBAND, 0) == 0);
	S_HOLDS(ioctl(R, I_CKBAND, 4) == 0);
}

CASE(ck_einval)
{
	S_FAILS(ioctl(R, I_CKBAND, 256), EINVAL);
	S_FAILS(ioctl(R, I_CKBAND, -2), EINVAL);
}

CASE(gb_band)
{
	ST_WRITES(W, "x");
	T_EQ(st_putp(W, NULL, "x", 9, MSG_BAND), 0);
	s_arrive(R, 2);
	S_HOLDS(ioctl(R, I_GETBAND, &v) == 0 && v == 9);
}

CASE(gb_enodata)
{
	S_FAILS(ioctl(R, I_GETBAND, &v), ENODATA);
}

CASE(gb_efault)
{
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	S_FAILS(ioctl(R, I_GETBAND, st_bad()), EFAULT);
}

/* The next message of W is marked. */
static void
mark(void)
{
	int len = 0;

	T_OK(st_str(W, LOOP_MARK, 0, &len, NULL));
}

CASE(mk_any)
{
	mark();
	ST_WRITES(W, "marked");
	s_arrive(R, 1);
	S_HOLDS(ioctl(R, I_ATMARK, ANYMARK) == 1);
}

CASE(mk_last)
{
	mark();
	ST_WRITES(W, "marked");
	ST_WRITES(W, "not");
	s_arrive(R, 2);
	S_HOLDS(ioctl(R, I_ATMARK, LASTMARK) == 1);
}

CASE(mk_not_last)
{
	mark();
	mark();
	ST_WRITES(W, "marked");
	ST_WRITES(W, "too");
	s_arrive(R, 2);
	S_HOLDS(ioctl(R, I_ATMARK, LASTMARK) == 0);
	S_HOLDS(ioctl(R, I_ATMARK, ANYMARK) == 1);
}

CASE(mk_either)
{
	S_HOLDS(ioctl(R, I_ATMARK, ANYMARK | LASTMARK) == 0);
	mark();
	mark();
	ST_WRITES(W, "marked");
	ST_WRITES(W, "too");
	s_arrive(R, 2);
	S_HOLDS(ioctl(R, I_ATMARK, ANYMARK | LASTMARK) == 1);
}

CASE(mk_no)
{
	S_HOLDS(ioctl(R, I_ATMARK, ANYMARK) == 0);
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	S_HOLDS(ioctl(R, I_ATMARK, ANYMARK) == 0);
	S_HOLDS(ioctl(R, I_ATMARK, LASTMARK) == 0);
}

CASE(mk_einval)
{
	S_FAILS(ioctl(R, I_ATMARK, 0), EINVAL);
	S_FAILS(ioctl(R, I_ATMARK, 4), EINVAL);
}

CASE(cp_yes)
{
	S_HOLDS(ioctl(W, I_CANPUT, 0) == 1);
	S_HOLDS(ioctl(W, I_CANPUT, 255) == 1);
}

CASE(cp_no)
{
	(void)s_fill(0);
	S_HOLDS(ioctl(W, I_CANPUT, 0) == 0);
	S_HOLDS(ioctl(W, I_CANPUT, 3) == 1);
}

CASE(cp_einval)
{
	S_FAILS(ioctl(W, I_CANPUT, 256), EINVAL);
	S_FAILS(ioctl(W, I_CANPUT, -2), EINVAL);
}
