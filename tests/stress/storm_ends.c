/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The ends of the storm's streams.  A record carries the number of its stream,
 * its own number, its length, and a checksum over all of it; the receiver of
 * a stream knows what number comes next.  A datagram's receiver counts the
 * numbers that do not come: the sender's endpoint must have counted them, too.
 */
#include "storm.h"

#include <string.h>
#include <unistd.h>

#include "t.h"

struct record {
	uint32_t stream, len; /* of the data that follow */
	uint64_t seq;
	uint32_t last, sum;
};
#define MOST (STORM_LONGEST - sizeof(struct record))

static uint32_t
checksum(const struct record *r, const unsigned char *data)
{
	uint32_t h = 2166136261u, w;
	struct record head = *r;

	head.sum = 0;
	for (size_t i = 0; i < sizeof(head); i += 4) {
		memcpy(&w, (const char *)&head + i, 4);
		h = (h ^ w) * 16777619u;
	}
	for (uint32_t i = 0; i < r->len; i++)
		h = (h ^ data[i]) * 16777619u;
	return h;
}

/* The length, and the data, follow from the numbers. */
static uint32_t
length(const struct storm_stream *s, uint64_t seq)
{
	uint64_t z = (seq + 1) * 0x9e3779b97f4a7c15u + s->nr;

	z ^= z >> 29;
	switch (z % 16) {
	case 0:
		return (uint32_t)((z >> 8) % MOST);
	case 1: case 2: case 3: case 4: case 5:
		return (uint32_t)((z >> 8) % 2000);
	default:
		return (uint32_t)((z >> 8) % 64);
	}
}

bool
storm_try_one(struct storm_stream *s, struct storm_tally *t, bool last)
{
	static _Alignas(8) unsigned char buf[STORM_LONGEST];
	struct record *r = (void *)buf;
	uint64_t seq = t->sent;

	*r = (struct record){s->nr, length(s, seq), seq, last, 0};
	for (uint32_t i = 0; i < r->len; i++)
		buf[sizeof(*r) + i] = (unsigned char)(seq * 31 + i + s->nr);
	r->sum = checksum(r, buf + sizeof(*r));
	if (!storm_put(s, buf, sizeof(*r) + r->len))
		return false;
	t->sent = seq + 1;
	return true;
}

void
storm_send_one(struct storm_stream *s, struct storm_tally *t, bool last)
{
	if (!storm_try_one(s, t, last))
		T_FAIL("%s, stream %u: the sender is told of an end after %llu "
			"records; the receiver lives",
			storm_kind_name(s->kind), s->nr,
			(unsigned long long)t->sent);
}

/* A whole record at @data; true: it is not the last. */
static bool
check(struct storm_stream *s, struct storm_tally *t, const unsigned char *data)
{
	uint64_t want = t->got + t->gaps;
	struct record r;

	memcpy(&r, data, sizeof(r));
	if (r.stream != s->nr || r.len != length(s, r.seq) ||
		r.sum != checksum(&r, data + sizeof(r)))
		T_FAIL("%s, stream %u: record %llu (says stream %u, number "
			"%llu, length %u) is not as it was sent",
			storm_kind_name(s->kind), s->nr,
			(unsigned long long)want, r.stream,
			(unsigned long long)r.seq, r.len);
	if (r.seq < want || (r.seq > want && !storm_datagrams(s->kind)))
		T_FAIL("%s, stream %u: record %llu came instead of %llu",
			storm_kind_name(s->kind), s->nr,
			(unsigned long long)r.seq, (unsigned long long)want);
	t->gaps += r.seq - want;
	t->got++;
	if (r.last != 0)
		t->last_came = 1;
	return r.last == 0;
}

bool
storm_take(struct storm_stream *s, struct storm_tally *t)
{
	size_t at = 0, room = sizeof(s->in) - s->part;
	struct record r;
	ssize_t n;

	if (storm_chance(4) && !storm_datagrams(s->kind) && room > 100)
		room = 100;
	n = storm_get(s, s->in + s->part, room);
	if (n < 0)
		return true;
	if (n == 0)
		return false;
	s->part += (size_t)n;
	while (s->part - at >= sizeof(r)) {
		memcpy(&r, s->in + at, sizeof(r));
		if (r.len > MOST)
			T_FAIL("%s, stream %u: after record %llu comes none",
				storm_kind_name(s->kind), s->nr,
				(unsigned long long)t->got);
		if (s->part - at < sizeof(r) + r.len)
			break;
		if (!check(s, t, s->in + at))
			return false;
		at += sizeof(r) + r.len;
	}
	if (storm_datagrams(s->kind))
		T_EQ(at, s->part);
	s->part -= at;
	memmove(s->in, s->in + at, s->part);
	return true;
}

/* Sometimes many at once, sometimes none for a while. */
void
storm_sender(unsigned nr)
{
	struct storm_stream *s = &storm_stream[nr];
	struct storm_tally *t = &storm->tally[nr];

	while (storm->stop == 0) {
		for (uint64_t n = storm_rand_below(60); n > 0; n--)
			storm_send_one(s, t, false);
		storm_pause(storm_chance(3) ? 40 : 8);
	}
	storm_send_one(s, t, true);
	t->finished = 1;
	/* the receiver's endpoint may have refused datagrams still to come */
	while (storm_datagrams(s->kind) && (storm->full >> nr & 1) == 0) {
		t->drops = storm_drops(s);
		storm_pause(20);
	}
}

void
storm_receiver(unsigned nr)
{
	struct storm_stream *s = &storm_stream[nr];
	struct storm_tally *t = &storm->tally[nr];
	bool datagrams = storm_datagrams(s->kind);
	bool more = true;

	while (datagrams ? (storm->full >> nr & 1) == 0 : more) {
		more = storm_take(s, t);
		if (storm_chance(50))
			storm_pause(6);
	}
	if (!datagrams && t->last_came == 0)
		T_FAIL("%s, stream %u: an end after %llu of %llu records; the "
			"sender lives", storm_kind_name(s->kind), s->nr,
			(unsigned long long)t->got,
			(unsigned long long)t->sent);
}
