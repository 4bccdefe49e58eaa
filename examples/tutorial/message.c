/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * message - a message has a control part, a data part and a band.
 */
#include <stdio.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

static void
send(int fd, const char *ctl, const char *text, int band, int flags)
{
	struct strbuf c = {.len = (int)strlen(ctl), .buf = (char *)ctl};
	struct strbuf d = {.len = (int)strlen(text), .buf = (char *)text};

	if (putpmsg(fd, *ctl != '\0' ? &c : NULL, &d, band, flags) < 0)
		perror("putpmsg");
}

static void
receive(int fd)
{
	char ctl[64], text[64];
	struct strbuf c = {.maxlen = sizeof(ctl), .buf = ctl};
	struct strbuf d = {.maxlen = sizeof(text), .buf = text};
	int band = 0, flags = MSG_ANY;

	if (getpmsg(fd, &c, &d, &band, &flags) < 0) {
		perror("getpmsg");
		return;
	}
	printf("%s band %d, control \"%.*s\", data \"%.*s\"\n",
		flags == MSG_HIPRI ? "high priority," : "ordinary,", band,
		c.len > 0 ? c.len : 0, ctl, d.len > 0 ? d.len : 0, text);
}

int
main(void)
{
	int fd[2], i;

	if (pipe(fd) < 0) {
		perror("pipe");
		return 1;
	}
	send(fd[0], "", "first", 0, MSG_BAND);
	send(fd[0], "type=1", "second", 0, MSG_BAND);
	send(fd[0], "", "in band 5", 5, MSG_BAND);
	send(fd[0], "stop", "at once", 0, MSG_HIPRI);
	for (i = 0; i < 4; i++)
		receive(fd[1]);
	return 0;
}
