/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Foreign modules of the simulated host: linked into the test program, which
 * lists them by sim_modules().  The sources are the same as for the other
 * hosts; here they call the executive directly, and their data belongs to this
 * process.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "sim_impl.h"

enum { NEVER, NEW, READY, DEAD };

static const struct sim_module *modules;
static struct {
	int state;
	str_a32 word;
} image[SIM_NMODULE];

static uint32_t
count(void)
{
	uint32_t n = 0;

	while (modules != NULL && n < SIM_NMODULE && modules[n].name != NULL)
		n++;
	return n;
}

void
sim_modules(const struct sim_module *list)
{
	modules = list;
	memset((void *)(uintptr_t)image, 0, sizeof image);
}

int
host_module_load(struct host_call *hc, const char *name, uint32_t *ret_image,
	bool *ret_new)
{
	(void)hc;
	sim_point();
	for (uint32_t i = 0; i < count(); i++) {
		if (strcmp(modules[i].name, name) != 0)
			continue;
		if (image[i].state == DEAD)
			return ENOEXEC;
		*ret_new = image[i].state == NEVER;
		if (*ret_new)
			image[i].state = NEW;
		*ret_image = i + 1;
		return 0;
	}
	return ENOENT;
}

void
host_module_done(uint32_t n, bool good)
{
	image[n - 1].state = good ? READY : DEAD;
}

int
host_module_map(uint32_t n)
{
	return n >= 1 && n <= count() ? 0 : EPROTO;
}

void *
host_module_symbol(uint32_t n, const char *name)
{
	const struct sim_symbol *s;

	if (host_module_map(n) != 0)
		return NULL;
	for (s = modules[n - 1].symbol; s->name != NULL; s++)
		if (strcmp(s->name, name) == 0)
			return s->addr;
	return NULL;
}

/*
 * It is unknown which functions it calls: assume that it calls those that it
 * has.
 */
bool
host_module_calls(uint32_t n, const char *name)
{
	(void)name;
	return host_module_map(n) == 0;
}

str_a32 *
host_module_word(uint32_t n)
{
	return &image[n - 1].word;
}

/*
 * The module with the streamtab @p.  A module that registers itself lists its
 * streamtab too.
 */
uint32_t
host_module_of(const void *p)
{
	for (uint32_t i = 0; i < count(); i++)
		for (const struct sim_symbol *s = modules[i].symbol;
			s->name != NULL; s++)
			if (s->addr == p)
				return i + 1;
	return 0;
}

void
host_module_log(const char *name, const char *text)
{
	fprintf(stderr, "sim: module %s: %s\n", name, text);
}

/* There is one process. */
bool
host_code_shared(const void *fn)
{
	return fn != NULL;
}
