/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The calls for libxti: <str/tli.h>.
 *
 * A t_snd() or t_rcv() should cost the same as write(2) and read(2).  So these
 * are variants of their wrappers, without errno, SIGPIPE, and the system call
 * that identifies a descriptor.
 */
#include <stropts.h>
#include <sys/uio.h>
#include <str/tli.h>

#include "call.h"
#include "cancel.h"
#include "head/fastmsg.h"
#include "sock/sock.h"
#include "sys.h"

#include <str/direct.h>

_Static_assert(sizeof(struct strm_buf) == sizeof(struct str_strbuf) &&
		       sizeof(struct strm_prim) == sizeof(struct str_getprim) &&
		       offsetof(struct strm_prim, prim) ==
			       offsetof(struct str_getprim, prim) &&
		       sizeof(struct strm_iov) == sizeof(struct str_iov) &&
		       STRM_DATA == STR_PRIM_DATA &&
		       STRM_PRIM_END == STR_PRIM_END,
	"one layout");
#if defined(__x86_64__)
_Static_assert(sizeof(struct strm_guard) == sizeof(struct host_fault_row) &&
		       offsetof(struct strm_guard, to) ==
			       offsetof(struct host_fault_row, to),
	"one layout");
#endif

/* For a descriptor that is no Stream. */
static STR_COLD int
none(int fd)
{
	return sys_fcntl(fd, F_GETFD, 0) < 0 ? -EBADF : -ENOSTR;
}

STR_INLINE void
cancel_point(void)
{
	if (str_unlikely(str_load(&cancel_used) != 0))
		pthread_testcancel();
}

/* A call has found nothing: threads that poll by epoll must hear of it. */
STR_INLINE long
after(struct fd_rec *r, long ret, uint32_t events)
{
	fd_again(r, ret, events);
	return ret;
}

STR_EXPORT STR_HOT int
strm_id(int fd, struct strm_id *ret, uint32_t **ret_user)
{
	struct fd_rec *r = fd_stream(fd);
	struct str_head *sd;
	str_a32 *fflags;

	if (str_unlikely(r == NULL))
		return none(fd);
	if (str_unlikely(!fd_read(fd, r, &sd, &fflags, &ret->gen)))
		return -EBADF;
	ret->head = sd;
	ret->fflags = str_load(fflags);
	ret->file = fflags;
	*ret_user = (uint32_t *)str_head_user(sd);
	return 0;
}

STR_INLINE int
is_pending(struct str_head *sd)
{
	return str_load_acq(&sd->hq.pos) != str_load(&sd->hq.cpos) ||
		str_load(&sd->hq.npri) != 0;
}

STR_EXPORT int
strm_pending(const struct strm_id *id)
{
	return is_pending(id->head);
}

STR_EXPORT int
strm_ended(const struct strm_id *id)
{
	struct str_head *sd = id->head;

	return str_load(&sd->hq.cpos) < str_load(&sd->hq.ended);
}

STR_EXPORT STR_HOT int
strm_send(int fd, const struct strm_id *id, const void *ctl, size_t clen,
	const void *buf, size_t len, int calm)
{
	void *full = NULL;
	struct str_direct d = {.ctl = ctl, .clen = clen, .udata = buf,
		.dlen = (ssize_t)len, .full = &full};

	(void)fd;
	cancel_point();
	if (str_unlikely(calm && is_pending(id->head)))
		return 2;
	return !fast_ready() ||
		str_head_put_direct(id->head, id->file, id->gen, &d) != 0;
}

/*
 * Receive through the driver's loan, without waiting.  A thread that has sent
 * gives way first, so that another can answer; a receiver finds the next message.
 * 0; 1: wait for it; minus an errno.
 */
STR_INLINE int
take_unit(const struct strm_id *id, const struct ksock_lend *l,
	struct strm_prim *gp)
{
	long ret;

	if (str_unlikely(!fast_ready() || host_tls.nsoon != 0 ||
		(host_tls.wrote != 0 && l->rest[0] != 0)))
		return 1;
	if (host_tls.wrote != 0)
		(void)host_give_way();
	ret = str_lend_unit(id->head, id->file, id->gen,
		(struct str_getprim *)(void *)gp);
	if (str_unlikely(ret <= 0))
		return ret == 0 ? 1 : (int)ret;
	host_tls.wrote = 0;
	return 0;
}

STR_EXPORT STR_HOT int
strm_take(int fd, const struct strm_id *id, struct strm_prim *gp)
{
	const struct ksock_lend *l = str_lend_hint(id->head);

	cancel_point();
	/* readers receive by the lent operation: the head is usually empty */
	if (l != NULL && str_load(&l->in) == STR_LEND_UNITS &&
	    !is_pending(id->head))
		return take_unit(id, l, gp);
	return !fast_ready() || str_head_get_direct(id->head, id->file,
		id->gen, fd, (struct str_getprim *)(void *)gp) != 0;
}

static STR_NOINLINE int
get_lent(int fd, struct strm_prim *gp)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;
	long ret;

	if (r == NULL)
		return 1;
	ret = -call_begin(&hc, r, fd, HOST_CALL_CANCEL);
	if (str_likely(ret == 0)) {
		ret = str_lend_get(hc.head, &hc,
			(struct str_getprim *)(void *)gp);
		host_leave();
	}
	return ret == -EBADF ? 1 : ret < 0 ? (int)ret : ret == 0;
}

STR_EXPORT STR_HOT int
strm_take_lent(int fd, const struct strm_id *id, struct strm_prim *gp)
{
	const struct ksock_lend *l = str_lend_hint(id->head);

	return l != NULL && str_load(&l->in) == STR_LEND_UNITS ?
		get_lent(fd, gp) : 1;
}

STR_EXPORT int
strm_getprim(int fd, struct strm_prim *gp)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;
	long ret;

	cancel_point();
	if (str_unlikely(r == NULL))
		return none(fd);
	ret = -call_begin(&hc, r, fd, HOST_CALL_CANCEL);
	if (str_likely(ret == 0)) {
		ret = str_head_getprim(hc.head, &hc,
			(struct str_getprim *)(void *)gp);
		host_leave();
	}
	if (str_unlikely(ret == -EBADF) && fd_stale(fd, r, &hc))
		return strm_getprim(fd, gp);
	return (int)after(r, ret, STR_POLL_READ);
}

STR_EXPORT int
strm_putprim(int fd, const struct strm_buf *ctl, const struct strm_buf *data,
	int band)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;
	long ret;

	cancel_point();
	if (str_unlikely(r == NULL))
		return none(fd);
	ret = -call_begin(&hc, r, fd, HOST_CALL_CANCEL);
	if (str_likely(ret == 0)) {
		ret = str_head_putmsg(hc.head, &hc,
			(const struct str_strbuf *)(const void *)ctl,
			(const struct str_strbuf *)(const void *)data,
			band == 0 ? -1 : band, band == 0 ? 0 : MSG_BAND);
		host_leave();
	}
	if (str_unlikely(ret == -EBADF) && fd_stale(fd, r, &hc))
		return strm_putprim(fd, ctl, data, band);
	return (int)after(r, ret, STR_POLL_WRITE);
}

/*
 * The head is empty, but the driver may have lent its socket: receive from
 * there.  Bytes, 0, or minus an errno.
 */
STR_INLINE long
recv_lent(struct str_head *sd, const struct ksock_lend *l, const str_a32 *id,
	uint32_t gen, void *buf, size_t len)
{
	if (str_unlikely(!fast_ready() || host_tls.nsoon != 0))
		return 0;
	if (str_load(&l->safe) == 0) {
		/* as take_unit() */
		if (host_tls.wrote == 0 || l->rest[0] != 0)
			return 0;
		(void)host_give_way();
	}
	return str_lend_recv(sd, id, gen, buf, len);
}

STR_EXPORT STR_HOT long
strm_rcv(const struct strm_id *id, void *buf, size_t len)
{
	struct str_head *sd = id->head;
	const struct ksock_lend *l = str_lend_hint(sd);

	/* answers are strm_read()'s, which lets others run before */
	if (str_unlikely(l == NULL || l->in != STR_LEND_BYTES ||
		(str_load(&l->safe) == 0 &&
			(str_load(&l->more) == 0 || host_tls.wrote != 0)) ||
		is_pending(sd) || !fast_ready() || host_tls.nsoon != 0))
		return 0;
	cancel_point();
	return str_lend_recv(sd, id->file, id->gen, buf, len);
}

/* Receive from a lent socket, and wait for data if there is none. */
static STR_NOINLINE long
read_lent(struct fd_rec *r, int fd, void *buf, size_t len)
{
	struct host_call hc;
	long ret = -call_begin(&hc, r, fd, HOST_CALL_CANCEL);

	if (str_likely(ret == 0)) {
		ret = str_lend_read(hc.head, &hc, buf, len);
		host_leave();
	}
	return ret == -EBADF ? 0 : ret;
}

STR_EXPORT STR_HOT long
strm_read(int fd, void *buf, size_t len)
{
	struct fd_rec *r = fd_likely_stream(fd);
	const struct ksock_lend *l;
	enum str_fast how;
	struct str_head *sd;
	str_a32 *fflags;
	uint32_t gen;
	size_t done;
	long ret;

	if (str_unlikely(r == NULL))
		return 0;
	cancel_point();
	if (!fast_ready() || !fd_read(fd, r, &sd, &fflags, &gen))
		return 0;
	l = str_lend_hint(sd);
	/* readers receive by the lent operation: the head is usually empty */
	if (l != NULL && l->in == STR_LEND_BYTES && !is_pending(sd)) {
		ret = recv_lent(sd, l, fflags, gen, buf, len);
		if (str_likely(ret != 0))
			return ret;
	}
	how = str_head_read_fast(sd, fflags, gen, buf, len, &done);
	if (str_likely(how == STR_FAST_DONE))
		return (long)done;
	if (how == STR_FAST_HELD)
		done = STR_O_NONBLOCK;
	ret = str_head_read_tail(sd, fd, buf, len, done, how);
	if (str_likely(ret > 0))
		return ret;
	l = str_lend_hint(sd);
	return l != NULL && l->in == STR_LEND_BYTES ?
		read_lent(r, fd, buf, len) : 0;
}

STR_EXPORT STR_HOT long
strm_unit(int fd, const struct strm_id *id, void *buf, size_t len)
{
	enum str_fast how;
	size_t done;
	long ret;

	cancel_point();
	if (str_unlikely(!fast_ready()))
		return 0;
	how = str_head_unit_fast(id->head, id->file, id->gen, buf, len, &done);
	if (str_likely(how == STR_FAST_DONE))
		return (long)done;
	ret = str_head_unit_tail(id->head, fd, buf, len, done, how);
	return ret > 0 ? ret : 0;
}

/* Send a long buffer directly to the socket; the rest takes the usual path. */
static STR_NOINLINE long
write_lent(struct host_call *hc, const void *buf, size_t len)
{
	long n = str_lend_write(hc->head, hc, buf, len), rest;

	if (n < 0 || n == (long)len)
		return n;
	rest = str_head_write(hc->head, hc, (const char *)buf + n,
		len - (size_t)n);
	return rest >= 0 ? n + rest : n != 0 ? n : rest;
}

/* @done bytes have gone. */
static STR_NOINLINE long
write_rest(struct fd_rec *r, int fd, const char *buf, size_t len, size_t done)
{
	struct host_call hc;
	long ret = -call_begin(&hc, r, fd, HOST_CALL_CANCEL);

	if (str_likely(ret == 0)) {
		hc.flags |= HOST_CALL_ONCE;
		ret = write_lent(&hc, buf + done, len - done);
		host_leave();
	}
	return (long)done + (ret > 0 ? ret : 0);
}

STR_EXPORT STR_HOT long
strm_snd(const struct strm_id *id, const void *buf, size_t len)
{
	struct str_head *sd = id->head;
	const struct ksock_lend *l = str_lend_hint(sd);

	cancel_point();
	if (str_unlikely(l == NULL || !fast_ready() || is_pending(sd)))
		return 0;
	/* hints: looked at again inside */
	if (l->at == NULL && l->out != 0 && (len >= l->out || l->got != 0))
		return str_lend_send(sd, id->file, id->gen, buf, len);
	return l->at == NULL ? 0 :
		str_lend_put(sd, id->file, id->gen, buf, len);
}

STR_EXPORT long
strm_snd_rest(int fd, const void *buf, size_t len, size_t done)
{
	struct fd_rec *r = fd_stream(fd);

	return r == NULL ? (long)done : write_rest(r, fd, buf, len, done);
}

STR_INLINE long
write_fast(struct str_head *sd, const str_a32 *id, uint32_t gen, int fd,
	const void *buf, size_t len)
{
	enum str_fast how = str_head_write_fast(sd, id, gen, buf, len);

	if (str_likely(how == STR_FAST_MODS))
		return str_head_write_indirect(sd, id, gen, fd, buf, len);
	return how == STR_FAST_DONE ? (long)len :
		str_head_write_tail(sd, fd, len, how);
}

STR_EXPORT STR_HOT long
strm_write(int fd, const void *buf, size_t len)
{
	struct fd_rec *r = fd_likely_stream(fd);
	struct host_call hc;
	struct str_head *sd;
	str_a32 *fflags;
	uint32_t gen;
	long ret;

	if (str_unlikely(r == NULL))
		r = fd_stream(fd);
	if (str_unlikely(r == NULL))
		return none(fd);
	cancel_point();
	if (fast_ready() && fd_read(fd, r, &sd, &fflags, &gen)) {
		const struct ksock_lend *l = str_lend_hint(sd);

		/* hints: looked at again inside */
		if (l != NULL && l->at != NULL) {
			ret = str_lend_put(sd, fflags, gen, buf, len);
			if (str_likely(ret > 0))
				return ret;
		}
		if (l != NULL && l->out != 0 && (len >= l->out ||
			(l->got != 0 && len != 0))) {
			/* an answer goes at once, too */
			ret = str_lend_send(sd, fflags, gen, buf, len);
			if (str_likely(ret == (long)len))
				return ret;
			if (ret > 0)
				return write_rest(r, fd, buf, len, (size_t)ret);
		} else if (str_likely(l != NULL)) {
			ret = write_fast(sd, fflags, gen, fd, buf, len);
			if (str_likely(ret > 0))
				return ret;
		}
	}
	ret = -call_begin(&hc, r, fd, HOST_CALL_CANCEL);
	if (str_likely(ret == 0)) {
		const struct ksock_lend *l = &hc.head->plumb->lend;

		ret = l->out != 0 && (len >= l->out ||
			(l->got != 0 && len != 0)) ?
			write_lent(&hc, buf, len) :
			str_head_write(hc.head, &hc, buf, len);
		host_leave();
	}
	if (str_unlikely(ret == -EBADF) && fd_stale(fd, r, &hc))
		return strm_write(fd, buf, len);
	return after(r, ret, STR_POLL_WRITE);
}

STR_EXPORT long
strm_writev(int fd, const struct strm_iov *iov, int n)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;
	long ret;

	cancel_point();
	if (str_unlikely(r == NULL))
		return none(fd);
	ret = -call_begin(&hc, r, fd, HOST_CALL_CANCEL);
	if (str_likely(ret == 0)) {
		ret = str_head_writev(hc.head, &hc,
			(const struct str_iov *)(const void *)iov, n);
		host_leave();
	}
	if (str_unlikely(ret == -EBADF) && fd_stale(fd, r, &hc))
		return strm_writev(fd, iov, n);
	return after(r, ret, STR_POLL_WRITE);
}

STR_EXPORT void
strm_push(int fd)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;

	if (r == NULL || call_begin(&hc, r, fd, 0) != 0)
		return;
	str_sock_flush(&hc);
	host_leave();
}

STR_EXPORT int
strm_str(int fd, void *arg)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;
	long ret;

	if (r == NULL)
		return none(fd);
	ret = -call_begin(&hc, r, fd, 0);
	if (ret == 0) {
		ret = str_head_ioctl_str(hc.head, &hc, (unsigned long)arg);
		host_leave();
	}
	if (ret == -EBADF && fd_stale(fd, r, &hc))
		return strm_str(fd, arg);
	return (int)ret;
}

STR_EXPORT int
strm_canput(int fd, int band)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;
	long ret;

	if (r == NULL)
		return none(fd);
	ret = -call_begin(&hc, r, fd, 0);
	if (ret == 0) {
		ret = str_head_ioctl(hc.head, &hc, I_CANPUT,
			(unsigned long)band);
		host_leave();
	}
	return (int)ret;
}

/* Elsewhere it is the kernel that is asked: strm_copy(). */
STR_EXPORT void
strm_guard(const struct strm_guard *row, size_t n)
{
#if defined(__x86_64__)
	host_fault_rows((const struct host_fault_row *)(const void *)row, n);
#else
	(void)row, (void)n;
#endif
}

STR_EXPORT int
strm_device(int fd, uint64_t *ret_dev)
{
	struct fd_rec *r = fd_stream(fd);

	if (r == NULL)
		return none(fd);
	return str_head_kind(str_load(&r->sd), ret_dev) == STR_KIND_DEV ? 0 :
		-ENOSTR;
}

STR_EXPORT int
strm_local(int fd)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;
	long ret;

	if (r == NULL)
		return none(fd);
	ret = -call_begin(&hc, r, fd, 0);
	if (ret == 0) {
		ret = str_head_local(hc.head);
		host_leave();
	}
	return (int)ret;
}

STR_EXPORT int
strm_possible(void)
{
	return fd_possible();
}

/*
 * Only a member of a domain catches faults (host/user/domain.c); in other
 * processes the kernel copies, because it returns EFAULT.
 */
static STR_COLD int
copy_by_kernel(void *to, const void *from, size_t len)
{
	struct iovec l = {to, len}, r = {(void *)(uintptr_t)from, len};
	long n;

	if (len == 0)
		return 0;
	n = sys_call6(SYS_process_vm_readv, sys_getpid(), &l, 1, &r, 1, 0);
	if (n == -ENOSYS || n == -EPERM) /* a sandbox forbids it */
		return host_copyin(from, to, len);
	return n == (long)len ? 0 : EFAULT;
}

STR_EXPORT int
strm_copy(void *to, const void *from, size_t len)
{
	if (str_unlikely(host_domain == NULL))
		return copy_by_kernel(to, from, len);
	return host_copyin(from, to, len);
}
