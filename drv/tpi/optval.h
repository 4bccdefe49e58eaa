/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Values of options, for opt.c.
 */
#ifndef TPI_OPTVAL_H
#define TPI_OPTVAL_H

#include "tpi_impl.h"

#define TPI_VALMAX 64u /* bytes of one value, TPI_OPT_BYTES */

/* A value, in the words in which it is stored. */
struct tpi_val {
	t_scalar_t w[TPI_VALMAX / 4];
	unsigned int len; /* bytes of w in use */
	unsigned int wide; /* bytes of the user's integer */
	int given; /* the user's, not the default */
};

/* Number of t_scalar_t in a value of @o. */
unsigned int tpi_val_words(const struct tpi_opt *o);
/* The default of @o in the table. */
void tpi_val_default(const struct tpi_opt *o, struct tpi_val *v);
/*
 * tpi_val_initial - the default: of the system, if it decides this option, else
 * of the table
 * tpi_val_current - the current value
 */
void tpi_val_initial(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_opt *o, struct tpi_val *v);
void tpi_val_current(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_opt *o, struct tpi_val *v);
/* The user's value: 0, or -TBADOPT if @len is invalid. */
int tpi_val_wanted(const struct tpi_opt *o, const unsigned char *at,
	unsigned int len, struct tpi_val *v);
/* Set @o to @v, or with @check only find out the result.  Return: T_SUCCESS
 * ...; @v becomes the value for the answer. */
unsigned int tpi_val_negotiate(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_opt *o, struct tpi_val *v, int check);

#endif
