/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Tables of ports: <str/ports.h>.
 */
#include <str/ports.h>
#include "../drvfix.h"

extern const struct str_builtin str_drv_echo;

static struct dv a, b, once;
static struct ports *table;

/* Entries are never freed: make two in each chain, which the cases use. */
static void
make_entries(void)
{
	struct ports_want want = {.shared = 1};
	struct ports_entry *e[2] = {NULL, NULL};
	unsigned port;

	T_EQ(dv_open(&once, "echo", 1, DRVOPEN), 0);
	want.rq = once.rq;
	for (port = 0; port < 65536; port++) {
		if (table->chain[ports_hash((uint16_t)port)] != NULL)
			continue;
		want.at.port = (uint16_t)port;
		T_EQ(ports_bind(table, &want, &e[0]), 0);
		T_EQ(ports_bind(table, &want, &e[1]), 0);
		ports_free(table, e[0], NULL);
		ports_free(table, e[1], NULL);
	}
	dv_close(&once);
	fx_close(&once.pipe, 0);
	fx_close(&once.pipe, 1);
	(void)str_region_sweep();
}

static void
begin(struct t *t)
{
	fx_begin(t);
	dv_driver(&str_drv_echo);
	table = str_drv_state("echo", sizeof(*table));
	T_NOTNULL(table);
	make_entries();
	fx_keep();
	T_EQ(dv_open(&a, "echo", 1, DRVOPEN), 0);
	T_EQ(dv_open(&b, "echo", 2, DRVOPEN), 0);
}

static struct ports_at
at(unsigned last, uint16_t port)
{
	struct ports_at ret = {{last != 0 ? 4 : 0, {10, 0, 0,
		(unsigned char)last}}, port};

	return ret;
}

static int
bind_to(struct dv *d, void *ep, struct ports_at where, int six, int v6only,
	struct ports_entry **ret)
{
	struct ports_want want = {.at = where, .six = (uint8_t)six,
		.v6only = (uint8_t)v6only, .ep = ep, .rq = d->rq};

	return ports_bind(table, &want, ret);
}

static void *
found(struct ports_at dst)
{
	struct ports_at src = at(99, 7);
	struct ports_entry *e;
	struct str_hold h;
	uint32_t gen = 0;
	void *ep = NULL;

	e = ports_find(table, &dst, &src, &gen);
	if (e == NULL)
		return NULL;
	T_EQ(ports_hold(table, e, gen, &h, &ep), 0);
	str_unhold(&h);
	return ep;
}

T_CASE(the_best_match_is_found)
{
	struct ports_entry *e1 = NULL, *e2 = NULL;
	uint32_t changed;

	begin(t);
	T_FALSE(ports_any(table, 5));
	T_NULL(found(at(1, 5)));
	changed = table->changed;
	T_EQ(bind_to(&a, &a, at(1, 5), 0, 0, &e1), 0);
	T_TRUE(table->changed != changed);
	T_TRUE(ports_any(table, 5));
	T_TRUE(found(at(1, 5)) == &a);
	T_NULL(found(at(2, 5)));
	T_NULL(found(at(1, 6)));
	T_EQ(bind_to(&b, &b, at(2, 5), 0, 0, &e2), 0);
	T_TRUE(found(at(1, 5)) == &a);
	T_TRUE(found(at(2, 5)) == &b);
	ports_free(table, e1, &a);
	T_NULL(found(at(1, 5)));
	T_TRUE(ports_any(table, 5));
	ports_free(table, e2, &a); /* it is not a's */
	T_TRUE(found(at(2, 5)) == &b);
	ports_free(table, e2, &b);
	T_FALSE(ports_any(table, 5));
}

T_CASE(a_taken_address_is_refused)
{
	struct ports_at six = {{16, {0xfd}}, 5};
	struct ports_entry *e = NULL, *none = NULL;

	begin(t);
	T_EQ(bind_to(&a, &a, at(1, 5), 0, 0, &e), 0);
	T_EQ(bind_to(&b, &b, at(1, 5), 0, 0, &none), EADDRINUSE);
	T_EQ(bind_to(&b, &b, at(0, 5), 0, 0, &none), EADDRINUSE);
	T_EQ(bind_to(&b, &b, at(0, 5), 1, 0, &none), EADDRINUSE);
	T_NULL(none);
	/* one endpoint may have several addresses */
	T_EQ(bind_to(&a, &a, at(2, 5), 0, 0, &none), 0);
	ports_free(table, none, &a);
	/* IPv6 alone, and another port */
	T_EQ(bind_to(&b, &b, six, 1, 0, &none), 0);
	ports_free(table, none, &b);
	T_EQ(bind_to(&b, &b, at(0, 5), 1, 1, &none), 0);
	T_EQ(bind_to(&b, &b, at(1, 6), 0, 0, &none), 0);
	ports_free(table, e, &a);
	T_EQ(bind_to(&b, &b, at(0, 5), 0, 0, &none), 0);
}

T_CASE(the_address_of_a_closed_stream_is_free)
{
	struct ports_entry *e = NULL;

	begin(t);
	T_EQ(bind_to(&a, &a, at(1, 5), 0, 0, &e), 0);
	dv_close(&a);
	fx_close(&a.pipe, 0);
	fx_close(&a.pipe, 1);
	(void)str_region_sweep();
	T_EQ(bind_to(&b, &b, at(1, 5), 0, 0, &e), 0);
	T_TRUE(found(at(1, 5)) == &b);
}

T_CASE(a_free_port_is_chosen)
{
	struct ports_want want = {.shared = 0};
	struct ports_entry *e = NULL;
	unsigned i, port, last = 0, same = 0;

	begin(t);
	want.rq = a.rq;
	for (i = 0; i < 20; i++) {
		want.at.port = 0;
		want.ep = &table[i]; /* other endpoints */
		T_EQ(ports_bind(table, &want, &e), 0);
		port = want.at.port >> 8 | (want.at.port & 0xffu) << 8;
		T_TRUE(port >= PORTS_FREE_FIRST && port <= PORTS_FREE_LAST);
		T_EQ(e->at.port, want.at.port);
		same += port == last + 1;
		last = port;
	}
	T_TRUE(same < 3); /* they cannot be predicted */
}

T_CASE(a_default_destination_excludes_others)
{
	struct ports_at peer = at(99, 7), other = at(98, 7);
	struct ip_addr own = {4, {10, 0, 0, 3}};
	struct ports_entry *e = NULL;

	begin(t);
	T_EQ(bind_to(&a, &a, at(0, 5), 0, 0, &e), 0);
	ports_change(table, e, &a, NULL, &other);
	T_NULL(found(at(1, 5)));
	ports_change(table, e, &a, NULL, &peer);
	T_TRUE(found(at(1, 5)) == &a);
	ports_change(table, e, &a, &own, &peer);
	T_NULL(found(at(1, 5)));
	T_TRUE(found(at(3, 5)) == &a);
	ports_change(table, e, &b, NULL, &other); /* it is not b's */
	T_TRUE(found(at(3, 5)) == &a);
}

T_CASE(all_receivers_of_a_port_are_enumerated)
{
	struct ports_want want = {.at = at(0, 5), .shared = 1};
	struct ports_at dst = at(1, 5), src = at(99, 7);
	struct ports_entry *e = NULL, *next = NULL;
	uint32_t gen, n = 0;

	begin(t);
	want.ep = &a;
	want.rq = a.rq;
	T_EQ(ports_bind(table, &want, &e), 0);
	want.ep = &b;
	want.rq = b.rq;
	T_EQ(ports_bind(table, &want, &e), 0);
	while ((next = ports_next(table, next, &dst, &src, &gen)) != NULL)
		n++;
	T_EQ(n, 2);
	T_TRUE(found(dst) == &b); /* the last one */
}

T_CASE(senders_that_wait_are_enabled)
{
	struct ports_entry *e = NULL;
	queue_t *wq;

	begin(t);
	wq = WR(b.rq);
	T_EQ(bind_to(&a, &a, at(1, 5), 0, 0, &e), 0);
	ports_wait(e, b.rq, wq);
	ports_wait(e, b.rq, wq); /* once is enough */
	T_EQ(e->nwait, 1);
	ports_wake(e);
	T_EQ(e->nwait, 0);
	ports_wait(e, b.rq, wq);
	ports_free(table, e, &a);
	T_EQ(e->nwait, 0);
}
