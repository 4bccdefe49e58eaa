/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A small linker: makes an image that can be mapped from a shared object.
 *
 * Input.  An ELF shared object of this machine, without libraries,
 * constructors, thread-local data, indirect functions or text relocations: the
 * output of "cc -shared -nostdlib -fPIC" for a kernel module's source.  Such an
 * object is position independent except for some words of its writable
 * segments, which get their final values here, once; its text is copied
 * unchanged.
 *
 * Safety.  The file is not trusted: every offset, count and size in it is
 * compared with the size of the file or of the image before it is used,
 * additions cannot wrap, and loops are bounded by the image's size.  All writes
 * are within the image's writable segments.  A refused file gets a text with
 * the reason.
 */
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <str/annot.h>

#include "elf_image.h"

#define PHNUM_MAX 32u
#define NAME_MAX_LEN 128u

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define MACHINE_NAME "x86-64"
#define REL_RELATIVE R_X86_64_RELATIVE
#define REL_ABS R_X86_64_64
#define REL_GOT R_X86_64_GLOB_DAT
#define REL_JUMP R_X86_64_JUMP_SLOT
#define REL_IFUNC R_X86_64_IRELATIVE
#define REL_NONE R_X86_64_NONE
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define MACHINE_NAME "aarch64"
#define REL_RELATIVE R_AARCH64_RELATIVE
#define REL_ABS R_AARCH64_ABS64
#define REL_GOT R_AARCH64_GLOB_DAT
#define REL_JUMP R_AARCH64_JUMP_SLOT
#define REL_IFUNC R_AARCH64_IRELATIVE
#define REL_NONE R_AARCH64_NONE
#endif

#ifndef DT_RELRSZ
#define DT_RELRSZ 35
#define DT_RELR 36
#endif
#ifndef DF_1_PIE
#define DF_1_PIE 0x08000000
#endif

/* Values of PT_DYNAMIC. */
struct dyn {
	uint64_t str, strsz, sym, syment;
	uint64_t rela, relasz, relaent;
	uint64_t jmp, jmpsz, jmptype;
	uint64_t relr, relrsz;
	uint64_t hash, gnu_hash;
	uint64_t needed;
	bool has_str, has_sym, has_hash, has_gnu_hash, has_needed;
};

static int STR_PRINTF(2, 3)
refuse(struct elf *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(e->why, sizeof e->why, fmt, ap);
	va_end(ap);
	return ENOEXEC;
}

/* Is [@at, @at+@len) within @size? */
static bool
within(uint64_t at, uint64_t len, uint64_t size)
{
	return at <= size && len <= size - at;
}

static uint64_t
page_down(const struct elf *e, uint64_t v)
{
	return v & ~(e->page - 1);
}

static uint64_t
page_up(const struct elf *e, uint64_t v)
{
	return (v + e->page - 1) & ~(e->page - 1);
}

/* --------------------------------------------------------------- headers */

static int
check_header(struct elf *e, Elf64_Ehdr *h)
{
	if (e->size < sizeof *h)
		return refuse(e, "it is too short to be an object");
	memcpy(h, e->file, sizeof *h);
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return refuse(e, "it is not an ELF object");
	if (h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != MACHINE)
		return refuse(e, "it is for another machine than "
			MACHINE_NAME);
	if (h->e_ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
		return refuse(e, "it is of an unknown version of ELF");
	if (h->e_type == ET_REL)
		return refuse(e, "it is not linked: see pkg-config --libs "
			"fast-streams-module");
	if (h->e_type != ET_DYN)
		return refuse(e, "it is not a shared object");
	if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0 ||
	    h->e_phnum > PHNUM_MAX)
		return refuse(e, "it has %u program headers of %u bytes",
			(unsigned)h->e_phnum, (unsigned)h->e_phentsize);
	if (!within(h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr),
		    e->size))
		return refuse(e, "its program headers are beyond its end");
	e->phnum = h->e_phnum;
	return 0;
}

static int
add_load(struct elf *e, const Elf64_Phdr *p)
{
	struct elf_seg *s = &e->seg[e->nseg];
	uint64_t end;

	if (p->p_memsz == 0 && p->p_filesz == 0)
		return 0;
	if (e->nseg == ELF_NSEG)
		return refuse(e, "it has more than %u segments", ELF_NSEG);
	if (p->p_filesz > p->p_memsz ||
	    !within(p->p_offset, p->p_filesz, e->size))
		return refuse(e, "a segment is beyond its end");
	if (!within(p->p_vaddr, p->p_memsz, ELF_SPAN_MAX))
		return refuse(e, "it is too big: %u KiB at most",
			ELF_SPAN_MAX >> 10);
	if (p->p_align > ELF_ALIGN_MAX)
		return refuse(e, "it is to be aligned to %#llx",
			(unsigned long long)p->p_align);
	if ((p->p_flags & PF_W) != 0 && (p->p_flags & PF_X) != 0)
		return refuse(e, "a segment is writable and executable");
	end = p->p_vaddr + p->p_memsz;
	s->at = page_down(e, p->p_vaddr);
	s->len = page_up(e, end) - s->at;
	s->prot = p->p_flags & (PF_R | PF_W | PF_X);
	if (e->nseg > 0 && s->at < e->span)
		return refuse(e, "its segments overlap");
	if ((p->p_flags & PF_W) != 0) {
		e->write[e->nwrite].at = p->p_vaddr;
		e->write[e->nwrite++].end = end;
	}
	e->span = s->at + s->len;
	e->nseg++;
	return 0;
}

static int
add_header(struct elf *e, const Elf64_Phdr *p)
{
	switch (p->p_type) {
	case PT_LOAD:
		return add_load(e, p);
	case PT_TLS:
		return refuse(e, "it has thread-local data");
	case PT_INTERP:
		return refuse(e, "it is a program");
	case PT_GNU_STACK:
		return (p->p_flags & PF_X) == 0 ? 0 :
			refuse(e, "it wants an executable stack");
	case PT_DYNAMIC:
		if (e->dynlen != 0)
			return refuse(e, "it has two dynamic sections");
		e->dyn = p->p_vaddr;
		e->dynlen = p->p_memsz;
		return 0;
	case PT_GNU_RELRO:
		if (!within(p->p_vaddr, p->p_memsz, ELF_SPAN_MAX))
			return refuse(e, "a segment is too big");
		e->relro.at = page_down(e, p->p_vaddr);
		e->relro.len = page_down(e, p->p_vaddr + p->p_memsz) -
			e->relro.at;
		return 0;
	default:
		return 0;
	}
}

/* PT_GNU_RELRO must lie in a writable segment. */
static void
check_relro(struct elf *e)
{
	for (unsigned i = 0; i < e->nseg; i++) {
		const struct elf_seg *s = &e->seg[i];

		if ((s->prot & PF_W) != 0 && e->relro.at >= s->at &&
		    within(e->relro.at - s->at, e->relro.len, s->len))
			return;
	}
	e->relro.at = e->relro.len = 0;
}

static bool
next_phdr(const struct elf *e, const Elf64_Ehdr *h, unsigned i, Elf64_Phdr *p)
{
	if (i >= e->phnum)
		return false;
	memcpy(p, e->file + h->e_phoff + i * sizeof *p, sizeof *p);
	return true;
}

int
elf_open(struct elf *e, const void *file, size_t size, uint64_t page)
{
	bool text = false;
	Elf64_Ehdr h;
	Elf64_Phdr p;
	int err;

	memset(e, 0, sizeof *e);
	e->file = file;
	e->size = size;
	e->page = page;
	err = check_header(e, &h);
	for (unsigned i = 0; err == 0 && next_phdr(e, &h, i, &p); i++)
		err = add_header(e, &p);
	if (err != 0)
		return err;
	for (unsigned i = 0; i < e->nseg; i++)
		text = text || (e->seg[i].prot & PF_X) != 0;
	if (!text)
		return refuse(e, "there is no code in it");
	if (e->dynlen == 0 || !within(e->dyn, e->dynlen, e->span))
		return refuse(e, "it has no dynamic section");
	check_relro(e);
	return 0;
}

/* ------------------------------------------------------- dynamic section */

/* @len bytes of the image from offset @at, or NULL. */
static const unsigned char *
img_at(const struct elf *e, uint64_t at, uint64_t len)
{
	return within(at, len, e->span) ? e->img + at : NULL;
}

static bool
img_u32(const struct elf *e, uint64_t at, uint32_t *ret)
{
	const unsigned char *p = img_at(e, at, sizeof *ret);

	if (p != NULL)
		memcpy(ret, p, sizeof *ret);
	return p != NULL;
}

/* A name in the string table; NULL: bad offset. */
static const char *
name_at(const struct elf *e, uint64_t off)
{
	const unsigned char *p;

	if (off >= e->names.strsz)
		return NULL;
	p = img_at(e, e->names.str + off, 1);
	if (p == NULL || memchr(p, '\0', e->names.strsz - off) == NULL)
		return NULL;
	return (const char *)p;
}

static int
add_dyn(struct elf *e, struct dyn *d, const Elf64_Dyn *v)
{
	uint64_t val = v->d_un.d_val;

	switch (v->d_tag) {
	case DT_STRTAB: d->str = val; d->has_str = true; break;
	case DT_STRSZ: d->strsz = val; break;
	case DT_SYMTAB: d->sym = val; d->has_sym = true; break;
	case DT_SYMENT: d->syment = val; break;
	case DT_RELA: d->rela = val; break;
	case DT_RELASZ: d->relasz = val; break;
	case DT_RELAENT: d->relaent = val; break;
	case DT_JMPREL: d->jmp = val; break;
	case DT_PLTRELSZ: d->jmpsz = val; break;
	case DT_PLTREL: d->jmptype = val; break;
	case DT_RELR: d->relr = val; break;
	case DT_RELRSZ: d->relrsz = val; break;
	case DT_HASH: d->hash = val; d->has_hash = true; break;
	case DT_GNU_HASH: d->gnu_hash = val; d->has_gnu_hash = true; break;
	case DT_NEEDED: d->needed = val; d->has_needed = true; break;
	case DT_TEXTREL:
		return refuse(e, "its text would have to be relocated: "
			"compile it with -fPIC");
	case DT_FLAGS:
		if ((val & DF_TEXTREL) != 0)
			return refuse(e, "its text would have to be "
				"relocated: compile it with -fPIC");
		if ((val & DF_STATIC_TLS) != 0)
			return refuse(e, "it has thread-local data");
		break;
	case DT_FLAGS_1:
		if ((val & DF_1_PIE) != 0)
			return refuse(e, "it is a program");
		break;
	case DT_INIT:
	case DT_FINI:
		return refuse(e, "it has constructors or destructors: link "
			"it with -nostartfiles");
	case DT_INIT_ARRAYSZ:
	case DT_FINI_ARRAYSZ:
	case DT_PREINIT_ARRAYSZ:
		if (val != 0)
			return refuse(e, "it has constructors or "
				"destructors: link it with -nostartfiles");
		break;
	case DT_REL:
	case DT_RELSZ:
		return refuse(e, "it has relocations of another kind");
	default:
		break;
	}
	return 0;
}

/* The number of symbols follows from either hash table. */
static bool
count_sysv(const struct elf *e, const struct dyn *d, uint64_t *ret)
{
	uint32_t nchain;

	if (!img_u32(e, d->hash + 4, &nchain))
		return false;
	*ret = nchain;
	return true;
}

static bool
count_gnu(const struct elf *e, const struct dyn *d, uint64_t *ret)
{
	uint32_t nbucket, first, bloom, last = 0, v = 0;
	uint64_t bucket, chain;

	if (!img_u32(e, d->gnu_hash, &nbucket) ||
	    !img_u32(e, d->gnu_hash + 4, &first) ||
	    !img_u32(e, d->gnu_hash + 8, &bloom))
		return false;
	bucket = d->gnu_hash + 16 + (uint64_t)bloom * 8;
	if (!within(bucket, (uint64_t)nbucket * 4, e->span))
		return false;
	for (uint32_t i = 0; i < nbucket; i++) {
		(void)img_u32(e, bucket + (uint64_t)i * 4, &v);
		last = v > last ? v : last;
	}
	*ret = first;
	if (last < first)
		return true; /* there is no symbol */
	chain = bucket + (uint64_t)nbucket * 4;
	for (; img_u32(e, chain + (uint64_t)(last - first) * 4, &v); last++) {
		if ((v & 1) != 0) {
			*ret = (uint64_t)last + 1;
			return true;
		}
		if (last == UINT32_MAX)
			break;
	}
	return false;
}

static int
read_dyn(struct elf *e, struct dyn *d)
{
	Elf64_Dyn v;
	int err;

	memset(d, 0, sizeof *d);
	for (uint64_t at = 0; at + sizeof v <= e->dynlen; at += sizeof v) {
		memcpy(&v, e->img + e->dyn + at, sizeof v);
		if (v.d_tag == DT_NULL)
			break;
		err = add_dyn(e, d, &v);
		if (err != 0)
			return err;
	}
	if (!d->has_str || !d->has_sym || d->syment != sizeof(Elf64_Sym) ||
	    !within(d->str, d->strsz, e->span))
		return refuse(e, "it has no table of symbols");
	e->names.str = d->str;
	e->names.strsz = d->strsz;
	e->names.sym = d->sym;
	if (d->has_needed) {
		const char *lib = name_at(e, d->needed);

		return refuse(e, "it needs %.60s: link it with -nostdlib",
			lib != NULL ? lib : "a library");
	}
	if (!(d->has_hash && count_sysv(e, d, &e->names.nsym)) &&
	    !(d->has_gnu_hash && count_gnu(e, d, &e->names.nsym)))
		return refuse(e, "it has no table of hashes");
	if (e->names.nsym > ELF_SPAN_MAX / sizeof(Elf64_Sym) ||
	    !within(d->sym, e->names.nsym * sizeof(Elf64_Sym), e->span))
		return refuse(e, "its table of symbols is beyond its end");
	return 0;
}

/* ----------------------------------------------------------- relocations */

static bool
writable(const struct elf *e, uint64_t at, uint64_t len)
{
	for (unsigned i = 0; i < e->nwrite; i++)
		if (at >= e->write[i].at && within(at - e->write[i].at, len,
				e->write[i].end - e->write[i].at))
			return true;
	return false;
}

static int
symbol_value(struct elf *e, uint64_t idx, uint64_t base,
	uint64_t (*resolve)(const char *name), uint64_t *ret)
{
	const unsigned char *p;
	const char *name;
	unsigned type;
	Elf64_Sym s;

	*ret = 0;
	if (idx == 0)
		return 0;
	p = idx < e->names.nsym ? img_at(e, e->names.sym + idx * sizeof s,
		sizeof s) : NULL;
	if (p == NULL)
		return refuse(e, "a relocation is for symbol %llu, which is "
			"not there", (unsigned long long)idx);
	memcpy(&s, p, sizeof s);
	name = name_at(e, s.st_name);
	if (name == NULL || strlen(name) > NAME_MAX_LEN)
		return refuse(e, "symbol %llu has no name",
			(unsigned long long)idx);
	type = ELF64_ST_TYPE(s.st_info);
	if (type == STT_TLS)
		return refuse(e, "%.60s is thread-local", name);
	if (type == STT_GNU_IFUNC)
		return refuse(e, "%.60s is an indirect function", name);
	if (s.st_shndx == SHN_ABS) {
		*ret = s.st_value;
	} else if (s.st_shndx != SHN_UNDEF) {
		if (s.st_value > e->span)
			return refuse(e, "%.60s is outside of it", name);
		*ret = base + s.st_value;
	} else {
		*ret = resolve(name);
		if (*ret == 0 && ELF64_ST_BIND(s.st_info) != STB_WEAK)
			return refuse(e, "it calls %.60s, which is no function "
				"for modules", name);
	}
	return 0;
}

static int
reloc(struct elf *e, const Elf64_Rela *r, uint64_t base,
	uint64_t (*resolve)(const char *name))
{
	uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
	uint64_t v;
	int err;

	if (type == REL_NONE)
		return 0;
	if (type == REL_IFUNC)
		return refuse(e, "it has indirect functions");
	if (type != REL_RELATIVE && type != REL_ABS && type != REL_GOT &&
	    type != REL_JUMP)
		return refuse(e, "it has a relocation of unknown type %u",
			type);
	if (!writable(e, r->r_offset, sizeof v))
		return refuse(e, "it has a relocation outside of its data, "
			"at %#llx", (unsigned long long)r->r_offset);
	if (type == REL_RELATIVE) {
		v = base;
	} else {
		err = symbol_value(e, ELF64_R_SYM(r->r_info), base, resolve,
			&v);
		if (err != 0)
			return err;
	}
	/* types without an addend have zero there */
	v += (uint64_t)r->r_addend;
	memcpy(e->img + r->r_offset, &v, sizeof v);
	return 0;
}

static int
relocs(struct elf *e, uint64_t at, uint64_t size, uint64_t base,
	uint64_t (*resolve)(const char *name))
{
	Elf64_Rela r;
	int err = 0;

	if (size == 0)
		return 0;
	if (size % sizeof r != 0 || !within(at, size, e->span))
		return refuse(e, "its relocations are beyond its end");
	for (uint64_t off = 0; off < size && err == 0; off += sizeof r) {
		memcpy(&r, e->img + at + off, sizeof r);
		err = reloc(e, &r, base, resolve);
	}
	return err;
}

static int
add_base(struct elf *e, uint64_t at, uint64_t base)
{
	uint64_t v;

	if (!writable(e, at, sizeof v))
		return refuse(e, "it has a relocation outside of its data, "
			"at %#llx", (unsigned long long)at);
	memcpy(&v, e->img + at, sizeof v);
	v += base;
	memcpy(e->img + at, &v, sizeof v);
	return 0;
}

/* Packed relocations: an address, then bit maps of the 63 words after it. */
static int
relocs_packed(struct elf *e, uint64_t at, uint64_t size, uint64_t base)
{
	uint64_t where = 0, v;
	int err = 0;

	if (size == 0)
		return 0;
	if (size % sizeof v != 0 || !within(at, size, e->span))
		return refuse(e, "its relocations are beyond its end");
	for (uint64_t off = 0; off < size && err == 0; off += sizeof v) {
		memcpy(&v, e->img + at + off, sizeof v);
		if ((v & 1) == 0) {
			err = add_base(e, v, base);
			where = v + 8;
			continue;
		}
		for (unsigned i = 0; (v >>= 1) != 0 && err == 0; i++)
			if ((v & 1) != 0)
				err = add_base(e, where + i * 8ull, base);
		where += 63 * 8;
	}
	return err;
}

int
elf_build(struct elf *e, unsigned char *img, uint64_t base,
	uint64_t (*resolve)(const char *name))
{
	Elf64_Ehdr h;
	Elf64_Phdr p;
	struct dyn d;
	int err;

	e->img = img;
	memset(img, 0, e->span);
	memcpy(&h, e->file, sizeof h);
	for (unsigned i = 0; next_phdr(e, &h, i, &p); i++)
		if (p.p_type == PT_LOAD && p.p_filesz != 0)
			memcpy(img + p.p_vaddr, e->file + p.p_offset,
				p.p_filesz);
	err = read_dyn(e, &d);
	if (err == 0 && d.relasz != 0 && d.relaent != sizeof(Elf64_Rela))
		err = refuse(e, "its relocations have %llu bytes",
			(unsigned long long)d.relaent);
	if (err == 0 && d.jmpsz != 0 && d.jmptype != DT_RELA)
		err = refuse(e, "it has relocations of another kind");
	if (err == 0)
		err = relocs_packed(e, d.relr, d.relrsz, base);
	if (err == 0)
		err = relocs(e, d.rela, d.relasz, base, resolve);
	if (err == 0)
		err = relocs(e, d.jmp, d.jmpsz, base, resolve);
	return err;
}

/* --------------------------------------------------------------- symbols */

/* Find the symbol @name, defined or undefined; false: there is none. */
static bool
find_symbol(const struct elf_names *n, const char *name, bool defined,
	const void *(*at)(void *arg, uint64_t off, uint64_t len), void *arg,
	Elf64_Sym *ret)
{
	size_t len = strlen(name) + 1;

	for (uint64_t i = 1; i < n->nsym; i++) {
		const void *p = at(arg, n->sym + i * sizeof(Elf64_Sym),
			sizeof(Elf64_Sym));
		const char *s;
		Elf64_Sym sym;

		if (p == NULL)
			return false;
		memcpy(&sym, p, sizeof sym);
		if ((sym.st_shndx != SHN_UNDEF) != defined ||
		    sym.st_shndx == SHN_ABS ||
		    ELF64_ST_BIND(sym.st_info) == STB_LOCAL ||
		    ELF64_ST_TYPE(sym.st_info) > STT_FUNC ||
		    !within(sym.st_name, len, n->strsz))
			continue;
		s = at(arg, n->str + sym.st_name, len);
		if (s != NULL && memcmp(s, name, len) == 0) {
			*ret = sym;
			return true;
		}
	}
	return false;
}

uint64_t
elf_symbol(const struct elf_names *n, const char *name,
	const void *(*at)(void *arg, uint64_t off, uint64_t len), void *arg)
{
	Elf64_Sym sym;

	return find_symbol(n, name, true, at, arg, &sym) ? sym.st_value : 0;
}

bool
elf_calls(const struct elf_names *n, const char *name,
	const void *(*at)(void *arg, uint64_t off, uint64_t len), void *arg)
{
	Elf64_Sym sym;

	return find_symbol(n, name, false, at, arg, &sym);
}
