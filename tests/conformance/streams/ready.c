/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * poll() and select(): events by message type.
 * The text is poll(2) on Streams and POSIX poll() with its STREAMS clauses.
 */
#include "st.h"

#include <sys/select.h>

enum {
	IN_ALL = POLLIN | POLLRDNORM | POLLRDBAND | POLLPRI,
	OUT_ALL = POLLOUT | POLLWRNORM,
};

/* poll(2): nothing to read, room to write */
ST_CASE(a_new_pipe_can_be_written_and_not_read)
{
	int fd[2];

	st_pipe(t, fd);
	for (int i = 0; i < 2; i++) {
		T_EQ(st_revents(fd[i], IN_ALL), 0);
		T_EQ(st_revents(fd[i], OUT_ALL), OUT_ALL);
		T_EQ(st_revents(fd[i], 0), 0);
	}
}

/* poll(2) POLLRDNORM: "a message of priority band 0 ... at the head" */
ST_ANY_CASE(normal_data_is_pollin_and_pollrdnorm)
{
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "x");
	T_EQ(st_revents(fd[1], IN_ALL), POLLIN | POLLRDNORM);
	T_EQ(st_revents(fd[1], POLLIN), POLLIN);
	T_EQ(st_revents(fd[1], POLLRDNORM), POLLRDNORM);
	T_EQ(st_revents(fd[1], POLLRDBAND | POLLPRI), 0);
	ST_READS(fd[1], 1, "x");
	T_EQ(st_revents(fd[1], IN_ALL), 0);
}

/* poll(2): a message with a control part only is one */
ST_ANY_CASE(a_control_message_is_pollin)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", NULL, 0), 0);
	T_EQ(st_revents(fd[1], IN_ALL), POLLIN | POLLRDNORM);
}

/* poll(2): "set even if the message is of zero length" */
ST_ANY_CASE(a_zero_length_message_is_pollin)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDZERO));
	T_EQ(write(fd[0], "", 0), 0);
	T_EQ(st_revents(fd[1], IN_ALL), POLLIN | POLLRDNORM);
}

/* poll(2) POLLRDBAND: "a message of a non-zero priority band" */
ST_ANY_CASE(a_banded_message_is_pollin_and_pollrdband)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "x", 1, MSG_BAND), 0);
	T_EQ(st_revents(fd[1], IN_ALL), POLLIN | POLLRDBAND);
}

/* poll(2): the message at the head of the queue decides */
ST_ANY_CASE(the_first_message_decides_what_poll_sees)
{
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "x");
	T_EQ(st_putp(fd[0], NULL, "y", 1, MSG_BAND), 0);
	T_EQ(st_revents(fd[1], POLLRDBAND), POLLRDBAND);
	ST_GOT(fd[1], NULL, "y");
	T_EQ(st_revents(fd[1], IN_ALL), POLLIN | POLLRDNORM);
}

/* poll(2) POLLPRI: "a high-priority message"; POLLIN is for others */
ST_ANY_CASE(a_high_priority_message_is_pollpri)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "high", NULL, RS_HIPRI), 0);
	T_EQ(st_revents(fd[1], IN_ALL), POLLPRI);
	T_EQ(st_revents(fd[1], POLLIN | POLLRDNORM), 0);
}

/* poll(2) POLLOUT: "normal data may be written without blocking" */
ST_CASE(a_full_stream_is_not_pollout)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	st_marks(fd[1], 100, 10);
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	T_EQ(st_revents(fd[0], OUT_ALL), 0);
	T_EQ(st_get(fd[1], &m, 0), 0);
	T_EQ(st_revents(fd[0], OUT_ALL), OUT_ALL);
}

/* poll(2), reference 3.6: not before the low water mark */
ST_CASE(pollout_returns_at_the_low_water_mark)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	st_marks(fd[1], 100, 50);
	for (int i = 0; i < 11; i++)
		T_EQ(st_putn(fd[0], 0, 10, 'x'), 0);
	for (int left = 110; left >= 50; left -= 10) {
		T_EQ(st_revents(fd[0], POLLOUT), 0);
		T_EQ(st_get(fd[1], &m, 0), 0);
	}
	T_EQ(st_revents(fd[0], POLLOUT), POLLOUT);
}

/* poll(2) POLLWRBAND: a band that was written to may be written again */
ST_CASE(pollwrband_speaks_of_bands_in_use)
{
	int fd[2];

	st_pipe(t, fd);
	st_marks(fd[1], 100, 10);
	T_EQ(st_putn(fd[0], 2, 10, 'x'), 0);
	T_EQ(st_revents(fd[0], POLLWRBAND), POLLWRBAND);
	T_EQ(st_putn(fd[0], 2, 200, 'x'), 0);
	T_EQ(st_revents(fd[0], POLLWRBAND), 0);
	T_EQ(st_revents(fd[0], OUT_ALL), OUT_ALL);
}

/* A full band 0 leaves the bands above writable. */
ST_CASE(a_full_band_zero_is_not_pollout_but_pollwrband)
{
	int fd[2];

	st_pipe(t, fd);
	st_marks(fd[1], 100, 10);
	T_EQ(st_putn(fd[0], 2, 10, 'x'), 0);
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	T_EQ(st_revents(fd[0], OUT_ALL | POLLWRBAND), POLLWRBAND);
}

/* poll(2) POLLHUP: "This event and POLLOUT are mutually exclusive" */
ST_CASE(a_closed_peer_is_pollhup_and_not_pollout)
{
	int fd[2], r;

	st_pipe(t, fd);
	T_OK(close(fd[0]));
	T_SOON(st_revents(fd[1], 0) == POLLHUP, 2000);
	r = st_revents(fd[1], IN_ALL | OUT_ALL | POLLWRBAND);
	T_TRUE(r & POLLHUP);
	T_FALSE(r & (OUT_ALL | POLLWRBAND));
}

/* poll(2): POLLHUP and POLLIN "are not mutually exclusive" */
ST_CASE(what_is_left_after_a_hang_up_is_pollin)
{
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "x");
	T_OK(close(fd[0]));
	T_SOON(st_revents(fd[1], POLLIN) == (POLLIN | POLLHUP), 2000);
}

/* poll(2): the same for a M_HANGUP message */
ST_CASE(a_hang_up_message_is_pollhup)
{
	int fd[2], r;

	st_pipe(t, fd);
	st_break(fd[0], TM_IOC_HANGUP, 0);
	r = st_revents(fd[0], OUT_ALL);
	T_TRUE(r & POLLHUP);
	T_FALSE(r & OUT_ALL);
	T_EQ(st_revents(fd[1], 0), 0);
}

/* poll(2) POLLERR: "An error message has arrived at the stream head" */
ST_ANY_CASE(an_error_is_pollerr)
{
	int fd[2];

	st_pipe(t, fd);
	st_break(fd[0], TM_IOC_RWERR, EPROTO);
	T_TRUE(st_revents(fd[0], POLLIN) & POLLERR);
	T_TRUE(st_revents(fd[0], POLLOUT) & POLLERR);
}

/* The side that failed shows it. */
ST_ANY_CASE(a_read_error_is_pollerr_for_readers)
{
	int fd[2];

	st_pipe(t, fd);
	st_break(fd[0], TM_IOC_RDERR, EPROTO);
	T_TRUE(st_revents(fd[0], POLLIN) & POLLERR);
}

/* The same for writing. */
ST_ANY_CASE(a_write_error_is_pollerr_for_writers)
{
	int fd[2];

	st_pipe(t, fd);
	st_break(fd[0], TM_IOC_WRERR, EPROTO);
	T_TRUE(st_revents(fd[0], POLLOUT) & POLLERR);
}

/* poll(2): POLLNVAL for what is not open, nothing for negative numbers */
ST_ANY_CASE(poll_tells_bad_descriptors)
{
	struct pollfd p[3];
	int fd[2];

	st_pipe(t, fd);
	p[0] = (struct pollfd){ 900, POLLIN, 0 };
	p[1] = (struct pollfd){ fd[0], POLLOUT, 0 };
	p[2] = (struct pollfd){ -1, POLLIN, 5 };
	T_EQ(poll(p, 3, -1), 2);
	T_EQ(p[0].revents, POLLNVAL);
	T_EQ(p[1].revents, POLLOUT);
	T_EQ(p[2].revents, 0);
}

/* poll(2): the time it waits at least */
ST_ANY_CASE(poll_waits_no_less_than_its_timeout)
{
	struct pollfd p;
	uint64_t start;
	int fd[2];

	st_pipe(t, fd);
	p = (struct pollfd){ fd[0], POLLIN, 0 };
	start = t_now_ns();
	T_EQ(poll(&p, 1, 30), 0);
	T_GE(t_now_ns() - start, 30000000u);
}

static void
poll_wakes(int fd, int events, int want)
{
	struct pollfd p = { fd, (short)events, 0 };

	T_EQ(poll(&p, 1, -1), 1);
	T_EQ(p.revents, want);
	_exit(0);
}

/* poll(2): waits for each event, and for no other */
ST_ANY_CASE(each_kind_of_message_wakes_its_poller)
{
	int fd[2];
	pid_t data, band, pri;

	st_pipe(t, fd);
	if ((data = st_fork()) == 0)
		poll_wakes(fd[1], POLLRDNORM, POLLRDNORM);
	st_wait_asleep(data);
	ST_WRITES(fd[0], "x");
	st_reap(data);
	if ((band = st_fork()) == 0)
		poll_wakes(fd[1], POLLRDBAND, POLLRDBAND);
	st_wait_asleep(band);
	T_EQ(st_putp(fd[0], NULL, "x", 1, MSG_BAND), 0);
	st_reap(band);
	if ((pri = st_fork()) == 0)
		poll_wakes(fd[1], POLLPRI, POLLPRI);
	st_wait_asleep(pri);
	T_EQ(st_put(fd[0], "x", NULL, RS_HIPRI), 0);
	st_reap(pri);
}

/* A poller for high priority sleeps on while normal data comes. */
ST_ANY_CASE(a_poller_is_not_bothered_by_other_events)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	if ((pid = st_fork()) == 0)
		poll_wakes(fd[1], POLLPRI, POLLPRI);
	st_wait_asleep(pid);
	ST_WRITES(fd[0], "x");
	T_EQ(st_putp(fd[0], NULL, "x", 1, MSG_BAND), 0);
	st_wait_asleep(pid);
	T_EQ(waitpid(pid, NULL, WNOHANG), 0);
	T_EQ(st_put(fd[0], "x", NULL, RS_HIPRI), 0);
	st_reap(pid);
}

/*
 * Nor does one for normal data look again and again at a message that is
 * there and is none, or forget the time.
 */
ST_ANY_CASE(a_poller_for_data_sleeps_while_what_is_first_is_none)
{
	struct pollfd p;
	struct st_msg m;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	p = (struct pollfd){fd[1], POLLIN, 0};
	T_EQ(st_put(fd[0], "x", NULL, RS_HIPRI), 0);
	T_EQ(poll(&p, 1, 100), 0);
	if ((pid = st_fork()) == 0)
		poll_wakes(fd[1], POLLIN, POLLIN);
	st_wait_asleep(pid);
	T_EQ(st_get(fd[1], &m, RS_HIPRI), 0);
	ST_WRITES(fd[0], "x");
	st_reap(pid);
	/* a band is no normal data */
	ST_READS(fd[1], 1, "x");
	T_EQ(st_putp(fd[0], NULL, "x", 1, MSG_BAND), 0);
	p.events = POLLRDNORM;
	T_EQ(poll(&p, 1, 100), 0);
}

/* poll(2): a poller for POLLOUT wakes when the queue drains */
ST_CASE(a_drained_queue_wakes_a_poller_for_output)
{
	struct st_msg m;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	st_marks(fd[1], 100, 10);
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	if ((pid = st_fork()) == 0)
		poll_wakes(fd[0], POLLOUT, POLLOUT);
	st_wait_asleep(pid);
	T_EQ(st_get(fd[1], &m, 0), 0);
	st_reap(pid);
}

/* poll(2): a hang-up wakes everybody */
ST_CASE(a_hang_up_wakes_a_poller)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	if ((pid = st_fork()) == 0) {
		struct pollfd p = { fd[1], POLLPRI, 0 };

		T_OK(close(fd[0]));
		T_EQ(poll(&p, 1, -1), 1);
		T_TRUE(p.revents & POLLHUP);
		_exit(0);
	}
	st_wait_asleep(pid);
	T_OK(close(fd[0]));
	st_reap(pid);
}

/* A holder of the other end that goes, and is not the last, is no event. */
ST_ANY_CASE(a_poller_sleeps_on_when_a_duplicate_is_closed)
{
	int fd[2], d;
	pid_t pid;

	st_pipe(t, fd);
	d = T_OK(dup(fd[0]));
	if ((pid = st_fork()) == 0)
		poll_wakes(fd[1], POLLIN, POLLIN);
	st_wait_asleep(pid);
	T_OK(close(d));
	st_wait_asleep(pid);
	ST_WRITES(fd[0], "x");
	st_reap(pid);
}

/* poll(2): several Streams at once, and descriptors of other kinds */
ST_ANY_CASE(poll_looks_at_streams_and_others_at_once)
{
	struct pollfd p[3];
	int fd[2], more[2], null;

	st_pipe(t, fd);
	st_pipe_more(more);
	null = T_OK(open("/dev/null", O_RDWR));
	p[0] = (struct pollfd){ fd[1], POLLIN, 0 };
	p[1] = (struct pollfd){ more[1], POLLIN, 0 };
	p[2] = (struct pollfd){ null, POLLIN, 0 };
	T_EQ(poll(p, 2, 0), 0);
	ST_WRITES(more[0], "x");
	T_EQ(poll(p, 3, -1), 2);
	T_EQ(p[0].revents, 0);
	T_EQ(p[1].revents, POLLIN);
	T_EQ(p[2].revents, POLLIN);
}

/* select(2): readable, writable and exceptional, as poll(2) says */
ST_CASE(select_sees_the_same_events)
{
	fd_set r, w, x;
	struct timeval tv = { 0, 0 };
	int fd[2], n;

	st_pipe(t, fd);
	ST_WRITES(fd[0], "x");
	T_EQ(st_put(fd[1], "x", NULL, RS_HIPRI), 0);
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_ZERO(&x);
	FD_SET(fd[1], &r);
	FD_SET(fd[0], &w);
	FD_SET(fd[0], &x);
	FD_SET(fd[1], &x);
	n = (fd[0] > fd[1] ? fd[0] : fd[1]) + 1;
	T_EQ(select(n, &r, &w, &x, &tv), 3);
	T_TRUE(FD_ISSET(fd[1], &r));
	T_TRUE(FD_ISSET(fd[0], &w));
	T_TRUE(FD_ISSET(fd[0], &x));
	T_FALSE(FD_ISSET(fd[1], &x));
}

/* select(2): a hang-up is readable, for read(2) would not wait */
ST_CASE(select_calls_a_hung_up_end_readable)
{
	fd_set r;
	int fd[2];

	st_pipe(t, fd);
	T_OK(close(fd[0]));
	FD_ZERO(&r);
	FD_SET(fd[1], &r);
	T_EQ(select(fd[1] + 1, &r, NULL, NULL, NULL), 1);
}

/* Modules between change no event. */
ST_ANY_CASE(poll_sees_the_same_through_modules)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	T_OK(ioctl(fd[1], I_PUSH, "srvmod"));
	T_EQ(st_revents(fd[0], OUT_ALL), OUT_ALL);
	T_EQ(st_putp(fd[0], NULL, "x", 1, MSG_BAND), 0);
	T_SOON(st_revents(fd[1], IN_ALL) == (POLLIN | POLLRDBAND), 2000);
	T_EQ(st_put(fd[0], "x", NULL, RS_HIPRI), 0);
	T_SOON(st_revents(fd[1], POLLPRI) == POLLPRI, 2000);
}
