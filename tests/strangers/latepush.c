/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* A line of autopush.conf for a driver that an open loads. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <stropts.h>

#define CHECK(e) do { if (!(e)) { perror(#e); exit(1); } } while (0)

static char path[1000];

static void
looks(const char *dev, const char *wanted)
{
	char name[FMNAMESZ + 1] = "";
	int fd;

	CHECK((fd = open(dev, O_RDWR)) >= 0);
	CHECK((ioctl(fd, I_LOOK, name) == 0) == (*wanted != '\0'));
	CHECK(strcmp(name, wanted) == 0);
	close(fd);
}

int
main(int argc, char **argv)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/latepush",
		getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	if (argc == 1) {
		CHECK((f = fopen(path, "w")) != NULL);
		fprintf(f, "lisdev 3 4 nullmod\nnosuch 0 0 nullmod\n");
		CHECK(fclose(f) == 0);
		/* a domain of its own: the file is read once in each */
		setenv("STREAMS_AUTOPUSH", path, 1);
		setenv("STREAMS_DOMAIN", "private", 1);
		execl("/proc/self/exe", argv[0], "again", NULL);
		CHECK(0);
	}
	looks("/dev/streams/lisdev/3", "nullmod");
	looks("/dev/streams/lisdev/2", "");
	looks("/dev/streams/lisdev/4", "nullmod");
	unlink(path);
	return 0;
}
