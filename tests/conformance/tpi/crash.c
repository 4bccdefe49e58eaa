/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * One of two who connect, talk and part dies at a labelled point of the
 * drivers, or of the queues between them: the other one learns of it, can go
 * on, and nothing is left behind.
 *
 * Each label is gone through from its first passage on until one run is over
 * without a death.
 */
#include "tp.h"

#include <str/inspect.h>

enum { MOST = 6, ENDS = 5000 };

static const char *const labels[] = {
	"tpi:called", "tpi:taken", "tpi:prepared", "tpi:accepted",
	"tpi:removed", "tpi:ending", "tpi:ended", "tpi:up", "tpi:saying",
	"tpi:closed",
	"tpi:handing", "tpi:handed",
	"ti:calling", "ti:called", "ti:half", "ti:joined", "ti:told", "ti:cut",
	"ti:released", "ti:closing", "queue:linked", "wake:token", "wake:sent",
	NULL,
};
static const char *const sctp_labels[] = {
	"tpi:called", "tpi:taken", "tpi:prepared", "tpi:accepted",
	"tpi:removed", "tpi:ending", "tpi:ended", "tpi:up", "tpi:saying",
	"tpi:closed", "tpi:handing", "tpi:handed", "sctp:binding",
	"sctp:calling", "sctp:called", "sctp:accepting", "sctp:turn",
	"sctp:sending", "sctp:closing", "sctp:closed", "sctp:shortened",
	"sctp:giving", "sctp:given",
	NULL,
};

/* streamsd ends an association of a killed process in order, as the kernel does
 * with TCP. */
static int
is_sctp(void)
{
	return tp_is()->ddata != 0;
}

/* Streams there are. */
static unsigned
streams(void)
{
	static uint64_t buf[1 << 17]; /* aligned */
	long n = strm_inspect(buf, sizeof(buf), STR_I_WANT_STREAMS), at;
	const struct str_i *i;
	unsigned sum = 0;

	T_GT(n, 0);
	T_LE(n, (long)sizeof(buf));
	for (at = 0; at < n; at += (long)i->size) {
		i = (const struct str_i *)(const void *)((char *)buf + at);
		sum += i->kind == STR_I_STREAM;
	}
	return sum;
}

static void
arm(const char *label, int n)
{
	char env[64];

	snprintf(env, sizeof(env), "%s:%d", label, n);
	T_OK(setenv("STREAMS_CRASH", env, 1));
}

/* A caller's part of it: a question, an answer, the end. */
static void
caller(const struct tp_addr *a, int abort)
{
	int fd = tp_call(a);

	tp_want(fd, T_CONN_CON);
	tp_send(fd, "ask", 3, 0);
	tp_data(fd, "answer", 6);
	if (abort) {
		tp_discon_req(fd, -1);
		tp_ok(fd, T_DISCON_REQ);
	} else {
		tp_prim(fd, T_ORDREL_REQ);
		tp_want(fd, T_ORDREL_IND);
	}
	T_OK(close(fd));
}

/* Who answers: what has come, and how it stands. */
struct side {
	int lfd, fd;
	int ended; /* a T_DISCON_IND or T_ORDREL_IND has come, or it failed */
};

static int
has(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI |
		POLLRDNORM | POLLRDBAND };

	return fd >= 0 && T_OK(poll(&p, 1, 0)) == 1;
}

/* Accept; the caller may be gone by now. */
static void
accept_it(struct side *s, t_uscalar_t seq)
{
	if (s->fd >= 0)
		T_OK(close(s->fd));
	s->fd = tp_open();
	s->ended = 0;
	tp_conn_res(s->lfd, tp_id(s->fd), (int)seq);
	do
		tp_get(s->lfd);
	while (tp.prim == T_DISCON_IND);
	if (tp.prim == T_OK_ACK)
		return;
	T_EQ(tp.prim, T_ERROR_ACK);
	T_OK(close(s->fd));
	s->fd = -1;
}

static void
answer(struct side *s)
{
	if (has(s->lfd)) {
		tp_get(s->lfd);
		if (tp.prim == T_CONN_IND)
			accept_it(s, (t_uscalar_t)tp.p.conn_ind.SEQ_number);
		else
			T_EQ(tp.prim, T_DISCON_IND);
	}
	if (!has(s->fd))
		return;
	tp_get(s->fd);
	if (tp.prim == T_ORDREL_IND) {
		s->ended = 1;
		tp_prim(s->fd, T_ORDREL_REQ);
	} else if (tp.prim == T_DISCON_IND) {
		s->ended = 1;
	} else if (tp.datalen == 3) {
		/* whether a peer is there still is not known */
		(void)tp_try(s->fd, NULL, 0, "answer", 6, 0);
	}
}

/* Streams there are but for those of a run. */
static unsigned base;

/*
 * No call is pending at the listener, nor comes while it is asked: what a dead
 * caller had begun is done for it, and may cross the question.
 */
static int
idle(struct side *s)
{
	t_uscalar_t seq = 0;
	int called = 0;

	tp_prim(s->lfd, T_INFO_REQ);
	while (tp_get(s->lfd) != T_INFO_ACK) {
		called = tp.prim == T_CONN_IND;
		if (called)
			seq = (t_uscalar_t)tp.p.conn_ind.SEQ_number;
		else
			T_EQ(tp.prim, T_DISCON_IND);
	}
	if (!called)
		return tp.p.info_ack.CURRENT_state == TS_IDLE;
	accept_it(s, seq);
	return 0;
}

/* Has @pid ended?  Its status. */
static int
ended(pid_t pid, int *st)
{
	return *st != -1 || (T_OK(waitpid(pid, st, WNOHANG)) == pid) ||
		(*st = -1, 0);
}

/* Return: true: the victim died, or false: its part was over before. */
static int
caller_dies(const char *label, int n, int abort)
{
	struct side s = { .fd = -1 };
	uint64_t end, quiet = 0;
	struct tp_addr a;
	int st = -1, second = -1;
	pid_t pid;

	s.lfd = tp_listener(1, &a);
	pid = T_OK(fork());
	if (pid == 0) {
		arm(label, n);
		caller(&a, abort);
		_exit(0);
	}
	/* until the caller is gone, and we know of it */
	for (end = t_now_ns() + ENDS * 1000000ull;; t_pause()) {
		if (has(s.lfd) || has(s.fd))
			quiet = 0;
		answer(&s);
		if (st == -1 && ended(pid, &st))
			end = t_now_ns() + ENDS * 1000000ull;
		if (ended(pid, &st) && (s.fd < 0 || s.ended)) {
			quiet = quiet != 0 ? quiet : t_now_ns();
			/* its call, if it was not answered, is withdrawn */
			if (t_now_ns() > quiet + TP_SILENCE * 1000000ull &&
				streams() - (s.fd >= 0) <= base + 1 && idle(&s))
				break;
		}
		if (t_now_ns() > end)
			T_FAIL("%s:%d: nobody says that the caller is gone; "
			       "status %#x, ended %d, %u streams of %u",
				label, n, st, s.ended, streams(), base);
	}
	if (s.fd >= 0)
		T_OK(close(s.fd));
	/* the listener is as good as before */
	pid = T_OK(fork());
	if (pid == 0) {
		caller(&a, abort);
		_exit(0);
	}
	s.fd = -1;
	for (end = t_now_ns() + ENDS * 1000000ull; !ended(pid, &second);
		t_pause()) {
		answer(&s);
		if (t_now_ns() > end)
			T_FAIL("%s:%d: the listener is of no use any more",
				label, n);
	}
	T_EQ(second, 0);
	if (s.fd >= 0)
		T_OK(close(s.fd));
	T_OK(close(s.lfd));
	return WIFSIGNALED(st);
}

/* The part of who answers, until @p is closed at the other end. */
static void
answerer(int p, const char *label, int n)
{
	struct side s = { .fd = -1 };
	struct tp_addr a;

	s.lfd = tp_listener(1, &a);
	T_EQ(write(p, &a, sizeof(a)), (int)sizeof(a));
	arm(label, n);
	while (!has(p)) {
		answer(&s);
		t_pause();
	}
	if (s.fd >= 0)
		(void)close(s.fd);
	(void)close(s.lfd);
	_exit(0);
}

/* The other way round: who answers dies, and the caller learns of it. */
static int
answerer_dies(const char *label, int n, int abort)
{
	int fd, st, p[2], over = 0;
	struct tp_addr a;
	pid_t pid;

	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(p[0]));
		answerer(p[1], label, n);
	}
	T_OK(close(p[1]));
	T_EQ(read(p[0], &a, sizeof(a)), (int)sizeof(a));
	fd = tp_open();
	tp_bind(fd, 0, NULL);
	tp_conn_req(fd, &a);
	tp_ok(fd, T_CONN_REQ);
	/* tp_get() has an end of its own */
	while (!over) {
		tp_get(fd);
		if (tp.prim == T_CONN_CON) {
			(void)tp_try(fd, NULL, 0, "ask", 3, 0);
		} else if (tp.prim == T_DISCON_IND ||
			tp.prim == T_ORDREL_IND) {
			over = 1;
		} else if (tp.datalen == 6 && !abort) {
			union T_primitives u = { .type = T_ORDREL_REQ };

			(void)tp_try(fd, &u, sizeof(u.ordrel_req), NULL, -1, 0);
		} else if (tp.datalen == 6) {
			tp_discon_req(fd, -1);
			while (tp_get(fd) != T_OK_ACK)
				if (tp.prim == T_ERROR_ACK)
					break; /* the caller was faster */
			over = 1;
		}
	}
	T_OK(close(p[0]));
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	while (has(fd))
		tp_get(fd);
	if (is_sctp() && tp_state(fd) == TS_WREQ_ORDREL)
		tp_prim(fd, T_ORDREL_REQ);
	T_EQ(tp_state(fd), TS_IDLE);
	T_OK(close(fd));
	return WIFSIGNALED(st);
}

static void
sweep(int (*one)(const char *, int, int), int abort)
{
	const char *const *list = is_sctp() ? sctp_labels : labels;
	unsigned i, before, deaths = 0;
	int n;

	if (!is_sctp())
		tp_need_loopback();
	if (abort)
		tp_need_cots();
	else
		tp_need_ord();
	base = ~0u - 1;
	(void)one("none", 1, abort);
	base = before = streams();
	for (i = 0; list[i] != NULL; i++)
		for (n = 1; n <= MOST && one(list[i], n, abort); n++)
			deaths++;
	T_GT(deaths, i / 2);
	T_SOON(streams() <= before, ENDS);
}

T_CASE_TIMEOUT(a_caller_that_dies_and_releases, 120)
{
	sweep(caller_dies, 0);
}

T_CASE_TIMEOUT(a_caller_that_dies_and_disconnects, 120)
{
	sweep(caller_dies, 1);
}

T_CASE_TIMEOUT(an_answerer_that_dies_and_releases, 120)
{
	sweep(answerer_dies, 0);
}

T_CASE_TIMEOUT(an_answerer_that_dies_and_is_disconnected, 120)
{
	sweep(answerer_dies, 1);
}

/* ------------------------------------------------- what it had of others' */

/*
 * A reader makes room for the sender, and is the one to see to what waits
 * there.  When it dies over that, or streamsd does, no process has ended that
 * would account for it: another reader of the endpoint gets all, once.
 */
enum { PIECE = 64, PIECES = 4096, DEATHS = 6 };

struct taken {
	unsigned char data[PIECES * PIECE]; /* never 0 */
};

static void
piece(unsigned char *buf, unsigned n)
{
	unsigned i;

	for (i = 0; i < PIECE; i++)
		buf[i] = (unsigned char)(1 + (n * 31 + i * 7) % 255);
}

/* As many as there is room for, and behind it; how many. */
static unsigned
send_pieces(int fd, const struct tp_addr *to)
{
	unsigned char buf[PIECE];
	struct {
		struct T_unitdata_req r;
		unsigned char addr[256];
	} m = { .r = { .PRIM_type = T_UNITDATA_REQ } };
	unsigned n;
	int r;

	if (to != NULL) {
		m.r.DEST_length = to->len;
		m.r.DEST_offset = sizeof(m.r);
		memcpy(m.addr, to->buf, (size_t)to->len);
	}
	T_OK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK));
	for (n = 0; n < PIECES; n++) {
		piece(buf, n);
		r = to != NULL ? tp_try(fd, &m, (int)sizeof(m.r) + to->len, buf,
			PIECE, 0) : tp_try(fd, NULL, 0, buf, PIECE, 0);
		if (r < 0) {
			T_EQ(errno, EAGAIN);
			return n;
		}
	}
	T_FAIL("there is room without end");
}

static void
little_room(int fd)
{
	struct {
		struct T_optmgmt_req r;
		struct t_opthdr h;
		t_uscalar_t v;
	} m = { { T_OPTMGMT_REQ, sizeof(m.h) + sizeof(m.v), sizeof(m.r),
			T_NEGOTIATE },
		{ sizeof(m.h) + sizeof(m.v), XTI_GENERIC, XTI_RCVBUF, 0 },
		4096 };

	tp_put(fd, &m, sizeof(m), NULL, -1);
	tp_want(fd, T_OPTMGMT_ACK);
}

/* Data alone, straight to where the dead may leave it; its length. */
static int
take(int fd, unsigned char *to, size_t room)
{
	unsigned char ctl[512];
	struct strbuf c = { sizeof(ctl), 0, (char *)ctl };
	struct strbuf d = { (int)room, 0, (char *)to };
	int flags = 0;

	T_EQ(T_OK(getmsg(fd, &c, &d, &flags)) & MOREDATA, 0);
	return d.len;
}

static unsigned
bytes_of(const struct taken *t)
{
	unsigned n = 0;

	while (n < sizeof(t->data) && t->data[n] != 0)
		n++;
	return n;
}

/* All of the @n pieces, then @end, -1: nothing.  Return: the child died. */
static int
read_by_two(int fd, unsigned n, int end, const char *label, int nr)
{
	struct taken *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned char want[PIECE];
	unsigned at = 0, i;
	int st;
	pid_t pid;

	T_TRUE(t != MAP_FAILED);
	pid = T_OK(fork());
	if (pid == 0) {
		arm(label, nr);
		while (at < n * PIECE)
			at += (unsigned)take(fd, t->data + at,
				sizeof(t->data) - at);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_TRUE(st == 0 || WIFSIGNALED(st));
	for (at = bytes_of(t); at < n * PIECE;) {
		struct pollfd p = { fd, POLLIN | POLLRDNORM, 0 };

		if (T_OK(poll(&p, 1, ENDS)) != 1)
			T_FAIL("%s:%d: %u of %u bytes have come", label, nr,
				at, n * PIECE);
		if (tp_get(fd) != -1)
			T_EQ(tp.prim, T_UNITDATA_IND);
		T_LE(at + (unsigned)tp.datalen, sizeof(t->data));
		memcpy(t->data + at, tp.data, (size_t)tp.datalen);
		at += (unsigned)tp.datalen;
	}
	for (i = 0; i < n; i++) {
		piece(want, i);
		if (memcmp(t->data + i * PIECE, want, PIECE) != 0)
			T_FAIL("%s:%d: piece %u of %u is not there", label, nr,
				i, n);
	}
	if (end >= 0)
		tp_want(fd, end);
	else
		tp_quiet(fd);
	T_OK(munmap(t, sizeof(*t)));
	return WIFSIGNALED(st);
}

static void
each_death(int (*one)(const char *, int), const char *const *label)
{
	unsigned deaths = 0;
	int n;

	for (; *label != NULL; label++)
		for (n = 1; n <= DEATHS && one(*label, n); n++)
			deaths++;
	T_GT(deaths, 1u);
}

/* What waits at its sender. */
static int
waiting(const char *label, int nr)
{
	struct tp_addr a;
	int fd[2], died;
	unsigned n;

	if (tp_cots()) {
		tp_pair(fd);
	} else {
		fd[0] = tp_open();
		tp_bind(fd[0], 0, NULL);
		fd[1] = tp_open();
		tp_bind(fd[1], 0, &a);
	}
	little_room(fd[1]);
	n = send_pieces(fd[0], tp_cots() ? NULL : &a);
	died = read_by_two(fd[1], n, -1, label, nr);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	return died;
}

static const char *const serving[] = { "tpi:serving", "tpi:served", NULL };

T_CASE_TIMEOUT(who_dies_over_what_another_one_sends_takes_nothing_along, 120)
{
	if (tp_is()->inet && (!tp_is()->native || tp_is()->raw))
		T_SKIP("goes by the kernel");
	each_death(waiting, serving);
}

/* Does process @pid sleep? */
static int
asleep(pid_t pid)
{
	char path[64], buf[512], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = T_OK(open(path, O_RDONLY));
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	buf[n] = '\0';
	p = strrchr(buf, ')');
	return p != NULL && p[2] == 'S';
}

/*
 * A reader that serves the sender's queue dies between what it notes of a
 * datagram and that datagram's way to the receiver.  The datagram of another
 * sender comes there meanwhile: it is not taken for the first one.
 */
T_CASE_TIMEOUT(a_datagram_of_a_killed_server_is_told_from_another_sender_s, 60)
{
	unsigned char seen[PIECES] = "", want[PIECE];
	unsigned n, got, i;
	struct tp_addr a;
	int fd[3], st;
	pid_t pid;

	tp_need_clts();
	if (tp_is()->inet && (!tp_is()->native || tp_is()->raw))
		T_SKIP("goes by the kernel");
	for (i = 0; i < 3; i++) {
		fd[i] = tp_open();
		tp_bind(fd[i], 0, i == 1 ? &a : NULL);
	}
	little_room(fd[1]);
	n = send_pieces(fd[0], &a);
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(setenv("STREAMS_DELAY", "tpi:goes:60000", 1));
		for (;;)
			(void)tp_get(fd[1]);
	}
	T_SOON(asleep(pid) && (t_pause(), asleep(pid)), ENDS);
	tp_udata(fd[2], &a, "another", 7);
	T_OK(kill(pid, SIGKILL));
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	for (i = 0; i < n + 1; i++) {
		struct pollfd p = { fd[1], POLLIN | POLLRDNORM, 0 };

		if (T_OK(poll(&p, 1, 1000)) != 1)
			break;
		T_EQ(tp_get(fd[1]), T_UNITDATA_IND);
		if (tp.datalen != PIECE)
			continue;
		for (got = 0; got < n; got++) {
			piece(want, got);
			if (memcmp(tp.data, want, PIECE) == 0)
				break;
		}
		T_LT(got, n);
		T_EQ(seen[got]++, 0);
	}
	/* the dead reader has taken the first ones; none misses after them */
	for (i = 0; i < n && seen[i] == 0; i++)
		;
	for (; i < n; i++)
		if (seen[i] == 0)
			T_FAIL("datagram %u of %u is lost", i, n);
	for (i = 0; i < 3; i++)
		T_OK(close(fd[i]));
}

/* What its sender, who is gone, has left to be read. */
static int
left(const char *label, int nr)
{
	unsigned n;
	int fd[2], died;

	tp_pair(fd);
	little_room(fd[1]);
	n = send_pieces(fd[0], NULL);
	T_OK(close(fd[0])); /* does not wait */
	died = read_by_two(fd[1], n, T_DISCON_IND, label, nr);
	T_OK(close(fd[1]));
	return died;
}

static int
released(const char *label, int nr)
{
	struct T_ordrel_req r = { T_ORDREL_REQ };
	unsigned n;
	int fd[2], died;

	tp_pair(fd);
	little_room(fd[1]);
	n = send_pieces(fd[0], NULL);
	/* of high priority it is taken at once, and waits behind the data */
	T_OK(tp_try(fd[0], &r, sizeof(r), NULL, -1, -1));
	died = read_by_two(fd[1], n, T_ORDREL_IND, label, nr);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	return died;
}

static const char *const handing[] = { "tpi:handing", "tpi:handed", NULL };

T_CASE_TIMEOUT(who_dies_over_what_was_left_takes_nothing_along, 120)
{
	tp_need_cots();
	tp_need_loopback();
	each_death(left, handing);
}

T_CASE_TIMEOUT(who_dies_over_a_release_takes_nothing_along, 120)
{
	static const char *const both[] = { "tpi:serving", "tpi:served",
		"tpi:handing", "tpi:handed", NULL };

	tp_need_ord();
	tp_need_loopback();
	each_death(released, both);
}
