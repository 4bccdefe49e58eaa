/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Programs outside the domain, and the pipes that they get.
 *
 * A pipe that a program outside gets as its standard input, output or error is
 * marked (str_head_leave), so that members write into the socket under it.
 * Bytes that such a program writes need no mark: they are recognised on any
 * descriptor.
 *
 * A program counts as a member if it is linked with one of our libraries, or if
 * the environment preloads one.  A program that gets them through another
 * library counts as outside.  Until that program reads, this costs speed and
 * the boundaries of messages, but loses no data.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "call.h"
#include "leave.h"
#include "plain.h"
#include "sys.h"
#include "user_impl.h"

#define SCRIPTS 4	/* interpreters that are scripts themselves */
#define PHDRS 64
#define DYNS 512
#define WAIT_MS 20	/* wait for the other end's holder to send its data */

#if __SIZEOF_POINTER__ == 8
typedef Elf64_Ehdr ehdr_t;
typedef Elf64_Phdr phdr_t;
typedef Elf64_Dyn dyn_t;
#else
typedef Elf32_Ehdr ehdr_t;
typedef Elf32_Phdr phdr_t;
typedef Elf32_Dyn dyn_t;
#endif

/* -------------------------------------------------------------- programs */

static bool
read_at(int fd, void *buf, size_t len, uint64_t off)
{
	return sys_call4(SYS_pread64, fd, buf, len, off) == (long)len;
}

static bool
is_ours(const char *name)
{
	static const char *const ours[] = {
		"libstreams.", "libstreams-", "libxti.", "libxnet.", "libxnsl.",
	};

	for (size_t i = 0; i < STR_ARRAY_LEN(ours); i++)
		if (strncmp(name, ours[i], strlen(ours[i])) == 0)
			return true;
	return false;
}

/* The offset in the file of the address @at; 0: none. */
static uint64_t
offset_of(const phdr_t *ph, unsigned n, uint64_t at)
{
	for (unsigned i = 0; i < n; i++)
		if (ph[i].p_type == PT_LOAD && at >= ph[i].p_vaddr &&
			at - ph[i].p_vaddr < ph[i].p_filesz)
			return at - ph[i].p_vaddr + ph[i].p_offset;
	return 0;
}

static bool
needs_ours(int fd, const dyn_t *dyn, size_t n, const phdr_t *ph, unsigned nph)
{
	uint64_t strtab = 0;

	for (size_t i = 0; i < n && dyn[i].d_tag != DT_NULL; i++)
		if (dyn[i].d_tag == DT_STRTAB)
			strtab = offset_of(ph, nph, dyn[i].d_un.d_ptr);
	for (size_t i = 0; i < n && dyn[i].d_tag != DT_NULL; i++) {
		char name[16] = "";

		if (strtab != 0 && dyn[i].d_tag == DT_NEEDED &&
			sys_call4(SYS_pread64, fd, name, sizeof name - 1,
				strtab + dyn[i].d_un.d_val) > 0 &&
			is_ours(name))
			return true;
	}
	return false;
}

static bool
elf_is_member(int fd)
{
	phdr_t ph[PHDRS];
	dyn_t dyn[DYNS];
	ehdr_t eh;
	struct stat st;

	if (!read_at(fd, &eh, sizeof eh, 0) || eh.e_phnum > PHDRS ||
		eh.e_phentsize != sizeof *ph ||
		!read_at(fd, ph, eh.e_phnum * sizeof *ph, eh.e_phoff))
		return false;
	/* a set-user-ID program never joins a domain */
	if (sys_call4(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) != 0 ||
		((st.st_mode & S_ISUID) != 0 && st.st_uid != geteuid()))
		return false;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		size_t n = STR_MIN((size_t)ph[i].p_filesz, sizeof dyn) /
			   sizeof *dyn;

		if (ph[i].p_type == PT_DYNAMIC)
			return read_at(fd, dyn, n * sizeof *dyn,
				       ph[i].p_offset) &&
			       needs_ours(fd, dyn, n, ph, eh.e_phnum);
	}
	return false;
}

/* The interpreter of the script @fd. */
static bool
interpreter(int fd, char path[PATH_MAX])
{
	long n = sys_call4(SYS_pread64, fd, path, PATH_MAX - 1, 0);
	char *p = path + 2, *end;

	if (n < 3 || path[0] != '#' || path[1] != '!')
		return false;
	path[n] = '\0';
	p += strspn(p, " \t");
	end = p + strcspn(p, " \t\n");
	*end = '\0';
	memmove(path, p, (size_t)(end - p) + 1);
	return true;
}

static bool
is_preloaded(char *const *envp)
{
	char text[PATH_MAX], *entry;

	for (size_t i = 0; envp != NULL; i++) {
		if (host_copyin(&envp[i], &entry, sizeof entry) != 0 ||
			entry == NULL)
			break;
		if (host_copyinstr(entry, text, sizeof text) == 0 &&
			strncmp(text, "LD_PRELOAD=", 11) == 0)
			return strstr(text, "libstreams") != NULL;
	}
	return false;
}

/* Will the program in @fd, which is closed here, be a member of a domain? */
static bool
fd_is_member(int fd, char *const *envp)
{
	char path[PATH_MAX];
	bool yes = false;

	if (is_preloaded(envp)) {
		(void)sys_close(fd);
		return true;
	}
	for (int i = 0; i < SCRIPTS && fd >= 0; i++) {
		bool script = interpreter(fd, path);

		if (!script)
			yes = elf_is_member(fd);
		(void)sys_close(fd);
		if (!script)
			return yes;
		fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	}
	if (fd >= 0)
		(void)sys_close(fd);
	return false;
}

/* Open @name in a directory of PATH. */
static int
search_path(const char *name)
{
	const char *dirs = getenv("PATH");
	char path[PATH_MAX];

	if (dirs == NULL)
		dirs = "/bin:/usr/bin";
	for (;;) {
		size_t n = strcspn(dirs, ":");
		int fd;

		if (n + strlen(name) + 2 <= sizeof path) {
			memcpy(path, dirs, n);
			path[n] = '/';
			strcpy(n != 0 ? path + n + 1 : path, name);
			fd = sys_openat(
				AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
			if (fd >= 0)
				return fd;
		}
		if (dirs[n] == '\0')
			return -1;
		dirs += n + 1;
	}
}

bool
leave_is_member(const char *upath, bool search, char *const *envp)
{
	char path[PATH_MAX];
	int fd;

	if (host_copyinstr(upath, path, sizeof path) != 0)
		return true; /* the kernel has the error */
	fd = search && strchr(path, '/') == NULL ?
		     search_path(path) :
		     sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	return fd >= 0 ? fd_is_member(fd, envp) : is_preloaded(envp);
}

/* ----------------------------------------------------------- descriptors */

bool
leave_inherits(int fd)
{
	int flags = sys_fcntl(fd, F_GETFD, 0);

	return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

struct fd_rec *
leave_pipe_at(int fd)
{
	struct fd_rec *r = NULL;

	/* other descriptors are Streams only if they were used as such */
	if (fd >= 0 && (fd < 3 || fd_get(fd) != FD_UNKNOWN))
		r = fd_stream(fd);

	return r != NULL && str_load(&r->kind) == HOST_CARRIER_PAIR ? r : NULL;
}

/*
 * The other end's holder is gone, and its data is in the domain, where the
 * program cannot read it.  Copy the data into a file that replaces descriptor
 * @fd.
 */
static void
bottle(int fd)
{
	char buf[4096];
	int file = (int)sys_call2(SYS_memfd_create, "streams", MFD_CLOEXEC);
	ssize_t n;

	if (file < 0)
		return;
	while ((n = read(fd, buf, sizeof buf)) > 0)
		if (sys_call3(SYS_write, file, buf, n) != n)
			break;
	(void)sys_call3(SYS_lseek, file, 0, SEEK_SET);
	(void)dup2(file, fd);
	(void)sys_close(file);
}

/*
 * @used: as standard input, output or error.  Return: must the other end's
 * holder still send data?
 */
bool
leave_end(int fd, bool used)
{
	struct fd_rec *r = leave_pipe_at(fd);
	struct host_call hc = {.fd = -1};
	bool left = false;
	int peer;

	if (r == NULL)
		return false;
	peer = fd_peer(r);
	if (call_begin(&hc, r, fd, 0) != 0)
		return false;
	str_head_leave(hc.head, fd, peer, used);
	left = used && peer < 0 && str_head_pending(hc.head);
	host_leave();
	return left;
}

static void
leave_waits(int fd)
{
	struct timespec ts = {.tv_nsec = 1000000};
	struct fd_rec *r = leave_pipe_at(fd);

	for (int i = 0; i < WAIT_MS && r != NULL; i++) {
		if ((fd_events(r, 0) & STR_POLLIN) == 0)
			return;
		if (host_carrier_look(fd) & HOST_C_HUP) {
			bottle(fd);
			return;
		}
		(void)sys_call4(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ts,
			NULL);
	}
}

/* Does the program get a pipe's end with a number of @from or above? */
bool
leave_any(int from)
{
	for (int fd = from; fd <= fd_high(); fd++)
		if (leave_pipe_at(fd) != NULL && leave_inherits(fd))
			return true;
	return false;
}

static void
leave_rest(void)
{
	for (int fd = 3; fd <= fd_high(); fd++) {
		struct fd_rec *r = leave_pipe_at(fd);

		if (r == NULL || !leave_inherits(fd))
			continue;
		if (!plain_wanted(r) || !plain_give(r, fd))
			(void)leave_end(fd, false);
	}
}

void
leave_directions(struct fd_rec *const rec[3])
{
	for (int i = 0; i < 3; i++)
		if (rec[i] != NULL && !plain_fits(rec[i], i != 0))
			plain_refuse(rec[i]);
}

static void
leave_all(void)
{
	struct fd_rec *rec[3];

	for (int fd = 0; fd < 3; fd++) {
		rec[fd] = leave_pipe_at(fd);
		if (rec[fd] != NULL && !leave_inherits(fd))
			rec[fd] = NULL;
	}
	leave_directions(rec);
	for (int fd = 0; fd < 3; fd++)
		if (rec[fd] != NULL && !plain_give(rec[fd], fd) &&
				leave_end(fd, true))
			leave_waits(fd);
	leave_rest();
}

void
leave_exec(const char *path, bool search, char *const *envp)
{
	int err = errno;

	if (leave_any(0)) {
		if (leave_is_member(path, search, envp))
			plain_expose();
		else
			leave_all();
	}
	errno = err;
}

void
leave_fexec(int fd, char *const *envp)
{
	int err = errno, copy;

	if (leave_any(0)) {
		copy = sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (copy < 0 || !fd_is_member(copy, envp))
			leave_all();
		else
			plain_expose();
	}
	errno = err;
}

/* Send what ends that have left have not read. */
static STR_COLD void
serve(void)
{
	struct fd_guard g;
	uint64_t was;

	fd_lock(&g);
	for (int fd = 0; fd <= fd_high(); fd++) {
		uintptr_t v = fd_get(fd);
		struct fd_rec *r = (struct fd_rec *)v;
		struct str_head *sd;

		if (v <= FD_NOT || (v & 1) != 0)
			continue;
		sd = fd_inside(r, &was);
		if (sd != NULL && str_load(&r->kind) == HOST_CARRIER_PAIR)
			(void)str_head_send_left(sd, fd);
		fd_outside(was);
	}
	fd_unlock(&g);
}

/*
 * An end has left, with unread data that a holder of the other end must send.
 * The holder may be this process, in a thread that sleeps on another stream.
 */
STR_WAKE_TEXT void
host_serve(void)
{
	static uint64_t seen; /* [A] */
	uint64_t now = str_head_left();

	if (str_likely(now == __atomic_load_n(&seen, __ATOMIC_RELAXED)))
		return;
	__atomic_store_n(&seen, now, __ATOMIC_RELAXED);
	serve();
}
