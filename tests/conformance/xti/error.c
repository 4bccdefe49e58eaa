/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Errors: their words, and arguments that are wrong in themselves: structures
 * that are not given, lengths that cannot be, and buffers in memory that is not
 * there.  Pointers to structures that are none are fault.c's.
 */
#include "xt.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* --------------------------------------------------------------- words, numbers */

XT_CASE(ANY, every_error_has_its_words)
{
	for (int i = 0; i <= TPROTO; i++) {
		T_NOTNULL(t_strerror(i));
		T_GT(strlen(t_strerror(i)), 2);
		for (int j = 0; j < i; j++)
			T_NE(strcmp(t_strerror(i), t_strerror(j)), 0);
	}
	T_EQ(t_nerr, TPROTO + 1);
	T_STR(t_errlist[TLOOK], t_strerror(TLOOK));
}

XT_CASE(ANY, an_error_that_is_none_has_words_too)
{
	T_STR(t_strerror(4711), "4711: error unknown");
	T_STR(t_strerror(-1), "-1: error unknown");
}

/* XNS 5.2, t_error(): "message: words\n", with TSYSERR errno's as well. */
XT_CASE(ANY, t_error_writes_to_standard_error)
{
	char buf[256], want[256];
	int p[2], saved;
	ssize_t n;

	T_OK(pipe(p));
	saved = T_OK(dup(2));
	T_OK(dup2(p[1], 2));
	t_errno = TBADQLEN;
	T_EQ(t_error("here"), 0);
	T_OK(dup2(saved, 2));
	n = T_OK(read(p[0], buf, sizeof(buf) - 1));
	buf[n] = '\0';
	snprintf(want, sizeof(want), "here: %s\n", t_strerror(TBADQLEN));
	T_STR(buf, want);
	T_EQ(t_errno, TBADQLEN);

	T_OK(dup2(p[1], 2));
	t_errno = TSYSERR;
	errno = EINTR;
	t_error("");
	T_OK(dup2(saved, 2));
	n = T_OK(read(p[0], buf, sizeof(buf) - 1));
	buf[n] = '\0';
	snprintf(want, sizeof(want), "%s: %s\n", t_strerror(TSYSERR),
		strerror(EINTR));
	T_STR(buf, want);
}

XT_CASE(ANY, sysconf_knows_the_longest_vector)
{
	T_GE(T_TOK(t_sysconf(_SC_T_IOV_MAX)), 16);
	T_TERR(t_sysconf(-1), TBADFLAG);
	T_TERR(t_sysconf(_SC_OPEN_MAX), TBADFLAG);
}

XT_CASE(ANY, no_provider_has_calls_with_several_ends)
{
	struct t_leaf_status ls;
	int fd = xt_open(0);

	T_TERR(t_addleaf(fd, 1, NULL), TNOTSUPPORT);
	T_TERR(t_removeleaf(fd, 1, 0), TNOTSUPPORT);
	T_TERR(t_rcvleafchange(fd, &ls), TNOTSUPPORT);
}

/* ----------------------------------------------------------------- null pointers */

XT_CASE(CO, calls_without_a_call_are_EFAULT)
{
	struct xt_end e;

	xt_make(&e, T_IDLE);
	T_TERR(t_connect(e.fd, NULL, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_listen(e.extra, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(e.fd, T_IDLE);
}

XT_CASE(CO, accept_without_a_call_is_EFAULT)
{
	struct xt_end e;

	xt_make(&e, T_INCON);
	T_TERR(t_accept(e.fd, e.fd, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_snddis(e.fd, NULL), TBADSEQ);
	T_STATE(e.fd, T_INCON);
}

XT_CASE(CL, datagrams_without_a_structure_are_EFAULT)
{
	struct t_iovec iov = {NULL, 0};
	struct t_unitdata ud;
	int fd = xt_bound(1, 0), flags;

	memset(&ud, 0, sizeof(ud));
	T_TERR(t_sndudata(fd, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_rcvudata(fd, NULL, &flags), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_sndvudata(fd, NULL, &iov, 1), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_sndvudata(fd, &ud, NULL, 1), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_rcvvudata(fd, NULL, &iov, 1, &flags), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_rcvvudata(fd, &ud, NULL, 1, &flags), TSYSERR);
	T_EQ(errno, EFAULT);
}

/* What no buffer can have is no length, whatever stands behind it. */
XT_CASE(ANY, lengths_that_cannot_be_are_errors)
{
	static const unsigned len[] = {~0u, ~0u - 15, ~0u - 40, 1u << 31,
		1u << 20};
	char small[16] = {0};

	for (size_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		struct netbuf nb = {.len = len[i], .buf = small};
		struct t_bind bind = {.addr = nb};
		struct t_optmgmt om = {.opt = nb, .flags = T_NEGOTIATE};
		struct t_unitdata ud = {.addr = nb};
		struct t_call call = {.addr = nb};
		int fd = xt_open(1);
		struct xt_addr at;

		T_TERR(t_bind(fd, &bind, NULL), TBADADDR);
		T_TERR(t_optmgmt(fd, &om, &om), TBADOPT);
		T_TOK(t_close(fd));
		fd = xt_bound_at(1, 0, &at);
		if (xt->service == T_CLTS) {
			T_TERR(t_sndudata(fd, &ud), TBADADDR);
			xt_netbuf(&ud.addr, &at);
			ud.addr.len = at.len;
			ud.opt = nb;
			T_TERR(t_sndudata(fd, &ud), TBADOPT);
		} else {
			T_TERR(t_connect(fd, &call, NULL), TBADADDR);
			xt_netbuf(&call.addr, &at);
			call.addr.len = at.len;
			call.opt = nb;
			T_TERR(t_connect(fd, &call, NULL), TBADOPT);
		}
		T_TOK(t_close(fd));
	}
}

/* ------------------------------------------------------------------- bad buffers */

static void *
nobodys(void)
{
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);

	T_NE(bad, MAP_FAILED);
	return bad;
}

XT_CASE(ANY, an_address_nobody_can_read_or_write_is_EFAULT)
{
	struct t_bind bind = {.addr = {.len = 16, .maxlen = 256,
				      .buf = nobodys()}};
	struct t_bind any = {.qlen = 0};
	int fd = xt_open(0);

	T_TERR(t_bind(fd, &bind, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(fd, T_UNBND);
	/* bound it is, but the caller cannot be told where */
	T_TERR(t_bind(fd, &any, &bind), TSYSERR);
	T_EQ(errno, EFAULT);
	T_EQ(bind.addr.len, 0);
	T_STATE(fd, T_IDLE);
	T_TERR(t_getprotaddr(fd, &bind, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
}

XT_CASE(ANY, options_nobody_can_read_or_write_are_EFAULT)
{
	struct option o = {.h = {.level = XTI_GENERIC, .name = XTI_DEBUG}};
	struct t_optmgmt bad = {.opt = {.len = 24, .maxlen = 256,
					.buf = nobodys()},
		.flags = T_NEGOTIATE}, req, ret;
	int fd = xt_open(0);

	T_TERR(t_optmgmt(fd, &bad, &ret), TSYSERR);
	T_EQ(errno, EFAULT);
	o.h.len = sizeof(o.h);
	req = (struct t_optmgmt){.opt = {.len = sizeof(o.h), .buf = &o},
		.flags = T_DEFAULT};
	T_TERR(t_optmgmt(fd, &req, &bad), TSYSERR);
	T_EQ(errno, EFAULT);
}

XT_CASE(CO, a_call_to_an_address_nobody_can_read_is_EFAULT)
{
	struct t_call call = {.addr = {.len = 16, .buf = nobodys()}};
	int fd = xt_bound(0, 0);

	T_TERR(t_connect(fd, &call, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(fd, T_IDLE);
}

XT_CASE(CO, pieces_nobody_can_read_are_EFAULT)
{
	struct t_iovec iov[2] = {{(char *)"", 0}, {nobodys(), 1}};
	int fd[2];

	xt_pair(fd);
	T_TERR(t_sndv(fd[0], iov + 1, 1, 0), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_sndv(fd[0], iov, 2, T_EXPEDITED), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(fd[0], T_DATAXFER);
}

XT_CASE(CL, a_datagram_with_what_nobody_can_read_or_write_is_EFAULT)
{
	struct t_unitdata ud = {.addr = {.len = 16, .maxlen = 256,
					.buf = nobodys()},
		.udata = {.len = 1, .buf = (char *)"x"}};
	struct t_iovec iov[2] = {{(char *)"good", 4}, {ud.addr.buf, 4}};
	struct xt_addr at[2];
	char buf[128];
	int from, to, flags;

	if (xt->raw && geteuid() != 0)
		T_SKIP("raw sockets are the superuser's");
	from = xt_bound_at(0, 0, &at[0]);
	to = xt_bound_at(0, 0, &at[1]);
	T_TERR(t_sndudata(from, &ud), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_sndvudata(from, &ud, iov, 1), TSYSERR);
	T_EQ(errno, EFAULT);
	xt_netbuf(&ud.addr, &at[1]);
	T_TERR(t_sndvudata(from, &ud, iov, 2), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TOK(t_sndudata(from, &ud));
	if (xt->raw)
		return; /* to everybody: the other tests' come, too */
	/* it has come, but not whom it is from */
	ud = (struct t_unitdata){
		.addr = {.maxlen = 256, .buf = iov[1].iov_base},
		.udata = {.maxlen = sizeof(buf), .buf = buf}};
	T_TERR(t_rcvudata(to, &ud, &flags), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(to, T_IDLE);
}
