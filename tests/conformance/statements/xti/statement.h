/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * XTI, one sentence of the text at a time.
 *
 * Each row is a statement of XNS 5.2 in our own words, with the function and the
 * section it comes from, and the case that proves it:
 *
 *	XS(CO, t_accept, ERRORS, tbadseq,
 *		"A sequence number of no waiting indication fails with TBADSEQ.")
 *	{
 *		...
 *	}
 *
 * A statement cannot be without a case, then.  statements.py, a lint, reads the
 * rows and demands one of each section for each function, and one for each error
 * that the text lists; with --table it prints the statements.
 *
 * Every row runs on every provider.  One that says nothing about a provider is
 * skipped there, with the reason.
 */
#ifndef TESTS_STATEMENTS_XTI_STATEMENT_H
#define TESTS_STATEMENTS_XTI_STATEMENT_H

#include "../../xti/xt.h"

/* Providers with connections and without orderly release. */
#define COTS (1u << T_COTS)

#define XS(services_, fn_, section_, name_, text_) \
	_Static_assert(sizeof(text_) > 10, "a statement is a sentence"); \
	static void xs_body_##fn_##_##section_##_##name_(void); \
	static void \
	xs_run_##fn_##_##section_##_##name_(struct t *t T_UNUSED) \
	{ \
		xs_begin(services_); \
		xs_body_##fn_##_##section_##_##name_(); \
	} \
	T_CONSTRUCTOR static void \
	xs_add_##fn_##_##section_##_##name_(void) \
	{ \
		static struct t_case c = {#fn_ "_" #section_ "_" #name_, \
			xs_run_##fn_##_##section_##_##name_, 0, NULL}; \
\
		t_case_add(&c); \
	} \
	static void \
	xs_body_##fn_##_##section_##_##name_(void)

/* A statement that no provider here can show; @why_ says for what reason. */
#define XS_NONE(fn_, section_, name_, text_, why_) \
	XS(ANY, fn_, section_, name_, text_) \
	{ \
		T_SKIP("%s", why_); \
	} \
	_Static_assert(sizeof(why_) > 10, "a reason is a sentence")

/*
 * In a case: the provider differs from the text, for a reason that CAVEATS.md has in
 * these words.  The case fails once @holds_, what the text says, is true.
 */
#define XS_KNOWN(holds_, why_) \
	do { \
		if (holds_) \
			T_FAIL("a known difference has gone: %s", why_); \
		T_SKIP("known difference: %s", why_); \
	} while (0)

/* Skip the case unless the provider is of @services. */
void xs_begin(unsigned services);

/* A legal call of function @name on @e; its result. */
int xs_call(const char *name, struct xt_end *e);
void xs_close(struct xt_end *e);
/* In each state of @states, bits of state numbers, @name is not TOUTSTATE. */
void xs_valid(const char *name, unsigned states);
/* In each other state it is, and the state stays. */
void xs_invalid(const char *name, unsigned states);
#define S(state) (1u << (state))
#define XS_ALL 0xfeu

/* @name fails with TBADF on numbers that are no endpoints. */
void xs_badf(const char *name);
/* ... with TNOTSUPPORT in every state. */
void xs_notsupport(const char *name);

/* What t_getinfo() tells of @fd. */
struct t_info xs_info(int fd);
/* Skip the case unless @size, of t_info, permits data, or unless it has no bound. */
void xs_takes_data(t_scalar_t size);
void xs_bounded(t_scalar_t size);

/* Memory that cannot be read or written. */
void *xs_bad(void);
/* A signal with an empty handler, SA_RESTART not set, every 20 ms. */
void xs_alarms(void);

/* Two endpoints for datagrams that know each other's address. */
struct xs_two {
	int fd[2];
	struct xt_addr at[2];
};
void xs_two(struct xs_two *w, int nonblock);
int xs_send(struct xs_two *w, int from, const void *p, unsigned n);
int xs_receive(struct xs_two *w, int to, void *p, unsigned n, int *flags);
/* An error indication at the first endpoint, of the second's address. */
void xs_uderr(struct xs_two *w);

/* A listener with two indications taken, and the two callers. */
struct xs_callers {
	int lfd;
	int fd[2];
	int seq[2];
	struct xt_addr at;
};
void xs_callers(struct xs_callers *c);

/* A pair of which the first end does not block and has no room to send. */
size_t xs_full(int fd[2]);
void xs_drain(int fd, size_t n);

#endif
