/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Calls of libstreams for libxti: operations of a Stream head on transport
 * primitives.  They return minus an errno and do not change errno, raise no
 * SIGPIPE, and can check the first message before they take it.
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
 * @ret_user: the Stream's two words, shared by all processes that have it open;
 *            0 at first
 * Return: 0, -EBADF, -ENOSTR.
 */
int strm_id(int fd, struct strm_id *ret, uint32_t **ret_user);

/* Same layout as struct str_getprim and str_strbuf of the head. */
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
 * Return: 0, MORECTL | MOREDATA; -ENOMSG: it is another primitive; -EMSGSIZE:
 * ctl is too small, ctl.len is the needed size; -EAGAIN, -EINTR; -ENXIO: hung
 * up and empty.
 */
int strm_getprim(int fd, struct strm_prim *gp);

/*
 * strm_send - send a message of @ctl (M_PROTO) and data, if it can go to
 * another Stream unchanged. @ctl is valid, aligned memory of the caller's
 * library.
 * @calm: only if there is nothing to read here; else the call returns 2
 * strm_take - strm_getprim() for a message that has arrived, or that the
 * driver's loan (<str/ksock.h>) gives at once, and that fits into @gp's
 * buffers; the control buffer is valid memory
 * Both: on the Stream that strm_id() has just found for @fd.
 * Return: 0, or 1: nothing has been done, call strm_putprim() or
 * strm_getprim(); strm_take(): or minus an errno.
 */
int strm_send(int fd, const struct strm_id *id, const void *ctl, size_t clen,
	const void *buf, size_t len, int calm);
int strm_take(int fd, const struct strm_id *id, struct strm_prim *gp);

/*
 * strm_take_lent - as strm_take(), but wait for the first message, if the
 * driver has made a loan and no message has arrived
 * Return: 0; 1: nothing has been done, call strm_getprim(); minus an errno.
 */
int strm_take_lent(int fd, const struct strm_id *id, struct strm_prim *gp);

/*
 * strm_pending - may there be a message?  Takes no lock, makes no call.
 * strm_ended   - is there a STRM_PRIM_END, first or behind other messages?
 * strm_putprim - send a message of @ctl (M_PROTO) and data
 * strm_read    - read plain data, waiting for it if necessary: bytes; or 0:
 *		  call strm_getprim(); or minus an errno
 * strm_unit    - read one message of plain data that has arrived and fits, on
 *		  the Stream that strm_id() has just found: bytes; or 0: nothing
 *		  has been done, call strm_getprim()
 * strm_write   - as write(2), strm_writev likewise
 * strm_push    - send what this thread has written, here or elsewhere, and a
 *		  driver has gathered
 * strm_rcv     - strm_read() by the driver's loan, if data has arrived, on the
 *		  Stream that strm_id() has just found; or 0: nothing has been
 *		  done
 * strm_snd     - strm_write() of at least one byte by the driver's loan, if
 *		  there is nothing to read: bytes, perhaps not all, the caller
 *		  passes the rest to strm_snd_rest(); or 0 or less: nothing has
 *		  been done
 * strm_str     - I_STR that no signal ends; @arg: struct strioctl
 * strm_canput  - 1: a message of @band may be sent
 * strm_device  - 0: a device, *@ret_dev is its number; or minus an errno
 * strm_local   - 1: there is certainly no transport provider below
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
void strm_push(int fd);
int strm_str(int fd, void *arg);
int strm_canput(int fd, int band);
int strm_device(int fd, uint64_t *ret_dev);
int strm_local(int fd);

/*
 * strm_shut  - clear and set STRM_SHUT_*, and wake threads that poll or read
 * strm_error - the socket's error becomes @err, 0: none; returns the one before
 *		on the Stream that strm_id() has just found
 * poll(2) and epoll(7) report a Stream with STRM_SHUT_SOCK as a socket:
 * core/head/head.h, str_head_shut().  A T_ORDREL_IND that arrives sets
 * STRM_SHUT_READ; a T_DISCON_IND of the connection sets both, and its reason as
 * the error.
 */
#define STRM_SHUT_SOCK 1u
#define STRM_SHUT_READ 2u /* nothing more is received: a read does not wait */
#define STRM_SHUT_WRITE 4u /* nothing more can be sent */
void strm_shut(int fd, uint32_t clear, uint32_t set);
int strm_error(const struct strm_id *id, int err);
/* strm_possible - could a descriptor of this process be a Stream? */
int strm_possible(void);
/*
 * strm_copy - copy between the caller's memory and the library's
 * Works in any process, also in one that has no Stream.
 * Return: 0, or EFAULT: one of them is bad.  Some bytes may have been copied.
 */
int strm_copy(void *to, const void *from, size_t len);
/*
 * strm_guard - on x86_64: if the instruction at &at + at of one of the @n rows
 * faults, the program continues at &to + to.  Called once, before any other
 * call.
 */
struct strm_guard {
	int32_t at, to;
};
void strm_guard(const struct strm_guard *row, size_t n);

#endif
