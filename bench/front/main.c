/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * strbench - measure pipes, transports and what does their work, and show the
 * results.
 */
#include "strbench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"Usage: strbench run [options]          measure\n"
	"       strbench report FILE... -o DIR  turn results into a page\n"
	"       strbench list                   what can be measured\n"
	"       strbench server [-L HOST] [-p PORT]\n"
	"                                       receive for strbench range\n"
	"       strbench range tcp|udp [options]  sizes, to another host\n"
	"       strbench --help | --version\n"
	"\n"
	"Options of run\n"
	"  --suite LIST        pipe, rtt, ablation, perftest, idle, open, tcp, udp,\n"
	"                      loopback, netrtt, wire, netns, nice, sizes, paced,\n"
	"                      servers, crowd, busy, life (all)\n"
	"  --mode LIST         same, split: one CPU or two (both); unpinned: the\n"
	"                      last six suites only (each has its own)\n"
	"  --full              all of the last six, for longer, in all modes\n"
	"  --sizes LIST        message sizes; A..B doubles (each suite's own)\n"
	"  --impl LIST         implementations (each suite's usual ones)\n"
	"  --seconds S         measured time of a sample (0.13)\n"
	"  --warmup S          time before it that does not count (0.06)\n"
	"  --repeat N          samples for each result (3)\n"
	"  --again S           time to sample again where samples disagree (40)\n"
	"  --idle-samples N    round trips after 1 s of idling (15)\n"
	"  --idle-seconds S    how long blocked processes are watched (2)\n"
	"  --cpus W,R          CPUs of writer and reader (the first two)\n"
	"  --json FILE         result file; - is standard output\n";

static int
list(void)
{
	printf("suites:");
	for (int i = 0; i < N_SUITES; i++)
		printf(" %s", suite_names[i]);
	printf("\nmodes: same split unpinned\n\nimplementations:\n");
	for (size_t i = 0; i < n_implementations; i++) {
		const struct implementation *impl = &implementations[i];

		printf("  %-21s %s%s\n  %-21s suites", impl->name, impl->about,
			program_path(impl->program) == NULL ? " (not installed)"
							    : "",
			"");
		for (int suite = 0; suite < N_SUITES; suite++) {
			uint64_t everyday = everyday_suites_of(impl);

			if (((impl->suites | everyday) & BIT(suite)) == 0)
				continue;
			printf(" %s%s", suite_names[suite],
				((impl->usual | everyday) & BIT(suite)) != 0
					? ""
					: "*");
		}
		putchar('\n');
	}
	printf("\n* only when asked for with --impl\n");
	return fflush(stdout) == 0 ? 0 : 1;
}

static int
failures(const struct plan *plan)
{
	int n = 0;

	for (size_t i = 0; i < plan->n; i++)
		n += plan->tasks[i].failures;
	return n;
}

static int
run(int argc, char **argv)
{
	struct run_options options;
	struct plan plan;
	json_t *machine;
	int stopped, ret = 0;

	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return fputs(usage, stdout) == EOF;
	run_options_parse(&options, argc, argv);
	if (options.json != NULL && result_check_output(options.json) != 0)
		return 1;
	plan = plan_make(&options);
	if (plan.n == 0) {
		(void)fputs("strbench: nothing to measure\n", stderr);
		return 1;
	}
	stop_signals_block();
	/* Before the measurements: the load they make is not of interest. */
	machine = machine_facts(&options);
	stopped = measure_plan(&options, &plan);
	if (options.json != NULL &&
		result_write(&options, &plan, machine, stopped != 0) != 0)
		ret = 1;
	if (options.json == NULL || strcmp(options.json, "-") != 0)
		summary_print(&plan);
	if (failures(&plan) != 0)
		ret = 1;
	if (stopped != 0) {
		(void)fprintf(stderr,
			"strbench: stopped by signal %d; the "
			"result is incomplete\n",
			stopped);
		ret = 128 + stopped;
	}
	json_decref(machine);
	plan_free(&plan);
	return ret;
}

int
main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : NULL;

	if (command == NULL)
		usage_error("no command");
	if (strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0 ||
		strcmp(command, "help") == 0)
		return fputs(usage, stdout) == EOF;
	if (strcmp(command, "--version") == 0 || strcmp(command, "-V") == 0)
		return printf("strbench (Fast-STREAMS) %s\n", BENCH_VERSION) <
		       0;
	if (strcmp(command, "run") == 0)
		return run(argc - 1, argv + 1);
	if (strcmp(command, "report") == 0)
		return report_main(argc - 1, argv + 1);
	if (strcmp(command, "server") == 0)
		return server_main(argc - 1, argv + 1);
	if (strcmp(command, "range") == 0)
		return range_main(argc - 1, argv + 1);
	if (strcmp(command, "list") == 0 && argc == 2)
		return list();
	usage_error("'%s' is not a command", command);
}
