/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * streamsd has a descriptor of every socket: this file passes them to it and
 * gets them from it.
 *
 * Objects.  A letter is a message to the keeper, a thread of streamsd with no
 * other task.  The keeper does not use the executive: so a thread that waits
 * for its answer in the middle of a procedure cannot cause a deadlock. streamsd
 * itself also waits in this way for a letter that has not been read yet.
 *
 * Passing.  A letter has up to HOST_FDS descriptors, and for each the id of the
 * socket and its cookie, the kernel's unique number.  By the cookie the sender
 * detects a descriptor that the program has closed without our knowledge and
 * reused, and the keeper detects one that was reused between writing and
 * sending.
 *
 * Rounds.  A new streamsd has no descriptors: it raises `sock_round', and each
 * process passes all its sockets, when it uses one, and before it sleeps in a
 * call.  If the keeper's queue is full the rest is owed, and sent by the next
 * call, or a sleeper, some milliseconds later.  A process that sleeps outside
 * of this library passes nothing: a process that needs a box takes a duplicate
 * from it (holder.c), if the system permits that, and passes it.
 *
 * Naps.  Sockets come and go in numbers.  So a keeper that has read all letters
 * sleeps for some milliseconds in which letters do not wake it, unless they are
 * many or the sender waits, which then rings.  A letter that is not read keeps its
 * descriptors as well as streamsd does.  After the nap it closes what has ended,
 * and sleeps until the next letter if the nap was quiet.
 *
 * Ends.  A process that closes a socket raises `sock_closed'.  It sends a letter
 * only while `sock_nap' is 0: before and in the long sleep.  Before the keeper
 * makes it 0, and before each nap, the keeper has not looked at `sock_closed' for
 * the last time: it does so after the nap, and every long sleep follows a nap.
 *
 * No room.  A keeper without enough free numbers gets the first descriptors of
 * a letter and the information that there were more.  A bit for each socket, in
 * the domain, says whether it is kept.  Later, when a number has become free,
 * the keeper begins another round, in which only sockets without the bit are
 * passed.  The maker of a socket clears its bit, which an earlier socket may
 * have left set.
 *
 * Crash.  Sending a letter is atomic.  If the sender is killed before, its
 * descriptors are closed; if after, they are in the letter, which the kernel
 * keeps.  If streamsd is killed, its letters and descriptors are lost, and the
 * next one clears the bits before it begins a round.  A bit is set when the
 * descriptor has arrived.
 *
 * Locks.  None; `sent' and `told' may be too old, and then a socket is passed
 * twice.
 */
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "sock_impl.h"

#define MS 1000000ull
#define FETCH_NS (1000 * MS) /* before a socket counts as lost */
#define ANSWER_MS 100
#define TAKE_AFTER 5u /* tries of streamsd, 200 us apart, before it takes it */
#define TAKE_EACH 8u /* failures of streamsd before a search */
#define KEEP_NS (100 * MS)   /* wait for a letter that the keeper has not read
			      * yet */
#define MISSED_NS (2000 * MS) /* until the next search */
#define FULL_TRIES 40	   /* its queue is full: 50 us each */
#define NEW_TRIES 1000	   /* ... and the socket is new */
#define KEEPER_NS (1000 * MS) /* wait for a streamsd that starts */
#define KEEPER_EACH (10 * MS) /* ... and one check */
#define OWED_NS (2 * MS)   /* ... and to whom uses a socket */
#define SHORT_MIN (100 * MS) /* no room: until the next round */
#define SHORT_MAX (10000 * MS)
#define NAP_NS (5 * MS)
#define NAP_LETTERS 6u /* its queue has room for 10 by default */

#define OP_PASS 1u  /* here are descriptors of @v */
#define OP_FETCH 2u /* send one of @id to @addr */
#define OP_CLOSE 3u /* @id is gone */

struct letter {
	uint64_t id;
	uint32_t op;
	uint32_t n;	/* of @v */
	uint8_t addr[8];
	struct {
		uint64_t id, cookie;
	} v[HOST_FDS];
};
#define LETTER_LEN(n) \
	(offsetof(struct letter, v) + (n) * sizeof((struct letter *)0)->v[0])

str_a32 host_sock_told; /* the last round in which all were passed */

static struct host_shared *
shared(void)
{
	return host_shared(host_domain);
}

static void
nap(uint64_t ns)
{
	struct timespec ts = { 0, (long)ns };

	(void)sys_call2(SYS_nanosleep, &ts, NULL);
}

/* -------------------------------------------------------------------- bits */

static str_a64 *
kept(void)
{
	return (str_a64 *)(void *)((char *)host_domain + HOST_KEPT_OFF);
}

bool
host_sock_kept(uint64_t id)
{
	return (str_load(&kept()[index_of(id) / 64]) >> index_of(id) % 64) & 1;
}

void
host_sock_keeps(uint64_t id, bool yes)
{
	uint64_t bit = 1ull << index_of(id) % 64;

	if (host_sock_kept(id) == yes)
		return;
	if (yes)
		(void)str_or(&kept()[index_of(id) / 64], bit);
	else
		(void)str_and(&kept()[index_of(id) / 64], ~bit);
}

/* ----------------------------------------------------------------- letters */

/* The number of the keeper's socket; 0: there is none. */
static uint64_t
keeper_name(uint64_t *ret_epoch)
{
	struct host_shared *s = shared();
	uint64_t epoch = str_load_acq(&s->sock_epoch), name;

	name = str_load(&s->sock_name);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	*ret_epoch = epoch;
	return epoch != 0 && str_load(&s->sock_epoch) == epoch ? name : 0;
}

/*
 * A letter is there: end the keeper's nap if the sender waits (@now) or there
 * are many.  The send and the fence pair with the keeper's fence.
 */
static void
ring(bool now)
{
	str_a32 *nap = &shared()->sock_nap;
	uint32_t v;

	str_fence_full();
	v = str_load(nap);
	while (v != 0 && v < NAP_LETTERS && !now)
		if (str_cas_see(nap, &v, v + 1))
			return;
	if (v != 0 && str_xchg(nap, 0u) != 0)
		(void)host_wake(nap, 1);
}

bool
host_sock_keeper_sweeps(void)
{
	str_fence_full(); /* pairs with the keeper's exchange after a nap */
	return str_load(&shared()->sock_nap) != 0;
}

static void
begin(struct letter *l, uint32_t op, uint64_t id)
{
	memset(l, 0, LETTER_LEN(0));
	l->op = op;
	l->id = id;
}

/* Send a letter; tries up to @tries times while the queue is full.  Return: 0:
 * it will be read; or an errno. */
static int
post(const struct letter *l, const int *fd, unsigned n, int tries,
	uint64_t *ret_epoch)
{
	uint64_t name = keeper_name(ret_epoch);
	int err = ESRCH;

	for (int i = 0; name != 0 && i < tries; i++) {
		if (i != 0)
			nap(50000);
		err = host_fds_send(name, l, LETTER_LEN(n), fd, n);
		ring(l->op != OP_PASS || err != 0);
		if (err != EAGAIN)
			break;
	}
	return err;
}

static STR_NOINLINE int
tell(uint32_t op, uint64_t id, const struct host_carrier *back, int tries,
	uint64_t *ret_epoch)
{
	struct letter l;

	begin(&l, op, id);
	if (back != NULL)
		memcpy(l.addr, back->addr, sizeof l.addr);
	return post(&l, NULL, 0, tries, ret_epoch);
}

int
host_sock_tell_gone(uint64_t id, bool wait, uint64_t *ret_epoch)
{
	/* if its queue is full, the keeper reads letters, and then naps */
	return tell(OP_CLOSE, id, NULL, wait ? FULL_TRIES : 1, ret_epoch);
}

/* ----------------------------------------------------------------- passing */

struct parcel {
	struct letter l;
	int fd[HOST_FDS];
};

static void
add(struct parcel *c, uint64_t id, int fd, uint64_t cookie)
{
	c->l.v[c->l.n].id = id;
	c->l.v[c->l.n].cookie = cookie;
	c->fd[c->l.n++] = fd;
}

/*
 * Add @id's @fd.  If @fd refers to something else now, it belongs to the
 * program: it is neither passed nor used again.
 */
static void
put_in(struct parcel *c, struct place *p, uint64_t id, int fd)
{
	uint64_t cookie = host_sock_cookie(fd);

	if (cookie == 0 || cookie != str_load(&p->cookie)) {
		host_sock_forget(p, word_of(id, fd));
		return;
	}
	add(c, id, fd, cookie);
}

/* Fill one letter, from place @i on.  Return: the next place. */
static uint32_t
fill(struct parcel *c, uint32_t i, uint32_t n, uint32_t round)
{
	begin(&c->l, OP_PASS, 0);
	for (; i < n && c->l.n < HOST_FDS; i++) {
		struct place *p = &host_sock_table[i];
		uint64_t w = str_load_acq(&p->word);
		uint64_t id = (w >> 32) << 32 | i;

		if (w == 0 || str_load(&p->sent) == round || !str_sock_live(id))
			continue;
		if (host_sock_kept(id))
			str_store(&p->sent, round);
		else
			put_in(c, p, id, fd_in(w, id));
	}
	return i;
}

static int
send_off(struct parcel *c, uint32_t round, int tries)
{
	uint64_t epoch;
	int err;

	STR_CRASH_POINT("keep:filled");
	err = post(&c->l, c->fd, c->l.n, tries, &epoch);
	STR_CRASH_POINT("keep:passed");
	for (uint32_t i = 0; err == 0 && i < c->l.n; i++)
		str_store(&place_of(c->l.v[i].id)->sent, round);
	return err;
}

/*
 * If a descriptor is closed meanwhile the letter fails (EBADF): try again
 * later.
 */
static STR_NOINLINE void
pass_owed(int tries)
{
	uint32_t n = str_load(&host_sock_high), i = 0;
	uint32_t told = str_load(&host_sock_told);
	uint32_t round = str_load_acq(&shared()->sock_round);
	struct parcel c;

	if (host_is_daemon || told == round)
		return;
	while (i < n) {
		i = fill(&c, i, n, round);
		if (c.l.n != 0 && send_off(&c, round, tries) != 0)
			return;
	}
	/* unless a new round has begun */
	(void)str_cas(&host_sock_told, told, round);
}

void
host_sock_pass_all(void)
{
	pass_owed(FULL_TRIES);
}

void
host_sock_pass_now(void)
{
	static str_a64 next;

	if (host_is_daemon) { /* streamsd itself */
		str_store(&host_sock_told, str_load(&shared()->sock_round));
		return;
	}
	if (str_load(&next) > host_now())
		return;
	pass_owed(1);
	if (host_sock_owes())
		str_store(&next, host_now() + OWED_NS);
}

STR_WAKE_TEXT void
host_sock_pass_owed(void)
{
	if (str_unlikely(str_load(&host_sock_high) != 0) && host_sock_owes())
		host_sock_pass_now();
}

/*
 * Wait until streamsd has its keeper.  streamsd is known to the members some
 * instructions earlier, and host_daemon() can return in between.
 */
static void
keeper_wait(void)
{
	str_a32 *word = &shared()->sock_keeper;
	uint64_t end = host_now() + KEEPER_NS;
	uint32_t pid, v;

	for (;;) {
		pid = host_daemon_pid();
		v = str_load_acq(word);
		if (str_likely(pid != 0 && v == pid))
			return;
		if (host_now() > end || host_daemon() != 0)
			return; /* there is none */
		(void)host_wait(NULL, word, v, KEEPER_EACH);
	}
}

/*
 * Pass a new socket.  The caller may be killed as soon as it has sent data, and
 * accepted data must outlive it: so streamsd has the socket, or its letter,
 * before the socket is used.  While streamsd is stopped, only the first new socket
 * waits.
 */
void
host_sock_pass_new(uint64_t id, int fd)
{
	static str_a32 full; /* the last one found no room */
	struct place *p = place_of(id);
	struct parcel c;
	uint32_t round;
	int err;

	host_sock_keeps(id, host_is_daemon);
	if (host_is_daemon)
		return;
	keeper_wait();
	round = str_load_acq(&shared()->sock_round);
	begin(&c.l, OP_PASS, 0);
	/* its cookie was read a moment ago, and the keeper compares it */
	add(&c, id, fd, str_load(&p->cookie));
	err = send_off(&c, round, str_load(&full) ? 1 : NEW_TRIES);
	str_store(&full, (uint32_t)(err == EAGAIN));
	if (err != 0)
		(void)str_sub(&host_sock_told, 1u);
}

uint64_t
host_sock_owed_at(uint32_t pid)
{
	if (str_load(&host_sock_high) == 0)
		return UINT64_MAX;
	/* it runs, and is about to begin a round */
	if (str_unlikely(str_load_acq(&shared()->sock_keeper) != pid))
		return host_now() + OWED_NS;
	if (str_likely(!host_sock_owes()))
		return UINT64_MAX;
	host_sock_pass_now();
	return host_sock_owes() ? host_now() + OWED_NS : UINT64_MAX;
}

/*
 * host_sock_tidy - for a process that has sockets and does not use them: close
 * those that are gone, and pass the others to a new streamsd.
 */
void
host_sock_tidy(void)
{
	if (str_likely(str_load(&host_sock_high) == 0))
		return;
	host_sock_sweep();
	if (host_sock_owes())
		host_sock_pass_all();
}

/* ---------------------------------------------------------------- fetching */

/* Get a descriptor from streamsd, or minus an errno. */
static int
ask(uint64_t id, int via, const struct host_carrier *c)
{
	struct pollfd pfd = { via, POLLIN, 0 };
	struct timespec ts = { 0, ANSWER_MS * (long)MS };
	uint64_t epoch;
	int fd;

	if (tell(OP_FETCH, id, c, FULL_TRIES, &epoch) != 0) {
		(void)host_daemon();
		return -EAGAIN;
	}
	(void)sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL, SYS_SIGSET);
	return host_fd_take(via, id, &fd) == 0 ? fd : -EAGAIN;
}

/*
 * Take a box from a process that does not pass it because it sleeps outside of
 * this library. streamsd gets it, too.
 */
static int
take(uint64_t id)
{
	struct host_carrier c;
	int fd;

	if (!str_box_carrier(id, &c) || (fd = host_holder_take(&c)) < 0)
		return -EIO;
	fd = host_sock_install(id, fd, host_sock_cookie(fd));
	host_sock_pass_new(id, fd);
	return fd;
}

/* In streamsd: wait until the keeper gets it from a process. */
static int
fetch_here(uint64_t id)
{
	uint64_t end = host_now() + KEEP_NS;
	unsigned tries = 0;
	int fd;

	do {
		fd = fd_in(str_load_acq(&place_of(id)->word), id);
		if (fd >= 0)
			return fd;
		/* the process that has it may be stopped */
		ring(true);
		if (++tries == TAKE_AFTER && (fd = take(id)) >= 0)
			return fd;
		nap(200000);
	} while (str_sock_live(id) && host_now() < end);
	return take(id);
}

static int
fetch_there(uint64_t id)
{
	uint32_t round = 0, tries = 0;
	struct host_carrier c;
	uint64_t end;
	int via, fd = -EIO, taken = -EIO;

	if (host_carrier_open(O_CLOEXEC | O_NONBLOCK, &via, &c) != 0)
		return -EIO;
	end = host_now() + FETCH_NS;
	/* a new streamsd gets it when a process that runs has passed it */
	while (str_sock_live(id) && host_now() < end) {
		round = str_load_acq(&shared()->sock_round);
		fd = ask(id, via, &c);
		if (fd >= 0)
			break;
		if (++tries % TAKE_EACH == 0 && (taken = take(id)) >= 0)
			break;
		nap(2 * MS);
	}
	(void)sys_close(via);
	host_carrier_gone(&c);
	if (fd < 0)
		return taken;
	fd = host_sock_install(id, fd, host_sock_cookie(fd));
	str_store(&place_of(id)->sent, round);
	return fd;
}

int
host_sock_fetch(uint64_t id)
{
	struct place *p = place_of(id);
	int fd;

	/*
	 * a starting streamsd gets it later, and must not wait, because others
	 * wait for it
	 */
	if (host_daemon_comes && !host_is_daemon)
		return -EIO;
	if (!str_sock_live(id) ||
	    (str_load(&p->missed_gen) == (uint32_t)(id >> 32) &&
		host_now() < str_load(&p->missed)))
		return -EIO;
	fd = host_is_daemon ? fetch_here(id) : fetch_there(id);
	if (fd < 0) {
		str_store(&p->missed, host_now() + MISSED_NS);
		str_store(&p->missed_gen, (uint32_t)(id >> 32));
	}
	return fd;
}

/* ------------------------------------------------------------- the keeper */

static int keeper_fd = -1;

static void
answer(const struct letter *l)
{
	struct host_carrier to = { .kind = HOST_CARRIER_OPEN,
		.addrlen = sizeof to.addr };
	int fd = fd_in(str_load_acq(&place_of(l->id)->word), l->id);

	memcpy(to.addr, l->addr, sizeof to.addr);
	if (fd < 0 || host_fd_pass(&to, fd, l->id) != 0)
		(void)host_carrier_send(&to);
}

void
host_sock_shut_word(uint64_t id)
{
	str_a32 *word = str_sock_word(id);

	if (word == NULL)
		return;
	str_store_rel(word, (uint32_t)(id >> 32));
	(void)host_wake(word, INT32_MAX);
}

static void
gone(uint64_t id)
{
	struct place *p = place_of(id);
	uint64_t w = str_load_acq(&p->word);

	if (fd_in(w, id) >= 0) {
		host_sock_drop_word(p, w);
		host_sock_keeps(id, false);
	}
	host_sock_shut_word(id);
}

/* When the next round begins, if some sockets had no room; 0: none. */
static uint64_t short_until, short_since, short_ns = SHORT_MIN;

static void
no_room(uint64_t id)
{
	uint64_t now = host_now();

	if (fd_in(str_load_acq(&place_of(id)->word), id) >= 0)
		return;
	host_sock_keeps(id, false);
	if (short_until != 0)
		return;
	/* at growing intervals, unless the last was long ago */
	short_ns = now - short_since > 4 * SHORT_MAX ? SHORT_MIN :
		STR_MIN(2 * short_ns, SHORT_MAX);
	short_since = now;
	short_until = now + short_ns;
}

/* How long to wait for a letter; -1: for ever. */
static int
patience(void)
{
	uint64_t now = host_now();
	int fd;

	if (short_until == 0)
		return -1;
	if (now < short_until)
		return (int)((short_until - now) / MS) + 1;
	fd = sys_fcntl(keeper_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0) {
		short_until = now + short_ns;
		return (int)(short_ns / MS);
	}
	(void)sys_close(fd);
	short_until = 0;
	(void)str_add(&shared()->sock_round, 1u);
	return -1;
}

static void
keep_one(uint64_t id, uint64_t cookie, int fd)
{
	if (!str_sock_live(id) || host_sock_cookie(fd) != cookie) {
		(void)sys_close(fd);
		return;
	}
	(void)host_sock_install(id, fd, cookie);
	STR_CRASH_POINT("keep:installed");
	host_sock_keeps(id, true);
	/* it may have ended meanwhile; the message was read before */
	if (!str_sock_live(id))
		gone(id);
}

/* Keep the @n descriptors of a letter; @lost: more were sent. */
static void
keep(const struct letter *l, const int *fd, unsigned n, bool lost)
{
	for (unsigned i = 0; i < l->n; i++)
		if (i < n)
			keep_one(l->v[i].id, l->v[i].cookie, fd[i]);
		else if (lost)
			no_room(l->v[i].id);
}

/* Is @l, of @len bytes and with @n descriptors, a valid letter? */
static bool
makes_sense(const struct letter *l, long len, unsigned n, bool lost)
{
	if (len < (long)LETTER_LEN(0))
		return false;
	if (l->op != OP_PASS)
		return len == (long)LETTER_LEN(0) && n == 0;
	return l->n <= HOST_FDS && len == (long)LETTER_LEN(l->n) &&
		(lost ? n < l->n : n == l->n);
}

/* Wait @ms for a letter; -1: the receiving waits.  Return: is there one? */
static bool
letter_wait(int ms)
{
	struct pollfd pfd = { keeper_fd, POLLIN, 0 };
	struct timespec ts = { ms / 1000, ms % 1000 * (long)MS };

	return ms < 0 ||
		sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL, SYS_SIGSET) > 0;
}

/*
 * Wait for letters. @ret_busy: they come often, and so it naps.
 * Return: there is one, or receiving it waits.
 */
static bool
keeper_rest(bool *ret_busy)
{
	str_a32 *nap = &shared()->sock_nap;
	uint32_t closed = str_load(&shared()->sock_closed);
	int wait = patience();

	if (!*ret_busy)
		return letter_wait(wait);
	str_store(nap, 1u);
	str_fence_full(); /* pairs with ring()'s */
	if (letter_wait(0))
		return true;
	(void)host_wait(NULL, nap, 1u, NAP_NS);
	*ret_busy = str_xchg(nap, 0u) != 1 ||
		str_load(&shared()->sock_closed) != closed;
	host_sock_sweep();
	return false;
}

struct letter host_letter STR_LARGE; /* of the keeper's thread */

static void *
keeper_main(void *arg)
{
	struct letter *l = &host_letter;
	int fd[HOST_FDS];
	bool lost, busy = false;
	unsigned n;
	long len;

	(void)arg;
	for (;;) {
		if (!keeper_rest(&busy))
			continue;
		busy = true;
		len = host_fds_recv(keeper_fd, l, sizeof *l, fd, &n, &lost);
		if (len < 0 && len != -EINTR)
			nap(10 * MS); /* no memory */
		if (len < 0)
			continue;
		/* it naps before its next long sleep, and then looks for ends */
		if (str_load(&shared()->sock_nap) == 0)
			(void)str_cas(&shared()->sock_nap, 0u, 1u);
		STR_CRASH_POINT("keep:taken");
		if (!makes_sense(l, len, n, lost)) {
			while (n-- != 0)
				(void)sys_close(fd[n]);
		} else if (l->op == OP_PASS) {
			keep(l, fd, n, lost);
		} else if (l->op == OP_FETCH) {
			answer(l);
		} else if (l->op == OP_CLOSE && !str_sock_live(l->id)) {
			gone(l->id);
		}
	}
	return NULL;
}

static struct host_carrier keeper_at;

int
host_sock_keeper_open(void)
{
	return host_carrier_open(O_CLOEXEC, &keeper_fd, &keeper_at);
}

/* The process ends: remove its keeper's name first. */
void
host_sock_keeper_gone(void)
{
	host_carrier_gone(&keeper_at);
}

/* Start a keeper; the domain has none.  Return: 0, or an errno. */
static int
start(void)
{
	struct host_shared *s = shared();
	pthread_attr_t attr;
	pthread_t id;
	uint64_t name = 0, old;
	int err;

	if (keeper_fd < 0)
		return ENOMEM;
	for (uint32_t i = 0; i < HOST_NSOCK / 64; i++)
		str_store(&kept()[i], (uint64_t)0);
	str_store(&s->sock_nap, 0u); /* the last one may have been killed */
	host_sig_block(&old);
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attr, 128u << 10);
	err = pthread_create(&id, &attr, keeper_main, NULL);
	(void)pthread_attr_destroy(&attr);
	host_sig_restore(&old);
	if (err != 0)
		return err;
	memcpy(&name, keeper_at.addr, sizeof name);
	/* the name of a streamsd that was killed */
	host_sockdir_unlink(str_xchg(&s->sock_name, name));
	(void)str_add(&s->sock_epoch, (uint64_t)1);
	(void)str_add(&s->sock_round, 1u);
	return 0;
}

void
host_sock_keeper_start(void)
{
	(void)start();
	/* or processes that wait for it can stop */
	str_store_rel(&shared()->sock_keeper, (uint32_t)sys_getpid());
	(void)host_wake(&shared()->sock_keeper, INT32_MAX);
}
