/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * sleep - a reader that sleeps and the writers that wake it.
 *
 * Purpose.  No wake-up is lost, none is sent twice, no signal is slept
 * through, and a reader whose peer dies or closes ends, although the
 * writer's path is a plain store followed by a plain load.
 *
 * Objects.  POS, the published position (store buffered); rpos, what was
 * taken.  `want`, one bit per reader asleep in stage 1.  `polled`, readers in
 * stage 2, which wait in the kernel for the carrier; in code both are one
 * word, read by one load.  `idx`, the event index: wake past this position.
 * Where it lies in the same word (EXACT), no reader is ever woken for a
 * record that is gone; else a writer that stood still between its load and
 * its claim may do so, once per announcement.
 * word[c], the wake word of reader c, waited on by FUTEX_WAIT.  tok, the
 * carrier's receive queue; that the token can be kept in step with it is the
 * subject of token.pml, so that it is one bit here.  hup, the carrier's end
 * of file.  `look`, bumped by a close: look at the carrier.
 *
 * Reader.  Sample word; a pending signal? a record? else idx = rpos + 1, set
 * the bit, heavy fence, look again, FUTEX_WAIT(word, sample).  Each sleep may
 * or may not reach its time-out, decided beforehand, so that a wake lost in
 * stage 1 is not hidden by the time-out.  Stage 2: block signals, look at the
 * carrier, announce in `polled`, heavy fence, look again, ppoll.  The token
 * is received only while the queue is empty.
 *
 * Writer.  Publish, then load `want`, `polled`, `idx`.  Past the index: claim
 * the bits by one exchange, bump and wake each; send a token if `polled`.
 * The claim does not clear `polled`: a second reader in ppoll does not come
 * round to announce itself again when the first one takes the token.
 *
 * Failure.  Kill -9 lets the stores of the dead retire and raises hup; the
 * other side then relies on the time-out of stage 1 or on POLLHUP.
 *
 * @check one_to_one -DNP=1 -DNC=1 -DRECS=3
 * @check exact -DNP=1 -DNC=1 -DRECS=3 -DEXACT
 * @check two_writers -DNP=2 -DNC=1 -DRECS=1
 * @check two_readers -DNP=1 -DNC=2 -DRECS=2 -DONESTAGE
 * @check two_readers_poll -DNP=1 -DNC=2 -DRECS=2 -DPOLLONLY
 * @check one_reader_leaves -DNP=1 -DNC=2 -DRECS=2 -DPOLLONLY -DONCE
 * @check one_reader_leaves_futex -DNP=1 -DNC=2 -DRECS=2 -DONESTAGE -DONCE
 * @check signal -DNP=1 -DNC=1 -DRECS=2 -DSIGNAL
 * @check close -DNP=1 -DNC=1 -DRECS=2 -DCLOSE
 * @check close_two_readers -DNP=1 -DNC=2 -DRECS=1 -DCLOSE -DONESTAGE
 * @check kill -DNP=1 -DNC=1 -DRECS=2 -DKILL
 * @check kill_signal -DNP=1 -DNC=1 -DRECS=1 -DKILL -DSIGNAL
 * @find reaches_stage_1 assert=nowhere -DNP=1 -DNC=1 -DRECS=1 -DREACH1
 * @find reaches_stage_2 assert=nowhere -DNP=1 -DNC=1 -DRECS=1 -DREACH2
 * @find reaches_token_wake assert=nowhere -DNP=1 -DNC=1 -DRECS=1 -DREACH3
 * @find no_heavy_fence assert=rpos -DNP=1 -DNC=1 -DRECS=1 -DM_NOFENCE
 * @find no_second_look assert=rpos -DNP=1 -DNC=1 -DRECS=1 -DM_NORECHECK
 * @find no_second_look_in_stage_2 assert=rpos -DNP=1 -DNC=1 -DRECS=1 -DM_NORECHECK2
 * @find announce_after_look assert=rpos -DNP=1 -DNC=1 -DRECS=1 -DM_LATEWANT
 * @find wake_without_bump assert=rpos -DNP=1 -DNC=1 -DRECS=1 -DM_NOBUMP
 * @find no_token assert=rpos -DNP=1 -DNC=1 -DRECS=1 -DM_NOTOKEN
 * @find wake_not_claimed assert -DNP=2 -DNC=1 -DRECS=1 -DM_NOCLAIM_
 * @find wake_per_message assert=owed -DNP=1 -DNC=1 -DRECS=2 -DM_NOCLEAR
 * @find no_event_index assert=past -DNP=1 -DNC=1 -DRECS=2 -DEXACT -DM_NOIDX
 * @find index_claimed_loosely assert=past -DNP=1 -DNC=1 -DRECS=2 -DEXACT -DM_LOOSE
 * @find claim_clears_polled assert=rpos -DNP=1 -DNC=2 -DRECS=2 -DPOLLONLY -DM_CLEARPOLL
 * @find token_drained_too_early assert=rpos -DNP=1 -DNC=2 -DRECS=2 -DPOLLONLY -DONCE -DM_DRAIN
 * @find word_sampled_late assert=sigcall -DNP=1 -DNC=1 -DRECS=1 -DSIGNAL -DM_LATESAMPLE
 * @find signal_without_bump assert=sigcall -DNP=1 -DNC=1 -DRECS=1 -DSIGNAL -DM_SIGNOBUMP
 * @find poll_without_mask assert=sigcall -DNP=1 -DNC=1 -DRECS=1 -DSIGNAL -DM_NOMASK
 * @find close_without_look assert=ended -DNP=1 -DNC=1 -DRECS=1 -DCLOSE -DM_NOLOOK
 * @find close_wakes_before_hup assert=ended -DNP=1 -DNC=1 -DRECS=1 -DCLOSE -DM_EARLYWAKE
 * @find end_forgotten assert=ended -DNP=1 -DNC=1 -DRECS=1 -DCLOSE -DM_FORGET
 * @find eof_before_data assert=rpos -DNP=1 -DNC=1 -DRECS=1 -DKILL -DM_EOFFIRST
 * @find kill_without_timeout assert=ended -DNP=1 -DNC=1 -DRECS=1 -DKILL -DM_NOTIMEO
 */
#define NCPU NP
#define NVAR 2
#define POS 0
#define PLOCK 1
#include "tso.pml"

/* Without a killer there is no `unless', which would keep the search from
 * treating steps as independent (README.md). */
#if defined(KILL)
#define DIES(c) unless { c }
#else
#define DIES(c)
#endif

byte rpos;		/* taken, under the readers' lock */
byte want;		/* stage 1 bits; locked operations only */
byte polled;		/* readers announced in stage 2 */
byte idx;		/* event index */
byte word[NC];		/* wake words */
bit asleep[NC];		/* in FUTEX_WAIT */
bit inpoll[NC];		/* in ppoll */
bit tok;		/* the carrier's receive queue */
bit hup;
bit look;
bit killed;

bit sigmask[NC];	/* signals blocked */
bit sigpend[NC];	/* noted by the trampoline */

/* Ghosts. */
byte owed[NC];		/* announcements in stage 1 not yet answered */
bit sigcall[NC];	/* a signal came during this call */
bit ended[NC];		/* saw end of file */
bit nowhere;	/* false; asserted where a state must be reachable */
bit past;		/* the position announced was passed */
byte at;		/* rpos when the only reader announced itself */
bit incall[NC];		/* inside a read */

#ifdef M_NOFENCE
#define HEAVY skip
#else
inline heavy_all()
{
	d_step {
		flush(0);
#if NP > 1
		flush(1);
#endif
		skip
	}
}
#define HEAVY heavy_all()
#endif

inline futex_wake(c)
{
	asleep[c] = 0
}

/* Nobody is woken but for a record he has not seen. */
inline all_past(bits, n)
{
	past = (bits == 0 || n >= at + 1);
	assert(past)
}

/* Wake whoever announced himself; n is the position just published. */
inline wake_sleepers(n)
{
	atomic {
		/* one plain load of the word; the store may still be buffered */
#ifdef M_NOIDX
		need = (want != 0 || polled != 0);
#else
		need = ((want != 0 || polled != 0) && n >= idx);
#endif
	};
	if
	:: need ->
#if defined(EXACT) && !defined(M_LOOSE)
		/* index and bits in one word, claimed by compare-and-swap */
		atomic {
			DRAINED(me);
			if
#ifdef M_NOIDX
			:: true ->
#else
			:: n >= idx ->
#endif
				w = want; want = 0; poll = (polled != 0);
				all_past(w, n)
			:: n < idx
			fi
		};
#elif defined(M_NOCLAIM_)
		w = want;
		atomic { DRAINED(me) -> want = 0 };
#else
		atomic {
			DRAINED(me) -> w = want; poll = (polled != 0);
#ifndef M_NOCLEAR
			want = 0;
#endif
#ifdef EXACT
			all_past(w, n);
#endif
#ifdef M_CLEARPOLL
			polled = 0;
#endif
		};
#endif
		i = 0;
		do
		:: i < NC ->
			if
			:: (w >> i) & 1 ->
				atomic { assert(owed[i] > 0); owed[i]-- };
#ifndef M_NOBUMP
				word[i]++;
#endif
				futex_wake(i)
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0; w = 0;
#ifndef M_NOTOKEN
		if
		:: poll -> tok = 1
		:: else
		fi;
#endif
		poll = 0
	:: else
	fi;
	need = 0
}

proctype writer(byte me)
{
	byte n, k, w, i;
	bit need, poll;

	{
	do
	:: k < RECS ->
		/* the writers' lock: taken by a locked operation, released by
		 * a plain store behind the one that publishes */
		atomic { DRAINED(me) && mem[PLOCK] == 0 -> mem[PLOCK] = 1 };
		n = mem[POS] + 1;
		STORE(me, POS, n);
		STORE(me, PLOCK, 0);
		wake_sleepers(n);
		k++
	:: else -> break
	od;
#ifdef CLOSE
	/* close: the kernel descriptor first, then let the sleepers look */
#ifdef M_EARLYWAKE
	look = 1;
	n = 255;
	wake_sleepers(n);
	atomic { DRAINED(me) -> hup = 1 };
#else
	atomic { DRAINED(me) -> hup = 1 };
#ifndef M_NOLOOK
	look = 1;
#endif
	n = 255;
	wake_sleepers(n);
#endif
#endif
	} DIES(killed);
	n = 0; k = 0; w = 0; i = 0; need = 0; poll = 0
}

#ifdef KILL
active proctype killer()
{
	/* SIGKILL: the stores of the dead retire, the kernel closes */
	atomic { flush(0); killed = 1; hup = 1 }
}
#endif

#ifdef SIGNAL
active proctype signal()
{
	/* The handler runs once, as soon as the mask or ppoll lets it. */
	atomic {
		(!sigmask[0] || inpoll[0]) ->
#ifndef M_SIGNOBUMP
		word[0]++;
#endif
		sigpend[0] = 1;
		sigcall[0] = incall[0];
		asleep[0] = 0;	/* EINTR */
		inpoll[0] = 0
	}
}
#endif
/* Take the announcement back, unless a writer has claimed it. */
inline withdraw(c)
{
	atomic {
		if
		:: (want >> c) & 1 -> want = want & ~(1 << c); owed[c]--
		:: else
		fi
	}
}

inline polled_drop()
{
	if
	:: polled > 0 -> polled--
	:: else
	fi
}

proctype reader(byte c)
{
	byte val;
	bit seen;	/* value of look last acted on */
	bit late;	/* this sleep reaches its time-out */

call:
	atomic { incall[c] = 1; sigpend[c] = 0; sigcall[c] = 0 };
again:
#ifdef M_LATESAMPLE
	if
	:: sigpend[c] -> goto out
	:: else
	fi;
	val = word[c];
#else
	val = word[c];
	if
	:: sigpend[c] -> goto out
	:: else
	fi;
#endif
	/* take a record, under the readers' lock */
	if
	:: atomic { mem[POS] != rpos -> rpos++ }; goto out
	:: atomic { mem[POS] == rpos }
	fi;
	if
	:: look != seen -> seen = look;
		if
		:: hup -> goto eof
		:: else
		fi
	:: else
	fi;

#ifdef POLLONLY
	goto stage2;
#endif
	/* stage 1 */
#ifdef M_LATEWANT
	HEAVY;
	if
	:: mem[POS] != rpos || look != seen -> goto again
	:: else
	fi;
#endif
#ifdef EXACT
	atomic {
		idx = rpos + 1; at = rpos;
#else
	idx = rpos + 1;
	atomic {
#endif
		want = want | (1 << c); owed[c]++
	};
#ifndef M_LATEWANT
	HEAVY;
#ifndef M_NORECHECK
	if
	:: mem[POS] != rpos || look != seen ->
		withdraw(c);
		goto again
	:: else
	fi;
#endif
#endif
#ifdef REACH1
	assert(nowhere);
#endif
	/* Is this the sleep that runs into its time-out? */
#ifdef ONESTAGE
	late = 0;
#elif defined(KILL) && !defined(M_NOTIMEO)
	late = 1;
#elif defined(M_NOTIMEO)
	late = 0;
#else
	if
	:: late = 0
	:: late = 1
	fi;
#endif
	atomic {
		if
		:: word[c] == val -> asleep[c] = 1
		:: else
		fi
	};
end_futex:
	if
	:: atomic { !asleep[c] -> late = 0 };
		withdraw(c);
		/* woken without a record: a close may be the reason */
		goto again
	:: atomic { asleep[c] && late -> asleep[c] = 0; late = 0 };
		withdraw(c)
	fi;

	/* stage 2 */
stage2:
#ifndef M_NOMASK
	sigmask[c] = 1;
#endif
	if
	:: sigpend[c] -> sigmask[c] = 0; goto out
	:: else
	fi;
	if
	:: hup -> sigmask[c] = 0; goto eof
	:: else
	fi;
	idx = rpos + 1;
	polled++;
	HEAVY;
#ifndef M_NORECHECK2
	if
	:: mem[POS] != rpos -> polled_drop(); sigmask[c] = 0; goto again
	:: else
	fi;
#endif
	inpoll[c] = 1;
#ifdef REACH2
	assert(nowhere);
#endif
end_poll:
	if
	:: atomic { !inpoll[c] }
	:: atomic { inpoll[c] && (tok || hup) -> inpoll[c] = 0 }
#ifdef REACH3
		; assert(!tok || nowhere)
#endif
	fi;
	atomic { sigmask[c] = 0; polled_drop() };
	/* receive the tokens only while there is nothing to announce */
#ifdef M_DRAIN
	tok = 0;
#else
	atomic {
		if
		:: mem[POS] == rpos -> tok = 0
		:: else
		fi
	};
#endif
	if
	:: hup -> goto eof
	:: else -> goto again
	fi;

eof:
	/* What was published before the end is read first. */
#ifndef M_EOFFIRST
	if
	:: mem[POS] != rpos ->
#ifndef M_FORGET
		seen = 0;	/* still to be acted on */
#endif
		goto again
	:: else
	fi;
#endif
	atomic { ended[c] = 1; incall[c] = 0; sigcall[c] = 0; val = 0; seen = 0 };
	goto done;
out:
#ifdef ONCE
	if
	:: c == 0 -> incall[c] = 0; goto done
	:: else
	fi;
#endif
	/* the call returns: with a record or with EINTR */
	atomic { incall[c] = 0; sigcall[c] = 0; val = 0; late = 0 };
	goto call;
done:
	skip
}

/* Nothing can move any more: everybody is done or sleeps for good reason. */
active proctype monitor()
{
	timeout ->
	assert(mem[POS] == rpos);
	assert(!sigcall[0]);
#if defined(CLOSE) || defined(KILL)
	assert(ended[0]);
#if NC > 1
	assert(ended[1]);
#endif
#endif
	skip
}

init {
	atomic {
		run BUFFER(0);
		run writer(0);
#if NP > 1
		run BUFFER(1);
		run writer(1);
#endif
		run reader(0);
#if NC > 1
		run reader(1);
#endif
		skip
	}
}
