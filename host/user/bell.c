/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The bell: a datagram socket for each process.  Other processes send to it to
 * wake the process's threads from host_wait_carrier().  The first wait that may
 * need it makes it in the socket directory; the process's slot contains its
 * name there.
 *
 * One ring wakes all threads that poll the bell at that moment.  The socket
 * stays readable until the last of them has left and drained it.  Until then the
 * bell is RINGING, and later threads get that result instead of polling.  A ring
 * after the draining makes the socket readable for the next sleeper.
 *
 * A ring that comes after a thread has announced its wait, and before it polls,
 * may be drained by the others.  So each ring is counted in `look' of the
 * process's slot before it is sent.  A thread samples the count before it
 * announces, and does not poll if the count is another one when it enters.
 *
 * The socket is for threads that poll.  Those that sleep on words are woken by
 * these words (notice.c).
 *
 * Trust.  A ring has no content and is a hint: the woken threads check their
 * conditions.
 */
#include <sys/socket.h>

#include "user_impl.h"

#define BELL_RINGING 0x80000000u

STR_TLS uint32_t host_bell_waiting;

static uint64_t bell_cookie; /* [bell] */
/* the rings that this thread need not hear of any more */
static STR_TLS uint32_t heard;

static str_a32 *
rings(void)
{
	return &host_domain->proc[host_priv_page->proc].look;
}

/* Is the descriptor still the bell?  The program may have closed it. */
static bool
bell_is(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof cookie;

	return fd >= 0 &&
		sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_COOKIE, &cookie,
			&len) == 0 &&
		cookie == __atomic_load_n(&bell_cookie, __ATOMIC_RELAXED);
}

static int
bell_make(void)
{
	struct str_proc *p = &host_domain->proc[host_priv_page->proc];
	socklen_t len = sizeof(uint64_t);
	uint64_t cookie = 0, number = 0;
	int fd;

	fd = (int)sys_call3(SYS_socket, AF_UNIX,
		SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	fd = host_fd_hide(HOST_FD_BELL, fd, true);
	if (host_sockdir_bind(fd, &number) != 0 ||
	    sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_COOKIE, &cookie,
		    &len) != 0) {
		host_fd_drop(HOST_FD_BELL);
		host_sockdir_unlink(number);
		return -1;
	}
	__atomic_store_n(&bell_cookie, cookie, __ATOMIC_RELAXED);
	STR_CRASH_POINT("bell:bound");
	/* the bell before, which the program has closed */
	host_sockdir_unlink(str_xchg(&p->bell, number));
	return fd;
}

/* host_bell_gone - the process frees its slot: remove its name first. */
void
host_bell_gone(void)
{
	struct str_proc *p = &host_domain->proc[host_priv_page->proc];

	str_store_rel(&host_priv_page->bell_up, 0u);
	host_sockdir_unlink(str_xchg(&p->bell, 0ull));
}

int
host_bell_open(void)
{
	struct host_priv *pv = host_priv_page;
	int fd = host_fd_get(HOST_FD_BELL);

	/* streamsd closes no descriptor that it does not know */
	if (str_load_acq(&pv->bell_up) != 0 && (host_is_daemon || bell_is(fd)))
		return fd;
	host_plock_lock(&pv->bell);
	fd = host_fd_get(HOST_FD_BELL);
	if (str_load(&pv->bell_up) == 0 || !bell_is(fd)) {
		fd = bell_make();
		str_store_rel(&pv->bell_up, fd >= 0 ? 1u : 0u);
	}
	host_plock_unlock(&pv->bell);
	return fd;
}

void
host_wait_prepare(void)
{
	heard = str_load_acq(rings());
	if (str_load(&host_priv_page->bell_up) == 0)
		(void)host_bell_open();
}

/*
 * Join the threads that wait for the bell.  False: it is ringing, or has been
 * rung since host_wait_prepare().
 */
bool
host_bell_enter(void)
{
	str_a32 *w = &host_priv_page->bell_waiters;
	uint32_t v = str_load(w);

	do
		if (v & BELL_RINGING)
			return false;
	while (!str_cas_see(w, &v, v + 1));
	/* later rings are drained only when this thread has left, too */
	if (str_likely(str_load(rings()) == heard))
		return true;
	host_bell_leave(false);
	return false;
}

static void
bell_drain(void)
{
	int fd = host_fd_get(HOST_FD_BELL);
	char c;

	if (!bell_is(fd))
		return;
	while (sys_call6(SYS_recvfrom, fd, &c, sizeof c, MSG_DONTWAIT, NULL,
		       NULL) >= 0)
		;
}

/* @rung: this thread saw it ring. */
void
host_bell_leave(bool rung)
{
	str_a32 *w = &host_priv_page->bell_waiters;
	uint32_t v = str_load(w), n;

	heard = str_load_acq(rings()); /* the caller looks at everything */
	do {
		v = str_load(w);
		if ((v & ~BELL_RINGING) == 0)
			return; /* a forked child: its count is new */
		n = (v - 1) | (rung ? BELL_RINGING : 0);
	} while (!str_cas(w, v, n));
	if (n == BELL_RINGING) {
		bell_drain();
		str_store_rel(w, 0u);
	}
}

/* Return: false: no process has it. */
static bool
ring_socket(struct str_proc *p)
{
	uint64_t number = str_load_acq(&p->bell);
	struct iovec iov = { (char[]){ '\0' }, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	/* EAGAIN: it rings already.  ECONNREFUSED: the process is gone. */
	return number != 0 &&
		host_dgram_send(number, &m, false) != ECONNREFUSED;
}

bool
host_bell_ring_pollers(uint32_t proc)
{
	struct str_proc *p = &host_domain->proc[proc % STR_NPROC];

	(void)str_add(&p->look, 1u);
	return ring_socket(p);
}

void
host_bell_ring_proc(struct str_proc *p)
{
	host_look_ring(p);
	(void)ring_socket(p);
}

void
host_bell_ring(struct str_thread *t)
{
	uint32_t proc = str_load(&t->proc), state = str_load(&t->state);

	if (proc >= STR_NPROC)
		return; /* it is being reaped */
	host_look_ring(&host_domain->proc[proc]);
	/* a thread that sleeps on words does not need the socket */
	if (state != STR_THR_FUTEX)
		(void)ring_socket(&host_domain->proc[proc]);
}
