/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Tables that something is wrong with: as -DWHO and -DWRONG say.  As it is,
 * there is nothing wrong with it.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/device.h>
#include <sys/strconf.h>

#ifndef WHO
#define	WHO	hostile
#endif
#ifndef WRONG
#define	WRONG	0
#endif
#define	STR1(x)	#x
#define	STR(x)	STR1(x)
#define	CAT1(a, b) a##b
#define	CAT(a, b) CAT1(a, b)

static int
nop(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

static struct module_info minfo = { 1, "hostile", 0, INFPSZ, 4096, 1024 };
static struct qinit rinit = { nop, NULL, NULL, NULL, NULL, &minfo, NULL };
static struct qinit winit = { nop, NULL, NULL, NULL, NULL, &minfo, NULL };
static struct qinit empty = { NULL, NULL, NULL, NULL, NULL, &minfo, NULL };
static struct streamtab tab = { &rinit, &winit, NULL, NULL };
static struct streamtab half = { &rinit, NULL, NULL, NULL };
static struct streamtab lame = { &empty, &empty, NULL, NULL };

int
CAT(WHO, _config)(int cmd, struct uio *uiop)
{
	static strconf_t c = { STR(WHO), &tab, STR_NEW_OPEN };
	static streams_info_t s = {
		STR(WHO), -1, { &rinit, &winit, NULL, NULL },
		STR_IS_MODULE | STR_SYSV4_OPEN, SQLVL_MODULE, ""
	};
	struct streamtab onstack;

	switch (WRONG) {
	case 1: c.sc_name = NULL; break;
	case 2: c.sc_name = "ninechars"; break;
	case 3: c.sc_name = ""; break;
	case 4: c.sc_str = NULL; break;
	case 5: c.sc_str = &half; break;
	case 6: c.sc_str = &lame; break;
	case 7: onstack = tab; c.sc_str = &onstack; break;
	case 8: c.sc_sqlevel = 77; break;
	case 9: c.sc_sqlevel = -1; break;
	case 10: c.sc_sqlevel = SQLVL_ELSEWHERE; break;
	case 11: c.sc_sqlevel = SQLVL_ELSEWHERE; c.sc_sqinfo = "much too long";
		break;
	case 12: c.sc_flags = 0x40000000; break;
	case 13: return str_install(9, &c);
	case 14: return str_install(STR_LOAD_MOD, NULL);
	case 15: return (str_install)(STR_INSTALL_INFO, NULL);
	case 16: s.inst_flags = STR_SYSV4_OPEN; return str_install(&s);
	case 17: s.inst_flags |= STR_IS_DEVICE; return str_install(&s);
	case 18: s.inst_flags |= 0x4000; return str_install(&s);
	case 19: s.inst_sync_level = SQLVL_ELSEWHERE; return str_install(&s);
	case 20: c.sc_name = "nullmod"; break;	/* it is there */
	case 21: (void)str_install(STR_LOAD_MOD, &c); return EIO;
	case 22: return 0;			/* nothing is done */
	case 23: (void)str_install(STR_LOAD_MOD, &c);
		return str_install(STR_UNLOAD_MOD, &c);
	case 24: c.sc_name = "nullmod";		/* not its own */
		return str_install(STR_UNLOAD_MOD, &c) == ENXIO ? EPERM : 0;
	case 25: return strmod_add(NODEV, &tab, NULL) == NODEV ? ENODEV : 0;
	case 26: c.sc_sqlevel = SQLVL_ELSEWHERE; c.sc_sqinfo = "\001all"; break;
	}
	return str_install(STR_LOAD_MOD, &c);
}
