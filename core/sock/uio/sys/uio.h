/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The part of the C library's <sys/uio.h> that <str/ksock.h> needs, for core,
 * which does not use headers of the C library.
 */
#ifndef STR_SOCK_UIO_H
#define STR_SOCK_UIO_H

#include <stddef.h>

struct iovec {
	void *iov_base;
	size_t iov_len;
};

#endif
