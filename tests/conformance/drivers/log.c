/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * log through system calls: log(4).
 */
#include "dr.h"

#include <sys/log.h>
#include <sys/strlog.h>
#include <syslog.h>

static void
say_as(int fd, int mid, int level, int flags, int pri, const char *text)
{
	struct log_ctl lc = {
		.mid = (short)mid,
		.sid = 1,
		.level = (char)level,
		.flags = (short)flags,
		.pri = pri,
	};
	struct strbuf c = {.len = sizeof(lc), .buf = (char *)&lc};
	struct strbuf d = {.len = (int)strlen(text),
		.buf = (char *)(uintptr_t)text};

	T_OK(putmsg(fd, &c, &d, 0));
}

static void
say(int fd, int mid, int level, int flags, const char *text)
{
	say_as(fd, mid, level, flags, 0, text);
}

static struct log_ctl
logged(int fd, const char *text)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	struct log_ctl lc;
	char buf[1024];
	struct strbuf c = {.maxlen = sizeof(lc), .buf = (char *)&lc};
	struct strbuf d = {.maxlen = sizeof(buf), .buf = buf};
	int flags = 0;

	T_EQ(poll(&pfd, 1, T_PATIENCE), 1);
	T_EQ(getmsg(fd, &c, &d, &flags), 0);
	T_EQ(c.len, (int)sizeof(lc));
	T_STR(buf, text);
	return lc;
}

T_CASE(an_error_logger_reads_what_a_program_says)
{
	int fd = dr_open("/dev/strlog"), out = dr_open("/dev/strlog");
	struct log_ctl one, two;

	T_OK(dr_str(fd, I_ERRLOG, NULL, 0));
	say(out, 7, 0, SL_ERROR | SL_WARN, "first");
	say(out, 7, 0, SL_TRACE, "for tracers");
	say(out, 7, 0, SL_ERROR, "second");
	one = logged(fd, "first");
	two = logged(fd, "second");
	T_EQ(one.mid, 7);
	T_EQ(one.flags, SL_ERROR | SL_WARN);
	T_EQ(one.pri, 8 | 4);
	T_EQ(two.seq_no, one.seq_no + 1);
	dr_nothing(fd, 0);
	T_OK(close(fd));
	T_OK(close(out));
}

/* log(4): what is missing in a pri is supplied, and the rest is kept */
T_CASE(a_priority_without_a_facility_is_kept)
{
	int fd = dr_open("/dev/strlog"), out = dr_open("/dev/strlog");

	T_OK(dr_str(fd, I_ERRLOG, NULL, 0));
	say_as(out, 7, 0, SL_ERROR | SL_WARN, LOG_CRIT, "priority");
	say_as(out, 7, 0, SL_ERROR, LOG_DAEMON, "facility");
	say_as(out, 7, 0, SL_ERROR, LOG_DAEMON | LOG_CRIT, "both");
	T_EQ(logged(fd, "priority").pri, LOG_USER | LOG_CRIT);
	T_EQ(logged(fd, "facility").pri, LOG_DAEMON);
	T_EQ(logged(fd, "both").pri, LOG_DAEMON | LOG_CRIT);
	T_OK(close(fd));
	T_OK(close(out));
}

/* <sys/log.h>: LOGMAX bytes, the NUL among them, are a message */
T_CASE(a_long_text_is_cut_at_its_limit)
{
	int fd = dr_open("/dev/strlog"), out = dr_open("/dev/strlog");
	char text[2 * LOGMAX];

	T_OK(dr_str(fd, I_ERRLOG, NULL, 0));
	memset(text, 't', sizeof(text));
	text[LOGMAX - 1] = '\0';
	say(out, 7, 0, SL_ERROR, text);
	(void)logged(fd, text);
	text[LOGMAX - 1] = 't';
	text[sizeof(text) - 1] = '\0';
	say(out, 7, 0, SL_ERROR, text);
	text[LOGMAX - 1] = '\0';
	(void)logged(fd, text);
	T_OK(close(fd));
	T_OK(close(out));
}

T_CASE(a_tracer_chooses)
{
	struct trace_ids ids[2] = {
		{.ti_mid = 7, .ti_sid = -1, .ti_level = 3},
		{.ti_mid = 9, .ti_sid = 2, .ti_level = -1},
	};
	int fd = dr_open("/dev/strlog"), out = dr_open("/dev/strlog");

	T_OK(dr_str(fd, I_TRCLOG, ids, sizeof(ids)));
	say(out, 7, 3, SL_TRACE, "yes");
	say(out, 7, 4, SL_TRACE, "too detailed");
	say(out, 9, 0, SL_TRACE, "another part");
	say(out, 7, 0, SL_ERROR, "no trace");
	(void)logged(fd, "yes");
	dr_nothing(fd, 0);
	T_ERR(dr_str(fd, I_TRCLOG, NULL, 0), EINVAL);
	T_ERR(dr_str(fd, I_TRCLOG, ids, 5), EINVAL);
	T_OK(close(fd));
	T_OK(close(out));
}

T_CASE(what_is_written_is_for_the_console)
{
	int fd = dr_open("/dev/strlog"), out = dr_open("/dev/conslog");

	T_OK(dr_str(fd, I_CONSLOG, NULL, 0));
	T_EQ(write(out, "hello", 5), 5);
	T_EQ(logged(fd, "hello").flags, SL_CONSOLE);
	T_OK(close(fd));
	T_OK(close(out));
}

T_CASE(a_logger_in_another_process_is_woken)
{
	int out = dr_open("/dev/strlog"), ready[2], status;
	pid_t pid;
	char c;

	T_OK(pipe(ready));
	pid = fork();
	T_GE(pid, 0);
	if (pid == 0) {
		int fd = dr_open("/dev/strlog");

		T_OK(dr_str(fd, I_ERRLOG, NULL, 0));
		(void)write(ready[1], "x", 1);
		(void)logged(fd, "wake up");
		_exit(0);
	}
	T_EQ(read(ready[0], &c, 1), 1);
	say(out, 1, 0, SL_ERROR, "wake up");
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	T_OK(close(ready[0]));
	T_OK(close(ready[1]));
	T_OK(close(out));
}
