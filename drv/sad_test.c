/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * sad: the commands, sad(4).  What the table does at an open is tested where
 * devices are.
 */
#include "drvfix.h"
#include <limits.h>
#include <stddef.h>
#include <sys/sad.h>
#include <sys/stropts.h>
#include <str/apush.h>

extern const struct str_builtin str_drv_sad;

_Static_assert(sizeof(struct strapush) == 128, "reference: ABI");
_Static_assert(offsetof(struct strapush, sap_major) == 8, "");
_Static_assert(offsetof(struct strapush, sap_lastminor) == 24, "");
_Static_assert(offsetof(struct strapush, sap_npush) == 32, "");
_Static_assert(offsetof(struct strapush, sap_list) == 36, "");
_Static_assert(offsetof(struct strapush, sap_anchor) == 108, "");
_Static_assert(offsetof(struct strapush, sap_module) == 112, "");

static struct dv a;

static void
begin(struct t *t, unsigned minor, int flag)
{
	struct strapush none;

	fx_begin(t);
	dv_driver(&str_drv_sad);
	(void)str_apush_next(0, &none); /* the table is there from now on */
	fx_keep();
	T_EQ(dv_open_flag(&a, "sad", minor, DRVOPEN, flag), 0);
}

/* An entry for the sad driver itself, whose major is known. */
static struct strapush
entry(unsigned cmd, long minor, long last, const char *m0, const char *m1)
{
	struct strapush ap = {
		.sap_cmd = cmd,
		.sap_major = STR_MAJOR_SAD,
		.sap_minor = minor,
		.sap_lastminor = last,
	};

	if (m0 != NULL)
		strcpy(ap.sap_list[ap.sap_npush++], m0);
	if (m1 != NULL)
		strcpy(ap.sap_list[ap.sap_npush++], m1);
	return ap;
}

T_CASE(an_entry_is_set_got_and_cleared)
{
	struct strapush ap = entry(SAP_ONE, 5, 0, "pipemod", "nullmod"), got;

	begin(t, 0, FREAD | FWRITE);
	T_EQ(dv_str(&a, SAD_SAP, &ap, sizeof(ap)), 0);
	T_EQ(dv_str(&a, SAD_SAP, &ap, sizeof(ap)), EEXIST);
	got = entry(0, 5, 0, NULL, NULL);
	T_EQ(dv_str_get(&a, SAD_GAP, &got, sizeof(got), &got, sizeof(got)),
		0);
	T_EQ(got.sap_npush, 2);
	T_STR(got.sap_list[0], "pipemod");
	T_STR(got.sap_list[1], "nullmod");
	ap.sap_cmd = SAP_CLEAR;
	T_EQ(dv_str(&a, SAD_SAP, &ap, sizeof(ap)), 0);
	T_EQ(dv_str(&a, SAD_GAP, &ap, sizeof(ap)), ENODEV);
}

T_CASE(plain_ioctls_do_the_same)
{
	struct strapush ap = entry(SAP_ALL, 0, 0, "pipemod", NULL), got;

	begin(t, 0, FREAD | FWRITE);
	T_EQ(dv_plain(&a, SAD_SAP, &ap), 0);
	got = entry(0, 77, 0, NULL, NULL);
	T_EQ(dv_plain(&a, SAD_GAP, &got), 0);
	T_EQ(got.sap_npush, 1);
	T_STR(got.sap_list[0], "pipemod");
	T_EQ(got.sap_cmd, SAP_ALL);
}

T_CASE(an_argument_of_another_size_is_einval)
{
	char buf[200] = {0};

	begin(t, 0, FREAD | FWRITE);
	T_EQ(dv_str(&a, SAD_SAP, buf, 127), EINVAL);
	T_EQ(dv_str(&a, SAD_GAP, buf, 129), EINVAL);
	T_EQ(dv_str(&a, SAD_GAP, NULL, 0), EINVAL);
	T_EQ(dv_str(&a, (SAD_IOC_MAGIC << 8) | 9, NULL, 0), EINVAL);
}

/* Minors below 0: only SAP_ALL, which has none, ignores its sap_minor. */
T_CASE(a_negative_minor_is_einval)
{
	static const struct {
		unsigned cmd;
		long minor, last;
		int want;
	} row[] = {
		{SAP_ONE, -1, 0, EINVAL},
		{SAP_ONE, LONG_MIN, 0, EINVAL},
		{SAP_RANGE, -1, 3, EINVAL},
		{SAP_RANGE, -3, -1, EINVAL},
		{SAP_RANGE, 0, -1, ERANGE},
		{SAP_ALL, -1, 0, 0},
	};
	struct strapush ap;
	unsigned i;

	begin(t, 0, FREAD | FWRITE);
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		ap = entry(row[i].cmd, row[i].minor, row[i].last, "pipemod",
			NULL);
		T_EQ(dv_str(&a, SAD_SAP, &ap, sizeof(ap)), row[i].want);
	}
}

T_CASE(the_users_device_does_not_set)
{
	struct strapush ap = entry(SAP_ONE, 5, 0, "pipemod", NULL);

	begin(t, 1, FREAD | FWRITE);
	T_EQ(dv_str(&a, SAD_SAP, &ap, sizeof(ap)), EPERM);
	T_EQ(dv_str(&a, SAD_GAP, &ap, sizeof(ap)), ENODEV);
}

T_CASE(a_stream_that_cannot_be_written_does_not_set)
{
	struct strapush ap = entry(SAP_ONE, 5, 0, "pipemod", NULL);

	begin(t, 0, FREAD);
	T_EQ(dv_str(&a, SAD_SAP, &ap, sizeof(ap)), EACCES);
	T_EQ(dv_reopen(&a, FREAD | FWRITE), 0);
	T_EQ(dv_str(&a, SAD_SAP, &ap, sizeof(ap)), 0);
}

T_CASE(clones_are_not_the_users_device)
{
	fx_begin(t);
	dv_driver(&str_drv_sad);
	T_EQ(dv_open(&a, "sad", 0, CLONEOPEN), 0);
	T_EQ(a.minor, 2);
}

T_CASE(the_table_is_walked_from_its_beginning)
{
	struct strapush ap, at = {.sap_major = -1};
	long seen = 0;
	unsigned n;

	begin(t, 0, FREAD | FWRITE);
	T_EQ(dv_plain(&a, SAD_LAP, &at), -ENODEV);
	for (n = 1; n <= 3; n++) {
		ap = entry(SAP_ONE, (long)n, 0, "pipemod", NULL);
		T_EQ(dv_str(&a, SAD_SAP, &ap, sizeof(ap)), 0);
	}
	at.sap_major = -1;
	for (n = 0; dv_plain(&a, SAD_LAP, &at) == 0; n++) {
		T_TRUE(n < 3);
		seen |= 1l << at.sap_minor;
	}
	T_EQ(n, 3);
	T_EQ(seen, 0xe);
}

T_CASE(names_are_verified)
{
	static const struct {
		const char *name[3];
		int n, want;
	} row[] = {
		{{"pipemod"}, 1, 0},
		{{"pipemod", "nullmod", "srvmod"}, 3, 0},
		{{"pipemod", "nosuch"}, 2, 1},
		{{"x"}, 1, 1},
		{{""}, 1, 1},
		{{"pipemod"}, 0, -EINVAL},
		{{"pipemod"}, -1, -EINVAL},
		{{"pipemod"}, 9, -EINVAL},
	};
	struct {
		struct str_list sl;
		struct str_mlist ml[MAXAPUSH + 1];
	} arg;
	unsigned i, k;
	mblk_t *mp;

	begin(t, 1, FREAD);
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		struct iocblk *ioc;

		memset(&arg, 0, sizeof(arg));
		for (k = 0; k < 3 && row[i].name[k] != NULL; k++)
			strcpy(arg.ml[k].l_name, row[i].name[k]);
		arg.sl.sl_nmods = row[i].n;
		arg.sl.sl_modlist = arg.ml;
		T_EQ(dv_plain(&a, SAD_VML, &arg.sl), row[i].want);
		/* with I_STR the names follow the struct */
		dv_down(&a, dv_ioctl_msg(SAD_VML, sizeof(arg), &arg,
			sizeof(arg)));
		mp = dv_up(&a);
		T_NOTNULL(mp);
		ioc = (struct iocblk *)(void *)mp->b_rptr;
		T_EQ(mp->b_datap->db_type == M_IOCACK ? ioc->ioc_rval :
			-ioc->ioc_error, row[i].want);
		freemsg(mp);
	}
	arg.sl.sl_nmods = 3;
	T_EQ(dv_str(&a, SAD_VML, &arg, sizeof(arg.sl) + 2 * 9), EINVAL);
	T_EQ(dv_str(&a, SAD_VML, &arg, 4), EINVAL);
}

T_CASE(data_that_nobody_asked_for_is_refused)
{
	begin(t, 0, FREAD | FWRITE);
	dv_strays(&a);
}

/* autopush.conf(5): a line may name a driver that is loaded later. */
T_CASE(an_entry_for_a_driver_that_is_loaded_later_holds_from_then_on)
{
	struct strapush ap = {.sap_cmd = SAP_RANGE, .sap_minor = 3,
		.sap_lastminor = 5, .sap_npush = 1, .sap_list = {"pipemod"},
		.sap_module = "late"}, got;
	struct str_fmod *fm;

	begin(t, 0, FREAD | FWRITE);
	T_EQ(str_apush_later(&ap), 0);
	T_EQ(str_apush_later(&ap), EEXIST);
	strcpy(ap.sap_list[0], "nosuch");
	T_EQ(str_apush_later(&ap), EINVAL);
	strcpy(ap.sap_list[0], "pipemod");
	T_EQ(str_apush_next(0, &got), ENODEV);
	fm = str_fmod_new("late", STR_F_DRIVER, 0, 0,
		&str_fmod_known("pipemod", STR_F_MODULE)->tab, "");
	T_NOTNULL(fm);
	got = (struct strapush){.sap_major = fm->major, .sap_minor = 4};
	T_EQ(dv_str_get(&a, SAD_GAP, &got, sizeof(got), &got, sizeof(got)),
		0);
	T_EQ(got.sap_major, (long)fm->major);
	T_EQ(got.sap_npush, 1);
	T_EQ(str_apush_next(0, &got), 0);
	/* it is an entry as any other */
	ap.sap_major = fm->major;
	T_EQ(dv_str(&a, SAD_SAP, &ap, sizeof(ap)), EEXIST);
	ap.sap_cmd = SAP_CLEAR;
	T_EQ(dv_str(&a, SAD_SAP, &ap, sizeof(ap)), 0);
	T_EQ(str_apush_next(0, &got), ENODEV);
}
