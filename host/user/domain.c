/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The domain: its file, mapping and lifetime.
 *
 * Memory.  The whole cap is mapped once, at the same address in every
 * member, over a sparse file.  Memory is allocated with fallocate() before use,
 * so that a lack of memory is an error of one call and never a SIGBUS.
 *
 * Life.  Named domains: named.c.
 *
 * A private domain is a memfd that children inherit; its number is in the
 * environment.  It needs no lock: it ends with its last holder.
 *
 * Trust.  A file is accepted only if it is regular, belongs to this user, has
 * no permissions for others, and begins with the header of a domain of this ABI
 * with the right checksum.  The rest of its content is trusted if the domain
 * has a living member; a file without one is read through struct host_file, not
 * mapped.
 */
#include <linux/memfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/stat.h>
#include <time.h>

#include "sock.h"
#include "user_impl.h"

#define CAP_DEFAULT (1ull << 30)
#define CAP_MIN (16ull << 20)
#define CAP_MAX (4ull << 30) /* the size that str_domain.slab[] describes */

_Static_assert(sizeof(struct str_domain) <= HOST_SHARED_OFF,
	"room for the host's own page in the header");

STR_HOT_DATA struct str_domain *host_domain;

static char domain_path[768];
static uint64_t domain_dev, domain_ino;

/* The second is for TSAN and MSAN, which use the other ranges. */
static const uint64_t candidates[] = {
#if !defined(__SANITIZE_THREAD__)
	0x6a0000000000ull,
#endif
	0x7e9000000000ull,
	0x3800000000ull, /* 39-bit address spaces */
};

const char *
host_domain_path(void)
{
	return host_domain != NULL ? domain_path : "";
}

/* The domain, @what, of @cap bytes cannot be mapped. */
static int
fail_map(int err, const char *what, uint64_t cap, const char *advice)
{
	return host_fail(err == EEXIST ? EPROTO : ENOSR, "%s cannot be mapped, "
		"%llu MiB: %s%s", what, (unsigned long long)cap >> 20,
		strerror(err), err == ENOMEM ? advice : "");
}

int
host_domain_stat(int fd, struct stat *st)
{
	return -(int)sys_call4(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

static bool
is_domain(int fd, struct stat *st)
{
	return fd >= 0 && host_domain_stat(fd, st) == 0 &&
		st->st_ino == domain_ino && st->st_dev == domain_dev;
}

/* Is @fd a descriptor of the domain's file? */
bool
host_domain_is(int fd)
{
	struct stat st;

	return is_domain(fd, &st);
}

/* The descriptor of the domain's file; -1: the program has closed it. */
int
host_domain_fd(void)
{
	int fd = host_fd_get(HOST_FD_DOMAIN);

	return host_domain_is(fd) ? fd : -1;
}

/* ------------------------------------------------------------- mapping */

/* Unmap the domain. */
void
host_domain_unmap(void)
{
	struct str_domain *d = host_domain;
	uint64_t cap = d->cap;

	host_images_detach();
	host_domain = NULL;
	host_code_fini((uint64_t)(uintptr_t)d);
	(void)sys_call2(SYS_munmap, d, cap);
}

/* Is anything mapped between @at and @end? */
static bool
occupied(uint64_t at, uint64_t end)
{
	long r = sys_call6(SYS_mmap, at, end - at, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			MAP_FIXED_NOREPLACE, -1, 0);

	if (r < 0 && r > -4096)
		return r == -EEXIST;
	(void)sys_call2(SYS_munmap, r, end - at);
	return (uint64_t)r != at;
}

/*
 * After mlockall(MCL_FUTURE), mmap() would lock, and so allocate, a mapping
 * that is mostly holes. mremap() enlarges an unlocked part without locking the
 * added pages.
 */
#define PART STR_SLAB_SIZE

/* Map @size bytes.  Return: its address, or an errno, negative. */
static long
map_part(uint64_t at, uint64_t size, int prot, int flags, int fd)
{
	long r = sys_call6(SYS_mmap, at, size, prot,
		flags | MAP_NORESERVE | (at != 0 ? MAP_FIXED_NOREPLACE : 0),
		fd, 0);

	if (r < 0 && r > -4096)
		return r;
	if (at != 0 && (uint64_t)r != at) {
		/* for a kernel that uses the address as a hint */
		(void)sys_call2(SYS_munmap, r, size);
		return -EEXIST;
	}
	(void)sys_call2(SYS_munlock, r, size);
	return r;
}

int
host_map(uint64_t at, uint64_t size, int prot, int flags, int fd)
{
	/* without access nothing is allocated, but the limit may be too low */
	long r = map_part(at, prot == PROT_NONE ? size : PART, prot, flags, fd);
	long whole;

	if (prot == PROT_NONE && r == -EAGAIN)
		r = map_part(at, PART, prot, flags, fd);
	else if (prot == PROT_NONE && r == (long)at)
		return 0;
	if (r < 0 && r > -4096)
		return (int)-r;
	whole = sys_call4(SYS_mremap, r, PART, size, 0);
	if (whole < 0 && whole > -4096) {
		(void)sys_call2(SYS_munmap, r, PART);
		if (occupied(at + PART, at + size))
			return EEXIST;
		/* valgrind refuses to enlarge a mapping in its place */
		r = map_part(at, size, prot, flags, fd);
		if (r < 0 && r > -4096)
			return (int)-whole;
	}
	return 0;
}

/*
 * Moving a mapping takes time for each page that it may have: so only the part
 * is moved, and enlarged by the same call.
 */
void
host_map_again(void *at, uint64_t size, int fd)
{
	long r = map_part(0, PART, PROT_READ | PROT_WRITE, MAP_SHARED, fd);

	if (r < 0 && r > -4096)
		return;
	if (sys_call5(SYS_mremap, r, PART, size, MREMAP_MAYMOVE | MREMAP_FIXED,
		    at) != (long)at)
		(void)sys_call2(SYS_munmap, r, PART);
}

/* Map @fd and the code window at @base; EEXIST: something is mapped there. */
static int
map_at(int fd, uint64_t base, uint64_t cap)
{
	struct host_shared *s;
	struct stat st;
	int err = host_map(base, cap, PROT_READ | PROT_WRITE, MAP_SHARED, fd);

	if (err != 0)
		return err;
	(void)sys_call3(SYS_madvise, base, cap, HOST_DOMAIN_DUMP);
	if (host_domain_stat(fd, &st) == 0) {
		domain_dev = st.st_dev;
		domain_ino = st.st_ino;
	}
	err = host_code_init(base);
	if (err != 0) {
		(void)sys_call2(SYS_munmap, base, cap);
		return err;
	}
	s = host_shared((struct str_domain *)(uintptr_t)base);
	host_copy_init(&s->copies);
	host_clock_init(&s->ticks);
	return 0;
}

/* The bytes that @text, a number with a suffix, says; false: it says none. */
static bool
size_parse(const char *text, uint64_t *ret)
{
	unsigned long long n;
	unsigned shift = 0;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	n = strtoull(text, &end, 0);
	switch (*end) {
	case 'k': case 'K': shift = 10; break;
	case 'm': case 'M': shift = 20; break;
	case 'g': case 'G': shift = 30; break;
	default: break;
	}
	*ret = n > UINT64_MAX >> shift ? UINT64_MAX : (uint64_t)n << shift;
	return end[shift != 0] == '\0';
}

/*
 * The size of a new domain.  A value that is no size is told whether the user
 * has asked for reasons or not: the domain has another size than its user
 * believes, and no call fails.
 */
static uint64_t
cap_wanted(void)
{
	static bool told; /* [attach] */
	const char *env = getenv("STREAMS_SIZE");
	uint64_t cap = CAP_DEFAULT;
	char text[160];

	if (env != NULL && env[0] != '\0' && !size_parse(env, &cap)) {
		cap = CAP_DEFAULT;
		snprintf(text, sizeof text, "streams: STREAMS_SIZE=%.40s is not "
			"a size such as 64m or 2g: the domain has %llum", env,
			CAP_DEFAULT >> 20);
		if (!told)
			host_log(1, text);
		told = true;
	}
	cap = STR_MAX(cap, CAP_MIN);
	cap = STR_MIN(cap, CAP_MAX);
	return STR_ROUNDUP(cap, (uint64_t)STR_SLAB_SIZE);
}

/* Size of the file system of @fd; unlimited if unknown. */
static uint64_t
fs_size(int fd)
{
	struct statfs fs;

	if (sys_call2(SYS_fstatfs, fd, &fs) != 0 || fs.f_blocks == 0)
		return UINT64_MAX;
	return (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize;
}

/* Fill the new file @fd and leave it mapped as host_domain. */
int
host_domain_build(int fd)
{
	uint64_t cap = cap_wanted();
	struct str_domain *d = NULL;
	struct rlimit rl;
	struct timespec ts;
	int err;

	/* ftruncate() beyond it would raise SIGXFSZ */
	if (sys_call4(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &rl) == 0 &&
	    rl.rlim_cur < cap)
		return host_fail(EFBIG, "the limit of file sizes (ulimit -f) "
			"is %llu KiB, a new domain has %llu: raise it, or "
			"begin with a program that has none, or set "
			"STREAMS_SIZE",
			(unsigned long long)rl.rlim_cur >> 10,
			(unsigned long long)cap >> 10);
	err = -(int)sys_call2(SYS_ftruncate, fd, cap);
	if (err == 0)
		err = host_header_back(fd);
	if (err != 0)
		return host_fail(ENOSR, "no memory for a domain: %s; make "
			"room in the file system of its directory, or in the "
			"control group", strerror(err));
	for (size_t i = 0; i < STR_ARRAY_LEN(candidates) && d == NULL; i++) {
		err = map_at(fd, candidates[i], cap);
		if (err == 0)
			d = (struct str_domain *)(uintptr_t)candidates[i];
	}
	if (d == NULL)
		return fail_map(err, "a new domain", cap, "; raise the limit of "
			"address space (ulimit -v), or set STREAMS_SIZE to "
			"less");
	d->abi = STR_ABI;
	d->hdr_size = sizeof *d;
	d->base = (uint64_t)(uintptr_t)d;
	d->cap = cap;
	d->room = STR_MIN(cap, fs_size(fd));
	d->uid = geteuid();
	host_ids_write(d);
	str_store(&d->committed, STR_HDR_SIZE);
	str_store(&d->thread_room, HOST_THREADS_FIRST);
	d->pidns = host_ns_inode("pid");
	d->netns = host_ns_inode("net");
	(void)clock_gettime(CLOCK_REALTIME, &ts);
	str_store(&host_shared(d)->created, (uint64_t)ts.tv_sec);
	host_sockdir_choose(host_shared(d));
	/* with the magic, which is stored at the end */
	d->magic = STR_MAGIC;
	d->sum = str_domain_sum(d);
	d->magic = 0;
	host_domain = d;
	str_store(&d->asym, 1u);
	if (!host_fence_init())
		str_store(&d->asym, 0u);
	err = str_region_init(d);
	if (err == 0)
		err = host_images_attach();
	if (err == 0)
		str_store_rel(&d->ready, 1u);
	if (err != 0) {
		host_domain_unmap();
		return host_fail(err, "the executive cannot use the domain");
	}
	__atomic_store_n(&d->magic, STR_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

bool
host_file_read(const struct host_file *df, uint64_t off, void *to, size_t n)
{
	return off <= INT64_MAX &&
		sys_call4(SYS_pread64, df->fd, to, n, off) == (long)n;
}

/* The beginning of struct str_domain. */
struct head {
	uint64_t magic;
	uint32_t abi, hdr_size;
	uint64_t base, cap, room;
	uint32_t uid, gid;
	uint64_t permitted, userns, pidns, netns, sum;
	uint32_t ready, asym, eager, pad1;
	uint64_t committed, next_granule;
	uint32_t thread_high, proc_high;
};
_Static_assert(offsetof(struct head, sum) == offsetof(struct str_domain, sum) &&
	offsetof(struct head, proc_high) ==
		offsetof(struct str_domain, proc_high), "the same head");

/* Are the values of the variable fields possible? */
static bool
plausible(const struct head *h)
{
	return h->ready == 1 && h->committed >= STR_HDR_SIZE &&
		h->committed <= h->cap && h->thread_high <= STR_NTHREAD &&
		h->proc_high <= STR_NPROC;
}

/*
 * Is @fd the file of a domain that this program could map?  The checksum covers
 * the constant fields; no pointer in the rest is trusted.
 */
int
host_domain_check(int fd, const char *what, struct host_file *ret_file)
{
	struct host_file df = { .fd = fd, .read = host_file_read };
	struct head h;
	struct stat st;
	bool known = false;
	int err = host_domain_stat(fd, &st);

	if (err != 0)
		return host_fail(EINVAL, "%s: %s", what, strerror(err));
	if (!S_ISREG(st.st_mode))
		return host_fail(EPROTO, "%s is not a domain", what);
	if (!host_uid_mine(st.st_uid))
		return host_fail(EACCES, "%s belongs to user %u", what,
			(unsigned)st.st_uid);
	if ((sys_fcntl(fd, F_GETFL, 0) & O_ACCMODE) != O_RDWR)
		return host_fail(EACCES, "%s is not open for writing", what);
	if (!host_file_read(&df, 0, &h, sizeof h) || h.magic != STR_MAGIC)
		return host_fail(EPROTO, "%s is not a domain", what);
	if (h.abi != STR_ABI || h.hdr_size != sizeof(struct str_domain))
		return host_fail(EPROTO, "%s is a domain of ABI %u, this "
			"library has %u: programs of one version only can "
			"share it", what, h.abi, STR_ABI);
	for (size_t i = 0; i < STR_ARRAY_LEN(candidates); i++)
		known = known || candidates[i] == h.base;
	if (!known || h.cap < CAP_MIN || h.cap > CAP_MAX ||
	    h.cap % STR_SLAB_SIZE != 0 || (uint64_t)st.st_size != h.cap)
		return host_fail(EPROTO, "%s is a domain of a size or at an "
			"address that this program cannot have", what);
	if (h.sum != str_domain_sum(&h) || !plausible(&h))
		return host_fail(EPROTO, "%s is damaged: end the processes "
			"that have it open, and it is replaced", what);
	df.base = h.base;
	*ret_file = df;
	return host_ids_fit(&(struct host_ids){ h.gid, h.permitted, h.userns },
		what);
}

/* Map the checked file @fd as host_domain. */
int
host_domain_map(int fd, const char *what)
{
	struct host_file df;
	struct stat st;
	int err = host_domain_check(fd, what, &df);

	if (err == 0)
		err = host_domain_stat(fd, &st);
	if (err != 0)
		return err;
	err = map_at(fd, df.base, (uint64_t)st.st_size);
	if (err != 0)
		return fail_map(err, what, (uint64_t)st.st_size, "; raise the "
			"limit of address space (ulimit -v), or have the "
			"program that makes the domain set STREAMS_SIZE to "
			"less");
	host_domain = (struct str_domain *)(uintptr_t)df.base;
	err = host_domain_check_ns();
	if (err != 0)
		host_domain_unmap();
	return err;
}

/* Attach to the mapped domain. */
int
host_domain_join(void)
{
	struct str_domain *d = host_domain;
	int err;

	if (!host_fence_init()) {
		str_store(&d->asym, 0u);
		str_fence_full();
	}
	err = str_region_attach(d);
	if (err != 0)
		(void)host_fail(err, "the executive refuses the domain");
	else
		err = host_images_attach();
	if (err != 0)
		host_domain_unmap();
	return err;
}

int
host_domain_check_ns(void)
{
	const struct str_domain *d = host_domain;

	if (d->pidns != host_ns_inode("pid") ||
	    d->netns != host_ns_inode("net"))
		return host_fail(EPROTO,
			"the domain is of another pid or net namespace: start "
			"the program anew, there");
	return 0;
}

/*
 * Does the domain belong to the effective user?  Compares the file's owner,
 * which a user namespace maps like that of the process.
 */
bool
host_domain_mine(void)
{
	struct stat st;

	return !is_domain(host_fd_get(HOST_FD_DOMAIN), &st) ||
		st.st_uid == geteuid();
}

/* ------------------------------------------------------ private domains */

static int
private_create(void)
{
	char env[24];
	int err;
	int fd = (int)sys_call2(SYS_memfd_create, "streams", 0);

	if (fd < 0)
		return host_fail_file(-fd, "a private domain");
	(void)sys_call2(SYS_fchmod, fd, 0600);
	fd = host_fd_hide(HOST_FD_DOMAIN, fd, false);
	err = host_domain_build(fd);
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
	char what[24] = "fd:";
	int err;

	(void)host_digits(what + 3, (unsigned)fd);
	err = host_domain_map(fd, what);
	if (err != 0)
		return err;
	/* children get this number: it is not changed */
	host_fd_note(HOST_FD_DOMAIN, fd);
	err = host_domain_join();
	if (err == 0)
		strcpy(domain_path, what);
	return err;
}

/* --------------------------------------------------------------- public */

/* Not const: the compiler would use this value instead of the other definition. */
STR_WEAK bool host_exit_by_caller;

/* This process is not a member any more. */
void
host_domain_resign(void)
{
	host_spare_close();
	host_slot_exit();
	host_sock_keeper_gone();
	host_sockdir_exit();
	host_named_exit();
}

void
host_domain_exit(void)
{
	uint64_t old;

	if (host_domain == NULL || !host_known())
		return; /* a child that has never made a call */
	host_timer_end();
	host_sig_block(&old);
	host_domain_resign();
	host_sig_restore(&old);
}

static int
attach(void)
{
	static bool hooked;
	const char *env = getenv("STREAMS_EAGER");
	struct timespec ts = { 0, 0 };
	struct host_name n;
	int err = host_name_resolve(&n);
	long r;

	if (err != 0)
		return err;
	/* without it no thread would be woken */
	r = sys_call5(SYS_ppoll, NULL, 0, &ts, NULL, SYS_SIGSET);
	/* and kill(-1) would signal every process of the user */
	if (r != 0 || (r = sys_getpid()) < 0)
		return host_fail(ENOSR, "ppoll or getpid: %s; a sandbox has to "
			"permit them", strerror((int)-r));
	host_fault_init();
	if (n.private)
		err = private_create();
	else if (n.fd >= 0)
		err = fd_attach(n.fd);
	else {
		err = host_named_attach(&n);
		if (err == 0)
			strcpy(domain_path, n.path);
	}
	if (err != 0)
		return err;
	host_attached();
	host_cred_learn();
	/* for measurements: a domain that defers no work */
	if (env != NULL && strcmp(env, "1") == 0)
		str_store(&host_domain->eager, 1u);
	if (!hooked && !host_exit_by_caller) {
		hooked = true;
		(void)atexit(host_domain_exit);
	}
	return 0;
}

int
host_domain_attach(void)
{
	int err;

	host_kin_forget();
	host_ns_keep(true);
	err = attach();
	host_ns_keep(false);
	return err;
}
