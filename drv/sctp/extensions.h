/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the files of the extensions offer the others: a part of association.h,
 * which includes it.
 */
#ifndef DRV_SCTP_EXTENSIONS_H
#define DRV_SCTP_EXTENSIONS_H

/*
 * auth.c: RFC 4895.  A vector has the parameters RANDOM, CHUNKS and HMAC-ALGO of
 * one side, without padding: a part of all keys of an association.
 */
#define SCTP_VECTOR_MOST 336u
struct sctp_vector {
	uint16_t n; /* bytes; 0: not known */
	unsigned char p[SCTP_VECTOR_MOST];
};

struct sctp_auth {
	struct sctp_vector mine, peer;
	uint32_t send[8];  /* 256 bits: chunks that the peer wants so; */
	uint32_t check[8]; /* ... those that we want so */
	uint16_t hmac;	   /* identifier, for sending; 0: not agreed */
	uint16_t peer_key; /* of the last AUTH chunk that was right */
};

static inline int
sctp_bit(const uint32_t bits[8], unsigned int type)
{
	return type < 256 && (bits[type / 32] >> type % 32 & 1) != 0;
}

int sctp_auth_check_conf(const struct sctp_conf *c);
void sctp_auth_offer(const struct sctp_env *env, const struct sctp_conf *conf,
	struct sctp_vector *ret);
size_t sctp_auth_put(const struct sctp_vector *v, unsigned char *p);
int sctp_auth_take(const struct sctp_init *i, struct sctp_vector *ret);
int sctp_auth_begin(const struct sctp_env *env, struct sctp_assoc *as);
int sctp_auth_room(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_auth_agree(struct sctp_assoc *as, const struct sctp_vector *mine,
	const struct sctp_vector *peer);
void sctp_auth_forget(const struct sctp_env *env, struct sctp_assoc *as);
int sctp_auth_is_due(const struct sctp_out *o, unsigned int type);
size_t sctp_auth_of_data(const struct sctp_assoc *as);
size_t sctp_auth_size(const struct sctp_out *o);
void sctp_auth_put_chunk(struct sctp_out *o);
void sctp_auth_seal(struct sctp_out *o);
int sctp_auth_received(struct sctp_in *in, const struct sctp_tlv *c);
int sctp_auth_is_missing(struct sctp_in *in, unsigned int type);
int sctp_auth_cookie(struct sctp_in *in, const struct sctp_cookie *ck);

/* asconf.c: RFC 5061, our requests; asconf_in.c: what arrives */
struct sctp_asconf {
	uint32_t serial, what; /* SCTP_ADDR_* */
	uint32_t path;	       /* last sent to */
	uint32_t repeated;
	uint64_t at;	       /* T4: us, when it is sent again; 0 */
	uint32_t n;
	struct ip_addr addr[SCTP_LOCALS];
};

/* The answer to a request, which is sent again if the request is. */
#define SCTP_ASCONF_ACK_MOST 512u
struct sctp_asconf_ack {
	uint32_t serial, n; /* bytes */
	uint32_t failed;    /* a parameter was; what follows is told, too */
	unsigned char p[SCTP_ASCONF_ACK_MOST];
};

#define SCTP_ADDR_CHANGES 8u
struct sctp_addr_list {
	uint32_t first, n; /* a ring */
	struct {
		uint32_t what;
		struct ip_addr addr;
	} e[SCTP_ADDR_CHANGES];
};

void sctp_asconf_forget(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_asconf_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path);
void sctp_asconf_expired(const struct sctp_env *env, struct sctp_assoc *as);
uint32_t sctp_asconf_path(const struct sctp_assoc *as);
void sctp_asconf_ack_received(struct sctp_in *in, const struct sctp_tlv *c);
void sctp_asconf_unknown(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_addr_changed(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t what, const struct ip_addr *a);
void sctp_asconf_received(struct sctp_in *in, const struct sctp_tlv *c);
struct sctp_assoc *sctp_asconf_find(struct sctp_in *in);

/* keys.c; 0: there is no such key */
int sctp_key_find(const struct sctp_keyring *r, uint16_t id,
	const unsigned char **ret, size_t *ret_n);

/* sched.c: RFC 8260 s3 */
void sctp_enqueue(struct sctp_assoc *as, struct sctp_seg *s);
void sctp_sched_fill(struct sctp_assoc *as);
void sctp_sched_packet(struct sctp_assoc *as);
void sctp_sched_sent(struct sctp_assoc *as, struct sctp_seg *s, uint32_t n);
struct sctp_seg *sctp_open_piece(const struct sctp_assoc *as);
int sctp_sched_more(const struct sctp_assoc *as, const struct sctp_seg *s);
void sctp_sched_abandon(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid, uint32_t message, int sent);
void sctp_sched_forget(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t n);
int sctp_sched_waits(const struct sctp_assoc *as, uint32_t message);
int sctp_sched_amid(const struct sctp_assoc *as, int resets);

/* report.c */
uint16_t *sctp_change_add(const struct sctp_env *env, struct sctp_assoc *as,
	int ours, uint32_t what, uint32_t result, uint32_t n);
void sctp_failed_add(struct sctp_assoc *as, struct sctp_seg *s);
void sctp_report_forget(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_abandoned(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid, uint32_t pr, int sent);

/* interleave.c: RFC 8260; sctp_ix_add(): as sctp_rx_add() */
const char *sctp_ix_add(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx);
void sctp_ix_partial(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_ix_skip(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid, int unordered, uint32_t mid);

/* tree.c: what waits for other chunks; @message: sctp_message_key() */
void sctp_tree_insert(struct sctp_assoc *as, struct sctp_rx *rx);
void sctp_tree_remove(struct sctp_assoc *as, struct sctp_rx *rx);
struct sctp_rx *sctp_tree_from(const struct sctp_assoc *as, uint64_t message,
	uint32_t fsn);
struct sctp_rx *sctp_tree_below(const struct sctp_assoc *as, uint64_t message,
	uint32_t fsn);
struct sctp_rx *sctp_tree_next(const struct sctp_assoc *as,
	const struct sctp_rx *rx);
void sctp_rx_clear(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid, uint32_t flags, uint32_t from, uint32_t to);

/* deliver.c, reassembly.c */
void sctp_rx_ready(struct sctp_assoc *as, struct sctp_rx *rx);
struct sctp_rx *sctp_rx_mark(struct sctp_assoc *as);
void sctp_rx_drop(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx);

/* reconf.c: RFC 6525, our requests; reconf_in.c: what arrives */
void sctp_reconf_forget(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_reconf_look(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_reconf_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path);
void sctp_reconf_expired(const struct sctp_env *env, struct sctp_assoc *as);
int sctp_is_amid(const struct sctp_assoc *as);
int sctp_reconf_holds(const struct sctp_assoc *as);
int sctp_reconf_answer_out(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t seq, const uint16_t *sid, uint32_t n);
int sctp_reconf_answer_add(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t n);
void sctp_reconf_answered(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t seq, uint32_t result, const uint32_t *tsns);
void sctp_reconf_received(struct sctp_in *in, const struct sctp_tlv *c);
void sctp_new_tsns(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t mine, uint32_t peers);

#endif
