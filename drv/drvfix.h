/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fixture of the drivers' unit tests: a driver below a module that keeps the
 * messages that come up, opened as the executive would open it, in a simulated
 * domain.
 *
 *	static struct dv a;
 *
 *	fx_begin(t);
 *	dv_driver(&str_drv_echo);
 *	T_EQ(dv_open(&a, "echo", 3, DRVOPEN), 0);
 *	dv_down(&a, fx_msg("text", 0));
 *	FX_MSG(dv_up(&a), "text");
 */
#ifndef DRVFIX_H
#define DRVFIX_H

#include "../host/sim/fixture.h"
#include <str/builtin.h>
#include <sys/ddi.h>

struct dv {
	struct fx_pipe pipe; /* its end 0; end 1 is below the driver, unused */
	queue_t *above;	     /* read queue of the keeping module */
	queue_t *rq;	     /* the driver's read queue */
	unsigned minor;	     /* that the open gave */
};

/* Register a driver; also its lower side, as module "NAME.low". */
void dv_driver(const struct str_builtin *b);
/* Open it: 0 or an errno.  @d stays in use until the case is over. */
int dv_open(struct dv *d, const char *name, unsigned minor, int sflag);
int dv_open_flag(struct dv *d, const char *name, unsigned minor, int sflag,
	int flag);
/* Open @d's stream once more, as another open of its minor does. */
int dv_reopen(struct dv *d, int flag);
/* The last close. */
void dv_close(struct dv *d);

/* Send a message down, and run the enabled queues. */
void dv_down(struct dv *d, mblk_t *mp);
/* Take the next message that came up, or NULL. */
mblk_t *dv_up(struct dv *d);
/* The same, which must be of @type. */
mblk_t *dv_up_type(struct dv *d, unsigned type);
/* Run the enabled queues of @d's stream. */
void dv_run(struct dv *d);

/* An M_IOCTL; @count as in iocblk, @len bytes of @data behind it. */
mblk_t *dv_ioctl_msg(int cmd, size_t count, const void *data, size_t len);
/* I_STR: 0 or the errno of the M_IOCNAK; returned data is stored at @ret. */
int dv_str(struct dv *d, int cmd, const void *data, size_t len);
int dv_str_get(struct dv *d, int cmd, const void *data, size_t len, void *ret,
	size_t size);
/*
 * A transparent ioctl with the argument @arg, an address in this test; carries
 * out copy requests. >= 0: the result; else minus an errno.
 */
int dv_plain(struct dv *d, int cmd, const void *arg);
/*
 * An M_IOCDATA for a module that is gone, with a command that the driver does
 * not implement: the waiter gets an answer.  The module's state may look like
 * that of the driver's own ioctls.
 */
void dv_strays(struct dv *d);

#endif
