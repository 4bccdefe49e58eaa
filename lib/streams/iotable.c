/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * stdio on Streams.
 *
 * The C library's stdio makes its system calls directly: they bypass the
 * functions that this library defines, and would reach the carrier. glibc makes
 * them through a table of functions, one for byte and one for wide orientation,
 * to which every FILE of a descriptor points.  We replace the slots for read,
 * write and close by functions that check the descriptor table first.  A FILE
 * needs no mark: it may have been made before its descriptor became a Stream,
 * as stdout is before dup2().
 *
 * The slots for seek and stat are not replaced: the carrier cannot seek either,
 * and the stat fields that stdio uses are the same for a socket and for a FIFO.
 *
 * Shape.  The tables are not part of glibc's interface.  They are exported, as
 * are the functions in them, so each slot is compared with the expected
 * function.  If one differs nothing is replaced, a FILE for a Stream is refused
 * with ENOTSUP, and stdio_why() returns the reason.
 *
 * When.  With the first Stream of the process, so that the tables of a program
 * without Streams are not changed.  The C library does not call us for a Stream
 * that is inherited as standard input, output or error; so these are checked at
 * start, and duplicated descriptors in fd_copy().
 *
 * Memory.  The tables lie in the part of the C library that is read-only
 * after relocation.  Its pages are writable for the time of three stores.
 *
 * Wrappers do the rest: fopen.c.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "call.h"
#include "close.h"
#include "iotable.h"
#include "sys.h"
#include "user_impl.h"

typedef ssize_t io_read(FILE *, void *, ssize_t);
typedef ssize_t io_write(FILE *, const void *, ssize_t);
typedef int io_close(FILE *);

/* The slots of struct _IO_jump_t that are checked, in order of address. */
enum {
	SLOT_FINISH = 2,
	SLOT_READ = 14,
	SLOT_WRITE,
	SLOT_SEEK,
	SLOT_CLOSE,
	SLOT_STAT
};

/*
 * The tables of the C library, and the functions that must be in both.  No
 * header declares them with these types.  The dynamic linker looks them up while
 * it knows the C library's symbols anyway: dlsym() would take its lock, which
 * may be held while stdio_attach() runs.
 */
#define SHAPE(X) \
	X(SLOT_FINISH, _IO_file_finish) \
	X(SLOT_READ, _IO_file_read) \
	X(SLOT_WRITE, _IO_file_write) \
	X(SLOT_SEEK, _IO_file_seek) \
	X(SLOT_CLOSE, _IO_file_close) \
	X(SLOT_STAT, _IO_file_stat)

extern void *_IO_file_jumps[] STR_WEAK;
extern void *_IO_wfile_jumps[] STR_WEAK;
extern const _Alignas(FILE) char _IO_2_1_stdout_[] STR_WEAK;
#define SHAPE_DECLARE(slot, name) extern char name[] STR_WEAK;
SHAPE(SHAPE_DECLARE)
#undef SHAPE_DECLARE

enum { IO_LATER, IO_ATTACHED, IO_REFUSED };

static struct {
	void **table[2]; /* [I] byte, wide */
	/* [I] the original functions of the slots */
	io_read *read;
	io_write *write;
	io_close *close;
	str_a32 state; /* [A] */
	bool fixed;    /* [I] the pages are read-only */
	char why[96];  /* [I] once refused */
} io;

static void
refuse(const char *fmt, const char *what)
{
	snprintf(io.why, sizeof io.why, fmt, what);
	str_store_rel(&io.state, IO_REFUSED);
}

/* ------------------------------------------------------------- the slots */

/*
 * Is @fd open, and not a Stream?  A closed one may become a Stream at any time.
 */
static bool
is_other(int fd)
{
	return fd_stream(fd) == NULL && fd_known(fd);
}

static bool
cancel_off(const FILE *f, int *ret_old)
{
	/* fopen(3), mode "c" */
	if ((f->_flags2 & 2 /* _IO_FLAGS2_NOTCANCEL */) == 0)
		return false;
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, ret_old);
	return true;
}

static ssize_t
slot_read(FILE *f, void *buf, ssize_t n)
{
	bool off;
	int old;

	if (str_likely(is_other(f->_fileno)))
		return io.read(f, buf, n);
	off = cancel_off(f, &old);
	n = read(f->_fileno, buf, (size_t)n);
	if (off)
		(void)pthread_setcancelstate(old, NULL);
	return n;
}

/*
 * As glibc's: continues after a short write; sets the error flag after a
 * failure.
 */
static ssize_t
slot_write(FILE *f, const void *buf, ssize_t n)
{
	ssize_t done = 0, k;
	bool off;
	int old;

	if (str_likely(is_other(f->_fileno)))
		return io.write(f, buf, n);
	off = cancel_off(f, &old);
	for (; done < n; done += k) {
		k = write(f->_fileno, (const char *)buf + done,
			(size_t)(n - done));
		if (k < 0) {
			f->_flags |= _IO_ERR_SEEN;
			break;
		}
	}
	if (off)
		(void)pthread_setcancelstate(old, NULL);
	return done;
}

static int
slot_close(FILE *f)
{
	int fd = f->_fileno, ret;

	/* glibc's is not a cancellation point either */
	if (close_stream(fd, &ret))
		return ret;
	ret = io.close(f);
	(void)fd_forget_not(fd);
	return ret;
}

/* ------------------------------------------------------------ the tables */

struct search {
	uintptr_t at;
	bool found, fixed;
};

/*
 * If @at is in the object @o: are its pages read-only?  They are in
 * PT_GNU_RELRO, or in a read-only segment.
 */
static int
look_in(struct dl_phdr_info *o, size_t size, void *arg)
{
	struct search *s = arg;
	uintptr_t page = (uintptr_t)getpagesize();

	(void)size;
	for (int i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &o->dlpi_phdr[i];
		uintptr_t from = o->dlpi_addr + ph->p_vaddr;
		uintptr_t to = from + ph->p_memsz;

		if (ph->p_type == PT_GNU_RELRO)
			to &= ~(page - 1);
		else if (ph->p_type != PT_LOAD)
			continue;
		if (s->at < from || s->at >= to)
			continue;
		s->found = true;
		s->fixed = s->fixed || ph->p_type == PT_GNU_RELRO ||
			(ph->p_flags & PF_W) == 0;
	}
	return s->found;
}

/* Are both tables as expected?  NULL, or the name of the slot that is not. */
static const char *
misfit(void)
{
#define SHAPE_CHECK(slot, name) \
	for (int k = 0; k < 2; k++) \
		if (name == NULL || io.table[k][slot] != name) \
			return #name;
	SHAPE(SHAPE_CHECK)
#undef SHAPE_CHECK
	for (int k = 0; k < 2; k++)
		if (io.table[k][0] != NULL || io.table[k][1] != NULL)
			return "the head";
	return NULL;
}

/* Every FILE is followed by the address of its table. */
static void *
table_of(const FILE *f)
{
	void *table;

	memcpy(&table, (const char *)f + sizeof *f, sizeof table);
	return table;
}

bool
stdio_is_ours(const FILE *f)
{
	void *t = table_of(f);

	return str_load_acq(&io.state) == IO_ATTACHED &&
		(t == io.table[0] || t == io.table[1]);
}

/*
 * Are the tables as expected?  Fills in `io', or refuses.  Locks: the
 * descriptor table's.  The library's phdrs are found without dladdr(), which searches all its
 * symbols: 100 us.
 */
static bool
find_tables(void)
{
	struct search s = {0, false, false};
	const char *bad;
	const FILE *f;

	if (_IO_file_jumps == NULL || _IO_wfile_jumps == NULL) {
		refuse("this C library has no %s", "_IO_file_jumps");
		return false;
	}
	io.table[0] = _IO_file_jumps;
	io.table[1] = _IO_wfile_jumps;
	bad = misfit();
	if (bad != NULL) {
		refuse("this C library has something else for %s", bad);
		return false;
	}
	/* the variable may have another value by now */
	f = (const FILE *)(const void *)_IO_2_1_stdout_;
	if (f == NULL || (table_of(f) != io.table[0] &&
		table_of(f) != io.table[1])) {
		refuse("%s has another table of functions", "stdout");
		return false;
	}
	s.at = (uintptr_t)io.table[0];
	(void)dl_iterate_phdr(look_in, &s);
	if (!s.found) {
		refuse("no library has %s", "_IO_file_jumps");
		return false;
	}
	memcpy(&io.read, &io.table[0][SLOT_READ], sizeof io.read);
	memcpy(&io.write, &io.table[0][SLOT_WRITE], sizeof io.write);
	memcpy(&io.close, &io.table[0][SLOT_CLOSE], sizeof io.close);
	io.fixed = s.fixed;
	return true;
}

/* Make the pages of both tables writable, or not.  Return: 0 or an errno. */
static int
protect(int prot)
{
	uintptr_t page = (uintptr_t)getpagesize(), was = 0;
	long err = 0;

	for (int i = 0; i < 2 && err == 0 && io.fixed; i++) {
		uintptr_t from = (uintptr_t)&io.table[i][SLOT_READ];
		uintptr_t to = (uintptr_t)&io.table[i][SLOT_CLOSE + 1];

		from &= ~(page - 1);
		to = (to + page - 1) & ~(page - 1);
		if (from == was && to - from == page)
			break; /* both are in one page */
		was = from;
		err = sys_call3(SYS_mprotect, from, to - from, prot);
	}
	return (int)-err;
}

static void
slot_store(void **slot, const void *fn, size_t size)
{
	void *p;

	memcpy(&p, fn, size);
	__atomic_store_n(slot, p, __ATOMIC_RELEASE);
}

void
stdio_attach(void)
{
	io_read *rd = slot_read;
	io_write *wr = slot_write;
	io_close *cl = slot_close;
	char text[16];
	int err;

	if (str_likely(str_load_acq(&io.state) != IO_LATER) || !find_tables())
		return;
	err = protect(PROT_READ | PROT_WRITE);
	if (err != 0) {
		(void)protect(PROT_READ);
		snprintf(text, sizeof text, "errno %d", err);
		refuse("its tables stay read-only: %s", text);
		return;
	}
	for (int i = 0; i < 2; i++) {
		slot_store(&io.table[i][SLOT_READ], &rd, sizeof rd);
		slot_store(&io.table[i][SLOT_WRITE], &wr, sizeof wr);
		slot_store(&io.table[i][SLOT_CLOSE], &cl, sizeof cl);
	}
	str_store_rel(&io.state, IO_ATTACHED);
	(void)protect(PROT_READ);
}

bool
stdio_attached(void)
{
	return str_load(&io.state) != IO_LATER;
}

const char *
stdio_why(void)
{
	struct fd_guard g;

	fd_lock(&g);
	if (str_load(&io.state) == IO_LATER)
		(void)find_tables();
	fd_unlock(&g);
	return str_load_acq(&io.state) == IO_REFUSED ? io.why : "";
}

bool
stdio_refused(void)
{
	static str_a32 said;
	char text[sizeof io.why + 40];

	if (str_load_acq(&io.state) != IO_REFUSED)
		return false;
	if (host_verbose() && str_xchg(&said, 1u) == 0) {
		snprintf(text, sizeof text, "streams: no stdio on Streams: %s",
			io.why);
		host_log(1, text);
	}
	errno = ENOTSUP;
	return true;
}

/*
 * There is no other way to notice a Stream that is inherited as one of these.
 */
static bool
is_standard_socket(void)
{
	struct stat st;
	char none = '\0'; /* on the stack: a constant costs a page fault */

	for (int fd = 0; fd <= 2; fd++)
		if (sys_call4(SYS_newfstatat, fd, &none, &st, AT_EMPTY_PATH) ==
			0 && S_ISSOCK(st.st_mode))
			return true;
	return false;
}

STR_CONSTRUCTOR static void
stdio_construct(void)
{
	struct fd_guard g;

	if (!is_standard_socket())
		return;
	fd_lock(&g);
	stdio_attach();
	fd_unlock(&g);
}
