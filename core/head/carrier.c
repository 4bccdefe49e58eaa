/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The carrier of an end, and the sleep without notices of deaths (notice.c).
 *
 * Stages.  A thread learns of a death from its carrier alone if streamsd does
 * not run, if the kernel has no futex_waitv(2), or if a process outside may
 * hold the other end.  Then a sleep has two stages.  Stage 1 is a futex wait on
 * the queue's word for at most 20 ms.  Stage 2 is a look at the carrier, then a
 * wait on the carrier, first 50 ms, later without limit.
 *
 * Failure.  A sleeper in stage 1 wakes after 20 ms at the latest.  A sleeper in
 * stage 2 may sleep without limit.  Therefore a waker clears STR_WANT_TOKEN
 * only after it has sent the token (wake.c): if it is killed before, the next
 * waker sends one.  A thread that takes a token out first sets STR_WANT_TOKEN,
 * and clears it after it has rung the bells of the other sleepers.  If it is
 * killed in between, the bit is left, and the next waker sends a token.
 */
#include "core.h"
#include "sleep.h"
#include "sock/sock.h"
#include "want.h"

/*
 * Is @fd a file of @sd?  Another thread may have closed it, and the number may
 * belong to another file now.
 */
STR_COLD bool
str_carrier_own(struct str_head *sd, int fd)
{
	struct host_carrier c;
	struct str_file *f;

	if (str_plain_is(sd, fd))
		return true;
	if (host_carrier_id(fd, &c) != 0)
		return false;
	for (f = &sd->file; f != NULL; f = f->next)
		if (f->carrier.cookie == c.cookie)
			return true;
	return false;
}

/* str_carrier_look() at an end of a PLAIN pipe. */
static STR_COLD int
look_plain(struct str_head *sd, struct host_call *hc, uint32_t *ret_ev)
{
	int err = str_plain_adopt(sd, hc);

	if (err != 0)
		return err == EBADF ? EBADF : 0;
	if (!str_plain_is(sd, hc->fd))
		return EBADF;
	(void)str_outside_flush(sd, hc, false);
	*ret_ev = host_plain_look(hc->fd);
	if (*ret_ev & HOST_C_TOKEN) {
		*ret_ev &= ~HOST_C_HUP;
		str_plain_take(sd, hc->fd);
	} else if (*ret_ev & HOST_C_HUP) {
		struct host_call *old = host_tls.call;

		host_tls.call = hc;
		str_plain_ended(sd);
		host_tls.call = old;
	}
	return 0;
}

/* Look at @sd's carrier.  Return: 0, or EBADF. */
int
str_carrier_look(struct str_head *sd, struct host_call *hc, uint32_t *ret_ev)
{
	uint32_t ev, was = str_and(&sd->flags, ~STR_H_LOOK);

	*ret_ev = 0;
	if (hc == NULL || hc->fd < 0)
		return 0;
	if (str_unlikely((was & STR_H_PLAIN) != 0))
		return look_plain(sd, hc, ret_ev);
	*ret_ev = ev = host_carrier_look(hc->fd);
	if (str_unlikely((ev & HOST_C_NVAL) && str_head_plain(sd)))
		return look_plain(sd, hc, ret_ev); /* see is_adopted() */
	if ((ev & HOST_C_NVAL) || (((ev & HOST_C_HUP) || (was & STR_H_LOOK)) &&
		!str_carrier_own(sd, hc->fd)))
		return EBADF;
	if (str_unlikely((str_load(&sd->flags) & STR_H_AWAY) != 0))
		(void)str_outside_flush(sd, hc, false);
	else if (str_unlikely((str_load(&sd->flags) & STR_H_LEFT) != 0))
		str_outside_ask(sd, hc);
	/* bytes from outside come before the hang-up */
	if ((ev & HOST_C_TOKEN) && sd->plumb->kind == STR_PL_PIPE &&
	    ((ev & HOST_C_HUP) || !str_head_pending(sd))) {
		str_head_drain(sd, hc->fd, true);
		*ret_ev = ev = host_carrier_look(hc->fd);
		if (ev & HOST_C_TOKEN)
			ev &= ~HOST_C_HUP;
	}
	if ((ev & HOST_C_HUP) && sd->plumb->kind == STR_PL_PIPE &&
	    (str_load(&sd->flags) & (STR_H_PEER | STR_H_LOST)) == 0) {
		struct host_call *old = host_tls.call;

		host_tls.call = hc;
		str_pipe_pair_gone(sd->peer);
		host_tls.call = old;
	}
	return 0;
}

/*
 * str_head_look - consult @sd's carrier: is the other end still held?
 * Return: 0, or EBADF if the descriptor belongs to another object now.
 */
int
str_head_look(struct str_head *sd, struct host_call *hc)
{
	uint32_t ev;

	return str_carrier_look(sd, hc, &ev);
}

/*
 * Before a sleep without limit: reap the threads that died inside this stream.
 * Such a thread may have enabled a queue, or not have sent a wake.  Its reaper
 * makes the stream's queues run and wakes the stream's sleepers.
 */
void
str_stage_dead(struct str_plumb *pl)
{
	struct str_domain *d = host_domain;
	uint32_t n = str_load(&d->thread_high), i, k;

	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		uint32_t tag = str_load(&t->tag);
		uint64_t in = str_load(&t->inside);
		bool here = in == (uint64_t)(uintptr_t)&pl->head[0] ||
			in == (uint64_t)(uintptr_t)&pl->head[1];

		for (k = 0; k < STR_NCLAIM && !here; k++)
			here = str_load(&t->claim[k]) ==
				(uint64_t)(uintptr_t)pl;
		if (here && tag != 0 && t != host_self())
			(void)host_reap_dead(tag);
	}
}

/*
 * str_head_drain - take the tokens out of @sd's carrier, which is under @fd
 * A token is for all threads that sleep at this end.  Some may not have seen it
 * yet, so this thread rings the bells of their processes.
 */
void
str_head_drain(struct str_head *sd, int fd, bool pollers)
{
	str_a32 *want[2] = {&sd->hq.rwant, &sd->peer->hq.wwant};
	uint32_t n[2];
	int i;

	if (str_unlikely(str_head_plain(sd))) {
		str_plain_take(sd, fd); /* there are no tokens */
		return;
	}
	for (i = 0; i < 2; i++)
		(void)want_arm(want[i], &n[i]);
	if (sd->plumb->kind == STR_PL_PIPE)
		(void)str_outside_take(sd, fd);
	else
		host_token_drain(fd);
	STR_CRASH_POINT("sleep:drained");
	str_ring_sleepers(sd, pollers);
	for (i = 0; i < 2; i++)
		want_disarm(want[i], n[i]);
}

/* Wait for the carrier and the bell.  Wait for the bell alone while the carrier
 * would end each wait at once: by a hang-up that is to be ignored (lost), or by
 * data that must stay in it (stuffed). */
static int
wait_carrier(struct str_head *sd, struct host_call *hc, uint64_t ns,
	uint32_t *ret_ev)
{
	int fd = hc->fd, err;

	if (str_unlikely(str_head_lost(sd) || str_head_stuffed(sd)))
		hc->fd = -1;
	err = host_wait_carrier(hc, ns, ret_ev);
	hc->fd = fd;
	return err;
}

/* Has another thread of this process adopted the kernel's pipe since the call
 * began?  Then the descriptor refers to that pipe, and not to the carrier. */
static bool
is_adopted(struct str_head *sd, struct host_call *hc)
{
	return (hc->flags & HOST_CALL_PLAIN) == 0 && str_plain_is(sd, hc->fd);
}

/* Stage 2: on the carrier. */
int
str_carrier_sleep(const struct str_sleep *s)
{
	struct str_head *sd = s->sd;
	struct host_call *hc = s->hc;
	struct str_thread *t = host_self();
	uint64_t most = STAGE_NS, sid = sd->plumb->sid;
	uint32_t ev, n, seq = host_tls.sig_seq;
	int err = str_carrier_look(sd, hc, &ev);

	if (err == 0 && hc->fd >= 0 && !str_carrier_own(sd, hc->fd))
		err = EBADF;
	if (err != 0)
		return err;
	/* a wait leaves the token in the carrier, so that it wakes the other
	 * sleepers as well; this thread takes it out before its next wait */
	if (ev & HOST_C_TOKEN)
		str_head_drain(sd, hc->fd, true);
	for (;; most = UINT64_MAX) {
		bool alone;

		/* before want_arm(): a waker that sees the request may have to
		 * ring this process's bell */
		host_wait_prepare();
		str_store(&t->asleep_on, (uint64_t)(uintptr_t)sd);
		alone = want_arm(s->want, &n);
		host_fence_heavy();
		/* send what waits for programs outside; if there is more to
		 * send later, this process's bell is rung */
		if (host_serve != NULL)
			host_serve();
		/* CLOSED: hc->fd may be another object's descriptor now */
		if (str_sleep_ready(sd, s->why) ||
		    (str_load(&sd->flags) & STR_H_CLOSED) != 0) {
			str_store(&t->asleep_on, (uint64_t)0);
			if (alone)
				want_disarm(s->want, n);
			return 0;
		}
		STR_CRASH_POINT("sleep:carrier");
		ev = 0;
		err = wait_carrier(sd, hc, sleep_left(s->deadline, most), &ev);
		str_store(&t->asleep_on, (uint64_t)0);
		if (str_head_gone(sd, sid, seq))
			return EBADF;
		if (err == ETIMEDOUT && most == STAGE_NS &&
		    sleep_left(s->deadline, 1) != 0) {
			str_stage_dead(sd->plumb);
			continue;
		}
		if (err != 0 || (ev & HOST_C_TOKEN) == 0) {
			if (alone)
				want_disarm(s->want, n);
		}
		if (err == ETIMEDOUT)
			return sleep_left(s->deadline, 1) == 0 ? ETIMEDOUT : 0;
		if (err != 0)
			return err;
		if ((ev & HOST_C_BELL) && host_serve != NULL)
			host_serve();
		if (ev & HOST_C_NVAL)
			return is_adopted(sd, hc) ? 0 : EBADF;
		if (ev & HOST_C_HUP)
			(void)str_head_look(sd, hc);
		return 0;
	}
}

int
str_stage_near(const struct str_sleep *s, uint64_t until)
{
	struct str_head *sd = s->sd;
	uint64_t sid = sd->plumb->sid;
	uint32_t w = str_load(s->word), seq = host_tls.sig_seq, ev;
	int err;

	if (!sleep_reads(s->why))
		str_sleep_count(&sd->peer->hq);
	str_sleep_ask(s->want, STR_WANT_FUTEX);
	if (str_sleep_ready(sd, s->why)) {
		str_thread_uncount(host_self());
		return 0;
	}
	STR_CRASH_POINT("sleep:armed");
	err = host_wait(s->hc, s->word, w,
		sleep_left(STR_MIN(s->deadline, until), NEAR_NS));
	if (str_head_gone(sd, sid, seq))
		return EBADF;
	str_thread_uncount(host_self());
	/*
	 * A program that calls again after each signal may never come to stage
	 * 2, so what that would find first is looked for here.
	 */
	if (err == EINTR) {
		str_stage_dead(sd->plumb);
		(void)str_carrier_look(sd, s->hc, &ev);
	}
	return err;
}

int
str_stage_far(const struct str_sleep *s)
{
	struct str_head *sd = s->sd;

	str_stage_dead(sd->plumb);
	/* the descriptor was closed: there is no carrier to sleep on and no
	 * event to wait for, because this end has no holder any more */
	if ((str_load(&sd->flags) & STR_H_CLOSED) != 0)
		return EBADF;
	/* stage 1 brought no event; from now on wait for the socket, too */
	if (str_sock_of(sd->plumb) != 0)
		return str_sock_sleep(s, NULL);
	return str_carrier_sleep(s);
}
