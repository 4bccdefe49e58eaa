/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The log daemons: request messages from the log driver, and write one line for
 * each.
 *
 *	SEQUENCE HH:MM:SS TICKS FACILITY.PRIORITY FLAGS MID SID LEVEL TEXT
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sys/log.h>

#include "logger.h"

static volatile sig_atomic_t ended, reopen;

static void
end(int sig)
{
	(void)sig;
	ended = 1;
}

static void
hup(int sig)
{
	(void)sig;
	reopen = 1;
}

bool
logger_option(struct logger *l, int c, const char *arg)
{
	switch (c) {
	case 'n':
		l->foreground = true;
		return true;
	case 'l':
		l->dev = arg;
		return true;
	case 'd':
		l->dir = arg;
		return true;
	case 'b':
		l->base = arg;
		return true;
	case 'o':
		l->output = arg;
		return true;
	case 'e':
		l->errors = arg;
		return true;
	case 'p':
		l->pidfile = arg;
		return true;
	case 'a':
		l->mailid = arg;
		return true;
	case TOOL_OPT_JSON:
		l->json = true;
		return true;
	default:
		return false;
	}
}

/* ----------------------------------------------------------------- output */

static FILE *
open_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC |
		O_NOFOLLOW | O_NOCTTY, 0640);
	FILE *f;

	if (fd < 0)
		return NULL;
	f = fdopen(fd, "a");
	if (f == NULL)
		(void)close(fd);
	return f;
}

/* The file for today's messages; a new one after midnight. */
static FILE *
today(struct logger *l)
{
	static FILE *f;
	static int day = -1;
	time_t now = time(NULL);
	char path[4096];
	struct tm tm;

	if (l->dir == NULL && l->output == NULL)
		return stdout;
	(void)localtime_r(&now, &tm);
	if (f != NULL && !reopen && (l->output != NULL || day == tm.tm_yday))
		return f;
	if (f != NULL)
		(void)fclose(f);
	reopen = 0;
	day = tm.tm_yday;
	if (l->output != NULL)
		snprintf(path, sizeof(path), "%s", l->output);
	else
		snprintf(path, sizeof(path), "%s/%s.%02d-%02d", l->dir,
			l->base, tm.tm_mon + 1, tm.tm_mday);
	f = open_file(path);
	if (f == NULL)
		tool_err(l->tool, "%s", path);
	return f;
}

/*
 * Print text without characters that would affect a terminal or break a line.
 */
static void
print_text(FILE *f, const char *s, size_t n)
{
	while (n > 0 && (s[n - 1] == '\n' || s[n - 1] == '\0'))
		n--;
	for (; n > 0 && *s != '\0'; s++, n--) {
		unsigned char c = (unsigned char)*s;

		if (isprint(c) || c >= 0x80)
			fputc(c, f);
		else
			fprintf(f, "\\%03o", c);
	}
}

static void
flags_text(int flags, char *buf)
{
	static const struct {
		int flag;
		char c;
	} t[] = {
		{ SL_ERROR, 'E' }, { SL_TRACE, 'T' }, { SL_NOTIFY, 'N' },
		{ SL_CONSOLE, 'C' }, { SL_FATAL, 'F' }, { SL_WARN, 'W' },
		{ SL_NOTE, 'O' },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (flags & t[i].flag)
			*buf++ = t[i].c;
	*buf = '\0';
}

static void
print_line(FILE *f, const struct log_ctl *lc, const char *text, size_t n)
{
	time_t when = (time_t)lc->ttime;
	struct tm tm;
	char flags[8];

	flags_text(lc->flags, flags);
	(void)localtime_r(&when, &tm);
	fprintf(f, "%06d %02d:%02d:%02d %08x %d.%d %s %d %d %d ",
		lc->seq_no, tm.tm_hour, tm.tm_min, tm.tm_sec, lc->ltime,
		lc->pri >> 3, lc->pri & 7, flags[0] != '\0' ? flags : "-",
		lc->mid, lc->sid, lc->level);
	print_text(f, text, n);
	fputc('\n', f);
}

static void
print_json(FILE *f, const struct log_ctl *lc, const char *text)
{
	struct json j = { .f = f, .one = true };
	char flags[8];

	flags_text(lc->flags, flags);
	json_begin(&j, NULL, '{');
	json_int(&j, "sequence", lc->seq_no);
	json_uint(&j, "time", lc->ttime);
	json_uint(&j, "ticks", lc->ltime);
	json_int(&j, "facility", lc->pri >> 3);
	json_int(&j, "priority", lc->pri & 7);
	json_str(&j, "flags", flags);
	json_int(&j, "mid", lc->mid);
	json_int(&j, "sid", lc->sid);
	json_int(&j, "level", lc->level);
	json_str(&j, "text", text);
	json_end(&j, '}');
}

/* SL_NOTIFY: send to a person's mailbox, if the system has mail. */
static void
mail(const struct logger *l, const struct log_ctl *lc, const char *text,
	size_t n)
{
	char path[] = "/tmp/strlog-XXXXXX";
	int in, status;
	FILE *f;
	pid_t pid;

	/* a file: mail(1) may not support streams */
	in = mkostemp(path, O_CLOEXEC);
	if (in < 0)
		return;
	(void)unlink(path);
	f = fdopen(in, "w+");
	if (f == NULL) {
		(void)close(in);
		return;
	}
	print_line(f, lc, text, n);
	if (fflush(f) == 0 && lseek(in, 0, SEEK_SET) == 0) {
		pid = fork();
		if (pid == 0) {
			if (dup2(in, STDIN_FILENO) >= 0)
				execlp("mail", "mail", "-s", "STREAMS message",
					l->mailid, (char *)NULL);
			_exit(127);
		}
		if (pid > 0 && waitpid(pid, &status, 0) == pid && status != 0)
			tool_warn(l->tool, "cannot send mail to %s",
				l->mailid);
	}
	(void)fclose(f);
}

/* ------------------------------------------------------------------ input */

static int
ask(const struct logger *l)
{
	struct strioctl io = {
		.ic_cmd = l->request,
		.ic_timout = 15,
		.ic_len = (int)((size_t)l->nids * sizeof(*l->ids)),
		.ic_dp = (char *)l->ids,
	};
	const char *dev = l->dev != NULL ? l->dev : LOGGER_DEV;
	int fd = open(dev, O_RDWR | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		tool_die(l->tool, "%s", dev);
	if (ioctl(fd, I_STR, &io) < 0)
		tool_die(l->tool, "%s: cannot register as a logger", dev);
	return fd;
}

static int
messages(struct logger *l, int fd)
{
	static char text[LOGMAX + 1];
	struct log_ctl lc;
	FILE *f;

	while (!ended) {
		struct strbuf ctl = { sizeof(lc), 0, (char *)&lc };
		struct strbuf data = { sizeof(text) - 1, 0, text };
		int flags = 0;
		int more = getmsg(fd, &ctl, &data, &flags);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0) {
			tool_err(l->tool, "getmsg");
			return TOOL_FAILED;
		}
		if (ctl.len == 0 && data.len == 0)
			return TOOL_OK; /* hung up */
		if (ctl.len != (int)sizeof(lc))
			continue; /* the rest of a message that was too long */
		text[data.len > 0 ? data.len : 0] = '\0';
		f = today(l);
		if (f == NULL)
			return TOOL_FAILED;
		if (l->json)
			print_json(f, &lc, text);
		else
			print_line(f, &lc, text,
				data.len > 0 ? (size_t)data.len : 0);
		if (fflush(f) != 0) {
			tool_err(l->tool, "output");
			return TOOL_FAILED;
		}
		if ((lc.flags & SL_NOTIFY) && l->mailid != NULL)
			mail(l, &lc, text, data.len > 0 ? (size_t)data.len : 0);
	}
	return TOOL_OK;
}

/* ------------------------------------------------------------- background */

static void
to_background(const struct logger *l)
{
	int null, err;

	switch (fork()) {
	case -1:
		tool_die(l->tool, "fork");
	case 0:
		break;
	default:
		_exit(TOOL_OK);
	}
	(void)setsid();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	err = l->errors == NULL ? null :
		open(l->errors, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC |
			O_NOFOLLOW | O_NOCTTY, 0640);
	if (err < 0)
		tool_die(l->tool, "%s", l->errors);
	if (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
		dup2(err, STDERR_FILENO) < 0)
		_exit(TOOL_FAILED);
}

static void
write_pid(const struct logger *l)
{
	int fd = open(l->pidfile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
		O_NOFOLLOW, 0644);

	if (fd < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0 || close(fd) != 0)
		tool_die(l->tool, "%s", l->pidfile);
}

int
logger_run(struct logger *l)
{
	struct sigaction sa = { .sa_handler = end };
	struct sigaction hu = { .sa_handler = hup };
	int fd = -1, status;

	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGHUP, l->dir != NULL || l->output != NULL ? &hu : &sa,
		NULL);
	/* report errors while the parent process waits for them */
	fd = ask(l);
	if (today(l) == NULL)
		return TOOL_FAILED;
	if (l->dir != NULL && !l->foreground)
		to_background(l);
	if (l->pidfile != NULL)
		write_pid(l);
	tool_info(l->tool, 1, "listening");
	status = messages(l, fd);
	(void)close(fd);
	if (l->pidfile != NULL)
		(void)unlink(l->pidfile);
	return status;
}
