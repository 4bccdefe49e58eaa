/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The file of a domain's wires: wirefile.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <str/inspect.h>

#include "wirefile.h"

#define MAGIC 0x7365726977727473ull /* "strwires" */
#define VERSION 1u

struct head {
	uint64_t magic;
	uint32_t version;
	uint32_t n; /* entries, which follow */
	struct wirefile_domain domain;
	uint64_t sum; /* of all, with 0 here */
};

/* FNV-1a */
static uint64_t
add_up(uint64_t sum, const void *data, size_t n)
{
	const unsigned char *p = data;

	while (n-- != 0)
		sum = (sum ^ *p++) * 0x100000001b3ull;
	return sum;
}

static uint64_t
sum_of(struct head h, const struct wirefile_entry *e)
{
	h.sum = 0;
	return add_up(add_up(0xcbf29ce484222325ull, &h, sizeof(h)), e,
		h.n * sizeof(*e));
}

static int
identify(const char *domain, struct wirefile_domain *ret)
{
	struct statx sx;

	memset(ret, 0, sizeof(*ret));
	if (statx(AT_FDCWD, domain, AT_SYMLINK_NOFOLLOW,
		STATX_INO | STATX_BTIME, &sx) != 0)
		return errno;
	ret->dev = (uint64_t)sx.stx_dev_major << 32 | sx.stx_dev_minor;
	ret->ino = sx.stx_ino;
	if ((sx.stx_mask & STATX_BTIME) != 0)
		ret->born = (uint64_t)sx.stx_btime.tv_sec * 1000000000u +
			sx.stx_btime.tv_nsec;
	return 0;
}

static bool
is_text(const char *s)
{
	return memchr(s, '\0', IPW_NAMELEN) != NULL && s[0] != '\0';
}

static int
load(struct wirefile *f, off_t size)
{
	struct head h;
	unsigned int i;

	f->n = 0;
	if (size == 0)
		return 0; /* its maker was killed, or is about to write */
	if (pread(f->fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) ||
		h.magic != MAGIC || h.version != VERSION ||
		h.n > WIREFILE_MAX ||
		size != (off_t)(sizeof(h) + h.n * sizeof(f->entry[0])) ||
		pread(f->fd, f->entry, h.n * sizeof(f->entry[0]), sizeof(h)) !=
			(ssize_t)(h.n * sizeof(f->entry[0])) ||
		h.sum != sum_of(h, f->entry))
		return EBADMSG;
	for (i = 0; i < h.n; i++) {
		if (!is_text(f->entry[i].conf.name))
			return EBADMSG;
		f->old |= f->entry[i].pending != 0;
	}
	f->n = h.n;
	f->old |= memcmp(&h.domain, &f->domain, sizeof(h.domain)) != 0;
	return 0;
}

/* Lock the file; ESTALE: it has been replaced meanwhile. */
static int
lock(struct wirefile *f, unsigned int flags, struct stat *ret)
{
	struct stat st;

	if (fstat(f->fd, ret) != 0)
		return errno;
	if (!S_ISREG(ret->st_mode) || ret->st_uid != geteuid() ||
		(ret->st_mode & 077) != 0)
		return EACCES;
	while (flock(f->fd, LOCK_EX |
		((flags & WIREFILE_NOWAIT) != 0 ? LOCK_NB : 0)) != 0)
		if (errno != EINTR)
			return errno;
	if (lstat(f->path, &st) != 0 || st.st_dev != ret->st_dev ||
		st.st_ino != ret->st_ino)
		return ESTALE;
	return fstat(f->fd, ret) != 0 ? errno : 0;
}

/* The name under which the file is written. */
static void
new_path(const struct wirefile *f, char *ret, size_t size)
{
	snprintf(ret, size, "%s" STR_WIRES_NEW, f->path);
}

static int
try_open(struct wirefile *f, unsigned int flags)
{
	char path[WIREFILE_PATH + sizeof(STR_WIRES_NEW)];
	struct stat st;
	int err;

	f->fd = open(f->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
		((flags & WIREFILE_MAKE) != 0 ? O_CREAT : 0), 0600);
	if (f->fd < 0) /* a symbolic link, a folder */
		return errno == ELOOP || errno == EISDIR ? EACCES : errno;
	err = lock(f, flags, &st);
	if (err == 0) { /* of a process that was killed while it wrote */
		new_path(f, path, sizeof(path));
		(void)unlink(path);
	}
	if (err == 0)
		err = load(f, st.st_size);
	if (err != 0)
		wirefile_close(f);
	return err;
}

int
wirefile_open(struct wirefile *f, const char *domain, unsigned int flags)
{
	int err;

	memset(f, 0, sizeof(*f));
	f->fd = -1;
	if (domain[0] != '/' || strlen(domain) + sizeof(STR_WIRES_SUFFIX) + 4 >
		sizeof(f->path))
		return (flags & WIREFILE_MAKE) != 0 ? 0 : ENOENT;
	snprintf(f->path, sizeof(f->path), "%s" STR_WIRES_SUFFIX, domain);
	err = identify(domain, &f->domain);
	if (err != 0)
		return err;
	do
		err = try_open(f, flags);
	while (err == ESTALE);
	return err;
}

void
wirefile_close(struct wirefile *f)
{
	if (f->fd >= 0)
		(void)close(f->fd);
	f->fd = -1;
}

bool
wirefile_impaired(const struct ipw_impair *im)
{
	return (im->loss | im->dup | im->reorder | im->corrupt | im->delay |
		im->jitter) != 0 || im->rate != 0;
}

static int
restore_one(struct wirefile_entry *e, const struct wirefile_ops *ops)
{
	struct ipw_conf conf = e->conf;
	int err;

	conf.flags |= IPW_LATER;
	conf.given = 0;
	err = conf.kind == IPW_LO ? 0 : ops->add(&conf, ops->arg);
	/* what made the wire again may have been killed before it did this */
	if ((err == 0 || err == EEXIST) && wirefile_impaired(&e->impair))
		err = ops->impair(&e->impair, ops->arg);
	e->pending = err != 0 && err != EEXIST;
	return e->pending ? err : 0;
}

int
wirefile_restore(struct wirefile *f, const struct wirefile_ops *ops)
{
	int err, first = 0;
	unsigned int i;

	for (i = 0; i < f->n; i++) {
		err = restore_one(&f->entry[i], ops);
		if (first == 0)
			first = err;
	}
	f->old = false;
	return first;
}

static int
write_new(const struct wirefile *f, const char *path)
{
	struct head h = { MAGIC, VERSION, f->n, f->domain, 0 };
	size_t n = f->n * sizeof(f->entry[0]);
	int fd, err = 0;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	h.sum = sum_of(h, f->entry);
	errno = ENOSPC; /* a short write sets none */
	if (write(fd, &h, sizeof(h)) != (ssize_t)sizeof(h) ||
		write(fd, f->entry, n) != (ssize_t)n)
		err = errno;
	if (close(fd) != 0 && err == 0)
		err = errno;
	return err;
}

int
wirefile_save(struct wirefile *f)
{
	char path[WIREFILE_PATH + sizeof(STR_WIRES_NEW)];
	int err;

	if (f->fd < 0)
		return 0;
	if (f->n == 0)
		return unlink(f->path) != 0 ? errno : 0;
	new_path(f, path, sizeof(path));
	err = write_new(f, path);
	if (err == 0 && rename(path, f->path) != 0)
		err = errno;
	if (err != 0)
		(void)unlink(path);
	return err;
}

struct wirefile_entry *
wirefile_find(struct wirefile *f, const char *name)
{
	unsigned int i;

	for (i = 0; i < f->n; i++)
		if (strncmp(f->entry[i].conf.name, name, IPW_NAMELEN) == 0)
			return &f->entry[i];
	return NULL;
}
