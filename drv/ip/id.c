/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Identifications of packets, which other hosts cannot predict: RFC 7739. */
#include "ip_impl.h"

/* ip_secret - the key of hashes that other hosts must not predict */
const struct ip_secret *
ip_secret(struct ip_shared *sh)
{
	uint64_t zero, k;
	unsigned int i;

	for (i = 0; i < 2; i++)
		while (str_unlikely(__atomic_load_n(&sh->secret.k[i],
			__ATOMIC_RELAXED) == 0)) {
			zero = 0;
			k = str_random();
			(void)__atomic_compare_exchange_n(&sh->secret.k[i],
				&zero, k, 0, __ATOMIC_RELAXED,
				__ATOMIC_RELAXED);
		}
	return &sh->secret;
}

uint32_t
wire_id(const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto)
{
	struct ip_shared *sh = ip_shared();

	return sh == NULL ? 1 : ip_new_id(sh->ids, ip_secret(sh), src, dst,
		proto);
}
