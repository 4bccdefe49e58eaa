/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/sunddi.h> - included after <sys/ddi.h> by Solaris modules
 */
#ifndef _SYS_SUNDDI_H
#define _SYS_SUNDDI_H

/* Functions for text. */
#ifndef __cplusplus
#include <string.h>
#ifndef MIN
#define MIN(a,b) (((a)<(b))?(a):(b))
#define MAX(a,b) (((a)>(b))?(a):(b))
#endif
#endif

#include <sys/cmn_err.h>
#include <sys/debug.h>
#include <sys/ddi.h>
#include <sys/kmem.h>
#include <sys/ksynch.h>

#include <sys/devops.h>

#define DDI_SUCCESS 0
#define DDI_FAILURE (-1)

#ifndef __cplusplus
/*
 * Functions for the only instance, the argument of attach(9E).  A driver's
 * minors need not be created to be opened as /dev/streams/DRIVER/MINOR.  No
 * property is set, so each has the driver's default value.
 */
#define CLONE_DEV 1
#define DDI_PSEUDO "ddi_pseudo"
#define DDI_NT_NET "ddi_network"
#define DDI_PROP_DONTPASS 1
#define DDI_PROP_NOTPROM 2
#define DDI_DEV_T_ANY ((dev_t)-2)
#define DDI_DEV_T_NONE ((dev_t)-1)
#define DDI_PROP_SUCCESS 0
#define DDI_PROP_NOT_FOUND 1

#define ddi_get_instance(dip) ((dip)->di_instance)
#define ddi_driver_name(dip) ((const char *)(dip)->di_name)
#define ddi_get_name(dip) ((dip)->di_name)
#define ddi_get_driver_private(dip) ((dip)->di_private)
#define ddi_set_driver_private(dip, data) \
	((void)((dip)->di_private = (void *)(data)))
#define ddi_report_dev(dip) ((void)(dip))
#define ddi_create_minor_node(dip, name, type, minor, node, flag) \
	((void)(dip), (void)(name), (void)(type), (void)(minor), \
		(void)(node), (void)(flag), DDI_SUCCESS)
#define ddi_remove_minor_node(dip, name) ((void)(dip), (void)(name))
#define ddi_prop_get_int(dev, dip, flags, name, value) \
	((void)(dev), (void)(dip), (void)(flags), (void)(name), (int)(value))
#define ddi_getprop(dev, dip, flags, name, value) \
	((void)(dev), (void)(dip), (void)(flags), (void)(name), (int)(value))
#define ddi_prop_remove_all(dip) ((void)(dip))
#define ddi_getiminor(dev) getminor(dev)

/*
 * ddi_soft_state_init - make a table of a driver's structures, by number
 *
 * ddi_soft_state_zalloc makes structure @item, filled with zeros;
 * ddi_get_soft_state finds it; ddi_soft_state_free frees it;
 * ddi_soft_state_fini frees all structures and the table.  The driver's own
 * lock or its perimeter must exclude other threads meanwhile.
 *
 * Return: init: 0 or ENOMEM; zalloc: DDI_SUCCESS; DDI_FAILURE: it exists
 *         already, or there is no memory; get: NULL: there is none.
 */
#define STR_SOFT_STEP 32
struct str_soft {
	size_t size;
	int n;
	void **item;
};

static __inline__ __attribute__((__unused__)) int
ddi_soft_state_init(void **statep, size_t size, size_t items)
{
	struct str_soft *s;

	(void)items;
	s = (struct str_soft *)kmem_zalloc(sizeof(*s), KM_SLEEP);
	if (s == (struct str_soft *)0)
		return 12; /* ENOMEM */
	s->size = size;
	*statep = s;
	return 0;
}

static __inline__ __attribute__((__unused__)) void *
ddi_get_soft_state(void *state, int item)
{
	struct str_soft *s = (struct str_soft *)state;

	if (s == (struct str_soft *)0 || item < 0 || item >= s->n)
		return (void *)0;
	return s->item[item];
}

static __inline__ __attribute__((__unused__)) int
ddi_soft_state_zalloc(void *state, int item)
{
	struct str_soft *s = (struct str_soft *)state;
	void **table, *p;
	int n, i;

	if (item < 0 || ddi_get_soft_state(state, item) != (void *)0)
		return DDI_FAILURE;
	p = kmem_zalloc(s->size, KM_SLEEP);
	if (p == (void *)0)
		return DDI_FAILURE;
	if (item >= s->n) {
		n = (item / STR_SOFT_STEP + 1) * STR_SOFT_STEP;
		table = (void **)kmem_zalloc((size_t)n * sizeof(*table),
			KM_SLEEP);
		if (table == (void **)0) {
			kmem_free(p, s->size);
			return DDI_FAILURE;
		}
		for (i = 0; i < s->n; i++)
			table[i] = s->item[i];
		kmem_free(s->item, (size_t)s->n * sizeof(*table));
		s->item = table;
		s->n = n;
	}
	s->item[item] = p;
	return DDI_SUCCESS;
}

static __inline__ __attribute__((__unused__)) void
ddi_soft_state_free(void *state, int item)
{
	struct str_soft *s = (struct str_soft *)state;

	if (ddi_get_soft_state(state, item) != (void *)0) {
		kmem_free(s->item[item], s->size);
		s->item[item] = (void *)0;
	}
}

static __inline__ __attribute__((__unused__)) void
ddi_soft_state_fini(void **statep)
{
	struct str_soft *s = (struct str_soft *)*statep;
	int i;

	if (s == (struct str_soft *)0)
		return;
	for (i = 0; i < s->n; i++)
		ddi_soft_state_free(s, i);
	kmem_free(s->item, (size_t)s->n * sizeof(*s->item));
	kmem_free(s, sizeof(*s));
	*statep = (void *)0;
}
#endif

/* There are no devices, so qassociate(9F) does nothing and succeeds. */
#define qassociate(q, instance) ((void)(q), (void)(instance), 0)

#endif /* _SYS_SUNDDI_H */
