/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The wires of a domain with a name come back after all its processes were
 * killed, streamsd as the last one: by streamsd, or by strwire itself.
 */
#include <fcntl.h>
#include <glob.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../tools/run.h"
#include "ns.h"

#define WAIT 10000

static char before[sizeof(out_text)];

/* The file of the domain: its name, or found in the directory of names. */
static const char *
file_of_domain(void)
{
	static char path[512];
	const char *name = getenv("STREAMS_DOMAIN");
	size_t i, len;
	glob_t g;

	if (name[0] == '/')
		return name;
	snprintf(path, sizeof(path), "%s/streams/%s-*",
		getenv("XDG_RUNTIME_DIR"), name);
	T_EQ(glob(path, 0, NULL, &g), 0);
	path[0] = '\0';
	for (i = 0; i < g.gl_pathc; i++) {
		len = strlen(g.gl_pathv[i]);
		if (strcmp(g.gl_pathv[i] + len - 6, ".wires") != 0)
			snprintf(path, sizeof(path), "%s", g.gl_pathv[i]);
	}
	globfree(&g);
	T_NE(path[0], '\0');
	return path;
}

/* A domain with a name, in which this process is no member. */
static void
domain(void)
{
	own_namespace();
	may_write("/dev/net/tun");
	T_OK(setenv("STREAMS_DOMAIN", temp("domain"), 1));
	(void)temp("domain.wires");
	sh("ip link add v0 type veth peer name v1");
	sh("ip link set v0 up");
	sh("ip link set v1 up");
}

/* Kill streamsd.  Has the domain no member then?  Members lock its file.  While
 * streamsd starts, or if two processes have started one, it is several. */
static int
is_left_by_all(const char *file)
{
	pid_t pid = ns_streamsd();
	int fd, free;

	if (pid != 0) {
		(void)kill(pid, SIGKILL);
		T_SOON(ns_ended(pid), WAIT);
	}
	fd = T_OK(open(file, O_RDWR | O_CLOEXEC));
	free = flock(fd, LOCK_EX | LOCK_NB) == 0;
	T_OK(close(fd));
	return free;
}

static void
all_are_killed(void)
{
	T_SOON(ns_streamsd() != 0, WAIT);
	T_SOON(is_left_by_all(file_of_domain()), WAIT);
}

static void
add_all(void)
{
	T_EQ(RUN(-1, "strwire", "add", "tun", "t0", "-f", "strtun7", "-a",
		"10.79.0.2/24", "-a", "fd79::2/64", "-g", "10.79.0.1/24", "-m",
		"1400"), 0);
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "v0", "-a",
		"10.78.0.9/24", "-g", "10.78.0.1", "-r",
		"10.90.0.0/16,10.78.0.7,3", "-r", "0.0.0.0/0"), 0);
	T_EQ(RUN(-1, "strwire", "add", "raw", "r0", "-a", "192.0.2.1/32", "-p",
		"47", "-r", "198.51.100.0/24,,7"), 0);
	T_EQ(RUN(-1, "strwire", "add", "encap", "e0", "-P", "9900,9901", "-r",
		"203.0.113.0/24"), 0);
	T_EQ(RUN(-1, "strwire", "impair", "t0", "loss=1%", "delay=20ms",
		"jitter=3ms", "limit=7", "seed=5"), 0);
	T_EQ(RUN(-1, "strwire", "impair", "lo", "rate=10mbit"), 0);
}

/* How the wires are, without what is counted. */
static void
shown(char *to)
{
	size_t n;

	T_EQ(RUN(-1, "strwire", "list"), 0);
	strcpy(to, out_text);
	n = strlen(to);
	T_EQ(RUN(-1, "strwire", "impair", "t0"), 0);
	strcpy(to + n, out_text);
	n = strlen(to);
	T_EQ(RUN(-1, "strwire", "impair", "lo"), 0);
	strcpy(to + n, out_text);
}

static void
are_as_before(void)
{
	static char now[sizeof(before)];

	T_SOON((shown(now), strcmp(now, before) == 0), WAIT);
}

T_CASE_TIMEOUT(the_next_streamsd_makes_them_again, 100)
{
	int i;

	domain();
	add_all();
	shown(before);
	T_NOTNULL(strstr(before, "strtun7"));
	T_NOTNULL(strstr(before, "10.90.0.0/16"));
	for (i = 0; i < 3; i++) {
		all_are_killed();
		T_SOON(if_nametoindex("strtun7") == 0, WAIT);
		/* any process that attaches will do */
		T_EQ(RUN(-1, "scls"), 0);
		T_SOON(if_nametoindex("strtun7") != 0, WAIT);
		are_as_before();
	}
	for (i = 0; i < 4; i++)
		T_EQ(RUN(-1, "strwire", "del",
			(const char *[]){ "t0", "p0", "r0", "e0" }[i]), 0);
	T_EQ(access(temp("domain.wires"), F_OK), 0); /* lo is impaired */
	T_EQ(RUN(-1, "strwire", "impair", "lo", "off"), 0);
	T_EQ(access(temp("domain.wires"), F_OK), -1);
}

T_CASE_TIMEOUT(strwire_makes_them_again_before_it_does_anything, 100)
{
	domain();
	add_all();
	shown(before);
	all_are_killed();
	T_EQ(RUN(-1, "strwire", "add", "raw", "r0", "-a", "192.0.2.9/32"), 1);
	T_NOTNULL(strstr(err_text, "there is a wire r0 already"));
	are_as_before();
	all_are_killed();
	are_as_before();
	all_are_killed();
	T_EQ(RUN(-1, "strwire", "del", "p0"), 0);
	T_EQ(RUN(-1, "strwire", "list", "--json"), 0);
	T_TRUE(json_says("[w['name'] for w in v] == ['lo', 't0', 'r0', 'e0']"));
	all_are_killed();
	T_EQ(RUN(-1, "strwire", "list", "--json"), 0);
	T_TRUE(json_says("sorted(w['name'] for w in v) == "
		"['e0', 'lo', 'r0', 't0']"));
}

/* The MTU that is kept is the one that was given, not the present one. */
T_CASE_TIMEOUT(a_wire_without_its_interface_waits_for_it, 100)
{
	domain();
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "v0", "-a",
		"10.78.0.9/24"), 0);
	all_are_killed();
	sh("ip link del v0");
	T_EQ(RUN(-1, "strwire", "list", "--json"), 0);
	T_TRUE(json_says("v[1]['name'] == 'p0' and v[1]['state'] == 'down' and "
		"v[1]['error'] == 19")); /* ENODEV */
	sh("ip link add v0 mtu 4000 type veth peer name v1");
	sh("ip link set v0 up");
	sh("ip link set v1 up");
	T_SOON(RUN(-1, "strwire", "list", "--json") == 0 &&
		json_says("v[1]['state'] == 'up' and v[1]['mtu'] == 4000"),
		WAIT);
}

static void
refused(const char *why)
{
	T_EQ(RUN(-1, "strwire", "add", "raw", "r1", "-a", "192.0.2.3/32"), 1);
	T_NOTNULL(strstr(err_text, "domain.wires"));
	T_NOTNULL(strstr(err_text, why));
	/* it is only shown */
	T_EQ(RUN(-1, "strwire", "list"), 0);
	T_NOTNULL(strstr(err_text, why));
	T_NULL(strstr(out_text, "r0"));
	T_NULL(strstr(out_text, "r1"));
}

T_CASE_TIMEOUT(a_bad_file_is_refused_and_kept, 100)
{
	static unsigned char was[65536], now[65536];
	const char *path;
	struct stat st;
	ssize_t n;
	int fd, i, last;

	domain();
	path = temp("domain.wires");
	T_EQ(RUN(-1, "strwire", "add", "raw", "r0", "-a", "192.0.2.1/32"), 0);
	T_OK(stat(path, &st));
	T_EQ(st.st_mode & 07777, 0600);
	all_are_killed();
	fd = T_OK(open(path, O_RDWR));
	n = T_OK(read(fd, was, sizeof(was)));
	T_GT(n, 100);
	/* at no time is it good: streamsd looks at it, too */
	for (last = -1, i = 0; i < n; last = i, i += (int)n / 7) {
		was[i] ^= 4;
		T_EQ(pwrite(fd, was + i, 1, i), 1);
		if (last >= 0) {
			was[last] ^= 4;
			T_EQ(pwrite(fd, was + last, 1, last), 1);
		}
		refused("damaged");
		T_EQ(pread(fd, now, sizeof(now), 0), n);
		T_EQ(memcmp(was, now, (size_t)n), 0);
	}
	T_OK(ftruncate(fd, n - 1));
	was[last] ^= 4;
	T_EQ(pwrite(fd, was, (size_t)n - 1, 0), n - 1);
	refused("damaged");
	T_OK(fchmod(fd, 0640));
	T_EQ(pwrite(fd, was, (size_t)n, 0), n);
	refused("does not belong to this user");
	T_OK(fchown(fd, 1, 1));
	T_OK(fchmod(fd, 0600));
	refused("does not belong to this user");
	T_OK(fchown(fd, 0, 0));
	T_OK(close(fd));
	T_EQ(RUN(-1, "strwire", "list"), 0);
	T_NOTNULL(strstr(out_text, "r0"));
}

/* While the file is locked streamsd goes on with its work: it ends. */
T_CASE_TIMEOUT(streamsd_waits_for_no_lock, 100)
{
	int fd;

	domain();
	T_EQ(RUN(-1, "strwire", "add", "tun", "t0", "-f", "strtun7", "-a",
		"10.79.0.2/24"), 0);
	all_are_killed();
	fd = T_OK(open(temp("domain.wires"), O_RDWR));
	T_OK(flock(fd, LOCK_EX));
	T_EQ(RUN(-1, "scls"), 0);
	T_SOON(ns_streamsd() == 0, WAIT);
	T_EQ((int)if_nametoindex("strtun7"), 0);
	T_OK(close(fd));
	T_EQ(RUN(-1, "strwire", "list"), 0);
	T_NOTNULL(strstr(out_text, "t0"));
	T_NE((int)if_nametoindex("strtun7"), 0);
}

/* Strwire was killed when it had made a wire again, but not its impairment. */
T_CASE_TIMEOUT(an_impairment_is_made_again_later, 100)
{
	domain();
	T_EQ(RUN(-1, "strwire", "add", "raw", "r0", "-a", "192.0.2.1/32"), 0);
	T_EQ(RUN(-1, "strwire", "impair", "r0", "loss=3%"), 0);
	all_are_killed();
	sh("cp -p %s %s", temp("domain.wires"), temp("old"));
	T_EQ(RUN(-1, "strwire", "impair", "r0", "off"), 0);
	sh("mv %s %s", temp("old"), temp("domain.wires"));
	T_EQ(RUN(-1, "strwire", "impair", "r0"), 0);
	T_NOTNULL(strstr(out_text, "loss=3%"));
}

T_CASE_TIMEOUT(a_command_that_fails_leaves_no_file, 100)
{
	domain();
	T_EQ(RUN(-1, "strwire", "del", "none"), 1);
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "none", "-a",
		"192.0.2.1/32"), 1);
	T_EQ(access(temp("domain.wires"), F_OK), -1);
	T_EQ(RUN(-1, "strwire", "impair", "none", "loss=3%"), 1);
	T_EQ(access(temp("domain.wires"), F_OK), -1);
}

/* A process was killed while it wrote the file. */
T_CASE_TIMEOUT(a_file_that_was_written_in_part_is_removed, 100)
{
	domain();
	T_EQ(RUN(-1, "strwire", "add", "raw", "r0", "-a", "192.0.2.1/32"), 0);
	sh("echo part > %s", temp("domain.wires.new"));
	T_EQ(RUN(-1, "strwire", "impair", "r0", "loss=3%"), 0);
	T_EQ(access(temp("domain.wires.new"), F_OK), -1);
	sh("echo part > %s", temp("domain.wires.new"));
	T_EQ(RUN(-1, "strwire", "del", "r0"), 0);
	T_EQ(access(temp("domain.wires.new"), F_OK), -1);
	T_EQ(access(temp("domain.wires"), F_OK), -1);
}

static int
files(const char *like)
{
	char line[512];

	snprintf(line, sizeof(line), "ls -d %s/streams/%s >/dev/null 2>&1",
		getenv("XDG_RUNTIME_DIR"), like);
	return system(line) == 0;
}

/* A new domain removes the files of namespaces that have ended.  One without a
 * process goes on if a file holds it. */
T_CASE_TIMEOUT(a_namespace_without_a_process_keeps_its_wires, 100)
{
	const char *held = temp("held");
	int fd, i;

	own_namespace();
	T_OK(unshare(CLONE_NEWNS));
	sh("mount --make-rprivate /");
	sh("mkdir -m 700 %s", temp("run"));
	T_OK(setenv("XDG_RUNTIME_DIR", temp("run"), 1));
	T_OK(setenv("STREAMS_DOMAIN", "kept", 1));
	sh("touch %s && mount --bind /proc/self/ns/net %s", held, held);
	T_EQ(RUN(-1, "strwire", "add", "raw", "r0", "-a", "192.0.2.1/32"), 0);
	all_are_killed();
	own_namespace();
	for (i = 0; i < 3; i++) {
		T_EQ(RUN(-1, "scls"), 0);
		T_SOON(ns_streamsd() == 0, WAIT);
	}
	T_TRUE(files("*.wires"));
	fd = T_OK(open(held, O_RDONLY));
	T_OK(setns(fd, CLONE_NEWNET));
	T_OK(close(fd));
	T_EQ(RUN(-1, "strwire", "list"), 0);
	T_NOTNULL(strstr(out_text, "r0"));
	all_are_killed();
	/* until it ends */
	own_namespace();
	sh("umount %s", held);
	sh("cd %s/streams && for f in *.wires; do echo part > $f.new; done",
		getenv("XDG_RUNTIME_DIR"));
	T_SOON(RUN(-1, "scls") == 0 && !files("*.wires*"), WAIT);
}
