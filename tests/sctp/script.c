/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Runs packet scripts against the engine, in virtual time.
 *
 *	script FILE ...
 *
 * One line is one step; README.md describes the language.  A script ends with
 * no packet left that it does not expect, and with no memory left.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "association.h"
#include "script.h"

struct script sc;

void
fail(const char *fmt, ...)
{
	va_list ap;

	printf("# %s:%d: ", sc.file, sc.line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	exit(1);
}

/* ------------------------------------------------- what the engine is lent */

static void *
take(void *arg, size_t n)
{
	(void)arg;
	if (sc.no_memory)
		return NULL;
	sc.blocks++;
	return calloc(1, n != 0 ? n : 1);
}

static void
give(void *arg, void *p, size_t n)
{
	(void)arg;
	(void)n;
	sc.blocks--;
	free(p);
}

/* Random numbers that are easy to read: 0x80808080 and so on. */
static void
noise(void *arg, void *p, size_t n)
{
	(void)arg;
	memset(p, 0x80 + sc.noise++ % 64, n);
}

/* --------------------------------------------------------------- variables */

uint64_t *
variable(const char *name, int make)
{
	int i;

	for (i = 0; i < sc.nvars; i++)
		if (strcmp(sc.var[i].name, name) == 0)
			return &sc.var[i].value;
	if (!make)
		return NULL;
	if (sc.nvars == VARS || strlen(name) >= sizeof(sc.var[0].name))
		fail("too many variables");
	snprintf(sc.var[sc.nvars].name, sizeof(sc.var[0].name), "%s", name);
	return &sc.var[sc.nvars++].value;
}

/* A number, a variable, or a sum of these: $tsn+3, 0x10 */
uint64_t
number(const char *s)
{
	uint64_t v = 0, part, *var;
	char name[32];
	int sign = 1, n;
	char *end;

	for (;;) {
		if (*s == '$') {
			n = (int)strcspn(s + 1, "+-");
			if (n == 0 || n > 31)
				fail("bad variable in %s", s);
			memcpy(name, s + 1, (size_t)n);
			name[n] = '\0';
			var = variable(name, 0);
			if (var == NULL)
				fail("$%s has no value", name);
			part = *var;
			s += n + 1;
		} else {
			part = strtoull(s, &end, 0);
			if (end == s)
				fail("%s is no number", s);
			s = end;
		}
		v += sign > 0 ? part : -part;
		if (*s == '\0')
			return v;
		if (*s != '+' && *s != '-')
			fail("%s is no number", s);
		sign = *s++ == '+' ? 1 : -1;
	}
}

/* Seconds, as 1.25. */
uint64_t
seconds(const char *s)
{
	char *end;
	double d = strtod(s, &end);

	if (end == s || d < 0)
		fail("%s is no time", s);
	return (uint64_t)(d * 1e6 + 0.5);
}

/* 10.0.0.1, or two numbers with a colon between them for 2001:db8::a:b */
void
address(const char *s, struct ip_addr *ret)
{
	unsigned v[4];

	memset(ret, 0, sizeof(*ret));
	if (sscanf(s, "%u.%u.%u.%u", &v[0], &v[1], &v[2], &v[3]) == 4) {
		ret->len = 4;
		for (int i = 0; i < 4; i++)
			ret->b[i] = (unsigned char)v[i];
	} else if (sscanf(s, "%x:%x", &v[0], &v[1]) == 2) {
		ret->len = 16;
		memcpy(ret->b, "\x20\x01\x0d\xb8", 4);
		ret->b[13] = (unsigned char)v[0];
		ret->b[15] = (unsigned char)v[1];
	} else {
		fail("%s is no address", s);
	}
}

/* ----------------------------------------------------------------- running */

static void
keep_packet(const struct sctp_packet *pkt)
{
	struct sent *s;

	if (sc.nsent == SENT)
		fail("too many packets were sent");
	s = &sc.sent[sc.nsent++];
	s->at = sc.env.now - START;
	s->n = pkt->n;
	s->dst = pkt->dst;
	if (pkt->n > sizeof(s->p))
		fail("a packet of %zu bytes", pkt->n);
	memcpy(s->p, pkt->p, pkt->n);
}

void
flush(void)
{
	unsigned char buf[PACKET];
	struct sctp_packet out = {.p = buf, .size = sizeof(buf)};

	while (sc.as != NULL && sctp_output(&sc.env, sc.as, &out) != 0)
		keep_packet(&out);
	if (sc.as == NULL)
		return;
	if (sctp_audit(sc.as) != NULL)
		fail("audit: %s", sctp_audit(sc.as));
	sc.events |= sctp_events(sc.as);
}

void
arrive(unsigned char *p, size_t n, const struct ip_addr *src)
{
	unsigned char buf[PACKET];
	struct sctp_packet in = {.p = p, .n = n, .src = *src,
		.dst = sc.local};
	struct sctp_packet reply = {.p = buf, .size = sizeof(buf)};
	struct sctp_assoc *as;
	int fresh;

	as = sctp_input(&sc.env, &sc.ep, &in, &reply, &fresh);
	if (reply.n != 0)
		keep_packet(&reply);
	if (fresh) {
		if (sc.as != NULL)
			sctp_assoc_free(&sc.env, sc.as);
		sc.as = as;
	}
	flush();
}

/* Let time pass; timers expire when they are due. */
static void
until(uint64_t at)
{
	uint64_t t;

	if (at < sc.env.now)
		fail("time does not go back");
	while (sc.as != NULL && (t = sctp_deadline(sc.as)) != 0 && t <= at) {
		if (t > sc.env.now)
			sc.env.now = t;
		sctp_timeout(&sc.env, sc.as);
		flush();
	}
	sc.env.now = at;
}

/* ------------------------------------------------------------------ steps */

static void
step(char **w, int n)
{
	if (strncmp(w[0], "t=", 2) == 0) {
		until(START + seconds(w[0] + 2));
		w++;
		n--;
	} else if (strncmp(w[0], "t+", 2) == 0) {
		until(sc.env.now + seconds(w[0] + 2));
		w++;
		n--;
	}
	if (n == 0)
		return;
	if (strcmp(w[0], "conf") == 0 && n == 2) {
		conf(w[1]);
	} else if (strcmp(w[0], "listen") == 0) {
		sc.ep.listening = 1;
	} else if (strcmp(w[0], "deaf") == 0) {
		sc.ep.listening = 0;
	} else if (strcmp(w[0], "unbound") == 0) {
		memset(sc.ep.key, 0, sizeof(sc.ep.key));
	} else if (strcmp(w[0], "local") == 0 && n == 2) {
		address(w[1], &sc.ep.local[sc.ep.nlocal++]);
	} else if (strcmp(w[0], "key") == 0 && n >= 2) {
		sign_key((unsigned)number(w[1]), n > 2 ? w[2] : "");
	} else if (strcmp(w[0], "require") == 0 && n == 2) {
		if (sctp_auth_require(&sc.ep.conf,
			(unsigned)number(w[1])) != 0)
			fail("require: no");
	} else if (strcmp(w[0], "endpoint") == 0 && n > 2) {
		user_key(&sc.ep.keys, w + 1, n - 1);
	} else if (strcmp(w[0], "most") == 0 && n == 2) {
		sc.ep.most = (uint32_t)number(w[1]);
	} else if (strcmp(w[0], "no-memory") == 0) {
		sc.no_memory = 1;
	} else if (strcmp(w[0], "memory") == 0) {
		sc.no_memory = 0;
	} else if (strcmp(w[0], "set") == 0 && n == 3) {
		*variable(w[1], 1) = number(w[2]);
	} else if (strcmp(w[0], "user") == 0) {
		user(w + 1, n - 1);
	} else if (strcmp(w[0], "expect") == 0) {
		expect(w + 1, n - 1);
	} else if (strcmp(w[0], "<") == 0) {
		inject(w + 1, n - 1);
	} else if (strcmp(w[0], "icmp") == 0) {
		icmp(w + 1, n - 1);
	} else if (strcmp(w[0], ">") == 0) {
		match(w + 1, n - 1);
	} else if (strcmp(w[0], "include") == 0 && n == 2) {
		include(w[1]);
	} else {
		fail("what is %s", w[0]);
	}
}

static void
run_file(const char *path)
{
	char line[4096], *w[WORDS], *p;
	const char *was = sc.file;
	int at = sc.line, n;
	FILE *f = fopen(path, "r");

	if (f == NULL)
		fail("cannot open %s", path);
	sc.file = path;
	sc.line = 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		sc.line++;
		p = strchr(line, '#');
		if (p != NULL)
			*p = '\0';
		n = 0;
		for (p = strtok(line, " \t\r\n"); p != NULL && n < WORDS;
			p = strtok(NULL, " \t\r\n"))
			w[n++] = p;
		if (n != 0)
			step(w, n);
	}
	fclose(f);
	if (was != NULL)
		sc.line = at;
	sc.file = was != NULL ? was : path;
}

/* A file beside the script. */
void
include(const char *name)
{
	char path[1024];
	const char *slash = strrchr(sc.file, '/');
	char copy[64];

	snprintf(copy, sizeof(copy), "%s", name);
	snprintf(path, sizeof(path), "%.*s%s",
		slash != NULL ? (int)(slash - sc.file + 1) : 0, sc.file, copy);
	run_file(path);
}

int
main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: script FILE\n");
		return 2;
	}
	sc.env.now = START;
	sc.env.alloc = take;
	sc.env.release = give;
	sc.env.random = noise;
	address("10.0.0.1", &sc.local);
	address("10.0.0.2", &sc.peer);
	sctp_ep_init(&sc.env, &sc.ep, LPORT);
	sc.ep.conf.hb_interval = 0;
	run_file(argv[1]);
	if (sc.nsent != sc.taken)
		unexpected();
	sctp_assoc_free(&sc.env, sc.as);
	sctp_ep_fini(&sc.env, &sc.ep);
	if (sc.blocks != 0)
		fail("memory is left: %ld blocks", sc.blocks);
	return 0;
}
