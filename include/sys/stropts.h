/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/stropts.h> - constants and structures of the Stream head
 *
 * The interface between applications and the Stream head: ioctl commands, their
 * argument structures and the option and flag bits. <stropts.h> declares the
 * functions; in programs this header includes it, because programs for LiS and
 * System V include nothing else.
 *
 * Modules, and the executive, which is built without a C library, use the same
 * definitions without any other header.  Every number and layout is part of the
 * binary interface; the conformance suite contains a static assertion for each.
 *
 * Unless a command says otherwise: a command returns 0, or -1 with errno;
 * memory passed by address belongs to the caller and is not kept; a bad
 * address is EFAULT; a descriptor that is not open is EBADF; a Stream that got
 * M_ERROR gives the error of that message, a Stream that was hung up ENXIO, a
 * Stream linked below a multiplexor EINVAL.  Only commands with the note
 * "Sleeps" may sleep.  The specification is streamio(7).
 */
#ifndef _SYS_STROPTS_H
#define _SYS_STROPTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Longest module or driver name, without the terminating null. */
#define FMNAMESZ	8

/* poll(2), I_STR: wait without limit. */
#ifndef INFTIM
#define INFTIM		(-1)
#endif

/**
 * struct strbuf - one part, control or data, of a message
 * @maxlen: room in @buf in bytes, for retrieving; -1 leaves the part on the
 *          Stream, 0 takes it only if it is empty.  Not used for sending.
 * @len:    bytes to send or bytes retrieved; -1 means that the message has (or
 *          is to have) no such part, which differs from a part of 0 bytes
 * @buf:    the bytes, in the caller's memory
 *
 * See getmsg(2), putmsg(2).
 */
struct strbuf {
	int maxlen;
	int len;
	char *buf;
};

/* Retrieval flags of getmsg() and sending flags of putmsg(). */
#define RS_HIPRI	0x01	/* high-priority message */

/* The same for getpmsg() and putpmsg(). */
#define MSG_HIPRI	0x01	/* high-priority message */
#define MSG_ANY		0x02	/* getpmsg: the first message */
#define MSG_BAND	0x04	/* this band, or for getpmsg a higher one */

/* Positive results of getmsg() and getpmsg(), or'ed. */
#define MORECTL		0x01	/* more of the control part is waiting */
#define MOREDATA	0x02	/* more of the data part is waiting */

/*
 * Commands.  The head compares the low sixteen bits only.
 */
#define _STR_IOC(n)	(('S' << 8) | (n))

/**
 * I_NREAD - count messages
 * @arg: int *, gets the data bytes in the first message, 0 if it has none
 *
 * Return: the number of messages on the Stream head read queue.
 */
#define I_NREAD		_STR_IOC(1)

/**
 * I_PUSH - insert a module just below the Stream head
 * @arg: const char *, module name of 1 to FMNAMESZ bytes
 *
 * The module's open procedure runs in the caller.  Sleeps.
 * Errors: EINVAL the name is unknown, empty or too long, or 64 modules are
 * on the Stream; ENXIO hung up, or the open procedure failed without reason;
 * otherwise the error of the open procedure.
 */
#define I_PUSH		_STR_IOC(2)

/**
 * I_POP - remove the module just below the Stream head
 * @arg: 0
 *
 * Sleeps (the module's close procedure).
 * Errors: EINVAL no module; EPERM it is below the anchor; ENXIO hung up.
 */
#define I_POP		_STR_IOC(3)

/**
 * I_LOOK - name of the module just below the Stream head
 * @arg: char [FMNAMESZ + 1], gets the null-terminated name
 *
 * Errors: EINVAL no module.
 */
#define I_LOOK		_STR_IOC(4)

/**
 * I_FLUSH - discard queued messages
 * @arg: int, FLUSHR, FLUSHW or FLUSHRW
 *
 * Errors: EINVAL other value; ENOSR no memory for the message; ENXIO.
 */
#define I_FLUSH		_STR_IOC(5)

/* Arguments of I_FLUSH, bi_flag of I_FLUSHBAND, first byte of M_FLUSH. */
#define FLUSHR		0x01	/* read queues */
#define FLUSHW		0x02	/* write queues */
#define FLUSHRW		0x03	/* both */

/**
 * I_SRDOPT, I_GRDOPT - set, get the read mode
 * @arg: int, one mode | one treatment of control parts; int *, gets them
 *
 * No treatment bit means RPROTNORM.
 * Errors: EINVAL two modes, two treatments or an unknown bit.
 */
#define I_SRDOPT	_STR_IOC(6)
#define I_GRDOPT	_STR_IOC(7)

#define RNORM		0x00	/* byte stream: boundaries are ignored */
#define RMSGD		0x01	/* read returns one message, rest discarded */
#define RMSGN		0x02	/* read returns one message, rest kept */
#define RPROTDAT	0x04	/* read delivers control parts as data */
#define RPROTDIS	0x08	/* read discards control parts */
#define RPROTNORM	0x10	/* read fails with EBADMSG on a control part */
#define RMODEMASK	0x03
#define RPROTMASK	0x1c

/**
 * struct strioctl - argument of I_STR
 * @ic_cmd:    command for the modules and the driver
 * @ic_timout: seconds to wait for the answer; INFTIM without limit, 0 the
 *             default of 15
 * @ic_len:    bytes at @ic_dp, in: to send; out: of the answer
 * @ic_dp:     data in the caller's memory, in and out; must have room for the
 *             answer
 */
struct strioctl {
	int ic_cmd;
	int ic_timout;
	int ic_len;
	char *ic_dp;
};

/**
 * I_STR - send an ioctl message down the Stream and wait for the answer
 * @arg: struct strioctl *
 *
 * One at a time per Stream; a second caller waits for its turn.  Sleeps;
 * EINTR.
 * Return: the result of the module or driver, >= 0.
 * Errors: EINVAL ic_len negative or above the data limit, ic_timout below
 * -1; ETIME no answer in time; ENOSR; ENXIO hung up; otherwise the error of the
 * answer.
 */
#define I_STR		_STR_IOC(8)

/**
 * I_SETSIG, I_GETSIG - SIGPOLL on events
 * @arg: int, events, 0 to deregister; int *, gets them
 *
 * Errors: EINVAL unknown bits, or not registered; EAGAIN no memory.
 */
#define I_SETSIG	_STR_IOC(9)
#define I_GETSIG	_STR_IOC(10)

#define S_INPUT		0x0001	/* any message but high priority arrived */
#define S_HIPRI		0x0002	/* a high-priority message arrived */
#define S_OUTPUT	0x0004	/* the write queue is no longer full */
#define S_MSG		0x0008	/* a signal message came to the front */
#define S_ERROR		0x0010	/* M_ERROR arrived */
#define S_HANGUP	0x0020	/* M_HANGUP arrived */
#define S_RDNORM	0x0040	/* a message of band 0 arrived */
#define S_WRNORM	S_OUTPUT
#define S_RDBAND	0x0080	/* a message of a band above 0 arrived */
#define S_WRBAND	0x0100	/* a band above 0 may be written again */
#define S_BANDURG	0x0200	/* with S_RDBAND: SIGURG, not SIGPOLL */

/**
 * I_FIND - is a module on the Stream?
 * @arg: const char *, name of 1 to FMNAMESZ bytes
 *
 * Return: 1: a module on the Stream, or its driver, has the name; 0: another
 * module has it.
 * Errors: EINVAL the name is empty or too long, or no module has it.
 */
#define I_FIND		_STR_IOC(11)

/**
 * I_LINK, I_UNLINK - link a Stream below a multiplexor, unlink it
 * @arg: int, the lower Stream's descriptor; int, multiplexor id or MUXID_ALL
 *
 * Return: I_LINK the multiplexor id.
 * Errors: EINVAL the Stream is a pipe, or no such id; ETIME; EAGAIN; ENOSR.
 */
#define I_LINK		_STR_IOC(12)
#define I_UNLINK	_STR_IOC(13)
#define MUXID_ALL	(-1)

/**
 * struct strrecvfd - result of I_RECVFD
 * @fd:   the new descriptor
 * @uid:  effective user of the sender (a uid_t)
 * @gid:  effective group of the sender (a gid_t)
 * @fill: reserved
 */
struct strrecvfd {
	int fd;
	unsigned int uid;
	unsigned int gid;
	char fill[8];
};

/**
 * I_RECVFD, I_SENDFD - pass a descriptor through a Stream pipe
 * @arg: struct strrecvfd *; int, the descriptor
 *
 * I_RECVFD sleeps.
 * Errors: EAGAIN no message, or the other side is full; EBADMSG the first
 * message is another one; EMFILE; EINVAL not a pipe; ENXIO.
 */
#define I_RECVFD	_STR_IOC(14)
#define I_SENDFD	_STR_IOC(17)
#define I_E_RECVFD	_STR_IOC(18)	/* reserved */

/**
 * struct strpeek - argument of I_PEEK
 * @ctlbuf:  maxlen and buf in, len out
 * @databuf: maxlen and buf in, len out
 * @flags:   in: RS_HIPRI to look at a high-priority message only; 0 or MSG_ANY;
 *           out: RS_HIPRI or 0, what the message is
 */
struct strpeek {
	struct strbuf ctlbuf;
	struct strbuf databuf;
	long flags;
};

/**
 * I_PEEK - copy the first message and leave it on the queue
 * @arg: struct strpeek *
 *
 * Return: 1 copied, 0 no message that fits @flags.
 * Errors: EBADMSG getmsg() cannot retrieve the message; EINVAL flags.
 */
#define I_PEEK		_STR_IOC(15)

/**
 * struct strfdinsert - argument of I_FDINSERT
 * @ctlbuf:  control part to send
 * @databuf: data part to send
 * @flags:   RS_HIPRI or 0
 * @fildes:  the Stream to be named in the message
 * @offset:  offset in @ctlbuf for its token, a multiple of 4
 */
struct strfdinsert {
	struct strbuf ctlbuf;
	struct strbuf databuf;
	long flags;
	int fildes;
	int offset;
};

/**
 * I_FDINSERT - send a message that names another Stream
 * @arg: struct strfdinsert *
 *
 * Sleeps on flow control.  Errors: as putmsg(); EINVAL offset or fildes.
 */
#define I_FDINSERT	_STR_IOC(16)

/**
 * I_SWROPT, I_GWROPT - set, get the write mode
 * @arg: int, SNDZERO or 0 and extension bits; int *, gets them
 *
 * Errors: EINVAL unknown bit.
 */
#define I_SWROPT	_STR_IOC(19)
#define I_GWROPT	_STR_IOC(20)

#define SNDZERO		0x001	/* a write of 0 bytes sends a message */
#define SNDPIPE		0x002	/* SIGPIPE when a write fails by M_ERROR */

/**
 * struct str_mlist - one module name, null-terminated
 */
struct str_mlist {
	char l_name[FMNAMESZ + 1];
};

/**
 * struct str_list - argument of I_LIST
 * @sl_nmods:   in: entries at @sl_modlist; out: entries filled
 * @sl_modlist: gets the names, topmost module first, driver last
 */
struct str_list {
	int sl_nmods;
	struct str_mlist *sl_modlist;
};

/**
 * I_LIST - the modules on the Stream, and its driver if it has one
 * @arg: struct str_list *, or NULL to ask for the count
 *
 * Return: the count when @arg is NULL, else 0.
 * Errors: EINVAL sl_nmods below 1.
 */
#define I_LIST		_STR_IOC(21)

/**
 * I_PLINK, I_PUNLINK - as I_LINK, I_UNLINK, but the link remains after a close
 * of the descriptor
 */
#define I_PLINK		_STR_IOC(22)
#define I_PUNLINK	_STR_IOC(23)

/**
 * struct bandinfo - argument of I_FLUSHBAND
 * @bi_pri:  the band
 * @bi_flag: FLUSHR, FLUSHW or FLUSHRW
 */
struct bandinfo {
	unsigned char bi_pri;
	int bi_flag;
};

/**
 * I_FLUSHBAND - I_FLUSH for the messages of one band
 * @arg: struct bandinfo *
 */
#define I_FLUSHBAND	_STR_IOC(28)

/**
 * I_CKBAND - is a message of a band on the Stream head read queue?
 * @arg: int, 0 to 255, or ANYBAND
 *
 * Return: 1 yes, 0 no.
 * Errors: EINVAL no such band.
 */
#define I_CKBAND	_STR_IOC(29)

/**
 * I_GETBAND - band of the first message
 * @arg: int *
 *
 * Errors: ENODATA the queue is empty.
 */
#define I_GETBAND	_STR_IOC(30)

/**
 * I_ATMARK - is the first message marked?
 * @arg: int, ANYMARK, LASTMARK or both
 *
 * Return: 1 yes, with both if either holds; 0 no.
 * Errors: EINVAL other bits, or none.
 */
#define I_ATMARK	_STR_IOC(31)

#define ANYMARK		0x01	/* the message is marked */
#define LASTMARK	0x02	/* and no message behind it is marked */

/**
 * I_SETCLTIME, I_GETCLTIME - how long the whole close waits for data to drain
 * @arg: int *, milliseconds; for I_SETCLTIME a value from 1 to 0x60000 is the
 * number itself
 *
 * Errors: EINVAL out of range.
 */
#define I_SETCLTIME	_STR_IOC(32)
#define I_GETCLTIME	_STR_IOC(33)

/**
 * I_CANPUT - may a band be written without waiting?
 * @arg: int, 0 to 255, or ANYBAND: any band above 0 that has been used
 *
 * Return: 1 yes, 0 flow control stops it.
 * Errors: EINVAL no such band.
 */
#define I_CANPUT	_STR_IOC(34)

/*
 * Extensions, not in POSIX.  First those of other STREAMS systems.
 */

/* I_ANCHOR: modules now on the Stream may be popped by root only. */
#define I_ANCHOR	_STR_IOC(24)

/* I_SERROPT, I_GERROPT (int, int *): is an M_ERROR reported more than once? */
#define I_SERROPT	_STR_IOC(35)
#define I_GERROPT	_STR_IOC(36)
#define RERRNORM	0x00
#define RERRNONPERSIST	0x01	/* a read error is reported once */
#define WERRNORM	0x00
#define WERRNONPERSIST	0x02	/* a write error is reported once */

/**
 * struct strsigset - argument of I_ESETSIG and I_EGETSIG
 * @ss_pid:    process, or minus a process group
 * @ss_events: as for I_SETSIG
 */
struct strsigset {
	int ss_pid;
	long ss_events;
};
#define I_ESETSIG	_STR_IOC(37)	/* 0: the caller */
#define I_EGETSIG	_STR_IOC(38)

/* HP-UX: limits (int *), modules pushed (the result). */
#define I_GET_STH_WROFF	_STR_IOC(85)
#define I_GET_STRMSGSZ	_STR_IOC(86)
#define I_GET_STRCTLSZ	_STR_IOC(87)
#define I_GET_PUSHCNT	_STR_IOC(88)

/* AIX: read mode.  A read waits for the whole length, O_NONBLOCK or not. */
#define RFILL		0x20

/* Bits defined elsewhere and refused here with EINVAL. */
#define RPROTCOMPRESS	0x40

/*
 * Write modes of Linux Fast-STREAMS, the kernel modules of OpenSS7.  Once set,
 * SNDDELIM and SNDMREAD stay set.
 */
#define SNDHOLD		0x004	/* small writes join the last message */
#define SNDDELIM	0x008	/* each write carries MSGDELIM */
#define SNDMREAD	0x010	/* a read sends M_READ before it waits */

/* A band argument that means any band: see I_CKBAND, I_CANPUT. */
#define ANYBAND		(-1)

/**
 * I_SET_HIWAT, I_SET_LOWAT, I_GET_HIWAT, I_GET_LOWAT - water marks
 * @arg: int, bytes; int *, gets them
 *
 * The marks of the Stream head read queue: they limit the bytes that wait for
 * the reader of this end.
 * Errors: EINVAL negative, or the low mark would lie above the high one.
 */
#define I_SET_HIWAT	_STR_IOC(91)
#define I_SET_LOWAT	_STR_IOC(92)
#define I_GET_HIWAT	_STR_IOC(97)
#define I_GET_LOWAT	_STR_IOC(98)

/**
 * struct strpmsg - the calls getpmsg() and putpmsg() as ioctl arguments
 * @ctlbuf:  as the call's ctlptr
 * @databuf: as the call's dataptr
 * @band:    as the call's band
 * @flags:   as the call's flags
 */
struct strpmsg {
	struct strbuf ctlbuf;
	struct strbuf databuf;
	int band;
	int flags;
};
#define I_GETMSG	_STR_IOC(40)	/* number only */
#define I_PUTMSG	_STR_IOC(41)	/* number only */
#define I_GETPMSG	_STR_IOC(42)	/* struct strpmsg * */
#define I_PUTPMSG	_STR_IOC(43)	/* struct strpmsg * */

/**
 * I_PIPE - weld two Streams into a pipe
 * @arg: int, the other Stream's descriptor
 *
 * Errors: EINVAL it is not a new pipe end without a weld, or it is the same
 * end.
 */
#define I_PIPE		_STR_IOC(44)

/**
 * I_ISASTREAM - 0 if the descriptor is a Stream
 */
#define I_ISASTREAM	_STR_IOC(46)

#define I_FIFO		_STR_IOC(45)	/* number only */
#define I_AUTOPUSH	_STR_IOC(48)	/* number only */
#define I_HEAP_REPORT	_STR_IOC(50)	/* number only */
#define I_FATTACH	_STR_IOC(52)
#define I_FDETACH	_STR_IOC(53)

/*
 * Names of LiS, for programs written for it.  The first three are requests of
 * pipe(3), fattach(3) and fdetach(3); the others set and print debugging data
 * of LiS, and return 0 here.
 */
#define I_LIS_SDBGMSK2	_STR_IOC(241)
#define I_LIS_PIPE	_STR_IOC(243)
#define I_LIS_FATTACH	_STR_IOC(244)
#define I_LIS_FDETACH	_STR_IOC(245)
#define I_LIS_PRNTSTRM	_STR_IOC(253)
#define I_LIS_PRNTMEM	_STR_IOC(254)
#define I_LIS_SDBGMSK	_STR_IOC(255)

#ifdef __cplusplus
}
#endif

#if !defined(_KERNEL) && !defined(__STR_CORE__)
#include <stropts.h>
#endif

#endif /* _SYS_STROPTS_H */
