/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reassembly of messages: RFC 9260 s6.9.
 *
 * The fragments of a message have consecutive TSNs.  Received fragments with
 * consecutive TSNs form a run; runs are in a list by TSN.  A run from a B to an
 * E fragment is a message.  Data that arrives in order extends the last run, so
 * the search begins there.
 *
 * Partial delivery.  When much of the buffer holds the beginning of one message
 * whose turn it is, the user gets that part, and then what follows as it
 * arrives; else a message longer than the buffer would never arrive.  Complete
 * messages are held until it has ended.
 */
#include "association.h"

struct sctp_rx *
sctp_rx_make(const struct sctp_env *env, struct sctp_assoc *as, uint32_t n)
{
	struct sctp_rx *rx = env->alloc(env->arg, sizeof(*rx) + n);

	if (rx == NULL)
		return NULL;
	__builtin_memset(rx, 0, sizeof(*rx));
	rx->len = rx->total = n;
	rx->tail = rx;
	as->rcv_bytes += n;
	as->rcv_mem += n + (uint32_t)sizeof(*rx);
	return rx;
}

/* A fragment, or with @all the run or message that it begins. */
static void
release(const struct sctp_env *env, struct sctp_assoc *as, struct sctp_rx *rx,
	int all)
{
	struct sctp_rx *next;

	for (; rx != NULL; rx = all ? next : NULL) {
		next = rx->next;
		as->rcv_bytes -= rx->len - rx->taken;
		as->rcv_mem -= rx->len + (uint32_t)sizeof(*rx);
		env->release(env->arg, rx, sizeof(*rx) + rx->len);
	}
}

void
sctp_rx_release(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx)
{
	release(env, as, rx, 0);
}

/*
 * sctp_rx_mark - take the mark, which counts as memory from now on; NULL: there
 * is none
 */
struct sctp_rx *
sctp_rx_mark(struct sctp_assoc *as)
{
	struct sctp_rx *rx = as->mark;

	as->mark = NULL;
	if (rx != NULL)
		as->rcv_mem += (uint32_t)sizeof(*rx);
	return rx;
}

static void
release_list(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx **list)
{
	struct sctp_rx *rx;

	while ((rx = *list) != NULL) {
		*list = rx->after;
		release(env, as, rx, 1);
	}
}

void
sctp_rx_release_all(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_rx *rx;
	uint32_t i;

	release_list(env, as, &as->run);
	release_list(env, as, &as->ready);
	release_list(env, as, &as->held);
	while ((rx = as->tree) != NULL) {
		sctp_tree_remove(as, rx);
		release(env, as, rx, 1);
	}
	for (i = 0; i < as->nin; i++)
		as->in[i].partial[0] = as->in[i].partial[1] = 0;
	release(env, as, sctp_rx_mark(as), 0);
	as->nparts = 0;
	as->run_tail = as->ready_tail = as->held_tail = NULL;
	as->partial = 0;
	as->grown = NULL;
}

/* A message, or the beginning of one, that is in no list. */
void
sctp_rx_drop(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx)
{
	release(env, as, rx, 1);
}

/* ------------------------------------------------------------ list of runs */

static void
run_insert(struct sctp_assoc *as, struct sctp_rx *before, struct sctp_rx *rx)
{
	rx->before = before;
	rx->after = before != NULL ? before->after : as->run;
	if (before != NULL)
		before->after = rx;
	else
		as->run = rx;
	if (rx->after != NULL)
		rx->after->before = rx;
	else
		as->run_tail = rx;
}

static void
run_remove(struct sctp_assoc *as, struct sctp_rx *rx)
{
	if (rx->before != NULL)
		rx->before->after = rx->after;
	else
		as->run = rx->after;
	if (rx->after != NULL)
		rx->after->before = rx->before;
	else
		as->run_tail = rx->before;
	rx->before = rx->after = NULL;
}

/* Run @b continues run @a. */
static void
join(struct sctp_rx *a, struct sctp_rx *b)
{
	a->tail->next = b;
	a->tail = b->tail;
	a->last = b->last;
	a->total += b->total;
}

/* May @b be the fragment behind @a?  0; 1; -1: it must be, and cannot. */
static int
continues(const struct sctp_assoc *as, const struct sctp_rx *a,
	const struct sctp_rx *b)
{
	int end = (a->flags & SCTP_DATA_E) != 0;
	int begin = (b->flags & SCTP_DATA_B) != 0;

	if (end && begin)
		return 0;
	if (!end && begin) /* the rest of an abandoned message: RFC 3758 */
		return sctp_has(as, SCTP_X_PR) ? 0 : -1;
	if (end != begin || a->sid != b->sid ||
		((a->flags ^ b->flags) & SCTP_DATA_U) != 0)
		return -1;
	return (a->flags & SCTP_DATA_U) != 0 || a->ssn == b->ssn ? 1 : -1;
}

static int
is_whole(const struct sctp_rx *rx)
{
	return (rx->flags & SCTP_DATA_B) != 0 &&
		(rx->tail->flags & SCTP_DATA_E) != 0;
}

/* A new chunk: its run, and what becomes complete by it. */
const char *
sctp_rx_add(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx)
{
	struct sctp_rx *prev = as->run_tail, *next;
	int with_prev = 0, with_next = 0;

	while (prev != NULL && sctp_before(rx->tsn, prev->tsn))
		prev = prev->before;
	next = prev != NULL ? prev->after : as->run;
	if (prev != NULL && prev->last + 1 == rx->tsn)
		with_prev = continues(as, prev->tail, rx);
	if (next != NULL && next->tsn == rx->tsn + 1)
		with_next = continues(as, rx, next);
	/* in the list in any case, so that it is not lost */
	if (with_prev == 1) {
		join(prev, rx);
		rx = prev;
	} else {
		run_insert(as, prev, rx);
	}
	if (with_prev < 0 || with_next < 0)
		return "fragments contradict each other";
	if (as->partial && rx->tsn == as->partial_next &&
		((rx->flags & SCTP_DATA_B) != 0 || rx->sid != as->partial_sid))
		return "a message is not continued";
	if (with_next == 1) {
		run_remove(as, next);
		join(rx, next);
	}
	if (!is_whole(rx))
		return NULL;
	run_remove(as, rx);
	return sctp_rx_deliver(env, as, rx);
}

/* -------------------------------------------------------- partial delivery */

static int
is_turn(const struct sctp_assoc *as, const struct sctp_rx *rx)
{
	return (rx->flags & SCTP_DATA_U) != 0 ||
		rx->ssn == as->in[rx->sid].next;
}

static int
begins_partial(const struct sctp_assoc *as, const struct sctp_rx *rx)
{
	uint32_t most = as->conf.rcvbuf / 2;

	if (as->conf.partial < most)
		most = as->conf.partial;
	return (rx->flags & SCTP_DATA_B) != 0 && rx->total >= most &&
		!sctp_before(as->cum, rx->last) && is_turn(as, rx);
}

/* Give the user what there is of the first message, if it is too long. */
void
sctp_rx_partial(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_rx *rx = as->run;

	while (as->partial && rx != NULL && rx->tsn != as->partial_next)
		rx = rx->after;
	if (rx == NULL || (!as->partial && !begins_partial(as, rx)))
		return;
	if (!as->partial) {
		/* memory to tell that the rest will not come: now or never */
		as->mark = sctp_rx_make(env, as, 0);
		if (as->mark == NULL)
			return;
		as->rcv_mem -= (uint32_t)sizeof(*as->mark);
		as->partial = 1;
		as->partial_sid = rx->sid;
		as->partial_ssn = rx->ssn;
		as->partial_flags = rx->flags & SCTP_DATA_U;
	}
	as->partial_next = rx->last + 1;
	run_remove(as, rx);
	sctp_rx_append(&as->ready, &as->ready_tail, rx);
	if ((rx->tail->flags & SCTP_DATA_E) != 0)
		sctp_rx_partial_end(env, as);
}

/*
 * RFC 3758 s3.6: the peer has abandoned all up to @cum; fragments of incomplete
 * messages there are of no use.
 */
void
sctp_rx_skip_runs(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t cum)
{
	struct sctp_rx *rx;

	while ((rx = as->run) != NULL && !sctp_before(cum, rx->tsn)) {
		run_remove(as, rx);
		release(env, as, rx, 1);
	}
	if (!as->partial || sctp_before(cum, as->partial_next))
		return;
	/* the rest of the message that the user has a part of will not come */
	rx = sctp_rx_mark(as);
	rx->flags = as->partial_flags | SCTP_RX_CUT | SCTP_DATA_E;
	rx->sid = as->partial_sid;
	rx->ssn = as->partial_ssn;
	sctp_rx_append(&as->ready, &as->ready_tail, rx);
	sctp_rx_partial_end(env, as);
}
