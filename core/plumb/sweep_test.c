/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Is streamsd needed?  A sleeper asks at each sleep, so the answer for a domain
 * with common pipes only (sweep.c) is remembered; each change of a stream that
 * can make streamsd necessary ends that.
 */
#include "fixture.h"

#define I_SETSIG 0x5309u
#define S_INPUT 1u

static struct fx_pipe pipe_;

/* Is the answer known without a walk over all streams? */
static bool
known(void)
{
	return str_load(str_root(STR_ROOT_PLAIN)) ==
		str_load(str_root(STR_ROOT_ODD)) + 1;
}

static void
begin(struct t *t)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	T_FALSE(known());
	T_FALSE(str_region_wanted());
	T_TRUE(known());
	T_FALSE(str_region_wanted());
}

T_CASE(more_plain_pipes_change_nothing)
{
	static struct fx_pipe more;

	begin(t);
	fx_pipe(&more);
	T_TRUE(known());
	T_FALSE(str_region_wanted());
}

T_CASE(a_reference_makes_streamsd_wanted)
{
	struct host_call hc = {.fd = -1};

	begin(t);
	T_EQ(host_enter(&hc), 0);
	str_head_ref(pipe_.sd[1]);
	str_ref_end();
	T_TRUE(str_region_wanted());
	T_TRUE(str_region_wanted());
	str_ref_begin();
	str_head_unref(pipe_.sd[1], NULL);
	host_leave();
	T_FALSE(str_region_wanted());
	/* it may be kept by nothing from now on: it is walked to each time */
	T_FALSE(known());
}

T_CASE(a_registration_for_signals_makes_streamsd_wanted)
{
	begin(t);
	T_EQ(fx_ioctl(&pipe_, 0, I_SETSIG, S_INPUT), 0);
	T_TRUE(str_region_wanted());
	T_EQ(fx_ioctl(&pipe_, 0, I_SETSIG, 0), 0);
	T_FALSE(str_region_wanted());
	T_TRUE(known());
}

T_CASE(a_further_open_file_makes_streamsd_wanted)
{
	struct host_call hc = {.fd = -1};
	struct host_carrier c;
	struct str_file *f;
	int fd;

	begin(t);
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_EQ(host_enter(&hc), 0);
	T_EQ(str_file_add(pipe_.sd[1], &c, 2, &f), 0);
	T_TRUE(str_region_wanted());
	sim_close(fd);
	T_TRUE(str_file_close(f, NULL));
	host_leave();
	T_FALSE(str_region_wanted());
}

static void
ends(void *arg)
{
	(void)arg;
}

T_CASE(a_death_is_a_reason_to_walk)
{
	begin(t);
	(void)sim_spawn("member", ends, NULL);
	T_EQ(sim_run(), 0);
	T_FALSE(known());
	T_FALSE(str_region_wanted());
	T_TRUE(known());
}
