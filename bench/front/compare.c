/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Ours against the kernel's: what the questions of the everyday suites have
 * as their answers.
 *
 * A ratio says how many times better ours is, whichever way the measure goes:
 * of rates it is ours over the peer's, of times and costs the peer's over
 * ours.  So below 1 is a loss, everywhere.  Within EVEN of 1 is neither.
 */
#include "strbench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVEN       0.05
#define HUGE_RATIO 1e9

static const struct measure {
	enum key key;
	const char *name;
	const char *unit;
	int less; /* is better */
} measures[] = {
	{KEY_RX, "rate", "1/s", 0},
	{KEY_MEAN, "mean", "ns", 1},
	{KEY_P50, "p50", "ns", 1},
	{KEY_P99, "p99", "ns", 1},
	{KEY_P999, "p99.9", "ns", 1},
	{KEY_CPU, "CPU each", "ns", 1},
	{KEY_CPU_RATE, "CPU per second", "ns", 1},
	{KEY_ARRIVED, "arrived", "part", 0},
	{KEY_FAIR, "slowest over fastest", "part", 0},
};

struct comparison {
	const struct task *ours;
	const struct task *peer;
	const struct measure *measure;
	double ratio;
};

struct comparisons {
	struct comparison *of;
	size_t n;
};

static double
better(double ours, double peer, int less)
{
	double under = less ? ours : peer;
	double over = less ? peer : ours;

	/* Nothing against nothing is as good; against it, without bound. */
	if (!(under > 0))
		return over > 0 ? HUGE_RATIO : 1;
	return over / under;
}

static const char *
verdict(double ratio)
{
	return ratio < 1 - EVEN ? "loss" : ratio > 1 + EVEN ? "win" : "even";
}

static void
compare(struct comparisons *all, const struct task *ours,
	const struct task *peer)
{
	for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
		const struct measure *measure = &measures[i];

		if (ours->series[measure->key].n == 0 ||
			peer->series[measure->key].n == 0)
			continue;
		all->of = must(realloc(
			all->of, (all->n + 1) * sizeof(*all->of)));
		all->of[all->n++] = (struct comparison){ours, peer, measure,
			better(task_median(ours, measure->key),
				task_median(peer, measure->key),
				measure->less)};
	}
}

static const struct task *
find(const struct plan *plan, const struct task *point, const char *name)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct task *task = &plan->tasks[i];

		if (task->question == point->question &&
			task->mode == point->mode &&
			strcmp(task->implementation->name, name) == 0)
			return task;
	}
	return NULL;
}

/* Losses first; what is as good stays in the order of the plan. */
static int
by_ratio(const void *a, const void *b)
{
	const struct comparison *x = a, *y = b;

	if (x->ratio != y->ratio)
		return x->ratio < y->ratio ? -1 : 1;
	if (x->ours != y->ours)
		return x->ours < y->ours ? -1 : 1;
	return (x->measure > y->measure) - (x->measure < y->measure);
}

static struct comparisons
compare_all(const struct plan *plan)
{
	struct comparisons all = {0};

	for (size_t i = 0; i < plan->n; i++) {
		const struct task *ours = &plan->tasks[i];
		const struct pair *pair =
			ours->question == NULL ? NULL : ours->question->pairs;

		for (; pair != NULL && pair->ours != NULL; pair++) {
			const struct task *peer = find(plan, ours, pair->peer);

			if (peer != NULL &&
				strcmp(pair->ours,
					ours->implementation->name) == 0)
				compare(&all, ours, peer);
		}
	}
	if (all.n != 0)
		qsort(all.of, all.n, sizeof(*all.of), by_ratio);
	return all;
}

static json_t *
side_object(const struct task *task, enum key key)
{
	return json_pack("{s:s, s:f, s:o}", "implementation",
		task->implementation->name, "value", task_median(task, key),
		"samples", series_array(&task->series[key]));
}

json_t *
compare_array(const struct plan *plan)
{
	struct comparisons all = compare_all(plan);
	json_t *array = json_array();

	for (size_t i = 0; i < all.n; i++) {
		const struct comparison *c = &all.of[i];
		enum key key = c->measure->key;

		(void)json_array_append_new(array,
			json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, "
				  "s:f, s:s}",
				"suite", suite_names[c->ours->suite], "name",
				c->ours->question->name, "mode",
				mode_names[c->ours->mode], "measure",
				c->measure->name, "unit", c->measure->unit,
				"better", c->measure->less ? "less" : "more",
				"ours", side_object(c->ours, key), "peer",
				side_object(c->peer, key), "ratio", c->ratio,
				"verdict", verdict(c->ratio)));
	}
	free(all.of);
	return array;
}

void
compare_print(const struct plan *plan)
{
	struct comparisons all = compare_all(plan);
	size_t losses = 0, wins = 0;

	for (size_t i = 0; i < all.n; i++) {
		losses += strcmp(verdict(all.of[i].ratio), "loss") == 0;
		wins += strcmp(verdict(all.of[i].ratio), "win") == 0;
	}
	if (all.n != 0)
		printf("\nwhere we win, where we lose: %zu wins, %zu even, %zu "
		       "losses\n%7s %-4s %12s %12s %-4s\n",
			wins, all.n - wins - losses, losses, "ratio", "",
			"ours", "peer's", "unit");
	for (size_t i = 0; i < all.n; i++) {
		const struct comparison *c = &all.of[i];
		enum key key = c->measure->key;

		printf("%7.3g %-4s %12.6g %12.6g %-4s %s, %s: %s, %s over %s\n",
			c->ratio, verdict(c->ratio), task_median(c->ours, key),
			task_median(c->peer, key), c->measure->unit,
			c->ours->question->name, c->measure->name,
			mode_names[c->ours->mode],
			c->ours->implementation->name,
			c->peer->implementation->name);
	}
	free(all.of);
}
