/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * allocb, dupb, copyb, freeb: SVR4 DDI/DKI section D3.
 */
#include <sys/kmem.h>
#include "fixture.h"
#include "mem/mem.h"

T_CASE(allocb_gives_an_empty_data_message)
{
	mblk_t *mp;

	fx_begin(t);
	mp = allocb(10, BPRI_MED);
	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, M_DATA);
	T_EQ(mp->b_datap->db_ref, 1);
	T_EQ(mp->b_band, 0);
	T_EQ(mp->b_flag, 0);
	T_NULL(mp->b_cont);
	T_NULL(mp->b_next);
	T_NULL(mp->b_prev);
	T_TRUE(mp->b_rptr == mp->b_datap->db_base);
	T_TRUE(mp->b_wptr == mp->b_rptr);
	freeb(mp);
}

T_CASE(allocb_gives_at_least_the_size_asked_for)
{
	static const size_t size[] = {0, 1, 64, 127, 128, 129, 255, 1024,
		4096, 4097, 16384, 65535, 65536, 262144};
	unsigned i;

	fx_begin(t);
	for (i = 0; i < STR_ARRAY_LEN(size); i++) {
		mblk_t *mp = allocb(size[i], BPRI_LO);

		T_NOTNULL(mp);
		T_GE(mp->b_datap->db_lim - mp->b_datap->db_base,
			(long)size[i]);
		T_EQ(mp->b_datap->db_size, size[i]);
		memset(mp->b_wptr, 0xee, size[i]);
		freeb(mp);
	}
}

T_CASE(a_message_of_no_more_than_32576_bytes_is_one_block)
{
	static const size_t size[] = {128, 129, 320, 321, 1024, 1025, 2048,
		2049, 4160, 4161, 8512, 8513, 16448, 16449, 32576};
	unsigned i;

	fx_begin(t);
	for (i = 0; i < STR_ARRAY_LEN(size); i++) {
		mblk_t *mp = allocb(size[i], BPRI_LO);

		T_NOTNULL(mp);
		memset(mp->b_datap->db_base, 0xee, (size_t)(
			mp->b_datap->db_lim - mp->b_datap->db_base));
		T_EQ(fx_messages(), 1);
		T_EQ(fx_in_use(STR_BLK_BUF), 0);
		freeb(mp);
	}
	freeb(allocb(32577, BPRI_LO));
	T_EQ(fx_messages(), 0);
}

T_CASE(buffers_of_live_messages_do_not_overlap)
{
	mblk_t *mp[200];
	unsigned i, j;

	fx_begin(t);
	for (i = 0; i < 200; i++) {
		mp[i] = fx_bytes(1 + i * 13 % 700, 0);
		memset(mp[i]->b_rptr, (int)i, msgdsize(mp[i]));
	}
	for (i = 0; i < 200; i++) {
		for (j = 0; mp[i]->b_rptr + j < mp[i]->b_wptr; j++)
			T_EQ(mp[i]->b_rptr[j], i);
		freemsg(mp[i]);
	}
}

T_CASE(a_block_that_was_freed_comes_back_clean)
{
	mblk_t *mp, *dirty;

	fx_begin(t);
	dirty = fx_type(M_PCPROTO, "dirt", 9);
	dirty->b_flag = MSGMARK | MSGDELIM;
	freeb(dirty);
	mp = allocb(4, BPRI_MED);
	T_EQ(mp->b_datap->db_type, M_DATA);
	T_EQ(mp->b_band, 0);
	T_EQ(mp->b_flag, 0);
	T_NULL(mp->b_cont);
	freeb(mp);
}

T_CASE(allocb_returns_null_when_memory_is_used_up)
{
	mblk_t *list = NULL, *mp;
	unsigned n = 0;

	fx_begin(t);
	while ((mp = allocb(4096, BPRI_HI)) != NULL) {
		mp->b_cont = list;
		list = mp;
		n++;
	}
	T_GT(n, 1000);
	T_EQ(testb(4096, BPRI_HI), 0);
	freemsg(list);
	T_EQ(testb(4096, BPRI_HI), 1);
}

T_CASE(memory_that_was_freed_can_be_had_again)
{
	unsigned round, i;
	uint64_t committed = 0;

	fx_begin(t);
	for (round = 0; round < 20; round++) {
		mblk_t *list = NULL;

		for (i = 0; i < 500; i++)
			list = linkmsg(fx_bytes(1000, 0), list);
		freemsg(list);
		if (round == 0)
			committed = str_load(&host_domain->committed);
	}
	T_EQ(str_load(&host_domain->committed), committed);
}

/* Blocks of @size until there is no memory; how many. */
static unsigned
take_all(size_t size, void **ret_list)
{
	void **b;
	unsigned n = 0;

	while ((b = str_mem_alloc(size, STR_BLK_KMEM)) != NULL) {
		memset((char *)b + sizeof(struct str_blk), 0xee,
			str_mem_size(b) - sizeof(struct str_blk));
		b[2] = *ret_list;
		*ret_list = b;
		n++;
	}
	return n;
}

static void
free_all(void *list)
{
	void **b;

	while ((b = list) != NULL) {
		list = b[2];
		str_mem_free(b);
	}
}

/* core/mem: when there is no fresh memory, free runs are cut. */
T_CASE(long_blocks_that_were_freed_serve_shorter_ones)
{
	/* of 8 granules, and of 4, 2, 1, and of some classes */
	static const size_t size[] = {524288, 262144, 131072, 65536, 32768,
		4352, 320, 64};
	void *list;
	unsigned i, n;

	for (i = 1; i < STR_ARRAY_LEN(size); i++) {
		fx_begin(t);
		list = NULL;
		for (n = 0; n < 4; n++) {
			void **b = str_mem_alloc(size[0], STR_BLK_KMEM);

			b[2] = list;
			list = b;
		}
		fx_use_up();
		free_all(list);
		list = NULL;
		n = take_all(size[i], &list);
		T_GE(n, 4 * 524288 / size[i] * 9 / 10);
		/* nothing is left that a longer one could be had of */
		T_NULL(str_mem_alloc(size[i - 1], STR_BLK_KMEM));
		free_all(list);
		fx_give_back();
		fx_end();
	}
}

/* A part of a long block alone is taken: the rest is as long as it can be. */
T_CASE(a_long_block_is_cut_no_further_than_needed)
{
	void **b, *one, *half, *quarter;

	fx_begin(t);
	b = str_mem_alloc(524288, STR_BLK_KMEM);
	fx_use_up();
	str_mem_free(b);
	one = str_mem_alloc(4000, STR_BLK_KMEM);
	T_NOTNULL(one);
	half = str_mem_alloc(262144, STR_BLK_KMEM);
	T_NOTNULL(half);
	quarter = str_mem_alloc(131072, STR_BLK_KMEM);
	T_NOTNULL(quarter);
	T_NULL(str_mem_alloc(131072, STR_BLK_KMEM));
	str_mem_free(one);
	str_mem_free(quarter);
	str_mem_free(half);
	fx_give_back();
}

T_CASE(a_refused_commit_loses_nothing)
{
	uint64_t seed;

	fx_begin(t);
	sim_fail_rate(3);
	for (seed = 0; seed < 2000; seed++) {
		mblk_t *mp = allocb(1u << (seed % 16), BPRI_MED);

		if (mp != NULL)
			freeb(mp);
	}
	sim_fail_rate(0);
	T_EQ(fx_messages(), 0);
	T_EQ(fx_in_use(STR_BLK_BUF), 0);
}

T_CASE(testb_tells_whether_allocb_would_succeed)
{
	fx_begin(t);
	T_EQ(testb(100, BPRI_LO), 1);
	T_EQ(testb((size_t)1 << 40, BPRI_LO), 0);
	T_EQ(fx_messages(), 0);
}

T_CASE(allocb_of_an_absurd_size_is_refused)
{
	fx_begin(t);
	T_NULL(allocb(SIZE_MAX, BPRI_HI));
	T_NULL(allocb(SIZE_MAX - 64, BPRI_HI));
	T_NULL(allocb((size_t)1 << 32, BPRI_HI));
	T_EQ(fx_messages(), 0);
}

T_CASE(freemsg_frees_every_block)
{
	static const char *const text[] = {"a", "b", "c", NULL};
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, text);
	T_EQ(fx_messages(), 3);
	freemsg(mp);
	T_EQ(fx_messages(), 0);
}

T_CASE(freemsg_of_null_does_nothing)
{
	fx_begin(t);
	freemsg(NULL);
	T_EQ(fx_messages(), 0);
}

T_CASE(freeb_frees_one_block_only)
{
	static const char *const text[] = {"a", "b", NULL};
	mblk_t *mp, *rest;

	fx_begin(t);
	mp = fx_chain(M_DATA, text);
	rest = mp->b_cont;
	freeb(mp);
	FX_MSG(rest, "b");
}

/* dupb */

T_CASE(dupb_shares_the_data_block)
{
	mblk_t *mp, *dup;

	fx_begin(t);
	mp = fx_type(M_PROTO, "shared", 5);
	mp->b_flag = MSGMARK;
	dup = dupb(mp);
	T_NOTNULL(dup);
	T_TRUE(dup->b_datap == mp->b_datap);
	T_EQ(mp->b_datap->db_ref, 2);
	T_EQ(dup->b_band, 5);
	T_EQ(dup->b_flag, MSGMARK);
	T_TRUE(dup->b_rptr == mp->b_rptr && dup->b_wptr == mp->b_wptr);
	T_NULL(dup->b_cont);
	freeb(mp);
	FX_MSG(dup, "shared");
}

T_CASE(dup_outlives_the_original_and_the_reverse)
{
	mblk_t *mp, *dup;

	fx_begin(t);
	mp = fx_msg("one", 0);
	dup = dupb(mp);
	freeb(mp);
	T_EQ(dup->b_datap->db_ref, 1);
	T_STR(fx_text(dup), "one");
	mp = dupb(dup);
	freeb(mp);
	T_STR(fx_text(dup), "one");
	freeb(dup);
	T_EQ(fx_messages(), 0);
}

T_CASE(dup_of_a_large_buffer_is_freed_with_its_last_reference)
{
	mblk_t *mp, *dup;

	fx_begin(t);
	mp = fx_bytes(50000, 0);
	dup = dupb(mp);
	T_EQ(fx_in_use(STR_BLK_BUF), 1);
	freeb(mp);
	T_EQ(fx_in_use(STR_BLK_BUF), 1);
	freeb(dup);
	T_EQ(fx_in_use(STR_BLK_BUF), 0);
}

T_CASE(the_pointers_of_a_dup_are_its_own)
{
	mblk_t *mp, *dup;

	fx_begin(t);
	mp = fx_msg("abcdef", 0);
	dup = dupb(mp);
	dup->b_rptr += 2;
	dup->b_wptr -= 1;
	FX_MSG(mp, "abcdef");
	FX_MSG(dup, "cde");
}

T_CASE(dupb_fails_at_255_references)
{
	mblk_t *mp, *dup[254];
	unsigned i;

	fx_begin(t);
	mp = fx_msg("popular", 0);
	for (i = 0; i < 254; i++) {
		dup[i] = dupb(mp);
		T_NOTNULL(dup[i]);
	}
	T_EQ(mp->b_datap->db_ref, 255);
	T_NULL(dupb(mp));
	T_NULL(dupmsg(mp));
	T_EQ(mp->b_datap->db_ref, 255);
	freeb(dup[0]);
	dup[0] = dupb(mp);
	T_NOTNULL(dup[0]);
	for (i = 0; i < 254; i++)
		freeb(dup[i]);
	FX_MSG(mp, "popular");
}

T_CASE(copyb_works_where_dupb_fails)
{
	mblk_t *mp, *dup[254], *copy;
	unsigned i;

	fx_begin(t);
	mp = fx_msg("popular", 0);
	for (i = 0; i < 254; i++)
		dup[i] = dupb(mp);
	copy = copyb(mp);
	T_EQ(copy->b_datap->db_ref, 1);
	FX_MSG(copy, "popular");
	for (i = 0; i < 254; i++)
		freeb(dup[i]);
	freeb(mp);
}

T_CASE(dupmsg_duplicates_every_block)
{
	static const char *const text[] = {"one", "two", "three", NULL};
	mblk_t *mp, *dup;

	fx_begin(t);
	mp = fx_chain(M_PROTO, text);
	dup = dupmsg(mp);
	T_EQ(fx_blocks(dup), 3);
	T_EQ(mp->b_cont->b_cont->b_datap->db_ref, 2);
	freemsg(mp);
	FX_MSG(dup, "onetwothree");
}

T_CASE(dupmsg_that_fails_midway_frees_what_it_made)
{
	static const char *const text[] = {"one", "two", NULL};
	mblk_t *mp, *dup[254];
	unsigned i;

	fx_begin(t);
	mp = fx_chain(M_DATA, text);
	for (i = 0; i < 254; i++)
		dup[i] = dupb(mp->b_cont);
	T_NULL(dupmsg(mp));
	T_EQ(mp->b_datap->db_ref, 1);
	T_EQ(mp->b_cont->b_datap->db_ref, 255);
	for (i = 0; i < 254; i++)
		freeb(dup[i]);
	freemsg(mp);
}

/* copyb */

T_CASE(copyb_copies_bytes_type_band_and_flags)
{
	mblk_t *mp, *copy;

	fx_begin(t);
	mp = fx_type(M_PROTO, "xxpayload", 3);
	mp->b_rptr += 2;
	mp->b_flag = MSGDELIM;
	copy = copyb(mp);
	T_EQ(copy->b_datap->db_type, M_PROTO);
	T_EQ(copy->b_band, 3);
	T_EQ(copy->b_flag, MSGDELIM);
	T_EQ(copy->b_datap->db_ref, 1);
	mp->b_rptr[0] = 'P';
	T_STR(fx_text(copy), "payload");
	freeb(mp);
	freeb(copy);
}

T_CASE(copymsg_copies_every_block)
{
	static const char *const text[] = {"one", "", "three", NULL};
	mblk_t *mp, *copy;

	fx_begin(t);
	mp = fx_chain(M_DATA, text);
	copy = copymsg(mp);
	T_EQ(fx_blocks(copy), 3);
	T_EQ(mp->b_datap->db_ref, 1);
	freemsg(mp);
	FX_MSG(copy, "onethree");
}

/* ----------------------------------------------------- from CPU to CPU */

#define LONG 16640u
#define LONG_CLASS 9u
#define AT_ONCE 12u
#define ROUNDS 200u

static void *block_[AT_ONCE * ROUNDS];

/* So many different blocks are used, AT_ONCE at a time. */
static unsigned
rotates(int far)
{
	unsigned n = 0, i, k, m;

	for (k = 0; k < ROUNDS; k++) {
		void *b[AT_ONCE];

		for (i = 0; i < AT_ONCE; i++) {
			str_store(&host_domain->depot[LONG_CLASS].cpu,
				far ? ~0u : host_cpu());
			T_NOTNULL(b[i] = str_mem_alloc(LONG, STR_BLK_KMEM));
		}
		for (i = 0; i < AT_ONCE; i++) {
			for (m = 0; m < n && block_[m] != b[i]; m++)
				;
			if (m == n)
				block_[n++] = b[i];
			str_mem_free(b[i]);
		}
	}
	return n;
}

/* What another CPU has freed is left alone for as long as there is other. */
T_CASE(long_blocks_from_another_CPU_are_used_in_turn)
{
	unsigned near, far, most;

	fx_begin(t);
	most = (unsigned)(host_domain->cap >> 7 >> STR_SLAB_SHIFT) * 3;
	near = rotates(0);
	far = rotates(1);
	T_GT(most, AT_ONCE + 9);
	T_LE(near, AT_ONCE + 9);
	T_GE(far, most);
	T_LE(far, most + AT_ONCE + 9);
}

/* --------------------------------------------- for the address sanitizer */

static bool
may_be_used(const void *p)
{
#if defined(__SANITIZE_ADDRESS__)
	int __asan_address_is_poisoned(const volatile void *p);

	return __asan_address_is_poisoned(p) == 0;
#else
	(void)p;
	T_SKIP("built without the address sanitizer");
	return true;
#endif
}

T_CASE(a_buffer_ends_where_the_caller_asked_for)
{
	static const size_t size[] = { 1, 60, 64, 65, 200, 1000, 5000, 100000 };
	unsigned char *end;
	mblk_t *mp;

	fx_begin(t);
	for (unsigned i = 0; i < STR_ARRAY_LEN(size); i++) {
		mp = allocb(size[i], BPRI_MED);
		T_NOTNULL(mp);
		end = mp->b_datap->db_base + size[i];
		T_TRUE(may_be_used(end - 1));
		T_FALSE(may_be_used(end));
		freemsg(mp);
		T_FALSE(may_be_used(end - 1));
	}
}

T_CASE(memory_of_a_module_ends_where_the_module_asked_for)
{
	static const size_t size[] = { 1, 65, 100, 3000, 100000 };
	char *p;

	fx_begin(t);
	for (unsigned i = 0; i < STR_ARRAY_LEN(size); i++) {
		p = kmem_alloc(size[i], KM_SLEEP);
		T_NOTNULL(p);
		T_TRUE(may_be_used(p + size[i] - 1));
		T_FALSE(may_be_used(p + size[i]));
		kmem_free(p, size[i]);
		T_FALSE(may_be_used(p));
	}
}
