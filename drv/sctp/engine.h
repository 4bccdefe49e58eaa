/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The protocol engine of SCTP (RFC 9260): what its users call.
 *
 * The engine is pure code.  It has no thread, queue, lock, clock or statics.
 * Everything happens in calls: a packet arrives, the user asks for something, a
 * deadline passes.  After each call on an association the caller
 *
 *	- takes packets from sctp_output() until it returns 0, and sends them;
 *	- looks at `events' and the data (sctp_readable());
 *	- arranges for sctp_timeout() at sctp_deadline().
 *
 * Calls on one endpoint and its associations must not overlap; the caller has a
 * lock for that.  The engine calls the caller only for memory and random
 * numbers; these calls must not take that lock.
 *
 * Memory.  Endpoints and associations lie in memory from the caller, and have
 * pointers to each other: the memory must have the same address in all
 * processes that use it.  Code pointers are in struct sctp_env alone, which the
 * caller makes for each call.  docs/networking.md describes the design.
 */
#ifndef DRV_SCTP_ENGINE_H
#define DRV_SCTP_ENGINE_H

#include <stddef.h>
#include <stdint.h>
#include <str/ip.h>

#define SCTP_PATHS 8u	 /* addresses of a peer; more are ignored */
#define SCTP_LOCALS 8u	 /* addresses of an endpoint that peers are told */
#define SCTP_CHAINS 64u	 /* of an endpoint's table of associations */
#define SCTP_MAP 16384u	 /* TSNs beyond the cumulative one; power of 2 */
#define SCTP_REPLY 2304u /* bytes of the longest reply of sctp_input() */
#define SCTP_KEYLEN 32u
#define SCTP_AUTH_KEYS 16u    /* shared keys in a ring */
#define SCTP_AUTH_KEYLEN 256u /* bytes of one */

#define SCTP_MS 1000u	 /* times are microseconds */
#define SCTP_S 1000000u

/* What the caller lends for the length of a call. */
struct sctp_env {
	uint64_t now; /* us, monotonic, the same clock in all processes */
	void *arg;
	void *(*alloc)(void *arg, size_t n); /* NULL: no memory */
	void (*release)(void *arg, void *p, size_t n);
	void (*random)(void *arg, void *p, size_t n); /* not predictable */
};

/* Changes of streams (RFC 6525): what may be asked for, and allowed. */
#define SCTP_RECONF_ON 1u	 /* in conf.reconf: offer RE-CONFIG at all */
#define SCTP_RECONF_OUT 2u	 /* SSNs begin with 0: of what the asking
				  * side sends, */
#define SCTP_RECONF_IN 4u	 /* ... or receives */
#define SCTP_RECONF_TSN 8u	 /* new TSNs, all SSNs begin with 0 */
#define SCTP_RECONF_ADD_OUT 0x10u /* more streams: for the asking side to send */
#define SCTP_RECONF_ADD_IN 0x20u /* ... or to receive */
#define SCTP_RECONF_ALL 0x3fu

/*
 * RFC 9260 s16 has the names and defaults of most; sctp_conf_default().
 * sctp_conf_check() says whether an association may have them.
 */
struct sctp_conf {
	uint32_t rto_initial, rto_min, rto_max;		/* us */
	uint32_t cookie_life, cookie_inc;		/* us; most added */
	uint32_t hb_interval;				/* us; 0: none */
	uint32_t sack_delay;				/* us */
	uint32_t sack_freq;				/* packets; 1: all */
	uint32_t assoc_max_retrans, path_max_retrans, init_max_retrans;
	uint32_t pf_threshold; /* errors until potentially failed: RFC 7829 */
	uint32_t max_burst;    /* packets of new data per event; 0: any */
	uint32_t rcvbuf, sndbuf;			/* bytes */
	uint32_t partial;      /* bytes of an incomplete message to deliver */
	uint32_t mtu;					/* of IP packets */
	uint16_t ostreams, istreams; /* wanted, and accepted at most */
	uint16_t ostreams_most; /* streams that a peer may have us send: RFC 6525 */
	uint8_t nagle;		     /* gather small messages */
	uint8_t pr;		     /* offer partial reliability: RFC 3758 */
	uint8_t interleave;	     /* offer I-DATA: RFC 8260 */
	uint8_t scheduler;	     /* enum sctp_scheduler: RFC 8260 */
	uint8_t reconf;		     /* SCTP_RECONF_*: RFC 6525 */
	uint8_t half_close; /* the user may send after the peer's SHUTDOWN */
	uint8_t report;	    /* keep messages that fail: sctp_failed() */
	uint32_t maxseg;    /* most bytes of data in a chunk; 0: what fits */
	uint8_t auth;	    /* offer AUTH: RFC 4895 */
	uint8_t hmac[2];    /* ... SCTP_HMAC_*, the first is preferred; 0: end */
	uint8_t asconf;	    /* offer changes of addresses: RFC 5061; with auth */
	uint8_t adapts;	    /* tell the peer `adaptation': RFC 5061 s4.2.6 */
	uint32_t adaptation; /* ... what the users agree upon */
	uint32_t auth_chunks[8]; /* ... 256 bits: chunks that the peer has to
			     * authenticate; sctp_auth_require() */
};

/* Identifiers of HMACs: RFC 4895 s3.3. */
#define SCTP_HMAC_SHA1 1u /* must be offered */
#define SCTP_HMAC_SHA256 3u

/*
 * Which stream sends next (RFC 8260 s3).  Without I-DATA, messages are not
 * mixed; with it, the next chunk may be of another message.
 */
enum sctp_scheduler {
	SCTP_SCHED_FCFS,     /* as the user sent the messages */
	SCTP_SCHED_RR,	     /* in turn */
	SCTP_SCHED_RR_PACKET, /* ... a stream for each packet */
	SCTP_SCHED_PRIO,     /* the lowest value first, equal ones in turn */
	SCTP_SCHED_FAIR,     /* the same number of bytes */
	SCTP_SCHED_WEIGHTED, /* ... in proportion to their values */
};

enum sctp_state {
	SCTP_CLOSED,
	SCTP_COOKIE_WAIT,
	SCTP_COOKIE_ECHOED,
	SCTP_ESTABLISHED,
	SCTP_SHUTDOWN_PENDING,
	SCTP_SHUTDOWN_SENT,
	SCTP_SHUTDOWN_RECEIVED,
	SCTP_SHUTDOWN_ACK_SENT,
};

/* Bits of `events' of an association; the user clears them. */
#define SCTP_EV_UP 1u	    /* established */
#define SCTP_EV_RESTART 2u  /* the peer began again; data is lost */
#define SCTP_EV_SHUTDOWN 4u /* the peer sends no more data; nor may we,
			     * without conf.half_close */
#define SCTP_EV_DOWN 8u	    /* over: sctp_down_reason() */
#define SCTP_EV_ROOM 0x10u  /* sctp_send() may be tried again */
#define SCTP_EV_PATH 0x20u  /* a path's state changed */
#define SCTP_EV_ERROR 0x40u /* an ERROR arrived: `cause' */
#define SCTP_EV_RECONF 0x80u /* our request about streams is over:
			      * sctp_change() */
#define SCTP_EV_RECONF_PEER 0x100u /* the peer has changed streams: likewise */
#define SCTP_EV_FAILED 0x1000u /* messages were not delivered: sctp_failed() */
#define SCTP_EV_ADDR 0x400u /* our request about addresses is over:
			     * sctp_addr_result() */
#define SCTP_EV_ADDR_PEER 0x800u /* the peer has changed its addresses:
			     * sctp_addr_change() */
#define SCTP_EV_AUTH 0x200u /* the peer uses another key now:
			     * sctp_auth_peer_key() */

/* Why an association is over. */
enum sctp_down {
	SCTP_DOWN_NOT,
	SCTP_DOWN_SHUTDOWN,    /* both sides have shut down */
	SCTP_DOWN_USER,	       /* sctp_abort() */
	SCTP_DOWN_PEER,	       /* ABORT from the peer; `cause' */
	SCTP_DOWN_UNREACHABLE, /* too many retransmissions */
	SCTP_DOWN_PROTOCOL,    /* the peer violated the protocol */
	SCTP_DOWN_STALE,       /* the peer found the cookie too old */
	SCTP_DOWN_GUARD,       /* shutdown took too long: T5 */
	SCTP_DOWN_REFUSED,     /* the peer's host has no SCTP */
};

enum sctp_path_state {
	SCTP_PATH_ACTIVE,
	SCTP_PATH_PF, /* potentially failed: RFC 7829 */
	SCTP_PATH_INACTIVE,
};

/* Counters of an endpoint. */
enum sctp_count {
	SCTP_N_IN,	   /* packets */
	SCTP_N_OUT,
	SCTP_N_CHECKSUM,   /* ... with a wrong checksum */
	SCTP_N_BAD,	   /* ... too short, or with a wrong tag */
	SCTP_N_BLUE,	   /* ... of no association */
	SCTP_N_COOKIE_BAD, /* cookies with a wrong signature */
	SCTP_N_STALE,
	SCTP_N_DATA_OUT,   /* DATA chunks sent first */
	SCTP_N_DATA_IN,	   /* ... received first */
	SCTP_N_DUPLICATE,  /* ... received again */
	SCTP_N_NO_ROOM,	   /* ... dropped */
	SCTP_N_RTX_FAST,   /* ... marked as lost by SACKs */
	SCTP_N_RTX_TIMER,  /* ... by T3 */
	SCTP_N_ABANDONED,  /* messages */
	SCTP_N_AUTH_BAD,   /* AUTH chunks with a wrong code or key */
	SCTP_N_NOT_AUTH,   /* chunks dropped, because no AUTH preceded them */
	SCTP_NCOUNTS
};

struct sctp_assoc;

/* A secret for cookies, and when it was made. */
struct sctp_key {
	uint64_t made;
	uint32_t id; /* 0: none */
	unsigned char secret[SCTP_KEYLEN];
};

/*
 * Shared keys of AUTH.  Key 0 exists from the beginning, and is empty.  All
 * zero, a ring has that key, which is the active one.
 */
struct sctp_shared;
struct sctp_keyring {
	struct sctp_shared *first;
	uint16_t active; /* of AUTH chunks that are sent */
	uint16_t zero;	 /* of key 0 while it has no entry: keys.c */
};

/* A bound port. */
struct sctp_ep {
	uint16_t port;
	uint8_t listening;   /* INITs are answered */
	uint8_t instruction; /* crc32c_has_instruction() */
	uint32_t nlocal;     /* told to peers if there are several */
	struct ip_addr local[SCTP_LOCALS];
	struct sctp_conf conf; /* for new associations */
	struct sctp_key key[2]; /* the current one, the one before */
	struct sctp_keyring keys; /* for new associations, each has a copy */
	uint32_t nassoc;
	uint32_t most;	     /* associations; 0: any number */
	struct sctp_assoc *chain[SCTP_CHAINS]; /* by the peer's port */
	uint64_t count[SCTP_NCOUNTS];
};

/* An SCTP packet from the common header on. */
struct sctp_packet {
	unsigned char *p;
	size_t n;    /* bytes */
	size_t size; /* of p: room for an output packet */
	struct ip_addr src, dst; /* src.len 0: any of the host's */
	int fragment; /* of sctp_output(): longer than the path's MTU */
	int unsummed; /* input: its checksum is not checked; sctp_output(): it
		       * gets none, see sctp_sum() */
};

#define SCTP_SEND_UNORDERED 1u
#define SCTP_SEND_MORE 2u /* the message continues in the next call */
#define SCTP_SEND_NOW 4u  /* ask for an immediate SACK: RFC 7053 */
#define SCTP_SEND_TTL 8u  /* drop it when `life' has passed: RFC 3758 */
#define SCTP_SEND_RTX 0x10u /* ... after `life' retransmissions: RFC 7496 */
#define SCTP_SEND_FORCE 0x40u /* though the buffer is full */
#define SCTP_RECV_MORE 2u /* not the end of the message */
#define SCTP_RECV_CUT 0x20u /* the rest of the message will not come */

/* About a message. */
struct sctp_info {
	uint16_t sid;
	uint16_t ssn;
	uint32_t ppid; /* in network order if the users agree so */
	uint32_t tsn;  /* of its first fragment */
	uint32_t flags;
	uint32_t context; /* the user's word for sctp_failed() */
	uint64_t life; /* us, or retransmissions */
};

void sctp_conf_default(struct sctp_conf *c);
int sctp_conf_check(const struct sctp_conf *c); /* 0 or EINVAL */

/*
 * sctp_ep_init - make an endpoint in memory of the caller
 * sctp_ep_fini - forget it and all its associations, without a packet
 */
void sctp_ep_init(const struct sctp_env *env, struct sctp_ep *ep,
	uint16_t port);
void sctp_ep_fini(const struct sctp_env *env, struct sctp_ep *ep);

/*
 * sctp_connect - begin an association
 * @to: the peer's addresses, the first is the primary; @n of them, 1 or more
 * Return: 0; EINVAL (also for ep->conf), EISCONN (there is one with this peer), ENOMEM.
 */
int sctp_connect(const struct sctp_env *env, struct sctp_ep *ep,
	const struct ip_addr *to, uint32_t n, uint16_t port,
	struct sctp_assoc **ret);

/*
 * sctp_input - a packet has arrived for the endpoint's port
 * @in:    the packet; its bytes are not changed
 * @reply: room for a packet that belongs to no association; SCTP_REPLY bytes are
 *         enough.  reply->n is 0, or its length: the caller sends it
 * @fresh: set to 1 if the packet made the association
 * Return: the association that the packet concerned, or NULL.
 */
struct sctp_assoc *sctp_input(const struct sctp_env *env, struct sctp_ep *ep,
	const struct sctp_packet *in, struct sctp_packet *reply, int *fresh);

/*
 * sctp_output - compose the next packet that is due
 * @out: where to; out->size must be the MTU less the IP header, or more: as
 *       much as the longest packet so far, if a path's MTU has become less
 * Return: its length, which is out->n; 0: none is due.
 */
size_t sctp_output(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_packet *out);

/* sctp_sum - set the checksum of a packet that was made with `unsummed' */
void sctp_sum(struct sctp_packet *pkt);

/*
 * sctp_icmp - an ICMP error has arrived about a packet from the endpoint's port
 * @dst:   where that packet went
 * @p:     its first @n bytes, from the common header on
 * @error: ENOPROTOOPT: the host has no SCTP; EMSGSIZE: it was longer than @mtu,
 *         a size of IP packets; others have no effect
 * Return: the association that it concerns, or NULL.
 */
struct sctp_assoc *sctp_icmp(const struct sctp_env *env, struct sctp_ep *ep,
	const struct ip_addr *dst, const unsigned char *p, size_t n, int error,
	uint32_t mtu);

/* When sctp_timeout() is to be called, in us of `now'; 0: never. */
uint64_t sctp_deadline(const struct sctp_assoc *as);
void sctp_timeout(const struct sctp_env *env, struct sctp_assoc *as);

/*
 * sctp_send - accept a message, or a part of it
 * The data is copied and belongs to the association.
 * Return: 0; EAGAIN (the buffer is full; SCTP_EV_ROOM will come), EINVAL (no
 * data, no such stream, two other messages are not complete), EPIPE (shut down, or
 * over), ENOMEM.  On an error nothing was accepted.
 */
int sctp_send(const struct sctp_env *env, struct sctp_assoc *as,
	const struct sctp_info *info, const void *p, size_t n);

/* Bytes of the next message, or part of one, that sctp_recv() has; 0: none. */
size_t sctp_readable(const struct sctp_assoc *as);

/*
 * sctp_recv - take data of the next message
 * @n: at most; the rest of a longer message is left for the next call
 * Return: bytes; 0: there is nothing.  SCTP_RECV_MORE is set in info->flags
 * unless the message ends here.  With I-DATA other messages may come between
 * the parts of a long one: `sid', `ssn' and SCTP_SEND_UNORDERED in info->flags
 * tell them apart.  SCTP_RECV_CUT comes without data.
 */
size_t sctp_recv(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_info *info, void *p, size_t n);

/*
 * sctp_shutdown - deliver what was accepted, then end the association
 * With conf.half_close the peer's SHUTDOWN is not acknowledged before this is
 * called.
 * Return: 0; EPIPE if it is over.
 */
int sctp_shutdown(const struct sctp_env *env, struct sctp_assoc *as);

/* sctp_abort - end it now; @p are up to 512 bytes for the peer's user */
void sctp_abort(const struct sctp_env *env, struct sctp_assoc *as,
	const void *p, size_t n);

/*
 * sctp_abort_packet - make an ABORT of an association that cannot be used any
 * more; without a checksum
 * @p: 64 bytes.  Return: bytes of the packet.
 */
size_t sctp_abort_packet(unsigned char *p, uint16_t sport, uint16_t dport,
	uint32_t peer_tag);

/*
 * Ask the peer to change streams (RFC 6525); conf.reconf says what the peer may
 * ask for.  One request can be under way.  SCTP_EV_RECONF says that it is over.
 *
 * sctp_reset_streams - stream sequence numbers begin with 0 again
 * @what: SCTP_RECONF_OUT, SCTP_RECONF_IN, or both
 * @sid:  @n streams; with 0 all.  Both directions: the same streams
 *
 * sctp_reset_tsn - the same for all streams of both directions, and new TSNs
 *
 * sctp_add_streams - more streams for us to send and to receive; 0: no more
 *
 * What was accepted before is sent before.  Until the reset is over, sctp_send()
 * to such a stream returns EAGAIN, and SCTP_EV_ROOM follows.
 * Return: 0; EBUSY (a request is under way), EINVAL (no such stream, too many),
 * EOPNOTSUPP (not agreed with the peer), EPIPE (not established), ENOMEM.
 */
int sctp_reset_streams(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t what, const uint16_t *sid, uint32_t n);
int sctp_reset_tsn(const struct sctp_env *env, struct sctp_assoc *as);
int sctp_add_streams(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t out, uint32_t in);

/* A request of ours that is over; or a change that the peer has made. */
struct sctp_change {
	uint32_t what;	 /* SCTP_RECONF_*: of ours, all that was asked for; of
			  * the peer's one, as the peer sees it */
	uint32_t result; /* enum sctp_reconf_result */
	uint32_t ours;
	uint32_t n;	 /* streams; 0: all */
	const uint16_t *sid;
};
/*
 * sctp_change - the oldest change that is not done with; NULL: none
 * sctp_change_done - forget it.  At most 32 wait; of more the user has only the
 * event.
 */
const struct sctp_change *sctp_change(const struct sctp_assoc *as);
void sctp_change_done(const struct sctp_env *env, struct sctp_assoc *as);

/*
 * sctp_set_stream_value - the priority or weight of stream @sid: conf.scheduler
 * sctp_stream_value - the same, to read
 * Values are 0 at first; a weight of 0 is one of 1.
 * Return: 0; EINVAL: there is no such stream.
 *
 * sctp_set_scheduler - another scheduler, also for what waits to be sent
 * Return: 0, or EINVAL.
 */
int sctp_set_stream_value(struct sctp_assoc *as, uint16_t sid, uint16_t value);
int sctp_stream_value(const struct sctp_assoc *as, uint16_t sid, uint16_t *ret);
int sctp_set_scheduler(struct sctp_assoc *as, enum sctp_scheduler scheduler);

/*
 * A piece of a message, as the user sent it, that was not delivered: the message
 * was abandoned, or the association has ended.  Some bytes may have arrived.
 */
struct sctp_failure {
	uint16_t sid;
	uint8_t unordered;
	uint8_t sent;	      /* a part of the message was in a packet */
	uint8_t begins, ends; /* the message */
	uint32_t ppid, context; /* as in struct sctp_info */
	const unsigned char *data;
	uint32_t n;	      /* bytes */
};
/*
 * With conf.report: sctp_failed - the oldest one; 0: none
 * sctp_failed_done - release it.
 * sctp_fail_all - the association is over: all that was not delivered fails
 */
int sctp_failed(const struct sctp_assoc *as, struct sctp_failure *ret);
void sctp_failed_done(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_fail_all(const struct sctp_env *env, struct sctp_assoc *as);
/*
 * sctp_abandoned_count - messages that were abandoned by partial reliability
 * @sid: a stream; one that does not exist: all.  @pr: SCTP_SEND_TTL,
 * SCTP_SEND_RTX; 0: both.
 */
void sctp_abandoned_count(const struct sctp_assoc *as, uint32_t sid,
	uint32_t pr, uint64_t *ret_unsent, uint64_t *ret_sent);

/*
 * Authentication (RFC 4895).  Chunks of the types in conf.auth_chunks are
 * dropped unless an AUTH chunk precedes them whose code is right; the peer asks
 * for the same by its own list.  The code is made with a key that both sides
 * have been given, and with numbers of INIT and INIT ACK.  All functions that
 * change a ring may be used with ep->keys and with sctp_keys() of an
 * association; AUTH chunks that are sent later use the new keys.
 *
 * sctp_auth_require - add chunk type @type to conf->auth_chunks
 * Return: 0; EINVAL: INIT, INIT ACK, SHUTDOWN COMPLETE and AUTH cannot be.
 *
 * sctp_key_set - add or replace key @id, of @n bytes, which are copied
 * Return: 0; EINVAL (longer than SCTP_AUTH_KEYLEN), ENOSPC (SCTP_AUTH_KEYS exist), ENOMEM.
 *
 * sctp_key_use - make it the active key.  Return: 0; EINVAL: it does not exist,
 * or is retired.
 *
 * sctp_key_retire - keep it for AUTH chunks that arrive only
 * sctp_key_delete - forget it
 * Return: 0; EINVAL: it does not exist, or is active.
 *
 * sctp_keyring_copy - make @to, which is all zero, a copy.  Return: 0, ENOMEM.
 * sctp_keyring_free - forget all keys; sctp_ep_fini() and sctp_assoc_free()
 * do that for theirs
 */
int sctp_auth_require(struct sctp_conf *conf, unsigned int type);
int sctp_key_set(const struct sctp_env *env, struct sctp_keyring *r,
	uint16_t id, const void *p, size_t n);
int sctp_key_use(struct sctp_keyring *r, uint16_t id);
int sctp_key_retire(struct sctp_keyring *r, uint16_t id);
int sctp_key_delete(const struct sctp_env *env, struct sctp_keyring *r,
	uint16_t id);
int sctp_keyring_copy(const struct sctp_env *env, struct sctp_keyring *to,
	const struct sctp_keyring *from);
void sctp_keyring_free(const struct sctp_env *env, struct sctp_keyring *r);
struct sctp_keyring *sctp_keys(struct sctp_assoc *as);
/* The HMAC identifier of AUTH chunks that we send; 0: AUTH was not agreed. */
unsigned int sctp_auth_hmac(const struct sctp_assoc *as);
/* The key of the last AUTH chunk of the peer; 0 before the first. */
uint16_t sctp_auth_peer_key(const struct sctp_assoc *as);
/*
 * The chunk types that are authenticated: by us if @ours, else by the peer.
 * Return: how many are in @ret.
 */
uint32_t sctp_auth_list(const struct sctp_assoc *as, int ours,
	unsigned char ret[256]);

/*
 * Changes of addresses (RFC 5061) of an association that is established, if both
 * sides offer them.  One request can be under way; SCTP_EV_ADDR says that it is
 * over.  The engine does not choose the source of packets: a new address may be
 * used after success, a deleted one must not be used from the call on.
 *
 * sctp_addr_add - the peer may send to these addresses of ours, too
 * sctp_addr_delete - the peer does not send to these any more
 * @a: @n addresses, at most SCTP_LOCALS; the wildcard address (all bytes 0):
 *     the source of the packet, to delete: all others
 *
 * sctp_addr_primary - the peer is asked to send to @a
 * Return: 0; EBUSY (a request is under way), EINVAL (no addresses, or all would
 * be deleted), EOPNOTSUPP (not agreed with the peer), EPIPE (not established),
 * ENOMEM.
 *
 * sctp_addr_result - of our last request: SCTP_E_NONE, or the peer's cause;
 * @ret_what: SCTP_ADDR_*
 * sctp_addr_change - the oldest change by the peer that was not told yet
 * Return: SCTP_ADDR_*; 0: none.  The last 8 are kept.
 * sctp_peer_adaptation - what the peer has told.  Return: 1; 0: nothing.
 */
#define SCTP_ADDR_ADDED 1u
#define SCTP_ADDR_REMOVED 2u
#define SCTP_ADDR_PRIMARY 3u
int sctp_addr_add(const struct sctp_env *env, struct sctp_assoc *as,
	const struct ip_addr *a, uint32_t n);
int sctp_addr_delete(const struct sctp_env *env, struct sctp_assoc *as,
	const struct ip_addr *a, uint32_t n);
int sctp_addr_primary(const struct sctp_env *env, struct sctp_assoc *as,
	const struct ip_addr *a);
uint32_t sctp_addr_result(const struct sctp_assoc *as, uint32_t *ret_what);
uint32_t sctp_addr_change(struct sctp_assoc *as, struct ip_addr *ret);
int sctp_peer_adaptation(const struct sctp_assoc *as, uint32_t *ret);

/* Forget the association; without a packet, so call sctp_output() before. */
void sctp_assoc_free(const struct sctp_env *env, struct sctp_assoc *as);

/* What an association tells about itself. */
enum sctp_state sctp_assoc_state(const struct sctp_assoc *as);
uint32_t sctp_events(struct sctp_assoc *as); /* and clear them */
enum sctp_down sctp_down_reason(const struct sctp_assoc *as);
/* Of the last ABORT or ERROR: its cause, and for ABORTs the user's data. */
enum sctp_cause sctp_peer_cause(const struct sctp_assoc *as,
	const unsigned char **ret_data, size_t *ret_n);
uint32_t sctp_path_count(const struct sctp_assoc *as);
enum sctp_path_state sctp_path_state(const struct sctp_assoc *as, uint32_t i,
	struct ip_addr *ret, int *ret_confirmed);
/* A byte of the user for address @i: it stays with the address; 0 at first. */
uint8_t *sctp_path_word(struct sctp_assoc *as, uint32_t i);
int sctp_set_primary(struct sctp_assoc *as, const struct ip_addr *a);
void sctp_streams(const struct sctp_assoc *as, uint16_t *ret_out,
	uint16_t *ret_in);
/* The verification tags of packets to us, and to the peer. */
void sctp_tags(const struct sctp_assoc *as, uint32_t *ret_mine,
	uint32_t *ret_peer);
/* Where sending, receiving and the primary path are.  TSNs: cumulative ones. */
struct sctp_status {
	uint32_t next_tsn, acked_tsn, rcvd_tsn;
	uint32_t unacked, flight, unread;	/* bytes */
	uint32_t peer_window, window;		/* bytes */
	uint32_t cwnd;				/* bytes */
	uint32_t srtt, rto;			/* us; srtt 0: not measured */
	uint32_t chunks;   /* DATA chunks that are not acknowledged */
	uint32_t fragment; /* most bytes of data in one */
	uint8_t pr, reconf, interleave, asconf; /* agreed with the peer */
};
void sctp_status(const struct sctp_assoc *as, struct sctp_status *ret);
/* The peer's address @i, from 0.  Return: 0; EINVAL: there are not so many. */
struct sctp_path_info {
	struct ip_addr addr;
	enum sctp_path_state state;
	int confirmed, primary;
	uint32_t mtu, cwnd, flight; /* bytes */
	uint32_t srtt, rto;	    /* us; srtt 0: not measured */
	uint32_t errors;
};
int sctp_path_info(const struct sctp_assoc *as, uint32_t i,
	struct sctp_path_info *ret);
/*
 * sctp_set_conf - change the parameters of an association
 * What has been agreed upon with the peer stays.  Return: 0, EINVAL.
 */
int sctp_set_conf(const struct sctp_env *env, struct sctp_assoc *as,
	const struct sctp_conf *c);
/* sctp_get_conf - the parameters of an association, as they are now */
void sctp_get_conf(const struct sctp_assoc *as, struct sctp_conf *ret);
/* sctp_beat - send a heartbeat to @a.  Return: 0; EINVAL: no such address. */
int sctp_beat(struct sctp_assoc *as, const struct ip_addr *a);
/*
 * sctp_ack_now - end the delay of SACKs: if data has been received since the last
 * SACK, the next packet of sctp_output() has one
 */
void sctp_ack_now(struct sctp_assoc *as);
/* Bytes that were accepted and are not acknowledged. */
size_t sctp_unsent(const struct sctp_assoc *as);
/* May data be sent, is all acknowledged, and has each message its end? */
int sctp_is_idle(const struct sctp_assoc *as);
/* The user's word in the association. */
void **sctp_user(struct sctp_assoc *as);

#endif
