/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * read(): the modes of I_SRDOPT, message boundaries, control parts.
 * The text is read(2), streamio(7I) and POSIX read() on a STREAMS file.
 */
#include "st.h"

#include <sys/uio.h>

static int
rdopt(int fd)
{
	int v = -1;

	T_EQ(ioctl(fd, I_GRDOPT, &v), 0);
	return v;
}

/* I_SRDOPT: "RNORM ... the default"; the reference adds RPROTNORM */
ST_CASE(a_new_pipe_reads_bytes_and_refuses_control)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(rdopt(fd[0]), RNORM | RPROTNORM);
	T_EQ(rdopt(fd[1]), RNORM | RPROTNORM);
}

/* I_GRDOPT returns what I_SRDOPT set */
ST_ANY_CASE(every_legal_read_mode_is_reported_back)
{
	static const int ok[] = {
		RNORM | RPROTNORM, RNORM | RPROTDAT, RNORM | RPROTDIS,
		RMSGD | RPROTNORM, RMSGD | RPROTDAT, RMSGD | RPROTDIS,
		RMSGN | RPROTNORM, RMSGN | RPROTDAT, RMSGN | RPROTDIS,
		RFILL | RPROTNORM,
	};
	int fd[2];

	st_pipe(t, fd);
	for (size_t i = 0; i < sizeof ok / sizeof *ok; i++) {
		T_EQ(ioctl(fd[1], I_SRDOPT, ok[i]), 0);
		T_EQ(rdopt(fd[1]), ok[i]);
	}
}

/* I_SRDOPT without a treatment of control parts means RPROTNORM (reference) */
ST_ANY_CASE(a_read_mode_alone_means_rprotnorm)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RNORM | RPROTDAT));
	T_EQ(ioctl(fd[1], I_SRDOPT, RMSGN), 0);
	T_EQ(rdopt(fd[1]), RMSGN | RPROTNORM);
	T_EQ(ioctl(fd[1], I_SRDOPT, RMSGD), 0);
	T_EQ(rdopt(fd[1]), RMSGD | RPROTNORM);
	T_EQ(ioctl(fd[1], I_SRDOPT, RNORM), 0);
	T_EQ(rdopt(fd[1]), RNORM | RPROTNORM);
}

/* I_SRDOPT: EINVAL "not one of the above legal values", or RMSGD|RMSGN */
ST_ANY_CASE(illegal_read_modes_are_refused_and_change_nothing)
{
	static const int bad[] = {
		RMSGD | RMSGN, RPROTDAT | RPROTDIS, RPROTDAT | RPROTNORM,
		RPROTDIS | RPROTNORM, RPROTDAT | RPROTDIS | RPROTNORM,
		RPROTCOMPRESS, 0x80, 0x100, 0x4000, -1,
	};
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGN | RPROTDIS));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		T_ERR(ioctl(fd[1], I_SRDOPT, bad[i]), EINVAL);
		T_EQ(rdopt(fd[1]), RMSGN | RPROTDIS);
	}
}

/* I_SRDOPT belongs to one Stream: the other end keeps its mode */
ST_CASE(the_read_mode_belongs_to_one_end)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGD));
	T_EQ(rdopt(fd[0]), RNORM | RPROTNORM);
}

/* read(2), byte-stream mode: "without regard to message boundaries" */
ST_ANY_CASE(byte_mode_ignores_boundaries)
{
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "abc");
	ST_WRITES(fd[0], "def");
	ST_READS(fd[1], 4, "abcd");
	ST_READS(fd[1], 100, "ef");
}

/* The same when putmsg() made the messages. */
ST_ANY_CASE(byte_mode_joins_messages)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], NULL, "abc", 0), 0);
	T_EQ(st_put(fd[0], NULL, "def", 0), 0);
	T_EQ(st_put(fd[0], NULL, "ghi", 0), 0);
	ST_READS(fd[1], 7, "abcdefg");
	ST_READS(fd[1], 100, "hi");
}

/* read(2), message-nondiscard mode: stops at a boundary, keeps the rest */
ST_ANY_CASE(nondiscard_mode_keeps_the_rest_of_a_message)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGN));
	ST_WRITES(fd[0], "abc");
	ST_WRITES(fd[0], "def");
	ST_READS(fd[1], 2, "ab");
	ST_READS(fd[1], 2, "c");
	ST_READS(fd[1], 100, "def");
}

/* read(2), message-discard mode: stops at a boundary, drops the rest */
ST_ANY_CASE(discard_mode_drops_the_rest_of_a_message)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGD));
	ST_WRITES(fd[0], "abc");
	ST_WRITES(fd[0], "def");
	ST_READS(fd[1], 2, "ab");
	ST_READS(fd[1], 2, "de");
	T_EQ(st_queued(fd[1]), 0);
}

/* read(2): boundaries are kept for messages that came before the mode */
ST_ANY_CASE(messages_sent_before_the_mode_was_set_have_boundaries)
{
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "abc");
	ST_WRITES(fd[0], "def");
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGN));
	ST_READS(fd[1], 100, "abc");
	ST_READS(fd[1], 100, "def");
}

/* read(2), message modes: each write is a record */
ST_ANY_CASE(records_of_many_sizes_keep_their_boundaries)
{
	static char out[4096], in[4096];
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGN));
	for (size_t n = 1; n <= sizeof out; n = n * 3 / 2 + 1) {
		memset(out, (int)n, n);
		T_EQ(write(fd[0], out, n), (ssize_t)n);
		T_EQ(write(fd[0], "|", 1), 1);
		T_EQ(read(fd[1], in, sizeof in), (ssize_t)n);
		T_MEM(in, out, n);
		ST_READS(fd[1], 100, "|");
	}
}

/* read(2): the mode does not matter to getmsg() */
ST_ANY_CASE(discard_mode_does_not_concern_getmsg)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGD));
	T_EQ(st_put(fd[0], NULL, "abcdef", 0), 0);
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, 2, 0), MOREDATA);
	ST_GOT(fd[1], NULL, "cdef");
}

/* read(2): EBADMSG "if a control message is at the front", which stays */
ST_ANY_CASE(read_refuses_a_control_message_and_leaves_it)
{
	char buf[100];
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_ERR(read(fd[1], buf, sizeof buf), EBADMSG);
	T_ERR(read(fd[1], buf, sizeof buf), EBADMSG);
	ST_GOT(fd[1], "ctl", "data");
}

/* The same for a high-priority message. */
ST_ANY_CASE(read_refuses_a_high_priority_message)
{
	char buf[100];
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "data");
	T_EQ(st_put(fd[0], "high", NULL, RS_HIPRI), 0);
	T_ERR(read(fd[1], buf, sizeof buf), EBADMSG);
	ST_GOT(fd[1], "high", NULL);
	ST_READS(fd[1], 100, "data");
}

/* read(2): data before a control message is returned, then EBADMSG */
ST_ANY_CASE(read_stops_before_a_control_message)
{
	char buf[100];
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "before");
	T_EQ(st_put(fd[0], "ctl", NULL, 0), 0);
	ST_WRITES(fd[0], "behind");
	ST_READS(fd[1], 100, "before");
	T_ERR(read(fd[1], buf, sizeof buf), EBADMSG);
	ST_GOT(fd[1], "ctl", NULL);
	ST_READS(fd[1], 100, "behind");
}

/* I_SRDOPT RPROTDAT: "Deliver the control portion of a message as data" */
ST_ANY_CASE(rprotdat_reads_control_as_data)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGN | RPROTDAT));
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	ST_READS(fd[1], 100, "ctldata");
}

/* The same in pieces. */
ST_ANY_CASE(rprotdat_reads_control_in_pieces)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGN | RPROTDAT));
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	ST_READS(fd[1], 2, "ct");
	ST_READS(fd[1], 3, "lda");
	ST_READS(fd[1], 100, "ta");
}

/* I_SRDOPT RPROTDAT in byte-stream mode joins it with what follows */
ST_ANY_CASE(rprotdat_joins_control_and_data_in_byte_mode)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RNORM | RPROTDAT));
	ST_WRITES(fd[0], "a");
	T_EQ(st_put(fd[0], "b", "c", 0), 0);
	ST_WRITES(fd[0], "d");
	ST_READS(fd[1], 100, "abcd");
}

/* I_SRDOPT RPROTDIS: "Discard the control portion ... delivering any data" */
ST_ANY_CASE(rprotdis_reads_the_data_only)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGN | RPROTDIS));
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	ST_READS(fd[1], 100, "data");
	T_EQ(st_queued(fd[1]), 0);
}

/* A message without data is discarded whole: read goes on to the next. */
ST_ANY_CASE(rprotdis_skips_a_message_without_data)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RNORM | RPROTDIS));
	T_EQ(st_put(fd[0], "ctl", NULL, 0), 0);
	ST_WRITES(fd[0], "data");
	ST_READS(fd[1], 100, "data");
}

/* read(2): "a zero-length message ... read returns 0" and removes it */
ST_ANY_CASE(a_zero_length_message_reads_as_nothing)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDZERO));
	T_EQ(write(fd[0], "", 0), 0);
	ST_WRITES(fd[0], "next");
	ST_READS(fd[1], 100, "");
	ST_READS(fd[1], 100, "next");
}

/* read(2), byte-stream mode: it ends a read and is kept for the next */
ST_ANY_CASE(a_zero_length_message_ends_a_read_and_stays)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDZERO));
	ST_WRITES(fd[0], "abc");
	T_EQ(write(fd[0], "", 0), 0);
	ST_WRITES(fd[0], "def");
	ST_READS(fd[1], 100, "abc");
	ST_READS(fd[1], 100, "");
	ST_READS(fd[1], 100, "def");
}

/* read(2), message modes: it is a message of its own */
ST_ANY_CASE(a_zero_length_message_is_a_record)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDZERO));
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGN));
	ST_WRITES(fd[0], "abc");
	T_EQ(write(fd[0], "", 0), 0);
	ST_READS(fd[1], 100, "abc");
	ST_READS(fd[1], 100, "");
	T_EQ(st_queued(fd[1]), 0);
}

/* read(2): EAGAIN with O_NONBLOCK and nothing queued */
ST_ANY_CASE(read_of_nothing_does_not_wait_with_nonblock)
{
	char c;
	int fd[2];

	st_pipe(t, fd);
	st_nonblock(fd[1]);
	T_ERR(read(fd[1], &c, 1), EAGAIN);
}

/* read(2): 0 at the end, after what was queued */
ST_CASE(read_returns_zero_after_a_hang_up_when_all_is_read)
{
	char c;
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "last words");
	T_OK(close(fd[0]));
	ST_READS(fd[1], 4, "last");
	ST_READS(fd[1], 100, " words");
	T_EQ(read(fd[1], &c, 1), 0);
	T_EQ(read(fd[1], &c, 1), 0);
}

/* read(2): the end of file comes before O_NONBLOCK */
ST_CASE(read_after_a_hang_up_is_not_eagain)
{
	char c;
	int fd[2];

	st_pipe(t, fd);
	st_nonblock(fd[1]);
	T_OK(close(fd[0]));
	T_EQ(read(fd[1], &c, 1), 0);
}

/* read(2): a read of 0 bytes returns 0 and takes nothing */
ST_ANY_CASE(read_of_no_bytes_takes_nothing)
{
	char c;
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "x");
	T_EQ(read(fd[1], &c, 0), 0);
	ST_READS(fd[1], 100, "x");
}

/* readv(2): as one read over all buffers */
ST_ANY_CASE(readv_fills_its_buffers_in_turn)
{
	char a[3] = "", b[5] = "";
	struct iovec v[2] = { { a, 2 }, { b, 4 } };
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "abcd");
	T_EQ(readv(fd[1], v, 2), 4);
	T_STR(a, "ab");
	T_STR(b, "cd");
}

/* readv(2) in message-discard mode: one message over all buffers */
ST_ANY_CASE(readv_takes_one_message_in_discard_mode)
{
	char a[3] = "", b[3] = "";
	struct iovec v[2] = { { a, 2 }, { b, 2 } };
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGD));
	ST_WRITES(fd[0], "abcdef");
	ST_WRITES(fd[0], "next");
	T_EQ(readv(fd[1], v, 2), 4);
	T_STR(a, "ab");
	T_STR(b, "cd");
	ST_READS(fd[1], 100, "next");
}

/* read(2): a blocked read returns what one write brought */
ST_ANY_CASE(a_waiting_read_returns_what_comes_first)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0) {
		ST_READS(fd[1], 1000, "short");
		_exit(0);
	}
	st_wait_asleep(pid);
	ST_WRITES(fd[0], "short");
	st_reap(pid);
}

/* read(2): a control message ends a waiting read */
ST_ANY_CASE(a_control_message_ends_a_waiting_read)
{
	char c;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0) {
		T_ERR(read(fd[1], &c, 1), EBADMSG);
		_exit(0);
	}
	st_wait_asleep(pid);
	T_EQ(st_put(fd[0], "ctl", NULL, 0), 0);
	st_reap(pid);
}

/* I_SRDOPT RFILL (AIX): a read waits until all it asked for is there */
ST_ANY_CASE(read_fill_waits_for_the_whole_request)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RFILL));
	pid = st_fork();
	if (pid == 0) {
		ST_READS(fd[1], 9, "abcdefghi");
		_exit(0);
	}
	st_wait_asleep(pid);
	ST_WRITES(fd[0], "abc");
	st_wait_asleep(pid);
	ST_WRITES(fd[0], "def");
	st_wait_asleep(pid);
	ST_WRITES(fd[0], "ghijkl");
	st_reap(pid);
	T_OK(ioctl(fd[1], I_SRDOPT, RNORM));
	ST_READS(fd[1], 100, "jkl");
}

/* I_SRDOPT RFILL (reference): even with O_NONBLOCK */
ST_ANY_CASE(read_fill_waits_despite_nonblock)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	st_nonblock(fd[1]);
	T_OK(ioctl(fd[1], I_SRDOPT, RFILL));
	pid = st_fork();
	if (pid == 0) {
		ST_READS(fd[1], 4, "full");
		_exit(0);
	}
	ST_WRITES(fd[0], "fu");
	st_wait_asleep(pid);
	ST_WRITES(fd[0], "ll");
	st_reap(pid);
}

/* I_SRDOPT RFILL: a hang-up ends the waiting with what there is */
ST_CASE(a_hang_up_ends_a_read_fill)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RFILL));
	pid = st_fork();
	if (pid == 0) {
		T_OK(close(fd[0]));
		ST_READS(fd[1], 100, "partial");
		_exit(0);
	}
	ST_WRITES(fd[0], "partial");
	st_wait_asleep(pid);
	T_OK(close(fd[0]));
	st_reap(pid);
}

/* read(2): EFAULT; what was queued is still there */
ST_ANY_CASE(read_into_a_bad_buffer_does_not_lose_data)
{
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "data");
	T_ERR(read(fd[1], st_bad(), 4), EFAULT);
	ST_READS(fd[1], 100, "data");
}

/* read(2): no byte beyond those returned is written */
ST_ANY_CASE(read_stores_only_what_came)
{
	char *edge = st_edge("....", 4);
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "data");
	T_EQ(read(fd[1], edge, 1000), 4);
	T_MEM(edge, "data", 4);
}

/* Streams cannot seek: lseek(2) ESPIPE */
ST_CASE(a_pipe_cannot_seek)
{
	int fd[2];

	st_pipe(t, fd);
	T_ERR(lseek(fd[0], 0, SEEK_SET), ESPIPE);
}
