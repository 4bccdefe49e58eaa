/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "left.h"

#include <stdio.h>

#include <str/inspect.h>

bool
nothing_left(char *why, size_t size)
{
	static _Alignas(8) char buf[1 << 20];
	const struct str_i_domain *d = (const void *)buf;
	long n = strm_inspect(buf, sizeof(buf), STR_I_WANT_MEMORY);

	if (n < (long)sizeof(*d)) {
		snprintf(why, size, "strm_inspect: %ld", n);
		return false;
	}
	snprintf(why, size, "%llu streams; blocks by kind:%llu %llu %llu %llu "
		"%llu %llu %llu %llu %llu %llu",
		(unsigned long long)d->nstream,
		(unsigned long long)d->blocks[2], (unsigned long long)d->blocks[3],
		(unsigned long long)d->blocks[4], (unsigned long long)d->blocks[5],
		(unsigned long long)d->blocks[6], (unsigned long long)d->blocks[7],
		(unsigned long long)d->blocks[8], (unsigned long long)d->blocks[9],
		(unsigned long long)d->blocks[10],
		(unsigned long long)d->blocks[12]);
	/* segments, queue pairs, streams, buffers, messages, files, links,
	 * signal registrations */
	return d->nstream == 0 && d->blocks[2] == 0 && d->blocks[3] == 0 &&
		d->blocks[4] == 0 && d->blocks[5] == 0 && d->blocks[6] == 0 &&
		d->blocks[9] == 0 && d->blocks[10] == 0 && d->blocks[12] == 0;
}
