/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * fence - which side executes the fence.
 *
 * Purpose.  A sleeper executes the heavy fence, a system call, so that writers
 * need none.  Where a thread sleeps at nearly each record that is the wrong way
 * round.  A bit in the want word, FENCE, asks writers for a full fence between
 * the store of a record and the load of that word; a second one, FENCED, says
 * that all writers have seen the first, so that a sleeper may leave the heavy
 * fence out.
 *
 * Reader.  With FENCED: ask for a wake by a locked operation, which is the fence.
 * Otherwise: ask for a wake and for FENCE; the count in the word is a new one each
 * time that FENCE is set; heavy fence; set FENCED where FENCE is, by a
 * compare-and-swap from the word as it was when it was asked for.  Look again,
 * sleep.
 *
 * Writer.  Publish, load the word.  FENCE: full fence, load it again.  A sleeper:
 * take the request, wake it.  None: both bits may be taken away, by a
 * compare-and-swap.
 *
 * Sleeps have no time-out, so that a wake that is lost is seen.  With KILL reader
 * 1 may be killed before its heavy fence.
 *
 * @check one_to_one -DNP=1 -DRECS=4
 * @check two_writers -DNP=2 -DRECS=2
 * @check two_readers -DNP=1 -DNR=2 -DRECS=3
 * @check reader_killed -DNP=1 -DNR=2 -DRECS=3 -DKILL
 * @find no_second_load assert=rpos -DNP=1 -DRECS=2 -DM_NOLOAD
 * @find fenced_too_early assert=rpos -DNP=1 -DNR=2 -DRECS=3 -DKILL -DM_EARLY
 * @find no_full_fence assert=rpos -DNP=1 -DRECS=3 -DM_NOFENCE
 * @find fenced_without_look assert=rpos -DNP=1 -DRECS=4 -DM_BLIND
 * @find no_count assert=rpos -DNP=1 -DNR=2 -DRECS=3 -DKILL -DM_NOCOUNT
 * @find reaches_without_heavy assert=nowhere -DNP=1 -DRECS=3 -DREACH1
 * @find reaches_back assert=nowhere -DNP=1 -DRECS=4 -DREACH2
 */
#define NCPU NP
#define NVAR 2
#define POS 0
#define PLOCK 1
#include "tso.pml"

#ifndef NR
#define NR 1
#endif

#define FUTEX 1
#define FENCE 2
#define FENCED 4
#define QUIET (FENCE | FENCED)
#define COUNT 8 /* of the settings of FENCE, from here upwards */

byte rpos;    /* taken */
byte want;    /* locked operations only; 0: nothing is requested */
byte word;    /* what the readers sleep on */
byte count;
bit asleep[NR];
bit nowhere;  /* false; asserted where a state must be reachable */
bit back;     /* the bits were taken away */

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

proctype writer(byte me)
{
	byte n, k, w;

	do
	:: k < RECS ->
		atomic { DRAINED(me) && mem[PLOCK] == 0 -> mem[PLOCK] = 1 };
		n = mem[POS] + 1;
		STORE(me, POS, n);
		STORE(me, PLOCK, 0);
		atomic { w = want; n = 0 };
		if
		:: w & FENCE ->
#ifndef M_NOFENCE
			atomic { DRAINED(me) -> skip };
#endif
#ifndef M_NOLOAD
			w = want;
#endif
			if
			:: (w & FUTEX) == 0 ->
				if
				:: atomic { DRAINED(me) ->
					if
					:: want == w -> want = 0; back = 1
					:: else
					fi }
				:: skip
				fi
			:: else
			fi
		:: else
		fi;
		if
		:: w & FUTEX ->
			atomic { DRAINED(me) -> want = want & ~FUTEX };
			word++;
			d_step {
				asleep[0] = 0;
#if NR > 1
				asleep[1] = 0;
#endif
				skip
			}
		:: else
		fi;
		atomic { w = 0; k++ }
	:: else -> break
	od
}

proctype reader(byte me)
{
	byte val, was;

again:
	val = word;
	if
	:: atomic { mem[POS] != rpos -> rpos++; val = 0 }; goto again
	:: atomic { mem[POS] == rpos }
	fi;
	was = want;
	do
#ifdef M_EARLY
	:: was & FENCE ->
#else
	:: was & FENCED ->
#endif
		atomic {
			if
			:: want == was ->
				want = was | FUTEX;
#ifdef REACH1
				assert(nowhere);
#endif
#ifdef REACH2
				assert(!back || nowhere);
#endif
				goto look
			:: else -> was = want
			fi
		}
	:: else -> break
	od;
	if
	:: (was & FENCE) == 0 ->
		atomic {
#ifndef M_NOCOUNT
			count++;
#endif
			want = (want & (COUNT - 1)) | FUTEX | FENCE |
				(count * COUNT);
			was = want
		}
	:: else ->
		atomic { want = want | FUTEX; was = want }
	fi;
#ifdef KILL
	if
	:: me == 1 -> goto killed
	:: skip
	fi;
#endif
	heavy_all();
	if
	:: (was & QUIET) == FENCE ->
		atomic {
			if
#ifdef M_BLIND
			:: true -> want = want | FENCED
#else
			:: want == was -> want = was | FENCED
			:: else
#endif
			fi
		}
	:: else
	fi;
look:
	atomic {
		was = 0;
		if
		:: mem[POS] != rpos -> val = 0; goto again
		:: else
		fi
	};
	atomic {
		if
		:: word == val -> asleep[me] = 1
		:: else
		fi;
		val = 0
	};
end:	!asleep[me];
	goto again;
killed:
	skip
}

active proctype monitor()
{
	timeout -> assert(mem[POS] == rpos)
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
#if NR > 1
		run reader(1);
#endif
		skip
	}
}
