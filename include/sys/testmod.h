/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/testmod.h> - commands of the module that misbehaves on purpose
 *
 * testmod passes all messages on, as nullmod does.  These commands make it send
 * up the messages that a failing driver would send.  Programs, and our
 * conformance suite, use it to test how the Stream head handles hang-ups,
 * errors, signals and copy requests.
 *
 * A command is given with I_STR (@arg below is then at ic_dp) or directly
 * with ioctl() (@arg is then the third argument), unless it says otherwise.
 * Every command is answered; ENOSR if there is no memory for the message.
 */
#ifndef _SYS_TESTMOD_H
#define _SYS_TESTMOD_H

#include <sys/types.h>

#define TM_IOC_MAGIC	'V'
#define _TM_IOC(n)	((TM_IOC_MAGIC << 8) | (n))

/* TM_IOC_HANGUP (no argument): M_HANGUP. */
#define TM_IOC_HANGUP	_TM_IOC(1)

/*
 * TM_IOC_RDERR, WRERR, RWERR (long, an errno value): M_ERROR for reading only,
 * for writing only, and for both in the one-byte form.
 */
#define TM_IOC_RDERR	_TM_IOC(2)
#define TM_IOC_WRERR	_TM_IOC(3)
#define TM_IOC_RWERR	_TM_IOC(4)

/*
 * TM_IOC_PSIGNAL (long, a signal number): M_PCSIG, at once.
 * TM_IOC_NSIGNAL (long, a signal number): M_SIG, in its turn on the queue.
 */
#define TM_IOC_PSIGNAL	_TM_IOC(5)
#define TM_IOC_NSIGNAL	_TM_IOC(6)

/*
 * TM_IOC_IOCTL (any data, I_STR only): the data comes back as bytes of
 * TM_FILL, the result is 0.  EINVAL if transparent.
 */
#define TM_IOC_IOCTL	_TM_IOC(7)

/*
 * TM_IOC_COPYIN, COPYOUT, COPYIO (an address, transparent only): M_COPYIN of
 * TM_COPYSZ bytes, M_COPYOUT of as many bytes of TM_FILL, or both in turn.
 * EINVAL if sent with I_STR.
 */
#define TM_IOC_COPYIN	_TM_IOC(8)
#define TM_IOC_COPYOUT	_TM_IOC(9)
#define TM_IOC_COPYIO	_TM_IOC(10)

/* Extension: names for the numbers that a caller needs. */
#define TM_COPYSZ	(16 * (int)sizeof(long))	/* FASTBUF bytes */
#define TM_FILL		0xa5

#endif /* _SYS_TESTMOD_H */
