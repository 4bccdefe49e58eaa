/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages that modules keep in their own structures (*parked* messages).
 *
 * Purpose.  A module may keep a message in its own structures: half a line, an
 * ioctl that is answered later, a message that may have to be sent again, a
 * list of its own.  Such a message is stamped with the thread that took it
 * last, like a message that a thread holds, but it belongs to the module, and
 * must not be freed with the thread.
 *
 * How.  Before a dead thread's blocks are freed, the memory of modules is
 * searched for words that point into its messages: kmem_alloc() memory, q_ptr,
 * the writable data of loaded modules, arguments of timeouts and bufcalls, the
 * links of other messages, and cq_private of ioctls in progress.  Messages that
 * are found, and messages reachable from them, lose the stamp.  Messages of
 * other dead threads are treated in the same way: a message reachable from one
 * of them is kept only if that one is.  A word that only looks like the address
 * of a message, such as a stale pointer of a module, keeps the message until
 * the domain ends, and has no other effect.
 *
 * Locks.  None: other threads continue meanwhile, and words may change while
 * they are read.  A message that a living thread moves in the search, or puts a
 * message in front of, may be seen in neither place; the memory is searched
 * twice, because the second search finds it where the first one missed it.
 * Built-in drivers stamp messages before they take them from their lists
 * (str_msg_hold()).  A loaded module cannot: a thread that takes a message
 * from a list that several streams share, while its last owner, which was
 * killed, is being reaped, may find it freed.
 *
 * Crash.  The stamps of kept messages are cleared one by one; the next reaper
 * finds the others again.  The table is the reaper's private memory.
 */
#include "kind.h"

#define KEPT 1u	 /* in a table's entry: a pointer to it was found */
#define SEEN 2u	 /* and its own pointers have been followed */
#define FLAGS 3u

#define FEW 32u	 /* up to this number the table needs no memory */
#define OTHERS 1024u /* messages of other dead threads; more are treated as
		      * those of living ones */
#define ASKED 64u

struct parked {
	uint32_t tag;
	uint32_t n, room; /* entries; room for all messages of thread `tag', and
			   * for `others' of other dead threads */
	uint32_t nother, others;
	uint64_t *at; /* the dead threads' messages, by address; flags in the
		       * low bits */
	bool more;    /* an entry is KEPT and not SEEN */
	uint32_t asked[ASKED]; /* by slot modulo ASKED: the thread that
				* is_doubtful() asked about last */
	uint64_t dead; /* a bit for each: it is dead and not reaped */
};

static bool
is_ours(const struct parked *p, const struct str_blk *b)
{
	return str_load(&b->state) == STR_BLK_MDB &&
		str_load(&b->owner) == p->tag;
}

/*
 * Is @b a message of another thread that is dead and not reaped?  If its owner
 * has ended in an orderly way, the message has no owner.
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

/* The walk and the table are in the order of addresses. */
static void
enter(struct str_blk *b, void *arg)
{
	struct parked *p = arg;

	if (p->n == p->room)
		return; /* never: a dead thread's messages do not increase */
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
 * Can @w, an address in the block of message @x, be a pointer to the message?
 * Such a pointer is the address of its message block, its data block, or its
 * data.  Memory of modules begins 64 bytes after the block's beginning
 * (core/ddi/kmem.c): a pointer to freed memory that became a message has
 * another offset.
 */
static bool
is_meant(const struct str_mdb *x, uint64_t w)
{
	return w == (uintptr_t)&x->m || w == (uintptr_t)&x->d ||
		w >= (uintptr_t)x->buf;
}

/* The message in the table to which @w points, or NULL. */
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

/* A word of memory: mark the message to which it points, if any. */
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

/* Memory that a thread holds privately is not part of a module's data yet. */
void
str_words_kmem(const struct str_blk *b, str_word_fn *fn, void *arg)
{
	if (str_load(&b->owner) == 0)
		str_words_event(b, fn, arg);
}

/* Call @fn for the links of a message block, and for the private pointer of an
 * ioctl. */
STR_RACY void
str_words_message(const struct str_blk *b, str_word_fn *fn, void *arg)
{
	const struct str_mdb *x = (const void *)b;
	const dblk_t *d = x->m.b_datap;
	const unsigned char *c = x->m.b_rptr;
	struct copyreq cq;

	/*
	 * data of duplicates, or a block that is not a message yet, has no
	 * links
	 */
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
 * q_ptr may point to a message itself; and a thread that was killed while it
 * put a message on a queue need not have been inside its stream.
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

/* One block of the arena.  Messages in the table are left out: those that are
 * kept are followed later. */
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
 * str_parked - clear the stamps of dead thread @tag on messages that modules
 * keep
 *
 * Without memory for the table all its messages are kept.
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
	str_mem_walk(look, &p); /* a message that was moved meanwhile */
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
