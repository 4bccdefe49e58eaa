/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Spare carriers.
 *
 * Purpose.  Making a carrier of kind OPEN and removing it costs a socket, a
 * name in the socket directory and the removal of both: 12 us in the kernel; a
 * pair costs 7 us.  A process that closes a stream keeps its carriers under
 * hidden descriptors, a carrier of kind OPEN with its name.  The next stream of
 * the process gets them.
 *
 * Life.  A carrier is kept just before its descriptor is closed, and then waits
 * until its stream has ended, which the caller reports.  Otherwise the next
 * stream could enter a cookie into the directory that the former one has not
 * removed yet.  The ends of a pipe are kept one after the other.  Each knows
 * the other's cookie, its mate.
 *
 * Holders.  The caller keeps a carrier only if no other process can have a
 * descriptor of it.  fork(2) copies hidden descriptors: so all spares are
 * closed before it, and none is kept until it has been done.  exec(2) closes
 * them.  An end that waits for its mate would keep the pipe's hang-up from
 * another process that gets the mate: host_spare_shared() closes it.  A child
 * made by a bare system call finds `spares' wiped and uses none.
 *
 * Old senders.  A process that remembers the former stream may still send to
 * the address.  A token is superfluous then, and a descriptor has the id of its
 * receiver (pass.c).  A carrier of a pipe is kept only when it has no bytes,
 * which a process outside would read, and given only when no thread was in a
 * call on the former pipe.
 *
 * Failure.  A killed process leaves the names of its spares, which streamsd
 * removes as any others without a socket.
 *
 * Locks. `spare' of struct host_priv, inside of attach.
 */
#include <string.h>

#include "user_impl.h"

#define NSPARE (HOST_FD_SPARE_END - HOST_FD_SPARE)

static struct {
	struct host_carrier c;
	uint64_t mate; /* cookie; 0: of kind OPEN */
	bool nonblock;
	bool ready; /* its stream has ended */
} spare[NSPARE]; /* [spare] valid if its descriptor is */

static enum host_fd
which(int i)
{
	return (enum host_fd)(HOST_FD_SPARE + i);
}

/* Is @fd still the spare @i?  The program may have closed it. */
static bool
is_spare(int fd, int i)
{
	uint64_t cookie;

	return host_fd_cookie(fd, &cookie) == 0 &&
		cookie == spare[i].c.cookie;
}

/* Close spare @i, or forget it.  Locks: [spare] */
static void
drop(int i)
{
	int fd = host_fd_get(which(i));

	if (fd < 0)
		return;
	if (is_spare(fd, i))
		host_fd_drop(which(i));
	else
		host_fd_note(which(i), -1);
	host_carrier_gone(&spare[i].c);
}

/* After a fork by a bare system call the numbers are the parent's. */
static void
inherited_drop(struct host_priv *pv)
{
	if (str_load(&pv->spares) != 0)
		return;
	for (int i = 0; i < (int)NSPARE; i++)
		if (host_fd_get(which(i)) >= 0)
			host_fd_drop(which(i));
}

bool
host_spare_keep(int fd, const struct host_carrier *c, uint64_t mate,
	bool nonblock)
{
	struct host_priv *pv = host_priv_page;
	bool kept = false;

	if (mate == 0 && (c->kind != HOST_CARRIER_OPEN || c->addrlen == 0))
		return false;
	if (mate != 0 && host_outside_waiting(fd) != 0)
		return false;
	host_plock_lock(&pv->spare);
	inherited_drop(pv);
	for (int i = 0; i < (int)NSPARE && !kept; i++) {
		if (host_fd_get(which(i)) >= 0)
			continue;
		if (host_fd_copy(which(i), fd) < 0)
			break;
		spare[i].c = *c;
		spare[i].mate = mate;
		spare[i].nonblock = nonblock;
		spare[i].ready = false;
		(void)str_add(&pv->spares, 1u);
		kept = true;
	}
	host_plock_unlock(&pv->spare);
	return kept;
}

/* The spare @cookie; -1: there is none.  Locks: [spare] */
static int
find(struct host_priv *pv, uint64_t cookie)
{
	if (str_load(&pv->spares) == 0)
		return -1;
	for (int i = 0; i < (int)NSPARE; i++)
		if (spare[i].c.cookie == cookie && host_fd_get(which(i)) >= 0)
			return i;
	return -1;
}

static void
forget(struct host_priv *pv, int i)
{
	if (i < 0)
		return;
	drop(i);
	(void)str_sub(&pv->spares, 1u);
}

void
host_spare_ready(uint64_t cookie)
{
	struct host_priv *pv = host_priv_page;
	int i, m;

	host_plock_lock(&pv->spare);
	i = find(pv, cookie);
	m = i >= 0 && spare[i].mate != 0 ? find(pv, spare[i].mate) : i;
	if (m >= 0)
		spare[i].ready = spare[m].ready = true;
	else
		forget(pv, i);
	host_plock_unlock(&pv->spare);
}

void
host_spare_forget(uint64_t cookie)
{
	struct host_priv *pv = host_priv_page;

	if (str_load(&pv->spares) == 0)
		return;
	host_plock_lock(&pv->spare);
	for (int i = 0; i < (int)NSPARE && str_load(&pv->spares) != 0; i++)
		if (host_fd_get(which(i)) >= 0 &&
		    (spare[i].c.cookie == cookie || spare[i].mate == cookie))
			forget(pv, i);
	host_plock_unlock(&pv->spare);
}

void
host_spare_shared(void)
{
	struct host_priv *pv = host_priv_page;

	if (pv == NULL || str_load(&pv->spares) == 0)
		return;
	host_plock_lock(&pv->spare);
	for (int i = 0; i < (int)NSPARE && str_load(&pv->spares) != 0; i++)
		if (host_fd_get(which(i)) >= 0 && !spare[i].ready)
			forget(pv, i);
	host_plock_unlock(&pv->spare);
}

/* A descriptor of spare @i; -1: it is none any more, or no number is free. */
static int
take(int i, int oflags)
{
	int high = host_fd_get(which(i)), fd;

	if (!is_spare(high, i)) {
		drop(i);
		return -1;
	}
	fd = sys_fcntl(high, oflags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
	if (fd < 0)
		return -1; /* as socket(2) will say */
	if (spare[i].nonblock != ((oflags & O_NONBLOCK) != 0))
		(void)sys_fcntl(fd, F_SETFL, oflags & O_NONBLOCK);
	host_fd_drop(which(i));
	return fd;
}

bool
host_spare_take(int oflags, int *ret_fd, struct host_carrier *ret_c)
{
	struct host_priv *pv = host_priv_page;
	int fd = -1;

	if (str_load(&pv->spares) == 0)
		return false;
	host_plock_lock(&pv->spare);
	for (int i = 0; i < (int)NSPARE && str_load(&pv->spares) != 0 && fd < 0;
		i++) {
		if (host_fd_get(which(i)) < 0 || spare[i].mate != 0 ||
		    !spare[i].ready)
			continue;
		fd = take(i, oflags);
		if (host_fd_get(which(i)) >= 0)
			break; /* no number is free */
		(void)str_sub(&pv->spares, 1u);
		if (fd >= 0) {
			*ret_fd = fd;
			*ret_c = spare[i].c;
		}
	}
	host_plock_unlock(&pv->spare);
	return fd >= 0;
}

/*
 * The ends of the pair @i, @m.  They change places: so the pipe has another sid
 * than the former one.
 */
static bool
take_pair(struct host_priv *pv, int i, int m, int oflags, int ret_fd[2],
	struct host_carrier ret_c[2])
{
	int fd[2] = {-1, -1};

	fd[0] = take(m, oflags);
	if (fd[0] >= 0)
		fd[1] = take(i, oflags);
	(void)str_sub(&pv->spares, (uint32_t)((host_fd_get(which(i)) < 0) +
		(host_fd_get(which(m)) < 0)));
	if (fd[1] < 0) {
		if (fd[0] >= 0)
			(void)sys_close(fd[0]);
		if (host_fd_get(which(i)) >= 0)
			forget(pv, i);
		if (host_fd_get(which(m)) >= 0)
			forget(pv, m);
		return false;
	}
	memcpy(ret_fd, fd, sizeof fd);
	ret_c[0] = spare[m].c;
	ret_c[1] = spare[i].c;
	return true;
}

bool
host_spare_take_pair(int oflags, int ret_fd[2], struct host_carrier ret_c[2])
{
	struct host_priv *pv = host_priv_page;
	bool done = false;

	if (str_load(&pv->spares) == 0)
		return false;
	host_plock_lock(&pv->spare);
	for (int i = 0; i < (int)NSPARE && str_load(&pv->spares) != 0; i++) {
		if (host_fd_get(which(i)) < 0 || spare[i].mate == 0 ||
		    !spare[i].ready)
			continue;
		done = take_pair(pv, i, find(pv, spare[i].mate), oflags,
			ret_fd, ret_c);
		break;
	}
	host_plock_unlock(&pv->spare);
	return done;
}

/* host_spare_hold - close all; none is kept until host_spare_release() */
void
host_spare_hold(void)
{
	struct host_priv *pv = host_priv_page;

	host_plock_lock(&pv->spare);
	for (int i = 0; i < (int)NSPARE && str_load(&pv->spares) != 0; i++)
		drop(i);
	str_store(&pv->spares, 0u);
}

void
host_spare_release(void)
{
	host_plock_unlock(&host_priv_page->spare);
}

void
host_spare_close(void)
{
	host_spare_hold();
	host_spare_release();
}
