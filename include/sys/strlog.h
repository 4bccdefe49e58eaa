/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/strlog.h> - messages for the STREAMS loggers, log(4)
 *
 * A logged message has a struct log_ctl as its control part and text as its
 * data part.
 */
#ifndef _SYS_STRLOG_H
#define _SYS_STRLOG_H

#ifdef __cplusplus
extern "C" {
#endif

/* Destinations and severity of a message: strlog(9), log_ctl.flags. */
#define SL_ERROR 0x01	/* for the error logger */
#define SL_TRACE 0x02	/* for tracers */
#define SL_NOTIFY 0x04	/* for a person's mailbox */
#define SL_CONSOLE 0x08 /* for the console */
#define SL_FATAL 0x10	/* a permanent failure */
#define SL_WARN 0x20	/* a warning */
#define SL_NOTE 0x40	/* a notice */

/* Control part of a logged message. */
struct log_ctl {
	short mid;	    /* module, its mi_idnum */
	short sid;	    /* part of it, as a rule the minor */
	char level;	    /* detail: 0 is the least detailed */
	short flags;	    /* SL_* */
	unsigned int ltime; /* when, in ticks: LBOLT */
	unsigned int ttime; /* when, in seconds since 1970 */
	int seq_no;	    /* number of the message in its logger's stream */
	int pri;	    /* facility and priority, as for syslog(3) */
};

/* Content of an I_TRCLOG: which messages to receive; -1 is any. */
struct trace_ids {
	short ti_mid;
	short ti_sid;
	char ti_level; /* and of this level or below */
	short ti_flags;
};

/* ioctls of the log driver: this stream receives messages from now on. */
#define LOGCTL ('L' << 8)
#define I_ERRLOG (LOGCTL | 1)  /* SL_ERROR */
#define I_TRCLOG (LOGCTL | 2)  /* SL_TRACE, an array of struct trace_ids */
#define I_CONSLOG (LOGCTL | 3) /* SL_CONSOLE */

#ifdef __cplusplus
}
#endif

#endif /* _SYS_STRLOG_H */
