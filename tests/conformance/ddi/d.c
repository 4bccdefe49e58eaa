/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Helpers of the DDI suite that are the same on both hosts.
 */
#include <unistd.h>
#include "d.h"

void *
d_shared(size_t size)
{
	void *p = kmem_zalloc(size, KM_NOSLEEP);

	T_NOTNULL(p);
	return p;
}

void
d_gone(void *p)
{
	kmem_free(p, 0);
}

struct d_vars *
d_vars(void)
{
	struct d_vars *s = d_shared(sizeof(*s));

	s->sv = SV_ALLOC(KM_SLEEP);
	s->lock = LOCK_ALLOC(1, plstr, NULL, KM_SLEEP);
	T_NOTNULL(s->sv);
	T_NOTNULL(s->lock);
	return s;
}

void
d_vars_gone(struct d_vars *s)
{
	SV_DEALLOC(s->sv);
	LOCK_DEALLOC(s->lock);
	d_gone(s);
}

void
d_vars_asleep(struct d_vars *s)
{
	(void)LOCK(s->lock, plstr);
	UNLOCK(s->lock, plbase);
}

struct start {
	void (*fn)(void *arg);
	void *arg;
};

static void
run_inside(void *arg)
{
	struct start *s = arg;
	struct host_call hc = {.fd = -1};
	void (*fn)(void *) = s->fn;
	void *a = s->arg;

	d_gone(s);
	T_EQ(host_enter(&hc), 0);
	host_tls.call = &hc;
	fn(a);
	host_tls.call = NULL;
	host_leave();
}

struct sim_task *
d_spawn(const char *name, void (*fn)(void *arg), void *arg)
{
	struct start *s = d_shared(sizeof(*s));

	s->fn = fn;
	s->arg = arg;
	return sim_spawn(name, run_inside, s);
}

#define LAST_SLOT 255u /* of those for built-in procedures; not used by them */

void (*d_called(void (*fn)(void)))(void)
{
	static void (*known[8])(void);
	unsigned i = 0;

	while (known[i] != NULL && known[i] != fn)
		T_LT(++i, STR_ARRAY_LEN(known));
	known[i] = fn;
	return (void (*)(void))(uintptr_t)host_code(LAST_SLOT - i, fn);
}

const char *
d_said(void (*say)(void))
{
	static char buf[1024];
	FILE *f = tmpfile();
	int old = dup(2);
	size_t n;

	T_NOTNULL(f);
	dup2(fileno(f), 2);
	say();
	dup2(old, 2);
	close(old);
	rewind(f);
	n = fread(buf, 1, sizeof(buf) - 1, f);
	buf[n] = '\0';
	fclose(f);
	return buf;
}
