/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * ready - a watcher's list of ready streams, which wakers fill.
 *
 * Purpose.  A waiter that looks only at the streams in its list misses no
 * event, although a writer's path is a plain store followed by a plain load,
 * and although a writer may be killed anywhere in it.
 *
 * Objects.  mem[w], what writer w has published (store buffered); rpos, what
 * was read.  `armed' and `count', the head's slot, one word; `want' and `seq',
 * the want word.  `bit', the item's; `some', the line's; `word', on which the
 * waiter sleeps while `sleepers' counts it.
 *
 * Waiter.  Take `some', then `bit': the item is queued.  A level-triggered item
 * stays queued while there is something to read.  If there is nothing, the
 * waiter arms the slot, sets the want word, executes the heavy fence, and looks
 * again; if there is still nothing, the item is not queued any more.  An
 * edge-triggered one (EDGE) stays queued while what was published (`mark') is
 * more than at the last look; then it is read until nothing is left.  If it is
 * the same, the waiter arms the slot, executes the fence, and looks again.
 * Before it sleeps the waiter samples the word, counts itself,
 * and looks at `some'.
 *
 * Writer.  Publish, then load the want word.  If it is set: load it once more,
 * with its count, load the slot; set the bit, then the line, wake the waiter if
 * it is counted; disarm the slot, then the want word, each only if its count is
 * still the same.
 *
 * Failure.  A writer that is killed leaves what it has not done to the next
 * one, which publishes after the death.
 *
 * @check level -DNP=1 -DRECS=3
 * @check level_kill -DNP=2 -DRECS=1 -DKILL -DSBLEN=1
 * @check edge -DNP=1 -DRECS=3 -DEDGE
 * @check edge_two_writers -DNP=2 -DRECS=1 -DEDGE -DSBLEN=1
 * @check edge_kill -DNP=2 -DRECS=1 -DKILL -DEDGE
 * @find reaches_sleep assert=nowhere -DNP=1 -DRECS=1 -DREACH1
 * @find reaches_refused_disarm assert=nowhere -DNP=1 -DRECS=2 -DREACH2
 * @find reaches_take_over assert=nowhere -DNP=2 -DRECS=1 -DKILL -DREACH3
 * @find no_heavy_fence assert=rpos -DNP=1 -DRECS=1 -DM_NOFENCE
 * @find disarmed_although_armed_again assert=rpos -DNP=1 -DRECS=2 -DM_DISARM
 * @find no_look_after_arming assert=rpos -DNP=1 -DRECS=1 -DM_NOLOOK
 * @find want_taken_back_although_armed_again assert=rpos -DNP=1 -DRECS=2 -DM_WANT
 * @find disarmed_before_bit assert=rpos -DNP=2 -DRECS=1 -DKILL -DM_EARLY
 * @find line_before_bit assert=rpos -DNP=1 -DRECS=2 -DM_LINE
 * @find bits_not_looked_at_before_sleep assert=rpos -DNP=1 -DRECS=1 -DM_BLIND
 * @find counted_after_look assert=rpos -DNP=1 -DRECS=1 -DM_LATE
 * @find count_set_to_0_although_counted_again assert=rpos -DNP=2 -DRECS=1 -DEDGE -DM_COUNT
 * @find edge_marked_after_read assert=rpos -DNP=1 -DRECS=2 -DEDGE -DM_AFTER
 * @find edge_no_look_after_arming assert=rpos -DNP=1 -DRECS=2 -DEDGE -DM_NOLOOK
 * @find edge_marked_without_look assert=rpos -DNP=1 -DRECS=2 -DEDGE -DM_MARK
 */
#define NCPU NP
#define NVAR NP
#include "tso.pml"

#if NP > 1
#define PUBLISHED (mem[0] + mem[1])
#else
#define PUBLISHED mem[0]
#endif

byte rpos;
bit armed;
byte count;
bit want;
byte seq;
bit bit_;	/* the item's */
bit some;
byte word;
byte sleepers;	/* and, in the same word, */
byte counted;	/* how often a thread has counted itself */
bit asleep;

bit killed;
bit done0;	/* writer 0 has ended */
bit nowhere;	/* false; asserted where a state must be reachable */

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

inline disarm()
{
	/* the slot, by compare-and-swap */
	atomic {
		DRAINED(me) ->
		if
#ifdef M_DISARM
		:: true -> armed = 0
#else
		:: count == s -> armed = 0
		:: count != s ->
#ifdef REACH2
			assert(nowhere);
#endif
			skip
#endif
		fi
	}
}

inline post()
{
#ifdef M_LINE
	atomic { DRAINED(me) -> some = 1 };
	atomic { DRAINED(me) -> bit_ = 1 };
#else
	atomic { DRAINED(me) -> bit_ = 1 };
	atomic { DRAINED(me) -> some = 1 };
#endif
	atomic { n = sleepers; c2 = counted };
	if
	:: n != 0 ->
		atomic { DRAINED(me) -> word++ };
		/* futex_wake; its result decides on the count */
		atomic { a = asleep; asleep = 0 };
		atomic {
			if
#ifdef M_COUNT
			:: a && sleepers > 0 -> sleepers--
			:: !a && sleepers == n -> sleepers = 0
#else
			:: sleepers == n && counted == c2 ->
				sleepers = (a -> n - 1 : 0)
#endif
			:: else
			fi;
			a = 0
		}
	:: else
	fi;
	n = 0; c2 = 0
}

inline publish()
{
#ifdef KILL
	if
	:: me == 1 -> (killed || done0)
	:: me == 0
	fi;
#endif
	do
	:: k < RECS ->
		k++;
		STORE(me, me, k);
		/* one plain load; the store may still be buffered */
		if
		:: want ->
			atomic { DRAINED(me) -> c = seq };
			atomic { a = armed; s = count };
#ifdef REACH3
			assert(!(me == 1 && killed && a && bit_) || nowhere);
#endif
			if
			:: a ->
#ifdef M_EARLY
				disarm();
				post()
#else
				post();
				disarm()
#endif
			:: else
			fi;
			atomic { a = armed };
			if
			:: !a ->
				atomic {
					DRAINED(me) ->
					if
#ifdef M_WANT
					:: true -> want = 0
#else
					:: seq == c -> want = 0
					:: else
#endif
					fi
				}
			:: else
			fi;
			c = 0; s = 0; a = 0
		:: !want
		fi
	:: else -> break
	od;
	atomic { DRAINED(me) -> skip }
}

inline forget()
{
	atomic {
		k = 0; c = 0; s = 0; n = 0; c2 = 0; a = 0;
		if
		:: me == 0 -> done0 = 1
		:: else
		fi
	}
}

proctype writer(byte me)
{
	byte k, c, s, n, c2;
	bit a;

	publish();
	forget()
}

#ifdef KILL
/* Only this one has an `unless', which keeps the search from treating the steps
 * of a process as independent (README.md). */
proctype victim(byte me)
{
	byte k, c, s, n, c2;
	bit a;

	{ publish() } unless { killed };
	forget()
}

active proctype killer()
{
	/* SIGKILL: the stores of the dead retire */
end_killer:	atomic { !done0 -> flush(0); killed = 1 }
}
#endif

inline arm()
{
	atomic { armed = 1; count++ };
	atomic { want = 1; seq++ };
	HEAVY
}

#ifdef EDGE
inline look()
{
#ifdef M_AFTER
	edge = (PUBLISHED != mark)
#else
	atomic { edge = (PUBLISHED != mark); mark = PUBLISHED }
#endif
}

inline read_all()
{
	edge = 0;
	do
	:: atomic { PUBLISHED != rpos -> rpos++ }
	:: atomic { PUBLISHED == rpos -> break }
	od;
#ifdef M_AFTER
	mark = PUBLISHED
#endif
}
#endif

active proctype waiter()
{
	byte val;
#ifdef EDGE
	byte mark;	/* what was published at the last look */
	bit edge;
#endif
	bit queued = 1;	/* as epoll_ctl() leaves it */

again:
	/* take the bits */
	if
	:: atomic { some -> some = 0 };
		if
		:: atomic { bit_ -> bit_ = 0; queued = 1 }
		:: atomic { !bit_ }
		fi
	:: atomic { !some }
	fi;
	if
	:: queued ->
#ifdef EDGE
		look();
		if
		:: edge -> read_all(); goto again
		:: !edge
		fi;
		arm();
#ifdef M_MARK
		mark = PUBLISHED;
#endif
#ifndef M_NOLOOK
		look();
		if
		:: edge -> read_all()
		:: !edge
		fi;
#endif
		queued = 0
#else
		if
		:: atomic { PUBLISHED != rpos -> rpos++ }; goto again
		:: atomic { PUBLISHED == rpos }
		fi;
		arm();
#ifndef M_NOLOOK
		if
		:: atomic { PUBLISHED != rpos }; goto again
		:: atomic { PUBLISHED == rpos }
		fi;
#endif
		queued = 0
#endif
	:: else
	fi;
	/* sleep */
	val = word;
#ifdef M_LATE
	if
	:: some -> goto again
	:: else
	fi;
	atomic { sleepers++; counted++ };
#else
	atomic { sleepers++; counted++ };
#ifndef M_BLIND
	if
	:: some ->
		val = 0;
		goto again
	:: else
	fi;
#endif
#endif
	atomic {
		if
		:: word == val -> asleep = 1
		:: else
		fi;
		val = 0
	};
#ifdef REACH1
	assert(!asleep || nowhere);
#endif
end_asleep:
	!asleep;
	goto again
}

/* Nothing can move any more: the waiter sleeps for good reason. */
active proctype monitor()
{
	timeout ->
	assert(PUBLISHED == rpos)
}

init {
	atomic {
		run BUFFER(0);
#ifdef KILL
		run victim(0);
#else
		run writer(0);
#endif
#if NP > 1
		run BUFFER(1);
		run writer(1);
#endif
		skip
	}
}
