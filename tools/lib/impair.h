/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* The parameters of impaired wires as text: strwire(8). */
#ifndef TOOLS_IMPAIR_H
#define TOOLS_IMPAIR_H

#include <stdbool.h>
#include <sys/ipwire.h>

#include "tool.h"

void impair_word(struct tool *t, struct ipw_impair *im, const char *word);
void impair_show(const struct ipw_impair *im, bool as_json);

#endif
