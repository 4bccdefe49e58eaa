/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The calls of the cases, made on the simulated host as lib/streams makes
 * them on the real one.
 *
 * Descriptors of the simulation have numbers that real ones do not reach, so
 * that /dev/null and its like stay what they are.  Bad memory is one range
 * that the simulation takes for it; nothing is mapped there.
 */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NPIPE 8
#define BASE 1000 /* the simulation's numbers begin here */
#define BAD_SIZE 0x200000ul
#define ENOSTR_ 60

int st_sim_skip(const char *why);
void st_sim_begin(struct t *t);
int st_sim_pipe(int fd[2]);
int st_sim_close(int fd);
ssize_t st_sim_read(int fd, void *buf, size_t n);
ssize_t st_sim_write(int fd, const void *buf, size_t n);
ssize_t st_sim_readv(int fd, const void *iov, int n);
ssize_t st_sim_writev(int fd, const void *iov, int n);
int st_sim_putmsg(int fd, const void *ctl, const void *data, int band,
	int flags);
int st_sim_getmsg(int fd, void *ctl, void *data, int *band, int *flags);
int st_sim_ioctl(int fd, unsigned long cmd, unsigned long arg);
int st_sim_setfl(int fd, int set, int flags);
int st_sim_isastream(int fd);
int st_sim_poll(void *p, unsigned long n, int timeout);
void *st_sim_bad_memory(size_t n);
void *st_sim_edge(void);

static struct fx_pipe pipes[NPIPE];
static int npipe;
static char *bad;
static size_t bad_used;

int
st_sim_skip(const char *why)
{
	t_skip("needs %s", why);
	return -1;
}

void
st_sim_begin(struct t *t)
{
	npipe = 0;
	fx_begin(t);
	bad = mmap(NULL, BAD_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	T_NE((void *)bad, MAP_FAILED);
	bad += 65536;
	bad_used = 65536;
	sim_bad(bad, BAD_SIZE - 65536);
}

void *
st_sim_edge(void)
{
	return bad;
}

void *
st_sim_bad_memory(size_t n)
{
	void *p = bad + bad_used;

	bad_used += n;
	T_LT(bad_used, BAD_SIZE - 65536);
	return p;
}

static long
ret(long r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

int
st_sim_pipe(int fd[2])
{
	struct fx_pipe *p = &pipes[npipe];
	int copy[2];

	T_LT(npipe, NPIPE);
	if (host_copyout(copy, fd, 0) != 0 || (char *)fd >= bad)
		if ((char *)fd >= bad && (char *)fd < bad + BAD_SIZE)
			return (int)ret(-EFAULT);
	npipe++;
	fx_pipe(p);
	for (int i = 0; i < 2; i++) {
		(void)str_or(str_file_flags(&p->sd[i]->file), O_RDWR);
		fd[i] = p->fd[i];
	}
	return 0;
}

/* The pipe and end that @fd is; NULL with EBADF or @other in errno. */
static struct fx_pipe *
find(int fd, int *end, int other)
{
	for (int i = 0; i < npipe; i++)
		for (*end = 0; *end < 2; ++*end)
			if (pipes[i].fd[*end] == fd && sim_held(fd)) {
				pipes[i].hc[*end].fflags = (int)str_load(
					str_file_flags(
						&pipes[i].sd[*end]->file));
				return &pipes[i];
			}
	errno = fd < 0 || fd >= BASE || fcntl(fd, F_GETFD) < 0 ? EBADF : other;
	return NULL;
}

int
st_sim_close(int fd)
{
	struct fx_pipe *p;
	int end;

	if (fd >= 0 && fd < BASE)
		return close(fd);
	p = find(fd, &end, EBADF);
	if (p == NULL)
		return -1;
	fx_close(p, end);
	return 0;
}

ssize_t
st_sim_read(int fd, void *buf, size_t n)
{
	struct fx_pipe *p;
	int end;

	if (fd >= 0 && fd < BASE)
		return read(fd, buf, n);
	p = find(fd, &end, EBADF);
	return p == NULL ? -1 : ret(fx_read(p, end, buf, n));
}

ssize_t
st_sim_write(int fd, const void *buf, size_t n)
{
	struct fx_pipe *p;
	int end;

	if (fd >= 0 && fd < BASE)
		return write(fd, buf, n);
	p = find(fd, &end, EBADF);
	return p == NULL ? -1 : ret(fx_write(p, end, buf, n));
}

/* Begin a call as the fixture does; it ends with host_leave(). */
static struct str_head *
enter(struct fx_pipe *p, int end, struct host_call *hc)
{
	struct str_head *sd = p->sd[end];

	*hc = p->hc[end];
	T_EQ(host_enter(hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(&sd->file),
		str_file_gen(&sd->file)));
	return sd;
}

/* What the library looks at before it makes the call. */
static int
vector_error(const struct str_iov *iov, int n)
{
	struct str_iov v;
	size_t total = 0;

	if (n < 0 || n > 1024)
		return -EINVAL;
	for (int i = 0; i < n; i++) {
		if (host_copyin(&iov[i], &v, sizeof(v)) != 0)
			return -EFAULT;
		if (v.len > (size_t)SSIZE_MAX - total)
			return -EINVAL;
		total += v.len;
	}
	return 0;
}

ssize_t
st_sim_readv(int fd, const void *iov, int n)
{
	struct host_call hc;
	struct fx_pipe *p;
	int end;
	long r;

	p = find(fd, &end, EBADF);
	if (p == NULL)
		return -1;
	if (vector_error(iov, n) != 0)
		return ret(vector_error(iov, n));
	r = str_head_readv(enter(p, end, &hc), &hc, iov, n);
	host_leave();
	return ret(r);
}

ssize_t
st_sim_writev(int fd, const void *iov, int n)
{
	struct host_call hc;
	struct fx_pipe *p;
	int end;
	long r;

	p = find(fd, &end, EBADF);
	if (p == NULL)
		return -1;
	if (vector_error(iov, n) != 0)
		return ret(vector_error(iov, n));
	r = str_head_writev(enter(p, end, &hc), &hc, iov, n);
	host_leave();
	return ret(r);
}

int
st_sim_putmsg(int fd, const void *ctl, const void *data, int band, int flags)
{
	struct host_call hc;
	struct fx_pipe *p;
	int end;
	long r;

	p = find(fd, &end, ENOSTR_);
	if (p == NULL)
		return -1;
	r = str_head_putmsg(enter(p, end, &hc), &hc, ctl, data, band, flags);
	host_leave();
	return (int)ret(r);
}

int
st_sim_getmsg(int fd, void *ctl, void *data, int *band, int *flags)
{
	struct host_call hc;
	struct fx_pipe *p;
	int end;
	long r;

	p = find(fd, &end, ENOSTR_);
	if (p == NULL)
		return -1;
	r = str_head_getmsg(enter(p, end, &hc), &hc, ctl, data, band, flags);
	host_leave();
	return (int)ret(r);
}

int
st_sim_ioctl(int fd, unsigned long cmd, unsigned long arg)
{
	struct fx_pipe *p;
	int end;

	if (fd >= 0 && fd < BASE)
		return ioctl(fd, cmd, arg);
	p = find(fd, &end, ENOTTY);
	return p == NULL ? -1 : (int)ret(fx_ioctl(p, end, cmd, arg));
}

int
st_sim_setfl(int fd, int set, int flags)
{
	struct fx_pipe *p;
	str_a32 *f;
	int end;

	p = find(fd, &end, EBADF);
	if (p == NULL)
		return -1;
	f = str_file_flags(&p->sd[end]->file);
	if (set)
		str_store(f, ((uint32_t)flags & O_NONBLOCK) | O_RDWR);
	return set ? 0 : (int)str_load(f);
}

int
st_sim_isastream(int fd)
{
	int end;

	errno = 0;
	if (find(fd, &end, 0) != NULL)
		return 1;
	return errno == 0 ? 0 : -1;
}

/* Equal to struct pollfd. */
struct pfd {
	int fd;
	short events, revents;
};

int
st_sim_poll(void *arg, unsigned long n, int timeout)
{
	struct pfd *pf = arg;
	int ready = 0;

	for (unsigned long i = 0; i < n; i++) {
		struct host_call hc;
		struct fx_pipe *p;
		struct str_head *sd;
		int end;

		if (pf[i].fd < BASE)
			return st_sim_skip("real descriptors");
		p = find(pf[i].fd, &end, EBADF);
		pf[i].revents = STR_POLLNVAL;
		if (p != NULL) {
			sd = enter(p, end, &hc);
			(void)str_sched_run_head(sd, &hc);
			pf[i].revents = (short)(str_head_events(sd) &
				((unsigned short)pf[i].events | STR_POLLERR |
					STR_POLLHUP | STR_POLLNVAL));
			host_leave();
		}
		ready += pf[i].revents != 0;
	}
	if (ready == 0 && timeout != 0)
		return st_sim_skip("somebody else while it polls");
	return ready;
}
