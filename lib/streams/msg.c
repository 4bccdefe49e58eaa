/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * getmsg(2), putmsg(2), their banded forms, isastream(3), ioctl(2).
 */
#include <stdarg.h>
#include <stropts.h>
#include <sys/ioctl.h>

#include "call.h"
#include "cancel.h"
#include "close.h"
#include "head/fastmsg.h"
#include "sys.h"

_Static_assert(sizeof(struct strbuf) == sizeof(struct str_strbuf) &&
		       offsetof(struct strbuf, buf) ==
			       offsetof(struct str_strbuf, buf),
	"one layout");

/* The error for a descriptor that is not a Stream: ENOSTR, or EBADF. */
static int
no_stream(int fd)
{
	return fail(sys_fcntl(fd, F_GETFD, 0) < 0 ? EBADF : ENOSTR);
}

static int
msg_failed(struct fd_rec *r, long ret, uint32_t events)
{
	fd_again(r, ret, events);
	return fail((int)-ret);
}

static int
get(int fd, struct strbuf *ctl, struct strbuf *data, int *band, int *flags)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;
	struct str_head *sd;
	str_a32 *fflags;
	uint32_t gen;
	long ret;

	if (str_unlikely(str_load(&cancel_used) != 0))
		pthread_testcancel();
	if (r == NULL)
		return no_stream(fd);
	if (str_likely(band == NULL) && fast_ready() &&
	    fd_read(fd, r, &sd, &fflags, &gen) &&
	    str_head_getmsg_fast(sd, fflags, gen, fd, (struct str_strbuf *)ctl,
		    (struct str_strbuf *)data, flags) == 0)
		return 0;
	ret = -call_begin(&hc, r, fd, HOST_CALL_CANCEL);
	if (ret == 0) {
		ret = str_head_getmsg(hc.head, &hc, (struct str_strbuf *)ctl,
			(struct str_strbuf *)data, band, flags);
		host_leave();
		exit_look();
		if (ret >= 0)
			return (int)ret;
	}
	if (ret == -EBADF && fd_stale(fd, r, &hc))
		return get(fd, ctl, data, band, flags);
	return msg_failed(r, ret, STR_POLL_READ);
}

static int
put_message(int fd, const struct strbuf *ctl, const struct strbuf *data, int band,
	int flags)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;
	struct str_head *sd;
	str_a32 *fflags;
	uint32_t gen;
	long ret;

	if (str_unlikely(str_load(&cancel_used) != 0))
		pthread_testcancel();
	if (r == NULL)
		return no_stream(fd);
	if (str_likely(band == -1 && flags == 0) && fast_ready() &&
	    fd_read(fd, r, &sd, &fflags, &gen) &&
	    str_head_putmsg_fast(sd, fflags, gen, fd,
		    (const struct str_strbuf *)ctl,
		    (const struct str_strbuf *)data) == 0)
		return 0;
	ret = -call_begin(&hc, r, fd, HOST_CALL_CANCEL);
	if (ret == 0) {
		ret = str_head_putmsg(hc.head, &hc,
			(const struct str_strbuf *)ctl,
			(const struct str_strbuf *)data, band, flags);
		host_leave();
		if (ret >= 0)
			return (int)ret;
	}
	if (ret == -EBADF && fd_stale(fd, r, &hc))
		return put_message(fd, ctl, data, band, flags);
	return msg_failed(r, ret, STR_POLL_WRITE);
}

/*
 * Get a message with data only, on the fast path: most messages of a pipe.
 * Return: done?
 */
STR_INLINE bool
get_data(int fd, struct strbuf *data, int *flags)
{
	struct fd_rec *r = fd_likely_stream(fd);
	struct str_head *sd;
	str_a32 *fflags;
	uint32_t gen;

	return str_likely(r != NULL && data != NULL &&
		       str_load(&cancel_used) == 0) &&
	       fast_ready() && fd_read(fd, r, &sd, &fflags, &gen) &&
	       str_head_getdata_fast(sd, fflags, gen, fd,
		       (struct str_strbuf *)data, flags) == 0;
}

STR_INLINE bool
put_data(int fd, const struct strbuf *data)
{
	struct fd_rec *r = fd_likely_stream(fd);
	struct str_head *sd;
	str_a32 *fflags;
	uint32_t gen;

	return str_likely(r != NULL && data != NULL &&
		       str_load(&cancel_used) == 0) &&
	       fast_ready() && fd_read(fd, r, &sd, &fflags, &gen) &&
	       str_head_putdata_fast(sd, fflags, gen, fd,
		       (const struct str_strbuf *)data) == 0;
}

STR_EXPORT STR_HOT int
getmsg(int fd, struct strbuf *ctl, struct strbuf *data, int *flags)
{
	if (ctl == NULL && str_likely(get_data(fd, data, flags)))
		return 0;
	return get(fd, ctl, data, NULL, flags);
}

STR_EXPORT int
getpmsg(int fd, struct strbuf *ctl, struct strbuf *data, int *band, int *flags)
{
	static int *volatile nowhere = (int *)8;

	/* for the head, no band means getmsg() */
	return get(fd, ctl, data, band != NULL ? band : nowhere, flags);
}

STR_EXPORT STR_HOT int
putmsg(int fd, const struct strbuf *ctl, const struct strbuf *data, int flags)
{
	if (ctl == NULL && flags == 0 && str_likely(put_data(fd, data)))
		return 0;
	return put_message(fd, ctl, data, -1, flags);
}

STR_EXPORT int
putpmsg(int fd, const struct strbuf *ctl, const struct strbuf *data, int band,
	int flags)
{
	/* for the head, -1 means putmsg() */
	return put_message(fd, ctl, data, band == -1 ? -2 : band, flags);
}

STR_EXPORT int
isastream(int fd)
{
	if (fd_stream(fd) != NULL)
		return 1;
	return sys_fcntl(fd, F_GETFD, 0) < 0 ? fail(EBADF) : 0;
}

/* ----------------------------------------------------------------- ioctl */

static int
set_flag(struct fd_rec *r, struct host_call *hc, uint32_t flag,
	unsigned long arg)
{
	int on, err = host_copyin((const void *)arg, &on, sizeof on);

	if (err == 0)
		err = status_set(r, hc, flag, on ? flag : 0);
	return -err;
}

/* Commands about the descriptor; the head handles all others. */
static bool
ioctl_own(struct fd_rec *r, struct host_call *hc, unsigned cmd,
	unsigned long arg, long *ret)
{
	switch (cmd) {
	case FIONBIO:
		*ret = set_flag(r, hc, O_NONBLOCK, arg);
		return true;
	case FIOASYNC:
		*ret = set_flag(r, hc, O_ASYNC, arg);
		return true;
	case FIOCLEX:
	case FIONCLEX:
		*ret = sys_call3(SYS_ioctl, hc->fd, cmd, arg);
		return true;
	default:
		return false;
	}
}

static long
ioctl_stream(struct fd_rec *r, struct host_call *hc, int fd, unsigned long cmd,
	unsigned long arg)
{
	long ret;

	ret = -call_begin(hc, r, fd, HOST_CALL_CANCEL);
	if (ret != 0)
		return ret;
	if (!ioctl_own(r, hc, (unsigned)cmd, arg, &ret))
		ret = str_head_ioctl(hc->head, hc, cmd & 0xffffffffu, arg);
	host_leave();
	if (ret == 0 && (cmd & 0xffffu) == I_PIPE)
		fd_forget((int)arg); /* it refers to another stream now */
	return ret;
}

STR_EXPORT int
ioctl(int fd, unsigned long cmd, ...)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;
	unsigned long arg;
	va_list ap;
	long ret;

	va_start(ap, cmd);
	arg = va_arg(ap, unsigned long);
	va_end(ap);
	if (r == NULL)
		return REAL(ioctl)(fd, cmd, arg);
	ret = ioctl_stream(r, &hc, fd, cmd, arg);
	if (ret == -EBADF && fd_stale(fd, r, &hc))
		return ioctl(fd, cmd, arg);
	return (int)call_value(ret);
}
