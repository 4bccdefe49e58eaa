/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of I_PUSH, I_POP, I_LOOK, I_FIND, I_LIST, I_STR, and of all commands. */
#include "str.h"

static char name[FMNAMESZ + 1];

CASE(push_top)
{
	T_OK(ioctl(W, I_PUSH, "nullmod"));
	T_OK(ioctl(W, I_PUSH, "srvmod"));
	T_OK(ioctl(W, I_LOOK, name));
	T_STR(name, "srvmod");
}

CASE(push_name)
{
	S_FAILS(ioctl(W, I_PUSH, "nosuch"), EINVAL);
	S_FAILS(ioctl(W, I_PUSH, ""), EINVAL);
}

CASE(push_long)
{
	S_FAILS(ioctl(W, I_PUSH, "nullmodnullmod"), EINVAL);
}

CASE(push_efault)
{
	S_FAILS(ioctl(W, I_PUSH, st_bad()), EFAULT);
}

CASE(push_hangup)
{
	st_break(W, TM_IOC_HANGUP, 0);
	S_FAILS(ioctl(W, I_PUSH, "nullmod"), ENXIO);
}

CASE(push_passes)
{
	T_OK(ioctl(W, I_PUSH, "srvmod"));
	T_EQ(st_put(W, "ctl", "data", 0), 0);
	ST_GOT(R, "ctl", "data");
}

CASE(push_one_end)
{
	T_OK(ioctl(W, I_PUSH, "nullmod"));
	S_HOLDS(ioctl(W, I_FIND, "nullmod") == 1);
	S_HOLDS(ioctl(R, I_FIND, "nullmod") == 0);
}

CASE(pop_top)
{
	T_OK(ioctl(W, I_PUSH, "nullmod"));
	T_OK(ioctl(W, I_PUSH, "srvmod"));
	S_HOLDS(ioctl(W, I_POP, 0) == 0);
	T_OK(ioctl(W, I_LOOK, name));
	T_STR(name, "nullmod");
}

CASE(pop_none)
{
	S_FAILS(ioctl(W, I_POP, 0), EINVAL);
}

CASE(pop_hangup)
{
	st_break(W, TM_IOC_HANGUP, 0);
	S_FAILS(ioctl(W, I_POP, 0), ENXIO);
}

CASE(pop_read_stays)
{
	T_OK(ioctl(R, I_PUSH, "srvmod"));
	ST_WRITES(W, "text");
	s_arrive(R, 1);
	T_OK(ioctl(R, I_POP, 0));
	ST_GOT(R, NULL, "text");
}

CASE(look_top)
{
	memset(name, 'x', sizeof name);
	T_OK(ioctl(W, I_PUSH, "testmod"));
	S_HOLDS(ioctl(W, I_LOOK, name) == 0);
	T_STR(name, "testmod");
}

CASE(look_none)
{
	S_FAILS(ioctl(W, I_LOOK, name), EINVAL);
}

CASE(look_efault)
{
	T_OK(ioctl(W, I_PUSH, "nullmod"));
	S_FAILS(ioctl(W, I_LOOK, st_bad()), EFAULT);
}

CASE(find_yes)
{
	T_OK(ioctl(W, I_PUSH, "nullmod"));
	S_HOLDS(ioctl(W, I_FIND, "nullmod") == 1);
}

CASE(find_no)
{
	S_HOLDS(ioctl(W, I_FIND, "nullmod") == 0);
}

CASE(find_below)
{
	T_OK(ioctl(W, I_PUSH, "nullmod"));
	T_OK(ioctl(W, I_PUSH, "srvmod"));
	S_HOLDS(ioctl(W, I_FIND, "nullmod") == 1);
}

CASE(find_name)
{
	S_FAILS(ioctl(W, I_FIND, "nosuch"), EINVAL);
	S_FAILS(ioctl(W, I_FIND, ""), EINVAL);
}

CASE(find_efault)
{
	S_FAILS(ioctl(W, I_FIND, st_bad()), EFAULT);
}

static int
drivers(void)
{
	return (s_kind & DEV) != 0;
}

CASE(list_count)
{
	S_HOLDS(ioctl(W, I_LIST, NULL) == drivers());
	T_OK(ioctl(W, I_PUSH, "nullmod"));
	S_HOLDS(ioctl(W, I_LIST, NULL) == 1 + drivers());
}

CASE(list_names)
{
	struct str_mlist v[8];
	struct str_list l = { 8, v };

	T_OK(ioctl(W, I_PUSH, "nullmod"));
	T_OK(ioctl(W, I_PUSH, "srvmod"));
	T_OK(ioctl(W, I_LIST, &l));
	T_STR(v[0].l_name, "srvmod");
	T_STR(v[1].l_name, "nullmod");
	S_HOLDS(l.sl_nmods == 2 + drivers());
}

CASE(list_driver)
{
	struct str_mlist v[8];
	struct str_list l = { 8, v };

	T_OK(ioctl(W, I_PUSH, "nullmod"));
	T_OK(ioctl(W, I_LIST, &l));
	T_STR(v[1].l_name, s_kind == SPX ? "spx" :
		s_kind == ECHO ? "echo" : "loop");
}

CASE(list_returns)
{
	struct str_mlist v[8];
	struct str_list l = { 8, v };

	T_OK(ioctl(W, I_PUSH, "nullmod"));
	S_HOLDS(ioctl(W, I_LIST, &l) == 0);
}

CASE(list_short)
{
	struct str_mlist v[2] = { { "" }, { "none" } };
	struct str_list l = { 1, v };

	T_OK(ioctl(W, I_PUSH, "nullmod"));
	T_OK(ioctl(W, I_PUSH, "srvmod"));
	T_OK(ioctl(W, I_LIST, &l));
	S_HOLDS(l.sl_nmods == 1);
	T_STR(v[0].l_name, "srvmod");
	T_STR(v[1].l_name, "none");
}

CASE(list_einval)
{
	struct str_mlist v[2];
	struct str_list l = { 0, v };

	T_OK(ioctl(W, I_PUSH, "nullmod"));
	S_FAILS(ioctl(W, I_LIST, &l), EINVAL);
	l.sl_nmods = -1;
	S_FAILS(ioctl(W, I_LIST, &l), EINVAL);
}

CASE(list_efault)
{
	struct str_list l = { 2, st_bad() };

	T_OK(ioctl(W, I_PUSH, "nullmod"));
	S_FAILS(ioctl(W, I_LIST, &l), EFAULT);
	S_FAILS(ioctl(W, I_LIST, st_bad()), EFAULT);
}

static unsigned char data[32];
static int len = sizeof data;

CASE(str_data)
{
	T_OK(ioctl(W, I_PUSH, "testmod"));
	T_EQ(st_str(W, TM_IOC_IOCTL, 0, &len, data), 0);
	for (size_t i = 0; i < sizeof data; i++)
		S_HOLDS(data[i] == TM_FILL);
}

CASE(str_len)
{
	long arg = SIGUSR1;

	T_OK(ioctl(W, I_PUSH, "testmod"));
	T_EQ(st_str(W, TM_IOC_IOCTL, 0, &len, data), 0);
	S_HOLDS(len == sizeof data);
	signal(SIGUSR1, SIG_IGN);
	len = sizeof arg;
	T_EQ(st_str(W, TM_IOC_PSIGNAL, 0, &len, &arg), 0);
	S_HOLDS(len == 0);
}

CASE(str_returns)
{
	T_OK(ioctl(W, I_PUSH, "testmod"));
	S_HOLDS(st_str(W, TM_IOC_IOCTL, 0, &len, data) == 0);
}

CASE(str_unknown)
{
	S_FAILS(st_str(W, 'x' << 8 | 1, 0, &len, data), EINVAL);
}

CASE(str_len_einval)
{
	T_OK(ioctl(W, I_PUSH, "testmod"));
	len = -1;
	S_FAILS(st_str(W, TM_IOC_IOCTL, 0, &len, data), EINVAL);
}

CASE(str_len_large)
{
	static char large[4 << 20];
	int n = sizeof large;

	T_OK(ioctl(W, I_PUSH, "testmod"));
	S_FAILS(st_str(W, TM_IOC_IOCTL, 0, &n, large), EINVAL);
}

CASE(str_time_einval)
{
	T_OK(ioctl(W, I_PUSH, "testmod"));
	S_FAILS(st_str(W, TM_IOC_IOCTL, -2, &len, data), EINVAL);
}

CASE(str_efault)
{
	T_OK(ioctl(W, I_PUSH, "testmod"));
	S_FAILS(ioctl(W, I_STR, st_bad()), EFAULT);
	S_FAILS(st_str(W, TM_IOC_IOCTL, 0, &len, st_bad()), EFAULT);
}

CASE(str_hangup)
{
	st_break(W, TM_IOC_HANGUP, 0);
	S_FAILS(st_str(W, TM_IOC_IOCTL, 0, &len, data), ENXIO);
}

CASE(str_error)
{
	st_break(W, TM_IOC_RWERR, EPROTO);
	S_FAILS(st_str(W, TM_IOC_IOCTL, 0, &len, data), EPROTO);
}

CASE(str_infinite)
{
	T_OK(ioctl(W, I_PUSH, "testmod"));
	S_HOLDS(st_str(W, TM_IOC_IOCTL, -1, &len, data) == 0);
	S_HOLDS(st_str(W, TM_IOC_IOCTL, 0, &len, data) == 0);
}

CASE(str_nonblock)
{
	T_OK(ioctl(W, I_PUSH, "testmod"));
	st_nonblock(W);
	S_HOLDS(st_str(W, TM_IOC_IOCTL, 0, &len, data) == 0);
}

/* Commands whose argument need not be anything for these errors. */
static const int commands[] = { I_NREAD, I_PUSH, I_POP, I_LOOK, I_FLUSH,
	I_SRDOPT, I_GRDOPT, I_STR, I_SETSIG, I_GETSIG, I_FIND, I_LINK,
	I_UNLINK, I_RECVFD, I_PEEK, I_FDINSERT, I_SENDFD, I_SWROPT, I_GWROPT,
	I_LIST, I_PLINK, I_PUNLINK, I_FLUSHBAND, I_CKBAND, I_GETBAND, I_ATMARK,
	I_SETCLTIME, I_GETCLTIME, I_CANPUT };
enum { COMMANDS = sizeof commands / sizeof *commands };

CASE(any_ebadf)
{
	int fd = T_OK(dup(W));

	T_OK(close(fd));
	for (int i = 0; i < COMMANDS; i++)
		S_FAILS(ioctl(fd, (unsigned long)commands[i], 0), EBADF);
}

CASE(any_enotty)
{
	int fd = T_OK(open("/dev/null", O_RDWR));

	for (int i = 0; i < COMMANDS; i++)
		S_FAILS(ioctl(fd, (unsigned long)commands[i], 0), ENOTTY);
}

CASE(any_unknown)
{
	S_FAILS(ioctl(W, 'x' << 8 | 1, data), EINVAL);
	T_OK(ioctl(W, I_PUSH, "nullmod"));
	S_FAILS(ioctl(W, 'x' << 8 | 1, data), EINVAL);
}

CASE(any_linked)
{
	static char room[256];

	T_GT(ioctl(s_mux(), I_LINK, W), 0);
	for (int i = 0; i < COMMANDS; i++)
		S_FAILS(ioctl(W, (unsigned long)commands[i], room), EINVAL);
}
