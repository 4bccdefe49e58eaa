/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Domains: names, checks, and how long they live.
 */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <t.h>

#include "upcalls_test_double.h"

static char dir[64];

static void
enter_leave(void)
{
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	host_leave();
}

/* What host_enter() says when it fails. */
static int
enter_error(void)
{
	struct host_call hc = { .fd = -1 };
	int err = host_enter(&hc);

	T_NE(err, 0);
	T_NE(host_attach_error()[0], '\0');
	T_NULL(host_domain);
	return err;
}

/* A runtime directory of the case's own. */
static void
runtime_dir(void)
{
	snprintf(dir, sizeof dir, "/tmp/host-test-%d", getpid());
	T_OK(mkdir(dir, 0700));
	T_OK(setenv("XDG_RUNTIME_DIR", dir, 1));
	T_OK(unsetenv("STREAMS_DOMAIN"));
}

static void
sub_path(char *buf, size_t size, const char *name)
{
	snprintf(buf, size, "%s/%s", dir, name);
}

/* Files in the runtime directory's streams/, or -1 without that. */
static int
files_left(char *ret_name, size_t size)
{
	char path[128];
	struct dirent *e;
	DIR *d;
	int n = 0;

	sub_path(path, sizeof path, "streams");
	d = opendir(path);
	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.') {
			if (ret_name != NULL)
				snprintf(ret_name, size, "%s/%s", path,
					e->d_name);
			n++;
		}
	closedir(d);
	return n;
}

static void
runtime_dir_remove(void)
{
	char path[512];

	while (files_left(path, sizeof path) > 0)
		T_OK(unlink(path));
	sub_path(path, sizeof path, "streams");
	(void)rmdir(path);
	T_OK(rmdir(dir));
}

static void
child_ok(pid_t pid)
{
	int status;

	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_EQ(status, 0);
}

T_CASE(private_domain_is_at_a_candidate_address)
{
	setenv("STREAMS_DOMAIN", "private", 1);
	enter_leave();
	T_EQ(host_domain->base, (uint64_t)(uintptr_t)host_domain);
	T_EQ(host_domain->magic, STR_MAGIC);
	T_TRUE(host_domain->base == 0x6a0000000000ull ||
		host_domain->base == 0x7e9000000000ull);
	T_EQ((int)*up_word(UP_INIT), 1);
	T_EQ(strncmp(getenv("STREAMS_DOMAIN"), "fd:", 3), 0);
	T_TRUE(host_fd_is_ours(atoi(getenv("STREAMS_DOMAIN") + 3)));
	T_FALSE(host_fd_is_ours(0));
	T_GE(atoi(getenv("STREAMS_DOMAIN") + 3), 16);
}

T_CASE(size_of_the_domain_is_asked_for)
{
	setenv("STREAMS_DOMAIN", "private", 1);
	setenv("STREAMS_SIZE", "64M", 1);
	enter_leave();
	T_EQ(host_domain->cap, 64ull << 20);
}

T_CASE(memory_beyond_the_cap_is_enosr)
{
	setenv("STREAMS_DOMAIN", "private", 1);
	setenv("STREAMS_SIZE", "16M", 1);
	enter_leave();
	T_EQ(host_commit(15 << 20, 1 << 20), 0);
	memset((char *)host_domain + (15 << 20), 1, 1 << 20);
	T_EQ(host_commit(16 << 20, 1 << 20), ENOSR);
	T_EQ(host_commit(0, 17 << 20), ENOSR);
	T_EQ((int)host_domain->committed, 16 << 20);
}

T_CASE(memory_comes_without_the_descriptor_too)
{
	setenv("STREAMS_DOMAIN", "private", 1);
	enter_leave();
	T_OK(close(atoi(getenv("STREAMS_DOMAIN") + 3)));
	T_EQ(host_commit(8 << 20, 1 << 20), 0);
	memset((char *)host_domain + (8 << 20), 1, 1 << 20);
	T_EQ(host_threads_commit(1000), 0);
	memset(&host_domain->thread[999], 0, sizeof host_domain->thread[0]);
}

/* The kernel clears every page that a new domain takes. */
T_CASE(a_new_domain_takes_little_memory)
{
	struct str_domain *d;
	struct stat st;

	setenv("STREAMS_DOMAIN", "private", 1);
	enter_leave();
	d = host_domain;
	T_OK(fstat(host_domain_fd(), &st));
	T_TRUE((uint64_t)st.st_blocks * 512 < 768u << 10);
	/* more of it when it is needed */
	T_TRUE(str_load(&d->thread_room) < 64);
	T_EQ(host_threads_commit(100), 0);
	T_TRUE(str_load(&d->thread_room) >= 100);
	memset(&d->thread[64], 0, 36 * sizeof d->thread[0]);
	T_EQ(host_threads_commit(50), 0);
	T_TRUE(str_load(&d->thread_room) >= 100);
	T_EQ(host_threads_commit(HOST_THREADS), 0);
	T_EQ(str_load(&d->thread_room), HOST_THREADS);
}

T_CASE(named_domain_goes_with_its_last_member)
{
	char path[512];
	pid_t pid;
	int go[2], up[2];
	char c;

	runtime_dir();
	T_OK(pipe(go));
	T_OK(pipe(up));
	pid = T_OK(fork());
	if (pid == 0) {
		enter_leave();
		T_EQ(files_left(NULL, 0), 1);
		T_EQ(write(up[1], "", 1), 1);
		T_EQ(read(go[0], &c, 1), 1);
		exit(0);
	}
	T_EQ(read(up[0], &c, 1), 1);
	if (T_OK(fork()) == 0) {
		enter_leave();
		T_EQ((int)*up_word(UP_INIT), 1);
		T_EQ((int)*up_word(UP_ATTACH), 1);
		exit(0);
	}
	T_OK(wait(NULL));
	T_EQ(files_left(path, sizeof path), 1); /* the other is still in */
	T_EQ(write(go[1], "", 1), 1);
	child_ok(pid);
	T_EQ(files_left(NULL, 0), -1);
	runtime_dir_remove();
}

T_CASE(a_forked_member_keeps_the_name)
{
	pid_t pid;
	int go[2], up[2];
	char c;

	runtime_dir();
	T_OK(pipe(go));
	T_OK(pipe(up));
	pid = T_OK(fork());
	if (pid == 0) {
		enter_leave();
		if (T_OK(fork()) != 0) {
			T_EQ(read(up[0], &c, 1), 1);
			exit(0);
		}
		enter_leave();
		T_EQ(write(up[1], "", 1), 1);
		T_EQ(read(go[0], &c, 1), 1);
		exit(0);
	}
	child_ok(pid);
	T_EQ(files_left(NULL, 0), 1);
	T_EQ(write(go[1], "", 1), 1);
	T_SOON(files_left(NULL, 0) == -1, 5000);
	runtime_dir_remove();
}

static ino_t
inode(const char *path)
{
	struct stat st;

	T_OK(stat(path, &st));
	return st.st_ino;
}

/* Leave a domain behind as a crash does; @fd's carrier is recorded in it. */
static void
crashed_domain(int fd)
{
	pid_t pid = T_OK(fork());
	struct host_carrier c;

	if (pid == 0) {
		enter_leave();
		if (fd >= 0) {
			T_EQ(host_carrier_id(fd, &c), 0);
			str_store(up_word(UP_COOKIE), c.cookie);
			str_store(up_word(UP_INO), c.ino);
		}
		str_store(up_word(UP_USER), 4711ull);
		raise(SIGKILL);
	}
	T_OK(waitpid(pid, NULL, 0));
}

T_CASE(after_a_crash_a_new_file_takes_the_name)
{
	char path[512];
	ino_t before;
	pid_t pid;
	int keep;

	runtime_dir();
	crashed_domain(-1);
	T_EQ(files_left(path, sizeof path), 1);
	before = inode(path);
	keep = T_OK(open(path, O_RDONLY)); /* so that the number stays */
	pid = T_OK(fork());
	if (pid == 0) {
		enter_leave();
		T_EQ((int)*up_word(UP_USER), 0);
		T_EQ(files_left(path, sizeof path), 1);
		T_NE(inode(path), before);
		exit(0);
	}
	child_ok(pid);
	T_OK(close(keep));
	T_EQ(files_left(NULL, 0), -1);
	runtime_dir_remove();
}

#define NS "/proc/self/ns/net"

/* Dies a member, in a network namespace of its own, whose number it leaves in
 * *@ret; 1: there is none. */
static void T_NORETURN
dies_elsewhere(volatile ino_t *ret)
{
	if (syscall(SYS_unshare, CLONE_NEWNET) != 0)
		_exit(1);
	*ret = inode(NS);
	enter_leave();
	raise(SIGKILL);
	_exit(2);
}

/* So many domains' files are there while a new member lives. */
static void
member_sees(int files)
{
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		enter_leave();
		T_EQ(files_left(NULL, 0), files);
		exit(0);
	}
	child_ok(pid);
}

T_CASE(what_a_crash_left_in_a_namespace_that_is_gone_is_swept)
{
	int status, to[2], from[2];
	char c, name[2][512];
	pid_t pid, other;
	volatile ino_t *gone = mmap(NULL, sizeof(*gone), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	runtime_dir();
	pid = T_OK(fork());
	if (pid == 0)
		dies_elsewhere(gone);
	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	if (WIFEXITED(status)) {
		T_EQ(WEXITSTATUS(status), 1);
		runtime_dir_remove();
		T_SKIP("no network namespaces");
	}
	T_EQ(files_left(name[0], sizeof name[0]), 1);
	/* one where a process is stays, though no member lives */
	T_OK(pipe(to));
	T_OK(pipe(from));
	other = T_OK(fork());
	if (other == 0) {
		/* the kernel reuses the number of a namespace that is gone; the
		 * open file keeps one that has it, so the next has another */
		do {
			T_OK(syscall(SYS_unshare, CLONE_NEWNET));
			T_OK(open(NS, O_RDONLY));
		} while (inode(NS) == *gone);
		pid = T_OK(fork());
		if (pid == 0) {
			enter_leave();
			raise(SIGKILL);
		}
		T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
		T_EQ(write(from[1], "x", 1), 1);
		T_EQ(read(to[0], &c, 1), 1);
		_exit(0);
	}
	T_EQ(read(from[0], &c, 1), 1);
	/* that one swept the first, whose namespace is gone, too */
	T_EQ(files_left(name[1], sizeof name[1]), 1);
	T_NE(strcmp(name[0], name[1]), 0);
	member_sees(2);
	T_EQ(files_left(NULL, 0), 1);
	T_EQ(write(to[1], "x", 1), 1);
	child_ok(other);
	member_sees(1);
	T_LE(files_left(NULL, 0), 0);
	runtime_dir_remove();
}

T_CASE(a_living_carrier_keeps_a_crashed_domain)
{
	struct host_carrier c[2];
	char path[512];
	pid_t pid;
	int fd[2];

	runtime_dir();
	T_EQ(host_carrier_pair(0, fd, c), 0);
	crashed_domain(fd[0]);
	pid = T_OK(fork());
	if (pid == 0) {
		enter_leave();
		T_EQ((int)*up_word(UP_USER), 4711);
		exit(0);
	}
	child_ok(pid);
	T_EQ(files_left(path, sizeof path), 1);
	/* the carrier goes, and with the next member the domain */
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	pid = T_OK(fork());
	if (pid == 0) {
		enter_leave();
		T_EQ((int)*up_word(UP_USER), 0);
		exit(0);
	}
	child_ok(pid);
	T_EQ(files_left(NULL, 0), -1);
	runtime_dir_remove();
}

T_CASE(another_name_is_another_domain)
{
	char path[512];

	runtime_dir();
	setenv("STREAMS_DOMAIN", "other", 1);
	enter_leave();
	T_EQ(files_left(path, sizeof path), 1);
	T_NOTNULL(strstr(path, "/streams/other-"));
	T_STR(host_domain_path(), path);
	runtime_dir_remove();
}

T_CASE(many_processes_begin_together_in_one_domain)
{
	enum { N = 12 };
	str_a64 *shared_base;
	int go[2], status, i;
	char c;

	runtime_dir();
	shared_base = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_OK(pipe(go));
	for (i = 0; i < N; i++)
		if (T_OK(fork()) == 0) {
			close(go[1]);
			(void)!read(go[0], &c, 1);
			enter_leave();
			(void)str_add(up_word(UP_USER), 1u);
			/* all are in at once, so all are in the same */
			T_SOON((int)str_load(up_word(UP_USER)) == N, 10000);
			(void)str_add(&shared_base[0], 1u);
			exit(0);
		}
	T_OK(close(go[1]));
	for (i = 0; i < N; i++) {
		T_OK(wait(&status));
		T_EQ(status, 0);
	}
	T_EQ((int)shared_base[0], N);
	T_EQ(files_left(NULL, 0), -1);
	runtime_dir_remove();
}

T_CASE(an_absolute_path_that_is_no_domain_is_left_alone)
{
	char path[128], buf[16];
	int fd;

	runtime_dir();
	sub_path(path, sizeof path, "thesis");
	fd = T_OK(open(path, O_RDWR | O_CREAT, 0600));
	T_EQ(write(fd, "chapter", 7), 7);
	setenv("STREAMS_DOMAIN", path, 1);
	T_EQ(enter_error(), EPROTO);
	T_EQ(pread(fd, buf, sizeof buf, 0), 7);
	T_OK(close(fd));
	T_OK(unlink(path));
	runtime_dir_remove();
}

T_CASE(a_file_open_to_others_is_refused)
{
	char path[128];

	runtime_dir();
	sub_path(path, sizeof path, "open");
	T_OK(close(T_OK(open(path, O_RDWR | O_CREAT, 0600))));
	T_OK(chmod(path, 0644));
	setenv("STREAMS_DOMAIN", path, 1);
	T_EQ(enter_error(), EACCES);
	T_OK(unlink(path));
	runtime_dir_remove();
}

T_CASE(a_file_of_somebody_else_is_refused)
{
	char path[128];

	if (geteuid() != 0)
		T_SKIP("only root can give files away");
	runtime_dir();
	sub_path(path, sizeof path, "gift");
	T_OK(close(T_OK(open(path, O_RDWR | O_CREAT, 0600))));
	T_OK(chown(path, 12345, 12345));
	setenv("STREAMS_DOMAIN", path, 1);
	T_EQ(enter_error(), EACCES);
	T_OK(unlink(path));
	runtime_dir_remove();
}

T_CASE(a_symbolic_link_is_refused)
{
	char path[128];

	runtime_dir();
	sub_path(path, sizeof path, "link");
	T_OK(symlink("/tmp/nowhere", path));
	setenv("STREAMS_DOMAIN", path, 1);
	T_EQ(enter_error(), EACCES);
	T_OK(unlink(path));
	runtime_dir_remove();
}

T_CASE(a_squatted_directory_is_refused)
{
	char path[128];

	runtime_dir();
	sub_path(path, sizeof path, "streams");
	T_OK(mkdir(path, 0700));
	T_OK(chmod(path, 0777));
	T_EQ(enter_error(), EACCES);
	T_NOTNULL(strstr(host_attach_error(), path));
	T_OK(chmod(path, 0700));
	if (geteuid() == 0) {
		T_OK(chown(path, 12345, 12345));
		T_EQ(enter_error(), EACCES);
	}
	T_OK(rmdir(path));
	T_OK(symlink("/tmp", path));
	T_EQ(enter_error(), EACCES);
	T_OK(unlink(path));
	runtime_dir_remove();
}

T_CASE(nonsense_in_the_environment_is_einval)
{
	static const char *const bad[] = {
		"fd:", "fd:x", "fd:3x", "fd:99999999999", "a/b", "./here",
	};

	for (size_t i = 0; i < STR_ARRAY_LEN(bad); i++) {
		setenv("STREAMS_DOMAIN", bad[i], 1);
		T_EQ(enter_error(), EINVAL);
	}
	setenv("STREAMS_DOMAIN", "fd:777", 1); /* not open */
	T_EQ(enter_error(), EINVAL);
}

/* A file like a domain's, and what one change of it does. */
static int
forged(void (*change)(struct str_domain *d, int fd))
{
	struct str_domain *d;
	char env[32];
	int fd = (int)T_OK(memfd_create("forged", 0));

	T_OK(ftruncate(fd, 16 << 20));
	d = mmap(NULL, sizeof *d, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	T_TRUE(d != MAP_FAILED);
	d->magic = STR_MAGIC;
	d->abi = STR_ABI;
	d->hdr_size = sizeof *d;
	d->base = 0x7e9000000000ull;
	d->cap = 16 << 20;
	host_ids_write(d);
	str_store(&d->ready, 1u);
	str_store(&d->committed, STR_HDR_SIZE);
	d->sum = str_domain_sum(d);
	change(d, fd);
	T_OK(munmap(d, sizeof *d));
	snprintf(env, sizeof env, "fd:%d", fd);
	T_OK(setenv("STREAMS_DOMAIN", env, 1));
	return enter_error();
}

static void
forge_magic(struct str_domain *d, int fd)
{
	d->magic++;
}

static void
forge_abi(struct str_domain *d, int fd)
{
	d->abi++;
}

static void
forge_header(struct str_domain *d, int fd)
{
	d->hdr_size--;
}

static void
forge_base(struct str_domain *d, int fd)
{
	d->base = 0x400000;
}

static void
forge_cap(struct str_domain *d, int fd)
{
	d->cap = 1ull << 50;
}

static void
forge_short(struct str_domain *d, int fd)
{
	T_OK(ftruncate(fd, 20));
}

static void
forge_size(struct str_domain *d, int fd)
{
	T_OK(ftruncate(fd, 17 << 20));
}

static void
forge_sum(struct str_domain *d, int fd)
{
	d->room ^= 1;
}

static void
forge_committed(struct str_domain *d, int fd)
{
	str_store(&d->committed, d->cap + 1);
}

static void
forge_namespace(struct str_domain *d, int fd)
{
	/* its namespaces' inodes are 0 */
}

T_CASE(forged_domains_are_eproto)
{
	T_EQ(forged(forge_magic), EPROTO);
	T_EQ(forged(forge_abi), EPROTO);
	T_NOTNULL(strstr(host_attach_error(), "ABI"));
	T_EQ(forged(forge_header), EPROTO);
	T_EQ(forged(forge_base), EPROTO);
	T_EQ(forged(forge_cap), EPROTO);
	T_EQ(forged(forge_short), EPROTO);
	T_EQ(forged(forge_size), EPROTO);
	T_EQ(forged(forge_sum), EPROTO);
	T_EQ(forged(forge_committed), EPROTO);
	T_EQ(forged(forge_namespace), EPROTO);
	T_NOTNULL(strstr(host_attach_error(), "namespace"));
}

T_CASE(a_descriptor_of_another_kind_is_refused)
{
	char env[32];
	int p[2], fd;

	T_OK(pipe(p));
	snprintf(env, sizeof env, "fd:%d", p[1]);
	setenv("STREAMS_DOMAIN", env, 1);
	T_EQ(enter_error(), EPROTO);
	fd = T_OK(open("/dev/shm", O_TMPFILE | O_RDWR, 0600));
	T_OK(ftruncate(fd, 1 << 20));
	snprintf(env, sizeof env, "/proc/self/fd/%d", fd);
	fd = T_OK(open(env, O_RDONLY));
	snprintf(env, sizeof env, "fd:%d", fd);
	setenv("STREAMS_DOMAIN", env, 1);
	T_EQ(enter_error(), EACCES);
}

T_CASE(an_address_already_taken_is_a_clear_error)
{
	pid_t pid;

	setenv("STREAMS_DOMAIN", "private", 1);
	enter_leave();
	pid = T_OK(fork());
	if (pid == 0) {
		char at[32];

		snprintf(at, sizeof at, "%llx",
			(unsigned long long)host_domain->base);
		execl("/proc/self/exe", "attach_test", "--address-taken", at,
			NULL);
		_exit(127);
	}
	child_ok(pid);
}

/* The exec'ed half of the case above; runs instead of the harness. */
STR_CONSTRUCTOR static void
address_taken(int argc, char **argv)
{
	struct host_call hc = { .fd = -1 };
	uint64_t at;
	void *p;

	if (argc != 3 || strcmp(argv[1], "--address-taken") != 0)
		return;
	at = strtoull(argv[2], NULL, 16);
	p = mmap((void *)(uintptr_t)at, 4096, PROT_READ,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == MAP_FAILED)
		_exit(2);
	if (host_enter(&hc) != EPROTO)
		_exit(1);
	_exit(strstr(host_attach_error(), "cannot be mapped") == NULL);
}

T_CASE(hidden_descriptors_stay_out_of_the_way)
{
	int fd;

	setenv("STREAMS_DOMAIN", "private", 1);
	fd = T_OK(dup(0));
	T_OK(close(fd));
	enter_leave();
	T_EQ(T_OK(dup(0)), fd);
	T_OK(close(fd));
	fd = host_fd_protect(T_OK(dup(0)));
	T_GE(fd, 16);
	T_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	T_OK(close(fd));
}
