/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Each tool on real streams: what its manual page promises.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <strlog.h>
#include <sys/stat.h>
#include <sys/testmod.h>
#include <unistd.h>

#include "run.h"
#include "t.h"

static const char *const all_tools[] = { "autopush", "fattach", "fdetach",
	"scls", "strchg", "strclean", "strconf", "strerr", "strinfo",
	"strinsert", "strlog", "strreset", "strsetup", "strtap", "strtop",
	"str-strace", "strtune", "strwire" };

static bool
says(const char *text)
{
	return strstr(out_text, text) != NULL;
}

static bool
complains(const char *text)
{
	return strstr(err_text, text) != NULL;
}

static void
a_pipe(int fd[2])
{
	T_OK(pipe2(fd, O_CLOEXEC));
	T_EQ(isastream(fd[0]), 1);
}

/* ---------------------------------------------------------- common options */

T_CASE(every_tool_has_the_common_options)
{
	for (size_t i = 0; i < sizeof(all_tools) / sizeof(*all_tools); i++) {
		const char *tool = all_tools[i];

		T_EQ(RUN(-1, tool, "--help"), 0);
		T_TRUE(says("usage:") && says(tool) && says("--domain"));
		T_EQ(RUN(-1, tool, "-V"), 0);
		T_TRUE(says(tool) && says("fast-streams"));
		T_EQ(RUN(-1, tool, "-C"), 0);
		T_TRUE(says("BSD-2-Clause"));
		T_EQ(RUN(-1, tool, "--no-such-option"), 2);
		T_TRUE(complains("usage:"));
	}
}

T_CASE(output_that_cannot_be_written_is_a_failure)
{
	const char *const argv[] = { "scls", NULL };

	T_EQ(stop(start_argv(-1, "/dev/full", argv), 0), 1);
}

/* ------------------------------------------------------------------- scls */

T_CASE(scls_lists_modules_and_drivers)
{
	T_EQ(RUN(-1, "scls"), 0);
	T_TRUE(says("pipemod") && says("sc ") && says("echo") &&
		says("driver"));
	T_FALSE(says("marks"));
	T_EQ(RUN(-1, "scls", "-b", "pipemod"), 0);
	T_TRUE(says("pipemod") && says("marks") && says("put "));
	T_FALSE(says("nullmod"));
	T_EQ(RUN(-1, "scls", "nosuch"), 1);
	T_TRUE(complains("nosuch"));
	T_EQ(RUN(-1, "scls", "-q", "nosuch"), 1);
	T_STR(err_text, "");
}

T_CASE(scls_has_json)
{
	T_EQ(RUN(-1, "scls", "--json", "sc", "echo"), 0);
	T_TRUE(json_says("[m['name'] for m in v] == ['sc', 'echo']"));
	T_TRUE(json_says("v[0]['read']['hiwat'] > 0 and 'major' in v[1]"));
}

/* ------------------------------------------------------- strconf and strchg */

T_CASE(strconf_lists_modules_topmost_first)
{
	int fd[2];

	a_pipe(fd);
	T_EQ(RUN(fd[0], "strconf"), 0);
	T_STR(out_text, "");
	T_EQ(RUN(fd[0], "strconf", "-t"), 1);
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_EQ(RUN(fd[0], "strconf"), 0);
	T_STR(out_text, "srvmod\nnullmod\n");
	T_EQ(RUN(fd[0], "strconf", "-t"), 0);
	T_STR(out_text, "srvmod\n");
	T_EQ(RUN(fd[0], "strconf", "-m", "nullmod"), 0);
	T_STR(out_text, "yes\n");
	T_EQ(RUN(fd[0], "strconf", "-m", "pipemod"), 1);
	T_STR(out_text, "no\n");
	T_EQ(RUN(fd[0], "strconf", "--json"), 0);
	T_TRUE(json_says("v == {'modules': ['srvmod', 'nullmod'], "
			 "'driver': None}"));
}

T_CASE(strconf_of_what_is_no_stream_fails)
{
	T_EQ(RUN(-1, "strconf"), 1);
	T_TRUE(complains("not a stream"));
	T_EQ(RUN(-1, "strconf", "/dev/null", "x"), 2);
}

T_CASE(strconf_opens_a_device)
{
	T_EQ(RUN(-1, "strconf", "/dev/streams/clone/echo"), 0);
	T_STR(out_text, "echo\n");
	T_EQ(RUN(-1, "strconf", "--json", "/dev/echo"), 0);
	T_TRUE(json_says("v == {'modules': [], 'driver': 'echo'}"));
}

T_CASE(strchg_pushes_and_pops)
{
	int fd[2];

	a_pipe(fd);
	T_EQ(RUN(fd[0], "strchg", "-h", "nullmod,srvmod,pipemod"), 0);
	T_EQ(RUN(fd[0], "strconf"), 0);
	T_STR(out_text, "pipemod\nsrvmod\nnullmod\n");
	T_EQ(RUN(fd[0], "strchg", "-p"), 0);
	T_EQ(RUN(fd[0], "strconf"), 0);
	T_STR(out_text, "srvmod\nnullmod\n");
	T_EQ(RUN(fd[0], "strchg", "-p", "-u", "nullmod"), 0);
	T_EQ(RUN(fd[0], "strconf"), 0);
	T_STR(out_text, "nullmod\n");
	T_EQ(RUN(fd[0], "strchg", "-p", "-u", "srvmod"), 1);
	T_EQ(RUN(fd[0], "strchg", "-h", "srvmod"), 0);
	T_EQ(RUN(fd[0], "strchg", "-p", "-a"), 0);
	T_EQ(RUN(fd[0], "strconf"), 0);
	T_STR(out_text, "");
	T_EQ(RUN(fd[0], "strchg", "-p"), 1);
	T_EQ(RUN(fd[0], "strchg", "-h", "nosuch"), 1);
	T_TRUE(complains("nosuch"));
	T_EQ(RUN(fd[0], "strchg"), 2);
	T_EQ(RUN(fd[0], "strchg", "-p", "-h", "x"), 2);
}

T_CASE(strchg_makes_a_stream_like_a_file)
{
	const char *file = temp("mods");
	int fd[2];

	a_pipe(fd);
	T_EQ(RUN(fd[0], "strchg", "-h", "nullmod,pipemod"), 0);
	write_file(file, "# top\nsrvmod  # x\n\nnullmod\n");
	T_EQ(RUN(fd[0], "strchg", "-v", "-f", file), 0);
	/* nullmod, at the bottom, was not touched */
	T_TRUE(complains("popped pipemod") && complains("pushed srvmod"));
	T_FALSE(complains("nullmod"));
	T_EQ(RUN(fd[0], "strconf"), 0);
	T_STR(out_text, "srvmod\nnullmod\n");
	write_file(file, "waytoolonganame\n");
	T_EQ(RUN(fd[0], "strchg", "-f", file), 1);
	T_TRUE(complains("line 1"));
}

/* --------------------------------------------------------------- strreset */

T_CASE(strreset_flushes_and_resets)
{
	int fd[2], n;

	a_pipe(fd);
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	T_EQ(write(fd[1], "hello", 5), 5);
	T_OK(ioctl(fd[0], I_SRDOPT, RMSGN));
	T_EQ(RUN(fd[0], "strreset"), 0);
	T_EQ(T_OK(ioctl(fd[0], I_NREAD, &n)), 0);
	T_OK(ioctl(fd[0], I_GRDOPT, &n));
	T_EQ(n & 3, RNORM);
	T_EQ(RUN(fd[0], "strconf", "-m", "nullmod"), 0);
	T_EQ(RUN(fd[0], "strreset", "-p"), 0);
	T_EQ(RUN(fd[0], "strconf"), 0);
	T_STR(out_text, "");
	T_EQ(RUN(-1, "strreset"), 1);
	T_EQ(RUN(-1, "strreset", "/nonexistent"), 1);
}

/* ---------------------------------------------------------------- strtune */

T_CASE(strtune_sets_water_marks)
{
	int fd[2];

	a_pipe(fd);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_EQ(RUN(-1, "strtune", "-n", "srvmod", "-r", "hiwat=8K",
		     "lowat=1000"), 0);
	T_EQ(RUN(-1, "strtune", "-n", "srvmod", "-r"), 0);
	T_TRUE(says("hiwat=8192 lowat=1000"));
	T_EQ(RUN(-1, "strtune", "-n", "srvmod", "-w"), 0);
	T_FALSE(says("hiwat=8192"));
	/* only queues that are there */
	T_OK(ioctl(fd[1], I_PUSH, "srvmod"));
	T_EQ(RUN(-1, "strtop", "--json"), 0);
	T_TRUE(json_says("sorted(q['hiwat'] == 8192 for s in v['streams'] "
			 "for h in s['heads'] for q in h['queues'] "
			 "if q['name'] == 'srvmod' and q['side'] == 'read')"
			 " == [False, True]"));
	/* and those made later */
	T_EQ(RUN(-1, "strtune", "-n", "nullmod", "-a", "-r", "hiwat=77777"),
		0);
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	T_EQ(RUN(-1, "strtune", "-n", "nullmod", "-r"), 0);
	T_TRUE(says("hiwat=77777"));
}

T_CASE(strtune_refuses_nonsense)
{
	int fd[2];

	a_pipe(fd);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_EQ(RUN(-1, "strtune", "-n", "srvmod", "hiwat=1", "lowat=2"), 1);
	T_EQ(RUN(-1, "strtune", "-n", "srvmod", "minpsz=9", "maxpsz=3"), 1);
	T_EQ(RUN(-1, "strtune", "-n", "srvmod", "hiwat=-1"), 2);
	T_EQ(RUN(-1, "strtune", "-n", "srvmod", "hiwat"), 2);
	T_EQ(RUN(-1, "strtune", "-n", "nosuch", "hiwat=1"), 1);
	T_EQ(RUN(-1, "strtune", "-q", "6a0000000010", "hiwat=1"), 1);
	T_EQ(RUN(-1, "strtune"), 2);
	T_EQ(RUN(-1, "strtune", "-n", "srvmod"), 0);
	T_FALSE(says("hiwat=1 "));
}

T_CASE(strtune_reads_a_file)
{
	const char *file = temp("tune");
	int fd[2];

	a_pipe(fd);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	write_file(file, "# c\n-n srvmod -rw hiwat=4321 maxpsz=INFPSZ\n\n");
	T_EQ(RUN(-1, "strtune", "-f", file), 0);
	T_EQ(RUN(-1, "strtune", "-n", "srvmod"), 0);
	T_TRUE(says("hiwat=4321") && says("maxpsz=INFPSZ"));
	write_file(file, "-n srvmod -x\n-n srvmod hiwat=5\n");
	T_EQ(RUN(-1, "strtune", "-f", file), 1);
	T_TRUE(complains("line 1"));
	T_EQ(RUN(-1, "strtune", "-n", "srvmod"), 0);
	T_TRUE(says("hiwat=5 "));
}

/* ------------------------------------------------------- strinfo and strtop */

T_CASE(strinfo_counts)
{
	int fd[2];

	a_pipe(fd);
	T_EQ(RUN(-1, "strinfo"), 0);
	T_TRUE(says("streams     1,") && says("BLOCKS"));
	T_FALSE(says("nullmod"));
	T_EQ(RUN(-1, "strinfo", "-m", "-p"), 0);
	T_TRUE(says("nullmod") && says("process "));
	T_EQ(RUN(-1, "strinfo", "--json"), 0);
	T_TRUE(json_says("v['domain']['streams'] == 1 and "
			 "v['domain']['blocks']['streams'] == 1 and "
			 "len(v['processes']) == 2 and len(v['modules']) > 9"));
	T_EQ(RUN(-1, "strinfo", "x"), 2);
}

T_CASE(strtop_shows_streams_their_queues_and_holders)
{
	int fd[2];

	a_pipe(fd);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_OK(ioctl(fd[1], I_PUSH, "nullmod"));
	T_EQ(write(fd[1], "hello", 5), 5);
	T_EQ(RUN(-1, "strtop", "-1al"), 0);
	T_TRUE(says("pipe") && says("srvmod") && says("nullmod") &&
		says("srv"));
	T_EQ(RUN(-1, "strtop", "--json"), 0);
	T_TRUE(json_says("len(v['streams']) == 1"));
	T_TRUE(json_says("[[q['name'] for q in h['queues'] "
			 "if q['side'] == 'write'] for h in "
			 "v['streams'][0]['heads']] == "
			 "[['sth', 'srvmod'], ['sth', 'nullmod']]"));
	T_TRUE(json_says("all(len(f['holders']) == 1 for h in "
			 "v['streams'][0]['heads'] for f in h['open_files'])"));
	T_TRUE(json_says("[(h['files'], len(h['open_files'])) for h in "
			 "v['streams'][0]['heads']] == [(1, 1), (1, 1)]"));
	T_EQ(RUN(-1, "strtop", "-1", "nosuch"), 0);
	T_FALSE(says("srvmod"));
}

static void *
reads(void *arg)
{
	char c;

	(void)read(*(int *)arg, &c, 1);
	return NULL;
}

static void *
writes(void *arg)
{
	static char buf[4096];

	while (write(*(int *)arg, buf, sizeof(buf)) > 0)
		;
	return NULL;
}

static bool
why(const char *text)
{
	return RUN(-1, "strtop", "-1w") == 0 && says(text);
}

T_CASE(strtop_explains_a_reader_that_sleeps)
{
	pthread_t thr;
	int fd[2];

	a_pipe(fd);
	T_EQ(RUN(-1, "strtop", "-1w"), 0);
	T_FALSE(says("pipe"));
	T_EQ(pthread_create(&thr, NULL, reads, &fd[0]), 0);
	T_SOON(why("reader asleep at end 0"), 5000);
	T_EQ(RUN(-1, "strtop", "--json"), 0);
	T_TRUE(json_says("[t['waits_for'] for p in v['processes'] "
			 "for t in p['threads'] if 'stream' in t and "
			 "t['state'] != 'running'] == ['read']"));
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(pthread_join(thr, NULL), 0);
	T_SOON(!why("reader asleep"), 5000);
}

T_CASE(strtop_explains_a_writer_that_a_full_head_stops)
{
	static char buf[65536];
	pthread_t thr;
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	a_pipe(fd);
	T_EQ(pthread_create(&thr, NULL, writes, &fd[1]), 0);
	T_SOON(why("writer asleep at end 1"), 5000);
	T_TRUE(says("full: end 0 has"));
	T_TRUE(read(fd[0], buf, sizeof(buf)) > 0);
	T_OK(close(fd[0]));
	T_EQ(pthread_join(thr, NULL), 0);
}

T_CASE(strtop_explains_a_writer_that_a_full_module_stops)
{
	pthread_t thr;
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	a_pipe(fd);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_EQ(pthread_create(&thr, NULL, writes, &fd[1]), 0);
	T_SOON(why("writer asleep at end 1"), 5000);
	T_SOON(why("full: srvmod, read side, end 0"), 5000);
	T_TRUE(says("full: end 0 has"));
	T_EQ(RUN(-1, "strtop", "--json"), 0);
	T_TRUE(json_says("any('srvmod' in w for w in "
			 "v['streams'][0]['waits'])"));
	T_TRUE(json_says("any('QFULL' in q['flags'] for h in "
			 "v['streams'][0]['heads'] for q in h['queues'])"));
	T_OK(close(fd[0]));
	T_EQ(pthread_join(thr, NULL), 0);
}

static void *
asks(void *arg)
{
	struct strioctl io = { .ic_cmd = 'z' << 8 | 1, .ic_timout = 20 };

	(void)ioctl(*(int *)arg, I_STR, &io);
	return NULL;
}

T_CASE(strtop_explains_an_ioctl_without_an_answer)
{
	static char buf[4096];
	pthread_t thr;
	int fd[2];

	/* it waits behind data that is not read */
	a_pipe(fd);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_OK(fcntl(fd[1], F_SETFL, O_NONBLOCK));
	while (write(fd[1], buf, sizeof(buf)) > 0)
		;
	T_EQ(errno, EAGAIN);
	T_EQ(pthread_create(&thr, NULL, asks, &fd[1]), 0);
	T_SOON(why("ioctl in progress at end 1"), 5000);
	T_TRUE(says("no answer yet") && says("ioctl asleep at end 1"));
	T_TRUE(says("full: srvmod, read side, end 0"));
	T_OK(ioctl(fd[0], I_FLUSH, FLUSHRW));
	T_OK(close(fd[0]));
	T_EQ(pthread_join(thr, NULL), 0);
}

T_CASE(strtop_shows_device_streams)
{
	int fd = T_OK(open("/dev/streams/echo/3", O_RDWR));

	T_EQ(RUN(-1, "strtop", "-1", "echo/3"), 0);
	T_TRUE(says("echo/3") && says("echo"));
	T_EQ(RUN(-1, "strtop", "--json"), 0);
	T_TRUE(json_says("v['streams'][0]['name'] == 'echo/3' and "
			 "v['streams'][0]['id'][0] == 's' and "
			 "len(v['streams'][0]['heads']) == 1"));
	T_OK(close(fd));
}

T_CASE(strtop_counts_what_it_did_not_have_to_wake)
{
	int fd[2];

	a_pipe(fd);
	for (int i = 0; i < 1000; i++)
		T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(RUN(-1, "strtop", "--json"), 0);
	T_TRUE(json_says("900 < v['domain']['elided'] < 1200"));
}

/* A domain in which others come and go can be looked at. */
T_CASE_TIMEOUT(looking_at_a_busy_domain_is_safe, 60)
{
	pid_t pid[3];
	int looks = 0;

	T_EQ(RUN(-1, "strinfo"), 0); /* the domain is there */
	for (int i = 0; i < 3; i++) {
		pid[i] = T_OK(fork());
		if (pid[i] != 0)
			continue;
		(void)nice(19);
		for (unsigned n = 0;; n++) {
			static char buf[3000];
			int fd[2];

			if (pipe(fd) != 0)
				_exit(1);
			(void)ioctl(fd[0], I_PUSH, "srvmod");
			(void)write(fd[1], buf, n % sizeof(buf) + 1);
			(void)ioctl(fd[1], I_PUSH, "bufmod");
			(void)read(fd[0], buf, sizeof(buf));
			(void)ioctl(fd[0], I_POP, 0);
			(void)close(fd[0]);
			(void)close(fd[1]);
		}
	}
	for (; looks < 5; looks++) {
		T_EQ(RUN(-1, "strtop", "--json"), 0);
		T_TRUE(json_says("'streams' in v"));
	}
	T_EQ(stop(pid[0], SIGKILL), 1000 + SIGKILL);
	T_EQ(RUN(-1, "strtop", "-1alw"), 0);
	T_EQ(stop(pid[1], SIGKILL), 1000 + SIGKILL);
	T_EQ(stop(pid[2], SIGKILL), 1000 + SIGKILL);
	T_EQ(RUN(-1, "strtop", "-1alw"), 0);
}

/* --------------------------------------------------------------- autopush */

T_CASE(autopush_needs_no_alias_of_the_driver)
{
	char path[4096];
	FILE *f;

	T_NOTNULL(getcwd(path, sizeof(path) - 32));
	snprintf(path + strlen(path), 32, "/no-alias.%d", (int)getpid());
	f = fopen(path, "w");
	T_NOTNULL(f);
	fputs("dev /dev/other echo clone\n", f);
	T_OK(fclose(f));
	T_OK(setenv("STREAMS_CONF", path, 1));
	T_EQ(RUN(-1, "autopush", "-v", "relay"), 0);
	T_EQ(RUN(-1, "autopush", "-s", "-M", "echo", "-m", "7", "relay"), 0);
	T_EQ(RUN(-1, "autopush", "-r", "-M", "echo", "-m", "7"), 0);
	T_OK(unsetenv("STREAMS_CONF"));
	T_OK(unlink(path));
}

T_CASE(autopush_sets_shows_and_removes)
{
	T_EQ(RUN(-1, "autopush", "-s", "-M", "echo", "-m", "5", "nullmod",
		     "relay"), 0);
	T_EQ(RUN(-1, "autopush", "-g", "-M", "echo", "-m", "5"), 0);
	T_STR(out_text, "echo\t5\t0\tnullmod relay\n");
	T_EQ(RUN(-1, "strconf", "/dev/streams/echo/5"), 0);
	T_STR(out_text, "relay\nnullmod\necho\n");
	T_EQ(RUN(-1, "strconf", "/dev/streams/echo/6"), 0);
	T_STR(out_text, "echo\n");
	T_EQ(RUN(-1, "autopush", "--json"), 0);
	T_TRUE(json_says("any(e['driver'] == 'echo' and e['minor'] == 5 and "
			 "e['modules'] == ['nullmod', 'relay'] for e in v)"));
	/* a second one, for what is configured */
	T_EQ(RUN(-1, "autopush", "-s", "-M", "echo", "-m", "5", "relay"), 1);
	T_EQ(RUN(-1, "autopush", "-r", "-M", "echo", "-m", "5"), 0);
	T_EQ(RUN(-1, "autopush", "-g", "-M", "echo", "-m", "5"), 1);
	T_EQ(RUN(-1, "autopush", "-r", "-M", "echo", "-m", "5"), 1);
	T_EQ(RUN(-1, "strconf", "/dev/streams/echo/5"), 0);
	T_STR(out_text, "echo\n");
}

T_CASE(autopush_removes_the_entry_that_is_named)
{
	T_EQ(RUN(-1, "autopush", "-s", "-M", "echo", "nullmod"), 0);
	T_EQ(RUN(-1, "autopush", "-s", "-M", "echo", "-m", "0", "relay"), 0);
	/* minor 9 uses the entry for all minors, and has none of its own */
	T_EQ(RUN(-1, "autopush", "-g", "-M", "echo", "-m", "9"), 0);
	T_STR(out_text, "echo\t-1\t0\tnullmod\n");
	T_EQ(RUN(-1, "autopush", "-r", "-M", "echo", "-m", "9"), 1);
	T_EQ(RUN(-1, "autopush", "-g", "-M", "echo"), 0);
	T_STR(out_text, "echo\t-1\t0\tnullmod\n");
	T_EQ(RUN(-1, "autopush", "-r", "-M", "echo"), 0);
	T_EQ(RUN(-1, "autopush", "-g", "-M", "echo"), 1);
	T_EQ(RUN(-1, "autopush", "-r", "-M", "echo"), 1);
	T_EQ(RUN(-1, "autopush", "-g", "-M", "echo", "-m", "0"), 0);
	T_STR(out_text, "echo\t0\t0\trelay\n");
	T_EQ(RUN(-1, "autopush", "-r", "-M", "echo", "-m", "0"), 0);
	T_EQ(RUN(-1, "autopush", "-g", "-M", "echo", "-m", "0"), 1);
}

T_CASE(autopush_verifies_and_refuses)
{
	T_EQ(RUN(-1, "autopush", "-v", "relay", "nullmod"), 0);
	T_STR(out_text, "yes\n");
	T_EQ(RUN(-1, "autopush", "-v", "relay", "nosuch"), 1);
	T_STR(out_text, "no\n");
	T_EQ(RUN(-1, "autopush", "-s", "-M", "nosuch", "relay"), 1);
	T_EQ(RUN(-1, "autopush", "-s", "-M", "echo", "nosuch"), 1);
	T_EQ(RUN(-1, "autopush", "-s", "-M", "echo"), 2);
	T_EQ(RUN(-1, "autopush", "-s", "relay"), 2);
	T_EQ(RUN(-1, "autopush", "-s", "-M", "echo", "-m", "9", "-l", "3",
		     "relay"), 2);
}

T_CASE(autopush_applies_a_file_and_names_bad_lines)
{
	const char *file = temp("apush");

	write_file(file, "# x\necho 7 9 relay\nloop 0 0\nnosuch 0 0 relay\n"
			 "echo -1 0 nullmod\n");
	T_EQ(RUN(-1, "autopush", "-f", file), 1);
	T_TRUE(complains("line 3") && complains("line 4"));
	T_FALSE(complains("line 2"));
	T_EQ(RUN(-1, "strconf", "/dev/streams/echo/8"), 0);
	T_STR(out_text, "relay\necho\n");
	T_EQ(RUN(-1, "strconf", "/dev/streams/echo/2"), 0);
	T_STR(out_text, "nullmod\necho\n");
}

T_CASE(the_system_s_file_is_applied_before_the_first_device)
{
	const char *file = temp("apush");

	write_file(file, "echo 4 0 relay\nrubbish\nnosuch 0 0 relay\n");
	setenv("STREAMS_AUTOPUSH", file, 1);
	T_EQ(RUN(-1, "strconf", "/dev/streams/echo/4"), 0);
	T_STR(out_text, "relay\necho\n");
	/* once: what has been removed stays so */
	T_EQ(RUN(-1, "autopush", "-r", "-M", "echo", "-m", "4"), 0);
	T_EQ(RUN(-1, "strconf", "/dev/streams/echo/4"), 0);
	T_STR(out_text, "echo\n");
}

T_CASE(without_a_file_the_one_that_is_built_in_is_applied)
{
	T_OK(unsetenv("STREAMS_AUTOPUSH"));
	T_EQ(RUN(-1, "strconf", "/dev/loop.9"), 0);
	T_STR(out_text, "relay\nloop\n");
}

/* ---------------------------------------------------------------- logging */

static pid_t
logger(const char *const *argv, const char *file)
{
	pid_t pid = start_argv(-1, file, argv);

	T_SOON(file_has(temp("err"), "listening"), 10000);
	return pid;
}

T_CASE(strerr_writes_what_strlog_logs)
{
	const char *const argv[] = { "strerr", "-v", "-n", NULL };
	const char *file = temp("log");
	pid_t pid = logger(argv, file);

	T_EQ(RUN(-1, "strlog", "-E", "-M", "77", "-S", "5", "hello", "you"),
		0);
	T_SOON(file_has(file, " E 77 5 0 hello you\n"), 5000);
	T_EQ(RUN(-1, "strlog", "-T", "-M", "78", "not for it"), 0);
	/* strlog(3), and a text that is not for a terminal */
	T_EQ(strlog(79, 1, 2, SL_ERROR | SL_FATAL, "a%cb %d", 7, 42), 0);
	T_SOON(file_has(file, " EF 79 1 2 a\\007b 42\n"), 5000);
	T_EQ(pstrlog(80, 1, 2, SL_ERROR, 3 << 3 | 2, "%s", "with pri"), 0);
	T_SOON(file_has(file, " 3.2 E 80 1 2 with pri\n"), 5000);
	T_FALSE(file_has(file, "not for it"));
	T_EQ(stop(pid, SIGTERM), 0);
}

T_CASE(two_error_loggers_both_hear_it)
{
	const char *const argv[] = { "strerr", "-v", "-n", NULL };
	const char *file[2] = { temp("log"), temp("log2") };
	pid_t pid[2];

	for (int i = 0; i < 2; i++)
		pid[i] = logger(argv, file[i]);
	T_EQ(RUN(-1, "strlog", "-E", "to both"), 0);
	for (int i = 0; i < 2; i++) {
		T_SOON(file_has(file[i], "to both"), 5000);
		T_EQ(stop(pid[i], SIGTERM), 0);
	}
}

T_CASE(str_strace_takes_what_it_asked_for)
{
	const char *const argv[] = { "str-strace", "-v", "-n", "--json", "41",
		"all", "2", NULL };
	const char *file = temp("log");
	pid_t pid = logger(argv, file);

	T_EQ(RUN(-1, "strlog", "-M", "42", "other module"), 0);
	T_EQ(RUN(-1, "strlog", "-M", "41", "-L", "3", "too detailed"), 0);
	T_EQ(RUN(-1, "strlog", "-i", "-t", "me", "-M", "41", "-L", "2",
		     "yes"), 0);
	T_SOON(file_has(file, "]: yes\"}\n"), 5000);
	T_TRUE(file_has(file, "\"flags\": \"T\""));
	T_TRUE(file_has(file, "\"me["));
	T_FALSE(file_has(file, "other module"));
	T_FALSE(file_has(file, "too detailed"));
	T_EQ(stop(pid, SIGTERM), 0);
	T_EQ(RUN(-1, "str-strace", "1", "2"), 2);
	T_EQ(RUN(-1, "str-strace", "1", "2", "x"), 2);
}

/* SL_NOTIFY alone selects no logger: the default of -E, -T and -c remains */
T_CASE(a_notice_without_a_destination_is_for_tracers)
{
	const char *const argv[] = { "str-strace", "-v", "-n", NULL };
	const char *file = temp("log");
	pid_t pid = logger(argv, file);

	T_EQ(RUN(-1, "strlog", "-N", "-M", "9", "told"), 0);
	T_SOON(file_has(file, " TN 9 0 0 told\n"), 5000);
	T_EQ(stop(pid, SIGTERM), 0);
}

T_CASE(strlog_logs_lines_of_a_file)
{
	const char *const argv[] = { "str-strace", "-v", "-n", NULL };
	const char *file = temp("log"), *lines = temp("lines");
	pid_t pid = logger(argv, file);

	write_file(lines, "first\n\nsecond\n");
	T_EQ(RUN(-1, "strlog", "-s", "-M", "3", "-p", "daemon.err", "-f",
		     lines), 0);
	T_TRUE(complains("second"));
	T_SOON(file_has(file, " 3.3 T 3 0 0 first\n"), 5000);
	T_SOON(file_has(file, "second\n"), 5000);
	T_EQ(stop(pid, SIGTERM), 0);
	T_EQ(RUN(-1, "strlog", "-p", "nosuch", "x"), 2);
	T_EQ(RUN(-1, "strlog", "-u", "/nonexistent", "x"), 1);
}

/* --------------------------------------------------------------- strclean */

static void
old(const char *path, time_t days)
{
	struct timespec ts[2] = { { .tv_sec = time(NULL) - days * 86400 },
		{ .tv_sec = time(NULL) - days * 86400 } };

	write_file(path, "x");
	T_OK(utimensat(AT_FDCWD, path, ts, 0));
}

T_CASE(strclean_removes_what_is_old_and_nothing_else)
{
	char dir[128];

	old(temp("error.01-02"), 10);
	old(temp("trace.01-02"), 10);
	old(temp("error.11-20"), 1);
	old(temp("error.01-02.errors"), 10);
	old(temp("error.txt"), 10);
	old(temp("mine.01-02"), 10);
	snprintf(dir, sizeof(dir), "%s", temp("x"));
	*strrchr(dir, '/') = '\0';
	T_EQ(RUN(-1, "strclean", "-d", dir, "-o", "-b", "trace"), 0);
	T_ERR(access(temp("trace.01-02"), F_OK), ENOENT);
	T_OK(access(temp("error.01-02"), F_OK));
	T_EQ(RUN(-1, "strclean", "-v", "-d", dir), 0);
	T_TRUE(complains("2 removed"));
	T_ERR(access(temp("error.01-02"), F_OK), ENOENT);
	T_ERR(access(temp("error.01-02.errors"), F_OK), ENOENT);
	T_OK(access(temp("error.11-20"), F_OK));
	T_OK(access(temp("error.txt"), F_OK));
	T_OK(access(temp("mine.01-02"), F_OK));
	T_EQ(RUN(-1, "strclean", "-a", "0", "-d", dir), 0);
	T_ERR(access(temp("error.11-20"), F_OK), ENOENT);
	T_EQ(RUN(-1, "strclean", "-d", "/nonexistent"), 1);
	T_EQ(RUN(-1, "strclean", "-a", "x"), 2);
}

/* --------------------------------------------------- strsetup and the names */

T_CASE(strsetup_checks_and_shows)
{
	const char *file = temp("conf");

	T_EQ(RUN(-1, "strsetup"), 0);
	T_TRUE(says("dev /dev/strlog log clone\n"));
	T_EQ(RUN(-1, "strsetup", "-c"), 0);
	T_STR(out_text, "");
	write_file(file, "dev /dev/x.% x %\nbogus\n\nfifo rel\n");
	T_EQ(RUN(-1, "strsetup", "-f", file), 1);
	T_STR(out_text, "dev /dev/x.% x %\n");
	T_TRUE(complains("line 2") && complains("line 4"));
	T_EQ(RUN(-1, "strsetup", "-l", "/dev/streams/echo/3", "/dev/null",
		     "/dev/strlog"), 0);
	T_STR(out_text, "/dev/streams/echo/3: device echo 3\n"
			"/dev/null: no stream\n/dev/strlog: clone log\n");
	T_OK(chmod(file, 0666));
	T_EQ(RUN(-1, "strsetup", "-f", file), 1);
	T_TRUE(complains("it can be written by others"));
}

T_CASE(programs_open_what_the_configuration_names)
{
	const char *file = temp("conf");

	write_file(file, "dev /dev/str-test-% echo %\n");
	setenv("STREAMS_CONF", file, 1);
	T_EQ(RUN(-1, "strconf", "/dev/str-test-12"), 0);
	T_STR(out_text, "echo\n");
	T_EQ(RUN(-1, "strconf", "/dev/str-test-x"), 1);
	T_EQ(RUN(-1, "strconf", "/dev/strlog"), 1);
}

/* ----------------------------------------------------- fattach and fdetach */

T_CASE(fattach_names_the_stream_on_standard_input)
{
	const char *path = temp("name");
	int fd[2], f;
	char buf[8];

	a_pipe(fd);
	T_EQ(RUN(fd[0], "fattach", path), 1);
	T_EQ(RUN(fd[0], "fattach", "-m", "600", path), 0);
	T_EQ(RUN(-1, "strtop", "-1a"), 0);
	T_TRUE(says("named /tmp/") && says("/name, end 0"));
	T_EQ(RUN(-1, "strtop", "--json"), 0);
	T_TRUE(json_says("v['streams'][0]['names'][0]['path']"
			 ".endswith('/name')"));
	f = T_OK(open(path, O_RDWR));
	T_EQ(isastream(f), 1);
	T_EQ(write(f, "hello", 5), 5);
	T_EQ(read(fd[1], buf, sizeof(buf)), 5);
	T_OK(close(f));
	T_EQ(RUN(-1, "fdetach", path), 0);
	T_EQ(RUN(-1, "fdetach", path), 1);
	f = T_OK(open(path, O_RDWR));
	T_EQ(isastream(f), 0);
	T_OK(close(f));
	T_EQ(RUN(-1, "fattach", path), 1);
	T_TRUE(complains("not a stream"));
	T_EQ(RUN(-1, "fdetach"), 2);
	T_EQ(RUN(-1, "fattach", "-m", "99", path), 2);
}

T_CASE(fattach_makes_a_pipe_with_two_names)
{
	char a[128], b[128], buf[8];
	int fa, fb;

	snprintf(a, sizeof(a), "%s", temp("one"));
	snprintf(b, sizeof(b), "%s", temp("two"));
	T_EQ(RUN(-1, "fattach", "-p", "-m", "600", a, b), 0);
	fa = T_OK(open(a, O_RDWR));
	fb = T_OK(open(b, O_RDWR));
	T_EQ(write(fa, "hi", 2), 2);
	T_EQ(read(fb, buf, sizeof(buf)), 2);
	T_OK(close(fa));
	T_OK(close(fb));
	T_EQ(RUN(-1, "fdetach", "-a", a, b), 0);
	T_EQ(RUN(-1, "fattach", "-p", a), 2);
}
