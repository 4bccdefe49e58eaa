/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Authentication: RFC 4895, RFC 6458 s6.1.8, s8.1, s8.3.
 */
#include "sk.h"

#define SAME(a, b) T_EQ((long)(a), (long)(b))

static int
set(int fd, int name, const void *p, size_t n)
{
	return setsockopt(fd, IPPROTO_SCTP, name, p, (socklen_t)n);
}

static void
set_value(int fd, int name, uint32_t v)
{
	struct sctp_assoc_value av = {.assoc_value = v};

	T_OK(set(fd, name, &av, sizeof(av)));
}

static uint32_t
value_of(int fd, int name)
{
	struct sctp_assoc_value av = {.assoc_value = 77};
	socklen_t len = sizeof(av);

	T_OK(getsockopt(fd, IPPROTO_SCTP, name, &av, &len));
	return av.assoc_value;
}

static int
set_key(int fd, sctp_assoc_t assoc, unsigned id, const char *text)
{
	union {
		struct sctp_authkey k;
		char room[sizeof(struct sctp_authkey) + 300];
	} b;
	size_t n = strlen(text);

	memset(&b, 0, sizeof(b));
	b.k.sca_assoc_id = assoc;
	b.k.sca_keynumber = (uint16_t)id;
	b.k.sca_keylength = (uint16_t)n;
	memcpy(b.room + sizeof(b.k), text, n);
	return set(fd, SCTP_AUTH_KEY, &b, sizeof(b.k) + n);
}

static int
key(int fd, int name, sctp_assoc_t assoc, unsigned id)
{
	struct sctp_authkeyid k = {.scact_assoc_id = assoc,
		.scact_keynumber = (uint16_t)id};

	return set(fd, name, &k, sizeof(k));
}

static unsigned
active_key(int fd)
{
	struct sctp_authkeyid k = {.scact_keynumber = 99};
	socklen_t len = sizeof(k);

	T_OK(getsockopt(fd, IPPROTO_SCTP, SCTP_AUTH_ACTIVE_KEY, &k, &len));
	return k.scact_keynumber;
}

static int
need_chunk(int fd, unsigned type)
{
	struct sctp_authchunk c = {.sauth_chunk = (uint8_t)type};

	return set(fd, SCTP_AUTH_CHUNK, &c, sizeof(c));
}

/* A list of chunks, as text. */
static int
chunks(int fd, int name, unsigned char *list, int room)
{
	union {
		struct sctp_authchunks c;
		unsigned char room[sizeof(struct sctp_authchunks) + 256];
	} b;
	socklen_t len = (socklen_t)(sizeof(b.c) + (size_t)room);

	memset(&b, 0, sizeof(b));
	if (getsockopt(fd, IPPROTO_SCTP, name, &b, &len) != 0)
		return -1;
	SAME(len, sizeof(b.c) + b.c.gauth_number_of_chunks);
	memcpy(list, b.room + sizeof(b.c), b.c.gauth_number_of_chunks);
	return (int)b.c.gauth_number_of_chunks;
}

/* A socket that offers AUTH, wants DATA to have it, and has key @id. */
static int
with_key(unsigned id, const char *text)
{
	struct sctp_rtoinfo rto = {.srto_initial = 50, .srto_min = 50,
		.srto_max = 100};
	int fd = new_socket();

	T_OK(set(fd, SCTP_RTOINFO, &rto, sizeof(rto)));
	set_value(fd, SCTP_AUTH_SUPPORTED, 1);
	T_OK(need_chunk(fd, 0));
	T_OK(set_key(fd, 0, id, text));
	T_OK(key(fd, SCTP_AUTH_ACTIVE_KEY, 0, id));
	return fd;
}

static int
listening(unsigned id, const char *text)
{
	struct sockaddr_in sa = loop(0);
	int fd = with_key(id, text);

	T_OK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)));
	T_OK(listen(fd, 5));
	return fd;
}

static void
auth_pair(int fd[2])
{
	int l = listening(7, "secret");

	fd[0] = with_key(7, "secret");
	T_OK(call(fd[0], port_of(l)));
	fd[1] = (int)T_OK(accept(l, NULL, NULL));
	T_OK(close(l));
}

static void
passes(int from, int to, char c)
{
	char got = 0;

	SAME(T_OK(send(from, &c, 1, 0)), 1);
	SAME(T_OK(recv(to, &got, 1, 0)), 1);
	SAME(got, c);
}

static void
expect(int fd, int type, union sctp_notification *n)
{
	int fl = 0, r;

	memset(n, 0, sizeof(*n));
	r = (int)T_OK(sctp_recvmsg(fd, n, sizeof(*n), NULL, NULL, NULL, &fl));
	T_TRUE((fl & MSG_NOTIFICATION) != 0);
	SAME(n->sn_header.sn_type, type);
	SAME(n->sn_header.sn_length, r);
}

T_CASE(authentication_is_not_offered_unless_it_is_asked_for)
{
	unsigned char list[256];
	struct sctp_authkeyid k = {.scact_keynumber = 0};
	socklen_t len = sizeof(k);
	int fd[2];

	pair(fd);
	SAME(value_of(fd[0], SCTP_AUTH_SUPPORTED), 0);
	T_ERR(set_key(fd[0], 0, 1, "a"), EACCES);
	T_ERR(key(fd[0], SCTP_AUTH_ACTIVE_KEY, 0, 0), EACCES);
	T_ERR(need_chunk(fd[0], 0), EACCES);
	T_ERR(chunks(fd[0], SCTP_LOCAL_AUTH_CHUNKS, list, 256), EACCES);
	T_ERR(chunks(fd[0], SCTP_PEER_AUTH_CHUNKS, list, 256), EACCES);
	T_ERR(getsockopt(fd[0], IPPROTO_SCTP, SCTP_AUTH_ACTIVE_KEY, &k, &len),
		EACCES);
	passes(fd[0], fd[1], 'a');
}

T_CASE(data_with_the_same_key_on_both_sides_passes)
{
	unsigned char list[256];
	int fd[2], i;

	auth_pair(fd);
	for (i = 0; i < 2; i++) {
		SAME(value_of(fd[i], SCTP_AUTH_SUPPORTED), 1);
		SAME(active_key(fd[i]), 7);
		SAME(chunks(fd[i], SCTP_LOCAL_AUTH_CHUNKS, list, 256), 1);
		SAME(list[0], 0);
		SAME(chunks(fd[i], SCTP_PEER_AUTH_CHUNKS, list, 256), 1);
		SAME(list[0], 0);
		passes(fd[i], fd[1 - i], 'a');
	}
}

T_CASE(data_with_an_unknown_key_waits_until_the_receiver_has_it)
{
	char c = 0;
	int fd[2];

	auth_pair(fd);
	T_OK(set_key(fd[0], 0, 9, "other"));
	T_OK(key(fd[0], SCTP_AUTH_ACTIVE_KEY, 0, 9));
	SAME(T_OK(send(fd[0], "x", 1, 0)), 1);
	T_ERR(recv(fd[1], &c, 1, MSG_DONTWAIT), EAGAIN);
	T_OK(set_key(fd[1], 0, 9, "wrong"));
	T_ERR(recv(fd[1], &c, 1, MSG_DONTWAIT), EAGAIN);
	T_OK(set_key(fd[1], 0, 9, "other"));
	SAME(T_OK(recv(fd[1], &c, 1, 0)), 1);
	SAME(c, 'x');
}

T_CASE(keys_are_used_retired_and_deleted)
{
	char longest[258];
	int fd = with_key(7, "secret"), i;

	T_ERR(key(fd, SCTP_AUTH_ACTIVE_KEY, 0, 8), EINVAL);
	T_ERR(key(fd, SCTP_AUTH_DELETE_KEY, 0, 7), EINVAL);
	T_ERR(key(fd, SCTP_AUTH_DEACTIVATE_KEY, 0, 7), EINVAL);
	T_ERR(key(fd, SCTP_AUTH_DELETE_KEY, 0, 8), EINVAL);
	T_OK(set_key(fd, 0, 8, ""));
	T_OK(key(fd, SCTP_AUTH_DEACTIVATE_KEY, 0, 8));
	T_ERR(key(fd, SCTP_AUTH_ACTIVE_KEY, 0, 8), EINVAL);
	T_OK(key(fd, SCTP_AUTH_DELETE_KEY, 0, 8));
	/* key 0 is there from the beginning */
	T_OK(key(fd, SCTP_AUTH_DEACTIVATE_KEY, 0, 0));
	T_ERR(key(fd, SCTP_AUTH_ACTIVE_KEY, 0, 0), EINVAL);
	T_OK(key(fd, SCTP_AUTH_DELETE_KEY, 0, 0));
	T_ERR(key(fd, SCTP_AUTH_DELETE_KEY, 0, 0), EINVAL);
	memset(longest, 'k', sizeof(longest));
	longest[257] = 0;
	T_ERR(set_key(fd, 0, 1, longest), EINVAL);
	longest[256] = 0;
	for (i = 8; i < 23; i++)
		T_OK(set_key(fd, 0, (unsigned)i, longest));
	T_ERR(set_key(fd, 0, 23, "a"), ENOSPC);
	T_OK(set_key(fd, 0, 22, "a"));
	SAME(active_key(fd), 7);
}

T_CASE(bad_options_of_authentication_are_refused)
{
	struct {
		struct sctp_hmacalgo a;
		uint16_t ids[6];
	} h = {.a = {.shmac_num_idents = 1}, .ids = {SCTP_AUTH_HMAC_ID_SHA256}};
	struct sctp_authkey k = {.sca_keynumber = 1, .sca_keylength = 5};
	unsigned char list[256];
	socklen_t len = sizeof(h);
	int fd = with_key(7, "secret");

	T_ERR(need_chunk(fd, 1), EINVAL);
	T_ERR(need_chunk(fd, 2), EINVAL);
	T_ERR(need_chunk(fd, 14), EINVAL);
	T_ERR(need_chunk(fd, 15), EINVAL);
	T_OK(need_chunk(fd, 255));
	T_ERR(set(fd, SCTP_AUTH_CHUNK, list, 0), EINVAL);
	T_ERR(set(fd, SCTP_AUTH_KEY, &k, sizeof(k)), EINVAL);
	T_ERR(set(fd, SCTP_AUTH_KEY, &k, sizeof(k) - 1), EINVAL);
	T_ERR(set(fd, SCTP_AUTH_ACTIVE_KEY, &k, 4), EINVAL);
	/* SHA-1 must be there: RFC 4895 s3.3 */
	T_ERR(set(fd, SCTP_HMAC_IDENT, &h, sizeof(h)), EINVAL);
	h.a.shmac_num_idents = 2;
	h.ids[1] = 2;
	T_ERR(set(fd, SCTP_HMAC_IDENT, &h, sizeof(h)), EOPNOTSUPP);
	h.ids[1] = SCTP_AUTH_HMAC_ID_SHA256;
	T_ERR(set(fd, SCTP_HMAC_IDENT, &h, sizeof(h)), EINVAL);
	h.ids[1] = SCTP_AUTH_HMAC_ID_SHA1;
	T_ERR(set(fd, SCTP_HMAC_IDENT, &h, sizeof(h.a) + 2), EINVAL);
	h.a.shmac_num_idents = 0x80000001u;
	T_ERR(set(fd, SCTP_HMAC_IDENT, &h, sizeof(h)), EINVAL);
	h.a.shmac_num_idents = 1;
	h.ids[0] = SCTP_AUTH_HMAC_ID_SHA1;
	T_OK(set(fd, SCTP_HMAC_IDENT, &h, sizeof(h)));
	h.a.shmac_num_idents = 9;
	T_OK(getsockopt(fd, IPPROTO_SCTP, SCTP_HMAC_IDENT, &h, &len));
	SAME(len, sizeof(h.a) + 2);
	SAME(h.a.shmac_num_idents, 1);
	SAME(chunks(fd, SCTP_LOCAL_AUTH_CHUNKS, list, 256), 2);
	SAME(list[1], 255);
	T_ERR(chunks(fd, SCTP_LOCAL_AUTH_CHUNKS, list, 1), EINVAL);
	T_ERR(chunks(fd, SCTP_PEER_AUTH_CHUNKS, list, 256), EINVAL);
	T_ERR(set(fd, SCTP_AUTH_SUPPORTED, &(struct sctp_assoc_value){0, 2},
		sizeof(struct sctp_assoc_value)), EINVAL);
}

T_CASE(a_new_key_of_the_peer_and_a_free_key_are_told)
{
	union sctp_notification n;
	int fd[2];

	auth_pair(fd);
	subscribe(fd[0], SCTP_AUTHENTICATION_EVENT);
	subscribe(fd[1], SCTP_AUTHENTICATION_EVENT);
	T_OK(set_key(fd[0], 0, 9, "next"));
	T_OK(set_key(fd[1], 0, 9, "next"));
	T_OK(key(fd[0], SCTP_AUTH_ACTIVE_KEY, 0, 9));
	T_OK(key(fd[0], SCTP_AUTH_DEACTIVATE_KEY, 0, 7));
	expect(fd[0], SCTP_AUTHENTICATION_EVENT, &n);
	SAME(n.sn_authkey_event.auth_indication, SCTP_AUTH_FREE_KEY);
	SAME(n.sn_authkey_event.auth_keynumber, 7);
	SAME(T_OK(send(fd[0], "x", 1, 0)), 1);
	do {
		expect(fd[1], SCTP_AUTHENTICATION_EVENT, &n);
		SAME(n.sn_authkey_event.auth_indication, SCTP_AUTH_NEW_KEY);
	} while (n.sn_authkey_event.auth_keynumber != 9);
}

T_CASE(a_peer_without_authentication_is_told)
{
	struct sctp_event ev = {.se_type = SCTP_AUTHENTICATION_EVENT,
		.se_on = 1};
	union sctp_notification n;
	int l = listener(5), fd = with_key(7, "secret");

	T_OK(set(fd, SCTP_EVENT, &ev, sizeof(ev)));
	T_OK(call(fd, port_of(l)));
	expect(fd, SCTP_AUTHENTICATION_EVENT, &n);
	SAME(n.sn_authkey_event.auth_indication, SCTP_AUTH_NO_AUTH);
	SAME(value_of(fd, SCTP_AUTH_SUPPORTED), 0);
	T_ERR(set_key(fd, 0, 1, "a"), EACCES);
}

T_CASE(keys_of_one_of_many_associations_are_its_own)
{
	struct sctp_event ev = {.se_type = SCTP_ASSOC_CHANGE, .se_on = 1};
	struct sockaddr_in sa;
	union sctp_notification n;
	sctp_assoc_t id[2];
	int l = listening(7, "secret"), one, fd[2], i;

	one = (int)T_OK(socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP));
	set_value(one, SCTP_AUTH_SUPPORTED, 1);
	T_OK(need_chunk(one, 0));
	T_OK(set_key(one, SCTP_FUTURE_ASSOC, 7, "secret"));
	T_OK(key(one, SCTP_AUTH_ACTIVE_KEY, SCTP_FUTURE_ASSOC, 7));
	T_OK(set(one, SCTP_EVENT, &ev, sizeof(ev)));
	for (i = 0; i < 2; i++) {
		sa = loop(port_of(i == 0 ? l : listening(7, "secret")));
		T_OK(sctp_connectx(one, (struct sockaddr *)&sa, 1, &id[i]));
		expect(one, SCTP_ASSOC_CHANGE, &n);
		SAME(n.sn_assoc_change.sac_state, SCTP_COMM_UP);
	}
	fd[0] = (int)T_OK(accept(l, NULL, NULL));
	T_OK(set_key(one, id[0], 8, "b"));
	T_OK(key(one, SCTP_AUTH_ACTIVE_KEY, id[0], 8));
	T_ERR(key(one, SCTP_AUTH_ACTIVE_KEY, id[1], 8), EINVAL);
	T_ERR(key(one, SCTP_AUTH_ACTIVE_KEY, SCTP_CURRENT_ASSOC, 8), EINVAL);
	T_ERR(set_key(one, id[1] + 1000, 8, "b"), EINVAL);
	T_ERR(set_key(one, -1, 8, "b"), EINVAL);
	T_OK(set_key(one, SCTP_ALL_ASSOC, 9, "c"));
	T_OK(key(one, SCTP_AUTH_ACTIVE_KEY, SCTP_CURRENT_ASSOC, 9));
	SAME(active_key(one), 7);
	T_OK(set_key(fd[0], 0, 9, "c"));
	SAME(T_OK(sctp_sendmsg(one, "x", 1, (struct sockaddr *)&(
		struct sockaddr_in){.sin_family = AF_INET, .sin_port =
		htons((uint16_t)port_of(l)), .sin_addr = loop(0).sin_addr},
		sizeof(sa), 0, 0, 0, 0, 0)), 1);
	i = 0;
	SAME(T_OK(recv(fd[0], &i, 1, 0)), 1);
	SAME(i, 'x');
}

