/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * tso - the memory the models run on.
 *
 * Purpose.  The protocols differ from the textbook in one point: the side
 * that does not sleep pays no fence.  What it stores may therefore become
 * visible after its next load.  x86-TSO has exactly this freedom, and it is
 * modelled here rather than assumed away.
 *
 * Objects.  mem[] is memory; sb[p] is the store buffer of processor p, first
 * in first out.  A process BUFFER(p) moves stores to memory at any moment.
 *
 * Rules.  STORE enters the buffer.  A locked operation starts by waiting for
 * the buffer of its own processor to be empty (DRAINED).  HEAVY is the fence
 * of the side that sleeps: membarrier(GLOBAL_EXPEDITED) empties every
 * buffer.  A processor never loads a variable that may be in its own buffer
 * in these models, so forwarding is not modelled.
 */
#ifndef SBLEN
#define SBLEN 2
#endif

byte mem[NVAR];
chan sb[NCPU] = [SBLEN] of { byte, byte };

proctype BUFFER(byte p)
{
	byte a, v;

end:	do
	:: atomic { sb[p]?a,v -> mem[a] = v; a = 0; v = 0 }
	od
}

#define STORE(p, a, v)	sb[p]!a,v
#define DRAINED(p)	(len(sb[p]) == 0)

/* Empty one buffer at once; the caller is inside atomic or d_step. */
hidden byte fl_a, fl_v;
inline flush(p)
{
	do
	:: sb[p]?fl_a,fl_v -> mem[fl_a] = fl_v
	:: empty(sb[p]) -> break
	od
}
