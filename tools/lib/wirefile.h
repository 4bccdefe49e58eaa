/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The file of a domain's wires.
 *
 * Purpose.  The wires of a domain are in its memory, which is lost if all its
 * processes are killed.  Their configuration is kept in a file beside that of
 * the domain, with the suffix STR_WIRES_SUFFIX.  The next domain of that name
 * makes the wires again: the first strwire(8) that runs there does it, or
 * streamsd, which is started with the domain.  A domain without a name has no
 * such file.
 *
 * Life.  strwire opens and locks the file, makes a change in the domain, and
 * replaces the file by one that describes all wires.  The file is removed with
 * the last wire.  The file says to which domain it belongs; if that is a former
 * one, the wires must be made again (wirefile_restore()) before any change.
 *
 * Trust.  The file is refused if it is not a regular file of this user that
 * only the user can use, or if its length or checksum is wrong.
 *
 * Failure.  The file is replaced by rename(2), so it is never incomplete.  The
 * lock ends with its process.  A wire that cannot be made again stays in the
 * file, and the next use of the file tries again.
 */
#ifndef TOOLS_WIREFILE_H
#define TOOLS_WIREFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ipwire.h>

#define WIREFILE_MAX 64u /* entries; more than a domain has wires */
#define WIREFILE_PATH 832u

struct wirefile_entry {
	struct ipw_conf conf;	  /* as IPW_ADD gets it; of `lo' only its name */
	struct ipw_impair impair; /* without counters; all zero: none */
	uint32_t pending;	  /* the wire could not be made again yet */
	uint32_t zero;
};

/* Which domain: the inode of its file, and the time when that was made. */
struct wirefile_domain {
	uint64_t dev, ino, born;
};

struct wirefile {
	int fd; /* -1: nothing is kept */
	char path[WIREFILE_PATH];
	struct wirefile_domain domain; /* the present one */
	bool old; /* there are entries to be made again */
	unsigned int n;
	struct wirefile_entry entry[WIREFILE_MAX];
};

/*
 * wirefile_open - open, lock and read the file
 * @domain: path of the domain's file; "" or "fd:N": it has none
 * @flags: WIREFILE_MAKE: make the file if there is none; WIREFILE_NOWAIT: do
 * not wait for another process that has locked it
 * Return: 0: to be closed; or an errno, nothing is open then: ENOENT there is no
 * file; EBADMSG it is damaged; EACCES it is not a file of this user's alone;
 * EWOULDBLOCK.  f->path is set in any case; "": nothing is kept.
 */
#define WIREFILE_MAKE 1u
#define WIREFILE_NOWAIT 2u
int wirefile_open(struct wirefile *f, const char *domain, unsigned int flags);

/*
 * wirefile_restore - make the wires of a former domain, and their impairments,
 * in this one
 * @add: the command IPW_ADD, and the persistent link; @impair: IPW_IMPAIR.
 * Both return 0 or an errno; a wire that exists (EEXIST) is only impaired.
 * Return: 0, or the first error; entries that failed are pending.  The caller
 * saves the file then.
 */
struct wirefile_ops {
	int (*add)(const struct ipw_conf *conf, void *arg);
	int (*impair)(const struct ipw_impair *im, void *arg);
	void *arg;
};
int wirefile_restore(struct wirefile *f, const struct wirefile_ops *ops);

/* Replace the file by one with the entries of @f, and remove it if there are
 * none.  0, or an errno: the file is unchanged. */
int wirefile_save(struct wirefile *f);
void wirefile_close(struct wirefile *f);

/* Has it any effect? */
bool wirefile_impaired(const struct ipw_impair *im);
/* The entry with that name, or NULL. */
struct wirefile_entry *wirefile_find(struct wirefile *f, const char *name);

#endif
