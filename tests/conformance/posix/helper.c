/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The program that the cases of the POSIX oracle exec: helper VERB [ARG...].
 * It is linked like the suite that execs it, and knows nothing of STREAMS.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
copy(int from, int to)
{
	char buf[3000];
	ssize_t n, k, off;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		for (off = 0; off < n; off += k) {
			k = write(to, buf + off, (size_t)(n - off));
			if (k <= 0)
				return 3;
		}
	return n == 0 ? 0 : 2;
}

static int
say_yes(void)
{
	while (write(1, "y\n", 2) == 2)
		;
	return 2;
}

static int
is_nonblocking_pipe(int fd)
{
	struct stat st;
	char c;

	if (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode))
		return 2;
	if (!(fcntl(fd, F_GETFL) & O_NONBLOCK))
		return 3;
	return read(fd, &c, 1) == -1 && errno == EAGAIN ? 0 : 4;
}

/* connect to PATH, take one descriptor, and copy from or to it */
static int
take(const char *path, const char *what)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} u;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof(u) };
	int s = socket(AF_UNIX, SOCK_STREAM, 0), fd;
	struct cmsghdr *c;

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	if (s < 0 || connect(s, (struct sockaddr *)&sun, sizeof(sun)) != 0)
		return 2;
	if (recvmsg(s, &m, 0) != 1)
		return 3;
	c = CMSG_FIRSTHDR(&m);
	if (c == NULL || c->cmsg_type != SCM_RIGHTS)
		return 4;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	close(s);
	if (strcmp(what, "write") == 0)
		return write(fd, "from afar", 9) == 9 ? 0 : 5;
	return copy(fd, 1);
}

/* by stdio alone */
static int
upper(FILE *in)
{
	char line[64];

	if (in == NULL)
		return 2;
	while (fgets(line, sizeof(line), in) != NULL) {
		for (char *p = line; *p != '\0'; p++)
			*p = (char)toupper((unsigned char)*p);
		if (fputs(line, stdout) < 0)
			return 3;
	}
	return ferror(in) ? 4 : 0;
}

/* ... standard input by another number: what stands there came by exec */
static int
upper_moved(void)
{
	int null = open("/dev/null", O_RDONLY), fd = dup(0);

	if (dup2(null, 0) != 0 || dup2(fd, 0) != 0)
		return 5;
	return upper(stdin);
}

int
main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	int a = argc > 2 ? atoi(argv[2]) : -1;
	int b = argc > 3 ? atoi(argv[3]) : -1;
	char c;

	if (strcmp(verb, "cat") == 0)
		return copy(0, 1);
	if (strcmp(verb, "yes") == 0)
		return say_yes();
	if (strcmp(verb, "hello") == 0)
		return write(1, "hello", 5) == 5 ? 0 : 2;
	if (strcmp(verb, "upper") == 0)
		return upper(stdin);
	if (strcmp(verb, "upper-moved") == 0)
		return upper_moved();
	if (strcmp(verb, "upper-fdopen") == 0)
		return upper(fdopen(0, "r"));
	if (strcmp(verb, "upper-named") == 0)
		return upper(fopen("/dev/stdin", "r"));
	if (strcmp(verb, "until-eof") == 0)
		return read(0, &c, 1) == 0 ? 0 : 2;
	if (strcmp(verb, "is-nonblocking-pipe") == 0)
		return is_nonblocking_pipe(a);
	if (strcmp(verb, "open-and-closed") == 0)
		return fcntl(a, F_GETFD) == 0 && fcntl(b, F_GETFD) == -1 &&
			errno == EBADF ? 0 : 2;
	if (strcmp(verb, "take") == 0 && argc == 4)
		return take(argv[2], argv[3]);
	fprintf(stderr, "usage: helper VERB [ARG...]\n");
	return 9;
}
