/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Two engines that call at once, restart, abort, lose messages by intention,
 * or lose each other: many short runs, each from a seed of its own.
 *
 * A message has its number in its stream, the generation of its sender, which
 * a restart advances, and a size that follows from these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "association.h"
#include "lab.h"
#include "t.h"

#define STREAMS 4
#define RUNS 300

struct head {
	uint32_t number, generation, reliable;
};

struct side {
	uint32_t generation, next[STREAMS];
	uint32_t from;		 /* least generation that may arrive */
	int64_t last[STREAMS];	 /* number received, of generation `at' */
	uint32_t at;
	unsigned got, got_reliable, sent, sent_reliable;
	unsigned lossy;		 /* of 100 messages so many may be lost */
	uint32_t events;	 /* all so far */
	unsigned most, ups;
	unsigned changes;	 /* of streams; 0: none are asked for */
	unsigned changed;	 /* ... of these, done */
	size_t have;
	unsigned char msg[8192];
};

static struct side side[2];


static size_t
size_of(uint32_t number, uint32_t generation)
{
	return sizeof(struct head) +
		(number * 2654435761u + generation) % 4001 *
			(number % 5 == 0) + number % 50;
}

static void
send_some(struct lab_end *e, struct side *s)
{
	static unsigned char buf[8192];
	struct sctp_info info = {0};
	struct head h;
	int err;

	while (s->sent < s->most) {
		info.sid = (uint16_t)(s->sent % STREAMS);
		info.flags = 0;
		h.number = s->next[info.sid];
		h.generation = s->generation;
		h.reliable = s->sent * 37 % 100 >= s->lossy;
		if (!h.reliable) {
			info.flags = s->sent % 2 != 0 ? SCTP_SEND_TTL :
							SCTP_SEND_RTX;
			info.life = s->sent % 2 != 0 ? 30 * SCTP_MS :
						       s->sent % 3;
		}
		memset(buf, (int)h.number, sizeof(buf));
		memcpy(buf, &h, sizeof(h));
		err = sctp_send(&lab.env, e->as, &info, buf,
			size_of(h.number, h.generation));
		if (err != 0)
			return;
		s->next[info.sid]++;
		s->sent++;
		s->sent_reliable += h.reliable;
	}
}

static void
check(struct side *s, unsigned sid)
{
	struct head h;
	size_t i;

	T_GE(s->have, sizeof(h));
	memcpy(&h, s->msg, sizeof(h));
	T_EQ(s->have, size_of(h.number, h.generation));
	for (i = sizeof(h); i < s->have; i++)
		T_EQ(s->msg[i], (unsigned char)h.number);
	T_GE(h.generation, s->from);
	if (h.generation != s->at) {
		s->at = h.generation;
		for (i = 0; i < STREAMS; i++)
			s->last[i] = -1;
	}
	if (s->lossy == 0)
		T_EQ(h.number, s->last[sid] + 1);
	else
		T_GT(h.number, s->last[sid]);
	s->last[sid] = h.number;
	s->got++;
	s->got_reliable += h.reliable;
}

/* Ask for some change of streams. */
static void
change(struct lab_end *e, struct side *s)
{
	uint16_t sid[STREAMS];
	const struct sctp_change *c;
	uint32_t n = 0, i;
	int err;

	while ((c = sctp_change(e->as)) != NULL) {
		s->changed += c->ours && c->result == SCTP_R_DONE;
		sctp_change_done(&lab.env, e->as);
	}
	if (s->changes == 0 || lab_rand(8) != 0)
		return;
	T_EQ(sctp_set_scheduler(e->as, (enum sctp_scheduler)lab_rand(6)), 0);
	for (i = 0; i < STREAMS; i++)
		if (lab_rand(2) == 0)
			sid[n++] = (uint16_t)i;
	switch (lab_rand(4)) {
	case 0:
		err = sctp_reset_tsn(&lab.env, e->as);
		break;
	case 1:
		err = sctp_add_streams(&lab.env, e->as,
			(uint32_t)lab_rand(3), (uint32_t)lab_rand(3));
		break;
	default:
		err = sctp_reset_streams(&lab.env, e->as,
			(uint32_t)(1 + lab_rand(3)) * SCTP_RECONF_OUT, sid, n);
	}
	s->changes -= err == 0;
}

static void
input(struct lab_end *e)
{
	struct side *s = &side[e == &lab.end[1]];
	struct side *peer = &side[e == &lab.end[0]];
	struct sctp_info info;
	uint32_t ev;

	if (e->as == NULL)
		return;
	ev = sctp_events(e->as);
	s->events |= ev;
	/* a second association: the peer, or its packets, ended the first */
	if ((ev & (SCTP_EV_RESTART | SCTP_EV_UP)) != 0 && s->ups++ != 0) {
		s->from = peer->generation;
		s->generation++;
		s->have = 0;
		memset(s->next, 0, sizeof(s->next));
	}
	while (sctp_readable(e->as) != 0) {
		s->have += sctp_recv(&lab.env, e->as, &info, s->msg + s->have,
			sizeof(s->msg) - s->have);
		if ((info.flags & SCTP_RECV_CUT) != 0)
			s->have = 0;
		else if ((info.flags & SCTP_RECV_MORE) == 0) {
			check(s, info.sid);
			s->have = 0;
		}
	}
	change(e, s);
	send_some(e, s);
}

static void
begin(struct t *t, unsigned run)
{
	lab_begin(t->seed + run);
	memset(side, 0, sizeof(side));
	for (int i = 0; i < 2; i++) {
		lab.end[i].input = input;
		/* of 10 tries in a row all are lost in one run of some */
		lab.end[i].ep.conf.assoc_max_retrans = 30;
		lab.end[i].ep.conf.path_max_retrans = 30;
		lab.end[i].ep.conf.init_max_retrans = 30;
		lab.end[i].ep.conf.interleave = run % 3 != 0;
		lab.end[i].ep.conf.scheduler = (uint8_t)(run % 6);
		side[i].most = 200;
		side[i].at = ~0u;
	}
	lab.link.lose = (unsigned)lab_rand(150);
	lab.link.twice = (unsigned)lab_rand(50);
	lab.link.jitter = lab_rand(2) * 20 * SCTP_MS;
}

static bool
is_up(int i)
{
	return lab.end[i].as != NULL &&
		sctp_assoc_state(lab.end[i].as) >= SCTP_ESTABLISHED;
}

static bool
is_down(int i)
{
	return lab.end[i].as == NULL ||
		sctp_down_reason(lab.end[i].as) != SCTP_DOWN_NOT;
}

/* For the reader of a failure. */
static void
show(void)
{
	for (int i = 0; i < 2; i++) {
		struct sctp_assoc *as = lab.end[i].as;

		if (as == NULL)
			continue;
		printf("# %d: state %u down %u owes 0x%x queue %d acked %u "
			"next %u advanced %u lost %u flight %u window %u "
			"cum %u high %u bytes %u deadline %lld\n", i,
			as->state, as->down, as->owes, as->queue != NULL,
			as->acked - as->my_first, as->next_tsn - as->my_first,
			as->advanced - as->my_first, as->nlost, as->flight,
			as->peer_rwnd, as->cum - as->peer_first,
			as->high - as->peer_first, as->rcv_bytes,
			(long long)(sctp_deadline(as) - lab.env.now));
	}
}

#define UNTIL(e) do {							\
	uint64_t end_ = lab.env.now + 36000ull * SCTP_S;		\
									\
	while (!(e))							\
		if (!lab_step(end_)) {					\
			show();						\
			T_FAIL("%s: never", #e);			\
		}							\
} while (0)

T_CASE_TIMEOUT(both_call_at_once, 120)
{
	struct sctp_assoc *a, *b;

	for (unsigned run = 0; run < RUNS; run++) {
		begin(t, run);
		lab_call(0);
		if (lab_rand(2) == 0)
			while (lab_step(lab.env.now + lab_rand(30000)))
				;
		if (lab.end[1].as == NULL)
			lab_call(1);
		UNTIL(is_up(0) && is_up(1));
		UNTIL(side[0].got == 200 && side[1].got == 200);
		a = lab.end[0].as;
		b = lab.end[1].as;
		T_EQ(a->my_tag, b->peer_tag);
		T_EQ(b->my_tag, a->peer_tag);
		lab_end();
	}
}

/* The first end forgets everything, and calls again. */
T_CASE_TIMEOUT(one_restarts, 120)
{
	for (unsigned run = 0; run < RUNS; run++) {
		begin(t, run);
		lab_call(0);
		UNTIL(is_up(0) && is_up(1));
		for (unsigned again = 0; again < 3; again++) {
			for (unsigned n = (unsigned)lab_rand(60); n > 0; n--)
				(void)lab_step(lab.env.now + SCTP_S);
			sctp_assoc_free(&lab.env, lab.end[0].as);
			lab.end[0].as = NULL;
			side[0].generation++;
			side[0].have = side[0].sent = side[0].ups = 0;
			memset(side[0].next, 0, sizeof(side[0].next));
			side[1].events = 0;
			side[1].sent = 0;
			/* at once, or when the peer has noticed */
			if (lab_rand(4) == 0)
				while (lab_step(lab.env.now + 10 * SCTP_S))
					;
			lab_call(0);
			UNTIL(is_up(0) || is_down(0));
			T_TRUE(is_up(0));
			UNTIL((side[1].events &
				(SCTP_EV_RESTART | SCTP_EV_UP)) != 0);
		}
		side[0].most = side[0].sent + 20;
		UNTIL(side[1].at == side[0].generation &&
			lab.end[0].as->queue == NULL &&
			sctp_unsent(lab.end[0].as) == 0);
		lab_end();
	}
}

T_CASE_TIMEOUT(messages_may_be_lost, 120)
{
	unsigned lost = 0;

	for (unsigned run = 0; run < RUNS; run++) {
		begin(t, run);
		lab.link.lose += 50;
		lab_call(0);
		side[0].lossy = side[1].lossy = 50;
		UNTIL(is_up(0) && is_up(1));
		UNTIL(side[0].sent == 200 && side[1].sent == 200 &&
			sctp_unsent(lab.end[0].as) == 0 &&
			sctp_unsent(lab.end[1].as) == 0);
		/* what is reliable has arrived, or waits behind nothing */
		UNTIL(side[0].got_reliable == side[1].sent_reliable &&
			side[1].got_reliable == side[0].sent_reliable);
		lost += 400 - side[0].got - side[1].got;
		lab_end();
	}
	printf("# %u of %u messages were abandoned\n", lost, 400 * RUNS);
	T_GT(lost, 0);
}

/* Order is kept, and nothing is lost, while numbers begin again and again. */
T_CASE_TIMEOUT(streams_are_changed, 120)
{
	unsigned changed = 0;

	for (unsigned run = 0; run < RUNS / 3; run++) {
		begin(t, run);
		lab_call(0);
		side[0].most = side[1].most = 2000;
		side[0].changes = 20;
		side[1].changes = run % 2 != 0 ? 20 : 0;
		UNTIL(is_up(0) && is_up(1));
		UNTIL(side[0].got == 2000 && side[1].got == 2000);
		changed += side[0].changed + side[1].changed;
		lab_end();
	}
	printf("# %u changes\n", changed);
	T_GT(changed, RUNS / 2);
}

T_CASE_TIMEOUT(an_abort_ends_both_sides, 120)
{
	unsigned n;

	for (unsigned run = 0; run < RUNS; run++) {
		begin(t, run);
		lab_call(0);
		for (n = (unsigned)lab_rand(100); n > 0; n--)
			(void)lab_step(lab.env.now + SCTP_S);
		n = (unsigned)lab_rand(2);
		if (lab.end[n].as == NULL)
			n = 0;
		sctp_abort(&lab.env, lab.end[n].as, "x", 1);
		lab_flush(&lab.end[n]);
		sctp_assoc_free(&lab.env, lab.end[n].as);
		lab.end[n].as = NULL;
		/* a COOKIE ECHO on its way makes a new one; so not if that is
		 * what remains */
		lab.end[n].ep.listening = 0;
		UNTIL(is_down(0) && is_down(1));
		lab_end();
	}
}

T_CASE_TIMEOUT(a_shutdown_at_any_time_ends_both_sides, 120)
{
	unsigned n;

	for (unsigned run = 0; run < RUNS; run++) {
		begin(t, run);
		lab_call(0);
		for (n = (unsigned)lab_rand(100); n > 0; n--)
			(void)lab_step(lab.env.now + SCTP_S);
		for (n = 0; n < 2; n++)
			if (lab.end[n].as != NULL && lab_rand(3) != 0) {
				(void)sctp_shutdown(&lab.env, lab.end[n].as);
				lab_flush(&lab.end[n]);
			}
		if (lab_rand(2) == 0 && lab.end[0].as != NULL)
			(void)sctp_shutdown(&lab.env, lab.end[0].as);
		lab_flush(&lab.end[0]);
		if (lab.end[0].as->shutdown_wanted == 0 &&
			lab.end[0].as->t5_at == 0 && !is_down(0))
			(void)sctp_shutdown(&lab.env, lab.end[0].as);
		lab_flush(&lab.end[0]);
		UNTIL(is_down(0) && is_down(1));
		/* nothing that was accepted is lost */
		if (sctp_down_reason(lab.end[0].as) == SCTP_DOWN_SHUTDOWN)
			T_EQ(side[1].got, side[0].sent);
		lab_end();
	}
}

T_CASE_TIMEOUT(a_peer_that_is_gone_is_noticed, 120)
{
	for (unsigned run = 0; run < RUNS / 10; run++) {
		begin(t, run);
		lab_call(0);
		for (unsigned n = (unsigned)lab_rand(100); n > 0; n--)
			(void)lab_step(lab.env.now + SCTP_S);
		lab.link.cut[0] = lab.link.cut[1] = true;
		UNTIL(is_down(0) && is_down(1));
		T_EQ(sctp_down_reason(lab.end[0].as), SCTP_DOWN_UNREACHABLE);
		lab_end();
	}
}
