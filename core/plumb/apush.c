/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The autopush table: the modules that the first open of a device pushes.
 *
 * A fixed table in the arena.  An entry is taken, filled and made valid by
 * `state'; readers copy it and compare `state' and its generation again, so
 * that no lock is needed.  An entry for one minor, or a range, has precedence
 * over one for all minors of a major.
 *
 * An entry may come before its driver is loaded: then it has the driver's name
 * and NOMAJOR.  The first lookup after the driver was loaded stores the major.
 */
#include "core.h"
#include <sys/ddi.h>
#include <sys/kmem.h>
#include <str/apush.h>

#define ENTRIES 256u
#define FREE 0u
#define LIVE 1u
#define BUSY 2u
#define NOMAJOR (-1l)

struct entry {
	str_a32 state;
	str_a32 gen;
	struct strapush ap;
};

static struct entry *
table(void)
{
	uint64_t v = str_load_acq(str_root(STR_ROOT_APUSH));
	void *p;

	if (v == 0) {
		p = kmem_zalloc(ENTRIES * sizeof(struct entry), KM_NOSLEEP);
		if (p == NULL)
			return NULL;
		if (!str_cas(str_root(STR_ROOT_APUSH), (uint64_t)0,
			(uint64_t)(uintptr_t)p))
			kmem_free(p, ENTRIES * sizeof(struct entry));
		v = str_load_acq(str_root(STR_ROOT_APUSH));
	}
	return (struct entry *)(uintptr_t)v;
}

/* A consistent copy of @e in *ret.  False: it is not in use, or is changing. */
static bool
copy(struct entry *e, struct strapush *ret)
{
	uint32_t g = str_load_acq(&e->gen);

	if (str_load_acq(&e->state) != LIVE)
		return false;
	*ret = e->ap;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return str_load(&e->state) == LIVE && str_load(&e->gen) == g;
}

/* copy(), with the driver's major; false also if the driver is not loaded. */
static bool
copy_known(struct entry *e, struct strapush *ret)
{
	struct str_fmod *fm;

	if (!copy(e, ret))
		return false;
	if (ret->sap_major == NOMAJOR) {
		fm = str_fmod_known(ret->sap_module, STR_F_DRIVER);
		if (fm == NULL)
			return false;
		ret->sap_major = (long)fm->major;
		/* every thread that looks it up stores the same value */
		__atomic_store_n(&e->ap.sap_major, ret->sap_major,
			__ATOMIC_RELAXED);
	}
	return true;
}

static uint64_t
last_minor(const struct strapush *ap)
{
	switch (ap->sap_cmd) {
	case SAP_ALL:
		return UINT64_MAX;
	case SAP_RANGE:
		return (uint64_t)ap->sap_lastminor;
	default:
		return (uint64_t)ap->sap_minor;
	}
}

static uint64_t
first_minor(const struct strapush *ap)
{
	return ap->sap_cmd == SAP_ALL ? 0 : (uint64_t)ap->sap_minor;
}

static bool
overlap(const struct strapush *a, const struct strapush *b)
{
	return a->sap_major == b->sap_major &&
		(a->sap_major != NOMAJOR ||
			str_name_eq(a->sap_module, b->sap_module)) &&
		(a->sap_cmd == SAP_ALL) == (b->sap_cmd == SAP_ALL) &&
		first_minor(a) <= last_minor(b) &&
		first_minor(b) <= last_minor(a);
}

/*
 * May @e be for driver @major, which is @fm?  Most entries are not, and need not
 * be copied.  A name that is changing meanwhile is compared up to the end of
 * @fm's at most.
 */
static bool
may_be_for(struct entry *e, uint64_t major, const struct str_fmod *fm)
{
	long its;

	if (str_load_acq(&e->state) != LIVE)
		return false;
	its = __atomic_load_n(&e->ap.sap_major, __ATOMIC_RELAXED);
	return its != NOMAJOR ? (uint64_t)its == major :
		fm != NULL && str_name_eq(fm->name, e->ap.sap_module);
}

/* The entry for device @major, @minor, copied to *@ret; NULL: there is none. */
static struct entry *
governs(uint64_t major, uint64_t minor, struct strapush *ret)
{
	struct entry *t = table(), *all = NULL;
	const struct str_fmod *fm = str_fmod_by_major((uint32_t)major);
	struct strapush ap;
	unsigned i;

	for (i = 0; t != NULL && i < ENTRIES; i++) {
		if (!may_be_for(&t[i], major, fm) || !copy_known(&t[i], &ap) ||
			(uint64_t)ap.sap_major != major)
			continue;
		if (ap.sap_cmd == SAP_ALL) {
			all = &t[i];
		} else if (first_minor(&ap) <= minor &&
			   minor <= last_minor(&ap)) {
			*ret = ap;
			return &t[i];
		}
	}
	return all != NULL && copy_known(all, ret) ? all : NULL;
}

int
str_apush_module(const char *name)
{
	return str_fmod_get(NULL, name, STR_F_MODULE) != NULL;
}

static int
check(const struct strapush *ap)
{
	unsigned i, k;

	if (ap->sap_cmd != SAP_ONE && ap->sap_cmd != SAP_RANGE &&
	    ap->sap_cmd != SAP_ALL)
		return EINVAL;
	if (ap->sap_npush == 0 || ap->sap_npush > MAXAPUSH)
		return EINVAL;
	for (i = 0; i < (unsigned)ap->sap_npush; i++) {
		for (k = 0; k <= FMNAMESZ; k++)
			if (ap->sap_list[i][k] == '\0')
				break;
		if (k == 0 || k > FMNAMESZ || !str_apush_module(ap->sap_list[i]))
			return EINVAL;
	}
	if (ap->sap_cmd != SAP_ALL && ap->sap_minor < 0)
		return EINVAL;
	if (ap->sap_cmd == SAP_RANGE && ap->sap_lastminor <= ap->sap_minor)
		return ERANGE;
	return 0;
}

/*
 * An entry for all minors is removed by minor 0, as in SVR4, or by -1, which
 * no other entry has.
 */
static bool
is_named(const struct strapush *e, const struct strapush *ap)
{
	return e->sap_cmd != SAP_ALL || ap->sap_minor == 0 ||
		ap->sap_minor == -1;
}

static bool
is_major(long major)
{
	return major == (long)(uint32_t)major &&
		str_fmod_by_major((uint32_t)major) != NULL;
}

/* SVR4 sad(7): EINVAL: the major is invalid; ENODEV: not configured. */
static int
no_entry(long major)
{
	return is_major(major) ? ENODEV : EINVAL;
}

static int
clear(const struct strapush *ap)
{
	struct strapush old;
	struct entry *e = governs((uint64_t)ap->sap_major,
		(uint64_t)ap->sap_minor, &old);

	if (e == NULL || !is_named(&old, ap))
		return no_entry(ap->sap_major);
	if (old.sap_cmd == SAP_RANGE && old.sap_minor != ap->sap_minor)
		return ERANGE;
	if (!str_cas(&e->state, LIVE, BUSY))
		return ENODEV;
	(void)str_add(&e->gen, 1u);
	str_store_rel(&e->state, FREE);
	return 0;
}

static int
add(const struct strapush *ap)
{
	struct entry *t = table();
	struct strapush have;
	unsigned i;
	int err;

	err = check(ap);
	if (err != 0)
		return err;
	if (t == NULL)
		return ENOSR;
	for (i = 0; i < ENTRIES; i++)
		if ((copy_known(&t[i], &have) || copy(&t[i], &have)) &&
		    overlap(&have, ap))
			return EEXIST;
	for (i = 0; i < ENTRIES; i++) {
		if (!str_cas(&t[i].state, FREE, BUSY))
			continue;
		t[i].ap = *ap;
		(void)str_add(&t[i].gen, 1u);
		str_store_rel(&t[i].state, LIVE);
		return 0;
	}
	return ENOSR;
}

int
str_apush_set(struct strapush *ap)
{
	if (ap->sap_cmd == SAP_CLEAR)
		return clear(ap);
	return is_major(ap->sap_major) ? add(ap) : EINVAL;
}

int
str_apush_later(const struct strapush *ap)
{
	struct strapush later = *ap;
	struct str_fmod *fm = str_fmod_known(ap->sap_module, STR_F_DRIVER);

	later.sap_major = fm != NULL ? (long)fm->major : NOMAJOR;
	return add(&later);
}

int
str_apush_get(struct strapush *ap)
{
	struct strapush have;

	if (governs((uint64_t)ap->sap_major, (uint64_t)ap->sap_minor,
		    &have) == NULL)
		return no_entry(ap->sap_major);
	*ap = have;
	return 0;
}

int
str_apush_next(unsigned n, struct strapush *ret_ap)
{
	struct entry *t = table();
	unsigned i;

	for (i = 0; t != NULL && i < ENTRIES; i++)
		if (copy_known(&t[i], ret_ap) && n-- == 0)
			return 0;
	return ENODEV;
}

/* str_apush_apply - the stream of @sd is new: push the configured modules. */
int
str_apush_apply(struct str_head *sd, struct host_call *hc)
{
	struct strapush ap;
	int i, err = 0;

	if (str_load(str_root(STR_ROOT_APUSH)) == 0 ||
	    governs(getmajor(sd->plumb->dev), getminor(sd->plumb->dev),
		    &ap) == NULL)
		return 0;
	for (i = 0; i < (int)ap.sap_npush && i < (int)MAXAPUSH && err == 0; i++)
		err = str_plumb_push(sd, hc, ap.sap_list[i]);
	return err;
}

/* str_apush_fresh - is the system's file yet to be applied to this domain? */
int
str_apush_fresh(void)
{
	return str_load_acq(str_root(STR_ROOT_APCONF)) == 0;
}

/* str_apush_applied - the file has been applied. */
void
str_apush_applied(void)
{
	str_store_rel(str_root(STR_ROOT_APCONF), (uint64_t)1);
}
