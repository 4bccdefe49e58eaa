/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The host interface: all functions that the executive needs from its
 * environment.
 *
 * Written as a specification.  Every host implements every function with
 * the obligations stated here; `host/user' is the one for production use.
 * `host/sim' runs the same executive in one thread, in an order that depends on
 * a seed, and in virtual time.  Failures are positive errno values, unless a
 * comment says minus an errno; results are stored through ret_ pointers, which
 * are untouched on failure.  Only the functions named host_wait* may block
 * without a limit.  With a host_call they are called without a claim and
 * without a lock, except the outermost ones (docs/locking.md, *Waiting*).
 *
 * A *call* is the time between host_enter() and host_leave(): the process
 * is then "in the kernel".  Signal handlers do not run inside a call except
 * while it is blocked in host_wait*().
 */
#ifndef STR_HOST_H
#define STR_HOST_H

#include <str/shm.h>

#define HOST_VERSION 1

/* Carrier events, as host_wait_carrier() and host_carrier_look() return. */
#define HOST_C_TOKEN 1u /* its receive queue is not empty */
#define HOST_C_HUP 2u	/* the last holder of the other end has gone */
#define HOST_C_NVAL 4u	/* the descriptor does not refer to that carrier any
			 * more */
#define HOST_C_BELL 8u	/* this process's bell was rung */
/* ... and host_wait_sock() besides. */
#define HOST_C_IN 16u  /* the socket: data, a connection, an error, the end */
#define HOST_C_OUT 32u /* room, or connected; a carrier's with HOST_CALL_ROOM */
#define HOST_C_END 64u /* an error, the end of file or urgent data is among the
		        * events */
#define HOST_C_MORE 128u /* host_sock_events() has events to report */
#define HOST_C_ALONE 256u /* host_wait_sock(): nothing else is waited for */
#define HOST_C_NAP 512u	/* ... but look at the socket after HOST_NAP_NS */
#define HOST_C_SPIN 1024u /* ... or after HOST_SPIN_NS, without sleeping */
#define HOST_NAP_NS 1000u /* or as long as the thread has worked before */
#define HOST_SPIN_NS 10000u

/* Result of host_interrupted(). */
#define HOST_SIG_NONE 0
#define HOST_SIG_RESTART 1 /* handlers ran, all of them with SA_RESTART */
#define HOST_SIG_INTR 2	   /* a handler ran that does not restart */

/* errno values the executive uses; equal to the host system's. */
/* (core includes <str/errno.h>) */

/*
 * Context of one call, on the caller's stack.  The caller fills in fd, fflags
 * and flags before host_enter().  The host uses the rest.
 */
struct host_call {
	int fd;		   /* descriptor the call was made on, or -1 */
	int fflags;	   /* O_NONBLOCK and access mode, as F_GETFL says */
	uint32_t flags;	   /* HOST_CALL_* */
	uint32_t sig_seq;  /* signals this thread had handled at entry */
	const void *mask;  /* sigset_t for ppoll, or NULL */
	struct str_head *head; /* executive: the head the call is on */
};
#define HOST_CALL_CANCEL 1u /* blocking is a cancellation point */
#define HOST_CALL_PLAIN 16u /* `fd' is the kernel's pipe of a PLAIN pipe */
#define HOST_CALL_ROOM 4u   /* host_wait_carrier(): for HOST_C_OUT, not tokens */
#define HOST_CALL_ONCE 2u   /* executive: a signal ends it, SA_RESTART or not:
			     * something is done already, or it is poll(2) */

/*
 * str_thread_uncount - thread @t does not sleep as a writer any more
 * Called by the thread itself, and by the host before a handler and when the
 * thread is cancelled; for a dead thread by str_stream_uncount().
 * Crash: a thread that is killed between the two steps stays counted.
 */
STR_INLINE void
str_thread_uncount(struct str_thread *t)
{
	uint64_t at = str_load(&t->counted);

	if (str_unlikely(at != 0 && (at = str_xchg(&t->counted, 0ull)) != 0))
		(void)str_sub((str_a32 *)(uintptr_t)at, 1u);
}

#define HOST_NTOUCH 32u
#define HOST_NSOON 4u
/* Per-thread, process-private state of the host.  [O] throughout. */
struct host_tls {
	struct str_thread *slot; /* this thread in the arena, or NULL */
	uint32_t tag;		 /* its tag */
	uint32_t depth;		 /* > 0: inside a call */
	uint32_t sig_seq;	 /* handlers run so far */
	uint32_t sig_norestart;	 /* of these, without SA_RESTART */
	uint32_t sig_saved;	 /* signals deferred until host_leave() */
	uint32_t cpu_valid;
	str_a32 *sleep_word;	 /* word of the futex wait in progress */
	struct host_call *call;	 /* executive: call whose puts are running */
	uint32_t wrote;		 /* executive: 1: it has written since it last
				  * waited */
	/* executive: the streams claimed, and touched: core/plumb/claim.c */
	struct str_plumb *at;	 /* the stream claimed last */
	uint32_t nclaim;	 /* entries of slot->claim[] in use */
	uint32_t ntouch;
	struct str_plumb *touch[HOST_NTOUCH];
	uint32_t busy;		 /* 1: it runs the queues of the streams it
				  * touched */
	uint32_t taken;		 /* messages taken so far: core/msg/origin.h */
	uint32_t reaping;	 /* whose stream it revives: core/plumb */
	uint32_t reap;		 /* tag of a dead thread that is to be reaped */
	struct str_fmod *perim;	 /* module whose perimeter it is in */
	struct str_qpair *opening; /* whose open or close it is in */
	int uarea[5];		 /* executive: struct str_uarea of <sys/user.h> */
	uint32_t old_opens;	 /* executive: open procedures of SVR3 it is in */
	uint64_t event;		 /* callback it is in */
	/* executive: the last write that found no room: str_direct_soon() */
	struct str_head *full_at; /* head at which it was; NULL: none */
	struct str_headq *full;	 /* the head queue without room */
	/* executive: sockets with data gathered: core/sock */
	uint32_t nsoon;
	uint32_t vain_fences;	 /* full fences since one found a sleeper:
				  * core/head/wake.c:wanted() */
	uint64_t soon[HOST_NSOON];
	uint32_t lates;		 /* calls of str_wake_begin() without
				  * str_wake_end() yet */
	uint32_t turn_seen;	 /* turns when the thread's last one ended:
				  * core/head/turn.c */
};
extern STR_TLS struct host_tls host_tls STR_HIDDEN;

/* The domain this process is attached to; NULL before. */
extern struct str_domain *host_domain STR_HIDDEN;
/*
 * The first word of a page that the kernel clears in a forked child; 0: this
 * process is new.
 */
extern volatile uint32_t *host_identity STR_HIDDEN;

STR_INLINE bool
host_known(void)
{
	return str_load(host_identity) != 0;
}

/* ------------------------------------------------------------------ calls */

/*
 * host_enter - begin a call.  Attaches the process and the thread if they are
 * not attached yet (slow path).
 * host_leave - end the call: raises the deferred signals again, which runs
 * their handlers.  Nesting is allowed (a handler that interrupted a blocked
 * call may make calls).
 * Return of host_enter: 0, or why there is no domain (ENOSR no slot or
 * memory, EACCES, EPROTO wrong version ...).
 */
int host_enter_slow(struct host_call *hc) STR_COLD;
void host_leave_slow(void) STR_COLD;

STR_INLINE int
host_enter(struct host_call *hc)
{
	if (str_unlikely(host_tls.slot == NULL || !host_known())) {
		int err = host_enter_slow(hc);

		if (err != 0)
			return err;
	}
	host_tls.depth++;
	str_barrier();
	hc->sig_seq = host_tls.sig_seq;
	return 0;
}

STR_INLINE void
host_leave(void)
{
	str_barrier();
	str_store_rel(&host_tls.slot->inside, (uint64_t)0);
	host_tls.depth--;
	str_barrier();
	if (str_unlikely(host_tls.sig_saved != 0) && host_tls.depth == 0)
		host_leave_slow();
}

STR_INLINE struct str_thread *
host_self(void)
{
	return host_tls.slot;
}

STR_INLINE uint32_t
host_self_tag(void)
{
	return host_tls.tag;
}

/*
 * host_cpu - number of the CPU this thread runs on, a hint (rseq; ~0 when
 * unknown).  No system call.
 */
uint32_t host_cpu(void);

/* ------------------------------------------------------------------ clock */

uint64_t host_now(void);	  /* monotonic, ns; virtual in sim */
uint64_t host_wall(void);	  /* seconds since 1970, for people */
uint64_t host_ticks(void);	  /* cheapest monotonic counter (TSC) */
extern uint64_t host_ticks_per_ms STR_HIDDEN; /* its rate; set when attached */

/*
 * host_random - a random number of the kernel, which others cannot predict; in
 * sim the seed determines it.  A system call.
 */
uint64_t host_random(void);

/* ----------------------------------------------------------------- fences */

/*
 * Asymmetric fence.  host_fence_heavy() makes every member's earlier stores
 * visible to this thread and this thread's earlier stores visible to their
 * later loads, as if each of them had executed a full fence: it pairs with
 * host_fence_light() on the fast side, which is only a compiler barrier.  When
 * some member could not register (host_domain->asym == 0) the light side is a
 * full fence.
 */
void host_fence_heavy(void);

STR_INLINE void
host_fence_light(void)
{
	str_barrier();
	if (str_unlikely(str_load(&host_domain->asym) == 0))
		str_fence_full();
}

/* ---------------------------------------------------------- wait and wake */

/*
 * host_wait - sleep while *word == val, at most @ns nanoseconds.
 * A signal handler that runs after host_enter() ends the wait, even if it ran
 * before the wait began (the handler's trampoline changes @word).
 * Return: 0 (changed or woken, perhaps without a cause), ETIMEDOUT, EINTR.
 * @hc may be NULL: then signals neither interrupt nor cancel (short waits
 * for locks).
 */
int host_wait(struct host_call *hc, str_a32 *word, uint32_t val, uint64_t ns);

/* host_wake - wake at most @n sleepers on @word (shared between processes).
 * Return: how many there were. */
int host_wake(str_a32 *word, int n);

/*
 * Notice of deaths.  A sleeper that streamsd tells of deaths need not wait for
 * its carrier.
 * host_notice_begin - does streamsd tell this thread, which is going to sleep on
 * @word?  The caller has sampled the word.  It then publishes `asleep_on',
 * executes a heavy fence, and checks all its conditions.
 * Return: false: not now; *ret is undefined.
 * host_wait_notice - host_wait() that also ends when this process's bell has
 * been rung, or when streamsd has ended, since host_notice_begin().
 * Return: as host_wait(); EAGAIN: one of these has ended it, look at the carrier.
 */
struct host_notice {
	uint32_t look, life; /* of the host */
};
bool host_notice_begin(struct host_notice *ret, str_a32 *word);
int host_wait_notice(struct host_call *hc, str_a32 *word, uint32_t val,
	const struct host_notice *n, uint64_t ns);

/*
 * host_wait_carrier - sleep until hc->fd's carrier has a token or hang-up,
 * this process's bell rings, or @ns have passed (UINT64_MAX: no limit).
 * Does not drain the token; drains the bell.
 * Return: 0 with *ret_events, ETIMEDOUT, EINTR.
 */
int host_wait_carrier(struct host_call *hc, uint64_t ns, uint32_t *ret_events);
/*
 * host_serve - work that a thread does for its process before it sleeps, and
 * when the bell has rung.  The library defines it; elsewhere it is NULL.
 * Context: inside a call, no lock and no claim held.
 */
void host_serve(void) STR_WEAK STR_HIDDEN;
/* host_wait_prepare - make sure that this process has a bell that others can
 * ring.  A thread calls this before it announces that it will wait on a
 * carrier: that wait also ends if the bell has been rung since. */
void host_wait_prepare(void);

/* host_interrupted - did a handler run since @hc began?  HOST_SIG_* */
int host_interrupted(struct host_call *hc);
/* host_resample - ignore the handlers that have run so far (SA_RESTART). */
void host_resample(struct host_call *hc);
/* host_yield - let another thread of this CPU run. */
void host_yield(void);
/*
 * host_give_way - host_yield() for a thread that would otherwise sleep until a
 * thread of this CPU has continued
 * A yield is cheaper than a sleep and a wake, but the kernel may give the CPU to
 * an unrelated program, which runs for milliseconds.  After such a loss the
 * thread does not yield for a time that is long compared with the loss.
 * Return: false: not now; sleep.
 */
bool host_give_way(void);
/* host_way_used - after host_give_way(): the thread at the other end ran, for its
 * queue is much fuller, or emptier, than before. */
void host_way_used(void);

/* host_owner_dead - is the thread named @tag gone (exited, killed, exec'ed)?
 * May take a system call.  A stopped process is not dead. */
bool host_owner_dead(uint32_t tag);

/*
 * host_reap_dead - if the thread named @tag is gone, give its resources back
 * now (str_thread_reap()), not only when the next process attaches.  Called
 * with no lock held and no claim published.
 * Return: true if it was dead and this call has reaped it.
 */
bool host_reap_dead(uint32_t tag);

/* ----------------------------------------------------------------- memory */

/*
 * host_commit - back arena bytes [off, off+len) with memory, or a part of the
 * header that is not backed from the beginning.
 * Return: 0, or ENOSR when there is none; never a later SIGBUS.
 */
int host_commit(uint64_t off, uint64_t len);

/*
 * host_copyin,
 * host_copyout - copy between the arena and the caller's memory.  A bad user
 * address gives EFAULT and no other harm; the bytes before the bad address may
 * have been copied.
 */
int host_copyin(const void *uaddr, void *addr, size_t len) STR_MUST_CHECK;
int host_copyout(const void *addr, void *uaddr, size_t len) STR_MUST_CHECK;
/*
 * The same for inlined paths, if the build says that this host's routines
 * change few registers (host/user/copy_x86_64.S).  The caller then keeps its
 * values in the other registers.  Only in files that are compiled without a red
 * zone.
 */
#if defined(STR_COPY_FEW)
STR_INLINE STR_MUST_CHECK int
host_copyin_few(const void *uaddr, void *addr, size_t len)
{
	int err;

	__asm__ volatile("call host_copyin"
		: "=a"(err), "+D"(uaddr), "+S"(addr)
		: "d"(len)
		: "rcx", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
		"xmm6", "xmm7", "cc", "memory");
	return err;
}

#define host_copyout_few host_copyin_few /* one routine has both names */
#else
#define host_copyin_few host_copyin
#define host_copyout_few host_copyout
#endif
/* Copy a string of at most @max bytes with its NUL; ENAMETOOLONG if longer */
int host_copyinstr(const void *uaddr, char *addr, size_t max) STR_MUST_CHECK;

/* --------------------------------------------------------------- carriers */

/*
 * PAIR: one end of a connected pair, the carrier of a pipe's end.  When it is
 * closed, the other end gets the hang-up.  OPEN: a datagram socket with an
 * address in the domain's socket directory, the carrier of every other open
 * file.  Any member can send it a token.  When its last holder closes it, no
 * process is notified, but the next token is refused.
 */
#define HOST_CARRIER_PAIR 0u
#define HOST_CARRIER_OPEN 1u
struct host_carrier {
	uint64_t cookie;  /* SO_COOKIE */
	uint64_t ino;	  /* inode of the socket */
	uint32_t kind;	  /* HOST_CARRIER_* */
	uint32_t addrlen; /* OPEN: bytes of addr */
	uint8_t addr[8];  /* OPEN: which one in the socket directory */
};

/*
 * host_carrier_pair - make the two carriers of a pipe.
 * @oflags: O_CLOEXEC, O_NONBLOCK.
 * Return: 0, EMFILE, ENFILE, ENOMEM.
 */
int host_carrier_pair(int oflags, int ret_fd[2],
	struct host_carrier ret_carrier[2]);

/*
 * host_carrier_open - make a carrier of kind OPEN, which only this user's
 * processes can send to.
 * @oflags: O_CLOEXEC, O_NONBLOCK.
 * Return: 0, EMFILE, ENFILE, ENOMEM; EACCES: the domain's socket directory
 * cannot be made, or is not trustworthy.
 * host_carrier_gone - @c, of either kind, has no holder any more, or is about
 * to have none: remove its address.  May be called more than once.
 */
int host_carrier_open(int oflags, int *ret_fd,
	struct host_carrier *ret_carrier);
void host_carrier_gone(const struct host_carrier *c);

/*
 * host_carrier_send - put a token into the carrier @c of kind OPEN, held by
 * any process.
 * Return: 0; ECONNREFUSED: it has no holder; EAGAIN: its queue is full (it
 * contains a token then, which is enough).
 */
int host_carrier_send(const struct host_carrier *c);

/* host_fd_close - close a descriptor that host_carrier_open() or host_box_dup()
 * returned. */
void host_fd_close(int fd);

/*
 * host_carrier_id - identify the carrier that @fd refers to now, all fields;
 * EBADF, ENOTSOCK.
 */
int host_carrier_id(int fd, struct host_carrier *ret_carrier);

/* host_carrier_look - events of @fd's carrier now, without waiting. */
uint32_t host_carrier_look(int fd);

/*
 * host_carrier_alive - does any process still hold that carrier?  True if that
 * cannot be found out.  Takes a few us (sock_diag).
 */
bool host_carrier_alive(const struct host_carrier *c);
/*
 * host_listing_make - list the existing carriers, for a walk over many streams;
 * NULL: not possible.  host_listing_has - did @c exist then?  False is no proof
 * that it did not: call host_carrier_alive().  host_listing_free - @l may be
 * NULL, here and in host_listing_has().
 */
struct host_listing;
struct host_listing *host_listing_make(void);
bool host_listing_has(struct host_listing *l, const struct host_carrier *c);
void host_listing_free(struct host_listing *l);

/*
 * Tokens: one byte each in a carrier's receive queue, with a mark that no
 * write(2) can make.
 * host_token_send(fd): put one into the *other* end's queue.  EPIPE: that end
 * is closed; EAGAIN: its queue is full (it contains a token then, which is
 * enough), or no mark can be made. host_token_drain(fd): take all tokens out of
 * this end's own queue.
 */
int host_token_send(int fd);
void host_token_drain(int fd);

/*
 * Bytes in a pair of carriers: those that processes outside the domain write,
 * and those that are written for such processes.
 * host_token_take(fd, buf, len): take tokens out of @fd's queue, and at most
 * @len other bytes into @buf.  When @buf is full, only the tokens before the
 * next other byte are taken.  Return: bytes stored.
 * host_outside_put(fd, buf, len): write to the other end without waiting; @buf
 * is a user's address.  Return: bytes, or minus EAGAIN, EPIPE, EFAULT, or
 * ENOTSOCK: @fd is no end of a pair.
 * host_outside_waiting(fd): bytes in @fd's own queue.
 * host_outside_unread(fd): is any byte that was written at @fd still in the
 * other end's queue? host_outside_room(fd): is there much room for
 * host_outside_put()? host_outside_only(c, in_flight): do processes hold the
 * carrier @c, and are all of them outside the domain?  @in_flight: also if none
 * does.  False if that cannot be found out.  Takes some ms.
 */
bool host_outside_only(const struct host_carrier *c, bool in_flight);
size_t host_token_take(int fd, void *buf, size_t len);
long host_outside_put(int fd, const void *buf, size_t len);
size_t host_outside_waiting(int fd);
bool host_outside_unread(int fd);
bool host_outside_room(int fd);

/*
 * The kernel's pipe of a PLAIN pipe; docs/plain.md.  Its number is its inode.
 * host_plain_make - make one, without a reader and a writer; this process and
 * its children can open it.  Return: 0, or an errno if that is not possible.
 * host_plain_known - can this process open it?
 * host_plain_find - look for it in the queue of the carrier @sock, where
 * host_plain_keep() has put it; tokens are lost.  Return: is it known now?
 * host_plain_forget - this process does not need it any more.
 * host_plain_open - a descriptor with FD_CLOEXEC and a high number, for
 * HOST_PLAIN_READ, HOST_PLAIN_WRITE or both; it does not wait for the other
 * side.  HOST_PLAIN_LARGE: enlarge the pipe to 1 MiB, which counts against a
 * limit of the user.  @nonblock: with O_NONBLOCK.  Return: it, or minus an
 * errno.
 * host_plain_is - is @fd one of its descriptors?
 * host_plain_look - its events now, as host_carrier_look(): HOST_C_TOKEN if there
 * are bytes, HOST_C_HUP if the other side is closed.
 * host_plain_keep(fd, end): put a duplicate of @end into the queue of the
 * carrier that is connected to @fd, where it stays open as long as that carrier
 * has a holder.  Return: 0; EPIPE: that carrier has no holder; EMFILE, ENOSR.
 * host_plain_get(fd, buf, len): read from it without waiting; @buf is a user's
 * address.  Return: bytes; 0: it is empty and has no writer; or minus EAGAIN,
 * EFAULT, or ENOTSOCK: @fd is something else.
 */
#define HOST_PLAIN_READ 1u
#define HOST_PLAIN_WRITE 2u
#define HOST_PLAIN_LARGE 4u
int host_plain_make(uint64_t *ret_number);
int host_plain_open(uint64_t number, unsigned how, bool nonblock);
bool host_plain_known(uint64_t number);
bool host_plain_find(int sock, uint64_t number);
void host_plain_forget(uint64_t number);
bool host_plain_is(int fd, uint64_t number);
uint32_t host_plain_look(int fd);
int host_plain_keep(int fd, int end);
long host_plain_get(int fd, void *buf, size_t len);
/*
 * host_plain_adopt - upcall of the library: @hc->fd is a descriptor of a pipe
 * that has become PLAIN; let it refer to the kernel's pipe.  NULL: no library.
 * Return: 0, with HOST_CALL_PLAIN set; or an errno.
 */
int host_plain_adopt(struct host_call *hc) STR_WEAK STR_HIDDEN;

/*
 * host_bell_ring - wake the process of thread slot @t out of its
 * host_wait_carrier() calls.  For sleepers that no token can reach, because
 * they sleep on the same end as the waker has.
 */
void host_bell_ring(struct str_thread *t);
/*
 * host_bell_ring_pollers - wake all threads of the process in slot @proc that
 * wait in host_wait_carrier() or host_wait_sock(), or poll many streams.
 * Threads that sleep on words continue to sleep.
 * Return: false: there is no such process any more.
 */
bool host_bell_ring_pollers(uint32_t proc);

/* --------------------------------------------------------------- sockets */

/*
 * Sockets of the operating system, for core/sock.  Each socket has an id that
 * is never given to another: an index below HOST_NSOCK in the low half, a
 * generation in the high half. str_sock_live() says whether an id still names a
 * socket.
 *
 * Every member has its own descriptor of a socket, which it gets from streamsd
 * when it first needs it; streamsd has one of each socket.  No call waits,
 * except for that short exchange with streamsd.  Results: 0 or a count, or
 * minus an errno (EIO: no descriptor can be got).
 */
#define HOST_NSOCK 16384u

/* host_sock_new - socket(2), non-blocking: a descriptor for host_sock_adopt()
 * host_sock_accept - accept(2) likewise; @len in/out, @addr may be NULL. */
int host_sock_new(int family, int type, int proto);
/* host_sock_source - the source address of a datagram to @dst; @srclen in/out.
 * Asks the operating system and sends nothing. */
int host_sock_source(const void *dst, uint32_t dstlen, void *src,
	uint32_t *srclen);
int host_sock_accept(uint64_t id, void *addr, uint32_t *len);
/* host_sock_tun - a descriptor of a TUN device, likewise.  The device is made
 * if there is none of that name; @name in/out, 16 bytes, empty: any.  It is not
 * a socket: only host_sock_read() and host_sock_write(), one packet each, and
 * ioctls work. */
int host_sock_tun(char *name);
/* host_sock_adopt - make @fd this process's descriptor of @id, and give
 * streamsd one. host_sock_discard - close @fd, which gets no owner. */
int host_sock_adopt(uint64_t id, int fd);
void host_sock_discard(int fd);
/*
 * host_sock_shut - end the connection of @id, which is live, even if others
 * have descriptors of it; by a reset if @abort.
 * host_sock_gone - @id is no longer live: close the descriptors.
 * @wait: wait, for at most 100 ms, until streamsd has closed its own, too, so
 * that the address is free (a name was bound).
 * host_sock_drop - close this process's descriptor only.
 */
void host_sock_shut(uint64_t id, bool abort);
void host_sock_gone(uint64_t id, bool wait);
void host_sock_drop(uint64_t id);

int host_sock_bind(uint64_t id, const void *addr, uint32_t len);
int host_sock_listen(uint64_t id, int backlog);
int host_sock_connect(uint64_t id, const void *addr, uint32_t len);
int host_sock_shutdown(uint64_t id, int how);
int host_sock_name(uint64_t id, bool peer, void *addr, uint32_t *len);
int host_sock_setopt(uint64_t id, int level, int name, const void *val,
	uint32_t len);
int host_sock_getopt(uint64_t id, int level, int name, void *val,
	uint32_t *len);
int host_sock_error(uint64_t id); /* SO_ERROR */
int host_sock_ioctl(uint64_t id, unsigned long cmd, int *ret);
struct iovec;
struct ksock_msg;
long host_sock_send(uint64_t id, const struct iovec *iov, uint32_t n,
	int flags);
long host_sock_recv(uint64_t id, const struct iovec *iov, uint32_t n,
	int *flags);
long host_sock_put(uint64_t id, const void *buf, size_t len);
long host_sock_get(uint64_t id, void *buf, size_t len);
long host_sock_write(uint64_t id, const struct iovec *iov, uint32_t n);
long host_sock_read(uint64_t id, const struct iovec *iov, uint32_t n);
long host_sock_sendmm(uint64_t id, struct ksock_msg *v, uint32_t n,
	int flags);
long host_sock_recvmm(uint64_t id, struct ksock_msg *v, uint32_t n,
	int flags);

/*
 * Boxes.  A box is a queue of descriptors, which stay in it when the process
 * that put them in ends.  A box has an id like a socket, and ends by
 * host_sock_gone().  The calls that take an id use this process's descriptor of
 * the box, never wait, and return 0 or an errno: EIO if the process has no such
 * descriptor.
 */
struct host_label {
	uint64_t id, pass;
};
/* host_box_new - a descriptor for host_sock_adopt().  Return: 0, EMFILE,
 * ENFILE, ENOMEM. */
int host_box_new(int *ret_fd, struct host_carrier *ret_carrier);
/* host_box_ready - get a descriptor of @box; with @kept, wait until streamsd
 * has one too.  May wait for up to a second.  Return: 0, EMFILE, EIO.
 * host_box_here - has this process a descriptor of @box already? */
int host_box_ready(uint64_t box, bool kept);
bool host_box_here(uint64_t box);
/* host_box_put - append a duplicate of descriptor @fd to the box.  Return: 0,
 * EBADF, EAGAIN (the box is full), EIO. */
int host_box_put(uint64_t box, int fd, const struct host_label *l);
/*
 * host_box_look - the label of the first one; ENOENT: there is none.
 * host_box_dup - a duplicate of the first one, which stays; ENOENT, EMFILE.
 * host_box_drop - close the first one.
 * host_box_empty - close all; gets a descriptor of the box for that if
 * necessary.
 */
int host_box_look(uint64_t box, struct host_label *ret);
int host_box_dup(uint64_t box, int *ret_fd);
void host_box_drop(uint64_t box);
void host_box_empty(uint64_t box);

/*
 * host_wait_sock - as host_wait_carrier(), but waits for @id's socket too.
 * @want: HOST_C_IN, HOST_C_OUT.  With neither, waits for new events for
 * host_sock_events().  Does not check whether hc->fd still refers to the same
 * carrier; hc->mask is NULL.  Drains the bell.
 */
int host_wait_sock(struct host_call *hc, uint64_t id, uint32_t want,
	uint64_t ns, uint32_t *ret_events);
/*
 * host_sock_cut_off - has this process no descriptor of @id, and no streamsd to
 * get one from?  Starts streamsd if there is none.
 */
bool host_sock_cut_off(uint64_t id);
/* host_sock_look - which of these events @id has already: HOST_C_* */
uint32_t host_sock_look(uint64_t id, uint32_t want);
/*
 * host_sock_watch - report events of @id, edge-triggered: @want HOST_C_IN,
 * HOST_C_OUT; 0: stop reporting.  Events that @id has already are reported too.
 * Cheap if the same events are watched already.
 * host_sock_events - the events of the sockets that this process watches,
 * HOST_C_*; returns their number, at most @n.
 * host_sock_watching - does this process watch any socket?
 */
int host_sock_watch(uint64_t id, uint32_t want);
struct host_sock_event {
	uint64_t id;
	uint32_t events;
	uint32_t pad;
};
unsigned host_sock_events(struct host_sock_event *v, unsigned n);
bool host_sock_watching(void);
/* host_sock_ask - there is work for str_sock_serve(): wake streamsd if it
 * sleeps. */
void host_sock_ask(void);

/* ------------------------------------------------------ code and signals */

/*
 * host_code - address under which @fn (a procedure of a built-in module,
 * number @slot) may be stored in the arena: the same in every member.
 */
void *host_code(unsigned slot, void (*fn)(void));

/*
 * Fields of siginfo_t for a handler with SA_SIGINFO: si_code, si_errno, si_fd,
 * si_band.
 */
struct host_siginfo {
	int code; /* 1 to 6: POLL_IN and the others of SIGPOLL */
	int err;  /* 0 to 255 */
	int fd;   /* -1: none */
	long band;
};

/* host_signal_post - send @sig to process @pid; a negative @pid means a process
 * group. @sig 0: only check that it exists. @si: the siginfo, or NULL; a group
 * does not get it.  Return: 0, ESRCH, EPERM, EAGAIN. */
int host_signal_post(uint32_t pid, int sig, const struct host_siginfo *si);
/* host_signal_self - raise @sig (SIGPIPE) in the calling thread; delivered at
 * host_leave(). */
void host_signal_self(int sig);

/*
 * Job control.
 * host_job - the caller's process group and session, and the session of the
 * process @pid (0: of no process). other is 0 then, and if there is no such
 * process.
 * host_job_stop - send SIGTTIN or SIGTTOU to the caller's process group.
 * Return: 0; EPERM: the caller ignores or blocks the signal; EIO: its group is
 * orphaned.  With an error no signal was sent.
 */
struct host_job {
	uint32_t pgrp, sid, other;
};
void host_job(uint32_t pid, struct host_job *ret_job);
int host_job_stop(int sig);

struct host_cred {
	uint32_t uid, gid, ruid, rgid;
	uint32_t pid;
};
void host_cred(struct host_cred *ret_cred);

/* --------------------------------------------------------------- modules */

/*
 * Foreign modules and drivers are compiled by others against the installed
 * headers, and loaded while the domain runs.  A loaded one is an *image*, which
 * has a number (> 0) for as long as the domain exists.  Its code lies at the
 * same address in every member; each member maps its own copy.  Its writable
 * data is part of the domain, shared by all members.  So addresses of its
 * procedures and tables may be stored in the arena.
 *
 * An image is *new* until host_module_done(): its loader has to find its
 * modules and drivers and register them.  If the loader is killed before, the
 * image is dead, and the next caller that needs it loads another.
 */

/*
 * host_module_load - get the image called @name; load it if there is none yet
 * @name: 1 to FMNAMESZ letters, digits and underscores
 * @ret_new: the image is new, and the caller must call host_module_done(); else
 *	another caller has done that
 *
 * Searches the host's module directories.  The file is not trusted: it must
 * belong to the user or to the system, and no other user may be able to write
 * it.  A file that cannot be loaded is refused, with a reason in the log.  When
 * this returns 0, the image is mapped in this process.
 * Return: 0; ENOENT: no such module; EACCES, ENOEXEC: refused; ENOSR: no room;
 * EINTR.
 * Context: a call, no locks held, no claim published: it reads files.
 */
int host_module_load(struct host_call *hc, const char *name,
	uint32_t *ret_image, bool *ret_new);
/* host_module_done - @good: from now on every member can use the image; else
 * the image is dead. */
void host_module_done(uint32_t image, bool good);

/*
 * host_module_map - make sure that this process can run the image's code.  A
 * member calls this when it attaches.  Members that attached before the image
 * was loaded call it when they first use the image.  Cheap if the image is
 * mapped already.
 * Return: 0, or an errno (ENOMEM, EPROTO): then this process must not run the
 * image's procedures.
 */
int host_module_map(uint32_t image);

/* host_module_symbol - the address of the image's symbol @name, or NULL. */
void *host_module_symbol(uint32_t image, const char *name);
/*
 * host_module_calls - does the image call a function @name that it does not
 * define?
 */
bool host_module_calls(uint32_t image, const char *name);
/*
 * host_module_word - a word of the image for the executive's use; 0 at first.
 */
str_a32 *host_module_word(uint32_t image);
/* host_module_of - the image that address @p is in, or 0. */
uint32_t host_module_of(const void *p);
/* host_module_log - tell the operator about the module called @name. */
void host_module_log(const char *name, const char *text);

/*
 * host_code_shared - is @fn the same procedure in every member?  True for
 * results of host_code() and for procedures of images; any member may run a
 * callback with such an address.
 */
bool host_code_shared(const void *fn);

/* ------------------------------------------------------------------ other */

/*
 * host_daemon - make sure that streamsd, the domain's interrupt context, runs.
 * streamsd sweeps whenever a member has ended (str_sweep_ask(); the simulator
 * calls str_region_members_died()), and calls str_timer_run().  Cheap if
 * streamsd runs already.
 * Return: 0, or an errno if it could not be started (the caller then continues
 * without it).
 */
int host_daemon(void);

/* host_owner_stopped - is the thread named @tag stopped, by a signal or a
 * debugger?  False if that cannot be found out. */
bool host_owner_stopped(uint32_t tag);

/*
 * host_daemon_look - make streamsd search now for streams that no process
 * holds, and for names.
 */
void host_daemon_look(void);

/*
 * host_daemon_soon - make streamsd sweep within a moment
 * For a change after which a stream may have to be closed that no thread will
 * close: call it after the change.  Many calls cost one sweep.
 *
 * Context: a call; locks and claims may be held.
 */
void host_daemon_soon(void);

/*
 * host_defer - have str_timer_run() called at @when, or up to a millisecond
 * later, by streamsd, or by this process if there is none.  The executive keeps
 * the deadlines itself, and calls this after it has made the earliest one, the
 * result of str_timer_next(), no later than @when.
 * @now: host_now(), or 0 if the caller does not know it
 */
void host_defer(uint64_t now, uint64_t when);

void host_panic(const char *what, const char *file, int line) STR_NORETURN;
/*
 * host_log - write @text to stderr, for cmn_err()
 * @level: CE_*; other than CE_CONT (0): end the line if @text does not.
 */
void host_log(int level, const char *text);

/* Kill the process if STREAMS_CRASH names this execution of @label. */
void host_crash_point(const char *label);
#ifdef STR_CRASH_POINTS
#define STR_CRASH_POINT(label) host_crash_point(label)
#else
#define STR_CRASH_POINT(label) ((void)0)
#endif

#define STR_VERIFY(e) \
	((void)(str_likely(e) || (host_panic(#e, __FILE__, __LINE__), 0)))
#ifdef STR_DEBUG
#define STR_ASSERT(e) STR_VERIFY(e)
#else
#define STR_ASSERT(e) ((void)sizeof(e))
#endif

/* --------------------------------------- calls of the host to the executive */

/*
 * For modules.
 * str_region_alloc - @size bytes of the arena at a multiple of 64 KiB.  The
 * host must not use the first 64 bytes.  The memory belongs to the calling
 * thread until str_region_keep(); if the thread dies before, the memory is
 * freed.  NULL: there is no memory, or @size is more than STR_REGION_MAX.
 * str_region_free - free the memory, if it was not kept.
 */
#define STR_REGION_MAX 524288u
void *str_region_alloc(size_t size);
void str_region_keep(void *p);
void str_region_free(void *p);
/* str_ddi_find - the address of the function with the symbol @name, valid in
 * all members; 0: there is none. str_ddi_hash - a number that differs if these
 * addresses differ. */
uint64_t str_ddi_find(const char *name);
/* str_ddi_attach - fill the code slots of the DDI in this process. */
void str_ddi_attach(void);
uint64_t str_ddi_hash(void);
/* str_region_init - build the executive's part of a new, zeroed domain.
 * Called by the creator before `magic' is stored.  Return: 0 or errno. */
int str_region_init(struct str_domain *d);
/* str_region_attach - register the built-in procedures of this process. */
int str_region_attach(struct str_domain *d);
/* str_thread_reap - thread slot @t's owner is dead: give its resources back.
 * @all: false: only make the streams that it was inside usable again, at once.
 * Its memory takes longer, and is given back by another call.  Called by the
 * thread that claimed the slot for reaping.  Return: false if that was not
 * possible yet: the slot is unchanged, and must be reaped again. */
bool str_thread_reap(struct str_domain *d, struct str_thread *t, bool all);
/* str_region_sweep - free pipes both of whose carriers are gone. */
unsigned str_region_sweep(void);
/* str_region_many - are there so many pipes that those without a holder must be
 * searched for before the memory is used up? */
bool str_region_many(void);
/* str_region_members_died - processes have ended: close the files that no
 * process holds any more.  Return: streams freed. */
unsigned str_region_members_died(void);
/* The same in slices.  struct str_sweep: the caller's state between the slices,
 * all zeros at first.  str_sweep_ask - processes have ended; @pairs: also check
 * the pipes whose ends they both held.  str_sweep_some - continue for @ns, or a
 * little longer until the current stream has been checked; inside a call.
 * Return: true if it must be called again. */
struct str_sweep {
	struct str_walk {
		uint32_t at, left; /* entries of the directory */
	} walk;
	uint32_t stage; /* 0: nothing is to be done */
	bool asked, pairs_asked;
	bool pairs;	/* pipes too */
	bool mended;	/* links: lower heads may have no link any more */
	bool turn;	/* the collector has had a slice since the last walk */
	bool orphans;	/* heads with references and no file */
	bool unsure;	/* something could not be examined: sweep again */
	unsigned n, files; /* streams freed, files closed */
	struct str_collect *collect; /* the collector's run, in stage 3 */
	struct host_listing *listing; /* for a walk over many, or NULL */
	unsigned heads; /* of this walk, until now */
};
void str_sweep_ask(struct str_sweep *s, bool pairs);
bool str_sweep_some(struct str_sweep *s, uint64_t ns);
/* str_sock_live - does the socket @id still exist? str_sock_word - a word in
 * which the host notes the greatest generation at @id's index that streamsd has
 * closed; NULL: there never was one. */
bool str_sock_live(uint64_t id);
str_a32 *str_sock_word(uint64_t id);
/*
 * str_box_carrier - the kernel's identification of the box @id; false: it is
 * not a box.
 */
bool str_box_carrier(uint64_t id, struct host_carrier *ret);
/* str_sock_gather - handle the events of host_sock_events(); inside a call.
 * Return: the number of events. */
unsigned str_sock_gather(void);
/* str_sock_any - has there ever been a socket in this domain? */
bool str_sock_any(void);
/* str_sock_serve - in streamsd: serve the sockets that no other process serves.
 * Return: true if it must be called again in a millisecond. */
bool str_sock_serve(void);
/* str_region_drain - some streams that no process holds any more still had data
 * to send: close those that are empty now.  Return: true if there are more of
 * them; then it must be called again after about 10 ms. */
bool str_region_drain(void);
/* str_name_entry - the @i-th name of a file that a Stream is attached to;
 * false: there are fewer. str_name_detach - remove it; @born 0: the file's time
 * of creation is not compared.  Return: 0, ENOENT. */
bool str_name_entry(unsigned i, uint64_t *dev, uint64_t *ino, uint64_t *sid,
	char *path, size_t size);
int str_name_detach(struct host_call *hc, uint64_t dev, uint64_t ino,
	uint64_t born);
/*
 * str_notice_give - processes have died, or may have closed descriptors: make
 * threads look whose streams may have lost their other end
 * Context: a call; no lock, no claim.
 * Return: number of threads that rely on such notices.
 */
unsigned str_notice_give(void);
/* str_region_wanted - is there any work for which streamsd is needed? */
bool str_region_wanted(void);
/*
 * host_file - a domain's file that is read, not mapped.  The reader trusts only
 * its beginning, which the host has checked. @read copies @n bytes at @off;
 * false if they are not all in the file.
 */
struct host_file {
	uint64_t base; /* its address where it is mapped */
	int fd;
	bool (*read)(const struct host_file *df, uint64_t off, void *to,
		size_t n);
};
/* str_region_carriers - carriers recorded in the domain (for lifetime):
 * calls @fn for each until it returns true; returns whether one did. */
bool str_region_carriers(const struct host_file *df,
	bool (*fn)(const struct host_carrier *c));

#endif
