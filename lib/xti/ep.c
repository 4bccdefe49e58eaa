/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Endpoints: from t_open() to t_close(), and their properties.
 *
 * An unknown descriptor, from open(2) or received through a pipe, becomes an
 * endpoint at the first call on it, if timod is pushed: the provider tells its
 * state. t_sync() pushes timod if necessary.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <stropts.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <str/types.h>
#include <sys/timod.h>

#include <xti.h>

#include "xti_impl.h"

#define CHUNK 256u
#define CHUNKS 4096u

static struct ep *_Atomic table[CHUNKS];
static struct ep none; /* matches no open file */

/* The entry of @fd in the table, if there is one already. */
STR_INLINE struct ep *
known(int fd)
{
	unsigned c = (unsigned)fd / CHUNK;
	struct ep *p;

	if (str_unlikely(c >= CHUNKS))
		return NULL;
	p = __atomic_load_n(STR_PLAIN(&table[c]), __ATOMIC_ACQUIRE);
	return str_likely(p != NULL) ? &p[(unsigned)fd % CHUNK] : NULL;
}

/* The entry of @fd in the table; NULL: there is none yet, or no memory. */
static struct ep *
place(int fd, int make)
{
	unsigned c = (unsigned)fd / CHUNK;
	struct ep *p, *was = NULL;

	if (fd < 0 || c >= CHUNKS)
		return NULL;
	p = __atomic_load_n(STR_PLAIN(&table[c]), __ATOMIC_ACQUIRE);
	if (p == NULL && make) {
		p = calloc(CHUNK, sizeof(*p));
		if (p != NULL && !str_cas_see(&table[c], &was, p)) {
			free(p);
			p = was;
		}
	}
	return p != NULL ? &p[(unsigned)fd % CHUNK] : NULL;
}

/* ----------------------------------------------------------------- words */

void
xti_word(struct use *u, uint32_t clear, uint32_t set)
{
	uint32_t w = W(u);

	while (!__atomic_compare_exchange_n(u->w, &w, (w & ~clear) | set, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

/* Set a new state; the notes about data end with the connection. */
void
xti_state(struct use *u, unsigned state)
{
	uint32_t clear = W_STATE;

	if (state == T_IDLE || state == T_UNBND)
		clear |= W_DATA;
	xti_word(u, clear, state);
}

/* The word @w with one connection indication more, or less. */
static uint32_t
counted(uint32_t w, int d)
{
	uint32_t n = OCNT(w), state = w & W_STATE;

	n = d < 0 && n == 0 ? 0 : n + (uint32_t)d;
	/* a listener that accepted on itself has a connection */
	if (state == T_IDLE || state == T_INCON)
		state = n != 0 ? T_INCON : T_IDLE;
	else
		n = OCNT(w);
	return (w & 0xffffu & ~W_STATE) | n * W_OCNT | state;
}

void
xti_ocnt(struct use *u, int d)
{
	uint32_t w = W(u);

	while (!__atomic_compare_exchange_n(u->w, &w, counted(w, d), 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

/*
 * Events, and the state after each: another thread may have processed the
 * opposite event at the same time. 0: unchanged.
 */
static const unsigned char after[][16] = {
	[XTI_CALLED] = {[T_IDLE] = T_OUTCON},
	[XTI_CONNECTED] = {[T_OUTCON] = T_DATAXFER},
	[XTI_SENT_REL] = {[T_DATAXFER] = T_OUTREL, [T_INREL] = T_IDLE},
	[XTI_GOT_REL] = {[T_DATAXFER] = T_INREL, [T_OUTREL] = T_IDLE},
	[XTI_GOT_DIS] = {[T_OUTCON] = T_IDLE, [T_DATAXFER] = T_IDLE,
		[T_OUTREL] = T_IDLE, [T_INREL] = T_IDLE},
};

void
xti_happened(struct use *u, enum xti_what what)
{
	uint32_t w = W(u), new, s;

	do {
		s = after[what][w & W_STATE];
		if (what == XTI_GOT_DIS && (w & W_STATE) == T_INCON)
			new = counted(w, -1);
		else if (s == 0)
			return;
		else
			new = (w & ~(W_STATE | (s == T_IDLE ? W_DATA : 0))) | s;
	} while (!__atomic_compare_exchange_n(u->w, &w, new, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

/* ------------------------------------------------------------ the provider */

static void
take_info(struct ep *ep, const struct T_info_ack *ia)
{
	struct t_info *ti = &ep->info;

	ti->addr = ia->ADDR_size;
	ti->options = ia->OPT_size;
	ti->tsdu = ia->TSDU_size;
	ti->etsdu = ia->ETSDU_size;
	ti->connect = ia->CDATA_size;
	ti->discon = ia->DDATA_size;
	ti->servtype = ia->SERV_type;
	ti->flags = ia->PROVIDER_flag & (T_SENDZERO | T_ORDRELDATA);
	ti->tidu = ia->TIDU_size > 0 ? ia->TIDU_size : 4096;
	ep->state = ia->CURRENT_state;
}

/*
 * It is possible that a driver that is not a provider never answers: limit of
 * the wait in seconds, which is even shorter for an answer to an older request.
 */
#define ASK_SECS 5
#define ASK_AGAIN_SECS 1

/* Ask the provider for its properties and its state. */
static int
ask(struct use *u, struct ep *new)
{
	struct T_capability_ack ca;
	struct T_capability_req cr = {.PRIM_type = T_CAPABILITY_REQ,
		.CAP_bits1 = TC1_INFO | TC1_ACCEPTOR_ID};
	struct T_info_req ir = {.PRIM_type = T_INFO_REQ};
	struct block b;
	uint64_t dev;
	int secs = (W(u) & W_INIT) == 0 ? ASK_SECS : 0, n;

	xti_block(&b);
	memcpy(b.buf, &cr, sizeof(cr));
	n = xti_str_in(u, TI_CAPABILITY, &b, sizeof(cr), 0, secs);
	if (n >= (int)sizeof(ca)) {
		memcpy(&ca, b.buf, sizeof(ca));
		new->acceptor = ca.ACCEPTOR_id;
		take_info(new, &ca.INFO_ack);
	} else {
		/* a provider of the first version of TPI */
		if (n < 0 && t_errno == TSYSERR && errno == ETIME && secs != 0)
			secs = ASK_AGAIN_SECS;
		memcpy(b.buf, &ir, sizeof(ir));
		n = xti_str_in(u, TI_GETINFO, &b, sizeof(ir), 0, secs);
		if (n < 0)
			return -1;
		if (n < (int)sizeof(ca.INFO_ack))
			return xti_fail(TPROTO);
		memcpy(&ca.INFO_ack, b.buf, sizeof(ca.INFO_ack));
		take_info(new, &ca.INFO_ack);
	}
	new->head = u->id.head;
	new->gen = u->id.gen;
	new->major = strm_device(u->fd, &dev) == 0 ? major(dev) : 0;
	return 0;
}

/* Ask again, and keep the answer. */
int
xti_refresh(struct use *u)
{
	struct ep *ep = place(u->fd, 1), new = {.head = NULL};
	int err = errno;

	if (ep == NULL)
		return xti_sys(ENOMEM);
	if (ask(u, &new) < 0)
		return -1;
	/* last the field that makes it valid */
	ep->head = NULL;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	ep->acceptor = new.acceptor;
	ep->major = new.major;
	ep->info = new.info;
	ep->state = new.state;
	ep->gen = new.gen;
	__atomic_store_n(&ep->head, new.head, __ATOMIC_RELEASE);
	u->ep = ep;
	errno = err;
	return 0;
}

/*
 * The state of an endpoint, from the provider's state and the waiting event,
 * which its user has not seen yet; -1: it is changing.  A waiting disconnection
 * means that there was a connection: in T_IDLE no call could receive it.
 */
static int
state_of(int32_t ts, int event)
{
	switch (ts) {
	case TS_UNBND:
		return T_UNBND;
	case TS_IDLE:
		return event == T_ORDREL ? T_OUTREL :
			event == T_DISCONNECT ? T_DATAXFER : T_IDLE;
	case TS_WCON_CREQ:
		return T_OUTCON;
	case TS_WRES_CIND:
		return event == T_LISTEN ? T_IDLE : T_INCON;
	case TS_DATA_XFER:
		return event == T_CONNECT ? T_OUTCON : T_DATAXFER;
	case TS_WIND_ORDREL:
		return T_OUTREL;
	case TS_WREQ_ORDREL:
		return event == 0 ? T_INREL : T_DATAXFER;
	default:
		return -1;
	}
}

/*
 * Set the Stream's state to that of its provider.  The provider does not tell
 * the limit of waiting indications, so it has to refuse calls itself.
 */
static int
adopt(struct use *u, uint32_t how)
{
	uint32_t w = W(u), new;
	/* before it is bound no event changes the state */
	int event = u->ep->state == TS_UNBND ? 0 : xti_event_slow(u);
	int s = state_of(u->ep->state, event);

	if (s < 0)
		return xti_fail(TSTATECHNG);
	new = W_INIT | how | (uint32_t)s;
	if (s == T_INCON)
		new |= W_OCNT;
	if (s != T_UNBND)
		__atomic_store_n(&u->w[1], XTI_QLEN_UNKNOWN, __ATOMIC_RELEASE);
	while (!__atomic_compare_exchange_n(u->w, &w, new, 0, __ATOMIC_ACQ_REL,
		__ATOMIC_ACQUIRE))
		;
	return 0;
}

/* ------------------------------------------------------------------- calls */

/*
 * xti_use - begin a call on @fd, which must be in one of @states
 * Return: 0, or -1 with t_errno.
 */
STR_HOT int
xti_use(struct use *u, int fd, unsigned states)
{
	struct ep *ep;
	int ret;

	u->fd = fd;
	ret = strm_id(fd, &u->id, &u->w);
	if (str_unlikely(ret < 0))
		return xti_fail(TBADF);
	ep = known(fd);
	if (str_unlikely(ep == NULL || ep->head != u->id.head ||
		ep->gen != u->id.gen))
		return xti_use_slow(u, fd, states);
	u->ep = ep;
	if (str_unlikely((S(W(u) & W_STATE) & states) == 0))
		return xti_use_slow(u, fd, states);
	return 0;
}

STR_COLD int
xti_use_slow(struct use *u, int fd, unsigned states)
{
	struct ep *ep = known(fd);

	u->ep = &none;
	if (ep == NULL || ep->head != u->id.head || ep->gen != u->id.gen) {
		if (xti_refresh(u) < 0)
			return -1;
	} else if ((W(u) & W_INIT) == 0) {
		/* the known state is old */
		if (xti_refresh(u) < 0)
			return -1;
	} else {
		u->ep = ep;
	}
	if ((W(u) & W_INIT) == 0 && adopt(u, 0) < 0)
		return -1;
	if ((S(W(u) & W_STATE) & states) == 0)
		return xti_fail(TOUTSTATE);
	return 0;
}

/* ------------------------------------------------------------ open, close */

/* Errors of open(2) and I_PUSH that mean that it is no provider. */
static int
bad_name(int err)
{
	switch (err) {
	case ENOENT:
	case ENOTDIR:
	case ENODEV:
	case ENXIO:
	case ENOTTY:
	case ENOSTR:
	case EINVAL:
	case EISDIR:
		return 1;
	default:
		return 0;
	}
}

static int
failed_name(int err, uint32_t how)
{
	if ((how & W_TLI) == 0 && bad_name(err))
		return xti_fail(TBADNAME);
	return xti_sys(err);
}

/* Push timod on the Stream, if it may have a provider. 1: it was not there. */
static int
with_timod(int fd)
{
	uint64_t dev;
	int there;

	if (strm_device(fd, &dev) < 0) {
		errno = ENOSTR;
		return -1;
	}
	if (strm_local(fd) != 0) {
		errno = ENODEV;
		return -1;
	}
	there = ioctl(fd, I_FIND, "timod");
	if (there < 0)
		return -1;
	if (there > 0)
		return 0;
	return ioctl(fd, I_PUSH, "timod") < 0 ? -1 : 1;
}

int
xti_open(const char *name, int oflag, struct t_info *info, uint32_t how)
{
	struct use u;
	int fd, err, terr;

	if (name == NULL)
		return xti_fail(TBADNAME);
	fd = open(name, oflag);
	if (fd < 0)
		return failed_name(errno, how);
	if (with_timod(fd) < 0) {
		err = errno;
		close(fd);
		return failed_name(err, how);
	}
	u.fd = fd;
	u.ep = &none;
	if (strm_id(fd, &u.id, &u.w) < 0) {
		close(fd);
		return xti_fail(TBADF);
	}
	if (xti_refresh(&u) < 0 ||
	    ((W(&u) & W_INIT) == 0 && adopt(&u, how) < 0)) {
		err = errno;
		terr = t_errno;
		/* do not wait for the request that has no answer */
		(void)fcntl(fd, F_SETFL, oflag | O_NONBLOCK);
		close(fd);
		if (terr == TBADF)
			return failed_name(ENODEV, how);
		errno = err;
		return xti_fail(terr);
	}
	if (info != NULL && xti_out(info, &u.ep->info, sizeof(*info)) < 0) {
		close(fd);
		return xti_sys(EFAULT);
	}
	return fd;
}

/* XNS 5.2: for reading and writing, and nothing but O_NONBLOCK besides. */
STR_EXPORT int
t_open(const char *name, int oflag, struct t_info *info)
{
	if ((oflag & ~(O_NONBLOCK | O_CLOEXEC)) != O_RDWR)
		return xti_fail(TBADFLAG);
	return xti_open(name, oflag, info, 0);
}

STR_EXPORT int
t_close(int fd)
{
	struct use u;

	/* an endpoint whose provider does not answer can still be closed */
	if (strm_id(fd, &u.id, &u.w) < 0 ||
	    ((__atomic_load_n(u.w, __ATOMIC_ACQUIRE) & W_INIT) == 0 &&
		    xti_use(&u, fd, S_ANY) < 0))
		return xti_fail(TBADF);
	return close(fd) < 0 ? xti_sys(errno) : 0;
}

/* ------------------------------------------------------------- what it is */

STR_EXPORT int
t_getinfo(int fd, struct t_info *info)
{
	struct use u;

	if (xti_use(&u, fd, S_ANY) < 0 || xti_refresh(&u) < 0)
		return -1;
	return info == NULL ? 0 : xti_out(info, &u.ep->info, sizeof(*info));
}

STR_EXPORT int
t_getstate(int fd)
{
	struct use u;

	if (xti_use(&u, fd, S_ANY) < 0)
		return -1;
	return (int)(W(&u) & W_STATE);
}

/*
 * May t_sync() set the state from @was to @now?  The request for information
 * overtakes data and a release in it: if the provider has not seen the release
 * yet, the library's state is right.
 */
static int
believed(unsigned was, unsigned now)
{
	return was != now && !(was == T_OUTREL && now == T_DATAXFER) &&
		!(was == T_IDLE && now == T_INREL);
}

/*
 * XNS 5.2: the library's state becomes the provider's.  If no waiting event
 * explains the difference, the provider is right, unless the state has changed
 * since the request.
 */
STR_EXPORT int
t_sync(int fd)
{
	int s, pushed, err;
	struct stat st;
	struct use u;
	uint32_t w;

	if (strm_id(fd, &u.id, &u.w) < 0)
		return xti_fail(TBADF);
	if (ioctl(fd, I_FIND, "tirdwr") == 1)
		return xti_fail(TBADF);
	/* the descriptor may have been closed without our knowledge */
	pushed = fstat(fd, &st) == 0 ? with_timod(fd) : -1;
	if (pushed < 0)
		return xti_fail(TBADF);
	if (xti_use(&u, fd, S_ANY) < 0) {
		err = errno;
		if (pushed > 0 && t_errno == TBADF)
			(void)ioctl(fd, I_POP, 0);
		errno = err;
		return -1;
	}
	w = W(&u);
	if (xti_refresh(&u) < 0)
		return -1;
	s = xti_event_slow(&u) == 0 ? state_of(u.ep->state, 0) : 0;
	if (s < 0)
		return xti_fail(TSTATECHNG);
	if (s != 0 && (W(&u) & W_STATE) == (w & W_STATE) &&
	    believed(w & W_STATE, (unsigned)s))
		xti_state(&u, (unsigned)s);
	if (s == T_INCON && OCNT(W(&u)) == 0)
		xti_word(&u, 0, W_OCNT);
	return (int)(W(&u) & W_STATE);
}

static int
look(int fd, struct use *u)
{
	int event;

	if (xti_use(u, fd, S_ANY) < 0)
		return -1;
	event = xti_event_slow(u);
	if (event != 0)
		return event;
	if ((W(u) & W_FLOW) != 0 && strm_canput(fd, 0) == 1) {
		xti_word(u, W_FLOW, 0);
		return T_GODATA;
	}
	if ((W(u) & W_XFLOW) != 0 && strm_canput(fd, 1) == 1) {
		xti_word(u, W_XFLOW, 0);
		return T_GOEXDATA;
	}
	return 0;
}

STR_EXPORT int
t_look(int fd)
{
	struct use u;

	return look(fd, &u);
}

int _tli_look(int fd);

/* TLI: an error on the Stream is an event; room to send is not. */
STR_EXPORT int
_tli_look(int fd)
{
	struct strm_prim gp = {.ctl = {.maxlen = 0}, .nowait = 1};
	struct use u;
	int event, ret;

	event = look(fd, &u);
	if (event < 0)
		return -1;
	if (event == T_GODATA || event == T_GOEXDATA)
		return 0;
	if (event != 0)
		return event;
	ret = strm_getprim(fd, &gp);
	return ret < 0 && ret != -EAGAIN && ret != -ENOMSG ? T_ERROR : 0;
}

/* ------------------------------------------------------------ bind, unbind */

/* One request.  *ret_len: bytes of the acknowledgement in @b. */
static int
bind_to(struct use *u, struct block *b, const struct netbuf *addr,
	unsigned qlen, int prim, int *ret_len)
{
	struct T_bind_req br = {.PRIM_type = prim, .CONIND_number = qlen};
	unsigned at = sizeof(br), room = sizeof(br);

	room += (addr != NULL ? addr->len : 0) + 4;
	if (u->ep->info.addr > 0)
		room += (unsigned)u->ep->info.addr;
	if (xti_block_size(b, room) < 0)
		return -1;
	if (addr != NULL && addr->len != 0) {
		br.ADDR_offset = xti_field(b, &at, addr);
		br.ADDR_length = (t_scalar_t)addr->len;
	}
	memcpy(b->buf, &br, sizeof(br));
	*ret_len = xti_str(u, TI_BIND, b, at, room);
	return *ret_len < 0 ? -1 : 0;
}

/*
 * @tli: if the address is in use another one is bound, and the caller compares.
 */
int
xti_bind(int fd, const struct t_bind *req, struct t_bind *ret, int tli)
{
	struct t_bind want = {.qlen = 0}, got;
	struct T_bind_ack ba;
	struct block b;
	struct use u;
	int n = 0, over = 0;

	if (xti_use(&u, fd, S(T_UNBND)) < 0)
		return -1;
	if ((req != NULL && xti_in(&want, req, sizeof(want)) < 0) ||
	    (ret != NULL && xti_inout(&got, ret, sizeof(got)) < 0))
		return -1;
	if (xti_bad_netbuf(&want.addr))
		return xti_fail(TBADADDR);
	if (u.ep->info.servtype == T_CLTS)
		want.qlen = 0;
	xti_block(&b);
	if (bind_to(&u, &b, &want.addr, want.qlen, T_BIND_REQ, &n) < 0 &&
	    (!tli || t_errno != TADDRBUSY ||
		    bind_to(&u, &b, NULL, want.qlen, T_BIND_REQ, &n) < 0)) {
		xti_block_free(&b);
		return -1;
	}
	xti_state(&u, T_IDLE);
	if (n < (int)sizeof(ba)) {
		xti_block_free(&b);
		return xti_fail(TPROTO);
	}
	memcpy(&ba, b.buf, sizeof(ba));
	__atomic_store_n(&u.w[1], ba.CONIND_number, __ATOMIC_RELEASE);
	if (ret != NULL) {
		over = xti_give(&u, &got.addr, &b, ba.ADDR_offset,
			ba.ADDR_length, n);
		got.qlen = ba.CONIND_number;
		over |= xti_put(ret, &got, sizeof(got));
	}
	xti_block_free(&b);
	return xti_over(over);
}

STR_EXPORT int
t_bind(int fd, const struct t_bind *req, struct t_bind *ret)
{
	return xti_bind(fd, req, ret, 0);
}

STR_EXPORT int
t_unbind(int fd)
{
	struct T_unbind_req ur = {.PRIM_type = T_UNBIND_REQ};
	struct block b;
	struct use u;
	int ret;

	if (xti_use(&u, fd, S(T_IDLE)) < 0)
		return -1;
	/* events that only the socket has count, too */
	if (xti_event_slow(&u) != 0)
		return xti_fail(TLOOK);
	xti_block(&b);
	memcpy(b.buf, &ur, sizeof(ur));
	ret = xti_str(&u, TI_UNBIND, &b, sizeof(ur), 0);
	xti_block_free(&b);
	if (ret < 0)
		return t_errno == TOUTSTATE && xti_look(&u) != 0 ?
			xti_fail(TLOOK) : -1;
	xti_state(&u, T_UNBND);
	xti_purge(&u, STRM_ANY);
	return 0;
}

/* ---------------------------------------------------------------- addresses */

static int
addresses(struct use *u, struct block *b, struct T_addr_ack *aa)
{
	struct T_addr_req ar = {.PRIM_type = T_ADDR_REQ};
	unsigned room = sizeof(*aa) + 8;
	int n;

	if (u->ep->info.addr > 0)
		room += 2 * (unsigned)u->ep->info.addr;
	memcpy(b->buf, &ar, sizeof(ar));
	n = xti_str(u, TI_GETADDRS, b, sizeof(ar), room);
	if (n < 0)
		return -1;
	if (n < (int)sizeof(*aa))
		return xti_fail(TPROTO);
	memcpy(aa, b->buf, sizeof(*aa));
	return n;
}

STR_EXPORT int
t_getprotaddr(int fd, struct t_bind *bound, struct t_bind *peer)
{
	struct T_addr_ack aa;
	struct t_bind here, there;
	struct block b;
	struct use u;
	int n, over = 0;

	if (xti_use(&u, fd, S_ANY) < 0)
		return -1;
	if ((bound != NULL && xti_inout(&here, bound, sizeof(here)) < 0) ||
	    (peer != NULL && xti_inout(&there, peer, sizeof(there)) < 0))
		return -1;
	xti_block(&b);
	n = addresses(&u, &b, &aa);
	if (n >= 0 && bound != NULL) {
		over |= xti_give(&u, &here.addr, &b, aa.LOCADDR_offset,
			aa.LOCADDR_length, n);
		here.qlen = xti_qlen(&u) != XTI_QLEN_UNKNOWN ?
			xti_qlen(&u) : 0;
		over |= xti_put(bound, &here, sizeof(here));
	}
	if (n >= 0 && peer != NULL) {
		over |= xti_give(&u, &there.addr, &b, aa.REMADDR_offset,
			aa.REMADDR_length, n);
		over |= xti_put(peer, &there, sizeof(there));
	}
	xti_block_free(&b);
	if (n < 0)
		return -1;
	return xti_over(over);
}

int t_getname(int fd, struct netbuf *name, int type); /* <tiuser.h> has it */

/* TLI: one of the two names; errno tells in TSYSERR that there is none. */
STR_EXPORT int
t_getname(int fd, struct netbuf *name, int type)
{
	struct T_addr_ack aa;
	struct netbuf nb;
	struct block b;
	struct use u;
	int n, over = 0;

	if (type != LOCALNAME && type != REMOTENAME)
		return xti_sys(EINVAL);
	if (xti_use(&u, fd, S_ANY) < 0 || xti_inout(&nb, name, sizeof(nb)) < 0)
		return -1;
	xti_block(&b);
	n = addresses(&u, &b, &aa);
	if (n >= 0) {
		over = type == LOCALNAME ?
			xti_give(&u, &nb, &b, aa.LOCADDR_offset,
				aa.LOCADDR_length, n) :
			xti_give(&u, &nb, &b, aa.REMADDR_offset,
				aa.REMADDR_length, n);
		over |= xti_put(name, &nb, sizeof(nb));
	}
	xti_block_free(&b);
	if (n < 0)
		return -1;
	return xti_over(over);
}

/* ------------------------------------------------------------------ options */

/*
 * xti_opt - one T_OPTMGMT_REQ
 * @out: XTI_OPTROOM bytes.  Return: 0; *opt, *len: the options answered.
 */
int
xti_opt(struct use *u, const struct netbuf *in, int flags, void *out,
	unsigned room, const unsigned char **opt, unsigned *len, int *res)
{
	struct T_optmgmt_req or = {.PRIM_type = T_OPTMGMT_REQ,
		.MGMT_flags = flags};
	struct T_optmgmt_ack oa;
	struct block b;
	unsigned at = sizeof(or);
	int n;

	b.buf = out;
	b.size = room;
	b.fault = 0;
	if (in->len > room - at - 8)
		return xti_fail(TBADOPT);
	if (in->len != 0) {
		or.OPT_offset = xti_field(&b, &at, in);
		or.OPT_length = (t_scalar_t)in->len;
	}
	memcpy(b.buf, &or, sizeof(or));
	n = xti_str(u, TI_OPTMGMT, &b, at, 0);
	if (n < 0)
		return -1;
	memcpy(&oa, b.buf, sizeof(oa));
	if (n < (int)sizeof(oa) || oa.OPT_length < 0 || oa.OPT_offset < 0 ||
	    (long)oa.OPT_offset + oa.OPT_length > n)
		return xti_fail(TPROTO);
	*opt = b.buf + oa.OPT_offset;
	*len = (unsigned)oa.OPT_length;
	*res = oa.MGMT_flags;
	return 0;
}

STR_EXPORT int
t_optmgmt(int fd, const struct t_optmgmt *req, struct t_optmgmt *ret)
{
	struct t_optmgmt want, got;
	const unsigned char *opt;
	struct block b;
	unsigned len;
	struct use u;
	void *out;
	int err, res, over = 0;

	if (xti_use(&u, fd, S_ANY) < 0 ||
	    xti_in(&want, req, sizeof(want)) < 0 ||
	    xti_inout(&got, ret, sizeof(got)) < 0)
		return -1;
	if (want.flags != T_NEGOTIATE && want.flags != T_CHECK &&
	    want.flags != T_DEFAULT && want.flags != T_CURRENT)
		return xti_fail(TBADFLAG);
	if (xti_bad_netbuf(&want.opt))
		return xti_fail(TBADOPT);
	out = malloc(XTI_OPTROOM);
	if (out == NULL)
		return xti_sys(ENOMEM);
	err = xti_opt(&u, &want.opt, want.flags, out, XTI_OPTROOM, &opt, &len,
		&res);
	if (err == 0) {
		b.buf = out;
		over = xti_give(&u, &got.opt, &b, opt - b.buf, (long)len,
			XTI_OPTROOM);
		got.flags = res;
		over |= xti_put(ret, &got, sizeof(got));
	}
	free(out);
	if (err < 0)
		return -1;
	return xti_over(over);
}
