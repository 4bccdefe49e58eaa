/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * plain - a pipe becomes PLAIN while its writer writes.
 *
 * Purpose.  A program outside the domain, or after a kill a member, reads all
 * that was written, in order, and the end of file only after it.
 *
 * Objects.  q, the head queue in the domain.  k, the kernel's pipe, which loses
 * its contents when no process has it open.  plain, the flag.  kept, whether the
 * queue of the writing end's carrier holds a writing side: it does as long as a
 * member holds that end; keptr, the same for the reading side, by the writer.
 * nw, nr, how many have either side open.
 *
 * Writer.  A member: begins a call, looks at the flag, appends to q or, if the
 * pipe is PLAIN, moves q into k and writes there.  Ends by closing its end.
 *
 * Starter.  Holds the reading end only: opens both sides, sets the flag, keeps
 * the writing side, waits until a call that began before is over, moves q into
 * k under the consumer's lock, opens the reading side for the program, closes
 * both, and becomes it.
 *
 * Other.  Another holder of the reading end, which reads if the starter was
 * killed: first from k, then from q, under the consumer's lock.
 *
 * Failure.  A record that was being moved by a killed process may be read twice.
 * What was moved is lost if the starter is killed when the writer has closed:
 * then no one has k open (lost).
 *
 * @check start -DN=3
 * @check kill -DN=3 -DKILL
 * @check idle_writer -DN=2 -DIDLE
 * @find reaches_wait assert=nowhere -DN=2 -DREACH1
 * @find reaches_twice assert=nowhere -DN=2 -DKILL -DREACH2
 * @find reaches_lost assert=nowhere -DN=2 -DKILL -DREACH3
 * @find no_wait assert=q_len -DN=2 -DIDLE -DM_NOWAIT
 * @find no_keep assert -DN=2 -DM_NOKEEP
 * @find kept_late assert -DN=2 -DM_KEEPLATE
 * @find writer_keeps_not assert -DN=2 -DKILL -DM_NOKEEPR
 * @find queue_first assert -DN=3 -DKILL -DM_QFIRST
 * @find look_without_lock assert -DN=3 -DKILL -DM_NOLOCK
 * @find queue_not_moved assert -DN=2 -DM_NOMOVE
 */
chan q = [N + 1] of { byte };
chan k = [N + N] of { byte };
bool plain, kept, keptr, writing = true;	/* writing: its end is open */
bool inside, dead, started, lost, twice, again, clock, nowhere;
byte nw, nr, got;

#define WRITERS (nw + (kept && writing))
#ifdef KILL
#define OPEN (WRITERS + nr + keptr)	/* the other holds the reading end */
#else
#define OPEN (WRITERS + nr)
#endif

#define NEVER(x) if :: x -> assert(nowhere) :: else fi

/* The last one that had it open has closed it. */
inline empty_if_closed(b)
{
	do
	:: OPEN == 0 && nempty(k) -> k?b; lost = true; assert(!writing)
	:: else -> break
	od
}

/* The consumer's lock of q, by a reader. */
#ifdef M_NOLOCK
#define LOCK skip
#define UNLOCK skip
#else
#define LOCK atomic { !clock -> clock = true }
#define UNLOCK clock = false
#endif

/* A record stays in q until it is in k. */
inline move(b)
{
	do
	:: d_step { nempty(q) -> q?<b>; k!b; q?b }
	:: empty(q) -> break
	od
}

inline take(b)
{
	assert(b == got + 1 || (twice && b <= got) || lost);
	again = again || b <= got;
	got = (b > got -> b : got)
}

proctype writer()
{
	byte i = 1, b;
	bool p;

	do
	:: i <= N ->
		inside = true;
		p = plain;
		if
		:: p ->
#ifndef M_NOKEEPR
			keptr = true;
#endif
			atomic { nw++ };
			atomic { !clock -> clock = true };
			move(b);
			clock = false;
			k!i;
			atomic { nw--; empty_if_closed(b) }
		:: else ->
			q!i
		fi;
		inside = false;
		i++
	:: else -> break
	od;
	/* close(2): what waits is sent first */
	if
#ifdef IDLE
	:: true	/* it makes no call any more */
#endif
	:: plain ->
		atomic { nw++ };
		atomic { !clock -> clock = true };
		move(b);
		clock = false;
		atomic { nw--; writing = false; empty_if_closed(b) }
	:: else ->
		atomic { writing = false; empty_if_closed(b) }
	fi
}

#ifdef KILL
#define MAY_DIE :: atomic { true -> dead = true; twice = true; \
	if :: opened -> nw--; nr-- :: else fi; \
	if :: has -> nr-- :: else fi; \
	if :: holds -> clock = false :: else fi; \
	empty_if_closed(b); goto out }
#else
#define MAY_DIE
#endif
#define STEP if MAY_DIE :: true fi

proctype starter()
{
	byte b;
	bool opened, has, holds;	/* holds: the lock */

	STEP;
	atomic { nw++; nr++; opened = true };
	STEP;
	plain = true;
	STEP;
#if !defined(M_NOKEEP) && !defined(M_KEEPLATE)
	kept = true;
	STEP;
#endif
#ifdef REACH1
	NEVER(inside);
#endif
#ifndef M_NOWAIT
	!inside;
#endif
	STEP;
#ifndef M_NOMOVE
	do
	:: atomic { nempty(q) && !clock -> clock = true; holds = true };
		q?<b>;
		k!b;
		if
		MAY_DIE
		:: atomic { q?b; clock = false; holds = false }
		fi
	:: empty(q) -> break
	od;
#endif
	STEP;
	atomic { nr++; has = true };
	atomic { nw--; nr--; opened = false };
#ifdef M_KEEPLATE
	run program();
	kept = true;
	goto done;
#endif
	STEP;
	started = true;
	run program();
	goto done;
out:
done:
	skip
}

/* read(2) of the kernel's pipe: 0 when it is empty and has no writer. */
proctype program()
{
	byte b;

end:
	do
	:: atomic { k?b -> take(b) }
	:: atomic { empty(k) && WRITERS == 0 -> break }
	od;
	assert(got == N || lost)
}

#ifdef IDLE
/* Nothing more will happen. */
proctype audit()
{
	timeout;
	assert(empty(q))
}
#endif

proctype other()
{
	byte b;

end:
	dead;
	if
	:: plain ->
		atomic { nr++; kept = true };
		do
#ifdef M_QFIRST
		:: atomic { q?b -> take(b) }
#endif
		:: atomic { k?b -> take(b) }
		:: nempty(q) -> LOCK;
			if
			:: atomic { k?b -> take(b) }
			:: empty(k) ->
				if
				:: atomic { q?b -> take(b) }
				:: empty(q)
				fi
			fi;
			UNLOCK
		:: atomic { empty(k) && empty(q) && WRITERS == 0 -> break }
		od
	:: else ->
		do
		:: atomic { q?b -> take(b) }
		:: atomic { empty(q) && !writing -> break }
		od
	fi;
#ifdef REACH2
	NEVER(got == N && again);
#endif
#ifdef REACH3
	NEVER(lost);
#endif
	assert(got == N || lost)
}

init
{
	atomic {
		run writer();
		run starter();
#ifdef IDLE
		run audit();
#endif
#ifdef KILL
		run other()
#endif
	}
}
