/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fixture of the executive's unit tests: a pipe in a simulated domain, test
 * modules on it, messages, and the audit after each case.
 *
 *	struct fx_pipe p;
 *	queue_t *q;
 *
 *	fx_begin(t);
 *	fx_pipe(&p);
 *	q = fx_push(&p, 0, "store");	the read queue of a pushed module
 *	T_EQ(putq(q, fx_msg("low", 0)), 1);
 *	FX_MSG(getq(q), "low");
 *
 * After each case the pipes are closed and the domain is audited: a remaining
 * message or block fails the case.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "t.h"
#include "sim.h"
#include "core.h"

struct fx_pipe {
	struct str_plumb *pl;
	struct str_head *sd[2];
	int fd[2];
	struct host_call hc[2]; /* a call on either end, not entered */
};

/* A new domain, with the test modules in its registry.  No preemption. */
void fx_begin(struct t *t);
/* The same with @seed, for a case that runs with many seeds. */
void fx_begin_seed(uint64_t seed);
/*
 * Exclude all memory that is allocated now from the audit: memory that the
 * executive or a driver allocates once in a domain.
 */
void fx_keep(void);
/* Close the open pipes, audit, and free the domain. */
void fx_end(void);

/* @p stays in use until the case is over: not on its stack. */
void fx_pipe(struct fx_pipe *p);
/* The last holder of one end has closed it. */
void fx_close(struct fx_pipe *p, int end);
void fx_close_both(struct fx_pipe *p);
void fx_sweep(void); /* the work of streamsd after a death */

/*
 * Test modules.  All of them count the calls of their procedures; `fx_of(q)'
 * finds the counts of the queue.
 *
 *	store queues all messages; its service procedure does nothing pass
 *	passes on, no service procedure
 *	late	queues; the service procedure forwards, as srvmod
 *	pair	as pass, D_MTQPAIR
 *	pairsrv	as late, D_MTQPAIR
 *	refuse	its open procedure returns EBUSY
 */
struct fx_count {
	unsigned opens, closes;
	unsigned puts, services;
	unsigned inside, overlap; /* procedures of the pair at once, worst */
};
struct fx_count *fx_of(queue_t *q);
/* Called by put and service procedures of test modules when set. */
extern void (*fx_on_put)(queue_t *q, mblk_t *mp);
extern void (*fx_on_service)(queue_t *q);

/* Register one more module. */
void fx_module(const char *name, struct streamtab *tab, unsigned flag);

/* Push @name on end @end; returns the new module's read queue. */
queue_t *fx_push(struct fx_pipe *p, int end, const char *name);
int fx_push_err(struct fx_pipe *p, int end, const char *name);
int fx_pop(struct fx_pipe *p, int end);
/* Print the queues, modules and locks of a pipe to standard error. */
void fx_dump(struct fx_pipe *p);
/* Run the enabled queues.  True: a service procedure ran. */
bool fx_run(struct fx_pipe *p);

/* A message of one block: text without its NUL. */
mblk_t *fx_msg(const char *text, unsigned band);
mblk_t *fx_type(unsigned type, const char *text, unsigned band);
/* @n bytes of M_DATA. */
mblk_t *fx_bytes(size_t n, unsigned band);
/* A message of one block for each text, all of type @type. */
mblk_t *fx_chain(unsigned type, const char *const *text);

/* Check a message's bytes, all blocks, and free it. */
#define FX_MSG(mp, text) fx_check_msg(__FILE__, __LINE__, #mp, mp, text)
void fx_check_msg(const char *file, int line, const char *expr, mblk_t *mp,
	const char *text);
/* Its bytes as a string, in a buffer that the next call overwrites. */
const char *fx_text(const mblk_t *mp);
unsigned fx_blocks(const mblk_t *mp);

/* Is the queue scheduled?  If so, unschedule it, so that it does not run. */
bool fx_enabled(queue_t *q);

/* Blocks of a kind, and of messages, that are in use. */
uint64_t fx_in_use(unsigned blk);
uint64_t fx_messages(void);

/*
 * Allocate all of the domain's memory, in blocks of all sizes; the host refuses
 * more. fx_give_back() ends that.
 */
void fx_use_up(void);
void fx_give_back(void);

/* @mp arrives at the head of @end, as from a module below it. */
void fx_up(struct fx_pipe *p, int end, mblk_t *mp);
/* A message of @n bytes, of which there are 0 to 2: an M_ERROR, an M_FLUSH. */
mblk_t *fx_ctl(unsigned type, int n, int b0, int b1);

/* Calls on a pipe's ends, from the current task.  As lib/streams makes them */
long fx_read(struct fx_pipe *p, int end, void *buf, size_t len);
long fx_write(struct fx_pipe *p, int end, const void *buf, size_t len);
long fx_putmsg(struct fx_pipe *p, int end, const void *ctl, int clen,
	const void *data, int dlen, int band, int flags);
long fx_getmsg(struct fx_pipe *p, int end, struct str_strbuf *ctl,
	struct str_strbuf *data, int *band, int *flags);
long fx_ioctl(struct fx_pipe *p, int end, unsigned long cmd,
	unsigned long arg);

#endif
