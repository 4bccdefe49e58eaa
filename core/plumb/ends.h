/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Streams of drivers, opened and closed in a simulated domain as programs do it,
 * and TPI on them: for tests in which a process is killed.
 */
#ifndef ENDS_H
#define ENDS_H

#include <sys/tihdr.h>
#undef T_NULL
#undef T_UNUSED
#include "../../host/sim/fixture.h"

#define MS 1000000ull

struct end {
	struct str_file *f;
	int fd;
};

/* A call on it that does not wait. */
struct host_call end_call(const struct end *e);
void end_open(struct end *e, const char *drv);
/* The last close. */
void end_close(struct end *e);

/* A message with a control part only. */
void end_put(struct end *e, const void *req, size_t len);
/* The next primitive; -1: there is none, -2: the end. */
long end_get(struct end *e, void *buf, size_t room);

/* The next primitive is @prim.  ANSWER: it. */
void end_answer(struct end *e, t_scalar_t prim);
extern t_scalar_t end_buf[64];
#define ANSWER(type) ((const struct type *)(const void *)end_buf)

/* Open it, and bind it to the address of one byte. */
void end_bind(struct end *e, const char *drv, char name, t_uscalar_t qlen);

#endif
