/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Addresses of callers, checked, and addresses for callers.  A socket of
 * AF_INET6 shows addresses of IPv4 as mapped ones.
 */
#include "sock.h"

/* sk_addr_size - bytes of an address of @family; 0: it is none of ours */
socklen_t
sk_addr_size(int family)
{
	return family == AF_INET ? (socklen_t)sizeof(struct sockaddr_in) :
		family == AF_INET6 ? (socklen_t)sizeof(struct sockaddr_in6) :
		0;
}

/* Append one address.  0, or minus an errno. */
static int
append(const struct sock *s, const void *sa, socklen_t size,
	struct sk_addrs *ret)
{
	sa_family_t family;

	memcpy(&family, sa, sizeof(family));
	if (family == AF_INET6 && (SK(s) & SK_V6) == 0)
		return -EAFNOSUPPORT;
	if (ret->len + size > sizeof(ret->buf))
		return -EINVAL;
	memcpy(ret->buf + ret->len, sa, size);
	ret->len += size;
	return 0;
}

/* sk_addrs_in - @n addresses at @list, one behind the other */
int
sk_addrs_in(const struct sock *s, const void *list, int n, struct sk_addrs *ret)
{
	unsigned char one[sizeof(struct sockaddr_in6)];
	const char *p = list;
	sa_family_t family;
	socklen_t size;
	int i, err;

	ret->len = 0;
	if (n <= 0 || list == NULL)
		return -EINVAL;
	for (i = 0; i < n; i++, p += size) {
		if (strm_copy(&family, p, sizeof(family)) != 0)
			return -EFAULT;
		size = sk_addr_size(family);
		if (size == 0)
			return -EINVAL;
		if (strm_copy(one, p, size) != 0)
			return -EFAULT;
		err = append(s, one, size, ret);
		if (err != 0)
			return err;
	}
	return 0;
}

/* sk_addr_in - one address of @len bytes */
int
sk_addr_in(const struct sock *s, const struct sockaddr *sa, socklen_t len,
	struct sk_addrs *ret)
{
	sa_family_t family;

	if (sa == NULL || len < sizeof(family))
		return -EINVAL;
	if (strm_copy(&family, sa, sizeof(family)) != 0)
		return -EFAULT;
	if (sk_addr_size(family) == 0 || len < sk_addr_size(family))
		return -EINVAL; /* as Linux returns for all that is wrong */
	return sk_addrs_in(s, sa, 1, ret);
}

/* sk_addr_conv - the address at @from as the socket shows it; its size */
socklen_t
sk_addr_conv(const struct sock *s, const void *from,
	struct sockaddr_storage *ret)
{
	struct sockaddr_in6 s6 = {.sin6_family = AF_INET6};
	struct sockaddr_in s4;
	sa_family_t family;

	memset(ret, 0, sizeof(*ret));
	memcpy(&family, from, sizeof(family));
	if (family != AF_INET || (SK(s) & SK_V6) == 0 ||
	    (SK(s) & SK_PLAIN6) != 0) {
		memcpy(ret, from, sk_addr_size(family));
		return sk_addr_size(family);
	}
	memcpy(&s4, from, sizeof(s4));
	s6.sin6_port = s4.sin_port;
	s6.sin6_addr.s6_addr[10] = s6.sin6_addr.s6_addr[11] = 0xff;
	memcpy(&s6.sin6_addr.s6_addr[12], &s4.sin_addr, sizeof(s4.sin_addr));
	memcpy(ret, &s6, sizeof(s6));
	return sizeof(s6);
}

/* sk_addr_out - ... for the caller: as much as *@len permits */
int
sk_addr_out(const struct sock *s, const void *from, struct sockaddr *sa,
	socklen_t *len)
{
	struct sockaddr_storage ss;
	socklen_t size, room;

	if (sa == NULL || len == NULL)
		return sa == NULL ? 0 : -EFAULT;
	if (strm_copy(&room, len, sizeof(room)) != 0)
		return -EFAULT;
	if ((int)room < 0)
		return -EINVAL;
	size = sk_addr_conv(s, from, &ss);
	if (strm_copy(sa, &ss, room < size ? room : size) != 0 ||
	    strm_copy(len, &size, sizeof(size)) != 0)
		return -EFAULT;
	return 0;
}
