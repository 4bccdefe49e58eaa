/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A sender dies at a labelled point between the kernel's taking of what
 * waited and its leaving the queue.  docs/networking.md: nothing that was
 * accepted is lost, nothing is sent twice.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/time.h>

#include <str/tli.h>

#include "in.h"

static const struct {
	const char *label;
	int n[5];
} points[] = {
	{"ksock:sent", {2, 3, 5, 10, 30}},
	{"queue:linked", {1, 2, 3, 10, 30}},
	{"queue:unlinked", {1, 2, 3, 10, 30}},
	{"lend:put", {1, 2, 31, 200, 900}},
	{"lend:sent", {1, 2, 3, 10, 30}},
};

enum { LIVES = 3, PIECE = 12288, URGENT = 255 };

/* The child with status @st died where it was to. */
static void
is_killed(int st, const char *label)
{
	if (!WIFSIGNALED(st) || WTERMSIG(st) != SIGKILL)
		T_FAIL("%s: status %#x", label, (unsigned)st);
}

/* Messages of all sizes until death; the pipe tells what was accepted. */
static void
victim(int fd, int p, const char *label, int n)
{
	static unsigned char buf[12000];
	char env[64];
	uint64_t at = 0;

	snprintf(env, sizeof(env), "%s:%d", label, n);
	T_OK(setenv("STREAMS_CRASH", env, 1));
	for (;;) {
		size_t k = 1 + t_rand_below(t_rand_below(8) == 0 ?
			sizeof(buf) : 200), i;

		/* long enough to be sent from where they are */
		if (strcmp(label, "lend:sent") == 0)
			k = 8400 + t_rand_below(sizeof(buf) - 8400);
		for (i = 0; i < k; i++)
			buf[i] = in_byte(at + i);
		if (strncmp(label, "lend:", 5) == 0)
			T_EQ(strm_write(fd, buf, k), (long)k);
		else
			in_put(fd, NULL, 0, buf, (int)k, 0);
		at += k;
		if (write(p, &at, sizeof(at)) != sizeof(at))
			_exit(1);
	}
}

static void
one(const char *label, int n)
{
	static unsigned char buf[65536];
	int s, fd = in_pair("/dev/tcp", AF_INET, &s), p[2], st;
	uint64_t done = 0, at = 0, got = 0;
	ssize_t k, i;
	pid_t pid;

	T_OK(pipe(p));
	pid = T_OK(fork());
	if (pid == 0)
		victim(fd, p[1], label, n);
	T_OK(close(p[1]));
	while (read(p[0], &at, sizeof(at)) == sizeof(at))
		done = at;
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	is_killed(st, label);
	T_OK(close(p[0]));
	T_OK(close(fd));
	while ((k = T_OK(read(s, buf, sizeof(buf)))) > 0)
		for (i = 0; i < k; i++, got++)
			if (buf[i] != in_byte(got))
				T_FAIL("%s:%d: byte %llu is wrong", label, n,
					(unsigned long long)got);
	if (got < done)
		T_FAIL("%s:%d: %llu of %llu bytes came", label, n,
			(unsigned long long)got, (unsigned long long)done);
	T_OK(close(s));
}

#define POINT(name_, i_) \
	T_CASE_TIMEOUT(name_, 60) \
	{ \
		unsigned k; \
\
		for (k = 0; k < 5; k++) \
			one(points[i_].label, points[i_].n[k]); \
	}

POINT(death_after_the_kernel_took_it, 0)
POINT(death_as_something_is_queued, 1)
POINT(death_as_something_leaves_the_queue, 2)
POINT(death_as_the_head_gathers, 3)
POINT(death_as_the_head_sends, 4)

/* A record of two writers: which one wrote it, its number, its length in all. */
struct rec {
	uint32_t writer, seq, len;
};

/* Most are short; some are long enough to be queued as they are. */
static uint32_t
rec_len(uint32_t seq)
{
	uint32_t h = seq * 2654435761u;

	return (uint32_t)sizeof(struct rec) +
		(h >> 8) % (h >> 29 == 0 ? 12000 : 300);
}

static void
rec_write(int fd, unsigned char *buf, uint32_t writer, uint32_t seq)
{
	struct rec r = {writer, seq, rec_len(seq)};
	uint32_t i;

	memcpy(buf, &r, sizeof(r));
	for (i = sizeof(r); i < r.len; i++)
		buf[i] = in_byte(seq + i);
	in_put(fd, NULL, 0, buf, (int)r.len, 0);
}

/* Check the records in @buf; @next: the next numbers.  Return: bytes used. */
static size_t
rec_check(const unsigned char *buf, size_t n, uint32_t next[2],
	const char *label)
{
	size_t at = 0;
	struct rec r;
	uint32_t i;

	while (n - at >= sizeof(r)) {
		memcpy(&r, buf + at, sizeof(r));
		if (r.writer > 1 || r.len < sizeof(r) || r.len > 13000)
			T_FAIL("%s: no record: %u %u %u", label, r.writer,
				r.seq, r.len);
		if (n - at < r.len)
			break;
		if (r.seq != next[r.writer])
			T_FAIL("%s: writer %u: record %u where %u was to come",
				label, r.writer, r.seq, next[r.writer]);
		for (i = sizeof(r); i < r.len; i++)
			T_EQ(buf[at + i], in_byte(r.seq + i));
		next[r.writer]++;
		at += r.len;
	}
	return at;
}

static void
writes_until_death(int fd, int p, const char *label, int n)
{
	static unsigned char buf[16384];
	char env[64];
	uint32_t seq;

	snprintf(env, sizeof(env), "%s:%d", label, n);
	T_OK(setenv("STREAMS_CRASH", env, 1));
	for (seq = 0; seq < 3000;) {
		rec_write(fd, buf, 0, seq++);
		if (write(p, &seq, sizeof(seq)) != sizeof(seq))
			_exit(1);
	}
	/* a point that is seldom passed */
	(void)kill(getpid(), SIGKILL);
}

/* The second writer goes on until the first one is dead, and a little longer. */
static void
writes_on(int fd, int p, int dead)
{
	static unsigned char buf[16384];
	uint32_t seq = 0, more = 0;
	struct pollfd pfd = {dead, POLLIN, 0};

	while (more < 50) {
		rec_write(fd, buf, 1, seq++);
		more += more != 0 || poll(&pfd, 1, 0) != 0;
	}
	T_EQ(write(p, &seq, sizeof(seq)), (ssize_t)sizeof(seq));
	_exit(0);
}

static void
two_writers(const char *label, int n)
{
	static unsigned char buf[65536];
	int s, fd = in_pair("/dev/tcp", AF_INET, &s), p[2], q[2], r[2], st, k;
	uint32_t next[2] = {0, 0}, told[2] = {0, 0}, seq;
	pid_t pid[2], reader;
	size_t have = 0;
	ssize_t got;

	T_OK(pipe(p));
	T_OK(pipe(q));
	T_OK(pipe(r));
	for (k = 0; k < 2; k++) {
		pid[k] = T_OK(fork());
		if (pid[k] == 0) {
			T_OK(close(r[1]));
			if (k == 0)
				writes_until_death(fd, p[1], label, n);
			T_OK(close(p[1]));
			writes_on(fd, q[1], r[0]);
		}
	}
	T_OK(close(fd));
	T_OK(close(p[1]));
	/* what comes has to be read, or no writer gets on */
	reader = T_OK(fork());
	if (reader == 0) {
		T_OK(close(r[1]));
		while ((got = T_OK(read(s, buf + have, sizeof(buf) - have))) >
			0) {
			have += (size_t)got;
			got = (ssize_t)rec_check(buf, have, next, label);
			have -= (size_t)got;
			memmove(buf, buf + got, have);
		}
		T_EQ(have, 0u);
		T_EQ(write(q[1], next, sizeof(next)), (ssize_t)sizeof(next));
		_exit(0);
	}
	T_OK(close(s));
	while (read(p[0], &seq, sizeof(seq)) == sizeof(seq))
		told[0] = seq;
	T_EQ(T_OK(waitpid(pid[0], &st, 0)), pid[0]);
	is_killed(st, label);
	T_OK(close(r[1]));
	T_EQ(T_OK(waitpid(pid[1], &st, 0)), pid[1]);
	T_EQ(st, 0);
	T_EQ(read(q[0], &told[1], sizeof(told[1])), (ssize_t)sizeof(told[1]));
	T_EQ(T_OK(waitpid(reader, &st, 0)), reader);
	T_EQ(st, 0);
	T_EQ(read(q[0], next, sizeof(next)), (ssize_t)sizeof(next));
	/* that of which the first one died may have come, too */
	T_LE(told[0], next[0]);
	T_LE(next[0], told[0] + 1);
	if (next[1] != told[1])
		T_FAIL("%s:%d: %u of the %u records of the other writer", label,
			n, next[1], told[1]);
	T_OK(close(p[0]) + close(q[0]) + close(q[1]) + close(r[0]));
}

/*
 * A message comes to the driver by the backlog of its perimeter while the other
 * writer is inside, and in whichever thread leaves: each is sent once.
 */
T_CASE_TIMEOUT(death_of_one_of_two_writers, 60)
{
	static const char *const label[] = {"queue:linked", "inet:gathered",
		"inet:sent", "perim:backlog", "ksock:sent"};
	unsigned i, k;

	for (k = 0; k < 6; k++)
		for (i = 0; i < 5; i++)
			two_writers(label[i], 1 + (int)t_rand_below(20));
}

/* Who goes on after that sends what follows: nothing is between, or twice. */
T_CASE(death_as_the_head_gathers_leaves_the_endpoint_usable)
{
	unsigned char buf[12000];
	int s, fd = in_pair("/dev/tcp", AF_INET, &s), i, k, st;
	uint64_t at = 0, last = 0, n = 0;
	pid_t pid;
	ssize_t r;

	for (i = 0; i < 10; i++) {
		pid = T_OK(fork());
		if (pid == 0) {
			T_OK(setenv("STREAMS_CRASH", i & 1 ? "lend:sent:2" :
				"lend:put:3", 1));
			memset(buf, 'd', sizeof(buf));
			for (;;)
				(void)strm_write(fd, buf, i & 1 ? 12000 : 50);
		}
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
		is_killed(st, "a writer");
		for (k = 0; k < 40; k++, at += 10)
			T_EQ(strm_write(fd, "aaaaaaaaaa", 10), 10);
		T_OK(ioctl(fd, I_FLUSH, i % 4 == 3 ? FLUSHR : FLUSHW));
		memset(buf, 'a', sizeof(buf));
		T_EQ(strm_write(fd, buf, sizeof(buf)), (long)sizeof(buf));
		at += sizeof(buf);
	}
	memset(buf, 'z', sizeof(buf));
	for (k = 0; k < 40; k++)
		T_EQ(strm_write(fd, buf, 10), 10);
	T_EQ(strm_write(fd, buf, sizeof(buf)), (long)sizeof(buf));
	T_OK(close(fd));
	while ((r = T_OK(read(s, buf, sizeof(buf)))) > 0)
		for (k = 0; k < r; k++) {
			T_TRUE(strchr("adz", buf[k]) != NULL);
			T_TRUE(last == 0 || buf[k] == 'z');
			last += buf[k] == 'z';
			n += buf[k] == 'a';
		}
	T_LE(n, at); /* some of them may have been flushed */
	T_EQ(last, 400u + sizeof(buf));
	T_OK(close(s));
}

/* A killed reader had it in its buffer: lost; what follows is the next. */
T_CASE(death_as_the_head_receives)
{
	static const char *const env[] = {"lend:received:1", "lend:received:4"};
	static unsigned char buf[65536];
	uint64_t at, told, total, i = 0;
	int round, s, fd, p[2], st;
	pid_t pid;
	long n;

	for (round = 0; round < 2; round++) {
		fd = in_pair("/dev/tcp", AF_INET, &s);
		/* it is lent when the first has come the other way */
		T_EQ(write(s, "x", 1), 1);
		in_want(fd, -1);
		T_OK(pipe(p));
		pid = T_OK(fork());
		if (pid == 0) {
			T_OK(setenv("STREAMS_CRASH", env[round], 1));
			for (at = 0;;) {
				n = strm_read(fd, buf, 4000);
				if (n == 0) {
					/* the first call of a process */
					in_want(fd, -1);
					n = in.datalen;
				}
				T_GT(n, 0);
				at += (uint64_t)n;
				if (write(p[1], &at, sizeof(at)) != sizeof(at))
					_exit(1);
			}
		}
		T_OK(close(p[1]));
		/* a multiple of what tells one byte from another, and more */
		for (told = total = 0; waitpid(pid, &st, WNOHANG) == 0;) {
			for (i = 0; i < 4000; i++)
				buf[i] = (unsigned char)((total + i) % 251);
			T_EQ(write(s, buf, 4000), 4000);
			total += 4000;
			t_pause();
		}
		is_killed(st, env[round]);
		while (read(p[0], &at, sizeof(at)) == sizeof(at))
			told = at;
		T_OK(close(p[0]));
		T_OK(shutdown(s, SHUT_WR));
		/* to the end, each byte the one after the one before */
		at = 0;
		while (in_get(fd) == -1) {
			if (at == 0 && in.datalen > 0)
				i = in.data[0];
			for (n = 0; n < in.datalen; n++, i++)
				T_EQ(in.data[n], i % 251);
			at += (uint64_t)in.datalen;
		}
		T_EQ(in.prim, T_ORDREL_IND);
		T_LE(told + at, total);
		if (at != 0)
			T_EQ(i % 251, total % 251);
		T_OK(close(fd));
		T_OK(close(s));
	}
}

/* The streamsd that was started here; the harness adopts it. */
static pid_t
streamsd(void)
{
	char path[64], line[256];
	pid_t found = 0;
	FILE *f, *g;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
		(int)getppid(), (int)getppid());
	f = fopen(path, "re");
	T_NOTNULL(f);
	while (fscanf(f, "%d", &pid) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		g = fopen(path, "re");
		if (g == NULL)
			continue;
		if (fgets(line, sizeof(line), g) != NULL &&
		    strstr(line, "(streamsd") != NULL)
			found = pid;
		(void)fclose(g);
	}
	(void)fclose(f);
	return found;
}

/*
 * Takes two pieces of what the parent sends when it is told; of the second it
 * dies.  That nothing but plain data stands there, it has found out before.
 */
static void
takes_two(int fd, int told, int tell)
{
	static unsigned char buf[PIECE];
	char c;

	if (strm_read(fd, buf, PIECE) == 0)
		in_want(fd, -1);
	T_EQ(write(tell, "r", 1), 1);
	T_EQ(read(told, &c, 1), 1);
	if (strm_read(fd, buf, PIECE) != PIECE)
		_exit(LIVES);
	T_OK(setenv("STREAMS_CRASH", "lend:received", 1));
	(void)strm_read(fd, buf, PIECE);
	_exit(LIVES);
}

static int
no_urgent(const unsigned char *p, long n)
{
	return memchr(p, URGENT, (size_t)n) == NULL;
}

/* The next one does not go by what the dead one knew. */
T_CASE(death_as_the_head_receives_leaves_urgent_data_urgent)
{
	static unsigned char buf[4 * PIECE];
	int s, fd, p[2], q[2], st, prim, urgent = 0;
	unsigned char u = URGENT;
	pid_t pid, d;
	long n;

	do {
		fd = in_pair("/dev/tcp", AF_INET, &s);
		T_EQ(write(s, "xy", 2), 2);
		in_want(fd, -1);
		T_EQ(write(s, "z", 1), 1);
		T_OK(pipe(p));
		T_OK(pipe(q));
		pid = T_OK(fork());
		if (pid == 0)
			takes_two(fd, p[0], q[1]);
		T_EQ(read(q[0], buf, 1), 1);
		/* it would begin the endpoint anew, when it has a CPU */
		d = streamsd();
		T_NE(d, 0);
		T_OK(kill(d, SIGSTOP));
		memset(buf, 'd', sizeof(buf));
		T_EQ(write(s, buf, 3 * PIECE), 3 * PIECE);
		T_EQ(write(p[1], "g", 1), 1);
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
		T_OK(close(p[0]) + close(p[1]) + close(q[0]) + close(q[1]));
		if (WIFEXITED(st) && WEXITSTATUS(st) == LIVES) {
			T_OK(kill(d, SIGCONT));
			T_OK(close(s));
			T_OK(close(fd));
		}
	} while (WIFEXITED(st) && WEXITSTATUS(st) == LIVES);
	is_killed(st, "lend:received");
	T_EQ(send(s, &u, 1, MSG_OOB), 1);
	T_EQ(write(s, "more", 4), 4);
	T_OK(shutdown(s, SHUT_WR));
	do {
		n = strm_read(fd, buf, PIECE);
		T_GE(n, 0);
		T_TRUE(no_urgent(buf, n));
		prim = -1;
		if (n == 0) {
			prim = in_get(fd);
			if (prim == T_EXDATA_IND) {
				T_EQ(in.data[0], URGENT);
				urgent++;
			} else if (in.datalen > 0) {
				T_TRUE(no_urgent(in.data, in.datalen));
			}
		}
	} while (prim != T_ORDREL_IND);
	T_EQ(urgent, 1);
	T_OK(kill(d, SIGCONT));
	T_OK(close(s));
	T_OK(close(fd));
}

/*
 * Dies at @label with an endpoint of datagrams at a port that is free, *ss.
 * streamsd, which looks after those who have died before, may find a descriptor
 * closed before its closer goes on, and then closes the stream in its place:
 * that one lives, and another one tries.
 */
static void
bound_and_dead(const char *label, struct sockaddr_storage *ss, socklen_t *len)
{
	int fd, st;
	pid_t pid;

	do {
		T_OK(close(in_here(AF_INET, SOCK_DGRAM, ss, len)));
		pid = T_OK(fork());
		if (pid == 0) {
			T_OK(setenv("STREAMS_CRASH", label, 1));
			fd = in_open("/dev/udp");
			in_bind(fd, ss, *len, 0);
			T_OK(close(fd));
			_exit(LIVES);
		}
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	} while (WIFEXITED(st) && WEXITSTATUS(st) == LIVES);
	is_killed(st, label);
}

/* docs/networking.md: credit is of ports that have a reader in the domain */
T_CASE_TIMEOUT(death_of_a_receiver_leaves_no_credit_at_its_port, 60)
{
	static const char *const label[] = {"credit:bound:1", "credit:gone:1"};
	static unsigned char buf[1000];
	const struct timeval most = {.tv_usec = 900000}; /* < HELD */
	struct sockaddr_storage ss;
	int fd, s, i, round;
	socklen_t len;

	for (round = 0; round < 2; round++) {
		/* one of ours keeps the domain alive, and sends afterwards */
		fd = in_open("/dev/udp");
		in_bind(fd, NULL, 0, 0);
		bound_and_dead(label[round], &ss, &len);
		s = in_sock(AF_INET, SOCK_DGRAM);
		while (bind(s, (struct sockaddr *)&ss, len) < 0) {
			T_EQ(errno, EADDRINUSE); /* not closed for it yet */
			t_pause();
		}
		T_OK(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &most,
			sizeof(most)));
		/* more than any credit */
		for (i = 0; i < 1000; i++) {
			in_unitdata(fd, &ss, (int)len, buf, sizeof(buf));
			T_EQ(T_OK(recv(s, buf, sizeof(buf), 0)),
				(ssize_t)sizeof(buf));
		}
		T_OK(close(s));
		T_OK(close(fd));
	}
}
