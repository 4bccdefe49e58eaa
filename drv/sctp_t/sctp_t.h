/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * sctp - the device of native SCTP: the engine (drv/sctp) as a transport
 * provider, in the domain's memory.
 *
 * Objects.  struct sctpt, one for each stream, which begins with struct tpi.
 * struct sctpt_conn, what the engine works on: an endpoint of the engine and at
 * most one association.  struct sctpt_slot, the name under which packets find a
 * conn: by ports and verification tag.  A slot stays in its chain for ever and
 * is reused; `gen' is odd while it is in use.
 *
 * A bound endpoint has a slot with the peer's port 0, its `home', whose conn
 * answers INITs and has no association.  Each association has a slot and a conn
 * of its own, so work on one association does not exclude work on another.  It
 * exists until it is over and its user has been told: it outlives a stream that
 * was closed with accepted data, and it exists before a listener's user has
 * accepted it.
 *
 * Turns.  One thread at a time works on a conn: the owner of the slot's turn.
 * The turn is only tried.  Work that finds it taken is left where its owner
 * finds it: packets in the slot's inbox, all else in `missed'.  The owner looks
 * there once more after it has left the turn (serve.c).  While a thread has the
 * turn it sends no packet and calls no other stream's procedures; it may lay
 * messages on the read queue of the conn's user (<str/tpi.h>, upcalls).
 *
 * Packets.  What the engine composes in the turn is sent after it.  A packet to
 * an address of this host goes into the inbox of the slot that it names, and
 * the sending thread serves that slot next.  All others go to a wire.
 *
 * Locks.  A turn; then the provider's lock, for the chains of slots; then an
 * endpoint's.  A thread that closes a stream or unbinds it waits for the turn,
 * so a thread with the turn may use conn->user and conn->listener.  So does one
 * that changes the parameters of a bound endpoint, or repairs a T_CONN_RES.
 *
 * Crash.  `busy' of a slot is set during a turn.  A thread that takes a turn
 * and finds it set knows that its last owner was killed inside: the association
 * may be half changed.  It is aborted: the peer gets an ABORT, the user a
 * T_DISCON_IND, and the memory that the engine had allocated for it, which is
 * on a list of the conn, is freed (conn.c).  What passes from a message to the
 * association, or back, does so inside a turn.  So accepted data arrives, or
 * both users are told.  A conn exists until its last packet, usually an ABORT,
 * has been sent: if the thread is killed before, the slot's timer makes another
 * thread send an ABORT.
 */
#ifndef DRV_SCTP_T_H
#define DRV_SCTP_T_H

#include <sys/types.h>
#include <sys/errno.h>
#include <sys/kmem.h>
#include <sys/ksynch.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/strsun.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <sys/xti_inet.h>
#include <sys/sctpio.h>
#include <str/annot.h>
#include <str/builtin.h>
#include <str/driver.h>
#include <str/hold.h>
#include <str/ip.h>
#include <str/tpi.h>
#include <str/types.h>
#include <str/wire.h>
#include <sys/ddi.h>

#include "../canon.h"
#include "../sctp/engine.h"
#include "../sctp/peek.h"

#define SCTPT_ID 0x7363
#define SCTPT_NPI_ID 0x736e
#define SCTPT_HASH 4096u
#define SCTPT_HOMES 1024u
#define SCTPT_FIRST 64u	      /* minor that a clone open may choose */
#define SCTPT_PROTO 132u
#define SCTPT_ROOM 64u	      /* for an IP header in front of a packet */
#define SCTPT_LO_MTU 32512u   /* a packet with its header in one block */
#define SCTPT_HIWAT 65536u    /* of the read queue: data taken ahead */
#define SCTPT_SNDBUF 262144
#define SCTPT_RCVBUF 262144
#define SCTPT_DDATA 512	      /* bytes of user data in an ABORT */
#define SCTPT_QLEN 1024u
#define SCTPT_BACKLOG 128u    /* further callers, of whom the user has not been
			       * told */
#define SCTPT_WISHES 16u      /* changes of addresses that wait */
#define SCTPT_INBOX 4096u     /* packets that wait for a turn; more are lost */
#define SCTPT_LATE 128u	      /* callers of a listener that wait for a place */
#define SCTPT_LATE_SIZE 2048u /* ... with a COOKIE ECHO of so many bytes */
#define SCTPT_PORT_FIRST 49152u /* ports that are chosen */

struct sctpt;
struct sctpt_conn;

/* The name of a conn; never freed. */
struct sctpt_slot {
	struct sctpt_slot *next;   /* [I] in its chain */
	struct sctpt_state *st;	   /* [I] */
	volatile uint32_t gen;	   /* [A] odd: in use */
	uint32_t home;		   /* [I] it is in the chains of homes */
	kmutex_t turn;
	volatile uint32_t busy;	   /* of the turn: set during it */
	volatile uint32_t missed;  /* [A] work was left that no turn has done */
	volatile uint64_t missed_at; /* [A] us, when, or when the owner was
				    * looked at; 0: it has been seen */
	volatile uint32_t full;	   /* [A] data waits for room above, or an
				    * indication for memory */
	volatile uint32_t blocked; /* [A] a request waits for the turn or for
				    * room */
	mblk_t *volatile inbox;	   /* [A] packets, the last one first; */
	volatile uint32_t npackets; /* [A] ... about so many */
	mblk_t *volatile late;	   /* of the turn, of a home: late.c */
	uint16_t lport, pport;	   /* [I] host order; a home's pport is 0 */
	volatile uint32_t tag;	   /* [A] of packets to us */
	uint32_t seq;		   /* [I] greater for later ones */
	uint32_t npeer;
	uint32_t peer[SCTP_PATHS]; /* [A] hashes of the peer's addresses that
				    * are confirmed */
	struct ip_addr local;	   /* [I] its home's address; len 0: any */
	struct sctpt_conn *conn;   /* of the turn */
	/* Data without packets: near.c */
	struct sctpt *volatile user; /* [A] takes data so; NULL */
	struct str_ref uref;	   /* [A] its stream, if `user' is the same */
	volatile uint32_t idle;	   /* [A] all that was accepted is acknowledged */
	volatile uint32_t bare;	   /* [G] of `user', in the turn: its data goes
				    * without packets, so SACKs go at once */
	volatile uint32_t fgen;	   /* [A] gen, if the peer may send so: */
	struct str_ref fref;	   /* [A] the peer's stream, ... */
	queue_t *fwq;		   /* [A] ... and its write queue */
	struct str_timer *timer;   /* [I] */
	volatile uint64_t armed;   /* [A] us, when the timer is due; 0: it may be
				    * stopped */
};

/* In front of memory that the engine allocates for a conn. */
struct sctpt_blk {
	struct sctpt_blk *next, *prev;
	size_t n; /* bytes, with this */
	uint64_t pad;
};

struct sctpt_conn {
	struct sctpt_slot *slot;
	struct sctp_ep ep;
	struct sctp_assoc *as;
	struct sctpt *user;	  /* whose connection it is, or NULL */
	struct sctpt *listener;	  /* its user has been told, not answered */
	struct str_ref ref;	  /* the stream of user or listener */
	struct sctpt_blk *blocks; /* by next; prev is a hint */
	uint32_t ours;		  /* our user has released */
	uint32_t released;	  /* the peer has shut down, ... */
	uint32_t said;		  /* ... and our user knows */
	uint32_t calling;	  /* no T_CONN_CON yet */
	uint32_t gone;		  /* its stream has been closed */
	uint32_t last;		  /* its last packets are being sent */
	uint32_t id;		  /* among the user's associations */
	uint64_t active_at;	  /* us, when data was sent or received last */
	/* notes for the user: note.c */
	uint32_t told_up;	  /* SCTPIO_COMM_UP has been told */
	uint32_t told_shut;	  /* SCTPIO_EV_SHUTDOWN has been told */
	uint32_t wet;		  /* SCTPIO_EV_DRY is to be told */
	/* changes of addresses that wait for the one under way: asconf.c */
	uint32_t nwish;
	struct {
		uint32_t what; /* SCTP_ADDR_* */
		struct ip_addr addr;
	} wish[SCTPT_WISHES];
	struct ip_addr asked;	  /* the one under way, */
	uint32_t asking;	  /* ... if there is one */
	uint32_t change;	  /* T_SCTP_CHANGE */
	/* copies for the ABORT after a crash */
	uint32_t peer_tag;
	struct ip_addr peer, from; /* the peer's address, and ours */
	uint16_t encap;		   /* the UDP port of its last good packet; 0 */
};

struct sctpt {
	struct tpi tpi;
	struct sctpt_state *st;
	/* [G] to change; read by the read service procedure, too */
	struct sctpt_slot *volatile home; /* bound */
	struct sctpt_slot *volatile as;	  /* connected; may be over */
	uint32_t asgen;		 /* [G] its gen then */
	uint32_t family;	 /* of its addresses */
	struct ip_addr from;	 /* [G] our address of the connection */
	struct sctp_conf conf;	 /* [G] for new associations */
	struct sctp_keyring keys; /* likewise: auth.c */
	uint32_t ppid;		 /* [G] of messages: network order */
	uint32_t sid;		 /* [G] stream of messages */
	volatile uint32_t recvopt; /* [A] data comes with options */
	volatile uint32_t nout;	   /* [A] streams for sending, connected */
	/* Data without packets: near.c */
	struct sctpt_slot *to;	   /* [G] the peer's slot, if it is near; */
	uint32_t togen;		   /* [G] its gen then */
	uint32_t longer;	   /* [G] messages until the next try */
	kmutex_t door;		   /* of the thread that gives us data */
	volatile uint32_t late;	   /* [A] some comes, perhaps after the end */
	volatile uint32_t check;   /* [A] T_SCTP_LOCHECK */
	/* Sockets: socket.c, note.c */
	volatile uint32_t sock;	   /* [A] it is a socket's */
	volatile uint32_t events;  /* [A] SCTPIO_EV_* that its user wants */
	uint32_t keep[SCTPIO_KEEPS]; /* [G] the user's words */
	struct sctpt_many *volatile many; /* [A] many.c; NULL: connections */
	volatile uint32_t stuck; /* [A] `full' of an association was set */
	volatile uint32_t autoclose; /* [A] seconds without data; 0: for ever */
};

struct sctpt_state {
	struct tpi_prov prov;
	struct canon_minors minors;
	volatile uint32_t port; /* [A] the last one chosen */
	volatile uint32_t seq;	/* [A] of slots */
	struct wire *volatile lo;     /* [A] wire_lo(), when it has been asked */
	const void *volatile raw;     /* [A] ... the raw endpoints' table */
	volatile uint64_t count[SCTP_NCOUNTS]; /* [A] of conns that are gone */
	struct sctpt_slot *volatile home[SCTPT_HOMES];
	struct sctpt_slot *volatile chain[SCTPT_HASH];
};

static inline struct sctpt *
sctpt_of(struct tpi *tp)
{
	return (struct sctpt *)(void *)tp;
}

static inline uint64_t
sctpt_now(void)
{
	return str_now() / 1000;
}

static inline int
sctpt_in_use(const struct sctpt_slot *sl)
{
	return (str_load_acq(&sl->gen) & 1) != 0;
}

/* A packet in a message: what stands in front of the SCTP packet. */
struct sctpt_head {
	struct ip_addr src, dst;
	uint16_t encap; /* UDP port of the other host: ip_hdr.encap */
};

struct sctpt_list {
	mblk_t *first, *last; /* by b_next */
	uint16_t encap;	      /* of packets that are put on it */
};

/* Slots that the thread serves next. */
#define SCTPT_WORK 8u
struct sctpt_work {
	mblk_t *spare; /* a block in which packets are composed, or NULL */
	uint32_t n;
	struct sctpt_slot *slot[SCTPT_WORK];
};

/* option.c */
extern const struct tpi_opt sctpt_opts[];
#define SCTPT_NOPT 39u
int sctpt_getopt(struct tpi *tp, const struct tpi_opt *o, void *val,
	unsigned int *len);
int sctpt_setopt(struct tpi *tp, const struct tpi_opt *o, const void *val,
	unsigned int len);
void sctpt_conf(struct sctp_conf *c);
int sctpt_lingers(const struct sctpt *u);
void sctpt_linger(struct sctpt *u, uint32_t *ret_on, uint32_t *ret_secs);
void sctpt_set_linger(struct sctpt *u, uint32_t on, uint32_t secs);
void sctpt_tell_home(struct sctpt *u);
void sctpt_set_rcvbuf(queue_t *rq, t_scalar_t n);

/* bind.c, call.c, close.c, data.c: the operations */
int sctpt_is_ours(struct sctpt_state *st, const struct ip_addr *a);
int sctpt_bind(struct tpi *tp, const struct tpi_buf *want, int any,
	unsigned int *qlen, struct tpi_addr *got);
void sctpt_listen(struct sctpt *u, int on);
int sctpt_unbind(struct tpi *tp);
void sctpt_addrs(struct tpi *tp, struct tpi_addr *local,
	struct tpi_addr *remote);
int sctpt_begin(struct sctpt_slot *sl);
void sctpt_end(struct sctpt_conn *c, mblk_t *data);
int sctpt_enter(struct sctpt *u, int sure, struct sctpt_conn **ret);
int sctpt_enter_wait(struct sctpt *u, uint32_t id, struct sctpt_conn **ret);
int sctpt_enter_member(struct sctpt *u, uint32_t id, int sure,
	struct sctpt_conn **ret);
int sctpt_many_connect(struct sctpt *u, const struct ip_addr *to, uint32_t n,
	uint16_t port, mblk_t **ret);
int sctpt_many_abort(struct sctpt *u, uint32_t id);
int sctpt_many_peel(struct sctpt *u, uint32_t id, uint32_t acceptor);
int sctpt_connect(struct tpi *tp, const struct tpi_buf *to, mblk_t *data);
int sctpt_accept(struct tpi *tp, struct tpi *to, struct tpi_ind *in,
	mblk_t *data);
int sctpt_disconnect(struct tpi *tp, struct tpi_ind *in, mblk_t *data);
int sctpt_connected(struct tpi *tp);
int sctpt_waits(struct tpi *tp, struct tpi_ind *in);
int sctpt_give(struct sctpt_conn *c, const struct sctp_env *env, mblk_t *bp,
	const struct sctp_info *info);
int sctpt_sndinfo(const struct sctpio_sndinfo *s, struct sctp_info *info);
int sctpt_data(struct tpi *tp, mblk_t *mp, int flags);
int sctpt_exdata(struct tpi *tp, mblk_t *mp, int flags);
int sctpt_optdata(struct tpi *tp, const struct tpi_buf *opts, mblk_t *mp,
	int flags);
void sctpt_data_rest(struct sctpt *u, struct sctpt_conn *c,
	const struct sctp_env *env);
int sctpt_ordrel(struct tpi *tp, mblk_t *data);
int sctpt_release(struct sctpt *u);
void sctpt_close(struct tpi *tp);

/* driver.c */
struct sctpt_state *sctpt_state(void);
void sctpt_timer(void *arg);
extern const struct tpi_ops sctpt_ops;

/* addr.c */
int sctpt_addr_of(const struct tpi_buf *b, struct ip_addr *ret, uint32_t most,
	uint32_t *ret_n, uint16_t *ret_port);
uint32_t sctpt_addr_put(unsigned char *to, const struct ip_addr *a,
	uint16_t port, uint32_t family);
int sctpt_addr_eq(const struct ip_addr *a, const struct ip_addr *b);
uint32_t sctpt_addr_hash(const struct ip_addr *a);
int sctpt_addr_any(const struct ip_addr *a);
struct wire *sctpt_lo(struct sctpt_state *st);
struct wire *sctpt_route(struct sctpt_state *st, const struct ip_addr *dst,
	const struct ip_addr *own, struct ip_addr *ret_src, uint32_t *ret_mtu);

/* slot.c */
struct sctpt_slot *sctpt_home_find(struct sctpt_state *st, uint16_t port,
	const struct ip_addr *dst);
struct sctpt_slot *sctpt_slot_find(struct sctpt_state *st, uint16_t lport,
	uint16_t pport, uint32_t tag, const struct ip_addr *src,
	const struct ip_addr *dst);
struct sctpt_slot *sctpt_slot_make(struct sctpt_state *st, int home,
	uint16_t lport, uint16_t pport);
int sctpt_port_free(struct sctpt_state *st, uint16_t port,
	const struct ip_addr *a);
int sctpt_turn(struct sctpt_slot *sl, int sure);
int sctpt_is_doubtful(struct sctpt_slot *sl);
void sctpt_turn_wait(struct sctpt_slot *sl);
int sctpt_turn_end(struct sctpt_slot *sl);
void sctpt_turn_leave(struct sctpt_slot *sl);
void sctpt_soon(struct sctpt_slot *sl);
void sctpt_arm(struct sctpt_slot *sl, uint64_t at, uint64_t now);
void sctpt_expect(struct sctpt_slot *sl);

/* conn.c */
void sctpt_env(struct sctp_env *env, struct sctpt_conn *c);
struct sctpt_conn *sctpt_conn_make(const struct sctp_conf *conf, uint16_t port);
void sctpt_conn_name(struct sctpt_conn *c, struct sctpt_slot *sl);
void sctpt_conn_unname(struct sctpt_slot *sl);
void sctpt_conn_free(struct sctpt_state *st, struct sctpt_conn *c);
void sctpt_conn_mend(struct sctpt_state *st, struct sctpt_slot *sl,
	struct sctpt_list *out);
void sctpt_conn_abort(const struct sctpt_conn *c, struct sctpt_list *out);
void sctpt_slot_close(struct sctpt_state *st, struct sctpt_slot *sl);
void sctpt_tell_end(struct sctpt_conn *c, int error, mblk_t *data);
int sctpt_hold(struct sctpt_conn *c, struct str_hold *h);
void sctpt_unhold(struct str_hold *h);

/* serve.c */
void sctpt_serve(struct sctpt_slot *sl, int sure);
void sctpt_serve_owned(struct sctpt_slot *sl, int begun);
void sctpt_work_add(struct sctpt_work *w, struct sctpt_slot *sl);
void sctpt_work_do(struct sctpt_work *w, int sure);

/* change.c: streams */
int sctpt_reset(struct sctpt *u, const struct tpi_buf *arg);
int sctpt_add(struct sctpt *u, const struct sctpio_add *a);
int sctpt_value(struct sctpt *u, struct sctpio_value *v, mblk_t **ret);
int sctpt_abandoned(struct sctpt *u, struct sctpio_abandoned *a, mblk_t **ret);
void sctpt_changes(struct sctpt_conn *c, const struct sctp_env *env);
void sctpt_failures(struct sctpt_conn *c, const struct sctp_env *env);

/* request.c */
int sctpt_request(struct sctpt *u, unsigned int name, const void *val,
	unsigned int len);
t_scalar_t sctpt_change_state(struct sctpt *u);
void sctpt_change_done(struct sctpt_conn *c, const struct sctp_change *ch);

/* socket.c */
int sctpt_ctl(struct tpi *tp, int cmd, const struct tpi_buf *arg,
	mblk_t **ret);
void sctpt_sock_inherit(const struct sctpt *from, struct sctpt *to);

/* auth.c */
void sctpt_keys_free(struct sctpt *u);
int sctpt_key(struct sctpt *u, const struct tpi_buf *arg, mblk_t **ret);
int sctpt_chunks(struct sctpt *u, const struct sctpio_word *w, mblk_t **ret);
void sctpt_note_agreed(struct sctpt_conn *c);
void sctpt_note_key(struct sctpt_conn *c);

/* asconf.c */
int sctpt_read_addrs(const struct sctpio_addrs *o, struct ip_addr *a,
	uint16_t *port);
int sctpt_bindx(struct sctpt *u, const struct sctpio_addrs *o);
int sctpt_peer_primary(struct sctpt *u, const struct sctpio_addrs *o);
void sctpt_addr_answered(struct sctpt_conn *c, const struct sctp_env *env);
void sctpt_note_addrs(struct sctpt_conn *c);

/* many.c */
#define SCTPT_ONE 3u /* number of an endpoint's only association */
int sctpt_many_begin(struct sctpt *u);
int sctpt_many_add(struct sctpt *u, struct sctpt_conn *c);
struct sctpt_slot *sctpt_many_slot(const struct sctpt *u, uint32_t id);
void sctpt_many_forget(struct sctpt *u, uint32_t id);
struct sctpt_slot *sctpt_many_next(const struct sctpt *u, uint32_t *at,
	const void **pos);
uint32_t sctpt_many_id(const void *pos);
void sctpt_many_end(struct sctpt *u);
void sctpt_many_serve(struct sctpt *u);
void sctpt_many_rest(struct sctpt *u);
uint64_t sctpt_many_idle(struct sctpt_conn *c, const struct sctp_env *env);
void sctpt_many_report(struct sctpt *u, int on);
int sctpt_many_find(struct sctpt *u, const struct ip_addr *a, uint16_t port,
	mblk_t **ret);
int sctpt_many_list(struct sctpt *u, mblk_t **ret);
int sctpt_many_unitdata(struct tpi *tp, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp);
mblk_t *sctpt_unit(const struct sctpt_conn *c, uint32_t name, const void *val,
	size_t len);

/* note.c */
void sctpt_note_up(struct sctpt_conn *c);
void sctpt_note_shut(struct sctpt_conn *c);
void sctpt_note_down(struct sctpt_conn *c, int error, uint32_t state);
void sctpt_note_events(struct sctpt_conn *c, uint32_t ev);
int sctpt_note_cut(struct sctpt_conn *c, const struct sctp_info *info);
int sctpt_wants(const struct sctpt_conn *c, uint32_t event);
void sctpt_note(struct sctpt_conn *c, struct sctpio_note *n, const void *data,
	size_t len);

/* up.c */
void sctpt_events(struct sctpt_conn *c, const struct sctp_env *env);
int sctpt_is_full(const struct sctpt_conn *c);
void sctpt_wait_room(struct sctpt_conn *c);
void sctpt_count(const struct sctpt_conn *c, struct sctpt *u);
int sctpt_conn_ind(struct sctpt_conn *c, const struct sctp_env *env);

/* near.c */
#define SCTPT_FAR (-1)
void sctpt_near_begin(struct sctpt *u);
int sctpt_near_is(const struct sctpt *u);
int sctpt_near_data(struct sctpt *u, mblk_t *mp);
void sctpt_near_room(struct sctpt *u);
void sctpt_near_turn(struct sctpt_slot *sl, struct sctpt_conn *c, int there);
void sctpt_near_in_end(struct sctpt_conn *c);
void sctpt_near_out_end(struct sctpt_conn *c);
int sctpt_near_quiet(struct sctpt *u);
void sctpt_near_stop(struct sctpt *u);
void sctpt_near_watched(void);

/* packet.c */
int sctpt_is_watched(struct sctpt_state *st);
mblk_t *sctpt_packet(size_t n);
void sctpt_collect(struct sctpt_conn *c, const struct sctp_env *env,
	struct sctpt_list *out, struct sctpt_work *w);
void sctpt_append(struct sctpt_list *l, const struct sctp_packet *pkt);
mblk_t *sctpt_take_inbox(struct sctpt_slot *sl);

/* late.c */
int sctpt_late_put(struct sctpt_slot *home, mblk_t *mp);
void sctpt_late_abort(struct sctpt_slot *home, mblk_t *mp);
mblk_t *sctpt_late_take(struct sctpt_slot *home);
void sctpt_late_place(struct sctpt *u);

void sctpt_send(struct sctpt_state *st, struct sctpt_list *l,
	struct sctpt_work *w);
int sctpt_pass(struct sctpt_state *st, mblk_t *mp, struct sctpt_work *w);
uint16_t sctpt_encap_of(const mblk_t *mp);
void sctpt_packet_of(mblk_t *mp, struct sctp_packet *ret);

#endif
