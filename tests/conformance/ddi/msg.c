/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages: allocating, sharing, joining, trimming, pulling together.
 */
#include "d.h"

static const char *const abc[] = {"alpha", "beta", "gamma", NULL};

/* allocb(D3): a block of at least size bytes, of type M_DATA, empty. */
D_CASE(101, allocb_gives_an_empty_data_block)
{
	mblk_t *mp;

	fx_begin(t);
	mp = allocb(300, BPRI_MED);
	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, M_DATA);
	T_TRUE(mp->b_rptr == mp->b_datap->db_base);
	T_TRUE(mp->b_wptr == mp->b_rptr);
	T_GE(mp->b_datap->db_lim - mp->b_datap->db_base, 300);
	T_EQ(mp->b_datap->db_ref, 1);
	freeb(mp);
}

/* allocb(D3): b_next, b_prev, b_cont and b_band are cleared. */
D_CASE(102, allocb_clears_links_band_and_flags)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_msg("x", 7);
	mp->b_flag = MSGMARK;
	freeb(mp);
	mp = allocb(1, BPRI_HI);
	T_NULL(mp->b_next);
	T_NULL(mp->b_prev);
	T_NULL(mp->b_cont);
	T_EQ(mp->b_band, 0);
	T_EQ(mp->b_flag, 0);
	freeb(mp);
}

/* allocb(D3): a size of 0 is allowed. */
D_CASE(103, allocb_of_nothing_is_a_block)
{
	mblk_t *mp;

	fx_begin(t);
	mp = allocb(0, BPRI_LO);
	T_NOTNULL(mp);
	T_EQ(msgdsize(mp), 0);
	freeb(mp);
}

/* allocb(D3): NULL when no block can be had. */
D_CASE(104, allocb_without_memory_is_null)
{
	fx_begin(t);
	fx_use_up();
	T_NULL(allocb(4000, BPRI_HI));
	T_EQ(testb(4000, BPRI_HI), 0);
}

/* testb(D3): 1 if a block of that size is available. */
D_CASE(105, testb_says_that_there_is_memory)
{
	fx_begin(t);
	T_EQ(testb(100, BPRI_LO), 1);
	T_EQ(testb(0, BPRI_LO), 1);
}

static unsigned char outside[64];
static unsigned freed;

static void
free_it(char *arg)
{
	T_TRUE(arg == (char *)outside);
	freed++;
}

static frtn_t free_rtn = {free_it, (char *)outside};

/* esballoc(D3): the message's buffer is the caller's. */
D_CASE(106, esballoc_uses_the_buffer_given)
{
	mblk_t *mp;

	fx_begin(t);
	freed = 0;
	mp = esballoc(outside, sizeof(outside), BPRI_MED, &free_rtn);
	T_NOTNULL(mp);
	T_TRUE(mp->b_datap->db_base == outside);
	T_TRUE(mp->b_datap->db_lim == outside + sizeof(outside));
	T_TRUE(mp->b_rptr == outside);
	freeb(mp);
	T_EQ(freed, 1);
}

/* esballoc(D3): the routine is called when the last reference goes. */
D_CASE(107, esballoc_frees_when_the_last_reference_goes)
{
	mblk_t *mp, *dp;

	fx_begin(t);
	freed = 0;
	mp = esballoc(outside, sizeof(outside), BPRI_MED, &free_rtn);
	dp = dupb(mp);
	T_NOTNULL(dp);
	freeb(mp);
	T_EQ(freed, 0);
	freeb(dp);
	T_EQ(freed, 1);
}

/* freemsg(D3): every block of the message is freed. */
D_CASE(108, freemsg_frees_all_blocks)
{
	uint64_t n;

	fx_begin(t);
	n = fx_messages();
	freemsg(fx_chain(M_DATA, abc));
	T_EQ(fx_messages(), n);
}

/* freeb(D3): only that block is freed. */
D_CASE(109, freeb_frees_one_block)
{
	mblk_t *mp, *rest;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	rest = mp->b_cont;
	mp->b_cont = NULL;
	freeb(mp);
	FX_MSG(rest, "betagamma");
}

/* dupb(D3): a new message block refers to the same data block. */
D_CASE(110, dupb_shares_the_data_block)
{
	mblk_t *mp, *dp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "same", 4);
	dp = dupb(mp);
	T_TRUE(dp != mp && dp->b_datap == mp->b_datap);
	T_EQ(mp->b_datap->db_ref, 2);
	T_EQ(dp->b_band, 4);
	T_TRUE(dp->b_rptr == mp->b_rptr && dp->b_wptr == mp->b_wptr);
	freeb(mp);
	T_EQ(dp->b_datap->db_ref, 1);
	FX_MSG(dp, "same");
}

/* dupb(D3): b_cont of the original is not duplicated. */
D_CASE(111, dupb_is_of_one_block)
{
	mblk_t *mp, *dp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	dp = dupb(mp);
	T_NULL(dp->b_cont);
	FX_MSG(dp, "alpha");
	freemsg(mp);
}

/* Reference 1c: dupb fails when db_ref cannot count one more. */
D_CASE(112, dupb_fails_before_the_count_overflows)
{
	mblk_t *mp, *dup[300];
	unsigned n = 0;

	fx_begin(t);
	mp = fx_msg("many", 0);
	while (n < 300 && (dup[n] = dupb(mp)) != NULL)
		n++;
	T_EQ(n, 254);
	T_EQ(mp->b_datap->db_ref, 255);
	while (n > 0)
		freeb(dup[--n]);
	FX_MSG(mp, "many");
}

/* dupmsg(D3): every block of the message is duplicated. */
D_CASE(113, dupmsg_duplicates_all_blocks)
{
	mblk_t *mp, *dp;

	fx_begin(t);
	mp = fx_chain(M_PROTO, abc);
	dp = dupmsg(mp);
	T_EQ(fx_blocks(dp), 3);
	T_TRUE(dp->b_cont->b_datap == mp->b_cont->b_datap);
	freemsg(mp);
	FX_MSG(dp, "alphabetagamma");
}

/* dupmsg(D3): NULL if one of the blocks fails, with nothing left behind. */
D_CASE(114, dupmsg_without_memory_leaves_nothing)
{
	mblk_t *mp;
	uint64_t n;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	fx_use_up();
	n = fx_messages();
	T_NULL(dupmsg(mp));
	T_EQ(fx_messages(), n);
	T_EQ(mp->b_datap->db_ref, 1);
	freemsg(mp);
}

/* copyb(D3): a new block with a copy of the data. */
D_CASE(115, copyb_copies_the_data)
{
	mblk_t *mp, *cp;

	fx_begin(t);
	mp = fx_type(M_CTL, "copy", 9);
	cp = copyb(mp);
	T_TRUE(cp->b_datap != mp->b_datap);
	T_EQ(cp->b_datap->db_type, M_CTL);
	T_EQ(cp->b_band, 9);
	*mp->b_rptr = 'X';
	freeb(mp);
	FX_MSG(cp, "copy");
}

/* copymsg(D3): every block of the message is copied. */
D_CASE(116, copymsg_copies_all_blocks)
{
	mblk_t *mp, *cp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	cp = copymsg(mp);
	T_EQ(fx_blocks(cp), 3);
	memset(mp->b_cont->b_rptr, '-', 4);
	freemsg(mp);
	FX_MSG(cp, "alphabetagamma");
}

/* copymsg(D3): NULL without memory, the original is as it was. */
D_CASE(117, copymsg_without_memory_is_null)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	fx_use_up();
	T_NULL(copymsg(mp));
	FX_MSG(mp, "alphabetagamma");
}

/* adjmsg(D3): len > 0 removes bytes from the beginning. */
D_CASE(118, adjmsg_trims_the_head)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_msg("alphabet", 0);
	T_EQ(adjmsg(mp, 5), 1);
	FX_MSG(mp, "bet");
}

/* adjmsg(D3): len < 0 removes bytes from the end. */
D_CASE(119, adjmsg_trims_the_tail)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_msg("alphabet", 0);
	T_EQ(adjmsg(mp, -3), 1);
	FX_MSG(mp, "alpha");
}

/* adjmsg(D3): it goes across blocks of one type. */
D_CASE(120, adjmsg_goes_across_blocks)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(adjmsg(mp, 7), 1);
	T_EQ(adjmsg(mp, -6), 1);
	FX_MSG(mp, "t");
}

/* adjmsg(D3): 0, and no change, when there are not as many bytes. */
D_CASE(121, adjmsg_of_too_much_changes_nothing)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(adjmsg(mp, 15), 0);
	T_EQ(adjmsg(mp, -15), 0);
	FX_MSG(mp, "alphabetagamma");
}

/* adjmsg(D3): only blocks of the type of the first one count. */
D_CASE(122, adjmsg_stops_at_another_type)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "head", 0);
	linkb(mp, fx_msg("data", 0));
	T_EQ(adjmsg(mp, 5), 0);
	T_EQ(adjmsg(mp, -5), 0);
	T_EQ(adjmsg(mp, -2), 1);
	FX_MSG(mp, "headda");
}

/* linkb(D3): the second message is put behind the first. */
D_CASE(123, linkb_joins_at_the_end)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	linkb(mp, fx_msg("delta", 0));
	T_EQ(fx_blocks(mp), 4);
	FX_MSG(mp, "alphabetagammadelta");
}

/* man9 linkb: linkmsg returns the message, whichever part is missing. */
D_CASE(124, linkmsg_takes_no_message_for_either)
{
	mblk_t *mp;

	fx_begin(t);
	mp = linkmsg(NULL, fx_msg("one", 0));
	T_TRUE(linkmsg(mp, NULL) == mp);
	T_TRUE(linkmsg(mp, fx_msg("two", 0)) == mp);
	T_NULL(linkmsg(NULL, NULL));
	FX_MSG(mp, "onetwo");
}

/* unlinkb(D3): the first block comes off; the rest is returned. */
D_CASE(125, unlinkb_takes_the_head_off)
{
	mblk_t *mp, *rest;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	rest = unlinkb(mp);
	FX_MSG(mp, "alpha");
	FX_MSG(rest, "betagamma");
}

/* unlinkb(D3): NULL when there is no other block. */
D_CASE(126, unlinkb_of_one_block_is_null)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_msg("one", 0);
	T_NULL(unlinkb(mp));
	FX_MSG(mp, "one");
}

/* rmvb(D3): the block is removed, the rest of the message is returned. */
D_CASE(127, rmvb_removes_from_the_middle)
{
	mblk_t *mp, *bp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	bp = mp->b_cont;
	T_TRUE(rmvb(mp, bp) == mp);
	T_NULL(bp->b_cont);
	FX_MSG(bp, "beta");
	FX_MSG(mp, "alphagamma");
}

/* rmvb(D3): NULL when it was the only block. */
D_CASE(128, rmvb_of_the_only_block_is_null)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_msg("one", 0);
	T_NULL(rmvb(mp, mp));
	FX_MSG(mp, "one");
}

/* rmvb(D3): -1 when the block is not in the message. */
D_CASE(129, rmvb_of_a_stranger_is_minus_one)
{
	mblk_t *mp, *other;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	other = fx_msg("x", 0);
	T_TRUE(rmvb(mp, other) == (mblk_t *)-1);
	freeb(other);
	FX_MSG(mp, "alphabetagamma");
}

/* man9 linkb: unlinkmsg removes the block as rmvb does. */
D_CASE(130, unlinkmsg_removes_the_first)
{
	mblk_t *mp, *rest;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	rest = unlinkmsg(mp, mp);
	FX_MSG(mp, "alpha");
	FX_MSG(rest, "betagamma");
}

/* msgdsize(D3): bytes in M_DATA blocks only. */
D_CASE(131, msgdsize_counts_data)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "head", 0);
	linkb(mp, fx_msg("data", 0));
	linkb(mp, fx_msg("more", 0));
	T_EQ(msgdsize(mp), 8);
	T_EQ(msgsize(mp), 12); /* man9 msgdsize: all blocks */
	freemsg(mp);
}

/* msgdsize(D3): a message without data has 0. */
D_CASE(132, msgdsize_without_data_is_0)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "head", 0);
	T_EQ(msgdsize(mp), 0);
	freemsg(mp);
}

/* xmsgsize(9): leading blocks of the first one's type. */
D_CASE(133, xmsgsize_counts_the_first_type)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "he", 0);
	linkb(mp, fx_type(M_PROTO, "ad", 0));
	linkb(mp, fx_msg("data", 0));
	linkb(mp, fx_type(M_PROTO, "tail", 0));
	T_EQ(xmsgsize(mp), 4);
	freemsg(mp);
}

/* msgpullup(D3): a new message with the first len bytes in one block. */
D_CASE(134, msgpullup_makes_a_new_message)
{
	mblk_t *mp, *np;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	np = msgpullup(mp, 7);
	T_NOTNULL(np);
	T_GE(np->b_wptr - np->b_rptr, 7);
	T_MEM(np->b_rptr, "alphabe", 7);
	T_EQ(fx_blocks(mp), 3);
	FX_MSG(np, "alphabetagamma");
	FX_MSG(mp, "alphabetagamma");
}

/* msgpullup(D3): -1 is all bytes of the leading type. */
D_CASE(135, msgpullup_of_all)
{
	mblk_t *mp, *np;

	fx_begin(t);
	mp = fx_chain(M_PROTO, abc);
	linkb(mp, fx_msg("data", 0));
	np = msgpullup(mp, -1);
	T_EQ(np->b_wptr - np->b_rptr, 14);
	T_EQ(np->b_datap->db_type, M_PROTO);
	T_EQ(fx_blocks(np), 2);
	freemsg(mp);
	FX_MSG(np, "alphabetagammadata");
}

/* msgpullup(D3): NULL when there are fewer bytes. */
D_CASE(136, msgpullup_of_too_much_is_null)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_NULL(msgpullup(mp, 15));
	FX_MSG(mp, "alphabetagamma");
}

/* pullupmsg(D3): 1, and the first len bytes are in the first block. */
D_CASE(137, pullupmsg_works_in_place)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(pullupmsg(mp, 6), 1);
	T_GE(mp->b_wptr - mp->b_rptr, 6);
	T_MEM(mp->b_rptr, "alphab", 6);
	FX_MSG(mp, "alphabetagamma");
}

/* pullupmsg(D3): -1 concatenates all blocks of the type. */
D_CASE(138, pullupmsg_of_all)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(pullupmsg(mp, -1), 1);
	T_EQ(fx_blocks(mp), 1);
	FX_MSG(mp, "alphabetagamma");
}

/* pullupmsg(D3): 0 when there are fewer bytes; nothing changes. */
D_CASE(139, pullupmsg_of_too_much_fails)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(pullupmsg(mp, 15), 0);
	T_EQ(fx_blocks(mp), 3);
	FX_MSG(mp, "alphabetagamma");
}

/* pullupmsg(D3): 0 without memory; nothing changes. */
D_CASE(140, pullupmsg_without_memory_fails)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	fx_use_up();
	T_EQ(pullupmsg(mp, -1), 0);
	T_EQ(fx_blocks(mp), 3);
	FX_MSG(mp, "alphabetagamma");
}

/* datamsg(D3): M_DATA, M_PROTO, M_PCPROTO and M_DELAY are data. */
D_CASE(141, datamsg_knows_the_data_types)
{
	static const struct {
		unsigned type;
		int data;
	} row[] = {
		{M_DATA, 1}, {M_PROTO, 1}, {M_PCPROTO, 1}, {M_DELAY, 1},
		{M_CTL, 0}, {M_IOCTL, 0}, {M_FLUSH, 0}, {M_SIG, 0},
		{M_HANGUP, 0}, {M_SETOPTS, 0}, {M_READ, 0},
	};
	unsigned i;

	fx_begin(t);
	for (i = 0; i < STR_ARRAY_LEN(row); i++)
		T_EQ(datamsg((unsigned char)row[i].type) != 0, row[i].data);
}

/* pcmsg(D3): a type is of high priority from QPCTL on. */
D_CASE(142, pcmsg_knows_high_priority)
{
	static const struct {
		unsigned type;
		int high;
	} row[] = {
		{M_DATA, 0}, {M_PROTO, 0}, {M_IOCTL, 0}, {M_SETOPTS, 0},
		{M_IOCACK, 1}, {M_PCPROTO, 1}, {M_FLUSH, 1}, {M_READ, 1},
		{M_HANGUP, 1}, {M_IOCDATA, 1}, {M_PCSIG, 1},
	};
	unsigned i;

	fx_begin(t);
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		T_EQ(pcmsg((unsigned char)row[i].type) != 0, row[i].high);
		T_EQ(ctlmsg((unsigned char)row[i].type) != 0, row[i].high);
	}
}

/* isdatablk(9), isdatamsg(9): is the block, or any block, data? */
D_CASE(143, isdatamsg_finds_a_data_block)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "head", 0);
	T_EQ(isdatablk(mp->b_datap) != 0, 0);
	T_EQ(isdatamsg(mp) != 0, 0);
	linkb(mp, fx_msg("data", 0));
	T_EQ(isdatamsg(mp) != 0, 1);
	T_EQ(isdatablk(mp->b_cont->b_datap) != 0, 1);
	freemsg(mp);
}

/* msgb(D4): the numbers of message types are part of the interface. */
D_CASE(144, message_types_have_svr4s_numbers)
{
	static const struct {
		int is, want;
	} row[] = {
		{M_DATA, 0}, {M_PROTO, 1}, {M_BREAK, 8}, {M_PASSFP, 9},
		{M_SIG, 0xb}, {M_DELAY, 0xc}, {M_CTL, 0xd}, {M_IOCTL, 0xe},
		{M_SETOPTS, 0x10}, {M_IOCACK, 0x81}, {M_IOCNAK, 0x82},
		{M_PCPROTO, 0x83}, {M_PCSIG, 0x84}, {M_READ, 0x85},
		{M_FLUSH, 0x86}, {M_STOP, 0x87}, {M_START, 0x88},
		{M_HANGUP, 0x89}, {M_ERROR, 0x8a}, {M_COPYIN, 0x8b},
		{M_COPYOUT, 0x8c}, {M_IOCDATA, 0x8d}, {M_UNHANGUP, 0x94},
	};
	unsigned i;

	fx_begin(t);
	for (i = 0; i < STR_ARRAY_LEN(row); i++)
		T_EQ(row[i].is, row[i].want);
}
