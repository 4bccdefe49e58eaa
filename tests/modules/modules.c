/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Foreign modules and drivers as programs see them: several processes, each
 * exec'ed, so that each has its own addresses, use the same tables; some of
 * them are killed, and the others go on.
 *
 * Built by run.py, outside of the tree, against what was installed.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain.h"
#include "t.h"

#define WORKERS 6
#define RECORDS 200

/* What a worker tells its parent through an ordinary file. */
struct told {
	void *where;  /* of the module's table */
	void *own;    /* of its own code */
	int serials[RECORDS];
	int n;
};

static void
str(int fd, int cmd, void *arg, int len)
{
	struct strioctl ic = {cmd, 5, len, arg};

	T_OK(ioctl(fd, I_STR, &ic));
}

/* A record through serial; its number. */
static int
number(int fd[2], const char *text)
{
	struct {
		int n;
		char text[60];
	} rec;
	size_t len = strlen(text);
	ssize_t n;

	T_EQ(write(fd[0], text, len), (ssize_t)len);
	n = T_OK(read(fd[1], &rec, sizeof rec));
	T_EQ(n, (ssize_t)(sizeof(int) + len));
	T_MEM(rec.text, text, len);
	return rec.n;
}

static void
serial_pipe(int fd[2])
{
	T_OK(pipe(fd));
	T_OK(ioctl(fd[0], I_PUSH, "serial"));
}

/* ---------------------------------------------------------------- modules */

T_CASE(a_module_is_loaded_by_its_name)
{
	char name[FMNAMESZ + 1];
	int fd[2], n;

	serial_pipe(fd);
	T_OK(ioctl(fd[0], I_LOOK, name));
	T_STR(name, "serial");
	n = number(fd, "hello");
	T_EQ(number(fd, "world"), n + 1);
	T_OK(ioctl(fd[0], I_POP, 0));
	T_EQ(write(fd[0], "x", 1), 1);
	T_EQ(read(fd[1], name, sizeof name), 1);
}

T_CASE(without_memory_it_waits_for_a_bufcall)
{
	int fd[2], starve = 3, n;

	serial_pipe(fd);
	n = number(fd, "a");
	str(fd[0], SERIAL_STARVE, &starve, sizeof starve);
	T_EQ(number(fd, "b"), n + 1);
	T_EQ(number(fd, "c"), n + 2);
}

T_CASE(a_timeout_of_a_module_comes)
{
	char buf[64];
	int fd[2];

	T_OK(pipe(fd));
	T_OK(ioctl(fd[0], I_PUSH, "batch"));
	for (int i = 0; i < 3; i++) {
		T_EQ(write(fd[0], "one", 3), 3);
		T_EQ(write(fd[0], "two", 3), 3);
		T_EQ(read(fd[1], buf, sizeof buf), 6);
		T_MEM(buf, "onetwo", 6);
	}
}

T_CASE(two_of_them_on_one_stream)
{
	char buf[64];
	int fd[2], n;

	T_OK(pipe(fd));
	T_OK(ioctl(fd[0], I_PUSH, "batch"));
	T_OK(ioctl(fd[0], I_PUSH, "serial"));
	T_EQ(write(fd[0], "one", 3), 3);
	T_EQ(write(fd[0], "two", 3), 3);
	T_EQ(read(fd[1], buf, sizeof buf), 14);
	memcpy(&n, buf, sizeof n);
	T_MEM(buf + 4, "one", 3);
	n++;
	T_MEM(buf + 7, &n, 4);
	T_MEM(buf + 11, "two", 3);
}

T_CASE(more_streams_than_its_table_has_are_refused)
{
	int fd[66][2], i;

	for (i = 0; i < 64; i++)
		serial_pipe(fd[i]);
	T_OK(pipe(fd[i]));
	T_ERR(ioctl(fd[i][0], I_PUSH, "serial"), EBUSY);
	T_OK(close(fd[3][0]));
	T_OK(close(fd[3][1]));
	T_OK(ioctl(fd[i][0], I_PUSH, "serial"));
	T_GT(number(fd[i], "x"), 0);
}

T_CASE(what_is_no_module_is_einval)
{
	static const char *const bad[] = {"nosuch", "", "../serial", "broken",
		"alien", "notmine", "noinfo"};
	int fd[2];

	T_OK(pipe(fd));
	T_OK(close(2)); /* the reasons are for the operator */
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		T_ERR(ioctl(fd[0], I_PUSH, bad[i]), EINVAL);
	T_ERR(ioctl(fd[0], I_PUSH, "ninechars"), EINVAL);
	T_EQ(write(fd[0], "x", 1), 1);
}

/* ---------------------------------------------------- many processes */

/* fork, then exec: another image, at other addresses. */
static pid_t
worker(const char *what, int arg)
{
	char num[16];
	int fd[2];
	pid_t pid;

	/* a private domain is inherited by those who are born in it */
	T_OK(pipe(fd));
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	pid = T_OK(fork());
	if (pid == 0) {
		snprintf(num, sizeof num, "%d", arg);
		execl("/proc/self/exe", "modules", "--worker", what, num,
			NULL);
		_exit(127);
	}
	return pid;
}

static int
status_of(pid_t pid)
{
	int status;

	T_OK(waitpid(pid, &status, 0));
	return WIFEXITED(status) ? WEXITSTATUS(status) :
		1000 + WTERMSIG(status);
}

/* RECORDS records, each with a number; what they were goes to @out. */
static int
work_records(int out)
{
	static struct told t;
	int fd[2];

	serial_pipe(fd);
	str(fd[0], SERIAL_WHERE, &t.where, sizeof t.where);
	t.own = (void *)(uintptr_t)work_records;
	for (t.n = 0; t.n < RECORDS; t.n++)
		t.serials[t.n] = number(fd, "record");
	T_EQ(write(out, &t, sizeof t), (ssize_t)sizeof t);
	return 0;
}

/* Goes into the module and never comes out. */
static int
work_hang(int arg)
{
	int fd[2];

	serial_pipe(fd);
	str(fd[0], SERIAL_HANG, &arg, sizeof arg);
	return 0;
}

/* Until it is killed; says when it has begun. */
static int
work_for_ever(int out)
{
	int fd[2];

	serial_pipe(fd);
	for (int i = 0;; i++) {
		(void)number(fd, "for ever");
		if (i == 20)
			T_EQ(write(out, "x", 1), 1);
	}
}

/* A tick each, until all workers have told where they are, and then some. */
static int
work_metro(int out)
{
	int fd = T_OK(open("/dev/streams/clone/metro", O_RDWR));
	int ticks = 1, n;
	void *where = NULL;
	struct stat st;

	str(fd, METRO_WHERE, &where, sizeof where);
	str(fd, METRO_START, &ticks, sizeof ticks);
	T_EQ(write(out, &where, sizeof where), (ssize_t)sizeof where);
	do
		T_EQ(read(fd, &n, sizeof n), (ssize_t)sizeof n);
	while (T_OK(fstat(out, &st)) != 0 ||
		st.st_size < (off_t)(WORKERS * sizeof where) || n < 20);
	return 0;
}

static int
work_metro_for_ever(int out)
{
	int fd = T_OK(open("/dev/streams/clone/metro", O_RDWR));
	int ticks = 1, n = 0;

	str(fd, METRO_START, &ticks, sizeof ticks);
	for (;;) {
		T_EQ(read(fd, &n, sizeof n), (ssize_t)sizeof n);
		if (n == 5)
			T_EQ(write(out, "x", 1), 1);
	}
}

/* Echoes what comes on its minor. */
static int
work_xover(int minor)
{
	char path[64], buf[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/dev/streams/xover/%d", minor);
	fd = T_OK(open(path, O_RDWR));
	while ((n = T_OK(read(fd, buf, sizeof buf))) > 0)
		T_EQ(write(fd, buf, (size_t)n), n);
	return 0;
}

/* Stays inside the driver for a while. */
static int
work_hold(int ms)
{
	int fd = T_OK(open("/dev/streams/xover/8", O_RDWR));

	str(fd, XOVER_HOLD, &ms, sizeof ms);
	return 0;
}

T_CONSTRUCTOR static void
work(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*fn)(int);
	} row[] = {
		{"records", work_records}, {"for-ever", work_for_ever},
		{"hang", work_hang},
		{"metro", work_metro},
		{"metro-for-ever", work_metro_for_ever}, {"xover", work_xover},
		{"hold", work_hold},
	};

	if (argc != 4 || strcmp(argv[1], "--worker") != 0)
		return;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
		if (strcmp(row[i].name, argv[2]) == 0)
			_exit(row[i].fn(atoi(argv[3])));
	_exit(99);
}

/* An ordinary file or pipe that workers inherit. */
static int
plain_file(void)
{
	char name[] = "/tmp/modules-XXXXXX";
	int fd = T_OK(mkstemp(name));

	T_OK(unlink(name));
	T_OK(fcntl(fd, F_SETFL, O_APPEND));
	return fd;
}

static int
compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * Run WORKERS workers with records at once, and @doomed that are killed in the
 * middle of it: no number is given twice, and the tables are where they are.
 */
static void
all_numbers_differ(int doomed)
{
	static struct told t[WORKERS];
	static int all[WORKERS * RECORDS];
	pid_t pid[WORKERS], doom[WORKERS];
	int out = plain_file(), dead = plain_file(), fd[2], n = 0, bases = 0;
	struct stat st;

	serial_pipe(fd); /* the parent has it mapped as well */
	for (int i = 0; i < doomed; i++)
		doom[i] = worker("for-ever", dead);
	for (int i = 0; i < WORKERS; i++)
		pid[i] = worker("records", out);
	T_SOON(fstat(dead, &st) == 0 && st.st_size == doomed, 20000);
	for (int i = 0; i < doomed; i++)
		T_OK(kill(doom[i], SIGKILL));
	for (int i = 0; i < WORKERS; i++)
		T_EQ(status_of(pid[i]), 0);
	for (int i = 0; i < doomed; i++)
		T_EQ(status_of(doom[i]), 1000 + SIGKILL);
	T_OK(lseek(out, 0, SEEK_SET));
	T_EQ(read(out, t, sizeof t), (ssize_t)sizeof t);
	for (int i = 0; i < WORKERS; i++) {
		T_EQ(t[i].n, RECORDS);
		memcpy(all + n, t[i].serials, sizeof t[i].serials);
		n += RECORDS;
		for (int k = 1; k < RECORDS; k++)
			T_GT(t[i].serials[k], t[i].serials[k - 1]);
		bases += t[i].own != t[0].own;
		/* one table, one address: entries of it are near */
		T_LT(labs((char *)t[i].where - (char *)t[0].where), 65536);
	}
	qsort(all, (size_t)n, sizeof all[0], compare);
	for (int i = 1; i < n; i++)
		T_NE(all[i], all[i - 1]);
	if (bases == 0)
		fprintf(stderr, "# all images are at one address: no ASLR\n");
	T_GT(number(fd, "after all"), all[n - 1]);
}

T_CASE_TIMEOUT(exec_ed_processes_share_its_statics, 60)
{
	all_numbers_differ(0);
}

T_CASE_TIMEOUT(and_do_so_when_others_are_killed, 60)
{
	all_numbers_differ(3);
}

/* One thread at a time is in a module like this; this one dies there. */
T_CASE(who_dies_inside_a_module_does_not_lock_others_out)
{
	volatile int *hung;
	char buf[64];
	pid_t pid;
	int fd[2];

	serial_pipe(fd);
	T_GT(number(fd, "before"), 0);
	str(fd[0], SERIAL_HUNG, &hung, sizeof hung);
	T_EQ(*hung, 0);
	pid = worker("hang", 0);
	T_SOON(*hung == 1, 10000);
	T_EQ(write(fd[0], "meanwhile", 9), 9); /* it waits outside */
	T_OK(fcntl(fd[1], F_SETFL, O_NONBLOCK));
	T_ERR(read(fd[1], buf, sizeof buf), EAGAIN);
	T_OK(fcntl(fd[1], F_SETFL, 0));
	T_OK(kill(pid, SIGKILL));
	T_EQ(status_of(pid), 1000 + SIGKILL);
	T_EQ(read(fd[1], buf, sizeof buf), (ssize_t)sizeof(int) + 9);
	T_GT(number(fd, "after"), 0);
}

T_CASE(a_timeout_of_a_killed_process_comes)
{
	int fd[2], armed[2];
	struct pollfd p;
	pid_t pid;
	char c;

	T_OK(pipe(fd));
	T_OK(pipe(armed));
	T_OK(ioctl(fd[0], I_PUSH, "batch"));
	for (int i = 0; i < 3; i++) {
		/* write, say so, and die: 30 ms are left, as a rule */
		pid = T_OK(fork());
		if (pid == 0) {
			T_EQ(write(fd[0], "armed", 5), 5);
			T_EQ(write(armed[0], "x", 1), 1);
			for (;;)
				(void)pause();
		}
		T_EQ(read(armed[1], &c, 1), 1);
		T_OK(kill(pid, SIGKILL));
		T_EQ(status_of(pid), 1000 + SIGKILL);
		p.fd = fd[1];
		p.events = POLLIN;
		T_EQ(poll(&p, 1, 10000), 1);
		{
			char buf[64];

			T_EQ(read(fd[1], buf, sizeof buf), 5);
		}
	}
}

/* ---------------------------------------------------------------- drivers */

T_CASE(a_driver_that_registers_itself_is_opened)
{
	int fd = T_OK(open("/dev/streams/clone/metro", O_RDWR)), n;
	int ticks = 1;
	struct stat st;

	T_OK(fstat(fd, &st));
	str(fd, METRO_START, &ticks, sizeof ticks);
	for (int i = 1; i <= 5; i++) {
		T_EQ(read(fd, &n, sizeof n), (ssize_t)sizeof n);
		T_EQ(n, i);
	}
	str(fd, METRO_STOP, NULL, 0);
	T_OK(close(fd));
	/* it is no module */
	{
		int p[2];

		T_OK(pipe(p));
		T_ERR(ioctl(p[0], I_PUSH, "metro"), EINVAL);
	}
}

T_CASE(a_driver_crosses_two_streams)
{
	int a = T_OK(open("/dev/streams/xover/0", O_RDWR));
	int b = T_OK(open("/dev/streams/xover/1", O_RDWR));
	char buf[64];

	T_EQ(write(a, "hello", 5), 5);
	T_EQ(read(b, buf, sizeof buf), 5);
	T_EQ(write(b, "hi", 2), 2);
	T_EQ(read(a, buf, sizeof buf), 2);
	T_OK(close(b));
	T_EQ(read(a, buf, sizeof buf), 0); /* hung up */
	T_OK(close(a));
	a = T_OK(open("/dev/streams/xover/0", O_RDWR)); /* and again */
	T_OK(close(a));
	T_ERR(open("/dev/streams/xover/99", O_RDWR), ENXIO);
}

T_CASE(a_driver_that_is_not_there_cannot_be_opened)
{
	errno = 0;
	T_EQ(open("/dev/streams/nosuch/0", O_RDWR), -1);
	T_TRUE(errno == ENXIO || errno == ENODEV || errno == ENOENT);
}

T_CASE_TIMEOUT(exec_ed_processes_share_a_driver, 60)
{
	int out = plain_file(), dead = plain_file();
	pid_t pid[WORKERS], doom[3];
	void *where[WORKERS];
	struct stat st;

	for (int i = 0; i < 3; i++)
		doom[i] = worker("metro-for-ever", dead);
	for (int i = 0; i < WORKERS; i++)
		pid[i] = worker("metro", out);
	T_SOON(fstat(dead, &st) == 0 && st.st_size == 3, 20000);
	for (int i = 0; i < 3; i++) {
		T_OK(kill(doom[i], SIGKILL));
		T_EQ(status_of(doom[i]), 1000 + SIGKILL);
	}
	for (int i = 0; i < WORKERS; i++)
		T_EQ(status_of(pid[i]), 0);
	T_OK(lseek(out, 0, SEEK_SET));
	T_EQ(read(out, where, sizeof where), (ssize_t)sizeof where);
	for (int i = 0; i < WORKERS; i++)
		for (int k = 0; k < i; k++)
			T_NE((uintptr_t)where[i], (uintptr_t)where[k]);
}

/* The killed ones' streams are closed, so that their minors are free. */
T_CASE_TIMEOUT(minors_of_killed_processes_come_back, 60)
{
	int fd[NMETRO], out = plain_file(), n;
	struct stat st;
	pid_t pid;

	pid = worker("metro-for-ever", out);
	T_SOON(fstat(out, &st) == 0 && st.st_size > 0, 20000);
	for (n = 0; n < NMETRO - 1; n++)
		fd[n] = T_OK(open("/dev/streams/clone/metro", O_RDWR));
	T_ERR(open("/dev/streams/clone/metro", O_RDWR), ENXIO);
	T_OK(kill(pid, SIGKILL));
	T_EQ(status_of(pid), 1000 + SIGKILL);
	T_SOON((fd[n] = open("/dev/streams/clone/metro", O_RDWR)) >= 0, 20000);
}

T_CASE_TIMEOUT(who_is_killed_hangs_up, 60)
{
	int fd = T_OK(open("/dev/streams/xover/2", O_RDWR));
	char buf[64];
	pid_t pid = worker("xover", 3);

	for (int i = 0; i < 100; i++) {
		T_EQ(write(fd, "ping", 4), 4);
		T_EQ(read(fd, buf, sizeof buf), 4);
	}
	T_OK(kill(pid, SIGKILL));
	T_EQ(status_of(pid), 1000 + SIGKILL);
	T_EQ(read(fd, buf, sizeof buf), 0);
}

/*
 * What is written while a thread is at work in the driver waits outside, and
 * is not lost when its writer goes before that one is done.
 */
enum how { CLOSES, EXITS, IS_KILLED };

static void
last_words(enum how how)
{
	int fd = T_OK(open("/dev/streams/xover/1", O_RDWR)), go[2], own;
	volatile int *held;
	char buf[64], c;
	pid_t pid, holder;

	str(fd, XOVER_HELD, &held, sizeof held);
	T_EQ(*held, 0);
	T_OK(pipe(go));
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(fd));
		own = T_OK(open("/dev/streams/xover/0", O_RDWR));
		T_EQ(write(go[0], "x", 1), 1);
		T_EQ(read(go[0], &c, 1), 1);
		T_EQ(write(own, "last words", 10), 10);
		if (how == CLOSES)
			T_OK(close(own));
		if (how != IS_KILLED)
			_exit(0);
		T_EQ(write(go[0], "x", 1), 1);
		for (;;)
			(void)pause();
	}
	T_EQ(read(go[1], &c, 1), 1);
	holder = worker("hold", 500);
	T_SOON(*held == 1, 10000);
	T_EQ(write(go[1], "x", 1), 1);
	if (how == IS_KILLED) {
		T_EQ(read(go[1], &c, 1), 1);
		T_OK(kill(pid, SIGKILL));
	}
	T_EQ(read(fd, buf, sizeof buf), 10);
	T_MEM(buf, "last words", 10);
	T_EQ(read(fd, buf, sizeof buf), 0);
	T_EQ(status_of(pid), how == IS_KILLED ? 1000 + SIGKILL : 0);
	T_EQ(status_of(holder), 0);
}

T_CASE(what_waits_outside_a_driver_is_sent_before_a_close)
{
	last_words(CLOSES);
}

T_CASE(what_waits_outside_a_driver_is_sent_before_an_exit)
{
	last_words(EXITS);
}

T_CASE(what_waits_outside_a_driver_is_sent_after_a_kill)
{
	last_words(IS_KILLED);
}
