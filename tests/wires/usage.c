/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What strwire says of its commands, and of wrong usage. */
#include <string.h>

#include "../tools/run.h"
#include "t.h"

static const struct command {
	const char *name;
	const char *knows[4]; /* options and parameters in its help */
	const char *not; /* and one of another command */
} commands[] = {
	{ "add", { "--address=", "--port=", "KIND NAME", "packet" }, "--json" },
	{ "list", { "--json", "list [--json]" }, "--address" },
	{ "stat", { "--json", "[NAME ...]" }, "--address" },
	{ "impair", { "--json", "loss=", "rate=", "seed=" }, "--address" },
	{ "del", { "del NAME ..." }, "--json" },
};
#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

T_CASE(each_command_explains_itself)
{
	unsigned i, k;

	for (i = 0; i < NCOMMANDS; i++) {
		const struct command *c = &commands[i];

		T_EQ(RUN(-1, "strwire", c->name, "--help"), 0);
		T_NOTNULL(strstr(out_text, "usage: strwire"));
		for (k = 0; k < 4 && c->knows[k] != NULL; k++)
			T_NOTNULL(strstr(out_text, c->knows[k]));
		T_NULL(strstr(out_text, c->not ));
		T_EQ(RUN(-1, "strwire", "-h", c->name), 0);
		T_NULL(strstr(out_text, c->not ));
		/* all together know everything */
		T_EQ(RUN(-1, "strwire", "--help"), 0);
		for (k = 0; k < 4 && c->knows[k] != NULL; k++)
			T_NOTNULL(strstr(out_text, c->knows[k]));
	}
}

static const struct wrong {
	const char *argv[7];
	const char *says;
} wrongs[] = {
	{ { "strwire" }, "one of add, list, stat, impair and del is required" },
	{ { "strwire", "make" }, "not a command: make" },
	{ { "strwire", "add" }, "add: a KIND and a NAME" },
	{ { "strwire", "add", "raw" }, "add: a KIND and a NAME" },
	{ { "strwire", "add", "raw", "a", "b" }, "add: a KIND and a NAME" },
	{ { "strwire", "add", "wet", "a" }, "raw, tun, packet or encap" },
	{ { "strwire", "add", "raw", "a" }, "needs an address (-a)" },
	{ { "strwire", "add", "packet", "a", "-a", "10.0.0.1" },
	  "needs an interface (-f)" },
	{ { "strwire", "add", "raw", "a", "--json" }, "--json" },
	{ { "strwire", "-m", "list", "add", "raw", "a" }, "not an MTU: list" },
	{ { "strwire", "list", "a" }, "list: takes no operands" },
	{ { "strwire", "list", "-m", "1500" }, "'m'" },
	{ { "strwire", "stat", "-a", "10.0.0.1" }, "'a'" },
	{ { "strwire", "impair" }, "impair: the NAME of a wire is needed" },
	{ { "strwire", "impair", "lo", "los=1" }, "not a parameter: los=1" },
	{ { "strwire", "impair", "lo", "loss=0.00001%" }, "too small: loss=" },
	{ { "strwire", "impair", "lo", "delay=0.4us" }, "too small: delay=" },
	{ { "strwire", "del" }, "del: the NAME of a wire is needed" },
	{ { "strwire", "del", "--json", "a" }, "--json" },
};

T_CASE(wrong_usage_is_named_and_the_right_one_shown)
{
	unsigned i;

	for (i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		T_EQ(run_argv(-1, wrongs[i].argv), 2);
		if (strstr(err_text, wrongs[i].says) == NULL)
			T_FAIL("%s is not in: %s", wrongs[i].says, err_text);
		T_NOTNULL(strstr(err_text, "usage: strwire"));
	}
}
