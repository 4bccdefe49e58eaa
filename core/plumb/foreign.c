/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Foreign modules and drivers: the functions that they may call, and their
 * registration.  The host loads them (host_module_load()); this file has the
 * interface between them and the executive.
 *
 * Functions.  Every function that an installed header declares as part of the
 * DDI has a code slot.  The slots are numbered in the order of the names.  So a
 * module that one process has relocated calls the right function in every
 * process. A library built from other headers has other numbers.
 * str_ddi_hash() shows the difference.
 *
 * Registration.  These procedures of an image are called once in the domain, in
 * this order, each if it exists: NAMEinit(); NAMEstart(); Solaris' _init(); the
 * load procedure of an SVR4.2 wrapper; the configuration procedure of another
 * system (flavour.c).  They may call register_strmod(), register_strdev(),
 * mod_install() and similar functions.  If none of them does, module or driver
 * NAME is registered by the names that an SVR4 kernel's configuration uses: its
 * streamtab is NAMEinfo, and its D_ flags are in the int NAMEdevflag, which may
 * be absent in a module that is written for one processor.
 *
 * Life.  An image and its entries exist as long as the domain: the next push or
 * open of the name finds them in the registry.
 */
#include "foreign.h"
#include <sys/kmem.h>
#include <sys/modctl.h>
#include <sys/moddefs.h>
#undef fmodsw /* SVR4's is used here, except in mod_install() */

#define FIRST_SLOT 1024u
#define LAST_SLOT 3968u /* higher slots belong to the host */

typedef void (*proc_t)(void);
struct ddi { /* distances from the member itself */
	int32_t name, fn;
};

#include "ddi_table.h"

extern const struct ddi str_ddi_table[DDI_COUNT]; /* ddi_table.S */

_Static_assert(DDI_COUNT <= LAST_SLOT - FIRST_SLOT, "code slots");

/* The executive's flags of an image: *host_module_word(). */
#define IMAGE_REGISTERS 1u /* it registers itself */
#define IMAGE_DRIVER 2u	   /* Solaris: it has a dev_ops */
#define IMAGE_OFFSET ~7u   /* the distance of the dev_ops from _init() */

/* --------------------------------------------------- what modules may call */

static uintptr_t
target(const int32_t *distance)
{
	return (uintptr_t)distance + (uintptr_t)(intptr_t)*distance;
}

static uint64_t
code_of(unsigned i)
{
	return (uint64_t)(uintptr_t)host_code(FIRST_SLOT + i,
		(proc_t)target(&str_ddi_table[i].fn));
}

void
str_ddi_attach(void)
{
	unsigned i;

	for (i = 0; i < DDI_COUNT; i++)
		(void)code_of(i);
}

uint64_t
str_ddi_hash(void)
{
	return DDI_HASH;
}

static int
compare(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

/*
 * The installed headers give a DDI function a symbol with the prefix ddi_. A
 * source that declares the function itself refers to it without the prefix.
 */
uint64_t
str_ddi_find(const char *name)
{
	unsigned low = 0, high = DDI_COUNT;

	if (name[0] == 'd' && name[1] == 'd' && name[2] == 'i' &&
	    name[3] == '_')
		name += 4;
	while (low < high) {
		unsigned mid = (low + high) / 2;
		int c = compare(name,
			(const char *)target(&str_ddi_table[mid].name));

		if (c == 0)
			return code_of(mid);
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return 0;
}

/* ------------------------------------------------------ memory for images */

#define RUN_MIN 40000u /* sizes from here on take whole granules */

void *
str_region_alloc(size_t size)
{
	if (size > STR_REGION_MAX)
		return NULL;
	return str_mem_zalloc(STR_MAX(size, (size_t)RUN_MIN), STR_BLK_KMEM);
}

void
str_region_keep(void *p)
{
	str_mem_disown(p);
}

void
str_region_free(void *p)
{
	str_mem_own(p);
	str_mem_free(p);
}

_Static_assert(STR_REGION_MAX == STR_MEM_MAX, "greatest piece");

/* ------------------------------------------------------------ registration */

static bool
side_is_good(const struct qinit *qi, bool put)
{
	return host_code_shared(qi) && host_code_shared(qi->qi_minfo) &&
		(!put || host_code_shared((const void *)qi->qi_putp));
}

/*
 * Are the tables at addresses that are valid in every process?  A driver needs
 * no read put procedure, because no other module puts messages to its read
 * queue.  A multiplexor has tables for both lower queues, any other driver for
 * neither.
 */
static bool
tab_is_good(const struct streamtab *st, uint32_t kind)
{
	bool mod = (kind & STR_F_MODULE) != 0;

	if (!host_code_shared(st) || !side_is_good(st->st_rdinit, mod) ||
	    !side_is_good(st->st_wrinit, true))
		return false;
	if (st->st_muxrinit == NULL && st->st_muxwinit == NULL)
		return true;
	return side_is_good(st->st_muxrinit, true) &&
		side_is_good(st->st_muxwinit, false);
}

/*
 * In SVR4 this is a pointer to the flags; some sources store the flags
 * themselves.
 */
static uint32_t
flags_of(int *flag)
{
	if ((uintptr_t)flag < 4096)
		return (uint32_t)(uintptr_t)flag;
	return host_code_shared(flag) ? (uint32_t)*flag : 0;
}

bool
str_foreign_name_is_good(const char *name)
{
	unsigned n;

	for (n = 0; name[n] != '\0'; n++)
		if (n == FMNAMESZ)
			return false;
	return n > 0;
}

/* Register a module or driver of an image; 0 or an errno. */
static int
enter(const char *name, uint32_t kind, uint32_t flag, uint32_t major,
	const struct streamtab *st, const char *group, struct str_fmod **ret)
{
	uint32_t image = host_module_of(st);

	if (image == 0 || !tab_is_good(st, kind)) {
		host_module_log(name, "its streamtab, or what that leads to, "
			"is not complete");
		return EINVAL;
	}
	*ret = str_fmod_new(name, kind, flag, major, st, group);
	return *ret == NULL ? EBUSY : 0;
}

int
str_foreign_enter(const char *name, uint32_t kind, uint32_t flag,
	uint32_t major, const struct streamtab *st, const char *group,
	struct str_fmod **ret)
{
	int err = enter(name, kind, flag, major, st, group, ret);

	if (err == 0)
		(void)str_or(host_module_word(host_module_of(st)),
			IMAGE_REGISTERS);
	return err;
}

static int
enter_itself(const char *name, uint32_t kind, int *flag, uint32_t major,
	const struct streamtab *st)
{
	struct str_fmod *fm;
	int err;

	if (!host_code_shared(name) || !str_foreign_name_is_good(name) ||
	    host_module_of(st) == 0)
		return -EINVAL;
	err = str_foreign_enter(name, kind, flags_of(flag), major, st, "", &fm);
	return err != 0 ? -err : (int)fm->major;
}

int
register_strmod(struct fmodsw *fmod)
{
	return enter_itself(fmod->f_name, STR_F_MODULE, fmod->f_flag, 0,
		fmod->f_str);
}

int
register_strdev(struct cdevsw *cdev, unsigned int major)
{
	return enter_itself(cdev->d_name, STR_F_DRIVER, cdev->d_flag, major,
		cdev->d_str);
}

int
register_strdrv(struct cdevsw *cdev)
{
	return register_strdev(cdev, 0);
}

static uintptr_t
init_of(uint32_t image)
{
	return (uintptr_t)host_module_symbol(image, "strmod__init") &
		~(uintptr_t)7;
}

/*
 * A driver for Solaris has the name of its file, and is attached when its
 * _init() has returned: until then the address of its dev_ops is stored in the
 * image's word, as a distance from _init().
 */
static int
note_driver(const struct modldrv *l)
{
	const struct dev_ops *ops = l->drv_dev_ops;
	uint32_t image = host_module_of(ops), was;

	if (image == 0 || !host_code_shared(ops) ||
	    !host_code_shared(ops->devo_cb_ops) ||
	    ((uintptr_t)ops & 7) != 0 || init_of(image) == 0)
		return EINVAL;
	was = str_load(host_module_word(image));
	if ((was & IMAGE_DRIVER) != 0)
		return EINVAL;
	(void)str_or(host_module_word(image), IMAGE_REGISTERS | IMAGE_DRIVER |
		(uint32_t)((uintptr_t)ops - init_of(image)));
	return 0;
}

/*
 * Solaris mod_install(9F).  Structures that are not static data of the module
 * are refused.
 */
int
mod_install(struct modlinkage *ml)
{
	const struct modlstrmod *l;
	const struct str_mod_fmodsw *f;
	struct str_fmod *fm;
	unsigned i;
	int err = EINVAL;

	for (i = 0; i < STR_ARRAY_LEN(ml->ml_linkage) &&
		ml->ml_linkage[i] != NULL; i++) {
		l = ml->ml_linkage[i];
		if (!host_code_shared(l) || !host_code_shared(l->strmod_modops))
			return EINVAL;
		if (l->strmod_modops->modm_kind == MOD_DRIVER) {
			err = note_driver(ml->ml_linkage[i]);
			if (err != 0)
				return err;
			continue;
		}
		f = l->strmod_fmodsw;
		if (l->strmod_modops->modm_kind != MOD_STRMOD ||
		    !host_code_shared(f) || !str_foreign_name_is_good(f->f_name) ||
		    host_module_of(f->f_str) == 0)
			return EINVAL;
		err = str_foreign_enter(f->f_name, STR_F_MODULE,
			(uint32_t)f->f_flag, 0, f->f_str, "", &fm);
		if (err != 0)
			return err;
	}
	return err;
}

int
mod_remove(struct modlinkage *ml)
{
	(void)ml;
	return EBUSY;
}

int
mod_info(struct modlinkage *ml, struct modinfo *info)
{
	(void)ml, (void)info;
	return 1;
}

int
str_foreign_leave(struct str_fmod *fm, const struct streamtab *st)
{
	if (fm == NULL || fm->foreign == 0 ||
	    fm->tab.st_rdinit != st->st_rdinit)
		return ENXIO;
	if (str_load(&fm->count) != 0)
		return EBUSY;
	str_store_rel(&fm->used, 2u); /* it has no name any more */
	return 0;
}

int
unregister_strmod(struct fmodsw *fmod)
{
	return -str_foreign_leave(str_fmod_find(fmod->f_name), fmod->f_str);
}

int
unregister_strdev(struct cdevsw *cdev, unsigned int major)
{
	return -str_foreign_leave(str_fmod_by_major(major), cdev->d_str);
}

/* -------------------------------------------------------------------- load */

void *
str_foreign_symbol(uint32_t image, const char *name, const char *suffix)
{
	char buf[FMNAMESZ + 16];
	unsigned n = 0;

	while (*name != '\0' && n < FMNAMESZ)
		buf[n++] = *name++;
	while (*suffix != '\0' && n < sizeof(buf) - 1)
		buf[n++] = *suffix++;
	buf[n] = '\0';
	return host_module_symbol(image, buf);
}

static void
call(uint32_t image, const char *name, const char *suffix)
{
	proc_t fn = (proc_t)str_foreign_symbol(image, name, suffix);

	if (fn != NULL)
		fn();
}

/* Attach its instance 0; then it can be opened. */
static int
attach(uint32_t image, const char *name)
{
	const struct dev_ops *ops;
	int (*init)(dev_info_t *dip, ddi_attach_cmd_t cmd);
	struct dev_info *dip;
	struct str_fmod *fm;
	uint32_t word = str_load(host_module_word(image)) & IMAGE_OFFSET;
	unsigned n;

	ops = (const struct dev_ops *)(init_of(image) +
		(uintptr_t)(intptr_t)(int32_t)word);
	dip = kmem_zalloc(sizeof(*dip), KM_SLEEP);
	if (dip == NULL)
		return ENOSR;
	for (n = 0; n < FMNAMESZ && name[n] != '\0'; n++)
		dip->di_name[n] = name[n];
	init = (int (*)(dev_info_t *, ddi_attach_cmd_t))ops->devo_attach;
	if (init != NULL && init(dip, DDI_ATTACH) != 0) {
		host_module_log(name, "its attach() fails");
		kmem_free(dip, sizeof(*dip));
		return EINVAL;
	}
	return enter(name, STR_F_DRIVER, (uint32_t)ops->devo_cb_ops->cb_flag, 0,
		ops->devo_cb_ops->cb_str, "", &fm);
}

/* Call _init(), which <sys/modctl.h> has renamed. */
static int
solaris(uint32_t image, const char *name)
{
	int (*fn)(void) = (int (*)(void))(uintptr_t)host_module_symbol(image,
		"strmod__init");

	if (fn != NULL && fn() != 0)
		return EINVAL;
	if ((str_load(host_module_word(image)) & IMAGE_DRIVER) == 0)
		return 0;
	return attach(image, name);
}

/* SVR4.2's wrapper: call its load procedure. */
static int
wrapper(uint32_t image, const char *name)
{
	struct modwrapper *w = str_foreign_symbol(image, name, "_wrapper");

	if (w == NULL || w->mw_rev != MODREV || w->mw_load == NULL ||
	    w->mw_load() == 0)
		return 0;
	host_module_log(name, "its load procedure fails");
	return EINVAL;
}

/* Register @name as the requested kind, by the names of its tables. */
static int
conventional(uint32_t image, const char *name, uint32_t kind)
{
	struct streamtab *st = str_foreign_symbol(image, name, "info");
	int *flag = str_foreign_symbol(image, name, "devflag");
	struct str_fmod *fm;
	int err;

	if (st == NULL) {
		host_module_log(name, "it has registered nothing, and has no "
			"streamtab of that name with info behind it");
		return EINVAL;
	}
	err = enter(name, kind, flag != NULL ? (uint32_t)*flag : 0, 0, st, "",
		&fm);
	/* EBUSY: another thread has registered it meanwhile */
	return err == EBUSY ? 0 : err;
}

/* Remove the registrations of a refused image, unless they are in use. */
static void
retract(uint32_t image)
{
	struct str_fmod *fm = (struct str_fmod *)(uintptr_t)
		str_load(str_root(STR_ROOT_FMOD));
	uint64_t n = str_load(str_root(STR_ROOT_NFMOD)), i;

	for (i = 0; i < n; i++)
		if (str_load_acq(&fm[i].used) == 1 && fm[i].foreign == image)
			(void)str_foreign_leave(&fm[i], &fm[i].tab);
}

/*
 * str_foreign_load - find the file of module or driver @name, and register it
 * Return: 0: look in the registry; ENOENT there is none; EACCES, ENOEXEC,
 * EINVAL it is refused, the log has the reason; EBUSY: str_fmod_new() refuses
 * it; ENOSR, EINTR.
 * Context: a call, no locks, no claim.
 */
int
str_foreign_load(struct host_call *hc, const char *name, uint32_t kind)
{
	uint32_t image;
	bool fresh;
	int err = host_module_load(hc, name, &image, &fresh);

	if (err != 0)
		return err;
	if (fresh) {
		call(image, name, "init");
		STR_CRASH_POINT("module:init");
		call(image, name, "start");
		err = solaris(image, name);
		if (err == 0)
			err = wrapper(image, name);
		if (err == 0)
			err = str_flavour_begin(image, name, kind);
	}
	if (err == 0 && (str_load(host_module_word(image)) & IMAGE_REGISTERS) == 0)
		err = conventional(image, name, kind);
	if (fresh && err != 0)
		retract(image);
	else if (fresh && str_fmod_known(name, kind) == NULL)
		host_module_log(name, (kind & STR_F_DRIVER) != 0 ?
			"it has not registered a driver of that name" :
			"it has not registered a module of that name");
	if (fresh)
		host_module_done(image, err == 0);
	return err;
}

/* ------------------------------------------------- changes of dead threads */

/* The next entry after @fm with a module-wide perimeter. */
static struct str_fmod *
next_exclusive(struct str_fmod *fm)
{
	struct str_fmod *tab = (struct str_fmod *)(uintptr_t)
		str_load(str_root(STR_ROOT_FMOD));
	uint64_t n = str_load(str_root(STR_ROOT_NFMOD));

	for (fm = fm == NULL ? tab : fm + 1; fm < tab + n; fm++)
		if (str_load_acq(&fm->used) != 0 && str_perim_kind(fm->flag) ==
				STR_PERIM_MODULE)
			return fm;
	return NULL;
}

/*
 * str_foreign_exclusive - the first entry with a module-wide perimeter of the
 * image that contains @code; NULL: none, or @code is built in
 */
struct str_fmod *
str_foreign_exclusive(const void *code)
{
	uint32_t image = host_module_of(code);
	struct str_fmod *fm = NULL;

	while (image != 0 && (fm = next_exclusive(fm)) != NULL)
		if (fm->foreign == image && str_load(&fm->used) == 1)
			return fm;
	return NULL;
}

static void
nothing(void *arg)
{
	(void)arg;
}

/*
 * str_foreign_revive - thread @dead may have been inside a module-wide
 * perimeter: process the work that waits there for other streams
 */
void
str_foreign_revive(uint32_t dead)
{
	struct str_fmod *fm = NULL;
	unsigned n;

	while ((fm = next_exclusive(fm)) != NULL) {
		/*
		 * a call of str_perim_run() may return false and leave the dead
		 * thread inside: only each eighth checks whether it lives
		 */
		for (n = 0; n < 8 &&
			str_load(&fm->perim.inside) == dead; n++)
			if (str_perim_run(fm, nothing, NULL))
				break;
	}
	str_sched_lost();
	str_sched_touched();
}

/*
 * str_foreign_wanted - is there an instance of a module with a module-wide
 * perimeter?  If a member dies in it, threads of other streams wait for the
 * perimeter and sleep: so streamsd has to notice the death.
 */
bool
str_foreign_wanted(void)
{
	struct str_fmod *fm = NULL;

	while ((fm = next_exclusive(fm)) != NULL)
		if (str_load(&fm->count) != 0)
			return true;
	return false;
}
