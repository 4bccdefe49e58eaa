/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What an attacker would have started as streamsd: leaves a file "mark" in the
 * directory that it lies in, and says that it is ready.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	char path[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 8);
	char *slash;

	if (n <= 0)
		return 1;
	path[n] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash + 1, "mark");
	return close(open(path, O_WRONLY | O_CREAT, 0600));
}
