/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The two ends on two hosts: "serve" receives, "stream" sends.
 *
 * They speak over a control connection, a line each way: the request (its
 * words are read by strbench server, which becomes "serve" with the
 * connection as standard input and output), "port N", and when the sender has
 * come to its end the result.  Both take their own time: the sender from the
 * first message to the last, the receiver likewise, so that no clock is
 * compared with another one.
 *
 * Nothing waits for ever: serve ends by an alarm, stream's sender is killed
 * by its leader.  Both die with the connection.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/timing.h"
#include "worker.h"

#define LINE_MAX_BYTES 512
#define GRACE_SECONDS  20
#define ANSWER_NS      (10 * BENCH_NS_PER_S)
#define TICK_NS        1000000

static int
must_have_net(const struct job *job, struct net *net)
{
	const struct transport *transport = job->transport;

	if (transport->net == NULL || transport->net->offer == NULL ||
		transport->net->loopback) {
		errno = EAFNOSUPPORT;
		return worker_fail(transport->name);
	}
	*net = *transport->net;
	if (job->device != NULL && net->device != NULL)
		net->device = job->device;
	return 0;
}

static struct sockaddr *
sockaddr_of(struct address *address)
{
	return (struct sockaddr *)(void *)address->bytes;
}

/* Both families have the port at the same place. */
static void
set_port(struct address *address, unsigned int port)
{
	((struct sockaddr_in *)(void *)address->bytes)->sin_port =
		htons((uint16_t)port);
}

static unsigned int
port_of(const struct address *address)
{
	struct sockaddr_in sin;

	memcpy(&sin, address->bytes, sizeof(sin));
	return ntohs(sin.sin_port);
}

typedef int name_function(int fd, struct sockaddr *address, socklen_t *len);

static int
name_of(int fd, name_function *name, struct address *address)
{
	socklen_t len = sizeof(address->bytes);

	if (name(fd, sockaddr_of(address), &len) != 0)
		return -1;
	address->len = len;
	return 0;
}

/* Counts until the end; a stream's last message may be cut short. */
static int
receive_all(const struct job *job, struct end *end)
{
	char *buf = malloc(job->size);
	uint64_t first = 0, last, messages = 0;
	ssize_t n;

	if (buf == NULL)
		return worker_fail("memory");
	while ((n = job->transport->recv(end, buf, job->size)) > 0) {
		if (messages++ == 0)
			first = bench_now_ns();
	}
	last = bench_now_ns();
	if (n != 0)
		return worker_fail("receiving");
	job->transport->hang_up(end);
	free(buf);
	printf("rx_messages %llu\n", (unsigned long long)messages);
	printf("rx_seconds %.6f\n",
		messages == 0 ? 0 : (double)(last - first) / 1e9);
	return 0;
}

int
remote_serve(const struct job *job)
{
	struct address at = {0};
	struct end end;
	struct net net;

	(void)alarm((unsigned int)job->seconds + 2 * GRACE_SECONDS);
	worker_detail(NULL, NULL);
	if (must_have_net(job, &net) != 0)
		return -1;
	if (name_of(STDIN_FILENO, getsockname, &at) != 0)
		return worker_fail("the control connection");
	set_port(&at, 0);
	if (net.offer(&net, &end, &at, job->bufsize) != 0)
		return worker_fail("opening the channel");
	printf("port %u\n", port_of(&at));
	if (fflush(stdout) != 0)
		return worker_fail("answering");
	if (net.take(&net, &end, NULL, job->bufsize) != 0)
		return worker_fail("taking the call");
	return receive_all(job, &end);
}

static int
call_server(const struct job *job)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found, *ai;
	char port[16];
	int error, fd = -1;

	(void)snprintf(port, sizeof(port), "%ld", job->port);
	error = getaddrinfo(job->host, port, &hints, &found);
	if (error != 0) {
		(void)fprintf(
			stderr, "%s: %s\n", job->host, gai_strerror(error));
		return -1;
	}
	error = ENOENT;
	for (ai = found; ai != NULL && fd == -1; ai = ai->ai_next) {
		fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC,
			ai->ai_protocol);
		if (fd != -1 && connect(fd, ai->ai_addr, ai->ai_addrlen) == 0)
			break;
		error = errno;
		if (fd != -1)
			(void)close(fd);
		fd = -1;
	}
	freeaddrinfo(found);
	errno = error;
	return fd == -1 ? worker_fail("no server there") : fd;
}

/* One line without its end; -1 when none comes. */
static int
read_line(int fd, char *line)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	size_t n = 0;

	while (n < LINE_MAX_BYTES - 1) {
		if (poll(&pfd, 1, GRACE_SECONDS * 1000) != 1 ||
			read(fd, &line[n], 1) != 1)
			break;
		if (line[n] == '\n') {
			line[n] = '\0';
			return 0;
		}
		n++;
	}
	line[n] = '\0';
	return -1;
}

static int
request(const struct job *job, int control, unsigned int *ret_port)
{
	char line[LINE_MAX_BYTES];

	if (dprintf(control, "strbench 1 %s size=%zu seconds=%g", job->transport->name,
		    job->size, job->seconds) < 0 ||
		(job->bufsize != 0 &&
			dprintf(control, " bufsize=%zu", job->bufsize) < 0) ||
		(job->device != NULL &&
			dprintf(control, " device=%s", job->device) < 0) ||
		dprintf(control, "\n") < 0)
		return worker_fail("asking the server");
	if (read_line(control, line) == 0 &&
		sscanf(line, "port %u", ret_port) == 1)
		return 0;
	(void)fprintf(stderr, "the server says: %s\n",
		line[0] == '\0' ? "nothing" : line);
	return -1;
}

/* Datagrams have no end: the server says when it has heard of it. */
static int
say_over(const struct net *net, struct end *end, int control)
{
	struct pollfd pfd = {.fd = control, .events = POLLIN};
	uint64_t deadline = bench_now_ns() + ANSWER_NS;

	while (poll(&pfd, 1, 1) == 0) {
		if (bench_now_ns() >= deadline) {
			errno = ETIMEDOUT;
			return worker_fail("the server does not hear the end");
		}
		/* The other side has gone if this fails: it will have said. */
		(void)net->mark(end);
	}
	return 0;
}

static int
send_all(const struct job *job, struct session *session, struct end *end)
{
	struct side *side = &session->sides[0];
	char *buf = malloc(job->size);
	uint64_t messages = 0;

	if (buf == NULL)
		return worker_fail("memory");
	memset(buf, 'x', job->size);
	side_mark(side, 0, 0);
	atomic_store(&side->ready, 1);
	while (atomic_load_explicit(&session->phase, memory_order_relaxed) !=
		PHASE_STOP) {
		if (job->transport->send(end, buf, job->size) !=
			(ssize_t)job->size)
			return worker_fail("sending");
		messages++;
	}
	side_mark(side, messages, 0);
	free(buf);
	return 0;
}

static int
stream_side(const struct job *job, struct session *session)
{
	const struct mark *mark = session->sides[0].marked;
	struct address at = {0}, mine = {0};
	char line[LINE_MAX_BYTES];
	unsigned int port;
	struct end end;
	struct net net;
	int control;

	worker_detail(NULL, NULL);
	if (must_have_net(job, &net) != 0)
		return -1;
	control = call_server(job);
	if (control == -1 || request(job, control, &port) != 0)
		return -1;
	if (name_of(control, getpeername, &at) != 0 ||
		name_of(control, getsockname, &mine) != 0)
		return worker_fail("the control connection");
	set_port(&at, port);
	set_port(&mine, 0);
	if (net.reach(&net, &end, &at, &mine, job->bufsize) != 0 ||
		net.reached(&net, &end) != 0)
		return worker_fail("opening the channel");
	if (send_all(job, session, &end) != 0)
		return -1;
	if (job->transport->datagrams && say_over(&net, &end, control) != 0)
		return -1;
	job->transport->hang_up(&end);
	printf("tx_messages %llu\n", (unsigned long long)mark[1].messages);
	printf("tx_seconds %.6f\n", (double)(mark[1].ns - mark[0].ns) / 1e9);
	for (int i = 0; i < 2; i++) {
		if (read_line(control, line) != 0 ||
			strncmp(line, "rx_", 3) != 0) {
			(void)fprintf(stderr, "the server says: %s\n",
				line[0] == '\0' ? "nothing" : line);
			return -1;
		}
		puts(line);
	}
	return fflush(stdout) == 0 ? 0 : -1;
}

static int
gone(pid_t pid)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) !=
		       0 ||
	       info.si_pid != 0;
}

/* A process of its own sends; this one watches the clock. */
int
remote_stream(const struct job *job)
{
	struct session *session = session_create(0);
	pid_t parent = getpid();
	uint64_t deadline;
	int status;
	pid_t pid;

	if (job->host == NULL || job->port == 0) {
		(void)fputs("no host and port\n", stderr);
		return -1;
	}
	if (session == NULL || (pid = fork()) == -1)
		return worker_fail("fork");
	if (pid == 0) {
		bench_child_bind(parent);
		_exit(stream_side(job, session) == 0 ? 0 : 1);
	}
	deadline = bench_now_ns() + 2 * GRACE_SECONDS * BENCH_NS_PER_S;
	while (!atomic_load(&session->sides[0].ready) && !gone(pid) &&
		bench_now_ns() < deadline)
		bench_sleep_until_ns(bench_now_ns() + TICK_NS);
	if (!gone(pid))
		bench_sleep_until_ns(
			bench_now_ns() + bench_seconds_to_ns(job->seconds));
	atomic_store(&session->phase, PHASE_STOP);
	deadline = bench_now_ns() + GRACE_SECONDS * BENCH_NS_PER_S;
	while (!gone(pid) && bench_now_ns() < deadline)
		bench_sleep_until_ns(bench_now_ns() + TICK_NS);
	if (!gone(pid)) {
		bench_child_kill(pid);
		(void)fputs("no end in time\n", stderr);
		return -1;
	}
	status = bench_child_wait(pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}
