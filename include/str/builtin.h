/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * How a module that is built in tells the executive that it exists.
 *
 * A module file ends with STR_MODULE().  It exports one constant object,
 * str_mod_NAME, which the executive's registry lists.  The registry copies
 * the tables into the arena once per domain and puts addresses in place of
 * the procedures that mean the same in every member; so nothing here is
 * written, ever, and the objects may lie in read-only memory.
 */
#ifndef STR_BUILTIN_H
#define STR_BUILTIN_H

#include <sys/stream.h>

struct str_builtin {
	const char *name;	     /* [I] what I_PUSH is given */
	unsigned int flag;	     /* [I] D_*: how much of it runs at once */
	const struct streamtab *tab; /* [I] its two sides */
};

/*
 * The members of streamtab and qinit are not const in SVR4, ours are: hence
 * the casts.
 */
#define STR_MODULE(name_, rinit_, winit_, flag_) \
	static const struct streamtab str_tab_##name_ = { \
		.st_rdinit = (struct qinit *)&(rinit_), \
		.st_wrinit = (struct qinit *)&(winit_), \
	}; \
	extern const struct str_builtin str_mod_##name_; \
	const struct str_builtin str_mod_##name_ = { \
		.name = #name_, \
		.flag = (flag_), \
		.tab = &str_tab_##name_, \
	}

#endif
