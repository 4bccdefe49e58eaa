/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * perftest, perftestn - how fast is a pipe?
 *
 * One source, two programs: perftest measures STREAMS-based pipes and is
 * linked with libstreams, perftestn is compiled with NATIVE_PIPES, is not
 * linked with it, and measures the pipes of the system.
 */
#include "perftest.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/parse.h"
#include "lib/pin.h"
#include "str/annot.h"

#ifdef NATIVE_PIPES
#define PROGRAM "perftestn"
#else
#define PROGRAM "perftest"
#endif

#define EXIT_USAGE   2
#define NICE_DEFAULT 19
#define PUSH_MAX     1024 /* sanity; the executive has a limit of its own */

enum { OPT_HIWAT = 256, OPT_LOWAT, OPT_CPUS };

static const char short_options[] = "MwR::S::Fm:Hafp:bs:rt:i:qCvhV?";

static const struct option long_options[] = {
	{"hiwat", required_argument, NULL, OPT_HIWAT},
	{"lowat", required_argument, NULL, OPT_LOWAT},
	{"mread", no_argument, NULL, 'M'},
	{"readfill", no_argument, NULL, 'w'},
	{"niceread", optional_argument, NULL, 'R'},
	{"nicesend", optional_argument, NULL, 'S'},
	{"full", no_argument, NULL, 'F'},
	{"module", required_argument, NULL, 'm'},
	{"push", required_argument, NULL, 'p'},
	{"hold", no_argument, NULL, 'H'},
	{"async", no_argument, NULL, 'a'},
	{"fifo", no_argument, NULL, 'f'},
	{"blocking", no_argument, NULL, 'b'},
	{"size", required_argument, NULL, 's'},
	{"readwrite", no_argument, NULL, 'r'},
	{"time", required_argument, NULL, 't'},
	{"iterations", required_argument, NULL, 'i'},
	{"cpus", required_argument, NULL, OPT_CPUS},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", optional_argument, NULL, 'v'},
	{"copying", no_argument, NULL, 'C'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static const char copying[] = PROGRAM
	" - pipe performance test, Fast-STREAMS " BENCH_VERSION "\n"
	"Copyright (c) 2026 The Fast-STREAMS authors\n"
	"SPDX-License-Identifier: BSD-2-Clause; there is no warranty.\n";

static const char usage[] =
	"Usage: " PROGRAM " [options]\n"
	"\n"
	"Message size and transfer\n"
	"  -s, --size=N          message size, 1 to 32768 bytes (64)\n"
	"  -F, --full            read 4096 bytes at a time, not N\n"
	"  -r, --readwrite       read/write instead of getmsg/putmsg\n"
	"  -b, --blocking        blocking descriptors\n"
	"  -a, --async           a writer and a reader process\n"
	"  -R, --niceread[=N]    priority of the reader process (19)\n"
	"  -S, --nicesend[=N]    priority of the writer process (19)\n"
	"      --cpus=W,R        bind writer and reader to these CPUs\n"
	"Stream\n"
	"      --hiwat=N         high-water mark of both ends\n"
	"      --lowat=N         low-water mark of both ends\n"
	"  -M, --mread           read notification (M_READ)\n"
	"  -w, --readfill        reads wait until they are filled\n"
	"  -H, --hold            coalesce small writes\n"
	"  -m, --module=NAME     module to push (pipemod)\n"
	"  -p, --push=N          push it N times on the writing end (0)\n"
	"  -f, --fifo            a FIFO instead of a pipe\n"
	"Reports\n"
	"  -t, --time=N          seconds between reports (1)\n"
	"  -i, --iterations=N    stop after N reports (never)\n"
	"  -q, --quiet           no opening lines\n"
	"  -v, --verbose[=N]     say more\n"
	"Others\n"
	"  -h, -?, --help  -V, --version  -C, --copying\n";

static void usage_error(const char *format, ...) STR_NORETURN STR_PRINTF(1, 2);

static void
usage_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)fputs(PROGRAM ": ", stderr);
	(void)vfprintf(stderr, format, ap);
	(void)fputs("\nTry '" PROGRAM " --help'.\n", stderr);
	va_end(ap);
	exit(EXIT_USAGE);
}

int
perftest_complain(const char *what)
{
	(void)fprintf(stderr, PROGRAM ": %s: %s\n", what, strerror(errno));
	return -1;
}

static long
number(const char *option, const char *text, long lo, long hi)
{
	long value;

	if (bench_parse_long(text, lo, hi, &value) != 0)
		usage_error("%s: '%s' is not a number from %ld to %ld", option,
			text, lo, hi);
	return value;
}

STR_NORETURN static void
print_and_exit(const char *text)
{
	(void)fputs(text, stdout);
	exit(fflush(stdout) == 0 ? 0 : 1);
}

/* Options that configure the stream or the transfer; 0 if it is another. */
static int
transfer_option(struct perftest_options *o, int opt)
{
	switch (opt) {
	case 'M':
		o->mread = 1;
		return 1;
	case 'w':
		o->readfill = 1;
		return 1;
	case 'F':
		o->full = 1;
		return 1;
	case 'H':
		o->hold = 1;
		return 1;
	case 'a':
		o->async = 1;
		return 1;
	case 'f':
		o->fifo = 1;
		return 1;
	case 'b':
		o->blocking = 1;
		return 1;
	case 'r':
		o->readwrite = 1;
		return 1;
	case OPT_HIWAT:
		o->hiwat = number("--hiwat", optarg, 0, 1 << 30);
		return 1;
	case OPT_LOWAT:
		o->lowat = number("--lowat", optarg, 0, 1 << 30);
		return 1;
	case 'm':
		if (*optarg == '\0' || strlen(optarg) > PERFTEST_NAME_MAX)
			usage_error("--module: '%s' is no module name", optarg);
		o->module = optarg;
		return 1;
	case 'p':
		o->push = number("--push", optarg, 0, PUSH_MAX);
		return 1;
	case 's':
		o->size =
			(size_t)number("--size", optarg, 1, PERFTEST_SIZE_MAX);
		return 1;
	default:
		return 0;
	}
}

static void
run_option(struct perftest_options *o, int opt)
{
	switch (opt) {
	case 'R':
		o->set_nice_read = 1;
		o->nice_read = optarg == NULL ? NICE_DEFAULT
					      : (int)number("--niceread",
							optarg, -20, 19);
		break;
	case 'S':
		o->set_nice_send = 1;
		o->nice_send = optarg == NULL ? NICE_DEFAULT
					      : (int)number("--nicesend",
							optarg, -20, 19);
		break;
	case 't':
		/* Below this the reminder of alarm.c would count as a period. */
		if (bench_parse_seconds(optarg, 0.05, 86400, &o->period) != 0)
			usage_error("--time: '%s' is not a time from 0.05 to "
				    "86400 seconds",
				optarg);
		break;
	case 'i':
		o->iterations = number("--iterations", optarg, 1, 1 << 30);
		break;
	case OPT_CPUS:
		if (bench_parse_cpus(optarg, &o->cpu_writer, &o->cpu_reader) !=
			0)
			usage_error(
				"--cpus: '%s' is not WRITER,READER", optarg);
		o->pinned = 1;
		break;
	case 'q':
		o->verbose = 0;
		break;
	case 'v':
		o->verbose = optarg == NULL
				     ? o->verbose + 1
				     : (int)number("--verbose", optarg, 0, 10);
		break;
	case 'C':
	case 'V':
		print_and_exit(copying);
	default:
		print_and_exit(usage);
	}
}

static void
parse_options(int argc, char **argv, struct perftest_options *o)
{
	int opt, index = 0;

	opterr = 0;
	for (;;) {
		int at = optind;

		opt = getopt_long(
			argc, argv, short_options, long_options, &index);
		if (opt == -1)
			break;
		/* getopt's '?' is an error, unless the user typed it. */
		if (opt == '?' && strcmp(argv[at], "-?") != 0)
			usage_error("unknown option, or value missing or "
				    "unwanted: %s",
				argv[optind - 1]);
		if (!transfer_option(o, opt))
			run_option(o, opt);
	}
	if (optind < argc)
		usage_error("'%s' is not an option", argv[optind]);
	if (o->hiwat >= 0 && o->lowat >= 0 && o->hiwat < o->lowat)
		usage_error(
			"--hiwat=%ld is below --lowat=%ld", o->hiwat, o->lowat);
}

int
main(int argc, char **argv)
{
	struct perftest_options options = {
		.hiwat = -1,
		.lowat = -1,
		.module = "pipemod",
		.size = 64,
		.period = 1,
		.iterations = -1,
		.verbose = 1,
	};
	struct perftest test = {.options = &options};
	int ret;

	parse_options(argc, argv, &options);
#ifdef NATIVE_PIPES
	options.readwrite = 1;
	options.fifo = 0;
#endif
	if (options.verbose > 0)
		(void)fputs(copying, stdout);
	if (perftest_signals() != 0) {
		(void)perftest_complain("signals");
		return 1;
	}
	if (perftest_open(&test) != 0)
		return 1;
	if (options.verbose > 1)
		printf(PROGRAM ": %zu bytes, %s, %s, period %g s\n",
			options.size, options.async ? "async" : "sync",
			options.readwrite ? "read/write" : "getmsg/putmsg",
			options.period);
	ret = options.async ? perftest_async(&test) : perftest_sync(&test);
	perftest_close(&test);
	return ret == 0 ? 0 : 1;
}
