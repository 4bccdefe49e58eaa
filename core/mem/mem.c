/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The arena's allocator.
 *
 * Objects.  The arena is cut into 64 KiB granules.  A granule belongs to a
 * size class and is cut into blocks of it, or is part of a run that holds
 * one large block.  Every block begins with struct str_blk: its kind, and the
 * thread that holds it privately.
 *
 * Life.  A thread takes blocks from its own magazines (two per class, no
 * atomics) and frees them there; full and empty magazines are exchanged as a
 * whole with the class's depot, a lock-free stack of chains.  The top of a
 * depot has a 16-bit tag against ABA; chains are linked by the third word of
 * their first block.  Each size of runs has a depot, too, and no magazines.
 *
 * Full.  If there is no fresh granule, a free run is cut into shorter runs, or
 * into blocks of a class.  A granule of a class is never joined to a run again,
 * because its free blocks are in the magazines of several threads.
 *
 * Failure.  A block is stamped before it leaves a magazine, and still stamped
 * when it has entered one, so a thread that dies in between leaves a block that
 * is both in its magazine and stamped: str_thread_reap() first returns the
 * magazines, which frees their blocks, and then frees the blocks stamped with
 * the dead thread's tag.  Dying inside a depot exchange leaks one chain at
 * most; no lock is held anywhere.
 */
#include "core.h"
#include "mem.h"

/*
 * Block sizes, header included.  A message has a block of 320 bytes or more, of
 * which STR_MDB_HDR are its own: 320, 1216 and 2240 leave 128, 1024 and 2048.
 */
const uint32_t str_mem_class_size[STR_NCLASS] = {
	64, 128, 192, STR_MDB_SIZE, 512, 1216, 2240, 4352, 8704, 16640, STR_MDB_MAX,
	(sizeof(struct str_plumb) + 63) / 64 * 64,
};
#define NCLASS_SIZED 11u
/* Streams have a size class of their own: the memory of a stream is only reused
 * for streams, so a late reader of a generation always finds a generation. */
#define CLASS_PIPE 11u
_Static_assert(CLASS_PIPE + 1 == STR_MEM_CLASSES, "the last class");

/* Blocks per magazine: 4 KiB of the smallest, 128 KiB of the largest. */
const uint8_t str_mem_class_batch[STR_NCLASS] = {
	64, 64, 64, 64, 32, 16, 16, 8, 8, 4, 4, 4,
};

#define TOP_PTR(v) ((struct chain *)(uintptr_t)((v) & 0x0000ffffffffffffull))
#define TOP_TAG(v) ((v) >> 48)
#define TOP(p, tag) \
	((uint64_t)(uintptr_t)(p) | ((uint64_t)(uint16_t)(tag) << 48))

/* A chain of free blocks in a depot; overlays its first block. */
struct chain {
	struct str_blk blk;
	struct chain *below; /* next chain in the depot */
	uint64_t count;	     /* blocks in this one */
};

/*
 * With assertions a free block is filled with POISON, except for the words of
 * the depot; the thread that takes the block checks whether it was written to.
 * Two things are not overwritten: the memory of a stream, because late reads of
 * its generation are allowed; and the word that says whether a block contains a
 * message, because the reaper reads it when a thread dies just after it took
 * the block.
 */
#ifdef STR_DEBUG
#define POISON 0xa5a5a5a5a5a5a5a5ull
#define PARTS (offsetof(struct str_mdb, parts) / 8)

void
str_mem_poison(struct str_blk *b, unsigned cls)
{
	uint64_t *p = (uint64_t *)(void *)b;
	uint32_t i = sizeof(struct chain) / 8;

	for (; cls != CLASS_PIPE && i < str_mem_class_size[cls] / 8; i++)
		if (cls < CLASS_MDB || i != PARTS)
			p[i] = POISON;
}

void
str_mem_check(const struct str_blk *b, unsigned cls)
{
	const uint64_t *p = (const uint64_t *)(const void *)b;
	uint32_t i = sizeof(struct chain) / 8;

	STR_VERIFY(b->state == STR_BLK_FREE);
	/* fresh memory of the host has no poison, nor have blocks that a
	 * process without assertions has freed; a write to both ends is not
	 * detected */
	if (cls == CLASS_PIPE || (p[i] != POISON &&
		p[str_mem_class_size[cls] / 8 - 1] != POISON))
		return;
	for (; i < str_mem_class_size[cls] / 8; i++)
		STR_VERIFY(p[i] == POISON || (cls >= CLASS_MDB && i == PARTS));
}
#endif

#if defined(__SANITIZE_ADDRESS__)
void __asan_poison_memory_region(const volatile void *p, size_t n);
void __asan_unpoison_memory_region(const volatile void *p, size_t n);

bool str_mem_shadow;

void
str_mem_hide(struct str_blk *b, unsigned cls)
{
	size_t n = sizeof(struct chain), size = str_mem_class_size[cls];
	unsigned char *p = (unsigned char *)b;

	/* the memory of a stream may be read when it is free */
	if (!str_mem_shadow || cls == CLASS_PIPE)
		return;
	__asan_poison_memory_region(p + n, size - n);
	/* so may the word that says whether a block contains a message */
	if (cls >= CLASS_MDB)
		str_mem_show(p + offsetof(struct str_mdb, parts), 8);
}

void
str_mem_show(void *p, size_t n)
{
	if (str_mem_shadow)
		__asan_unpoison_memory_region(p, n);
}

void
str_mem_end(struct str_blk *b, const void *end)
{
	const unsigned char *e = end;

	if (str_mem_shadow)
		__asan_poison_memory_region(e,
			(size_t)((unsigned char *)b + str_mem_size(b) - e));
}
#endif

static struct str_slab *
slab_of(const void *p)
{
	uint64_t off = (uint64_t)(uintptr_t)p - host_domain->base;

	return &host_domain->slab[off >> STR_SLAB_SHIFT];
}

/* Take @n fresh granules; 0 when the cap or the memory is used up. */
static uint64_t
granules(uint64_t n)
{
	struct str_domain *d = host_domain;
	uint64_t limit = d->cap >> STR_SLAB_SHIFT;
	uint64_t idx = str_load(&d->next_granule);

	for (;;) {
		if (idx + n > limit || idx + n > STR_ARRAY_LEN(d->slab) ||
		    host_commit(idx << STR_SLAB_SHIFT, n << STR_SLAB_SHIFT) !=
			    0)
			return 0;
		if (str_cas(&d->next_granule, idx, idx + n))
			return idx;
		idx = str_load(&d->next_granule);
	}
}

/*
 * Large blocks that pass from one CPU to another.  Writing memory that lies in
 * another CPU's private cache costs several times as much as writing memory
 * that has left that cache.  So such blocks are used in rotation: they are
 * freed to one list of the depot and taken from the other.  The lists are
 * exchanged when the second one is empty and one of two conditions holds: the
 * class has rotation() bytes, which is more than a cache, or half of the domain
 * has been handed out.  A block that is freed and taken on the same CPU is
 * reused at once.  `cpu' of a depot is a hint: if it is wrong, that only costs
 * time.
 */
#define ROTATED(cls) ((cls) >= 7 && (cls) != CLASS_PIPE)
#define ROTATION (1u << 23) /* bytes */

static uint32_t
rotation(void)
{
	return (uint32_t)STR_MIN((uint64_t)ROTATION, host_domain->room >> 7);
}

static void
depot_freed(unsigned cls, uint32_t cpu)
{
	str_a32 *where = &host_domain->depot[cls].cpu;

	if (str_load(where) != cpu)
		str_store(where, cpu);
}

static void
depot_push(unsigned cls, struct chain *c)
{
	uint32_t turn = str_load(&host_domain->depot[cls].turn);
	str_a64 *top = &host_domain->depot[cls].top[
		ROTATED(cls) ? ~turn & 1 : 0];
	uint64_t old = str_load_acq(top);

	do
		str_store(&c->below, TOP_PTR(old));
	while (!str_cas_see(top, &old, TOP(c, TOP_TAG(old) + 1)));
}

/* @c may have been taken by now; its memory stays mapped. */
STR_RACY static struct chain *
below_of(struct chain *c)
{
	return str_load(&c->below);
}

static struct chain *
depot_pop(unsigned cls, uint32_t list)
{
	str_a64 *top = &host_domain->depot[cls].top[list & 1];
	uint64_t old = str_load_acq(top);

	for (;;) {
		struct chain *c = TOP_PTR(old);
		struct chain *below;

		if (c == NULL)
			return NULL;
		/* if c has been taken the tag makes the exchange fail */
		below = below_of(c);
		if (str_cas_see(top, &old, TOP(below, TOP_TAG(old) + 1)))
			return c;
	}
}

/* Take a chain; NULL: there is none, or a fresh one should be made. */
static struct chain *
depot_take(unsigned cls)
{
	uint32_t turn = str_load(&host_domain->depot[cls].turn);
	struct chain *c;

	if (!ROTATED(cls))
		return depot_pop(cls, 0);
	if (str_load(&host_domain->depot[cls].cpu) == host_cpu()) {
		c = depot_pop(cls, ~turn);
		return c != NULL ? c : depot_pop(cls, turn);
	}
	c = depot_pop(cls, turn);
	if (c != NULL)
		return c;
	if (str_load(&host_domain->depot[cls].grown) < rotation() >>
			STR_SLAB_SHIFT && str_mem_plenty())
		return NULL;
	str_store(&host_domain->depot[cls].turn, ~turn & 1);
	c = depot_pop(cls, ~turn);
	/* other threads may have exchanged the lists as well */
	return c != NULL ? c : depot_pop(cls, turn);
}

/* Take any chain: there is no fresh memory. */
static struct chain *
depot_any(unsigned cls)
{
	struct chain *c = depot_pop(cls, 0);

	return c != NULL ? c : depot_pop(cls, 1);
}

/* Class RUN(k) keeps free runs of 2^k granules. */
#define RUN(k) (STR_MEM_CLASSES + (k))
#define NRUN (STR_NCLASS - STR_MEM_CLASSES)

/* Make the @n granules from @idx on a free run. */
static void
run_form(uint64_t idx, uint64_t n)
{
	struct str_blk *b = str_slab_base(idx);

	str_store(&b->stamp, (uint64_t)STR_BLK_FREE);
	str_store(&host_domain->slab[idx].npage, (uint32_t)n);
	/* last: a walk through the arena reads the block */
	str_store_rel(&host_domain->slab[idx].kind, STR_SLAB_RUN);
}

/*
 * Take 2^@k granules from the shortest free run of at least that length; the
 * rest becomes free runs.
 * Return: the first granule, which is in no list; 0: there is none.
 * Crash: granules that are in no list are leaked.
 */
static uint64_t
run_cut(unsigned k)
{
	struct chain *c = NULL;
	unsigned have;
	uint64_t idx;

	for (have = k; have < NRUN && c == NULL; have++)
		c = depot_any(RUN(have));
	if (c == NULL)
		return 0;
	idx = ((uint64_t)(uintptr_t)c - host_domain->base) >> STR_SLAB_SHIFT;
	have--;
	str_mem_show(c, (size_t)STR_SLAB_SIZE << have);
	for (; have > k; have--) {
		uint64_t rest = idx + (1ull << (have - 1));

		run_form(rest, 1ull << (have - 1));
		str_store(&host_domain->slab[idx].npage, 1u << (have - 1));
		depot_push(RUN(have - 1), str_slab_base(rest));
	}
	return idx;
}

/* Cut a granule, a fresh one or one of a free run, into chains of class @cls.
 * Return: one of them, or a chain that was freed meanwhile; NULL: no memory. */
static struct chain *
carve(unsigned cls)
{
	uint64_t idx = granules(1);
	unsigned char *p, *end;
	struct chain *first = NULL;
	uint32_t size = str_mem_class_size[cls];

	if (idx == 0) {
		first = depot_any(cls);
		if (first != NULL || (idx = run_cut(0)) == 0)
			return first;
		/* as a fresh one: no block is in use */
		__builtin_memset(str_slab_base(idx), 0, STR_SLAB_SIZE);
	}
	(void)str_add(&host_domain->depot[cls].grown, 1u);
	p = str_slab_base(idx);
	end = p + STR_SLAB_SIZE;
	/* 64-byte alignment for all classes that are multiples of it */
	str_store_rel(&host_domain->slab[idx].kind, cls + 1);
	while (p + size <= end) {
		struct chain *c = (struct chain *)(void *)p;
		struct str_blk *prev = NULL;
		uint64_t n;

		for (n = 0; n < str_mem_class_batch[cls] && p + size <= end; n++) {
			struct str_blk *b = (struct str_blk *)(void *)p;

			str_store(&b->state, (uint32_t)STR_BLK_FREE);
			b->next = NULL;
			if (prev != NULL)
				prev->next = b;
			prev = b;
			p += size;
		}
		c->count = n;
		if (first == NULL)
			first = c;
		else
			depot_push(cls, c);
	}
	return first;
}

/* Fill an empty magazine; false when there is no memory. */
STR_COLD bool
str_mem_refill(struct str_thread *t, unsigned cls)
{
	struct str_mag *m = &t->mag[0][cls], *p = &t->mag[1][cls];
	struct chain *c;

	if (p->head != NULL) {
		/*
		 * if this thread is killed between the two stores, the chain is
		 * in both magazines, not in none: str_mem_reap()
		 */
		*m = *p;
		str_barrier();
		STR_CRASH_POINT("mem:swap");
		p->head = NULL;
		p->count = 0;
		return true;
	}
	c = depot_take(cls);
	if (c == NULL)
		c = carve(cls);
	if (c == NULL)
		return false;
	m->count = (uint32_t)c->count;
	m->head = c;
	return true;
}

/*
 * The loaded magazine is full: it becomes the previous one, which goes to the
 * depot.
 */
STR_COLD void
str_mem_spill(struct str_thread *t, unsigned cls)
{
	struct str_mag *m = &t->mag[0][cls], *p = &t->mag[1][cls];
	struct chain *c = p->head;

	if (c != NULL) {
		if (ROTATED(cls))
			depot_freed(cls, host_cpu());
		c->count = p->count;
		p->head = NULL;
		depot_push(cls, c);
	}
	*p = *m;
	str_barrier();
	STR_CRASH_POINT("mem:spill");
	m->head = NULL;
	m->count = 0;
}

static unsigned
class_of(size_t size)
{
	unsigned cls;

	for (cls = 0; cls < NCLASS_SIZED; cls++)
		if (size <= str_mem_class_size[cls])
			return cls;
	return STR_NCLASS;
}

/* Large blocks: whole granules.  Freed runs wait on a list by size. */
static void *
run_alloc(size_t size, uint32_t state)
{
	struct str_domain *d = host_domain;
	uint64_t n;
	struct str_blk *b = NULL;
	uint64_t i, idx = 0;

	unsigned k = 0;

	if (size > STR_MEM_MAX)
		return NULL;
	n = (size + STR_SLAB_SIZE - 1) >> STR_SLAB_SHIFT;
	while ((1ull << k) < n)
		k++;
	n = 1ull << k;
	b = (struct str_blk *)depot_take(RUN(k));
	if (b != NULL)
		str_mem_show(b, n << STR_SLAB_SHIFT);
	if (b == NULL && (idx = granules(n)) == 0) {
		idx = run_cut(k);
		if (idx == 0)
			return NULL;
		b = str_slab_base(idx);
	}
	if (b == NULL) {
		(void)str_add(&d->depot[RUN(k)].grown, (uint32_t)n);
		b = str_slab_base(idx);
		str_store(&d->slab[idx].npage, (uint32_t)n);
		for (i = 1; i < n; i++)
			str_store(&d->slab[idx + i].kind, STR_SLAB_REST);
		str_store_rel(&d->slab[idx].kind, STR_SLAB_RUN);
	}
	str_mem_stamp(b, state);
	return b;
}

/* The run @b of @n granules is free. */
static void
run_hide(struct str_blk *b, uint32_t n)
{
#if defined(__SANITIZE_ADDRESS__)
	if (str_mem_shadow)
		__asan_poison_memory_region((struct chain *)b + 1,
			((size_t)n << STR_SLAB_SHIFT) - sizeof(struct chain));
#else
	(void)b;
	(void)n;
#endif
}

static void
run_free(struct str_blk *b, uint32_t cpu)
{
	uint32_t n = str_load(&slab_of(b)->npage);
	unsigned k = 0;

	while ((1u << k) < n)
		k++;
	depot_freed(RUN(k), cpu);
	str_store(&b->state, (uint32_t)STR_BLK_FREE);
	str_store(&b->owner, 0u);
	depot_push(RUN(k), (struct chain *)b);
	run_hide(b, n);
}

static void *
alloc(unsigned cls, uint32_t state)
{
	struct str_thread *t = host_self();
	struct str_mag *m = &t->mag[0][cls];
	struct str_blk *b;

	if (str_unlikely(m->head == NULL) && !str_mem_refill(t, cls))
		return NULL;
	b = m->head;
	str_mem_show(b, str_mem_class_size[cls]);
	str_mem_check(b, cls);
	str_mem_stamp(b, state);
	str_barrier();
	m->head = b->next;
	m->count--;
	return b;
}

/**
 * str_mem_alloc - a block of at least @size bytes, header included
 * @size:  bytes
 * @state: its kind, STR_BLK_*
 *
 * Return: the block, held privately by this thread, 64-byte aligned; NULL
 * when the domain is full (callers answer ENOSR).
 * Crash: stamped before it leaves the magazine.
 */
void *
str_mem_alloc(size_t size, uint32_t state)
{
	unsigned cls = class_of(size);

	return cls == STR_NCLASS ? run_alloc(size, state) : alloc(cls, state);
}

/*
 * str_mem_zalloc - the same, zeroed after its header, to its end
 * For memory that is searched for pointers (str_parked()).
 */
void *
str_mem_zalloc(size_t size, uint32_t state)
{
	struct str_blk *b = str_mem_alloc(size, state);

	if (b != NULL)
		__builtin_memset(b + 1, 0, str_mem_size(b) - sizeof(*b));
	return b;
}

/* str_mem_alloc_plumb - memory for a stream, never used for anything else */
void *
str_mem_alloc_plumb(uint32_t state)
{
	return alloc(CLASS_PIPE, state);
}

/**
 * str_mem_free - free a block
 * @p: the block, not valid afterwards.  NULL is allowed.
 */
void
str_mem_free(void *p)
{
	struct str_thread *t = host_self();
	struct str_blk *b = p;
	struct str_mag *m;
	unsigned cls;
	uint32_t kind;

	if (b == NULL)
		return;
	STR_ASSERT(b->state != STR_BLK_FREE);
	kind = str_load(&slab_of(b)->kind);
	if (kind == STR_SLAB_RUN) {
		run_free(b, host_cpu());
		return;
	}
	STR_VERIFY(kind >= 1 && kind <= STR_MEM_CLASSES);
	cls = kind - 1;
	m = &t->mag[0][cls];
	if (str_unlikely(m->count >= str_mem_class_batch[cls]))
		str_mem_spill(t, cls);
	/*
	 * if this thread is killed from here on, the reaper finds memory
	 * without a special kind
	 */
	str_mem_stamp(b, STR_BLK_KMEM);
	str_barrier();
	str_mem_show(b, str_mem_class_size[cls]);
	str_mem_poison(b, cls);
	b->next = m->head;
	str_barrier();
	m->head = b;
	m->count++;
	str_barrier();
	str_store(&b->state, (uint32_t)STR_BLK_FREE);
	str_mem_hide(b, cls);
}

/* str_mem_free_from - the same for a long block that was last used on @cpu */
void
str_mem_free_from(void *p, uint32_t cpu)
{
	if (str_load(&slab_of(p)->kind) == STR_SLAB_RUN)
		run_free(p, cpu);
	else
		str_mem_free(p);
}

/* str_mem_size - bytes a block has, its header included. */
size_t
str_mem_size(const void *p)
{
	struct str_slab *s = slab_of(p);
	uint32_t kind = str_load(&s->kind);

	if (kind == STR_SLAB_RUN)
		return (size_t)str_load(&s->npage) << STR_SLAB_SHIFT;
	return str_mem_class_size[kind - 1];
}

/* str_mem_valid - does @p point into the arena's blocks? */
bool
str_mem_valid(const void *p)
{
	uint64_t a = (uint64_t)(uintptr_t)p;
	struct str_domain *d = host_domain;

	return a >= d->base + STR_HDR_SIZE &&
		a < d->base + (str_load(&d->next_granule) << STR_SLAB_SHIFT);
}

/* The block is reachable from a shared structure now, or private again. */
void
str_mem_disown(void *p)
{
	str_store(&((struct str_blk *)p)->owner, 0u);
}

void
str_mem_own(void *p)
{
	str_store(&((struct str_blk *)p)->owner, host_self_tag());
}

/* Return a dead thread's magazine; its blocks are free whatever their header
 * says */
static void
mag_reap(unsigned cls, struct str_mag *m)
{
	struct chain *c = m->head;
	struct str_blk *b;
	uint64_t n = 0;

	m->head = NULL;
	m->count = 0;
	if (c == NULL)
		return;
	for (b = &c->blk; b != NULL; b = b->next) {
		str_mem_show(b, str_mem_class_size[cls]);
		str_mem_poison(b, cls);
		str_store(&b->state, (uint32_t)STR_BLK_FREE);
		str_mem_hide(b, cls);
		n++;
	}
	c->count = n;
	depot_push(cls, c);
}

/* str_mem_reap - return the magazines of thread slot @t to the depots. */
void
str_mem_reap(struct str_thread *t)
{
	unsigned cls;

	for (cls = 0; cls < STR_NCLASS; cls++) {
		/* it died while it moved one magazine to the other */
		if (t->mag[0][cls].head == t->mag[1][cls].head)
			t->mag[1][cls].head = NULL;
		mag_reap(cls, &t->mag[0][cls]);
		mag_reap(cls, &t->mag[1][cls]);
	}
}

int
str_mem_init(struct str_domain *d)
{
	str_store(&d->next_granule, STR_HDR_SIZE >> STR_SLAB_SHIFT);
	return 0;
}
