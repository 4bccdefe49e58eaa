/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The runner of packet scripts: script.c the steps, user.c those of the
 * user, inject.c and match.c the packets, extend.c parameters of extensions,
 * sign.c the codes of AUTH chunks.
 */
#ifndef TESTS_SCTP_SCRIPT_H
#define TESTS_SCTP_SCRIPT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <str/annot.h>

#include "engine.h"
#include "wire_format.h"

#define START (1000ull * SCTP_S) /* t=0 */
#define LPORT 5000		 /* the engine's port */
#define PORT 6000		 /* the script's port */
#define PACKET 70000
#define SENT 256
#define VARS 64
#define WORDS 128

struct sent {
	uint64_t at;
	size_t n;
	struct ip_addr dst;
	unsigned char p[9216];
};

struct script {
	const char *file;
	int line;
	struct sctp_env env;
	struct sctp_ep ep;
	struct sctp_assoc *as;
	struct ip_addr local, peer;
	uint32_t events;
	/* changes of streams: of our last request, the peer's, the last list */
	uint32_t result, asked, peer_did, nsids, sid;
	int noise, no_memory;
	long blocks;
	struct {
		char name[32];
		uint64_t value;
	} var[VARS];
	int nvars;
	struct sent sent[SENT];
	int nsent, taken;
	unsigned char cookie[2048]; /* of the last INIT ACK or COOKIE ECHO */
	size_t ncookie;
	unsigned char hb[2048];	    /* value of the last HEARTBEAT */
	size_t nhb;
};

extern struct script sc;

void fail(const char *fmt, ...) STR_NORETURN STR_PRINTF(1, 2);
uint64_t *variable(const char *name, int make);
uint64_t number(const char *s);
void address(const char *s, struct ip_addr *ret);
uint64_t seconds(const char *s);
void flush(void);
void arrive(unsigned char *p, size_t n, const struct ip_addr *src);
void include(const char *name);

struct field {
	const char *name;
	unsigned char at, size;
};

struct kind {
	const char *name;
	unsigned char type;
	unsigned char hdr; /* bytes with the fixed fields */
	struct field field[6];
};

/* user.c */
void conf(char *word);
void user(char **w, int n);
void user_key(struct sctp_keyring *r, char **w, int n);
void expect(char **w, int n);

/* chunk.c */
const struct kind *kind_named(const char *name);
const char *kind_name(unsigned type);
const struct field *field_named(const struct kind *k, const char *name);
uint64_t field_get(const unsigned char *p, const struct field *f);
unsigned flags_of(const char *s);

/* extend.c */
size_t extend_make(const char *name, char *val, unsigned char *p);
unsigned extend_type(const char *name);
void extend_match(const char *name, char *val, const unsigned char *p);

/* sign.c */
void sign_learn(const unsigned char *c, int sent);
void sign_key(unsigned id, const char *text);
size_t sign_len(const unsigned char *c);
void sign(unsigned char *p, size_t n, size_t at, int wrong);
int sign_is_good(const unsigned char *p, size_t n, size_t at);

/* inject.c, match.c */
void inject(char **w, int n);
void icmp(char **w, int n);
void match(char **w, int n);
void unexpected(void) STR_NORETURN;

#endif
