/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Why this process has no domain, in words.
 *
 * A call that cannot attach fails with ENOSR, which does not tell the reason.
 * The function that finds the reason keeps it here; strinfo(1) prints it, and so
 * does the process itself with STREAMS_VERBOSE=1.  A reason names the file or
 * the limit, and what the user can do.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "user_impl.h"

static char attach_error[1200]; /* [attach] */

const char *
host_attach_error(void)
{
	return attach_error;
}

/* host_attached - this process is a member: no reason is left */
void
host_attached(void)
{
	attach_error[0] = '\0';
}

int
host_fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(attach_error, sizeof attach_error, fmt, ap);
	va_end(ap);
	return err;
}

/* host_words - what the kernel's errno @err means, and what to do; in @buf */
const char *
host_words(int err, char *buf, size_t size)
{
	struct rlimit rl = { 0, 0 };

	switch (err) {
	case EMFILE:
		(void)sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &rl);
		snprintf(buf, size, "%s: the limit of open files (ulimit -n) is "
			"%llu, raise it", strerror(err),
			(unsigned long long)rl.rlim_cur);
		break;
	case ENFILE:
		snprintf(buf, size, "%s: raise fs.file-max", strerror(err));
		break;
	case ENOSPC:
	case EDQUOT:
		snprintf(buf, size, "%s: make room in its file system, which has "
			"no space or no inode left", strerror(err));
		break;
	default:
		snprintf(buf, size, "%s", strerror(err));
		break;
	}
	return buf;
}

/*
 * host_fail_file - @what, a file or directory, cannot be had because of @err, an
 * errno of the kernel.  Return: the errno to fail with.
 */
int
host_fail_file(int err, const char *what)
{
	char words[200];

	if (err == EMFILE || err == ENFILE)
		return host_fail(err, "%s: %s", what,
			host_words(err, words, sizeof words));
	return host_fail(err == ENOSPC || err == EDQUOT ? ENOSR : EACCES,
		"%s: %s" HOST_ELSEWHERE, what,
		host_words(err, words, sizeof words));
}

/*
 * Say on standard error why, for STREAMS_VERBOSE=1: a call that fails with
 * ENOSR does not tell.  Once for each reason.  Locks: [attach]
 */
void
host_attach_report(void)
{
	static char said[sizeof attach_error];
	char text[sizeof attach_error + 64];

	if (!host_verbose() || strcmp(said, attach_error) == 0)
		return;
	strcpy(said, attach_error);
	snprintf(text, sizeof text, "streams: cannot attach to a domain: %s",
		attach_error);
	host_log(1, text);
}
