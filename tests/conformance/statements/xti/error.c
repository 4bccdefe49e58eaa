/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_error, t_strerror, t_sysconf, and t_errno itself.
 */
#include "statement.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* What t_error() writes to standard error. */
static char *
said(const char *message, int terr, int err)
{
	static char buf[512];
	int p[2], saved = T_OK(dup(2));
	ssize_t n;

	T_OK(pipe(p));
	T_OK(dup2(p[1], 2));
	t_errno = terr;
	errno = err;
	T_EQ(t_error(message), 0);
	T_OK(dup2(saved, 2));
	T_OK(close(saved));
	n = T_OK(read(p[0], buf, sizeof(buf) - 1));
	buf[n] = '\0';
	T_OK(close(p[0]));
	T_OK(close(p[1]));
	return buf;
}

XS(ANY, t_error, DESCRIPTION, message,
	"It writes the caller's message, a colon, a space, the error, a newline.")
{
	char want[256];

	snprintf(want, sizeof(want), "here: %s\n", t_strerror(TBADQLEN));
	T_STR(said("here", TBADQLEN, 0), want);
}

XS(ANY, t_error, DESCRIPTION, no_message,
	"With a null or an empty message it writes the error alone.")
{
	char want[256];

	snprintf(want, sizeof(want), "%s\n", t_strerror(TNODATA));
	T_STR(said(NULL, TNODATA, 0), want);
	T_STR(said("", TNODATA, 0), want);
}

XS(ANY, t_error, DESCRIPTION, system_error,
	"With TSYSERR it writes the words of errno as well.")
{
	char *s = said("x", TSYSERR, ENOSPC);

	T_NOTNULL(strstr(s, t_strerror(TSYSERR)));
	T_NOTNULL(strstr(s, strerror(ENOSPC)));
	T_EQ(s[strlen(s) - 1], '\n');
	T_EQ(strchr(s, '\n') - s, (long)strlen(s) - 1);
}

XS(ANY, t_error, DESCRIPTION, last_error,
	"The error is that of the last call that failed; success does not clear it.")
{
	int fd = xt_open(0);

	T_EQ(t_getstate(-1), -1);
	T_EQ(t_errno, TBADF);
	T_STATE(fd, T_UNBND);
	T_EQ(t_errno, TBADF);
}

static void *
other_thread(void *arg)
{
	t_errno = TQFULL;
	return arg;
}

XS(ANY, t_error, DESCRIPTION, per_thread,
	"Each thread has a t_errno of its own.")
{
	pthread_t th;

	t_errno = TNOREL;
	T_EQ(pthread_create(&th, NULL, other_thread, NULL), 0);
	T_EQ(pthread_join(th, NULL), 0);
	T_EQ(t_errno, TNOREL);
}

/* The calls that need no endpoint, while there is one in each state. */
static void
with_each_state(void (*fn)(void))
{
	struct xt_end e;
	int last = xt->service == T_CLTS ? T_IDLE :
		xt->service == T_COTS ? T_DATAXFER : T_INREL;

	for (int s = T_UNBND; s <= last; s++) {
		xt_make(&e, s);
		fn();
		T_STATE(e.fd, s);
		xs_close(&e);
	}
}

static void
error_works(void)
{
	T_NOTNULL(strstr(said("m", TLOOK, 0), "m: "));
}

static void
strerror_works(void)
{
	T_GT(strlen(t_strerror(TLOOK)), 0);
}

static void
sysconf_works(void)
{
	T_GT(t_sysconf(_SC_T_IOV_MAX), 0);
}

XS(ANY, t_error, STATES, valid,
	"It works in every state, and changes none.")
{
	with_each_state(error_works);
}

XS(ANY, t_error, RETURN, zero,
	"It returns 0.")
{
	said("x", TBADF, 0); /* checks it */
}

/* --------------------------------------------------------------- t_strerror */

XS(ANY, t_strerror, DESCRIPTION, words,
	"Each error number has words of its own.")
{
	char seen[TPROTO + 1][128];

	for (int i = 1; i <= TPROTO; i++) {
		snprintf(seen[i], sizeof(seen[i]), "%s", t_strerror(i));
		T_GT(strlen(seen[i]), 0);
		for (int j = 1; j < i; j++)
			T_NE(strcmp(seen[i], seen[j]), 0);
	}
}

XS(ANY, t_strerror, DESCRIPTION, no_newline,
	"The words do not end with a newline.")
{
	for (int i = 1; i <= TPROTO; i++)
		T_NULL(strchr(t_strerror(i), '\n'));
}

XS(ANY, t_strerror, DESCRIPTION, unknown,
	"Of an unknown number it says the number and that the error is unknown.")
{
	T_STR(t_strerror(12345), "12345: error unknown");
	T_STR(t_strerror(-3), "-3: error unknown");
}

XS(ANY, t_strerror, DESCRIPTION, leaves_t_errno,
	"It leaves t_errno as it is.")
{
	t_errno = TBADSEQ;
	(void)t_strerror(TBADF);
	(void)t_strerror(12345);
	T_EQ(t_errno, TBADSEQ);
}

XS(ANY, t_strerror, STATES, valid,
	"It works in every state, and changes none.")
{
	with_each_state(strerror_works);
}

XS(ANY, t_strerror, RETURN, string,
	"It returns a string.")
{
	T_NOTNULL(t_strerror(TBADADDR));
	T_NOTNULL(t_strerror(-1));
}

/* ---------------------------------------------------------------- t_sysconf */

XS(ANY, t_sysconf, DESCRIPTION, areas,
	"_SC_T_IOV_MAX is the most areas of one call, at least 16.")
{
	T_GE(t_sysconf(_SC_T_IOV_MAX), 16);
}

XS(ANY, t_sysconf, STATES, valid,
	"It works in every state, and changes none.")
{
	with_each_state(sysconf_works);
}

XS(ANY, t_sysconf, ERRORS, tbadflag,
	"A name that it does not know fails with TBADFLAG.")
{
	T_TERR(t_sysconf(-1), TBADFLAG);
	T_TERR(t_sysconf(999999), TBADFLAG);
}

XS(ANY, t_sysconf, RETURN, value,
	"It returns the value and leaves t_errno, or returns -1.")
{
	t_errno = TBADSEQ;
	T_GT(t_sysconf(_SC_T_IOV_MAX), 0);
	T_EQ(t_errno, TBADSEQ);
	T_EQ(t_sysconf(-1), -1);
}
