/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Notes: what has happened to an association, as messages for the user of a
 * socket (<sys/sctpio.h>).
 *
 * A note is a T_OPTDATA_IND with the option T_SCTP_NOTE.  It is laid on the read
 * queue in the turn, as data is, so it comes behind the data that came before
 * it.  Only notes that the user wants are made.  Without memory a note is lost.
 */
#include "sctp_t.h"
#include "../sctp/wire_format.h"

/* What the user knows of a path, in its word: the state, plus 1, and this. */
#define TOLD_STATE 0x7fu
#define TOLD_CONFIRMED 0x80u

/* sctpt_wants - does the user of @c want notes of @event? */
int
sctpt_wants(const struct sctpt_conn *c, uint32_t event)
{
	return c->user != NULL && c->user->sock &&
		(str_load(&c->user->events) & event) != 0;
}

/* sctpt_note - lay @n, and @len bytes of data, on the user's read queue */
void
sctpt_note(struct sctpt_conn *c, struct sctpio_note *n, const void *data,
	size_t len)
{
	struct t_opthdr h = {.len = sizeof(h) + sizeof(*n),
		.level = T_INET_SCTP, .name = T_SCTP_NOTE,
		.status = T_SUCCESS};
	struct T_optdata_ind oi = {.PRIM_type = T_OPTDATA_IND,
		.OPT_length = (t_scalar_t)h.len, .OPT_offset = sizeof(oi)};
	int many = c->user->many != NULL;
	mblk_t *mp;

	n->assoc = c->id;
	mp = many ? sctpt_unit(c, T_SCTP_NOTE, n, sizeof(*n)) :
		    allocb(sizeof(oi) + h.len, BPRI_HI);
	if (mp == NULL)
		return;
	if (!many) {
		DB_TYPE(mp) = M_PROTO;
		bcopy(&oi, mp->b_wptr, sizeof(oi));
		bcopy(&h, mp->b_wptr + sizeof(oi), sizeof(h));
		bcopy(n, mp->b_wptr + sizeof(oi) + sizeof(h), sizeof(*n));
		mp->b_wptr += sizeof(oi) + h.len;
	}
	if (len != 0) {
		mp->b_cont = canon_block(data, len);
		if (mp->b_cont == NULL) {
			freemsg(mp);
			return;
		}
	}
	/* behind what has come without packets */
	sctpt_near_in_end(c);
	if ((many ? tpi_unitdata_force(&c->user->tpi, mp) :
		    tpi_data_force(&c->user->tpi, mp, 0, 0)) != 0)
		freemsg(mp);
}

/* The first cause in the peer's ABORT, as it was in there; bytes. */
static uint32_t
put_cause(const struct sctpt_conn *c, unsigned char *to, size_t room)
{
	const unsigned char *p;
	uint32_t cause;
	size_t n;

	if (sctp_down_reason(c->as) != SCTP_DOWN_PEER)
		return 0;
	cause = (uint32_t)sctp_peer_cause(c->as, &p, &n);
	if (cause == SCTP_E_NONE)
		return 0;
	if (n > room - 4)
		n = room - 4;
	sctp_put16(to, cause);
	sctp_put16(to + 2, (uint32_t)n + 4);
	if (n != 0)
		bcopy(p, to + 4, n);
	return (uint32_t)n + 4;
}

static void
assoc_note(struct sctpt_conn *c, uint32_t state, int error)
{
	struct sctpio_note n = {.event = SCTPIO_EV_ASSOC, .state = state,
		.error = (uint32_t)error};
	unsigned char cause[4 + 512];
	uint16_t out, in;

	if (!sctpt_wants(c, SCTPIO_EV_ASSOC))
		return;
	sctp_streams(c->as, &out, &in);
	n.ostreams = out;
	n.istreams = in;
	n.len = state == SCTPIO_COMM_LOST || state == SCTPIO_COMM_FAILED ?
		put_cause(c, cause, sizeof(cause)) : 0;
	sctpt_note(c, &n, cause, n.len);
}

/* sctpt_note_up - the association is the user's now */
void
sctpt_note_up(struct sctpt_conn *c)
{
	c->told_up = 1;
	c->wet = 1;
	assoc_note(c, SCTPIO_COMM_UP, 0);
	sctpt_note_agreed(c);
}

/* sctpt_note_down - the association is over: SCTPIO_COMM_* */
void
sctpt_note_down(struct sctpt_conn *c, int error, uint32_t state)
{
	assoc_note(c, state, error);
}

/* sctpt_note_shut - the peer has shut down, and its data is with the user */
void
sctpt_note_shut(struct sctpt_conn *c)
{
	struct sctpio_note n = {.event = SCTPIO_EV_SHUTDOWN};

	if (c->told_shut || !sctpt_wants(c, SCTPIO_EV_SHUTDOWN))
		return;
	c->told_shut = 1;
	/* the answer to our own shutdown is none of the peer's */
	if (!c->ours)
		sctpt_note(c, &n, NULL, 0);
}

/* sctpt_note_cut - the rest of a message will not come.  Return: 1. */
int
sctpt_note_cut(struct sctpt_conn *c, const struct sctp_info *info)
{
	struct sctpio_note n = {.event = SCTPIO_EV_CUT, .sid = info->sid,
		.ssn = info->ssn};

	if (sctpt_wants(c, SCTPIO_EV_CUT))
		sctpt_note(c, &n, NULL, 0);
	return 1;
}

/* Has path @i changed since the user was told? */
static void
path_note(struct sctpt_conn *c, uint32_t i)
{
	struct sctpio_note n = {.event = SCTPIO_EV_PATH};
	struct ip_addr a;
	int confirmed;
	uint32_t state = sctp_path_state(c->as, i, &a, &confirmed);
	uint8_t *told = sctp_path_word(c->as, i), was = *told;

	*told = (uint8_t)(state + 1) |
		(confirmed ? (uint8_t)TOLD_CONFIRMED : 0);
	if (*told == was || !sctpt_wants(c, SCTPIO_EV_PATH))
		return;
	/* an address that was confirmed from the beginning is no news */
	if (was == 0 && (state == SCTP_PATH_ACTIVE))
		return;
	(void)sctpt_addr_put((unsigned char *)&n.addr, &a, c->slot->pport,
		c->user->family);
	n.state = state;
	n.confirmed = (was & TOLD_STATE) == (*told & TOLD_STATE);
	sctpt_note(c, &n, NULL, 0);
}

/* sctpt_note_events - other events, SCTP_EV_* of the engine, and dryness */
void
sctpt_note_events(struct sctpt_conn *c, uint32_t ev)
{
	struct sctpio_note n = {.event = 0};
	const unsigned char *p;
	uint32_t i;
	size_t len;

	sctpt_note_addrs(c);
	for (i = 0; i < sctp_path_count(c->as); i++)
		path_note(c, i);
	/* the peer decides how many there are: a full queue gets no more */
	if ((ev & SCTP_EV_ERROR) != 0 && sctpt_wants(c, SCTPIO_EV_ERROR) &&
		!sctpt_is_full(c)) {
		n.event = SCTPIO_EV_ERROR;
		n.error = (uint32_t)sctp_peer_cause(c->as, &p, &len);
		n.len = (uint32_t)len;
		sctpt_note(c, &n, p, len);
	}
	if (c->wet && sctp_is_idle(c->as)) {
		c->wet = 0;
		n = (struct sctpio_note){.event = SCTPIO_EV_DRY};
		if (sctpt_wants(c, SCTPIO_EV_DRY))
			sctpt_note(c, &n, NULL, 0);
	}
}
