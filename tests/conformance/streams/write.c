/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * write(): messages made of writes, write options, broken pipes.
 * The text is write(2), streamio(7I) and POSIX write() on a STREAMS file;
 * SNDHOLD, SNDDELIM and SNDMREAD follow the reference.
 */
#include "st.h"

#include <sys/uio.h>

static int
wropt(int fd)
{
	int v = -1;

	T_EQ(ioctl(fd, I_GWROPT, &v), 0);
	return v;
}

/* write(2): each write of at most the packet size makes one message */
ST_ANY_CASE(each_write_is_a_message)
{
	int fd[2], bytes;

	st_pipe(t, fd);
	ST_WRITES(fd[0], "abc");
	ST_WRITES(fd[0], "defgh");
	T_EQ(ioctl(fd[1], I_NREAD, &bytes), 2);
	T_EQ(bytes, 3);
	ST_GOT(fd[1], NULL, "abc");
	ST_GOT(fd[1], NULL, "defgh");
}

/* write(2): PIPE_BUF bytes are not divided */
ST_ANY_CASE(a_write_of_4096_bytes_is_one_message)
{
	static char buf[4096];
	int fd[2], bytes;

	st_pipe(t, fd);
	T_EQ(write(fd[0], buf, sizeof buf), 4096);
	T_EQ(ioctl(fd[1], I_NREAD, &bytes), 1);
	T_EQ(bytes, 4096);
}

/* write(2): longer ones may be, and arrive complete and in order */
ST_ANY_CASE(a_long_write_arrives_complete)
{
	enum { N = 300000 };
	unsigned char *buf = calloc(1, N), *in = calloc(1, N);
	size_t got = 0;
	int fd[2];
	pid_t pid;

	T_NOTNULL(buf);
	T_NOTNULL(in);
	for (int i = 0; i < N; i++)
		buf[i] = (unsigned char)(i * 31 + i / 4093);
	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0) {
		T_EQ(write(fd[0], buf, N), N);
		_exit(0);
	}
	while (got < N) {
		ssize_t n = read(fd[1], in + got, N - got);

		T_GT(n, 0);
		got += (size_t)n;
	}
	T_MEM(in, buf, N);
	st_reap(pid);
	free(buf);
	free(in);
}

/* writev(2): one write over all buffers, hence one message */
ST_ANY_CASE(writev_makes_one_message)
{
	struct iovec v[3] = { { (char[]){ "one" }, 3 }, { NULL, 0 },
		{ (char[]){ "two" }, 3 } };
	int fd[2];

	st_pipe(t, fd);
	T_EQ(writev(fd[0], v, 3), 6);
	T_EQ(st_queued(fd[1]), 1);
	ST_GOT(fd[1], NULL, "onetwo");
}

/* write(2): 0 bytes send nothing on a pipe, unless SNDZERO is set */
ST_CASE(a_write_of_no_bytes_sends_nothing)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(write(fd[0], "", 0), 0);
	T_EQ(st_queued(fd[1]), 0);
}

/* I_SWROPT SNDZERO: "Send a zero-length message downstream" */
ST_ANY_CASE(sndzero_sends_a_zero_length_message)
{
	int fd[2], bytes = -1;

	st_pipe(t, fd);
	T_EQ(ioctl(fd[0], I_SWROPT, SNDZERO), 0);
	T_EQ(write(fd[0], "", 0), 0);
	T_EQ(ioctl(fd[1], I_NREAD, &bytes), 1);
	T_EQ(bytes, 0);
	ST_GOT(fd[1], NULL, "");
}

/* I_SWROPT: "to not send ... arg is 0" */
ST_ANY_CASE(sndzero_can_be_taken_back)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDZERO));
	T_OK(ioctl(fd[0], I_SWROPT, 0));
	T_EQ(wropt(fd[0]), 0);
	T_EQ(write(fd[0], "", 0), 0);
	T_EQ(st_queued(fd[1]), 0);
}

/* Reference: a pipe starts with SNDPIPE and without SNDZERO */
ST_CASE(a_new_pipe_has_sndpipe)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(wropt(fd[0]), SNDPIPE);
	T_EQ(wropt(fd[1]), SNDPIPE);
}

/* I_GWROPT returns what I_SWROPT set */
ST_ANY_CASE(every_legal_write_mode_is_reported_back)
{
	static const int ok[] = { 0, SNDZERO, SNDPIPE, SNDZERO | SNDPIPE,
		SNDHOLD, SNDPIPE | SNDHOLD, SNDZERO | SNDHOLD };
	int fd[2];

	st_pipe(t, fd);
	for (size_t i = 0; i < sizeof ok / sizeof *ok; i++) {
		T_EQ(ioctl(fd[0], I_SWROPT, ok[i]), 0);
		T_EQ(wropt(fd[0]), ok[i]);
	}
}

/* I_SWROPT: EINVAL "arg is not the above legal value" */
ST_ANY_CASE(illegal_write_modes_are_refused_and_change_nothing)
{
	static const int bad[] = { 0x20, 0x40, 0x80, 0x100, 0x8000, -1 };
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDZERO));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		T_ERR(ioctl(fd[0], I_SWROPT, bad[i]), EINVAL);
		T_EQ(wropt(fd[0]), SNDZERO);
	}
}

/* Reference: "SNDDELIM/SNDMREAD are sticky" */
ST_ANY_CASE(snddelim_and_sndmread_stay_once_set)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE | SNDDELIM | SNDMREAD));
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE));
	T_EQ(wropt(fd[0]), SNDPIPE | SNDDELIM | SNDMREAD);
}

/* SNDHOLD: bytes are kept back for a while, not for ever */
ST_ANY_CASE(held_writes_arrive_without_another_call_by_the_writer)
{
	char buf[100];
	size_t got = 0;
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE | SNDHOLD));
	ST_WRITES(fd[0], "abc");
	ST_WRITES(fd[0], "def");
	ST_WRITES(fd[0], "g");
	while (got < 7) {
		ssize_t n = read(fd[1], buf + got, sizeof buf - got);

		T_GT(n, 0);
		got += (size_t)n;
	}
	T_EQ((int)got, 7);
	T_MEM(buf, "abcdefg", 7);
}

/* SNDHOLD: a sleeping reader gets them, too */
ST_ANY_CASE(held_writes_wake_a_reader)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE | SNDHOLD));
	pid = st_fork();
	if (pid == 0) {
		ST_READS(fd[1], 1, "x");
		_exit(0);
	}
	st_wait_asleep(pid);
	ST_WRITES(fd[0], "x");
	st_reap(pid);
}

/* SNDHOLD: poll sees them as well */
ST_ANY_CASE(held_writes_become_readable)
{
	struct pollfd p;
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE | SNDHOLD));
	ST_WRITES(fd[0], "x");
	p.fd = fd[1];
	p.events = POLLIN;
	T_EQ(poll(&p, 1, 5000), 1);
	T_EQ(p.revents, POLLIN);
	ST_READS(fd[1], 100, "x");
}

/* Reference: a message of putmsg() is never joined and flushes what is held */
ST_ANY_CASE(putmsg_sends_what_is_held_first)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE | SNDHOLD));
	ST_WRITES(fd[0], "held");
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	ST_GOT(fd[1], NULL, "held");
	T_EQ(st_get(fd[1], &m, 0), 0);
	ST_IS(&m, "ctl", "data");
}

/* SNDHOLD: large writes follow small ones in order */
ST_ANY_CASE(held_writes_keep_their_order_before_a_large_one)
{
	static char big[3000];
	char in[3100];
	size_t got = 0;
	int fd[2];

	memset(big, 'B', sizeof big);
	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE | SNDHOLD));
	ST_WRITES(fd[0], "one");
	ST_WRITES(fd[0], "two");
	T_EQ(write(fd[0], big, sizeof big), 3000);
	ST_WRITES(fd[0], "three");
	while (got < 3011) {
		ssize_t n = read(fd[1], in + got, sizeof in - got);

		T_GT(n, 0);
		got += (size_t)n;
	}
	T_MEM(in, "onetwo", 6);
	T_MEM(in + 6, big, sizeof big);
	T_MEM(in + 3006, "three", 5);
}

/* SNDHOLD: closing sends what is held */
ST_CASE(closing_sends_what_is_held)
{
	char c;
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE | SNDHOLD));
	ST_WRITES(fd[0], "x");
	T_OK(close(fd[0]));
	ST_READS(fd[1], 1, "x");
	T_EQ(read(fd[1], &c, 1), 0);
}

/* SNDDELIM marks messages; their bytes are the same */
ST_ANY_CASE(snddelim_keeps_the_bytes_and_the_boundaries)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE | SNDDELIM));
	ST_WRITES(fd[0], "abc");
	ST_WRITES(fd[0], "def");
	ST_GOT(fd[1], NULL, "abc");
	ST_GOT(fd[1], NULL, "def");
}

/* SNDHOLD with SNDDELIM: a delimited message is not joined */
ST_ANY_CASE(snddelim_overrides_sndhold)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE | SNDDELIM | SNDHOLD));
	ST_WRITES(fd[0], "abc");
	ST_WRITES(fd[0], "def");
	ST_GOT(fd[1], NULL, "abc");
	ST_GOT(fd[1], NULL, "def");
}

/* SNDMREAD announces reads; the data is the same, on either end */
ST_CASE(read_notification_does_not_change_the_data)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_SWROPT, SNDPIPE | SNDMREAD));
	T_OK(ioctl(fd[1], I_SWROPT, SNDPIPE | SNDMREAD));
	pid = st_fork();
	if (pid == 0) {
		for (int i = 0; i < 200; i++) {
			ST_READS(fd[1], 5, "there");
			ST_WRITES(fd[1], "back");
		}
		_exit(0);
	}
	for (int i = 0; i < 200; i++) {
		ST_WRITES(fd[0], "there");
		ST_READS(fd[0], 4, "back");
	}
	st_reap(pid);
}

/* SNDMREAD: nothing of the announcement is left for the other side to read */
ST_ANY_CASE(read_notification_is_not_data)
{
	char c;
	int fd[2];

	st_pipe(t, fd);
	st_nonblock(fd[0]);
	st_nonblock(fd[1]);
	T_OK(ioctl(fd[1], I_SWROPT, SNDPIPE | SNDMREAD));
	T_ERR(read(fd[1], &c, 1), EAGAIN);
	T_ERR(read(fd[0], &c, 1), EAGAIN);
	T_EQ(st_queued(fd[0]), 0);
	ST_WRITES(fd[0], "x");
	ST_READS(fd[1], 10, "x");
}

static volatile sig_atomic_t pipes;

static void
on_pipe(int sig)
{
	(void)sig;
	pipes++;
}

/* write(2): EPIPE and SIGPIPE when the other end is closed */
ST_CASE(write_to_a_closed_end_is_epipe_with_sigpipe)
{
	struct sigaction sa = { .sa_handler = on_pipe };
	int fd[2];

	st_pipe(t, fd);
	T_OK(sigaction(SIGPIPE, &sa, NULL));
	T_OK(close(fd[1]));
	T_ERR(write(fd[0], "x", 1), EPIPE);
	T_EQ(pipes, 1);
	T_ERR(write(fd[0], "x", 1), EPIPE);
	T_EQ(pipes, 2);
}

/* putmsg(2): "EPIPE ... the other end of the pipe is closed", with SIGPIPE */
ST_CASE(putmsg_to_a_closed_end_is_epipe_with_sigpipe)
{
	struct sigaction sa = { .sa_handler = on_pipe };
	int fd[2];

	st_pipe(t, fd);
	T_OK(sigaction(SIGPIPE, &sa, NULL));
	T_OK(close(fd[1]));
	T_ERR(st_put(fd[0], "ctl", NULL, 0), EPIPE);
	T_EQ(pipes, 1);
	T_ERR(st_putp(fd[0], NULL, "data", 1, MSG_BAND), EPIPE);
	T_EQ(pipes, 2);
}

/* write(2): SIGPIPE ends a process that does not care for it */
ST_CASE(sigpipe_ends_a_process_by_default)
{
	int fd[2], status;
	pid_t pid;

	st_pipe(t, fd);
	T_OK(close(fd[1]));
	pid = st_fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		(void)!write(fd[0], "x", 1);
		_exit(0);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	T_TRUE(WIFSIGNALED(status));
	T_EQ(WTERMSIG(status), SIGPIPE);
}

/* write(2): a waiting writer learns of the close */
ST_CASE(a_hang_up_ends_a_waiting_write)
{
	static char big[8192];
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	st_marks(fd[1], 1000, 100);
	pid = st_fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		T_OK(close(fd[1]));
		while (write(fd[0], big, 100) == 100)
			;
		T_EQ(errno, EPIPE);
		_exit(0);
	}
	st_wait_asleep(pid);
	T_OK(close(fd[1]));
	st_reap(pid);
}

/* write(2), putmsg(2): a closed peer comes before a full queue */
ST_CASE(a_full_stream_without_a_reader_is_not_eagain)
{
	int fd[2];

	st_pipe(t, fd);
	signal(SIGPIPE, SIG_IGN);
	st_nonblock(fd[0]);
	st_marks(fd[1], 100, 10);
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	T_EQ(st_putn(fd[0], 3, 200, 'x'), 0);
	T_ERR(write(fd[0], "x", 1), EAGAIN);
	T_OK(close(fd[1]));
	T_ERR(write(fd[0], "x", 1), EPIPE);
	T_ERR(st_put(fd[0], NULL, "x", 0), EPIPE);
	T_ERR(st_putn(fd[0], 3, 1, 'x'), EPIPE);
}

/* write(2): EFAULT; nothing is sent */
ST_ANY_CASE(write_of_a_bad_buffer_sends_nothing)
{
	int fd[2];

	st_pipe(t, fd);
	T_ERR(write(fd[0], st_bad(), 10), EFAULT);
	T_ERR(write(fd[0], st_edge("abcd", 4), 10), EFAULT);
	T_EQ(st_queued(fd[1]), 0);
	ST_WRITES(fd[0], "good");
	ST_READS(fd[1], 100, "good");
}

/* writev(2): EINVAL for a bad count, EFAULT for a bad vector */
ST_ANY_CASE(writev_checks_its_vector)
{
	static struct iovec v[1025];	/* one more than IOV_MAX */
	volatile int n = -1;
	int fd[2];

	st_pipe(t, fd);
	T_ERR(writev(fd[0], v, n), EINVAL);
	T_ERR(writev(fd[0], v, 1025), EINVAL);
	T_ERR(writev(fd[0], st_bad(), 1), EFAULT);
	T_EQ(st_queued(fd[1]), 0);
}
