/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The device namespace: which path names mean a STREAMS device or FIFO.
 * streams.conf(5) is the user's view of it.
 */
#ifndef STREAMS_NAMES_H
#define STREAMS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/stropts.h>

#include <str/annot.h>

enum {
	NAME_NONE,  /* not ours: the kernel's open decides */
	NAME_DEV,   /* drv, minor: an ordinary open */
	NAME_CLONE, /* drv: an unused minor of it */
	NAME_FIFO,  /* drv "fifo", minor; or drv "": the FIFO at that path */
	NAME_PIPE,  /* drv "pipe": half a pipe, see I_PIPE */
};

struct streams_name {
	int kind;
	char drv[FMNAMESZ + 1];
	uint32_t minor;
};

/* ------------------------------------------------------ configuration */

#define NAMES_MAXTEXT 32768u /* bytes of a configuration file */
#define NAMES_MAXRULE 512u
#define NAMES_MAXMINOR 0x3ffffu /* greatest minor number (L_MAXMIN) */
#define NAMES_CLONE 0xffffffffu	/* minor: any unused one */
#define NAMES_VARY 0xfffffffeu	/* minor: what stands in the place of % */

struct names_rule {
	const char *path; /* in text[], NUL-terminated */
	uint32_t minor;
	bool fifo;	  /* path is a pattern of FIFOs; no driver */
	char drv[FMNAMESZ + 1];
};

struct names_conf {
	uint32_t nrule;
	uint32_t nfifo; /* of these, patterns of FIFOs */
	uint32_t ntext; /* bytes of text[] used */
	struct names_rule rule[NAMES_MAXRULE];
	char text[NAMES_MAXTEXT + 1024];
};

typedef void names_error(void *arg, unsigned line, const char *what);

/*
 * names_parse - add the lines of a configuration file to @c.
 * A line that cannot be understood adds nothing; @err, if not NULL, hears
 * of it.  Return: how many such lines there were.
 */
int names_parse(struct names_conf *c, const char *text, size_t len,
	names_error *err, void *arg);
/* names_fifos - add patterns separated by colons.  Return: bad ones. */
int names_fifos(struct names_conf *c, const char *list);
/* names_lookup - what @path, absolute, means by @c alone. */
void names_lookup(const struct names_conf *c, const char *path,
	struct streams_name *ret);
/* names_match - does @path match @pattern?  `*' `?' `[]' leave out `/'. */
bool names_match(const char *pattern, const char *path);

/*
 * names_read - read the configuration file @path, if no other user can have
 * chosen it: host/user/trust.c
 * @how: HOST_TRUST_CHOSEN or 0
 * @why: what is wrong with it, in words
 *
 * Return: its length in bytes, at most @size; or minus an errno.
 * names_config is the same; it says what is wrong with STREAMS_VERBOSE=1.
 */
#define NAMES_WHY 400
long names_read(const char *path, unsigned how, char *buf, size_t size,
	char why[NAMES_WHY]);
long names_config(const char *path, unsigned how, char *buf, size_t size);
/* The configuration that is built in, share/streams.conf. */
extern const char names_builtin[] STR_HIDDEN;

/* ----------------------------------------------------------- for open(2) */

/*
 * streams_name_resolve - what does @path mean?
 *
 * Says NAME_NONE without any system call when @path does not begin with
 * "/dev/" and no pattern of FIFOs is configured (the first call in a process
 * reads the configuration).  A device node, directory, link or socket that
 * exists at @path is never covered up; a path that only matches a pattern of
 * FIFOs must be a FIFO.
 *
 * @path is read as it is: call it on a copy, or after the kernel has found
 * that it can be read.  Safe in signal handlers; leaves errno alone.
 *
 * Return: 0, or ENAMETOOLONG.
 */
int streams_name_resolve(const char *path, struct streams_name *ret);

/* streams_name_fifos - is any pattern of FIFOs configured? */
bool streams_name_fifos(void);

#endif
