/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The result file, docs/benchmarks.md.
 *
 * A file is written beside its place and renamed, so that a reader
 * finds the old one or the whole new one.  Whether it can be written at all
 * is found out before anything is measured.
 */
#include "strbench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/stats.h"

#define SCHEMA     1
#define DUMP_FLAGS (JSON_INDENT(1) | JSON_REAL_PRECISION(7))

/* Neither a regular file nor nothing yet: a pipe, a terminal, /dev/null. */
static int
is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/*
 * What the name finally stands for, so that a symbolic link to a file is
 * not replaced by a file.  Caller frees.
 */
static char *
final_path(const char *path)
{
	char *real = realpath(path, NULL);

	return real != NULL ? real : strdup(path);
}

/* An open file beside path; its name in *ret_name, to be freed. */
static FILE *
open_beside(const char *path, char **ret_name)
{
	FILE *file;
	char *name;
	int fd;

	if (asprintf(&name, "%s.XXXXXX", path) == -1) {
		errno = ENOMEM;
		return NULL;
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd == -1) {
		free(name);
		return NULL;
	}
	file = fdopen(fd, "w");
	if (file == NULL) {
		(void)close(fd);
		(void)unlink(name);
		free(name);
		return NULL;
	}
	*ret_name = name;
	return file;
}

int
result_check_output(const char *path)
{
	struct stat st;
	char *real, *name;
	FILE *file;
	int error = 0;

	if (strcmp(path, "-") == 0)
		return 0;
	if (*path == '\0')
		return complain("--json", ENOENT);
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return complain(path, EISDIR);
	if (is_special(path))
		return access(path, W_OK) == 0 ? 0 : complain(path, errno);
	real = final_path(path);
	if (real == NULL)
		return complain(path, ENOMEM);
	file = open_beside(real, &name);
	if (file == NULL) {
		error = errno;
	} else {
		(void)unlink(name);
		(void)fclose(file);
		free(name);
	}
	free(real);
	return error == 0 ? 0 : complain(path, error);
}

static int
write_file(const char *path, json_t *result)
{
	char *name;
	FILE *file = open_beside(path, &name);
	mode_t mask = umask(0);
	int error = 0;

	(void)umask(mask);
	if (file == NULL)
		return complain(path, errno);
	if (json_dumpf(result, file, DUMP_FLAGS) != 0 ||
		fputc('\n', file) == EOF || fflush(file) != 0 ||
		fchmod(fileno(file), 0666 & ~mask) != 0)
		error = errno != 0 ? errno : EIO;
	if (fclose(file) != 0 && error == 0)
		error = errno;
	if (error == 0 && rename(name, path) != 0)
		error = errno;
	if (error != 0)
		(void)unlink(name);
	free(name);
	return error == 0 ? 0 : complain(path, error);
}

static int
write_stream(const char *path, json_t *result)
{
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");

	if (file == NULL)
		return complain(path, errno);
	errno = 0;
	if (json_dumpf(result, file, DUMP_FLAGS) != 0 ||
		fputc('\n', file) == EOF || fflush(file) != 0)
		return complain(path, errno != 0 ? errno : EIO);
	if (file != stdout && fclose(file) != 0)
		return complain(path, errno);
	return 0;
}

json_t *
series_array(const struct series *series)
{
	json_t *array = json_array();

	for (size_t i = 0; i < series->n; i++)
		(void)json_array_append_new(
			array, json_real(series->values[i]));
	return array;
}

static void
set_median(json_t *run, const char *name, const struct task *task, enum key key)
{
	if (task->series[key].n != 0)
		(void)json_object_set_new(
			run, name, json_real(task_median(task, key)));
}

static void
set_round_trips(json_t *run, const struct task *task)
{
	const struct series *samples = &task->series[KEY_SAMPLE];

	(void)json_object_set_new(
		run, "state", json_string(task->after_pause ? "idle" : "warm"));
	if (!task->after_pause) {
		set_median(run, "p50_ns", task, KEY_P50);
		set_median(run, "p99_ns", task, KEY_P99);
		set_median(run, "tx_per_s", task, KEY_ROUND_TRIPS);
		set_median(run, "rx_per_s", task, KEY_ROUND_TRIPS);
		(void)json_object_set_new(
			run, "samples", series_array(&task->series[KEY_P50]));
		return;
	}
	(void)json_object_set_new(run, "p50_ns",
		json_real(bench_percentile(samples->values, samples->n, 50)));
	(void)json_object_set_new(run, "p99_ns",
		json_real(bench_percentile(samples->values, samples->n, 99)));
	(void)json_object_set_new(run, "samples", series_array(samples));
}

static void
set_idle(
	json_t *run, const struct run_options *options, const struct task *task)
{
	(void)json_object_set_new(
		run, "seconds", json_real(options->idle_seconds));
	set_median(run, "reader_switches", task, KEY_READER);
	set_median(run, "writer_switches", task, KEY_WRITER);
	set_median(run, "poller_switches", task, KEY_POLLER);
}

static void
set_open(json_t *run, const struct task *task)
{
	set_median(run, "p50_ns", task, KEY_P50);
	set_median(run, "p99_ns", task, KEY_P99);
	(void)json_object_set_new(
		run, "samples", series_array(&task->series[KEY_P50]));
}

static void
set_throughput(json_t *run, const struct task *task)
{
	set_median(run, "tx_per_s", task, KEY_TX);
	set_median(run, "rx_per_s", task, KEY_RX);
	(void)json_object_set_new(
		run, "samples", series_array(&task->series[KEY_TX]));
	(void)json_object_set_new(
		run, "rx_samples", series_array(&task->series[KEY_RX]));
	set_median(run, "read_calls_per_message", task, KEY_READ_CALLS);
	if ((RX_SUITES & BIT(task->suite)) != 0)
		set_median(run, "arrived", task, KEY_ARRIVED);
}

static int
has_result(const struct task *task)
{
	for (int key = 0; key < N_KEYS; key++) {
		if (task->series[key].n != 0)
			return 1;
	}
	return 0;
}

static json_t *
point_object(const struct task *task)
{
	json_t *point = json_pack("{s:s, s:s, s:s, s:I}", "suite",
		suite_names[task->suite], "implementation",
		task->implementation->name, "mode", mode_names[task->mode],
		"message_bytes", (json_int_t)task->size);

	if (task->question != NULL)
		(void)json_object_set_new(
			point, "name", json_string(task->question->name));
	return point;
}

static json_t *
run_object(const struct run_options *options, const struct task *task)
{
	json_t *run = point_object(task);

	if ((RTT_SUITES & BIT(task->suite)) != 0)
		set_round_trips(run, task);
	else if (task->suite == SUITE_IDLE)
		set_idle(run, options, task);
	else if (task->suite == SUITE_OPEN)
		set_open(run, task);
	else
		set_throughput(run, task);
	set_median(run, "voluntary_switches_per_s", task, KEY_SWITCHES);
	set_median(run, "cpu_ns_per_message", task, KEY_CPU);
	return run;
}

/* The message may be anything a program printed. */
static json_t *
error_text(const struct task *task)
{
	json_t *message = json_string(task->error);

	return message != NULL ? message : json_string("(not text)");
}

/* Once for each implementation. */
static int
said_before(const struct plan *plan, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (plan->tasks[j].skipped &&
			plan->tasks[j].implementation ==
				plan->tasks[i].implementation)
			return 1;
	}
	return 0;
}

static json_t *
skipped_array(const struct plan *plan)
{
	json_t *skipped = json_array();

	for (size_t i = 0; i < plan->n; i++) {
		const struct task *task = &plan->tasks[i];
		json_t *one;

		if (!task->skipped || said_before(plan, i))
			continue;
		one = json_pack("{s:s}", "implementation",
			task->implementation->name);
		(void)json_object_set_new(one, "reason", error_text(task));
		(void)json_array_append_new(skipped, one);
	}
	return skipped;
}

static json_t *
command_line(const struct run_options *options)
{
	json_t *words = json_array();

	for (int i = 0; i < options->argc; i++) {
		json_t *word = json_string(options->argv[i]);

		(void)json_array_append_new(
			words, word != NULL ? word : json_null());
	}
	return words;
}

static json_t *
result_object(const struct run_options *options, const struct plan *plan,
	json_t *machine, int partial)
{
	json_t *runs = json_array();
	json_t *errors = json_array();

	for (size_t i = 0; i < plan->n; i++) {
		const struct task *task = &plan->tasks[i];

		if (task->question == NULL && has_result(task))
			(void)json_array_append_new(
				runs, run_object(options, task));
		if (task->failures != 0) {
			json_t *error = point_object(task);

			(void)json_object_set_new(
				error, "message", error_text(task));
			(void)json_array_append_new(errors, error);
		}
	}
	return json_pack("{s:i, s:b, s:O, s:o, s:{s:f, s:f, s:I, s:f, s:b}, s:o, s:o, s:o, "
			 "s:o}",
		"schema", SCHEMA, "partial", partial, "machine", machine,
		"command", command_line(options), "settings", "seconds",
		options->seconds, "warmup_seconds", options->warmup, "repeat",
		(json_int_t)options->repeat, "again_seconds",
		options->again, "full", options->full, "runs", runs,
		"comparisons", compare_array(plan), "errors", errors,
		"skipped", skipped_array(plan));
}

int
result_write(const struct run_options *options, const struct plan *plan,
	json_t *machine, int partial)
{
	json_t *result = result_object(options, plan, machine, partial);
	char *path;
	int ret;

	if (result == NULL)
		return complain(options->json, ENOMEM);
	if (strcmp(options->json, "-") == 0 || is_special(options->json)) {
		ret = write_stream(options->json, result);
	} else {
		path = final_path(options->json);
		ret = path == NULL ? complain(options->json, ENOMEM)
				   : write_file(path, result);
		free(path);
	}
	json_decref(result);
	return ret;
}
