/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The simulated host: many processes in one thread, in an order that a seed
 * determines, with a virtual clock.
 *
 *	sim_init(seed);			the caller is task "main"
 *	sim_spawn("writer", fn, arg);	each task is a process of its own
 *	sim_run();			until all of them have ended
 *	sim_fini();			before the next seed
 *
 * A run depends only on the seed and the program, so a failure can be
 * reproduced. docs/host-porting.md describes the model.
 */
#ifndef SIM_H
#define SIM_H

#include <str/host.h>

#define SIM_NTASK 48
#define SIM_NEVER UINT64_MAX

struct sim_task;

/*
 * sim_init - a new domain, empty except for the executive's part.  Ends the
 * program with a message if that fails.
 */
void sim_init(uint64_t seed);
void sim_fini(void);
uint64_t sim_seed(void);

/* Arena bytes of later domains; 64 MiB by default. */
void sim_cap(uint64_t bytes);

/*
 * sim_spawn - a new process that runs @fn.  It starts some time after the
 * caller gives up the processor, and holds the same carriers as its maker.
 * @name: kept by reference, for reports.
 */
struct sim_task *sim_spawn(const char *name, void (*fn)(void *arg),
	void *arg);
struct sim_task *sim_current(void);

/*
 * sim_run - let the others run until every task except the caller has ended.
 * Return: 0, or EDEADLK if all sleep for ever: the report has been printed, and
 * only sim_fini() may follow.
 */
int sim_run(void);

/* sim_point - a place where another task may get the processor. */
void sim_point(void);
/* sim_sleep - let @ns of virtual time pass; others run. */
void sim_sleep(uint64_t ns);
/* sim_pause - sleep until *@word != @val; included in the deadlock check. */
void sim_pause(str_a32 *word, uint32_t val);
/* sim_advance - advance the clock at once. */
void sim_advance(uint64_t ns);
/* A random number below @n, determined by the seed. */
uint32_t sim_rand(uint32_t n);

/*
 * sim_kill - the process ends at once, wherever it is: its locks stay taken,
 * its carriers lose a holder, and some time later it is reaped.
 * @t may be the current task; then the function does not return.
 * sim_stop, sim_cont - SIGSTOP and SIGCONT.
 */
void sim_kill(struct sim_task *t);
void sim_stop(struct sim_task *t);
/* sim_soon - how often host_daemon_soon() was called since the last time. */
unsigned sim_soon(void);
/* sim_streamsd - the task that host_daemon() started, NULL: none yet. */
struct sim_task *sim_streamsd(void);
void sim_cont(struct sim_task *t);
bool sim_ended(const struct sim_task *t);

/*
 * sim_fuse - kill the current task at its @points-th point from now; 0: do not.
 * Until then other tasks run only if this one waits. sim_fuse_left - the
 * remaining points.
 */
void sim_fuse(uint64_t points);
uint64_t sim_fuse_left(void);

/*
 * sim_crash_at - kill the task that passes @label for the @nth time from now;
 * not main.
 */
void sim_crash_at(const char *label, unsigned nth);
/* How often @label was passed since sim_init(). */
unsigned sim_crash_count(const char *label);
/* Call @fn for every label passed since sim_init(). */
void sim_crash_labels(void (*fn)(const char *label, void *arg), void *arg);

/*
 * sim_fail_commit - memory: the @nth host_commit() from now fails (1: the
 * next one), and so do all after it when @forever.  0: none.
 * sim_fail_rate - each fails with probability 1/@one_in; 0: none.
 */
void sim_fail_commit(unsigned nth, bool forever);
void sim_fail_rate(unsigned one_in);

/* sim_spurious - waits end without a cause with probability 1/@one_in. */
void sim_spurious(unsigned one_in);
/* sim_two_steps - dead tasks are reaped as streamsd does, their streams first. */
void sim_two_steps(bool on);

/*
 * sim_notices - sleepers are told of deaths (host_notice_begin()): of 4 sleeps
 * @n; 2 after sim_init().
 */
void sim_notices(unsigned n);

/* sim_no_way - host_give_way() does nothing, as while its yields are lost. */
void sim_no_way(bool on);
/*
 * sim_above - one CPU, on which @t has a higher priority than the other tasks:
 * it runs when it is ready, at once when it is woken, and a yield of it lets no
 * other task run.  NULL: no task has.
 */
void sim_above(struct sim_task *t);

/* sim_grain - mean points between changes of task; 0: only when one waits */
void sim_grain(unsigned points);

/* sim_signal - a handler runs in @t: at once, or when its call allows it. */
void sim_signal(struct sim_task *t, bool restart);
/* Signals that @t was sent by host_signal_post() or _self(). */
unsigned sim_signals_of(const struct sim_task *t, int sig);

/* sim_bad - user addresses in [p, p+len) are not mapped. */
void sim_bad(const void *p, size_t len);
/* sim_only - only user addresses in [p, p+len) are mapped; 0: all are. */
void sim_only(const void *p, size_t len);

/*
 * sim_modules - the foreign modules that can be loaded into this domain: they
 * are linked into the program. @list ends with a NULL name, and so does each
 * module's list of symbols (NAMEinfo, NAMEdevflag, NAMEinit ...).
 */
#define SIM_NMODULE 32
struct sim_symbol {
	const char *name;
	void *addr;
};
struct sim_module {
	const char *name;
	const struct sim_symbol *symbol;
};
void sim_modules(const struct sim_module *list);

/*
 * Descriptors.  A task holds those that it or its maker made, until it closes
 * them.
 */
void sim_close(int fd);
bool sim_held(int fd);
unsigned sim_tokens(int fd); /* in its queue, without passed descriptors */
uint64_t sim_bells(const struct sim_task *t);

/*
 * sim_sock - there are sockets from now on, and the test is their other side
 * @send, @recv: process one message that is sent or received; less than 0: not
 * possible.  NULL: there are no sockets.
 * sim_sock_sends - number of calls that have sent one or several messages
 */
extern unsigned sim_sock_sends;
struct ksock_msg;
void sim_sock(long (*send)(const struct ksock_msg *m),
	long (*recv)(struct ksock_msg *m));

/* Counters of the run, for tests that check that something happened */
struct sim_stats {
	uint64_t switches;  /* changes of task */
	uint64_t preempted; /* of these, at a point */
	uint64_t yields;    /* host_yield() calls */
	uint64_t sleeps;    /* waits that really slept */
	uint64_t advances;  /* advances of the clock, because all slept */
	uint64_t commits;   /* host_commit() calls */
	uint64_t refused;   /* of these, refused */
	uint64_t kills;
	uint64_t reaps;
	uint64_t sweeps;    /* of streamsd, str_region_members_died() */
	uint64_t tokens;
	uint64_t bells;
	uint64_t wakes;
	uint64_t asks;      /* host_owner_dead() calls */
};
void sim_stats(struct sim_stats *ret);

/* sim_report - print all tasks and their states to standard error. */
void sim_report(const char *why);

#endif
