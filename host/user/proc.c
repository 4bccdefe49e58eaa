/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data about processes from /proc.
 *
 * A pid identifies a process only together with its start time.  The address of
 * the main stack, which is random for each image, distinguishes an image from
 * the one after exec.  Without /proc a process counts as alive as long as its
 * pid exists.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user_impl.h"

/*
 * host_digits - write @v at @to, which has room for 11 characters.  At an attach
 * the C library's functions would have to be bound and brought in.
 * Return: the end.
 */
char *
host_digits(char *to, unsigned v)
{
	char *end = to;
	unsigned rest = v;

	do
		end++;
	while ((rest /= 10) != 0);
	*end = '\0';
	for (char *p = end; p != to; v /= 10)
		*--p = (char)('0' + v % 10);
	return end;
}

/* Field 3 and, in ret_field, fields 20, 22 and 28 of a stat file. */
static char
stat_read(const char *path, uint64_t ret_field[3])
{
	char buf[768], *p, state;
	int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n;

	if (fd < 0)
		return '\0';
	n = sys_read(fd, buf, sizeof buf - 1);
	(void)sys_close(fd);
	if (n <= 0)
		return '\0';
	buf[n] = '\0';
	p = strrchr(buf, ')'); /* names may contain anything */
	if (p == NULL || p[1] != ' ')
		return '\0';
	p += 2;
	state = *p;
	ret_field[0] = ret_field[1] = ret_field[2] = 0;
	for (int field = 3; field <= 28 && *p != '\0'; field++) {
		uint64_t v = 0;

		for (; *p != '\0' && *p != ' '; p++)
			v = v * 10 + (uint64_t)(*p - '0');
		if (field == 20)
			ret_field[0] = v;
		else if (field == 22)
			ret_field[1] = v;
		else if (field == 28)
			ret_field[2] = v;
		p += *p == ' ';
	}
	return state;
}

/*
 * The start time of process @pid (0: unknown), its image (the address of its
 * stack; 0: unknown), and whether it is dead.
 */
void
host_proc_start(int pid, uint64_t *ret_start, uint64_t *ret_image,
	bool *ret_dead)
{
	char path[48] = "/proc/";
	uint64_t field[3] = { 0, 0, 0 };
	char state;

	*ret_start = *ret_image = 0;
	*ret_dead = sys_call2(SYS_kill, pid, 0) == -ESRCH;
	if (*ret_dead)
		return;
	strcpy(host_digits(path + 6, (unsigned)pid), "/stat");
	state = stat_read(path, field);
	if (state == '\0') {
		/* gone meanwhile, or there is no /proc */
		*ret_dead = sys_call2(SYS_kill, pid, 0) == -ESRCH;
		return;
	}
	*ret_start = field[1];
	*ret_image = field[2];
	/* a leader that ended before its other threads is a zombie too */
	*ret_dead = state == 'X' || (state == 'Z' && field[0] <= 1);
}

bool
host_task_stopped(int pid, int tid)
{
	char path[64];
	uint64_t field[3];
	char state;

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
	state = stat_read(path, field);
	return state == 'T' || state == 't';
}

/* Is thread @tid of process @pid gone? */
bool
host_task_dead(int pid, int tid)
{
	char path[64];
	uint64_t field[3];
	char state;

	if (sys_call3(SYS_tgkill, pid, tid, 0) == -ESRCH)
		return true;
	if (tid != pid)
		return false;
	/* only leaders remain as zombies */
	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
	state = stat_read(path, field);
	return state == 'Z' || state == 'X';
}
