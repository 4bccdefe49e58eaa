/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <stropts.h> - the STREAMS interface (POSIX option XSR)
 *
 * The functions; the ioctl commands, structures and flags come from
 * <sys/stropts.h>, ioctl() from <sys/ioctl.h>.  A program that includes this
 * header links with -lstreams (pkg-config fast-streams).
 *
 * The header lies in a directory of its own, so that it comes before the
 * <stropts.h> of a C library that has one, and never replaces it.
 *
 * All functions: errors are -1 with errno; arguments belong to the caller
 * and are not kept; a bad address is EFAULT; EBADF if the descriptor is not
 * open; ENOSTR if it is not a Stream; EINVAL if the Stream lies below a
 * multiplexor; any error that an M_ERROR message brought to the Stream.
 */
#ifndef _STROPTS_H
#define _STROPTS_H

#include <sys/ioctl.h>
#include <sys/types.h>

#include <sys/stropts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* XTI's scalars: 32 bits everywhere.  <xti.h> defines them under one guard. */
#ifndef _STR_T_SCALAR_T
#define _STR_T_SCALAR_T
typedef int t_scalar_t;
typedef unsigned int t_uscalar_t;
#endif

/**
 * getmsg - retrieve the next message of a Stream
 * @fd:      the Stream
 * @ctlptr:  room for the control part; NULL leaves it on the Stream
 * @dataptr: room for the data part; NULL leaves it on the Stream
 * @flagsp:  in: RS_HIPRI to take a high-priority message only, or 0;
 *           out: RS_HIPRI or 0, what the message was
 *
 * Sets len in each buffer: bytes stored, 0 for an empty part, -1 for no such
 * part, or none wanted.  Bytes that do not fit stay on the Stream, and the next
 * call retrieves them as a message of the same priority.
 *
 * After a hang-up, when the queue is empty, both lens and the result are 0.
 *
 * Context: sleeps until there is a message, unless O_NONBLOCK.  Cancellation
 *          point.
 * Return:  0 the whole message was taken, MORECTL, MOREDATA, or both.
 * Errors: EAGAIN no message and O_NONBLOCK; EBADMSG getmsg cannot retrieve the
 *          first message; EINTR; EINVAL flags.
 * See getmsg(2), POSIX getmsg().
 */
extern int getmsg(int fd, struct strbuf *__restrict ctlptr,
	struct strbuf *__restrict dataptr, int *__restrict flagsp);

/**
 * getpmsg - retrieve the next message of at least a priority
 * @fd:      the Stream
 * @ctlptr:  room for the control part; NULL leaves it on the Stream
 * @dataptr: room for the data part; NULL leaves it on the Stream
 * @bandp:   in: with MSG_BAND the lowest band wanted, else 0; out: the band
 *           of the message, 0 if it was high-priority
 * @flagsp:  in: MSG_HIPRI, MSG_BAND or MSG_ANY, exactly one; out: MSG_HIPRI
 *           or MSG_BAND, what the message was
 *
 * As getmsg() otherwise.
 *
 * Context, Return: as getmsg().
 * Errors:  as getmsg(); EINVAL also for *@bandp not 0 to 255, or not 0 with
 *          MSG_HIPRI.
 * See getpmsg(2), POSIX getpmsg().
 */
extern int getpmsg(int fd, struct strbuf *__restrict ctlptr,
	struct strbuf *__restrict dataptr, int *__restrict bandp,
	int *__restrict flagsp);

/**
 * putmsg - send a message
 * @fd:      the Stream
 * @ctlptr:  control part; NULL or len -1 for none
 * @dataptr: data part; NULL or len -1 for none
 * @flags:   RS_HIPRI for a high-priority message, which flow control never
 *           stops and which needs a control part; or 0
 *
 * With neither part and flags 0 nothing is sent and the result is 0.
 *
 * Context: sleeps while flow control stops the Stream, unless O_NONBLOCK.
 *          Cancellation point.
 * Return:  0.
 * Errors: EAGAIN stopped by flow control and O_NONBLOCK; EINTR; EINVAL flags;
 *          ENOSR no memory; ENXIO hung up; EPIPE and SIGPIPE the other end of
 *          the pipe is closed; ERANGE a part is larger than the Stream's limit.
 * See putmsg(2), POSIX putmsg().
 */
extern int putmsg(int fd, const struct strbuf *ctlptr,
	const struct strbuf *dataptr, int flags);

/**
 * putpmsg - send a message in a priority band
 * @fd:      the Stream
 * @ctlptr:  control part; NULL or len -1 for none
 * @dataptr: data part; NULL or len -1 for none
 * @band:    0 to 255; 0 with MSG_HIPRI
 * @flags:   MSG_HIPRI or MSG_BAND, exactly one
 *
 * As putmsg() otherwise; each band has its own flow control.
 *
 * Context, Return: as putmsg().
 * Errors:  as putmsg(); EINVAL also for flags 0 or a band out of range.
 * See putpmsg(2), POSIX putpmsg().
 */
extern int putpmsg(int fd, const struct strbuf *ctlptr,
	const struct strbuf *dataptr, int band, int flags);

/**
 * isastream - is this descriptor a Stream?
 * @fd: a descriptor
 *
 * Return: 1 yes, 0 no, -1 with EBADF if it is not open.
 */
extern int isastream(int fd);

/**
 * fattach - give a Stream a name in the file system
 * @fd:   the Stream
 * @path: an existing file, owned by the caller and writable
 *
 * Return: 0.
 * Errors: EACCES; EBUSY a Stream is attached there; EINVAL @fd is not a Stream;
 *         ELOOP; ENAMETOOLONG; ENOENT; ENOSR no memory; ENOTDIR; EPERM not the
 *         owner.
 */
extern int fattach(int fd, const char *path);

/**
 * fdetach - remove a Stream's name
 * @path: a name given with fattach()
 *
 * Return: 0.
 * Errors: as fattach(); EINVAL no Stream is attached there.
 */
extern int fdetach(const char *path);

#ifdef __cplusplus
}
#endif

#endif /* _STROPTS_H */
