/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * streamsd - the interrupt context of a domain.
 *
 * It does the work that no other process does.  When a member has ended, it
 * frees the resources of the member's threads; it closes the streams that no
 * process holds any more, when they have sent their data or their close time is
 * over; and a thread of it runs the callbacks of timeouts (host/user/timer.c).
 * It is a member itself, with a slot and a bell, and keeps no state: if it is
 * killed, the next one finds the same work.
 *
 * When.  If a member ends, its pidfd becomes readable.  If a member attaches,
 * forks, or is about to exec, it rings the bell.  It may also ask for a check
 * (host_daemon_look).  A member that changes files or references so that
 * perhaps no thread can close a stream asks for a sweep (host_daemon_soon),
 * which follows within seconds.  It gets no event about holders of streams that
 * are not members: as long as there are streams to watch, or threads that rely
 * on notices of deaths, it checks them at growing intervals.
 *
 * Requests.  A ring only wakes; the word daemon_asks says what is to be done.
 * A member sets its request before it rings, so streamsd may find and take the
 * request before the ring arrives.  The ring then finds none, or another one.
 *
 * Life.  In a domain with a name it runs from the beginning, as long as there
 * is a member or a holder of a stream; then it removes the domain.  In a domain
 * without a name, the first call that needs it starts it; it ends when it has
 * not been needed for STREAMS_LINGER ms, and at once when it is the last
 * member.  Streams that only a link or a name keeps end when the domain's file
 * is gone, because then no process can return.
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
#define LINGER_MIN (250 * MS) /* the same process may make further requests */
#define DRAIN (10 * MS)
#define LOOK (100 * MS) /* interval of checks for holders outside */
#define PAIRS_SOON (200 * MS) /* a process seldom dies alone */
#define PAIRS_EVERY (2000 * MS) /* between checks of all pipes */
#define SLICE MS /* slice of a sweep, then other work */
#define UNSURE (20 * MS)
#define UNSURE_TIMES 50u

/* Checks without a cause cost less than half a thousandth of a CPU. */
#define SPARING 2000u
#define SPARING_MAX (60000 * MS)

/* Sweeps with a cause cost less than a fiftieth, and follow in SWEEP_MAX. */
#define SOON_SPARING 50u

#define NOTICE_MIN (250 * MS) /* between two notices without a cause */
#define NOTICE_MAX (4000 * MS)

/* requests after which only the new processes are examined */
#define NEWS (HOST_ASK_MEMBER | HOST_ASK_NOTICE | HOST_ASK_CHILD | \
	HOST_ASK_SOON)

#define TICK MS	/* between two checks of sockets with data to send */
#define TICKS 16u /* checks without a result, before they end */

static struct pollfd pfd[2 + WATCH_MAX];
static uint64_t linger = LINGER_MS * MS;
static uint64_t sweep_every = SWEEP_MIN;
static uint64_t sweep_at;
static uint64_t soonest; /* no sweep that is only due before that */
static unsigned found;	 /* streams and files, by all sweeps */
static uint64_t pairs_at; /* not before that */
static bool pairs_due;	  /* processes have ended since the last time */
static uint64_t notice_every = NOTICE_MIN;
static uint64_t notice_at = UINT64_MAX; /* the next one without a cause */

static void
usage(void)
{
	fprintf(stderr, "usage: streamsd [-n descriptor] [-r directory]\n");
	exit(2);
}

/* Report to the process that started us. */
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

/* Raise the limit of descriptors to the maximum: one per member. */
static void
raise_limit(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) != 0)
		return;
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &rl);
}

/* How long it is until @at; UINT64_MAX: for ever, as @at. */
static uint64_t
until(uint64_t at)
{
	uint64_t now = host_now();

	if (at == UINT64_MAX)
		return at;
	return at > now ? at - now : 0;
}

static uint64_t served; /* CPU time spent with sockets */
static uint64_t swept;	/* worked() after the last sweep, or at the beginning */

/* CPU time of this thread for everything else, in ns. */
static uint64_t
worked(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec -
		served;
}

/* How long after work that took @cost, and found nothing, it is not repeated. */
static uint64_t
spare(uint64_t cost)
{
	return STR_MIN(SPARING * cost, SPARING_MAX);
}

/* ------------------------------------------------------------- at work */

static struct str_sweep sweep;

/*
 * First the work for which others wait: make the streams of killed processes
 * usable, and close the files that they held. @all: check all members, not only
 * those that are known to have ended.
 */
static void
serve(bool all)
{
	struct host_call hc = { .fd = -1 };

	STR_CRASH_POINT("streamsd:serve");
	if (host_enter(&hc) != 0)
		return;
	watch_reap();
	if (all)
		host_reap_scan();
	STR_CRASH_POINT("streamsd:reaped");
	host_leave();
	str_sweep_ask(&sweep, false);
	memory_ask();
}

/*
 * A change may have left a stream that only a sweep closes.  A sweep that is
 * under way may have passed the stream: sweep_next() finds the request.
 */
static void
sweep_soon(void)
{
	if (sweep.stage != 0)
		return;
	sweep_every = SWEEP_MIN;
	sweep_at = STR_MAX(soonest,
		STR_MIN(sweep_at, host_now() + SWEEP_MIN));
}

/*
 * A sweep has ended, which took @cost.  If it closed something, this may have
 * been the last holder of something else; if it could not examine everything, it
 * is repeated at the usual intervals.
 */
static void
sweep_next(uint64_t cost)
{
	unsigned now = sweep.n + sweep.files;
	bool changed = now != found;

	found = now;
	soonest = host_now() + STR_MIN(SOON_SPARING * cost, SWEEP_MAX);
	if (changed || str_load(&shared()->daemon_soon) != 0)
		sweep_soon();
	else if (sweep_at != UINT64_MAX)
		sweep_at = STR_MAX(sweep_at, sweep.unsure ? soonest :
			host_now() + spare(cost));
}

/*
 * Sweep the pipes whose ends killed processes both held: no other process
 * notices them.  Only if there are many pipes, so that a later caller finds
 * memory.
 */
static void
pairs_look(bool died, uint64_t *ns)
{
	if (died && !pairs_due && str_region_many()) {
		pairs_due = true;
		pairs_at = STR_MAX(pairs_at, host_now() + PAIRS_SOON);
	}
	if (!pairs_due)
		return;
	if (until(pairs_at) == 0) {
		str_sweep_ask(&sweep, true);
		pairs_due = false;
		pairs_at = host_now() + PAIRS_EVERY;
	}
	*ns = STR_MIN(*ns, until(pairs_at));
}

/* Give a notice.  Return: threads that rely on it. */
static unsigned
notice(void)
{
	struct host_call hc = { .fd = -1 };
	unsigned n;

	if (host_enter(&hc) != 0)
		return 1;
	n = str_notice_give();
	host_leave();
	if (n != 0 && host_carrier_unsure)
		host_notice_withdraw();
	return n;
}

/*
 * Notices to threads that sleep without their carriers. @now: a process has
 * died, or may have closed descriptors.  Without a cause they are given at
 * growing intervals, because no event tells of holders that are not members.
 */
static void
notices(bool now, uint64_t *ns)
{
	str_a32 *wanted = &shared()->notices;
	uint64_t start = worked();

	if (now || until(notice_at) == 0) {
		notice_every = now ? NOTICE_MIN :
			STR_MIN(2 * notice_every, NOTICE_MAX);
		if (notice() == 0) {
			str_store(wanted, 0u);
			str_fence_full(); /* pairs with the sleeper's fence */
			if (notice() != 0)
				str_store(wanted, 1u);
		}
		notice_at = str_load(wanted) == 0 ? UINT64_MAX :
			host_now() + STR_MAX(notice_every,
				spare(worked() - start));
	}
	*ns = STR_MIN(*ns, until(notice_at));
}

/* A slice of the sweep.  Return: true: there is more. */
static bool
sweeps(void)
{
	struct host_call hc = { .fd = -1 };
	uint64_t now;
	bool more;

	if (memory_done())
		str_sweep_ask(&sweep, false);
	if ((sweep.stage == 0 && !sweep.asked) || host_enter(&hc) != 0)
		return false;
	if (sweep.stage == 0) {
		/* not by a walk that interrupts the collector */
		str_store(&shared()->daemon_soon, 0u);
		str_fence_full(); /* pairs with the one in host_daemon_soon() */
	}
	more = str_sweep_some(&sweep, SLICE);
	host_leave();
	if (!more) {
		STR_CRASH_POINT("streamsd:closed");
		host_sockdir_tidy();
		names_look();
		memory_go();
	}
	if (!more) {
		now = worked();
		sweep_next(now - swept);
		swept = now;
	}
	return more;
}

/* Close the empty ones of the streams that still had data.  Are there more? */
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
doze(uint64_t ns, bool *ret_died)
{
	struct timespec ts = { (time_t)(ns / 1000000000u),
		(long)(ns % 1000000000u) };
	unsigned n;
	long r;

	*ret_died = false;
	host_wait_prepare();
	pfd[0] = (struct pollfd){ host_bell_open(), POLLIN, 0 };
	pfd[1] = (struct pollfd){ host_sock_news_fd(), POLLIN, 0 };
	n = watch_fill(pfd, 2);
	if (!host_bell_enter())
		return;
	host_park();
	r = sys_call5(SYS_ppoll, pfd, n, ns == UINT64_MAX ? NULL : &ts, NULL,
		SYS_SIGSET);
	host_unpark();
	host_bell_leave(r > 0 && pfd[0].revents != 0);
	if (r > 0)
		*ret_died = watch_ended(pfd + 2, n - 2);
}

/*
 * Is it time to end? @since: when a member last needed us.  Return: false, and
 * the time until the next check.
 */
static bool
leave(uint64_t since, uint64_t *ret_ns)
{
	uint64_t asked = str_load(&shared()->daemon_asked);
	uint64_t now = host_now();

	if (host_named()) {
		/* it stays for members; other holders are searched */
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
 * Are we the last user of the domain?  Called after a sweep: the files of dead
 * processes are closed, and their data has been sent.
 */
static bool
forsaken(void)
{
	/* if the kernel does not report holders, do not wait for them */
	return !watch_anybody() && (host_named_forsaken() ||
		(host_named() && host_carrier_unsure));
}

/* Serve sockets.  Return: true: again in a millisecond. */
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
 * Sleep as doze(), and serve sockets.  Return: requests, but not of sockets.
 * While it checks every millisecond no member has to ring; before it stops that
 * it clears the flag, and checks once more.
 */
static uint32_t
rest(uint64_t ns, bool *ret_died)
{
	uint64_t end = ns == UINT64_MAX ? ns : host_now() + ns;
	uint64_t start = worked();
	uint32_t asks;
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
		doze(ticks != 0 ? STR_MIN(ns, TICK) : ns, ret_died);
		asks = str_xchg(&shared()->daemon_asks, 0u) & ~HOST_ASK_SOCK;
	} while (!*ret_died && asks == 0 &&
		(end == UINT64_MAX || host_now() < end));
	served += worked() - start;
	return asks;
}

/*
 * Serve the streams that still have data to send, or must be watched.
 * @wanted_at: when there was one last; @ns: 0 if there is more to do, else
 * shortened to the time until then.  Return: false: it is time to end.
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
	if (str_load(&shared()->daemon_soon) != 0)
		/* no later request rings before a sweep has begun */
		*ns = STR_MIN(*ns, until(sweep_at));
	else
		sweep_at = UINT64_MAX;
	return true;
}

static void
work(void)
{
	uint64_t stay_at = 0, wanted_at = host_now(), seen_at = wanted_at, ns;
	bool died = true, more = false, all;
	uint32_t asks = 0, unsure = 0;

	swept = worked();
	for (;;) {
		if (watch_refresh() || more)
			died = true;
		more = false;
		/* the time of the next sweep is only known after this one */
		all = (asks & ~NEWS) != 0 ||
			(sweep.stage == 0 && host_now() >= sweep_at);
		if (asks & HOST_ASK_NOTICE)
			notice_at = STR_MIN(notice_at, host_now() + NOTICE_MIN);
		if (asks & HOST_ASK_SOON)
			sweep_soon();
		if (died || all) {
			sweep_every = died || asks != 0 ? SWEEP_MIN :
				STR_MIN(2 * sweep_every, SWEEP_MAX);
			serve(all);
			/* many deaths do not delay it */
			ns = host_now() + sweep_every;
			sweep_at = all ? ns : STR_MIN(sweep_at, ns);
			/*
			 * continue to watch the processes whose slots were
			 * reaped
			 */
			more = watch_refresh();
		}
		if (watch_anybody())
			seen_at = host_now();
		else if (host_now() >= seen_at + linger)
			names_forget();
		host_timer_serve();
		wires_look();
		ns = UINT64_MAX;
		notices(died || all, &ns);
		pairs_look(died, &ns);
		if (sweeps())
			ns = 0;
		/* it checks all streams: so not after every slice */
		if ((ns != 0 || host_now() >= stay_at) && !stay(&ns, &wanted_at))
			return;
		if (ns != 0)
			stay_at = 0;
		else if (host_now() >= stay_at)
			stay_at = host_now() + DRAIN;
		if (asks & HOST_ASK_EXEC)
			unsure = UNSURE_TIMES;
		if (unsure != 0 && sweep.stage == 0 && watch_unsure()) {
			unsure--;
			ns = STR_MIN(ns, UNSURE);
			sweep_at = STR_MIN(sweep_at, host_now() + UNSURE);
		}
		asks = rest(more ? 0 : ns, &died);
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
	/* a kernel before 6.14 uses the number of the descriptor as its name */
	(void)prctl(PR_SET_NAME, "streamsd");
	raise_limit();
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
	return 0; /* the host frees our slots, and removes the domain's name */
}
