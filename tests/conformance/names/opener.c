/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * opener PATH - opens ordinary files 1,000 times and writes "o", or "x" when it
 * cannot; after a byte at standard input it opens PATH and writes "s" when that
 * is a Stream, "f" when it is none; after the next one it ends.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stropts.h>
#include <unistd.h>

#define TIMES 1000

static int
open_and_close(const char *path)
{
	int fd = open(path, O_RDONLY);
	FILE *f = fopen(path, "r");
	int ok = fd >= 0 && f != NULL && fgetc(f) != EOF;

	if (fd >= 0)
		close(fd);
	if (f != NULL)
		fclose(f);
	return ok;
}

int
main(int argc, char **argv)
{
	int ok = argc == 2, fd;
	char c;

	for (int i = 0; i < TIMES && ok; i++)
		ok = open_and_close("/etc/passwd") &&
			open_and_close("/proc/self/stat");
	if (write(1, ok ? "o" : "x", 1) != 1 || read(0, &c, 1) != 1)
		return 1;
	fd = open(argv[1], O_RDWR);
	if (write(1, fd >= 0 && isastream(fd) == 1 ? "s" : "f", 1) != 1 ||
	    read(0, &c, 1) != 1)
		return 1;
	return 0;
}
