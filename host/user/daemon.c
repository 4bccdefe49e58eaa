/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * streamsd, as members see it: who it is, how it is started, how its death is
 * noticed.  What it does is in tools/streamsd.
 *
 * Who.  One word of the domain says: nobody; a thread, named by its tag, is
 * starting it; a process, named by its slot, is it.  Whoever is named may have
 * died meanwhile and is then taken for nobody.  streamsd puts itself there,
 * by a compare-and-swap, and exits when it finds somebody alive: so there is
 * one, whatever became of who started it.
 *
 * Leaving.  streamsd takes its name out first and looks once more whether it
 * is wanted; host_daemon() says first that it has asked, and then looks for
 * the name.  So either it stays, or who asked sees that there is nobody.
 *
 * Starting.  Two processes between us and it, which share our memory and last
 * until the exec: no handler for fork runs, no child is left to wait for,
 * and nobody gets a signal.  A pipe says when it has put itself there.
 *
 * Death.  Who sleeps at a carrier polls its pidfd besides and starts another
 * when there is something to be watched.
 *
 * Failure.  When it cannot be started callers go on without; it is tried
 * again after a second, and ever more rarely, by whoever comes or sleeps.
 * One that ends without a word was killed on its way, which says nothing of
 * the next: that is started at once, until so many have come to nothing that
 * it must be the program.  Whoever gets as far as to be it ends the waiting.
 */
#include <dlfcn.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "sock.h"
#include "user_impl.h"

#define TRIES 3
#define READY_MS 5000	      /* until it says that it is there */
#define OTHERS_NS 2000000000u /* to wait for another one's start */
#define RETRY_NS 1000000000u
#define DEATHS 16u /* in a row, until it counts as a program that fails */
#define AGAIN_NS 100000000u /* a sleeper's least time between two attempts */
#define STACK_SIZE (32u << 10)

/* The word: kind, then a tag, or slot, generation and pid. */
#define NOBODY 0ull
#define STARTING 1ull
#define RUNNING 2ull
#define KIND(w) ((w) >> 62)
#define LOW(w) ((uint32_t)(w))
#define SLOT(w) ((uint32_t)((w) >> 32) & (STR_NPROC - 1))
#define GEN(w) ((uint32_t)((w) >> 42) & 0xfffffu)

_Static_assert(STR_NPROC <= 1024, "a slot has ten bits");

bool host_is_daemon;
bool host_daemon_comes;

static str_a64 *
word(void)
{
	return &host_shared(host_domain)->daemon;
}

/* Whoever waits for the word to change sleeps on its lower half. */
static str_a32 *
word_low(void)
{
	return (str_a32 *)(void *)word();
}

static uint64_t
word_of_me(void)
{
	uint32_t slot = host_priv_page->proc;
	uint64_t gen = str_load(&host_domain->proc[slot].gen) & 0xfffffu;

	return RUNNING << 62 | gen << 42 | (uint64_t)slot << 32 |
		(uint32_t)sys_getpid();
}

/* Is the process alive that @w, of kind RUNNING, names?  The sure way. */
static bool
alive_really(uint64_t w)
{
	uint32_t gen = str_load(&host_domain->proc[SLOT(w)].gen);

	return (gen & 0xfffffu) == GEN(w) &&
		host_proc_alive(SLOT(w), gen, LOW(w));
}

/* ------------------------------------------------------------- its pidfd */

/* Is @fd what was put under HOST_FD_DAEMON?  The program may have closed it. */
static bool
fd_is(struct host_priv *pv, int fd)
{
	struct stat st;

	return fd >= 0 && host_domain_stat(fd, &st) == 0 &&
		st.st_ino == pv->daemon_ino && st.st_dev == pv->daemon_dev;
}

/* A descriptor that becomes readable when the daemon that @w names ends. */
static int
fd_of(uint64_t w)
{
	struct host_priv *pv = host_priv_page;
	struct stat st;
	int fd = host_fd_get(HOST_FD_DAEMON);

	if (str_load_acq(&pv->daemon_word) == w && fd >= 0)
		return fd;
	host_plock_lock(&pv->daemon);
	fd = host_fd_get(HOST_FD_DAEMON);
	if (str_load(&pv->daemon_word) != w || fd < 0) {
		if (fd_is(pv, fd))
			host_fd_drop(HOST_FD_DAEMON);
		str_store(&pv->daemon_word, 0ull);
		fd = (int)sys_call2(SYS_pidfd_open, LOW(w), 0);
		if (fd >= 0 && !alive_really(w)) {
			(void)sys_close(fd);
			fd = -1;
		}
		if (fd >= 0 && host_domain_stat(fd, &st) == 0) {
			pv->daemon_ino = st.st_ino;
			pv->daemon_dev = st.st_dev;
			fd = host_fd_hide(HOST_FD_DAEMON, fd, true);
			str_store_rel(&pv->daemon_word, w);
		}
	}
	host_plock_unlock(&pv->daemon);
	return fd < 0 ? -1 : fd;
}

static void
fd_forget(uint64_t w)
{
	struct host_priv *pv = host_priv_page;

	(void)str_cas(&pv->daemon_word, w, 0ull);
}

static bool
alive(uint64_t w)
{
	struct pollfd pfd = { fd_of(w), POLLIN, 0 };
	struct timespec ts = { 0, 0 };

	if (pfd.fd >= 0 && sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL,
			SYS_SIGSET) == 0)
		return true;
	/* it is dead, or that descriptor is something else by now */
	fd_forget(w);
	return alive_really(w);
}

/* ----------------------------------------------------------- starting it */

struct start {
	const char *path;
	char *argv[4];
	char *env[8];
	char domain[800], crash[64];
	int domain_fd, ready_fd;
	char *stack; /* of the second process */
};

static void
close_but(int a, int b)
{
	int lo = STR_MIN(a, b), hi = STR_MAX(a, b);

	if (lo > 0)
		(void)sys_call3(SYS_close_range, 0, lo - 1, 0);
	if (hi > lo + 1)
		(void)sys_call3(SYS_close_range, STR_MAX(lo, -1) + 1, hi - 1,
			0);
	(void)sys_call3(SYS_close_range, hi + 1, ~0u, 0);
}

/* /dev/null at 0 to 2, the domain or nothing at 3, the pipe at 4, no more. */
static int
descriptors(struct start *s)
{
	int domain = -1, ready, null;

	close_but(s->domain_fd, s->ready_fd);
	ready = sys_fcntl(s->ready_fd, F_DUPFD, 10);
	if (s->domain_fd >= 0)
		domain = sys_fcntl(s->domain_fd, F_DUPFD, 10);
	if (ready < 0 || (s->domain_fd >= 0 && domain < 0))
		return ready < 0 ? -ready : -domain;
	close_but(domain, ready);
	null = sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0);
	if (null < 0)
		return -null;
	while (null < 3)
		null = sys_fcntl(null, F_DUPFD, null + 1);
	if (domain >= 0)
		(void)sys_call3(SYS_dup3, domain, 3, 0);
	(void)sys_call3(SYS_dup3, ready, 4, 0);
	(void)sys_call3(SYS_close_range, 5, ~0u, 0);
	s->ready_fd = 4;
	return 0;
}

/*
 * The thread sanitizer's clone() takes the child for one with memory of its
 * own.  It counts down twice what it counted up once, and sees no atomic
 * operation of this thread from then on.
 */
#if defined(__SANITIZE_THREAD__)
int __clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);
#define clone __clone
#endif

/* The second process: streamsd to be.  It shares our memory. */
/*
 * Never returns from where it has become another program; a sanitizer would
 * have us leave its marks, on a stack that is unmapped or in a list of calls.
 */
__attribute__((no_sanitize_address, no_sanitize_thread)) /* lint-ok: here only */
static int
second_main(void *arg)
{
	struct { uint64_t handler, flags, restorer, mask; } dfl = { 0 };
	static const uint64_t none;
	struct start *s = arg;
	uint64_t cpus[128];
	char err;

	for (int sig = 1; sig <= 64; sig++)
		(void)sys_call4(SYS_rt_sigaction, sig, &dfl, NULL, SYS_SIGSET);
	err = (char)descriptors(s);
	if (err == 0) {
		memset(cpus, 0xff, sizeof cpus);
		(void)sys_call3(SYS_sched_setaffinity, 0, sizeof cpus, cpus);
		(void)sys_call1(SYS_chdir, "/");
		(void)sys_call1(SYS_umask, 077);
		sys_sigmask(SIG_SETMASK, &none, NULL);
		err = (char)-sys_call3(SYS_execve, s->path, s->argv, s->env);
	}
	(void)sys_write(s->ready_fd, &err, 1);
	return 127;
}

/* The first: leads a session that ends with it. */
static int
first_main(void *arg)
{
	struct start *s = arg;
	int fd = s->ready_fd;
	int pid;
	char err;

	(void)sys_call1(SYS_setsid, 0);
	pid = clone(second_main, s->stack + STACK_SIZE,
		CLONE_VM | CLONE_VFORK, s);
	if (pid < 0) {
		err = (char)errno;
		(void)sys_write(fd, &err, 1);
	}
	return 0;
}

/* Start the program; @ready becomes readable when it has said something. */
static int
spawn(struct start *s)
{
	int pid, status, err = errno, ret = 0;
	uint64_t old;
	char *stack;
	long r;

	r = sys_call6(SYS_mmap, NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r < 0 && r > -4096)
		return ENOMEM;
	stack = (char *)r;
	s->stack = stack + STACK_SIZE;
	host_sig_block(&old);
	pid = clone(first_main, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK, s);
	if (pid < 0)
		ret = errno;
	else
		(void)sys_call4(SYS_wait4, pid, &status, __WALL, NULL);
	host_sig_restore(&old);
	(void)sys_call2(SYS_munmap, stack, 2 * STACK_SIZE);
	errno = err;
	return ret;
}

/* What it says about its start: 0 or an errno. */
static int
ready(int fd)
{
	struct pollfd pfd = { fd, POLLIN, 0 };
	struct timespec ts = { READY_MS / 1000, READY_MS % 1000 * 1000000l };
	unsigned char c;

	/* in a call, so that no handler cuts it short */
	if (sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL, SYS_SIGSET) == 0)
		return ETIMEDOUT;
	return sys_read(fd, &c, 1) == 1 ? c : ESRCH;
}

static bool
executable(const char *path)
{
	return sys_call3(SYS_faccessat, AT_FDCWD, path, X_OK) == 0;
}

/*
 * What the environment says, from when this process came: whoever sleeps may
 * start it, and a thread of ours, while the program changes its environment.
 */
static struct {
	char program[4096];
	char linger[64];
	char sanitizer[512]; /* TSAN_OPTIONS: else nobody sees its reports */
} env;

static void
keep(char *to, size_t size, const char *name, bool whole)
{
	const char *v = getenv(name);
	int n = v == NULL ? 0 : snprintf(to, size, "%s%s%s", whole ? name : "",
		whole ? "=" : "", v);

	if (v == NULL || (size_t)n >= size)
		to[0] = '\0';
}

/* host_daemon_environment - read it.  Locks: [attach] */
void
host_daemon_environment(void)
{
	keep(env.program, sizeof env.program, "STREAMS_DAEMON", false);
	keep(env.linger, sizeof env.linger, "STREAMS_LINGER", true);
#if defined(__SANITIZE_THREAD__)
	keep(env.sanitizer, sizeof env.sanitizer, "TSAN_OPTIONS", true);
#endif
}

/* Where the program is: told, beside us in a build tree, or installed. */
static const char *
find(char *buf, size_t size)
{
	Dl_info di;
	const char *slash;

	if (env.program[0] != '\0')
		return env.program;
	if (dladdr((void *)(uintptr_t)&find, &di) != 0 &&
	    di.dli_fname != NULL && di.dli_fname[0] == '/') {
		slash = strrchr(di.dli_fname, '/');
		if ((size_t)snprintf(buf, size,
			    "%.*s/../../tools/streamsd/streamsd",
			    (int)(slash - di.dli_fname), di.dli_fname) < size &&
		    executable(buf))
			return buf;
	}
	return HOST_LIBEXECDIR "/streamsd";
}

static void
environment(struct start *s)
{
	int n = 0;

	if (s->domain_fd >= 0)
		strcpy(s->domain, "STREAMS_DOMAIN=fd:3");
	else
		snprintf(s->domain, sizeof s->domain, "STREAMS_DOMAIN=%s",
			host_domain_path());
	s->env[n++] = s->domain;
	if (env.linger[0] != '\0')
		s->env[n++] = env.linger;
	if (env.sanitizer[0] != '\0')
		s->env[n++] = env.sanitizer;
#ifdef STR_CRASH_POINTS
	/* STREAMS_CRASH is the member's own */
	strcpy(s->crash, "STREAMS_CRASH=");
	if (host_crash_env("STREAMS_DAEMON_CRASH", s->crash + 14,
		    sizeof s->crash - 14))
		s->env[n++] = s->crash;
#endif
	s->env[n] = NULL;
}

static int
start(void)
{
	static struct start s; /* the word allows one at a time */
	static char path[1024], dir[520];
	int fd[2], err;

	memset(&s, 0, sizeof s);
	s.domain_fd = strncmp(host_domain_path(), "fd:", 3) == 0 ?
		host_domain_fd() : -1;
	s.path = find(path, sizeof path);
	environment(&s);
	s.argv[0] = (char[]){ "streamsd" };
	s.argv[1] = (char[]){ "-n4" };
	if (s.domain_fd < 0 && host_named_dir()[0] != '\0') {
		snprintf(dir, sizeof dir, "-r%s", host_named_dir());
		s.argv[2] = dir;
	}
	err = -(int)sys_call2(SYS_pipe2, fd, O_CLOEXEC);
	if (err != 0)
		return err;
	s.ready_fd = fd[1];
	err = spawn(&s);
	(void)sys_close(fd[1]);
	if (err == 0)
		err = ready(fd[0]);
	(void)sys_close(fd[0]);
	return err;
}

/* It could not be started. */
static void
failed(int err)
{
	struct host_shared *s = host_shared(host_domain);
	uint32_t n = str_add(&s->daemon_fails, 1u);
	char text[160];

	str_store(&s->daemon_err, (uint32_t)err);
	str_store_rel(&s->daemon_retry,
		host_now() + ((uint64_t)RETRY_NS << STR_MIN(n, 6u)));
	if (host_priv_page->daemon_warned)
		return;
	host_priv_page->daemon_warned = 1;
	snprintf(text, sizeof text, "streamsd cannot be started: %s; what "
		"killed processes held open stays open", strerror(err));
	host_log(1, text);
}

/* @w: what the word said.  Return: 0 when it runs now, EAGAIN: look again. */
static int
start_once(uint64_t w)
{
	struct host_shared *s = host_shared(host_domain);
	uint64_t mine = STARTING << 62 | host_self_tag();
	int err;

	if (str_load_acq(&s->daemon_retry) > host_now())
		return (int)str_load(&s->daemon_err);
	if (!str_cas(word(), w, mine))
		return EAGAIN;
	STR_CRASH_POINT("daemon:starting");
	err = start();
	while (err == ESRCH && str_add(&s->daemon_deaths, 1u) + 1 < DEATHS)
		err = start(); /* it was killed on its way */
	if (err == 0)
		str_store(&s->daemon_deaths, 0u);
	STR_CRASH_POINT("daemon:started");
	if (err != 0 && str_load(word()) == mine)
		failed(err);
	else
		str_store(&s->daemon_fails, 0u);
	if (str_cas(word(), mine, NOBODY)) {
		err = err != 0 ? err : ESRCH;
	} else {
		/* it has put itself there: is it still? */
		str_store_rel(&s->daemon_retry, 0ull);
		err = EAGAIN;
	}
	(void)host_wake(word_low(), INT_MAX);
	return err;
}

int
host_daemon(void)
{
	uint64_t until = 0, w;
	int tries = 0, err = ESRCH;

	if (host_is_daemon)
		return 0;
	if (host_daemon_comes)
		return EAGAIN; /* who starts it waits for us */
	str_store(&host_shared(host_domain)->daemon_asked, host_now());
	str_fence_full(); /* pairs with host_daemon_resign() */
	while (tries < TRIES) {
		w = str_load_acq(word());
		if (KIND(w) == RUNNING && alive(w)) {
			host_sock_tidy();
			return 0;
		}
		if (KIND(w) == STARTING && !host_owner_dead(LOW(w))) {
			if (until == 0)
				until = host_now() + OTHERS_NS;
			else if (host_now() > until)
				return EAGAIN;
			(void)host_wait(NULL, word_low(), LOW(w), 20000000u);
			continue;
		}
		err = start_once(w);
		if (err != EAGAIN)
			return err;
		tries++;
	}
	return err;
}

/* ------------------------------------------------------------ as a member */

void
host_daemon_tell(uint32_t ask)
{
	uint64_t w;

	str_fence_full(); /* what it is told about first, then its name */
	w = str_load_acq(word());
	if (host_is_daemon || KIND(w) != RUNNING)
		return;
	(void)str_or(&host_shared(host_domain)->daemon_asks, ask);
	host_bell_ring_proc(&host_domain->proc[SLOT(w)]);
}

void
host_daemon_look(void)
{
	host_daemon_tell(HOST_ASK_LOOK);
}

/*
 * A forked child holds what its parent held, and may never make a call: tell
 * who watches.  It is nobody yet, and has no bell to send from.
 */
void
host_daemon_fork(void)
{
	uint64_t w = str_load_acq(word());
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	uint64_t text[2] = { host_shared(host_domain)->key, 0 };
	struct str_proc *p = &host_domain->proc[SLOT(w)];
	uint32_t len = str_load_acq(&p->bell_len);
	int fd;

	if (KIND(w) != RUNNING || len == 0 || len > sizeof p->bell)
		return;
	fd = (int)sys_call3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	text[1] = (uint32_t)sys_getpid();
	memcpy(sun.sun_path, p->bell, len);
	(void)sys_call6(SYS_sendto, fd, text, sizeof text,
		MSG_DONTWAIT | MSG_NOSIGNAL, &sun,
		offsetof(struct sockaddr_un, sun_path) + len);
	(void)sys_close(fd);
}

/*
 * When a sleeper looks again.  Not so late as a start may be put off: another
 * may be up long before.
 */
static uint64_t
again_at(void)
{
	uint64_t now = host_now();
	uint64_t at = str_load(&host_shared(host_domain)->daemon_retry);

	return STR_MIN(STR_MAX(now + AGAIN_NS, at), now + RETRY_NS);
}

int
host_daemon_watch(uint64_t *ret_again)
{
	uint64_t w = str_load_acq(word());
	int fd = -1;

	*ret_again = UINT64_MAX;
	if (host_is_daemon)
		return -1;
	if (KIND(w) == RUNNING)
		fd = fd_of(w);
	if (fd >= 0 || (KIND(w) == RUNNING && alive_really(w))) {
		*ret_again = host_sock_owed_at(LOW(w));
		return fd;
	}
	if (!str_region_wanted())
		return fd;
	if (host_daemon() != 0) {
		*ret_again = again_at();
		return -1;
	}
	STR_CRASH_POINT("daemon:found");
	w = str_load_acq(word());
	fd = KIND(w) == RUNNING ? fd_of(w) : -1;
	if (fd < 0)
		*ret_again = again_at(); /* it has died meanwhile */
	return fd;
}

void
host_daemon_ended(void)
{
	uint64_t w = str_load_acq(&host_priv_page->daemon_word);

	/* if it lives, that descriptor was something else */
	fd_forget(w);
	if (KIND(w) == RUNNING && !alive_really(w))
		(void)str_cas(word(), w, NOBODY);
	if (str_region_wanted())
		(void)host_daemon();
	host_sock_pass_all();
}

/* ------------------------------------------------------------ as streamsd */

/* Be the domain's daemon.  False: there is one. */
bool
host_daemon_claim(void)
{
	uint64_t mine = word_of_me(), w;

	do {
		w = str_load_acq(word());
		if (KIND(w) == RUNNING && w != mine && alive_really(w))
			return false;
	} while (!str_cas(word(), w, mine));
	str_store(&host_shared(host_domain)->daemon_fails, 0u);
	str_store_rel(&host_shared(host_domain)->daemon_retry, 0ull);
	host_is_daemon = true;
	host_priv_page->timer_ours = 1;
	(void)str_or(&host_domain->proc[host_priv_page->proc].flags,
		STR_PROC_DAEMON);
	(void)host_wake(word_low(), INT_MAX);
	return true;
}

/*
 * Be it no more.  @asked: daemon_asked when it was decided.  False: somebody
 * has asked meanwhile, and it stays.
 */
bool
host_daemon_resign(uint64_t asked)
{
	uint64_t mine = word_of_me();

	if (!str_cas(word(), mine, NOBODY))
		return true; /* somebody took us for dead */
	STR_CRASH_POINT("daemon:resigned");
	str_fence_full(); /* pairs with host_daemon() */
	if (!str_region_wanted() &&
	    str_load(&host_shared(host_domain)->daemon_asked) == asked)
		return true;
	return !str_cas(word(), NOBODY, mine);
}
