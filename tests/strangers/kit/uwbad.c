/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* uwbad - a module whose load procedure refuses */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/moddefs.h>
#include <sys/ddi.h>

static int ub_load() { return ENODEV; }
MOD_STR_WRAPPER(uwbad, ub_load, NULL, "uwbad - never there");

int uwbaddevflag = 0;
static int ub_open(queue_t *q, dev_t *d, int f, int s, cred_t *c) { return 0; }
static int ub_close(queue_t *q, int f, cred_t *c) { return 0; }
static int ub_put(queue_t *q, mblk_t *mp) { putnext(q, mp); return 0; }
static struct module_info minfo = { 78, "uwbad", 0, INFPSZ, 4096, 512 };
static struct qinit rinit = { ub_put, NULL, ub_open, ub_close, NULL, &minfo, NULL };
static struct qinit winit = { ub_put, NULL, NULL, NULL, NULL, &minfo, NULL };
struct streamtab uwbadinfo = { &rinit, &winit, NULL, NULL };
