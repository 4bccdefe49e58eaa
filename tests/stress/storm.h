/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the parts of the storm share.  storm.c tells the whole.
 */
#ifndef TESTS_STRESS_STORM_H
#define TESTS_STRESS_STORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STORM_STREAMS 32
#define STORM_PASS 4	 /* senders of descriptors to one receiver */
#define STORM_LONGEST 30000
#define STORM_GONE 16	 /* the last streamsd that were killed */

enum storm_kind {
	STORM_PIPE,
	STORM_FIFO,
	STORM_SPX,
	STORM_TICOTS,
	STORM_TICOTSORD,
	STORM_TICLTS,
	STORM_UDP2,
	STORM_NKIND,
};

struct storm_stream {
	enum storm_kind kind;
	unsigned nr;
	int fd[2]; /* the sender's end, the receiver's */
	unsigned char to[64]; /* datagrams: the receiver's address */
	unsigned tolen;
	char path[96];	/* of a FIFO */
	size_t part;	/* bytes of a record that has not come whole */
	unsigned char in[STORM_LONGEST + 64];
};

/* What the two ends of a stream have done; each word has one writer. */
struct storm_tally {
	_Atomic uint64_t sent, got, gaps, drops;
	_Atomic uint32_t finished, last_came; /* of the last record */
};

/* Shared by all processes of a storm; zero at its beginning. */
struct storm_board {
	_Atomic uint32_t stop;	/* the senders end */
	_Atomic uint32_t over;	/* bystanders, plumbers, managers end */
	_Atomic uint32_t full;	/* receivers of datagrams end, one bit each */
	_Atomic uint32_t taken; /* the receiver of descriptors ends */
	struct storm_tally tally[STORM_STREAMS];
	struct {
		_Atomic uint64_t sent, got;
	} pass[STORM_PASS];
	_Atomic uint64_t passed_files, passed_streams;
	_Atomic uint64_t plumbed, looked;
	_Atomic uint64_t stopped_ns, stopped_since; /* one process at a time */
	_Atomic uint64_t ends, late, worst_raw, worst_net;
	_Atomic uint64_t victims_sent;
	/* What the kernel needed to end a killed streamsd, and then to start
	 * another program; 0: not yet. */
	_Atomic uint32_t ngone;
	struct storm_gone {
		_Atomic uint64_t at, ended, started;
		uint64_t waited; /* for a CPU, in all; ns */
		pid_t pid;
	} gone[STORM_GONE];
};

extern struct storm_board *storm;
extern struct storm_stream *storm_stream;
extern unsigned storm_n;   /* streams whose ends live */
extern uint64_t storm_bound; /* of an end of file; ns */

/* storm_wire.c: streams of all kinds. */
const char *storm_kind_name(enum storm_kind k);
bool storm_datagrams(enum storm_kind k);
void storm_open(struct storm_stream *s, enum storm_kind k, unsigned nr);
/* All but end @keep; 2: both are closed. */
void storm_close(struct storm_stream *s, int keep);
/* False: the other end has gone. */
bool storm_put(struct storm_stream *s, const void *buf, size_t n);
/* Bytes; 0: the end of file; -1: nothing has come for 100 ms. */
ssize_t storm_get(struct storm_stream *s, void *buf, size_t room);
uint64_t storm_drops(struct storm_stream *s);

/* storm_ends.c: records, their senders and receivers. */
void storm_send_one(struct storm_stream *s, struct storm_tally *t, bool last);
bool storm_try_one(struct storm_stream *s, struct storm_tally *t, bool last);
/* Takes what has come; false: the end of file, or the last record. */
bool storm_take(struct storm_stream *s, struct storm_tally *t);
void storm_sender(unsigned nr);
void storm_receiver(unsigned nr);

/* storm_others.c: processes that are in the way. */
void storm_bystander(unsigned mix);
void storm_plumber(unsigned nr, unsigned n);
/* From the supervisor.  Return: how many were killed. */
unsigned storm_kill_streamsd(void);

/* storm_pass.c: descriptors that are passed. */
void storm_pass_open(int fd[2]);
void storm_passer(unsigned nr, int fd, unsigned mix);
void storm_taker(int fd);

/* storm_victim.c: ends of file. */
void storm_manager(unsigned nr, unsigned kinds);

/* storm.c */
enum {
	STORM_BYSTANDERS = 1,	/* processes that hold all streams and look */
	STORM_KILLS = 2,	/* of bystanders */
	STORM_FORKS = 4,	/* by bystanders */
	STORM_EXECS = 8,	/* by bystanders */
	STORM_PLUMBING = 16,	/* modules are pushed and popped */
	STORM_PLUMBERS = 32,	/* plumbers are killed */
	STORM_STOPS = 64,	/* of any process but streamsd */
	STORM_FILES = 128,	/* descriptors of files are passed */
	STORM_PASSING = 256,	/* streams are passed */
	STORM_VICTIMS = 512,	/* ends are killed: ends of file */
	STORM_DAEMON = 1024,	/* streamsd is killed */
};
uint64_t storm_rand_below(uint64_t n);
void storm_seed(uint64_t seed);
bool storm_chance(unsigned one_in);
void storm_pause(unsigned most_ms);
pid_t storm_fork(void);
#endif
