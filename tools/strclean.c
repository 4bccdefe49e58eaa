/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strclean - remove old files of the log daemons.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/tool.h"
#include "lib/logger.h"

static struct tool tool = {
	.name = "strclean",
	.synopsis = "[-a DAYS] [-b BASE] [-d DIRECTORY] [-oe]",
	.purpose = "Remove files of strerr and str-strace that are older than "
		   "DAYS.",
	.help =
	"  -a, --age=DAYS          the age in days (3)\n"
	"  -b, --base=BASE         files BASE.MM-DD (error and trace)\n"
	"  -d, --directory=DIR     the directory of the files\n"
	"  -o, --output            remove only files of messages\n"
	"  -e, --errors            remove only files of the loggers' own errors\n",
	.options = "a:b:d:oe",
};

static const struct option longs[] = {
	{ "age", required_argument, NULL, 'a' },
	{ "base", required_argument, NULL, 'b' },
	{ "directory", required_argument, NULL, 'd' },
	{ "output", no_argument, NULL, 'o' },
	{ "errors", no_argument, NULL, 'e' },
	{ NULL, 0, NULL, 0 },
};

/* "MM-DD", or with ".errors" behind */
static bool
is_dated(const char *s, bool *ret_errors)
{
	for (int i = 0; i < 5; i++)
		if (i == 2 ? s[i] != '-' : s[i] < '0' || s[i] > '9')
			return false;
	*ret_errors = strcmp(s + 5, LOGGER_ERRORS) == 0;
	return s[5] == '\0' || *ret_errors;
}

static bool
is_ours(const char *name, const char *base, bool output, bool errors)
{
	size_t n = strlen(base);
	bool e;

	return strncmp(name, base, n) == 0 && name[n] == '.' &&
		is_dated(name + n + 1, &e) && (e ? errors : output);
}

int
main(int argc, char **argv)
{
	const char *dir = LOGGER_DIR, *base = NULL;
	bool output = false, errors = false;
	int c, status = TOOL_OK, removed = 0;
	struct dirent *e;
	struct stat st;
	long days = 3;
	DIR *d;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		switch (c) {
		case 'a':
			if (!tool_number(optarg, 0, 100000, &days))
				tool_usage(&tool, "not an age: %s", optarg);
			break;
		case 'b':
			base = optarg;
			break;
		case 'd':
			dir = optarg;
			break;
		case 'o':
			output = true;
			break;
		case 'e':
			errors = true;
			break;
		}
	}
	if (optind != argc)
		tool_usage(&tool, "too many arguments");
	if (!output && !errors)
		output = errors = true;
	d = opendir(dir);
	if (d == NULL)
		tool_die(&tool, "%s", dir);
	while ((e = readdir(d)) != NULL) {
		if (base != NULL ?
			!is_ours(e->d_name, base, output, errors) :
			!is_ours(e->d_name, "error", output, errors) &&
			!is_ours(e->d_name, "trace", output, errors))
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
			!S_ISREG(st.st_mode) ||
			time(NULL) - st.st_mtime <= days * 86400)
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) == 0) {
			tool_info(&tool, 1, "removed %s/%s", dir, e->d_name);
			removed++;
		} else if (errno != ENOENT) {
			tool_err(&tool, "%s/%s", dir, e->d_name);
			status = TOOL_FAILED;
		}
	}
	(void)closedir(d);
	tool_info(&tool, 1, "%d removed", removed);
	return tool_done(&tool, status);
}
