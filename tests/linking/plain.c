/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Pipelines of a linked program and programs outside the domain.  Each row runs
 * twice, with the kernel's pipes and with ours, and must give the same bytes
 * and the same exit statuses.
 *
 * PLAINPROG in the environment is the path of plainprog.c, a static program.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipeline.h"

extern char **environ;

/* ------------------------------------------------------------ by exec */

static void
filter(const char *const *argv, size_t before, size_t after)
{
	int to[2], from[2];
	pid_t pid, w;

	mk(to);
	mk(from);
	put(to[1], before);
	pid = run(argv, to[0], from[1], SHUT(to[0], to[1], from[0], from[1]));
	close(to[0]);
	close(from[1]);
	w = fork();
	if (w == 0) {
		close(from[0]);
		put(to[1], after);
		_exit(0);
	}
	close(to[1]);
	get(from[0]);
	status("writer", w);
	status("filter", pid);
}

static void
filter_all(const char *const *argv)
{
	static const size_t size[][2] = {
		{0, 0}, {0, 5}, {5, 0}, {5, 5}, {60000, 0}, {0, 70000},
		{60000, 2000000}, {4096, 300000},
	};

	for (size_t i = 0; i < sizeof size / sizeof *size; i++)
		filter(argv, size[i][0], size[i][1]);
}

ROW(cat_by_exec) { filter_all(ARGS("cat")); }
ROW(sort_by_exec) { filter_all(ARGS("sort")); }
ROW(shell_by_exec) { filter_all(SH("cat; echo end")); }
ROW(a_static_program_by_exec) { filter_all(PROG("copy", "0", "1")); }
ROW(a_static_program_that_polls) { filter_all(PROG("poll", "0")); }
ROW(with_an_empty_environment)
{
	filter_all(ARGS("env", "-i", "/bin/cat"));
}
ROW(a_linked_shell_of_programs) { filter_all(SH("cat | sort | cat")); }
ROW(by_path_of_standard_input) { filter_all(ARGS("cat", "/dev/stdin")); }
ROW(a_static_program_opens_its_input)
{
	filter_all(PROG("open", "/proc/self/fd/0"));
}
ROW(to_a_path_of_standard_output) { filter_all(SH("cat >/dev/stdout")); }

static void
between(const char *const *left, const char *const *right)
{
	int mid[2], from[2];
	pid_t a, b;

	mk(mid);
	mk(from);
	a = run(left, -1, mid[1], SHUT(mid[0], mid[1], from[0], from[1]));
	b = run(right, mid[0], from[1], SHUT(mid[0], mid[1], from[0], from[1]));
	close(mid[0]);
	close(mid[1]);
	close(from[1]);
	get(from[0]);
	status("left", a);
	status("right", b);
}

ROW(between_two_programs)
{
	between(ARGS("seq", "100000"), ARGS("sort", "-rn"));
	between(PROG("gen", "1", "3000000"), PROG("sum", "0"));
	between(ARGS("true"), ARGS("cat"));
}
ROW(a_writer_whose_reader_has_ended_gets_SIGPIPE)
{
	between(ARGS("yes"), ARGS("head", "-n", "1"));
	between(ARGS("yes"), ARGS("true"));
	between(PROG("gen", "1", "30000000"), PROG("head", "0", "10"));
	between(PROG("gen", "1", "30000000"), ARGS("head", "-c", "100000"));
}

static void
reads_some(int fd)
{
	char buf[10];

	(void)!read(fd, buf, sizeof buf);
}

ROW(a_program_whose_member_reader_closes_gets_SIGPIPE)
{
	for (int way = 0; way < 3; way++) {
		int p[2];
		pid_t pid, m;

		mk(p);
		pid = run(ARGS("yes"), -1, p[1], SHUT(p[0], p[1]));
		close(p[1]);
		if (way == 0) {
			reads_some(p[0]);
			close(p[0]);
		} else if (way == 1) {
			m = member(reads_some, p[0], SHUT(-1));
			close(p[0]);
			status("member", m);
		} else {
			nap(100);
			close(p[0]);
		}
		status("yes", pid);
	}
}

static void
writes_on(int fd)
{
	signal(SIGPIPE, SIG_DFL);
	put(fd, 30000000);
}

ROW(a_member_whose_program_ends_gets_SIGPIPE)
{
	static const char *const text[] = {
		"exit 0", "head -c 1 >/dev/null", "sleep 0.1; exit 3",
		"head -c 300000 >/dev/null", "sleep 0.2; kill -9 $$",
	};

	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		int p[2];
		pid_t pid, m;

		mk(p);
		pid = run(SH(text[i]), p[0], -1, SHUT(p[0], p[1]));
		m = member(writes_on, p[1], SHUT(p[0]));
		close(p[0]);
		close(p[1]);
		status("member", m);
		status("program", pid);
	}
}

/* -------------------------------------------------------- the end of it */

static void
writes_60000(int fd)
{
	put(fd, 60000);
}

ROW(what_a_dead_writer_wrote_is_read_by_a_program_later)
{
	int p[2], from[2];
	pid_t pid, m;

	mk(p);
	mk(from);
	m = member(writes_60000, p[1], SHUT(p[0], from[0], from[1]));
	close(p[1]);
	status("member", m);
	pid = run(PROG("sum", "0"), p[0], from[1],
		SHUT(p[0], from[0], from[1]));
	close(p[0]);
	close(from[1]);
	get(from[0]);
	status("program", pid);
}

/* More than a socket's buffer holds is on its way when the writer ends. */
ROW(what_is_written_ahead_of_a_slow_program_arrives)
{
	int p[2], from[2];
	pid_t pid, m;

	mk(p);
	mk(from);
	m = fork();
	if (m == 0) {
		close(p[0]);
		close(from[0]);
		close(from[1]);
		put(p[1], 480000);
		_exit(0);
	}
	close(p[1]);
	nap(300); /* ours is written as a whole, the kernel's is not */
	pid = run(SH("sleep 0.3; exec \"$PLAINPROG\" sum 0"), p[0], from[1],
		SHUT(p[0], from[0], from[1]));
	close(p[0]);
	close(from[1]);
	get(from[0]);
	status("program", pid);
	status("member", m);
}

/* The same, and the process that starts the program closes first. */
ROW(a_parent_that_writes_starts_and_closes_loses_nothing)
{
	int p[2], from[2];
	pid_t pid;

	mk(p);
	mk(from);
	put(p[1], 65536);
	pid = run(SH("sleep 0.2; exec \"$PLAINPROG\" sum 0"), p[0], from[1],
		SHUT(p[0], p[1], from[0], from[1]));
	close(p[0]);
	close(p[1]);
	close(from[1]);
	get(from[0]);
	status("program", pid);
}

ROW(the_process_itself_becomes_the_program)
{
	int p[2], from[2], st;
	pid_t pid;

	mk(from);
	pid = fork();
	if (pid == 0) {
		mk(p);
		put(p[1], 60000);
		close(p[1]);
		dup2(p[0], 0);
		dup2(from[1], 1);
		close(p[0]);
		close(from[0]);
		close(from[1]);
		execl(getenv("PLAINPROG"), "plainprog", "sum", "0", NULL);
		_exit(127);
	}
	close(from[1]);
	get(from[0]);
	(void)st;
	status("program", pid);
}

ROW(a_program_takes_a_part_and_the_next_one_the_rest)
{
	int p[2], from[2];
	pid_t pid;

	mk(p);
	mk(from);
	put(p[1], 60000);
	pid = run(PROG("head", "0", "10000"), p[0], -1,
		SHUT(p[0], p[1], from[0], from[1]));
	status("one", pid);
	put(p[1], 100);
	close(p[1]);
	pid = run(PROG("sum", "0"), p[0], from[1],
		SHUT(p[0], from[0], from[1]));
	close(p[0]);
	close(from[1]);
	get(from[0]);
	status("two", pid);
}

ROW(a_program_takes_a_part_and_a_member_the_rest)
{
	int p[2];
	pid_t pid;

	mk(p);
	put(p[1], 60000);
	pid = run(PROG("head", "0", "10000"), p[0], -1, SHUT(p[0], p[1]));
	status("one", pid);
	put(p[1], 100);
	close(p[1]);
	get(p[0]);
}

ROW(members_and_programs_write_in_turn)
{
	int p[2];
	pid_t pid;

	mk(p);
	for (int i = 0; i < 3; i++) {
		put(p[1], 1000);
		pid = run(PROG("gen", "1", "700"), -1, p[1], SHUT(p[0], p[1]));
		status("program", pid);
		pid = member(writes_60000, p[1], SHUT(p[0]));
		status("member", pid);
		{
			char buf[61700];
			size_t n = 0;

			while (n < sizeof buf) {
				ssize_t k = read(p[0], buf + n, sizeof buf - n);

				if (k <= 0)
					break;
				n += (size_t)k;
			}
			note("%zu %d %d %d\n", n,
				(unsigned char)buf[999] == byte_at(999),
				(unsigned char)buf[1699] == byte_at(699),
				(unsigned char)buf[61699] == byte_at(59999));
		}
	}
	close(p[1]);
	get(p[0]);
}

/* ------------------------------------------------ at numbers above 2 */

static void
at_number(const char *const *argv, int in, int out)
{
	int to[2], from[2];
	pid_t pid;

	mk(to);
	mk(from);
	put(to[1], 1000);
	pid = fork();
	if (pid == 0) {
		dup2(to[0], in);
		dup2(from[1], out);
		if (to[0] != in)
			close(to[0]);
		close(to[1]);
		close(from[0]);
		if (from[1] != out)
			close(from[1]);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	nap(50);
	put(to[1], 30000);
	{
		pid_t w = fork();

		if (w == 0) {
			/* no call of the library before the program has all */
			(void)syscall(SYS_pause);
			_exit(0);
		}
		close(to[1]);
		kill(w, SIGKILL);
		status("keeper", w);
	}
	get(from[0]);
	status("program", pid);
}

ROW(a_shell_with_other_numbers)
{
	at_number(SH("cat <&7 >&8"), 7, 8);
	at_number(SH("exec 3<&7; head -c 5 <&3 >&8; cat <&3 >&8"), 7, 8);
}
ROW(a_static_program_with_other_numbers)
{
	at_number(PROG("copy", "7", "8"), 7, 8);
}

/* The writer writes once and then makes no call for a long time. */
ROW(a_writer_that_calls_no_more_reaches_any_number)
{
	for (int in = 0; in < 8; in += 7) {
		int p[2];
		pid_t pid, w;
		char num[2] = {(char)('0' + in), '\0'};

		mk(p);
		pid = fork();
		if (pid == 0) {
			dup2(p[0], in);
			close(p[0]);
			close(p[1]);
			execl(getenv("PLAINPROG"), "plainprog", "head", num,
				"5000", NULL);
			_exit(127);
		}
		close(p[0]);
		nap(100);
		w = fork();
		if (w == 0) {
			put(p[1], 5000);
			for (;;)
				(void)syscall(SYS_pause);
		}
		status("program", pid);
		kill(w, SIGKILL);
		status("writer", w);
	}
}

/* --------------------------------------------------- the C library's ways */

ROW(popen_reads)
{
	static const char *const text[] = {
		"echo hello", "exit 3", "seq 100000", "cat /dev/null",
	};

	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		FILE *f = popen(text[i], "r");
		size_t n = 0;

		while (fgetc(f) != EOF)
			n++;
		note("%zu, %d\n", n, pclose(f));
	}
}

/* Our pipe is the input and output of what popen() and system() start. */
ROW(popen_and_system_inherit)
{
	int to[2], from[2];
	FILE *f;

	mk(to);
	mk(from);
	fcntl(to[1], F_SETFD, FD_CLOEXEC);
	fcntl(from[0], F_SETFD, FD_CLOEXEC);
	dup2(to[0], 0);
	dup2(from[1], 1);
	put(to[1], 20000);
	note("system %d\n", system("head -c 100"));
	note("system %d\n", system("head -c 100 | cat"));
	f = popen("cat >&2; cat", "w");
	(void)f;
	note("popen %d\n", f != NULL ? pclose(f) : -1);
	f = popen("head -c 100 /dev/stdin", "r");
	for (int i = 0; f != NULL && i < 100; i++)
		(void)fgetc(f);
	note("popen %d\n", f != NULL ? pclose(f) : -1);
	close(from[1]);
	close(1);
	close(to[1]);
	get(from[0]);
	get(0);
}

static void
spawn_filter(bool by_path, const char *const *argv)
{
	posix_spawn_file_actions_t fa;
	int to[2], from[2], err;
	pid_t pid, w;

	mk(to);
	mk(from);
	put(to[1], 5000);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, to[0], 0);
	posix_spawn_file_actions_adddup2(&fa, from[1], 1);
	for (int i = 0; i < 2; i++) {
		posix_spawn_file_actions_addclose(&fa, to[i]);
		posix_spawn_file_actions_addclose(&fa, from[i]);
	}
	err = (by_path ? posix_spawnp : posix_spawn)(&pid, argv[0], &fa, NULL,
		(char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	note("spawn %d\n", err);
	close(to[0]);
	close(from[1]);
	w = member(writes_60000, to[1], SHUT(from[0]));
	close(to[1]);
	get(from[0]);
	status("writer", w);
	status("program", pid);
}

ROW(posix_spawn)
{
	spawn_filter(false, ARGS("/bin/cat"));
	spawn_filter(true, ARGS("sort"));
	spawn_filter(false, SH("cat; echo end"));
	spawn_filter(false, PROG("copy", "0", "1"));
}

/* ------------------------------------------------------------- messages */

static void
pass(int sock, int fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} u = {.room = {0}};
	struct iovec iov = {"x", 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(h), &fd, sizeof fd);
	if (sendmsg(sock, &m, 0) != 1)
		note("sendmsg: %d\n", errno);
}

static void
by_message(bool reads, size_t before, size_t after, bool quiet)
{
	int sv[2], p[2], from[2];
	pid_t pid, w = 0;
	char num[8];

	mk(p);
	mk(from);
	(void)socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
	snprintf(num, sizeof num, "%d", sv[1]);
	pid = run(reads ? PROG("take", num, quiet ? "head" : "sum", "9",
			quiet ? "105" : NULL) :
			PROG("take", num, "gen", "9", "400000"), -1,
		from[1], SHUT(sv[0], p[0], p[1], from[0], from[1]));
	close(sv[1]);
	close(from[1]);
	if (reads)
		put(p[1], before);
	pass(sv[0], p[reads ? 0 : 1]);
	close(p[reads ? 0 : 1]);
	close(sv[0]);
	if (reads) {
		if (!quiet)
			nap(30);
		w = fork();
		if (w == 0) {
			put(p[1], after);
			while (quiet)
				(void)syscall(SYS_pause);
			_exit(0);
		}
		close(p[1]);
		get(from[0]);
	} else {
		get(p[0]);
	}
	status("program", pid);
	if (quiet)
		kill(w, SIGKILL);
	if (w != 0)
		status("writer", w);
}

ROW(a_descriptor_in_a_message)
{
	by_message(true, 0, 0, false);
	by_message(true, 100, 0, false);
	by_message(true, 100, 5, true);
	by_message(true, 0, 105, true);
	by_message(true, 60000, 600000, false);
	by_message(false, 0, 0, false);
}
