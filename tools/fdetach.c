/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * fdetach - remove a stream's name in the file system.
 */
#include <errno.h>
#include <stropts.h>

#include "lib/tool.h"

static struct tool tool = {
	.name = "fdetach",
	.synopsis = "[-a] PATH ...",
	.purpose = "Detach the streams that are attached to files.",
	.help =
	"  -a, --all               repeat this until no stream is attached\n",
	.options = "a",
};

static const struct option longs[] = {
	{ "all", no_argument, NULL, 'a' },
	{ NULL, 0, NULL, 0 },
};

int
main(int argc, char **argv)
{
	int c, status = TOOL_OK;
	bool all = false;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0)
		if (c == 'a')
			all = true;
	if (optind == argc)
		tool_usage(&tool, "a PATH is required");
	for (int i = optind; i < argc; i++) {
		if (fdetach(argv[i]) != 0) {
			tool_err(&tool, "%s", argv[i]);
			status = TOOL_FAILED;
			continue;
		}
		while (all && fdetach(argv[i]) == 0)
			;
		if (all && errno != EINVAL) {
			tool_err(&tool, "%s", argv[i]);
			status = TOOL_FAILED;
		}
	}
	return tool_done(&tool, status);
}
