/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* cellb - see cella.c; this one is for HP-UX. */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strenv.h>

#include "cell.h"

static struct module_info minfo = { 62, "cellb", 0, INFPSZ, 4096, 1024 };
static struct qinit rinit = {
	cell_rput, NULL, cell_open, cell_close, NULL, &minfo, NULL
};
static struct qinit winit = { cell_wput, NULL, NULL, NULL, NULL, &minfo, NULL };
static streams_info_t info = {
	"cellb", -1, { &rinit, &winit, NULL, NULL },
	STR_IS_MODULE | STR_SYSV4_OPEN | MGR_IS_MP, SQLVL_ELSEWHERE, "cell"
};

int
cellb_install(void)
{
	return str_install(&info);
}
