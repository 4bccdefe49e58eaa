/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Vectors, headers and addresses in the caller's memory.  They are copied before
 * they are used: bad memory is EFAULT, as in the kernel, and what another thread
 * changes meanwhile has no effect.
 */
#include "sock.h"

/*
 * sk_vec_in - the @n pieces at @from, of the caller
 * @to: room for SK_PIECES.  Return: 0, -EFAULT, or -@err: there are more.
 */
int
sk_vec_in(const struct iovec *from, size_t n, struct iovec *to, int err)
{
	if (n > SK_PIECES)
		return -err;
	return n != 0 && strm_copy(to, from, n * sizeof(*to)) != 0 ? -EFAULT :
								     0;
}

/*
 * sk_from_out - the sender's address for the caller, as much as *@len permits
 * Return: 0, also if it is not wanted; -EFAULT or -EINVAL.
 */
int
sk_from_out(const struct sk_got *got, struct sockaddr *sa, socklen_t *len)
{
	socklen_t room, size = got->fromlen;

	if (sa == NULL || len == NULL)
		return 0;
	if (strm_copy(&room, len, sizeof(room)) != 0)
		return -EFAULT;
	if ((int)room < 0)
		return -EINVAL;
	if (room > size)
		room = size;
	if ((room != 0 && strm_copy(sa, &got->from, room) != 0) ||
	    strm_copy(len, &size, sizeof(size)) != 0)
		return -EFAULT;
	return 0;
}
