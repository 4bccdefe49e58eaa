/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The registry of modules and drivers.
 *
 * A built-in module is in each process's copy of the library, at a different
 * address in each.  Its tables are copied into the arena once per domain, with
 * procedure addresses replaced by code slots (host_code()), which are valid in
 * every member.  Slot numbers follow from the order of the list below, so every
 * process gives the same number to the same procedure; the domain's ABI number
 * covers that order.
 *
 * A foreign module is in the code window; the addresses in its tables are valid
 * in every member, and the tables are used in place.
 *
 * Groups.  Foreign modules may share a perimeter, by the name of a group: later
 * members use the perimeter of the first one.
 *
 * Locks.  Entries are only added: an entry is taken by compare-and-swap of
 * `used' (0 free, 1 valid, 2 being made, left so by a dead thread, or
 * unregistered).  An entry in state 2 is not found by its name, but its
 * perimeter may be in use.
 */
#include "core.h"
#include <sys/kmem.h>
#include <str/builtin.h>
#include <str/registry.h>

#define MODULES(X) \
	X(str_mod_nullmod) \
	X(str_mod_pipemod) \
	X(str_mod_srvmod) \
	X(str_mod_testmod) \
	X(str_mod_bufmod) \
	X(str_mod_connld) \
	X(str_mod_impair) \
	X(str_mod_npi) \
	X(str_mod_relay) \
	X(str_mod_relay2) \
	X(str_mod_relay3) \
	X(str_mod_sc) \
	X(str_mod_timod) \
	X(str_mod_tirdwr)

#define DRIVERS(X) \
	X(str_drv_echo) \
	X(str_drv_inet) \
	X(str_drv_ip) \
	X(str_drv_log) \
	X(str_drv_loop) \
	X(str_drv_minimux) \
	X(str_drv_mux) \
	X(str_drv_nuls) \
	X(str_drv_printk) \
	X(str_drv_rawip2) \
	X(str_drv_sad) \
	X(str_drv_sctp) \
	X(str_drv_sctp_n) \
	X(str_drv_spx) \
	X(str_drv_ticlts) \
	X(str_drv_ticots) \
	X(str_drv_ticotsor) \
	X(str_drv_udp2)

#define DECLARE(name) extern const struct str_builtin name;
#define ADDRESS(name) &name,

MODULES(DECLARE)
DRIVERS(DECLARE)

#ifdef STR_CRASH_POINTS
/* A driver of the tests, if it is linked: tests/ksock. */
extern const struct str_builtin str_drv_wire STR_WEAK;
#endif

static const struct str_builtin *const builtin[] = {
	MODULES(ADDRESS)
	DRIVERS(ADDRESS)
#ifdef STR_CRASH_POINTS
	&str_drv_wire,
#endif
};

static unsigned
nbuiltin(void)
{
	unsigned n = STR_ARRAY_LEN(builtin);

	return builtin[n - 1] == NULL ? n - 1 : n;
}

#define FIRST_SLOT 8u
/* The field in which a foreign entry keeps the name of its group. */
#define GROUP idname[3]

typedef void (*proc_t)(void);

static void
copy_name(char *to, const char *from, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size && from[i] != '\0'; i++)
		to[i] = from[i];
	for (; i < size; i++)
		to[i] = '\0';
}

static struct str_fmod *
table(void)
{
	return (struct str_fmod *)(uintptr_t)
		str_load(str_root(STR_ROOT_FMOD));
}

/*
 * Each procedure that a built-in module has takes a slot: those of its qinits,
 * then its callbacks, then the direct one.  So all of them fit into one page of
 * stubs, which each process makes.  These functions return the next slot.
 */

/* Register the procedures of @from; put their addresses into @to. */
static unsigned
copy_qinit(struct qinit *to, const struct qinit *from, unsigned slot)
{
	struct qinit tmp = {0};

	if (from == NULL)
		return slot;
	if (from->qi_putp != NULL)
		tmp.qi_putp = (qi_putp_t)host_code(slot++,
			(proc_t)from->qi_putp);
	if (from->qi_srvp != NULL)
		tmp.qi_srvp = (qi_srvp_t)host_code(slot++,
			(proc_t)from->qi_srvp);
	if (from->qi_qopen != NULL)
		tmp.qi_qopen = (qi_qopen_t)host_code(slot++,
			(proc_t)from->qi_qopen);
	if (from->qi_qclose != NULL)
		tmp.qi_qclose = (qi_qclose_t)host_code(slot++,
			(proc_t)from->qi_qclose);
	if (to != NULL) {
		tmp.qi_minfo = to->qi_minfo;
		tmp.qi_mstat = to->qi_mstat;
		*to = tmp;
	}
	return slot;
}

static unsigned
copy_calls(const struct str_builtin *b, unsigned slot)
{
	unsigned i;

	for (i = 0; b->calls != NULL && b->calls[i] != NULL; i++)
		(void)host_code(slot++, b->calls[i]);
	return slot;
}

/* Register the direct procedure of @b, if it has one, in slot @slot.  *ret_fn:
 * its address, or NULL.  Return: the next slot. */
static unsigned
copy_direct(const struct str_builtin *b, unsigned slot, void **ret_fn)
{
	*ret_fn = b->direct == NULL ? NULL :
		host_code(slot, (proc_t)b->direct);
	return slot + (b->direct != NULL);
}

static unsigned
qinit_slots(const struct qinit *q)
{
	return q == NULL ? 0 : (q->qi_putp != NULL) + (q->qi_srvp != NULL) +
		(q->qi_qopen != NULL) + (q->qi_qclose != NULL);
}

/* The slots of its qinits. */
static unsigned
tab_slots(const struct streamtab *st)
{
	return qinit_slots(st->st_rdinit) + qinit_slots(st->st_wrinit) +
		qinit_slots(st->st_muxrinit) + qinit_slots(st->st_muxwinit);
}

static unsigned
slots(const struct str_builtin *b)
{
	unsigned n = tab_slots(b->tab) + (b->direct != NULL), i;

	for (i = 0; b->calls != NULL && b->calls[i] != NULL; i++)
		n++;
	return n;
}

/* One side: its procedures, its module_info, its counters. */
static unsigned
copy_side(struct str_fmod *fm, const struct str_builtin *b, unsigned side,
	const struct qinit *from, struct qinit *to, struct module_info *info,
	struct module_stat *stat, unsigned slot)
{
	if (from == NULL)
		return slot;
	if (from->qi_minfo != NULL)
		*info = *from->qi_minfo;
	else
		*info = fm->rinfo;
	copy_name(fm->idname[side], b->name, sizeof(fm->idname[side]));
	info->mi_idname = fm->idname[side];
	to->qi_minfo = info;
	to->qi_mstat = stat;
	return copy_qinit(to, from, slot);
}

static unsigned
enter(struct str_fmod *fm, const struct str_builtin *b, unsigned slot)
{
	const struct streamtab *st = b->tab;
	void *direct;

	copy_name(fm->name, b->name, sizeof(fm->name));
	fm->flag = b->flag;
	fm->kind = b->major != 0 ? STR_F_DRIVER : STR_F_MODULE;
	fm->major = b->major;
	slot = copy_side(fm, b, 0, st->st_rdinit, &fm->rinit, &fm->rinfo,
		&fm->rstat, slot);
	slot = copy_side(fm, b, 1, st->st_wrinit, &fm->winit, &fm->winfo,
		&fm->wstat, slot);
	fm->tab.st_rdinit = &fm->rinit;
	fm->tab.st_wrinit = &fm->winit;
	if (st->st_muxrinit != NULL) {
		slot = copy_side(fm, b, 2, st->st_muxrinit, &fm->mrinit,
			&fm->mrinfo, &fm->rstat, slot);
		slot = copy_side(fm, b, 3, st->st_muxwinit, &fm->mwinit,
			&fm->mwinfo, &fm->wstat, slot);
		fm->tab.st_muxrinit = &fm->mrinit;
		fm->tab.st_muxwinit = &fm->mwinit;
	}
	slot = copy_calls(b, slot);
	slot = copy_direct(b, slot, &direct);
	fm->direct = (int (*)(queue_t *, const struct str_direct *))direct;
	str_store_rel(&fm->used, 1u);
	return slot;
}

/* The executive's procedures to which messages and timers point: slot 1 ... */
static const proc_t own[] = {(proc_t)str_pass_free, (proc_t)str_mi_expire,
	(proc_t)str_mi_enable};

_Static_assert(STR_ARRAY_LEN(own) < FIRST_SLOT, "own slots");

static void
own_calls(void)
{
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(own); i++)
		(void)host_code(1 + i, own[i]);
}

/* Make the tables of the registry.  The creator of the domain calls this. */
static int
tables_init(struct str_domain *d)
{
	struct str_fmod *fm;
	struct qinit *qi;
	struct str_blk *b;
	unsigned i, slot = FIRST_SLOT;

	own_calls();
	b = str_mem_zalloc(64 + STR_NMODULE * sizeof(*fm), STR_BLK_KMEM);
	if (b == NULL)
		return ENOSR;
	fm = (struct str_fmod *)(void *)((char *)b + 64);
	for (i = 0; i < nbuiltin(); i++)
		slot = enter(&fm[i], builtin[i], slot);
	str_mem_disown(b);
	str_store(&d->core[STR_ROOT_FMOD], (uint64_t)(uintptr_t)fm);
	str_store(&d->core[STR_ROOT_NFMOD], (uint64_t)nbuiltin());

	/* the heads' queues have no procedures: str_put() handles them */
	b = str_mem_zalloc(sizeof(*b) + 2 * sizeof(*qi), STR_BLK_KMEM);
	if (b == NULL)
		return ENOSR;
	qi = (struct qinit *)(void *)(b + 1);
	str_mem_disown(b);
	str_store(&d->core[STR_ROOT_HEADINIT], (uint64_t)(uintptr_t)qi);
	return str_timer_init(d);
}

/*
 * The creator has no thread slot yet, but the allocator needs one: it
 * temporarily uses the magazines of the last slot of the table.
 */
int
str_region_init(struct str_domain *d)
{
	struct str_thread *lent = &d->thread[STR_NTHREAD - 1];
	struct host_tls save = host_tls;
	int err = str_mem_init(d);

	host_tls.slot = lent;
	host_tls.tag = STR_TAG(STR_NTHREAD - 1, 1u);
	if (err == 0)
		err = tables_init(d);
	str_mem_reap(lent);
	host_tls.slot = save.slot;
	host_tls.tag = save.tag;
	if (err == 0)
		str_store_rel(&d->ready, 1u);
	return err;
}

/* Fill the code slots of this process.  Each process that attaches calls
 * this. */
int
str_region_attach(struct str_domain *d)
{
	unsigned i, slot = FIRST_SLOT;
	void *direct;

	(void)d;
	own_calls();
	for (i = 0; i < nbuiltin(); i++) {
		const struct streamtab *st = builtin[i]->tab;

		slot = copy_qinit(NULL, st->st_rdinit, slot);
		slot = copy_qinit(NULL, st->st_wrinit, slot);
		slot = copy_qinit(NULL, st->st_muxrinit, slot);
		slot = copy_qinit(NULL, st->st_muxwinit, slot);
		slot = copy_calls(builtin[i], slot);
		slot = copy_direct(builtin[i], slot, &direct);
	}
	return 0;
}

/*
 * str_code_of - the address of procedure @fn that is valid in every process
 * Return: NULL if it has none: @fn is neither in the code window, nor in `own',
 * nor in `calls' of a built-in module.
 */
void *
str_code_of(void (*fn)(void))
{
	unsigned i, k, slot = FIRST_SLOT;

	if (host_code_shared((void *)fn))
		return (void *)fn;
	for (i = 0; i < STR_ARRAY_LEN(own); i++)
		if (own[i] == fn)
			return host_code(1 + i, fn);
	for (i = 0; i < nbuiltin(); slot += slots(builtin[i++]))
		for (k = 0; builtin[i]->calls != NULL &&
			builtin[i]->calls[k] != NULL; k++)
			if (builtin[i]->calls[k] == fn)
				return host_code(slot + k +
					tab_slots(builtin[i]->tab), fn);
	return NULL;
}

bool
str_name_eq(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static struct str_fmod *
find(const char *name, uint32_t kind)
{
	struct str_fmod *fm = table();
	uint64_t n = str_load(str_root(STR_ROOT_NFMOD)), i;

	for (i = 0; i < n && i < STR_NMODULE; i++)
		if (str_load_acq(&fm[i].used) == 1 && (fm[i].kind & kind) != 0 &&
		    str_name_eq(fm[i].name, name))
			return &fm[i];
	return NULL;
}

/* str_fmod_find - the module called @name, or NULL. */
struct str_fmod *
str_fmod_find(const char *name)
{
	return find(name, STR_F_MODULE);
}

/* str_fmod_known - module or driver @name, or NULL. */
struct str_fmod *
str_fmod_known(const char *name, uint32_t kind)
{
	return find(name, kind);
}

/* str_fmod_get - module or driver @name, loaded if necessary. */
struct str_fmod *
str_fmod_get(struct host_call *hc, const char *name, uint32_t kind)
{
	struct str_fmod *fm = find(name, kind);

	if (fm == NULL && str_foreign_load(hc, name, kind) == 0)
		fm = find(name, kind);
	/* map it now, not only when one of its procedures runs */
	if (fm != NULL && fm->foreign != 0 &&
	    host_module_map(fm->foreign) != 0)
		return NULL;
	return fm;
}

struct str_fmod *
str_fmod_by_major(uint32_t major)
{
	struct str_fmod *fm = table();
	uint64_t n = str_load(str_root(STR_ROOT_NFMOD)), i;

	for (i = 0; i < n && i < STR_NMODULE && major != 0; i++)
		if (str_load_acq(&fm[i].used) == 1 && fm[i].major == major &&
		    (fm[i].kind & STR_F_DRIVER) != 0)
			return &fm[i];
	return NULL;
}

/* The D_MTPERMOD perimeter of @fm: its group's, or its own. */
struct str_perim *
str_fmod_perim(struct str_fmod *fm)
{
	return fm->foreign == 0 || fm->slot == 0 ? &fm->perim :
		&table()[fm->slot - 1].perim;
}

/*
 * The number of the first entry of @group, plus 1; 0: there is none.  An entry
 * whose name was removed is still in the group.
 */
static uint32_t
founder(const char *group)
{
	struct str_fmod *fm = table();
	uint64_t n = str_load(str_root(STR_ROOT_NFMOD)), i;

	for (i = 0; i < n && i < STR_NMODULE; i++)
		if (str_load_acq(&fm[i].used) != 0 && fm[i].foreign != 0 &&
		    fm[i].slot == 0 && str_name_eq(fm[i].GROUP, group))
			return (uint32_t)i + 1;
	return 0;
}

/* A major that no driver has, for the entry with number @i. */
static uint32_t
unused_major(uint32_t i)
{
	uint32_t n, m = STR_MAJOR_FREE + i;

	/*
	 * there are STR_NMODULE majors, and at most STR_NMODULE - 1 other
	 * entries: so one is free
	 */
	for (n = 1; str_fmod_by_major(m) != NULL; n++)
		m = STR_MAJOR_FREE + (i + n) % STR_NMODULE;
	return m;
}

static struct str_fmod *
add(const char *name, uint32_t kind, uint32_t flag, uint32_t major,
	const struct streamtab *tab, const char *group)
{
	struct str_fmod *fm = table();
	uint64_t n = str_load(str_root(STR_ROOT_NFMOD));
	uint32_t i;

	if (find(name, kind) != NULL || ((kind & STR_F_DRIVER) != 0 &&
		major != 0 && str_fmod_by_major(major) != NULL))
		return NULL;
	for (i = (uint32_t)n; i < STR_NMODULE; i++)
		if (str_cas(&fm[i].used, 0u, 2u))
			break;
	if (i == STR_NMODULE)
		return NULL;
	copy_name(fm[i].name, name, FMNAMESZ + 1);
	fm[i].kind = kind;
	fm[i].flag = flag;
	fm[i].major = (kind & STR_F_DRIVER) == 0 ? 0 :
		major != 0			 ? major :
						   unused_major(i);
	fm[i].slot = group[0] == '\0' ? 0 : founder(group);
	copy_name(fm[i].GROUP, group, sizeof(fm[i].GROUP));
	fm[i].foreign = host_module_of(tab);
	fm[i].tab = *tab;
	str_store_rel(&fm[i].used, 1u);
	while (n < i + 1 && !str_cas(str_root(STR_ROOT_NFMOD), n,
		(uint64_t)i + 1))
		n = str_load(str_root(STR_ROOT_NFMOD));
	return &fm[i];
}

/*
 * str_fmod_new - register a foreign module or driver
 * @tab: its table in the code window, like all structures to which it points
 * @major: of a driver; 0: one that no driver has, from STR_MAJOR_FREE on
 * @group: the group whose perimeter it shares, with D_MTPERMOD; "": none
 *
 * Return: NULL when the table is full, or the name or major is taken.
 * Locks: takes the first entry's plock, which a built-in module does not use.
 */
struct str_fmod *
str_fmod_new(const char *name, uint32_t kind, uint32_t flag, uint32_t major,
	const struct streamtab *tab, const char *group)
{
	struct str_fmod *fm;

	(void)str_lock(&table()->plock); /* entries of a dead owner stay in
					  * state 2 */
	fm = add(name, kind, flag, major, tab, group);
	str_unlock(&table()->plock);
	return fm;
}

void *
str_drv_state(const char *name, size_t size)
{
	struct str_fmod *fm = find(name, STR_F_DRIVER | STR_F_MODULE);
	uint64_t v;
	void *p;

	if (fm == NULL)
		return NULL;
	v = str_load_acq(&fm->state);
	if (v != 0 || size == 0)
		return (void *)(uintptr_t)v;
	p = kmem_zalloc(size, 0);
	if (p == NULL)
		return NULL;
	if (!str_cas(&fm->state, (uint64_t)0, (uint64_t)(uintptr_t)p))
		kmem_free(p, size); /* another thread was first */
	return (void *)(uintptr_t)str_load_acq(&fm->state);
}

unsigned int
str_registry_builtin(const char *name)
{
	unsigned i;

	for (i = 0; i < nbuiltin(); i++)
		if (builtin[i]->major != 0 && str_name_eq(builtin[i]->name, name))
			return builtin[i]->major;
	return 0;
}

int
str_registry_entry(unsigned n, struct str_regent *ret)
{
	struct str_fmod *fm = table() + n;
	struct qinit *qi[4];
	unsigned i;

	if (n >= str_load(str_root(STR_ROOT_NFMOD)) || n >= STR_NMODULE ||
	    str_load_acq(&fm->used) != 1)
		return 0;
	copy_name(ret->name, fm->name, sizeof(ret->name));
	ret->kind = fm->kind;
	ret->major = fm->major;
	ret->flag = fm->flag;
	ret->count = str_load(&fm->count);
	qi[0] = fm->tab.st_rdinit;
	qi[1] = fm->tab.st_wrinit;
	qi[2] = fm->tab.st_muxrinit;
	qi[3] = fm->tab.st_muxwinit;
	for (i = 0; i < 4; i++) {
		ret->minfo[i] = qi[i] != NULL ? qi[i]->qi_minfo : NULL;
		ret->mstat[i] = qi[i] != NULL ? qi[i]->qi_mstat : NULL;
	}
	return 1;
}

void
str_cred(cred_t *ret)
{
	struct host_cred c;

	host_cred(&c);
	ret->cr_ref = 1;
	ret->cr_ngroups = 0;
	ret->cr_uid = ret->cr_suid = c.uid;
	ret->cr_gid = ret->cr_sgid = c.gid;
	ret->cr_ruid = c.ruid;
	ret->cr_rgid = c.rgid;
}
