/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * NPI 2.0.0 in connection mode: the module npi, over sctp (/dev/sctp_n) and over
 * ticotsord.  Each case runs over both.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <stropts.h>
#include <sys/npi.h>
#include <unistd.h>

#include "t.h"

#define WAIT 60000 /* ms, for what must come */

/* The provider of the case. */
static int is_sctp;

/* The last message. */
static struct {
	union {
		union N_primitives p;
		unsigned char ctl[1024];
	};
	unsigned char data[1024];
	int ctllen, datalen, band, hipri;
} got;

struct addr {
	unsigned len;
	unsigned char buf[256];
};

#define NPI_CASE(name) \
	static void name##_body(void); \
	T_CASE(name##_over_sctp) \
	{ \
		is_sctp = 1; \
		name##_body(); \
	} \
	T_CASE(name##_over_ticotsord) \
	{ \
		is_sctp = 0; \
		name##_body(); \
	} \
	static void name##_body(void)

static int
npi_open(void)
{
	int fd;

	if (is_sctp)
		return (int)T_OK(open("/dev/sctp_n", O_RDWR));
	fd = (int)T_OK(open("/dev/ticotsord", O_RDWR));
	T_OK(ioctl(fd, I_PUSH, "npi"));
	return fd;
}

static void
put(int fd, const void *ctl, size_t ctllen, const void *data, int datalen)
{
	struct strbuf c = {.len = (int)ctllen, .buf = (char *)(uintptr_t)ctl};
	struct strbuf d = {.len = datalen, .buf = (char *)(uintptr_t)data};

	T_OK(putmsg(fd, &c, datalen >= 0 ? &d : NULL, 0));
}

static int
get(int fd)
{
	struct strbuf c = {sizeof(got.ctl), 0, (char *)got.ctl};
	struct strbuf d = {sizeof(got.data), 0, (char *)got.data};
	struct pollfd pfd = {.fd = fd,
		.events = POLLIN | POLLPRI | POLLRDNORM | POLLRDBAND};
	int flags = MSG_ANY;

	got.band = 0;
	T_EQ(poll(&pfd, 1, WAIT), 1);
	T_EQ(T_OK(getpmsg(fd, &c, &d, &got.band, &flags)), 0);
	got.ctllen = c.len;
	got.datalen = d.len;
	got.hipri = flags == MSG_HIPRI;
	return c.len >= 4 ? (int)got.p.type : -1;
}

static void
want(int fd, int prim)
{
	int is = get(fd);

	if (is == N_ERROR_ACK && prim != N_ERROR_ACK)
		T_FAIL("N_ERROR_ACK of %u: %u, %u", got.p.error_ack.ERROR_prim,
			got.p.error_ack.NPI_error, got.p.error_ack.UNIX_error);
	T_EQ(is, prim);
}

static void
want_ok(int fd, unsigned prim)
{
	want(fd, N_OK_ACK);
	T_EQ(got.hipri, 1);
	T_EQ(got.p.ok_ack.CORRECT_prim, prim);
}

static void
want_error(int fd, unsigned prim, unsigned error)
{
	want(fd, N_ERROR_ACK);
	T_EQ(got.hipri, 1);
	T_EQ(got.p.error_ack.ERROR_prim, prim);
	T_EQ(got.p.error_ack.NPI_error, error);
}

static void
fatal(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	N_info_req_t r = {N_INFO_REQ};
	struct strbuf c = {.len = sizeof(r), .buf = (char *)&r};

	T_EQ(poll(&pfd, 1, WAIT), 1);
	T_TRUE((pfd.revents & POLLERR) != 0);
	T_ERR(putmsg(fd, &c, NULL, 0), EPROTO);
}

static unsigned
state(int fd)
{
	N_info_req_t r = {N_INFO_REQ};

	put(fd, &r, sizeof(r), NULL, -1);
	want(fd, N_INFO_ACK);
	return got.p.info_ack.CURRENT_state;
}

/* Bind to an address of the provider's choice; its token. */
static unsigned
bind_to(int fd, unsigned qlen, struct addr *ret)
{
	struct {
		N_bind_req_t r;
		struct sockaddr_in sa;
	} m = {.r = {.PRIM_type = N_BIND_REQ, .CONIND_number = qlen,
		.BIND_flags = TOKEN_REQUEST}};

	if (is_sctp) {
		m.r.ADDR_length = sizeof(m.sa);
		m.r.ADDR_offset = sizeof(m.r);
		m.sa.sin_family = AF_INET;
		m.sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	put(fd, &m, is_sctp ? sizeof(m) : sizeof(m.r), NULL, -1);
	want(fd, N_BIND_ACK);
	T_EQ(got.hipri, 1);
	T_EQ(got.p.bind_ack.CONIND_number, qlen);
	T_NE(got.p.bind_ack.TOKEN_value, 0u);
	T_GT(got.p.bind_ack.ADDR_length, 0u);
	if (ret != NULL) {
		ret->len = got.p.bind_ack.ADDR_length;
		memcpy(ret->buf, got.ctl + got.p.bind_ack.ADDR_offset,
			ret->len);
	}
	return got.p.bind_ack.TOKEN_value;
}

static void
conn_req(int fd, const struct addr *to, unsigned flags, unsigned qos,
	const void *data, int n)
{
	struct {
		N_conn_req_t r;
		unsigned char addr[256];
	} m = {.r = {N_CONN_REQ, to->len, sizeof(m.r), flags, qos, 0}};

	memcpy(m.addr, to->buf, to->len);
	put(fd, &m, sizeof(m.r) + to->len, data, n);
}

static unsigned
conn_ind(int fd)
{
	want(fd, N_CONN_IND);
	T_GT(got.p.conn_ind.SRC_length, 0u);
	T_TRUE(got.p.conn_ind.SRC_offset + got.p.conn_ind.SRC_length <=
		(unsigned)got.ctllen);
	T_TRUE(got.p.conn_ind.DEST_offset + got.p.conn_ind.DEST_length <=
		(unsigned)got.ctllen);
	return got.p.conn_ind.SEQ_number;
}

static void
conn_res(int fd, unsigned token, unsigned seq)
{
	N_conn_res_t r = {.PRIM_type = N_CONN_RES, .TOKEN_value = token,
		.SEQ_number = seq};

	put(fd, &r, sizeof(r), NULL, -1);
}

static void
discon_req(int fd, unsigned seq, const void *data, int n)
{
	N_discon_req_t r = {.PRIM_type = N_DISCON_REQ,
		.DISCON_reason = N_DISC_NORMAL, .SEQ_number = seq};

	put(fd, &r, sizeof(r), data, n);
}

static void
data_req(int fd, unsigned flags, const char *text)
{
	N_data_req_t r = {N_DATA_REQ, flags};

	put(fd, &r, sizeof(r), text, (int)strlen(text));
}

static void
want_data(int fd, unsigned flags, const char *text)
{
	want(fd, N_DATA_IND);
	T_EQ(got.p.data_ind.DATA_xfer_flags, flags);
	T_EQ(got.datalen, (int)strlen(text));
	T_EQ(memcmp(got.data, text, strlen(text)), 0);
}

/* fd[0] has called fd[1], which another stream has accepted for. */
static void
pair(int fd[2])
{
	int l = npi_open();
	struct addr at;
	unsigned token;

	(void)bind_to(l, 2, &at);
	fd[0] = npi_open();
	(void)bind_to(fd[0], 0, NULL);
	fd[1] = npi_open();
	token = bind_to(fd[1], 0, NULL);
	conn_req(fd[0], &at, 0, 0, NULL, -1);
	conn_res(l, token, conn_ind(l));
	want_ok(l, N_CONN_RES);
	want(fd[0], N_CONN_CON);
	T_GT(got.p.conn_con.RES_length, 0u);
	T_OK(close(l));
}

NPI_CASE(information_says_what_the_provider_is)
{
	int fd = npi_open();
	struct addr at;

	T_EQ(state(fd), (unsigned)NS_UNBND);
	T_EQ(got.hipri, 1);
	T_EQ(got.p.info_ack.ADDR_length, 0u);
	T_EQ(got.p.info_ack.SERV_type, N_CONS);
	T_EQ(got.p.info_ack.NPI_version, 2u);
	T_EQ(got.p.info_ack.QOS_length, 0u);
	T_EQ(got.p.info_ack.OPTIONS_flags, (unsigned)EX_DATA_OPT);
	(void)bind_to(fd, 0, &at);
	T_EQ(state(fd), (unsigned)NS_IDLE);
	T_EQ(got.p.info_ack.ADDR_length, at.len);
	T_EQ(memcmp(got.ctl + got.p.info_ack.ADDR_offset, at.buf, at.len), 0);
}

NPI_CASE(a_stream_is_bound_and_unbound)
{
	N_unbind_req_t u = {N_UNBIND_REQ};
	N_bind_req_t b = {.PRIM_type = N_BIND_REQ};
	int fd = npi_open();

	put(fd, &u, sizeof(u), NULL, -1);
	want_error(fd, N_UNBIND_REQ, NOUTSTATE);
	(void)bind_to(fd, 0, NULL);
	put(fd, &b, sizeof(b), NULL, -1);
	want_error(fd, N_BIND_REQ, NOUTSTATE);
	put(fd, &u, sizeof(u), NULL, -1);
	want_ok(fd, N_UNBIND_REQ);
	T_EQ(state(fd), (unsigned)NS_UNBND);
	T_EQ(got.p.info_ack.ADDR_length, 0u);
	/* a token is given only if it is asked for */
	put(fd, &b, sizeof(b), NULL, -1);
	want(fd, N_BIND_ACK);
	T_EQ(got.p.bind_ack.TOKEN_value, 0u);
}

NPI_CASE(bad_binds_are_refused)
{
	N_bind_req_t b = {.PRIM_type = N_BIND_REQ, .ADDR_length = 5,
		.ADDR_offset = sizeof(b)};
	int fd = npi_open();

	put(fd, &b, sizeof(b), NULL, -1);
	want_error(fd, N_BIND_REQ, NBADADDR);
	b.ADDR_length = 0xffffffff;
	b.ADDR_offset = 8;
	put(fd, &b, sizeof(b), NULL, -1);
	want_error(fd, N_BIND_REQ, NBADADDR);
	b.ADDR_length = 0;
	b.BIND_flags = DEFAULT_LISTENER;
	put(fd, &b, sizeof(b), NULL, -1);
	want_error(fd, N_BIND_REQ, NBADFLAG);
	b.BIND_flags = 0;
	b.PROTOID_length = 4;
	put(fd, &b, sizeof(b), NULL, -1);
	want_error(fd, N_BIND_REQ, NNOPROTOID);
	(void)bind_to(fd, 0, NULL);
}

NPI_CASE(data_passes_both_ways_on_another_stream)
{
	int fd[2];

	pair(fd);
	T_EQ(state(fd[0]), (unsigned)NS_DATA_XFER);
	T_EQ(state(fd[1]), (unsigned)NS_DATA_XFER);
	data_req(fd[0], 0, "one");
	data_req(fd[0], 0, "two");
	want_data(fd[1], 0, "one");
	want_data(fd[1], 0, "two");
	data_req(fd[1], 0, "back");
	want_data(fd[0], 0, "back");
	/* without a control part it is the same */
	T_EQ(T_OK(write(fd[0], "plain", 5)), 5);
	want_data(fd[1], 0, "plain");
}

NPI_CASE(a_unit_in_pieces_arrives_as_one)
{
	char all[16] = "";
	unsigned flags;
	int fd[2];

	pair(fd);
	data_req(fd[0], N_MORE_DATA_FLAG, "abc");
	data_req(fd[0], N_MORE_DATA_FLAG, "def");
	data_req(fd[0], 0, "g");
	do {
		want(fd[1], N_DATA_IND);
		flags = got.p.data_ind.DATA_xfer_flags;
		T_TRUE(got.datalen >= 0 && got.datalen < 8);
		strncat(all, (char *)got.data, (size_t)got.datalen);
	} while (flags == N_MORE_DATA_FLAG);
	T_EQ(flags, 0u);
	T_EQ(strcmp(all, "abcdefg"), 0);
}

NPI_CASE(expedited_data_is_indicated)
{
	N_exdata_req_t r = {N_EXDATA_REQ};
	int fd[2];

	pair(fd);
	put(fd[0], &r, sizeof(r), "!", 1);
	want(fd[1], N_EXDATA_IND);
	T_EQ(got.datalen, 1);
	T_EQ(got.data[0], '!');
}

NPI_CASE(a_listener_accepts_on_its_own_stream)
{
	int l = npi_open(), fd = npi_open();
	struct addr at;

	(void)bind_to(l, 1, &at);
	(void)bind_to(fd, 0, NULL);
	conn_req(fd, &at, 0, 0, NULL, -1);
	conn_res(l, 0, conn_ind(l));
	want_ok(l, N_CONN_RES);
	want(fd, N_CONN_CON);
	data_req(fd, 0, "x");
	want_data(l, 0, "x");
}

NPI_CASE(a_call_is_refused)
{
	int l = npi_open(), fd = npi_open();
	struct addr at;
	unsigned seq;

	(void)bind_to(l, 1, &at);
	(void)bind_to(fd, 0, NULL);
	conn_req(fd, &at, 0, 0, NULL, -1);
	seq = conn_ind(l);
	T_EQ(state(l), (unsigned)NS_WRES_CIND);
	conn_res(l, 0, seq + 1000);
	want_error(l, N_CONN_RES, NBADSEQ);
	conn_res(l, 0x7fffff00, seq);
	want_error(l, N_CONN_RES, NBADTOKEN);
	discon_req(l, seq, NULL, -1);
	want_ok(l, N_DISCON_REQ);
	do /* sctp confirms before the user answers */
		(void)get(fd);
	while (got.p.type == N_CONN_CON);
	T_EQ(got.p.type, (unsigned)N_DISCON_IND);
	T_EQ(got.p.discon_ind.SEQ_number, (unsigned)-1);
	T_EQ(state(fd), (unsigned)NS_IDLE);
	T_EQ(state(l), (unsigned)NS_IDLE);
}

NPI_CASE(a_disconnection_is_indicated_with_its_data)
{
	int fd[2];

	pair(fd);
	discon_req(fd[0], (unsigned)-1, "bye", 3);
	want_ok(fd[0], N_DISCON_REQ);
	want(fd[1], N_DISCON_IND);
	T_EQ(got.datalen, 3);
	T_EQ(memcmp(got.data, "bye", 3), 0);
	T_EQ(state(fd[0]), (unsigned)NS_IDLE);
	T_EQ(state(fd[1]), (unsigned)NS_IDLE);
	discon_req(fd[1], (unsigned)-1, NULL, -1);
	want_error(fd[1], N_DISCON_REQ, NOUTSTATE);
}

/* A peer that closes releases in order: NPI has a disconnection for that. */
T_CASE(an_orderly_release_is_a_normal_disconnection_behind_all_data)
{
	int fd[2];

	is_sctp = 1;
	pair(fd);
	data_req(fd[0], 0, "last");
	T_OK(close(fd[0]));
	want_data(fd[1], 0, "last");
	want(fd[1], N_DISCON_IND);
	T_EQ(got.p.discon_ind.DISCON_orig, (unsigned)N_USER);
	T_EQ(got.p.discon_ind.DISCON_reason, (unsigned)N_DISC_NORMAL);
	T_EQ(state(fd[1]), (unsigned)NS_IDLE);
}

NPI_CASE(bad_connection_requests_are_refused)
{
	int l = npi_open(), fd = npi_open();
	struct addr at, bad = {.len = 200};

	(void)bind_to(l, 1, &at);
	conn_req(fd, &at, 0, 0, NULL, -1);
	want_error(fd, N_CONN_REQ, NOUTSTATE);
	(void)bind_to(fd, 0, NULL);
	conn_req(fd, &at, 0x8, 0, NULL, -1);
	want_error(fd, N_CONN_REQ, NBADFLAG);
	conn_req(fd, &at, REC_CONF_OPT, 4, NULL, -1);
	want_error(fd, N_CONN_REQ, NBADQOSTYPE);
	if (is_sctp) {
		conn_req(fd, &bad, 0, 0, NULL, -1);
		want_error(fd, N_CONN_REQ, NBADADDR);
		/* SCTP carries no data with a request */
		conn_req(fd, &at, 0, 0, "data", 4);
		want_error(fd, N_CONN_REQ, NBADDATA);
	}
	put(fd, &(N_conn_req_t){N_CONN_REQ, 16, 0x7fffffff, 0, 0, 0},
		sizeof(N_conn_req_t), NULL, -1);
	want_error(fd, N_CONN_REQ, NBADADDR);
	T_EQ(state(fd), (unsigned)NS_IDLE);
	conn_req(fd, &at, REC_CONF_OPT | EX_DATA_OPT, 0, NULL, -1);
	conn_res(l, 0, conn_ind(l));
	want_ok(l, N_CONN_RES);
	want(fd, N_CONN_CON);
	T_EQ(got.p.conn_con.CONN_flags, (unsigned)EX_DATA_OPT);
}

NPI_CASE(what_the_provider_does_not_have_is_not_supported)
{
	N_reset_req_t rr = {N_RESET_REQ, N_USER_RESYNC};
	N_optmgmt_req_t om = {.PRIM_type = N_OPTMGMT_REQ};
	N_unitdata_req_t ud = {.PRIM_type = N_UNITDATA_REQ};
	int fd[2];

	pair(fd);
	put(fd[0], &rr, sizeof(rr), NULL, -1);
	want_error(fd[0], N_RESET_REQ, NNOTSUPPORT);
	put(fd[0], &(N_reset_res_t){N_RESET_RES}, sizeof(N_reset_res_t), NULL,
		-1);
	want_error(fd[0], N_RESET_RES, NNOTSUPPORT);
	put(fd[0], &(N_datack_req_t){N_DATACK_REQ}, sizeof(N_datack_req_t),
		NULL, -1);
	want_error(fd[0], N_DATACK_REQ, NNOTSUPPORT);
	put(fd[0], &ud, sizeof(ud), "x", 1);
	want_error(fd[0], N_UNITDATA_REQ, NNOTSUPPORT);
	put(fd[0], &om, sizeof(om), NULL, -1);
	want_ok(fd[0], N_OPTMGMT_REQ);
	om.OPTMGMT_flags = DEFAULT_RC_SEL;
	put(fd[0], &om, sizeof(om), NULL, -1);
	want_error(fd[0], N_OPTMGMT_REQ, NBADFLAG);
	om.QOS_length = 4;
	put(fd[0], &om, sizeof(om), NULL, -1);
	want_error(fd[0], N_OPTMGMT_REQ, NBADQOSTYPE);
	data_req(fd[0], 0, "still");
	want_data(fd[1], 0, "still");
}

NPI_CASE(messages_that_are_none_end_the_stream)
{
	static const struct {
		const char *what;
		unsigned w[2];
		size_t n;
	} rows[] = {
		{"no number", {N_INFO_REQ}, 3},
		{"unknown", {10}, 8},
		{"of the provider", {N_DATA_IND}, 8},
		{"huge number", {0xffffffff}, 8},
		{"short bind", {N_BIND_REQ}, 8},
		{"short request", {N_CONN_REQ}, 8},
		{"short data", {N_DATA_REQ}, 4},
	};
	size_t i;
	int fd;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fd = npi_open();
		put(fd, rows[i].w, rows[i].n, NULL, -1);
		fatal(fd);
		T_OK(close(fd));
	}
}

NPI_CASE(receipt_confirmation_that_was_not_agreed_ends_the_stream)
{
	int fd[2];

	pair(fd);
	data_req(fd[0], N_RC_FLAG, "x");
	fatal(fd[0]);
}
