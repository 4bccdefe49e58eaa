/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What <str/ksock.h> needs of the C library's <sys/uio.h>, for core, which
 * sees none of its headers.
 */
#ifndef STR_SOCK_UIO_H
#define STR_SOCK_UIO_H

#include <stddef.h>

struct iovec {
	void *iov_base;
	size_t iov_len;
};

#endif
