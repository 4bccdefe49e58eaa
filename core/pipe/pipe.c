/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Pipes: two Stream heads.  The write queue of each is connected to the read
 * queue of the other, or, through modules, leads to it.
 *
 * Life.  str_pipe_create() makes the whole object, then enters both carriers
 * into the directory: from there on any member that holds a descriptor finds
 * its end.  An end is closed when its carrier has no holder left, no further
 * open file of the end exists, and nothing else refers to the end: no name, no
 * link, no descriptor that was sent and not received yet.  No process is
 * notified of that; the holders of the other end notice their carrier's hang-up
 * (str_head_look), or are woken by a member that closed a descriptor
 * (str_head_released).  The thread that notices it closes the end: it pops the
 * end's modules and hangs up the other end.  When both are closed the pipe is
 * freed by the thread that closed last, or, after a kill, by a sweep
 * that examines pipes (str_sweep_ask()).
 *
 * A pipe made in the executive (connld) has carriers of kind OPEN, and its ends
 * are closed like a device's files.
 */
#include "core.h"
#include "sock/sock.h"

static int
create(const struct host_carrier c[2], struct str_plumb **ret_pipe)
{
	struct str_plumb *pl;
	int e, err = 0;

	pl = str_stream_alloc(STR_PL_PIPE, STR_PIPE_HIWAT, STR_PIPE_LOWAT);
	if (pl == NULL)
		return ENOSR;
	for (e = 0; e < 2; e++) {
		struct str_head *sd = &pl->head[e];

		sd->qp->wq.q_next = &sd->peer->qp->rq;
		str_store(&sd->direct, &sd->peer->hq);
		if (c == NULL)
			continue;
		sd->file.carrier = c[e];
		str_store(&sd->file.fflags, 2u); /* O_RDWR */
		str_store(&sd->file.open, 1u);
	}
	pl->sid = c != NULL ? c[0].cookie : str_dir_sid();
	for (e = 1; e >= 0 && err == 0; e--) {
		if (c == NULL && e == 1)
			continue;
		err = str_dir_enter(e == 0 ? pl->sid : c[1].cookie,
			&pl->head[e].file);
		STR_CRASH_POINT("pipe:entered");
	}
	if (err != 0) {
		if (c != NULL)
			(void)str_dir_remove(c[1].cookie);
		str_stream_discard(pl);
		return err;
	}
	(void)str_add(str_root(STR_ROOT_NPIPES), (uint64_t)1);
	*ret_pipe = pl;
	return 0;
}

/*
 * str_pipe_create - a new pipe over the carriers @c
 * Return: 0; ENOSR when there is no memory, or no room in the directory, even
 * after a sweep.
 */
int
str_pipe_create(const struct host_carrier c[2], struct str_plumb **ret_pipe)
{
	int err = create(c, ret_pipe);

	if (str_unlikely(err == ENOSR) && str_region_room())
		err = create(c, ret_pipe);
	if (err == 0)
		str_mem_disown(*ret_pipe);
	return err;
}

/*
 * str_pipe_bare - a pipe without open files, in the directory and still
 * stamped as the caller's.  The caller adds files or references to both ends,
 * then calls str_mem_disown().
 * Return: as str_pipe_create().
 */
int
str_pipe_bare(struct str_plumb **ret_pipe)
{
	int err = create(NULL, ret_pipe);

	if (str_unlikely(err == ENOSR) && str_region_room())
		err = create(NULL, ret_pipe);
	return err;
}

/*
 * str_pipe_close_end - the last holder of @sd is gone
 * Pops its modules, hangs up the other end, and frees the pipe if the other end
 * is closed, too.  Several members may notice it at the same time: every step
 * may be done twice, and the end's bit in `closed' is set after all of them but
 * the last, so that after a death here another thread does them again.
 */
enum str_closed
str_pipe_close_end(struct str_head *sd)
{
	struct str_plumb *pl = sd->plumb;
	struct str_thread *t = host_self();
	uint64_t sid = pl->sid, was = str_load(&t->inside);
	uint32_t bit = 1u << sd->end, now;
	enum str_closed how = STR_CLOSED_NOT;

	/* the call may be on another stream; the reaper must find this one */
	if ((str_load(&pl->closed) & bit) || !str_stream_inside(pl) ||
	    pl->sid != sid) {
		str_store_rel(&t->inside, was);
		return how;
	}
	/* messages in its modules, and messages that other threads hold, are
	 * sent first */
	if (str_load(&sd->npush) > 0)
		str_plumb_barrier(pl);
	if (str_load(&pl->nrun) != 0) {
		(void)str_claim(pl);
		(void)str_sched_run(pl);
		str_unclaim(pl);
	}
	(void)str_or(&sd->flags, STR_H_CLOSED);
	str_fence_full();
	/* a thread whose descriptor was closed by another one */
	str_ring_sleepers(sd, false);
	STR_CRASH_POINT("pipe:closing");
	if (str_load(&sd->npush) > 0)
		str_plumb_clear(sd);
	str_box_end(sd);
	/* PEER: nothing is read at the closed end any more, so writers at the
	 * other end fail and do not wait for room */
	str_head_set(sd->peer, STR_H_HUP | STR_H_PEER);
	STR_CRASH_POINT("pipe:hungup");
	now = str_or(&pl->closed, bit);
	if ((now & bit) == 0)
		how = STR_CLOSED_END;
	if ((now | bit) == 3u && str_stream_free(pl, sid,
			str_plumb_clear_all) == STR_FREED)
		how = STR_CLOSED_BOTH;
	str_store_rel(&t->inside, was);
	return how;
}

/*
 * pair_gone - the end @sd's own carrier has no holder any more
 * @sole: the end's bit, if only one process ever had the end; else 0.
 * If other files or references hold the end, it stays open, and the hang-up of
 * its peer's carrier must be ignored.  Another process may have noticed the
 * same before, and a receiver of the end may have reused the entry of that
 * file: then the file here is an ordinary holder.
 */
static enum str_closed
pair_gone(struct str_head *sd, uint32_t sole)
{
	str_file_forget(&sd->file);
	if (str_head_held(sd)) {
		if (str_head_orphan(sd))
			host_daemon_soon(); /* as in str_head_maybe_close() */
		(void)str_or(&sd->peer->flags, STR_H_LOST);
		return STR_CLOSED_NOT;
	}
	(void)str_or(&sd->plumb->sole, sole);
	return str_pipe_close_end(sd);
}

void
str_pipe_pair_gone(struct str_head *sd)
{
	(void)pair_gone(sd, 0);
}

enum str_closed
str_pipe_ended(struct str_head *sd)
{
	return pair_gone(sd, 1u << sd->end);
}

/*
 * str_pipe_let_go - files and references have ended at @sd
 * While they hold @sd, the socket connected to the peer's carrier may be closed
 * already.  If the peer then loses its last holder, no holder of @sd sees a
 * hang-up; this is why the peer is checked here.
 */
void
str_pipe_let_go(struct str_head *sd)
{
	struct str_plumb *pl = sd->plumb;
	struct str_thread *t = host_self();
	uint64_t sid = pl->sid, was = str_load(&t->inside);
	struct str_head *peer = sd->peer;

	(void)str_pipe_close_end(sd);
	if (str_stream_inside(pl) && pl->sid == sid &&
	    (str_load(&pl->closed) & (1u << peer->end)) == 0 &&
	    peer->file.carrier.kind == HOST_CARRIER_PAIR &&
	    str_load(&peer->file.open) == 1 &&
	    !host_carrier_alive(&peer->file.carrier))
		str_pipe_pair_gone(peer);
	str_store_rel(&t->inside, was);
}

void
str_head_released(struct str_head *sd, int peer_fd)
{
	struct str_head *peer = sd->peer;
	struct str_plumb *pl = sd->plumb;

	str_sig_file_closed(sd);
	/* perhaps the last member has gone: search for holders outside */
	if (str_unlikely((str_load(&peer->flags) & STR_H_LEFT) != 0))
		str_store(&peer->ask_at, (uint64_t)0);
	/* the carriers do not tell whether a process outside holds an end */
	if (str_unlikely((str_load(&sd->flags) & STR_H_PLAIN) != 0) &&
	    !str_pipe_abandoned(pl)) {
		(void)str_or(&peer->flags, STR_H_LOOK);
		str_fence_full();
		str_wake_all(peer);
		return;
	}
	if (peer_fd >= 0) {
		/* this process can check it itself */
		if (host_carrier_look(peer_fd) & HOST_C_HUP)
			str_pipe_pair_gone(sd);
		return;
	}
	if (str_load(&pl->closed) & (1u << peer->end)) {
		/* the other end is closed: has this end a holder left? */
		if (!host_carrier_alive(&sd->file.carrier))
			str_pipe_pair_gone(sd);
		return;
	}
	if (peer->sigs != NULL && !host_carrier_alive(&sd->file.carrier)) {
		/* a process that waits for a signal (S_HANGUP) does not look */
		str_pipe_pair_gone(sd);
		return;
	}
	(void)str_or(&peer->flags, STR_H_LOOK);
	str_fence_full();
	str_wake_all(peer);
	/* a holder of the peer may have no carrier that hangs up, and there may
	 * be none */
	if (str_head_refs(sd) != 0 || str_head_refs(peer) != 0)
		host_daemon_soon();
}

struct str_file *
str_pipe_file(struct str_plumb *pl, int end)
{
	return &pl->head[end].file;
}

struct str_file *
str_head_peer_file(struct str_head *sd)
{
	return &sd->peer->file;
}

/*
 * Halves.  The pipe driver's open makes a whole pipe of which end 1 is kept
 * by a reference; I_PIPE moves the other half's open file there, and frees the
 * other half's own pipe.  Data that was written before I_PIPE, at the half on
 * which it is called, waits at end 1 for the new holder; data written at the
 * other half is lost.
 */
int
str_half_open(struct host_call *hc, int oflags, const struct host_carrier *c,
	struct str_file **ret)
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	struct str_plumb *pl;
	int err = str_pipe_bare(&pl);

	(void)hc;
	if (err != 0)
		return err;
	(void)host_daemon();
	str_store_rel(&t->inside, (uint64_t)(uintptr_t)&pl->head[0]);
	str_head_ref(&pl->head[1]);
	/* by this word the collector finds the reference */
	str_store_rel(&pl->half, 1u);
	str_ref_end();
	err = str_file_add(&pl->head[0], c, oflags, ret);
	str_mem_disown(pl);
	if (err != 0) {
		str_ref_begin();
		str_store(&pl->half, 0u);
		str_head_unref(&pl->head[1], NULL);
		str_head_sweep(&pl->head[0], NULL);
	}
	str_store_rel(&t->inside, was);
	return err;
}

/*
 * str_pipe_join - I_PIPE: descriptor @fd becomes the other end of @sd
 * Return: 0; EBADF: @fd is not open; EINVAL: one of them is not a half, or both
 * belong to one pipe; also if @fd is closed meanwhile, or there is no memory.
 */
int
str_pipe_join(struct str_head *sd, struct host_call *hc, int fd)
{
	struct str_plumb *pl = sd->plumb, *op;
	struct str_file *f = str_file_of_fd(fd);

	if (f == NULL)
		return str_fd_is_open(fd) ? EINVAL : EBADF;
	op = f->head->plumb;
	if (op == pl || pl->kind != STR_PL_PIPE || op->kind != STR_PL_PIPE ||
	    str_load(&op->half) == 0)
		return EINVAL;
	str_ref_begin();
	str_ref_begin();
	if (!str_cas(&pl->half, 1u, 0u))
		goto einval;
	if (!str_cas(&op->half, 1u, 0u)) {
		str_store(&pl->half, 1u);
		goto einval;
	}
	if (!str_file_move(f, &pl->head[1])) {
		str_store(&op->half, 1u);
		str_store(&pl->half, 1u);
		goto einval;
	}
	str_head_unref(&pl->head[1], hc);
	str_head_sweep(&op->head[0], hc);
	str_head_unref(&op->head[1], hc);
	return 0;
einval:
	str_ref_end();
	str_ref_end();
	return EINVAL;
}
