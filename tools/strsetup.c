/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strsetup - check and show the configuration of device names.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/tool.h"
#include "names.h"
#include "user_impl.h"

static struct tool tool = {
	.name = "strsetup",
	.synopsis = "[-c] [-f FILE]\n-l NAME ...",
	.purpose = "Check the names of STREAMS devices, or show the devices of "
		   "names.",
	.help =
	"  -c, --check             print only error messages\n"
	"  -f, --file=FILE         read FILE instead of the system's file\n"
	"  -l, --lookup            print the devices of these paths\n",
	.options = "cf:l",
};

static const struct option longs[] = {
	{ "check", no_argument, NULL, 'c' },
	{ "file", required_argument, NULL, 'f' },
	{ "lookup", no_argument, NULL, 'l' },
	{ NULL, 0, NULL, 0 },
};

static const char *source = "built in";

static void
mistake(void *arg, unsigned line, const char *what)
{
	(void)arg;
	tool_warn(&tool, "%s: line %u: %s", source, line, what);
}

static void
show(const struct names_conf *c)
{
	for (uint32_t i = 0; i < c->nrule; i++) {
		const struct names_rule *r = &c->rule[i];

		if (r->fifo)
			printf("fifo %s\n", r->path);
		else if (r->minor == NAMES_CLONE)
			printf("dev %s %s clone\n", r->path, r->drv);
		else if (r->minor == NAMES_VARY)
			printf("dev %s %s %%\n", r->path, r->drv);
		else
			printf("dev %s %s %u\n", r->path, r->drv, r->minor);
	}
}

static int
lookup(char **path)
{
	static const char *const kind[] = { "no stream", "device", "clone",
		"fifo", "pipe" };
	int status = TOOL_OK;
	struct streams_name n;

	for (; *path != NULL; path++) {
		if (streams_name_resolve(*path, &n) != 0) {
			errno = ENAMETOOLONG;
			tool_err(&tool, "%s", *path);
			status = TOOL_FAILED;
		} else if (n.kind == NAME_DEV ||
			(n.kind == NAME_FIFO && n.drv[0] != '\0')) {
			printf("%s: %s %s %u\n", *path, kind[n.kind], n.drv,
				n.minor);
		} else {
			printf("%s: %s%s%s\n", *path, kind[n.kind],
				n.drv[0] != '\0' ? " " : "", n.drv);
		}
	}
	return status;
}

int
main(int argc, char **argv)
{
	static struct names_conf conf;
	static char buf[NAMES_MAXTEXT];
	const char *file = getenv("STREAMS_CONF"), *text = buf;
	char why[NAMES_WHY];
	bool check = false, look = false, mine = false;
	long n;
	int c;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		switch (c) {
		case 'c':
			check = true;
			break;
		case 'f':
			file = optarg;
			mine = true;
			break;
		case 'l':
			look = true;
			break;
		}
	}
	if (look) {
		if (mine || check || optind == argc)
			tool_usage(&tool, "-l needs names");
		return tool_done(&tool, lookup(argv + optind));
	}
	if (optind != argc)
		tool_usage(&tool, "too many arguments");
	mine |= file != NULL && file[0] != '\0';
	source = mine ? file : STREAMS_SYSCONF;
	n = names_read(source, mine ? HOST_TRUST_CHOSEN : 0, buf, sizeof(buf),
		why);
	if (n == -ENOENT && !mine) {
		source = "built in";
		text = names_builtin;
		n = (long)strlen(text);
	}
	if (n < 0) {
		errno = 0;
		tool_die(&tool, "%s: %s", source, why);
	}
	c = names_parse(&conf, text, (size_t)n, mistake, NULL);
	if (!check)
		show(&conf);
	return tool_done(&tool, c == 0 ? TOOL_OK : TOOL_FAILED);
}
