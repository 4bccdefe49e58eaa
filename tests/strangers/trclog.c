/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* A reader of trace messages, I_TRCLOG, and who logs one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <stropts.h>
#include <sys/strlog.h>
#include <sys/log.h>

#define CHECK(e) do { if (!(e)) { perror(#e); exit(1); } } while (0)

int
main()
{
	struct trace_ids ids = { 77, -1, 5, 0 };
	struct strioctl ioc = { I_TRCLOG, 0, sizeof(ids), (char *)&ids };
	struct log_ctl lc;
	struct strbuf ctl, dat;
	char text[256];
	int rd, wr, flags = 0, i;

	CHECK((rd = open("/dev/strlog", O_RDWR)) >= 0);
	CHECK(ioctl(rd, I_STR, &ioc) >= 0);
	CHECK((wr = open("/dev/strlog", O_RDWR)) >= 0);
	for (i = 76; i <= 77; i++) {
		memset(&lc, 0, sizeof(lc));
		lc.mid = i;
		lc.sid = 1;
		lc.level = 3;
		lc.flags = SL_TRACE;
		ctl.buf = (char *)&lc;
		ctl.len = sizeof(lc);
		dat.buf = "here it is";
		dat.len = strlen(dat.buf) + 1;
		CHECK(putmsg(wr, &ctl, &dat, 0) == 0);
	}
	ctl.maxlen = sizeof(lc);
	dat.buf = text;
	dat.maxlen = sizeof(text);
	CHECK(getmsg(rd, &ctl, &dat, &flags) == 0);
	CHECK(ctl.len == sizeof(lc) && lc.mid == 77 && lc.level == 3);
	CHECK(strcmp(text, "here it is") == 0);
	return 0;
}
