/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/cmn_err.h> - messages of modules and drivers to the operator
 */
#ifndef _SYS_CMN_ERR_H
#define _SYS_CMN_ERR_H

#include <stdarg.h>
#include <sys/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CE_CONT 0  /* continues the line before */
#define CE_NOTE 1  /* "NOTICE: " */
#define CE_WARN 2  /* "WARNING: " */
#define CE_PANIC 3 /* "PANIC: ", and the process ends */

/**
 * cmn_err - write a message for the operator
 * @level: CE_*
 * @fmt:   printf-like: %d %i %u %o %x %X %c %s %p %% with l, ll, z, width,
 *         precision, zero padding and - for the left.  A first character of ! ^
 *         or ? is dropped: on other systems it selects the log or the console.
 *
 * The line goes to the standard error of the process that runs the module.
 * It is cut off after 255 bytes.
 *
 * Context: any.
 */
void cmn_err(int level, const char *fmt, ...) STR_DDI(cmn_err)
	__attribute__((format(printf, 2, 3)));
void vcmn_err(int level, const char *fmt, va_list ap) STR_DDI(vcmn_err)
	__attribute__((format(printf, 2, 0)));

/**
 * uprintf - write a message for the user of the module
 * @fmt: as of cmn_err()
 *
 * The text goes to the standard error of the process whose call is being
 * served.
 *
 * Context: open and close procedures, and put procedures that are called
 *          from the Stream head.
 */
void uprintf(const char *fmt, ...) STR_DDI(uprintf)
	__attribute__((format(printf, 1, 2)));
void vuprintf(const char *fmt, va_list ap) STR_DDI(vuprintf)
	__attribute__((format(printf, 1, 0)));

#ifdef __cplusplus
}
#endif

#endif /* _SYS_CMN_ERR_H */
