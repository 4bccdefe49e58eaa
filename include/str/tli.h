/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What libstreams has for libxti: the calls of a Stream head as a library of
 * primitives wants them.  They return minus an errno and leave errno alone,
 * raise no SIGPIPE, and look at the first message before they take it.
 *
 * The symbols are in the private version of the library and may change with
 * any release.
 */
#ifndef STR_TLI_H
#define STR_TLI_H

#include <str/types.h>

#include <stddef.h>
#include <stdint.h>

/* One open file of a Stream, for as long as it is open. */
struct strm_id {
	void *head;
	uint32_t gen;
	uint32_t fflags; /* O_ACCMODE, O_NONBLOCK */
	void *file;	 /* libstreams' own */
};

/*
 * strm_id - which Stream is @fd?
 * @ret_user: the Stream's two words, shared by all who have it; 0 at first
 * Return: 0, -EBADF, -ENOSTR.
 */
int strm_id(int fd, struct strm_id *ret, uint32_t **ret_user);

/* Equal in layout to struct str_getprim and str_strbuf of the head. */
struct strm_buf {
	int maxlen;
	int len;
	void *buf;
};
struct strm_prim {
	struct strm_buf ctl, data;
	uint32_t want;	 /* bit per primitive, STRM_DATA for data alone */
	uint32_t nowait; /* do not sleep, whatever O_NONBLOCK says */
	int32_t prim;	 /* out: the first message's number */
};
#define STRM_DATA (1u << 31)
#define STRM_ANY (~0u)
#define STRM_PRIM_NONE (-1) /* data alone */
#define STRM_PRIM_ODD (-2)
#define STRM_PRIM_END 13 /* T_DISCON_IND */

/*
 * strm_getprim - take the first message if it is one of @gp->want
 * Return: 0, MORECTL | MOREDATA; -ENOMSG it is another; -EMSGSIZE ctl is too
 * small, ctl.len says what it needs; -EAGAIN, -EINTR, -ENXIO hung up and dry.
 */
int strm_getprim(int fd, struct strm_prim *gp);

/*
 * strm_send - a message of @ctl (M_PROTO), the caller's own and good memory,
 * aligned, and data, when it can go to another Stream as it is; @calm: and
 * there is nothing to be read here, else the call returns 2
 * strm_take - strm_getprim() for a message at hand, or to be had at once where
 * the driver has lent what it comes by, that fits into @gp's buffers, the one
 * for control good memory
 * Both: on the Stream that strm_id() has found under @fd just now.
 * Return: 0, or 1: nothing has been done, strm_putprim(), strm_getprim() know;
 * strm_take(): minus an errno.
 */
int strm_send(int fd, const struct strm_id *id, const void *ctl, size_t clen,
	const void *buf, size_t len, int calm);
int strm_take(int fd, const struct strm_id *id, struct strm_prim *gp);

/*
 * strm_take_lent - wait for the first message, where the driver has lent what
 * it comes by and nothing is at hand; as strm_take()
 * Return: 0; 1: nothing has been done, strm_getprim() knows; minus an errno.
 */
int strm_take_lent(int fd, const struct strm_id *id, struct strm_prim *gp);

/*
 * strm_pending - may there be a message?  No lock, no call.
 * strm_ended   - is there a STRM_PRIM_END, whatever stands before it?
 * strm_putprim - a message of @ctl (M_PROTO) and data
 * strm_read    - plain data that is at hand, or that may be waited for: bytes;
 *		  or 0, for strm_getprim(); or minus an errno
 * strm_unit    - one message of plain data that is at hand and fits, on the
 *		  Stream that strm_id() has found just now: bytes; or 0: nothing
 *		  has been done, strm_getprim() knows
 * strm_write   - as write(2), strm_writev likewise
 * strm_rcv     - strm_read() of what the driver has lent, if it is at hand, on
 *		  the Stream that strm_id() has found just now; as that, or 0:
 *		  nothing has been done
 * strm_snd     - strm_write() likewise, of more than nothing, by what is lent
 *		  and while nothing is to be read: bytes, perhaps not all, the
 *		  rest being for strm_snd_rest(); or 0 or less: nothing has
 *		  been done
 * strm_str     - I_STR that no signal ends; @arg: struct strioctl
 * strm_canput  - 1: a message of @band may be sent
 * strm_local	- 1: there is no transport provider below, for sure
 */
struct strm_iov {
	void *base;
	size_t len;
};
int strm_pending(const struct strm_id *id);
int strm_ended(const struct strm_id *id);
int strm_putprim(int fd, const struct strm_buf *ctl,
	const struct strm_buf *data, int band);
long strm_read(int fd, void *buf, size_t len);
long strm_unit(int fd, const struct strm_id *id, void *buf, size_t len);
long strm_write(int fd, const void *buf, size_t len);
long strm_rcv(const struct strm_id *id, void *buf, size_t len);
long strm_snd(const struct strm_id *id, const void *buf, size_t len);
long strm_snd_rest(int fd, const void *buf, size_t len, size_t done);
long strm_writev(int fd, const struct strm_iov *iov, int n);
int strm_str(int fd, void *arg);
int strm_canput(int fd, int band);
int strm_local(int fd);
/*
 * strm_copy - copy between the caller's memory and ours
 * Return: 0, or EFAULT: one of them is bad.  Some bytes may have been copied.
 */
int strm_copy(void *to, const void *from, size_t len);
/*
 * strm_guard - on x86_64, where an instruction faults that begins at &at + at
 * of one of @n rows, the program goes on at &to + to.  Once, before any call.
 */
struct strm_guard {
	int32_t at, to;
};
void strm_guard(const struct strm_guard *row, size_t n);

#endif
