/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The simulated host: boxes, which outlive all tasks, as if streamsd could not
 * be killed.
 */
#include <errno.h>
#include <string.h>
#include "sim_impl.h"

/* A live box has the number from host_box_new(), and later an id too. */
static struct sim_box *
box_of(uint64_t id)
{
	unsigned i;

	for (i = 0; id != 0 && i < SIM_NBOX; i++)
		if (sim.box[i].id == id)
			return &sim.box[i];
	return NULL;
}

int
host_box_new(int *ret_fd, struct host_carrier *ret_carrier)
{
	unsigned i;

	sim_point();
	for (i = 0; i < SIM_NBOX; i++)
		if (!sim.box[i].used)
			break;
	if (i == SIM_NBOX)
		return ENFILE;
	memset(&sim.box[i], 0, sizeof(sim.box[i]));
	sim.box[i].used = true;
	memset(ret_carrier, 0, sizeof(*ret_carrier));
	*ret_fd = SIM_BOX_BASE + (int)i;
	return 0;
}

bool
sim_box_adopt(uint64_t id, int fd)
{
	if (fd < SIM_BOX_BASE || fd >= SIM_BOX_BASE + SIM_NBOX)
		return false;
	sim.box[fd - SIM_BOX_BASE].id = id;
	return true;
}

void
sim_box_gone(uint64_t id)
{
	struct sim_box *b = box_of(id);

	host_box_empty(id);
	if (b == NULL)
		return;
	b->id = 0;
	b->used = false;
}

int
host_box_ready(uint64_t box, bool kept)
{
	(void)kept;
	sim_point();
	return box_of(box) != NULL ? 0 : EIO;
}

bool
host_box_here(uint64_t box)
{
	return box_of(box) != NULL;
}

int
host_box_put(uint64_t box, int fd, const struct host_label *l)
{
	struct sim_box *b = box_of(box);

	sim_point();
	if (b == NULL)
		return EIO;
	if (b->n == SIM_NITEM)
		return EAGAIN;
	if (!sim_flight_begin(fd))
		return EBADF;
	b->label[b->n] = *l;
	b->fd[b->n++] = fd;
	sim_point();
	return 0;
}

int
host_box_look(uint64_t box, struct host_label *ret)
{
	struct sim_box *b = box_of(box);

	sim_point();
	if (b == NULL || b->n == 0)
		return b == NULL ? EIO : ENOENT;
	*ret = b->label[0];
	return 0;
}

int
host_box_dup(uint64_t box, int *ret_fd)
{
	struct sim_box *b = box_of(box);

	sim_point();
	if (b == NULL || b->n == 0)
		return b == NULL ? EIO : ENOENT;
	sim_hold(b->fd[0]);
	*ret_fd = b->fd[0];
	return 0;
}

void
host_box_drop(uint64_t box)
{
	struct sim_box *b = box_of(box);
	int fd;

	sim_point();
	if (b == NULL || b->n == 0)
		return;
	fd = b->fd[0];
	b->n--;
	memmove(b->fd, b->fd + 1, b->n * sizeof(b->fd[0]));
	memmove(b->label, b->label + 1, b->n * sizeof(b->label[0]));
	sim_flight_end(fd);
}

void
host_box_empty(uint64_t box)
{
	while (box_of(box) != NULL && box_of(box)->n != 0)
		host_box_drop(box);
}
