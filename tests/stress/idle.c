/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A waiter costs nothing: blocked readers, writers and pollers make not one
 * context switch.  Counted in all their threads after the first 200 ms, over
 * STRESS_IDLE_MS (default 3000).
 */
#include "survive.h"

#include <sys/epoll.h>
#include <sys/wait.h>

#include <dirent.h>
#ifdef HAVE_STROPTS
#include <stropts.h>
#endif

/* sum of the switches of all threads of @pid; how many threads there are */
static long
switches(pid_t pid, int *threads)
{
	char path[320], line[256];
	struct dirent *e;
	long sum = 0, n;
	DIR *d;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (d == NULL)
		p_die("%s", path);
	*threads = 0;
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid,
			e->d_name);
		f = fopen(path, "r");
		if (f == NULL)
			p_die("%s", path);
		while (fgets(line, sizeof(line), f) != NULL)
			if (sscanf(line, "voluntary_ctxt_switches: %ld",
				&n) == 1 ||
				sscanf(line, "nonvoluntary_ctxt_switches: %ld",
				&n) == 1)
				sum += n;
		fclose(f);
		++*threads;
	}
	closedir(d);
	return sum;
}

enum way { W_READ, W_WRITE, W_POLLIN, W_POLLOUT, W_SELECT, W_EPOLL, W_PPOLL,
	W_READERS, W_WAYS };

static const char *const way_name[W_WAYS] = {
	"read", "write", "poll for input", "poll for room", "select", "epoll",
	"ppoll of two pipes", "four threads reading",
};

static void
block(enum way way, int idle[2], int full[2])
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct pollfd both[2] = {
		{ idle[0], POLLIN, 0 }, { full[1], POLLOUT, 0 },
	};
	struct p_call c[4];
	char b;
	int ep;

	switch (way) {
	case W_READ:
		(void)!read(idle[0], &b, 1);
		break;
	case W_WRITE:
		(void)!write(full[1], "x", 1);
		break;
	case W_POLLIN:
		poll(&both[0], 1, -1);
		break;
	case W_POLLOUT:
		poll(&both[1], 1, -1);
		break;
	case W_SELECT:
		p_call_poll(&c[0], P_SELECT, idle[0], POLLIN);
		pthread_join(c[0].thread, NULL);
		break;
	case W_EPOLL:
		ep = epoll_create1(0);
		epoll_ctl(ep, EPOLL_CTL_ADD, idle[0], &ev);
		epoll_wait(ep, &ev, 1, -1);
		break;
	case W_PPOLL:
		ppoll(both, 2, NULL, NULL);
		break;
	default:
		for (int i = 0; i < 4; i++)
			p_call(&c[i], P_READ, idle[0], &b, 1);
		pthread_join(c[0].thread, NULL);
		break;
	}
	_exit(95);
}

T_CASE_TIMEOUT(blocked_processes_make_no_context_switch, 60)
{
	long before[2 * W_WAYS], after, sum = 0;
	int idle[2], full[2], threads;
	pid_t pid[2 * W_WAYS];
	double start;

#ifdef __SANITIZE_THREAD__
	T_SKIP("a thread of the sanitizer wakes in every process");
#endif
	p_pipe(idle);
	p_pipe(full);
	/* traffic first: a pipe that was used must fall asleep as well */
	for (int i = 0; i < 100; i++) {
		T_EQ(write(idle[1], "x", 1), 1);
		T_EQ(p_drain(idle[0]), 1u);
	}
	p_fill(full[1]);
	for (int i = 0; i < 2 * W_WAYS; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			block(i % W_WAYS, idle, full);
	}
	for (int i = 0; i < 2 * W_WAYS; i++)
		T_TRUE(p_asleep(pid[i], pid[i]));
	for (start = p_ms(); p_ms() < start + 200;)
		p_pause(50);
	for (int i = 0; i < 2 * W_WAYS; i++)
		before[i] = switches(pid[i], &threads);
	for (start = p_ms(); p_ms() < start + s_number("STRESS_IDLE_MS", 3000);)
		p_pause(250);
	for (int i = 0; i < 2 * W_WAYS; i++) {
		after = switches(pid[i], &threads);
		if (after != before[i])
			fprintf(stderr, "# %s: %ld switches in %d threads\n",
				way_name[i % W_WAYS], after - before[i],
				threads);
		sum += after - before[i];
	}
	T_EQ(sum, 0);
	/* and they were waiting for what they should: all wake */
	p_drain(full[0]);
	for (int i = 0; i < 16; i++)
		T_EQ(write(idle[1], "12345678", 8), 8);
	for (int i = 0; i < 2 * W_WAYS; i++)
		T_TRUE(p_exited(pid[i], 95));
}

#ifdef HAVE_STROPTS
/* Those who wait for what is rarer than the data that stands there. */
enum rare { R_HIPRI, R_BAND, R_ROOM, R_WAYS };

static const char *const rare_name[R_WAYS] = {
	"getmsg of high priority", "getpmsg of a band", "room in a band",
};

static void
wait_rare(enum rare way, const int fd[2])
{
	char buf[16];
	struct strbuf d = { sizeof(buf), 1, buf }, c = d;
	int flags = way == R_HIPRI ? MSG_HIPRI : MSG_BAND;
	int band = way == R_BAND ? 5 : 0, ret;

	if (way == R_ROOM)
		ret = putpmsg(fd[1], NULL, &d, 5, MSG_BAND);
	else
		ret = getpmsg(fd[0], &c, &d, &band, &flags);
	_exit(ret == 0 ? 95 : 96);
}

T_CASE_TIMEOUT(who_waits_for_a_band_makes_no_context_switch, 60)
{
	char big[600] = "";
	struct strbuf d = { 0, sizeof(big), big }, c = { 0, 2, big };
	long before[R_WAYS], after, sum = 0;
	int fd[R_WAYS][2], threads, band, flags;
	struct strbuf in = { sizeof(big), 0, big };
	pid_t pid[R_WAYS];
	double start;

#ifdef __SANITIZE_THREAD__
	T_SKIP("a thread of the sanitizer wakes in every process");
#endif
	for (int i = 0; i < R_WAYS; i++) {
		p_pipe(fd[i]);
		T_EQ(write(fd[i][1], "in front", 8), 8);
	}
	T_OK(ioctl(fd[R_ROOM][0], I_SET_LOWAT, 100));
	T_OK(ioctl(fd[R_ROOM][0], I_SET_HIWAT, 500));
	T_EQ(putpmsg(fd[R_BAND][1], NULL, &c, 3, MSG_BAND), 0);
	T_EQ(putpmsg(fd[R_ROOM][1], NULL, &d, 5, MSG_BAND), 0);
	for (int i = 0; i < R_WAYS; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			wait_rare(i, fd[i]);
	}
	for (int i = 0; i < R_WAYS; i++)
		T_TRUE(p_asleep(pid[i], pid[i]));
	for (start = p_ms(); p_ms() < start + 200;)
		p_pause(50);
	for (int i = 0; i < R_WAYS; i++)
		before[i] = switches(pid[i], &threads);
	for (start = p_ms(); p_ms() < start + 1000;)
		p_pause(250);
	for (int i = 0; i < R_WAYS; i++) {
		after = switches(pid[i], &threads);
		if (after != before[i])
			fprintf(stderr, "# %s: %ld switches\n", rare_name[i],
				after - before[i]);
		sum += after - before[i];
	}
	T_EQ(sum, 0);
	/* they wake for what they wait for, and for nothing else */
	T_EQ(write(fd[R_HIPRI][1], "more", 4), 4);
	T_EQ(putpmsg(fd[R_BAND][1], NULL, &c, 4, MSG_BAND), 0);
	T_EQ(waitpid(pid[R_HIPRI], NULL, WNOHANG), 0);
	T_EQ(waitpid(pid[R_BAND], NULL, WNOHANG), 0);
	T_EQ(putpmsg(fd[R_HIPRI][1], &c, NULL, 0, MSG_HIPRI), 0);
	T_EQ(putpmsg(fd[R_BAND][1], NULL, &c, 6, MSG_BAND), 0);
	flags = MSG_BAND;
	band = 5;
	T_EQ(getpmsg(fd[R_ROOM][0], NULL, &in, &band, &flags), 0);
	T_EQ(in.len, 600);
	for (int i = 0; i < R_WAYS; i++)
		T_TRUE(p_exited(pid[i], 95));
}
#endif
