/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages to the operator, and to the user of a module.
 */
#include "ddi_impl.h"
#include <sys/cmn_err.h>

#define LINE 256

/* SVR4 cmn_err(D3) */
void
vcmn_err(int level, const char *fmt, va_list ap)
{
	char buf[LINE];
	struct str_text o = {.buf = buf, .size = sizeof(buf)};

	if (*fmt == '!' || *fmt == '^' || *fmt == '?')
		fmt++;
	if (level == CE_NOTE)
		str_text_string(&o, "NOTICE: ");
	else if (level == CE_WARN)
		str_text_string(&o, "WARNING: ");
	else if (level == CE_PANIC)
		str_text_string(&o, "PANIC: ");
	str_text_format(&o, fmt, ap);
	if (level != CE_CONT)
		str_text_char(&o, '\n');
	(void)str_text_end(&o);
	if (level == CE_PANIC)
		host_panic(buf, "module", 0);
	host_log(level, buf);
}

void
cmn_err(int level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vcmn_err(level, fmt, ap);
	va_end(ap);
}

/* Solaris uprintf: to the process that is being served. */
void
vuprintf(const char *fmt, va_list ap)
{
	char buf[LINE];
	struct str_text o = {.buf = buf, .size = sizeof(buf)};

	str_text_format(&o, fmt, ap);
	(void)str_text_end(&o);
	host_log(CE_CONT, buf);
}

void
uprintf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vuprintf(fmt, ap);
	va_end(ap);
}
