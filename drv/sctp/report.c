/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What is reported to the user, one entry after the other: changes of streams,
 * messages that were not delivered, and how many were abandoned.
 *
 * The lists belong to the association.  A list of changes has a limit, because
 * the peer adds to it.  Messages are kept only with conf.report; they were the
 * user's, and sctp_failed_done() releases them.
 */
#include "association.h"

#define CHANGES_MOST 32u

/* ----------------------------------------------------------- changes of streams */

/*
 * Append a change with room for @n streams, which the caller stores.
 * @ours: it was our request.  Return: NULL: no memory, or too many wait; the
 * user has the event only.
 */
uint16_t *
sctp_change_add(const struct sctp_env *env, struct sctp_assoc *as, int ours,
	uint32_t what, uint32_t result, uint32_t n)
{
	struct sctp_changed *ch;
	uint32_t i;

	as->events |= ours ? SCTP_EV_RECONF : SCTP_EV_RECONF_PEER;
	if (as->nchanges == CHANGES_MOST)
		return NULL;
	ch = env->alloc(env->arg, sizeof(*ch) + n * sizeof(ch->list[0]));
	if (ch == NULL)
		return NULL;
	ch->next = NULL;
	ch->c.what = what;
	ch->c.result = result;
	ch->c.ours = ours != 0;
	ch->c.n = n;
	ch->c.sid = ch->list;
	for (i = 0; i < n; i++)
		ch->list[i] = 0;
	if (as->changes == NULL)
		as->changes = ch;
	else
		as->changes_tail->next = ch;
	as->changes_tail = ch;
	as->nchanges++;
	return ch->list;
}

const struct sctp_change *
sctp_change(const struct sctp_assoc *as)
{
	return as->changes != NULL ? &as->changes->c : NULL;
}

void
sctp_change_done(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_changed *ch = as->changes;

	if (ch == NULL)
		return;
	as->changes = ch->next;
	as->nchanges--;
	env->release(env->arg, ch, sizeof(*ch) +
		ch->c.n * sizeof(ch->list[0]));
}

/* ------------------------------------------------- messages not delivered */

/* The piece @s, of which no byte is waited for any more, is kept for the user. */
void
sctp_failed_add(struct sctp_assoc *as, struct sctp_seg *s)
{
	s->next = NULL;
	if (as->failed == NULL)
		as->failed = s;
	else
		as->failed_tail->next = s;
	as->failed_tail = s;
	as->events |= SCTP_EV_FAILED;
}

int
sctp_failed(const struct sctp_assoc *as, struct sctp_failure *ret)
{
	const struct sctp_seg *s = as->failed;

	if (s == NULL)
		return 0;
	ret->sid = s->sid;
	ret->ppid = s->ppid;
	ret->context = s->context;
	ret->unordered = (s->flags & SCTP_DATA_U) != 0;
	ret->sent = s->failed == SCTP_FAILED_SENT;
	ret->begins = s->begins;
	ret->ends = s->ends;
	ret->data = s->data;
	ret->n = s->len;
	return 1;
}

void
sctp_failed_done(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_seg *s = as->failed;

	if (s == NULL)
		return;
	as->failed = s->next;
	env->release(env->arg, s, sizeof(*s) + s->len);
}

/* The association is over: nothing of what was accepted will be delivered. */
void
sctp_fail_all(const struct sctp_env *env, struct sctp_assoc *as)
{
	if (as->down != SCTP_DOWN_NOT && as->down != SCTP_DOWN_SHUTDOWN)
		sctp_assoc_forget_sent(env, as);
}

void
sctp_report_forget(const struct sctp_env *env, struct sctp_assoc *as)
{
	while (as->failed != NULL)
		sctp_failed_done(env, as);
	while (as->changes != NULL)
		sctp_change_done(env, as);
	if (as->abandoned_of != NULL)
		env->release(env->arg, as->abandoned_of,
			as->nabandoned * sizeof(*as->abandoned_of));
	as->abandoned_of = NULL;
}

/* ------------------------------------------------------------ what was abandoned */

static uint32_t
row_of(uint32_t pr)
{
	return pr == SCTP_SEND_RTX;
}

/* Counters for all streams that there are; 0: no memory. */
static int
make_counters(const struct sctp_env *env, struct sctp_assoc *as)
{
	size_t size = as->nout * sizeof(*as->abandoned_of);
	size_t old = as->nabandoned * sizeof(*as->abandoned_of);
	struct sctp_abandoned *new = env->alloc(env->arg, size);

	if (new == NULL)
		return 0;
	__builtin_memset(new, 0, size);
	if (as->abandoned_of != NULL) {
		__builtin_memcpy(new, as->abandoned_of, old);
		env->release(env->arg, as->abandoned_of, old);
	}
	as->abandoned_of = new;
	as->nabandoned = as->nout;
	return 1;
}

/*
 * A message of stream @sid, with the limit @pr, is abandoned.  Streams have
 * counters from the first one on; without memory for them only the association
 * has.
 */
void
sctp_abandoned(const struct sctp_env *env, struct sctp_assoc *as, uint16_t sid,
	uint32_t pr, int sent)
{
	if (pr == 0)
		return;
	as->abandoned[row_of(pr)][sent != 0]++;
	if (sid < as->nabandoned || (sid < as->nout && make_counters(env, as)))
		as->abandoned_of[sid].n[row_of(pr)][sent != 0]++;
}

void
sctp_abandoned_count(const struct sctp_assoc *as, uint32_t sid, uint32_t pr,
	uint64_t *ret_unsent, uint64_t *ret_sent)
{
	uint32_t row;

	*ret_unsent = *ret_sent = 0;
	for (row = 0; row < SCTP_PR_ROWS; row++) {
		if (pr != 0 && row_of(pr) != row)
			continue;
		if (sid < as->nabandoned) {
			*ret_unsent += as->abandoned_of[sid].n[row][0];
			*ret_sent += as->abandoned_of[sid].n[row][1];
		} else if (sid >= as->nout) {
			*ret_unsent += as->abandoned[row][0];
			*ret_sent += as->abandoned[row][1];
		}
	}
}
