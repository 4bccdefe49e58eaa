/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A shared object in memory that is being made into an image: see elf.c.
 */
#ifndef HOST_ELF_H
#define HOST_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_NSEG 8u
#define ELF_SPAN_MAX (4u << 20) /* bytes of an image in memory */
#define ELF_ALIGN_MAX 65536u	/* images begin at multiples of this */

#define ELF_R 4u /* as in p_flags */
#define ELF_W 2u
#define ELF_X 1u

/* Whole pages with one protection, relative to the image's begin. */
struct elf_seg {
	uint64_t at, len;
	uint32_t prot;
	uint32_t pad;
};

/* Where a finished image keeps its names; relative to its begin. */
struct elf_names {
	uint64_t sym, nsym;
	uint64_t str, strsz;
};

struct elf {
	const unsigned char *file;
	size_t size;
	uint64_t page;
	uint64_t span;		/* bytes of the image, whole pages */
	unsigned char *img;	/* elf_build(): @span bytes */
	unsigned nseg;
	unsigned phnum;
	struct elf_seg seg[ELF_NSEG];
	struct {
		uint64_t at, end; /* bytes, not pages */
	} write[ELF_NSEG];	/* where relocations may be applied */
	unsigned nwrite;
	struct elf_seg relro;	/* len 0: none */
	uint64_t dyn, dynlen;
	struct elf_names names;
	char why[160];		/* why it is refused */
};

/*
 * elf_open - check the headers of the object in @file
 * @page: bytes of a page, a power of two
 *
 * Return: 0, with the size and the segments of the future image; ENOEXEC, with
 * e->why.
 */
int elf_open(struct elf *e, const void *file, size_t size, uint64_t page);

/*
 * elf_build - fill in and relocate the image
 * @img: e->span bytes
 * @base: its final address
 * @resolve: returns the address of a symbol that the object does not define;
 * 0: not allowed
 *
 * Return: 0, or ENOEXEC with e->why.
 */
int elf_build(struct elf *e, unsigned char *img, uint64_t base,
	uint64_t (*resolve)(const char *name));

/*
 * elf_symbol - the offset of symbol @name in an image, or 0
 * @at: gives @len bytes of the image from offset @off, or NULL
 */
uint64_t elf_symbol(const struct elf_names *n, const char *name,
	const void *(*at)(void *arg, uint64_t off, uint64_t len), void *arg);

/* elf_calls - is @name one of its undefined symbols? */
bool elf_calls(const struct elf_names *n, const char *name,
	const void *(*at)(void *arg, uint64_t off, uint64_t len), void *arg);

#endif
