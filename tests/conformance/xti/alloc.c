/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Memory for structures: t_alloc, each structure with each set of fields, and
 * t_free.
 */
#include "xt.h"

#include <stdio.h>

static const struct {
	int type;
	const char *name;
} types[] = {
	{T_BIND, "t_bind"}, {T_OPTMGMT, "t_optmgmt"}, {T_CALL, "t_call"},
	{T_DIS, "t_discon"}, {T_UNITDATA, "t_unitdata"},
	{T_UDERROR, "t_uderr"}, {T_INFO, "t_info"},
};
#define NTYPES 7
#define NMASKS 8
static char alloc_names[NTYPES * NMASKS][48];
static const int alloc_fields[NMASKS] = {0, T_ADDR, T_OPT, T_UDATA,
	T_ADDR | T_OPT, T_ADDR | T_UDATA, T_OPT | T_UDATA, T_ALL};
static const char *const alloc_words[NMASKS] = {"nothing", "T_ADDR", "T_OPT",
	"T_UDATA", "T_ADDR_and_T_OPT", "T_ADDR_and_T_UDATA",
	"T_OPT_and_T_UDATA", "T_ALL"};

static int
has(int type, int field)
{
	switch (type) {
	case T_BIND:
		return field == T_ADDR;
	case T_OPTMGMT:
		return field == T_OPT;
	case T_CALL:
	case T_UNITDATA:
		return 1;
	case T_DIS:
		return field == T_UDATA;
	case T_UDERROR:
		return field != T_UDATA;
	default:
		return 0;
	}
}

static t_scalar_t
size_of(const struct t_info *ti, int type, int field)
{
	if (field == T_ADDR)
		return ti->addr;
	if (field == T_OPT)
		return ti->options;
	if (type == T_UNITDATA)
		return ti->tsdu;
	if (type == T_DIS)
		return ti->discon;
	return ti->connect > ti->discon ? ti->connect : ti->discon;
}

static struct netbuf *
part(void *p, int type, int field)
{
	struct t_call *c = p;
	struct t_bind *b = p;
	struct t_discon *d = p;
	struct t_optmgmt *o = p;
	struct t_unitdata *u = p;
	struct t_uderr *e = p;

	switch (type) {
	case T_BIND:
		return &b->addr;
	case T_OPTMGMT:
		return &o->opt;
	case T_DIS:
		return &d->udata;
	case T_CALL:
		return field == T_ADDR ? &c->addr : field == T_OPT ? &c->opt :
								     &c->udata;
	case T_UNITDATA:
		return field == T_ADDR ? &u->addr : field == T_OPT ? &u->opt :
								     &u->udata;
	default:
		return field == T_ADDR ? &e->addr : &e->opt;
	}
}

/* XNS 5.2, t_alloc(): a size of none, asked for by name, is TSYSERR. */
static int
fails(const struct t_info *ti, int type, int fields)
{
	if (fields == T_ALL)
		return 0;
	for (int f = T_ADDR; f <= T_UDATA; f <<= 1)
		if ((fields & f) && has(type, f) && size_of(ti, type, f) < 0)
			return 1;
	return 0;
}

static void
check_part(const struct t_info *ti, void *p, int type, int f, int fields)
{
	struct netbuf *nb;
	t_scalar_t size;

	if (!has(type, f))
		return;
	nb = part(p, type, f);
	size = size_of(ti, type, f);
	T_EQ(nb->len, 0);
	if ((fields & f) == 0 || size == T_INVALID || size == 0) {
		T_NULL(nb->buf);
		T_EQ(nb->maxlen, 0);
		return;
	}
	T_NOTNULL(nb->buf);
	if (size > 0)
		T_EQ(nb->maxlen, size);
	else
		T_GE(nb->maxlen, 24);
	memset(nb->buf, 0xa5, nb->maxlen);
}

static void
run_alloc(struct t *t)
{
	struct t_info ti;
	int fd = xt_open_info(0, &ti), i;
	char want[48];
	void *p;

	for (i = 0; i < NTYPES * NMASKS; i++) {
		snprintf(want, sizeof(want), "%s", alloc_names[i]);
		for (char *s = want; *s != '\0'; s++)
			if (*s == '_')
				*s = ' ';
		if (strcmp(want, t->name) == 0 ||
		    strcmp(alloc_names[i], t->name) == 0)
			break;
	}
	T_LT(i, NTYPES * NMASKS);
	t_errno = 0;
	p = t_alloc(fd, types[i / NMASKS].type, alloc_fields[i % NMASKS]);
	if (fails(&ti, types[i / NMASKS].type, alloc_fields[i % NMASKS])) {
		T_NULL(p);
		T_EQ(t_errno, TSYSERR);
		T_EQ(errno, EINVAL);
		return;
	}
	T_NOTNULL(p);
	for (int f = T_ADDR; f <= T_UDATA; f <<= 1)
		check_part(&ti, p, types[i / NMASKS].type, f, alloc_fields[i % NMASKS]);
	T_TOK(t_free(p, types[i / NMASKS].type));
}

T_CONSTRUCTOR static void
add_alloc(void)
{
	static struct t_case c[NTYPES * NMASKS];

	for (int i = 0; i < NTYPES * NMASKS; i++) {
		snprintf(alloc_names[i], sizeof(alloc_names[i]),
			"alloc_%s_with_%s", types[i / NMASKS].name,
			alloc_words[i % NMASKS]);
		c[i].name = alloc_names[i];
		c[i].run = run_alloc;
		xt_case_add(ANY, &c[i]);
	}
}

XT_CASE(ANY, alloc_of_no_structure_is_TNOSTRUCTYPE)
{
	int fd = xt_open(0);

	for (int i = 0; i < 3; i++) {
		const int bad[] = {0, 8, -1};

		t_errno = 0;
		T_NULL(t_alloc(fd, bad[i], T_ALL));
		T_EQ(t_errno, TNOSTRUCTYPE);
	}
}

XT_CASE(ANY, free_of_no_structure_is_TNOSTRUCTYPE)
{
	T_TERR(t_free(NULL, 0), TNOSTRUCTYPE);
	T_TERR(t_free(NULL, 99), TNOSTRUCTYPE);
	T_TOK(t_free(NULL, T_CALL));
}

XT_CASE(ANY, free_leaves_what_the_caller_took_away)
{
	int fd = xt_open(0);
	struct t_bind *b = t_alloc(fd, T_BIND, T_ALL);
	void *buf;

	T_NOTNULL(b);
	buf = b->addr.buf;
	b->addr.buf = NULL;
	T_TOK(t_free(b, T_BIND));
	memset(buf, 1, 4);
	free(buf);
}

/* A t_info has no buffers, so that its endpoint is of no interest. */
XT_CASE(ANY, alloc_of_t_info_needs_no_endpoint)
{
	struct t_info *ti = t_alloc(-1, T_INFO, T_ALL);

	T_NOTNULL(ti);
	T_TOK(t_free(ti, T_INFO));
	t_errno = 0;
	T_NULL(t_alloc(-1, T_BIND, 0));
	T_EQ(t_errno, TBADF);
}
