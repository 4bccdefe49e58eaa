/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Impairment of a wire: impair.h. */
#include <sys/strsun.h>
#include <sys/ddi.h>
#include <str/annot.h>
#include <str/builtin.h>
#include "impair.h"

#define LIMIT 1000u
#define LATE 1000000000ull /* ns: longest wait for the next packet */
#define US 1000ull

/* Lies in front of a held packet. */
struct held {
	uint64_t due;
	uint32_t late; /* waits for the next packet */
	struct ip_hdr h;
};

static struct held *
held_of(const mblk_t *mp)
{
	return (struct held *)(void *)mp->b_rptr;
}

int
ip_impair_is_good(const struct ipw_impair *c)
{
	return c->loss <= IPW_ALWAYS && c->dup <= IPW_ALWAYS &&
		c->reorder <= IPW_ALWAYS && c->corrupt <= IPW_ALWAYS &&
		c->delay <= IPW_LONGEST && c->jitter <= IPW_LONGEST &&
		c->zero == 0;
}

int
ip_impair_is_any(const struct ipw_impair *c)
{
	return (c->loss | c->dup | c->reorder | c->corrupt | c->delay |
		c->jitter) != 0 || c->rate != 0;
}

/* ------------------------------------------------------------------- locking */

static void
enter(struct ip_impair *im)
{
	mblk_t *mp;

	mutex_enter(&im->lock);
	if (str_unlikely(im->busy)) {
		im->conf.held = im->nlate = 0;
		im->last = NULL;
		for (mp = im->first; mp != NULL; mp = mp->b_next) {
			im->conf.held++;
			im->nlate += held_of(mp)->late;
			im->last = mp;
		}
	}
	im->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void
leave(struct ip_impair *im)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	im->busy = 0;
	mutex_exit(&im->lock);
}

/* ---------------------------------------------------------------- parameters */

void
ip_impair_set(struct ip_impair *im, const struct ipw_impair *conf)
{
	uint64_t held;

	enter(im);
	held = im->conf.held;
	im->conf = *conf;
	im->conf.seen = im->conf.lost = im->conf.twice = im->conf.late = 0;
	im->conf.damaged = im->conf.full = 0;
	im->conf.held = held;
	if (im->conf.limit == 0)
		im->conf.limit = LIMIT;
	im->rand = (conf->seed + 1) * 0x9e3779b97f4a7c15ull;
	if (im->rand == 0)
		im->rand = 1;
	im->idle = 0;
	leave(im);
}

void
ip_impair_get(struct ip_impair *im, struct ipw_impair *ret)
{
	enter(im);
	*ret = im->conf;
	leave(im);
}

/* ------------------------------------------------------------------- holding */

/* Locks: the lock, here and below. */
static void
insert(struct ip_impair *im, mblk_t *hp)
{
	uint64_t due = held_of(hp)->due;
	mblk_t *at;

	if (im->first == NULL || due < held_of(im->first)->due) {
		hp->b_next = im->first;
		if (im->first == NULL)
			im->last = hp;
		__atomic_store_n(&im->first, hp, __ATOMIC_RELEASE);
		return;
	}
	/* behind all that are not due later: usually the end */
	at = due >= held_of(im->last)->due ? im->last : im->first;
	while (at->b_next != NULL && held_of(at->b_next)->due <= due)
		at = at->b_next;
	hp->b_next = at->b_next;
	if (at == im->last)
		im->last = hp;
	__atomic_store_n(&at->b_next, hp, __ATOMIC_RELEASE);
}

static void
hold(struct ip_impair *im, const mblk_t *pkt, const struct ip_hdr *h,
	uint64_t due, uint32_t late, uint64_t damage)
{
	mblk_t *hp = NULL, *mp = NULL;

	if (im->conf.held < im->conf.limit) {
		hp = allocb(sizeof(struct held), BPRI_MED);
		mp = msgpullup((mblk_t *)(uintptr_t)pkt, -1);
	}
	if (hp == NULL || mp == NULL) {
		im->conf.full++;
		freemsg(hp);
		freemsg(mp);
		return;
	}
	if (damage != 0 && MBLKL(mp) > (long)h->hlen) {
		damage %= 8 * ((uint64_t)MBLKL(mp) - h->hlen);
		mp->b_rptr[h->hlen + damage / 8] ^=
			(unsigned char)(1u << damage % 8);
		im->conf.damaged++;
	}
	hp->b_wptr += sizeof(struct held);
	held_of(hp)->due = due;
	held_of(hp)->late = late;
	held_of(hp)->h = *h;
	hp->b_cont = mp;
	insert(im, hp);
	im->conf.held++;
	im->nlate += late;
}

/* A packet has been held until @due: those that waited for it follow it. */
static void
follow(struct ip_impair *im, uint64_t due)
{
	mblk_t **at = &im->first, *hp, *before = NULL;

	while (im->nlate != 0 && (hp = *at) != NULL) {
		if (!held_of(hp)->late) {
			before = hp;
			at = &hp->b_next;
			continue;
		}
		str_msg_hold(hp);
		__atomic_store_n(at, hp->b_next, __ATOMIC_RELEASE);
		if (im->last == hp)
			im->last = before;
		held_of(hp)->late = 0;
		held_of(hp)->due = due;
		im->nlate--;
		insert(im, hp);
		at = &im->first;
		before = NULL;
	}
}

/* -------------------------------------------------------------------- chance */

/* xorshift64*: fast, and sufficiently random. */
static uint64_t
draw(struct ip_impair *im)
{
	im->rand ^= im->rand >> 12;
	im->rand ^= im->rand << 25;
	im->rand ^= im->rand >> 27;
	return im->rand * 0x2545f4914f6cdd1dull >> 32;
}

static int
chance(struct ip_impair *im, unsigned int millionths)
{
	return draw(im) % IPW_ALWAYS < millionths;
}

uint64_t
ip_impair_take(struct ip_impair *im, const mblk_t *pkt,
	const struct ip_hdr *h, uint64_t now)
{
	uint64_t due = now, bit, more;
	int lost, twice, late, damage;

	enter(im);
	lost = chance(im, im->conf.loss);
	twice = chance(im, im->conf.dup);
	late = chance(im, im->conf.reorder);
	damage = chance(im, im->conf.corrupt);
	bit = draw(im);
	more = draw(im) % (im->conf.jitter + 1ull);
	im->conf.seen++;
	im->conf.lost += (uint64_t)lost;
	if (!lost) {
		if (im->conf.rate != 0) {
			if (im->idle < now)
				im->idle = now;
			im->idle += (h->hlen + h->len) * 1000000000ull /
				im->conf.rate;
			due = im->idle;
		}
		due += (im->conf.delay + more) * US;
		im->conf.late += (uint64_t)late;
		im->conf.twice += (uint64_t)twice;
		hold(im, pkt, h, late ? due + LATE : due, (uint32_t)late,
			damage ? bit + 1 : 0);
		if (twice)
			hold(im, pkt, h, due, 0, 0);
		if (twice || !late)
			follow(im, due);
	}
	due = im->first == NULL ? UINT64_MAX : held_of(im->first)->due;
	leave(im);
	return due;
}

mblk_t *
ip_impair_due(struct ip_impair *im, uint64_t now, struct ip_hdr *h,
	uint64_t *ret_next)
{
	mblk_t *hp, *mp = NULL;

	enter(im);
	hp = im->first;
	if (hp != NULL && held_of(hp)->due <= now) {
		str_msg_hold(hp);
		__atomic_store_n(&im->first, hp->b_next, __ATOMIC_RELEASE);
		hp->b_next = NULL;
		im->conf.held--;
		im->nlate -= held_of(hp)->late;
		*h = held_of(hp)->h;
		mp = unlinkb(hp);
		freeb(hp);
	}
	*ret_next = im->first == NULL ? UINT64_MAX : held_of(im->first)->due;
	leave(im);
	return mp;
}

void
ip_impair_clear(struct ip_impair *im)
{
	struct ip_hdr h;
	uint64_t next;
	mblk_t *mp;

	while ((mp = ip_impair_due(im, UINT64_MAX, &h, &next)) != NULL)
		freemsg(mp);
}
