/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fuzz target: any bytes as a loadable module.  They are refused, or become
 * an image whose names can be looked up; nothing else happens.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t
resolve(const char *name)
{
	return name[0] == 'd' ? 0x1000 + strlen(name) : 0;
}

struct image {
	const unsigned char *img;
	uint64_t span;
};

static const void *
image_at(void *arg, uint64_t off, uint64_t len)
{
	const struct image *im = arg;

	return off <= im->span && len <= im->span - off ? im->img + off : NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t page[] = {4096, 65536};
	struct elf e;

	for (int i = 0; i < 2; i++) {
		unsigned char *img;
		struct image im;

		if (elf_open(&e, data, size, page[i]) != 0)
			continue;
		img = malloc(e.span);
		if (img == NULL)
			abort();
		if (elf_build(&e, img, 0x69fffff00000ull, resolve) == 0) {
			im.img = img;
			im.span = e.span;
			(void)elf_symbol(&e.names, "fuzzinfo", image_at, &im);
		}
		free(img);
	}
	return 0;
}
