/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What a program will be after exec: a member, into which the dynamic linker
 * loads this library, or a program outside.
 *
 * A program outside for which the variable LD_PRELOAD would do harm (another
 * word size, another C library, a sanitizer) gets an environment without this
 * library.
 *
 * The area keeps hashes of the files that have been found to become members, by
 * device, inode, size and time of change.  So a file is read once, and not again
 * for each process of a loop.  A file that has changed a short time ago is not
 * entered: it might change again without another time.
 */
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "run.h"
#include "sys.h"

#define SCRIPTS 5
#define PHDRS 64
#define DYNS 512
#define RUN_VALUE 64 /* bytes of the variable, at most */
#define LIBRARY "libstrrun.so"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define INTERPRETER "ld-linux-x86-64.so"
#else
#define MACHINE EM_AARCH64
#define INTERPRETER "ld-linux-aarch64.so"
#endif

#define AGE 2 /* seconds since a file has changed, at least */

/* Not on the stack: threads have small ones. */
struct work {
	char path[PATH_MAX];
	ElfW(Dyn) dyn[DYNS];
	ElfW(Phdr) ph[PHDRS];
};

static void *
get_memory(size_t size)
{
	long p = sys_call6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

static bool
read_at(int fd, void *buf, size_t len, uint64_t off)
{
	return sys_call4(SYS_pread64, fd, buf, len, off) == (long)len;
}

static uint64_t
offset_of(const ElfW(Phdr) *ph, unsigned n, uint64_t at)
{
	for (unsigned i = 0; i < n; i++)
		if (ph[i].p_type == PT_LOAD && at >= ph[i].p_vaddr &&
			at - ph[i].p_vaddr < ph[i].p_filesz)
			return at - ph[i].p_vaddr + ph[i].p_offset;
	return 0;
}

/* Libraries that do not bear another one before them, or make Streams. */
static bool
is_foreign(const char *name)
{
	static const char *const no[] = {"libasan.", "libtsan.", "libhwasan.",
		"liblsan.", "libclang_rt.", "libstreams.", "libstreams-",
		"libxti.", "libxnet.", "libxnsl."};

	for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
		if (strncmp(name, no[i], strlen(no[i])) == 0)
			return true;
	return false;
}

static bool
needs_foreign(int fd, struct work *w, unsigned nph, const ElfW(Phdr) *dynamic)
{
	const ElfW(Phdr) *ph = w->ph;
	ElfW(Dyn) *dyn = w->dyn;
	size_t n = dynamic->p_filesz / sizeof *dyn;
	uint64_t strtab = 0;

	if (n > DYNS)
		n = DYNS;
	if (!read_at(fd, dyn, n * sizeof *dyn, dynamic->p_offset))
		return true;
	for (size_t i = 0; i < n && dyn[i].d_tag != DT_NULL; i++)
		if (dyn[i].d_tag == DT_STRTAB)
			strtab = offset_of(ph, nph, dyn[i].d_un.d_ptr);
	for (size_t i = 0; i < n && dyn[i].d_tag != DT_NULL; i++) {
		char name[24] = "";

		if (strtab != 0 && dyn[i].d_tag == DT_NEEDED &&
			sys_call4(SYS_pread64, fd, name, sizeof name - 1,
				strtab + dyn[i].d_un.d_val) > 0 &&
			is_foreign(name))
			return true;
	}
	return false;
}

/* Does the kernel start it in a secure mode, in which nothing is preloaded? */
static bool
is_secure(int fd)
{
	struct stat st;

	return sys_call4(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) != 0 ||
		(st.st_mode & S_ISUID) != 0 ||
		(st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) ||
		sys_call4(SYS_fgetxattr, fd, "security.capability", NULL, 0) >
			0;
}

static enum run_image
elf_image(int fd, struct work *w)
{
	const ElfW(Phdr) *dynamic = NULL;
	bool interpreted = false, ours = false;
	ElfW(Phdr) *ph = w->ph;
	ElfW(Ehdr) eh;
	char name[64];

	if (!read_at(fd, &eh, sizeof eh, 0) ||
		memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
		eh.e_ident[EI_CLASS] != ELFCLASS64 ||
		eh.e_machine != MACHINE || eh.e_phnum > PHDRS ||
		eh.e_phentsize != sizeof *ph ||
		!read_at(fd, ph, eh.e_phnum * sizeof *ph, eh.e_phoff))
		return RUN_IMAGE_FOREIGN;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		if (ph[i].p_type == PT_DYNAMIC)
			dynamic = &ph[i];
		if (ph[i].p_type != PT_INTERP)
			continue;
		interpreted = true;
		memset(name, 0, sizeof name);
		ours = ph[i].p_filesz < sizeof name &&
			read_at(fd, name, ph[i].p_filesz, ph[i].p_offset) &&
			strstr(name, INTERPRETER) != NULL;
	}
	if (!interpreted)
		return RUN_IMAGE_STATIC;
	if (!ours || dynamic == NULL ||
		needs_foreign(fd, w, eh.e_phnum, dynamic))
		return RUN_IMAGE_FOREIGN;
	return is_secure(fd) ? RUN_IMAGE_STATIC : RUN_IMAGE_MEMBER;
}

/* The hash of a file with the status @st; never 0. */
static uint64_t
hash_of(const struct stat *st)
{
	const uint64_t v[] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino,
		(uint64_t)st->st_size, (uint64_t)st->st_ctim.tv_sec,
		(uint64_t)st->st_ctim.tv_nsec};
	uint64_t h = 0;

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		h = (h ^ v[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return h | 1;
}

static uint64_t *
place_of(uint64_t hash, uint64_t *members)
{
	return &members[hash >> 8 & (RUN_MEMBERS - 1)];
}

static bool
is_known(const char *upath, uint64_t *members)
{
	struct stat st;
	uint64_t hash;

	if (members == NULL ||
		sys_call4(SYS_newfstatat, AT_FDCWD, upath, &st, 0) != 0 ||
		!S_ISREG(st.st_mode))
		return false;
	hash = hash_of(&st);
	return __atomic_load_n(place_of(hash, members), __ATOMIC_RELAXED) ==
		hash;
}

static void
note(int fd, uint64_t *members)
{
	struct timespec now;
	struct stat st;
	uint64_t hash;

	if (members == NULL || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
		sys_call4(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) != 0 ||
		!S_ISREG(st.st_mode) || now.tv_sec - st.st_ctim.tv_sec < AGE)
		return;
	hash = hash_of(&st);
	__atomic_store_n(place_of(hash, members), hash, __ATOMIC_RELAXED);
}

/* The interpreter of the script @fd. */
static bool
interpreter(int fd, char *path)
{
	long n = sys_call4(SYS_pread64, fd, path, PATH_MAX - 1, 0);
	char *p = path + 2, *end;

	if (n < 3 || path[0] != '#' || path[1] != '!')
		return false;
	path[n] = '\0';
	p += strspn(p, " \t");
	end = p + strcspn(p, " \t\n");
	*end = '\0';
	memmove(path, p, (size_t)(end - p) + 1);
	return true;
}

static const char *
variable(char *const *envp, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; envp != NULL && envp[i] != NULL; i++)
		if (strncmp(envp[i], name, n) == 0 && envp[i][n] == '=')
			return envp[i] + n + 1;
	return NULL;
}

/* The part of @list that names this library; *ret_len. */
static const char *
our_part(const char *list, size_t *ret_len)
{
	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, " :");
		const char *at = strstr(list, LIBRARY);

		if (at != NULL && at < list + n) {
			*ret_len = n;
			return list;
		}
		list += n + (list[n] != '\0');
	}
	return NULL;
}

static char run_value[RUN_VALUE] STR_HOT_DATA;

void
run_value_set(const char *text)
{
	strncpy(run_value, text, sizeof run_value - 1);
}

/* Will it find the area of this process? */
static bool
is_joined(char *const *envp)
{
	const char *value = variable(envp, RUN_VAR);

	return value != NULL && strcmp(value, run_value) == 0;
}

/* Can the dynamic linker find this library by @envp? */
static bool
is_preloaded(char *const *envp)
{
	char path[PATH_MAX];
	size_t n;
	const char *part = our_part(variable(envp, "LD_PRELOAD"), &n);

	if (part == NULL || n >= sizeof path || variable(envp, RUN_VAR) == NULL)
		return false;
	memcpy(path, part, n);
	path[n] = '\0';
	return strchr(path, '/') == NULL ||
		sys_call3(SYS_faccessat, AT_FDCWD, path, R_OK) == 0;
}

enum run_image
run_will_join(char *const *envp)
{
	return !is_preloaded(envp) ? RUN_IMAGE_FOREIGN :
		is_joined(envp) ? RUN_IMAGE_MEMBER : RUN_IMAGE_STATIC;
}

static enum run_image
image_of(const char *upath, char *const *envp, struct work *w,
	uint64_t *members)
{
	static const int how = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
	enum run_image image;
	long fd = sys_openat(AT_FDCWD, upath, how, 0);

	if (fd == -ENOENT || fd == -ENOTDIR)
		return RUN_IMAGE_NONE;
	for (int i = 0; i < SCRIPTS && fd >= 0; i++) {
		if (!interpreter((int)fd, w->path)) {
			image = elf_image((int)fd, w);
			if (image == RUN_IMAGE_MEMBER)
				note((int)fd, members);
			(void)sys_close((int)fd);
			return image == RUN_IMAGE_MEMBER ? run_will_join(envp) :
				image;
		}
		(void)sys_close((int)fd);
		fd = sys_openat(AT_FDCWD, w->path, how, 0);
	}
	if (fd >= 0)
		(void)sys_close((int)fd);
	return RUN_IMAGE_FOREIGN;
}

enum run_image
run_image(const char *upath, char *const *envp, uint64_t *members)
{
	enum run_image image;
	struct work *w;

	if (is_known(upath, members))
		return run_will_join(envp);
	w = get_memory(sizeof *w);
	if (w == NULL)
		return RUN_IMAGE_FOREIGN;
	image = image_of(upath, envp, w, members);
	(void)sys_call2(SYS_munmap, w, sizeof *w);
	return image;
}

const char *
run_search(const char *name, char *path)
{
	const char *dirs = getenv("PATH");

	if (strchr(name, '/') != NULL)
		return name;
	if (dirs == NULL)
		dirs = "/bin:/usr/bin";
	for (;;) {
		size_t n = strcspn(dirs, ":");

		if (n + strlen(name) + 2 <= PATH_MAX) {
			memcpy(path, dirs, n);
			path[n] = '/';
			strcpy(n != 0 ? path + n + 1 : path, name);
			if (sys_call3(SYS_faccessat, AT_FDCWD, path, X_OK) == 0)
				return path;
		}
		if (dirs[n] == '\0')
			return name;
		dirs += n + 1;
	}
}

char *const *
run_env_without(char *const *envp, struct run_env *e)
{
	const char *list = variable(envp, "LD_PRELOAD");
	size_t n = 0, k = 0, len, before;
	const char *part = our_part(list, &len);
	char *preload;

	e->v = NULL;
	if (part == NULL)
		return envp;
	while (envp[n] != NULL)
		n++;
	e->size = (n + 1) * sizeof *e->v + strlen(list) + 16;
	e->v = get_memory(e->size);
	if (e->v == NULL)
		return envp;
	preload = (char *)(e->v + n + 1);
	strcpy(preload, "LD_PRELOAD=");
	before = (size_t)(part - list);
	memcpy(preload + 11, list, before);
	strcpy(preload + 11 + before, part + len + (part[len] != '\0'));
	/* a separator at the end is left of what preceded us */
	for (size_t i = 0; i < n; i++) {
		if (strncmp(envp[i], "LD_PRELOAD=", 11) != 0)
			e->v[k++] = envp[i];
		else if (preload[11] != '\0')
			e->v[k++] = preload;
	}
	e->v[k] = NULL;
	return e->v;
}

void
run_env_free(struct run_env *e)
{
	if (e->v != NULL)
		(void)sys_call2(SYS_munmap, e->v, e->size);
}
