/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * relay, relay2, relay3 and connld: they pass everything, both ways.
 */
#include "fixture.h"

static struct fx_pipe pipe_;

static void
passes(struct t *t, const char *name, unsigned idnum)
{
	static const unsigned type[] = {
		M_DATA, M_PROTO, M_BREAK, M_PASSFP, M_SIG, M_DELAY, M_CTL,
		M_IOCTL, M_SETOPTS, M_IOCACK, M_IOCNAK, M_PCPROTO, M_PCSIG,
		M_READ, M_FLUSH, M_STOP, M_START, M_HANGUP, M_ERROR, M_COPYIN,
		M_COPYOUT, M_IOCDATA, M_UNHANGUP,
	};
	queue_t *below, *q, *above;
	unsigned i;
	mblk_t *mp;

	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	q = fx_push(&pipe_, 0, name);
	above = fx_push(&pipe_, 0, "store");
	T_EQ(q->q_qinfo->qi_minfo->mi_idnum, idnum);
	T_STR(q->q_qinfo->qi_minfo->mi_idname, name);
	for (i = 0; i < STR_ARRAY_LEN(type); i++) {
		putnext(below, fx_type(type[i], "text", 0));
		mp = getq(above);
		T_NOTNULL(mp);
		T_EQ(mp->b_datap->db_type, type[i]);
		FX_MSG(mp, "text");
		putnext(WR(above), fx_type(type[i], "text", 0));
		mp = getq(WR(below));
		T_NOTNULL(mp);
		T_EQ(mp->b_datap->db_type, type[i]);
		FX_MSG(mp, "text");
	}
}

T_CASE(relay_passes_everything)
{
	passes(t, "relay", 0x7231);
}

T_CASE(relay2_passes_everything)
{
	passes(t, "relay2", 0x7232);
}

T_CASE(relay3_passes_everything)
{
	passes(t, "relay3", 0x7233);
}

T_CASE(connld_passes_everything)
{
	passes(t, "connld", 0x636e);
}
