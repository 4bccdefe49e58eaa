/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * PLAIN pipes: the data of a pipe passes through a pipe of the kernel.
 *
 * Purpose.  A program outside the domain gets a descriptor of a pipe as its
 * standard input or output.  The descriptor must behave as that of a kernel's
 * pipe does: data, end of file, EPIPE and SIGPIPE, and a name in /proc/self/fd
 * that can be opened.  So the program gets a descriptor of a kernel's pipe.
 *
 * Objects.  `plain' of the plumb: the number of the kernel's pipe.  End 1 writes
 * into it and end 0 reads from it, as pipe(2) of Linux defines them; the other
 * direction stays in the domain.  A process can open the kernel's pipe if it
 * has inherited a hidden descriptor of that pipe, or finds one in the queue of
 * its carrier (str_plain_find).
 *
 * Rule.  Without modules, bytes in the kernel's pipe are older than those in
 * end 0's head queue: a reader takes them first, a writer sends the queue
 * before its own data.  A reader holds the queue's consumer lock while it looks
 * at both, and so does a thread that moves the queue: otherwise the oldest
 * bytes could be moved when the reader has found the kernel's pipe empty.  With
 * modules a reader takes data from the head queue only; when this queue is
 * empty str_plain_take() fills it from the kernel's pipe.
 *
 * Holders.  The kernel gives the end of file when no process has the kernel's
 * pipe open for writing, and EPIPE when none has it open for reading.  A member
 * that holds an end, and has not used it since the pipe became PLAIN
 * (str_plain_adopt), does not have the kernel's pipe open.  Therefore a
 * thread that is about to use one side puts a descriptor of the other side into
 * the queue of the other end's carrier (str_plain_keep): it stays open exactly
 * as long as that carrier has a holder.  Members take nothing out of the queue
 * of a carrier of a PLAIN pipe but old tokens, which str_plain_find() discards.
 *
 * Change.  str_plain_begin() stores the number.  It sets the flag of each head,
 * under the lock of the carrier's queue (`inlock') and the consumer lock, and
 * executes the heavy fence.  It waits, at most 100 ms (LEAVE_NS), until the
 * threads have left that began before.  Then it moves the head queue into the
 * kernel's pipe.  The change is not undone: a pipe stays PLAIN.
 *
 * Failure.  A process that is killed after it has set the first flag leaves a
 * PLAIN pipe, whose next user completes what is missing: every step may be done
 * twice.  If it is killed before, the pipe stays as it was, and the next
 * attempt uses the stored number.  A record that was being moved may be read
 * twice.
 */
#include "core.h"
#include "head.h"
#include "headq.h"

#define LEAVE_NS 100000000ull /* for threads that began before */
#define TAKE 16384u

STR_WAKE_TEXT bool
str_head_plain(struct str_head *sd)
{
	return (str_load(&sd->flags) & STR_H_PLAIN) != 0;
}

bool
str_plain_writes(struct str_head *sd)
{
	return sd->end == 1;
}

bool
str_plain_is(struct str_head *sd, int fd)
{
	return str_head_plain(sd) &&
		host_plain_is(fd, str_load(&sd->plumb->plain));
}

int
str_plain_open(struct str_head *sd, bool nonblock)
{
	return host_plain_open(str_load(&sd->plumb->plain), sd->end == 1 ?
		HOST_PLAIN_WRITE : HOST_PLAIN_READ, nonblock);
}

void
str_plain_refuse(struct str_head *sd)
{
	(void)str_cas(&sd->plumb->plain, 0ull, STR_PLAIN_NOT);
}

/* str_plain_find - can this process open the kernel's pipe? */
bool
str_plain_find(struct str_head *sd, int sock)
{
	uint64_t number = str_load(&sd->plumb->plain);
	bool yes = host_plain_known(number);

	if (!yes && str_head_plain(sd)) {
		(void)str_lock(&sd->inlock);
		yes = host_plain_find(sock, number);
		str_unlock(&sd->inlock);
	}
	return yes;
}

uint64_t
str_plain_number(struct str_head *sd)
{
	return str_load(&sd->plumb->plain);
}

/*
 * May the pipe become PLAIN?  Only if each end has the carrier that pipe(2)
 * made, because a descriptor can be kept in the queue of such a carrier.  And
 * only if no other open file, name, link or passed descriptor refers to an end.
 */
static bool
is_eligible(struct str_plumb *pl)
{
	for (int e = 0; e < 2; e++) {
		struct str_head *sd = &pl->head[e];

		if (sd->file.carrier.kind != HOST_CARRIER_PAIR ||
		    sd->file.next != NULL || str_load(&sd->refs) != 0)
			return false;
	}
	return pl->kind == STR_PL_PIPE;
}

/* Store the number @spare.  Return: 0, ENOSYS. */
static int
have_number(struct str_plumb *pl, uint64_t spare)
{
	if (str_load(&pl->plain) == 0 && spare != 0 && is_eligible(pl))
		(void)str_cas(&pl->plain, 0ull, spare);
	return str_load(&pl->plain) == 0 ||
		str_load(&pl->plain) == STR_PLAIN_NOT ? ENOSYS : 0;
}

/*
 * Members use the kernel's pipe at @sd from now on.  The fast paths of reading
 * find no record in the head queue any more.  Locks: its inlock.
 */
static bool
flag(struct str_head *sd)
{
	uint32_t was;

	if (str_unlikely(str_hlock(&sd->hq.clock, STR_HOLD_C)))
		str_headq_repair_c(&sd->hq);
	was = str_or(&sd->flags, STR_H_PLAIN | STR_H_FED |
		(sd->end == 1 ? STR_H_AWAY | STR_H_MIXED : 0));
	/* what is written at end 0 is read in the domain, or not at all */
	if (sd->end == 0)
		(void)str_and(&sd->flags,
			~(STR_H_AWAY | STR_H_MIXED | STR_H_NOROOM));
	sd->hq.climit = 0;
	str_hunlock(&sd->hq.clock, STR_HOLD_C);
	return (was & STR_H_PLAIN) == 0;
}

/* Sleeping threads look again. */
static void
wake_both(struct str_plumb *pl)
{
	for (int e = 0; e < 2; e++) {
		(void)str_or(&pl->head[e].flags, STR_H_LOOK);
		str_wake_all(&pl->head[e]);
		str_ring_sleepers(&pl->head[e], true);
	}
}

/* str_plain_settle - set the flags that a killed process has not set. */
void
str_plain_settle(struct str_head *sd)
{
	bool news = false;

	for (int e = 0; e < 2; e++) {
		struct str_head *h = &sd->plumb->head[e];

		if (str_head_plain(h))
			continue;
		(void)str_lock(&h->inlock);
		news = flag(h) || news;
		str_unlock(&h->inlock);
	}
	if (news) {
		host_fence_heavy();
		wake_both(sd->plumb);
	}
}

/*
 * Is there, inside a call on @pl, a thread that may not have seen the flags?  A
 * thread that sleeps for an event looks at them when it wakes; one that waits
 * for a lock does not.
 */
static bool
any_inside(struct str_plumb *pl)
{
	struct str_domain *d = host_domain;
	uint32_t n = str_load(&d->thread_high), i;

	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		uint64_t in = str_load(&t->inside);
		uint32_t tag = str_load(&t->tag);

		if ((in == (uint64_t)(uintptr_t)&pl->head[0] ||
			in == (uint64_t)(uintptr_t)&pl->head[1]) && tag != 0 &&
		    t != host_self() &&
		    (str_load(&t->state) == STR_THR_RUN ||
			    str_load(&t->asleep_on) == 0) &&
		    !host_reap_dead(tag))
			return true;
	}
	return false;
}

static void
wait_for_others(struct str_plumb *pl)
{
	uint64_t end = host_now() + LEAVE_NS;

	while (any_inside(pl) && host_now() < end)
		host_yield();
}

int
str_plain_keep(struct str_head *sd, int sock)
{
	struct str_head *peer = sd->peer;
	uint32_t bit = 1u << peer->end;
	int fd, err;

	if ((str_load(&sd->plumb->plain_kept) & bit) != 0)
		return 0;
	fd = str_plain_open(peer, true);
	if (fd < 0)
		return -fd;
	err = host_plain_keep(sock, fd);
	host_fd_close(fd);
	STR_CRASH_POINT("plain:kept");
	if (err != 0 && err != EPIPE)
		return err;
	(void)str_or(&sd->plumb->plain_kept, bit);
	return 0;
}

/* Send what waits at end 0 into the kernel's pipe: @fd, open for writing. */
static int
move(struct str_plumb *pl, int fd)
{
	struct host_call hc = {.fd = fd, .head = &pl->head[1],
		.flags = HOST_CALL_PLAIN, .sig_seq = host_tls.sig_seq};

	return str_outside_pump(&pl->head[1], &hc);
}

int
str_plain_begin(struct str_head *sd, int sock, uint64_t spare, int *ret_both)
{
	struct str_plumb *pl = sd->plumb;
	int both, err = have_number(pl, spare);
	bool first = !str_head_plain(sd);

	if (err != 0 || !str_plain_find(sd, sock))
		return ENOSYS;
	both = host_plain_open(str_load(&pl->plain),
		HOST_PLAIN_READ | HOST_PLAIN_WRITE | HOST_PLAIN_LARGE, true);
	if (both < 0)
		return ENOSYS;
	/* bytes that were written outside before */
	if (first)
		(void)str_outside_take(sd, sock);
	STR_CRASH_POINT("plain:begin");
	/* so that no member takes for a token what is sent there */
	(void)str_lock(&sd->peer->inlock);
	err = str_plain_keep(sd, sock);
	if (err == 0)
		(void)flag(sd->peer);
	str_unlock(&sd->peer->inlock);
	if (err != 0) {
		host_fd_close(both);
		return ENOSYS;
	}
	STR_CRASH_POINT("plain:flag");
	str_plain_settle(sd);
	if (first) {
		wake_both(pl);
		wait_for_others(pl);
	}
	STR_CRASH_POINT("plain:moving");
	if (move(pl, both) == EAGAIN)
		str_outside_left(&pl->head[1]);
	STR_CRASH_POINT("plain:moved");
	*ret_both = both;
	return 0;
}

/*
 * str_plain_adopt - let @hc's descriptor refer to the kernel's pipe in this
 * process
 * Return: 0; EBADF, EMFILE, or another errno if that is not possible.
 */
int
str_plain_adopt(struct str_head *sd, struct host_call *hc)
{
	if (!str_head_plain(sd) || (hc->flags & HOST_CALL_PLAIN) != 0)
		return 0;
	return hc->fd >= 0 && host_plain_adopt != NULL ? host_plain_adopt(hc) :
		EBADF;
}

/*
 * str_plain_reads - does a reader of @sd read from the kernel's pipe, to which
 * @hc->fd refers?
 */
bool
str_plain_reads(struct str_head *sd, struct host_call *hc)
{
	return str_head_plain(sd) && sd->end == 0 && hc->fd >= 0 &&
		(hc->flags & HOST_CALL_PLAIN) != 0;
}

/*
 * str_plain_moved - has the pipe become PLAIN since @hc's call looked at the
 * flags?  Then what the call waits for may be in the kernel's pipe.
 */
bool
str_plain_moved(struct str_head *sd, struct host_call *hc)
{
	return str_head_plain(sd) && sd->end == 0 && !str_plain_reads(sd, hc);
}

/* str_plain_ended - the kernel's pipe is empty, and has no writer. */
void
str_plain_ended(struct str_head *sd)
{
	struct str_plumb *pl = sd->plumb;

	/* without a descriptor in the carrier's queue members may still write */
	if ((str_load(&pl->plain_kept) & (1u << sd->peer->end)) != 0 &&
	    (str_load(&sd->flags) & STR_H_PEER) == 0)
		str_pipe_pair_gone(sd->peer);
}

/*
 * str_plain_take - for a pipe with modules: if the head queue is empty, bytes
 * from the kernel's pipe @fd pass from the writing end through the modules into
 * it.  Without modules readers take them from the kernel's pipe themselves.
 */
void
str_plain_take(struct str_head *sd, int fd)
{
	long n = 0;
	mblk_t *mp;

	if (str_load(&sd->peer->direct) != NULL || sd->end != 0 ||
	    str_head_pending(sd) || !str_plain_is(sd, fd))
		return;
	(void)str_lock(&sd->inlock);
	mp = allocb(TAKE, BPRI_MED);
	if (mp != NULL) {
		n = host_plain_get(fd, mp->b_wptr, TAKE);
		if (n > 0) {
			mp->b_wptr += n;
			str_outside_put_from_peer(sd, mp);
		} else {
			freeb(mp);
		}
	}
	str_unlock(&sd->inlock);
	if (mp != NULL && n == 0)
		str_plain_ended(sd);
}

/* str_plain_flush - send what waits at end 0, as far as there is room. */
void
str_plain_flush(struct str_plumb *pl)
{
	int fd;

	if (!str_head_pending(&pl->head[0]))
		return;
	fd = str_plain_open(&pl->head[1], true);
	if (fd < 0)
		return;
	(void)move(pl, fd);
	host_fd_close(fd);
}
