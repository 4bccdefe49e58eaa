/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Taps: streams that see the packets of a wire, or of all: ip(4), strtap(8).
 * On a wire of frames they see the messages of ARP, too.
 *
 * Life of a packet.  The thread that sends or receives a packet makes a copy
 * behind a struct ipw_pkt, limited to the tap's length, and puts it to the head
 * of the tap's stream.  If there is no room, or the plumbing is being changed,
 * the copy is dropped, and the next one contains the number of losses: a tap
 * delays no packet.
 *
 * Locks.  Adding and removing take the table's lock.  Delivering a packet takes
 * no lock: the thread copies the entry, holds its stream, and checks that the
 * entry is unchanged (<str/hold.h>).
 *
 * Crash.  One store adds an entry, and another removes it.  The number of taps
 * of a wire is recounted at each change, so the next change corrects a count
 * that a killed thread left wrong.  If a closer died, the next thread that has
 * a packet for the tap removes the entry.
 */
#include "ip_impl.h"

static int
sees(const struct ip_tap *tap, unsigned int wire)
{
	return ip_in_use(&tap->gen) &&
		(tap->wire == wire || tap->wire == IP_ALL);
}

/* Locks: the table's. */
void
ip_tap_count(struct ip_shared *sh)
{
	unsigned int w, i, n;

	for (w = 0; w < IP_WIRES; w++) {
		for (n = i = 0; i < IP_TAPS; i++)
			n += sees(&sh->tap[i], w) ? 1u : 0u;
		__atomic_store_n(&sh->wire[w].pub.taps, n, __ATOMIC_RELAXED);
	}
}

/* Is this entry's stream gone, although its close did not get here? */
static int
is_stale(struct ip_tap *tap)
{
	struct str_hold h;
	int err = str_hold(&h, &tap->ref);

	if (err == 0)
		str_unhold(&h);
	return err == ESRCH;
}

static void
drop(struct ip_tap *tap)
{
	if (ip_in_use(&tap->gen))
		__atomic_store_n(&tap->gen, tap->gen + 1, __ATOMIC_RELEASE);
}

/* Remove the entry of a tap whose closer died, if that is so. */
static void
lost(struct ip_shared *sh, struct ip_tap *tap, uint32_t gen)
{
	mutex_enter(&sh->lock);
	if (tap->gen == gen && is_stale(tap)) {
		drop(tap);
		ip_tap_count(sh);
	}
	mutex_exit(&sh->lock);
}

static struct ip_tap *
place(struct ip_shared *sh)
{
	unsigned int i;

	for (i = 0; i < IP_TAPS; i++)
		if (!ip_in_use(&sh->tap[i].gen))
			return &sh->tap[i];
	for (i = 0; i < IP_TAPS; i++)
		if (is_stale(&sh->tap[i])) {
			drop(&sh->tap[i]);
			return &sh->tap[i];
		}
	return NULL;
}

void
wire_watched(int proto)
{
	const struct wire_proto *const *at = NULL;

	while ((at = ip_proto_next(at, proto)) != NULL)
		if ((*at)->watched != NULL)
			(*at)->watched();
}

int
ip_tap_add(struct ip_ep *ep, const struct ipw_tap *want)
{
	struct ip_shared *sh = ip_shared();
	struct ip_wire *w = NULL;
	struct ip_tap *tap;
	int err = 0;

	if (sh == NULL)
		return ENOSR;
	if (want->flags != 0 || want->name[IPW_NAMELEN - 1] != '\0')
		return EINVAL;
	mutex_enter(&sh->lock);
	if (want->name[0] != '\0')
		w = ip_wire_named(sh, want->name);
	tap = place(sh);
	if (ep->tap != NULL) {
		err = EBUSY;
	} else if (want->name[0] != '\0' && w == NULL) {
		err = ENXIO;
	} else if (tap == NULL) {
		err = ENOSPC;
	} else {
		tap->wire = w == NULL ? IP_ALL : (uint32_t)(w - sh->wire);
		tap->snap = want->snap;
		tap->drops = 0;
		tap->rq = ep->rq;
		str_ref(ep->rq, &tap->ref);
		ep->tap = tap;
		STR_POINT("ip:tapping");
		__atomic_store_n(&tap->gen, tap->gen + 1, __ATOMIC_RELEASE);
		STR_POINT("ip:tapped");
		ip_tap_count(sh);
	}
	mutex_exit(&sh->lock);
	if (err == 0)
		wire_watched(-1);
	return err;
}

void
ip_tap_del(struct ip_ep *ep)
{
	struct ip_shared *sh = ip_shared();

	if (sh == NULL || ep->tap == NULL)
		return;
	mutex_enter(&sh->lock);
	STR_POINT("ip:untapping");
	if (ep->tap->rq == ep->rq)
		drop(ep->tap);
	STR_POINT("ip:untapped");
	ip_tap_count(sh);
	ep->tap = NULL;
	mutex_exit(&sh->lock);
}

/* ----------------------------------------------------------------- packets */

/*
 * One block of @rec and the first rec->caplen bytes of @pkt; NULL: there is no
 * memory, or there was none for @pkt.
 */
static mblk_t *
record(const mblk_t *pkt, const struct ipw_pkt *rec)
{
	size_t left = rec->caplen, n;
	mblk_t *mp;

	mp = pkt == NULL ? NULL : allocb(sizeof(*rec) + left, BPRI_LO);
	if (mp == NULL)
		return NULL;
	bcopy(rec, mp->b_wptr, sizeof(*rec));
	mp->b_wptr += sizeof(*rec);
	for (; left != 0 && pkt != NULL; pkt = pkt->b_cont) {
		n = (size_t)MBLKL(pkt);
		if (n > left)
			n = left;
		bcopy(pkt->b_rptr, mp->b_wptr, n);
		mp->b_wptr += n;
		left -= n;
	}
	return mp;
}

/* Give the packet to @tap; 0: it was dropped. */
static int
show(struct ip_tap *tap, uint32_t gen, const mblk_t *pkt, struct ipw_pkt *rec)
{
	struct str_ref ref = tap->ref;
	queue_t *rq = tap->rq;
	struct str_hold h;
	mblk_t *mp = NULL;
	int err;

	rec->caplen = rec->len;
	if (tap->snap != 0 && rec->caplen > tap->snap)
		rec->caplen = tap->snap;
	rec->drops = tap->drops;
	err = str_hold(&h, &ref);
	if (err == ESRCH)
		lost(ip_shared(), tap, gen);
	if (err != 0)
		return 0;
	if (__atomic_load_n(&tap->gen, __ATOMIC_ACQUIRE) == gen &&
		canputnext(rq))
		mp = record(pkt, rec);
	if (mp != NULL)
		putnext(rq, mp);
	str_unhold(&h);
	return mp != NULL;
}

/*
 * ip_tap - give copies of @pkt, @n bytes, to the taps of @w
 * @pkt:  NULL: the caller had no memory for it; the taps count a loss
 * @what: IPW_IS_*
 */
void
ip_tap(struct ip_wire *w, const mblk_t *pkt, uint32_t n, unsigned char what,
	int out)
{
	struct ip_shared *sh = ip_shared();
	struct ipw_pkt rec;
	unsigned int i;

	if (sh == NULL)
		return;
	bzero(&rec, sizeof(rec));
	rec.time = str_now();
	rec.len = n;
	rec.wire = (unsigned short)(w - sh->wire);
	rec.out = out != 0;
	rec.what = what;
	for (i = 0; i < IP_TAPS; i++) {
		struct ip_tap *tap = &sh->tap[i];
		uint32_t gen = __atomic_load_n(&tap->gen, __ATOMIC_ACQUIRE);

		if (sees(tap, rec.wire) && !show(tap, gen, pkt, &rec))
			(void)__atomic_fetch_add(&tap->drops, 1,
				__ATOMIC_RELAXED);
	}
}

void
wire_tap(struct wire *w, const mblk_t *pkt, int out)
{
	ip_tap(ip_wire_of(w), pkt,
		(uint32_t)msgdsize((mblk_t *)(uintptr_t)pkt), IPW_IS_IP, out);
}
