/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The registry of modules.
 *
 * A built-in module is known to every image of the library, at another
 * address in each.  Its tables are copied into the arena once per domain,
 * with procedure addresses replaced by code slots (host_code()), which mean
 * the same in every member.  Slot numbers follow from the order of the list
 * below, so every image gives the same number to the same procedure; the
 * domain's ABI number covers that order.
 */
#include "core.h"
#include <str/builtin.h>

extern const struct str_builtin str_mod_nullmod;
extern const struct str_builtin str_mod_pipemod;
extern const struct str_builtin str_mod_srvmod;
extern const struct str_builtin str_mod_testmod;

static const struct str_builtin *const builtin[] = {
	&str_mod_nullmod,
	&str_mod_pipemod,
	&str_mod_srvmod,
	&str_mod_testmod,
};

#define PROCS 8u /* four of each side's qinit */
#define HEAD_SLOT 0u
#define FIRST_SLOT 8u

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

/* Register the four procedures of @from; put their addresses into @to. */
static void
copy_qinit(struct qinit *to, const struct qinit *from, unsigned slot)
{
	struct qinit tmp = {0};

	if (from->qi_putp != NULL)
		tmp.qi_putp = (qi_putp_t)host_code(slot,
			(proc_t)from->qi_putp);
	if (from->qi_srvp != NULL)
		tmp.qi_srvp = (qi_srvp_t)host_code(slot + 1,
			(proc_t)from->qi_srvp);
	if (from->qi_qopen != NULL)
		tmp.qi_qopen = (qi_qopen_t)host_code(slot + 2,
			(proc_t)from->qi_qopen);
	if (from->qi_qclose != NULL)
		tmp.qi_qclose = (qi_qclose_t)host_code(slot + 3,
			(proc_t)from->qi_qclose);
	if (to != NULL) {
		tmp.qi_minfo = to->qi_minfo;
		*to = tmp;
	}
}

static void
enter(struct str_fmod *fm, const struct str_builtin *b, unsigned slot)
{
	const struct qinit *ri = b->tab->st_rdinit, *wi = b->tab->st_wrinit;

	copy_name(fm->name, b->name, sizeof(fm->name));
	fm->flag = b->flag;
	fm->slot = slot;
	if (ri->qi_minfo != NULL)
		fm->rinfo = *ri->qi_minfo;
	fm->winfo = wi->qi_minfo != NULL ? *wi->qi_minfo : fm->rinfo;
	copy_name(fm->idname[0], b->name, sizeof(fm->idname[0]));
	copy_name(fm->idname[1], b->name, sizeof(fm->idname[1]));
	fm->rinfo.mi_idname = fm->idname[0];
	fm->winfo.mi_idname = fm->idname[1];
	fm->rinit.qi_minfo = &fm->rinfo;
	fm->winit.qi_minfo = &fm->winfo;
	copy_qinit(&fm->rinit, ri, slot);
	copy_qinit(&fm->winit, wi, slot + 4);
	fm->tab.st_rdinit = &fm->rinit;
	fm->tab.st_wrinit = &fm->winit;
	str_store_rel(&fm->used, 1u);
}

/* str_registry_init - by the domain's creator: the tables themselves. */
int
str_registry_init(struct str_domain *d)
{
	struct str_fmod *fm;
	struct qinit *qi;
	struct str_blk *b;
	unsigned i;

	b = str_mem_alloc(64 + STR_NMODULE * sizeof(*fm),
		STR_BLK_KMEM);
	if (b == NULL)
		return ENOSR;
	fm = (struct str_fmod *)(void *)((char *)b + 64);
	__builtin_memset(fm, 0, STR_NMODULE * sizeof(*fm));
	for (i = 0; i < STR_ARRAY_LEN(builtin); i++)
		enter(&fm[i], builtin[i], FIRST_SLOT + i * PROCS);
	str_mem_disown(b);
	str_store(&d->core[STR_ROOT_FMOD], (uint64_t)(uintptr_t)fm);
	str_store(&d->core[STR_ROOT_NFMOD], (uint64_t)STR_ARRAY_LEN(builtin));

	/* the heads' queues have no procedures: str_put() knows them */
	b = str_mem_alloc(sizeof(*b) + 2 * sizeof(*qi), STR_BLK_KMEM);
	if (b == NULL)
		return ENOSR;
	qi = (struct qinit *)(void *)(b + 1);
	__builtin_memset(qi, 0, 2 * sizeof(*qi));
	str_mem_disown(b);
	str_store(&d->core[STR_ROOT_HEADINIT], (uint64_t)(uintptr_t)qi);
	return 0;
}

/* str_registry_attach - by every image: fill its own code slots. */
int
str_registry_attach(struct str_domain *d)
{
	unsigned i;

	(void)d;
	for (i = 0; i < STR_ARRAY_LEN(builtin); i++) {
		copy_qinit(NULL, builtin[i]->tab->st_rdinit,
			FIRST_SLOT + i * PROCS);
		copy_qinit(NULL, builtin[i]->tab->st_wrinit,
			FIRST_SLOT + i * PROCS + 4);
	}
	return 0;
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

/* str_fmod_find - the module called @name, or NULL. */
struct str_fmod *
str_fmod_find(const char *name)
{
	struct str_fmod *fm = (struct str_fmod *)(uintptr_t)
		str_load(str_root(STR_ROOT_FMOD));
	uint64_t n = str_load(str_root(STR_ROOT_NFMOD)), i;

	for (i = 0; i < n; i++)
		if (str_load_acq(&fm[i].used) != 0 && str_name_eq(fm[i].name, name))
			return &fm[i];
	return NULL;
}
