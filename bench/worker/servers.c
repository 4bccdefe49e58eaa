/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A server in an event loop: one process that waits for many descriptors and
 * answers each message with the same.  Its client sends a message on each of
 * the active ones, which lie evenly among all, and takes the answers.
 *
 * The server's descriptors do not block, as in any event loop; with edges it
 * reads each until there is no more.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "crew.h"

#define BATCH 256 /* events of one epoll_wait() */

enum { SERVER, CLIENT };

struct server {
	struct channel *channels;
	long n;
	char *buf;
	struct crew *crew;
	uint64_t answered;
};

static int
keep_all(const struct job *job, struct server *server, int which)
{
	for (long i = 0; i < server->n; i++) {
		if (job->transport->keep(&server->channels[i], which) != 0)
			return worker_fail("joining a channel");
	}
	server->buf = calloc(1, job->size);
	return server->buf == NULL ? worker_fail("memory") : 0;
}

/* 1: answered; 0: there was nothing; -1 and it has been said. */
static int
answer(const struct job *job, struct server *server, long i)
{
	struct end *end = &server->channels[i].ends[1];
	ssize_t n = job->transport->recv(end, server->buf, job->size);

	if (n == -1 && errno == EAGAIN)
		return 0;
	if (n != (ssize_t)job->size)
		return crew_fail(server->crew, "receiving");
	if (job->transport->send(end, server->buf, job->size) != n)
		return crew_fail(server->crew, "answering");
	server->answered++;
	return 1;
}

static int
serve_polled(const struct job *job, struct crew *crew, int me,
	struct server *server)
{
	struct pollfd *pfds = calloc((size_t)server->n, sizeof(*pfds));

	if (pfds == NULL)
		return worker_fail("memory");
	for (long i = 0; i < server->n; i++) {
		pfds[i].fd = server->channels[i].ends[1].rfd;
		pfds[i].events = POLLIN;
	}
	crew_ready(crew, me);
	for (;;) {
		int n = poll(pfds, (nfds_t)server->n, -1);

		if (n == -1)
			return crew_fail(crew, "poll");
		for (long i = 0; n > 0 && i < server->n; i++) {
			if (pfds[i].revents == 0)
				continue;
			n--;
			if (answer(job, server, i) == -1)
				return -1;
		}
		crew_count(crew, me, server->answered);
	}
}

static int
watch_all(struct server *server, int edge)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	for (long i = 0; epoll != -1 && i < server->n; i++) {
		struct epoll_event event = {
			.events = EPOLLIN | (edge ? EPOLLET : 0u),
			.data.u64 = (uint64_t)i,
		};

		if (epoll_ctl(epoll, EPOLL_CTL_ADD,
			    server->channels[i].ends[1].rfd, &event) != 0)
			return -1;
	}
	return epoll;
}

static int
serve_events(const struct job *job, struct crew *crew, int me,
	struct server *server, int edge)
{
	struct epoll_event events[BATCH];
	int epoll = watch_all(server, edge);

	if (epoll == -1)
		return worker_fail("epoll");
	crew_ready(crew, me);
	for (;;) {
		int n = epoll_wait(epoll, events, BATCH, -1);

		if (n == -1)
			return crew_fail(crew, "epoll_wait");
		for (int i = 0; i < n; i++) {
			long which = (long)events[i].data.u64;
			int ret;

			do
				ret = answer(job, server, which);
			while (ret == 1 && edge);
			if (ret == -1)
				return -1;
		}
		crew_count(crew, me, server->answered);
	}
}

static int
serve(const struct job *job, struct crew *crew, int me, void *data)
{
	struct server *server = data;

	if (keep_all(job, server, 1) != 0)
		return -1;
	for (long i = 0; i < server->n; i++) {
		int fd = server->channels[i].ends[1].rfd;
		int flags = fcntl(fd, F_GETFL);

		if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
			return worker_fail("O_NONBLOCK");
	}
	if (strcmp(job->what, "poll") == 0)
		return serve_polled(job, crew, me, server);
	return serve_events(
		job, crew, me, server, strcmp(job->what, "edge") == 0);
}

static int
ask(const struct job *job, struct crew *crew, int me, void *data)
{
	struct server *server = data;
	long step;

	if (keep_all(job, server, 0) != 0)
		return -1;
	step = server->n / job->active;
	crew_ready(crew, me);
	for (uint64_t count = 0;; crew_count(crew, me, count)) {
		for (long i = 0; i < job->active; i++) {
			struct end *end = &server->channels[i * step].ends[0];

			if (job->transport->send(
				    end, server->buf, job->size) !=
				(ssize_t)job->size)
				return crew_fail(crew, "asking");
		}
		for (long i = 0; i < job->active; i++, count++) {
			struct end *end = &server->channels[i * step].ends[0];

			if (job->transport->recv(
				    end, server->buf, job->size) !=
				(ssize_t)job->size)
				return crew_fail(crew, "receiving an answer");
		}
	}
}

int
measure_servers(const struct job *job)
{
	struct crew *crew = crew_create(0);
	struct server server = {.n = job->n, .crew = crew};
	double rate;

	if (job->active < 1 || job->active > job->n) {
		(void)fputs("active: not 1 to n\n", stderr);
		return -1;
	}
	server.channels = calloc((size_t)job->n, sizeof(*server.channels));
	if (crew == NULL || server.channels == NULL)
		return worker_fail("memory");
	if (crew_need_descriptors(2 * job->n + 100) != 0)
		return -1;
	for (long i = 0; i < job->n; i++) {
		if (channel_open(job, &server.channels[i], 1) != 0)
			return -1;
	}
	if (crew_start(job, crew, SERVER, job->cpus[1], serve, &server) != 0 ||
		crew_start(job, crew, CLIENT, job->cpus[0], ask, &server) !=
			0 ||
		crew_run(job, crew, SERVER, SERVER + 1) != 0)
		return -1;
	rate = (double)crew->members[SERVER].counted / crew->seconds;
	if (!(rate > 0)) {
		(void)fputs("no event in the measured time\n", stderr);
		return -1;
	}
	printf("rx_per_s %.1f\n", rate);
	printf("cpu_ns_per_message %.1f\n", crew->cpu_ns_per_s / rate);
	return 0;
}
