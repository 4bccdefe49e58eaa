/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ICMP on wires: answers to echoes, errors that we send, and errors that come
 * about packets of ours.
 *
 * Context.  The procedures of a wire's own stream, which need not be held then.
 */
#include "bytes.h"
#include "ip_impl.h"

/* Give the IPv4 packet at @p a new identification. */
static void
set_id(unsigned char *p, struct ip_hdr *h)
{
	h->id = wire_id(&h->src, &h->dst, h->proto);
	put16(p + 4, h->id);
	put16(p + 10, 0);
	put16(p + 10, ip_fold(ip_sum(p, h->hlen, 0, 0)));
}

/*
 * ip_answer - send a packet that was made here.  We are in the wire's own procedure, so its
 * stream need not be held.
 */
void
ip_answer(struct ip_wire *w, mblk_t *mp)
{
	struct ip_hdr h;
	int err = ip_parse(mp->b_rptr, (size_t)MBLKL(mp), (size_t)MBLKL(mp),
		IP_TRUST, &h);

	if (err == 0 && h.src.len == 4)
		set_id(mp->b_rptr, &h);
	if (err == 0)
		(void)ip_send_held(w, mp, &h);
	freemsg(mp);
}

void
ip_complain(struct ip_wire *w, enum icmp_error what, const unsigned char *p,
	uint32_t n, const struct ip_hdr *h)
{
	struct ip_addr from = h->dst;
	mblk_t *mp;

	if (!ip_is_own(w, &from) || !icmp_allowed(&w->limit, str_now()))
		return;
	mp = allocb(ICMP_MOST, BPRI_LO);
	if (mp == NULL)
		return;
	n = icmp_error(what, p, n, h, &from, mp->b_wptr);
	mp->b_wptr += n;
	if (n != 0)
		ip_answer(w, mp);
	else
		freemsg(mp);
}

/*
 * ip_complain_header - @pkt, of @n bytes, has an IPv6 header that is not
 * understood: tell its sender, if that is to be done
 */
void
ip_complain_header(struct ip_wire *w, const unsigned char *pkt, uint32_t n)
{
	struct ip6_problem why;
	struct ip_addr from;
	mblk_t *mp;

	if (w->kind == IPW_LO || ip_is_hosts(w) ||
		!ip6_problem(pkt, n, &why) || ip_is_bad_source(w, &why.h.src))
		return;
	from = why.h.dst;
	if (from.b[0] == 0xff ? !ip_own_for(w, &why.h.src, &from) :
		!ip_is_own(w, &from))
		return;
	if (!icmp_allowed(&w->limit, str_now()))
		return;
	mp = allocb(ICMP_MOST, BPRI_LO);
	if (mp == NULL)
		return;
	n = icmp_problem(&why, pkt, n, &from, mp->b_wptr);
	mp->b_wptr += n;
	if (n != 0)
		ip_answer(w, mp);
	else
		freemsg(mp);
}

/*
 * Was a packet like the quoted one sent lately?  Any host can send an error
 * (RFC 5927).
 */
static int
is_on_the_way(const struct icmp_msg *m)
{
	struct ip_shared *sh = ip_shared();
	uint32_t n = m->n - m->at;

	return sh != NULL && m->h.frag == 0 && n >= 4 &&
		ip_sent_most(&sh->sent, ip_secret(sh), &m->h, m->begin + m->at,
			n, str_now()) >= (m->h.more ? 1 : m->h.hlen + m->h.len);
}

/* Report @error, or 0, about the packet in @m to the transports. 1: a member
 * may have sent that packet. */
static int
tell(struct wire *w, const struct icmp_msg *m, int error)
{
	const struct wire_proto *const *at = NULL;
	int known = 0;

	while ((at = ip_proto_next(at, m->h.proto)) != NULL)
		if ((*at)->error != NULL)
			known |= (*at)->error(w, &m->h, m->begin, m->n, error,
				m->mtu);
	return known;
}

/*
 * ip_wire_unsent - @mp, a packet of ours, cannot be sent, consumed: report
 * @error to its sender.  Context: the wire's timer.
 */
void
ip_wire_unsent(struct ip_wire *w, mblk_t *mp, int error)
{
	struct icmp_msg m;

	bzero(&m, sizeof(m));
	m.begin = mp->b_rptr;
	m.n = (uint32_t)MBLKL(mp);
	wire_count(&w->pub, WIRE_FULL, 1);
	if (ip_parse(m.begin, m.n, m.n, IP_TRUST, &m.h) == 0)
		(void)tell(&w->pub, &m, error);
	freemsg(mp);
}

/* RFC 1191 s3, RFC 8201 s4: about a packet that a member here may have sent. */
static void
narrower(struct ip_wire *w, const struct icmp_msg *m)
{
	struct ip_shared *sh = ip_shared();
	int less;

	if (sh == NULL || (m->h.src.len == 4 && !m->h.df) ||
		m->h.hlen + m->h.len > w->mtu || !ip_is_own(w, &m->h.src) ||
		!tell(&w->pub, m, 0))
		return;
	mutex_enter(&sh->mlock);
	less = ip_pmtu_learn(&sh->pmtu, &m->h.dst, m->mtu,
		m->h.hlen + m->h.len, w->mtu, str_now());
	mutex_exit(&sh->mlock);
	if (less)
		wire_count(&w->pub, WIRE_PMTU, 1);
}

/* Process an ICMP packet in one piece. 1: it was accepted. */
int
ip_icmp(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h)
{
	struct icmp_msg m;
	mblk_t *mp;
	int err;

	if (h->proto != (h->dst.len == 4 ? P_ICMP : P_ICMP6))
		return 0;
	err = icmp_parse(pkt->b_rptr + h->hlen, h->len, h, &m);
	if (err != 0) {
		wire_count(&w->pub, WIRE_BAD + (unsigned int)-err, 1);
		return 1;
	}
	if (m.kind == ICMP_ERR && (w->kind == IPW_RAW ||
		ip_is_own(w, &m.h.src)) && is_on_the_way(&m)) {
		if (m.error == EMSGSIZE)
			narrower(w, &m);
		(void)tell(&w->pub, &m, m.error);
	}
	if (m.kind == ICMP_REDIRECT && ip_is_own(w, &m.h.src) &&
		is_on_the_way(&m))
		ip_redirect(w, &h->src, &m.h.dst, &m.to);
	/* RFC 1122 s3.2.2.6: not to broadcasts */
	if (m.kind != ICMP_ECHO || !ip_is_own(w, &h->dst))
		return 1;
	mp = copymsg((mblk_t *)(uintptr_t)pkt);
	if (mp == NULL)
		return 1;
	icmp_reply(mp->b_rptr, h->hlen + h->len, h, &h->dst);
	ip_answer(w, mp);
	return 1;
}
