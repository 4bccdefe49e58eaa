/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * streamsd: what it notices of its members, and its sweeps.
 */
#include "daemon_fixture.h"

/* ---------------------------------------------------------------- notices */

T_CASE(it_reaps_a_member_that_was_killed)
{
	struct host_call hc = { .fd = -1 };
	uint64_t before;
	pid_t pid;

	setup();
	T_EQ(ask(), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		for (;;)
			pause();
	}
	T_SOON(member(pid), 5000);
	settled();
	before = looks();
	T_OK(kill(pid, SIGKILL));
	/* no call, and no process waits for it */
	T_SOON(!member(pid) && looks() > before, 5000);
	T_OK(waitpid(pid, NULL, 0));
}

/* A driver asks for a callback with its locks held, and so for streamsd. */
T_CASE(it_is_there_before_it_reaps)
{
	struct host_call hc = { .fd = -1 };
	uint64_t begin;
	pid_t pid;

	setup();
	T_EQ(ask(), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		for (;;)
			pause();
	}
	T_SOON(member(pid), 5000);
	str_store(up_word(UP_LOCK), 1ull);
	kill_daemon();
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
	begin = t_now_ns();
	T_EQ(ask(), 0);
	T_LT(t_now_ns() - begin, 4000000000u * t_scale());
	T_TRUE(member(pid));
	str_store(up_word(UP_LOCK), 0ull);
	T_SOON(!member(pid), 5000);
}

T_CASE(a_forked_child_that_makes_no_call_is_watched)
{
	uint64_t before;
	pid_t pid;

	setup();
	T_EQ(ask(), 0);
	settled();
	pid = T_OK(fork());
	if (pid == 0)
		for (;;)
			pause();
	T_SOON(state_of(pid) == 'S', 5000);
	settled();
	before = looks();
	T_OK(kill(pid, SIGKILL));
	T_SOON(looks() > before, 5000);
	T_OK(waitpid(pid, NULL, 0));
}

/* Has streamsd a pidfd of @pid? */
static bool
watched(pid_t pid)
{
	char dir[64], buf[512], want[32];
	struct dirent *e;
	bool yes = false;
	DIR *d;

	(void)snprintf(dir, sizeof dir, "/proc/%d/fdinfo", (int)daemon_pid());
	(void)snprintf(want, sizeof want, "\nPid:\t%d\n", (int)pid);
	d = opendir(dir);
	T_NOTNULL(d);
	while (!yes && (e = readdir(d)) != NULL) {
		int fd = openat(dirfd(d), e->d_name, O_RDONLY);
		ssize_t n = fd < 0 ? 0 : read(fd, buf, sizeof buf - 1);

		buf[n < 0 ? 0 : n] = '\0';
		yes = strstr(buf, want) != NULL;
		(void)close(fd);
	}
	(void)closedir(d);
	return yes;
}

/* more children than rings find room in the queue of its socket */
T_CASE(of_many_children_at_once_each_is_watched)
{
	pid_t pid[40];

	setup();
	T_EQ(ask(), 0);
	settled();
	T_OK(kill(daemon_pid(), SIGSTOP));
	T_SOON(state_of(daemon_pid()) == 'T', 5000);
	for (int i = 0; i < 40; i++) {
		pid[i] = T_OK(fork());
		if (pid[i] == 0)
			for (;;)
				pause();
		T_SOON(state_of(pid[i]) == 'S', 5000);
	}
	T_OK(kill(daemon_pid(), SIGCONT));
	for (int i = 0; i < 40; i++)
		T_SOON(watched(pid[i]), 5000);
	for (int i = 0; i < 40; i++)
		T_OK(kill(pid[i], SIGKILL));
	for (int i = 0; i < 40; i++)
		T_OK(waitpid(pid[i], NULL, 0));
}

T_CASE(a_child_that_ended_before_it_was_seen_is_a_death)
{
	uint64_t before;
	pid_t pid;

	setup();
	T_EQ(ask(), 0);
	settled();
	T_OK(kill(daemon_pid(), SIGSTOP));
	T_SOON(state_of(daemon_pid()) == 'T', 5000);
	before = looks();
	pid = T_OK(fork());
	if (pid == 0)
		_exit(0);
	T_OK(waitpid(pid, NULL, 0));
	T_OK(kill(daemon_pid(), SIGCONT));
	T_SOON(looks() > before, 5000);
}

T_CASE(a_member_that_left_in_order_is_watched_until_it_ends)
{
	struct host_call hc = { .fd = -1 };
	uint64_t before;
	int go[2];
	char c;
	pid_t pid;

	setup();
	T_OK(pipe(go));
	T_EQ(ask(), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		host_leave();
		T_SOON(state_of(daemon_pid()) == 'S', 5000);
		T_EQ(T_OK(read(go[0], &c, 1)), 1); /* it has been seen */
		host_domain_exit();
		for (;;)
			pause();
	}
	T_SOON(member(pid), 5000);
	T_EQ(T_OK(write(go[1], "g", 1)), 1);
	T_SOON(!member(pid), 5000);
	settled();
	before = looks();
	T_OK(kill(pid, SIGKILL));
	T_SOON(looks() > before, 5000);
	T_OK(waitpid(pid, NULL, 0));
}

T_CASE(an_image_that_was_replaced_is_reaped)
{
	struct host_call hc = { .fd = -1 };
	uint64_t before;
	int p[2], go[2];
	pid_t pid;
	char c;

	setup();
	T_EQ(ask(), 0);
	T_OK(pipe(p));
	T_OK(pipe(go));
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		host_leave();
		T_SOON(state_of(daemon_pid()) == 'S', 5000);
		T_EQ(T_OK(read(go[0], &c, 1)), 1); /* it has been seen */
		dup2(p[0], 0);
		host_exec_begin();
		execl("/bin/cat", "cat", (char *)NULL);
		_exit(127);
	}
	T_SOON(member(pid), 5000);
	before = looks();
	T_EQ(T_OK(write(go[1], "g", 1)), 1);
	T_SOON(!member(pid), 5000);
	T_FALSE(gone(pid));
	T_GT(looks(), before);
	/* and what became of it is watched */
	settled();
	before = looks();
	T_OK(kill(pid, SIGKILL));
	T_SOON(looks() > before, 5000);
	T_OK(waitpid(pid, NULL, 0));
}

T_CASE(it_looks_by_itself_while_it_is_wanted)
{
	uint64_t before;

	setup();
	want(true);
	T_EQ(ask(), 0);
	settled();
	before = looks();
	T_SOON(looks() >= before + 2, 5000);
}

T_CASE(who_rings_makes_it_look)
{
	struct host_call hc = { .fd = -1 };
	uint64_t before;

	setup();
	T_EQ(ask(), 0);
	settled();
	before = looks();
	up_enter(&hc);
	host_daemon_tell(HOST_ASK_LOOK);
	host_leave();
	T_SOON(looks() > before, 5000);
}

/* ------------------------------------------------------------------ sweeps */

static void
soon(void)
{
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	host_daemon_soon();
	host_leave();
}

static void
look(void)
{
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	host_daemon_look();
	host_leave();
}

/* Walks that have begun, and sweeps that have ended. */
static uint64_t
begun(void)
{
	return str_load(up_word(UP_BEGUN));
}

static uint64_t
swept(void)
{
	return str_load(up_word(UP_SWEPT));
}

/* A sweep that lasts for @ns is under way. */
static void
sweeping(uint64_t ns)
{
	setup();
	want(true);
	T_EQ(ask(), 0);
	settled();
	str_store(up_word(UP_SWEEP_NS), ns);
	soon();
	T_SOON(begun() > swept(), 5000);
}

/* The memory of dead threads is a reason for a second one; there is none. */
T_CASE(a_ring_makes_one_sweep)
{
	uint64_t before;

	setup();
	T_EQ(ask(), 0);
	settled();
	before = begun();
	look();
	T_SOON(begun() > before, 5000);
	settled();
	T_EQ(begun(), before + 1);
}

/* Each lasts longer than a request waits. */
T_CASE(a_request_during_a_sweep_waits_for_its_end)
{
	uint64_t before, end;

	sweeping(400 * MS);
	before = swept();
	end = host_now() + 3000 * MS;
	while (host_now() < end) {
		uint64_t n = begun();

		/* none begins before the last one has ended */
		T_LE((int64_t)(n - swept()), 1);
		soon();
		t_pause();
	}
	T_GE(swept(), before + 2);
}

/*
 * The ring's walk is a part of the sweep that is under way, whose collector may
 * have passed the stream already.
 */
T_CASE(a_ring_takes_no_request_away)
{
	uint64_t n;

	sweeping(300 * MS);
	n = swept();
	soon();
	look();
	/* without a cause the next one would come later */
	T_SOON(swept() >= n + 2, 4000);
}

/* The request may have been found before the ring arrives. */
T_CASE(a_ring_without_a_request_makes_no_walk)
{
	struct host_call hc = { .fd = -1 };
	uint64_t n;

	sweeping(400 * MS);
	n = swept();
	up_enter(&hc);
	host_daemon_tell(0);
	host_leave();
	while (swept() == n) {
		uint64_t walks = begun();

		T_LE((int64_t)(walks - swept()), 1);
		t_pause();
	}
}

/* streamsd does not sleep during a sweep, so it finds the request. */
T_CASE(a_request_is_found_before_its_ring)
{
	uint64_t before;

	sweeping(2000 * MS);
	want(false); /* without a request nothing follows */
	before = begun();
	(void)str_or(&host_shared(host_domain)->daemon_asks, HOST_ASK_LOOK);
	T_SOON(begun() > before, 5000);
}

T_CASE(a_request_is_served_when_no_stream_is_watched)
{
	uint64_t before;
	int i;

	setup();
	T_EQ(ask(), 0);
	settled();
	for (i = 0; i < 3; i++) {
		before = swept();
		soon();
		T_SOON(swept() > before, 5000);
	}
}

T_CASE(it_runs_callbacks_when_they_are_due)
{
	struct host_call hc = { .fd = -1 };
	uint64_t before, due;

	setup();
	T_EQ(ask(), 0);
	settled();
	before = str_load(up_word(UP_TIMER));
	up_enter(&hc);
	due = host_now() + 30 * MS;
	str_store(up_word(UP_NEXT), due);
	str_fence_full();
	host_defer(host_now(), due);
	host_leave();
	T_SOON(str_load(up_word(UP_TIMER)) == before + 1, 5000);
	T_GE(host_now(), due);
	/* this process has no thread for it */
	T_EQ(str_load(&host_priv_page->timer_up), 0u);
}
