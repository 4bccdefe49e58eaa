/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options of sockets: RFC 6458 s8.
 */
#include <stddef.h>

#include "sk.h"

/* Options that are read and written, and the size of their values. */
static const struct {
	int name;
	socklen_t size;
} rows[] = {
	{SCTP_RTOINFO, sizeof(struct sctp_rtoinfo)},
	{SCTP_ASSOCINFO, sizeof(struct sctp_assocparams)},
	{SCTP_INITMSG, sizeof(struct sctp_initmsg)},
	{SCTP_NODELAY, sizeof(int)},
	{SCTP_DISABLE_FRAGMENTS, sizeof(int)},
	{SCTP_DEFAULT_SEND_PARAM, sizeof(struct sctp_sndrcvinfo)},
	{SCTP_DEFAULT_SNDINFO, sizeof(struct sctp_sndinfo)},
	{SCTP_DEFAULT_PRINFO, sizeof(struct sctp_default_prinfo)},
	{SCTP_I_WANT_MAPPED_V4_ADDR, sizeof(int)},
	{SCTP_CONTEXT, sizeof(struct sctp_assoc_value)},
	{SCTP_FRAGMENT_INTERLEAVE, sizeof(int)},
	{SCTP_PARTIAL_DELIVERY_POINT, sizeof(int)},
	{SCTP_ADAPTATION_LAYER, sizeof(int)},
	{SCTP_RECVNXTINFO, sizeof(int)},
	{SCTP_AUTH_SUPPORTED, sizeof(int)},
	{SCTP_ASCONF_SUPPORTED, sizeof(int)},
	{SCTP_MAX_BURST, sizeof(struct sctp_assoc_value)},
	{SCTP_DELAYED_SACK, sizeof(struct sctp_sack_info)},
	{SCTP_RECVRCVINFO, sizeof(int)},
	{SCTP_PEER_ADDR_THLDS, sizeof(struct sctp_paddrthlds)},
	{SCTP_PEER_ADDR_THLDS_V2, sizeof(struct sctp_paddrthlds_v2)},
	{SCTP_MAXSEG, sizeof(int)},
	{SCTP_PR_SUPPORTED, sizeof(int)},
	{SCTP_RECONFIG_SUPPORTED, sizeof(int)},
	{SCTP_ENABLE_STREAM_RESET, sizeof(int)},
	{SCTP_STREAM_SCHEDULER, sizeof(int)},
	{SCTP_INTERLEAVING_SUPPORTED, sizeof(int)},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

T_CASE(what_is_read_can_be_set_again)
{
	char a[256], b[256];
	socklen_t len;
	int fd[2];
	size_t i;

	pair(fd);
	for (i = 0; i < ROWS; i++) {
		memset(a, 0, sizeof(a));
		memset(b, 0, sizeof(b));
		len = rows[i].size;
		T_OK(getsockopt(fd[0], IPPROTO_SCTP, rows[i].name, a, &len));
		T_EQ(len, rows[i].size);
		T_OK(setsockopt(fd[0], IPPROTO_SCTP, rows[i].name, a, len));
		T_OK(getsockopt(fd[0], IPPROTO_SCTP, rows[i].name, b, &len));
		T_EQ(memcmp(a, b, len), 0);
	}
}

T_CASE(every_length_that_is_too_short_is_refused)
{
	char a[256];
	socklen_t len, n;
	int fd[2];
	size_t i;

	pair(fd);
	for (i = 0; i < ROWS; i++)
		for (n = 0; n < rows[i].size; n++) {
			if (n >= sizeof(int) &&
			    (rows[i].name == SCTP_CONTEXT ||
				    rows[i].name == SCTP_MAX_BURST ||
				    rows[i].name == SCTP_DELAYED_SACK))
				continue; /* an older form */
			memset(a, 0, sizeof(a));
			T_ERR(setsockopt(fd[0], IPPROTO_SCTP, rows[i].name, a,
				n), EINVAL);
			len = n;
			T_ERR(getsockopt(fd[0], IPPROTO_SCTP, rows[i].name, a,
				&len), EINVAL);
		}
	for (i = 0; i < ROWS; i++) {
		len = (socklen_t)-1;
		T_ERR(getsockopt(fd[0], IPPROTO_SCTP, rows[i].name, a, &len),
			EINVAL);
		T_ERR(setsockopt(fd[0], IPPROTO_SCTP, rows[i].name, a, len),
			EINVAL);
		T_ERR(getsockopt(fd[0], IPPROTO_SCTP, rows[i].name, a, NULL),
			EFAULT);
		T_ERR(setsockopt(fd[0], IPPROTO_SCTP, rows[i].name, NULL,
			rows[i].size), EFAULT);
	}
}

T_CASE(options_that_there_are_not_are_refused)
{
	static const int names[] = {SCTP_ECN_SUPPORTED,
		SCTP_REMOTE_UDP_ENCAPS_PORT, 99, 9999};
	char a[256] = {0};
	int fd = new_socket();
	socklen_t len;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		T_ERR(setsockopt(fd, IPPROTO_SCTP, names[i], a, sizeof(a)),
			ENOPROTOOPT);
		len = sizeof(a);
		T_ERR(getsockopt(fd, IPPROTO_SCTP, names[i], a, &len),
			ENOPROTOOPT);
	}
	T_ERR(setsockopt(fd, SOL_SOCKET, 9999, a, 4), ENOPROTOOPT);
	T_ERR(setsockopt(fd, IPPROTO_TCP, 1, a, 4), ENOPROTOOPT);
	T_ERR(setsockopt(fd, IPPROTO_SCTP, SCTP_AUTOCLOSE, a, 4), EOPNOTSUPP);
}

T_CASE(streams_are_negotiated)
{
	struct sctp_initmsg im = {.sinit_num_ostreams = 100,
		.sinit_max_instreams = 5};
	struct sctp_status st;
	socklen_t len = sizeof(st);
	int l = new_socket(), c = new_socket(), s;
	struct sockaddr_in sa = loop(0);

	im.sinit_num_ostreams = 3;
	im.sinit_max_instreams = 7;
	T_OK(setsockopt(l, IPPROTO_SCTP, SCTP_INITMSG, &im, sizeof(im)));
	T_OK(bind(l, (struct sockaddr *)&sa, sizeof(sa)));
	T_OK(listen(l, 2));
	im.sinit_num_ostreams = 100;
	im.sinit_max_instreams = 5;
	T_OK(setsockopt(c, IPPROTO_SCTP, SCTP_INITMSG, &im, sizeof(im)));
	T_OK(call(c, port_of(l)));
	s = (int)T_OK(accept(l, NULL, NULL));
	T_OK(getsockopt(c, IPPROTO_SCTP, SCTP_STATUS, &st, &len));
	T_EQ(st.sstat_outstrms, 7);
	T_EQ(st.sstat_instrms, 3);
	T_EQ(st.sstat_state, SCTP_ESTABLISHED);
	T_NE(st.sstat_assoc_id, 0);
	T_EQ(st.sstat_primary.spinfo_state, SCTP_ACTIVE);
	T_OK(sctp_opt_info(s, 0, SCTP_STATUS, &st, &len));
	T_EQ(st.sstat_outstrms, 3);
	T_EQ(st.sstat_instrms, 7);
	T_ERR(getsockopt(new_socket(), IPPROTO_SCTP, SCTP_STATUS, &st, &len),
		EINVAL);
	len = 5;
	T_ERR(getsockopt(c, IPPROTO_SCTP, SCTP_STATUS, &st, &len), EINVAL);
	T_ERR(sctp_opt_info(s, 0, SCTP_NODELAY, &st, &len), EOPNOTSUPP);
}

T_CASE(retransmission_times_keep_their_order)
{
	struct sctp_rtoinfo r = {.srto_initial = 500, .srto_min = 100,
		.srto_max = 2000};
	socklen_t len = sizeof(r);
	int fd[2];

	pair(fd);
	T_OK(setsockopt(fd[0], IPPROTO_SCTP, SCTP_RTOINFO, &r, sizeof(r)));
	memset(&r, 0, sizeof(r));
	r.srto_max = 3000;
	T_OK(setsockopt(fd[0], IPPROTO_SCTP, SCTP_RTOINFO, &r, sizeof(r)));
	T_OK(getsockopt(fd[0], IPPROTO_SCTP, SCTP_RTOINFO, &r, &len));
	T_EQ(r.srto_initial, 500u);
	T_EQ(r.srto_min, 100u);
	T_EQ(r.srto_max, 3000u);
	r.srto_min = 5000;
	T_ERR(setsockopt(fd[0], IPPROTO_SCTP, SCTP_RTOINFO, &r, sizeof(r)),
		EINVAL);
	r.srto_max = 0xffffffff;
	T_ERR(setsockopt(fd[0], IPPROTO_SCTP, SCTP_RTOINFO, &r, sizeof(r)),
		EINVAL);
}

T_CASE(a_peers_address_is_described)
{
	struct sockaddr_in sa;
	struct sctp_paddrinfo pi;
	struct sctp_paddrparams pp;
	struct sctp_prim pr;
	socklen_t len = sizeof(sa);
	int fd[2];

	pair(fd);
	T_OK(getpeername(fd[0], (struct sockaddr *)&sa, &len));
	memset(&pi, 0, sizeof(pi));
	memcpy(&pi.spinfo_address, &sa, sizeof(sa));
	len = sizeof(pi);
	T_OK(getsockopt(fd[0], IPPROTO_SCTP, SCTP_GET_PEER_ADDR_INFO, &pi,
		&len));
	T_EQ(pi.spinfo_state, SCTP_ACTIVE);
	T_GT(pi.spinfo_cwnd, 0u);
	T_GT(pi.spinfo_mtu, 500u);
	len = sizeof(pr);
	T_OK(getsockopt(fd[0], IPPROTO_SCTP, SCTP_PRIMARY_ADDR, &pr, &len));
	T_EQ(memcmp((char *)&pr + offsetof(struct sctp_prim, ssp_addr), &sa,
		       sizeof(sa)),
		0);
	T_OK(setsockopt(fd[0], IPPROTO_SCTP, SCTP_PRIMARY_ADDR, &pr,
		sizeof(pr)));

	memset(&pp, 0, sizeof(pp));
	pp.spp_hbinterval = 1234;
	pp.spp_flags = SPP_HB_ENABLE;
	pp.spp_pathmaxrxt = 3;
	T_OK(setsockopt(fd[0], IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &pp,
		sizeof(pp)));
	memset(&pp, 0, sizeof(pp));
	memcpy(&pp.spp_address, &sa, sizeof(sa));
	len = sizeof(pp);
	T_OK(getsockopt(fd[0], IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &pp, &len));
	T_EQ(pp.spp_hbinterval, 1234u);
	T_EQ(pp.spp_pathmaxrxt, 3);
	T_TRUE((pp.spp_flags & SPP_HB_ENABLE) != 0);
	T_GT(pp.spp_pathmtu, 500u);
	pp.spp_flags = SPP_HB_DEMAND;
	T_OK(setsockopt(fd[0], IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &pp,
		sizeof(pp)));
	pp.spp_flags = SPP_HB_DISABLE;
	T_OK(setsockopt(fd[0], IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &pp,
		sizeof(pp)));
	pp.spp_flags = SPP_HB_ENABLE | SPP_HB_DISABLE;
	T_ERR(setsockopt(fd[0], IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &pp,
		sizeof(pp)), EINVAL);

	/* an address that is not the peer's */
	sa.sin_addr.s_addr = htonl(0x7f010203);
	memcpy(&pi.spinfo_address, &sa, sizeof(sa));
	len = sizeof(pi);
	T_ERR(getsockopt(fd[0], IPPROTO_SCTP, SCTP_GET_PEER_ADDR_INFO, &pi,
		&len), EINVAL);
	memcpy(&pr.ssp_addr, &sa, sizeof(sa));
	T_ERR(setsockopt(fd[0], IPPROTO_SCTP, SCTP_PRIMARY_ADDR, &pr,
		sizeof(pr)), EINVAL);
}

T_CASE(fragments_can_be_refused)
{
	static char buf[100000];
	int fd[2], seg;
	struct sctp_assoc_value av = {0, 0};
	socklen_t len = sizeof(av);

	pair(fd);
	T_OK(getsockopt(fd[0], IPPROTO_SCTP, SCTP_MAXSEG, &av, &len));
	seg = (int)av.assoc_value;
	T_GT(seg, 500);
	set_int(fd[0], IPPROTO_SCTP, SCTP_DISABLE_FRAGMENTS, 1);
	T_ERR(send(fd[0], buf, (size_t)seg + 1, 0), EMSGSIZE);
	T_OK(send(fd[0], buf, (size_t)seg, 0));
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), seg);
}

T_CASE(buffers_and_linger_are_kept)
{
	struct linger l = {.l_onoff = 1, .l_linger = 5};
	socklen_t len = sizeof(l);
	static char buf[20000];
	int fd[2];

	pair(fd);
	set_int(fd[0], SOL_SOCKET, SO_SNDBUF, 10000);
	T_EQ(get_int(fd[0], SOL_SOCKET, SO_SNDBUF), 10000);
	T_ERR(send(fd[0], buf, sizeof(buf), 0), EMSGSIZE);
	set_int(fd[0], SOL_SOCKET, SO_RCVBUF, 50000);
	T_EQ(get_int(fd[0], SOL_SOCKET, SO_RCVBUF), 50000);
	set_int(fd[0], SOL_SOCKET, SO_REUSEADDR, 1);
	T_EQ(get_int(fd[0], SOL_SOCKET, SO_REUSEADDR), 1);
	T_OK(setsockopt(fd[0], SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
	memset(&l, 0, sizeof(l));
	T_OK(getsockopt(fd[0], SOL_SOCKET, SO_LINGER, &l, &len));
	T_EQ(l.l_onoff, 1);
	T_EQ(l.l_linger, 5);
}
