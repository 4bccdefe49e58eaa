/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Objects that are refused, and why; and that no damage to one does more
 * than have it refused.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <t.h>

#include "elf_image.h"

#define BASE 0x69fffff00000ull

static unsigned char *file; /* the good module, before it is spoilt */
static size_t size;
static struct elf elf;

static uint64_t
resolve(const char *name)
{
	return strcmp(name, "up_add") == 0 || strcmp(name, "strlen") == 0 ||
		strcmp(name, "strcpy") == 0 ? 0x1000 : 0;
}

static void
good(void)
{
	struct stat st;
	int fd = T_OK(open(UPMOD, O_RDONLY));

	T_OK(fstat(fd, &st));
	size = (size_t)st.st_size;
	file = malloc(size);
	T_EQ((size_t)T_OK(read(fd, file, size)), size);
	close(fd);
}

/* Open and build what is in @file, in memory that ends where it ends. */
static int
try(size_t len)
{
	unsigned char *copy = malloc(len), *img;
	int err;

	memcpy(copy, file, len);
	err = elf_open(&elf, copy, len, 4096);
	if (err == 0) {
		img = malloc(elf.span);
		err = elf_build(&elf, img, BASE, resolve);
		free(img);
	}
	free(copy);
	return err;
}

static void
refused(const char *why)
{
	T_EQ(try(size), ENOEXEC);
	if (strstr(elf.why, why) == NULL)
		T_FAIL("refused because: %s; wanted: %s", elf.why, why);
}

static Elf64_Ehdr *
eh(void)
{
	return (Elf64_Ehdr *)(void *)file;
}

static Elf64_Phdr *
ph(uint32_t type, uint32_t flags)
{
	Elf64_Phdr *p = (Elf64_Phdr *)(void *)(file + eh()->e_phoff);

	for (int i = 0; i < eh()->e_phnum; i++, p++)
		if (p->p_type == type && (p->p_flags & flags) == flags)
			return p;
	T_FAIL("no program header of type %u", type);
}

/* Where the image's byte @va is in the file. */
static void *
at(uint64_t va)
{
	Elf64_Phdr *p = (Elf64_Phdr *)(void *)(file + eh()->e_phoff);

	for (int i = 0; i < eh()->e_phnum; i++, p++)
		if (p->p_type == PT_LOAD && va >= p->p_vaddr &&
		    va < p->p_vaddr + p->p_filesz)
			return file + p->p_offset + (va - p->p_vaddr);
	T_FAIL("nothing at %llx", (unsigned long long)va);
}

static Elf64_Dyn *
dyn(int64_t tag)
{
	Elf64_Dyn *d = at(ph(PT_DYNAMIC, 0)->p_vaddr);

	for (; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d;
	T_FAIL("no dynamic entry %lld", (long long)tag);
}

/* Turn an entry that does not matter into another. */
static void
dyn_set(int64_t tag, uint64_t val)
{
	Elf64_Dyn *d = at(ph(PT_DYNAMIC, 0)->p_vaddr);

	for (; d->d_tag != DT_NULL; d++)
		;
	d->d_tag = tag;
	d->d_un.d_val = val;
}

static Elf64_Rela *
rela(void)
{
	return at(dyn(DT_RELA)->d_un.d_ptr);
}

/* The symbol called @name. */
static Elf64_Sym *
sym(const char *name)
{
	Elf64_Sym *s = at(dyn(DT_SYMTAB)->d_un.d_ptr);
	const char *str = at(dyn(DT_STRTAB)->d_un.d_ptr);

	for (int i = 1; i < 100; i++)
		if (strcmp(str + s[i].st_name, name) == 0)
			return &s[i];
	T_FAIL("no symbol %s", name);
}

T_CASE(the_module_is_good)
{
	good();
	T_EQ(try(size), 0);
	T_GT(elf.span, (uint64_t)700000);
}

T_CASE(what_is_no_object_of_this_machine_is_refused)
{
	static const struct {
		size_t at;
		unsigned char v;
		const char *why;
	} row[] = {
		{0, 'x', "not an ELF object"},
		{EI_CLASS, ELFCLASS32, "another machine"},
		{EI_DATA, ELFDATA2MSB, "another machine"},
		{EI_VERSION, 9, "unknown version"},
		{16, ET_REL, "not linked"},
		{16, ET_EXEC, "not a shared object"},
		{16, ET_CORE, "not a shared object"},
		{18, EM_386, "another machine"},
		{54, 1, "program headers"},
		{56, 0, "program headers"},
		{56, 200, "program headers"},
		{39, 0xff, "beyond its end"},
	};

	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		good();
		file[row[i].at] = row[i].v;
		refused(row[i].why);
	}
}

T_CASE(segments_must_be_in_the_file)
{
	good();
	ph(PT_LOAD, PF_X)->p_offset = size;
	refused("beyond its end");
	good();
	ph(PT_LOAD, PF_X)->p_offset = UINT64_MAX - 16;
	refused("beyond its end");
	good();
	ph(PT_LOAD, PF_X)->p_filesz = UINT64_MAX;
	ph(PT_LOAD, PF_X)->p_memsz = UINT64_MAX;
	refused("beyond its end");
	good();
	ph(PT_LOAD, PF_X)->p_memsz = 1;
	refused("beyond its end");
	good();
	ph(PT_LOAD, PF_X)->p_memsz = 0;
	refused("beyond its end");
}

T_CASE(segments_must_be_in_order_and_apart)
{
	good();
	ph(PT_LOAD, PF_W)->p_vaddr = 0;
	refused("overlap");
	good();
	ph(PT_LOAD, PF_W)->p_vaddr = ph(PT_LOAD, PF_X)->p_vaddr + 64;
	refused("overlap");
}

T_CASE(an_object_that_is_too_big_is_refused)
{
	good();
	ph(PT_LOAD, PF_W)->p_memsz = 1ull << 32;
	refused("too big");
	good();
	ph(PT_LOAD, PF_W)->p_memsz = UINT64_MAX;
	refused("too big");
	good();
	ph(PT_LOAD, PF_W)->p_vaddr = UINT64_MAX - 8;
	refused("too big");
	good();
	ph(PT_LOAD, PF_W)->p_align = 1ull << 21;
	refused("aligned");
}

T_CASE(writable_code_is_refused)
{
	good();
	ph(PT_LOAD, PF_X)->p_flags |= PF_W;
	refused("writable and executable");
	good();
	ph(PT_GNU_STACK, 0)->p_flags |= PF_X;
	refused("executable stack");
}

T_CASE(thread_local_data_is_refused)
{
	good();
	ph(PT_GNU_STACK, 0)->p_type = PT_TLS;
	refused("thread-local");
	good();
	sym("up_add")->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_TLS);
	refused("up_add is thread-local");
}

T_CASE(indirect_functions_are_refused)
{
	good();
	sym("strcpy")->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
	refused("strcpy is an indirect function");
	good();
#if defined(__x86_64__)
	rela()->r_info = ELF64_R_INFO(0, R_X86_64_IRELATIVE);
#else
	rela()->r_info = ELF64_R_INFO(0, R_AARCH64_IRELATIVE);
#endif
	refused("indirect functions");
}

T_CASE(programs_libraries_and_constructors_are_refused)
{
	good();
	ph(PT_GNU_STACK, 0)->p_type = PT_INTERP;
	refused("it is a program");
	good();
	dyn_set(DT_FLAGS_1, DF_1_PIE);
	refused("it is a program");
	good();
	dyn_set(DT_NEEDED, 1);
	refused("link it with -nostdlib");
	good();
	dyn_set(DT_NEEDED, 1ull << 40);
	refused("it needs a library");
	good();
	dyn_set(DT_INIT_ARRAYSZ, 8);
	refused("constructors");
	good();
	dyn_set(DT_TEXTREL, 0);
	refused("-fPIC");
	good();
	dyn_set(DT_FLAGS, DF_TEXTREL);
	refused("-fPIC");
	good();
	dyn_set(DT_RELSZ, 16);
	refused("another kind");
}

T_CASE(relocations_are_of_data)
{
	good();
	rela()->r_offset = ph(PT_LOAD, PF_X)->p_vaddr;
	refused("outside of its data");
	good();
	rela()->r_offset = UINT64_MAX - 3;
	refused("outside of its data");
	good();
	rela()->r_offset = ph(PT_LOAD, PF_W)->p_vaddr +
		ph(PT_LOAD, PF_W)->p_memsz - 7;
	refused("outside of its data");
	good();
	rela()->r_info = ELF64_R_INFO(0, 250);
	refused("unknown type 250");
	good();
	dyn(DT_RELASZ)->d_un.d_val = 1ull << 40;
	refused("beyond its end");
	good();
	dyn(DT_RELA)->d_un.d_ptr = UINT64_MAX - 100;
	refused("beyond its end");
	good();
	dyn(DT_RELAENT)->d_un.d_val = 8;
	refused("8 bytes");
	good();
	dyn_set(DT_RELRSZ, 7);
	refused("beyond its end");
}

T_CASE(symbols_are_known_by_name)
{
	good();
	sym("up_add")->st_name = 1u << 30;
	refused("has no name");
	good();
	/* "up_add" -> "up_ade" */
	((char *)at(dyn(DT_STRTAB)->d_un.d_ptr))[sym("up_add")->st_name + 5] =
		'e';
	refused("calls up_ade, which is no function for modules");
	good();
	dyn(DT_STRSZ)->d_un.d_val = 3;
	refused("has no name");
	good();
	dyn(DT_SYMTAB)->d_un.d_ptr = elf.span - 8;
	refused("beyond its end");
	good();
	dyn(DT_SYMENT)->d_un.d_val = 0;
	refused("no table of symbols");
	good();
	sym("upmodinfo")->st_value = 1ull << 40;
	T_NE(try(size), EFAULT); /* it is looked up, not relocated */
}

T_CASE(an_object_cut_short_is_refused)
{
	good();
	for (size_t n = 0; n < ph(PT_DYNAMIC, 0)->p_offset + 64; n += 8)
		T_EQ(try(n), ENOEXEC);
}

/* With ASAN this is worth more; without, a wild access still ends it. */
T_CASE(no_damage_is_fatal)
{
	size_t n = 0;

	good();
	while (n++ < 3000) {
		unsigned char was[4];
		size_t where[4];

		for (int i = 0; i < 4; i++) {
			/* most of the structure is at the begin */
			where[i] = t_rand_below(i & 1 ? size : 4096 + 1024);
			where[i] %= size;
			was[i] = file[where[i]];
			file[where[i]] = (unsigned char)t_rand();
		}
		(void)try(size);
		for (int i = 3; i >= 0; i--)
			file[where[i]] = was[i];
	}
}
