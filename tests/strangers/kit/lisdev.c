/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* lisdev - a driver for LiS: registers itself in init_module() */
#include <sys/LiS/module.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/cmn_err.h>
#include <sys/dki.h>

MODULE_LICENSE("BSD");
MODULE_AUTHOR("somebody");

static int ld_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *credp);
static int ld_close(queue_t *q, int flag, cred_t *credp);
static int ld_wput(queue_t *q, mblk_t *mp);
static struct module_info ld_minfo = { 0x1156, "lisdev", 0, INFPSZ, 4096, 512 };
static struct qinit ld_rinit = { NULL, NULL, ld_open, ld_close, NULL, &ld_minfo, NULL };
static struct qinit ld_winit = { ld_wput, NULL, NULL, NULL, NULL, &ld_minfo, NULL };
static struct streamtab ld_info = { &ld_rinit, &ld_winit, NULL, NULL };
static lis_atomic_t opens;
static lis_spin_lock_t lock;
static lis_semaphore_t sem;
static int minors;

static int ld_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *credp)
{
	lis_flags_t psw;

	if (q->q_ptr != NULL)
		return 0;
	if (sflag == MODOPEN)
		return -EINVAL;
	if (lis_down(&sem) < 0)
		return -EINTR;
	lis_up(&sem);
	MODGET();
	lis_spin_lock_irqsave(&lock, &psw);
	if (sflag == CLONEOPEN)
		*devp = MKDEV(getmajor(*devp), ++minors);
	lis_spin_unlock_irqrestore(&lock, &psw);
	if (MINOR(*devp) > 5)
		return -ENODEV;
	lis_atomic_inc(&opens);
	q->q_ptr = OTHERQ(q)->q_ptr = ALLOC(32);
	return q->q_ptr == NULL ? -ENOMEM : 0;
}

static int ld_close(queue_t *q, int flag, cred_t *credp)
{
	FREE(q->q_ptr);
	lis_atomic_dec(&opens);
	MODPUT();
	return 0;
}

static int ld_wput(queue_t *q, mblk_t *mp)
{
	struct iocblk *ioc;

	switch (mp->b_datap->db_type) {
	case M_IOCTL:
		ioc = (struct iocblk *)mp->b_rptr;
		mp->b_datap->db_type = M_IOCACK;
		ioc->ioc_rval = lis_atomic_read(&opens);
		ioc->ioc_count = 0;
		qreply(q, mp);
		break;
	case M_DATA:
		lis_print_msg(mp, "lisdev", PRINT_DATA_ENTIRE);
		qreply(q, mp);
		break;
	default:
		lis_freemsg(mp);
	}
	return 0;
}

#ifdef KERNEL_2_0
int init_module(void)
#else
static int ld_init(void)
#endif
{
	int ret;

	lis_spin_lock_init(&lock, "lisdev");
	lis_sem_init(&sem, 1);
	ret = lis_register_strdev(0, &ld_info, 6, "lisdev");
	if (ret < 0) {
		printk(KERN_ERR "lisdev: %d\n", ret);
		return ret;
	}
	/* once more, and with a number of our own */
	if (lis_unregister_strdev(ret) < 0 || lis_unregister_strdev(ret) == 0)
		return -EIO;
	if (lis_register_strdev(ret, &ld_info, 6, "lisdev") != ret)
		return -EIO;
	if (lis_register_driver_qlock_option(ret, LIS_QLOCK_NONE) < 0) {
		lis_unregister_strdev(ret);
		return -EIO;
	}
	lis_mknod("/dev/lisdev", 0020666, MKDEV(ret, 0));
	return 0;
}
static void ld_exit(void)
{
}
module_init(ld_init)
module_exit(ld_exit)
