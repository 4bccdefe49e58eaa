/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The code window: addresses of procedures that mean the same in every
 * member although each has its code elsewhere.
 *
 * It is the HOST_CODE_GAP bytes below the domain.  It begins with NSLOT stubs
 * of STUB bytes, all alike: jump to what the process's own table holds under
 * my number.  The stubs are executable and no longer writable once they are
 * made.  The images of foreign modules stand above them: modload_image.c.
 *
 * Slots, by number: the executive's built-in procedures, below 1024; the DDI,
 * as modules call it, from 1024 on (core/plumb/foreign.c); the C library's
 * functions that modules may call, at the end (modload_image.c).
 */
#include <string.h>
#include <sys/mman.h>

#include "user_impl.h"

#define NSLOT 4096u
#define STUB 16u
#define CODE_SIZE (NSLOT * STUB)
#define TABLE_SIZE (NSLOT * sizeof(void *))

static uint64_t window; /* 0 = none */

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

/*
 * Take the whole window, without access, so that nothing else comes to be in
 * it; then fill in the jump slots.
 */
static int
window_make(uint64_t at)
{
	void (**table)(void) = (void (**)(void))(uintptr_t)(at + CODE_SIZE);
	long r;

	r = sys_call3(SYS_mprotect, at, CODE_SIZE + TABLE_SIZE,
		PROT_READ | PROT_WRITE);
	if (r != 0)
		return (int)-r;
	for (unsigned i = 0; i < NSLOT; i++) {
		table[i] = no_code;
		stub_make((unsigned char *)(uintptr_t)(at + i * STUB),
			(uint64_t)(uintptr_t)&table[i]);
	}
	__builtin___clear_cache((char *)(uintptr_t)at,
		(char *)(uintptr_t)(at + CODE_SIZE));
	return -(int)sys_call3(SYS_mprotect, at, CODE_SIZE,
		PROT_READ | PROT_EXEC);
}

/* Make the window of the domain at @base; EEXIST, ENOMEM. */
int
host_code_init(uint64_t base)
{
	uint64_t at = base - HOST_CODE_GAP;
	int err = host_map(at, HOST_CODE_GAP, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, &at);

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

	STR_VERIFY(slot < NSLOT && window != 0);
	__atomic_store_n(&table[slot], fn, __ATOMIC_RELEASE);
	return (void *)(uintptr_t)(window + slot * STUB);
}
