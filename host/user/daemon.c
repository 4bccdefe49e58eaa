/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The members' side of streamsd: which process it is, when it is started, how
 * its death is noticed. spawn.c starts the program; tools/streamsd is the
 * program.
 *
 * Which.  One word of the domain says: there is none; a thread, given by its
 * tag, is starting it; a process, given by its slot, is streamsd.  If that
 * thread or process has died, there is none. streamsd writes itself there by a
 * compare-and-swap, and exits if it finds a living one: so there is exactly
 * one, even if its starter dies.
 *
 * Leaving. streamsd clears the word first and then checks again whether it is
 * needed; host_daemon() first notes its request, and then reads the word.  So
 * either streamsd stays, or the caller sees that there is none.
 *
 * Death.  A thread that sleeps on a carrier also polls the pidfd of streamsd,
 * and starts another one if it is needed.
 *
 * Names.  A domain with a name has a streamsd as long as it has members: the
 * process that makes the domain, or attaches and finds none, starts it without
 * waiting.  Until it runs another call may start a second one, which finds the
 * first and exits.
 *
 * Failure.  If it cannot be started, callers continue without it; a caller or
 * sleeper tries again after a second, and later at longer intervals.  If a
 * start ends without a report, the process was killed, and another is started
 * at once.  After many such failures in a row we assume that the program is
 * broken.  A start that succeeds resets the intervals.
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
#define OTHERS_NS 2000000000u /* wait for another thread's start */
#define RETRY_NS 1000000000u
#define BEGIN_NS 1000000000u /* between two starts without a wait */
#define DYING_S 1 /* from the mark of its robust futex to its end */
#define DEATHS 16u /* in a row, until the program counts as broken */
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

/* Is the process of @w, of kind RUNNING, alive?  The reliable check. */
static bool
alive_really(uint64_t w)
{
	uint32_t gen = str_load(&host_domain->proc[SLOT(w)].gen);

	return (gen & 0xfffffu) == GEN(w) &&
		host_proc_alive(SLOT(w), gen, LOW(w));
}

/* ------------------------------------------------------------- its pidfd */

/*
 * Is @fd still the descriptor of HOST_FD_DAEMON?  The program may have closed
 * it.
 */
static bool
fd_is(struct host_priv *pv, int fd)
{
	struct stat st;

	return fd >= 0 && host_domain_stat(fd, &st) == 0 &&
		st.st_ino == pv->daemon_ino && st.st_dev == pv->daemon_dev;
}

/* A descriptor that becomes readable when the daemon in @w ends. */
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
	struct pollfd pfd = { -1, POLLIN, 0 };
	struct timespec ts = { 0, 0 };

	if (host_notice_lives(SLOT(w), LOW(w)))
		return true;
	pfd.fd = fd_of(w);
	if (pfd.fd >= 0 && sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL,
			SYS_SIGSET) == 0)
		return true;
	/* it is dead, or the descriptor refers to something else now */
	fd_forget(w);
	return alive_really(w);
}

/*
 * Wait until the process of @w is dead: the kernel marks its robust futexes
 * before its pidfd becomes readable, by which alone the others judge.
 */
static void
await_end(uint64_t w)
{
	struct pollfd pfd = { KIND(w) == RUNNING ? fd_of(w) : -1, POLLIN, 0 };
	struct timespec ts = { DYING_S, 0 };

	if (pfd.fd >= 0)
		(void)sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL, SYS_SIGSET);
}

/* Like alive_really(), but a process that is about to end is not alive. */
static bool
stays(uint64_t w)
{
	if (KIND(w) != RUNNING)
		return false;
	if (host_notice_lives(SLOT(w), LOW(w)))
		return true;
	if (!alive_really(w))
		return false;
	if (!host_notice_ends(SLOT(w)))
		return true;
	await_end(w);
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

/* It could not be started; the text @why is the reason. */
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

/* Report the text @why, once in a process. */
static void
warn(const char *why)
{
	char text[1400];

	if (host_priv_page->daemon_warned)
		return;
	host_priv_page->daemon_warned = 1;
	snprintf(text, sizeof text, "streamsd cannot be started: %.*s; what "
		"killed processes held open stays open", (int)HOST_WHY - 1, why);
	host_log(1, text);
}

/* @w: the word's value.  Return: 0: it runs now; EAGAIN: check again. */
static int
start_once(uint64_t w)
{
	struct host_shared *s = host_shared(host_domain);
	uint64_t mine = STARTING << 62 | host_self_tag();
	const char *why;
	int err;

	if (str_load_acq(&s->daemon_retry) > host_now()) {
		/* the attempt was host_daemon_begin()'s, which says nothing, or
		 * another process's */
		warn(why_text());
		return (int)str_load(&s->daemon_err);
	}
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
		/* it has written itself there: is it still alive? */
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
		return EAGAIN; /* the thread that starts it waits for us */
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
 * host_daemon_begin - start streamsd without waiting, if the domain has a name:
 * it removes the files of the domain if the last member is killed.  At most one
 * attempt per second among all members.  No call fails because of a failure
 * here, so only STREAMS_VERBOSE=1 and strinfo report it.  If there is a file of
 * wires, it waits: otherwise this process could end, and the domain with it,
 * before streamsd has attached and has made the wires.
 * Return: true: streamsd runs.
 */
bool
host_daemon_begin(void)
{
	uint64_t mine = STARTING << 62 | host_self_tag();
	uint64_t now = host_now(), was, w;
	struct host_shared *s;
	const char *why;
	int err;

	if (!host_named() || host_is_daemon || host_daemon_comes)
		return false;
	s = host_shared(host_domain);
	str_store(&s->daemon_asked, now);
	str_fence_full(); /* pairs with host_daemon_resign() */
	w = str_load_acq(word());
	was = str_load(&s->daemon_begun);
	if (stays(w))
		return true;
	if ((KIND(w) == STARTING && !host_owner_dead(LOW(w))) ||
	    (was != 0 && now < was + BEGIN_NS) ||
	    now < str_load_acq(&s->daemon_retry) ||
	    !str_cas(&s->daemon_begun, was, now) || !str_cas(word(), w, mine))
		return false;
	STR_CRASH_POINT("daemon:beginning");
	err = host_daemon_spawn(host_named_wires(), &why);
	if (err != 0 && str_load(word()) == mine) {
		put_off(err, why);
		if (host_daemon_verbose)
			warn(why);
	}
	(void)str_cas(word(), mine, NOBODY);
	(void)host_wake(word_low(), INT_MAX);
	return false;
}

/* ------------------------------------------------------------ as a member */

/* The process that is streamsd, perhaps dead by now; 0: there is none. */
uint32_t
host_daemon_pid(void)
{
	uint64_t w = str_load_acq(word());

	return KIND(w) == RUNNING ? LOW(w) : 0;
}

/* Ring the bell called @number from the socket @fd. */
static void
ring_from(int fd, uint64_t number)
{
	struct iovec iov = { (char[]){ '\0' }, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (number != 0 && fd >= 0)
		(void)host_sockdir_send(fd, number, &m, false);
}

/* The same from a temporary socket. */
static void
ring_apart(uint64_t number)
{
	int fd;

	if (number == 0)
		return;
	fd = (int)sys_call3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	ring_from(fd, number);
	(void)sys_close(fd);
}

/* Note that there is work for streamsd.  Return: its slot, or NULL. */
static struct str_proc *
ask_for(uint32_t ask)
{
	uint64_t w;

	str_fence_full(); /* first the data of the request, then the word */
	w = str_load_acq(word());
	if (host_is_daemon || KIND(w) != RUNNING)
		return NULL;
	(void)str_or(&host_shared(host_domain)->daemon_asks, ask);
	return &host_domain->proc[SLOT(w)];
}

void
host_daemon_tell(uint32_t ask)
{
	struct str_proc *p = ask_for(ask);

	if (p != NULL)
		host_bell_ring_proc(p);
}

/*
 * Not from this process's bell: a process that attaches may never need one,
 * and to make it takes ten times as long.
 */
void
host_daemon_member(int fd)
{
	struct str_proc *p = ask_for(HOST_ASK_MEMBER);

	if (p != NULL && fd >= 0)
		ring_from(fd, str_load_acq(&p->bell));
	else if (p != NULL)
		ring_apart(str_load_acq(&p->bell));
}

/*
 * A child has its parent's descriptors and may never make a call.  The parent
 * and the child both tell streamsd about it, because either may be killed
 * before it does so.  The pid is in the shared memory before the bell rings, so
 * a bell whose queue is full loses nothing.  If streamsd takes none for so long
 * that there is no room, a later sweep finds what that child held.
 */
void
host_daemon_news(uint32_t pid)
{
	struct host_shared *s = host_shared(host_domain);
	uint64_t w = str_load_acq(word());
	unsigned i;

	if (host_is_daemon || KIND(w) == NOBODY)
		return;
	for (i = 0; i < HOST_NCHILD; i++)
		if (str_load(&s->child[i]) == pid ||
			str_cas(&s->child[i], 0u, pid))
			break;
	if (KIND(w) != RUNNING)
		return; /* it takes them when it runs */
	(void)str_or(&s->daemon_asks,
		i < HOST_NCHILD ? HOST_ASK_CHILD : HOST_ASK_LOOK);
	/* a forked child has no slot yet, and no bell to send from */
	ring_apart(str_load_acq(&host_domain->proc[SLOT(w)].bell));
}

void
host_daemon_children(void (*fn)(uint32_t pid))
{
	struct host_shared *s = host_shared(host_domain);

	for (unsigned i = 0; i < HOST_NCHILD; i++) {
		uint32_t pid = str_load(&s->child[i]) == 0 ? 0 :
			str_xchg(&s->child[i], 0u);

		if (pid != 0)
			fn(pid);
	}
}

/*
 * When a sleeper checks again.  Earlier than the next start: another process
 * may have started it long before.
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
		(void)host_daemon_begin();
		return fd;
	}
	if (host_daemon() != 0) {
		host_timer_help();
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

/* host_daemon_dies - the kernel has marked a robust futex of streamsd */
void
host_daemon_dies(void)
{
	await_end(str_load_acq(word()));
	host_daemon_ended();
}

void
host_daemon_ended(void)
{
	uint64_t w = str_load_acq(&host_priv_page->daemon_word);

	/* if it lives, the descriptor referred to something else */
	fd_forget(w);
	if (KIND(w) == RUNNING && !alive_really(w))
		(void)str_cas(word(), w, NOBODY);
	if (str_region_wanted())
		(void)host_daemon();
	else
		(void)host_daemon_begin();
	host_sock_pass_all();
}

/* ------------------------------------------------------------ as streamsd */

/* Become the domain's daemon.  False: there is one already. */
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
	/* its thread for timers starts when it has the sockets */
	str_store(&host_shared(host_domain)->timer_until, host_now());
	(void)str_or(&host_domain->proc[host_priv_page->proc].flags,
		STR_PROC_DAEMON);
	host_notice_offer();
	(void)host_wake(word_low(), INT_MAX);
	return true;
}

/*
 * Stop being the daemon. @asked: daemon_asked at the decision.  False: a member
 * has made a request meanwhile, so it stays.
 */
bool
host_daemon_resign(uint64_t asked)
{
	uint64_t mine = word_of_me();

	if (!str_cas(word(), mine, NOBODY))
		return true; /* a member assumed that we are dead */
	STR_CRASH_POINT("daemon:resigned");
	str_fence_full(); /* pairs with host_daemon() */
	if (!str_region_wanted() &&
	    str_load(&host_shared(host_domain)->daemon_asked) == asked)
		return true;
	return !str_cas(word(), NOBODY, mine);
}
