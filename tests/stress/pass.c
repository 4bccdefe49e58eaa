/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * I_SENDFD by several senders to several receivers at one end, of plain files
 * and of Streams, while senders and receivers are killed.
 *
 * Each descriptor leads to a record: the contents of a memory file, or data in
 * a STREAMS pipe.  The record names the sender and the sender's number for it.
 * A receiver counts each record in memory that all processes share.  At the
 * end each record that a sender has sent was received exactly once.
 *
 * A kill leaves one descriptor undecided: that of the I_SENDFD, or of the
 * I_RECVFD, in which the process was.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

#define SENDERS 8u
#define LIVES 4096u  /* senders, with those that take a killed one's place */
#define MOST 512u    /* descriptors of one sender */
#define MAGIC 0x70617373u
#define SHOWN 5u     /* of the failures of one kind */

/* Where the descriptors go. */
enum way {
	PAIR,	/* the ends that pipe(2) gave */
	FIFO,	/* each process has opened a FIFO */
	PASSED, /* the receivers' end came by I_RECVFD */
	NAMED,	/* the senders have opened the name of an attached end */
};

struct plan {
	enum way way;
	unsigned senders, receivers;
	bool threads;
	unsigned streams; /* every so many-th descriptor is a Stream's; 0: none */
	unsigned each;	  /* descriptors of one sender */
	unsigned kill_ms; /* for how long processes are killed; 0: not at all */
	bool daemon;	  /* streamsd is killed, and no other process */
};

struct record {
	uint32_t magic, life, seq;
};

struct shared {
	uint32_t go, stop;
	uint32_t nlife;	 /* senders that have been started */
	uint32_t doubled, foreign, errors, received;
	uint32_t sent[LIVES]; /* I_SENDFD has returned 0 so often */
	uint8_t done[LIVES];
	uint8_t got[LIVES][MOST];
};

static struct shared *sh;
static struct plan plan;
static int tx = -1, rx = -1;
static char path[128];

#define ADD(word) __atomic_fetch_add(&sh->word, 1u, __ATOMIC_SEQ_CST)
#define GET(word) __atomic_load_n(&sh->word, __ATOMIC_SEQ_CST)
#define SET(word, v) __atomic_store_n(&sh->word, v, __ATOMIC_SEQ_CST)

static void
pause_us(unsigned us)
{
	struct timespec ts = { 0, us * 1000l };

	(void)syscall(SYS_nanosleep, &ts, NULL);
}

/* ------------------------------------------------------------------ records */

static int
plain(const struct record *r)
{
	int fd = memfd_create("record", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, r, sizeof(*r)) != (ssize_t)sizeof(*r)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The end that is passed is all that is left of the pipe. */
static int
stream(const struct record *r)
{
	int p[2];
	ssize_t n;

	if (pipe(p) != 0)
		return -1;
	n = write(p[0], r, sizeof(*r));
	close(p[0]);
	if (n == (ssize_t)sizeof(*r))
		return p[1];
	close(p[1]);
	return -1;
}

static bool
look(int fd, struct record *r)
{
	struct stat st;
	ssize_t n;

	if (isastream(fd) == 1)
		n = read(fd, r, sizeof(*r));
	else if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, r, sizeof(*r), 0);
	else
		n = -1;
	return n == (ssize_t)sizeof(*r) && r->magic == MAGIC &&
		r->life < LIVES && r->seq < MOST;
}

/* ------------------------------------------------------------------- senders */

static void
send_all(unsigned life, int to)
{
	struct record r = { MAGIC, life, 0 };

	while (GET(go) == 0)
		pause_us(100);
	for (r.seq = 0; r.seq < plan.each && GET(stop) == 0; r.seq++) {
		bool is_stream = plan.streams != 0 &&
			(r.seq + life) % plan.streams == 0;
		int fd = is_stream ? stream(&r) : plain(&r);

		if (fd < 0) {
			r.seq--;
			pause_us(1000);
			continue;
		}
		while (ioctl(to, I_SENDFD, fd) != 0) {
			if (errno != EAGAIN && errno != EINTR) {
				if (ADD(errors) < SHOWN)
					fprintf(stderr, "# I_SENDFD: %s\n",
						strerror(errno));
				close(fd);
				return;
			}
			pause_us(200);
		}
		SET(sent[life], r.seq + 1);
		close(fd);
	}
	__atomic_store_n(&sh->done[life], 1, __ATOMIC_SEQ_CST);
}

static void *
sender_thread(void *arg)
{
	send_all((unsigned)(uintptr_t)arg, tx);
	return NULL;
}

static pid_t
sender(void)
{
	unsigned life = ADD(nlife);
	pid_t pid;
	int to;

	if (life >= LIVES)
		return -1;
	pid = fork();
	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	to = tx;
	if (plan.way == FIFO || plan.way == NAMED)
		to = open(path, plan.way == FIFO ? O_WRONLY : O_RDWR);
	if (to < 0) {
		fprintf(stderr, "# open: %s\n", strerror(errno));
		(void)ADD(errors);
		_exit(1);
	}
	send_all(life, to);
	_exit(0);
}

/* ----------------------------------------------------------------- receivers */

static void
receive_all(int from)
{
	struct strrecvfd v;
	struct record r;

	while (GET(stop) < 2) {
		struct pollfd pfd = { from, POLLIN, 0 };

		if (ioctl(from, I_RECVFD, &v) != 0) {
			if (errno == EAGAIN || errno == EINTR) {
				(void)poll(&pfd, 1, 20);
				continue;
			}
			if (errno == ENXIO)
				return;
			if (ADD(errors) < SHOWN)
				fprintf(stderr, "# I_RECVFD: %s\n",
					strerror(errno));
			pause_us(1000);
			continue;
		}
		if (!look(v.fd, &r)) {
			struct stat st = { .st_mode = 0 };

			(void)fstat(v.fd, &st);
			if (ADD(foreign) < SHOWN)
				fprintf(stderr, "# I_RECVFD: descriptor %d, "
					"mode %o, inode %lu\n", v.fd,
					st.st_mode, (unsigned long)st.st_ino);
		} else if (__atomic_fetch_add(&sh->got[r.life][r.seq], 1,
				__ATOMIC_SEQ_CST) != 0) {
			(void)ADD(doubled);
		}
		(void)ADD(received);
		close(v.fd);
	}
}

static void *
receiver_thread(void *arg)
{
	(void)arg;
	receive_all(rx);
	return NULL;
}

static pid_t
receiver(void)
{
	pid_t pid = fork();
	int from = rx;

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (plan.way == FIFO)
		from = open(path, O_RDONLY | O_NONBLOCK);
	if (from < 0)
		_exit(1);
	receive_all(from);
	_exit(0);
}

/* ---------------------------------------------------------------------- ways */

static void
make_way(void)
{
	struct strrecvfd v;
	int p[2], via[2], fd;

	switch (plan.way) {
	case FIFO:
		snprintf(path, sizeof(path), "/dev/streams/fifo/%u",
			2000u + (unsigned)t_rand_below(1000));
		/* keeps what no other process has open */
		rx = T_OK(open(path, O_RDWR | O_NONBLOCK));
		tx = rx;
		return;
	case PASSED:
		T_OK(pipe(p));
		T_OK(pipe(via));
		T_OK(ioctl(via[0], I_SENDFD, p[1]));
		T_OK(close(p[1]));
		T_OK(ioctl(via[1], I_RECVFD, &v));
		p[1] = v.fd;
		T_OK(close(via[0]));
		T_OK(close(via[1]));
		break;
	case NAMED:
		T_OK(pipe(p));
		snprintf(path, sizeof(path), "/tmp/pass-%d", getpid());
		fd = T_OK(open(path, O_RDWR | O_CREAT, 0600));
		T_OK(close(fd));
		T_OK(fattach(p[0], path));
		break;
	case PAIR:
		T_OK(pipe(p));
		break;
	}
	T_OK(fcntl(p[1], F_SETFL, O_RDWR | O_NONBLOCK));
	tx = p[0];
	rx = p[1];
}

static void
end_way(void)
{
	if (plan.way == NAMED) {
		T_OK(fdetach(path));
		T_OK(unlink(path));
	}
	T_OK(close(rx));
	if (tx != rx)
		T_OK(close(tx));
}

/* -------------------------------------------------------------------- running */

static unsigned
missing(void)
{
	unsigned n = GET(nlife), life, seq, lost = 0;

	for (life = 0; life < n && life < LIVES; life++)
		for (seq = 0; seq < sh->sent[life]; seq++)
			lost += sh->got[life][seq] == 0;
	return lost;
}

static void
begin(const struct plan *p)
{
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_NE((void *)sh, MAP_FAILED);
	plan = *p;
	make_way();
}

static void
check(unsigned receivers_killed)
{
	unsigned lost = missing();

	fprintf(stderr, "# %u received, %u lost, %u doubled, %u foreign, "
		"%u errors\n", GET(received), lost, GET(doubled),
		GET(foreign), GET(errors));
	T_EQ(GET(doubled), 0u);
	T_EQ(GET(foreign), 0u);
	T_EQ(GET(errors), 0u);
	T_LE(lost, receivers_killed);
	T_GT(GET(received), 0u);
}

static void
wait_for_rest(unsigned receivers_killed)
{
	uint64_t end = t_now_ns() + 5000000000ull * t_scale();

	while (missing() > receivers_killed && t_now_ns() < end &&
		GET(errors) + GET(foreign) == 0)
		t_pause();
}

static void
run(const struct plan *p)
{
	pthread_t thread[2 * SENDERS];
	pid_t pid[2 * SENDERS];
	unsigned n = 0, i;
	int status;

	begin(p);
	for (i = 0; i < plan.receivers; i++, n++) {
		if (plan.threads)
			T_EQ(pthread_create(&thread[n], NULL, receiver_thread,
				NULL), 0);
		else
			pid[n] = T_OK(receiver());
	}
	for (i = 0; i < plan.senders; i++, n++) {
		if (plan.threads)
			T_EQ(pthread_create(&thread[n], NULL, sender_thread,
				(void *)(uintptr_t)ADD(nlife)), 0);
		else
			pid[n] = T_OK(sender());
	}
	SET(go, 1);
	for (i = plan.receivers; i < n; i++) {
		if (plan.threads)
			T_EQ(pthread_join(thread[i], NULL), 0);
		else
			T_OK(waitpid(pid[i], &status, 0));
	}
	wait_for_rest(0);
	SET(stop, 2);
	for (i = 0; i < plan.receivers; i++) {
		if (plan.threads)
			T_EQ(pthread_join(thread[i], NULL), 0);
		else
			T_OK(waitpid(pid[i], &status, 0));
	}
	check(0);
	end_way();
}

/* The streamsd that this case has started, which the harness adopts; 0: none. */
static pid_t
streamsd(void)
{
	char name[64], line[512], *end, *p, *next;
	static char all[65536];
	pid_t found = 0;
	long pid;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/children", getppid(),
		getppid());
	(void)t_file(name, all, sizeof(all));
	for (p = all; (pid = strtol(p, &next, 10)) != 0; p = next) {
		snprintf(name, sizeof(name), "/proc/%ld/stat", pid);
		(void)t_file(name, line, sizeof(line));
		/* pid (comm) state */
		end = strstr(line, "(streamsd");
		if (end != NULL && strstr(end, ") Z ") == NULL)
			found = (pid_t)pid;
	}
	return found;
}

/* Kill one process, and start another one in its place. */
static void
kill_one(pid_t *pid, bool is_receiver, unsigned *kills, unsigned *receivers)
{
	int status;

	T_OK(kill(*pid, SIGKILL));
	T_OK(waitpid(*pid, &status, 0));
	*kills += WIFSIGNALED(status);
	*receivers += WIFSIGNALED(status) && is_receiver;
	*pid = T_OK(is_receiver ? receiver() : sender());
}

static void
kill_streamsd(unsigned *kills)
{
	pid_t pid = streamsd();

	*kills += pid != 0 && kill(pid, SIGKILL) == 0;
	pause_us(20000);
}

static void
run_with_kills(const struct plan *p)
{
	pid_t pid[2 * SENDERS];
	unsigned n, i, killed = 0, kills = 0;
	uint64_t end;
	int status;

	begin(p);
	n = plan.senders + plan.receivers;
	for (i = 0; i < n; i++)
		pid[i] = T_OK(i < plan.receivers ? receiver() : sender());
	SET(go, 1);
	end = t_now_ns() + plan.kill_ms * 1000000ull;
	while (t_now_ns() < end && GET(nlife) < LIVES &&
		GET(errors) + GET(foreign) == 0) {
		pause_us(500 + (unsigned)t_rand_below(4000));
		i = (unsigned)t_rand_below(n);
		if (plan.daemon)
			kill_streamsd(&kills);
		else
			kill_one(&pid[i], i < plan.receivers, &kills, &killed);
	}
	SET(stop, 1);
	for (i = plan.receivers; i < n; i++)
		T_OK(waitpid(pid[i], &status, 0));
	wait_for_rest(killed);
	SET(stop, 2);
	for (i = 0; i < plan.receivers; i++)
		T_OK(waitpid(pid[i], &status, 0));
	fprintf(stderr, "# %u kills, of these %u of receivers\n", kills,
		killed);
	check(killed);
	end_way();
}

static unsigned
number(const char *name, unsigned otherwise)
{
	const char *v = getenv(name);

	return v != NULL ? (unsigned)atoi(v) : otherwise;
}

/* The library's own descriptors have high numbers. */
static unsigned
open_files(void)
{
	unsigned n = 0;
	int fd;

	for (fd = 0; fd < 1000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void
run_case(struct plan p, bool kills)
{
	unsigned was = open_files();

	if (kills) {
		p.each = MOST; /* senders have more than they get done */
		p.kill_ms = number("PASS_KILL_MS", 700);
		run_with_kills(&p);
	} else {
		p.each = number("PASS_EACH", 60);
		run(&p);
	}
	T_EQ(open_files(), was);
}

#define CASE(name, kills, way_, n, m, ...)				\
	T_CASE_TIMEOUT(name, 300)					\
	{								\
		run_case((struct plan){ .way = way_, .senders = n,	\
			.receivers = m, __VA_ARGS__ }, kills);		\
	}

CASE(files_of_2_processes_through_a_pipe, false, PAIR, 2, 1)
CASE(files_of_8_processes_through_a_pipe, false, PAIR, 8, 1)
CASE(files_of_8_threads_through_a_pipe, false, PAIR, 8, 1, .threads = true)
CASE(files_and_streams_of_4_processes_through_a_pipe, false, PAIR, 4, 1,
	.streams = 3)
CASE(files_and_streams_of_4_threads_to_3_threads, false, PAIR, 4, 3,
	.threads = true, .streams = 3)
CASE(files_of_8_processes_to_3_processes, false, PAIR, 8, 3)
CASE(files_of_4_processes_through_a_fifo, false, FIFO, 4, 1)
CASE(files_and_streams_of_4_processes_to_3_readers_of_a_fifo, false, FIFO, 4,
	3, .streams = 3)
CASE(files_of_4_processes_to_an_end_that_was_received, false, PASSED, 4, 1)
CASE(files_and_streams_to_an_end_that_was_received, false, PASSED, 4, 2,
	.streams = 2)
CASE(files_of_4_processes_that_opened_a_name, false, NAMED, 4, 1)
CASE(files_and_streams_of_those_that_opened_a_name, false, NAMED, 4, 2,
	.streams = 3)

CASE(senders_and_receivers_of_a_pipe_are_killed, true, PAIR, 6, 3)
CASE(with_streams_senders_and_receivers_are_killed, true, PAIR, 6, 3,
	.streams = 3)
CASE(senders_and_readers_of_a_fifo_are_killed, true, FIFO, 6, 3, .streams = 3)
CASE(senders_to_a_received_end_are_killed, true, PASSED, 6, 2)
CASE(senders_by_a_name_are_killed, true, NAMED, 6, 2, .streams = 3)
CASE(streamsd_is_killed_while_files_are_passed, true, PAIR, 4, 2,
	.daemon = true)
CASE(streamsd_is_killed_while_a_fifo_is_used, true, FIFO, 4, 2, .streams = 3,
	.daemon = true)
