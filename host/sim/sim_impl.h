/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Common definitions of the simulated host.
 */
#ifndef SIM_IMPL_H
#define SIM_IMPL_H

#include <ucontext.h>
#include "sim.h"

enum task_state {
	TASK_NONE,	/* slot not in use */
	TASK_READY,
	TASK_WORD,	/* host_wait() */
	TASK_CARRIER,	/* host_wait_carrier() */
	TASK_SLEEP,	/* sim_sleep(), and the daemon */
	TASK_JOIN,	/* sim_run() */
	TASK_ENDED,	/* returned from its function */
	TASK_KILLED,
};

struct sim_task {
	const char *name;
	enum task_state state;
	bool stopped;
	bool interruptible; /* a signal ends the wait */
	bool hears;	    /* the bell does, too: host_wait_notice() */
	bool daemon;	    /* is not waited for */
	bool reaped;
	uint32_t reaper;    /* tag of the task that reaps it */
	uint32_t cpu;
	void (*fn)(void *arg);
	void *arg;
	/* while it waits */
	str_a32 *word;
	uint32_t val;
	uint64_t order; /* the task that has waited longest is woken first */
	int fd;
	uint64_t deadline;
	int result; /* result of the wait */
	/* while another task runs */
	struct host_tls tls;
	ucontext_t uc;
	void *fake_stack;   /* ASAN's */
	void *fiber;	    /* TSAN's */
	unsigned char *stack;
	/* signals */
	unsigned pending;	   /* to be handled when the call allows it */
	unsigned pending_norestart;
	unsigned got[65];
	uint64_t bells;
	bool bell;
	uint64_t fuse;	   /* points left until it is killed; 0: none */
	uint64_t reap_at;
};

struct sim_box {
	bool used;
	uint64_t id; /* 0: before host_sock_adopt() */
	unsigned n;
	struct host_label label[32];
	int fd[32];
};
#define SIM_NITEM 32
#define SIM_NBOX 16
#define SIM_BOX_BASE 2000

struct sim_carrier {
	bool used;
	uint32_t kind;	  /* HOST_CARRIER_* */
	uint64_t holders; /* bit per task */
	unsigned flight;  /* how often it is in a box */
	uint64_t cookie;
	bool nameless; /* its address has been removed */
	uint64_t ino;
	unsigned n; /* tokens in its queue */
	int peer;
};

#define SIM_NCARRIER 64
#define SIM_FD_BASE 1000

struct sim {
	uint64_t seed;
	uint64_t rand;
	uint64_t now;
	uint64_t cap;
	bool running;		/* between sim_init() and sim_fini() */
	bool deadlocked;
	struct sim_task task[SIM_NTASK];
	struct sim_task *cur;
	bool kicked;		/* the daemon has work */
	uint64_t timer_at;	/* host_defer() */
	struct sim_task *streamsd; /* NULL: never started */
	bool died;		/* streamsd has work */
	bool serving;		/* it is working */
	unsigned grain, countdown;
	bool two_steps; /* sim_two_steps() */
	bool no_way;	/* sim_no_way() */
	struct sim_task *above; /* sim_above() */
	unsigned notices; /* sim_notices() */
	unsigned spurious;
	unsigned fail_nth, fail_rate;
	bool fail_forever;
	struct sim_carrier carrier[SIM_NCARRIER];
	struct sim_box box[SIM_NBOX];
	uint64_t next_cookie;
	const unsigned char *bad;
	size_t bad_len;
	const void *only;
	size_t only_len;
	struct {
		const char *label;
		unsigned count;
	} crash[64];
	const char *crash_label;
	unsigned crash_nth;
	const char *crashed; /* where a task was killed */
	struct sim_stats stats;
};
extern struct sim sim;

/* Run the executive's timers, as host_defer() promises.  Returns the time of
 * the next call; UINT64_MAX: none until the next host_defer(). */
uint64_t str_timer_run(uint64_t now);

/* Change the current task's state before; returns when it runs again. */
void sim_resched(void);
void sim_ready(struct sim_task *t, int result);
/* Have the daemon give a notice of deaths. */
void sim_notice(void);
bool sim_has_ended(const struct sim_task *t);
bool sim_reap(struct sim_task *t);
unsigned sim_index(const struct sim_task *t);
/* Carriers of a task that is gone. */
void sim_carriers_drop(struct sim_task *t);
void sim_carriers_inherit(struct sim_task *t, const struct sim_task *from);
/* Events at @t's carrier now. */
uint32_t sim_carrier_events(struct sim_task *t, int fd);
/* Descriptor @fd is put into a box, false: it is not open; it leaves a box; it
 * belongs to the current task from now on. */
bool sim_flight_begin(int fd);
void sim_flight_end(int fd);
void sim_hold(int fd);
/* host_sock_adopt() and host_sock_gone() for a box; false: @fd is not a box. */
bool sim_box_adopt(uint64_t id, int fd);
void sim_box_gone(uint64_t id);
/* A carrier changed: end the waits for its events. */
void sim_carriers_poke(void);

#endif
