/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Signals and poll(2): which message raises which signal, what si_code and
 * the events of poll say of it, and that a registration is the process's own.
 */
#include <stropts.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fd[2];
static sigset_t both;

static void
die(int line, const char *what)
{
	fprintf(stderr, "line %d: %s: %s\n", line, what, strerror(errno));
	exit(1);
}
#define SO(e) do { if (!(e)) die(__LINE__, #e); } while (0)

/* A message to the other end: band -1 is high priority. */
static void
say(int band)
{
	struct strbuf ctl, data;

	ctl.buf = "c";
	data.buf = "d";
	ctl.len = data.len = 1;
	SO(putpmsg(fd[0], band < 0 ? &ctl : NULL, &data, band < 0 ? 0 : band,
	    band < 0 ? MSG_HIPRI : MSG_BAND) == 0);
}

/* The signal that comes; 0: none does. */
static int
ring(siginfo_t *si, int expected)
{
	struct timespec t;
	int s;

	t.tv_sec = expected ? 5 : 0;
	t.tv_nsec = expected ? 0 : 20000000;
	s = sigtimedwait(&both, si, &t);
	return s < 0 ? 0 : s;
}

static int
events(int asked)
{
	struct pollfd pfd;

	pfd.fd = fd[1];
	pfd.events = asked;
	SO(poll(&pfd, 1, 0) >= 0);
	return pfd.revents;
}

static void
empty(void)
{
	SO(ioctl(fd[1], I_FLUSH, FLUSHR) == 0);
}

#define READ (POLLIN | POLLPRI | POLLRDNORM | POLLRDBAND)

int
main(void)
{
	static const struct {
		int want, band, sig, code, revents;
	} row[] = {
		{ S_RDNORM, 0, SIGPOLL, POLL_IN, POLLIN | POLLRDNORM },
		{ S_RDNORM, 1, 0, 0, POLLIN | POLLRDBAND },
		{ S_RDNORM, -1, 0, 0, POLLPRI },
		{ S_RDBAND, 0, 0, 0, POLLIN | POLLRDNORM },
		{ S_RDBAND, 9, SIGPOLL, POLL_IN, POLLIN | POLLRDBAND },
		{ S_RDBAND | S_BANDURG, 9, SIGURG, 0, POLLIN | POLLRDBAND },
		{ S_INPUT, 0, SIGPOLL, POLL_IN, POLLIN | POLLRDNORM },
		{ S_INPUT, 9, SIGPOLL, POLL_IN, POLLIN | POLLRDBAND },
		{ S_INPUT, -1, 0, 0, POLLPRI },
		{ S_HIPRI, -1, SIGPOLL, POLL_PRI, POLLPRI },
		{ S_HIPRI, 0, 0, 0, POLLIN | POLLRDNORM },
	};
	struct strsigset ss;
	siginfo_t si;
	char buf[1024];
	unsigned i;
	pid_t pid;
	int st, ev, go[2];

	alarm(20);
	sigemptyset(&both);
	sigaddset(&both, SIGPOLL);
	sigaddset(&both, SIGURG);
	sigprocmask(SIG_BLOCK, &both, NULL);
	signal(SIGPIPE, SIG_IGN);
	SO(pipe(fd) == 0);
	fcntl(fd[0], F_SETFL, O_RDWR | O_NONBLOCK);
	fcntl(fd[1], F_SETFL, O_RDWR | O_NONBLOCK);
	SO(ioctl(fd[1], I_GETSIG, &ev) == -1 && errno == EINVAL);
	SO(ioctl(fd[1], I_SETSIG, 0) == -1 && errno == EINVAL);
	SO(ioctl(fd[1], I_SETSIG, 0x4000) == -1 && errno == EINVAL);
	for (i = 0; i < sizeof row / sizeof row[0]; i++) {
		SO(ioctl(fd[1], I_SETSIG, row[i].want) == 0);
		SO(ioctl(fd[1], I_GETSIG, &ev) == 0 && ev == row[i].want);
		say(row[i].band);
		st = ring(&si, row[i].sig != 0);
		ev = events(READ);
		if (st != row[i].sig || ev != row[i].revents || (st == SIGPOLL &&
		    si.si_code != row[i].code)) {
			fprintf(stderr, "row %u: signal %d code %d, %#x\n", i,
			    st, st == 0 ? 0 : si.si_code, ev);
			return 1;
		}
		empty();
		SO(events(READ) == 0);
	}

	/* room */
	SO(ioctl(fd[1], I_SETSIG, 0) == 0);
	SO(ioctl(fd[0], I_SETSIG, S_OUTPUT) == 0);
	memset(buf, 'r', sizeof buf);
	while (write(fd[0], buf, sizeof buf) == sizeof buf)
		;
	SO(errno == EAGAIN && ring(&si, 0) == 0);
	SO(ioctl(fd[0], I_CANPUT, 0) == 0 && ioctl(fd[0], I_CANPUT, 1) == 1);
	while (read(fd[1], buf, sizeof buf) > 0)
		;
	SO(ring(&si, 1) == SIGPOLL && si.si_code == POLL_OUT);
	SO(ioctl(fd[0], I_SETSIG, 0) == 0);

	/* a child has none, unless it asks for it */
	SO(ioctl(fd[1], I_SETSIG, S_INPUT) == 0);
	SO(pipe(go) == 0);
	if ((pid = fork()) == 0) {
		SO(ioctl(fd[1], I_GETSIG, &ev) == -1 && errno == EINVAL);
		SO(write(go[1], "r", 1) == 1);
		SO(ring(&si, 1) == SIGPOLL);
		_exit(0);
	}
	SO(read(go[0], buf, 1) == 1);
	ss.ss_pid = pid;
	ss.ss_events = S_INPUT;
	SO(ioctl(fd[1], I_ESETSIG, &ss) == 0);
	ss.ss_events = 0;
	SO(ioctl(fd[1], I_EGETSIG, &ss) == 0 && ss.ss_events == S_INPUT);
	say(0);
	SO(ring(&si, 1) == SIGPOLL);
	SO(waitpid(pid, &st, 0) == pid && st == 0);
	ss.ss_pid = pid;
	ss.ss_events = S_INPUT;
	SO(ioctl(fd[1], I_ESETSIG, &ss) == -1 && errno == ESRCH);

	/* the other end goes */
	empty();
	SO(ioctl(fd[1], I_SETSIG, S_HANGUP) == 0);
	close(fd[0]);
	SO(ring(&si, 1) == SIGPOLL && si.si_code == POLL_HUP);
	SO(events(POLLOUT) == POLLHUP);
	SO(read(fd[1], buf, 1) == 0);
	SO(write(fd[1], buf, 1) == -1 && errno == EPIPE);
	SO(ioctl(fd[1], I_PUSH, "nullmod") == -1 && errno == ENXIO);
	return 0;
}
