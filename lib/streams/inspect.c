/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strm_inspect(): the executive's description of the domain, for our own tools.
 * Its symbol is in the private version of the library: its format may change
 * with every release.
 */

#include "call.h"
#include "iotable.h"
#include "names.h"
#include "user_impl.h"

#include <str/inspect.h>
#include <str/types.h>

STR_EXPORT long
strm_inspect(void *buf, size_t size, unsigned what)
{
	struct host_call hc = {.fd = -1};
	uint64_t n;
	int err = host_enter(&hc);

	if (err != 0)
		return fail(err);
	n = str_inspect(buf, size, what);
	host_leave();
	return (long)n;
}

STR_EXPORT const char *
strm_why(void)
{
	return host_attach_error();
}

STR_EXPORT const char *
strm_where(void)
{
	struct host_call hc = {.fd = -1};
	int err = host_enter(&hc);

	if (err != 0) {
		(void)fail(err);
		return NULL;
	}
	host_leave();
	return host_domain_path();
}

STR_EXPORT const char *
strm_why_stdio(void)
{
	return stdio_why();
}

STR_EXPORT const char *
strm_why_daemon(void)
{
	return host_daemon_why();
}

STR_EXPORT long
strm_config(const char *path, int chosen, char *buf, size_t size)
{
	return call_value(names_config(path, chosen ? HOST_TRUST_CHOSEN : 0,
		buf, size));
}

STR_EXPORT long
strm_tune(const struct strm_tune *tune)
{
	struct host_call hc = {.fd = -1};
	int err = host_enter(&hc);
	long n;

	if (err != 0)
		return fail(err);
	n = str_tune(tune);
	host_leave();
	return call_value(n);
}
