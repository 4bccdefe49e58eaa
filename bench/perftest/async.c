/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The asynchronous test: a writer and a reader, two processes forked for
 * it, each reporting what it did.
 *
 * The end.  With -i both make that many reports, at about the same time but
 * never at the same moment.  The first must neither hang up on the
 * other in its last period nor leave it blocked: the reader goes on
 * reading, the writer keeps its end open, until both flags in the page they
 * share are set.  The parent sets the flag of a child that ended in another
 * way.
 *
 * No process is left over: the children die with their parent, and the parent
 * returns when it has reaped both.
 */
#include "perftest.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/pin.h"

#ifndef POLLMSG
#define POLLMSG 0x400
#endif

#define LAST_LOOK_MS 10

struct meeting {
	atomic_int writer_done;
	atomic_int reader_done;
};

enum outcome {
	READY,
	AGAIN,  /* a signal, an empty result, or flow control */
	GONE,   /* end of file or hang-up */
	FAILED, /* stderr tells */
};

static enum outcome
fail(const char *what)
{
	(void)perftest_complain(what);
	return FAILED;
}

static enum outcome
wait_ready(int fd, short events, struct tally *tally, int timeout_ms)
{
	struct pollfd pfd = {.fd = fd, .events = events};
	int n = poll(&pfd, 1, timeout_ms);

	if (n == -1) {
		if (errno != EINTR)
			return fail("poll");
		tally->interrupted++;
		return AGAIN;
	}
	if (n == 0 || pfd.revents == 0) {
		tally->empty++;
		return AGAIN;
	}
	/* What is left in the pipe is worth reading before the hang-up. */
	if (pfd.revents & events)
		return READY;
	if (pfd.revents & POLLHUP)
		return GONE;
	(void)fprintf(stderr, "%s: poll reported 0x%x\n",
		program_invocation_short_name, (unsigned)pfd.revents);
	return FAILED;
}

/* Until it would block, or the period is over. */
static enum outcome
move_while_ready(const struct perftest *test, struct tally *tally, int writing)
{
	while (!perftest_timed_out) {
		ssize_t ret = writing ? perftest_send(test, tally)
				      : perftest_receive(test, tally);

		if (ret > 0)
			continue;
		if (ret == 0 || errno == EPIPE)
			return GONE;
		if (errno == EAGAIN || errno == EINTR)
			return AGAIN;
		return fail(writing ? "write" : "read");
	}
	return AGAIN;
}

/* READY when it was reported. */
static enum outcome
one_period(const struct perftest *test, struct tally *tally, int writing)
{
	int fd = test->fds[writing];
	short events = writing ? POLLOUT | POLLWRNORM : POLLIN | POLLRDNORM;

	if (perftest_timer_arm(test->options->period) != 0)
		return fail("setitimer");
	while (!perftest_timed_out) {
		enum outcome outcome = wait_ready(fd, events, tally, -1);

		if (outcome == READY)
			outcome = move_while_ready(test, tally, writing);
		if (outcome != AGAIN)
			return outcome;
		if (perftest_hung_up)
			return GONE;
	}
	tally_report(tally, test, fd);
	return READY;
}

/* The reader, its reports made, until the writer has made its own. */
static void
drain(const struct perftest *test, struct meeting *meeting)
{
	struct tally unreported;

	tally_init(&unreported, "read");
	while (!atomic_load(&meeting->writer_done)) {
		switch (wait_ready(test->fds[0], POLLIN | POLLRDNORM,
			&unreported, LAST_LOOK_MS)) {
		case READY:
			if (perftest_receive(test, &unreported) == 0)
				return;
			break;
		case AGAIN:
			break;
		case GONE:
		case FAILED:
			return;
		}
	}
}

/* The writer, its reports made, until the reader has made its. */
static void
linger(struct meeting *meeting)
{
	while (!atomic_load(&meeting->reader_done))
		(void)poll(NULL, 0, LAST_LOOK_MS);
}

/* Where it runs and how urgently. */
static int
settle(const struct perftest_options *options, int writing)
{
	int nice = writing ? options->nice_send : options->nice_read;
	int error;

	if (options->pinned) {
		error = bench_pin_self(
			writing ? options->cpu_writer : options->cpu_reader);
		if (error != 0) {
			errno = error;
			return perftest_complain("--cpus");
		}
	}
	/* A privilege may be missing; the test is of use all the same. */
	if ((writing ? options->set_nice_send : options->set_nice_read) &&
		setpriority(PRIO_PROCESS, 0, nice) != 0)
		(void)perftest_complain("setpriority");
	return 0;
}

static int
child_main(struct perftest *test, struct meeting *meeting, int writing)
{
	enum outcome outcome = READY;
	struct tally tally;

	if (settle(test->options, writing) != 0)
		return 1;
	(void)close(test->fds[!writing]);
	test->fds[!writing] = -1;

	tally_init(&tally, writing ? "sent" : "read");
	for (long left = test->options->iterations;
		left != 0 && outcome == READY;) {
		outcome = one_period(test, &tally, writing);
		if (left > 0)
			left--;
	}
	perftest_timer_disarm();
	atomic_store(
		writing ? &meeting->writer_done : &meeting->reader_done, 1);
	if (outcome == READY && writing)
		linger(meeting);
	else if (outcome == READY)
		drain(test, meeting);
	return outcome == FAILED;
}

static pid_t
fork_child(struct perftest *test, struct meeting *meeting, int writing)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid != 0)
		return pid == -1 ? (pid_t)perftest_complain("fork") : pid;
	bench_child_bind(parent);
	exit(child_main(test, meeting, writing));
}

static int
reap_both(struct meeting *meeting, pid_t writer)
{
	int failed = 0;

	for (int left = 2; left > 0;) {
		int status;
		pid_t pid = wait(&status);

		if (pid == -1 && errno == EINTR)
			continue;
		if (pid == -1)
			return perftest_complain("wait");
		atomic_store(pid == writer ? &meeting->writer_done
					   : &meeting->reader_done,
			1);
		failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
		left--;
	}
	return failed ? -1 : 0;
}

int
perftest_async(struct perftest *test)
{
	struct meeting *meeting;
	pid_t writer, reader;
	int ret = -1;

	meeting = mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (meeting == MAP_FAILED)
		return perftest_complain("mmap");
	(void)fflush(NULL);
	reader = fork_child(test, meeting, 0);
	if (reader == -1)
		goto out;
	writer = fork_child(test, meeting, 1);
	if (writer == -1) {
		bench_child_kill(reader);
		goto out;
	}
	/* The children must meet a hang-up when one of them goes. */
	(void)close(test->fds[0]);
	(void)close(test->fds[1]);
	test->fds[0] = -1;
	test->fds[1] = -1;
	ret = reap_both(meeting, writer);
out:
	(void)munmap(meeting, sizeof(*meeting));
	return ret;
}
