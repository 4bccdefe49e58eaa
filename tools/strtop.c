/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strtop - shows what the streams of a domain are doing, and what they wait
 * for.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/dump.h"
#include "lib/pipetop.h"

static struct tool tool = {
	.name = "strtop",
	.synopsis = "[-1alw] [-n COUNT] [-s SECONDS] [STREAM ...]\n"
		    "--json\n"
		    "-r [-1] [-n COUNT] [-s SECONDS] [PID ...]\n"
		    "-r --json [PID ...]",
	.purpose = "Show streams, their modules and queues, and what they wait "
		   "for.",
	.help =
	"  -1, --once              show the streams once\n"
	"  -a, --all               also show idle streams\n"
	"  -l, --long              show every queue, its water marks and flags\n"
	"  -w, --why               show what each stream waits for\n"
	"  -r, --run               show the pipes of programs under strrun\n"
	"  -n, --count=COUNT       exit after COUNT displays\n"
	"  -s, --interval=SECONDS  the time between two displays (2)\n"
	"      --json              print everything once as JSON\n",
	.options = "1alwrn:s:",
};

static const struct option longs[] = {
	{ "once", no_argument, NULL, '1' },
	{ "all", no_argument, NULL, 'a' },
	{ "long", no_argument, NULL, 'l' },
	{ "why", no_argument, NULL, 'w' },
	{ "run", no_argument, NULL, 'r' },
	{ "count", required_argument, NULL, 'n' },
	{ "interval", required_argument, NULL, 's' },
	{ "json", no_argument, NULL, TOOL_OPT_JSON },
	{ NULL, 0, NULL, 0 },
};

struct view {
	bool once, all, detail, why, json, run;
	long count;
	double interval;
	char **id;	/* requested streams, or with `run' processes; NULL at
			 * the end; or NULL */
	int lines;	/* of the screen, 0: no limit */
	int line;	/* printed so far */
	struct snap now;
	struct pipetop pipes;
	struct holders holders;
	struct str_i_domain before;
};

static volatile sig_atomic_t ended;

static void
end(int sig)
{
	(void)sig;
	ended = 1;
}

static bool
wanted(const struct view *v, const struct str_i_stream *st)
{
	if (v->id == NULL || v->id[0] == NULL)
		return true;
	for (char **p = v->id; *p != NULL; p++)
		if (strcmp(*p, dump_sid(st->sid)) == 0 ||
			strcmp(*p, snap_stream_name(st)) == 0)
			return true;
	return false;
}

/* Has the screen room for one more line? */
static bool
room(struct view *v)
{
	if (v->lines != 0 && v->line >= v->lines)
		return false;
	v->line++;
	return true;
}

static void
show_top(struct view *v)
{
	const struct str_i_domain *d = snap_domain(&v->now);
	const struct str_i *i;
	unsigned np = 0, nt = 0, asleep = 0;
	double dt = 0;

	SNAP_EACH (&v->now, i) {
		const struct str_i_thread *t = (const void *)i;

		np += i->kind == STR_I_PROC;
		nt += i->kind == STR_I_THREAD;
		asleep += i->kind == STR_I_THREAD &&
			t->state != STR_I_THR_RUN;
	}
	if (v->before.now != 0 && d->now > v->before.now)
		dt = (double)(d->now - v->before.now) / 1e9;
	if (room(v))
		printf("%" PRIu64 " streams (%" PRIu64 " of devices and "
		       "FIFOs), %u processes, %u threads, %u asleep\n",
			d->nstream, d->ndev, np, nt, asleep);
	if (room(v))
		printf("memory: %" PRIu64 " KiB used, %" PRIu64
		       " backed, %" PRIu64 " at most\n", d->used / 1024,
			d->committed / 1024, d->cap / 1024);
	if (room(v)) {
		if (dt > 0)
			printf("per second: %.0f wakes, %.0f tokens, %.0f "
			       "sleeps, %.0f wakes elided\n",
				(double)(d->wakes - v->before.wakes) / dt,
				(double)(d->tokens - v->before.tokens) / dt,
				(double)(d->sleeps - v->before.sleeps) / dt,
				(double)(d->elided - v->before.elided) / dt);
		else
			printf("in all: %" PRIu64 " wakes, %" PRIu64
			       " tokens, %" PRIu64 " sleeps, %" PRIu64
			       " wakes elided\n", d->wakes, d->tokens,
				d->sleeps, d->elided);
	}
	v->before = *d;
}

static void
say(void *arg, const char *text)
{
	struct view *v = arg;

	if (room(v))
		printf("    %s\n", text);
}

static void
mark(void *arg, const char *text)
{
	(void)text;
	*(bool *)arg = true;
}

static void
show_queue(struct view *v, const struct str_i_queue *q)
{
	if (!room(v))
		return;
	printf("    %*s%-8.8s %-5s %" PRIu64 "/%" PRIu64 "/%" PRIu64
	       " %u msg%s %s%s", (int)q->depth, "", q->name,
		q->side ? "write" : "read", q->count, q->hiwat, q->lowat,
		q->nmsg, q->nmsg == 1 ? "" : "s", snap_queue_flags(q->flag),
		q->service ? " srv" : "");
	if (q->drops != 0)
		printf(", %" PRIu64 " dropped", q->drops);
	printf("\n");
}

static void
show_band(struct view *v, const struct str_i_band *b)
{
	if (room(v))
		printf("      band %u %" PRIu64 "/%" PRIu64 "/%" PRIu64
		       " %s\n", b->band, b->count, b->hiwat, b->lowat,
			snap_band_flags(b->flag));
}

/* Modules of the head at @i, topmost first: "bufmod>relay". */
static void
modules(const struct view *v, const struct str_i *i, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	while ((i = snap_next(&v->now, i)) != NULL && i->kind != STR_I_HEAD &&
		i->kind != STR_I_STREAM) {
		const struct str_i_queue *q = (const void *)i;

		if (i->kind != STR_I_QUEUE || q->side != 1 ||
			q->role == STR_I_Q_HEAD || n + 1 >= size)
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%s%.8s",
			n != 0 ? ">" : "", q->name);
	}
}

static void
show_head(struct view *v, const struct str_i_stream *st,
	const struct str_i_head *h)
{
	char mods[80], who[96] = "";
	const struct str_i *i = &h->i;

	modules(v, i, mods, sizeof(mods));
	while ((i = snap_next(&v->now, i)) != NULL && i->kind == STR_I_FILE)
		holders_text(&v->holders,
			((const struct str_i_file *)(const void *)i)->ino,
			who, sizeof(who));
	if (!room(v))
		return;
	printf("%-10s %-12.12s %u %9" PRIu64 "/%-8" PRIu64
	       " %5u %-14s %-18s %s\n", dump_sid(st->sid),
		snap_stream_name(st), h->end, h->count, h->hiwat, h->npri,
		snap_head_flags(h->flags), mods[0] != '\0' ? mods : "-",
		who[0] != '\0' ? who : "-");
}

static void
show_stream(struct view *v, const struct str_i_stream *st)
{
	const struct str_i *i = &st->i;

	while ((i = snap_next(&v->now, i)) != NULL && i->kind != STR_I_STREAM) {
		if (i->kind == STR_I_HEAD)
			show_head(v, st, (const void *)i);
		else if (i->kind == STR_I_QUEUE && v->detail)
			show_queue(v, (const void *)i);
		else if (i->kind == STR_I_BAND && v->detail)
			show_band(v, (const void *)i);
		else if (i->kind == STR_I_LINK && room(v))
			printf("    linked below: %s as %d%s\n",
				dump_sid(((const struct str_i_link *)
					(const void *)i)->lower),
				((const struct str_i_link *)
					(const void *)i)->id,
				((const struct str_i_link *)
					(const void *)i)->persist ?
					", persistently" : "");
	}
	SNAP_EACH (&v->now, i) {
		const struct str_i_name *n = (const void *)i;

		if (i->kind == STR_I_NAME && n->sid == st->sid && room(v))
			printf("    named %s, end %u\n", n->path, n->end);
	}
	if (v->why)
		snap_explain(&v->now, st, say, v);
}

static bool
show_line(void *arg, const char *text)
{
	struct view *v = arg;

	if (!room(v))
		return false;
	puts(text);
	return true;
}

static int
look_at_pipes(struct view *v)
{
	if (pipetop_take(&v->pipes, v->id) != 0) {
		tool_err(&tool, "/proc");
		return -1;
	}
	v->line = 0;
	pipetop_show(&v->pipes, show_line, v);
	return fflush(stdout) == 0 ? 0 : -1;
}

static int
look(struct view *v)
{
	const struct str_i *i;

	if (snap_take(&v->now, STR_I_WANT_PROCS | STR_I_WANT_STREAMS |
			STR_I_WANT_NAMES) != 0 ||
		snap_domain(&v->now) == NULL ||
		holders_take(&v->holders, &v->now) != 0) {
		snap_failed(&tool);
		return -1;
	}
	v->line = 0;
	show_top(v);
	if (room(v))
		printf("\n%-10s %-12s E %9s/%-8s %5s %-14s %-18s %s\n",
			"STREAM", "NAME", "TO READ", "HIWAT", "EXTRA", "FLAGS",
			"MODULES", "HELD BY");
	SNAP_EACH (&v->now, i) {
		const struct str_i_stream *st = (const void *)i;
		bool busy = false;

		if (i->kind != STR_I_STREAM || !wanted(v, st))
			continue;
		snap_explain(&v->now, st, mark, &busy);
		if (busy || v->all)
			show_stream(v, st);
	}
	return fflush(stdout) == 0 ? 0 : -1;
}

static int
as_json(struct view *v)
{
	struct json j = { .f = stdout };

	if (v->run) {
		if (pipetop_take(&v->pipes, v->id) != 0)
			tool_die(&tool, "/proc");
		json_begin(&j, NULL, '{');
		pipetop_dump(&j, &v->pipes);
		json_end(&j, '}');
		return TOOL_OK;
	}
	if (snap_take(&v->now, STR_I_WANT_ALL) != 0 ||
		holders_take(&v->holders, &v->now) != 0) {
		snap_failed(&tool);
		return TOOL_FAILED;
	}
	json_begin(&j, NULL, '{');
	dump_domain(&j, &v->now);
	dump_procs(&j, &v->now);
	dump_modules(&j, &v->now);
	dump_streams(&j, &v->now, &v->holders);
	json_end(&j, '}');
	return TOOL_OK;
}

/* Sleep between two snapshots; a q or a signal ends it. */
static bool
pause_or_end(const struct view *v)
{
	struct pollfd p = { STDIN_FILENO, POLLIN, 0 };
	char c;

	if (poll(&p, isatty(STDIN_FILENO), (int)(v->interval * 1000)) == 1)
		return read(STDIN_FILENO, &c, 1) != 1 || c == 'q' || ended;
	return ended;
}

static int
live(struct view *v)
{
	bool screen = isatty(STDOUT_FILENO) && !v->once;
	struct winsize ws;
	int err;

	for (long n = 1;; n++) {
		if (screen) {
			if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 &&
				ws.ws_row > 4)
				v->lines = ws.ws_row - 2;
			fputs("\033[H\033[2J", stdout);
		} else if (n != 1) {
			putchar('\n');
		}
		err = v->run ? look_at_pipes(v) : look(v);
		if (err != 0)
			return TOOL_FAILED;
		if (n == v->count || pause_or_end(v))
			return TOOL_OK;
	}
}

static void
options(struct view *v, int argc, char **argv)
{
	char *e;
	long pid;
	int c;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		switch (c) {
		case '1':
			v->once = true;
			v->count = 1;
			break;
		case 'a':
			v->all = true;
			break;
		case 'l':
			v->detail = true;
			break;
		case 'w':
			v->why = true;
			break;
		case 'r':
			v->run = true;
			break;
		case 'n':
			if (!tool_number(optarg, 1, 1L << 40, &v->count))
				tool_usage(&tool, "not a count: %s", optarg);
			break;
		case 's':
			v->interval = strtod(optarg, &e);
			if (e == optarg || *e != '\0' ||
				!(v->interval >= 0.01 && v->interval < 86400))
				tool_usage(&tool, "not an interval: %s",
					optarg);
			break;
		case TOOL_OPT_JSON:
			v->json = true;
			break;
		}
	}
	v->id = argv + optind;
	for (char **p = v->id; v->run && *p != NULL; p++)
		if (!tool_number(*p, 1, INT32_MAX, &pid))
			tool_usage(&tool, "not a process ID: %s", *p);
	if (v->id[0] != NULL)
		v->all = v->detail = v->why = true;
}

int
main(int argc, char **argv)
{
	struct view v = { .interval = 2 };
	struct sigaction sa = { .sa_handler = end };
	int status;

	options(&v, argc, argv);
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	status = v.json ? as_json(&v) : live(&v);
	snap_free(&v.now);
	holders_free(&v.holders);
	pipetop_free(&v.pipes);
	return tool_done(&tool, status);
}
