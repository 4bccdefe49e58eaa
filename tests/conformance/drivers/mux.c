/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * mux and minimux over loops and echoes: I_LINK, I_PLINK and their ends.
 */
#include "dr.h"

#include <sys/LiS/loop.h>
#include <sys/LiS/minimux.h>
#include <sys/mux.h>

/* A loop of two ends, of which one is to be linked. */
static void
loop(int fd[2])
{
	fd[0] = dr_open("/dev/loop_clone");
	fd[1] = dr_open("/dev/loop_clone");
	T_OK(dr_str_int(fd[0], LOOP_SET, (int)dr_minor(fd[1])));
}

T_CASE(an_unlinked_multiplexor_turns_round)
{
	int m = dr_open("/dev/mux");

	T_EQ(write(m, "text", 4), 4);
	dr_gets(m, NULL, "text");
	T_OK(close(m));
}

T_CASE(a_link_passes_both_ways_and_an_unlink_ends_it)
{
	int m = dr_open("/dev/mux"), l[2], id;

	loop(l);
	id = ioctl(m, I_LINK, l[0]);
	T_GT(id, 0);
	T_EQ(write(m, "down", 4), 4);
	dr_gets(l[1], NULL, "down");
	T_OK(dr_put(l[1], "ctl", "up", 0));
	dr_gets(m, "ctl", "up");
	/* the lower stream is the multiplexor's */
	T_ERR(write(l[0], "x", 1), EINVAL);
	T_OK(ioctl(m, I_UNLINK, id));
	T_EQ(write(l[0], "direct", 6), 6);
	dr_gets(l[1], NULL, "direct");
	T_EQ(write(m, "round", 5), 5);
	dr_gets(m, NULL, "round");
	T_ERR(ioctl(m, I_UNLINK, id), EINVAL);
	T_OK(close(m));
	T_OK(close(l[0]));
	T_OK(close(l[1]));
}

T_CASE(the_lower_descriptor_may_be_closed)
{
	int m = dr_open("/dev/mux"), l[2], id;

	loop(l);
	id = ioctl(m, I_LINK, l[0]);
	T_GT(id, 0);
	T_OK(close(l[0]));
	T_EQ(write(m, "down", 4), 4);
	dr_gets(l[1], NULL, "down");
	T_OK(ioctl(m, I_UNLINK, MUXID_ALL));
	/* the lower stream has no holder any more: its peer hears of it */
	{
		struct pollfd pfd = {.fd = l[1], .events = POLLIN};

		T_EQ(poll(&pfd, 1, T_PATIENCE), 1);
		T_TRUE((pfd.revents & POLLHUP) != 0);
	}
	T_OK(close(m));
	T_OK(close(l[1]));
}

T_CASE(closing_the_upper_unlinks)
{
	int m = dr_open("/dev/mux"), l[2];

	loop(l);
	T_GT(ioctl(m, I_LINK, l[0]), 0);
	T_OK(close(m));
	T_SOON(write(l[0], "x", 1) == 1, 2000);
	dr_gets(l[1], NULL, "x");
	T_OK(close(l[0]));
	T_OK(close(l[1]));
}

T_CASE(commands_choose_the_lower_stream)
{
	int m = dr_open("/dev/mux"), x[2], y[2], ix, iy;

	loop(x);
	loop(y);
	ix = ioctl(m, I_LINK, x[0]);
	iy = ioctl(m, I_LINK, y[0]);
	T_GT(ix, 0);
	T_GT(iy, 0);
	T_NE(ix, iy);
	T_EQ(write(m, "x", 1), 1);
	dr_gets(x[1], NULL, "x");
	T_OK(ioctl(m, MUX_DOWN, &iy));
	T_EQ(write(m, "y", 1), 1);
	dr_gets(y[1], NULL, "y");
	T_OK(dr_str_int(m, MUX_DOWN, ix));
	T_EQ(write(m, "x", 1), 1);
	dr_gets(x[1], NULL, "x");
	/* both send up */
	T_EQ(write(x[1], "from x", 6), 6);
	dr_gets(m, NULL, "from x");
	T_EQ(write(y[1], "from y", 6), 6);
	dr_gets(m, NULL, "from y");
	T_ERR(dr_str_int(m, MUX_DOWN, 12345), EINVAL);
	T_ERR(ioctl(m, MUX_UP, NULL), EFAULT);
	T_OK(ioctl(m, I_UNLINK, MUXID_ALL));
	T_OK(close(m));
	T_OK(close(x[0]));
	T_OK(close(x[1]));
	T_OK(close(y[0]));
	T_OK(close(y[1]));
}

T_CASE(a_persistent_link_outlives_its_stream)
{
	int m = dr_open("/dev/mux"), l[2], id;

	loop(l);
	id = ioctl(m, I_PLINK, l[0]);
	T_GT(id, 0);
	T_OK(close(l[0]));
	T_OK(close(m));
	m = dr_open("/dev/mux");
	T_OK(dr_str_int(m, MUX_DOWN, id));
	T_OK(dr_str_int(m, MUX_UP, id));
	T_EQ(write(m, "down", 4), 4);
	dr_gets(l[1], NULL, "down");
	T_EQ(write(l[1], "up", 2), 2);
	dr_gets(m, NULL, "up");
	T_OK(ioctl(m, I_PUNLINK, MUXID_ALL));
	T_ERR(dr_str_int(m, MUX_DOWN, id), EINVAL);
	T_OK(close(m));
	T_OK(close(l[1]));
}

T_CASE(a_writer_waits_for_the_reader_below)
{
	static char buf[1024];
	int m = dr_open("/dev/mux"), l[2];
	unsigned out = 0, in = 0;
	ssize_t n;

	loop(l);
	T_GT(ioctl(m, I_LINK, l[0]), 0);
	while ((n = write(m, buf, sizeof(buf))) > 0 && out < 300)
		out++;
	T_EQ(errno, EAGAIN);
	while (in < out * 1024) {
		struct pollfd pfd = {.fd = l[1], .events = POLLIN};

		T_EQ(poll(&pfd, 1, T_PATIENCE), 1);
		n = read(l[1], buf, sizeof(buf));
		T_GT(n, 0);
		in += (unsigned)n;
	}
	T_SOON(write(m, buf, sizeof(buf)) == 1024, 2000);
	T_OK(close(m));
	T_OK(close(l[0]));
	T_OK(close(l[1]));
}

T_CASE(multiplexors_are_cascaded)
{
	int top = dr_open("/dev/minimux.1"), mid = dr_open("/dev/minimux.2");
	int l[2];

	loop(l);
	T_GT(ioctl(mid, I_LINK, l[0]), 0);
	T_GT(ioctl(top, I_LINK, mid), 0);
	T_EQ(write(top, "down", 4), 4);
	dr_gets(l[1], NULL, "down");
	T_EQ(write(l[1], "up", 2), 2);
	dr_gets(top, NULL, "up");
	T_OK(close(top));
	T_OK(close(mid));
	T_OK(close(l[0]));
	T_OK(close(l[1]));
}

T_CASE(minimux_commands_and_minors)
{
	int a = dr_open("/dev/mux_clone"), b = dr_open("/dev/mux_clone");
	int l[2], id;

	T_EQ(open("/dev/minimux.100", O_RDWR), -1);
	T_EQ(errno, ENXIO);
	T_GT(dr_minor(a), 0u);
	loop(l);
	id = ioctl(a, I_LINK, l[0]);
	T_GT(id, 0);
	T_OK(dr_str_int(b, MINIMUX_UP, id));
	T_EQ(write(l[1], "to b", 4), 4);
	dr_gets(b, NULL, "to b");
	T_OK(dr_str_int(b, MINIMUX_DOWN, id));
	T_EQ(write(b, "from b", 6), 6);
	dr_gets(l[1], NULL, "from b");
	T_ERR(dr_str_int(b, MINIMUX_DOWN, id + 1000), EINVAL);
	T_OK(ioctl(a, I_UNLINK, id));
	T_OK(close(a));
	T_OK(close(b));
	T_OK(close(l[0]));
	T_OK(close(l[1]));
}

T_CASE(ioctls_reach_the_driver_below)
{
	int m = dr_open("/dev/mux"), l[2], minor = -1;

	loop(l);
	T_GT(ioctl(m, I_LINK, l[0]), 0);
	T_EQ(dr_str(m, LOOP_GET_DEV, &minor, sizeof(minor)), 0);
	T_GT(minor, 0);
	minor = -1;
	T_OK(ioctl(m, LOOP_GET_DEV, &minor));
	T_GT(minor, 0);
	T_OK(close(m));
	T_OK(close(l[0]));
	T_OK(close(l[1]));
}

T_CASE(a_driver_that_is_none_cannot_be_linked_above)
{
	int e = dr_open("/dev/echo"), l[2];

	loop(l);
	T_ERR(ioctl(e, I_LINK, l[0]), EINVAL);
	T_ERR(ioctl(e, I_PLINK, l[0]), EINVAL);
	T_OK(close(e));
	T_OK(close(l[0]));
	T_OK(close(l[1]));
}

/* Four that link each other in a circle at the same time, by @cmd. */
static void
circle(int cmd)
{
	enum { N = 4, ROUNDS = 20 };
	int fd[N], go[2], i, k, status, made;
	pid_t pid[N];
	char c;

	for (k = 0; k < ROUNDS; k++) {
		for (i = 0; i < N; i++)
			fd[i] = dr_open("/dev/mux");
		T_OK(pipe(go));
		for (i = 0; i < N; i++) {
			pid[i] = T_OK(fork());
			if (pid[i] != 0)
				continue;
			(void)close(go[1]);
			(void)!read(go[0], &c, 1);
			_exit(ioctl(fd[i], cmd, fd[(i + 1) % N]) > 0 ? 0 :
				errno);
		}
		T_OK(close(go[0]));
		T_OK(close(go[1]));
		for (made = i = 0; i < N; i++) {
			T_EQ(waitpid(pid[i], &status, 0), pid[i]);
			T_TRUE(WIFEXITED(status));
			if (WEXITSTATUS(status) != 0)
				T_EQ(WEXITSTATUS(status), EINVAL);
			else
				made++;
		}
		T_GE(made, 1);
		T_LT(made, N);
		for (i = 0; i < N; i++)
			(void)ioctl(fd[i], cmd == I_LINK ? I_UNLINK : I_PUNLINK,
				MUXID_ALL);
		for (i = 0; i < N; i++)
			T_OK(close(fd[i]));
	}
}

T_CASE(a_circle_is_not_made_by_several_at_once)
{
	circle(I_LINK);
}

T_CASE(nor_one_that_would_stay)
{
	circle(I_PLINK);
}
