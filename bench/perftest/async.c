/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The asynchronous test: a writer and a reader, two processes forked for
 * it, each reporting what it did.
 *
 * The end.  With -i both make that many reports, at about the same time but
 * never at the same moment.  Whoever is first must neither hang up on the
 * other in his last period nor leave him blocked: the reader goes on
 * reading, the writer keeps his end open, until both flags in the page they
 * share are set.  The parent sets the flag of a child that ended in another
 * way.
 *
 * Nobody is left over: the children die with their parent, and the parent
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

static int
complain(const char *what)
{
	(void)fprintf(stderr, "perftest: %s: %s\n", what, strerror(errno));
	return -1;
}

/*
 * Waits until the descriptor is ready.  1 it is, 0 look again (a signal or
 * an empty result), -1 the other side has hung up, -2 the poll failed or
 * reported an error.
 */
static int
wait_ready(int fd, short events, struct tally *tally, int timeout_ms)
{
	struct pollfd pfd = {.fd = fd, .events = events};
	int n = poll(&pfd, 1, timeout_ms);

	if (n == -1) {
		if (errno != EINTR)
			return complain("poll") - 1;
		tally->interrupted++;
		return 0;
	}
	if (n == 0 || pfd.revents == 0) {
		tally->empty++;
		return 0;
	}
	/* What is left in the pipe is worth reading before the hang-up. */
	if (pfd.revents & events)
		return 1;
	if (pfd.revents & POLLHUP)
		return -1;
	(void)fprintf(stderr, "perftest: poll reported 0x%x\n",
		(unsigned)pfd.revents);
	return -2;
}

/* 1 go on, 0 look again, -1 end of file or hang-up, -2 failed. */
static int
move_while_ready(const struct perftest *test, struct tally *tally, int writing)
{
	while (!perftest_timed_out) {
		ssize_t ret = writing ? perftest_send(test, tally)
				      : perftest_receive(test, tally);

		if (ret > 0)
			continue;
		if (ret == 0 || errno == EPIPE)
			return -1;
		if (errno == EAGAIN || errno == EINTR)
			return 0;
		return complain(writing ? "write" : "read") - 1;
	}
	return 1;
}

static int
one_period(const struct perftest *test, struct tally *tally, int writing)
{
	int fd = test->fds[writing];
	short events = writing ? POLLOUT | POLLWRNORM : POLLIN | POLLRDNORM;

	if (perftest_timer_arm(test->options->period) != 0)
		return complain("setitimer") - 1;
	while (!perftest_timed_out) {
		int ready = wait_ready(fd, events, tally, -1);

		if (ready == 1)
			ready = move_while_ready(test, tally, writing);
		if (ready < 0)
			return ready;
		if (perftest_hung_up)
			return -1;
	}
	tally_report(tally, test, fd);
	return 0;
}

/* The reader, its reports made, until the writer has made his. */
static void
drain(const struct perftest *test, struct meeting *meeting)
{
	struct tally unreported;
	int end = 0;

	tally_init(&unreported, "read");
	while (end == 0 && !atomic_load(&meeting->writer_done)) {
		end = wait_ready(test->fds[0], POLLIN | POLLRDNORM, &unreported,
			LAST_LOOK_MS);
		if (end == 1)
			end = perftest_receive(test, &unreported) == 0 ? -1 : 0;
	}
}

static int
child_main(struct perftest *test, struct meeting *meeting, int writing)
{
	const struct perftest_options *options = test->options;
	int error = 0;
	int end = 0;
	struct tally tally;

	if (options->pinned)
		error = bench_pin_self(
			writing ? options->cpu_writer : options->cpu_reader);
	if (error != 0) {
		errno = error;
		(void)complain("--cpus");
		return 1;
	}
	if (writing ? options->set_nice_send : options->set_nice_read) {
		int nice = writing ? options->nice_send : options->nice_read;

		if (setpriority(PRIO_PROCESS, 0, nice) != 0)
			(void)complain("setpriority");
	}
	(void)close(test->fds[!writing]);
	test->fds[!writing] = -1;

	tally_init(&tally, writing ? "sent" : "read");
	for (long left = options->iterations; left != 0 && end == 0;) {
		end = one_period(test, &tally, writing);
		if (left > 0)
			left--;
	}
	perftest_timer_disarm();
	atomic_store(
		writing ? &meeting->writer_done : &meeting->reader_done, 1);
	if (end == 0 && !writing)
		drain(test, meeting);
	while (end == 0 && writing && !atomic_load(&meeting->reader_done))
		(void)poll(NULL, 0, LAST_LOOK_MS);
	return end == -2;
}

static pid_t
fork_child(struct perftest *test, struct meeting *meeting, int writing)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid != 0)
		return pid == -1 ? (pid_t)complain("fork") : pid;
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
			return complain("wait");
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
		return complain("mmap");
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
