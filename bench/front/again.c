/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Which points are sampled again.
 *
 * A machine that does something else for a while, or lets one of two
 * processes wait for a moment, spoils a sample; a median of three stands one
 * of these, and not two.  So when all points have their samples, those where
 * they disagree get more, the worst first, until they agree, have three times
 * as many as they began with, or the time for it is over.
 *
 * The rule knows nothing of who was better: all implementations of a point
 * take turns again, as often as each other, whichever of them it was, and
 * nothing that has been measured is taken away.  One whose sample takes seconds,
 * or that failed there, is neither asked nor sampled again.
 */
#include "strbench.h"

#include "lib/stats.h"

#define DISAGREE   0.25
#define MOST_TIMES 3

enum key
task_key(const struct task *task)
{
	if ((RX_SUITES & BIT(task->suite)) != 0)
		return KEY_RX;
	if ((TIMED_SUITES & BIT(task->suite)) == 0)
		return KEY_TX;
	return task->after_pause ? KEY_SAMPLE : KEY_P50;
}

int
sampled_again(const struct task *task)
{
	return task->question == NULL && !task->after_pause && task->suite != SUITE_IDLE &&
	       !task->skipped && task->failures == 0 &&
	       !task->implementation->slow;
}

/* How far the samples of a point disagree; 0: it is to have no more. */
static double
disagreement(const struct run_options *options, const struct task *tasks,
	size_t n, double *ret_seconds)
{
	double most = 0;

	*ret_seconds = 0;
	for (size_t i = 0; i < n; i++) {
		const struct series *s = &tasks[i].series[task_key(&tasks[i])];
		double spread;

		if (!sampled_again(&tasks[i]))
			continue;
		*ret_seconds += task_seconds(options, &tasks[i]) /
				(double)options->repeat;
		if (s->n >= (size_t)(MOST_TIMES * options->repeat))
			return 0;
		spread = bench_spread(s->values, s->n);
		if (spread > most)
			most = spread;
	}
	return most > DISAGREE ? most : 0;
}

/*
 * again_next - the tasks of the point that is to be sampled next
 * @seconds: how long that may take
 * @ret_n: how many they are
 *
 * Return: an index into @plan's; its number of tasks: there is none.
 */
size_t
again_next(const struct run_options *options, const struct plan *plan,
	double seconds, size_t *ret_n)
{
	size_t best = plan->n, n;
	double most = 0;

	for (size_t i = 0; i < plan->n; i += n) {
		double takes, much;

		for (n = 1; i + n < plan->n &&
			    same_point(&plan->tasks[i], &plan->tasks[i + n]);)
			n++;
		much = disagreement(options, &plan->tasks[i], n, &takes);
		if (much <= most || takes * AGAIN_ROUNDS > seconds)
			continue;
		most = much;
		best = i;
		*ret_n = n;
	}
	return best;
}
