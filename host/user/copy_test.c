/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Copies: every size and alignment right, every bad address EFAULT.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <t.h>

#include "upcalls_test_double.h"

#define PAGE 4096u

static unsigned char *edge; /* a page is mapped below it, none above */

static void
setup(void)
{
	struct host_call hc = { .fd = -1 };
	unsigned char *p;

	setenv("STREAMS_DOMAIN", "private", 1);
	up_enter(&hc);
	host_leave();
	p = mmap(NULL, 34 * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	T_TRUE(p != MAP_FAILED);
	T_OK(mprotect(p, PAGE, PROT_NONE));
	T_OK(mprotect(p + 33 * PAGE, PAGE, PROT_NONE));
	edge = p + 33 * PAGE;
}

static void
fill(unsigned char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)(i * 7 + (i >> 8) + seed);
}

/* One copy of @n bytes between these alignments, with sentinels around. */
static void
copy_one(size_t n, unsigned from, unsigned to)
{
	static _Alignas(64) unsigned char src[70000], dst[70100];

	fill(src + from, n, (unsigned)n);
	memset(dst, 0xee, n + 200);
	T_EQ(host_copyin(src + from, dst + 64 + to, n), 0);
	if (memcmp(src + from, dst + 64 + to, n) != 0)
		T_FAIL("%zu bytes from +%u to +%u differ", n, from, to);
	for (unsigned i = 0; i < 64; i++)
		if (dst[to + i] != 0xee || dst[64 + to + n + i] != 0xee)
			T_FAIL("%zu bytes from +%u to +%u: wrote outside", n,
				from, to);
}

static void
every_size(void)
{
	for (size_t n = 0; n < 1100; n++)
		for (unsigned i = 0; i < 8; i++)
			copy_one(n, (i * 5) % 33, (i * 11) % 37);
	/* from and to one place in a line */
	for (size_t n = 120; n < 1100; n++)
		for (unsigned i = 0; i < 8; i++)
			copy_one(n, i * 9, i * 9);
	for (size_t n = 1100; n <= 65536; n += 997)
		copy_one(n, n % 33, n % 29);
	copy_one(65536, 0, 0);
	copy_one(65536, 1, 31);
}

T_CASE(every_size_and_alignment_is_copied)
{
	setup();
	every_size();
}

#if defined(__x86_64__)
extern uint64_t host_copy_rep;
extern uint8_t host_copy_avx;

T_CASE(so_it_is_by_each_of_the_loops)
{
	uint8_t best;

	setup();
	best = host_copy_avx;
	host_copy_rep = UINT64_MAX;
	for (host_copy_avx = 0; host_copy_avx < best; host_copy_avx++)
		every_size();
	host_copy_rep = 129;
	every_size();
	host_copy_rep = UINT64_MAX;
	host_copy_avx = best;
	every_size();
}
#endif

/* A copy that starts @k bytes before the end of the mapped memory. */
static void
over_the_edge(size_t n)
{
	unsigned char *buf = malloc(n + 1);

	for (size_t k = 0; k <= n; k++) {
		int want = k == n ? 0 : EFAULT;

		T_EQ(host_copyin(edge - k, buf, n), want);
		T_EQ(host_copyout(buf, edge - k, n), want);
	}
	free(buf);
}

T_CASE(a_copy_over_the_edge_is_efault_at_every_offset)
{
	static const size_t sizes[] = {
		1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128,
		129, 255, 256, 257, 300, 511, 513, 1000, 2047, 2049, 4096,
		5000,
	};

	setup();
	for (size_t i = 0; i < STR_ARRAY_LEN(sizes); i++)
		over_the_edge(sizes[i]);
}

T_CASE(a_copy_from_before_the_mapping_is_efault)
{
	unsigned char buf[512], *low;

	setup();
	low = edge - 32 * PAGE;
	for (size_t k = 1; k <= sizeof buf; k++) {
		T_EQ(host_copyin(low - k, buf, sizeof buf), EFAULT);
		T_EQ(host_copyout(buf, low - k, sizeof buf), EFAULT);
	}
}

T_CASE(wild_pointers_are_efault)
{
	static const uint64_t wild[] = {
		0, 1, 4095, 0x00007ffffffff000, 0x0000800000000000,
		0x8000000000000000, 0xdead000000000000, 0xffff800000000000,
		0xffffffff81000000, 0xffffffffffffffff,
	};
	static const size_t sizes[] = { 1, 2, 4, 8, 16, 32, 64, 128, 200,
		256, 1000, 4096, 20000 };
	static unsigned char buf[20000];

	setup();
	for (size_t i = 0; i < STR_ARRAY_LEN(wild); i++)
		for (size_t j = 0; j < STR_ARRAY_LEN(sizes); j++) {
			void *p = (void *)(uintptr_t)wild[i];

			T_EQ(host_copyin(p, buf, sizes[j]), EFAULT);
			T_EQ(host_copyout(buf, p, sizes[j]), EFAULT);
			T_EQ(host_copyinstr(p, (char *)buf, sizes[j]),
				EFAULT);
		}
	T_EQ(host_copyin(NULL, buf, 0), 0);
}

T_CASE(read_only_memory_cannot_be_copied_to)
{
	unsigned char buf[64] = { 0 };

	setup();
	T_OK(mprotect(edge - PAGE, PAGE, PROT_READ));
	T_EQ(host_copyin(edge - PAGE, buf, sizeof buf), 0);
	T_EQ(host_copyout(buf, edge - PAGE, sizeof buf), EFAULT);
}

T_CASE(a_file_cut_short_is_efault)
{
	unsigned char buf[64];
	void *p;
	int fd;

	setup();
	fd = (int)T_OK(memfd_create("short", MFD_CLOEXEC));
	T_OK(ftruncate(fd, PAGE));
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	T_TRUE(p != MAP_FAILED);
	T_OK(ftruncate(fd, 0));
	T_EQ(host_copyin(p, buf, sizeof buf), EFAULT); /* a SIGBUS */
}

T_CASE(strings_end_at_their_nul_or_at_the_limit)
{
	char buf[16];

	setup();
	memset(buf, 'x', sizeof buf);
	T_EQ(host_copyinstr("four", buf, 5), 0);
	T_STR(buf, "four");
	T_EQ(buf[5], 'x');
	T_EQ(host_copyinstr("four", buf, 4), ENAMETOOLONG);
	T_EQ(host_copyinstr("", buf, 0), ENAMETOOLONG);
	memcpy(edge - 3, "abc", 3);
	T_EQ(host_copyinstr(edge - 3, buf, 16), EFAULT);
	edge[-1] = '\0';
	T_EQ(host_copyinstr(edge - 3, buf, 16), 0);
	T_STR(buf, "ab");
}

T_CASE(the_same_holds_with_the_handler_of_a_sanitizer_or_program)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };
	unsigned char buf[8];

	setup();
	T_EQ(host_sigaction(SIGSEGV, &sa, NULL), 0);
	T_EQ(host_copyin(NULL, buf, 8), EFAULT);
	sa.sa_handler = SIG_IGN;
	T_EQ(host_sigaction(SIGSEGV, &sa, NULL), 0);
	T_EQ(host_copyin(NULL, buf, 8), EFAULT);
	sa.sa_handler = _exit;
	T_EQ(host_sigaction(SIGSEGV, &sa, NULL), 0);
	T_EQ(host_copyin(NULL, buf, 8), EFAULT);
}
