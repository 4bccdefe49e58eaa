/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * strbench report: hands over to the reporter, a Python module.  Its
 * packages may live in an environment of their own, hence STRBENCH_PYTHON.
 */
#include "strbench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
set_python_path(const char *directory)
{
	const char *old = getenv("PYTHONPATH");
	char *path;
	int ret;

	if (old == NULL || *old == '\0')
		return setenv("PYTHONPATH", directory, 1);
	if (asprintf(&path, "%s:%s", directory, old) == -1)
		return -1;
	ret = setenv("PYTHONPATH", path, 1);
	free(path);
	return ret;
}

int
report_main(int argc, char **argv)
{
	const char *directory = report_directory();
	const char *python = getenv("STRBENCH_PYTHON");
	const char **command;
	char *module;
	int n = 0;

	if (python == NULL || *python == '\0')
		python = "python3";
	if (asprintf(&module, "%s/strreport", directory) == -1)
		return -complain("report", ENOMEM);
	if (access(module, R_OK) != 0)
		return -complain(module, errno);
	command = calloc((size_t)argc + 5, sizeof(*command));
	if (command == NULL || set_python_path(directory) != 0)
		return -complain("report", ENOMEM);
	command[n++] = python;
	command[n++] = "-B"; /* leave nothing beside an installed module */
	command[n++] = "-m";
	command[n++] = "strreport";
	for (int i = 1; i < argc; i++)
		command[n++] = argv[i];
	/* Its exit status is ours: 0, 1 or 2 as everywhere. */
	(void)execvp(python, (char *const *)(uintptr_t)command);
	return -complain(python, errno);
}
