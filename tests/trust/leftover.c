/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A domain's file that a crash left, with wrong bytes in it.
 *
 * Each case leaves a domain behind by kill -9, damages its file, and makes a
 * pipe in it: that must work, because the file has no member.  A file that
 * living members use must be refused, and stay as it is.
 *
 * LEFTOVER_FILES: how many random ones.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <t.h>

#include "fixture.h"

#define PAGE 4096u
#define CHILD_S 10u /* until one that hangs is killed */

static char sub[128], path[512];

/* The leftover file, without its holes. */
static struct {
	unsigned char *bytes;
	bool *full; /* by page */
	size_t size, end;
} old;

static void
begin(void)
{
	trust_begin("leftover");
	snprintf(sub, sizeof sub, "%s/streams", trust_dir);
	T_OK(setenv("STREAMS_SIZE", "16M", 1));
	/* none that would remove what is left over */
	T_OK(setenv("STREAMS_DAEMON", "/nonexistent/streamsd", 1));
}

/* The one domain's file; false: there is none. */
static bool
find_file(void)
{
	struct dirent *e;
	struct stat st;
	bool found = false;
	DIR *d;

	d = opendir(sub);
	while (d != NULL && !found && (e = readdir(d)) != NULL) {
		snprintf(path, sizeof path, "%s/%s", sub, e->d_name);
		found = strncmp(e->d_name, "default-", 8) == 0 &&
			stat(path, &st) == 0 && S_ISREG(st.st_mode);
	}
	if (d != NULL)
		closedir(d);
	return found;
}

/* Its exit status, or minus the signal. */
static int
program(void)
{
	return trust_ended(trust_start(NULL, NULL, 0, 1, CHILD_S));
}

/* A member that has used some pipes is killed. */
static void
leave_one(void)
{
	pid_t pid = trust_start("crash", NULL, 0, 1, CHILD_S);

	T_EQ(trust_ended(pid), -SIGKILL);
	T_TRUE(find_file());
}

static void
take_over(void)
{
	static const unsigned char none[PAGE];
	struct stat st;
	int fd;

	fd = T_OK(open(path, O_RDONLY));
	T_OK(fstat(fd, &st));
	old.size = (size_t)st.st_size;
	old.bytes = mmap(NULL, old.size, PROT_READ, MAP_SHARED, fd, 0);
	T_TRUE(old.bytes != MAP_FAILED);
	old.full = calloc(old.size / PAGE, sizeof *old.full);
	for (size_t i = 0; i < old.size / PAGE; i++) {
		off_t at = (off_t)(i * PAGE);

		if (lseek(fd, at, SEEK_DATA) != at)
			continue;
		old.full[i] = memcmp(old.bytes + at, none, PAGE) != 0;
		if (old.full[i])
			old.end = (i + 1) * PAGE;
	}
	T_OK(close(fd));
	T_OK(unlink(path)); /* the mapping keeps it */
}

/* The file as it was found, open. */
static int
copy(void)
{
	int fd;

	(void)mkdir(sub, 0700); /* the last member has removed it */
	fd = T_OK(open(path, O_RDWR | O_CREAT | O_TRUNC, 0600));

	T_OK(ftruncate(fd, (off_t)old.size));
	for (size_t i = 0; i < old.size / PAGE; i++)
		if (old.full[i])
			T_EQ(pwrite(fd, old.bytes + i * PAGE, PAGE,
				     (off_t)(i * PAGE)), PAGE);
	return fd;
}

/* Below @n, and small as often as large. */
static size_t
some(size_t n)
{
	unsigned bits = 0;

	while (n >> bits > 1)
		bits++;
	return t_rand_below((uint64_t)1 << t_rand_below(bits + 1));
}

static void
noise(int fd, size_t at, size_t n)
{
	uint64_t buf[PAGE / 8];

	for (size_t m; n > 0; n -= m, at += m) {
		m = n < PAGE ? n : PAGE;
		for (size_t i = 0; i < PAGE / 8; i++)
			buf[i] = t_rand();
		T_EQ(pwrite(fd, buf, m, (off_t)at), m);
	}
}

static const char *
damage(int fd)
{
	unsigned n;

	switch (t_rand_below(6)) {
	case 0:
		T_OK(ftruncate(fd, (off_t)some(old.size)));
		return "cut";
	case 1:
		for (n = 1 + (unsigned)some(64); n > 0; n--)
			noise(fd, some(old.end), 1);
		return "bytes";
	case 2:
		for (n = 1 + (unsigned)some(1000); n > 0; n--)
			noise(fd, t_rand_below(old.end / 8) * 8, 8);
		return "words";
	case 3:
		noise(fd, some(old.end), some(old.end / 4));
		return "block";
	case 4:
		noise(fd, 128, old.end - 128);
		return "all but the first 128 bytes";
	default:
		T_OK(ftruncate(fd, (off_t)(old.size + some(old.size))));
		noise(fd, some(old.end), 4);
		return "long";
	}
}

static unsigned
files_wanted(void)
{
	const char *env = getenv("LEFTOVER_FILES");

	return env != NULL ? (unsigned)atoi(env) : 100;
}

T_CASE_TIMEOUT(a_damaged_leftover_file_costs_no_pipe, 3600)
{
	unsigned n = files_wanted(), bad = 0;
	const char *what;
	int fd, r;

	begin();
	leave_one();
	take_over();
	for (unsigned i = 0; i < n; i++) {
		fd = copy();
		what = damage(fd);
		T_OK(close(fd));
		r = program();
		if (r != 0) {
			printf("# file %u, %s: %s %d\n", i, what,
				r < 0 ? "signal" : "status", r < 0 ? -r : r);
			bad++;
		}
		(void)unlink(path);
	}
	T_EQ(bad, 0);
}

/*
 * The domain's file stays if another process has read /proc/PID of a member just
 * now: the member's lock is still held then.
 */
static void
free_place(void)
{
	(void)mkdir(sub, 0700);
	(void)unlink(path);
}

/* What is in the file's place when it is no file. */
T_CASE(what_is_no_file_costs_no_pipe)
{
	begin();
	leave_one();
	T_OK(unlink(path));
	T_OK(symlink("/nowhere", path));
	T_EQ(program(), 0);
	free_place();
	T_OK(mkfifo(path, 0600));
	T_EQ(program(), 0);
	free_place();
	T_OK(mkdir(path, 0700));
	T_EQ(program(), 0);
	free_place();
	T_OK(close(T_OK(open(path, O_RDWR | O_CREAT, 0666))));
	T_OK(chmod(path, 0666));
	T_EQ(program(), 0);
}

T_CASE(a_file_that_living_members_use_is_refused_and_stays)
{
	unsigned char c, was;
	int via, fd;
	struct stat st[2];
	pid_t pid;

	begin();
	pid = trust_stay(&via, CHILD_S);
	T_TRUE(find_file());
	T_OK(stat(path, &st[0]));
	fd = T_OK(open(path, O_RDWR));
	for (off_t at = 0; at < 72; at++) {
		T_EQ(pread(fd, &was, 1, at), 1);
		c = was ^ 0x10;
		T_EQ(pwrite(fd, &c, 1, at), 1);
		T_EQ(program(), ENOSR);
		T_EQ(pwrite(fd, &was, 1, at), 1);
	}
	T_OK(stat(path, &st[1]));
	T_EQ(st[0].st_ino, st[1].st_ino);
	trust_finish(pid, via);
}
