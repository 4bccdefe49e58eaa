/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * str-strace - the STREAMS trace logger, SVR4's strace.  That name belongs to
 * another program on this system.
 */
#include <string.h>

#include <sys/strlog.h>

#include "lib/logger.h"

#define MAXIDS 256

static struct tool tool = {
	.name = "str-strace",
	.synopsis = "[-n] [-l LOGDEV] [-d DIR [-b BASE]] [-o FILE] [-e FILE] "
		    "[-p FILE] [-a NAME]\n    [MID SID LEVEL] ...",
	.purpose = "Record the trace messages that modules, drivers and "
		   "programs log.",
	.help = LOGGER_HELP
	"      --json              print one JSON object per line\n"
	"MID SID LEVEL             messages of this module and minor up to this\n"
	"                          level; \"all\": any value; -: read groups from\n"
	"                          standard input\n",
	.options = LOGGER_OPTIONS,
};

static const struct option longs[] = { LOGGER_LONGS };

static struct trace_ids ids[MAXIDS];
static int nids;

static void
add(const char *mid, const char *sid, const char *level)
{
	const char *s[3] = { mid, sid, level };
	long v[3];

	if (nids == MAXIDS)
		tool_usage(&tool, "more than %d groups MID SID LEVEL", MAXIDS);
	for (int i = 0; i < 3; i++) {
		if (strcmp(s[i], "all") == 0)
			v[i] = -1;
		else if (!tool_number(s[i], -1, i == 2 ? 127 : 32767, &v[i]))
			tool_usage(&tool, "not a number: %s", s[i]);
	}
	ids[nids].ti_mid = (short)v[0];
	ids[nids].ti_sid = (short)v[1];
	ids[nids].ti_level = (char)v[2];
	nids++;
}

static void
from_input(void)
{
	char line[256], a[3][32];

	while (fgets(line, sizeof(line), stdin) != NULL)
		if (line[strspn(line, " \t\r\n")] != '\0') {
			if (sscanf(line, "%31s %31s %31s", a[0], a[1],
				    a[2]) != 3)
				tool_usage(&tool, "not a group MID SID LEVEL: %s",
					line);
			add(a[0], a[1], a[2]);
		}
}

int
main(int argc, char **argv)
{
	struct logger l = { .tool = &tool, .request = I_TRCLOG,
		.base = "trace" };
	int c;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0)
		(void)logger_option(&l, c, optarg);
	argv += optind;
	argc -= optind;
	if (argc == 1 && strcmp(argv[0], "-") == 0) {
		from_input();
	} else {
		if (argc % 3 != 0)
			tool_usage(&tool, "the operands are not groups MID SID LEVEL");
		for (int i = 0; i < argc; i += 3)
			add(argv[i], argv[i + 1], argv[i + 2]);
	}
	if (nids == 0)
		add("all", "all", "all");
	l.ids = ids;
	l.nids = nids;
	return tool_done(&tool, logger_run(&l));
}
