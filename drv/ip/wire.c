/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires: <str/wire.h>.
 *
 * Life of a packet that comes.  wire_input() counts it, shows it to who looks,
 * reads its header, cuts off what is behind its end, and looks whom it is for.
 * Fragments are kept until they are a packet.  That goes to each receiver of
 * its protocol.  Where the wire has addresses of its own no other host answers
 * for them: echoes are answered here, and errors are sent for what was not taken.
 *
 * Life of a packet that goes.  wire_route() chooses the wire, the longest
 * prefix first.  wire_send() cuts the packet when it is too long, and sends it
 * in the caller's context, by a descriptor of its own.
 *
 * Counters are added to without lock, each thread in the piece that its
 * stack's address chooses; a reader adds the pieces up.
 *
 * Locks.  Who sends holds the wire's stream, as its descriptors go with that.
 * Fragments have a lock of their own.
 *
 * Crash.  Counters are one addition each; of fragments <pkt.h> tells.
 */
#include "ip_impl.h"

/* Headers are read in one piece; longer ones are pulled up by themselves. */
#define HEADERS 128u
#define BLOCKS 8u /* of a packet that is sent as it is */
#define P_UDP 17u

/*
 * NULL where the driver of a receiver is not linked.  A weak constant with a
 * value would not do: clang takes that value at compile time.
 */
extern const struct wire_proto udp_wire STR_WEAK;
extern const struct wire_proto raw_wire STR_WEAK;

static const struct wire_proto *const receivers[] = {&udp_wire, &raw_wire};
#define NRECEIVERS (sizeof(receivers) / sizeof(receivers[0]))

struct ip_shared *
ip_shared(void)
{
	return str_drv_state("ip", sizeof(struct ip_shared));
}

struct wire *
wire_lo(void)
{
	struct ip_shared *sh = ip_shared();
	struct ip_wire *lo;

	if (sh == NULL)
		return NULL;
	lo = &sh->wire[0];
	if (lo->gen == 0) { /* the first thread; all write the same */
		lo->name[0] = 'l';
		lo->name[1] = 'o';
		lo->mtu = IP_MOST;
		lo->state = IPW_UP;
		__atomic_store_n(&lo->gen, 1u, __ATOMIC_RELEASE);
	}
	return &lo->pub;
}

void
wire_count(struct wire *w, enum wire_count what, uint64_t n)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	struct ip_wire *iw = ip_wire_of(w);

	/* stacks begin at distances of pages at least, mostly of megabytes */
	sp = (sp >> 14) ^ (sp >> 20) ^ (sp >> 24);
	if (w != NULL)
		(void)__atomic_fetch_add(&iw->count[sp % IP_PIECES].n[what],
			n, __ATOMIC_RELAXED);
}

uint64_t
ip_counted(const struct ip_wire *w, unsigned int what)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < IP_PIECES; i++)
		sum += __atomic_load_n(&w->count[i].n[what], __ATOMIC_RELAXED);
	if (w->kind == IPW_LO && what <= WIRE_OUTBYTES)
		sum += udp_lo_counted((enum wire_count)what);
	return sum;
}

/* Locks: the table's; without, it may be another one soon. */
struct ip_wire *
ip_wire_named(struct ip_shared *sh, const char *name)
{
	unsigned int i, k;

	for (i = 0; i < IP_WIRES; i++) {
		if (!ip_in_use(&sh->wire[i].gen))
			continue;
		for (k = 0; k < WIRE_NAMELEN; k++)
			if (sh->wire[i].name[k] != name[k] || name[k] == '\0')
				break;
		if (k < WIRE_NAMELEN && sh->wire[i].name[k] == name[k])
			return &sh->wire[i];
	}
	return NULL;
}

/* ------------------------------------------------------------------ routes */

/* How many bits @a has in common with @net, if it is of that network; -1. */
static int
matches(const struct ip_addr *a, const struct ipw_addr *net)
{
	unsigned int full = net->bits / 8u, rest = net->bits % 8u;

	if (net->len == 0 || net->len != a->len ||
		bcmp(a->b, net->b, full) != 0)
		return -1;
	if (rest != 0 &&
		((a->b[full] ^ net->b[full]) & (0xff00u >> rest & 0xff)) != 0)
		return -1;
	return net->bits;
}

int
ip_is_own(const struct ip_wire *w, const struct ip_addr *a)
{
	unsigned int i;

	for (i = 0; i < IPW_NOWN; i++)
		if (w->conf.own[i].len == a->len &&
			bcmp(w->conf.own[i].b, a->b, a->len) == 0)
			return 1;
	return 0;
}

/* An address of @w's, of the network of @dst if there is one; NULL: none. */
static const struct ipw_addr *
own_for(const struct ip_wire *w, const struct ip_addr *dst)
{
	const struct ipw_addr *a, *any = NULL;
	unsigned int i;

	for (i = 0; i < IPW_NOWN; i++) {
		a = &w->conf.own[i];
		if (a->len == dst->len && matches(dst, a) >= 0)
			return a;
		if (a->len == dst->len && any == NULL)
			any = a;
	}
	return any;
}

static void
addr_of(const struct ipw_addr *from, struct ip_addr *to)
{
	bzero(to, sizeof(*to));
	if (from == NULL)
		return;
	to->len = from->len;
	bcopy(from->b, to->b, from->len);
}

int
ip_own_for(const struct ip_wire *w, const struct ip_addr *dst,
	struct ip_addr *ret)
{
	addr_of(own_for(w, dst), ret);
	return ret->len != 0;
}

/* Is it of a network that an address of the wire's is of? */
int
ip_is_near(const struct ip_wire *w, const struct ip_addr *a)
{
	unsigned int i;

	for (i = 0; i < IPW_NOWN; i++)
		if (matches(a, &w->conf.own[i]) >= 0)
			return 1;
	/* RFC 4291 s2.5.6: link-local */
	return a->len == 16 && a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

/* How good @w is for @dst; -1: not at all. */
static int
goodness(const struct ip_wire *w, const struct ip_addr *dst)
{
	int best = -1, n;
	unsigned int i;

	/* the addresses of raw sockets are the host's: it says what is near */
	for (i = 0; i < IPW_NOWN && w->kind != IPW_RAW; i++) {
		n = matches(dst, &w->conf.own[i]);
		best = n > best ? n : best;
	}
	for (i = 0; i < IPW_NROUTE; i++) {
		n = matches(dst, &w->conf.route[i]);
		best = n > best ? n : best;
	}
	return best;
}

/* Bytes of the longest packet on the way to @dst. */
static uint32_t
path_mtu(const struct ip_wire *w, const struct ip_addr *dst)
{
	struct ip_shared *sh = ip_shared();

	if (str_likely(sh == NULL ||
		__atomic_load_n(&sh->pmtu.used, __ATOMIC_ACQUIRE) == 0))
		return w->mtu;
	return ip_pmtu_of(&sh->pmtu, dst, w->mtu, str_now());
}

struct wire *
wire_route(struct wire *lo, const struct ip_addr *dst, struct ip_addr *ret_src,
	uint32_t *ret_mtu)
{
	struct ip_wire *first = ip_wire_of(lo), *w, *to = NULL;
	int best = -1, n;

	if (str_likely(lo->others == 0))
		return NULL;
	for (w = first + 1; w < first + IP_WIRES; w++) {
		if (!ip_in_use(&w->gen))
			continue;
		if (w->kind != IPW_RAW && ip_is_own(w, dst)) {
			*ret_src = *dst;
			*ret_mtu = IP_MOST;
			return lo;
		}
		n = goodness(w, dst);
		if (n > best) {
			best = n;
			to = w;
		}
	}
	if (to == NULL)
		return NULL;
	addr_of(own_for(to, dst), ret_src);
	*ret_mtu = path_mtu(to, dst);
	return &to->pub;
}

/* ------------------------------------------------------------------ output */

/* @w's stream is held. */
static int
send_one(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h)
{
	uint64_t n = msgdsize((mblk_t *)(uintptr_t)pkt);
	int err = ip_lower_send(w, pkt, h);

	if (err != 0)
		return err;
	STR_POINT("ip:sent");
	if (wire_tapped(&w->pub))
		wire_tap(&w->pub, pkt, 1);
	wire_count(&w->pub, WIRE_OUT, 1);
	wire_count(&w->pub, WIRE_OUTBYTES, n);
	return 0;
}

/* @n bytes of @pkt from @skip on to @to. */
static void
copy_out(const mblk_t *pkt, size_t skip, size_t n, unsigned char *to)
{
	size_t k;

	for (; n != 0 && pkt != NULL; pkt = pkt->b_cont) {
		k = (size_t)MBLKL(pkt);
		if (k <= skip) {
			skip -= k;
			continue;
		}
		k = k - skip < n ? k - skip : n;
		bcopy(pkt->b_rptr + skip, to, k);
		to += k;
		n -= k;
		skip = 0;
	}
}

/* One piece of @pkt under a header of its own; NULL: no memory. */
static mblk_t *
piece(const mblk_t *pkt, const struct ip_hdr *h, const struct ip_hdr *f,
	const unsigned char *opt)
{
	size_t size = ip_size(f);
	mblk_t *mp = allocb(size + f->len, BPRI_MED);

	if (mp == NULL)
		return NULL;
	mp->b_wptr += size;
	(void)ip_build(mp->b_wptr, f, opt, 0);
	copy_out(pkt, h->hlen + (f->frag - h->frag), f->len, mp->b_wptr);
	mp->b_wptr += f->len;
	return mp;
}

static int
send_cut(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h,
	uint32_t mtu)
{
	const unsigned char *opt = h->optlen != 0 ? pkt->b_rptr + 20 : NULL;
	unsigned char ret_opt[IP4_OPTMAX];
	struct ip_hdr whole = *h, f;
	uint32_t off = 0, sent = 0;
	int r, err = 0;
	mblk_t *mp;

	if (h->id == 0)
		whole.id = __atomic_add_fetch(&w->id, 1, __ATOMIC_RELAXED);
	while ((r = ip_frag(&whole, opt, mtu, &off, &f, ret_opt)) == 1) {
		mp = piece(pkt, &whole, &f, ret_opt);
		err = mp == NULL ? ENOSR : send_one(w, mp, &f);
		if (mp != NULL)
			freemsg(mp);
		if (err != 0)
			break;
		sent++;
		STR_POINT("ip:piece");
	}
	if (r < 0)
		return -r;
	wire_count(&w->pub, WIRE_FRAGS, sent);
	/* a packet of which some went cannot be sent once more */
	return sent != 0 ? 0 : err;
}

static int
too_many_blocks(const mblk_t *mp)
{
	unsigned int n;

	for (n = 0; mp != NULL; mp = mp->b_cont)
		n++;
	return n > BLOCKS;
}

static int
send_held(struct ip_wire *w, mblk_t *pkt, const struct ip_hdr *h)
{
	/* of those that must not be cut the sender knows whether they may go */
	uint32_t mtu = h->df ? w->mtu : path_mtu(w, &h->dst);
	mblk_t *mp;
	int err;

	if (h->hlen + h->len > mtu)
		return send_cut(w, pkt, h, mtu);
	if (str_likely(!too_many_blocks(pkt)))
		return send_one(w, pkt, h);
	mp = msgpullup(pkt, -1);
	if (mp == NULL)
		return ENOSR;
	err = send_one(w, mp, h);
	freemsg(mp);
	return err;
}

int
wire_send(struct wire *pub, mblk_t *pkt, const struct ip_hdr *h)
{
	struct ip_wire *w = ip_wire_of(pub);
	uint32_t gen = __atomic_load_n(&w->gen, __ATOMIC_ACQUIRE);
	struct str_ref ref = w->ref;
	struct str_hold hold;
	int err;

	if ((gen & 1) == 0 || w->kind == IPW_LO)
		return ENETDOWN;
	err = str_hold(&hold, &ref);
	if (err == ESRCH)
		ip_wire_lost(w, gen);
	if (err != 0)
		return err == EBUSY ? EAGAIN : ENETDOWN;
	err = ENETDOWN;
	if (__atomic_load_n(&w->gen, __ATOMIC_ACQUIRE) == gen) {
		err = send_held(w, pkt, h);
		if (str_unlikely(ip_wire_is_slow(w)))
			qenable(w->rq);
	}
	str_unhold(&hold);
	if (err == 0)
		freemsg(pkt);
	/* what the system's queue has no room for will find some */
	if (err == ENOBUFS || err == ENOMEM)
		err = EAGAIN;
	return err == 0 || err == EAGAIN || err == EMSGSIZE || err == ENOSR ?
		err : ENETDOWN;
}

/* -------------------------------------------------------------------- ICMP */

/*
 * Send what was made here.  It is sent in the context of the wire's own
 * procedure, so that nothing needs to be held.
 */
static void
answer(struct ip_wire *w, mblk_t *mp)
{
	struct ip_hdr h;
	int err = ip_parse(mp->b_rptr, (size_t)MBLKL(mp), (size_t)MBLKL(mp),
		IP_TRUST, &h);

	if (err == 0)
		(void)send_held(w, mp, &h);
	freemsg(mp);
}

static void
complain(struct ip_wire *w, enum icmp_error what, const unsigned char *p,
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
		answer(w, mp);
	else
		freemsg(mp);
}

/* An error, 0: none, about a packet that @m says has been ours.  1: a member
 * may have sent it. */
static int
tell(struct wire *w, const struct icmp_msg *m, int error)
{
	unsigned int i;
	int known = 0;

	for (i = 0; i < NRECEIVERS; i++) {
		const struct wire_proto *r = receivers[i];

		if (r != NULL && r->error != NULL && (r->proto == -1 ||
			r->proto == m->h.proto))
			known |= r->error(w, &m->h, m->begin, m->n, error,
				m->mtu);
	}
	return known;
}

/*
 * RFC 1191 s8, RFC 8201 s4: any host can say this, so it is believed
 * only of a packet that a member here may have sent.
 */
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

/* @pkt is in one piece.  1: it was for us. */
static int
icmp(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h)
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
		ip_is_own(w, &m.h.src))) {
		if (m.error == EMSGSIZE)
			narrower(w, &m);
		(void)tell(&w->pub, &m, m.error);
	}
	if (m.kind != ICMP_ECHO || !ip_is_own(w, &h->dst))
		return 1;
	mp = copymsg((mblk_t *)(uintptr_t)pkt);
	if (mp == NULL)
		return 1;
	icmp_reply(mp->b_rptr, h->hlen + h->len, h, &h->dst);
	answer(w, mp);
	return 1;
}

/* ------------------------------------------------------------------- input */

/* RFC 1122 s3.2.1.3 (g), RFC 4291 s2.5.3: these stay inside a host. */
static int
is_martian(const struct ip_addr *a)
{
	static const unsigned char none[12];

	if (a->len == 4)
		return a->b[0] == 127;
	if (bcmp(a->b, none, 10) != 0)
		return 0;
	return (a->b[10] == 0xff && a->b[11] == 0xff) ||
		(bcmp(a->b + 10, none, 5) == 0 && a->b[15] == 1);
}

/* Multicast, broadcast of all or of a network of the wire's. */
static int
is_for_many(const struct ip_wire *w, const struct ip_addr *a)
{
	unsigned int i, k, bit;

	if (a->len == 16)
		return a->b[0] == 0xff;
	if (a->b[0] >= 224)
		return 1;
	for (i = 0; i < IPW_NOWN; i++) {
		const struct ipw_addr *o = &w->conf.own[i];

		if (o->bits > 30 || matches(a, o) < 0)
			continue;
		for (k = o->bits; k < 32; k++) {
			bit = 0x80u >> k % 8;
			if ((a->b[k / 8] & bit) == 0)
				break;
		}
		if (k == 32)
			return 1;
	}
	return 0;
}

/* Is it for a member here?  From somewhere else?  0, or minus an ip_bad. */
static int
whose(const struct ip_wire *w, const struct ip_hdr *h)
{
	if (w->kind == IPW_LO)
		return 0;
	if (is_martian(&h->src) || ip_is_own(w, &h->src))
		return -IP_ADDR;
	return ip_is_own(w, &h->dst) || is_for_many(w, &h->dst) ? 0 : -IP_ADDR;
}

/* The first @n bytes of *@pkt in one block; 0: no memory, it is gone. */
static int
pull(mblk_t **pkt, size_t n)
{
	mblk_t *mp;

	if ((size_t)MBLKL(*pkt) >= n)
		return 1;
	mp = msgpullup(*pkt, (ssize_t)n);
	freemsg(*pkt);
	*pkt = mp;
	return mp != NULL;
}

/*
 * Read the header of *@pkt into @h and have the packet as long as that says.
 * Return: 0; or minus an ip_bad; 1: no memory, it is gone.
 */
static int
look(mblk_t **pkt, unsigned int flags, struct ip_hdr *h)
{
	size_t total = msgdsize(*pkt);
	int err;

	if (!pull(pkt, total < HEADERS ? total : HEADERS))
		return 1;
	err = ip_parse((*pkt)->b_rptr, (size_t)MBLKL(*pkt), total, flags, h);
	if (err == -IP_SHORT && (size_t)MBLKL(*pkt) < total) {
		if (!pull(pkt, total))
			return 1;
		err = ip_parse((*pkt)->b_rptr, total, total, flags, h);
	}
	if (err == 0 && total > h->hlen + h->len)
		(void)adjmsg(*pkt, -(ssize_t)(total - h->hlen - h->len));
	return err;
}

/* Have memory for one packet more.  0: there is none at all. */
static int
room(struct ip_reasm *r)
{
	struct ip_slot *s;

	if (!ip_reasm_wants(r))
		return 1;
	s = r->slot[r->nslots]; /* its bringer died before it gave it */
	if (s == NULL)
		s = kmem_zalloc(sizeof(*s), KM_NOSLEEP);
	if (s != NULL)
		ip_reasm_give(r, s);
	return r->nslots != 0; /* else the oldest goes */
}

/*
 * The fragment @pkt, in one piece, comes to the others.
 * Return: the packet, when that is whole.
 */
static mblk_t *
add_fragment(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h)
{
	struct ip_shared *sh = ip_shared();
	uint32_t slot, lost = 0, n;
	mblk_t *mp = NULL;
	int what = -1;

	mutex_enter(&sh->rlock);
	if (room(&sh->reasm))
		what = ip_reasm_add(&sh->reasm, (uint32_t)(w - sh->wire),
			pkt->b_rptr, h, str_now(), &slot, &lost);
	if (what == IP_WHOLE) {
		n = ip_reasm_len(&sh->reasm, slot);
		mp = allocb(n, BPRI_MED); /* NULL: it stays till it is old */
		if (mp != NULL) {
			ip_reasm_take(&sh->reasm, slot, mp->b_wptr);
			mp->b_wptr += n;
		}
	}
	mutex_exit(&sh->rlock);
	if (mp != NULL)
		wire_count(&w->pub, WIRE_REASMOK, 1);
	else if (what == -1 || what == IP_WHOLE)
		wire_count(&w->pub, WIRE_NOMEM, 1);
	if (lost != 0 || what == IP_REFUSED)
		wire_count(&w->pub, WIRE_REASMFAIL,
			lost + (what == IP_REFUSED));
	return mp;
}

/* A fragment; the packet when it is whole, or NULL.  Consumed. */
static mblk_t *
put_together(struct ip_wire *w, mblk_t *pkt, const struct ip_hdr *h)
{
	mblk_t *mp;

	wire_count(&w->pub, WIRE_REASM, 1);
	if (!pull(&pkt, h->hlen + h->len)) {
		wire_count(&w->pub, WIRE_NOMEM, 1);
		return NULL;
	}
	mp = add_fragment(w, pkt, h);
	STR_POINT("ip:together");
	freemsg(pkt);
	return mp;
}

/*
 * ip_expire - give up packets that did not become whole in time
 * RFC 1122 s3.3.2: who sent the first fragment is told.
 */
void
ip_expire(struct ip_shared *sh)
{
	unsigned char begin[IP_REASM_HDR + 8];
	uint32_t tag, n, more = 1;
	struct ip_hdr h;

	while (more && sh->reasm.nslots != 0) {
		n = 0;
		mutex_enter(&sh->rlock);
		more = (uint32_t)ip_reasm_expire(&sh->reasm, str_now(), &tag,
			begin, &n);
		mutex_exit(&sh->rlock);
		if (!more || tag >= IP_WIRES)
			continue;
		wire_count(&sh->wire[tag].pub, WIRE_REASMFAIL, 1);
		if (n != 0 && ip_in_use(&sh->wire[tag].gen) &&
			sh->wire[tag].kind != IPW_LO &&
			ip_parse(begin, n, IP_MOST + 40u, IP_TRUST, &h) == 0) {
			h.frag = h.more = 0;
			complain(&sh->wire[tag], ICMP_TOOLATE, begin, n, &h);
		}
	}
}

static void
receive(struct ip_wire *w, mblk_t *pkt, const struct ip_hdr *h,
	unsigned int flags)
{
	int answers = w->kind != IPW_LO && w->kind != IPW_RAW;
	unsigned int i;
	int taken = 0;

	STR_POINT("ip:input");
	for (i = 0; i < NRECEIVERS; i++) {
		const struct wire_proto *r = receivers[i];

		if (r != NULL && r->input != NULL &&
			(r->proto == -1 || r->proto == h->proto))
			taken |= r->input(&w->pub, pkt, h, flags);
	}
	STR_POINT("ip:given");
	if (w->kind != IPW_LO && (h->proto == P_ICMP || h->proto == P_ICMP6)) {
		if (!pull(&pkt, h->hlen + h->len)) {
			wire_count(&w->pub, WIRE_NOMEM, 1);
			return;
		}
		taken |= icmp(w, pkt, h);
	}
	if (!taken) {
		wire_count(&w->pub,
			h->proto == P_UDP ? WIRE_NOPORT : WIRE_NOPROTO, 1);
		if (answers)
			complain(w, h->proto == P_UDP ? ICMP_NOPORT :
				ICMP_NOPROTO, pkt->b_rptr,
				(uint32_t)MBLKL(pkt), h);
	}
	freemsg(pkt);
}

void
wire_input(struct wire *pub, mblk_t *pkt, unsigned int flags)
{
	struct ip_wire *w = ip_wire_of(pub);
	struct ip_hdr h;
	int err;

	wire_count(pub, WIRE_IN, 1);
	wire_count(pub, WIRE_INBYTES, msgdsize(pkt));
	if (wire_tapped(pub))
		wire_tap(pub, pkt, 0);
	err = look(&pkt, flags, &h);
	if (err == 0)
		err = whose(w, &h);
	if (err == 0 && (h.more || h.frag != 0)) {
		pkt = put_together(w, pkt, &h);
		if (pkt == NULL)
			return;
		err = look(&pkt, flags, &h);
		if (err == 0 && (h.more || h.frag != 0))
			err = -IP_LENGTH; /* one in another: RFC 8200 s4.5 */
	}
	if (err > 0) {
		wire_count(pub, WIRE_NOMEM, 1);
		return;
	}
	if (err != 0) {
		wire_count(pub, WIRE_BAD + (unsigned int)-err, 1);
		freemsg(pkt);
		return;
	}
	receive(w, pkt, &h, flags);
}
