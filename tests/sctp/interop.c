/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The engine and usrsctp, another implementation, in one process: each calls
 * the other, and messages arrive whole and in order in both directions, also
 * when packets are lost.
 *
 * usrsctp gives its packets to a function instead of the network (AF_CONN).  It
 * has threads and a clock of its own, so this test runs in real time.  Its
 * library has functions with the engine's names: the engine's are renamed for
 * this program (meson.build).
 */
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <usrsctp.h>

#undef SCTP_CLOSED
#undef SCTP_COOKIE_WAIT
#undef SCTP_COOKIE_ECHOED
#undef SCTP_ESTABLISHED
#undef SCTP_SHUTDOWN_PENDING
#undef SCTP_SHUTDOWN_SENT
#undef SCTP_SHUTDOWN_RECEIVED
#undef SCTP_SHUTDOWN_ACK_SENT
#define sctp_status engine_status /* usrsctp has a structure of this name */
#include "engine.h"
#undef sctp_status
#include "t.h"

#define OURS 5000
#define THEIRS 6000
#define STREAMS 5
#define MESSAGES 500
#define BIG 60000

struct flight {
	struct flight *next;
	size_t n;
	unsigned char p[2048];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct flight *first, **last = &first; /* to the engine */
static unsigned lose; /* of 1000 packets */
static struct sctp_env env;
static struct sctp_ep ep;
static struct sctp_assoc *as;
static int self; /* its address is that of both in AF_CONN */
static struct socket *theirs, *listener;

/* By receiver: 0 the engine, 1 usrsctp. */
static unsigned next[2][STREAMS];
static volatile unsigned got[2];
static unsigned char part[2][BIG + 1];
static size_t have[2];

static void *
take(void *arg, size_t n)
{
	(void)arg;
	return malloc(n);
}

static void
give(void *arg, void *p, size_t n)
{
	(void)arg;
	(void)n;
	free(p);
}

static unsigned
chance(void)
{
	static unsigned v = 1;

	v = v * 1103515245u + 12345u;
	return v >> 8;
}

static void
noise(void *arg, void *p, size_t n)
{
	unsigned char *c = p;

	(void)arg;
	while (n-- != 0)
		*c++ = (unsigned char)chance();
}

static size_t
size_of(unsigned sid, unsigned n)
{
	unsigned h = (sid * 977 + n) * 2654435761u;

	h ^= h >> 13;
	return 1 + h / 16 % (h % 16 == 0 ? BIG : 1500);
}

static void
fill(unsigned char *p, size_t n, unsigned sid, unsigned k)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (unsigned char)(sid * 31 + k * 7 + i * 13 + i / 251);
}

/* A whole message has arrived. */
static void
check(int who, unsigned sid)
{
	unsigned char *want = malloc(BIG);
	unsigned n = next[who][sid]++;

	T_EQ(have[who], size_of(sid, n));
	fill(want, have[who], sid, n);
	T_EQ(memcmp(want, part[who], have[who]), 0);
	free(want);
	have[who] = 0;
	got[who]++;
}

/* ----------------------------------------------------------------- usrsctp */

static int
their_packet(void *addr, void *p, size_t n, uint8_t tos, uint8_t df)
{
	struct flight *f;

	(void)addr;
	(void)tos;
	(void)df;
	pthread_mutex_lock(&lock);
	if (chance() % 1000 >= lose) {
		f = malloc(sizeof(*f));
		T_LE(n, sizeof(f->p));
		f->next = NULL;
		f->n = n;
		memcpy(f->p, p, n);
		*last = f;
		last = &f->next;
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

static int
their_data(struct socket *so, union sctp_sockstore addr, void *p, size_t n,
	struct sctp_rcvinfo info, int flags, void *arg)
{
	(void)so;
	(void)addr;
	(void)arg;
	if (p == NULL)
		return 1;
	if ((flags & MSG_NOTIFICATION) == 0) {
		T_LE(have[1] + n, sizeof(part[1]));
		memcpy(part[1] + have[1], p, n);
		have[1] += n;
		if ((flags & MSG_EOR) != 0)
			check(1, info.rcv_sid);
	}
	free(p);
	return 1;
}

static void *
their_user(void *arg)
{
	unsigned char *p = malloc(BIG);
	struct sctp_sndinfo info = {0};
	unsigned k[STREAMS] = {0}, i;
	size_t n;

	(void)arg;
	if (listener != NULL)
		theirs = usrsctp_accept(listener, NULL, NULL);
	T_NOTNULL(theirs);
	for (i = 0; i < MESSAGES; i++) {
		info.snd_sid = (uint16_t)(i * 7 % STREAMS);
		n = size_of(info.snd_sid, k[info.snd_sid]);
		fill(p, n, info.snd_sid, k[info.snd_sid]++);
		while (usrsctp_sendv(theirs, p, n, NULL, 0, &info,
			sizeof(info), SCTP_SENDV_SNDINFO, 0) < 0) {
			/* its buffer is full, although it may wait */
			T_EQ(errno, EWOULDBLOCK);
			t_pause();
		}
	}
	free(p);
	return NULL;
}

static struct socket *
their_socket(void)
{
	struct sockaddr_conn sc = {.sconn_family = AF_CONN,
		.sconn_port = htons(THEIRS), .sconn_addr = &self};
	struct sctp_initmsg im = {.sinit_num_ostreams = STREAMS,
		.sinit_max_instreams = 2048};
	struct socket *so;

	usrsctp_init(0, their_packet, NULL);
	usrsctp_sysctl_set_sctp_rto_min_default(200);
	usrsctp_sysctl_set_sctp_rto_initial_default(200);
	usrsctp_register_address(&self);
	so = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, their_data,
		NULL, 0, NULL);
	T_NOTNULL(so);
	T_OK(usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_INITMSG, &im,
		sizeof(im)));
	T_OK(usrsctp_bind(so, (struct sockaddr *)&sc, sizeof(sc)));
	return so;
}

/* -------------------------------------------------------------- the engine */

static void
our_packets(void)
{
	unsigned char buf[2048];
	struct sctp_packet out = {.p = buf, .size = sizeof(buf)};

	while (as != NULL && sctp_output(&env, as, &out) != 0)
		if (chance() % 1000 >= lose)
			usrsctp_conninput(&self, buf, out.n, 0);
}

static void
our_input(struct flight *f)
{
	unsigned char buf[2048];
	struct sctp_packet in = {.p = f->p, .n = f->n,
		.src = {4, {10, 0, 0, 2}}, .dst = {4, {10, 0, 0, 1}}};
	struct sctp_packet reply = {.p = buf, .size = sizeof(buf)};
	struct sctp_assoc *of;
	int fresh;

	of = sctp_input(&env, &ep, &in, &reply, &fresh);
	if (fresh)
		as = of;
	if (reply.n != 0)
		usrsctp_conninput(&self, buf, reply.n, 0);
	our_packets();
}

static void
our_user(void)
{
	static unsigned char p[BIG];
	static unsigned k[STREAMS], sent;
	struct sctp_info info = {0};
	size_t n;

	while (sent < MESSAGES) {
		info.sid = (uint16_t)(sent * 7 % STREAMS);
		n = size_of(info.sid, k[info.sid]);
		fill(p, n, info.sid, k[info.sid]);
		if (sctp_send(&env, as, &info, p, n) != 0)
			break;
		k[info.sid]++;
		sent++;
	}
	while (sctp_readable(as) != 0) {
		have[0] += sctp_recv(&env, as, &info, part[0] + have[0],
			sizeof(part[0]) - have[0]);
		if ((info.flags & SCTP_RECV_MORE) == 0)
			check(0, info.sid);
	}
}

/* Packets, timers and the user, once. */
static void
our_turn(void)
{
	struct flight *f, *after;
	uint64_t at;

	env.now = t_now_ns() / 1000;
	pthread_mutex_lock(&lock);
	f = first;
	first = NULL;
	last = &first;
	pthread_mutex_unlock(&lock);
	if (f == NULL)
		t_pause();
	for (; f != NULL; f = after) {
		after = f->next;
		our_input(f);
		free(f);
	}
	if (as == NULL)
		return;
	at = sctp_deadline(as);
	if (at != 0 && at <= env.now)
		sctp_timeout(&env, as);
	if (sctp_assoc_state(as) == SCTP_ESTABLISHED)
		our_user();
	our_packets();
}

static void
begin(unsigned loss)
{
	lose = loss;
	env.now = t_now_ns() / 1000;
	env.alloc = take;
	env.release = give;
	env.random = noise;
	sctp_ep_init(&env, &ep, OURS);
	ep.conf.rto_min = ep.conf.rto_initial = 200 * SCTP_MS;
}

static void
run(int we_end)
{
	pthread_t user;

	T_EQ(pthread_create(&user, NULL, their_user, NULL), 0);
	while (got[0] < MESSAGES || got[1] < MESSAGES)
		our_turn();
	T_EQ(pthread_join(user, NULL), 0);
	if (we_end)
		T_EQ(sctp_shutdown(&env, as), 0);
	else
		T_OK(usrsctp_shutdown(theirs, SHUT_WR));
	our_packets();
	while (sctp_down_reason(as) == SCTP_DOWN_NOT)
		our_turn();
	T_EQ(sctp_down_reason(as), SCTP_DOWN_SHUTDOWN);
}

static void
we_call(unsigned loss, int we_end)
{
	static const struct ip_addr peer = {4, {10, 0, 0, 2}};

	begin(loss);
	listener = their_socket();
	T_OK(usrsctp_listen(listener, 1));
	T_EQ(sctp_connect(&env, &ep, &peer, 1, THEIRS, &as), 0);
	our_packets();
	run(we_end);
}

static void
they_call(unsigned loss, int we_end)
{
	struct sockaddr_conn sc = {.sconn_family = AF_CONN,
		.sconn_port = htons(OURS), .sconn_addr = &self};

	begin(loss);
	ep.listening = 1;
	theirs = their_socket();
	T_OK(usrsctp_set_non_blocking(theirs, 1));
	(void)usrsctp_connect(theirs, (struct sockaddr *)&sc, sizeof(sc));
	while (as == NULL)
		our_turn();
	T_OK(usrsctp_set_non_blocking(theirs, 0));
	run(we_end);
}

T_CASE_TIMEOUT(we_call_and_end, 60)
{
	we_call(0, 1);
}

T_CASE_TIMEOUT(they_call_and_end, 60)
{
	they_call(0, 0);
}

T_CASE_TIMEOUT(we_call_and_they_end_with_losses, 60)
{
	we_call(50, 0);
}

T_CASE_TIMEOUT(they_call_and_we_end_with_losses, 60)
{
	they_call(50, 1);
}
