/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef WORKER_TRANSPORT_H
#define WORKER_TRANSPORT_H

#include <stdatomic.h>
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
struct net;

struct address {
	unsigned int len; /* 0: the provider's choice */
	unsigned char bytes[128];
};

struct end {
	int rfd; /* -1: there is none */
	int wfd; /* may be the same as rfd */
	struct ring *in;
	struct ring *out;
	uint64_t read_calls;
	int over;            /* the peer has said that it sends no more */
	struct address peer; /* where datagrams go */
	/* Datagrams, both ends in one worker: see end_say_over(). */
	atomic_int *heard; /* by the peer: our last word */
	atomic_int *told;  /* by us: the peer's */
};

struct channel {
	const struct transport *transport;
	size_t bufsize; /* of socket buffers; 0: the system's choice */
	int absent;     /* open() failed because there is no such thing here */
	struct end ends[2];
};

struct transport {
	const char *name;
	int records;   /* one receive returns one record, never more or less */
	int datagrams; /* no end of its own, and what does not fit is lost */

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

	/* How the two ends find each other; NULL: they are made together. */
	const struct net *net;
};

/*
 * Two ends that find each other by address, here or on two hosts.  end 1
 * offers itself, end 0 reaches for it, end 1 takes it, end 0 sees that it was
 * taken: in this order no step waits for the next one.  Addresses go in as
 * what is wanted and come out as what was got.  0, or -1 and errno.
 */
struct net {
	const char *device; /* NULL: sockets of the kernel */
	int family;         /* of sockets that create() makes */
	int loopback;       /* addresses are a provider's own, not the IP's */
	int stream;
	int raw; /* IP, the super-user's; a port is the protocol's number */

	int (*offer)(const struct net *net, struct end *end,
		struct address *at, size_t bufsize);
	int (*reach)(const struct net *net, struct end *end,
		const struct address *to, struct address *mine, size_t bufsize);
	/* from may be NULL: datagrams of anybody. */
	int (*take)(const struct net *net, struct end *end,
		const struct address *from, size_t bufsize);
	int (*reached)(const struct net *net, struct end *end);

	/* As take, of a stream; the end that was offered goes on listening. */
	int (*accept)(const struct net *net, struct end *listener,
		struct end *end, size_t bufsize);

	/* An end without an address. */
	int (*create)(const struct net *net, struct end *end);

	/* Datagrams: sends an empty one, the sign for the end. */
	int (*mark)(struct end *end);

	const struct apart *apart; /* NULL: both ends on 127.0.0.1 */
};

/* The ends in two network namespaces, netns.h. */
struct apart {
	int there;	   /* which end is the socket that is "there" */
	uint32_t address;  /* of the other one */
	int (*wire)(void); /* makes what that one uses; NULL: sockets.  As open */
};

/* NULL-terminated; which ones depends on the program. */
extern const struct transport *const transports[];

/* Channels of transports that have a net, both ends in this process. */
int net_open(struct channel *channel, int two_way);

/* The memory in which ends of datagrams tell each other; 0, or -1. */
int channel_share_ends(struct channel *channel);
struct address net_address_ipv4(uint32_t host, unsigned int port);

/* A datagram has come; n, or 0 when it is the peer's last word. */
ssize_t end_datagram_in(struct end *end, ssize_t n);

/*
 * Datagrams: says that the end has come until the peer has heard it, because
 * the first mark may be lost.
 */
void end_say_over(const struct transport *transport, struct end *end);

/*
 * transport_fifo.c: a FIFO that has no name any more; 0, or -1 and errno.  The
 * path is announced before it is opened.
 */
int fifo_open(struct channel *channel, void (*announce)(const char *path));

/* Descriptor helpers, for the transports that are made of descriptors. */
void end_close_fds(struct end *end);
int channel_keep_fds(struct channel *channel, int which);
ssize_t end_send_all(struct end *end, const void *buf, size_t n);
ssize_t end_recv_all(struct end *end, void *buf, size_t n);
void channel_set_fds(
	struct channel *channel, int rfd0, int wfd0, int rfd1, int wfd1);

#endif
