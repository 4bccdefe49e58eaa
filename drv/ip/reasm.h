/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reassembly of fragments (RFC 791 s3.2, RFC 815, RFC 8200 s4.5).
 *
 * Objects.  A packet that is being reassembled has an entry in a table, and a
 * list of its fragments in order of their offsets.  The table consists of
 * chunks, which are allocated when all entries are in use and kept.
 *
 * Memory.  Only the bytes that are held count.  If a source holds more than
 * IP_REASM_EACH, its oldest packet is dropped.  If all together hold more than
 * IP_REASM_BYTES, or there is no memory, the oldest packet of the source that
 * holds the most is dropped.  So fragments of one source do not take the room
 * of another, unless that one holds more.
 *
 * Locks.  The caller makes one call at a time.
 *
 * Crash.  A thread that dies inside leaves `busy' set; the next caller drops
 * all packets, which a network may do.  The lists of fragments are changed by
 * single stores, so their memory is found and freed.
 */
#ifndef DRV_IP_REASM_H
#define DRV_IP_REASM_H

#include <str/ip.h>

#define IP_REASM_BYTES (16u << 20)
#define IP_REASM_EACH (4u << 20)
#define IP_REASM_CHUNK 64u
#define IP_REASM_CHUNKS 128u /* 8,192 packets */
#define IP_REASM_HASH 1024u
#define IP_REASM_PARTS 2048u /* fragments of a packet */
#ifndef STR_CRASH_POINTS
#define IP_REASM_LIFE 60000000000ull	/* ns: RFC 1122 s3.3.2, 8200 s4.5 */
#else
#define IP_REASM_LIFE 1000000000ull	/* tests wait for it */
#endif
#define IP_REASM_HDR 256u /* bytes of headers */

/* A fragment. */
struct ip_part {
	struct ip_part *next;
	uint32_t off, len;    /* of its data, in the packet's */
	uint32_t hlen;	      /* of the first: bytes of headers before it */
	unsigned char data[]; /* headers, data */
};

/* A packet that is being reassembled. */
struct ip_slot {
	uint32_t state;		/* 0: free */
	uint32_t tag;		/* the caller's: the wire */
	struct ip_addr src, dst;
	uint32_t id;
	uint8_t proto;		/* IPv4: part of the packet's identity */
	uint8_t next;		/* IPv6: first protocol of the data */
	uint16_t hlen;		/* bytes of headers; 0: no first fragment yet */
	uint16_t link;		/* IPv6: offset in the headers of the fragment
				 * header's type */
	uint16_t nparts;
	uint32_t total;		/* bytes of data; 0: no last fragment yet */
	uint32_t got;		/* bytes of data received */
	uint32_t high;		/* end of the received data */
	uint32_t bytes;		/* memory that it holds */
	uint64_t end;		/* when it is dropped */
	struct ip_part *first, *last;
	/* Links are numbers of slots + 1; 0: none. */
	uint16_t chain;		/* the next with the same hash; or free */
	uint16_t newer, older;	/* of the same source */
	/* Only of the oldest of a source: */
	uint16_t head;		/* the oldest of another source, same hash */
	uint16_t newest;
	uint32_t held;		/* bytes of all of that source */
};

struct ip_reasm {
	uint32_t busy;	 /* a thread is inside, or has died there */
	uint32_t resets; /* how often everything was dropped for that */
	uint64_t key;	 /* of the hashes; 0 until the first call */
	uint32_t nchunks;
	uint32_t bytes;	 /* held by all */
	uint16_t free;
	uint16_t chain[IP_REASM_HASH];
	uint16_t head[IP_REASM_HASH]; /* of sources */
	struct ip_slot *chunk[IP_REASM_CHUNKS];
};

/* Memory, zeroed, and random numbers; constant functions of the caller. */
struct ip_mem {
	void *(*get)(size_t n); /* NULL: there is none */
	void (*put)(void *p, size_t n);
	uint64_t (*random)(void);
};

/* Results of ip_reasm_add(). */
#define IP_HELD 0    /* others are missing */
#define IP_WHOLE 1   /* the packet is whole: ip_reasm_take() */
#define IP_REFUSED 2 /* it contradicts others: the packet is dropped */
#define IP_AGAIN 3   /* it was received before */
#define IP_NOROOM 4  /* no memory */

/*
 * ip_reasm_add - a fragment
 * @r: zeroed at first
 * @p: the fragment, in one piece, with the header @h
 * @now:  ns
 * @ret: the slot, if the packet is complete
 * Return: IP_HELD ...; *@lost is the number of other packets that were dropped
 * because of their age or to make room.
 */
int ip_reasm_add(struct ip_reasm *r, const struct ip_mem *mem, uint32_t tag,
	const unsigned char *p, const struct ip_hdr *h, uint64_t now,
	uint32_t *ret, uint32_t *lost);
/*
 * ip_reasm_len - length of the whole packet in @slot, in bytes
 * ip_reasm_take - copy the packet to @to, and free the slot
 */
uint32_t ip_reasm_len(const struct ip_reasm *r, uint32_t slot);
void ip_reasm_take(struct ip_reasm *r, const struct ip_mem *mem, uint32_t slot,
	unsigned char *to);
/*
 * ip_reasm_expire - drop one packet that is too old
 * @at: where the search continues; 0 at first
 * @ret: begin of its first fragment, of which *@ret_n bytes are valid, 0 if it
 * was not received; IP_REASM_HDR + 8 bytes of room
 * Return: 1, with its wire in *@tag; 0: there is none
 */
int ip_reasm_expire(struct ip_reasm *r, const struct ip_mem *mem, uint64_t now,
	uint32_t *at, uint32_t *tag, unsigned char *ret, uint32_t *ret_n);

#endif
