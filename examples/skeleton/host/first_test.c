/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The executive on the host of first.c: memory, messages and locks.
 */
#include <str/host.h>
#include <sys/kmem.h>
#include <sys/ksynch.h>
#include <sys/stream.h>
#include <sys/strsun.h>
#include <sys/ddi.h>
#include <string.h>

#include "t.h"
#include "first.h"

#define CAP (32u << 20)

static void
begin(void)
{
	T_EQ(first_init(CAP), 0);
}

T_CASE(messages_are_made_joined_and_freed)
{
	mblk_t *mp, *bp;

	begin();
	mp = allocb(100, BPRI_MED);
	bp = allocb(70000, BPRI_MED);
	T_NOTNULL(mp);
	T_NOTNULL(bp);
	memset(mp->b_wptr, 'm', 100);
	mp->b_wptr += 100;
	memset(bp->b_wptr, 'b', 70000);
	bp->b_wptr += 70000;
	linkb(mp, bp);
	T_EQ(msgdsize(mp), 70100);
	bp = dupmsg(mp);
	freemsg(mp);
	T_EQ(pullupmsg(bp, -1), 1);
	T_EQ(bp->b_rptr[99], 'm');
	T_EQ(bp->b_rptr[100], 'b');
	freemsg(bp);
	first_fini();
}

/* Host.h: when host_commit() refuses, allocb() fails and nothing else does. */
T_CASE(a_domain_that_is_full_refuses)
{
	mblk_t *first = NULL, *mp;
	unsigned n = 0, i;

	begin();
	for (i = 0; (mp = allocb(60000, BPRI_HI)) != NULL; i++) {
		mp->b_cont = first;
		first = mp;
		T_LT(i, CAP / 60000);
	}
	T_GT(i, 0);
	for (; first != NULL; first = mp, n++) {
		mp = first->b_cont;
		freeb(first);
	}
	T_EQ(n, i);
	mp = allocb(60000, BPRI_HI);
	T_NOTNULL(mp);
	freeb(mp);
	first_fini();
}

T_CASE(a_lock_is_taken_and_released)
{
	kmutex_t *lock;

	begin();
	lock = kmem_zalloc(sizeof(*lock), KM_NOSLEEP);
	T_NOTNULL(lock);
	T_TRUE(mutex_tryenter(lock));
	T_FALSE(mutex_tryenter(lock));
	mutex_exit(lock);
	T_TRUE(mutex_tryenter(lock));
	mutex_exit(lock);
	kmem_free(lock, sizeof(*lock));
	first_fini();
}
