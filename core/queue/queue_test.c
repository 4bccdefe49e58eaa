/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * putq, putbq, getq, insq, appq, rmvq, flushq: SVR4 DDI/DKI section D3.
 *
 * The queues are those of a module on a real pipe; its service procedure
 * does nothing, so that what is queued stays.
 */
#include "fixture.h"

static struct fx_pipe pipe_;

static queue_t *
a_queue(struct t *t)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	return fx_push(&pipe_, 0, "store");
}

static void
put_all(queue_t *q, const char *const *text, unsigned band)
{
	for (; *text != NULL; text++)
		T_EQ(putq(q, fx_msg(*text, band)), 1);
}

static const char *const abc[] = {"a", "b", "c", NULL};

T_CASE(messages_come_out_in_the_order_they_went_in)
{
	queue_t *q = a_queue(t);

	put_all(q, abc, 0);
	FX_MSG(getq(q), "a");
	FX_MSG(getq(q), "b");
	FX_MSG(getq(q), "c");
	T_NULL(getq(q));
}

T_CASE(getq_of_an_empty_queue_is_null)
{
	queue_t *q = a_queue(t);

	T_NULL(getq(q));
	T_NULL(getq(q));
}

T_CASE(a_message_from_getq_is_unlinked)
{
	queue_t *q = a_queue(t);
	mblk_t *mp;

	put_all(q, abc, 0);
	mp = getq(q);
	T_NULL(mp->b_next);
	T_NULL(mp->b_prev);
	freemsg(mp);
}

T_CASE(higher_bands_overtake)
{
	queue_t *q = a_queue(t);

	T_EQ(putq(q, fx_msg("low", 0)), 1);
	T_EQ(putq(q, fx_msg("high", 7)), 1);
	T_EQ(putq(q, fx_msg("mid", 3)), 1);
	FX_MSG(getq(q), "high");
	FX_MSG(getq(q), "mid");
	FX_MSG(getq(q), "low");
	T_NULL(getq(q));
}

T_CASE(high_priority_overtakes_every_band)
{
	queue_t *q = a_queue(t);

	T_EQ(putq(q, fx_msg("low", 0)), 1);
	T_EQ(putq(q, fx_msg("255", 255)), 1);
	T_EQ(putq(q, fx_type(M_PCPROTO, "pri", 0)), 1);
	FX_MSG(getq(q), "pri");
	FX_MSG(getq(q), "255");
	FX_MSG(getq(q), "low");
}

T_CASE(high_priority_messages_keep_their_order)
{
	queue_t *q = a_queue(t);

	T_EQ(putq(q, fx_type(M_PCPROTO, "1", 0)), 1);
	T_EQ(putq(q, fx_type(M_IOCACK, "2", 0)), 1);
	T_EQ(putq(q, fx_type(M_PCPROTO, "3", 0)), 1);
	FX_MSG(getq(q), "1");
	FX_MSG(getq(q), "2");
	FX_MSG(getq(q), "3");
}

T_CASE(a_band_keeps_its_order)
{
	queue_t *q = a_queue(t);

	put_all(q, abc, 5);
	T_EQ(putq(q, fx_msg("x", 6)), 1);
	FX_MSG(getq(q), "x");
	FX_MSG(getq(q), "a");
	FX_MSG(getq(q), "b");
	FX_MSG(getq(q), "c");
}

T_CASE(all_256_bands_come_out_highest_first)
{
	queue_t *q = a_queue(t);
	unsigned i;

	strqset(q, QHIWAT, 0, 1 << 20);
	for (i = 0; i < 256; i++) {
		/* each number once, mixed: 97 and 256 have no common factor */
		char text[16];

		snprintf(text, sizeof(text), "%u", i * 97 % 256);
		T_EQ(putq(q, fx_msg(text, i * 97 % 256)), 1);
	}
	for (i = 256; i-- > 0;) {
		char text[16];

		snprintf(text, sizeof(text), "%u", i);
		FX_MSG(getq(q), text);
	}
	T_NULL(getq(q));
}

T_CASE(the_band_of_a_high_priority_message_is_ignored)
{
	queue_t *q = a_queue(t);
	long n;

	/* SVR4 putq(D3): priority messages have no band; b_band becomes 0 */
	T_EQ(putq(q, fx_type(M_PCPROTO, "first", 0)), 1);
	T_EQ(putq(q, fx_type(M_PCPROTO, "second", 9)), 1);
	T_EQ(strqget(q, QCOUNT, 0, &n), 0);
	T_EQ(n, 11);
	FX_MSG(getq(q), "first");
	FX_MSG(getq(q), "second");
}

/* putbq */

T_CASE(putbq_puts_in_front_of_its_band)
{
	queue_t *q = a_queue(t);

	put_all(q, abc, 2);
	T_EQ(putq(q, fx_msg("top", 3)), 1);
	T_EQ(putbq(q, fx_msg("back", 2)), 1);
	FX_MSG(getq(q), "top");
	FX_MSG(getq(q), "back");
	FX_MSG(getq(q), "a");
}

T_CASE(putbq_of_band_zero_stays_behind_bands)
{
	queue_t *q = a_queue(t);

	T_EQ(putq(q, fx_msg("band", 1)), 1);
	T_EQ(putq(q, fx_msg("zero", 0)), 1);
	T_EQ(putbq(q, fx_msg("back", 0)), 1);
	FX_MSG(getq(q), "band");
	FX_MSG(getq(q), "back");
	FX_MSG(getq(q), "zero");
}

T_CASE(putbq_of_high_priority_goes_to_the_front)
{
	queue_t *q = a_queue(t);

	T_EQ(putq(q, fx_type(M_PCPROTO, "old", 0)), 1);
	T_EQ(putbq(q, fx_type(M_PCPROTO, "back", 0)), 1);
	FX_MSG(getq(q), "back");
	FX_MSG(getq(q), "old");
}

T_CASE(getq_and_putbq_leave_the_queue_as_it_was)
{
	queue_t *q = a_queue(t);
	unsigned i;

	put_all(q, abc, 0);
	put_all(q, abc, 4);
	for (i = 0; i < 10; i++)
		T_EQ(putbq(q, getq(q)), 1);
	T_EQ(qsize(q), 6);
	T_EQ(q->q_count, 3);
	for (i = 0; i < 6; i++)
		FX_MSG(getq(q), abc[i % 3]);
}

/* insq, appq, rmvq */

T_CASE(insq_puts_before_the_message_named)
{
	queue_t *q = a_queue(t);

	put_all(q, abc, 0);
	T_EQ(insq(q, q->q_first->b_next, fx_msg("new", 0)), 1);
	FX_MSG(getq(q), "a");
	FX_MSG(getq(q), "new");
	FX_MSG(getq(q), "b");
}

T_CASE(insq_before_the_first)
{
	queue_t *q = a_queue(t);

	put_all(q, abc, 0);
	T_EQ(insq(q, q->q_first, fx_msg("new", 0)), 1);
	FX_MSG(getq(q), "new");
	FX_MSG(getq(q), "a");
}

T_CASE(insq_before_nothing_appends)
{
	queue_t *q = a_queue(t);

	T_EQ(insq(q, NULL, fx_msg("only", 0)), 1);
	T_EQ(insq(q, NULL, fx_msg("last", 0)), 1);
	FX_MSG(getq(q), "only");
	FX_MSG(getq(q), "last");
}

T_CASE(insq_out_of_order_is_refused)
{
	static const struct {
		const char *label;
		unsigned type, band; /* what is inserted before the first */
	} row[] = {
		{"lower band before a higher", M_DATA, 1},
		{"band zero before a band", M_DATA, 0},
	};
	queue_t *q = a_queue(t);
	unsigned i;

	T_EQ(putq(q, fx_msg("five", 5)), 1);
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		mblk_t *mp = fx_type(row[i].type, "x", row[i].band);

		if (insq(q, q->q_first, mp) != 0)
			T_FAIL("%s was accepted", row[i].label);
		freemsg(mp); /* still ours */
	}
	/* behind everything, a higher band or priority is out of order too */
	{
		mblk_t *mp = fx_msg("x", 6);

		T_EQ(insq(q, NULL, mp), 0);
		freemsg(mp);
		mp = fx_type(M_PCPROTO, "x", 0);
		T_EQ(insq(q, NULL, mp), 0);
		freemsg(mp);
	}
	T_EQ(qsize(q), 1);
}

T_CASE(insq_between_bands_takes_what_fits)
{
	queue_t *q = a_queue(t);

	T_EQ(putq(q, fx_msg("five", 5)), 1);
	T_EQ(putq(q, fx_msg("one", 1)), 1);
	T_EQ(insq(q, q->q_last, fx_msg("three", 3)), 1);
	FX_MSG(getq(q), "five");
	FX_MSG(getq(q), "three");
	FX_MSG(getq(q), "one");
}

T_CASE(appq_puts_behind_the_message_named)
{
	queue_t *q = a_queue(t);

	put_all(q, abc, 0);
	T_EQ(appq(q, q->q_first, fx_msg("new", 0)), 1);
	FX_MSG(getq(q), "a");
	FX_MSG(getq(q), "new");
	FX_MSG(getq(q), "b");
}

T_CASE(rmvq_takes_the_first_middle_and_last)
{
	static const char *const left[3][2] = {
		{"b", "c"}, {"a", "c"}, {"a", "b"},
	};
	queue_t *q = a_queue(t);
	unsigned i, j;

	for (i = 0; i < 3; i++) {
		mblk_t *mp;

		put_all(q, abc, 0);
		for (mp = q->q_first, j = 0; j < i; j++)
			mp = mp->b_next;
		rmvq(q, mp);
		T_NULL(mp->b_next);
		T_NULL(mp->b_prev);
		FX_MSG(mp, abc[i]);
		T_EQ(q->q_count, 2);
		FX_MSG(getq(q), left[i][0]);
		FX_MSG(getq(q), left[i][1]);
		T_NULL(getq(q));
	}
}

T_CASE(first_and_last_follow_every_change)
{
	queue_t *q = a_queue(t);
	mblk_t *mp;

	T_NULL(q->q_first);
	T_NULL(q->q_last);
	put_all(q, abc, 0);
	T_STR(fx_text(q->q_first), "a");
	T_STR(fx_text(q->q_last), "c");
	T_NULL(q->q_first->b_prev);
	T_NULL(q->q_last->b_next);
	mp = q->q_last;
	rmvq(q, mp);
	freemsg(mp);
	T_STR(fx_text(q->q_last), "b");
	FX_MSG(getq(q), "a");
	FX_MSG(getq(q), "b");
	T_NULL(q->q_first);
	T_NULL(q->q_last);
}

/* counts */

T_CASE(q_count_is_bytes_of_band_zero)
{
	queue_t *q = a_queue(t);
	long n;

	T_EQ(putq(q, fx_bytes(30, 0)), 1);
	T_EQ(putq(q, fx_bytes(50, 2)), 1);
	T_EQ(q->q_count, 30);
	T_EQ(strqget(q, QCOUNT, 2, &n), 0);
	T_EQ(n, 50);
	freemsg(getq(q));
	T_EQ(q->q_count, 30);
	T_EQ(strqget(q, QCOUNT, 2, &n), 0);
	T_EQ(n, 0);
	freemsg(getq(q));
	T_EQ(q->q_count, 0);
}

T_CASE(every_block_of_a_message_counts)
{
	queue_t *q = a_queue(t);
	mblk_t *mp = fx_type(M_PROTO, "head", 0);

	linkb(mp, fx_msg("data", 0));
	linkb(mp, fx_msg("more", 0));
	T_EQ(putq(q, mp), 1);
	T_EQ(q->q_count, 12);
	freemsg(getq(q));
	T_EQ(q->q_count, 0);
}

T_CASE(qsize_counts_messages_of_all_kinds)
{
	queue_t *q = a_queue(t);

	T_EQ(qsize(q), 0);
	put_all(q, abc, 0);
	put_all(q, abc, 9);
	T_EQ(putq(q, fx_type(M_PCPROTO, "p", 0)), 1);
	T_EQ(qsize(q), 7);
}

T_CASE(zero_length_messages_are_queued_in_order)
{
	queue_t *q = a_queue(t);

	T_EQ(putq(q, fx_msg("", 0)), 1);
	T_EQ(putq(q, fx_msg("a", 0)), 1);
	T_EQ(putq(q, fx_msg("", 0)), 1);
	T_EQ(qsize(q), 3);
	FX_MSG(getq(q), "");
	FX_MSG(getq(q), "a");
	FX_MSG(getq(q), "");
}

/* flushing */

T_CASE(flushq_all_removes_everything)
{
	queue_t *q = a_queue(t);

	put_all(q, abc, 0);
	put_all(q, abc, 3);
	T_EQ(putq(q, fx_type(M_CTL, "ctl", 0)), 1);
	T_EQ(putq(q, fx_type(M_IOCACK, "ack", 0)), 1);
	flushq(q, FLUSHALL);
	T_EQ(qsize(q), 0);
	T_EQ(q->q_count, 0);
	T_NULL(q->q_first);
	T_NULL(q->q_last);
}

T_CASE(flushq_data_removes_the_data_types_only)
{
	queue_t *q = a_queue(t);

	T_EQ(putq(q, fx_type(M_DATA, "data", 0)), 1);
	T_EQ(putq(q, fx_type(M_PROTO, "proto", 1)), 1);
	T_EQ(putq(q, fx_type(M_PCPROTO, "pcproto", 0)), 1);
	T_EQ(putq(q, fx_type(M_DELAY, "delay", 0)), 1);
	T_EQ(putq(q, fx_type(M_CTL, "ctl", 0)), 1);
	T_EQ(putq(q, fx_type(M_IOCTL, "ioctl", 0)), 1);
	T_EQ(putq(q, fx_type(M_IOCACK, "ack", 0)), 1);
	T_EQ(putq(q, fx_type(M_SETOPTS, "opts", 2)), 1);
	flushq(q, FLUSHDATA);
	FX_MSG(getq(q), "ack");
	FX_MSG(getq(q), "opts");
	FX_MSG(getq(q), "ctl");
	FX_MSG(getq(q), "ioctl");
	T_NULL(getq(q));
}

T_CASE(flushband_removes_one_band)
{
	queue_t *q = a_queue(t);

	put_all(q, abc, 0);
	put_all(q, abc, 1);
	put_all(q, abc, 2);
	flushband(q, 1, FLUSHALL);
	T_EQ(qsize(q), 6);
	FX_MSG(getq(q), "a");
	T_EQ(q->q_count, 3);
}

T_CASE(flushband_zero_leaves_bands_and_priority)
{
	queue_t *q = a_queue(t);

	/* SVR4 flushband(D3): band 0 flushes only ordinary messages */
	put_all(q, abc, 0);
	T_EQ(putq(q, fx_msg("band", 1)), 1);
	T_EQ(putq(q, fx_type(M_PCPROTO, "pri", 0)), 1);
	flushband(q, 0, FLUSHALL);
	FX_MSG(getq(q), "pri");
	FX_MSG(getq(q), "band");
	T_NULL(getq(q));
	T_EQ(q->q_count, 0);
}

T_CASE(flushband_data_leaves_other_types)
{
	queue_t *q = a_queue(t);

	T_EQ(putq(q, fx_type(M_DATA, "data", 1)), 1);
	T_EQ(putq(q, fx_type(M_CTL, "ctl", 1)), 1);
	flushband(q, 1, FLUSHDATA);
	FX_MSG(getq(q), "ctl");
	T_NULL(getq(q));
}

T_CASE(flushing_an_empty_queue_does_nothing)
{
	queue_t *q = a_queue(t);

	flushq(q, FLUSHALL);
	flushband(q, 3, FLUSHALL);
	T_EQ(qsize(q), 0);
}

T_CASE(a_popped_module_takes_its_messages_with_it)
{
	queue_t *q = a_queue(t);

	put_all(q, abc, 0);
	put_all(WR(q), abc, 5);
	T_EQ(fx_pop(&pipe_, 0), 0);
	/* the audit finds what is left */
}

/*
 * Everything at once, against a model: an array kept in the order the text
 * demands.
 */
struct model {
	unsigned id, rank;
};

static unsigned
model_put(struct model *m, unsigned n, unsigned id, unsigned rank, bool front)
{
	unsigned i = 0;

	while (i < n && (front ? m[i].rank > rank : m[i].rank >= rank))
		i++;
	memmove(&m[i + 1], &m[i], (n - i) * sizeof(*m));
	m[i].id = id;
	m[i].rank = rank;
	return n + 1;
}

T_CASE(random_operations_agree_with_a_model)
{
	queue_t *q = a_queue(t);
	struct model m[256];
	unsigned n = 0, round, id = 0;

	for (round = 0; round < 20000; round++) {
		unsigned op = (unsigned)t_rand_below(8), at, rank;
		char text[16];
		mblk_t *mp;

		if (op < 4 && n < 200) {
			bool pri = t_rand_below(8) == 0;

			rank = pri ? 256 : (unsigned)t_rand_below(4);
			snprintf(text, sizeof(text), "%u", ++id);
			mp = fx_type(pri ? M_PCPROTO : M_DATA, text,
				pri ? 0 : rank);
			T_EQ(op == 3 ? putbq(q, mp) : putq(q, mp), 1);
			n = model_put(m, n, id, rank, op == 3);
		} else if (op < 7) {
			mp = getq(q);
			if (n == 0) {
				T_NULL(mp);
				continue;
			}
			snprintf(text, sizeof(text), "%u", m[0].id);
			FX_MSG(mp, text);
			memmove(m, m + 1, --n * sizeof(*m));
		} else if (n > 0) {
			at = (unsigned)t_rand_below(n);
			for (mp = q->q_first, rank = 0; rank < at; rank++)
				mp = mp->b_next;
			rmvq(q, mp);
			snprintf(text, sizeof(text), "%u", m[at].id);
			FX_MSG(mp, text);
			memmove(&m[at], &m[at + 1],
				(--n - at) * sizeof(*m));
		}
		T_EQ(qsize(q), (int)n);
	}
}

static unsigned freed;

static void
note_free(char *arg)
{
	(void)arg;
	freed++;
}

/* SVR4 insq(D3): 0, the message is the caller's; one whose data is outside of
 * the domain, which would be copied, too */
T_CASE(a_message_that_insq_refuses_is_not_touched)
{
	static unsigned char data[32];
	frtn_t frtn = {note_free, NULL};
	queue_t *q = a_queue(t);
	mblk_t *mp, *high;

	high = fx_msg("high", 3);
	T_EQ(putq(q, high), 1);
	mp = esballoc(data, sizeof(data), BPRI_LO, &frtn);
	T_NOTNULL(mp);
	mp->b_wptr++;
	T_EQ(insq(q, high, mp), 0); /* band 0 before band 3 */
	T_EQ(freed, 0u);
	T_TRUE(mp->b_rptr == data);
	T_EQ(appq(q, NULL, mp), 0);
	T_EQ(freed, 0u);
	T_TRUE(mp->b_rptr == data);
	T_EQ(appq(q, high, mp), 1);
	T_EQ(freed, 1u);
	T_EQ(qsize(q), 2);
}
