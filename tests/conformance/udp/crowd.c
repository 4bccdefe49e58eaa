/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Many endpoints in many processes, native: nothing is lost and no process is left
 * behind, whichever is killed.  UD_CROWD: how many endpoints send, and as many
 * receive; UD_EACH: how many datagrams each; UD_KILL_MS: how often streamsd is
 * killed.
 *
 * Fair: when the first of all receivers has the last of its datagrams, and when
 * the first sender has sent its last one, none of the others is further behind
 * than half.  The kernel has its part in that, who shares the CPUs out among
 * processes: so this is asked of a crowd that is at it for a while.
 */
#include <str/inspect.h>
#include <sys/mman.h>
#include <time.h>

#include "ud.h"

enum { PROCS = 4, MOST = 1000, LONG = 400 };

/* What an endpoint may have of the domain: stream, queues, what waits, which is
 * little, so that senders have to. */
#define RCVBUF 16384
#define ENDPOINT 81920u
#define FIXED (32u << 20)
/* ... and what is kept of it: the place of a port, of a socket, in a table */
#define KEPT 1024u

/* What processes tell each other. */
struct board {
	struct ud to[MOST];
	volatile int bound, go, kill, kills;
	volatile int got[MOST], sent[MOST];
	/* when the first was done: the least that another had */
	volatile int first[2], least[2];
};

static struct board *board;
static int total;

static int
number(const char *name, int dflt)
{
	const char *s = getenv(name);

	return s != NULL ? atoi(s) : dflt;
}

static void
await(volatile int *p, int n)
{
	uint64_t end = t_now_ns() + 60000000000u * t_scale();

	while (__atomic_load_n(p, __ATOMIC_ACQUIRE) < n) {
		T_LT(t_now_ns(), end);
		t_pause();
	}
}

/* One is done, of all whose counts are @v. */
static void
done(int which, const volatile int *v, int n)
{
	int i, least = v[0];

	if (__atomic_exchange_n(&board->first[which], 1, __ATOMIC_ACQ_REL))
		return;
	for (i = 1; i < n; i++)
		if (v[i] < least)
			least = v[i];
	board->least[which] = least;
}

/*
 * Bytes of the domain: that were ever needed at the same time (what is free
 * again is used again), or in blocks that are in use now.
 */
static uint64_t
memory(int now)
{
	struct str_i_domain d = {0};

	T_GE(strm_inspect(&d, sizeof(d), now ? STR_I_WANT_MEMORY : 0),
		(long)sizeof(d));
	T_EQ(d.i.kind, STR_I_DOMAIN);
	return now ? d.bytes : d.used;
}

/* Receivers [from, to): each gets its numbers in order. */
static void
receive(int from, int to, int each)
{
	static struct pollfd pfd[MOST];
	int i, left = to - from, v;

	for (i = from; i < to; i++) {
		ud_bound(&board->to[i], ud_home(), UD_ANY);
		ud_set_int(board->to[i].fd, XTI_GENERIC, XTI_RCVBUF, RCVBUF);
		pfd[i - from] = (struct pollfd){board->to[i].fd, POLLIN, 0};
	}
	__atomic_add_fetch(&board->bound, to - from, __ATOMIC_ACQ_REL);
	while (left > 0) {
		T_GT(T_OK(poll(pfd, (nfds_t)(to - from), 30000)), 0);
		for (i = from; i < to; i++) {
			if ((pfd[i - from].revents & POLLIN) == 0)
				continue;
			in_want(board->to[i].fd, T_UNITDATA_IND);
			T_EQ(in.datalen, 100 + i % 50);
			memcpy(&v, in.data, sizeof(v));
			T_EQ(v, board->got[i]);
			if (++board->got[i] == each) {
				left--;
				done(0, board->got, total);
			}
		}
	}
}

static void
send_all(int from, int to, int each)
{
	static struct ud a[MOST];
	unsigned char buf[200] = {0};
	int i, k;

	for (i = from; i < to; i++)
		ud_bound(&a[i], ud_home(), UD_ANY);
	__atomic_add_fetch(&board->bound, to - from, __ATOMIC_ACQ_REL);
	await(&board->go, 1);
	for (k = 0; k < each; k++) {
		/* one half is sent before or while, one after or while */
		if (k == each / 2)
			await(&board->kills, board->kill);
		for (i = from; i < to; i++) {
			memcpy(buf, &k, sizeof(k));
			ud_send(&a[i], &board->to[i], buf, 100 + i % 50);
			board->sent[i]++;
		}
		if (k + 1 == each)
			done(1, board->sent, total);
	}
}

static pid_t
start(void (*fn)(int, int, int), int i, int n, int each)
{
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		fn(n * i / PROCS, n * (i + 1) / PROCS, each);
		_exit(0);
	}
	return pid;
}

/* The streamsd of this case: the harness adopts it; 0: there is none. */
static pid_t
streamsd(int harness)
{
	char path[64], line[256], *end;
	pid_t pid, found = 0;
	FILE *f, *g;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", harness,
		harness);
	f = fopen(path, "r");
	while (f != NULL && fscanf(f, "%d", &pid) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		g = fopen(path, "r");
		if (g == NULL)
			continue;
		end = fgets(line, sizeof(line), g);
		fclose(g);
		end = end != NULL ? strstr(line, "(streamsd") : NULL;
		if (end != NULL && strstr(end, ") Z ") == NULL)
			found = pid;
	}
	if (f != NULL)
		fclose(f);
	return found;
}

static pid_t
start_killer(int ms)
{
	int harness = (int)getppid();
	pid_t pid = T_OK(fork()), d;

	if (pid != 0)
		return pid;
	for (await(&board->go, 1);; (void)poll(NULL, 0, ms)) {
		d = streamsd(harness);
		if (d != 0 && kill(d, SIGKILL) == 0)
			(void)__atomic_add_fetch(&board->kills, 1,
				__ATOMIC_ACQ_REL);
	}
}

/* All of it, with streamsd killed every @ms, 0: never. */
static void
crowd(int n, int each, int ms)
{
	pid_t rx[PROCS], tx[PROCS], killer = 0;
	uint64_t before, peak, after, most, end;
	int i, st, left;

	if (!ud_native())
		T_SKIP("the kernel has the last word");
	T_LE(n, MOST);
	total = n;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_TRUE(board != MAP_FAILED);
	T_OK(close(T_OK(open(ud_dev(), O_RDWR))));
	before = memory(1);
	peak = memory(0);
	most = before + (1u << 20) + 2 * (uint64_t)n * KEPT;
	for (i = 0; i < PROCS; i++)
		rx[i] = start(receive, i, n, each);
	await(&board->bound, n);
	if (ms != 0)
		killer = start_killer(ms);
	board->kill = ms != 0;
	for (i = 0; i < PROCS; i++)
		tx[i] = start(send_all, i, n, each);
	await(&board->bound, 2 * n);
	__atomic_store_n(&board->go, 1, __ATOMIC_RELEASE);
	for (left = 2 * PROCS; left > 0; (void)poll(NULL, 0, 5)) {
		for (i = 0; i < 2 * PROCS; i++) {
			pid_t *p = i < PROCS ? &tx[i] : &rx[i - PROCS];

			if (*p == 0 || T_OK(waitpid(*p, &st, WNOHANG)) == 0)
				continue;
			T_EQ(st, 0);
			*p = 0;
			left--;
		}
	}
	if (killer != 0) {
		T_OK(kill(killer, SIGKILL));
		T_EQ(T_OK(waitpid(killer, &st, 0)), killer);
		T_GT(board->kills, 0);
	}
	for (i = 0; i < n; i++)
		T_EQ(board->got[i], each);
	/* streamsd closes what was open in those that ended */
	end = t_now_ns() + 10000000000u * t_scale();
	for (after = memory(1); after > most && t_now_ns() < end;
		after = memory(1))
		(void)poll(NULL, 0, 5);
	peak = memory(0) - peak;
	printf("# %d senders, %d receivers, %d datagrams each: %lu KiB in "
		"blocks before, %lu more at most, %lu in blocks after; the last "
		"receiver had %d, the last sender %d, when the first was done\n",
		n, n, each,
		(unsigned long)before / 1024, (unsigned long)peak / 1024,
		(unsigned long)after / 1024, board->least[0], board->least[1]);
	T_LE(after, most);
	T_LE(peak, FIXED + 2 * (uint64_t)n * ENDPOINT);
	if (ms == 0 && each >= LONG) {
		T_GE(board->least[0] * 2, each);
		T_GE(board->least[1] * 2, each);
	}
	T_OK(munmap(board, sizeof(*board)));
}

T_CASE_TIMEOUT(a_crowd_loses_nothing, 240)
{
	crowd(number("UD_CROWD", 60), number("UD_EACH", 60), 0);
}

T_CASE_TIMEOUT(a_crowd_loses_nothing_while_streamsd_is_killed, 240)
{
	crowd(number("UD_CROWD", 60), number("UD_EACH", 60),
		number("UD_KILL_MS", 100));
}
