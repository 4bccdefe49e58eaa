/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * gauge: what it counts, its minors, and what it refuses.  gauge(4).
 */
#include "drvfix.h"
#include <sys/gauge.h>

extern const struct str_builtin str_drv_gauge;

static struct dv a, b;

static void
begin(struct t *t)
{
	fx_begin(t);
	dv_driver(&str_drv_gauge);
	T_EQ(dv_open(&a, "gauge", 0, CLONEOPEN), 0);
}

T_CASE(gauge_counts_the_bytes_of_one_stream)
{
	static const char *const blocks[] = {"one ", "two", NULL};
	long n = -1;

	begin(t);
	T_EQ(dv_open(&b, "gauge", 0, CLONEOPEN), 0);
	dv_down(&a, fx_chain(M_DATA, blocks));
	dv_down(&a, fx_bytes(93, 5));
	dv_down(&a, fx_type(M_PROTO, "not counted", 0));
	T_EQ(dv_str_get(&a, GAUGE_GET, NULL, 0, &n, sizeof(n)), 0);
	T_EQ(n, 100);
	T_EQ(dv_plain(&b, GAUGE_GET, &n), 0);
	T_EQ(n, 0);
	T_NULL(dv_up(&a));
}

T_CASE(clones_get_the_lowest_free_minor)
{
	static struct dv c;

	begin(t);
	T_EQ(a.minor, 1);
	T_EQ(dv_open(&b, "gauge", 0, CLONEOPEN), 0);
	T_EQ(b.minor, 2);
	dv_close(&a);
	T_EQ(dv_open(&c, "gauge", 0, CLONEOPEN), 0);
	T_EQ(c.minor, 1);
	T_EQ(dv_reopen(&c, FREAD), 0);
}

T_CASE(gauge_refuses_what_it_does_not_know)
{
	begin(t);
	T_EQ(dv_str(&a, 0x1234, NULL, 0), EINVAL);
	dv_strays(&a);
	T_EQ(dv_open(&b, "gauge", 0, MODOPEN), EINVAL);
}

T_CASE(gauge_sends_a_flush_back)
{
	begin(t);
	dv_down(&a, fx_type(M_FLUSH, "\003", 0));
	freemsg(dv_up_type(&a, M_FLUSH));
	T_NULL(dv_up(&a));
}
