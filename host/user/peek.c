/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reading the domain that this process could join.
 *
 * A process that only opens files must find out whether a Stream is attached to
 * one of them, and a process with descriptors of another process whether one of
 * these is a Stream.  It reads the domain's file for that.  It takes no lock on
 * the file, maps nothing and has no slot: it is not a member, and no member
 * waits for it.  The data may change meanwhile, and the only checks are that
 * the file belongs to this user and is a domain of this version.  A process
 * that joins checks everything.
 *
 * Name.  Finding the file's name costs 50 us, most of it in /proc/self/ns, and
 * reading the file 2 us.  So the name is kept for a second, unless the process
 * changes its user meanwhile.
 *
 * Locks. `lock' protects the stored name.  A thread that cannot get it, for
 * instance in a signal handler, finds the name itself.
 */
#include <string.h>
#include <sys/stat.h>

#include "user_impl.h"

#define KEEP_NS 1000000000u

static struct {
	str_a32 lock;
	int found;	  /* [lock] is there a domain to read? */
	int fd;		  /* [lock] a private one's, or -1 */
	uid_t uid;	  /* [lock] its user */
	uint64_t until;	  /* [lock] */
	char path[sizeof ((struct host_name *)0)->path]; /* [lock] */
} kept;

static bool
name(struct host_name *n)
{
	return host_name_resolve(n) == 0 && !n->private;
}

/* The domain's file; *ret_own: the caller closes it. -1: there is none. */
static int
file(bool *ret_own)
{
	uint64_t now = host_now();
	struct host_name n;
	int fd;

	*ret_own = true;
	if (!str_cas(&kept.lock, 0u, 1u)) {
		if (!name(&n))
			return -1;
		*ret_own = n.fd < 0;
		return n.fd >= 0 ? n.fd : sys_openat(AT_FDCWD, n.path,
			O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	}
	if (now >= kept.until || kept.uid != geteuid()) {
		kept.uid = geteuid();
		kept.found = name(&n);
		kept.fd = n.fd;
		strcpy(kept.path, n.path);
		kept.until = now + KEEP_NS;
	}
	fd = kept.fd;
	*ret_own = fd < 0;
	if (!kept.found)
		fd = -1;
	else if (fd < 0)
		fd = sys_openat(AT_FDCWD, kept.path,
			O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	str_store_rel(&kept.lock, 0u);
	return fd;
}

/* The beginning of struct str_domain. */
struct head {
	uint64_t magic;
	uint32_t abi, hdr_size;
	uint64_t base;
};
_Static_assert(offsetof(struct head, base) == offsetof(struct str_domain, base),
	"the same head");

static bool
is_domain(struct host_file *df)
{
	struct head h;
	struct stat st;

	if (host_domain_stat(df->fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    !host_uid_mine(st.st_uid) || !df->read(df, 0, &h, sizeof h) ||
	    h.magic != STR_MAGIC || h.abi != STR_ABI ||
	    h.hdr_size != sizeof(struct str_domain))
		return false;
	df->base = h.base;
	return true;
}

bool
host_peek(bool (*fn)(const struct host_file *df, void *arg), void *arg)
{
	struct host_file df = { .read = host_file_read };
	bool own, yes;

	df.fd = file(&own);
	if (df.fd < 0)
		return false;
	yes = is_domain(&df) && fn(&df, arg);
	if (own)
		(void)sys_close(df.fd);
	return yes;
}
