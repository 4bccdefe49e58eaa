/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sleeping on two words, and how streamsd's life and death are told, with the
 * real program (tools/streamsd) around the executive's test double.
 *
 * The program is this one: called `streamsd', by whatever path, it is that.
 */
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <t.h>

#include "upcalls_test_double.h"

#define MS 1000000ull
#define N 4

int streamsd_main(int argc, char **argv);

STR_CONSTRUCTOR static void
be_streamsd(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');

	if (strcmp(slash != NULL ? slash + 1 : argv[0], "streamsd") == 0)
		exit(streamsd_main(argc, argv));
}

static str_a32 *word;

static pid_t
daemon_pid(void)
{
	uint64_t w = str_load(&host_shared(host_domain)->daemon);

	return w >> 62 == 2 ? (pid_t)(uint32_t)w : 0;
}

static uint32_t
my_life(void)
{
	return str_load(&host_domain->proc[host_priv_page->proc].life);
}

static void
setup(void)
{
	static char self[512];
	struct host_call hc = { .fd = -1 };

	T_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
	setenv("STREAMS_DOMAIN", "private", 1);
	setenv("STREAMS_LINGER", "60000", 1);
	setenv("STREAMS_DAEMON", self, 1);
	up_enter(&hc);
	if (!host_waitv_usable())
		T_SKIP("no futex_waitv(2)");
	T_EQ(host_daemon(), 0);
	host_leave();
	T_SOON(my_life() != 0, 5000);
	word = up_alloc(64);
}

static void
end_daemon(struct t *t)
{
	(void)t;
	if (host_domain != NULL && daemon_pid() != 0)
		(void)kill(daemon_pid(), SIGKILL);
}

STR_CONSTRUCTOR static void
end_each(void)
{
	t_after_each(end_daemon);
}

static void
kill_daemon(void)
{
	pid_t pid = daemon_pid();
	int fd = T_OK((int)syscall(SYS_pidfd_open, pid, 0));
	struct pollfd pfd = { fd, POLLIN, 0 };

	T_OK(kill(pid, SIGKILL));
	T_EQ(poll(&pfd, 1, 5000), 1);
	T_OK(close(fd));
}

static int
sleep_for(uint64_t ns)
{
	struct host_call hc = { .fd = -1 };
	struct host_notice n;
	uint32_t val;
	int err;

	up_enter(&hc);
	val = str_load(word);
	T_TRUE(host_notice_begin(&n, word));
	str_store_rel(&host_self()->asleep_on, 64ull); /* a head */
	str_fence_full();
	err = host_wait_notice(&hc, word, val, &n, ns);
	str_store(&host_self()->asleep_on, 0ull);
	T_EQ(host_tls.depth, 1);
	T_NULL(host_tls.sleep_word);
	T_EQ(str_load(&host_self()->state), STR_THR_RUN);
	host_leave();
	return err;
}

T_CASE(without_streamsd_there_are_no_notices)
{
	struct host_call hc = { .fd = -1 };
	struct host_notice n;

	setenv("STREAMS_DOMAIN", "private", 1);
	up_enter(&hc);
	T_FALSE(host_notice_begin(&n, up_alloc(64)));
	host_leave();
}

T_CASE(the_life_word_names_the_thread_of_streamsd)
{
	setup();
	T_EQ(my_life() & FUTEX_TID_MASK, (uint32_t)daemon_pid());
	T_NE(my_life() & FUTEX_WAITERS, 0u);
}

T_CASE(time_runs_out)
{
	uint64_t t0;

	setup();
	t0 = t_now_ns();
	T_EQ(sleep_for(20 * MS), ETIMEDOUT);
	T_GE(t_now_ns() - t0, 20 * MS);
}

/* N threads of a process that sleep until they are woken. */
struct sleeper {
	struct str_thread *_Atomic th;
	int err;
};

static void *
sleeps_once(void *arg)
{
	struct sleeper *s = arg;
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	str_store_rel(&s->th, host_self());
	host_leave();
	s->err = sleep_for(10000 * MS);
	return NULL;
}

static void
with_sleepers(void (*wake)(struct sleeper *s), int err)
{
	static struct sleeper s[N];
	pthread_t id[N];

	for (int i = 0; i < N; i++)
		T_EQ(pthread_create(&id[i], NULL, sleeps_once, &s[i]), 0);
	for (int i = 0; i < N; i++)
		T_SOON(str_load_acq(&s[i].th) != NULL &&
			str_load(&s[i].th->state) == STR_THR_FUTEX, 5000);
	wake(s);
	for (int i = 0; i < N; i++) {
		T_EQ(pthread_join(id[i], NULL), 0);
		T_EQ(s[i].err, err);
	}
}

static void
by_word(struct sleeper *s)
{
	(void)s;
	(void)str_add(word, 1u);
	(void)host_wake(word, INT_MAX);
}

T_CASE(the_word_wakes)
{
	setup();
	with_sleepers(by_word, 0);
}

static void
by_bell(struct sleeper *s)
{
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	host_bell_ring(s[0].th);
	host_leave();
}

T_CASE(one_ring_wakes_every_thread_of_the_process)
{
	setup();
	with_sleepers(by_bell, EAGAIN);
}

static void
by_death(struct sleeper *s)
{
	(void)s;
	kill_daemon();
}

T_CASE(the_death_of_streamsd_wakes_every_thread)
{
	setup();
	with_sleepers(by_death, EAGAIN);
	T_NE(my_life() & FUTEX_OWNER_DIED, 0u);
}

T_CASE(whoever_is_woken_by_it_has_streamsd_replaced_if_it_is_wanted)
{
	pid_t was;

	setup();
	str_store(up_word(UP_WANTED), 1ull);
	was = daemon_pid();
	with_sleepers(by_death, EAGAIN);
	T_SOON(daemon_pid() != 0 && daemon_pid() != was, 5000);
	T_SOON((my_life() & FUTEX_TID_MASK) == (uint32_t)daemon_pid(), 5000);
	/* and the new one counts again */
	T_EQ(sleep_for(MS), ETIMEDOUT);
}

static int
asleep(void)
{
	int n = 0;

	for (uint32_t i = 0; i < STR_NTHREAD; i++)
		n += str_load(&host_domain->thread[i].state) == STR_THR_FUTEX;
	return n;
}

/* Each process is woken by the kernel, whatever becomes of the others. */
T_CASE(the_death_of_streamsd_wakes_every_process)
{
	pid_t pid[N];
	int status;

	setup();
	for (int i = 0; i < N; i++) {
		pid[i] = T_OK(fork());
		if (pid[i] == 0) {
			struct host_call hc = { .fd = -1 };

			up_enter(&hc);
			host_leave();
			T_SOON(my_life() != 0, 5000);
			(void)str_add(up_word(UP_USER), 1ull);
			_exit(sleep_for(10000 * MS) == EAGAIN ? 0 : 1);
		}
	}
	T_SOON(str_load(up_word(UP_USER)) == N, 5000);
	T_SOON(asleep() == N, 5000);
	kill_daemon();
	for (int i = 0; i < N; i++) {
		T_OK(waitpid(pid[i], &status, 0));
		T_EQ(status, 0);
	}
}

static uint64_t
notices(void)
{
	return str_load(up_word(UP_NOTICES));
}

T_CASE(the_death_of_a_member_is_a_reason_for_a_notice)
{
	uint64_t was;
	pid_t pid;

	setup();
	pid = T_OK(fork());
	if (pid == 0) {
		struct host_call hc = { .fd = -1 };

		up_enter(&hc);
		host_leave();
		str_store(up_word(UP_USER), 1ull);
		for (;;)
			(void)pause();
	}
	T_SOON(str_load(up_word(UP_USER)) != 0, 5000);
	T_SOON(notices() != 0, 5000);
	was = notices();
	T_OK(kill(pid, SIGKILL));
	T_SOON(notices() > was, 5000);
	T_OK(waitpid(pid, NULL, 0));
}

T_CASE(while_threads_rely_on_them_notices_come_without_a_cause)
{
	uint64_t was;

	setup();
	str_store(up_word(UP_SLEEPERS), 1ull);
	T_SOON(notices() != 0, 5000);
	T_EQ(sleep_for(MS), ETIMEDOUT);
	was = notices();
	T_SOON(notices() >= was + 2, 5000);
}

T_CASE(a_ring_changes_only_the_words_of_sleepers)
{
	struct host_call hc = { .fd = -1 };
	struct str_proc *p;
	uint32_t was;

	setup();
	T_EQ(sleep_for(MS), ETIMEDOUT);
	p = &host_domain->proc[host_priv_page->proc];
	was = str_load(word);
	up_enter(&hc);
	host_look_ring(p);
	T_EQ(str_load(word), was);
	str_store(&host_self()->asleep_on, 64ull);
	host_look_ring(p);
	T_EQ(str_load(word), was + 1);
	host_look_ring(p + 1);
	T_EQ(str_load(word), was + 1);
	str_store(&host_self()->asleep_on, 0ull);
	host_leave();
}

T_CASE(a_ring_before_the_sleep_ends_it)
{
	struct host_call hc = { .fd = -1 };
	struct host_notice n;
	uint32_t val;

	setup();
	up_enter(&hc);
	val = str_load(word);
	T_TRUE(host_notice_begin(&n, word));
	str_store_rel(&host_self()->asleep_on, 64ull);
	host_bell_ring(host_self());
	T_EQ(host_wait_notice(&hc, word, val, &n, 10000 * MS), EAGAIN);
	str_store(&host_self()->asleep_on, 0ull);
	host_leave();
}

static void
handler(int sig)
{
	(void)sig;
}

T_CASE(a_signal_ends_the_sleep)
{
	struct sigaction sa = { .sa_handler = handler };
	pid_t pid;
	int status;

	setup();
	pid = T_OK(fork());
	if (pid == 0) {
		struct host_call hc = { .fd = -1 };

		up_enter(&hc);
		host_leave();
		T_SOON(my_life() != 0, 5000);
		T_EQ(host_sigaction(SIGUSR1, &sa, NULL), 0);
		up_enter(&hc);
		str_store(up_word(UP_USER),
			(uint64_t)(uintptr_t)host_self());
		host_leave();
		_exit(sleep_for(10000 * MS) == EINTR ? 0 : 1);
	}
	T_SOON(str_load(up_word(UP_USER)) != 0, 5000);
	T_SOON(str_load(&((struct str_thread *)(uintptr_t)
		str_load(up_word(UP_USER)))->state) == STR_THR_FUTEX, 5000);
	T_OK(kill(pid, SIGUSR1));
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
}
