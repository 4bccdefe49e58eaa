/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Backing the domain's file, which is sparse, with memory.
 *
 * The kernel clears every page that is allocated, which takes a microsecond.
 * So a domain begins with little, and the rest is allocated as it is used:
 * always before it is accessed, so that a lack of memory is an error of one
 * call and never a SIGBUS.  What is backed stays so.
 */
#include "sys.h"
#include "user_impl.h"

#define STEP_LEAST (256ull << 10) /* of what is committed at once */
#define STEP_MOST (4ull << 20)

/*
 * Allocate what every domain needs of the header.  The kernel clears each page,
 * which takes a microsecond: the whole header would take 1.6 ms.
 */
int
host_header_back(int fd)
{
	const uint64_t last = offsetof(struct str_domain, thread) +
		HOST_THREADS * sizeof(struct str_thread);
	const struct { uint64_t from, to; } part[] = {
#if defined(__SANITIZE_THREAD__)
		{ 0, STR_HDR_SIZE },
#endif
		{ 0, offsetof(struct str_domain, thread) +
			HOST_THREADS_FIRST * sizeof(struct str_thread) },
		{ last, offsetof(struct str_domain, slab) +
			sizeof(struct str_slab) *
				(STR_HDR_SIZE >> STR_SLAB_SHIFT) },
		{ HOST_SHARED_OFF, STR_HDR_SIZE },
	};
	int err = 0;

	for (size_t i = 0; i < STR_ARRAY_LEN(part) && err == 0; i++)
		err = -(int)sys_call4(SYS_fallocate, fd, 0, part[i].from,
			part[i].to - part[i].from);
	return err;
}

/* Allocate the bytes from @from to @to of the domain's file. */
static int
back(uint64_t from, uint64_t to)
{
	int fd = host_domain_fd();

	if (fd >= 0)
		return -(int)sys_call4(SYS_fallocate, fd, 0, from, to - from);
	/* the program closed it: touch the pages instead */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
	from &= ~4095ull;
	return -(int)sys_call3(SYS_madvise, (char *)host_domain + from,
		to - from, MADV_POPULATE_WRITE);
}

/* The same, with the descriptions of the granules of the arena there. */
static int
back_arena(uint64_t from, uint64_t to)
{
	const uint64_t slab = offsetof(struct str_domain, slab);
	int err = back(from, to);

	return err != 0 ? err :
		back(slab + sizeof(struct str_slab) * (from >> STR_SLAB_SHIFT),
			slab + sizeof(struct str_slab) * (to >> STR_SLAB_SHIFT));
}

/*
 * More is committed than is asked for: half of what the domain has, so that a
 * small domain costs little and a large one few calls.
 */
static uint64_t
step(uint64_t have)
{
	uint64_t half = (have - STR_HDR_SIZE) / 2;

	half = STR_MIN(STR_MAX(half, STEP_LEAST), STEP_MOST);
	return STR_ROUNDUP(half, (uint64_t)STR_SLAB_SIZE);
}

int
host_commit(uint64_t off, uint64_t len)
{
	struct str_domain *d = host_domain;
	uint64_t have = str_load_acq(&d->committed);
	uint64_t end = off + len, want;

	if (len > d->cap || end > d->cap)
		return ENOSR;
	if (end <= STR_HDR_SIZE)
		return back(off, end) == 0 ? 0 : ENOSR;
	if (end <= have)
		return 0;
	end = STR_ROUNDUP(end, (uint64_t)STR_SLAB_SIZE);
	want = STR_MIN(STR_MAX(end, have + step(have)), d->cap);
	if (back_arena(have, want) != 0) {
		if (want == end || back_arena(have, end) != 0)
			return ENOSR;
		want = end;
	}
	/* only raised: all memory below is allocated, in any order of stores */
	while (have < want && !str_cas(&d->committed, have, want))
		have = str_load_acq(&d->committed);
	return 0;
}

/* Back slots of threads, up to @n or some more. */
int
host_threads_commit(uint32_t n)
{
	struct str_domain *d = host_domain;
	uint32_t have = str_load_acq(&d->thread_room);
	uint32_t want = STR_MIN(STR_ROUNDUP(n, HOST_THREADS_FIRST), HOST_THREADS);
	uint64_t at = offsetof(struct str_domain, thread);

	if (n <= have)
		return 0;
	if (back(at + have * sizeof(struct str_thread),
		    at + want * sizeof(struct str_thread)) != 0)
		return ENOSR;
	while (have < want && !str_cas(&d->thread_room, have, want))
		have = str_load_acq(&d->thread_room);
	return 0;
}
