/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The simulated host: the functions of host.h except those for carriers.
 *
 * host_identity stays zero here.  On a real host that means "a new process,
 * attach it"; here it makes every host_enter() take the slow path, in which
 * another task may run before the call.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "sim_impl.h"

static volatile uint32_t identity;

STR_TLS struct host_tls host_tls;
struct str_domain *host_domain;
volatile uint32_t *host_identity = &identity;
uint64_t host_ticks_per_ms = 1000000;

/* --------------------------------------------------------------- signals */

/*
 * Run the deferred handlers: a handler runs whenever it does not interrupt a
 * call.
 */
static void
handle(struct sim_task *t, struct host_tls *tls)
{
	if (t->pending == 0)
		return;
	tls->sig_seq += t->pending;
	/* the number of the latest one that does not restart */
	if (t->pending_norestart != 0)
		tls->sig_norestart = tls->sig_seq;
	t->pending = t->pending_norestart = 0;
	tls->sig_saved = 0;
}

static struct host_tls *
tls_of(struct sim_task *t)
{
	return t == sim.cur ? &host_tls : &t->tls;
}

void
sim_signal(struct sim_task *t, bool restart)
{
	struct host_tls *tls = tls_of(t);

	if (sim_has_ended(t))
		return;
	t->pending++;
	if (!restart)
		t->pending_norestart++;
	tls->sig_saved = 1;
	if ((t->state == TASK_WORD || t->state == TASK_CARRIER) &&
	    t->interruptible) {
		handle(t, tls);
		/* as host/user does, so that no handler comes too late */
		if (t->state == TASK_WORD)
			(void)str_add(t->word, 1u);
		sim_ready(t, EINTR);
	} else if (tls->depth == 0) {
		handle(t, tls);
	}
}

/* May the wait begin?  Handlers that ran since the call began end it. */
static bool
interrupted(struct host_call *hc)
{
	if (hc == NULL)
		return false;
	handle(sim.cur, &host_tls);
	return host_tls.sig_seq != hc->sig_seq;
}

int
host_interrupted(struct host_call *hc)
{
	if (host_tls.sig_seq == hc->sig_seq)
		return HOST_SIG_NONE;
	return (int32_t)(host_tls.sig_norestart - hc->sig_seq) > 0 ?
		HOST_SIG_INTR : HOST_SIG_RESTART;
}

void
host_resample(struct host_call *hc)
{
	hc->sig_seq = host_tls.sig_seq;
}

int
host_signal_post(uint32_t pid, int sig, const struct host_siginfo *si)
{
	struct sim_task *t;

	(void)si;
	if (pid < 1000 || pid >= 1000 + SIM_NTASK || sig < 0 || sig > 64)
		return ESRCH;
	t = &sim.task[pid - 1000];
	if (t->state == TASK_NONE || sim_has_ended(t))
		return ESRCH;
	if (sig == 0)
		return 0;
	t->got[sig]++;
	sim_signal(t, true);
	return 0;
}

void
host_signal_self(int sig)
{
	sim.cur->got[sig]++;
}

unsigned
sim_signals_of(const struct sim_task *t, int sig)
{
	return t->got[sig];
}

/* ----------------------------------------------------------------- calls */

int
host_enter_slow(struct host_call *hc)
{
	(void)hc;
	if (host_tls.slot == NULL)
		return ENOSR;
	sim_point();
	return 0;
}

void
host_leave_slow(void)
{
	handle(sim.cur, &host_tls);
	sim_point();
}

uint32_t
host_cpu(void)
{
	sim_point();
	return sim.above != NULL ? 0 : sim.cur->cpu;
}

/* ----------------------------------------------------------------- clock */

uint64_t
host_now(void)
{
	sim_point();
	return sim.now;
}

uint64_t
host_random(void)
{
	return (uint64_t)sim_rand(UINT32_MAX) << 32 | sim_rand(UINT32_MAX);
}

/* A day in the year 2026, plus the time since sim_init(). */
uint64_t
host_wall(void)
{
	return 1790000000u + host_now() / 1000000000u;
}

uint64_t
host_ticks(void)
{
	sim_point();
	return sim.now;
}

void
host_fence_heavy(void)
{
	str_fence_full();
	sim_point();
}

/* --------------------------------------------------------- wait and wake */

int
host_wait(struct host_call *hc, str_a32 *word, uint32_t val, uint64_t ns)
{
	struct sim_task *t = sim.cur;

	sim_point();
	if (interrupted(hc))
		return EINTR;
	if (str_load(word) != val)
		return 0;
	if (sim.spurious != 0 && sim_rand(sim.spurious) == 0)
		return 0;
	if (ns == 0)
		return ETIMEDOUT;
	if (t->hears && t->bell)
		return 0;
	sim.stats.sleeps++;
	t->word = word;
	t->val = val;
	t->deadline = ns >= SIM_NEVER - sim.now ? SIM_NEVER : sim.now + ns;
	t->interruptible = hc != NULL;
	t->order = sim.stats.sleeps;
	t->state = TASK_WORD;
	sim_resched();
	return t->result;
}

void
sim_notices(unsigned n)
{
	sim.notices = n;
}

bool
host_notice_begin(struct host_notice *ret, str_a32 *word)
{
	(void)word;
	sim_point();
	if (sim_rand(4) >= sim.notices)
		return false;
	ret->look = ret->life = 0;
	sim.cur->bell = false;
	return true;
}

int
host_wait_notice(struct host_call *hc, str_a32 *word, uint32_t val,
	const struct host_notice *n, uint64_t ns)
{
	struct sim_task *t = sim.cur;
	bool rung;
	int err;

	(void)n;
	sim_point();
	t->hears = true;
	err = host_wait(hc, word, val, ns);
	rung = t->bell;
	t->hears = t->bell = false;
	return rung && err == 0 ? EAGAIN : err;
}

int
host_wake(str_a32 *word, int n)
{
	int woken;

	sim.stats.wakes++;
	for (woken = 0; woken < n; woken++) {
		struct sim_task *t, *longest = NULL;

		for (t = sim.task; t < sim.task + SIM_NTASK; t++)
			if (t->state == TASK_WORD && t->word == word &&
			    (longest == NULL || t->order < longest->order))
				longest = t;
		if (longest == NULL)
			break;
		sim_ready(longest, 0);
	}
	if (sim.above != NULL && sim.above->state == TASK_READY &&
	    sim.above != sim.cur)
		sim_resched();
	sim_point();
	return woken;
}

int
host_wait_carrier(struct host_call *hc, uint64_t ns, uint32_t *ret_events)
{
	struct sim_task *t = sim.cur;
	uint32_t ev;

	sim_point();
	if (interrupted(hc))
		return EINTR;
	ev = sim_carrier_events(t, hc->fd);
	if (ev == 0) {
		if (ns == 0)
			return ETIMEDOUT;
		sim.stats.sleeps++;
		t->fd = hc->fd;
		t->deadline = ns >= SIM_NEVER - sim.now ? SIM_NEVER :
			sim.now + ns;
		t->interruptible = true;
		t->state = TASK_CARRIER;
		sim_resched();
		if (t->result != 0)
			return t->result;
		ev = sim_carrier_events(t, hc->fd);
	}
	t->bell = false;
	*ret_events = ev;
	return 0;
}

void
host_wait_prepare(void)
{
}

void
host_yield(void)
{
	sim.stats.yields++;
	sim.now += 1000;
	sim_resched();
}

bool
host_give_way(void)
{
	if (sim.no_way)
		return false;
	host_yield();
	return true;
}

void
sim_no_way(bool on)
{
	sim.no_way = on;
}

void
host_way_used(void)
{
}

bool
host_owner_dead(uint32_t tag)
{
	uint32_t idx = STR_TAG_IDX(tag);

	sim.stats.asks++;
	sim_point();
	if (idx >= SIM_NTASK || tag == 0)
		return true;
	return str_load(&host_domain->thread[idx].tag) != tag ||
		sim.task[idx].state == TASK_NONE ||
		sim_has_ended(&sim.task[idx]);
}

bool
host_owner_stopped(uint32_t tag)
{
	uint32_t idx = STR_TAG_IDX(tag);

	return idx < SIM_NTASK && sim.task[idx].stopped;
}

bool
host_reap_dead(uint32_t tag)
{
	uint32_t idx = STR_TAG_IDX(tag);

	sim_point();
	if (idx >= SIM_NTASK || tag == 0 ||
	    str_load(&host_domain->thread[idx].tag) != tag ||
	    !sim_has_ended(&sim.task[idx]))
		return false;
	return sim_reap(&sim.task[idx]);
}

/* ---------------------------------------------------------------- memory */

static bool
refuse(void)
{
	if (sim.fail_rate != 0 && sim_rand(sim.fail_rate) == 0)
		return true;
	if (sim.fail_nth == 0 || --sim.fail_nth != 0)
		return false;
	if (sim.fail_forever)
		sim.fail_nth = 1;
	return true;
}

int
host_commit(uint64_t off, uint64_t len)
{
	struct str_domain *d = host_domain;

	if (off + len <= STR_HDR_SIZE)
		return 0; /* backed from the beginning */
	sim_point();
	sim.stats.commits++;
	if (off > d->cap || len > d->cap - off || refuse()) {
		sim.stats.refused++;
		return ENOSR;
	}
	/* other memory cannot be accessed: see domain_map() */
	if (mprotect((char *)d + off, len, PROT_READ | PROT_WRITE) != 0) {
		sim.stats.refused++;
		return ENOSR;
	}
	if (off + len > str_load(&d->committed))
		str_store(&d->committed, off + len);
	return 0;
}

void
sim_fail_commit(unsigned nth, bool forever)
{
	sim.fail_nth = nth;
	sim.fail_forever = forever;
}

void
sim_fail_rate(unsigned one_in)
{
	sim.fail_rate = one_in;
}

void
sim_bad(const void *p, size_t len)
{
	sim.bad = p;
	sim.bad_len = len;
}

void
sim_only(const void *p, size_t len)
{
	sim.only = p;
	sim.only_len = len;
}

/* Bytes of [uaddr, uaddr+len) before the first that is not mapped. */
static size_t
good(const void *uaddr, size_t len)
{
	uintptr_t a = (uintptr_t)uaddr, b = (uintptr_t)sim.bad;

	if (a < 4096 || a + len < a)
		return 0;
	if (sim.only_len != 0) {
		uintptr_t lo = (uintptr_t)sim.only, hi = lo + sim.only_len;
		uintptr_t d = (uintptr_t)host_domain;

		/* the executive also copies within the domain */
		if (a >= d && a - d < host_domain->committed)
			return STR_MIN(len, host_domain->committed - (a - d));
		if (a < lo || a >= hi)
			return 0;
		len = STR_MIN(len, hi - a);
	}
	if (sim.bad_len == 0 || a >= b + sim.bad_len || a + len <= b)
		return len;
	return a >= b ? 0 : b - a;
}

int
host_copyin(const void *uaddr, void *addr, size_t len)
{
	size_t n = len == 0 ? 0 : good(uaddr, len);

	sim_point();
	if (n != 0)
		memcpy(addr, uaddr, n);
	return n == len ? 0 : EFAULT;
}

int
host_copyout(const void *addr, void *uaddr, size_t len)
{
	size_t n = len == 0 ? 0 : good(uaddr, len);

	sim_point();
	if (n != 0)
		memcpy(uaddr, addr, n);
	return n == len ? 0 : EFAULT;
}

int
host_copyinstr(const void *uaddr, char *addr, size_t max)
{
	const char *u = uaddr;
	size_t i;

	sim_point();
	for (i = 0; i < max; i++) {
		if (good(u + i, 1) == 0)
			return EFAULT;
		addr[i] = u[i];
		if (u[i] == '\0')
			return 0;
	}
	return ENAMETOOLONG;
}

/* ----------------------------------------------------------------- other */

void *
host_code(unsigned slot, void (*fn)(void))
{
	(void)slot;
	return (void *)(uintptr_t)fn;
}

void
host_job(uint32_t pid, struct host_job *ret_job)
{
	ret_job->pgrp = ret_job->sid = 1000;
	ret_job->other = pid != 0 ? 1000 : 0;
}

int
host_job_stop(int sig)
{
	(void)sig;
	return EIO; /* no shell would continue the tasks */
}

void
host_cred(struct host_cred *ret_cred)
{
	ret_cred->uid = ret_cred->ruid = 1000;
	ret_cred->gid = ret_cred->rgid = 1000;
	ret_cred->pid = 1000 + sim_index(sim.cur);
}

void
host_panic(const char *what, const char *file, int line)
{
	fprintf(stderr, "sim: %s:%d: %s\n", file, line, what);
	sim_report("panic");
	abort();
}

void
host_log(int level, const char *text)
{
	if (level == 0)
		fputs(text, stderr); /* CE_CONT: a part of a line */
	else
		fprintf(stderr, "sim: <%d> %s\n", level, text);
}

void
host_crash_point(const char *label)
{
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(sim.crash); i++) {
		if (sim.crash[i].label == NULL)
			sim.crash[i].label = label;
		if (strcmp(sim.crash[i].label, label) == 0) {
			sim.crash[i].count++;
			break;
		}
	}
	if (sim.crash_label != NULL && strcmp(sim.crash_label, label) == 0 &&
	    sim_index(sim.cur) != 0 && !sim.cur->daemon &&
	    --sim.crash_nth == 0) {
		sim.crash_label = NULL;
		sim.crashed = label;
		sim_kill(sim.cur);
	}
	sim_point();
}

void
sim_crash_at(const char *label, unsigned nth)
{
	sim.crash_label = label;
	sim.crash_nth = nth;
}

unsigned
sim_crash_count(const char *label)
{
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(sim.crash); i++)
		if (sim.crash[i].label != NULL &&
		    strcmp(sim.crash[i].label, label) == 0)
			return sim.crash[i].count;
	return 0;
}

void
sim_crash_labels(void (*fn)(const char *label, void *arg), void *arg)
{
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(sim.crash); i++)
		if (sim.crash[i].label != NULL)
			fn(sim.crash[i].label, arg);
}
