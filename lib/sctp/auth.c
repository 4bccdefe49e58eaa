/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options of authentication (RFC 6458 s8.1, s8.3; RFC 4895) and of addresses
 * (RFC 5061).  Errors are those of Linux: EACCES if AUTH is not offered, or was
 * not agreed with the peer.
 */
#include "sock.h"

/* The association of an option about keys, as the provider names it. */
static int
assoc_of(const struct sock *s, sctp_assoc_t id, uint32_t *ret)
{
	*ret = (SK(s) & SK_MANY) != 0 ? (uint32_t)id : 0;
	return (SK(s) & SK_MANY) != 0 && id < 0 ? -EINVAL : 0;
}

/* ------------------------------------------------------------------------ keys */

/* SCTPIO_KEY; @n bytes of the caller's at @p. */
static int
key_request(struct sock *s, sctp_assoc_t id, uint32_t what, uint32_t key,
	const void *p, size_t n)
{
	union {
		struct sctpio_key k;
		unsigned char room[sizeof(struct sctpio_key) + 256];
	} b;
	size_t size = sizeof(b.k) + n;
	int err;

	if (n > sizeof(b) - sizeof(b.k))
		return -EINVAL;
	memset(&b, 0, sizeof(b));
	b.k.what = what;
	b.k.id = key;
	b.k.n = (uint32_t)n;
	err = assoc_of(s, id, &b.k.assoc);
	if (err == 0 && n != 0 && strm_copy(b.room + sizeof(b.k), p, n) != 0)
		err = -EFAULT;
	if (err == 0)
		err = sk_ioctl(s, SCTPIO_KEY, &b, size, size);
	explicit_bzero(&b, sizeof(b));
	return err == -ENOTCONN ? -EINVAL : err < 0 ? err : 0;
}

static int
set_key(struct sock *s, const void *val, socklen_t len)
{
	struct sctp_authkey o;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	if (o.sca_keylength > len - sizeof(o))
		return -EINVAL;
	return key_request(s, o.sca_assoc_id, SCTPIO_KEY_SET, o.sca_keynumber,
		(const char *)val + sizeof(o), o.sca_keylength);
}

static int
use_key(struct sock *s, uint32_t what, const void *val, socklen_t len)
{
	struct sctp_authkeyid o;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	return err != 0 ? err : key_request(s, o.scact_assoc_id, what,
		o.scact_keynumber, NULL, 0);
}

/* --------------------------------------------------------------- parameters */

/* Parameters of associations to come; they need SCTP_AUTH_SUPPORTED. */
static int
auth_conf(struct sock *s, struct sctpio_conf *c)
{
	int err = sk_conf_get(s, 0, c);

	return err != 0 ? err : c->auth ? 0 : -EACCES;
}

static int
add_chunk(struct sock *s, const void *val, socklen_t len)
{
	struct sctp_authchunk o;
	struct sctpio_conf c;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err == 0)
		err = auth_conf(s, &c);
	if (err != 0)
		return err;
	c.auth_chunks[o.sauth_chunk / 32] |= 1u << o.sauth_chunk % 32;
	return sk_conf_set(s, &c); /* it refuses INIT and the like */
}

static int
set_hmacs(struct sock *s, const void *val, socklen_t len)
{
	struct sctp_hmacalgo o;
	uint16_t ids[4];
	struct sctpio_conf c;
	uint32_t i, n = 0;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err == 0)
		err = auth_conf(s, &c);
	if (err != 0)
		return err;
	if (o.shmac_num_idents == 0 || o.shmac_num_idents > 4 ||
		o.shmac_num_idents * sizeof(ids[0]) > len - sizeof(o))
		return -EINVAL;
	if (strm_copy(ids, (const char *)val + sizeof(o),
		o.shmac_num_idents * sizeof(ids[0])) != 0)
		return -EFAULT;
	c.hmac[0] = c.hmac[1] = 0;
	for (i = 0; i < o.shmac_num_idents; i++) {
		if (ids[i] != SCTP_AUTH_HMAC_ID_SHA1 &&
			ids[i] != SCTP_AUTH_HMAC_ID_SHA256)
			return -EOPNOTSUPP;
		if (n == 2 || (n == 1 && c.hmac[0] == ids[i]))
			return -EINVAL;
		c.hmac[n++] = ids[i];
	}
	return sk_conf_set(s, &c); /* it wants SHA-1 to be there */
}

static int
set_adaptation(struct sock *s, const void *val, socklen_t len)
{
	struct sctp_setadaptation o;
	struct sctpio_conf c;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err == 0)
		err = sk_conf_get(s, 0, &c);
	if (err != 0)
		return err;
	c.adapts = 1;
	c.adaptation = o.ssb_adaptation_ind;
	return sk_conf_set(s, &c);
}

/* --------------------------------------------------------------- addresses */

static int
set_peer_primary(struct sock *s, const void *val, socklen_t len)
{
	struct sctpio_addrs a = {.n = 1};
	struct sctp_setpeerprim o;
	struct sockaddr_storage ss;
	struct sk_addrs list;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	memcpy(&ss, &o.sspp_addr, sizeof(ss));
	err = sk_addr_in(s, (struct sockaddr *)&ss, sizeof(ss), &list);
	if (err == 0)
		err = assoc_of(s, o.sspp_assoc_id, &a.assoc);
	if (err != 0)
		return err;
	memcpy(&a.addr[0], list.buf, list.len);
	err = sk_ioctl(s, SCTPIO_PEER_PRIMARY, &a, sizeof(a), sizeof(a));
	return err == -EOPNOTSUPP ? -EPERM : err < 0 ? err : 0;
}

/*
 * SCTP_AUTO_ASCONF.  The provider is not told when an address of the host comes
 * or goes, so associations cannot follow.
 */
static int
set_auto(const void *val, socklen_t len)
{
	int v, err = sk_opt_in(&v, sizeof(v), val, len);

	return err != 0 ? err : v != 0 ? -EOPNOTSUPP : 0;
}

/* sk_setopt_auth - 1: it is no option of this file */
int
sk_setopt_auth(struct sock *s, int name, const void *val, socklen_t len)
{
	switch (name) {
	case SCTP_AUTH_KEY:
		return set_key(s, val, len);
	case SCTP_AUTH_ACTIVE_KEY:
		return use_key(s, SCTPIO_KEY_USE, val, len);
	case SCTP_AUTH_DELETE_KEY:
		return use_key(s, SCTPIO_KEY_DELETE, val, len);
	case SCTP_AUTH_DEACTIVATE_KEY:
		return use_key(s, SCTPIO_KEY_RETIRE, val, len);
	case SCTP_AUTH_CHUNK:
		return add_chunk(s, val, len);
	case SCTP_HMAC_IDENT:
		return set_hmacs(s, val, len);
	case SCTP_ADAPTATION_LAYER:
		return set_adaptation(s, val, len);
	case SCTP_SET_PEER_PRIMARY_ADDR:
		return set_peer_primary(s, val, len);
	case SCTP_AUTO_ASCONF:
		return set_auto(val, len);
	default:
		return 1;
	}
}

/* ---------------------------------------------------------------------- to read */

/* The caller's @o, of @size bytes, which begins with the association. */
static int
asked(void *o, size_t size, const void *val, const socklen_t *len)
{
	socklen_t room;

	if (len == NULL || strm_copy(&room, len, sizeof(room)) != 0)
		return -EFAULT;
	return (int)room < 0 ? -EINVAL : sk_opt_in(o, size, val, room);
}

static int
get_active(struct sock *s, void *val, socklen_t *len)
{
	struct sctpio_key k = {.what = SCTPIO_KEY_ACTIVE};
	struct sctp_authkeyid o;
	struct sctpio_conf c;
	int err = asked(&o, sizeof(o), val, len), n;

	if (err == 0)
		err = assoc_of(s, o.scact_assoc_id, &k.assoc);
	if (err == 0 && k.assoc == 0)
		err = auth_conf(s, &c);
	if (err != 0)
		return err;
	n = sk_ioctl(s, SCTPIO_KEY, &k, sizeof(k), sizeof(k));
	if (n < 0)
		return n == -ENOTCONN ? -EINVAL : n;
	o.scact_keynumber = (uint16_t)k.id;
	return sk_opt_out(val, len, &o, sizeof(o));
}

/* SCTP_LOCAL_AUTH_CHUNKS, SCTP_PEER_AUTH_CHUNKS */
static int
get_chunks(struct sock *s, int name, void *val, socklen_t *len)
{
	union {
		struct sctpio_word w;
		struct sctpio_chunks c;
	} b = {.w = {.value = name == SCTP_PEER_AUTH_CHUNKS}};
	union {
		struct sctp_authchunks c;
		unsigned char room[sizeof(struct sctp_authchunks) + 256];
	} o;
	int err = asked(&o, sizeof(o.c), val, len), n;

	if (err == 0)
		err = assoc_of(s, o.c.gauth_assoc_id, &b.w.assoc);
	if (err != 0)
		return err;
	n = sk_ioctl(s, SCTPIO_CHUNKS, &b, sizeof(b.w), sizeof(b));
	if (n < 0)
		return n == -ENOTCONN ? -EINVAL : n;
	o.c.gauth_number_of_chunks = b.c.n;
	memcpy(o.room + sizeof(o.c), b.c.type, b.c.n);
	return sk_opt_out(val, len, &o, sizeof(o.c) + b.c.n);
}

static int
get_hmacs(struct sock *s, void *val, socklen_t *len)
{
	struct {
		struct sctp_hmacalgo a;
		uint16_t ids[2];
	} o = {.a = {.shmac_num_idents = 0}};
	struct sctpio_conf c;
	int err = auth_conf(s, &c);

	if (err != 0)
		return err;
	while (o.a.shmac_num_idents < 2 && c.hmac[o.a.shmac_num_idents] != 0) {
		o.ids[o.a.shmac_num_idents] =
			(uint16_t)c.hmac[o.a.shmac_num_idents];
		o.a.shmac_num_idents++;
	}
	return sk_opt_out(val, len, &o, sizeof(o.a) +
		o.a.shmac_num_idents * sizeof(o.ids[0]));
}

static int
get_word(struct sock *s, int name, void *val, socklen_t *len)
{
	struct sctpio_conf c = {.adaptation = 0};
	int err = name == SCTP_AUTO_ASCONF ? 0 : sk_conf_get(s, 0, &c);

	return err != 0 ? err : sk_opt_out(val, len, &c.adaptation,
		sizeof(c.adaptation));
}

/* sk_getopt_auth - 1: it is no option of this file */
int
sk_getopt_auth(struct sock *s, int name, void *val, socklen_t *len)
{
	switch (name) {
	case SCTP_AUTH_ACTIVE_KEY:
		return get_active(s, val, len);
	case SCTP_LOCAL_AUTH_CHUNKS:
	case SCTP_PEER_AUTH_CHUNKS:
		return get_chunks(s, name, val, len);
	case SCTP_HMAC_IDENT:
		return get_hmacs(s, val, len);
	case SCTP_ADAPTATION_LAYER:
	case SCTP_AUTO_ASCONF:
		return get_word(s, name, val, len);
	default:
		return 1;
	}
}
