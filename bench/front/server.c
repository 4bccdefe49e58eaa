/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * strbench server: receives what strbench range sends, from another host too.
 *
 * For each control connection there is a child; it reads one line, the
 * request, and becomes the worker that serves it, with the connection as its
 * standard input, output and error.  What is in the line is looked at word by
 * word before anything is done with it.
 *
 * Who listens.  By default this host only hears itself: to be asked by others
 * takes -L.  There is no password: each host that can connect can make this one
 * receive, for as long as a test lasts.
 */
#include "strbench.h"

#include <errno.h>
#include <getopt.h>
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

#define REQUEST_MAX    512
#define REQUEST_WORDS  8
#define REQUEST_MS     5000
#define CHILDREN_MAX   64
#define REQUEST_PREFIX "strbench 1 "

static const struct {
	const char *name;
	enum program program;
} served[] = {
	{"tcp-sockets", PROGRAM_NATIVE},
	{"udp-sockets", PROGRAM_NATIVE},
	{"tcp-xtios", PROGRAM_XTI},
	{"udp-xtios", PROGRAM_XTI},
	{"udp-xti", PROGRAM_XTI},
};

static const char *const known_settings[] = {
	"size=", "seconds=", "bufsize=", "device=", NULL};

static int
port_number(int fd, long *ret_port)
{
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);

	if (getsockname(fd, (struct sockaddr *)&name, &len) != 0)
		return -1;
	*ret_port = ntohs(name.ss_family == AF_INET6
				  ? ((struct sockaddr_in6 *)&name)->sin6_port
				  : ((struct sockaddr_in *)&name)->sin_port);
	return 0;
}

int
server_listen(const char *host, const char *port, long *ret_port)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE,
	};
	struct addrinfo *found;
	int one = 1, error, fd;

	error = getaddrinfo(host, port, &hints, &found);
	if (error != 0) {
		(void)fprintf(stderr, "strbench: %s: %s\n", host,
			gai_strerror(error));
		return -1;
	}
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1 ||
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) !=
			0 ||
		bind(fd, found->ai_addr, found->ai_addrlen) != 0 ||
		listen(fd, 16) != 0 || port_number(fd, ret_port) != 0) {
		(void)complain(host, errno);
		if (fd != -1)
			(void)close(fd);
		fd = -1;
	}
	freeaddrinfo(found);
	return fd;
}

/* The request without its newline; -1 when none comes in time. */
static int
read_request(int fd, char *line)
{
	uint64_t deadline = bench_now_ns() + REQUEST_MS * 1000000ull;
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	size_t n = 0;

	while (n < REQUEST_MAX - 1) {
		uint64_t now = bench_now_ns();

		if (now >= deadline ||
			poll(&pfd, 1, (int)((deadline - now) / 1000000) + 1) !=
				1 ||
			read(fd, &line[n], 1) != 1)
			return -1;
		if (line[n] == '\n') {
			line[n] = '\0';
			return 0;
		}
		n++;
	}
	return -1;
}

STR_NORETURN static void
refuse(int fd, const char *reason)
{
	(void)dprintf(fd, "%s\n", reason);
	_exit(1);
}

static int
setting_known(const char *word)
{
	for (size_t i = 0; known_settings[i] != NULL; i++) {
		if (strncmp(word, known_settings[i],
			    strlen(known_settings[i])) == 0)
			return 1;
	}
	return 0;
}

STR_NORETURN static void
serve(int fd)
{
	const char *argv[REQUEST_WORDS + 4] = {NULL, "serve"};
	char line[REQUEST_MAX];
	char *rest = line + strlen(REQUEST_PREFIX);
	char *word;
	int argc = 2;

	if (read_request(fd, line) != 0)
		refuse(fd, "no request");
	if (strncmp(line, REQUEST_PREFIX, strlen(REQUEST_PREFIX)) != 0)
		refuse(fd, "this is strbench server, protocol 1");
	while ((word = strsep(&rest, " ")) != NULL) {
		if (argc == REQUEST_WORDS + 2)
			refuse(fd, "too long a request");
		if (argc > 2 && !setting_known(word))
			refuse(fd, "bad request");
		argv[argc++] = word;
	}
	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++) {
		if (strcmp(served[i].name, argv[2]) == 0)
			argv[0] = program_path(served[i].program);
		else
			continue;
		if (argv[0] == NULL)
			refuse(fd, "not installed");
	}
	if (argv[0] == NULL)
		refuse(fd, "no such transport");
	process_own_domain();
	if (dup2(fd, STDIN_FILENO) == -1 || dup2(fd, STDOUT_FILENO) == -1 ||
		dup2(fd, STDERR_FILENO) == -1)
		refuse(fd, strerror(errno));
	(void)execv(argv[0], (char *const *)(uintptr_t)argv);
	refuse(STDOUT_FILENO, strerror(errno));
}

void
server_loop(int fd)
{
	pid_t parent = getpid();
	int children = 0;

	for (;;) {
		int control = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		pid_t pid;

		while (children > 0 && waitpid(-1, NULL, WNOHANG) > 0)
			children--;
		if (control == -1) {
			if (errno == EINTR || errno == ECONNABORTED)
				continue;
			(void)complain("accept", errno);
			exit(1);
		}
		pid = children < CHILDREN_MAX ? fork() : -1;
		if (pid == 0) {
			bench_child_bind(parent);
			serve(control);
		}
		if (pid == -1)
			(void)dprintf(control, "too much to do\n");
		else
			children++;
		(void)close(control);
	}
}

int
server_main(int argc, char **argv)
{
	const char *host = "127.0.0.1";
	char port[16];
	long number;
	int option, fd;

	(void)snprintf(port, sizeof(port), "%d", SERVER_PORT);
	opterr = 0;
	while ((option = getopt(argc, argv, "L:p:")) != -1) {
		switch (option) {
		case 'L':
			host = optarg;
			break;
		case 'p':
			number = option_number("-p", optarg, 0, 65535);
			(void)snprintf(port, sizeof(port), "%ld", number);
			break;
		default:
			usage_error("server: unknown option, or value missing");
		}
	}
	if (optind < argc)
		usage_error("'%s' is not an option", argv[optind]);
	fd = server_listen(host, port, &number);
	if (fd == -1)
		return 1;
	printf("strbench: listening on %s port %ld\n", host, number);
	if (fflush(stdout) != 0)
		return 1;
	server_loop(fd);
}
