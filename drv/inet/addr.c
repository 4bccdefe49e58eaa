/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Addresses, and the sockets that are bound to them.
 *
 * An endpoint has no socket until one is needed: the family is known when it
 * is bound or connected, and an endpoint on which a connection is accepted
 * never has one of its own.  After a connection the next one needs a new
 * socket, which is bound to the address that the endpoint still has.
 */
#include "inet_impl.h"

/*
 * inet_addr_check - is @b an address?
 * Return: 0 or -TBADADDR.  A longer @b is accepted and the rest ignored: some
 * programs pass the size of their buffer.
 */
int
inet_addr_check(const struct tpi_buf *b, struct sockaddr_storage *ret,
	uint32_t *retlen)
{
	sa_family_t fam;
	uint32_t len;

	if (b->len < sizeof(fam))
		return -TBADADDR;
	bcopy(b->buf, &fam, sizeof(fam));
	if (fam == AF_INET)
		len = sizeof(struct sockaddr_in);
	else if (fam == AF_INET6)
		len = sizeof(struct sockaddr_in6);
	else
		return -TBADADDR;
	if (b->len < len)
		return -TBADADDR;
	bzero(ret, sizeof(*ret));
	bcopy(b->buf, ret, len);
	*retlen = len;
	return 0;
}

/* inet_addr_any - any address of the machine */
void
inet_addr_any(int family, uint16_t port, struct sockaddr_storage *ret,
	uint32_t *retlen)
{
	bzero(ret, sizeof(*ret));
	if (family == AF_INET6) {
		struct sockaddr_in6 *s6 = (struct sockaddr_in6 *)(void *)ret;

		s6->sin6_family = AF_INET6;
		s6->sin6_port = port;
		*retlen = sizeof(*s6);
	} else {
		struct sockaddr_in *s4 = (struct sockaddr_in *)(void *)ret;

		s4->sin_family = AF_INET;
		s4->sin_port = port;
		*retlen = sizeof(*s4);
	}
}

static uint16_t
addr_port(const void *addr)
{
	/* at the same place in both families */
	return ((const struct sockaddr_in *)addr)->sin_port;
}

/* inet_tli - a kernel's -errno about an address, as an operation's result */
int
inet_tli(int err)
{
	switch (-err) {
	case 0:
		return 0;
	case EADDRINUSE:
		return -TADDRBUSY;
	case EADDRNOTAVAIL:
	case ENODEV:
		return -TNOADDR;
	case EACCES:
	case EPERM:
		return -TACCES;
	case EAFNOSUPPORT:
	case EINVAL:
		return -TBADADDR;
	default:
		return -err;
	}
}

/* inet_sock - make a socket of @family, unless there is one; minus an errno */
int
inet_sock(struct inet *in, int family)
{
	const struct inet_kind *k = &inet_kind[in->kind];
	int proto = in->proto != 0 ? (int)in->proto : k->proto, err;

	if (in->ks != NULL && in->family == family)
		return 0;
	if (in->ks != NULL) {
		ksock_close(in->ks, 0);
		in->ks = NULL;
	}
	err = ksock_create(in->rq, family, k->type,
		proto == IPPROTO_ICMP && family == AF_INET6 ?
			IPPROTO_ICMPV6 : proto, &in->ks);
	if (err != 0) {
		in->ks = NULL;
		return err;
	}
	in->named = 0;
	in->family = family;
	inet_apply(in);
	return 0;
}

/* inet_drop_sock - no socket any more; unbound.  @how: as for ksock_close(). */
void
inet_drop_sock(struct inet *in, int how)
{
	ksock_t *ks = in->ks;

	in->ks = NULL;
	in->named = 0;
	ksock_close(ks, how);
}

static int
addr_got(struct inet *in, struct tpi_addr *got)
{
	struct sockaddr_storage ss;
	uint32_t len = sizeof(ss);
	int err = ksock_name(in->ks, 0, &ss, &len);

	if (err != 0)
		return err;
	bcopy(&ss, got->buf, len);
	got->len = len;
	return 0;
}

/* inet_bind_to - bind a new socket; the result is an operation's */
int
inet_bind_to(struct inet *in, const struct tpi_buf *want, int any,
	struct tpi_addr *got)
{
	struct sockaddr_storage ss;
	uint32_t len;
	int err;

	in->inherited = 0;
	if (want->len == 0) {
		inet_addr_any(inet_kind[in->kind].family, 0, &ss, &len);
	} else {
		err = inet_addr_check(want, &ss, &len);
		if (err != 0)
			return err;
		if (want->len != len)
			return -TBADADDR;
	}
	in->any = addr_port(&ss) == 0;
	if (in->named) /* its binder died before it noted that */
		inet_drop_sock(in, 0);
	err = inet_sock(in, ss.ss_family);
	if (err != 0)
		return err == -EAFNOSUPPORT ? -TBADADDR : inet_tli(err);
	in->named = 1;
	err = ksock_bind(in->ks, &ss, len);
	if (err == -EADDRINUSE && any) {
		/* TLI: another port, which the acknowledgement contains */
		((struct sockaddr_in *)(void *)&ss)->sin_port = 0;
		in->any = 1;
		err = ksock_bind(in->ks, &ss, len);
	}
	if (err == 0)
		err = addr_got(in, got);
	if (err != 0)
		inet_drop_sock(in, 0);
	return inet_tli(err);
}

/*
 * inet_rebind - a socket for the next connection of a bound endpoint
 * @family: 0: the family of its address; with another one the port is kept if
 *          possible.
 * Return: minus an errno.
 */
int
inet_rebind(struct inet *in, int family)
{
	struct sockaddr_storage ss;
	struct tpi_buf b = {in->tp.local.buf, in->tp.local.len};
	uint32_t len;
	int err, one = 1;

	if (inet_addr_check(&b, &ss, &len) != 0)
		inet_addr_any(family != 0 ? family : AF_INET, 0, &ss, &len);
	else if (family != 0 && ss.ss_family != family)
		inet_addr_any(family, addr_port(&ss), &ss, &len);
	if (in->inherited)
		((struct sockaddr_in *)(void *)&ss)->sin_port = 0;
	err = inet_sock(in, ss.ss_family);
	if (err != 0)
		return err;
	in->named = 1;
	/* its last connection may linger in the kernel */
	(void)ksock_setopt(in->ks, SOL_SOCKET, SO_REUSEADDR, &one,
		sizeof(one));
	err = ksock_bind(in->ks, &ss, len);
	if (err == -EADDRINUSE && in->any) {
		((struct sockaddr_in *)(void *)&ss)->sin_port = 0;
		err = ksock_bind(in->ks, &ss, len);
	}
	if (err != 0)
		inet_drop_sock(in, 0);
	return err;
}
