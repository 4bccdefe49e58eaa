/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Descriptors that several processes pass to one.  What is behind each says
 * which sender's it is, and which of that sender's; a stream's other end has
 * been closed, so what follows is the end of file.
 */
#include "storm.h"

#include <poll.h>
#include <stropts.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "t.h"

struct card {
	uint32_t nr, stream;
	uint64_t seq;
};

/*
 * A pipe to pass descriptors through.  Its receiving end is, by turns, as
 * pipe() made it and an open file that has been passed itself: their carriers
 * differ.
 */
void
storm_pass_open(int fd[2])
{
	struct strrecvfd r;
	int by[2];

	T_OK(pipe(fd));
	if (storm_chance(2))
		return;
	T_OK(pipe(by));
	T_OK(ioctl(by[0], I_SENDFD, fd[1]));
	T_OK(ioctl(by[1], I_RECVFD, &r));
	T_OK(close(fd[1]));
	T_OK(close(by[0]));
	T_OK(close(by[1]));
	fd[1] = r.fd;
}

static int
make(const struct card *c)
{
	int fd[2];

	if (!c->stream) {
		fd[0] = (int)T_OK(syscall(SYS_memfd_create, "card", 0));
		T_EQ(T_OK(write(fd[0], c, sizeof(*c))), (ssize_t)sizeof(*c));
		return fd[0];
	}
	T_OK(pipe(fd));
	T_EQ(T_OK(write(fd[1], c, sizeof(*c))), (ssize_t)sizeof(*c));
	T_OK(close(fd[1]));
	return fd[0];
}

void
storm_passer(unsigned nr, int fd, unsigned mix)
{
	struct card c = {.nr = nr};

	while (storm->stop == 0) {
		int d, ret;

		if (storm->pass[nr].sent - storm->pass[nr].got > 10) {
			storm_pause(3);
			continue;
		}
		c.seq = storm->pass[nr].sent;
		c.stream = (mix & STORM_PASSING) != 0 &&
			((mix & STORM_FILES) == 0 || storm_chance(2));
		d = make(&c);
		do {
			ret = ioctl(fd, I_SENDFD, d);
			if (ret == -1 && errno == EAGAIN)
				storm_pause(2);
		} while (ret == -1 && (errno == EINTR || errno == EAGAIN));
		T_OK(ret);
		storm->pass[nr].sent = c.seq + 1;
		T_OK(close(d));
		if (storm_chance(20))
			storm_pause(4);
	}
}

static void
take(int d)
{
	struct card c;
	uint64_t want;

	T_OK(d);
	if (isastream(d) == 1) {
		T_EQ(T_OK(read(d, &c, sizeof(c))), (ssize_t)sizeof(c));
		T_EQ(c.stream, 1u);
		T_EQ(read(d, &want, 1), 0);
		storm->passed_streams++;
	} else {
		T_EQ(T_OK(pread(d, &c, sizeof(c), 0)), (ssize_t)sizeof(c));
		T_EQ(c.stream, 0u);
		storm->passed_files++;
	}
	T_LT(c.nr, STORM_PASS + 0u);
	want = storm->pass[c.nr].got;
	if (c.seq != want)
		T_FAIL("descriptor %llu of sender %u came instead of %llu",
			(unsigned long long)c.seq, c.nr,
			(unsigned long long)want);
	storm->pass[c.nr].got = want + 1;
	T_OK(close(d));
}

void
storm_taker(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};
	struct strrecvfd r;
	int ret;

	while (storm->taken == 0) {
		ret = poll(&p, 1, 100);
		if (ret == 0 || (ret == -1 && errno == EINTR))
			continue;
		T_EQ(T_OK(ret), 1);
		do
			ret = ioctl(fd, I_RECVFD, &r);
		while (ret == -1 && errno == EINTR);
		T_OK(ret);
		take(r.fd);
		if (storm_chance(50))
			storm_pause(5);
	}
}
