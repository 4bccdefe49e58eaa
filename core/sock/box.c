/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Boxes, in which passed descriptors that are not a Stream's wait for their
 * receiver.
 *
 * Object.  A head gets a box when the first such descriptor is sent to it.  The
 * box is a socket of the domain (ksock.c) that keeps descriptors in the order
 * in which they were put in (host_box_put).  Every process that holds the head,
 * now or later, finds the box by its id, and streamsd keeps the box.  So
 * descriptors can be sent to an end that no process has open: one that has a
 * name, or waits in an M_PASSFP message.
 *
 * Order.  The sender puts the descriptor and its message under `boxlock', so
 * that descriptors are in the order of their messages.  The label of a
 * descriptor leads to its message.  A descriptor is discarded only if its
 * message has been freed, or received.
 *
 * End.  A box ends with its head: when the end of the pipe is closed, or with
 * the stream.  The descriptors in it are closed then.
 *
 * Loss.  When streamsd and all processes that have used the box are killed
 * together, the kernel closes the descriptors in it.  Then the receiver gets
 * EIO.  As long as a process has the box, the kernel reports that the socket
 * exists (str_box_held).  Then the receiver waits until streamsd has got the
 * box again, or takes a duplicate from that process without its help.
 *
 * Crash.  A sender that is killed with the lock leaves a descriptor without a
 * message, which the next caller of str_box_first() closes.
 */
#include "table.h"

/* A crash before the caller has stored its id leaves an unused box, until the
 * stream ends. */
static int
box_new(struct str_plumb *home, uint64_t *ret_id)
{
	struct str_ksock *ks = str_ksock_take();
	struct host_carrier c;
	int fd, err;

	if (ks == NULL)
		return ENOSR;
	err = host_box_new(&fd, &c);
	if (err == 0) {
		ks->box.ino = (uint32_t)c.ino;
		ks->box.cookie[0] = (uint32_t)c.cookie;
		ks->box.cookie[1] = (uint32_t)(c.cookie >> 32);
		str_ksock_settle(ks, fd, home, KF_BOX);
		*ret_id = id_of(ks);
	}
	str_store_rel(&ks->owner, 0u);
	return err;
}

bool
str_box_carrier(uint64_t id, struct host_carrier *ret)
{
	struct str_ksock *ks = str_ksock_at(id);

	if (ks == NULL || ks->box.ino == 0)
		return false;
	*ret = (struct host_carrier){.kind = HOST_CARRIER_PAIR};
	ret->ino = ks->box.ino;
	ret->cookie = (uint64_t)ks->box.cookie[1] << 32 | ks->box.cookie[0];
	return str_ksock_at(id) != NULL;
}

bool
str_box_held(uint64_t id)
{
	struct host_carrier c;

	return str_box_carrier(id, &c) && host_carrier_alive(&c) &&
		str_ksock_at(id) != NULL;
}

static void
box_end(uint64_t id)
{
	ksock_close(str_ksock_at(id), 0);
}

/*
 * str_box_of - the box of @to.  This process gets a descriptor of it, and so
 * does streamsd, so that the box lasts while no receiver has one.
 * Return: 0; EAGAIN: no memory, no free descriptor, no streamsd, another sender
 * has just made the box, or a process that has it has not passed it to streamsd
 * yet.
 */
int
str_box_of(struct str_head *to, uint64_t *ret_box)
{
	uint64_t box = str_load(&to->box), fresh;
	bool keeper = host_daemon() == 0;
	int err;

	if (box != 0 && str_sock_live(box)) {
		*ret_box = box;
		err = host_box_ready(box, keeper);
		if (err != EIO || str_box_held(box))
			return err == 0 ? 0 : EAGAIN;
	}
	if (!keeper || box_new(to->plumb, &fresh) != 0)
		return EAGAIN;
	STR_CRASH_POINT("box:made");
	err = host_box_ready(fresh, true);
	if (err != 0 || !str_cas(&to->box, box, fresh)) {
		box_end(fresh);
		return EAGAIN;
	}
	str_stream_odd();
	*ret_box = fresh;
	if (box != 0)
		box_end(box);
	return 0;
}

/*
 * Does @l, in the box of @sd, belong to a message that can still be received?
 */
static bool
is_wanted(struct str_head *sd, const struct host_label *l)
{
	struct str_pass *p = (struct str_pass *)(uintptr_t)l->pass;

	return str_mem_valid(p) && str_load(&p->blk.state) == STR_BLK_PASS &&
		p->id == l->id && p->at == sd && str_load(&p->taken) != 1;
}

static void
box_drop(struct str_head *sd, uint64_t box)
{
	host_box_drop(box);
	if (str_load(&sd->npass) != 0)
		(void)str_sub(&sd->npass, 1u);
}

/*
 * str_box_first - close the first descriptors as long as they have no message
 * The caller has the lock.
 * Return: the number of the first descriptor with a message; 0: there is none.
 */
uint64_t
str_box_first(struct str_head *sd, uint64_t box)
{
	struct host_label l;

	while (host_box_look(box, &l) == 0) {
		if (is_wanted(sd, &l))
			return l.id;
		box_drop(sd, box);
	}
	return 0;
}

/*
 * str_box_tidy - close descriptors whose messages were flushed, or were never
 * put, if they are the first ones
 * Context: called by streamsd; other processes have the box only if they use
 * it.
 */
void
str_box_tidy(struct str_head *sd)
{
	uint64_t box = str_load(&sd->box);

	if (box == 0 || !str_sock_live(box))
		return;
	if (!str_trylock(&sd->boxlock)) {
		/* do not wait for a stopped process */
		if (!host_owner_dead(str_load(&sd->boxlock.owner)))
			return;
		(void)str_lock(&sd->boxlock);
	}
	if (host_box_here(box) && str_box_first(sd, box) == 0)
		str_store(&sd->npass, 0u);
	str_unlock(&sd->boxlock);
}

/*
 * str_box_end - @sd, which is marked as closed, receives no more descriptors
 * A sender that puts a descriptor at this moment finds the mark afterwards.
 */
void
str_box_end(struct str_head *sd)
{
	uint64_t box = str_xchg(&sd->box, (uint64_t)0);

	if (box != 0)
		box_end(box);
}
