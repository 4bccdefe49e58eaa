/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sockets of the kernel, which members of the domain use in common.
 *
 * Objects.  A socket has an id in the domain (core/sock).  The table contains
 * this process's descriptor of each socket.  These are hidden descriptors, like
 * those of fd.c; a forked child inherits them. streamsd has one of every
 * socket, so that the socket outlives its maker.
 *
 * Life.  The maker of a socket sends a duplicate to streamsd.  A process
 * without a descriptor of a socket, after an exec, or because it received the
 * Stream, gets one from streamsd: keep.c.  A process that closes a socket
 * informs streamsd, and raises a counter in the domain.  All others compare the
 * counter whenever they use a socket, or open a device, and then close their
 * descriptors of dead sockets.  An idle process keeps them; so the closer ends
 * the connection first.
 *
 * Events.  Each process watches its sockets by its own epoll instance,
 * edge-triggered.  A forked child makes a new one.
 *
 * Crash.  If streamsd dies, the processes with sockets pass them to the next
 * one: keep.c.  The kernel closes the descriptors of a killed process.
 *
 * Locks.  An entry of the table is changed by compare-and-swap of one word; the
 * epoll instance is made and changed under `sock'.
 */
#include <linux/if.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "sock_impl.h"
#undef FNDELAY
#undef FNONBLOCK
#include <str/ksock.h>

#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

#define MS 1000000ull
#define SHUT_NS (100 * MS) /* wait for streamsd to close its descriptor */
#define FD_BASE 1000

struct place host_sock_table[HOST_NSOCK] STR_LARGE;
str_a32 host_sock_high;
static str_a32 seen; /* sock_closed at the last search for dead ones */
static str_a32 watch_gen;
static str_a32 nwatched;

/* Bit map of our numbers; greater ones are searched. */
#define FD_BITS 65536u
str_a64 host_sock_fds[FD_BITS / 64] STR_LARGE;
static str_a32 far; /* there are greater ones */

static struct host_shared *
shared(void)
{
	return host_shared(host_domain);
}

/* ----------------------------------------------------------------- numbers */

static void
mark(int fd, bool on)
{
	uint64_t bit = 1ull << ((unsigned)fd % 64);

	if ((unsigned)fd >= FD_BITS) {
		str_store(&far, 1u);
		return;
	}
	if (on)
		(void)str_or(&host_sock_fds[(unsigned)fd / 64], bit);
	else
		(void)str_and(&host_sock_fds[(unsigned)fd / 64], ~bit);
}

static int
find_from(int fd, bool exact)
{
	uint32_t n = str_load(&host_sock_high);
	int low = -1;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t w = str_load(&host_sock_table[i].word);
		int have = w != 0 ? (int)(uint32_t)w - 1 : -1;

		if (have >= fd && (!exact || have == fd) &&
		    (low < 0 || have < low))
			low = have;
	}
	return low;
}

bool
host_sock_is_ours(int fd)
{
	if (str_likely(str_load(&host_sock_high) == 0) || fd < 0)
		return false;
	if ((unsigned)fd < FD_BITS)
		return (str_load(&host_sock_fds[(unsigned)fd / 64]) >>
			       ((unsigned)fd % 64)) & 1;
	return str_load(&far) != 0 && find_from(fd, true) >= 0;
}

int
host_sock_hidden_from(int fd)
{
	return str_load(&host_sock_high) == 0 ? -1 : find_from(fd, false);
}

/* Move @fd to a high number, which no program expects to be free. */
static int
raise_fd(int fd)
{
	struct rlimit rl = { 0, 0 };
	int high_fd;

	if (fd >= FD_BASE || host_is_daemon)
		return fd;
	high_fd = sys_fcntl(fd, F_DUPFD_CLOEXEC, FD_BASE);
	if (high_fd < 0) {
		(void)sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &rl);
		if ((int)(rl.rlim_cur / 2) > fd)
			high_fd = sys_fcntl(fd, F_DUPFD_CLOEXEC,
				(long)(rl.rlim_cur / 2));
	}
	if (high_fd < 0)
		return fd;
	(void)sys_close(fd);
	return high_fd;
}

/* ------------------------------------------------------------------- table */

static void
unwatch(struct place *p, int fd)
{
	struct epoll_event ev = { 0 };
	uint32_t v = str_xchg(&p->watched, 0u);

	if (v == 0 || v >> 8 != str_load(&watch_gen))
		return;
	(void)sys_call4(SYS_epoll_ctl, host_fd_get(HOST_FD_SOCKS),
		EPOLL_CTL_DEL, fd, &ev);
	(void)str_sub(&nwatched, 1u);
}

static void
let_go(struct place *p, int fd)
{
	unwatch(p, fd);
	mark(fd, false);
	(void)sys_close(fd);
}

void
host_sock_drop_word(struct place *p, uint64_t w)
{
	/* a number is released only when no lookup finds it any more */
	if (w != 0 && str_cas(&p->word, w, 0ull))
		let_go(p, (int)(uint32_t)w - 1);
}

void
host_sock_forget(struct place *p, uint64_t w)
{
	str_store(&p->watched, 0u);
	if (w != 0 && str_cas(&p->word, w, 0ull))
		mark((int)(uint32_t)w - 1, false);
}

uint64_t
host_sock_cookie(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof cookie;
	struct stat st;

	if (sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_COOKIE, &cookie,
		&len) == 0)
		return cookie;
	/* a device */
	if (sys_call2(SYS_fstat, fd, &st) != 0)
		return 0;
	return 1ull << 63 | ((uint64_t)st.st_dev << 32 ^ st.st_ino);
}

int
host_sock_install(uint64_t id, int fd, uint64_t cookie)
{
	struct place *p = place_of(id);
	uint32_t n = str_load(&host_sock_high);
	uint64_t w;

	fd = raise_fd(fd);
	mark(fd, true);
	while (n < index_of(id) + 1 &&
		!str_cas(&host_sock_high, n, index_of(id) + 1))
		n = str_load(&host_sock_high);
	for (;;) {
		w = str_load_acq(&p->word);
		if (fd_in(w, id) >= 0) {
			/* another thread was faster */
			mark(fd, false);
			(void)sys_close(fd);
			return fd_in(w, id);
		}
		if (w != 0) {
			host_sock_drop_word(p, w);
			continue;
		}
		str_store(&p->cookie, cookie);
		str_store(&p->sent, 0u);
		str_store(&p->watched, 0u);
		if (str_cas(&p->word, 0ull, word_of(id, fd)))
			return fd;
	}
}

STR_NOINLINE void
host_sock_sweep(void)
{
	uint32_t n = str_load(&host_sock_high);

	if (str_load_acq(&shared()->sock_closed) == str_load(&seen))
		return;
	str_store(&seen, str_load_acq(&shared()->sock_closed));
	for (uint32_t i = 0; i < n; i++) {
		uint64_t w = str_load(&host_sock_table[i].word);

		if (w != 0 && !str_sock_live((w >> 32) << 32 | i))
			host_sock_drop_word(&host_sock_table[i], w);
	}
}

STR_INLINE int
fd_of(uint64_t id)
{
	struct place *p = place_of(id);
	int fd;

	if (str_unlikely(str_load_acq(&shared()->sock_closed) !=
		str_load(&seen)))
		host_sock_sweep();
	fd = fd_in(str_load_acq(&p->word), id);
	if (str_unlikely(fd < 0))
		return host_sock_fetch(id);
	if (str_unlikely(host_sock_owes()))
		host_sock_pass_now();
	return fd;
}

STR_HOT int
host_sock_fd(uint64_t id)
{
	return fd_of(id);
}

bool
host_sock_cut_off(uint64_t id)
{
	return fd_in(str_load_acq(&place_of(id)->word), id) < 0 &&
		host_daemon() != 0 && str_sock_live(id);
}

/* -------------------------------------------------------- making, closing */

int
host_sock_new(int family, int type, int proto)
{
	int fd = (int)sys_call3(SYS_socket, family,
		type | SOCK_NONBLOCK | SOCK_CLOEXEC, proto);

	return fd >= 0 ? raise_fd(fd) : fd;
}

int
host_sock_source(const void *dst, uint32_t dstlen, void *src,
	uint32_t *srclen)
{
	const struct sockaddr *sa = dst;
	long fd, r;

	fd = sys_call3(SYS_socket, sa->sa_family,
		SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return (int)fd;
	r = sys_call3(SYS_connect, fd, dst, dstlen);
	if (r == 0)
		r = sys_call3(SYS_getsockname, fd, src, srclen);
	(void)sys_close((int)fd);
	return (int)r;
}

int
host_sock_tun(char *name)
{
	struct ifreq ifr;
	long fd, r;

	memset(&ifr, 0, sizeof ifr);
	memcpy(ifr.ifr_name, name, sizeof ifr.ifr_name - 1);
	ifr.ifr_flags = IFF_TUN | IFF_NO_PI;
	fd = sys_call4(SYS_openat, AT_FDCWD, "/dev/net/tun",
		O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return (int)fd;
	r = sys_call3(SYS_ioctl, fd, TUNSETIFF, &ifr);
	if (r < 0) {
		(void)sys_close((int)fd);
		return (int)r;
	}
	memcpy(name, ifr.ifr_name, sizeof ifr.ifr_name);
	return raise_fd((int)fd);
}

int
host_sock_adopt(uint64_t id, int fd)
{
	fd = host_sock_install(id, fd, host_sock_cookie(fd));
	STR_CRASH_POINT("sock:adopted");
	host_sock_pass_new(id, fd);
	return 0;
}

void
host_sock_discard(int fd)
{
	(void)sys_close(fd);
}

/*
 * Other processes may keep a descriptor for a long time: end the connection as
 * a close of the last descriptor would.
 */
void
host_sock_shut(uint64_t id, bool abort)
{
	struct linger lg = { 1, 0 };
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = host_sock_fd(id);

	if (fd < 0)
		return;
	if (!abort) {
		(void)sys_call2(SYS_shutdown, fd, SHUT_RDWR);
		return;
	}
	(void)sys_call5(SYS_setsockopt, fd, SOL_SOCKET, SO_LINGER, &lg,
		sizeof lg);
	(void)sys_call3(SYS_connect, fd, &none, sizeof none);
}

void
host_sock_gone(uint64_t id, bool wait)
{
	uint64_t end, epoch;
	str_a32 *word = str_sock_word(id);
	uint32_t v;

	host_sock_drop(id);
	(void)str_add(&shared()->sock_closed, 1u);
	if (host_is_daemon) {
		host_sock_shut_word(id);
		return;
	}
	if (!wait && host_sock_keeper_sweeps())
		return;
	if (host_sock_tell_gone(id, wait, &epoch) != 0 || !wait || word == NULL)
		return;
	end = host_now() + SHUT_NS;
	while ((int32_t)((v = str_load_acq(word)) - (uint32_t)(id >> 32)) < 0 &&
		host_now() < end &&
		str_load(&shared()->sock_epoch) == epoch)
		(void)host_wait(NULL, word, v, 10 * MS);
}

void
host_sock_drop(uint64_t id)
{
	struct place *p = place_of(id);
	uint64_t w = str_load_acq(&p->word);

	if (fd_in(w, id) >= 0)
		host_sock_drop_word(p, w);
	if (host_is_daemon)
		host_sock_keeps(id, false);
}

void
host_sock_forked(void)
{
	/* the parent's instance, by number only */
	host_fd_drop(HOST_FD_SOCKS);
	(void)str_add(&watch_gen, 1u);
	str_store(&nwatched, 0u);
}

void
host_sock_move(int fd)
{
	uint32_t n = str_load(&host_sock_high);

	for (uint32_t i = 0; i < n; i++) {
		struct place *p = &host_sock_table[i];
		uint64_t w = str_load(&p->word);
		int to;

		if (w == 0 || (int)(uint32_t)w - 1 != fd)
			continue;
		unwatch(p, fd); /* sleepers start again */
		to = sys_fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
		if (to < 0)
			to = sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
		mark(fd, false);
		if (to >= 0)
			mark(to, true);
		/* without one, it is fetched when needed */
		str_store_rel(&p->word, to < 0 ? 0ull :
			(w >> 32) << 32 | ((uint32_t)to + 1));
		return;
	}
}

/* -------------------------------------------------------------------- news */

static int
news_make(void)
{
	int fd = (int)sys_call1(SYS_epoll_create1, EPOLL_CLOEXEC);

	if (fd < 0)
		return -1;
	(void)str_add(&watch_gen, 1u);
	str_store(&nwatched, 0u);
	return host_fd_hide(HOST_FD_SOCKS, fd, true);
}

static uint32_t
epoll_bits(uint32_t want)
{
	uint32_t ev = (uint32_t)EPOLLET;

	if (want & HOST_C_IN)
		ev |= EPOLLIN | EPOLLPRI | EPOLLRDHUP;
	if (want & HOST_C_OUT)
		ev |= EPOLLOUT;
	return ev;
}

static int
watch_locked(struct place *p, uint64_t id, int fd, uint32_t want)
{
	struct epoll_event ev = { .events = epoll_bits(want) };
	int news = host_fd_get(HOST_FD_SOCKS);
	uint32_t was = str_load(&p->watched);
	long r;

	if (news < 0)
		news = news_make();
	if (news < 0)
		return EMFILE;
	ev.data.u64 = id;
	r = sys_call4(SYS_epoll_ctl, news, EPOLL_CTL_ADD, fd, &ev);
	if (r == -EEXIST)
		r = sys_call4(SYS_epoll_ctl, news, EPOLL_CTL_MOD, fd, &ev);
	if (r == -EBADF || r == -EINVAL) {
		/* the program has closed it without our knowledge */
		news = news_make();
		was = 0;
		r = news < 0 ? -EMFILE : sys_call4(SYS_epoll_ctl, news,
			EPOLL_CTL_ADD, fd, &ev);
	}
	if (r != 0)
		return (int)-r;
	if (was == 0 || was >> 8 != str_load(&watch_gen))
		(void)str_add(&nwatched, 1u);
	str_store(&p->watched, str_load(&watch_gen) << 8 | want);
	return 0;
}

int
host_sock_watch(uint64_t id, uint32_t want)
{
	struct place *p = place_of(id);
	struct host_priv *pv = host_priv_page;
	int fd, err = 0;
	uint64_t old;

	if (want == 0) {
		fd = fd_in(str_load_acq(&p->word), id);
		if (fd >= 0)
			unwatch(p, fd);
		return 0;
	}
	fd = host_sock_fd(id);
	if (fd < 0)
		return -fd;
	if (str_load(&p->watched) == (str_load(&watch_gen) << 8 | want))
		return 0;
	host_sig_block(&old);
	host_plock_lock(&pv->sock);
	if (str_load(&p->watched) != (str_load(&watch_gen) << 8 | want))
		err = watch_locked(p, id, fd, want);
	host_plock_unlock(&pv->sock);
	host_sig_restore(&old);
	return err;
}

bool
host_sock_watching(void)
{
	return str_load(&nwatched) != 0;
}

int
host_sock_news_fd(void)
{
	return host_sock_watching() ? host_fd_get(HOST_FD_SOCKS) : -1;
}

unsigned
host_sock_events(struct host_sock_event *v, unsigned n)
{
	struct epoll_event ev[16];
	unsigned k = 0;
	long r;

	n = STR_MIN(n, (unsigned)STR_ARRAY_LEN(ev));
	if (!host_sock_watching())
		return 0;
	r = sys_call6(SYS_epoll_pwait, host_fd_get(HOST_FD_SOCKS), ev, n, 0,
		NULL, SYS_SIGSET);
	for (long i = 0; i < r; i++) {
		uint32_t e = ev[i].events, c = 0;

		if (e & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			c |= HOST_C_IN;
		if (e & (EPOLLOUT | EPOLLHUP | EPOLLERR))
			c |= HOST_C_OUT;
		if (e & (EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			c |= HOST_C_END;
		v[k++] = (struct host_sock_event){ ev[i].data.u64, c, 0 };
	}
	return k;
}

void
host_sock_ask(void)
{
	str_a32 *awake = &shared()->sock_awake;

	/* we set the word, because streamsd may wake late.  If we die before
	 * the ring, streamsd finds the request when it reaps us */
	if (!host_is_daemon && str_load(awake) == 0 && str_xchg(awake, 1u) == 0)
		host_daemon_tell(HOST_ASK_SOCK);
}

void
host_sock_awake(bool yes)
{
	str_store(&shared()->sock_awake, yes ? 1u : 0u);
}

/* -------------------------------------------------------------------- calls */

/*
 * Does @r mean that the descriptor is not a socket any more?  Then forget it.
 */
static bool
lost(uint64_t id, int fd, long r)
{
	struct place *p = place_of(id);

	if (r != -EBADF && r != -ENOTSOCK)
		return false;
	/* it belongs to the program: do not close it */
	host_sock_forget(p, word_of(id, fd));
	return true;
}

/* Try once, and again with a new descriptor. */
#define CALL(id, r, expr) do { \
	int again_ = 2; \
	do { \
		int fd = host_sock_fd(id); \
\
		(r) = fd; \
		if (fd < 0) \
			break; \
		(r) = (expr); \
		if (str_likely((r) >= 0) || !lost(id, fd, (r))) \
			break; \
	} while (--again_ != 0); \
} while (0)

int
host_sock_accept(uint64_t id, void *addr, uint32_t *len)
{
	long r;

	CALL(id, r, sys_call4(SYS_accept4, fd, addr, addr != NULL ? len : NULL,
		SOCK_NONBLOCK | SOCK_CLOEXEC));
	return r >= 0 ? raise_fd((int)r) : (int)r;
}

int
host_sock_bind(uint64_t id, const void *addr, uint32_t len)
{
	long r;

	CALL(id, r, sys_call3(SYS_bind, fd, addr, len));
	return (int)r;
}

int
host_sock_listen(uint64_t id, int backlog)
{
	long r;

	CALL(id, r, sys_call2(SYS_listen, fd, backlog));
	return (int)r;
}

int
host_sock_connect(uint64_t id, const void *addr, uint32_t len)
{
	long r;

	CALL(id, r, sys_call3(SYS_connect, fd, addr, len));
	return (int)r;
}

int
host_sock_shutdown(uint64_t id, int how)
{
	long r;

	CALL(id, r, sys_call2(SYS_shutdown, fd, how));
	return (int)r;
}

int
host_sock_name(uint64_t id, bool peer, void *addr, uint32_t *len)
{
	long r;

	CALL(id, r, sys_call3(peer ? SYS_getpeername : SYS_getsockname, fd,
		addr, len));
	return (int)r;
}

int
host_sock_setopt(uint64_t id, int level, int name, const void *val,
	uint32_t len)
{
	long r;

	CALL(id, r, sys_call5(SYS_setsockopt, fd, level, name, val, len));
	return (int)r;
}

int
host_sock_getopt(uint64_t id, int level, int name, void *val, uint32_t *len)
{
	long r;

	CALL(id, r, sys_call5(SYS_getsockopt, fd, level, name, val, len));
	return (int)r;
}

int
host_sock_error(uint64_t id)
{
	int err = 0;
	uint32_t len = sizeof err;
	int r = host_sock_getopt(id, SOL_SOCKET, SO_ERROR, &err, &len);

	return r < 0 ? -r : err;
}

int
host_sock_ioctl(uint64_t id, unsigned long cmd, int *ret)
{
	long r;

	CALL(id, r, sys_call3(SYS_ioctl, fd, cmd, ret));
	return (int)r;
}

/*
 * host_sock_put,
 * host_sock_get - send and receive one buffer on a socket that is not a
 * device; the common case, kept short
 */
STR_HOT long
host_sock_put(uint64_t id, const void *buf, size_t len)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	int fd = fd_of(id);
	long r;

	if (str_unlikely(fd < 0))
		return fd;
	r = sys_call6(SYS_sendto, fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL,
		NULL, 0);
	return str_likely(r >= 0) || !lost(id, fd, r) ? r :
		host_sock_send(id, &iov, 1, 0);
}

STR_HOT long
host_sock_get(uint64_t id, void *buf, size_t len)
{
	struct iovec iov = { buf, len };
	int fd = fd_of(id);
	long r;

	if (str_unlikely(fd < 0))
		return fd;
	r = sys_call6(SYS_recvfrom, fd, buf, len, MSG_DONTWAIT, NULL, NULL);
	return str_likely(r >= 0) || !lost(id, fd, r) ? r :
		host_sock_recv(id, &iov, 1, NULL);
}

long
host_sock_send(uint64_t id, const struct iovec *iov, uint32_t n, int flags)
{
	struct msghdr m = { .msg_iov = (struct iovec *)(uintptr_t)iov,
		.msg_iovlen = n };
	long r;

	flags |= MSG_DONTWAIT | MSG_NOSIGNAL;
	if (n == 1)
		CALL(id, r, sys_call6(SYS_sendto, fd, iov->iov_base,
			iov->iov_len, flags, NULL, 0));
	else
		CALL(id, r, sys_call3(SYS_sendmsg, fd, &m, flags));
	return r;
}

long
host_sock_recv(uint64_t id, const struct iovec *iov, uint32_t n, int *flags)
{
	struct msghdr m = { .msg_iov = (struct iovec *)(uintptr_t)iov,
		.msg_iovlen = n };
	int f = MSG_DONTWAIT | MSG_CMSG_CLOEXEC | (flags != NULL ? *flags : 0);
	long r;

	if (n == 1 && flags == NULL) {
		CALL(id, r, sys_call6(SYS_recvfrom, fd, iov->iov_base,
			iov->iov_len, f, NULL, NULL));
		return r;
	}
	CALL(id, r, sys_call3(SYS_recvmsg, fd, &m, f));
	if (r >= 0 && flags != NULL)
		*flags = m.msg_flags;
	return r;
}

long
host_sock_write(uint64_t id, const struct iovec *iov, uint32_t n)
{
	long r;

	CALL(id, r, sys_call3(SYS_writev, fd, iov, n));
	if (r == -EBADFD) { /* the device is gone: there may be a new one */
		host_sock_drop(id);
		CALL(id, r, sys_call3(SYS_writev, fd, iov, n));
	}
	return r;
}

long
host_sock_read(uint64_t id, const struct iovec *iov, uint32_t n)
{
	long r;

	CALL(id, r, sys_call3(SYS_readv, fd, iov, n));
	return r;
}

/* ------------------------------------------------------- many messages */

#define CTL_ROOM CMSG_SPACE(sizeof(int))
#define CTL_BOTH 1024u

struct many {
	struct mmsghdr h[KS_MAXMM];
	_Alignas(struct cmsghdr) char ctl[KS_MAXMM][CTL_ROOM];
};

static void
put_gso(void *at, uint16_t size)
{
	struct cmsghdr h = { CMSG_LEN(sizeof size), SOL_UDP, UDP_SEGMENT };

	memcpy(at, &h, sizeof h);
	memcpy((char *)at + CMSG_LEN(0), &size, sizeof size);
}

/*
 * Fill in message @i.  A segment size together with other control data needs
 * @both, which only one message can use.  False: this one must wait for the
 * next call.
 */
static bool
prepare_send(struct many *m, unsigned i, const struct ksock_msg *k, char *both,
	bool *used)
{
	struct msghdr *h = &m->h[i].msg_hdr;

	*h = (struct msghdr){ .msg_name = k->km_addr,
		.msg_namelen = k->km_addr != NULL ? k->km_addrlen : 0,
		.msg_iov = k->km_iov, .msg_iovlen = k->km_iovlen };
	if (k->km_ctl != NULL && k->km_ctllen != 0) {
		h->msg_control = k->km_ctl;
		h->msg_controllen = k->km_ctllen;
	}
	if (k->km_gso == 0)
		return true;
	if (h->msg_control == NULL) {
		h->msg_control = m->ctl[i];
		put_gso(m->ctl[i], k->km_gso);
		h->msg_controllen = CMSG_SPACE(sizeof k->km_gso);
		return true;
	}
	if (*used || CMSG_ALIGN(k->km_ctllen) + CTL_ROOM > CTL_BOTH)
		return false;
	*used = true;
	memset(both, 0, CTL_BOTH);
	memcpy(both, k->km_ctl, k->km_ctllen);
	put_gso(both + CMSG_ALIGN(k->km_ctllen), k->km_gso);
	h->msg_control = both;
	h->msg_controllen = CMSG_ALIGN(k->km_ctllen) +
		CMSG_SPACE(sizeof k->km_gso);
	return true;
}

static STR_NOINLINE long
send_many(uint64_t id, struct ksock_msg *v, uint32_t n, int flags)
{
	struct many m;
	_Alignas(struct cmsghdr) char both[CTL_BOTH];
	bool used = false;
	uint32_t i;
	long r;

	n = STR_MIN(n, KS_MAXMM);
	for (i = 0; i < n; i++)
		if (!prepare_send(&m, i, &v[i], both, &used))
			break;
	if (i == 0)
		return n == 0 ? 0 : -EMSGSIZE;
	if (i == 1) { /* copies less than sendmmsg(2) */
		CALL(id, r, sys_call3(SYS_sendmsg, fd, &m.h[0].msg_hdr,
			flags | MSG_DONTWAIT | MSG_NOSIGNAL));
		return r < 0 ? r : 1;
	}
	CALL(id, r, sys_call4(SYS_sendmmsg, fd, m.h, i,
		flags | MSG_DONTWAIT | MSG_NOSIGNAL));
	return r;
}

STR_HOT long
host_sock_sendmm(uint64_t id, struct ksock_msg *v, uint32_t n, int flags)
{
	long r;

	if (n != 1 || v->km_iovlen != 1 || v->km_gso != 0 ||
	    (v->km_ctl != NULL && v->km_ctllen != 0))
		return send_many(id, v, n, flags);
	CALL(id, r, sys_call6(SYS_sendto, fd, v->km_iov->iov_base,
		v->km_iov->iov_len, flags | MSG_DONTWAIT | MSG_NOSIGNAL,
		v->km_addr, v->km_addr != NULL ? v->km_addrlen : 0));
	return r < 0 ? r : 1;
}

static uint16_t
train_of(struct msghdr *h)
{
	struct cmsghdr *c;
	int size = 0;

	for (c = CMSG_FIRSTHDR(h); c != NULL; c = CMSG_NXTHDR(h, c))
		if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO)
			memcpy(&size, CMSG_DATA(c), sizeof size);
	return (uint16_t)size;
}

static void
prepare_recv(struct msghdr *h, const struct ksock_msg *k, char *ctl)
{
	*h = (struct msghdr){
		.msg_name = k->km_addr,
		.msg_namelen = k->km_addr != NULL ? k->km_addrlen : 0,
		.msg_iov = k->km_iov, .msg_iovlen = k->km_iovlen,
		.msg_control = k->km_ctl != NULL ? k->km_ctl : (void *)ctl,
		.msg_controllen = k->km_ctl != NULL ? k->km_ctllen : CTL_ROOM };
}

static void
received(struct ksock_msg *k, struct msghdr *h, uint32_t len)
{
	k->km_len = len;
	if (k->km_addr != NULL)
		k->km_addrlen = h->msg_namelen;
	k->km_flags = h->msg_flags;
	k->km_gso = train_of(h);
	if (k->km_ctl != NULL)
		k->km_ctllen = (uint32_t)h->msg_controllen;
	else
		k->km_flags &= ~MSG_CTRUNC;
}

/* packet sockets refuse MSG_CMSG_CLOEXEC; none of ours pass any */
static STR_NOINLINE long
receive_many(uint64_t id, struct ksock_msg *v, uint32_t n, int flags)
{
	struct many m;
	long r;

	n = STR_MIN(n, KS_MAXMM);
	for (uint32_t i = 0; i < n; i++)
		prepare_recv(&m.h[i].msg_hdr, &v[i], m.ctl[i]);
	CALL(id, r, sys_call5(SYS_recvmmsg, fd, m.h, n, flags | MSG_DONTWAIT,
		NULL));
	for (long i = 0; i < r; i++)
		received(&v[i], &m.h[i].msg_hdr, m.h[i].msg_len);
	return r;
}

/* As recv(2): no train, one buffer. */
STR_INLINE long
receive_one(uint64_t id, struct ksock_msg *v, int flags)
{
	long r;

	CALL(id, r, sys_call6(SYS_recvfrom, fd, v->km_iov->iov_base,
		v->km_iov->iov_len, flags | MSG_DONTWAIT, v->km_addr,
		v->km_addr != NULL ? &v->km_addrlen : NULL));
	if (str_unlikely(r < 0))
		return r;
	v->km_len = (uint32_t)STR_MIN((size_t)r, v->km_iov->iov_len);
	v->km_flags = (size_t)r > v->km_iov->iov_len ? MSG_TRUNC : 0;
	v->km_gso = 0;
	return 1;
}

STR_HOT long
host_sock_recvmm(uint64_t id, struct ksock_msg *v, uint32_t n, int flags)
{
	_Alignas(struct cmsghdr) char ctl[CTL_ROOM];
	struct msghdr h;
	long r;

	if (n != 1)
		return receive_many(id, v, n, flags);
	if ((flags & MSG_TRUNC) != 0 && v->km_iovlen == 1 && v->km_ctl == NULL)
		return receive_one(id, v, flags);
	prepare_recv(&h, v, ctl);
	CALL(id, r, sys_call3(SYS_recvmsg, fd, &h, flags | MSG_DONTWAIT));
	if (r < 0)
		return r;
	received(v, &h, (uint32_t)r);
	return 1;
}
