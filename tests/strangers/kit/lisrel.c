/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* lisrel - a module for LiS in the manner of Linux's own modules: what comes
 * down goes on in capitals */
#include <sys/LiS/module.h>	/* first */
#include <sys/stream.h>
#include <sys/osif.h>
#include <sys/strport.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(2,4,0)
#error that old?
#endif

static int _RP lr_open(queue_t *, dev_t *, int, int, cred_t *);
static int _RP lr_close(queue_t *, int, cred_t *);
static int _RP lr_wput(queue_t *, mblk_t *);
static int _RP lr_rput(queue_t *, mblk_t *);

static struct module_info lr_minfo = { 0, "lisrel", 0, INFPSZ, 10240L, 512L };
static struct qinit lr_rinit = { lr_rput, NULL, lr_open, lr_close, NULL, &lr_minfo, NULL };
static struct qinit lr_winit = { lr_wput, NULL, NULL, NULL, NULL, &lr_minfo, NULL };
struct streamtab lr_info = { &lr_rinit, &lr_winit, NULL, NULL };

static int _RP
lr_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *credp)
{
    printk(KERN_DEBUG "lr_open(dev=0x%x, minor %d)\n", DEV_TO_INT(*devp), (int)MINOR(*devp));
    if (sflag == CLONEOPEN || !DEV_SAME(*devp, *devp))
	return(EINVAL) ;
    return 0;
}

static int _RP
lr_wput(queue_t *q, mblk_t *mp)
{
    unsigned char *p;

    if (mp->b_datap->db_type == M_DATA)
	for (p = mp->b_rptr; p < mp->b_wptr; p++)
	    if (*p >= 'a' && *p <= 'z')
		*p -= 'a' - 'A';
    putnext(q, mp) ;
    return(0) ;
}

static int _RP
lr_rput(queue_t *q, mblk_t *mp)
{
    putnext(q, mp) ;
    return(0) ;
}

static int _RP
lr_close(queue_t *q, int dummy, cred_t *credp)
{
    return 0;
}

static int __init lr_init(void)
{
    int ret;

    ret = lis_register_strmod(&lr_info, "lisrel");
    if (ret < 0)
	printk("lisrel: %d\n", ret);
    return ret < 0 ? ret : 0;
}

static void __exit lr_exit(void)
{
    lis_unregister_strmod(&lr_info);
}

module_init(lr_init) ;
module_exit(lr_exit) ;
MODULE_LICENSE("BSD");
MODULE_AUTHOR("anybody");
MODULE_DESCRIPTION("capitals");
