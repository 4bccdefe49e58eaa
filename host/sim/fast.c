/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * core/head/fast.h as functions, compiled as the executive is: in the library
 * it is inlined into read() and write(), which the simulated host does not
 * have.
 */
#include "head/fast.h"

static bool
ready(void)
{
	/* there is no identity here, see host.c */
	return host_tls.slot != NULL && host_tls.depth == 0 &&
		str_load(&host_domain->asym) != 0;
}

long fx_fast_read(struct str_head *sd, const str_a32 *id, uint32_t gen, int fd,
	void *buf, size_t len);
long fx_fast_write(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, const void *buf, size_t len);

long
fx_fast_read(struct str_head *sd, const str_a32 *id, uint32_t gen, int fd,
	void *buf, size_t len)
{
	enum str_fast how;
	size_t n;

	if (!ready())
		return STR_NOT_FAST;
	how = str_head_read_fast(sd, id, gen, buf, len, &n);
	if (how == STR_FAST_HELD)
		n = STR_O_NONBLOCK; /* no other task can run in between here */
	return how == STR_FAST_DONE ? (long)n :
		str_head_read_tail(sd, fd, buf, len, n, how);
}

long
fx_fast_write(struct str_head *sd, const str_a32 *id, uint32_t gen, int fd,
	const void *buf, size_t len)
{
	enum str_fast how;

	if (!ready())
		return STR_NOT_FAST;
	how = str_head_write_fast(sd, id, gen, buf, len);
	if (how == STR_FAST_DONE)
		return (long)len;
	return how != STR_FAST_MODS ? str_head_write_tail(sd, fd, len, how) :
		str_head_write_indirect(sd, id, gen, fd, buf, len);
}
