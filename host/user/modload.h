/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Images of foreign modules: common definitions of modload.c, modload_image.c
 * and their tests.
 */
#ifndef HOST_MODLOAD_H
#define HOST_MODLOAD_H

#include "elf_image.h"
#include "user_impl.h"

#define NIMAGE 256u
#define NCHUNK 10u

/* Place of the images: the code window without its jump slots and a guard. */
#define IMAGES_BEGIN (1ull << 20) /* from the window's begin */
#define IMAGES_END (HOST_CODE_GAP - (1ull << 20))

#define IMAGE_NEW 1u
#define IMAGE_READY 2u
#define IMAGE_DEAD 3u

/* Lies in the domain's header, behind struct host_shared. */
struct host_images {
	str_a64 next;		/* [A] first free offset in the window; 0 is
				 * IMAGES_BEGIN */
	str_a64 image[NIMAGE];	/* [A] struct host_image *, filled in order */
};
#define HOST_IMAGES_OFF (HOST_SHARED_OFF + 512)

_Static_assert(HOST_IMAGES_OFF + sizeof(struct host_images) <= HOST_WHY_OFF,
	"the images have room");

/*
 * An image, in the arena.  Its relocated bytes fill the chunks in order.  A
 * chunk is a piece of the arena; its first page is not used, except for this
 * structure in the first chunk.
 */
struct host_image {
	str_a32 state;		/* [A] IMAGE_*; waited on */
	str_a32 owner;		/* [A] NEW: tag of the loading thread */
	str_a32 word;		/* [A] the executive's */
	uint32_t pad;
	uint64_t base, span;	/* [I] address and size, pages */
	uint64_t ddi;		/* [I] str_ddi_hash() of the loader */
	char name[16];		/* [I] */
	struct elf_seg seg[ELF_NSEG];
	struct elf_seg relro;
	struct elf_names names;
	uint32_t nseg, nchunk;
	uint64_t chunk[NCHUNK]; /* [I] */
	char path[512];		/* [I] for humans */
};

/*
 * host_module_find - open the file of module @name for reading @path, @size:
 * buffer for its path
 * @why, @len: buffer for the reason of an error
 *
 * Return: 0, ENOENT, EACCES with @why.
 */
int host_module_find(const char *name, int *ret_fd, char *path, size_t size,
	char *why, size_t len);

struct host_image *host_image_get(uint32_t image);

#endif
