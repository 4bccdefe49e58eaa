/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Modules and drivers for AIX, HP-UX and OSF/1, and open procedures of SVR3.
 *
 * Tables.  A strconf_t, a streams_info_t and a streamadm describe a module in
 * different forms: `struct table' is the common form, and entry() converts it
 * to the arguments of register_strmod().  A source calls str_install() with two
 * arguments or with one; <sys/strreg.h> turns these into commands, so there is
 * one function.
 *
 * Levels.  SQLVL_* are perimeters.  SQLVL_GLOBAL is a group of SQLVL_ELSEWHERE
 * whose name no module can give.
 *
 * Life.  The configuration procedure is called by name, once, and only if the
 * image calls str_install() or strmod_add(): in other images NAME_config() is
 * an ordinary procedure.  Tables belong to the module and may have any
 * contents: they are checked, and the reason for a refusal is written to the
 * log.
 *
 * u-area.  It belongs to a call of an open procedure: the thread has it in its
 * own data.  An open that runs inside another one has its own.
 */
#include "foreign.h"
#include <sys/ddi.h>
#include <sys/device.h>
#include <sys/strreg.h>
#include <sys/sysconfig.h>
#include <sys/user.h>

#define GROUP_OF_ALL "\001all"

struct table {
	const char *name;
	const struct streamtab *tab;
	uint32_t kind; /* STR_F_* */
	uint32_t major; /* 0: any */
	bool old; /* SVR3's open */
	bool mp;
	bool per_stream;
	int level; /* SQLVL_* */
	const char *group; /* SQLVL_ELSEWHERE */
};

/* ------------------------------------------------------------------ tables */

static int STR_PRINTF(2, 3)
refuse(const char *name, const char *fmt, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	(void)str_ddi_vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	host_module_log(name != NULL ? name : "?", text);
	return EINVAL;
}

/* The D_ flag and the group for the level of @t, SQLVL_*; 0, or EINVAL. */
static int
level(const struct table *t, uint32_t *ret_flag, const char **ret_group)
{
	int lvl = t->level;

	*ret_group = "";
	*ret_flag = D_MTPERMOD;
	if (t->per_stream && lvl > SQLVL_QUEUEPAIR)
		lvl = SQLVL_QUEUEPAIR;
	if (!t->mp && lvl > SQLVL_MODULE && lvl <= SQLVL_NOP)
		lvl = SQLVL_MODULE;
	switch (lvl) {
	case SQLVL_DEFAULT:
	case SQLVL_MODULE:
		return 0;
	case SQLVL_GLOBAL:
		*ret_group = GROUP_OF_ALL;
		return 0;
	case SQLVL_ELSEWHERE:
		if (t->group == NULL || !str_foreign_name_is_good(t->group))
			return refuse(t->name, "its table has SQLVL_ELSEWHERE, "
				"and no group of 1 to %d characters", FMNAMESZ);
		if (t->group[0] == GROUP_OF_ALL[0])
			return refuse(t->name, "its table has a group of no "
				"name");
		*ret_group = t->group;
		return 0;
	case SQLVL_QUEUEPAIR:
		*ret_flag = D_MTQPAIR;
		return 0;
	case SQLVL_QUEUE:
		*ret_flag = D_MTPERQ;
		return 0;
	case SQLVL_NOP:
		*ret_flag = D_MP;
		return 0;
	default:
		return refuse(t->name, "its table has level %d, which is none "
			"of SQLVL_*", lvl);
	}
}

/* Register it.  Return: 0, EINVAL, EEXIST. */
static int
install(const struct table *t, struct str_fmod **ret)
{
	const char *group;
	uint32_t flag;
	int err;

	if (t->name == NULL || !str_foreign_name_is_good(t->name))
		return refuse(NULL, "a table has no name of 1 to %d characters",
			FMNAMESZ);
	if (t->kind == 0)
		return refuse(t->name, "its table does not say which of "
			"STR_IS_DEVICE and STR_IS_MODULE it is");
	err = level(t, &flag, &group);
	if (err != 0)
		return err;
	err = str_foreign_enter(t->name, t->kind, flag | (t->old ? D_OLD : 0),
		t->major, t->tab, group, ret);
	if (err != EBUSY)
		return err;
	if (t->major != 0 && (t->kind & STR_F_DRIVER) != 0)
		(void)refuse(t->name, "its name, or its major number %u, is "
			"taken", t->major);
	else
		(void)refuse(t->name, "its name is taken, or there are too "
			"many");
	return EEXIST;
}

/* Remove the registration of @t. */
static int
uninstall(const struct table *t)
{
	struct str_fmod *fm;

	if (t->name == NULL || !str_foreign_name_is_good(t->name) ||
	    t->kind == 0 || t->tab == NULL)
		return ENXIO;
	fm = str_fmod_known(t->name, t->kind);
	return str_foreign_leave(fm, t->tab);
}

/*
 * Check that all flags are @known: others belong to another system, or are
 * invalid.
 */
static int
flags(const struct table *t, uint32_t flag, uint32_t known)
{
	return (flag & ~known) == 0 ? 0 :
		refuse(t->name, "its table has flags 0x%x, which are not known",
			flag & ~known);
}

/* STR_F_* for the STR_IS_* in @flag: 0 if it has neither or both. */
static uint32_t
kind_of(uint32_t flag)
{
	switch (flag & STR_TYPE_MASK) {
	case STR_IS_DEVICE:
		return STR_F_DRIVER;
	case STR_IS_MODULE:
		return STR_F_MODULE;
	default:
		return 0;
	}
}

/* --------------------------------------------------------------------- AIX */

#define AIX_FLAGS (STR_OLD_OPEN | STR_MPSAFE | STR_Q_SAFETY | STR_QSAFETY | \
	STR_Q_NOTTOSPEC | STR_PERSTREAM | STR_64BIT)

static int
install_conf(int cmd, const strconf_t *sc)
{
	bool driver = cmd == STR_LOAD_DEV || cmd == STR_UNLOAD_DEV;
	uint32_t flag = (uint32_t)sc->sc_flags;
	struct table t = {
		.name = sc->sc_name,
		.tab = sc->sc_str,
		.kind = driver ? STR_F_DRIVER : STR_F_MODULE,
		.major = sc->sc_major > 0 ? (uint32_t)sc->sc_major : 0,
		.old = (flag & STR_OLD_OPEN) != 0,
		.mp = (flag & STR_MPSAFE) != 0,
		.per_stream = (flag & STR_PERSTREAM) != 0,
		.level = sc->sc_sqlevel,
		.group = sc->sc_sqinfo,
	};
	struct str_fmod *fm;
	int err;

	if (cmd == STR_UNLOAD_DEV || cmd == STR_UNLOAD_MOD)
		return uninstall(&t);
	err = flags(&t, flag, AIX_FLAGS);
	return err != 0 ? err : install(&t, &fm);
}

/* ------------------------------------------------------------------- HP-UX */

#define HPUX_FLAGS (STR_TYPE_MASK | MGR_IS_MP | STR_SYSV4_OPEN | \
	STR_QSAFETY | STR_MP_OPEN_CLOSE)

static int
install_info(int cmd, const streams_info_t *si)
{
	struct table t = {
		.name = si->name,
		.tab = &si->inst_str_tab,
		.kind = kind_of(si->inst_flags),
		.major = si->inst_major > 0 ? (uint32_t)si->inst_major : 0,
		.old = (si->inst_flags & STR_SYSV4_OPEN) == 0,
		.mp = (si->inst_flags & MGR_IS_MP) != 0,
		.level = si->inst_sync_level,
		.group = si->inst_sync_info,
	};
	struct str_fmod *fm;
	int err;

	if (cmd == STR_UNINSTALL_INFO)
		return uninstall(&t);
	err = flags(&t, si->inst_flags, HPUX_FLAGS);
	return err != 0 ? err : install(&t, &fm);
}

int
str_install(int cmd, void *what)
{
	if (what == NULL)
		return refuse(NULL, "str_install() without a table");
	switch (cmd) {
	case STR_LOAD_DEV:
	case STR_LOAD_MOD:
	case STR_UNLOAD_DEV:
	case STR_UNLOAD_MOD:
		return install_conf(cmd, what);
	case STR_INSTALL_INFO:
	case STR_UNINSTALL_INFO:
		return install_info(cmd, what);
	default:
		return refuse(NULL, "str_install() with a command that is none");
	}
}

/* ------------------------------------------------------------------- OSF/1 */

#define OSF_FLAGS (STR_TYPE_MASK | STR_SYSV4_OPEN | STR_QSAFETY)

static struct table
osf(dev_t devno, const struct streamtab *tab, const struct streamadm *adm)
{
	uint32_t major = devno == NODEV ? 0 : getmajor(devno);

	return (struct table){
		.name = adm->sa_name,
		.tab = tab,
		.kind = kind_of(adm->sa_flags),
		.major = major,
		.old = (adm->sa_flags & STR_SYSV4_OPEN) == 0,
		.mp = true, /* the level determines its safety */
		.level = (int)adm->sa_sync_level,
		.group = adm->sa_sync_info,
	};
}

dev_t
strmod_add(dev_t devno, struct streamtab *tab, struct streamadm *adm)
{
	struct str_fmod *fm;
	struct table t;

	if (adm == NULL) {
		(void)refuse(NULL, "strmod_add() without a streamadm");
		return NODEV;
	}
	t = osf(devno, tab, adm);
	if (flags(&t, adm->sa_flags, OSF_FLAGS) != 0 || install(&t, &fm) != 0)
		return NODEV;
	return makedevice(fm->major, 0);
}

int
strmod_del(dev_t devno, struct streamtab *tab, struct streamadm *adm)
{
	struct table t;

	if (adm == NULL)
		return EINVAL;
	t = osf(devno, tab, adm);
	return uninstall(&t);
}

/* ------------------------------------------------------------ configuration */

static const char *const registrars[] = {
	"ddi_str_install", "str_install", "ddi_strmod_add", "strmod_add",
};

static int
answer(const char *name, const char *what, int err)
{
	if (err == 0)
		return 0;
	return refuse(name, "its %s%s() returns %d", name, what, err);
}

static int
configure(uint32_t image, const char *name, uint32_t kind)
{
	union {
		void *p;
		int (*mod)(int cmd, struct uio *uiop);
		int (*drv)(dev_t dev, int cmd, struct uio *uiop);
		int (*install)(void);
		int (*load)(void *arg);
		int (*osf)(int op, void *in, size_t inlen, void *out,
			size_t outlen);
	} fn;

	fn.p = str_foreign_symbol(image, name, "_config");
	if (fn.p != NULL && (kind & STR_F_DRIVER) != 0)
		return answer(name, "_config",
			fn.drv(makedevice(0, 0), CFG_INIT, NULL));
	if (fn.p != NULL)
		return answer(name, "_config", fn.mod(CFG_INIT, NULL));
	fn.p = str_foreign_symbol(image, name, "_install");
	if (fn.p != NULL)
		return answer(name, "_install", fn.install());
	fn.p = str_foreign_symbol(image, name, "_load");
	if (fn.p != NULL)
		return answer(name, "_load", fn.load(NULL));
	fn.p = str_foreign_symbol(image, name, "_configure");
	if (fn.p != NULL)
		return answer(name, "_configure",
			fn.osf(SYSCONFIG_CONFIGURE, NULL, 0, NULL, 0));
	return 0;
}

int
str_flavour_begin(uint32_t image, const char *name, uint32_t kind)
{
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(registrars); i++)
		if (host_module_calls(image, registrars[i]))
			return configure(image, name, kind);
	return 0;
}

/* -------------------------------------------------------------------- SVR3 */

_Static_assert(sizeof(struct str_uarea) == sizeof(host_tls.uarea), "u-area");

/* str_uarea - no process has the ids outside open procedures: suser() fails */
struct str_uarea *
str_uarea(void)
{
	struct str_uarea *u = (struct str_uarea *)(void *)host_tls.uarea;

	if (host_tls.old_opens == 0)
		u->uu_uid = u->uu_gid = u->uu_ruid = u->uu_rgid = -1;
	return u;
}

/*
 * str_foreign_open - call an open procedure of SVR3: open(q, dev, flag, sflag)
 * The procedure returns OPENFAIL or a minor, which is used in a clone open.
 * Return: 0, the procedure's u_error, or ENXIO.
 */
int
str_foreign_open(struct str_qpair *qp, dev_t *dev, int flag, int sflag,
	const cred_t *cr)
{
	struct str_uarea *u = str_uarea(), was = *u;
	union {
		qi_qopen_t svr4;
		int (*svr3)(queue_t *q, dev_t dev, int flag, int sflag);
	} fn = {.svr4 = qp->rq.q_qinfo->qi_qopen};
	int minor, err;

	*u = (struct str_uarea){
		.uu_uid = (int)cr->cr_uid,
		.uu_gid = (int)cr->cr_gid,
		.uu_ruid = (int)cr->cr_ruid,
		.uu_rgid = (int)cr->cr_rgid,
	};
	host_tls.old_opens++;
	minor = fn.svr3(&qp->rq, *dev, flag, sflag);
	host_tls.old_opens--;
	err = u->uu_error > 0 && u->uu_error < 4096 ? u->uu_error : ENXIO;
	*u = was;
	if (minor == OPENFAIL)
		return err;
	if (sflag == CLONEOPEN)
		*dev = makedevice(getmajor(*dev), (minor_t)minor);
	return 0;
}
