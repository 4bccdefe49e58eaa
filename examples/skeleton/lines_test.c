/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * lines: counts, and its ioctl commands in both forms.  lines(7).
 */
#include "../drv/drvfix.h"
#include <sys/lines.h>

extern const struct str_builtin str_mod_lines;

static struct fx_pipe pipe_;
static struct dv top; /* above lines: ioctls, and what comes up */
static queue_t *below;

static void
begin(struct t *t)
{
	fx_begin(t);
	fx_module("lines", (struct streamtab *)(uintptr_t)str_mod_lines.tab,
		str_mod_lines.flag);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	top.rq = fx_push(&pipe_, 0, "lines");
	top.pipe = pipe_;
	top.above = fx_push(&pipe_, 0, "store");
}

T_CASE(lines_counts_each_direction_and_passes_all_on)
{
	static const char *const blocks[] = {"a\nb", "\nc\n", NULL};
	struct lines_count lc;

	begin(t);
	dv_down(&top, fx_chain(M_DATA, blocks));
	dv_down(&top, fx_type(M_PROTO, "\n", 0));
	putnext(below, fx_msg("up\n", 0));
	FX_MSG(getq(WR(below)), "a\nb\nc\n");
	FX_MSG(getq(WR(below)), "\n");
	FX_MSG(dv_up(&top), "up\n");
	T_EQ(dv_str_get(&top, LINES_GET, NULL, 0, &lc, sizeof(lc)), 0);
	T_EQ(lc.written, 3);
	T_EQ(lc.read, 1);
}

T_CASE(a_transparent_ioctl_is_answered_too)
{
	struct lines_count lc;
	int from = 7;

	begin(t);
	T_EQ(dv_plain(&top, LINES_SET, &from), 0);
	T_EQ(dv_plain(&top, LINES_GET, &lc), 0);
	T_EQ(lc.written, 7);
	T_EQ(lc.read, 7);
}

T_CASE(bad_arguments_are_refused)
{
	int from = -1;

	begin(t);
	T_EQ(dv_plain(&top, LINES_SET, &from), -EINVAL);
	T_EQ(dv_str(&top, LINES_SET, &from, 1), EINVAL);
}

T_CASE(other_ioctls_pass)
{
	begin(t);
	putnext(WR(top.above), dv_ioctl_msg(0x1234, 0, NULL, 0));
	freemsg(getq(WR(below)));
}
