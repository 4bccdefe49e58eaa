/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Choice of a source address: the examples of RFC 6724 s10.1, and IPv4.
 */
#include <arpa/inet.h>
#include "t.h"
#include "source.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static struct ip_addr
addr(const char *text)
{
	struct ip_addr a = {0, {0}};

	a.len = inet_pton(AF_INET, text, a.b) == 1 ? 4 : 16;
	if (a.len == 16)
		T_EQ(inet_pton(AF_INET6, text, a.b), 1);
	return a;
}

T_CASE(sources_are_chosen_as_the_rfc_says)
{
	static const struct {
		const char *dst, *good, *other;
	} row[] = {
		{"2001:db8:1::1", "2001:db8:3::1", "fe80::1"},
		{"ff05::1", "2001:db8:3::1", "fe80::1"},
		{"2001:db8:1::1", "2001:db8:1::1", "2001:db8:2::1"},
		{"fe80::1", "fe80::2", "2001:db8:1::1"},
		{"2001:db8:1::1", "2001:db8:1::2", "2001:db8:3::2"},
		{"2002:c633:6401::1", "2002:c633:6401::d5e3:7953:13eb:22e8",
			"2001:db8:1::2"},
		{"fd00:1::1", "fd00:2::1", "2001:db8:1::2"},
		{"2001:db8:1::1", "2001:db8:3::1", "fd00:1::1"},
		{"ff02::1", "fe80::1", "2001:db8:3::1"},
		{"10.1.2.3", "10.1.0.1", "10.2.0.1"},
		{"192.0.2.1", "10.1.0.1", "169.254.0.1"},
		{"169.254.7.7", "169.254.0.1", "10.1.0.1"},
	};
	struct ip_addr a, b, d;
	unsigned i, bits;

	for (i = 0; i < LEN(row); i++) {
		d = addr(row[i].dst);
		a = addr(row[i].good);
		b = addr(row[i].other);
		bits = d.len == 4 ? 16 : 64;
		T_EQ(ip_source_better(&a, bits, &b, bits, &d), 1);
		T_EQ(ip_source_better(&b, bits, &a, bits, &d), 0);
	}
	/* nothing distinguishes them: the first stays */
	d = addr("198.51.100.1");
	a = addr("10.1.0.1");
	b = addr("10.2.0.1");
	T_EQ(ip_source_better(&a, 16, &b, 16, &d), 0);
	T_EQ(ip_source_better(&b, 16, &a, 16, &d), 0);
}
