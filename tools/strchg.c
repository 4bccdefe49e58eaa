/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strchg - change the modules of the stream that is standard input.
 *
 * With -f the stream gets exactly the modules in a file: the common modules at
 * the bottom stay.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#include "lib/mods.h"

#define MAXMODS 64

static struct tool tool = {
	.name = "strchg",
	.synopsis = "-h MODULE[,MODULE...] [STREAM]\n-p [-a | -u MODULE] [STREAM]\n"
		    "-f FILE [STREAM]",
	.purpose = "Push modules on STREAM, or pop them.  Without STREAM, use "
		   "the stream on standard input.",
	.help =
	"  -h, --push=MODULE,...   push these modules, in this order\n"
	"  -p, --pop               pop the topmost module\n"
	"  -a, --all               with -p: pop all modules\n"
	"  -u, --upto=MODULE       with -p: pop all modules above this one\n"
	"  -f, --file=FILE         replace the modules by those in FILE, topmost "
	"first\n",
	.options = "h:pau:f:",
};

static const struct option longs[] = {
	{ "push", required_argument, NULL, 'h' },
	{ "pop", no_argument, NULL, 'p' },
	{ "all", no_argument, NULL, 'a' },
	{ "upto", required_argument, NULL, 'u' },
	{ "file", required_argument, NULL, 'f' },
	{ NULL, 0, NULL, 0 },
};

static void
push(const char *name)
{
	if (ioctl(STDIN_FILENO, I_PUSH, name) != 0)
		tool_die(&tool, "cannot push %s", name);
	tool_info(&tool, 1, "pushed %s", name);
}

static void
pop(const char *name)
{
	if (ioctl(STDIN_FILENO, I_POP, 0) != 0)
		tool_die(&tool, "cannot pop %s", name);
	tool_info(&tool, 1, "popped %s", name);
}

static void
push_list(char *list)
{
	char *save = NULL, *name;
	int n = 0;

	for (name = strtok_r(list, ",", &save); name != NULL;
		name = strtok_r(NULL, ",", &save), n++)
		push(name);
	if (n == 0)
		tool_usage(&tool, "-h needs names of modules");
}

static void
pop_some(bool all, const char *upto)
{
	struct mods m;
	int n = 1;

	mods_get(&tool, STDIN_FILENO, &m);
	if (m.npush == 0 && !all) {
		errno = EINVAL;
		tool_die(&tool, "the stream has no module to pop");
	}
	if (all)
		n = m.npush;
	if (upto != NULL) {
		for (n = 0; n < m.n; n++)
			if (strcmp(m.v[n].l_name, upto) == 0)
				break;
		if (n == m.n) {
			errno = ENOENT;
			tool_die(&tool, "%s", upto);
		}
	}
	for (int i = 0; i < n && i < m.npush; i++)
		pop(m.v[i].l_name);
	mods_free(&m);
}

/* The names of a file, topmost first; blank lines and # are skipped. */
static int
read_names(const char *path, char name[][FMNAMESZ + 1])
{
	char line[256];
	FILE *f = fopen(path, "re");
	unsigned n = 0, number = 0;

	if (f == NULL)
		tool_die(&tool, "%s", path);
	while (fgets(line, sizeof(line), f) != NULL) {
		char *s = line + strspn(line, " \t");
		size_t len = strcspn(s, " \t\r\n#");

		number++;
		if (len == 0)
			continue;
		errno = EINVAL;
		if (len > FMNAMESZ || n == MAXMODS)
			tool_die(&tool, "%s: line %u", path, number);
		memcpy(name[n], s, len);
		name[n++][len] = '\0';
	}
	if (ferror(f))
		tool_die(&tool, "%s", path);
	(void)fclose(f);
	return (int)n;
}

static void
have(const char *path)
{
	static char name[MAXMODS][FMNAMESZ + 1];
	int n = read_names(path, name), same = 0;
	struct mods m;

	mods_get(&tool, STDIN_FILENO, &m);
	while (same < n && same < m.npush &&
		strcmp(name[n - 1 - same], m.v[m.npush - 1 - same].l_name) == 0)
		same++;
	for (int i = 0; i < m.npush - same; i++)
		pop(m.v[i].l_name);
	for (int i = n - 1 - same; i >= 0; i--)
		push(name[i]);
	mods_free(&m);
}

int
main(int argc, char **argv)
{
	char *list = NULL, *upto = NULL, *file = NULL;
	bool all = false, popping = false;
	int c;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		switch (c) {
		case 'h':
			list = optarg;
			break;
		case 'p':
			popping = true;
			break;
		case 'a':
			all = true;
			break;
		case 'u':
			upto = optarg;
			break;
		case 'f':
			file = optarg;
			break;
		}
	}
	if ((list != NULL) + popping + (file != NULL) != 1 ||
		((all || upto != NULL) && !popping) || (all && upto != NULL))
		tool_usage(&tool, "one of -h, -p and -f is required");
	mods_input(&tool, argc, argv);
	if (isastream(STDIN_FILENO) != 1) {
		errno = ENOSTR;
		tool_die(&tool, "standard input");
	}
	if (list != NULL)
		push_list(list);
	else if (file != NULL)
		have(file);
	else
		pop_some(all, upto);
	return tool_done(&tool, TOOL_OK);
}
