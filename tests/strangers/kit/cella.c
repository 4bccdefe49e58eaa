/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * cella, and cellb for another system, are in one group: never is one thread
 * in one of them and another one in the other.  Each is shown the other's
 * notebook, and looks whether it is being written in.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/device.h>
#include <sys/strconf.h>

#include "cell.h"

static struct module_info minfo = { 61, "cella", 0, INFPSZ, 4096, 1024 };
static struct qinit rinit = {
	cell_rput, NULL, cell_open, cell_close, NULL, &minfo, NULL
};
static struct qinit winit = { cell_wput, NULL, NULL, NULL, NULL, &minfo, NULL };
static struct streamtab tab = { &rinit, &winit, NULL, NULL };

int
cella_config(int cmd, struct uio *uiop)
{
	strconf_t conf = {
		"cella", &tab, STR_NEW_OPEN | STR_MPSAFE, 0, SQLVL_ELSEWHERE,
		"cell"
	};

	return cmd == CFG_INIT ? str_install(STR_LOAD_MOD, &conf) : EINVAL;
}
