/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Descriptors of PLAIN pipes.
 *
 * A process that uses an end of a PLAIN pipe adopts the kernel's pipe: all its
 * descriptors of that end refer to it from then on, so that poll(2), epoll and
 * the executive's sleeps find the kernel's events there.  The carrier stays open
 * under a hidden descriptor: it tells other members that the end has a holder,
 * and its queue keeps the kernel's pipe open (core/head/plain.c).
 *
 * A program outside the domain that is started gets a descriptor of the kernel's
 * pipe without O_NONBLOCK, a member gets the carrier.
 *
 * Locks.  The descriptor table's.
 */
#include <fcntl.h>
#include <poll.h>

#include "call.h"
#include "plain.h"
#include "sys.h"
#include "user_impl.h"

#define HIGH 1000 /* of hidden descriptors */

static struct fd_rec *first; /* [F] records with an adopted pipe */
static str_a32 count;	     /* [A] */

/* -------------------------------------------------------------- adopting */

/* A descriptor of @r's carrier, or -1. */
static int
carrier_of(struct fd_rec *r)
{
	uint64_t cookie;

	for (int fd = 0; fd <= fd_high(); fd++)
		if (fd_get(fd) == (uintptr_t)r &&
			host_fd_cookie(fd, &cookie) == 0 && cookie == r->cookie)
			return fd;
	return -1;
}

static int
hide(int fd)
{
	int high = sys_fcntl(fd, F_DUPFD_CLOEXEC, HIGH);

	return high >= 0 ? high : sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* Let the number @fd refer to the file @to, and keep its FD_CLOEXEC. */
static void
refer(int fd, int to)
{
	int flags = sys_fcntl(fd, F_GETFD, 0);

	(void)sys_call3(SYS_dup3, to, fd,
		flags >= 0 && (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
}

static void
refer_all(struct fd_rec *r, int to)
{
	for (int fd = 0; fd <= fd_high(); fd++)
		if (fd_get(fd) == (uintptr_t)r)
			refer(fd, to);
}

/* The reference may be in the queue of the other end's carrier. */
static bool
find_by_peer(struct fd_rec *r, struct str_head *sd)
{
	struct fd_rec *peer = fd_peer_rec(r);
	int sock = peer == NULL ? -1 : str_load(&peer->plain) != 0 ?
		peer->under : carrier_of(peer);

	return sock >= 0 && str_plain_find(str_head_peer(sd), sock);
}

static int
adopt(struct fd_rec *r, struct str_head *sd)
{
	int sock = carrier_of(r), under, end, err;

	if (sock < 0)
		return EBADF;
	if (!str_plain_find(sd, sock) && !find_by_peer(r, sd))
		return EIO;
	str_plain_settle(sd);
	err = str_plain_keep(sd, sock);
	if (err != 0)
		return err;
	end = str_plain_open(sd, true);
	if (end < 0)
		return -end;
	under = hide(sock);
	if (under < 0) {
		(void)sys_close(end);
		return -under;
	}
	ep_rec_moving(r);
	refer_all(r, end);
	(void)sys_close(end);
	r->under = under;
	r->made = false;
	r->plain_next = first;
	first = r;
	str_store(&r->plain, 1u);
	(void)str_add(&count, 1u);
	ep_rec_moved(r);
	return 0;
}

/* Another thread may have adopted while this one duplicated the carrier. */
void
plain_copied(struct fd_rec *r, int fd)
{
	struct str_head *sd;
	uint64_t was;
	int end = -1;

	if (str_likely(str_load(&r->plain) == 0))
		return;
	sd = fd_inside(r, &was);
	if (sd != NULL && fd != r->under && !str_plain_is(sd, fd))
		end = str_plain_open(sd, true);
	fd_outside(was);
	if (end < 0)
		return;
	refer(fd, end);
	(void)sys_close(end);
}

int
plain_adopt(struct fd_rec *r)
{
	bool mine = fd_lock_mine();
	struct str_head *sd;
	struct fd_guard g;
	uint64_t was;
	int err = 0;

	if (str_likely(str_load(&r->plain) != 0))
		return 0;
	if (!mine)
		fd_lock(&g);
	if (str_load(&r->plain) == 0) {
		sd = fd_inside(r, &was);
		err = sd != NULL ? adopt(r, sd) : EBADF;
		fd_outside(was);
	}
	if (!mine)
		fd_unlock(&g);
	return err;
}

int
host_plain_adopt(struct host_call *hc)
{
	uintptr_t v = fd_get(hc->fd);
	int err = v > FD_NOT && (v & 1) == 0 ?
		plain_adopt((struct fd_rec *)v) : EBADF;

	if (err == 0)
		hc->flags |= HOST_CALL_PLAIN;
	return err;
}

void
plain_spare(struct fd_rec *r)
{
	struct fd_rec *peer;

	if (r->obj.count == 0 || r->obj.epoll || r->spare != 0 ||
		r->no_spare || r->kind != HOST_CARRIER_PAIR ||
		str_load(&r->plain) != 0)
		return;
	peer = fd_peer_rec(r);
	if (peer != NULL && peer->spare != 0)
		r->spare = peer->spare;
	else if (host_plain_make(&r->spare) != 0)
		r->spare = 0;
	r->no_spare = r->spare == 0;
	if (peer != NULL) {
		peer->spare = r->spare;
		peer->no_spare = r->no_spare;
	}
}

/* @r does not need the kernel's pipe @number any more. */
static void
forget(struct fd_rec *r, uint64_t number)
{
	struct fd_rec *peer = fd_peer_rec(r);

	if (number != 0 && (peer == NULL || (peer->spare != number &&
		str_plain_number(peer->sd) != number)))
		host_plain_forget(number);
}

void
plain_drop(struct fd_rec *r)
{
	struct fd_rec **p;

	forget(r, r->spare);
	r->spare = 0;

	if (str_load(&r->plain) == 0)
		return;
	for (p = &first; *p != NULL; p = &(*p)->plain_next)
		if (*p == r) {
			*p = r->plain_next;
			break;
		}
	(void)str_sub(&count, 1u);
	str_store(&r->plain, 0u);
	forget(r, str_plain_number(r->sd));
	(void)sys_close(r->under);
}

uint32_t
plain_events(struct fd_rec *r, struct str_head *sd, uint32_t ev)
{
	struct pollfd pfd = {.events = POLLIN | POLLOUT};
	struct timespec none = {0, 0};

	if (plain_adopt(r) != 0)
		return ev;
	pfd.fd = fd_number(r);
	if (pfd.fd < 0 ||
		sys_call5(SYS_ppoll, &pfd, 1, &none, NULL, SYS_SIGSET) < 0)
		return ev;
	if (!str_plain_writes(sd)) {
		if (pfd.revents & POLLIN)
			ev |= STR_POLLIN | STR_POLLRDNORM;
		return pfd.revents & POLLHUP ? ev | STR_POLLHUP : ev;
	}
	ev &= ~(STR_POLLOUT | STR_POLLWRNORM);
	if (pfd.revents & POLLERR)
		ev |= STR_POLLERR | STR_POLLHUP;
	else if (pfd.revents & POLLOUT)
		ev |= STR_POLLOUT | STR_POLLWRNORM;
	return ev;
}

/* ---------------------------------------------------------------- hidden */

int
plain_hidden_from(int from)
{
	bool mine = fd_lock_mine();
	struct fd_guard g;
	int low = -1;

	low = host_plain_hidden_from(from);
	if (!mine)
		fd_lock(&g);
	for (struct fd_rec *r = first; r != NULL; r = r->plain_next)
		if (r->under >= from && (low < 0 || r->under < low))
			low = r->under;
	if (!mine)
		fd_unlock(&g);
	return low;
}

bool
plain_is_hidden(int fd)
{
	return host_plain_hidden(fd) ||
		(str_unlikely(str_load(&count) != 0) &&
			plain_hidden_from(fd) == fd);
}

void
plain_hidden_move(int fd)
{
	struct fd_guard g;
	int to;

	host_plain_hidden_move(fd);
	fd_lock(&g);
	for (struct fd_rec *r = first; r != NULL; r = r->plain_next)
		if (r->under == fd && (to = hide(fd)) >= 0) {
			(void)sys_close(fd);
			r->under = to;
		}
	fd_unlock(&g);
}

/* ---------------------------------------------------- programs, messages */

/* Make @fd's pipe PLAIN.  *ret_both: see str_plain_begin(). */
static int
begin(struct fd_rec *r, int fd, int *ret_both)
{
	struct host_call hc = {.fd = -1};
	struct fd_guard g;
	int err;

	fd_lock(&g);
	plain_spare(r);
	fd_unlock(&g);
	err = call_begin(&hc, r, fd, 0);
	if (err != 0)
		return err;
	err = str_plain_begin(hc.head, str_load(&r->plain) != 0 ? r->under :
		fd, r->spare, ret_both);
	host_leave();
	return err;
}

/* A descriptor of @r's side of the kernel's pipe for another program. */
static int
open_end(struct fd_rec *r)
{
	struct str_head *sd;
	struct fd_guard g;
	uint64_t was;
	int fd = -EBADF;

	fd_lock(&g);
	sd = fd_inside(r, &was);
	if (sd != NULL)
		fd = str_plain_open(sd, (fd_fflags(r) & O_NONBLOCK) != 0);
	fd_outside(was);
	fd_unlock(&g);
	return fd;
}

bool
plain_is(struct fd_rec *r)
{
	struct str_head *sd;
	struct fd_guard g;
	uint64_t was;
	bool yes;

	fd_lock(&g);
	sd = fd_inside(r, &was);
	yes = sd != NULL && str_head_plain(sd);
	fd_outside(was);
	fd_unlock(&g);
	return yes;
}

void
plain_refuse(struct fd_rec *r)
{
	struct str_head *sd;
	struct fd_guard g;
	uint64_t was;

	fd_lock(&g);
	sd = fd_inside(r, &was);
	if (sd != NULL)
		str_plain_refuse(sd);
	fd_outside(was);
	fd_unlock(&g);
}

bool
plain_fits(struct fd_rec *r, bool writes)
{
	struct str_head *sd;
	struct fd_guard g;
	uint64_t was;
	bool yes;

	fd_lock(&g);
	sd = fd_inside(r, &was);
	yes = sd != NULL && str_plain_writes(sd) == writes;
	fd_outside(was);
	fd_unlock(&g);
	return yes;
}

int
plain_end(struct fd_rec *r, int fd)
{
	int both, end, err = begin(r, fd, &both);

	if (err != 0)
		return -err;
	end = open_end(r);
	(void)sys_close(both);
	return end;
}

int
plain_carrier(struct fd_rec *r)
{
	struct fd_guard g;
	int fd = -1;

	if (str_likely(str_load(&r->plain) == 0))
		return -1;
	fd_lock(&g);
	if (str_load(&r->plain) != 0)
		fd = hide(r->under);
	fd_unlock(&g);
	return fd;
}

bool
plain_wanted(struct fd_rec *r)
{
	return r->dup_at == fd_forks() + 1 || plain_is(r);
}

bool
plain_give(struct fd_rec *r, int fd)
{
	int end = plain_end(r, fd);
	bool done;

	if (end < 0)
		return false;
	/* the exec may fail: then the process continues as a member */
	done = plain_adopt(r) == 0;
	if (done)
		refer(fd, end);
	(void)sys_close(end);
	return done;
}

void
plain_expose(void)
{
	struct fd_guard g;

	if (str_likely(str_load(&count) == 0))
		return;
	fd_lock(&g);
	for (struct fd_rec *r = first; r != NULL; r = r->plain_next)
		refer_all(r, r->under);
	fd_unlock(&g);
}

void
plain_recover(void)
{
	struct str_head *sd;
	struct fd_guard g;
	uint64_t was;
	int end;

	if (str_likely(str_load(&count) == 0))
		return;
	fd_lock(&g);
	for (struct fd_rec *r = first; r != NULL; r = r->plain_next) {
		sd = fd_inside(r, &was);
		end = sd != NULL ? str_plain_open(sd, true) : -1;
		fd_outside(was);
		if (end < 0)
			continue;
		ep_rec_moving(r);
		refer_all(r, end);
		ep_rec_moved(r);
		(void)sys_close(end);
	}
	fd_unlock(&g);
}
