/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/strport.h> - what modules written for LiS call beside the DDI
 *
 * Each name is made of DDI functions; a module that is written anew uses
 * those.  Include it after the DDI headers.
 */
#ifndef _SYS_LIS_STRPORT_H
#define _SYS_LIS_STRPORT_H

#include <stdarg.h>

#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/kmem.h>
#include <sys/cmn_err.h>
#include <sys/ddi.h>

/* The executive counts the streams that use a module by itself. */
#define MODGET() ((void)0)
#define MODPUT() ((void)0)

/* Memory that members share.  FREE() need not be told how much it is. */
#define ALLOC(n) kmem_alloc((size_t)(n), KM_NOSLEEP)
#define ALLOCF(n, f) kmem_alloc((size_t)(n), KM_NOSLEEP)
#define MALLOC(n) kmem_alloc((size_t)(n), KM_NOSLEEP)
#define ZALLOC(n) kmem_zalloc((size_t)(n), KM_NOSLEEP)
#define FREE(p) kmem_free((p), 0)

/* Parts of a device number. */
#define MAJOR(dev) getmajor(dev)
#define MINOR(dev) getminor(dev)
#define MKDEV(maj, min) makedevice((maj), (min))
#define UMKDEV(maj, min) makedevice((maj), (min))

static __inline__ void
printk(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vcmn_err(CE_CONT, fmt, ap);
	va_end(ap);
}
#ifndef KERN_INFO
#define KERN_EMERG ""
#define KERN_ALERT ""
#define KERN_CRIT ""
#define KERN_ERR ""
#define KERN_WARNING ""
#define KERN_NOTICE ""
#define KERN_INFO ""
#define KERN_DEBUG ""
#endif

/**
 * putqf, putbqf - putq(9) and putbq(9) that free what the queue refuses
 * @q:  the queue
 * @mp: the message; consumed
 */
static __inline__ void
putqf(queue_t *q, mblk_t *mp)
{
	if (putq(q, mp) == 0)
		freemsg(mp);
}

static __inline__ void
putbqf(queue_t *q, mblk_t *mp)
{
	if (putbq(q, mp) == 0)
		freemsg(mp);
}

#endif /* _SYS_LIS_STRPORT_H */
