/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The simulated host: carriers.
 *
 * A carrier is one end of a pair, or is single and has an address, its index.
 * It contains its number of tokens, its holders, a bit per task, and how often
 * it is in a box (box.c).  When the last of these ends, by sim_close() or by
 * the death of a task, the other end of a pair gets the hang-up.
 *
 * Descriptors are numbers of carriers, the same in every task.  A descriptor is
 * open in the tasks that hold the carrier; a task that receives a carrier which
 * it holds already still has it once.  Numbers below SIM_FD_BASE are files that
 * each task has open.
 */
#include <errno.h>
#include <string.h>
#include "sim_impl.h"

/* Tokens in a socket's queue; on a real host a pair's queue is longer. */
#define OPEN_MAX 11
#define PAIR_MAX 32

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

static bool
held(const struct sim_carrier *c)
{
	return c->holders != 0 || c->flight != 0;
}

static uint32_t
look(const struct sim_carrier *c)
{
	uint32_t ev = 0;

	if (c == NULL)
		return HOST_C_NVAL;
	if (c->n != 0)
		ev |= HOST_C_TOKEN;
	if (c->kind == HOST_CARRIER_PAIR && !held(&sim.carrier[c->peer]))
		ev |= HOST_C_HUP;
	return ev;
}

uint32_t
sim_carrier_events(struct sim_task *t, int fd)
{
	uint32_t ev = fd == -1 ? 0 : look(carrier_of(t, fd));

	return ev | (t->bell ? HOST_C_BELL : 0);
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
		if (t->state == TASK_WORD && t->hears && t->bell)
			sim_ready(t, 0);
	}
}

/*
 * If @c is not held any more, free its number; for a pair, when both are free.
 */
static void
gone(struct sim_carrier *c)
{
	if (!c->used || held(c))
		return;
	c->n = 0;
	if (c->kind == HOST_CARRIER_OPEN) {
		c->used = false;
	} else if (!held(&sim.carrier[c->peer])) {
		sim.carrier[c->peer].used = false;
		c->used = false;
	}
}

bool
sim_flight_begin(int fd)
{
	if (fd < 0 || (fd >= SIM_FD_BASE && carrier_of(sim.cur, fd) == NULL))
		return false;
	if (fd >= SIM_FD_BASE)
		sim.carrier[fd - SIM_FD_BASE].flight++;
	return true;
}

void
sim_flight_end(int fd)
{
	if (fd < SIM_FD_BASE)
		return;
	sim.carrier[fd - SIM_FD_BASE].flight--;
	gone(&sim.carrier[fd - SIM_FD_BASE]);
	sim_carriers_poke();
}

void
sim_hold(int fd)
{
	if (fd >= SIM_FD_BASE)
		sim.carrier[fd - SIM_FD_BASE].holders |= bit(sim.cur);
}

static void
drop(struct sim_task *t, struct sim_carrier *c)
{
	if ((c->holders & bit(t)) == 0)
		return;
	c->holders &= ~bit(t);
	gone(c);
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
	sim_notice();
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
	return sim.carrier[fd - SIM_FD_BASE].n;
}

uint64_t
sim_bells(const struct sim_task *t)
{
	return t->bells;
}

static void
carrier_init(int i, uint32_t kind, int peer)
{
	struct sim_carrier *c = &sim.carrier[i];

	memset(c, 0, sizeof(*c));
	c->used = true;
	c->kind = kind;
	c->holders = bit(sim.cur);
	c->cookie = sim.next_cookie++;
	c->ino = c->cookie * 7 + 1;
	c->peer = peer;
}

static void
carrier_name(const struct sim_carrier *c, struct host_carrier *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->cookie = c->cookie;
	ret->ino = c->ino;
	ret->kind = c->kind;
	if (c->kind == HOST_CARRIER_OPEN) {
		memcpy(ret->addr, &c->cookie, sizeof(ret->addr));
		ret->addrlen = sizeof(ret->addr);
	}
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
		carrier_init(end[n], HOST_CARRIER_PAIR, end[1 - n]);
		ret_fd[n] = SIM_FD_BASE + end[n];
		carrier_name(&sim.carrier[end[n]], &ret_carrier[n]);
	}
	return 0;
}

int
host_carrier_open(int oflags, int *ret_fd, struct host_carrier *ret_carrier)
{
	int i;

	(void)oflags;
	sim_point();
	for (i = 0; i < SIM_NCARRIER; i++)
		if (!sim.carrier[i].used)
			break;
	if (i == SIM_NCARRIER)
		return ENFILE;
	carrier_init(i, HOST_CARRIER_OPEN, -1);
	*ret_fd = SIM_FD_BASE + i;
	carrier_name(&sim.carrier[i], ret_carrier);
	return 0;
}

int
host_carrier_id(int fd, struct host_carrier *ret_carrier)
{
	struct sim_carrier *c = carrier_of(sim.cur, fd);

	sim_point();
	if (c == NULL)
		return EBADF;
	carrier_name(c, ret_carrier);
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
			return held(&sim.carrier[i]);
	return false;
}

/* Put a token into @c. */
static int
enqueue(struct sim_carrier *c)
{
	if (c->n >= (c->kind == HOST_CARRIER_OPEN ? OPEN_MAX : PAIR_MAX))
		return EAGAIN;
	c->n++;
	sim.stats.tokens++;
	sim_carriers_poke();
	sim_point();
	return 0;
}

/* The carrier with the address of @to; addresses are never reused. */
static struct sim_carrier *
addressee(const struct host_carrier *to)
{
	struct sim_carrier *c;
	unsigned i;

	if (to->kind != HOST_CARRIER_OPEN || to->addrlen != sizeof(to->addr))
		return NULL;
	for (i = 0; i < SIM_NCARRIER; i++) {
		c = &sim.carrier[i];
		if (c->used && !c->nameless &&
		    memcmp(to->addr, &c->cookie, sizeof(to->addr)) == 0)
			return c;
	}
	return NULL;
}

void
host_carrier_gone(const struct host_carrier *hc)
{
	struct sim_carrier *c = addressee(hc);

	sim_point();
	if (c != NULL)
		c->nameless = true;
}

int
host_carrier_send(const struct host_carrier *to)
{
	struct sim_carrier *c;

	sim_point();
	c = addressee(to);
	return c == NULL ? ECONNREFUSED : enqueue(c);
}

int
host_token_send(int fd)
{
	struct sim_carrier *c = carrier_of(sim.cur, fd);

	sim_point();
	if (c == NULL)
		return EBADF;
	if (c->kind != HOST_CARRIER_PAIR || !held(&sim.carrier[c->peer]))
		return EPIPE;
	return enqueue(&sim.carrier[c->peer]);
}

void
host_token_drain(int fd)
{
	struct sim_carrier *c = carrier_of(sim.cur, fd);

	sim_point();
	if (c != NULL)
		c->n = 0;
}

size_t
host_token_take(int fd, void *buf, size_t len)
{
	(void)buf;
	(void)len;
	host_token_drain(fd);
	return 0;
}

long
host_outside_put(int fd, const void *buf, size_t len)
{
	(void)fd;
	(void)buf;
	(void)len;
	return -ENOTSOCK;
}

size_t
host_outside_waiting(int fd)
{
	(void)fd;
	return 0;
}

bool
host_outside_unread(int fd)
{
	(void)fd;
	return false;
}

bool
host_outside_only(const struct host_carrier *c, bool in_flight)
{
	(void)c;
	(void)in_flight;
	return false;
}

bool
host_outside_room(int fd)
{
	(void)fd;
	return true;
}

int
host_plain_make(uint64_t *ret_number)
{
	(void)ret_number;
	return ENOSYS;
}

int
host_plain_open(uint64_t number, unsigned how, bool nonblock)
{
	(void)number;
	(void)how;
	(void)nonblock;
	return -ENOSYS;
}

bool
host_plain_known(uint64_t number)
{
	(void)number;
	return false;
}

bool
host_plain_find(int sock, uint64_t number)
{
	(void)sock;
	(void)number;
	return false;
}

void
host_plain_forget(uint64_t number)
{
	(void)number;
}

uint32_t
host_plain_look(int fd)
{
	(void)fd;
	return 0;
}

bool
host_plain_is(int fd, uint64_t number)
{
	(void)fd;
	(void)number;
	return false;
}

int
host_plain_keep(int fd, int end)
{
	(void)fd;
	(void)end;
	return EPIPE;
}

long
host_plain_get(int fd, void *buf, size_t len)
{
	(void)fd;
	(void)buf;
	(void)len;
	return -ENOTSOCK;
}

void
host_fd_close(int fd)
{
	sim_close(fd);
}

static void
ring(struct sim_task *t)
{
	sim.stats.bells++;
	t->bells++;
	t->bell = true;
	sim_carriers_poke();
	sim_point();
}

void
host_bell_ring(struct str_thread *s)
{
	ring(&sim.task[str_load(&s->proc)]);
}

bool
host_bell_ring_pollers(uint32_t proc)
{
	struct sim_task *t = &sim.task[proc % SIM_NTASK];

	if (sim_has_ended(t))
		return false;
	ring(t);
	return true;
}

struct host_listing *
host_listing_make(void)
{
	return NULL;
}

bool
host_listing_has(struct host_listing *l, const struct host_carrier *c)
{
	(void)l, (void)c;
	return false;
}

void
host_listing_free(struct host_listing *l)
{
	(void)l;
}
