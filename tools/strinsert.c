/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strinsert - insert a stream into a pipe between programs under strrun.
 *
 * Objects.  The old pipe, which the writer writes; the stream, with the modules on
 * the end that is read; the new pipe, which the reader reads from then on
 * (lib/insert.c).
 *
 * A thread copies from the old pipe into the stream, another one from the stream
 * into the new pipe.  The main thread waits for signals, and for the end of
 * the reader.  Modules are removed, and the stream is closed, only when their
 * queues are empty: the first thread writes nothing meanwhile.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <time.h>
#include <unistd.h>

#include "lib/insert.h"
#include "lib/snap.h"

static struct tool tool = {
	.name = "strinsert",
	.synopsis = "[-h MODULE[,MODULE...]] [-t SECONDS] PID[:FD]",
	.purpose = "Insert a stream into the pipe that the process PID reads.",
	.help =
	"  -h, --push=MODULE,...   push these modules, in this order\n"
	"  -t, --wait=SECONDS      wait so long for a read of the process; 30\n",
	.options = "h:t:",
};

static const struct option longs[] = {
	{ "push", required_argument, NULL, 'h' },
	{ "wait", required_argument, NULL, 't' },
	{ NULL, 0, NULL, 0 },
};

static volatile sig_atomic_t asked_to_end;
static struct insert in = {.tool = &tool, .wait_s = 30,
	.asked_to_end = &asked_to_end};
static int stream[2]; /* -1: closed */
static uint64_t copied;
static pthread_mutex_t feeding = PTHREAD_MUTEX_INITIALIZER; /* of stream[0] */

static void
end(int sig)
{
	(void)sig;
	asked_to_end = 1;
}

/* ----------------------------------------------------------------- copying */

/* The inode of the socket under @fd, as the domain's records have it. */
static uint64_t
socket_of(int fd)
{
	char path[64], link[64];
	uint64_t ino = 0;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof link - 1);
	link[n > 0 ? n : 0] = '\0';
	return sscanf(link, "socket:[%ju]", &ino) == 1 ? ino : 0;
}

/* The stream with an open file of the socket @ino; 0. */
static uint64_t
stream_of(const struct snap *s, uint64_t ino)
{
	const struct str_i *i;
	uint64_t sid = 0;

	SNAP_EACH(s, i)
		if (i->kind == STR_I_HEAD)
			sid = ((const struct str_i_head *)(const void *)i)->sid;
		else if (i->kind == STR_I_FILE && ino != 0 &&
			((const struct str_i_file *)(const void *)i)->ino == ino)
			return sid;
	return 0;
}

static bool
is_idle(const struct str_i *i, uint64_t sid)
{
	const struct str_i_queue *q = (const void *)i;
	const struct str_i_stream *st = (const void *)i;

	if (i->kind == STR_I_STREAM)
		return st->sid != sid || st->nrun == 0;
	return i->kind != STR_I_QUEUE || q->sid != sid ||
		q->role != STR_I_Q_MODULE || (q->nmsg == 0 &&
		q->backlog == 0 && q->inside.tag == 0);
}

/* Do the modules have no message?  Two records describe different moments, so one
 * look is not enough (drain()). */
static bool
is_drained(uint64_t ino)
{
	static struct snap s;
	const struct str_i *i;
	uint64_t sid;

	if (snap_take(&s, 0) != 0)
		return true;
	sid = stream_of(&s, ino);
	SNAP_EACH(&s, i)
		if (!is_idle(i, sid))
			return false;
	return true;
}

static void
nap(long ms)
{
	struct timespec ts = {0, ms * 1000000};

	(void)nanosleep(&ts, NULL);
}

/* Wait until what has been written has passed the modules, or the reader has
 * ended.  Locks: feeding; nothing is written meanwhile. */
static void
drain(void)
{
	struct pollfd p = {in.to, 0, 0};
	uint64_t ino = socket_of(stream[0]);

	for (int calm = 0; calm < 3 && poll(&p, 1, 0) == 0; nap(5))
		calm = is_drained(ino) ? calm + 1 : 0;
}

static bool
write_all(int fd, const char *buf, ssize_t n)
{
	ssize_t k;

	for (; n > 0; buf += k, n -= k) {
		k = write(fd, buf, (size_t)n);
		if (k <= 0)
			return false;
	}
	return true;
}

static void *
copy_in(void *arg)
{
	static char buf[65536];
	ssize_t n;

	(void)arg;
	while ((n = read(in.from, buf, sizeof buf)) > 0) {
		(void)pthread_mutex_lock(&feeding);
		if (!write_all(stream[0], buf, n))
			tool_die(&tool, "cannot write to the stream");
		(void)pthread_mutex_unlock(&feeding);
	}
	if (n < 0)
		tool_die(&tool, "cannot read the pipe");
	/* the end of file follows the data */
	(void)pthread_mutex_lock(&feeding);
	drain();
	(void)close(stream[0]);
	stream[0] = -1;
	(void)pthread_mutex_unlock(&feeding);
	return NULL;
}

static void
finish(void)
{
	tool_info(&tool, 1, "%ju bytes", (uintmax_t)copied);
	_exit(TOOL_OK);
}

/* Has the other end of the stream been closed?  A module can send an empty
 * message. */
static bool
is_hung_up(void)
{
	struct pollfd p = {stream[1], POLLIN, 0};

	return poll(&p, 1, 0) > 0 && (p.revents & POLLHUP) != 0;
}

static void *
copy_out(void *arg)
{
	static char buf[65536];
	ssize_t n;

	(void)arg;
	while ((n = read(stream[1], buf, sizeof buf)) > 0 ||
			(n == 0 && !is_hung_up())) {
		/* it fails when the reader has ended */
		if (!write_all(in.to, buf, n))
			finish();
		copied += (uint64_t)n;
	}
	if (n < 0)
		tool_die(&tool, "cannot read the stream");
	finish();
	return NULL;
}

/* The stream stays. */
static void
pop_all(void)
{
	(void)pthread_mutex_lock(&feeding);
	if (stream[0] >= 0) {
		drain();
		while (ioctl(stream[0], I_POP, 0) == 0)
			;
	}
	(void)pthread_mutex_unlock(&feeding);
}

static void
push_list(char *list)
{
	char *save = NULL, *name;

	for (name = strtok_r(list, ",", &save); name != NULL;
		name = strtok_r(NULL, ",", &save))
		if (ioctl(stream[0], I_PUSH, name) != 0)
			tool_die(&tool, "cannot push %s", name);
}

static void
serve(const sigset_t *was)
{
	struct pollfd p = {in.to, 0, 0};

	for (;;) {
		if (asked_to_end)
			pop_all();
		asked_to_end = 0;
		if (ppoll(&p, 1, NULL, was) > 0)
			finish();
	}
}

int
main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = end};
	char *list = NULL, *colon;
	pthread_t into, out;
	sigset_t ends, was;
	long pid, fd = 0;
	int c;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) != -1)
		if (c == 'h')
			list = optarg;
		else if (!tool_number(optarg, 1, 86400, &in.wait_s))
			tool_usage(&tool, "SECONDS is a number from 1 to 86400");
	if (optind != argc - 1)
		tool_usage(&tool, "one PID is required");
	colon = strchr(argv[optind], ':');
	if (colon != NULL)
		*colon = '\0';
	if (!tool_number(argv[optind], 1, INT32_MAX, &pid) ||
		(colon != NULL && !tool_number(colon + 1, 0, INT32_MAX, &fd)))
		tool_usage(&tool, "PID and FD are numbers");
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	if (pipe(stream) != 0)
		tool_die(&tool, "pipe");
	if (list != NULL)
		push_list(list);
	insert_pipe(&in, pid, fd);
	printf("inserted\n");
	(void)fflush(stdout);
	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGTERM);
	(void)pthread_sigmask(SIG_BLOCK, &ends, &was);
	if (pthread_create(&into, NULL, copy_in, NULL) != 0 ||
			pthread_create(&out, NULL, copy_out, NULL) != 0)
		tool_die(&tool, "thread");
	serve(&was);
}
