/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The everyday suites: what programs meet that are not alone, not always
 * busy, and do not run for ever.  A suite is a list of questions; a question
 * is what the worker is told, and pairs of an implementation of ours and the
 * kernel's that does the same.  All of a question take turns (measure.c), and
 * compare.c makes the ratios.
 *
 * Without --full there are fewer questions, and fewer modes.
 */
#include "strbench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define FULL_TIMES 3 /* --full measures so much longer */

struct asking {
	const struct run_options *options;
	struct plan *plan;
	enum suite suite;
	uint64_t modes; /* unless they are given, or --full is */
};

/* clang-format off */
#define PAIRS(name, ...) \
	static const struct pair name[] = {__VA_ARGS__, {NULL, NULL}}
PAIRS(pipes, {"pipe-streams", "pipe-linux"});
PAIRS(sized_pipes, {"pipe-streams", "pipe-linux"},
	{"pipe-streams", "pipe-linux-1m"});
PAIRS(paced_pairs, {"pipe-streams", "pipe-linux"},
	{"ticotsord", "unix-stream"},
	{"tcp-xtios-nodelay", "tcp-sockets-nodelay"},
	{"udp-xti", "udp-sockets"});
PAIRS(burst_pairs, {"wire-packet-out", "udp-sockets-netns"},
	{"wire-packet-in", "udp-sockets-netns"});
PAIRS(server_pairs, {"pipe-streams", "unix-stream"},
	{"ticotsord", "unix-stream"}, {"udp-xti", "udp-sockets"});
PAIRS(busy_pairs, {"pipe-streams", "pipe-linux"},
	{"pipe-streams", "unix-stream"}, {"ticotsord", "unix-stream"});
PAIRS(stream_pairs, {"ticotsord", "unix-stream"},
	{"tcp-xtios", "tcp-sockets"});
PAIRS(endpoint_pairs, {"ticotsord", "unix-stream"},
	{"tcp-xtios", "tcp-sockets"}, {"udp-xti", "udp-sockets"});
PAIRS(rest_pairs, {"pipe-streams", "pipe-linux"},
	{"ticotsord", "unix-stream"}, {"tcp-xtios", "tcp-sockets"},
	{"udp-xti", "udp-sockets"});
/* clang-format on */

static const struct {
	enum suite suite;
	const struct pair *pairs;
} who[] = {
	{SUITE_SIZES, sized_pipes},
	{SUITE_PACED, paced_pairs},
	{SUITE_PACED, burst_pairs},
	{SUITE_SERVERS, server_pairs},
	{SUITE_CROWD, pipes},
	{SUITE_BUSY, busy_pairs},
	{SUITE_LIFE, rest_pairs},
};

uint64_t
everyday_suites_of(const struct implementation *implementation)
{
	uint64_t suites = 0;

	for (size_t i = 0; i < sizeof(who) / sizeof(who[0]); i++) {
		const struct pair *pair = who[i].pairs;

		for (; pair->ours != NULL; pair++) {
			if (strcmp(pair->ours, implementation->name) == 0 ||
				strcmp(pair->peer, implementation->name) == 0)
				suites |= BIT(who[i].suite);
		}
	}
	return suites;
}

static struct question question_of(const char *test, const struct pair *pairs,
	const char *format, ...) STR_PRINTF(3, 4);

static struct question
question_of(const char *test, const struct pair *pairs, const char *format, ...)
{
	struct question question = {
		.test = test,
		.pairs = pairs,
		.size = 1,
		.seconds = 0.1,
		.warmup = 0.03,
	};
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(question.name, sizeof(question.name), format, ap);
	va_end(ap);
	return question;
}

static void setting(struct question *question, const char *format, ...)
	STR_PRINTF(2, 3);

static void
setting(struct question *question, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(question->settings[question->n_settings++],
		sizeof(question->settings[0]), format, ap);
	va_end(ap);
}

static uint64_t
modes_of(const struct asking *a)
{
	const struct run_options *o = a->options;
	uint64_t possible = BIT(MODE_SAME) | BIT(MODE_UNPINNED);

	if (!o->modes_usual)
		return o->modes;
	if (o->n_cpus > 1)
		possible |= BIT(MODE_SPLIT);
	return possible & (o->full ? UINT64_MAX : a->modes);
}

/* More descriptors than a process may have: said once, and left out. */
static int
too_many(const struct question *question)
{
	static int said;
	struct rlimit limit;

	if (question->descriptors == 0 ||
		getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
		limit.rlim_max >= (rlim_t)question->descriptors)
		return 0;
	if (!said)
		(void)fprintf(stderr,
			"strbench: a process may have %llu descriptors: "
			"what needs more is left out\n",
			(unsigned long long)limit.rlim_max);
	return said = 1;
}

static void
ask(const struct asking *a, struct question question)
{
	const struct run_options *o = a->options;
	double scale = o->seconds / USUAL_SECONDS;
	uint64_t modes = modes_of(a);

	if (too_many(&question))
		return;
	/* One process has no two CPUs. */
	if (question.single)
		modes &= ~BIT(MODE_SPLIT);
	question.seconds *= scale * (o->full ? FULL_TIMES : 1);
	if (question.seconds < question.least)
		question.seconds = question.least;
	if (question.warmup > o->warmup)
		question.warmup = o->warmup;
	plan_ask(a->options, a->plan, a->suite, modes, &question);
}

static void
ask_sizes(struct asking *a)
{
	static const struct {
		long size;
		int full;
	} sizes[] = {{1, 0}, {64, 1}, {1024, 0}, {4096, 1}, {16384, 1},
		{32768, 0}, {32769, 0}, {65536, 0}, {65537, 0}, {131072, 1},
		{262144, 1}, {1 << 20, 0}};
	static const struct {
		long n;
		int full;
	} parts[] = {{1, 0}, {2, 1}, {8, 0}, {9, 0}, {64, 1}, {1024, 0}};
	int full = a->options->full;

	a->modes = BIT(MODE_SAME) | BIT(MODE_SPLIT);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct question q = question_of("throughput", sized_pipes,
			"write of %ld B", sizes[i].size);

		if (sizes[i].full && !full)
			continue;
		q.size = sizes[i].size;
		q.checked = 1;
		q.seconds = 0.06;
		ask(a, q);
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct question q = question_of("throughput", sized_pipes,
			"writev of %ld parts of 64 B", parts[i].n);

		if (parts[i].full && !full)
			continue;
		q.size = 64 * parts[i].n;
		q.checked = 1;
		q.seconds = 0.06;
		setting(&q, "parts=%ld", parts[i].n);
		ask(a, q);
	}
}

/* What does a datagram between network namespaces cost, and does it arrive? */
static void
ask_bursts(struct asking *a)
{
	static const struct {
		long size;
		int full;
	} sizes[] = {{64, 1}, {1400, 0}, {8192, 1}};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct question q = question_of("paced", burst_pairs,
			"10 datagrams of %ld B each 1 ms, between namespaces",
			sizes[i].size);

		if (sizes[i].full && !a->options->full)
			continue;
		q.size = sizes[i].size;
		q.seconds = 0.2;
		setting(&q, "pause=0.001");
		setting(&q, "n=10");
		ask(a, q);
	}
}

static void
ask_paced(struct asking *a)
{
	/* least: what is measured, however short all else is */
	static const struct {
		const char *name;
		const char *pause;
		double seconds, least;
		int full;
	} paces[] = {
		{"10 us", "0.00001", 0.1, 0, 1},
		{"100 us", "0.0001", 0.12, 0, 0},
		{"1 ms", "0.001", 0.25, 0, 0},
		{"20 ms", "0.02", 0.5, 0.1, 0},
		{"200 ms", "0.2", 3, 0.5, 1},
	};

	a->modes = BIT(MODE_UNPINNED);
	for (size_t i = 0; i < sizeof(paces) / sizeof(paces[0]); i++) {
		struct question q = question_of("paced", paced_pairs,
			"a message each %s", paces[i].name);

		if (paces[i].full && !a->options->full)
			continue;
		q.size = 64;
		q.seconds = paces[i].seconds;
		q.least = paces[i].least;
		setting(&q, "pause=%s", paces[i].pause);
		ask(a, q);
	}
	ask_bursts(a);
}

static void
ask_server(struct asking *a, const char *how, const char *what, long n,
	long percent)
{
	struct question q = question_of("servers", server_pairs,
		"server, %s, %ld descriptors, %ld %% active", how, n, percent);
	long active = n * percent / 100;

	q.size = 64;
	q.descriptors = 2 * n + 100;
	/* What opening so many takes. */
	q.overhead = 0.0002 * (double)n;
	setting(&q, "what=%s", what);
	setting(&q, "n=%ld", n);
	setting(&q, "active=%ld", active == 0 ? 1 : active);
	ask(a, q);
}

static void
ask_servers(struct asking *a)
{
	static const long counts[] = {10, 100, 1000, 5000};
	static const struct {
		const char *name, *what;
	} loops[] = {{"epoll", "level"}, {"epoll edges", "edge"},
		{"poll", "poll"}};

	a->modes = BIT(MODE_UNPINNED);
	if (!a->options->full) {
		ask_server(a, "epoll", "level", 10, 100);
		ask_server(a, "epoll", "level", 100, 1);
		ask_server(a, "epoll", "level", 1000, 1);
		ask_server(a, "epoll", "level", 1000, 100);
		ask_server(a, "epoll edges", "edge", 1000, 1);
		ask_server(a, "poll", "poll", 1000, 1);
		return;
	}
	for (size_t l = 0; l < sizeof(loops) / sizeof(loops[0]); l++) {
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]);
			i++) {
			/* of 10 descriptors, 1 % would be 1 as well */
			if (counts[i] > 10)
				ask_server(a, loops[l].name, loops[l].what,
					counts[i], 1);
			ask_server(a, loops[l].name, loops[l].what, counts[i],
				100);
		}
	}
}

static void
ask_crowd(struct asking *a)
{
	static const struct {
		const char *name, *what;
		long n;
	} crowds[] = {
		{"2 writers, one reader", "in", 2},
		{"8 writers, one reader", "in", 8},
		{"64 writers, one reader", "in", 64},
		{"one writer, 8 pipes and readers", "out", 8},
		{"one writer, 8 readers of one pipe", "shared", 8},
		{"8 pairs", "pairs", 8},
		{"4 threads write, one reader", "threads", 4},
	};

	a->modes = BIT(MODE_UNPINNED) | BIT(MODE_SAME);
	for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++) {
		struct question q =
			question_of("crowd", pipes, "%s", crowds[i].name);

		q.size = 64;
		setting(&q, "what=%s", crowds[i].what);
		setting(&q, "n=%ld", crowds[i].n);
		ask(a, q);
	}
}

static void
ask_busy(struct asking *a)
{
	a->modes = BIT(MODE_UNPINNED) | BIT(MODE_SAME);
	for (int nice = 0; nice <= 19; nice += 19) {
		struct question q = question_of("busy", busy_pairs,
			"round trip beside a busy process%s",
			nice == 0 ? "" : " at nice 19");

		/* Several turns of the scheduler. */
		q.seconds = 0.3;
		setting(&q, "busynice=%d", nice);
		ask(a, q);
	}
}

static void
ask_chore(struct asking *a, const struct pair *pairs, const char *name,
	const char *what, long n)
{
	struct question q = question_of("life", pairs, "%s", name);

	q.single = 1;
	q.seconds = 0.08;
	setting(&q, "what=%s", what);
	if (n != 0) {
		setting(&q, "n=%ld", n);
		q.descriptors = 2 * n + 100;
		q.overhead = 0.0002 * (double)n;
	}
	ask(a, q);
}

static void
ask_rest(struct asking *a, long n, const char *name)
{
	struct question q = question_of("rest", rest_pairs,
		"%s idle endpoints, all processes", name);

	q.single = 1;
	/* streamsd looks around in intervals. */
	q.seconds = 0.6;
	q.descriptors = n + 100;
	q.overhead = 0.5 + 0.0002 * (double)n;
	setting(&q, "n=%ld", n / 2); /* channels have two ends */
	ask(a, q);
}

static void
ask_life(struct asking *a)
{
	int full = a->options->full;
	struct question q =
		question_of("open", pipes, "pipe() and two close()");

	a->modes = BIT(MODE_UNPINNED);
	q.single = 1;
	q.seconds = 0.05;
	ask(a, q);
	ask_chore(a, pipes, "first pipe of a program, new domain",
		"first-new", 0);
	ask_chore(a, pipes, "first pipe of a program, beside 1 pipe",
		"first", 1);
	ask_chore(a, pipes, "first pipe of a program, beside 1,000 pipes",
		"first", 1000);
	if (full)
		ask_chore(a, pipes,
			"first pipe of a program, beside 8,000 pipes", "first",
			8000);
	ask_chore(a, pipes, "start and end of a program without streams",
		"exec", 0);
	ask_chore(a, pipes, "fork, exit and wait with 1,000 pipes", "fork",
		1000);
	ask_chore(a, pipes, "first call of a child with 1 pipe", "child", 1);
	ask_chore(a, pipes, "first call of a child with 1,000 pipes", "child",
		1000);
	if (full)
		ask_chore(a, pipes, "first call of a child with 5,000 pipes",
			"child", 5000);
	ask_chore(a, stream_pairs, "connect, accept and close", "connect", 0);
	ask_chore(a, endpoint_pairs, "open and close of an endpoint",
		"endpoint", 0);
	ask_rest(a, 1000, "1,000");
	if (full)
		ask_rest(a, 5000, "5,000");
}

void
everyday_plan(const struct run_options *options, struct plan *plan,
	enum suite suite)
{
	struct asking asking = {
		.options = options, .plan = plan, .suite = suite};

	switch (suite) {
	case SUITE_SIZES:
		ask_sizes(&asking);
		break;
	case SUITE_PACED:
		ask_paced(&asking);
		break;
	case SUITE_SERVERS:
		ask_servers(&asking);
		break;
	case SUITE_CROWD:
		ask_crowd(&asking);
		break;
	case SUITE_BUSY:
		ask_busy(&asking);
		break;
	case SUITE_LIFE:
		ask_life(&asking);
		break;
	default:
		break;
	}
}
