/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* A driver and a module with wrappers of SVR4.2, and a dialogue in DLPI. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <stropts.h>
#include <sys/dlpi.h>
#include <sys/filio.h>

#define CHECK(e) do { if (!(e)) { \
	fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #e, errno); \
	exit(1); } } while (0)

static union DL_primitives dl;

static void
ask(int fd, t_uscalar_t prim, int size)
{
	struct strbuf ctl = { 0, 0, (char *)&dl };
	int flags = 0;

	memset(&dl, 0, sizeof(dl));
	dl.dl_primitive = prim;
	ctl.len = size;
	CHECK(putmsg(fd, &ctl, NULL, 0) == 0);
	ctl.maxlen = sizeof(dl);
	CHECK(getmsg(fd, &ctl, NULL, &flags) == 0);
}

int
main(void)
{
	int fd, on = 1, n = 7, p[2];

	CHECK((fd = open("/dev/streams/uwdrv/1", O_RDWR)) >= 0);
	ask(fd, DL_INFO_REQ, DL_INFO_REQ_SIZE);
	CHECK(dl.dl_primitive == DL_INFO_ACK);
	CHECK(dl.info_ack.dl_provider_style == DL_STYLE2);
	CHECK(sizeof(dl.info_ack) == 76 && sizeof(dl.bind_req) == 20);
	ask(fd, DL_ATTACH_REQ, DL_ATTACH_REQ_SIZE);
	CHECK(dl.dl_primitive == DL_ERROR_ACK);
	CHECK(dl.error_ack.dl_errno == DL_UNSUPPORTED);
	CHECK(ioctl(fd, FIONREAD, &n) == 0 && n == 0);
	(void)on;
	CHECK(pipe(p) == 0);
	CHECK(ioctl(p[0], I_PUSH, "uwbad") == -1);
	CHECK(ioctl(p[0], I_PUSH, "uwbad") == -1);
	return 0;
}
