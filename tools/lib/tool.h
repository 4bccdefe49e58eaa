/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Common parts of all tools: the common options, messages, exit status, JSON.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <str/annot.h>


/* Exit status. */
#define TOOL_OK 0
#define TOOL_FAILED 1
#define TOOL_USAGE 2

struct tool {
	const char *name;
	const char *synopsis;	   /* text after the name; lines; one that
				    * begins with a space continues another */
	const char *purpose;	   /* one sentence */
	const char *help;	   /* a line for each option of its own */
	const char *options;	   /* its own, for getopt(3) */
	const struct option *longs; /* its own; the last one is zero */
	/* set by the common options */
	int quiet, debug, verbose;
};

/* Values of the common long options that have no letter. */
#define TOOL_OPT_JSON 0x100
#define TOOL_OPT_DOMAIN 0x101

/*
 * tool_getopt - getopt_long(3) for this tool: handles the common options
 * itself.  A tool's own letter takes precedence over a common one.
 * Return: an option of the tool, or -1.  Does not return after a wrong option.
 */
int tool_getopt(struct tool *t, int argc, char **argv);
void tool_usage(const struct tool *t, const char *fmt, ...) STR_NORETURN
	STR_PRINTF(2, 3);
/* Print a message with the tool's name in front; not with -q. */
void tool_warn(const struct tool *t, const char *fmt, ...) STR_PRINTF(2, 3);
/* The same, with the text of errno behind it. */
void tool_err(const struct tool *t, const char *fmt, ...) STR_PRINTF(2, 3);
void tool_die(const struct tool *t, const char *fmt, ...) STR_NORETURN
	STR_PRINTF(2, 3);
/* Print more with -v (level 1) and above. */
void tool_info(const struct tool *t, int level, const char *fmt, ...)
	STR_PRINTF(3, 4);
/* Flush standard output; the exit status if that fails is TOOL_FAILED. */
int tool_done(const struct tool *t, int status);

/* Parse a number: decimal, 0x hexadecimal, with K or M. false: not a number. */
bool tool_number(const char *s, long min, long max, long *ret);

/* -------------------------------------------------------------- JSON */

/*
 * A writer: writes one value after the other, and adds commas and indentation.
 */
struct json {
	FILE *f;
	int depth;
	bool first; /* of its object or array */
	bool one;   /* all in one line */
};
void json_begin(struct json *j, const char *key, char bracket);
void json_end(struct json *j, char bracket);
void json_int(struct json *j, const char *key, int64_t v);
void json_uint(struct json *j, const char *key, uint64_t v);
void json_str(struct json *j, const char *key, const char *v);
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);

#endif
