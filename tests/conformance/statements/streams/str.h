/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Statements of the public manual pages, and a case for each.
 *
 * A row of a .def file is one statement:
 *
 *	ROW(id, page, section, kinds, why, text)
 *
 * @page names the function or the command, @section is DESCRIPTION, RETURN or
 * ERRORS, @text is the statement in our own words.  @kinds are the kinds of
 * Stream for which the statement is tested; @why is the reason for leaving
 * the others out, NULL if there are none.  The case of a row is CASE(id).  A
 * row without a case fails, a case without a row does not compile.
 *
 * A row of str_differs.def is a statement that does not hold here:
 *
 *	DIFFERS(id, kinds, reason)
 *
 * Its case decides by S_HOLDS(), and fails when the statement holds after all.
 */
#ifndef TESTS_CONFORMANCE_STATEMENTS_STR_H
#define TESTS_CONFORMANCE_STATEMENTS_STR_H

#include "st.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/time.h>

enum {
	PIPE = 1,	/* two ends, made by pipe() */
	FIFO = 2,	/* one Stream; what is written comes to be read */
	SPX = 4,	/* two Streams of /dev/spx, paired by I_FDINSERT */
	ECHO = 8,	/* one Stream; the driver sends back what it gets */
	LOOP = 16,	/* two Streams of the loop driver */
	ANY = 31,
	DEV = SPX | ECHO | LOOP,
	ENDS = PIPE | SPX | LOOP,	/* the ends are of two Streams */
	ONE = PIPE,	/* asks nothing of the Stream: tested once */
};

#define ONCE "does not depend on the kind of Stream"
#define NOT_ONE "has one Stream, which is both ends"
#define NO_DRIVER "has no driver"
#define OTHERS "is not linked: one kind is enough"

struct s_row {
	const char *id, *page, *section;
	int kinds;
	const char *why, *text;
	void (*run)(void);
};

#define ROW(id, ...) S_ROW_##id,
enum {
#include "str_msg.def"
#include "str_io.def"
#include "str_ioctl.def"
#include "str_queue.def"
#include "str_link.def"
	S_ROWS
};
#undef ROW

#define CASE(id_)							\
	enum { s_row_of_##id_ = S_ROW_##id_ };				\
	void s_case_##id_(void);					\
	void								\
	s_case_##id_(void)

/* What is written to W arrives at R. */
extern int s_fd[2];
#define W (s_fd[0])
#define R (s_fd[1])

extern int s_kind;		/* which of the above this run has */

/* The statement is true.  Where it is known to differ it must be false. */
#define S_HOLDS(e) s_holds(__FILE__, __LINE__, #e, (e))
void s_holds(const char *file, int line, const char *expr, bool holds);
#define S_FAILS(e, want) \
	s_holds(__FILE__, __LINE__, #e " is " #want, s_fails((e), want))
bool s_fails(long long ret, int want);

/* Open what @kind names. */
void s_open(int kind, int fd[2]);
/* @n messages wait at @fd; they may still be on their way. */
void s_arrive(int fd, int n);
/* The minor device number of @fd. */
int s_minor(int fd);
/* W is flow controlled when this returns; the bytes written. */
size_t s_fill(int band);
/* Read all that waits at R. */
void s_drain(void);
/* A signal handler runs in 30 ms, and again every 30 ms. */
void s_interrupt(void);
/* A loop whose ends are @fd; one of a multiplexor /dev/mux. */
void s_loop(int fd[2]);
int s_mux(void);
/* A path in a directory that is removed at the end; with an empty file. */
const char *s_path(const char *name);
const char *s_file(const char *name);

#endif
