/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * How FILEs of a stream begin and end; the standard ones; names; threads.
 */
#include "stdio_calls.h"

#include <sys/wait.h>

/* Standard error of a case is not to be lost with what it stands for. */
static int
put_away(int fd)
{
	return T_OK(fcntl(fd, F_DUPFD_CLOEXEC, 100));
}

/* --------------------------------------------------------- begin and end */

T_CASE(fclose_is_the_end_of_file_for_the_other_side)
{
	struct files f;
	int fd;
	char c;

	stdio_files(&f);
	fd = fileno(f.w);
	T_EQ(putc('e', f.w), 'e');
	T_EQ(fclose(f.w), 0);
	T_TRUE(p_is_closed(fd));
	T_EQ(getc(f.r), 'e');
	T_EQ(getc(f.r), EOF);
	T_TRUE(feof(f.r));
	fd = fileno(f.r);
	T_EQ(fclose(f.r), 0);
	T_TRUE(p_is_closed(fd));
	T_ERR(read(fd, &c, 1), EBADF);
}

/* The number that fclose() has freed is a file's next, and the other way. */
T_CASE(numbers_change_between_streams_and_files)
{
	struct files f;
	char buf[8];

	stdio_files(&f);
	for (int i = 0; i < 3; i++) {
		int r = fileno(f.r), w = fileno(f.w), fd[2];
		FILE *m[2];

		T_EQ(fclose(f.r), 0);
		T_EQ(fclose(f.w), 0);
		m[0] = fopen("/dev/zero", "r");
		m[1] = fopen("/dev/null", "w");
		T_NOTNULL(m[0]);
		T_NOTNULL(m[1]);
		T_TRUE(fileno(m[0]) == r || fileno(m[0]) == w);
		T_EQ(getc(m[0]), 0);
		T_EQ(fputs("gone", m[1]) >= 0, 1);
		T_EQ(fclose(m[0]), 0);
		T_EQ(fclose(m[1]), 0);
		p_pipe(fd);
		f.r = fdopen(fd[0], "r");
		f.w = fdopen(fd[1], "w");
		T_NOTNULL(f.r);
		T_NOTNULL(f.w);
		T_EQ(fputs("here\n", f.w) >= 0, 1);
		T_EQ(fflush(f.w), 0);
		T_NOTNULL(fgets(buf, sizeof(buf), f.r));
		T_STR(buf, "here\n");
	}
}

T_CASE(an_unflushed_buffer_is_written_by_parent_and_child)
{
	struct files f;
	char buf[8];
	pid_t pid;

	stdio_files(&f);
	T_EQ(fputs("ab", f.w) >= 0, 1);
	pid = T_OK(fork());
	if (pid == 0) {
		(void)fclose(f.r);
		T_EQ(fclose(f.w), 0);
		_exit(0);
	}
	T_TRUE(p_exited(pid, 0));
	T_EQ(fclose(f.w), 0);
	T_EQ(fread(buf, 1, sizeof(buf), f.r), 4u);
	T_MEM(buf, "abab", 4);
	T_TRUE(feof(f.r));
}

/* exit() writes what is left, also in a child that has made no call */
T_CASE(exit_writes_what_is_left)
{
	struct files f;
	char buf[8];
	pid_t pid;

	stdio_files(&f);
	pid = T_OK(fork());
	if (pid == 0) {
		T_EQ(fputs("bye", f.w) >= 0, 1);
		exit(0);
	}
	T_EQ(fclose(f.w), 0);
	T_EQ(fread(buf, 1, sizeof(buf), f.r), 3u);
	T_MEM(buf, "bye", 3);
	T_TRUE(p_exited(pid, 0));
}

T_CASE(_exit_writes_nothing)
{
	struct files f;
	pid_t pid;

	stdio_files(&f);
	pid = T_OK(fork());
	if (pid == 0) {
		T_EQ(fputs("lost", f.w) >= 0, 1);
		_exit(0);
	}
	T_EQ(fclose(f.w), 0);
	T_EQ(getc(f.r), EOF);
	T_TRUE(feof(f.r));
	T_TRUE(p_exited(pid, 0));
}

/* ---------------------------------------------------- the standard FILEs */

T_CASE(printf_and_puts_go_where_dup2_put_them)
{
	int fd[2], old = put_away(1);
	char buf[64];

	stdio_ends(fd);
	T_EQ(fflush(stdout), 0);
	T_EQ(dup2(fd[1], 1), 1);
	T_EQ(printf("%d,", 1), 2);
	T_EQ(puts("two") >= 0, 1);
	T_EQ(putchar('3'), '3');
	T_EQ(fflush(stdout), 0);
	T_EQ(dup2(old, 1), 1);
	T_EQ(close(fd[1]), 0);
	T_EQ(p_read_all(fd[0], buf, sizeof(buf)), 7u);
	T_MEM(buf, "1,two\n3", 7);
}

T_CASE(scanf_and_getchar_read_what_dup2_put_there)
{
	int fd[2], n;

	stdio_ends(fd);
	T_EQ(write(fd[1], "17 x", 4), 4);
	T_OK(close(fd[1]));
	T_EQ(dup2(fd[0], 0), 0);
	T_OK(close(fd[0]));
	T_EQ(scanf("%d", &n), 1);
	T_EQ(n, 17);
	T_EQ(getchar(), ' ');
	T_EQ(getchar(), 'x');
	T_EQ(getchar(), EOF);
}

T_CASE(perror_writes_to_standard_error)
{
	int fd[2], old = put_away(2);
	char buf[128];

	stdio_ends(fd);
	T_EQ(dup2(fd[1], 2), 2);
	errno = ENOENT;
	perror("what");
	fprintf(stderr, "%s", "!");
	T_EQ(dup2(old, 2), 2);
	T_OK(close(fd[1]));
	buf[p_read_all(fd[0], buf, sizeof(buf) - 1)] = '\0';
	T_STR(buf, "what: No such file or directory\n!");
}

/* In the child, stdio alone uses the standard input and output. */
static void
copy_by_helper(const char *verb)
{
	int in[2], out[2], status;
	char buf[64];
	pid_t pid;

	stdio_ends(in);
	p_pipe(out);
	pid = T_OK(fork());
	if (pid == 0) {
		T_EQ(dup2(in[0], 0), 0);
		T_EQ(dup2(out[1], 1), 1);
		for (int i = 0; i < 2; i++) {
			(void)close(in[i]);
			(void)close(out[i]);
		}
		execl(p_helper_path, p_helper_path, verb, (char *)NULL);
		_exit(127);
	}
	T_OK(close(in[0]));
	T_OK(close(out[1]));
	T_EQ(write(in[1], "first\nsecond\n", 13), 13);
	T_OK(close(in[1]));
	T_EQ(p_read_all(out[0], buf, sizeof(buf)), 13u);
	T_MEM(buf, "FIRST\nSECOND\n", 13);
	status = p_wait(pid, P_MS_LONG);
	T_EQ(status, 0);
}

T_CASE(an_inherited_standard_input_is_read_by_stdio_alone)
{
	copy_by_helper("upper");
}

/* The same by descriptors that the child moves there, and by fdopen() */
T_CASE(an_inherited_descriptor_is_moved_to_standard_input)
{
	copy_by_helper("upper-moved");
}

T_CASE(an_inherited_descriptor_is_opened_by_fdopen)
{
	copy_by_helper("upper-fdopen");
}

T_CASE(an_inherited_descriptor_is_opened_by_its_name)
{
	if (stdio_is("fifo"))
		T_SKIP("the kernel opens a FIFO anew, and waits for a writer");
	copy_by_helper("upper-named");
}

/* ----------------------------------------------------------------- names */

T_CASE(dev_fd_opens_the_same_stream)
{
	int fd[2], in, out;
	char path[32], buf[8];

	stdio_ends(fd);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[1]);
	out = T_OK(open(path, O_WRONLY));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
	in = T_OK(open(path, O_RDONLY | O_CLOEXEC));
	T_NE(in, fd[0]);
	T_EQ(fcntl(in, F_GETFD), FD_CLOEXEC);
	T_EQ(fcntl(out, F_GETFD), 0);
	T_EQ(write(out, "abc", 3), 3);
	T_EQ(read(in, buf, sizeof(buf)), 3);
	T_OK(close(fd[1]));
	T_EQ(write(out, "d", 1), 1);
	T_OK(close(out));
	T_EQ(read(in, buf, sizeof(buf)), 1);
	T_EQ(read(fd[0], buf, sizeof(buf)), 0);
}

T_CASE(dev_stdin_and_dev_stdout_are_opened_by_name)
{
	int fd[2], old = put_away(1);
	FILE *in = NULL, *out = NULL;
	char buf[8];

	stdio_ends(fd);
	T_EQ(dup2(fd[0], 0), 0);
	T_EQ(dup2(fd[1], 1), 1);
	out = fopen("/dev/stdout", "w");
	in = fopen("/dev/stdin", "r");
	T_NOTNULL(out);
	T_NOTNULL(in);
	T_EQ(fputs("name\n", out) >= 0, 1);
	T_EQ(fclose(out), 0);
	T_NOTNULL(fgets(buf, sizeof(buf), in));
	T_STR(buf, "name\n");
	T_EQ(dup2(old, 1), 1);
}

T_CASE(freopen_goes_to_a_stream_and_back)
{
	int fd[2], number;
	char path[32], buf[32];
	FILE *f;

	stdio_ends(fd);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[1]);
	f = fopen("/dev/null", "r");
	T_NOTNULL(f);
	number = fileno(f);
	T_TRUE(freopen(path, "w", f) == f);
	T_EQ(fileno(f), number);
	T_EQ(fputs("to it", f) >= 0, 1);
	T_TRUE(freopen("/dev/null", "w", f) == f);
	T_EQ(fputs("not to it", f) >= 0, 1);
	T_EQ(fclose(f), 0);
	T_OK(close(fd[1]));
	T_EQ(p_read_all(fd[0], buf, sizeof(buf)), 5u);
	T_MEM(buf, "to it", 5);
}

T_CASE(freopen_appends_and_has_no_position)
{
	int fd[2];
	char path[32], buf[8];
	FILE *f;

	stdio_ends(fd);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[1]);
	f = fopen("/dev/null", "w");
	T_NOTNULL(f);
	T_TRUE(freopen(path, "a", f) == f);
	T_ERR(ftell(f), ESPIPE);
	T_EQ(fputs("end", f) >= 0, 1);
	T_EQ(fclose(f), 0);
	T_EQ(read(fd[0], buf, sizeof(buf)), 3);
}

T_CASE(freopen_without_a_path_opens_the_same_again)
{
	struct files f;
	char buf[8];
	int fd;

	stdio_files(&f);
	fd = fileno(f.w);
	T_EQ(fputs("a", f.w) >= 0, 1);
	T_TRUE(freopen(NULL, "a", f.w) == f.w);
	T_EQ(fileno(f.w), fd);
	T_EQ(fputs("b", f.w) >= 0, 1);
	T_EQ(fclose(f.w), 0);
	T_EQ(fread(buf, 1, sizeof(buf), f.r), 2u);
	T_MEM(buf, "ab", 2);
	T_TRUE(feof(f.r));
}

T_CASE(a_freopen_that_fails_closes_the_stream)
{
	struct files f;

	stdio_files(&f);
	T_EQ(fputs("z", f.w) >= 0, 1);
	errno = 0;
	T_NULL(freopen("/nonexistent/file", "w", f.w));
	T_EQ(errno, ENOENT);
	T_EQ(getc(f.r), 'z');
	T_EQ(getc(f.r), EOF);
	T_TRUE(feof(f.r));
}

/* --------------------------------------------------------------- threads */

#define LINES 500

static void *
write_lines(void *arg)
{
	FILE *f = arg;

	for (int i = 0; i < LINES; i++) {
		flockfile(f);
		T_EQ(putc_unlocked('[', f), '[');
		T_EQ(fprintf(f, "%d", i) > 0, 1);
		T_EQ(fputs("]\n", f) >= 0, 1);
		funlockfile(f);
	}
	return NULL;
}

T_CASE(lines_of_two_threads_stay_whole)
{
	pthread_t th[2];
	struct files f;
	char buf[64], want[64];
	int n = 0, v;

	stdio_files(&f);
	for (int i = 0; i < 2; i++)
		T_EQ(pthread_create(&th[i], NULL, write_lines, f.w), 0);
	for (int i = 0; i < 2; i++)
		T_EQ(pthread_join(th[i], NULL), 0);
	T_EQ(fclose(f.w), 0);
	for (; fgets(buf, sizeof(buf), f.r) != NULL; n++) {
		T_EQ(sscanf(buf, "[%d]", &v), 1);
		snprintf(want, sizeof(want), "[%d]\n", v);
		T_STR(buf, want);
	}
	T_EQ(n, 2 * LINES);
}

static void *
read_char(void *arg)
{
	(void)getc(arg);
	return NULL;
}

/* The lock of the FILE is given back by a thread that is cancelled in it. */
T_CASE(a_reader_is_cancelled)
{
	pthread_t th;
	struct files f;
	void *ret;

	stdio_files(&f);
	T_EQ(pthread_create(&th, NULL, read_char, f.r), 0);
	p_pause(20);
	T_EQ(pthread_cancel(th), 0);
	T_EQ(pthread_join(th, &ret), 0);
	T_TRUE(ret == PTHREAD_CANCELED);
	T_EQ(write(fileno(f.w), "x", 1), 1);
	T_EQ(ftrylockfile(f.r), 0);
	T_EQ(getc_unlocked(f.r), 'x');
}

/* ------------------------------------------------------------- elsewhere */

T_CASE(popen_reads_and_writes_a_command)
{
	struct files s;
	char buf[32];
	FILE *f;

	stdio_files(&s);
	f = popen("echo from a command", "r");
	T_NOTNULL(f);
	T_NOTNULL(fgets(buf, sizeof(buf), f));
	T_STR(buf, "from a command\n");
	T_EQ(pclose(f), 0);
	f = popen("read x && test \"$x\" = word", "w");
	T_NOTNULL(f);
	T_EQ(fputs("word\n", f) >= 0, 1);
	T_EQ(pclose(f), 0);
	f = popen("exit 3", "r");
	T_NOTNULL(f);
	T_EQ(WEXITSTATUS(pclose(f)), 3);
	T_EQ(fputs("still\n", s.w) >= 0, 1);
	T_EQ(fclose(s.w), 0);
	T_NOTNULL(fgets(buf, sizeof(buf), s.r));
	T_STR(buf, "still\n");
}

T_CASE(files_and_memory_are_as_ever)
{
	struct files s;
	char path[] = "/tmp/posix-stdio-XXXXXX", buf[32], *mem = NULL;
	size_t size;
	FILE *f;
	int fd;

	stdio_files(&s);
	fd = mkstemp(path);
	T_GE(fd, 0);
	T_OK(unlink(path));
	f = fdopen(fd, "w+");
	T_NOTNULL(f);
	T_EQ(fprintf(f, "line %d\n", 1), 7);
	T_EQ(fseek(f, 5, SEEK_SET), 0);
	T_EQ(getc(f), '1');
	T_EQ(ftell(f), 6);
	T_EQ(fseek(f, 0, SEEK_END), 0);
	T_EQ(ftell(f), 7);
	T_EQ(fclose(f), 0);
	T_TRUE(p_is_closed(fd));
	f = open_memstream(&mem, &size);
	T_NOTNULL(f);
	T_EQ(fputs("in memory", f) >= 0, 1);
	T_EQ(fclose(f), 0);
	T_STR(mem, "in memory");
	free(mem);
	snprintf(buf, sizeof(buf), "7 8");
	f = fmemopen(buf, strlen(buf), "r");
	T_NOTNULL(f);
	T_EQ(fscanf(f, "%*d %d", &fd), 1);
	T_EQ(fd, 8);
	T_EQ(fclose(f), 0);
}
