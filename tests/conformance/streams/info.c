/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The ioctls that look at the Stream head read queue or empty it: I_NREAD,
 * I_PEEK, I_CKBAND, I_GETBAND, I_ATMARK, I_FLUSH, I_FLUSHBAND, and those that
 * tell a Stream.  The text is streamio(7I) and POSIX ioctl().
 */
#include "st.h"

/* I_NREAD: "number of messages", "number of data bytes in the first" */
ST_ANY_CASE(i_nread_of_an_empty_queue_is_zero)
{
	int fd[2], bytes = -1;

	st_pipe(t, fd);
	T_EQ(ioctl(fd[1], I_NREAD, &bytes), 0);
	T_EQ(bytes, 0);
}

/* I_NREAD: the bytes of the first message, the count of all */
ST_ANY_CASE(i_nread_counts_messages_and_bytes_of_the_first)
{
	int fd[2], bytes = -1;

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], NULL, "12345", 0), 0);
	T_EQ(st_put(fd[0], NULL, "678", 0), 0);
	T_EQ(st_put(fd[0], "c", NULL, 0), 0);
	T_EQ(ioctl(fd[1], I_NREAD, &bytes), 3);
	T_EQ(bytes, 5);
}

/* I_NREAD: "data bytes in data blocks": control parts do not count */
ST_ANY_CASE(i_nread_does_not_count_control_bytes)
{
	int fd[2], bytes = -1;

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "control", "data", 0), 0);
	T_EQ(ioctl(fd[1], I_NREAD, &bytes), 1);
	T_EQ(bytes, 4);
}

/* I_NREAD: 0 and a count above 0 "indicates that a zero-length message" */
ST_ANY_CASE(i_nread_tells_an_empty_message_from_none)
{
	int fd[2], bytes = -1;

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "control only", NULL, 0), 0);
	T_EQ(ioctl(fd[1], I_NREAD, &bytes), 1);
	T_EQ(bytes, 0);
}

/* I_NREAD: high-priority messages are counted and first */
ST_ANY_CASE(i_nread_counts_high_priority_messages)
{
	int fd[2], bytes = -1;

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], NULL, "normal", 0), 0);
	T_EQ(st_put(fd[0], "high", "hi", RS_HIPRI), 0);
	T_EQ(ioctl(fd[1], I_NREAD, &bytes), 2);
	T_EQ(bytes, 2);
}

/* I_NREAD: after a partial read the rest is the first message */
ST_ANY_CASE(i_nread_counts_the_rest_of_a_message)
{
	int fd[2], bytes = -1;

	st_pipe(t, fd);
	ST_WRITES(fd[0], "0123456789");
	ST_READS(fd[1], 3, "012");
	T_EQ(ioctl(fd[1], I_NREAD, &bytes), 1);
	T_EQ(bytes, 7);
}

static int
peek(int fd, struct st_msg *m, int ctl_room, int data_room, long flags)
{
	struct strpeek p = { { ctl_room, -7, m->ctl },
		{ data_room, -7, m->data }, flags };

	memset(m->ctl, 0, sizeof m->ctl);
	memset(m->data, 0, sizeof m->data);
	m->ret = ioctl(fd, I_PEEK, &p);
	m->ctl_len = p.ctlbuf.len;
	m->data_len = p.databuf.len;
	m->flags = (int)p.flags;
	return m->ret;
}

/* I_PEEK: "without taking the message off the queue" */
ST_ANY_CASE(i_peek_shows_a_message_and_leaves_it)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	for (int i = 0; i < 2; i++) {
		T_EQ(peek(fd[1], &m, ST_ROOM, ST_ROOM, 0), 1);
		ST_IS(&m, "ctl", "data");
		T_EQ(m.flags, 0);
	}
	ST_GOT(fd[1], "ctl", "data");
}

/* I_PEEK: "returns 0 if no message was found", and does not wait */
ST_ANY_CASE(i_peek_of_an_empty_queue_is_zero)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(peek(fd[1], &m, ST_ROOM, ST_ROOM, 0), 0);
}

/* I_PEEK, getmsg(2): a missing part has len -1 */
ST_ANY_CASE(i_peek_tells_missing_parts)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], NULL, "data", 0), 0);
	T_EQ(peek(fd[1], &m, ST_ROOM, ST_ROOM, 0), 1);
	ST_IS(&m, NULL, "data");
	ST_GOT(fd[1], NULL, "data");
	T_EQ(st_put(fd[0], "ctl", NULL, 0), 0);
	T_EQ(peek(fd[1], &m, ST_ROOM, ST_ROOM, 0), 1);
	ST_IS(&m, "ctl", NULL);
}

/* I_PEEK: maxlen bytes at most are copied */
ST_ANY_CASE(i_peek_copies_what_fits)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "control", "data", 0), 0);
	T_EQ(peek(fd[1], &m, 4, 2, 0), 1);
	ST_IS(&m, "cont", "da");
	ST_GOT(fd[1], "control", "data");
}

/* I_PEEK: maxlen 0 and -1 copy nothing of a part */
ST_ANY_CASE(i_peek_without_room_for_a_part)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_EQ(peek(fd[1], &m, -1, ST_ROOM, 0), 1);
	ST_IS(&m, NULL, "data");
	T_EQ(peek(fd[1], &m, ST_ROOM, 0, 0), 1);
	ST_IS(&m, "ctl", "");
}

/* I_PEEK: flags on return is RS_HIPRI for a high-priority message */
ST_ANY_CASE(i_peek_tells_high_priority)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "high", NULL, RS_HIPRI), 0);
	T_EQ(peek(fd[1], &m, ST_ROOM, ST_ROOM, 0), 1);
	ST_IS(&m, "high", NULL);
	T_EQ(m.flags, RS_HIPRI);
	T_EQ(peek(fd[1], &m, ST_ROOM, ST_ROOM, RS_HIPRI), 1);
	T_EQ(m.flags, RS_HIPRI);
}

/* I_PEEK: with RS_HIPRI it "will look for a high priority message" */
ST_ANY_CASE(i_peek_for_high_priority_passes_over_normal_messages)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "normal", NULL, 0), 0);
	T_EQ(peek(fd[1], &m, ST_ROOM, ST_ROOM, RS_HIPRI), 0);
}

/* I_PEEK: "EINVAL Illegal value for flags" */
ST_ANY_CASE(i_peek_refuses_unknown_flags)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_EQ(peek(fd[1], &m, ST_ROOM, ST_ROOM, MSG_ANY), 1);
	T_ERR(peek(fd[1], &m, ST_ROOM, ST_ROOM, 8), EINVAL);
	T_ERR(peek(fd[1], &m, ST_ROOM, ST_ROOM, -1), EINVAL);
}

/* I_PEEK: the highest band is first */
ST_ANY_CASE(i_peek_shows_the_highest_band)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], NULL, "zero", 0), 0);
	T_EQ(st_putp(fd[0], NULL, "nine", 9, MSG_BAND), 0);
	T_EQ(peek(fd[1], &m, ST_ROOM, ST_ROOM, 0), 1);
	ST_IS(&m, NULL, "nine");
}

/* I_CKBAND: "1 if a message of a given priority exists, 0 if not" */
ST_ANY_CASE(i_ckband_finds_a_band)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "x", 3, MSG_BAND), 0);
	T_EQ(st_putp(fd[0], NULL, "x", 255, MSG_BAND), 0);
	T_EQ(ioctl(fd[1], I_CKBAND, 3), 1);
	T_EQ(ioctl(fd[1], I_CKBAND, 255), 1);
	T_EQ(ioctl(fd[1], I_CKBAND, 0), 0);
	T_EQ(ioctl(fd[1], I_CKBAND, 2), 0);
	T_EQ(ioctl(fd[1], I_CKBAND, 4), 0);
	T_EQ(st_put(fd[0], NULL, "x", 0), 0);
	T_EQ(ioctl(fd[1], I_CKBAND, 0), 1);
}

/* I_CKBAND: a band whose messages were all taken has none */
ST_ANY_CASE(i_ckband_forgets_a_band_that_was_read)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "x", 3, MSG_BAND), 0);
	ST_GOT(fd[1], NULL, "x");
	T_EQ(ioctl(fd[1], I_CKBAND, 3), 0);
}

/* I_GETBAND: "the priority band of the first message" */
ST_ANY_CASE(i_getband_tells_the_first_band)
{
	int fd[2], band = -1;

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], NULL, "x", 0), 0);
	T_EQ(ioctl(fd[1], I_GETBAND, &band), 0);
	T_EQ(band, 0);
	T_EQ(st_putp(fd[0], NULL, "x", 200, MSG_BAND), 0);
	T_EQ(ioctl(fd[1], I_GETBAND, &band), 0);
	T_EQ(band, 200);
}

/* I_GETBAND: a high-priority message is in band 0 */
ST_ANY_CASE(i_getband_of_high_priority_is_zero)
{
	int fd[2], band = -1;

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "x", 200, MSG_BAND), 0);
	T_EQ(st_put(fd[0], "high", NULL, RS_HIPRI), 0);
	T_EQ(ioctl(fd[1], I_GETBAND, &band), 0);
	T_EQ(band, 0);
}

/* I_ATMARK: "1 if the mark condition is satisfied and 0 otherwise" */
ST_ANY_CASE(i_atmark_of_an_unmarked_message_is_zero)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(ioctl(fd[1], I_ATMARK, ANYMARK), 0);
	ST_WRITES(fd[0], "x");
	T_EQ(ioctl(fd[1], I_ATMARK, ANYMARK), 0);
	T_EQ(ioctl(fd[1], I_ATMARK, LASTMARK), 0);
}

/* I_FLUSH FLUSHR: "the read queue for that end of the pipe is flushed" */
ST_CASE(flushing_reads_discards_what_waits_here)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_EQ(st_putp(fd[0], NULL, "x", 9, MSG_BAND), 0);
	ST_WRITES(fd[1], "other way");
	T_EQ(ioctl(fd[1], I_FLUSH, FLUSHR), 0);
	T_EQ(st_queued(fd[1]), 0);
	T_EQ(st_queued(fd[0]), 1);
	ST_READS(fd[0], 100, "other way");
}

/* I_FLUSH FLUSHW: "the read queue for the other end of the pipe is flushed" */
ST_CASE(flushing_writes_discards_what_waits_there)
{
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "there");
	ST_WRITES(fd[1], "here");
	T_EQ(ioctl(fd[0], I_FLUSH, FLUSHW), 0);
	T_EQ(st_queued(fd[1]), 0);
	ST_READS(fd[0], 100, "here");
}

/* I_FLUSH FLUSHRW: "the read queue on both ends of the pipe are flushed" */
ST_ANY_CASE(flushing_both_discards_everything)
{
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "there");
	ST_WRITES(fd[1], "here");
	T_EQ(ioctl(fd[0], I_FLUSH, FLUSHRW), 0);
	T_EQ(st_queued(fd[0]), 0);
	T_EQ(st_queued(fd[1]), 0);
}

/* I_FLUSH with pipemod at the midpoint: the same answers */
ST_CASE(flushing_through_pipemod_has_the_same_effect)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "pipemod"));
	for (int i = 0; i < 2; i++) {
		ST_WRITES(fd[i], "there");
		ST_WRITES(fd[!i], "here");
		T_EQ(ioctl(fd[i], I_FLUSH, FLUSHW), 0);
		T_EQ(st_queued(fd[!i]), 0);
		T_EQ(st_queued(fd[i]), 1);
		T_EQ(ioctl(fd[i], I_FLUSH, FLUSHR), 0);
		T_EQ(st_queued(fd[i]), 0);
	}
}

/* I_FLUSH: what is sent afterwards is not concerned */
ST_ANY_CASE(a_flush_does_not_touch_what_comes_later)
{
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "before");
	T_EQ(ioctl(fd[1], I_FLUSH, FLUSHRW), 0);
	ST_WRITES(fd[0], "after");
	ST_READS(fd[1], 100, "after");
	T_EQ(st_queued(fd[0]), 0);
}

/* flushq(9): flow control is lifted with the messages */
ST_CASE(a_flush_lets_a_waiting_writer_go_on)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	st_marks(fd[1], 100, 10);
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	pid = st_fork();
	if (pid == 0) {
		ST_WRITES(fd[0], "go");
		_exit(0);
	}
	st_wait_asleep(pid);
	T_EQ(ioctl(fd[1], I_FLUSH, FLUSHR), 0);
	st_reap(pid);
	ST_READS(fd[1], 100, "go");
}

/* I_FLUSH: an end of file is not flushed away */
ST_CASE(a_flush_does_not_undo_a_hang_up)
{
	char c;
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "x");
	T_OK(close(fd[0]));
	(void)ioctl(fd[1], I_FLUSH, FLUSHR);
	while (read(fd[1], &c, 1) == 1)
		;
	T_EQ(read(fd[1], &c, 1), 0);
}

static int
flushband(int fd, int band, int flag)
{
	struct bandinfo b = { (unsigned char)band, flag };

	return ioctl(fd, I_FLUSHBAND, &b);
}

/* I_FLUSHBAND: "Flushes a particular band of messages" */
ST_ANY_CASE(flushing_a_band_leaves_the_others)
{
	int fd[2];

	st_pipe(t, fd);
	for (int b = 0; b < 4; b++)
		T_EQ(st_putn(fd[0], b, 1, 'a' + b), 0);
	T_EQ(st_put(fd[0], "high", NULL, RS_HIPRI), 0);
	T_EQ(flushband(fd[1], 2, FLUSHR), 0);
	ST_GOT(fd[1], "high", NULL);
	ST_GOT(fd[1], NULL, "d");
	ST_GOT(fd[1], NULL, "b");
	ST_GOT(fd[1], NULL, "a");
	T_EQ(st_queued(fd[1]), 0);
}

/* I_FLUSHBAND FLUSHW: as I_FLUSH, the other end's read queue */
ST_CASE(flushing_a_band_of_writes_discards_it_there)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putn(fd[0], 1, 1, 'a'), 0);
	T_EQ(st_putn(fd[0], 2, 1, 'b'), 0);
	T_EQ(flushband(fd[0], 2, FLUSHW), 0);
	ST_GOT(fd[1], NULL, "a");
	T_EQ(st_queued(fd[1]), 0);
}

/* I_FLUSHBAND: bi_flag is one of FLUSHR, FLUSHW and FLUSHRW */
ST_ANY_CASE(flushing_a_band_needs_a_direction)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putn(fd[0], 1, 1, 'a'), 0);
	T_ERR(flushband(fd[1], 1, 0), EINVAL);
	T_ERR(flushband(fd[1], 1, 4), EINVAL);
	T_EQ(st_queued(fd[1]), 1);
}

/* flushband(9): flow control of the band is lifted */
ST_CASE(flushing_a_full_band_makes_it_writable)
{
	int fd[2];

	st_pipe(t, fd);
	st_nonblock(fd[0]);
	st_marks(fd[1], 100, 10);
	T_EQ(st_putn(fd[0], 4, 200, 'x'), 0);
	T_ERR(st_putn(fd[0], 4, 1, 'x'), EAGAIN);
	T_EQ(flushband(fd[1], 4, FLUSHR), 0);
	T_EQ(st_putn(fd[0], 4, 1, 'x'), 0);
}

/* isastream(3): 1 for a Stream, 0 for anything else */
ST_ANY_CASE(isastream_knows_a_stream)
{
	int fd[2], null;

	st_pipe(t, fd);
	null = T_OK(open("/dev/null", O_RDWR));
	T_EQ(isastream(fd[0]), 1);
	T_EQ(isastream(fd[1]), 1);
	T_EQ(isastream(null), 0);
	T_OK(close(null));
	T_ERR(isastream(null), EBADF);
	T_ERR(isastream(-1), EBADF);
}

/* Reference: I_ISASTREAM "0 if stream" */
ST_ANY_CASE(i_isastream_answers_on_a_stream)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(ioctl(fd[0], I_ISASTREAM, 0), 0);
	T_OK(close(fd[1]));
	T_EQ(ioctl(fd[0], I_ISASTREAM, 0), 0);
}

/* Reference: I_PIPE welds two Streams; the ends of a pipe are welded */
ST_CASE(i_pipe_refuses_ends_that_are_welded)
{
	int fd[2], other[2];

	st_pipe(t, fd);
	st_pipe_more(other);
	T_ERR(ioctl(fd[0], I_PIPE, fd[1]), EINVAL);
	T_ERR(ioctl(fd[0], I_PIPE, fd[0]), EINVAL);
	T_ERR(ioctl(fd[0], I_PIPE, other[0]), EINVAL);
	ST_WRITES(fd[0], "still mine");
	ST_READS(fd[1], 100, "still mine");
}

/* fstat(2): a pipe is S_IFIFO, as POSIX has it */
ST_CASE(a_pipe_is_a_fifo_to_fstat)
{
	struct stat sb;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(fstat(fd[0], &sb), 0);
	T_TRUE(S_ISFIFO(sb.st_mode));
	T_EQ(fstat(fd[1], &sb), 0);
	T_TRUE(S_ISFIFO(sb.st_mode));
}

/* FIONREAD counts what read(2) would get */
ST_ANY_CASE(fionread_counts_bytes)
{
	int fd[2], n = -1;

	st_pipe(t, fd);
	T_EQ(ioctl(fd[1], FIONREAD, &n), 0);
	T_EQ(n, 0);
	ST_WRITES(fd[0], "12345");
	T_EQ(ioctl(fd[1], FIONREAD, &n), 0);
	T_EQ(n, 5);
}

/* I_SET_HIWAT, I_GET_HIWAT: the marks of this end's read queue */
ST_CASE(water_marks_belong_to_one_end)
{
	int fd[2], v = -1;

	st_pipe(t, fd);
	st_marks(fd[0], 7000, 3000);
	st_marks(fd[1], 500, 100);
	T_EQ(ioctl(fd[0], I_GET_HIWAT, &v), 0);
	T_EQ(v, 7000);
	T_EQ(ioctl(fd[0], I_GET_LOWAT, &v), 0);
	T_EQ(v, 3000);
}

/* Reference: "EINVAL if lowat>hiwat" */
ST_ANY_CASE(the_low_water_mark_stays_below_the_high_one)
{
	int fd[2], v = -1;

	st_pipe(t, fd);
	st_marks(fd[1], 1000, 500);
	T_ERR(ioctl(fd[1], I_SET_LOWAT, 1001), EINVAL);
	T_ERR(ioctl(fd[1], I_SET_HIWAT, 499), EINVAL);
	T_ERR(ioctl(fd[1], I_SET_LOWAT, -1), EINVAL);
	T_ERR(ioctl(fd[1], I_SET_HIWAT, -1), EINVAL);
	T_EQ(ioctl(fd[1], I_GET_HIWAT, &v), 0);
	T_EQ(v, 1000);
	T_EQ(ioctl(fd[1], I_GET_LOWAT, &v), 0);
	T_EQ(v, 500);
	T_EQ(ioctl(fd[1], I_SET_LOWAT, 1000), 0);
	T_EQ(ioctl(fd[1], I_SET_LOWAT, 0), 0);
}

/* A pipe takes PIPE_BUF bytes before it is full, whatever its default. */
ST_CASE(the_default_marks_hold_pipe_buf)
{
	int fd[2], hi = -1, lo = -1;

	st_pipe(t, fd);
	T_EQ(ioctl(fd[1], I_GET_HIWAT, &hi), 0);
	T_EQ(ioctl(fd[1], I_GET_LOWAT, &lo), 0);
	T_GE(hi, 4096);
	T_GE(lo, 0);
	T_LE(lo, hi);
}
