/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Where the parts are.  In a build tree everything lies around this
 * program; installed, in the directories it was configured for.  The build
 * directory can be anywhere, so Meson leaves the name of the source's report
 * directory in a file near this program.
 */
#include "strbench.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	const char *built; /* relative to this program */
	const char *installed;
} places[N_PROGRAMS] = {
	[PROGRAM_NATIVE] = {"strbench-native", "worker/strbench-native",
		STRBENCH_LIBEXECDIR "/strbench-native"},
	[PROGRAM_STREAMS] = {"strbench-streams", "worker/strbench-streams",
		STRBENCH_LIBEXECDIR "/strbench-streams"},
	[PROGRAM_XTI] = {"strbench-xti", "worker/strbench-xti",
		STRBENCH_LIBEXECDIR "/strbench-xti"},
	[PROGRAM_PERFTEST] = {"perftest", "perftest/perftest",
		STRBENCH_SBINDIR "/perftest"},
	[PROGRAM_PERFTESTN] = {"perftestn", "perftest/perftestn",
		STRBENCH_SBINDIR "/perftestn"},
};

const char *
program_name(enum program program)
{
	return places[program].name;
}

/* Caller frees; NULL when it cannot be told. */
static char *
beside(const char *name)
{
	char self[PATH_MAX], *slash, *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash == NULL)
		return NULL;
	*slash = '\0';
	return asprintf(&path, "%s/%s", self, name) == -1 ? NULL : path;
}

/* The answer stays ours. */
const char *
program_path(enum program program)
{
	static char *built[N_PROGRAMS];

	if (built[program] == NULL)
		built[program] = beside(places[program].built);
	if (built[program] != NULL && access(built[program], X_OK) == 0)
		return built[program];
	return access(places[program].installed, X_OK) == 0
		       ? places[program].installed
		       : NULL;
}

const char *
report_directory(void)
{
	static char line[PATH_MAX];
	char *path = beside("front/strbench.report");
	FILE *file = path == NULL ? NULL : fopen(path, "re");

	free(path);
	if (file == NULL)
		return STRBENCH_REPORTDIR;
	if (fgets(line, sizeof(line), file) == NULL)
		line[0] = '\0';
	(void)fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return line;
}
