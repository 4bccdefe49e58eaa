/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Signals of a Stream head: registrations of processes for events. sig.c has
 * the theory.
 */
#ifndef STR_SIG_H
#define STR_SIG_H

/* Events, equal to <stropts.h>. */
#define STR_S_INPUT 0x0001u
#define STR_S_HIPRI 0x0002u
#define STR_S_OUTPUT 0x0004u
#define STR_S_MSG 0x0008u
#define STR_S_ERROR 0x0010u
#define STR_S_HANGUP 0x0020u
#define STR_S_RDNORM 0x0040u
#define STR_S_RDBAND 0x0080u
#define STR_S_WRBAND 0x0100u
#define STR_S_BANDURG 0x0200u
#define STR_S_ALL 0x03ffu

/*
 * Bits of the want words beside those of core.h.  STR_WANT_SIG in rwant: a
 * process is registered for data; wakers leave the bit set.  In wwant: room was
 * refused in band 0 (STR_WANT_SIG) or in a higher one (STR_WANT_SIGBAND);
 * the bit is cleared when the signal is posted.
 */
#define STR_WANT_SIG 16u
#define STR_WANT_SIGBAND 32u


/* The registration of one process, or process group. */
struct str_sig {
	struct str_blk blk;
	struct str_sig *volatile next; /* [siglock] */
	int32_t id;	/* [I] process; negative: process group -id */
	str_a32 events;	/* [A] STR_S_*; STR_SIG_OWNER */
	uint64_t start;	/* [I] of a member: its start time; else 0 */
	uint64_t at;	/* [siglock] end of the log at the last look */
	int32_t sig;	/* [I] STR_SIG_ASYNC: the signal; 0: SIGPOLL */
	int32_t fd;	/* [I] the same: si_fd of the signal */
};
/* What made a registration, if not I_SETSIG; at most one of these. */
#define STR_SIG_OWNER 0x10000u /* SIOCSPGRP: it receives signal messages */
#define STR_SIG_ASYNC 0x20000u /* O_ASYNC */
#define STR_SIG_KIND (STR_SIG_OWNER | STR_SIG_ASYNC)

/*
 * str_sig_set - register @id for @events; 0: end the registration
 * Return: 0, EINVAL (not registered), ESRCH, EAGAIN (no memory).
 */
int str_sig_set(struct str_head *sd, int32_t id, uint32_t events);
/* str_sig_get - the events for which @id is registered; 0: none */
uint32_t str_sig_get(struct str_head *sd, int32_t id);
int str_sig_set_owner(struct str_head *sd, int32_t id);
int32_t str_sig_owner(struct str_head *sd);

/* str_sig_post - @events have happened at @sd: STR_S_*, with the band they
 * are about, or the error of STR_S_ERROR */
#define STR_SIG_ABOUT(events, n) ((events) | ((uint32_t)(n) & 0xffu) << 16)
void str_sig_post(struct str_head *sd, uint32_t events);
/* str_sig_message - an M_SIG or M_PCSIG with @sig takes effect */
void str_sig_message(struct str_head *sd, int sig);
/* str_sig_front - M_SIG messages that have become the first ones take effect */
void str_sig_front(struct str_head *sd);
/* str_sig_woken - readers, or writers, of @sd are being woken */
void str_sig_woken(struct str_head *sd, bool writers);
/* str_sig_refused_slow - a writer of @sd found band @band full */
void str_sig_refused_slow(struct str_head *sd, int band);

STR_INLINE void
str_sig_refused(struct str_head *sd, int band)
{
	if (str_unlikely(sd->sigs != NULL))
		str_sig_refused_slow(sd, band);
}

STR_INLINE void
str_sig_event(struct str_head *sd, uint32_t events)
{
	if (str_unlikely(sd->sigs != NULL))
		str_sig_post(sd, events);
}

/* str_tty_hangup - the terminal has been hung up: send its session's leader
 * SIGHUP; from now on @sd is no session's terminal */
void str_tty_hangup(struct str_head *sd);
/*
 * str_tty_access - may the caller read, write or change the terminal @sd?
 * @how: STR_SIGTTIN: read; STR_SIGTTOU: write; STR_TTY_SET: change
 *
 * A driver or module has declared the Stream to be a terminal.  If it has a
 * foreground group, POSIX says: a process of the session that is in another
 * group must not read from it, change it or, with SO_TOSTOP, write to it.  The
 * call sends SIGTTIN, or SIGTTOU, to the process's group, which stops.  When
 * the group continues, the call tries again.  If the process ignores or blocks
 * the signal, none is sent: a read fails with EIO, a write or a change
 * succeeds.  Otherwise, if the group is orphaned, no shell would continue it:
 * no signal is sent, and the call fails with EIO.
 * Return: 0, EIO, EINTR.
 */
#define STR_SIGTTIN 21
#define STR_SIGTTOU 22
#define STR_TTY_SET (-STR_SIGTTOU)
int str_tty_access_slow(struct str_head *sd, struct host_call *hc, int how)
	STR_COLD;

STR_INLINE int
str_tty_access(struct str_head *sd, struct host_call *hc, int how)
{
	if (str_likely((str_load(&sd->flags) & STR_H_TTY) == 0))
		return 0;
	return str_tty_access_slow(sd, hc, how);
}

/*
 * The error of an M_ERROR for reading, or writing, or 0.  With I_SERROPT's
 * RERRNONPERSIST or WERRNONPERSIST it is cleared when it has been reported
 * once.
 */
int str_head_rderr(struct str_head *sd);
int str_head_wrerr(struct str_head *sd);
/* The error of a command for which @sd must work in both directions, or 0. */
int str_head_state_error(struct str_head *sd);

/* I_FDINSERT, in msg.c. */
long str_head_fdinsert(struct str_head *sd, struct host_call *hc,
	const void *uarg);

/*
 * In core.h:
 * str_sig_file_closed - the calling process has closed a descriptor of @sd.
 * str_sig_free - the head is being freed; no other thread sees it.
 * str_sig_sweep - processes have ended: remove their registrations.
 * str_sig_each - call @fn for each registration's block.
 */

#endif
