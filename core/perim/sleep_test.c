/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Open and close procedures that sleep: each primitive of the DDI, in a module
 * of each kind of perimeter, ended by each procedure that can end it.
 */
#include "fixture.h"
#include <sys/ddi.h>
#include <sys/kmem.h>
#include <sys/ksynch.h>
#include <sys/sleep.h>

static struct fx_pipe pipe_, other_;

/* The module's static data. */
static struct {
	unsigned is_open;  /* instances */
	bool asleep, awake;
	bool ready;	   /* what the sleeper waits for */
	ksema_t sema;
	kmutex_t mutex;
	kcondvar_t cv;
	lock_t *lock;
	sv_t *sv;
	sleep_t *slock;
	bcid_t bufcall;
} m;

/* ------------------------------------------------------------- primitives */

static void
by_sema_p(void)
{
	sema_p(&m.sema);
}

static void
by_sema_p_sig(void)
{
	T_EQ(sema_p_sig(&m.sema), 0);
}

static void
by_cv_wait(void)
{
	mutex_enter(&m.mutex);
	while (!m.ready)
		cv_wait(&m.cv, &m.mutex);
	mutex_exit(&m.mutex);
}

static void
by_cv_wait_sig(void)
{
	mutex_enter(&m.mutex);
	while (!m.ready)
		T_GT(cv_wait_sig(&m.cv, &m.mutex), 0);
	mutex_exit(&m.mutex);
}

static void
by_cv_timedwait(void)
{
	mutex_enter(&m.mutex);
	while (!m.ready)
		(void)cv_reltimedwait(&m.cv, &m.mutex, 20, TR_CLOCK_TICK);
	mutex_exit(&m.mutex);
}

static void
by_sv_wait(void)
{
	for (;;) {
		(void)LOCK(m.lock, plstr);
		if (m.ready)
			break;
		SV_WAIT(m.sv, primed, m.lock);
	}
	UNLOCK(m.lock, plbase);
}

static void
by_sv_wait_sig(void)
{
	for (;;) {
		(void)LOCK(m.lock, plstr);
		if (m.ready)
			break;
		T_EQ(SV_WAIT_SIG(m.sv, primed, m.lock), TRUE);
	}
	UNLOCK(m.lock, plbase);
}

/* Another thread has the lock; wake() releases it. */
static void
by_sleep_lock(void)
{
	SLEEP_LOCK(m.slock, primed);
	SLEEP_UNLOCK(m.slock);
}

static void
by_sleep(void)
{
	while (!m.ready)
		T_EQ(str_ddi_sleep(&m, PZERO), 0);
}

static void
by_mpsleep(void)
{
	while (!m.ready)
		T_EQ(streams_mpsleep(&m, PZERO, NULL, 0, NULL, 0), 0);
}

static void
by_delay(void)
{
	while (!m.ready)
		delay(5);
}

static const struct {
	const char *label;
	void (*wait)(void);
} prim[] = {
	{"sema_p", by_sema_p},
	{"sema_p_sig", by_sema_p_sig},
	{"cv_wait", by_cv_wait},
	{"cv_wait_sig", by_cv_wait_sig},
	{"cv_reltimedwait", by_cv_timedwait},
	{"SV_WAIT", by_sv_wait},
	{"SV_WAIT_SIG", by_sv_wait_sig},
	{"SLEEP_LOCK", by_sleep_lock},
	{"sleep", by_sleep},
	{"mpsleep", by_mpsleep},
	{"delay", by_delay},
};

static void
wake(void)
{
	mutex_enter(&m.mutex);
	(void)LOCK(m.lock, plstr);
	m.ready = true;
	UNLOCK(m.lock, plbase);
	mutex_exit(&m.mutex);
	sema_v(&m.sema);
	cv_broadcast(&m.cv);
	SV_BROADCAST(m.sv, 0);
	if (!SLEEP_LOCKAVAIL(m.slock))
		SLEEP_UNLOCK(m.slock);
	str_ddi_wakeup(&m);
}

/* ----------------------------------------------------------------- wakers */

enum waker { BY_TIMEOUT, BY_BUFCALL, BY_PUT, BY_SERVICE, BY_OPEN, NWAKER };

static const char *const waker_name[] = {
	"timeout", "bufcall", "put", "service", "open",
};

static unsigned now_prim, now_flag;
static enum waker now_waker;
static bool in_close;

static void
on_timeout(void *arg)
{
	(void)arg;
	wake();
}

static void
on_bufcall(long arg)
{
	(void)arg;
	wake();
}

/* The lock of by_sleep_lock is in the hands of a thread that has gone on. */
static void
takes_slock(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	SLEEP_LOCK(m.slock, primed);
	host_leave();
	sim_pause((str_a32 *)(void *)&m.slock->l_owner,
		str_load(&m.slock->l_owner));
}

static void
wait_here(void)
{
	if (now_waker == BY_TIMEOUT)
		T_NE(timeout(on_timeout, NULL, 3), 0);
	if (now_waker == BY_BUFCALL)
		T_NE((m.bufcall = bufcall(64, BPRI_MED, on_bufcall, 0)), 0);
	m.asleep = true;
	prim[now_prim].wait();
	T_TRUE(m.ready);
	m.awake = true;
}

static int
nap_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag, (void)crp;
	qprocson(q);
	if (m.is_open++ == 0) {
		if (!in_close)
			wait_here();
	} else if (now_waker == BY_OPEN) {
		wake();
	}
	return 0;
}

static int
nap_close(queue_t *q, int flag, cred_t *crp)
{
	(void)flag, (void)crp;
	if (in_close && !m.awake)
		wait_here();
	qprocsoff(q);
	return 0;
}

static int
nap_put(queue_t *q, mblk_t *mp)
{
	if (mp->b_datap->db_type != M_DATA || !m.asleep || m.awake) {
		putnext(q, mp);
	} else if (now_waker == BY_SERVICE) {
		(void)putq(q, mp);
	} else {
		freemsg(mp);
		wake();
	}
	return 0;
}

static int
nap_srv(queue_t *q)
{
	mblk_t *mp;

	while ((mp = getq(q)) != NULL) {
		freemsg(mp);
		wake();
	}
	return 0;
}

static struct module_info nap_info = {
	.mi_idnum = 78, .mi_idname = "nap", .mi_maxpsz = INFPSZ,
	.mi_hiwat = 4096, .mi_lowat = 1024,
};
static struct qinit nap_r = {
	.qi_putp = nap_put, .qi_srvp = nap_srv, .qi_qopen = nap_open,
	.qi_qclose = nap_close, .qi_minfo = &nap_info,
};
static struct qinit nap_w = {
	.qi_putp = nap_put, .qi_srvp = nap_srv, .qi_minfo = &nap_info,
};
static struct streamtab nap_tab = {.st_rdinit = &nap_r, .st_wrinit = &nap_w};

/* ------------------------------------------------------------- the matrix */

static void
plumbs(void *arg)
{
	(void)arg;
	if (in_close)
		T_EQ(fx_pop(&pipe_, 0), 0);
	else
		T_EQ(fx_push_err(&pipe_, 0, "nap"), 0);
}

static void
makes_data(void)
{
	m.lock = LOCK_ALLOC(1, plstr, NULL, KM_SLEEP);
	m.sv = SV_ALLOC(KM_SLEEP);
	m.slock = SLEEP_ALLOC(0, NULL, KM_SLEEP);
	T_NOTNULL(m.slock);
	sema_init(&m.sema, 0, NULL, SEMA_DRIVER, NULL);
	mutex_init(&m.mutex, NULL, MUTEX_DRIVER, NULL);
	cv_init(&m.cv, NULL, CV_DRIVER, NULL);
}

static void
frees_data(void)
{
	LOCK_DEALLOC(m.lock);
	SV_DEALLOC(m.sv);
	SLEEP_DEALLOC(m.slock);
}

static void
one(uint64_t seed, unsigned flag)
{
	fx_begin_seed(seed);
	fx_module("nap", &nap_tab, flag);
	m.is_open = 0;
	m.asleep = m.awake = m.ready = false;
	str_ddi_wakeup(&m); /* makes the table of events */
	fx_keep();
	makes_data();
	(void)sim_spawn("locker", takes_slock, NULL);
	sim_sleep(1000000);
	fx_pipe(&pipe_);
	fx_pipe(&other_);
	if (in_close)
		T_EQ(fx_push_err(&pipe_, 0, "nap"), 0);
	(void)sim_spawn("plumber", plumbs, NULL);
	sim_sleep(5000000);
	T_TRUE(m.asleep);
	if (now_waker == BY_PUT || now_waker == BY_SERVICE)
		T_EQ(fx_write(&pipe_, 1, "go", 2), 2);
	if (now_waker == BY_OPEN)
		T_EQ(fx_push_err(&other_, 0, "nap"), 0);
	sim_sleep(3000000000u);
	if (!m.awake)
		printf("# %s in %s, flags %#x: not woken by %s\n",
			prim[now_prim].label, in_close ? "close" : "open", flag,
			waker_name[now_waker]);
	T_TRUE(m.awake);
	(void)host_wake((str_a32 *)(void *)&m.slock->l_owner, 1);
	T_EQ(sim_run(), 0);
	frees_data();
	fx_end();
}

static void
matrix(uint64_t seed)
{
	static const unsigned flag[] = {
		0, D_MTPERMOD, D_MTQPAIR, D_MTPERQ, D_MP,
		D_MTQPAIR | D_MTOUTPERIM,
		D_MTQPAIR | D_MTOUTPERIM | D_MTOCEXCL,
	};

	for (now_prim = 0; now_prim < STR_ARRAY_LEN(prim); now_prim++)
		for (now_flag = 0; now_flag < STR_ARRAY_LEN(flag); now_flag++)
			for (now_waker = 0; now_waker < NWAKER; now_waker++)
				one(seed++, flag[now_flag]);
}

T_CASE(an_open_that_sleeps_is_woken_by_every_procedure)
{
	in_close = false;
	matrix(t->seed);
}

T_CASE(a_close_that_sleeps_is_woken_by_every_procedure)
{
	in_close = true;
	matrix(t->seed);
}

/*
 * The thread holds another lock of the module: it stays inside, or a thread
 * inside could wait for that lock for ever.
 */
static void
opens_other(void *arg)
{
	(void)arg;
	T_EQ(fx_push_err(&other_, 0, "nap"), 0);
}

static kmutex_t second;

static int
keeps_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag, (void)crp;
	qprocson(q);
	mutex_enter(&second);
	m.is_open++;
	if (m.is_open == 1) {
		delay(5);
		T_EQ(m.is_open, 1u);
	}
	mutex_exit(&second);
	return 0;
}

static struct qinit keeps_r = {
	.qi_putp = nap_put, .qi_qopen = keeps_open, .qi_qclose = nap_close,
	.qi_minfo = &nap_info,
};
static struct streamtab keeps_tab = {
	.st_rdinit = &keeps_r, .st_wrinit = &nap_w,
};

T_CASE(an_open_that_sleeps_with_a_lock_stays_inside)
{
	fx_begin(t);
	in_close = false;
	fx_module("nap", &keeps_tab, 0);
	m.is_open = 0;
	m.asleep = false;
	m.awake = true;
	mutex_init(&second, NULL, MUTEX_DRIVER, NULL);
	fx_pipe(&pipe_);
	fx_pipe(&other_);
	(void)sim_spawn("plumber", plumbs, NULL);
	(void)sim_spawn("other", opens_other, NULL);
	T_EQ(sim_run(), 0);
	T_EQ(m.is_open, 2u);
}

/*
 * Two opens want a semaphore, one of them with a mutex: it stays inside, and what
 * it waits for is not taken by a thread that waits for the perimeter.
 */
static bool with_mutex;

static int
both_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	bool mine = with_mutex;

	(void)devp, (void)flag, (void)sflag, (void)crp;
	qprocson(q);
	with_mutex = true;
	if (mine)
		mutex_enter(&second);
	sema_p(&m.sema);
	m.is_open++;
	sema_v(&m.sema);
	if (mine)
		mutex_exit(&second);
	return 0;
}

static struct qinit both_r = {
	.qi_putp = nap_put, .qi_qopen = both_open, .qi_qclose = nap_close,
	.qi_minfo = &nap_info,
};
static struct streamtab both_tab = {
	.st_rdinit = &both_r, .st_wrinit = &nap_w,
};

T_CASE(an_open_takes_no_semaphore_before_it_is_inside_again)
{
	uint64_t seed;

	for (seed = t->seed; seed < t->seed + 20; seed++) {
		fx_begin_seed(seed);
		in_close = false;
		fx_module("nap", &both_tab, 0);
		m.is_open = 0;
		m.asleep = false;
		m.awake = true;
		with_mutex = false;
		mutex_init(&second, NULL, MUTEX_DRIVER, NULL);
		sema_init(&m.sema, 0, NULL, SEMA_DRIVER, NULL);
		fx_pipe(&pipe_);
		fx_pipe(&other_);
		(void)sim_spawn("plumber", plumbs, NULL);
		sim_sleep(1000000);
		(void)sim_spawn("other", opens_other, NULL);
		sim_sleep(1000000);
		sema_v(&m.sema);
		sim_sleep(5000000000u);
		T_EQ(m.is_open, 2u);
		T_EQ(sim_run(), 0);
		fx_end();
	}
}

/* --------------------------------------------- the time of streams_mpsleep() */

static int slept_;
static uint64_t slept_ns_;
static bool released_;

static void
mpsleeps(void *arg)
{
	struct host_call hc = {.fd = -1};
	uint64_t begin;

	T_EQ(host_enter(&hc), 0);
	begin = host_now();
	(void)LOCK(m.lock, plstr);
	slept_ = streams_mpsleep(&m, PZERO, NULL, *(int *)arg, m.lock, 0);
	slept_ns_ = host_now() - begin;
	released_ = TRYLOCK(m.lock, plstr) != invpl;
	if (released_)
		UNLOCK(m.lock, plbase);
	host_leave();
}

/* HP-UX: with a lock, ETIME comes when the time is over and not before. */
T_CASE(mpsleep_sleeps_for_the_time_that_the_caller_gives)
{
	int ticks = 100;

	fx_begin(t);
	str_ddi_wakeup(&m); /* makes the table of events */
	fx_keep();
	m.lock = LOCK_ALLOC(1, plstr, NULL, KM_SLEEP);
	(void)sim_spawn("sleeper", mpsleeps, &ticks);
	T_EQ(sim_run(), 0);
	T_EQ(slept_, ETIME);
	T_TRUE(released_);
	T_GE(slept_ns_, 1000000000u);
	T_LT(slept_ns_, 1100000000u);
	LOCK_DEALLOC(m.lock);
}

/* From when the sleep lock is released until the sleep ends. */
static void
wakes_as_it_can(void *arg)
{
	struct host_call hc = {.fd = -1};
	lock_t *lock;

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	sim_sleep(50000000);
	lock = streams_get_sleep_lock(&m);
	sim_sleep(100000000);
	UNLOCK(lock, plbase);
	str_ddi_wakeup(&m);
	host_leave();
}

T_CASE(mpsleep_with_a_lock_misses_no_wakeup)
{
	int ticks = 6000;

	fx_begin(t);
	str_ddi_wakeup(&m);
	fx_keep();
	m.lock = LOCK_ALLOC(1, plstr, NULL, KM_SLEEP);
	(void)sim_spawn("sleeper", mpsleeps, &ticks);
	(void)sim_spawn("waker", wakes_as_it_can, NULL);
	T_EQ(sim_run(), 0);
	T_EQ(slept_, 0);
	T_TRUE(released_);
	T_LT(slept_ns_, 1000000000u);
	LOCK_DEALLOC(m.lock);
}
