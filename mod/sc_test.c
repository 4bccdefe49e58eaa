/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * sc: the registry as programs see it.  sc(7).
 */
#include "../drv/drvfix.h"
#include <sys/sc.h>

_Static_assert(sizeof(struct sc_module_info) == 48, "reference: ABI");
_Static_assert(sizeof(struct sc_module_stat) == 64, "");
_Static_assert(sizeof(struct sc_mlist) == 472, "");
_Static_assert(sizeof(struct sc_list) == 16, "");
_Static_assert(sizeof(struct sc_tune) == 48, "");
_Static_assert(sizeof(struct sc_tlist) == 32, "");

static struct fx_pipe pipe_;
static struct dv top;
static queue_t *below;
static struct sc_mlist ml[200];

static void
begin(struct t *t)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	top.pipe = pipe_;
	top.rq = fx_push(&pipe_, 0, "sc");
	top.above = fx_push(&pipe_, 0, "store");
}

/* The entry called @name, of @n. */
static struct sc_mlist *
named(const char *name, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (strcmp(ml[i].name, name) == 0)
			return &ml[i];
	T_FAIL("no entry %s", name);
	return NULL;
}

static struct sc_mlist *
listed(int cmd, const char *name)
{
	struct sc_list sl = {STR_ARRAY_LEN(ml), ml};
	int n;

	memset(ml, 0xff, sizeof(ml));
	n = dv_plain(&top, cmd, &sl);
	T_GT(n, 0);
	return named(name, n);
}

T_CASE(the_count_is_that_of_the_list)
{
	struct sc_list sl = {0, ml};
	int n;

	begin(t);
	n = dv_plain(&top, SC_IOC_LIST, NULL);
	T_GT(n, 5);
	T_EQ(dv_plain(&top, SC_IOC_LIST, &sl), n);
	sl.sc_nmods = n;
	T_EQ(dv_plain(&top, SC_IOC_LIST, &sl), n);
	sl.sc_nmods = n + 7;
	T_EQ(dv_plain(&top, SC_IOC_LIST, &sl), n);
	sl.sc_nmods = 3;
	memset(ml, 0xff, sizeof(ml));
	T_EQ(dv_plain(&top, SC_IOC_LIST, &sl), 3);
	T_EQ(ml[3].major, -1); /* untouched */
	T_TRUE(ml[2].name[0] != (char)0xff);
}

T_CASE(modules_show_what_they_declare)
{
	struct sc_mlist *m;

	begin(t);
	m = listed(SC_IOC_LIST, "sc");
	T_EQ(m->major, 0);
	T_EQ(m->mi[0].index, 1);
	T_EQ(m->mi[1].index, 2);
	T_EQ(m->mi[2].index, 0);
	T_EQ(m->ms[3].index, 0);
	T_EQ(m->mi[0].mi_idnum, 0x7363);
	T_STR(m->mi[0].mi_idname, "sc");
	T_EQ(m->mi[0].mi_minpsz, 0);
	T_EQ(m->mi[0].mi_maxpsz, INFPSZ);
	T_EQ(m->mi[0].mi_hiwat, 5120);
	T_EQ(m->mi[1].mi_lowat, 1024);
}

T_CASE(bad_lists_are_refused)
{
	struct sc_list sl = {-1, ml};

	begin(t);
	T_EQ(dv_plain(&top, SC_IOC_LIST, &sl), -EINVAL);
	sl.sc_nmods = 100000;
	T_EQ(dv_plain(&top, SC_IOC_LIST, &sl), -ERANGE);
	sl.sc_nmods = 1;
	T_EQ(dv_str(&top, SC_IOC_LIST, &sl, sizeof(sl)), EINVAL);
}

T_CASE(tuning_changes_what_queues_begin_with)
{
	struct sc_tune tune[2] = {
		{.index = 1, .flags = SC_TUNE_HIWAT | SC_TUNE_LOWAT,
			.hiwat = 9000, .lowat = 100},
		{.index = 2, .flags = SC_TUNE_MAXPSZ, .maxpsz = 512},
	};
	struct sc_tlist tl = {"pipemod", 2, tune, 0};
	struct sc_mlist *m;
	queue_t *q;

	begin(t);
	T_EQ(dv_plain(&top, SC_IOC_TUNE, &tl), 0);
	m = listed(SC_IOC_LIST, "pipemod");
	T_EQ(m->mi[0].mi_hiwat, 9000);
	T_EQ(m->mi[0].mi_lowat, 100);
	T_EQ(m->mi[1].mi_hiwat, 5120);
	T_EQ(m->mi[1].mi_maxpsz, 512);
	q = fx_push(&pipe_, 1, "pipemod");
	T_EQ(q->q_hiwat, 9000);
	T_EQ(WR(q)->q_maxpsz, 512);
}

T_CASE(bad_tuning_is_refused)
{
	struct sc_tune tune = {.index = 1, .flags = SC_TUNE_LOWAT,
		.lowat = 100000};
	struct sc_tlist tl = {"pipemod", 1, &tune, 0};

	begin(t);
	T_EQ(dv_plain(&top, SC_IOC_TUNE, &tl), -EINVAL);
	tune.flags = 0;
	tune.index = 3; /* no multiplexor */
	T_EQ(dv_plain(&top, SC_IOC_TUNE, &tl), -EINVAL);
	tune.index = 1;
	tl.count = 5;
	T_EQ(dv_plain(&top, SC_IOC_TUNE, &tl), -EINVAL);
	tl.count = 1;
	memcpy(tl.name, "nosuch", 7);
	T_EQ(dv_plain(&top, SC_IOC_TUNE, &tl), -ENXIO);
}

T_CASE(all_else_passes)
{
	begin(t);
	putnext(WR(top.above), dv_ioctl_msg(0x1234, 0, NULL, 0));
	freemsg(getq(WR(below)));
	putnext(WR(top.above), fx_msg("down", 0));
	FX_MSG(getq(WR(below)), "down");
	putnext(below, fx_msg("up", 0));
	FX_MSG(dv_up(&top), "up");
}
