/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * lock - a lock that names its owner and is released without a fence.
 *
 * Purpose.  At most one inside; no waiter sleeps beside a free lock, although
 * the release is a plain store followed by a plain load; what a dead owner
 * left is repaired by exactly one process, before anybody else enters.
 *
 * Objects.  LOCK, 0 or the owner: slot and generation, so that a new process
 * in the slot of a dead one is not taken for the owner (store buffered).
 * `waiters`, how many wait (locked operations only; a count that a dead
 * waiter left too high costs a system call, never a wake).  gen[s], the
 * generation now living in slot s; live[s], whether its process lives.
 *
 * Acquire.  Compare-and-swap 0 to me.  On failure: waiters++, heavy fence,
 * try again, FUTEX_WAIT(LOCK, owner seen) at most 10 ms, then look whether
 * that owner lives; if not, compare-and-swap the dead owner to me: the
 * winner, and nobody else, repairs, and only then is inside.
 *
 * Release.  Store 0; load waiters; if any, FUTEX_WAKE one.  The waiter's
 * heavy fence covers the releases before it; a later owner sees waiters and
 * enters the kernel, where his store has retired before the kernel looks.
 *
 * Failure.  The owner may die at any step, in the repair too: the lock then
 * still names a dead owner and the next waiter repairs again.  A slot may be
 * taken by a new process, of the next generation, at once.
 *
 * @check two -DNT=2 -DROUNDS=2
 * @check three -DNT=3 -DROUNDS=1
 * @check kill -DNT=3 -DROUNDS=1 -DKILL
 * @check kill_and_reuse -DNT=2 -DROUNDS=1 -DKILL -DREUSE
 * @check kill_twice -DNT=3 -DROUNDS=1 -DKILL -DKILL2
 * @find reaches_sleep assert=nowhere -DNT=2 -DROUNDS=1 -DREACH1
 * @find reaches_repair assert=nowhere -DNT=2 -DROUNDS=1 -DKILL -DREACH2
 * @find reaches_second_repair assert=repairs<2 -DNT=3 -DROUNDS=1 -DKILL -DKILL2 -DREACH3
 * @find no_heavy_fence deadlock -DNT=2 -DROUNDS=1 -DM_NOFENCE
 * @find sleep_without_compare deadlock -DNT=2 -DROUNDS=1 -DM_SLEEPBLIND
 * @find announce_after_try deadlock -DNT=2 -DROUNDS=1 -DM_LATEANNOUNCE
 * @find load_before_release deadlock -DNT=2 -DROUNDS=1 -DM_EARLYLOAD
 * @find wake_before_release_retires deadlock -DNT=2 -DROUNDS=2 -DM_LAZYWAKE
 * @find no_wake deadlock -DNT=2 -DROUNDS=1 -DM_NOWAKE
 * @find waiter_flag_cleared deadlock -DNT=3 -DROUNDS=1 -DM_CLEARFLAG
 * @find acquire_not_atomic assert=inside -DNT=2 -DROUNDS=1 -DM_PLAINACQ
 * @find takeover_not_atomic assert=lost -DNT=3 -DROUNDS=1 -DKILL -DM_PLAINTAKE
 * @find no_repair assert=dirty -DNT=2 -DROUNDS=1 -DKILL -DM_NOREPAIR
 * @find repair_after_entry assert=dirty -DNT=2 -DROUNDS=1 -DKILL -DM_LATEREPAIR
 * @find freed_for_the_dead assert=dirty -DNT=3 -DROUNDS=1 -DKILL -DM_FREEDEAD
 * @find no_owner_check deadlock -DNT=2 -DROUNDS=1 -DKILL -DM_NOCHECK
 * @find no_generation deadlock -DNT=2 -DROUNDS=1 -DKILL -DREUSE -DM_NOGEN
 */
#define NCPU NT
#define NVAR 1
#define LOCK 0
#include "tso.pml"

/* An owner word: slot + 1, and the generation above it. */
#define ME(s)		((s) + 1 + 8 * mygen)
#define SLOT(o)		(((o) & 7) - 1)
#define GEN(o)		((o) >> 3)
#ifdef M_NOGEN
#define DEAD(o)		(!live[SLOT(o)])
#else
#define DEAD(o)		(!live[SLOT(o)] || gen[SLOT(o)] != GEN(o))
#endif

/* The truth, whatever the protocol looks at. */
#define OVERDUE	(deaths > 0 && (mem[LOCK] == 0 || \
			!live[SLOT(mem[LOCK])] || \
			gen[SLOT(mem[LOCK])] != GEN(mem[LOCK])))

/* Without a killer there is no `unless', which would keep the search from
 * treating steps as independent (README.md). */
#if defined(KILL)
#define DIES(c) unless { c }
#else
#define DIES(c)
#endif

byte waiters;
byte asleep;		/* bit per slot in FUTEX_WAIT */
bit live[NT];
bit gen[NT];
bit killed[NT];

/* Ghosts. */
byte inside;		/* live processes inside */
bit in[NT];		/* who */
bit dirty;		/* what the lock protects is half changed */
bit lost;		/* a process died while it owned the lock */
byte repairs;
byte deaths;
bit nowhere;

#ifdef M_NOFENCE
#define HEAVY skip
#else
inline heavy_all()
{
	d_step {
		flush(0);
		flush(1);
#if NT > 2
		flush(2);
#endif
		skip
	}
}
#define HEAVY heavy_all()
#endif

/* Compare-and-swap; o is what the word held. */
inline cas(old, new)
{
	atomic {
		DRAINED(s) -> o = mem[LOCK];
		if
		:: o == old -> mem[LOCK] = new
		:: else
		fi
	}
}

inline announce()
{
	atomic { DRAINED(s) -> waiters++; waiting = 1 }
}

inline acquire()
{
	rep = 0; tries = 0;
#ifdef M_PLAINACQ
	o = mem[LOCK];
	if
	:: o == 0 -> atomic { DRAINED(s) -> mem[LOCK] = ME(s) }
	:: else
	fi;
#else
	cas(0, ME(s));
#endif
	do
	:: o == 0 -> break
	:: o != 0 ->
#ifndef M_LATEANNOUNCE
		if
		:: !waiting -> announce()
		:: else
		fi;
		HEAVY;
#endif
		cas(0, ME(s));
#ifdef M_LATEANNOUNCE
		if
		:: o != 0 && !waiting -> announce()
		:: else
		fi;
#endif
		if
		:: o == 0 -> break
		:: else
		fi;
#ifdef REACH1
		assert(nowhere);
#endif
		/* the kernel compares and queues in one step */
		atomic {
			if
#ifdef M_SLEEPBLIND
			:: true ->
#else
			:: mem[LOCK] == o ->
#endif
				asleep = asleep | (1 << s)
			:: mem[LOCK] != o
			fi
		};
		if
		:: !((asleep >> s) & 1)
#ifdef KILL
		/* 10 ms.  Modelled only where nobody is going to wake us: the
		 * owner is dead, or died with a wake for us in his hands; and
		 * not for ever, so that waiting in vain is a deadlock */
		:: atomic { ((asleep >> s) & 1) && OVERDUE && tries < 3 ->
			asleep = asleep & ~(1 << s); tries++ }
#endif
		fi;
#if defined(KILL) && !defined(M_NOCHECK)
		if
		:: o != 0 && DEAD(o) ->
#ifdef M_PLAINTAKE
			atomic { DRAINED(s) -> mem[LOCK] = ME(s) };
			rep = 1; o = 0; break
#elif defined(M_FREEDEAD)
			atomic {
				DRAINED(s);
				if
				:: mem[LOCK] == o -> mem[LOCK] = 0
				:: else
				fi
			}
#else
			d = o;
			cas(d, ME(s));
			if
			:: o == d -> rep = 1; d = 0; o = 0; break
			:: else -> d = 0
			fi
#endif
		:: else
		fi;
#endif
		cas(0, ME(s))
	od;
	/* mine; not inside before it is repaired */
#ifndef M_LATEREPAIR
#ifndef M_NOREPAIR
	repair();
#endif
#endif
	if
	:: waiting -> atomic { DRAINED(s) -> waiters--; waiting = 0 }
	:: else
	fi
}

inline repair()
{
	if
	:: rep ->
		/* once for each owner that died */
		atomic { assert(lost); repairs++ };
#ifdef REACH2
		assert(nowhere);
#endif
#ifdef REACH3
		assert(repairs < 2);
#endif
		atomic { dirty = 0; lost = 0; rep = 0 }
	:: else
	fi
}

inline release()
{
#ifdef M_EARLYLOAD
	w = waiters;
	STORE(s, LOCK, 0);
#else
	STORE(s, LOCK, 0);
	w = waiters;
#endif
	atomic {
#ifdef M_CLEARFLAG
		waiters = 0;
#endif
#ifndef M_NOWAKE
		if
		:: w ->
			/* FUTEX_WAKE(1): a system call, it fences; then the
			 * kernel picks */
#ifndef M_LAZYWAKE
			DRAINED(s);
#endif
			if
			:: asleep == 0
			:: asleep & 1 -> asleep = asleep & ~1
			:: asleep & 2 -> asleep = asleep & ~2
			:: asleep & 4 -> asleep = asleep & ~4
			fi
		:: !w
		fi;
#endif
		w = 0
	}
}

proctype thread(byte s)
{
	byte o, d, k, w, tries;
	bit waiting, rep, mygen;

again:
	{
	do
	:: k < ROUNDS ->
		acquire();
		atomic { in[s] = 1; inside++; assert(inside == 1) };
		atomic { assert(!dirty); dirty = 1 };
		/* the section commits here */
		dirty = 0;
#ifdef M_LATEREPAIR
		repair();
#endif
		atomic { inside--; in[s] = 0 };
		release();
		k++
	:: else -> break
	od
	} DIES(killed[s]);
	atomic {
		if
		:: killed[s] ->
			tries = 0; k = 0; w = 0; o = 0; d = 0; waiting = 0; rep = 0;
#ifdef REUSE
			if
			:: mygen == 0 ->
				killed[s] = 0; mygen = 1; gen[s] = 1;
				live[s] = 1; goto again
			:: else
			fi
#else
			skip
#endif
		:: else
		fi
	}
}

#ifdef KILL
proctype killer(byte s)
{
	/* SIGKILL: the stores of the dead retire */
	atomic {
		flush(s);
		killed[s] = 1;
		live[s] = 0;
		inside = inside - in[s];
		in[s] = 0;
		deaths++;
		/* a word woken by nobody: a dead sleeper leaves the queue */
		asleep = asleep & ~(1 << s);
		if
		:: mem[LOCK] == s + 1 -> lost = 1
		:: else
		fi
	}
}
#endif

init {
	atomic {
		live[0] = 1; live[1] = 1;
		run BUFFER(0); run BUFFER(1);
		run thread(0); run thread(1);
#if NT > 2
		live[2] = 1;
		run BUFFER(2); run thread(2);
#endif
#ifdef KILL
		run killer(0);
#endif
#ifdef KILL2
		run killer(1);
#endif
		skip
	}
}
