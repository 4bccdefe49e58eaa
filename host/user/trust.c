/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Checks whether the file of a path may be used: docs/security.md, "Files that
 * the library uses".
 *
 * Purpose.  One rule for streamsd, for modules, for configuration files and for
 * the directory of STREAMS_DOMAIN=/path: no other user may have chosen the file
 * of the path.
 *
 * Rule.  Every directory and every symbolic link on the way from the root, and
 * the file itself, belongs to root, to the effective user, or to the owner of
 * the library, whose code runs in this process already.  No other user can
 * write to it.  A group may have write permission if it can write to the
 * library too, as in the build tree of a user with umask 002.  In a directory
 * with the sticky bit other users can make files and links, but cannot change
 * ours; a file or link there must have one name only, because another user
 * could have made a second name of ours.
 *
 * Walk.  Each name is opened in the directory that was checked before, and
 * links are followed here, so exactly the checked file is opened.  Works
 * without /proc.
 *
 * User namespaces.  If not every user is mapped, root and all users outside
 * have the same number.  If the root directory has that owner, it is accepted
 * for directories and links, because otherwise no path would be usable.  For
 * the file itself it is accepted if the library has that owner and the path is
 * built in, because only root can put files there; it is not accepted for a
 * path from the environment.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "sys.h"
#include "user_impl.h"

#define MAXLINKS 40u

struct walk {
	char *why;
	size_t len;
	unsigned how, links;
	unsigned owner;		/* accepted in addition to root and the user */
	unsigned above;		/* accepted for directories and links */
	bool shared;		/* others can make files in the directory
				 * `at' */
	int at;			/* the directory that was reached */
	struct stat file;	/* the file checked last */
	char *rest;		/* the rest of the path, in `buf' */
	char buf[PATH_MAX];
};

/* Data of the file from which this code was loaded, at that time. */
static struct {
	const char *name;
	unsigned uid, gid, mode;
	bool asked;
} library STR_HOT_DATA; /* in a page that the start of a program touches */

/* host_verbose - does the user want reports on standard error? */
bool
host_verbose(void)
{
	const char *env = getenv("STREAMS_VERBOSE");

	return env != NULL && env[0] != '\0' && strcmp(env, "0") != 0;
}

/*
 * host_trust_tell - report that the file @path is not used, with the reason
 * @why
 */
void
host_trust_tell(const char *path, const char *why)
{
	char text[PATH_MAX + 400];
	int n;

	if (!host_verbose())
		return;
	n = snprintf(text, sizeof text, "streams: %s is not used: %s\n", path,
		why);
	(void)sys_write(2, text, STR_MIN((size_t)n, sizeof text - 1));
}

static int
stat_fd(int fd, struct stat *st)
{
	return -(int)sys_call4(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

/*
 * The file of this code, or NULL.  dladdr() knows the name of a program, too,
 * but searches all symbols.
 */
static const char *
own_file(void)
{
	Dl_info di;

	for (const struct link_map *m = _r_debug.r_map; m != NULL;
		m = m->l_next)
		if (m->l_ld == _DYNAMIC && m->l_name[0] != '\0')
			return m->l_name;
	return dladdr((void *)(uintptr_t)&host_trust_open, &di) != 0 ?
		di.dli_fname : NULL;
}

/* Before main(): dladdr() takes the loader's lock. */
STR_CONSTRUCTOR static void
library_look(void)
{
	const char *file;
	struct stat st;

	if (library.asked)
		return;
	library.asked = true;
	library.uid = (unsigned)getauxval(AT_EUID);
	file = own_file();
	if (file == NULL || file[0] != '/' ||
	    sys_call4(SYS_newfstatat, AT_FDCWD, file, &st, 0) != 0)
		return;
	library.name = file;
	library.uid = st.st_uid;
	library.gid = st.st_gid;
	library.mode = st.st_mode;
}

const char *
host_trust_library(void)
{
	library_look();
	return library.name;
}

static int STR_PRINTF(3, 4)
refuse(struct walk *w, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(w->why, w->len, fmt, ap);
	va_end(ap);
	return err;
}

/*
 * Is it impossible that another user made or changed @w->file, with the name
 * @name?
 */
static int
check(struct walk *w, const char *name)
{
	const struct stat *st = &w->file;
	mode_t closed = S_IWGRP | S_IWOTH;
	bool file = S_ISREG(st->st_mode);

	if ((library.mode & S_IWGRP) && library.gid == st->st_gid)
		closed &= ~(mode_t)S_IWGRP;
	if (st->st_uid != 0 && st->st_uid != w->owner &&
	    !host_uid_mine(st->st_uid) && (file || st->st_uid != w->above))
		return refuse(w, EACCES, "%s belongs to user %u", name,
			(unsigned)st->st_uid);
	if ((st->st_mode & closed) != 0 && !S_ISLNK(st->st_mode) &&
	    !(S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX) != 0))
		return refuse(w, EACCES, "%s can be written by others, it has "
			"mode %04o", name, (unsigned)st->st_mode & 07777);
	if (w->shared && !S_ISDIR(st->st_mode) && st->st_nlink > 1)
		return refuse(w, EACCES, "%s has %lu names, and others could "
			"have made this one", name,
			(unsigned long)st->st_nlink);
	return 0;
}

/* The next name of the path, *@ret_end behind it; NULL: there is none. */
static char *
component(struct walk *w, char **ret_end)
{
	char *name = w->rest + strspn(w->rest, "/");

	*ret_end = name + strcspn(name, "/");
	return name[0] == '\0' ? NULL : name;
}

/* Continue in the directory @fd. */
static int
enter(struct walk *w, int fd, const char *name)
{
	int err;

	if (w->at >= 0)
		(void)sys_close(w->at);
	w->at = fd;
	if (fd < 0)
		return refuse(w, -fd, "%s: %s", name, strerror(-fd));
	err = stat_fd(fd, &w->file);
	if (err == 0 && !S_ISDIR(w->file.st_mode))
		err = refuse(w, ENOTDIR, "%s is not a directory", name);
	else if (err == 0)
		err = check(w, name);
	w->shared = ((w->file.st_mode & S_ISVTX) != 0 &&
		(w->file.st_mode & (S_IWGRP | S_IWOTH)) != 0) ||
		!host_uid_known(w->file.st_uid);
	return err;
}

static int
enter_root(struct walk *w)
{
	struct stat st;

	if (sys_call4(SYS_newfstatat, AT_FDCWD, "/", &st, 0) == 0 &&
	    !host_uid_known(st.st_uid))
		w->above = st.st_uid;
	return enter(w, sys_openat(AT_FDCWD, "/",
		O_PATH | O_DIRECTORY | O_CLOEXEC, 0), "/");
}

/* Put the target of the link @fd before the rest of the path. */
static int
follow(struct walk *w, int fd)
{
	size_t room = (size_t)(w->rest - w->buf);
	long n = sys_call4(SYS_readlinkat, fd, "", w->buf, room);

	if (n < 0)
		return refuse(w, (int)-n, "%s", strerror((int)-n));
	if (++w->links > MAXLINKS)
		return refuse(w, ELOOP, "too many symbolic links");
	if (n == 0 || (size_t)n == room)
		return refuse(w, ENAMETOOLONG, "the path is too long");
	w->rest -= n;
	memmove(w->rest, w->buf, (size_t)n);
	return w->rest[0] == '/' ? enter_root(w) : 0;
}

/* Open the file @name, which was checked as @fd, for the caller's purpose. */
static int
finish(struct walk *w, const char *name, int fd, int *ret_fd)
{
	ino_t ino = w->file.st_ino;
	dev_t dev = w->file.st_dev;

	if (w->how & HOST_TRUST_EXEC) {
		*ret_fd = fd;
		return 0;
	}
	fd = sys_openat(w->at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
		O_NOCTTY | O_CLOEXEC, 0);
	if (fd < 0)
		return refuse(w, -fd, "%s", strerror(-fd));
	if (stat_fd(fd, &w->file) != 0 || w->file.st_ino != ino ||
	    w->file.st_dev != dev) {
		(void)sys_close(fd);
		return refuse(w, EACCES, "it changes while it is checked");
	}
	*ret_fd = fd;
	return 0;
}

/* Check one name.  The walk ends when *@ret_fd is a descriptor. */
static int
step(struct walk *w, char *name, char *end, int *ret_fd)
{
	char slash = *end;
	bool last = end[strspn(end, "/")] == '\0' &&
		!(w->how & HOST_TRUST_DIR);
	int fd, err;

	*end = '\0';
	w->rest = end;
	fd = sys_openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	err = fd >= 0 ? stat_fd(fd, &w->file) :
		last ? refuse(w, -fd, "%s", strerror(-fd)) :
		refuse(w, -fd, "%s: %s", name, strerror(-fd));
	if (err == 0 && S_ISLNK(w->file.st_mode)) {
		err = check(w, name);
		*end = slash;
		if (err == 0)
			err = follow(w, fd);
	} else if (err == 0 && last) {
		err = S_ISREG(w->file.st_mode) ? check(w, "it") :
			refuse(w, EACCES, "it is not a file");
		if (err == 0)
			err = finish(w, name, fd, ret_fd);
	} else if (err == 0) {
		err = enter(w, fd, name);
		fd = -1;
		*end = slash;
	}
	if (fd >= 0 && fd != *ret_fd)
		(void)sys_close(fd);
	return err;
}

int
host_trust_open(const char *path, unsigned how, int *ret_fd, char *why,
	size_t len)
{
	struct walk w = {.why = why, .len = len, .how = how, .at = -1};
	size_t size = strlen(path) + 1;
	char *name, *end;
	int err;

	library_look();
	w.owner = library.uid;
	if ((how & HOST_TRUST_CHOSEN) && !host_uid_known(w.owner))
		w.owner = 0; /* root, which is accepted anyway */
	*ret_fd = -1;
	(void)refuse(&w, 0, "it cannot be looked at");
	if (path[0] != '/')
		return refuse(&w, EINVAL, "it is not an absolute path");
	if (size > sizeof w.buf)
		return refuse(&w, ENAMETOOLONG, "the path is too long");
	w.rest = w.buf + sizeof w.buf - size;
	memcpy(w.rest, path, size);
	err = enter_root(&w);
	while (err == 0 && *ret_fd < 0 && (name = component(&w, &end)) != NULL)
		err = step(&w, name, end, ret_fd);
	if (err == 0 && *ret_fd < 0 && (how & HOST_TRUST_DIR)) {
		*ret_fd = w.at;
		w.at = -1;
	} else if (err == 0 && *ret_fd < 0) {
		err = refuse(&w, EACCES, "it is not a file");
	}
	if (w.at >= 0)
		(void)sys_close(w.at);
	return err;
}
