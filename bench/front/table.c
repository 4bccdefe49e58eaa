/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What can be measured.  The names are those of the result file.
 */
#include "strbench.h"

#include <assert.h>
#include <string.h>

#define PIPE     BIT(SUITE_PIPE)
#define RTT      BIT(SUITE_RTT)
#define ABLATION BIT(SUITE_ABLATION)
#define PERFTEST BIT(SUITE_PERFTEST)
#define IDLE     BIT(SUITE_IDLE)
#define OPEN     BIT(SUITE_OPEN)
#define TCP      BIT(SUITE_TCP)
#define UDP      BIT(SUITE_UDP)
#define LOOPBACK BIT(SUITE_LOOPBACK)
#define NETRTT   BIT(SUITE_NETRTT)
#define WIRE     BIT(SUITE_WIRE)
#define NETNS    BIT(SUITE_NETNS)
#define NICE     BIT(SUITE_NICE)

const char *const suite_names[N_SUITES] = {
	[SUITE_PIPE] = "pipe",
	[SUITE_RTT] = "rtt",
	[SUITE_ABLATION] = "ablation",
	[SUITE_PERFTEST] = "perftest",
	[SUITE_IDLE] = "idle",
	[SUITE_OPEN] = "open",
	[SUITE_TCP] = "tcp",
	[SUITE_UDP] = "udp",
	[SUITE_LOOPBACK] = "loopback",
	[SUITE_NETRTT] = "netrtt",
	[SUITE_WIRE] = "wire",
	[SUITE_NETNS] = "netns",
	[SUITE_NICE] = "nice",
	[SUITE_SIZES] = "sizes",
	[SUITE_PACED] = "paced",
	[SUITE_SERVERS] = "servers",
	[SUITE_CROWD] = "crowd",
	[SUITE_BUSY] = "busy",
	[SUITE_LIFE] = "life",
};

const char *const mode_names[N_MODES] = {
	[MODE_SAME] = "same",
	[MODE_SPLIT] = "split",
	[MODE_UNPINNED] = "unpinned",
};

/* A native endpoint, and a socket in another network namespace. */
#define WIRE_OUT(kind, what)                                               \
	{"wire-" kind "-out", "UDP, native, to there, by " what,           \
		PROGRAM_XTI, NETNS | NETRTT, NETNS | NETRTT, 0, NULL, 0, 0}
#define WIRE_IN(kind, what, usual)                                         \
	{"wire-" kind "-in", "UDP, native, from there, by " what,          \
		PROGRAM_XTI, NETNS | NETRTT, usual, 0, NULL, 0, 0}

/*
 * The same with the papers' artificial priorities.  Behind the one without:
 * they are to take turns, and are two of one point in suite nice.
 */
#define NICED(base, program, suites, usual, slow)                           \
	{base "-nice", "the same, sender nice -20, receiver nice 19 (A)",   \
		program, suites, usual, 0, base, 1, slow}

const struct implementation implementations[] = {
	{"pipe-linux", "pipe(2) of the kernel, read and write", PROGRAM_NATIVE,
		PIPE | RTT | IDLE | OPEN | NICE,
		PIPE | RTT | IDLE | OPEN | NICE, 0, NULL, 0, 0},
	NICED("pipe-linux", PROGRAM_NATIVE, NICE, NICE, 0),
	{"fifo-linux", "FIFO of the kernel, read and write", PROGRAM_NATIVE,
		PIPE | NICE, NICE, 0, NULL, 0, 0},
	NICED("fifo-linux", PROGRAM_NATIVE, NICE, NICE, 0),
	{"unix-stream", "AF_UNIX stream socket pair, read and write",
		PROGRAM_NATIVE, PIPE | RTT | IDLE | LOOPBACK | NETRTT | NICE,
		PIPE | RTT | LOOPBACK | NETRTT | NICE, 0, NULL, 0, 0},
	NICED("unix-stream", PROGRAM_NATIVE, NICE, NICE, 0),
	{"unix-seqpacket", "AF_UNIX seqpacket socket pair, read and write",
		PROGRAM_NATIVE, PIPE | RTT | IDLE | NICE, PIPE | NICE, 0,
		NULL, 0, 0},
	NICED("unix-seqpacket", PROGRAM_NATIVE, NICE, NICE, 0),
	{"pipe-streams", "STREAMS pipe, read and write", PROGRAM_STREAMS,
		PIPE | RTT | ABLATION | IDLE | OPEN | NICE,
		PIPE | RTT | ABLATION | IDLE | OPEN | NICE, 0, NULL, 0, 0},
	NICED("pipe-streams", PROGRAM_STREAMS, NICE, NICE, 0),
	{"fifo-streams", "STREAMS FIFO, read and write", PROGRAM_STREAMS,
		PIPE | NICE, NICE, 0, NULL, 0, 0},
	NICED("fifo-streams", PROGRAM_STREAMS, NICE, NICE, 0),
	{"pipe-streams-msg", "STREAMS pipe, putmsg and getmsg", PROGRAM_STREAMS,
		PIPE | RTT | IDLE | NICE, PIPE | RTT | NICE, 0,
		NULL, 0, 0},
	NICED("pipe-streams-msg", PROGRAM_STREAMS, NICE, NICE, 0),
	{"pipe-streams-nullmod", "STREAMS pipe with one module pushed",
		PROGRAM_STREAMS, PIPE | RTT | IDLE, PIPE, 0,
		NULL, 0, 0},
	{"pipe-streams-hold", "small writes coalesced (SNDHOLD)",
		PROGRAM_STREAMS, ABLATION, ABLATION, 0,
		NULL, 0, 0},
	{"pipe-streams-mread", "reads announced to the writer (SNDMREAD)",
		PROGRAM_STREAMS, ABLATION, ABLATION, 0,
		NULL, 0, 0},
	{"pipe-streams-rfill", "reads wait until they are filled (RFILL)",
		PROGRAM_STREAMS, ABLATION, ABLATION, 0,
		NULL, 0, 0},
	{"pipe-streams-srvmod", "a pushed module queues every message",
		PROGRAM_STREAMS, ABLATION, ABLATION, 0,
		NULL, 0, 0},
	{"pipe-streams-service",
		"the same, queues served and sleepers woken on every call",
		PROGRAM_STREAMS, ABLATION, ABLATION, 1,
		NULL, 0, 0},
	{"ring", "a bare 1 MiB byte ring in shared memory: the floor",
		PROGRAM_NATIVE, PIPE | RTT | IDLE, PIPE | RTT, 0,
		NULL, 0, 0},
	{"perftest", "perftest(8), asynchronous, on STREAMS pipes",
		PROGRAM_PERFTEST, PERFTEST, PERFTEST, 0,
		NULL, 0, 0},
	{"perftestn", "perftestn(8), the same on pipes of the kernel",
		PROGRAM_PERFTESTN, PERFTEST, PERFTEST, 0,
		NULL, 0, 0},
	{"tcp-sockets", "TCP, send and recv on sockets of the kernel (N)",
		PROGRAM_NATIVE, TCP | NETRTT | NICE, TCP | NETRTT | NICE, 0,
		NULL, 0, 0},
	NICED("tcp-sockets", PROGRAM_NATIVE, TCP | NICE, TCP | NICE, 0),
	{"tcp-xtios", "TCP, XTI over sockets: t_snd, t_rcv, /dev/tcp",
		PROGRAM_XTI, TCP | NETRTT | NICE, TCP | NETRTT | NICE, 0,
		NULL, 0, 0},
	NICED("tcp-xtios", PROGRAM_XTI, NICE, NICE, 0),
	{"sctp-xti", "SCTP, native: t_snd, t_rcv, /dev/sctp",
		PROGRAM_XTI, TCP | NETRTT | NICE, TCP | NETRTT | NICE, 0,
		NULL, 0, 0},
	NICED("sctp-xti", PROGRAM_XTI, NICE, NICE, 0),
	{"sctp-xti-full", "the same, in packets through lo: T_SCTP_LOCHECK",
		PROGRAM_XTI, TCP | NETRTT, 0, 0, NULL, 0, 0},
	{"udp-sockets", "UDP, send and recv on sockets of the kernel (N)",
		PROGRAM_NATIVE, UDP | NETRTT | WIRE | NICE,
		UDP | NETRTT | WIRE | NICE, 0, NULL, 0, 0},
	NICED("udp-sockets", PROGRAM_NATIVE, UDP | NICE, NICE, 1),
	{"udp-xtios", "UDP, XTI over sockets: t_sndudata, t_rcvudata, /dev/udp",
		PROGRAM_XTI, UDP | NETRTT | NICE, UDP | NETRTT | NICE, 0,
		NULL, 0, 0},
	NICED("udp-xtios", PROGRAM_XTI, NICE, NICE, 0),
	{"udp-xti", "UDP, native: t_sndudata, t_rcvudata, /dev/udp2",
		PROGRAM_XTI, UDP | NETRTT | NICE, UDP | NETRTT | NICE, 0,
		NULL, 0, 0},
	NICED("udp-xti", PROGRAM_XTI, NICE, NICE, 0),
	{"udp-xti-out", "UDP, native, to a socket of the kernel (wire)",
		PROGRAM_XTI, WIRE, WIRE, 0, NULL, 0, 0},
	{"udp-xti-in", "UDP, native, from a socket of the kernel (wire)",
		PROGRAM_XTI, WIRE, WIRE, 0, NULL, 0, 0},
	{"udp-sockets-netns", "UDP, sockets, between two network namespaces",
		PROGRAM_NATIVE, NETNS | NETRTT, NETNS | NETRTT, 0, NULL, 0, 0},
	WIRE_OUT("socket", "kernel sockets"),
	WIRE_IN("socket", "kernel sockets", NETNS),
	WIRE_OUT("raw", "raw sockets"),
	WIRE_IN("raw", "raw sockets", 0),
	WIRE_OUT("packet", "a packet socket"),
	WIRE_IN("packet", "a packet socket", NETNS),
	WIRE_OUT("tun", "a TUN device"),
	WIRE_IN("tun", "a TUN device", NETNS),
	{"ticotsord", "the loopback transport with connections, t_snd, t_rcv",
		PROGRAM_XTI, LOOPBACK | NETRTT | NICE, LOOPBACK | NETRTT | NICE,
		0, NULL, 0, 0},
	NICED("ticotsord", PROGRAM_XTI, NICE, NICE, 0),
	{"ticlts", "the loopback transport for datagrams",
		PROGRAM_XTI, LOOPBACK | NETRTT | NICE, LOOPBACK | NETRTT | NICE,
		0, NULL, 0, 0},
	NICED("ticlts", PROGRAM_XTI, NICE, NICE, 0),
	{"unix-dgram", "AF_UNIX datagram socket pair, send and recv",
		PROGRAM_NATIVE, LOOPBACK | NETRTT | NICE,
		LOOPBACK | NETRTT | NICE, 0, NULL, 0, 0},
	NICED("unix-dgram", PROGRAM_NATIVE, NICE, NICE, 0),
	{"raw-sockets", "raw IP, send and recv on sockets of the kernel",
		PROGRAM_NATIVE, NICE, NICE, 0, NULL, 0, 0},
	NICED("raw-sockets", PROGRAM_NATIVE, NICE, NICE, 1),
	{"raw-xti", "raw IP: t_sndudata, t_rcvudata, /dev/rawip2",
		PROGRAM_XTI, NICE, NICE, 0, NULL, 0, 0},
	NICED("raw-xti", PROGRAM_XTI, NICE, NICE, 0),
	/* Of the everyday suites alone, which name their own. */
	{"pipe-linux-1m", "pipe(2) of the kernel with 1 MiB (F_SETPIPE_SZ)",
		PROGRAM_NATIVE, 0, 0, 0, NULL, 0, 0},
	{"tcp-sockets-nodelay", "TCP, sockets with TCP_NODELAY",
		PROGRAM_NATIVE, 0, 0, 0, NULL, 0, 0},
	{"tcp-xtios-nodelay", "TCP, XTI over sockets with T_TCP_NODELAY",
		PROGRAM_XTI, 0, 0, 0, NULL, 0, 0},
};

/* Each has a bit of what --impl chooses. */
static_assert(sizeof(implementations) / sizeof(implementations[0]) <= 64,
	"more implementations than bits");

const size_t n_implementations =
	sizeof(implementations) / sizeof(implementations[0]);

const struct implementation *
implementation_find(const char *name)
{
	for (size_t i = 0; i < n_implementations; i++) {
		if (strcmp(implementations[i].name, name) == 0)
			return &implementations[i];
	}
	return NULL;
}

const char *
transport_name(const struct implementation *impl)
{
	return impl->transport != NULL ? impl->transport : impl->name;
}
