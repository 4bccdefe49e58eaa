/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_alloc(), t_free(), t_sysconf(), and calls that no provider has.
 */
#include <stdlib.h>
#include <unistd.h>

#include <xti.h>

#include "xti_impl.h"

/* Room for what a provider says is unlimited. */
#define ANY_ADDR 256
#define ANY_OPT 1024
#define ANY_DATA 65536

/* The netbufs of each structure: which field, where, and its size. */
struct part {
	int field;
	size_t off;
	t_scalar_t size;
	t_scalar_t any;
};

static const size_t struct_size[] = {
	[T_BIND] = sizeof(struct t_bind),
	[T_OPTMGMT] = sizeof(struct t_optmgmt),
	[T_CALL] = sizeof(struct t_call),
	[T_DIS] = sizeof(struct t_discon),
	[T_UNITDATA] = sizeof(struct t_unitdata),
	[T_UDERROR] = sizeof(struct t_uderr),
	[T_INFO] = sizeof(struct t_info),
};

/* @ti may be NULL: sizes are of no interest.  Return: how many. */
static int
parts(int type, const struct t_info *ti, struct part p[3])
{
	static const struct t_info nothing;
	t_scalar_t call;

	if (ti == NULL)
		ti = &nothing;
	call = ti->connect > ti->discon ? ti->connect : ti->discon;
	if (ti->connect == T_INFINITE || ti->discon == T_INFINITE)
		call = T_INFINITE;
#define ADDR(s) {T_ADDR, offsetof(struct s, addr), ti->addr, ANY_ADDR}
#define OPT(s) {T_OPT, offsetof(struct s, opt), ti->options, ANY_OPT}
#define DATA(s, n) {T_UDATA, offsetof(struct s, udata), (n), ANY_DATA}
#define PARTS(...) \
	do { \
		const struct part v[] = {__VA_ARGS__}; \
		memcpy(p, v, sizeof(v)); \
		return (int)(sizeof(v) / sizeof(v[0])); \
	} while (0)
	switch (type) {
	case T_BIND:
		PARTS(ADDR(t_bind));
	case T_OPTMGMT:
		PARTS(OPT(t_optmgmt));
	case T_CALL:
		PARTS(ADDR(t_call), OPT(t_call), DATA(t_call, call));
	case T_DIS:
		PARTS(DATA(t_discon, ti->discon));
	case T_UNITDATA:
		PARTS(ADDR(t_unitdata), OPT(t_unitdata),
			DATA(t_unitdata, ti->tsdu));
	case T_UDERROR:
		PARTS(ADDR(t_uderr), OPT(t_uderr));
	default:
		return 0;
	}
}

static struct netbuf *
netbuf_at(void *s, size_t off)
{
	return (struct netbuf *)(void *)((char *)s + off);
}

/*
 * XNS 5.2: a size that is none is an error when it was asked for by name.
 * @all: the field was not, or there is no such error.
 */
static int
fill(struct netbuf *nb, const struct part *p, int all)
{
	t_scalar_t size = p->size;

	if (size < 0 && !all)
		return xti_sys(EINVAL);
	if (size == T_INFINITE)
		size = p->any;
	if (size <= 0)
		return 0;
	nb->buf = calloc(1, (size_t)size);
	if (nb->buf == NULL)
		return xti_sys(ENOMEM);
	nb->maxlen = (unsigned)size;
	return 0;
}

void *
xti_alloc(int fd, int struct_type, int fields, int lenient)
{
	struct part p[3];
	struct use u;
	void *s;
	int n;

	/* a t_info has no buffers: no endpoint is asked for their size */
	if (struct_type != T_INFO && xti_use(&u, fd, S_ANY) < 0)
		return NULL;
	if (struct_type < T_BIND || struct_type > T_INFO) {
		(void)xti_fail(TNOSTRUCTYPE);
		return NULL;
	}
	s = calloc(1, struct_size[struct_type]);
	if (s == NULL) {
		(void)xti_sys(ENOMEM);
		return NULL;
	}
	n = struct_type == T_INFO ? 0 : parts(struct_type, &u.ep->info, p);
	for (int i = 0; i < n; i++) {
		if ((fields & p[i].field) == 0 ||
		    fill(netbuf_at(s, p[i].off), &p[i],
			fields == T_ALL || lenient) == 0)
			continue;
		n = errno;
		(void)t_free(s, struct_type);
		(void)xti_sys(n);
		return NULL;
	}
	return s;
}

STR_EXPORT void *
t_alloc(int fd, int struct_type, int fields)
{
	return xti_alloc(fd, struct_type, fields, 0);
}

STR_EXPORT int
t_free(void *ptr, int struct_type)
{
	struct part p[3];
	int n;

	if (struct_type < T_BIND || struct_type > T_INFO)
		return xti_fail(TNOSTRUCTYPE);
	if (ptr == NULL)
		return 0;
	n = parts(struct_type, NULL, p);
	for (int i = 0; i < n; i++)
		free(netbuf_at(ptr, p[i].off)->buf);
	free(ptr);
	return 0;
}

STR_EXPORT int
t_sysconf(int name)
{
	if (name != _SC_T_IOV_MAX)
		return xti_fail(TBADFLAG);
	return T_IOV_MAX;
}

static int
no_leaf(int fd)
{
	struct use u;

	return xti_use(&u, fd, S_ANY) < 0 ? -1 : xti_fail(TNOTSUPPORT);
}

STR_EXPORT int
t_addleaf(int fd, int leafid, struct netbuf *addr)
{
	(void)leafid;
	(void)addr;
	return no_leaf(fd);
}

STR_EXPORT int
t_removeleaf(int fd, int leafid, int reason)
{
	(void)leafid;
	(void)reason;
	return no_leaf(fd);
}

STR_EXPORT int
t_rcvleafchange(int fd, struct t_leaf_status *change)
{
	(void)change;
	return no_leaf(fd);
}
