/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */


/*
 * Common definitions of sockdir.c and sockname.c.
 */
#ifndef HOST_USER_SOCKDIR_H
#define HOST_USER_SOCKDIR_H

#include "user_impl.h"

#define HOST_SOCKDIR_DIGITS 13 /* 64 bits in base 32 */

/* sockname.c: a number as a name; the address of a name in @dir, or of the bare
 * name if @dir is empty; returns the address's length. */
void host_sockdir_text(uint64_t v, char text[HOST_SOCKDIR_DIGITS + 1]);
uint32_t host_sockdir_address(struct sockaddr_un *sun, const char *dir,
	const char *name);

/*
 * sockdir.c: the open directory, or -1 if the program has closed it; open and
 * check it, or, with @again and if it was closed, open it again; does the path
 * still lead to the checked directory?
 */
int host_sockdir_fd(void);
int host_sockdir_ready(bool again);
bool host_sockdir_visible(void);

#endif
