/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Two engines and a bad network: every message arrives once, whole, and in the
 * order of its stream, in both directions; then the association ends in order
 * on both sides, and no memory is left.
 *
 * Size and contents of a message follow from its stream and number, so the
 * receiver knows what has to come.  Stream 0 is unordered; its messages begin
 * with their number.
 *
 * With I-DATA the parts of a long message come between those of others; the
 * stream and the number in it tell them apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"
#include "t.h"

#define STREAMS 10
#define BIG 70000

/* A message that is not complete. */
struct part {
	size_t have; /* bytes; 0: the entry is free */
	uint16_t sid, ssn;
	unsigned char msg[BIG];
};

struct side {
	struct lab_end *e, *peer;
	unsigned total;		/* messages to be sent, of all streams */
	unsigned sent;
	unsigned next[STREAMS]; /* to be sent */
	unsigned got[STREAMS];	/* next expected; of stream 0 how many */
	unsigned ngot;
	unsigned char *seen;	/* of stream 0 */
	struct part part[2 * STREAMS];
	bool up, down, blocked, shutting;
	unsigned largest;
};

static struct side side[2];

static uint32_t
mix(uint32_t a, uint32_t b)
{
	uint32_t h = a * 0x9e3779b1u ^ b * 0x85ebca77u;

	h ^= h >> 15;
	h *= 0xc2b2ae3du;
	return h ^ h >> 13;
}

/* Mostly small, some of several fragments, a few big ones. */
static size_t
size_of(unsigned sid, unsigned n, unsigned largest)
{
	uint32_t h = mix(sid, n);
	size_t size;

	switch (h % 16) {
	case 0:
		size = h / 16 % largest;
		break;
	case 1:
	case 2:
		size = h / 16 % 5000;
		break;
	default:
		size = h / 16 % 200;
		break;
	}
	return (size < largest ? size : largest) + (sid == 0 ? 4 : 1);
}

static void
fill(unsigned char *p, size_t size, unsigned sid, unsigned n)
{
	size_t i;

	for (i = 0; i < size; i++)
		p[i] = (unsigned char)(mix(sid, n) + i * 31 + i / 256);
	if (sid == 0)
		memcpy(p, &n, 4);
}

static void
send_more(struct side *s)
{
	static unsigned char buf[BIG];
	struct sctp_info info = {0};
	unsigned sid;
	size_t size;
	int err;

	while (s->sent < s->total) {
		sid = mix(99, s->sent) % STREAMS;
		size = size_of(sid, s->next[sid], s->largest);
		fill(buf, size, sid, s->next[sid]);
		info.sid = (uint16_t)sid;
		info.ppid = sid * 3;
		info.flags = sid == 0 ? SCTP_SEND_UNORDERED : 0;
		err = sctp_send(&lab.env, s->e->as, &info, buf, size);
		if (err == EAGAIN || err == ENOMEM)
			return;
		T_EQ(err, 0);
		s->next[sid]++;
		s->sent++;
	}
}

static void
check(struct side *s, const struct sctp_info *info, const struct part *p)
{
	static unsigned char want[BIG];
	unsigned sid = info->sid, n = s->got[sid];
	size_t size;

	T_LT(sid, STREAMS);
	T_EQ(info->ppid, sid * 3);
	T_EQ((info->flags & SCTP_SEND_UNORDERED) != 0, sid == 0);
	if (sid == 0) {
		T_GE(p->have, 4);
		memcpy(&n, p->msg, 4);
		T_LT(n, s->total);
		T_EQ(s->seen[n], 0);
		s->seen[n] = 1;
	}
	size = size_of(sid, n, s->largest);
	T_EQ(p->have, size);
	fill(want, size, sid, n);
	T_EQ(memcmp(p->msg, want, size), 0);
	s->got[sid]++;
	s->ngot++;
}

/* The beginning of the message that @info describes, or a free entry. */
static struct part *
part_of(struct side *s, const struct sctp_info *info)
{
	struct part *p, *found = NULL;

	for (p = s->part; p < s->part + 2 * STREAMS; p++) {
		if (p->have == 0)
			found = found != NULL ? found : p;
		else if (p->sid == info->sid && p->ssn == info->ssn)
			return p;
	}
	T_TRUE(found != NULL);
	found->sid = info->sid;
	found->ssn = info->ssn;
	return found;
}

static void
receive(struct side *s)
{
	static unsigned char buf[BIG];
	struct sctp_info info;
	struct part *p;
	size_t n;

	while (sctp_readable(s->e->as) != 0) {
		n = sctp_recv(&lab.env, s->e->as, &info, buf,
			1 + lab_rand(sizeof(buf)));
		T_GT(n, 0);
		p = part_of(s, &info);
		T_LE(p->have + n, sizeof(p->msg));
		memcpy(p->msg + p->have, buf, n);
		p->have += n;
		if ((info.flags & SCTP_RECV_MORE) != 0)
			continue;
		check(s, &info, p);
		p->have = 0;
	}
}

static void
input(struct lab_end *e)
{
	struct side *s = &side[e == &lab.end[1]];
	uint32_t ev;

	if (e->as == NULL)
		return;
	ev = sctp_events(e->as);
	s->e = e;
	if ((ev & SCTP_EV_UP) != 0)
		s->up = true;
	if ((ev & SCTP_EV_DOWN) != 0) {
		T_EQ(sctp_down_reason(e->as), SCTP_DOWN_SHUTDOWN);
		s->down = true;
	}
	if (lab_rand(100) < 3)
		return; /* the user is busy elsewhere */
	receive(s);
	if (s->up && !s->down)
		send_more(s);
}

static void
finish(void)
{
	uint64_t end = lab.env.now + 3600ull * SCTP_S;
	int i;

	if (side[0].e->as != NULL)
		T_EQ(sctp_shutdown(&lab.env, side[0].e->as), 0);
	lab_flush(side[0].e);
	while (!side[0].down || !side[1].down) {
		T_TRUE(lab_step(end));
	}
	for (i = 0; i < 2; i++)
		free(side[i].seen);
	lab_end();
}

static void
begin(struct t *t, unsigned messages, unsigned largest)
{
	int i;

	lab_begin(t->seed);
	memset(side, 0, sizeof(side));
	for (i = 0; i < 2; i++) {
		side[i].e = &lab.end[i];
		side[i].total = messages;
		side[i].largest = largest;
		side[i].seen = calloc(messages, 1);
		lab.end[i].input = input;
	}
}

static bool
all_there(void)
{
	return side[0].ngot == side[1].total && side[1].ngot == side[0].total;
}

static void
run(uint64_t seconds)
{
	uint64_t end = lab.env.now + seconds * SCTP_S, from = lab.env.now;

	while (!all_there()) {
		if (!lab_step(end))
			T_FAIL("%u and %u of %u messages in %llu s",
				side[0].ngot, side[1].ngot, side[0].total,
				(unsigned long long)seconds);
		/* a busy user comes back; a new sender begins */
		if (lab_rand(50) == 0)
			for (int i = 0; i < 2; i++) {
				input(&lab.end[i]);
				lab_flush(&lab.end[i]);
			}
	}
	printf("# %llu packets, %llu lost, %.3f s\n",
		(unsigned long long)lab.packets, (unsigned long long)lab.lost,
		(double)(lab.env.now - from) / 1e6);
	for (int i = 0; i < 2; i++) {
		uint64_t *c = lab.end[i].ep.count;

		printf("# data %llu, fast %llu, timer %llu, dup %llu, "
			"no room %llu\n", (unsigned long long)
			c[SCTP_N_DATA_OUT], (unsigned long long)
			c[SCTP_N_RTX_FAST], (unsigned long long)
			c[SCTP_N_RTX_TIMER], (unsigned long long)
			c[SCTP_N_DUPLICATE], (unsigned long long)
			c[SCTP_N_NO_ROOM]);
	}
}

T_CASE_TIMEOUT(a_good_network, 300)
{
	begin(t, 20000, 60000);
	lab_connect(1);
	run(600);
	T_EQ(lab.end[0].ep.count[SCTP_N_RTX_TIMER], 0);
	T_EQ(lab.end[0].ep.count[SCTP_N_DUPLICATE], 0);
	finish();
}

T_CASE_TIMEOUT(a_hundred_thousand_messages_through_a_bad_network, 300)
{
	begin(t, 100000, 20000);
	lab.link.lose = 20;
	lab.link.twice = 20;
	lab.link.corrupt = 10;
	lab.link.jitter = 5 * SCTP_MS;
	lab_connect(1);
	run(36000);
	finish();
}

T_CASE_TIMEOUT(a_network_that_loses_a_third, 300)
{
	begin(t, 2000, 5000);
	lab.link.lose = 330;
	for (int i = 0; i < 2; i++) {
		lab.end[i].ep.conf.assoc_max_retrans = 100;
		lab.end[i].ep.conf.path_max_retrans = 100;
		lab.end[i].ep.conf.init_max_retrans = 100;
	}
	lab_connect(1);
	run(360000);
	finish();
}

T_CASE_TIMEOUT(small_buffers, 300)
{
	begin(t, 5000, 60000);
	lab.link.lose = 10;
	lab.link.jitter = 5 * SCTP_MS;
	for (int i = 0; i < 2; i++)
		lab.end[i].ep.conf.rcvbuf = lab.end[i].ep.conf.sndbuf = 8000;
	lab_connect(1);
	run(360000);
	finish();
}

T_CASE_TIMEOUT(long_messages_are_mixed_in_small_buffers, 300)
{
	begin(t, 1000, 60000);
	lab.link.lose = 10;
	lab.link.jitter = 5 * SCTP_MS;
	for (int i = 0; i < 2; i++) {
		lab.end[i].ep.conf.rcvbuf = 8000;
		lab.end[i].ep.conf.interleave = 1;
		lab.end[i].ep.conf.scheduler = SCTP_SCHED_RR;
	}
	lab_connect(1);
	run(360000);
	finish();
}

T_CASE_TIMEOUT(a_slow_link_with_a_short_queue, 300)
{
	begin(t, 10000, 60000);
	lab.link.rate = 1000000;
	lab.link.queue = 30;
	lab_connect(1);
	run(36000);
	finish();
}

T_CASE_TIMEOUT(two_paths_of_which_one_fails_and_returns, 300)
{
	begin(t, 20000, 20000);
	lab.link.rate = 2000000;
	lab.link.lose = 5;
	lab_connect(2);
	for (int n = 0; n < 20 && !all_there(); n++) {
		uint64_t until = lab.env.now + 5 * SCTP_S;

		lab.link.cut[n % 2] = n % 4 < 2;
		while (lab_step(until))
			;
		lab.link.cut[0] = lab.link.cut[1] = false;
	}
	run(36000);
	finish();
}

T_CASE_TIMEOUT(a_path_that_becomes_narrower, 300)
{
	begin(t, 10000, 20000);
	lab.link.lose = 5;
	lab_connect(1);
	for (unsigned mtu = 1400; mtu > 600; mtu -= 200) {
		for (int n = 0; n < 1000; n++)
			T_TRUE(lab_step(~0ull));
		lab.link.mtu = mtu;
	}
	run(36000);
	finish();
}

T_CASE_TIMEOUT(memory_is_scarce, 300)
{
	begin(t, 10000, 20000);
	lab.link.lose = 10;
	lab_connect(1);
	while (!side[0].up || !side[1].up)
		T_TRUE(lab_step(~0ull));
	lab_fail = 50;
	run(36000);
	lab_fail = 0;
	finish();
}
