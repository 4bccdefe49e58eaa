/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * For the person at the terminal: what was measured, as tables.  The report
 * shows more.
 */
#include "strbench.h"

#include <stdio.h>
#include <string.h>

#define MAX_COLUMNS 16

/* What a table cell shows, and how. */
static double
cell_value(const struct task *task)
{
	return task_median(task, task_key(task));
}

static void
print_cell(const struct task *task, int width)
{
	double value = task == NULL ? 0 : cell_value(task);

	if (task != NULL && task->series[KEY_READER].n != 0)
		printf(" %*.0f", width,
			task_median(task, KEY_READER) +
				task_median(task, KEY_WRITER) +
				task_median(task, KEY_POLLER));
	else if (value > 0)
		printf(" %*.0f", width, value);
	else
		printf(" %*s", width, "-");
}

static int
same_table(const struct task *a, const struct task *b)
{
	return a->suite == b->suite && a->mode == b->mode &&
	       a->after_pause == b->after_pause;
}

static const struct task *
find_cell(const struct plan *plan, const struct task *table, long size,
	const struct implementation *implementation)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct task *task = &plan->tasks[i];

		if (same_table(task, table) && task->size == size &&
			task->implementation == implementation)
			return task;
	}
	return NULL;
}

static int
column_width(const struct implementation *implementation)
{
	int width = (int)strlen(implementation->name);

	return width < 10 ? 10 : width;
}

static void
print_head(const struct task *table)
{
	static const char *const heads[N_SUITES] = {
		[SUITE_PIPE] = "messages sent per second",
		[SUITE_RTT] = "round trip, median, ns",
		[SUITE_ABLATION] = "messages sent per second",
		[SUITE_PERFTEST] = "messages sent per second",
		[SUITE_IDLE] = "context switches while blocked",
		[SUITE_OPEN] = "pipe() and two close(), median, ns",
		[SUITE_TCP] = "messages received per second",
		[SUITE_UDP] = "messages received per second",
		[SUITE_LOOPBACK] = "messages received per second",
		[SUITE_NETRTT] = "round trip, median, ns",
		[SUITE_WIRE] = "messages received per second",
		[SUITE_NETNS] = "messages received per second",
		[SUITE_NICE] = "messages received per second",
	};

	printf("\n%s%s, %s: %s\n", suite_names[table->suite],
		table->after_pause ? " after a pause" : "",
		mode_names[table->mode], heads[table->suite]);
}

static int
measured(const struct task *task)
{
	return cell_value(task) > 0 || task->series[KEY_READER].n != 0;
}

/* An interrupted run leaves rows, and tables, without any result. */
static int
row_measured(const struct plan *plan, const struct task *table, long size)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct task *task = &plan->tasks[i];

		if (same_table(task, table) &&
			(size == 0 || task->size == size) && measured(task))
			return 1;
	}
	return 0;
}

static void
print_row(const struct plan *plan, const struct task *row,
	const struct implementation *const *columns, size_t n)
{
	printf("%7ld", row->size);
	for (size_t c = 0; c < n; c++)
		print_cell(find_cell(plan, row, row->size, columns[c]),
			column_width(columns[c]));
	putchar('\n');
}

/* The table whose first task is at index first. */
static void
print_table(const struct plan *plan, size_t first)
{
	const struct task *table = &plan->tasks[first];
	const struct implementation *columns[MAX_COLUMNS];
	size_t n = 0;
	long last_size = -1;

	for (size_t i = first; i < plan->n && n < MAX_COLUMNS; i++) {
		const struct task *task = &plan->tasks[i];

		if (same_table(task, table) && task->size == table->size)
			columns[n++] = task->implementation;
	}
	print_head(table);
	printf("%7s", "bytes");
	for (size_t c = 0; c < n; c++)
		printf(" %*s", column_width(columns[c]), columns[c]->name);
	putchar('\n');
	for (size_t i = first; i < plan->n; i++) {
		const struct task *task = &plan->tasks[i];

		if (!same_table(task, table) || task->size == last_size)
			continue;
		last_size = task->size;
		if (row_measured(plan, table, last_size))
			print_row(plan, task, columns, n);
	}
}

/* A line for each point: a transport, with both priorities. */
static void
print_nice(const struct plan *plan, size_t first)
{
	const struct task *table = &plan->tasks[first];
	size_t n;

	print_head(table);
	printf("%7s %-17s %10s %10s %8s\n", "bytes", "", "(N)", "(A)",
		"(A)/(N)");
	for (size_t i = first; i < plan->n; i += n) {
		const struct task *task = &plan->tasks[i];
		double rate[2] = {0, 0};

		for (n = 1; i + n < plan->n && same_point(task, &task[n]); n++)
			;
		if (!same_table(task, table))
			continue;
		for (size_t k = 0; k < n; k++)
			rate[task[k].implementation->niced] =
				cell_value(&task[k]);
		if (rate[0] <= 0 && rate[1] <= 0)
			continue;
		printf("%7ld %-17s %10.0f %10.0f", task->size,
			transport_name(task->implementation), rate[0], rate[1]);
		if (rate[0] > 0)
			printf(" %8.3f", rate[1] / rate[0]);
		putchar('\n');
	}
}

void
summary_print(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		size_t before = 0;

		if (plan->tasks[i].question != NULL)
			continue;
		while (before < i &&
			!same_table(&plan->tasks[before], &plan->tasks[i]))
			before++;
		if (before != i || !row_measured(plan, &plan->tasks[i], 0))
			continue;
		if (plan->tasks[i].suite == SUITE_NICE)
			print_nice(plan, i);
		else
			print_table(plan, i);
	}
	compare_print(plan);
	(void)fflush(stdout);
}
