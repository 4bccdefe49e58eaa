/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Epoll items whose Stream changes its file of the kernel, and the ends of items
 * and instances.  epoll.c has the theory.
 */
#include "epitem.h"
#include "sys.h"

/* ---------------------------------------------------------- ends of life */

/*
 * The descriptors of @r are about to refer to another file of the kernel, which
 * then takes the carrier's place in the kernel's instances.
 */
void
ep_rec_moving(struct fd_rec *r)
{
	for (struct ep_item *it = r->items; it != NULL; it = it->rec_next)
		if (it->ep->fd >= 0 && ep_item_here(it))
			(void)sys_call4(SYS_epoll_ctl, ep_number(it->ep),
				EPOLL_CTL_DEL, it->fd, NULL);
}

void
ep_rec_moved(struct fd_rec *r)
{
	for (struct ep_item *it = r->items; it != NULL; it = it->rec_next) {
		struct epoll_event kev = ep_kernel_event(it);

		it->fresh = true;
		if (it->ep->fd >= 0 && ep_item_here(it))
			(void)sys_call4(SYS_epoll_ctl, ep_number(it->ep),
				EPOLL_CTL_ADD, it->fd, &kev);
	}
}

void
ep_rec_gone(struct fd_rec *r)
{
	while (r->items != NULL) {
		struct ep_item *it = r->items;

		/* a forked child may use the same instance */
		if (it->ep->fd >= 0 && it->forks == fd_forks())
			(void)sys_call4(SYS_epoll_ctl, ep_number(it->ep),
				EPOLL_CTL_DEL, it->fd, NULL);
		ep_item_remove(it);
	}
}

void
ep_free(struct ep *ep)
{
	for (unsigned i = 0; i < ep->cap; i++)
		if (ep->item[i] != NULL)
			ep_item_remove(ep->item[i]);
	ep_arrays_free(ep);
	if (ep_has_watch(ep))
		str_watch_free(ep->watch);
	str_store(&ep->watch, (struct str_watch *)NULL);
	ep->free_next = ep_unused;
	ep_unused = ep;
}
