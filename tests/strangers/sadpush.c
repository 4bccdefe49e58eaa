/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* autopush by the ioctls of sad. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/types.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <stropts.h>
#include <sys/sad.h>

#define CHECK(e) do { if (!(e)) { perror(#e); exit(1); } } while (0)

int
main()
{
	struct strapush push;
	struct stat st;
	char name[FMNAMESZ + 1];
	int sad, fd;

	CHECK((sad = open("/dev/sad/admin", O_RDWR)) >= 0);
	CHECK((fd = open("/dev/loop.5", O_RDWR)) >= 0);
	CHECK(fstat(fd, &st) == 0);
	memset(&push, 0, sizeof(push));
	push.sap_cmd = SAP_ONE;
	push.sap_major = major(st.st_rdev);
	push.sap_minor = 7;
	push.sap_npush = 2;
	strcpy(push.sap_list[0], "nullmod");
	strcpy(push.sap_list[1], "relay");
	CHECK(ioctl(sad, SAD_SAP, &push) == 0);
	close(fd);
	CHECK((fd = open("/dev/loop.7", O_RDWR)) >= 0);
	CHECK(ioctl(fd, I_LOOK, name) == 0 && strcmp(name, "relay") == 0);
	CHECK(ioctl(fd, I_LIST, NULL) == 3);
	push.sap_cmd = SAP_CLEAR;
	CHECK(ioctl(sad, SAD_SAP, &push) == 0);
	CHECK(ioctl(sad, SAD_GAP, &push) == -1);
	return 0;
}
