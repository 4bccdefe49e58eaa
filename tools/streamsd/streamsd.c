/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * streamsd - the interrupt context of a domain.
 *
 * It does what no other process would: when a member has ended, it gives back what
 * the member's threads held, closes the streams that no process holds any more,
 * when they have sent what they have or their close time is over, and runs
 * the callbacks that the dead had asked for.  It is a member itself, with a
 * slot and a bell, and holds no state: whatever it was about to do when it is
 * killed, the next one finds to be done.
 *
 * When.  A member ends: its pidfd says so.  A member attaches, forks, or is
 * about to exec: the bell rings.  Anybody else who rings wants it to look.
 * Who holds a stream and is no member it does not know: as long as there
 * are streams to be watched it looks by itself, less and less often.
 *
 * Life.  In a domain with a name it is there from the beginning, and stays as
 * long as a member or a holder of a stream; then it removes the domain.  In one
 * without, it is started by the first call that needs it, and goes when nothing
 * has needed it for STREAMS_LINGER ms, and at once when it is the last member.
 * Streams that no process holds, kept by a link or a name, are not for ever:
 * when the domain's file is gone, no process can come back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "sock.h"
#include "streamsd.h"

#define MS 1000000ull
#define LINGER_MS 2000u
#define SWEEP_MIN (250 * MS)
#define SWEEP_MAX (4000 * MS)
#define LINGER_MIN (250 * MS) /* who has asked may not be done with asking */
#define DRAIN (10 * MS)
#define LOOK (100 * MS) /* for holders of streams that are no members */
#define SLICE MS /* of a sweep over all streams, then others' turn */
#define UNSURE (20 * MS)
#define UNSURE_TIMES 50u

#define TICK MS	/* between two looks at sockets with something to send */
#define TICKS 16u /* looks with nothing seen, before they end */

static struct pollfd pfd[2 + WATCH_MAX];
static uint64_t linger = LINGER_MS * MS;
static uint64_t sweep_every = SWEEP_MIN;
static uint64_t sweep_at;

static void
usage(void)
{
	fprintf(stderr, "usage: streamsd [-n descriptor] [-r directory]\n");
	exit(2);
}

/* Tell who started us. */
static void
notify(int fd, int err)
{
	char c = (char)err;

	if (fd < 0)
		return;
	(void)sys_write(fd, &c, 1);
	(void)sys_close(fd);
}

static struct host_shared *
shared(void)
{
	return host_shared(host_domain);
}

/* As many descriptors as we may have: one per member. */
static void
raise_limit(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) != 0)
		return;
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &rl);
}

/* ------------------------------------------------------------- at work */

static struct str_sweep sweep;

/* First what others wait for: have the streams of killed processes go on, and
 * close what these held. */
static void
serve(void)
{
	struct host_call hc = { .fd = -1 };

	STR_CRASH_POINT("streamsd:serve");
	if (host_enter(&hc) != 0)
		return;
	host_reap_scan();
	STR_CRASH_POINT("streamsd:reaped");
	host_leave();
	str_sweep_ask(&sweep);
	host_sockdir_tidy();
	names_look();
	memory_ask();
}

/* A slice of that.  Return: true when there is more. */
static bool
sweeps(void)
{
	struct host_call hc = { .fd = -1 };
	bool more;

	/* what was in the hands of the killed may have kept streams open */
	if (memory_done())
		str_sweep_ask(&sweep);
	if ((sweep.stage == 0 && !sweep.asked) || host_enter(&hc) != 0)
		return false;
	more = str_sweep_some(&sweep, SLICE);
	host_leave();
	if (!more) {
		STR_CRASH_POINT("streamsd:closed");
		memory_go();
	}
	return more;
}

/* Callbacks that are due.  Return: when the next one is, or UINT64_MAX. */
static uint64_t
timers(void)
{
	struct host_call hc = { .fd = -1 };
	uint64_t next, at;

	if (host_enter(&hc) != 0)
		return UINT64_MAX;
	str_store(&host_priv_page->timer_at, 0ull);
	next = str_timer_run(host_now());
	host_leave();
	/* what was asked for by what ran just now */
	at = str_load(&host_priv_page->timer_at);
	return at != 0 ? STR_MIN(next, at - 1) : next;
}

/* Streams that are closed when they are empty.  Are there more of them? */
static bool
drains(void)
{
	struct host_call hc = { .fd = -1 };
	bool more;

	if (host_enter(&hc) != 0)
		return false;
	more = str_region_drain();
	host_leave();
	return more;
}

/* Sleep until a member ends, the bell rings, or @ns have passed. */
static void
doze(uint64_t ns, bool *ret_died, bool *ret_rung)
{
	struct timespec ts = { (time_t)(ns / 1000000000u),
		(long)(ns % 1000000000u) };
	unsigned n;
	long r;

	*ret_died = *ret_rung = false;
	pfd[0] = (struct pollfd){ host_bell_open(), POLLIN, 0 };
	pfd[1] = (struct pollfd){ host_sock_news_fd(), POLLIN, 0 };
	n = watch_fill(pfd, 2);
	if (!host_bell_enter()) {
		*ret_rung = true;
		return;
	}
	r = sys_call5(SYS_ppoll, pfd, n, ns == UINT64_MAX ? NULL : &ts, NULL,
		SYS_SIGSET);
	*ret_rung = r > 0 && pfd[0].revents != 0;
	host_bell_leave(*ret_rung);
	if (r > 0)
		*ret_died = watch_ended(pfd + 2, n - 2);
}

/*
 * Is it time to go?  @since: when a member was last known to need us.
 * Return: false, and how long there is no need to ask again.
 */
static bool
leave(uint64_t since, uint64_t *ret_ns)
{
	uint64_t asked = str_load(&shared()->daemon_asked);
	uint64_t now = host_now();

	if (host_named()) {
		/* it stays for members; others are looked for */
		*ret_ns = watch_members() && !watch_unseen() ? UINT64_MAX : LOOK;
		if (watch_members() ||
			(!host_named_alone() && !host_carrier_unsure))
			return false;
	} else if (watch_members()) {
		since = STR_MAX(since, asked);
		if (now < since + linger) {
			*ret_ns = since + linger - now;
			return false;
		}
	}
	STR_CRASH_POINT("streamsd:leave");
	*ret_ns = 0;
	return host_daemon_resign(asked);
}

/*
 * Has the domain ended, but for us?  Asked after a look: what the dead had
 * open is closed, and has been sent.
 */
static bool
forsaken(void)
{
	/* where the kernel does not tell of holders it does not wait for them */
	return !watch_anybody() && (host_named_forsaken() ||
		(host_named() && host_carrier_unsure));
}

static uint64_t
until(uint64_t at)
{
	uint64_t now = host_now();

	return at > now ? at - now : 0;
}

/* Sockets.  Return: true when they want to be looked at in a millisecond. */
static bool
sockets(void)
{
	struct host_call hc = { .fd = -1 };
	bool more;

	if (!str_sock_any() || host_enter(&hc) != 0)
		return false;
	(void)str_sock_gather();
	more = str_sock_serve();
	host_leave();
	return more;
}

/*
 * Sleep as doze(), seeing to sockets.  Return: what the bell has rung for.
 * While it looks every millisecond anyhow no member has to ask; before it stops
 * it says so, and looks once more.
 */
static uint32_t
rest(uint64_t ns, bool *ret_died, bool *ret_rung)
{
	uint64_t end = ns == UINT64_MAX ? ns : host_now() + ns;
	uint32_t asks = 0;
	static unsigned ticks;

	do {
		if (sockets()) {
			ticks = TICKS;
			host_sock_awake(true);
		} else if ((ticks == 0 && str_load(&shared()->sock_awake)) ||
			(ticks != 0 && --ticks == 0)) {
			host_sock_awake(false);
			host_fence_heavy(); /* pairs with ksock_want() */
			if (sockets()) {
				ticks = TICKS;
				host_sock_awake(true);
			}
		}
		ns = end == UINT64_MAX ? end : until(end);
		doze(ticks != 0 ? STR_MIN(ns, TICK) : ns, ret_died, ret_rung);
		asks |= str_xchg(&shared()->daemon_asks, 0u);
		if (*ret_died || (*ret_rung && asks != HOST_ASK_SOCK))
			break;
		*ret_rung = false;
		asks = 0;
	} while (end == UINT64_MAX || host_now() < end);
	return asks & ~HOST_ASK_SOCK;
}

/*
 * Streams that have something to send yet, or are to be watched.  @wanted_at: when
 * there was one last; @ns: 0 when there is more to do, else shortened to the time
 * until there is.  Return: false when it is time to go.
 */
static bool
stay(uint64_t *ns, uint64_t *wanted_at)
{
	bool busy = *ns == 0 || memory_busy();
	uint64_t most = LOOK;

	if (drains()) {
		*wanted_at = host_now();
		*ns = STR_MIN(*ns, DRAIN);
		return true;
	}
	if (str_region_wanted()) {
		if (!busy && forsaken())
			return false;
		*wanted_at = host_now();
		*ns = STR_MIN(*ns, until(sweep_at));
		return true;
	}
	if (!busy && leave(*wanted_at, &most))
		return false;
	*ns = STR_MIN(*ns, most);
	sweep_at = UINT64_MAX;
	return true;
}

static void
work(void)
{
	uint64_t stay_at = 0, wanted_at = host_now(), seen_at = wanted_at, ns, next;
	bool died = true, rung = false;
	uint32_t asks = 0, unsure = 0;

	for (;;) {
		if (watch_refresh())
			died = true;
		if (died || (rung && (asks & ~HOST_ASK_MEMBER) != 0) ||
		    (rung && asks == 0) || host_now() >= sweep_at) {
			sweep_every = died || rung ? SWEEP_MIN :
				STR_MIN(2 * sweep_every, SWEEP_MAX);
			serve();
			sweep_at = host_now() + sweep_every;
			/* reaped slots: whose they were is watched on */
			(void)watch_refresh();
		}
		if (watch_anybody())
			seen_at = host_now();
		else if (host_now() >= seen_at + linger)
			names_forget();
		next = timers();
		ns = next == UINT64_MAX ? next : until(next);
		if (sweeps())
			ns = 0;
		/* all streams are looked at for it: not between all slices */
		if ((ns != 0 || host_now() >= stay_at) && !stay(&ns, &wanted_at))
			return;
		if (ns != 0)
			stay_at = 0;
		else if (host_now() >= stay_at)
			stay_at = host_now() + DRAIN;
		if (asks & HOST_ASK_EXEC)
			unsure = UNSURE_TIMES;
		if (unsure != 0 && watch_unsure()) {
			unsure--;
			ns = STR_MIN(ns, UNSURE);
			sweep_at = STR_MIN(sweep_at, host_now() + UNSURE);
		}
		asks = rest(ns, &died, &rung);
		if (sweep_at == UINT64_MAX && str_region_wanted())
			sweep_at = host_now() + (sweep_every = SWEEP_MIN);
	}
}

int
main(int argc, char **argv)
{
	struct host_call hc = { .fd = -1 };
	const char *env = getenv("STREAMS_LINGER"), *dir = NULL;
	int c, ready = -1, err;

	while ((c = getopt(argc, argv, "n:r:")) != -1) {
		if (c == 'n')
			ready = atoi(optarg);
		else if (c == 'r')
			dir = optarg;
		else
			usage();
	}
	if (optind != argc)
		usage();
	if (env != NULL)
		linger = STR_MAX(strtoull(env, NULL, 10) * MS, LINGER_MIN);
	(void)signal(SIGPIPE, SIG_IGN);
	/* a kernel before 6.14 names it by the descriptor it was run by */
	(void)prctl(PR_SET_NAME, "streamsd");
	raise_limit();
	host_bell_news = watch_pid;
	host_daemon_comes = true;
	err = host_enter(&hc);
	if (err != 0) {
		notify(ready, err);
		if (ready < 0)
			fprintf(stderr, "streamsd: %s\n",
				host_attach_error());
		if (err == ENOENT && dir != NULL) {
			/* of a domain that has ended */
			host_sockdir_sweep(dir);
			host_name_rmdir(dir);
		}
		return 1;
	}
	host_leave();
	if (dir != NULL)
		host_named_dir_set(dir);
	host_wait_prepare();
	(void)host_sock_keeper_open();
	STR_CRASH_POINT("streamsd:attached");
	if (!host_daemon_claim()) {
		notify(ready, 0);
		return 0;
	}
	host_sock_awake(false);
	host_sock_keeper_start();
	STR_CRASH_POINT("streamsd:claimed");
	notify(ready, 0);
	STR_CRASH_POINT("streamsd:ready");
	work();
	return 0; /* the host gives our slots back, and the domain's name */
}
