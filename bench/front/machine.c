/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What a reader needs to know about the machine to judge the numbers.  What
 * cannot be found out is null.
 */
#include "strbench.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "build_id.h"

static json_t *
text(const char *value)
{
	json_t *string =
		value == NULL || *value == '\0' ? NULL : json_string(value);

	/* NULL too for what is not UTF-8. */
	return string != NULL ? string : json_null();
}

static json_t *
first_line(const char *path)
{
	char line[256] = "";
	FILE *file = fopen(path, "re");

	if (file != NULL) {
		if (fgets(line, sizeof(line), file) == NULL)
			line[0] = '\0';
		(void)fclose(file);
	}
	line[strcspn(line, "\n")] = '\0';
	return text(line);
}

/* "key : value" of /proc/cpuinfo, the first of them. */
static json_t *
cpu_model(void)
{
	static const char *const keys[] = {
		"model name\t", "Processor\t", "cpu\t", "uarch\t"};
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[512];
	json_t *model = NULL;

	while (file != NULL && model == NULL &&
		fgets(line, sizeof(line), file) != NULL) {
		char *colon = strchr(line, ':');

		line[strcspn(line, "\n")] = '\0';
		for (size_t i = 0; colon != NULL && model == NULL &&
				   i < sizeof(keys) / sizeof(keys[0]);
			i++) {
			if (strncmp(line, keys[i], strlen(keys[i])) == 0)
				model = text(colon + 1 + (colon[1] == ' '));
		}
	}
	if (file != NULL)
		(void)fclose(file);
	return model != NULL ? model : json_null();
}

/* "flags" of /proc/cpuinfo; only x86 says it. */
static json_t *
virtualization(void)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t room = 0;
	const char *found = NULL;

	while (file != NULL && found == NULL &&
		getline(&line, &room, file) != -1) {
		if (strncmp(line, "flags\t", 6) == 0)
			found = strstr(line, " hypervisor") != NULL ?
				"virtual machine" : "none";
	}
	free(line);
	if (file != NULL)
		(void)fclose(file);
	return text(found);
}

static json_t *
now_utc(void)
{
	char buf[40];
	time_t now = time(NULL);
	struct tm tm;

	if (gmtime_r(&now, &tm) == NULL ||
		strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		return json_null();
	return json_string(buf);
}

static json_t *
load_average(void)
{
	double loads[3];
	json_t *array = json_array();

	for (int i = 0; i < getloadavg(loads, 3); i++)
		(void)json_array_append_new(array, json_real(loads[i]));
	return array;
}

json_t *
machine_facts(const struct run_options *options)
{
	json_t *facts = json_object();
	char path[96];
	struct utsname uts;

	(void)uname(&uts);
	(void)snprintf(path, sizeof(path),
		"/sys/devices/system/cpu/cpu%d/"
		"cpufreq/scaling_governor",
		options->cpus[0]);
	(void)json_object_set_new(facts, "hostname", text(uts.nodename));
	(void)json_object_set_new(facts, "cpu_model", cpu_model());
	(void)json_object_set_new(
		facts, "cores", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	(void)json_object_set_new(facts, "cpus_used",
		json_pack("[ii]", options->cpus[0], options->cpus[1]));
	(void)json_object_set_new(facts, "virtualization", virtualization());
	(void)json_object_set_new(facts, "governor", first_line(path));
	(void)json_object_set_new(facts, "memory_bytes",
		json_integer((json_int_t)sysconf(_SC_PHYS_PAGES) *
			     sysconf(_SC_PAGESIZE)));
	(void)json_object_set_new(facts, "architecture", text(uts.machine));
	(void)json_object_set_new(facts, "kernel", text(uts.release));
	(void)json_object_set_new(facts, "glibc", text(gnu_get_libc_version()));
	(void)json_object_set_new(facts, "clock", text("CLOCK_MONOTONIC"));
	(void)json_object_set_new(facts, "clocksource",
		first_line("/sys/devices/system/clocksource/clocksource0/"
			   "current_clocksource"));
	(void)json_object_set_new(facts, "date", now_utc());
	(void)json_object_set_new(facts, "load_average", load_average());
	(void)json_object_set_new(facts, "version", text(BENCH_VERSION));
	(void)json_object_set_new(facts, "build_id", text(BENCH_BUILD_ID));
	(void)json_object_set_new(facts, "compiler", text(BENCH_COMPILER));
	return facts;
}
