/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The descriptor table.  See fd.h.
 *
 * Lookup.  Only a socket of AF_UNIX can be a Stream, and only in a process that
 * is attached to a domain, or holds a Stream of one, see member.c: so a program
 * without Streams never attaches.
 *
 * Closing.  A number becomes UNKNOWN before the kernel frees it: afterwards it
 * may already refer to another file.  A Stream's number is freed, and made,
 * under the lock: so a thread that looks up a number which another thread
 * closes or makes never takes a carrier for an ordinary socket.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "call.h"
#include "sock.h"
#include "iotable.h"
#include "user_impl.h"

#define HASH 256u
#define RECS_SIZE 65536u /* bytes of records made at once */
#define NEWEST 128u      /* records that are prepared for a fork */

fd_word fd_low[FD_LOW] STR_LARGE;
fd_word *_Atomic fd_chunk[FD_CHUNKS] STR_LARGE;

static struct host_plock lock;
static STR_TLS bool lock_mine;
struct fd_rec *fd_hash[HASH] STR_LARGE; /* [F] */
struct fd_rec fd_first[RECS_SIZE / sizeof(struct fd_rec)] STR_LARGE; /* [F] */
static bool first_used;		  /* [F] */
static struct fd_rec *unused;     /* [F] */
static struct fd_rec *fresh;      /* [F] the next one that was never used */
static uint32_t nfresh;           /* [F] */
static int high;                  /* [A] greatest number ever entered */
static uint32_t serial;           /* [F] of the next record */
static uint32_t forked_at;        /* [F] its value at the last fork */

/* ------------------------------------------------------------------ lock */

/*
 * Inside a call handlers are deferred; a thread that cannot begin a call, for
 * lack of a slot, blocks them instead.
 */
void
fd_lock(struct fd_guard *g)
{
	g->hc = (struct host_call){.fd = -1};
	g->entered = host_domain != NULL && host_enter(&g->hc) == 0;
	if (!g->entered)
		host_sig_block(&g->mask);
	host_plock_lock(&lock);
	lock_mine = true;
}

bool
fd_lock_mine(void)
{
	return lock_mine;
}

void
fd_unlock(struct fd_guard *g)
{
	lock_mine = false;
	host_plock_unlock(&lock);
	if (g->entered && host_tls.depth > 1)
		host_tls.depth--; /* still inside the outer call's Stream */
	else if (g->entered)
		host_leave();
	else
		host_sig_restore(&g->mask);
}

static uint64_t fork_mask;
static str_a32 forks; /* [A] */

uint32_t
fd_forks(void)
{
	return str_load(&forks);
}

void
fd_shared(void)
{
	(void)str_add(&forks, 1u);
	host_spare_shared();
}

static bool any_made; /* [A] */

/* Has this process made a stream? */
bool
fd_any_made(void)
{
	return str_load(&any_made);
}

void
fd_made(struct fd_rec *r)
{
	str_store(&any_made, true);
	r->made = true;
	r->born = fd_forks();
}

void
fd_changed(struct fd_rec *r)
{
	struct fd_guard g;

	fd_lock(&g);
	r->made = false;
	fd_unlock(&g);
}

/*
 * A kernel's pipe costs system calls and a descriptor.  So at a fork only the
 * pipes made since the last one get it, and of these the newest: a program
 * makes the pipes of its children just before it forks.
 */
static void
fork_spares(void)
{
	for (unsigned i = 0; i < HASH && forked_at != serial; i++)
		for (struct fd_rec *r = fd_hash[i]; r != NULL; r = r->next) {
			if (r->serial - forked_at >= serial - forked_at)
				continue;
			if (serial - r->serial <= NEWEST)
				plain_spare(r);
			else
				r->no_spare = true;
		}
	forked_at = serial;
}

static void
fork_prepare(void)
{
	uint64_t mask;

	host_sig_block(&mask);
	host_plock_lock(&lock);
	fork_mask = mask;
	(void)str_add(&forks, 1u); /* the host closes all spares */
	fork_spares();
}

static void
fork_done(void)
{
	uint64_t mask = fork_mask;

	host_plock_unlock(&lock);
	host_sig_restore(&mask);
}

/* Before any thread can have the lock. */
STR_CONSTRUCTOR static void
fork_hook(void)
{
	(void)__register_atfork(fork_prepare, fork_done, fork_done,
		__dso_handle);
}

/* ----------------------------------------------------------------- words */

static fd_word *
chunk_of(int fd, bool make)
{
	unsigned c = (unsigned)fd / FD_LOW;
	fd_word *p = __atomic_load_n(STR_PLAIN(&fd_chunk[c]), __ATOMIC_ACQUIRE);
	fd_word *none = NULL;
	long r;

	if (p != NULL || !make)
		return p;
	r = sys_call6(SYS_mmap, NULL, FD_LOW * sizeof(fd_word),
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r < 0 && r > -4096)
		return NULL;
	p = (fd_word *)r;
	if (!str_cas_see(&fd_chunk[c], &none, p)) {
		(void)sys_call2(SYS_munmap, r, FD_LOW * sizeof(fd_word));
		p = none;
	}
	return p;
}

/* The word of @fd; NULL: there is none (and cannot be one). */
static fd_word *
word(int fd, bool make)
{
	fd_word *p;

	if ((unsigned)fd < FD_LOW)
		return &fd_low[fd];
	if (fd < 0 || fd >= FD_MAX)
		return NULL;
	p = chunk_of(fd, make);
	return p != NULL ? &p[(unsigned)fd % FD_LOW] : NULL;
}

uintptr_t
fd_get(int fd)
{
	fd_word *w = word(fd, false);

	return w != NULL ? str_load_acq(w) : FD_UNKNOWN;
}

void
fd_put(int fd, uintptr_t v)
{
	fd_word *w = word(fd, v != FD_UNKNOWN);
	int h = str_load(&high);

	if (w == NULL)
		return;
	str_store_rel(w, v);
	while (fd > h && !str_cas(&high, h, fd))
		h = str_load(&high);
}

/* No greater number is in the table. */
int
fd_high(void)
{
	return str_load(&high);
}

static bool
is_object(uintptr_t v)
{
	return v > FD_NOT;
}

static struct fd_obj *
object(uintptr_t v)
{
	return (struct fd_obj *)(v & ~(uintptr_t)1);
}

/* --------------------------------------------------------------- records */

static unsigned
hash_of(const struct str_file *f)
{
	return (unsigned)(((uintptr_t)f >> 4) * 0x9e3779b1u >> 8) % HASH;
}

static struct fd_rec *
rec_find(const struct str_file *f)
{
	struct fd_rec *r;

	for (r = fd_hash[hash_of(f)]; r != NULL; r = r->next)
		if (r->file == f)
			return r;
	return NULL;
}

/* Pages are not touched before they are needed. */
static struct fd_rec *
rec_alloc(void)
{
	struct fd_rec *r = unused;
	long p;

	if (r != NULL) {
		unused = r->next;
		return r;
	}
	if (!first_used) {
		first_used = true;
		fresh = fd_first;
		nfresh = STR_ARRAY_LEN(fd_first);
	} else if (nfresh == 0) {
		p = sys_call6(SYS_mmap, NULL, RECS_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p < 0 && p > -4096)
			return NULL;
		fresh = (struct fd_rec *)p;
		nfresh = RECS_SIZE / sizeof *r;
	}
	nfresh--;
	return fresh++;
}

/* The record of @f; if necessary a new one without descriptors; or NULL. */
struct fd_rec *
fd_rec_of(struct str_file *f, const struct host_carrier *c)
{
	struct fd_rec *r = rec_find(f);

	if (r != NULL && r->cookie == c->cookie)
		return r;
	if (r != NULL && r->obj.count == 0)
		fd_rec_free_unused(r);
	r = rec_alloc();
	if (r == NULL)
		return NULL;
	/* a thread may still use it for its former Stream: the pointers must be
	 * valid, and the generation different */
	str_store(&r->gen, ~str_file_gen(f));
	__atomic_thread_fence(__ATOMIC_RELEASE);
	r->obj.count = 0;
	r->obj.epoll = 0;
	r->items = NULL;
	r->made = false;
	str_store(&r->plain, 0u);
	r->spare = 0;
	r->no_spare = false;
	r->serial = serial++;
	r->dup_at = 0;
	str_store(&r->nitem, 0u);
	str_store(&r->nroom, 0u);
	r->file = f;
	str_store(&r->sd, str_file_head(f));
	str_store(&r->fflags, str_file_flags(f));
	str_store(&r->kind, c->kind);
	str_store(&r->cookie, c->cookie);
	str_store_rel(&r->gen, str_file_gen(f));
	r->hint = -1;
	r->next = fd_hash[hash_of(f)];
	fd_hash[hash_of(f)] = r;
	return r;
}

void
fd_rec_free_unused(struct fd_rec *r)
{
	struct fd_rec **p;

	if (r->obj.count != 0)
		return;
	ep_rec_gone(r);
	plain_drop(r);
	for (p = &fd_hash[hash_of(r->file)]; *p != NULL; p = &(*p)->next)
		if (*p == r) {
			*p = r->next;
			break;
		}
	r->next = unused;
	unused = r;
}

/* fd_number - some descriptor of @r in this process, or -1. */
int
fd_number(struct fd_rec *r)
{
	if (r == NULL || r->obj.count == 0)
		return -1;
	if (r->hint >= 0 && fd_get(r->hint) == (uintptr_t)r)
		return r->hint;
	for (int fd = 0; fd <= fd_high(); fd++)
		if (fd_get(fd) == (uintptr_t)r)
			return r->hint = fd;
	return -1;
}

struct fd_rec *
fd_peer_rec(struct fd_rec *r)
{
	struct fd_rec *peer = r->kind == HOST_CARRIER_PAIR ?
		rec_find(str_head_peer_file(r->sd)) : NULL;

	return peer != NULL && peer->obj.count != 0 ? peer : NULL;
}

/* A descriptor of the other end of @r's pipe in this process, or -1. */
int
fd_peer(struct fd_rec *r)
{
	struct fd_guard g;
	struct str_head *sd;
	uint64_t was;
	int fd = -1;

	fd_lock(&g);
	sd = fd_inside(r, &was);
	if (sd != NULL)
		fd = fd_number(rec_find(str_head_peer_file(sd)));
	fd_outside(was);
	fd_unlock(&g);
	return fd;
}

static void
object_hold(uintptr_t v)
{
	if (is_object(v))
		object(v)->count++;
}

static void
object_drop(uintptr_t v)
{
	struct fd_obj *o = object(v);

	if (!is_object(v))
		return;
	o->count--;
	if (o->epoll) {
		if (o->count == 0)
			ep_free((struct ep *)(void *)o);
		return;
	}
	if (o->count == 0)
		fd_rec_free_unused((struct fd_rec *)(void *)o);
}

/* ---------------------------------------------------------------- asking */

/* The open file with the carrier @fd. */
static struct str_file *
file_under(int fd, struct host_carrier *ret_c)
{
	struct host_call hc = {.fd = -1};
	struct str_file *f = NULL;

	if (host_enter(&hc) != 0)
		return NULL;
	if (host_carrier_id(fd, ret_c) == 0)
		f = str_file_lookup(ret_c);
	host_leave();
	return f;
}

struct fd_rec *
fd_install(int fd, struct str_file *f, const struct host_carrier *c)
{
	uintptr_t v = fd_get(fd);
	struct fd_rec *r = fd_rec_of(f, c);

	if (r != NULL && v != (uintptr_t)r && word(fd, true) != NULL) {
		r->obj.count++;
		r->hint = fd;
		fd_put(fd, (uintptr_t)r);
		object_drop(v);
		plain_copied(r, fd);
		stdio_attach();
	}
	return r;
}

/* The word of @fd; looked up if it is UNKNOWN.  Locks: the table's. */
static uintptr_t
word_locked(int fd, fd_word *w)
{
	uintptr_t unknown = FD_UNKNOWN, v = str_load_acq(w);
	struct host_carrier c;
	struct str_file *f;
	struct fd_rec *r;

	if (v == FD_UNKNOWN && sys_fcntl(fd, F_GETFD, 0) >= 0) {
		f = !plain_is_hidden(fd) && fd_carrier_like(fd) ?
			file_under(fd, &c) : NULL;
		r = f != NULL ? fd_install(fd, f, &c) : NULL;
		if (r == NULL)
			(void)str_cas_see(w, &unknown, FD_NOT);
		v = str_load_acq(w);
	}
	return v;
}

/*
 * Has the Stream under @fd a kernel socket of which this process has no
 * descriptor and can get none?  After an exec only streamsd can have it.
 */
static bool
is_cut_off(int fd)
{
	struct host_call hc = {.fd = -1};
	struct host_carrier c;
	struct str_file *f;
	uint64_t was, id = 0;

	if (host_enter(&hc) != 0)
		return false;
	was = str_load(&host_self()->inside);
	f = host_carrier_id(fd, &c) == 0 ? str_file_lookup(&c) : NULL;
	if (f != NULL && str_head_enter(str_file_head(f), str_file_flags(f),
			str_file_gen(f)))
		id = str_head_sock(str_file_head(f));
	fd_outside(was);
	if (id != 0 && !host_sock_cut_off(id))
		id = 0;
	host_leave();
	return id != 0;
}

/*
 * Look up a socket of the right kind.  Under the lock, so that a pipe is either
 * not made yet or in the table, and a closed one is gone.
 */
static uintptr_t
ask_socket(int fd, fd_word *w)
{
	struct fd_guard g;
	uintptr_t v;

	/* not a Stream here; the next call asks again */
	if (!plain_is_hidden(fd) && fd_carrier_like(fd) && is_cut_off(fd))
		return FD_NOT;
	fd_lock(&g);
	v = word_locked(fd, w);
	fd_unlock(&g);
	return v != FD_UNKNOWN ? v : FD_NOT;
}

/*
 * Look up @fd, which is UNKNOWN.  If the number is not open the result is NOT,
 * and the word stays UNKNOWN.
 */
uintptr_t
fd_ask(int fd)
{
	fd_word *w = word(fd, true);
	uintptr_t v = w != NULL ? str_load_acq(w) : FD_UNKNOWN;
	uintptr_t unknown = FD_UNKNOWN;
	struct stat st;
	int err = errno, ret;

	if (v != FD_UNKNOWN || w == NULL)
		return v != FD_UNKNOWN ? v : FD_NOT;
	ret = (int)sys_call4(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH);
	if (ret == -EBADF)
		return FD_NOT;
	/* if a sandbox forbids fstat(), it may be a socket */
	if ((ret != 0 || S_ISSOCK(st.st_mode)) && fd_possible()) {
		v = ask_socket(fd, w);
		errno = err;
		return v;
	}
	(void)str_cas_see(w, &unknown, FD_NOT);
	return FD_NOT;
}

static bool
names(int fd, struct fd_rec *r)
{
	uint64_t cookie;

	if (str_unlikely(str_load(&r->plain) != 0))
		return str_plain_is(str_load(&r->sd), fd);
	return host_fd_cookie(fd, &cookie) == 0 &&
		cookie == str_load(&r->cookie);
}

/*
 * Does @fd no longer refer to @r's Stream, so that the failed call must be
 * repeated?  The table is corrected under the lock: otherwise the number may
 * refer to another Stream by now, which would be lost from the table, and its
 * close would not be noticed.
 *
 * @hc: the call; NULL: none was made.  A call that had begun is not repeated if
 * another thread has closed its descriptor meanwhile: the number refers to
 * another file now.
 */
bool
fd_stale(int fd, struct fd_rec *r, const struct host_call *hc)
{
	struct fd_guard g;
	uintptr_t v;
	bool wrong;

	if (names(fd, r))
		return false;
	STR_CRASH_POINT("fd:stale");
	fd_lock(&g);
	v = fd_get(fd);
	wrong = v == (uintptr_t)r && !names(fd, r);
	if (wrong) {
		fd_put(fd, FD_UNKNOWN);
		object_drop(v);
	}
	fd_unlock(&g);
	return wrong || hc == NULL || hc->head == NULL;
}

/* ------------------------------------------------------ numbers come, go */

void
fd_forget(int fd)
{
	struct fd_guard g;
	uintptr_t v = fd_get(fd);

	if (!is_object(v)) {
		if (v != FD_UNKNOWN)
			fd_put(fd, FD_UNKNOWN);
		return;
	}
	fd_lock(&g);
	v = fd_get(fd);
	fd_put(fd, FD_UNKNOWN);
	object_drop(v);
	fd_unlock(&g);
}

/*
 * The number is free, or about to be, and was not a Stream.  Return: false: it
 * is a Stream, and must be closed as one.
 */
bool
fd_forget_not(int fd)
{
	fd_word *w = word(fd, false);
	uintptr_t v = FD_NOT;

	return w == NULL || str_load(w) == FD_UNKNOWN ||
		str_cas_see(w, &v, FD_UNKNOWN) || v == FD_UNKNOWN;
}

void
fd_not(int fd)
{
	fd_word *w = word(fd, true);

	if (fd >= 0 && w != NULL && is_object(str_load(w)))
		fd_forget(fd);
	if (fd >= 0 && w != NULL)
		str_store_rel(w, FD_NOT);
}

void
fd_copy(int from, int to)
{
	struct fd_guard g;
	uintptr_t v, old = fd_get(to);

	/* stdio may use @to without a lookup */
	v = stdio_attached() ? fd_get(from) : fd_word_of(from);
	if (!is_object(v) && !is_object(old)) {
		fd_put(to, v);
		return;
	}
	fd_lock(&g);
	v = fd_get(from);
	old = fd_get(to);
	if (word(to, true) != NULL) {
		object_hold(v);
		fd_put(to, v);
		object_drop(old);
		if (is_object(v) && !object(v)->epoll) {
			((struct fd_rec *)v)->dup_at = fd_forks() + 1;
			plain_copied((struct fd_rec *)v, to);
		}
	}
	fd_unlock(&g);
}

/* A number no longer refers to @v. */
static void
release(uintptr_t v, struct fd_release *rel)
{
	struct fd_rec *r = (struct fd_rec *)v;

	if (is_object(v) && !object(v)->epoll) {
		rel->sd = r->sd;
		rel->file = r->file;
		rel->kind = r->kind;
		rel->forks = fd_forks();
		rel->sole = r->made && r->born == rel->forks &&
			r->obj.count == 1;
		rel->last = r->obj.count == 1;
		rel->plain = r->items == NULL;
		rel->kept = false;
		rel->cookie = r->cookie;
		rel->entered = false;
		rel->fflags = r->fflags;
		rel->gen = r->gen;
		rel->peer = r->kind != HOST_CARRIER_PAIR ? -1 :
			fd_number(rec_find(str_head_peer_file(r->sd)));
	}
	object_drop(v);
}

/* @fd, which is about to be closed, may have the carrier of the next stream. */
static void
spare_keep(int fd, struct fd_release *rel)
{
	struct host_carrier c, m = { .cookie = 0 };

	if (!rel->entered || !rel->sole || !rel->plain ||
		(str_load(rel->fflags) & (O_APPEND | O_ASYNC)) != 0)
		return;
	str_file_carrier(rel->file, &c);
	if (rel->kind == HOST_CARRIER_PAIR) {
		str_file_carrier(str_head_peer_file(rel->sd), &m);
		if (m.kind != HOST_CARRIER_PAIR)
			return;
	}
	rel->kept = c.cookie == rel->cookie &&
		host_spare_keep(fd, &c, m.cookie,
			(str_load(rel->fflags) & O_NONBLOCK) != 0);
}

/*
 * Close the descriptor @fd of a Stream or epoll instance.  A thread that looks
 * it up meanwhile waits.  Return: 0 or an errno.
 */
int
fd_close(int fd, struct fd_release *rel)
{
	fd_word *w = word(fd, true);
	struct fd_guard g;
	uintptr_t v;
	int err;

	rel->sd = NULL;
	fd_lock(&g);
	/* it may have been corrected meanwhile: see fd_stale() */
	v = w != NULL ? word_locked(fd, w) : FD_NOT;
	fd_put(fd, FD_UNKNOWN);
	release(v, rel);
	fd_release_hold(rel);
	if (rel->sd != NULL) {
		str_head_closing(rel->sd, fd);
		spare_keep(fd, rel);
	}
	err = -sys_close(fd);
	fd_unlock(&g);
	return err;
}

void
fd_release_begin(int fd, struct fd_release *rel)
{
	struct fd_guard g;
	uintptr_t v = fd_get(fd);

	rel->sd = NULL;
	if (!is_object(v)) {
		if (v != FD_UNKNOWN)
			fd_put(fd, FD_UNKNOWN);
		return;
	}
	fd_lock(&g);
	v = fd_get(fd);
	fd_put(fd, FD_UNKNOWN);
	release(v, rel);
	fd_unlock(&g);
}

void
fd_release_hold(struct fd_release *rel)
{
	if (rel->sd == NULL)
		return;
	rel->hc = (struct host_call){.fd = -1};
	if (host_enter(&rel->hc) != 0) {
		rel->sd = NULL; /* no slot: a sweep closes it */
	} else if (!str_head_enter(rel->sd, rel->fflags, rel->gen)) {
		host_leave();
		rel->sd = NULL; /* gone already */
	} else {
		rel->entered = true;
	}
}

/* A descriptor of an open file that is not a pipe's end has been closed. */
static void
file_released(struct fd_release *rel)
{
	if (rel->sole && rel->forks == fd_forks() &&
		str_file_ended(rel->file, rel->gen, rel->kept, &rel->hc)) {
		if (rel->kept)
			host_spare_ready(rel->cookie);
		return;
	}
	if (rel->kept)
		host_spare_forget(rel->cookie);
	str_file_released(rel->file, rel->gen, &rel->hc);
}

/* A descriptor of the end of a pipe that pipe(2) made has been closed. */
static void
end_released(struct fd_release *rel)
{
	enum str_closed how = STR_CLOSED_NOT;

	if (rel->sole && rel->forks == fd_forks())
		how = str_pipe_ended(rel->sd);
	else
		str_head_released(rel->sd, rel->peer);
	if (rel->kept && how == STR_CLOSED_BOTH)
		host_spare_ready(rel->cookie);
	else if (rel->last && !(rel->kept && how == STR_CLOSED_END))
		host_spare_forget(rel->cookie);
}

void
fd_release_end(struct fd_release *rel)
{
	int err = errno;

	if (!rel->entered)
		fd_release_hold(rel);
	if (rel->sd == NULL)
		return;
	if (rel->last && (str_load(rel->fflags) & O_ASYNC) != 0)
		str_sig_async_end(rel->sd, (int32_t)sys_getpid());
	str_head_dropped(rel->sd);
	if (rel->kind == HOST_CARRIER_PAIR) {
		end_released(rel);
	} else {
		uint64_t sock = str_head_sock(rel->sd);

		rel->hc.fflags = (int)str_load(rel->fflags);
		str_sock_flush(&rel->hc);
		file_released(rel);
		if (sock != 0 && rel->last)
			host_sock_drop(sock);
	}
	host_leave();
	errno = err;
}

/* ------------------------------------------------------------ looking at */

uint32_t
fd_events_for(struct fd_rec *r, uint32_t gone, uint32_t want)
{
	uint64_t was;
	struct str_head *sd = fd_inside(r, &was);
	uint32_t ev = gone;

	if (sd != NULL)
		ev = str_head_events_for(sd, fd_fflags(r), want);
	if (str_unlikely((ev & STR_POLLPLAIN) != 0))
		ev = plain_events(r, sd, ev & ~STR_POLLPLAIN);
	fd_outside(was);
	return ev;
}

uint32_t
fd_events(struct fd_rec *r, uint32_t gone)
{
	return fd_events_for(r, gone, ~0u);
}

bool
fd_lost(struct fd_rec *r)
{
	uint64_t was;
	struct str_head *sd = fd_inside(r, &was);
	bool yes = sd != NULL && (str_head_lost(sd) || str_head_stuffed(sd));

	fd_outside(was);
	return yes;
}

bool
fd_outside_full(struct fd_rec *r)
{
	uint64_t was;
	struct str_head *sd = fd_inside(r, &was);
	bool yes = sd != NULL && str_head_noroom(sd);

	if (sd != NULL && str_unlikely(str_load(&r->plain) != 0))
		yes = str_plain_writes(sd) &&
			(plain_events(r, sd, 0) & STR_POLLOUT) == 0;
	fd_outside(was);
	return yes;
}

/* @hc, of a call on several Streams, is used for @r's for a moment. */
static void
begin_look(struct host_call *hc, struct fd_rec *r, struct str_head *sd, int fd)
{
	hc->fd = fd;
	hc->head = sd;
	if (str_unlikely(str_load(&r->plain) != 0))
		hc->flags |= HOST_CALL_PLAIN;
}

static void
end_look(struct host_call *hc)
{
	hc->fd = -1;
	hc->flags &= ~HOST_CALL_PLAIN;
}

void
fd_outside_room(struct fd_rec *r, struct host_call *hc, int fd)
{
	uint64_t was;
	struct str_head *sd = fd_inside(r, &was);

	if (sd != NULL) {
		begin_look(hc, r, sd, fd);
		str_head_room(sd, hc);
		end_look(hc);
	}
	fd_outside(was);
}

void
fd_watch(struct fd_rec *r)
{
	uint64_t was;
	struct str_head *sd = fd_inside(r, &was);

	if (sd != NULL)
		str_head_watch(sd);
	fd_outside(was);
}

void
fd_arm(struct fd_rec *r, struct host_call *hc, int fd, uint32_t events)
{
	uint64_t was;
	struct str_head *sd = fd_inside(r, &was);

	if (sd != NULL) {
		if (hc != NULL) {
			hc->fd = fd;
			hc->head = sd;
			(void)str_sched_run_head(sd, hc);
			hc->fd = -1;
		}
		str_head_arm(sd, events);
	}
	fd_outside(was);
}

void
fd_look(struct fd_rec *r, struct host_call *hc, int fd)
{
	uint64_t was;
	struct str_head *sd = fd_inside(r, &was);

	if (sd != NULL) {
		begin_look(hc, r, sd, fd);
		(void)str_head_look(sd, hc);
		end_look(hc);
	}
	fd_outside(was);
}

/*
 * Drain the token.  It may have been meant for a thread that has not checked
 * yet: for a poller if one of the events @others is present.
 */
void
fd_drain(struct fd_rec *r, int fd, uint32_t others)
{
	uint64_t was;
	struct str_head *sd = fd_inside(r, &was);

	if (sd != NULL)
		str_head_drain(sd, fd,
			(str_head_events_as(sd, fd_fflags(r)) & others) != 0);
	else
		host_token_drain(fd);
	fd_outside(was);
}

/* ---------------------------------------------------------------- hidden */

int
fd_hidden_from(int from)
{
	int low = -1, sock;

	for (int i = 0; i < HOST_NFD; i++) {
		int fd = host_fd_get(i);

		if (fd >= from && (low < 0 || fd < low))
			low = fd;
	}
	sock = plain_hidden_from(from);
	if (sock >= 0 && (low < 0 || sock < low))
		low = sock;
	sock = host_sock_hidden_from(from);
	return sock >= 0 && (low < 0 || sock < low) ? sock : low;
}

void
fd_hidden_move(int fd)
{
	char env[24];
	int to;

	if (plain_is_hidden(fd)) {
		plain_hidden_move(fd);
		return;
	}
	if (host_sock_is_ours(fd)) {
		host_sock_move(fd);
		return;
	}
	if (host_fd_get(HOST_FD_DOMAIN) != fd) {
		/* a thread that needs them makes new ones */
		for (int i = 0; i < HOST_NFD; i++)
			if (i != HOST_FD_DOMAIN && host_fd_get(i) == fd)
				host_fd_drop(i);
		return;
	}
	to = sys_fcntl(fd,
		sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC ? F_DUPFD_CLOEXEC
						       : F_DUPFD,
		fd + 1);
	if (to < 0)
		to = sys_fcntl(fd, F_DUPFD, 3);
	if (to < 0)
		return;
	host_fd_note(HOST_FD_DOMAIN, to);
	if (strncmp(host_domain_path(), "fd:", 3) == 0) {
		snprintf(env, sizeof env, "fd:%d", to);
		(void)setenv("STREAMS_DOMAIN", env, 1);
	}
}
