/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strinfo - shows the memory and the members of a domain.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/dump.h"

static struct tool tool = {
	.name = "strinfo",
	.synopsis = "[-mp] [--json]",
	.purpose = "Print a summary of a domain.",
	.help =
	"  -m, --modules           also list modules and drivers\n"
	"  -p, --processes         also list processes and their threads\n"
	"      --json              print everything as JSON\n",
	.options = "mp",
};

static const struct option longs[] = {
	{ "modules", no_argument, NULL, 'm' },
	{ "processes", no_argument, NULL, 'p' },
	{ "json", no_argument, NULL, TOOL_OPT_JSON },
	{ NULL, 0, NULL, 0 },
};

static void
show_domain(const struct snap *s)
{
	const struct str_i_domain *d = snap_domain(s);
	const struct str_i *i;
	unsigned n[STR_I_END + 1] = { 0 };

	SNAP_EACH (s, i)
		n[i->kind]++;
	printf("memory      %" PRIu64 " KiB used, %" PRIu64 " backed, %" PRIu64
	       " at most\n", d->used / 1024, d->committed / 1024,
		d->cap / 1024);
	printf("processes   %u, threads %u\n", n[STR_I_PROC],
		n[STR_I_THREAD]);
	printf("streams     %" PRIu64 ", of devices and FIFOs %" PRIu64
	       ", closed and still in use %" PRIu64 "\n", d->nstream, d->ndev,
		d->unburied);
	printf("registered  %u modules and drivers\n", n[STR_I_MODULE]);
	printf("wakes       %" PRIu64 ", tokens %" PRIu64 ", sleeps %" PRIu64
	       ", wakes elided %" PRIu64 "\n\n", d->wakes, d->tokens,
		d->sleeps, d->elided);
	printf("%-12s %10s\n", "BLOCKS", "IN USE");
	for (unsigned k = 1; k < STR_I_NBLK && snap_block_kind(k) != NULL; k++)
		printf("%-12s %10" PRIu64 "\n", snap_block_kind(k),
			d->blocks[k]);
	printf("%-12s %10" PRIu64 " bytes\n", "together", d->bytes);
}

static void
show_module(const struct str_i_module *m)
{
	static const char *const kind[] = { "-", "module", "driver",
		"module, driver" };

	printf("%-8.8s %-15s", m->name, kind[m->kind & 3]);
	if (m->kind & 2)
		printf(" major %u,", m->major);
	printf(" %u in streams%s\n", m->count, m->foreign ? ", loaded" : "");
}

static void
show_thread(const struct str_i_thread *t)
{
	printf("  thread %-8u %s", t->tid,
		t->dead ? "dead" : snap_thread_state(t->state));
	if (t->sid != 0)
		printf(" at %s end %u", dump_sid(t->sid), t->end);
	if (t->why != STR_I_WHY_NONE)
		printf(", waits for %s", snap_why(t->why));
	putchar('\n');
}

int
main(int argc, char **argv)
{
	bool modules = false, procs = false, as_json = false;
	struct json j = { .f = stdout };
	struct snap s = { 0 };
	const struct str_i *i;
	int c;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		switch (c) {
		case 'm':
			modules = true;
			break;
		case 'p':
			procs = true;
			break;
		case TOOL_OPT_JSON:
			as_json = true;
			break;
		}
	}
	if (optind != argc)
		tool_usage(&tool, "too many arguments");
	if (snap_take(&s, STR_I_WANT_PROCS | STR_I_WANT_MODULES |
			STR_I_WANT_MEMORY) != 0 || snap_domain(&s) == NULL)
		snap_die(&tool);
	if (as_json) {
		json_begin(&j, NULL, '{');
		dump_domain(&j, &s);
		dump_procs(&j, &s);
		dump_modules(&j, &s);
		json_end(&j, '}');
		snap_free(&s);
		return tool_done(&tool, TOOL_OK);
	}
	show_domain(&s);
	if (strm_why_stdio()[0] != '\0')
		tool_warn(&tool, "a FILE for a stream is not possible: %s", strm_why_stdio());
	if (strm_why_daemon()[0] != '\0')
		tool_warn(&tool, "streamsd cannot be started: %s", strm_why_daemon());
	if (procs)
		putchar('\n');
	SNAP_EACH (&s, i) {
		if (i->kind == STR_I_PROC && procs) {
			const struct str_i_proc *p = (const void *)i;

			printf("process %u%s\n", p->pid,
				p->exec ? ", in exec" : "");
		}
		if (i->kind == STR_I_THREAD && procs)
			show_thread((const void *)i);
	}
	if (modules)
		putchar('\n');
	SNAP_EACH (&s, i)
		if (i->kind == STR_I_MODULE && modules)
			show_module((const void *)i);
	snap_free(&s);
	return tool_done(&tool, TOOL_OK);
}
