/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The head queue: counting it again after a death, and its end.  headq.c has
 * the theory, under Failure.
 */
#include "core.h"
#include "headq.h"

/* Bytes in the unread records, by walking.  Locks: clock and plock. */
static uint64_t
walk_bytes(struct str_headq *hq)
{
	uint64_t cpos = str_load(&hq->cpos), pos = str_load_acq(&hq->pos);
	struct str_seg *s = hq->head;
	uint64_t n = 0;

	while (cpos < pos && s != NULL) {
		const unsigned char *p;
		uint32_t hdr;

		if (cpos >= s->base + s->size) {
			s = s->next;
			continue;
		}
		p = s->data + (cpos - s->base);
		hdr = load32(p);
		if ((hdr & STR_REC_KIND) == STR_REC_SKIP) {
			cpos = s->base + s->size;
			continue;
		}
		if ((hdr & STR_REC_KIND) == STR_REC_REF) {
			mblk_t *mp;

			__builtin_memcpy(&mp,
				p + 4, sizeof(mp));
			n += msgsize(mp);
		} else {
			n += hdr & STR_REC_LEN;
		}
		cpos += rec_span(hdr, p);
	}
	return n;
}

/* str_headq_refs - @fn for every message the log refers to.  Locks: clock. */
void
str_headq_refs(struct str_headq *hq, void (*fn)(mblk_t *mp, uintptr_t arg),
	uintptr_t arg)
{
	uint64_t cpos = str_load(&hq->cpos), pos = str_load_acq(&hq->pos);
	struct str_seg *s = hq->head;

	while (cpos < pos && s != NULL) {
		const unsigned char *p;
		uint32_t hdr;

		if (cpos >= s->base + s->size) {
			s = s->next;
			continue;
		}
		p = s->data + (cpos - s->base);
		hdr = load32(p);
		if ((hdr & STR_REC_KIND) == STR_REC_SKIP) {
			cpos = s->base + s->size;
			continue;
		}
		if ((hdr & STR_REC_KIND) == STR_REC_REF) {
			mblk_t *mp;

			__builtin_memcpy(&mp,
				p + 4, sizeof(mp));
			fn(mp, arg);
		}
		cpos += rec_span(hdr, p);
	}
}

/* The segment that contains @pos, searched from @s on. */
static struct str_seg *
seg_of(struct str_seg *s, uint64_t pos)
{
	while (s != NULL && pos > s->base + s->size && s->next != NULL)
		s = s->next;
	return s;
}

/*
 * The dead producer was appending a message.  If it was published, clear its
 * origin (msg/origin.h).  If not, restore the origin: the reaper puts the
 * message back.  Called before `pos' changes again.
 */
static void
mend_going(struct str_headq *hq)
{
	if (hq->going != 0)
		str_origin_went(str_origin_at(hq->going), &hq->pos);
	hq->going = 0;
}

/* Locks: plock and clock. */
void
str_headq_mend_p(struct str_headq *hq)
{
	uint64_t part;

	mend_going(hq);
	hq->plimit = 0;
	if (hq->head != NULL) {
		uint64_t d = str_load(&hq->part);

		hq->tail = seg_of(hq->head, str_load(&hq->pos));
		part = (d & 0x7fffffffu) + ((d >> 32) & 0x7fffffffu);
		str_store(&hq->pbytes, str_load(&hq->cbytes) +
			walk_bytes(hq) - part);
	}
	hq->ccpos = str_load(&hq->cpos);
	hq->ccbytes = str_load(&hq->cbytes);
	if (str_load(&hq->overflow) != 0 ||
	    str_load(&hq->full) == STR_FULL_HELD)
		str_headq_hold(hq, str_load(&hq->overflow) != 0);
}

/* str_headq_repair_p - plock was taken over from a dead producer. */
void
str_headq_repair_p(struct str_headq *hq)
{
	if (str_hlock(&hq->clock, STR_HOLD_C))
		str_headq_repair_c(hq);
	str_headq_mend_p(hq);
	str_hunlock(&hq->clock, STR_HOLD_C);
}

/* str_headq_recount - the slow half of str_headq_settle(). */
void
str_headq_recount(struct str_headq *hq)
{
	if (str_load(&hq->doubt) != 0) {
		str_store(&hq->doubt, 0u); /* first: if this thread is killed,
					    * the next owner of plock repairs */
		str_headq_repair_p(hq);
	}
	if (str_load(&hq->overflow) != 0)
		str_headq_let_in(hq);
}

/* str_headq_repair_c - clock was taken over from a dead consumer. */
void
str_headq_repair_c(struct str_headq *hq)
{
	struct str_seg *s = hq->head;

	hq->climit = 0;
	/* cpos may already be in the next segment */
	while (s != NULL && str_load(&hq->cpos) >= s->base + s->size &&
		s->next != NULL && str_load(&hq->cpos) >= s->next->base) {
		str_mem_own(s);
		hq->head = s->next;
		str_headq_retire(hq, s);
		s = hq->head;
	}
	hq->cpos_seen = str_load(&hq->cpos);
	str_store(&hq->doubt, 1u);
}

/* str_headq_fini - free it all; no thread uses the queue any more. */
void
str_headq_fini(struct str_headq *hq)
{
	struct str_seg *s;

	str_headq_flush_log(hq);
	/*
	 * one after the other: if a thread is killed in between, the rest
	 * remains
	 */
	while ((s = hq->head) != NULL) {
		str_mem_own(s);
		__atomic_store_n(&hq->head, s->next, __ATOMIC_RELEASE);
		str_mem_free(s);
		STR_CRASH_POINT("headq:dropped");
	}
	hq->tail = NULL;
	hq->plimit = hq->climit = 0;
	s = hq->spare;
	if (s != NULL) {
		str_mem_own(s);
		hq->spare = NULL;
		str_mem_free(s);
	}
}
