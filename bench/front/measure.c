/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Carrying out the plan.
 *
 * At each point the implementations take turns, A B A B, and not A A B B, so
 * that what changes on the machine meanwhile hits all of them.  Before its
 * first turn an implementation has to prove that it carries data.  One that
 * fails twice at a point is not tried there again, one that fails again and
 * again is given up; the others go on.  What the machine has not got, or does
 * not permit, is skipped with the reason and not asked for again.  At the end
 * points whose samples disagree are sampled again (again.c).
 *
 * Round trips after a pause are different: nearly all the time is spent
 * idling, so many workers do it at the same time, each at its own offset in
 * the pause.  The machine is idle before each sample all the same.
 */
#include "strbench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/timing.h"

#define GRACE_SECONDS    20 /* for a worker on a busy machine */
#define OVERHEAD_TIMES   300 /* there, what takes long takes longer */
#define STATUS_FAILED    1 /* of a worker, which has said why */
#define STATUS_SKIPPED   77
#define MAX_FAILURES     2  /* at one point */
#define MAX_ALL_FAILURES 6  /* of one implementation */
#define PAUSE_SECONDS    1.0
#define PERFTEST_REPORTS 2 /* the first one is the warm-up */

static const char *const key_names[N_KEYS] = {
	[KEY_TX] = "tx_per_s",
	[KEY_RX] = "rx_per_s",
	[KEY_SWITCHES] = "voluntary_switches_per_s",
	[KEY_CPU] = "cpu_ns_per_message",
	[KEY_READ_CALLS] = "read_calls_per_message",
	[KEY_ARRIVED] = "arrived",
	[KEY_P50] = "p50_ns",
	[KEY_P99] = "p99_ns",
	[KEY_ROUND_TRIPS] = "round_trips_per_s",
	[KEY_SAMPLE] = "sample_ns",
	[KEY_READER] = "reader",
	[KEY_WRITER] = "writer",
	[KEY_POLLER] = "poller",
	[KEY_MEAN] = "mean_ns",
	[KEY_P999] = "p999_ns",
	[KEY_CPU_RATE] = "cpu_ns_per_s",
	[KEY_FAIR] = "slowest_over_fastest",
};

struct work {
	const struct run_options *options;
	double seconds_left;
	int *failures; /* by index into implementations[] */
	const char **skipped; /* likewise; the reason, or NULL */
};

/* The words of a worker's command line. */
struct command {
	const char *argv[20];
	char words[16][48];
	int argc;
	int n_words;
};

static void
command_word(struct command *command, const char *word)
{
	command->argv[command->argc++] = word;
	command->argv[command->argc] = NULL;
}

static void command_format(struct command *command, const char *format, ...)
	STR_PRINTF(2, 3);

static void
command_format(struct command *command, const char *format, ...)
{
	char *word = command->words[command->n_words++];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(word, sizeof(command->words[0]), format, ap);
	va_end(ap);
	command_word(command, word);
}

static void
command_cpus(struct command *command, const struct run_options *options,
	const struct task *task, const char *option)
{
	if (task->mode != MODE_UNPINNED)
		command_format(command, "%s=%d,%d", option, options->cpus[0],
			options->cpus[task->mode == MODE_SPLIT]);
}

static void
worker_command(struct command *command, const struct run_options *options,
	const struct task *task, const char *test)
{
	const struct implementation *impl = task->implementation;

	*command = (struct command){0};
	command_word(command, options->programs[impl->program]);
	command_word(command, test);
	command_word(command, transport_name(impl));
	command_format(command, "size=%ld", task->size);
	command_cpus(command, options, task, "cpus");
	if ((NET_SUITES & BIT(task->suite)) != 0)
		command_format(command, "bufsize=%d", NET_BUFFERS);
	if (impl->niced)
		command_word(command, "nice=-20,19");
}

/* Half of the usual time: the program makes two reports of it. */
static double
perftest_period(const struct run_options *options)
{
	return options->warmup < 0.05 ? 0.05 : options->warmup;
}

static void
perftest_command(struct command *command, const struct run_options *options,
	const struct task *task)
{
	*command = (struct command){0};
	command_word(command, options->programs[task->implementation->program]);
	command_word(command, "-a");
	command_word(command, "-r");
	command_word(command, "-q");
	command_word(command, "--hiwat=65536");
	command_word(command, "--lowat=8192");
	command_format(command, "--size=%ld", task->size);
	command_format(command, "--time=%g", perftest_period(options));
	command_format(command, "--iterations=%d", PERFTEST_REPORTS);
	command_cpus(command, options, task, "--cpus");
}

static void
task_failed(struct task *task, const char *reason)
{
	task->failures++;
	(void)snprintf(task->error, sizeof(task->error), "%s", reason);
	progress_end();
	(void)fprintf(stderr, "strbench: %s, %s, %s, ",
		suite_names[task->suite], task->implementation->name,
		mode_names[task->mode]);
	if (task->question != NULL)
		(void)fprintf(stderr, "%s: %s\n", task->question->name, reason);
	else
		(void)fprintf(stderr, "%ld bytes: %s\n", task->size, reason);
}

/*
 * The first task that finds out says so: of all that need namespaces, when
 * there are none, the first of them.
 */
static void
task_skipped(struct work *work, struct task *task, const char *reason)
{
	int said = 0;

	task->skipped = 1;
	(void)snprintf(task->error, sizeof(task->error), "%s", reason);
	for (size_t i = 0; i < n_implementations; i++)
		said |= work->skipped[i] != NULL &&
			NEEDS_NETNS(&implementations[i]) &&
			strcmp(work->skipped[i], task->error) == 0;
	work->skipped[task->implementation - implementations] = task->error;
	if (said && NEEDS_NETNS(task->implementation))
		return;
	progress_end();
	(void)fprintf(stderr, "strbench: %s is skipped: %s\n",
		task->implementation->name, reason);
}

static int
key_of_line(const char *line, double *ret_value)
{
	for (int key = 0; key < N_KEYS; key++) {
		size_t n = strlen(key_names[key]);
		char *end;

		if (strncmp(line, key_names[key], n) != 0 || line[n] != ' ')
			continue;
		*ret_value = strtod(line + n + 1, &end);
		if (end != line + n + 1 && *end == '\0')
			return key;
	}
	return -1;
}

/* Results into the task; returns the last line that is none, or NULL. */
static const char *
take_results(struct task *task, char *output, int ended_well)
{
	const char *message = NULL;
	char *line;

	while (output != NULL && (line = strsep(&output, "\n")) != NULL) {
		double value;
		int key = key_of_line(line, &value);

		if (key == -1 && *line != '\0')
			message = line;
		else if (key != -1 && ended_well)
			task_add(task, (enum key)key, value);
	}
	return message;
}

static const char *
take_perftest(const struct run_options *options, struct task *task,
	char *output, const struct process *process, int ended_well)
{
	double period = perftest_period(options);
	double sent = 0, got = 0;
	const char *message = NULL;
	char *line;

	while (output != NULL && (line = strsep(&output, "\n")) != NULL) {
		if (sscanf(line, "%*d Msgs sent: %lf", &sent) != 1 &&
			sscanf(line, "%*d Msgs read: %lf", &got) != 1 &&
			*line != '\0')
			message = line;
	}
	if (!ended_well)
		return message;
	if (!(sent > 0) || !(got > 0)) {
		task_failed(task, "no message was moved");
		return NULL;
	}
	task_add(task, KEY_TX, sent);
	task_add(task, KEY_RX, got);
	task_add(task, KEY_SWITCHES,
		(double)process->voluntary_switches /
			(period * PERFTEST_REPORTS));
	task_add(task, KEY_CPU,
		(double)process->cpu_ns / (got * period * PERFTEST_REPORTS));
	return message;
}

/* Why it failed: its last word, and how it ended when that says more. */
static void
give_reason(char *text, size_t size, const char *message, int how)
{
	const char *between = message != NULL ? ": " : "";

	if (message == NULL)
		message = "";
	if (WIFSIGNALED(how))
		(void)snprintf(text, size, "%.150s%sended by signal %d, %s",
			message, between, WTERMSIG(how),
			strsignal(WTERMSIG(how)));
	else if (*message == '\0' || WEXITSTATUS(how) != STATUS_FAILED)
		(void)snprintf(text, size, "%.150s%sended with status %d",
			message, between, WEXITSTATUS(how));
	else
		(void)snprintf(text, size, "%s", message);
}

/* Ends a process and files what it found.  error is process_collect()'s. */
static void
file_results(struct work *work, struct task *task, struct process *process,
	int error)
{
	int status = process_finish(process);
	int ended_well = status == 0 && error == 0;
	const char *message;
	char reason[200];

	if (task->suite == SUITE_PERFTEST)
		message = take_perftest(work->options, task,
			process->output, process, ended_well);
	else
		message = take_results(task, process->output, ended_well);
	if (status == STATUS_SKIPPED && error == 0 && !task->skipped) {
		task_skipped(work, task, message != NULL ? message : "no reason");
	} else if (!ended_well && !task->skipped && error != ECANCELED) {
		give_reason(reason, sizeof(reason), message, process->how);
		task_failed(task,
			error == ETIMEDOUT ? "no end in time" : reason);
	}
	free(process->output);
	process->output = NULL;
}

static void
run_command(struct work *work, struct task *task,
	const struct command *command, double seconds)
{
	struct process process;
	uint64_t deadline =
		bench_now_ns() + bench_seconds_to_ns(seconds + GRACE_SECONDS);
	int error = process_start(
		&process, command->argv, task->implementation->eager);

	if (error != 0) {
		task_failed(task, strerror(error));
		return;
	}
	error = process_collect(&process, 1, deadline);
	file_results(work, task, &process, error);
}

static void
command_question(struct command *command, const struct task *task)
{
	const struct question *question = task->question;

	for (int i = 0; question != NULL && i < question->n_settings; i++)
		command_word(command, question->settings[i]);
}

static void
run_question(struct work *work, struct task *task)
{
	const struct question *question = task->question;
	struct command command;

	worker_command(&command, work->options, task, question->test);
	command_question(&command, task);
	command_format(&command, "warmup=%g", question->warmup);
	command_format(&command, "seconds=%g", question->seconds);
	run_command(work, task, &command,
		question->warmup + question->seconds +
			OVERHEAD_TIMES * question->overhead);
}

static void
run_once(struct work *work, struct task *task, int first)
{
	const struct run_options *options = work->options;
	double seconds = task->suite == SUITE_IDLE ? options->idle_seconds
						   : options->seconds;
	struct command command;

	if (task->suite == SUITE_PERFTEST) {
		perftest_command(&command, options, task);
		run_command(work, task, &command,
			perftest_period(options) * PERFTEST_REPORTS);
		return;
	}
	if (first && (task->question == NULL || task->question->checked)) {
		int failures = task->failures;

		worker_command(&command, options, task, "verify");
		command_question(&command, task);
		run_command(work, task, &command, 0);
		if (task->failures != failures || task->skipped ||
			stop_signal() != 0)
			return;
	}
	if (task->question != NULL) {
		run_question(work, task);
		return;
	}
	worker_command(&command, options, task,
		(RTT_SUITES & BIT(task->suite)) != 0 ? "rtt"
		: task->suite == SUITE_IDLE	     ? "idle"
		: task->suite == SUITE_OPEN	     ? "open"
						     : "throughput");
	command_format(&command, "warmup=%g", options->warmup);
	command_format(&command, "seconds=%g", seconds);
	run_command(work, task, &command, options->warmup + seconds);
}

/* Whether it is known that the machine has not got it. */
static int
known_skip(const struct work *work, struct task *task)
{
	const char *reason =
		work->skipped[task->implementation - implementations];

	if (reason != NULL && !task->skipped) {
		task->skipped = 1;
		(void)snprintf(task->error, sizeof(task->error), "%s", reason);
	}
	return task->skipped;
}

static void
run_unless_given_up(struct work *work, struct task *task, int first)
{
	size_t which = (size_t)(task->implementation - implementations);
	int *failures = &work->failures[which];
	int before = task->failures;

	if (known_skip(work, task) || task->failures >= MAX_FAILURES)
		return;
	if (*failures >= MAX_ALL_FAILURES) {
		if (task->failures == 0)
			task_failed(task, "not tried: it failed too often");
		return;
	}
	run_once(work, task, first);
	*failures += task->failures - before;
}

static void
run_point(struct work *work, struct task *tasks, size_t n)
{
	long repeat = tasks[0].suite == SUITE_IDLE ? 1 : work->options->repeat;

	for (long r = 0; r < repeat; r++) {
		for (size_t i = 0; i < n; i++) {
			if (stop_signal() != 0)
				return;
			progress_show(&tasks[i], work->seconds_left);
			run_unless_given_up(work, &tasks[i], r == 0);
			work->seconds_left -=
				task_seconds(work->options, &tasks[i]) /
				(double)repeat;
		}
	}
}

/* Where samples disagree, whichever of them it is: again.c. */
static void
run_again(struct work *work, struct plan *plan)
{
	const struct run_options *options = work->options;
	uint64_t end = bench_now_ns() + bench_seconds_to_ns(options->again);
	uint64_t now;
	size_t first, n = 0;

	while (stop_signal() == 0 && (now = bench_now_ns()) < end) {
		double left = (double)(end - now) / BENCH_NS_PER_S;

		first = again_next(options, plan, left, &n);
		if (first == plan->n)
			return;
		work->seconds_left = left;
		for (size_t i = 0; i < AGAIN_ROUNDS * n; i++) {
			struct task *task = &plan->tasks[first + i % n];

			if (stop_signal() != 0)
				return;
			if (!sampled_again(task))
				continue;
			progress_show(task, left);
			run_unless_given_up(work, task, 0);
		}
	}
}

static void
run_after_pause(struct work *work, struct task *tasks, size_t n)
{
	const struct run_options *options = work->options;
	struct process processes[PROCESS_MAX];
	double seconds = PAUSE_SECONDS * (double)(options->idle_samples + 2);
	uint64_t pause = bench_seconds_to_ns(PAUSE_SECONDS);
	uint64_t begin = bench_now_ns() + pause + pause / 2;
	uint64_t deadline;
	int collected, error = 0;

	progress_show(&tasks[0], work->seconds_left);
	for (size_t i = 0; i < n; i++) {
		struct command command;

		work->seconds_left -= task_seconds(options, &tasks[i]);
		processes[i] = (struct process){.pid = -1, .fd = -1};
		if (known_skip(work, &tasks[i]))
			continue;
		worker_command(&command, options, &tasks[i], "pause");
		command_format(&command, "samples=%ld", options->idle_samples);
		command_format(&command, "pause=%g", PAUSE_SECONDS);
		command_format(&command, "begin=%llu",
			(unsigned long long)(begin + i * (pause / n)));
		if (process_start(&processes[i], command.argv,
			    tasks[i].implementation->eager) != 0)
			error = EAGAIN;
	}
	/* If not all could be started, those that were are ended at once. */
	deadline = error != 0
			   ? 0
			   : bench_now_ns() + bench_seconds_to_ns(
						      seconds + GRACE_SECONDS);
	collected = process_collect(processes, n, deadline);
	if (error == 0)
		error = collected;
	for (size_t i = 0; i < n; i++) {
		if (!tasks[i].skipped)
			file_results(work, &tasks[i], &processes[i], error);
	}
}

int
measure_plan(const struct run_options *options, struct plan *plan)
{
	struct work work = {
		.options = options,
		.failures = calloc(n_implementations, sizeof(int)),
		.skipped = calloc(n_implementations, sizeof(char *)),
	};
	size_t n;

	if (work.failures == NULL || work.skipped == NULL) {
		(void)complain("measuring", ENOMEM);
		exit(1);
	}
	for (size_t i = 0; i < plan->n; i++)
		work.seconds_left += task_seconds(options, &plan->tasks[i]);
	work.seconds_left += options->again;
	progress_begin(work.seconds_left);
	for (size_t i = 0; i < plan->n && stop_signal() == 0; i += n) {
		struct task *tasks = &plan->tasks[i];

		n = 1;
		while (i + n < plan->n && same_point(tasks, &tasks[n]) &&
			(n < PROCESS_MAX || !tasks->after_pause))
			n++;
		if (tasks->after_pause)
			run_after_pause(&work, tasks, n);
		else
			run_point(&work, tasks, n);
	}
	run_again(&work, plan);
	progress_end();
	free(work.failures);
	free(work.skipped);
	return stop_signal();
}
