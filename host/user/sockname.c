/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Names in the socket directory, and the calls with such a name.
 *
 * Another root.  A process may have changed its root or its mounts after it
 * opened the directory.  Then the path does not exist, or leads to another
 * directory.  The kernel takes an address by path only, so a helper process
 * that shares our memory and descriptors makes the directory its working
 * directory and does the call with the bare name.
 */
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "sockdir.h"

#define BIND_TRIES 64
#define STACK_SIZE (16u << 10)

static struct host_shared *
shared(void)
{
	return host_shared(host_domain);
}

/* ----------------------------------------------------------------- names */

void
host_sockdir_text(uint64_t v, char text[HOST_SOCKDIR_DIGITS + 1])
{
	static const char digit[] = "0123456789abcdefghijklmnopqrstuv";
	char buf[HOST_SOCKDIR_DIGITS];
	int n = 0, i = 0;

	do {
		buf[n++] = digit[v & 31];
		v >>= 5;
	} while (v != 0);
	while (n > 0)
		text[i++] = buf[--n];
	text[i] = '\0';
}

static uint64_t
text_number(const char *p, size_t len)
{
	uint64_t v = 0;

	if (len == 0 || len > HOST_SOCKDIR_DIGITS)
		return 0;
	for (size_t i = 0; i < len; i++) {
		char c = p[i];

		if (c >= '0' && c <= '9')
			v = v << 5 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'v')
			v = v << 5 | (uint64_t)(c - 'a' + 10);
		else
			return 0;
	}
	return v;
}

/* host_sockdir_number - the number of a socket's address; 0: has none. */
uint64_t
host_sockdir_number(const struct sockaddr_un *sun, uint32_t len)
{
	size_t n, at;

	if (len <= offsetof(struct sockaddr_un, sun_path) ||
	    sun->sun_path[0] == '\0')
		return 0;
	n = len - offsetof(struct sockaddr_un, sun_path);
	n = strnlen(sun->sun_path, STR_MIN(n, sizeof sun->sun_path));
	for (at = n; at > 0 && sun->sun_path[at - 1] != '/'; at--)
		;
	return text_number(sun->sun_path + at, n - at);
}

/* The address of @name in directory @dir; of the bare name if @dir is empty. */
uint32_t
host_sockdir_address(struct sockaddr_un *sun, const char *dir,
	const char *name)
{
	size_t n = strlen(dir), len = strlen(name) + 1;

	sun->sun_family = AF_UNIX;
	if (n + 1 + len > sizeof sun->sun_path)
		return 0; /* the kernel refuses that */
	memcpy(sun->sun_path, dir, n);
	if (n != 0)
		sun->sun_path[n++] = '/';
	memcpy(sun->sun_path + n, name, len);
	return (uint32_t)(offsetof(struct sockaddr_un, sun_path) + n + len);
}

static int
ready(void)
{
	if (str_likely(str_load_acq(&host_priv_page->sockdir_up) != 0))
		return 0;
	return host_sockdir_ready(false);
}

enum op { OP_BIND, OP_CONNECT, OP_SEND };

static long
call(enum op op, int fd, struct sockaddr_un *sun, socklen_t len,
	struct msghdr *m)
{
	switch (op) {
	case OP_BIND:
		return sys_call3(SYS_bind, fd, sun, len);
	case OP_CONNECT:
		return sys_call3(SYS_connect, fd, sun, len);
	case OP_SEND:
	default:
		m->msg_name = sun;
		m->msg_namelen = len;
		return sys_call3(SYS_sendmsg, fd, m,
			MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}

struct job {
	enum op op;
	int dir, fd;
	struct sockaddr_un *sun;
	socklen_t len;
	struct msghdr *m;
	long ret;
};

/* The kernel allows a process to send only its own pid. */
static void
sender_is_me(struct msghdr *m)
{
	struct cmsghdr *h = m != NULL ? CMSG_FIRSTHDR(m) : NULL;
	int pid = sys_getpid();

	if (h != NULL && h->cmsg_level == SOL_SOCKET &&
	    h->cmsg_type == SCM_CREDENTIALS)
		memcpy(CMSG_DATA(h) + offsetof(struct ucred, pid), &pid,
			sizeof pid);
}

#if defined(__SANITIZE_THREAD__)
int __clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);
#define clone __clone
#endif

/* The helper process, in our memory, with its own working directory. */
__attribute__((no_sanitize_address, no_sanitize_thread)) /* lint-ok: here only */
static int
job_main(void *arg)
{
	struct job *j = arg;

	j->ret = sys_call1(SYS_fchdir, j->dir);
	if (j->ret != 0)
		return 0;
	sender_is_me(j->m);
	j->ret = call(j->op, j->fd, j->sun, j->len, j->m);
	return 0;
}

static long
by_helper(enum op op, int fd, const char *name, struct msghdr *m)
{
	struct sockaddr_un sun;
	struct job j = { .op = op, .dir = host_sockdir_fd(), .fd = fd, .sun = &sun,
		.m = m, .ret = -EAGAIN };
	int pid, status, err = errno;
	uint64_t old;
	long r;

	if (j.dir < 0 && (host_sockdir_ready(true) != 0 || (j.dir = host_sockdir_fd()) < 0))
		return -EACCES;
	j.len = host_sockdir_address(&sun, "", name);
	r = sys_call6(SYS_mmap, NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r < 0 && r > -4096)
		return -EAGAIN;
	host_sig_block(&old);
	pid = clone(job_main, (char *)r + STACK_SIZE,
		CLONE_VM | CLONE_VFORK | CLONE_FILES, &j);
	if (pid >= 0)
		(void)sys_call4(SYS_wait4, pid, &status, __WALL, NULL);
	host_sig_restore(&old);
	(void)sys_call2(SYS_munmap, r, STACK_SIZE);
	errno = err;
	return j.ret;
}

/* Does @r mean that a name, or the path to it, was not found? */
static bool
not_found(long r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -EACCES || r == -ELOOP ||
		r == -EPERM;
}

static long
reach(enum op op, int fd, uint64_t number, struct msghdr *m, bool sure)
{
	struct sockaddr_un sun;
	char name[HOST_SOCKDIR_DIGITS + 1];
	socklen_t len;
	long r;

	host_sockdir_text(number, name);
	len = host_sockdir_address(&sun, shared()->dir, name);
	if (sure && ready() != 0)
		return -EACCES;
	if (!sure || host_sockdir_visible()) {
		r = call(op, fd, &sun, len, m);
		if (!not_found(r))
			return r;
		if (ready() != 0 || host_sockdir_visible())
			return r;
	}
	return by_helper(op, fd, name, m);
}

/*
 * host_sockdir_send - send @m from @fd to the socket called @number
 * @sure: the message has a content, and is sent only to the checked directory.
 * Return: bytes, or minus an errno; -ENOENT: that socket is gone.
 */
long
host_sockdir_send(int fd, uint64_t number, struct msghdr *m, bool sure)
{
	return reach(OP_SEND, fd, number, m, sure);
}

/*
 * host_sockdir_connect - connect @fd, to find out whether @number is bound, or
 * @sure: to send messages with a content.
 */
long
host_sockdir_connect(int fd, uint64_t number, bool sure)
{
	return reach(OP_CONNECT, fd, number, NULL, sure);
}

/* Bind one name. -EADDRINUSE: it is in use; -ENOENT: not in our directory. */
static long
bind_one(int fd, const char *name)
{
	struct sockaddr_un sun;
	socklen_t len = host_sockdir_address(&sun, shared()->dir, name);
	int dir = host_sockdir_fd();
	long r;

	if (dir < 0 && (host_sockdir_ready(true) != 0 || (dir = host_sockdir_fd()) < 0))
		return -EACCES;
	r = call(OP_BIND, fd, &sun, len, NULL);
	if (not_found(r) && !host_sockdir_visible())
		r = by_helper(OP_BIND, fd, name, NULL);
	STR_CRASH_POINT("sockdir:bound");
	/*
	 * independent of the umask; a socket bound elsewhere is not found here
	 */
	if (r == 0)
		r = sys_call3(SYS_fchmodat, dir, name, 0600);
	return r == -ENOENT ? -EACCES : r;
}

/* host_sockdir_bind - give @fd a new name.  Return: 0, or an errno. */
int
host_sockdir_bind(int fd, uint64_t *ret_number)
{
	char name[HOST_SOCKDIR_DIGITS + 1];
	int err = ready();
	long r = -EADDRINUSE;

	for (int i = 0; err == 0 && i < BIND_TRIES; i++) {
		*ret_number = str_add(&shared()->sock_seq, 1ull) + 1;
		host_sockdir_text(*ret_number, name);
		r = bind_one(fd, name);
		if (r != -EADDRINUSE)
			break;
	}
	if (r == -ENOSPC || r == -EDQUOT)
		err = host_sockdir_full((int)-r);
	return err != 0 ? err : (int)-r;
}

/* host_sockdir_unlink - the socket called @number has no holder any more. */
void
host_sockdir_unlink(uint64_t number)
{
	struct sockaddr_un sun;
	char name[HOST_SOCKDIR_DIGITS + 1];
	int dir;

	if (number == 0 || str_load(&shared()->dir_made) == 0)
		return;
	host_sockdir_text(number, name);
	dir = host_sockdir_fd();
	(void)host_sockdir_address(&sun, dir >= 0 ? "" : shared()->dir, name);
	(void)sys_call3(SYS_unlinkat, dir >= 0 ? dir : AT_FDCWD, sun.sun_path,
		0);
}

