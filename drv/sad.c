/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * sad - the STREAMS administrative driver: autopush.
 *
 * The table belongs to the executive (<str/apush.h>); this driver implements
 * the commands.  Minor 0 is the administrator's device; minor 1 is for
 * everybody, and refuses SAD_SAP; clones have minors from 2 on and work as
 * minor 0.  All members of a domain belong to one user, its owner, so only the
 * access mode is checked: SAD_SAP needs a stream that was opened for writing.
 *
 * A struct sad holds the arguments of open; nothing is shared between streams.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/kmem.h>
#include <sys/sad.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/stropts.h>
#include <str/apush.h>
#include "canon.h"

#define SAD_USER 1  /* minor */
#define SAD_CLONE 2 /* first minor of clones */

struct sad {
	unsigned int minor;
	int writable; /* opened for writing, at least once */
};

static int
sad_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct canon_minors *cm;
	struct sad *sp = q->q_ptr;
	unsigned int m;
	int err;

	if (sp != NULL) {
		if ((flag & FWRITE) != 0)
			sp->writable = 1;
		return 0;
	}
	if (sflag == MODOPEN)
		return EINVAL;
	cm = str_drv_state("sad", sizeof(*cm));
	sp = kmem_zalloc(sizeof(*sp), KM_SLEEP);
	if (cm == NULL || sp == NULL) {
		kmem_free(sp, sp != NULL ? sizeof(*sp) : 0);
		return ENOSR;
	}
	err = canon_minor_take(cm, sflag,
		sflag == CLONEOPEN ? SAD_CLONE : getminor(*devp), &m);
	if (err != 0) {
		kmem_free(sp, sizeof(*sp));
		return err;
	}
	sp->minor = m;
	sp->writable = (flag & FWRITE) != 0;
	*devp = makedevice(getmajor(*devp), m);
	q->q_ptr = WR(q)->q_ptr = sp;
	qprocson(q);
	return 0;
}

static int
sad_close(queue_t *q, int flag, cred_t *crp)
{
	struct canon_minors *cm = str_drv_state("sad", sizeof(*cm));
	struct sad *sp = q->q_ptr;

	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	if (cm != NULL)
		canon_minor_give(cm, sp->minor);
	kmem_free(sp, sizeof(*sp));
	return 0;
}

static int
sad_set(struct sad *sp, struct strapush *ap)
{
	if (sp->minor == SAD_USER)
		return EPERM;
	if (!sp->writable)
		return EACCES;
	ap->sap_module[FMNAMESZ] = '\0';
	return str_apush_set(ap);
}

/* The entry after that of @ap's major and minor; with major -1 the first. */
static int
sad_next(struct strapush *ap)
{
	struct strapush at;
	int found = ap->sap_major == -1;
	unsigned int n;

	for (n = 0; str_apush_next(n, &at) == 0; n++) {
		if (found) {
			*ap = at;
			return 0;
		}
		found = at.sap_major == ap->sap_major &&
			at.sap_minor == ap->sap_minor;
	}
	return ENODEV;
}

/*
 * SAD_SAP, GAP, LAP: the argument is a strapush; except for SAP one is
 * returned.
 */
static void
sad_apush(queue_t *q, mblk_t *mp)
{
	struct strapush ap;
	int err;

	bcopy(mp->b_cont->b_rptr, &ap, sizeof(ap));
	switch (canon_cmd(mp)) {
	case SAD_SAP:
		err = sad_set(q->q_ptr, &ap);
		break;
	case SAD_GAP:
		err = str_apush_get(&ap);
		break;
	default:
		err = sad_next(&ap);
		break;
	}
	if (err != 0)
		canon_nak(q, mp, err);
	else if (canon_cmd(mp) == SAD_SAP)
		canon_ack(q, mp, 0);
	else
		canon_ack_data(q, mp, canon_block(&ap, sizeof(ap)), 0);
}

/* SAD_VML: 0 if all @n names are names of modules, else 1. */
static int
sad_verify(const unsigned char *names, int n)
{
	struct str_mlist ml;
	int i;

	for (i = 0; i < n; i++) {
		bcopy(names + (size_t)i * sizeof(ml), &ml, sizeof(ml));
		ml.l_name[FMNAMESZ] = '\0';
		if (!str_apush_module(ml.l_name))
			return 1;
	}
	return 0;
}

/*
 * With I_STR the names follow the str_list; otherwise a second copy request
 * gets them.
 */
static void
sad_vml(queue_t *q, mblk_t *mp)
{
	unsigned char *data;
	struct str_list sl;
	size_t len;

	if (DB_TYPE(mp) == M_IOCTL && !canon_is_transparent(mp)) {
		if (canon_pull(mp) != 0) {
			canon_nak(q, mp, ENOSR);
			return;
		}
		if (mp->b_cont == NULL ||
			MBLKL(mp->b_cont) < (long)sizeof(sl)) {
			canon_nak(q, mp, EINVAL);
			return;
		}
	} else if (DB_TYPE(mp) == M_IOCTL) {
		(void)canon_args(q, mp, sizeof(sl));
		return;
	} else if (canon_stage(mp) > 0) {
		canon_ack(q, mp, sad_verify(mp->b_cont->b_rptr,
			canon_extra(mp)));
		return;
	}
	data = mp->b_cont->b_rptr;
	bcopy(data, &sl, sizeof(sl));
	len = (size_t)(sl.sl_nmods > 0 ? sl.sl_nmods : 0) *
		sizeof(struct str_mlist);
	if (sl.sl_nmods <= 0 || sl.sl_nmods > MAXAPUSH)
		canon_nak(q, mp, EINVAL);
	else if (DB_TYPE(mp) == M_IOCDATA)
		canon_more(q, mp, (char *)sl.sl_modlist, len, sl.sl_nmods);
	else if (MBLKL(mp->b_cont) < (long)(sizeof(sl) + len))
		canon_nak(q, mp, EINVAL);
	else
		canon_ack(q, mp, sad_verify(data + sizeof(sl), sl.sl_nmods));
}

static void
sad_ioctl(queue_t *q, mblk_t *mp)
{
	switch (canon_cmd(mp)) {
	case SAD_SAP:
	case SAD_GAP:
	case SAD_LAP:
		if (DB_TYPE(mp) == M_IOCDATA ||
			canon_args(q, mp, sizeof(struct strapush)))
			sad_apush(q, mp);
		break;
	case SAD_VML:
		sad_vml(q, mp);
		break;
	default:
		canon_nak(q, mp, EINVAL);
		break;
	}
}

static int
sad_knows(int cmd)
{
	return cmd == SAD_SAP || cmd == SAD_GAP || cmd == SAD_LAP ||
		cmd == SAD_VML;
}

static int
sad_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_IOCTL:
		sad_ioctl(q, mp);
		break;
	case M_IOCDATA:
		if (!sad_knows(canon_cmd(mp)))
			canon_stray(q, mp);
		else if (canon_iocdata(q, mp))
			sad_ioctl(q, mp);
		break;
	case M_FLUSH:
		canon_flush(q, mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

static const struct module_info sad_info = {
	.mi_idnum = 0x7361,
	.mi_idname = "sad",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit sad_rinit = {
	.qi_qopen = sad_open,
	.qi_qclose = sad_close,
	.qi_minfo = (struct module_info *)&sad_info,
};

static const struct qinit sad_winit = {
	.qi_putp = sad_wput,
	.qi_minfo = (struct module_info *)&sad_info,
};

STR_DRIVER(sad, sad_rinit, sad_winit, STR_NOMUX, STR_NOMUX,
	D_MTPERMOD | STR_D_LOCAL, STR_MAJOR_SAD, NULL);
