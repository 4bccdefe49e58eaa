/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sleeping at a head: what sleep.c, carrier.c and lent.c have in common.
 */
#ifndef STR_SLEEP_H
#define STR_SLEEP_H

#include "core.h"

/* A sleep without notices of deaths has stages: carrier.c. */
#define NEAR_NS 20000000ull  /* stage 1, in which a death is not noticed */
#define STAGE_NS 50000000ull /* the first wait of stage 2 */

/* Flags of a head that end a writer's wait even if there is no room. */
#define UNWRITABLE \
	(STR_H_WRERR | STR_H_HUP | STR_H_PEER | STR_H_PLEX | STR_H_LOOK | \
		STR_H_NORD)

/* One sleep.  Its fields do not change while it lasts. */
struct str_sleep {
	struct str_head *sd;
	struct host_call *hc;
	unsigned why;		/* STR_SLEEP_* */
	str_a32 *want, *word;	/* in the head queue */
	uint64_t deadline;	/* host_now() time, or UINT64_MAX */
};

/* Does the thread wait to read?  @why may have STR_SLEEP_RARE, too. */
STR_INLINE bool
sleep_reads(unsigned why)
{
	return (why & STR_SLEEP_READ) != 0;
}

/* ns until @deadline, at most @most; 0: the deadline has passed. */
STR_INLINE uint64_t
sleep_left(uint64_t deadline, uint64_t most)
{
	uint64_t now;

	if (str_likely(deadline == UINT64_MAX))
		return most;
	now = host_now();
	if (now >= deadline)
		return 0;
	return STR_MIN(most, deadline - now);
}

#define SLEEP_NOW (-1) /* nothing keeps the thread from sleeping */

/*
 * sleep_prepare - before a sleep of call @hc at @sd: send the data that is
 * gathered for sockets, run the stream's enabled queues, and check for signals
 * Context: no lock and no claim is held.  Return: SLEEP_NOW; otherwise the
 * result of the sleep: 0 look again; EINTR.
 */
STR_INLINE int
sleep_prepare(struct str_head *sd, struct host_call *hc)
{
	int err;

	str_sock_flush(hc);
	if (str_sched_run_head(sd, hc))
		return 0;
	err = str_signalled(hc);
	return str_likely(err == 0) ? SLEEP_NOW : err;
}

/* sleep.c */
int str_sleep_awaited(struct str_head *sd, struct host_call *hc);
bool str_sleep_ready(struct str_head *sd, unsigned why);
void str_sleep_ask(str_a32 *want, uint32_t bit);
void str_sleep_count(struct str_headq *hq);

/*
 * carrier.c: the sleep without notices of deaths.
 * str_carrier_look - look at @sd's carrier.  *ret_ev: HOST_C_*.
 * Return: 0, or EBADF if the descriptor belongs to another object now.
 * str_carrier_own - is @fd a file of @sd?
 * str_carrier_sleep - wait for the carrier and the bell.
 * str_stage_near - stage 1: wait for the word, at most until @until.
 * str_stage_far - what follows stage 1.
 * str_stage_dead - before a sleep without limit: reap the threads that have died
 * inside this stream.
 * Return of the sleeps: 0: look again; EINTR; ETIMEDOUT, which stage 1 may
 * return before the deadline; EBADF.
 */
int str_carrier_look(struct str_head *sd, struct host_call *hc,
	uint32_t *ret_ev);
bool str_carrier_own(struct str_head *sd, int fd);
int str_carrier_sleep(const struct str_sleep *s);
int str_stage_near(const struct str_sleep *s, uint64_t until);
int str_stage_far(const struct str_sleep *s);
void str_stage_dead(struct str_plumb *pl);

/* await.c */
long str_head_await(struct str_head *sd, struct host_call *hc, void *ubuf,
	size_t len);

/*
 * lent.c
 * str_sock_sleep - wait at a stream with a socket, for the socket and the
 * carrier.  @lent: as str_sleep_lent(), or NULL.
 */
int str_sock_sleep(const struct str_sleep *s, uint32_t *lent);

#endif
