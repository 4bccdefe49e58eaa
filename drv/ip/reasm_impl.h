/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Between the two files of reassembly: reasm_slot.c has slots, memory and
 * limits, reasm.c fragments.
 */
#ifndef DRV_IP_REASM_IMPL_H
#define DRV_IP_REASM_IMPL_H

#include "reasm.h"

/* The state of a slot. */
#define FREE 0u
#define OPEN 1u
#define SPOILT 2u
#define WHOLE 3u

struct ip_slot *reasm_slot(const struct ip_reasm *r, uint32_t i);
/* The number of @s. */
uint32_t reasm_number(const struct ip_reasm *r, const struct ip_slot *s);
/* The slot of @h's packet, a new one if there is none; NULL: no memory. */
struct ip_slot *reasm_find(struct ip_reasm *r, const struct ip_mem *mem,
	uint32_t tag, const struct ip_hdr *h, uint64_t now, uint32_t *lost);
/* @s holds @n bytes more, or less. */
void reasm_charge(struct ip_reasm *r, struct ip_slot *s, uint32_t n, int more);
/* Free @s and its fragments; only the fragments. */
void reasm_drop(struct ip_reasm *r, const struct ip_mem *mem,
	struct ip_slot *s);
void reasm_free_parts(const struct ip_mem *mem, struct ip_slot *s);
size_t reasm_part_size(const struct ip_part *p);

/*
 * reasm_make_room - drop packets until the source of @h may hold @n bytes more
 * reasm_give_up - drop the oldest packet of the source that holds the most
 */
void reasm_make_room(struct ip_reasm *r, const struct ip_mem *mem,
	uint32_t tag, const struct ip_hdr *h, uint32_t n, uint32_t *lost);
void reasm_give_up(struct ip_reasm *r, const struct ip_mem *mem,
	uint32_t *lost);

/* Begin and end of each call; see reasm.h, Crash. */
void reasm_enter(struct ip_reasm *r, const struct ip_mem *mem);
void reasm_leave(struct ip_reasm *r);

#endif
