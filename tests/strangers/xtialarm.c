/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams with a time limit: alarm() and a handler that interrupts, as
 * programs do that ask again when no answer comes.
 */
#include <xti.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int timeouts;

static void
catcher(int sig)
{
	timeouts++;
}

static void
fail(const char *s)
{
	t_error(s);
	exit(1);
}

int
main(void)
{
	struct t_unitdata *ud, *answer;
	struct t_bind *where;
	struct sigaction act;
	struct itimerval it;
	int srv, fd, flags, tries;
	pid_t pid;

	memset(&act, 0, sizeof act);
	act.sa_handler = catcher;
#ifdef SA_INTERRUPT
	act.sa_flags = SA_INTERRUPT;
#endif
	sigaction(SIGALRM, &act, NULL);

	srv = t_open("/dev/ticlts", O_RDWR, NULL);
	fd = t_open("/dev/ticlts", O_RDWR, NULL);
	if (srv < 0 || fd < 0)
		fail("t_open");
	where = t_alloc(srv, T_BIND, T_ALL);
	if (where == NULL || t_bind(srv, NULL, where) < 0 ||
	    t_bind(fd, NULL, NULL) < 0)
		fail("t_bind");
	ud = t_alloc(fd, T_UNITDATA, T_ADDR);
	answer = t_alloc(fd, T_UNITDATA, T_ALL);
	if (ud == NULL || answer == NULL)
		fail("t_alloc");
	memcpy(ud->addr.buf, where->addr.buf, where->addr.len);
	ud->addr.len = where->addr.len;
	ud->udata.buf = "question";
	ud->udata.len = 8;

	/* a server that answers only the third time */
	pid = fork();
	if (pid == 0) {
		for (tries = 1; ; tries++) {
			if (t_rcvudata(srv, answer, &flags) < 0)
				fail("server: t_rcvudata");
			if (tries < 3)
				continue;
			answer->udata.len = 6;
			memcpy(answer->udata.buf, "answer", 6);
			if (t_sndudata(srv, answer) < 0)
				fail("server: t_sndudata");
			exit(0);
		}
	}
	for (tries = 1; ; tries++) {
		if (t_sndudata(fd, ud) < 0)
			fail("t_sndudata");
		memset(&it, 0, sizeof it);
		it.it_value.tv_usec = 50000;
		setitimer(ITIMER_REAL, &it, NULL);
		if (t_rcvudata(fd, answer, &flags) == 0)
			break;
		if (t_errno != TSYSERR || errno != EINTR || tries == 20)
			fail("t_rcvudata");
	}
	memset(&it, 0, sizeof it);
	setitimer(ITIMER_REAL, &it, NULL);
	if (tries < 3 || timeouts < 2 || answer->udata.len != 6 ||
	    memcmp(answer->udata.buf, "answer", 6) != 0)
		return 1;
	waitpid(pid, NULL, 0);
	return 0;
}
