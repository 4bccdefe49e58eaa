/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * testmod, command by command: an M_IOCTL goes down, what comes up is kept
 * by the module above.  reference "testmod", <sys/testmod.h>.
 */
#include "fixture.h"
#include <sys/testmod.h>

static struct fx_pipe pipe_;
static queue_t *above, *below;

static void
begin(struct t *t)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	(void)fx_push(&pipe_, 0, "testmod");
	above = fx_push(&pipe_, 0, "store");
}

static mblk_t *
ioctl_msg(int cmd, size_t count, const void *data, size_t len)
{
	mblk_t *mp = allocb(sizeof(union ioctypes), BPRI_MED), *bp;
	struct iocblk *ioc;

	mp->b_datap->db_type = M_IOCTL;
	memset(mp->b_wptr, 0, sizeof(union ioctypes));
	mp->b_wptr += sizeof(struct iocblk);
	ioc = (struct iocblk *)(void *)mp->b_rptr;
	ioc->ioc_cmd = cmd;
	ioc->ioc_id = 42;
	ioc->ioc_count = count;
	if (data != NULL) {
		bp = allocb(len, BPRI_MED);
		memcpy(bp->b_wptr, data, len);
		bp->b_wptr += len;
		linkb(mp, bp);
	}
	return mp;
}

/* The answer to an ioctl: its type, error and result are as told. */
static void
answered(unsigned type, int error)
{
	mblk_t *mp = getq(above);
	struct iocblk *ioc;

	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, type);
	ioc = (struct iocblk *)(void *)mp->b_rptr;
	T_EQ(ioc->ioc_id, 42);
	T_EQ(ioc->ioc_error, error);
	T_EQ(ioc->ioc_rval, 0);
	T_EQ(ioc->ioc_count, 0);
	freemsg(mp);
	T_NULL(getq(above));
}

T_CASE(hangup_comes_before_its_acknowledgement)
{
	mblk_t *mp;

	begin(t);
	putnext(WR(above), ioctl_msg(TM_IOC_HANGUP, 0, NULL, 0));
	mp = getq(above);
	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, M_HANGUP);
	freemsg(mp);
	answered(M_IOCACK, 0);
}

T_CASE(errors_have_the_forms_of_the_reference)
{
	static const struct {
		int cmd;
		long len;
		int b0, b1;
	} row[] = {
		{TM_IOC_RDERR, 2, 5, NOERROR},
		{TM_IOC_WRERR, 2, NOERROR, 5},
		{TM_IOC_RWERR, 1, 5, -1},
	};
	unsigned i, trans;
	long arg = 5;

	begin(t);
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		for (trans = 0; trans < 2; trans++) {
			mblk_t *mp;

			putnext(WR(above), ioctl_msg(row[i].cmd,
				trans ? TRANSPARENT : sizeof(arg), &arg,
				sizeof(arg)));
			mp = getq(above);
			T_NOTNULL(mp);
			T_EQ(mp->b_datap->db_type, M_ERROR);
			T_EQ(mp->b_wptr - mp->b_rptr, row[i].len);
			T_EQ(mp->b_rptr[0], row[i].b0);
			if (row[i].b1 >= 0)
				T_EQ(mp->b_rptr[1], row[i].b1);
			freemsg(mp);
			answered(M_IOCACK, 0);
		}
	}
}

T_CASE(signals_come_as_m_pcsig_and_m_sig)
{
	long sig = 10;
	mblk_t *mp;

	begin(t);
	putnext(WR(above), ioctl_msg(TM_IOC_PSIGNAL, sizeof(sig), &sig,
		sizeof(sig)));
	mp = getq(above);
	T_EQ(mp->b_datap->db_type, M_PCSIG);
	T_EQ(mp->b_rptr[0], 10);
	freemsg(mp);
	answered(M_IOCACK, 0);
	putnext(WR(above), ioctl_msg(TM_IOC_NSIGNAL, sizeof(sig), &sig,
		sizeof(sig)));
	/* M_SIG is an ordinary message: the acknowledgement overtakes it */
	mp = getq(above);
	T_EQ(mp->b_datap->db_type, M_IOCACK);
	freemsg(mp);
	mp = getq(above);
	T_EQ(mp->b_datap->db_type, M_SIG);
	T_EQ(mp->b_rptr[0], 10);
	freemsg(mp);
}

T_CASE(bad_arguments_are_einval)
{
	static const struct {
		int cmd;
		long arg;
	} row[] = {
		{TM_IOC_RDERR, -1}, {TM_IOC_WRERR, 255}, {TM_IOC_RWERR, 256},
		{TM_IOC_PSIGNAL, 0}, {TM_IOC_NSIGNAL, 65},
		{TM_IOC_PSIGNAL, -3},
	};
	unsigned i;

	begin(t);
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		putnext(WR(above), ioctl_msg(row[i].cmd, sizeof(long),
			&row[i].arg, sizeof(long)));
		answered(M_IOCNAK, EINVAL);
	}
}

T_CASE(a_missing_or_short_argument_is_einval)
{
	begin(t);
	putnext(WR(above), ioctl_msg(TM_IOC_RDERR, 0, NULL, 0));
	answered(M_IOCNAK, EINVAL);
	putnext(WR(above), ioctl_msg(TM_IOC_PSIGNAL, 3, "abc", 3));
	answered(M_IOCNAK, EINVAL);
}

T_CASE(ioctl_fills_the_data)
{
	unsigned char want[100];
	struct iocblk *ioc;
	mblk_t *mp;

	begin(t);
	memset(want, TM_FILL, sizeof(want));
	mp = ioctl_msg(TM_IOC_IOCTL, 100, want + 1, 0);
	freemsg(unlinkb(mp));
	linkb(mp, fx_bytes(60, 0));
	linkb(mp, fx_bytes(40, 0));
	putnext(WR(above), mp);
	mp = getq(above);
	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, M_IOCACK);
	ioc = (struct iocblk *)(void *)mp->b_rptr;
	T_EQ(ioc->ioc_count, 100);
	T_EQ(ioc->ioc_rval, 0);
	T_EQ(pullupmsg(mp->b_cont, -1), 1);
	T_MEM(mp->b_cont->b_rptr, want, 100);
	freemsg(mp);
}

T_CASE(ioctl_without_data_is_acknowledged)
{
	begin(t);
	putnext(WR(above), ioctl_msg(TM_IOC_IOCTL, 0, NULL, 0));
	answered(M_IOCACK, 0);
}

T_CASE(ioctl_is_einval_when_transparent_or_of_another_length)
{
	begin(t);
	putnext(WR(above), ioctl_msg(TM_IOC_IOCTL, TRANSPARENT, "12345678",
		8));
	answered(M_IOCNAK, EINVAL);
	putnext(WR(above), ioctl_msg(TM_IOC_IOCTL, 9, "12345678", 8));
	answered(M_IOCNAK, EINVAL);
}

/* The copy request that came up; turned into its M_IOCDATA and sent down. */
static void
copied(unsigned type, void *addr, bool ok, bool with_data)
{
	mblk_t *mp = getq(above), *priv;
	struct copyreq *cq;
	struct copyresp *cp;

	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, type);
	cq = (struct copyreq *)(void *)mp->b_rptr;
	T_EQ(cq->cq_id, 42);
	T_TRUE(cq->cq_addr == addr);
	T_EQ(cq->cq_size, TM_COPYSZ);
	if (type == M_COPYOUT) {
		unsigned char want[TM_COPYSZ];

		memset(want, TM_FILL, sizeof(want));
		T_EQ(msgdsize(mp->b_cont), TM_COPYSZ);
		T_MEM(mp->b_cont->b_rptr, want, TM_COPYSZ);
	} else {
		T_NULL(mp->b_cont);
	}
	priv = cq->cq_private;
	if (mp->b_cont != NULL)
		freemsg(unlinkb(mp));
	mp->b_datap->db_type = M_IOCDATA;
	cp = (struct copyresp *)(void *)mp->b_rptr;
	cp->cp_rval = ok ? NULL : (char *)1;
	cp->cp_private = priv;
	mp->b_wptr = mp->b_rptr + sizeof(*cp);
	if (with_data)
		linkb(mp, fx_bytes(TM_COPYSZ, 0));
	putnext(WR(above), mp);
}

T_CASE(copyin_asks_for_its_bytes)
{
	void *addr = (void *)0x1234;

	begin(t);
	putnext(WR(above), ioctl_msg(TM_IOC_COPYIN, TRANSPARENT, &addr,
		sizeof(addr)));
	copied(M_COPYIN, addr, true, true);
	answered(M_IOCACK, 0);
}

T_CASE(copyout_gives_its_bytes)
{
	void *addr = (void *)0x1234;

	begin(t);
	putnext(WR(above), ioctl_msg(TM_IOC_COPYOUT, TRANSPARENT, &addr,
		sizeof(addr)));
	copied(M_COPYOUT, addr, true, false);
	answered(M_IOCACK, 0);
}

T_CASE(copyio_does_both)
{
	void *addr = (void *)0x1234;

	begin(t);
	putnext(WR(above), ioctl_msg(TM_IOC_COPYIO, TRANSPARENT, &addr,
		sizeof(addr)));
	copied(M_COPYIN, addr, true, true);
	copied(M_COPYOUT, addr, true, false);
	answered(M_IOCACK, 0);
}

T_CASE(a_failed_copy_ends_the_matter)
{
	static const int cmd[] = {
		TM_IOC_COPYIN, TM_IOC_COPYOUT, TM_IOC_COPYIO,
	};
	void *addr = (void *)0x1234;
	unsigned i;

	begin(t);
	for (i = 0; i < STR_ARRAY_LEN(cmd); i++) {
		putnext(WR(above), ioctl_msg(cmd[i], TRANSPARENT, &addr,
			sizeof(addr)));
		copied(cmd[i] == TM_IOC_COPYOUT ? M_COPYOUT : M_COPYIN, addr,
			false, false);
		T_NULL(getq(above));
	}
	/* the audit finds what was kept for the second copy */
}

T_CASE(copy_commands_with_i_str_are_einval)
{
	static const int cmd[] = {
		TM_IOC_COPYIN, TM_IOC_COPYOUT, TM_IOC_COPYIO,
	};
	void *addr = (void *)0x1234;
	unsigned i;

	begin(t);
	for (i = 0; i < STR_ARRAY_LEN(cmd); i++) {
		putnext(WR(above), ioctl_msg(cmd[i], sizeof(addr), &addr,
			sizeof(addr)));
		answered(M_IOCNAK, EINVAL);
	}
}

T_CASE(other_commands_go_on_down)
{
	mblk_t *mp;

	begin(t);
	putnext(WR(above), ioctl_msg(0x1234, 0, NULL, 0));
	T_NULL(getq(above));
	mp = getq(WR(below));
	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, M_IOCTL);
	mp->b_datap->db_type = M_IOCDATA;
	putnext(WR(above), mp);
	mp = getq(WR(below));
	T_NOTNULL(mp);
	freemsg(mp);
}

T_CASE(without_memory_it_is_enosr)
{
	mblk_t *msg[4], *list = NULL, *mp;
	long arg = 5;
	unsigned i, refused = 0;

	begin(t);
	for (i = 0; i < 4; i++)
		msg[i] = ioctl_msg(TM_IOC_RDERR, sizeof(arg), &arg,
			sizeof(arg));
	sim_fail_commit(1, true);
	while ((mp = allocb(1, BPRI_HI)) != NULL)
		list = linkmsg(mp, list);
	for (i = 0; i < 4; i++) {
		putnext(WR(above), msg[i]);
		mp = getq(above);
		T_NOTNULL(mp);
		if (mp->b_datap->db_type == M_ERROR) {
			freemsg(mp); /* of the argument's block */
			mp = getq(above);
		} else {
			struct iocblk *ioc =
				(struct iocblk *)(void *)mp->b_rptr;

			T_EQ(mp->b_datap->db_type, M_IOCNAK);
			T_EQ(ioc->ioc_error, ENOSR);
			refused++;
		}
		mp->b_cont = list; /* kept, or its block would serve next */
		list = mp;
	}
	T_GT(refused, 0u);
	sim_fail_commit(0, false);
	freemsg(list);
}
