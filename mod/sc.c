/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * sc - the configuration module: lists the modules and drivers, their
 * module_info and their counters.
 *
 * The module answers its commands itself, on any stream; all other messages
 * pass.  SC_IOC_LIST and SC_IOC_RESET copy a sc_list in, and then as many
 * sc_mlist out to its buffer as there is room for.  SC_IOC_TUNE copies a
 * sc_tlist in, and then the sc_tune that it points to; the second copy request
 * carries the number of the registry's entry.
 *
 * The registry is read through <str/registry.h>; its counters and limits are in
 * shared memory and are accessed without a lock: a count may be one too low.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/sc.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/kmem.h>
#include <str/registry.h>
#include "../drv/canon.h"

#define SC_MAX 1024 /* most entries of a request */

static int
sc_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	q->q_ptr = WR(q)->q_ptr = q;
	qprocson(q);
	return 0;
}

static int
sc_close(queue_t *q, int flag, cred_t *crp)
{
	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	return 0;
}

static int
sc_count(void)
{
	struct str_regent e;
	unsigned int n = 0;

	while (str_registry_entry(n, &e))
		n++;
	return (int)n;
}

static void
sc_name(char to[FMNAMESZ + 1], const char *from)
{
	size_t i;

	bzero(to, FMNAMESZ + 1);
	for (i = 0; i < FMNAMESZ && from[i] != '\0'; i++)
		to[i] = from[i];
}

static void
sc_entry(struct sc_mlist *ml, struct str_regent *e, int reset)
{
	struct module_info *mi;
	struct module_stat *ms;
	int i;

	ml->major = (e->kind & 2) != 0 ? (long)e->major : 0;
	sc_name(ml->name, e->name);
	for (i = 0; i < 4; i++) {
		mi = e->minfo[i];
		if (mi == NULL)
			continue;
		ml->mi[i].index = ml->ms[i].index = i + 1;
		ml->mi[i].mi_idnum = mi->mi_idnum;
		sc_name(ml->mi[i].mi_idname, e->name);
		ml->mi[i].mi_minpsz = mi->mi_minpsz;
		ml->mi[i].mi_maxpsz = mi->mi_maxpsz;
		ml->mi[i].mi_hiwat = mi->mi_hiwat;
		ml->mi[i].mi_lowat = mi->mi_lowat;
		ms = e->mstat[i];
		if (ms == NULL)
			continue;
		ml->ms[i].ms_pcnt = ms->ms_pcnt;
		ml->ms[i].ms_scnt = ms->ms_scnt;
		ml->ms[i].ms_ocnt = ms->ms_ocnt;
		ml->ms[i].ms_ccnt = ms->ms_ccnt;
		ml->ms[i].ms_acnt = ms->ms_acnt;
		if (reset)
			ms->ms_pcnt = ms->ms_scnt = ms->ms_ocnt =
				ms->ms_ccnt = ms->ms_acnt = 0;
	}
}

/* The sc_list is here: answer it. */
static void
sc_list(queue_t *q, mblk_t *mp)
{
	int reset = canon_cmd(mp) == SC_IOC_RESET;
	struct str_regent e;
	struct sc_list sl;
	struct sc_mlist ml;
	mblk_t *bp;
	int n;

	bcopy(mp->b_cont->b_rptr, &sl, sizeof(sl));
	if (sl.sc_nmods < 0 || sl.sc_nmods > SC_MAX) {
		canon_nak(q, mp, sl.sc_nmods < 0 ? EINVAL : ERANGE);
		return;
	}
	if (sl.sc_nmods == 0) {
		canon_ack(q, mp, sc_count());
		return;
	}
	bp = allocb((size_t)sl.sc_nmods * sizeof(ml), BPRI_MED);
	if (bp == NULL) {
		canon_nak(q, mp, ENOSR);
		return;
	}
	for (n = 0; n < sl.sc_nmods; n++) {
		if (!str_registry_entry((unsigned int)n, &e))
			break;
		bzero(&ml, sizeof(ml));
		sc_entry(&ml, &e, reset);
		bcopy(&ml, bp->b_wptr, sizeof(ml));
		bp->b_wptr += sizeof(ml);
	}
	canon_ack_at(q, mp, (char *)sl.sc_mlist, bp, n);
}

/* Find the entry called @name, which need not end in a NUL. */
static int
sc_find(const char *name, struct str_regent *e)
{
	char want[FMNAMESZ + 1], have[FMNAMESZ + 1];
	unsigned int n;

	sc_name(want, name);
	for (n = 0; str_registry_entry(n, e); n++) {
		sc_name(have, e->name);
		if (bcmp(want, have, sizeof(want)) == 0)
			return (int)n;
	}
	return -1;
}

static int
sc_tune_one(struct str_regent *e, const struct sc_tune *t)
{
	struct module_info *mi, new;

	if (t->index < 1 || t->index > 4 || e->minfo[t->index - 1] == NULL)
		return EINVAL;
	mi = e->minfo[t->index - 1];
	new = *mi;
	if ((t->flags & SC_TUNE_MINPSZ) != 0)
		new.mi_minpsz = t->minpsz;
	if ((t->flags & SC_TUNE_MAXPSZ) != 0)
		new.mi_maxpsz = t->maxpsz;
	if ((t->flags & SC_TUNE_HIWAT) != 0)
		new.mi_hiwat = t->hiwat;
	if ((t->flags & SC_TUNE_LOWAT) != 0)
		new.mi_lowat = t->lowat;
	if (new.mi_lowat > new.mi_hiwat || new.mi_minpsz < 0 ||
		(new.mi_maxpsz != INFPSZ && new.mi_maxpsz < new.mi_minpsz))
		return EINVAL;
	mi->mi_minpsz = new.mi_minpsz;
	mi->mi_maxpsz = new.mi_maxpsz;
	mi->mi_hiwat = new.mi_hiwat;
	mi->mi_lowat = new.mi_lowat;
	return 0;
}

static void
sc_tune(queue_t *q, mblk_t *mp)
{
	struct str_regent e;
	struct sc_tlist tl;
	struct sc_tune t;
	size_t off;
	int err = 0, n;

	if (canon_stage(mp) == 0) {
		bcopy(mp->b_cont->b_rptr, &tl, sizeof(tl));
		n = sc_find(tl.name, &e);
		if (n < 0 || tl.count < 1 || tl.count > 4)
			canon_nak(q, mp, n < 0 ? ENXIO : EINVAL);
		else
			canon_more(q, mp, (char *)tl.list,
				(size_t)tl.count * sizeof(t), n);
		return;
	}
	if (!str_registry_entry((unsigned int)canon_extra(mp), &e))
		err = ENXIO;
	for (off = 0; err == 0 && (long)(off + sizeof(t)) <=
		MBLKL(mp->b_cont); off += sizeof(t)) {
		bcopy(mp->b_cont->b_rptr + off, &t, sizeof(t));
		err = sc_tune_one(&e, &t);
	}
	if (err != 0)
		canon_nak(q, mp, err);
	else
		canon_ack(q, mp, 0);
}

static int
sc_is_ours(int cmd)
{
	return cmd == SC_IOC_LIST || cmd == SC_IOC_RESET ||
		cmd == SC_IOC_TUNE;
}

static void
sc_ioctl(queue_t *q, mblk_t *mp)
{
	char *addr;

	if (!canon_is_transparent(mp) || canon_addr(mp, &addr) != 0)
		canon_nak(q, mp, EINVAL);
	else if (canon_cmd(mp) == SC_IOC_TUNE)
		(void)canon_args(q, mp, sizeof(struct sc_tlist));
	else if (addr == NULL)
		canon_ack(q, mp, sc_count());
	else
		(void)canon_args(q, mp, sizeof(struct sc_list));
}

static int
sc_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_IOCTL:
		if (!sc_is_ours(canon_cmd(mp)))
			putnext(q, mp);
		else
			sc_ioctl(q, mp);
		break;
	case M_IOCDATA:
		if (!sc_is_ours(canon_cmd(mp)))
			putnext(q, mp);
		else if (!canon_iocdata(q, mp))
			break;
		else if (canon_cmd(mp) == SC_IOC_TUNE)
			sc_tune(q, mp);
		else
			sc_list(q, mp);
		break;
	default:
		putnext(q, mp);
		break;
	}
	return 0;
}

static int
sc_rput(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

static const struct module_info sc_info = {
	.mi_idnum = 0x7363,
	.mi_idname = "sc",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit sc_rinit = {
	.qi_putp = sc_rput,
	.qi_qopen = sc_open,
	.qi_qclose = sc_close,
	.qi_minfo = (struct module_info *)&sc_info,
};

static const struct qinit sc_winit = {
	.qi_putp = sc_wput,
	.qi_minfo = (struct module_info *)&sc_info,
};

STR_MODULE(sc, sc_rinit, sc_winit, D_MP);
