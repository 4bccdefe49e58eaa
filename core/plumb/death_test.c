/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Death in the midst of opening, closing, plumbing, linking and passing:
 * devices, FIFOs, multiplexors and pipes that carry descriptors.
 *
 * A *doomed* task and a survivor do the same things to the same minors.  Runs
 * in which no task dies find out which labelled points are passed; then the
 * doomed one dies at each, at several passages.  What must hold: the
 * survivor and later tasks get on; no task sleeps for ever; a sweep
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

static void
opens_three(void *arg)
{
	struct end e[3];
	unsigned i;

	(void)arg;
	for (i = 0; i < 3; i++)
		T_EQ(open_end(&e[i], NULL, 3, STR_O_NONBLOCK), 0);
	sim_kill(sim_current());
}

T_CASE(who_dies_with_several_files_of_a_fifo_has_them_closed)
{
	fx_begin(t);
	(void)sim_spawn("opener", opens_three, NULL);
	T_EQ(sim_run(), 0);
	sim_sleep(1000000000);
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
	T_EQ(fx_in_use(STR_BLK_FILE), 0);
}

/* ----------------------------------------------------------- death anywhere */

#define I_LINK_ 0x530cu
#define I_UNLINK_ 0x530du
#define I_PUSH_ 0x5302u
#define I_POP_ 0x5303u
#define I_RECVFD_ 0x530eu
#define I_SENDFD_ 0x5311u
#define I_FLUSH_ 0x5305u
#define I_PLINK_ 0x5316u
#define I_PUNLINK_ 0x5317u
#define PASSAGES 4u	   /* of one label, that a task dies at */
#define PATIENT 60000u	   /* ms of virtual time, until all goes on */

static struct fx_pipe pipe_;

static void
talk(struct end *e)
{
	char buf[8];

	(void)call(e, CALL_WRITE, "text", 4);
	(void)call(e, CALL_READ, buf, sizeof(buf));
}

static void
with_modules(struct end *e)
{
	static const char srv[] = "srvmod", null[] = "nullmod";

	(void)ioc(e, I_PUSH_, (unsigned long)(uintptr_t)srv);
	(void)ioc(e, I_PUSH_, (unsigned long)(uintptr_t)null);
	talk(e);
	(void)ioc(e, I_POP_, 0);
	talk(e);
}

static void
device(void)
{
	struct end e;

	if (open_end(&e, "echo", 5, STR_O_NONBLOCK) != 0)
		return;
	with_modules(&e);
	close_end(&e);
}

static void
fifo(void)
{
	struct end e;

	if (open_end(&e, NULL, 7, STR_O_NONBLOCK) != 0)
		return;
	with_modules(&e);
	close_end(&e);
}

static void
multiplexor(const char *drv)
{
	struct end up, low = {.f = NULL};
	long id;

	if (open_end(&up, drv, 2, STR_O_NONBLOCK) != 0)
		return;
	if (open_end(&low, "echo", 9, STR_O_NONBLOCK) == 0) {
		id = ioc(&up, I_LINK_, (unsigned long)low.fd);
		if (id > 0) {
			talk(&up);
			(void)ioc(&up, I_UNLINK_, (unsigned long)id);
		}
		id = ioc(&up, I_PLINK_, (unsigned long)low.fd);
		if (id > 0)
			(void)ioc(&up, I_PUNLINK_, (unsigned long)id);
		(void)ioc(&up, I_LINK_, (unsigned long)low.fd);
		close_end(&low);
		talk(&up);
	}
	close_end(&up); /* unlinks what is linked */
}

static void
mux(void)
{
	multiplexor("mux");
}

static void
minimux(void)
{
	multiplexor("minimux");
}

static void
passing(void)
{
	struct end p[2] = {
		{str_pipe_file(pipe_.pl, 0), pipe_.fd[0], STR_O_NONBLOCK},
		{str_pipe_file(pipe_.pl, 1), pipe_.fd[1], STR_O_NONBLOCK},
	};
	struct { int fd; uint32_t uid, gid; char fill[8]; } r;
	struct host_carrier c;
	struct end e;
	int i;

	for (i = 0; i < 2; i++) {
		if (open_end(&e, "echo", 4, STR_O_NONBLOCK) == 0) {
			(void)ioc(&p[0], I_SENDFD_, (unsigned long)e.fd);
			close_end(&e);
		}
		if (i == 0 && ioc(&p[1], I_RECVFD_,
				(unsigned long)(uintptr_t)&r) == 0) {
			T_EQ(host_carrier_id(r.fd, &c), 0);
			e = (struct end){str_file_lookup(&c), r.fd,
				STR_O_NONBLOCK};
			T_NOTNULL(e.f);
			talk(&e);
			close_end(&e);
		}
	}
	/* the last one is not received: it goes with the pipe */
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
}

#define DEV_POINTS							\
	"open:opened", "open:published", "file:making", "close:begun",	\
	"close:driver", "close:down"
#define MODULE_POINTS "plumb:half", "plumb:halfout"
#define LINK_POINTS							\
	"link:carries", "link:listed", "link:entered", "link:plex",	\
	"link:on", "link:told", "link:made", "link:off", "link:under",	\
	"link:free", "link:owned", "link:unlisted", "link:mend",	\
	"unlink:going", "unlink:told"

static const struct scene {
	const char *name;
	void (*play)(void);
	const char *drv; /* what is opened afterwards; NULL: FIFO 7 */
	uint32_t minor;
	bool links;
	const char *must[24]; /* points that have to be met */
} scene[] = {
	{"device", device, "echo", 5, false, {DEV_POINTS, MODULE_POINTS}},
	{"fifo", fifo, NULL, 7, false, {"open:published", "close:begun",
		"close:down", MODULE_POINTS}},
	{"mux", mux, "mux", 2, true, {DEV_POINTS, MODULE_POINTS, LINK_POINTS}},
	{"minimux", minimux, "minimux", 2, true,
		{DEV_POINTS, MODULE_POINTS, LINK_POINTS}},
	{"passing", passing, "echo", 4, false, {DEV_POINTS, "pass:made",
		"pass:opened"}},
};

static const struct scene *now_;

static void
plays(void *arg)
{
	if (arg != NULL)
		sim_sleep(sim_rand(2000000));
	now_->play();
}

static const char *second_; /* where a task dies once one has died */

static void
waits_for_a_death(void *arg)
{
	struct sim_stats st;
	unsigned i;

	(void)arg;
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
	for (i = 0; i < 2000; i++) {
		sim_stats(&st);
		if (st.kills != 0) {
			sim_crash_at(second_, 1);
			return;
		}
		sim_sleep(100000);
	}
}

/* What the survivors see: it can be opened, used and closed as ever. */
static void
go_on(const char *label, unsigned nth)
{
	struct end e;
	char buf[8] = "";
	unsigned ms;
	long n = -1;

	for (ms = 0; open_end(&e, now_->drv, now_->minor,
			STR_O_NONBLOCK) != 0; ms++) {
		if (ms == PATIENT)
			T_FAIL("%s, %s %u: it cannot be opened", now_->name,
				label, nth);
		sim_sleep(1000000);
	}
	/* what the dead had written may come first */
	for (ms = 0; ms < PATIENT && call(&e, CALL_READ, buf, 8) >= 0; ms++)
		;
	for (ms = 0; ms < PATIENT; ms++) {
		if (n < 0)
			n = call(&e, CALL_WRITE, "sign", 4);
		if (n == 4 && call(&e, CALL_READ, buf, 4) == 4)
			break;
		sim_sleep(1000000);
	}
	if (n != 4 || memcmp(buf, "sign", 4) != 0)
		T_FAIL("%s, %s %u: write %ld, and \"%.4s\" comes back",
			now_->name, label, nth, n, buf);
	/* a persistent link whose maker died once it was made */
	if (now_->links)
		T_EQ(ioc(&e, I_PUNLINK_, (unsigned long)-1), 0);
	close_end(&e);
}

static void
nothing_left(const char *label, unsigned nth)
{
	static const struct { unsigned blk; const char *name; } kind[] = {
		{STR_BLK_PIPE, "streams"}, {STR_BLK_QPAIR, "queue pairs"},
		{STR_BLK_LINK, "links"}, {STR_BLK_PASS, "passes"},
		{STR_BLK_FILE, "files"}, {STR_BLK_MDB, "messages"},
		{STR_BLK_BUF, "buffers"}, {STR_BLK_SEG, "segments"},
	};
	struct host_call hc = {.fd = -1};
	unsigned ms, i;

	for (ms = 0; ms < PATIENT; ms += 10) {
		T_EQ(host_enter(&hc), 0);
		(void)str_region_sweep();
		host_leave();
		for (i = 0; i < STR_ARRAY_LEN(kind); i++)
			if (fx_in_use(kind[i].blk) != 0)
				break;
		if (i == STR_ARRAY_LEN(kind))
			return;
		sim_sleep(10000000);
	}
	T_FAIL("%s, %s %u: %llu %s left", now_->name, label, nth,
		(unsigned long long)fx_in_use(kind[i].blk), kind[i].name);
}

/* What a driver makes with its first stream and keeps. */
static void
warm(void)
{
	unsigned i;
	struct end e;

	for (i = 0; i < STR_ARRAY_LEN(scene); i++)
		if (scene[i].drv != NULL) {
			T_EQ(open_end(&e, scene[i].drv, scene[i].minor,
				STR_O_NONBLOCK), 0);
			close_end(&e);
		}
	nothing_left("the beginning", 0);
	fx_keep();
}

static void
run(uint64_t seed, const char *label, unsigned nth)
{
	fx_begin_seed(seed);
	warm();
	fx_pipe(&pipe_);
	if (label != NULL)
		sim_crash_at(label, nth);
	if (second_ != NULL)
		(void)sim_spawn("angel", waits_for_a_death, NULL);
	(void)sim_spawn("doomed", plays, NULL);
	(void)sim_spawn("survivor", plays, "");
	(void)sim_spawn("survivor", plays, "");
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
	if (sim_run() != 0)
		T_FAIL("%s, %s %u, seed %llu: deadlock", now_->name, label, nth,
			(unsigned long long)seed);
	go_on(label, nth);
	nothing_left(label, nth);
	if (label != NULL && strcmp(label, "plumb:half") == 0)
		/* what a module has in its open procedure is lost with the
		 * process: CAVEATS, "Pipes" */
		fx_keep();
	if (getenv("SIM_LABEL") != NULL)
		fprintf(stderr, "%s, %s %u, seed %llu\n", now_->name,
			label != NULL ? label : "-", nth,
			(unsigned long long)seed);
}

#define NLABEL 128

static struct {
	const char *name;
	unsigned count;
} label_[NLABEL];
static unsigned nlabel;

static void
note(const char *name, void *arg)
{
	unsigned i, n = sim_crash_count(name);

	(void)arg;
	for (i = 0; i < nlabel && strcmp(label_[i].name, name) != 0; i++)
		;
	if (i == nlabel) {
		T_LT(nlabel, NLABEL);
		label_[nlabel++].name = name;
		label_[i].count = 0;
	}
	label_[i].count = STR_MAX(label_[i].count, n);
}

/* Of those that concern plumbing: message queues have seeds of their own. */
static bool
is_plumbing(const char *name)
{
	static const char *const area[] = {"link:", "unlink:", "close:",
		"open:", "plumb:", "pass:", "fifo:", "file:", "ref:", "pipe:",
		"collect:", "streamsd:"};
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(area); i++)
		if (strncmp(name, area[i], strlen(area[i])) == 0)
			return true;
	return false;
}

static void
try_scene(struct t *t, const struct scene *s)
{
	const char *only = getenv("SIM_LABEL");
	uint64_t base = getenv("T_SEED") != NULL ? t->seed : 1;
	unsigned i, k, known;

	now_ = s;
	nlabel = 0;
	second_ = NULL;
	for (i = 0; i < 3; i++) {
		run((base << 20) + i, NULL, 0);
		sim_crash_labels(note, NULL);
		fx_end();
	}
	known = nlabel;
	T_GT(known, 3u);
	/* the second time round, those that a death alone leads to */
	for (i = 0; i < nlabel; i++) {
		unsigned n = STR_MIN(label_[i].count, PASSAGES);

		if (!is_plumbing(label_[i].name) ||
		    (only != NULL && strcmp(only, label_[i].name) != 0 &&
			i < known))
			continue;
		for (k = 0; k < n; k++) {
			unsigned nth = 1 + k * label_[i].count / n;

			second_ = i < known ? NULL : label_[i].name;
			run((base << 20) + k, i < known ? label_[i].name :
				"link:told", nth);
			sim_crash_labels(note, NULL);
			fx_end();
		}
	}
	second_ = NULL;
	for (k = 0; k < STR_ARRAY_LEN(s->must) && s->must[k] != NULL; k++) {
		for (i = 0; i < nlabel; i++)
			if (strcmp(label_[i].name, s->must[k]) == 0)
				break;
		if (i == nlabel)
			T_FAIL("%s: no task has passed %s", s->name, s->must[k]);
	}
}

/* --------------------------------------------------- before it is reaped */

static void
sweep_up(void)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	(void)str_region_sweep();
	host_leave();
}

/*
 * A stream belongs to dead threads.  A thread that finds it before they are
 * reaped cannot free it.  It must not prevent a later sweep from doing so.
 */
T_CASE(who_sweeps_up_before_the_dead_are_reaped_keeps_nothing)
{
	static const struct {
		const char *label;
		void (*play)(void);
	} at[] = {
		{"file:making", device}, {"open:listed", device},
		{"pipe:owned", device}, {"link:carries", mux},
		{"link:listed", mux}, {"link:owned", mux},
		{"link:unlisted", mux}, {"ref:counted", mux},
		{"ref:taken", mux}, {"pass:made", passing},
	};
	struct scene s = {.name = "early"};
	struct sim_stats st;
	unsigned i, early = 0;
	uint64_t seed;

	for (i = 0; i < STR_ARRAY_LEN(at); i++)
		for (seed = 1; seed <= 4; seed++) {
			s.play = at[i].play;
			now_ = &s;
			fx_begin_seed(seed);
			warm();
			fx_pipe(&pipe_);
			sim_stop(sim_streamsd()); /* it would be first */
			sim_crash_at(at[i].label, 1);
			(void)sim_spawn("doomed", plays, NULL);
			fx_close(&pipe_, 0);
			fx_close(&pipe_, 1);
			do {
				sim_sleep(1000);
				sim_stats(&st);
			} while (st.kills == 0);
			early += st.reaps == 0;
			sweep_up();
			sim_cont(sim_streamsd());
			nothing_left(at[i].label, 1);
			fx_end();
		}
	T_GT(early, 0u);
}

/* --------------------------------------------- a file of another stream */

static void
receives(void *arg)
{
	struct end p = {str_pipe_file(pipe_.pl, 1), pipe_.fd[1],
		STR_O_NONBLOCK};
	struct { int fd; uint32_t uid, gid; char fill[8]; } r;

	(void)arg;
	(void)ioc(&p, I_RECVFD_, (unsigned long)(uintptr_t)&r);
}

/*
 * A received descriptor is opened in another stream than that of the call.  The
 * killed task holds nothing else in that stream.
 */
T_CASE(who_dies_as_he_receives_a_descriptor_leaves_its_stream_whole)
{
	struct end p, e[3];
	int i;

	fx_begin(t);
	warm();
	fx_pipe(&pipe_);
	p = (struct end){str_pipe_file(pipe_.pl, 0), pipe_.fd[0],
		STR_O_NONBLOCK};
	T_EQ(open_end(&e[0], "echo", 4, STR_O_NONBLOCK), 0);
	T_EQ(ioc(&p, I_SENDFD_, (unsigned long)e[0].fd), 0);
	sim_crash_at("file:linked", 1);
	(void)sim_spawn("doomed", receives, NULL);
	T_EQ(sim_run(), 0);
	T_EQ(sim_crash_count("file:linked"), 1);
	sim_sleep(1000000000);
	for (i = 1; i < 3; i++)
		T_EQ(open_end(&e[i], "echo", 4, STR_O_NONBLOCK), 0);
	T_TRUE(e[1].f != e[2].f);
	talk(&e[2]);
	for (i = 0; i < 3; i++)
		close_end(&e[i]);
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
	nothing_left("file:linked", 1);
}

/* ------------------------------------------- descriptors that have to wait */

static long received_;

static void
receives_waiting(void *arg)
{
	struct end p = {str_pipe_file(pipe_.pl, 1), pipe_.fd[1],
		(int)(uintptr_t)arg};
	struct { int fd; uint32_t uid, gid; char fill[8]; } r;
	struct host_carrier c;
	struct end e;

	received_ = ioc(&p, I_RECVFD_, (unsigned long)(uintptr_t)&r);
	if (received_ != 0)
		return;
	T_EQ(host_carrier_id(r.fd, &c), 0);
	e = (struct end){str_file_lookup(&c), r.fd, STR_O_NONBLOCK};
	close_end(&e);
}

/* A descriptor of a device waits in pipe_. */
static void
is_sent(void)
{
	struct end p = {str_pipe_file(pipe_.pl, 0), pipe_.fd[0],
		STR_O_NONBLOCK};
	struct end e;

	T_EQ(open_end(&e, "echo", 4, STR_O_NONBLOCK), 0);
	T_EQ(ioc(&p, I_SENDFD_, (unsigned long)e.fd), 0);
	close_end(&e);
	received_ = 1;
}

static void
sent(struct t *t)
{
	fx_begin(t);
	warm();
	fx_pipe(&pipe_);
	is_sent();
}

/* Without memory it is an error, and nothing is lost. */
T_CASE(a_descriptor_without_memory_is_enosr_and_waits)
{
	sent(t);
	fx_use_up();
	receives_waiting(NULL);
	T_EQ(received_, -ENOSR);
	fx_give_back();
	receives_waiting(NULL);
	T_EQ(received_, 0);
}

static void
flushes_received(void *arg)
{
	struct end p = {str_pipe_file(pipe_.pl, 1), pipe_.fd[1],
		STR_O_NONBLOCK};

	sim_crash_at(arg, sim_crash_count(arg) + 1);
	(void)ioc(&p, I_FLUSH_, FLUSHR);
}

/* A flushed message releases its reference, wherever the thread dies. */
T_CASE(a_thread_dies_flushing_a_descriptor_and_its_stream_goes)
{
	static const char *const at[] = {"msg:unreferenced", "msg:unused",
		"msg:stamped", "msg:begun", "ref:taken"};
	static const struct scene flushing = {.name = "flushing"};
	unsigned i, n;

	now_ = &flushing;
	for (i = 0; i < STR_ARRAY_LEN(at); i++) {
		sent(t);
		n = sim_crash_count(at[i]);
		(void)sim_spawn("doomed", flushes_received, (void *)at[i]);
		T_EQ(sim_run(), 0);
		T_GT(sim_crash_count(at[i]), n);
		sim_sleep(1000000000);
		fx_close(&pipe_, 0);
		fx_close(&pipe_, 1);
		nothing_left(at[i], 1);
		fx_end();
	}
}

static void
find_pass(struct str_blk *b, void *arg)
{
	if (b->state == STR_BLK_PASS)
		*(struct str_pass **)arg = (struct str_pass *)(void *)b;
}

/* A stopped thread is about to take the descriptor: receivers wait for it. */
T_CASE(a_descriptor_that_a_stopped_process_takes_is_waited_for)
{
	struct str_pass *p = NULL;
	struct host_call hc = {.fd = -1};
	struct sim_task *w;

	sent(t);
	str_mem_walk(find_pass, &p);
	T_NOTNULL(p);
	T_EQ(host_enter(&hc), 0);
	str_store(&p->taken, host_self_tag());
	host_leave();
	receives_waiting((void *)(uintptr_t)STR_O_NONBLOCK);
	T_EQ(received_, -EAGAIN);
	received_ = 1;
	w = sim_spawn("receiver", receives_waiting, NULL);
	sim_sleep(1000000000);
	T_EQ(received_, 1);
	sim_signal(w, false);
	sim_sleep(1000000000);
	T_EQ(received_, -EINTR);
	received_ = 1;
	(void)sim_spawn("receiver", receives_waiting, NULL);
	sim_sleep(1000000000);
	T_EQ(received_, 1);
	str_store(&p->taken, 0u);
	sim_sleep(1000000000);
	T_EQ(received_, 0);
}

/* ---------------------------------------- descriptors that are no Streams' */

/* Carriers of no Stream serve: whether one is held can be asked. */
#define NOTHER 32
static struct {
	struct host_carrier c;
	bool sent;
	unsigned got;
} other_[NOTHER];
static unsigned nother_;

static void
sends_other(struct end *p)
{
	unsigned i = nother_++;
	int fd;

	T_LT(i, NOTHER);
	T_EQ(host_carrier_open(0, &fd, &other_[i].c), 0);
	other_[i].sent = ioc(p, I_SENDFD_, (unsigned long)fd) == 0;
	sim_close(fd);
}

static long
receives_other(struct end *p)
{
	struct { int fd; uint32_t uid, gid; char fill[8]; } r;
	struct host_carrier c;
	unsigned i;
	long err = ioc(p, I_RECVFD_, (unsigned long)(uintptr_t)&r);

	if (err != 0)
		return err;
	T_EQ(host_carrier_id(r.fd, &c), 0);
	for (i = 0; i < nother_ && other_[i].c.cookie != c.cookie; i++)
		;
	T_LT(i, nother_);
	other_[i].got++;
	sim_close(r.fd);
	return 0;
}

static void
passes_others(void *arg)
{
	struct end p[2] = {
		{str_pipe_file(pipe_.pl, 0), pipe_.fd[0], STR_O_NONBLOCK},
		{str_pipe_file(pipe_.pl, 1), pipe_.fd[1], STR_O_NONBLOCK},
	};
	unsigned i;

	if (arg != NULL)
		sim_sleep(sim_rand(2000000));
	for (i = 0; i < 3; i++) {
		sends_other(&p[0]);
		if (i != 1)
			(void)receives_other(&p[1]);
	}
}

/* The table of sockets comes with the first box, and stays. */
static void
warm_box(void)
{
	struct end p;

	warm();
	fx_pipe(&pipe_);
	p = (struct end){str_pipe_file(pipe_.pl, 0), pipe_.fd[0],
		STR_O_NONBLOCK};
	sends_other(&p);
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
	nothing_left("the first box", 0);
	T_FALSE(host_carrier_alive(&other_[0].c));
	fx_keep();
}

/* One run, in which the doomed task dies at passage @nth of @label.  Return:
 * false: no task has come there so often. */
static bool
pass_others(uint64_t seed, const char *label, unsigned nth)
{
	struct end p;
	struct sim_stats st;
	unsigned i, k, lost = 0;

	fx_begin_seed(seed);
	nother_ = 0;
	warm_box();
	fx_pipe(&pipe_);
	p = (struct end){str_pipe_file(pipe_.pl, 1), pipe_.fd[1],
		STR_O_NONBLOCK};
	memset(other_, 0, sizeof(other_));
	nother_ = 0;
	sim_crash_at(label, nth);
	(void)sim_spawn("doomed", passes_others, NULL);
	for (i = 0; i < 3; i++)
		(void)sim_spawn("survivor", passes_others, "");
	if (sim_run() != 0)
		T_FAIL("%s %u, seed %llu: deadlock", label, nth,
			(unsigned long long)seed);
	sim_stats(&st);
	/* what waits; the taker that died may have to be reaped */
	for (k = 0; k < 2; k++) {
		while (receives_other(&p) == 0)
			;
		sim_sleep(1000000000);
	}
	for (i = 0; i < nother_; i++) {
		if (other_[i].got > 1)
			T_FAIL("%s %u, seed %llu: one came twice", label, nth,
				(unsigned long long)seed);
		lost += other_[i].sent && other_[i].got == 0;
	}
	/* the one that it was about to receive */
	if (lost > (st.kills != 0 && strcmp(label, "pass:received") == 0))
		T_FAIL("%s %u, seed %llu: %u lost", label, nth,
			(unsigned long long)seed, lost);
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
	nothing_left(label, nth);
	for (i = 0; i < nother_; i++)
		if (host_carrier_alive(&other_[i].c))
			T_FAIL("%s %u, seed %llu: one is still open", label,
				nth, (unsigned long long)seed);
	fx_end();
	return st.kills != 0;
}

T_CASE_TIMEOUT(death_between_a_descriptor_and_its_message, 60)
{
	static const char *const label[] = {
		"pass:laid", "pass:sent", "pass:taken", "pass:received",
		"box:made", "ksock:alive", "ksock:adopted",
	};
	unsigned i, nth, died;
	uint64_t seed;

	for (i = 0; i < STR_ARRAY_LEN(label); i++) {
		died = 0;
		for (seed = 1; seed <= 5; seed++)
			for (nth = 1; nth <= 8; nth++)
				died += pass_others(seed, label[i], nth);
		if (died == 0)
			T_FAIL("no task has passed %s", label[i]);
	}
}

/* ---------------------------------------------------------- the scenes */

T_CASE_TIMEOUT(death_with_a_device, 60)
{
	try_scene(t, &scene[0]);
}

T_CASE_TIMEOUT(death_with_a_fifo, 60)
{
	try_scene(t, &scene[1]);
}

T_CASE_TIMEOUT(death_with_a_mux, 60)
{
	try_scene(t, &scene[2]);
}

T_CASE_TIMEOUT(death_with_a_minimux, 60)
{
	try_scene(t, &scene[3]);
}

T_CASE_TIMEOUT(death_with_a_passed_descriptor, 60)
{
	try_scene(t, &scene[4]);
}
