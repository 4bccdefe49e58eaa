/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * scls - shows the module_info of modules and drivers, and how often their
 * procedures were called, through the sc module on a pipe.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#include <sys/sc.h>

#include "lib/tool.h"

static struct tool tool = {
	.name = "scls",
	.synopsis = "[-l | -c | -b] [-a] [-r] [MODULE ...]\n--json [-r] "
		    "[MODULE ...]",
	.purpose = "List STREAMS modules and drivers, their parameters and "
		   "counts of calls.",
	.help =
	"  -l, --long              show their parameters\n"
	"  -c, --count             show how often their procedures were called\n"
	"  -b, --both              show both\n"
	"  -a, --all               also show the lower queues of multiplexors\n"
	"  -r, --reset             set the counts to 0 after reading them\n"
	"      --json              print everything as JSON\n",
	.options = "lcbar",
};

static const struct option longs[] = {
	{ "long", no_argument, NULL, 'l' },
	{ "count", no_argument, NULL, 'c' },
	{ "both", no_argument, NULL, 'b' },
	{ "all", no_argument, NULL, 'a' },
	{ "reset", no_argument, NULL, 'r' },
	{ "json", no_argument, NULL, TOOL_OPT_JSON },
	{ NULL, 0, NULL, 0 },
};

static const char *const side[4] = { "read", "write", "lower read",
	"lower write" };
static const char *const key[4] = { "read", "write", "lower_read",
	"lower_write" };

/* All entries; *ret_n: their number. */
static struct sc_mlist *
get(bool reset, int *ret_n)
{
	unsigned long cmd = reset ? SC_IOC_RESET : SC_IOC_LIST;
	struct sc_mlist *v = NULL;
	struct sc_list list;
	int fd[2], n, room;

	if (pipe(fd) != 0 || ioctl(fd[0], I_PUSH, "sc") != 0)
		tool_die(&tool, "cannot push the sc module on a pipe");
	n = ioctl(fd[0], SC_IOC_LIST, NULL);
	if (n < 0)
		tool_die(&tool, "SC_IOC_LIST");
	room = n + 8;
	v = calloc((size_t)room, sizeof(*v));
	if (v == NULL)
		tool_die(&tool, "%d modules", n);
	list.sc_nmods = room;
	list.sc_mlist = v;
	n = ioctl(fd[0], cmd, &list);
	if (n < 0)
		tool_die(&tool, "%s", reset ? "SC_IOC_RESET" : "SC_IOC_LIST");
	(void)close(fd[0]);
	(void)close(fd[1]);
	*ret_n = n < room ? n : room;
	return v;
}

static bool
wanted(const struct sc_mlist *m, char **names)
{
	if (names[0] == NULL)
		return true;
	for (; *names != NULL; names++)
		if (strcmp(*names, m->name) == 0)
			return true;
	return false;
}

static void
size_text(char *buf, size_t size, long v)
{
	if (v == -1)
		snprintf(buf, size, "INFPSZ");
	else
		snprintf(buf, size, "%ld", v);
}

static void
show(const struct sc_mlist *m, bool info, bool count, bool all)
{
	char lo[24], hi[24];

	for (int k = 0; k < (all ? 4 : 2); k++) {
		const struct sc_module_info *mi = &m->mi[k];
		const struct sc_module_stat *ms = &m->ms[k];

		if (k == 0)
			printf("%-8.8s %s", m->name,
				m->major != 0 ? "driver" : "module");
		if (k == 0 && m->major != 0)
			printf(" %ld", m->major);
		if (k == 0)
			putchar('\n');
		if (mi->index != 0 && info) {
			size_text(lo, sizeof(lo), (long)mi->mi_minpsz);
			size_text(hi, sizeof(hi), (long)mi->mi_maxpsz);
			printf("  %-11s id %u (%.8s), packets %s to %s, "
			       "marks %zu %zu\n", side[k], mi->mi_idnum,
				mi->mi_idname, lo, hi, mi->mi_hiwat,
				mi->mi_lowat);
		}
		if (ms->index != 0 && count)
			printf("  %-11s put %ld, service %ld, open %ld, close "
			       "%ld, admin %ld\n", side[k], ms->ms_pcnt,
				ms->ms_scnt, ms->ms_ocnt, ms->ms_ccnt,
				ms->ms_acnt);
	}
}

static void
show_json(struct json *j, const struct sc_mlist *m)
{
	json_begin(j, NULL, '{');
	json_str(j, "name", m->name);
	if (m->major != 0)
		json_int(j, "major", m->major);
	for (int k = 0; k < 4; k++) {
		const struct sc_module_info *mi = &m->mi[k];
		const struct sc_module_stat *ms = &m->ms[k];

		if (mi->index == 0 && ms->index == 0)
			continue;
		json_begin(j, key[k], '{');
		if (mi->index != 0) {
			json_uint(j, "idnum", mi->mi_idnum);
			json_str(j, "idname", mi->mi_idname);
			json_int(j, "minpsz", mi->mi_minpsz);
			json_int(j, "maxpsz", mi->mi_maxpsz);
			json_uint(j, "hiwat", mi->mi_hiwat);
			json_uint(j, "lowat", mi->mi_lowat);
		}
		if (ms->index != 0) {
			json_int(j, "put", ms->ms_pcnt);
			json_int(j, "service", ms->ms_scnt);
			json_int(j, "open", ms->ms_ocnt);
			json_int(j, "close", ms->ms_ccnt);
			json_int(j, "admin", ms->ms_acnt);
		}
		json_end(j, '}');
	}
	json_end(j, '}');
}

int
main(int argc, char **argv)
{
	bool info = false, count = false, all = false, reset = false;
	bool as_json = false;
	struct json j = { .f = stdout };
	struct sc_mlist *v;
	int c, n, found = 0;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		switch (c) {
		case 'l':
			info = true;
			break;
		case 'c':
			count = true;
			break;
		case 'b':
			info = count = true;
			break;
		case 'a':
			all = true;
			break;
		case 'r':
			reset = true;
			break;
		case TOOL_OPT_JSON:
			as_json = true;
			break;
		}
	}
	argv += optind;
	v = get(reset, &n);
	if (as_json)
		json_begin(&j, NULL, '[');
	for (int i = 0; i < n; i++) {
		if (!wanted(&v[i], argv))
			continue;
		found++;
		if (as_json)
			show_json(&j, &v[i]);
		else
			show(&v[i], info, count, all);
	}
	if (as_json)
		json_end(&j, ']');
	free(v);
	if (found == 0 && argv[0] != NULL) {
		tool_warn(&tool, "there is no such module or driver: %s", argv[0]);
		return tool_done(&tool, TOOL_FAILED);
	}
	return tool_done(&tool, TOOL_OK);
}
