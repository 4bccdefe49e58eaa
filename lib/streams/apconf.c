/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The autopush configuration file: its syntax.  The syntax of SVR4, extended by
 * names of drivers instead of majors and by [anchor] among the modules.
 */
#include <stdbool.h>
#include <string.h>

#include "apconf.h"

#define MAXWORDS (3 + MAXAPUSH + 2)
#define MAXNUM 0x7ffffffl

struct word {
	const char *s;
	size_t n;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool
is_number(struct word w, long *ret)
{
	bool minus = w.n > 1 && w.s[0] == '-';
	long v = 0;
	size_t i = minus;

	if (w.n == 0)
		return false;
	for (; i < w.n; i++) {
		if (w.s[i] < '0' || w.s[i] > '9')
			return false;
		v = v * 10 + (w.s[i] - '0');
		if (v > MAXNUM)
			return false;
	}
	*ret = minus ? -v : v;
	return true;
}

/* Copy the name of a driver or module to @to. */
static bool
is_name(struct word w, char *to)
{
	if (w.n == 0 || w.n > FMNAMESZ)
		return false;
	for (size_t i = 0; i < w.n; i++)
		if (w.s[i] <= ' ' || w.s[i] >= 0x7f || w.s[i] == '/')
			return false;
	memcpy(to, w.s, w.n);
	to[w.n] = '\0';
	return true;
}

static unsigned
split(const char *s, const char *end, struct word *w)
{
	unsigned n = 0;

	for (;;) {
		while (s < end && is_blank(*s))
			s++;
		if (s == end || *s == '#' || n == MAXWORDS)
			return n;
		w[n].s = s;
		while (s < end && !is_blank(*s))
			s++;
		w[n].n = (size_t)(s - w[n].s);
		n++;
	}
}

/* Which minors: "-1 0" all; "M 0" one; "M N" a range. */
static const char *
minors(struct strapush *ap)
{
	if (ap->sap_minor == -1) {
		ap->sap_cmd = SAP_ALL;
		ap->sap_minor = 0;
		ap->sap_lastminor = 0;
		return NULL;
	}
	if (ap->sap_minor < 0 || ap->sap_lastminor < 0)
		return "a minor is a number from 0, or -1 for all";
	if (ap->sap_lastminor == 0) {
		ap->sap_cmd = SAP_ONE;
		return NULL;
	}
	ap->sap_cmd = SAP_RANGE;
	if (ap->sap_lastminor <= ap->sap_minor)
		return "the last minor is not above the first";
	return NULL;
}

static const char *
parse(const struct word *w, unsigned n, struct strapush *ap)
{
	static const char anchor[] = "[anchor]";

	memset(ap, 0, sizeof(*ap));
	if (n < 4)
		return "a line has a driver, two minors and a module at least";
	if (!is_number(w[0], &ap->sap_major)) {
		ap->sap_major = -1;
		if (!is_name(w[0], ap->sap_module))
			return "not a driver";
	} else if (ap->sap_major < 0) {
		return "a major is a number from 0";
	}
	if (!is_number(w[1], &ap->sap_minor) ||
		!is_number(w[2], &ap->sap_lastminor))
		return "a minor is a number from 0, or -1 for all";
	for (unsigned i = 3; i < n; i++) {
		if (w[i].n == sizeof(anchor) - 1 &&
			memcmp(w[i].s, anchor, w[i].n) == 0) {
			if (ap->sap_npush == 0 || ap->sap_anchor != 0)
				return "an anchor stands behind a module, once";
			ap->sap_anchor = (int)ap->sap_npush;
			continue;
		}
		if (ap->sap_npush == MAXAPUSH)
			return "too many modules";
		if (!is_name(w[i], ap->sap_list[ap->sap_npush]))
			return "not a module's name";
		ap->sap_npush++;
	}
	return minors(ap);
}

int
apconf_parse(const char *text, size_t len,
	int (*entry)(void *arg, unsigned line, struct strapush *ap),
	void (*err)(void *arg, unsigned line, const char *what), void *arg)
{
	const char *s = text, *end = text + len;
	unsigned line = 0;
	int ret = 0;

	while (s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		struct word w[MAXWORDS];
		const char *what;
		struct strapush ap;
		unsigned n;

		if (nl == NULL)
			nl = end;
		line++;
		n = split(s, nl, w);
		s = nl == end ? end : nl + 1;
		if (n == 0)
			continue;
		what = parse(w, n, &ap);
		if (what == NULL) {
			int stop = entry(arg, line, &ap);

			if (stop != 0)
				return stop;
			continue;
		}
		ret = -1;
		if (err != NULL)
			err(arg, line, what);
	}
	return ret;
}
