/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires: <str/wire.h>.
 *
 * Life of a received packet. wire_input() counts it, gives it to the taps,
 * reads its header, cuts off padding, and checks its destination.  Fragments
 * are kept until the packet is complete.  Then each receiver of its protocol
 * gets it.  If the wire has addresses of its own, no other host answers for
 * them: we answer echoes, and send errors for packets without a receiver.
 *
 * Life of a sent packet. wire_route() chooses the wire, by the longest prefix.
 * wire_send() fragments a packet that is too long, and sends it in the caller's
 * context, with this process's descriptor.  On lo it calls wire_input().
 *
 * Counters are raised without a lock, each thread in the piece that its stack's
 * address selects; a reader adds the pieces up.
 *
 * Locks.  A sender holds the wire's stream, because its descriptors are closed
 * with the stream.  Reassembly has a lock of its own.
 *
 * Crash.  Counters are one addition each; see reasm.h for fragments.
 */
#include "ip_impl.h"

/* Headers are read in one piece; longer ones are pulled up separately. */
#define HEADERS 128u
#define BLOCKS 8u /* of a packet that is sent as it is */
#define P_IGMP 2u
#define P_NONE6 59u /* nothing follows: RFC 8200 s4.7 */

/* Entries of STR_WIRE_PROTO(); NULL where no such driver is linked. */
extern const struct wire_proto *const __start_str_wires[] STR_WEAK STR_HIDDEN;
extern const struct wire_proto *const __stop_str_wires[] STR_WEAK STR_HIDDEN;

/*
 * ip_proto_next - the table of protocol @proto, -1: any, behind @at, NULL at
 * first; those for any protocol too.  NULL: there are no more.
 */
const struct wire_proto *const *
ip_proto_next(const struct wire_proto *const *at, int proto)
{
	for (at = at == NULL ? __start_str_wires : at + 1;
		at < __stop_str_wires; at++)
		if (proto == -1 || (*at)->proto == -1 || (*at)->proto == proto)
			return at;
	return NULL;
}

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
	if (lo->gen == 0) { /* the first thread; all write the same values */
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

	/* stacks are at least a page apart, usually megabytes */
	sp = (sp >> 14) ^ (sp >> 20) ^ (sp >> 24);
	if (w != NULL)
		(void)__atomic_fetch_add(&iw->count[sp % IP_PIECES].n[what],
			n, __ATOMIC_RELAXED);
}

uint64_t
ip_counted(const struct ip_wire *w, unsigned int what)
{
	const struct wire_proto *const *at;
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < IP_PIECES; i++)
		sum += __atomic_load_n(&w->count[i].n[what], __ATOMIC_RELAXED);
	if (w->kind != IPW_LO || what > WIRE_OUTBYTES)
		return sum;
	for (at = __start_str_wires; at < __stop_str_wires; at++)
		if ((*at)->counted != NULL)
			sum += (*at)->counted((enum wire_count)what);
	return sum;
}

/* Locks: the table's; without it, the entry may be reused soon. */
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

/* ------------------------------------------------------------------ output */

/* Count a packet that was sent, and give it to the taps. */
void
ip_sent_one(struct ip_wire *w, const mblk_t *pkt)
{
	STR_POINT("ip:sent");
	if (wire_tapped(&w->pub))
		wire_tap(&w->pub, pkt, 1);
	wire_count(&w->pub, WIRE_OUT, 1);
	wire_count(&w->pub, WIRE_OUTBYTES,
		msgdsize((mblk_t *)(uintptr_t)pkt));
}

/* @w's stream is held. */
static int
send_one(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h)
{
	int err;

	if (str_unlikely(wire_impaired(&w->pub)))
		return ip_impair_send(w, pkt, h);
	err = ip_lower_send(w, pkt, h);
	if (err == 0)
		ip_sent_one(w, pkt);
	return err;
}

/* Copy @n bytes of @pkt from @skip on to @to. */
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

/* One fragment of @pkt with its own header; NULL: no memory. */
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

/* Send the fragments of @whole one after the other.  Return: how many. */
static uint32_t
send_pieces(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *whole,
	uint32_t mtu, int *ret_err)
{
	const unsigned char *opt = whole->optlen != 0 ? pkt->b_rptr + 20 : NULL;
	unsigned char ret_opt[IP4_OPTMAX];
	uint32_t off = 0, sent = 0;
	struct ip_hdr f;
	int r, err = 0;
	mblk_t *mp;

	while ((r = ip_frag(whole, opt, mtu, &off, &f, ret_opt)) == 1) {
		mp = piece(pkt, whole, &f, ret_opt);
		err = mp == NULL ? ENOSR : send_one(w, mp, &f);
		if (mp != NULL)
			freemsg(mp);
		if (err != 0)
			break;
		sent++;
		STR_POINT("ip:piece");
	}
	*ret_err = r < 0 ? -r : err;
	return sent;
}

static int
send_cut(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h,
	uint32_t mtu)
{
	struct ip_hdr whole = *h;
	uint32_t sent;
	int err;

	if (h->id == 0)
		whole.id = wire_id(&h->src, &h->dst, h->proto);
	sent = ip_train_cut(w, pkt, &whole, mtu, &err);
	if (sent == 0 && err == EBUSY)
		sent = send_pieces(w, pkt, &whole, mtu, &err);
	wire_count(&w->pub, WIRE_FRAGS, sent);
	/* a packet that was sent in part cannot be sent again */
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

/* ip_note - note a packet that is sent: errors about it are believed */
void
ip_note(const mblk_t *pkt, const struct ip_hdr *h)
{
	struct ip_shared *sh = ip_shared();
	unsigned char begin[4];
	uint32_t n = h->len < sizeof(begin) ? h->len : sizeof(begin);

	copy_out(pkt, h->hlen, n, begin);
	ip_sent_note(&sh->sent, ip_secret(sh), h, begin, n, str_now());
}

int
ip_send_held(struct ip_wire *w, mblk_t *pkt, const struct ip_hdr *h)
{
	/* the sender has checked those that must not be fragmented */
	uint32_t mtu = h->df ? w->mtu : ip_path_mtu(w, &h->dst);
	mblk_t *mp;
	int err;

	if (h->frag == 0)
		ip_note(pkt, h);
	if (h->hlen + h->len > mtu)
		return w->kind == IPW_ENCAP ? EMSGSIZE :
			send_cut(w, pkt, h, mtu);
	if (str_likely(!too_many_blocks(pkt)))
		return send_one(w, pkt, h);
	mp = msgpullup(pkt, -1);
	if (mp == NULL)
		return ENOSR;
	err = send_one(w, mp, h);
	freemsg(mp);
	return err;
}

/* Packets for lo: their receivers' procedures run here. */
static uint32_t
send_lo(struct wire *lo, const struct wire_pkt *v, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		wire_count(lo, WIRE_OUT, 1);
		wire_count(lo, WIRE_OUTBYTES, msgdsize(v[i].mp));
		/* it shows the packet to the taps */
		if (str_likely(!wire_impaired(lo))) {
			wire_input(lo, v[i].mp, IP_TRUST);
			continue;
		}
		(void)ip_impair_send(ip_wire_of(lo), v[i].mp, v[i].h);
		freemsg(v[i].mp);
	}
	return n;
}

/* What the callers of wire_send() know of @err. */
static int
send_error(int err)
{
	switch (err) {
	case 0:
	case EAGAIN:
	case EMSGSIZE:
	case ENOSR:
		return err;
	case ENOBUFS: /* there will be room in the system's queue */
	case ENOMEM:
		return EAGAIN;
	default:
		return ENETDOWN;
	}
}

/* Hold the stream of @w: 0, ENETDOWN or EAGAIN. */
static int
begin(struct ip_wire *w, struct str_hold *hold)
{
	uint32_t gen = __atomic_load_n(&w->gen, __ATOMIC_ACQUIRE);
	struct str_ref ref = w->ref;
	int err;

	if ((gen & 1) == 0 || str_load(&w->dead) != 0)
		return ENETDOWN;
	err = str_hold(hold, &ref);
	if (err == ESRCH)
		ip_wire_lost(w, gen);
	if (err != 0)
		return err == EBUSY ? EAGAIN : ENETDOWN;
	if (__atomic_load_n(&w->gen, __ATOMIC_ACQUIRE) == gen)
		return 0;
	str_unhold(hold);
	return ENETDOWN;
}

static void
end(struct ip_wire *w, struct str_hold *hold)
{
	if (str_unlikely(ip_wire_is_slow(w)))
		qenable(w->rq);
	str_unhold(hold);
}

uint32_t
wire_send_batch(struct wire *pub, const struct wire_pkt *v, uint32_t n,
	int *ret_err)
{
	struct ip_wire *w = ip_wire_of(pub);
	struct str_hold hold;
	uint32_t i;
	int err;

	*ret_err = 0;
	if (w->kind == IPW_LO)
		return send_lo(pub, v, n);
	err = *ret_err = begin(w, &hold);
	if (err != 0)
		return 0;
	if (w->kind == IPW_ENCAP && !wire_impaired(pub)) {
		i = ip_encap_send(w, v, n, &err);
	} else if (n > 1 && !wire_impaired(pub) &&
		(w->kind == IPW_PACKET || w->kind == IPW_RAW)) {
		i = ip_train_send(w, v, n, &err);
	} else {
		for (i = 0; i < n && err == 0; i++)
			err = ip_send_held(w, v[i].mp, v[i].h);
		if (err != 0)
			i--;
	}
	end(w, &hold);
	for (n = i, i = 0; i < n; i++)
		freemsg(v[i].mp);
	*ret_err = send_error(err);
	return n;
}

int
wire_send(struct wire *w, mblk_t *pkt, const struct ip_hdr *h)
{
	struct wire_pkt v = {pkt, h};
	int err;

	(void)wire_send_batch(w, &v, 1, &err);
	return err;
}

int
wire_send_bytes(struct wire *pub, void *p, uint32_t n, uint32_t sum_at,
	const struct ip_hdr *h)
{
	struct ip_shared *sh = ip_shared();
	struct ip_wire *w = ip_wire_of(pub);
	struct str_hold hold;
	int err;

	if (w->kind == IPW_LO || w->kind == IPW_ENCAP || !wire_is_plain(pub) ||
		n > (h->df ? w->mtu : ip_path_mtu(w, &h->dst)))
		return EOPNOTSUPP;
	err = begin(w, &hold);
	if (err != 0)
		return err;
	ip_sent_note(&sh->sent, ip_secret(sh), h, (unsigned char *)p + h->hlen,
		h->len < 4 ? h->len : 4, str_now());
	err = ip_lower_bytes(w, p, n, sum_at, h);
	STR_POINT("ip:sent");
	if (err == 0) {
		wire_count(pub, WIRE_OUT, 1);
		wire_count(pub, WIRE_OUTBYTES, n);
	}
	end(w, &hold);
	return err;
}

/* ------------------------------------------------------------------- input */

/*
 * Is the packet for us, and from another host? 0, or minus an ip_bad.  RFC 1122
 * s3.3.6: what was sent to all stations is for all or for a group.
 */
static int
whose(const struct ip_wire *w, const struct ip_hdr *h, unsigned int flags)
{
	/* the kernel has checked what came inside of UDP */
	if (w->kind == IPW_LO || w->kind == IPW_ENCAP)
		return 0;
	if (ip_is_bad_source(w, &h->src))
		return -IP_ADDR;
	if (ip_is_own(w, &h->dst))
		return (flags & IP_MANY) != 0 && h->dst.len == 4 ? -IP_ADDR : 0;
	return (h->dst.len == 16 ? h->dst.b[0] == 0xff :
		(h->dst.b[0] & 0xf0) == 0xe0 || ip_is_broadcast(w, &h->dst)) ?
		0 : -IP_ADDR;
}

/*
 * Move the first @n bytes of *@pkt into one block; 0: no memory, *@pkt is
 * freed.
 */
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
 * Read the header of *@pkt into @h and cut the packet to its length there.
 * Return: 0; or minus an ip_bad; 1: no memory, *@pkt is freed.
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

static void *
reasm_get(size_t n)
{
	return kmem_zalloc(n, KM_NOSLEEP);
}

static const struct ip_mem reasm_mem = {reasm_get, kmem_free, str_random};

/*
 * Add the fragment @pkt, which is in one piece.  Return: the packet, if it is
 * complete.
 */
static mblk_t *
add_fragment(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h)
{
	struct ip_shared *sh = ip_shared();
	uint32_t slot, lost = 0, n;
	mblk_t *mp = NULL;
	int what;

	mutex_enter(&sh->rlock);
	what = ip_reasm_add(&sh->reasm, &reasm_mem, (uint32_t)(w - sh->wire),
		pkt->b_rptr, h, str_now(), &slot, &lost);
	if (what == IP_WHOLE) {
		n = ip_reasm_len(&sh->reasm, slot);
		mp = allocb(n, BPRI_MED); /* NULL: it stays until it expires */
		if (mp != NULL) {
			ip_reasm_take(&sh->reasm, &reasm_mem, slot,
				mp->b_wptr);
			mp->b_wptr += n;
		}
	}
	mutex_exit(&sh->rlock);
	if (mp != NULL)
		wire_count(&w->pub, WIRE_REASMOK, 1);
	else if (what == IP_NOROOM || what == IP_WHOLE)
		wire_count(&w->pub, WIRE_NOMEM, 1);
	if (lost != 0 || what == IP_REFUSED)
		wire_count(&w->pub, WIRE_REASMFAIL,
			lost + (what == IP_REFUSED));
	return mp;
}

/* Free @pkt, unless it is its owner's. */
static void
done_with(mblk_t *pkt, unsigned int flags)
{
	if ((flags & IP_LENT) == 0)
		freemsg(pkt);
}

/*
 * Process a fragment, consumed.  Return: the packet if it is complete, or NULL.
 */
static mblk_t *
put_together(struct ip_wire *w, mblk_t *pkt, const struct ip_hdr *h,
	unsigned int flags)
{
	mblk_t *mp;

	wire_count(&w->pub, WIRE_REASM, 1);
	if (!pull(&pkt, h->hlen + h->len)) {
		wire_count(&w->pub, WIRE_NOMEM, 1);
		return NULL;
	}
	mp = add_fragment(w, pkt, h);
	STR_POINT("ip:together");
	done_with(pkt, flags);
	return mp;
}

/*
 * ip_expire - drop packets that were not complete in time RFC 1122 s3.3.2:
 * sends an error to the sender of the first fragment.
 */
void
ip_expire(struct ip_shared *sh)
{
	unsigned char begin[IP_REASM_HDR + 8];
	uint32_t tag, n, at = 0, more = 1;
	struct ip_hdr h;

	while (more && sh->reasm.bytes != 0) {
		n = 0;
		mutex_enter(&sh->rlock);
		more = (uint32_t)ip_reasm_expire(&sh->reasm, &reasm_mem,
			str_now(), &at, &tag, begin, &n);
		mutex_exit(&sh->rlock);
		if (!more || tag >= IP_WIRES)
			continue;
		wire_count(&sh->wire[tag].pub, WIRE_REASMFAIL, 1);
		if (n != 0 && ip_in_use(&sh->wire[tag].gen) &&
			sh->wire[tag].kind != IPW_LO &&
			ip_parse(begin, n, IP_MOST + 40u, IP_TRUST, &h) == 0) {
			h.frag = h.more = 0;
			ip_complain(&sh->wire[tag], ICMP_TOOLATE, begin, n, &h);
		}
	}
}

static void
receive(struct ip_wire *w, mblk_t *pkt, const struct ip_hdr *h,
	unsigned int flags)
{
	/* RFC 1122 s3.2.2, RFC 4443 s2.4: no errors about broadcasts */
	int answers = w->kind != IPW_LO && !ip_is_hosts(w);
	const struct wire_proto *const *at = NULL;
	int taken = 0, has_ports = 0;

	STR_POINT("ip:input");
	while ((at = ip_proto_next(at, h->proto)) != NULL) {
		has_ports |= (*at)->has_ports;
		taken |= (*at)->input(&w->pub, pkt, h, flags);
	}
	STR_POINT("ip:given");
	if (answers && (h->proto == P_IGMP || h->proto == P_ICMP6) &&
		h->len <= MBLKL(pkt) - (long)h->hlen)
		ip_listen_query(w, pkt->b_rptr + h->hlen, h->len, h);
	if (w->kind != IPW_LO && (h->proto == P_ICMP || h->proto == P_ICMP6)) {
		if (!pull(&pkt, h->hlen + h->len)) {
			wire_count(&w->pub, WIRE_NOMEM, 1);
			return;
		}
		taken |= ip_icmp(w, pkt, h);
	}
	if (!taken) {
		wire_count(&w->pub, has_ports ? WIRE_NOPORT : WIRE_NOPROTO, 1);
		if (answers && (flags & IP_MANY) == 0 &&
			!(h->dst.len == 16 && h->proto == P_NONE6))
			ip_complain(w, has_ports ? ICMP_NOPORT : ICMP_NOPROTO,
				pkt->b_rptr,
				(uint32_t)MBLKL(pkt), h);
	}
	done_with(pkt, flags);
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
		err = whose(w, &h, flags);
	if (err == 0 && (h.more || h.frag != 0)) {
		pkt = put_together(w, pkt, &h, flags);
		if (pkt == NULL)
			return;
		flags &= ~IP_LENT;
		err = look(&pkt, flags, &h);
		if (err == 0 && (h.more || h.frag != 0))
			err = -IP_LENGTH; /* a fragment in a fragment: RFC 8200
					   * s4.5 */
	}
	if (err > 0) {
		wire_count(pub, WIRE_NOMEM, 1);
		return;
	}
	if ((err == -IP_OPTION || err == -IP_LENGTH) &&
		pull(&pkt, msgdsize(pkt)))
		ip_complain_header(w, pkt->b_rptr, (uint32_t)MBLKL(pkt));
	if (err != 0) {
		wire_count(pub, WIRE_BAD + (unsigned int)-err, 1);
		done_with(pkt, flags);
		return;
	}
	h.encap = IP_PORT_OF(flags);
	receive(w, pkt, &h, flags);
}
