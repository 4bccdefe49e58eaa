/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Every request in every state, and every request malformed: cases made from
 * drv/tpi/states.h by states.py.
 */
#include "tp.h"

static int
serves(const char *service)
{
	int s = tp_is()->service;

	return strchr(service, s == T_CLTS ? 'L' :
			      s == T_COTS_ORD ? 'O' : 'C') != NULL;
}

/* Requests that bring data to be requests at all. */
static int
has_data(int prim)
{
	return prim == T_DATA_REQ || prim == T_EXDATA_REQ ||
		prim == T_OPTDATA_REQ || prim == T_UNITDATA_REQ;
}

static int
next_state(const char *cell, int state)
{
	static const struct {
		const char *cell;
		int state;
	} follow[] = {
		{ "WIND", TS_WIND_ORDREL }, { "IDLE", TS_IDLE },
		{ "D6", TS_IDLE }, { "D9", TS_IDLE }, { "D10", TS_IDLE },
		{ "D11", TS_IDLE }, { "UREQ", TS_UNBND }, { "BREQ", TS_IDLE },
	};
	unsigned i;

	for (i = 0; i < sizeof(follow) / sizeof(follow[0]); i++)
		if (strcmp(cell, follow[i].cell) == 0)
			return follow[i].state;
	return state;
}

/* The answer to a request that may come. */
static void
admitted(int fd, int prim, int state, const char *cell)
{
	switch (prim) {
	case T_INFO_REQ:
		tp_want(fd, T_INFO_ACK);
		break;
	case T_ADDR_REQ:
		tp_want(fd, T_ADDR_ACK);
		break;
	case T_CAPABILITY_REQ:
		tp_want(fd, T_CAPABILITY_ACK);
		break;
	case T_OPTMGMT_REQ:
		tp_want(fd, T_OPTMGMT_ACK);
		break;
	case T_BIND_REQ:
		tp_want(fd, T_BIND_ACK);
		break;
	case T_CONN_RES:
		tp_error(fd, prim, TBADSEQ, 0);
		break;
	case T_CONN_REQ:
		tp_ok(fd, prim);
		T_EQ(tp_discon_ind(fd), ECONNREFUSED);
		break;
	case T_UNITDATA_REQ:
		if (!tp_is()->inet)
			tp_want(fd, T_UDERROR_IND);
		break;
	case T_DISCON_REQ:
		if (state == TS_WRES_CIND)
			tp_error(fd, prim, TBADSEQ, 0);
		else
			tp_ok(fd, prim);
		break;
	case T_UNBIND_REQ:
		tp_ok(fd, prim);
		break;
	default: /* data, orderly release */
		break;
	}
	T_EQ(tp_state(fd), next_state(cell, state));
}

static void
state_case(int prim, const char *service, int state, const char *cell)
{
	union {
		union T_primitives p;
		char room[512];
	} m;
	int other, fd = tp_in_state(state, &other), len;

	len = tp_request(prim, &m);
	tp_put(fd, &m, len, "x", has_data(prim) ? 1 : -1);
	if (!serves(service)) {
		tp_error(fd, prim, TNOTSUPPORT, 0);
		T_EQ(tp_state(fd), state);
	} else if (strcmp(cell, "xx") == 0) {
		tp_error(fd, prim, TOUTSTATE, 0);
		T_EQ(tp_state(fd), state);
	} else if (strcmp(cell, "EE") == 0) {
		tp_fatal(fd);
	} else if (strcmp(cell, "ZZ") == 0) {
		tp_quiet(fd);
		T_EQ(tp_state(fd), state);
	} else {
		admitted(fd, prim, state, cell);
	}
}

/* An endpoint on which something harmless is possible afterwards. */
static void
works(int fd)
{
	T_EQ(tp_state(fd), TS_UNBND);
	tp_bind(fd, 0, NULL);
}

/* Not even a number. */
static void
stub_case(int prim, int len)
{
	int fd = tp_open();

	tp_put(fd, &prim, len, NULL, -1);
	tp_fatal(fd);
}

/* A number, and not the rest. */
static void
short_case(int prim, const char *service, unsigned long len, int acked)
{
	union {
		union T_primitives p;
		char room[512];
	} m;
	int fd = tp_open();

	(void)tp_request(prim, &m);
	if (len < 4)
		len = 4;
	if (len == (unsigned long)tp_request(T_INFO_REQ, &m) &&
		(prim == T_INFO_REQ || prim == T_UNBIND_REQ ||
			prim == T_ORDREL_REQ || prim == T_ADDR_REQ))
		T_SKIP("it is no more than its number");
	m.p.type = prim;
	tp_put(fd, &m, (int)len, NULL, -1);
	if (!serves(service))
		tp_error(fd, prim, TNOTSUPPORT, 0);
	else if (acked)
		tp_error(fd, prim, TSYSERR, EINVAL);
	else {
		tp_fatal(fd);
		return;
	}
	works(fd);
}

/* A range that is not in the message; the state is the right one. */
static void
range_case(int prim, const char *service, int state, size_t at_len,
	size_t at_off, int len, int off, int tli)
{
	union {
		union T_primitives p;
		char room[512];
	} m;
	int other, fd, size;

	if (!serves(service))
		T_SKIP("no such request");
	fd = tp_in_state(state, &other);
	size = tp_request(prim, &m);
	memcpy((char *)&m + at_len, &len, 4);
	memcpy((char *)&m + at_off, &off, 4);
	tp_put(fd, &m, size, NULL, -1);
	tp_error(fd, prim, tli, 0);
	T_EQ(tp_state(fd), state);
}

static void
unknown_case(int prim)
{
	int fd = tp_open();

	tp_prim(fd, prim);
	tp_error(fd, prim, TNOTSUPPORT, 0);
	works(fd);
}

#include "tpi-cases.h"
