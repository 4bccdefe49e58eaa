/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The simulated host: carriers.
 *
 * A carrier is one end of a pair.  It counts tokens and knows its holders, a
 * bit per task; when the last bit goes, by sim_close() or by death, the
 * other end sees the hang-up.  Descriptors are numbers of carriers, the same
 * in every task; one that a task does not hold is not open in it.
 */
#include <errno.h>
#include "sim_impl.h"

/* As many as fit into a socket's queue, in small. */
#define TOKENS_MAX 32

static uint64_t
bit(const struct sim_task *t)
{
	return 1ull << sim_index(t);
}

static struct sim_carrier *
carrier_of(const struct sim_task *t, int fd)
{
	struct sim_carrier *c;

	if (fd < SIM_FD_BASE || fd >= SIM_FD_BASE + SIM_NCARRIER)
		return NULL;
	c = &sim.carrier[fd - SIM_FD_BASE];
	return c->used && (c->holders & bit(t)) != 0 ? c : NULL;
}

static uint32_t
look(const struct sim_carrier *c)
{
	uint32_t ev = 0;

	if (c == NULL)
		return HOST_C_NVAL;
	if (c->tokens != 0)
		ev |= HOST_C_TOKEN;
	if (sim.carrier[c->peer].holders == 0)
		ev |= HOST_C_HUP;
	return ev;
}

uint32_t
sim_carrier_events(struct sim_task *t, int fd)
{
	return look(carrier_of(t, fd)) | (t->bell ? HOST_C_BELL : 0);
}

void
sim_carriers_poke(void)
{
	unsigned i;

	for (i = 0; i < SIM_NTASK; i++) {
		struct sim_task *t = &sim.task[i];

		if (t->state == TASK_CARRIER &&
		    sim_carrier_events(t, t->fd) != 0)
			sim_ready(t, 0);
	}
}

static void
drop(struct sim_task *t, struct sim_carrier *c)
{
	c->holders &= ~bit(t);
	/* what nobody holds at either end is gone; its number may come again */
	if (c->holders == 0 && sim.carrier[c->peer].holders == 0) {
		sim.carrier[c->peer].used = false;
		c->used = false;
	}
}

void
sim_carriers_drop(struct sim_task *t)
{
	unsigned i;

	for (i = 0; i < SIM_NCARRIER; i++)
		if (sim.carrier[i].used)
			drop(t, &sim.carrier[i]);
	sim_carriers_poke();
}

void
sim_carriers_inherit(struct sim_task *t, const struct sim_task *from)
{
	unsigned i;

	for (i = 0; i < SIM_NCARRIER; i++)
		if (sim.carrier[i].holders & bit(from))
			sim.carrier[i].holders |= bit(t);
}

void
sim_close(int fd)
{
	struct sim_carrier *c = carrier_of(sim.cur, fd);

	if (c == NULL)
		return;
	drop(sim.cur, c);
	sim_carriers_poke();
	sim_point();
}

bool
sim_held(int fd)
{
	return carrier_of(sim.cur, fd) != NULL;
}

unsigned
sim_tokens(int fd)
{
	return sim.carrier[fd - SIM_FD_BASE].tokens;
}

uint64_t
sim_bells(const struct sim_task *t)
{
	return t->bells;
}

int
host_carrier_pair(int oflags, int ret_fd[2],
	struct host_carrier ret_carrier[2])
{
	int end[2], n = 0, i;

	(void)oflags;
	sim_point();
	for (i = 0; i < SIM_NCARRIER && n < 2; i++)
		if (!sim.carrier[i].used)
			end[n++] = i;
	if (n < 2)
		return ENFILE;
	for (n = 0; n < 2; n++) {
		struct sim_carrier *c = &sim.carrier[end[n]];

		c->used = true;
		c->holders = bit(sim.cur);
		c->cookie = sim.next_cookie++;
		c->ino = c->cookie * 7 + 1;
		c->tokens = 0;
		c->peer = end[1 - n];
		ret_fd[n] = SIM_FD_BASE + end[n];
		ret_carrier[n].cookie = c->cookie;
		ret_carrier[n].ino = c->ino;
	}
	return 0;
}

int
host_carrier_id(int fd, struct host_carrier *ret_carrier)
{
	struct sim_carrier *c = carrier_of(sim.cur, fd);

	sim_point();
	if (c == NULL)
		return EBADF;
	ret_carrier->cookie = c->cookie;
	ret_carrier->ino = c->ino;
	return 0;
}

uint32_t
host_carrier_look(int fd)
{
	sim_point();
	return look(carrier_of(sim.cur, fd));
}

bool
host_carrier_alive(const struct host_carrier *hc)
{
	unsigned i;

	sim_point();
	for (i = 0; i < SIM_NCARRIER; i++)
		if (sim.carrier[i].used &&
		    sim.carrier[i].cookie == hc->cookie)
			return sim.carrier[i].holders != 0;
	return false;
}

int
host_token_send(int fd)
{
	struct sim_carrier *c = carrier_of(sim.cur, fd), *peer;

	sim_point();
	if (c == NULL)
		return EBADF;
	peer = &sim.carrier[c->peer];
	if (peer->holders == 0)
		return EPIPE;
	if (peer->tokens >= TOKENS_MAX)
		return EAGAIN;
	peer->tokens++;
	sim.stats.tokens++;
	sim_carriers_poke();
	sim_point();
	return 0;
}

void
host_token_drain(int fd)
{
	struct sim_carrier *c = carrier_of(sim.cur, fd);

	sim_point();
	if (c != NULL)
		c->tokens = 0;
}

void
host_bell_ring(struct str_thread *s)
{
	struct sim_task *t = &sim.task[str_load(&s->proc)];

	sim.stats.bells++;
	t->bells++;
	t->bell = true;
	sim_carriers_poke();
	sim_point();
}
