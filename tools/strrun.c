/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strrun - run a program whose pipes are carried by shared memory.
 *
 * It makes the area (lib/run/area.h), starts the program with libstrrun
 * preloaded, keeps the area open, and ends as the program does.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/tool.h"
#include "run.h"

#define LIBRARY "libstrrun.so.1"
#define HIGH 100 /* the area's descriptor is not below it, if possible */

extern char **environ;

static struct tool tool = {
	.name = "strrun",
	.synopsis = "[-s] COMMAND [ARGUMENT ...]",
	.purpose = "Run a program; shared memory carries the pipes between it "
		   "and what it starts.",
	.help =
	"  -s, --stat              print at the end what was carried, and why\n"
	"                          the rest was not\n",
	.options = "+s",
};

static const struct option longs[] = {
	{ "stat", no_argument, NULL, 's' },
	{ NULL, 0, NULL, 0 },
};

static volatile sig_atomic_t child;

/* ------------------------------------------------------------- the area */

/* Why there is none is said with STREAMS_VERBOSE only: the program runs. */
static struct run_area *
make_area(int *ret_fd)
{
	void (*old)(int);
	struct run_area *a;
	int fd, high;

	fd = memfd_create("strrun", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return NULL;
	high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
	if (high >= 0) {
		(void)close(fd);
		fd = high;
	}
	old = signal(SIGXFSZ, SIG_IGN);
	a = ftruncate(fd, RUN_SIZE) != 0 ? MAP_FAILED : mmap(NULL, RUN_RINGS,
		PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)signal(SIGXFSZ, old);
	/* access to what was cut off would end a process by SIGBUS */
	if (a == MAP_FAILED || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK |
			F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		(void)close(fd);
		return NULL;
	}
	if (getrandom(&a->key, sizeof a->key, 0) != (ssize_t)sizeof a->key)
		a->key = (uint32_t)getpid();
	a->magic = RUN_MAGIC;
	*ret_fd = fd;
	return a;
}

/* The library, as it lies in the build tree or as it is installed. */
static const char *
find_library(char path[PATH_MAX])
{
	static const char *const places[] = {"../lib/run/" LIBRARY,
		STRRUN_REL "/" LIBRARY};
	char self[PATH_MAX], *slash;
	const char *set = getenv("STREAMS_STRRUN");
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (set != NULL)
		return access(set, R_OK) == 0 ? set : NULL;
	if (n > 0) {
		self[n] = '\0';
		slash = strrchr(self, '/');
		if (slash != NULL)
			slash[1] = '\0';
		for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
			char both[2 * PATH_MAX];

			snprintf(both, sizeof both, "%s%s", self, places[i]);
			if (realpath(both, path) != NULL &&
					access(path, R_OK) == 0)
				return path;
		}
	}
	return access(STRRUN_ABS "/" LIBRARY, R_OK) == 0 ?
		STRRUN_ABS "/" LIBRARY : NULL;
}

/* ---------------------------------------------------------- the program */

static void
prepare_environment(const char *library, int fd, const struct run_area *a)
{
	const char *old = getenv("LD_PRELOAD");
	char text[64];
	char *list;

	snprintf(text, sizeof text, "%d:%d:%x", (int)getpid(), fd, a->key);
	run_value_set(text);
	if (setenv(RUN_VAR, text, 1) != 0 ||
		asprintf(&list, "%s%s%s", library,
			old != NULL && old[0] != '\0' ? ":" : "",
			old != NULL ? old : "") < 0 ||
		setenv("LD_PRELOAD", list, 1) != 0)
		tool_die(&tool, "environment");
}

static void
prepare(char **argv, const char *library, int fd, const struct run_area *a)
{
	char path[PATH_MAX];
	struct run_env e;

	prepare_environment(library, fd, a);
	if (run_image(run_search(argv[0], path), environ, NULL) ==
			RUN_IMAGE_FOREIGN)
		environ = (char **)(uintptr_t)run_env_without(environ, &e);
}

/* The child shares this memory until exec, and changes nothing that matters. */
static STR_NOINLINE pid_t
start(char **argv, void (*on_child)(int))
{
	pid_t pid = vfork();
	int err;

	if (pid < 0)
		tool_die(&tool, "fork");
	if (pid != 0)
		return pid;
	(void)signal(SIGCHLD, on_child);
	(void)execvp(argv[0], argv);
	err = errno;
	tool_err(&tool, "%s", argv[0]);
	_exit(err == ENOENT ? 127 : 126);
}

static void
forward(int sig)
{
	if (child > 0)
		(void)kill(child, sig);
}

/* Signals from the terminal reach the program without our help. */
static void
catch_signals(void)
{
	static const int sent[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
	struct sigaction sa = {.sa_handler = forward, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof sent / sizeof *sent; i++)
		(void)sigaction(sent[i], &sa, NULL);
	sa.sa_handler = SIG_IGN;
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGQUIT, &sa, NULL);
}

/* The program's files are not held open here: their ends must be seen. */
static void
release_files(int fd, bool stat)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < (stat ? 2 : 3) && null >= 0; i++)
		(void)dup2(null, i);
	if (fd > 3)
		(void)close_range(3, (unsigned)fd - 1, 0);
	(void)close_range(fd >= 3 ? (unsigned)fd + 1 : 3, ~0u, 0);
}

static int
await(void)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 1 << 8; /* exit status 1 */
	return status;
}

static int
end_as(int status)
{
	struct rlimit none = {0, 0};

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* the program has left a core, if any */
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(WTERMSIG(status), SIG_DFL);
	(void)raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

/* --------------------------------------------------------------- --stat */

static void
show(const struct run_area *a)
{
	static const char *const why[RUN_COUNTS] = {
		[RUN_OUTSIDE] = "kept from it: a program outside got them",
		[RUN_SENT] = "kept from it: sent through a socket",
		[RUN_MANY] = "kept from it: too many processes held them",
		[RUN_APART] = "kept from it: a holder changed user or root",
		[RUN_INSERTED] = "kept from it: a stream was inserted",
		[RUN_FORK] = "given back before a process was made",
		[RUN_EXEC] = "given back before exec",
		[RUN_CLOSE] = "given back before close",
		[RUN_POLL] = "given back before poll or select",
		[RUN_CALL] = "given back before another call",
		[RUN_THREADS] = "given back because of threads",
		[RUN_EXIT] = "given back before exit",
		[RUN_LOOKED] = "descriptors examined",
	};
	uint64_t bytes;

	if (a == NULL) {
		fprintf(stderr, "strrun: no pipe could be carried\n");
		return;
	}
	bytes = a->count[RUN_BYTES];
	for (unsigned i = 0; i < RUN_PIPES; i++)
		bytes += a->pipe[i].bytes;
	fprintf(stderr, "strrun: %ju pipes made\n"
		"strrun: %ju times a pipe was carried by shared memory, "
		"%ju bytes\n", (uintmax_t)a->count[RUN_MADE],
		(uintmax_t)a->count[RUN_CARRIED], (uintmax_t)bytes);
	for (int i = RUN_OUTSIDE; i < RUN_COUNTS; i++)
		if (a->count[i] != 0)
			fprintf(stderr, "strrun: %ju %s\n",
				(uintmax_t)a->count[i], why[i]);
}

int
main(int argc, char **argv)
{
	char path[PATH_MAX];
	struct run_area *a = NULL;
	const char *library;
	void (*old)(int);
	bool stat = false;
	int c, fd = -1, status;

	tool.longs = longs;
	while ((c = tool_getopt(&tool, argc, argv)) != -1)
		if (c == 's')
			stat = true;
	if (optind == argc)
		tool_usage(&tool, "no COMMAND");
	library = find_library(path);
	if (library == NULL)
		tool_warn(&tool, "%s is not installed", LIBRARY);
	else if (strpbrk(library, " :") != NULL)
		tool_warn(&tool, "%s: LD_PRELOAD divides this name", library);
	else
		a = make_area(&fd);
	if (a == NULL && getenv("STREAMS_VERBOSE") != NULL)
		tool_warn(&tool, "pipes are left to the kernel");
	/* if it is ignored, as the caller may do, there is no status to be read */
	old = signal(SIGCHLD, SIG_DFL);
	if (a != NULL)
		prepare(argv + optind, library, fd, a);
	child = start(argv + optind, old);
	catch_signals();
	release_files(fd, stat);
	status = await();
	if (stat)
		show(a);
	return end_as(status);
}
