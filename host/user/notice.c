/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Notice of deaths: the words on which a thread sleeps while streamsd watches
 * the processes for it.
 *
 * Objects.  wait.c:host_wait_notice() sleeps on two words at once: the queue's
 * word, and `life' of the process's slot.  Each further word would make a sleep
 * 0.3 us longer.
 *
 * Rings.  A ring of the process's bell must also end these sleeps.  The slot of
 * a thread holds the address of the word on which it sleeps.  A ring increments
 * `look' of the process's slot, changes the words of the process's sleeping
 * threads, and wakes these threads.  A thread samples the queue's word and
 * `look', stores the address, publishes `asleep_on', executes a fence, looks for
 * what a ring may announce, and sleeps.  So either the thread sees that, or the
 * ring sees the thread.  Threads of other processes that sleep on the same word
 * wake, too, and sleep again.
 *
 * Life.  The thread id of streamsd, in the form of a robust futex.  streamsd
 * registers these words with the kernel, one of each slot.  However streamsd
 * ends, the kernel marks each word and wakes one of the threads that sleep on
 * it.  This thread wakes the others of its process, and has streamsd replaced.
 * With one word for each process, no process depends on another one for this:
 * if the thread is killed, its whole process is.
 *
 * Failure.  Without futex_waitv(2) (Linux 5.16, or forbidden by a sandbox), or
 * without streamsd, or if streamsd cannot ask the kernel about carriers, there
 * are no notices, and threads sleep on their carriers.
 */
#include <linux/futex.h>
#include <limits.h>
#include <sys/mman.h>
#include <time.h>

#include "sock.h"
#include "user_impl.h"

enum { UNKNOWN, USABLE, UNUSABLE };
static str_a32 waitv; /* futex_waitv(2) */

STR_WAKE_TEXT bool
host_waitv_usable(void)
{
	uint32_t v = str_load(&waitv);

	if (str_unlikely(v == UNKNOWN)) {
		/* a kernel that has the call does not accept no words at all */
		v = sys_call5(SYS_futex_waitv, NULL, 0, 0, NULL, 0) == -EINVAL ?
			USABLE : UNUSABLE;
		str_store(&waitv, v);
	}
	return v == USABLE;
}

void
host_waitv_forget(void)
{
	str_store(&waitv, (uint32_t)UNUSABLE);
}

STR_WAKE_TEXT long
host_waitv(const struct host_waitv *v, unsigned n, const struct timespec *until)
{
	return sys_call5(SYS_futex_waitv, v, n, 0, until, CLOCK_MONOTONIC);
}

static struct str_proc *
me(void)
{
	return &host_domain->proc[host_priv_page->proc];
}

static bool
lives(uint32_t life)
{
	return (life & FUTEX_TID_MASK) != 0 && (life & FUTEX_OWNER_DIED) == 0;
}

/* --------------------------------------------------------------- sleepers */

STR_WAKE_TEXT bool
host_notice_begin(struct host_notice *ret, str_a32 *word)
{
	struct str_proc *p = me();

	ret->life = str_load_acq(&p->life);
	/* sockets that streamsd has no descriptors of are passed by a sleeper
	 * with a time-out */
	if (!lives(ret->life) || host_is_daemon || !host_waitv_usable() ||
	    (str_load(&host_sock_high) != 0 &&
		    host_sock_owed_at(host_daemon_pid()) != UINT64_MAX))
		return false;
	ret->look = str_load_acq(&p->look);
	str_store(&host_self()->word, (uint64_t)(uintptr_t)word);
	return true;
}

/*
 * host_notice_want - a thread is about to rely on notices: streamsd gives some
 * without a cause from now on.  Called after `asleep_on' has been published.
 */
STR_WAKE_TEXT void
host_notice_want(void)
{
	str_a32 *w = &host_shared(host_domain)->notices;

	if (str_unlikely(str_load(w) == 0) && str_cas(w, 0u, 1u))
		host_daemon_tell(HOST_ASK_NOTICE);
}

/*
 * host_notice_over - after the sleep: if streamsd has ended, wake the other
 * threads of this process, and have it replaced.  One that has withdrawn its
 * notices (life is 0) has woken all threads, and lives.
 * Return: true: a ring, or the end of a streamsd, has ended the sleep.
 */
STR_WAKE_TEXT bool
host_notice_over(const struct host_notice *n)
{
	struct str_proc *p = me();
	uint32_t now = str_load(&p->life);

	if (str_likely(now == n->life))
		return str_load(&p->look) != n->look;
	if ((now & FUTEX_OWNER_DIED) != 0) {
		(void)host_wake(&p->life, INT_MAX);
		STR_CRASH_POINT("notice:passed");
		host_daemon_dies();
	}
	return true;
}

/* host_notice_lives - has streamsd, process @pid in @slot, said that the kernel
 * will mark its end, which the kernel has not done?  A system call less than
 * asking. */
bool
host_notice_lives(uint32_t slot, uint32_t pid)
{
	uint32_t life = str_load_acq(&host_domain->proc[slot].life);

	return lives(life) && (life & FUTEX_TID_MASK) == pid;
}

/* host_notice_ends - is process @slot a streamsd whose memory is gone already? */
bool
host_notice_ends(uint32_t slot)
{
	return (str_load(&host_domain->proc[slot].life) &
		FUTEX_OWNER_DIED) != 0;
}

/* Part of a ring of the bell: wake the threads that sleep on words. */
void
host_look_ring(struct str_proc *p)
{
	uint32_t high = STR_MIN(str_load_acq(&host_domain->thread_high),
		STR_NTHREAD);
	uint32_t of = (uint32_t)(p - host_domain->proc);

	(void)str_add(&p->look, 1u);
	str_fence_full(); /* first what is announced, then the sleepers */
	for (uint32_t i = 0; i < high; i++) {
		struct str_thread *t = &host_domain->thread[i];
		uint64_t on = str_load(&t->asleep_on);
		str_a32 *word = (str_a32 *)(uintptr_t)str_load(&t->word);

		if (on == 0 || on == ~0ull || word == NULL ||
		    str_load(&t->proc) != of || str_load(&t->tag) == 0 ||
		    str_load(&t->state) == STR_THR_CARRIER)
			continue;
		(void)str_add(word, 1u);
		(void)host_wake(word, INT_MAX);
	}
}

/* ------------------------------------------------------------ as streamsd */

static struct robust_list_head robust; /* of the thread that is streamsd */
static char *entries; /* an entry at the distance of each `life' word */
static uint32_t offered; /* slots with an entry; ~0: no notices */

static struct robust_list *
entry(uint32_t i)
{
	return (struct robust_list *)(void *)(entries +
		i * sizeof(struct str_proc));
}

static bool
can_ask(void)
{
	const struct host_carrier none = { .cookie = 1, .ino = 1 };

	(void)host_carrier_alive(&none);
	return !host_carrier_unsure;
}

/* Tell the kernel where the words are.  The entries follow one by one. */
static bool
enrol(void)
{
	size_t size = STR_NPROC * sizeof(struct str_proc);
	long r = sys_call6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (r < 0 && r > -4096)
		return false;
	entries = (char *)r;
	robust.list.next = &robust.list;
	robust.futex_offset = (long)((uintptr_t)&host_domain->proc[0].life -
		(uintptr_t)entries);
	return sys_call2(SYS_set_robust_list, &robust, sizeof robust) == 0;
}

/*
 * host_notice_offer - the caller, a thread that ends only with its process, is
 * streamsd: give notices to all members, also to those that have attached since
 * the last call.
 */
void
host_notice_offer(void)
{
	uint32_t high = STR_MIN(str_load_acq(&host_domain->proc_high),
		STR_NPROC);
	uint32_t tid = (uint32_t)sys_gettid();

	if (offered == ~0u || (entries == NULL && (!can_ask() || !enrol()))) {
		offered = ~0u;
		return;
	}
	for (; offered < high; offered++) {
		entry(offered)->next = &robust.list;
		str_barrier();
		if (offered == 0)
			robust.list.next = entry(0);
		else
			entry(offered - 1)->next = entry(offered);
		str_store_rel(&host_domain->proc[offered].life,
			tid | FUTEX_WAITERS);
	}
}

/* host_notice_withdraw - the kernel does not answer: there are no notices. */
void
host_notice_withdraw(void)
{
	uint32_t n = offered == ~0u ? 0 : offered;

	offered = ~0u;
	for (uint32_t i = 0; i < n; i++) {
		str_store(&host_domain->proc[i].life, 0u);
		(void)host_wake(&host_domain->proc[i].life, INT_MAX);
	}
}
