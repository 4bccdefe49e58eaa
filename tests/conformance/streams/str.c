/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * I_STR and transparent ioctls, answered by testmod.
 * The text is streamio(7I) I_STR, and the reference on testmod.
 */
#include "st.h"

static void
pipe_with_testmod(struct t *t, int fd[2])
{
	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "testmod"));
}

static void
filled(const unsigned char *p, int n)
{
	for (int i = 0; i < n; i++)
		T_EQ(p[i], TM_FILL);
}

/* I_STR: data goes down, an answer comes up, ic_len is its length */
ST_ANY_CASE(i_str_sends_data_and_returns_the_answer)
{
	unsigned char buf[100] = "ask";
	int fd[2], len = sizeof buf;

	pipe_with_testmod(t, fd);
	T_EQ(st_str(fd[0], TM_IOC_IOCTL, 0, &len, buf), 0);
	T_EQ(len, 100);
	filled(buf, 100);
}

/* I_STR: ic_len 0, and sizes around those of message blocks */
ST_ANY_CASE(i_str_takes_data_of_any_size)
{
	static const int sizes[] = { 0, 1, 63, 64, 65, 127, 128, 129, 1000,
		4095, 4096 };
	static unsigned char buf[4097];
	int fd[2];

	pipe_with_testmod(t, fd);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		int len = sizes[i];

		memset(buf, 0, sizeof buf);
		T_EQ(st_str(fd[0], TM_IOC_IOCTL, 0, &len, buf), 0);
		T_EQ(len, sizes[i]);
		filled(buf, len);
		T_EQ(buf[len], 0);
	}
}

/* I_STR: an answer without data sets ic_len to 0 */
ST_ANY_CASE(i_str_sets_the_length_of_an_empty_answer)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };
	long sig = SIGUSR1;
	int fd[2], len = sizeof sig;

	pipe_with_testmod(t, fd);
	T_OK(sigaction(SIGUSR1, &sa, NULL));
	T_EQ(st_str(fd[0], TM_IOC_PSIGNAL, 0, &len, &sig), 0);
	T_EQ(len, 0);
}

/* I_STR: ic_timout -1 without limit, 0 the default, above 0 seconds */
ST_ANY_CASE(i_str_takes_every_legal_timeout)
{
	static const int timeouts[] = { -1, 0, 1, 15, 100000 };
	unsigned char buf[8];
	int fd[2];

	pipe_with_testmod(t, fd);
	for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; i++) {
		int len = sizeof buf;

		T_EQ(st_str(fd[0], TM_IOC_IOCTL, timeouts[i], &len, buf), 0);
		T_EQ(len, 8);
	}
}

/* I_STR: "EINVAL ... ic_timout is less than -1" */
ST_ANY_CASE(i_str_refuses_a_timeout_below_minus_one)
{
	unsigned char buf[8] = "same";
	int fd[2], len = sizeof buf;

	pipe_with_testmod(t, fd);
	T_ERR(st_str(fd[0], TM_IOC_IOCTL, -2, &len, buf), EINVAL);
	T_STR((char *)buf, "same");
}

/* I_STR: "EINVAL ic_len is less than 0 or ... larger than the maximum" */
ST_ANY_CASE(i_str_refuses_bad_lengths)
{
	static unsigned char buf[8];
	int fd[2], len = -1;

	pipe_with_testmod(t, fd);
	T_ERR(st_str(fd[0], TM_IOC_IOCTL, 0, &len, buf), EINVAL);
	len = 0x7fffffff;
	T_ERR(st_str(fd[0], TM_IOC_IOCTL, 0, &len, buf), EINVAL);
}

/* I_STR: EFAULT, for the structure and for the data */
ST_ANY_CASE(i_str_checks_its_addresses)
{
	struct strioctl s = { TM_IOC_IOCTL, 0, 8, st_bad() };
	int fd[2];

	pipe_with_testmod(t, fd);
	T_ERR(ioctl(fd[0], I_STR, &s), EFAULT);
	T_ERR(ioctl(fd[0], I_STR, st_bad()), EFAULT);
	T_ERR(ioctl(fd[0], I_STR, NULL), EFAULT);
	/* The Stream is not stuck: the next one is answered. */
	s.ic_dp = (char[8]){ 0 };
	T_EQ(ioctl(fd[0], I_STR, &s), 0);
}

/* Reference: a pipe knows no ioctl; the far Stream head answers EINVAL */
ST_CASE(i_str_on_a_bare_pipe_is_einval)
{
	char buf[8];
	int fd[2], len = sizeof buf;

	st_pipe(t, fd);
	T_ERR(st_str(fd[0], TM_IOC_IOCTL, 0, &len, buf), EINVAL);
	T_ERR(st_str(fd[0], 12345, 0, &len, buf), EINVAL);
	T_EQ(st_queued(fd[1]), 0);
}

/* The same through modules that do not know the command. */
ST_ANY_CASE(i_str_unknown_to_all_modules_is_einval)
{
	char buf[8];
	int fd[2], len = sizeof buf;

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "pipemod"));
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_OK(ioctl(fd[0], I_PUSH, "testmod"));
	T_OK(ioctl(fd[1], I_PUSH, "srvmod"));
	T_ERR(st_str(fd[0], 'x' << 8 | 1, 0, &len, buf), EINVAL);
	T_ERR(st_str(fd[1], 'x' << 8 | 1, 0, &len, buf), EINVAL);
}

/* A command is answered by the modules of this end, not of the other. */
ST_CASE(modules_of_the_other_end_do_not_answer)
{
	char buf[8];
	int fd[2], len = sizeof buf;

	pipe_with_testmod(t, fd);
	T_ERR(st_str(fd[1], TM_IOC_IOCTL, 0, &len, buf), EINVAL);
}

/* An ioctl passes the modules above the one that answers. */
ST_ANY_CASE(i_str_reaches_a_module_below_others)
{
	unsigned char buf[8];
	int fd[2], len = sizeof buf;

	pipe_with_testmod(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "pipemod"));
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_EQ(st_str(fd[0], TM_IOC_IOCTL, 0, &len, buf), 0);
	T_EQ(len, 8);
	filled(buf, 8);
}

/* I_STR does not wait for flow control, and no data is touched. */
ST_ANY_CASE(i_str_is_answered_on_a_full_stream)
{
	unsigned char buf[8];
	int fd[2], len = sizeof buf;

	pipe_with_testmod(t, fd);
	st_marks(fd[1], 100, 10);
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	T_EQ(st_str(fd[0], TM_IOC_IOCTL, 0, &len, buf), 0);
	T_EQ(st_queued(fd[1]), 1);
}

/* I_STR: only one at a time; every caller gets an answer of its own */
ST_ANY_CASE(concurrent_i_strs_do_not_mix)
{
	enum { ROUNDS = 150, CALLERS = 3 };
	pid_t pid[CALLERS];
	int fd[2];

	pipe_with_testmod(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	for (int c = 0; c < CALLERS; c++) {
		pid[c] = st_fork();
		if (pid[c] != 0)
			continue;
		for (int i = 0; i < ROUNDS; i++) {
			unsigned char buf[64] = "";
			int len = 10 + c * 7;

			T_EQ(st_str(fd[0], TM_IOC_IOCTL, -1, &len, buf), 0);
			T_EQ(len, 10 + c * 7);
			filled(buf, len);
			T_EQ(buf[len], 0);
		}
		_exit(0);
	}
	for (int c = 0; c < CALLERS; c++)
		st_reap(pid[c]);
}

/* Reference: TM_IOC_COPYIN, transparent, reads the caller's memory */
ST_ANY_CASE(a_module_can_copy_in)
{
	char buf[TM_COPYSZ];
	int fd[2];

	memset(buf, 'i', sizeof buf);
	pipe_with_testmod(t, fd);
	T_EQ(ioctl(fd[0], TM_IOC_COPYIN, buf), 0);
	for (int i = 0; i < TM_COPYSZ; i++)
		T_EQ(buf[i], 'i');
}

/* Reference: TM_IOC_COPYOUT writes it, and not a byte more */
ST_ANY_CASE(a_module_can_copy_out)
{
	unsigned char buf[TM_COPYSZ + 64] = "";
	int fd[2];

	pipe_with_testmod(t, fd);
	T_EQ(ioctl(fd[0], TM_IOC_COPYOUT, buf + 32), 0);
	for (int i = 0; i < 32; i++) {
		T_EQ(buf[i], 0);
		T_EQ(buf[32 + TM_COPYSZ + i], 0);
	}
	filled(buf + 32, TM_COPYSZ);
}

/* Reference: TM_IOC_COPYIO reads, then writes */
ST_ANY_CASE(a_module_can_copy_both_ways)
{
	unsigned char buf[TM_COPYSZ + 1] = "";
	int fd[2];

	pipe_with_testmod(t, fd);
	T_EQ(ioctl(fd[0], TM_IOC_COPYIO, buf), 0);
	filled(buf, TM_COPYSZ);
	T_EQ(buf[TM_COPYSZ], 0);
}

/* A failed copy is EFAULT, and the Stream is ready for the next ioctl */
ST_ANY_CASE(a_failed_copy_is_efault_and_ends_the_ioctl)
{
	static const int cmds[] = { TM_IOC_COPYIN, TM_IOC_COPYOUT,
		TM_IOC_COPYIO };
	unsigned char buf[TM_COPYSZ] = "";
	int fd[2];

	pipe_with_testmod(t, fd);
	for (int i = 0; i < 3; i++) {
		T_ERR(ioctl(fd[0], cmds[i], st_bad()), EFAULT);
		T_ERR(ioctl(fd[0], cmds[i], NULL), EFAULT);
		T_ERR(ioctl(fd[0], cmds[i], st_edge("x", 1)), EFAULT);
		T_EQ(ioctl(fd[0], TM_IOC_COPYIO, buf), 0);
	}
}

/* Reference: the copy commands want transparent ioctls, TM_IOC_IOCTL I_STR */
ST_ANY_CASE(the_kind_of_an_ioctl_matters_to_its_module)
{
	static const int cmds[] = { TM_IOC_COPYIN, TM_IOC_COPYOUT,
		TM_IOC_COPYIO };
	char buf[TM_COPYSZ];
	int fd[2], len;

	pipe_with_testmod(t, fd);
	for (int i = 0; i < 3; i++) {
		len = sizeof buf;
		T_ERR(st_str(fd[0], cmds[i], 0, &len, buf), EINVAL);
	}
	T_ERR(ioctl(fd[0], TM_IOC_IOCTL, buf), EINVAL);
}

/* Copy requests pass other modules as well. */
ST_ANY_CASE(copy_requests_pass_the_modules_above)
{
	unsigned char buf[TM_COPYSZ] = "";
	int fd[2];

	pipe_with_testmod(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	T_OK(ioctl(fd[0], I_PUSH, "pipemod"));
	T_EQ(ioctl(fd[0], TM_IOC_COPYIO, buf), 0);
	filled(buf, TM_COPYSZ);
}

/* The copies are made for the process that called, and no other. */
ST_ANY_CASE(copies_are_made_in_the_memory_of_the_caller)
{
	static unsigned char buf[TM_COPYSZ];
	int fd[2];
	pid_t pid[2];

	pipe_with_testmod(t, fd);
	for (int c = 0; c < 2; c++) {
		pid[c] = st_fork();
		if (pid[c] != 0)
			continue;
		for (int i = 0; i < 100; i++) {
			memset(buf, c + 1, sizeof buf);
			T_EQ(ioctl(fd[0], TM_IOC_COPYIO, buf), 0);
			filled(buf, TM_COPYSZ);
		}
		_exit(0);
	}
	st_reap(pid[0]);
	st_reap(pid[1]);
	for (int i = 0; i < TM_COPYSZ; i++)
		T_EQ(buf[i], 0);
}

/* streamio(7I): "EINVAL ... command is not a valid value for a stream" */
ST_CASE(an_unknown_transparent_ioctl_on_a_pipe_is_einval)
{
	char buf[64];
	int fd[2];

	st_pipe(t, fd);
	T_ERR(ioctl(fd[0], 'x' << 8 | 1, buf), EINVAL);
	T_ERR(ioctl(fd[0], TM_IOC_COPYOUT, buf), EINVAL);
	T_ERR(ioctl(fd[0], 0, 0), EINVAL);
	T_EQ(st_queued(fd[1]), 0);
}

/* Reference: unhandled numbers of the head's own letter go down, too */
ST_ANY_CASE(an_unknown_number_of_the_head_is_einval)
{
	int fd[2];

	st_pipe(t, fd);
	T_ERR(ioctl(fd[0], 'S' << 8 | 200, 0), EINVAL);
}

/* Reference: "The head matches only type+number (low 16 bits)" */
ST_ANY_CASE(the_upper_bits_of_a_command_do_not_matter)
{
	int fd[2], bytes = -1;

	st_pipe(t, fd);
	ST_WRITES(fd[0], "abc");
	T_EQ(ioctl(fd[1], 0x40040000u | I_NREAD, &bytes), 1);
	T_EQ(bytes, 3);
}

/* I_STR: ioctls and data at once, from several processes */
ST_ANY_CASE(ioctls_do_not_disturb_data)
{
	enum { ROUNDS = 300 };
	unsigned char buf[32];
	int fd[2];
	pid_t pid;

	pipe_with_testmod(t, fd);
	pid = st_fork();
	if (pid == 0) {
		for (int i = 0; i < ROUNDS; i++)
			T_EQ(write(fd[0], &i, sizeof i), (ssize_t)sizeof i);
		_exit(0);
	}
	for (int i = 0; i < ROUNDS; i++) {
		int len = sizeof buf, v = -1;

		T_EQ(st_str(fd[0], TM_IOC_IOCTL, 0, &len, buf), 0);
		T_EQ(read(fd[1], &v, sizeof v), (ssize_t)sizeof v);
		T_EQ(v, i);
	}
	st_reap(pid);
}
