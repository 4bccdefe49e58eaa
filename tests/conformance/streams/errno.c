/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The table tests/conformance/errno/errno.tab as cases: the state is set up,
 * the call made, the error compared.
 */
#include "st.h"

#include <stdint.h>
#include <asm/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum state {
	BARE, GONE, NULLDEV, KPIPE, WAITING, EMPTY, FULL, PEERLESS, HUNGUP,
	RDERR, WRERR, RWERR, LINKED, MODULE, ANCHORED,
};

struct env {
	struct strbuf ctl, data;	/* parts to send */
	struct strbuf rctl, rdata;	/* room to retrieve into */
	struct strbuf badbuf;		/* ten bytes at a bad address */
	struct strbuf huge;		/* a gigabyte that is not read */
	struct strpeek peek;
	struct strioctl str;
	struct str_list list;
	struct str_mlist names[2];
	struct bandinfo bi;
	struct strsigset ss;
	struct strfdinsert fdi;
	int flags, pflags, band, fds[2], nullfd;
	void *bad, *null, *ro;
	char buf[64], in_ctl[64], in_data[64], longname[4097];
};

static void
prepare(struct env *e)
{
	memset(e, 0, sizeof *e);
	e->bad = st_bad();
	e->ctl = (struct strbuf){ 0, 3, e->buf };
	e->data = (struct strbuf){ 0, 4, e->buf };
	e->rctl = (struct strbuf){ sizeof e->in_ctl, 0, e->in_ctl };
	e->rdata = (struct strbuf){ sizeof e->in_data, 0, e->in_data };
	e->badbuf = (struct strbuf){ 10, 10, e->bad };
	e->huge = (struct strbuf){ 0, 1 << 30, e->buf };
	e->peek.ctlbuf = e->rctl;
	e->peek.databuf = e->rdata;
	e->str = (struct strioctl){ 'x' << 8 | 1, 0, 8, e->buf };
	e->list = (struct str_list){ 2, e->names };
	e->pflags = MSG_ANY;
	e->ss = (struct strsigset){ 0, S_ERROR };
	e->fdi.ctlbuf = (struct strbuf){ 0, 16, e->buf };
	e->fdi.databuf = e->data;
#ifdef ST_SIM
	e->ro = st_bad();
#else
	e->ro = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	T_NE(e->ro, MAP_FAILED);
#endif
	e->nullfd = T_OK(open("/dev/null", O_RDWR));
	memset(e->longname, 'n', sizeof e->longname - 1);
	st_pipe_more(e->fds);
}

static void
fill(int fd, int reader)
{
	st_nonblock(fd);
	st_marks(reader, 100, 10);
	/* a driver's queues fill, too */
	for (int band = 0; band <= 4; band += 4) {
		int n = 0;

		while (st_putn(fd, band, 200, 'x') == 0)
			T_LT(n++, 200);
		T_EQ(errno, EAGAIN);
		T_GT(n, 0);
	}
}

/* The descriptor the expression is about. */
static int
enter(struct t *t, enum state s)
{
	int fd[2], k[2];

	st_pipe(t, fd);
	signal(SIGPIPE, SIG_IGN);
	switch (s) {
	case BARE:
		break;
	case GONE:
		T_OK(close(fd[0]));
		break;
	case NULLDEV:
		return T_OK(open("/dev/null", O_RDWR));
	case KPIPE:
		T_OK(syscall(SYS_pipe2, k, 0));
		return k[0];
	case WAITING:
		T_EQ(st_put(fd[1], "ctl", "data", 0), 0);
		break;
	case EMPTY:
		st_nonblock(fd[0]);
		break;
	case FULL:
		fill(fd[0], fd[1]);
		break;
	case PEERLESS:
		T_OK(close(fd[1]));
		T_SOON(st_revents(fd[0], 0) == POLLHUP, 2000);
		break;
	case HUNGUP:
		st_break(fd[0], TM_IOC_HANGUP, 0);
		break;
	case RDERR:
		st_break(fd[0], TM_IOC_RDERR, EPROTO);
		break;
	case WRERR:
		st_break(fd[0], TM_IOC_WRERR, EPROTO);
		break;
	case RWERR:
		st_break(fd[0], TM_IOC_RWERR, EPROTO);
		break;
	case LINKED:
#ifdef ST_SIM
		return st_sim_skip("devices");
#else
		k[0] = T_OK(open("/dev/streams/clone/mux", O_RDWR));
		k[1] = T_OK(open("/dev/streams/clone/echo", O_RDWR));
		T_GT(ioctl(k[0], I_LINK, k[1]), 0);
		return k[1];
#endif
	case MODULE:
		T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
		break;
	case ANCHORED:
		T_OK(ioctl(fd[0], I_PUSH, "testmod"));
		T_OK(ioctl(fd[0], I_ANCHOR, 0));
		/* not by the library, which would leave the domain */
		if (geteuid() == 0)
			T_OK(syscall(SYS_setresuid, -1, 65534, -1));
		break;
	}
	return fd[0];
}

#define PIPE_E(name, err, state, expr)					\
	ST_CASE(name)							\
	{								\
		ERROR(err, state, expr);				\
	}
#define ANY_E(name, err, state, expr)					\
	ST_ANY_CASE(name)						\
	{								\
		ERROR(err, state, expr);				\
	}
#define PIPE_S(name, state, expr)					\
	ST_CASE(name)							\
	{								\
		SUCCESS(state, expr);					\
	}
#define ANY_S(name, state, expr)					\
	ST_ANY_CASE(name)						\
	{								\
		SUCCESS(state, expr);					\
	}
#define ERROR(err, state, expr)						\
	struct env env, *e = &env;					\
	int fd;								\
									\
	prepare(e);							\
	fd = enter(t, state);						\
	(void)fd;							\
	T_ERR(expr, err)
#define SUCCESS(state, expr)						\
	struct env env, *e = &env;					\
	int fd;								\
									\
	prepare(e);							\
	fd = enter(t, state);						\
	T_OK(expr)
#include "errno-cases.h"
