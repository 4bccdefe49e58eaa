/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Runs a fuzz target over the files of a directory, one case each, and over
 * each of them cut short and with single bytes changed: what `make check'
 * does with a corpus.  What a fuzzer found by itself, f-*, is run as it is:
 * it is there for what it reaches, and there is much of it.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHANGES 400

/* In memory of exactly that size, so that a sanitizer sees its end. */
static void
run(const uint8_t *data, size_t size)
{
	uint8_t *p = malloc(size != 0 ? size : 1);

	memcpy(p, data, size);
	(void)LLVMFuzzerTestOneInput(p, size);
	free(p);
}

static void
replay(const uint8_t *data, size_t size, uint32_t seed, unsigned changes)
{
	uint8_t *p = malloc(size + 1);

	run(data, size);
	for (unsigned i = 0; i < changes && size != 0; i++) {
		size_t at;

		memcpy(p, data, size);
		seed = seed * 1103515245u + 12345u;
		at = (seed >> 8) % (i % 2 != 0 && size > 1024 ? 1024 : size);
		p[at] = (uint8_t)(seed >> 24 ^ i);
		run(p, size);
		if (i % 4 == 0)
			run(data, at);
	}
	free(p);
}

int
main(int argc, char **argv)
{
	struct dirent **list;
	int n = 0, count = 0, failed = 0;

	if (argc != 2 || (n = scandir(argv[1], &list, NULL, alphasort)) < 0) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	for (int i = 0; i < n; i++) {
		static uint8_t data[1 << 20];
		char path[1024];
		size_t size;
		FILE *f;

		if (list[i]->d_name[0] == '.') {
			free(list[i]);
			continue;
		}
		snprintf(path, sizeof path, "%s/%s", argv[1],
			list[i]->d_name);
		f = fopen(path, "rb");
		size = f != NULL ? fread(data, 1, sizeof data, f) : 0;
		if (f == NULL)
			failed++;
		else
			fclose(f);
		replay(data, size, (uint32_t)count * 2654435761u,
			strncmp(list[i]->d_name, "f-", 2) == 0 ? 0 : CHANGES);
		printf("%s %d - %s\n", f != NULL ? "ok" : "not ok", ++count,
			list[i]->d_name);
		fflush(stdout);
		free(list[i]);
	}
	free(list);
	printf("1..%d\n", count);
	return failed != 0 || count == 0;
}
