/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options, messages and exit status, common to all tools.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define MAXLONG 48

static const struct option common[] = {
	{ "quiet", no_argument, NULL, 'q' },
	{ "debug", optional_argument, NULL, 'D' },
	{ "verbose", optional_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ "copying", no_argument, NULL, 'C' },
	{ "domain", required_argument, NULL, TOOL_OPT_DOMAIN },
};
#define NCOMMON (sizeof(common) / sizeof(common[0]))

static const char copying[] =
	"Copyright (c) 2026 The Fast-STREAMS authors\n"
	"SPDX-License-Identifier: BSD-2-Clause\n\n"
	"Redistribution and use in source and binary forms, with or without\n"
	"modification, are permitted under the conditions of that licence.\n"
	"There is no warranty.\n";

static void
print_usage(const struct tool *t, FILE *f)
{
	const char *s = t->synopsis;
	bool first = true;

	while (*s != '\0') {
		size_t n = strcspn(s, "\n");

		if (*s == ' ') /* the line before goes on */
			fprintf(f, "       %*s%.*s\n",
				(int)strlen(t->name) + 1, "", (int)n, s);
		else
			fprintf(f, "%s %s %.*s\n",
				first ? "usage:" : "      ", t->name, (int)n,
				s);
		s += n + (s[n] == '\n');
		first = false;
	}
}

static void
print_help(const struct tool *t)
{
	print_usage(t, stdout);
	printf("%s\n\n%s", t->purpose, t->help);
	if (strchr(t->options, 'q') == NULL)
		printf("  -q, --quiet             print no messages\n");
	if (strchr(t->options, 'D') == NULL)
		printf("  -D, --debug[=LEVEL]     print messages for debugging\n");
	if (strchr(t->options, 'v') == NULL)
		printf("  -v, --verbose[=LEVEL]   print more information\n");
	printf("      --domain=NAME       the domain to use "
	       "(STREAMS_DOMAIN)\n");
	if (strchr(t->options, 'h') == NULL)
		printf("  -h, --help              print this text\n");
	else
		printf("      --help              print this text\n");
	printf("  -V, --version           print the version\n"
	       "  -C, --copying           print the licence\n");
}

void
tool_usage(const struct tool *t, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", t->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	print_usage(t, stderr);
	exit(TOOL_USAGE);
}

static void
message(const struct tool *t, int err, const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", t->name);
	vfprintf(stderr, fmt, ap);
	if (err != 0)
		fprintf(stderr, ": %s", strerror(err));
	fputc('\n', stderr);
}

void
tool_warn(const struct tool *t, const char *fmt, ...)
{
	va_list ap;

	if (t->quiet)
		return;
	va_start(ap, fmt);
	message(t, 0, fmt, ap);
	va_end(ap);
}

void
tool_err(const struct tool *t, const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	if (t->quiet)
		return;
	va_start(ap, fmt);
	message(t, err, fmt, ap);
	va_end(ap);
}

void
tool_die(const struct tool *t, const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	if (!t->quiet)
		message(t, err, fmt, ap);
	va_end(ap);
	exit(TOOL_FAILED);
}

void
tool_info(const struct tool *t, int level, const char *fmt, ...)
{
	va_list ap;

	if (t->verbose < level && t->debug < level)
		return;
	va_start(ap, fmt);
	message(t, 0, fmt, ap);
	va_end(ap);
}

static void
raise_level(const struct tool *t, int *level, const char *arg)
{
	long v;

	if (arg == NULL)
		(*level)++;
	else if (tool_number(arg, 0, 99, &v))
		*level = (int)v;
	else
		tool_usage(t, "not a level: %s", arg);
}

/* Letters of the common options that the tool does not use itself. */
static void
letters(const struct tool *t, char *buf, size_t size)
{
	static const char *const own[] = { "q", "D::", "d::", "v::", "h", "V",
		"C" };
	size_t n;

	snprintf(buf, size, "%s", t->options);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (strchr(t->options, own[i][0]) != NULL)
			continue;
		n = strlen(buf);
		snprintf(buf + n, size - n, "%s", own[i]);
	}
}

int
tool_getopt(struct tool *t, int argc, char **argv)
{
	struct option longs[MAXLONG];
	char shorts[128];
	size_t n = 0;
	int c;

	memset(longs, 0, sizeof(longs));
	for (; t->longs != NULL && t->longs[n].name != NULL &&
		n < MAXLONG - NCOMMON - 1; n++)
		longs[n] = t->longs[n];
	for (size_t i = 0; i < NCOMMON; i++) {
		bool taken = false;

		for (size_t k = 0; k < n; k++)
			taken |= strcmp(longs[k].name, common[i].name) == 0;
		if (taken)
			continue;
		longs[n] = common[i];
		/* the tool uses the letter for another option */
		if (longs[n].val < 0x100 &&
			strchr(t->options, longs[n].val) != NULL)
			longs[n].val += 0x200;
		n++;
	}
	letters(t, shorts, sizeof(shorts));
	for (;;) {
		c = getopt_long(argc, argv, shorts, longs, NULL);
		if (c == '?' || c == ':') {
			print_usage(t, stderr);
			exit(TOOL_USAGE);
		}
		if (c < 0 || (c < 0x100 && strchr(t->options, c) != NULL))
			return c;
		switch (c >= 0x200 ? c - 0x200 : c) {
		case 'q':
			t->quiet = 1;
			break;
		case 'd':
		case 'D':
			raise_level(t, &t->debug, optarg);
			break;
		case 'v':
			raise_level(t, &t->verbose, optarg);
			break;
		case 'h':
			print_help(t);
			exit(tool_done(t, TOOL_OK));
		case 'V':
			printf("%s (fast-streams) %s\n", t->name,
				TOOL_VERSION);
			exit(tool_done(t, TOOL_OK));
		case 'C':
			fputs(copying, stdout);
			exit(tool_done(t, TOOL_OK));
		case TOOL_OPT_DOMAIN:
			if (setenv("STREAMS_DOMAIN", optarg, 1) != 0)
				tool_die(t, "STREAMS_DOMAIN");
			break;
		default:
			return c;
		}
	}
}

int
tool_done(const struct tool *t, int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	tool_err(t, "standard output");
	return TOOL_FAILED;
}

bool
tool_number(const char *s, long min, long max, long *ret)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(s, &end, 0);
	if (end == s || errno != 0)
		return false;
	if (*end == 'K' || *end == 'k') {
		if (__builtin_mul_overflow(v, 1024L, &v))
			return false;
		end++;
	} else if (*end == 'M') {
		if (__builtin_mul_overflow(v, 1048576L, &v))
			return false;
		end++;
	}
	if (*end != '\0' || v < min || v > max)
		return false;
	*ret = v;
	return true;
}
