/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A module for Solaris: makes itself known by mod_install(), and puts a tag in
 * front of what goes down, which an ioctl changes.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/strsun.h>
#include <sys/kmem.h>
#include <sys/conf.h>
#include <sys/cred.h>
#include <sys/cmn_err.h>
#include <sys/debug.h>
#include <sys/modctl.h>
#include <sys/ddi.h>
#include <sys/sunddi.h>

#define TAG_SET		(('T' << 8) | 200)
#define TAG_TEXT	(('T' << 8) | 201)

typedef struct tagger {
	kmutex_t	t_lock;
	char		t_tag[16];
	uint_t		t_count;
} tagger_t;

static int tagger_open(queue_t *, dev_t *, int, int, cred_t *);
static int tagger_close(queue_t *, int, cred_t *);
static int tagger_rput(queue_t *, mblk_t *);
static int tagger_wput(queue_t *, mblk_t *);
static int tagger_wsrv(queue_t *);

static struct module_info tagger_minfo = {
	0x7a67, "tagger", 0, INFPSZ, 4096, 1024
};

static struct qinit tagger_rinit = {
	tagger_rput, NULL, tagger_open, tagger_close, NULL, &tagger_minfo,
	NULL
};

static struct qinit tagger_winit = {
	tagger_wput, tagger_wsrv, NULL, NULL, NULL, &tagger_minfo, NULL
};

static struct streamtab tagger_tab = {
	&tagger_rinit, &tagger_winit, NULL, NULL
};

static struct fmodsw fsw = {
	"tagger", &tagger_tab, D_NEW | D_MP | D_MTPERQ
};

static struct modlstrmod modlstrmod = {
	&mod_strmodops, "puts a tag in front 1.3", &fsw
};

static struct modlinkage modlinkage = {
	MODREV_1, (void *)&modlstrmod, NULL
};

int
_init(void)
{
	int err = mod_install(&modlinkage);

	if (err != 0)
		cmn_err(CE_WARN, "tagger: mod_install: %d", err);
	return (err);
}

int
_fini(void)
{
	return (mod_remove(&modlinkage));
}

int
_info(struct modinfo *modinfop)
{
	return (mod_info(&modlinkage, modinfop));
}

/* ARGSUSED */
static int
tagger_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *credp)
{
	tagger_t *t;

	if (q->q_ptr != NULL)
		return (0);
	if (sflag != MODOPEN)
		return (EINVAL);
	t = kmem_zalloc(sizeof (tagger_t), KM_SLEEP);
	mutex_init(&t->t_lock, NULL, MUTEX_DRIVER, NULL);
	(void) strcpy(t->t_tag, "tag");
	q->q_ptr = WR(q)->q_ptr = t;
	(void) qassociate(q, -1);
	qprocson(q);
	return (0);
}

/* ARGSUSED */
static int
tagger_close(queue_t *q, int flag, cred_t *credp)
{
	tagger_t *t = q->q_ptr;

	ASSERT(t != NULL);
	qprocsoff(q);
	mutex_destroy(&t->t_lock);
	kmem_free(t, sizeof (tagger_t));
	q->q_ptr = WR(q)->q_ptr = NULL;
	return (0);
}

static int
tagger_rput(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return (0);
}

static void
tagger_ioctl(queue_t *q, mblk_t *mp)
{
	struct iocblk *iocp = (struct iocblk *)mp->b_rptr;
	tagger_t *t = q->q_ptr;
	mblk_t *bp;
	char text[64];
	int err;

	switch (iocp->ioc_cmd) {
	case TAG_SET:
		if (iocp->ioc_count == TRANSPARENT) {
			miocnak(q, mp, 0, EINVAL);
			return;
		}
		if ((err = miocpullup(mp, 1)) != 0) {
			miocnak(q, mp, 0, err);
			return;
		}
		mutex_enter(&t->t_lock);
		(void) snprintf(t->t_tag, sizeof (t->t_tag), "%.*s",
		    (int)MBLKL(mp->b_cont), mp->b_cont->b_rptr);
		mutex_exit(&t->t_lock);
		miocack(q, mp, 0, 0);
		return;
	case TAG_TEXT:
		mutex_enter(&t->t_lock);
		(void) sprintf(text, "%s: %u", t->t_tag, t->t_count);
		mutex_exit(&t->t_lock);
		if ((bp = allocb(strlen(text) + 1, BPRI_MED)) == NULL) {
			miocnak(q, mp, 0, ENOSR);
			return;
		}
		(void) strcpy((char *)bp->b_wptr, text);
		bp->b_wptr += strlen(text) + 1;
		freemsg(mp->b_cont);
		mp->b_cont = bp;
		miocack(q, mp, MBLKL(bp), 7);
		return;
	default:
		putnext(q, mp);
		return;
	}
}

static int
tagger_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
		(void) putq(q, mp);
		break;
	case M_IOCTL:
		tagger_ioctl(q, mp);
		break;
	case M_FLUSH:
		if (*mp->b_rptr & FLUSHW)
			flushq(q, FLUSHDATA);
		/* FALLTHROUGH */
	default:
		putnext(q, mp);
		break;
	}
	return (0);
}

static int
tagger_wsrv(queue_t *q)
{
	tagger_t *t = q->q_ptr;
	mblk_t *mp, *bp;
	size_t n;

	while ((mp = getq(q)) != NULL) {
		if (!canputnext(q)) {
			(void) putbq(q, mp);
			return (0);
		}
		mutex_enter(&t->t_lock);
		n = strlen(t->t_tag);
		if ((bp = allocb(n + 1, BPRI_MED)) == NULL) {
			mutex_exit(&t->t_lock);
			(void) putbq(q, mp);
			(void) qbufcall(q, n + 1, BPRI_MED,
			    (void (*)(void *))qenable, q);
			return (0);
		}
		bcopy(t->t_tag, bp->b_wptr, n);
		bp->b_wptr += n;
		*bp->b_wptr++ = ' ';
		t->t_count++;
		mutex_exit(&t->t_lock);
		bp->b_cont = mp;
		putnext(q, bp);
	}
	return (0);
}
