/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The log daemons: strerr and str-strace are the same program with different
 * requests to the log driver.
 */
#ifndef TOOLS_LOGGER_H
#define TOOLS_LOGGER_H

#include "tool.h"

#define LOGGER_DEV "/dev/strlog"
#define LOGGER_DIR "/var/log/streams"
#define LOGGER_ERRORS ".errors" /* suffix of a daemon's own messages */

struct trace_ids;

/* Their options, for struct tool. */
#define LOGGER_OPTIONS "nl:d:b:o:e:p:a:"
#define LOGGER_HELP \
	"  -n, --nodaemon          stay in the foreground\n" \
	"  -l, --device=LOGDEV     the log device (" LOGGER_DEV ")\n" \
	"  -d, --directory=DIR     run in the background; write a file\n" \
	"                          DIR/BASE.MM-DD for each day\n" \
	"  -b, --base=BASE         the base of the file names\n" \
	"  -o, --output=FILE       write all messages to this file\n" \
	"  -e, --errors=FILE       in the background: write errors to this file\n" \
	"  -p, --pidfile=FILE      write the process number to this file\n" \
	"  -a, --mailid=NAME       mail messages with SL_NOTIFY to NAME\n"
#define LOGGER_LONGS \
	{ "nodaemon", no_argument, NULL, 'n' }, \
	{ "device", required_argument, NULL, 'l' }, \
	{ "directory", required_argument, NULL, 'd' }, \
	{ "base", required_argument, NULL, 'b' }, \
	{ "output", required_argument, NULL, 'o' }, \
	{ "errors", required_argument, NULL, 'e' }, \
	{ "pidfile", required_argument, NULL, 'p' }, \
	{ "mailid", required_argument, NULL, 'a' }, \
	{ "json", no_argument, NULL, TOOL_OPT_JSON }, \
	{ NULL, 0, NULL, 0 }

struct logger {
	struct tool *tool;
	int request;		/* I_ERRLOG or I_TRCLOG */
	const char *base;	/* of file names, without -b */
	struct trace_ids *ids;
	int nids;
	/* from the options */
	bool foreground, json;
	const char *dev, *dir, *output, *errors, *pidfile, *mailid;
};

/* Handle one of LOGGER_OPTIONS. false: another option. */
bool logger_option(struct logger *l, int c, const char *arg);
/* Read messages until a signal; returns the exit status. */
int logger_run(struct logger *l);

#endif
