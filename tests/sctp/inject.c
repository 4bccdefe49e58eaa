/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Packets that arrive: made from the text of a script.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crc32c.h"
#include "script.h"

struct make {
	unsigned char p[PACKET];
	size_t n;
	size_t chunk; /* the current one begins there */
	const struct kind *kind;
	size_t unpadded; /* end of the last parameter of an extension */
	long length;  /* -1: as it is */
	size_t auth;  /* the AUTH chunk whose code is made at the end; 0 */
	int wrong;    /* ... its code is wrong */
};

static void
add(struct make *m, const void *p, size_t n)
{
	if (m->n + n + 4 > sizeof(m->p))
		fail("the packet is too long");
	if (p != NULL)
		memcpy(m->p + m->n, p, n);
	else
		memset(m->p + m->n, 0, n);
	m->n += n;
}

static void
add_tlv(struct make *m, unsigned type, const void *p, size_t n)
{
	unsigned char h[4];

	sctp_put16(h, type);
	sctp_put16(h + 2, (uint32_t)(4 + n));
	add(m, h, 4);
	add(m, p, n);
	while (m->n % 4 != 0)
		add(m, NULL, 1);
}

static void
end_chunk(struct make *m)
{
	if (m->kind == NULL)
		return;
	if (m->unpadded != 0 && sctp_padded(m->unpadded) == m->n)
		sctp_put16(m->p + m->chunk + 2,
			(uint32_t)(m->unpadded - m->chunk));
	else if (m->length >= 0)
		sctp_put16(m->p + m->chunk + 2, (uint32_t)m->length);
	else
		sctp_put16(m->p + m->chunk + 2,
			(uint32_t)(m->n - m->chunk));
	while (m->n % 4 != 0)
		add(m, NULL, 1);
	m->kind = NULL;
}

static void
begin_chunk(struct make *m, const struct kind *k)
{
	m->kind = k;
	m->chunk = m->n;
	m->length = -1;
	m->unpadded = 0;
	add(m, NULL, k->hdr);
	m->p[m->chunk] = k->type;
	if (k->type == SCTP_C_DATA || k->type == SCTP_C_I_DATA)
		m->p[m->chunk + 1] = SCTP_DATA_B | SCTP_DATA_E;
	if (k->type == SCTP_C_INIT || k->type == SCTP_C_INIT_ACK) {
		sctp_put32(m->p + m->chunk + SCTP_INIT_TAG, 0x11111111);
		sctp_put32(m->p + m->chunk + SCTP_INIT_RWND, 100000);
		sctp_put16(m->p + m->chunk + SCTP_INIT_OS, 10);
		sctp_put16(m->p + m->chunk + SCTP_INIT_MIS, 10);
		sctp_put32(m->p + m->chunk + SCTP_INIT_TSN, 1000);
	}
	if (k->type == SCTP_C_AUTH)
		sctp_put16(m->p + m->chunk + SCTP_AUTH_HMAC,
			SCTP_HMAC_SHA256);
	if (k->type == SCTP_C_SACK)
		sctp_put32(m->p + m->chunk + SCTP_SACK_RWND, 100000);
}

/* gaps=2-3,5-5 and dups=1000,1001 */
static void
add_list(struct make *m, const char *name, char *list)
{
	unsigned char b[4];
	size_t at = m->chunk + (*name == 'g' ? SCTP_SACK_NGAPS :
		SCTP_SACK_NDUPS);
	char *item, *save = NULL;
	unsigned from, to;

	for (item = strtok_r(list, ",", &save); item != NULL;
		item = strtok_r(NULL, ",", &save)) {
		if (*name == 'd') {
			sctp_put32(b, (uint32_t)number(item));
		} else if (sscanf(item, "%u-%u", &from, &to) == 2) {
			sctp_put16(b, from);
			sctp_put16(b + 2, to);
		} else {
			fail("gaps: FROM-TO,...");
		}
		add(m, b, 4);
		sctp_put16(m->p + at, sctp_get16(m->p + at) + 1u);
	}
}

/* streams=1:7,2:0 of FORWARD-TSN */
static void
add_streams(struct make *m, char *list)
{
	char *item, *save = NULL;
	unsigned sid, ssn;
	unsigned char b[8];

	for (item = strtok_r(list, ",", &save); item != NULL;
		item = strtok_r(NULL, ",", &save)) {
		if (sscanf(item, "%u:%u", &sid, &ssn) != 2)
			fail("streams: SID:SSN,...");
		sctp_put16(b, sid);
		if (m->kind->type == SCTP_C_I_FORWARD_TSN) {
			sctp_put16(b + 2, strchr(item, 'U') != NULL);
			sctp_put32(b + 4, ssn);
			add(m, b, 8);
			continue;
		}
		sctp_put16(b + 2, ssn);
		add(m, b, 4);
	}
}

static void
add_param(struct make *m, char *val)
{
	char *len = strchr(val, ':');

	if (len != NULL)
		*len++ = '\0';
	add_tlv(m, (unsigned)number(val), NULL,
		len != NULL ? (size_t)number(len) : 0);
}

/* RANDOM, of @n bytes */
static void
add_random(struct make *m, size_t n)
{
	unsigned char b[256];

	memset(b, 0x42, sizeof(b));
	add_tlv(m, SCTP_P_RANDOM, b, n < sizeof(b) ? n : sizeof(b));
}

static void
make_value(struct make *m, const char *name, char *val)
{
	unsigned char b[16], param[1024];
	struct ip_addr a;
	size_t n = extend_make(name, val, param);

	if (n != 0) {
		add(m, param, n);
		while (m->n % 4 != 0)
			add(m, NULL, 1);
		m->unpadded = m->n - sctp_padded(n) + n;
	} else if (strcmp(name, "flags") == 0) {
		m->p[m->chunk + 1] = (unsigned char)flags_of(val);
	} else if (strcmp(name, "type") == 0) {
		m->p[m->chunk] = (unsigned char)number(val);
	} else if (strcmp(name, "length") == 0) {
		m->length = (long)number(val);
	} else if (strcmp(name, "len") == 0) {
		n = m->n;
		add(m, NULL, (size_t)number(val));
		memset(m->p + n, 'a', m->n - n);
	} else if (strcmp(name, "byte") == 0) {
		memset(m->p + m->chunk + m->kind->hdr, *val,
			m->n - m->chunk - m->kind->hdr);
	} else if (strcmp(name, "addr") == 0) {
		address(val, &a);
		add_tlv(m, a.len == 4 ? 5 : 6, a.b, a.len);
	} else if (strcmp(name, "param") == 0) {
		add_param(m, val);
	} else if (strcmp(name, "random") == 0) {
		add_random(m, (size_t)number(val));
	} else if (strcmp(name, "preservative") == 0) {
		sctp_put32(b, (uint32_t)number(val));
		add_tlv(m, SCTP_P_PRESERVATIVE, b, 4);
	} else if (strcmp(name, "families") == 0) {
		sctp_put16(b, (uint32_t)number(val));
		add_tlv(m, SCTP_P_FAMILIES, b, 2);
	} else if (strcmp(name, "stale") == 0) {
		sctp_put32(b, (uint32_t)number(val));
		add_tlv(m, SCTP_E_STALE, b, 4);
	} else if (strcmp(name, "cause") == 0) {
		add_param(m, val);
	} else if (strcmp(name, "gaps") == 0 || strcmp(name, "dups") == 0) {
		add_list(m, name, val);
	} else if (strcmp(name, "streams") == 0) {
		add_streams(m, val);
	} else {
		fail("%s has no %s", m->kind->name, name);
	}
}

static void
add_code(struct make *m, int wrong)
{
	m->auth = m->chunk;
	m->wrong = wrong;
	add(m, NULL, sign_len(m->p + m->chunk));
}

static void
make_word(struct make *m, const char *word)
{
	static const unsigned char cookie[500] = "biscuit";

	if (strcmp(word, "cookie") == 0 && m->kind->type == SCTP_C_INIT_ACK)
		add_tlv(m, SCTP_P_COOKIE, cookie, 8);
	else if (strcmp(word, "cookie-long") == 0)
		add_tlv(m, SCTP_P_COOKIE, cookie, sizeof(cookie));
	else if (strcmp(word, "forward") == 0)
		add_tlv(m, SCTP_P_FORWARD_TSN, NULL, 0);
	else if (strcmp(word, "host-name") == 0)
		add_tlv(m, SCTP_P_HOST_NAME, "example.org", 12);
	else if (strcmp(word, "random") == 0)
		add_random(m, SCTP_RANDOM_LEN);
	else if (strcmp(word, "code") == 0 || strcmp(word, "wrong") == 0)
		add_code(m, *word == 'w');
	else if (strcmp(word, "cookie") == 0)
		add(m, sc.cookie, sc.ncookie);
	else if (strcmp(word, "bad") == 0)
		m->p[m->n - 1] ^= 1;
	else if (strcmp(word, "echo") == 0)
		add(m, sc.hb, sc.nhb);
	else
		fail("%s: what is %s", m->kind->name, word);
}

/* The script's tag and TSN, for later lines. */
static void
learn_made(const struct make *m)
{
	const unsigned char *c = m->p + SCTP_HDR;

	if (c[0] != SCTP_C_INIT && c[0] != SCTP_C_INIT_ACK)
		return;
	sign_learn(c, 0);
	*variable("rtag", 1) = sctp_get32(c + SCTP_INIT_TAG);
	*variable("rtsn", 1) = sctp_get32(c + SCTP_INIT_TSN);
}

static void
make_field(struct make *m, const char *name, char *val)
{
	const struct field *f = field_named(m->kind, name);

	if (f == NULL)
		make_value(m, name, val);
	else if (f->size == 4)
		sctp_put32(m->p + m->chunk + f->at, (uint32_t)number(val));
	else
		sctp_put16(m->p + m->chunk + f->at, (uint32_t)number(val));
}

/* < [vtag=] [from=] [sport=] [dport=] [bad-checksum] [cut=N] CHUNK ... ; CHUNK */
void
inject(char **w, int n)
{
	static struct make m;
	struct ip_addr src = sc.peer;
	uint64_t *ltag = variable("ltag", 0);
	uint32_t vtag = ltag != NULL ? (uint32_t)*ltag : 0, sum;
	unsigned sport = PORT, dport = LPORT, wrong = 0, quiet = 0;
	const struct kind *k;
	size_t cut = 0;
	char *val;
	int i;

	memset(&m, 0, sizeof(m));
	m.n = SCTP_HDR;
	for (i = 0; i < n && kind_named(w[i]) == NULL; i++)
		;
	if (i < n && strcmp(w[i], "INIT") == 0)
		vtag = 0;
	for (i = 0; i < n; i++) {
		k = kind_named(w[i]);
		if (k != NULL) {
			end_chunk(&m);
			begin_chunk(&m, k);
			continue;
		}
		if (strcmp(w[i], ";") == 0) {
			end_chunk(&m);
			continue;
		}
		val = strchr(w[i], '=');
		if (val != NULL)
			*val++ = '\0';
		if (m.kind != NULL && val != NULL)
			make_field(&m, w[i], val);
		else if (m.kind != NULL)
			make_word(&m, w[i]);
		else if (strcmp(w[i], "vtag") == 0 && val != NULL)
			vtag = (uint32_t)number(val);
		else if (strcmp(w[i], "from") == 0 && val != NULL)
			address(val, &src);
		else if (strcmp(w[i], "sport") == 0 && val != NULL)
			sport = (unsigned)number(val);
		else if (strcmp(w[i], "dport") == 0 && val != NULL)
			dport = (unsigned)number(val);
		else if (strcmp(w[i], "cut") == 0 && val != NULL)
			cut = (size_t)number(val);
		else if (strcmp(w[i], "bad-checksum") == 0)
			wrong = 1;
		else if (strcmp(w[i], "stranger") == 0)
			quiet = 1; /* its tag is not the peer's */
		else
			fail("what is %s", w[i]);
	}
	end_chunk(&m);
	m.n -= cut;
	sctp_put16(m.p + SCTP_AT_SPORT, sport);
	sctp_put16(m.p + SCTP_AT_DPORT, dport);
	sctp_put32(m.p + SCTP_AT_VTAG, vtag);
	if (!quiet && m.n > SCTP_HDR)
		learn_made(&m);
	if (m.auth != 0)
		sign(m.p, m.n, m.auth, m.wrong);
	if (m.n >= SCTP_HDR) {
		sum = crc32c_packet(m.p, m.n, 0) ^ wrong;
		for (i = 0; i < 4; i++)
			m.p[SCTP_AT_SUM + i] = (unsigned char)(sum >> 8 * i);
	}
	arrive(m.p, m.n, &src);
}

/* icmp [refused] [mtu=N] [vtag=V] [init] [to=ADDRESS] */
void
icmp(char **w, int n)
{
	uint64_t *rtag = variable("rtag", 0);
	struct ip_addr to = sc.peer;
	unsigned char p[SCTP_HDR + SCTP_INIT_HDR] = {0};
	size_t size = 8;
	uint32_t mtu = 0;
	int i, error = EHOSTUNREACH;

	sctp_put16(p + SCTP_AT_SPORT, LPORT);
	sctp_put16(p + SCTP_AT_DPORT, PORT);
	sctp_put32(p + SCTP_AT_VTAG, rtag != NULL ? (uint32_t)*rtag : 0);
	for (i = 0; i < n; i++) {
		if (strcmp(w[i], "refused") == 0) {
			error = ENOPROTOOPT;
		} else if (strncmp(w[i], "mtu=", 4) == 0) {
			error = EMSGSIZE;
			mtu = (uint32_t)number(w[i] + 4);
		} else if (strncmp(w[i], "vtag=", 5) == 0) {
			sctp_put32(p + SCTP_AT_VTAG,
				(uint32_t)number(w[i] + 5));
		} else if (strncmp(w[i], "to=", 3) == 0) {
			address(w[i] + 3, &to);
		} else if (strcmp(w[i], "init") == 0) {
			sctp_put32(p + SCTP_AT_VTAG, 0);
			p[SCTP_HDR] = SCTP_C_INIT;
			sctp_put32(p + SCTP_HDR + SCTP_INIT_TAG,
				(uint32_t)number("$ltag"));
			size = sizeof(p);
		} else {
			fail("icmp: what is %s", w[i]);
		}
	}
	(void)sctp_icmp(&sc.env, &sc.ep, &to, p, size, error, mtu);
	flush();
}
