/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Modules of a stream: pushed, listed, looked for, popped, as strchg(1). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <stropts.h>

#define CHECK(e) do { if (!(e)) { perror(#e); exit(1); } } while (0)

int
main()
{
	static char *mods[] = { "nullmod", "bufmod", "relay" };
	struct str_list list;
	char name[FMNAMESZ + 1];
	int fd, i, n;

	CHECK((fd = open("/dev/echo", O_RDWR)) >= 0);
	for (i = 0; i < 3; i++)
		CHECK(ioctl(fd, I_PUSH, mods[i]) >= 0);
	CHECK((n = ioctl(fd, I_LIST, NULL)) == 4);
	list.sl_nmods = n;
	list.sl_modlist = malloc(n * sizeof(struct str_mlist));
	CHECK(ioctl(fd, I_LIST, &list) >= 0);
	for (i = 0; i < 3; i++)
		CHECK(strcmp(list.sl_modlist[i].l_name, mods[2 - i]) == 0);
	CHECK(strcmp(list.sl_modlist[3].l_name, "echo") == 0);
	CHECK(ioctl(fd, I_FIND, "bufmod") == 1);
	CHECK(ioctl(fd, I_FIND, "pipemod") == 0);
	while (ioctl(fd, I_LOOK, name) >= 0)
		CHECK(ioctl(fd, I_POP, 0) >= 0);
	CHECK(errno == EINVAL);
	CHECK(ioctl(fd, I_LIST, NULL) == 1);
	return 0;
}
