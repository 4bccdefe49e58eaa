/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Ends of pipes in messages.  The receiver may be a member or outside, so such a
 * pipe does not become PLAIN.  If it is PLAIN already, a copy of the message has
 * a descriptor of the kernel's pipe in the end's place: this process's own one
 * has O_NONBLOCK.
 */
#include <errno.h>
#include <string.h>

#include "call.h"
#include "fd.h"
#include "leave.h"
#include "passed.h"
#include "plain.h"
#include "sys.h"
#include "user_impl.h"

static void
refuse(struct fd_rec *r, int fd)
{
	plain_refuse(r);
	(void)leave_end(fd, false);
}

/* The message's copy has a copy of its control part. */
static bool
have_copy(struct passed *p)
{
	if (p->m.msg_control == &p->control)
		return true;
	if (p->m.msg_controllen > sizeof p->control.room ||
		host_copyin(p->m.msg_control, p->control.room,
			p->m.msg_controllen) != 0)
		return false;
	p->m.msg_control = &p->control;
	return true;
}

/* @fd, at the offset @at of the control part, is sent. */
static void
pass(struct passed *p, int fd, size_t at)
{
	struct fd_rec *r = leave_pipe_at(fd);
	int end;

	if (r == NULL)
		return;
	if (!plain_is(r)) {
		refuse(r, fd);
		return;
	}
	end = p->n < PASS_MOST && have_copy(p) ? plain_end(r, fd) : -1;
	if (end < 0)
		return;
	p->end[p->n++] = end;
	memcpy(p->control.room + at, &end, sizeof end);
}

const struct msghdr *
pass_begin(struct passed *p, const struct msghdr *umsg)
{
	int err = errno, fd;
	struct cmsghdr h;
	const char *control;
	size_t at = 0;

	p->n = 0;
	if (host_copyin(umsg, &p->m, sizeof p->m) != 0)
		return umsg;
	control = p->m.msg_control;
	while (at + sizeof h <= p->m.msg_controllen &&
		host_copyin(control + at, &h, sizeof h) == 0 &&
		h.cmsg_len >= sizeof h &&
		h.cmsg_len <= p->m.msg_controllen - at) {
		for (size_t i = CMSG_LEN(0); h.cmsg_level == SOL_SOCKET &&
			h.cmsg_type == SCM_RIGHTS && i + sizeof fd <= h.cmsg_len;
			i += sizeof fd)
			if (host_copyin(control + at + i, &fd, sizeof fd) == 0)
				pass(p, fd, at + i);
		at += CMSG_ALIGN(h.cmsg_len);
	}
	errno = err;
	return p->n != 0 ? &p->m : umsg;
}

void
pass_end(struct passed *p)
{
	for (unsigned i = 0; i < p->n; i++)
		(void)sys_close(p->end[i]);
}

void
pass_as_it_is(const struct msghdr *umsg)
{
	struct passed p;

	if (fd_any_made())
		fd_shared();
	if (host_domain == NULL)
		return;
	(void)pass_begin(&p, umsg);
	pass_end(&p);
}
