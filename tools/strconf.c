/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strconf - shows the modules of the stream that is standard input.
 */
#include <string.h>
#include <unistd.h>

#include "lib/mods.h"

static struct tool tool = {
	.name = "strconf",
	.synopsis = "[-t | -m MODULE] [--json] [FILE]",
	.purpose = "List the modules of the stream on standard input, or of "
		   "FILE, topmost first.",
	.help =
	"  -t, --topmost           print only the topmost module\n"
	"  -m, --module=MODULE     print yes (exit status 0) or no (1)\n"
	"      --json              print the modules as JSON\n",
	.options = "tm:",
};

static const struct option longs[] = {
	{ "topmost", no_argument, NULL, 't' },
	{ "module", required_argument, NULL, 'm' },
	{ "json", no_argument, NULL, TOOL_OPT_JSON },
	{ NULL, 0, NULL, 0 },
};

static int
is_there(const struct mods *m, const char *name)
{
	for (int i = 0; i < m->n; i++) {
		if (strcmp(m->v[i].l_name, name) != 0)
			continue;
		if (!tool.quiet)
			printf("yes\n");
		return TOOL_OK;
	}
	if (!tool.quiet)
		printf("no\n");
	return TOOL_FAILED;
}

static void
show_json(const struct mods *m)
{
	struct json j = { .f = stdout };

	json_begin(&j, NULL, '{');
	json_begin(&j, "modules", '[');
	for (int i = 0; i < m->npush && i < m->n; i++)
		json_str(&j, NULL, m->v[i].l_name);
	json_end(&j, ']');
	if (m->n > m->npush)
		json_str(&j, "driver", m->v[m->n - 1].l_name);
	else
		json_null(&j, "driver");
	json_end(&j, '}');
}

int
main(int argc, char **argv)
{
	const char *module = NULL;
	bool topmost = false, as_json = false;
	struct mods m;
	int c, status = TOOL_OK;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		switch (c) {
		case 't':
			topmost = true;
			break;
		case 'm':
			module = optarg;
			break;
		case TOOL_OPT_JSON:
			as_json = true;
			break;
		}
	}
	if (topmost && module != NULL)
		tool_usage(&tool, "give -t or -m MODULE, not both");
	mods_input(&tool, argc, argv);
	mods_get(&tool, STDIN_FILENO, &m);
	if (module != NULL)
		status = is_there(&m, module);
	else if (as_json)
		show_json(&m);
	else if (topmost && m.npush == 0)
		status = TOOL_FAILED;
	else
		for (int i = 0; i < (topmost ? 1 : m.n); i++)
			printf("%s\n", m.v[i].l_name);
	mods_free(&m);
	return tool_done(&tool, status);
}
