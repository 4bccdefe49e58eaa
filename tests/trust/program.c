/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Which program is started as streamsd.  Each case runs a program that uses a
 * device, with a library, a directory or a file that another user has or could
 * have written, and looks whether the planted program has run: it leaves a
 * mark.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

#define OTHER 12345 /* another user */

static char top[64];

static const char *
at(const char *name)
{
	static char path[4][192];
	static int n;

	n = (n + 1) % 4;
	snprintf(path[n], sizeof path[n], "%s/%s", top, name);
	return path[n];
}

static void
remove_top(void)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s", top);
	if (top[0] != '\0' && system(command) != 0)
		fprintf(stderr, "%s stays\n", top);
}

static void
setup(void)
{
	strcpy(top, "/tmp/streams-trust-XXXXXX");
	T_NOTNULL(mkdtemp(top));
	t_at_end(remove_top);
	T_OK(mkdir(at("a"), 0755));
	T_OK(mkdir(at("a/lib"), 0755));
	T_OK(mkdir(at("a/lib/streams"), 0755));
	T_OK(mkdir(at("a/tools"), 0755));
	T_OK(mkdir(at("a/tools/streamsd"), 0755));
}

static void
copy(const char *from, const char *to)
{
	struct stat st;
	int in = T_OK(open(from, O_RDONLY));
	int out = T_OK(open(to, O_WRONLY | O_CREAT | O_EXCL, 0755));

	T_OK(fstat(in, &st));
	while (st.st_size > 0)
		st.st_size -= T_OK(sendfile(out, in, NULL,
			(size_t)st.st_size));
	T_OK(fchmod(out, 0755));
	T_OK(close(in));
	T_OK(close(out));
}

/* A program that leaves a mark in our directory: marker.c. */
static void
plant(const char *name)
{
	copy(MARKER, name);
}

static int
marked(void)
{
	return access(at("a/tools/streamsd/mark"), F_OK) == 0;
}

/*
 * Use a device with @daemon for STREAMS_DAEMON and @preload for the library,
 * either may be NULL.  What it says on standard error comes into @said.
 */
static void
use(const char *daemon, const char *preload, char said[4096])
{
	size_t have = 0;
	int p[2], status;
	ssize_t n;
	pid_t pid;

	T_OK(pipe2(p, O_CLOEXEC));
	pid = T_OK(fork());
	if (pid == 0) {
		(void)dup2(p[1], 2);
		(void)setenv("STREAMS_DOMAIN", "private", 1);
		(void)setenv("STREAMS_LINGER", "250", 1);
		(void)unsetenv("STREAMS_DAEMON");
		if (daemon != NULL)
			(void)setenv("STREAMS_DAEMON", daemon, 1);
		if (preload != NULL)
			(void)setenv("LD_PRELOAD", preload, 1);
		(void)execl(DEVICE, DEVICE, (char *)NULL);
		_exit(127);
	}
	T_OK(close(p[1]));
	while (have < 4095 && (n = read(p[0], said + have, 4095 - have)) > 0)
		have += (size_t)n;
	said[have] = '\0';
	T_OK(close(p[0]));
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
}

/* Nothing is run, and the user reads why. */
static void
refused(const char *daemon, const char *because)
{
	char said[4096];

	use(daemon, NULL, said);
	if (strstr(said, because) == NULL)
		T_FAIL("\"%s\" is not in: %s", because, said);
	T_FALSE(marked());
}

T_CASE(the_planted_program_marks_when_it_is_run)
{
	char said[4096];

	setup();
	plant(at("a/tools/streamsd/streamsd"));
	use(at("a/tools/streamsd/streamsd"), NULL, said);
	T_TRUE(marked());
}

T_CASE(an_installed_library_does_not_look_beside_itself)
{
	char said[4096];

	setup();
	copy(LIBRARY, at("a/lib/streams/libstreams.so.1"));
	plant(at("a/tools/streamsd/streamsd"));
	use(NULL, at("a/lib/streams/libstreams.so.1"), said);
	T_FALSE(marked());
}

T_CASE(a_file_that_others_can_write_is_not_run)
{
	setup();
	plant(at("a/tools/streamsd/streamsd"));
	T_OK(chmod(at("a/tools/streamsd/streamsd"), 0757));
	refused(at("a/tools/streamsd/streamsd"), "mode 0757");
}

/* The one that it lies in, and each above. */
T_CASE(a_file_below_a_directory_that_others_can_write_is_not_run)
{
	static const char *const dir[] = {"a/tools/streamsd", "a/tools", "a"};

	setup();
	plant(at("a/tools/streamsd/streamsd"));
	for (int i = 0; i < 3; i++) {
		T_OK(chmod(at(dir[i]), 0777));
		refused(at("a/tools/streamsd/streamsd"), "mode 0777");
		T_OK(chmod(at(dir[i]), 0755));
	}
}

/* There others can make files, but cannot replace ours. */
T_CASE(a_file_in_a_sticky_directory_is_run_if_it_has_one_name)
{
	char said[4096];

	setup();
	plant(at("a/tools/streamsd/streamsd"));
	T_OK(chmod(at("a/tools/streamsd"), 01777));
	T_OK(link(at("a/tools/streamsd/streamsd"), at("a/lib/other")));
	refused(at("a/tools/streamsd/streamsd"), "has 2 names");
	T_OK(unlink(at("a/lib/other")));
	use(at("a/tools/streamsd/streamsd"), NULL, said);
	T_TRUE(marked());
}

/* Another user could have made a second name of a link of ours. */
T_CASE(a_link_in_a_sticky_directory_is_followed_if_it_has_one_name)
{
	char said[4096];

	setup();
	plant(at("a/lib/streamsd"));
	T_OK(symlink("../../lib/streamsd", at("a/tools/streamsd/streamsd")));
	T_OK(chmod(at("a/tools/streamsd"), 01777));
	T_OK(linkat(AT_FDCWD, at("a/tools/streamsd/streamsd"), AT_FDCWD,
		at("a/lib/other"), 0));
	refused(at("a/tools/streamsd/streamsd"), "has 2 names");
	T_OK(unlink(at("a/lib/other")));
	use(at("a/tools/streamsd/streamsd"), NULL, said);
	T_NULL(strstr(said, "is not used"));
}

T_CASE(a_file_of_another_user_is_not_run)
{
	setup();
	plant(at("a/tools/streamsd/streamsd"));
	if (chown(at("a/tools/streamsd/streamsd"), OTHER, OTHER) != 0)
		T_SKIP("only root can give a file to another user");
	refused(at("a/tools/streamsd/streamsd"), "user 12345");
}

T_CASE(a_file_below_a_directory_of_another_user_is_not_run)
{
	static const char *const dir[] = {"a/tools/streamsd", "a/tools", "a"};

	setup();
	plant(at("a/tools/streamsd/streamsd"));
	for (int i = 0; i < 3; i++) {
		if (chown(at(dir[i]), OTHER, OTHER) != 0)
			T_SKIP("only root can give a directory away");
		refused(at("a/tools/streamsd/streamsd"), "user 12345");
		T_OK(chown(at(dir[i]), 0, 0));
	}
}

T_CASE(a_link_of_another_user_is_not_followed)
{
	setup();
	plant(at("a/lib/streamsd"));
	T_OK(symlink("../lib", at("a/tools/link")));
	refused("/dev/null", "it is not a file");
	if (lchown(at("a/tools/link"), OTHER, OTHER) != 0)
		T_SKIP("only root can give a link to another user");
	refused(at("a/tools/link/streamsd"), "link belongs to user 12345");
}

T_CASE(a_path_that_is_not_absolute_is_not_run)
{
	setup();
	refused("streamsd", "not an absolute path");
}

T_CASE(a_link_to_a_file_of_another_user_is_not_run)
{
	setup();
	plant(at("a/lib/evil"));
	T_OK(symlink("../../lib/evil", at("a/tools/streamsd/streamsd")));
	if (chown(at("a/lib/evil"), OTHER, OTHER) != 0)
		T_SKIP("only root can give a file to another user");
	refused(at("a/tools/streamsd/streamsd"), "user 12345");
}
