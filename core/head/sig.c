/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * I_SETSIG and I_ESETSIG: signals for events at a Stream head; and the signals
 * of M_SIG and M_PCSIG.
 *
 * Life.  A registration names a process, or a process group, and is linked to
 * the head.  It ends when the process cancels it, and when the head is freed.
 * It also ends when a thread that sends a signal, or streamsd, finds that the
 * process or group does not exist any more.  If I_SETSIG or I_ESETSIG made it
 * for a process, it ends when this process closes any descriptor of the Stream
 * (as in SVR4).  Because a process number may be reused, the start time of a
 * process that is a member is stored, too.
 *
 * Data.  SVR4: a signal is sent when a message arrives at an empty queue, not
 * for later ones.  STR_WANT_SIG is set in the readers' want word while a
 * process is registered for data.  A waker that finds it there examines each
 * registration (pick_data), and stores the end of the log in it (`at').  A
 * signal is due if the log has grown since the last time, and the reader had
 * read everything up to the stored end.  The writer's fast path has no extra
 * cost, because it tests the want word in any case.
 *
 * Room.  A writer that is refused sets STR_WANT_SIG in the writers' want word.
 * The waker of writers clears it, and signals every process that is registered
 * for room.
 *
 * Signal messages.  SVR4: SIGPOLL is sent to the processes registered for
 * S_MSG, any other signal to the owner, if the head has one: the process or
 * group that SIOCSPGRP, FIOSETOWN or TIOCSPGRP has set.  If the owner of a
 * terminal is a group, this is the foreground group.  M_PCSIG takes effect when
 * it arrives.  M_SIG becomes a record of the log.  It takes effect when a
 * thread finds it as the first record (str_headq_first()); this thread removes
 * the record and goes on to the next one.
 *
 * Locks.  siglock, a leaf; nothing is allocated or freed under it.
 *
 * Crash.  Each change of the list is one store, and listed blocks have no
 * owner.  A thread that is killed between this store and the change of the
 * block's owner may leak the block.
 */
#include "core.h"
#include "sig.h"
#include "sock/sock.h"

#define SIG_HUP 1
#define SIG_URG 23
#define SIG_POLL 29
#define LOOK (-1) /* no signal; check whether the process lives */
#define MANY 16u /* registrations removed at a time */

static void
lock(struct str_head *sd)
{
	(void)str_lock(&sd->siglock); /* nothing to repair */
}

/* The process slot of @pid in this domain, or NULL. */
static struct str_proc *
member(uint32_t pid, uint64_t start)
{
	struct str_domain *d = host_domain;
	uint32_t n = str_load(&d->proc_high), i;

	for (i = 0; i < n && i < STR_NPROC; i++) {
		struct str_proc *p = &d->proc[i];

		if ((str_load(&p->gen) & 1u) != 0 &&
		    str_load(&p->pid) == pid &&
		    (start == 0 || str_load(&p->start) == start))
			return p;
	}
	return NULL;
}

/* Return: 0; ESRCH: the process has ended; another errno: no signal was sent.
 * For a former member no signal is sent; only its number is looked up. */
static int
post(const struct str_sig *s, int sig, const struct host_siginfo *si)
{
	if (s->id > 0 && s->start != 0 && member((uint32_t)s->id, s->start) == NULL) {
		/* in exec, or dead: another process may have its number */
		return host_signal_post((uint32_t)s->id, 0, NULL);
	}
	return host_signal_post((uint32_t)s->id, sig, si);
}

/* Locks: siglock. */
static struct str_sig *
find(struct str_head *sd, int32_t id, uint32_t kind)
{
	struct str_sig *s;

	for (s = sd->sigs; s != NULL; s = s->next)
		if ((str_load(&s->events) & STR_SIG_KIND) == kind &&
		    (kind == STR_SIG_OWNER || s->id == id))
			return s;
	return NULL;
}

/* Set the want bits from the events of all registrations.  Locks: siglock. */
static void
settle(struct str_head *sd)
{
	struct str_sig *s;
	uint32_t all = 0;

	for (s = sd->sigs; s != NULL; s = s->next)
		all |= str_load(&s->events);
	if (all & (STR_S_INPUT | STR_S_RDNORM))
		(void)str_or(&sd->hq.rwant, STR_WANT_SIG);
	else if (str_load(&sd->hq.rwant) & STR_WANT_SIG)
		(void)str_and(&sd->hq.rwant, ~STR_WANT_SIG);
}

/* Locks: siglock.  The caller owns the block afterwards. */
static void
take_out(struct str_head *sd, struct str_sig *s)
{
	struct str_sig *p = sd->sigs;

	if (p == s) {
		sd->sigs = s->next;
	} else {
		while (p->next != s)
			p = p->next;
		p->next = s->next;
	}
	str_mem_own(s);
}

static struct str_sig *
make(int32_t id, uint32_t events)
{
	struct str_sig *s = str_mem_alloc(sizeof(*s), STR_BLK_SIG);
	struct str_proc *p;

	if (s == NULL)
		return NULL;
	s->next = NULL;
	s->id = id;
	str_store(&s->events, events);
	p = id > 0 ? member((uint32_t)id, 0) : NULL;
	s->start = p != NULL ? str_load(&p->start) : 0;
	s->at = 0;
	s->sig = 0;
	s->fd = -1;
	return s;
}

static void
put_in(struct str_head *sd, struct str_sig *s)
{
	s->at = str_load_acq(&sd->hq.pos);
	s->next = sd->sigs;
	str_mem_disown(s);
	sd->sigs = s;
	str_stream_odd();
}

/*
 * Replace the registration of @id and @kind by @fresh, or remove it if @fresh
 * is NULL.  Return: 0, EINVAL (there was none), ESRCH.
 */
static int
replace(struct str_head *sd, int32_t id, uint32_t kind, struct str_sig *fresh)
{
	struct str_sig *s, *old = NULL;
	int err = 0;

	if (fresh != NULL && post(fresh, 0, NULL) != 0) {
		str_mem_free(fresh);
		return ESRCH;
	}
	lock(sd);
	s = find(sd, id, kind);
	if (s != NULL && kind == 0 && fresh != NULL &&
		s->start == fresh->start) {
		/* the old registration stays, with its `at' */
		str_store(&s->events, str_load(&fresh->events));
		old = fresh;
		fresh = NULL;
	} else if (s != NULL) {
		take_out(sd, s);
		old = s;
	} else if (fresh == NULL) {
		err = EINVAL;
	}
	if (fresh != NULL)
		put_in(sd, fresh);
	settle(sd);
	str_unlock(&sd->siglock);
	str_sock_changed(sd->plumb);
	if (old != NULL)
		str_mem_free(old);
	return err;
}

int
str_sig_set(struct str_head *sd, int32_t id, uint32_t events)
{
	struct str_sig *fresh = NULL;

	if (events != 0) {
		fresh = make(id, events);
		if (fresh == NULL)
			return EAGAIN;
	}
	return replace(sd, id, 0, fresh);
}

int
str_sig_async(struct str_head *sd, int32_t id, int sig, int fd)
{
	struct str_sig *s = make(id, STR_S_INPUT | STR_S_HIPRI | STR_S_OUTPUT |
		STR_S_ERROR | STR_S_HANGUP | STR_SIG_ASYNC);

	if (s == NULL)
		return EAGAIN;
	s->sig = sig;
	s->fd = fd;
	return replace(sd, id, STR_SIG_ASYNC, s);
}

void
str_sig_async_end(struct str_head *sd, int32_t id)
{
	if (sd->sigs != NULL)
		(void)replace(sd, id, STR_SIG_ASYNC, NULL);
}

uint32_t
str_sig_get(struct str_head *sd, int32_t id)
{
	struct str_sig *s;
	uint32_t ev;

	lock(sd);
	s = find(sd, id, 0);
	ev = s != NULL ? str_load(&s->events) : 0;
	if (s != NULL && s->start != 0 && member((uint32_t)id, s->start) == NULL)
		ev = 0; /* the number belongs to another process now */
	str_unlock(&sd->siglock);
	return ev;
}

int
str_sig_set_owner(struct str_head *sd, int32_t id)
{
	struct str_sig *old, *s = NULL;

	if (id != 0) {
		s = make(id, STR_SIG_OWNER);
		if (s == NULL)
			return EAGAIN;
		if (post(s, 0, NULL) != 0) {
			str_mem_free(s);
			return ESRCH;
		}
	}
	lock(sd);
	old = find(sd, 0, STR_SIG_OWNER);
	if (old != NULL)
		take_out(sd, old);
	if (s != NULL)
		put_in(sd, s);
	str_unlock(&sd->siglock);
	if (old != NULL)
		str_mem_free(old);
	return 0;
}

int32_t
str_sig_owner(struct str_head *sd)
{
	struct str_sig *s;
	int32_t id;

	lock(sd);
	s = find(sd, 0, STR_SIG_OWNER);
	id = s != NULL ? s->id : 0;
	str_unlock(&sd->siglock);
	return id;
}

/*
 * Call @pick for each registration, and send the signal that it returns; 0:
 * none.  @pick may set the siginfo.  Remove the registrations of ended
 * processes, at most MANY.
 */
static void
each(struct str_head *sd, int (*pick)(struct str_head *, struct str_sig *,
	uint32_t, struct host_siginfo *), uint32_t arg)
{
	struct host_siginfo si;
	struct str_sig *s, *next, *dead[MANY];
	unsigned n = 0;
	int sig;

	lock(sd);
	for (s = sd->sigs; s != NULL; s = next) {
		next = s->next;
		si.code = 0;
		si.fd = -1;
		sig = pick(sd, s, arg, &si);
		if (sig == 0 || post(s, sig == LOOK ? 0 : sig,
				si.code ? &si : NULL) != ESRCH || n == MANY)
			continue;
		take_out(sd, s);
		dead[n++] = s;
	}
	if (n != 0)
		settle(sd);
	str_unlock(&sd->siglock);
	while (n > 0)
		str_mem_free(dead[--n]);
}

/*
 * SVR4: si_code is the event, si_band the band; with POLL_ERR si_errno is the
 * error, and si_band 0.  Of simultaneous events the most serious is reported.
 */
static const struct {
	uint32_t events;
	int code;
} codes[] = {
	{STR_S_ERROR, 4}, {STR_S_HANGUP, 6}, {STR_S_HIPRI, 5},
	{STR_S_INPUT | STR_S_RDNORM | STR_S_RDBAND, 1},
	{STR_S_OUTPUT | STR_S_WRBAND, 2}, {STR_S_MSG, 3},
};

static void
tell(struct host_siginfo *si, uint32_t events, uint32_t about)
{
	unsigned i = 0;

	while (i < STR_ARRAY_LEN(codes) - 1 && (codes[i].events & events) == 0)
		i++;
	si->code = codes[i].code;
	si->err = (events & STR_S_ERROR) ? (int)(about >> 16) : 0;
	si->band = (events & STR_S_ERROR) ? 0 : (long)(about >> 16);
}

/* fcntl(2), F_SETSIG: set si_fd, and si_band to the events of poll(2).
 * Return: the signal. */
static int
tell_async(const struct str_sig *s, struct host_siginfo *si)
{
	/* by si_code: POLLIN and POLLRDNORM, and so on */
	static const short polled[] = {0, 0x41, 0x304, 0x41, 0x08, 0x82, 0x18};

	si->fd = s->fd;
	si->band = polled[si->code];
	return s->sig != 0 ? s->sig : SIG_POLL;
}

static int
pick_event(struct str_head *sd, struct str_sig *s, uint32_t events,
	struct host_siginfo *si)
{
	uint32_t ev = str_load(&s->events);

	(void)sd;
	if ((ev & events & STR_S_ALL) == 0)
		return 0;
	tell(si, ev & events, events);
	if (ev & STR_SIG_ASYNC)
		return tell_async(s, si);
	if ((ev & events & STR_S_RDBAND) && (ev & STR_S_BANDURG))
		return SIG_URG;
	return SIG_POLL;
}

void
str_sig_post(struct str_head *sd, uint32_t events)
{
	each(sd, pick_event, events);
}

static int
pick_owner(struct str_head *sd, struct str_sig *s, uint32_t sig,
	struct host_siginfo *si)
{
	(void)sd, (void)si;
	return str_load(&s->events) & STR_SIG_OWNER ? (int)sig : 0;
}

void
str_sig_message(struct str_head *sd, int sig)
{
	if (sd->sigs == NULL || sig < 1 || sig > 64)
		return;
	if (sig == SIG_POLL)
		each(sd, pick_event, STR_S_MSG);
	else
		each(sd, pick_owner, (uint32_t)sig);
}

/* Is a signal for data due?  See `Data' above. */
static int
pick_data(struct str_head *sd, struct str_sig *s, uint32_t arg,
	struct host_siginfo *si)
{
	uint64_t cpos = str_load(&sd->hq.cpos);
	uint64_t pos = str_load_acq(&sd->hq.pos), at = s->at;

	(void)arg;
	if (pos <= at)
		return 0;
	s->at = pos;
	if ((str_load(&s->events) & (STR_S_INPUT | STR_S_RDNORM)) == 0)
		return 0;
	tell(si, STR_S_INPUT, 0);
	/* Linux sends a signal for each write */
	if (str_load(&s->events) & STR_SIG_ASYNC)
		return tell_async(s, si);
	return cpos >= at ? SIG_POLL : 0;
}

/* If a writer was refused and there is room now, post S_OUTPUT or S_WRBAND. */
static void
woken_writers(struct str_head *sd)
{
	str_a32 *want = &sd->peer->hq.wwant;
	uint32_t w = str_load(want), f = str_load(&sd->flags);

	if (f & (STR_H_WRERR | STR_H_HUP | STR_H_PEER | STR_H_PLEX))
		return; /* an error, hang-up or link ended the wait, not room */
	if ((w & STR_WANT_SIG) && str_head_writable(sd) &&
	    (str_and(want, ~STR_WANT_SIG) & STR_WANT_SIG))
		str_sig_post(sd, STR_S_OUTPUT);
	if ((w & STR_WANT_SIGBAND) &&
	    str_head_band_writable(sd, (int)str_load(&sd->wrband_back)) &&
	    (str_and(want, ~STR_WANT_SIGBAND) & STR_WANT_SIGBAND))
		str_sig_post(sd, STR_SIG_ABOUT(STR_S_WRBAND,
			str_load(&sd->wrband_back)));
}

void
str_sig_woken(struct str_head *sd, bool writers)
{
	if (writers)
		woken_writers(sd);
	else
		each(sd, pick_data, 0);
}

void
str_sig_refused_slow(struct str_head *sd, int band)
{
	if (band > 0)
		str_store(&sd->wrband_back, (uint32_t)band);
	(void)str_or(&sd->peer->hq.wwant,
		band > 0 ? STR_WANT_SIGBAND : STR_WANT_SIG);
	/* a reader that made room before the fence may have missed the bit */
	host_fence_heavy();
	woken_writers(sd);
}

void
str_sig_front(struct str_head *sd)
{
	struct str_headq *hq = &sd->hq;
	struct str_rec rec;

	if (str_hlock(&hq->clock, STR_HOLD_C))
		str_headq_repair_c(hq);
	/* this also handles signal messages that become the first ones */
	if (!str_headq_first(hq, &rec)) {
		(void)str_and(&sd->flags, ~STR_H_MSIG);
		str_fence_full();
		if (str_load_acq(&hq->pos) != str_load(&hq->cpos) ||
		    str_load(&hq->overflow) != 0)
			(void)str_or(&sd->flags, STR_H_MSIG);
	}
	str_hunlock(&hq->clock, STR_HOLD_C);
}

void
str_sig_file_closed(struct str_head *sd)
{
	struct str_sig *s, *next, *mine[MANY];
	struct host_cred cr;
	unsigned n = 0;

	if (sd->sigs == NULL)
		return;
	host_cred(&cr);
	lock(sd);
	for (s = sd->sigs; s != NULL && n < MANY; s = next) {
		next = s->next;
		if (s->id != (int32_t)cr.pid ||
		    (str_load(&s->events) & STR_SIG_KIND))
			continue;
		take_out(sd, s);
		mine[n++] = s;
	}
	settle(sd);
	str_unlock(&sd->siglock);
	while (n > 0)
		str_mem_free(mine[--n]);
}

void
str_sig_free(struct str_head *sd)
{
	struct str_sig *s;

	while ((s = sd->sigs) != NULL) {
		str_mem_own(s);
		sd->sigs = s->next;
		str_mem_free(s);
	}
}

void
str_sig_each(struct str_head *sd, void (*fn)(struct str_blk *b, uintptr_t arg),
	uintptr_t arg)
{
	struct str_sig *s;

	lock(sd);
	for (s = sd->sigs; s != NULL; s = s->next)
		fn(&s->blk, arg);
	str_unlock(&sd->siglock);
}

/* ------------------------------------------------------------- job control */

/* See str_tty_access() in sig.h. */
int
str_tty_access_slow(struct str_head *sd, struct host_call *hc, int how)
{
	int sig = how < 0 ? -how : how, err, s;
	str_a32 nothing = 0;
	struct host_job job;
	uint32_t sid;
	int32_t fg;

	if (how == STR_SIGTTOU && (str_load(&sd->flags) & STR_H_TOSTOP) == 0)
		return 0;
	for (;;) {
		fg = str_sig_owner(sd);
		sid = str_load(&sd->sid);
		if (fg >= 0 || sid == 0)
			return 0;
		host_job(0, &job);
		if (job.sid != sid || job.pgrp == (uint32_t)-fg)
			return 0;
		err = host_job_stop(sig);
		if (err == EPERM)
			return sig == STR_SIGTTIN ? EIO : 0;
		if (err != 0)
			return EIO;
		/* a handler runs here, if there is one */
		(void)host_wait(hc, &nothing, 1u, 0);
		s = host_interrupted(hc);
		if (s == HOST_SIG_INTR ||
		    (s == HOST_SIG_RESTART && (hc->flags & HOST_CALL_ONCE)))
			return EINTR;
		host_resample(hc);
	}
}

/* SVR4 M_HANGUP: the session loses its terminal, and its leader gets SIGHUP. */
void
str_tty_hangup(struct str_head *sd)
{
	uint32_t sid = str_xchg(&sd->sid, 0u);

	if (sid != 0 && (str_load(&sd->flags) & STR_H_TTY) != 0)
		(void)host_signal_post(sid, SIG_HUP, NULL);
}

/* For each(): send no signal, only remove registrations of ended processes. */
static int
pick_gone(struct str_head *sd, struct str_sig *s, uint32_t arg,
	struct host_siginfo *si)
{
	(void)sd, (void)s, (void)arg, (void)si;
	return LOOK;
}

static bool
sweep(struct str_plumb *pl, void *arg)
{
	unsigned e;

	(void)arg;
	for (e = 0; e < pl->nheads; e++)
		if (pl->head[e].sigs != NULL)
			each(&pl->head[e], pick_gone, 0);
	return false;
}

void
str_sig_sweep(void)
{
	str_stream_walk(sweep, NULL);
}
