/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * open(2) and related calls.
 *
 * A path refers to a Stream if a Stream is attached to that name, if it is a
 * FIFO that is configured to be ours, or if it is a device of the namespace
 * (names.h).  The kernel's file has precedence: a device of ours is searched
 * only if there is no such file.  Names and FIFOs are files, so these are
 * searched before, but only if there are any: then that costs a stat(2).  A
 * process that is not a member of a domain joins one only if the path refers to
 * a Stream.
 *
 * Other opened files are not Streams, which is noted to save the lookup.  A
 * descriptor from recvmsg(2) may be one.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "call.h"
#include "apconf.h"
#include "filestat.h"
#include "names.h"
#include "open.h"
#include "iotable.h"
#include "sys.h"
#include "user_impl.h"

#undef open
#undef open64
#undef openat
#undef openat64
#undef creat
#undef creat64

#define KNOWN_MAX 64 /* open_known(): bytes for a name, with its NUL */
#define AGAIN_HIGH 1023 /* numbers that may have been inherited */

static int
opened(int fd)
{
	if (fd >= 0)
		fd_not(fd);
	return fd;
}

/* The object to open in the executive. */
struct target {
	struct streams_name name; /* kind NAME_NONE: the attached Stream */
	uint64_t dev, ino, born;
};

/*
 * The key of the file for str_fifo_open().  A FIFO's Stream holds no descriptor
 * of its file, so when the file is removed a new file may get its inode while
 * the Stream is open; the time of creation distinguishes them.
 */
static uint64_t
fifo_key(const struct target *t)
{
	return t->ino ^ t->born * 0x9e3779b97f4a7c15u;
}

static int
target_open(const struct target *t, struct host_call *hc, int flags,
	const struct host_carrier *c, struct str_file **ret)
{
	int oflags = flags & (O_ACCMODE | O_NONBLOCK);

	switch (t->name.kind) {
	case NAME_NONE:
		return str_name_open(hc, t->dev, t->ino, t->born, oflags, c,
			ret);
	case NAME_PIPE:
		return str_half_open(hc, oflags, c, ret);
	case NAME_FIFO:
		if (t->name.drv[0] == '\0')
			return str_fifo_open(hc, t->dev, fifo_key(t), oflags, c,
				ret);
		return str_fifo_open(hc, STR_FIFO_DEV, t->name.minor, oflags,
			c, ret);
	default:
		if (t->name.kind == NAME_CLONE &&
		    strcmp(t->name.drv, "fifo") == 0)
			return str_fifo_open(hc, STR_FIFO_DEV, STR_FIFO_ANY,
				oflags, c, ret);
		streams_autopush_load();
		return str_dev_open(hc, t->name.drv, t->name.minor,
			t->name.kind == NAME_CLONE, oflags | (flags & O_EXCL),
			c, ret);
	}
}

/* Return: a descriptor, or -1 with errno. */
static int
stream_open(const struct target *t, int flags)
{
	struct host_call hc = {.fd = -1, .flags = HOST_CALL_CANCEL};
	struct host_carrier c;
	struct str_file *f;
	struct fd_rec *r;
	struct fd_guard g;
	int fd = -1, err;

	if ((flags & O_ACCMODE) == O_ACCMODE)
		return fail(EINVAL);
	if (flags & O_DIRECTORY)
		return fail(ENOTDIR);
	if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return fail(EEXIST);
	err = host_enter(&hc);
	if (err != 0)
		return fail(call_no_domain(err));
	err = host_carrier_open(flags & (O_CLOEXEC | O_NONBLOCK), &fd, &c);
	if (err == 0) {
		/* no thread may look it up before it is complete */
		fd_put(fd, FD_NOT);
		err = target_open(t, &hc, flags, &c, &f);
		fd_lock(&g);
		fd_put(fd, FD_UNKNOWN);
		r = err == 0 ? fd_install(fd, f, &c) : NULL;
		if (r != NULL)
			fd_made(r);
		else if (err == 0)
			err = ENOSR;
		if (err != 0) {
			(void)sys_close(fd);
			host_carrier_gone(&c);
		}
		fd_unlock(&g);
	}
	host_leave();
	return err != 0 ? fail(err) : fd;
}

static bool
has_names(const struct host_file *df, void *arg)
{
	(void)arg;
	return str_name_recorded_count(df) != 0;
}

str_a64 open_nothing;

/*
 * May Streams be attached to files?  A process that is not a member reads the
 * domain's file, and does not join.
 */
static bool
names_possible(void)
{
	return host_domain != NULL ? str_name_count() != 0 :
		host_peek(has_names, NULL);
}

static bool
is_recorded(const struct host_file *df, void *arg)
{
	const struct target *t = arg;

	return str_name_recorded(df, t->dev, t->ino, t->born);
}

/* Is a Stream attached to @t's file?  The process does not join for the answer. */
static bool
is_name(struct target *t)
{
	struct host_call hc = {.fd = -1};
	bool yes;

	if (host_domain == NULL)
		return host_peek(is_recorded, t);
	/* a forked child that has made no call has the parent's mapping */
	if (host_self() == NULL || !host_known())
		return str_name_is(t->dev, t->ino, t->born);
	/* another thread may change the user, which unmaps it */
	if (host_enter(&hc) != 0)
		return false;
	yes = str_name_is(t->dev, t->ino, t->born);
	host_leave();
	return yes;
}

/* Open a Stream for a file or FIFO; NOT_OURS: there is none. */
static STR_NOINLINE int
open_file(int dir, const char *path, int flags, bool fifos, bool names)
{
	struct target t = {.name.kind = NAME_NONE};
	struct stat st;
	int fd;

	if (file_stat(dir, path, &st, &t.born) != 0)
		return NOT_OURS;
	t.dev = st.st_dev;
	t.ino = st.st_ino;
	if (names && is_name(&t)) {
		fd = stream_open(&t, flags);
		if (fd >= 0 || errno != ENOENT)
			return fd; /* else it has just been detached */
	}
	if (!fifos || !S_ISFIFO(st.st_mode) ||
	    streams_name_resolve(path, &t.name) != 0 ||
	    t.name.kind != NAME_FIFO)
		return NOT_OURS;
	/* the permissions of the path are the FIFO's */
	if (((flags & O_ACCMODE) != O_WRONLY &&
		    faccessat(dir, path, R_OK, AT_EACCESS) != 0) ||
	    ((flags & O_ACCMODE) != O_RDONLY &&
		    faccessat(dir, path, W_OK, AT_EACCESS) != 0))
		return -1;
	return stream_open(&t, flags);
}

/* Open a device of ours at a path without a file. */
static int
open_device(const char *path, int flags)
{
	struct target t = {.dev = 0};
	int err = errno;

	if ((err != ENOENT && err != ENOTDIR) ||
	    strncmp(path, "/dev/", 5) != 0)
		return NOT_OURS;
	if (streams_name_resolve(path, &t.name) != 0 ||
	    t.name.kind == NAME_NONE) {
		errno = err;
		return NOT_OURS;
	}
	return stream_open(&t, flags);
}

/*
 * With O_CREAT the kernel would make a file of that name.  Does @path, which
 * may be bad, begin with /dev/, and is there no file?
 */
static bool
dev_name(const char *path)
{
	struct stat st;

	return sys_call4(SYS_newfstatat, AT_FDCWD, path, &st,
		       AT_SYMLINK_NOFOLLOW) == -ENOENT &&
		strncmp(path, "/dev/", 5) == 0;
}

/*
 * A member opens a device of ours: to look for a file of that name is cheaper
 * than to let the kernel try to open one.
 */
static int
open_known(const char *path, int flags)
{
	struct target t = {.dev = 0};
	char name[KNOWN_MAX];

	if (host_domain == NULL || (flags & O_PATH) != 0 ||
		host_copyinstr(path, name, sizeof name) != 0 ||
		strncmp(name, "/dev/", 5) != 0 ||
		!streams_name_device(name, &t.name) || !names_absent(name))
		return NOT_OURS;
	return stream_open(&t, flags);
}

int
open_stream_slow(int dir, const char *path, int flags)
{
	uint64_t now = open_clock();
	int fd = NOT_OURS;
	bool fifos, names;

	if (!open_plain()) {
		fifos = streams_name_fifos();
		names = names_possible();
		if (fifos || names)
			fd = open_file(dir, path, flags, fifos, names);
		else if (host_domain == NULL)
			str_store(&open_nothing, now);
	}
	if (fd == NOT_OURS)
		fd = open_known(path, flags);
	if (fd == NOT_OURS && (flags & O_CREAT) && dev_name(path)) {
		errno = ENOENT;
		fd = open_device(path, flags);
	}
	return fd;
}

int
open_duplicate(int fd, int flags)
{
	struct fd_rec *r = fd_stream(fd);
	int have;

	if (r == NULL)
		return NOT_OURS;
	have = (int)fd_fflags(r) & O_ACCMODE;
	if (have != O_RDWR && have != (flags & O_ACCMODE))
		return fail(EACCES);
	return fcntl(fd, (flags & O_CLOEXEC) ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
}

/*
 * /dev/fd/N, /dev/stdin and similar paths, by which the kernel does not open
 * sockets. @path is that of a socket; is it the carrier of one of our Streams?
 */
static int
open_again(int dir, const char *path, int flags)
{
	int high = STR_MAX(fd_high(), AGAIN_HIGH);
	struct stat st, one;

	if (!fd_possible() ||
		sys_call4(SYS_newfstatat, dir, path, &st, 0) != 0 ||
		!S_ISSOCK(st.st_mode))
		return NOT_OURS;
	for (int fd = 0; fd <= high; fd++) {
		if (sys_call4(SYS_newfstatat, fd, "", &one, AT_EMPTY_PATH) ==
				0 &&
			one.st_ino == st.st_ino && one.st_dev == st.st_dev)
			return open_duplicate(fd, flags);
	}
	return NOT_OURS;
}

int
open_failed(int dir, const char *path, int flags)
{
	int err = errno, fd;

	if (flags & O_PATH)
		return NOT_OURS;
	fd = err == ENXIO ? open_again(dir, path, flags) :
		open_device(path, flags);
	if (fd == NOT_OURS)
		errno = err;
	return fd;
}

/*
 * @plain is the next definition of the same function.  It is called last, so
 * that its result is returned for all other files.
 */
#define OPEN(dir, path, flags, mode, plain) \
	do { \
		int fd_ = open_stream(dir, path, flags); \
\
		if (fd_ != NOT_OURS) \
			return fd_; \
		fd_ = plain; \
		if (fd_ >= 0) \
			return opened(fd_); \
		fd_ = open_failed(dir, path, flags); \
		return fd_ != NOT_OURS ? fd_ : -1; \
	} while (0)

/* The mode argument exists only if a file may be made. */
#define OPEN_MODE(flags, ret_mode) \
	do { \
		va_list ap_; \
		va_start(ap_, flags); \
		if (((flags) & O_CREAT) || \
		    ((flags) & O_TMPFILE) == O_TMPFILE) \
			(ret_mode) = va_arg(ap_, mode_t); \
		va_end(ap_); \
	} while (0)

#define OPEN_WRAPPERS(suffix) \
	int open##suffix(const char *path, int flags, ...); \
	int openat##suffix(int dir, const char *path, int flags, ...); \
	int creat##suffix(const char *path, mode_t mode); \
	int __open##suffix##_2(const char *path, int flags); \
	int __openat##suffix##_2(int dir, const char *path, int flags); \
\
	STR_EXPORT int open##suffix(const char *path, int flags, ...) \
	{ \
		mode_t mode = 0; \
\
		OPEN_MODE(flags, mode); \
		OPEN(AT_FDCWD, path, flags, mode, \
			REAL(open##suffix)(path, flags, mode)); \
	} \
	STR_EXPORT int openat##suffix(int dir, const char *path, int flags, \
		...) \
	{ \
		mode_t mode = 0; \
\
		OPEN_MODE(flags, mode); \
		OPEN(dir, path, flags, mode, \
			REAL(openat##suffix)(dir, path, flags, mode)); \
	} \
	STR_EXPORT int creat##suffix(const char *path, mode_t mode) \
	{ \
		OPEN(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode, \
			REAL(creat##suffix)(path, mode)); \
	} \
	STR_EXPORT int __open##suffix##_2(const char *path, int flags) \
	{ \
		OPEN(AT_FDCWD, path, flags, 0, \
			REAL(__open##suffix##_2)(path, flags)); \
	} \
	STR_EXPORT int __openat##suffix##_2(int dir, const char *path, \
		int flags) \
	{ \
		OPEN(dir, path, flags, 0, \
			REAL(__openat##suffix##_2)(dir, path, flags)); \
	}

OPEN_WRAPPERS()
OPEN_WRAPPERS(64)

/* -------------------------------------------------- received descriptors */

static void
received(struct msghdr *msg)
{
	struct cmsghdr *c;
	struct fd_guard g;

	for (c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		size_t n;

		if (c->cmsg_level != SOL_SOCKET ||
		    c->cmsg_type != SCM_RIGHTS || c->cmsg_len < CMSG_LEN(0))
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++)
			fd_received(((int *)(void *)CMSG_DATA(c))[i]);
		fd_lock(&g);
		stdio_attach();
		fd_unlock(&g);
	}
}

STR_EXPORT ssize_t
recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t n;

	if (fd_stream(fd) != NULL)
		return fail(ENOTSOCK);
	n = REAL(recvmsg)(fd, msg, flags);
	if (n >= 0 && msg->msg_controllen != 0)
		received(msg);
	return n;
}

STR_EXPORT int
recvmmsg(int fd, struct mmsghdr *msg, unsigned len, int flags,
	struct timespec *ts)
{
	int n;

	if (fd_stream(fd) != NULL)
		return fail(ENOTSOCK);
	n = REAL(recvmmsg)(fd, msg, len, flags, ts);
	for (int i = 0; i < n; i++)
		if (msg[i].msg_hdr.msg_controllen != 0)
			received(&msg[i].msg_hdr);
	return n;
}
