/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The ids that modules are told are the process's, also after a change.
 */
#include <stdlib.h>
#include <unistd.h>

#include <t.h>

#include "upcalls_test_double.h"

static void
same_as_the_kernel(void)
{
	struct host_cred c;

	host_cred(&c);
	T_EQ(c.uid, geteuid());
	T_EQ(c.ruid, getuid());
	T_EQ(c.gid, getegid());
	T_EQ(c.rgid, getgid());
	T_EQ(c.pid, (uint32_t)getpid());
}

T_CASE(the_ids_of_a_member_are_those_of_its_process)
{
	struct host_call hc = { .fd = -1 };

	same_as_the_kernel();
	setenv("STREAMS_DOMAIN", "private", 1);
	up_enter(&hc);
	host_leave();
	same_as_the_kernel();
	same_as_the_kernel();
}

T_CASE(a_change_that_was_told_is_seen)
{
	struct host_call hc = { .fd = -1 };

	if (geteuid() != 0)
		T_SKIP("only root changes its group");
	setenv("STREAMS_DOMAIN", "private", 1);
	up_enter(&hc);
	host_leave();
	host_cred_vary();
	T_EQ((int)sys_call3(SYS_setresgid, 1, 2, 3), 0);
	same_as_the_kernel();
	T_EQ((int)sys_call3(SYS_setresgid, 4, 5, 3), 0);
	same_as_the_kernel();
}
