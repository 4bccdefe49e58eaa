/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/LiS/strport.h> - functions for LiS modules beside the DDI
 *
 * Each is made of DDI functions, which new modules should use directly.
 * Include it after the DDI headers.
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

/* Memory that members share.  FREE() needs no size. */
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

/* Calling convention of procedures that other parts of a kernel call. */
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
 * putqf, putbqf - putq(9) and putbq(9) that free a message which the queue
 * refuses
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

/* LiS's own names for its functions. */
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
 * LiS's locks.  Like all locks of a module they contain the tag of their owner,
 * and the lock of a killed process is released.  They do not block interrupts.
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

/*
 * Semaphores.  lis_down() ends with -EINTR when a signal came.  Open and close
 * procedures may wait, and leave their module's perimeter meanwhile.
 */
typedef ksema_t lis_semaphore_t;
#define lis_sem_init(s, n) \
	sema_init((s), (uint_t)(n), (char *)0, SEMA_DRIVER, (void *)0)
#define lis_sem_destroy(s) (sema_destroy(s), (lis_semaphore_t *)0)
#define lis_down(s) (sema_p_sig(s) != 0 ? -EINTR : 0)
#define lis_down_nosig(s) sema_p(s)
#define lis_up(s) sema_v(s)

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
 * Devices have no nodes here: streams.conf(5) defines their names.  These
 * functions do nothing and succeed.
 */
#define lis_mknod(name, mode, dev) ((void)(name), (void)(mode), (void)(dev), 0)
#define lis_unlink(name) ((void)(name), 0)

/**
 * lis_print_msg - describe a message in the log, by cmn_err(9)
 * @mp:     the message, or NULL; stays the caller's
 * @prefix: put before each line
 * @opt:    PRINT_DATA_SHORT: types and sizes; PRINT_DATA_RDWR: the data, too;
 *          PRINT_DATA_ENTIRE: the whole buffer
 */
#define PRINT_DATA_SHORT 0
#define PRINT_DATA_ENTIRE 1
#define PRINT_DATA_RDWR 2

static __inline__ __attribute__((__unused__)) void
lis_print_msg(mblk_t *mp, const char *prefix, int opt)
{
	const unsigned char *p, *end;

	for (; mp != (mblk_t *)0; mp = mp->b_cont) {
		cmn_err(CE_CONT, "%s type 0x%x, band %d, %d bytes of %d\n",
			prefix, mp->b_datap->db_type, mp->b_band,
			(int)(mp->b_wptr - mp->b_rptr),
			(int)(mp->b_datap->db_lim - mp->b_datap->db_base));
		if (opt == PRINT_DATA_SHORT)
			continue;
		p = opt == PRINT_DATA_ENTIRE ? mp->b_datap->db_base :
			mp->b_rptr;
		end = opt == PRINT_DATA_ENTIRE ? mp->b_datap->db_lim :
			mp->b_wptr;
		for (; end - p >= 4; p += 4)
			cmn_err(CE_CONT, "%s %x %x %x %x\n", prefix, p[0],
				p[1], p[2], p[3]);
		for (; p < end; p++)
			cmn_err(CE_CONT, "%s %x\n", prefix, *p);
	}
}

/*
 * LiS modules and drivers register in init_module(), which is called once, when
 * the module is loaded. cleanup_module() is not called.
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

/* The modules and drivers that an image has registered. */
struct str_lis_reg {
	struct fmodsw mod; /* f_str NULL: free */
	struct cdevsw dev;
	major_t major; /* of a driver; 0: a module */
	int flag;      /* D_*: how many threads may run in it */
};

static __inline__ __attribute__((__unused__)) struct str_lis_reg *
str_lis_nth(int n)
{
	static struct str_lis_reg reg[STR_LIS_NMOD];

	return n < 0 || n >= STR_LIS_NMOD ? (struct str_lis_reg *)0 : &reg[n];
}

/* The number of the module with @tab, or of the driver with @major; or -1. */
static __inline__ __attribute__((__unused__)) int
str_lis_find(const struct streamtab *tab, major_t major)
{
	int n;

	for (n = 0; n < STR_LIS_NMOD; n++)
		if (str_lis_nth(n)->major == major &&
			(major != 0 || str_lis_nth(n)->mod.f_str == tab))
			return n;
	return -1;
}

static __inline__ __attribute__((__unused__)) int
str_lis_register(struct str_lis_reg *r, int driver)
{
	int err;

	r->mod.f_flag = r->dev.d_flag = &r->flag;
	r->dev.d_name = r->mod.f_name;
	r->dev.d_str = r->mod.f_str;
	if (!driver)
		return register_strmod(&r->mod);
	err = register_strdev(&r->dev, r->major);
	if (err > 0)
		r->major = (major_t)err;
	return err;
}

static __inline__ __attribute__((__unused__)) int
str_lis_unregister(struct str_lis_reg *r)
{
	if (r == (struct str_lis_reg *)0 ||
		r->mod.f_str == (struct streamtab *)0)
		return -ENXIO;
	return r->major != 0 ? unregister_strdev(&r->dev, r->major) :
			       unregister_strmod(&r->mod);
}

/* Register @tab as @name.  Return: its number, or minus an errno. */
static __inline__ __attribute__((__unused__)) int
str_lis_new(struct streamtab *tab, const char *name, int driver, major_t major)
{
	int n = str_lis_find((struct streamtab *)0, 0), i, err;
	struct str_lis_reg *r = str_lis_nth(n);

	if (r == (struct str_lis_reg *)0)
		return -ENOSR;
	for (i = 0; i < FMNAMESZ && name[i] != '\0'; i++)
		r->mod.f_name[i] = name[i];
	if (name[i] != '\0')
		return -EINVAL;
	r->mod.f_name[i] = '\0';
	r->mod.f_str = tab;
	r->major = major;
	r->flag = 0;
	err = str_lis_register(r, driver);
	if (err < 0) {
		r->mod.f_str = (struct streamtab *)0;
		r->major = 0;
	}
	return err < 0 ? err : n;
}

static __inline__ __attribute__((__unused__)) int
str_lis_gone(int n)
{
	struct str_lis_reg *r = str_lis_nth(n);
	int err = str_lis_unregister(r);

	if (err == 0) {
		r->mod.f_str = (struct streamtab *)0;
		r->major = 0;
	}
	return err;
}

static __inline__ __attribute__((__unused__)) int
str_lis_qlock(int n, int opt)
{
	struct str_lis_reg *r = str_lis_nth(n);
	int err;

	if (opt < 0 || opt > 3)
		return -EINVAL;
	err = str_lis_unregister(r);
	if (err < 0)
		return err;
	r->flag = opt == 0 ? D_MP : opt == 1 ? D_MTPERQ :
		opt == 2 ? D_MTQPAIR : D_MTPERMOD;
	err = str_lis_register(r, r->major != 0);
	return err < 0 ? err : 0;
}

/**
 * lis_register_strmod, lis_register_strdev - register_strmod(9) and
 * register_strdev(9) with LiS's arguments
 * @tab:    the streamtab
 * @major:  0: one that is free
 * @nminor: ignored
 * @name:   its name for I_PUSH or open, at most FMNAMESZ characters
 *
 * lis_unregister_strmod, lis_unregister_strdev - end the registration
 *
 * An image has at most STR_LIS_NMOD of them.
 * Return: the module's number or the driver's major number, or 0; else minus
 * an errno.
 */
#define LIS_NULL_MID (-1)
typedef int modID_t;

static __inline__ __attribute__((__unused__)) modID_t
lis_register_strmod(struct streamtab *tab, const char *name)
{
	return str_lis_new(tab, name, 0, 0);
}

static __inline__ __attribute__((__unused__)) int
lis_unregister_strmod(struct streamtab *tab)
{
	return str_lis_gone(str_lis_find(tab, 0));
}

static __inline__ __attribute__((__unused__)) int
lis_register_strdev(major_t major, struct streamtab *tab, int nminor,
	const char *name)
{
	int n = str_lis_new(tab, name, 1, major);

	(void)nminor;
	return n < 0 ? n : (int)str_lis_nth(n)->major;
}

static __inline__ __attribute__((__unused__)) int
lis_unregister_strdev(major_t major)
{
	return str_lis_gone(major == 0 ? -1 :
		str_lis_find((struct streamtab *)0, major));
}

/**
 * lis_register_driver_qlock_option, lis_register_module_qlock_option - how many
 * threads may run in a driver or module at once
 * @id:  result of lis_register_strmod()
 * @opt: LIS_QLOCK_NONE: D_MP; LIS_QLOCK_QUEUE: D_MTPERQ; LIS_QLOCK_QUEUE_PAIR:
 *       D_MTQPAIR; LIS_QLOCK_GLOBAL: D_MTPERMOD, the default
 *
 * In init_module(), after the registration.
 * Return: 0, or minus an errno.
 */
#define LIS_QLOCK_NONE 0
#define LIS_QLOCK_QUEUE 1
#define LIS_QLOCK_QUEUE_PAIR 2
#define LIS_QLOCK_GLOBAL 3

static __inline__ __attribute__((__unused__)) int
lis_register_driver_qlock_option(major_t major, int opt)
{
	return str_lis_qlock(major == 0 ? -1 :
		str_lis_find((struct streamtab *)0, major), opt);
}

static __inline__ __attribute__((__unused__)) int
lis_register_module_qlock_option(modID_t id, int opt)
{
	return str_lis_qlock(id, opt);
}

#pragma pop_macro("fmodsw")

#endif /* _SYS_LIS_STRPORT_H */
