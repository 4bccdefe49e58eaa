/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* The table of the DDI's statements, and what runs it. */
#include "ddi_st.h"

/* NULL where there is no such case */
#define WEAK(x) _Pragma(#x)
#define ROW(id, ...)							\
	void d_case_##id(struct t *t);					\
	WEAK(weak d_case_##id)
#include "ddi_rows.def"
#undef ROW

static const struct row {
	const char *id, *page, *section, *text;
	void (*run)(struct t *t);
} rows[] = {
#define ROW(id, page, section, text)					\
	{ #id, page, #section, text, d_case_##id },
#include "ddi_rows.def"
#undef ROW
};

static const struct differs {
	int row;
	const char *reason;
} differs[] = {
#define DIFFERS(id, reason) { D_ROW_##id, reason },
#include "ddi_differs.def"
#undef DIFFERS
	{ -1, NULL },
};

static const struct differs *known;
static bool broken;

void
d_holds(const char *file, int line, const char *expr, bool holds)
{
	if (known != NULL)
		broken |= !holds;
	else if (!holds)
		t_fail(file, line, "%s does not hold", expr);
}

/* The name of a case is a row's, with spaces. */
static const struct row *
row_of(const char *name)
{
	for (size_t i = 0; i < D_ROWS; i++) {
		const char *a = rows[i].id, *b = name;

		while (*a != '\0' && (*a == *b || (*a == '_' && *b == ' '))) {
			a++;
			b++;
		}
		if (*a == *b)
			return &rows[i];
	}
	T_FAIL("no row of this name");
}

static void
run(struct t *t)
{
	const struct row *r = row_of(t->name);
	const struct differs *d;

	if (r->run == NULL)
		T_FAIL("%s, %s: a statement without a case: %s", r->page,
			r->section, r->text);
	for (d = differs; d->reason != NULL && known == NULL; d++)
		if (&rows[d->row] == r)
			known = d;
	fx_begin(t);
	r->run(t);
	if (known != NULL && !broken)
		T_FAIL("holds, but is said to differ: %s", known->reason);
}

T_CONSTRUCTOR static void
add_rows(void)
{
	static struct t_case cases[D_ROWS];

	for (size_t i = 0; i < D_ROWS; i++) {
		cases[i] = (struct t_case){ rows[i].id, run, 0, NULL };
		t_case_add(&cases[i]);
	}
}
