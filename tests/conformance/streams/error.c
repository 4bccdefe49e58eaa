/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * M_ERROR and M_HANGUP as testmod sends them, and what every call makes of
 * them.  The text is M_ERROR(9), M_HANGUP(9): a read error concerns reading,
 * a write error writing; the one-byte form concerns both.
 */
#include "st.h"

static void
no_sigpipe(void)
{
	signal(SIGPIPE, SIG_IGN);
}

/* A hung-up pipe end that still has its peer: both texts allow either. */
static void
write_fails_after_hang_up(int fd)
{
	ssize_t n = write(fd, "x", 1);

	T_EQ(n, -1);
	T_TRUE(errno == EPIPE || errno == ENXIO);
	n = st_put(fd, "x", NULL, 0);
	T_EQ(n, -1);
	T_TRUE(errno == EPIPE || errno == ENXIO);
	n = st_put(fd, "x", NULL, RS_HIPRI);
	T_EQ(n, -1);
	T_TRUE(errno == EPIPE || errno == ENXIO);
}

/* M_ERROR: two bytes, the read error: reading fails with it */
ST_ANY_CASE(a_read_error_fails_all_that_read)
{
	struct strpeek p = { { 0, 0, NULL }, { 0, 0, NULL }, 0 };
	struct st_msg m;
	char c;
	int fd[2];

	st_pipe(t, fd);
	st_break(fd[0], TM_IOC_RDERR, EPROTO);
	T_ERR(read(fd[0], &c, 1), EPROTO);
	T_ERR(st_get(fd[0], &m, 0), EPROTO);
	T_ERR(st_getp(fd[0], &m, 0, MSG_ANY), EPROTO);
	T_ERR(ioctl(fd[0], I_PEEK, &p), EPROTO);
	T_ERR(ioctl(fd[0], I_NREAD, &m.band), EPROTO);
	/* It is there to stay. */
	T_ERR(read(fd[0], &c, 1), EPROTO);
}

/* M_ERROR: NOERROR in the second byte: writing is not concerned */
ST_CASE(a_read_error_does_not_stop_writing)
{
	int fd[2];

	st_pipe(t, fd);
	st_break(fd[0], TM_IOC_RDERR, EPROTO);
	ST_WRITES(fd[0], "out");
	ST_READS(fd[1], 100, "out");
	T_EQ(st_put(fd[0], "ctl", NULL, 0), 0);
	ST_GOT(fd[1], "ctl", NULL);
	T_EQ(st_putp(fd[0], NULL, "x", 1, MSG_BAND), 0);
	ST_GOT(fd[1], NULL, "x");
}

/* M_ERROR: the write error: writing fails with it */
ST_ANY_CASE(a_write_error_fails_all_that_write)
{
	int fd[2];

	st_pipe(t, fd);
	no_sigpipe();
	st_break(fd[0], TM_IOC_WRERR, EPROTO);
	T_ERR(write(fd[0], "x", 1), EPROTO);
	T_ERR(st_put(fd[0], "x", NULL, 0), EPROTO);
	T_ERR(st_put(fd[0], "x", NULL, RS_HIPRI), EPROTO);
	T_ERR(st_putp(fd[0], NULL, "x", 1, MSG_BAND), EPROTO);
	T_EQ(st_queued(fd[1]), 0);
}

/* M_ERROR: NOERROR in the first byte: reading is not concerned */
ST_CASE(a_write_error_does_not_stop_reading)
{
	int fd[2];

	st_pipe(t, fd);
	st_break(fd[0], TM_IOC_WRERR, EPROTO);
	ST_WRITES(fd[1], "in");
	ST_READS(fd[0], 100, "in");
	T_EQ(st_put(fd[1], "ctl", NULL, 0), 0);
	ST_GOT(fd[0], "ctl", NULL);
}

/* M_ERROR: one byte concerns both directions, and plumbing */
ST_ANY_CASE(an_error_in_both_directions_fails_everything)
{
	struct st_msg m;
	char c;
	int fd[2];

	st_pipe(t, fd);
	no_sigpipe();
	st_break(fd[0], TM_IOC_RWERR, EPROTO);
	T_ERR(read(fd[0], &c, 1), EPROTO);
	T_ERR(st_get(fd[0], &m, 0), EPROTO);
	T_ERR(write(fd[0], "x", 1), EPROTO);
	T_ERR(st_put(fd[0], "x", NULL, 0), EPROTO);
	T_ERR(ioctl(fd[0], I_PUSH, "nullmod"), EPROTO);
	T_ERR(st_str_long(fd[0], TM_IOC_RDERR, 0), EPROTO);
}

/* M_ERROR wakes a sleeping reader */
ST_ANY_CASE(an_error_ends_a_waiting_read)
{
	char c;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "testmod"));
	pid = st_fork();
	if (pid == 0) {
		T_ERR(read(fd[0], &c, 1), EPROTO);
		_exit(0);
	}
	st_wait_asleep(pid);
	(void)st_str_long(fd[0], TM_IOC_RDERR, EPROTO);
	st_reap(pid);
}

/* M_ERROR wakes a sleeping writer */
ST_CASE(an_error_ends_a_waiting_write)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	no_sigpipe();
	st_marks(fd[1], 100, 10);
	T_OK(ioctl(fd[0], I_PUSH, "testmod"));
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	pid = st_fork();
	if (pid == 0) {
		T_ERR(write(fd[0], "x", 1), EPROTO);
		_exit(0);
	}
	st_wait_asleep(pid);
	(void)st_str_long(fd[0], TM_IOC_WRERR, EPROTO);
	st_reap(pid);
}

/* M_ERROR concerns one Stream: the other end goes on */
ST_CASE(an_error_stays_on_its_end)
{
	int fd[2];

	st_pipe(t, fd);
	st_break(fd[0], TM_IOC_RDERR, EPROTO);
	T_OK(ioctl(fd[1], I_PUSH, "nullmod"));
	ST_WRITES(fd[0], "still");
	ST_READS(fd[1], 100, "still");
	ST_WRITES(fd[1], "nobody reads this");
}

/* M_ERROR: close always works */
ST_CASE(an_end_with_an_error_can_be_closed)
{
	char c;
	int fd[2];

	st_pipe(t, fd);
	st_break(fd[0], TM_IOC_RWERR, EPROTO);
	T_EQ(close(fd[0]), 0);
	T_EQ(read(fd[1], &c, 1), 0);
}

/* Reference: the argument may be that of a transparent ioctl */
ST_ANY_CASE(an_error_number_may_be_given_directly)
{
	char c;
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "testmod"));
	(void)ioctl(fd[0], TM_IOC_RDERR, (long)ECOMM);
	T_ERR(read(fd[0], &c, 1), ECOMM);
}

static volatile sig_atomic_t pipes;

static void
on_pipe(int sig)
{
	(void)sig;
	pipes++;
}

/* Reference 3.5: "SIGPIPE on M_ERROR only with SNDPIPE" */
ST_CASE(a_write_error_signals_with_sndpipe)
{
	struct sigaction sa = { .sa_handler = on_pipe };
	int fd[2];

	st_pipe(t, fd);
	T_OK(sigaction(SIGPIPE, &sa, NULL));
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE));
	st_break(fd[0], TM_IOC_WRERR, EPROTO);
	T_ERR(write(fd[0], "x", 1), EPROTO);
	T_EQ(pipes, 1);
}

/* The same, without */
ST_CASE(a_write_error_does_not_signal_without_sndpipe)
{
	struct sigaction sa = { .sa_handler = on_pipe };
	int fd[2];

	st_pipe(t, fd);
	T_OK(sigaction(SIGPIPE, &sa, NULL));
	T_OK(ioctl(fd[0], I_SWROPT, 0));
	st_break(fd[0], TM_IOC_WRERR, EPROTO);
	T_ERR(write(fd[0], "x", 1), EPROTO);
	T_EQ(pipes, 0);
}

/* M_HANGUP: reads return what is queued, then 0 */
ST_ANY_CASE(after_a_hang_up_reading_ends)
{
	struct st_msg m;
	char c;
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[1], "left");
	st_break(fd[0], TM_IOC_HANGUP, 0);
	ST_READS(fd[0], 100, "left");
	T_EQ(read(fd[0], &c, 1), 0);
	T_EQ(st_get(fd[0], &m, 0), 0);
	T_EQ(m.ctl_len, 0);
	T_EQ(m.data_len, 0);
}

/* M_HANGUP: writing fails */
ST_ANY_CASE(after_a_hang_up_writing_fails)
{
	int fd[2];

	st_pipe(t, fd);
	no_sigpipe();
	st_break(fd[0], TM_IOC_HANGUP, 0);
	write_fails_after_hang_up(fd[0]);
	T_EQ(st_queued(fd[1]), 0);
}

/* M_HANGUP: "ENXIO Hangup received on fildes" */
ST_ANY_CASE(after_a_hang_up_plumbing_fails)
{
	int fd[2];

	st_pipe(t, fd);
	st_break(fd[0], TM_IOC_HANGUP, 0);
	T_ERR(ioctl(fd[0], I_PUSH, "nullmod"), ENXIO);
	T_ERR(ioctl(fd[0], I_POP, 0), ENXIO);
	T_ERR(st_str_long(fd[0], TM_IOC_RDERR, EPROTO), ENXIO);
	T_ERR(ioctl(fd[0], I_FLUSH, FLUSHRW), ENXIO);
}

/* M_HANGUP: looking is allowed */
ST_ANY_CASE(after_a_hang_up_the_queue_can_be_looked_at)
{
	int fd[2], v;

	st_pipe(t, fd);
	ST_WRITES(fd[1], "left");
	st_break(fd[0], TM_IOC_HANGUP, 0);
	T_EQ(ioctl(fd[0], I_NREAD, &v), 1);
	T_EQ(v, 4);
	T_EQ(ioctl(fd[0], I_GETBAND, &v), 0);
	T_EQ(ioctl(fd[0], I_CKBAND, 0), 1);
	T_EQ(ioctl(fd[0], I_GRDOPT, &v), 0);
}

/* M_HANGUP wakes a sleeping reader */
ST_ANY_CASE(a_hang_up_message_ends_a_waiting_read)
{
	char c;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "testmod"));
	pid = st_fork();
	if (pid == 0) {
		T_EQ(read(fd[0], &c, 1), 0);
		_exit(0);
	}
	st_wait_asleep(pid);
	(void)ioctl(fd[0], TM_IOC_HANGUP, 0);
	st_reap(pid);
}

/* M_HANGUP wakes a sleeping writer */
ST_CASE(a_hang_up_message_ends_a_waiting_write)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	no_sigpipe();
	st_marks(fd[1], 100, 10);
	T_OK(ioctl(fd[0], I_PUSH, "testmod"));
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	pid = st_fork();
	if (pid == 0) {
		write_fails_after_hang_up(fd[0]);
		_exit(0);
	}
	st_wait_asleep(pid);
	(void)ioctl(fd[0], TM_IOC_HANGUP, 0);
	st_reap(pid);
}

/* M_HANGUP through a queueing module above */
ST_ANY_CASE(a_hang_up_passes_modules_above)
{
	char c;
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "testmod"));
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	(void)ioctl(fd[0], TM_IOC_HANGUP, 0);
	T_EQ(read(fd[0], &c, 1), 0);
}

/* M_PCSIG(9): "sent to the process group"; without a terminal to none */
ST_ANY_CASE(a_signal_message_without_a_terminal_signals_nobody)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "testmod"));
	T_EQ(st_str_long(fd[0], TM_IOC_PSIGNAL, SIGUSR1), 0);
	T_EQ(st_str_long(fd[0], TM_IOC_NSIGNAL, SIGUSR2), 0);
	ST_WRITES(fd[1], "x");
	ST_READS(fd[0], 10, "x");
}

/* M_SIG(9) takes its turn in the queue and is nothing a reader sees */
ST_ANY_CASE(a_queued_signal_message_is_not_read)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "testmod"));
	ST_WRITES(fd[1], "one");
	T_EQ(st_str_long(fd[0], TM_IOC_NSIGNAL, SIGUSR2), 0);
	ST_WRITES(fd[1], "two");
	T_OK(ioctl(fd[0], I_SRDOPT, RMSGN));
	ST_READS(fd[0], 100, "one");
	ST_READS(fd[0], 100, "two");
}

/* I_SERROPT RERRNONPERSIST: "the error is cleared once reported" */
ST_ANY_CASE(a_read_error_that_does_not_persist)
{
	char c;
	int fd[2], v = -1;

	st_pipe(t, fd);
	st_nonblock(fd[0]);
	T_OK(ioctl(fd[0], I_SERROPT, RERRNONPERSIST));
	T_EQ(ioctl(fd[0], I_GERROPT, &v), 0);
	T_EQ(v, RERRNONPERSIST);
	st_break(fd[0], TM_IOC_RDERR, EPROTO);
	T_ERR(read(fd[0], &c, 1), EPROTO);
	T_ERR(read(fd[0], &c, 1), EAGAIN);
}

/* I_SERROPT WERRNONPERSIST */
ST_ANY_CASE(a_write_error_that_does_not_persist)
{
	int fd[2];

	st_pipe(t, fd);
	no_sigpipe();
	T_OK(ioctl(fd[0], I_SERROPT, WERRNONPERSIST));
	st_break(fd[0], TM_IOC_WRERR, EPROTO);
	T_ERR(write(fd[0], "x", 1), EPROTO);
	ST_WRITES(fd[0], "x");
}

/* I_SWROPT SNDPIPE: "send SIGPIPE to the calling process when an error occurs" */
ST_CASE(a_write_error_that_does_not_persist_raises_SIGPIPE)
{
	struct sigaction sa = { .sa_handler = on_pipe };
	int fd[2];

	st_pipe(t, fd);
	T_OK(sigaction(SIGPIPE, &sa, NULL));
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE));
	T_OK(ioctl(fd[0], I_SERROPT, WERRNONPERSIST));
	pipes = 0;
	st_break(fd[0], TM_IOC_WRERR, EPROTO);
	T_ERR(write(fd[0], "x", 1), EPROTO);
	T_EQ(pipes, 1);
	T_OK(ioctl(fd[0], I_SWROPT, 0));
	st_break(fd[0], TM_IOC_WRERR, EPROTO);
	T_ERR(write(fd[0], "x", 1), EPROTO);
	T_EQ(pipes, 1);
	ST_WRITES(fd[0], "x");
	T_EQ(pipes, 1);
}

/* M_ERROR: what this end wrote before a read error is still delivered */
ST_CASE(a_read_error_does_not_take_back_what_was_written)
{
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "sent");
	st_break(fd[0], TM_IOC_RDERR, EPROTO);
	ST_READS(fd[1], 10, "sent");
}
