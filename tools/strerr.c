/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strerr - the STREAMS error logger.
 */
#include <sys/strlog.h>

#include "lib/logger.h"

static struct tool tool = {
	.name = "strerr",
	.synopsis = "[-n] [-l LOGDEV] [-d DIR [-b BASE]] [-o FILE] [-e FILE] "
		    "[-p FILE] [-a NAME]",
	.purpose = "Record the error messages that modules, drivers and "
		   "programs log.",
	.help = LOGGER_HELP
	"      --json              print one JSON object per line\n",
	.options = LOGGER_OPTIONS,
};

static const struct option longs[] = { LOGGER_LONGS };

int
main(int argc, char **argv)
{
	struct logger l = { .tool = &tool, .request = I_ERRLOG,
		.base = "error" };
	int c;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0)
		(void)logger_option(&l, c, optarg);
	if (optind != argc)
		tool_usage(&tool, "too many arguments");
	return tool_done(&tool, logger_run(&l));
}
