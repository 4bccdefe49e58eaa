/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * I_LIST, with room for modules that are pushed meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#include "mods.h"

void
mods_input(const struct tool *t, int argc, char **argv)
{
	int fd;

	if (optind == argc)
		return;
	if (argc - optind > 1)
		tool_usage(t, "too many arguments");
	fd = open(argv[optind], O_RDWR | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 ||
		(fd != STDIN_FILENO && close(fd) != 0))
		tool_die(t, "%s", argv[optind]);
}

void
mods_get(const struct tool *t, int fd, struct mods *ret)
{
	struct str_list list;
	int n;

	switch (isastream(fd)) {
	case 1:
		break;
	case 0:
		errno = ENOSTR;
		/* fallthrough */
	default:
		tool_die(t, "standard input");
	}
	n = ioctl(fd, I_LIST, NULL);
	if (n < 0)
		tool_die(t, "I_LIST");
	n += 8;
	ret->v = calloc((size_t)n, sizeof(*ret->v));
	if (ret->v == NULL)
		tool_die(t, "%d modules", n);
	list.sl_nmods = n;
	list.sl_modlist = ret->v;
	if (ioctl(fd, I_LIST, &list) < 0)
		tool_die(t, "I_LIST");
	for (ret->n = 0; ret->n < n && ret->v[ret->n].l_name[0] != '\0';)
		ret->n++;
	ret->npush = ioctl(fd, I_GET_PUSHCNT, &n);
	if (ret->npush < 0)
		ret->npush = ret->n;
}

void
mods_free(struct mods *m)
{
	free(m->v);
	memset(m, 0, sizeof(*m));
}
