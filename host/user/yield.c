/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Giving the CPU to the thread at the other end of a stream.  way.h measures what
 * each yield costs, and decides when there is none.
 */
#include "user_impl.h"
#include "way.h"

STR_HOT void
host_yield(void)
{
	(void)sys_call1(SYS_sched_yield, 0);
}

static STR_TLS struct host_way way;

STR_WAKE_TEXT bool
host_give_way(void)
{
	return host_way_give(&way, host_ticks, host_yield,
		host_ticks_per_ms / 4);
}

STR_HOT void
host_way_used(void)
{
	host_way_keep(&way);
}
