/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * When the tables of stdio are changed, how they are left, and what happens
 * with a C library whose tables are not known: STRANGE is linked with one that
 * looks like that.
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <str/inspect.h>

#include "t.h"

#ifdef STRANGE
ssize_t _IO_file_read(FILE *f, void *buf, ssize_t n);

/* What @fn prints on standard error. */
static void
heard(void (*fn)(int fd), int fd, char *text, size_t size)
{
	FILE *f = tmpfile();
	int old = T_OK(dup(2));

	T_NOTNULL(f);
	T_OK(dup2(fileno(f), 2));
	fn(fd);
	T_OK(dup2(old, 2));
	rewind(f);
	text[fread(text, 1, size - 1, f)] = '\0';
	(void)fclose(f);
}

static void
try(int fd)
{
	errno = 0;
	T_NULL(fdopen(fd, "r"));
	T_EQ(errno, ENOTSUP);
}

T_CASE(a_FILE_for_a_Stream_is_refused_in_words)
{
	char text[256], buf[8];
	int fd[2];

	T_EQ(_IO_file_read(NULL, buf, 0), -1);
	T_OK(pipe(fd));
	T_OK(unsetenv("STREAMS_VERBOSE"));
	heard(try, fd[0], text, sizeof text);
	T_STR(text, "");
	T_OK(setenv("STREAMS_VERBOSE", "1", 1));
	heard(try, fd[0], text, sizeof text);
	T_NOTNULL(strstr(text, "no stdio on Streams"));
	T_NOTNULL(strstr(text, "_IO_file_read"));
	heard(try, fd[0], text, sizeof text);
	T_STR(text, "");
	T_NOTNULL(strstr(strm_why_stdio(), "_IO_file_read"));
}

T_CASE(everything_else_works)
{
	char buf[8], path[32];
	int fd[2];
	FILE *f = fopen("/dev/zero", "r");

	T_NOTNULL(f);
	T_OK(pipe(fd));
	T_EQ(getc(f), 0);
	T_EQ(dprintf(fd[1], "%d", 5), 1);
	T_EQ(read(fd[0], buf, sizeof buf), 1);
	snprintf(path, sizeof path, "/dev/fd/%d", fd[0]);
	T_NULL(freopen(path, "r", f));
	T_EQ(errno, ENOTSUP);
	T_NULL(fopen(path, "r"));
	T_EQ(errno, ENOTSUP);
}
#else
#define SLOT_READ 14

static void **
table(const char *name)
{
	void **t = dlsym(RTLD_DEFAULT, name);

	T_NOTNULL(t);
	return t;
}

static void
unchanged(const char *name)
{
	T_TRUE(table(name)[SLOT_READ] == dlsym(RTLD_DEFAULT, "_IO_file_read"));
}

/* The line of /proc/self/maps about @p says this of its permissions. */
static void
permissions(const void *p, char perm[5])
{
	FILE *f = fopen("/proc/self/maps", "r");
	uintptr_t at = (uintptr_t)p, from, to;
	char line[512];

	T_NOTNULL(f);
	perm[0] = '\0';
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to,
			    perm) == 3 && from <= at && at < to)
			break;
	(void)fclose(f);
}

T_CASE(the_tables_are_changed_with_the_first_Stream)
{
	int fd[2];

	unchanged("_IO_file_jumps");
	unchanged("_IO_wfile_jumps");
	T_OK(dup2(0, 0));
	T_OK(close(T_OK(dup(0))));
	unchanged("_IO_file_jumps");
	T_OK(pipe(fd));
	T_TRUE(table("_IO_file_jumps")[SLOT_READ] !=
		dlsym(RTLD_DEFAULT, "_IO_file_read"));
	T_TRUE(table("_IO_wfile_jumps")[SLOT_READ] ==
		table("_IO_file_jumps")[SLOT_READ]);
	T_STR(strm_why_stdio(), "");
}

T_CASE(the_tables_are_as_writable_as_before)
{
	char was[2][5], is[5];
	int fd[2];

	permissions(table("_IO_file_jumps"), was[0]);
	permissions(table("_IO_wfile_jumps"), was[1]);
	T_OK(pipe(fd));
	permissions(table("_IO_file_jumps"), is);
	T_STR(is, was[0]);
	permissions(table("_IO_wfile_jumps"), is);
	T_STR(is, was[1]);
}
#endif
