/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The DDI functions that are not about messages and queues: kernel memory,
 * clocks and parameters, messages to the operator.
 */
#include "core.h"
#include <stdarg.h>
#include <sys/kmem.h>
#include <sys/cmn_err.h>
#include <sys/ddi.h>

#define HZ 100

void *
kmem_alloc(size_t size, int flag)
{
	struct str_blk *b;

	(void)flag; /* a domain that is full stays so: sleeping gains nothing */
	if (size == 0 || size > STR_MEM_MAX - 64)
		return NULL;
	b = str_mem_alloc(size + 64, STR_BLK_KMEM);
	if (b == NULL)
		return NULL;
	str_mem_disown(b); /* it belongs to the module from now on */
	return (char *)b + 64;
}

void *
kmem_zalloc(size_t size, int flag)
{
	void *p = kmem_alloc(size, flag);

	if (p != NULL)
		__builtin_memset(p, 0, size);
	return p;
}

void
kmem_free(void *buf, size_t size)
{
	struct str_blk *b;

	(void)size;
	if (buf == NULL)
		return;
	b = (struct str_blk *)(void *)((char *)buf - 64);
	STR_VERIFY(b->state == STR_BLK_KMEM);
	str_mem_own(b);
	str_mem_free(b);
}

int
drv_getparm(unsigned int parm, void *valuep)
{
	unsigned long v;
	struct host_cred cr;

	switch (parm) {
	case LBOLT:
		v = (unsigned long)(host_now() / (1000000000ull / HZ));
		break;
	case PPID:
		host_cred(&cr);
		v = cr.pid;
		break;
	default:
		return -1;
	}
	*(unsigned long *)valuep = v;
	return 0;
}

int
drv_priv(cred_t *crp)
{
	struct host_cred cr;

	(void)crp;
	host_cred(&cr);
	return cr.uid == 0 ? 0 : EPERM;
}

long
drv_hztousec(long ticks)
{
	if (ticks <= 0)
		return 0;
	return ticks > LONG_MAX / (1000000 / HZ) ? LONG_MAX :
						  ticks * (1000000 / HZ);
}

long
drv_usectohz(long usec)
{
	if (usec <= 0)
		return 0;
	return usec / (1000000 / HZ) + (usec % (1000000 / HZ) != 0);
}

unsigned long
drv_hztomsec(unsigned long ticks)
{
	return ticks > ULONG_MAX / (1000 / HZ) ? ULONG_MAX :
						 ticks * (1000 / HZ);
}

unsigned long
drv_msectohz(unsigned long msec)
{
	return msec / (1000 / HZ) + (msec % (1000 / HZ) != 0);
}

/* ---------------------------------------------------------------- cmn_err */

struct out {
	char buf[256];
	size_t n;
};

static void
emit(struct out *o, char c)
{
	if (o->n < sizeof(o->buf) - 1)
		o->buf[o->n++] = c;
}

static void
number(struct out *o, unsigned long long v, unsigned base, bool upper,
	int width, bool zero, bool neg)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char tmp[24];
	int n = 0;

	do {
		tmp[n++] = digits[v % base];
		v /= base;
	} while (v != 0);
	width -= neg ? 1 : 0;
	if (neg && zero)
		emit(o, '-');
	for (; width > n; width--)
		emit(o, zero ? '0' : ' ');
	if (neg && !zero)
		emit(o, '-');
	while (n > 0)
		emit(o, tmp[--n]);
}

/* One conversion; @fmt stands behind the '%'.  Returns what follows it. */
static const char *
conversion(struct out *o, const char *fmt, va_list *ap)
{
	bool zero = false;
	int width = 0, longs = 0;
	long long d;
	unsigned long long u;
	const char *s;

	if (*fmt == '0')
		zero = true;
	for (; *fmt >= '0' && *fmt <= '9'; fmt++)
		width = width < 100 ? width * 10 + (*fmt - '0') : width;
	for (; *fmt == 'l' || *fmt == 'z' || *fmt == 'h'; fmt++)
		longs += *fmt != 'h';
	switch (*fmt) {
	case 'd':
	case 'i':
		d = longs != 0 ? va_arg(*ap, long) : va_arg(*ap, int);
		number(o, d < 0 ? 0ull - (unsigned long long)d :
				  (unsigned long long)d,
			10, false, width, zero, d < 0);
		break;
	case 'u':
	case 'o':
	case 'x':
	case 'X':
		u = longs != 0 ? va_arg(*ap, unsigned long) :
				 va_arg(*ap, unsigned int);
		number(o, u, *fmt == 'u' ? 10 : *fmt == 'o' ? 8 : 16,
			*fmt == 'X', width, zero, false);
		break;
	case 'p':
		emit(o, '0');
		emit(o, 'x');
		number(o, (uintptr_t)va_arg(*ap, void *), 16, false, 0, false,
			false);
		break;
	case 'c':
		emit(o, (char)va_arg(*ap, int));
		break;
	case 's':
		s = va_arg(*ap, const char *);
		for (s = s != NULL ? s : "(null)"; *s != '\0'; s++)
			emit(o, *s);
		break;
	case '\0':
		return fmt;
	default:
		emit(o, *fmt);
		break;
	}
	return fmt + 1;
}

void
vcmn_err(int level, const char *fmt, va_list ap)
{
	struct out o = {.n = 0};
	const char *s = level == CE_NOTE ? "NOTICE: " :
		level == CE_WARN	 ? "WARNING: " :
		level == CE_PANIC	 ? "PANIC: " :
					   "";
	va_list copy;

	if (*fmt == '!' || *fmt == '^' || *fmt == '?')
		fmt++;
	for (; *s != '\0'; s++)
		emit(&o, *s);
	va_copy(copy, ap);
	while (*fmt != '\0') {
		if (*fmt != '%')
			emit(&o, *fmt++);
		else
			fmt = conversion(&o, fmt + 1, &copy);
	}
	va_end(copy);
	if (level != CE_CONT)
		emit(&o, '\n');
	o.buf[o.n] = '\0';
	if (level == CE_PANIC)
		host_panic(o.buf, "module", 0);
	host_log(level, o.buf);
}

void
cmn_err(int level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vcmn_err(level, fmt, ap);
	va_end(ap);
}
