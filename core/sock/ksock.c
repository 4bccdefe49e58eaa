/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The operating system's sockets, for drivers: <str/ksock.h>.
 *
 * Objects. ksock_t is in a table of the domain; its memory is never reused for
 * another purpose, so that a late access or a late event does no harm.  Its id,
 * index and generation, identifies it for the host (host_sock_*), and in a
 * stream (`ksock' of struct str_plumb).
 *
 * Life.  A socket is made for a queue, or accepted from a listening socket; its
 * *home* is the stream it was last attached to, or in which it was made.  It
 * ends by ksock_close(), or with its home.  While it is being made or closed it
 * is stamped with the thread's tag; if the thread dies, the reaper closes it.
 *
 * Events.  A thread that learns of an event records it, claims the stream,
 * enables the queue, and runs the enabled queues (fire()).  There are four ways
 * to learn of an event. A thread that sleeps at the stream polls the socket
 * itself. A thread that waits at several streams makes its process watch the
 * socket of each, edge-triggered (str_head_watch()). A thread whose call would
 * otherwise return without data tries once. streamsd watches, edge-triggered,
 * sockets at which perhaps no thread waits (serve()).
 *
 * A driver may leave data in the socket, if the queue above is full.  Then a
 * level-triggered event would be reported without end.  So the socket becomes
 * *stuck* in three cases.  There was an event of data, and the driver has not
 * found the socket empty since, even if it has read some of the data.  There
 * was an event of room, the last write before it was refused or incomplete, and
 * the driver has not tried to write since.  There was urgent data, an end of
 * file, a hang-up or an error.  A thread that sleeps at the stream of a stuck
 * socket waits for an edge instead.  The socket is no longer stuck when an edge
 * was reported, or when the driver has found it empty (for room: has tried to
 * write).  No edge is lost, because each process has its own edge-triggered set
 * of sockets in the kernel.  A sleep that ends by an edge costs the sleeper one
 * more system call, which reads that set.
 *
 * On request, streamsd searches the table.  It sends gathered data that was
 * already there at its last look.  Members send data that waits for room.  If
 * no member has sent any for some looks, streamsd tries to send it, and then
 * sleeps until the kernel reports room.
 *
 * Locks.  None.  The driver's perimeter serialises calls; words that other
 * threads write are atomic.
 *
 * Crash.  A slot is taken by one compare-and-swap of `owner', is alive from the
 * store of an odd `gen', and dead from the store of an even one.
 */
#include "table.h"

#define AGE 2u /* looks until streamsd sends the data itself */

static struct str_ksock *
piece_make(unsigned c)
{
	void *p = str_mem_zalloc(65536, STR_BLK_KMEM);

	if (p == NULL)
		return NULL;
	if (str_cas(str_root(STR_ROOT_KSOCK + c), (uint64_t)0,
		    (uint64_t)(uintptr_t)p))
		str_mem_disown(p);
	else
		str_mem_free(p);
	return piece(c);
}

static STR_HOT struct str_ksock *
find(uint64_t id)
{
	return str_ksock_at(id);
}

bool
str_sock_live(uint64_t id)
{
	return find(id) != NULL;
}

str_a32 *
str_sock_word(uint64_t id)
{
	struct str_ksock *ks = slot((uint32_t)id);

	return ks == NULL ? NULL : &ks->closed;
}

/* Call @fn for each slot that was ever used, until it returns true. */
static bool
each(bool (*fn)(struct str_ksock *ks, void *arg), void *arg)
{
	uint64_t high = str_load(str_root(STR_ROOT_NKSOCK)), i;

	for (i = 0; i < high; i++) {
		struct str_ksock *ks = slot((uint32_t)i);

		if (ks != NULL && fn(ks, arg))
			return true;
	}
	return false;
}

/* ---------------------------------------------------------- making, closing */

static struct str_ksock *
take_in(unsigned c)
{
	struct str_ksock *p = piece(c);
	uint32_t i;

	if (p == NULL)
		p = piece_make(c);
	for (i = 0; p != NULL && i < PIECE; i++) {
		struct str_ksock *ks = &p[i];

		if ((str_load(&ks->gen) & 1) != 0 ||
		    str_load(&ks->owner) != 0 ||
		    !str_cas(&ks->owner, 0u, host_self_tag()))
			continue;
		if ((str_load(&ks->gen) & 1) == 0) {
			ks->index = c * 1024 + i;
			return ks;
		}
		str_store_rel(&ks->owner, 0u);
	}
	return NULL;
}

/* A slot, not alive yet, stamped with this thread's tag. */
struct str_ksock *
str_ksock_take(void)
{
	str_a64 *high = str_root(STR_ROOT_NKSOCK);
	struct str_ksock *ks = NULL;
	unsigned c;
	uint64_t n;

	for (c = 0; c < PIECES && ks == NULL; c++)
		ks = take_in(c);
	if (ks == NULL)
		return NULL;
	n = str_load(high);
	while (n <= ks->index && !str_cas(high, n, (uint64_t)ks->index + 1))
		n = str_load(high);
	str_store(&ks->rq, NULL);
	str_store(&ks->home, NULL);
	str_store(&ks->events, 0u);
	str_store(&ks->want, 0u);
	str_store(&ks->flags, 0u);
	str_store(&ks->daemon_events, 0u);
	return ks;
}

static struct str_plumb *
stream_of(queue_t *rq)
{
	return rq->q_pair->plumb;
}

/* @fd becomes the socket of @ks, a slot that was taken; @home: its home. */
void
str_ksock_settle(struct str_ksock *ks, int fd, struct str_plumb *home,
	uint32_t flags)
{
	str_store(&ks->home, home);
	str_store(&home->ksocked, 1u);
	str_store(&ks->flags, flags);
	str_store_rel(&ks->gen, str_load(&ks->gen) + 1);
	STR_CRASH_POINT("ksock:alive");
	(void)host_sock_adopt(id_of(ks), fd);
	STR_CRASH_POINT("ksock:adopted");
}

int
ksock_create(queue_t *rq, int family, int type, int proto, ksock_t **ret)
{
	struct str_ksock *ks = str_ksock_take();
	int fd;

	if (ks == NULL)
		return -ENOSR;
	fd = host_sock_new(family, type, proto);
	if (fd < 0) {
		str_store_rel(&ks->owner, 0u);
		return fd;
	}
	str_ksock_settle(ks, fd, stream_of(rq), (type & TYPE_MASK) == SOCK_STREAM ?
		KF_STREAM : 0);
	ksock_attach(ks, rq);
	str_store_rel(&ks->owner, 0u);
	*ret = ks;
	return 0;
}

int
ksock_tun(queue_t *rq, char *name, ksock_t **ret)
{
	struct str_ksock *ks = str_ksock_take();
	int fd;

	if (ks == NULL)
		return -ENOSR;
	fd = host_sock_tun(name);
	if (fd < 0) {
		str_store_rel(&ks->owner, 0u);
		return fd;
	}
	str_ksock_settle(ks, fd, stream_of(rq), KF_FILE);
	ksock_attach(ks, rq);
	str_store_rel(&ks->owner, 0u);
	*ret = ks;
	return 0;
}

int
ksock_again(ksock_t *ks, int family, int type, int proto, char *name)
{
	int fd = name != NULL ? host_sock_tun(name) :
		host_sock_new(family, type, proto);
	struct str_plumb *home = str_load(&ks->home);
	uint64_t old = id_of(ks), id;

	if (fd < 0)
		return fd;
	/* a process may still have a descriptor of the old socket, and then
	 * closes it: the generation distinguishes the two */
	str_store_rel(&ks->gen, str_load(&ks->gen) + 2);
	id = id_of(ks);
	if (home != NULL)
		(void)str_cas(&home->ksock, old, id);
	host_sock_gone(old, false);
	(void)host_sock_adopt(id, fd);
	(void)str_and(&ks->flags, ~(KF_BLOCKED | KF_STUCKIN | KF_STUCKOUT));
	str_store(&ks->daemon_events, 0u);
	host_sock_ask();
	return 0;
}

int
ksock_accept(ksock_t *ks, ksock_t **ret, void *addr, uint32_t *len)
{
	struct str_ksock *n = str_ksock_take(); /* a slot for an accepted
						 * connection */
	int fd;

	if (n == NULL)
		return -ENOSR;
	fd = host_sock_accept(id_of(ks), addr, len);
	if (fd < 0) {
		str_store_rel(&n->owner, 0u);
		if (fd == -EAGAIN)
			flag(ks, KF_EMPTY, KF_STUCKIN);
		return fd;
	}
	str_ksock_settle(n, fd, str_load(&ks->home), KF_STREAM);
	str_store_rel(&n->owner, 0u);
	*ret = n;
	return 0;
}

void
ksock_attach(ksock_t *ks, queue_t *rq)
{
	struct str_plumb *was = str_load(&ks->home), *pl;
	uint64_t id = id_of(ks);

	if (was != NULL)
		(void)str_cas(&was->ksock, id, (uint64_t)0);
	if (rq == NULL) {
		str_store(&ks->rq, NULL);
		return;
	}
	pl = stream_of(rq);
	str_store(&pl->ksocked, 1u);
	str_store(&ks->home, pl);
	str_store(&ks->rq, rq);
	(void)str_and(&ks->flags, ~(KF_STUCKIN | KF_STUCKOUT));
	str_store_rel(&pl->ksock, id);
	str_sock_changed(pl);
	/*
	 * events that occurred while the socket had no queue: the kernel has
	 * reported them already, and may not report them again
	 */
	if (str_load(&ks->events) != 0)
		str_sched_enable(rq);
}

/* The socket is stamped with this thread's tag. @how: as for ksock_close(). */
static void
finish(struct str_ksock *ks, int how)
{
	uint32_t gen = str_load(&ks->gen);
	uint64_t id = id_of(ks);
	struct str_plumb *home = str_load(&ks->home);

	if ((gen & 1) != 0) {
		if (home != NULL && str_mem_valid(home))
			(void)str_cas(&home->ksock, id, (uint64_t)0);
		str_store(&ks->rq, NULL);
		if ((str_load(&ks->flags) & KF_BOX) != 0)
			host_box_empty(id);
		else if (how != KS_OVER)
			host_sock_shut(id, how == KS_ABORT);
		STR_CRASH_POINT("ksock:shut");
		str_store_rel(&ks->gen, gen + 1);
		STR_CRASH_POINT("ksock:dead");
		host_sock_gone(id, (str_load(&ks->flags) & KF_NAMED) != 0);
	}
	str_store(&ks->home, NULL);
	str_store_rel(&ks->owner, 0u);
}

void
ksock_close(ksock_t *ks, int how)
{
	if (ks == NULL || (str_load(&ks->gen) & 1) == 0 ||
	    !str_cas(&ks->owner, 0u, host_self_tag()))
		return;
	if (how == KS_ABORT)
		flag(ks, KF_ABORT, 0);
	finish(ks, how);
}

static bool
of_the_dead(struct str_ksock *ks, void *arg)
{
	uint32_t dead = *(uint32_t *)arg;

	if (str_load(&ks->owner) == dead &&
	    str_cas(&ks->owner, dead, host_self_tag()))
		finish(ks, (str_load(&ks->flags) & KF_ABORT) != 0 ? KS_ABORT :
								    0);
	return false;
}

void
str_sock_reap(uint32_t dead)
{
	(void)each(of_the_dead, &dead);
}

/*
 * `gen' is loaded before `home': a home that was loaded before the slot was
 * alive may be the home of the socket that was in the slot before.
 */
static bool
of_stream(struct str_ksock *ks, void *arg)
{
	if ((str_load_acq(&ks->gen) & 1) != 0 && str_load(&ks->home) == arg)
		ksock_close(ks, 0);
	return false;
}

void
str_sock_stream_gone(struct str_plumb *pl)
{
	(void)each(of_stream, pl);
}

/* ------------------------------------------------------------------- events */

/* Is @rq a read queue of @pl, which is claimed? */
static bool
is_queue_of(struct str_plumb *pl, queue_t *rq)
{
	queue_t *q = pl->under != NULL ? &pl->under->qp->wq :
					 &pl->head[0].qp->wq;

	for (; q != NULL && q->q_pair->plumb == pl; q = q->q_next) {
		if (str_otherq(q) == rq)
			return true;
		if (q != &pl->head[0].qp->wq && q->q_head != NULL)
			break;
	}
	return false;
}

static void
run(struct str_plumb *pl, queue_t *rq, uint32_t what, struct host_call *hc)
{
	struct host_call *old = host_tls.call;

	host_tls.call = hc;
	if (what & KS_IN)
		str_sched_enable(rq);
	if (what & KS_OUT)
		str_sched_enable(str_otherq(rq));
	(void)str_sched_run(pl);
	host_tls.call = old;
}

/*
 * Events @what, KS_*, have or may have occurred at socket @id: record them, and
 * run the driver's queue. @end: HOST_C_END is among them.
 * Return: false: the queue was not run, because there is no such socket any
 * more, it has no queue, its stream has a plumber, or it was moved meanwhile.
 */
static bool
fire(uint64_t id, uint32_t what, bool end, struct host_call *hc)
{
	struct str_ksock *ks = find(id);
	struct str_plumb *pl;
	uint32_t f, stuck = 0;
	queue_t *rq;
	int again;

	if (ks == NULL)
		return false;
	if (end)
		what |= KS_ODD;
	pl = str_load(&ks->home);
	(void)str_or(&ks->events, what);
	if (pl == NULL || str_load(&ks->rq) == NULL)
		return false;
	if (!str_claim_stream(pl)) {
		/* there is a plumber.  Remove the watch: when a thread of this
		 * process watches the socket next, the kernel reports the
		 * event again */
		(void)host_sock_watch(id, 0);
		return false;
	}
	rq = str_load(&ks->rq);
	if (find(id) == NULL || str_load(&ks->home) != pl || rq == NULL ||
	    !is_queue_of(pl, rq)) {
		str_unclaim(pl);
		return false;
	}
	/* a driver stops after a short read, so it may not have read the end of
	 * file yet: if @end, run the queue once more */
	for (again = 0; again < 2; again++) {
		(void)str_and(&ks->flags, ~(KF_EMPTY | KF_SHORT | KF_FULL));
		STR_CRASH_POINT("ksock:event");
		run(pl, rq, what, hc);
		f = str_load(&ks->flags);
		if (!end || (f & KF_SHORT) == 0 || find(id) == NULL)
			break;
		what = KS_IN | KS_ODD;
		(void)str_or(&ks->events, what);
	}
	if ((what & KS_IN) != 0 && (end || (f & (KF_EMPTY | KF_SHORT)) == 0))
		stuck |= KF_STUCKIN;
	if ((what & KS_OUT) != 0 && (f & KF_BLOCKED) != 0 &&
	    (end || (f & KF_FULL) == 0))
		stuck |= KF_STUCKOUT;
	if (stuck != 0)
		(void)str_or(&ks->flags, stuck);
	str_unclaim(pl);
	return true;
}

static uint32_t
to_ks(uint32_t events)
{
	return ((events & HOST_C_IN) ? KS_IN : 0) |
		((events & HOST_C_OUT) ? KS_OUT : 0);
}

uint32_t
str_sock_interest(uint64_t id)
{
	struct str_ksock *ks = find(id);
	uint32_t f = ks == NULL ? 0 : str_load(&ks->flags), want = 0;

	if (ks == NULL)
		return 0;
	if ((f & KF_STUCKIN) == 0)
		want |= HOST_C_IN;
	if ((f & (KF_BLOCKED | KF_CONNECTING)) != 0 && (f & KF_STUCKOUT) == 0)
		want |= HOST_C_OUT;
	if (want == HOST_C_IN && (f & (KF_NAP | KF_SPIN)) != 0) {
		(void)str_and(&ks->flags, ~(KF_NAP | KF_SPIN));
		want |= f & KF_NAP ? HOST_C_NAP : HOST_C_SPIN;
	}
	/* 0: wait for an edge.  If one side is stuck, the other side is not
	 * requested either: poll(2) reports an error or a hang-up for any
	 * requested event, and would return at once again and again */
	return (f & (KF_STUCKIN | KF_STUCKOUT)) != 0 ? 0 : want;
}

/* The system has reported events.  Room, or an error, completes a connect. */
static void
came(uint64_t id, uint32_t what, bool end, struct host_call *hc)
{
	struct str_ksock *ks = find(id);

	if (fire(id, what, end, hc) && (what & KS_OUT) != 0)
		flag(ks, 0, KF_CONNECTING);
}

void
str_sock_fired(uint64_t id, uint32_t events, struct host_call *hc)
{
	if (events & HOST_C_MORE)
		(void)str_sock_gather();
	if ((events & (HOST_C_IN | HOST_C_OUT)) != 0)
		came(id, to_ks(events), (events & HOST_C_END) != 0, hc);
}

/*
 * Collect the events of all sockets that this process watches, and pass them to
 * the drivers.  It sends no gathered data: that is str_sock_flush().
 */
unsigned
str_sock_gather(void)
{
	struct host_sock_event v[16];
	unsigned n, i, all = 0;

	/* a busy socket must not keep this thread here for ever */
	do {
		n = host_sock_events(v, STR_ARRAY_LEN(v));
		for (i = 0; i < n; i++) {
			struct str_ksock *ks = find(v[i].id);
			bool end = (v[i].events & HOST_C_END) != 0;
			uint32_t what = to_ks(v[i].events);

			if (ks == NULL)
				continue;
			(void)str_and(&ks->flags, ~(KF_STUCKIN | KF_STUCKOUT));
			/* an edge of data is reported with HOST_C_OUT, too, if
			 * there is room: ignore this if no writer waits */
			if (!end && (str_load(&ks->flags) &
				(KF_BLOCKED | KF_CONNECTING)) == 0 &&
			    (str_load(&ks->want) & (KS_OUT | KS_SOON)) == 0)
				what &= ~KS_OUT;
			if (what != 0)
				came(v[i].id, what, end, NULL);
		}
		all += n;
	} while (n == STR_ARRAY_LEN(v) && all < HOST_NSOCK);
	return all;
}

bool
str_sock_try_slow(struct str_head *sd, struct host_call *hc, uint32_t what)
{
	uint64_t id = str_sock_of(sd->plumb);
	struct str_ksock *ks = find(id);

	if (ks == NULL || host_tls.nclaim != 0)
		return false;
	if (what == KS_OUT && (str_load(&ks->flags) &
		(KF_BLOCKED | KF_CONNECTING)) == 0)
		return false;
	/* the system was not asked, so any event is possible */
	return fire(id, what | KS_ODD, false, hc);
}

bool
str_sock_any(void)
{
	return str_load(str_root(STR_ROOT_NKSOCK)) != 0;
}

uint64_t
str_head_sock(struct str_head *sd)
{
	return str_sock_of(sd->plumb);
}

void
str_head_watch(struct str_head *sd)
{
	uint64_t id = str_sock_of(sd->plumb);

	if (str_unlikely(id != 0)) {
		struct str_ksock *ks = find(id);

		/*
		 * Set before the first edge can be reported.  From here on the
		 * Stream head does not receive from the socket by itself
		 * (str_sock_lent()): data that it left there would not be
		 * reported again to this process.
		 */
		if (ks != NULL) {
			flag(ks, KF_WATCHED, 0);
			str_fence_full();
		}
		(void)host_sock_watch(id, HOST_C_IN | HOST_C_OUT);
	}
}

struct ksock_lend *
ksock_lend(queue_t *rq)
{
	return &stream_of(rq)->lend;
}

/* ------------------------------------------------- data to send, streamsd */

void
str_sock_flush_slow(struct host_call *hc)
{
	while (host_tls.nsoon != 0) {
		uint64_t id = host_tls.soon[--host_tls.nsoon];
		struct str_ksock *ks = find(id);

		if (ks != NULL && (str_load(&ks->want) & KS_SOON) != 0)
			(void)fire(id, KS_OUT, false, hc);
	}
}

bool
str_sock_unsent(struct str_plumb *pl, bool *ret_progress)
{
	uint64_t id = str_sock_of(pl);
	struct str_ksock *ks = id == 0 ? NULL : find(id);
	uint32_t sent;

	*ret_progress = false;
	if (ks == NULL || (str_load(&ks->want) & (KS_OUT | KS_SOON)) == 0)
		return false;
	sent = str_load(&ks->sent);
	/* some was sent since the last call, or streamsd watches the socket for
	 * room, so that the kernel will wake it */
	*ret_progress = str_xchg(&ks->drained, sent) != sent ||
		(str_load(&ks->daemon_events) & KS_OUT) != 0;
	return true;
}

static void
remember(uint64_t id)
{
	uint32_t i;

	for (i = 0; i < host_tls.nsoon; i++)
		if (host_tls.soon[i] == id)
			return;
	/* no free entry: streamsd sends it */
	if (i < HOST_NSOON) {
		host_tls.soon[i] = id;
		host_tls.nsoon = i + 1;
	}
}

void
ksock_want(ksock_t *ks, uint32_t events)
{
	uint32_t was = str_load(&ks->want);

	if (events & KS_SOON)
		remember(id_of(ks));
	if (was == events)
		return;
	str_store(&ks->want, events);
	if ((events & ~was) == 0)
		return;
	str_store(&ks->age, 0u);
	host_fence_light(); /* pairs with streamsd's, before it stops looking */
	host_sock_ask();
}

/* for_home(); 0 if the socket has no home.  The home may have been freed
 * meanwhile: its memory can still be read, and the result is only a hint. */
static uint32_t
for_stream(struct str_ksock *ks)
{
	struct str_plumb *pl = str_load(&ks->home);

	return pl != NULL && str_mem_valid(pl) ? for_home(ks, pl) : 0;
}

uint32_t
ksock_nap(ksock_t *ks, uint32_t how)
{
	uint32_t f = str_load(&ks->flags);

	flag(ks, (how & KS_NAP ? KF_NAP : 0) | (how & KS_SPIN ? KF_SPIN : 0),
		(how & KS_NAP ? 0 : KF_NAP) | (how & KS_SPIN ? 0 : KF_SPIN));
	return (f & KF_NAP ? KS_NAP : 0) | (f & KF_SPIN ? KS_SPIN : 0);
}

int
ksock_source(const void *dst, uint32_t dstlen, void *src, uint32_t *srclen)
{
	return host_sock_source(dst, dstlen, src, srclen);
}

void
str_sock_changed(struct str_plumb *pl)
{
	struct str_ksock *ks = find(str_sock_of(pl));

	if (ks == NULL || (for_stream(ks) & ~str_load(&ks->daemon_events)) == 0)
		return;
	host_fence_light();
	host_sock_ask();
}

struct serve {
	bool again;
};

static bool
serve(struct str_ksock *ks, void *arg)
{
	struct serve *s = arg;
	uint64_t id = id_of(ks);
	uint32_t want, watch, sent;

	if ((id >> 32 & 1) == 0)
		return false;
	want = str_load(&ks->want) | for_stream(ks);
	watch = str_load(&ks->daemon_events);
	if ((want | watch) == 0)
		return false;
	sent = str_load(&ks->sent);
	if ((want & (KS_OUT | KS_SOON)) != 0 &&
	    (watch & want & KS_OUT) == 0) {
		uint32_t age = str_load(&ks->age);

		if (str_load(&ks->seen) != sent)
			age = 0;
		str_store(&ks->seen, sent);
		str_store(&ks->age, age + 1);
		s->again = true;
		if (age >= ((want & KS_OUT) ? AGE : 1u)) {
			watch |= want & KS_OUT;
			(void)fire(id, KS_OUT, false, NULL);
			want = str_load(&ks->want) | for_stream(ks);
		}
	}
	/* no descriptor yet, it may still arrive: look again */
	watch = (watch & want & KS_OUT) | (want & KS_IN);
	if (find(id) != NULL && host_sock_watch(id,
		    ((watch & KS_IN) ? HOST_C_IN : 0) |
		    ((watch & KS_OUT) ? HOST_C_OUT : 0)) != 0) {
		str_store(&ks->daemon_events, 0u);
		s->again = true;
	} else {
		str_store(&ks->daemon_events, watch);
	}
	return false;
}

bool
str_sock_serve(void)
{
	struct serve s = {false};

	(void)each(serve, &s);
	return s.again;
}

/* -------------------------------------------------------------------- calls */

int
ksock_bind(ksock_t *ks, const void *addr, uint32_t len)
{
	int r = host_sock_bind(id_of(ks), addr, len);

	if (r == 0)
		(void)str_or(&ks->flags, KF_NAMED);
	return r;
}

int
ksock_listen(ksock_t *ks, int backlog)
{
	int r = host_sock_listen(id_of(ks), backlog);

	if (r == 0)
		(void)str_or(&ks->flags, KF_NAMED);
	return r;
}

int
ksock_connect(ksock_t *ks, const void *addr, uint32_t len)
{
	int r;

	(void)str_and(&ks->flags, ~(KF_STUCKIN | KF_STUCKOUT));
	r = host_sock_connect(id_of(ks), addr, len);
	if (r == -EINPROGRESS || r == -EALREADY)
		(void)str_or(&ks->flags, KF_CONNECTING);
	else
		(void)str_and(&ks->flags, ~KF_CONNECTING);
	return r;
}

void
ksock_unname(ksock_t *ks)
{
	(void)str_and(&ks->flags, ~KF_NAMED);
}

int
ksock_shutdown(ksock_t *ks, int how)
{
	return host_sock_shutdown(id_of(ks), how);
}

int
ksock_name(ksock_t *ks, int peer, void *addr, uint32_t *len)
{
	int r = host_sock_name(id_of(ks), peer != 0, addr, len);

	/*
	 * The socket has a peer, so the connect is complete.  If no write has
	 * succeeded yet, any refused write was refused because the connect was
	 * not complete: a write is possible now.
	 */
	if (r == 0 && peer && str_load(&ks->sent) == 0)
		flag(ks, 0, KF_BLOCKED | KF_STUCKOUT);
	return r;
}

int
ksock_setopt(ksock_t *ks, int level, int name, const void *val, uint32_t len)
{
	return host_sock_setopt(id_of(ks), level, name, val, len);
}

int
ksock_getopt(ksock_t *ks, int level, int name, void *val, uint32_t *len)
{
	return host_sock_getopt(id_of(ks), level, name, val, len);
}

int
ksock_error(ksock_t *ks)
{
	return host_sock_error(id_of(ks));
}

int
ksock_ioctl(ksock_t *ks, unsigned long cmd, int *ret)
{
	return host_sock_ioctl(id_of(ks), cmd, ret);
}

static size_t
total(const struct iovec *iov, uint32_t n)
{
	size_t sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		sum += iov[i].iov_len;
	return sum;
}

long
ksock_send(ksock_t *ks, const struct iovec *iov, uint32_t n, int flags)
{
	long r;

	if (str_unlikely((str_load(&ks->flags) & KF_FILE) != 0)) {
		r = host_sock_write(id_of(ks), iov, n);
		wrote(ks, r, 0);
		return r;
	}
	r = host_sock_send(id_of(ks), iov, n, flags);

	STR_CRASH_POINT("ksock:sent");
	wrote(ks, r, (str_load(&ks->flags) & KF_STREAM) && n > 1 ?
		total(iov, n) : n == 1 ? iov->iov_len : 0);
	return r;
}

long
ksock_recv(ksock_t *ks, const struct iovec *iov, uint32_t n, int *flags)
{
	/* after a peek it is not known whether the socket is empty, except
	 * after EAGAIN */
	bool peek = flags != NULL && *flags != 0;
	long r;

	if (str_unlikely((str_load(&ks->flags) & KF_FILE) != 0)) {
		r = host_sock_read(id_of(ks), iov, n);
		was_read(ks, r, 0);
		return r;
	}
	r = host_sock_recv(id_of(ks), iov, n, flags);

	if (!peek || r == -EAGAIN)
		was_read(ks, r, (str_load(&ks->flags) & KF_STREAM) ?
			total(iov, n) : 0);
	return r;
}

STR_HOT long
ksock_sendmm(ksock_t *ks, struct ksock_msg *v, uint32_t n, int flags)
{
	long r = host_sock_sendmm(id_of(ks), v, n, flags);

	wrote(ks, r, 0);
	return r;
}

STR_HOT long
ksock_recvmm(ksock_t *ks, struct ksock_msg *v, uint32_t n, int flags)
{
	long r = host_sock_recvmm(id_of(ks), v, n, flags);

	was_read(ks, r, STR_MIN(n, KS_MAXMM));
	return r;
}

uint32_t
ksock_events(ksock_t *ks)
{
	return str_xchg(&ks->events, 0u);
}
