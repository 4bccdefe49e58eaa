/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * stdio on a pipe, a FIFO and, where there are STREAMS, two streams of spx.
 * The kernel's pipe and FIFO are the oracle.
 */
#include "stdio_calls.h"

#include <sys/stat.h>

#include <locale.h>
#include <stdarg.h>
#include <wchar.h>

#ifdef STDIO_STREAMS
#include <stropts.h>
T_TARGETS("pipe", "fifo", "spx")
#else
T_TARGETS("pipe", "fifo")
#endif

int
stdio_is(const char *target)
{
	return strcmp(t_target(), target) == 0;
}

/* ----------------------------------------------------------- descriptors */

const char *
stdio_fifo_path(void)
{
	static char path[96];
	const char *tmp = getenv("TMPDIR");

	if (path[0] == '\0') {
		snprintf(path, sizeof(path), "%s/stdio-fifo-%d",
			tmp != NULL ? tmp : "/tmp", (int)getpid());
		T_OK(setenv("STREAMS_FIFOS", path, 1));
		T_OK(mkfifo(path, 0600));
	}
	return path;
}

static void
open_fifo(int fd[2])
{
	fd[0] = T_OK(open(stdio_fifo_path(), O_RDONLY | O_NONBLOCK));
	fd[1] = T_OK(open(stdio_fifo_path(), O_WRONLY));
	T_OK(unlink(stdio_fifo_path()));
	p_nonblock(fd[0], 0);
}

#ifdef STDIO_STREAMS
static void
open_spx(int fd[2])
{
	long pointer = 0;
	struct strfdinsert ins = {
		.ctlbuf = { sizeof(pointer), sizeof(pointer), (char *)&pointer },
		.databuf = { 0, -1, NULL },
	};

	fd[0] = T_OK(open("/dev/spx", O_RDWR));
	fd[1] = T_OK(open("/dev/spx", O_RDWR));
	ins.fildes = fd[1];
	T_OK(ioctl(fd[0], I_FDINSERT, &ins));
}
#else
static void
open_spx(int fd[2])
{
	(void)fd;
	p_die("no spx here");
}
#endif

void
stdio_ends(int fd[2])
{
	if (stdio_is("pipe"))
		p_pipe(fd);
	else if (stdio_is("fifo"))
		open_fifo(fd);
	else
		open_spx(fd);
}

void
stdio_files(struct files *f)
{
	int fd[2];

	stdio_ends(fd);
	f->r = fdopen(fd[0], "r");
	T_NOTNULL(f->r);
	f->w = fdopen(fd[1], "w");
	T_NOTNULL(f->w);
	T_EQ(fileno(f->r), fd[0]);
	T_EQ(fileno(f->w), fd[1]);
}

/* ---------------------------------------------------------------- writing */

T_CASE(fprintf_is_read_after_fflush)
{
	char buf[32];
	struct files f;

	stdio_files(&f);
	T_EQ(fprintf(f.w, "%s %d\n", "number", 42), 10);
	p_nonblock(fileno(f.r), 1);
	T_ERR(read(fileno(f.r), buf, sizeof(buf)), EAGAIN);
	T_EQ(fflush(f.w), 0);
	T_EQ(read(fileno(f.r), buf, sizeof(buf)), 10);
	T_MEM(buf, "number 42\n", 10);
	T_EQ(fclose(f.w), 0);
	T_EQ(fclose(f.r), 0);
}

T_CASE(putc_fputs_puts_and_fwrite_keep_their_order)
{
	char buf[64];
	struct files f;

	stdio_files(&f);
	T_EQ(putc('a', f.w), 'a');
	T_EQ(fputc('b', f.w), 'b');
	T_GE(fputs("cde", f.w), 0);
	T_EQ(fwrite("fgh", 1, 3, f.w), 3u);
	T_EQ(putc_unlocked('i', f.w), 'i');
	T_EQ(fclose(f.w), 0);
	T_EQ(read(fileno(f.r), buf, sizeof(buf)), 9);
	T_MEM(buf, "abcdefghi", 9);
	T_EQ(read(fileno(f.r), buf, sizeof(buf)), 0);
}

T_CASE(an_unbuffered_FILE_writes_at_once)
{
	char buf[32];
	struct files f;

	stdio_files(&f);
	T_EQ(setvbuf(f.w, NULL, _IONBF, 0), 0);
	T_EQ(fprintf(f.w, "%d-%d", 1, 2), 3);
	T_EQ(read(fileno(f.r), buf, sizeof(buf)), 3);
	T_MEM(buf, "1-2", 3);
	T_EQ(putc('x', f.w), 'x');
	T_EQ(read(fileno(f.r), buf, sizeof(buf)), 1);
}

T_CASE(a_line_buffered_FILE_writes_at_a_newline)
{
	char buf[32];
	struct files f;

	stdio_files(&f);
	p_nonblock(fileno(f.r), 1);
	T_EQ(setvbuf(f.w, NULL, _IOLBF, 256), 0);
	T_GE(fputs("half", f.w), 0);
	T_ERR(read(fileno(f.r), buf, sizeof(buf)), EAGAIN);
	T_GE(fputs(" line\n", f.w), 0);
	T_EQ(read(fileno(f.r), buf, sizeof(buf)), 10);
	T_MEM(buf, "half line\n", 10);
}

T_CASE(more_than_the_buffer_goes_through)
{
	enum { SIZE = 300000 };
	char *out = calloc(1, SIZE), *in = calloc(1, SIZE);
	struct files f;
	pid_t pid;

	T_NOTNULL(out);
	T_NOTNULL(in);
	p_pattern(out, SIZE, 7);
	stdio_files(&f);
	pid = T_OK(fork());
	if (pid == 0) {
		(void)fclose(f.r);
		T_EQ(fwrite(out, 1, SIZE, f.w), (size_t)SIZE);
		T_EQ(fclose(f.w), 0);
		_exit(0);
	}
	T_EQ(fclose(f.w), 0);
	T_EQ(fread(in, 1, SIZE, f.r), (size_t)SIZE);
	T_EQ(p_pattern_ok(in, SIZE, 7), (size_t)SIZE);
	T_EQ(getc(f.r), EOF);
	T_TRUE(feof(f.r));
	T_FALSE(ferror(f.r));
	T_TRUE(p_exited(pid, 0));
}

T_CASE(a_wide_FILE_reads_and_writes)
{
	static const wchar_t text[] = L"gr\u00fc\u00df\u20ac\n";
	wchar_t line[16];
	struct files f;
	char buf[32];

	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		T_SKIP("no C.UTF-8");
	stdio_files(&f);
	T_GE(fputws(text, f.w), 0);
	T_EQ(fputwc(L'!', f.w), (wint_t)L'!');
	T_EQ(fflush(f.w), 0);
	T_NOTNULL(fgetws(line, 16, f.r));
	T_EQ(wcscmp(line, text), 0);
	T_EQ(fgetwc(f.r), (wint_t)L'!');
	T_EQ(fwprintf(f.w, L"%d\u20ac", 5), 2);
	T_EQ(fclose(f.w), 0);
	T_EQ(read(fileno(f.r), buf, sizeof(buf)), 4);
	T_MEM(buf, "5\xe2\x82\xac", 4);
	T_EQ(fgetwc(f.r), WEOF);
	T_EQ(fclose(f.r), 0);
}

static int
print(int fd, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vdprintf(fd, fmt, ap);
	va_end(ap);
	return n;
}

T_CASE(dprintf_and_vdprintf_write_at_once)
{
	static char big[20000];
	char buf[32], *in = calloc(1, sizeof(big));
	int fd[2], k[2];

	T_NOTNULL(in);
	stdio_ends(fd);
	T_EQ(dprintf(fd[1], "%s=%d;", "x", 7), 4);
	T_EQ(read(fd[0], buf, sizeof(buf)), 4);
	T_MEM(buf, "x=7;", 4);
	T_EQ(print(fd[1], "%c%5.1f", '<', 2.25), 6);
	T_EQ(read(fd[0], buf, sizeof(buf)), 6);
	T_MEM(buf, "<  2.2", 6);
	memset(big, 'b', sizeof(big) - 1);
	T_EQ(dprintf(fd[1], "%s", big), (int)sizeof(big) - 1);
	T_EQ(p_read_all(fd[0], in, sizeof(big) - 1), sizeof(big) - 1);
	T_MEM(in, big, sizeof(big) - 1);
	T_EQ(dprintf(fd[1], "%s", ""), 0);
	p_nonblock(fd[0], 1);
	T_ERR(read(fd[0], buf, sizeof(buf)), EAGAIN);
	p_kernel_pipe(k);
	T_EQ(dprintf(k[1], "%d", 123), 3);
	T_EQ(read(k[0], buf, sizeof(buf)), 3);
}

/* ---------------------------------------------------------------- reading */

T_CASE(fgets_getline_and_getdelim_find_lines)
{
	char buf[8], *line = NULL;
	struct files f;
	size_t room = 0;

	stdio_files(&f);
	T_EQ(write(fileno(f.w), "one\ntwo is long\na:b:last", 24), 24);
	T_EQ(fclose(f.w), 0);
	T_NOTNULL(fgets(buf, sizeof(buf), f.r));
	T_STR(buf, "one\n");
	T_NOTNULL(fgets(buf, sizeof(buf), f.r));
	T_STR(buf, "two is ");
	T_EQ(getline(&line, &room, f.r), 5);
	T_STR(line, "long\n");
	T_EQ(getdelim(&line, &room, ':', f.r), 2);
	T_STR(line, "a:");
	T_EQ(getdelim(&line, &room, ':', f.r), 2);
	T_STR(line, "b:");
	T_EQ(getline(&line, &room, f.r), 4);
	T_STR(line, "last");
	T_EQ(getline(&line, &room, f.r), -1);
	T_TRUE(feof(f.r));
	free(line);
}

T_CASE(fscanf_reads_numbers_and_ungetc_puts_back)
{
	struct files f;
	int a, b;
	char word[8];

	stdio_files(&f);
	T_EQ(fprintf(f.w, "12 -7 word z"), 12);
	T_EQ(fclose(f.w), 0);
	T_EQ(fscanf(f.r, "%d %d %7s", &a, &b, word), 3);
	T_EQ(a, 12);
	T_EQ(b, -7);
	T_STR(word, "word");
	T_EQ(getc(f.r), ' ');
	T_EQ(ungetc('#', f.r), '#');
	T_EQ(getc(f.r), '#');
	T_EQ(getc(f.r), 'z');
	T_EQ(getc(f.r), EOF);
	T_EQ(ungetc('y', f.r), 'y');
	T_FALSE(feof(f.r));
	T_EQ(getc(f.r), 'y');
}

/* fgets() returns with the line that is there, and does not wait for more */
T_CASE(a_line_is_read_while_the_writer_is_open)
{
	struct files f;
	char buf[16];

	stdio_files(&f);
	T_EQ(write(fileno(f.w), "now\n", 4), 4);
	T_NOTNULL(fgets(buf, sizeof(buf), f.r));
	T_STR(buf, "now\n");
}

T_CASE(after_clearerr_a_FIFO_is_read_on)
{
	struct files f;
	int fd, flags = O_WRONLY;
	char buf[8];

	if (!stdio_is("fifo"))
		T_SKIP("a pipe has no second writer after its end");
	fd = T_OK(open(stdio_fifo_path(), O_RDONLY | O_NONBLOCK));
	f.r = fdopen(fd, "r");
	T_NOTNULL(f.r);
	T_EQ(getc(f.r), EOF);
	T_TRUE(feof(f.r));
	f.w = fopen(stdio_fifo_path(), "w");
	T_NOTNULL(f.w);
	T_OK(unlink(stdio_fifo_path()));
	T_EQ(fcntl(fileno(f.w), F_GETFL) & O_ACCMODE, flags);
	T_EQ(fputs("more\n", f.w) >= 0, 1);
	T_EQ(fclose(f.w), 0);
	clearerr(f.r);
	T_NOTNULL(fgets(buf, sizeof(buf), f.r));
	T_STR(buf, "more\n");
}

/* ----------------------------------------------------------------- errors */

T_CASE(an_empty_nonblocking_FILE_fails_with_EAGAIN)
{
	struct files f;

	stdio_files(&f);
	p_nonblock(fileno(f.r), 1);
	errno = 0;
	T_EQ(getc(f.r), EOF);
	T_EQ(errno, EAGAIN);
	T_TRUE(ferror(f.r));
	T_FALSE(feof(f.r));
	clearerr(f.r);
	T_EQ(write(fileno(f.w), "x", 1), 1);
	T_EQ(getc(f.r), 'x');
}

/* POSIX leaves open what becomes of the buffer: glibc drops it. */
T_CASE(a_full_nonblocking_FILE_fails_with_EAGAIN_and_goes_on)
{
	struct files f;
	size_t full;
	char c;

	stdio_files(&f);
	p_nonblock(fileno(f.w), 1);
	full = p_fill(fileno(f.w));
	T_GT(full, 0u);
	T_EQ(putc('x', f.w), 'x');
	errno = 0;
	T_EQ(fflush(f.w), EOF);
	T_EQ(errno, EAGAIN);
	T_TRUE(ferror(f.w));
	p_nonblock(fileno(f.r), 1);
	T_EQ(p_drain(fileno(f.r)), full);
	T_EQ(putc('y', f.w), 'y');
	T_EQ(fflush(f.w), 0);
	T_EQ(read(fileno(f.r), &c, 1), 1);
	T_EQ(c, 'y');
}

T_CASE(without_a_reader_it_is_EPIPE)
{
	struct files f;

	if (stdio_is("spx"))
		T_SKIP("a device that is hung up");
	signal(SIGPIPE, SIG_IGN);
	stdio_files(&f);
	T_EQ(fclose(f.r), 0);
	T_EQ(putc('x', f.w), 'x');
	errno = 0;
	T_EQ(fflush(f.w), EOF);
	T_EQ(errno, EPIPE);
	T_TRUE(ferror(f.w));
	errno = 0;
	T_EQ(dprintf(fileno(f.w), "x"), -1);
	T_EQ(errno, EPIPE);
	T_EQ(putc('y', f.w), 'y');
	errno = 0;
	T_EQ(fclose(f.w), EOF);
	T_EQ(errno, EPIPE);
}

T_CASE(without_a_reader_it_is_SIGPIPE)
{
	struct files f;

	if (stdio_is("spx"))
		T_SKIP("a device that is hung up");
	stdio_files(&f);
	p_signal(SIGPIPE, NULL, 0);
	T_EQ(fclose(f.r), 0);
	T_EQ(putc('x', f.w), 'x');
	T_EQ(fflush(f.w), EOF);
	T_EQ(p_signals, 1);
}

T_CASE(an_interrupted_read_fails_with_EINTR)
{
	struct files f;
	pid_t pid, me = getpid();

	P_HANDLERS_AT_ONCE();
	stdio_files(&f);
	p_signal(SIGUSR1, NULL, 0);
	pid = T_OK(fork());
	if (pid == 0) {
		T_TRUE(p_asleep(me, me));
		kill(me, SIGUSR1);
		_exit(0);
	}
	errno = 0;
	T_EQ(getc(f.r), EOF);
	T_EQ(errno, EINTR);
	T_TRUE(ferror(f.r));
	T_TRUE(p_exited(pid, 0));
}

/* POSIX fdopen(): EINVAL may be failed with; glibc and the kernel do */
T_CASE(fdopen_wants_a_mode_that_the_descriptor_has)
{
	int fd[2];

	stdio_ends(fd);
	if (fcntl(fd[0], F_GETFL) == O_RDONLY) {
		errno = 0;
		T_NULL(fdopen(fd[0], "w"));
		T_EQ(errno, EINVAL);
		T_NULL(fdopen(fd[1], "r"));
		T_NULL(fdopen(fd[1], "w+"));
	}
	errno = 0;
	T_NULL(fdopen(fd[0], "q"));
	T_EQ(errno, EINVAL);
	errno = 0;
	T_NULL(fdopen(-1, "r"));
	T_EQ(errno, EBADF);
}

T_CASE(a_FILE_cannot_be_positioned)
{
	struct files f;

	stdio_files(&f);
	T_ERR(fseek(f.w, 0, SEEK_SET), ESPIPE);
	T_ERR(ftell(f.r), ESPIPE);
	T_ERR(lseek(fileno(f.r), 0, SEEK_CUR), ESPIPE);
	T_GE(fputs("still\n", f.w), 0);
	T_EQ(fflush(f.w), 0);
	T_EQ(getc(f.r), 's');
}
