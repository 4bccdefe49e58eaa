/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The simulated host: tasks, their order, and time.
 *
 * Tasks.  A task is a coroutine and stands for a process with one thread.
 * Exactly one runs; its host_tls is the thread's real one, those of the others
 * are saved.  Task 0 is the program's own stack.  The last one is the daemon,
 * which does the work of a helper process: timers, and reaping the dead.  From
 * the first host_daemon() on there is one more task, streamsd, which can be
 * killed like any other, but sim_run() waits only until it is idle.
 *
 * Order.  A task gives up the processor when it waits, and may lose it at a
 * point: any call of the host, and, in the executive's instrumented build,
 * each access to memory (point.c).  Points are counted down from a number drawn
 * from the seed; then the next task is drawn from those that can run.
 *
 * Time.  It advances a little at every point, so that deadlines pass while
 * others work, and jumps to the next deadline when all sleep.  If all sleep and
 * there is no deadline, that is a deadlock, and the run has failed; it has also
 * failed if the tasks loop without end.
 *
 * Death.  A killed task is never drawn again.  Its data in the arena is left
 * unchanged; after some time, drawn from the seed, the daemon reaps its thread
 * slot as a member of a real domain would.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "sim_impl.h"
#include "core.h"
#include "mem/mem.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define FIBERS 1
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define TSAN_FIBERS 1
#endif

#define STACK_SIZE (256u << 10)
#define POINT_NS 15u	  /* duration of a point */
#define SWITCHES_MAX 2000000u /* a run that needs more loops without end */
#define REAP_NS 20000000u /* the dead are reaped within 20 ms */

struct sim sim;

/* The program's own stack, for ASAN. */
static const void *main_stack STR_UNUSED;
static size_t main_stack_size STR_UNUSED;

/* ---------------------------------------------------------------- numbers */

/* splitmix64 */
uint32_t
sim_rand(uint32_t n)
{
	uint64_t z = sim.rand += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return n == 0 ? 0 : (uint32_t)((z >> 32) * n >> 32);
}

uint64_t
sim_seed(void)
{
	return sim.seed;
}

unsigned
sim_index(const struct sim_task *t)
{
	return (unsigned)(t - sim.task);
}

bool
sim_has_ended(const struct sim_task *t)
{
	return t->state == TASK_ENDED || t->state == TASK_KILLED;
}

bool
sim_ended(const struct sim_task *t)
{
	return sim_has_ended(t);
}

struct sim_task *
sim_current(void)
{
	return sim.cur;
}

/* ----------------------------------------------------------------- report */

static const char *
state_name(const struct sim_task *t)
{
	static const char *const name[] = {
		"none", "ready", "waits for a word", "waits at its carrier",
		"sleeps", "waits for the others", "has ended", "was killed",
	};

	return name[t->state];
}

void
sim_report(const char *why)
{
	unsigned i;

	fprintf(stderr, "sim: %s; seed %llu, time %llu ns\n", why,
		(unsigned long long)sim.seed, (unsigned long long)sim.now);
	if (sim.crashed != NULL)
		fprintf(stderr, "sim: a task died at %s\n", sim.crashed);
	for (i = 0; i < SIM_NTASK; i++) {
		const struct sim_task *t = &sim.task[i];

		if (t->state == TASK_NONE)
			continue;
		fprintf(stderr, "sim: %c %-10s tag %#x %s%s",
			t == sim.cur ? '*' : ' ', t->name,
			t == sim.cur ? host_tls.tag : t->tls.tag,
			state_name(t), t->stopped ? " (stopped)" : "");
		if (t->state == TASK_WORD)
			fprintf(stderr, " %p while it is %#x (it is %#x)",
				(void *)t->word, t->val, str_load(t->word));
		if (t->state == TASK_CARRIER)
			fprintf(stderr, " fd %d", t->fd);
		if ((t->state == TASK_WORD || t->state == TASK_CARRIER ||
			t->state == TASK_SLEEP) && t->deadline != SIM_NEVER)
			fprintf(stderr, " until %llu",
				(unsigned long long)t->deadline);
		fprintf(stderr, "\n");
	}
}

static void STR_NORETURN
give_up(const char *why)
{
	sim_report(why);
	abort();
}

/* -------------------------------------------------------------- switching */

static void
switch_finish(void *fake STR_UNUSED)
{
#ifdef FIBERS
	const void *from;
	size_t size;

	__sanitizer_finish_switch_fiber(fake, &from, &size);
	if (main_stack == NULL) {
		main_stack = from;
		main_stack_size = size;
	}
#endif
}

static void
switch_to(struct sim_task *to)
{
	struct sim_task *from = sim.cur;

	if (to == from)
		return;
	sim.stats.switches++;
	from->tls = host_tls;
	host_tls = to->tls;
	sim.cur = to;
#ifdef FIBERS
	__sanitizer_start_switch_fiber(
		sim_has_ended(from) ? NULL : &from->fake_stack,
		to->stack != NULL ? to->stack : main_stack,
		to->stack != NULL ? STACK_SIZE : main_stack_size);
#endif
#ifdef TSAN_FIBERS
	if (from->fiber == NULL)
		from->fiber = __tsan_get_current_fiber();
	if (to->fiber == NULL)
		to->fiber = __tsan_create_fiber(0);
	__tsan_switch_to_fiber(to->fiber, 0);
#endif
	swapcontext(&from->uc, &to->uc);
	switch_finish(sim.cur->fake_stack);
}

static bool
sleeping(const struct sim_task *t)
{
	return t->state == TASK_WORD || t->state == TASK_CARRIER ||
		t->state == TASK_SLEEP;
}

void
sim_ready(struct sim_task *t, int result)
{
	t->state = TASK_READY;
	t->result = result;
}

static bool
others_live(void)
{
	unsigned i;

	/* a dead one is replaced, if it is needed */
	if (sim.streamsd != NULL && (sim_has_ended(sim.streamsd) ?
			str_region_wanted() : sim.died || sim.serving))
		return true;

	for (i = 1; i < SIM_NTASK; i++) {
		struct sim_task *t = &sim.task[i];

		if (t->state != TASK_NONE && !t->daemon && t != sim.streamsd &&
		    (!sim_has_ended(t) || !t->reaped))
			return true;
	}
	return false;
}

/* End the waits whose time is over. */
static void
expire(void)
{
	unsigned i;

	for (i = 0; i < SIM_NTASK; i++) {
		struct sim_task *t = &sim.task[i];

		if (sleeping(t) && t->deadline <= sim.now)
			sim_ready(t, ETIMEDOUT);
		if (t->state == TASK_JOIN && (sim.deadlocked ||
			!others_live()))
			sim_ready(t, 0);
	}
}

void
sim_above(struct sim_task *t)
{
	sim.above = t;
}

static struct sim_task *
draw(void)
{
	struct sim_task *ready[SIM_NTASK];
	uint32_t n = 0;
	unsigned i;

	expire();
	if (sim.above != NULL && sim.above->state == TASK_READY)
		return sim.above;
	for (i = 0; i < SIM_NTASK; i++)
		if (sim.task[i].state == TASK_READY && !sim.task[i].stopped)
			ready[n++] = &sim.task[i];
	return n == 0 ? NULL : ready[sim_rand(n)];
}

/* All sleep: go to the next deadline.  False when there is none. */
static bool
jump(void)
{
	uint64_t next = SIM_NEVER;
	unsigned i;

	for (i = 0; i < SIM_NTASK; i++) {
		struct sim_task *t = &sim.task[i];

		if (sleeping(t) && !t->stopped && t->deadline < next)
			next = t->deadline;
	}
	if (next == SIM_NEVER)
		return false;
	sim.stats.advances++;
	if (next > sim.now)
		sim.now = next;
	return true;
}

static void
recount(void)
{
	sim.countdown = sim.grain == 0 ? UINT32_MAX :
		1 + sim_rand(2 * sim.grain);
}

void
sim_resched(void)
{
	struct sim_task *t;

	if (sim.stats.switches > SWITCHES_MAX)
		give_up("no end in sight");
	while ((t = draw()) == NULL) {
		if (jump())
			continue;
		if (sim.deadlocked || sim.task[0].state != TASK_JOIN)
			give_up("all tasks sleep for ever");
		sim_report("all tasks sleep for ever");
		sim.deadlocked = true;
	}
	recount();
	switch_to(t);
}

void
sim_point(void)
{
	if (str_unlikely(!sim.running))
		return;
	sim.now += POINT_NS;
	if (str_unlikely(sim.cur->fuse != 0)) {
		sim.countdown = 1; /* each access comes here */
		if (--sim.cur->fuse == 0)
			sim_kill(sim.cur);
		return;
	}
	if (str_likely(--sim.countdown != 0))
		return;
	if (sim.grain != 0) {
		sim.stats.preempted++;
		if (sim_rand(16) == 0)
			sim.cur->cpu = sim_rand(2);
		sim_resched();
	} else {
		recount();
	}
}

void
sim_fuse(uint64_t points)
{
	sim.cur->fuse = points;
	sim.countdown = 1;
}

uint64_t
sim_fuse_left(void)
{
	return sim.cur->fuse;
}

void
sim_sleep(uint64_t ns)
{
	sim.cur->state = TASK_SLEEP;
	sim.cur->interruptible = false;
	sim.cur->deadline = ns == SIM_NEVER ? SIM_NEVER : sim.now + ns;
	sim_resched();
}

void
sim_pause(str_a32 *word, uint32_t val)
{
	while (str_load(word) == val)
		(void)host_wait(NULL, word, val, SIM_NEVER);
}

void
sim_advance(uint64_t ns)
{
	sim.now += ns;
}

/* ----------------------------------------------------------------- living */

/* Take a thread slot and a process slot for @t; @tls is its saved host_tls. */
static void
slot_take(struct sim_task *t, struct host_tls *tls)
{
	struct str_domain *d = host_domain;
	uint32_t idx = sim_index(t);
	struct str_thread *s = &d->thread[idx];
	uint32_t gen = (str_load(&s->gen) + 1) & 0xfffffu;

	if (gen == 0)
		gen = 1;
	str_store(&s->gen, gen);
	str_store(&s->proc, idx);
	str_store(&s->tid, 1000 + idx);
	str_store(&s->state, STR_THR_RUN);
	str_store(&d->proc[idx].flags, t == sim.streamsd ? STR_PROC_DAEMON :
		0u);
	str_store(&d->proc[idx].gen, str_load(&d->proc[idx].gen) | 1u);
	str_store(&d->proc[idx].pid, 1000 + idx);
	if (str_load(&d->thread_high) <= idx)
		str_store(&d->thread_high, idx + 1);
	if (str_load(&d->proc_high) <= idx)
		str_store(&d->proc_high, idx + 1);
	str_store(&s->tag, STR_TAG(idx, gen));
	str_store(&s->hold[0], (uint64_t)0);
	str_store(&s->hold[1], (uint64_t)0);
	memset(tls, 0, sizeof(*tls));
	tls->slot = s;
	tls->tag = STR_TAG(idx, gen);
}

static struct sim_task *
task_new(const char *name, void (*fn)(void *arg), void *arg)
{
	struct sim_task *t = NULL;
	unsigned char *stack;
	void *fiber;
	unsigned i;

	for (i = 1; i < SIM_NTASK; i++)
		if (sim.task[i].state == TASK_NONE)
			break;
	/* slots of dead tasks are free once they are reaped */
	if (i == SIM_NTASK)
		for (i = 1; i < SIM_NTASK; i++)
			if (sim_has_ended(&sim.task[i]) && sim.task[i].reaped &&
			    &sim.task[i] != sim.streamsd)
				break;
	if (i == SIM_NTASK)
		give_up("too many tasks");
	t = &sim.task[i];
	stack = t->stack;
	if (stack == NULL) {
		/* the page below it cannot be accessed */
		stack = mmap(NULL, STACK_SIZE + 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (stack == MAP_FAILED ||
		    mprotect(stack, 4096, PROT_NONE) != 0)
			give_up("no memory for a stack");
		stack += 4096;
	}
#ifdef FIBERS
	__asan_unpoison_memory_region(stack, STACK_SIZE);
#endif
	fiber = t->fiber;
	memset(t, 0, sizeof(*t));
	t->fiber = fiber;
	t->name = name;
	t->fn = fn;
	t->arg = arg;
	t->stack = stack;
	t->cpu = sim_rand(2);
	return t;
}

/* Make streamsd search for the dead again. */
static void
kick_streamsd(void)
{
	struct sim_task *d = sim.streamsd;

	sim.died = true;
	if (d != NULL && d->state == TASK_SLEEP && !sim.serving)
		sim_ready(d, 0);
}

void
sim_notice(void)
{
	struct sim_task *d = &sim.task[SIM_NTASK - 1];

	sim.kicked = true;
	if (d->state == TASK_SLEEP)
		sim_ready(d, 0);
}

/* A task has died. */
static void
kick(void)
{
	sim_notice();
	kick_streamsd();
}

static void
task_main(void)
{
	struct sim_task *t = sim.cur;

	switch_finish(NULL);
	t->fn(t->arg);
	t->state = TASK_ENDED;
	t->reap_at = sim.now;
	sim_carriers_drop(t);
	kick();
	sim_resched();
	give_up("a task that had ended ran again");
}

static void
task_start(struct sim_task *t)
{
	slot_take(t, &t->tls);
	getcontext(&t->uc);
	t->uc.uc_stack.ss_sp = t->stack;
	t->uc.uc_stack.ss_size = STACK_SIZE;
	t->uc.uc_link = NULL;
	makecontext(&t->uc, task_main, 0);
	t->state = TASK_READY;
}

struct sim_task *
sim_spawn(const char *name, void (*fn)(void *arg), void *arg)
{
	struct sim_task *t = task_new(name, fn, arg);

	sim_carriers_inherit(t, sim.cur);
	task_start(t);
	return t;
}

void
sim_kill(struct sim_task *t)
{
	if (sim_has_ended(t))
		return;
	if (t == &sim.task[0] || t->daemon)
		give_up("that task cannot be killed");
	sim.stats.kills++;
	t->state = TASK_KILLED;
	t->stopped = false;
	t->reap_at = sim.now + sim_rand(REAP_NS);
	sim_carriers_drop(t);
	kick();
	if (t == sim.cur)
		sim_resched();
}

void
sim_stop(struct sim_task *t)
{
	t->stopped = true;
	if (t == sim.cur)
		sim_resched();
}

void
sim_cont(struct sim_task *t)
{
	t->stopped = false;
}

int
sim_run(void)
{
	sim.cur->state = TASK_JOIN;
	sim_resched();
	return sim.deadlocked ? EDEADLK : 0;
}

/* ------------------------------------------------------------- the daemon */

/*
 * Free the resources of the dead task @t.  If a reaper dies itself, another
 * follows.  Return: false: another reaper is at work.
 */
bool
sim_reap(struct sim_task *t)
{
	struct str_thread *s = &host_domain->thread[sim_index(t)];

	if (t->reaped || (t->reaper != 0 && t->reaper != host_self_tag() &&
			!sim_has_ended(&sim.task[STR_TAG_IDX(t->reaper)])))
		return false;
	t->reaper = host_self_tag();
	sim.stats.reaps++;
	if (sim.two_steps)
		(void)str_thread_reap(host_domain, s, false);
	if (!str_thread_reap(host_domain, s, true)) {
		t->reaper = 0; /* again, some time later */
		return false;
	}
	str_store(&s->tag, 0u);
	str_add(&host_domain->proc[sim_index(t)].gen, 1u);
	t->reaped = true;
	return true;
}

/*
 * Free the resources of dead tasks.  Returns the time when the next one is due.
 */
static uint64_t
reap(void)
{
	uint64_t next = SIM_NEVER;
	unsigned i;

	for (i = 1; i < SIM_NTASK; i++) {
		struct sim_task *t = &sim.task[i];

		if (!sim_has_ended(t) || t->reaped)
			continue;
		if (t->reap_at > sim.now) {
			next = STR_MIN(next, t->reap_at);
			continue;
		}
		/* a living reaper finishes; a dead reaper is reaped */
		if (!sim_reap(t))
			next = STR_MIN(next, sim.now + REAP_NS);
	}
	return next;
}

/*
 * Run the timers that are due: the daemon has the part of the thread of
 * streamsd.  Returns the time of the next call.
 */
static uint64_t
timers(void)
{
	uint64_t next;

	if (sim.timer_at <= sim.now) {
		sim.timer_at = SIM_NEVER;
		next = str_timer_run(sim.now);
		sim.timer_at = STR_MIN(sim.timer_at, next);
	}
	return sim.timer_at;
}

/* The work of streamsd when a member has died: see tools/streamsd. */
static void
serve(void)
{
	struct host_call hc = {.fd = -1};
	unsigned i;

	if (host_enter(&hc) != 0)
		give_up("streamsd cannot enter");
	for (i = 1; i < SIM_NTASK; i++)
		if (sim_has_ended(&sim.task[i]) && !sim.task[i].reaped)
			(void)sim_reap(&sim.task[i]);
	host_crash_point("streamsd:reaped");
	sim.stats.sweeps++;
	(void)str_region_members_died();
	host_leave();
}

static void
streamsd_main(void *arg)
{
	(void)arg;
	for (;;) {
		while (sim.died) {
			sim.died = false;
			serve();
		}
		sim.serving = false;
		sim_sleep(SIM_NEVER);
		sim.serving = true;
	}
}

int
host_daemon(void)
{
	struct sim_task *t = sim.streamsd;

	sim_point();
	if (t == NULL || sim_has_ended(t)) {
		t = task_new("streamsd", streamsd_main, NULL);
		sim.streamsd = t;
		sim.serving = sim.died = true;
		task_start(t);
		sim_point();
	}
	return 0;
}

struct sim_task *
sim_streamsd(void)
{
	return sim.streamsd;
}

static void
daemon_main(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	for (;;) {
		uint64_t next, when;
		bool kicked = sim.kicked;

		if (host_enter(&hc) != 0)
			give_up("the daemon cannot enter");
		sim.kicked = false;
		/* as streamsd does, which a pidfd informs */
		if (kicked)
			(void)str_notice_give();
		/* as a sleeping member would that is informed */
		if (sim.streamsd != NULL && sim_has_ended(sim.streamsd) &&
		    str_region_wanted())
			(void)host_daemon();
		next = reap();
		when = timers();
		host_leave();
		next = STR_MIN(next, when);
		if (next > sim.now && !sim.kicked)
			sim_sleep(next == SIM_NEVER ? next : next - sim.now);
	}
}

void
host_defer(uint64_t now, uint64_t when)
{
	struct sim_task *d = &sim.task[SIM_NTASK - 1];

	(void)now;
	if (when >= sim.timer_at)
		return;
	sim.timer_at = when;
	if (d->state == TASK_SLEEP && when < d->deadline)
		d->deadline = when;
	sim.kicked = true;
}

/* ------------------------------------------------------- beginning and end */

static const uint64_t base_candidate[] = {
#ifndef __SANITIZE_THREAD__ /* which ends the program for that request */
	0x6a0000000000ull,
#endif
	0x7e9000000000ull, 0x6a00000000ull,
};

static void
domain_map(void)
{
	struct str_domain *d = MAP_FAILED;
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(base_candidate); i++) {
		d = mmap((void *)(uintptr_t)base_candidate[i], sim.cap,
			PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
			MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
		if (d == (void *)(uintptr_t)base_candidate[i])
			break;
		if (d != MAP_FAILED)
			munmap(d, sim.cap);
		d = MAP_FAILED;
	}
	if (d == MAP_FAILED || mprotect(d, STR_HDR_SIZE,
		PROT_READ | PROT_WRITE) != 0) {
		perror("sim: the arena cannot be mapped");
		abort();
	}
	d->abi = STR_ABI;
	d->hdr_size = sizeof(*d);
	d->base = (uint64_t)(uintptr_t)d;
	d->cap = d->room = sim.cap;
	d->uid = 1000;
	str_store(&d->asym, 1u);
	str_store(&d->committed, STR_HDR_SIZE);
	host_domain = d;
#if defined(__SANITIZE_ADDRESS__)
	str_mem_shadow = true;
#endif
}

void
sim_cap(uint64_t bytes)
{
	sim.cap = STR_ROUNDUP(bytes, (uint64_t)STR_SLAB_SIZE);
}

void
sim_init(uint64_t seed)
{
	struct sim_task *t;
	uint64_t cap = sim.cap != 0 ? sim.cap : 64u << 20;
	static const unsigned grain[] = {2, 8, 24, 64, 200, 600};

	if (sim.running)
		give_up("sim_init without sim_fini");
	for (t = sim.task; t < sim.task + SIM_NTASK; t++) {
		unsigned char *stack = t->stack;
		void *fiber = t->fiber;

		memset(t, 0, sizeof(*t));
		t->stack = stack;
		t->fiber = fiber;
	}
	sim.timer_at = SIM_NEVER;
	memset(sim.carrier, 0, sizeof(sim.carrier));
	memset(sim.crash, 0, sizeof(sim.crash));
	memset(&sim.stats, 0, sizeof(sim.stats));
	sim.cap = cap;
	sim.seed = sim.rand = seed;
	sim.now = 1000000000u + sim_rand(1000000);
	sim.deadlocked = false;
	sim.next_cookie = 100;
	sim.spurious = sim.fail_nth = sim.fail_rate = 0;
	sim.notices = 2;
	sim.fail_forever = sim.kicked = false;
	sim.died = sim.serving = false;
	sim.streamsd = sim.above = NULL;
	sim.no_way = false;
	sim.bad_len = 0;
	sim.crash_label = sim.crashed = NULL;
	sim.grain = grain[sim_rand(STR_ARRAY_LEN(grain))];
	recount();
	domain_map();

	t = &sim.task[0];
	t->name = "main";
	t->state = TASK_READY;
	t->reaped = true;
	sim.cur = t;
	slot_take(t, &host_tls);
	if (str_region_init(host_domain) != 0 ||
	    str_region_attach(host_domain) != 0)
		give_up("the executive does not start");
	host_domain->magic = STR_MAGIC;

	/* the daemon has the last slot, whatever is free before it */
	for (t = sim.task + 1; t < sim.task + SIM_NTASK - 1; t++)
		t->state = TASK_JOIN;
	t = task_new("daemon", daemon_main, NULL);
	t->daemon = true;
	t->reaped = true;
	task_start(t);
	for (t = sim.task + 1; t < sim.task + SIM_NTASK - 1; t++)
		t->state = TASK_NONE;
	sim.running = true;
}

void
sim_fini(void)
{
	if (!sim.running)
		return;
	sim.running = false;
	memset(&host_tls, 0, sizeof(host_tls));
	str_mem_show(host_domain, str_load(&host_domain->next_granule) <<
		STR_SLAB_SHIFT);
	munmap(host_domain, sim.cap);
	host_domain = NULL;
}

void
sim_stats(struct sim_stats *ret)
{
	*ret = sim.stats;
}

void
sim_two_steps(bool on)
{
	sim.two_steps = on;
}

void
sim_grain(unsigned points)
{
	sim.grain = points;
	recount();
}

void
sim_spurious(unsigned one_in)
{
	sim.spurious = one_in;
}
