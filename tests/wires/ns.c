/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What the tests of privileged wires have in common. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../conformance/inet/in.h"
#include "ns.h"

void
sh(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (system(line) != 0)
		T_FAIL("%s", line);
}

void
put_file(const char *path, const char *text)
{
	int fd = T_OK(open(path, O_WRONLY));

	T_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	T_OK(close(fd));
}

void
may_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		T_SKIP("%s: %s", path, strerror(errno));
	T_OK(close(fd));
}

void
may_make(const char *what, int family, int type, int proto)
{
	int s = socket(family, type | SOCK_CLOEXEC, proto);

	if (s < 0)
		T_SKIP("no %s: %s", what, strerror(errno));
	T_OK(close(s));
}

/* A network namespace of our own, with what wires are made of. */
void
own_namespace(void)
{
	if (geteuid() != 0)
		T_SKIP("only root makes namespaces and wires");
	if (unshare(CLONE_NEWNET) != 0)
		T_SKIP("no network namespaces: %s", strerror(errno));
	may_make("raw sockets", AF_INET, SOCK_RAW, IPPROTO_RAW);
	may_make("packet sockets", AF_PACKET, SOCK_DGRAM, 0);
}

/* streamsd of this case's domain, which is a child's child of ours or has
 * been adopted: it is in our namespace, and no other's is. */
pid_t
ns_streamsd(void)
{
	char path[300], text[64], mine[64];
	struct dirent *de;
	pid_t pid = 0;
	ssize_t n;
	DIR *d;
	FILE *f;

	n = readlink("/proc/self/ns/net", mine, sizeof(mine) - 1);
	T_GT(n, 0);
	mine[n] = '\0';
	d = opendir("/proc");
	T_NOTNULL(d);
	while (pid == 0 && (de = readdir(d)) != NULL) {
		if (de->d_name[0] < '1' || de->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", de->d_name);
		f = fopen(path, "re");
		if (f == NULL)
			continue;
		if (fgets(text, sizeof(text), f) == NULL)
			text[0] = '\0';
		fclose(f);
		if (strncmp(text, "streamsd", 8) != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/ns/net", de->d_name);
		n = readlink(path, text, sizeof(text) - 1);
		if (n > 0 && (text[n] = '\0', strcmp(text, mine) == 0))
			pid = atoi(de->d_name);
	}
	closedir(d);
	return pid;
}

int
ns_ended(pid_t pid)
{
	struct pollfd pfd = {.events = POLLIN};
	int n;

	pfd.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pfd.fd < 0) {
		T_EQ(errno, ESRCH);
		return 1;
	}
	n = T_OK(poll(&pfd, 1, 0));
	T_OK(close(pfd.fd));
	return n;
}

int
ns_option(int fd, int level, int name, const void *val, unsigned len)
{
	struct {
		struct T_optmgmt_req r;
		struct t_opthdr h;
		unsigned char val[64];
	} m = { { T_OPTMGMT_REQ, (t_scalar_t)(sizeof(m.h) + len), sizeof(m.r),
		T_NEGOTIATE }, { sizeof(m.h) + len, level, name, 0 }, "" };

	memcpy(m.val, val, len);
	in_put(fd, &m, (int)(sizeof(m.r) + sizeof(m.h) + (len + 3) / 4 * 4),
		NULL, 0, 0);
	in_want(fd, T_OPTMGMT_ACK);
	return (int)in.p.optmgmt_ack.MGMT_flags;
}

int
ns_listens(const char *dev, const char *mac)
{
	char line[256];
	int found = 0;
	FILE *f = fopen("/proc/self/net/dev_mcast", "re");

	T_NOTNULL(f);
	while (fgets(line, sizeof(line), f) != NULL)
		found |= strstr(line, dev) != NULL &&
			strstr(line, mac) != NULL;
	T_EQ(fclose(f), 0);
	return found;
}
