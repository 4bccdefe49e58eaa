/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The floor: what a pipe between two processes could cost at best.
 *
 * Purpose.  One producer, one consumer, bytes in shared memory, plain
 * function calls, no descriptor, no message, no flow control but "full".
 * Whatever a real pipe does on top of this is the price of being a pipe.
 *
 * Positions.  tail counts the bytes ever produced, head those consumed; each
 * is written by one side.  Each side keeps what it last saw of the other's
 * position and looks again only when that does not suffice, so that in a
 * steady flow the cache lines of the positions move once per batch and not
 * once per call.
 *
 * Sleep and wake.  A sleeper stores the position it wants to see in the
 * event index ("past"), looks at the position once more, and sleeps on a
 * futex word.  The other side, having moved its position, compares it with
 * the index: an ordinary load of a line that hardly ever changes.  Store
 * then load, on both sides, asks for a full fence on both; the frequent
 * side is spared it, because the sleeper makes all processes that registered
 * execute one with membarrier(2).  Where the kernel has no membarrier, both
 * fence.  past is RING_NEVER while no side sleeps, and the waker puts
 * RING_NEVER back, so one sleep costs one wake call.
 *
 * Hysteresis.  A full producer sleeps until half of the ring is free; an
 * empty consumer until there is one byte.
 *
 * Spinning.  Only while the other side runs on another CPU (each publishes
 * where it runs when it joins, waits or wakes), and no longer than a wake
 * takes.  Each look at the other's position drags the line across and slows
 * the other side down, so the waiter pauses between looks.  A consumer that
 * finds only little at its first look is ahead of a producer in full flow:
 * it doubles the pause, to find more next time.  One that waits for several
 * looks is waiting for an answer: it halves it.
 *
 * Failure.  A dead peer is not noticed; the tool ends both.
 */
#include "ring.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/timing.h"

#define RING_MASK  (RING_BYTES - 1)
#define RING_NEVER UINT64_MAX
#define RING_LINE  128 /* two lines: adjacent ones are fetched together */

#define SPIN_NS    40000 /* about what waking a sleeper costs */
#define EVEN_LOOKS 8     /* looks before the pauses begin to grow */
#define PAUSE_MAX  32    /* in units of cpu_pause() */
#define FEW_BYTES  4096  /* less at the first look: the producer is flowing */

struct ring_wait {
	_Alignas(RING_LINE) _Atomic uint64_t past; /* event index */
	_Atomic uint32_t word; /* futex; changes with each wake */
};

struct ring {
	/* The producer's. */
	_Alignas(RING_LINE) _Atomic uint64_t tail;
	uint64_t head_seen;
	/* The consumer's. */
	_Alignas(RING_LINE) _Atomic uint64_t head;
	uint64_t tail_seen;
	unsigned int pauses;
	struct ring_wait data;  /* the consumer sleeps here */
	struct ring_wait space; /* the producer sleeps here */
	/* Written in slow paths only. */
	_Alignas(RING_LINE) _Atomic int producer_cpu;
	_Atomic int consumer_cpu;
	_Atomic int closed;
	int membarrier; /* the sleeper's fence serves both; fixed at creation */
	_Alignas(4096) unsigned char bytes[RING_BYTES];
};

static inline void
cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#else
	atomic_signal_fence(memory_order_seq_cst);
#endif
}

static int
membarrier_call(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

/* The fence of the frequent side, between its store and its load. */
static inline void
light_fence(const struct ring *ring)
{
	if (ring->membarrier)
		atomic_signal_fence(memory_order_seq_cst);
	else
		atomic_thread_fence(memory_order_seq_cst);
}

/* The fence of the sleeper, between its store and its load. */
static void
heavy_fence(const struct ring *ring)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (ring->membarrier)
		(void)membarrier_call(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

static void
publish_cpu(_Atomic int *self)
{
	int cpu = sched_getcpu();

	if (atomic_load_explicit(self, memory_order_relaxed) != cpu)
		atomic_store_explicit(self, cpu, memory_order_relaxed);
}

static void
wake(struct ring_wait *wait, _Atomic int *self)
{
	if (atomic_exchange(&wait->past, RING_NEVER) == RING_NEVER)
		return;
	publish_cpu(self);
	atomic_fetch_add(&wait->word, 1);
	(void)syscall(SYS_futex, &wait->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* position has moved to now; pairs with heavy_fence() in sleep_past(). */
static inline void
wake_if_past(struct ring *ring, struct ring_wait *wait, uint64_t now,
	_Atomic int *self)
{
	light_fence(ring);
	if (__builtin_expect(now >= atomic_load_explicit(
					    &wait->past, memory_order_relaxed),
		    0))
		wake(wait, self);
}

/* Sleeps until position may have reached past, or the ring was closed. */
static void
sleep_past(struct ring *ring, struct ring_wait *wait,
	const _Atomic uint64_t *position, uint64_t past)
{
	uint32_t word = atomic_load(&wait->word);

	atomic_store(&wait->past, past);
	heavy_fence(ring);
	if (atomic_load_explicit(position, memory_order_acquire) >= past ||
		atomic_load(&ring->closed)) {
		atomic_store(&wait->past, RING_NEVER);
		return;
	}
	(void)syscall(SYS_futex, &wait->word, FUTEX_WAIT, word, NULL, NULL, 0);
}

/*
 * Looks at position until it has reached want or the time is up.  Returns
 * how many looks it took, 0 when the time was up.
 */
static unsigned int
spin(const _Atomic uint64_t *position, uint64_t want, unsigned int pauses)
{
	uint64_t deadline = bench_now_ns() + SPIN_NS;

	for (unsigned int looks = 1;; looks++) {
		for (unsigned int i = 0; i < pauses; i++)
			cpu_pause();
		if (atomic_load_explicit(position, memory_order_acquire) >=
			want)
			return looks;
		if (looks < EVEN_LOOKS)
			continue;
		if (bench_now_ns() >= deadline)
			return 0;
		if (pauses < PAUSE_MAX)
			pauses *= 2;
	}
}

static int
peer_elsewhere(_Atomic int *self, const _Atomic int *peer)
{
	publish_cpu(self);
	return atomic_load_explicit(peer, memory_order_relaxed) !=
	       atomic_load_explicit(self, memory_order_relaxed);
}

/* Until n bytes fit.  Worth waiting for more: the next calls need it too. */
static void
wait_for_space(struct ring *ring, uint64_t tail, size_t n)
{
	uint64_t least = tail + n - RING_BYTES; /* head must get there */
	uint64_t more = tail - RING_BYTES / 8 * 7;
	uint64_t half = tail - RING_BYTES / 2;
	int spun = 0;

	if ((int64_t)(more - least) < 0)
		more = least;
	for (;;) {
		ring->head_seen =
			atomic_load_explicit(&ring->head, memory_order_acquire);
		if ((int64_t)(ring->head_seen - least) >= 0)
			return;
		if (!spun && peer_elsewhere(
				     &ring->producer_cpu, &ring->consumer_cpu))
			(void)spin(&ring->head, more, PAUSE_MAX);
		else
			sleep_past(ring, &ring->space, &ring->head, half);
		spun = !spun;
	}
}

static void
wait_for_data(struct ring *ring, uint64_t head)
{
	unsigned int looks = 0;

	if (peer_elsewhere(&ring->consumer_cpu, &ring->producer_cpu))
		looks = spin(&ring->tail, head + 1, ring->pauses);
	if (looks == 0)
		sleep_past(ring, &ring->data, &ring->tail, head + 1);
	ring->tail_seen =
		atomic_load_explicit(&ring->tail, memory_order_acquire);
	if (looks == 1 && ring->tail_seen - head < FEW_BYTES) {
		if (ring->pauses < PAUSE_MAX)
			ring->pauses *= 2;
	} else if (ring->pauses > 1) {
		ring->pauses /= 2;
	}
}

struct ring *
ring_create(void)
{
	struct ring *ring;
	int commands = membarrier_call(MEMBARRIER_CMD_QUERY);

	ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (ring == MAP_FAILED)
		return NULL;
	ring->membarrier = commands > 0 &&
			   (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0;
	ring->pauses = 1;
	atomic_store(&ring->data.past, RING_NEVER);
	atomic_store(&ring->space.past, RING_NEVER);
	return ring;
}

void
ring_destroy(struct ring *ring)
{
	if (ring != NULL)
		(void)munmap(ring, sizeof(*ring));
}

int
ring_attach(struct ring *ring, enum ring_role role)
{
	publish_cpu(role == RING_PRODUCER ? &ring->producer_cpu
					  : &ring->consumer_cpu);
	if (!ring->membarrier)
		return 0;
	return membarrier_call(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0
		       ? 0
		       : errno;
}

size_t
ring_write(struct ring *ring, const void *buf, size_t n)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	size_t at = tail & RING_MASK;
	size_t first = RING_BYTES - at;

	if (__builtin_expect(tail + n - ring->head_seen > RING_BYTES, 0))
		wait_for_space(ring, tail, n);
	if (__builtin_expect(n <= first, 1)) {
		memcpy(ring->bytes + at, buf, n);
	} else {
		memcpy(ring->bytes + at, buf, first);
		memcpy(ring->bytes, (const unsigned char *)buf + first,
			n - first);
	}
	atomic_store_explicit(&ring->tail, tail + n, memory_order_release);
	wake_if_past(ring, &ring->data, tail + n, &ring->producer_cpu);
	return n;
}

size_t
ring_read(struct ring *ring, void *buf, size_t n)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	size_t at = head & RING_MASK;
	size_t first = RING_BYTES - at;

	while (__builtin_expect(ring->tail_seen == head, 0)) {
		int closed = atomic_load(&ring->closed);

		ring->tail_seen =
			atomic_load_explicit(&ring->tail, memory_order_acquire);
		if (ring->tail_seen != head)
			break;
		/* Closed before the look at tail: nothing can follow. */
		if (closed)
			return 0;
		wait_for_data(ring, head);
	}
	if (n > ring->tail_seen - head)
		n = ring->tail_seen - head;
	if (__builtin_expect(n <= first, 1)) {
		memcpy(buf, ring->bytes + at, n);
	} else {
		memcpy(buf, ring->bytes + at, first);
		memcpy((unsigned char *)buf + first, ring->bytes, n - first);
	}
	atomic_store_explicit(&ring->head, head + n, memory_order_release);
	wake_if_past(ring, &ring->space, head + n, &ring->consumer_cpu);
	return n;
}

void
ring_close(struct ring *ring)
{
	atomic_store(&ring->closed, 1);
	/* Pairs with the fence in sleep_past(); a close is not frequent. */
	heavy_fence(ring);
	wake(&ring->data, &ring->producer_cpu);
}
