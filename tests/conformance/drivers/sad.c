/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * sad, and what it makes of opens: sad(4).
 */
#include "dr.h"

#include <sad.h>
#include <sys/sysmacros.h>

/* An entry for the loop driver. */
static struct strapush
entry(unsigned cmd, long minor, long last, const char *m0, const char *m1)
{
	struct strapush ap;
	struct stat st;
	int fd = dr_open("/dev/loop_clone");

	T_OK(fstat(fd, &st));
	T_OK(close(fd));
	memset(&ap, 0, sizeof(ap));
	ap.sap_cmd = cmd;
	ap.sap_major = major(st.st_rdev);
	ap.sap_minor = minor;
	ap.sap_lastminor = last;
	if (m0 != NULL)
		strcpy(ap.sap_list[ap.sap_npush++], m0);
	if (m1 != NULL)
		strcpy(ap.sap_list[ap.sap_npush++], m1);
	return ap;
}

/* The modules of a stream, topmost first. */
static void
has(const char *path, const char *top, int n)
{
	char name[FMNAMESZ + 1];
	int fd = dr_open(path);

	T_EQ(ioctl(fd, I_LIST, NULL), n);
	if (top != NULL) {
		T_OK(ioctl(fd, I_LOOK, name));
		T_STR(name, top);
	}
	T_OK(close(fd));
}

T_CASE(an_open_pushes_what_is_configured)
{
	struct strapush ap = entry(SAP_ONE, 10, 0, "relay", "relay2"), got;
	int fd = dr_open("/dev/sad");

	T_OK(ioctl(fd, SAD_SAP, &ap));
	has("/dev/loop.10", "relay2", 3);
	has("/dev/loop.8", NULL, 1);
	got = entry(0, 10, 0, NULL, NULL);
	T_OK(ioctl(fd, SAD_GAP, &got));
	T_EQ(got.sap_npush, 2u);
	T_STR(got.sap_list[0], "relay");
	T_STR(got.sap_list[1], "relay2");
	got = entry(0, 8, 0, NULL, NULL);
	T_ERR(ioctl(fd, SAD_GAP, &got), ENODEV);
	ap.sap_cmd = SAP_CLEAR;
	T_OK(ioctl(fd, SAD_SAP, &ap));
	has("/dev/loop.10", NULL, 1);
	T_ERR(ioctl(fd, SAD_SAP, &ap), ENODEV);
	T_OK(close(fd));
}

T_CASE(ranges_and_all_minors)
{
	struct strapush ap = entry(SAP_RANGE, 4, 6, "relay", NULL);
	int fd = dr_open("/dev/sad/admin");

	T_OK(dr_str(fd, SAD_SAP, &ap, sizeof(ap)));
	has("/dev/loop.3", NULL, 1);
	has("/dev/loop.4", "relay", 2);
	has("/dev/loop.6", "relay", 2);
	has("/dev/loop.7", NULL, 1);
	ap = entry(SAP_ONE, 5, 0, "relay", NULL);
	T_ERR(dr_str(fd, SAD_SAP, &ap, sizeof(ap)), EEXIST);
	ap = entry(SAP_CLEAR, 5, 0, NULL, NULL);
	T_ERR(dr_str(fd, SAD_SAP, &ap, sizeof(ap)), ERANGE);
	ap.sap_minor = 4;
	T_OK(dr_str(fd, SAD_SAP, &ap, sizeof(ap)));
	ap = entry(SAP_ALL, 0, 0, "relay3", NULL);
	T_OK(dr_str(fd, SAD_SAP, &ap, sizeof(ap)));
	has("/dev/loop.11", "relay3", 2);
	/* an entry for all minors is removed by minor 0, not by another */
	ap = entry(SAP_CLEAR, 11, 0, NULL, NULL);
	T_ERR(dr_str(fd, SAD_SAP, &ap, sizeof(ap)), ENODEV);
	has("/dev/loop.11", "relay3", 2);
	ap.sap_minor = 0;
	T_OK(dr_str(fd, SAD_SAP, &ap, sizeof(ap)));
	has("/dev/loop.11", NULL, 1);
	T_OK(close(fd));
}

T_CASE(bad_entries_are_refused)
{
	struct strapush ap = entry(SAP_ONE, 1, 0, "nosuch", NULL);
	int fd = dr_open("/dev/sad");

	T_ERR(ioctl(fd, SAD_SAP, &ap), EINVAL);
	ap = entry(SAP_ONE, 1, 0, NULL, NULL);
	T_ERR(ioctl(fd, SAD_SAP, &ap), EINVAL);
	ap = entry(SAP_RANGE, 5, 4, "relay", NULL);
	T_ERR(ioctl(fd, SAD_SAP, &ap), ERANGE);
	ap = entry(17, 1, 0, "relay", NULL);
	T_ERR(ioctl(fd, SAD_SAP, &ap), EINVAL);
	ap = entry(SAP_ONE, 1, 0, "relay", NULL);
	ap.sap_npush = MAXAPUSH + 1;
	T_ERR(ioctl(fd, SAD_SAP, &ap), EINVAL);
	ap = entry(SAP_ONE, 1, 0, "relay", NULL);
	ap.sap_major = 4000;
	T_ERR(ioctl(fd, SAD_SAP, &ap), EINVAL);
	T_ERR(ioctl(fd, SAD_GAP, &ap), EINVAL);
	ap.sap_cmd = SAP_CLEAR;
	T_ERR(ioctl(fd, SAD_SAP, &ap), EINVAL);
	T_ERR(ioctl(fd, SAD_SAP, NULL), EFAULT);
	T_ERR(ioctl(fd, SAD_GAP, (void *)16), EFAULT);
	T_OK(close(fd));
}

T_CASE(the_users_device_only_asks)
{
	struct strapush ap = entry(SAP_ONE, 1, 0, "relay", NULL);
	struct str_mlist ml[2] = {{"relay"}, {"nosuch"}};
	struct str_list sl = {1, ml};
	int fd = dr_open("/dev/sad/user");

	T_ERR(ioctl(fd, SAD_SAP, &ap), EPERM);
	T_ERR(ioctl(fd, SAD_GAP, &ap), ENODEV);
	T_EQ(ioctl(fd, SAD_VML, &sl), 0);
	sl.sl_nmods = 2;
	T_EQ(ioctl(fd, SAD_VML, &sl), 1);
	sl.sl_nmods = 0;
	T_ERR(ioctl(fd, SAD_VML, &sl), EINVAL);
	sl.sl_nmods = 1;
	sl.sl_modlist = NULL;
	T_ERR(ioctl(fd, SAD_VML, &sl), EFAULT);
	T_OK(close(fd));
}

T_CASE(a_stream_opened_for_reading_does_not_set)
{
	struct strapush ap = entry(SAP_ONE, 1, 0, "relay", NULL);
	int fd = open("/dev/sad/admin", O_RDONLY);

	T_GE(fd, 0);
	T_ERR(ioctl(fd, SAD_SAP, &ap), EACCES);
	T_OK(close(fd));
}
