/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "ring.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/pin.h"
#include "t.h"

#define TRANSFER (24u << 20)

static unsigned char
pattern(uint64_t position)
{
	return (unsigned char)(position * 131 + (position >> 8) * 7 +
			       (position >> 16));
}

static uint32_t
next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Writes of all lengths, so that every kind of wrap occurs. */
static void
produce(struct ring *ring, uint32_t seed, size_t max)
{
	static unsigned char buf[65536];
	uint64_t position = 0;

	T_EQ(ring_attach(ring, RING_PRODUCER), 0);
	while (position < TRANSFER) {
		size_t n = 1 + next_random(&seed) % max;

		for (size_t i = 0; i < n; i++)
			buf[i] = pattern(position + i);
		T_EQ(ring_write(ring, buf, n), n);
		position += n;
	}
	ring_close(ring);
}

static void
consume(struct ring *ring, uint32_t seed, size_t max)
{
	static unsigned char buf[65536];
	uint64_t position = 0;
	size_t n;

	T_EQ(ring_attach(ring, RING_CONSUMER), 0);
	while ((n = ring_read(ring, buf, 1 + next_random(&seed) % max)) != 0) {
		for (size_t i = 0; i < n; i++) {
			if (buf[i] != pattern(position + i))
				T_EQ(buf[i], pattern(position + i));
		}
		position += n;
	}
	T_GE(position, (uint64_t)TRANSFER);
}

/* writes and reads of up to this many bytes; the CPUs as indices */
static void
transfer(struct t *t, size_t max_write, size_t max_read, int cpu_index)
{
	struct ring *ring = ring_create();
	pid_t parent = getpid();
	int cpus[2], n = bench_cpus_allowed(cpus, 2);
	pid_t child;

	T_NOTNULL(ring);
	child = fork();
	if (child == 0) {
		bench_child_bind(parent);
		T_EQ(bench_pin_self(cpus[0]), 0);
		produce(ring, (uint32_t)t->seed, max_write);
		_exit(0);
	}
	T_EQ(bench_pin_self(cpus[cpu_index % (n < 2 ? n : 2)]), 0);
	consume(ring, (uint32_t)t->seed + 1, max_read);
	T_EQ(bench_child_wait(child), 0);
	ring_destroy(ring);
}

T_CASE(bytes_arrive_in_order_between_two_cpus)
{
	transfer(t, 5000, 5000, 1);
}

T_CASE(bytes_arrive_in_order_on_one_cpu)
{
	transfer(t, 5000, 5000, 0);
}

T_CASE(small_writes_fill_large_reads)
{
	transfer(t, 64, 65536, 1);
}

T_CASE(large_writes_are_read_in_pieces)
{
	transfer(t, 65536, 100, 1);
}

T_CASE(a_read_returns_what_is_there)
{
	struct ring *ring = ring_create();
	char buf[8];

	T_EQ(ring_attach(ring, RING_PRODUCER), 0);
	T_EQ(ring_attach(ring, RING_CONSUMER), 0);
	T_EQ(ring_write(ring, "abc", 3), 3u);
	T_EQ(ring_write(ring, "de", 2), 2u);
	T_EQ(ring_read(ring, buf, 4), 4u);
	T_EQ(memcmp(buf, "abcd", 4), 0);
	T_EQ(ring_read(ring, buf, 8), 1u);
	ring_close(ring);
	T_EQ(ring_read(ring, buf, 8), 0u);
	ring_destroy(ring);
}

T_CASE(what_was_written_before_the_close_is_read_before_the_end)
{
	struct ring *ring = ring_create();
	char buf[8];

	T_EQ(ring_attach(ring, RING_PRODUCER), 0);
	T_EQ(ring_attach(ring, RING_CONSUMER), 0);
	T_EQ(ring_write(ring, "x", 1), 1u);
	ring_close(ring);
	T_EQ(ring_read(ring, buf, 8), 1u);
	T_EQ(ring_read(ring, buf, 8), 0u);
	T_EQ(ring_read(ring, buf, 8), 0u);
	ring_destroy(ring);
}

/* The case's deadline is what happens if the sleeper is not woken. */
T_CASE(a_close_wakes_a_sleeping_reader)
{
	struct ring *ring = ring_create();
	siginfo_t info;
	pid_t child = fork();

	if (child == 0) {
		char byte;

		T_EQ(ring_attach(ring, RING_CONSUMER), 0);
		(void)raise(SIGSTOP);
		_exit(ring_read(ring, &byte, 1) == 0 ? 0 : 1);
	}
	T_EQ(waitid(P_PID, (id_t)child, &info, WSTOPPED), 0);
	T_EQ(ring_attach(ring, RING_PRODUCER), 0);
	T_EQ(kill(child, SIGCONT), 0);
	ring_close(ring);
	T_EQ(bench_child_wait(child), 0);
	ring_destroy(ring);
}
