/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* hprev - a module as for HP-UX's STREAMS/UX: what is written is reversed. */
#include <sys/types.h>
#include <sys/param.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strenv.h>

static int hprev_open(queue_t *, dev_t *, int, int, cred_t *);
static int hprev_close(queue_t *, int, cred_t *);
static int hprev_wput(queue_t *, mblk_t *);
static int hprev_rput(queue_t *, mblk_t *);
static int hprev_wsrv(queue_t *);

static struct module_info hprev_minfo = { 777, "hprev", 0, INFPSZ, 4096, 1024 };
static struct qinit hprev_rinit = {
	hprev_rput, NULL, hprev_open, hprev_close, NULL, &hprev_minfo, NULL
};
static struct qinit hprev_winit = {
	hprev_wput, hprev_wsrv, NULL, NULL, NULL, &hprev_minfo, NULL
};

static streams_info_t hprev_str_info = {
	"hprev",				/* name */
	-1,					/* dynamic major number */
	{ &hprev_rinit, &hprev_winit, NULL, NULL },
	STR_IS_MODULE | MGR_IS_MP | STR_SYSV4_OPEN,
	SQLVL_QUEUEPAIR,			/* sync level */
	"",					/* elsewhere sync name */
};

struct hprev { int installs; };
static int installs;

static int
hprev_open(queue_t *q, dev_t *dev, int oflag, int sflag, cred_t *cred)
{
	if (q->q_ptr)
		return 0;
	if ((q->q_ptr = kmem_alloc(sizeof (struct hprev), M_NOWAIT)) == NULL)
		return ENOMEM;
	WR(q)->q_ptr = q->q_ptr;
	((struct hprev *)q->q_ptr)->installs = installs;
	return 0;
}

static int
hprev_close(queue_t *q, int oflag, cred_t *cred)
{
	flushq(WR(q), FLUSHALL);
	kmem_free(q->q_ptr, sizeof (struct hprev));
	return 0;
}

static int
hprev_rput(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

static int
hprev_wput(queue_t *q, mblk_t *mp)
{
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;

	if (mp->b_datap->db_type == M_IOCTL &&
	    ioc->ioc_cmd == (('H' << 8) | 1) && ioc->ioc_count == sizeof (int)) {
		*(int *)mp->b_cont->b_rptr =
			((struct hprev *)q->q_ptr)->installs;
		mp->b_datap->db_type = M_IOCACK;
		qreply(q, mp);
	} else if (mp->b_datap->db_type < QPCTL)
		putq(q, mp);
	else
		putnext(q, mp);
	return 0;
}

static int
hprev_wsrv(queue_t *q)
{
	unsigned char *a, *b, c;
	mblk_t *mp;

	while ((mp = getq(q)) != NULL) {
		if (!canputnext(q)) {
			putbq(q, mp);
			break;
		}
		if (mp->b_datap->db_type == M_DATA && pullupmsg(mp, -1))
			for (a = mp->b_rptr, b = mp->b_wptr - 1; a < b; a++, b--)
				c = *a, *a = *b, *b = c;
		putnext(q, mp);
	}
	return 0;
}

int
hprev_install(void)
{
	int retval;

	installs++;
	if ((retval = str_install(&hprev_str_info)) != 0)
		return retval;
	return 0;
}
