/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * notice - readers that sleep on words without limit, and streamsd, which tells
 * them of deaths.
 *
 * Purpose.  No record, no hang-up and no end of streamsd is slept through,
 * although no sleep has a time-out and no sleeper waits for its carrier:
 * whether the writer, a reader or streamsd is killed, at any step.
 *
 * Objects.  POS, the published position (store buffered); rpos, what was taken.
 * `want', a request for a wake; word, the queue's word.  on[c], reader c has
 * published where it sleeps.  deaths, the count of notices; seen, its value at
 * the last look at the carrier.  hup, the carrier's end of file: the kernel
 * raises it when the writer's process has ended, unless another one holds the
 * end (HELD), and only then is its pidfd readable (died).  bell[p] and life[p], the words of reader process p.  inside,
 * the writer is in a call on the stream.  A ring counts in bell, changes word and
 * wakes all its sleepers.  Sleep is FUTEX_WAITV on word and life.
 *
 * Reader.  Sample; publish `on', ask for a wake, heavy fence; if the count of
 * notices has changed, look at the carrier; look for records; sleep.  Without
 * streamsd (life is 0) the reader waits for the carrier in any case, which is
 * one step here.  A reader that finds streamsd ended wakes the others of its
 * process, and starts another one.
 *
 * Writer.  Publish, load want; take the request by an exchange, change the
 * word, wake.
 *
 * streamsd.  Write life, and give a first notice.  For each death: reap, that is
 * ring the sleepers of the stream that the dead writer was inside; then a notice:
 * count, and ring the sleepers whose carrier has hung up.  Its end marks life of
 * all processes and wakes one sleeper of each.  A new one may fail to start.
 *
 * @check one -DRECS=2 -DNR=1
 * @check kill_writer -DRECS=1 -DNR=1 -DKILLW
 * @check kill_writer_held -DRECS=2 -DNR=1 -DKILLW -DHELD
 * @check kill_streamsd -DRECS=1 -DNR=1 -DKILLD
 * @check kill_writer_and_streamsd -DRECS=0 -DNR=1 -DKILLW -DKILLD -DOTHER
 * @check kill_both_held -DRECS=1 -DNR=1 -DKILLW -DKILLD -DHELD
 * @check two_processes -DRECS=0 -DNR=2 -DKILLW
 * @check kill_reader -DRECS=0 -DNR=2 -DKILLR -DKILLD
 * @check one_process -DRECS=0 -DNR=2 -DSAME -DKILLD
 * @find no_heavy_fence assert=rpos -DRECS=1 -DNR=1 -DM_NOFENCE
 * @find look_before_on assert=ended -DRECS=1 -DNR=1 -DKILLW -DM_EARLY
 * @find reaped_silently assert=rpos -DRECS=1 -DNR=1 -DKILLW -DHELD -DM_NORING
 * @find count_after_search assert=ended -DRECS=1 -DNR=1 -DKILLW -DM_LATE
 * @find one_life_word assert=alone -DRECS=0 -DNR=2 -DKILLR -DKILLD -DM_ONELIFE
 * @find not_passed_on assert=alone -DRECS=1 -DNR=2 -DSAME -DKILLD -DM_NOPASS
 * @find no_first_notice assert=ended -DRECS=1 -DNR=1 -DKILLW -DKILLD -DOTHER -DM_NOFIRST
 * @find rung_without_word assert=ended -DRECS=0 -DNR=1 -DKILLW -DM_NOWORD
 * @find reaches_sleep assert=nowhere -DRECS=1 -DNR=1 -DREACH1
 * @find reaches_told assert=nowhere -DRECS=1 -DNR=1 -DKILLW -DREACH2
 * @find reaches_restart assert=nowhere -DRECS=1 -DNR=1 -DKILLD -DREACH3
 */
#define NCPU 1
#define NVAR 1
#define POS 0
#include "tso.pml"

#ifdef SAME
#define PROC(c) 0
#else
#define PROC(c) (c)
#endif
#ifdef M_ONELIFE
#define LIFE(c) 0
#else
#define LIFE(c) PROC(c)
#endif

/* Without a killer there is no `unless', which would keep the search from
 * treating steps as independent (README.md). */
#if defined(KILLW)
#define WRITER_DIES(c) unless { c }
#else
#define WRITER_DIES(c)
#endif
#if defined(KILLD)
#define STREAMSD_DIES(c) unless { c }
#else
#define STREAMSD_DIES(c)
#endif
#if defined(KILLR)
#define READER_DIES(c) unless { c }
#else
#define READER_DIES(c)
#endif

byte rpos;
bit want;
byte word;
bit on[NR];
byte deaths, seen;
bit hup;
bit died;	/* the writer's pidfd is readable */
bit reaped;
bit wkilled, wdone;
bit inside;
byte bell[NR];
bit life[NR];	/* streamsd lives, for sleepers */
bit asleep[NR];
bit ended[NR];	/* saw end of file */
bit rkilled, dkilled;
bit running;	/* streamsd */
bit failed;	/* it cannot be started again */
bit nowhere;	/* false; asserted where a state must be reachable */
bit alone;	/* false; a sleeper relies on a streamsd that has ended */

inline heavy_all()
{
	d_step { flush(0); skip }
}

inline wake_all()
{
	asleep[0] = 0;
#if NR > 1
	asleep[1] = 0;
#endif
	skip
}

active proctype writer()
{
	byte k;
	bit w;

	{
	do
	:: k < RECS ->
		inside = 1;
		STORE(0, POS, k + 1);
		w = want;
		if
		:: w ->
			atomic { DRAINED(0) -> w = want; want = 0 };
			if
			:: w ->
				word++;
				d_step { wake_all() }
			:: else
			fi
		:: else
		fi;
		atomic { inside = 0; k++; w = 0 }
	:: else -> break
	od;
	wdone = 1
	} WRITER_DIES(wkilled);
	k = 0; w = 0
}

#ifdef KILLW
/* The stores of the dead retire; its descriptors are closed, then it is dead. */
active proctype killer()
{
	d_step { flush(0); wkilled = 1 };
#ifndef HELD
	hup = 1;
#endif
	died = 1
}
#endif

/* One reader, if it sleeps here or is about to, and its whole process. */
inline ring(c)
{
	atomic {
		if
		:: on[c] ->
#ifndef M_NOWORD
			word++;
#endif
			bell[PROC(c)]++;
			wake_all()
		:: else
		fi
	}
}

inline ring_all()
{
	ring(0);
#if NR > 1
	ring(1);
#endif
	skip
}

inline notice()
{
#ifndef M_LATE
	deaths++;
#endif
	if
	:: hup -> ring_all()
	:: else
	fi;
#ifdef M_LATE
	deaths++;
#endif
	skip
}

inline reap()
{
	if
	:: inside && !reaped ->
#ifndef M_NORING
		ring_all();
#endif
		inside = 0
	:: else
	fi;
	reaped = 1
}

#ifdef OTHER
/* A member that needs a lock of the dead writer. */
active proctype other_reaper()
{
	died;
	reap()
}
#endif

proctype streamsd(bit second)
{
	bit heard;

	{
	atomic {
		life[0] = 1;
#if NR > 1
		life[1] = 1;
#endif
		skip
	};
	/* the slot of a reaped writer names no process to watch */
	heard = second && reaped;
#ifndef M_NOFIRST
	notice();
#endif
end_doze:
	died && !heard;
	reap();
	notice();
	heard = 1
	} STREAMSD_DIES(dkilled && !second)
}

#ifdef KILLD
/* The kernel marks each life word, and wakes one that sleeps on it. */
active proctype killer_of_streamsd()
{
	atomic {
		running -> dkilled = 1; running = 0;
		life[0] = 0;
#if NR > 1
		life[1] = 0;
#endif
#if NR > 1 && (defined(SAME) || defined(M_ONELIFE))
		if
		:: asleep[0] -> asleep[0] = 0
		:: asleep[1] -> asleep[1] = 0
		:: !asleep[0] && !asleep[1]
		fi
#else
		wake_all()
#endif
	}
}
#endif

proctype reader(byte c)
{
	byte val, rung, n;

	{
	skip;
again:
	if
	:: atomic { mem[POS] != rpos -> rpos++ }; goto again
	:: atomic { mem[POS] == rpos }
	fi;
	if
	:: !life[LIFE(c)] ->
		/* on the carrier, where every event is seen */
end_carrier:
		if
		:: mem[POS] != rpos -> goto again
		:: hup && len(sb[0]) == 0 && mem[POS] == rpos -> goto eof
		:: !running && !failed -> goto replace
		:: life[LIFE(c)] -> goto again
		fi
	:: else
	fi;
	atomic { rung = bell[PROC(c)]; val = word };
#ifdef M_EARLY
	n = deaths;
	if
	:: seen != n ->
		if
		:: hup -> goto eof
		:: else -> seen = n
		fi
	:: else
	fi;
#endif
	atomic { on[c] = 1; want = 1 };
#ifndef M_NOFENCE
	heavy_all();
#endif
#ifndef M_EARLY
	if
	:: atomic { seen != deaths -> n = deaths };
		if
		:: hup -> on[c] = 0; goto eof
		:: else -> seen = n
		fi
	:: atomic { seen == deaths }
	fi;
#endif
	if
	:: mem[POS] != rpos -> on[c] = 0; goto again
	:: else
	fi;
#ifdef REACH1
	assert(nowhere);
#endif
	atomic {
		if
		:: word == val && life[LIFE(c)] ->
			asleep[c] = 1
		:: else
		fi
	};
end_sleep:
	atomic { !asleep[c] -> on[c] = 0; n = 0 };
	if
	:: !life[LIFE(c)] -> goto replace
	:: else
	fi;
	if
	:: rung != bell[PROC(c)] && hup ->
#ifdef REACH2
		assert(nowhere);
#endif
		goto eof
	:: else
	fi;
	goto again;

replace:
	skip;
	/* wake the others that sleep on this word */
#ifndef M_NOPASS
#if defined(SAME) || defined(M_ONELIFE)
	d_step { wake_all() };
#endif
#endif
	atomic {
		if
		:: !running && !failed -> running = 1; run streamsd(1)
#ifdef REACH3
			; assert(nowhere)
#endif
		:: !running -> failed = 1
		:: else
		fi
	};
	goto again;
eof:
	if
	:: mem[POS] != rpos -> goto again
	:: else
	fi;
	ended[c] = 1
	} READER_DIES(rkilled && c == 0);
	atomic { val = 0; rung = 0; n = 0; on[c] = 0; asleep[c] = 0 }
}

#ifdef KILLR
active proctype killer_of_reader()
{
	rkilled = 1
}
#endif

/* Nothing can move any more: all are done or sleep for good reason. */
active proctype monitor()
{
	timeout ->
	assert(mem[POS] == rpos || (rkilled && NR == 1));
	assert(!asleep[0] || life[LIFE(0)] || alone);
#if NR > 1
	assert(!asleep[1] || life[LIFE(1)] || alone);
#endif
#if defined(KILLW) && !defined(HELD)
	assert(ended[0] || rkilled);
#if NR > 1
	assert(ended[1]);
#endif
#endif
	skip
}

init {
	atomic {
		running = 1;
		run streamsd(0);
		run BUFFER(0);
		run reader(0);
#if NR > 1
		run reader(1);
#endif
		skip
	}
}
