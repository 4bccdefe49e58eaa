/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Message utilities: SVR4 DDI/DKI section D3.
 */
#include "fixture.h"

static const char *const abc[] = {"abc", "def", "ghi", NULL};

/* sizes */

T_CASE(msgdsize_counts_data_blocks_only)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "header", 0);
	linkb(mp, fx_msg("12345", 0));
	linkb(mp, fx_type(M_PROTO, "more", 0));
	linkb(mp, fx_msg("678", 0));
	T_EQ(msgdsize(mp), 8);
	freemsg(mp);
}

T_CASE(msgsize_counts_every_block)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "header", 0);
	linkb(mp, fx_msg("12345", 0));
	T_EQ(msgsize(mp), 11);
	freemsg(mp);
}

T_CASE(xmsgsize_stops_where_the_type_changes)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "12", 0);
	linkb(mp, fx_type(M_PROTO, "345", 0));
	linkb(mp, fx_msg("6789", 0));
	linkb(mp, fx_type(M_PROTO, "0", 0));
	T_EQ(xmsgsize(mp), 5);
	T_EQ(xmsgsize(mp->b_cont->b_cont), 4);
	freemsg(mp);
}

T_CASE(sizes_of_empty_blocks_are_zero)
{
	mblk_t *mp;

	fx_begin(t);
	mp = allocb(100, BPRI_MED);
	T_EQ(msgdsize(mp), 0);
	T_EQ(msgsize(mp), 0);
	T_EQ(xmsgsize(mp), 0);
	freemsg(mp);
}

T_CASE(sizes_follow_the_pointers)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_msg("0123456789", 0);
	mp->b_rptr += 3;
	mp->b_wptr -= 2;
	T_EQ(msgdsize(mp), 5);
	freemsg(mp);
}

/* types */

T_CASE(datamsg_knows_the_data_types)
{
	static const struct {
		unsigned char type;
		int data;
	} row[] = {
		{M_DATA, 1}, {M_PROTO, 1}, {M_PCPROTO, 1}, {M_DELAY, 1},
		{M_IOCTL, 0}, {M_SETOPTS, 0}, {M_FLUSH, 0}, {M_SIG, 0},
		{M_HANGUP, 0}, {M_CTL, 0}, {M_PASSFP, 0}, {M_READ, 0},
	};
	unsigned i;

	fx_begin(t);
	for (i = 0; i < STR_ARRAY_LEN(row); i++)
		T_EQ(!!datamsg(row[i].type), row[i].data);
}

T_CASE(pcmsg_knows_high_priority)
{
	fx_begin(t);
	T_FALSE(pcmsg(M_DATA));
	T_FALSE(pcmsg(M_BACKWASH));
	T_TRUE(pcmsg(M_IOCACK));
	T_TRUE(pcmsg(M_PCPROTO));
	T_TRUE(pcmsg(M_MI));
}

T_CASE(isdatamsg_finds_a_data_block_behind_control)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "h", 0);
	T_FALSE(isdatamsg(mp));
	T_FALSE(isdatablk(mp->b_datap));
	linkb(mp, fx_msg("d", 0));
	T_TRUE(isdatamsg(mp));
	T_TRUE(isdatablk(mp->b_cont->b_datap));
	freemsg(mp);
}

/* linking */

T_CASE(linkb_appends_behind_the_last_block)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	linkb(mp, fx_msg("jkl", 0));
	T_EQ(fx_blocks(mp), 4);
	FX_MSG(mp, "abcdefghijkl");
}

T_CASE(linkb_joins_two_messages)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	linkb(mp, fx_chain(M_DATA, abc));
	T_EQ(fx_blocks(mp), 6);
	FX_MSG(mp, "abcdefghiabcdefghi");
}

T_CASE(linkmsg_allows_either_to_be_missing)
{
	mblk_t *mp;

	fx_begin(t);
	T_NULL(linkmsg(NULL, NULL));
	mp = fx_msg("a", 0);
	T_TRUE(linkmsg(NULL, mp) == mp);
	T_TRUE(linkmsg(mp, NULL) == mp);
	T_NULL(mp->b_cont);
	mp = linkmsg(mp, fx_msg("b", 0));
	FX_MSG(mp, "ab");
}

T_CASE(unlinkb_takes_off_the_first_block)
{
	mblk_t *mp, *rest;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	rest = unlinkb(mp);
	T_NULL(mp->b_cont);
	FX_MSG(mp, "abc");
	FX_MSG(rest, "defghi");
}

T_CASE(unlinkb_of_a_single_block_returns_null)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_msg("a", 0);
	T_NULL(unlinkb(mp));
	freemsg(mp);
}

T_CASE(rmvb_removes_a_block_in_the_middle)
{
	mblk_t *mp, *bp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	bp = mp->b_cont;
	T_TRUE(rmvb(mp, bp) == mp);
	T_NULL(bp->b_cont);
	FX_MSG(bp, "def");
	FX_MSG(mp, "abcghi");
}

T_CASE(rmvb_of_the_first_block_returns_the_rest)
{
	mblk_t *mp, *rest;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	rest = mp->b_cont;
	T_TRUE(rmvb(mp, mp) == rest);
	FX_MSG(mp, "abc");
	FX_MSG(rest, "defghi");
}

T_CASE(rmvb_of_the_only_block_leaves_nothing)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_msg("a", 0);
	T_NULL(rmvb(mp, mp));
	freemsg(mp);
}

T_CASE(rmvb_of_a_stranger_is_refused)
{
	mblk_t *mp, *other;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	other = fx_msg("x", 0);
	T_TRUE(rmvb(mp, other) == (mblk_t *)-1);
	FX_MSG(mp, "abcdefghi");
	freemsg(other);
}

/* adjmsg */

T_CASE(adjmsg_trims_the_head_within_a_block)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(adjmsg(mp, 2), 1);
	T_EQ(mp->b_wptr - mp->b_rptr, 1);
	FX_MSG(mp, "cdefghi");
}

T_CASE(adjmsg_trims_the_head_across_blocks)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(adjmsg(mp, 7), 1);
	FX_MSG(mp, "hi");
}

T_CASE(adjmsg_trims_the_tail_within_a_block)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(adjmsg(mp, -2), 1);
	FX_MSG(mp, "abcdefg");
}

T_CASE(adjmsg_trims_the_tail_across_blocks)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(adjmsg(mp, -7), 1);
	FX_MSG(mp, "ab");
}

T_CASE(adjmsg_of_zero_changes_nothing)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(adjmsg(mp, 0), 1);
	FX_MSG(mp, "abcdefghi");
}

T_CASE(adjmsg_of_everything_keeps_the_message)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(adjmsg(mp, 9), 1);
	T_EQ(msgdsize(mp), 0);
	freemsg(mp);
	mp = fx_chain(M_DATA, abc);
	T_EQ(adjmsg(mp, -9), 1);
	T_EQ(msgdsize(mp), 0);
	freemsg(mp);
}

T_CASE(adjmsg_of_too_much_changes_nothing)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(adjmsg(mp, 10), 0);
	T_EQ(adjmsg(mp, -10), 0);
	T_EQ(fx_blocks(mp), 3);
	FX_MSG(mp, "abcdefghi");
}

T_CASE(adjmsg_does_not_trim_the_head_across_types)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "head", 0);
	linkb(mp, fx_msg("data", 0));
	T_EQ(adjmsg(mp, 5), 0);
	T_EQ(adjmsg(mp, 3), 1);
	FX_MSG(mp, "ddata");
}

T_CASE(adjmsg_does_not_trim_the_tail_across_types)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "head", 0);
	linkb(mp, fx_msg("data", 0));
	T_EQ(adjmsg(mp, -5), 0);
	T_EQ(adjmsg(mp, -3), 1);
	FX_MSG(mp, "headd");
}

T_CASE(adjmsg_leaves_shared_data_alone)
{
	mblk_t *mp, *dup;

	fx_begin(t);
	mp = fx_msg("shared", 0);
	dup = dupb(mp);
	T_EQ(adjmsg(mp, 2), 1);
	T_EQ(adjmsg(mp, -2), 1);
	FX_MSG(mp, "ar");
	FX_MSG(dup, "shared");
}

T_CASE(adjmsg_skips_empty_blocks)
{
	static const char *const text[] = {"", "ab", "", "cd", "", NULL};
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, text);
	T_EQ(adjmsg(mp, 3), 1);
	FX_MSG(mp, "d");
	mp = fx_chain(M_DATA, text);
	T_EQ(adjmsg(mp, -3), 1);
	FX_MSG(mp, "a");
}

/* every length from both ends, against the plain string */
T_CASE(adjmsg_agrees_with_a_string_for_every_length)
{
	int len;

	fx_begin(t);
	for (len = -9; len <= 9; len++) {
		char want[16] = "abcdefghi";
		mblk_t *mp = fx_chain(M_DATA, abc);

		if (len > 0)
			memmove(want, want + len, strlen(want + len) + 1);
		else
			want[9 + len] = '\0';
		T_EQ(adjmsg(mp, len), 1);
		FX_MSG(mp, want);
	}
}

/* msgpullup */

T_CASE(msgpullup_makes_a_new_message)
{
	mblk_t *mp, *np;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	mp->b_band = 4;
	np = msgpullup(mp, -1);
	T_EQ(fx_blocks(np), 1);
	T_EQ(np->b_band, 4);
	T_EQ(np->b_datap->db_ref, 1);
	T_EQ(fx_blocks(mp), 3);
	FX_MSG(mp, "abcdefghi");
	FX_MSG(np, "abcdefghi");
}

T_CASE(msgpullup_takes_the_first_bytes_together)
{
	mblk_t *mp, *np;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	np = msgpullup(mp, 5);
	T_EQ(np->b_wptr - np->b_rptr, 5);
	freemsg(mp);
	FX_MSG(np, "abcdefghi");
}

T_CASE(msgpullup_stops_at_another_type)
{
	mblk_t *mp, *np;

	fx_begin(t);
	mp = fx_type(M_PROTO, "12", 0);
	linkb(mp, fx_type(M_PROTO, "34", 0));
	linkb(mp, fx_msg("data", 0));
	np = msgpullup(mp, -1);
	T_EQ(np->b_datap->db_type, M_PROTO);
	T_EQ(np->b_wptr - np->b_rptr, 4);
	T_EQ(fx_blocks(np), 2);
	T_EQ(np->b_cont->b_datap->db_type, M_DATA);
	freemsg(mp);
	FX_MSG(np, "1234data");
}

T_CASE(msgpullup_of_too_much_is_refused)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_NULL(msgpullup(mp, 10));
	FX_MSG(mp, "abcdefghi");
}

T_CASE(msgpullup_agrees_with_a_string_for_every_length)
{
	int len;

	fx_begin(t);
	for (len = 0; len <= 9; len++) {
		mblk_t *mp = fx_chain(M_DATA, abc);
		mblk_t *np = msgpullup(mp, len);

		T_NOTNULL(np);
		T_GE(np->b_wptr - np->b_rptr, len);
		freemsg(mp);
		FX_MSG(np, "abcdefghi");
	}
}

/* pullupmsg */

T_CASE(pullupmsg_keeps_the_message_where_it_is)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	mp->b_band = 2;
	T_EQ(pullupmsg(mp, -1), 1);
	T_EQ(fx_blocks(mp), 1);
	T_EQ(mp->b_band, 2);
	FX_MSG(mp, "abcdefghi");
}

T_CASE(pullupmsg_agrees_with_a_string_for_every_length)
{
	int len;

	fx_begin(t);
	for (len = 0; len <= 9; len++) {
		mblk_t *mp = fx_chain(M_DATA, abc);

		T_EQ(pullupmsg(mp, len), 1);
		T_GE(mp->b_wptr - mp->b_rptr, len);
		FX_MSG(mp, "abcdefghi");
	}
}

T_CASE(pullupmsg_stops_at_another_type)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_type(M_PROTO, "12", 0);
	linkb(mp, fx_type(M_PROTO, "34", 0));
	linkb(mp, fx_msg("data", 0));
	T_EQ(pullupmsg(mp, 5), 0);
	T_EQ(fx_blocks(mp), 3);
	T_EQ(pullupmsg(mp, -1), 1);
	T_EQ(fx_blocks(mp), 2);
	T_EQ(mp->b_datap->db_type, M_PROTO);
	T_EQ(mp->b_cont->b_datap->db_type, M_DATA);
	FX_MSG(mp, "1234data");
}

T_CASE(pullupmsg_of_too_much_changes_nothing)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	T_EQ(pullupmsg(mp, 10), 0);
	T_EQ(fx_blocks(mp), 3);
	FX_MSG(mp, "abcdefghi");
}

T_CASE(pullupmsg_leaves_shared_data_alone)
{
	mblk_t *mp, *dup;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	dup = dupmsg(mp);
	T_EQ(pullupmsg(mp, -1), 1);
	mp->b_rptr[0] = 'X';
	FX_MSG(mp, "Xbcdefghi");
	FX_MSG(dup, "abcdefghi");
}

T_CASE(pullupmsg_with_skipped_bytes_keeps_the_rest)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_chain(M_DATA, abc);
	mp->b_rptr += 2;
	mp->b_cont->b_rptr += 1;
	T_EQ(pullupmsg(mp, 4), 1);
	T_GE(mp->b_wptr - mp->b_rptr, 4);
	FX_MSG(mp, "cefghi");
}

/* many random messages through all of the above: no leak, no loss */
T_CASE(random_messages_survive_all_of_it)
{
	unsigned round;

	fx_begin(t);
	for (round = 0; round < 3000; round++) {
		char want[256];
		size_t n = 0, off, cut;
		unsigned blocks = 1 + (unsigned)t_rand_below(5), i;
		mblk_t *mp = NULL, *other;

		for (i = 0; i < blocks; i++) {
			size_t len = t_rand_below(40), j;
			mblk_t *bp = allocb(len, BPRI_MED);

			for (j = 0; j < len; j++, n++) {
				want[n] = (char)('a' + n % 26);
				*bp->b_wptr++ = (unsigned char)want[n];
			}
			mp = linkmsg(mp, bp);
		}
		want[n] = '\0';
		T_STR(fx_text(mp), want);
		off = t_rand_below(n + 1);
		T_EQ(adjmsg(mp, (long)off), 1);
		n -= off;
		cut = t_rand_below(n + 1);
		T_EQ(adjmsg(mp, -(long)cut), 1);
		n -= cut;
		want[off + n] = '\0';
		T_STR(fx_text(mp), want + off);
		other = t_rand_below(2) ? dupmsg(mp) : copymsg(mp);
		T_EQ(pullupmsg(mp, (long)t_rand_below(n + 1)), 1);
		T_STR(fx_text(mp), want + off);
		freemsg(mp);
		mp = msgpullup(other, (long)t_rand_below(n + 1));
		freemsg(other);
		FX_MSG(mp, want + off);
	}
}
