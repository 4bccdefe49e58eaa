/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * carried: the area of a strrun, and the ends of pipes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "carried.h"

/* --------------------------------------------------------------- the area */

/* The environment of @pid, a string after the other, with a null byte behind.
 * NULL and errno; free() releases it. */
static char *
environment_now(long pid, size_t *ret_len)
{
	size_t size = 0, len = 0;
	char path[64], *text = NULL, *more;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof path, "/proc/%ld/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	do {
		len += (size_t)n;
		if (size - len < 4096) {
			size += 65536;
			more = realloc(text, size);
			if (more == NULL) {
				n = -1;
				break;
			}
			text = more;
		}
		n = read(fd, text + len, size - len - 1);
	} while (n > 0);
	(void)close(fd);
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	*ret_len = len;
	return text;
}

/*
 * Is @pid in an exec, so that its environment is empty for the moment?  The kernel
 * has then not yet said where it is.  A zombie and a kernel's thread have no program.
 */
static bool
is_in_exec(long pid)
{
	char path[64], text[1024], *p;
	unsigned long env_end = 1;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%ld/exe", pid);
	if (readlink(path, text, sizeof text) < 0)
		return false;
	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* proc(5): the third field follows the name, env_end is the 51st */
	p = strrchr(text, ')');
	for (int field = 2; p != NULL && field < 51; field++)
		p = strchr(p + 1, ' ');
	return p != NULL && sscanf(p, "%lu", &env_end) == 1 && env_end == 0;
}

/* The environment of @pid, as environment_now(). */
static char *
environment(long pid, size_t *ret_len)
{
	char *text;

	while ((text = environment_now(pid, ret_len)) != NULL &&
			*ret_len == 0 && is_in_exec(pid)) {
		free(text);
		(void)sched_yield();
	}
	return text;
}

/* Is it a file as strrun makes it?  Such a one does not get smaller, so no access
 * to it ends this process. */
static bool
is_area(int fd)
{
	int want = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return seals >= 0 && (seals & want) == want && fstat(fd, &st) == 0 &&
		st.st_size == (off_t)RUN_SIZE;
}

/* Map the file @path of strrun. */
static bool
map(struct carried *c, const char *path, bool writes)
{
	struct stat st;

	errno = 0;
	/* an open of a device could have effects */
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	c->fd = open(path, (writes ? O_RDWR : O_RDONLY) | O_NONBLOCK |
		O_CLOEXEC);
	if (c->fd < 0)
		return false;
	c->area = !is_area(c->fd) ? MAP_FAILED : mmap(NULL, RUN_RINGS,
		PROT_READ | (writes ? PROT_WRITE : 0), MAP_SHARED, c->fd, 0);
	if (c->area != MAP_FAILED && c->area->magic == RUN_MAGIC &&
			c->area->key == c->key)
		return true;
	carried_close(c);
	errno = 0;
	return false;
}

enum carried_found
carried_open(struct carried *c, long pid, bool writes)
{
	enum carried_found found = CARRIED_NONE;
	unsigned fd;
	size_t len;
	char *text = environment(pid, &len), path[64];

	if (text == NULL)
		return CARRIED_ERROR;
	for (const char *s = text; s < text + len && found != CARRIED_FOUND;
			s += strlen(s) + 1) {
		if (sscanf(s, RUN_VAR "=%u:%u:%x", &c->strrun, &fd, &c->key) !=
				3)
			continue;
		snprintf(path, sizeof path, "/proc/%u/fd/%u", c->strrun, fd);
		if (map(c, path, writes))
			found = CARRIED_FOUND;
		else if (errno == EACCES || errno == EPERM)
			found = CARRIED_ERROR;
	}
	free(text);
	return found;
}

void
carried_close(struct carried *c)
{
	if (c->area != MAP_FAILED && c->area != NULL)
		(void)munmap(c->area, RUN_RINGS);
	(void)close(c->fd);
	c->area = NULL;
	c->fd = -1;
}

struct run_pipe *
carried_pipe(const struct carried *c, uint64_t id)
{
	for (unsigned i = 0; i < RUN_PIPES; i++)
		if (__atomic_load_n(&c->area->id[i], __ATOMIC_ACQUIRE) == id)
			return &c->area->pipe[i];
	return NULL;
}

/* --------------------------------------------------------------- the ends */

static int
add(struct ends *e, const struct end *one)
{
	struct end *more;

	if (e->n == e->size) {
		more = realloc(e->v, (2 * e->size + 64) * sizeof *more);
		if (more == NULL)
			return -1;
		e->v = more;
		e->size = 2 * e->size + 64;
	}
	e->v[e->n++] = *one;
	return 0;
}

/* The descriptors of one process. */
static int
take_process(struct ends *e, long pid, uint64_t id)
{
	struct end one = {.pid = pid};
	char path[64], link[64];
	struct dirent *d;
	struct stat st;
	DIR *dir;
	int err = 0;

	snprintf(path, sizeof path, "/proc/%ld/fd", pid);
	dir = opendir(path);
	if (dir == NULL)
		return 0; /* it has ended, or is another user's */
	while (err == 0 && (d = readdir(dir)) != NULL) {
		ssize_t n = readlinkat(dirfd(dir), d->d_name, link,
			sizeof link - 1);

		link[n > 0 ? n : 0] = '\0';
		if (sscanf(link, "pipe:[%ju]", &one.id) != 1 ||
			(id != 0 && one.id != id) || fstatat(dirfd(dir),
				d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		one.fd = atoi(d->d_name);
		one.reads = (st.st_mode & S_IRUSR) != 0;
		one.writes = (st.st_mode & S_IWUSR) != 0;
		err = add(e, &one);
	}
	(void)closedir(dir);
	return err;
}

int
ends_take(struct ends *e, uint64_t id)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	long pid;
	int err = 0;

	e->n = 0;
	if (dir == NULL)
		return -1;
	while (err == 0 && (d = readdir(dir)) != NULL) {
		pid = atol(d->d_name);
		if (pid > 0)
			err = take_process(e, pid, id);
	}
	(void)closedir(dir);
	return err;
}

void
ends_free(struct ends *e)
{
	free(e->v);
	memset(e, 0, sizeof *e);
}
