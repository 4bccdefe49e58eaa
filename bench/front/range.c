/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * strbench range: one-way streams over a range of message sizes, a line for
 * each, between this host and one where strbench server runs.  What the
 * commands netperf_tcp_range and netperf_udp_range are.  Without a host there
 * is a server here for as long as it takes.
 */
#include "strbench.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/parse.h"
#include "lib/timing.h"

#define DATAGRAM_LIMIT 65507
#define GRACE_SECONDS  65 /* the worker's own deadlines come first */

struct range {
	const char *transport; /* the worker's name of it */
	const char *program;
	const char *host;
	const char *device; /* NULL: sockets */
	long port;
	double seconds;
	long buffers[MAX_SIZES];
	size_t n_buffers;
	long start, end, multiply, add;
	int udp;
};

enum {
	OPT_TESTTIME = 256,
	OPT_BUFSIZES,
	OPT_START,
	OPT_END,
	OPT_MULT,
	OPT_ADD,
};

static const struct option long_options[] = {
	{"device", required_argument, NULL, 'x'},
	{"host", required_argument, NULL, 'H'},
	{"port", required_argument, NULL, 'p'},
	{"testtime", required_argument, NULL, OPT_TESTTIME},
	{"bufsizes", required_argument, NULL, OPT_BUFSIZES},
	{"start", required_argument, NULL, OPT_START},
	{"end", required_argument, NULL, OPT_END},
	{"mult", required_argument, NULL, OPT_MULT},
	{"add", required_argument, NULL, OPT_ADD},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"Usage: netperf_tcp_range [options]\n"
	"       netperf_udp_range [options]\n"
	"  -x DEVICE       through XTI on DEVICE at both ends (sockets)\n"
	"  -H HOST         where strbench server runs (here, started for it)\n"
	"  -p PORT         its port (12866)\n"
	"  --testtime=S    seconds for each size (10)\n"
	"  --bufsizes=LIST socket buffers in bytes, 0: as they are (131071)\n"
	"  --start=N       the first message size (1)\n"
	"  --end=N         the last (16384)\n"
	"  --mult=N        each size is N times the one before (2)\n"
	"  --add=N         ... or N more\n"
	"  -h, --help  -V, --version\n";

static void
parse_buffers(struct range *range, const char *text)
{
	if (bench_parse_sizes(text, 0, 1 << 30, range->buffers, MAX_SIZES,
		    &range->n_buffers) != 0)
		usage_error("--bufsizes: '%s' is not a list of sizes", text);
}

static void
set_option(struct range *range, int option, const char *value)
{
	long limit = range->udp ? DATAGRAM_LIMIT : 256 << 10;

	switch (option) {
	case 'x':
		range->device = value;
		break;
	case 'H':
		range->host = value;
		break;
	case 'p':
		range->port = option_number("-p", value, 1, 65535);
		break;
	case OPT_TESTTIME:
		range->seconds = option_time("--testtime", value, 0.01, 3600);
		break;
	case OPT_BUFSIZES:
		parse_buffers(range, value);
		break;
	case OPT_START:
		range->start = option_number("--start", value, 1, limit);
		break;
	case OPT_END:
		range->end = option_number("--end", value, 1, limit);
		break;
	case OPT_MULT:
		range->multiply = option_number("--mult", value, 2, 1 << 20);
		break;
	case OPT_ADD:
		range->add = option_number("--add", value, 1, limit);
		break;
	default:
		usage_error("unknown option, or value missing");
	}
}

static int
range_parse(struct range *range, int argc, char **argv)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(
			argc, argv, "x:H:p:hV", long_options, NULL)) != -1) {
		if (option == 'h')
			return fputs(usage, stdout) == EOF ? -1 : 1;
		if (option == 'V')
			return printf("netperf_%s_range (Fast-STREAMS) %s\n",
				range->udp ? "udp" : "tcp", BENCH_VERSION) <
				0 ? -1 : 1;
		set_option(range, option, optarg);
	}
	if (optind < argc)
		usage_error("'%s' is not an option", argv[optind]);
	if (range->end < range->start)
		usage_error("--end is below --start");
	if (range->device != NULL && strncmp(range->device, "/dev/", 5) != 0)
		usage_error("-x: '%s' is not a device", range->device);
	return 0;
}

static long
next_size(const struct range *range, long size)
{
	return range->add != 0 ? size + range->add : size * range->multiply;
}

static double
value_of(const char *output, const char *key)
{
	const char *at = output == NULL ? NULL : strstr(output, key);

	return at == NULL ? -1 : strtod(at + strlen(key), NULL);
}

/* What the worker found, as a line; 0 or -1 and it has been said. */
static int
print_line(long buffers, long size, const char *output)
{
	double sent = value_of(output, "tx_messages ");
	double sending = value_of(output, "tx_seconds ");
	double got = value_of(output, "rx_messages ");
	double getting = value_of(output, "rx_seconds ");
	double rate;

	if (sent < 0 || got < 0 || !(sending > 0) || getting < 0) {
		(void)fprintf(stderr, "strbench: %ld bytes: no result\n", size);
		return -1;
	}
	/* All may come at once, and then there is no time between them. */
	rate = got / (getting > 0 ? getting : sending);
	printf("%8ld %8ld %8.2f %11.0f %11.0f %12.0f %12.0f %11.3f\n", buffers,
		size, sending, sent, got, sent / sending, rate,
		rate * (double)size * 8 / 1e6);
	return fflush(stdout) == 0 ? 0 : -1;
}

static int
run_size(const struct range *range, long buffers, long size)
{
	char words[6][320];
	const char *argv[12] = {range->program, "stream", range->transport};
	struct process process;
	int argc = 3, n = 0, error, ret;

#define WORD(...)                                                        \
	((void)snprintf(words[n], sizeof(words[0]), __VA_ARGS__),        \
		argv[argc++] = words[n++])
	WORD("host=%s", range->host);
	WORD("port=%ld", range->port);
	WORD("size=%ld", size);
	WORD("seconds=%g", range->seconds);
	if (buffers != 0)
		WORD("bufsize=%ld", buffers);
	if (range->device != NULL)
		WORD("device=%s", range->device);
#undef WORD
	error = process_start(&process, argv, 0);
	if (error != 0)
		return complain(range->program, error);
	error = process_collect(&process, 1,
		bench_now_ns() +
			bench_seconds_to_ns(range->seconds + GRACE_SECONDS));
	if (process_finish(&process) == 0 && error == 0) {
		ret = print_line(buffers, size, process.output);
	} else {
		if (error != ECANCELED)
			(void)fprintf(stderr, "strbench: %ld bytes: %s", size,
				error == ETIMEDOUT	    ? "no end in time\n"
				: process.output != NULL ? process.output
							    : "no result\n");
		ret = -1;
	}
	free(process.output);
	return ret;
}

static int
run_range(const struct range *range)
{
	int ret = 0;

	printf("# %s stream to %s%s%s\n", range->udp ? "UDP" : "TCP",
		range->host, range->device != NULL ? " through " : "",
		range->device != NULL ? range->device : "");
	printf("# %6s %8s %8s %11s %11s %12s %12s %11s\n", "buffer", "message",
		"time", "sent", "received", "sent", "received", "received");
	printf("# %6s %8s %8s %11s %11s %12s %12s %11s\n", "bytes", "bytes",
		"s", "messages", "messages", "per s", "per s", "10^6 bit/s");
	for (size_t b = 0; b < range->n_buffers; b++) {
		for (long size = range->start; size <= range->end;
			size = next_size(range, size)) {
			if (run_size(range, range->buffers[b], size) != 0)
				ret = 1;
			if (stop_signal() != 0)
				return 128 + stop_signal();
		}
	}
	return fflush(stdout) == 0 ? ret : 1;
}

/* A server of our own, on a port that it finds. */
static pid_t
start_server(struct range *range)
{
	pid_t parent = getpid();
	int fd = server_listen("127.0.0.1", "0", &range->port);
	pid_t pid;

	if (fd == -1)
		return -1;
	pid = fork();
	if (pid == 0) {
		bench_child_bind(parent);
		(void)signal(SIGINT, SIG_DFL);
		(void)signal(SIGTERM, SIG_DFL);
		server_loop(fd);
	}
	if (pid == -1)
		(void)complain("fork", errno);
	(void)close(fd);
	range->host = "127.0.0.1";
	return pid;
}

/* /dev/udp2 and its like are the native transport. */
static const char *
udp_through(const char *device)
{
	return strstr(device, "udp2") != NULL ||
			strstr(device, "/clone/udp") != NULL
		? "udp-xti" : "udp-xtios";
}

int
range_main(int argc, char **argv)
{
	struct range range = {
		.port = SERVER_PORT,
		.seconds = 10,
		.buffers = {131071},
		.n_buffers = 1,
		.start = 1,
		.end = 16384,
		.multiply = 2,
	};
	enum program program;
	pid_t server = 0;
	int ret;

	if (argc < 2 ||
		(strcmp(argv[1], "tcp") != 0 && strcmp(argv[1], "udp") != 0))
		usage_error("range: tcp or udp?");
	range.udp = strcmp(argv[1], "udp") == 0;
	ret = range_parse(&range, argc - 1, argv + 1);
	if (ret != 0)
		return ret < 0;
	program = range.device != NULL ? PROGRAM_XTI : PROGRAM_NATIVE;
	range.program = program_path(program);
	if (range.program == NULL) {
		(void)fprintf(stderr, "strbench: %s is not installed\n",
			program_name(program));
		return 1;
	}
	range.transport = range.udp
				  ? range.device ? udp_through(range.device)
						 : "udp-sockets"
			  : range.device ? "tcp-xtios"
					 : "tcp-sockets";
	/* Before the signals are blocked, which a server does not unblock. */
	if (range.host == NULL && (server = start_server(&range)) == -1)
		return 1;
	stop_signals_block();
	if (server > 0)
		process_own(server);
	ret = run_range(&range);
	bench_child_kill(server);
	return ret;
}
