/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The system's autopush.conf(5), applied to a domain.
 *
 * Life.  The first process that opens a device in a domain applies the file
 * before the open.  Several processes may do that at once, and one may die in
 * the middle: each makes all entries, skips the existing ones, and then notes
 * that the file has been applied.  So no open precedes the complete table.
 *
 * Lines that cannot be parsed, or that name unknown modules, are skipped: an
 * open(2) must not print messages.  A line for a driver that is not loaded yet
 * takes effect when it is loaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "apconf.h"
#include "names.h"
#include "sys.h"
#include "user_impl.h"

#undef FNDELAY /* <fcntl.h> has them, with the kernel's values */
#undef FNONBLOCK
#include <str/apush.h>

#ifndef STREAMS_AUTOPUSH
#define STREAMS_AUTOPUSH "/etc/fast-streams/autopush.conf"
#endif

static int
apply(void *arg, unsigned line, struct strapush *ap)
{
	(void)arg;
	(void)line;
	if (ap->sap_major < 0)
		(void)str_apush_later(ap);
	else
		(void)str_apush_set(ap);
	return 0;
}

void
streams_autopush_load(void)
{
	const char *env, *path = STREAMS_AUTOPUSH;
	unsigned how = 0;
	long n, p;

	if (!str_apush_fresh())
		return;
	p = sys_call6(SYS_mmap, NULL, APCONF_MAXTEXT, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p < 0 && p > -4096)
		return; /* the next open may have memory */
	env = secure_getenv("STREAMS_AUTOPUSH");
	if (env != NULL && env[0] != '\0') {
		path = env;
		how = HOST_TRUST_CHOSEN;
	}
	n = names_config(path, how, (char *)p, APCONF_MAXTEXT);
	if (n == -ENOENT && path != env)
		(void)apconf_parse(apconf_builtin, strlen(apconf_builtin),
			apply, NULL, NULL);
	else if (n > 0)
		(void)apconf_parse((char *)p, (size_t)n, apply, NULL, NULL);
	(void)sys_call2(SYS_munmap, p, APCONF_MAXTEXT);
	str_apush_applied();
}
