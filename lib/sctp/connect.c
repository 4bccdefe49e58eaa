/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Connections: asked for, confirmed or refused, aborted.
 *
 * While the answer is not there the socket is SK_CALLING.  The answer is the
 * first message at the Stream head; whichever call of the socket finds it there
 * takes it (sk_progress()).
 */
#include <stdlib.h>

#include <sys/timod.h>

#include "sock.h"

static void
connected(struct sock *s)
{
	struct sctpio_status st = {.assoc = 0};

	if (sk_get(s, SCTPIO_STATUS, &st, sizeof(st)) == 0)
		sk_nout(s, st.ostreams);
	sk_word(s, SK_CALLING, SK_CONNECTED);
}

static int
refused(struct sock *s, const struct strm_prim *gp,
	const struct T_discon_ind *di)
{
	int reason = gp->ctl.len >= (int)sizeof(*di) &&
		di->DISCON_reason > 0 ? (int)di->DISCON_reason : ECONNREFUSED;

	/* the head has the reason, if it is positive */
	if (di->DISCON_reason <= 0)
		(void)strm_error(&s->id, reason);
	sk_word(s, SK_CALLING, 0);
	return -reason;
}

/*
 * sk_progress - has the call been answered?
 * @nowait: do not wait for that
 * Return: 0: it is connected; -EAGAIN: not yet; -EINTR; or the reason why it
 * will not be, which is also the socket's error.
 */
int
sk_progress(struct sock *s, int nowait)
{
	union {
		struct T_conn_con cc;
		struct T_discon_ind di;
		unsigned char room[1024];
	} b;
	struct strm_prim gp;
	int ret;

	for (;;) {
		if ((SK(s) & SK_CALLING) == 0)
			return (SK(s) & SK_CONNECTED) != 0 ? 0 : -ENOTCONN;
		gp = (struct strm_prim){.ctl = {.maxlen = sizeof(b),
			.buf = &b}, .data = {.maxlen = 0},
			.want = P(T_CONN_CON) | P(T_DISCON_IND) | P_ACKS,
			.nowait = (uint32_t)nowait};
		ret = strm_getprim(s->fd, &gp);
		if (ret == -ENOMSG) {
			/* another thread has taken the answer just now */
			if ((SK(s) & SK_CALLING) == 0)
				continue;
			return -EAGAIN;
		}
		if (ret < 0)
			return ret;
		if (gp.prim == T_CONN_CON) {
			connected(s);
			return 0;
		}
		if (gp.prim == T_DISCON_IND)
			return refused(s, &gp, &b.di);
	}
}

static int
request(struct sock *s, const struct sk_addrs *to)
{
	struct {
		struct ti_req tr;
		struct T_conn_req cr;
		struct sk_addrs room;
	} b;
	size_t len = offsetof(__typeof__(b), cr) + sizeof(b.cr);
	int n;

	memset(&b, 0, sizeof(b));
	b.tr.len = (int)(sizeof(b.cr) + to->len);
	b.cr.PRIM_type = T_CONN_REQ;
	b.cr.DEST_length = (t_scalar_t)to->len;
	b.cr.DEST_offset = sizeof(b.cr);
	memcpy((unsigned char *)&b + len, to->buf, to->len);
	n = sk_ti(s, TI_REQUEST, &b, len + to->len, sizeof(b));
	return n < 0 ? n : 0;
}

/* Is there a host and a port?  Checked before the socket is bound. */
static int
is_callable(const struct sk_addrs *to)
{
	union sctpio_addr a;

	memset(&a, 0, sizeof(a));
	memcpy(&a, to->buf, to->len < sizeof(a) ? to->len : sizeof(a));
	if (a.v4.sin_port == 0) /* it has the same place in both */
		return 0;
	return a.v4.sin_family == AF_INET ? a.v4.sin_addr.s_addr != 0 :
		!IN6_IS_ADDR_UNSPECIFIED(&a.v6.sin6_addr);
}

int
sk_connect(struct sock *s, const struct sk_addrs *to)
{
	uint32_t id;
	int err;

	if ((SK(s) & SK_MANY) != 0)
		return is_callable(to) ? sk_many_connect(s, to, &id) : -EINVAL;
	if ((SK(s) & SK_LISTEN) != 0)
		return -EISCONN;
	if ((SK(s) & SK_CALLING) != 0) {
		err = sk_progress(s, 1);
		return err == 0 ? 0 : err == -EAGAIN ? -EALREADY : err;
	}
	if ((SK(s) & SK_CONNECTED) != 0)
		return -EISCONN;
	if (!is_callable(to))
		return -EINVAL;
	err = sk_bind_any(s);
	if (err != 0)
		return err;
	sk_discard_end(s); /* it may have been a listener */
	strm_shut(s->fd, STRM_SHUT_READ | STRM_SHUT_WRITE, 0);
	(void)strm_error(&s->id, 0);
	sk_word(s, 0, SK_CALLING);
	err = request(s, to);
	if (err != 0) {
		sk_word(s, SK_CALLING, 0);
		return err;
	}
	/* even if the answer is there already, as on Linux */
	if (sk_nonblock(s, 0))
		return -EINPROGRESS;
	err = sk_wait_time(s, 1 /* POLLIN */, KEEP_SNDTIME);
	if (err == 0)
		err = sk_progress(s, 0);
	if (err == -EAGAIN)
		return -EINPROGRESS;
	if (err != 0 && err != -EINTR)
		(void)strm_error(&s->id, 0); /* it is the result */
	return err;
}

/* sk_abort - end the association by an ABORT with @len bytes of @data */
int
sk_abort(struct sock *s, const void *data, size_t len)
{
	struct req {
		struct ti_req tr;
		struct T_discon_req dr;
	} head = {.tr = {.len = sizeof(head.dr)},
		.dr = {.PRIM_type = T_DISCON_REQ, .SEQ_number = -1}};
	unsigned char *b;
	int n;

	if (len > 512)
		return -EMSGSIZE;
	b = malloc(sizeof(head) + len);
	if (b == NULL)
		return -ENOMEM;
	memcpy(b, &head, sizeof(head));
	if (len != 0 && strm_copy(b + sizeof(head), data, len) != 0) {
		free(b);
		return -EFAULT;
	}
	n = sk_ti(s, TI_REQUEST, b, sizeof(head) + len, sizeof(head) + len);
	free(b);
	if (n < 0)
		return n;
	sk_word(s, 0, SK_WSHUT | SK_RSHUT);
	strm_shut(s->fd, 0, STRM_SHUT_READ | STRM_SHUT_WRITE);
	return 0;
}
