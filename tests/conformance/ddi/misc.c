/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Memory, time, device numbers, the caller's memory, messages to people.
 */
#include "d.h"

/* ----------------------------------------------------------------- memory */

/* kmem_alloc(D3): aligned for any object, not shared with another. */
D_CASE(501, kmem_alloc_gives_memory_of_its_own)
{
	char *a, *b;

	fx_begin(t);
	a = kmem_alloc(100, KM_SLEEP);
	b = kmem_alloc(100, KM_NOSLEEP);
	T_NOTNULL(a);
	T_NOTNULL(b);
	T_EQ((uintptr_t)a % 16, 0);
	T_TRUE(a + 100 <= b || b + 100 <= a);
	kmem_free(a, 100);
	kmem_free(b, 100);
}

/* kmem_zalloc(D3): the memory is zeroed. */
D_CASE(502, kmem_zalloc_gives_zeros)
{
	unsigned char *a;
	unsigned i;

	fx_begin(t);
	a = kmem_alloc(500, KM_SLEEP);
	memset(a, 0xa5, 500);
	kmem_free(a, 500);
	a = kmem_zalloc(500, KM_SLEEP);
	for (i = 0; i < 500; i++)
		T_EQ(a[i], 0);
	kmem_free(a, 500);
}

/* kmem_alloc(D3): size 0 gives NULL; NULL may be freed. */
D_CASE(503, kmem_alloc_of_nothing_is_null)
{
	fx_begin(t);
	T_NULL(kmem_alloc(0, KM_SLEEP));
	T_NULL(kmem_zalloc(0, KM_NOSLEEP));
	kmem_free(NULL, 0);
}

/* kmem_alloc(D3): NULL when KM_NOSLEEP finds no memory. */
D_CASE(504, kmem_alloc_without_memory_is_null)
{
	fx_begin(t);
	fx_use_up();
	T_NULL(kmem_alloc(1000, KM_NOSLEEP));
	T_NULL(kmem_alloc_node(1000, KM_NOSLEEP, 0));
}

/* kmem_alloc_node(9): as kmem_alloc, wherever the memory is. */
D_CASE(505, kmem_alloc_node_is_memory_as_any)
{
	unsigned char *a, *b;
	unsigned i;

	fx_begin(t);
	a = kmem_alloc_node(64, KM_SLEEP, 0);
	b = kmem_zalloc_node(64, KM_SLEEP, 99);
	T_NOTNULL(a);
	T_NOTNULL(b);
	for (i = 0; i < 64; i++)
		T_EQ(b[i], 0);
	kmem_free(a, 64);
	kmem_free(b, 64);
}

/* kmem_alloc(9): what one process writes, all members see. */
static void
write_there(void *arg)
{
	*(str_a32 *)arg = 4711;
}

D_CASE(506, kmem_is_seen_by_all_members)
{
	str_a32 *p;

	fx_begin(t);
	p = d_shared(sizeof(*p));
	(void)d_spawn("writer", write_there, (void *)p);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(p), 4711);
	d_gone((void *)p);
}

/* ------------------------------------------------------------------- time */

/* drv_usectohz(D3): rounded up. drv_hztousec(D3): exact. */
D_CASE(507, ticks_from_and_to_microseconds)
{
	fx_begin(t);
	T_EQ(drv_usectohz(0), 0);
	T_EQ(drv_usectohz(1), 1);
	T_EQ(drv_usectohz(1000000 / HZ), 1);
	T_EQ(drv_usectohz(1000000 / HZ + 1), 2);
	T_EQ(drv_usectohz(1000000), HZ);
	T_EQ(drv_hztousec(HZ), 1000000);
	T_EQ(drv_hztousec(1), 1000000 / HZ);
}

/* drv_hztousec(D3): the greatest value when it does not fit. */
D_CASE(508, ticks_that_do_not_fit)
{
	fx_begin(t);
	T_EQ(drv_hztousec(LONG_MAX), LONG_MAX);
	T_EQ(drv_hztomsec(ULONG_MAX), ULONG_MAX);
	T_EQ(drv_msectohz(1000), HZ);
	T_EQ(drv_hztomsec(HZ), 1000);
}

/* drv_getparm(D3): LBOLT counts ticks; -1 for what it does not know. */
D_CASE(509, drv_getparm_tells_lbolt)
{
	unsigned long a = 0, b = 0, c = 5;

	fx_begin(t);
	T_EQ(drv_getparm(LBOLT, &a), 0);
	sim_sleep(3 * (1000000000u / HZ));
	T_EQ(drv_getparm(LBOLT, &b), 0);
	T_GE(b, a + 3);
	T_EQ(drv_getparm(9999, &c), -1);
	T_EQ(c, 5);
	T_EQ(drv_getparm(TIME, &a), 0); /* seconds since 1970 */
	T_GT(a, 1700000000u);
	T_LT(a, 1ul << 33);
}

/* drv_usecwait(D3): at least that long. */
D_CASE(510, drv_usecwait_waits_long_enough)
{
	uint64_t before;

	fx_begin(t);
	before = host_now();
	drv_usecwait(500);
	T_GE(host_now() - before, 500000);
	before = host_now();
	drv_usecwait(0);
	drv_usecwait(-1);
	T_LT(host_now() - before, 500000000u);
}

/* delay(D3): at least that many ticks. */
D_CASE(511, delay_sleeps_long_enough)
{
	uint64_t before;

	fx_begin(t);
	before = host_now();
	delay(2);
	T_GE(host_now() - before, 2 * (1000000000u / HZ));
}

/* delay(D3): no signal ends it. */
static void
delayed(void *arg)
{
	str_a32 *p = arg;
	uint64_t before = host_now();

	str_store(&p[0], 1u);
	delay(5);
	str_store(&p[1], host_now() - before >= 5 * (1000000000u / HZ) ?
		1u : 2u);
}

D_CASE(512, delay_is_not_ended_by_a_signal)
{
	struct sim_task *w;
	str_a32 *p;

	fx_begin(t);
	p = d_shared(2 * sizeof(*p));
	w = d_spawn("delayed", delayed, (void *)p);
	D_UNTIL(str_load(&p[0]) == 1);
	sim_signal(w, false);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&p[1]), 1);
	d_gone((void *)p);
}

static str_a32 called;

static void
callback(void *arg)
{
	(void)str_add(&called, (uint32_t)(uintptr_t)arg);
}

/* itimeout(D3), dtimeout(D3): the function is called, once. */
D_CASE(513, itimeout_and_dtimeout_call)
{
	fx_begin(t);
	str_store(&called, 0u);
	T_NE(itimeout(D_CALLED(callback), (void *)1, 1, plstr), 0);
	T_NE(dtimeout(D_CALLED(callback), (void *)16, 1, plhi, 0), 0);
	D_UNTIL(str_load(&called) == 17);
	sim_sleep(30000000u);
	T_EQ(str_load(&called), 17);
}

/* itimeout(D3): untimeout cancels it. */
D_CASE(514, untimeout_cancels_an_itimeout)
{
	toid_t id;

	fx_begin(t);
	str_store(&called, 0u);
	id = itimeout(D_CALLED(callback), (void *)1, 1000, plstr);
	T_NE(id, 0);
	(void)untimeout(id);
	id = dtimeout(D_CALLED(callback), (void *)1, 1000, plstr, 0);
	(void)untimeout(id);
	T_FALSE(str_timer_pending());
	T_EQ(str_load(&called), 0);
}

/* --------------------------------------------------------- device numbers */

/* getmajor(D3), getminor(D3), makedevice(D3): of each other. */
D_CASE(515, device_numbers_have_two_parts)
{
	static const struct {
		unsigned maj, min;
	} row[] = {
		{0, 0}, {230, 0}, {1, 255}, {255, 256}, {4095, 1048575},
		{65536, 65536},
	};
	unsigned i;

	fx_begin(t);
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		dev_t d = makedevice(row[i].maj, row[i].min);

		T_EQ(getmajor(d), row[i].maj);
		T_EQ(getminor(d), row[i].min);
	}
}

/* ------------------------------------------------------ bytes and numbers */

/* bcopy(D3), bzero(D3), bcmp(D3). */
D_CASE(516, bytes_are_copied_cleared_and_compared)
{
	char a[] = "stream", b[8];

	fx_begin(t);
	bcopy(a, b, 7);
	T_EQ(bcmp(a, b, 7), 0);
	b[3] = 'x';
	T_NE(bcmp(a, b, 7), 0);
	bzero(b, 8);
	T_EQ(b[0] | b[3] | b[7], 0);
	bcopy(a, a + 1, 5); /* they may overlap */
	T_STR(a, "sstrea");
}

/* min(D3), max(D3). */
D_CASE(517, min_and_max)
{
	fx_begin(t);
	T_EQ(min(1, 2), 1);
	T_EQ(max(1, 2), 2);
	T_EQ(min(-1, 0), -1);
	T_EQ(max(5, 5), 5);
}

/* ----------------------------------------------------- the caller's memory */

/* copyin(D3), copyout(D3): 0, and the bytes are copied. */
D_CASE(518, copyin_and_copyout_copy)
{
	char user[16] = "user's bytes", *k;

	fx_begin(t);
	k = d_shared(16);
	T_EQ(copyin(user, k, 16), 0);
	T_STR(k, "user's bytes");
	k[0] = 'U';
	T_EQ(copyout(k, user, 16), 0);
	T_STR(user, "User's bytes");
	d_gone(k);
}

/* copyin(D3), copyout(D3): -1 for an address that is not the user's. */
D_CASE(519, copyin_of_a_bad_address_is_minus_1)
{
	char *k;

	fx_begin(t);
	k = d_shared(64);
	T_EQ(copyin((void *)(uintptr_t)64, k, 64), -1);
	T_EQ(copyout(k, (void *)(uintptr_t)64, 64), -1);
	T_EQ(copyin(NULL, k, 1), -1);
	d_gone(k);
}

/* copyin(D3): nothing to copy never fails. */
D_CASE(520, copyin_of_nothing_succeeds)
{
	char *k;

	fx_begin(t);
	k = d_shared(1);
	T_EQ(copyin(NULL, k, 0), 0);
	T_EQ(copyout(k, NULL, 0), 0);
	d_gone(k);
}

/* ---------------------------------------------------------------- messages */

static void
say_levels(void)
{
	cmn_err(CE_NOTE, "one");
	cmn_err(CE_WARN, "two");
	cmn_err(CE_CONT, "three %s\n", "four");
}

/* cmn_err(D3): NOTICE, WARNING, and nothing before a continuation. */
D_CASE(521, cmn_err_says_how_bad_it_is)
{
	const char *s;

	fx_begin(t);
	s = d_said(say_levels);
	T_NOTNULL(strstr(s, "NOTICE: one\n"));
	T_NOTNULL(strstr(s, "WARNING: two\n"));
	T_NOTNULL(strstr(s, "three four\n"));
}

static void
say_formats(void)
{
	cmn_err(CE_CONT, "[%5d|%-5d|%05d|%.3s|%-4s|%5s|%x|%o|%c|%u|%%]", 42,
		42, -42, "abcdef", "ab", "cd", 255u, 8u, 'z', 7u);
}

/* cmn_err(D3), printf(3): width, precision, padding, and sides. */
D_CASE(522, cmn_err_formats_as_printf)
{
	char want[128];
	const char *s;

	fx_begin(t);
	snprintf(want, sizeof(want),
		"[%5d|%-5d|%05d|%.3s|%-4s|%5s|%x|%o|%c|%u|%%]", 42, 42, -42,
		"abcdef", "ab", "cd", 255u, 8u, 'z', 7u);
	s = d_said(say_formats);
	if (strstr(s, want) == NULL)
		T_FAIL("it said %s, not %s", s, want);
}

static void
say_long(void)
{
	cmn_err(CE_CONT, "[%ld|%lu|%lx|%zu|%*d|%.*s]", LONG_MIN, ULONG_MAX,
		0x123456789abcdefL, (size_t)77, 6, 5, 2, "xyz");
}

/* cmn_err(9): lengths l, ll and z, and widths that are arguments. */
D_CASE(523, cmn_err_takes_long_numbers)
{
	char want[160];
	const char *s;

	fx_begin(t);
	snprintf(want, sizeof(want), "[%ld|%lu|%lx|%zu|%*d|%.*s]", LONG_MIN,
		ULONG_MAX, 0x123456789abcdefL, (size_t)77, 6, 5, 2, "xyz");
	s = d_said(say_long);
	if (strstr(s, want) == NULL)
		T_FAIL("it said %s, not %s", s, want);
}

static void
say_user(void)
{
	uprintf("hello %d", 5);
}

/* uprintf(9F): to the user, without a prefix. */
D_CASE(524, uprintf_says_it_to_the_user)
{
	const char *s;

	fx_begin(t);
	s = d_said(say_user);
	T_NOTNULL(strstr(s, "hello 5"));
	T_NULL(strstr(s, "NOTICE"));
}

static void
panic(void *arg)
{
	(void)arg;
	cmn_err(CE_PANIC, "as told");
}

/* cmn_err(D3): CE_PANIC ends the system: here, the process. */
D_CASE(525, cmn_err_panic_ends_the_process)
{
	fx_begin(t);
	if (!d_is_user())
		T_SKIP("one process is all there is");
	T_TRUE(d_dies(panic, NULL));
}

/* getmid(9), getadmin(9): a module's number, and its admin procedure. */
D_CASE(528, getmid_knows_the_modules)
{
	fx_begin(t);
	T_EQ(getmid("nullmod"), 0x6e75);
	T_EQ(getmid("store"), 0x6678);
	T_EQ(getmid("sad"), 0x7361);
	T_EQ(getmid("nosuch"), 0);
	T_NULL(getadmin(0x6e75));
	T_NULL(getadmin(getmid("nosuch")));
}

/* MPSTR_QLOCK(9): the queue can be looked at; others wait. */
D_CASE(529, mpstr_qlock_freezes_the_queue)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	fx_pipe(&p);
	q = fx_push(&p, 0, "store");
	T_EQ(putq(q, fx_msg("1", 0)), 1);
	MPSTR_STPLOCK(q);
	MPSTR_QLOCK(q);
	T_EQ(insq(q, q->q_first, fx_msg("0", 0)), 1);
	MPSTR_QRELE(q);
	MPSTR_STPRELE(q);
	FX_MSG(getq(q), "0");
	FX_MSG(getq(q), "1");
	(void)fx_enabled(q);
}

/* ------------------------------------------------------- misuse of locks */

static kmutex_t *mutex;
static lock_t *lock;

static void
enter_twice(void *arg)
{
	(void)arg;
	mutex_enter(mutex);
	mutex_enter(mutex);
}

static void
exit_unowned(void *arg)
{
	(void)arg;
	mutex_exit(mutex);
}

static void
lock_twice(void *arg)
{
	(void)arg;
	(void)LOCK(lock, plstr);
	(void)LOCK(lock, plstr);
}

static void
unlock_unowned(void *arg)
{
	(void)arg;
	UNLOCK(lock, plbase);
}

static void
dealloc_taken(void *arg)
{
	(void)arg;
	(void)LOCK(lock, plstr);
	LOCK_DEALLOC(lock);
	str_store(&called, 1u);
}

/* mutex_enter(9F): a thread that has it already panics; so does mutex_exit. */
D_CASE(526, misuse_of_a_mutex_ends_the_process)
{
	fx_begin(t);
	if (!d_is_user())
		T_SKIP("one process is all there is");
	mutex = d_shared(sizeof(*mutex));
	T_TRUE(d_dies(enter_twice, NULL));
	T_TRUE(d_dies(exit_unowned, NULL));
	mutex_enter(mutex); /* those are dead */
	mutex_exit(mutex);
	d_gone(mutex);
}

/* LOCK(D3), UNLOCK(D3), LOCK_DEALLOC(D3): likewise. */
D_CASE(527, misuse_of_a_basic_lock_ends_the_process)
{
	fx_begin(t);
	if (!d_is_user())
		T_SKIP("one process is all there is");
	lock = LOCK_ALLOC(1, plstr, NULL, KM_SLEEP);
	T_TRUE(d_dies(lock_twice, NULL));
	T_TRUE(d_dies(unlock_unowned, NULL));
	T_TRUE(d_dies(dealloc_taken, NULL));
	LOCK_DEALLOC(lock);
}
