/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Removed files to which a Stream was attached (fattach).
 *
 * A name keeps its Stream open, and there is no event when its file is removed:
 * the Stream would remain, and streamsd with it.  So streamsd holds an O_PATH
 * descriptor of each file, opened by its path when the name is first seen: the
 * thread that makes the name rings for that.  The descriptor follows the file
 * through renames.  When the file has no link any more, no process can open the
 * name, and the name is removed.
 *
 * In a private domain no process can return: its names are removed when no
 * process is left that was a member, or whose parent was.
 *
 * Failure.  A file that is not at its path any more when the name is first
 * seen, and a file for which there is no room in the table, keep their names.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "streamsd.h"

#define NAMES 256u
#define PATH 256u

static struct seen {
	uint64_t dev, ino, born;
	int fd;
	bool there;
} seen[NAMES];
static unsigned nseen;

static uint64_t
born_of(int fd, uint64_t ino)
{
	struct statx sx;

	if (sys_call5(SYS_statx, fd, "", AT_EMPTY_PATH,
		    STATX_BTIME | STATX_INO, &sx) != 0 ||
	    sx.stx_ino != ino || (sx.stx_mask & STATX_BTIME) == 0)
		return 0;
	return (uint64_t)sx.stx_btime.tv_sec * 1000000000u +
		sx.stx_btime.tv_nsec;
}

static struct seen *
see(uint64_t dev, uint64_t ino, const char *path)
{
	struct stat st;
	unsigned i;
	int fd;

	for (i = 0; i < nseen; i++)
		if (seen[i].dev == dev && seen[i].ino == ino)
			return &seen[i];
	if (nseen == NAMES)
		return NULL;
	fd = sys_openat(AT_FDCWD, path, O_PATH | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return NULL;
	if (host_domain_stat(fd, &st) != 0 || st.st_dev != dev ||
	    st.st_ino != ino) {
		(void)sys_close(fd);
		return NULL;
	}
	seen[nseen] = (struct seen){ dev, ino, born_of(fd, ino), fd, true };
	return &seen[nseen++];
}

void
names_look(void)
{
	uint64_t dev, ino, sid;
	char path[PATH];
	struct stat st;
	unsigned i;

	for (i = 0; i < nseen; i++)
		seen[i].there = false;
	for (i = 0; str_name_entry(i, &dev, &ino, &sid, path, sizeof path);
		i++) {
		struct seen *s = see(dev, ino, path);

		if (s != NULL)
			s->there = true;
	}
	for (i = 0; i < nseen;) {
		struct host_call hc = { .fd = -1 };
		struct seen *s = &seen[i];

		if (s->there && (host_domain_stat(s->fd, &st) != 0 ||
				st.st_nlink != 0)) {
			i++;
			continue;
		}
		if (s->there && host_enter(&hc) == 0) {
			(void)str_name_detach(NULL, s->dev, s->ino, s->born);
			host_leave();
		}
		(void)sys_close(s->fd);
		*s = seen[--nseen];
	}
}

void
names_forget(void)
{
	struct host_call hc = { .fd = -1 };
	uint64_t dev, ino, sid;
	char path[PATH];

	if (strncmp(host_domain_path(), "fd:", 3) != 0 ||
	    host_enter(&hc) != 0)
		return;
	while (str_name_entry(0, &dev, &ino, &sid, path, sizeof path) &&
		str_name_detach(NULL, dev, ino, 0) == 0)
		;
	host_leave();
}
