/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* The party line of kit/linky.c, with processes that come and go. */
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

#define JOIN	(('k' << 8) | 1)
#define COUNT	(('k' << 8) | 2)
#define TALKERS	3
#define WORDS	200

static int str(int fd, int cmd, int arg)
{
	struct strioctl s;

	s.ic_cmd = cmd;
	s.ic_timout = 10;
	s.ic_len = cmd == JOIN ? sizeof(arg) : 0;
	s.ic_dp = (char *)&arg;
	return ioctl(fd, I_STR, &s);
}

static int join(int party)
{
	int fd = open("/dev/streams/clone/linky", O_RDWR);

	if (fd < 0 || str(fd, JOIN, party) < 1) {
		perror("linky");
		exit(1);
	}
	return fd;
}

static void talk(int party, int who, int fd)
{
	char word[40];
	int i;

	for (i = 0; i < WORDS; i++) {
		memset(word, 'a' + who, sizeof(word));
		sprintf(word, "%d %d", who, i);
		if (write(fd, word, sizeof(word)) != sizeof(word))
			exit(1);
	}
}

int main(void)
{
	int next[TALKERS], fd, busy[9], i, n, who, k, st, got = 0;
	struct pollfd p;
	char word[64];
	pid_t pid[TALKERS], reader;

	alarm(25);
	if (open("/dev/streams/linky/99", O_RDWR) != -1 || errno != ENODEV)
		return 2;
	fd = join(7);
	if (ioctl(fd, I_SRDOPT, RMSGN) < 0)
		return 3;
	memset(next, 0, sizeof(next));
	for (i = 0; i < TALKERS; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			close(fd);
			k = join(7);
			while (str(k, COUNT, 0) < TALKERS + 1)
				poll(NULL, 0, 1);
			ioctl(k, I_FLUSH, FLUSHR);
			/* what others say is not for us: keep it away */
			ioctl(k, I_SRDOPT, RMSGD);
			if ((reader = fork()) == 0) {
				while (read(k, word, sizeof(word)) > 0)
					;
				_exit(0);
			}
			talk(7, i, k);
			/* stays until the listener has gone */
			while (str(k, COUNT, 0) > TALKERS)
				poll(NULL, 0, 1);
			kill(reader, SIGKILL);
			waitpid(reader, NULL, 0);
			_exit(0);
		}
	}
	while (got < TALKERS * WORDS) {
		p.fd = fd;
		p.events = POLLIN;
		if (poll(&p, 1, 20000) != 1)
			return 4;
		n = read(fd, word, sizeof(word));
		if (n != 40 || sscanf(word, "%d %d", &who, &k) != 2 ||
		    who < 0 || who >= TALKERS || k != next[who]++) {
			fprintf(stderr, "read %d: \"%.40s\"\n", n, word);
			return 5;
		}
		got++;
	}
	close(fd);
	for (i = 0; i < TALKERS; i++)
		if (waitpid(pid[i], &st, 0) != pid[i] || st != 0)
			return 6;
	/* two in a party: when one leaves the other is told */
	fd = join(9);
	k = join(9);
	if (str(fd, COUNT, 0) != 2)
		return 7;
	close(k);
	if (read(fd, word, 1) != 0)
		return 8;
	p.fd = fd;
	p.events = POLLOUT;
	if (poll(&p, 1, 5000) != 1 || !(p.revents & POLLHUP))
		return 9;
	if (write(fd, "x", 1) != -1 || errno != ENXIO)
		return 10;
	close(fd);
	/* no more than there are lines */
	for (i = 0; i < 9; i++)
		if ((busy[i] = open("/dev/streams/clone/linky", O_RDWR)) < 0)
			break;
	if (errno != EBUSY || i > 8 || i < 1)
		return 11;
	return 0;
}
