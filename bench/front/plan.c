/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The order of work: suite by suite, mode by mode, size by size; all
 * implementations of a point lie side by side, for measure.c to interleave.
 */
#include "strbench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stats.h"

/* What starting a worker, its check and its end take, roughly. */
#define OVERHEAD_SECONDS 0.02
#define STARVED_SECONDS  2

#define DOUBLINGS                                                            \
	{                                                                    \
		1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,     \
			8192, 16384                                          \
	}
#define N_DOUBLINGS 15

static const struct {
	long sizes[MAX_SIZES];
	size_t n;
} usual_sizes[N_SUITES] = {
	[SUITE_PIPE] = {DOUBLINGS, N_DOUBLINGS},
	[SUITE_TCP] = {DOUBLINGS, N_DOUBLINGS},
	[SUITE_UDP] = {DOUBLINGS, N_DOUBLINGS},
	[SUITE_LOOPBACK] = {DOUBLINGS, N_DOUBLINGS},
	[SUITE_WIRE] = {{1, 4, 16, 64, 256, 1024, 4096, 16384}, 8},
	[SUITE_NETNS] = {{1, 1024, 8192}, 3},
	[SUITE_RTT] = {{1, 1024}, 2},
	[SUITE_NETRTT] = {{1, 1024}, 2},
	[SUITE_ABLATION] = {{1, 64, 1024, 4096}, 4},
	[SUITE_PERFTEST] = {{1, 4, 16, 64, 256, 1024, 4096}, 7},
	[SUITE_IDLE] = {{64}, 1},
	[SUITE_OPEN] = {{1}, 1},
	[SUITE_NICE] = {{1, 4096}, 2},
};

void *
must(void *memory)
{
	if (memory != NULL)
		return memory;
	(void)fputs("strbench: out of memory\n", stderr);
	exit(1);
}

static int
wanted(const struct run_options *options, size_t i, enum suite suite)
{
	const struct implementation *impl = &implementations[i];

	if (options->programs[impl->program] == NULL)
		return 0;
	if (options->chosen != 0)
		return (options->chosen & BIT(i)) != 0 &&
		       (impl->suites & BIT(suite)) != 0;
	return (impl->usual & BIT(suite)) != 0;
}

/*
 * A receiver at nice 19 beside a sender that never blocks comes to run about
 * once in a second, and until then its sample does not end.  Namespaces are
 * many points too.
 */
static int
left_out(const struct run_options *options, size_t i, const struct task *point)
{
	const struct implementation *impl = &implementations[i];

	if (options->n_sizes != 0)
		return 0;
	if (NEEDS_NETNS(impl) && point->suite == SUITE_NETRTT)
		return point->size != 1;
	return impl->slow && point->size != 1 && point->size != 16 &&
	       point->size != 256 && point->size != 4096 &&
	       point->size != 16384;
}

static void
add_point(const struct run_options *options, struct plan *plan,
	const struct task *point)
{
	for (size_t i = 0; i < n_implementations; i++) {
		struct task *task;

		if (!wanted(options, i, point->suite) ||
			left_out(options, i, point))
			continue;
		plan->tasks = must(realloc(
			plan->tasks, (plan->n + 1) * sizeof(*plan->tasks)));
		task = &plan->tasks[plan->n++];
		*task = *point;
		task->implementation = &implementations[i];
	}
}

static void
add_suite(
	const struct run_options *options, struct plan *plan, enum suite suite)
{
	/* nothing is sent there, and by one process */
	int plain = suite == SUITE_OPEN;
	int usual = options->n_sizes == 0 || plain;
	const long *sizes = usual ? usual_sizes[suite].sizes : options->sizes;
	size_t n = usual ? usual_sizes[suite].n : options->n_sizes;

	for (enum mode mode = 0; mode < N_MODES; mode++) {
		if ((options->modes & BIT(mode)) == 0 ||
			mode == MODE_UNPINNED || (plain && mode != MODE_SAME))
			continue;
		for (size_t i = 0; i < n; i++) {
			const struct task point = {
				.suite = suite,
				.mode = mode,
				.size = sizes[i],
			};

			add_point(options, plan, &point);
		}
	}
}

/*
 * Side by side for all modes and sizes: they idle at the same time.  Between
 * namespaces the answer is only timed warm: a pause tells about waking up,
 * which is the same there.
 */
static void
add_after_pause(
	const struct run_options *options, struct plan *plan, enum suite suite)
{
	struct plan warm = {0};

	if (options->idle_samples == 0)
		return;
	add_suite(options, &warm, suite);
	for (size_t i = 0; i < warm.n; i++) {
		if (NEEDS_NETNS(warm.tasks[i].implementation))
			continue;
		warm.tasks[i].after_pause = 1;
		plan->tasks = must(realloc(
			plan->tasks, (plan->n + 1) * sizeof(*plan->tasks)));
		plan->tasks[plan->n++] = warm.tasks[i];
	}
	free(warm.tasks);
}

static int
has_part(const struct question *question, const char *name)
{
	for (const struct pair *p = question->pairs; p->ours != NULL; p++) {
		if (strcmp(p->ours, name) == 0 || strcmp(p->peer, name) == 0)
			return 1;
	}
	return 0;
}

/* All implementations of a question, side by side, in each of the modes. */
void
plan_ask(const struct run_options *options, struct plan *plan,
	enum suite suite, uint64_t modes, const struct question *question)
{
	struct question *kept = must(malloc(sizeof(*kept)));

	*kept = *question;
	plan->questions = must(realloc(plan->questions,
		(plan->n_questions + 1) * sizeof(struct question *)));
	plan->questions[plan->n_questions++] = kept;
	for (enum mode mode = 0; mode < N_MODES; mode++) {
		for (size_t i = 0; i < n_implementations; i++) {
			const struct implementation *impl = &implementations[i];

			if ((modes & BIT(mode)) == 0 ||
				!has_part(question, impl->name) ||
				options->programs[impl->program] == NULL ||
				(options->chosen != 0 &&
					(options->chosen & BIT(i)) == 0))
				continue;
			plan->tasks = must(realloc(plan->tasks,
				(plan->n + 1) * sizeof(*plan->tasks)));
			plan->tasks[plan->n++] = (struct task){
				.implementation = impl,
				.suite = suite,
				.mode = mode,
				.size = question->size,
				.question = kept,
			};
		}
	}
}

struct plan
plan_make(const struct run_options *options)
{
	struct plan plan = {0};

	for (enum suite suite = 0; suite < N_SUITES; suite++) {
		if ((options->suites & BIT(suite)) == 0)
			continue;
		if ((EVERYDAY_SUITES & BIT(suite)) != 0) {
			everyday_plan(options, &plan, suite);
			continue;
		}
		add_suite(options, &plan, suite);
		if ((RTT_SUITES & BIT(suite)) != 0)
			add_after_pause(options, &plan, suite);
	}
	return plan;
}

void
plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		for (int key = 0; key < N_KEYS; key++)
			free(plan->tasks[i].series[key].values);
	}
	for (size_t i = 0; i < plan->n_questions; i++)
		free(plan->questions[i]);
	free(plan->questions);
	free(plan->tasks);
	plan->tasks = NULL;
	plan->n = 0;
}

int
same_point(const struct task *a, const struct task *b)
{
	if (a->suite != b->suite || a->after_pause != b->after_pause ||
		a->question != b->question)
		return 0;
	/* of two priorities: one transport's are compared, no two transports */
	if (a->suite == SUITE_NICE &&
		strcmp(transport_name(a->implementation),
			transport_name(b->implementation)) != 0)
		return 0;
	return a->after_pause || (a->mode == b->mode && a->size == b->size);
}

/* For the progress display: how long all repetitions of a task take. */
double
task_seconds(const struct run_options *options, const struct task *task)
{
	double once = options->warmup + options->seconds;

	if (task->suite == SUITE_IDLE)
		return options->idle_seconds + 0.3;
	if (task->question != NULL)
		return (task->question->warmup + task->question->seconds +
			       task->question->overhead + OVERHEAD_SECONDS) *
		       (double)options->repeat;
	/* All of them idle together, so each is a part of the whole. */
	if (task->after_pause)
		return (double)(options->idle_samples + 1) / 16;
	if (task->suite == SUITE_PERFTEST)
		once = options->warmup * 2;
	if (task->implementation->slow && task->mode == MODE_SAME)
		once += STARVED_SECONDS;
	return (once + OVERHEAD_SECONDS) * (double)options->repeat;
}

void
task_add(struct task *task, enum key key, double value)
{
	struct series *series = &task->series[key];

	series->values = must(realloc(
		series->values, (series->n + 1) * sizeof(*series->values)));
	series->values[series->n++] = value;
}

double
task_median(const struct task *task, enum key key)
{
	return bench_median(task->series[key].values, task->series[key].n);
}
