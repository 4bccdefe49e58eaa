/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What cella and cellb do. */
struct note {
	volatile int inside, clashes, done;
};
static struct note mine, *book = &mine;

#define	CELL_TELL	(('c' << 8) | 1)	/* a struct note * */
#define	CELL_READ	(('c' << 8) | 2)
#define	CELL_COUNT	(('c' << 8) | 3)	/* int[2] */

static int
cell_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *credp)
{
	return 0;
}

static int
cell_close(queue_t *q, int flag, cred_t *credp)
{
	return 0;
}

static int
cell_rput(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

static int
cell_wput(queue_t *q, mblk_t *mp)
{
	struct iocblk *ioc = (struct iocblk *)mp->b_rptr;
	volatile int i;

	if (mp->b_datap->db_type == M_IOCTL && mp->b_cont != NULL) {
		mp->b_datap->db_type = M_IOCACK;
		switch (ioc->ioc_cmd) {
		case CELL_TELL:
			*(struct note **)mp->b_cont->b_rptr = &mine;
			break;
		case CELL_READ:
			book = *(struct note **)mp->b_cont->b_rptr;
			break;
		case CELL_COUNT:
			((int *)mp->b_cont->b_rptr)[0] = book->clashes;
			((int *)mp->b_cont->b_rptr)[1] = book->done;
			break;
		default:
			mp->b_datap->db_type = M_IOCNAK;
		}
		qreply(q, mp);
		return 0;
	}
	if (mp->b_datap->db_type == M_DATA) {
		if (book->inside++ != 0)
			book->clashes++;
		for (i = 0; i < 1000; i++)
			;
		book->done++;
		book->inside--;
		freemsg(mp);
		return 0;
	}
	putnext(q, mp);
	return 0;
}
