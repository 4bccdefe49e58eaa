/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * wait - poll(2) tells band 0, the bands above it and high priority apart.
 */
#include <poll.h>
#include <stdio.h>
#include <stropts.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef INFTIM
#define INFTIM (-1)
#endif

/* One event for each message: the parent says when the next may come. */
static void
child(int fd)
{
	struct strbuf urgent = {.len = 4, .buf = "stop"};
	struct strbuf data = {.len = 4, .buf = "data"};
	char c;

	write(fd, "data", 4);
	read(fd, &c, 1);
	putpmsg(fd, NULL, &data, 3, MSG_BAND);
	read(fd, &c, 1);
	putmsg(fd, &urgent, NULL, RS_HIPRI);
	read(fd, &c, 1);
	_exit(0);
}

int
main(void)
{
	struct pollfd p = {.events = POLLRDNORM | POLLRDBAND | POLLPRI};
	char ctl[16], text[16];
	int fd[2], flags;

	if (pipe(fd) < 0) {
		perror("pipe");
		return 1;
	}
	if (fork() == 0) {
		close(fd[0]);
		child(fd[1]);
	}
	close(fd[1]);
	p.fd = fd[0];
	while (poll(&p, 1, INFTIM) > 0 && (p.revents & POLLHUP) == 0) {
		struct strbuf c = {.maxlen = sizeof(ctl), .buf = ctl};
		struct strbuf d = {.maxlen = sizeof(text), .buf = text};

		printf("%s\n", p.revents & POLLPRI ? "high priority" :
			p.revents & POLLRDBAND ? "a band" : "band 0");
		flags = 0;
		getmsg(fd[0], &c, &d, &flags);
		write(fd[0], "n", 1);
	}
	wait(NULL);
	printf("hung up\n");
	return 0;
}
