/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Ends of file: a process that holds one end of a stream, or two processes
 * that do, are killed, and the process at the other end has to see it in time.
 *
 * What a loaded machine adds is measured beside it.  The victim also holds the
 * kernel's pipe; its reader ends when it sees the end of that one, which ends a
 * second pipe, and so on, for as many processes as the library needs: the
 * kernel wakes streamsd, streamsd the survivor.  The survivor may be as late as
 * the last of them, or as the time that it and streamsd waited for a CPU, and
 * the bound.
 */
#include "storm.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "left.h"
#include "t.h"

#define HOPS 3

/* What the processes of one round tell. */
struct round {
	struct storm_tally tally;
	_Atomic uint64_t ended;	  /* when the survivor saw it */
	_Atomic uint64_t kernels; /* when the last of the kernel's readers did */
	_Atomic uint64_t waited;  /* by the survivor, for a CPU, in all */
	_Atomic uint32_t ready;
};

static struct round *round_;
static struct storm_stream *stream_;

/* One of the kernel's readers: @in's end is the end of @out. */
static void
reader(int in, int out, bool last)
{
	char c;

	while (syscall(SYS_read, in, &c, 1) == -1 && errno == EINTR)
		;
	if (last)
		round_->kernels = t_now_ns();
	(void)syscall(SYS_close, out);
	_exit(0);
}

/* Returns what the victim has to hold. */
static int
readers(pid_t pid[HOPS])
{
	int fd[HOPS + 1][2];

	for (int i = 0; i <= HOPS; i++)
		T_OK(syscall(SYS_pipe2, fd[i], 0));
	for (int i = 0; i < HOPS; i++) {
		pid[i] = storm_fork();
		if (pid[i] != 0)
			continue;
		for (int k = 0; k <= HOPS; k++) {
			if (k != i)
				(void)syscall(SYS_close, fd[k][0]);
			if (k != i + 1)
				(void)syscall(SYS_close, fd[k][1]);
		}
		reader(fd[i][0], fd[i + 1][1], i == HOPS - 1);
	}
	for (int k = 0; k <= HOPS; k++) {
		(void)syscall(SYS_close, fd[k][0]);
		if (k > 0)
			(void)syscall(SYS_close, fd[k][1]);
	}
	return fd[0][1];
}

static void
survive(int end, int kernels)
{
	int stat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);

	(void)syscall(SYS_close, kernels);
	signal(SIGPIPE, SIG_IGN);
	storm_close(stream_, end);
	round_->ready++;
	if (end == 0)
		while (storm_try_one(stream_, &round_->tally, false))
			if (storm_chance(20))
				storm_pause(2);
	if (end == 1)
		while (storm_take(stream_, &round_->tally))
			;
	round_->ended = t_now_ns();
	round_->waited = cpu_wait(stat);
	_exit(0);
}

static void
be_killed(int end, bool twin)
{
	storm_close(stream_, end);
	round_->ready++;
	if (twin) {
		/* holds it alone, or looks, as a bystander */
		for (;;)
			storm_pause(10);
	}
	for (;;) {
		if (end == 0)
			storm_send_one(stream_, &round_->tally, false);
		else
			(void)storm_take(stream_, &round_->tally);
		if (storm_chance(10))
			storm_pause(2);
	}
}

static void
reap(pid_t pid, const char *what)
{
	uint64_t now = t_now_ns(), end = now + 20000000000u * t_scale();
	uint64_t late = now + 4 * storm_bound;
	pid_t r;
	int st;

	while ((r = waitpid(pid, &st, WNOHANG)) == 0) {
		if ((now = t_now_ns()) > late) {
			left_call("STORM_ON_LATE", pid);
			late = end + 1;
		}
		if (now > end) {
			left_dump();
			left_call("STORM_ON_HANG", pid);
			T_FAIL("%s: %s (pid %d) does not end",
				storm_kind_name(stream_->kind), what,
				(int)pid);
		}
		t_pause();
	}
	T_EQ(T_OK(r), pid);
	if (!WIFEXITED(st) || WEXITSTATUS(st) != 0)
		T_FAIL("%s: %s ended with status %#x",
			storm_kind_name(stream_->kind), what, st);
}

static void
raise_to(_Atomic uint64_t *most, uint64_t v)
{
	uint64_t was = *most;

	while (v > was && !atomic_compare_exchange_weak(most, &was, v))
		;
}

static uint64_t
stopped(void)
{
	uint64_t since = storm->stopped_since;

	return storm->stopped_ns + (since != 0 ? t_now_ns() - since : 0);
}

/* When a victim was killed, and what had been until then. */
struct killed {
	int victim;
	bool stop;
	pid_t streamsd;
	uint64_t at, stops, survivor, daemon;
};

static pid_t
streamsd_now(void)
{
	static pid_t pid;
	char comm[32];

	if (pid == 0 || parent_of(pid, comm) == 0)
		(void)streamsd_of(parent_of(getppid(), comm), &pid);
	return pid;
}

static void
note(struct killed *k, pid_t survivor)
{
	k->streamsd = streamsd_now();
	k->stops = stopped();
	k->survivor = cpu_waited(survivor);
	k->daemon = cpu_waited(k->streamsd);
	k->at = t_now_ns();
}

/*
 * What the killed streamsd of this round waited for a CPU, what the kernel needed
 * to end them, and to start another program then.
 */
static uint64_t
replaced(const struct killed *k)
{
	uint32_t n = storm->ngone;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n && i < STORM_GONE; i++) {
		struct storm_gone *g = &storm->gone[i];
		uint64_t from = g->at > k->at ? g->at : k->at;
		uint64_t to = g->started != 0 ? g->started : t_now_ns();

		if (to < k->at || g->at > round_->ended)
			continue;
		sum += to - from;
		if (g->at > k->at)
			sum += g->waited -
				(g->pid == k->streamsd ? k->daemon : 0);
	}
	return sum;
}

/*
 * A stopped process may be inside spx, whose perimeter is all its streams', and
 * may be the one that was starting streamsd.
 */
static void
judge(const struct killed *k)
{
	uint64_t raw = round_->ended - k->at, late = round_->kernels - k->at;
	uint64_t stops = stopped() - k->stops, daemon = 0, allow, net;
	uint64_t cpu = round_->waited - k->survivor, gone;
	pid_t now = streamsd_now();

	/* another one has waited, if it did, since it was started */
	if (now != 0)
		daemon = cpu_waited(now) - (now == k->streamsd ? k->daemon : 0);
	allow = cpu + daemon > late ? cpu + daemon : late;
	allow += gone = replaced(k);
	if (stream_->kind == STORM_SPX || now != k->streamsd)
		allow += stops;
	net = raw > allow ? raw - allow : 0;
	raise_to(&storm->worst_raw, raw);
	raise_to(&storm->worst_net, net);
	storm->ends++;
	if (net <= storm_bound)
		return;
	storm->late++;
	fprintf(stderr, "# late: %s, %s killed%s: %llu ms; the kernel's %llu; "
		"for a CPU the survivor waited %llu, streamsd%s %llu; killed "
		"ones %llu; stops %llu\n", storm_kind_name(stream_->kind),
		k->victim == 0 ? "sender" : "receiver",
		k->stop ? ", stopped before" : "",
		(unsigned long long)raw / 1000000,
		(unsigned long long)late / 1000000,
		(unsigned long long)cpu / 1000000,
		now != k->streamsd ? ", which is another now," : "",
		(unsigned long long)daemon / 1000000,
		(unsigned long long)gone / 1000000,
		(unsigned long long)stops / 1000000);
}

/* What the victim had sent has come, and what it was sending may have. */
static void
compare(void)
{
	uint64_t sent = round_->tally.sent, got = round_->tally.got;

	storm->victims_sent += sent;
	if (got < sent || got > sent + 1)
		T_FAIL("%s: %llu records of a sender that was killed after %llu",
			storm_kind_name(stream_->kind),
			(unsigned long long)got, (unsigned long long)sent);
}

static void
one_round(enum storm_kind k, unsigned nr)
{
	int victim = (int)storm_rand_below(2), kernels;
	struct killed how = {.victim = victim, .stop = storm_chance(3)};
	uint64_t ms = storm_rand_below(15);
	bool twin = storm_chance(3);
	pid_t reader_pid[HOPS], pid[3] = {0};

	memset((void *)round_, 0, sizeof(*round_));
	kernels = readers(reader_pid);
	storm_open(stream_, k, nr);
	for (int i = 0; i < (twin ? 3 : 2); i++) {
		pid[i] = storm_fork();
		if (pid[i] == 0 && i == 1)
			survive(!victim, kernels);
		if (pid[i] == 0)
			be_killed(victim, i == 2);
	}
	(void)syscall(SYS_close, kernels);
	storm_close(stream_, 2);
	T_SOON(round_->ready == (twin ? 3 : 2), 20000 * (int)t_scale());
	while (ms-- > 0)
		t_pause();
	if (how.stop) {
		T_OK(kill(pid[0], SIGSTOP));
		storm_pause(120); /* the survivor falls asleep */
	}
	if (twin && storm_chance(2)) {
		T_OK(kill(pid[2], SIGKILL));
		T_EQ(T_OK(waitpid(pid[2], NULL, 0)), pid[2]);
		twin = false;
	}
	T_EQ(waitpid(pid[0], NULL, WNOHANG), 0);
	note(&how, pid[1]);
	T_OK(kill(pid[0], SIGKILL));
	if (twin)
		T_OK(kill(pid[2], SIGKILL));
	T_EQ(T_OK(waitpid(pid[0], NULL, 0)), pid[0]);
	if (twin)
		T_EQ(T_OK(waitpid(pid[2], NULL, 0)), pid[2]);
	reap(pid[1], "the survivor of a killed process");
	for (int i = 0; i < HOPS; i++)
		reap(reader_pid[i], "a reader of the kernel's pipe");
	judge(&how);
	if (victim == 0)
		compare();
}

void
storm_manager(unsigned nr, unsigned kinds)
{
	unsigned n = 1000 * (nr + 1);

	stream_ = calloc(1, sizeof(*stream_));
	round_ = mmap(NULL, sizeof(*round_), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_TRUE(stream_ != NULL && round_ != MAP_FAILED);
	while (storm->over == 0) {
		enum storm_kind k = (enum storm_kind)storm_rand_below(STORM_NKIND);

		if (storm_datagrams(k) || (kinds >> k & 1) == 0)
			continue;
		one_round(k, n++);
		if (storm_chance(10))
			storm_pause(20);
	}
}
