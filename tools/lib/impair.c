/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* The parameters of impaired wires as text: strwire(8). */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "impair.h"

/* What may follow a number, and what it multiplies it by. */
struct unit {
	const char *name;
	double factor;
};
static const struct unit percents[] = { { "", 1 }, { "%", 1 }, { NULL, 0 } };
static const struct unit times[] = {
	{ "us", 1 }, { "ms", 1e3 }, { "s", 1e6 }, { NULL, 0 }
};
static const struct unit rates[] = {
	{ "bit", 0.125 }, { "kbit", 125 }, { "mbit", 125e3 },
	{ "gbit", 125e6 }, { NULL, 0 }
};
static const struct unit numbers[] = { { "", 1 }, { NULL, 0 } };

/* The value of @word, whose form is NAME=VALUE, as a whole number of the base
 * unit divided by @factor. */
static double
value(struct tool *t, const char *word, const struct unit *u, double factor, double most)
{
	const char *text = strchr(word, '=') + 1;
	char *end;
	double v;

	if (strspn(text, "0123456789.") == 0)
		tool_usage(t, "not a value: %s", word);
	v = strtod(text, &end);
	while (u->name != NULL && strcmp(u->name, end) != 0)
		u++;
	if (u->name == NULL)
		tool_usage(t, "not a unit: %s", word);
	v = v * u->factor * factor;
	if (!(v >= 0 && v <= most))
		tool_usage(t, "too large: %s", word);
	if (v > 0 && v < 0.5)
		tool_usage(t, "too small: %s", word);
	/* the nearest: 1.001 ms are less than 1001 us in binary */
	return (double)(unsigned long long)(v + 0.5);
}

/* impair_word - set the parameter @word, as strwire(8) says, or exit */
void
impair_word(struct tool *t, struct ipw_impair *im, const char *word)
{
	static const struct {
		const char *name;
		size_t at;
	} chances[] = {
		{ "loss=", offsetof(struct ipw_impair, loss) },
		{ "dup=", offsetof(struct ipw_impair, dup) },
		{ "reorder=", offsetof(struct ipw_impair, reorder) },
		{ "corrupt=", offsetof(struct ipw_impair, corrupt) },
	};
	double v;

	for (size_t i = 0; i < sizeof(chances) / sizeof(chances[0]); i++) {
		if (strncmp(word, chances[i].name, strlen(chances[i].name)) != 0)
			continue;
		v = value(t, word, percents, IPW_ALWAYS / 100.0, IPW_ALWAYS);
		*(unsigned *)(void *)((char *)im + chances[i].at) =
			(unsigned)v;
		return;
	}
	if (strncmp(word, "delay=", 6) == 0)
		im->delay = (unsigned)value(t, word, times, 1, IPW_LONGEST);
	else if (strncmp(word, "jitter=", 7) == 0)
		im->jitter = (unsigned)value(t, word, times, 1, IPW_LONGEST);
	else if (strncmp(word, "rate=", 5) == 0)
		im->rate = (unsigned long long)value(t, word, rates, 1, 1e12);
	else if (strncmp(word, "limit=", 6) == 0)
		im->limit = (unsigned)value(t, word, numbers, 1, 1e6);
	else if (strncmp(word, "seed=", 5) == 0)
		im->seed = (unsigned long long)value(t, word, numbers, 1, 1e15);
	else
		tool_usage(t, "not a parameter: %s", word);
	if (strncmp(word, "rate=", 5) == 0 && im->rate == 0)
		tool_usage(t, "not a rate: %s", word);
}

/* impair_show - write the parameters and counters to standard output */
void
impair_show(const struct ipw_impair *im, bool as_json)
{
	struct json j = { .f = stdout };
	const struct {
		const char *name;
		unsigned long long n;
	} rows[] = {
		{ "seen", im->seen }, { "lost", im->lost },
		{ "dup", im->twice }, { "reordered", im->late },
		{ "corrupted", im->damaged }, { "full", im->full },
		{ "held", im->held },
	};
	size_t n = sizeof(rows) / sizeof(rows[0]);

	if (as_json) {
		json_begin(&j, NULL, '{');
		json_str(&j, "name", im->name);
		json_uint(&j, "loss-millionths", im->loss);
		json_uint(&j, "dup-millionths", im->dup);
		json_uint(&j, "reorder-millionths", im->reorder);
		json_uint(&j, "corrupt-millionths", im->corrupt);
		json_uint(&j, "delay-us", im->delay);
		json_uint(&j, "jitter-us", im->jitter);
		json_uint(&j, "rate-bytes-per-s", im->rate);
		json_uint(&j, "limit", im->limit);
		json_uint(&j, "seed", im->seed);
		json_begin(&j, "counts", '{');
		for (size_t i = 0; i < n; i++)
			json_uint(&j, rows[i].name, rows[i].n);
		json_end(&j, '}');
		json_end(&j, '}');
		return;
	}
	printf("%s: loss=%g%% dup=%g%% reorder=%g%% corrupt=%g%% delay=%uus "
	       "jitter=%uus", im->name, im->loss / 1e4, im->dup / 1e4,
		im->reorder / 1e4, im->corrupt / 1e4, im->delay, im->jitter);
	if (im->rate != 0)
		printf(" rate=%gkbit", (double)im->rate / 125);
	printf(" limit=%u seed=%llu\n", im->limit, im->seed);
	for (size_t i = 0; i < n; i++)
		printf("%14llu  %s\n", rows[i].n, rows[i].name);
}
