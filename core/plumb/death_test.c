/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Death in the midst of opening, closing, plumbing, linking and passing:
 * devices, FIFOs, multiplexors and pipes that carry descriptors.
 *
 * A *doomed* task and a survivor do the same things to the same minors.  Runs
 * in which nobody dies find out which labelled points are passed; then the
 * doomed one dies at each, at several passages.  What must hold: the
 * survivor and who comes after him get on; nobody sleeps for ever; a sweep
 * leaves nothing.
 */
#include "../../host/sim/fixture.h"

#define O_RDWR_ 2

/* An open file of the task that opened it, and of those it made. */
struct end {
	struct str_file *f;
	int fd;
	int flags; /* STR_O_NONBLOCK */
};

enum call { CALL_READ, CALL_WRITE, CALL_IOCTL };

static long
call(struct end *e, enum call what, const void *buf, size_t len)
{
	struct host_call hc = {.fd = e->fd, .fflags = O_RDWR_ | e->flags};
	struct str_head *sd = str_file_head(e->f);
	long r = -EBADF;

	T_EQ(host_enter(&hc), 0);
	if (str_head_enter(sd, str_file_flags(e->f), str_file_gen(e->f))) {
		if (what == CALL_READ)
			r = str_head_read(sd, &hc, (void *)(uintptr_t)buf, len);
		else if (what == CALL_WRITE)
			r = str_head_write(sd, &hc, buf, len);
		else
			r = str_head_ioctl(sd, &hc, (unsigned)len,
				(unsigned long)(uintptr_t)buf);
	}
	host_leave();
	return r;
}

static long
ioc(struct end *e, unsigned cmd, unsigned long arg)
{
	return call(e, CALL_IOCTL, (const void *)(uintptr_t)arg, cmd);
}

/* Open minor @minor of @drv, or FIFO @minor when that is NULL. */
static int
open_end(struct end *e, const char *drv, uint32_t minor, int flags)
{
	struct host_call hc = {.fd = -1, .fflags = O_RDWR_ | flags};
	struct host_carrier c;
	int err;

	e->f = NULL;
	e->flags = flags;
	T_EQ(host_carrier_open(0, &e->fd, &c), 0);
	T_EQ(host_enter(&hc), 0);
	err = drv == NULL ?
		str_fifo_open(&hc, STR_FIFO_DEV, minor, O_RDWR_ | flags, &c,
			&e->f) :
		str_dev_open(&hc, drv, minor, false, O_RDWR_ | flags, &c,
			&e->f);
	host_leave();
	if (err != 0) {
		e->f = NULL;
		sim_close(e->fd);
	}
	return err;
}

static void
close_end(struct end *e)
{
	struct host_call hc = {.fd = e->fd, .fflags = e->flags};

	if (e->f == NULL)
		return;
	T_EQ(host_enter(&hc), 0);
	sim_close(e->fd);
	str_file_released(e->f, &hc);
	host_leave();
	e->f = NULL;
}

/* ------------------------------------------------------------------- FIFOs */

#define S_OUTPUT_ 0x0004u
#define I_SETSIG_ 0x5309u

static struct end fifo_;
static char much[65536];

static void
waits_to_write(void *arg)
{
	struct end e = fifo_;

	(void)arg;
	e.flags = 0;
	(void)call(&e, CALL_WRITE, much, sizeof(much));
}

T_CASE(who_dies_at_a_full_fifo_whose_writers_want_signals_is_reaped)
{
	struct sim_task *w;

	fx_begin(t);
	T_EQ(open_end(&fifo_, NULL, 3, STR_O_NONBLOCK), 0);
	T_EQ(ioc(&fifo_, I_SETSIG_, S_OUTPUT_), 0);
	while (call(&fifo_, CALL_WRITE, much, sizeof(much)) > 0)
		;
	w = sim_spawn("writer", waits_to_write, NULL);
	sim_sleep(1000000);
	sim_kill(w);
	T_EQ(sim_run(), 0);
	while (call(&fifo_, CALL_READ, much, sizeof(much)) > 0)
		;
	close_end(&fifo_);
}
