/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Statements of the DDI/DKI's pages about locking, sleeping, callbacks and
 * flow control (SVR4.2 MP, section D3), and a case for each.
 *
 *	ROW(id, page, section, text)
 *	DIFFERS(id, reason)
 *
 * as in str.h, without kinds: the cases run on both hosts.
 */
#ifndef TESTS_CONFORMANCE_STATEMENTS_DDI_H
#define TESTS_CONFORMANCE_STATEMENTS_DDI_H

#include "d.h"

#define ROW(id, ...) D_ROW_##id,
enum {
#include "ddi_rows.def"
	D_ROWS
};
#undef ROW

#define CASE(id_)							\
	enum { d_row_of_##id_ = D_ROW_##id_ };				\
	void d_case_##id_(struct t *t);					\
	void								\
	d_case_##id_(struct t *t T_UNUSED)

#define D_HOLDS(e) d_holds(__FILE__, __LINE__, #e, (e))
void d_holds(const char *file, int line, const char *expr, bool holds);

#define TICK_NS (1000000000u / HZ)

#endif
