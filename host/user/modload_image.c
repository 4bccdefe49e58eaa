/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Images: foreign modules in the code window.
 *
 * Objects.  An image has a place in the code window, the same in every member,
 * and its bytes in the arena, relocated for that place once, by the process
 * that loads it.  To *map* it, a process copies the read-only part into private
 * memory at that place (shared memory may be mounted noexec), and maps the
 * pages of the arena with the writable part there too.  The file is not needed
 * again.
 *
 * Life.  The loader prepares the image in private; an entry in the domain's
 * table publishes it, as new.  Another thread that needs that name waits until
 * the loader has finished.  Images are never removed, because there are
 * pointers to them everywhere.  Members map the existing images when they
 * attach, and later images when they first use them: the window is reserved
 * without access, the address of the fault tells the image, and the instruction
 * is repeated.  A child of fork has its parent's mappings; a new program after
 * exec attaches again.
 *
 * Threads.  Each piece is mapped at its place in one step, complete, so that a
 * thread which runs the image while another maps it faults, waits and then
 * finds it.
 *
 * Crash.  A loader that dies before it publishes the image leaks an interval of
 * addresses, and after str_region_keep() also the image's memory.  If it dies
 * later, the image stays new, and the next loader marks it dead.
 *
 * Locks. `priv->image' protects mapping in this process.  Signals are blocked,
 * so no handler waits for the thread that it interrupted.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <ucontext.h>

#include "modload.h"

#define FILE_MAX (16u << 20)
#define STACK_OF_WHY 256
#define SLOT_LIBC 3968u

_Static_assert(sizeof(struct host_images) <= 4096 - 512, "room in the header");
_Static_assert(sizeof(struct host_image) <= 4096 - 64, "room in a chunk");

typedef void (*proc_t)(void);

/* Functions that modules may call besides the DDI: those that compilers call,
 * and similar ones.  By a function of ours each, which the dynamic linker binds
 * when it is called first: the address of the C library's would be looked up at
 * the start of each program. */
#define LIBC(ret, name, params, args) \
	static ret libc_##name params { return name args; }

LIBC(void *, memchr, (const void *p, int c, size_t n), (p, c, n))
LIBC(int, memcmp, (const void *p, const void *q, size_t n), (p, q, n))
LIBC(void *, memcpy, (void *d, const void *p, size_t n), (d, p, n))
LIBC(void *, memmove, (void *d, const void *p, size_t n), (d, p, n))
LIBC(void *, memset, (void *d, int c, size_t n), (d, c, n))
LIBC(char *, strcat, (char *d, const char *s), (d, s))
LIBC(char *, strchr, (const char *s, int c), (s, c))
LIBC(int, strcmp, (const char *s, const char *t), (s, t))
LIBC(char *, strcpy, (char *d, const char *s), (d, s))
LIBC(size_t, strlen, (const char *s), (s))
LIBC(char *, strncat, (char *d, const char *s, size_t n), (d, s, n))
LIBC(int, strncmp, (const char *s, const char *t, size_t n), (s, t, n))
LIBC(char *, strncpy, (char *d, const char *s, size_t n), (d, s, n))
LIBC(size_t, strnlen, (const char *s, size_t n), (s, n))
LIBC(char *, strrchr, (const char *s, int c), (s, c))
LIBC(char *, strstr, (const char *s, const char *t), (s, t))
#ifdef __GLIBC__ /* called by <sys/sysmacros.h> unless inlined */
LIBC(unsigned, gnu_dev_major, (dev_t dev), (dev))
LIBC(unsigned, gnu_dev_minor, (dev_t dev), (dev))
LIBC(dev_t, gnu_dev_makedev, (unsigned major, unsigned minor), (major, minor))
#endif

static const struct {
	const char *name;
	proc_t fn;
} libc[] = {
#define ROW(name) {#name, (proc_t)libc_##name}
	ROW(memchr), ROW(memcmp), ROW(memcpy), ROW(memmove), ROW(memset),
	ROW(strcat), ROW(strchr), ROW(strcmp), ROW(strcpy), ROW(strlen),
	ROW(strncat), ROW(strncmp), ROW(strncpy), ROW(strnlen), ROW(strrchr),
	ROW(strstr),
#ifdef __GLIBC__
	ROW(gnu_dev_major), ROW(gnu_dev_minor), ROW(gnu_dev_makedev),
#endif
#undef ROW
};

/* The images that this process and its children have mapped. */
static str_a32 mapped[NIMAGE];

static struct host_images *
images(void)
{
	return (struct host_images *)(void *)((char *)host_domain +
		HOST_IMAGES_OFF);
}

static uint64_t
window(void)
{
	return (uint64_t)(uintptr_t)host_domain - HOST_CODE_GAP;
}

static uint64_t
page_size(void)
{
	static uint64_t size;

	if (size == 0)
		size = (uint64_t)sysconf(_SC_PAGESIZE);
	return size;
}

/* Image number @image, or NULL; numbers begin with 1. */
struct host_image *
host_image_get(uint32_t image)
{
	if (image == 0 || image > NIMAGE)
		return NULL;
	return (struct host_image *)(uintptr_t)
		str_load_acq(&images()->image[image - 1]);
}

/* The image that address @a is in, or 0. */
static uint32_t
image_of(uint64_t a)
{
	struct host_image *im;

	if (host_domain == NULL || a - window() - IMAGES_BEGIN >=
		IMAGES_END - IMAGES_BEGIN)
		return 0;
	for (uint32_t i = 1; (im = host_image_get(i)) != NULL; i++)
		if (a - im->base < im->span)
			return i;
	return 0;
}

/* ------------------------------------------------------------------- map */

static uint64_t
chunk_room(void)
{
	return STR_REGION_MAX - page_size();
}

/*
 * Byte @off of the image, in the arena.  *ret_len: bytes from there to the
 * end of its chunk, or @len if that is less.
 */
static unsigned char *
chunk_at(const struct host_image *im, uint64_t off, uint64_t len,
	uint64_t *ret_len)
{
	uint64_t in = off % chunk_room();

	*ret_len = STR_MIN(len, chunk_room() - in);
	return (unsigned char *)(uintptr_t)(im->chunk[off / chunk_room()] +
		page_size() + in);
}

static int
move(uint64_t from, uint64_t size, uint64_t len, uint64_t to)
{
	long r = sys_call5(SYS_mremap, from, size, len,
		MREMAP_MAYMOVE | MREMAP_FIXED, to);

	return r < 0 && r > -4096 ? (int)-r : 0;
}

/*
 * Map the arena's own pages a second time: mremap() with size 0 keeps the first
 * mapping.
 */
static int
map_shared(const struct host_image *im, const struct elf_seg *s)
{
	uint64_t n;
	int err = 0;

	for (uint64_t off = s->at; off < s->at + s->len && err == 0; off += n) {
		unsigned char *p = chunk_at(im, off, s->at + s->len - off, &n);

		err = move((uint64_t)(uintptr_t)p, 0, n, im->base + off);
	}
	if (err == 0 && im->relro.len != 0 && im->relro.at >= s->at &&
	    im->relro.at < s->at + s->len)
		err = -(int)sys_call3(SYS_mprotect, im->base + im->relro.at,
			im->relro.len, PROT_READ);
	return err;
}

static int
map_private(const struct host_image *im, const struct elf_seg *s)
{
	int prot = PROT_READ | ((s->prot & ELF_X) != 0 ? PROT_EXEC : 0);
	unsigned char *tmp;
	uint64_t n;
	long r;
	int err;

	r = sys_call6(SYS_mmap, 0, s->len, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r < 0 && r > -4096)
		return (int)-r;
	tmp = (unsigned char *)r;
	for (uint64_t off = 0; off < s->len; off += n) {
		unsigned char *p = chunk_at(im, s->at + off, s->len - off, &n);

		memcpy(tmp + off, p, n);
	}
	__builtin___clear_cache((char *)tmp, (char *)tmp + s->len);
	err = -(int)sys_call3(SYS_mprotect, tmp, s->len, prot);
	if (err == 0)
		err = move((uint64_t)r, s->len, s->len, im->base + s->at);
	if (err != 0)
		(void)sys_call2(SYS_munmap, tmp, s->len);
	else
		__builtin___clear_cache((char *)(uintptr_t)(im->base + s->at),
			(char *)(uintptr_t)(im->base + s->at + s->len));
	return err;
}

/* Data first, so that mapped code finds it. */
static int
map_pieces(const struct host_image *im)
{
	int err = 0;

	for (uint32_t i = 0; i < im->nseg && err == 0; i++)
		if ((im->seg[i].prot & ELF_W) != 0)
			err = map_shared(im, &im->seg[i]);
	for (uint32_t i = 0; i < im->nseg && err == 0; i++)
		if ((im->seg[i].prot & (ELF_W | ELF_X)) == 0)
			err = map_private(im, &im->seg[i]);
	for (uint32_t i = 0; i < im->nseg && err == 0; i++)
		if ((im->seg[i].prot & ELF_X) != 0)
			err = map_private(im, &im->seg[i]);
	return err;
}

static bool slots_filled; /* [image] */

/* Fill the slots of what images call, before the first one.  Locks: [image] */
static int
slots_fill(void)
{
	int err = 0;

	if (!slots_filled)
		err = host_code_all();
	if (slots_filled || err != 0)
		return err;
	str_ddi_attach();
	for (unsigned i = 0; i < STR_ARRAY_LEN(libc); i++)
		(void)host_code(SLOT_LIBC + i, libc[i].fn);
	slots_filled = true;
	return 0;
}

int
host_module_map(uint32_t image)
{
	struct host_image *im = host_image_get(image);
	struct host_priv *pv;
	uint64_t old;
	int err = 0;

	if (im == NULL)
		return EPROTO;
	if (str_load_acq(&mapped[image - 1]) != 0)
		return 0;
	if (im->ddi != str_ddi_hash())
		return EPROTO; /* made for another build of the library */
	pv = host_priv();
	if (pv == NULL)
		return ENOMEM;
	host_sig_block(&old);
	host_plock_lock(&pv->image);
	if (str_load(&mapped[image - 1]) == 0) {
		err = slots_fill();
		if (err == 0)
			err = map_pieces(im);
		if (err == 0)
			str_store_rel(&mapped[image - 1], 1u);
	}
	host_plock_unlock(&pv->image);
	host_sig_restore(&old);
	return err;
}

/* Map all existing images, at attach. */
int
host_images_attach(void)
{
	struct host_image *im;
	int err;

	slots_filled = false; /* it may be another domain's window */
	for (uint32_t i = 1; (im = host_image_get(i)) != NULL; i++) {
		err = host_module_map(i);
		if (err == EPROTO)
			return host_fail(EPROTO, "module %s was loaded by "
				"another build of this library", im->name);
		if (err != 0)
			return host_fail(ENOSR, "module %s cannot be mapped: "
				"%s", im->name, strerror(err));
	}
	return 0;
}

/* The domain and its window have been unmapped. */
void
host_images_detach(void)
{
	memset((void *)(uintptr_t)mapped, 0, sizeof mapped);
}

/*
 * In a forked child that has mapped the domain again: map the images' data
 * again too, because the old mappings would keep the parent's lock on the
 * domain's file.
 */
void
host_images_forked(void)
{
	struct host_image *im;

	for (uint32_t i = 1; (im = host_image_get(i)) != NULL; i++)
		for (uint32_t k = 0; str_load(&mapped[i - 1]) != 0 &&
			k < im->nseg; k++)
			if ((im->seg[k].prot & ELF_W) != 0)
				(void)map_shared(im, &im->seg[k]);
}

/*
 * host_images_fault - a fault at @addr, by the instruction at
 * @ip: was it caused by an image that is not mapped?
 * Return: true: repeat the instruction.
 *
 * Another thread may have mapped it since the fault; so with a mapped image the
 * instruction is repeated once, and the same fault again is a real one.
 */
bool
host_images_fault(const void *addr, uintptr_t ip)
{
	static STR_TLS uintptr_t last_ip, last_addr;
	uint32_t image = image_of((uint64_t)(uintptr_t)addr);
	char text[128];
	bool again;
	int err;

	if (image == 0)
		return false;
	if (str_load_acq(&mapped[image - 1]) != 0) {
		again = last_ip != ip || last_addr != (uintptr_t)addr;
		last_ip = ip;
		last_addr = (uintptr_t)addr;
		return again;
	}
	err = host_module_map(image);
	if (err == 0)
		return true;
	snprintf(text, sizeof text, "module %s cannot be mapped here (%s), so "
		"this process cannot go on", host_image_get(image)->name,
		err == EPROTO ? "another build of the library loaded it" :
				strerror(err));
	host_panic(text, __FILE__, __LINE__);
}

/* ------------------------------------------------------------------ load */

static uint64_t
libc_find(const char *name)
{
	for (unsigned i = 0; i < STR_ARRAY_LEN(libc); i++)
		if (strcmp(libc[i].name, name) == 0)
			return (uint64_t)(uintptr_t)host_code(SLOT_LIBC + i,
				libc[i].fn);
	return 0;
}

static uint64_t
find(const char *name)
{
	uint64_t a = libc_find(name);

	return a != 0 ? a : str_ddi_find(name);
}

/* Private memory, zeroed; NULL. */
static unsigned char *
pages_alloc(uint64_t len)
{
	long r = sys_call6(SYS_mmap, 0, len, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return r < 0 && r > -4096 ? NULL : (unsigned char *)r;
}

static void
pages_free(unsigned char *p, uint64_t len)
{
	if (p != NULL)
		(void)sys_call2(SYS_munmap, p, len);
}

/* Allocate a place in the window; 0: there is none. */
static uint64_t
place_alloc(uint64_t len)
{
	struct host_images *t = images();
	uint64_t at = str_load(&t->next), from;

	do {
		from = at != 0 ? at : IMAGES_BEGIN;
		if (len > IMAGES_END - from)
			return 0;
	} while (!str_cas_see(&t->next, &at, from + len));
	return window() + from;
}

/* Free the place, if no later one is in use. */
static void
place_free(uint64_t at, uint64_t len)
{
	(void)str_cas(&images()->next, at + len - window(), at - window());
}

/* Between images lie pages without access. */
static uint64_t
place_size(uint64_t span)
{
	return STR_ROUNDUP(span, (uint64_t)ELF_ALIGN_MAX) + ELF_ALIGN_MAX;
}

static void
image_free(struct host_image *im)
{
	uint32_t n = im->nchunk;

	while (n-- > 0)
		str_region_free((void *)(uintptr_t)im->chunk[n]);
}

/* Chunks for @span bytes; the image is in the first of them.  NULL. */
static struct host_image *
image_alloc(uint64_t span)
{
	struct host_image *im = NULL;

	for (uint64_t off = 0; off < span; off += chunk_room()) {
		uint64_t n = STR_MIN(span - off, chunk_room());
		char *p = str_region_alloc(n + page_size());

		if (p == NULL) {
			if (im != NULL)
				image_free(im);
			return NULL;
		}
		if (im == NULL) {
			im = (struct host_image *)(void *)(p + 64);
			memset(im, 0, sizeof *im);
		}
		im->chunk[im->nchunk++] = (uint64_t)(uintptr_t)p;
	}
	return im;
}

struct load {
	const char *name;
	char path[512];
	char why[STACK_OF_WHY];
	unsigned char *file;
	uint64_t size;
	unsigned char *img;
	struct elf elf;
	struct host_image *im;
};

static int
file_read(struct load *l, int fd)
{
	struct stat st;
	uint64_t have = 0;
	long n;

	if (host_domain_stat(fd, &st) != 0 || st.st_size <= 0 ||
	    st.st_size > (off_t)FILE_MAX) {
		snprintf(l->why, sizeof l->why, "it has %lld bytes",
			(long long)st.st_size);
		return ENOEXEC;
	}
	l->size = (uint64_t)st.st_size;
	l->file = pages_alloc(l->size);
	if (l->file == NULL)
		return ENOSR;
	while (have < l->size) {
		n = sys_read(fd, l->file + have, l->size - have);
		if (n == -EINTR)
			continue;
		if (n <= 0) {
			snprintf(l->why, sizeof l->why, "it cannot be read");
			return ENOEXEC;
		}
		have += (uint64_t)n;
	}
	return 0;
}

static const void *
img_at(void *arg, uint64_t off, uint64_t len)
{
	struct load *l = arg;

	return off <= l->elf.span && len <= l->elf.span - off ?
		l->img + off : NULL;
}

/* Has the image, in private memory, a symbol of l->name and @suffix? */
static bool
offers(struct load *l, const char *suffix)
{
	char symbol[32];

	snprintf(symbol, sizeof symbol, "%.16s%s", l->name, suffix);
	return elf_symbol(&l->elf.names, symbol, img_at, l) != 0;
}

/* Has it an init procedure or tables? */
static bool
begins(struct load *l)
{
	static const char *const suffix[] = {"info", "init", "start", "_config",
		"_install", "_load", "_configure"};

	for (unsigned i = 0; i < STR_ARRAY_LEN(suffix); i++)
		if (offers(l, suffix[i]))
			return true;
	return elf_symbol(&l->elf.names, "strmod__init", img_at, l) != 0;
}

static void
image_fill(struct load *l, uint64_t base)
{
	struct host_image *im = l->im;
	uint64_t n;

	im->state = IMAGE_NEW;
	im->owner = host_self_tag();
	im->base = base;
	im->span = l->elf.span;
	im->ddi = str_ddi_hash();
	snprintf(im->name, sizeof im->name, "%s", l->name);
	snprintf(im->path, sizeof im->path, "%s", l->path);
	memcpy(im->seg, l->elf.seg, sizeof im->seg);
	im->relro = l->elf.relro;
	im->names = l->elf.names;
	im->nseg = l->elf.nseg;
	for (uint64_t off = 0; off < im->span; off += n) {
		unsigned char *p = chunk_at(im, off, im->span - off, &n);

		memcpy(p, l->img + off, n);
	}
}

static bool
same_name(const struct host_image *im, const char *name)
{
	return strcmp(im->name, name) == 0 &&
		str_load_acq(&im->state) != IMAGE_DEAD;
}

/* Enter the image in the table.  EEXIST: another of that name is there. */
static int
publish(struct load *l, uint32_t *ret_image)
{
	struct host_images *t = images();

	for (uint32_t i = 0; i < l->im->nchunk; i++)
		str_region_keep((void *)(uintptr_t)l->im->chunk[i]);
	STR_CRASH_POINT("module:kept");
	for (uint32_t i = 1; i <= NIMAGE; i++) {
		struct host_image *im = host_image_get(i);

		if (im == NULL && str_cas(&t->image[i - 1], 0ull,
				(uint64_t)(uintptr_t)l->im)) {
			STR_CRASH_POINT("module:published");
			*ret_image = i;
			return 0;
		}
		if (im == NULL)
			im = host_image_get(i);
		if (same_name(im, l->name))
			return EEXIST;
	}
	snprintf(l->why, sizeof l->why, "there are %u modules already",
		NIMAGE);
	return ENOSR;
}

/* Relocate the object for a place in the window, and publish it. */
static int
place(struct load *l, uint32_t *ret_image)
{
	uint64_t len = place_size(l->elf.span);
	uint64_t base = place_alloc(len);
	int err;

	if (base == 0) {
		snprintf(l->why, sizeof l->why, "the code window is full");
		return ENOSR;
	}
	err = elf_build(&l->elf, l->img, base, find);
	if (err != 0) {
		snprintf(l->why, sizeof l->why, "%s", l->elf.why);
	} else if (!begins(l)) {
		snprintf(l->why, sizeof l->why, "it has neither %sinfo nor "
			"%sinit nor, with <sys/modctl.h>, _init nor, for other "
			"systems, %s_config, _install, _load or _configure",
			l->name, l->name, l->name);
		err = ENOEXEC;
	}
	if (err == 0) {
		l->im = image_alloc(l->elf.span);
		err = l->im == NULL ? ENOSR : 0;
	}
	if (err == 0) {
		image_fill(l, base);
		err = publish(l, ret_image);
		if (err != 0)
			image_free(l->im);
	}
	if (err != 0)
		place_free(base, len);
	return err;
}

static int
load(struct load *l, uint32_t *ret_image)
{
	int fd, err;

	err = host_module_find(l->name, &fd, l->path, sizeof l->path, l->why,
		sizeof l->why);
	if (err != 0)
		return err;
	err = file_read(l, fd);
	(void)sys_close(fd);
	if (err != 0)
		return err;
	err = elf_open(&l->elf, l->file, l->size, page_size());
	if (err != 0) {
		snprintf(l->why, sizeof l->why, "%s", l->elf.why);
		return err;
	}
	l->img = pages_alloc(l->elf.span);
	return l->img == NULL ? ENOSR : place(l, ret_image);
}

static bool
name_is_good(const char *name)
{
	size_t i;

	for (i = 0; name[i] != '\0'; i++)
		if (!((name[i] >= 'a' && name[i] <= 'z') ||
			    (name[i] >= 'A' && name[i] <= 'Z') ||
			    (name[i] >= '0' && name[i] <= '9') ||
			    name[i] == '_') ||
		    i == 8)
			return false;
	return i > 0;
}

/*
 * Is there an image of that name?  Waits while it is new.  Return: 0, ENOENT,
 * EINTR.
 */
static int
known(struct host_call *hc, const char *name, uint32_t *ret_image)
{
	struct host_image *im;
	uint32_t i = 1, owner;

	while ((im = host_image_get(i)) != NULL) {
		if (!same_name(im, name)) {
			i++;
			continue;
		}
		if (str_load_acq(&im->state) == IMAGE_READY) {
			*ret_image = i;
			return 0;
		}
		owner = str_load(&im->owner);
		if (owner == host_self_tag())
			return ENOEXEC; /* it loads itself during its start */
		if (host_owner_dead(owner)) {
			(void)str_cas(&im->state, IMAGE_NEW, IMAGE_DEAD);
			continue;
		}
		if (host_wait(hc, &im->state, IMAGE_NEW, 10000000u) == EINTR)
			return EINTR;
	}
	return ENOENT;
}

/* May symbols of an image be looked up? */
static bool
slots_ready(void)
{
	struct host_priv *pv = host_priv();
	uint64_t old;
	int err;

	if (pv == NULL)
		return false;
	host_sig_block(&old);
	host_plock_lock(&pv->image);
	err = slots_fill();
	host_plock_unlock(&pv->image);
	host_sig_restore(&old);
	return err == 0;
}

int
host_module_load(struct host_call *hc, const char *name, uint32_t *ret_image,
	bool *ret_new)
{
	struct load *l;
	uint32_t image = 0;
	bool fresh = false;
	int err;

	if (!name_is_good(name))
		return ENOENT;
	l = (struct load *)(void *)pages_alloc(sizeof *l);
	if (l == NULL)
		return ENOSR;
	if (!slots_ready()) {
		pages_free((unsigned char *)l, sizeof *l);
		return ENOSR;
	}
	do {
		err = known(hc, name, &image);
		if (err != ENOENT)
			break;
		l->name = name;
		err = load(l, &image);
		fresh = err == 0;
		pages_free(l->file, l->size);
		pages_free(l->img, l->elf.span);
		l->file = l->img = NULL;
	} while (err == EEXIST); /* another thread was faster */
	if (err == 0)
		err = host_module_map(image);
	if (err != 0 && fresh)
		host_module_done(image, false);
	if (err != 0 && err != ENOENT && err != EINTR) {
		char text[768];

		snprintf(text, sizeof text, "%.500s: %s", l->path,
			l->why[0] != '\0' ? l->why : strerror(err));
		host_module_log(name, text);
	}
	pages_free((unsigned char *)l, sizeof *l);
	if (err != 0)
		return err == EPROTO ? ENOEXEC : err == ENOMEM ? ENOSR : err;
	*ret_image = image;
	*ret_new = fresh;
	return 0;
}

void
host_module_done(uint32_t image, bool good)
{
	struct host_image *im = host_image_get(image);

	(void)str_cas(&im->state, IMAGE_NEW,
		good ? IMAGE_READY : IMAGE_DEAD);
	(void)host_wake(&im->state, INT_MAX);
}

/* --------------------------------------------------------------- symbols */

/* For a mapped image: only mapped bytes can be read. */
static const void *
image_at(void *arg, uint64_t off, uint64_t len)
{
	const struct host_image *im = arg;

	for (uint32_t i = 0; i < im->nseg; i++) {
		const struct elf_seg *s = &im->seg[i];

		if (off >= s->at && off - s->at <= s->len &&
		    len <= s->len - (off - s->at))
			return (const void *)(uintptr_t)(im->base + off);
	}
	return NULL;
}

void *
host_module_symbol(uint32_t image, const char *name)
{
	struct host_image *im = host_image_get(image);
	uint64_t off;

	if (im == NULL || host_module_map(image) != 0)
		return NULL;
	off = elf_symbol(&im->names, name, image_at, im);
	/* a bad table must not lead outside of the image */
	if (off == 0 || image_at(im, off, 1) == NULL)
		return NULL;
	return (void *)(uintptr_t)(im->base + off);
}

bool
host_module_calls(uint32_t image, const char *name)
{
	struct host_image *im = host_image_get(image);

	return im != NULL && host_module_map(image) == 0 &&
		elf_calls(&im->names, name, image_at, im);
}

str_a32 *
host_module_word(uint32_t image)
{
	struct host_image *im = host_image_get(image);

	STR_VERIFY(im != NULL);
	return &im->word;
}

uint32_t
host_module_of(const void *p)
{
	return image_of((uint64_t)(uintptr_t)p);
}

bool
host_code_shared(const void *fn)
{
	return host_domain != NULL &&
		(uint64_t)(uintptr_t)fn - window() < HOST_CODE_GAP;
}

void
host_module_log(const char *name, const char *text)
{
	char line[1024];

	snprintf(line, sizeof line, "streams: module %.16s: %s", name, text);
	host_log(2, line);
}
