/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Programs that posix_spawn() starts, and the pipes that they get.
 *
 * The caller keeps its descriptors.  The program gets the kernel's pipes instead
 * (plain.c): each file action that duplicates a pipe's end duplicates the
 * kernel's pipe, and an end that is inherited is replaced by a first action.
 */
#include <errno.h>
#include <string.h>

#include "call.h"
#include "leave.h"
#include "plain.h"
#include "spawned.h"
#include "sys.h"
#include "user_impl.h"

enum { SPAWN_CLOSE, SPAWN_DUP2, SPAWN_OPEN, SPAWN_CLOSEFROM = 5 };

#ifdef __GLIBC__
static const struct spawn_action *
actions(const posix_spawn_file_actions_t *fa, int *ret_n)
{
	*ret_n = fa != NULL ? fa->__used : 0;
	return fa != NULL ? (const void *)fa->__actions : NULL;
}

/* The descriptor of ours that the program gets as @fd; -1: none. */
static int
origin(const posix_spawn_file_actions_t *fa, int fd)
{
	const struct spawn_action *a;
	bool moved = false;
	int n;

	a = actions(fa, &n);
	for (int i = n; i-- > 0;) {
		if (a[i].tag == SPAWN_DUP2 && a[i].u.dup2.newfd == fd) {
			fd = a[i].u.dup2.fd;
			moved = true;
		} else if ((a[i].tag == SPAWN_CLOSE ||
				   a[i].tag == SPAWN_OPEN) && a[i].u.fd == fd) {
			return -1;
		}
	}
	return moved || leave_inherits(fd) ? fd : -1;
}

bool
spawn_closes_domain(const posix_spawn_file_actions_t *fa)
{
	const struct spawn_action *a;
	int fd = host_domain != NULL &&
				 strncmp(host_domain_path(), "fd:", 3) == 0 ?
			 host_fd_get(HOST_FD_DOMAIN) : -1, n;

	a = actions(fa, &n);
	for (int i = 0; fd >= 0 && i < n; i++)
		if ((a[i].tag == SPAWN_CLOSE && a[i].u.fd == fd) ||
		    (a[i].tag == SPAWN_CLOSEFROM && a[i].u.fd <= fd))
			return true;
	return false;
}

static bool
has_room(const posix_spawn_file_actions_t *fa)
{
	return fa == NULL || fa->__used <= SPAWN_ACTIONS - SPAWN_ENDS;
}

static int
instead_of(const struct spawn_ends *s, int fd)
{
	for (int i = 0; i < s->n; i++)
		if (s->e[i].from == fd)
			return s->e[i].end;
	return -1;
}

/* The number to which the action @a gives another file, or -1. */
static int
changes(const struct spawn_action *a)
{
	return a->tag == SPAWN_DUP2 ? a->u.dup2.newfd :
		a->tag == SPAWN_CLOSE || a->tag == SPAWN_OPEN ? a->u.fd : -1;
}

/* The actions of s->fa with the kernel's pipes in the place of ours. */
static void
replace(struct spawn_ends *s)
{
	const struct spawn_action *a;
	bool old[SPAWN_ENDS]; /* e[i].from is still ours, in the program */
	int n, k = 0;

	a = actions(s->fa, &n);
	for (int i = 0; i < s->n; i++) {
		old[i] = !leave_inherits(s->e[i].from);
		if (!old[i])
			s->action[k++] = (struct spawn_action){
				.tag = SPAWN_DUP2, .u.dup2 = {s->e[i].end,
					s->e[i].from}};
	}
	for (int i = 0; i < n; i++) {
		s->action[k] = a[i];
		for (int j = 0; j < s->n; j++) {
			if (old[j] && a[i].tag == SPAWN_DUP2 &&
				a[i].u.dup2.fd == s->e[j].from)
				s->action[k].u.dup2.fd = s->e[j].end;
			if (changes(&a[i]) == s->e[j].from)
				old[j] = false;
		}
		k++;
	}
	memset(&s->copy, 0, sizeof s->copy);
	if (s->fa != NULL)
		s->copy = *s->fa;
	s->copy.__used = s->copy.__allocated = k;
	s->copy.__actions = (void *)s->action;
	s->fa = &s->copy;
}
#else
static int
origin(const posix_spawn_file_actions_t *fa, int fd)
{
	(void)fa;
	return leave_inherits(fd) ? fd : -1;
}

bool
spawn_closes_domain(const posix_spawn_file_actions_t *fa)
{
	(void)fa;
	return false;
}

static bool
has_room(const posix_spawn_file_actions_t *fa)
{
	(void)fa;
	return false;
}

static int
instead_of(const struct spawn_ends *s, int fd)
{
	(void)s;
	(void)fd;
	return -1;
}

static void
replace(struct spawn_ends *s)
{
	(void)s;
}
#endif

/* The program gets the kernel's pipe, or a member its carrier, as @from. */
static bool
give(struct spawn_ends *s, struct fd_rec *r, int from, bool member)
{
	int end;

	if (instead_of(s, from) >= 0)
		return true;
	if (s->n == SPAWN_ENDS || !has_room(s->fa))
		return false;
	end = member ? plain_carrier(r) : plain_end(r, from);
	if (end < 0)
		return false;
	s->e[s->n].from = from;
	s->e[s->n++].end = end;
	return true;
}

/* A member finds the stream by its carrier. */
static void
give_carriers(struct spawn_ends *s, struct fd_rec *const rec[3],
	const int from[3])
{
	for (int fd = 0; fd < 3; fd++)
		if (rec[fd] != NULL)
			(void)give(s, rec[fd], from[fd], true);
	for (int fd = 3; fd <= fd_high(); fd++) {
		struct fd_rec *r = leave_pipe_at(fd);

		if (r != NULL && leave_inherits(fd))
			(void)give(s, r, fd, true);
	}
}

void
spawn_begin(struct spawn_ends *s, const char *path, bool search,
	const posix_spawn_file_actions_t *fa, char *const *envp)
{
	int err = errno, from[3];
	struct fd_rec *rec[3];
	bool any = false;

	s->fa = fa;
	s->n = 0;
	if (!fd_possible())
		return;
	for (int fd = 0; fd < 3; fd++) {
		from[fd] = origin(fa, fd);
		rec[fd] = leave_pipe_at(from[fd]);
		any = any || rec[fd] != NULL;
	}
	if (!any && !leave_any(3)) {
		errno = err;
		return;
	}
	if (!spawn_closes_domain(fa) && leave_is_member(path, search, envp)) {
		give_carriers(s, rec, from);
	} else {
		leave_directions(rec);
		for (int fd = 0; fd < 3; fd++)
			if (rec[fd] != NULL &&
					!give(s, rec[fd], from[fd], false))
				(void)leave_end(from[fd], true);
		for (int fd = 3; fd <= fd_high(); fd++) {
			struct fd_rec *r = leave_pipe_at(fd);

			if (r != NULL && leave_inherits(fd) &&
				!(plain_is(r) && give(s, r, fd, false)))
				(void)leave_end(fd, false);
		}
	}
	if (s->n != 0)
		replace(s);
	errno = err;
}

void
spawn_end(struct spawn_ends *s)
{
	for (int i = 0; i < s->n; i++)
		(void)sys_close(s->e[i].end);
}
