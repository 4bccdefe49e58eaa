/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The code window: addresses of procedures that are valid in every member,
 * although each has its code at a different place.
 *
 * It is the HOST_CODE_GAP bytes below the domain.  It begins with NSLOT equal
 * stubs of STUB bytes: each jumps to the address with its number in the
 * process's own table.  After they have been made, the stubs are executable and
 * not writable.  The images of foreign modules lie above them: modload_image.c.
 * Each process needs the stubs of the executive; it makes the others with its
 * first image.
 *
 * Slots, by number: the executive's built-in procedures, below 256; the DDI
 * for modules, from 1024 on (core/plumb/foreign.c); the C library's functions
 * that modules may call, at the end (modload_image.c).
 */
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "user_impl.h"

#define NSLOT 4096u
#define STUB 16u
#define CODE_SIZE (NSLOT * STUB)
#define TABLE_SIZE (NSLOT * sizeof(void *))
#define NFIRST 256u /* the executive's: one page, or less */

static uint64_t window; /* 0 = none */
static str_a32 all_made; /* [attach, image] */

static unsigned
page_size(void)
{
	return (unsigned)getauxval(AT_PAGESZ);
}

static void
no_code(void)
{
	host_panic("a procedure that this program does not have", __FILE__,
		__LINE__);
}

static void
stub_make(unsigned char *at, uint64_t target_word)
{
#if defined(__x86_64__)
	/* endbr64; jmp *target_word(%rip); int3... */
	static const unsigned char head[6] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25
	};
	int32_t rel = (int32_t)(target_word - ((uint64_t)(uintptr_t)at + 10));

	memcpy(at, head, sizeof head);
	memcpy(at + 6, &rel, sizeof rel);
	memset(at + 10, 0xcc, STUB - 10);
#elif defined(__aarch64__)
	/* bti c; ldr x16, target_word; br x16; udf */
	uint32_t rel = (uint32_t)(target_word -
		((uint64_t)(uintptr_t)at + 4)) / 4;
	uint32_t code[4] = { 0xd503245f, 0x58000010 | (rel & 0x7ffff) << 5,
		0xd61f0200, 0 };

	memcpy(at, code, sizeof code);
#endif
}

/* Make the slots from @first up to @end; each number is that of a page's first. */
static int
stubs_make(uint64_t at, unsigned first, unsigned end)
{
	void (**table)(void) = (void (**)(void))(uintptr_t)(at + CODE_SIZE);
	uint64_t code = at + first * STUB;
	long r;

	/* all pages are written: one call in place of a fault for each */
	r = sys_call6(SYS_mmap, code, (end - first) * STUB,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
			MAP_FIXED | MAP_POPULATE, -1, 0);
	if (r < 0 && r > -4096)
		return (int)-r;
	for (unsigned i = first; i < end; i++) {
		table[i] = no_code;
		stub_make((unsigned char *)(uintptr_t)(at + i * STUB),
			(uint64_t)(uintptr_t)&table[i]);
	}
	__builtin___clear_cache((char *)(uintptr_t)code,
		(char *)(uintptr_t)(at + end * STUB));
	return -(int)sys_call3(SYS_mprotect, code, (end - first) * STUB,
		PROT_READ | PROT_EXEC);
}

/*
 * Reserve the whole window, without access, so that nothing else is mapped
 * there; then fill in the first jump slots.
 */
static int
window_make(uint64_t at)
{
	long r = sys_call6(SYS_mmap, at + CODE_SIZE, TABLE_SIZE,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		-1, 0);

	if (r < 0 && r > -4096)
		return (int)-r;
	/* pages of more than 4 KiB may hold more than these */
	str_store(&all_made, NFIRST * STUB % page_size() != 0);
	return stubs_make(at, 0, str_load(&all_made) ? NSLOT : NFIRST);
}

int
host_code_all(void)
{
	int err = 0;

	if (str_load(&all_made) == 0) {
		err = stubs_make(window, NFIRST, NSLOT);
		str_store(&all_made, err == 0);
	}
	return err;
}

/* Make the window of the domain at @base; EEXIST, ENOMEM. */
int
host_code_init(uint64_t base)
{
	uint64_t at = base - HOST_CODE_GAP;
	int err = host_map(at, HOST_CODE_GAP, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (err != 0)
		return err;
	err = window_make(at);
	if (err != 0) {
		(void)sys_call2(SYS_munmap, at, HOST_CODE_GAP);
		return err;
	}
	window = at;
	return 0;
}

void
host_code_fini(uint64_t base)
{
	(void)sys_call2(SYS_munmap, base - HOST_CODE_GAP, HOST_CODE_GAP);
	window = 0;
}

void *
host_code(unsigned slot, void (*fn)(void))
{
	void (**table)(void) = (void (**)(void))(uintptr_t)(window + CODE_SIZE);

	STR_VERIFY(slot < (str_load(&all_made) ? NSLOT : NFIRST) && window != 0);
	__atomic_store_n(&table[slot], fn, __ATOMIC_RELEASE);
	return (void *)(uintptr_t)(window + slot * STUB);
}
