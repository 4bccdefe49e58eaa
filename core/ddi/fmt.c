/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * printf for the executive: formats the text of cmn_err, uprintf and strlog,
 * and of sprintf(9) and snprintf(9).
 */
#include "ddi_impl.h"

void
str_text_char(struct str_text *o, char c)
{
	o->all++;
	if (o->n + 1 < o->size)
		o->buf[o->n++] = c;
}

void
str_text_string(struct str_text *o, const char *s)
{
	for (; *s != '\0'; s++)
		str_text_char(o, *s);
}

size_t
str_text_end(struct str_text *o)
{
	o->buf[o->n] = '\0';
	return o->n;
}

struct spec {
	bool zero, left;
	int width;
	int prec; /* -1: not given */
	int longs;
};

static void
pad(struct str_text *o, char c, int n)
{
	while (n-- > 0)
		str_text_char(o, c);
}

static void
number(struct str_text *o, const struct spec *sp, unsigned long long v,
	unsigned base, bool upper, bool neg)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char tmp[24];
	int n = 0, fill, zeros;

	do {
		tmp[n++] = digits[v % base];
		v /= base;
	} while (v != 0);
	zeros = sp->prec > n ? sp->prec - n : 0;
	fill = sp->width - n - zeros - (neg ? 1 : 0);
	if (sp->zero && !sp->left && sp->prec < 0) {
		zeros = fill > 0 ? fill : 0;
		fill = 0;
	}
	if (!sp->left)
		pad(o, ' ', fill);
	if (neg)
		str_text_char(o, '-');
	pad(o, '0', zeros);
	while (n > 0)
		str_text_char(o, tmp[--n]);
	if (sp->left)
		pad(o, ' ', fill);
}

static void
string(struct str_text *o, const struct spec *sp, const char *s)
{
	int n = 0, i;

	if (s == NULL)
		s = "(null)";
	while ((sp->prec < 0 || n < sp->prec) && s[n] != '\0')
		n++;
	if (!sp->left)
		pad(o, ' ', sp->width - n);
	for (i = 0; i < n; i++)
		str_text_char(o, s[i]);
	if (sp->left)
		pad(o, ' ', sp->width - n);
}

static const char *
digits(const char *fmt, int *ret, va_list *ap)
{
	int n = 0;

	if (*fmt == '*') {
		n = va_arg(*ap, int);
		*ret = STR_MIN(n, 1000);
		return fmt + 1;
	}
	for (; *fmt >= '0' && *fmt <= '9'; fmt++)
		n = n < 1000 ? n * 10 + (*fmt - '0') : n;
	*ret = n;
	return fmt;
}

/* Parse flags, width, precision and length.  Return: the text after them. */
static const char *
prefix(struct spec *sp, const char *fmt, va_list *ap)
{
	*sp = (struct spec){.prec = -1};
	for (;; fmt++) {
		if (*fmt == '-')
			sp->left = true;
		else if (*fmt == '0')
			sp->zero = true;
		else
			break;
	}
	fmt = digits(fmt, &sp->width, ap);
	if (sp->width < 0) {
		sp->left = true;
		sp->width = sp->width < -1000 ? 1000 : -sp->width;
	}
	if (*fmt == '.')
		fmt = digits(fmt + 1, &sp->prec, ap);
	for (; *fmt == 'l' || *fmt == 'z' || *fmt == 'h'; fmt++)
		sp->longs += *fmt != 'h';
	return fmt;
}

static unsigned long long
unsigned_arg(const struct spec *sp, va_list *ap)
{
	return sp->longs != 0 ? va_arg(*ap, unsigned long) :
				va_arg(*ap, unsigned int);
}

/* One conversion; @fmt points after the '%'.  Return: the text after it. */
static const char *
conversion(struct str_text *o, const char *fmt, va_list *ap)
{
	struct spec sp;
	long long d;

	fmt = prefix(&sp, fmt, ap);
	switch (*fmt) {
	case 'd':
	case 'i':
		d = sp.longs != 0 ? va_arg(*ap, long) : va_arg(*ap, int);
		number(o, &sp, d < 0 ? 0ull - (unsigned long long)d :
			(unsigned long long)d, 10, false, d < 0);
		break;
	case 'u':
		number(o, &sp, unsigned_arg(&sp, ap), 10, false, false);
		break;
	case 'o':
		number(o, &sp, unsigned_arg(&sp, ap), 8, false, false);
		break;
	case 'x':
	case 'X':
		number(o, &sp, unsigned_arg(&sp, ap), 16, *fmt == 'X', false);
		break;
	case 'p':
		str_text_string(o, "0x");
		number(o, &sp, (uintptr_t)va_arg(*ap, void *), 16, false,
			false);
		break;
	case 'c':
		str_text_char(o, (char)va_arg(*ap, int));
		break;
	case 's':
		string(o, &sp, va_arg(*ap, const char *));
		break;
	case '\0':
		return fmt;
	default:
		str_text_char(o, *fmt);
		break;
	}
	return fmt + 1;
}

void
str_text_format(struct str_text *o, const char *fmt, va_list ap)
{
	va_list copy;

	va_copy(copy, ap);
	while (*fmt != '\0') {
		if (*fmt != '%')
			str_text_char(o, *fmt++);
		else
			fmt = conversion(o, fmt + 1, &copy);
	}
	va_end(copy);
}

/* Solaris vsnprintf(9F) */
int
str_ddi_vsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	struct str_text o = {.buf = buf, .size = size};

	str_text_format(&o, fmt, ap);
	if (size != 0)
		(void)str_text_end(&o);
	return (int)o.all;
}

/* Solaris snprintf(9F) */
int
str_ddi_snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = str_ddi_vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}

/* Solaris sprintf(9F): its result is the buffer there */
int
str_ddi_sprintf(char *buf, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = str_ddi_vsnprintf(buf, (size_t)INT_MAX, fmt, ap);
	va_end(ap);
	return n;
}
