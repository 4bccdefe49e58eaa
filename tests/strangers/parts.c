/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages in pieces: getmsg(2) with every kind of room for either part of
 * every kind of message, and what is left for the next one.
 */
#include <stropts.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fd[2], bad;
static char cbuf[16], dbuf[16];

/* What is sent; then maxlens, and what getmsg() says, until that is 0. */
static struct try {
	char *ctl, *data;
	int flags;
	struct step {
		int cmax, dmax, ret, clen, dlen, flags;
	} step[4];
} tries[] = {
	{ "control", "data", 0, { { 16, 16, 0, 7, 4, 0 } } },
	{ "control", NULL, 0, { { 16, 16, 0, 7, -1, 0 } } },
	{ NULL, "data", 0, { { 16, 16, 0, -1, 4, 0 } } },
	{ "", "", 0, { { 16, 16, 0, 0, 0, 0 } } },
	{ "", NULL, 0, { { 0, 0, 0, 0, -1, 0 } } },
	{ "c", "", 0, { { 16, 0, 0, 1, 0, 0 } } },
	{ "c", "", 0, { { 16, -1, MOREDATA, 1, -1, 0 },
	    { 16, 16, 0, -1, 0, 0 } } },
	{ "control", "data", 0, { { 3, 16, MORECTL, 3, 4, 0 },
	    { 16, 16, 0, 4, -1, 0 } } },
	{ "control", "data", 0, { { 16, 2, MOREDATA, 7, 2, 0 },
	    { 16, 16, 0, -1, 2, 0 } } },
	{ "control", "data", 0, { { 1, 1, MORECTL|MOREDATA, 1, 1, 0 },
	    { -1, 1, MORECTL|MOREDATA, -1, 1, 0 },
	    { 16, -1, MOREDATA, 6, -1, 0 }, { 16, 16, 0, -1, 2, 0 } } },
	{ "control", "data", 0, { { 0, 0, MORECTL|MOREDATA, 0, 0, 0 },
	    { 0, 16, MORECTL, 0, 4, 0 }, { 16, 0, 0, 7, -1, 0 } } },
	{ "control", "data", 0, { { -1, 16, MORECTL, -1, 4, 0 },
	    { 16, 16, 0, 7, -1, 0 } } },
	{ "urgent", "data", RS_HIPRI, { { 16, 16, 0, 6, 4, RS_HIPRI } } },
	{ "urgent", "data", RS_HIPRI,
	    { { 1, 1, MORECTL|MOREDATA, 1, 1, RS_HIPRI },
	    { 16, 16, 0, 5, 3, RS_HIPRI } } },
};

static int
part(struct strbuf *sb, char *s)
{
	sb->buf = s;
	return sb->len = s == NULL ? -1 : (int)strlen(s);
}

static void
check(int n, int k, struct step *want, struct try *t, int *cat, int *dat)
{
	struct strbuf ctl, data;
	int flags = 0, ret;

	ctl.maxlen = want->cmax;
	ctl.buf = cbuf;
	data.maxlen = want->dmax;
	data.buf = dbuf;
	ctl.len = data.len = -7;
	ret = getmsg(fd[1], &ctl, &data, &flags);
	if (ret != want->ret || ctl.len != want->clen ||
	    data.len != want->dlen || flags != want->flags) {
		fprintf(stderr, "try %d.%d: %d ctl %d data %d flags %d\n", n,
		    k, ret, ctl.len, data.len, flags);
		bad = 1;
		return;
	}
	if (ctl.len > 0 && memcmp(cbuf, t->ctl + *cat, ctl.len) != 0)
		bad = 1;
	if (data.len > 0 && memcmp(dbuf, t->data + *dat, data.len) != 0)
		bad = 1;
	*cat += ctl.len > 0 ? ctl.len : 0;
	*dat += data.len > 0 ? data.len : 0;
}

/* What must be refused, and what errno says then. */
static void
refused(int line, int ret, int err)
{
	if (ret == -1 && errno == err)
		return;
	fprintf(stderr, "line %d: %d, %s\n", line, ret,
	    ret == -1 ? strerror(errno) : "not refused");
	bad = 1;
}
#define REFUSED(call, err) refused(__LINE__, (call), (err))

static void
errors(void)
{
	struct strbuf c, d, none;
	int flags, band, null;

	part(&c, "c");
	part(&d, "d");
	part(&none, NULL);
	c.maxlen = d.maxlen = 1;
	REFUSED(putmsg(fd[0], NULL, &d, RS_HIPRI), EINVAL);
	REFUSED(putmsg(fd[0], &none, &d, RS_HIPRI), EINVAL);
	REFUSED(putmsg(fd[0], &c, &d, MSG_BAND), EINVAL);
	REFUSED(putpmsg(fd[0], &c, &d, 0, 0), EINVAL);
	REFUSED(putpmsg(fd[0], &c, &d, 256, MSG_BAND), EINVAL);
	REFUSED(putpmsg(fd[0], &c, &d, -1, MSG_BAND), EINVAL);
	REFUSED(putpmsg(fd[0], &c, &d, 1, MSG_HIPRI), EINVAL);
	REFUSED(putpmsg(fd[0], NULL, &d, 0, MSG_HIPRI), EINVAL);
	REFUSED(putpmsg(fd[0], &c, &d, 0, MSG_ANY), EINVAL);
	REFUSED(putmsg(-1, &c, &d, 0), EBADF);
	flags = MSG_ANY;
	REFUSED(getmsg(fd[1], &c, &d, &flags), EINVAL);
	flags = band = 0;
	REFUSED(getpmsg(fd[1], &c, &d, &band, &flags), EINVAL);
	flags = MSG_HIPRI;
	band = 1;
	REFUSED(getpmsg(fd[1], &c, &d, &band, &flags), EINVAL);
	flags = MSG_BAND;
	band = 256;
	REFUSED(getpmsg(fd[1], &c, &d, &band, &flags), EINVAL);
	flags = 0;
	if ((null = open("/dev/null", O_RDWR)) < 0 || isastream(null) != 0)
		bad = 1;
	REFUSED(putmsg(null, &c, &d, 0), ENOSTR);
	REFUSED(getmsg(null, &c, &d, &flags), ENOSTR);
	/* neither part: nothing is sent */
	if (putmsg(fd[0], &none, NULL, 0) != 0)
		bad = 1;
	REFUSED(getmsg(fd[1], &c, &d, &flags), EAGAIN);
}

int
main()
{
	struct strbuf ctl, data, *cp, *dp;
	int n, k, cat, dat;

	if (pipe(fd) < 0) {
		perror("pipe");
		exit(1);
	}
	fcntl(fd[1], F_SETFL, O_RDWR|O_NONBLOCK);
	for (n = 0; n < (int)(sizeof tries / sizeof tries[0]); n++) {
		cp = part(&ctl, tries[n].ctl) < 0 ? NULL : &ctl;
		dp = part(&data, tries[n].data) < 0 ? NULL : &data;
		if (putmsg(fd[0], cp, dp, tries[n].flags) < 0) {
			perror("putmsg");
			exit(1);
		}
		cat = dat = 0;
		for (k = 0; k == 0 || tries[n].step[k - 1].ret != 0; k++)
			check(n, k, &tries[n].step[k], &tries[n], &cat, &dat);
		cat = 0;
		if (ioctl(fd[1], I_NREAD, &cat) != 0 || cat != 0) {
			fprintf(stderr, "try %d leaves something\n", n);
			exit(1);
		}
	}
	errors();
	return bad;
}
