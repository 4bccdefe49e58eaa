/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The state of an association, and what the files of the engine call of each
 * other.
 *
 * Fields are grouped: what an association is cannot be computed from anything
 * else; what is derived could be set to its initial value at any time, and only
 * speed would suffer.
 *
 * Output is derived from state.  `owes' and the states of DATA chunks say what
 * is to be sent; output.c composes packets from them when the caller asks.
 * Nothing is sent from the middle of a state change.
 */
#ifndef DRV_SCTP_ASSOCIATION_H
#define DRV_SCTP_ASSOCIATION_H

#include <sys/types.h>
#include <sys/errno.h>
#include "engine.h"
#include "wire_format.h"

/* sctp_assoc.owes: chunks to be sent */
#define SCTP_OWES_INIT 1u
#define SCTP_OWES_COOKIE_ECHO 2u
#define SCTP_OWES_COOKIE_ACK 4u
#define SCTP_OWES_SACK 8u
#define SCTP_OWES_SHUTDOWN 0x10u
#define SCTP_OWES_SHUTDOWN_ACK 0x20u
#define SCTP_OWES_SHUTDOWN_COMPLETE 0x40u
#define SCTP_OWES_ABORT 0x80u /* it is the first of `control' */
#define SCTP_OWES_FORWARD 0x100u
#define SCTP_OWES_ASCONF 0x400u /* the request in `asconf' */
#define SCTP_OWES_RECONF 0x200u /* the request in `reconf' */

/* Extensions, as INIT and INIT ACK offer them. */
#define SCTP_X_PR 1u	 /* RFC 3758 */
#define SCTP_X_RECONF 2u /* RFC 6525 */
#define SCTP_X_IDATA 4u	 /* RFC 8260: I-DATA in the place of DATA */
#define SCTP_X_IFORWARD 8u /* ... I-FORWARD-TSN; with PR */
#define SCTP_X_AUTH 0x10u /* RFC 4895 */
#define SCTP_X_ASCONF 0x20u /* RFC 5061; with AUTH */
#define SCTP_X_ADAPTS 0x40u /* ... the peer told an adaptation */

#define SCTP_NONE 0xffffffffu
#define SCTP_CONTROLS 16u  /* waiting control chunks, at most */
#define SCTP_DUPS 16u	   /* duplicates told in a SACK, at most */
#define SCTP_SEG_LEAST 32u   /* smallest conf.maxseg */
#define SCTP_DATA_LEAST 256u /* smallest fragment made to fill a packet */
#define SCTP_ERROR_MOST 512u /* bytes quoted in an ERROR or ABORT */
#define SCTP_RX_OVERHEAD 4u  /* memory for data, in multiples of rcvbuf */

/* A piece of a message that the user has sent: one call of sctp_send(). */
struct sctp_seg {
	struct sctp_seg *next; /* in the queue of those not yet in chunks */
	uint32_t len;
	uint32_t sent;	    /* bytes that are in chunks */
	uint32_t left;	    /* bytes neither acknowledged nor abandoned */
	uint32_t message;   /* number of the message */
	uint32_t ppid;
	uint16_t sid;
	uint8_t begins, ends; /* the message */
	uint8_t flags;	    /* SCTP_DATA_U, SCTP_DATA_I */
	uint8_t pr;	    /* SCTP_SEND_TTL, SCTP_SEND_RTX, or 0 */
	uint8_t failed;	    /* SCTP_FAILED_*: it will not be delivered */
	uint32_t context;   /* the user's word */
	uint64_t life;	    /* until, us; or retransmissions */
	unsigned char data[];
};

#define SCTP_FAILED_UNSENT 1u
#define SCTP_FAILED_SENT 2u

enum sctp_tx_state {
	SCTP_TX_FLIGHT,	   /* sent, counted in its path's flight */
	SCTP_TX_ACKED,	   /* by a gap block: the peer may take that back */
	SCTP_TX_LOST,	   /* to be sent again */
	SCTP_TX_ABANDONED, /* to be skipped by FORWARD TSN */
};

/* A DATA chunk that has a TSN. */
struct sctp_tx {
	struct sctp_seg *seg;
	uint64_t sent_at;
	uint32_t off;  /* in seg */
	uint16_t len;
	uint16_t sid;
	uint32_t ssn;  /* of 16 bits; or MID */
	uint32_t fsn;  /* I-DATA: number of the fragment in the message */
	uint8_t flags; /* SCTP_DATA_* */
	uint8_t state;
	uint8_t path;  /* last sent to */
	uint8_t miss;  /* SACKs that reported it missing */
	uint8_t fast;  /* SACKs made it lost; T3 has not since */
	uint8_t sends;
	uint8_t refused; /* a SACK has shown no room for it since it was sent */
	uint16_t stamp; /* the SACK that last acknowledged it in a gap block */
};

/*
 * A received DATA chunk.  Fragments with consecutive TSNs form a run, which
 * `tail', `last' and `total' of its first fragment describe.
 */
struct sctp_rx {
	struct sctp_rx *next;	/* fragment of the run */
	struct sctp_rx *after, *before; /* run; message in a queue; or the
					 * children in the tree */
	struct sctp_rx *tail;
	uint32_t last;		/* TSN of tail; I-DATA: its FSN */
	uint32_t total;		/* bytes of the run */
	uint32_t tsn, ppid;
	uint32_t ssn;		/* of 16 bits; or MID */
	uint32_t fsn;		/* I-DATA */
	uint16_t sid;
	uint32_t len, taken;	/* bytes; of these, the user has */
	uint8_t flags;		/* SCTP_DATA_*; SCTP_RX_* */
	unsigned char data[];
};
#define SCTP_RX_CUT 0x80u  /* the rest of the message will not come */
#define SCTP_RX_PART 0x40u /* I-DATA: the user has what was before: an anchor */

struct sctp_in_stream {
	uint32_t next;	       /* SSN of 16 bits; or MID */
	uint8_t partial[2];    /* I-DATA: an ordered, an unordered message is
				* passed in parts */
};

#define SCTP_PR_ROWS 2u /* limits of a message: time, retransmissions */

struct sctp_out_stream {
	uint32_t next;	   /* SSN, its lower 16 bits; or MID */
	uint32_t next_u;   /* MID of unordered messages */
	uint32_t mid;	   /* SSN or MID, of the message that has TSNs last */
	uint32_t fsn;	   /* ... I-DATA: of its next fragment */
	/* sched.c */
	struct sctp_seg *first, *last; /* what waits to be chosen */
	uint64_t vtime;	   /* virtual time of fair bandwidth */
	uint16_t after, before; /* in the circle */
	uint16_t value;	   /* priority, 0 is the highest; or weight */
	uint8_t active;	   /* it is in the circle */
	uint8_t resetting; /* new messages are refused until it is done */
};

/* Messages that were abandoned: not sent, sent. */
struct sctp_abandoned {
	uint32_t n[SCTP_PR_ROWS][2];
};

/*
 * A request of ours to change streams: RFC 6525.  There is one at a time; it
 * has one or two parts, each with a number of its own.
 */
struct sctp_reconf {
	uint32_t all, parts; /* SCTP_RECONF_*; not answered yet */
	uint32_t after;	   /* number of the last message sent before it */
	uint32_t seq[2];   /* of the parts, in the order in the chunk */
	uint32_t answers;  /* of the peer's request with this number, ... */
	uint8_t is_answer; /* ... if this is set */
	uint8_t sent;	   /* before, what was accepted earlier is sent */
	uint8_t waits;	   /* the last answer was "in progress" */
	uint8_t result;	   /* of the parts so far */
	uint16_t add_out, add_in; /* streams */
	uint32_t last;	   /* TSN, of the outgoing reset */
	uint32_t path;	   /* last sent to */
	uint64_t at;	   /* us, when it is sent again; 0 */
	uint32_t nsids;	   /* 0: all streams */
	uint16_t sid[];
};

struct sctp_changed {
	struct sctp_changed *next;
	struct sctp_change c;
	uint16_t list[];
};

/* A control chunk that waits to be sent: ERROR, HEARTBEAT ACK, ABORT. */
struct sctp_control {
	struct sctp_control *next;
	uint32_t path; /* index; SCTP_NONE: any */
	uint32_t len;
	unsigned char chunk[];
};

struct sctp_path {
	/* what it is */
	struct ip_addr addr;
	uint8_t state;	   /* enum sctp_path_state */
	uint8_t confirmed; /* RFC 9260 s5.4 */
	uint8_t preferred; /* the primary one, as soon as it is confirmed */
	uint8_t word;	   /* the user's: sctp_path_word() */
	uint32_t mtu;
	uint32_t errors;
	/* derived: heartbeats */
	uint8_t hb_owed, hb_out; /* to be sent; not answered */
	uint64_t hb_at; /* hb_out: it is too late then; else the next one */
	uint64_t hb_nonce, hb_sent;
	/* derived: round trips */
	uint32_t srtt, rttvar, rto; /* us */
	uint8_t measured, timing;
	uint32_t timed_tsn; /* which is being timed */
	/* derived: congestion */
	uint32_t cwnd, ssthresh, pba, flight;
	uint8_t fast;	    /* in fast recovery, */
	uint32_t fast_exit; /* ... until this TSN is acknowledged */
	uint64_t sent_at;   /* last data */
	uint64_t t3_at;
	uint32_t acked;	    /* bytes, by the SACK that is being read */
	uint8_t was_full, restart; /* when it arrived; restart T3 */
};

struct sctp_auth;
struct sctp_cookie;
struct sctp_asconf;
struct sctp_asconf_ack;
struct sctp_addr_list;

struct sctp_assoc {
	struct sctp_assoc *next; /* in the endpoint's chain */
	struct sctp_ep *ep;	 /* NULL: no longer in it */
	void *user;
	struct sctp_conf conf;

	/* what it is */
	uint8_t state; /* enum sctp_state */
	uint8_t down;  /* enum sctp_down */
	uint8_t data_hdr; /* bytes of the header of DATA, or I-DATA */
	uint8_t data_auth; /* ... of an AUTH chunk in front of it; 0 */
	uint16_t ext;  /* SCTP_X_*: extensions that both know */
	uint8_t wants_room;
	uint8_t instruction; /* the endpoint's */
	uint16_t lport, pport;
	uint32_t my_tag, peer_tag, tie_mine, tie_peer;
	uint32_t my_first, peer_first; /* initial TSNs */
	uint16_t nout, nin;
	uint32_t npaths, primary;
	uint32_t from_path; /* the last packet came from there */
	struct sctp_path path[SCTP_PATHS];
	uint32_t owes;
	uint32_t events;
	uint32_t errors; /* consecutive, of all paths */
	struct sctp_control *control, *control_tail;
	uint32_t ncontrols;
	unsigned char *cookie; /* to be echoed */
	uint32_t cookie_len;
	uint64_t echoed_at;    /* for the RTT, and staleness */
	uint32_t stale;	       /* how often the cookie was too old */
	uint32_t preservative; /* us, asked for in INIT */
	uint16_t cause;	       /* of the last ABORT, ERROR */
	uint16_t ncause;
	unsigned char *cause_data;

	/* RFC 4895 */
	struct sctp_auth *auth; /* NULL: not offered, or not agreed */
	struct sctp_keyring keys;

	/* RFC 5061 */
	struct ip_addr local;	/* ours, to which the peer sent first */
	struct sctp_asconf *asconf; /* our request, or NULL */
	uint32_t asconf_serial;	/* of our next one, until it is answered */
	uint32_t peer_asconf;	/* of the peer's next one */
	struct sctp_asconf_ack *asconf_ack; /* to the last one; or NULL */
	struct sctp_addr_list *changed; /* by the peer; or NULL */
	uint16_t addr_result;	/* of our last request; SCTP_E_* */
	uint8_t addr_what;
	uint32_t adaptation;	/* the peer's */

	/* RFC 6525 */
	struct sctp_reconf *reconf; /* our request, or NULL */
	uint32_t reconf_seq;	/* of our next one */
	uint32_t peer_reconf;	/* of the peer's next one */
	uint8_t answer[2];	/* to the last two of the peer, by number */
	uint32_t jumped_from;	/* our TSNs did, after a request: the next then */
	uint8_t jumped;
	uint32_t answer_tsns[2]; /* ... to a reset of TSNs: next of ours, peer's */
	uint64_t hold_until;	/* us: no new TSNs, the peer wants new ones */

	/* report.c: what the user is told */
	struct sctp_changed *changes, *changes_tail;
	uint32_t nchanges;
	struct sctp_seg *failed, *failed_tail;
	uint64_t abandoned[SCTP_PR_ROWS][2]; /* messages: not sent, sent */
	struct sctp_abandoned *abandoned_of; /* of each stream; NULL: none yet */
	uint32_t nabandoned; /* entries */

	/* sending */
	struct sctp_out_stream *out;
	struct sctp_seg *queue, *queue_tail;
	struct sctp_seg *aside, *aside_tail; /* they follow the open message */
	uint8_t aside_open;	/* ... the last of them has no end yet */
	uint32_t message;	/* number of the last */
	uint8_t scheduler;	/* enum sctp_scheduler */
	uint8_t new_packet;	/* ... nothing is in the packet yet */
	uint8_t stays;		/* ... the stream was chosen for this packet */
	uint16_t turn;		/* ... the stream that was chosen last */
	uint32_t active;	/* ... the next one in the circle; SCTP_NONE */
	uint64_t vtime;		/* ... of the stream chosen last */
	uint8_t open;		/* its end has not been sent by the user */
	uint8_t open_abandoned;
	struct sctp_info open_info;
	uint32_t open_message;	/* its number */
	uint32_t snd_bytes;	/* accepted, neither acked nor abandoned */
	struct sctp_tx *tx;	/* ring by TSN: [acked + 1, next_tsn) */
	uint32_t tx_size;	/* power of 2 */
	uint32_t next_tsn;
	uint32_t acked;		/* cumulative TSN of the peer */
	uint32_t peer_rwnd;	/* as in the last SACK */
	uint32_t advanced;	/* RFC 3758: Advanced.Peer.Ack.Point */
	uint32_t told;		/* ... as the last FORWARD TSN had it */
	uint32_t forward_path;	/* where the last FORWARD TSN went */
	/* derived */
	uint32_t flight;	/* bytes, of all paths */
	uint32_t nlost;		/* chunks */
	uint32_t lost_from;	/* the first of them, or before it */
	uint32_t burst;		/* packets of new data since the last event */
	uint32_t frag;		/* most bytes of a DATA chunk's data */
	uint8_t fast_now;	/* a fast retransmission may exceed cwnd */
	uint8_t probe;		/* of a closed window: one chunk is due */
	uint16_t stamp;		/* counts SACKs */
	uint32_t ngapped;	/* chunks acknowledged by gap blocks */

	/* receiving */
	struct sctp_in_stream *in;
	uint32_t cum;		/* cumulative TSN */
	uint32_t high;		/* highest received */
	uint64_t map[SCTP_MAP / 64]; /* TSNs received behind cum, a ring */
	struct sctp_rx *run, *run_tail; /* by TSN */
	struct sctp_rx *ready, *ready_tail;
	struct sctp_rx *tree;	/* what waits for other chunks: tree.c */
	uint32_t tree_salt;
	uint32_t nparts;	/* I-DATA: ... of these, not a message */
	struct sctp_rx *grown;	/* I-DATA: not complete, has grown last */
	uint8_t searched;	/* I-DATA: no message can be passed in parts */
	struct sctp_rx *held, *held_tail; /* ready after a partial message */
	uint8_t partial;	/* DATA: a part of a message is in ready; */
	uint32_t partial_next;	/* ... the TSN that continues it */
	struct sctp_rx *mark;	/* ... to tell the user that it is cut */
	uint16_t partial_sid;
	uint32_t partial_ssn;
	uint8_t partial_flags;
	uint32_t rcv_bytes;	/* held */
	uint32_t rcv_mem;	/* ... with overhead */
	uint32_t advertised;	/* of our window the peer knows so much */
	uint32_t dup[SCTP_DUPS];
	uint32_t ndups;
	uint32_t unacked;	/* packets with data since the last SACK */
	uint8_t any_data;	/* some was received */

	/* timers: us, 0: not running */
	uint64_t t1_at, t2_at, t5_at, sack_at;
	uint32_t t1_rto, t1_count;
	uint32_t t2_path;
	uint8_t shutdown_wanted; /* as soon as it is established */
	uint8_t half_closed; /* the peer has shut down, the user has not */
};

/* A chunk, parameter or cause that was received; within the packet. */
struct sctp_tlv {
	const unsigned char *p;
	uint32_t len; /* with header, without padding */
	uint16_t type;
	uint8_t flags;
};

/* What an INIT or INIT ACK says. */
struct sctp_init {
	uint32_t tag, rwnd, tsn, preservative; /* ms */
	uint16_t os, mis;
	uint16_t ext;
	uint8_t host_name, bad;
	uint8_t families; /* understood: 1 IPv4, 2 IPv6; 0: not said */
	uint32_t naddr;
	struct ip_addr addr[SCTP_PATHS];
	struct sctp_tlv cookie, host;
	struct sctp_tlv random, chunks, hmacs; /* RFC 4895; p NULL: none */
	uint32_t adaptation;
	uint32_t nreport; /* bytes of unrecognized parameters, to be told */
	unsigned char report[SCTP_ERROR_MOST];
};

/* A packet that is being composed. */
struct sctp_out {
	unsigned char *p;
	size_t n, most; /* bytes; most of the path */
	size_t size;	/* of p */
	int unsummed;
	const struct sctp_assoc *as; /* which says what is authenticated; NULL */
	size_t auth_at; /* the AUTH chunk; 0: none yet */
};

/* A packet that is being read. */
struct sctp_in {
	const struct sctp_env *env;
	struct sctp_ep *ep;
	const struct sctp_packet *pkt;
	struct sctp_packet *reply;
	uint16_t sport, dport;
	uint32_t vtag;
	struct sctp_assoc *as;
	int fresh, data, now; /* it has DATA; acknowledge that at once */
	int last; /* the chunk is the last of the packet */
	int auth; /* an AUTH chunk was read: 1; its code was wrong: -1 */
};

static inline struct sctp_tx *
sctp_tx_of(struct sctp_assoc *as, uint32_t tsn)
{
	return &as->tx[tsn & (as->tx_size - 1)];
}

static inline int
sctp_has(const struct sctp_assoc *as, uint32_t ext)
{
	return (as->ext & ext) != 0;
}

/* The type of chunks with data. */
static inline unsigned int
sctp_data_type(const struct sctp_assoc *as)
{
	return sctp_has(as, SCTP_X_IDATA) ? SCTP_C_I_DATA : SCTP_C_DATA;
}

/* The key of a message in the tree of what waits. */
static inline uint64_t
sctp_message_key(uint16_t sid, uint32_t flags, uint32_t ssn)
{
	return (uint64_t)sid << 33 |
		(uint64_t)((flags & SCTP_DATA_U) != 0) << 32 | ssn;
}

/* Numbers of messages of a stream have 16 bits, with I-DATA 32. */
static inline uint32_t
sctp_ssn_after(const struct sctp_assoc *as, uint32_t ssn)
{
	return sctp_has(as, SCTP_X_IDATA) ? ssn + 1 : (uint16_t)(ssn + 1);
}

static inline int
sctp_is_earlier(const struct sctp_assoc *as, uint32_t a, uint32_t b)
{
	return sctp_has(as, SCTP_X_IDATA) ? sctp_before(a, b) :
					    sctp_ssn_before(a, b);
}

/* A piece that will not be delivered, and has not failed yet. */
static inline void
sctp_seg_fail(struct sctp_seg *s)
{
	if (s->failed == 0)
		s->failed = s->sent != 0 ? SCTP_FAILED_SENT :
					   SCTP_FAILED_UNSENT;
}

/* assoc.c */
struct sctp_assoc *sctp_assoc_find(struct sctp_ep *ep,
	const struct ip_addr *peer, uint16_t pport);
struct sctp_assoc *sctp_assoc_calling(struct sctp_ep *ep, uint32_t tag,
	uint16_t pport);
struct sctp_assoc *sctp_assoc_new(const struct sctp_env *env,
	struct sctp_ep *ep, uint16_t pport);
void sctp_assoc_unlink(struct sctp_assoc *as);
void sctp_assoc_down(struct sctp_assoc *as, enum sctp_down why);
void sctp_assoc_forget_sent(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_assoc_forget_data(const struct sctp_env *env, struct sctp_assoc *as);
int sctp_assoc_streams(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t nout, uint32_t nin);
void *sctp_assoc_more(const struct sctp_env *env, void *old, uint16_t *n,
	uint32_t more, size_t size);
void sctp_assoc_my_tsn(struct sctp_assoc *as, uint32_t first);
void sctp_assoc_peer_tsn(struct sctp_assoc *as, uint32_t first);

/* audit.c */
const char *sctp_audit(struct sctp_assoc *as);

/* parse.c: 1: one; 0: the end; -1: cut off or too short */
int sctp_chunk_next(const unsigned char *p, size_t n, size_t *at,
	struct sctp_tlv *ret);
int sctp_param_next(const unsigned char *p, size_t n, size_t *at,
	struct sctp_tlv *ret);
int sctp_param_addr(const struct sctp_tlv *t, struct ip_addr *ret);
void sctp_init_parse(const struct sctp_tlv *c, struct sctp_init *ret);
int sctp_addr_eq(const struct ip_addr *a, const struct ip_addr *b);

/* compose.c */
void sctp_out_begin(struct sctp_out *o, unsigned char *p, size_t most,
	uint16_t sport, uint16_t dport, uint32_t vtag);
unsigned char *sctp_out_chunk(struct sctp_out *o, unsigned int type,
	unsigned int flags, size_t len);
size_t sctp_out_end(struct sctp_out *o, int instruction);
void sctp_out_widen(struct sctp_out *o, unsigned int type, size_t len);
size_t sctp_out_room(const struct sctp_out *o, unsigned int type);
size_t sctp_put_tlv(unsigned char *p, unsigned int type, const void *value,
	size_t n);
size_t sctp_put_addr(unsigned char *p, const struct ip_addr *a);
unsigned char *sctp_control_add(const struct sctp_env *env,
	struct sctp_assoc *as, uint32_t path, unsigned int type,
	unsigned int flags, size_t len);
void sctp_control_drop(const struct sctp_env *env, struct sctp_assoc *as);

/* cookie.c */
void sctp_keys_make(const struct sctp_env *env, struct sctp_ep *ep);
void sctp_cookie_sign(const struct sctp_env *env, struct sctp_ep *ep,
	struct sctp_cookie *ck);
int sctp_cookie_read(struct sctp_ep *ep, const struct sctp_tlv *c,
	struct sctp_cookie *ret);

/* init.c */
uint32_t sctp_offered(const struct sctp_conf *conf);
uint32_t sctp_agreed(const struct sctp_conf *conf, uint32_t peers);
void sctp_init_send(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o);
int sctp_init_wrong(const struct sctp_conf *conf, const struct sctp_init *i);
void sctp_init_received(struct sctp_in *in, const struct sctp_tlv *c);
void sctp_init_ack_received(struct sctp_in *in, const struct sctp_tlv *c);

/* handshake.c */
void sctp_cookie_echo_received(struct sctp_in *in, const struct sctp_tlv *c);
void sctp_cookie_ack_received(struct sctp_in *in);
void sctp_stale_received(struct sctp_in *in, uint32_t staleness);
void sctp_established(const struct sctp_env *env, struct sctp_assoc *as);

/* abort.c */
void sctp_reply_abort(struct sctp_in *in, uint32_t tag, int reflected,
	enum sctp_cause cause, const void *info, size_t n);
void sctp_abort_with(const struct sctp_env *env, struct sctp_assoc *as,
	enum sctp_down why, enum sctp_cause cause, const void *info, size_t n);
void sctp_violation(const struct sctp_env *env, struct sctp_assoc *as,
	const char *what);
void sctp_error_send(const struct sctp_env *env, struct sctp_assoc *as,
	enum sctp_cause cause, const void *info, size_t n);
void sctp_abort_received(struct sctp_in *in, const struct sctp_tlv *c);
void sctp_error_received(struct sctp_in *in, const struct sctp_tlv *c);

/* blue.c: packets of no association */
void sctp_out_of_the_blue(struct sctp_in *in);

/* send.c */
int sctp_has_new(const struct sctp_assoc *as);
void sctp_send_end(const struct sctp_env *env, struct sctp_assoc *as);
int sctp_tx_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path, int first);
void sctp_send_fewer(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t n);
int sctp_tx_room(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_tx_done(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_tx *tx);
void sctp_seg_done(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_seg *s, uint32_t n);
uint32_t sctp_window(const struct sctp_assoc *as);
int sctp_is_shut_out(const struct sctp_assoc *as);
void sctp_tx_write(const struct sctp_assoc *as, const struct sctp_tx *tx,
	uint32_t tsn, unsigned char *p);
void sctp_tx_sent(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_tx *tx, uint32_t tsn, uint32_t path);

/* retransmit.c */
void sctp_tx_lose(struct sctp_assoc *as, struct sctp_tx *tx, uint32_t tsn);
void sctp_tx_lose_all(struct sctp_assoc *as);
uint32_t sctp_first_lost(struct sctp_assoc *as);
int sctp_rtx_path(struct sctp_assoc *as);
int sctp_rtx_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path);
void sctp_t3_expired(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t path);

/* sack.c */
void sctp_sack_received(struct sctp_in *in, const struct sctp_tlv *c);
int sctp_is_delayed(const struct sctp_assoc *as, uint32_t cum);
void sctp_cum_acked(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t cum);

/* congestion.c */
void sctp_cc_begin(struct sctp_path *pa);
uint32_t sctp_cc_chunk(const struct sctp_path *pa);
void sctp_cc_acked(struct sctp_path *pa, uint32_t bytes, int was_full);
void sctp_cc_fast(struct sctp_path *pa, uint32_t exit);
void sctp_cc_timeout(struct sctp_path *pa, uint32_t hdr);
void sctp_cc_idle(struct sctp_path *pa, uint64_t now);

/* rto.c */
void sctp_rto_begin(const struct sctp_conf *c, struct sctp_path *pa);
void sctp_rto_measured(const struct sctp_conf *c, struct sctp_path *pa,
	uint64_t rtt);
void sctp_rto_backoff(const struct sctp_conf *c, struct sctp_path *pa);

/* path.c */
void sctp_path_init(const struct sctp_assoc *as, struct sctp_path *pa,
	const struct ip_addr *a);
int sctp_path_add(struct sctp_assoc *as, const struct ip_addr *a,
	int confirmed);
void sctp_path_remove(struct sctp_assoc *as, uint32_t path);
uint32_t sctp_path_confirmed(const struct sctp_assoc *as);
void sctp_path_confirm(struct sctp_assoc *as, uint32_t path);
void sctp_path_prefer(struct sctp_assoc *as, uint32_t path);
uint32_t sctp_path_find(const struct sctp_assoc *as, const struct ip_addr *a);
uint32_t sctp_path_for_data(const struct sctp_assoc *as);
uint32_t sctp_path_other(const struct sctp_assoc *as, uint32_t not);
void sctp_path_error(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t path);
void sctp_path_alive(struct sctp_assoc *as, uint32_t path);
void sctp_path_sizes(struct sctp_assoc *as);
uint32_t sctp_path_room(const struct sctp_path *pa);

/* heartbeat.c */
void sctp_heartbeat_begin(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_heartbeat_expired(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t path);
void sctp_heartbeat_plan(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_path *pa);
int sctp_heartbeat_is_owed(const struct sctp_assoc *as, uint32_t path);
int sctp_heartbeat_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path);
void sctp_heartbeat_received(struct sctp_in *in, const struct sctp_tlv *c);
void sctp_heartbeat_ack_received(struct sctp_in *in, const struct sctp_tlv *c);

/* receive.c */
void sctp_data_received(struct sctp_in *in, const struct sctp_tlv *c);
void sctp_data_end(struct sctp_in *in);
void sctp_sack_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o);
uint32_t sctp_rcv_window(const struct sctp_assoc *as);
void sctp_rcv_skip(struct sctp_assoc *as, uint32_t cum);
void sctp_rcv_read(struct sctp_assoc *as);

/* reassembly.c; sctp_rx_add(): 0 or the text of a violation */
const char *sctp_rx_add(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx);
void sctp_rx_partial(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_rx_skip_runs(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t cum);
struct sctp_rx *sctp_rx_make(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t n);
void sctp_rx_skip_stream(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid, uint32_t ssn);
void sctp_rx_reset_stream(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid);
void sctp_rx_release(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx);
void sctp_rx_release_all(const struct sctp_env *env, struct sctp_assoc *as);

/* deliver.c; sctp_rx_deliver(): as sctp_rx_add() */
const char *sctp_rx_deliver(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx);
void sctp_rx_append(struct sctp_rx **first, struct sctp_rx **last,
	struct sctp_rx *rx);
void sctp_rx_turn(struct sctp_assoc *as, uint16_t sid);
void sctp_rx_partial_end(const struct sctp_env *env, struct sctp_assoc *as);

/* shutdown.c */
void sctp_shutdown_look(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_shutdown_received(struct sctp_in *in, const struct sctp_tlv *c);
void sctp_shutdown_ack_received(struct sctp_in *in);
void sctp_shutdown_complete_received(struct sctp_in *in);
void sctp_t2_begin(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_t2_expired(const struct sctp_env *env, struct sctp_assoc *as);

/* forward.c: RFC 3758 */
void sctp_pr_look(const struct sctp_env *env, struct sctp_assoc *as);
int sctp_pr_is_over(const struct sctp_env *env, const struct sctp_assoc *as,
	const struct sctp_seg *s, uint32_t sends);
int sctp_pr_abandon(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid, uint32_t message);
void sctp_forward_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o);
void sctp_forward_received(struct sctp_in *in, const struct sctp_tlv *c);

#include "extensions.h"

#endif
