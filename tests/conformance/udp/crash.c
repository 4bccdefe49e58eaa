/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A process that binds, sends, waits for room, reads, or closes dies at a labelled
 * point of the native transport: others go on, and its port is free again.
 *
 * Each label is gone through from its first passage on until one run is over
 * without a death.
 */
#include "ud.h"

enum { MOST = 2, ENDS = 10000, MANY = 40, BYTES = 200 };

static const char *const labels[] = {
	"ports:held", "ports:bound", "ports:named", "ports:changing",
	"ports:freeing", "ports:freed", "ports:waiting", "ports:waits",
	"ports:waking", "ports:woken",
};

static void
arm(const char *label, int n)
{
	char env[64];

	snprintf(env, sizeof(env), "%s:%d", label, n);
	T_OK(setenv("STREAMS_CRASH", env, 1));
}

static int
is_free(struct ud *u, int port)
{
	ud_addr(u, ud_home(), port);
	in_bind_req(u->fd, T_BIND_REQ, &u->at, (int)u->len, 0);
	return in_get(u->fd) == T_BIND_ACK;
}

/* What came for @u, thrown away. */
static void
drain(const struct ud *u)
{
	while (!in_quiet(u->fd, 0))
		(void)in_get(u->fd);
}

/* It dies while it sends to @to, whose reader is slow. */
static void
sender(const struct ud *to, int port)
{
	static unsigned char buf[BYTES];
	struct ud a;
	int i;

	ud_bound(&a, ud_home(), port);
	T_EQ(ud_set(a.fd, T_INET_UDP, T_UDP_PEER, &to->at, to->len),
		T_SUCCESS);
	for (i = 0; i < MANY; i++)
		ud_send(&a, to, buf, sizeof(buf));
	ud_close(&a);
	_exit(0);
}

/* ... or while it receives, slowly, what comes from all over. */
static void
receiver(int p, int port)
{
	struct ud a;
	int i;

	ud_bound(&a, ud_home(), port);
	ud_set_int(a.fd, XTI_GENERIC, XTI_RCVBUF, 4096);
	T_EQ(write(p, "b", 1), 1);
	for (i = 0; i < MANY; i++) {
		in_want(a.fd, T_UNITDATA_IND);
		t_pause();
	}
	ud_close(&a);
	_exit(0);
}

/*
 * That the port was free may be told late, what waited to be sent then goes to
 * the port's present owner, and what the dead one sent may be on its way.
 */
static void
next_is(const struct ud *u, const char *text, int n)
{
	int prim;

	do {
		T_FALSE(in_quiet(u->fd, ENDS));
		prim = in_get(u->fd);
	} while (prim == T_UDERROR_IND ||
		(prim == T_UNITDATA_IND && in.datalen == BYTES));
	T_EQ(prim, T_UNITDATA_IND);
	T_EQ(in.datalen, n);
	T_MEM(in.data, text, n);
}

/* The port is free soon, and who is bound to it is found. */
static void
as_before(const struct ud *s, const struct ud *r, int port, const char *label,
	int n)
{
	uint64_t end = t_now_ns() + ENDS * 1000000ull * t_scale();
	struct ud b = {.fd = in_open(ud_dev())};

	while (!is_free(&b, port)) {
		if (t_now_ns() > end)
			T_FAIL("%s:%d: the port is not free", label, n);
		t_pause();
	}
	drain(s);
	drain(r);
	ud_send(s, r, "one", 3);
	next_is(r, "one", 3);
	ud_send(s, &b, "another", 7);
	next_is(&b, "another", 7);
	ud_send(&b, s, "back", 4);
	next_is(s, "back", 4);
	ud_close(&b);
}

static int
a_sender(const struct ud *s, const struct ud *r, const char *label, int n)
{
	int port = t_port(ud_family(), SOCK_DGRAM), st;
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		arm(label, n);
		sender(r, port);
	}
	while (T_OK(waitpid(pid, &st, WNOHANG)) == 0) {
		if (!in_quiet(r->fd, 1))
			(void)in_get(r->fd);
	}
	as_before(s, r, port, label, n);
	return WIFSIGNALED(st);
}

/* -1: the queue was full again. */
static int
try_send(const struct ud *s, const struct ud *to, const void *buf)
{
	struct {
		struct T_unitdata_req r;
		unsigned char at[128];
	} m = {{T_UNITDATA_REQ, (t_scalar_t)to->len, sizeof(m.r), 0, 0}, {0}};
	struct strbuf c = {0, (int)(sizeof(m.r) + to->len), (char *)&m};
	struct strbuf d = {0, BYTES, (char *)(uintptr_t)buf};
	int r;

	memcpy(m.at, &to->at, to->len);
	r = putmsg(s->fd, &c, &d, 0);
	if (r < 0 && errno != EAGAIN)
		T_FAIL("putmsg: %s", strerror(errno));
	return r;
}

/*
 * Send without blocking: what the receiver has no room for waits on the sender's
 * queue, and it is the receiver that wakes this.  POLLOUT is no promise: an
 * earlier datagram may wait at the perimeter, which the receiver's thread is in,
 * and fill the queue after poll() has returned.
 */
static void
send_queued(const struct ud *s, const struct ud *to, const void *buf)
{
	int flags = T_OK(fcntl(s->fd, F_GETFL));
	struct pollfd p = {.fd = s->fd, .events = POLLOUT};

	T_OK(fcntl(s->fd, F_SETFL, flags | O_NONBLOCK));
	for (int i = 0; i < MANY; i++)
		while (T_OK(poll(&p, 1, ENDS)) == 1 &&
			try_send(s, to, buf) != 0)
			;
	T_OK(fcntl(s->fd, F_SETFL, flags));
}

static int
a_receiver(const struct ud *s, const struct ud *r, const char *label, int n)
{
	int port = t_port(ud_family(), SOCK_DGRAM), st, i, p[2];
	static unsigned char buf[BYTES];
	struct ud to;
	char c;
	pid_t pid;

	T_OK(pipe(p));
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(p[0]));
		arm(label, n);
		receiver(p[1], port);
	}
	T_OK(close(p[1]));
	ud_addr(&to, ud_home(), port);
	if (read(p[0], &c, 1) == 1)
		send_queued(s, &to, buf);
	T_OK(close(p[0]));
	/* what it did not take, another one's death may have in its hand */
	for (i = 0; T_OK(waitpid(pid, &st, WNOHANG)) == 0; t_pause())
		if (++i % 100 == 0)
			ud_send(s, &to, buf, sizeof(buf));
	as_before(s, r, port, label, n);
	return WIFSIGNALED(st);
}

static void
sweep(int (*one)(const struct ud *, const struct ud *, const char *, int))
{
	unsigned i, deaths = 0;
	struct ud s, r;
	int n;

	if (!ud_native())
		T_SKIP("of the native transport");
	ud_bound(&s, ud_home(), UD_ANY);
	ud_bound(&r, ud_home(), UD_ANY);
	ud_set_int(r.fd, XTI_GENERIC, XTI_RCVBUF, 4096);
	(void)one(&s, &r, "none", 1);
	for (i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		for (n = 1; n <= MOST && one(&s, &r, labels[i], n); n++)
			deaths++;
	T_GT(deaths, sizeof(labels) / sizeof(labels[0]) / 2);
	ud_close(&s);
	ud_close(&r);
}

T_CASE_TIMEOUT(a_sender_dies_somewhere, 120)
{
	sweep(a_sender);
}

T_CASE_TIMEOUT(a_receiver_dies_somewhere, 120)
{
	sweep(a_receiver);
}
