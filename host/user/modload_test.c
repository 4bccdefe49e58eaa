/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Foreign modules: who may have written them, and that they mean the same in
 * every process.  What is taken for an object: elf_test.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <t.h>

#include "modload.h"
#include "modload_test_mod.h"
#include "upcalls_test_double.h"

static char dir[64]; /* a directory of our own with upmod.so in it */

static void
copy_file(const char *from, const char *to, mode_t mode)
{
	static char buf[1 << 20];
	int in = T_OK(open(from, O_RDONLY));
	int out = T_OK(open(to, O_WRONLY | O_CREAT | O_TRUNC, mode));
	ssize_t n = T_OK(read(in, buf, sizeof buf));

	T_EQ(write(out, buf, (size_t)n), n);
	T_OK(fchmod(out, mode));
	close(in);
	close(out);
}

static void
cleanup(void)
{
	char cmd[128];

	if (dir[0] != '\0') {
		snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
		T_EQ(system(cmd), 0);
	}
}

static const char *
in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void
setup(void)
{
	struct host_call hc = {.fd = -1};

	strcpy(dir, "/tmp/modload-XXXXXX");
	T_NOTNULL(mkdtemp(dir));
	t_at_end(cleanup);
	copy_file(UPMOD, in_dir("upmod.so"), 0644);
	setenv("STREAMS_MODULE_PATH", dir, 1);
	setenv("STREAMS_DOMAIN", "private", 1);
	up_enter(&hc);
	host_leave();
}

/* In a call; the image, or an errno. */
static int
load(const char *name, uint32_t *image, bool *fresh)
{
	struct host_call hc = {.fd = -1};
	int err;

	up_enter(&hc);
	err = host_module_load(&hc, name, image, fresh);
	host_leave();
	return err;
}

static struct upmod *
load_good(void)
{
	uint32_t image;
	bool fresh;

	T_EQ(load("upmod", &image, &fresh), 0);
	T_TRUE(fresh);
	host_module_done(image, true);
	return host_module_symbol(image, "upmodinfo");
}

/* A child that does not load: a status. */
static int
child(int (*fn)(void))
{
	pid_t pid = T_OK(fork());
	int status;

	if (pid == 0)
		_exit(fn());
	T_OK(waitpid(pid, &status, 0));
	return WIFEXITED(status) ? WEXITSTATUS(status) :
		1000 + WTERMSIG(status);
}

T_CASE(a_module_is_loaded_and_relocated)
{
	struct upmod *m;
	char buf[16];

	setup();
	m = load_good();
	T_NOTNULL(m);
	T_TRUE(host_module_of(m) == 1);
	T_TRUE(host_code_shared((void *)m->bump));
	T_EQ(m->bump(2), 42);
	T_EQ(*m->entry, 2);
	T_TRUE(m->find(3) == m->entry);
	T_EQ(m->add(2, 3), 5);
	T_EQ(m->copy(buf, "hello"), 5);
	T_STR(buf, "hello");
	T_STR(m->words[2], "gamma");
	T_STR(m->readonly, "constant");
	T_EQ(m->big[UPMOD_BIG - 1], 0);
	m->big[UPMOD_BIG - 1] = 'x';
	T_NULL(host_module_symbol(1, "bump")); /* static */
	T_NULL(host_module_symbol(1, "strlen")); /* not its own */
	T_NULL(host_module_symbol(2, "upmodinfo"));
	T_TRUE(host_module_calls(1, "up_add"));
	T_FALSE(host_module_calls(1, "up_ad"));
	T_FALSE(host_module_calls(1, "upmodinfo")); /* its own */
	T_FALSE(host_module_calls(2, "up_add"));
	T_EQ(host_module_of(m->big + UPMOD_BIG + 65536 * 2), 0);
	T_EQ((int)str_load(up_word(UP_REGION)), 0); /* all of it kept */
}

T_CASE(it_is_loaded_once)
{
	uint32_t image;
	bool fresh;

	setup();
	(void)load_good();
	T_OK(unlink(in_dir("upmod.so"))); /* not needed again */
	T_EQ(load("upmod", &image, &fresh), 0);
	T_EQ(image, 1);
	T_FALSE(fresh);
}

static struct upmod *shared_m;

static int
bump_in_child(void)
{
	return shared_m->bump(1);
}

T_CASE(a_child_shares_its_data)
{
	setup();
	shared_m = load_good();
	T_EQ(child(bump_in_child), 41);
	T_EQ(shared_m->bump(0), 41);
	T_EQ(*shared_m->entry, 1);
}

/* The exec'ed half: "eager" attaches to a domain with the module in it;
 * "lazy" attaches before it is loaded, says so and is then told to go on. */
STR_CONSTRUCTOR static void
execed(int argc, char **argv)
{
	struct host_call hc = {.fd = -1};
	struct upmod *m;
	int r = 0;

	if (argc != 3 || strcmp(argv[1], "--execed") != 0)
		return;
	if (host_enter(&hc) != 0)
		_exit(102);
	host_leave();
	if (strcmp(argv[2], "lazy") == 0) {
		str_store(up_word(UP_COOKIE), 1ull);
		while (str_load_acq(up_word(UP_USER)) == 0)
			t_pause();
	}
	m = (struct upmod *)(uintptr_t)str_load_acq(up_word(UP_USER));
	/* data first: whatever of it is touched brings the rest */
	if (strcmp(m->words[1], "beta") != 0 || m->find(3) != m->entry)
		_exit(103);
	if (m->add(40, 2) != 42)
		_exit(104);
	r = m->bump(1);
	if (strcmp(argv[2], "loop") == 0)
		for (;;)
			m->bump(1);
	_exit(r);
}

static pid_t
exec_self(const char *how)
{
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		execl("/proc/self/exe", "modload_test", "--execed", how, NULL);
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

T_CASE(a_process_that_attaches_later_maps_it)
{
	setup();
	shared_m = load_good();
	str_store(up_word(UP_USER), (uint64_t)(uintptr_t)shared_m);
	T_OK(unlink(in_dir("upmod.so")));
	T_EQ(status_of(exec_self("eager")), 41);
	T_EQ(status_of(exec_self("eager")), 42);
	T_EQ(shared_m->bump(0), 42);
}

T_CASE(a_process_that_attached_before_maps_it_when_it_is_touched)
{
	pid_t pid;

	setup();
	pid = exec_self("lazy");
	T_SOON((int)str_load_acq(up_word(UP_COOKIE)) == 1, 10000);
	str_store(up_word(UP_COOKIE), 0ull);
	shared_m = load_good();
	str_store_rel(up_word(UP_USER), (uint64_t)(uintptr_t)shared_m);
	T_EQ(status_of(pid), 41);
	T_EQ(shared_m->bump(0), 41);
}

T_CASE(a_process_of_another_build_is_refused)
{
	setup();
	shared_m = load_good();
	str_store(up_word(UP_USER), (uint64_t)(uintptr_t)shared_m);
	setenv("UP_DDI", "2", 1);
	T_EQ(status_of(exec_self("eager")), 102);
	T_EQ(shared_m->bump(0), 40);
}

/* It was attached already: it must not run the module, and does not. */
T_CASE(a_process_that_cannot_map_it_ends_when_it_touches_it)
{
	pid_t pid;

	setup();
	setenv("UP_DDI", "2", 1);
	pid = exec_self("lazy");
	T_SOON((int)str_load_acq(up_word(UP_COOKIE)) == 1, 10000);
	str_store(up_word(UP_COOKIE), 0ull);
	unsetenv("UP_DDI");
	shared_m = load_good();
	str_store_rel(up_word(UP_USER), (uint64_t)(uintptr_t)shared_m);
	T_EQ(status_of(pid), 1000 + SIGABRT);
	T_EQ(shared_m->bump(0), 40);
}

T_CASE(a_killed_process_takes_nothing_with_it)
{
	pid_t pid;
	int n;

	setup();
	shared_m = load_good();
	str_store(up_word(UP_USER), (uint64_t)(uintptr_t)shared_m);
	pid = exec_self("loop");
	T_SOON(*(volatile int *)shared_m->entry > 1000, 10000);
	T_OK(kill(pid, SIGKILL));
	T_EQ(status_of(pid), 1000 + SIGKILL);
	n = shared_m->bump(0);
	T_GT(n, 1000);
	*shared_m->entry = 0;
	T_EQ(status_of(exec_self("eager")), (n + 1) & 255);
	T_EQ(*shared_m->entry, 1);
}

static int
load_and_die(void)
{
	uint32_t image;
	bool fresh;

	if (load("upmod", &image, &fresh) != 0 || !fresh || image != 1)
		return 1;
	(void)kill(getpid(), SIGKILL);
	return 2;
}

T_CASE(a_loader_that_dies_before_it_is_done_is_followed_by_another)
{
	uint32_t image;
	bool fresh;

	setup();
	T_EQ(child(load_and_die), 1000 + SIGKILL);
	T_EQ(load("upmod", &image, &fresh), 0);
	T_EQ(image, 2);
	T_TRUE(fresh);
	host_module_done(image, true);
	T_EQ(load("upmod", &image, &fresh), 0);
	T_EQ(image, 2);
	T_FALSE(fresh);
}

T_CASE(one_that_was_no_good_is_loaded_again)
{
	uint32_t image;
	bool fresh;

	setup();
	T_EQ(load("upmod", &image, &fresh), 0);
	host_module_done(image, false);
	T_EQ(load("upmod", &image, &fresh), 0);
	T_EQ(image, 2);
	T_TRUE(fresh);
}

static int
load_in_child(void)
{
	uint32_t image;
	bool fresh;

	if (load("upmod", &image, &fresh) != 0 || image != 1)
		return 1;
	if (!fresh)
		return 0;
	(void)str_add(up_word(UP_USER), 1u);
	host_module_done(image, true);
	return 0;
}

T_CASE(many_that_load_it_at_once_load_it_once)
{
	pid_t pid[8];

	setup();
	for (int i = 0; i < 8; i++) {
		pid[i] = T_OK(fork());
		if (pid[i] == 0)
			_exit(load_in_child());
	}
	for (int i = 0; i < 8; i++)
		T_EQ(status_of(pid[i]), 0);
	T_EQ((int)str_load(up_word(UP_USER)), 1);
}

static int
fault_on(char *p)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};

	T_EQ(host_sigaction(SIGSEGV, &dfl, NULL), 0);
	*(volatile char *)p = 1;
	return 0;
}

static int
write_text(void)
{
	return fault_on((char *)(uintptr_t)shared_m->bump);
}

static int
write_constant(void)
{
	return fault_on((char *)(uintptr_t)shared_m->readonly);
}

static int
write_relro(void)
{
	return fault_on((char *)(uintptr_t)&shared_m->words[1]);
}

static int
write_beyond(void)
{
	return fault_on(shared_m->big + UPMOD_BIG + 65536);
}

T_CASE(what_is_not_to_be_written_is_not)
{
	setup();
	shared_m = load_good();
	T_EQ(child(write_text), 1000 + SIGSEGV);
	T_EQ(child(write_constant), 1000 + SIGSEGV);
	T_EQ(child(write_relro), 1000 + SIGSEGV);
	T_EQ(child(write_beyond), 1000 + SIGSEGV);
}

/* ---------------------------------------------------------------- refused */

/* Load it; the log says something with @why in it. */
static void
refused(const char *name, int want, const char *why)
{
	static char text[4096];
	uint32_t image;
	bool fresh;
	int p[2], err = dup(2);
	ssize_t n;

	T_OK(pipe(p));
	T_OK(dup2(p[1], 2));
	T_EQ(load(name, &image, &fresh), want);
	T_OK(dup2(err, 2));
	close(err);
	close(p[1]);
	n = T_OK(read(p[0], text, sizeof text - 1));
	close(p[0]);
	text[n] = '\0';
	if (strstr(text, why) == NULL)
		T_FAIL("log: %s; wanted: %s", text, why);
}

T_CASE(a_name_that_is_none_is_not_there)
{
	static const char *const bad[] = {"", "../upmod", "upmod.so",
		"/tmp/x", "up mod", "ninechars", "other"};
	uint32_t image;
	bool fresh;

	setup();
	for (size_t i = 0; i < STR_ARRAY_LEN(bad); i++)
		T_EQ(load(bad[i], &image, &fresh), ENOENT);
}

T_CASE(what_others_could_have_written_is_refused)
{
	setup();
	T_OK(chmod(in_dir("upmod.so"), 0664));
	refused("upmod", EACCES, "can be written by others");
	T_OK(chmod(in_dir("upmod.so"), 0646));
	refused("upmod", EACCES, "can be written by others");
	T_OK(chmod(in_dir("upmod.so"), 0644));
	T_OK(chmod(dir, 0770));
	refused("upmod", EACCES, "can be written by others");
	T_OK(chmod(dir, 0700));
	T_NOTNULL(load_good());
}

T_CASE(a_directory_above_that_others_can_write_is_refused)
{
	char path[128];

	setup();
	T_OK(mkdir(in_dir("a"), 0777));
	T_OK(chmod(in_dir("a"), 0777));
	T_OK(mkdir(in_dir("a/b"), 0755));
	copy_file(UPMOD, in_dir("a/b/upmod.so"), 0644);
	strcpy(path, in_dir("a/b"));
	setenv("STREAMS_MODULE_PATH", path, 1);
	refused("upmod", EACCES, "can be written by others");
	/* with the sticky bit others can make files, but not touch ours */
	T_OK(chmod(in_dir("a"), 01777));
	T_NOTNULL(load_good());
}

T_CASE(what_belongs_to_another_user_is_refused)
{
	setup();
	if (geteuid() != 0)
		T_SKIP("only root can give files away");
	T_OK(chown(in_dir("upmod.so"), 12345, (gid_t)-1));
	refused("upmod", EACCES, "belongs to user 12345");
	T_OK(chown(in_dir("upmod.so"), 0, (gid_t)-1));
	T_OK(chown(dir, 12345, (gid_t)-1));
	refused("upmod", EACCES, "belongs to user 12345");
}

T_CASE(a_link_leads_to_a_file_that_is_checked)
{
	setup();
	T_OK(unlink(in_dir("upmod.so")));
	T_OK(mkdir(in_dir("real"), 0700));
	copy_file(UPMOD, in_dir("real/real.so"), 0644);
	T_OK(symlink("real/../real/real.so", in_dir("upmod.so")));
	T_OK(chmod(in_dir("real"), 0777));
	refused("upmod", EACCES, "real can be written by others");
	T_OK(chmod(in_dir("real"), 0700));
	T_OK(chmod(in_dir("real/real.so"), 0666));
	refused("upmod", EACCES, "it can be written by others");
	T_OK(chmod(in_dir("real/real.so"), 0644));
	T_NOTNULL(load_good());
}

T_CASE(links_in_a_circle_are_refused)
{
	setup();
	T_OK(unlink(in_dir("upmod.so")));
	T_OK(symlink("upmod.so", in_dir("upmod.so")));
	refused("upmod", EACCES, "too many symbolic links");
}

T_CASE(a_link_in_the_path_is_followed_to_what_is_checked)
{
	char path[128];

	setup();
	T_OK(mkdir(in_dir("real"), 0700));
	copy_file(UPMOD, in_dir("real/upmod.so"), 0644);
	T_OK(symlink("real", in_dir("link")));
	strcpy(path, in_dir("link"));
	setenv("STREAMS_MODULE_PATH", path, 1);
	T_OK(chmod(in_dir("real"), 0770));
	refused("upmod", EACCES, "can be written by others");
	T_OK(chmod(in_dir("real"), 0700));
	T_NOTNULL(load_good());
}

T_CASE(what_is_not_a_file_is_refused)
{
	setup();
	T_OK(unlink(in_dir("upmod.so")));
	T_OK(mkfifo(in_dir("upmod.so"), 0600));
	refused("upmod", EACCES, "it is not a file");
	T_OK(unlink(in_dir("upmod.so")));
	T_OK(mkdir(in_dir("upmod.so"), 0700));
	refused("upmod", EACCES, "it is not a file");
}

T_CASE(a_relative_directory_is_refused)
{
	setup();
	T_OK(chdir(dir));
	setenv("STREAMS_MODULE_PATH", ".", 1);
	refused("upmod", EACCES, "not an absolute path");
}

T_CASE(the_path_is_searched_in_order)
{
	char path[256];

	setup();
	T_OK(mkdir(in_dir("empty"), 0700));
	snprintf(path, sizeof path, "/nowhere::%s", in_dir("empty"));
	snprintf(path + strlen(path), sizeof path - strlen(path), ":%s", dir);
	setenv("STREAMS_MODULE_PATH", path, 1);
	T_NOTNULL(load_good());
}

T_CASE(a_bad_one_hides_a_good_one_and_says_so)
{
	char path[256];

	setup();
	T_OK(mkdir(in_dir("first"), 0700));
	copy_file("/dev/null", in_dir("first/upmod.so"), 0600);
	snprintf(path, sizeof path, "%s", in_dir("first"));
	snprintf(path + strlen(path), sizeof path - strlen(path), ":%s", dir);
	setenv("STREAMS_MODULE_PATH", path, 1);
	refused("upmod", ENOEXEC, "it has 0 bytes");
}

T_CASE(one_of_another_name_is_refused)
{
	setup();
	copy_file(UPMOD, in_dir("other.so"), 0644);
	refused("other", ENOEXEC, "neither otherinfo nor otherinit");
	T_EQ((int)str_load(&((struct host_images *)(void *)(
		(char *)host_domain + HOST_IMAGES_OFF))->image[0]), 0);
}
