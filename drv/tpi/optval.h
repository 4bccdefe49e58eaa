/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Values of options, for opt.c.
 */
#ifndef TPI_OPTVAL_H
#define TPI_OPTVAL_H

#include "tpi_impl.h"

#define TPI_VALMAX 64u /* bytes of one value, TPI_OPT_BYTES */

/* A value on its way, as the words it is kept as. */
struct tpi_val {
	t_scalar_t w[TPI_VALMAX / 4];
	unsigned int len; /* bytes of w that count */
	unsigned int wide; /* bytes of an integer as the user has it */
	int given; /* the user's, not the default */
};

/* t_scalar_t's that a value of @o has. */
unsigned int tpi_val_words(const struct tpi_opt *o);
/* What @o is at first, as the table has it. */
void tpi_val_default(const struct tpi_opt *o, struct tpi_val *v);
/* What it is at first, where the system decides; what it is now. */
void tpi_val_initial(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_opt *o, struct tpi_val *v);
void tpi_val_current(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_opt *o, struct tpi_val *v);
/* The user's: 0, or -TBADOPT when @len is none that it can have. */
int tpi_val_wanted(const struct tpi_opt *o, const unsigned char *at,
	unsigned int len, struct tpi_val *v);
/* Set @o to @v, or with @check only see what would become of it.  Return:
 * T_SUCCESS ...; @v is what the answer has. */
unsigned int tpi_val_negotiate(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_opt *o, struct tpi_val *v, int check);

#endif
