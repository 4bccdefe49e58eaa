/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * For iotable_test.c: a library between libstreams and the C library that makes
 * the latter look like one with unknown tables.
 */
#include <stdio.h>

#include <str/annot.h>

ssize_t _IO_file_read(FILE *f, void *buf, ssize_t n);

STR_EXPORT ssize_t
_IO_file_read(FILE *f, void *buf, ssize_t n)
{
	(void)f, (void)buf, (void)n;
	return -1;
}
