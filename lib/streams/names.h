/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The device namespace: the path names of STREAMS devices and FIFOs.
 * streams.conf(5) describes it for users.
 */
#ifndef STREAMS_NAMES_H
#define STREAMS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/stropts.h>

#include <str/annot.h>

enum {
	NAME_NONE,  /* not ours: left to the kernel's open */
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
#define NAMES_VARY 0xfffffffeu	/* minor: the number in place of % */

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
 * A line that cannot be parsed adds nothing; @err, if not NULL, is called for
 * it.
 * Return: the number of such lines.
 */
int names_parse(struct names_conf *c, const char *text, size_t len,
	names_error *err, void *arg);
/*
 * names_fifos - add patterns separated by colons.
 * Return: number of bad ones.
 */
int names_fifos(struct names_conf *c, const char *list);
/* names_lookup - find the device of @path, absolute, in @c alone. */
void names_lookup(const struct names_conf *c, const char *path,
	struct streams_name *ret);
/* names_match - does @path match @pattern?  `*' `?' `[]' leave out `/'. */
bool names_match(const char *pattern, const char *path);

/*
 * names_read - read the configuration file @path, unless another user may have
 * chosen it: host/user/trust.c
 * @how: HOST_TRUST_CHOSEN or 0
 * @why: text with the reason of an error
 *
 * Return: its length in bytes, at most @size; or minus an errno.
 * names_config is the same, but reports errors with STREAMS_VERBOSE=1.
 */
#define NAMES_WHY 400
long names_read(const char *path, unsigned how, char *buf, size_t size,
	char why[NAMES_WHY]);
long names_config(const char *path, unsigned how, char *buf, size_t size);
/* The built-in configuration, share/streams.conf. */
extern const char names_builtin[] STR_HIDDEN;

/* ----------------------------------------------------------- for open(2) */

/*
 * streams_name_resolve - find the kind and the device of @path
 *
 * Returns NAME_NONE without a system call if @path does not begin with "/dev/"
 * and no pattern of FIFOs is configured (the first call in a process reads the
 * configuration).  An existing device node, directory, link or socket at @path
 * is never hidden; a path that only matches a pattern of FIFOs must be a FIFO.
 *
 * @path is read directly: pass a copy, or call this after the kernel has read
 * it.  Safe in signal handlers; does not change errno.
 *
 * Return: 0, or ENAMETOOLONG.
 */
int streams_name_resolve(const char *path, struct streams_name *ret);
/* The same for a device, if it is known without reading the configuration, of
 * @path, a copy, at which a file may be. */
bool streams_name_device(const char *path, struct streams_name *ret);
/* names_absent - is there nothing at @path, absolute? absent.c */
bool names_absent(const char *path);

/* streams_name_fifos - is any pattern of FIFOs configured? */
bool streams_name_fifos(void);

#endif
