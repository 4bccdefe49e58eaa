/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The executive's part of a domain: made once, attached by every image, and
 * cleared of what dead threads held.
 */
#include "core.h"

/*
 * The creator has no thread slot yet, and the allocator wants one: the last
 * slot of the table lends its magazines for the while.
 */
int
str_region_init(struct str_domain *d)
{
	struct str_thread *lent = &d->thread[STR_NTHREAD - 1];
	struct host_tls save = host_tls;
	int err = str_mem_init(d);

	host_tls.slot = lent;
	host_tls.tag = STR_TAG(STR_NTHREAD - 1, 1u);
	if (err == 0)
		err = str_registry_init(d);
	str_mem_reap(lent);
	host_tls.slot = save.slot;
	host_tls.tag = save.tag;
	if (err == 0)
		str_store_rel(&d->ready, 1u);
	return err;
}

int
str_region_attach(struct str_domain *d)
{
	return str_registry_attach(d);
}

struct reap {
	uint32_t tag;
	struct str_blk *found[64];
	unsigned n;
};

static void
collect(struct str_blk *b, void *arg)
{
	struct reap *r = arg;

	if (str_load(&b->owner) == r->tag && r->n < STR_ARRAY_LEN(r->found))
		r->found[r->n++] = b;
}

/* Is segment @s still part of its log? */
static bool
seg_linked(struct str_seg *s)
{
	struct str_headq *hq = s->hq;
	struct str_seg *p;

	if (hq == NULL || !str_mem_valid(hq))
		return false;
	if (hq->spare == s)
		return true;
	for (p = hq->head; p != NULL; p = p->next)
		if (p == s)
			return true;
	return false;
}

static void
reap_block(struct str_blk *b)
{
	switch (b->state) {
	case STR_BLK_MDB:
		str_mdb_reap((struct str_mdb *)(void *)b);
		break;
	case STR_BLK_SEG:
		if (seg_linked((struct str_seg *)(void *)b))
			str_mem_disown(b);
		else
			str_mem_free(b);
		break;
	case STR_BLK_PIPE:
		/* never entered, or being freed: its queues are stamped too */
		str_mem_free(b);
		break;
	case STR_BLK_FREE:
		break;
	default:
		str_mem_free(b);
		break;
	}
}

void
str_thread_reap(struct str_domain *d, struct str_thread *t)
{
	uint32_t tag = str_load(&t->tag), k;
	struct reap r;
	unsigned i;

	(void)d;
	for (k = 0; k < STR_NCLAIM; k++)
		str_store(&t->claim[k], (uint64_t)0);
	str_store(&t->asleep_on, (uint64_t)0);
	str_mem_reap(t);
	if (t == host_self() || host_self() == NULL)
		return; /* a thread that ends in order holds nothing else */
	do {
		r.tag = tag;
		r.n = 0;
		str_mem_walk(collect, &r);
		for (i = 0; i < r.n; i++) {
			str_mem_own(r.found[i]);
			reap_block(r.found[i]);
		}
	} while (r.n == STR_ARRAY_LEN(r.found));
}
