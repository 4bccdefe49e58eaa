/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The place in /dev/shm where a user without a runtime directory has domains.
 *
 * Purpose.  Any user can make a file or directory called streams-UID there.
 * Then the place is streams-UID-RANDOM, a directory of the user with mode 0700,
 * which no other user could have made and whose name no other user could have
 * known.  All processes of the user must use the same one, whenever another
 * user makes or removes files.
 *
 * Choice.  A candidate is a directory of the user with mode 0700 and one of
 * these names.  A candidate that is not empty is settled: it is the place.
 * There is at most one, because a process settles it, by a first file in it,
 * while it holds the locks of all candidates: a process that makes a candidate
 * later finds the settled one, and an earlier candidate is found by the search
 * under the locks.  Only the user can open a candidate, so no other user can
 * hold a lock of it.
 *
 * Cost.  If streams-UID is the place, two system calls.  Else /dev/shm is read;
 * if it has more than MANY names, which another user could have made, there is
 * no place, and the error text says so.
 *
 * Life.  The place is removed, under its lock, when only the first file is left
 * in it.  If it gets another file between the check and the removal, it stays.
 *
 * Failure.  A process that dies leaves a candidate, which the next one settles.
 */
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "user_impl.h"

#define PARENT "/dev/shm"
#define MARK ".place"
#define MANY 100000u
#define TRIES 1000 /* of 1 ms */
#define NCAND 16u  /* candidates at the same time */
#define NAME 48u

/* Candidates, lowest name first: streams-UID is the lowest possible. */
struct cands {
	char prefix[NAME];
	char name[NCAND][NAME];
	int fd[NCAND];
	unsigned n, seen;
	int err;      /* errno of a failed check */
	bool settled; /* name[0] is settled, and is the only one */
};

static int
status(int fd, const char *path, struct stat *st)
{
	return -(int)sys_call4(SYS_newfstatat, fd, path, st,
		fd == AT_FDCWD ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH);
}

static bool
is_mine(const struct stat *st)
{
	return S_ISDIR(st->st_mode) && host_uid_mine(st->st_uid) &&
		(st->st_mode & 077) == 0;
}

static bool
mine(int fd, const char *path, struct stat *st)
{
	return status(fd, path, st) == 0 && is_mine(st);
}

static void
path_of(char path[HOST_PLACE], const char *name)
{
	snprintf(path, HOST_PLACE, PARENT "/%s", name);
}

static bool
has_mark(const char *dir)
{
	char path[HOST_PLACE + sizeof MARK];
	struct stat st;

	snprintf(path, sizeof path, "%s/" MARK, dir);
	return sys_call4(SYS_newfstatat, AT_FDCWD, path, &st,
		AT_SYMLINK_NOFOLLOW) == 0;
}

static bool
other_name(const char *name, void *arg)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
		(arg == NULL || strcmp(name, arg) != 0);
}

/* Is there a file in @dir other than @but? */
static bool
filled(const char *dir, const char *but)
{
	return host_dir_find(dir, other_name, (void *)(uintptr_t)but);
}

/* streams-UID, or that with 16 digits. */
static bool
is_name(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(name, prefix, len) != 0)
		return false;
	name += len;
	return name[0] == '\0' || (name[0] == '-' &&
		strspn(name + 1, "0123456789abcdef") == 16 &&
		name[17] == '\0');
}

/* Check one name in /dev/shm.  True: stop, there are too many. */
static bool
look(const char *name, void *arg)
{
	struct cands *c = arg;
	char path[HOST_PLACE];
	struct stat st;
	unsigned i;
	int err;

	if (++c->seen > MANY)
		return true;
	if (!is_name(name, c->prefix))
		return false;
	path_of(path, name);
	err = status(AT_FDCWD, path, &st);
	if (err != 0 && err != ENOENT) {
		c->err = err;
		return true;
	}
	if (err != 0 || !is_mine(&st))
		return false;
	/* the maker's umask; it has not set the mode yet */
	if ((st.st_mode & 0777) != 0700)
		(void)host_dir_mend(path);
	if (filled(path, NULL)) {
		/* two settled: made by a library without this rule */
		if (!c->settled || strcmp(name, c->name[0]) < 0)
			strcpy(c->name[0], name);
		c->settled = true;
		c->n = 1;
	}
	if (c->settled)
		return false;
	for (i = c->n; i > 0 && strcmp(c->name[i - 1], name) > 0; i--)
		if (i < NCAND)
			strcpy(c->name[i], c->name[i - 1]);
	if (i < NCAND)
		strcpy(c->name[i], name);
	c->n += c->n < NCAND;
	return false;
}

static int
find(struct cands *c)
{
	int fd;

	memset(c, 0, sizeof *c);
	snprintf(c->prefix, sizeof c->prefix, "streams-%u",
		(unsigned)geteuid());
	fd = sys_openat(AT_FDCWD, PARENT, O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		0);
	if (fd >= 0) {
		(void)sys_close(fd);
		(void)host_dir_find(PARENT, look, c);
	} else {
		c->err = -fd;
	}
	/* otherwise candidates would be made again and again without being
	 * found */
	if (c->err != 0)
		return host_fail_file(c->err, "the directories in " PARENT);
	if (c->seen <= MANY)
		return 0;
	return host_fail(EACCES, PARENT "/%s is not a directory of mine, and "
		PARENT " has more than %u names to be looked through for "
		"another" HOST_ELSEWHERE, c->prefix, MANY);
}

/* ------------------------------------------------------------- settling */

/* Lock them all; false: one is gone or was locked for too long, or c->err says
 * that this process has no free descriptor. */
static bool
lock_all(struct cands *c)
{
	char path[HOST_PLACE];
	struct timespec ts = { 0, 1000000 };
	struct stat st, now;

	for (unsigned i = 0; i < c->n; i++)
		c->fd[i] = -1;
	for (unsigned i = 0; i < c->n; i++) {
		path_of(path, c->name[i]);
		c->fd[i] = sys_openat(AT_FDCWD, path,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
		if (c->fd[i] == -EMFILE || c->fd[i] == -ENFILE)
			c->err = -c->fd[i];
		if (c->fd[i] < 0 || !mine(c->fd[i], "", &st))
			return false;
		for (int n = 0; sys_call2(SYS_flock, c->fd[i],
				LOCK_EX | LOCK_NB) != 0; n++) {
			if (n == TRIES)
				return false;
			(void)sys_call2(SYS_nanosleep, &ts, NULL);
		}
		if (!mine(AT_FDCWD, path, &now) || now.st_ino != st.st_ino)
			return false; /* removed, and perhaps made anew */
	}
	return true;
}

static void
unlock_all(struct cands *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->fd[i] >= 0)
			(void)sys_close(c->fd[i]);
}

static bool
same_names(const struct cands *a, const struct cands *b)
{
	if (a->n != b->n || b->settled)
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (strcmp(a->name[i], b->name[i]) != 0)
			return false;
	return true;
}

/*
 * Settle the lowest of @c.  EAGAIN: search again; else an errno with a report.
 */
static int
settle(struct cands *c)
{
	char path[HOST_PLACE + sizeof MARK];
	struct cands again;
	bool locked = lock_all(c);
	int fd = -EAGAIN, err = locked ? find(&again) : 0;

	if (locked && err == 0 && same_names(c, &again)) {
		snprintf(path, sizeof path, PARENT "/%s/" MARK, c->name[0]);
		fd = sys_openat(AT_FDCWD, path,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		for (unsigned i = 1; i < c->n && fd >= 0; i++) {
			path_of(path, c->name[i]);
			(void)sys_call3(SYS_unlinkat, AT_FDCWD, path,
				AT_REMOVEDIR);
		}
	}
	unlock_all(c);
	if (err != 0)
		return err;
	if (c->err != 0)
		return host_fail_file(c->err, "the directories in " PARENT);
	if (fd == -ENOSPC || fd == -EDQUOT || fd == -EMFILE || fd == -ENFILE)
		return host_fail_file(-fd, path);
	if (fd < 0)
		return EAGAIN;
	(void)sys_close(fd);
	return 0;
}

/* Make the candidate *@path: streams-UID, unless that exists. */
static int
candidate(const struct cands *c, char path[HOST_PLACE])
{
	uint64_t rnd;
	int err;

	path_of(path, c->prefix);
	err = host_dir_make(path);
	if (err == EEXIST) {
		if (sys_call3(SYS_getrandom, &rnd, sizeof rnd, 0) !=
				(long)sizeof rnd)
			return host_fail(EACCES, "%s is not mine, and there "
				"are no random numbers to name another"
				HOST_ELSEWHERE, path);
		snprintf(path, HOST_PLACE, PARENT "/streams-%u-%016llx",
			(unsigned)geteuid(), (unsigned long long)rnd);
		err = host_dir_make(path);
	}
	return err == 0 || err == EEXIST ? 0 : host_fail_file(err, path);
}

/* --------------------------------------------------------------- public */

/* Is streams-UID the place? @path becomes that name in any case. */
static bool
usual(char path[HOST_PLACE])
{
	struct stat st;

	snprintf(path, HOST_PLACE, PARENT "/streams-%u", (unsigned)geteuid());
	return mine(AT_FDCWD, path, &st) && has_mark(path);
}

/* Report the place; only the process that has settled it does. */
static void
tell(const char *path, const char *name)
{
	char text[3 * HOST_PLACE];

	snprintf(text, sizeof text, "streams: " PARENT "/%s is not a directory "
		"of mine with mode 0700: domains are in %s", name, path);
	host_log(1, text);
}

/* host_place_find - find the place, or where it would be made */
int
host_place_find(char path[HOST_PLACE])
{
	struct cands c;
	int err;

	path[0] = '\0';
	err = host_ids_numbered();
	if (err != 0 || usual(path))
		return err;
	err = find(&c);
	if (err == 0 && c.n != 0)
		path_of(path, c.name[0]);
	return err;
}

/* One attempt at host_place_make(); EAGAIN: again.  @own: the candidate made. */
static int
make_once(char path[HOST_PLACE], char own[HOST_PLACE])
{
	struct cands c;
	int err;

	if (usual(path))
		return 0;
	err = find(&c);
	if (err != 0)
		return err;
	if (c.n == 0) {
		err = candidate(&c, own);
		return err != 0 ? err : EAGAIN;
	}
	err = c.settled ? 0 : settle(&c);
	if (err != 0)
		return err;
	path_of(path, c.name[0]);
	if (!c.settled && strcmp(c.name[0], c.prefix) != 0)
		tell(path, c.prefix);
	return 0;
}

/*
 * host_place_make - the same, and make it; @path: the place found, or ""
 * Return: 0, or an errno with a report.
 */
int
host_place_make(char path[HOST_PLACE])
{
	char own[HOST_PLACE] = "";
	int err = host_ids_numbered() == 0 ? EAGAIN : EACCES;
	struct stat st;

	if (err == EAGAIN && path[0] != '\0' && mine(AT_FDCWD, path, &st) && has_mark(path))
		return 0;
	for (int i = 0; i < TRIES && err == EAGAIN; i++)
		err = make_once(path, own);
	/* another process was faster: our empty one is not needed */
	if (own[0] != '\0' && (err != 0 || strcmp(own, path) != 0))
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, own, AT_REMOVEDIR);
	return err != EAGAIN ? err : host_fail(EBUSY, "the directories of mine "
		"in " PARENT " are locked by a process that does not go on"
		HOST_ELSEWHERE);
}

/* host_name_rmdir - remove @dir, a place or a plain directory, if it is empty */
void
host_name_rmdir(const char *dir)
{
	char mark[HOST_PLACE + sizeof MARK];
	struct stat st, now;
	int fd;

	if (dir[0] == '\0' || sys_call3(SYS_unlinkat, AT_FDCWD, dir,
			AT_REMOVEDIR) == 0 || strlen(dir) >= HOST_PLACE ||
	    !has_mark(dir) || filled(dir, MARK))
		return;
	fd = sys_openat(AT_FDCWD, dir,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	snprintf(mark, sizeof mark, "%s/" MARK, dir);
	if (sys_call2(SYS_flock, fd, LOCK_EX | LOCK_NB) == 0 &&
	    mine(fd, "", &st) && mine(AT_FDCWD, dir, &now) &&
	    st.st_ino == now.st_ino && !filled(dir, MARK)) {
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, mark, 0);
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, dir, AT_REMOVEDIR);
	}
	(void)sys_close(fd);
}
