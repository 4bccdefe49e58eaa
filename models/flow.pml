/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * flow - writers that sleep at high water, and the reader that back-enables.
 *
 * Purpose.  The flow control rules of SVR4 hold on a queue whose two ends
 * share no lock: QFULL is set when the count exceeds the high-water mark and
 * cleared only when the queue is empty or below the low-water mark; a
 * back-enable is sent once for each such clearing that found QWANTW, and
 * never otherwise; nobody waits for a queue that has room.
 *
 * Objects.  POS, RPOS, published and consumed (store buffered): their
 * difference is q_count.  flags, one word, changed by locked operations only:
 * QFULL, how often it was set, and one QWANTW bit for each writer that was
 * refused.  The number is there for a reader that counts, stands still, and
 * goes on when QFULL has been cleared and set again: its exchange must fail.  word[w], the
 * wake word of writer w.
 *
 * Writer.  canput: QFULL clear? write: publish; count > hiwat? set QFULL,
 * heavy fence, count again: if the reader has passed low water meanwhile, he
 * did not see QFULL, so clear it here, as he would.  QFULL set? sample word;
 * set QWANTW unless QFULL has gone, heavy fence, count again, clear or wait.
 * It is the count before sleeping that no wake-up is lost by, and that saves
 * the queue when the writer that set QFULL died before it counted.  The count
 * (and its fence) at the setting may be left out (LAZY) if whoever reports
 * "not writable", poll too, counts before he waits.
 *
 * Reader.  Store RPOS; load flags; QFULL and (count 0 or < lowat)? clear
 * QFULL and QWANTW by one exchange; whoever made the exchange that took QFULL
 * away back-enables those whose bits it took.
 *
 * Failure.  A reader that dies raises hup; a writer looks at it when its
 * stage-1 time-out ends (sleep.pml has stage 2), and fails with EPIPE.
 *
 * @check one_writer -DNW=1 -DRECS=6
 * @check empty_only -DNW=1 -DRECS=5 -DLOWAT=0 -DHIWAT=1
 * @check one_at_a_time -DNW=1 -DRECS=4 -DLOWAT=0 -DHIWAT=0
 * @check lazy_setter -DNW=1 -DRECS=6 -DLAZY
 * @check two_writers -DNW=2 -DRECS=2 -DHIWAT=0 -DLOWAT=0
 * @check two_writers_lazy -DNW=2 -DRECS=2 -DHIWAT=0 -DLOWAT=0 -DLAZY
 * @check kill_writer -DNW=2 -DRECS=1 -DRECS1=1 -DHIWAT=0 -DLOWAT=0 -DKILLW -DLAZY
 * @check kill_reader -DNW=1 -DRECS=5 -DKILLR
 * @check kill_reader_of_two -DNW=2 -DRECS=1 -DRECS1=1 -DHIWAT=0 -DLOWAT=0 -DKILLR -DLAZY
 * @find reaches_sleep assert=nowhere -DNW=1 -DRECS=4 -DREACH1
 * @find reaches_writer_clears assert=nowhere -DNW=1 -DRECS=4 -DREACH2
 * @find reaches_epipe assert=nowhere -DNW=1 -DRECS=4 -DKILLR -DREACH3
 * @find no_heavy_fence assert=ended -DNW=1 -DRECS=4 -DM_NOFENCE
 * @find no_count_at_all assert=ended -DNW=1 -DRECS=2 -DHIWAT=0 -DLOWAT=0 -DLAZY -DM_NOSLEEPCOUNT
 * @find no_count_before_sleep assert=ended -DNW=2 -DRECS=1 -DRECS1=1 -DHIWAT=0 -DLOWAT=0 -DKILLW -DM_NOSLEEPCOUNT
 * @find reader_loads_flags_first assert=ended -DNW=1 -DRECS=2 -DHIWAT=0 -DLOWAT=0 -DM_EARLYFLAGS
 * @find want_without_full assert -DNW=2 -DRECS=2 -DHIWAT=0 -DLOWAT=0 -DM_STRAYWANT
 * @find back_enable_always assert=owed -DNW=1 -DRECS=4 -DM_ALWAYS
 * @find full_without_generation assert=hysteresis -DNW=1 -DRECS=6 -DM_NOGEN
 * @find exchange_split assert -DNW=2 -DRECS=2 -DHIWAT=0 -DLOWAT=0 -DM_SPLIT
 * @find no_hysteresis assert=hysteresis -DNW=1 -DRECS=4 -DM_NOHYST
 * @find full_at_hiwat assert=strict -DNW=1 -DRECS=4 -DM_GE
 * @find no_back_enable assert=ended -DNW=1 -DRECS=4 -DM_NOWAKE
 * @find word_sampled_late assert=ended -DNW=1 -DRECS=4 -DM_LATESAMPLE
 * @find writer_clears_silently assert -DNW=2 -DRECS=2 -DHIWAT=0 -DLOWAT=0 -DM_SILENT
 * @find hup_not_looked_at assert=ended -DNW=1 -DRECS=4 -DKILLR -DM_NOHUP
 */
#define RD NW			/* the reader's processor */
#define NCPU (NW + 1)
#define NVAR 3
#define POS 0
#define RPOS 1
#define PLOCK 2
#include "tso.pml"

#ifndef HIWAT
#define HIWAT 2
#endif
#ifndef LOWAT
#define LOWAT 2
#endif
#ifndef RECS1
#define RECS1 (RECS - 1)	/* messages of the second writer */
#endif
#define QFULL 128

/* Without a killer there is no `unless', which would keep the search from
 * treating steps as independent (README.md). */
#if defined(KILLW)
#define WRITER_DIES(c) unless { c }
#else
#define WRITER_DIES(c)
#endif
#if defined(KILLR)
#define READER_DIES(c) unless { c }
#else
#define READER_DIES(c)
#endif

byte flags;
byte fgen;		/* how often QFULL was set; in code the same word */
byte word[NW];
bit asleep[NW];
bit killed[NCPU];
bit hup;

/* Ghosts. */
byte owed[NW];		/* refused and not yet back-enabled */
bit ended[NW];
bit hysteresis, strict, nowhere;
bit dead;

#ifdef M_NOFENCE
#define HEAVY skip
#else
inline heavy_all()
{
	d_step {
		flush(0);
		flush(1);
#if NW > 1
		flush(2);
#endif
		skip
	}
}
#define HEAVY heavy_all()
#endif

#define COUNT (mem[POS] - mem[RPOS])
#ifdef M_NOHYST
#define LOW(n) (n <= HIWAT)
#else
#define LOW(n) (n == 0 || n < LOWAT)
#endif

/* Clear QFULL with every QWANTW; back-enable those it took. */
inline clear_full(me)
{
#ifdef M_SPLIT
	w = flags & ~QFULL;
	isfull = (flags & QFULL) != 0 && fgen == g;
	atomic { DRAINED(me) -> flags = 0 };
#else
	atomic {
		DRAINED(me);
#ifdef M_NOGEN
		isfull = (flags & QFULL) != 0;
#else
		isfull = (flags & QFULL) != 0 && fgen == g;
#endif
		w = flags & ~QFULL;
		/* another writer may still have one message in its store
		 * buffer, and add one, being past canput */
		hysteresis = (!isfull || COUNT == 0 ||
			COUNT < (LOWAT == 0 -> 1 : LOWAT) + 2 * (NW - 1));
		assert(hysteresis);
		if
		:: isfull -> flags = 0
		:: else
		fi
	};
#endif
	if
#ifdef M_ALWAYS
	:: true -> w = 1;
#else
	:: isfull ->
#endif
		i = 0;
		do
		:: i < NW ->
			if
			:: (w >> i) & 1 ->
				atomic { assert(owed[i] > 0); owed[i]-- };
#ifndef M_NOWAKE
				word[i]++;
				asleep[i] = 0
#endif
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0
	:: else
	fi;
	w = 0; isfull = 0
}

#ifdef M_SILENT
inline clear_mine(me)
{
	atomic { DRAINED(me) -> flags = 0; owed[me] = 0; word[me]++ }
}
#else
#define clear_mine(me) clear_full(me)
#endif

proctype writer(byte me)
{
	byte k, n, w, i, g, val, tries;
	bit isfull, wait;

	{
	do
	:: k < (me == 0 -> RECS : RECS1) ->
		/* canput */
#ifndef M_LATESAMPLE
		val = word[me];
#endif
		if
		:: hup -> goto out
		:: else
		fi;
		if
		:: flags & QFULL -> goto refused
		:: else
		fi;
		/* write, under the writers' lock */
		atomic {
			DRAINED(me) && (mem[PLOCK] == 0 ||
				killed[mem[PLOCK] - 1]) ->
			mem[PLOCK] = me + 1
		};
		n = mem[POS] + 1;
		STORE(me, POS, n);
		n = n - mem[RPOS];
		STORE(me, PLOCK, 0);
		k++;
#ifdef M_GE
		if
		:: n >= HIWAT ->
#else
		if
		:: n > HIWAT ->
#endif
			/* strictly above, SVR4 putq(D3) */
			atomic {
				DRAINED(me);
				if
				:: flags & QFULL -> skip
				:: else -> flags = flags | QFULL; fgen++
				fi;
				g = fgen;
				strict = (n > HIWAT);
				assert(strict)
			};
#ifndef LAZY
			HEAVY;
			n = COUNT;
			if
			:: LOW(n) ->
#ifdef REACH2
				assert(nowhere);
#endif
				clear_mine(me)
			:: else
			fi
#else
			skip
#endif
		:: else
		fi;
		n = 0; g = 0;
		goto next;
refused:
#ifdef M_STRAYWANT
		atomic {
			DRAINED(me) -> flags = flags | (1 << me);
			g = fgen; wait = 1; owed[me]++
		};
#else
		atomic {
			DRAINED(me);
			if
			:: flags & QFULL ->
				if
				:: (flags >> me) & 1 -> skip
				:: else -> owed[me]++
				fi;
				flags = flags | (1 << me);
				g = fgen;
				wait = 1
			:: else
			fi
		};
#endif
		if
		:: wait ->
			HEAVY;
#ifndef M_NOSLEEPCOUNT
			n = COUNT;
			if
			:: LOW(n) -> clear_mine(me)
			:: else
			fi;
			n = 0;
#endif
#ifdef REACH1
			assert(nowhere);
#endif
#ifdef M_LATESAMPLE
			val = word[me];
#endif
			atomic {
				if
				:: word[me] == val -> asleep[me] = 1
				:: else
				fi
			};
end_wait:
			if
			:: !asleep[me]
#if defined(KILLR) && !defined(M_NOHUP)
			:: atomic { hup && asleep[me] -> asleep[me] = 0 }
#endif
#ifdef KILLW
			/* killed between exchange and wake: the time-out */
			:: atomic { asleep[me] && dead && tries < 2 ->
				asleep[me] = 0; tries++ }
#endif
			fi;
			wait = 0; g = 0
		:: else
		fi;
next:
		skip
	:: else -> break
	od;
out:
#ifdef REACH3
	assert(!hup || nowhere);
#endif
	ended[me] = 1
	} WRITER_DIES(killed[me]);
	atomic {
		k = 0; n = 0; w = 0; i = 0; g = 0; val = 0; tries = 0; isfull = 0;
		wait = 0
	}
}

proctype reader()
{
	byte rp, n, w, i, g;
	bit isfull;

	{
end:	do
	:: mem[POS] != rp ->
		rp++;
#ifdef M_EARLYFLAGS
		atomic { isfull = (flags & QFULL) != 0; g = fgen };
		STORE(RD, RPOS, rp);
#else
		STORE(RD, RPOS, rp);
		atomic { isfull = (flags & QFULL) != 0; g = fgen };
#endif
		/* The own RPOS may still be buffered: rp is what it is. */
		n = mem[POS] - rp;
		if
#ifdef M_ALWAYS
		:: LOW(n) -> clear_full(RD)
#else
		:: isfull && LOW(n) -> clear_full(RD)
#endif
		:: else
		fi;
		isfull = 0; n = 0; g = 0
	od
	} READER_DIES(killed[RD]);
	rp = 0; n = 0; w = 0; i = 0; g = 0; isfull = 0
}

#if defined(KILLW) || defined(KILLR)
active proctype killer()
{
#ifdef KILLW
#define VICTIM 0
#else
#define VICTIM RD
#endif
	atomic {
		flush(VICTIM);
		killed[VICTIM] = 1;
		dead = 1;
		hup = (VICTIM == RD)
	}
}
#endif

active proctype monitor()
{
	/* nothing moves: everybody has written everything, or was told */
	timeout ->
	assert(ended[0] || killed[0]);
#if NW > 1
	assert(ended[1]);
#endif
	assert(killed[RD] || COUNT == 0)
}

init {
	atomic {
		run BUFFER(0); run BUFFER(1);
		run writer(0);
#if NW > 1
		run BUFFER(2);
		run writer(1);
#endif
		run reader()
	}
}
