/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fuzz target: the Stream head's calls, on pipes and device streams of a
 * simulated domain.
 *
 * The input is a program: which call, on which of a few open files, with
 * which arguments; bytes each.  Requests of TPI go to the loopback transports,
 * which need nothing of the host.  Everything is non-blocking; what waits
 * nevertheless (an ioctl for its answer) is ended by a signal that comes every
 * few virtual seconds.  User addresses are good, null, or not mapped, and so is
 * what the executive takes for one: nothing outside of `user' is.  Its own
 * assertions decide what is wrong, and its memory is accounted for at the end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "core.h"

#include <sys/sad.h>
#include <sys/sc.h>
#include <sys/stropts.h>
#include <sys/testmod.h>
#include <sys/tihdr.h>
#include <sys/ioctl.h>
#include <asm/sockios.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NFILE 8
#define MEM 32768u

static struct file {
	struct str_file *f; /* NULL: closed */
	struct str_plumb *pl; /* of a pipe's end, else NULL */
	int fd, end, other; /* other: index of the pipe's other end */
} file[NFILE];

static struct {
	struct {
		struct str_strbuf b[2];
		int band, flags;
		char name[16];
		unsigned char pad[8];
	} arg; /* what has a place of its own */
	unsigned char mem[MEM];
	unsigned char bad[4096]; /* from here on nothing is mapped */
} user STR_ALIGNED(16);
#define mem (user.mem)
#define bad (user.bad)
static const uint8_t *in, *in_end;
static struct sim_task *self;
static bool over;

static uint8_t
next(void)
{
	return in < in_end ? *in++ : 0;
}

static unsigned
next16(void)
{
	unsigned v = next();

	return v << 8 | next();
}

static void
must_(bool ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_head.c:%d: %s\n", line, what);
	abort();
}
#define must(e) must_(e, #e, __LINE__)

/* -------------------------------------------------------- user arguments */

/* A user address at which @n bytes are good, or one that is bad. */
static void *
uptr(size_t n)
{
	uint8_t v = next();

	if (v == 0)
		return NULL;
	if (v == 1)
		return bad + 100;
	if (v == 2)
		return (void *)(uintptr_t)50;
	if (v == 3)
		return mem + MEM - (n < 64 ? n / 2 : 32); /* ends in what is bad */
	return mem + (size_t)v * 64 % (MEM / 2);
}

static int
a_length(void)
{
	static const int odd[] = { 0, -1, 1, 4, 64, 4095, 4096, 4097, 16000,
		-2, 0x7fffffff, -0x7fffffff - 1 };
	uint8_t v = next();

	return v < sizeof(odd) / sizeof(odd[0]) ? odd[v] : v;
}

/* Taken for an address, each of these is bad: below the first page, or ~0. */
static unsigned long
a_value(void)
{
	static const unsigned long odd[] = { 0, 1, 2, 3, 4, 8, 16, 32, 64, 128,
		255, 256, 257, 1023, 4000, ~0ul };
	uint8_t v = next();

	return v < sizeof(odd) / sizeof(odd[0]) ? odd[v] : v;
}

static const char *const module[] = { "nullmod", "pipemod", "srvmod",
	"testmod", "bufmod", "connld", "relay", "sc", "echo", "nosuch",
	"ninechars", "", "timod", "tirdwr", "impair" };

static const char *const driver[] = { "echo", "nuls", "loop", "mux", "minimux",
	"sad", "log", "spx", "printk", "nosuch", "ticlts", "ticots",
	"ticotsord", "sctp" };

/* ------------------------------------------------------------- the calls */

static struct file *
pick(void)
{
	return &file[next() % NFILE];
}

static bool
enter(struct file *f, struct host_call *hc)
{
	memset(hc, 0, sizeof(*hc));
	hc->fd = f->fd;
	hc->fflags = (int)str_load(str_file_flags(f->f)) | STR_O_NONBLOCK;
	must(host_enter(hc) == 0);
	if (str_head_enter(str_file_head(f->f), str_file_flags(f->f),
		    str_file_gen(f->f)))
		return true;
	host_leave();
	return false;
}

static struct file *
empty(void)
{
	for (int i = 0; i < NFILE; i++)
		if (file[i].f == NULL)
			return &file[i];
	return NULL;
}

static void
open_pipe(void)
{
	struct file *a = empty(), *b;
	struct host_call hc = { .fd = -1 };
	struct host_carrier c[2];
	struct str_plumb *pl;
	int fd[2];

	if (a == NULL)
		return;
	a->f = (struct str_file *)1;
	b = empty();
	a->f = NULL;
	if (b == NULL || host_carrier_pair(0, fd, c) != 0)
		return;
	must(host_enter(&hc) == 0);
	if (str_pipe_create(c, &pl) == 0) {
		*a = (struct file){ str_pipe_file(pl, 0), pl, fd[0], 0,
			(int)(b - file) };
		*b = (struct file){ str_pipe_file(pl, 1), pl, fd[1], 1,
			(int)(a - file) };
	} else {
		sim_close(fd[0]);
		sim_close(fd[1]);
	}
	host_leave();
}

static void
open_device(void)
{
	const char *drv = driver[next() % (sizeof(driver) / sizeof(*driver))];
	uint8_t minor = next();
	struct host_call hc = { .fd = -1, .fflags = STR_O_NONBLOCK };
	struct file *f = empty();
	struct host_carrier c;
	struct str_file *sf;
	int fd;

	if (f == NULL || host_carrier_open(0, &fd, &c) != 0)
		return;
	must(host_enter(&hc) == 0);
	if (str_dev_open(&hc, drv, minor & 15, (minor & 16) != 0,
		    2 | STR_O_NONBLOCK, &c, &sf) == 0)
		*f = (struct file){ sf, NULL, fd, 0, -1 };
	else
		sim_close(fd);
	host_leave();
}

static void
shut(struct file *f)
{
	struct host_call hc = { .fd = f->fd, .fflags = STR_O_NONBLOCK };
	struct str_file *sf = f->f;
	uint32_t gen;

	if (sf == NULL)
		return;
	f->f = NULL;
	gen = str_file_gen(sf);
	must(host_enter(&hc) == 0);
	sim_close(f->fd);
	if (f->pl != NULL)
		str_head_released(str_file_head(sf),
			file[f->other].f != NULL ? file[f->other].fd : -1);
	else
		str_file_released(sf, gen, &hc);
	host_leave();
}

static void
rw(struct file *f, struct host_call *hc, bool writing)
{
	size_t n = next16() % (MEM / 2);
	void *p = uptr(n);
	struct str_head *sd = str_file_head(f->f);
	long r;

	r = writing ? str_head_write(sd, hc, p, n) :
		      str_head_read(sd, hc, p, n);
	must(r >= -4095 && r <= (long)n);
}

static void
msg(struct file *f, struct host_call *hc, bool put)
{
	struct str_head *sd = str_file_head(f->f);
	struct str_strbuf *b = user.arg.b;
	uint8_t what = next();
	int band = next(), flags = next();
	long r;

	user.arg.band = band;
	user.arg.flags = flags;
	for (int i = 0; i < 2; i++) {
		b[i].maxlen = b[i].len = a_length();
		if (put && b[i].len > 16000)
			b[i].len = 16000;
		b[i].buf = uptr(64);
		if (!put && b[i].maxlen > 16000)
			b[i].maxlen = 16000;
	}
	if (put)
		r = str_head_putmsg(sd, hc, (what & 1) ? &b[0] : NULL,
			(what & 2) ? &b[1] : NULL,
			(what & 4) ? band : -1, flags & 7);
	else
		r = str_head_getmsg(sd, hc, (what & 1) ? &b[0] : NULL,
			(what & 2) ? &b[1] : NULL,
			(what & 4) ? &user.arg.band : NULL, &user.arg.flags);
	must(r >= -4095 && r <= 3);
}

/* I_STR with whatever command. */
static void
i_str(struct str_head *sd, struct host_call *hc)
{
	static const int cmd[] = { TM_IOC_HANGUP, TM_IOC_RDERR, TM_IOC_WRERR,
		TM_IOC_RWERR, TM_IOC_PSIGNAL, TM_IOC_NSIGNAL, TM_IOC_IOCTL,
		TM_IOC_COPYIN, SAD_SAP, SAD_GAP, SAD_VML, SAD_LAP,
		SC_IOC_LIST, 'l' << 8 | 1, 'm' << 8 | 1, 'B' << 8 | 1 };
	struct strioctl *io = (struct strioctl *)(void *)mem;
	uint8_t v = next();

	io->ic_cmd = v < 200 ? cmd[v % (sizeof(cmd) / sizeof(*cmd))] :
			       (v % 26 + 'a') << 8 | next();
	io->ic_timout = next() % 8 - 1;
	io->ic_len = a_length();
	if (io->ic_len > 16000)
		io->ic_len = 16000;
	io->ic_dp = uptr(64);
	(void)str_head_ioctl(sd, hc, I_STR, (unsigned long)(uintptr_t)io);
}

/* Structures with addresses in them. */
static void
pointers(struct str_head *sd, struct host_call *hc)
{
	unsigned long arg = (unsigned long)(uintptr_t)mem;
	uint8_t v = next();

	memset(mem, v, 128);
	switch (v % 6) {
	case 0: {
		struct str_list *l = (struct str_list *)(void *)mem;

		l->sl_nmods = a_length();
		l->sl_modlist = uptr(64);
		(void)str_head_ioctl(sd, hc, v & 64 ? I_LIST : SAD_VML, arg);
		break;
	}
	case 1: {
		struct strpeek *p = (struct strpeek *)(void *)mem;

		p->ctlbuf.maxlen = a_length() % 16000;
		p->ctlbuf.buf = uptr(64);
		p->databuf.maxlen = a_length() % 16000;
		p->databuf.buf = uptr(64);
		p->flags = next() % 3;
		(void)str_head_ioctl(sd, hc, I_PEEK, arg);
		break;
	}
	case 2: {
		struct strfdinsert *p = (struct strfdinsert *)(void *)mem;

		p->ctlbuf.len = a_length() % 16000;
		p->ctlbuf.buf = uptr(64);
		p->databuf.len = a_length() % 16000;
		p->databuf.buf = uptr(64);
		p->flags = next() % 3;
		p->fildes = file[next() % NFILE].fd;
		p->offset = a_length();
		(void)str_head_ioctl(sd, hc, I_FDINSERT, arg);
		break;
	}
	case 3: {
		struct sc_list *l = (struct sc_list *)(void *)mem;

		l->sc_nmods = a_length() % 16;
		l->sc_mlist = uptr(64);
		(void)str_head_ioctl(sd, hc,
			v & 64 ? SC_IOC_LIST : SC_IOC_RESET, arg);
		break;
	}
	case 4: {
		struct strpmsg *p = (struct strpmsg *)(void *)mem;

		p->ctlbuf.maxlen = p->ctlbuf.len = a_length() % 16000;
		p->ctlbuf.buf = uptr(64);
		p->databuf.maxlen = p->databuf.len = a_length() % 16000;
		p->databuf.buf = uptr(64);
		p->band = a_length();
		p->flags = next() % 8;
		(void)str_head_ioctl(sd, hc, v & 64 ? I_GETPMSG : I_PUTPMSG,
			v & 32 ? arg : (unsigned long)(uintptr_t)uptr(64));
		break;
	}
	default: {
		struct strapush *ap = (struct strapush *)(void *)mem;

		ap->sap_cmd = next() % 5;
		ap->sap_major = 230 + next() % 12;
		ap->sap_minor = next() % 16;
		ap->sap_lastminor = next() % 32;
		ap->sap_npush = next() % 10;
		for (int i = 0; i < MAXAPUSH; i++)
			strcpy(ap->sap_list[i], module[next() % 10]);
		ap->sap_module[0] = '\0';
		(void)str_head_ioctl(sd, hc, SAD_SAP + next() % 4, arg);
		break;
	}
	}
}

static void
ioctls(struct file *f, struct host_call *hc)
{
	/* those whose argument is a number, or an address of a few bytes */
	static const unsigned plain[] = { I_NREAD, I_LOOK, I_FLUSH, I_SRDOPT,
		I_GRDOPT, I_SETSIG, I_GETSIG, I_UNLINK, I_SWROPT, I_GWROPT,
		I_PUNLINK, I_FLUSHBAND, I_CKBAND, I_GETBAND, I_ATMARK,
		I_SETCLTIME, I_GETCLTIME, I_CANPUT, I_ANCHOR, I_SERROPT,
		I_GERROPT, I_ESETSIG, I_EGETSIG, I_GET_STRMSGSZ, I_GET_PUSHCNT,
		I_SET_HIWAT, I_SET_LOWAT, I_GET_HIWAT, I_GET_LOWAT,
		I_ISASTREAM, TM_IOC_COPYIN, TM_IOC_COPYOUT, TM_IOC_COPYIO,
		TM_IOC_HANGUP, TM_IOC_RWERR, I_LIST, I_PIPE, I_RECVFD,
		I_GET_STH_WROFF, I_GET_STRCTLSZ, FIONREAD, TIOCGPGRP,
		TIOCSPGRP, TIOCGSID, FIOSETOWN, FIOGETOWN, SIOCATMARK,
		TCGETS, TCSETS, TCSETAF, TCSBRK, TCFLSH, TIOCGWINSZ };
	struct str_head *sd = str_file_head(f->f);
	const unsigned n = sizeof(plain) / sizeof(plain[0]);
	uint8_t v = next();
	unsigned cmd;

	if (v < 160) {
		cmd = plain[v % n];
		(void)str_head_ioctl(sd, hc, cmd, (next() & 1) ? a_value() :
			(unsigned long)(uintptr_t)uptr(16));
	} else if (v < 190) {
		i_str(sd, hc);
	} else if (v < 215) {
		pointers(sd, hc);
	} else if (v < 240) {
		static const unsigned with_fd[] = { I_LINK, I_PLINK, I_SENDFD };

		(void)str_head_ioctl(sd, hc, with_fd[v % 3],
			(unsigned long)file[next() % NFILE].fd);
	} else {
		(void)str_head_ioctl(sd, hc, next16(), a_value());
	}
}

static void
push(struct file *f, struct host_call *hc)
{
	const char *name = module[next() % (sizeof(module) / sizeof(*module))];
	struct str_head *sd = str_file_head(f->f);
	uint8_t v = next();

	strcpy(user.arg.name, name);
	(void)str_head_ioctl(sd, hc, (v & 7) == 7 ? I_FIND : I_PUSH,
		(unsigned long)(uintptr_t)(v == 9 ? (void *)bad :
						    user.arg.name));
}

/*
 * A request of TPI: its type, then words that are lengths and offsets of what
 * follows, or nearly so; names of few kinds, so that some are found.
 */
static void
prim(struct file *f, struct host_call *hc)
{
	static const uint8_t type[] = { T_CONN_REQ, T_CONN_RES, T_DISCON_REQ,
		T_DATA_REQ, T_EXDATA_REQ, T_INFO_REQ, T_BIND_REQ, T_UNBIND_REQ,
		T_UNITDATA_REQ, T_OPTMGMT_REQ, T_ORDREL_REQ, T_OPTDATA_REQ,
		T_ADDR_REQ, T_CAPABILITY_REQ };
	static const t_scalar_t word[] = { 0, 1, 2, 4, 8, 12, 16, 20, 24, 28,
		32, 64, -1, 0x7fffffff };
	struct str_strbuf *b = user.arg.b;
	t_scalar_t *w = (t_scalar_t *)(void *)mem;
	uint8_t v = next(), n = next(), data = next();

	memset(mem, n & 3, 256);
	w[0] = v < 224 ? type[v % sizeof(type)] : v - 224;
	for (int i = 1; i <= (n & 7); i++) {
		uint8_t k = next();

		w[i] = k < 200 ? word[k % (sizeof(word) / sizeof(*word))] :
				 k - 200;
	}
	/* options: a length, a level, a name, a status, perhaps a value */
	for (int i = 16; (n & 8) != 0 && i < 24; i++)
		w[i] = word[next() % (sizeof(word) / sizeof(*word))];
	b[0].maxlen = b[0].len = (n >> 4) * 8;
	b[0].buf = mem;
	b[1].maxlen = b[1].len = data * 8;
	b[1].buf = mem + 512;
	(void)str_head_putmsg(str_file_head(f->f), hc, &b[0],
		(data & 1) != 0 ? &b[1] : NULL, -1, (data & 2) != 0);
}

static void
on_file(uint8_t op)
{
	struct file *f = pick();
	struct host_call hc;

	if (f->f == NULL || !enter(f, &hc))
		return;
	switch (op) {
	case 0:
		rw(f, &hc, false);
		break;
	case 1:
		rw(f, &hc, true);
		break;
	case 2:
		msg(f, &hc, false);
		break;
	case 3:
		msg(f, &hc, true);
		break;
	case 4:
		push(f, &hc);
		break;
	case 5:
		(void)str_head_ioctl(str_file_head(f->f), &hc, I_POP, 0);
		break;
	case 6:
		(void)str_head_events(str_file_head(f->f));
		(void)str_sched_run_head(str_file_head(f->f), &hc);
		break;
	case 11:
		prim(f, &hc);
		break;
	default:
		ioctls(f, &hc);
		break;
	}
	host_leave();
}

static void
step(void)
{
	uint8_t op = next();

	if (op < 8) {
		open_pipe();
	} else if (op < 24) {
		open_device();
	} else if (op < 36) {
		shut(pick());
	} else if (op < 40) {
		struct host_call hc = { .fd = -1 };

		sim_advance((uint64_t)next() * 10000000u);
		must(host_enter(&hc) == 0);
		(void)str_timer_run(host_now());
		host_leave();
	} else {
		on_file((op - 40) % 12);
	}
}

/* ---------------------------------------------------------------- the run */

/* Ends what would wait for ever. */
static void
alarms(void *arg)
{
	(void)arg;
	while (!over) {
		sim_sleep(3000000000ull);
		if (!over)
			sim_signal(self, false);
	}
}

static void
count(struct str_blk *b, void *arg)
{
	uint64_t *n = arg;

	if (b->state == STR_BLK_MDB || b->state == STR_BLK_SEG ||
		b->state == STR_BLK_PIPE || b->state == STR_BLK_BUF)
		n[b->state]++;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t before[16] = { 0 }, after[16] = { 0 };
	struct host_call hc = { .fd = -1 };

	sim_cap(24u << 20);
	sim_init(1);
	sim_grain(0);
	memset(&user, 0, sizeof(user));
	sim_only(&user, sizeof(user) - sizeof(bad));
	self = sim_current();
	over = false;
	str_mem_walk(count, before);
	(void)sim_spawn("alarm", alarms, NULL);
	memset(file, 0, sizeof(file));
	in = data;
	in_end = data + (size < 1500 ? size : 1500);
	while (in < in_end)
		step();
	for (int i = 0; i < NFILE; i++)
		shut(&file[i]);
	over = true;
	must(sim_run() == 0);
	must(host_enter(&hc) == 0);
	(void)str_region_sweep();
	str_mem_walk(count, after);
	if (str_load(str_root(STR_ROOT_NDEVS)) == 0 &&
		str_load(str_root(STR_ROOT_NPIPES)) == 0) {
		must(after[STR_BLK_PIPE] == before[STR_BLK_PIPE]);
		must(after[STR_BLK_SEG] == before[STR_BLK_SEG]);
		must(after[STR_BLK_MDB] == before[STR_BLK_MDB]);
	}
	host_leave();
	sim_fini();
	return 0;
}
