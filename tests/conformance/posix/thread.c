/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Many writers and readers on one pipe, and the cancellation of threads.
 *
 * POSIX write(): "Write requests of {PIPE_BUF} bytes or less shall not be
 * interleaved with data from other processes doing writes on the same pipe."
 * As long as all records have one length, a read of that length therefore
 * finds a whole record, also when there are several readers.
 *
 * P_RECORDS in the environment sets how many records are sent in all
 * (default 1,000,000).
 */
#include "posix.h"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <semaphore.h>

#define SIDE 8 /* writers, and as many readers */

struct record {
	uint32_t writer, seq, length, sum;
};

struct crowd {
	int fd[2];
	size_t length;		/* of each record; 0: any, framed */
	uint32_t each;		/* records of each writer */
	unsigned char *seen;	/* [writer][seq], shared by processes too */
	pthread_barrier_t *start;
};

static uint32_t
sum_of(const struct record *r)
{
	const unsigned char *p = (const unsigned char *)(r + 1);
	uint32_t s = 2166136261u ^ r->writer * 2654435761u ^ r->seq ^
		r->length << 20;

	for (size_t i = 0; i < r->length - sizeof(*r); i++)
		s = (s ^ p[i]) * 16777619u;
	return s;
}

static void
make_record(struct record *r, uint32_t writer, uint32_t seq, size_t length)
{
	r->writer = writer;
	r->seq = seq;
	r->length = (uint32_t)length;
	p_pattern(r + 1, length - sizeof(*r), writer * 31 + seq * 7);
	r->sum = sum_of(r);
}

static void
check_record(struct crowd *w, const struct record *r, uint32_t *last)
{
	T_LT(r->writer, (uint32_t)SIDE);
	T_LT(r->seq, w->each);
	T_GE(r->length, sizeof(*r));
	T_LE(r->length, (uint32_t)PIPE_BUF);
	T_EQ(r->sum, sum_of(r));
	/* one reader sees the records of one writer in their order */
	T_GE(r->seq + 1, last[r->writer] + 1);
	last[r->writer] = r->seq + 1;
	T_EQ(__atomic_exchange_n(&w->seen[r->writer * w->each + r->seq], 1,
		__ATOMIC_RELAXED), 0);
}

static void
write_records(struct crowd *w, uint32_t id)
{
	union {
		struct record r;
		char space[PIPE_BUF];
	} u;

	for (uint32_t i = 0; i < w->each; i++) {
		size_t len = w->length != 0 ? w->length : sizeof(u.r) +
			(i * 2654435761u >> 7) % (PIPE_BUF - sizeof(u.r) + 1);

		make_record(&u.r, id, i, len);
		T_EQ(write(w->fd[1], &u, len), (ssize_t)len);
	}
}

static void
read_records(struct crowd *w)
{
	union {
		struct record r;
		char space[PIPE_BUF];
	} u;
	uint32_t last[SIDE] = { 0 };
	ssize_t n;

	while ((n = read(w->fd[0], &u, w->length)) != 0) {
		T_EQ(n, (ssize_t)w->length);
		check_record(w, &u.r, last);
	}
}

/* one reader, which takes the stream apart by the lengths it finds in it */
static void
read_framed(struct crowd *w)
{
	union {
		struct record r;
		char space[PIPE_BUF];
	} u;
	uint32_t last[SIDE] = { 0 };
	size_t n;

	while ((n = p_read_all(w->fd[0], &u, sizeof(u.r))) != 0) {
		T_EQ(n, sizeof(u.r));
		T_GE(u.r.length, sizeof(u.r));
		T_LE(u.r.length, (uint32_t)PIPE_BUF);
		n = u.r.length - sizeof(u.r);
		T_EQ(p_read_all(w->fd[0], &u.r + 1, n), n);
		check_record(w, &u.r, last);
	}
}

struct member {
	struct crowd *crowd;
	int id; /* a reader's is SIDE and up */
	pthread_t thread;
};

static void *
member_main(void *arg)
{
	struct member *m = arg;

	pthread_barrier_wait(m->crowd->start);
	if (m->id < SIDE)
		write_records(m->crowd, (uint32_t)m->id);
	else
		read_records(m->crowd);
	return NULL;
}

static uint32_t
records(unsigned share)
{
	const char *s = getenv("P_RECORDS");
	double n = s != NULL ? atof(s) : 1e6;

	return (uint32_t)(n * share / 100 / SIDE);
}

static void
crowd_open(struct crowd *w, size_t length, uint32_t each)
{
	size_t n = (size_t)each * SIDE;

	p_pipe(w->fd);
	w->length = length;
	w->each = each;
	w->seen = mmap(NULL, n, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w->seen == MAP_FAILED)
		p_die("mmap");
}

static void
crowd_close(struct crowd *w)
{
	size_t n = (size_t)w->each * SIDE, missing = 0;

	for (size_t i = 0; i < n; i++)
		missing += w->seen[i] == 0;
	T_EQ(missing, 0u);
	munmap(w->seen, n);
}

static void
crowd_of_threads(size_t length, uint32_t each)
{
	struct member m[2 * SIDE];
	pthread_barrier_t start;
	struct crowd w;

	crowd_open(&w, length, each);
	w.start = &start;
	pthread_barrier_init(&start, NULL, 2 * SIDE);
	for (int i = 0; i < 2 * SIDE; i++) {
		m[i].crowd = &w;
		m[i].id = i;
		T_EQ(pthread_create(&m[i].thread, NULL, member_main, &m[i]),
			0);
	}
	for (int i = 0; i < SIDE; i++)
		T_EQ(pthread_join(m[i].thread, NULL), 0);
	T_OK(close(w.fd[1]));
	for (int i = SIDE; i < 2 * SIDE; i++)
		T_EQ(pthread_join(m[i].thread, NULL), 0);
	T_OK(close(w.fd[0]));
	crowd_close(&w);
}

static void
crowd_of_processes(size_t length, uint32_t each)
{
	pid_t pid[2 * SIDE];
	struct crowd w;
	int status;

	crowd_open(&w, length, each);
	for (int i = 0; i < 2 * SIDE; i++) {
		pid[i] = fork();
		if (pid[i] != 0)
			continue;
		if (i < SIDE) {
			close(w.fd[0]);
			write_records(&w, (uint32_t)i);
		} else {
			close(w.fd[1]);
			read_records(&w);
		}
		_exit(0);
	}
	T_OK(close(w.fd[0]));
	T_OK(close(w.fd[1]));
	for (int i = 0; i < 2 * SIDE; i++) {
		T_EQ(waitpid(pid[i], &status, 0), pid[i]);
		T_EQ(status, 0);
	}
	crowd_close(&w);
}

T_CASE_TIMEOUT(records_of_8_writing_threads_reach_8_readers_whole, 60)
{
	crowd_of_threads(16, records(20));
	crowd_of_threads(64, records(15));
	crowd_of_threads(1000, records(8));
	crowd_of_threads(PIPE_BUF, records(2));
}

T_CASE_TIMEOUT(records_of_8_writing_processes_reach_8_readers_whole, 60)
{
	crowd_of_processes(16, records(20));
	crowd_of_processes(96, records(20));
	crowd_of_processes(512, records(8));
	crowd_of_processes(PIPE_BUF, records(2));
}

T_CASE_TIMEOUT(records_of_mixed_length_from_8_writers_stay_whole, 60)
{
	pthread_barrier_t start;
	struct member m[SIDE];
	struct crowd w;
	pid_t pid;

	crowd_open(&w, 0, records(5));
	pid = fork();
	if (pid == 0) {
		close(w.fd[1]);
		read_framed(&w);
		_exit(0);
	}
	T_OK(close(w.fd[0]));
	w.start = &start;
	pthread_barrier_init(&start, NULL, SIDE);
	for (int i = 0; i < SIDE; i++) {
		m[i].crowd = &w;
		m[i].id = i;
		T_EQ(pthread_create(&m[i].thread, NULL, member_main, &m[i]),
			0);
	}
	for (int i = 0; i < SIDE; i++)
		T_EQ(pthread_join(m[i].thread, NULL), 0);
	T_OK(close(w.fd[1]));
	T_TRUE(p_exited(pid, 0));
	crowd_close(&w);
}

/* O_NONBLOCK and poll() instead of waiting in write(): just as whole */
struct polite {
	int fd;
	int id;
	pthread_t thread;
};

static void *
polite_writer(void *arg)
{
	struct polite *p = arg;
	char rec[700];
	ssize_t n;

	memset(rec, 'a' + p->id, sizeof(rec));
	for (int i = 0; i < 1500;) {
		n = write(p->fd, rec, sizeof(rec));
		if (n == -1 && errno == EAGAIN) {
			T_EQ(p_ready(p->fd, POLLOUT, P_MS_LONG), POLLOUT);
			continue;
		}
		T_EQ(n, 700);
		i++;
	}
	return NULL;
}

T_CASE(nonblocking_writers_that_poll_do_not_mix_their_records)
{
	struct polite p[4];
	int fd[2], count[4] = { 0 };
	char rec[700];

	p_pipe(fd);
	p_nonblock(fd[1], 1);
	for (int i = 0; i < 4; i++) {
		p[i].fd = fd[1];
		p[i].id = i;
		T_EQ(pthread_create(&p[i].thread, NULL, polite_writer, &p[i]),
			0);
	}
	for (int i = 0; i < 4 * 1500; i++) {
		T_EQ(p_read_all(fd[0], rec, sizeof(rec)), sizeof(rec));
		for (size_t k = 1; k < sizeof(rec); k++)
			T_EQ(rec[k], rec[0]);
		count[rec[0] - 'a']++;
	}
	for (int i = 0; i < 4; i++) {
		T_EQ(pthread_join(p[i].thread, NULL), 0);
		T_EQ(count[i], 1500);
	}
}

/* bigger writes may be interleaved, but every byte arrives once, in order */
static void *
big_writer(void *arg)
{
	struct polite *p = arg;
	static __thread unsigned char buf[100000];

	for (size_t sent = 0; sent < 2000000; sent += sizeof(buf)) {
		for (size_t i = 0; i < sizeof(buf); i++)
			buf[i] = (unsigned char)(p->id * 64 +
				(sent + i) % 61);
		T_EQ(write(p->fd, buf, sizeof(buf)), (ssize_t)sizeof(buf));
	}
	return NULL;
}

T_CASE(big_writes_of_several_threads_lose_and_reorder_nothing)
{
	static unsigned char buf[65536];
	size_t got[4] = { 0 }, all = 0;
	struct polite p[4];
	ssize_t n;
	int fd[2];

	p_pipe(fd);
	for (int i = 0; i < 4; i++) {
		p[i].fd = fd[1];
		p[i].id = i;
		T_EQ(pthread_create(&p[i].thread, NULL, big_writer, &p[i]),
			0);
	}
	while (all < 4 * 2000000) {
		n = read(fd[0], buf, sizeof(buf));
		T_GT(n, 0);
		for (ssize_t i = 0; i < n; i++) {
			int id = buf[i] / 64;

			T_EQ(buf[i] % 64u, got[id] % 61);
			got[id]++;
		}
		all += (size_t)n;
	}
	for (int i = 0; i < 4; i++) {
		T_EQ(pthread_join(p[i].thread, NULL), 0);
		T_EQ(got[i], 2000000u);
	}
}

/* a token that goes to and fro: its waiter always gets it */
struct pong {
	int in, out, rounds;
};

static void *
pong_main(void *arg)
{
	struct pong *p = arg;
	char c;

	for (int i = 0; i < p->rounds; i++) {
		T_EQ(read(p->in, &c, 1), 1);
		T_EQ(write(p->out, &c, 1), 1);
	}
	return NULL;
}

T_CASE(a_token_returns_from_a_thread_20000_times)
{
	struct pong p = { .rounds = 20000 };
	int there[2], back[2];
	pthread_t th;
	char c = 't';

	p_pipe(there);
	p_pipe(back);
	p.in = there[0];
	p.out = back[1];
	T_EQ(pthread_create(&th, NULL, pong_main, &p), 0);
	for (int i = 0; i < p.rounds; i++) {
		T_EQ(write(there[1], &c, 1), 1);
		T_EQ(read(back[0], &c, 1), 1);
	}
	T_EQ(pthread_join(th, NULL), 0);
}

T_CASE(a_token_goes_round_five_processes_4000_times)
{
	struct pong p = { .rounds = 4000 };
	int fd[5][2];
	pid_t pid[5];
	char c = 't';

	for (int i = 0; i < 5; i++)
		p_pipe(fd[i]);
	for (int i = 1; i < 5; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			p.in = fd[i - 1][0];
			p.out = fd[i][1];
			pong_main(&p);
			_exit(0);
		}
	}
	for (int i = 0; i < p.rounds; i++) {
		T_EQ(write(fd[0][1], &c, 1), 1);
		T_EQ(read(fd[4][0], &c, 1), 1);
	}
	for (int i = 1; i < 5; i++)
		T_TRUE(p_exited(pid[i], 0));
}

/*
 * Cancellation.  POSIX 2.9.5.2: read(), readv(), write(), writev(), poll(),
 * select() and pselect() are cancellation points; what a cancelled call may
 * have done is what it may have done when interrupted by a signal.
 */
static void *
canceled(struct p_call *c)
{
	struct timespec ts;
	void *ret;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += P_MS_LONG / 1000;
	T_EQ(pthread_timedjoin_np(c->thread, &ret, &ts), 0);
	return ret;
}

T_CASE(calls_that_wait_can_be_cancelled)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int a[2], b[2], ep = T_OK(epoll_create1(0));
	struct p_call c;
	char buf[8] = "";
	size_t in;

	p_pipe(a);
	p_pipe(b);
	in = p_fill(b[1]);
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, a[0], &ev));
	for (enum p_op op = P_READ; op <= P_EPOLL; op++) {
		switch (op) {
		case P_READ:
		case P_READV:
			p_call(&c, op, a[0], buf, 8);
			break;
		case P_WRITE:
		case P_WRITEV:
			p_call(&c, op, b[1], buf, 8);
			break;
		default:
			p_call_poll(&c, op, op == P_EPOLL ? ep : a[0],
				POLLIN);
			break;
		}
		T_TRUE(p_call_blocks(&c));
		T_EQ(pthread_cancel(c.thread), 0);
		T_TRUE(canceled(&c) == PTHREAD_CANCELED);
		T_EQ(c.done, 0);
	}
	/* nothing was taken, nothing was added, nothing is locked */
	T_EQ(p_drain(b[0]), in);
	T_EQ(write(a[1], "abc", 3), 3);
	T_EQ(read(a[0], buf, 8), 3);
	T_EQ(write(b[1], "abc", 3), 3);
	T_EQ(p_drain(b[0]), 3u);
}

struct pending {
	int fd, writes, state;
	_Atomic int passed;
	sem_t asked;
};

static void *
pending_main(void *arg)
{
	struct pending *p = arg;
	char c;
	int old;

	pthread_setcancelstate(p->state, &old);
	pthread_cancel(pthread_self());
	if (p->writes)
		(void)!write(p->fd, "x", 1);
	else
		(void)!read(p->fd, &c, 1);
	p->passed = 1;
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
	pthread_testcancel();
	p->passed = 2;
	return NULL;
}

/* POSIX 2.9.5.2: pending, "shall be acted upon before the function returns" */
T_CASE(a_pending_cancellation_is_acted_upon_by_read_and_write)
{
	struct pending p = { .state = PTHREAD_CANCEL_ENABLE };
	pthread_t th;
	int fd[2];
	void *ret;

	p_pipe(fd);
	T_EQ(write(fd[1], "data", 4), 4);
	for (int i = 0; i < 2; i++) {
		p.writes = i;
		p.fd = fd[i];
		T_EQ(pthread_create(&th, NULL, pending_main, &p), 0);
		T_EQ(pthread_join(th, &ret), 0);
		T_TRUE(ret == PTHREAD_CANCELED);
		T_EQ(p.passed, 0);
	}
}

T_CASE(with_cancellation_disabled_the_call_completes)
{
	struct pending p = { .state = PTHREAD_CANCEL_DISABLE };
	pthread_t th;
	int fd[2];
	void *ret;

	p_pipe(fd);
	p.fd = fd[0];
	T_EQ(pthread_create(&th, NULL, pending_main, &p), 0);
	p_pause(20);
	T_EQ(p.passed, 0);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(pthread_join(th, &ret), 0);
	T_TRUE(ret == PTHREAD_CANCELED);
	T_EQ(p.passed, 1);
	T_EQ(p_drain(fd[0]), 0u);
}

static int cleanup_fd[2];

static void
cleanup(void *arg)
{
	char c;

	(void)arg;
	if (write(cleanup_fd[1], "c", 1) != 1 ||
		read(cleanup_fd[0], &c, 1) != 1 || c != 'c' ||
		write(cleanup_fd[1], "d", 1) != 1)
		_exit(97);
}

static void *
read_with_cleanup(void *arg)
{
	char c;

	(void)arg;
	pthread_cleanup_push(cleanup, NULL);
	(void)!read(cleanup_fd[0], &c, 1);
	pthread_cleanup_pop(0);
	return NULL;
}

/* POSIX 2.9.5.3: cleanup handlers run; the pipe works in them */
T_CASE(a_cleanup_handler_of_a_cancelled_read_can_use_the_pipe)
{
	struct p_call c;
	char b;

	p_pipe(cleanup_fd);
	T_EQ(pthread_create(&c.thread, NULL, read_with_cleanup, NULL), 0);
	p_pause(5);
	T_EQ(pthread_cancel(c.thread), 0);
	T_TRUE(canceled(&c) == PTHREAD_CANCELED);
	T_EQ(read(cleanup_fd[0], &b, 1), 1);
	T_EQ(b, 'd');
}

static void *
count_bytes(void *arg)
{
	_Atomic long *n = arg;
	char c;

	while (read(cleanup_fd[0], &c, 1) == 1)
		(*n)++;
	return NULL;
}

/*
 * At whatever moment it strikes, a cancellation may cost the call it hit and
 * no more.  (POSIX wants a byte taken and counted, or neither; C libraries
 * that let the cancellation in between the two are in use, so one byte for
 * each thread is forgiven.)
 */
#define CANCELS 1500

T_CASE(a_cancelled_read_takes_no_more_than_it_was_asked_for)
{
	_Atomic long taken = 0;
	long wrote = 0;
	struct p_call c;

	p_pipe(cleanup_fd);
	for (int i = 0; i < CANCELS; i++) {
		int n = (int)t_rand_below(6);

		T_EQ(pthread_create(&c.thread, NULL, count_bytes,
			(void *)(uintptr_t)&taken), 0);
		for (int k = 0; k < n; k++)
			T_EQ(write(cleanup_fd[1], "x", 1), 1);
		wrote += n;
		T_EQ(pthread_cancel(c.thread), 0);
		T_TRUE(canceled(&c) == PTHREAD_CANCELED);
	}
	taken += (long)p_drain(cleanup_fd[0]);
	T_LE(taken, wrote);
	T_GE(taken, wrote - CANCELS);
}

static void *
add_bytes(void *arg)
{
	_Atomic long *n = arg;

	while (write(cleanup_fd[1], "x", 1) == 1)
		(*n)++;
	return NULL;
}

T_CASE(a_cancelled_write_adds_no_more_than_it_was_given)
{
	_Atomic long wrote = 0;
	long taken = 0;
	struct p_call c;

	p_pipe(cleanup_fd);
	for (int i = 0; i < CANCELS; i++) {
		T_EQ(pthread_create(&c.thread, NULL, add_bytes,
			(void *)(uintptr_t)&wrote), 0);
		if (i % 3 == 0)
			taken += (long)p_drain(cleanup_fd[0]);
		T_EQ(pthread_cancel(c.thread), 0);
		T_TRUE(canceled(&c) == PTHREAD_CANCELED);
		taken += (long)p_drain(cleanup_fd[0]);
	}
	T_GE(taken, wrote);
	T_LE(taken, wrote + CANCELS);
}

/* a thread that ends leaves the pipes to the others */
static void *
short_life(void *arg)
{
	int *fd = arg;
	char c;

	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(read(fd[0], &c, 1), 1);
	return NULL;
}

T_CASE(thousands_of_short_threads_use_one_pipe)
{
	pthread_t th[8];
	int fd[2];

	p_pipe(fd);
	for (int i = 0; i < 400; i++) {
		for (int k = 0; k < 8; k++)
			T_EQ(pthread_create(&th[k], NULL, short_life, fd),
				0);
		for (int k = 0; k < 8; k++)
			T_EQ(pthread_join(th[k], NULL), 0);
	}
	T_EQ(p_drain(fd[0]), 0u);
}
