/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The modules of XTI: tirdwr, which makes a connection readable and writable,
 * and the requests that timod answers.
 */
#include "xt.h"

#include <poll.h>
#include <stdio.h>
#include <stropts.h>
#include <sys/wait.h>
#include <unistd.h>

static void
wait_ok(pid_t pid)
{
	int status;

	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_EQ(status, 0);
}

/* ---------------------------------------------------------------------- tirdwr */

static void
rdwr(int fd)
{
	T_OK(ioctl(fd, I_POP, 0));
	T_OK(ioctl(fd, I_PUSH, "tirdwr"));
}

XT_CASE(CO, tirdwr_makes_it_read_and_write)
{
	char buf[16];
	int fd[2];

	xt_pair(fd);
	rdwr(fd[0]);
	rdwr(fd[1]);
	T_EQ(T_OK(write(fd[0], "plain", 5)), 5);
	T_EQ(T_OK(read(fd[1], buf, sizeof(buf))), 5);
	T_MEM(buf, "plain", 5);
	T_EQ(T_OK(write(fd[1], "back", 4)), 4);
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 4);
	T_MEM(buf, "back", 4);
}

XT_CASE(CO, tirdwr_at_one_end_talks_to_xti_at_the_other)
{
	char buf[16];
	int fd[2];

	xt_pair(fd);
	rdwr(fd[0]);
	T_EQ(T_OK(write(fd[0], "plain", 5)), 5);
	xt_rcv_all(fd[1], buf, 5);
	T_MEM(buf, "plain", 5);
	xt_snd_all(fd[1], "xti", 3, 0);
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 3);
}

XT_CASE(CO, tirdwr_keeps_what_came_before_it)
{
	char buf[32];
	int fd[2];
	size_t n = 0;

	xt_pair(fd);
	xt_snd_all(fd[1], "first", 5, 0);
	xt_snd_all(fd[1], "second", 6, 0);
	T_EVENT(fd[0], T_DATA);
	if (xt->inet)
		T_SOON(t_look(fd[0]) == T_DATA, 1000);
	rdwr(fd[0]);
	while (n < 11)
		n += (size_t)T_OK(read(fd[0], buf + n, sizeof(buf) - n));
	T_MEM(buf, "firstsecond", 11);
}

XT_CASE(ORD, a_release_is_end_of_file_for_tirdwr)
{
	char buf[8];
	int fd[2];

	xt_pair(fd);
	rdwr(fd[0]);
	xt_snd_all(fd[1], "bye", 3, 0);
	T_TOK(t_sndrel(fd[1]));
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 3);
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 0);
}

XT_CASE(ORD, the_end_of_file_of_tirdwr_stays)
{
	struct pollfd pfd = {.events = POLLIN | POLLOUT};
	char buf[8];
	int fd[2];

	xt_pair(fd);
	rdwr(fd[0]);
	T_TOK(t_sndrel(fd[1]));
	for (int i = 0; i < 3; i++) {
		T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 0);
		pfd.fd = fd[0];
		T_EQ(T_OK(poll(&pfd, 1, 5000)), 1);
		T_EQ(pfd.revents & (POLLIN | POLLOUT | POLLHUP),
			POLLIN | POLLOUT);
	}
	/* the other direction is open */
	T_EQ(T_OK(write(fd[0], "still", 5)), 5);
	xt_rcv_all(fd[1], buf, 5);
	T_MEM(buf, "still", 5);
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 0);
}

XT_CASE(ORD, what_tirdwr_has_ended_is_an_endpoint_anew)
{
	char buf[8];
	int fd[2];

	xt_pair(fd);
	rdwr(fd[0]);
	T_TOK(t_sndrel(fd[1]));
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 0);
	T_OK(ioctl(fd[0], I_POP, 0));
	T_EVENT(fd[1], T_ORDREL);
	T_TOK(t_rcvrel(fd[1]));
	T_OK(ioctl(fd[0], I_PUSH, "timod"));
	T_STATE(fd[0], T_IDLE);
	T_EQ(t_look(fd[0]), 0);
	T_TOK(t_unbind(fd[0]));
}

XT_CASE(ORD, a_release_before_tirdwr_is_end_of_file)
{
	char buf[8];
	int fd[2];

	xt_pair(fd);
	xt_snd_all(fd[1], "bye", 3, 0);
	T_TOK(t_sndrel(fd[1]));
	T_EVENT(fd[0], T_DATA);
	rdwr(fd[0]);
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 3);
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 0);
}

XT_CASE(ORD, what_tirdwr_wrote_arrives_after_close)
{
	char buf[8];
	int fd[2];

	xt_pair(fd);
	rdwr(fd[0]);
	T_EQ(T_OK(write(fd[0], "last", 4)), 4);
	T_OK(close(fd[0]));
	xt_rcv_all(fd[1], buf, 4);
	T_MEM(buf, "last", 4);
	T_EVENT(fd[1], T_ORDREL);
}

XT_CASE(CO, an_abort_is_a_hangup_for_tirdwr)
{
	char buf[8];
	int fd[2];

	xt_pair(fd);
	rdwr(fd[0]);
	T_TOK(t_snddis(fd[1], NULL));
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 0);
	T_SOON(write(fd[0], "x", 1) < 0, 5000);
}

XT_CASE(CO, a_control_part_is_an_error_for_tirdwr)
{
	int prim = 3;
	struct strbuf ctl = {.len = sizeof(prim), .buf = (char *)&prim};
	char c;
	int fd[2];

	xt_pair(fd);
	rdwr(fd[0]);
	T_OK(putmsg(fd[0], &ctl, NULL, 0));
	T_ERR(read(fd[0], &c, 1), EPROTO);
}

XT_CASE(CO, an_exec_ed_program_that_knows_nothing_reads_and_writes)
{
	char buf[8];
	int fd[2];
	pid_t pid;

	xt_pair(fd);
	rdwr(fd[0]);
	pid = T_OK(fork());
	if (pid == 0) {
		char c;

		T_OK(dup2(fd[0], 0));
		T_OK(dup2(fd[0], 1));
		while (read(0, &c, 1) == 1 && c != '.')
			if (write(1, &c, 1) != 1)
				_exit(1);
		_exit(0);
	}
	xt_snd_all(fd[1], "cat.", 4, 0);
	xt_rcv_all(fd[1], buf, 3);
	T_MEM(buf, "cat", 3);
	wait_ok(pid);
}

/* ----------------------------------------------------------------------- timod */

XT_CASE(ANY, timod_answers_TI_GETMYNAME)
{
	struct xt_addr at, got;
	struct netbuf nb;
	int fd = xt_bound_at(0, 0, &at);

	xt_netbuf(&nb, &got);
	nb.len = 0;
	T_OK(ioctl(fd, ('T' << 8) | 144, &nb));
	T_EQ(nb.len, at.len);
	T_MEM(got.buf, at.buf, at.len);
	nb.maxlen = 1;
	T_ERR(ioctl(fd, ('T' << 8) | 144, &nb), ENAMETOOLONG);
	T_ERR(ioctl(fd, ('T' << 8) | 144, NULL), EFAULT);
}

XT_CASE(CO, timod_answers_TI_GETPEERNAME)
{
	struct xt_addr got;
	struct netbuf nb;
	int fd[2], lone = xt_bound(0, 0);

	xt_pair(fd);
	xt_netbuf(&nb, &got);
	T_OK(ioctl(fd[0], ('T' << 8) | 145, &nb));
	T_GT(nb.len, 0);
	T_ERR(ioctl(lone, ('T' << 8) | 145, &nb), ENOTCONN);
}

XT_CASE(ANY, what_waits_at_timod_is_refused_when_it_is_popped)
{
	struct pollfd pfd;
	struct xt_addr got;
	struct netbuf nb;
	int fd[2], st;
	pid_t pid;

	T_OK(pipe(fd));
	T_OK(ioctl(fd[0], I_PUSH, "timod"));
	pid = T_OK(fork());
	if (pid == 0) {
		xt_netbuf(&nb, &got);
		T_ERR(ioctl(fd[0], ('T' << 8) | 144, &nb), EINVAL);
		_exit(0);
	}
	/* the provider has been asked, and does not answer */
	pfd = (struct pollfd){fd[1], POLLIN | POLLPRI, 0};
	T_EQ(T_OK(poll(&pfd, 1, 10000)), 1);
	T_OK(ioctl(fd[0], I_POP, 0));
	T_SOON(waitpid(pid, &st, WNOHANG) == pid, 10000);
	T_EQ(st, 0);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

XT_CASE(ANY, timod_refuses_what_is_no_request)
{
	const int cmds[] = {140, 141, 142, 143, 148, 149, 150, 151};
	char buf[256];
	int fd = xt_open(0);

	for (int i = 0; i < 8; i++)
		for (int len = 0; len < 4; len++) {
			struct strioctl si = {.ic_cmd = ('T' << 8) | cmds[i],
				.ic_timout = 5, .ic_len = len, .ic_dp = buf};

			memset(buf, 0, sizeof(buf));
			T_ERR(ioctl(fd, I_STR, &si), EINVAL);
		}
	T_STATE(fd, T_UNBND);
}

XT_CASE(ANY, timod_refuses_another_request_than_its_commands)
{
	int prim[8] = {8 /* T_UNITDATA_REQ */};
	struct strioctl si = {.ic_cmd = ('T' << 8) | 142, .ic_timout = 5,
		.ic_len = sizeof(prim), .ic_dp = (char *)prim};
	int fd = xt_open(0);

	T_ERR(ioctl(fd, I_STR, &si), EINVAL);
	T_STATE(fd, T_UNBND);
}

/* The value of a refused request: TLI error, then errno. */
XT_CASE(ANY, timod_tells_the_providers_error)
{
	int prim = 7; /* T_UNBIND_REQ */
	struct strioctl si = {.ic_cmd = ('T' << 8) | 143, .ic_timout = 5,
		.ic_len = sizeof(prim), .ic_dp = (char *)&prim};
	int fd = xt_open(0);

	T_EQ(T_OK(ioctl(fd, I_STR, &si)) & 0xff, TOUTSTATE);
}
