/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * fattach - give a stream a name in the file system.
 */
#include <errno.h>
#include <fcntl.h>
#include <stropts.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/tool.h"

static struct tool tool = {
	.name = "fattach",
	.synopsis = "[-c] [-m MODE] [-u MASK] [-M MODE] PATH\n"
		    "-p [-c] [-m MODE] [-u MASK] [-M MODE] PATH PATH2",
	.purpose = "Attach the stream on standard input, or the ends of a new "
		   "pipe, to files.",
	.help =
	"  -p, --pipe              attach the ends of a new pipe to PATH and PATH2\n"
	"  -c, --connld            first push connld on the end for PATH\n"
	"  -m, --create=MODE       create files that do not exist, with MODE\n"
	"  -u, --umask=MASK        the umask for creating files\n"
	"  -M, --mode=MODE         set the mode of the files after attaching\n",
	.options = "pcm:u:M:",
};

static const struct option longs[] = {
	{ "pipe", no_argument, NULL, 'p' },
	{ "connld", no_argument, NULL, 'c' },
	{ "create", required_argument, NULL, 'm' },
	{ "umask", required_argument, NULL, 'u' },
	{ "mode", required_argument, NULL, 'M' },
	{ NULL, 0, NULL, 0 },
};

static long create = -1, mode = -1;

static long
octal(const char *s)
{
	long v = 0;

	if (*s == '\0')
		tool_usage(&tool, "not a mode: %s", s);
	for (const char *p = s; *p != '\0'; p++) {
		if (*p < '0' || *p > '7' || v > 0777)
			tool_usage(&tool, "not a mode: %s", s);
		v = v * 8 + (*p - '0');
	}
	if (v > 07777)
		tool_usage(&tool, "not a mode: %s", s);
	return v;
}

static void
attach(int fd, const char *path)
{
	bool made = false;
	int f, err;

	if (create >= 0) {
		f = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			(mode_t)create);
		made = f >= 0;
		if (f < 0 && errno != EEXIST)
			tool_die(&tool, "%s", path);
		if (made)
			(void)close(f);
	}
	if (fattach(fd, path) != 0) {
		err = errno;
		if (made)
			(void)unlink(path);
		errno = err;
		tool_die(&tool, "%s", path);
	}
	if (mode >= 0 && chmod(path, (mode_t)mode) != 0)
		tool_die(&tool, "%s: mode", path);
}

int
main(int argc, char **argv)
{
	bool new_pipe = false, connld = false;
	int fd[2] = { STDIN_FILENO, -1 };
	int c;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		switch (c) {
		case 'p':
			new_pipe = true;
			break;
		case 'c':
			connld = true;
			break;
		case 'm':
			create = octal(optarg);
			break;
		case 'u':
			(void)umask((mode_t)octal(optarg));
			break;
		case 'M':
			mode = octal(optarg);
			break;
		}
	}
	if (argc - optind != (new_pipe ? 2 : 1))
		tool_usage(&tool, new_pipe ? "-p needs two paths" : "one PATH is required");
	if (new_pipe && pipe(fd) != 0)
		tool_die(&tool, "pipe");
	if (!new_pipe && isastream(fd[0]) != 1) {
		errno = ENOSTR;
		tool_die(&tool, "standard input");
	}
	if (connld && ioctl(fd[0], I_PUSH, "connld") != 0)
		tool_die(&tool, "cannot push connld");
	attach(fd[0], argv[optind]);
	if (new_pipe)
		attach(fd[1], argv[optind + 1]);
	return tool_done(&tool, TOOL_OK);
}
