/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The two halves of the module npi: npi.c and npi_up.c.
 */
#ifndef MOD_NPI_IMPL_H
#define MOD_NPI_IMPL_H

#include <sys/types.h>
#include <sys/errno.h>
#include <sys/kmem.h>
#include <sys/npi.h>
#include <sys/strconf.h>
#include <sys/stream.h>
#include <sys/stropts.h>
#include <sys/tihdr.h>
#include <sys/xti.h>
#include <str/driver.h>
#include <str/types.h>
#include <sys/ddi.h>
#include "../drv/canon.h"

#define NPI_ADDR 256u /* bytes of an address that is kept */

struct npi {
	uint32_t id;	/* ACCEPTOR_id; 0: not known yet */
	uint32_t token; /* it was asked for */
	mblk_t *bind;	/* N_BIND_ACK that waits for the id */
	uint32_t len;	/* bytes of the address: */
	unsigned char addr[NPI_ADDR];
};

static inline struct npi *
npi_of(queue_t *q)
{
	return q->q_ptr;
}

/* npi.c */
mblk_t *npi_control(int type, const void *p, size_t n, size_t more);
void npi_pass(queue_t *q, mblk_t *mp, mblk_t *data);
void npi_instead(queue_t *q, mblk_t *mp, mblk_t *old);
void npi_refuse(queue_t *q, mblk_t *mp, np_ulong prim, np_ulong error,
	np_ulong unix_err);
int npi_range(const mblk_t *mp, np_ulong len, np_ulong off,
	const unsigned char **ret);
void npi_append(mblk_t *mp, const void *p, np_ulong len);
np_ulong npi_prim_of(t_scalar_t tpi);

/* npi_up.c */
void npi_provider(queue_t *q, mblk_t *mp);
void npi_unit(queue_t *q, mblk_t *mp);

#endif
