/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Clocks, timers, fences, crash points.
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <t.h>

#include "upcalls_test_double.h"
#include "user_impl.h"

#define MS 1000000ull

static void
setup(void)
{
	struct host_call hc = { .fd = -1 };

	setenv("STREAMS_DOMAIN", "private", 1);
	setenv("STREAMS_DAEMON", "/nonexistent", 1);
	up_enter(&hc);
	host_leave();
	str_store(up_word(UP_NEXT), UINT64_MAX);
}

static int
threads(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = -2; /* . and .. */

	T_NOTNULL(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static void
defer(uint64_t when)
{
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	if (when < str_load(up_word(UP_NEXT)))
		str_store(up_word(UP_NEXT), when);
	str_fence_full();
	host_defer(host_now(), when);
	host_leave();
}

T_CASE(a_timer_runs_when_it_is_due_and_not_before)
{
	uint64_t t0 = t_now_ns();

	setup();
	defer(host_now() + 30 * MS);
	T_SOON(str_load(up_word(UP_TIMER)) == 1, 5000);
	T_GE(t_now_ns() - t0, 30 * MS);
}

T_CASE(a_nearer_deadline_comes_first)
{
	setup();
	defer(host_now() + 100000 * MS);
	defer(host_now() + 10 * MS);
	T_SOON(str_load(up_word(UP_TIMER)) == 1, 5000);
}

/* There is no system call as long as the thread wakes early enough. */
T_CASE(a_later_deadline_wakes_no_thread)
{
	uint64_t now;
	uint32_t word;

	setup();
	now = host_now();
	defer(now + 20 * MS);
	T_SOON(str_load(&host_shared(host_domain)->timer_until) >=
		now + 20 * MS, 5000);
	word = str_load(&host_shared(host_domain)->timer_word);
	for (int i = 0; i < 1000; i++)
		defer(now + 60000 * MS);
	T_EQ(str_load(&host_shared(host_domain)->timer_word), word);
	T_SOON(str_load(up_word(UP_TIMER)) == 1, 5000);
}

/* The thread that promised to look is stopped, or was killed. */
T_CASE(a_thread_that_is_late_is_replaced)
{
	setup();
	str_store(&host_shared(host_domain)->timer_until,
		host_now() - 1500 * MS);
	defer(host_now() + 100000 * MS);
	defer(host_now() + 10 * MS);
	T_SOON(str_load(up_word(UP_TIMER)) == 1, 5000);
}

/* It is not late, and it does not wake either. */
T_CASE(a_thread_that_is_stopped_in_its_sleep_is_replaced)
{
	struct host_shared *s;
	int status;
	pid_t pid;

#if defined(__SANITIZE_THREAD__)
	T_SKIP("TSAN has no threads after the fork of a process with threads");
#endif
	setup();
	s = host_shared(host_domain);
	pid = T_OK(fork());
	if (pid == 0) {
		defer(host_now() + 100000 * MS);
		for (;;)
			pause();
	}
	T_SOON(str_load(&s->timer_until) > host_now() + 90000 * MS, 5000);
	for (int i = 0; i < 20; i++)
		t_pause(); /* it goes to sleep */
	T_OK(kill(pid, SIGSTOP));
	T_OK(waitpid(pid, &status, WUNTRACED));
	defer(host_now() + 10 * MS);
	T_SOON(str_load(up_word(UP_TIMER)) == 1, 5000);
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, &status, 0));
}

T_CASE(the_helper_thread_comes_and_goes)
{
	int before, during;

	setup();
	before = threads();
	defer(UINT64_MAX); /* never: no thread for that */
	T_EQ(threads(), before);
	defer(0);
	T_SOON(str_load(up_word(UP_TIMER)) == 1, 5000);
	during = threads(); /* a sanitizer may have one more */
	T_GT(during, before);
	T_SOON(threads() == during - 1, 10000);
	T_EQ((int)str_load(&host_domain->thread[1].tag), 0);
	defer(0);
	T_SOON(str_load(up_word(UP_TIMER)) == 2, 5000);
}

static volatile int handled_by;

static void
note_thread(int sig)
{
	handled_by = gettid();
}

T_CASE(no_signal_is_handled_in_the_helper_thread)
{
	struct sigaction sa = { .sa_handler = note_thread };
	sigset_t set, old;

	setup();
	T_EQ(host_sigaction(SIGUSR1, &sa, NULL), 0);
	defer(0);
	T_SOON(str_load(up_word(UP_TIMER)) == 1, 5000);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	T_OK(sigprocmask(SIG_BLOCK, &set, &old));
	T_OK(kill(getpid(), SIGUSR1)); /* only the helper could take it */
	T_OK(sigprocmask(SIG_SETMASK, &old, NULL));
	T_SOON(handled_by != 0, 5000);
	T_EQ(handled_by, getpid());
}

T_CASE(a_child_has_timers_of_its_own)
{
	int status;
	pid_t pid;

#if defined(__SANITIZE_THREAD__)
	T_SKIP("TSAN has no threads after the fork of a process with threads");
#endif
	setup();
	defer(host_now() + 100000 * MS);
	pid = T_OK(fork());
	if (pid == 0) {
		T_EQ(threads(), 1);
		defer(0);
		T_SOON(str_load(up_word(UP_TIMER)) == 1, 5000);
		_exit(0);
	}
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
}

T_CASE(ticks_tell_the_time)
{
	uint64_t ticks, before, ns, ms;

	setup();
	/* the process may lose its CPU between any two of these */
	before = host_now();
	ticks = host_ticks();
	ns = host_now();
	while (host_now() - ns < 50 * MS)
		str_cpu_relax();
	ms = (host_ticks() - ticks) / host_ticks_per_ms;
	T_GE(ms, 45);
	T_LE(ms, (host_now() - before) / MS + 5);
}

T_CASE(the_cpu_is_the_one_we_are_pinned_to)
{
	cpu_set_t set;

	setup();
	for (int cpu = 0; cpu < 64; cpu++) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof set, &set) == 0)
			T_EQ(host_cpu(), cpu);
	}
}

T_CASE(fences_work_or_the_domain_says_that_they_do_not)
{
	setup();
	host_fence_heavy();
	host_fence_light();
	T_TRUE(str_load(&host_domain->asym) <= 1);
	/* full fences are always possible */
	str_store(&host_domain->asym, 0u);
	host_fence_light();
	host_fence_heavy();
}

static int
crash_status(const char *env)
{
	int status;
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		setenv("STREAMS_CRASH", env, 1);
		for (int i = 0; i < 3; i++) {
			host_crash_point("here:one");
			str_store(up_word(UP_USER), (uint64_t)i + 1);
		}
		_exit(0);
	}
	T_OK(waitpid(pid, &status, 0));
	return status;
}

T_CASE(crash_points_kill_at_the_passage_named)
{
	setup();
	T_EQ(crash_status("here"), 0);
	T_EQ(crash_status("here:one1"), 0);
	T_EQ(crash_status("here:one"), SIGKILL);
	T_EQ((int)*up_word(UP_USER), 3); /* from the run before */
	T_EQ(crash_status("here:one:2"), SIGKILL);
	T_EQ((int)*up_word(UP_USER), 1);
	T_EQ(crash_status("here:one:4"), 0);
}

T_CASE(credentials_are_the_effective_and_the_real)
{
	struct host_cred cr;

	setup();
	host_cred(&cr);
	T_EQ(cr.uid, geteuid());
	T_EQ(cr.ruid, getuid());
	T_EQ(cr.gid, getegid());
	T_EQ(cr.rgid, getgid());
	T_EQ(cr.pid, getpid());
}
