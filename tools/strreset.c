/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strreset - reset the stream on standard input, or a named one: discard queued
 * messages, and set its options as after open.
 */
#include <errno.h>
#include <fcntl.h>
#include <stropts.h>
#include <unistd.h>

#include "lib/mods.h"

static struct tool tool = {
	.name = "strreset",
	.synopsis = "[-p] [STREAM ...]",
	.purpose = "Flush the stream on standard input, or each STREAM, and "
		   "reset its modes.",
	.help =
	"  -p, --pop               first pop all modules above an anchor\n",
	.options = "p",
};

static const struct option longs[] = {
	{ "pop", no_argument, NULL, 'p' },
	{ NULL, 0, NULL, 0 },
};

static int
reset(int fd, const char *name, bool pop)
{
	if (isastream(fd) != 1) {
		errno = ENOSTR;
		tool_err(&tool, "%s", name);
		return TOOL_FAILED;
	}
	while (pop && ioctl(fd, I_POP, 0) == 0)
		;
	/* EPERM: there is an anchor, which stays */
	if ((pop && errno != EINVAL && errno != EPERM) ||
		ioctl(fd, I_FLUSH, FLUSHRW) != 0 ||
		ioctl(fd, I_SRDOPT, RNORM | RPROTNORM) != 0 ||
		ioctl(fd, I_SERROPT, 0) != 0) {
		tool_err(&tool, "%s", name);
		return TOOL_FAILED;
	}
	tool_info(&tool, 1, "%s: reset", name);
	return TOOL_OK;
}

int
main(int argc, char **argv)
{
	int c, fd, status = TOOL_OK;
	bool pop = false;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0)
		if (c == 'p')
			pop = true;
	if (optind == argc)
		status = reset(STDIN_FILENO, "standard input", pop);
	for (int i = optind; i < argc; i++) {
		fd = open(argv[i], O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (fd < 0) {
			tool_err(&tool, "%s", argv[i]);
			status = TOOL_FAILED;
			continue;
		}
		if (reset(fd, argv[i], pop) != TOOL_OK)
			status = TOOL_FAILED;
		(void)close(fd);
	}
	return tool_done(&tool, status);
}
