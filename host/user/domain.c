/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The domain: its file, its mapping, its life.
 *
 * Memory.  The whole cap is mapped once, at the same address in every
 * member, over a sparse file.  Memory is given to it with fallocate() before
 * use, so that a lack of it is an error of one call and never a SIGBUS.
 *
 * Life of a named domain.  Members hold a shared flock() on the file.  Its
 * creator fills an unnamed file, locks it, and only then gives it its name,
 * so nobody ever sees half a domain.  To attach is: open, lock, and see that
 * the name still means the same inode, else begin again.  A domain is never
 * reinitialised in place.  Who gets the lock exclusively is alone; when also
 * no carrier recorded in the domain exists any more, nobody can come back
 * to it: at attach it is then left over from a crash, and a new file is
 * renamed over it; at exit it is unlinked.
 *
 * A lock belongs to an open file, which lives as long as a descriptor or a
 * mapping of it does, and which fork shares; hence a child that attaches
 * opens the file again and maps it anew over the inherited mapping.
 *
 * Private domains are a memfd that children inherit, at a number told by
 * the environment.  They need no lock: they end with their last holder.
 *
 * Trust.  A file is taken only if it is regular, of this user, closed to all
 * others, and says what a domain of this ABI says.
 */
#include <linux/memfd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "user_impl.h"

#define CAP_DEFAULT (1ull << 30)
#define CAP_MIN (16ull << 20)
#define CAP_MAX (4ull << 30) /* what str_domain.slab[] describes */
#define COMMIT_STEP (4ull << 20)
#define ATTACH_TRIES 2000    /* of 1 ms */

_Static_assert(sizeof(struct str_domain) <= HOST_SHARED_OFF,
	"room for the host's own page in the header");

struct str_domain *host_domain;

static char attach_error[256];
static char domain_path[768];
static uint64_t domain_dev, domain_ino;
static bool domain_named; /* has a lock, and a name to be unlinked */
static char domain_dir[512]; /* its directory, if that is ours as well */

/* The second is for TSAN and MSAN, which map elsewhere themselves. */
static const uint64_t candidates[] = {
#if !defined(__SANITIZE_THREAD__)
	0x6a0000000000ull,
#endif
	0x7e9000000000ull,
	0x3800000000ull, /* 39-bit address spaces */
};

const char *
host_attach_error(void)
{
	return attach_error;
}

const char *
host_domain_path(void)
{
	return host_domain != NULL ? domain_path : "";
}

int
host_fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(attach_error, sizeof attach_error, fmt, ap);
	va_end(ap);
	return err;
}

static struct host_shared *
shared(struct str_domain *d)
{
	return (struct host_shared *)(void *)((char *)d + HOST_SHARED_OFF);
}

static int
fd_stat(int fd, struct stat *st)
{
	return -(int)sys_call4(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

static int
lock_op(int fd, int op)
{
	return -(int)sys_call2(SYS_flock, fd, op | LOCK_NB);
}

static void
nap(void)
{
	struct timespec ts = { 0, 1000000 };

	(void)sys_call2(SYS_nanosleep, &ts, NULL);
}

/* ------------------------------------------------------------- mapping */

static void
unmap(struct str_domain *d, uint64_t cap)
{
	host_code_fini((uint64_t)(uintptr_t)d);
	(void)sys_call2(SYS_munmap, d, cap);
}

/* Map @fd and the code window at @base; EEXIST when something is there. */
static int
map_at(int fd, uint64_t base, uint64_t cap)
{
	long r = sys_call6(SYS_mmap, base, cap, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, fd, 0);
	struct stat st;
	int err;

	if (r < 0 && r > -4096)
		return (int)-r;
	if ((uint64_t)r != base) {
		/* a kernel that takes the address for a hint */
		(void)sys_call2(SYS_munmap, r, cap);
		return EEXIST;
	}
	(void)sys_call3(SYS_madvise, base, cap, MADV_DONTDUMP);
	if (fd_stat(fd, &st) == 0) {
		domain_dev = st.st_dev;
		domain_ino = st.st_ino;
	}
	err = host_code_init(base);
	if (err != 0)
		(void)sys_call2(SYS_munmap, base, cap);
	return err;
}

static uint64_t
cap_wanted(void)
{
	const char *env = getenv("STREAMS_SIZE");
	uint64_t cap = CAP_DEFAULT;
	char *end;

	if (env != NULL && env[0] >= '0' && env[0] <= '9') {
		cap = strtoull(env, &end, 0);
		switch (*end) {
		case 'k': case 'K': cap <<= 10; break;
		case 'm': case 'M': cap <<= 20; break;
		case 'g': case 'G': cap <<= 30; break;
		default: break;
		}
	}
	cap = STR_MAX(cap, CAP_MIN);
	cap = STR_MIN(cap, CAP_MAX);
	return STR_ROUNDUP(cap, (uint64_t)STR_SLAB_SIZE);
}

/* Fill the new file @fd and leave it mapped as host_domain. */
static int
domain_build(int fd)
{
	uint64_t cap = cap_wanted();
	struct str_domain *d = NULL;
	struct timespec ts;
	int err = EEXIST;

	err = -(int)sys_call2(SYS_ftruncate, fd, cap);
	if (err == 0)
		err = -(int)sys_call4(SYS_fallocate, fd, 0, 0, STR_HDR_SIZE);
	if (err != 0)
		return host_fail(ENOSR, "no memory for a domain: %s",
			strerror(err));
	for (size_t i = 0; i < STR_ARRAY_LEN(candidates) && d == NULL; i++) {
		err = map_at(fd, candidates[i], cap);
		if (err == 0)
			d = (struct str_domain *)(uintptr_t)candidates[i];
	}
	if (d == NULL)
		return host_fail(err == EEXIST ? EPROTO : ENOSR,
			"cannot map a domain of %llu MiB: %s",
			(unsigned long long)cap >> 20, strerror(err));
	d->abi = STR_ABI;
	d->hdr_size = sizeof *d;
	d->base = (uint64_t)(uintptr_t)d;
	d->cap = cap;
	d->uid = geteuid();
	str_store(&d->committed, STR_HDR_SIZE);
	shared(d)->pidns = host_ns_inode("pid");
	shared(d)->netns = host_ns_inode("net");
	(void)clock_gettime(CLOCK_REALTIME, &ts);
	str_store(&shared(d)->created, (uint64_t)ts.tv_sec);
	host_domain = d;
	str_store(&d->asym, 1u);
	if (!host_fence_init())
		str_store(&d->asym, 0u);
	err = str_region_init(d);
	if (err == 0)
		str_store_rel(&d->ready, 1u);
	if (err != 0) {
		host_domain = NULL;
		unmap(d, cap);
		return host_fail(err, "the executive cannot use the domain");
	}
	__atomic_store_n(&d->magic, STR_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

/* What the head of a domain's file says, checked. */
static int
head_check(int fd, const char *what, uint64_t *ret_base, uint64_t *ret_cap)
{
	struct {
		uint64_t magic;
		uint32_t abi, hdr_size;
		uint64_t base, cap;
		uint32_t uid;
	} h;
	struct stat st;
	bool known = false;
	int err = fd_stat(fd, &st);

	if (err != 0)
		return host_fail(EINVAL, "%s: %s", what, strerror(err));
	if (!S_ISREG(st.st_mode))
		return host_fail(EPROTO, "%s is not a domain", what);
	if (st.st_uid != geteuid())
		return host_fail(EACCES, "%s belongs to user %u", what,
			(unsigned)st.st_uid);
	if ((sys_fcntl(fd, F_GETFL, 0) & O_ACCMODE) != O_RDWR)
		return host_fail(EACCES, "%s is not open for writing", what);
	memset(&h, 0, sizeof h);
	if (sys_call4(SYS_pread64, fd, &h, sizeof h, 0) < 40 ||
	    h.magic != STR_MAGIC)
		return host_fail(EPROTO, "%s is not a domain", what);
	if (h.abi != STR_ABI || h.hdr_size != sizeof(struct str_domain))
		return host_fail(EPROTO, "%s is a domain of ABI %u, this "
			"library has %u", what, h.abi, STR_ABI);
	for (size_t i = 0; i < STR_ARRAY_LEN(candidates); i++)
		known = known || candidates[i] == h.base;
	if (!known || h.cap < CAP_MIN || h.cap > CAP_MAX ||
	    h.cap % STR_SLAB_SIZE != 0 || (uint64_t)st.st_size != h.cap)
		return host_fail(EPROTO, "%s is a domain of a size or at an "
			"address that this program cannot have", what);
	*ret_base = h.base;
	*ret_cap = h.cap;
	return 0;
}

/* Map the checked file @fd as host_domain. */
static int
domain_map(int fd, const char *what)
{
	struct str_domain *d;
	uint64_t base, cap;
	int err = head_check(fd, what, &base, &cap);

	if (err != 0)
		return err;
	err = map_at(fd, base, cap);
	if (err != 0)
		return host_fail(err == EEXIST ? EPROTO : ENOSR,
			"%s cannot be mapped at %#llx: %s", what,
			(unsigned long long)base, strerror(err));
	d = (struct str_domain *)(uintptr_t)base;
	host_domain = d;
	err = host_domain_check_ns();
	if (err != 0) {
		host_domain = NULL;
		unmap(d, cap);
	}
	return err;
}

/* Attach to the mapped domain. */
static int
domain_join(void)
{
	struct str_domain *d = host_domain;
	int err;

	if (!host_fence_init()) {
		str_store(&d->asym, 0u);
		str_fence_full();
	}
	err = str_region_attach(d);
	if (err == 0)
		return 0;
	host_domain = NULL;
	unmap(d, d->cap);
	return host_fail(err, "the executive refuses the domain");
}

int
host_domain_check_ns(void)
{
	struct host_shared *s = shared(host_domain);

	if (s->pidns != host_ns_inode("pid") ||
	    s->netns != host_ns_inode("net"))
		return host_fail(EPROTO,
			"the domain is of another pid or net namespace");
	return 0;
}

/* -------------------------------------------------------- named domains */

static bool
carrier_exists(const struct host_carrier *c, void *arg)
{
	return host_carrier_alive(c);
}

/* Does @path name the inode of @fd? */
static bool
still_named(int fd, const char *path)
{
	struct stat a, b;

	return fd_stat(fd, &a) == 0 &&
		sys_call4(SYS_newfstatat, AT_FDCWD, path, &b,
			AT_SYMLINK_NOFOLLOW) == 0 &&
		a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * A new file for a domain called @path, without a name of its own where the
 * file system can do that, so that a crash leaves nothing; else called @tmp.
 */
static int
file_make(const char *path, const char *tmp, bool *ret_nameless)
{
	char dir[sizeof domain_path];
	char *slash;
	int fd;

	strcpy(dir, path);
	slash = strrchr(dir, '/');
	slash[slash == dir] = '\0';
	fd = sys_openat(AT_FDCWD, dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	*ret_nameless = fd >= 0;
	if (fd >= 0 || fd == -ENOENT)
		return fd;
	/* left by a dead process of the same pid: nobody else has the name */
	(void)sys_call3(SYS_unlinkat, AT_FDCWD, tmp, 0);
	return sys_openat(AT_FDCWD, tmp,
		O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static int
file_link(int fd, const char *tmp, bool nameless, const char *path)
{
	char self[32];

	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	return -(int)sys_call5(SYS_linkat, AT_FDCWD, nameless ? self : tmp,
		AT_FDCWD, path, nameless ? AT_SYMLINK_FOLLOW : 0);
}

/* Give the finished file its name, @over an old one of that name. */
static int
file_name(int fd, const char *tmp, bool nameless, const char *path, bool over)
{
	int err;

	if (!over)
		return file_link(fd, tmp, nameless, path);
	(void)(nameless && sys_call3(SYS_unlinkat, AT_FDCWD, tmp, 0));
	err = nameless ? file_link(fd, tmp, true, tmp) : 0;
	if (err == 0)
		err = -(int)sys_call5(SYS_renameat2, AT_FDCWD, tmp, AT_FDCWD,
			path, 0);
	return err;
}

/*
 * Make a domain and call it @path: a new name, or @over an old file.
 * EAGAIN: somebody was faster.
 */
static int
named_create(const char *path, bool over)
{
	char tmp[sizeof domain_path + 32];
	struct str_domain *d;
	bool nameless;
	int fd, err;

	snprintf(tmp, sizeof tmp, "%s.%d", path, sys_getpid());
	fd = file_make(path, tmp, &nameless);
	if (fd == -ENOENT)
		return EAGAIN;
	if (fd < 0)
		return host_fail(fd == -ENOSPC ? ENOSR : EACCES,
			"cannot make %s: %s", path, strerror(-fd));
	fd = host_fd_hide(HOST_FD_DOMAIN, fd, true);
	err = lock_op(fd, LOCK_SH);
	if (err != 0)
		err = host_fail(EACCES, "%s: no locks: %s", path,
			strerror(err));
	if (err == 0)
		err = domain_build(fd);
	if (err == 0) {
		d = host_domain;
		err = file_name(fd, tmp, nameless, path, over);
		if (err != 0) {
			host_domain = NULL;
			unmap(d, d->cap);
		}
		if (err == EEXIST || err == ENOENT)
			err = EAGAIN;
		else if (err != 0)
			err = host_fail(EACCES, "cannot make %s: %s", path,
				strerror(err));
	}
	if (!nameless)
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, tmp, 0);
	if (err != 0)
		host_fd_drop(HOST_FD_DOMAIN);
	return err;
}

/* The lock on @fd is ours alone: start over if nobody can come back. */
static int
named_alone(int fd, const char *path)
{
	struct str_domain *d;
	bool needed;
	int err = domain_map(fd, path);

	if (err != 0)
		return err;
	d = host_domain;
	needed = host_others_alive() ||
		str_region_carriers(d, carrier_exists, NULL);
	if (needed) {
		/* not atomic; the caller looks at the name again */
		if (lock_op(fd, LOCK_SH) == 0 && still_named(fd, path)) {
			(void)host_fd_hide(HOST_FD_DOMAIN, fd, true);
			return domain_join();
		}
		err = EAGAIN;
	}
	host_domain = NULL;
	unmap(d, d->cap);
	if (err == 0)
		err = named_create(path, true);
	(void)sys_close(fd);
	return err;
}

/* One attempt; EAGAIN: begin again. */
static int
named_try(const struct host_name *n)
{
	struct stat st;
	int fd, err;

	fd = sys_openat(AT_FDCWD, n->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW |
		O_NONBLOCK, 0);
	if (fd == -ENOENT) {
		err = host_name_mkdir(n);
		return err != 0 ? err : named_create(n->path, false);
	}
	if (fd < 0)
		return host_fail(EACCES, "%s: %s", n->path, strerror(-fd));
	err = fd_stat(fd, &st);
	if (err == 0 && (!S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
			(st.st_mode & 077) != 0))
		err = host_fail(EACCES, "%s is not a file of mine with mode "
			"0600", n->path);
	if (err == 0 && lock_op(fd, LOCK_EX) == 0) {
		if (still_named(fd, n->path)) {
			uint64_t base, cap;

			err = head_check(fd, n->path, &base, &cap);
			if (err == 0)
				return named_alone(fd, n->path);
		} else {
			err = EAGAIN;
		}
	} else if (err == 0) {
		/* EWOULDBLOCK: somebody decides about its life just now */
		err = lock_op(fd, LOCK_SH) != 0 ||
			!still_named(fd, n->path) ? EAGAIN : 0;
		if (err == 0)
			err = domain_map(fd, n->path);
		if (err == 0) {
			(void)host_fd_hide(HOST_FD_DOMAIN, fd, true);
			err = domain_join();
			if (err != 0)
				host_fd_drop(HOST_FD_DOMAIN);
			return err;
		}
	}
	(void)sys_close(fd);
	return err;
}

static int
named_attach(const struct host_name *n)
{
	int err = EAGAIN;

	if (n->dir[0] != '\0') {
		/* a directory of somebody else's is not even looked into */
		err = host_name_mkdir(n);
		if (err != 0)
			return err;
	}
	for (int i = 0; i < ATTACH_TRIES; i++) {
		err = named_try(n);
		if (err != EAGAIN)
			break;
		nap();
	}
	if (err == EAGAIN)
		return host_fail(EBUSY, "%s is locked by somebody who does "
			"not go on", n->path);
	if (err == 0) {
		strcpy(domain_path, n->path);
		strcpy(domain_dir, n->dir);
		domain_named = true;
	}
	return err;
}

/* The last member to leave takes the name away. */
static void
domain_exit(void)
{
	int fd = host_fd_get(HOST_FD_DOMAIN);
	uint64_t old;

	if (host_domain == NULL || (host_priv_page != NULL &&
				       host_priv_page->identity == 0))
		return; /* a child that never made a call */
	host_sig_block(&old);
	host_slot_exit();
	/* A lock that cannot be raised is lost, and so it shall be: of several
	 * that leave at once, the last to come here finds itself alone. */
	if (domain_named && still_named(fd, domain_path) &&
	    lock_op(fd, LOCK_EX) == 0 && still_named(fd, domain_path) &&
	    !host_others_alive() &&
	    !str_region_carriers(host_domain, carrier_exists, NULL)) {
		(void)sys_call3(SYS_unlinkat, AT_FDCWD, domain_path, 0);
		if (domain_dir[0] != '\0')
			(void)sys_call3(SYS_unlinkat, AT_FDCWD, domain_dir,
				AT_REMOVEDIR);
	}
	if (domain_named)
		(void)lock_op(fd, LOCK_UN);
	host_sig_restore(&old);
}

/* In the child of a fork: a lock of its own. */
void
host_domain_forked(void)
{
	struct str_domain *d = host_domain;
	char path[32];
	struct stat st;
	int fd, old = host_fd_get(HOST_FD_DOMAIN);

	if (!domain_named || old < 0 || fd_stat(old, &st) != 0 ||
	    st.st_ino != domain_ino || st.st_dev != domain_dev)
		return;
	snprintf(path, sizeof path, "/proc/self/fd/%d", old);
	fd = sys_openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return; /* no /proc: keep sharing the parent's lock */
	for (int i = 0; i < ATTACH_TRIES && lock_op(fd, LOCK_SH) != 0; i++)
		nap();
	fd = host_fd_hide(HOST_FD_DOMAIN, fd, true);
	(void)sys_close(old);
	/* the same pages at the same place, so nobody notices a failure */
	if (sys_call6(SYS_mmap, d, d->cap, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0) == (long)d)
		(void)sys_call3(SYS_madvise, d, d->cap, MADV_DONTDUMP);
}

/* ------------------------------------------------------ private domains */

static int
private_create(void)
{
	char env[24];
	int err;
	int fd = (int)sys_call2(SYS_memfd_create, "streams", 0);

	if (fd < 0)
		return host_fail(ENOSR, "no descriptor for a domain: %s",
			strerror(-fd));
	(void)sys_call2(SYS_fchmod, fd, 0600);
	fd = host_fd_hide(HOST_FD_DOMAIN, fd, false);
	err = domain_build(fd);
	if (err != 0) {
		host_fd_drop(HOST_FD_DOMAIN);
		return err;
	}
	snprintf(env, sizeof env, "fd:%d", fd);
	(void)setenv("STREAMS_DOMAIN", env, 1);
	strcpy(domain_path, env);
	return 0;
}

static int
fd_attach(int fd)
{
	char what[24];
	int err;

	snprintf(what, sizeof what, "fd:%d", fd);
	err = domain_map(fd, what);
	if (err != 0)
		return err;
	/* children are told this number: it stays */
	host_fd_note(HOST_FD_DOMAIN, fd);
	err = domain_join();
	if (err == 0)
		strcpy(domain_path, what);
	return err;
}

/* --------------------------------------------------------------- public */

int
host_domain_attach(void)
{
	static bool hooked;
	struct host_name n;
	int err = host_name_resolve(&n);

	if (err != 0)
		return err;
	host_copy_init();
	host_fault_init();
	host_clock_init();
	if (n.private)
		err = private_create();
	else if (n.fd >= 0)
		err = fd_attach(n.fd);
	else
		err = named_attach(&n);
	if (err != 0)
		return err;
	attach_error[0] = '\0';
	if (!hooked) {
		hooked = true;
		(void)atexit(domain_exit);
	}
	return 0;
}

int
host_commit(uint64_t off, uint64_t len)
{
	struct str_domain *d = host_domain;
	uint64_t have = str_load_acq(&d->committed);
	uint64_t end = off + len;
	uint64_t want = STR_MIN(STR_ROUNDUP(end, COMMIT_STEP), d->cap);
	int fd = host_fd_get(HOST_FD_DOMAIN);
	struct stat st;
	long err;

	if (end <= have)
		return 0;
	if (len > d->cap || end > d->cap)
		return ENOSR;
	if (fd >= 0 && fd_stat(fd, &st) == 0 && st.st_ino == domain_ino &&
	    st.st_dev == domain_dev) {
		err = sys_call4(SYS_fallocate, fd, 0, have, want - have);
		if (err != 0 && want != end) {
			want = end;
			err = sys_call4(SYS_fallocate, fd, 0, have,
				want - have);
		}
	} else {
		/* the program closed it: fault the pages in instead */
		want = end;
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
		err = sys_call3(SYS_madvise, (char *)d + have, want - have,
			MADV_POPULATE_WRITE);
	}
	if (err != 0)
		return ENOSR;
	/* only ever up: what lies below is backed whoever stores last */
	while (have < want && !str_cas(&d->committed, have, want))
		have = str_load_acq(&d->committed);
	return 0;
}
