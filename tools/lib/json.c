/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * JSON, as text.
 */
#include <inttypes.h>

#include "tool.h"

static void
quoted(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static void
place(struct json *j, const char *key)
{
	if (!j->first)
		fputc(',', j->f);
	if (j->depth != 0 && !j->one) {
		fputc('\n', j->f);
		for (int i = 0; i < j->depth; i++)
			fputc('\t', j->f);
	}
	j->first = false;
	if (key != NULL) {
		quoted(j->f, key);
		fputs(": ", j->f);
	}
}

void
json_begin(struct json *j, const char *key, char bracket)
{
	if (j->depth == 0)
		j->first = true;
	place(j, key);
	fputc(bracket, j->f);
	j->depth++;
	j->first = true;
}

void
json_end(struct json *j, char bracket)
{
	j->depth--;
	if (!j->first && !j->one) {
		fputc('\n', j->f);
		for (int i = 0; i < j->depth; i++)
			fputc('\t', j->f);
	}
	fputc(bracket, j->f);
	j->first = false;
	if (j->depth == 0)
		fputc('\n', j->f);
}

void
json_int(struct json *j, const char *key, int64_t v)
{
	place(j, key);
	fprintf(j->f, "%" PRId64, v);
}

void
json_uint(struct json *j, const char *key, uint64_t v)
{
	place(j, key);
	fprintf(j->f, "%" PRIu64, v);
}

void
json_str(struct json *j, const char *key, const char *v)
{
	place(j, key);
	quoted(j->f, v);
}

void
json_bool(struct json *j, const char *key, bool v)
{
	place(j, key);
	fputs(v ? "true" : "false", j->f);
}

void
json_null(struct json *j, const char *key)
{
	place(j, key);
	fputs("null", j->f);
}
