/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The ring with a reader and a writer at the same time: no byte is lost, doubled or
 * overtaken, whichever side gives the ring up.  In a build with a sanitizer it also
 * checks accesses to the record and the ring.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring_side.h"
#include "t.h"

#define BYTES (3u << 20)

static struct run_area *area;
static unsigned char *ring;
static int fds[2];
static unsigned every; /* give up after so many calls, on average; 0: never */
static uint64_t seed;
static size_t most;    /* bytes of a call */

static unsigned
next(uint64_t *s)
{
	*s = *s * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(*s >> 33);
}

/* The byte at @at of what flows. */
static unsigned char
byte(size_t at)
{
	return (unsigned char)(at ^ at >> 8 ^ at >> 16);
}

static void *
writes(void *arg)
{
	unsigned char *buf = malloc(most);
	uint64_t s = seed;
	size_t at = 0, n;
	ssize_t r;

	(void)arg;
	ring_writer.begin(area, ring, fds[1], true);
	while (at < BYTES) {
		n = 1 + next(&s) % most;
		if (n > BYTES - at)
			n = BYTES - at;
		for (size_t i = 0; i < n; i++)
			buf[i] = byte(at + i);
		r = ring_writer.write(fds[1], buf, n);
		T_EQ(r, (ssize_t)n);
		at += n;
		if (every != 0 && next(&s) % every == 0)
			ring_writer.give_up();
	}
	ring_writer.give_up();
	(void)close(fds[1]);
	free(buf);
	return NULL;
}

static void
reads(void)
{
	unsigned char *buf = malloc(most);
	uint64_t s = ~seed;
	size_t at = 0, wrong = 0;
	ssize_t r;

	ring_reader.begin(area, ring, fds[0], false);
	while ((r = ring_reader.read(fds[0], buf, 1 + next(&s) % most)) > 0) {
		for (ssize_t i = 0; i < r; i++)
			wrong += buf[i] != byte(at + (size_t)i);
		at += (size_t)r;
		T_EQ(wrong, 0u);
		if (every != 0 && next(&s) % every == 0)
			ring_reader.give_up();
	}
	T_EQ(r, 0);
	T_EQ(at, (size_t)BYTES);
	ring_reader.give_up();
	free(buf);
}

static void
flow(struct t *t, size_t size, unsigned gives_up)
{
	pthread_t writer;
	struct stat st;

	seed = t->seed;
	most = size;
	every = gives_up;
	T_EQ(pipe(fds), 0);
	T_EQ(fstat(fds[0], &st), 0);
	area = calloc(1, sizeof *area);
	ring = malloc(RUN_RING);
	area->id[0] = (uint64_t)st.st_ino;
	area->dev = (uint64_t)st.st_dev;
	T_EQ(pthread_create(&writer, NULL, writes, NULL), 0);
	reads();
	T_EQ(pthread_join(writer, NULL), 0);
	T_TRUE(area->count[RUN_CARRIED] > 0);
	(void)close(fds[0]);
	free(area);
	free(ring);
}

T_CASE_TIMEOUT(a_ring_keeps_bytes_and_order, 200)
{
	flow(t, 3000, 0);
}

T_CASE_TIMEOUT(long_calls_divide_and_keep_order, 200)
{
	flow(t, 70000, 0);
}

T_CASE_TIMEOUT(a_side_that_gives_up_loses_nothing, 200)
{
	flow(t, 2000, 40);
}
