/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What a module has put away.
 *
 * Purpose.  A module may keep a message in its own structures: half a line, an
 * ioctl that is answered later, what may have to be sent again, a list of its
 * own.  Such a message is stamped with the thread that took it last, as what a
 * thread has in its hands is, but it is the module's, and outlives the thread.
 *
 * How.  Before a dead thread's blocks are freed, the memory of modules is
 * searched for words that lead into its messages: what kmem_alloc() gave, q_ptr,
 * the writable data of loaded modules, arguments of timeouts and bufcalls,
 * the links of messages that are another's, and what ioctls that are
 * under way have in cq_private.  What is found there, and what that leads to,
 * loses the stamp.  The messages of others who are dead are looked for in the
 * same way: what one of them leads to is kept only if that is.  A word that only
 * looks like the address of a message, such as one that a module has forgotten to
 * clear, keeps it for nothing, until the domain ends; that is all it does.
 *
 * Locks.  None: others go on meanwhile, and words may change as they are read.
 * A message that a living thread has just taken from where it had been put
 * away may be seen in neither place; a thread that takes it while its last
 * owner, which was killed, is being reaped may find it freed.
 *
 * Crash.  The stamps of what is kept are cleared one by one; the next reaper
 * finds the others again.  The table is the reaper's own.
 */
#include "kind.h"

#define KEPT 1u	 /* in a table's entry: something leads there */
#define SEEN 2u	 /* and what it leads to has been looked at */
#define FLAGS 3u

#define FEW 32u	 /* this many need no memory for the table */
#define OTHERS 1024u /* of others who are dead: the rest counts as the living's */
#define ASKED 64u

struct parked {
	uint32_t tag;
	uint32_t n, room; /* room for all that are ours, and for so many */
	uint32_t nother, others;
	uint64_t *at; /* the dead's messages, by address; flags in the low bits */
	bool more;    /* there is one that is KEPT and not SEEN */
	uint32_t asked[ASKED]; /* by slot: whether this thread is dead */
	uint64_t dead;
};

static bool
is_ours(const struct parked *p, const struct str_blk *b)
{
	return str_load(&b->state) == STR_BLK_MDB &&
		str_load(&b->owner) == p->tag;
}

/*
 * ... or some other's who is dead, too, and not reaped?  What has the name of
 * a thread that ended in order has no owner.
 */
static bool
is_doubtful(struct parked *p, const struct str_blk *b)
{
	uint32_t owner = str_load(&b->owner), i = STR_TAG_IDX(owner) % ASKED;

	if (str_load(&b->state) != STR_BLK_MDB || owner == 0 || owner == p->tag)
		return false;
	if (owner != p->asked[i]) {
		p->asked[i] = owner;
		p->dead &= ~((uint64_t)1 << i);
		if (host_owner_dead(owner) &&
		    str_load(&host_domain->thread[STR_TAG_IDX(owner)].tag) ==
			owner)
			p->dead |= (uint64_t)1 << i;
	}
	return (p->dead >> i & 1) != 0;
}

static void
count(struct str_blk *b, void *arg)
{
	struct parked *p = arg;

	if (is_ours(p, b))
		p->room++;
	else if (p->others < OTHERS && is_doubtful(p, b))
		p->others++;
}

/* The walk is by address, and so is the table. */
static void
enter(struct str_blk *b, void *arg)
{
	struct parked *p = arg;

	if (p->n == p->room)
		return; /* never: those that are ours do not become more */
	if (is_ours(p, b))
		p->at[p->n++] = (uint64_t)(uintptr_t)b;
	else if (p->nother < p->others && is_doubtful(p, b))
		p->nother++, p->at[p->n++] = (uint64_t)(uintptr_t)b;
}

static struct str_mdb *
block(uint64_t e)
{
	return (struct str_mdb *)(uintptr_t)(e & ~(uint64_t)FLAGS);
}

/*
 * May @w, which leads into the block of message @x, be meant for that?  It is the
 * address of its message block, its data block, or its data.  Memory of modules
 * begins 64 bytes behind its block (core/ddi/kmem.c): a pointer to what was freed
 * and has become a message leads elsewhere.
 */
static bool
is_meant(const struct str_mdb *x, uint64_t w)
{
	return w == (uintptr_t)&x->m || w == (uintptr_t)&x->d ||
		w >= (uintptr_t)x->buf;
}

/* The message of the table that @w leads into, or NULL. */
static uint64_t *
entry(struct parked *p, uint64_t w)
{
	uint32_t lo = 0, hi = p->n;
	struct str_mdb *x;

	if (p->n == 0 || w < (p->at[0] & ~(uint64_t)FLAGS))
		return NULL;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if ((p->at[mid] & ~(uint64_t)FLAGS) <= w)
			lo = mid;
		else
			hi = mid;
	}
	x = block(p->at[lo]);
	return w < (uintptr_t)x + str_mem_size(x) ? &p->at[lo] : NULL;
}

/* A word of memory: does it lead into one of them? */
static void
word(void *arg, uint64_t w)
{
	struct parked *p = arg;
	uint64_t *e = entry(p, w);

	if (e != NULL && (*e & KEPT) == 0 && is_meant(block(*e), w)) {
		*e |= KEPT;
		p->more = true;
	}
}

/* ------------------------------------------------- of the table of kinds */

STR_RACY void
str_words_event(const struct str_blk *b, str_word_fn *fn, void *arg)
{
	size_t size = str_mem_size(b) - sizeof *b;
	const volatile uint64_t *w = (const void *)(b + 1), *end = w + size / 8;

	for (; w < end; w++)
		fn(arg, *w);
}

/* Memory that a thread has in its hands is nowhere yet. */
void
str_words_kmem(const struct str_blk *b, str_word_fn *fn, void *arg)
{
	if (str_load(&b->owner) == 0)
		str_words_event(b, fn, arg);
}

/* Its neighbours, and what an ioctl remembers. */
STR_RACY void
str_words_message(const struct str_blk *b, str_word_fn *fn, void *arg)
{
	const struct str_mdb *x = (const void *)b;
	const dblk_t *d = x->m.b_datap;
	const unsigned char *c = x->m.b_rptr;
	struct copyreq cq;

	/* data that dups have, or what is no message yet, has no neighbours */
	if ((str_load(&x->parts) & STR_MDB_M) == 0)
		return;
	fn(arg, (uintptr_t)x->m.b_next);
	fn(arg, (uintptr_t)x->m.b_prev);
	fn(arg, (uintptr_t)x->m.b_cont);
	if (!str_mem_valid(d) || !str_mem_valid(c) ||
	    !str_mem_valid(c + sizeof cq) ||
	    ((uintptr_t)d & 7u) != 0 || ((uintptr_t)c & 7u) != 0)
		return;
	if (d->db_type == M_COPYIN || d->db_type == M_COPYOUT ||
	    d->db_type == M_IOCDATA)
		fn(arg, (uintptr_t)((const struct copyreq *)(const void *)c)
				->cq_private);
}

/*
 * A module may have nothing of its own but one message; and a thread that was
 * killed putting one on a queue need not have been inside its stream.
 */
STR_RACY void
str_words_pair(const struct str_blk *b, str_word_fn *fn, void *arg)
{
	const struct str_qpair *qp = (const void *)b;

	fn(arg, (uintptr_t)*(void *const volatile *)&qp->rq.q_first);
	fn(arg, (uintptr_t)*(void *const volatile *)&qp->wq.q_first);
	fn(arg, (uintptr_t)*(void *const volatile *)&qp->rq.q_ptr);
	fn(arg, (uintptr_t)*(void *const volatile *)&qp->wq.q_ptr);
}

/* One block of the arena; messages of the table come later. */
static void
look(struct str_blk *b, void *arg)
{
	uint32_t state = str_load(&b->state);

	if (state < STR_BLK_NKIND && str_kind[state].words != NULL &&
	    (state != STR_BLK_MDB || entry(arg, (uintptr_t)b) == NULL))
		str_kind[state].words(b, word, arg);
}

static void
keep(struct str_blk *b, void *arg)
{
	const struct parked *p = arg;

	if (is_ours(p, b))
		(void)str_cas(&b->owner, p->tag, 0u);
}

/*
 * str_parked - let go of the messages of dead thread @tag that modules have
 *
 * Without memory for the table all of them are kept, linked or lost.
 */
void
str_parked(uint32_t tag)
{
	struct parked p = {.tag = tag};
	struct str_blk *table = NULL;
	uint64_t few[FEW];
	uint32_t i;

	str_mem_walk(count, &p);
	if (p.room == 0)
		return;
	p.room += p.others;
	p.at = few;
	if (p.room > FEW) {
		table = str_mem_alloc(sizeof *table +
				p.room * sizeof(uint64_t), STR_BLK_KMEM);
		if (table == NULL) {
			str_mem_walk(keep, &p);
			return;
		}
		p.at = (uint64_t *)(void *)(table + 1);
	}
	str_mem_walk(enter, &p);
	str_mem_walk(look, &p);
	while (p.more) {
		p.more = false;
		for (i = 0; i < p.n; i++) {
			if ((p.at[i] & FLAGS) != KEPT)
				continue;
			p.at[i] |= SEEN;
			str_words_message(&block(p.at[i])->blk, word, &p);
		}
	}
	for (i = 0; i < p.n; i++)
		if ((p.at[i] & KEPT) != 0)
			(void)str_cas(&block(p.at[i])->blk.owner, tag, 0u);
	if (table != NULL)
		str_mem_free(table);
}
