/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names.h"
#include "t.h"

static struct names_conf conf;

static unsigned bad_line;
static char bad_what[80];

static void
remember(void *arg, unsigned line, const char *what)
{
	(void)arg;
	bad_line = line;
	snprintf(bad_what, sizeof(bad_what), "%s", what);
}

static int
parse(const char *text)
{
	return names_parse(&conf, text, strlen(text), remember, NULL);
}

/* "kind driver minor" of a path, as one string */
static const char *
means(const struct names_conf *c, const char *path)
{
	static const char *const kind[] = {
		"none", "dev", "clone", "fifo", "pipe"
	};
	static char buf[64];
	struct streams_name n;

	names_lookup(c, path, &n);
	snprintf(buf, sizeof(buf), "%s %s %u", kind[n.kind], n.drv, n.minor);
	return buf;
}

static const char *
resolved(const char *path)
{
	static const char *const kind[] = {
		"none", "dev", "clone", "fifo", "pipe"
	};
	static char buf[64];
	struct streams_name n;

	T_EQ(streams_name_resolve(path, &n), 0);
	snprintf(buf, sizeof(buf), "%s %s %u", kind[n.kind], n.drv, n.minor);
	return buf;
}

T_CASE(names_below_dev_streams_need_no_configuration)
{
	static const struct {
		const char *path, *means;
	} row[] = {
		{ "/dev/streams/clone/echo", "clone echo 0" },
		{ "/dev/streams/nsdev/echo", "clone echo 0" },
		{ "/dev/streams/nsdev/echo/5", "dev echo 5" },
		{ "/dev/streams/nsdev/5", "none  0" },
		{ "/dev/streams/nsdev/", "none  0" },
		{ "/dev/streams/nsdev/nsdev/echo", "none  0" },
		{ "/dev/streams/echo", "clone echo 0" },
		{ "/dev/streams/echo/0", "dev echo 0" },
		{ "/dev/streams/echo/262143", "dev echo 262143" },
		{ "/dev/streams/echo/262144", "none  0" },
		{ "/dev/streams/echo/01", "none  0" },
		{ "/dev/streams/echo/-1", "none  0" },
		{ "/dev/streams/echo/", "none  0" },
		{ "/dev/streams/echo/1/2", "none  0" },
		{ "/dev/streams/ninechars", "none  0" },
		{ "/dev/streams/clone", "none  0" },
		{ "/dev/streams/clone/", "none  0" },
		{ "/dev/streams/clone/9", "none  0" },
		{ "/dev/streams/", "none  0" },
		{ "/dev/streams/fifo/7", "fifo fifo 7" },
		{ "/dev/streams/clone/fifo", "clone fifo 0" },
		{ "/dev/streams/clone/pipe", "pipe pipe 0" },
		{ "/dev/echo", "none  0" },
		{ "/dev", "none  0" },
		{ "", "none  0" },
		{ "echo", "none  0" },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		T_STR(means(&conf, row[i].path), row[i].means);
}

T_CASE(the_configuration_that_is_built_in_has_no_mistake)
{
	T_EQ(parse(names_builtin), 0);
	T_EQ(conf.nfifo, 0u);
	T_STR(means(&conf, "/dev/strlog"), "clone log 0");
	T_STR(means(&conf, "/dev/sad"), "clone sad 0");
	T_STR(means(&conf, "/dev/loop.17"), "dev loop 17");
	T_STR(means(&conf, "/dev/loop."), "none  0");
	T_STR(means(&conf, "/dev/loop.x"), "none  0");
	T_STR(means(&conf, "/dev/loop_clone"), "clone loop 0");
	T_STR(means(&conf, "/dev/minimux.2"), "dev minimux 2");
	T_STR(means(&conf, "/dev/mux_clone"), "clone minimux 0");
	T_STR(means(&conf, "/dev/fifo"), "clone fifo 0");
	T_STR(means(&conf, "/dev/fifo.0"), "fifo fifo 0");
	T_STR(means(&conf, "/dev/streams/sad/admin"), "dev sad 0");
	T_STR(means(&conf, "/dev/null"), "none  0");
}

T_CASE(a_bad_line_is_named_and_adds_nothing)
{
	static const struct {
		const char *line, *what;
	} row[] = {
		{ "bogus", "a line begins with \"dev\" or \"fifo\"" },
		{ "devel /dev/x x", "a line begins with \"dev\" or \"fifo\"" },
		{ "dev", "dev wants a path and a driver" },
		{ "dev /dev/x # x", "dev wants a path and a driver" },
		{ "dev /dev/x x 1 2", "too many words" },
		{ "dev /dev/x x 1 2 3", "too many words" },
		{ "dev /tmp/x x", "a device's path begins with /dev/" },
		{ "dev /dev/ x", "a device's path begins with /dev/" },
		{ "dev /dev/x ninechars", "not a driver's name" },
		{ "dev /dev/x 1x", "not a driver's name" },
		{ "dev /dev/x x one",
			"a minor is a number, \"clone\" or \"%\"" },
		{ "dev /dev/x x 262144",
			"a minor is a number, \"clone\" or \"%\"" },
		{ "dev /dev/x x 99999999999999999999",
			"a minor is a number, \"clone\" or \"%\"" },
		{ "dev /dev/x.% x",
			"% stands in the path and for the minor, or in neither" },
		{ "dev /dev/x x %",
			"% stands in the path and for the minor, or in neither" },
		{ "dev /dev/%.% x %", "more than one % in a path" },
		{ "dev /dev/\001 x", "control character in a path" },
		{ "fifo", "fifo wants a pattern" },
		{ "fifo /a /b", "too many words" },
		{ "fifo a", "a pattern begins with /" },
	};
	char text[160];

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		snprintf(text, sizeof(text), "# one\n\n%s\ndev /dev/ok%zu ok\n",
			row[i].line, i);
		T_EQ(parse(text), 1);
		T_EQ(bad_line, 3u);
		T_STR(bad_what, row[i].what);
		T_EQ(conf.nrule, i + 1);
	}
}

T_CASE(what_does_not_fit_is_refused)
{
	static char text[8192], line[4300];

	memset(line, 'a', sizeof(line) - 1);
	snprintf(text, sizeof(text), "dev /dev/%s x", line);
	T_EQ(parse(text), 1);
	T_STR(bad_what, "path too long");
	for (unsigned i = 0; i < NAMES_MAXRULE; i++)
		T_EQ(parse("dev /dev/x x"), 0);
	T_EQ(parse("dev /dev/x x"), 1);
	T_STR(bad_what, "too many lines");
}

T_CASE(lines_may_end_in_any_way)
{
	static const char text[] = "dev /dev/d x 55";

	T_EQ(parse("dev /dev/a x\r\n\t dev\t/dev/b  x 3 # and so on\n"
		   "dev /dev/c x 4"), 0);
	T_EQ(names_parse(&conf, text, 14, NULL, NULL), 0);
	T_STR(means(&conf, "/dev/a"), "clone x 0");
	T_STR(means(&conf, "/dev/b"), "dev x 3");
	T_STR(means(&conf, "/dev/c"), "dev x 4");
	T_STR(means(&conf, "/dev/d"), "dev x 5");
}

T_CASE(patterns_are_those_of_the_shell)
{
	static const struct {
		const char *pattern, *path;
		bool yes;
	} row[] = {
		{ "/tmp/*", "/tmp/x", true },
		{ "/tmp/*", "/tmp/x/y", false },
		{ "/tmp/*/y", "/tmp/x/y", true },
		{ "/tmp/?", "/tmp/x", true },
		{ "/tmp/?", "/tmp/", false },
		{ "/tmp?x", "/tmp/x", false },
		{ "/tmp/[a-c]", "/tmp/b", true },
		{ "/tmp/[!a-c]", "/tmp/b", false },
		{ "/tmp/[^a-c]z", "/tmp/dz", true },
		{ "/tmp/[]x]", "/tmp/]", true },
		{ "/tmp[!x]y", "/tmp/y", false },
		{ "/tmp/[ab", "/tmp/[ab", true },
		{ "/tmp/[ab", "/tmp/a", false },
		{ "/tmp/a*b*c", "/tmp/aXbYbZc", true },
		{ "/tmp/a*b*c", "/tmp/aXbYbZ", false },
		{ "/tmp/**", "/tmp/", true },
		{ "/tmp/f", "/tmp/f", true },
		{ "/tmp/f", "/tmp/ff", false },
		{ "", "", true },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		T_EQ(names_match(row[i].pattern, row[i].path), row[i].yes);
}

static char dir[64];

static const char *
in_dir(const char *name)
{
	static char path[4][128];
	static unsigned n;

	if (dir[0] == '\0') {
		strcpy(dir, "/tmp/names-XXXXXX");
		T_NOTNULL(mkdtemp(dir));
	}
	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", dir, name);
	return path[n];
}

static void
gone(const char *name)
{
	if (name != NULL)
		T_OK(unlink(in_dir(name)));
	T_OK(rmdir(dir));
}

static void
file(const char *name, const char *text, mode_t mode)
{
	FILE *f = fopen(in_dir(name), "w");

	T_NOTNULL(f);
	T_TRUE(fputs(text, f) >= 0);
	T_EQ(fclose(f), 0);
	T_OK(chmod(in_dir(name), mode));
}

T_CASE(the_environment_names_the_configuration)
{
	file("conf", "dev /dev/str-xyzzy xyzzy 5\n", 0644);
	setenv("STREAMS_CONF", in_dir("conf"), 1);
	T_STR(resolved("/dev/str-xyzzy"), "dev xyzzy 5");
	T_STR(resolved("/dev//str-xyzzy"), "dev xyzzy 5");
	T_STR(resolved("/dev/streams//clone/echo"), "clone echo 0");
	T_STR(resolved("/dev/strlog"), "none  0");
	gone("conf");
}

T_CASE(a_configuration_that_others_can_write_is_not_believed)
{
	file("conf", "dev /dev/str-xyzzy xyzzy 5\n", 0666);
	setenv("STREAMS_CONF", in_dir("conf"), 1);
	T_STR(resolved("/dev/str-xyzzy"), "none  0");
	gone("conf");
}

T_CASE(nor_is_one_in_a_directory_of_theirs)
{
	file("conf", "dev /dev/str-xyzzy xyzzy 5\n", 0644);
	T_OK(chmod(dir, 0777));
	setenv("STREAMS_CONF", in_dir("conf"), 1);
	T_STR(resolved("/dev/str-xyzzy"), "none  0");
	gone("conf");
}

T_CASE(nor_one_that_is_no_file_or_has_no_absolute_path)
{
	static char buf[64];
	char why[NAMES_WHY];

	T_EQ(names_read("conf", 0, buf, sizeof(buf), why), -EINVAL);
	T_OK(mkfifo(in_dir("conf"), 0600));
	T_EQ(names_read(in_dir("conf"), 0, buf, sizeof(buf), why), -EACCES);
	T_EQ(names_read(in_dir("none"), 0, buf, sizeof(buf), why), -ENOENT);
	T_EQ(names_read(dir, 0, buf, sizeof(buf), why), -EACCES);
	T_OK(unlink(in_dir("conf")));
	file("conf", "12345678", 0600);
	T_EQ(names_read(in_dir("conf"), 0, buf, 7, why), -EFBIG);
	T_EQ(names_read(in_dir("conf"), 0, buf, 8, why), 8);
	gone("conf");
}

T_CASE(a_node_that_exists_is_not_covered_up)
{
	file("conf", "dev /dev/null echo\ndev /dev/shm echo\n", 0600);
	setenv("STREAMS_CONF", in_dir("conf"), 1);
	T_STR(resolved("/dev/null"), "none  0");
	T_STR(resolved("/dev/shm"), "none  0");
	gone("conf");
}

T_CASE(a_pattern_takes_in_fifos_and_nothing_else)
{
	char list[256];
	char here[256];

	snprintf(list, sizeof(list), "bad::%s", in_dir("f*"));
	setenv("STREAMS_FIFOS", list, 1);
	T_OK(mkfifo(in_dir("f1"), 0600));
	T_OK(mkfifo(in_dir("g1"), 0600));
	file("f2", "", 0600);
	T_OK(symlink("f1", in_dir("f3")));
	T_STR(resolved(in_dir("f1")), "fifo  0");
	T_STR(resolved(in_dir("f2")), "none  0");
	T_STR(resolved(in_dir("f3")), "fifo  0");
	T_STR(resolved(in_dir("f4")), "none  0");
	T_STR(resolved(in_dir("g1")), "none  0");
	/* the same by a path that begins where we are */
	T_NOTNULL(getcwd(here, sizeof(here)));
	T_OK(chdir(dir));
	T_STR(resolved("f1"), "fifo  0");
	T_STR(resolved(".//f1"), "fifo  0");
	T_STR(resolved("g1"), "none  0");
	T_OK(chdir(here));
	T_OK(unlink(in_dir("g1")));
	T_OK(unlink(in_dir("f2")));
	T_OK(unlink(in_dir("f3")));
	gone("f1");
}

/* The second time, it is the directory that is looked at. */
T_CASE(a_path_is_absent_until_there_is_a_file)
{
	const struct timespec long_ago[2] = {{1, 0}, {1, 0}};
	const char *path = in_dir("new");

	for (int i = 0; i < 3; i++) {
		T_OK(utimensat(AT_FDCWD, dir, long_ago, 0));
		/* from now on it is remembered */
		for (uint64_t t0 = t_now_ns(); t_now_ns() - t0 < 120000000;)
			t_pause();
		for (int k = 0; k < 3; k++)
			T_TRUE(names_absent(path));
		file("new", "", 0600);
		/* as tar and rsync do */
		T_OK(utimensat(AT_FDCWD, dir, long_ago, 0));
		T_FALSE(names_absent(path));
		T_OK(unlink(path));
		T_OK(symlink("nowhere", path));
		T_FALSE(names_absent(path));
		T_OK(unlink(path));
		T_TRUE(names_absent(path));
	}
	gone(NULL);
}

T_CASE(without_patterns_a_path_elsewhere_costs_no_system_call)
{
	struct rlimit none = { 0, 0 };
	static char path[8192];

	unsetenv("STREAMS_FIFOS");
	T_STR(resolved("/dev/null"), "none  0");
	/* it would be too long, were it looked at */
	memset(path, 'x', sizeof(path) - 1);
	T_OK(setrlimit(RLIMIT_NOFILE, &none));
	T_STR(resolved(path), "none  0");
	T_STR(resolved("/etc/passwd"), "none  0");
}

T_CASE(a_path_too_long_says_so)
{
	static char path[8192];
	struct streams_name n;

	memset(path, 'x', sizeof(path) - 1);
	memcpy(path, "/dev/", 5);
	T_EQ(streams_name_resolve(path, &n), ENAMETOOLONG);
	T_EQ(streams_name_resolve(NULL, &n), 0);
	T_EQ(n.kind, NAME_NONE);
}
