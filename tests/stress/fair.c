/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * One stream that takes long to see to delays no other stream's end of file.
 *
 * streamsd does the last close for every killed process of the domain.  Each
 * case leaves it a large task, kills the holder of another stream, and takes
 * the time until that stream's other side is hung up.
 */
#include "held.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define MOST (100 * t_scale()) /* ms */

static void
all_descriptors(void)
{
	struct rlimit rl;

	T_OK(getrlimit(RLIMIT_NOFILE, &rl));
	rl.rlim_cur = rl.rlim_max;
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
}

/* Milliseconds until @fd is hung up, since @began. */
static unsigned
end_of_file(uint64_t began, int fd)
{
	struct pollfd p = {fd, POLLIN, 0};

	T_EQ(poll(&p, 1, 30000), 1);
	T_TRUE(p.revents & POLLHUP);
	return (unsigned)((t_now_ns() - began) / 1000000u);
}

static void
spx_pair(int fd[2])
{
	struct strfdinsert fi;
	char token[sizeof(int)];

	fd[0] = T_OK(open("/dev/spx", O_RDWR | O_NONBLOCK));
	fd[1] = T_OK(open("/dev/spx", O_RDWR | O_NONBLOCK));
	memset(&fi, 0, sizeof(fi));
	fi.ctlbuf.buf = token;
	fi.ctlbuf.len = sizeof(token);
	fi.databuf.len = -1;
	fi.fildes = fd[1];
	T_OK(ioctl(fd[0], I_FDINSERT, &fi));
}

#define VICTIMS 8

/*
 * The holders of other streams die, after @task has left streamsd a large task.  Another program's load may delay a round: one of
 * three is enough.
 */
static void
is_fair(pid_t (*task)(void))
{
	unsigned worst = 0, ms;
	int fd[VICTIMS], round, i;
	pid_t large, pid[VICTIMS];
	uint64_t began;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < VICTIMS; i++)
			pid[i] = holder(&fd[i], 1);
		large = task();
		T_OK(kill(large, SIGKILL));
		began = t_now_ns();
		for (i = 0; i < VICTIMS; i++)
			T_OK(kill(pid[i], SIGKILL));
		worst = 0;
		for (i = 0; i < VICTIMS; i++) {
			ms = end_of_file(began, fd[i]);
			worst = ms > worst ? ms : worst;
		}
		for (i = 0; i < VICTIMS; i++) {
			T_OK(waitpid(pid[i], NULL, 0));
			T_OK(close(fd[i]));
		}
		T_OK(waitpid(large, NULL, 0));
		fprintf(stderr, "# end of file after %u ms\n", worst);
		if (worst < MOST)
			return;
	}
	T_LT(worst, MOST);
}

#define LATE 200000

/* High-priority messages: no flow control keeps them back. */
static pid_t
late_messages(void)
{
	struct strbuf ctl = {.len = 4, .buf = (char[]){"late"}};
	pid_t plumber;
	int spx[2], i;

	spx_pair(spx);
	plumber = T_OK(fork());
	if (plumber == 0) {
		T_OK(isastream(spx[0]));
		setenv("STREAMS_DELAY", "plumb:half:60000", 1);
		(void)ioctl(spx[0], I_PUSH, "relay");
		_exit(0);
	}
	T_TRUE(p_asleep(plumber, plumber));
	T_OK(close(spx[0]));
	for (i = 0; i < LATE; i++)
		T_OK(putmsg(spx[1], &ctl, NULL, RS_HIPRI));
	return plumber;
}

T_CASE_TIMEOUT(late_messages_of_a_killed_plumber_delay_no_other_stream, 60)
{
	if (getenv("FAIR_POINTS") == NULL)
		T_SKIP("built without crash points");
	is_fair(late_messages);
}

#define STREAMS 1000

static pid_t
thousand_streams(void)
{
	int tell[2], i;
	pid_t many;
	char c;

	p_kernel_pipe(tell);
	many = T_OK(fork());
	if (many == 0) {
		all_descriptors();
		for (i = 0; i < STREAMS; i++)
			(void)T_OK(open("/dev/spx", O_RDWR));
		T_EQ(write(tell[1], "k", 1), 1);
		for (;;)
			pause();
	}
	T_EQ(read(tell[0], &c, 1), 1);
	T_OK(close(tell[0]));
	T_OK(close(tell[1]));
	return many;
}

T_CASE_TIMEOUT(a_killed_process_with_many_streams_delays_no_other_stream, 60)
{
	is_fair(thousand_streams);
}

#define QUEUED 400000

/* Blocks that the reaper of each dead thread has to look at. */
static pid_t
many_blocks(void)
{
	struct strbuf data = {.len = 1, .buf = (char[]){"x"}};
	static int fd[2];
	pid_t pid;
	int i;

	if (fd[1] == 0) {
		T_OK(pipe(fd));
		for (i = 0; i < QUEUED; i++)
			T_OK(putpmsg(fd[1], NULL, &data, 1, MSG_BAND));
	}
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(isastream(fd[0]));
		for (;;)
			pause();
	}
	return pid;
}

T_CASE_TIMEOUT(many_messages_in_memory_delay_no_stream, 60)
{
	is_fair(many_blocks);
}

#define CIRCLES 500

/* Pipes that wait in each other: nothing but the collector finds that out, which
 * walks over the blocks, too. */
static pid_t
many_circles(void)
{
	int tell[2], a[2], b[2], i, e;
	pid_t many = many_blocks();
	char c;

	T_OK(kill(many, SIGKILL));
	T_OK(waitpid(many, NULL, 0));
	p_kernel_pipe(tell);
	many = T_OK(fork());
	if (many == 0) {
		for (i = 0; i < CIRCLES; i++) {
			T_OK(pipe(a));
			T_OK(pipe(b));
			for (e = 0; e < 2; e++) {
				T_OK(ioctl(a[e], I_SENDFD, b[e]));
				T_OK(ioctl(b[e], I_SENDFD, a[e]));
			}
			for (e = 0; e < 2; e++) {
				T_OK(close(a[e]));
				T_OK(close(b[e]));
			}
		}
		T_EQ(write(tell[1], "k", 1), 1);
		for (;;)
			pause();
	}
	T_EQ(read(tell[0], &c, 1), 1);
	T_OK(close(tell[0]));
	T_OK(close(tell[1]));
	return many;
}

/* The holders of other streams die one after the other while it is at it. */
T_CASE_TIMEOUT(many_pipes_that_wait_in_each_other_delay_no_stream, 60)
{
	unsigned worst = 0, ms;
	pid_t large, pid[VICTIMS];
	int fd[VICTIMS], round, i;
	uint64_t began;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < VICTIMS; i++)
			pid[i] = holder(&fd[i], 1);
		large = many_circles();
		T_OK(kill(large, SIGKILL));
		worst = 0;
		for (i = 0; i < VICTIMS; i++) {
			began = t_now_ns();
			T_OK(kill(pid[i], SIGKILL));
			ms = end_of_file(began, fd[i]);
			worst = ms > worst ? ms : worst;
			T_OK(waitpid(pid[i], NULL, 0));
			T_OK(close(fd[i]));
		}
		T_OK(waitpid(large, NULL, 0));
		fprintf(stderr, "# end of file after %u ms\n", worst);
		if (worst < MOST)
			return;
	}
	T_LT(worst, MOST);
}
