/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The first step of a new host: one process, one thread, and what the
 * executive needs for memory, messages, locks and callbacks.
 *
 * Objects.  The domain is a mapping of the process.  The thread has slot 0.
 *
 * Life.  first_init() makes the domain as a creator must: header, slot, then
 * str_region_init() and str_region_attach(), then `magic'.
 *
 * Failure.  later.c names each function that is not here.  A call of one ends
 * the program with its name, so the next test says what to write next.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <str/host.h>

#include "first.h"

#define BASE 0x6a0000000000ull

static volatile uint32_t identity = 1;

STR_TLS struct host_tls host_tls;
struct str_domain *host_domain;
volatile uint32_t *host_identity = &identity;
uint64_t host_ticks_per_ms = 1000000;

/* ------------------------------------------------------------------- domain */

static void
slot_take(struct str_domain *d)
{
	struct str_thread *s = &d->thread[0];

	str_store(&s->gen, 1u);
	str_store(&s->state, STR_THR_RUN);
	str_store(&d->proc[0].gen, 1u);
	str_store(&d->proc[0].pid, (uint32_t)getpid());
	str_store(&d->thread_high, 1u);
	str_store(&d->proc_high, 1u);
	str_store(&s->tag, STR_TAG(0, 1u));
	host_tls.slot = s;
	host_tls.tag = STR_TAG(0, 1u);
}

int
first_init(size_t cap)
{
	struct str_domain *d = mmap((void *)(uintptr_t)BASE, cap, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
		MAP_FIXED_NOREPLACE, -1, 0);
	int err;

	if (d == MAP_FAILED)
		return errno;
	if (mprotect(d, STR_HDR_SIZE, PROT_READ | PROT_WRITE) != 0)
		return errno;
	d->abi = STR_ABI;
	d->hdr_size = sizeof(*d);
	d->base = (uint64_t)(uintptr_t)d;
	d->cap = d->room = cap;
	d->uid = getuid();
	str_store(&d->asym, 0u); /* every light fence is a full one: step 5 */
	str_store(&d->committed, STR_HDR_SIZE);
	host_domain = d;
	slot_take(d);
	err = str_region_init(d);
	if (err == 0)
		err = str_region_attach(d);
	if (err == 0)
		d->magic = STR_MAGIC;
	return err;
}

void
first_fini(void)
{
	(void)munmap(host_domain, host_domain->cap);
	host_domain = NULL;
	memset(&host_tls, 0, sizeof(host_tls));
}

/* -------------------------------------------------------------------- calls */

int
host_enter_slow(struct host_call *hc)
{
	(void)hc;
	return ENOSR; /* this thread has its slot, or there is no domain */
}

void
host_leave_slow(void)
{
	host_tls.sig_saved = 0;
}

uint32_t
host_cpu(void)
{
	return ~0u;
}

/* -------------------------------------------------------------------- clock */

uint64_t
host_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t
host_ticks(void)
{
	return host_now();
}

uint64_t
host_wall(void)
{
	return (uint64_t)time(NULL);
}

/* Only a domain with wires needs numbers that others cannot predict. */
uint64_t
host_random(void)
{
	static uint64_t n;

	return (n += host_now()) * 0x9e3779b97f4a7c15u;
}

void
host_fence_heavy(void)
{
	str_fence_full();
}

/* ----------------------------------------------------------- wait and wake */

/* No other thread can change the word: only the time can end the wait. */
int
host_wait(struct host_call *hc, str_a32 *word, uint32_t val, uint64_t ns)
{
	uint64_t end = host_now() + ns;

	(void)hc;
	while (str_load(word) == val)
		if (host_now() >= end)
			return ETIMEDOUT;
	return 0;
}

/* No daemon tells of deaths: sleepers wait for their carriers. */
bool
host_notice_begin(struct host_notice *ret, str_a32 *word)
{
	(void)ret, (void)word;
	return false;
}

int
host_wake(str_a32 *word, int n)
{
	(void)word, (void)n;
	return 0;
}

void
host_yield(void)
{
}

bool
host_give_way(void)
{
	host_yield();
	return true;
}

void
host_way_used(void)
{
}

int
host_interrupted(struct host_call *hc)
{
	(void)hc;
	return HOST_SIG_NONE;
}

void
host_resample(struct host_call *hc)
{
	(void)hc;
}

/* The only thread is the one that asks. */
bool
host_owner_dead(uint32_t tag)
{
	return tag != host_tls.tag;
}

bool
host_owner_stopped(uint32_t tag)
{
	(void)tag;
	return false;
}

bool
host_reap_dead(uint32_t tag)
{
	(void)tag;
	return false;
}

/* ------------------------------------------------------------------- memory */

int
host_commit(uint64_t off, uint64_t len)
{
	struct str_domain *d = host_domain;

	if (off > d->cap || len > d->cap - off ||
		mprotect((char *)d + off, len, PROT_READ | PROT_WRITE) != 0)
		return ENOSR;
	if (off + len > str_load(&d->committed))
		str_store(&d->committed, off + len);
	return 0;
}

/* --------------------------------------------------------- code and the rest */

void *
host_code(unsigned slot, void (*fn)(void))
{
	(void)slot;
	return (void *)(uintptr_t)fn; /* one process: it means itself */
}

bool
host_code_shared(const void *fn)
{
	(void)fn;
	return true;
}

int
host_daemon(void)
{
	return 0;
}

void
host_defer(uint64_t now, uint64_t when)
{
	(void)now, (void)when; /* the only thread calls str_timer_run() when it is due */
}

void
host_log(int level, const char *text)
{
	if (level == 0) /* CE_CONT: a part of a line */
		(void)fputs(text, stderr);
	else
		(void)fprintf(stderr, "<%d> %s\n", level, text);
}

void
host_panic(const char *what, const char *file, int line)
{
	(void)fprintf(stderr, "%s:%d: %s\n", file, line, what);
	abort();
}

void
first_later(const char *name)
{
	host_panic(name, "later.c", 0);
}
