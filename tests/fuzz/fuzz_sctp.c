/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fuzz target: an SCTP association and anything that a peer, the network or
 * the user may do.  The input is a program of records: a first byte that says
 * what happens, and its arguments.  Packets are made of chunks whose tags, TSNs
 * and cookies are right unless the record says otherwise, so that they reach
 * what is behind these checks; their other bytes are the input's.  After every
 * record the engine's invariants hold, and at the end no memory is left.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "association.h"
#include "crc32c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PACKET 4096u

static struct sctp_env env;
static struct sctp_ep ep;
static struct sctp_assoc *as;
static long blocks;
static unsigned scarce, noise_at;
static uint32_t ltag, ltsn, rtsn, rtag;
static unsigned char cookie[2048], hb[64];
static size_t ncookie, nhb;

static const uint8_t *in, *end;
static void
must(bool ok)
{
	if (!ok)
		abort();
}

/* The engine's invariants; a debugger shows what is wrong. */
static void
audit(void)
{
	const char *wrong = as != NULL ? sctp_audit(as) : NULL;

	if (wrong != NULL) {
		fprintf(stderr, "%s\n", wrong);
		abort();
	}
}

static unsigned
next(void)
{
	return in < end ? *in++ : 0;
}

static void *
take(void *arg, size_t n)
{
	size_t *p;

	(void)arg;
	if (scarce != 0 && --scarce % 3 == 0)
		return NULL;
	p = malloc(n + 16);
	p[0] = n;
	blocks++;
	return p + 2;
}

static void
give(void *arg, void *q, size_t n)
{
	size_t *p = (size_t *)q - 2;

	(void)arg;
	must(p[0] == n);
	blocks--;
	free(p);
}

static void
noise(void *arg, void *p, size_t n)
{
	(void)arg;
	memset(p, (int)(noise_at++ % 251 + 1), n);
}

/* What later packets need of one that the engine has sent. */
static void
learn(const unsigned char *p, size_t n)
{
	size_t at = SCTP_HDR, k;
	struct sctp_tlv c, t;

	must(n % 4 == 0 && n > SCTP_HDR);
	while (sctp_chunk_next(p, n, &at, &c) == 1) {
		if (c.type == SCTP_C_INIT || c.type == SCTP_C_INIT_ACK) {
			ltag = sctp_get32(c.p + SCTP_INIT_TAG);
			ltsn = sctp_get32(c.p + SCTP_INIT_TSN);
		}
		if (c.type == SCTP_C_HEARTBEAT && c.len - 4 <= sizeof(hb)) {
			nhb = c.len - 4;
			memcpy(hb, c.p + 4, nhb);
		}
		k = SCTP_INIT_HDR;
		while (c.type == SCTP_C_INIT_ACK &&
			sctp_param_next(c.p, c.len, &k, &t) == 1)
			if (t.type == SCTP_P_COOKIE &&
				t.len - 4 <= sizeof(cookie)) {
				ncookie = t.len - 4;
				memcpy(cookie, t.p + 4, ncookie);
			}
	}
	must(at == n);
}

static void
flush(void)
{
	unsigned char buf[4096];
	struct sctp_packet out = {.p = buf, .size = sizeof(buf)};
	unsigned n = 0;

	while (as != NULL && sctp_output(&env, as, &out) != 0) {
		must(out.n <= 1480 && out.fragment <= 1);
		learn(buf, out.n);
		must(++n < 1000);
	}
	audit();
}

static void
arrive(unsigned char *p, size_t n, unsigned from)
{
	struct sctp_packet pkt = {.p = p, .n = n,
		.src = {4, {10, 0, 0, 2}}, .dst = {4, {10, 0, 0, 1}}};
	unsigned char buf[4096];
	struct sctp_packet reply = {.p = buf, .size = sizeof(buf)};
	struct sctp_assoc *got;
	int fresh;

	pkt.src.b[3] = (unsigned char)(2 + from % 3);
	got = sctp_input(&env, &ep, &pkt, &reply, &fresh);
	if (reply.n != 0)
		learn(buf, reply.n);
	if (fresh) {
		sctp_assoc_free(&env, as);
		as = got;
	}
	flush();
}

struct make {
	unsigned char p[PACKET];
	size_t n;
	size_t auth; /* the AUTH chunk whose code is made; 0 */
};

static void
put(struct make *m, unsigned v, unsigned bytes)
{
	while (bytes-- != 0 && m->n < PACKET)
		m->p[m->n++] = (unsigned char)(v >> 8 * bytes);
}

static void
put_bytes(struct make *m, const void *p, size_t n)
{
	if (n > PACKET - m->n)
		n = PACKET - m->n;
	memcpy(m->p + m->n, p, n);
	m->n += n;
}

/* As many bytes as the input says, of the input. */
static void
put_input(struct make *m)
{
	size_t n = next();

	if (n > (size_t)(end - in))
		n = (size_t)(end - in);
	put_bytes(m, in, n);
	in += n;
}

/* Parameters of AUTH; @v says how good they are. */
static void
put_auth_params(struct make *m, unsigned v)
{
	put(m, 0x80080007, 4), put(m, 0x0fc18000, 4);
	put(m, 0x80020024, 4);
	for (unsigned i = 0; i < 8; i++)
		put(m, 0x07070707u * (v % 8), 4);
	put(m, 0x80030008, 4), put(m, v % 3 == 0 ? 0x0003820a : 0xc1800640, 4);
	put(m, 0x80040006, 4), put(m, (v % 5 == 0 ? 3 : 1) << 16, 4);
}

/* An AUTH chunk; seal() makes its code. */
static void
put_auth(struct make *m)
{
	static const unsigned char zero[32];
	unsigned hmac = as != NULL ? sctp_auth_hmac(as) : 1;

	m->auth = m->n - 4;
	put(m, as != NULL ? as->keys.active + next() % 2 : 0, 2);
	put(m, hmac + (next() % 8 == 0), 2);
	put_bytes(m, zero, hmac == SCTP_HMAC_SHA1 ? 20 : 32);
}

/* Changes of addresses, one of them with the wildcard address now and then. */
static void
put_asconf(struct make *m, int is_ack)
{
	unsigned n = next() % 4, i, v;

	if (as == NULL)
		return;
	put(m, (is_ack ? as->asconf_serial : as->peer_asconf) +
		(next() % 4 == 0) - (next() % 4 == 0), 4);
	if (!is_ack)
		put(m, 0x00050008, 4), put(m, 0x0a000002, 4);
	for (i = 0; i < n; i++) {
		v = next();
		put(m, is_ack ? 0xc003 + v / 64 : 0xc001 + v / 64, 2);
		put(m, 16, 2), put(m, i, 4);
		put(m, is_ack ? 0x00a00008 : 0x00050008, 4);
		put(m, v % 16 == 0 ? 0 : 0x0a000002 + v % 16, 4);
	}
}

/* Both sides have the same keys, so the engine can make the peer's code. */
static void
seal(struct make *m)
{
	struct sctp_out o = {.p = m->p, .n = m->n, .as = as,
		.auth_at = m->auth};

	if (m->auth != 0 && as != NULL && sctp_auth_hmac(as) != 0 &&
		m->auth + sctp_auth_size(&o) <= m->n && next() % 8 != 0)
		sctp_auth_seal(&o);
}

static void
put_init(struct make *m)
{
	unsigned v;

	rtag = 0x01010101u * (1 + next() % 4);
	rtsn = 0xfffffff0u;
	put(m, rtag, 4);
	put(m, 1500 + next() * 256, 4);
	put(m, 1 + next() % 16, 2);
	put(m, 1 + next() % 16, 2);
	put(m, rtsn, 4);
	if (next() % 2 != 0)
		put(m, 0xc0000004, 4);
	v = next();
	if (v % 2 != 0)
		put(m, 0x80080007, 4), put(m, 0x8240c200, 4);
	if (v / 2 % 2 != 0)
		put_auth_params(m, v / 4);
	if (next() % 4 == 0) {
		put(m, 0x00050008, 4);
		put(m, 0x0a000002 + next() % 8, 4);
	}
}

/* A parameter of RE-CONFIG, with numbers that are near the right ones. */
static void
put_reconf(struct make *m)
{
	unsigned type = 13 + next() % 6, n = next() % 3, i;
	static const unsigned char len[6] = {16, 8, 8, 12, 12, 12};
	uint32_t seq = as != NULL ? as->peer_reconf : rtsn;

	if (type == SCTP_P_RECONF_ANSWER && as != NULL)
		seq = as->reconf_seq;
	put(m, type, 2);
	put(m, len[type - 13] + (type < 15 ? 2 * n : 0), 2);
	put(m, seq - next() % 3, 4);
	if (type == SCTP_P_RESET_OUT) {
		put(m, as != NULL ? as->reconf_seq - next() % 3 : 0, 4);
		put(m, rtsn - next() % 3, 4);
	} else if (type == SCTP_P_RECONF_ANSWER) {
		put(m, next() % 8, 4);
	} else if (type >= SCTP_P_ADD_OUT) {
		put(m, next() % 4, 2);
		put(m, 0, 2);
	}
	for (i = 0; type < 15 && i < n; i++)
		put(m, next() % 4, 2);
	while (m->n % 4 != 0)
		put(m, 0, 1);
}

static void
put_chunk(struct make *m)
{
	static const unsigned char types[] = {0, 0, 0, 1, 2, 3, 3, 4, 5, 6, 7,
		8, 9, 10, 11, 14, 0xc0, 0x82,
		0x40, 0x40, 0xc2};
	unsigned type = next(), i, n;
	size_t at = m->n;

	type = type < 224 ? types[type % sizeof(types)] :
		type < 232 ? SCTP_C_AUTH : type < 237 ? SCTP_C_ASCONF :
		type < 240 ? SCTP_C_ASCONF_ACK : next();
	put(m, type, 1);
	put(m, type == 0 || type == 0x40 ? next() % 16 : next() % 4 == 0, 1);
	put(m, 0, 2);
	switch (type) {
	case SCTP_C_DATA:
		put(m, rtsn + next() % 64, 4);
		put(m, next() % 4, 2);
		put(m, next() % 8, 2);
		put(m, 0, 4);
		n = next();
		for (i = 0; i < n; i++)
			put(m, i, 1 + n % 4);
		break;
	case SCTP_C_INIT:
	case SCTP_C_INIT_ACK:
		put_init(m);
		if (type == SCTP_C_INIT_ACK && next() % 8 != 0)
			put(m, 0x00070008, 4), put(m, 42, 4);
		break;
	case SCTP_C_SACK:
		put(m, ltsn - 1 + next() % 32, 4);
		put(m, next() * 256, 4);
		n = next() % 4;
		put(m, n, 2);
		put(m, 0, 2);
		for (i = 0; i < n; i++) {
			put(m, next() % 32, 2);
			put(m, next() % 32, 2);
		}
		break;
	case SCTP_C_HEARTBEAT_ACK:
		put_bytes(m, hb, nhb);
		break;
	case SCTP_C_SHUTDOWN: put(m, ltsn - 1 + next() % 16, 4); break;
	case SCTP_C_COOKIE_ECHO: put_bytes(m, cookie, ncookie); break;
	case SCTP_C_I_DATA:
		put(m, rtsn + next() % 64, 4);
		put(m, next() % 4, 2);
		put(m, 0, 2);
		put(m, next() % 8, 4);
		put(m, next() % 8, 4);
		n = next();
		for (i = 0; i < n; i++)
			put(m, i, 1 + n % 4);
		break;
	case SCTP_C_I_FORWARD_TSN:
		put(m, rtsn + next() % 64, 4);
		put(m, next() % 4, 2);
		put(m, next() % 2, 2);
		put(m, next() % 8, 4);
		break;
	case SCTP_C_AUTH: put_auth(m); break;
	case SCTP_C_ASCONF:
	case SCTP_C_ASCONF_ACK:
		put_asconf(m, type == SCTP_C_ASCONF_ACK);
		break;
	case SCTP_C_RECONF:
		put_reconf(m);
		if (next() % 2 != 0)
			put_reconf(m);
		break;
	case SCTP_C_FORWARD_TSN:
		put(m, rtsn + next() % 64, 4);
		put(m, next() % 4, 2);
		put(m, next() % 8, 2);
		break;
	default:
		break;
	}
	if (next() % 8 == 0)
		put_input(m);
	n = (unsigned)(m->n - at);
	if (at + 4 <= m->n)
		sctp_put16(m->p + at + 2, next() % 32 == 0 ? next() : n);
	while (m->n % 4 != 0)
		put(m, 0, 1);
}

static void
packet(void)
{
	static struct make m;
	unsigned how = next(), chunks = 1 + how % 3, from = how / 64;
	uint32_t sum;
	size_t at = SCTP_HDR;

	m.n = m.auth = 0;
	put(&m, 6000, 2);
	put(&m, 5000, 2);
	put(&m, ltag + ((how & 0x3c) == 4), 4);
	put(&m, 0, 4);
	while (chunks-- != 0)
		put_chunk(&m);
	if (m.n > at && m.p[at] == SCTP_C_INIT && (how & 0x3c) != 8)
		sctp_put32(m.p + SCTP_AT_VTAG, 0);
	if ((how & 0x3c) == 12 && m.n > at)
		m.n -= next() % (m.n - at);
	seal(&m);
	sum = crc32c_packet(m.p, m.n, 0);
	for (unsigned i = 0; i < 4; i++)
		m.p[SCTP_AT_SUM + i] = (unsigned char)(sum >> 8 * i);
	arrive(m.p, m.n, from);
	/* the next TSNs are relative to what has been received */
	if (as != NULL)
		rtsn = as->cum + 1 - (how >> 7);
	if (as != NULL)
		ltsn = as->acked + 1;
}

static void
icmp(void)
{
	static const int errors[] = {EMSGSIZE, EMSGSIZE, ENOPROTOOPT,
		EHOSTUNREACH};
	unsigned char p[32] = {0};
	struct ip_addr dst = {4, {10, 0, 0, 2}};

	sctp_put16(p, 5000);
	sctp_put16(p + 2, 6000);
	sctp_put32(p + 4, as != NULL ? as->peer_tag : 0);
	dst.b[3] = (unsigned char)(2 + next() % 2);
	(void)sctp_icmp(&env, &ep, &dst, p, next() % 33, errors[next() % 4],
		next() * 8);
	flush();
}

static void
user(void)
{
	static unsigned char buf[20000];
	struct sctp_info info = {0};
	struct ip_addr a;
	static const struct ip_addr to[2] = {{4, {10, 0, 0, 2}},
		{4, {10, 0, 0, 3}}};
	static const uint16_t sids[] = {0, 1};
	unsigned what = next();

	if (as == NULL) {
		if (sctp_connect(&env, &ep, to, 1 + what % 2, 6000, &as) != 0)
			as = NULL;
		flush();
		return;
	}
	switch (what % 9) {
	case 8:
		if (what >= 0xc0)
			(void)sctp_reset_tsn(&env, as);
		else if (what >= 0x80)
			(void)sctp_add_streams(&env, as, what % 3, what % 2);
		else
			(void)sctp_reset_streams(&env, as, what / 9 % 4 * 2,
				sids, what % 3);
		break;
	case 0:
	case 1:
	case 2:
		info.sid = (uint16_t)(next() % 16);
		info.flags = next() & (SCTP_SEND_UNORDERED | SCTP_SEND_MORE |
			SCTP_SEND_NOW | SCTP_SEND_TTL);
		if (info.flags & SCTP_SEND_TTL)
			info.life = next() * 10 * SCTP_MS;
		else if (next() % 4 == 0)
			info.flags |= SCTP_SEND_RTX;
		(void)sctp_send(&env, as, &info, buf,
			1 + next() * next() % sizeof(buf));
		if (info.flags % 2 == 0)
			(void)sctp_set_stream_value(as, info.sid,
				(uint16_t)next());
		break;
	case 3:
	case 4:
		while (sctp_readable(as) != 0) {
			(void)sctp_recv(&env, as, &info, buf, 1 + next());
			audit();
			if (what / 8 % 4 == 0)
				break;
		}
		(void)sctp_addr_change(as, &a);
		break;
	case 5:
		if (what >= 0x80)
			(void)sctp_shutdown(&env, as);
		else if (what >= 0x60)
			(void)sctp_key_set(&env, sctp_keys(as),
				(uint16_t)(what / 9 % 3), buf, what);
		else if (what >= 0x40)
			(void)sctp_key_delete(&env, sctp_keys(as),
				(uint16_t)(what / 9 % 3));
		else
			(void)sctp_key_use(sctp_keys(as),
				(uint16_t)(what / 9 % 3));
		break;
	case 6:
		if (what >= 0xc0)
			sctp_abort(&env, as, "x", 1);
		else if (what >= 0x80)
			(void)sctp_addr_add(&env, as, to, 1 + what % 2);
		else if (what >= 0x40)
			(void)sctp_addr_delete(&env, as, to, 1 + what % 2);
		else
			(void)sctp_addr_primary(&env, as, to);
		break;
	default:
		if (sctp_down_reason(as) != SCTP_DOWN_NOT || what >= 0xf0) {
			sctp_assoc_free(&env, as);
			as = NULL;
		}
		break;
	}
	flush();
}

static void
pass(void)
{
	uint64_t at = env.now + (uint64_t)next() * next() * 2 * SCTP_MS, t;
	unsigned n = 0;

	while (as != NULL && (t = sctp_deadline(as)) != 0 && t <= at) {
		if (t > env.now)
			env.now = t;
		sctp_timeout(&env, as);
		flush();
		must(++n < 100000);
	}
	env.now = at;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned v;

	in = data;
	end = data + (size < 4096 ? size : 4096);
	env.now = SCTP_S;
	env.alloc = take;
	env.release = give;
	env.random = noise;
	noise_at = scarce = 0;
	rtsn = 0xfffffff0u;
	ltag = ltsn = 0;
	ncookie = nhb = 0;
	sctp_ep_init(&env, &ep, 5000);
	ep.listening = 1;
	ep.conf.rcvbuf = 8000;
	ep.conf.sndbuf = 20000;
	ep.conf.hb_interval = next() % 2 * SCTP_S;
	ep.conf.istreams = 16;
	v = next();
	ep.conf.interleave = (uint8_t)(v % 2);
	ep.conf.auth = (uint8_t)(v / 2 % 2);
	ep.conf.asconf = (uint8_t)(v / 2 % 2 & v / 8 % 2);
	for (unsigned i = 0; i < 256; i++)
		if (v % 5 == 0 && (i % 16 == 3 || i == v / 32))
			(void)sctp_auth_require(&ep.conf, i);
	if (v / 4 % 2 != 0)
		must(sctp_key_set(&env, &ep.keys, 1, "key", 3) == 0 &&
			sctp_key_use(&ep.keys, 1) == 0);
	ep.conf.scheduler = (uint8_t)(next() % 6);
	while (in < end) {
		switch (next() % 8) {
		case 0:
			pass();
			break;
		case 1:
		case 2:
			user();
			break;
		case 3:
			if (next() % 4 == 0)
				icmp();
			else
				scarce = next() % 16;
			break;
		default:
			packet();
			break;
		}
	}
	scarce = 0;
	sctp_assoc_free(&env, as);
	as = NULL;
	sctp_ep_fini(&env, &ep);
	must(blocks == 0);
	return 0;
}
