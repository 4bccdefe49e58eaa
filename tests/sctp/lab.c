/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The laboratory: lab.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "association.h"
#include "lab.h"

struct lab lab;
long lab_blocks, lab_bytes, lab_fail;

uint64_t
lab_rand(uint64_t below)
{
	uint64_t z = lab.seed += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	return below != 0 ? z % below : z;
}

static void
die(const char *why)
{
	fprintf(stderr, "# lab: %s\n", why);
	abort();
}

/* The size stands in front, and is compared when it is released. */
static void *
take(void *arg, size_t n)
{
	size_t *p;

	(void)arg;
	if (lab_fail != 0 && lab_rand((uint64_t)lab_fail) == 0)
		return NULL;
	p = malloc(n + 16);
	if (p == NULL)
		die("no memory");
	p[0] = n;
	lab_blocks++;
	lab_bytes += (long)n;
	memset(p + 2, 0xdb, n);
	return p + 2;
}

static void
give(void *arg, void *q, size_t n)
{
	size_t *p = (size_t *)q - 2;

	(void)arg;
	if (p[0] != n)
		die("a block is released with another size");
	lab_blocks--;
	lab_bytes -= (long)n;
	memset(p, 0xdd, n + 16);
	free(p);
}

static void
noise(void *arg, void *q, size_t n)
{
	unsigned char *p = q;

	(void)arg;
	while (n-- != 0)
		*p++ = (unsigned char)lab_rand(256);
}

void
lab_begin(uint64_t seed)
{
	memset(&lab, 0, sizeof(lab));
	lab.seed = seed;
	lab.env.now = SCTP_S;
	lab.env.alloc = take;
	lab.env.release = give;
	lab.env.random = noise;
	lab.link.delay = 10 * SCTP_MS;
	for (int i = 0; i < 2; i++) {
		struct lab_end *e = &lab.end[i];

		sctp_ep_init(&lab.env, &e->ep, LAB_PORT);
		e->ep.listening = 1;
		for (int k = 0; k < LAB_ADDRS; k++) {
			e->addr[k].len = 4;
			e->addr[k].b[0] = 10;
			e->addr[k].b[1] = (unsigned char)k;
			e->addr[k].b[3] = (unsigned char)(i + 1);
		}
	}
}

static bool
same(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && memcmp(a->b, b->b, 16) == 0;
}

static void
put(struct lab_flight *f)
{
	struct lab_flight **p = &lab.air;

	while (*p != NULL && (*p)->at <= f->at)
		p = &(*p)->next;
	f->next = *p;
	*p = f;
}

/* When the last byte of a packet has left; 0: the queue is full. */
static uint64_t
departs(struct lab_end *e, size_t n)
{
	uint64_t at = e->free_at > lab.env.now ? e->free_at : lab.env.now;

	if (lab.link.rate == 0)
		return lab.env.now;
	if (lab.link.queue != 0 && at - lab.env.now >
		lab.link.queue * 1500ull * SCTP_S / lab.link.rate)
		return 0;
	e->free_at = at + n * SCTP_S / lab.link.rate;
	return e->free_at;
}

/* A router has no room for a packet that must not be fragmented. */
static bool
is_refused(struct lab_end *e, const struct sctp_packet *pkt)
{
	if (lab.link.mtu == 0 || pkt->fragment || pkt->n + 20 <= lab.link.mtu)
		return false;
	lab.lost++;
	if (lab_rand(2) == 0)
		(void)sctp_icmp(&lab.env, &e->ep, &pkt->dst, pkt->p, 28,
			EMSGSIZE, lab.link.mtu);
	return true;
}

static void
send_packet(struct lab_end *e, const struct sctp_packet *pkt)
{
	int me = e == &lab.end[1], k;
	struct lab_flight *f;
	uint64_t at = departs(e, pkt->n);
	unsigned copies = 1 + (lab_rand(1000) < lab.link.twice);

	for (k = 0; k < LAB_ADDRS; k++)
		if (same(&pkt->dst, &lab.end[!me].addr[k]))
			break;
	lab.packets++;
	if (is_refused(e, pkt))
		return;
	if (k == LAB_ADDRS || lab.link.cut[k] || at == 0 ||
		lab_rand(1000) < lab.link.lose) {
		lab.lost++;
		return;
	}
	while (copies-- != 0) {
		f = calloc(1, sizeof(*f));
		f->to = !me;
		f->n = (unsigned)pkt->n;
		f->src = e->addr[k];
		f->dst = pkt->dst;
		memcpy(f->p, pkt->p, pkt->n);
		if (lab_rand(1000) < lab.link.corrupt)
			f->p[lab_rand(f->n)] ^=
				(unsigned char)(1 << lab_rand(8));
		f->at = at + lab.link.delay +
			(lab.link.jitter != 0 ? lab_rand(lab.link.jitter) : 0);
		put(f);
	}
}

/* Send what is due. */
void
lab_flush(struct lab_end *e)
{
	unsigned char buf[LAB_PACKET];
	struct sctp_packet out = {.p = buf, .size = sizeof(buf)};

	while (e->as != NULL && sctp_output(&lab.env, e->as, &out) != 0)
		send_packet(e, &out);
	if (e->as != NULL && lab_rand(16) == 0 && sctp_audit(e->as) != NULL)
		die(sctp_audit(e->as));
}

static void
arrives(struct lab_flight *f)
{
	unsigned char buf[LAB_PACKET];
	struct lab_end *e = &lab.end[f->to];
	struct sctp_packet in = {.p = f->p, .n = f->n, .src = f->src,
		.dst = f->dst};
	struct sctp_packet reply = {.p = buf, .size = sizeof(buf)};
	struct sctp_assoc *as;
	int fresh;

	as = sctp_input(&lab.env, &e->ep, &in, &reply, &fresh);
	if (reply.n != 0)
		send_packet(e, &reply);
	if (fresh) {
		if (e->as != NULL)
			sctp_assoc_free(&lab.env, e->as);
		e->as = as;
	}
}

bool
lab_step(uint64_t until)
{
	uint64_t at = lab.air != NULL ? lab.air->at : ~0ull, t;
	struct lab_flight *f = lab.air;
	struct lab_end *e = f != NULL ? &lab.end[f->to] : NULL;

	for (int i = 0; i < 2; i++) {
		if (lab.end[i].as == NULL)
			continue;
		t = sctp_deadline(lab.end[i].as);
		if (t != 0 && t < at) {
			at = t;
			f = NULL;
			e = &lab.end[i];
		}
	}
	if (at > until)
		return false;
	if (at > lab.env.now)
		lab.env.now = at;
	if (f != NULL) {
		lab.air = f->next;
		arrives(f);
		free(f);
	} else {
		sctp_timeout(&lab.env, e->as);
	}
	lab_flush(e);
	if (e->input != NULL)
		e->input(e);
	lab_flush(e);
	return true;
}

void
lab_call(int from)
{
	struct lab_end *a = &lab.end[from], *b = &lab.end[!from];

	if (sctp_connect(&lab.env, &a->ep, b->addr, 1, LAB_PORT, &a->as) != 0)
		die("sctp_connect");
	lab_flush(a);
}

/* The first end calls the second; they tell each other @naddrs addresses. */
void
lab_connect(unsigned naddrs)
{
	if (naddrs > 1)
		for (int i = 0; i < 2; i++) {
			lab.end[i].ep.nlocal = naddrs;
			memcpy(lab.end[i].ep.local, lab.end[i].addr,
				sizeof(lab.end[i].addr));
		}
	lab_call(0);
}

void
lab_end(void)
{
	struct lab_flight *f;

	while ((f = lab.air) != NULL) {
		lab.air = f->next;
		free(f);
	}
	for (int i = 0; i < 2; i++) {
		sctp_assoc_free(&lab.env, lab.end[i].as);
		sctp_ep_fini(&lab.env, &lab.end[i].ep);
	}
	if (lab_blocks != 0)
		die("memory is left");
}
