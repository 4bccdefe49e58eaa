/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * claim - walking a stream while another process may push or pop.
 *
 * Purpose.  Nobody walks q_next while it changes; the walker pays two plain
 * stores and two plain loads, no fence and no shared write.  Nobody waits for
 * the dead, and the plumbers at the two ends of a pipe do not wait for each
 * other.
 *
 * Objects.  CLAIM(t), set while thread t walks (own cache line, store
 * buffered).  plumbing, 0 or the owner that changes this pipe: one word for
 * both ends (locked operations).  calm, the word a plumber sleeps on, bumped
 * by whoever lays down a claim and sees plumbing set.
 *
 * Walker.  Store claim; load plumbing; set? lay the claim down and wait for
 * plumbing to become 0, then try again.  After the walk: store 0 to claim;
 * load plumbing; set? bump calm, wake.  The bump is a locked operation, so
 * that the claim is down before it.
 *
 * Plumber.  Compare-and-swap plumbing 0 to me; heavy fence; until no live
 * claim: sample calm, look at all claims, FUTEX_WAIT(calm, sample) at most
 * 10 ms; change; plumbing = 0; wake all who wait for that.
 *
 * Failure.  A claim of a dead thread does not count.  A dead plumber is found
 * by whoever waits for plumbing: he puts himself in its place, waits for the
 * claims himself (the dead may not have), repairs and lets go.
 *
 * @check one_plumber -DNW=2 -DROUNDS=1 -DNPL=1
 * @check again_and_again -DNW=1 -DROUNDS=3 -DNPL=1
 * @check two_plumbers -DNW=1 -DROUNDS=2 -DNPL=2
 * @check kill_walker -DNW=2 -DROUNDS=1 -DNPL=1 -DVICTIM=0
 * @check kill_plumber -DNW=1 -DROUNDS=2 -DNPL=1 -DVICTIM=NW
 * @check kill_plumber_of_two -DNW=1 -DROUNDS=1 -DNPL=2 -DVICTIM=NW
 * @find reaches_wait assert=nowhere -DNW=1 -DROUNDS=1 -DNPL=1 -DREACH1
 * @find reaches_refusal assert=nowhere -DNW=1 -DROUNDS=1 -DNPL=1 -DREACH2
 * @find reaches_repair assert=nowhere -DNW=1 -DROUNDS=1 -DNPL=1 -DVICTIM=NW -DREACH3
 * @find no_heavy_fence assert=changing -DNW=1 -DROUNDS=1 -DNPL=1 -DM_NOFENCE
 * @find look_before_claim assert=changing -DNW=1 -DROUNDS=1 -DNPL=1 -DM_EARLYLOOK
 * @find no_look assert=changing -DNW=1 -DROUNDS=1 -DNPL=1 -DM_NOLOOK
 * @find claim_kept_while_waiting deadlock -DNW=1 -DROUNDS=1 -DNPL=1 -DM_KEEP
 * @find refusal_without_wake deadlock -DNW=1 -DROUNDS=1 -DNPL=1 -DM_QUIETREFUSAL
 * @find release_without_wake deadlock -DNW=1 -DROUNDS=1 -DNPL=1 -DM_QUIETRELEASE
 * @find release_looks_first deadlock -DNW=1 -DROUNDS=1 -DNPL=1 -DM_EARLYRELEASE
 * @find calm_sampled_late deadlock -DNW=1 -DROUNDS=1 -DNPL=1 -DM_LATESAMPLE
 * @find plumber_wakes_nobody deadlock -DNW=1 -DROUNDS=1 -DNPL=1 -DM_NOWAKE
 * @find plumbing_not_atomic assert -DNW=1 -DROUNDS=1 -DNPL=2 -DM_PLAINFLAG
 * @find flag_for_each_end deadlock -DNW=1 -DROUNDS=1 -DNPL=2 -DM_TWOFLAGS
 * @find plumber_with_claim deadlock -DNW=1 -DROUNDS=1 -DNPL=1 -DM_OWNCLAIM
 * @find dead_claim_counts deadlock -DNW=2 -DROUNDS=1 -DNPL=1 -DVICTIM=0 -DM_DEADCOUNTS
 * @find dead_plumber_stays deadlock -DNW=1 -DROUNDS=1 -DNPL=1 -DVICTIM=NW -DM_NOTAKEOVER
 * @find repair_without_waiting assert=walking -DNW=2 -DROUNDS=1 -DNPL=1 -DVICTIM=NW -DM_HASTYREPAIR
 * @find dead_plumber_unrepaired assert=changing -DNW=1 -DROUNDS=1 -DNPL=1 -DVICTIM=NW -DM_NOREPAIR
 */
#define NALL (NW + NPL)
#define NCPU NALL
#define NVAR NALL
#define CLAIM(t) (t)
#include "tso.pml"

/* Without a killer there is no `unless', which would keep the search from
 * treating steps as independent (README.md). */
#if defined(VICTIM) && VICTIM < NW
#define WALKER_DIES(c) unless { c }
#else
#define WALKER_DIES(c)
#endif
#if defined(VICTIM) && VICTIM >= NW
#define PLUMBER_DIES(c) unless { c }
#else
#define PLUMBER_DIES(c)
#endif

byte plumbing[2];	/* owner + 1; the second only to show why not */
byte calm;
byte wait_calm;		/* bit per thread asleep on calm */
byte wait_flag;		/* bit per thread asleep on plumbing */
bit killed[NALL];

/* Ghosts. */
byte changing;		/* the links are in motion, or left half done */
bit walking[NALL];
bit nowhere;

#ifdef M_NOFENCE
#define HEAVY skip
#else
inline heavy_all()
{
	d_step {
		flush(0);
		flush(1);
#if NW + NPL > 2
		flush(2);
#endif
		skip
	}
}
#define HEAVY heavy_all()
#endif

#ifdef M_DEADCOUNTS
#define HELD(t) (mem[CLAIM(t)] != 0)
#else
#define HELD(t) (mem[CLAIM(t)] != 0 && !killed[t])
#endif
#define LIVE(t) (mem[CLAIM(t)] != 0 && !killed[t])
#if NW + NPL > 2
#define ANYHELD (HELD(0) || HELD(1) || HELD(2))
#define ANYLIVE (LIVE(0) || LIVE(1) || LIVE(2))
#else
#define ANYHELD (HELD(0) || HELD(1))
#define ANYLIVE (LIVE(0) || LIVE(1))
#endif
#if NW > 1
#define WALKING (walking[0] || walking[1])
#else
#define WALKING (walking[0])
#endif
#define GONE(o) (o != 0 && killed[o - 1])

/* FUTEX_WAKE: a system call fences before it looks for sleepers. */
inline calm_wake()
{
	atomic { DRAINED(me) -> calm++ };
	wait_calm = 0
}

/* Until no live thread has a claim. */
inline await_calm()
{
	do
	:: true ->
#ifndef M_LATESAMPLE
		c = calm;
#endif
		if
		:: !ANYHELD -> break
		:: else
		fi;
#ifdef M_LATESAMPLE
		c = calm;
#endif
#ifdef REACH1
		assert(nowhere);
#endif
		atomic {
			if
			:: calm == c -> wait_calm = wait_calm | (1 << me)
			:: else
			fi
		};
		if
		:: !((wait_calm >> me) & 1)
#ifdef VICTIM
		/* 10 ms, where only the dead could have woken us, and not
		 * for ever, so that waiting in vain is a deadlock */
		:: atomic { ((wait_calm >> me) & 1) && killed[VICTIM] && !ANYLIVE &&
			tries < 3 ->
			tries++; wait_calm = wait_calm & ~(1 << me) }
#endif
		fi
	od;
	c = 0; tries = 0
}

inline let_go(f)
{
	atomic { DRAINED(me) -> plumbing[f] = 0 };
#ifndef M_NOWAKE
	wait_flag = 0
#else
	skip
#endif
}

/* Sleep while plumbing[f] is o; replace its owner if he is dead. */
inline await_flag(f)
{
	atomic {
		o = plumbing[f];
		if
		:: o != 0 -> wait_flag = wait_flag | (1 << me)
		:: else
		fi
	};
	if
	:: !((wait_flag >> me) & 1)
#ifdef VICTIM
	:: atomic { ((wait_flag >> me) & 1) && tries < 3 &&
		(plumbing[f] == 0 || GONE(plumbing[f])) ->
		tries++; wait_flag = wait_flag & ~(1 << me) }
#endif
	fi;
#if defined(VICTIM) && !defined(M_NOTAKEOVER)
	if
	:: GONE(o) ->
		atomic {
			DRAINED(me);
			if
			:: plumbing[f] == o -> plumbing[f] = me + 1
			:: else -> o = 0
			fi
		};
		if
		:: o != 0 ->
#ifndef M_HASTYREPAIR
			HEAVY;
			await_calm();
#endif
			assert(!WALKING);
#ifdef REACH3
			assert(nowhere);
#endif
#ifdef M_NOREPAIR
			skip;
#else
			changing = 0;
#endif
			let_go(f)
		:: else
		fi
	:: else
	fi;
#endif
	o = 0
}

proctype walker(byte me)
{
	byte k, o, c, tries;
	bit p;

	{
	do
	:: k < ROUNDS ->
retry:
#ifdef M_EARLYLOOK
		p = (plumbing[0] != 0);
		STORE(me, CLAIM(me), 1);
#elif defined(M_NOLOOK)
		STORE(me, CLAIM(me), 1);
		p = 0;
#else
		STORE(me, CLAIM(me), 1);
		p = (plumbing[0] != 0 || plumbing[1] != 0);
#endif
		if
		:: p ->
#ifdef REACH2
			assert(nowhere);
#endif
#ifndef M_KEEP
			STORE(me, CLAIM(me), 0);
#endif
#ifndef M_QUIETREFUSAL
			calm_wake();
#endif
			await_flag(0);
#ifdef M_TWOFLAGS
			await_flag(1);
#endif
			p = 0;
			goto retry
		:: else
		fi;
		walking[me] = 1;
		assert(changing == 0);
		walking[me] = 0;
#ifdef M_EARLYRELEASE
		p = (plumbing[0] != 0);
		STORE(me, CLAIM(me), 0);
#else
		STORE(me, CLAIM(me), 0);
		p = (plumbing[0] != 0 || plumbing[1] != 0);
#endif
#ifndef M_QUIETRELEASE
		if
		:: p -> calm_wake()
		:: else
		fi;
#endif
		p = 0;
		tries = 0;
		k++
	:: else -> break
	od
	} WALKER_DIES(killed[me]);
	k = 0; o = 0; c = 0; tries = 0; p = 0
}

inline take(f)
{
	do
	:: true ->
#ifdef M_PLAINFLAG
		if
		:: plumbing[f] == 0 -> plumbing[f] = me + 1; break
		:: else
		fi;
#else
		atomic {
			DRAINED(me);
			if
			:: plumbing[f] == 0 -> plumbing[f] = me + 1; o = 1
			:: else
			fi
		};
		if
		:: o == 1 -> o = 0; break
		:: else
		fi;
#endif
		await_flag(f)
	od
}

proctype plumber(byte me)
{
	byte o, c, tries;

	{
#ifdef M_OWNCLAIM
	STORE(me, CLAIM(me), 1);
#endif
#ifdef M_TWOFLAGS
	take(me - NW);
	take(1 - (me - NW));
#else
	take(0);
#endif
	HEAVY;
	await_calm();
	atomic { assert(changing == 0); changing = 1 };
	assert(!WALKING);
	changing = 0;
#ifdef M_TWOFLAGS
	let_go(1 - (me - NW));
	let_go(me - NW)
#else
	let_go(0)
#endif
	} PLUMBER_DIES(killed[me]);
	o = 0; c = 0; tries = 0
}

#ifdef VICTIM
active proctype killer()
{
	atomic {
		flush(VICTIM);
		killed[VICTIM] = 1;
		walking[VICTIM] = 0;
		wait_calm = wait_calm & ~(1 << VICTIM);
		wait_flag = wait_flag & ~(1 << VICTIM)
	}
}
#endif

init {
	atomic {
		run BUFFER(0); run BUFFER(1);
		run walker(0);
#if NW > 1
		run walker(1);
#endif
		run plumber(NW);
#if NPL > 1
		run plumber(NW + 1);
#endif
#if NW + NPL > 2
		run BUFFER(2);
#endif
		skip
	}
}
