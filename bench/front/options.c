/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The command line of "strbench run".  Everything that can be wrong is found
 * here, before anything is measured.
 */
#include "strbench.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/parse.h"
#include "lib/pin.h"

enum {
	OPT_SUITE = 256,
	OPT_MODE,
	OPT_SIZES,
	OPT_SECONDS,
	OPT_WARMUP,
	OPT_REPEAT,
	OPT_IMPL,
	OPT_JSON,
	OPT_CPUS,
	OPT_IDLE_SAMPLES,
	OPT_IDLE_SECONDS,
	OPT_AGAIN,
	OPT_FULL,
};

static const struct option long_options[] = {
	{"suite", required_argument, NULL, OPT_SUITE},
	{"mode", required_argument, NULL, OPT_MODE},
	{"sizes", required_argument, NULL, OPT_SIZES},
	{"seconds", required_argument, NULL, OPT_SECONDS},
	{"warmup", required_argument, NULL, OPT_WARMUP},
	{"repeat", required_argument, NULL, OPT_REPEAT},
	{"impl", required_argument, NULL, OPT_IMPL},
	{"json", required_argument, NULL, OPT_JSON},
	{"cpus", required_argument, NULL, OPT_CPUS},
	{"idle-samples", required_argument, NULL, OPT_IDLE_SAMPLES},
	{"idle-seconds", required_argument, NULL, OPT_IDLE_SECONDS},
	{"again", required_argument, NULL, OPT_AGAIN},
	{"full", no_argument, NULL, OPT_FULL},
	{NULL, 0, NULL, 0},
};

int
complain(const char *what, int error)
{
	(void)fprintf(stderr, "strbench: %s: %s\n", what, strerror(error));
	return -1;
}

void
usage_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)fputs("strbench: ", stderr);
	(void)vfprintf(stderr, format, ap);
	(void)fputs("\nTry 'strbench --help'.\n", stderr);
	va_end(ap);
	exit(EXIT_USAGE);
}

static int
name_index(const char *name, const char *const *names, int n)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(name, names[i]) == 0)
			return i;
	}
	return -1;
}

/* "a,b" as a bit set of what find() knows. */
static uint64_t
parse_set(const char *option, const char *text, int (*find)(const char *))
{
	char *copy = strdup(text);
	char *rest = copy;
	char *word;
	uint64_t set = 0;

	while (copy != NULL && (word = strsep(&rest, ",")) != NULL) {
		int i = find(word);

		if (i < 0)
			usage_error("%s: '%s' is unknown ('strbench list' "
				    "shows what there is)",
				option, word);
		set |= BIT(i);
	}
	free(copy);
	return set;
}

static int
find_suite(const char *name)
{
	return name_index(name, suite_names, N_SUITES);
}

static int
find_mode(const char *name)
{
	return name_index(name, mode_names, N_MODES);
}

static int
find_implementation(const char *name)
{
	const struct implementation *found = implementation_find(name);

	return found == NULL ? -1 : (int)(found - implementations);
}

double
option_time(const char *option, const char *text, double lo, double hi)
{
	double value;

	if (bench_parse_seconds(text, lo, hi, &value) != 0)
		usage_error("%s: '%s' is not a time from %g to %g seconds",
			option, text, lo, hi);
	return value;
}

long
option_number(const char *option, const char *text, long lo, long hi)
{
	long value;

	if (bench_parse_long(text, lo, hi, &value) != 0)
		usage_error("%s: '%s' is not a number from %ld to %ld", option,
			text, lo, hi);
	return value;
}

static void
parse_sizes(struct run_options *o, const char *text)
{
	switch (bench_parse_sizes(
		text, 1, SIZE_LIMIT, o->sizes, MAX_SIZES, &o->n_sizes)) {
	case 0:
		return;
	case E2BIG:
		usage_error("--sizes: more than %d", MAX_SIZES);
	case ERANGE:
		usage_error("--sizes: '%s' is not all within 1 to %d", text,
			SIZE_LIMIT);
	default:
		usage_error("--sizes: '%s' is neither a list (1,64) nor a "
			    "range (1..64)",
			text);
	}
}

static int
compare_longs(const void *a, const void *b)
{
	long x = *(const long *)a;
	long y = *(const long *)b;

	return (x > y) - (x < y);
}

/* Ascending, each once: a point must not be measured twice. */
static void
sort_sizes(struct run_options *o)
{
	size_t kept = 0;

	qsort(o->sizes, o->n_sizes, sizeof(o->sizes[0]), compare_longs);
	for (size_t i = 0; i < o->n_sizes; i++) {
		if (kept == 0 || o->sizes[kept - 1] != o->sizes[i])
			o->sizes[kept++] = o->sizes[i];
	}
	o->n_sizes = kept;
}

static void
set_option(struct run_options *o, int option, const char *value)
{
	switch (option) {
	case OPT_SUITE:
		o->suites = parse_set("--suite", value, find_suite);
		break;
	case OPT_MODE:
		o->modes = parse_set("--mode", value, find_mode);
		break;
	case OPT_SIZES:
		parse_sizes(o, value);
		break;
	case OPT_SECONDS:
		o->seconds = option_time("--seconds", value, 0.01, 3600);
		break;
	case OPT_WARMUP:
		o->warmup = option_time("--warmup", value, 0, 3600);
		break;
	case OPT_REPEAT:
		o->repeat = option_number("--repeat", value, 1, MAX_REPEAT);
		break;
	case OPT_IMPL:
		o->chosen = parse_set("--impl", value, find_implementation);
		break;
	case OPT_JSON:
		o->json = value;
		break;
	case OPT_CPUS:
		if (bench_parse_cpus(value, &o->cpus[0], &o->cpus[1]) != 0)
			usage_error("--cpus: '%s' is not WRITER,READER", value);
		o->n_cpus = o->cpus[0] == o->cpus[1] ? 1 : 2;
		break;
	case OPT_IDLE_SAMPLES:
		o->idle_samples = option_number("--idle-samples", value, 0, 1000);
		break;
	case OPT_IDLE_SECONDS:
		o->idle_seconds =
			option_time("--idle-seconds", value, 0.1, 3600);
		break;
	case OPT_AGAIN:
		o->again = option_time("--again", value, 0, 36000);
		break;
	case OPT_FULL:
		o->full = 1;
		break;
	default:
		usage_error("unknown option, or value missing");
	}
}

static void cannot(const char *format, ...) STR_NORETURN STR_PRINTF(1, 2);

static void
cannot(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)fputs("strbench: ", stderr);
	(void)vfprintf(stderr, format, ap);
	(void)fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

/* A mode that was asked for is needed; one of the usual two is not. */
static void
check_modes(struct run_options *o)
{
	o->modes_usual = o->modes == 0;
	if (o->modes == 0 && o->n_cpus == 1)
		(void)fputs("strbench: one CPU only: mode split is left out\n",
			stderr);
	if (o->modes == 0)
		o->modes = o->n_cpus == 1 ? BIT(MODE_SAME)
					  : BIT(MODE_SAME) | BIT(MODE_SPLIT);
	else if (o->n_cpus == 1 && (o->modes & BIT(MODE_SPLIT)) != 0)
		cannot("mode split needs two CPUs");
}

static void
check_cpus(struct run_options *o)
{
	int allowed[1024];
	int n = bench_cpus_allowed(allowed, 1024);

	if (n < 1)
		cannot("no CPU may be used");
	if (o->n_cpus == 0) {
		o->n_cpus = n > 1 ? 2 : 1;
		o->cpus[0] = allowed[0];
		o->cpus[1] = allowed[o->n_cpus - 1];
	} else {
		for (int i = 0; i < 2; i++) {
			int found = 0;

			for (int j = 0; j < n; j++)
				found |= allowed[j] == o->cpus[i];
			if (!found)
				cannot("CPU %d may not be used", o->cpus[i]);
		}
	}
	check_modes(o);
}

static void
check_implementations(struct run_options *o)
{
	uint64_t missing = 0;

	for (enum program p = 0; p < N_PROGRAMS; p++)
		o->programs[p] = program_path(p);
	for (size_t i = 0; i < n_implementations; i++) {
		const struct implementation *impl = &implementations[i];
		uint64_t suites = (impl->suites | everyday_suites_of(impl)) &
				  o->suites;

		if ((o->chosen & BIT(i)) != 0 && suites == 0)
			usage_error("--impl: '%s' is not part of the chosen "
				    "suites",
				impl->name);
		if (o->programs[impl->program] != NULL)
			continue;
		if ((o->chosen & BIT(i)) != 0)
			cannot("%s: %s is not installed", impl->name,
				program_name(impl->program));
		if (((impl->usual | EVERYDAY_SUITES) & suites) != 0)
			missing |= BIT(impl->program);
	}
	for (enum program p = 0; o->chosen == 0 && p < N_PROGRAMS; p++) {
		if ((missing & BIT(p)) != 0)
			(void)fprintf(stderr,
				"strbench: %s is not installed: "
				"what it measures is left out\n",
				program_name(p));
	}
}

void
run_options_parse(struct run_options *o, int argc, char **argv)
{
	int option;

	*o = (struct run_options){
		.suites = BIT(N_SUITES) - 1,
		.seconds = USUAL_SECONDS,
		.warmup = USUAL_WARMUP,
		.repeat = 3,
		.idle_samples = 15,
		.idle_seconds = 2,
		.again = 40,
		.argc = argc,
		.argv = argv,
	};

	opterr = 0;
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) !=
		-1) {
		if (option == '?')
			usage_error("unknown option, or value missing: %s",
				argv[optind - 1]);
		set_option(o, option, optarg);
	}
	if (optind < argc)
		usage_error("'%s' is not an option", argv[optind]);
	sort_sizes(o);
	if (o->n_sizes != 0 && (o->suites & BIT(SUITE_PERFTEST)) != 0 &&
		o->sizes[o->n_sizes - 1] > 32768)
		usage_error("--sizes: suite perftest takes 1 to 32768 bytes");
	check_cpus(o);
	check_implementations(o);
}
