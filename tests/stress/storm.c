/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A storm: records travel through streams of all kinds, whose ends live, while
 * other processes that hold these streams are killed and stopped, fork, exec,
 * push and pop; descriptors are passed; ends of other streams are killed;
 * streamsd is killed.
 *
 * What must hold.  No record of a stream whose ends live is lost, doubled or
 * changed: a datagram that did not come has been counted by its sender's
 * endpoint.  No descriptor is lost.  The other end of a stream sees the death
 * of the last holder of one within the bound.  In the end nothing is left, in
 * the domain, of it, of its processes, of its files.
 *
 *	STORM_MS	how long (5000)
 *	STORM_BOUND	of an end of file, ms more than the kernel's (2000)
 *	STORM_MIX	the sum of what takes part, as storm.h counts (all)
 *	STORM_KINDS	one bit for each kind of stream (all)
 *	STORM_EACH	streams of each kind (2)
 *	STORM_CROWD	bystanders (4)
 *	STORM_ON_HANG, STORM_ON_LATE, STORM_ON_LEFT	commands that are given
 *			a process's number: it hangs, it has not seen an end
 *			after four times the bound, something is left
 *
 * T_SEED repeats the decisions of each process, not their interleaving.
 */
#include "storm.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "left.h"
#include "t.h"

enum role { SENDER, RECEIVER, PASSER, TAKER, PLUMBER, BYSTANDER, MANAGER };
static const char *const role_name[] = {"sender", "receiver", "passer",
	"taker", "plumber", "bystander", "manager"};

#define NPLUMBER 2
#define MAXPROC (2 * STORM_STREAMS + STORM_PASS + 32)
#define STILL_NS 20000000000u

static struct proc {
	enum role role;
	unsigned nr;
	pid_t pid; /* 0: it has ended */
} proc[MAXPROC];
static unsigned nproc;

struct storm_board *storm;
struct storm_stream *storm_stream;
unsigned storm_n;
uint64_t storm_bound;
static unsigned mix, kinds;
static int passing[2] = {-1, -1};
static unsigned kills, daemon_kills, stops;

static void
run(const struct proc *p)
{
	switch (p->role) {
	case SENDER:
		storm_sender(p->nr);
		break;
	case RECEIVER:
		storm_receiver(p->nr);
		break;
	case PASSER:
		storm_passer(p->nr, passing[0], mix);
		break;
	case TAKER:
		storm_taker(passing[1]);
		break;
	case PLUMBER:
		storm_plumber(p->nr, NPLUMBER);
		break;
	case BYSTANDER:
		storm_bystander(mix);
		break;
	case MANAGER:
		/* it has streams of its own; these must end with the others */
		for (unsigned i = 0; i < storm_n; i++)
			storm_close(&storm_stream[i], 2);
		storm_manager(p->nr, kinds);
		break;
	}
}

static void
start(struct proc *p)
{
	p->pid = storm_fork();
	if (p->pid == 0) {
		run(p);
		_exit(0);
	}
}

static void
enlist(enum role role, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		T_LT(nproc, MAXPROC + 0u);
		proc[nproc] = (struct proc){role, i, 0};
		start(&proc[nproc++]);
	}
}

static void
describe(void)
{
	for (unsigned i = 0; i < storm_n; i++)
		fprintf(stderr, "# %s, stream %u: %llu sent, %llu came, %llu "
			"did not, %llu counted as dropped\n",
			storm_kind_name(storm_stream[i].kind), i,
			(unsigned long long)storm->tally[i].sent,
			(unsigned long long)storm->tally[i].got,
			(unsigned long long)storm->tally[i].gaps,
			(unsigned long long)storm->tally[i].drops);
}

static T_NORETURN void
stuck(const struct proc *p, const char *what)
{
	describe();
	left_dump();
	left_call("STORM_ON_HANG", p->pid);
	T_FAIL("%s: %s %u (pid %d)", what, role_name[p->role], p->nr,
		(int)p->pid);
}

/* ------------------------------------------------------- while it is going on */

/* Every stream, and each sender of descriptors, gets on. */
static void
watch(void)
{
	static uint64_t at[MAXPROC], had[MAXPROC];
	uint64_t now = t_now_ns(), has;

	for (unsigned i = 0; i < nproc; i++) {
		const struct proc *p = &proc[i];

		if (p->role == RECEIVER)
			has = storm->tally[p->nr].got;
		else if (p->role == PASSER)
			has = storm->pass[p->nr].got;
		else
			continue;
		if (has != had[i] || at[i] == 0) {
			had[i] = has;
			at[i] = now;
		} else if (now - at[i] > STILL_NS * t_scale()) {
			stuck(p, "nothing comes any more");
		}
	}
}

/* No process has ended by itself. */
static void
reap_none(void)
{
	int st;
	pid_t pid = waitpid(-1, &st, WNOHANG);

	for (unsigned i = 0; pid > 0 && i < nproc; i++)
		if (proc[i].pid == pid)
			T_FAIL("%s %u ended by itself, with status %#x",
				role_name[proc[i].role], proc[i].nr, st);
}

static struct proc *
pick(enum role first, enum role last)
{
	struct proc *p;

	do
		p = &proc[storm_rand_below(nproc)];
	while (p->role < first || p->role > last);
	return p;
}

static void
kill_one(enum role role)
{
	struct proc *p = pick(role, role);

	T_OK(kill(p->pid, SIGKILL));
	T_EQ(T_OK(waitpid(p->pid, NULL, 0)), p->pid);
	kills++;
	start(p);
}

static void
stop_one(void)
{
	struct proc *p = pick(SENDER, mix & STORM_BYSTANDERS ? BYSTANDER :
		mix & STORM_PLUMBING ? PLUMBER : RECEIVER);

	storm->stopped_since = t_now_ns();
	T_OK(kill(p->pid, SIGSTOP));
	storm_pause(60);
	T_OK(kill(p->pid, SIGCONT));
	storm->stopped_ns += t_now_ns() - storm->stopped_since;
	storm->stopped_since = 0;
	stops++;
}

static void
blow(uint64_t ns)
{
	uint64_t end = t_now_ns() + ns, looked = 0;

	while (t_now_ns() < end) {
		storm_pause(6);
		if (t_now_ns() - looked > 500000000u) {
			looked = t_now_ns();
			watch();
		}
		reap_none();
		switch (storm_rand_below(8)) {
		case 0:
		case 1:
			if (mix & STORM_KILLS && mix & STORM_BYSTANDERS)
				kill_one(BYSTANDER);
			break;
		case 2:
			if (mix & STORM_PLUMBERS && mix & STORM_PLUMBING)
				kill_one(PLUMBER);
			break;
		case 3:
			if (mix & STORM_STOPS)
				stop_one();
			break;
		case 4:
			if (mix & STORM_DAEMON && storm_chance(8))
				daemon_kills += storm_kill_streamsd();
			break;
		default:
			break;
		}
	}
}

/* -------------------------------------------------------------- and the end */

static void
reap_all(enum role role)
{
	uint64_t end = t_now_ns() + 30000000000u * t_scale();
	pid_t pid;
	int st;

	for (unsigned i = 0; i < nproc; i++) {
		struct proc *p = &proc[i];

		if (p->role != role || p->pid == 0)
			continue;
		while ((pid = waitpid(p->pid, &st, WNOHANG)) == 0) {
			if (t_now_ns() > end)
				stuck(p, "does not end");
			t_pause();
		}
		T_EQ(T_OK(pid), p->pid);
		p->pid = 0;
		/* an image that had just been executed has no handler */
		if (role == BYSTANDER && WIFSIGNALED(st) &&
			WTERMSIG(st) == SIGTERM)
			continue;
		if (!WIFEXITED(st) || WEXITSTATUS(st) != 0)
			T_FAIL("%s %u ended with status %#x", role_name[role],
				p->nr, st);
	}
}

/* What came, and what was counted as dropped, is what was sent. */
static void
settle(unsigned i)
{
	uint64_t end = t_now_ns() + 15000000000u * t_scale();
	struct storm_tally *t = &storm->tally[i];

	while (t->finished == 0 || t->got + t->drops < t->sent) {
		if (t_now_ns() > end) {
			describe();
			T_FAIL("%s, stream %u: %llu sent, %llu came, %llu "
				"counted as dropped",
				storm_kind_name(storm_stream[i].kind), i,
				(unsigned long long)t->sent,
				(unsigned long long)t->got,
				(unsigned long long)t->drops);
		}
		t_pause();
	}
	if (t->got + t->drops != t->sent) {
		describe();
		T_FAIL("%s, stream %u: more came, or was counted, than was "
			"sent", storm_kind_name(storm_stream[i].kind), i);
	}
	storm->full |= 1u << i;
}

static void
calm(void)
{
	uint64_t end;

	storm->stop = 1;
	for (unsigned i = 0; i < storm_n; i++)
		settle(i);
	reap_all(SENDER);
	reap_all(RECEIVER);
	reap_all(PASSER);
	end = t_now_ns() + 10000000000u * t_scale();
	for (unsigned i = 0; i < STORM_PASS; i++)
		while (storm->pass[i].got != storm->pass[i].sent) {
			if (t_now_ns() > end)
				T_FAIL("of %llu descriptors of sender %u came "
					"%llu", (unsigned long long)
					storm->pass[i].sent, i,
					(unsigned long long)
					storm->pass[i].got);
			t_pause();
		}
	storm->taken = 1;
	reap_all(TAKER);
	storm->over = 1;
	for (unsigned i = 0; i < nproc; i++)
		if (proc[i].role == BYSTANDER)
			T_OK(kill(proc[i].pid, SIGTERM));
	reap_all(PLUMBER);
	reap_all(BYSTANDER);
	reap_all(MANAGER);
	for (unsigned i = 0; i < storm_n; i++)
		storm_close(&storm_stream[i], 2);
	for (int e = 0; e < 2; e++)
		if (passing[e] >= 0)
			T_OK(close(passing[e]));
}

static void
report(void)
{
	uint64_t sent = 0, drops = 0;

	for (unsigned i = 0; i < storm_n; i++) {
		sent += storm->tally[i].sent;
		drops += storm->tally[i].drops;
	}
	fprintf(stderr, "# %llu records (%llu dropped and counted, %llu of "
		"victims), %llu files and %llu streams passed, %llu pushes\n",
		(unsigned long long)sent, (unsigned long long)drops,
		(unsigned long long)storm->victims_sent,
		(unsigned long long)storm->passed_files,
		(unsigned long long)storm->passed_streams,
		(unsigned long long)storm->plumbed);
	fprintf(stderr, "# %u kills, %u of streamsd, %u stops; %llu ends of "
		"file, the slowest %llu ms, %llu ms of its own\n",
		kills, daemon_kills, stops, (unsigned long long)storm->ends,
		(unsigned long long)storm->worst_raw / 1000000,
		(unsigned long long)storm->worst_net / 1000000);
}

static void
supervise(void)
{
	unsigned each = env_number("STORM_EACH", 2, STORM_STREAMS / STORM_NKIND);
	uint64_t ms = env_number("STORM_MS", 5000, 7200000), end;
	char why[400];

	for (unsigned i = 0; i < each * STORM_NKIND; i++) {
		enum storm_kind k = (enum storm_kind)(i % STORM_NKIND);
		struct storm_stream *s = &storm_stream[storm_n];

		if ((kinds >> k & 1) == 0)
			continue;
		storm_open(s, k, storm_n);
		/* bystanders then have service procedures to run */
		if (i / STORM_NKIND % 2 == 1)
			T_OK(ioctl(s->fd[storm_rand_below(2)], I_PUSH,
				"srvmod"));
		storm_n++;
	}
	enlist(SENDER, storm_n);
	enlist(RECEIVER, storm_n);
	if (mix & (STORM_FILES | STORM_PASSING)) {
		storm_pass_open(passing);
		enlist(PASSER, STORM_PASS);
		enlist(TAKER, 1);
	}
	if (mix & STORM_PLUMBING)
		enlist(PLUMBER, NPLUMBER);
	if (mix & STORM_BYSTANDERS)
		enlist(BYSTANDER, env_number("STORM_CROWD", 4, 20));
	if (mix & STORM_VICTIMS)
		enlist(MANAGER, 2);
	blow(ms * 1000000);
	calm();
	report();
	end = t_now_ns() + 10000000000u * t_scale();
	while (!nothing_left(why, sizeof(why))) {
		if (t_now_ns() > end) {
			left_dump();
			left_call("STORM_ON_LEFT", getpid());
			T_FAIL("left in the domain: %s", why);
		}
		t_pause();
	}
	T_EQ(storm->late, 0u);
}

/* ------------------------------------------------------------------- around */

static uint64_t rand_state;

uint64_t
storm_rand_below(uint64_t n)
{
	uint64_t z = rand_state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % n;
}

void
storm_seed(uint64_t seed)
{
	rand_state = seed;
}

bool
storm_chance(unsigned one_in)
{
	return storm_rand_below(one_in) == 0;
}

void
storm_pause(unsigned most_ms)
{
	for (uint64_t n = storm_rand_below(most_ms + 1); n > 0; n--)
		t_pause();
}

/* A child draws numbers of its own, and does not outlive its parent. */
pid_t
storm_fork(void)
{
	uint64_t seed = storm_rand_below(UINT64_MAX);
	pid_t parent = getpid(), pid = T_OK(fork());

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	storm_seed(seed);
	return 0;
}

static void *
shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	T_NE(p, MAP_FAILED);
	return p;
}

/* Files whose name in @dir begins with @name. */
static unsigned
files(const char *dir, const char *name)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	unsigned n = 0;

	while (d != NULL && (e = readdir(d)) != NULL)
		n += strncmp(e->d_name, name, strlen(name)) == 0;
	if (d != NULL)
		closedir(d);
	return n;
}

static unsigned
files_of(const char *name)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	char dir[300];
	unsigned n = 0;

	snprintf(dir, sizeof(dir), "/dev/shm/streams-%u", (unsigned)geteuid());
	n = files(dir, name);
	if (xdg != NULL) {
		snprintf(dir, sizeof(dir), "%s/streams", xdg);
		n += files(dir, name);
	}
	return n;
}

static char dir[64];

static void
remove_dir(void)
{
	(void)rmdir(dir);
}

T_CASE_TIMEOUT(nothing_is_lost_late_or_left_in_a_storm, 7200)
{
	const char *tmp = getenv("TMPDIR");
	char name[64], pattern[80];
	pid_t pid, child;
	int st;

	mix = env_number("STORM_MIX", ~0u, ~0u);
	kinds = env_number("STORM_KINDS", ~0u, ~0u);
	storm_bound = env_number("STORM_BOUND", 2000, 100000) * 1000000ull *
		t_scale();
	storm = shared(sizeof(*storm));
	storm_stream = calloc(STORM_STREAMS, sizeof(*storm_stream));
	T_TRUE(storm_stream != NULL);
	storm_seed(t_rand());
	/* a domain with a name, for its file to be looked for */
	snprintf(name, sizeof(name), "storm%d", (int)getpid());
	setenv("STREAMS_DOMAIN", name, 1);
	snprintf(dir, sizeof(dir), "%s/storm-XXXXXX",
		tmp != NULL && strlen(tmp) < 40 ? tmp : "/tmp");
	T_TRUE(mkdtemp(dir) != NULL);
	t_at_end(remove_dir);
	snprintf(pattern, sizeof(pattern), "%s/*", dir);
	setenv("STREAMS_FIFOS", pattern, 1);
	setenv("STORM_DIR", dir, 1);
	T_OK(prctl(PR_SET_CHILD_SUBREAPER, 1));
	pid = storm_fork();
	if (pid == 0) {
		supervise();
		exit(0);
	}
	do
		child = T_OK(waitpid(-1, &st, 0));
	while (child != pid);
	T_EQ(st, 0);
	/* streamsd, and children of bystanders that were killed */
	T_SOON((child = waitpid(-1, NULL, WNOHANG)) == -1,
		10000 * (int)t_scale());
	T_EQ(errno, ECHILD);
	T_SOON(files_of(name) == 0, 10000 * (int)t_scale());
	T_OK(rmdir(dir));
}
