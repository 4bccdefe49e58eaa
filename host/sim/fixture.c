/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Implementation of the unit tests' fixture.
 */
#include "fixture.h"

#define NPIPES 32
#define NCOUNTS 64

void (*fx_on_put)(queue_t *q, mblk_t *mp);
void (*fx_on_service)(queue_t *q);

static struct fx_pipe *open_pipe[NPIPES];
static struct {
	struct str_qpair *qp;
	struct fx_count count;
} counts[NCOUNTS];

/* ----------------------------------------------------------- test modules */

struct fx_count *
fx_of(queue_t *q)
{
	unsigned i;

	for (i = 0; i < NCOUNTS; i++)
		if (counts[i].qp == q->q_pair)
			return &counts[i].count;
	for (i = 0; i < NCOUNTS && counts[i].qp != NULL; i++)
		;
	if (i == NCOUNTS)
		T_FAIL("too many queue pairs in one case");
	counts[i].qp = q->q_pair;
	memset(&counts[i].count, 0, sizeof(counts[i].count));
	return &counts[i].count;
}

static void
forget(queue_t *q)
{
	unsigned i;

	for (i = 0; i < NCOUNTS; i++)
		if (counts[i].qp == q->q_pair)
			counts[i].qp = NULL;
}

static void
inside(queue_t *q)
{
	struct fx_count *c = fx_of(q);

	c->inside++;
	if (c->inside > c->overlap)
		c->overlap = c->inside;
	sim_point();
}

static void
outside(queue_t *q)
{
	sim_point();
	fx_of(q)->inside--;
}

static int
fx_mopen(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)crp;
	if (sflag != MODOPEN)
		return EINVAL;
	forget(q); /* from a pair that was freed */
	fx_of(q)->opens++;
	qprocson(q);
	return 0;
}

static int
fx_mclose(queue_t *q, int flag, cred_t *crp)
{
	(void)flag, (void)crp;
	qprocsoff(q);
	fx_of(q)->closes++;
	return 0;
}

static int
fx_refuse_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)q, (void)devp, (void)flag, (void)sflag, (void)crp;
	return EBUSY;
}

static int
fx_pass_put(queue_t *q, mblk_t *mp)
{
	inside(q);
	fx_of(q)->puts++;
	if (fx_on_put != NULL)
		fx_on_put(q, mp);
	putnext(q, mp);
	outside(q);
	return 0;
}

static int
fx_store_put(queue_t *q, mblk_t *mp)
{
	inside(q);
	fx_of(q)->puts++;
	if (fx_on_put != NULL)
		fx_on_put(q, mp);
	if (putq(q, mp) == 0)
		freemsg(mp);
	outside(q);
	return 0;
}

static int
fx_store_srv(queue_t *q)
{
	inside(q);
	(void)str_add(&fx_of(q)->services, 1u);
	if (fx_on_service != NULL)
		fx_on_service(q);
	outside(q);
	return 0;
}

static int
fx_late_srv(queue_t *q)
{
	mblk_t *mp;

	inside(q);
	(void)str_add(&fx_of(q)->services, 1u);
	if (fx_on_service != NULL)
		fx_on_service(q);
	while ((mp = getq(q)) != NULL) {
		if (mp->b_datap->db_type < QPCTL &&
		    !bcanputnext(q, mp->b_band)) {
			if (putbq(q, mp) == 0)
				freemsg(mp);
			break;
		}
		putnext(q, mp);
	}
	outside(q);
	return 0;
}

static struct module_info fx_info = {
	.mi_idnum = 0x6678,
	.mi_idname = (char *)"fx",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = 100,
	.mi_lowat = 20,
};

#define FX_TAB(name, put, srv, open)					\
	static struct qinit fx_##name##_r = {				\
		.qi_putp = put, .qi_srvp = srv, .qi_qopen = open,	\
		.qi_qclose = fx_mclose, .qi_minfo = &fx_info,		\
	};								\
	static struct qinit fx_##name##_w = {				\
		.qi_putp = put, .qi_srvp = srv, .qi_minfo = &fx_info,	\
	};								\
	static struct streamtab fx_##name = {				\
		.st_rdinit = &fx_##name##_r, .st_wrinit = &fx_##name##_w, \
	}

FX_TAB(store, fx_store_put, fx_store_srv, fx_mopen);
FX_TAB(pass, fx_pass_put, NULL, fx_mopen);
FX_TAB(late, fx_store_put, fx_late_srv, fx_mopen);
FX_TAB(refuse, fx_pass_put, NULL, fx_refuse_open);

void
fx_module(const char *name, struct streamtab *tab, unsigned flag)
{
	struct str_fmod *fm = (struct str_fmod *)(uintptr_t)
		str_load(str_root(STR_ROOT_FMOD));
	struct str_fmod *f;
	uint64_t n = str_load(str_root(STR_ROOT_NFMOD));

	if (n >= STR_NMODULE)
		T_FAIL("no room for module %s", name);
	f = &fm[n];
	memset(f, 0, sizeof(*f));
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->flag = flag;
	f->kind = STR_F_MODULE;
	/* one process: addresses need no translation */
	f->rinit = *tab->st_rdinit;
	f->winit = *tab->st_wrinit;
	f->rinfo = *f->rinit.qi_minfo;
	f->winfo = *f->winit.qi_minfo;
	f->rinit.qi_minfo = &f->rinfo;
	f->winit.qi_minfo = &f->winfo;
	snprintf(f->idname[0], sizeof(f->idname[0]), "%s", name);
	snprintf(f->idname[1], sizeof(f->idname[1]), "%s", name);
	f->rinfo.mi_idname = f->idname[0];
	f->winfo.mi_idname = f->idname[1];
	f->tab.st_rdinit = &f->rinit;
	f->tab.st_wrinit = &f->winit;
	str_store(&f->used, 1u);
	str_store_rel(str_root(STR_ROOT_NFMOD), n + 1);
}

/* ----------------------------------------------------------------- memory */

static void *hoard;

void
fx_use_up(void)
{
	size_t size;
	void **b;

	sim_fail_commit(1, true);
	for (size = 1u << 20; size >= 32; size /= 2)
		while ((b = str_mem_alloc(size, STR_BLK_KMEM)) != NULL) {
			b[2] = hoard; /* behind the block's header */
			hoard = b;
		}
}

void
fx_give_back(void)
{
	void **b;

	while ((b = hoard) != NULL) {
		hoard = b[2];
		str_mem_free(b);
	}
	sim_fail_commit(0, false);
}

/* ---------------------------------------------------------- begin and end */

/* Number of blocks that the executive keeps for itself, by kind. */
static uint64_t base_count[16];

static void
count_leaks(struct str_blk *b, void *arg)
{
	uint64_t *n = arg;

	switch (b->state) {
	case STR_BLK_BUF:
	case STR_BLK_MDB:
	case STR_BLK_KMEM:
	case STR_BLK_SEG:
	case STR_BLK_QPAIR:
	case STR_BLK_PIPE:
		n[b->state]++;
		break;
	default:
		break;
	}
}

static void
after_each(struct t *t)
{
	(void)t;
	fx_end();
}

void
fx_keep(void)
{
	memset(base_count, 0, sizeof(base_count));
	str_mem_walk(count_leaks, base_count);
}

void
fx_begin_seed(uint64_t seed)
{
	memset(open_pipe, 0, sizeof(open_pipe));
	memset(counts, 0, sizeof(counts));
	fx_on_put = NULL;
	fx_on_service = NULL;
	hoard = NULL;
	sim_init(seed);
	fx_keep();
	fx_module("store", &fx_store, D_MP);
	fx_module("pass", &fx_pass, D_MP);
	fx_module("late", &fx_late, D_MP);
	fx_module("pair", &fx_pass, D_MTQPAIR);
	fx_module("pairsrv", &fx_late, D_MTQPAIR);
	fx_module("refuse", &fx_refuse, D_MP);
}

void
fx_begin(struct t *t)
{
	fx_begin_seed(t->seed);
	sim_grain(0);
	t_after_each(after_each);
}

void
fx_pipe(struct fx_pipe *p)
{
	struct host_carrier c[2];
	int i;

	memset(p, 0, sizeof(*p));
	T_EQ(host_carrier_pair(0, p->fd, c), 0);
	T_EQ(str_pipe_create(c, &p->pl), 0);
	for (i = 0; i < 2; i++) {
		p->sd[i] = str_pipe_end(p->pl, i);
		p->hc[i].fd = p->fd[i];
	}
	for (i = 0; i < NPIPES && open_pipe[i] != NULL; i++)
		;
	if (i == NPIPES)
		T_FAIL("too many pipes in one case");
	open_pipe[i] = p;
}

/* Begin a call on @end, as lib/streams does. */
static void
enter(struct fx_pipe *p, int end, struct host_call *hc)
{
	struct str_head *sd = p->sd[end];

	T_EQ(host_enter(hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(&sd->file),
		str_file_gen(&sd->file)));
}

void
fx_close(struct fx_pipe *p, int end)
{
	struct host_call hc = {.fd = p->fd[end]};

	if (!sim_held(p->fd[end]))
		return;
	enter(p, end, &hc);
	sim_close(p->fd[end]);
	str_head_released(p->sd[end], p->fd[!end]);
	host_leave();
}

void
fx_close_both(struct fx_pipe *p)
{
	fx_close(p, 0);
	fx_close(p, 1);
}

void
fx_sweep(void)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	(void)str_region_members_died();
	host_leave();
}

/* Print the history of a leaked message block. */
static void
print_leak(struct str_blk *b, void *arg)
{
	struct str_mdb *x = (struct str_mdb *)(void *)b;

	(void)arg;
	if (b->state == STR_BLK_MDB)
		fprintf(stderr, "sim: message %p owner %#x parts %u type %#x "
			"ref %u next %p prev %p cont %p\n", (void *)&x->m,
			str_load(&b->owner), str_load(&x->parts),
			x->d.db_type, x->d.db_ref, (void *)x->m.b_next,
			(void *)x->m.b_prev, (void *)x->m.b_cont);
	else if (b->state == STR_BLK_BUF || b->state == STR_BLK_SEG)
		fprintf(stderr, "sim: %s %p owner %#x\n",
			b->state == STR_BLK_BUF ? "buffer" : "segment",
			(void *)b, str_load(&b->owner));
}

void
fx_end(void)
{
	static const char *const what[] = STR_BLK_TEXTS;
	uint64_t n[16] = {0};
	unsigned i;

	if (host_domain == NULL)
		return;
	fx_give_back();
	for (i = 0; i < NPIPES; i++) {
		if (open_pipe[i] == NULL)
			continue;
		fx_close(open_pipe[i], 0);
		fx_close(open_pipe[i], 1);
		open_pipe[i] = NULL;
	}
	(void)str_region_sweep();
	str_mem_walk(count_leaks, n);
	for (i = 0; i < STR_ARRAY_LEN(what); i++)
		if (n[i] != base_count[i]) {
			str_mem_walk(print_leak, NULL);
			T_FAIL("seed %llu: %llu %s left, %llu at the start",
				(unsigned long long)sim_seed(),
				(unsigned long long)n[i], what[i],
				(unsigned long long)base_count[i]);
		}
	sim_fini();
}

/* -------------------------------------------------------------- plumbing */

int
fx_push_err(struct fx_pipe *p, int end, const char *name)
{
	struct host_call hc = p->hc[end];
	int err;

	enter(p, end, &hc);
	err = str_plumb_push(p->sd[end], &hc, name);
	host_leave();
	return err;
}

queue_t *
fx_push(struct fx_pipe *p, int end, const char *name)
{
	T_EQ(fx_push_err(p, end, name), 0);
	return RD(p->sd[end]->qp->wq.q_next);
}

int
fx_pop(struct fx_pipe *p, int end)
{
	struct host_call hc = p->hc[end];
	int err;

	enter(p, end, &hc);
	err = str_plumb_pop(p->sd[end], &hc);
	host_leave();
	return err;
}

static void
dump_queue(queue_t *q)
{
	fprintf(stderr, "    %c %-8s %p flag %#lx count %zu first %p "
		"lock %#x\n", (q->q_flag & QREADR) ? 'r' : 'w',
		q->q_pair->fmod != NULL ? q->q_pair->fmod->name : "head",
		(void *)q, (unsigned long)q->q_flag, q->q_count,
		(void *)q->q_first, q->q_klock.owner);
}

void
fx_dump(struct fx_pipe *p)
{
	struct str_plumb *pl = p->pl;
	int e;

	fprintf(stderr, "  pipe %p plumber %#x runner %#x rlock %#x nrun %u "
		"committed %#x closed %#x\n", (void *)pl, pl->plumber.owner,
		str_load(&pl->runner), pl->rlock.owner, str_load(&pl->nrun),
		str_load(&pl->committed), str_load(&pl->closed));
	for (e = 0; e < 2; e++) {
		struct str_head *sd = &pl->head[e];
		struct str_headq *hq = &sd->hq;
		queue_t *q;
		unsigned n = 0;

		fprintf(stderr, "  head %d flags %#x direct %p pos %llu cpos "
			"%llu bytes %llu-%llu full %u plock %#x clock %#x "
			"rwant %#x wwant %#x npri %u\n", e,
			str_load(&sd->flags), (void *)sd->direct,
			(unsigned long long)str_load(&hq->pos),
			(unsigned long long)str_load(&hq->cpos),
			(unsigned long long)str_load(&hq->pbytes),
			(unsigned long long)str_load(&hq->cbytes),
			str_load(&hq->full), hq->plock.lk.owner,
			hq->clock.lk.owner, str_load(&hq->rwant),
			str_load(&hq->wwant), str_load(&hq->npri));
		for (q = &sd->qp->wq; q != NULL && n++ < 20; q = q->q_next)
			dump_queue(q);
	}
}

bool
fx_run(struct fx_pipe *p)
{
	bool ran;

	T_EQ(str_claim(p->pl), 0);
	ran = str_sched_run(p->pl);
	str_unclaim(p->pl);
	return ran;
}

bool
fx_enabled(queue_t *q)
{
	bool yes = (str_load(&q->q_flag) & QENAB) != 0;

	if (yes)
		str_sched_remove(q);
	return yes;
}

/* --------------------------------------------------------------- messages */

mblk_t *
fx_type(unsigned type, const char *text, unsigned band)
{
	size_t n = strlen(text);
	mblk_t *mp = allocb(n, BPRI_MED);

	T_NOTNULL(mp);
	memcpy(mp->b_wptr, text, n);
	mp->b_wptr += n;
	mp->b_datap->db_type = (unsigned char)type;
	mp->b_band = (unsigned char)band;
	return mp;
}

mblk_t *
fx_msg(const char *text, unsigned band)
{
	return fx_type(M_DATA, text, band);
}

mblk_t *
fx_bytes(size_t n, unsigned band)
{
	mblk_t *mp = allocb(n, BPRI_MED);

	T_NOTNULL(mp);
	memset(mp->b_wptr, 'b', n);
	mp->b_wptr += n;
	mp->b_band = (unsigned char)band;
	return mp;
}

mblk_t *
fx_ctl(unsigned type, int n, int b0, int b1)
{
	mblk_t *mp = allocb(4, BPRI_HI);

	T_NOTNULL(mp);
	mp->b_datap->db_type = (unsigned char)type;
	if (n > 0)
		*mp->b_wptr++ = (unsigned char)b0;
	if (n > 1)
		*mp->b_wptr++ = (unsigned char)b1;
	return mp;
}

mblk_t *
fx_chain(unsigned type, const char *const *text)
{
	mblk_t *mp = fx_type(type, *text, 0);

	while (*++text != NULL)
		linkb(mp, fx_type(type, *text, 0));
	return mp;
}

const char *
fx_text(const mblk_t *mp)
{
	static char buf[512];
	size_t n = 0;

	for (; mp != NULL; mp = mp->b_cont) {
		const unsigned char *c;

		for (c = mp->b_rptr; c < mp->b_wptr && n < sizeof(buf) - 1;
			c++)
			buf[n++] = (char)*c;
	}
	buf[n] = '\0';
	return buf;
}

unsigned
fx_blocks(const mblk_t *mp)
{
	unsigned n = 0;

	for (; mp != NULL; mp = mp->b_cont)
		n++;
	return n;
}

void
fx_check_msg(const char *file, int line, const char *expr, mblk_t *mp,
	const char *text)
{
	t_ptr(file, line, expr, mp, 0);
	t_str(file, line, expr, fx_text(mp), text);
	freemsg(mp);
}

/* ------------------------------------------------------------------ audit */

struct in_use {
	unsigned kind;
	uint64_t n;
};

static void
count_kind(struct str_blk *b, void *arg)
{
	struct in_use *u = arg;

	if (b->state == u->kind)
		u->n++;
}

uint64_t
fx_in_use(unsigned blk)
{
	struct in_use u = {blk, 0};

	str_mem_walk(count_kind, &u);
	return u.n;
}

uint64_t
fx_messages(void)
{
	return fx_in_use(STR_BLK_MDB);
}

/* ------------------------------------------------------------------ calls */

void
fx_up(struct fx_pipe *p, int end, mblk_t *mp)
{
	struct host_call hc = p->hc[end];
	struct str_head *sd = p->sd[end];

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(&sd->file),
		str_file_gen(&sd->file)));
	T_EQ(str_claim(sd->plumb), 0);
	str_put(&sd->qp->rq, mp);
	(void)str_sched_run(sd->plumb);
	str_unclaim(sd->plumb);
	host_leave();
}

/* fast.c */
long fx_fast_read(struct str_head *sd, const str_a32 *id, uint32_t gen, int fd,
	void *buf, size_t len);
long fx_fast_write(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, const void *buf, size_t len);

long
fx_read(struct fx_pipe *p, int end, void *buf, size_t len)
{
	struct host_call hc = p->hc[end];
	struct str_head *sd = p->sd[end];
	long r;

	r = fx_fast_read(sd, str_file_flags(&sd->file),
		str_file_gen(&sd->file), hc.fd, buf, len);
	if (r > 0)
		return r;
	enter(p, end, &hc);
	r = str_head_read(p->sd[end], &hc, buf, len);
	host_leave();
	return r;
}

long
fx_write(struct fx_pipe *p, int end, const void *buf, size_t len)
{
	struct host_call hc = p->hc[end];
	struct str_head *sd = p->sd[end];
	long r;

	r = fx_fast_write(sd, str_file_flags(&sd->file),
		str_file_gen(&sd->file), hc.fd, buf, len);
	if (r > 0)
		return r;
	enter(p, end, &hc);
	r = str_head_write(p->sd[end], &hc, buf, len);
	host_leave();
	return r;
}

long
fx_putmsg(struct fx_pipe *p, int end, const void *ctl, int clen,
	const void *data, int dlen, int band, int flags)
{
	struct str_strbuf c = {0, clen, (void *)(uintptr_t)ctl};
	struct str_strbuf d = {0, dlen, (void *)(uintptr_t)data};
	struct host_call hc = p->hc[end];
	long r;

	enter(p, end, &hc);
	r = str_head_putmsg(p->sd[end], &hc, ctl != NULL ? &c : NULL,
		data != NULL ? &d : NULL, band, flags);
	host_leave();
	return r;
}

long
fx_getmsg(struct fx_pipe *p, int end, struct str_strbuf *ctl,
	struct str_strbuf *data, int *band, int *flags)
{
	struct host_call hc = p->hc[end];
	long r;

	enter(p, end, &hc);
	r = str_head_getmsg(p->sd[end], &hc, ctl, data, band, flags);
	host_leave();
	return r;
}

long
fx_ioctl(struct fx_pipe *p, int end, unsigned long cmd, unsigned long arg)
{
	struct host_call hc = p->hc[end];
	long r;

	enter(p, end, &hc);
	r = str_head_ioctl(p->sd[end], &hc, cmd, arg);
	host_leave();
	return r;
}
