/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_alloc, t_free.
 */
#include "statement.h"

#include <stdalign.h>

static const int types[] = {T_BIND, T_OPTMGMT, T_CALL, T_DIS, T_UNITDATA,
	T_UDERROR, T_INFO};
#define NTYPES (sizeof(types) / sizeof(types[0]))

/* t_alloc() that must not work. */
static void
no_alloc(int fd, int type, int fields, int want)
{
	t_errno = 0;
	T_NULL(t_alloc(fd, type, fields));
	T_EQ(t_errno, want);
}

static struct t_call *
call_of(int fd, int fields)
{
	struct t_call *c = t_alloc(fd, T_CALL, fields);

	T_NOTNULL(c);
	return c;
}

XS(ANY, t_alloc, DESCRIPTION, each_type,
	"It allocates each of the seven structures.")
{
	int fd = xt_open(0);
	void *p;

	for (size_t i = 0; i < NTYPES; i++) {
		p = t_alloc(fd, types[i], 0);
		T_NOTNULL(p);
		T_TOK(t_free(p, types[i]));
	}
}

XS(ANY, t_alloc, DESCRIPTION, size_of_provider,
	"A buffer is as long as the provider says that such a value can be.")
{
	struct t_info ti;
	int fd = xt_open_info(0, &ti);
	struct t_bind *b = t_alloc(fd, T_BIND, T_ADDR);

	T_NOTNULL(b);
	T_GT(ti.addr, 0);
	T_EQ(b->addr.maxlen, (unsigned)ti.addr);
	T_NOTNULL(b->addr.buf);
	memset(b->addr.buf, 1, b->addr.maxlen);
	T_TOK(t_free(b, T_BIND));
}

XS(ANY, t_alloc, DESCRIPTION, len_is_zero,
	"The len of an allocated buffer is zero.")
{
	struct t_call *c = call_of(xt_open(0), T_ALL);

	T_EQ(c->addr.len, 0);
	T_EQ(c->opt.len, 0);
	T_EQ(c->udata.len, 0);
}

XS(ANY, t_alloc, DESCRIPTION, options,
	"T_OPT allocates the buffer of options, and no other.")
{
	struct t_info ti;
	struct t_call *c = call_of(xt_open_info(0, &ti), T_OPT);

	T_NOTNULL(c->opt.buf);
	if (ti.options > 0)
		T_EQ(c->opt.maxlen, (unsigned)ti.options);
	T_NULL(c->addr.buf);
	T_EQ(c->addr.maxlen, 0);
}

XS(CL, t_alloc, DESCRIPTION, unitdata,
	"T_UDATA of a t_unitdata allocates as much as a data unit may have.")
{
	struct t_info ti;
	int fd = xt_open_info(0, &ti);
	struct t_unitdata *u = t_alloc(fd, T_UNITDATA, T_UDATA);

	T_NOTNULL(u);
	T_GT(ti.tsdu, 0);
	T_EQ(u->udata.maxlen, (unsigned)ti.tsdu);
	memset(u->udata.buf, 1, u->udata.maxlen);
}

XS(ANY, t_alloc, DESCRIPTION, several_fields,
	"The bits of several fields may be given together.")
{
	struct t_call *c = call_of(xt_open(0), T_ADDR | T_OPT);

	T_NOTNULL(c->addr.buf);
	T_NOTNULL(c->opt.buf);
	T_NE(c->addr.buf, c->opt.buf);
}

XS(ANY, t_alloc, DESCRIPTION, all_without_the_unsupported,
	"T_ALL leaves out the fields that the provider does not support.")
{
	struct t_info ti;
	int fd = xt_open_info(0, &ti);
	struct t_discon *d = t_alloc(fd, T_DIS, T_ALL);

	T_NOTNULL(d);
	if (ti.discon == T_INVALID) {
		T_NULL(d->udata.buf);
		T_EQ(d->udata.maxlen, 0);
	} else {
		T_NOTNULL(d->udata.buf);
	}
}

XS(ANY, t_alloc, DESCRIPTION, fields_not_asked_for,
	"A field that was not asked for has a null buffer and no length.")
{
	struct t_call *c = call_of(xt_open(0), 0);

	T_NULL(c->addr.buf);
	T_EQ(c->addr.len, 0);
	T_EQ(c->addr.maxlen, 0);
	T_NULL(c->opt.buf);
	T_EQ(c->opt.maxlen, 0);
	T_NULL(c->udata.buf);
	T_EQ(c->udata.maxlen, 0);
}

XS(ANY, t_alloc, DESCRIPTION, irrelevant_fields,
	"Fields that the structure has not, and unknown bits, are ignored.")
{
	int fd = xt_open(0);
	struct t_bind *b = t_alloc(fd, T_BIND, T_ADDR | T_OPT | T_UDATA | 0x100);

	T_NOTNULL(b);
	T_NOTNULL(b->addr.buf);
	T_TOK(t_free(b, T_BIND));
}

XS(ANY, t_alloc, DESCRIPTION, info_without_endpoint,
	"For a t_info any fd will do.")
{
	struct t_info *ti = t_alloc(-1, T_INFO, 0);

	T_NOTNULL(ti);
	T_TOK(t_free(ti, T_INFO));
}

XS(ANY, t_alloc, DESCRIPTION, usable,
	"The structure can be given to the function that it is for.")
{
	int fd = xt_open(0);
	struct t_bind *b = t_alloc(fd, T_BIND, T_ALL);

	T_NOTNULL(b);
	T_TOK(t_bind(fd, NULL, b));
	T_GT(b->addr.len, 0);
	T_LE(b->addr.len, b->addr.maxlen);
}

XS(ANY, t_alloc, STATES, valid,
	"It works in every state but T_UNINIT.")
{
	xs_valid("t_alloc", XS_ALL);
}

XS(ANY, t_alloc, ERRORS, tbadf,
	"For anything but a t_info, an fd that names no endpoint fails with TBADF.")
{
	for (size_t i = 0; i < NTYPES; i++)
		if (types[i] != T_INFO)
			no_alloc(-1, types[i], 0, TBADF);
}

XS(ANY, t_alloc, ERRORS, tnostructype,
	"A number of no structure fails with TNOSTRUCTYPE.")
{
	int fd = xt_open(0);

	no_alloc(fd, 0, T_ALL, TNOSTRUCTYPE);
	no_alloc(fd, 99, T_ALL, TNOSTRUCTYPE);
	no_alloc(fd, -1, 0, TNOSTRUCTYPE);
}

XS(ANY, t_alloc, ERRORS, tsyserr,
	"A field whose size is T_INVALID, asked for by name, fails with EINVAL.")
{
	struct t_info ti;
	int fd = xt_open_info(0, &ti);

	if (ti.discon != T_INVALID)
		T_SKIP("this provider takes data with a disconnection");
	errno = 0;
	no_alloc(fd, T_DIS, T_UDATA, TSYSERR);
	T_EQ(errno, EINVAL);
}

XS(ANY, t_alloc, RETURN, aligned,
	"It returns a pointer that is aligned for any object.")
{
	int fd = xt_open(0);

	for (size_t i = 0; i < NTYPES; i++) {
		uintptr_t p = (uintptr_t)t_alloc(fd, types[i], T_ALL);

		T_NE(p, 0);
		T_EQ(p % alignof(max_align_t), 0);
	}
}

XS(ANY, t_alloc, RETURN, null,
	"It returns a null pointer on failure, and t_errno says why.")
{
	no_alloc(-1, T_CALL, 0, TBADF);
}

XS(ANY, t_free, DESCRIPTION, each_type,
	"It frees each structure together with its buffers.")
{
	int fd = xt_open(0);

	for (size_t i = 0; i < NTYPES; i++) {
		void *p = t_alloc(fd, types[i], T_ALL);

		T_NOTNULL(p);
		T_TOK(t_free(p, types[i]));
	}
}

XS(ANY, t_free, DESCRIPTION, null_buffers,
	"A buffer pointer that is null is left alone.")
{
	struct t_call *c = call_of(xt_open(0), T_ALL);
	void *addr = c->addr.buf;

	c->addr.buf = NULL;
	T_TOK(t_free(c, T_CALL));
	memset(addr, 2, 4);
}

XS(ANY, t_free, STATES, valid,
	"It works in every state but T_UNINIT.")
{
	xs_valid("t_alloc", XS_ALL); /* that call frees what it has allocated */
}

XS(ANY, t_free, ERRORS, tnostructype,
	"A number of no structure fails with TNOSTRUCTYPE.")
{
	struct t_call *c = call_of(xt_open(0), 0);

	T_TERR(t_free(c, 0), TNOSTRUCTYPE);
	T_TERR(t_free(c, 99), TNOSTRUCTYPE);
	T_TOK(t_free(c, T_CALL));
}

XS(ANY, t_free, RETURN, zero,
	"It returns 0 on success, and -1 on failure.")
{
	struct t_call *c = call_of(xt_open(0), 0);

	T_EQ(t_free(c, -7), -1);
	T_EQ(t_free(c, T_CALL), 0);
}
