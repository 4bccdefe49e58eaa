/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The header of a domain, at the address where every member maps the domain.
 *
 * Objects.  A domain holds processes, threads and the arena.  A *process* is a
 * program image that has attached; a *thread* is one of its threads that has
 * made a call.  Both have slots in tables of fixed size, because lock words may
 * name them long after they have died.  The name of a thread is its *tag*: slot
 * index in the low bits, generation above it, never zero.  A tag is dead when
 * its slot has a later generation, or when its process is gone.
 *
 * Layout.  All fields have fixed widths and explicit padding; the arena begins
 * at STR_HDR_SIZE.  STR_ABI changes whenever the layout changes.
 *
 * Memory.  The file is sparse.  Backed from the beginning are the header up to
 * the slots of threads, and its end, which the host uses; the other tables are
 * backed as far as they have been used: `thread_room', `backed', and of slab[]
 * what describes the committed granules.  The rest of them must not be
 * accessed.
 *
 * Crash.  One compare-and-swap of `tag' (threads) or `gen' (processes) claims a
 * slot, and one store frees it.
 */
#ifndef STR_SHM_H
#define STR_SHM_H

#include <str/types.h>

#define STR_ABI 24u
#define STR_MAGIC 0x534d414552545331ull /* "1STREAMS" */

#define STR_NPROC 1024u
#define STR_NTHREAD 4096u
#define STR_TAG_IDX(tag) ((tag) & (STR_NTHREAD - 1))
#define STR_TAG(idx, gen) (((gen) << 12) | (idx))

#define STR_SLAB_SHIFT 16
#define STR_SLAB_SIZE (1u << STR_SLAB_SHIFT) /* arena granule, 64 KiB */
#define STR_NCLASS 16	/* depots of the allocator: core/mem/mem.h */
#define STR_NCLAIM 16	/* streams one thread may be inside at once */
#define STR_NCOOKIE 65536u /* entries of the directory */

#define STR_COOKIES 256u   /* of them are backed together: 4 KiB */

enum str_thread_state {
	STR_THR_RUN = 0,     /* running, or not in a call */
	STR_THR_FUTEX = 1,   /* asleep on words */
	STR_THR_CARRIER = 2, /* asleep on its carrier and bell */
	STR_THR_UNDONE = 3,  /* dead, some of its resources could not be
			      * freed */
	STR_THR_LATER = 4,   /* dead, the messages it took must still be put
			      * back */
};

/* A list of free blocks of one class, private to a thread. */
struct str_mag {
	void *head;	/* [O] newest, linked by next of struct str_blk */
	uint32_t count; /* [O] a hint; recounted when the owner died */
	uint32_t pad;
};

#define STR_NHAND 8u
struct str_thread {
	str_a32 tag;	/* [A] 0 = free slot; else this thread's name */
	str_a32 proc;	/* [A] index of its process; while a dead thread is
			 * being reaped, the reaper's tag */
	str_a32 state;	/* [A] enum str_thread_state */
	str_a32 tid;	/* [A] kernel thread id, for humans and tools */
	str_a64 asleep_on; /* [A] address of the head slept on, or 0 */
	str_a64 claim[STR_NCLAIM]; /* [A] plumbing entered; pairs with the
				    * heavy fence in str_plumb_lock() */
	str_a32 gen;	/* [A] survives the tag */
	str_a32 why;	/* [A] what it slept for last, STR_SLEEP_*: for tools */
	str_a64 hold[2];	/* [A] biased locks held, by kind: core/sync */
	str_a64 inside;	/* [A] head a call is on; a pipe is not freed under
			 * it.  Pairs with core/plumb/stream.c:is_inside */
	str_a64 word;	/* [A] address of the word it sleeps on, while
			 * asleep_on is that of a head: host/user/notice.c */
	str_a64 counted; /* [A] address of the counter, in a head queue, that
			  * counts it as a sleeping writer, or 0 */
	str_a64 sleeps;	/* [O] about how often it slept: for tools */
	str_a64 wakes;	/* [O] about how often it woke others: for tools */
	struct str_mag mag[2][STR_NCLASS]; /* [O] loaded and previous */
	str_a32 ddi_tag; /* [A] owner of the following fields: stale if not
			  * tag */
	str_a32 cvword;	/* [A] what it sleeps on */
	str_a64 cv;	/* [A] condition variable it waits for: core/ddi/sv.c */
	uint32_t cvseq;	/* [cv] its place in the order */
	uint32_t ddi_held; /* [O] locks of <sys/ksynch.h> it has */
	uint32_t ipl;	/* [O] level set by spl(9) */
	str_a32 parked; /* [A] 1: outside of all calls; a full fence follows
			 * before the next one.  host_fence_heavy() */
	str_a64 elided; /* [O] about how many wakes it saved: for tools */
	str_a64 held;	/* [O] a head it keeps a long-term reference to; with
			 * `moving': core/plumb/collect.c */
	str_a32 moving;	/* [O] references it is making or giving up */
	uint32_t pad3;
	str_a64 sharing; /* [O] data block whose references it counts, under
			  * its lock: core/msg/alloc.c */
	str_a64 share_mdb; /* [O] piece of a message that refers to it */
	str_a32 share_step; /* [O] the count before; STR_SHARE_DROP */
	uint32_t pad4;
	str_a64 late;	/* [O] a head whose sleeping reader it is to wake:
			 * core/head/wake.c */
	str_a64 hand[STR_NHAND]; /* [O] ring of the messages that it took last:
				  * core/msg/origin.h */
	uint8_t pad1[1024 - 304 - 8 * STR_NHAND - 2 * STR_NCLASS * sizeof(struct str_mag)];
} STR_LINE;

#define STR_SHARE_DROP 0x100u /* flag: count goes down by one; else up by one */
#define STR_NNODE 128u
#define STR_NSHARE 64u

struct str_proc {
	str_a32 gen;	/* [A] odd = in use */
	str_a32 pid;	/* [A] in the domain's pid namespace */
	str_a64 start;	/* [A] start time, field 22 of /proc/PID/stat */
	str_a64 bell;	/* [A] its bell's name in the socket directory; 0 = none */
	str_a64 image;	/* [A] distinguishes its image from one after exec */
	str_a32 flags;	/* [A] STR_PROC_* */
	str_a32 look;	/* [A] counts its rings: host/user/notice.c */
	str_a32 life;	/* [A] robust futex of streamsd: the same */
	uint32_t pad[5];
} STR_LINE;

#define STR_PROC_EXEC 1u /* image is being replaced by exec */
#define STR_PROC_DAEMON 4u /* it is streamsd */

/* One 64 KiB granule of the arena. */
struct str_slab {
	str_a32 kind;  /* [A] size class + 1, or STR_SLAB_*; 0 = not in use */
	str_a32 npage; /* [I] granules of a large run, in its first one */
	str_a64 next;  /* not used: free runs are in depots */
};

#define STR_SLAB_RUN 0x100u  /* first granule of a large run */
#define STR_SLAB_REST 0x101u /* the others */
#define STR_SLAB_FREE 0x102u /* not used: a free run is a STR_SLAB_RUN */

/* Carrier directory entry: cookie -> open file; streams have one as well. */
struct str_cookie {
	str_a64 cookie; /* [A] SO_COOKIE, or a stream's number with the top
			 * bit set; 0 empty, 1 deleted */
	str_a64 file;	/* [A] struct str_file *, 0 while being entered */
};

struct str_domain {
	uint64_t magic;	   /* [I] STR_MAGIC, stored last by the creator */
	uint32_t abi;	   /* [I] STR_ABI */
	uint32_t hdr_size; /* [I] sizeof(struct str_domain) */
	uint64_t base;	   /* [I] address of this header in every member */
	uint64_t cap;	   /* [I] bytes mapped */
	uint64_t room;	   /* [I] of these, what the file system can hold */
	uint32_t uid;	   /* [I] owner */
	uint32_t gid;	   /* [I] of each member, like the next two */
	uint64_t permitted; /* [I] capabilities, a bit each */
	uint64_t userns, pidns, netns; /* [I] namespaces, as the host has them */
	uint64_t sum;	   /* [I] over all above: str_domain_sum() */
	str_a32 ready;	   /* [A] the executive has initialised its part */
	str_a32 asym;	   /* [A] 1: every member has expedited membarrier;
			    * 0: light fences must be full ones */
	str_a32 eager;	   /* [A] 1: deliberately run queues on every call */
	str_a64 committed; /* [A] bytes backed by memory so far */
	str_a64 next_granule; /* [A] index of the first one never handed out */
	str_a32 thread_high; /* [A] thread slots ever used */
	str_a32 proc_high;   /* [A] process slots ever used */
	str_a32 thread_room; /* [A] thread slots backed, from the first on */
	uint32_t pad;
	str_a64 backed[STR_NCOOKIE / STR_COOKIES / 64]; /* [A] a bit for each
				* STR_COOKIES entries of the directory */
	str_a64 core[64];    /* the executive's roots, see core/core.h */
	str_a64 node[STR_NNODE]; /* [A] lists of nodes: core/plumb/node.c */
	/* Free lists by class: tag in the top 16 bits, see core/mem. */
	struct {
		str_a64 top[2];
		str_a32 turn;  /* [A] which one allocations use */
		str_a32 cpu;   /* [A] CPU of the last free */
		str_a32 grown; /* [A] granules given to it so far */
		uint8_t pad[36];
	} depot[STR_NCLASS];
	/* struct str_lock: counts of references to data blocks */
	struct {
		str_a64 lock;
		uint8_t pad[56];
	} share[STR_NSHARE];
	struct str_proc proc[STR_NPROC];
	struct str_thread thread[STR_NTHREAD];
	struct str_slab slab[(1ull << 32) / STR_SLAB_SIZE];
	struct str_cookie cookie[STR_NCOOKIE];
#if defined(__SANITIZE_THREAD__)
#define STR_NLAST 262144u
	uint16_t last[STR_NLAST]; /* [A] last writers: <str/tsan.h> */
#endif
};

#define STR_HDR_SIZE \
	STR_ROUNDUP(sizeof(struct str_domain), (uint64_t)STR_SLAB_SIZE)

/* The checksum (FNV-1a) of the fields that the creator sets once. */
STR_INLINE uint64_t
str_domain_sum(const void *d)
{
	const unsigned char *p = (const unsigned char *)d;
	uint64_t h = 0xcbf29ce484222325ull;
	uint32_t i;

	for (i = 0; i < offsetof(struct str_domain, sum); i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}

_Static_assert(sizeof(struct str_thread) == 1024, "thread slot size");
_Static_assert(sizeof(struct str_proc) == 64, "process slot size");
_Static_assert(STR_NCOOKIE % (STR_COOKIES * 64) == 0, "whole words of bits");

#endif
