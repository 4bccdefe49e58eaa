/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * token - readiness as one bit of the kernel, for one carrier direction.
 *
 * Purpose.  The carrier's receive queue is non-empty iff an event of the
 * registered interest holds, seen whenever nobody is inside the protocol; and
 * nobody who waits for the carrier waits for ever while an event is pending.
 *
 * Objects.  POS and RPOS, published and consumed (store buffered).  polled,
 * how many interests are registered.  PLOCK, the producers' lock.  tlock, the token lock, which names its
 * owner (lock.pml) and is therefore atomic here.  present, the flag under it.
 * kq, the bytes in the kernel's receive queue.
 *
 * Producer.  polled? lock; if not present: send, present = 1; publish;
 * unlock.  Token first: dying in between leaves a harmless spurious one.
 * Else publish, and look at `polled` again; if set now: lock; if not present
 * and the queue is not empty: send, present = 1; unlock.
 *
 * Consumer, after it took from the queue with `polled` set, and the poller
 * after it registered (heavy fence) or woke: lock; present = 0; fence; queue
 * empty ? receive all : put present back as it was; unlock.  Then the poller
 * sleeps only if the queue is empty.  Holders of this end cannot send to it,
 * so that present must not be set where no token was: a second poller that
 * comes, sees the event and goes away would keep the producer from waking
 * the first (case present_without_token).
 *
 * Failure.  Who finds the owner dead rebuilds present from FIONREAD and goes
 * on as the consumer does.  What remains: a producer that dies between an
 * unlocked publish and its second look leaves an event without token until
 * the next publish; the reader's bounded first ppoll, or HUP, covers it.
 * The property is therefore asserted unless that happened (gap).
 *
 * @check one_to_one -DNP=1 -DRECS=2
 * @check two_producers -DNP=2 -DRECS=1
 * @check second_poller -DNP=1 -DRECS=1 -DPEEK
 * @check register_twice -DNP=1 -DRECS=2 -DTWICE
 * @check kill -DNP=1 -DRECS=2 -DKILL
 * @check kill_one_of_two -DNP=2 -DRECS=1 -DKILL
 * @check kill_consumer -DNP=1 -DRECS=2 -DVICTIM=CONS -DKILL
 * @check kill_second_poller -DNP=1 -DRECS=1 -DPEEK -DVICTIM=PEEKER -DKILL
 * @find reaches_sleep assert=nowhere -DNP=1 -DRECS=1 -DREACH1
 * @find reaches_repair assert=nowhere -DNP=2 -DRECS=1 -DKILL -DREACH2
 * @find reaches_spurious_token assert=level -DNP=1 -DRECS=2 -DKILL -DM_NOSPURIOUS
 * @find reaches_gap assert=pending -DNP=1 -DRECS=1 -DKILL -DM_NOGAP
 * @find no_heavy_fence assert -DNP=1 -DRECS=1 -DM_NOFENCE
 * @find no_second_look assert -DNP=1 -DRECS=1 -DM_NOREREAD
 * @find second_look_blind assert=level -DNP=1 -DRECS=1 -DM_BLIND
 * @find no_look_after_register assert -DNP=1 -DRECS=1 -DM_NOSYNC
 * @find no_token_lock assert -DNP=1 -DRECS=3 -DM_NOLOCK
 * @find publish_first assert=pending -DNP=1 -DRECS=2 -DKILL -DM_PUBFIRST
 * @find received_while_pending assert -DNP=1 -DRECS=2 -DPEEK -DM_RECVALL
 * @find not_received_when_empty assert=level -DNP=1 -DRECS=2 -DM_NORECV
 * @find present_without_token assert -DNP=1 -DRECS=1 -DPEEK -DM_PRESENT
 * @find no_rebuild assert -DNP=2 -DRECS=1 -DKILL -DM_NOREBUILD
 * @find no_repair deadlock -DNP=2 -DRECS=1 -DKILL -DM_NOREPAIR
 */
#define NCPU (NP + 2)
#define NVAR 3
#define POS 0
#define RPOS 1
#define PLOCK 2
#define CONS NP			/* the poller that reads */
#define PEEKER (NP + 1)		/* one that only looks */
#include "tso.pml"

#ifndef VICTIM
#define VICTIM 0
#endif

/* Without a killer there is no `unless', which would keep the search from
 * treating steps as independent (README.md). */
#if defined(KILL) && VICTIM < NP
#define PRODUCER_DIES(c) unless { c }
#else
#define PRODUCER_DIES(c)
#endif
#if defined(KILL) && VICTIM == CONS
#define CONSUMER_DIES(c) unless { c }
#else
#define CONSUMER_DIES(c)
#endif
#if defined(KILL) && VICTIM == PEEKER
#define PEEKER_DIES(c) unless { c }
#else
#define PEEKER_DIES(c)
#endif

byte polled;
byte tlock;		/* owner + 1 */
bit present;
byte kq;
bit killed[NCPU];

/* Ghosts. */
bit asleep;		/* the poller, in the kernel */
bit inside[NCPU];	/* inside the protocol */
bit between[NCPU];	/* between unlocked publish and second look */
bit gap;		/* died there */
bit dead;		/* somebody died */
bit nowhere;
bit level, pending, count;

#ifdef M_NOFENCE
#define HEAVY skip
#else
inline heavy_all()
{
	d_step {
		flush(0);
		flush(1);
#if NP > 1
		flush(2);
#endif
		skip
	}
}
#define HEAVY heavy_all()
#endif

#define EMPTY (mem[POS] == mem[RPOS])

/* Take the token lock; from a dead owner with the flag rebuilt. */
inline lock(me)
{
#ifdef M_NOLOCK
	atomic { DRAINED(me) -> skip }
#else
	atomic {
		if
		:: DRAINED(me) && tlock == 0 -> tlock = me + 1
#ifndef M_NOREPAIR
		:: DRAINED(me) && tlock != 0 && killed[tlock - 1] ->
			tlock = me + 1; rep = 1
#endif
		fi
	};
	if
	:: rep ->
#ifdef REACH2
		assert(nowhere);
#endif
#ifndef M_NOREBUILD
		present = (kq > 0);	/* FIONREAD */
#endif
		rep = 0
	:: else
	fi
#endif
}

/* A plain store in code: that is the subject of lock.pml. */
inline unlock(me)
{
	atomic { DRAINED(me) -> tlock = 0 }
}

/* One token at most: the carrier never fills. */
inline send()
{
	kq++;
	count = (kq <= 1);
	assert(count);
	present = 1
}

/* The consumer's half. */
inline sync(me)
{
	lock(me);
	had = present;
	present = 0;
	if
#ifdef M_RECVALL
	:: true -> kq = 0
#elif defined(M_NORECV)
	:: EMPTY -> present = had
	:: !EMPTY -> present = had
#else
	:: EMPTY -> kq = 0
#ifdef M_PRESENT
	:: !EMPTY -> present = 1
#else
	:: !EMPTY -> present = had
#endif
#endif
	fi;
	had = 0;
	unlock(me)
}

inline publish(me)
{
	/* the producers' lock: released by a store behind the publishing one */
	atomic {
		DRAINED(me) && (mem[PLOCK] == 0 || killed[mem[PLOCK] - 1]) ->
		mem[PLOCK] = me + 1
	};
	STORE(me, POS, mem[POS] + 1);
	STORE(me, PLOCK, 0)
}

inline send_if_absent()
{
	if
	:: !present -> send()
	:: else
	fi
}

proctype producer(byte me)
{
	byte k;
	bit p, rep;

	{
	do
	:: k < RECS ->
		inside[me] = 1;
		p = (polled > 0);
		if
		:: p ->
			lock(me);
#ifdef M_PUBFIRST
			publish(me);
			send_if_absent();
#else
			send_if_absent();
			publish(me);
#endif
			unlock(me)
		:: else ->
			between[me] = 1;
			publish(me);
#ifndef M_NOREREAD
			/* a plain load; the store may still be buffered */
			p = (polled > 0);
			if
			:: p ->
				lock(me);
				if
#ifdef M_BLIND
				:: true ->
#else
				:: !EMPTY ->
#endif
					send_if_absent()
				:: else
				fi;
				unlock(me)
			:: else
			fi;
#endif
			between[me] = 0
		fi;
		p = 0;
		inside[me] = 0;
		k++
	:: else -> break
	od
	} PRODUCER_DIES(killed[me]);
	k = 0; p = 0; rep = 0
}

proctype consumer()
{
	byte rp, n;
	bit p, had, rep;

	{
read:
	/* take everything, without waiting */
	do
	:: mem[POS] != rp ->
		rp++;
		STORE(CONS, RPOS, rp);
		p = (polled > 0);
		if
		:: p -> sync(CONS)
		:: else
		fi;
		p = 0
	:: mem[POS] == rp -> break
	od;
	/* wait: register first, which also retires RPOS */
	if
	:: n & 1 -> skip
	:: else -> atomic { DRAINED(CONS) -> polled++; n++ }; HEAVY
	fi;
	/* bring the token into step; it may also have been spurious */
#ifndef M_NOSYNC
	sync(CONS);
	if
	:: mem[POS] != rp -> goto read
	:: else
	fi;
#endif
#ifdef REACH1
	assert(nowhere);
#endif
	atomic { asleep = 1; inside[CONS] = 0 };
end_poll:
	atomic { kq > 0 -> asleep = 0; inside[CONS] = 1 };
#ifdef TWICE
	if
	:: n == 1 -> atomic { polled--; n++ }
	:: true
	fi;
#endif
	goto read
	} CONSUMER_DIES(killed[CONS]);
	rp = 0; n = 0; p = 0; had = 0; rep = 0
}

#ifdef PEEK
/* poll() that returns, or not, and reads nothing; another holder */
proctype peeker()
{
	bit had, rep;

	{
	inside[PEEKER] = 1;
	polled++;
	HEAVY;
	sync(PEEKER);
	polled--;
	inside[PEEKER] = 0
	} PEEKER_DIES(killed[PEEKER]);
	had = 0; rep = 0
}
#endif

#ifdef KILL
active proctype killer()
{
	atomic {
		flush(VICTIM);
		killed[VICTIM] = 1;
		dead = 1;
		inside[VICTIM] = 0;
		if
		:: between[VICTIM] -> gap = 1; between[VICTIM] = 0
		:: else
		fi
	}
}
#endif

#ifdef M_NOGAP
#define EXCUSED 0
#else
#define EXCUSED gap
#endif

#if NP > 1
#define QUIET (DRAINED(0) && DRAINED(1) && DRAINED(2) && \
		!inside[0] && !inside[1] && !inside[2])
#else
#define QUIET (DRAINED(0) && DRAINED(1) && !inside[0] && !inside[1])
#endif

/* At any moment when nobody is inside and the poller is in the kernel. */
active proctype watch()
{
end:	atomic {
		QUIET && asleep && !inside[PEEKER] ->
#ifdef M_NOSPURIOUS
		level = (kq == 0 || !EMPTY);
#else
		level = (kq == 0 || !EMPTY || dead);
#endif
		assert(level);
		pending = (EMPTY || kq > 0 || EXCUSED || killed[CONS]);
		assert(pending)
	}
}

init {
	atomic {
		inside[CONS] = 1;
		run BUFFER(0);
		run BUFFER(1);
		run producer(0);
#if NP > 1
		run BUFFER(2);
		run producer(1);
#endif
		run consumer();
#ifdef PEEK
		run peeker();
#endif
		skip
	}
}
