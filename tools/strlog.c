/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strlog - log a message from the command line.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <stropts.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <sys/log.h>

#include "lib/logger.h"

static struct tool tool = {
	.name = "strlog",
	.synopsis = "[-ETNcFWO] [-M MID] [-S SID] [-L LEVEL] [-p PRI] [-t TAG] "
		    "[-is] [-u DEV]\n    [-f FILE | MESSAGE ...]",
	.purpose = "Log a message, or every line of a file or of standard "
		   "input.",
	.help =
	"  -E, --error             for error loggers\n"
	"  -T, --trace             for trace loggers (the default)\n"
	"  -N, --notify            ask the loggers to mail the message, too\n"
	"  -c, --console           for the console\n"
	"  -F, -W, -O              the message is fatal, a warning, a notice\n"
	"  -M, --mid=MID           module number\n"
	"  -S, --sid=SID           minor number\n"
	"  -L, --level=LEVEL       level of detail\n"
	"  -p, --priority=PRI      [FACILITY.]PRIORITY, names or numbers\n"
	"  -t, --tag=TAG           put TAG and a colon before the message\n"
	"  -i, --id                put the process number after the tag\n"
	"  -s, --stderr            also write the message to standard error\n"
	"  -f, --file=FILE         send each line of FILE as a message\n"
	"  -u, --device=DEV        the log device (" LOGGER_DEV ")\n",
	.options = "ETNcFWOM:S:L:p:t:isf:u:",
};

static const struct option longs[] = {
	{ "error", no_argument, NULL, 'E' },
	{ "trace", no_argument, NULL, 'T' },
	{ "notify", no_argument, NULL, 'N' },
	{ "console", no_argument, NULL, 'c' },
	{ "mid", required_argument, NULL, 'M' },
	{ "sid", required_argument, NULL, 'S' },
	{ "level", required_argument, NULL, 'L' },
	{ "priority", required_argument, NULL, 'p' },
	{ "tag", required_argument, NULL, 't' },
	{ "id", no_argument, NULL, 'i' },
	{ "stderr", no_argument, NULL, 's' },
	{ "file", required_argument, NULL, 'f' },
	{ "device", required_argument, NULL, 'u' },
	{ NULL, 0, NULL, 0 },
};

static struct log_ctl lc;
static const char *tag;
static bool with_id, to_stderr;
static int fd;

static int
flag_of(int c)
{
	switch (c) {
	case 'E':
		return SL_ERROR;
	case 'T':
		return SL_TRACE;
	case 'N':
		return SL_NOTIFY;
	case 'c':
		return SL_CONSOLE;
	case 'F':
		return SL_FATAL;
	case 'W':
		return SL_WARN;
	case 'O':
		return SL_NOTE;
	default:
		return 0;
	}
}

static const char *const facilities[] = { "kern", "user", "mail", "daemon",
	"auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp",
	NULL };
static const char *const priorities[] = { "emerg", "alert", "crit", "err",
	"warning", "notice", "info", "debug", NULL };

static int
in_list(const char *const *list, const char *s, size_t n, long max)
{
	char buf[16];
	long v;

	for (int i = 0; list[i] != NULL; i++)
		if (strlen(list[i]) == n && strncmp(list[i], s, n) == 0)
			return i;
	if (n < sizeof(buf)) {
		memcpy(buf, s, n);
		buf[n] = '\0';
		if (tool_number(buf, 0, max, &v))
			return (int)v;
	}
	tool_usage(&tool, "not a facility or priority: %s", s);
}

static int
priority(const char *s)
{
	const char *dot = strchr(s, '.');

	if (dot == NULL)
		return LOG_USER | in_list(priorities, s, strlen(s), 7);
	return in_list(facilities, s, (size_t)(dot - s), 127) << 3 |
		in_list(priorities, dot + 1, strlen(dot + 1), 7);
}

static int
submit(const char *message)
{
	char text[LOGMAX];
	struct strbuf ctl = { 0, sizeof(lc), (char *)&lc };
	struct strbuf data = { 0, 0, text };
	int n = 0;

	if (tag != NULL || with_id) {
		n = snprintf(text, sizeof(text), "%s",
			tag != NULL ? tag : "strlog");
		if (with_id && n < (int)sizeof(text))
			n += snprintf(text + n, sizeof(text) - (size_t)n,
				"[%d]", (int)getpid());
		if (n < (int)sizeof(text))
			n += snprintf(text + n, sizeof(text) - (size_t)n,
				": ");
	}
	if (n < (int)sizeof(text))
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s",
			message);
	if (n >= (int)sizeof(text))
		n = sizeof(text) - 1;
	data.len = n + 1;
	if (to_stderr)
		fprintf(stderr, "%s\n", text);
	lc.ttime = (unsigned)time(NULL);
	if (putmsg(fd, &ctl, &data, 0) == 0)
		return TOOL_OK;
	tool_err(&tool, "putmsg");
	return TOOL_FAILED;
}

static int
operands(char **word)
{
	char text[LOGMAX] = "";
	size_t n = 0;

	for (; *word != NULL && n < sizeof(text); word++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
			n != 0 ? " " : "", *word);
	return submit(text);
}

static int
lines(const char *path)
{
	FILE *f = path == NULL || strcmp(path, "-") == 0 ? stdin :
		fopen(path, "re");
	int status = TOOL_OK;
	char line[LOGMAX];

	if (f == NULL)
		tool_die(&tool, "%s", path);
	while (status == TOOL_OK && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '\0')
			status = submit(line);
	}
	if (ferror(f)) {
		tool_err(&tool, "%s", path != NULL ? path : "standard input");
		status = TOOL_FAILED;
	}
	if (f != stdin)
		(void)fclose(f);
	return status;
}

static short
number(const char *s, long min, long max)
{
	long v;

	if (!tool_number(s, min, max, &v))
		tool_usage(&tool, "not a number from %ld to %ld: %s", min, max,
			s);
	return (short)v;
}

int
main(int argc, char **argv)
{
	const char *dev = LOGGER_DEV, *file = NULL;
	int c, flags = 0, status;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		flags |= flag_of(c);
		switch (c) {
		case 'M':
			lc.mid = number(optarg, 0, 32767);
			break;
		case 'S':
			lc.sid = number(optarg, 0, 32767);
			break;
		case 'L':
			lc.level = (char)number(optarg, 0, 127);
			break;
		case 'p':
			lc.pri = priority(optarg);
			break;
		case 't':
			tag = optarg;
			break;
		case 'i':
			with_id = true;
			break;
		case 's':
			to_stderr = true;
			break;
		case 'f':
			file = optarg;
			break;
		case 'u':
			dev = optarg;
			break;
		}
	}
	if (file != NULL && optind != argc)
		tool_usage(&tool, "give a MESSAGE or -f FILE, not both");
	if ((flags & (SL_ERROR | SL_TRACE | SL_CONSOLE)) == 0)
		flags |= SL_TRACE;
	lc.flags = (short)flags;
	fd = open(dev, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		tool_die(&tool, "%s", dev);
	status = optind < argc ? operands(argv + optind) : lines(file);
	(void)close(fd);
	return tool_done(&tool, status);
}
