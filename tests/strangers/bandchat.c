/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Two people who write to each other at once, in signal handlers.  Ordinary
 * talk is in band 0, gossip in band 4, and what cannot wait has high
 * priority.  Each message is answered in the way it came.  First over a
 * pipe, of which one end is closed at last, or its holder killed; then over
 * two FIFOs.
 */
#include <sys/types.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#define ROUNDS 60
#define GOSSIP 4

static int in, out;
static volatile sig_atomic_t answered, hungup, oops;
static volatile sig_atomic_t signals;

static void die(s)
	char *s;
{
	perror(s);
	exit(1);
}

/* Take whatever there is, and answer it. */
static void onpoll(sig, si, ctx)
	int sig;
	siginfo_t *si;
	void *ctx;
{
	char cbuf[64], dbuf[64];
	struct strbuf ctl, dat;
	int save = errno, band, flags, r;

	signals++;
	for (;;) {
		ctl.buf = cbuf;
		dat.buf = dbuf;
		ctl.maxlen = dat.maxlen = sizeof cbuf;
		band = 0;
		flags = MSG_ANY;
		r = getpmsg(in, &ctl, &dat, &band, &flags);
		if (r == -1) {
			if (errno != EAGAIN)
				oops = errno;
			break;
		}
		if (r != 0)
			oops = 1000 + r;
		if (ctl.len <= 0 && dat.len == 0) {
			hungup = 1;
			break;
		}
		ctl.len = ctl.len > 0 ? ctl.len : 0;
		dat.len = dat.len > 0 ? dat.len : 0;
		while (putpmsg(out, ctl.len > 0 ? &ctl : NULL, &dat, band,
				flags) == -1)
			if (errno != EINTR && errno != EAGAIN) {
				oops = errno;
				break;
			}
		answered++;
	}
	errno = save;
}

/* Say one thing and hear it back. */
static void say(i)
	int i;
{
	char what[32], cbuf[64], dbuf[64];
	struct strbuf ctl, dat;
	int band = i % 3 == 1 ? GOSSIP : 0;
	int flags = i % 3 == 2 ? MSG_HIPRI : MSG_BAND;
	int r;

	sprintf(what, "sentence %d", i);
	ctl.buf = "c";
	ctl.len = 1;
	dat.buf = what;
	dat.len = strlen(what) + 1;
	if (putpmsg(out, flags == MSG_HIPRI ? &ctl : NULL, &dat, band, flags))
		die("putpmsg");
	ctl.buf = cbuf;
	dat.buf = dbuf;
	ctl.maxlen = dat.maxlen = sizeof cbuf;
	band = 0;
	flags = MSG_ANY;
	if ((r = getpmsg(in, &ctl, &dat, &band, &flags)) != 0) {
		fprintf(stderr, "getpmsg %d errno %d\n", r, errno);
		exit(1);
	}
	if (strcmp(dbuf, what) != 0 || dat.len != strlen(what) + 1 ||
	    band != (i % 3 == 1 ? GOSSIP : 0) ||
	    flags != (i % 3 == 2 ? MSG_HIPRI : MSG_BAND) ||
	    ctl.len != (i % 3 == 2 ? 1 : -1)) {
		fprintf(stderr, "said %s, heard %.*s in band %d, flags %d, "
			"control %d\n", what, dat.len, dbuf, band, flags,
			ctl.len);
		exit(1);
	}
}

static void chat(pin, pout, cin, cout, hangs)
	int pin, pout, cin, cout, hangs;
{
	struct sigaction sa;
	sigset_t none, poll;
	int i, st, events;
	pid_t pid;

	memset(&sa, 0, sizeof sa);
	sa.sa_sigaction = onpoll;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGPOLL, &sa, NULL);
	sigemptyset(&poll);
	sigaddset(&poll, SIGPOLL);
	sigprocmask(SIG_BLOCK, &poll, &none);
	in = pin;
	out = pout;
	answered = hungup = oops = signals = 0;
	if (fcntl(in, F_SETFL, O_NONBLOCK) == -1)
		die("fcntl");
	pid = fork();
	if (pid == -1)
		die("fork");
	if (pid == 0) {
		close(pin);
		if (pout != pin)
			close(pout);
		in = cin;
		out = cout;
		for (i = 0; i < ROUNDS; i++)
			say(i);
		if (hangs == 2)
			kill(getpid(), SIGKILL);
		exit(0);
	}
	close(cin);
	if (cout != cin)
		close(cout);
	/* not before: closing any descriptor of a Stream ends it */
	if (ioctl(in, I_SETSIG, S_INPUT | S_HIPRI | S_RDBAND |
			(hangs ? S_HANGUP : 0)) == -1)
		die("I_SETSIG");
	if (ioctl(in, I_GETSIG, &events) == -1 ||
	    (events & (S_INPUT | S_HIPRI | S_RDBAND)) !=
			(S_INPUT | S_HIPRI | S_RDBAND))
		die("I_GETSIG");
	alarm(20);
	kill(getpid(), SIGPOLL); /* for what has come before */
	while (!oops && (hangs ? !hungup : answered < ROUNDS))
		sigsuspend(&none);
	alarm(0);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (waitpid(pid, &st, 0) != pid || st != (hangs == 2 ? SIGKILL : 0))
		exit(1);
	if (oops || answered != ROUNDS || signals == 0) {
		fprintf(stderr, "errno %d, %d answers, %d signals\n",
			(int)oops, (int)answered, (int)signals);
		exit(1);
	}
	if (ioctl(in, I_SETSIG, 0) == -1 ||
	    ioctl(in, I_GETSIG, &events) != -1 || errno != EINVAL)
		die("I_SETSIG 0");
	close(in);
	if (out != in)
		close(out);
}

int main()
{
	int p[2], r1, w1, r2, w2;

	if (pipe(p) == -1)
		die("pipe");
	chat(p[0], p[0], p[1], p[1], 1);
	if (pipe(p) == -1)
		die("pipe");
	chat(p[0], p[0], p[1], p[1], 2);

	if ((r1 = open("/dev/streams/fifo/3", O_RDWR)) == -1 ||
	    (r2 = open("/dev/streams/fifo/4", O_RDWR)) == -1 ||
	    (w1 = open("/dev/streams/fifo/4", O_WRONLY)) == -1 ||
	    (w2 = open("/dev/streams/fifo/3", O_WRONLY)) == -1)
		die("fifo");
	chat(r1, w1, r2, w2, 0);
	return 0;
}
