/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * poll(2) on a Stream head: the current events, and arming for events. head.h
 * describes how a poller arms, fences, looks again, and sleeps.
 */
#include "core.h"
#include "sig.h"
#include "sock/sock.h"

/* Events of the first message on the read queue proper. */
static uint32_t
queued_events(struct str_head *sd)
{
	queue_t *q = &sd->qp->rq;
	uint32_t ev = 0;
	mblk_t *mp;

	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	mp = q->q_first;
	if (mp != NULL) {
		if (mp->b_datap->db_type >= QPCTL)
			ev = STR_POLLPRI;
		else if (mp->b_datap->db_type == M_SIG)
			ev = STR_POLLMSG;
		else if (mp->b_band == 0)
			ev = STR_POLLIN | STR_POLLRDNORM;
		else
			ev = STR_POLLIN | STR_POLLRDBAND;
	}
	str_unlock(&q->q_klock);
	return ev;
}

/* Has the next queue with a service procedure a band that is not full? */
static bool
any_band_writable(struct str_head *sd)
{
	queue_t *q;
	qband_t *qb;
	bool yes = false;

	if (str_claim(sd->plumb) != 0)
		return false;
	q = sd->qp->wq.q_next;
	if (q != NULL) {
		q = str_queue_nfsrv(q);
		if (str_lock(&q->q_klock))
			(void)str_queue_repair(q);
		for (qb = q->q_bandp; qb != NULL; qb = qb->qb_next)
			if ((qb->qb_flag & QB_FULL) == 0)
				yes = true;
		str_unlock(&q->q_klock);
	}
	str_unclaim(sd->plumb);
	return yes;
}

bool
str_head_band_writable(struct str_head *sd, int band)
{
	bool yes;

	if ((str_load(&sd->flags) & (STR_H_WRERR | STR_H_HUP | STR_H_PEER)))
		return true;
	if (str_claim(sd->plumb) != 0)
		return false;
	yes = sd->qp->wq.q_next == NULL || bcanput(sd->qp->wq.q_next, band);
	str_unclaim(sd->plumb);
	return yes;
}

/*
 * Events of a FIFO, as Linux reports them: a file open for reading reports that
 * there is no writer, a file open for writing that there is no reader.
 */
static uint32_t
fifo_events(struct str_head *sd, uint32_t f, uint32_t ev)
{
	const struct str_node *node = sd->plumb->node;

	if (f & STR_H_NORD)
		ev |= STR_POLLERR | STR_POLLOUT | STR_POLLWRNORM;
	/* not before there was a writer */
	if ((f & STR_H_NOWR) && (node == NULL || node->opens[1] != 0))
		ev |= STR_POLLHUP;
	return ev;
}

/* The same of a socket. */
static uint32_t
socket_events(struct str_head *sd, uint32_t f, uint32_t ev)
{
	if (f & STR_H_EOF)
		ev |= STR_POLLRDHUP;
	if (f & STR_H_WSHUT)
		ev |= STR_POLLOUT | STR_POLLWRNORM;
	if ((f & (STR_H_EOF | STR_H_WSHUT)) == (STR_H_EOF | STR_H_WSHUT))
		ev |= STR_POLLHUP;
	if (str_load(&sd->sockerr) != 0)
		ev |= STR_POLLERR;
	return ev;
}

/* The current events of @want, and perhaps others. */
static uint32_t
events(struct str_head *sd, uint32_t want)
{
	uint32_t f = str_load(&sd->flags), ev = 0;

	if (f & STR_H_PLEX)
		return STR_POLLNVAL;
	if (f & (STR_H_RDERR | STR_H_WRERR))
		ev |= STR_POLLERR;
	if (str_load(&sd->hq.npri) != 0)
		ev |= queued_events(sd);
	else if (str_load_acq(&sd->hq.pos) != str_load(&sd->hq.cpos))
		ev |= STR_POLLIN | STR_POLLRDNORM;
	else if (str_unlikely((f & STR_H_EOF) != 0 ||
			 str_load(&sd->hq.overflow) != 0))
		ev |= STR_POLLIN | STR_POLLRDNORM;
	if (f & (STR_H_HUP | STR_H_PEER))
		return ev | STR_POLLHUP;
	if ((f & STR_H_WRERR) == 0) {
		if ((want & (STR_POLLOUT | STR_POLLWRNORM)) != 0 &&
		    str_head_writable(sd))
			ev |= STR_POLLOUT | STR_POLLWRNORM;
		if ((want & STR_POLLWRBAND) != 0 && any_band_writable(sd))
			ev |= STR_POLLWRBAND;
	}
	if (str_unlikely((f & (STR_H_NOWR | STR_H_NORD)) != 0))
		ev = fifo_events(sd, f, ev);
	if (str_unlikely((f & STR_H_SOCK) != 0))
		ev = socket_events(sd, f, ev);
	return ev;
}

void
str_head_shut(struct str_head *sd, uint32_t clear, uint32_t set)
{
	static const uint32_t flag[] = {STR_H_SOCK, STR_H_EOF, STR_H_WSHUT};
	uint32_t c = 0, s = 0, i;

	for (i = 0; i < 3; i++) {
		c |= (clear >> i & 1) != 0 ? flag[i] : 0;
		s |= (set >> i & 1) != 0 ? flag[i] : 0;
	}
	if (c != 0)
		(void)str_and(&sd->flags, ~c);
	if (s == 0)
		return;
	(void)str_or(&sd->flags, s);
	str_wake_readers(sd);
}

uint32_t
str_head_shut_error(struct str_head *sd, uint32_t err)
{
	return str_xchg(&sd->sockerr, err);
}

bool
str_head_is_socket(struct str_head *sd)
{
	return (str_load(&sd->flags) & STR_H_SOCK) != 0;
}

uint32_t
str_head_events(struct str_head *sd)
{
	return events(sd, ~0u);
}

uint32_t
str_head_events_as(struct str_head *sd, uint32_t fflags)
{
	return str_head_events_for(sd, fflags, ~0u);
}

uint32_t
str_head_events_for(struct str_head *sd, uint32_t fflags, uint32_t want)
{
	uint32_t ev = events(sd, want), f = str_load(&sd->flags);

	if (str_unlikely((f & STR_H_PLAIN) != 0))
		return ev | STR_POLLPLAIN;
	if (str_likely((f & STR_H_FIFO) == 0) || (fflags & 3u) == 2)
		return ev;
	if ((fflags & 3u) == 0)
		return ev & ~(STR_POLL_WRITE |
			((f & STR_H_RDERR) ? 0 : STR_POLLERR));
	return ev & ~(STR_POLL_READ |
		((f & (STR_H_HUP | STR_H_PEER)) ? 0 : STR_POLLHUP));
}

void
str_head_arm(struct str_head *sd, uint32_t events)
{
	str_head_watch(sd);
	/* hang-up and errors are reported through the readers' word */
	str_want_token(&sd->hq.rwant);
	if (events & STR_POLL_WRITE) {
		str_want_token(&sd->peer->hq.wwant);
		if (sd->sigs != NULL && !str_head_writable(sd))
			str_sig_refused(sd, 0);
	}
}

int
str_head_poll_wait(struct str_head *sd, struct host_call *hc,
	uint32_t events, uint64_t deadline)
{
	int err;

	hc->head = sd;
	hc->flags |= HOST_CALL_ONCE;
	err = str_sleep(sd, hc, (events & STR_POLL_WRITE) != 0 ?
		STR_SLEEP_WRITE : STR_SLEEP_READ, deadline);
	return -err;
}

bool
str_head_lost(struct str_head *sd)
{
	return (str_load(&sd->flags) & (STR_H_LOST | STR_H_PEER)) == STR_H_LOST;
}

bool
str_head_stale(struct str_head *sd)
{
	return (str_load(&sd->flags) & STR_H_LOOK) != 0;
}

struct str_head *
str_pipe_end(struct str_plumb *pl, int end)
{
	return &pl->head[end];
}

struct str_head *
str_head_peer(struct str_head *sd)
{
	return sd->peer;
}

/* Bytes on the read queue proper, of all bands; a descriptor has none. */
static uint64_t
queued_bytes(struct str_head *sd)
{
	queue_t *q = &sd->qp->rq;
	uint64_t n = 0;
	mblk_t *mp;

	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	for (mp = q->q_first; mp != NULL; mp = mp->b_next)
		if (mp->b_datap->db_type != M_PASSFP &&
		    mp->b_datap->db_type != M_SIG)
			n += msgsize(mp);
	str_unlock(&q->q_klock);
	return n;
}

/*
 * str_head_nbytes - bytes that wait to be read, in data and control parts:
 * FIONREAD
 * Locks: takes q_klock; and plock and clock, if a reader's death left the count
 * in doubt.
 */
uint64_t
str_head_nbytes(struct str_head *sd)
{
	struct str_headq *hq = &sd->hq;

	if (str_unlikely(str_load(&hq->doubt) != 0)) {
		if (str_hlock(&hq->plock, STR_HOLD_P))
			str_headq_repair_p(hq);
		str_headq_settle(hq);
		str_hunlock(&hq->plock, STR_HOLD_P);
	}
	return str_headq_count(hq) + queued_bytes(sd);
}
