/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strtap - show or record the packets on wires.
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
#include <str/ip.h>

#include "lib/tool.h"

#define IP_DEV "/dev/streams/clone/ip"

static struct tool tool = {
	.name = "strtap",
	.synopsis = "[-i WIRE] [-w FILE] [-c COUNT] [-s SNAPLEN]",
	.purpose = "Show the packets on wires, or write them to a file in the "
		   "format of pcap.",
	.help =
	"  -i, --wire=WIRE         of this one only\n"
	"  -w, --write=FILE        to a file; -: to standard output\n"
	"  -c, --count=COUNT       end after so many\n"
	"  -s, --snaplen=SNAPLEN   so many bytes of each\n",
	.options = "i:w:c:s:",
};

static const struct option longs[] = {
	{ "wire", required_argument, NULL, 'i' },
	{ "write", required_argument, NULL, 'w' },
	{ "count", required_argument, NULL, 'c' },
	{ "snaplen", required_argument, NULL, 's' },
	{ NULL, 0, NULL, 0 },
};

/*
 * The file format of pcap, with nanoseconds; numbers in the machine's byte
 * order.
 */
#define PCAP_MAGIC 0xa1b23c4du
#define PCAP_RAW 101u /* a packet begins with its IP header */
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

static char buf[sizeof(struct ipw_pkt) + 70000];
static struct { unsigned int index; char name[IPW_NAMELEN]; } wires[64];
static unsigned int nwires;
static FILE *out;
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

/* The name of a wire: the list is read again for an unknown one. */
static const char *
wire_name(int fd, unsigned int index)
{
	struct ipw_info in;

	for (unsigned int i = 0; i < nwires; i++)
		if (wires[i].index == index)
			return wires[i].name;
	nwires = 0;
	memset(&in, 0, sizeof(in));
	while (nwires < 64 && command(fd, IPW_INFO, &in, sizeof(in)) == 0) {
		wires[nwires].index = in.index;
		memcpy(wires[nwires++].name, in.conf.name, IPW_NAMELEN);
		in.index++;
	}
	for (unsigned int i = 0; i < nwires; i++)
		if (wires[i].index == index)
			return wires[i].name;
	return "?";
}

static void
file_header(unsigned int snap)
{
	struct pcap_file h = { PCAP_MAGIC, 2, 4, 0, 0,
		snap != 0 ? snap : PCAP_SNAP, PCAP_RAW };

	(void)fwrite(&h, sizeof(h), 1, out);
}

static void
write_packet(const struct ipw_pkt *rec, const char *data)
{
	int64_t t = (int64_t)rec->time + apart;
	struct pcap_packet h = { (uint32_t)(t / 1000000000),
		(uint32_t)(t % 1000000000), rec->caplen, rec->len };

	(void)fwrite(&h, sizeof(h), 1, out);
	(void)fwrite(data, 1, rec->caplen, out);
}

static void
print_end(const struct ip_addr *a, bool ports, unsigned int port)
{
	char text[INET6_ADDRSTRLEN];

	(void)inet_ntop(a->len == 4 ? AF_INET : AF_INET6, a->b, text,
		sizeof(text));
	fputs(text, out);
	if (ports)
		fprintf(out, ".%u", port);
}

static void
print_packet(int fd, const struct ipw_pkt *rec, const char *data)
{
	const unsigned char *p = (const unsigned char *)data;
	int64_t t = (int64_t)rec->time + apart;
	time_t sec = (time_t)(t / 1000000000);
	bool ports = false;
	struct udp_hdr u = { 0, 0, 0, 0 };
	struct ip_hdr h;
	char when[16];
	struct tm tm;

	(void)strftime(when, sizeof(when), "%T", localtime_r(&sec, &tm));
	fprintf(out, "%s.%06u %s %c ", when,
		(unsigned)(t % 1000000000 / 1000), wire_name(fd, rec->wire),
		rec->out ? '>' : '<');
	if (ip_parse(p, rec->caplen, rec->len, IP_TRUST, &h) != 0) {
		fprintf(out, "%u bytes\n", rec->len);
		return;
	}
	if (h.proto == 17 && h.frag == 0)
		ports = udp_parse(p + h.hlen, rec->caplen - h.hlen,
			rec->len - h.hlen, &u) == 0 || h.more;
	print_end(&h.src, ports, u.sport);
	fputs(" > ", out);
	print_end(&h.dst, ports, u.dport);
	if (ports)
		fprintf(out, ": UDP %u", u.len - 8u);
	else
		fprintf(out, ": protocol %u, %u", h.proto, h.len);
	if (h.more || h.frag != 0)
		fprintf(out, " (fragment %x, %u bytes from %u%s)", h.id, h.len,
			h.frag, h.more ? "" : ", last");
	fputc('\n', out);
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
			write_packet(&rec, buf + sizeof(rec));
		else
			print_packet(fd, &rec, buf + sizeof(rec));
		if (ferror(out) || (is_idle(fd) && fflush(out) != 0))
			tool_die(&tool, "write");
	}
	return n;
}

int
main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = end };
	struct ipw_tap want;
	const char *file = NULL;
	long count = 0, snap = 0;
	unsigned long n;
	int c, fd;

	memset(&want, 0, sizeof(want));
	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) >= 0) {
		switch (c) {
		case 'i':
			if (strlen(optarg) >= sizeof(want.name))
				tool_usage(&tool, "not a wire: %s", optarg);
			strcpy(want.name, optarg);
			break;
		case 'w':
			file = optarg;
			break;
		case 'c':
			if (!tool_number(optarg, 1, 1l << 40, &count))
				tool_usage(&tool, "not a count: %s", optarg);
			break;
		case 's':
			if (!tool_number(optarg, 0, PCAP_SNAP, &snap))
				tool_usage(&tool, "not a length: %s", optarg);
			break;
		}
	}
	if (optind < argc)
		tool_usage(&tool, "what is %s?", argv[optind]);
	fd = open(IP_DEV, O_RDWR);
	if (fd < 0)
		tool_die(&tool, "%s", IP_DEV);
	out = file == NULL || strcmp(file, "-") == 0 ? stdout :
		fopen(file, "we");
	if (out == NULL)
		tool_die(&tool, "%s", file);
	apart = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	want.snap = (unsigned)snap;
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	if (command(fd, IPW_TAP, &want, sizeof(want)) < 0)
		tool_die(&tool, "%s", want.name[0] ? want.name : IP_DEV);
	if (file != NULL)
		file_header(want.snap);
	if (fflush(out) != 0)
		tool_die(&tool, "write");
	if (!tool.quiet) {
		fprintf(stderr, "strtap: looking at %s\n",
			want.name[0] ? want.name : "all wires");
		(void)fflush(stderr);
	}
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	n = take(fd, file != NULL, count);
	if (!tool.quiet)
		fprintf(stderr, "strtap: %lu packets, %u lost\n", n, drops);
	if (out != stdout && fclose(out) != 0)
		tool_die(&tool, "%s", file);
	return tool_done(&tool, TOOL_OK);
}
