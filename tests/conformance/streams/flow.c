/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Flow control, by the exact rules of the reference: a queue is full when it
 * holds strictly more than its high water mark, and stays so until it holds
 * less than its low one, or nothing.  Each band has counters of its own.
 * High-priority messages are never held.
 *
 * The cases use putmsg() and getmsg(), where bytes leave message by message.
 */
#include "st.h"

enum { HI = 100, LO = 40, UNIT = 10 };

static void
pipe_with_marks(struct t *t, int fd[2])
{
	st_pipe(t, fd);
	st_nonblock(fd[0]);
	st_nonblock(fd[1]);
	st_marks(fd[1], HI, LO);
}

static void
put_units(int fd, int band, int n)
{
	for (int i = 0; i < n; i++)
		T_EQ(st_putn(fd, band, UNIT, 'u'), 0);
}

static void
get_units(int fd, int n)
{
	struct st_msg m;

	for (int i = 0; i < n; i++) {
		T_EQ(st_get(fd, &m, 0), 0);
		T_EQ(m.data_len, UNIT);
	}
}

/* Reference 3.6: "QFULL set when q_count > q_hiwat (strictly)" */
ST_CASE(a_queue_at_the_high_water_mark_is_not_full)
{
	int fd[2];

	pipe_with_marks(t, fd);
	put_units(fd[0], 0, HI / UNIT);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 1);
	T_EQ(st_putn(fd[0], 0, 1, 'x'), 0);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 0);
}

/* canput(9): one message may go beyond the mark, whatever its size */
ST_CASE(a_message_that_passes_the_mark_is_taken_whole)
{
	struct st_msg m;
	int fd[2];

	pipe_with_marks(t, fd);
	T_EQ(st_putn(fd[0], 0, 3000, 'x'), 0);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 0);
	T_EQ(st_get(fd[1], &m, 0), 0);
	T_EQ(m.data_len, 3000);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 1);
}

/* putmsg(2), write(2): EAGAIN with O_NONBLOCK on a full Stream */
ST_CASE(sending_on_a_full_stream_is_eagain_with_nonblock)
{
	int fd[2];

	pipe_with_marks(t, fd);
	put_units(fd[0], 0, HI / UNIT + 1);
	T_ERR(st_put(fd[0], NULL, "x", 0), EAGAIN);
	T_ERR(st_put(fd[0], "x", NULL, 0), EAGAIN);
	T_ERR(st_putp(fd[0], NULL, "x", 0, MSG_BAND), EAGAIN);
	T_ERR(write(fd[0], "x", 1), EAGAIN);
	T_EQ(st_queued(fd[1]), HI / UNIT + 1);
}

/* Reference 3.6: cleared "only when ... q_count < q_lowat" */
ST_CASE(a_full_queue_stays_full_down_to_the_low_water_mark)
{
	int fd[2], n = HI / UNIT + 1;	/* 110 bytes */

	pipe_with_marks(t, fd);
	put_units(fd[0], 0, n);
	for (; n * UNIT > LO; n--) {
		T_EQ(ioctl(fd[0], I_CANPUT, 0), 0);
		get_units(fd[1], 1);
	}
	T_EQ(n * UNIT, LO);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 0);
	T_ERR(st_put(fd[0], NULL, "x", 0), EAGAIN);
	get_units(fd[1], 1);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 1);
	T_EQ(st_put(fd[0], NULL, "x", 0), 0);
}

/* Reference 3.6: or "when q_count==0", which a low mark of 0 needs */
ST_CASE(with_a_low_water_mark_of_zero_an_empty_queue_is_not_full)
{
	int fd[2];

	pipe_with_marks(t, fd);
	st_marks(fd[1], HI, 0);
	put_units(fd[0], 0, HI / UNIT + 1);
	get_units(fd[1], HI / UNIT);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 0);
	get_units(fd[1], 1);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 1);
}

/* Between the marks a queue that was not full is not full. */
ST_CASE(a_queue_between_the_marks_takes_more_on_its_way_up)
{
	int fd[2];

	pipe_with_marks(t, fd);
	put_units(fd[0], 0, 7);
	get_units(fd[1], 2);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 1);
	put_units(fd[0], 0, 5);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 1);
	put_units(fd[0], 0, 1);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 0);
}

/* putmsg(2): "a high-priority message ... is not affected" */
ST_ANY_CASE(high_priority_is_sent_on_a_full_stream)
{
	int fd[2];

	pipe_with_marks(t, fd);
	put_units(fd[0], 0, HI / UNIT + 1);
	T_EQ(st_put(fd[0], "high", NULL, RS_HIPRI), 0);
	ST_GOT(fd[1], "high", NULL);
}

/* Reference 3.6: "band bytes are NOT added to q_count" */
ST_CASE(a_full_band_does_not_hold_band_zero)
{
	int fd[2];

	pipe_with_marks(t, fd);
	put_units(fd[0], 5, HI / UNIT + 1);
	T_EQ(ioctl(fd[0], I_CANPUT, 5), 0);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 1);
	T_ERR(st_putn(fd[0], 5, 1, 'x'), EAGAIN);
	T_EQ(st_putn(fd[0], 0, 1, 'x'), 0);
	ST_WRITES(fd[0], "x");
}

/* bcanput(9): a full band 0 does not hold a band */
ST_CASE(a_full_band_zero_does_not_hold_other_bands)
{
	int fd[2];

	pipe_with_marks(t, fd);
	put_units(fd[0], 0, HI / UNIT + 1);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 0);
	T_EQ(ioctl(fd[0], I_CANPUT, 1), 1);
	T_EQ(st_putn(fd[0], 1, 1, 'x'), 0);
}

/* bcanput(9): nor does one band another, above or below */
ST_CASE(bands_do_not_hold_each_other)
{
	int fd[2];

	pipe_with_marks(t, fd);
	put_units(fd[0], 5, HI / UNIT + 1);
	T_EQ(ioctl(fd[0], I_CANPUT, 4), 1);
	T_EQ(ioctl(fd[0], I_CANPUT, 6), 1);
	put_units(fd[0], 4, HI / UNIT + 1);
	put_units(fd[0], 6, HI / UNIT + 1);
	T_EQ(ioctl(fd[0], I_CANPUT, 4), 0);
	T_EQ(ioctl(fd[0], I_CANPUT, 6), 0);
	T_EQ(ioctl(fd[0], I_CANPUT, 7), 1);
}

/* Reference 3.6: a band has the same hysteresis */
ST_CASE(a_full_band_stays_full_down_to_the_low_water_mark)
{
	int fd[2];

	pipe_with_marks(t, fd);
	put_units(fd[0], 3, HI / UNIT);
	T_EQ(ioctl(fd[0], I_CANPUT, 3), 1);
	put_units(fd[0], 3, 1);
	get_units(fd[1], 7);
	T_EQ(ioctl(fd[0], I_CANPUT, 3), 0);
	get_units(fd[1], 1);
	T_EQ(ioctl(fd[0], I_CANPUT, 3), 1);
}

/* I_CANPUT: a band that was never used is writable */
ST_CASE(every_band_of_an_empty_pipe_is_writable)
{
	int fd[2];

	st_pipe(t, fd);
	for (int b = 0; b < 256; b++)
		T_EQ(ioctl(fd[0], I_CANPUT, b), 1);
}

/* The two directions have nothing to do with each other. */
ST_CASE(a_full_direction_does_not_hold_the_other)
{
	int fd[2];

	pipe_with_marks(t, fd);
	put_units(fd[0], 0, HI / UNIT + 1);
	T_EQ(ioctl(fd[1], I_CANPUT, 0), 1);
	T_EQ(st_put(fd[1], NULL, "back", 0), 0);
	ST_GOT(fd[0], NULL, "back");
}

/* putmsg(2): "blocks until the condition is cleared" */
ST_CASE(a_waiting_putmsg_goes_on_at_the_low_water_mark)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	st_marks(fd[1], HI, LO);
	put_units(fd[0], 0, HI / UNIT + 1);
	pid = st_fork();
	if (pid == 0) {
		T_EQ(st_put(fd[0], NULL, "at last", 0), 0);
		_exit(0);
	}
	st_wait_asleep(pid);
	get_units(fd[1], 7);		/* 40 bytes are left */
	st_wait_asleep(pid);
	T_EQ(st_queued(fd[1]), 4);
	get_units(fd[1], 1);
	st_reap(pid);
	get_units(fd[1], 3);
	ST_GOT(fd[1], NULL, "at last");
}

/* putpmsg(2): a writer of a band waits for its band */
ST_CASE(a_waiting_putpmsg_waits_for_its_band)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	st_marks(fd[1], HI, LO);
	put_units(fd[0], 0, 2);
	put_units(fd[0], 9, HI / UNIT + 1);
	pid = st_fork();
	if (pid == 0) {
		T_EQ(st_putp(fd[0], NULL, "nine", 9, MSG_BAND), 0);
		_exit(0);
	}
	st_wait_asleep(pid);
	get_units(fd[1], 8);
	st_reap(pid);
	get_units(fd[1], 3);
	ST_GOT(fd[1], NULL, "nine");
}

/* write(2): a waiting writer is released by a reader */
ST_CASE(a_waiting_write_goes_on_when_the_queue_drains)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	st_marks(fd[1], HI, LO);
	pid = st_fork();
	if (pid == 0) {
		for (int i = 0; i < 100; i++)
			T_EQ(write(fd[0], "0123456789", UNIT), UNIT);
		_exit(0);
	}
	st_wait_asleep(pid);
	for (int left = 100 * UNIT; left > 0; ) {
		char buf[64];
		ssize_t n = read(fd[1], buf, sizeof buf);

		T_GT(n, 0);
		left -= (int)n;
		T_GE(left, 0);
	}
	st_reap(pid);
}

/* canput(9) looks at the next queue with a service procedure */
ST_ANY_CASE(a_queueing_module_keeps_what_is_on_its_way_bounded)
{
	struct st_msg m;
	int fd[2], sent = 0, got = 0;

	st_pipe(t, fd);
	st_nonblock(fd[0]);
	st_nonblock(fd[1]);
	st_marks(fd[1], HI, LO);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	while (sent < 100000 && st_putn(fd[0], 0, UNIT, 'u') == 0)
		sent++;
	T_LT(sent, 100000);
	T_EQ(errno, EAGAIN);
	T_GE(sent, HI / UNIT);
	while (got < sent) {
		T_SOON(st_get(fd[1], &m, 0) == 0, 2000);
		T_EQ(m.data_len, UNIT);
		got++;
	}
	T_ERR(st_get(fd[1], &m, 0), EAGAIN);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 1);
}

/* A module without service procedures is no flow control point. */
ST_CASE(a_passing_module_changes_no_rule_of_flow_control)
{
	int fd[2];

	pipe_with_marks(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	T_OK(ioctl(fd[1], I_PUSH, "nullmod"));
	put_units(fd[0], 0, HI / UNIT);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 1);
	put_units(fd[0], 0, 1);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 0);
	get_units(fd[1], 8);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 1);
}

/* Pushing a module between changes nothing for who waits. */
ST_CASE(a_module_pushed_under_a_waiting_writer_lets_it_go_on)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	st_marks(fd[1], HI, LO);
	put_units(fd[0], 0, HI / UNIT + 1);
	pid = st_fork();
	if (pid == 0) {
		T_EQ(st_put(fd[0], NULL, "through", 0), 0);
		_exit(0);
	}
	st_wait_asleep(pid);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_OK(ioctl(fd[1], I_PUSH, "nullmod"));
	get_units(fd[1], HI / UNIT + 1);
	st_reap(pid);
	ST_GOT(fd[1], NULL, "through");
}

/* Bytes of control parts are bytes. */
ST_CASE(control_bytes_count_too)
{
	char ctl[HI + 2];
	int fd[2];

	memset(ctl, 'c', HI + 1);
	ctl[HI + 1] = '\0';
	pipe_with_marks(t, fd);
	T_EQ(st_put(fd[0], ctl, NULL, 0), 0);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 0);
}

/* write(2): EAGAIN when full, and again room when all was read */
ST_CASE(nonblock_writes_stop_and_start_again)
{
	char c[UNIT];
	int fd[2], n = 0;

	pipe_with_marks(t, fd);
	memset(c, 'x', sizeof c);
	while (write(fd[0], c, UNIT) == UNIT)
		n++;
	T_EQ(errno, EAGAIN);
	T_EQ(n, HI / UNIT + 1);
	for (; n > 0; n--)
		T_EQ(read(fd[1], c, UNIT), UNIT);
	T_ERR(read(fd[1], c, UNIT), EAGAIN);
	T_EQ(write(fd[0], c, UNIT), UNIT);
}
