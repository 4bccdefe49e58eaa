/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of the read and write modes, the signals and the close time. */
#include "str.h"

static int v;

CASE(srd_modes)
{
	static const int modes[] = { RMSGD, RMSGN, RNORM };

	for (int i = 0; i < 3; i++) {
		T_OK(ioctl(R, I_SRDOPT, modes[i]));
		T_OK(ioctl(R, I_GRDOPT, &v));
		S_HOLDS((v & RMODEMASK) == modes[i]);
	}
}

CASE(srd_protocols)
{
	static const int how[] = { RPROTDAT, RPROTDIS, RPROTNORM };

	for (int i = 0; i < 3; i++) {
		T_OK(ioctl(R, I_SRDOPT, RMSGN | how[i]));
		T_OK(ioctl(R, I_GRDOPT, &v));
		S_HOLDS(v == (RMSGN | how[i]));
	}
}

CASE(srd_einval)
{
	S_FAILS(ioctl(R, I_SRDOPT, RMSGD | RMSGN), EINVAL);
	S_FAILS(ioctl(R, I_SRDOPT, RPROTDAT | RPROTDIS), EINVAL);
	S_FAILS(ioctl(R, I_SRDOPT, 0x4000), EINVAL);
	S_FAILS(ioctl(R, I_SRDOPT, -1), EINVAL);
}

CASE(grd_efault)
{
	S_FAILS(ioctl(R, I_GRDOPT, st_bad()), EFAULT);
}

CASE(swr_zero)
{
	T_OK(ioctl(W, I_SWROPT, SNDZERO));
	T_OK(ioctl(W, I_GWROPT, &v));
	S_HOLDS((v & SNDZERO) != 0);
	T_OK(ioctl(W, I_SWROPT, 0));
	T_OK(ioctl(W, I_GWROPT, &v));
	S_HOLDS((v & SNDZERO) == 0);
}

CASE(swr_einval)
{
	S_FAILS(ioctl(W, I_SWROPT, 0x4000), EINVAL);
	S_FAILS(ioctl(W, I_SWROPT, -1), EINVAL);
}

CASE(gwr_efault)
{
	S_FAILS(ioctl(W, I_GWROPT, st_bad()), EFAULT);
}

/* ---------------------------------------------------------------- signals */

static volatile sig_atomic_t polls, urgs;

static void
count(int sig)
{
	if (sig == SIGPOLL)
		polls++;
	else
		urgs++;
}

static void
ask(int fd, int events)
{
	signal(SIGPOLL, count);
	signal(SIGURG, count);
	T_OK(ioctl(fd, I_SETSIG, events));
}

/* No signal came: it would have, before what is sent now has arrived. */
static void
quiet(void)
{
	struct pollfd p = { R, 0, 0 };

	(void)poll(&p, 1, 20);
	T_EQ(polls, 0);
	T_EQ(urgs, 0);
}

CASE(sig_default)
{
	S_FAILS(ioctl(R, I_GETSIG, &v), EINVAL);
}

CASE(sig_get)
{
	ask(R, S_INPUT | S_BANDURG);
	T_OK(ioctl(R, I_GETSIG, &v));
	S_HOLDS(v == (S_INPUT | S_BANDURG));
}

CASE(sig_get_efault)
{
	ask(R, S_INPUT);
	S_FAILS(ioctl(R, I_GETSIG, st_bad()), EFAULT);
}

CASE(sig_input)
{
	ask(R, S_INPUT);
	ST_WRITES(W, "x");
	T_SOON(polls == 1, 2000);
	ST_GOT(R, NULL, "x");
	T_EQ(st_putp(W, "c", NULL, 3, MSG_BAND), 0);
	T_SOON(polls == 2, 2000);
}

CASE(sig_input_empty)
{
	T_OK(ioctl(W, I_SWROPT, SNDZERO));
	ask(R, S_INPUT);
	T_EQ(st_put(W, NULL, "", 0), 0);
	T_SOON(polls == 1, 2000);
}

CASE(sig_hipri)
{
	ask(R, S_HIPRI);
	T_EQ(st_put(W, "hi", NULL, RS_HIPRI), 0);
	T_SOON(polls == 1, 2000);
}

CASE(sig_hipri_only)
{
	ask(R, S_HIPRI);
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	quiet();
}

CASE(sig_rdnorm)
{
	ask(R, S_RDNORM);
	T_EQ(st_putp(W, NULL, "band", 3, MSG_BAND), 0);
	s_arrive(R, 1);
	quiet();
	ST_WRITES(W, "x");
	T_SOON(polls == 1, 2000);
}

CASE(sig_rdband)
{
	ask(R, S_RDBAND);
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	quiet();
	T_EQ(st_putp(W, NULL, "band", 3, MSG_BAND), 0);
	T_SOON(polls == 1, 2000);
}

CASE(sig_bandurg)
{
	ask(R, S_RDBAND | S_BANDURG);
	T_EQ(st_putp(W, NULL, "band", 3, MSG_BAND), 0);
	T_SOON(urgs == 1, 2000);
	S_HOLDS(polls == 0);
}

CASE(sig_output)
{
	ask(W, S_OUTPUT);
	(void)s_fill(0);
	polls = 0;
	s_drain();
	T_SOON(polls > 0, 2000);
}

CASE(sig_wrband)
{
	ask(W, S_WRBAND);
	(void)s_fill(4);
	polls = 0;
	s_drain();
	for (int i = 0; i < 500 && polls == 0; i++)
		t_pause();
	S_HOLDS(polls > 0);
}

CASE(sig_each)
{
	int *ready = st_shared(sizeof *ready);
	pid_t pid = st_fork();

	ask(R, S_INPUT);
	if (pid == 0) {
		*ready = 1;
		T_SOON(polls == 1, 4000);
		_exit(0);
	}
	T_SOON(*ready == 1, 4000);
	ST_WRITES(W, "x");
	T_SOON(polls == 1, 2000);
	st_reap(pid);
}

CASE(sig_msg)
{
	ask(R, S_MSG);
	st_break(R, TM_IOC_NSIGNAL, SIGPOLL);
	T_SOON(polls == 1, 2000);
}

CASE(sig_error)
{
	ask(R, S_ERROR);
	st_break(R, TM_IOC_RWERR, EPROTO);
	T_SOON(polls > 0, 2000);
}

CASE(sig_hangup)
{
	ask(R, S_HANGUP);
	st_break(R, TM_IOC_HANGUP, 0);
	T_SOON(polls > 0, 2000);
}

CASE(sig_replaces)
{
	ask(R, S_INPUT);
	ask(R, S_HIPRI);
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	quiet();
}

CASE(sig_zero)
{
	ask(R, S_INPUT);
	T_OK(ioctl(R, I_SETSIG, 0));
	ST_WRITES(W, "x");
	s_arrive(R, 1);
	quiet();
}

CASE(sig_zero_none)
{
	S_FAILS(ioctl(R, I_SETSIG, 0), EINVAL);
}

CASE(sig_einval)
{
	S_FAILS(ioctl(R, I_SETSIG, 0x4000), EINVAL);
	S_FAILS(ioctl(R, I_SETSIG, -1), EINVAL);
}

/* ------------------------------------------------------------- close time */

CASE(clt_default)
{
	T_OK(ioctl(W, I_GETCLTIME, &v));
	S_HOLDS(v == 15000);
}

CASE(clt_set)
{
	v = 7000;
	T_OK(ioctl(W, I_SETCLTIME, &v));
	v = 0;
	T_OK(ioctl(W, I_GETCLTIME, &v));
	S_HOLDS(v == 7000);
	T_OK(ioctl(W, I_SETCLTIME, &(int){ 0 }));
	T_OK(ioctl(W, I_GETCLTIME, &v));
	S_HOLDS(v == 0);
}

CASE(clt_einval)
{
	v = -1;
	S_FAILS(ioctl(W, I_SETCLTIME, &v), EINVAL);
}

CASE(clt_efault)
{
	S_FAILS(ioctl(W, I_SETCLTIME, st_bad()), EFAULT);
}

CASE(clt_get_efault)
{
	S_FAILS(ioctl(W, I_GETCLTIME, st_bad()), EFAULT);
}
