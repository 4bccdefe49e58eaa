/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * seg - the head read queue with two ends: a log of segments.
 *
 * Purpose.  Records are consumed in order and once; no segment is written
 * again while the consumer may still read it; an end may die at any step and
 * its successor finds the queue consistent.
 *
 * Objects.  base[s], the position of the first record of segment s; fill[s],
 * where it was sealed (OPEN while it is the tail); next[s]; tail, the
 * producers' place; head, the consumers'; pos, the published position, the
 * one store that makes a record exist; rpos, the consumed one; spare, a
 * segment on its way back, whose place a consumer only fills and a producer only
 * empties; the depot, where the rest comes from.
 *
 * Producer (one at a time).  Room: write the record, publish pos.  No room:
 * take the spare, or give it to the depot for another one, or one from the
 * depot; set its base, fill, next; seal the
 * tail; link it; move tail; then write the record in it and publish.  tail
 * moves before pos, because from then on the consumer may return the old one.
 *
 * Consumer (one at a time).  While rpos != pos: when the segment is consumed
 * up to its seal, move head to next and return the old one; else read, then
 * advance rpos.  It moves only with a record to fetch beyond the seal: the
 * segment at the end of the log always stays.
 *
 * Memory order.  Producer and consumer talk by stores in one direction each,
 * which x86-TSO shows in order; a store buffer only makes them later.  So none
 * is modelled.  On a weaker machine pos, rpos and the spare are stored with
 * release and loaded with acquire.
 *
 * Failure.  The successor of a dead producer follows next from tail to the
 * end and starts again at pos: an unpublished record never existed.  He may
 * as well (NOFOLLOW) link a new segment over the one the dead one linked,
 * which then belongs to nobody: both are right.  The
 * successor of a dead consumer starts at head and rpos.  A segment that only
 * the dead one held is lost to the queue (each names its owner: the audit
 * collects it), and never found twice.
 *
 * @check steady -DRECS=6
 * @check one_per_segment -DRECS=5 -DSEGSIZE=1
 * @check kill_producer -DRECS=5 -DKILLP
 * @check kill_producer_one_per_segment -DRECS=4 -DSEGSIZE=1 -DKILLP
 * @check kill_producer_not_followed -DRECS=4 -DSEGSIZE=1 -DKILLP -DNOFOLLOW
 * @check kill_consumer -DRECS=5 -DKILLC
 * @check kill_both -DRECS=4 -DSEGSIZE=1 -DKILLP -DKILLC
 * @find reaches_spare assert=nowhere -DRECS=5 -DREACH1
 * @find reaches_depot_return assert=nowhere -DRECS=5 -DSEGSIZE=1 -DREACH2
 * @find reaches_recovery assert=nowhere -DRECS=4 -DKILLP -DREACH3
 * @find publish_before_write assert=value -DRECS=2 -DM_EARLYPOS
 * @find publish_before_link assert -DRECS=3 -DM_LATELINK
 * @find stale_next assert -DRECS=6 -DSEGSIZE=1 -DKILLP -DM_STALENEXT
 * @find not_sealed assert -DRECS=4 -DM_NOSEAL
 * @find returned_before_read assert -DRECS=5 -DM_EARLYRETURN
 * @find returned_before_head_moves assert -DRECS=5 -DSEGSIZE=1 -DKILLC -DM_EARLYFREE
 * @find spare_replaced assert -DRECS=6 -DSEGSIZE=1 -DM_REPLACESPARE
 * @find consumer_runs_ahead assert -DRECS=4 -DSEGSIZE=1 -DKILLP -DM_AHEAD
 * @find tail_after_publish assert -DRECS=4 -DSEGSIZE=1 -DKILLP -DM_LATETAIL
 * @find advance_before_read assert=order -DRECS=3 -DKILLC -DM_EARLYRPOS
 */
#ifndef SEGSIZE
#define SEGSIZE 2
#endif
#ifndef NSEG
#define NSEG 4
#endif
#define OPEN 255
#define NONE 255

/* Without a killer there is no `unless', which would keep the search from
 * treating steps as independent (README.md). */
#if defined(KILLP)
#define PRODUCER_DIES(c) unless { c }
#else
#define PRODUCER_DIES(c)
#endif
#if defined(KILLC)
#define CONSUMER_DIES(c) unless { c }
#else
#define CONSUMER_DIES(c)
#endif

/* Ghost: where a segment is. */
#define DEPOT 0
#define HELD 1		/* by one process, on its way */
#define LINKED 2	/* in the log */
#define SPARE 3
byte where[NSEG];

byte base[NSEG];
byte fill[NSEG];
byte next[NSEG];
typedef slots { byte rec[SEGSIZE] };
slots seg[NSEG];

byte head, tail, pos, rpos;
byte spare = NONE;
bit pdead, cdead;	/* SIGKILL delivered */
bit pnew, cnew;		/* the successor works */
bit nowhere;

/* Ghosts. */
byte taken;		/* records that reached a reader */
bit value, order;

#define USED(s) (where[s] == LINKED)

/* A segment from the depot; there are more than can be in use. */
inline depot_get(s)
{
	atomic {
		s = 0;
		do
		:: s < NSEG && where[s] != DEPOT -> s++
		:: else -> break
		od;
		if
		:: s < NSEG -> where[s] = HELD
		:: else -> s = NONE
		fi
	}
}

inline depot_put(s)
{
	atomic { assert(where[s] == HELD); where[s] = DEPOT }
}

/* Only a producer empties the place of the spare, only a consumer fills it. */
inline segment_get(s, fresh)
{
	s = spare;
	if
	:: s != NONE ->
#ifdef REACH1
		assert(nowhere);
#endif
		atomic {
			assert(where[s] == SPARE);
			spare = NONE;
			where[s] = HELD
		};
		if
		:: skip
		:: depot_get(fresh);	/* it takes its turn with others */
			if
			:: fresh != NONE -> depot_put(s); s = fresh; fresh = NONE
			:: else
			fi
		fi
	:: else -> depot_get(s)
	fi
}

inline segment_put(s)
{
#ifdef M_REPLACESPARE
	old = spare;
	if
	:: old != NONE -> where[s] = SPARE; spare = s; where[old] = HELD; s = old
	:: else
	fi;
#endif
	if
	:: spare != NONE ->
#ifdef REACH2
		assert(nowhere);
#endif
		depot_put(s)
	:: else ->
		atomic {
			assert(where[s] == HELD && spare == NONE);
			where[s] = SPARE;
			spare = s
		}
	fi
}

/* What was written is told from what was left by the previous use. */
#define RECORD(p) ((p) + 1)

inline produce()
{
	do
	:: pos < RECS ->
		t = tail;
		assert(USED(t));
		if
		:: pos - base[t] < SEGSIZE && fill[t] == OPEN ->
#ifdef M_EARLYPOS
			pos++;
			seg[t].rec[pos - 1 - base[t]] = RECORD(pos - 1)
#else
			seg[t].rec[pos - base[t]] = RECORD(pos);
			pos++
#endif
		:: else ->
			segment_get(n, m);
			if
			:: n == NONE -> skip	/* ENOSR: try again later */
			:: else ->
				assert(where[n] == HELD);
				base[n] = pos;
				fill[n] = OPEN;
#ifndef M_STALENEXT
				next[n] = NONE;
#endif
				seg[n].rec[0] = 0;
#ifndef M_NOSEAL
				fill[t] = pos;
#endif
#ifdef M_LATELINK
				tail = n;
				seg[n].rec[0] = RECORD(pos);
				pos++;
				atomic { next[t] = n; where[n] = LINKED };
#else
				atomic { next[t] = n; where[n] = LINKED };
#ifndef M_LATETAIL
				tail = n;
#endif
				assert(USED(n));
				seg[n].rec[0] = RECORD(pos);
				pos++;
#ifdef M_LATETAIL
				tail = n;
#endif
#endif
				n = NONE
			fi
		fi;
		t = 0
	:: else -> break
	od
}

/* What the next holder of the producers' lock does after a death. */
inline recover()
{
#ifdef NOFOLLOW
	skip
#else
	t = tail;
	do
	:: assert(USED(t));
		if
		:: next[t] != NONE -> t = next[t];
#ifdef REACH3
			assert(nowhere);
#endif
			tail = t
		:: else -> break
		fi
	od;
	/* sealed without a successor: it is the tail, and open */
	if
	:: fill[t] != OPEN -> fill[t] = OPEN
	:: else
	fi
#endif
}

proctype producer()
{
	byte t, n = NONE, m = NONE;

	{ produce() } PRODUCER_DIES(pdead);
	if
	:: pdead ->
		atomic { t = 0; n = NONE; m = NONE };
		recover();
		produce()
	:: else
	fi
}

inline consume()
{
	do
	:: atomic { rpos == RECS -> break }
#ifdef M_AHEAD
	:: rpos != pos || fill[head] == rpos && next[head] != NONE ->
#else
	:: rpos != RECS && rpos != pos ->
#endif
		h = head;
		assert(USED(h));
		if
		:: fill[h] == rpos ->
			/* consumed up to its seal */
			n = next[h];
			assert(n != NONE);
#ifdef M_EARLYFREE
			where[h] = HELD;
			segment_put(h);
			head = n
#else
			atomic { head = n; where[h] = HELD };
			segment_put(h)
#endif
		:: else ->
			assert(base[h] <= rpos && rpos - base[h] < SEGSIZE);
#ifdef M_EARLYRPOS
			rpos++;
			atomic {
				value = (seg[h].rec[rpos - 1 - base[h]] ==
					RECORD(rpos - 1));
				taken++
			}
#elif defined(M_EARLYRETURN)
			/* the last record of a segment: return, then read */
			if
			:: next[h] != NONE && fill[h] == rpos + 1 ->
				atomic { head = next[h]; where[h] = HELD };
				segment_put(h)
			:: else
			fi;
			atomic {
				value = (seg[h].rec[rpos - base[h]] ==
					RECORD(rpos) && where[h] == LINKED);
				assert(value);
				taken++; rpos++
			}
#else
			/* read, then one store says that it is gone */
			atomic {
				assert(USED(h));
				value = (seg[h].rec[rpos - base[h]] ==
					RECORD(rpos));
				assert(value)
			};
			atomic {
				order = (taken == rpos);
				assert(order);
				taken++; rpos++
			}
#endif
		fi;
		h = 0; n = NONE
	od
}

proctype consumer()
{
	byte h, n = NONE, old = NONE;

	{ consume() } CONSUMER_DIES(cdead);
	if
	:: cdead ->
		atomic { h = 0; n = NONE; old = NONE };
		consume()
	:: else
	fi;
	order = (taken == RECS);
	assert(order)
}

#ifdef KILLP
active proctype killer_p()
{
	pdead = 1
}
#endif
#ifdef KILLC
active proctype killer_c()
{
	cdead = 1
}
#endif

init {
	atomic {
		/* an empty queue has one open segment */
		where[0] = LINKED;
		fill[0] = OPEN;
		next[0] = NONE;
		run producer();
		run consumer()
	}
}
