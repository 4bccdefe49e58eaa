/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Watching processes by pidfd.
 *
 * Each member has an entry with the number of its slot.  A process that has
 * freed its slot still holds descriptors until it ends: so it is still watched,
 * in a second table, together with the children of members, which hold the
 * descriptors of their parents.  A child is told by its parent and by itself
 * (host_daemon_news()).
 *
 * Failure.  The sweep finds processes that have no pidfd, or for which there is
 * no room.
 */
#include <string.h>

#include "streamsd.h"

struct watch {
	uint32_t gen, pid; /* pid 0: none */
	int fd;		   /* -1: cannot be had */
	bool ended;	   /* the member has ended and is not reaped yet */
};

static struct watch member[STR_NPROC];
static struct watch other[STR_NPROC];
static unsigned nother;
static uint32_t nmember; /* slots looked at */

/* Also for a zombie: then *ret_dead. */
static int
open_pid(uint32_t pid, bool *ret_dead)
{
	int fd = (int)sys_call2(SYS_pidfd_open, pid, 0);

	*ret_dead = fd == -ESRCH;
	return fd < 0 ? -1 : fd;
}

static void
close_watch(struct watch *w)
{
	if (w->fd >= 0)
		(void)sys_close(w->fd);
	w->pid = 0;
	w->fd = -1;
}

static void
other_add(uint32_t pid, int fd)
{
	for (unsigned i = 0; i < nother; i++) {
		if (other[i].pid != pid)
			continue;
		/*
		 * keep the newer one: the pid may belong to another process by
		 * now
		 */
		close_watch(&other[i]);
		other[i] = (struct watch){ 0, pid, fd, false };
		return;
	}
	if (nother == STR_ARRAY_LEN(other)) {
		(void)sys_close(fd);
		return;
	}
	other[nother++] = (struct watch){ 0, pid, fd, false };
}

static bool ended_before; /* a child did, and no pidfd told of it */

static void
watch_child(uint32_t pid)
{
	bool dead;
	int fd;

	if (pid == (uint32_t)sys_getpid())
		return; /* it is a child of the process that started it */
	fd = open_pid(pid, &dead);
	if (fd >= 0)
		other_add(pid, fd);
	ended_before |= dead;
}

bool
watch_refresh(void)
{
	struct str_domain *d = host_domain;
	uint32_t high = STR_MIN(str_load_acq(&d->proc_high), STR_NPROC);
	uint32_t me = (uint32_t)sys_getpid();
	bool died, dead;

	host_notice_offer();
	ended_before = false;
	host_daemon_children(watch_child);
	died = ended_before;
	for (; nmember < high; nmember++)
		member[nmember] = (struct watch){ 0, 0, -1, false };
	for (uint32_t i = 0; i < high; i++) {
		struct watch *w = &member[i];
		uint32_t gen = str_load_acq(&d->proc[i].gen);
		uint32_t pid = str_load_acq(&d->proc[i].pid);

		if (w->pid == pid && w->gen == gen)
			continue;
		if (w->pid != 0 && w->fd >= 0) {
			other_add(w->pid, w->fd);
			w->fd = -1;
		}
		w->pid = 0;
		w->ended = false;
		if (pid == 0 || pid == me)
			continue;
		w->fd = open_pid(pid, &dead);
		w->pid = pid;
		w->gen = gen;
		w->ended = dead;
		died = died || dead;
	}
	return died;
}

unsigned
watch_fill(struct pollfd *pfd, unsigned n)
{
	for (uint32_t i = 0; i < nmember; i++)
		if (member[i].pid != 0 && member[i].fd >= 0)
			pfd[n++] = (struct pollfd){ member[i].fd, POLLIN, 0 };
	for (unsigned i = 0; i < nother; i++)
		pfd[n++] = (struct pollfd){ other[i].fd, POLLIN, 0 };
	return n;
}

static bool
ended(const struct pollfd *pfd, unsigned n, int fd)
{
	for (unsigned i = 0; i < n; i++)
		if (pfd[i].fd == fd)
			return pfd[i].revents != 0;
	return false;
}

bool
watch_ended(const struct pollfd *pfd, unsigned n)
{
	bool any = false;

	for (unsigned i = 0; i < n; i++)
		any = any || pfd[i].revents != 0;
	if (!any)
		return false;
	for (uint32_t i = 0; i < nmember; i++)
		if (member[i].pid != 0 && member[i].fd >= 0 &&
		    ended(pfd, n, member[i].fd)) {
			(void)sys_close(member[i].fd);
			member[i].fd = -1;
			member[i].ended = true;
		}
	for (unsigned i = 0; i < nother;) {
		if (!ended(pfd, n, other[i].fd)) {
			i++;
			continue;
		}
		close_watch(&other[i]);
		other[i] = other[--nother];
	}
	return true;
}

void
watch_reap(void)
{
	for (uint32_t i = 0; i < nmember; i++) {
		struct watch *w = &member[i];

		if (!w->ended)
			continue;
		host_reap_ended(i, w->gen, w->pid);
		*w = (struct watch){ 0, 0, -1, false };
	}
}

bool
watch_anybody(void)
{
	return nother != 0 || watch_members();
}

bool
watch_members(void)
{
	for (uint32_t i = 0; i < nmember; i++)
		if (member[i].pid != 0)
			return true;
	return false;
}

bool
watch_unseen(void)
{
	for (uint32_t i = 0; i < nmember; i++)
		if (member[i].pid != 0 && member[i].fd < 0)
			return true;
	return false;
}

bool
watch_unsure(void)
{
	for (uint32_t i = 0; i < nmember; i++)
		if (member[i].pid != 0 &&
		    (str_load(&host_domain->proc[i].flags) & STR_PROC_EXEC))
			return true;
	return false;
}
