/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * stdio on carried pipes.
 *
 * glibc's stdio makes its system calls through a table of functions.  Its slots
 * for read, write and close are replaced, as lib/streams/iotable.c does, after
 * the table has been compared with what is expected.  If it differs, no pipe of
 * the process is carried.
 */
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run.h"
#include "sys.h"

typedef ssize_t io_read(FILE *, void *, ssize_t);
typedef ssize_t io_write(FILE *, const void *, ssize_t);
typedef int io_close(FILE *);

enum { SLOT_READ = 14, SLOT_WRITE, SLOT_SEEK, SLOT_CLOSE, SLOT_STAT };

extern void *_IO_file_jumps[] STR_WEAK;
extern void *_IO_wfile_jumps[] STR_WEAK;
extern char _IO_file_read[] STR_WEAK, _IO_file_write[] STR_WEAK,
	_IO_file_seek[] STR_WEAK, _IO_file_close[] STR_WEAK,
	_IO_file_stat[] STR_WEAK;

enum { LATER, DONE, REFUSED };

static struct {
	void **table[2];
	io_read *read;
	io_write *write;
	io_close *close;
	int state;
} io STR_HOT_DATA;

static bool
counted(int fd)
{
	return fd >= 0 && fd < RUN_NFD && run_fds[fd].kind != RUN_NEVER;
}

static ssize_t
slot_read(FILE *f, void *buf, ssize_t n)
{
	if (!run_on || (!counted(f->_fileno) && !run_is_asked()))
		return io.read(f, buf, n);
	return read(f->_fileno, buf, (size_t)n);
}

/* As glibc's: continues after a short write. */
static ssize_t
slot_write(FILE *f, const void *buf, ssize_t n)
{
	ssize_t done = 0, k;

	if (!run_on || !counted(f->_fileno))
		return io.write(f, buf, n);
	for (; done < n; done += k) {
		k = write(f->_fileno, (const char *)buf + done,
			(size_t)(n - done));
		if (k < 0) {
			f->_flags |= _IO_ERR_SEEN;
			break;
		}
	}
	/* glibc: the offset that it knows moves with what is written */
	if (done > 0 && f->_offset >= 0)
		f->_offset += done;
	return done;
}

static int
slot_close(FILE *f)
{
	run_forget(f->_fileno);
	return io.close(f);
}

struct search {
	uintptr_t at;
	bool fixed;
};

/* Are the pages at @at read-only after relocation? */
static int
look_in(struct dl_phdr_info *o, size_t size, void *arg)
{
	struct search *s = arg;
	uintptr_t page = (uintptr_t)getpagesize();

	(void)size;
	for (int i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &o->dlpi_phdr[i];
		uintptr_t from = o->dlpi_addr + ph->p_vaddr;
		uintptr_t to = (from + ph->p_memsz) & ~(page - 1);

		if (ph->p_type == PT_GNU_RELRO && s->at >= from && s->at < to)
			s->fixed = true;
	}
	return s->fixed;
}

static bool
fits(void)
{
	if (_IO_file_jumps == NULL || _IO_wfile_jumps == NULL ||
		_IO_file_read == NULL)
		return false;
	io.table[0] = _IO_file_jumps;
	io.table[1] = _IO_wfile_jumps;
	for (int k = 0; k < 2; k++)
		if (io.table[k][0] != NULL || io.table[k][1] != NULL ||
			io.table[k][SLOT_READ] != _IO_file_read ||
			io.table[k][SLOT_WRITE] != _IO_file_write ||
			io.table[k][SLOT_SEEK] != _IO_file_seek ||
			io.table[k][SLOT_CLOSE] != _IO_file_close ||
			io.table[k][SLOT_STAT] != _IO_file_stat)
			return false;
	memcpy(&io.read, &io.table[0][SLOT_READ], sizeof io.read);
	memcpy(&io.write, &io.table[0][SLOT_WRITE], sizeof io.write);
	memcpy(&io.close, &io.table[0][SLOT_CLOSE], sizeof io.close);
	return true;
}

/* One call for both tables: they lie beside each other. */
static bool
protect(int prot)
{
	uintptr_t page = (uintptr_t)getpagesize();
	uintptr_t a = (uintptr_t)io.table[0], b = (uintptr_t)io.table[1];
	uintptr_t from = (a < b ? a : b) & ~(page - 1);
	uintptr_t to = (a < b ? b : a) + (SLOT_CLOSE + 1) * sizeof(void *);

	to = (to + page - 1) & ~(page - 1);
	return to - from <= 4 * page &&
		sys_call3(SYS_mprotect, from, to - from, prot) == 0;
}

static void
store(void **slot, const void *fn, size_t size)
{
	void *p;

	memcpy(&p, fn, size);
	__atomic_store_n(slot, p, __ATOMIC_RELEASE);
}

static bool
attach(void)
{
	io_read *rd = slot_read;
	io_write *wr = slot_write;
	io_close *cl = slot_close;
	struct search s = {0, false};
	bool ok = true;

	if (!fits())
		return false;
	s.at = (uintptr_t)io.table[0];
	(void)dl_iterate_phdr(look_in, &s);
	if (s.fixed)
		ok = protect(PROT_READ | PROT_WRITE);
	for (int i = 0; i < 2 && ok; i++) {
		store(&io.table[i][SLOT_READ], &rd, sizeof rd);
		store(&io.table[i][SLOT_WRITE], &wr, sizeof wr);
		store(&io.table[i][SLOT_CLOSE], &cl, sizeof cl);
	}
	if (s.fixed)
		(void)protect(PROT_READ);
	return ok;
}

bool
run_stdio(void)
{
	if (io.state == LATER)
		io.state = attach() ? DONE : REFUSED;
	return io.state == DONE;
}
