/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Identity: process slots, thread slots, and the dead.
 *
 * Processes.  A process is (pid, start time). `gen' and `pid' of its slot are
 * changed as one word: {even, 0} is free, {odd, pid} in use.  A slot is freed
 * only when no thread slot refers to it any more, so an index keeps its meaning
 * as long as a thread refers to it. `start' is 0, for "unknown", whenever the
 * word changes, so no process takes the new owner for a dead one.  A new image
 * after exec has the same pid and start time: it takes over its predecessor's
 * slot and reaps the predecessor's threads.
 *
 * Threads. `tag' and `proc' are adjacent and are changed as one word, so that a
 * tag never appears without its process.  Three states:
 *
 *	tag == 0		free
 *	proc < STR_NPROC	in use, by thread `tid' of that process
 *	proc >= STR_NPROC	the owner is dead, and the thread whose tag
 *				is in `proc' gives back what it held
 *
 * so a dead reaper can be detected, and the next one starts again.  During
 * reaping a slot keeps the dead thread's tag.  A reaper that could not free
 * everything leaves that tag in `proc', too: any thread may reap the slot.
 * A few slots are for reaping only, when all others are taken.
 *
 * Death.  A process is dead when its pid is gone, has another start time, or
 * is a zombie without threads.  A thread is dead when its process is, when
 * its tid is gone from the process, or when the process has executed another
 * image.  A stopped process is not dead.
 *
 * Fork.  The child's threads are new; it finds `identity' wiped.  The
 * parent's slots stay the parent's.
 *
 * Leaving.  A process that changes its user leaves the domain (leave.c).  The
 * leaving thread frees the slots of the other threads, which are in a list:
 * `tprivs'.
 *
 * Failure.  A death between any two stores here costs at most the reuse of one
 * generation number; the next scan finds every slot.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "sock.h"
#include "user_impl.h"

#define NORMAL HOST_THREADS
#define RESERVED (STR_NTHREAD - 1 - NORMAL)
#define ALONE_NS 100000000u /* wait for calls of other threads */
#define BEGIN_NS 10000000u  /* time for a thread to begin its call */

STR_TLS struct host_tls host_tls;
STR_TLS struct host_tpriv *host_tpriv;

static volatile uint32_t no_identity;
STR_HOT_DATA volatile uint32_t *host_identity = &no_identity;

static pthread_key_t exit_key;
static struct host_tpriv *tprivs; /* [attach] of all attached threads */
static uint64_t fork_mask; /* of the thread that forks, under attach */

_Static_assert(offsetof(struct str_proc, pid) ==
	offsetof(struct str_proc, gen) + 4, "gen and pid are one word");
_Static_assert(offsetof(struct str_thread, proc) ==
	offsetof(struct str_thread, tag) + 4, "tag and proc are one word");

struct owner {
	uint32_t tag, proc;
};

static str_a64 *
owner_word(struct str_thread *t)
{
	return (str_a64 *)(void *)&t->tag;
}

static struct owner
owner_load(struct str_thread *t)
{
	uint64_t v = str_load_acq(owner_word(t));
	struct owner o;

	memcpy(&o, &v, sizeof o);
	return o;
}

static bool
owner_cas(struct str_thread *t, struct owner from, struct owner to)
{
	uint64_t a, b;

	memcpy(&a, &from, sizeof a);
	memcpy(&b, &to, sizeof b);
	return str_cas(owner_word(t), a, b);
}

struct life {
	uint32_t gen, pid;
};

static struct life
life_load(struct str_proc *p)
{
	uint64_t v = str_load_acq((str_a64 *)(void *)&p->gen);
	struct life l;

	memcpy(&l, &v, sizeof l);
	return l;
}

static bool
life_same(struct life a, struct life b)
{
	return a.gen == b.gen && a.pid == b.pid;
}

/*
 * Set `start' to 0, and then change the word.  A late thread must not overwrite
 * the next owner's start time: so only the value that was there when the word
 * was still @from is replaced.
 */
static bool
life_cas(struct str_proc *p, struct life from, uint32_t gen, uint32_t pid)
{
	uint64_t start = str_load_acq(&p->start);
	struct life to = { gen, pid };
	uint64_t a, b;

	if (!life_same(life_load(p), from))
		return false;
	STR_CRASH_POINT("slot:changes");
	(void)str_cas(&p->start, start, 0ull);
	memcpy(&a, &from, sizeof a);
	memcpy(&b, &to, sizeof b);
	return str_cas((str_a64 *)(void *)&p->gen, a, b);
}

static bool
proc_is_me(uint32_t idx)
{
	struct host_priv *pv = host_priv_page;

	return pv != NULL && str_load(&pv->identity) != 0 &&
		str_load(&pv->proc) == idx;
}

/* Is the process of slot @idx dead?  Another image: *ret_execed. */
static bool
proc_dead(uint32_t idx, bool *ret_execed)
{
	struct str_proc *p = &host_domain->proc[idx];
	uint32_t pid = str_load_acq(&p->pid);
	uint64_t want = str_load_acq(&p->start);
	uint64_t image = str_load(&p->image);
	uint64_t start, now_image;
	bool dead;

	*ret_execed = false;
	if (pid == 0)
		return true;
	if (proc_is_me(idx))
		return false;
	host_proc_start((int)pid, &start, &now_image, &dead);
	if (str_load(&p->pid) != pid)
		return true; /* freed during the check */
	if (dead || (start != 0 && want != 0 && start != want))
		return true;
	/* the image is not valid before the start time is set */
	*ret_execed = want != 0 && image != 0 && now_image != 0 &&
		image != now_image;
	return false;
}

/* Is thread @tid of the process of @o dead? 0: tid not set yet. */
static bool
owner_dead(struct owner o, uint32_t tid)
{
	struct str_proc *p = &host_domain->proc[o.proc];
	bool execed;

	if (proc_dead(o.proc, &execed) || execed)
		return true;
	return tid != 0 && host_task_dead((int)str_load(&p->pid), (int)tid);
}

bool
host_owner_dead(uint32_t tag)
{
	struct str_thread *t = &host_domain->thread[STR_TAG_IDX(tag)];
	struct owner o = owner_load(t);
	uint32_t tid;

	if (tag == host_tls.tag && tag != 0)
		return false;
	if (o.tag != tag || o.proc >= STR_NPROC)
		return true;
	tid = str_load_acq(&t->tid);
	return owner_dead(o, tid);
}

bool
host_owner_stopped(uint32_t tag)
{
	struct str_thread *t = &host_domain->thread[STR_TAG_IDX(tag)];
	struct owner o = owner_load(t);

	return o.tag == tag && o.proc < STR_NPROC &&
		host_task_stopped((int)str_load(&host_domain->proc[o.proc].pid),
			(int)str_load(&t->tid));
}

/* ----------------------------------------------------------------- reap */

/* Is @o, the owner of thread slot @idx, dead? */
static bool
slot_dead(uint32_t idx, struct owner o)
{
	struct str_thread *t = &host_domain->thread[idx];

	if (o.proc >= STR_NPROC)
		return host_owner_dead(o.proc);
	return owner_dead(o, str_load_acq(&t->tid));
}

static void
thread_clear(struct str_thread *t)
{
	str_store(&t->state, (uint32_t)STR_THR_RUN);
	str_store(&t->asleep_on, 0ull);
	for (int i = 0; i < (int)STR_NCLAIM; i++)
		str_store(&t->claim[i], 0ull);
	str_store(&t->tid, 0u);
}

/*
 * Slot @idx has the dead owner @o: free its resources. @whole: its memory, too;
 * see str_thread_reap().  Return: false: another reaper does, or it must be
 * repeated.
 */
static bool
thread_reap(uint32_t idx, struct owner o, bool whole)
{
	struct str_thread *t = &host_domain->thread[idx];
	struct owner mine = { o.tag, host_tls.tag };
	struct owner none = { 0, 0 }, again = { o.tag, o.tag };

	if (!owner_cas(t, o, mine))
		return false;
	/* it may have died before it stored the generation */
	str_store(&t->gen, o.tag >> 12);
	if (!str_thread_reap(host_domain, t, whole)) {
		(void)owner_cas(t, mine, again);
		return false;
	}
	thread_clear(t);
	(void)owner_cas(t, mine, none);
	return true;
}

/*
 * Reap the dead threads, or @all threads, of process slot @idx, and then the
 * slot unless threads are left or it is our own. @l: its word, from before it
 * was found dead.  Others reap at the same time: as soon as the slot has
 * another owner, its threads may have one too.
 */
static void
proc_reap(uint32_t idx, struct life l, bool all, bool whole)
{
	struct str_domain *d = host_domain;
	uint32_t high = str_load(&d->thread_high);
	uint64_t bell = str_load_acq(&d->proc[idx].bell);
	bool left = false;

	for (uint32_t i = 0; i < high && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		struct owner o = owner_load(t);

		if (o.tag == 0 || o.proc != idx || o.tag == host_tls.tag)
			continue;
		if (!life_same(life_load(&d->proc[idx]), l))
			return;
		if (all || slot_dead(i, o))
			(void)thread_reap(i, o, whole);
		else
			left = true;
	}
	if (left || proc_is_me(idx) || l.pid == 0 ||
	    !life_same(life_load(&d->proc[idx]), l))
		return;
	/* it belonged to that process, because the slot still does */
	host_sockdir_unlink(bell);
	(void)life_cas(&d->proc[idx], l, l.gen + 1, 0);
}

/* Search for dead processes, and dead reapers, once per new process. */
static void
reap_scan(void)
{
	uint32_t high = str_load(&host_domain->thread_high);
	bool execed;

	for (uint32_t i = 0; i < high && i < STR_NTHREAD; i++) {
		struct owner o = owner_load(&host_domain->thread[i]);

		if (o.tag != 0 && o.proc >= STR_NPROC && slot_dead(i, o))
			(void)thread_reap(i, o, true);
	}
	high = str_load(&host_domain->proc_high);
	for (uint32_t i = 0; i < high && i < STR_NPROC; i++) {
		struct life l = life_load(&host_domain->proc[i]);

		if (l.pid != 0 && !proc_is_me(i) && proc_dead(i, &execed))
			proc_reap(i, l, true, true);
	}
}

/*
 * host_reap_scan - first step of streamsd when a member may have ended, or
 * replaced its image: make its streams usable, so that they can be closed
 * Checks every member in /proc.
 */
void
host_reap_scan(void)
{
	uint32_t high = str_load(&host_domain->proc_high);

	for (uint32_t i = 0; i < high && i < STR_NPROC; i++) {
		struct life l = life_load(&host_domain->proc[i]);
		bool dead, execed;

		if (l.pid == 0 || proc_is_me(i))
			continue;
		dead = proc_dead(i, &execed);
		if (dead || execed)
			proc_reap(i, l, dead, false);
	}
}

/*
 * host_reap_ended - the same for one process that has ended, according to its
 * pidfd
 * @idx, @gen, @pid: its slot, as it was when the pidfd was opened
 */
void
host_reap_ended(uint32_t idx, uint32_t gen, uint32_t pid)
{
	struct life l = life_load(&host_domain->proc[idx]);

	if (l.pid != 0 && l.gen == gen && l.pid == pid && !proc_is_me(idx))
		proc_reap(idx, l, true, false);
}

/*
 * host_reap_next - then: the memory of one dead thread, from slot *@at on
 * Return: false: there is none.
 */
bool
host_reap_next(uint32_t *at)
{
	uint32_t high = str_load(&host_domain->thread_high);

	while (*at < high && *at < STR_NTHREAD) {
		uint32_t i = (*at)++;
		struct owner o = owner_load(&host_domain->thread[i]);

		if (o.tag == 0 || o.proc < STR_NPROC || !slot_dead(i, o))
			continue;
		(void)thread_reap(i, o, true);
		return true;
	}
	return false;
}

/* Does process slot @idx still belong to process @pid, and is that alive? */
bool
host_proc_alive(uint32_t idx, uint32_t gen, uint32_t pid)
{
	struct life l = life_load(&host_domain->proc[idx % STR_NPROC]);
	bool execed;

	return l.gen == gen && l.pid == pid &&
		!proc_dead(idx % STR_NPROC, &execed) && !execed;
}

bool
host_reap_dead(uint32_t tag)
{
	uint32_t idx = STR_TAG_IDX(tag);
	struct owner o = owner_load(&host_domain->thread[idx]);
	struct life l = life_load(&host_domain->proc[o.proc % STR_NPROC]);
	bool reaped, execed;

	if (tag == 0 || tag == host_tls.tag || o.tag != tag ||
	    !slot_dead(idx, o))
		return false;
	reaped = thread_reap(idx, o, true);
	/* the others of its process, if that is dead, and its slot */
	if (o.proc < STR_NPROC && !proc_is_me(o.proc) &&
	    proc_dead(o.proc, &execed))
		proc_reap(o.proc, l, true, true);
	return reaped;
}

/* Is the member in @p, which was read from a file, alive? */
static bool
recorded_alive(const struct str_proc *p)
{
	uint32_t pid = str_load(&p->pid);
	uint64_t start, image, want = str_load(&p->start);
	bool dead;

	if (pid == 0 || pid > INT_MAX || pid == (uint32_t)sys_getpid() ||
	    (str_load(&p->flags) & HOST_PROC_EXIT))
		return false;
	host_proc_start((int)pid, &start, &image, &dead);
	if (dead || (start != 0 && want != 0 && start != want))
		return false;
	return want == 0 || image == 0 || str_load(&p->image) == 0 ||
		image == str_load(&p->image);
}

/* Does a domain's file contain a living member other than us? */
bool
host_members_recorded(const struct host_file *df)
{
	struct str_proc some[32];
	uint64_t at = offsetof(struct str_domain, proc);

	for (uint32_t n = 0; n < STR_NPROC; n += STR_ARRAY_LEN(some)) {
		if (!df->read(df, at, some, sizeof some))
			return false;
		for (size_t i = 0; i < STR_ARRAY_LEN(some); i++)
			if (recorded_alive(&some[i]))
				return true;
		at += sizeof some;
	}
	return false;
}

/* ---------------------------------------------------------------- claim */

static void
nap_for(long ns)
{
	struct timespec ts = { 0, ns };

	(void)sys_call2(SYS_nanosleep, &ts, NULL);
}

static void
nap(void)
{
	nap_for(1000000);
}

static void
raise_high(str_a32 *high, uint32_t n)
{
	uint32_t v = str_load(high);

	while (v < n && !str_cas(high, v, n))
		v = str_load(high);
}

/* Try to make process slot @idx ours; *ret_old when it had an owner. */
static bool
proc_take(uint32_t idx, uint32_t pid, bool dead, bool *ret_old)
{
	struct str_proc *p = &host_domain->proc[idx];
	struct life l = life_load(p);
	uint64_t bell = str_load_acq(&p->bell);
	bool execed;

	if (dead ? l.pid == 0 || !proc_dead(idx, &execed) :
		   l.pid != pid && l.pid != 0)
		return false;
	if (!life_cas(p, l, (l.gen + 1) | 1, pid))
		return false;
	host_sockdir_unlink(bell); /* the previous owner's */
	*ret_old = l.pid != 0;
	return true;
}

/* A process slot for us; *ret_old: dead threads may still refer to it. */
static int
proc_claim(uint32_t *ret_idx, bool *ret_old)
{
	struct str_domain *d = host_domain;
	uint32_t pid = (uint32_t)sys_getpid();
	uint32_t high = str_load(&d->proc_high);
	uint64_t start, image;
	struct str_proc *p;
	uint32_t i;
	bool dead;

	if (!host_kin_start(&start, &image)) {
		host_proc_start((int)pid, &start, &image, &dead);
		host_kin_told(start, image);
	}
	/* the image before exec, or a dead process that had this pid */
	for (i = 0; i < high; i++)
		if (str_load(&d->proc[i].pid) == pid &&
		    proc_take(i, pid, false, ret_old))
			goto found;
	for (i = 0; i < STR_NPROC; i++)
		if (proc_take(i, pid, false, ret_old))
			goto found;
	for (i = 0; i < STR_NPROC; i++)
		if (proc_take(i, pid, true, ret_old))
			goto found;
	return host_fail(ENOSR, "%u processes are attached, which is all "
		"a domain has room for: STREAMS_DOMAIN=NAME is another",
		STR_NPROC);
found:
	p = &d->proc[i];
	raise_high(&d->proc_high, i + 1);
	str_store(&p->bell, 0ull);
	str_store(&p->flags, 0u);
	str_store(&p->image, image);
	str_store_rel(&p->start, start);
	str_store(ret_idx, i);
	return 0;
}

/* A free slot from @lo up to below @hi made ours; false: there is none, or no
 * memory for it. */
static bool
thread_take(uint32_t lo, uint32_t hi)
{
	struct str_domain *d = host_domain;
	struct owner mine = { 0, host_priv_page->proc };

	for (uint32_t i = lo; i < hi; i++) {
		struct owner o;
		uint32_t gen;

		if (i < NORMAL && i >= str_load_acq(&d->thread_room) &&
		    host_threads_commit(i + 1) != 0)
			return false;
		o = owner_load(&d->thread[i]);
		gen = (str_load(&d->thread[i].gen) + 1) & 0xfffff;
		mine.tag = STR_TAG(i, gen != 0 ? gen : 1);
		if (o.tag != 0)
			continue;
		raise_high(&d->thread_high, i + 1);
		str_store(&d->thread[i].parked, 0u); /* of a killed one */
		if (!owner_cas(&d->thread[i], o, mine))
			continue;
		str_fence_full(); /* pairs with fence.c:is_only_one */
		str_store(&d->thread[i].gen, mine.tag >> 12);
		str_store_rel(&d->thread[i].tid, (uint32_t)sys_gettid());
		/* only now: a thread that revokes a bias reads the tag first */
		str_store(&d->thread[i].hold[0], 0ull);
		str_store(&d->thread[i].hold[1], 0ull);
		host_tls.slot = &d->thread[i];
		host_tls.tag = mine.tag;
		host_tls.full_at = NULL; /* it may be of another domain */
		return true;
	}
	return false;
}

/* Give this thread's slot back. */
static void
thread_release(void)
{
	struct str_thread *t = host_tls.slot;
	struct owner mine = { host_tls.tag,
		str_load(&host_priv_page->proc) };
	struct owner none = { 0, 0 };
	struct str_domain *d = str_load(&host_domain);

	if (t == NULL || d == NULL)
		return;
	(void)str_thread_reap(d, t, true);
	thread_clear(t);
	host_tls.slot = NULL;
	host_tls.tag = 0;
	(void)owner_cas(t, mine, none);
}

/* A slot for this thread; @old: dead threads have our process's number. */
static int
thread_claim(bool old)
{
	struct str_domain *d = host_domain;

	if (thread_take(0, NORMAL))
		return 0;
	/* slots that are not backed must not come below thread_high */
	if (str_load_acq(&d->thread_room) < NORMAL)
		return host_fail(ENOSR, "no memory for one more thread: make "
			"room in the file system of the domain's directory, or "
			"in the control group");
	if (!thread_take(NORMAL, NORMAL + RESERVED))
		goto full;
	if (old)
		proc_reap(host_priv_page->proc,
			life_load(&d->proc[host_priv_page->proc]), true, true);
	reap_scan();
	for (uint32_t i = 0; i < NORMAL; i++) {
		struct owner o = owner_load(&d->thread[i]);

		if (o.tag != 0 && slot_dead(i, o))
			(void)thread_reap(i, o, true);
	}
	thread_release();
	if (thread_take(0, NORMAL))
		return 0;
full:
	return host_fail(ENOSR, "%u threads are attached, which is all a domain "
		"has room for: STREAMS_DOMAIN=NAME is another", NORMAL);
}

/* A former thread of ours with our tid ended without freeing its slot. */
static void
namesake_reap(void)
{
	struct str_domain *d = host_domain;
	uint32_t high = str_load(&d->thread_high);
	uint32_t tid = str_load(&host_tls.slot->tid);

	for (uint32_t i = 0; i < high && i < STR_NTHREAD; i++) {
		struct owner o = owner_load(&d->thread[i]);

		if (o.tag != host_tls.tag && o.tag != 0 &&
		    o.proc == host_priv_page->proc &&
		    str_load(&d->thread[i].tid) == tid)
			(void)thread_reap(i, o, true);
	}
}

/* ----------------------------------------------------------- enter, exit */

static void
on_thread_exit(void *arg)
{
	struct host_priv *pv = host_priv_page;
	struct host_tpriv **p;
	uint64_t old;

	host_sig_block(&old);
	host_plock_lock(&pv->attach);
	/* in a forked child the parent's threads count as killed */
	if (str_load(&pv->identity) != 0)
		thread_release();
	for (p = &tprivs; *p != NULL; p = &(*p)->next)
		if (*p == host_tpriv) {
			*p = host_tpriv->next;
			break;
		}
	host_plock_unlock(&pv->attach);
	if (host_tpriv != NULL) {
		(void)sys_call2(SYS_munmap, host_tpriv, sizeof *host_tpriv);
		host_tpriv = NULL;
	}
	host_sig_restore(&old);
}

/* At exit: the calling thread's slot, and the process's if it was the last */
void
host_slot_exit(void)
{
	struct host_priv *pv = host_priv_page;
	struct str_domain *d = host_domain;
	uint32_t high = str_load(&d->thread_high);
	struct str_proc *p = &d->proc[pv->proc];
	struct life l;

	host_plock_lock(&pv->attach);
	(void)str_or(&p->flags, HOST_PROC_EXIT);
	thread_release();
	for (uint32_t i = 0; i < high && i < STR_NTHREAD; i++) {
		struct owner o = owner_load(&d->thread[i]);

		if (o.tag != 0 && o.proc == pv->proc)
			goto out; /* other threads still run: reaped later */
	}
	host_bell_gone();
	/* a later call takes new slots */
	str_store(&pv->identity, 0u);
	l = life_load(p);
	(void)life_cas(p, l, l.gen + 1, 0);
out:
	host_plock_unlock(&pv->attach);
}

/*
 * No fork while a thread attaches: the child would inherit an incomplete
 * domain.  The lock is in the page that fork wipes.
 */
static void
on_fork(void)
{
	struct host_priv *pv = host_priv();
	uint64_t mask;

	host_sig_block(&mask);
	if (pv != NULL) {
		host_plock_lock(&pv->attach);
		host_spare_hold();
	}
	host_kin_fork();
	fork_mask = mask;
}

static void
on_fork_parent(void)
{
	struct host_priv *pv = host_priv_page;
	uint64_t mask = fork_mask;

	if (pv != NULL) {
		host_spare_release();
		host_plock_unlock(&pv->attach);
	}
	host_sig_restore(&mask);
}

/* In the child, in the thread that forked: nothing here is ours. */
static void
on_fork_child(void)
{
	uint64_t mask = fork_mask;

	host_tls.slot = NULL;
	host_tls.tag = 0;
	host_tls.depth = 0;
	host_tls.sig_saved = 0;
	host_tls.sleep_word = NULL;
	host_bell_waiting = 0;
	tprivs = host_tpriv; /* the other threads are the parent's */
	if (host_tpriv != NULL) {
		host_tpriv->saved = host_tpriv->self = 0;
		host_tpriv->next = NULL;
	}
	host_kin_child();
	if (host_domain != NULL) {
		STR_CRASH_POINT("fork:child");
		host_daemon_news((uint32_t)sys_getpid());
	}
	host_sig_restore(&mask);
}

/* Registered before any thread can attach, and before callers that hold their
 * own locks: the handler that is registered last runs first. */
STR_CONSTRUCTOR_AT(200) static void
fork_hook(void)
{
	(void)__register_atfork(on_fork, on_fork_parent, on_fork_child,
		__dso_handle);
}

static int
thread_private(void)
{
	long r;

	if (host_tpriv != NULL)
		return 0;
	/* not malloc(): a handler may have interrupted that */
	r = sys_call6(SYS_mmap, NULL, sizeof *host_tpriv,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r < 0 && r > -4096)
		return ENOSR;
	host_tpriv = (struct host_tpriv *)r;
	host_tpriv->tls = &host_tls;
	host_tpriv->next = tprivs;
	tprivs = host_tpriv;
	return 0;
}

/* A forked child. @sock: a socket of this thread. */
static int
child_enter(struct host_priv *pv, int sock)
{
	int err = 0;

	/* the parent's, by number only */
	host_fd_drop(HOST_FD_BELL);
	host_fd_drop(HOST_FD_DIAG);
	host_fd_drop(HOST_FD_DAEMON);
	host_fd_drop(HOST_FD_LINE);
	host_sock_forked();
	str_store(&pv->bell_up, 0u);
	if (!host_kin_here(sock)) {
		err = host_domain_check_ns();
		if (err == 0)
			host_kin_is_here(sock);
	}
	if (err == 0 && !host_domain_mine())
		err = host_fail(EACCES, "this process has another user than "
			"its domain, by a raw system call");
	if (err != 0)
		return err;
	host_named_forked();
	if (!host_fence_init())
		str_store(&host_domain->asym, 0u);
	return 0;
}

static int
slots_enter(struct host_priv *pv)
{
	bool old;
	int err = proc_claim(&pv->proc, &old);

	if (err != 0)
		return err;
	str_store(&pv->identity, 1u);
	err = thread_claim(old);
	if (err != 0) {
		str_store(&pv->identity, 0u);
		return err;
	}
	if (old)
		proc_reap(pv->proc, life_load(&host_domain->proc[pv->proc]),
			true, true);
	return 0;
}

static int
process_enter(struct host_priv *pv)
{
	static int last_pid;
	int pid = sys_getpid(), sock = -1, err = 0;

	if (last_pid != 0 && last_pid != pid) {
		sock = (int)sys_call3(SYS_socket, AF_UNIX,
			SOCK_DGRAM | SOCK_CLOEXEC, 0);
		err = child_enter(pv, sock);
	} else {
		pv->pidns_is_known = true;
	}
	if (err != 0)
		goto out;
	if (last_pid != pid)
		host_daemon_environment();
	last_pid = pid;
	err = slots_enter(pv);
	if (err != 0)
		goto out;
	/*
	 * streamsd notices the end of a member by its pidfd, and reaps it; to
	 * look at every member in /proc costs 15 us for each.  A driver that
	 * starts a callback waits for streamsd with locks held that a reaper
	 * may need: so streamsd reaps when it runs.
	 */
	if (!host_daemon_begin() && !host_daemon_comes)
		reap_scan();
	host_daemon_member(sock);
out:
	if (sock >= 0)
		(void)sys_close(sock);
	return err;
}

static int
enter_locked(struct host_priv *pv)
{
	static bool hooked;
	int err;

	if (host_domain == NULL) {
		/* a handler on the thread that changes the user */
		if (str_load(&pv->leaving) != 0)
			return host_fail(ENOSR, "the process is changing its "
				"user");
		err = host_domain_attach();
		if (err != 0)
			return err;
	}
	if (!hooked) {
		if (pthread_key_create(&exit_key, on_thread_exit) != 0)
			return host_fail(ENOSR, "no key for threads");
		hooked = true;
	}
	if (host_identity != &pv->identity)
		host_identity = &pv->identity;
	err = thread_private();
	if (err != 0)
		return err;
	if (str_load(&pv->identity) == 0) {
		host_tls.slot = NULL;
		host_tls.tag = 0;
		err = process_enter(pv);
	} else if (host_tls.slot == NULL) {
		err = thread_claim(false);
	}
	if (err != 0)
		return err;
	namesake_reap();
	return pthread_setspecific(exit_key, host_tpriv);
}

/*
 * Take the lock for attaching, when no other thread changes the user. libc's
 * setuid() makes each thread handle a signal meanwhile, which host_sig_block()
 * does not block: so a thread that changes the user holds the word, not the
 * lock.  Return: this thread changes the user.
 */
static bool
attach_lock(struct host_priv *pv)
{
	uint32_t me = (uint32_t)sys_gettid(), by;

	host_plock_lock(&pv->attach);
	while ((by = str_load(&pv->leaving)) != 0 && by != me) {
		host_plock_unlock(&pv->attach);
		nap();
		host_plock_lock(&pv->attach);
	}
	return by == me;
}

int
host_enter_slow(struct host_call *hc)
{
	struct host_priv *pv = host_priv();
	uint64_t old;
	int err;

	if (pv == NULL) {
		host_attach_report();
		return ENOSR;
	}
	host_sig_block(&old);
	attach_lock(pv);
	err = enter_locked(pv);
	if (err != 0)
		host_attach_report();
	/* counts as inside a call from here on: host_slot_alone() */
	host_tls.depth += err == 0;
	host_plock_unlock(&pv->attach);
	host_sig_restore(&old);
	host_tls.depth -= err == 0;
	str_barrier();
	return err;
}

/* -------------------------------------------------------------- leaving */

/* Is the thread of @tp in a call, or asleep in one? */
static bool
is_inside(struct host_tpriv *tp)
{
	struct str_thread *t = str_load(&tp->tls->slot);

	return str_load(&tp->tls->depth) != 0 || (t != NULL &&
		(str_load(&t->state) != STR_THR_RUN ||
		 str_load(&t->inside) != 0));
}

static bool
any_inside(void)
{
	for (struct host_tpriv *tp = tprivs; tp != NULL; tp = tp->next)
		if (tp != host_tpriv && is_inside(tp))
			return true;
	return false;
}

/* Free the slots of the other threads of this process. */
static void
slots_take(bool known)
{
	for (struct host_tpriv *tp = tprivs; tp != NULL; tp = tp->next) {
		struct str_thread *t = tp->tls->slot;

		if (tp == host_tpriv)
			continue;
		if (t != NULL && known)
			(void)thread_reap((uint32_t)(t - host_domain->thread),
				owner_load(t), true);
		tp->tls->slot = NULL;
		tp->tls->tag = tp->tls->nsoon = 0;
	}
}

bool
host_user_lock(void)
{
	struct host_priv *pv = host_priv();
	bool held;
	uint64_t old;

	if (pv == NULL)
		return false; /* no thread can attach either */
	host_sig_block(&old);
	held = attach_lock(pv);
	str_store(&pv->leaving, (uint32_t)sys_gettid());
	host_plock_unlock(&pv->attach);
	host_sig_restore(&old);
	return !held;
}

void
host_user_unlock(void)
{
	str_store_rel(&host_priv_page->leaving, 0u);
}

/*
 * Make sure that no other thread is in a call: threads that begin one find no
 * slot and wait for pv->leaving, which this thread has set.  A thread that is
 * interrupted for more than BEGIN_NS between the check of host_known() and
 * raising its depth is not detected.  Return: 0, or EAGAIN: one is in a call,
 * and nothing has changed.
 */
int
host_slot_alone(void)
{
	struct host_priv *pv = host_priv_page;
	uint64_t until = host_now() + ALONE_NS;
	uint32_t known;
	bool inside = false;

	host_plock_lock(&pv->attach);
	known = str_load(&pv->identity);
	do {
		if (tprivs == NULL ||
		    (tprivs == host_tpriv && tprivs->next == NULL))
			break;
		str_store(&pv->identity, 0u);
		host_fence_heavy();
		nap_for(BEGIN_NS);
		inside = any_inside();
		if (inside)
			str_store(&pv->identity, known);
	} while (inside && host_now() < until);
	/* no slot for this thread: it cannot free others */
	inside = inside || (known != 0 && host_tls.slot == NULL);
	if (!inside) {
		slots_take(known != 0);
		str_store(&pv->identity, known);
	}
	host_plock_unlock(&pv->attach);
	return inside ? EAGAIN : 0;
}

/* ----------------------------------------------------------------- exec */

void
host_exec_begin(void)
{
	if (host_domain == NULL || !host_known())
		return;
	host_timer_hold();
	host_spare_close();
	(void)str_or(&host_domain->proc[host_priv_page->proc].flags,
		STR_PROC_EXEC);
	host_daemon_tell(HOST_ASK_EXEC);
}

void
host_exec_failed(void)
{
	host_timer_release();
	if (host_domain != NULL && host_known())
		(void)str_and(&host_domain->proc[host_priv_page->proc].flags,
			~STR_PROC_EXEC);
}
