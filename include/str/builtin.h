/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * How a module that is built in tells the executive that it exists.
 *
 * A module file ends with STR_MODULE().  It exports one constant object,
 * str_mod_NAME, which the executive's registry lists.  The registry copies
 * the tables into the arena once per domain and puts addresses in place of
 * the procedures that mean the same in every member; so nothing here is
 * written, ever, and the objects may lie in read-only memory.
 */
#ifndef STR_BUILTIN_H
#define STR_BUILTIN_H

#include <sys/stream.h>

struct str_direct;

struct str_builtin {
	const char *name;	     /* [I] what I_PUSH, or a device, names */
	unsigned int flag;	     /* [I] D_*: how much of it runs at once */
	unsigned int major;	     /* [I] of a driver; 0: a module */
	const struct streamtab *tab; /* [I] its sides */
	void (*const *calls)(void);  /* [I] other procedures whose addresses it
				      * hands out (timeouts, bufcalls, free
				      * routines), NULL at the end; or NULL */
	/* [I] of a driver's write queue, see <str/direct.h>; or NULL */
	int (*direct)(queue_t *q, const struct str_direct *d);
};

/* Beside D_*: M_DATA and M_PROTO of band 0 pass it as they are, both ways. */
#define STR_D_PLAIN 0x10000000u
/* Of a driver: it is no transport provider, and what is sent to it gets no
 * further to one, unless something is linked below. */
#define STR_D_LOCAL 0x20000000u
/* Of a driver: the close procedure may be called again, by the next closer, when
 * the thread that was in it was killed.  It does again what it had done, and
 * finds q_ptr clear when its memory has gone. */
#define STR_D_RECLOSE 0x40000000u

/* Procedures a built-in may hand out; every one has a code slot. */
#define STR_NCALLS 8

/*
 * Majors of the drivers that are built in.  Foreign ones get numbers from
 * STR_MAJOR_FREE on, in the order of their loading.
 */
#define STR_MAJOR_INET 30
#define STR_MAJOR_IP 31
#define STR_MAJOR_CLONE 230
#define STR_MAJOR_SAD 231
#define STR_MAJOR_ECHO 232
#define STR_MAJOR_NULS 233
#define STR_MAJOR_LOOP 234
#define STR_MAJOR_MUX 235
#define STR_MAJOR_MINIMUX 236
#define STR_MAJOR_LOG 237
#define STR_MAJOR_PRINTK 238
#define STR_MAJOR_SPX 239
#define STR_MAJOR_NSDEV 240
#define STR_MAJOR_FIFO 241
#define STR_MAJOR_PIPE 242
#define STR_MAJOR_TICLTS 243
#define STR_MAJOR_TICOTS 244
#define STR_MAJOR_TICOTSORD 245
#define STR_MAJOR_UDP2 246
#define STR_MAJOR_RAWIP2 247
#define STR_MAJOR_FREE 256

/*
 * str_drv_state - memory of driver @name that is common to all its streams
 * and to all processes: zeroed when first asked for, never freed.
 * NULL: no memory, or no such driver.  Context: any.
 */
void *str_drv_state(const char *name, size_t size);

/*
 * str_now - nanoseconds since some moment in the past, the same for all
 * members of the domain (CLOCK_MONOTONIC; virtual time when simulated)
 */
uint64_t str_now(void);

/*
 * STR_POINT - a passage where tests let a process die; nothing otherwise
 */
#ifdef STR_CRASH_POINTS
void host_crash_point(const char *label);
#define STR_POINT(label) host_crash_point(label)
#else
#define STR_POINT(label) ((void)0)
#endif

/*
 * str_queue_drops - tools are to show how much a driver or module has thrown
 * away: @n counts it, until this is called with NULL.  Context: any.
 */
void str_queue_drops(queue_t *q, const unsigned long *n);

/*
 * str_getq_done - getq() of a message that has been dealt with: it is not put
 * back when this thread dies before it is freed
 */
mblk_t *str_getq_done(queue_t *q);

/*
 * str_msg_settle - @mp, which getq() gave, is not to be put back should this
 * thread die: the driver knows itself what becomes of it then
 */
void str_msg_settle(mblk_t *mp);

/*
 * For a driver that copies a message to where it waits, and then frees it.
 *
 * str_msg_taken - would @mp be put back should this thread die?  It would if it
 * was taken from a queue, or from the backlog of a perimeter.
 * str_msg_goes - from the next change of *@word on it would not.  The word is one
 * of the domain's memory that the driver changes by one store when the copy is
 * made.  @mp is not linked meanwhile: b_next and b_prev are in use.
 * str_msg_went - a thread that died had called str_msg_goes() with @mp and @word;
 * @word has not changed again.  @mp may be freed by now, or another message.
 * Context: any, with the driver's own lock, or in its perimeter.
 */
int str_msg_taken(mblk_t *mp);
void str_msg_goes(mblk_t *mp, const void *word);
void str_msg_went(mblk_t *mp, const void *word);

/*
 * str_head_again - let the topmost module change what waits to be read
 * @q:  its read queue; its procedures are on
 * @fn: is called for each message of band 0 at the Stream head, in order, and
 *      returns what shall be there in its place, or NULL
 *
 * For a module that changes messages, when it is pushed on a Stream where
 * some have arrived already.  No other message arrives meanwhile, so @fn calls
 * nothing that puts one.
 * Context: open procedure.  Crash: the messages go with a killed caller.
 * Return: 0, or ENOSR: there is no memory, and everything is as it was.
 */
int str_head_again(queue_t *q, mblk_t *(*fn)(queue_t *q, mblk_t *mp));

/*
 * str_head_end - nothing more can be read, although one may still write
 * @q:     a read queue of the stream
 * @ended: a reader that reads what waits, and then reads on, finds the end each
 *         time.  0: this is over, and a library that kept words at the head
 *         knows no more of the stream than of a new one.
 * Context: any but fn of str_head_again().
 */
void str_head_end(queue_t *q, int ended);

/*
 * The members of streamtab and qinit are not const in SVR4, ours are: hence
 * the casts.
 */
#define STR_MODULE(name_, rinit_, winit_, flag_) \
	STR_MODULE_CALLS(name_, rinit_, winit_, flag_, NULL)

/* The same of a module that hands out procedures, see struct str_builtin. */
#define STR_MODULE_CALLS(name_, rinit_, winit_, flag_, calls_) \
	static const struct streamtab str_tab_##name_ = { \
		.st_rdinit = (struct qinit *)&(rinit_), \
		.st_wrinit = (struct qinit *)&(winit_), \
	}; \
	extern const struct str_builtin str_mod_##name_; \
	const struct str_builtin str_mod_##name_ = { \
		.name = #name_, \
		.flag = (flag_), \
		.tab = &str_tab_##name_, \
		.calls = (calls_), \
	}

/*
 * A driver: @mrinit_, @mwinit_ are the lower sides of a multiplexor, or
 * STR_NOMUX; @calls_ as in struct str_builtin.
 */
#define STR_NOMUX (*(struct qinit *)0)
#define STR_DRIVER(name_, rinit_, winit_, mrinit_, mwinit_, flag_, major_, \
	calls_) \
	STR_DRIVER_DIRECT(name_, rinit_, winit_, mrinit_, mwinit_, flag_, \
		major_, calls_, NULL)

/* The same of a driver that has the short way of messages. */
#define STR_DRIVER_DIRECT(name_, rinit_, winit_, mrinit_, mwinit_, flag_, \
	major_, calls_, direct_) \
	static const struct streamtab str_tab_##name_ = { \
		.st_rdinit = (struct qinit *)&(rinit_), \
		.st_wrinit = (struct qinit *)&(winit_), \
		.st_muxrinit = (struct qinit *)&(mrinit_), \
		.st_muxwinit = (struct qinit *)&(mwinit_), \
	}; \
	extern const struct str_builtin str_drv_##name_; \
	const struct str_builtin str_drv_##name_ = { \
		.name = #name_, \
		.flag = (flag_), \
		.major = (major_), \
		.tab = &str_tab_##name_, \
		.calls = (calls_), \
		.direct = (direct_), \
	}

#endif
