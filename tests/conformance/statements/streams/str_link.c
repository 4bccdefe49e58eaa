/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of I_LINK, I_UNLINK, I_PLINK and I_PUNLINK: W is the lower Stream. */
#include "str.h"

static int
linked(int mux, int fd)
{
	return T_OK(ioctl(mux, I_LINK, fd));
}

static int
plinked(int mux, int fd)
{
	return T_OK(ioctl(mux, I_PLINK, fd));
}

/* What is written at @from comes out at @to. */
static void
joined(int from, int to)
{
	T_EQ(st_put(from, "ctl", "data", 0), 0);
	ST_GOT(to, "ctl", "data");
}

CASE(ln_id)
{
	S_HOLDS(ioctl(s_mux(), I_LINK, W) > 0);
}

CASE(ln_ids_differ)
{
	int mux = s_mux(), more[2];

	s_loop(more);
	S_HOLDS(linked(mux, W) != linked(mux, more[0]));
}

CASE(ln_joins)
{
	int mux = s_mux();

	(void)linked(mux, W);
	joined(mux, R);
	joined(R, mux);
}

CASE(ln_close_lower)
{
	int mux = s_mux();

	(void)linked(mux, W);
	T_OK(close(W));
	joined(mux, R);
}

CASE(ln_close_upper)
{
	int mux = s_mux();

	(void)linked(mux, W);
	S_FAILS(write(W, "x", 1), EINVAL);
	T_OK(close(mux));
	T_SOON(write(W, "x", 1) == 1, 2000);
	ST_GOT(R, NULL, "x");
}

CASE(ln_ebadf)
{
	int fd = T_OK(dup(W)), mux = s_mux();

	T_OK(close(fd));
	S_FAILS(ioctl(mux, I_LINK, fd), EBADF);
	S_FAILS(ioctl(mux, I_LINK, -1), EBADF);
}

CASE(ln_einval_upper)
{
	int more[2];

	s_loop(more);
	S_FAILS(ioctl(W, I_LINK, more[0]), EINVAL);
}

CASE(ln_einval_stream)
{
	int fd = T_OK(open("/dev/null", O_RDWR));

	S_FAILS(ioctl(s_mux(), I_LINK, fd), EINVAL);
}

CASE(ln_einval_twice)
{
	int mux = s_mux(), other = s_mux();

	(void)linked(mux, W);
	S_FAILS(ioctl(mux, I_LINK, W), EINVAL);
	S_FAILS(ioctl(other, I_LINK, W), EINVAL);
}

CASE(ln_einval_cycle)
{
	int a = T_OK(open("/dev/minimux.1", O_RDWR));
	int b = T_OK(open("/dev/minimux.2", O_RDWR));

	S_FAILS(ioctl(a, I_LINK, a), EINVAL);
	(void)linked(a, b);
	S_FAILS(ioctl(b, I_LINK, a), EINVAL);
}

/* An upper Stream that is hung up, with a link made before. */
static int
hung_up(int cmd, int *id)
{
	int mux = s_mux();

	if (id != NULL)
		*id = T_OK(ioctl(mux, (unsigned long)cmd, W));
	st_break(mux, TM_IOC_HANGUP, 0);
	return mux;
}

CASE(ln_hangup)
{
	S_FAILS(ioctl(hung_up(0, NULL), I_LINK, W), ENXIO);
}

CASE(un_undoes)
{
	int mux = s_mux(), id = linked(mux, W);

	S_HOLDS(ioctl(mux, I_UNLINK, id) == 0);
	joined(W, R);
}

CASE(un_all)
{
	int mux = s_mux(), more[2];

	s_loop(more);
	(void)linked(mux, W);
	(void)linked(mux, more[0]);
	S_HOLDS(ioctl(mux, I_UNLINK, MUXID_ALL) == 0);
	joined(W, R);
	joined(more[0], more[1]);
}

CASE(un_einval)
{
	int mux = s_mux(), id = linked(mux, W);

	S_FAILS(ioctl(mux, I_UNLINK, id + 1000), EINVAL);
	T_OK(ioctl(mux, I_UNLINK, id));
	S_FAILS(ioctl(mux, I_UNLINK, id), EINVAL);
}

CASE(un_other)
{
	int mux = s_mux(), other = s_mux(), id = linked(mux, W);

	S_FAILS(ioctl(other, I_UNLINK, id), EINVAL);
	joined(mux, R);
}

CASE(un_persistent)
{
	int mux = s_mux(), id = plinked(mux, W);

	S_FAILS(ioctl(mux, I_UNLINK, id), EINVAL);
}

CASE(un_not_persistent)
{
	int mux = s_mux(), id = plinked(mux, W);

	T_OK(ioctl(mux, I_UNLINK, MUXID_ALL));
	S_FAILS(write(W, "x", 1), EINVAL);
	S_HOLDS(ioctl(mux, I_PUNLINK, id) == 0);
}

CASE(un_hangup)
{
	int id, mux = hung_up(I_LINK, &id);

	S_FAILS(ioctl(mux, I_UNLINK, id), ENXIO);
}

CASE(pl_id)
{
	S_HOLDS(ioctl(s_mux(), I_PLINK, W) > 0);
}

CASE(pl_outlives)
{
	int mux = s_mux(), id = plinked(mux, W);

	T_OK(close(mux));
	S_FAILS(write(W, "x", 1), EINVAL);
	S_HOLDS(ioctl(s_mux(), I_PUNLINK, id) == 0);
}

CASE(pl_ebadf)
{
	int fd = T_OK(dup(W)), mux = s_mux();

	T_OK(close(fd));
	S_FAILS(ioctl(mux, I_PLINK, fd), EBADF);
}

CASE(pl_einval_upper)
{
	int more[2];

	s_loop(more);
	S_FAILS(ioctl(W, I_PLINK, more[0]), EINVAL);
}

CASE(pl_einval_stream)
{
	int fd = T_OK(open("/dev/null", O_RDWR));

	S_FAILS(ioctl(s_mux(), I_PLINK, fd), EINVAL);
}

CASE(pl_einval_twice)
{
	int mux = s_mux();

	(void)plinked(mux, W);
	S_FAILS(ioctl(mux, I_PLINK, W), EINVAL);
}

CASE(pl_hangup)
{
	S_FAILS(ioctl(hung_up(0, NULL), I_PLINK, W), ENXIO);
}

CASE(pu_undoes)
{
	int mux = s_mux(), id = plinked(mux, W);

	S_HOLDS(ioctl(mux, I_PUNLINK, id) == 0);
	joined(W, R);
}

CASE(pu_any_stream)
{
	int mux = s_mux(), other = s_mux(), id = plinked(mux, W);

	S_HOLDS(ioctl(other, I_PUNLINK, id) == 0);
	joined(W, R);
}

CASE(pu_all)
{
	int mux = s_mux(), other = s_mux(), more[2];

	s_loop(more);
	(void)plinked(mux, W);
	(void)plinked(other, more[0]);
	S_HOLDS(ioctl(s_mux(), I_PUNLINK, MUXID_ALL) == 0);
	joined(W, R);
	joined(more[0], more[1]);
}

CASE(pu_einval)
{
	int mux = s_mux(), id = plinked(mux, W);

	S_FAILS(ioctl(mux, I_PUNLINK, id + 1000), EINVAL);
}

CASE(pu_not_persistent)
{
	int mux = s_mux(), id = linked(mux, W);

	S_FAILS(ioctl(mux, I_PUNLINK, id), EINVAL);
}

CASE(pu_hangup)
{
	int id, mux = hung_up(I_PLINK, &id);

	S_FAILS(ioctl(mux, I_PUNLINK, id), ENXIO);
}
