/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Traffic through pipes, in orders that seeds decide.
 *
 * Each seed makes a domain, a pipe with random modules, writers and readers
 * that are processes of their own, and perhaps a plumber that pushes and
 * pops while data flows, memory that is refused, signals, and death.  What
 * must hold in all of them:
 *
 *	a record arrives once, whole, and after those its writer sent before;
 *	without flushes, pops of queueing modules and deaths, all arrive;
 *	each task ends: none sleeps for ever;
 *	at the end the domain is empty.
 *
 * The seeds are the same in every run of the program unless T_SEED is given.
 * A failure names its seed; SIM_SEED=N with the case's name runs that alone.
 */
#include "fixture.h"

#define SEEDS 300 /* of each kind */
#define NWRITER 3
#define NREADER 2
#define RECORDS 24
#define REC_MAX 600

enum {
	MODE_MSG = 1,	  /* putmsg and getmsg, with bands */
	MODE_LOSSY = 2,	  /* records may be lost, never reordered */
	MODE_KILL = 4,	  /* participants die */
	MODE_SIGNAL = 8,
	MODE_MEMORY = 16, /* commits are refused now and then */
	MODE_PLUMB = 32,
};

struct record {
	uint32_t writer;
	uint32_t seq;
	uint32_t len; /* of the whole record */
	uint32_t sum;
};

static struct fx_pipe pipe_;
static unsigned mode;
static uint64_t seed_;
static unsigned nwriter, nreader;
static unsigned got[NWRITER];	    /* records that arrived */
static int last_seq[NWRITER][4];    /* by band */
static unsigned sent[NWRITER];
static unsigned writers_left;
static bool died;
static const char *crash_label; /* kill the task that passes it */
static unsigned crash_nth;

#define HERE "seed %llu mode %#x%s%s: "
#define SEED (unsigned long long)seed_, mode, \
	crash_label != NULL ? " crash at " : "", \
	crash_label != NULL ? crash_label : ""

static uint32_t
sum(const unsigned char *p, size_t n)
{
	uint32_t s = 1;

	while (n-- > 0)
		s = s * 31 + *p++;
	return s;
}

static size_t
make_record(unsigned char *buf, unsigned writer, unsigned seq)
{
	struct record r = {writer, seq, 0, 0};
	size_t n = sizeof(r) + sim_rand(sim_rand(4) == 0 ? REC_MAX -
		sizeof(r) : 32), i;

	for (i = sizeof(r); i < n; i++)
		buf[i] = (unsigned char)(seq + i * 7);
	r.len = (uint32_t)n;
	r.sum = sum(buf + sizeof(r), n - sizeof(r));
	memcpy(buf, &r, sizeof(r));
	return n;
}

static void
take_record(const unsigned char *buf, size_t n, int band)
{
	struct record r;

	if (n < sizeof(r))
		T_FAIL(HERE "a record of %zu bytes", SEED, n);
	memcpy(&r, buf, sizeof(r));
	if (r.writer >= nwriter || r.len != n)
		T_FAIL(HERE "torn: writer %u, %u of %zu bytes", SEED,
			r.writer, r.len, n);
	if (r.sum != sum(buf + sizeof(r), n - sizeof(r)))
		T_FAIL(HERE "writer %u record %u is damaged", SEED, r.writer,
			r.seq);
	if (nreader == 1 && (int)r.seq <= last_seq[r.writer][band])
		T_FAIL(HERE "writer %u record %u after %d", SEED, r.writer,
			r.seq, last_seq[r.writer][band]);
	last_seq[r.writer][band] = (int)r.seq;
	got[r.writer]++;
}

/* Is this how a call may end here? */
static bool
retry(long err)
{
	if (err == -EINTR && (mode & MODE_SIGNAL))
		return true;
	if (err == -ENOSR && (mode & MODE_MEMORY)) {
		sim_sleep(1000000);
		return true;
	}
	return false;
}

static bool
over(long err)
{
	return (mode & MODE_KILL) &&
		(err == -EPIPE || err == -EIO || err == -ENXIO);
}

/* ---------------------------------------------------------------- writers */

static void
writer(void *arg)
{
	unsigned id = (unsigned)(uintptr_t)arg, i;
	unsigned char buf[REC_MAX];

	fx_close(&pipe_, 1);
	for (i = 0; i < RECORDS; i++) {
		size_t n = make_record(buf, id, i);
		int band = (mode & MODE_MSG) ? (int)sim_rand(3) : 0;
		long r;

		do
			r = (mode & MODE_MSG) ?
				fx_putmsg(&pipe_, 0, NULL, -1, buf, (int)n,
					band, 4 /* MSG_BAND */) :
				fx_write(&pipe_, 0, buf, n);
		while (retry(r));
		if (over(r))
			break;
		if (r != ((mode & MODE_MSG) ? 0 : (long)n))
			T_FAIL(HERE "writer %u record %u: %ld", SEED, id, i,
				r);
		sent[id]++;
		if (sim_rand(8) == 0)
			sim_sleep(sim_rand(200000));
	}
	writers_left--;
	fx_close(&pipe_, 0);
}

/* ---------------------------------------------------------------- readers */

static void
read_stream(void)
{
	unsigned char buf[4 * REC_MAX];
	size_t have = 0;

	for (;;) {
		size_t want = 1 + sim_rand(sizeof(buf) - (uint32_t)have);
		long r = fx_read(&pipe_, 1, buf + have, want);
		size_t at = 0;

		if (retry(r))
			continue;
		if (r == 0 || over(r))
			break;
		if (r < 0)
			T_FAIL(HERE "read: %ld", SEED, r);
		have += (size_t)r;
		while (have - at >= sizeof(struct record)) {
			struct record rec;

			memcpy(&rec, buf + at, sizeof(rec));
			if (rec.len < sizeof(rec) || rec.len > REC_MAX)
				T_FAIL(HERE "torn record", SEED);
			if (have - at < rec.len)
				break;
			take_record(buf + at, rec.len, 0);
			at += rec.len;
		}
		memmove(buf, buf + at, have - at);
		have -= at;
	}
	if (have != 0 && !(mode & (MODE_KILL | MODE_LOSSY)))
		T_FAIL(HERE "%zu bytes at the end", SEED, have);
}

static void
read_messages(void)
{
	unsigned char buf[REC_MAX];

	for (;;) {
		struct str_strbuf d = {sizeof(buf), 0, buf};
		int band = 0, flags = 1 << 1; /* MSG_ANY */
		long r = fx_getmsg(&pipe_, 1, NULL, &d, &band, &flags);

		if (retry(r))
			continue;
		if (over(r))
			break;
		if (r != 0)
			T_FAIL(HERE "getmsg: %ld", SEED, r);
		if (d.len <= 0)
			break;
		if (band < 0 || band > 3)
			T_FAIL(HERE "band %d", SEED, band);
		take_record(buf, (size_t)d.len, band);
	}
}

static void
reader(void *arg)
{
	(void)arg;
	fx_close(&pipe_, 0);
	if (mode & MODE_MSG)
		read_messages();
	else
		read_stream();
	fx_close(&pipe_, 1);
}

/* ------------------------------------------------------------- disturbance */

static void
plumber(void *arg)
{
	static const char *const calm[] = {"nullmod", "pipemod", "testmod"};
	unsigned i;
	int end = sim_rand(2) ? 1 : 0;

	(void)arg;
	fx_close(&pipe_, !end);
	for (i = 0; i < 6 && writers_left != 0; i++) {
		const char *name = (mode & MODE_LOSSY) && sim_rand(2) ?
			"srvmod" : calm[sim_rand(3)];
		int err = fx_push_err(&pipe_, end, name);

		if (err != 0 && !retry(-err) && !over(-err))
			T_FAIL(HERE "push %s: %d", SEED, name, err);
		sim_sleep(sim_rand(300000));
		if (err == 0) {
			do
				err = fx_pop(&pipe_, end);
			while (retry(-err));
			if (err != 0 && err != EINVAL && !over(-err))
				T_FAIL(HERE "pop: %d", SEED, err);
		}
	}
	fx_close(&pipe_, end);
}

static struct sim_task *victims[NWRITER + NREADER + 1];
static unsigned nvictim;

static void
reaper(void *arg)
{
	unsigned n = 1 + sim_rand(2);

	(void)arg;
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
	while (n-- > 0) {
		sim_sleep(sim_rand(400000));
		sim_kill(victims[sim_rand(nvictim)]);
		died = true;
	}
}

static void
signaller(void *arg)
{
	unsigned n = 10;

	(void)arg;
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
	while (n-- > 0) {
		sim_sleep(sim_rand(100000));
		sim_signal(victims[sim_rand(nvictim)], sim_rand(2) != 0);
	}
}

/* ---------------------------------------------------------------- one seed */

static void
stack(void)
{
	static const char *const name[] = {
		"nullmod", "srvmod", "pipemod", "testmod", "late", "pair",
		"pairsrv",
	};
	/*
	 * SVR4 putq(D3) fails when the band cannot be allocated, and then a
	 * module that queues has nothing left to do but to drop the message.
	 */
	static const char *const calm[] = {"nullmod", "pipemod", "pair"};
	unsigned n = sim_rand(4);

	while (n-- > 0)
		(void)fx_push(&pipe_, (int)sim_rand(2), mode & MODE_MEMORY ?
			calm[sim_rand(3)] :
			name[sim_rand(STR_ARRAY_LEN(name))]);
}

static struct {
	const char *name;
	unsigned count; /* passages in one run, the most */
} label[64];
static unsigned nlabel;

static void
note_label(const char *name, void *arg)
{
	unsigned i, n = sim_crash_count(name);

	(void)arg;
	for (i = 0; i < nlabel && strcmp(label[i].name, name) != 0; i++)
		;
	if (i == nlabel) {
		if (nlabel == STR_ARRAY_LEN(label))
			T_FAIL("too many crash points");
		label[nlabel++].name = name;
		label[i].count = 0;
	}
	label[i].count = STR_MAX(label[i].count, n);
}

static void
run_seed(uint64_t seed, unsigned m)
{
	unsigned i, k;

	seed_ = seed;
	mode = m;
	died = false;
	nvictim = 0;
	memset(got, 0, sizeof(got));
	memset(sent, 0, sizeof(sent));
	for (i = 0; i < NWRITER; i++)
		for (k = 0; k < 4; k++)
			last_seq[i][k] = -1;
	fx_begin_seed(seed);
	sim_spurious(50);
	fx_pipe(&pipe_);
	stack();
	if (mode & MODE_MEMORY)
		sim_fail_rate(4);
	nwriter = 1 + sim_rand(NWRITER);
	nreader = 1;
	/* a byte stream has one reader: two would tear records */
	if (mode & MODE_MSG)
		nreader += sim_rand(NREADER);
	writers_left = nwriter;
	if (crash_label != NULL) {
		sim_crash_at(crash_label, crash_nth);
		died = true;
	}
	for (i = 0; i < nwriter; i++)
		victims[nvictim++] = sim_spawn("writer", writer,
			(void *)(uintptr_t)i);
	for (i = 0; i < nreader; i++)
		victims[nvictim++] = sim_spawn("reader", reader, NULL);
	if (mode & MODE_PLUMB)
		victims[nvictim++] = sim_spawn("plumber", plumber, NULL);
	if (mode & MODE_SIGNAL)
		(void)sim_spawn("signaller", signaller, NULL);
	if ((mode & MODE_KILL) && crash_label == NULL)
		(void)sim_spawn("reaper", reaper, NULL);
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
	if (sim_run() != 0) {
		fx_dump(&pipe_);
		T_FAIL(HERE "deadlock", SEED);
	}
	for (i = 0; i < nwriter && !died && !(mode & MODE_LOSSY); i++)
		if (got[i] != RECORDS)
			T_FAIL(HERE "writer %u sent %u, %u arrived", SEED, i,
				sent[i], got[i]);
	sim_fail_rate(0);
	sim_crash_labels(note_label, NULL);
	fx_end();
}

static uint64_t
base_seed(struct t *t)
{
	return getenv("T_SEED") != NULL ? t->seed : 1;
}

static void
run_seeds(struct t *t, unsigned m)
{
	const char *only = getenv("SIM_SEED");
	unsigned i;

	if (only != NULL) {
		run_seed(strtoull(only, NULL, 0), m);
		return;
	}
	for (i = 0; i < SEEDS; i++)
		run_seed((base_seed(t) << 20) + i, m);
}

T_CASE_TIMEOUT(bytes_arrive_once_and_in_order, 60)
{
	run_seeds(t, 0);
}

T_CASE_TIMEOUT(messages_arrive_once_and_in_order, 60)
{
	run_seeds(t, MODE_MSG);
}

T_CASE_TIMEOUT(modules_come_and_go, 60)
{
	run_seeds(t, MODE_PLUMB);
}

T_CASE_TIMEOUT(modules_come_and_go_under_messages, 60)
{
	run_seeds(t, MODE_MSG | MODE_PLUMB | MODE_LOSSY);
}

T_CASE_TIMEOUT(signals_interrupt_and_lose_nothing, 60)
{
	run_seeds(t, MODE_SIGNAL | MODE_PLUMB);
}

T_CASE_TIMEOUT(refused_memory_loses_nothing, 60)
{
	run_seeds(t, MODE_MSG | MODE_MEMORY | MODE_SIGNAL);
}

T_CASE_TIMEOUT(bytes_survive_deaths, 60)
{
	run_seeds(t, MODE_KILL | MODE_PLUMB);
}

T_CASE_TIMEOUT(messages_survive_deaths, 60)
{
	run_seeds(t, MODE_KILL | MODE_MSG | MODE_PLUMB | MODE_LOSSY);
}

/*
 * Death at each labelled crash point: runs with and without messages find
 * the points, then each is met at several of its passages.  SIM_LABEL=NAME
 * does one of them.
 */
T_CASE_TIMEOUT(death_at_every_crash_point_is_survived, 60)
{
	static const unsigned kind[] = {
		MODE_KILL | MODE_PLUMB | MODE_LOSSY,
		MODE_KILL | MODE_MSG | MODE_PLUMB | MODE_LOSSY,
	};
	const char *only = getenv("SIM_LABEL");
	unsigned i, k, known;

	if (getenv("SIM_SEED") != NULL)
		T_SKIP("needs the points of other runs");
	crash_label = "none";
	for (i = 0; i < 20; i++)
		run_seed((base_seed(t) << 20) + i, kind[i % 2]);
	known = nlabel;
	T_GT(known, 5u);
	for (i = 0; i < known; i++) {
		if (only != NULL && strcmp(only, label[i].name) != 0)
			continue;
		for (k = 0; k < 12; k++) {
			crash_label = label[i].name;
			crash_nth = 1 + (unsigned)(k * (uint64_t)
				label[i].count / 12);
			run_seed((base_seed(t) << 20) + k, kind[k % 2]);
		}
	}
}
