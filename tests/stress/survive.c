/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#include "survive.h"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct s_board *
s_board_new(void)
{
	struct s_board *b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (b == MAP_FAILED)
		p_die("mmap");
	return b;
}

int
s_seat(struct s_board *b, enum s_role role, const int fd[2])
{
	struct s_seat *s = &b->seat[b->n];

	if (b->n == S_MAX)
		p_die("no seat left");
	s->role = role;
	s->fd[0] = fd != NULL ? fd[0] : -1;
	s->fd[1] = fd != NULL ? fd[1] : -1;
	return b->n++;
}

static void
record_make(unsigned char *r, uint64_t n)
{
	memcpy(r, &n, sizeof(n));
	for (int i = 8; i < S_RECORD; i++)
		r[i] = (unsigned char)(n * 7 + (uint64_t)i);
}

static void
record_check(const unsigned char *r)
{
	uint64_t n;

	memcpy(&n, r, sizeof(n));
	for (int i = 8; i < S_RECORD; i++)
		T_EQ(r[i], (unsigned char)(n * 7 + (uint64_t)i));
}

/* the end that the other side's death, or a repair that failed, brings */
static _Noreturn void
ended(struct s_seat *s, ssize_t n, int err)
{
	if (n < 0 && err != EPIPE && err != EIO)
		T_FAIL("role %d ended with %s", s->role, t_errno_name(err));
	s->end = n < 0 ? err : 0;
	__atomic_store_n(&s->ended_ns, t_now_ns(), __ATOMIC_RELEASE);
	_exit(0);
}

static void
got_on(struct s_seat *s)
{
	__atomic_add_fetch(&s->progress, 1, __ATOMIC_RELAXED);
}

static void
write_for_ever(struct s_seat *s)
{
	unsigned char r[S_RECORD];
	uint64_t i = t_rand();
	ssize_t n;

	for (;; i++) {
		record_make(r, i);
		n = write(s->fd[1], r, sizeof(r));
		if (n < 0)
			ended(s, n, errno);
		T_EQ(n, S_RECORD);
		got_on(s);
		if (s->role == S_SLOW_WRITE)
			p_pause(2);
	}
}

static void
read_for_ever(struct s_seat *s)
{
	struct epoll_event ev = { .events = EPOLLIN };
	unsigned char r[8 * S_RECORD];
	struct pollfd p = { .fd = s->fd[0], .events = POLLIN };
	int ep = -1;
	ssize_t n;

	if (s->role == S_EPOLL_READ) {
		ep = epoll_create1(EPOLL_CLOEXEC);
		T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, s->fd[0], &ev));
	}
	for (;;) {
		if (s->role == S_POLL_READ)
			T_EQ(poll(&p, 1, -1), 1);
		else if (s->role == S_EPOLL_READ)
			/* signal(7): a stop interrupts epoll_wait() */
			while (epoll_wait(ep, &ev, 1, -1) == -1)
				T_EQ(errno, EINTR);
		n = read(s->fd[0], r, sizeof(r));
		if (n <= 0)
			ended(s, n, errno);
		T_EQ(n % S_RECORD, 0);
		for (ssize_t i = 0; i < n; i += S_RECORD)
			record_check(r + i);
		got_on(s);
	}
}

static void
churn_for_ever(struct s_seat *s)
{
	char buf[3000] = "";
	int fd[2], d;

	for (;;) {
		p_pipe(fd);
		d = T_OK(dup(fd[1]));
		T_EQ(write(fd[1], buf, sizeof(buf)), (ssize_t)sizeof(buf));
		T_OK(close(fd[1]));
		T_EQ(read(fd[0], buf, 1000), 1000);
		T_OK(close(d));
		T_EQ(read(fd[0], buf, 3000), 2000);
		T_EQ(read(fd[0], buf, 1), 0);
		T_OK(close(fd[0]));
		got_on(s);
	}
}

void
s_start(struct s_board *b, int seat, int keep)
{
	struct s_seat *s = &b->seat[seat];
	pid_t pid;

	t_rand(); /* each start has numbers of its own */
	s->ended_ns = 0;
	s->started++;
	pid = fork();
	if (pid < 0)
		p_die("fork");
	if (pid != 0) {
		s->pid = pid; /* the supervisor's alone to write */
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	if (!keep)
		for (int i = 0; i < b->n; i++)
			for (int k = 0; k < 2; k++)
				if (b->seat[i].fd[k] >= 0 &&
					b->seat[i].fd[k] != s->fd[s->role ==
					S_WRITE || s->role == S_SLOW_WRITE])
					close(b->seat[i].fd[k]);
	switch (s->role) {
	case S_WRITE:
	case S_SLOW_WRITE:
		write_for_ever(s);
		break;
	case S_READ:
	case S_POLL_READ:
	case S_EPOLL_READ:
		read_for_ever(s);
		break;
	case S_CHURN:
		churn_for_ever(s);
		break;
	}
	_exit(96);
}

void
s_kill(struct s_board *b, int seat, int sig)
{
	struct s_seat *s = &b->seat[seat];

	if (s->pid <= 0)
		return;
	kill(s->pid, sig);
	if (sig == SIGKILL) {
		while (waitpid(s->pid, NULL, 0) == -1 && errno == EINTR)
			;
		s->pid = 0;
	}
}

void
s_kill_all(struct s_board *b)
{
	for (int i = 0; i < b->n; i++)
		s_kill(b, i, SIGKILL);
}

double
s_all_get_on(struct s_board *b, uint64_t who, int but, int ms)
{
	uint64_t before[S_MAX];
	double start = p_ms();
	int waiting;

	for (int i = 0; i < b->n; i++)
		before[i] = b->seat[i].progress;
	do {
		waiting = 0;
		for (int i = 0; i < b->n; i++) {
			struct s_seat *s = &b->seat[i];

			if (i == but || !(who >> i & 1) || s->pid == 0)
				continue;
			waiting += s->ended_ns == 0 &&
				s->progress == before[i];
		}
		if (waiting == 0)
			return p_ms() - start;
		p_pause(1);
	} while (p_ms() - start < ms);
	for (int i = 0; i < b->n; i++)
		if (i != but && (who >> i & 1) && b->seat[i].pid != 0 &&
			b->seat[i].ended_ns == 0 &&
			b->seat[i].progress == before[i])
			fprintf(stderr, "# seat %d (role %d, pid %d) stands "
				"still\n", i, b->seat[i].role,
				b->seat[i].pid);
	return -1;
}

int
s_number(const char *name, int otherwise)
{
	const char *s = getenv(name);

	return s != NULL && atoi(s) > 0 ? atoi(s) : otherwise;
}
