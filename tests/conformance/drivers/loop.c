/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * loop through system calls: loop(4); reference "What programs written for
 * LiS expect".
 */
#include "dr.h"

#include <sys/LiS/loop.h>
#include <sys/sysmacros.h>

#define LFS_SET (('1' << 8) | 1) /* <sys/loop.h>'s LOOP_SET */

static int a, b;

static void
connected(void)
{
	a = dr_open("/dev/loop_clone");
	b = dr_open("/dev/loop_clone");
	T_OK(dr_str_int(a, LOOP_SET, (int)dr_minor(b)));
}

static void
done(void)
{
	T_OK(close(a));
	T_OK(close(b));
}

T_CASE(two_minors_are_connected)
{
	a = dr_open("/dev/loop.1");
	b = dr_open("/dev/loop.2");
	T_EQ(dr_minor(a), 1u);
	T_EQ(dr_minor(b), 2u);
	T_OK(dr_str_int(a, LOOP_SET, 2));
	T_EQ(write(a, "there", 5), 5);
	dr_gets(b, NULL, "there");
	T_OK(dr_put(b, "ctl", "back", 0));
	dr_gets(a, "ctl", "back");
	done();
}

T_CASE(the_device_number_of_fstat_connects)
{
	struct stat st;

	a = dr_open("/dev/loop_clone");
	b = dr_open("/dev/loop_clone");
	T_OK(fstat(b, &st));
	T_OK(dr_str(a, LFS_SET, &st.st_rdev, sizeof(st.st_rdev)));
	T_EQ(write(a, "there", 5), 5);
	dr_gets(b, NULL, "there");
	done();
}

T_CASE(a_plain_ioctl_connects)
{
	struct stat st;

	a = dr_open("/dev/loop_clone");
	b = dr_open("/dev/loop_clone");
	T_OK(fstat(b, &st));
	T_ERR(ioctl(a, LFS_SET, (void *)16), EFAULT);
	T_OK(ioctl(a, LFS_SET, &st.st_rdev));
	T_ERR(ioctl(a, LFS_SET, &st.st_rdev), EBUSY);
	done();
}

T_CASE(set_is_refused_with_its_reasons)
{
	char wrong[3] = "ab";
	int c = dr_open("/dev/loop_clone");

	connected();
	T_ERR(dr_str_int(c, LOOP_SET, 77), ENXIO);
	T_ERR(dr_str_int(c, LOOP_SET, 1000), ENXIO);
	T_ERR(dr_str_int(c, LOOP_SET, -1), ENXIO);
	T_ERR(dr_str_int(c, LOOP_SET, (int)dr_minor(a)), EBUSY);
	T_ERR(dr_str_int(a, LOOP_SET, (int)dr_minor(c)), EBUSY);
	T_ERR(dr_str(c, LOOP_SET, wrong, sizeof(wrong)), EINVAL);
	T_ERR(dr_str(c, LOOP_IOCTL(77), NULL, 0), EINVAL);
	T_OK(close(c));
	done();
}

T_CASE(clones_begin_at_1_and_skip_what_is_open)
{
	int c = dr_open("/dev/loop.2");

	a = dr_open("/dev/loop_clone");
	b = dr_open("/dev/loop_clone");
	T_EQ(dr_minor(a), 1u);
	T_EQ(dr_minor(b), 3u);
	T_OK(close(c));
	done();
}

T_CASE(minor_255_is_enodev)
{
	T_EQ(open("/dev/loop.255", O_RDWR), -1);
	T_EQ(errno, ENODEV);
}

T_CASE(data_to_nobody_is_enxio_from_then_on)
{
	a = dr_open("/dev/loop_clone");
	(void)write(a, "lost", 4);
	T_SOON(write(a, "x", 1) == -1 && errno == ENXIO, 2000);
	T_OK(close(a));
}

T_CASE(closing_one_hangs_the_other_up)
{
	struct pollfd pfd;
	char c;

	connected();
	T_OK(close(a));
	pfd.fd = b;
	pfd.events = POLLIN;
	T_EQ(poll(&pfd, 1, T_PATIENCE), 1);
	T_TRUE((pfd.revents & POLLHUP) != 0);
	T_EQ(read(b, &c, 1), 0);
	T_ERR(write(b, "x", 1), ENXIO);
	T_OK(close(b));
}

T_CASE(a_killed_process_closes_too)
{
	struct pollfd pfd = {.events = POLLIN};
	int ready[2];
	pid_t pid;
	char c;

	b = dr_open("/dev/loop.5");
	T_OK(pipe(ready));
	pid = fork();
	T_GE(pid, 0);
	if (pid == 0) {
		int fd = open("/dev/loop.6", O_RDWR);

		if (fd < 0 || dr_str_int(fd, LOOP_SET, 5) != 0)
			_exit(1);
		(void)write(ready[1], "x", 1);
		for (;;)
			pause();
	}
	T_EQ(read(ready[0], &c, 1), 1);
	T_OK(kill(pid, SIGKILL));
	T_EQ(waitpid(pid, NULL, 0), pid);
	pfd.fd = b;
	T_EQ(poll(&pfd, 1, T_PATIENCE), 1);
	T_TRUE((pfd.revents & POLLHUP) != 0);
	T_OK(close(b));
	/* the minor is free again */
	T_SOON((a = open("/dev/loop.6", O_RDWR)) >= 0, 2000);
	T_EQ(dr_str_int(a, LOOP_SET, 5), -1);
	T_EQ(errno, ENXIO);
	T_OK(close(a));
	T_OK(close(ready[0]));
	T_OK(close(ready[1]));
}

T_CASE(a_writer_waits_for_its_reader)
{
	static char buf[1024];
	unsigned out = 0, in = 0;
	ssize_t n;

	connected();
	while ((n = write(a, buf, sizeof(buf))) > 0 && out < 200)
		out++;
	T_EQ(errno, EAGAIN);
	T_GT(out, 10u);
	T_EQ(ioctl(a, I_CANPUT, 0), 0);
	while ((n = read(b, buf, sizeof(buf))) > 0)
		in += (unsigned)n;
	T_EQ(in, out * 1024);
	T_SOON(ioctl(a, I_CANPUT, 0) == 1, 2000);
	done();
}

T_CASE(two_processes_exchange_records)
{
	enum { N = 2000 };
	char text[16];
	pid_t pid;
	int i, status;

	a = open("/dev/loop.1", O_RDWR);
	b = open("/dev/loop.2", O_RDWR);
	T_OK(dr_str_int(a, LOOP_SET, 2));
	T_OK(ioctl(b, I_SRDOPT, RMSGN));
	pid = fork();
	T_GE(pid, 0);
	if (pid == 0) {
		for (i = 0; i < N; i++) {
			snprintf(text, sizeof(text), "record %06d", i);
			if (write(a, text, 13) != 13)
				_exit(1);
		}
		_exit(0);
	}
	for (i = 0; i < N; i++) {
		char want[16];

		snprintf(want, sizeof(want), "record %06d", i);
		T_EQ(read(b, text, sizeof(text)), 13);
		T_MEM(text, want, 13);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	done();
}

T_CASE(get_dev_and_putnxt_and_mark)
{
	int minor = -1;

	connected();
	T_EQ(dr_str(b, LOOP_GET_DEV, &minor, sizeof(minor)), 0);
	T_EQ(minor, (int)dr_minor(b));
	T_OK(dr_str(a, LOOP_PUTNXT, NULL, 0));
	T_OK(dr_str(a, LOOP_MARK, NULL, 0));
	T_EQ(write(a, "marked", 6), 6);
	T_EQ(ioctl(b, I_ATMARK, ANYMARK), 1);
	dr_gets(b, NULL, "marked");
	T_EQ(write(a, "plain", 5), 5);
	T_EQ(ioctl(b, I_ATMARK, ANYMARK), 0);
	dr_gets(b, NULL, "plain");
	done();
}

T_CASE(messages_are_held_by_level_and_by_timer)
{
	uint64_t since;

	connected();
	T_OK(dr_str_int(a, LOOP_MSGLVL, 2));
	T_EQ(write(a, "one", 3), 3);
	T_EQ(write(a, "two", 3), 3);
	dr_nothing(b, 30);
	T_EQ(write(a, "three", 5), 5);
	dr_gets(b, NULL, "one");
	dr_gets(b, NULL, "two");
	dr_gets(b, NULL, "three");
	T_OK(dr_str_int(a, LOOP_TIMR, 5));
	since = t_now_ns();
	T_EQ(write(a, "four", 4), 4);
	dr_gets(b, NULL, "four");
	T_GE(t_now_ns() - since, 50000000u);
	done();
}

T_CASE(bufcall_lets_messages_go)
{
	connected();
	T_OK(dr_str(a, LOOP_BUFCALL, NULL, 0));
	T_OK(dr_put(a, NULL, "text", 0));
	dr_gets(b, NULL, "text");
	done();
}

T_CASE(messages_are_joined_and_repeated)
{
	int i;

	connected();
	T_OK(dr_str_int(a, LOOP_CONCAT, 6));
	for (i = 0; i < 3; i++)
		T_OK(dr_put(a, "ctl", NULL, 0));
	for (i = 0; i < 3; i++)
		T_OK(dr_put(a, NULL, "data", 0));
	dr_gets(b, "ctlctlctl", "datadatadata");
	T_OK(dr_str_int(a, LOOP_BURST, 3));
	T_OK(dr_put(a, NULL, "again", 0));
	for (i = 0; i < 3; i++)
		dr_gets(b, NULL, "again");
	dr_nothing(b, 0);
	done();
}

T_CASE(flush_command_flushes_the_reader_and_brings_data)
{
	char data[] = "after";

	connected();
	T_OK(dr_put(a, NULL, "void", 0));
	T_SOON(ioctl(b, I_NREAD, &(int){0}) == 1, 2000);
	T_EQ(dr_str(a, LOOP_FLUSH, data, 5), 0);
	dr_gets(b, NULL, "after");
	dr_nothing(b, 0);
	done();
}

T_CASE(opens_are_denied_and_allowed)
{
	int c;

	a = dr_open("/dev/loop.4");
	T_OK(dr_str(a, LOOP_DENY_OPEN, NULL, 0));
	T_EQ(open("/dev/loop.4", O_RDWR), -1);
	T_EQ(errno, EBUSY);
	T_OK(dr_str(a, LOOP_DENY_OPEN, NULL, 0));
	c = dr_open("/dev/loop.4");
	T_OK(close(c));
	T_OK(close(a));
}

T_CASE(transparent_commands_copy_both_ways)
{
	char in[] = "data for the loop driver", out[64];
	loop_xparent_t xp = {LOOP_XPARENT_COPYIN, sizeof(in), in};

	a = dr_open("/dev/loop_clone");
	T_OK(ioctl(a, LOOP_XPARENT_COPYIN, &xp));
	memset(out, 'x', sizeof(out));
	xp.i_arg = sizeof(out);
	xp.p_arg = out;
	T_OK(ioctl(a, LOOP_XPARENT_COPYOUT, &xp));
	T_STR(out, in);
	T_ERR(ioctl(a, LOOP_XPARENT_COPYOUT, NULL), EFAULT);
	xp.p_arg = NULL;
	T_ERR(ioctl(a, LOOP_XPARENT_COPYOUT, &xp), EFAULT);
	T_ERR(ioctl(a, LOOP_XPARENT_COPYIN, &xp), EFAULT);
	T_OK(close(a));
}

T_CASE(bands_and_priorities_keep_their_order)
{
	struct strbuf d = {.len = 4, .buf = (char *)(uintptr_t)"band"};
	int band = 0, flags = MSG_ANY;
	char buf[16];
	struct strbuf in = {.maxlen = sizeof(buf), .buf = buf};

	connected();
	T_OK(dr_put(a, NULL, "low", 0));
	T_OK(putpmsg(a, NULL, &d, 7, MSG_BAND));
	T_SOON(ioctl(b, I_NREAD, &(int){0}) == 2, 2000);
	T_EQ(getpmsg(b, NULL, &in, &band, &flags), 0);
	T_EQ(band, 7);
	T_EQ(flags, MSG_BAND);
	dr_gets(b, NULL, "low");
	done();
}
