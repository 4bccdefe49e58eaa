/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "perftest.h"

#include <limits.h>
#include <stdio.h>

/* How much more the newest report counts than each of the older ones. */
#define RECENT_WEIGHT 2

static void
tally_restart(struct tally *tally)
{
	tally->calls = 0;
	tally->bytes = 0;
	tally->smallest = LLONG_MAX;
	tally->largest = 0;
	tally->again = 0;
	tally->interrupted = 0;
	tally->empty = 0;
}

void
tally_init(struct tally *tally, const char *what)
{
	*tally = (struct tally){.what = what};
	tally_restart(tally);
}

/*
 * bytes is what the message carried, extent what the minimum and maximum
 * columns record: the same for read and write, but the return code (0, or
 * MOREDATA) for getmsg and putmsg.
 */
void
tally_add(struct tally *tally, long long bytes, long long extent)
{
	tally->calls++;
	tally->bytes += bytes;
	if (extent < tally->smallest)
		tally->smallest = extent;
	if (extent > tally->largest)
		tally->largest = extent;
}

static long long
weighted(long long mean, long long value, long long reports)
{
	return (mean * reports + RECENT_WEIGHT * value) /
	       (reports + RECENT_WEIGHT);
}

/* A rate by the nominal period, as documented; whole numbers throughout. */
static long long
per_second(long long count, double period)
{
	if (period == (double)(long long)period)
		return count / (long long)period;
	return (long long)((double)count / period);
}

void
tally_report(struct tally *tally, const struct perftest *test, int fd)
{
	double period = test->options->period;
	long long calls = per_second(tally->calls, period);
	long long bytes = per_second(tally->bytes, period);
	long long size = tally->calls == 0 ? 0 : tally->bytes / tally->calls;
	long long smallest = tally->calls == 0 ? 0 : tally->smallest;

	tally->mean_calls = weighted(tally->mean_calls, calls, tally->reports);
	tally->mean_bytes = weighted(tally->mean_bytes, bytes, tally->reports);
	tally->reports++;
	printf("%d Msgs %s: %10lld (%10lld), throughput: %10lld (%10lld), "
	       "size (%4lld) %4lld-%4lld",
		fd, tally->what, calls, tally->mean_calls, bytes,
		tally->mean_bytes, size, smallest, tally->largest);
	if (test->options->async)
		printf(" %10lld %10lld %10lld",
			per_second(tally->again, period), tally->interrupted,
			tally->empty);
	putchar('\n');
	(void)fflush(stdout);
	tally_restart(tally);
}
