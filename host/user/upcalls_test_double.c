/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "upcalls_test_double.h"

#include <stdlib.h>
#include <string.h>

#include <t.h>

/* streamsd is the executive's, which these tests have not. */
T_CONSTRUCTOR static void
no_streamsd(void)
{
	(void)setenv("STREAMS_DAEMON", "/nonexistent/streamsd", 0);
}

int
str_region_init(struct str_domain *d)
{
	str_store(&d->next_granule, STR_HDR_SIZE >> STR_SLAB_SHIFT);
	(void)str_add(&d->core[UP_INIT], 1u);
	return 0;
}

int
str_region_attach(struct str_domain *d)
{
	(void)str_add(&d->core[UP_ATTACH], 1u);
	return 0;
}

bool
str_thread_reap(struct str_domain *d, struct str_thread *t, bool all)
{
	uint32_t idx = (uint32_t)(t - d->thread);

	while (str_load(&d->core[UP_LOCK]) != 0)
		t_pause();
	if (!all)
		return false;
	(void)str_add(&d->core[UP_REAP], 1u);
	/* the dead thread's name stands in its slot until it is free */
	T_EQ(STR_TAG_IDX(str_load(&t->tag)), idx);
	str_store(&d->core[UP_REAPED_TAG], str_load(&t->tag));
	return true;
}

unsigned
str_region_sweep(void)
{
	return 0;
}

bool
str_region_many(void)
{
	return false;
}

void
str_sweep_ask(struct str_sweep *s, bool pairs)
{
	s->asked = true;
	s->pairs_asked = pairs;
}

/* A walk is the time that it takes. */
bool
str_sweep_some(struct str_sweep *s, uint64_t ns)
{
	static uint64_t end;

	(void)ns;
	if (s->stage == 0 || (s->asked && host_now() >= end)) {
		if (s->asked)
			(void)str_add(&host_domain->core[UP_DIED], 1u);
		(void)str_add(&host_domain->core[UP_BEGUN], 1u);
		s->asked = false;
		end = host_now() + str_load(&host_domain->core[UP_SWEEP_NS]);
	}
	s->stage = s->asked || host_now() < end;
	if (s->stage != 0)
		t_pause();
	else
		(void)str_add(&host_domain->core[UP_SWEPT], 1u);
	return s->stage != 0;
}

bool
str_region_drain(void)
{
	return false;
}

/* Nothing is attached to any file. */
bool
str_name_entry(unsigned i, uint64_t *dev, uint64_t *ino, uint64_t *sid,
	char *path, size_t size)
{
	(void)i, (void)dev, (void)ino, (void)sid, (void)path, (void)size;
	return false;
}

int
str_name_detach(struct host_call *hc, uint64_t dev, uint64_t ino,
	uint64_t born)
{
	(void)hc, (void)dev, (void)ino, (void)born;
	return ENOENT;
}

unsigned
str_notice_give(void)
{
	(void)str_add(&host_domain->core[UP_NOTICES], 1u);
	return (unsigned)str_load(&host_domain->core[UP_SLEEPERS]);
}

bool
str_region_wanted(void)
{
	return str_load(&host_domain->core[UP_WANTED]) != 0;
}

bool
str_region_carriers(const struct host_file *df,
	bool (*fn)(const struct host_carrier *c))
{
	uint64_t core[64];
	struct host_carrier c = { 0 };

	if (!df->read(df, offsetof(struct str_domain, core), core,
		    sizeof core))
		return false;
	c.cookie = core[UP_COOKIE];
	c.ino = core[UP_INO];
	return c.cookie != 0 && fn(&c);
}

/* Sockets: what UP_SOCK says lives, and those of UP_SOCKS. */
bool
str_sock_live(uint64_t id)
{
	if (id - UP_SOCKS_FIRST < str_load(&host_domain->core[UP_SOCKS]))
		return true;
	return id != 0 && str_load(&host_domain->core[UP_SOCK]) == id;
}

/* No socket is a box. */
bool
str_box_carrier(uint64_t id, struct host_carrier *ret)
{
	(void)id, (void)ret;
	return false;
}

str_a32 *
str_sock_word(uint64_t id)
{
	return (str_a32 *)(void *)&host_domain->core[UP_SOCKWORD];
}

bool
str_sock_any(void)
{
	return str_load(&host_domain->core[UP_SOCK]) != 0;
}

unsigned
str_sock_gather(void)
{
	return 0;
}

bool
str_sock_serve(void)
{
	return false;
}

uint64_t
str_timer_run(uint64_t now)
{
	uint64_t next = str_load(&host_domain->core[UP_NEXT]);

	if (next <= now && str_cas(&host_domain->core[UP_NEXT], next,
			UINT64_MAX))
		(void)str_add(&host_domain->core[UP_TIMER], 1u);
	return str_load(&host_domain->core[UP_NEXT]);
}

uint64_t
str_timer_next(void)
{
	return str_load(&host_domain->core[UP_NEXT]);
}

void *
str_region_alloc(size_t size)
{
	(void)str_add(&host_domain->core[UP_REGION], 1u);
	return up_alloc(size);
}

void
str_region_keep(void *p)
{
	(void)str_sub(&host_domain->core[UP_REGION], 1u);
}

void
str_region_free(void *p)
{
}

/* A DDI of one function, which modules can call. */
static int
up_add(int a, int b)
{
	return a + b;
}

void
str_ddi_attach(void)
{
	(void)host_code(1024, (void (*)(void))up_add);
}

uint64_t
str_ddi_find(const char *name)
{
	if (strcmp(name, "up_add") != 0)
		return 0;
	return (uint64_t)(uintptr_t)host_code(1024, (void (*)(void))up_add);
}

/* UP_DDI: another build of the library, for a process that is exec'ed. */
uint64_t
str_ddi_hash(void)
{
	return getenv("UP_DDI") != NULL ? 2 : 1;
}

void *
up_alloc(size_t size)
{
	uint64_t n = STR_ROUNDUP(size, (uint64_t)STR_SLAB_SIZE) /
		STR_SLAB_SIZE;
	uint64_t idx = str_add(&host_domain->next_granule, n);

	T_EQ(host_commit(idx << STR_SLAB_SHIFT, n << STR_SLAB_SHIFT), 0);
	return (char *)host_domain + (idx << STR_SLAB_SHIFT);
}

void
up_enter(struct host_call *hc)
{
	int err = host_enter(hc);

	if (err != 0)
		T_FAIL("%s: %s", t_errno_name(err), host_attach_error());
}

/* streamsd's: there are no streams here. */
void wires_look(void);

void
wires_look(void)
{
}
