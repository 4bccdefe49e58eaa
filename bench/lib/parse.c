/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "parse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int
bench_parse_long(const char *text, long lo, long hi, long *ret_value)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 0);
	if (end == text || *end != '\0')
		return EINVAL;
	if (errno == ERANGE || value < lo || value > hi)
		return ERANGE;
	*ret_value = value;
	return 0;
}

int
bench_parse_seconds(const char *text, double lo, double hi, double *ret_value)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || *end != '\0' || !isfinite(value))
		return EINVAL;
	if (errno == ERANGE || value < lo || value > hi)
		return ERANGE;
	*ret_value = value;
	return 0;
}

/* One element of a list of sizes: a number or a doubling range. */
static int
parse_element(
	char *element, long lo, long hi, long *sizes, size_t max, size_t *n)
{
	char *dots = strstr(element, "..");
	long first, last;
	int error;

	if (dots != NULL)
		*dots = '\0';
	error = bench_parse_long(element, lo, hi, &first);
	if (error != 0)
		return error;
	last = first;
	if (dots != NULL) {
		error = bench_parse_long(dots + 2, lo, hi, &last);
		if (error != 0)
			return error;
		if (last < first)
			return EINVAL;
	}
	for (;;) {
		if (*n == max)
			return E2BIG;
		sizes[(*n)++] = first;
		if (first == last)
			return 0;
		/* A last value that is no doubling of the first still counts. */
		first = first > last / 2 ? last : first * 2;
		if (first == 0)
			return EINVAL;
	}
}

int
bench_parse_sizes(const char *text, long lo, long hi, long *sizes, size_t max,
	size_t *ret_n)
{
	char *copy = strdup(text);
	char *rest = copy;
	char *element;
	size_t n = 0;
	int error = 0;

	if (copy == NULL)
		return ENOMEM;
	while (error == 0 && (element = strsep(&rest, ",")) != NULL)
		error = parse_element(element, lo, hi, sizes, max, &n);
	free(copy);
	if (error == 0)
		*ret_n = n;
	return error;
}
