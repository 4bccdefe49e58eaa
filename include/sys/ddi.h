/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/ddi.h> - functions of modules and drivers other than for queues and
 * messages
 *
 * Include it last, as SVR4 demands: some of its names are macros that would
 * capture declarations made later.
 *
 * Every function's ELF symbol is ddi_NAME, see <sys/stream.h>.
 */
#ifndef _SYS_DDI_H
#define _SYS_DDI_H

#include <stdarg.h>
#define _STR_DDI	/* its functions, too */
#include <sys/stream.h>
#include <sys/dditypes.h>
#include <sys/strlog.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Ticks per second, the unit of timeout(D3).  The value that <sys/param.h>
 * has on Linux, so that a module that includes both counts in one unit.
 */
#ifndef HZ
#define HZ 100
#endif

/**
 * drv_getparm - get a parameter of the system or the caller
 * @parm:   LBOLT, PPID or TIME
 * @valuep: gets the value, an unsigned long
 *
 * LBOLT: ticks since a moment in the past that is the same for all members of
 * the domain.  PPID: process that made the call being served; only in open and
 * close procedures and in put procedures called from them or from the Stream
 * head.  TIME: seconds since 1970.
 *
 * Context: any; PPID only where there is a caller.
 * Return:  0, or -1 if @parm is none of these.
 */
int drv_getparm(unsigned int parm, void *valuep) STR_DDI(drv_getparm);
#define TIME 1
#define LBOLT 4
#define PPID 11

/**
 * drv_priv - is the calling process privileged?
 * @crp: not examined: all processes of a stream have the same effective user
 *
 * Return: 0 if it is (effective user 0), else EPERM.
 */
int drv_priv(cred_t *crp) STR_DDI(drv_priv);

/*
 * Ticks from and to micro- and milliseconds.  To ticks: rounded up, so that
 * a timeout is never early.  From ticks: exact, or the greatest value of the
 * type if it does not fit.
 */
long drv_hztousec(long ticks) STR_DDI(drv_hztousec);
long drv_usectohz(long usec) STR_DDI(drv_usectohz);
unsigned long drv_hztomsec(unsigned long ticks) STR_DDI(drv_hztomsec);
unsigned long drv_msectohz(unsigned long msec) STR_DDI(drv_msectohz);

/**
 * drv_usecwait - busy-wait
 * @usec: microseconds, at least
 *
 * Context: any.
 */
void drv_usecwait(clock_t usec) STR_DDI(drv_usecwait);

/**
 * delay - sleep
 * @ticks: ticks, at least; no signal ends it
 *
 * Context: open and close procedures.
 */
void delay(clock_t ticks) STR_DDI(delay);

/**
 * itimeout - timeout(9) at a priority level
 * @func, @arg: function and its argument
 * @ticks:      from now
 * @pl:         its priority level: accepted, without effect
 *
 * dtimeout also has a processor argument, likewise without effect. untimeout(9)
 * cancels both.
 *
 * Context: any.
 * Return:  an identifier; 0: no memory.
 */
toid_t itimeout(void (*func)(void *), void *arg, long ticks, pl_t pl)
	STR_DDI(itimeout);
toid_t dtimeout(void (*func)(void *), void *arg, long ticks, pl_t pl,
	processorid_t cpu) STR_DDI(dtimeout);

/**
 * copyin, copyout - copy from and to the memory of the process being served
 * @uaddr: its address
 * @kaddr: the module's
 * @len:   bytes
 *
 * In other contexts use M_COPYIN and M_COPYOUT messages.
 *
 * Context: open and close procedures, and put procedures that are called from
 *          the Stream head; elsewhere the memory may belong to another
 *          process.
 * Return:  0, or -1 if the address is bad; then some bytes may have been
 *          copied.
 */
int copyin(const void *uaddr, void *kaddr, size_t len) STR_DDI(copyin);
int copyout(const void *kaddr, void *uaddr, size_t len) STR_DDI(copyout);

/**
 * strlog - log a message
 * @mid:   module, its mi_idnum
 * @sid:   part of it, as a rule the minor
 * @level: detail: 0 is the least detailed; tracers get messages up to a level
 * @flags: SL_ERROR, SL_TRACE, SL_CONSOLE, SL_NOTIFY, SL_FATAL, SL_WARN,
 *         SL_NOTE
 * @fmt:   as of cmn_err(9)
 *
 * Every reader of log(4) that asked for one of the flags gets the message.
 * SL_CONSOLE messages are written to the standard error of this process if no
 * process reads console messages.
 *
 * Context: any.
 * Return:  1; or 0 if there was no memory, or a slow reader of the log has lost
 *          an older message.
 */
int strlog(short mid, short sid, char level, unsigned short flags,
	const char *fmt, ...) STR_DDI(strlog)
	__attribute__((format(printf, 5, 6)));
int vstrlog(short mid, short sid, char level, unsigned short flags,
	const char *fmt, va_list ap) STR_DDI(vstrlog)
	__attribute__((format(printf, 5, 0)));

/**
 * register_strlog - register a procedure that replaces strlog(9)
 * @newlog: called instead, in every process; NULL: end the registration
 *
 * @newlog is a procedure of a loaded module, and does not call strlog(9)
 * itself.  It does not get the messages that programs write to the log driver.
 *
 * Context: any.
 * Return:  the procedure that was registered before, or NULL; @newlog if it
 *          cannot be registered.
 */
typedef int (*vstrlog_t)(short mid, short sid, char level,
	unsigned short flags, const char *fmt, va_list ap);
vstrlog_t register_strlog(vstrlog_t newlog) STR_DDI(register_strlog);

/* Take a device number apart, and make one of its parts. */
static __inline__ major_t
getmajor(dev_t dev)
{
	__extension__ unsigned long long d = dev;

	return (major_t)(((d >> 8) & 0xfff) | ((d >> 44) << 12));
}

static __inline__ minor_t
getminor(dev_t dev)
{
	__extension__ unsigned long long d = dev;

	return (minor_t)((d & 0xff) | ((d >> 20) << 8));
}

static __inline__ dev_t
makedevice(major_t major, minor_t minor)
{
	__extension__ unsigned long long maj = major, min = minor;

	return (dev_t)((maj & 0xfff) << 8 | (maj >> 12) << 44 |
		(min & 0xff) | (min >> 8) << 20);
}

/* External and internal device numbers are the same here. */
#define getemajor(dev) getmajor(dev)
#define geteminor(dev) getminor(dev)
#define emajor(dev) getemajor(dev)
#define eminor(dev) geteminor(dev)
#define etoimajor(emaj) ((int)(emaj))
#define itoemajor(imaj, lastemaj) ((lastemaj) == -1 ? (int)(imaj) : -1)

/*
 * freezestr - until unfreezestr(), no other thread puts messages on the queues
 * of @q's stream or takes them off.
 * Return: the level before, as for splx(9).
 */
pl_t freezestr(queue_t *q) STR_DDI(freezestr);
void unfreezestr(queue_t *q, pl_t level) STR_DDI(unfreezestr);
#ifndef __STR_CORE__
/* Solaris has no levels: unfreezestr(q). */
#define STR_UNFREEZE_(q, level, ...) unfreezestr(q, level)
#define unfreezestr(...) STR_UNFREEZE_(__VA_ARGS__, 0, 0)
#endif

/*
 * MPSTR_QLOCK, MPSTR_QRELE - freezestr() and unfreezestr() under the names of
 * other systems.  MPSTR_STPLOCK, MPSTR_STPRELE prevent changes of the links
 * between a stream's queues; here only weldq() makes such a change during a put
 * or service procedure, and they do not exclude it.
 */
#define MPSTR_QLOCK(q) ((void)freezestr(q))
#define MPSTR_QRELE(q) unfreezestr((q), 0)
#define MPSTR_STPLOCK(q) ((void)(q))
#define MPSTR_STPRELE(q) ((void)(q))

/**
 * weldq - connect a driver's write queue with the read queue of another stream
 * @q1:    write queue of a driver, whose messages are sent ...
 * @q2:    ... to this read queue of a driver, of another stream or the same
 * @q3, @q4: likewise for the other direction; or NULL
 * @func:  called with @arg after the change; or NULL
 * @protq: queue in whose perimeter @func is called; or NULL
 *
 * From then on putnext(9) and canputnext(9) of @q1 apply to @q2. unweldq takes
 * the same arguments and ends that.  It must be called before either queue is
 * freed: in the close procedure before qprocsoff(9).
 *
 * Context: any procedure of the module; unweldq in a close procedure waits
 *          until no thread uses the weld any more.
 * Crash:   a weld is made by two stores, so after a crash it may exist in one
 *          direction only.
 * Return:  0; EINVAL: these queues cannot be welded, or are not welded; EBUSY:
 *          @q1 or @q3 has a next queue already; ENOMEM: @func cannot be called.
 */
typedef void *weld_arg_t;
typedef void (*weld_fcn_t)(weld_arg_t arg);
int weldq(queue_t *q1, queue_t *q2, queue_t *q3, queue_t *q4,
	weld_fcn_t func, weld_arg_t arg, queue_t *protq) STR_DDI(weldq);
int unweldq(queue_t *q1, queue_t *q2, queue_t *q3, queue_t *q4,
	weld_fcn_t func, weld_arg_t arg, queue_t *protq) STR_DDI(unweldq);

/**
 * snprintf, vsnprintf, sprintf - format text, after Solaris
 * @buf, @size: buffer for the text and its NUL; for sprintf it must be large
 *              enough
 * @fmt:        as of cmn_err(9)
 *
 * Context: any.
 * Return:  length of the whole text without the NUL, even if it was cut off.
 */
int str_ddi_snprintf(char *buf, size_t size, const char *fmt, ...)
	STR_DDI(snprintf)
	__attribute__((__format__(__printf__, 3, 4)));
int str_ddi_vsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
	STR_DDI(vsnprintf) __attribute__((__format__(__printf__, 3, 0)));
int str_ddi_sprintf(char *buf, const char *fmt, ...) STR_DDI(sprintf)
	__attribute__((__format__(__printf__, 2, 3)));
#if defined(_KERNEL) && !defined(_STDIO_H) && !defined(__cplusplus)
#define snprintf str_ddi_snprintf
#define vsnprintf str_ddi_vsnprintf
#define sprintf str_ddi_sprintf
#endif

/*
 * Names of other systems for the same functions. physreq has no effect, because
 * there is no DMA.
 */
#define puthere(q, mp) put((q), (mp))
#define allocb_physreq(size, pri, physreq) \
	((void)(physreq), allocb((size), (pri)))
#define icmn_err(level, fmt, ap) vcmn_err((level), (fmt), (ap))

#ifndef __cplusplus
/*
 * alloc_proto - SVR3: an M_PROTO or M_PCPROTO block of @psize bytes and, if
 * @dsize is not negative, an M_DATA block of @dsize bytes behind it; b_wptr is
 * behind these bytes in both.
 */
static __inline__ __attribute__((__unused__)) mblk_t *
alloc_proto(long psize, long dsize, int type, unsigned int pri)
{
	mblk_t *mp = allocb((size_t)psize, pri), *dp = (mblk_t *)0;

	if (mp != (mblk_t *)0 && dsize >= 0) {
		dp = allocb((size_t)dsize, pri);
		if (dp == (mblk_t *)0) {
			freeb(mp);
			return dp;
		}
		dp->b_wptr += dsize;
	}
	if (mp != (mblk_t *)0) {
		mp->b_datap->db_type = (unsigned char)type;
		mp->b_wptr += psize;
		mp->b_cont = dp;
	}
	return mp;
}
#endif

/**
 * getmid - the number of a module or driver, its mi_idnum
 * @name: its name for I_PUSH or open(2)
 *
 * getadmin returns the admin procedure of the module or driver with that number;
 * NULL: it has none, or there is none.  Both search the drivers before the
 * modules, and only what is loaded.
 *
 * Context: any.
 * Return:  the number; 0: there is no such module or driver.
 */
unsigned short getmid(const char *name) STR_DDI(getmid);
qi_qadmin_t getadmin(unsigned short mid) STR_DDI(getadmin);

#ifndef __cplusplus
/*
 * Functions for bytes and numbers. bcopy() allows overlapping ranges; bcmp() is
 * 0 if they are equal.  The names are macros without arguments, so that
 * <strings.h> may declare its own functions earlier or later; later, it
 * declares the functions of these macros once more.  Not in C++, where the
 * macros would replace the names of members.
 */
#undef bcopy
#undef bzero
#undef bcmp
#undef min
#undef max
#define bcopy str_ddi_bcopy
#define bzero str_ddi_bzero
#define bcmp str_ddi_bcmp
#define min(a, b) str_ddi_min((a), (b))
#define max(a, b) str_ddi_max((a), (b))

static __inline__ void
str_ddi_bcopy(const void *from, void *to, __SIZE_TYPE__ len)
{
	__builtin_memmove(to, from, len);
}

static __inline__ void
str_ddi_bzero(void *addr, __SIZE_TYPE__ len)
{
	__builtin_memset(addr, 0, len);
}

static __inline__ int
str_ddi_bcmp(const void *a, const void *b, __SIZE_TYPE__ len)
{
	return __builtin_memcmp(a, b, len) != 0;
}

static __inline__ int
str_ddi_min(int a, int b)
{
	return a < b ? a : b;
}

static __inline__ int
str_ddi_max(int a, int b)
{
	return a > b ? a : b;
}
#endif

#ifdef __cplusplus
}
#endif

#endif /* _SYS_DDI_H */
