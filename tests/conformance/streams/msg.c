/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * putmsg() and getmsg(): parts, lengths, high priority, order.
 * The text is putmsg(2) and getmsg(2), and POSIX putmsg() and getmsg().
 */
#include "st.h"

#include <limits.h>

/* getmsg(2): "message contains either a data part, a control part, or both" */
ST_ANY_CASE(getmsg_returns_both_parts_of_a_message)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_EQ(st_get(fd[1], &m, 0), 0);
	ST_IS(&m, "ctl", "data");
	T_EQ(m.flags, 0);
}

/* getmsg(2): len is -1 "if there is no control information" */
ST_ANY_CASE(getmsg_tells_a_missing_control_part)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], NULL, "data", 0), 0);
	ST_GOT(fd[1], NULL, "data");
}

/* getmsg(2): len is -1 "if there is no data" */
ST_ANY_CASE(getmsg_tells_a_missing_data_part)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", NULL, 0), 0);
	ST_GOT(fd[1], "ctl", NULL);
}

/* getmsg(2): len is 0 "if there is a zero-length control or data part" */
ST_ANY_CASE(a_control_part_of_no_bytes_is_a_part)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "", NULL, 0), 0);
	T_EQ(st_queued(fd[1]), 1);
	ST_GOT(fd[1], "", NULL);
}

/* Reference 3.5: a data part of 0 bytes alone is dropped unless SNDZERO */
ST_CASE(an_empty_data_part_alone_is_not_sent)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], NULL, "", 0), 0);
	T_EQ(st_queued(fd[1]), 0);
}

/* The same, with SNDZERO: putmsg(2) "len must have a value of 0 or more" */
ST_ANY_CASE(an_empty_data_part_alone_is_sent_with_sndzero)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDZERO));
	T_EQ(st_put(fd[0], NULL, "", 0), 0);
	T_EQ(st_queued(fd[1]), 1);
	ST_GOT(fd[1], NULL, "");
}

/* putmsg(2): beside a control part it is always a part */
ST_ANY_CASE(a_data_part_of_no_bytes_goes_with_its_control_part)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "", 0), 0);
	ST_GOT(fd[1], "ctl", "");
}

/* putmsg(2): "no part is sent if ptr is NULL or len is -1" */
ST_ANY_CASE(len_minus_one_means_no_control_part)
{
	struct strbuf c = { 0, -1, NULL }, d = { 0, 4, (char[]){ "data" } };
	int fd[2];

	st_pipe(t, fd);
	T_EQ(putmsg(fd[0], &c, &d, 0), 0);
	ST_GOT(fd[1], NULL, "data");
}

/* putmsg(2): the same for the data part */
ST_ANY_CASE(len_minus_one_means_no_data_part)
{
	struct strbuf c = { 0, 3, (char[]){ "ctl" } }, d = { 0, -1, NULL };
	int fd[2];

	st_pipe(t, fd);
	T_EQ(putmsg(fd[0], &c, &d, 0), 0);
	ST_GOT(fd[1], "ctl", NULL);
}

/* putmsg(2): "If neither part is specified and flags is 0, no message" */
ST_ANY_CASE(putmsg_of_no_part_sends_nothing)
{
	struct strbuf none = { 0, -1, NULL };
	int fd[2];

	st_pipe(t, fd);
	T_EQ(putmsg(fd[0], NULL, NULL, 0), 0);
	T_EQ(putmsg(fd[0], &none, &none, 0), 0);
	T_EQ(st_queued(fd[1]), 0);
}

/* putmsg(2): RS_HIPRI needs a control part, else EINVAL */
ST_ANY_CASE(high_priority_needs_a_control_part)
{
	int fd[2];

	st_pipe(t, fd);
	T_ERR(st_put(fd[0], NULL, "data", RS_HIPRI), EINVAL);
	T_ERR(st_put(fd[0], NULL, NULL, RS_HIPRI), EINVAL);
	T_EQ(st_queued(fd[1]), 0);
}

/* putmsg(2): RS_HIPRI with a control part of 0 bytes is one */
ST_ANY_CASE(an_empty_control_part_makes_a_high_priority_message)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "", NULL, RS_HIPRI), 0);
	T_EQ(st_get(fd[1], &m, 0), 0);
	ST_IS(&m, "", NULL);
	T_EQ(m.flags, RS_HIPRI);
}

/* getmsg(2): flags is set to RS_HIPRI "if a high-priority message" */
ST_ANY_CASE(getmsg_tells_a_high_priority_message)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", RS_HIPRI), 0);
	T_EQ(st_get(fd[1], &m, 0), 0);
	ST_IS(&m, "ctl", "data");
	T_EQ(m.flags, RS_HIPRI);
}

/* getmsg(2): flags is 0 after a normal message, even if asked otherwise */
ST_ANY_CASE(getmsg_clears_the_flag_for_a_normal_message)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "hi", NULL, RS_HIPRI), 0);
	T_EQ(st_put(fd[0], "lo", NULL, 0), 0);
	T_EQ(st_get(fd[1], &m, RS_HIPRI), 0);
	T_EQ(m.flags, RS_HIPRI);
	T_EQ(st_get(fd[1], &m, 0), 0);
	T_EQ(m.flags, 0);
}

/* putmsg(2): high-priority messages are "placed ahead of" normal ones */
ST_ANY_CASE(high_priority_overtakes_what_waits)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "one", NULL, 0), 0);
	T_EQ(st_put(fd[0], NULL, "two", 0), 0);
	T_EQ(st_put(fd[0], "high", NULL, RS_HIPRI), 0);
	ST_GOT(fd[1], "high", NULL);
	ST_GOT(fd[1], "one", NULL);
	ST_GOT(fd[1], NULL, "two");
}

/* M_PCPROTO(9): a second one waits for none: the head keeps only one */
ST_ANY_CASE(the_head_keeps_one_high_priority_message)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "first", NULL, RS_HIPRI), 0);
	T_EQ(st_put(fd[0], "second", NULL, RS_HIPRI), 0);
	T_EQ(st_put(fd[0], "normal", NULL, 0), 0);
	ST_GOT(fd[1], "first", NULL);
	ST_GOT(fd[1], "normal", NULL);
}

/* getmsg(2): RS_HIPRI retrieves "only high-priority messages" */
ST_ANY_CASE(getmsg_for_high_priority_leaves_normal_messages)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	st_nonblock(fd[1]);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_ERR(st_get(fd[1], &m, RS_HIPRI), EAGAIN);
	ST_GOT(fd[1], "ctl", "data");
}

/* getmsg(2): blocks until a message of that kind is there */
ST_ANY_CASE(getmsg_for_high_priority_waits_past_normal_messages)
{
	struct st_msg m;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "normal", NULL, 0), 0);
	pid = st_fork();
	if (pid == 0) {
		T_EQ(st_get(fd[1], &m, RS_HIPRI), 0);
		ST_IS(&m, "high", NULL);
		_exit(0);
	}
	st_wait_asleep(pid);
	T_EQ(st_put(fd[0], "high", NULL, RS_HIPRI), 0);
	st_reap(pid);
	ST_GOT(fd[1], "normal", NULL);
}

/* getmsg(2): EAGAIN with O_NONBLOCK and no message */
ST_ANY_CASE(getmsg_of_nothing_does_not_wait_with_nonblock)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	st_nonblock(fd[1]);
	T_ERR(st_get(fd[1], &m, 0), EAGAIN);
}

/* getmsg(2): without it, the call waits for a message */
ST_ANY_CASE(getmsg_waits_for_a_message)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0) {
		ST_GOT(fd[1], "late", "comer");
		_exit(0);
	}
	st_wait_asleep(pid);
	T_EQ(st_put(fd[0], "late", "comer", 0), 0);
	st_reap(pid);
}

/* putmsg(2): maxlen "is not used" */
ST_ANY_CASE(putmsg_does_not_look_at_maxlen)
{
	struct strbuf c = { -1, 3, (char[]){ "ctl" } };
	struct strbuf d = { 1, 4, (char[]){ "data" } };
	int fd[2];

	st_pipe(t, fd);
	T_EQ(putmsg(fd[0], &c, &d, 0), 0);
	ST_GOT(fd[1], "ctl", "data");
}

/* putmsg(2): messages of one priority keep their order */
ST_ANY_CASE(messages_keep_their_order)
{
	char s[3] = "";
	int fd[2];

	st_pipe(t, fd);
	for (int i = 0; i < 50; i++) {
		s[0] = (char)('A' + i % 26);
		s[1] = (char)('a' + i / 26);
		T_EQ(st_put(fd[0], i % 3 == 0 ? s : NULL, s, 0), 0);
	}
	for (int i = 0; i < 50; i++) {
		s[0] = (char)('A' + i % 26);
		s[1] = (char)('a' + i / 26);
		ST_GOT(fd[1], i % 3 == 0 ? s : NULL, s);
	}
}

/* pipe(2): "I/O can be in both directions" */
ST_ANY_CASE(messages_travel_in_both_directions)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "there", NULL, 0), 0);
	T_EQ(st_put(fd[1], NULL, "back", 0), 0);
	ST_GOT(fd[1], "there", NULL);
	ST_GOT(fd[0], NULL, "back");
}

/* putmsg(2): bytes are not interpreted */
ST_ANY_CASE(parts_may_hold_any_bytes)
{
	char all[256];
	struct strbuf b = { 0, sizeof all, all };
	struct st_msg m;
	int fd[2];

	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	st_pipe(t, fd);
	T_EQ(putmsg(fd[0], &b, &b, 0), 0);
	T_EQ(st_get(fd[1], &m, 0), 0);
	T_EQ(m.ctl_len, 256);
	T_MEM(m.ctl, all, sizeof all);
	T_EQ(m.data_len, 256);
	T_MEM(m.data, all, sizeof all);
}

/* putmsg(2): sizes up to those of the reference table, 4096 bytes a part */
ST_ANY_CASE(parts_of_every_size_arrive_whole)
{
	static const int sizes[] = { 1, 2, 63, 64, 65, 127, 128, 129, 255, 256,
		257, 511, 512, 1000, 1024, 2047, 2048, 4095, 4096 };
	char buf[4096];
	struct st_msg m;
	int fd[2];

	for (size_t i = 0; i < sizeof buf; i++)
		buf[i] = (char)(i * 7 + i / 251);
	st_pipe(t, fd);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct strbuf b = { 0, sizes[i], buf };

		T_EQ(putmsg(fd[0], &b, &b, 0), 0);
		T_EQ(st_get(fd[1], &m, 0), 0);
		T_EQ(m.ctl_len, sizes[i]);
		T_EQ(m.data_len, sizes[i]);
		T_MEM(m.ctl, buf, (size_t)sizes[i]);
		T_MEM(m.data, buf, (size_t)sizes[i]);
	}
}

/* putmsg(2): ERANGE; the limit of a control part is 4096 bytes (reference) */
ST_ANY_CASE(putmsg_refuses_too_long_a_control_part)
{
	static char buf[4097];
	struct strbuf c = { 0, sizeof buf, buf };
	int fd[2];

	st_pipe(t, fd);
	T_ERR(putmsg(fd[0], &c, NULL, 0), ERANGE);
	T_EQ(st_queued(fd[1]), 0);
}

/* putmsg(2): ERANGE; a data part with a control part is not cut */
ST_ANY_CASE(putmsg_refuses_too_long_a_data_part_beside_a_control_part)
{
	static char buf[1 << 20];
	struct strbuf c = { 0, 3, (char[]){ "ctl" } };
	struct strbuf d = { 0, sizeof buf, buf };
	int fd[2];

	st_pipe(t, fd);
	T_ERR(putmsg(fd[0], &c, &d, 0), ERANGE);
	/* nor is one that is all an int can say */
	d.len = INT_MAX;
	T_ERR(putmsg(fd[0], &c, &d, 0), ERANGE);
	T_EQ(st_queued(fd[1]), 0);
}

/* read(2), getmsg(2): both take from one queue */
ST_ANY_CASE(read_and_getmsg_share_the_queue)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], NULL, "first", 0), 0);
	ST_WRITES(fd[0], "second");
	ST_READS(fd[1], 5, "first");
	ST_GOT(fd[1], NULL, "second");
}

/* putmsg(2) between write(2)s keeps its place */
ST_ANY_CASE(putmsg_keeps_its_place_between_writes)
{
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "one");
	T_EQ(st_put(fd[0], "two", NULL, 0), 0);
	ST_WRITES(fd[0], "three");
	ST_GOT(fd[1], NULL, "one");
	ST_GOT(fd[1], "two", NULL);
	ST_GOT(fd[1], NULL, "three");
}

/* Data alone, back and forth, until the ways of those who do it often open. */
static void
often(struct t *t, const int fd[2])
{
	char buf[8];
	struct strbuf put = { 0, 4, (char[]){ "warm" } }, get = { 8, 0, buf };
	int i, flags;

	for (i = 0; i < 200; i++) {
		T_EQ(putmsg(fd[0], NULL, &put, 0), 0);
		flags = 0;
		T_EQ(getmsg(fd[1], NULL, &get, &flags), 0);
		T_EQ(get.len, 4);
		T_EQ(flags, 0);
	}
}

/* getmsg(2) of data alone, by one who has had many: what does not fit, and
 * what cannot be stored, stays */
ST_ANY_CASE(data_alone_stays_what_it_is_however_often)
{
	char buf[8] = "";
	struct strbuf d = { 8, 0, buf }, bad = { 8, 0, st_bad() };
	struct strbuf *ro = (struct strbuf *)(void *)st_bad();
	int fd[2], flags = 0, i;

	st_pipe(t, fd);
	often(t, fd);
	T_EQ(st_put(fd[0], NULL, "first", 0), 0);
	T_EQ(st_put(fd[0], NULL, "second", 0), 0);
	T_ERR(getmsg(fd[1], NULL, &bad, &flags), EFAULT);
	T_ERR(getmsg(fd[1], NULL, ro, &flags), EFAULT);
	T_ERR(getmsg(fd[1], NULL, &d, st_bad()), EFAULT);
	flags = 0x40;
	T_ERR(getmsg(fd[1], NULL, &d, &flags), EINVAL);
	T_ERR(putmsg(fd[0], NULL, &d, 0x40), EINVAL);
	T_ERR(putmsg(fd[0], NULL, &d, RS_HIPRI), EINVAL);
	bad.len = 3;
	T_ERR(putmsg(fd[0], NULL, &bad, 0), EFAULT);
	T_ERR(putmsg(fd[0], NULL, ro, 0), EFAULT);
	d.len = -1;
	T_EQ(putmsg(fd[0], NULL, &d, 0), 0);
	d.len = 1 << 30;
	T_ERR(putmsg(fd[0], NULL, &d, 0), ERANGE);
	T_EQ(st_queued(fd[1]), 2);

	/* no data wanted, no room, some, the rest */
	for (i = -1; i <= 0; i++) {
		d.maxlen = i;
		flags = 0;
		T_EQ(getmsg(fd[1], NULL, &d, &flags), MOREDATA);
		T_EQ(d.len, i);
	}
	d.maxlen = 3;
	T_EQ(getmsg(fd[1], NULL, &d, &flags), MOREDATA);
	T_EQ(d.len, 3);
	T_MEM(buf, "fir", 3);
	d.maxlen = 8;
	T_EQ(getmsg(fd[1], NULL, &d, &flags), 0);
	T_EQ(d.len, 2);
	T_MEM(buf, "st", 2);
	ST_READS(fd[1], 8, "second");
	T_EQ(st_queued(fd[1]), 0);
}

/* The same: among messages of other kinds it keeps its place */
ST_ANY_CASE(data_alone_keeps_its_place_however_often)
{
	char buf[8] = "";
	struct strbuf d = { 8, 0, buf };
	int fd[2], flags = 0;

	st_pipe(t, fd);
	often(t, fd);
	T_EQ(st_put(fd[0], NULL, "one", 0), 0);
	T_EQ(st_put(fd[0], "ctl", "two", 0), 0);
	T_EQ(st_putp(fd[0], NULL, "band", 1, MSG_BAND), 0);
	T_EQ(st_put(fd[0], "pri", NULL, RS_HIPRI), 0);
	T_EQ(getmsg(fd[1], NULL, &d, &flags), MORECTL);
	T_EQ(d.len, -1);
	T_EQ(flags, RS_HIPRI);
	ST_GOT(fd[1], "pri", NULL);
	flags = 0;
	T_EQ(getmsg(fd[1], NULL, &d, &flags), 0);
	T_EQ(d.len, 4);
	T_MEM(buf, "band", 4);
	T_EQ(getmsg(fd[1], NULL, &d, &flags), 0);
	T_EQ(d.len, 3);
	T_MEM(buf, "one", 3);
	T_EQ(getmsg(fd[1], NULL, &d, &flags), MORECTL);
	T_EQ(d.len, 3);
	T_MEM(buf, "two", 3);
	ST_GOT(fd[1], "ctl", NULL);
	T_OK(ioctl(fd[0], I_SWROPT, SNDZERO));
	T_EQ(st_put(fd[0], NULL, "", 0), 0);
	d.maxlen = 0;
	d.buf = NULL;
	T_EQ(getmsg(fd[1], NULL, &d, &flags), 0);
	T_EQ(d.len, 0);
	T_EQ(st_queued(fd[1]), 0);
}

/* The same: it is held back by what is full, and joins nothing */
ST_ANY_CASE(data_alone_is_held_back_and_joins_nothing_however_often)
{
	int fd[2], n = 0, i;
	struct strbuf d = { 0, 100, (char[100]){ 0 } };
	struct st_msg m;

	st_pipe(t, fd);
	often(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDHOLD));
	ST_WRITES(fd[0], "ab");
	T_EQ(st_put(fd[0], NULL, "cd", 0), 0);
	ST_WRITES(fd[0], "ef");
	ST_GOT(fd[1], NULL, "ab");
	ST_GOT(fd[1], NULL, "cd");
	ST_GOT(fd[1], NULL, "ef");
	T_OK(ioctl(fd[0], I_SWROPT, 0));
	often(t, fd);
	st_nonblock(fd[0]);
	while (n < 100000 && putmsg(fd[0], NULL, &d, 0) == 0)
		n++;
	T_EQ(errno, EAGAIN);
	T_EQ(st_revents(fd[0], POLLOUT) & POLLOUT, 0);
	for (i = 0; i < n; i++) {
		T_EQ(st_get(fd[1], &m, 0), 0);
		T_EQ(m.data_len, 100);
	}
	T_EQ(st_queued(fd[1]), 0);
	T_EQ(putmsg(fd[0], NULL, &d, 0), 0);
}

/* getmsg(2): O_NONBLOCK on the sending side does not matter here */
ST_CASE(nonblock_belongs_to_one_end)
{
	struct st_msg m;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	st_nonblock(fd[0]);
	pid = st_fork();
	if (pid == 0) {
		T_EQ(st_get(fd[1], &m, 0), 0);
		_exit(0);
	}
	st_wait_asleep(pid);
	T_ERR(st_get(fd[0], &m, 0), EAGAIN);
	T_EQ(st_put(fd[0], NULL, "x", 0), 0);
	st_reap(pid);
}
