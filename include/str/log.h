/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The interface between strlog(9) and the log driver.
 *
 * The executive keeps the last STR_LOG_MSGS messages of the domain in a ring
 * in the arena. The log driver registers the read queue of each stream that
 * asked for messages (I_ERRLOG, I_TRCLOG, I_CONSLOG).  The executive enables
 * such a queue for every message that it asked for.  The queue's service
 * procedure then takes the messages one by one:
 *
 *	while (canputnext(q) && (mp = str_log_get(q)) != NULL)
 *		putnext(q, mp);
 *
 * A logger that is too slow loses the oldest messages; seq_no then has a gap.
 *
 * Locks. The ring has one lock, taken inside these functions only. They
 * may be called from any procedure.
 *
 * Crash.  A message is in the ring from the store of its number as the newest
 * one on (`last' in core/ddi/strlog.c).  str_log_close(), which the driver's
 * close procedure calls, ends a registration.
 */
#ifndef STR_LOG_H
#define STR_LOG_H

#include <sys/stream.h>
#include <sys/strlog.h>

#define STR_LOG_MSGS 256u  /* messages kept */
#define STR_LOG_TEXT 1024u /* of each, its NUL included: LOGMAX */
#define STR_LOG_QUEUES 64u /* loggers at once */

/**
 * str_log_open - register a stream for messages, from now on
 * @q:    read queue of the log driver, with a service procedure
 * @what: SL_ERROR, SL_TRACE and SL_CONSOLE, or'ed to what @q had already
 * @ids: SL_TRACE: the trace ids; copied
 * @n: their number; they replace the ids of @q
 *
 * Return: 0, EINVAL, ENOSR (no memory, or too many loggers).
 */
int str_log_open(queue_t *q, int what, const struct trace_ids *ids,
	unsigned int n) STR_DDI(str_log_open);

/* str_log_close - end the registration of @q. */
void str_log_close(queue_t *q) STR_DDI(str_log_close);

/*
 * str_log_wanted - the SL_* flags for which @q is registered; NULL: for which
 * any queue is.
 */
int str_log_wanted(queue_t *q) STR_DDI(str_log_wanted);

/**
 * str_log_get - the next message for a registered queue
 * @q: the queue
 *
 * Return: M_PROTO (struct log_ctl) and M_DATA (text and its NUL), which the
 * caller owns; NULL: there is no message now, or no memory for it.  Locks: one
 * thread at a time takes messages of @q, as its service procedure.  Crash: if
 * the caller is killed, the message is put back for @q.
 */
mblk_t *str_log_get(queue_t *q) STR_DDI(str_log_get);

/**
 * str_log_put - log a message that a program has sent to the driver
 * @lc:   as sent; ltime, ttime and seq_no are filled in here
 * @text: its text
 * @len:  bytes of it; cut off at STR_LOG_TEXT - 1
 *
 * Return: 1; or 0 if there was no memory, or a slow reader has lost an older
 * message.
 */
int str_log_put(const struct log_ctl *lc, const char *text, size_t len)
	STR_DDI(str_log_put);

#endif
