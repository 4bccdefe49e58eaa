/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* lismod - a module for LiS, registers itself */
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/LiS/module.h>
#include <sys/cmn_err.h>
#include <sys/dki.h>

static int lm_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *credp);
static int lm_close(queue_t *q, int flag, cred_t *credp);
static int lm_put(queue_t *q, mblk_t *mp);
static struct module_info lm_minfo = { 0x1155, "lismod", 0, INFPSZ, 4096, 512 };
static struct qinit lm_rinit = { lm_put, NULL, lm_open, lm_close, NULL, &lm_minfo, NULL };
static struct qinit lm_winit = { lm_put, NULL, NULL, NULL, NULL, &lm_minfo, NULL };
static struct streamtab lm_info = { &lm_rinit, &lm_winit, NULL, NULL };
static lis_spin_lock_t lock;
static int count;

static int lm_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *credp)
{
	lis_flags_t psw;
	lis_spin_lock_irqsave(&lock, &psw);
	count++;
	lis_spin_unlock_irqrestore(&lock, &psw);
	MODGET();
	return 0;
}
static int lm_close(queue_t *q, int flag, cred_t *credp) { MODPUT(); return 0; }
static int lm_put(queue_t *q, mblk_t *mp) { putnext(q, mp); return 0; }
int init_module(void)
{
	lis_spin_lock_init(&lock, "lm");
	int ret = lis_register_strmod(&lm_info, "lismod");
	if (ret < 0)
		return ret;
	return lis_register_module_qlock_option(ret, LIS_QLOCK_QUEUE_PAIR);
}
void cleanup_module(void)
{
	lis_unregister_strmod(&lm_info);
}
