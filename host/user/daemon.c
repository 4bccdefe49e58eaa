/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * streamsd, as members see it: who it is, when it is started, how its death is
 * noticed.  spawn.c starts the program; tools/streamsd is the program.
 *
 * Which.  One word of the domain says: none; a thread, named by its tag, is
 * starting it; a process, named by its slot, is it.  The one named may have
 * died meanwhile and then counts as none.  streamsd puts itself there,
 * by a compare-and-swap, and exits when it finds a living one: so there is
 * one, whatever became of its starter.
 *
 * Leaving.  streamsd takes its name out first and looks once more whether it
 * is wanted; host_daemon() says first that it has asked, and then looks for
 * the name.  So either it stays, or the asker sees that there is none.
 *
 * Death.  Who sleeps at a carrier polls its pidfd besides and starts another
 * when there is something to be watched.
 *
 * Names.  A domain with a name has one as long as it has members: the process
 * that makes the domain, or attaches and finds none, starts it and does not wait
 * for it.  Until it is there another call may start a second one, which finds
 * the first and ends.
 *
 * Failure.  When it cannot be started callers go on without; it is tried
 * again after a second, and ever more rarely, by a caller or sleeper.
 * One that ends without a word was killed on its way, which says nothing of
 * the next: that is started at once, until so many have come to nothing that
 * it must be the program.  The process that gets as far as to be it ends the waiting.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "sock.h"
#include "user_impl.h"

#define TRIES 3
#define OTHERS_NS 2000000000u /* to wait for another one's start */
#define RETRY_NS 1000000000u
#define BEGIN_NS 1000000000u /* between two that are not waited for */
#define DEATHS 16u /* in a row, until it counts as a program that fails */
#define AGAIN_NS 100000000u /* a sleeper's least time between two attempts */

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

/* A thread that waits for the word to change sleeps on its lower half. */
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

static char *
why_text(void)
{
	return (char *)host_domain + HOST_WHY_OFF;
}

/* host_daemon_why - why the domain has no streamsd, for humans; or "" */
const char *
host_daemon_why(void)
{
	static char copy[HOST_WHY];

	copy[0] = '\0';
	if (host_domain != NULL)
		(void)snprintf(copy, sizeof copy, "%.*s", (int)HOST_WHY - 1,
			why_text());
	return copy;
}

/* It could not be started, because of @why, in words. */
static void
put_off(int err, const char *why)
{
	struct host_shared *s = host_shared(host_domain);
	uint32_t n = str_add(&s->daemon_fails, 1u);

	(void)snprintf(why_text(), HOST_WHY, "%s", why);
	str_store(&s->daemon_err, (uint32_t)err);
	str_store_rel(&s->daemon_retry,
		host_now() + ((uint64_t)RETRY_NS << STR_MIN(n, 6u)));
}

/* Say so: @why, in words. */
static void
warn(const char *why)
{
	char text[1400];

	if (host_priv_page->daemon_warned)
		return;
	host_priv_page->daemon_warned = 1;
	snprintf(text, sizeof text, "streamsd cannot be started: %s; what "
		"killed processes held open stays open", why);
	host_log(1, text);
}

/* @w: what the word said.  Return: 0 when it runs now, EAGAIN: look again. */
static int
start_once(uint64_t w)
{
	struct host_shared *s = host_shared(host_domain);
	uint64_t mine = STARTING << 62 | host_self_tag();
	const char *why;
	int err;

	if (str_load_acq(&s->daemon_retry) > host_now())
		return (int)str_load(&s->daemon_err);
	if (!str_cas(word(), w, mine))
		return EAGAIN;
	STR_CRASH_POINT("daemon:starting");
	err = host_daemon_spawn(true, &why);
	while (err == ESRCH && str_add(&s->daemon_deaths, 1u) + 1 < DEATHS)
		err = host_daemon_spawn(true, &why); /* killed on its way */
	if (err == 0)
		str_store(&s->daemon_deaths, 0u);
	STR_CRASH_POINT("daemon:started");
	if (err != 0 && str_load(word()) == mine) {
		put_off(err, why);
		warn(why);
	} else {
		str_store(&s->daemon_fails, 0u);
	}
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

/*
 * host_daemon_begin - have one begin, without waiting for it, if the domain has
 * a name: it removes what the last member leaves, should that be killed.  One
 * attempt in a second, by any member.  A failure costs no call, so it is told
 * with STREAMS_VERBOSE=1 and by strinfo only.
 */
void
host_daemon_begin(void)
{
	uint64_t mine = STARTING << 62 | host_self_tag();
	uint64_t now = host_now(), was, w;
	struct host_shared *s;
	const char *why;
	int err;

	if (!host_named() || host_is_daemon || host_daemon_comes)
		return;
	s = host_shared(host_domain);
	str_store(&s->daemon_asked, now);
	str_fence_full(); /* pairs with host_daemon_resign() */
	w = str_load_acq(word());
	was = str_load(&s->daemon_begun);
	if ((KIND(w) == RUNNING && alive_really(w)) ||
	    (KIND(w) == STARTING && !host_owner_dead(LOW(w))) ||
	    (was != 0 && now < was + BEGIN_NS) ||
	    now < str_load_acq(&s->daemon_retry) ||
	    !str_cas(&s->daemon_begun, was, now) || !str_cas(word(), w, mine))
		return;
	STR_CRASH_POINT("daemon:beginning");
	err = host_daemon_spawn(false, &why);
	if (err != 0 && str_load(word()) == mine) {
		put_off(err, why);
		if (host_daemon_verbose)
			warn(why);
	}
	(void)str_cas(word(), mine, NOBODY);
	(void)host_wake(word_low(), INT_MAX);
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
 * the watcher.  It has no slot yet, and no bell to send from.
 */
void
host_daemon_fork(void)
{
	uint64_t w = str_load_acq(word());
	uint64_t number = str_load_acq(&host_domain->proc[SLOT(w)].bell);
	uint32_t pid = (uint32_t)sys_getpid();
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} u;
	struct iovec iov = { &pid, sizeof pid };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u };
	int fd;

	if (KIND(w) != RUNNING || number == 0)
		return;
	fd = (int)sys_call3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	m.msg_controllen = host_creds_put(&u);
	(void)host_sockdir_send(fd, number, &m, false);
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
	if (!str_region_wanted()) {
		host_daemon_begin();
		return fd;
	}
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
	else
		host_daemon_begin();
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
	why_text()[0] = '\0';
	host_is_daemon = true;
	host_priv_page->timer_ours = 1;
	(void)str_or(&host_domain->proc[host_priv_page->proc].flags,
		STR_PROC_DAEMON);
	(void)host_wake(word_low(), INT_MAX);
	return true;
}

/*
 * Be it no more.  @asked: daemon_asked when it was decided.  False: a member
 * has asked meanwhile, and it stays.
 */
bool
host_daemon_resign(uint64_t asked)
{
	uint64_t mine = word_of_me();

	if (!str_cas(word(), mine, NOBODY))
		return true; /* a member took us for dead */
	STR_CRASH_POINT("daemon:resigned");
	str_fence_full(); /* pairs with host_daemon() */
	if (!str_region_wanted() &&
	    str_load(&host_shared(host_domain)->daemon_asked) == asked)
		return true;
	return !str_cas(word(), NOBODY, mine);
}
