/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The table, what runs it, and how Streams of each kind are made.
 */
#include "str.h"

#include <sys/LiS/loop.h>
#include <sys/mux.h>
#include <sys/sysmacros.h>

T_TARGETS("pipe", "fifo", "spx", "echo", "loop")

/* NULL where there is no such case */
#define WEAK(x) _Pragma(#x)
#define ROW(id, ...)							\
	void s_case_##id(void);						\
	WEAK(weak s_case_##id)
#include "str_msg.def"
#include "str_io.def"
#include "str_ioctl.def"
#include "str_queue.def"
#include "str_link.def"
#undef ROW

#define ROW(id, page, section, kinds, why, text)			\
	{ #id, page, #section, kinds, why, text, s_case_##id },
static const struct s_row rows[] = {
#include "str_msg.def"
#include "str_io.def"
#include "str_ioctl.def"
#include "str_queue.def"
#include "str_link.def"
};
#undef ROW

static const struct differs {
	int row, kinds;
	const char *reason;
} differs[] = {
#define DIFFERS(id, kinds, reason) { S_ROW_##id, kinds, reason },
#include "str_differs.def"
#undef DIFFERS
	{ -1, 0, NULL },
};

int s_fd[2], s_kind;

static const struct differs *known;	/* of the running row, or NULL */
static int *broken;			/* shared: the difference was seen */

void
s_holds(const char *file, int line, const char *expr, bool holds)
{
	if (known != NULL)
		*broken |= !holds;
	else if (!holds)
		t_fail(file, line, "%s does not hold (%s)", expr,
			t_errno_name(errno));
}

bool
s_fails(long long ret, int want)
{
	return ret == -1 && errno == want;
}

int
s_minor(int fd)
{
	struct stat st;

	T_OK(fstat(fd, &st));
	return (int)minor(st.st_rdev);
}

void
s_loop(int fd[2])
{
	int other, len = sizeof other;

	fd[0] = T_OK(open("/dev/loop_clone", O_RDWR));
	fd[1] = T_OK(open("/dev/loop_clone", O_RDWR));
	other = s_minor(fd[1]);
	T_OK(st_str(fd[0], LOOP_SET, 0, &len, &other));
}

int
s_mux(void)
{
	return T_OK(open("/dev/mux", O_RDWR));
}

static void
spx(int fd[2])
{
	char token[sizeof(int)];
	struct strfdinsert fi = { { 0, sizeof token, token },
		{ 0, -1, NULL }, 0, 0, 0 };

	fd[0] = T_OK(open("/dev/spx", O_RDWR));
	fd[1] = T_OK(open("/dev/spx", O_RDWR));
	fi.fildes = fd[1];
	T_OK(ioctl(fd[0], I_FDINSERT, &fi));
}

void
s_open(int kind, int fd[2])
{
	if (kind == PIPE)
		T_OK(pipe(fd));
	else if (kind == SPX)
		spx(fd);
	else if (kind == LOOP)
		s_loop(fd);
	else {
		fd[0] = T_OK(open(kind == FIFO ? "/dev/streams/fifo/0" :
			"/dev/streams/clone/echo", O_RDWR));
		fd[1] = T_OK(dup(fd[0]));
	}
}

void
s_arrive(int fd, int n)
{
	T_SOON(st_queued(fd) == n, 4000);
}

/* Until a writer would block, and stays so: queues below move at first. */
size_t
s_fill(int band)
{
	static char buf[4096];
	struct strbuf d = { 0, sizeof buf, buf };
	size_t n = 0;
	int calm = 0;

	/* close() is not to wait for what nothing reads */
	T_OK(ioctl(W, I_SETCLTIME, &(int){ 0 }));
	T_OK(fcntl(W, F_SETFL, O_RDWR | O_NONBLOCK));
	while (calm < 20) {
		if (putpmsg(W, NULL, &d, band, MSG_BAND) == 0) {
			n += sizeof buf;
			calm = 0;
			continue;
		}
		T_EQ(errno, EAGAIN);
		calm++;
		t_pause();
	}
	T_OK(fcntl(W, F_SETFL, O_RDWR));
	return n;
}

void
s_drain(void)
{
	static struct st_msg m;

	for (int calm = 0; calm < 20; calm++) {
		for (; st_queued(R) > 0; calm = 0)
			T_EQ(st_get(R, &m, 0), 0);
		t_pause();
	}
}

static void
nothing(int sig)
{
	(void)sig;
}

void
s_interrupt(void)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct itimerval it = { { 0, 30000 }, { 0, 30000 } };

	T_OK(sigaction(SIGALRM, &sa, NULL));
	T_OK(setitimer(ITIMER_REAL, &it, NULL));
}

static char dir[64];

static void
undir(void)
{
	static const char *const names[] = { "a", "b", "c" };
	char path[128];

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		(void)fdetach(path);
	}
}

const char *
s_path(const char *name)
{
	static char path[8][128];
	static unsigned int turn;
	char *p = path[turn++ % 8];

	if (dir[0] == '\0') {
		snprintf(dir, sizeof dir, "/tmp/statements.XXXXXX");
		T_NOTNULL(mkdtemp(dir));
		t_remove_at_end(dir);
		t_at_end(undir);
	}
	snprintf(p, sizeof path[0], "%s/%s", dir, name);
	return p;
}

const char *
s_file(const char *name)
{
	const char *p = s_path(name);

	T_OK(close(T_OK(open(p, O_CREAT | O_EXCL | O_RDWR, 0600))));
	return p;
}

/* The name of a case is a row's, with spaces, behind the target's. */
static const struct s_row *
row_of(const struct t *t)
{
	const char *name = strstr(t->name, ": ") + 2;

	for (size_t i = 0; i < S_ROWS; i++) {
		const char *a = rows[i].id, *b = name;

		while (*a != '\0' && (*a == *b || (*a == '_' && *b == ' '))) {
			a++;
			b++;
		}
		if (*a == *b)
			return &rows[i];
	}
	T_FAIL("no row of this name");
}

static void
run(struct t *t)
{
	static const char *const names[] = { "pipe", "fifo", "spx", "echo",
		"loop" };
	const struct s_row *r = row_of(t);
	const struct differs *d;

	if (r->run == NULL)
		T_FAIL("%s, %s: a statement without a case: %s", r->page,
			r->section, r->text);
	for (int i = 0; i < 5; i++)
		if (strcmp(t->target, names[i]) == 0)
			s_kind = 1 << i;
	if ((r->kinds & s_kind) == 0)
		T_SKIP("%s", r->why);
	for (d = differs; d->reason != NULL && known == NULL; d++)
		if (&rows[d->row] == r && (d->kinds & s_kind) != 0)
			known = d;
	broken = st_shared(sizeof *broken);
	signal(SIGPIPE, SIG_IGN);
	s_open(s_kind, s_fd);
	r->run();
	if (known != NULL && !*broken)
		T_FAIL("holds, but is said to differ: %s", known->reason);
}

/* The table is whole: each row says what it is, and where it does not apply. */
static void
table(struct t *t)
{
	for (size_t i = 0; i < S_ROWS; i++) {
		T_NOTNULL(rows[i].run);
		T_NE(rows[i].kinds & ANY, 0);
		T_EQ(rows[i].why == NULL, rows[i].kinds == ANY);
		for (size_t k = 0; k < i; k++)
			T_NE(strcmp(rows[i].id, rows[k].id), 0);
	}
}

T_CONSTRUCTOR static void
add_rows(void)
{
	static struct t_case cases[S_ROWS + 1];

	cases[S_ROWS] = (struct t_case){ "the_table_is_whole", table, 0,
		NULL };
	t_case_add(&cases[S_ROWS]);
	for (size_t i = 0; i < S_ROWS; i++) {
		cases[i] = (struct t_case){ rows[i].id, run, 10, NULL };
		t_case_add(&cases[i]);
	}
}
