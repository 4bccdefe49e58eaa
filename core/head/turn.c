/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Many writers of one head queue: a writer that has written its share of the
 * queue lets the others run.  Everything here is a hint: a writer that does not
 * run costs the others some yields.
 */
#include "core.h"
#include "headq.h"

#define SHARE_MIN 4096u /* bytes of a turn, at the least */
#define CROWD_SHARE 16384u /* the same of many writers */
#define AWAIT_YIELDS 16u
#define LOST_US 250u	/* a longer yield is lost if nothing is written */

/*
 * str_headq_share - writers wait for room, or have been woken and not run yet
 * The limit becomes the end of the writer's turn.  At that end the next turn
 * begins, which may be the same writer's if no other one runs.
 * @pb: bytes published.  Locks: plock.
 */
STR_NOINLINE void
str_headq_share(struct str_headq *hq, uint64_t pb)
{
	uint32_t n = str_load(&hq->wsleep);
	bool crowded = headq_crowded(hq);
	uint64_t share;

	if (crowded)
		n = str_load(&hq->crowd) >> HEADQ_CROWD_SHIFT;
	share = STR_MAX(hq->hiwat / (n + 1), crowded ? CROWD_SHARE : SHARE_MIN);
	if (pb >= hq->turn || hq->turn - pb > share) {
		n = str_load(&hq->crowd);
		n -= n >> HEADQ_CROWD_SHIFT;
		str_store(&hq->crowd, STR_MAX(n,
			str_load(&hq->wsleep) << HEADQ_CROWD_SHIFT));
		hq->over = pb >= hq->turn;
		hq->turn = pb + share;
		str_store(&hq->turn_of, 0u);
		host_tls.turn_seen = str_load(&hq->turns) + 1;
		str_store(&hq->turns, host_tls.turn_seen);
	}
	hq->pblimit = STR_MIN(hq->pblimit, hq->turn);
}

/* Yield.  Return: false: the yield took long, and no byte was written in it. */
static bool
let_write(struct str_headq *hq, uint64_t *ret_cost)
{
	uint64_t start = host_ticks(), pb = str_load(&hq->pbytes);

	host_yield();
	*ret_cost = host_ticks() - start;
	return *ret_cost <= LOST_US * host_ticks_per_ms / 1000 ||
		str_load(&hq->pbytes) != pb;
}

/*
 * str_headq_yield - the turn of this thread is over: let the other writers run
 *
 * The yield takes as long as the turns of all of them, which may be
 * milliseconds.  If it was long and none has written meanwhile, the kernel gave
 * the CPU to a thread that has nothing to do with this queue; then no writer
 * yields for 64 times as long.  Context: no lock held.
 */
STR_NOINLINE void
str_headq_yield(struct str_headq *hq)
{
	uint64_t cost;

	if (!headq_crowded(hq))
		(void)host_give_way();
	else if (host_ticks() >= str_load(&hq->turn_rest) &&
		!let_write(hq, &cost))
		str_store(&hq->turn_rest, host_ticks() + (cost << 6));
}

/*
 * str_headq_await - if another thread writes in its turn: let others run
 * Two writers that write at once exchange cache lines for each message.  A
 * thread that has missed its turn does not wait.  All of this is a hint: the
 * turn of a thread that does not run ends after some yields, or when a yield was
 * lost; then perhaps there are not many writers any more, and the queue forgets
 * a quarter of them.
 */
STR_NOINLINE void
str_headq_await(struct str_headq *hq)
{
	uint32_t of = str_load(&hq->turn_of), n;
	uint64_t cost;
	unsigned i;

	if (of == 0 || of == host_self_tag())
		return;
	if (str_load(&hq->turns) - host_tls.turn_seen >
		str_load(&hq->crowd) >> HEADQ_CROWD_SHIFT ||
		host_ticks() < str_load(&hq->turn_rest))
		return;
	for (i = 0; i < AWAIT_YIELDS && str_load(&hq->turn_of) == of; i++) {
		if (let_write(hq, &cost))
			continue;
		n = str_load(&hq->crowd);
		str_store(&hq->crowd, n - (n >> 2));
		return;
	}
}
