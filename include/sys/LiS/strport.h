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
#include <sys/ksynch.h>
#include <sys/strconf.h>
#include <sys/ddi.h>
#include <sys/LiS/config.h>

/* <sys/modctl.h> has another structure under this name. */
#pragma push_macro("fmodsw")
#undef fmodsw

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
#define DEV_TO_INT(dev) ((int)(dev))
#define DEV_SAME(a, b) ((a) == (b))

/* How a procedure is called that a kernel's other parts call. */
#define _RP

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

/* LiS has its functions under names of its own as well. */
#define lis_allocb allocb
#define lis_esballoc esballoc
#define lis_testb testb
#define lis_freeb freeb
#define lis_freemsg freemsg
#define lis_dupb dupb
#define lis_dupmsg dupmsg
#define lis_copyb copyb
#define lis_copymsg copymsg
#define lis_adjmsg adjmsg
#define lis_linkb linkb
#define lis_unlinkb unlinkb
#define lis_rmvb rmvb
#define lis_msgdsize msgdsize
#define lis_msgsize msgsize
#define lis_xmsgsize xmsgsize
#define lis_msgpullup msgpullup
#define lis_pullupmsg pullupmsg
#define lis_bufcall bufcall
#define lis_unbufcall unbufcall
#define lis_esbbcall esbbcall
#define lis_putnext putnext
#define lis_putq putq
#define lis_putbq putbq
#define lis_insq insq
#define lis_appq appq
#define lis_getq getq
#define lis_rmvq rmvq
#define lis_flushq flushq
#define lis_flushband flushband
#define lis_qsize qsize
#define lis_qreply qreply
#define lis_backq backq
#define lis_putctl putctl
#define lis_putctl1 putctl1
#define lis_putnextctl putnextctl
#define lis_putnextctl1 putnextctl1
#define lis_strqget strqget
#define lis_strqset strqset
#define lis_enableok enableok
#define lis_noenable noenable
#define lis_canenable canenable
#define lis_qenable qenable
#define lis_canput canput
#define lis_canputnext canputnext
#define lis_bcanput bcanput
#define lis_bcanputnext bcanputnext
#define lis_qprocson qprocson
#define lis_qprocsoff qprocsoff
#define lis_strlog strlog
#define lis_cmn_err cmn_err
#define lis_drv_getparm drv_getparm
#define lis_freezestr freezestr
#define lis_unfreezestr unfreezestr
#define lis_splstr splstr
#define lis_splx splx
#define lis_timeout_fcn timeout
#define lis_untimeout untimeout
#define lis_alloc_kernel(n) kmem_alloc((size_t)(n), KM_NOSLEEP)
#define lis_free_mem(p) kmem_free((p), 0)

/*
 * Its locks.  Like all locks of a module they know their owner, and one that a
 * killed process had is broken; no interrupts are held off.
 */
typedef kmutex_t lis_spin_lock_t;
typedef pl_t lis_flags_t;
#define lis_spin_lock_init(l, name) \
	mutex_init((l), (char *)(name), MUTEX_DRIVER, (void *)0)
#define lis_spin_lock(l) mutex_enter(l)
#define lis_spin_unlock(l) mutex_exit(l)
#define lis_spin_trylock(l) mutex_tryenter(l)
#define lis_spin_lock_irq(l) mutex_enter(l)
#define lis_spin_unlock_irq(l) mutex_exit(l)
#define lis_spin_lock_irqsave(l, flags) (*(flags) = 0, mutex_enter(l))
#define lis_spin_unlock_irqrestore(l, flags) ((void)*(flags), mutex_exit(l))

typedef volatile int lis_atomic_t;
#define lis_atomic_set(a, n) __atomic_store_n((a), (n), __ATOMIC_SEQ_CST)
#define lis_atomic_read(a) __atomic_load_n((a), __ATOMIC_SEQ_CST)
#define lis_atomic_inc(a) ((void)__atomic_add_fetch((a), 1, __ATOMIC_SEQ_CST))
#define lis_atomic_dec(a) ((void)__atomic_sub_fetch((a), 1, __ATOMIC_SEQ_CST))
#define lis_atomic_add(a, n) \
	((void)__atomic_add_fetch((a), (n), __ATOMIC_SEQ_CST))
#define lis_atomic_sub(a, n) \
	((void)__atomic_sub_fetch((a), (n), __ATOMIC_SEQ_CST))

/*
 * Its way of making a module or driver known: in init_module(), which is called
 * once, when it is loaded.  cleanup_module() is not called.
 */
#define init_module strmod__init
#define cleanup_module strmod__fini
#if !defined(__init) && !defined(__cplusplus) /* a member in <stdlib.h> */
#define __init
#define __exit
#endif
#define module_init(fn) int strmod__init(void) { return fn(); }
#define module_exit(fn) void strmod__fini(void) { fn(); }
#define MODULE_AUTHOR(text) struct str_lis_said
#define MODULE_DESCRIPTION(text) struct str_lis_said
#define MODULE_LICENSE(text) struct str_lis_said
#define EXPORT_SYMBOL(name) struct str_lis_said

#define STR_LIS_NMOD 8

static __inline__ __attribute__((__unused__)) struct fmodsw *
str_lis_mod(struct streamtab *tab, struct streamtab *want)
{
	static struct fmodsw mod[STR_LIS_NMOD];
	int i;

	for (i = 0; i < STR_LIS_NMOD; i++)
		if (mod[i].f_str == want) {
			mod[i].f_str = tab;
			return &mod[i];
		}
	return (struct fmodsw *)0;
}

/**
 * lis_register_strmod, lis_register_strdev - register_strmod(9) and
 * register_strdev(9) as LiS has them
 * @tab:    the streamtab
 * @major:  0: one that is free
 * @nminor: not looked at
 * @name:   what is pushed or opened, at most FMNAMESZ characters
 *
 * Return: 0 or the major number, else minus an errno.
 */
static __inline__ __attribute__((__unused__)) int
lis_register_strmod(struct streamtab *tab, const char *name)
{
	struct fmodsw *mod = str_lis_mod(tab, (struct streamtab *)0);
	int i, err;

	if (mod == (struct fmodsw *)0)
		return -ENOSR;
	for (i = 0; i < FMNAMESZ && name[i] != '\0'; i++)
		mod->f_name[i] = name[i];
	err = name[i] != '\0' ? -EINVAL : register_strmod(mod);
	if (err < 0)
		mod->f_str = (struct streamtab *)0;
	return err;
}

static __inline__ __attribute__((__unused__)) int
lis_unregister_strmod(struct streamtab *tab)
{
	struct fmodsw *mod = str_lis_mod(tab, tab);

	return mod == (struct fmodsw *)0 ? -ENXIO : unregister_strmod(mod);
}

static __inline__ __attribute__((__unused__)) int
lis_register_strdev(major_t major, struct streamtab *tab, int nminor,
	const char *name)
{
	struct cdevsw dev;

	(void)nminor;
	dev.d_name = name;
	dev.d_str = tab;
	dev.d_flag = (int *)0;
	return register_strdev(&dev, major);
}

#pragma pop_macro("fmodsw")

#endif /* _SYS_LIS_STRPORT_H */
