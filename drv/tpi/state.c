/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The state table, drv/tpi/states.h, for the compiler.
 */
#include "tpi_impl.h"
#include "states.h"

#define __ TPI_SAME
#define xx TPI_OUT
#define EE TPI_EPROTO
#define ZZ TPI_DROP
#define BREQ TS_WACK_BREQ
#define UREQ TS_WACK_UREQ
#define IDLE TS_IDLE
#define CREQ TS_WACK_CREQ
#define WRES TS_WRES_CIND
#define CRES TS_WACK_CRES
#define DATA TS_DATA_XFER
#define WIND TS_WIND_ORDREL
#define WREQ TS_WREQ_ORDREL
#define D6 TS_WACK_DREQ6
#define D7 TS_WACK_DREQ7
#define D9 TS_WACK_DREQ9
#define D10 TS_WACK_DREQ10
#define D11 TS_WACK_DREQ11

#define ROW(prim_, service_, member_, ...) \
	[prim_] = { \
		service_, \
		sizeof(((union T_primitives *)0)->member_), \
		{ __VA_ARGS__ } \
	},

static const struct tpi_row rows[] = {
	TPI_DOWN(ROW)
	TPI_UP(ROW)
};

static const char *const names[TS_NOSTATES] = {
	"TS_UNBND", "TS_WACK_BREQ", "TS_WACK_UREQ", "TS_IDLE",
	"TS_WACK_OPTREQ", "TS_WACK_CREQ", "TS_WCON_CREQ", "TS_WRES_CIND",
	"TS_WACK_CRES", "TS_DATA_XFER", "TS_WIND_ORDREL", "TS_WREQ_ORDREL",
	"TS_WACK_DREQ6", "TS_WACK_DREQ7", "TS_WACK_DREQ9", "TS_WACK_DREQ10",
	"TS_WACK_DREQ11",
};

const char *
tpi_state_name(unsigned int state)
{
	return state < TS_NOSTATES ? names[state] : NULL;
}

/* The row of @prim; NULL: there is none. */
const struct tpi_row *
tpi_row(t_scalar_t prim)
{
	if (prim == O_T_BIND_REQ)
		prim = T_BIND_REQ;
	if (prim < 0 || prim >= (t_scalar_t)(sizeof(rows) / sizeof(rows[0])) ||
		rows[prim].service == NULL)
		return NULL;
	return &rows[prim];
}

int
tpi_serves(const struct tpi_row *r, t_scalar_t service)
{
	char c = service == T_CLTS ? 'L' : service == T_COTS_ORD ? 'O' : 'C';

	return strchr(r->service, c) != NULL;
}

unsigned int
tpi_next(t_scalar_t prim, unsigned int state)
{
	unsigned int n;

	if (state >= TS_NOSTATES)
		return TPI_OUT;
	n = tpi_row(prim)->next[state];
	return n == TPI_SAME ? state : n;
}
