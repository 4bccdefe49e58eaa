/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A write's source with more than one part; source.h has the theory.
 */
#include "core.h"
#include "source.h"

int
str_src_gather(const struct str_src *s, void *to, size_t n)
{
	struct str_src at = *s;
	char *p = to;
	size_t len;
	int err;

	while (n > 0) {
		len = STR_MIN(src_piece(&at), n);
		err = host_copyin(src_base(&at), p, len);
		if (err != 0)
			return err;
		p += len;
		n -= len;
		at.iov++;
		at.off = 0;
	}
	return 0;
}

void
str_src_skip(struct str_src *s, size_t n)
{
	while (n >= src_piece(s) && n > 0) {
		n -= src_piece(s);
		s->iov++;
		s->off = 0;
	}
	s->off += n;
}
