/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * bufmod, sc and the relays on real streams.
 */
#include "dr.h"

#include <sys/bufmod.h>
#include <sys/sc.h>
#include <sys/time.h>

static int
set(int fd, int cmd, unsigned val)
{
	return dr_str(fd, cmd, &val, sizeof(val));
}

T_CASE(bufmod_collects_until_its_timeout)
{
	long us = 200000l * t_scale(); /* we may not run for a while */
	struct timeval tv = {us / 1000000, us % 1000000};
	int fd[2];

	T_OK(pipe(fd));
	T_OK(ioctl(fd[0], I_PUSH, "bufmod"));
	T_OK(set(fd[0], SBIOCSFLAGS, SB_NO_HEADER));
	T_OK(ioctl(fd[0], SBIOCSTIME, &tv));
	T_EQ(write(fd[1], "one", 3), 3);
	T_EQ(write(fd[1], "two", 3), 3);
	dr_nothing(fd[0], 5);
	dr_gets(fd[0], NULL, "onetwo");
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

/* A callback does not depend on the process that requested it. */
T_CASE(the_timeout_of_a_stopped_process_is_over_in_another)
{
	long us = 200000l * t_scale();
	struct timeval tv = {us / 1000000, us % 1000000};
	int fd[2], status;
	pid_t pid;

	T_OK(pipe(fd));
	T_OK(ioctl(fd[0], I_PUSH, "bufmod"));
	T_OK(set(fd[0], SBIOCSFLAGS, SB_NO_HEADER));
	T_OK(ioctl(fd[0], SBIOCSTIME, &tv));
	pid = T_OK(fork());
	if (pid == 0) {
		T_EQ(write(fd[1], "one", 3), 3);
		raise(SIGSTOP);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &status, WUNTRACED)), pid);
	T_TRUE(WIFSTOPPED(status));
	dr_gets(fd[0], NULL, "one");
	T_OK(kill(pid, SIGCONT));
	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_EQ(status, 0);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

T_CASE(bufmod_sends_full_chunks_with_headers)
{
	struct sb_hdr h;
	char buf[4096];
	int fd[2], i;

	T_OK(pipe(fd));
	T_OK(ioctl(fd[0], I_PUSH, "bufmod"));
	T_OK(set(fd[0], SBIOCSCHUNK, 64));
	T_OK(set(fd[0], SBIOCSSNAP, 4));
	for (i = 0; i < 3; i++)
		T_EQ(write(fd[1], "0123456789", 10), 10);
	T_EQ(read(fd[0], buf, sizeof(buf)), 64);
	for (i = 0; i < 2; i++) {
		memcpy(&h, buf + 32 * i, sizeof(h));
		T_EQ(h.sbh_origlen, 10u);
		T_EQ(h.sbh_msglen, 4u);
		T_EQ(h.sbh_totlen, 32u);
		T_GT(h.sbh_timestamp.tv_sec, 1000000000);
		T_MEM(buf + 32 * i + sizeof(h), "0123", 4);
	}
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

T_CASE(bufmod_gives_what_waits_before_the_end_of_file)
{
	char buf[16];
	int fd[2];

	T_OK(pipe(fd));
	T_OK(ioctl(fd[0], I_PUSH, "bufmod"));
	T_OK(set(fd[0], SBIOCSFLAGS, SB_NO_HEADER));
	T_EQ(write(fd[1], "last", 4), 4);
	T_OK(set(fd[0], SBIOCSCHUNK, 0));
	T_EQ(read(fd[0], buf, sizeof(buf)), 4);
	T_OK(close(fd[1]));
	T_EQ(read(fd[0], buf, sizeof(buf)), 0);
	T_OK(close(fd[0]));
}

T_CASE(sc_lists_modules_and_drivers)
{
	struct sc_list sl;
	int fd = dr_open("/dev/nuls"), n, i, seen = 0;

	T_OK(ioctl(fd, I_PUSH, "sc"));
	n = ioctl(fd, SC_IOC_LIST, NULL);
	T_GT(n, 10);
	sl.sc_nmods = n;
	sl.sc_mlist = calloc((size_t)n, sizeof(*sl.sc_mlist));
	T_NOTNULL(sl.sc_mlist);
	T_EQ(ioctl(fd, SC_IOC_LIST, &sl), n);
	for (i = 0; i < n; i++) {
		struct sc_mlist *m = &sl.sc_mlist[i];

		if (strcmp(m->name, "mux") == 0) {
			seen |= 1;
			T_GT(m->major, 0);
			T_EQ(m->mi[2].index, 3);
			T_EQ(m->mi[3].index, 4);
		} else if (strcmp(m->name, "sc") == 0) {
			seen |= 2;
			T_EQ(m->major, 0);
			T_EQ(m->mi[2].index, 0);
		} else if (strcmp(m->name, "loop") == 0) {
			seen |= 4;
			T_EQ(m->mi[0].mi_hiwat, 10240u);
		}
	}
	T_EQ(seen, 7);
	T_ERR(ioctl(fd, SC_IOC_LIST, (void *)16), EFAULT);
	sl.sc_mlist = NULL;
	T_ERR(ioctl(fd, SC_IOC_LIST, &sl), EFAULT);
	T_OK(close(fd));
}

T_CASE(relays_pass_and_are_told_apart)
{
	struct str_mlist ml[3];
	struct str_list sl = {3, ml};
	int fd = dr_open("/dev/echo");

	T_OK(ioctl(fd, I_PUSH, "relay"));
	T_OK(ioctl(fd, I_PUSH, "relay2"));
	T_EQ(ioctl(fd, I_LIST, &sl), 0);
	T_EQ(sl.sl_nmods, 3);
	T_STR(ml[0].l_name, "relay2");
	T_STR(ml[1].l_name, "relay");
	T_STR(ml[2].l_name, "echo");
	T_OK(dr_put(fd, "ctl", "data", 0));
	dr_gets(fd, "ctl", "data");
	T_OK(close(fd));
}
