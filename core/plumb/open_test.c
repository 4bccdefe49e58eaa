/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Opens of what is open already: in which states it can be opened once more,
 * and what is done where there is no room.
 */
#include "../../host/sim/fixture.h"

#define O_RDONLY_ 0
#define O_WRONLY_ 1
#define O_RDWR_ 2
#define EPROTO 71

/* An open file of this task's. */
struct end {
	struct str_file *f;
	int fd;
};

/* Open minor @minor of @drv, or FIFO @minor when that is NULL. */
static int
open_as(struct end *e, const char *drv, uint32_t minor, int mode)
{
	struct host_call hc = {.fd = -1, .fflags = mode | STR_O_NONBLOCK};
	struct host_carrier c;
	int err;

	e->f = NULL;
	T_EQ(host_carrier_open(0, &e->fd, &c), 0);
	T_EQ(host_enter(&hc), 0);
	err = drv == NULL ?
		str_fifo_open(&hc, STR_FIFO_DEV, minor, hc.fflags, &c, &e->f) :
		str_dev_open(&hc, drv, minor, false, hc.fflags, &c, &e->f);
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
	struct host_call hc = {.fd = e->fd, .fflags = STR_O_NONBLOCK};
	uint32_t gen;

	if (e->f == NULL)
		return;
	gen = str_file_gen(e->f);
	T_EQ(host_enter(&hc), 0);
	sim_close(e->fd);
	str_file_released(e->f, gen, &hc);
	host_leave();
	e->f = NULL;
}

/* A driver keeps what it has made with its first stream. */
static void
begin(struct t *t)
{
	struct end e;

	fx_begin(t);
	T_EQ(open_as(&e, "echo", 5, O_RDWR_), 0);
	close_end(&e);
	T_EQ(open_as(&e, NULL, 5, O_RDWR_), 0);
	close_end(&e);
	fx_keep();
}

/* A message of @n bytes arrives at @e's head. */
static void
up(struct end *e, unsigned type, int n, int b0, int b1)
{
	struct host_call hc = {.fd = e->fd};
	struct str_head *sd = str_file_head(e->f);
	mblk_t *mp = allocb(4, BPRI_HI);

	T_NOTNULL(mp);
	mp->b_datap->db_type = (unsigned char)type;
	mp->b_rptr[0] = (unsigned char)b0;
	mp->b_rptr[1] = (unsigned char)b1;
	mp->b_wptr += n;
	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(e->f), str_file_gen(e->f)));
	T_EQ(str_claim(sd->plumb), 0);
	str_put(&sd->qp->rq, mp);
	(void)str_sched_run(sd->plumb);
	str_unclaim(sd->plumb);
	host_leave();
}

/* One more open, for reading, for writing, and for both, is @rd, @wr, @both. */
static void
is_opened(const char *drv, int rd, int wr, int both)
{
	struct end e;

	T_EQ(open_as(&e, drv, 5, O_RDONLY_), rd);
	close_end(&e);
	T_EQ(open_as(&e, drv, 5, O_WRONLY_), wr);
	close_end(&e);
	T_EQ(open_as(&e, drv, 5, O_RDWR_), both);
	close_end(&e);
}

static void
states(struct t *t, const char *drv)
{
	struct end e;

	begin(t);
	T_EQ(open_as(&e, drv, 5, O_RDWR_), 0);
	is_opened(drv, 0, 0, 0);
	up(&e, M_ERROR, 1, EPROTO, 0);
	is_opened(drv, EPROTO, EPROTO, EPROTO);
	/* the refused opens have not changed the result of later ones */
	is_opened(drv, EPROTO, EPROTO, EPROTO);
	up(&e, M_ERROR, 1, 0, 0);
	is_opened(drv, 0, 0, 0);
	up(&e, M_ERROR, 2, EPROTO, NOERROR);
	is_opened(drv, EPROTO, 0, EPROTO);
	up(&e, M_ERROR, 2, 0, EPROTO);
	is_opened(drv, 0, EPROTO, EPROTO);
	up(&e, M_ERROR, 2, EIO, EPROTO);
	is_opened(drv, EIO, EPROTO, EIO);
	up(&e, M_ERROR, 1, 0, 0);
	up(&e, M_HANGUP, 0, 0, 0);
	is_opened(drv, ENXIO, ENXIO, ENXIO);
	close_end(&e);
	/* the next first open has a new stream */
	T_EQ(open_as(&e, drv, 5, O_RDWR_), 0);
	is_opened(drv, 0, 0, 0);
	close_end(&e);
}

/* M_ERROR(9): all calls but close and poll fail with the error */
T_CASE(a_device_in_error_cannot_be_opened_once_more)
{
	states(t, "echo");
}

T_CASE(a_fifo_in_error_cannot_be_opened_once_more)
{
	states(t, NULL);
}

/* ------------------------------------------------------------------ no room */

#define FIRST 1000u /* cookies that no carrier of the host has */

static void
opens_and_dies(void *arg)
{
	struct end e[4];
	unsigned i;

	(void)arg;
	for (i = 0; i < 4; i++)
		T_EQ(open_as(&e[i], i < 2 ? "echo" : NULL, i, O_RDWR_), 0);
	sim_kill(sim_current());
}

static struct str_file some_;

static void
no_room(struct t *t, const char *drv)
{
	uint64_t c = FIRST, n;
	struct sim_stats st;
	struct end e, more;

	begin(t);
	T_EQ(open_as(&more, "echo", 7, O_RDWR_), 0);
	sim_stop(sim_streamsd()); /* it would be first */
	(void)sim_spawn("doomed", opens_and_dies, NULL);
	do {
		sim_sleep(1000);
		sim_stats(&st);
	} while (st.kills == 0);
	sim_sleep(1000);
	while (str_dir_enter(c, &some_) == 0)
		c++;
	T_EQ(open_as(&e, drv, 9, O_RDWR_), 0);
	close_end(&e);
	/* one more open takes one entry */
	while (str_dir_enter(c, &some_) == 0)
		c++;
	T_EQ(open_as(&e, drv, 9, O_RDWR_), ENOSR);
	close_end(&more);
	T_EQ(open_as(&e, drv, 9, O_RDWR_), 0);
	close_end(&e);
	for (n = FIRST; n < c; n++)
		(void)str_dir_remove(n);
	sim_cont(sim_streamsd());
}

T_CASE(a_device_is_opened_in_the_room_that_the_dead_had)
{
	no_room(t, "echo");
}

T_CASE(a_fifo_is_opened_in_the_room_that_the_dead_had)
{
	no_room(t, NULL);
}

/* ------------------------------------------- a server dies during a close */

static struct end drained_;

static void
takes_one_and_dies(void *arg)
{
	struct host_call hc = {.fd = -1};
	struct str_plumb *pl = arg;

	sim_close(drained_.fd);
	sim_sleep(20000000);
	T_EQ(host_enter(&hc), 0);
	T_EQ(str_claim(pl), 0);
	T_NOTNULL(getq(&pl->driver->wq));
	sim_kill(sim_current());
}

static void
watches_the_close(void *arg)
{
	unsigned i, n = 0;

	sim_close(drained_.fd);
	for (i = 0; i < 100; i++) {
		sim_sleep(1000000);
		if (!str_plumb_claimed_dead(arg))
			continue;
		T_TRUE(str_stream_lives(arg));
		n++;
	}
	T_NE(n, 0u);
}

/* The close does not end before its reaper has put the message back. */
T_CASE(what_a_server_held_that_died_during_a_close_is_drained)
{
	struct host_call hc = {.fd = -1, .fflags = O_RDWR_};
	struct str_plumb *pl;
	uint32_t gen;
	mblk_t *mp;

	begin(t);
	T_EQ(open_as(&drained_, "echo", 5, O_RDWR_), 0);
	pl = str_file_head(drained_.f)->plumb;
	T_EQ(host_enter(&hc), 0);
	T_EQ(str_claim(pl), 0);
	noenable(&pl->driver->wq);
	mp = allocb(1, BPRI_MED);
	T_NOTNULL(mp);
	mp->b_wptr++;
	T_EQ(putq(&pl->driver->wq, mp), 1);
	str_unclaim(pl);
	host_leave();
	sim_stop(sim_streamsd());
	(void)sim_spawn("server", takes_one_and_dies, pl);
	(void)sim_spawn("watcher", watches_the_close, pl);
	sim_sleep(1000000);
	gen = str_file_gen(drained_.f);
	hc.fd = drained_.fd;
	T_EQ(host_enter(&hc), 0);
	sim_close(drained_.fd);
	str_file_released(drained_.f, gen, &hc);
	host_leave();
	T_FALSE(str_stream_lives(pl));
	sim_cont(sim_streamsd());
	T_EQ(sim_run(), 0);
}

/* ------------------------------------------------- closed by two at once */

static struct sim_task *closer;

/* As close() does: inside the stream, which is not freed meanwhile. */
static void
close_inside(struct end *e)
{
	struct host_call hc = {.fd = e->fd, .fflags = STR_O_NONBLOCK};
	uint32_t gen = str_file_gen(e->f);

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(str_file_head(e->f), str_file_flags(e->f), gen));
	sim_close(e->fd);
	str_file_released(e->f, gen, &hc);
	host_leave();
}

static void
reader_goes(void *arg)
{
	struct end rd, wr;
	struct str_head *sd;

	(void)arg;
	T_EQ(open_as(&rd, NULL, 9, O_RDONLY_), 0);
	T_EQ(open_as(&wr, NULL, 9, O_WRONLY_), 0);
	sd = str_file_head(wr.f);
	T_EQ(str_load(&sd->flags) & STR_H_NORD, 0u);
	close_inside(&rd);
	T_EQ(str_load(&sd->flags) & STR_H_NORD, STR_H_NORD);
	close_inside(&wr);
}

static void
sweeps(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	while (!sim_ended(closer)) {
		T_EQ(host_enter(&hc), 0);
		(void)str_region_members_died();
		host_leave();
	}
}

/* The sweep of streamsd has found the reader's file without a holder first. */
T_CASE(a_close_that_a_sweep_took_part_in_counts_the_reader_off)
{
	uint64_t seed;

	for (seed = 0; seed < 600; seed++) {
		fx_begin_seed(seed);
		sim_grain(1 + (unsigned)seed % 3);
		closer = sim_spawn("closer", reader_goes, NULL);
		sweeps(NULL);
		T_EQ(sim_run(), 0);
		fx_end();
	}
}
