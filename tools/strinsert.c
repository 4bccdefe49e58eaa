/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strinsert - insert a stream into a pipe between programs under strrun.
 *
 * Objects.  The old pipe, which the writer writes; the stream, with the modules on
 * the end that is read; the new pipe, which the reader reads from then on.  The
 * reader changes its descriptors itself, because the library that strrun
 * preloads finds the request (lib/run/answer.c).
 *
 * A thread copies from the old pipe into the stream, another one from the stream
 * into the new pipe.  The main thread waits for signals, and for the end of
 * the reader.  Modules are removed, and the stream is closed, only when their
 * queues are empty: the first thread writes nothing meanwhile.
 *
 * The request is this process's while it holds a lock on the area's file, which
 * the kernel releases when the process is killed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "area.h"
#include "lib/snap.h"
#include "lib/tool.h"

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
static long pid, wait_s = 30; /* of the reader */
static struct run_area *area;
static int area_fd;
static int from, to, stream[2]; /* -1: closed */
static uint64_t copied;
static pthread_mutex_t feeding = PTHREAD_MUTEX_INITIALIZER; /* of stream[0] */

/* What is known of the reader and its pipe. */
struct reader {
	char path[64];	 /* of its descriptor */
	int pidfd, new;	 /* new: the reading end of the new pipe */
	uint64_t id, new_id; /* inodes */
	struct run_pipe *p;
	double end;	 /* no longer than that */
};

static void
end(int sig)
{
	(void)sig;
	asked_to_end = 1;
}

/* ------------------------------------------------------------- the request */

static void refuse(const char *fmt, ...) STR_NORETURN STR_PRINTF(1, 2);

static void
refuse(const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	tool_warn(&tool, "%s", text);
	exit(TOOL_FAILED);
}

static double
now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
nap(long ms)
{
	struct timespec ts = {0, ms * 1000000};

	(void)nanosleep(&ts, NULL);
}

/* Map the area of the strrun above the reader. */
static void
find_area(void)
{
	char path[64], text[65536];
	unsigned leader, fd, key;
	ssize_t n;
	int f;

	snprintf(path, sizeof path, "/proc/%ld/environ", pid);
	f = open(path, O_RDONLY | O_CLOEXEC);
	n = f >= 0 ? read(f, text, sizeof text - 1) : -1;
	if (n < 0)
		tool_die(&tool, "%s", path);
	(void)close(f);
	text[n] = '\0';
	for (const char *s = text; s < text + n; s += strlen(s) + 1) {
		if (sscanf(s, RUN_VAR "=%u:%u:%x", &leader, &fd, &key) != 3)
			continue;
		snprintf(path, sizeof path, "/proc/%u/fd/%u", leader, fd);
		area_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (area_fd < 0)
			tool_die(&tool, "%s", path);
		area = mmap(NULL, RUN_RINGS, PROT_READ | PROT_WRITE, MAP_SHARED,
			area_fd, 0);
		if (area != MAP_FAILED && area->magic == RUN_MAGIC &&
				area->key == key)
			return;
		(void)close(area_fd);
	}
	refuse("process %ld is not under strrun", pid);
}

static struct run_pipe *
find_pipe(uint64_t id)
{
	for (unsigned i = 0; i < RUN_PIPES; i++)
		if (__atomic_load_n(&area->id[i], __ATOMIC_ACQUIRE) == id)
			return &area->pipe[i];
	refuse("no program under this strrun has made the pipe");
}

/* Does the process @name hold the reading end of the pipe @id? */
static bool
reads(const char *name, uint64_t id)
{
	char path[300], full[600], link[64], want[64];
	struct dirent *e;
	bool found = false;
	struct stat st;
	ssize_t n;
	DIR *d;

	snprintf(want, sizeof want, "pipe:[%ju]", (uintmax_t)id);
	snprintf(path, sizeof path, "/proc/%s/fd", name);
	d = opendir(path);
	while (d != NULL && !found && (e = readdir(d)) != NULL) {
		snprintf(full, sizeof full, "%s/%s", path, e->d_name);
		n = readlink(full, link, sizeof link - 1);
		if (n <= 0 || lstat(full, &st) != 0)
			continue;
		link[n] = '\0';
		found = strcmp(link, want) == 0 && (st.st_mode & S_IRUSR) != 0;
	}
	if (d != NULL)
		(void)closedir(d);
	return found;
}

/* Another process that may read the pipe: it would take bytes away.  0: none */
static long
other_reader(uint64_t id)
{
	struct dirent *e;
	DIR *d = opendir("/proc");
	long other, found = 0;

	if (d == NULL)
		tool_die(&tool, "/proc");
	while (found == 0 && (e = readdir(d)) != NULL) {
		other = atol(e->d_name);
		if (other > 0 && other != pid && other != (long)getpid() &&
				reads(e->d_name, id))
			found = other;
	}
	(void)closedir(d);
	return found;
}

static uint64_t
state(void)
{
	return __atomic_load_n(&area->ask.state, __ATOMIC_SEQ_CST);
}

static bool
swap_state(uint64_t was, uint64_t new)
{
	return __atomic_compare_exchange_n(&area->ask.state, &was, new, false,
		__ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* The next request after @was. */
static uint64_t
next(uint64_t was, enum run_ask_state s)
{
	return RUN_ASK_IS(was + 0x10000, s);
}

/* Withdraw the request.  One that is allowed is the reader's. */
static void
withdraw(void)
{
	uint64_t was;

	do
		was = state();
	while ((was & 0xff) != RUN_ASK_ALLOWED &&
		!swap_state(was, next(was, RUN_ASK_FREE)));
}

/* The reader of another request was allowed to change its descriptors, and has
 * not yet done so. */
static bool
is_in_use(uint64_t was)
{
	return (was & 0xff) == RUN_ASK_ALLOWED &&
		kill((pid_t)area->ask.reader, 0) == 0;
}

/* Until the request is this process's. */
static void
take_request(double end)
{
	uint64_t was;

	for (;; nap(1)) {
		if (flock(area_fd, LOCK_EX | LOCK_NB) == 0) {
			was = state();
			if (!is_in_use(was) &&
				swap_state(was, next(was, RUN_ASK_FILLED)))
				break;
		}
		if (now() > end || asked_to_end)
			refuse("another strinsert waits for its reader");
	}
	(void)atexit(withdraw);
}

static const char *const why_text[] = {
	[RUN_WHY_THREADS] = "has several threads",
	[RUN_WHY_WRITES] = "holds the writing end of the pipe, too",
	[RUN_WHY_WATCHED] = "has the pipe in an epoll instance, or gets SIGIO for it",
	[RUN_WHY_MANY] = "has too many descriptors of the pipe",
	[RUN_WHY_OPEN] = "cannot open the new pipe",
};

static bool
is_stopped(void)
{
	char path[64], text[512], *p;
	ssize_t n;
	int f;

	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	f = open(path, O_RDONLY | O_CLOEXEC);
	n = f >= 0 ? read(f, text, sizeof text - 1) : 0;
	(void)close(f);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')');
	return p != NULL && (p[2] == 'T' || p[2] == 't');
}

/* Does not return if the request has become void. */
static void
check(const struct reader *r, long other)
{
	struct pollfd ended = {r->pidfd, POLLIN, 0};
	struct stat st;

	if (poll(&ended, 1, 0) > 0)
		refuse("process %ld has ended", pid);
	if (stat(r->path, &st) != 0 || (uint64_t)st.st_ino != r->id)
		refuse("process %ld has closed the pipe", pid);
	if (asked_to_end)
		refuse("interrupted; nothing has changed");
	switch (__atomic_load_n(&r->p->unfit, __ATOMIC_SEQ_CST)) {
	case RUN_SENT:
		refuse("the pipe was sent through a socket");
	case RUN_APART:
		refuse("a process that holds the pipe has changed its user");
	default:
		break;
	}
	if (now() <= r->end)
		return;
	if (other != 0)
		refuse("process %ld holds the reading end, too", other);
	if (is_stopped())
		refuse("process %ld is stopped", pid);
	refuse("process %ld has not read from the pipe for %ld seconds", pid,
		wait_s);
}

/* Until the reader's descriptors are those of the new pipe. */
static void
ask_reader(const struct reader *r)
{
	struct run_ask *a = &area->ask;
	long other = 0;

	a->reader = (uint32_t)pid;
	a->tool = (uint32_t)getpid();
	a->fd = r->new;
	a->id = r->id;
	a->other = r->new_id;
	for (;; nap(other != 0 ? 20 : 1)) {
		uint64_t was = state();
		unsigned why = (unsigned)(was >> 8 & 0xff);

		check(r, other);
		switch (was & 0xff) {
		case RUN_ASK_FILLED:
			/* the reader is not held up as long as there is one */
			other = other_reader(r->id);
			if (other == 0)
				(void)swap_state(was, next(was, RUN_ASK_ASKED));
			break;
		case RUN_ASK_TAKEN:
			/* the reader waits, and makes no process */
			other = other_reader(r->id);
			if (other != 0)
				(void)swap_state(was, next(was, RUN_ASK_FILLED));
			else if (swap_state(was, RUN_ASK_IS(was,
					RUN_ASK_ALLOWED)))
				return;
			break;
		case RUN_ASK_REFUSED:
			if (why != RUN_WHY_LATE)
				refuse("process %ld %s", pid, why_text[why]);
			(void)swap_state(was, next(was, RUN_ASK_FILLED));
			break;
		default:
			break;
		}
	}
}

static void
insert(long fd)
{
	struct reader r = {.end = now() + (double)wait_s};
	int new[2], flags;
	struct stat st;

	snprintf(r.path, sizeof r.path, "/proc/%ld/fd/%ld", pid, fd);
	r.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (r.pidfd < 0)
		tool_die(&tool, "process %ld", pid);
	if (stat(r.path, &st) != 0)
		tool_die(&tool, "%s", r.path);
	if (!S_ISFIFO(st.st_mode))
		refuse("%s is not a pipe", r.path);
	r.id = (uint64_t)st.st_ino;
	find_area();
	r.p = find_pipe(r.id);
	from = open(r.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	/* the kernel's: pipe() makes a stream */
	if (from < 0 || syscall(SYS_pipe2, new, O_CLOEXEC) != 0 ||
			fstat(new[0], &st) != 0)
		tool_die(&tool, "%s", r.path);
	flags = fcntl(from, F_GETFL);
	(void)fcntl(from, F_SETFL, flags & ~O_NONBLOCK);
	to = new[1];
	r.new = new[0];
	r.new_id = (uint64_t)st.st_ino;
	take_request(r.end);
	ask_reader(&r);
	(void)close(new[0]);
	(void)close(area_fd);
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

/* Wait until what has been written has passed the modules, or the reader has
 * ended.  Locks: feeding; nothing is written meanwhile. */
static void
drain(void)
{
	struct pollfd p = {to, 0, 0};
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
	while ((n = read(from, buf, sizeof buf)) > 0) {
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
		if (!write_all(to, buf, n))
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
	struct pollfd p = {to, 0, 0};

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
	pthread_t in, out;
	sigset_t ends, was;
	long fd = 0;
	int c;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) != -1)
		if (c == 'h')
			list = optarg;
		else if (!tool_number(optarg, 1, 86400, &wait_s))
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
	insert(fd);
	printf("inserted\n");
	(void)fflush(stdout);
	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGTERM);
	(void)pthread_sigmask(SIG_BLOCK, &ends, &was);
	if (pthread_create(&in, NULL, copy_in, NULL) != 0 ||
			pthread_create(&out, NULL, copy_out, NULL) != 0)
		tool_die(&tool, "thread");
	serve(&was);
}
