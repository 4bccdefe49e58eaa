/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Who adds wires, looks at them, sends or receives there dies at a labelled
 * point of drv/ip: the others go on, the wires too, and nothing is left behind.
 *
 * There are two wires in a namespace of this case's own, each with the kernel's
 * UDP at its other end, which sends back what it gets (echo()):
 *
 *	t0  10.79.0.2 -- TUN --  10.79.0.1
 *	p0  10.78.0.9 -- a0, veth, a1 --  10.78.0.2
 *
 * What is sent is cut, and what comes is put together.
 */
#include <net/if.h>
#include <stdio.h>
#include <sys/ipwire.h>

#include <str/inspect.h>
#include <str/tli.h>

#include "../conformance/inet/in.h"
#include "ns.h"

enum { SIZE = 4000, PORT = 7000, ENDS = 40000 };

#define IP_DEV "/dev/streams/clone/ip"
static const char *const there[] = {"10.79.0.1", "10.78.0.2", "10.77.0.1"};
static const char *const names[] = {"t0", "p0", "c0"};

/* ------------------------------------------------------------- the other end */

static void T_NORETURN
echo(void)
{
	static char buf[70000];
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, AF_INET, "0.0.0.0", PORT);
	int s = in_sock(AF_INET, SOCK_DGRAM);
	ssize_t n;

	T_OK(bind(s, (struct sockaddr *)&ss, len));
	for (;;) {
		len = sizeof(ss);
		n = recvfrom(s, buf, sizeof(buf), 0, (struct sockaddr *)&ss,
			&len);
		if (n >= 0)
			(void)sendto(s, buf, (size_t)n, 0,
				(struct sockaddr *)&ss, len);
	}
}

/* --------------------------------------------------------------------- wires */

static int
command(int fd, int cmd, void *p, size_t len)
{
	struct strioctl si = {.ic_cmd = cmd, .ic_timout = 15,
		.ic_len = (int)len, .ic_dp = p};

	return ioctl(fd, I_STR, &si);
}

static struct ipw_addr
address(const char *text, int bits)
{
	struct ipw_addr a = {.len = 4, .bits = (unsigned char)bits};

	T_EQ(inet_pton(AF_INET, text, a.b), 1);
	return a;
}

static struct ipw_conf
conf(const char *name, int kind, const char *ifname, const char *own)
{
	struct ipw_conf c;

	memset(&c, 0, sizeof(c));
	strcpy(c.name, name);
	strcpy(c.ifname, ifname);
	c.kind = kind;
	c.own[0] = address(own, kind == IPW_RAW ? 32 : 24);
	return c;
}

/* It is there until it is unlinked. */
static void
lasting(struct ipw_conf *c)
{
	int fd = in_open(IP_DEV), ctl = in_open(IP_DEV);

	T_OK(command(fd, IPW_ADD, c, sizeof(*c)));
	T_OK(ioctl(ctl, I_PLINK, fd));
	T_OK(close(fd));
	T_OK(close(ctl));
}

/* What the wire @name is like; 0: there is none. */
static int
info(const char *name, struct ipw_info *ret)
{
	int fd = in_open(IP_DEV), found = 0;

	for (memset(ret, 0, sizeof(*ret)); !found; ret->index++) {
		if (command(fd, IPW_INFO, ret, sizeof(*ret)) < 0)
			break;
		found = strcmp(ret->conf.name, name) == 0;
	}
	T_OK(close(fd));
	return found;
}

static void
away(const char *name)
{
	int ctl = in_open(IP_DEV);
	struct ipw_info i;

	T_TRUE(info(name, &i));
	T_OK(ioctl(ctl, I_PUNLINK, i.muxid));
	T_OK(close(ctl));
	T_SOON(!info(name, &i), ENDS);
}

static void
begin(void)
{
	struct ipw_conf c;
	int keep, st;
	pid_t pid;

	own_namespace();
	if (system("ip -V >/dev/null 2>&1") != 0)
		T_SKIP("no program ip");
	may_write("/dev/net/tun");
	sh("ip link set lo up");
	if (system("ip link add a0 type veth peer name a1 2>/dev/null") != 0)
		T_SKIP("no veth devices");
	sh("ip addr add 10.78.0.2/24 dev a1");
	sh("ip link set a0 up");
	sh("ip link set a1 up");
	if (T_OK(fork()) == 0)
		echo();
	keep = in_open(IP_DEV);
	/* their clocks are streamsd's when who has added them is gone */
	pid = T_OK(fork());
	if (pid == 0) {
		c = conf("t0", IPW_TUN, "strcrash0", "10.79.0.2");
		c.gateway[0] = address("10.79.0.1", 24);
		lasting(&c);
		c = conf("p0", IPW_PACKET, "a0", "10.78.0.9");
		lasting(&c);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	T_OK(close(keep));
}

/* ----------------------------------------------------------------- what is left */

static struct str_i_domain
memory(void)
{
	static uint64_t buf[1 << 17]; /* aligned */
	long n = strm_inspect(buf, sizeof(buf), STR_I_WANT_MEMORY);
	struct str_i_domain d;

	T_GT(n, (long)sizeof(d));
	memcpy(&d, buf, sizeof(d));
	T_EQ(d.i.kind, STR_I_DOMAIN);
	return d;
}

/* There are as many streams as there were, and no dead that are not buried. */
static int
is_as(const struct str_i_domain *was)
{
	struct str_i_domain d = memory();

	return d.nstream == was->nstream && d.ndev == was->ndev &&
		d.unburied == 0;
}

/*
 * Memory that is left when all is over: for fragments some stays, for each of
 * the packets that may be put together at a time; and what one death in the
 * midst of an allocation takes along.
 */
static void
nothing_is_left(const struct str_i_domain *was)
{
	struct str_i_domain d;
	uint64_t most = was->bytes + 33 * 70000u;

	T_SOON(is_as(was), ENDS);
	d = memory();
	if (d.bytes > most)
		T_FAIL("%llu bytes were left, and are %llu",
			(unsigned long long)was->bytes,
			(unsigned long long)d.bytes);
}

/* ------------------------------------------------------------------ the others */

static int
endpoint(void)
{
	int fd = in_open("/dev/udp2");

	in_bind(fd, NULL, 0, 0);
	return fd;
}

static void
ask(int fd, const char *whom, const char *data, int n)
{
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, AF_INET, whom, PORT);

	in_unitdata(fd, &ss, (int)len, data, n);
}

/* What is asked on that wire. */
static const char *
question(int wire)
{
	static char buf[SIZE];
	int i;

	for (i = 0; i < SIZE; i++)
		buf[i] = (char)in_byte((uint64_t)i + (uint64_t)wire * 7);
	return buf;
}

/* What has come is an answer on @wire, and whole; 0: it is something else. */
static int
is_answer(int fd, int wire)
{
	in_addr_t from = inet_addr(there[wire]);

	if (in_get(fd) != T_UNITDATA_IND)
		return 0; /* the wire was down when it went */
	if (memcmp(in.ctl + in.p.unitdata_ind.SRC_offset + 4, &from, 4) != 0)
		return 0; /* late, of the other wire */
	T_EQ(in.datalen, SIZE);
	T_MEM(in.data, question(wire), SIZE);
	return 1;
}

/* An answer that is whole comes, if not to the first question. */
static void
answers(int fd, int wire, const char *label)
{
	uint64_t end = t_now_ns() + ENDS * 1000000ull * t_scale();

	for (;;) {
		if (t_now_ns() > end)
			T_FAIL("%s: %s does not go on", label, names[wire]);
		ask(fd, there[wire], question(wire), SIZE);
		while (!in_quiet(fd, 100))
			if (is_answer(fd, wire))
				return;
	}
}

/* It is down while a tick makes its sockets again. */
static int
is_up(const char *name)
{
	struct ipw_info i;

	return info(name, &i) && i.state == IPW_UP;
}

/* Both wires are what they were, and so is lo. */
static void
all_go_on(int fd, const char *label)
{
	struct sockaddr_storage ss;
	int k, other, port;
	socklen_t len;

	for (k = 0; k < 2; k++) {
		answers(fd, k, label);
		T_SOON(is_up(names[k]), ENDS);
	}
	other = in_open("/dev/udp2");
	port = in_bind(other, NULL, 0, 0);
	len = in_addr(&ss, AF_INET, "127.0.0.1", port);
	in_unitdata(fd, &ss, (int)len, "near", 4);
	in_want(other, T_UNITDATA_IND);
	T_EQ(in.datalen, 4);
	T_OK(close(other));
}

/* ------------------------------------------------------------------ who dies */

/* A fragment to a port that is free, as if it had come on @tap's wire. */
static void
fragment(int tap, int id, int at, int more)
{
	unsigned char p[20 + 64] = {0x45, 0, 0, sizeof(p), 0, (unsigned char)id,
		(unsigned char)(more ? 0x20 : 0), (unsigned char)(at / 8), 64,
		IPPROTO_UDP, 0, 0, 127, 0, 0, 1, 127, 0, 0, 2};
	unsigned sum = 0, i;

	if (at == 0) {
		p[23] = 9; /* its port, and its length */
		p[25] = 128;
	}
	for (i = 0; i < 20; i += 2)
		sum += (unsigned)p[i] << 8 | p[i + 1];
	sum = ~((sum & 0xffff) + (sum >> 16));
	p[10] = (unsigned char)(sum >> 8);
	p[11] = (unsigned char)sum;
	in_put(tap, NULL, 0, p, sizeof(p), 0);
}

#define GROUP_MAC "01005e4d0101"

/*
 * The interface listens to @mac, or not any more; soon, if a process looks now
 * and then: all of us who sleep would not see streamsd die.
 */
static int
listens(const char *mac)
{
	T_OK(close(in_open(IP_DEV)));
	return ns_listens("a0", mac);
}

static void
until(const char *mac, int yes, const char *label)
{
	uint64_t end = t_now_ns() + ENDS * 1000000ull * t_scale();

	while (listens(mac) != yes) {
		if (t_now_ns() > end)
			T_FAIL("%s: %s %s", label, mac, yes ? "is not joined" :
				"stays");
		t_pause();
	}
}

static int
membership(int fd, const char *group, int joins)
{
	struct ip_mreq m;

	T_EQ(inet_pton(AF_INET, group, &m.imr_multiaddr), 1);
	T_EQ(inet_pton(AF_INET, "10.78.0.9", &m.imr_interface), 1);
	return ns_option(fd, T_INET_IP, joins ? T_IP_ADD_MEMBERSHIP :
		T_IP_DROP_MEMBERSHIP, &m, sizeof(m));
}

/* An endpoint joins a group on p0, or leaves it. */
static void
group(int fd, int joins)
{
	T_EQ(membership(fd, "239.77.1.1", joins), T_SUCCESS);
}

/* ... if it is not in it. */
static void
join(int fd, const char *group)
{
	if (membership(fd, group, 0) == T_SUCCESS)
		T_SOON(!listens("01005e4d0102"), ENDS);
	T_EQ(membership(fd, group, 1), T_SUCCESS);
}

/* Everything there is to be done with wires. */
static void
busy(int which)
{
	struct ipw_tap want = {.name = "lo"};
	struct ipw_conf c;
	int tap = in_open(IP_DEV), raw = in_open(IP_DEV), tun, fd, i;
	int in_it = endpoint(); /* which closes at once: nothing waits there */
	char text[32];

	T_OK(command(tap, IPW_TAP, &want, sizeof(want)));
	fragment(tap, 1, 0, 1);
	fragment(tap, 1, 64, 0);
	c = conf("x0", IPW_RAW, "", "192.0.2.1");
	T_OK(command(raw, IPW_ADD, &c, sizeof(c)));
	tun = in_open(IP_DEV);
	c = conf("x1", IPW_TUN, "strcrash1", "192.0.2.130");
	T_OK(command(tun, IPW_ADD, &c, sizeof(c)));
	fd = endpoint();
	for (i = 0; i < 4; i++)
		ask(fd, there[i % 2], question(i % 2), SIZE);
	group(in_it, 1);
	group(in_it, 0);
	group(in_it, 1);
	T_OK(close(in_it));
	/* stations that there are not, and that were not asked for */
	for (i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "10.78.0.%d",
			20 + 100 * i + which);
		ask(fd, text, "x", 1);
	}
	T_OK(close(fd));
	T_OK(close(tap));
	T_OK(close(raw));
	T_OK(close(tun));
}

static void
arm(const char *var, const char *label, int n)
{
	char env[64];

	snprintf(env, sizeof(env), "%s:%d", label, n);
	T_OK(setenv(var, env, 1));
}

static const char *const in_process[] = {
	"ip:slot", "ip:fragment", "ip:whole", "ip:taking", "ip:together",
	"ip:input", "ip:given", "ip:sent", "ip:piece", "ip:neighbour",
	"ip:asking", "ip:filled", "ip:made", "ip:added", "ip:deleting",
	"ip:deleted", "ip:closed", "ip:tapping", "ip:tapped", "ip:untapping",
	"ip:untapped", "ip:joining", "ip:leaving",
};
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static void
added(int fd, struct ipw_conf *c, const char *label)
{
	uint64_t end = t_now_ns() + ENDS * 1000000ull * t_scale();

	while (command(fd, IPW_ADD, c, sizeof(*c)) < 0) {
		if (t_now_ns() > end)
			T_FAIL("%s: %s cannot be added: %s", label, c->name,
				strerror(errno));
		t_pause();
	}
}

/* The names that the dead had are free again. */
static void
can_be_added(const char *label)
{
	struct ipw_conf c = conf("x0", IPW_RAW, "", "192.0.2.1");
	int fd = in_open(IP_DEV), tun = in_open(IP_DEV);

	added(fd, &c, label);
	c = conf("x1", IPW_TUN, "strcrash1", "192.0.2.130");
	added(tun, &c, label);
	if (if_nametoindex("strcrash1") == 0)
		T_FAIL("%s: no device", label);
	T_OK(close(fd));
	T_OK(close(tun));
	T_EQ((int)if_nametoindex("strcrash1"), 0);
}

T_CASE_TIMEOUT(a_process_dies_somewhere, 120)
{
	struct str_i_domain was;
	unsigned i;
	int fd, st, n;
	pid_t pid;

	begin();
	fd = endpoint();
	was = memory();
	for (i = 0; i < LEN(in_process); i++)
		for (n = 1; n <= 2; n++) {
			pid = T_OK(fork());
			if (pid == 0) {
				arm("STREAMS_CRASH", in_process[i], n);
				busy((int)i * 2 + n);
				_exit(0);
			}
			T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
			if (n == 1 && !WIFSIGNALED(st))
				T_FAIL("%s: nobody died", in_process[i]);
			if (!WIFSIGNALED(st)) {
				T_EQ(st, 0);
				break;
			}
			can_be_added(in_process[i]);
			until(GROUP_MAC, 0, in_process[i]);
			all_go_on(fd, in_process[i]);
		}
	nothing_is_left(&was);
	T_OK(close(fd));
	away("t0");
	away("p0");
}

/*
 * A closer dies of it, and no other goes on with that yet, for streamsd is
 * stopped: we have a clock and see to the dead one's too.
 */
T_CASE(the_place_of_one_that_is_half_closed_is_not_taken)
{
	static const char *const labels[] = {"ip:deleting", "ip:deleted",
		"ip:closed"};
	struct ipw_conf c = conf("x2", IPW_TUN, "strcrash3", "192.0.2.140");
	struct ipw_info in_x2;
	int clock, fd, st;
	unsigned i;
	pid_t pid;

	begin();
	clock = in_open(IP_DEV);
	T_OK(command(clock, IPW_ADD, &c, sizeof(c)));
	for (i = 0; i < LEN(labels); i++) {
		T_OK(kill(ns_streamsd(), SIGSTOP));
		pid = T_OK(fork());
		if (pid == 0) {
			T_OK(close(clock));
			fd = in_open(IP_DEV);
			c = conf("x0", IPW_RAW, "", "192.0.2.1");
			T_OK(command(fd, IPW_ADD, &c, sizeof(c)));
			arm("STREAMS_CRASH", labels[i], 1);
			T_OK(close(fd));
			_exit(0);
		}
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
		T_TRUE(WIFSIGNALED(st));
		(void)poll(NULL, 0, 700); /* a tick */
		fd = in_open(IP_DEV);
		c = conf("x1", IPW_TUN, "strcrash1", "192.0.2.130");
		T_OK(command(fd, IPW_ADD, &c, sizeof(c)));
		(void)poll(NULL, 0, 700);
		T_TRUE(info("x1", &in_x2));
		T_EQ(in_x2.state, IPW_UP);
		T_EQ(in_x2.remade, 0);
		T_OK(close(fd));
		T_TRUE(info("x2", &in_x2));
		T_EQ(in_x2.state, IPW_UP);
		T_EQ(in_x2.remade, 0);
		T_OK(kill(ns_streamsd(), SIGCONT));
		can_be_added(labels[i]);
	}
	T_OK(close(clock));
	away("t0");
	away("p0");
}

static const char *const in_streamsd[] = {
	"ip:fragment", "ip:whole", "ip:taking", "ip:together", "ip:input",
	"ip:given", "ip:learning", "ip:learnt", "ip:deleting",
	"ip:deleted", "ip:closed", "ip:untapping", "ip:untapped", "ip:joined",
	"ip:left",
};

/* Another streamsd, which dies at @label. */
static pid_t
mortal(const char *label)
{
	pid_t was = ns_streamsd(), pid = was;

	arm("STREAMS_DAEMON_CRASH", label, 1);
	if (was != 0) {
		T_OK(kill(was, SIGKILL));
		T_SOON(ns_ended(was), ENDS);
	}
	T_SOON((close(in_open(IP_DEV)), pid = ns_streamsd()) != 0 &&
		pid != was, ENDS);
	T_OK(setenv("STREAMS_DAEMON_CRASH", "", 1));
	return pid;
}

/* A process has a wire and a tap, sends half of a packet, and is killed. */
static void
one_is_killed(void)
{
	struct ipw_tap want = {.name = "lo"};
	struct ipw_conf c = conf("x0", IPW_RAW, "", "192.0.2.1");
	pid_t pid = T_OK(fork());
	int tap, fd, st, i;

	if (pid == 0) {
		group(endpoint(), 1);
		/* streamsd does that, or dies of it */
		for (i = 0; i < 300 && !ns_listens("a0", GROUP_MAC); i++)
			t_pause();
		tap = in_open(IP_DEV);
		fd = in_open(IP_DEV);
		T_OK(command(tap, IPW_TAP, &want, sizeof(want)));
		fragment(tap, 2, 0, 1);
		(void)command(fd, IPW_ADD, &c, sizeof(c));
		T_OK(kill(getpid(), SIGKILL));
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
}

T_CASE_TIMEOUT(streamsd_dies_somewhere, 200)
{
	struct str_i_domain was;
	unsigned i, k, deaths = 0;
	uint64_t end;
	pid_t pid;
	int fd;

	begin();
	fd = endpoint();
	was = memory();
	for (i = 0; i < LEN(in_streamsd); i++) {
		pid = mortal(in_streamsd[i]);
		end = t_now_ns() + 5000000000ull * t_scale();
		for (k = 0; !ns_ended(pid) && t_now_ns() < end; k++) {
			if (k % 16 == 0) {
				one_is_killed();
				sh("ip neigh flush dev a1");
			}
			ask(fd, there[k % 2], question((int)k % 2), SIZE);
			/* a poller sees to all sockets that it has: not we */
			t_pause();
			if (k % 64 == 63)
				while (!in_quiet(fd, 0))
					(void)in_get(fd);
		}
		if (ns_ended(pid))
			deaths++;
		else
			printf("# %s: nobody died\n", in_streamsd[i]);
		all_go_on(fd, in_streamsd[i]);
		can_be_added(in_streamsd[i]);
		/* who was killed is in no group any more, and we are */
		until(GROUP_MAC, 0, in_streamsd[i]);
		join(fd, "239.77.1.2");
		until("01005e4d0102", 1, in_streamsd[i]);
	}
	T_GE(deaths, LEN(in_streamsd) - 1); /* a neighbour need not be asked */
	nothing_is_left(&was);
	T_OK(close(fd));
	away("t0");
	away("p0");
}

/* A wire that stays when the process that has added it ends. */
static void
add_lasting(void)
{
	struct ipw_conf c = conf("c0", IPW_TUN, "strcrash2", "10.77.0.2");
	pid_t pid = T_OK(fork());
	int st;

	if (pid == 0) {
		c.gateway[0] = address("10.77.0.1", 24);
		lasting(&c);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
}

/* Halves of packets arrive, which a tick gives up some time later. */
static void
halves_until_ended(int tap, pid_t pid)
{
	int id = 2;

	T_SOON((fragment(tap, id = id % 200 + 1, 0, 1), (void)poll(NULL, 0, 130),
		ns_ended(pid)), 60000);
}

T_CASE_TIMEOUT(a_tick_whose_thread_died_is_repeated, 150)
{
	static const char *const labels[] = {"ip:tick", "ip:expiring"};
	struct ipw_tap want = {.name = "lo"};
	struct str_i_domain was;
	unsigned i;
	int fd, tap;
	pid_t pid;

	begin();
	fd = endpoint();
	was = memory();
	for (i = 0; i < LEN(labels); i++) {
		tap = in_open(IP_DEV);
		T_OK(command(tap, IPW_TAP, &want, sizeof(want)));
		add_lasting();
		pid = mortal(labels[i]);
		halves_until_ended(tap, pid);
		T_OK(close(tap));
		answers(fd, 2, labels[i]);
		/* now it is the clock that has to notice: no other has the
		 * device any more, but for us, who sent something there */
		T_SOON((pid = ns_streamsd()) != 0, ENDS);
		T_OK(kill(pid, SIGKILL));
		T_SOON(ns_ended(pid), ENDS);
		all_go_on(fd, labels[i]);
		answers(fd, 2, labels[i]);
		T_SOON(is_up("c0"), ENDS);
		away("c0");
	}
	nothing_is_left(&was);
	T_OK(close(fd));
	away("t0");
	away("p0");
}
