/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strtap(8): what it writes is pcap, and is what went over the wire.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/ipwire.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../tools/run.h"
#include "pcap.h"
#include "t.h"

/* UDP from 192.0.2.1 port 1024 to 192.0.2.2 port 53: "abc" */
static const unsigned char udp4[] = {
	0x45, 0x00, 0x00, 0x1f, 0x12, 0x34, 0x40, 0x00,
	0x40, 0x11, 0xa4, 0x96, 0xc0, 0x00, 0x02, 0x01,
	0xc0, 0x00, 0x02, 0x02,
	0x04, 0x00, 0x00, 0x35, 0x00, 0x0b, 0x00, 0x00, 'a', 'b', 'c',
};
static const unsigned char other6[48] = {
	0x60, 0, 0, 0, 0, 8, 253, 64,
	0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
};

static int
command(int fd, int cmd, void *arg, size_t len)
{
	struct strioctl ic = { cmd, 0, (int)len, arg };

	return ioctl(fd, I_STR, &ic);
}

/* A tap of our own, by which packets come in on lo. */
static int
tap_lo(void)
{
	struct ipw_tap want = { "lo", 0, 0 };
	int fd = T_OK(open("/dev/ip", O_RDWR | O_NONBLOCK));

	T_OK(command(fd, IPW_TAP, &want, sizeof(want)));
	return fd;
}

static void
inject(int fd, const void *p, size_t n)
{
	struct strbuf data = { 0, (int)n, (char *)(uintptr_t)p };

	T_OK(putmsg(fd, NULL, &data, 0));
}

static unsigned
taps(int fd)
{
	struct ipw_info in;

	memset(&in, 0, sizeof(in));
	T_OK(command(fd, IPW_INFO, &in, sizeof(in)));
	return in.taps;
}

static pid_t
strtap(int fd, const char *path, const char *const *argv)
{
	unsigned n = taps(fd);
	pid_t pid = start_argv(-1, path, argv);

	T_SOON(taps(fd) == n + 1, 10000);
	return pid;
}
#define STRTAP(fd, path, ...) \
	strtap(fd, path, (const char *const[]){ "strtap", __VA_ARGS__, NULL })

T_CASE(writes_pcap)
{
	struct timespec ts;
	struct pcap_pkt pkt;
	struct pcap pc;
	uint64_t before, last = 0;
	int fd = tap_lo();
	pid_t pid;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	before = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	pid = STRTAP(fd, "/dev/null", "-i", "lo", "-c", "3", "-w",
		temp("lo.pcap"));
	inject(fd, udp4, sizeof(udp4));
	inject(fd, other6, sizeof(other6));
	inject(fd, udp4, 5); /* what is broken is seen, too */
	inject(fd, udp4, sizeof(udp4));
	T_EQ(stop(pid, 0), 0);
	T_SOON(taps(fd) == 1, 10000);

	pcap_open(&pc, temp("lo.pcap"));
	T_EQ(pcap_next(&pc, &pkt), 1);
	T_EQ(pc.linktype, 101u);
	T_EQ(pkt.len, sizeof(udp4));
	T_EQ(pkt.caplen, sizeof(udp4));
	T_MEM(pkt.p, udp4, sizeof(udp4));
	T_NULL(packet_wrong(pkt.p, pkt.caplen, 0));
	T_GE(pkt.time + 1000000, before); /* clocks are read one by one */
	last = pkt.time;
	T_EQ(pcap_next(&pc, &pkt), 1);
	T_EQ(pkt.len, sizeof(other6));
	T_MEM(pkt.p, other6, sizeof(other6));
	T_GE(pkt.time, last);
	T_LT(pkt.time, before + 60000000000u);
	T_EQ(pcap_next(&pc, &pkt), 1);
	T_EQ(pkt.len, 5u);
	T_EQ(pcap_next(&pc, &pkt), 0);
	pcap_close(&pc);
	T_OK(close(fd));
}

T_CASE(cuts_packets)
{
	struct pcap_pkt pkt;
	struct pcap pc;
	int fd = tap_lo();
	pid_t pid = STRTAP(fd, "/dev/null", "-c1", "-i", "lo", "-s", "20", "-w",
		temp("cut.pcap"));

	inject(fd, udp4, sizeof(udp4));
	T_EQ(stop(pid, 0), 0);
	pcap_open(&pc, temp("cut.pcap"));
	T_EQ(pc.snaplen, 20u);
	T_EQ(pcap_next(&pc, &pkt), 1);
	T_EQ(pkt.caplen, 20u);
	T_EQ(pkt.len, sizeof(udp4));
	T_MEM(pkt.p, udp4, 20);
	T_EQ(pcap_next(&pc, &pkt), 0);
	pcap_close(&pc);
	T_OK(close(fd));
}

/* Without -i, each packet tells its protocol and its wire. */
T_CASE(a_file_of_all_wires_tells_them_apart)
{
	struct pcap_pkt pkt;
	struct pcap pc;
	int fd = tap_lo();
	pid_t pid = STRTAP(fd, "/dev/null", "-c2", "-s", "24", "-w",
		temp("all-wires.pcap"));

	inject(fd, udp4, sizeof(udp4));
	inject(fd, other6, sizeof(other6));
	T_EQ(stop(pid, 0), 0);
	pcap_open(&pc, temp("all-wires.pcap"));
	T_EQ(pc.linktype, 276u);
	T_EQ(pc.snaplen, 44u);
	T_EQ(pcap_next(&pc, &pkt), 1);
	T_EQ(pkt.proto, 0x800u);
	T_EQ(pkt.wire, 1);
	T_EQ(pkt.out, 0);
	T_EQ(pkt.caplen, 24u);
	T_EQ(pkt.len, sizeof(udp4));
	T_MEM(pkt.p, udp4, 24);
	T_EQ(pcap_next(&pc, &pkt), 1);
	T_EQ(pkt.proto, 0x86ddu);
	T_EQ(pkt.len, sizeof(other6));
	T_MEM(pkt.p, other6, 24);
	T_EQ(pcap_next(&pc, &pkt), 0);
	pcap_close(&pc);
	T_OK(close(fd));
}

T_CASE(a_signal_ends_it_when_all_is_written)
{
	enum { N = 500 };
	struct pcap_pkt pkt;
	struct pcap pc;
	int fd = tap_lo(), i;
	pid_t pid = STRTAP(fd, "/dev/null", "-w", temp("all.pcap"));

	for (i = 0; i < N; i++)
		inject(fd, udp4, sizeof(udp4));
	T_EQ(stop(pid, SIGTERM), 0);
	pcap_open(&pc, temp("all.pcap"));
	for (i = 0; pcap_next(&pc, &pkt); i++)
		T_MEM(pkt.p, udp4, sizeof(udp4));
	T_EQ(i, N);
	pcap_close(&pc);
	T_OK(close(fd));
}

/* One that comes between a look for signals and a wait: late.c. */
T_CASE(a_signal_is_never_lost)
{
	static const char *const calls[] = { "getmsg", "ppoll" };
	unsigned i;

#ifdef __SANITIZE_ADDRESS__
	T_SKIP("nothing is preloaded before the sanitizer's library");
#endif
	T_OK(setenv("LD_PRELOAD", TAP_LATE_SO, 1));
	for (i = 0; i < 2; i++) {
		T_OK(setenv("TAP_LATE", calls[i], 1));
		T_EQ(RUN(-1, "strtap", "-w", temp("late.pcap")), 0);
		T_NOTNULL(strstr(err_text, "0 packets"));
	}
}

T_CASE(a_killed_tap_is_none_any_more)
{
	int fd = tap_lo();
	pid_t pid = STRTAP(fd, "/dev/null", "-w", temp("killed.pcap"));

	T_OK(kill(pid, SIGKILL));
	T_EQ(waitpid(pid, NULL, 0), pid);
	T_SOON(taps(fd) == 1, 10000);
	inject(fd, udp4, sizeof(udp4));
	T_OK(close(fd));
}

T_CASE(shows_a_line_for_each_packet)
{
	int fd = tap_lo();
	pid_t pid = STRTAP(fd, temp("text"), "-c", "3");

	inject(fd, udp4, sizeof(udp4));
	inject(fd, other6, sizeof(other6));
	inject(fd, udp4, 5);
	T_EQ(stop(pid, 0), 0);
	T_TRUE(file_has(temp("text"),
		" lo < 192.0.2.1.1024 > 192.0.2.2.53: UDP 3\n"));
	T_TRUE(file_has(temp("text"),
		" lo < 2001:db8::1 > 2001:db8::2: protocol 253, 8\n"));
	T_TRUE(file_has(temp("text"), " lo < 5 bytes\n"));
	T_OK(close(fd));
}

T_CASE(wrong_usage_is_told)
{
	T_EQ(RUN(-1, "strtap", "-i", "none-such"), 1);
	T_NOTNULL(strstr(err_text, "none-such"));
	T_EQ(RUN(-1, "strtap", "-i", "a-name-that-is-too-long"), 2);
	T_EQ(RUN(-1, "strtap", "-c", "0"), 2);
	T_EQ(RUN(-1, "strtap", "lo"), 2);
	T_EQ(RUN(-1, "strtap", "-w", "/no-such-dir/x"), 1);
}

/* Programs that are not ours, where there are any. */
static void
reads(const char *program, const char *args)
{
	char line[256];
	int fd = tap_lo();
	pid_t pid;

	snprintf(line, sizeof(line), "command -v %s >/dev/null", program);
	if (system(line) != 0)
		T_SKIP("no %s", program);
	pid = STRTAP(fd, "/dev/null", "-c1", "-w", temp("theirs.pcap"));
	inject(fd, udp4, sizeof(udp4));
	T_EQ(stop(pid, 0), 0);
	T_OK(close(fd));
	snprintf(line, sizeof(line), "%s %s %s >%s 2>/dev/null", program,
		args, temp("theirs.pcap"), temp("theirs"));
	T_EQ(system(line), 0);
}

T_CASE(tcpdump_reads_it)
{
	reads("tcpdump", "-nvr");
	T_TRUE(file_has(temp("theirs"), "192.0.2.1.1024 > 192.0.2.2.53"));
	T_FALSE(file_has(temp("theirs"), "bad"));
}

T_CASE(tshark_reads_it)
{
	reads("tshark", "-o ip.check_checksum:TRUE -T fields -e ip.src "
		"-e udp.dstport -e ip.checksum.status -r");
	T_TRUE(file_has(temp("theirs"), "192.0.2.1\t53\t1\n"));
}
