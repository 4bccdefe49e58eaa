/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * How a built-in module registers with the executive.
 *
 * A module file ends with STR_MODULE().  It exports one constant object,
 * str_mod_NAME, which the executive's registry lists.  The registry copies the
 * tables into the arena once per domain.  In the copies it replaces the
 * procedures by addresses that are the same in every member.  So these objects
 * are never written, and may lie in read-only memory.
 */
#ifndef STR_BUILTIN_H
#define STR_BUILTIN_H

#include <sys/stream.h>

struct str_direct;

struct str_builtin {
	const char *name;	     /* [I] the name for I_PUSH, or in a
				      * device's path */
	unsigned int flag;	     /* [I] D_*: among others, how many threads
				      * may be in it */
	unsigned int major;	     /* [I] of a driver; 0: a module */
	const struct streamtab *tab; /* [I] its tables, one for each side */
	void (*const *calls)(void);  /* [I] other procedures whose addresses it
				      * hands out (timeouts, bufcalls, free
				      * routines), NULL at the end; or NULL */
	/* [I] of a driver's write queue, see <str/direct.h>; or NULL */
	int (*direct)(queue_t *q, const struct str_direct *d);
};

/*
 * In addition to D_*: M_DATA and M_PROTO of band 0 pass through the module
 * unchanged, in both directions.
 */
#define STR_D_PLAIN 0x10000000u
/* Of a driver: it is not a transport provider, and passes no message on to one
 * unless a stream is linked below. */
#define STR_D_LOCAL 0x20000000u
/* Of a driver: if a thread is killed in the close procedure, the next closer
 * may call that procedure again.  The procedure then repeats its steps.  It
 * finds q_ptr clear if its memory has been freed already. */
#define STR_D_RECLOSE 0x40000000u

/*
 * Greatest number of procedures a built-in module may hand out; each has a code
 * slot.
 */
#define STR_NCALLS 8

/*
 * Major numbers of the built-in drivers.  A foreign driver that asks for none
 * gets one of the 128 from STR_MAJOR_FREE on that no driver has.  They are far
 * from those of System V and Linux, and end with the 12 bits of a dev_t.
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
#define STR_MAJOR_SCTP 248
#define STR_MAJOR_SCTP_N 249
#define STR_MAJOR_FREE 3968

/*
 * str_drv_state - memory of the driver or module @name that all its streams and
 * all processes share.  It is zeroed at the first call, and never freed. @size
 * 0: do not make it.  NULL: no memory, or no such driver or module, or it was
 * not made.  Context: any.
 */
void *str_drv_state(const char *name, size_t size);

/*
 * str_now - nanoseconds since a fixed moment in the past, which is the same for
 * all members of the domain (CLOCK_MONOTONIC; virtual time under host/sim)
 */
uint64_t str_now(void);

/*
 * str_self - the name of the calling thread, unique in the domain
 * str_stopped - is that thread stopped, by a signal or a debugger?  0 if it has
 * ended, or if that cannot be found out.  Costs some system calls.
 */
unsigned int str_self(void);
int str_stopped(unsigned int thread);

/*
 * str_random - a number that other users and hosts cannot predict; under
 * host/sim the seed determines it.  Costs a system call.  Context: any.
 */
uint64_t str_random(void);

/*
 * STR_POINT - a place where tests can kill the process; empty in other builds
 */
#ifdef STR_CRASH_POINTS
void host_crash_point(const char *label);
#define STR_POINT(label) host_crash_point(label)
#else
#define STR_POINT(label) ((void)0)
#endif

/*
 * str_queue_drops - make tools show how many messages a driver or module has
 * dropped. @n is the counter.  A call with NULL ends that.  Context: any.
 */
void str_queue_drops(queue_t *q, const unsigned long *n);

/*
 * str_getq_done - getq() of a message that has been processed already.  If this
 * thread dies before it frees the message, the message is not put back.
 */
mblk_t *str_getq_done(queue_t *q);

/*
 * str_msg_settle - do not put @mp, which getq() returned, back if this thread
 * dies: the driver handles that case itself
 */
void str_msg_settle(mblk_t *mp);

/*
 * str_msg_hold - stamp @mp with this thread, which is about to unlink it from a
 * list of the driver that other threads put messages on
 * Until then the message has the stamp of the thread that put it there.  If
 * that thread was killed, its reaper frees the messages with its stamp that are
 * on no list.  Only one thread may take messages from the list at a time.
 * Context: any.
 */
void str_msg_hold(mblk_t *mp);

/*
 * For a driver that copies a message to the place where the copy waits, and
 * then frees the original.
 *
 * str_msg_taken - has @mp a record of its origin, so that str_msg_goes() must
 * be called before the copy is made?  That is so if @mp was taken from a queue,
 * from the backlog of a perimeter or from a late list: then it would be put
 * back if this thread died.  It is also so if @mp is a duplicate whose driver
 * asks later whether it was handed on (str_msg_fate()).
 * str_msg_goes - do not put @mp back any more once *@word has changed.  The
 * word lies in the domain's memory; the driver changes it by one store when
 * the copy has been made. @mp must not be linked meanwhile, because b_next and
 * b_prev are in use.
 * str_msg_went - a thread that died had called str_msg_goes() with @mp and
 * @word, and @word has not changed again. @mp may have been freed since then,
 * or may be another message.
 * Context: any, with the driver's own lock, or in its perimeter.
 */
int str_msg_taken(mblk_t *mp);
void str_msg_goes(mblk_t *mp, const void *word);
void str_msg_went(mblk_t *mp, const void *word);

/*
 * str_head_again - let the topmost module change the messages that wait to be
 * read
 * @q:  its read queue; its procedures are on
 * @fn: is called for each message of band 0 at the Stream head, in order;
 *      returns the message that replaces it, or NULL
 *
 * For a module that changes messages and is pushed on a Stream where some have
 * arrived already.  No other message can arrive meanwhile, so @fn must not call
 * a function that puts one.  Context: open procedure.  Crash: if the caller is
 * killed, the messages are lost.
 * Return: 0, or ENOSR: there is no memory, and nothing has changed.
 */
int str_head_again(queue_t *q, mblk_t *(*fn)(queue_t *q, mblk_t *mp));

/*
 * str_head_end - nothing more can be read on the stream, but writes are still
 * possible
 * @q:     a read queue of the stream
 * @ended: a reader gets the messages that wait, and then the end of file at
 *         each read. 0: this ends, and the words that a library keeps at the
 *         head are cleared as at a new stream.
 * Context: any but fn of str_head_again().
 */
void str_head_end(queue_t *q, int ended);

/*
 * Our tables are const, but the members of SVR4's streamtab and qinit are not;
 * hence the casts.
 */
#define STR_MODULE(name_, rinit_, winit_, flag_) \
	STR_MODULE_CALLS(name_, rinit_, winit_, flag_, NULL)

/* The same for a module that hands out procedures, see struct str_builtin. */
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

/* The same for a driver with a direct procedure. */
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
