/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Declarations that the files of core/perim share.
 */
#ifndef STR_PERIM_H
#define STR_PERIM_H

#include "core.h"

/* a deferred qwriter(9F) or streams_put(9) */
struct str_job {
	queue_t *q;
	void (*func)(void);
	void *arg;
	bool plain; /* func(arg, mp), not func(q, mp) */
};

void str_perim_put(struct str_qpair *qp, queue_t *q, mblk_t *mp);
bool str_perim_alone(struct str_qpair *qp);
void str_perim_job(struct str_qpair *qp, mblk_t *mp);

/* outer.c */
void str_outer_lock(struct str_outer *o);
bool str_outer_closed(struct str_outer *o);
void str_outer_try(struct str_outer *o);
void str_outer_job(struct str_outer *o, mblk_t *mp);
int str_outer_enter(struct str_qpair *qp, struct host_call *hc);
void str_outer_leave(struct str_outer *o);
void str_outer_join(struct str_qpair *qp);
void str_outer_part(struct str_qpair *qp);
bool str_outer_holds(struct str_qpair *qp);
void str_job_run(mblk_t *mp);

#endif
