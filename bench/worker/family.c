/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "family.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "lib/timing.h"

void
family_adopt(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * BENCH_NS_PER_S + (uint64_t)ts.tv_nsec;
}

static int
parent_of(const char *pid)
{
	char path[64];
	FILE *stat;
	int parent = -1;

	(void)snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	stat = fopen(path, "re");
	if (stat == NULL)
		return -1;
	if (fscanf(stat, "%*d (%*[^)]) %*c %d", &parent) != 1)
		parent = -1;
	(void)fclose(stat);
	return parent;
}

/* All threads of all children, whatever has ended by now left out. */
static uint64_t
children_ns(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	uint64_t sum = 0;

	while (proc != NULL && (entry = readdir(proc)) != NULL) {
		clockid_t clock;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
			parent_of(entry->d_name) != (int)getpid())
			continue;
		if (clock_getcpuclockid((pid_t)atoi(entry->d_name), &clock) ==
			0)
			sum += clock_ns(clock);
	}
	if (proc != NULL)
		(void)closedir(proc);
	return sum;
}

uint64_t
family_cpu_begin(void)
{
	uint64_t children = children_ns();

	return children + clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t
family_cpu_end(void)
{
	uint64_t own = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	return own + children_ns();
}
