/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * ring - a pipe under strrun changes between the kernel's pipe and a ring.
 *
 * Purpose.  The reader gets all that the writer has written, in order, and the
 * end of file after it, whichever side gives the ring up at any step, and if the
 * writer is killed at any step.
 *
 * Objects.  k, the kernel's pipe.  ring, with the words tail (tpos, asleep,
 * waking, dry, tclosed) and head (hpos, hclosed), each changed by one
 * compare-and-swap.  state.  The reader's memory: kern, what it knows of the
 * kernel's pipe, and got.  inread, it reads the kernel's pipe: the writer waits for
 * that before it moves, so that its count before the move holds.  want, the record that it must get next.  done, the
 * records whose write has returned.
 *
 * Writer.  In STREAM: wakes a sleeping reader by the kernel's pipe; a long write
 * of two records puts the second one into the ring first.  Otherwise it copies,
 * and then moves tpos.  A handler may give the ring up in between.  It gives the
 * ring up between records, too.
 *
 * Reader.  Takes from the ring; sleeps in the kernel's pipe after it has set
 * asleep; gives the ring up between reads.
 *
 * Each side keeps the position of the other one that it has last seen (wseen,
 * rseen), and looks again when that is not enough.
 *
 * A move is one step (writev), after both words have been closed one by one.
 *
 * @check run -DN=4
 * @check kill -DN=3 -DKILL
 * @check long_writes -DN=4 -DLONG
 * @check long_writes_kill -DN=3 -DLONG -DKILL
 * @find overtakes_ring assert=x==want -DN=4 -DM_OVERTAKE
 * @find sleeps_unseen deadlock -DN=3 -DM_BLIND
 * @find handler_uses_ring assert -DN=4 -DM_NESTED
 * @find not_closed assert -DN=3 -DM_OPEN
 * @find waking_is_woken assert -DN=4 -DLONG -DM_WOKEN
 * @find waits_before_closing assert -DN=4 -DLONG -DM_EARLY
 * @find taken_over_twice assert -DN=3 -DKILL -DM_TWICE
 * @find kept_incomplete assert -DN=4 -DLONG -DKILL -DM_KEEP
 * @find keeps_stale_position assert=x==want -DN=5 -DSIZE=1 -DLONG -DM_STALE
 * @find reaches_ring assert=nowhere -DN=2 -DREACH1
 * @find reaches_over assert=nowhere -DN=3 -DKILL -DREACH2
 * @find reaches_both assert=nowhere -DN=4 -DLONG -DREACH3
 */
#ifndef SIZE
#define SIZE 2
#endif

mtype = { ARMED, STREAM, TO_R, TO_W, KERNEL };
mtype = { UNKNOWN, SLEPT, EMPTY };

chan k = [N + SIZE + 2] of { byte };
mtype state = ARMED;
byte ring[SIZE];
byte tpos, hpos;
bool asleep = true, waking, dry, tclosed, hclosed;
byte before = 255; /* TO_W: bytes in k before the move */
bool inread;	/* the reader reads k */
byte want = 1, done;
bool wkilled, wgone;	/* the writer has ended, its end is closed */
bool ended;	/* the reader has seen the end of file */
bool nowhere;	/* false; asserted where a state must be reachable */

/* Without a killer there is no `unless', which would keep the search from
 * treating steps as independent (README.md). */
#if defined(KILL)
#define DIES(c) unless { c }
#else
#define DIES(c)
#endif

/* Is tail as it was loaded into t, ta, tw, td, tc? */
#define SAME (tpos == t && asleep == ta && waking == tw && dry == td && \
	tclosed == tc)
#define LOAD_TAIL atomic { t = tpos; ta = asleep; tw = waking; td = dry; \
	tc = tclosed }

inline close_both()
{
#ifndef M_OPEN
	tclosed = true;
	hclosed = true
#else
	skip
#endif
}

inline move()
{
	d_step {
		i = hpos;
		do
		:: i < tpos -> k!ring[i % SIZE]; i++
		:: else -> break
		od;
		i = 0
	}
}

inline writer_gives_up()
{
	if
	:: atomic { state == STREAM -> state = TO_W };
		close_both();
		if
#ifndef M_TWICE
		:: tpos != hpos -> !inread; before = len(k)
#endif
		:: else -> before = len(k)
		fi;
		move();
		state = KERNEL
	:: atomic { state != STREAM }
	fi
}

/* Ends with @c records from @v on written. */
inline write(v, c)
{
	do
	:: state == ARMED ->
		if
		:: atomic { state == ARMED -> state = STREAM }
		:: atomic { state == ARMED || state == KERNEL -> k!v; put = 1 }; break
		:: atomic { state != ARMED }
		fi
	:: state == KERNEL -> k!v; put = 1; break
	:: state == TO_R -> state != TO_R
	:: state == STREAM ->
		LOAD_TAIL;
#ifdef M_OVERTAKE
		if
		:: k!v; put = 1; break
		:: skip
		fi;
#endif
		if
		:: tc
		:: !tc && ta && c == 2 && td ->
#ifndef M_STALE
			wseen = t;
#endif
			atomic {
				if
				:: SAME -> asleep = false; dry = false;
					waking = true; mine = true
				:: else -> mine = false
				fi
			};
			if
			:: mine ->
				ring[t % SIZE] = v + 1;
				atomic {
					if
					:: tpos == t && waking && !tclosed ->
						tpos++
					:: else -> mine = false
					fi
				};
				if
				:: mine -> k!v; put = 2
				:: else
				fi;
				waking = false;
				if
				:: put != 0 -> break
				:: else
				fi
			:: else
			fi
		:: !tc && ta && !(c == 2 && td) ->
			wseen = t;
			atomic {
				if
				:: SAME -> asleep = false; dry = false;
					waking = true; mine = true
				:: else -> mine = false
				fi
			};
			if
			:: mine -> k!v; waking = false; put = 1; break
			:: else
			fi
		:: !tc && !ta && t - wseen == SIZE && wseen != hpos ->
			wseen = hpos
		:: !tc && !ta && t - wseen == SIZE && wseen == hpos ->
			tpos - hpos < SIZE || state != STREAM
		:: !tc && !ta && t - wseen != SIZE ->
			ring[t % SIZE] = v;
			/* a handler: it gives up, or nothing happens */
			if
			:: skip
#ifdef M_NESTED
			:: !tclosed && tpos - hpos < SIZE && !asleep && state == STREAM &&
				v < N ->
				/* its own record, at the same place */
				atomic { ring[tpos % SIZE] = v + 1; tpos++ };
				ring[t % SIZE] = v
#else
			:: writer_gives_up()
#endif
			fi;
			atomic {
				if
				:: SAME -> tpos++; put = 1
				:: else
				fi
			};
			if
			:: put != 0 ->
#ifdef REACH1
				assert(nowhere);
#endif
				break
			:: else
			fi
		fi
	od
}

active proctype writer()
{
	byte v = 1, put, t, i, wseen;
	bool ta, tw, td, tc, mine;

	{
	do
	:: v <= N ->
		put = 0;
#ifdef LONG
		if
		:: write(v, 1)
		:: v < N -> write(v, 2)
		fi;
#else
		write(v, 1);
#endif
		atomic { done = done + put; v = v + put; put = 0; mine = false };
		if
		:: writer_gives_up()
		:: skip
		fi
	:: else -> break
	od;
	/* exit */
	do
	:: state == TO_R -> state != TO_R
	:: else -> writer_gives_up(); 
		if
		:: state == ARMED || state == KERNEL -> break
		:: else
		fi
	od
	} DIES(wkilled);
	wgone = true
}

#ifdef KILL
active proctype killer()
{
	wkilled = true
}
#endif

inline deliver(x)
{
	assert(x == want);
	want++
}

inline reader_gives_up()
{
	if
	:: atomic { state == STREAM -> state = TO_R };
#ifdef M_EARLY
		!waking || tpos == hpos || wgone;
#endif
		close_both();
#ifdef M_EARLY
		mine = true;
#else
		if
		:: !waking || tpos == hpos -> mine = true
		:: wgone && waking && tpos != hpos -> mine = false
		fi;
#endif
		if
		:: mine -> move()
		:: else
		fi;
		state = KERNEL
	:: atomic { state != STREAM }
	fi
}

/* A handler may give the ring up while the reader sleeps. */
inline kernel_read()
{
	inread = true;
	if
	:: state == TO_W -> inread = false; goto again
	:: else
	fi;
	if
	:: state == STREAM -> inread = false; reader_gives_up()
	:: atomic { k?x -> deliver(x) };
		got = true;
		inread = false;
		/* the ring's bytes may follow at once */
		LOAD_TAIL;
		if
		:: state == STREAM && !tc && !ta && len(k) == 0 &&
			!(tw && kern != SLEPT) -> kern = EMPTY
		:: else
		fi
	:: atomic { wgone && len(k) == 0 } ->
		inread = false;
		LOAD_TAIL;
		if
		:: state == TO_W
		:: state != TO_W && (state != STREAM || tpos == hpos
#ifndef M_KEEP
			|| (kern == SLEPT && !got && tw)
#endif
			) -> ended = true
		:: else ->
#ifdef M_KEEP
			if
			:: kern == SLEPT && !got && tw -> kern = EMPTY
			:: else
			fi
#else
			skip
#endif
		fi
	fi
}

inline take()
{
	x = ring[hpos % SIZE];
	atomic {
		if
		:: !hclosed -> hpos++; mine = true
		:: else -> mine = false
		fi
	};
	if
	:: mine ->
#ifdef REACH3
		assert(!(state == TO_W && x == N) || nowhere);
#endif
		deliver(x)
	:: else
	fi
}

active proctype reader()
{
	byte x, t, i, rseen;
	bool ta, tw, td, tc, got, mine;
	mtype kern = UNKNOWN;

again:
	do
	:: ended -> break
	:: !ended && (state == ARMED || state == KERNEL) -> kernel_read()
	:: !ended && state == TO_W ->
		if
		:: state != TO_W
		:: atomic { state == TO_W && wgone } ->
#ifdef REACH2
			assert(nowhere);
#endif
			if
			:: tpos == hpos || len(k) > before -> state = KERNEL
			:: else -> tclosed = false; hclosed = false; state = STREAM
			fi
		fi
	:: !ended && state == STREAM ->
		LOAD_TAIL;
		if
		:: tc || hclosed
		:: !tc && !hclosed && kern != EMPTY ->
			if
			:: ta || len(k) != 0 -> kernel_read()
			:: !ta && len(k) == 0 ->
				if
				:: !tw || (kern == SLEPT && got) -> kern = EMPTY
#ifdef M_WOKEN
				:: tw -> kern = EMPTY
#endif
				:: tw && kern == SLEPT && !got -> kernel_read()
				:: tw && kern == UNKNOWN ->
					atomic {
						if
						:: SAME -> asleep = true; mine = true
						:: else -> mine = false
						fi
					};
					if
					:: mine -> kernel_read()
					:: else
					fi
				fi
			fi
		:: !tc && !hclosed && kern == EMPTY && t != hpos ->
			rseen = t;
			take()
		:: !tc && !hclosed && kern == EMPTY && t == hpos ->
			atomic {
				if
#ifdef M_BLIND
				:: !tclosed -> asleep = true; dry = true; mine = true
#else
				:: SAME -> asleep = true; dry = true; mine = true
#endif
				:: else -> mine = false
				fi
			};
			if
			:: mine -> kern = SLEPT; got = false; kernel_read()
			:: else
			fi
		fi
	:: !ended && state == STREAM && kern == EMPTY && rseen > hpos -> take()
	:: !ended && state == STREAM -> reader_gives_up()
	od;
	assert(want > done);
	assert(wkilled || want == N + 1)
}
