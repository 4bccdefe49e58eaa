/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strtune - water marks and packet sizes of queues.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stream.h>

#include "lib/dump.h"

static struct tool tool = {
	.name = "strtune",
	.synopsis = "-n NAME [-armwMQ] [FIELD=VALUE ...]\n"
		    "-q ADDRESS [FIELD=VALUE ...]\n-f FILE",
	.purpose = "Show or set hiwat, lowat, minpsz and maxpsz of queues.",
	.help =
	"  -n, --name=NAME         select the queues of this module or driver\n"
	"  -q, --queue=ADDRESS     select this queue (strtune and strtop show it)\n"
	"  -r, --read              select read queues\n"
	"  -w, --write             select write queues (default: -rw)\n"
	"  -m, --mux-read          select lower read queues of a multiplexor\n"
	"  -M, --mux-write         select lower write queues of a multiplexor\n"
	"  -Q, --all-queues        the same as -rwmM\n"
	"  -a, --all               also set the fields of queues made later\n"
	"  -f, --file=FILE         read lines such as \"-n NAME -r hiwat=8192\"\n",
	.options = "n:q:armwMQf:",
};

static const struct option longs[] = {
	{ "name", required_argument, NULL, 'n' },
	{ "queue", required_argument, NULL, 'q' },
	{ "read", no_argument, NULL, 'r' },
	{ "write", no_argument, NULL, 'w' },
	{ "mux-read", no_argument, NULL, 'm' },
	{ "mux-write", no_argument, NULL, 'M' },
	{ "all-queues", no_argument, NULL, 'Q' },
	{ "all", no_argument, NULL, 'a' },
	{ "file", required_argument, NULL, 'f' },
	{ NULL, 0, NULL, 0 },
};

static const char *const field[4] = { "hiwat", "lowat", "minpsz", "maxpsz" };

/* "hiwat=8192"; false: not one */
static bool
assignment(struct strm_tune *t, const char *s)
{
	for (unsigned i = 0; i < 4; i++) {
		size_t n = strlen(field[i]);
		long v;

		if (strncmp(s, field[i], n) != 0 || s[n] != '=')
			continue;
		if (i == STR_TUNE_MAXPSZ && strcmp(s + n + 1, "INFPSZ") == 0)
			v = INFPSZ;
		else if (!tool_number(s + n + 1, i == STR_TUNE_MAXPSZ ? -1 : 0,
				 1L << 40, &v))
			return false;
		t->set |= 1u << i;
		t->value[i] = v;
		return true;
	}
	return false;
}

static bool
name_ok(struct strm_tune *t, const char *s)
{
	if (s[0] == '\0' || strlen(s) > FMNAMESZ)
		return false;
	strcpy(t->name, s);
	return true;
}

static bool
addr_ok(struct strm_tune *t, const char *s)
{
	char *end;

	errno = 0;
	t->addr = strtoull(s, &end, 16);
	return errno == 0 && end != s && *end == '\0' && t->addr != 0;
}

/* One word of a line of a file; *ret_next: it needs an argument, or 0. */
static bool
word(struct strm_tune *t, const char *s, char *ret_next)
{
	*ret_next = 0;
	if (s[0] != '-')
		return assignment(t, s);
	for (s++; *s != '\0'; s++) {
		switch (*s) {
		case 'n':
		case 'q':
			*ret_next = *s;
			return s[1] == '\0';
		case 'r':
			t->sides |= STR_TUNE_READ;
			break;
		case 'w':
			t->sides |= STR_TUNE_WRITE;
			break;
		case 'm':
			t->sides |= STR_TUNE_LREAD;
			break;
		case 'M':
			t->sides |= STR_TUNE_LWRITE;
			break;
		case 'Q':
			t->sides |= 15;
			break;
		case 'a':
			t->sides |= STR_TUNE_NEW;
			break;
		default:
			return false;
		}
	}
	return true;
}

static bool
is_shown(const struct strm_tune *t, const struct str_i_queue *q)
{
	uint32_t bit = q->role == STR_I_Q_LOWER ? STR_TUNE_LREAD :
						  STR_TUNE_READ;

	if (t->addr != 0)
		return t->addr == q->addr;
	return strcmp(t->name, q->name) == 0 &&
		(t->sides & (bit << q->side)) != 0;
}

static int
show(const struct strm_tune *t)
{
	struct snap s = { 0 };
	const struct str_i *i;
	unsigned n = 0;

	if (snap_take(&s, STR_I_WANT_STREAMS) != 0)
		snap_die(&tool);
	SNAP_EACH (&s, i) {
		const struct str_i_queue *q = (const void *)i;

		if (i->kind != STR_I_QUEUE || !is_shown(t, q))
			continue;
		printf("%s %.8s %s %" PRIx64 " hiwat=%" PRIu64 " lowat=%" PRIu64
		       " minpsz=%" PRId64, dump_sid(q->sid), q->name,
			q->side ? "write" : "read", q->addr, q->hiwat,
			q->lowat, q->minpsz);
		if (q->maxpsz == INFPSZ)
			printf(" maxpsz=INFPSZ\n");
		else
			printf(" maxpsz=%" PRId64 "\n", q->maxpsz);
		n++;
	}
	snap_free(&s);
	if (n != 0)
		return TOOL_OK;
	tool_warn(&tool, "there is no such queue");
	return TOOL_FAILED;
}

static int
apply(struct strm_tune *t)
{
	long n;

	if ((t->sides & 15) == 0)
		t->sides |= STR_TUNE_READ | STR_TUNE_WRITE;
	if (t->set == 0)
		return show(t);
	n = strm_tune(t);
	if (n < 0) {
		tool_err(&tool, "%s", t->name[0] != '\0' ? t->name : "queue");
		return TOOL_FAILED;
	}
	tool_info(&tool, 1, "%ld set", n);
	return TOOL_OK;
}

static bool
line_ok(struct strm_tune *t, char *line)
{
	char *save = NULL, *w, next = 0;

	for (w = strtok_r(line, " \t\r\n", &save); w != NULL && w[0] != '#';
		w = strtok_r(NULL, " \t\r\n", &save)) {
		bool ok;

		if (next == 0) {
			ok = word(t, w, &next);
		} else {
			ok = next == 'n' ? name_ok(t, w) : addr_ok(t, w);
			next = 0;
		}
		if (!ok)
			return false;
	}
	return next == 0;
}

static int
from_file(const char *path)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	int status = TOOL_OK;
	unsigned number = 0;
	char line[512];

	if (f == NULL)
		tool_die(&tool, "%s", path);
	while (fgets(line, sizeof(line), f) != NULL) {
		struct strm_tune t = { 0 };

		number++;
		if (line[strspn(line, " \t\r\n")] == '\0' ||
			line[strspn(line, " \t")] == '#')
			continue;
		if (strchr(line, '\n') == NULL && !feof(f)) {
			errno = EINVAL;
			tool_die(&tool, "%s: line %u is too long", path,
				number);
		}
		if (!line_ok(&t, line) ||
			(t.name[0] != '\0') == (t.addr != 0)) {
			tool_warn(&tool, "%s: line %u: not arguments of strtune", path,
				number);
			status = TOOL_FAILED;
		} else if (apply(&t) != TOOL_OK) {
			status = TOOL_FAILED;
		}
	}
	if (f != stdin)
		(void)fclose(f);
	return status;
}

int
main(int argc, char **argv)
{
	struct strm_tune t = { 0 };
	const char *file = NULL;
	char letter[3] = "-", next;
	int c;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		if (c == 'f') {
			file = optarg;
		} else if (c == 'n') {
			if (!name_ok(&t, optarg))
				tool_usage(&tool, "not a module: %s", optarg);
		} else if (c == 'q') {
			if (!addr_ok(&t, optarg))
				tool_usage(&tool, "not an address: %s",
					optarg);
		} else {
			letter[1] = (char)c;
			(void)word(&t, letter, &next);
		}
	}
	if ((file != NULL) + (t.name[0] != '\0') + (t.addr != 0) != 1)
		tool_usage(&tool, "one of -n, -q and -f is required");
	if (file != NULL)
		return tool_done(&tool, from_file(file));
	for (int i = optind; i < argc; i++)
		if (!assignment(&t, argv[i]))
			tool_usage(&tool, "not FIELD=VALUE: %s", argv[i]);
	return tool_done(&tool, apply(&t));
}
