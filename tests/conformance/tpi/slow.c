/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Associations of sctp among processes of which some are slow, or killed, in
 * their turns.
 */
#include "tp.h"

#include <netinet/in.h>
#include <sys/sctpio.h>
#include <sys/xti_inet.h>

enum { CALLS = 8, SLOW = 4 };

static void
need_sctp(void)
{
	if (tp_is()->ddata == 0)
		T_SKIP("not SCTP");
}

static void
set(int fd, t_scalar_t name, t_scalar_t value)
{
	struct {
		struct T_optmgmt_req r;
		struct t_opthdr h;
		t_scalar_t v;
	} m = {{T_OPTMGMT_REQ, sizeof(m.h) + sizeof(m.v), sizeof(m.r),
		T_NEGOTIATE}, {sizeof(m.h) + sizeof(m.v), T_INET_SCTP, name, 0},
		value};

	tp_put(fd, &m, sizeof(m), NULL, -1);
	tp_want(fd, T_OPTMGMT_ACK);
}

/* A call that is repeated after 10 ms, and so on. */
static int
call_soon(const struct tp_addr *to)
{
	struct tp_addr any;
	int fd = tp_open();

	tp_bind(fd, 0, &any);
	set(fd, T_SCTP_RTO_MIN, 10);
	set(fd, T_SCTP_RTO_INITIAL, 10);
	tp_conn_req(fd, to);
	tp_ok(fd, T_CONN_REQ);
	return fd;
}

/* Processes that call all the time, and have the listener's turn for long. */
static void
start(pid_t *pid, const struct tp_addr *at)
{
	int i;

	for (i = 0; i < SLOW; i++) {
		pid[i] = T_OK(fork());
		if (pid[i] != 0)
			continue;
		T_OK(setenv("STREAMS_DELAY", "sctp:turn:30", 1));
		for (;;)
			(void)call_soon(at);
	}
}

static void
end(const pid_t *pid)
{
	int i;

	for (i = 0; i < SLOW; i++) {
		T_OK(kill(pid[i], SIGKILL));
		T_EQ(T_OK(waitpid(pid[i], NULL, 0)), pid[i]);
	}
}

/* A COOKIE ECHO waits in a turn of a slow process, and is repeated. */
T_CASE(a_call_whose_cookie_arrives_twice_is_one_call)
{
	static char called[65536];
	struct sockaddr_in sin;
	struct pollfd p = {.events = POLLIN};
	struct tp_addr at;
	pid_t pid[SLOW];
	int n;

	need_sctp();
	p.fd = tp_listener(1024, &at);
	start(pid, &at);
	(void)tp_conn_ind(p.fd); /* they have begun */
	for (n = 0; n < CALLS; n++)
		tp_want(call_soon(&at), T_CONN_CON);
	end(pid);
	for (n = 0; T_OK(poll(&p, 1, 100)) == 1;) {
		if (tp_get(p.fd) != T_CONN_IND)
			continue; /* T_DISCON_IND: a killed caller */
		memcpy(&sin, tp.ctl + tp.p.conn_ind.SRC_offset, sizeof(sin));
		T_EQ(called[ntohs(sin.sin_port)]++, 0);
		n++;
	}
	T_GE(n, CALLS);
}

/* A call to @lfd, and, when a byte comes, its end, in slow turns. */
static pid_t
call_and_end(int lfd, const struct tp_addr *at, int go)
{
	pid_t pid = T_OK(fork());
	char c;
	int fd;

	if (pid != 0)
		return pid;
	T_OK(close(lfd));
	fd = call_soon(at);
	tp_want(fd, T_CONN_CON);
	T_EQ(T_OK(read(go, &c, 1)), 1);
	T_OK(setenv("STREAMS_DELAY", "sctp:turn:20", 1));
	tp_discon_req(fd, -1);
	for (;;)
		pause();
}

/*
 * The listener is closed while a slow process ends a call that has not been
 * answered: the close waits for its turn, and ends all other calls.
 */
T_CASE(a_close_ends_all_calls_if_one_ends_meanwhile)
{
	struct tp_addr at;
	int lfd, fd[2], go[2], i, round;
	pid_t pid;

	need_sctp();
	T_OK(pipe(go));
	for (round = 0; round < 16; round++) {
		lfd = tp_listener(16, &at);
		pid = call_and_end(lfd, &at, go[0]);
		(void)tp_conn_ind(lfd);
		for (i = 0; i < 2; i++) {
			fd[i] = call_soon(&at);
			tp_want(fd[i], T_CONN_CON);
		}
		T_EQ(T_OK(write(go[1], "g", 1)), 1);
		(void)poll(NULL, 0, 3 * round); /* at another moment each time */
		T_OK(close(lfd));
		for (i = 0; i < 2; i++) {
			tp_want(fd[i], T_DISCON_IND);
			T_OK(close(fd[i]));
		}
		T_OK(kill(pid, SIGKILL));
		T_EQ(T_OK(waitpid(pid, NULL, 0)), pid);
	}
}

/*
 * A caller is killed in the turn of the listener.  The next call is repeated
 * after a second.
 */
T_CASE(a_listener_is_called_after_a_caller_was_killed_in_its_turn)
{
	struct tp_addr at;
	pid_t pid;
	int st;

	need_sctp();
	(void)tp_listener(4, &at);
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(setenv("STREAMS_CRASH", "sctp:turn:2", 1));
		(void)tp_call(&at);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_TRUE(WIFSIGNALED(st));
	tp_want(tp_call(&at), T_CONN_CON);
}

static void
control(int fd, int cmd, void *p, size_t n)
{
	struct strioctl si = {.ic_cmd = cmd, .ic_len = (int)n, .ic_dp = p};

	T_OK(ioctl(fd, I_STR, &si));
}

/* Set a shared key, and want COOKIE ECHO and DATA to be authenticated. */
static void
set_key(int fd, const char *text)
{
	union {
		struct sctpio_key k;
		char room[sizeof(struct sctpio_key) + 16];
	} b = {.k = {.what = SCTPIO_KEY_SET, .id = 7,
		.n = (uint32_t)strlen(text)}};
	struct sctpio_conf c = {.assoc = 0};
	struct strioctl si = {.ic_cmd = SCTPIO_GCONF,
		.ic_len = sizeof(struct sctpio_word), .ic_dp = (char *)&c};

	T_OK(ioctl(fd, I_STR, &si));
	T_EQ(si.ic_len, (int)sizeof(c));
	c.auth = 1;
	c.auth_chunks[0] = 1u << 10 | 1u;
	control(fd, SCTPIO_SCONF, &c, sizeof(c));
	memcpy(b.room + sizeof(b.k), text, strlen(text));
	control(fd, SCTPIO_KEY, &b, sizeof(b.k) + strlen(text));
	b.k = (struct sctpio_key){.what = SCTPIO_KEY_USE, .id = 7};
	control(fd, SCTPIO_KEY, &b, sizeof(b.k));
}

static int
call_with_key(const struct tp_addr *to)
{
	int fd = tp_open();

	tp_bind(fd, 0, NULL);
	set_key(fd, "secret");
	tp_conn_req(fd, to);
	tp_ok(fd, T_CONN_REQ);
	return fd;
}

/*
 * The caller is killed in the turn of the listener, which is repaired.  Its keys
 * are no memory of the engine: it knows them, and it listens.
 */
T_CASE(a_listener_keeps_its_keys_when_it_is_repaired)
{
	struct tp_addr at;
	int fd, st;
	pid_t pid;

	need_sctp();
	fd = tp_listener(4, &at);
	set_key(fd, "secret");
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(setenv("STREAMS_CRASH", "sctp:called", 1));
		(void)call_with_key(&at);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_TRUE(WIFSIGNALED(st));
	tp_want(call_with_key(&at), T_CONN_CON);
}

/*
 * A process is slow when it has taken packets.  Their sender is killed and
 * reaped meanwhile, and the packets stay.
 */
T_CASE(a_packet_is_read_after_its_sender_was_killed_and_reaped)
{
	struct tp_addr at;
	pid_t slow, pid;
	int i, st;

	need_sctp();
	(void)tp_listener(1024, &at);
	slow = T_OK(fork());
	if (slow == 0) {
		T_OK(setenv("STREAMS_DELAY", "sctp:taken:100", 1));
		for (;;)
			(void)call_soon(&at);
	}
	for (int round = 0; round < 16; round++) {
		pid = T_OK(fork());
		if (pid == 0) {
			for (i = 0; i < 16; i++)
				(void)call_soon(&at);
			pause();
		}
		(void)poll(NULL, 0, 100 + 7 * round);
		T_OK(kill(pid, SIGKILL));
		T_EQ(T_OK(waitpid(pid, NULL, 0)), pid);
	}
	(void)poll(NULL, 0, 200);
	T_OK(kill(slow, SIGKILL));
	T_EQ(T_OK(waitpid(slow, &st, 0)), slow);
	T_EQ(st, SIGKILL); /* not SIGSEGV, before */
}

/*
 * A connection between fd[0], which is bound at @me, and the caller, a child
 * process.  When a byte comes the child sends two messages; it is slow when it
 * gives the second to the receiver, without packets, and may be @killed then.
 */
static pid_t
give_late(int fd, const struct tp_addr *me, int killed, int go)
{
	pid_t pid = T_OK(fork());
	char c;

	if (pid != 0)
		return pid;
	T_OK(close(fd));
	fd = tp_call(me);
	tp_want(fd, T_CONN_CON);
	T_EQ(T_OK(read(go, &c, 1)), 1);
	T_OK(setenv("STREAMS_DELAY", "sctp:giving:200", 1));
	if (killed)
		T_OK(setenv("STREAMS_CRASH", "sctp:given:1", 1));
	tp_send(fd, "late", 4, 0);
	for (;;)
		pause();
}

static int
accept_from(int lfd, int *seq)
{
	int fd = tp_open();

	*seq = tp_conn_ind(lfd);
	tp_conn_res(lfd, tp_id(fd), *seq);
	tp_ok(lfd, T_CONN_RES);
	return fd;
}

/* No data comes to an endpoint that has ended its connection. */
static void
ends_meanwhile(int killed)
{
	struct tp_addr at;
	int lfd, fd, go[2], seq, st;
	pid_t pid;

	need_sctp();
	T_OK(pipe(go));
	lfd = tp_listener(2, &at);
	pid = give_late(lfd, &at, killed, go[0]);
	fd = accept_from(lfd, &seq);
	T_EQ(T_OK(write(go[1], "g", 1)), 1);
	(void)poll(NULL, 0, 100);
	tp_discon_req(fd, -1);
	while (tp_get(fd) == -1)
		; /* it may come before the answer */
	T_EQ(tp.prim, T_OK_ACK);
	if (killed)
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	(void)poll(NULL, 0, 300);
	tp_quiet(fd);
	T_EQ(tp_state(fd), TS_IDLE);
	if (!killed) {
		T_OK(kill(pid, SIGKILL));
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	}
}

T_CASE(no_data_comes_after_a_disconnection)
{
	ends_meanwhile(0);
}

T_CASE(no_data_of_a_killed_sender_comes_after_a_disconnection)
{
	ends_meanwhile(1);
}
