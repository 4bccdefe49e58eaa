/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The simulated host keeps host.h, and the same seed gives the same run.
 */
#include <sys/wait.h>
#include <unistd.h>
#include "fixture.h"

static unsigned char trace[4096];
static unsigned n_trace;
static str_a32 word;
static str_a32 go;

static void
note(void *arg)
{
	unsigned i;

	for (i = 0; i < 50; i++) {
		if (n_trace < sizeof(trace))
			trace[n_trace++] = (unsigned char)(uintptr_t)arg;
		sim_point();
	}
}

static void
run_notes(uint64_t seed)
{
	unsigned i;

	n_trace = 0;
	fx_begin_seed(seed);
	for (i = 0; i < 5; i++)
		(void)sim_spawn("note", note, (void *)(uintptr_t)i);
	T_EQ(sim_run(), 0);
	T_EQ(n_trace, 250);
	fx_end();
}

T_CASE(one_seed_one_order)
{
	unsigned char first[250];
	unsigned differ = 0, seed;

	for (seed = 1; seed < 20; seed++) {
		run_notes(t->seed + seed);
		memcpy(first, trace, sizeof(first));
		run_notes(t->seed + seed);
		T_MEM(trace, first, sizeof(first));
		run_notes(t->seed + seed + 1000);
		differ += memcmp(trace, first, sizeof(first)) != 0;
	}
	T_GT(differ, 15u);
}

/* waiting */

static int waited;
static struct sim_task *waiter;

static void
wait_word(void *arg)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	waited = host_wait(&hc, &word, 0, (uint64_t)(uintptr_t)arg);
	host_leave();
}

T_CASE(a_wait_ends_when_it_is_woken)
{
	fx_begin(t);
	waiter = sim_spawn("waiter", wait_word, (void *)UINTPTR_MAX);
	sim_sleep(1000000);
	T_FALSE(sim_ended(waiter));
	waited = -1;
	str_store(&word, 1u);
	sim_sleep(1000000);
	T_FALSE(sim_ended(waiter)); /* it was not woken */
	host_wake(&word, 1);
	T_EQ(sim_run(), 0);
	T_EQ(waited, 0);
}

T_CASE(a_wait_for_a_word_that_changed_does_not_sleep)
{
	fx_begin(t);
	str_store(&word, 1u);
	T_EQ(host_wait(NULL, &word, 0, UINT64_MAX), 0);
}

T_CASE(a_wait_times_out_in_virtual_time)
{
	uint64_t before, real;

	fx_begin(t);
	before = host_now();
	real = t_now_ns();
	T_EQ(host_wait(NULL, &word, 0, 3600u * 1000000000ull), ETIMEDOUT);
	T_GE(host_now() - before, 3600u * 1000000000ull);
	T_LT(t_now_ns() - real, 5000000000ull);
}

T_CASE(a_wake_reaches_at_most_as_many_as_it_says)
{
	struct sim_task *w[3];
	unsigned i, ended = 0;

	fx_begin(t);
	for (i = 0; i < 3; i++)
		w[i] = sim_spawn("waiter", wait_word, (void *)UINTPTR_MAX);
	sim_sleep(1000000);
	host_wake(&word, 2);
	sim_sleep(1000000);
	for (i = 0; i < 3; i++)
		ended += sim_ended(w[i]);
	T_EQ(ended, 2);
	host_wake(&word, 3);
	T_EQ(sim_run(), 0);
}

/* Run @fn in a child; its standard error, and how it ended. */
static int
in_child(void (*fn)(struct t *t), struct t *t, char *err, size_t size)
{
	int p[2], status;
	size_t n = 0;
	ssize_t r;
	pid_t pid;

	T_OK(pipe(p));
	pid = fork();
	T_OK(pid);
	if (pid == 0) {
		dup2(p[1], 2);
		close(p[0]);
		fn(t);
		_exit(0);
	}
	close(p[1]);
	while ((r = read(p[0], err + n, size - 1 - n)) > 0)
		n += (size_t)r;
	err[n] = '\0';
	close(p[0]);
	T_OK(waitpid(pid, &status, 0));
	return status;
}

static void
deadlock(struct t *t)
{
	fx_begin(t);
	(void)sim_spawn("stuck", wait_word, (void *)UINTPTR_MAX);
	_exit(sim_run() == EDEADLK ? 7 : 8);
}

T_CASE(a_deadlock_is_reported_with_all_tasks)
{
	char err[4096];
	int status = in_child(deadlock, t, err, sizeof(err));

	T_TRUE(WIFEXITED(status));
	T_EQ(WEXITSTATUS(status), 7);
	T_NOTNULL(strstr(err, "all tasks sleep for ever"));
	T_NOTNULL(strstr(err, "stuck"));
	T_NOTNULL(strstr(err, "waits for a word"));
	T_NOTNULL(strstr(err, "seed"));
}

/* signals */

T_CASE(a_signal_interrupts_a_wait)
{
	fx_begin(t);
	waiter = sim_spawn("waiter", wait_word, (void *)UINTPTR_MAX);
	sim_sleep(1000000);
	sim_signal(waiter, false);
	T_EQ(sim_run(), 0);
	T_EQ(waited, EINTR);
}

static void
wait_late(void *arg)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	str_store(&go, 1u);
	sim_sleep(1000000); /* the signal comes here, inside the call */
	waited = host_wait(&hc, &word, 0, UINT64_MAX);
	T_EQ(host_interrupted(&hc), (int)(uintptr_t)arg);
	host_resample(&hc);
	T_EQ(host_interrupted(&hc), HOST_SIG_NONE);
	host_leave();
}

T_CASE(a_signal_before_the_wait_is_not_missed)
{
	fx_begin(t);
	waiter = sim_spawn("waiter", wait_late, (void *)HOST_SIG_INTR);
	while (str_load(&go) == 0)
		sim_sleep(1000);
	sim_signal(waiter, false);
	T_EQ(sim_run(), 0);
	T_EQ(waited, EINTR);
}

T_CASE(a_restarting_signal_says_so)
{
	fx_begin(t);
	waiter = sim_spawn("waiter", wait_late, (void *)HOST_SIG_RESTART);
	while (str_load(&go) == 0)
		sim_sleep(1000);
	sim_signal(waiter, true);
	T_EQ(sim_run(), 0);
	T_EQ(waited, EINTR);
}

/* death */

static uint32_t dead_tag;

static void
lock_and_stay(void *arg)
{
	struct str_lock *l = arg;
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	dead_tag = host_self_tag();
	T_FALSE(str_lock(l));
	str_store(&go, 1u);
	sim_sleep(SIM_NEVER);
}

T_CASE(the_lock_of_a_dead_task_is_taken_over)
{
	static struct str_lock l;
	struct sim_task *w;

	fx_begin(t);
	w = sim_spawn("victim", lock_and_stay, &l);
	while (str_load(&go) == 0)
		sim_sleep(1000);
	T_FALSE(host_owner_dead(dead_tag));
	T_FALSE(str_trylock(&l));
	sim_kill(w);
	T_TRUE(host_owner_dead(dead_tag));
	T_TRUE(str_lock(&l));
	str_unlock(&l);
	T_FALSE(str_lock(&l));
	str_unlock(&l);
	T_EQ(sim_run(), 0);
}

T_CASE(a_stopped_task_is_not_dead)
{
	static struct str_lock l;
	struct sim_task *w;

	fx_begin(t);
	w = sim_spawn("stopped", lock_and_stay, &l);
	while (str_load(&go) == 0)
		sim_sleep(1000);
	sim_stop(w);
	sim_sleep(100000000);
	T_FALSE(host_owner_dead(dead_tag));
	T_FALSE(str_trylock(&l));
	sim_kill(w);
}

static void
take_and_die(void *arg)
{
	struct host_call hc = {.fd = -1};
	unsigned i;

	T_EQ(host_enter(&hc), 0);
	for (i = 0; i < 20; i++)
		(void)allocb(100u << (i % 6), BPRI_MED);
	*(bool *)arg = true;
	sim_kill(sim_current());
}

T_CASE(what_the_dead_held_is_reaped)
{
	bool done = false;

	fx_begin(t);
	(void)sim_spawn("victim", take_and_die, &done);
	T_EQ(sim_run(), 0);
	T_TRUE(done);
	T_EQ(fx_messages(), 0);
}

static void
nothing(void *arg)
{
	*(unsigned *)arg += 1;
}

T_CASE(slots_of_the_dead_are_used_again)
{
	unsigned i, ran = 0;

	fx_begin(t);
	for (i = 0; i < 200; i++) {
		(void)sim_spawn("short", nothing, &ran);
		T_EQ(sim_run(), 0);
	}
	T_EQ(ran, 200);
}

/* streamsd */

static uint64_t
sweeps(void)
{
	struct sim_stats s;

	sim_stats(&s);
	return s.sweeps;
}

static void
stay(void *arg)
{
	(void)arg;
	sim_sleep(SIM_NEVER);
}

T_CASE(streamsd_looks_when_somebody_has_died)
{
	struct sim_task *w;
	uint64_t before;

	fx_begin(t);
	w = sim_spawn("victim", stay, NULL);
	sim_sleep(1000);
	T_EQ(sweeps(), 0);
	T_NULL(sim_streamsd());
	T_EQ(host_daemon(), 0);
	T_NOTNULL(sim_streamsd());
	sim_sleep(1000000);
	before = sweeps();
	T_GT(before, 0u);
	sim_kill(w);
	T_EQ(sim_run(), 0);
	T_GT(sweeps(), before);
	T_EQ(host_daemon(), 0); /* the same one */
	T_FALSE(sim_ended(sim_streamsd()));
}

static void
never(void *arg)
{
	(void)arg;
}

T_CASE(streamsd_is_replaced_while_it_is_wanted)
{
	struct sim_task *was;
	toid_t id;

	fx_begin(t);
	T_EQ(host_daemon(), 0);
	sim_sleep(1000000);
	was = sim_streamsd();
	sim_kill(was);
	sim_sleep(100000000);
	T_TRUE(sim_streamsd() == was); /* nothing wants it */
	T_EQ(host_daemon(), 0);
	T_FALSE(sim_ended(sim_streamsd()));
	id = timeout(never, NULL, 1000000);
	was = sim_streamsd();
	sim_kill(was);
	sim_sleep(100000000);
	T_FALSE(sim_ended(sim_streamsd()));
	T_GT(untimeout(id), 0);
	sim_crash_at("streamsd:reaped", 1);
	sim_kill(sim_spawn("victim", stay, NULL));
	T_EQ(sim_run(), 0);
	T_TRUE(sim_ended(sim_streamsd()));
}

/* carriers */

static uint32_t seen;

static void
wait_carrier(void *arg)
{
	struct host_call hc = {.fd = (int)(intptr_t)arg};

	T_EQ(host_enter(&hc), 0);
	waited = host_wait_carrier(&hc, UINT64_MAX, &seen);
	host_leave();
}

T_CASE(a_token_wakes_the_other_end)
{
	struct host_carrier c[2];
	int fd[2];

	fx_begin(t);
	T_EQ(host_carrier_pair(0, fd, c), 0);
	(void)sim_spawn("waiter", wait_carrier, (void *)(intptr_t)fd[1]);
	sim_sleep(1000);
	T_EQ(host_token_send(fd[0]), 0);
	T_EQ(sim_run(), 0);
	T_EQ(waited, 0);
	T_EQ(seen, HOST_C_TOKEN);
	T_EQ(host_carrier_look(fd[1]), HOST_C_TOKEN); /* it is not drained */
	host_token_drain(fd[1]);
	T_EQ(host_carrier_look(fd[1]), 0);
}

T_CASE(the_last_holder_hangs_up)
{
	struct host_carrier c[2];
	struct sim_task *w;
	int fd[2];

	fx_begin(t);
	T_EQ(host_carrier_pair(0, fd, c), 0);
	w = sim_spawn("waiter", wait_carrier, (void *)(intptr_t)fd[1]);
	sim_sleep(1000);
	sim_close(fd[0]);
	sim_sleep(1000);
	T_FALSE(sim_ended(w)); /* it holds that end itself */
	T_TRUE(host_carrier_alive(&c[0]));
	sim_kill(w);
	T_FALSE(host_carrier_alive(&c[0]));
	T_EQ(host_carrier_look(fd[1]), HOST_C_HUP);
	T_EQ(host_token_send(fd[1]), EPIPE);
	T_EQ(host_carrier_look(fd[0]), HOST_C_NVAL);
	T_EQ(sim_run(), 0);
}

T_CASE(a_bell_wakes_its_process)
{
	struct host_carrier c[2];
	int fd[2], i;

	fx_begin(t);
	T_EQ(host_carrier_pair(0, fd, c), 0);
	(void)sim_spawn("waiter", wait_carrier, (void *)(intptr_t)fd[1]);
	sim_sleep(1000);
	for (i = 1; i < 10; i++)
		if (str_load(&host_domain->thread[i].tag) != 0)
			break;
	host_bell_ring(&host_domain->thread[i]);
	T_EQ(sim_run(), 0);
	T_EQ(seen, HOST_C_BELL);
}

T_CASE(without_a_carrier_only_the_bell_is_heard)
{
	struct sim_task *w;
	int i;

	fx_begin(t);
	w = sim_spawn("waiter", wait_carrier, (void *)(intptr_t)-1);
	sim_sleep(1000);
	T_FALSE(sim_ended(w));
	for (i = 1; i < 10; i++)
		if (str_load(&host_domain->thread[i].tag) != 0)
			break;
	host_bell_ring(&host_domain->thread[i]);
	T_EQ(sim_run(), 0);
	T_EQ(waited, 0);
	T_EQ(seen, HOST_C_BELL);
}

T_CASE(anybody_sends_an_open_carrier_a_token)
{
	struct host_carrier c, d;
	int fd, err;

	fx_begin(t);
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_EQ(c.kind, HOST_CARRIER_OPEN);
	T_GT(c.addrlen, 0u);
	T_EQ(host_carrier_id(fd, &d), 0);
	T_MEM(&d, &c, sizeof(c));
	(void)sim_spawn("waiter", wait_carrier, (void *)(intptr_t)fd);
	sim_sleep(1000);
	sim_close(fd); /* the sender need not hold it */
	T_TRUE(host_carrier_alive(&c));
	T_EQ(host_carrier_send(&c), 0);
	T_EQ(sim_run(), 0);
	T_EQ(waited, 0);
	T_EQ(seen, HOST_C_TOKEN);
	T_FALSE(host_carrier_alive(&c));
	T_EQ(host_carrier_send(&c), ECONNREFUSED);
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	while ((err = host_carrier_send(&c)) == 0)
		T_LT(sim_tokens(fd), 1000u);
	T_EQ(err, EAGAIN);
	host_token_drain(fd);
	T_EQ(host_carrier_look(fd), 0);
}

T_CASE(descriptors_in_flight_are_held)
{
	struct host_label l = { 1, 10 }, m = { 2, 20 }, got_l;
	struct host_carrier o, none;
	int of, box, got = -1;

	fx_begin(t);
	T_EQ(host_carrier_open(0, &of, &o), 0);
	T_EQ(host_box_new(&box, &none), 0);
	T_EQ(host_sock_adopt(77, box), 0);
	T_EQ(host_box_put(77, of, &l), 0);
	T_EQ(host_carrier_send(&o), 0);
	sim_close(of);
	T_FALSE(sim_held(of));
	T_TRUE(host_carrier_alive(&o));
	T_EQ(host_box_put(77, of, &m), EBADF);
	T_EQ(host_box_put(77, 3, &m), 0);
	/* the first one stays where it is until it is dropped */
	T_EQ(host_box_look(77, &got_l), 0);
	T_EQ(got_l.id, 1);
	T_EQ(host_box_dup(77, &got), 0);
	T_TRUE(sim_held(got));
	T_EQ(sim_tokens(got), 1u);
	sim_close(got);
	T_TRUE(host_carrier_alive(&o));
	host_box_drop(77);
	T_FALSE(host_carrier_alive(&o));
	T_EQ(host_box_look(77, &got_l), 0);
	T_EQ(got_l.pass, 20);
	T_EQ(host_box_dup(77, &got), 0);
	T_EQ(got, 3);
	host_box_drop(77);
	T_EQ(host_box_dup(77, &got), ENOENT);
	/* with a box goes what lies in it */
	T_EQ(host_carrier_open(0, &of, &o), 0);
	T_EQ(host_box_put(77, of, &l), 0);
	sim_close(of);
	T_TRUE(host_carrier_alive(&o));
	host_sock_gone(77, false);
	T_FALSE(host_carrier_alive(&o));
	T_EQ(host_box_put(77, 3, &l), EIO);
}

/* memory */

T_CASE(commits_fail_when_told)
{
	uint64_t off = 32u << 20;

	fx_begin(t);
	sim_fail_commit(2, false);
	T_EQ(host_commit(off, 65536), 0);
	T_EQ(host_commit(off + 65536, 65536), ENOSR);
	T_EQ(host_commit(off + 65536, 65536), 0);
	T_NE(host_commit(1ull << 40, 65536), 0);
	*(volatile char *)((char *)host_domain + off) = 1;
}

static void
touch(struct t *t)
{
	fx_begin(t);
	*(volatile char *)((char *)host_domain + (63u << 20)) = 1;
}

T_CASE(memory_that_was_not_committed_cannot_be_touched)
{
	char err[256];
	int status = in_child(touch, t, err, sizeof(err));

	T_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

T_CASE(bad_user_addresses_are_efault)
{
	char user[64] = "user memory", buf[64];

	fx_begin(t);
	T_EQ(host_copyin(user, buf, 64), 0);
	T_STR(buf, "user memory");
	T_EQ(host_copyin(NULL, buf, 1), EFAULT);
	T_EQ(host_copyin(NULL, buf, 0), 0);
	sim_bad(user + 8, 8);
	T_EQ(host_copyin(user, buf, 8), 0);
	T_EQ(host_copyin(user, buf, 9), EFAULT);
	T_EQ(host_copyout(buf, user + 16, 8), 0);
	T_EQ(host_copyout(buf, user + 15, 8), EFAULT);
	T_EQ(host_copyinstr(user, buf, 64), EFAULT);
	sim_bad(NULL, 0);
	T_EQ(host_copyinstr(user, buf, 5), ENAMETOOLONG);
	T_EQ(host_copyinstr(user, buf, 64), 0);
	sim_only(user + 4, 8);
	T_EQ(host_copyin(user + 4, buf, 8), 0);
	T_EQ(host_copyin(user + 4, buf, 9), EFAULT);
	T_EQ(host_copyin(user, buf, 8), EFAULT);
	T_EQ(host_copyout(buf, user + 12, 1), EFAULT);
	sim_only(NULL, 0);
	T_EQ(host_copyin(user, buf, 64), 0);
}

/* many domains, one after the other */
T_CASE(a_thousand_domains_in_one_process)
{
	unsigned i;

	for (i = 0; i < 1000; i++) {
		struct fx_pipe p;

		fx_begin_seed(t->seed + i);
		fx_pipe(&p);
		T_EQ(fx_write(&p, 0, "x", 1), 1);
		fx_end();
	}
}
