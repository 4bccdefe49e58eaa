/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* The wires of a domain and their file (wirefile.h), as strwire(8) uses them. */
#ifndef TOOLS_WIREKEPT_H
#define TOOLS_WIREKEPT_H

#include <sys/ipwire.h>

#include "tool.h"

/* An ioctl of the driver ip, by I_STR; -1 and errno, as ioctl(2). */
int wire_command(int fd, int cmd, void *arg, size_t len);
/* A new stream of the driver.  Does not return if that fails. */
int wire_open(const struct tool *t);
/* Make the wire @conf, linked persistently.  0, or an errno. */
int wire_add(const struct ipw_conf *conf);

/*
 * kept_look - before the wires are shown: those of a former domain of this name
 * are made again.  An error is a warning.
 * kept_begin - the same before a change, which ends with kept_end(): meanwhile no
 * other strwire makes one.  Does not return if the file cannot be used.
 * kept_end - keep the wires as they are now in the domain.  Return: TOOL_OK, or
 * TOOL_FAILED after a message.
 * kept_forget - forget the wire @name that could not be made again; false: there
 * is none.
 */
void kept_look(const struct tool *t);
void kept_begin(const struct tool *t);
int kept_end(const struct tool *t);
bool kept_forget(const char *name);

#endif
