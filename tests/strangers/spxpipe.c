/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Two streams of spx become a pipe by I_FDINSERT. */
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
	struct strfdinsert ins;
	long pointer = 0;
	char buf[32];
	int a, b;

	CHECK((a = open("/dev/spx", O_RDWR)) >= 0);
	CHECK((b = open("/dev/spx", O_RDWR)) >= 0);
	ins.ctlbuf.buf = (char *)&pointer;
	ins.ctlbuf.maxlen = sizeof(pointer);
	ins.ctlbuf.len = sizeof(pointer);
	ins.databuf.buf = NULL;
	ins.databuf.len = -1;
	ins.databuf.maxlen = 0;
	ins.fildes = b;
	ins.flags = 0;
	ins.offset = 0;
	CHECK(ioctl(a, I_FDINSERT, &ins) >= 0);
	CHECK(write(a, "to b", 4) == 4);
	CHECK(read(b, buf, sizeof(buf)) == 4);
	CHECK(memcmp(buf, "to b", 4) == 0);
	CHECK(write(b, "and back", 8) == 8);
	CHECK(read(a, buf, sizeof(buf)) == 8);
	CHECK(close(b) == 0);
	CHECK(read(a, buf, sizeof(buf)) == 0);
	return 0;
}
