/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strtap - show or record the packets on wires; copy what flows in a pipe
 * between programs under strrun (lib/pipetap.c).
 *
 * A file has one link type.  A single wire that carries only IP packets gets
 * LINKTYPE_RAW.  All others get LINKTYPE_LINUX_SLL2, whose header says which
 * protocol follows, and which wire it was.
 *
 * Packets have times of the monotonic clock, which all processes share.  Its
 * difference to the time of day is determined once, so that a change of the
 * clock does not change the order.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <stropts.h>
#include <time.h>
#include <unistd.h>

#include <sys/ipwire.h>
#include "lib/packet.h"
#include "lib/pipetap.h"

#define IP_DEV "/dev/streams/clone/ip"

static struct tool tool = {
	.name = "strtap",
	.synopsis = "[-i WIRE] [-w FILE] [-c COUNT] [-s SNAPLEN]\n"
		    "[-w FILE] [-c COUNT] [-t SECONDS] PID[:FD]",
	.purpose = "Show the packets on wires, or write them to a pcap file; "
		   "copy a pipe.",
	.help =
	"  -i, --wire=WIRE         show only packets on this wire\n"
	"  -w, --write=FILE        write a pcap file, or the bytes of the pipe;\n"
	"                          -: standard output\n"
	"  -c, --count=COUNT       exit after this number of packets, or bytes\n"
	"  -s, --snaplen=SNAPLEN   keep this number of bytes of each packet\n"
	"  -t, --wait=SECONDS      wait so long for a read of the process; 30\n",
	.options = "i:w:c:s:t:",
};

static const struct option longs[] = {
	{ "wire", required_argument, NULL, 'i' },
	{ "write", required_argument, NULL, 'w' },
	{ "count", required_argument, NULL, 'c' },
	{ "snaplen", required_argument, NULL, 's' },
	{ "wait", required_argument, NULL, 't' },
	{ NULL, 0, NULL, 0 },
};

/*
 * The file format of pcap, with nanoseconds; numbers in the machine's byte
 * order.
 */
#define PCAP_MAGIC 0xa1b23c4du
#define PCAP_RAW 101u  /* a packet begins with its IP header */
#define PCAP_SLL2 276u /* ... with a struct sll2 */
#define PCAP_SNAP 262144u
struct pcap_file {
	uint32_t magic;
	uint16_t major, minor;
	int32_t zone;
	uint32_t sigfigs, snaplen, linktype;
};
struct pcap_packet {
	uint32_t sec, nsec, caplen, len;
};

/* Numbers in network byte order. */
struct sll2 {
	uint16_t proto; /* of Ethernet */
	uint16_t zero;
	uint32_t index; /* of the wire, plus 1 */
	uint16_t hatype;
	uint8_t pkttype;
	uint8_t halen;
	uint8_t addr[8]; /* the sender's */
};
#define HA_ETHER 1u	/* hatype: as ARPHRD_* of Linux */
#define HA_NONE 65534u
#define PKT_TO_US 0u	/* pkttype: as PACKET_* of Linux */
#define PKT_OUTGOING 4u

static char buf[sizeof(struct ipw_pkt) + 70000];
static struct wire {
	unsigned int index, kind;
	char name[IPW_NAMELEN];
} wires[64];
static const struct wire no_wire = { .name = "?" };
static unsigned int nwires;
static FILE *out;
static uint32_t linktype;
static int64_t apart; /* time of day less monotonic, ns */
static unsigned int drops;
static volatile sig_atomic_t ended;

static void
end(int sig)
{
	(void)sig;
	ended = 1;
}

/* Wait for a packet, or the end.  A signal after the check of `ended' ends the
 * wait, too. */
static void
wait_for(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };
	sigset_t ends, was;

	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &ends, &was);
	if (!ended && ppoll(&p, 1, NULL, &was) < 0 && errno != EINTR)
		tool_die(&tool, "poll");
	(void)sigprocmask(SIG_SETMASK, &was, NULL);
}

static int64_t
clock_ns(clockid_t id)
{
	struct timespec ts;

	(void)clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int
command(int fd, int cmd, void *arg, size_t len)
{
	struct strioctl ic = { cmd, 0, (int)len, arg };

	return ioctl(fd, I_STR, &ic);
}

static void
read_wires(int fd)
{
	struct ipw_info in;

	nwires = 0;
	memset(&in, 0, sizeof(in));
	while (nwires < 64 && command(fd, IPW_INFO, &in, sizeof(in)) == 0) {
		wires[nwires].index = in.index;
		wires[nwires].kind = in.conf.kind;
		memcpy(wires[nwires++].name, in.conf.name, IPW_NAMELEN);
		in.index++;
	}
}

/* The wire @index: the list is read again for an unknown one. */
static const struct wire *
wire_of(int fd, unsigned int index)
{
	for (int again = 0; again < 2; again++) {
		for (unsigned int i = 0; i < nwires; i++)
			if (wires[i].index == index)
				return &wires[i];
		if (again == 0)
			read_wires(fd);
	}
	return &no_wire;
}

/* The link type of a file of the wire @name, or of all. */
static uint32_t
linktype_of(int fd, const char *name)
{
	read_wires(fd);
	for (unsigned int i = 0; i < nwires; i++)
		if (strcmp(wires[i].name, name) == 0 &&
			wires[i].kind != IPW_PACKET)
			return PCAP_RAW;
	return PCAP_SLL2;
}

static uint32_t
header_size(void)
{
	return linktype == PCAP_SLL2 ? sizeof(struct sll2) : 0;
}

static void
file_header(unsigned int snap)
{
	struct pcap_file h = { PCAP_MAGIC, 2, 4, 0, 0,
		snap != 0 ? snap + header_size() : PCAP_SNAP, linktype };

	(void)fwrite(&h, sizeof(h), 1, out);
}

static void
write_sll2(int fd, const struct ipw_pkt *rec, const unsigned char *data)
{
	struct sll2 h = { .index = htonl(rec->wire + 1u),
		.pkttype = rec->out ? PKT_OUTGOING : PKT_TO_US };

	h.hatype = htons(wire_of(fd, rec->wire)->kind == IPW_PACKET ?
		HA_ETHER : HA_NONE);
	h.proto = htons(rec->what == IPW_IS_ARP ? 0x0806 :
		rec->caplen != 0 && data[0] >> 4 == 6 ? 0x86dd : 0x0800);
	if (rec->what == IPW_IS_ARP && rec->caplen >= 14) {
		h.halen = 6;
		memcpy(h.addr, data + 8, 6);
	}
	(void)fwrite(&h, sizeof(h), 1, out);
}

static void
write_packet(int fd, const struct ipw_pkt *rec, const char *data)
{
	int64_t t = (int64_t)rec->time + apart;
	struct pcap_packet h = { (uint32_t)(t / 1000000000),
		(uint32_t)(t % 1000000000), rec->caplen + header_size(),
		rec->len + header_size() };

	(void)fwrite(&h, sizeof(h), 1, out);
	if (linktype == PCAP_SLL2)
		write_sll2(fd, rec, (const unsigned char *)data);
	(void)fwrite(data, 1, rec->caplen, out);
}

static void
print_packet(int fd, const struct ipw_pkt *rec, const char *data)
{
	int64_t t = (int64_t)rec->time + apart;
	time_t sec = (time_t)(t / 1000000000);
	char when[16];
	struct tm tm;

	(void)strftime(when, sizeof(when), "%T", localtime_r(&sec, &tm));
	fprintf(out, "%s.%06u %s %c ", when,
		(unsigned)(t % 1000000000 / 1000), wire_of(fd, rec->wire)->name,
		rec->out ? '>' : '<');
	packet_print(out, rec, (const unsigned char *)data);
}

/* The next packet; 0: there is none (now). */
static int
next(int fd, struct ipw_pkt *rec)
{
	struct strbuf data = { sizeof(buf), 0, buf };
	int flags = 0;

	if (getmsg(fd, NULL, &data, &flags) < 0) {
		if (errno != EINTR && errno != EAGAIN)
			tool_die(&tool, "getmsg");
		return 0;
	}
	if (data.len < (int)sizeof(*rec))
		return 0;
	memcpy(rec, buf, sizeof(*rec));
	if (rec->caplen > (unsigned)data.len - sizeof(*rec))
		rec->caplen = (unsigned)data.len - (unsigned)sizeof(*rec);
	drops = rec->drops;
	return 1;
}

static bool
is_idle(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, 0) == 0;
}

static unsigned long
take(int fd, bool file, long count)
{
	struct ipw_pkt rec;
	unsigned long n = 0;
	bool stopped = false;

	while (count == 0 || n < (unsigned long)count) {
		if (ended && !stopped) {
			/* packets that have arrived are not lost */
			(void)command(fd, IPW_STOP, NULL, 0);
			stopped = true;
		}
		if (!next(fd, &rec)) {
			if (stopped)
				break;
			wait_for(fd);
			continue;
		}
		n++;
		if (file)
			write_packet(fd, &rec, buf + sizeof(rec));
		else
			print_packet(fd, &rec, buf + sizeof(rec));
		if (ferror(out) || (is_idle(fd) && fflush(out) != 0))
			tool_die(&tool, "write");
	}
	return n;
}

/* What the command line asks for. */
struct wish {
	struct ipw_tap tap;
	const char *file;
	long count, snap, wait_s;
	const char *pipe; /* PID[:FD]; NULL: packets */
};

static void
options(struct wish *w, int argc, char **argv)
{
	const char *wires_only = NULL;
	int c;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		switch (c) {
		case 'i':
			if (strlen(optarg) >= sizeof(w->tap.name))
				tool_usage(&tool, "not a wire: %s", optarg);
			strcpy(w->tap.name, optarg);
			wires_only = "-i";
			break;
		case 'w':
			w->file = optarg;
			break;
		case 'c':
			if (!tool_number(optarg, 1, 1l << 40, &w->count))
				tool_usage(&tool, "not a count: %s", optarg);
			break;
		case 's':
			if (!tool_number(optarg, 0, PCAP_SNAP, &w->snap))
				tool_usage(&tool, "not a length: %s", optarg);
			wires_only = "-s";
			break;
		case 't':
			if (!tool_number(optarg, 1, 86400, &w->wait_s))
				tool_usage(&tool, "SECONDS is a number from 1 "
					"to 86400");
			break;
		}
	}
	w->pipe = argv[optind];
	if (optind + 1 < argc)
		tool_usage(&tool, "too many arguments: %s", argv[optind + 1]);
	if (w->pipe != NULL && wires_only != NULL)
		tool_usage(&tool, "%s is not for pipes", wires_only);
	if (w->pipe == NULL && w->wait_s != 0)
		tool_usage(&tool, "-t is for pipes only");
	w->tap.snap = (unsigned)w->snap;
}

static void
open_output(const char *file)
{
	out = file == NULL || strcmp(file, "-") == 0 ? stdout :
		fopen(file, "we");
	if (out == NULL)
		tool_die(&tool, "%s", file);
}

static int
close_output(const char *file)
{
	if (out != stdout && fclose(out) != 0)
		tool_die(&tool, "%s", file);
	return tool_done(&tool, TOOL_OK);
}

static int
tap_pipe(const struct wish *w)
{
	struct insert in = {.tool = &tool, .asked_to_end = &ended,
		.wait_s = w->wait_s != 0 ? w->wait_s : 30};
	char *colon, text[64];
	long pid, fd = 0;
	uint64_t n;

	snprintf(text, sizeof(text), "%s", w->pipe);
	colon = strchr(text, ':');
	if (colon != NULL)
		*colon = '\0';
	if (!tool_number(text, 1, INT32_MAX, &pid) || (colon != NULL &&
			!tool_number(colon + 1, 0, INT32_MAX, &fd)))
		tool_usage(&tool, "PID and FD are numbers");
	open_output(w->file);
	n = pipe_tap(&in, pid, fd, out, (uint64_t)w->count);
	tool_warn(&tool, "%ju bytes", (uintmax_t)n);
	return close_output(w->file);
}

static int
tap_wires(const struct wish *w)
{
	struct ipw_tap want = w->tap;
	unsigned long n;
	int fd;

	fd = open(IP_DEV, O_RDWR);
	if (fd < 0)
		tool_die(&tool, "%s", IP_DEV);
	open_output(w->file);
	apart = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	if (command(fd, IPW_TAP, &want, sizeof(want)) < 0)
		tool_die(&tool, "%s", want.name[0] ? want.name : IP_DEV);
	linktype = linktype_of(fd, want.name);
	if (w->file != NULL)
		file_header(want.snap);
	if (fflush(out) != 0)
		tool_die(&tool, "write");
	if (!tool.quiet) {
		fprintf(stderr, "strtap: showing packets on %s\n",
			want.name[0] ? want.name : "all wires");
		(void)fflush(stderr);
	}
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	n = take(fd, w->file != NULL, w->count);
	if (!tool.quiet)
		fprintf(stderr, "strtap: %lu packets, %u lost\n", n, drops);
	return close_output(w->file);
}

int
main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = end };
	struct wish w = { .file = NULL };

	options(&w, argc, argv);
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	return w.pipe != NULL ? tap_pipe(&w) : tap_wires(&w);
}
