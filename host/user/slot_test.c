/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Processes and threads: which slot each gets, and which are dead.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <t.h>

#include "upcalls_test_double.h"

static void
enter_leave(void)
{
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	host_leave();
}

static void
setup(void)
{
	setenv("STREAMS_DOMAIN", "private", 1);
	enter_leave();
}

static unsigned
procs_in_use(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < STR_NPROC; i++)
		n += str_load(&host_domain->proc[i].gen) & 1;
	return n;
}

static unsigned
threads_in_use(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < STR_NTHREAD; i++)
		n += str_load(&host_domain->thread[i].tag) != 0;
	return n;
}

/* A child that attaches, tells its tag, and goes as @how says. */
static pid_t
member(void (*how)(void), uint32_t *ret_tag)
{
	pid_t pid;

	str_store(up_word(UP_USER), 0ull);
	pid = T_OK(fork());
	if (pid == 0) {
		enter_leave();
		str_store(up_word(UP_USER), (uint64_t)host_self_tag());
		how();
		_exit(0);
	}
	T_SOON(str_load(up_word(UP_USER)) != 0, 5000);
	*ret_tag = (uint32_t)str_load(up_word(UP_USER));
	return pid;
}

static void
how_pause(void)
{
	for (;;)
		pause();
}

static void
how_exit(void)
{
	exit(0);
}

static void
how_die(void)
{
	raise(SIGKILL);
}

T_CASE(a_member_has_a_slot_and_a_name)
{
	struct str_proc *p;

	setup();
	T_EQ(procs_in_use(), 1);
	T_EQ(threads_in_use(), 1);
	T_NE(host_self_tag(), 0);
	T_TRUE(host_self() ==
		&host_domain->thread[STR_TAG_IDX(host_self_tag())]);
	T_EQ(str_load(&host_self()->tag), host_self_tag());
	T_EQ(str_load(&host_self()->tid), gettid());
	p = &host_domain->proc[str_load(&host_self()->proc)];
	T_EQ(str_load(&p->pid), getpid());
	T_TRUE(str_load(&p->start) != 0);
	T_FALSE(host_owner_dead(host_self_tag()));
}

T_CASE(a_child_is_another_process)
{
	uint32_t tag;
	pid_t pid;

	setup();
	pid = member(how_pause, &tag);
	T_NE(tag, host_self_tag());
	T_EQ(procs_in_use(), 2);
	T_EQ(threads_in_use(), 2);
	T_FALSE(host_owner_dead(tag));
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
	T_TRUE(host_owner_dead(tag));
}

T_CASE(a_zombie_is_dead_before_anybody_waits)
{
	siginfo_t info;
	uint32_t tag;
	pid_t pid;

	setup();
	pid = member(how_die, &tag);
	T_OK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
	T_TRUE(host_owner_dead(tag));
}

T_CASE(a_stopped_process_is_not_dead)
{
	uint32_t tag;
	pid_t pid;

	setup();
	pid = member(how_pause, &tag);
	T_OK(kill(pid, SIGSTOP));
	T_OK(waitpid(pid, NULL, WUNTRACED));
	T_FALSE(host_owner_dead(tag));
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
}

T_CASE(who_exits_gives_his_slots_back)
{
	uint32_t tag;
	pid_t pid;

	setup();
	pid = member(how_exit, &tag);
	T_OK(waitpid(pid, NULL, 0));
	T_EQ(procs_in_use(), 1);
	T_EQ(threads_in_use(), 1);
	T_EQ((int)*up_word(UP_REAP), 1);
	T_EQ(*up_word(UP_REAPED_TAG), tag);
	T_TRUE(host_owner_dead(tag));
}

T_CASE(who_was_killed_is_reaped_by_the_next_member)
{
	uint32_t tag, next;
	pid_t pid;

	setup();
	pid = member(how_die, &tag);
	T_OK(waitpid(pid, NULL, 0));
	T_EQ(threads_in_use(), 2);
	pid = member(how_pause, &next);
	T_EQ((int)*up_word(UP_REAP), 1);
	T_EQ(*up_word(UP_REAPED_TAG), tag);
	T_EQ(threads_in_use(), 2);
	T_EQ(procs_in_use(), 2);
	T_NE(tag, next);
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
}

T_CASE(a_slot_comes_back_with_another_name)
{
	uint32_t tag[3];

	setup();
	for (int i = 0; i < 3; i++) {
		pid_t pid = member(how_exit, &tag[i]);

		T_OK(waitpid(pid, NULL, 0));
	}
	T_EQ(STR_TAG_IDX(tag[0]), STR_TAG_IDX(tag[1]));
	T_NE(tag[0], tag[1]);
	T_NE(tag[1], tag[2]);
}

T_CASE(generations_wrap_but_never_to_zero)
{
	uint32_t tag;
	pid_t pid;

	setup();
	T_EQ(STR_TAG_IDX(host_self_tag()), 0);
	str_store(&host_domain->thread[1].gen, 0xfffffu);
	pid = member(how_exit, &tag);
	T_OK(waitpid(pid, NULL, 0));
	T_EQ(tag, STR_TAG(1, 1));
}

static void *
thread_member(void *arg)
{
	enter_leave();
	*(uint32_t *)arg = host_self_tag();
	return NULL;
}

T_CASE(a_thread_that_ends_gives_its_slot_back)
{
	uint32_t tag = 0;
	pthread_t id;

	setup();
	T_EQ(pthread_create(&id, NULL, thread_member, &tag), 0);
	T_EQ(pthread_join(id, NULL), 0);
	T_NE(tag, 0);
	T_NE(tag, host_self_tag());
	T_EQ(threads_in_use(), 1);
	T_TRUE(host_owner_dead(tag));
}

/* The thread goes without running any destructor. */
static void *
thread_vanish(void *arg)
{
	enter_leave();
	str_store((str_a32 *)arg, host_self_tag());
	syscall(SYS_exit, 0);
	return NULL;
}

T_CASE(a_thread_that_vanishes_is_dead)
{
	static str_a32 tag;
	pthread_t id;

	setup();
	T_EQ(pthread_create(&id, NULL, thread_vanish, &tag), 0);
	T_SOON(str_load(&tag) != 0, 5000);
	T_SOON(host_owner_dead(str_load(&tag)), 5000);
	T_FALSE(host_owner_dead(host_self_tag()));
}

static void *
thread_wait_leader(void *arg)
{
	enter_leave();
	str_store(up_word(UP_USER), (uint64_t)host_self_tag());
	for (;;)
		pause();
	return NULL;
}

static void
how_leave_a_thread(void)
{
	uint32_t leader = host_self_tag();
	pthread_t id;

	str_store(up_word(UP_COOKIE), (uint64_t)leader);
	str_store(up_word(UP_USER), 0ull);
	T_EQ(pthread_create(&id, NULL, thread_wait_leader, NULL), 0);
	syscall(SYS_exit, 0); /* the leader only; a zombie from now on */
}

T_CASE(a_process_lives_on_without_its_leader)
{
	uint32_t tag, leader;
	pid_t pid;

	setup();
	pid = member(how_leave_a_thread, &tag);
	T_SOON(str_load(up_word(UP_COOKIE)) != 0, 5000);
	leader = (uint32_t)str_load(up_word(UP_COOKIE));
	T_SOON(str_load(up_word(UP_USER)) != 0 &&
		str_load(up_word(UP_USER)) != leader, 5000);
	tag = (uint32_t)str_load(up_word(UP_USER));
	T_SOON(host_owner_dead(leader), 5000);
	T_FALSE(host_owner_dead(tag));
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
	T_TRUE(host_owner_dead(tag));
}

static void
how_exec_other(void)
{
	execlp("sleep", "sleep", "1000", NULL);
}

T_CASE(an_image_replaced_by_exec_is_dead)
{
	uint32_t tag;
	pid_t pid;

	setup();
	pid = member(how_exec_other, &tag);
	T_SOON(host_owner_dead(tag), 5000);
	T_OK(kill(pid, 0));
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
}

/* After exec: find the same domain, and the old image's slot. */
STR_CONSTRUCTOR static void
execed(int argc, char **argv)
{
	uint32_t old;

	if (argc != 3 || strcmp(argv[1], "--execed") != 0)
		return;
	enter_leave();
	old = (uint32_t)strtoul(argv[2], NULL, 10);
	if (host_self_tag() == old || !host_owner_dead(old))
		_exit(2);
	/* it was reaped, by its name, and is free again */
	if (str_load(up_word(UP_REAP)) != 1 ||
	    str_load(up_word(UP_REAPED_TAG)) != old)
		_exit(3);
	if (procs_in_use() != 2 || threads_in_use() != 2)
		_exit(4);
	if (*up_word(UP_INIT) != 1 || *up_word(UP_ATTACH) != 1)
		_exit(5);
	_exit(0);
}

static void
how_exec_self(void)
{
	char tag[16];

	snprintf(tag, sizeof tag, "%u", host_self_tag());
	execl("/proc/self/exe", "slot_test", "--execed", tag, NULL);
}

T_CASE(the_next_image_reaps_the_one_before)
{
	uint32_t tag;
	int status;
	pid_t pid;

	setup();
	pid = member(how_exec_self, &tag);
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
	T_TRUE(host_owner_dead(tag));
}

/* The child's other threads are first to make a call. */
T_CASE(a_child_never_uses_its_parents_slot)
{
	uint32_t parent, tag = 0;
	int status;
	pid_t pid;

	setup();
	parent = host_self_tag();
	pid = T_OK(fork());
	if (pid == 0) {
		pthread_t id;

		T_EQ(pthread_create(&id, NULL, thread_member, &tag), 0);
		T_EQ(pthread_join(id, NULL), 0);
		enter_leave();
		T_NE(host_self_tag(), parent);
		T_FALSE(host_owner_dead(parent));
		_exit(0);
	}
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
	T_EQ(str_load(&host_self()->tag), parent);
}

/* A thread that keeps the attach lock taken would block the child. */
static void *
thread_churn(void *arg)
{
	while (!str_load((str_a32 *)arg)) {
		pthread_t id;
		uint32_t tag;

		T_EQ(pthread_create(&id, NULL, thread_member, &tag), 0);
		T_EQ(pthread_join(id, NULL), 0);
	}
	return NULL;
}

T_CASE(fork_while_threads_attach_does_not_hang)
{
	static str_a32 stop;
	pthread_t id;
	int status;

	setup();
	T_EQ(pthread_create(&id, NULL, thread_churn, &stop), 0);
	for (int i = 0; i < 40; i++) {
		pid_t pid = T_OK(fork());

		if (pid == 0) {
			enter_leave();
			_exit(0);
		}
		T_OK(waitpid(pid, &status, 0));
		T_EQ(status, 0);
	}
	str_store(&stop, 1u);
	T_EQ(pthread_join(id, NULL), 0);
}

T_CASE(a_full_thread_table_is_enosr_until_somebody_dies)
{
	struct host_call hc = { .fd = -1 };
	uint32_t tag, me;
	int status;
	pid_t pid, holder;

	setup();
	me = host_self_tag();
	holder = member(how_pause, &tag);
	/* all other slots that threads get are the holder's */
	for (uint32_t i = 2; i < STR_NTHREAD - 9; i++) {
		struct str_thread *th = &host_domain->thread[i];

		str_store(&th->gen, 7u);
		str_store(&th->proc,
			str_load(&host_domain->thread[STR_TAG_IDX(tag)].proc));
		str_store(&th->tag, STR_TAG(i, 7));
	}
	str_store(&host_domain->thread_high, STR_NTHREAD);
	pid = T_OK(fork());
	if (pid == 0) {
		T_EQ(host_enter(&hc), ENOSR);
		T_NE(host_attach_error()[0], '\0');
		T_OK(kill(holder, SIGKILL));
		T_SOON(host_owner_dead(tag), 5000);
		T_EQ(host_enter(&hc), 0);
		host_leave();
		T_TRUE(host_self() != NULL);
		T_NE(host_self_tag(), tag);
		/* the whole process was reaped on this occasion */
		T_EQ(threads_in_use(), 2);
		_exit(0);
	}
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
	T_EQ(str_load(&host_self()->tag), me);
	/* and twice a reaper's own, once in vain */
	T_EQ((int)*up_word(UP_REAP), STR_NTHREAD - 9 - 1 + 2);
}

T_CASE(a_full_process_table_is_enosr_until_somebody_dies)
{
	struct host_call hc = { .fd = -1 };
	int status;
	pid_t pid, dead;

	setup();
	dead = T_OK(fork());
	if (dead == 0)
		_exit(0);
	T_OK(waitpid(dead, NULL, 0));
	for (uint32_t i = 1; i < STR_NPROC; i++) {
		str_store(&host_domain->proc[i].gen, 1u);
		str_store(&host_domain->proc[i].pid, (uint32_t)getpid());
	}
	str_store(&host_domain->proc_high, STR_NPROC);
	pid = T_OK(fork());
	if (pid == 0) {
		T_EQ(host_enter(&hc), ENOSR);
		str_store(&host_domain->proc[500].pid, (uint32_t)dead);
		T_EQ(host_enter(&hc), 0);
		host_leave();
		T_EQ(str_load(&host_domain->proc[500].pid), getpid());
		_exit(0);
	}
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
}

T_CASE(a_reaper_that_dies_is_reaped)
{
	struct host_call hc = { .fd = -1 };
	uint32_t first, second;
	struct str_thread *th;
	int status;
	pid_t pid;

	setup();
	pid = member(how_die, &first);
	T_OK(waitpid(pid, NULL, 0));
	th = &host_domain->thread[STR_TAG_IDX(first)];
	/* a second one had begun to reap it, and died on that */
	str_store(&host_domain->thread[5].gen, 9u);
	second = STR_TAG(5, 9);
	str_store(&host_domain->thread[5].tag, second);
	str_store(&host_domain->thread[5].proc, str_load(&th->proc));
	str_store(&host_domain->thread_high, 6u);
	str_store(&th->proc, second);
	T_TRUE(host_owner_dead(first));
	pid = T_OK(fork());
	if (pid == 0) {
		T_EQ(host_enter(&hc), 0);
		host_leave();
		T_EQ((int)*up_word(UP_REAP), 2);
		T_EQ(threads_in_use(), 2);
		_exit(0);
	}
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
	T_TRUE(host_owner_dead(second));
}

/* Attach, tell the tag in @place, start threads for a while, wait for death */
static void
crowd_member(str_a64 *place)
{
	enter_leave();
	str_store_rel(place, (uint64_t)host_self_tag());
	for (;;) {
		pthread_t id;
		uint32_t tag;

		if (pthread_create(&id, NULL, thread_member, &tag) == 0)
			(void)pthread_join(id, NULL);
	}
}

T_CASE_TIMEOUT(names_hold_while_others_are_killed_at_any_moment, 60)
{
	enum { N = 6, KILLS = 400 };
	struct {
		pid_t pid;
		uint64_t since;
	} m[N] = { { 0, 0 } };
	str_a64 *place;
	uint32_t tag;

	setup();
	place = up_alloc(N * sizeof *place);
	for (int kills = 0; kills < KILLS;) {
		int i = (int)t_rand_below(N);

		if (m[i].pid == 0) {
			str_store(&place[i], 0ull);
			m[i].since = t_now_ns();
			m[i].pid = T_OK(fork());
			if (m[i].pid == 0)
				crowd_member(&place[i]);
			continue;
		}
		tag = (uint32_t)str_load_acq(&place[i]);
		if (tag != 0 && host_owner_dead(tag))
			T_FAIL("%u is alive, and is called dead", tag);
		/* some die before they have attached, some much later */
		if (t_now_ns() - m[i].since < t_rand_below(20000000))
			continue;
		T_OK(kill(m[i].pid, SIGKILL));
		T_OK(waitpid(m[i].pid, NULL, 0));
		m[i].pid = 0;
		tag = (uint32_t)str_load_acq(&place[i]);
		T_TRUE(tag == 0 || host_owner_dead(tag));
		kills++;
	}
	for (int i = 0; i < N; i++)
		if (m[i].pid != 0) {
			T_OK(kill(m[i].pid, SIGKILL));
			T_OK(waitpid(m[i].pid, NULL, 0));
		}
	/* whatever they died in the middle of: the next one cleans it up */
	T_OK(waitpid(member(how_exit, &tag), NULL, 0));
	T_EQ(threads_in_use(), 1);
	T_EQ(procs_in_use(), 1);
	/* and slots come back all the time, not only in the end */
	T_LE(str_load(&host_domain->proc_high), 4 * N);
}

/* its slot says whose it is before it says which image that runs */
T_CASE(a_process_that_is_just_attaching_is_not_taken_for_replaced)
{
	struct host_call hc = { .fd = -1 };
	struct str_proc *p;
	pid_t pid;

	setup();
	up_enter(&hc);
	p = &host_domain->proc[9];
	pid = T_OK(fork());
	if (pid == 0)
		for (;;)
			pause();
	/* from the slot's last owner */
	str_store(&p->image, 12345ull);
	str_store(&p->start, 0ull);
	str_store(&p->pid, (uint32_t)pid);
	str_store(&p->gen, 3u);
	str_store(&host_domain->proc_high, 10u);
	host_reap_scan();
	T_EQ(str_load(&p->pid), (uint32_t)pid);
	T_EQ(str_load(&p->gen), 3u);
	host_leave();
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
}

/* The letter in /proc for what process @pid does. */
static char
state_of(pid_t pid)
{
	char path[64], buf[512], *p;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	p = f != NULL ? fgets(buf, sizeof buf, f) : NULL;
	if (f != NULL)
		fclose(f);
	p = p != NULL ? strrchr(p, ')') : NULL;
	return p != NULL ? p[2] : '?';
}

/* a slot that two want at once is one's, which says when it started */
T_CASE(who_comes_second_for_a_slot_takes_nothing_away_from_the_first)
{
	pid_t first, second;
	uint32_t tag;

	setup();
	second = T_OK(fork());
	if (second == 0) {
		setenv("STREAMS_DELAY", "slot:changes:1000", 1);
		enter_leave();
		how_pause();
	}
	T_SOON(state_of(second) == 'S', 5000);
	T_EQ(procs_in_use(), 1);
	first = member(how_pause, &tag);
	T_SOON(procs_in_use() == 3, 10000);
	T_SOON(threads_in_use() == 3, 10000);
	for (unsigned i = 0; i < 3; i++)
		T_SOON(str_load(&host_domain->proc[i].start) != 0, 2000);
	T_OK(kill(first, SIGKILL));
	T_OK(kill(second, SIGKILL));
	T_OK(waitpid(first, NULL, 0));
	T_OK(waitpid(second, NULL, 0));
}
