/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Where a write takes its bytes from: the parts of the caller's vector, one
 * behind the other.  A write(2) has one part.  The bytes are copied from the
 * parts straight to where a reader finds them, so a vector of many parts costs
 * no more than one buffer of their sum.
 *
 * The vector is the executive's copy, the parts are the caller's memory.
 */
#ifndef STR_SOURCE_H
#define STR_SOURCE_H

struct str_src {
	const struct str_iov *iov; /* the part in use */
	size_t off;		   /* its bytes that have been taken already */
};

/*
 * str_src_gather - copy the next @n bytes to @to, without taking them
 * str_src_skip - take the next @n bytes: the next copy begins behind them
 * @n: at most the bytes that are left in all parts
 */
int str_src_gather(const struct str_src *s, void *to, size_t n) STR_MUST_CHECK;
void str_src_skip(struct str_src *s, size_t n);

/* Bytes that are left in the part in use. */
STR_INLINE size_t
src_piece(const struct str_src *s)
{
	return s->iov->len - s->off;
}

STR_INLINE const void *
src_base(const struct str_src *s)
{
	return (const char *)s->iov->base + s->off;
}

/* str_src_gather().  Return: 0, EFAULT. */
STR_INLINE STR_MUST_CHECK int
src_copy(const struct str_src *s, void *to, size_t n)
{
	if (str_likely(n <= src_piece(s)))
		return host_copyin(src_base(s), to, n);
	return str_src_gather(s, to, n);
}

#endif
