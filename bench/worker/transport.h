/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef WORKER_TRANSPORT_H
#define WORKER_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * An implementation of a pipe, as the measurements see it.
 *
 * A channel has two ends.  In a one-way test end 0 sends and end 1
 * receives; a two-way channel can do both at both ends.  It is opened
 * before fork(); each process then keeps one end and lets the other go.
 */
struct ring;

struct end {
	int rfd; /* -1: there is none */
	int wfd; /* may be the same as rfd */
	struct ring *in;
	struct ring *out;
	uint64_t read_calls;
};

struct channel {
	const struct transport *transport;
	struct end ends[2];
};

struct transport {
	const char *name;
	int records; /* one receive returns one record, never more or less */

	/* 0, or -1 and errno. */
	int (*open)(struct channel *channel, int two_way);

	/* The process will use this end only.  0, or -1 and errno. */
	int (*keep)(struct channel *channel, int which);

	/* Blocks; n, or -1 and errno. */
	ssize_t (*send)(struct end *end, const void *buf, size_t n);

	/* Blocks for a whole message; n, 0 at the end, or -1 and errno. */
	ssize_t (*recv)(struct end *end, void *buf, size_t n);

	/* This end will not send any more, or not be used any more. */
	void (*hang_up)(struct end *end);
};

/* NULL-terminated; which ones depends on the program. */
extern const struct transport *const transports[];

/* Descriptor helpers, for the transports that are made of descriptors. */
void end_close_fds(struct end *end);
int channel_keep_fds(struct channel *channel, int which);
ssize_t end_send_all(struct end *end, const void *buf, size_t n);
ssize_t end_recv_all(struct end *end, void *buf, size_t n);
void channel_set_fds(
	struct channel *channel, int rfd0, int wfd0, int rfd1, int wfd1);

#endif
