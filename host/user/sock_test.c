/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sockets that members share: which has a descriptor, which gets one, and when it
 * is gone.  The executive is the double, for which one id lives at a time
 * (UP_SOCK); streamsd is this program under another name.
 */
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <t.h>

#include "sock_impl.h"
#include "upcalls_test_double.h"
#undef FNDELAY
#undef FNONBLOCK
#include <str/ksock.h>

int streamsd_main(int argc, char **argv);

STR_CONSTRUCTOR static void
be_streamsd(int argc, char **argv)
{
	if (strcmp(argv[0], "streamsd") == 0)
		exit(streamsd_main(argc, argv));
}

#define ID(gen) ((uint64_t)(gen) << 32 | 7)

static char self[512];

static void
setup(void)
{
	struct host_call hc = { .fd = -1 };
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	T_GT(n, 0);
	setenv("STREAMS_DOMAIN", "private", 1);
	setenv("STREAMS_LINGER", "60000", 1);
	setenv("STREAMS_DAEMON", self, 1);
	up_enter(&hc);
	T_EQ(host_daemon(), 0);
	host_leave();
}

static pid_t
daemon_pid(void)
{
	return (pid_t)(uint32_t)str_load(&host_shared(host_domain)->daemon);
}

static void
live(uint64_t id)
{
	str_store(up_word(UP_SOCK), id);
}

/* A socket of a new pair, known as @id; its other end is a plain one. */
static int
make(uint64_t id)
{
	int fd[2];

	T_OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	live(id);
	T_EQ(host_sock_adopt(id, fd[0]), 0);
	return fd[1];
}

/* Do we get @text out of @id? */
static int
got(uint64_t id, const char *text)
{
	char buf[64];
	struct iovec iov = { buf, sizeof buf };
	long n = host_sock_recv(id, &iov, 1, NULL);

	return n == (long)strlen(text) && memcmp(buf, text, (size_t)n) == 0;
}

static void
in_call(void (*fn)(void *), void *arg)
{
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	fn(arg);
	host_leave();
}

static void
expect_ping(void *arg)
{
	int *peer = arg;

	T_EQ(write(*peer, "ping", 4), 4);
	T_TRUE(got(ID(1), "ping"));
}

/* streamsd has the other end, or not, when no other has */
static void
make_and_drop(void *arg)
{
	int *peer = arg;

	*peer = make(ID(1));
	host_sock_drop(ID(1));
}

T_CASE(streamsd_keeps_what_was_made)
{
	int peer;
	char c;

	setup();
	in_call(make_and_drop, &peer);
	/* the only holder left is streamsd */
	T_EQ(send(peer, "x", 1, MSG_NOSIGNAL), 1);
	T_EQ(recv(peer, &c, 1, MSG_DONTWAIT), -1);
	T_EQ(errno, EAGAIN);
}

static void
fetched(void *arg)
{
	T_GE(host_sock_fd(ID(1)), 0);
	expect_ping(arg);
}

T_CASE(who_has_none_gets_one)
{
	int peer;

	setup();
	in_call(make_and_drop, &peer);
	in_call(fetched, &peer);
}

T_CASE(numbers_are_high_and_hidden)
{
	int peer, fd;
	struct host_call hc = { .fd = -1 };

	setup();
	up_enter(&hc);
	peer = make(ID(1));
	fd = host_sock_fd(ID(1));
	T_TRUE(host_fd_is_ours(fd));
	T_FALSE(host_fd_is_ours(peer));
	T_EQ(host_sock_hidden_from(fd), fd);
	T_EQ(host_sock_hidden_from(fd + 1), -1);
	T_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	host_sock_move(fd);
	T_NE(host_sock_fd(ID(1)), fd);
	T_FALSE(host_fd_is_ours(fd));
	(void)close(fd);
	expect_ping(&peer);
	host_leave();
}

T_CASE(an_id_that_is_dead_has_no_descriptor)
{
	int peer;
	struct host_call hc = { .fd = -1 };

	setup();
	up_enter(&hc);
	peer = make(ID(1));
	live(0);
	host_sock_gone(ID(1), true);
	T_EQ(host_sock_fd(ID(1)), -EIO);
	/* streamsd has closed its own when the call returns, or is late */
	T_SOON(send(peer, "x", 1, MSG_NOSIGNAL) == -1, 2000);
	T_EQ(errno, EPIPE);
	host_leave();
}

static void
child_holds(void *arg)
{
	int *go = arg;
	struct host_call hc = { .fd = -1 };
	char c;

	up_enter(&hc);
	T_GE(host_sock_fd(ID(1)), 0);
	host_leave();
	T_EQ(write(go[1], "r", 1), 1);
	T_EQ(read(go[2], &c, 1), 1);
	/* any use of any socket tells it */
	up_enter(&hc);
	T_EQ(host_sock_fd(ID(1)), -EIO);
	host_leave();
	T_EQ(write(go[1], "r", 1), 1);
	(void)read(go[2], &c, 1);
}

T_CASE(other_members_close_theirs_when_they_come_by)
{
	int peer, a[2], b[2], go[3];
	struct host_call hc = { .fd = -1 };
	char c;
	pid_t pid;

	setup();
	T_OK(pipe(a));
	T_OK(pipe(b));
	go[1] = a[1];
	go[2] = b[0];
	up_enter(&hc);
	peer = make(ID(1));
	host_leave();
	pid = T_OK(fork());
	if (pid == 0) {
		(void)close(peer);
		(void)close(b[1]);
		child_holds(go);
		_exit(0);
	}
	T_EQ(read(a[0], &c, 1), 1);
	up_enter(&hc);
	live(0);
	host_sock_gone(ID(1), true);
	host_leave();
	/* an idle process still has it */
	T_EQ(send(peer, "x", 1, MSG_NOSIGNAL), 1);
	T_EQ(write(b[1], "g", 1), 1);
	T_EQ(read(a[0], &c, 1), 1);
	T_EQ(send(peer, "x", 1, MSG_NOSIGNAL), -1);
	T_OK(close(b[1]));
	T_EQ(waitpid(pid, NULL, 0), pid);
}

T_CASE(a_place_is_used_again)
{
	struct host_call hc = { .fd = -1 };

	setup();
	up_enter(&hc);
	for (uint64_t gen = 1; gen < 200; gen += 2) {
		int peer = make(ID(gen));
		struct iovec iov = { (char[]){ 'x' }, 1 };
		char c;

		T_EQ(host_sock_send(ID(gen), &iov, 1, 0), 1);
		T_EQ(read(peer, &c, 1), 1);
		T_EQ(host_sock_get(ID(gen), &c, 1), -EAGAIN);
		T_EQ(host_sock_put(ID(gen), "y", 1), 1);
		T_EQ(read(peer, &c, 1), 1);
		T_EQ(c, 'y');
		T_EQ(write(peer, "z", 1), 1);
		T_EQ(host_sock_get(ID(gen), &c, 1), 1);
		T_EQ(c, 'z');
		live(0);
		host_sock_gone(ID(gen), (gen & 2) != 0);
		T_OK(close(peer));
	}
	host_leave();
}

T_CASE(a_new_streamsd_is_given_them)
{
	int peer;
	pid_t was;
	struct host_call hc = { .fd = -1 };

	setup();
	str_store(up_word(UP_WANTED), 1ull);
	up_enter(&hc);
	peer = make(ID(1));
	for (int i = 0; i < 3; i++) {
		was = daemon_pid();
		T_OK(kill(was, SIGKILL));
		/* dead to the last of its threads */
		T_SOON((host_daemon(), daemon_pid() != was), 5000);
		host_sock_pass_all();
		host_sock_drop(ID(1));
		T_GE(host_sock_fd(ID(1)), 0);
		expect_ping(&peer);
	}
	host_leave();
}

T_CASE(the_next_use_gives_it_to_a_new_streamsd)
{
	int peer;
	pid_t was;
	struct host_call hc = { .fd = -1 };

	setup();
	str_store(up_word(UP_WANTED), 1ull);
	up_enter(&hc);
	peer = make(ID(1));
	was = daemon_pid();
	T_OK(kill(was, SIGKILL));
	T_SOON((host_daemon(), daemon_pid() != was), 5000);
	expect_ping(&peer);
	host_sock_drop(ID(1));
	expect_ping(&peer);
	host_leave();
}

/* ---------------------------------------------------------- many at a time */

#define MANY 300u /* more than one letter takes */
#define EACH(i) (UP_SOCKS_FIRST + (i))

static uint64_t cookies[MANY];

/* The inodes of the UDP sockets that this test has made. */
static ino_t inodes[2 * MANY];
static unsigned ninodes;

static uint64_t
cookie_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof cookie;

	T_OK(getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len));
	return cookie;
}

static int
udp_socket(void)
{
	int fd = T_OK(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	struct stat st;

	T_LT(ninodes, STR_ARRAY_LEN(inodes));
	T_OK(fstat(fd, &st));
	inodes[ninodes++] = st.st_ino;
	return fd;
}

static void
make_many(void *arg)
{
	(void)arg;
	str_store(up_word(UP_SOCKS), (uint64_t)MANY);
	for (unsigned i = 0; i < MANY; i++) {
		int fd = udp_socket();

		cookies[i] = cookie_of(fd);
		T_EQ(host_sock_adopt(EACH(i), fd), 0);
	}
}

static void
drop_many(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < MANY; i++)
		host_sock_drop(EACH(i));
}

/* Those that we get from streamsd, which alone has them, are the right ones. */
static void
fetch_many(void *arg)
{
	(void)arg;
	drop_many(NULL);
	for (unsigned i = 0; i < MANY; i++)
		T_EQ(cookie_of(host_sock_fd(EACH(i))), cookies[i]);
}

static bool
is_kept(uint64_t id)
{
	const uint8_t *p = (uint8_t *)host_domain + HOST_KEPT_OFF;
	uint32_t i = (uint32_t)id % HOST_NSOCK;

	return p[i / 8] >> i % 8 & 1;
}

static unsigned
kept(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MANY; i++)
		n += is_kept(EACH(i));
	return n;
}

static bool
is_made_here(ino_t ino)
{
	for (unsigned i = 0; i < ninodes; i++)
		if (inodes[i] == ino)
			return true;
	return false;
}

/*
 * Descriptors of streamsd: all of them, or those of the test's UDP sockets only.
 * streamsd opens and closes others of its own at any time.
 */
static unsigned
descriptors(bool all)
{
	char path[64], text[64];
	struct dirent *e;
	unsigned n = 0;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)daemon_pid());
	d = opendir(path);
	T_NOTNULL(d);
	while ((e = readdir(d)) != NULL) {
		ssize_t len = readlinkat(dirfd(d), e->d_name, text,
			sizeof text - 1);

		text[len < 0 ? 0 : len] = '\0';
		n += all || (strncmp(text, "socket:[", 8) == 0 &&
			is_made_here(strtoul(text + 8, NULL, 10)));
	}
	(void)closedir(d);
	return n;
}

static unsigned
numbers(void)
{
	return descriptors(false);
}

static void
another_streamsd(void *arg)
{
	pid_t was = daemon_pid();

	(void)arg;
	(void)kill(was, SIGKILL);
	T_SOON((host_daemon(), daemon_pid() != was), 5000);
}

static void
pass_many(void *arg)
{
	(void)arg;
	host_sock_pass_all();
}

static void
use_one(void *arg)
{
	(void)arg;
	T_GE(host_sock_fd(EACH(0)), 0);
}

/* That one is used keeps what is owed coming. */
static int
all_kept(void)
{
	in_call(use_one, NULL);
	return kept() == MANY;
}

/* A process that sleeps in poll() wants nothing else to be done. */
T_CASE(many_are_passed_to_one_who_does_not_read)
{
	unsigned n;

	setup();
	str_store(up_word(UP_WANTED), 1ull);
	in_call(make_many, NULL);
	T_SOON(all_kept(), 10000);
	n = numbers();
	for (int i = 0; i < 3; i++) {
		in_call(another_streamsd, NULL);
		T_OK(kill(daemon_pid(), SIGSTOP));
		in_call(pass_many, NULL);
		T_FALSE(host_sock_owes());
		in_call(drop_many, NULL);
		T_OK(kill(daemon_pid(), SIGCONT));
		in_call(fetch_many, NULL);
		T_EQ(kept(), MANY);
		T_EQ(numbers(), n);
	}
}

/* How often threads of streamsd have slept. */
static unsigned
sleeps(void)
{
	char path[300], line[128];
	struct dirent *e;
	unsigned sum = 0, n;
	DIR *d;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/task", (int)daemon_pid());
	d = opendir(path);
	T_NOTNULL(d);
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof path, "/proc/%d/task/%s/status",
			(int)daemon_pid(), e->d_name);
		f = e->d_name[0] != '.' ? fopen(path, "re") : NULL;
		while (f != NULL && fgets(line, sizeof line, f) != NULL)
			if (sscanf(line, "voluntary_ctxt_switches: %u", &n) ==
				1)
				sum += n;
		if (f != NULL)
			(void)fclose(f);
	}
	(void)closedir(d);
	return sum;
}

static void
end_many(void *arg)
{
	(void)arg;
	str_store(up_word(UP_SOCKS), 0ull);
	for (unsigned i = 0; i < MANY; i++)
		host_sock_gone(EACH(i), false);
}

T_CASE(sockets_that_come_and_go_wake_streamsd_seldom)
{
	unsigned had, was;

	setup();
	had = numbers();
	str_store(up_word(UP_WANTED), 1ull);
	was = sleeps();
	in_call(make_many, NULL);
	T_SOON(all_kept(), 10000);
	in_call(end_many, NULL);
	T_SOON(numbers() == had, 10000);
	T_LT(sleeps() - was, MANY);
}

/*
 * streamsd's thread naps, reads or sleeps when a socket ends.  The pauses make it
 * end in each of these states; the other end of the pair notices the close.
 */
T_CASE(a_socket_that_ends_at_any_time_is_closed_by_streamsd)
{
	struct host_call hc = { .fd = -1 };

	setup();
	for (uint64_t i = 0; i < 52; i++) {
		uint64_t id = (2 * i + 1) << 32 | 5;
		struct pollfd pfd = { .events = POLLIN };
		int ms = (int)(i % 13);

		up_enter(&hc);
		pfd.fd = make(id);
		if (i % 2 != 0)
			(void)poll(NULL, 0, ms);
		live(0);
		host_sock_gone(id, false);
		host_leave();
		T_EQ(poll(&pfd, 1, 10000), 1);
		T_OK(close(pfd.fd));
		(void)poll(NULL, 0, ms);
	}
}

T_CASE(what_others_have_passed_is_not_passed_again)
{
	int st;
	pid_t pid;

	setup();
	str_store(up_word(UP_WANTED), 1ull);
	in_call(make_many, NULL);
	in_call(another_streamsd, NULL);
	pid = T_OK(fork());
	if (pid == 0) {
		in_call(pass_many, NULL);
		_exit(0);
	}
	T_EQ(waitpid(pid, &st, 0), pid);
	T_EQ(st, 0);
	T_SOON(all_kept(), 10000);
	/* its queue has room for one letter, with what would be thrown away */
	T_OK(kill(daemon_pid(), SIGSTOP));
	for (int i = 0; i < 20; i++)
		in_call(pass_many, NULL);
	T_FALSE(host_sock_owes());
	T_OK(kill(daemon_pid(), SIGCONT));
	in_call(fetch_many, NULL);
}

T_CASE(what_finds_no_room_is_passed_later)
{
	unsigned n;

	setup();
	str_store(up_word(UP_WANTED), 1ull);
	T_OK(kill(daemon_pid(), SIGSTOP));
	in_call(make_many, NULL);
	T_TRUE(host_sock_owes());
	T_OK(kill(daemon_pid(), SIGCONT));
	T_SOON(all_kept(), 5000);
	T_FALSE(host_sock_owes());
	n = numbers();
	in_call(fetch_many, NULL);
	T_EQ(numbers(), n);
}

static void
sleep_a_little(void *arg)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev;

	(void)arg;
	(void)host_wait_carrier(&hc, 5000000, &ev);
}

/* They are not used, as only streamsd uses a socket that only receives. */
T_CASE(what_finds_no_room_is_passed_by_who_sleeps)
{
	setup();
	str_store(up_word(UP_WANTED), 1ull);
	T_OK(kill(daemon_pid(), SIGSTOP));
	in_call(make_many, NULL);
	T_TRUE(host_sock_owes());
	T_OK(kill(daemon_pid(), SIGCONT));
	T_SOON((in_call(sleep_a_little, NULL), kept() == MANY), 10000);
	T_FALSE(host_sock_owes());
}

/* It has put itself there, and is known, before it takes letters. */
T_CASE(who_sleeps_looks_again_until_streamsd_takes_letters)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev, pid;

	setup();
	str_store(up_word(UP_WANTED), 1ull);
	in_call(make_many, NULL);
	up_enter(&hc);
	pid = (uint32_t)daemon_pid();
	T_EQ(host_sock_owed_at(pid), UINT64_MAX);
	str_store(&host_shared(host_domain)->sock_keeper, 1u);
	T_LE(host_sock_owed_at(pid), host_now() + 1000000000u);
	T_EQ(host_wait_carrier(&hc, UINT64_MAX, &ev), 0);
	T_EQ(ev, 0);
	host_leave();
}

static void *
keeper_starts(void *arg)
{
	struct host_shared *s = host_shared(host_domain);

	(void)arg;
	(void)poll(NULL, 0, 50);
	str_store(&s->sock_epoch, 1ull);
	str_store_rel(&s->sock_keeper, (uint32_t)daemon_pid());
	return NULL;
}

/* streamsd is known before it has a keeper; its maker may be killed then. */
T_CASE(a_new_socket_is_with_streamsd_before_it_is_used)
{
	struct host_shared *s;
	pthread_t id;

	setup();
	s = host_shared(host_domain);
	T_SOON(str_load(&s->sock_keeper) == (uint32_t)daemon_pid(), 5000);
	str_store(&s->sock_keeper, 0u);
	str_store(&s->sock_epoch, 0ull);
	T_EQ(pthread_create(&id, NULL, keeper_starts, NULL), 0);
	str_store(up_word(UP_WANTED), 1ull);
	in_call(make_many, NULL);
	T_EQ(pthread_join(id, NULL), 0);
	T_SOON(all_kept(), 10000);
}

T_CASE(a_streamsd_without_numbers_takes_the_rest_when_it_has_some)
{
	struct rlimit rl, less;
	unsigned n, had, tries = 0;

	setup();
	str_store(up_word(UP_WANTED), 1ull);
	in_call(make_many, NULL);
	T_SOON(all_kept(), 10000);
	had = numbers();
	/* ".", ".." and what is free below the limit */
	n = descriptors(true) - MANY - 3;
	T_OK(prlimit(daemon_pid(), RLIMIT_NOFILE, NULL, &rl));
	less = rl;
	less.rlim_cur = n + 20;
	/* they are passed as soon as it is there: it may be too quick for us */
	do {
		in_call(another_streamsd, NULL);
		T_OK(prlimit(daemon_pid(), RLIMIT_NOFILE, &less, NULL));
	} while (descriptors(true) > n + 30 && ++tries < 100);
	in_call(pass_many, NULL);
	T_SOON(kept() >= 15, 5000);
	T_LE(kept(), 25);
	/* those that it has do not take the room of others */
	less.rlim_cur = n + 120;
	T_OK(prlimit(daemon_pid(), RLIMIT_NOFILE, &less, NULL));
	T_SOON((in_call(use_one, NULL), kept() >= 115), 10000);
	T_LE(kept(), 125);
	T_OK(prlimit(daemon_pid(), RLIMIT_NOFILE, &rl, NULL));
	T_SOON(all_kept(), 20000);
	T_SOON(numbers() == had, 5000);
	in_call(fetch_many, NULL);
}

/* The program closes a number that it does not know of, and gets it. */
T_CASE(what_is_not_ours_any_more_is_not_passed)
{
	struct host_call hc = { .fd = -1 };
	int fd, other;

	setup();
	str_store(up_word(UP_WANTED), 1ull);
	in_call(make_many, NULL);
	up_enter(&hc);
	fd = host_sock_fd(EACH(7));
	host_leave();
	other = udp_socket();
	T_EQ(syscall(SYS_dup3, other, fd, 0), fd);
	fd = host_sock_hidden_from(fd + 1);
	T_OK(syscall(SYS_close, fd));
	in_call(another_streamsd, NULL);
	in_call(pass_many, NULL);
	T_SOON(kept() == MANY - 2, 5000);
	T_FALSE(is_kept(EACH(7)));
	T_FALSE(host_sock_owes());
}

/* What sock.c and streamsd say to each other, as keep.c has it. */
struct letter {
	uint64_t id;
	uint32_t op, n;
	uint8_t addr[8];
	struct { uint64_t id, cookie; } v[HOST_FDS];
};

static int
post(struct letter *l, size_t len, const int *fd, unsigned n)
{
	struct host_shared *s = host_shared(host_domain);

	return host_fds_send(str_load(&s->sock_name), l, len, fd, n);
}

T_CASE(a_letter_that_makes_no_sense_is_thrown_away)
{
	struct host_call hc = { .fd = -1 };
	struct letter l = { .op = 1 };
	size_t head = offsetof(struct letter, v);
	int fd[3];
	unsigned n;

	setup();
	up_enter(&hc);
	str_store(up_word(UP_SOCKS), 3ull);
	n = numbers();
	for (unsigned i = 0; i < 3; i++) {
		fd[i] = udp_socket();
		l.v[i].id = EACH(i);
		l.v[i].cookie = cookie_of(fd[i]);
	}
	/* more of them than it says, and fewer, and no number at all */
	l.n = 2;
	T_EQ(post(&l, head + 2 * sizeof l.v[0], fd, 3), 0);
	l.n = 3;
	T_EQ(post(&l, head + 3 * sizeof l.v[0], fd, 2), 0);
	T_EQ(post(&l, head + 2 * sizeof l.v[0], fd, 3), 0);
	T_EQ(post(&l, sizeof l, fd, 3), 0);
	T_EQ(post(&l, 8, fd, 3), 0);
	l.n = 4000000000u;
	T_EQ(post(&l, head + 3 * sizeof l.v[0], fd, 3), 0);
	l.n = 3;
	l.op = 2;
	T_EQ(post(&l, head, fd, 3), 0);
	l.op = 77;
	T_EQ(post(&l, head, NULL, 0), 0);
	/* another one than it says, and one that lives no more */
	l.op = 1;
	l.v[0].cookie = cookie_of(fd[1]);
	l.v[2].id = EACH(3);
	T_SOON(post(&l, head + 3 * sizeof l.v[0], fd, 3) == 0, 5000);
	T_SOON(is_kept(EACH(1)), 5000);
	T_FALSE(is_kept(EACH(0)));
	T_FALSE(is_kept(EACH(2)));
	T_FALSE(is_kept(EACH(3)));
	T_SOON(numbers() == n + 1, 5000);
	T_EQ(cookie_of(host_sock_fd(EACH(1))), cookie_of(fd[1]));
	host_leave();
}

/* Killed anywhere, it has done nothing that the others cannot do again. */
T_CASE(who_passes_is_killed)
{
	static const char *const label[] = {"keep:filled", "keep:passed",
		"keep:filled:2", "keep:passed:2"};
	unsigned n;
	int st;
	pid_t pid;

	setup();
	str_store(up_word(UP_WANTED), 1ull);
	in_call(make_many, NULL);
	T_SOON(all_kept(), 10000);
	n = numbers();
	for (size_t i = 0; i < STR_ARRAY_LEN(label); i++) {
		pid = T_OK(fork());
		if (pid == 0) {
			setenv("STREAMS_CRASH", label[i], 1);
			in_call(another_streamsd, NULL);
			_exit(0);
		}
		T_EQ(waitpid(pid, &st, 0), pid);
		T_TRUE(WIFSIGNALED(st));
		in_call(pass_many, NULL);
		T_FALSE(host_sock_owes());
		T_SOON(all_kept(), 10000);
		in_call(fetch_many, NULL);
		T_SOON(numbers() == n, 5000);
	}
}

T_CASE(streamsd_is_killed_while_it_takes_them)
{
	static const char *const label[] = {"keep:taken", "keep:installed",
		"keep:taken:2", "keep:installed:253", "keep:installed:254"};
	unsigned n;
	pid_t was;

	setup();
	str_store(up_word(UP_WANTED), 1ull);
	in_call(make_many, NULL);
	T_SOON(all_kept(), 10000);
	n = numbers();
	for (size_t i = 0; i < STR_ARRAY_LEN(label); i++) {
		setenv("STREAMS_DAEMON_CRASH", label[i], 1);
		in_call(another_streamsd, NULL);
		setenv("STREAMS_DAEMON_CRASH", "", 1);
		was = daemon_pid();
		in_call(pass_many, NULL);
		T_SOON((in_call(use_one, NULL), host_daemon(),
			daemon_pid() != was), 5000);
		T_SOON(all_kept(), 5000);
		in_call(fetch_many, NULL);
		T_SOON(numbers() == n, 5000);
	}
}

T_CASE(news_comes_once_for_each_arrival)
{
	int peer;
	struct host_call hc = { .fd = -1 };
	struct host_sock_event ev[4];

	setup();
	up_enter(&hc);
	peer = make(ID(1));
	T_FALSE(host_sock_watching());
	T_EQ(host_sock_watch(ID(1), HOST_C_IN), 0);
	T_TRUE(host_sock_watching());
	T_EQ(host_sock_events(ev, 4), 0);
	T_EQ(write(peer, "a", 1), 1);
	T_EQ(host_sock_events(ev, 4), 1);
	T_EQ(ev[0].id, ID(1));
	T_EQ(ev[0].events, HOST_C_IN);
	T_EQ(host_sock_events(ev, 4), 0);
	/* watched for something else: what is there is told again */
	T_EQ(host_sock_watch(ID(1), HOST_C_IN | HOST_C_OUT), 0);
	T_EQ(host_sock_events(ev, 4), 1);
	T_EQ(ev[0].events, HOST_C_IN | HOST_C_OUT);
	T_OK(close(peer));
	T_EQ(host_sock_events(ev, 4), 1);
	T_EQ(ev[0].events, HOST_C_IN | HOST_C_OUT | HOST_C_END);
	T_EQ(host_sock_watch(ID(1), 0), 0);
	T_FALSE(host_sock_watching());
	host_leave();
}

T_CASE(a_child_has_news_of_its_own)
{
	int peer, status;
	struct host_call hc = { .fd = -1 };
	struct host_sock_event ev[4];
	pid_t pid;

	setup();
	up_enter(&hc);
	peer = make(ID(1));
	T_EQ(host_sock_watch(ID(1), HOST_C_IN), 0);
	host_leave();
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		T_FALSE(host_sock_watching());
		T_EQ(host_sock_watch(ID(1), HOST_C_IN), 0);
		T_EQ(write(peer, "a", 1), 1);
		T_EQ(host_sock_events(ev, 4), 1);
		host_leave();
		_exit(0);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	up_enter(&hc);
	T_EQ(host_sock_events(ev, 4), 1);
	host_leave();
}

T_CASE(an_abort_is_a_reset_though_others_hold_it)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof sin;
	struct host_call hc = { .fd = -1 };
	int l, fd, peer;
	char c;

	setup();
	l = T_OK(socket(AF_INET, SOCK_STREAM, 0));
	T_OK(bind(l, (void *)&sin, sizeof sin));
	T_OK(listen(l, 2));
	T_OK(getsockname(l, (void *)&sin, &len));
	for (int abort = 0; abort < 2; abort++) {
		uint64_t id = ID(1 + 2 * abort);
		int other;

		up_enter(&hc);
		fd = host_sock_new(AF_INET, SOCK_STREAM, 0);
		T_GE(fd, 0);
		other = T_OK(dup(fd));
		live(id);
		T_EQ(host_sock_adopt(id, fd), 0);
		(void)host_sock_connect(id, &sin, sizeof sin);
		peer = T_OK(accept(l, NULL, NULL));
		host_sock_shut(id, abort != 0);
		/* an idle process has a duplicate still */
		if (abort) {
			T_EQ(recv(peer, &c, 1, 0), -1);
			T_EQ(errno, ECONNRESET);
		} else {
			T_EQ(recv(peer, &c, 1, 0), 0);
		}
		live(0);
		host_sock_gone(id, false);
		host_leave();
		(void)close(other);
		(void)close(peer);
	}
}

T_CASE(datagrams_go_and_come_many_at_a_time)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	uint32_t len = sizeof sin;
	struct host_call hc = { .fd = -1 };
	struct ksock_msg m[8];
	struct iovec iov[8];
	char buf[8][32];
	int fd, on = 1;

	setup();
	up_enter(&hc);
	fd = host_sock_new(AF_INET, SOCK_DGRAM, 0);
	T_GE(fd, 0);
	live(ID(1));
	T_EQ(host_sock_adopt(ID(1), fd), 0);
	T_EQ(host_sock_bind(ID(1), &sin, sizeof sin), 0);
	T_EQ(host_sock_name(ID(1), false, &sin, &len), 0);
	T_EQ(host_sock_connect(ID(1), &sin, sizeof sin), 0);
	memset(m, 0, sizeof m);
	for (int i = 0; i < 8; i++) {
		memset(buf[i], 'a' + i, sizeof buf[i]);
		iov[i] = (struct iovec){ buf[i], 10 };
		m[i].km_iov = &iov[i];
		m[i].km_iovlen = 1;
	}
	T_EQ(host_sock_sendmm(ID(1), m, 8, 0), 8);
	for (int i = 0; i < 8; i++)
		iov[i].iov_len = sizeof buf[i];
	memset(buf, 0, sizeof buf);
	T_EQ(host_sock_recvmm(ID(1), m, 8, 0), 8);
	for (int i = 0; i < 8; i++) {
		T_EQ(m[i].km_len, 10);
		T_EQ(buf[i][9], 'a' + i);
	}
	T_EQ(host_sock_recvmm(ID(1), m, 8, 0), -EAGAIN);
	/* one train of three, taken apart by the kernel */
	iov[0] = (struct iovec){ "abcdefghi", 9 };
	m[0].km_gso = 3;
	if (host_sock_sendmm(ID(1), m, 1, 0) == 1) {
		for (int i = 0; i < 8; i++)
			iov[i] = (struct iovec){ buf[i], sizeof buf[i] };
		T_EQ(host_sock_recvmm(ID(1), m, 8, 0), 3);
		T_EQ(m[2].km_len, 3);
		T_MEM(buf[2], "ghi", 3);
	}
	/* ... and left together */
	if (host_sock_setopt(ID(1), IPPROTO_UDP, 104, &on, sizeof on) == 0) {
		iov[0] = (struct iovec){ "abcdefghi", 9 };
		m[0].km_gso = 3;
		if (host_sock_sendmm(ID(1), m, 1, 0) == 1) {
			iov[0] = (struct iovec){ buf[0], sizeof buf[0] };
			T_EQ(host_sock_recvmm(ID(1), m, 1, 0), 1);
			T_EQ(m[0].km_len, 9);
			T_EQ(m[0].km_gso, 3);
		}
	}
	host_leave();
}

static void
on_alarm(int sig)
{
	(void)sig;
}

T_CASE(a_wait_ends_by_the_socket_by_time_and_by_a_signal)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct host_call hc = { .fd = -1 };
	uint32_t ev;
	int peer;

	setup();
	T_EQ(host_sigaction(SIGALRM, &sa, NULL), 0);
	up_enter(&hc);
	peer = make(ID(1));
	T_EQ(host_wait_sock(&hc, ID(1), HOST_C_IN, 2000000, &ev), ETIMEDOUT);
	T_EQ(write(peer, "x", 1), 1);
	T_EQ(host_wait_sock(&hc, ID(1), HOST_C_IN, UINT64_MAX, &ev), 0);
	T_EQ(ev, HOST_C_IN);
	T_EQ(host_wait_sock(&hc, ID(1), HOST_C_OUT, UINT64_MAX, &ev), 0);
	T_EQ(ev, HOST_C_OUT);
	T_EQ(host_wait_sock(&hc, ID(1), 0, UINT64_MAX, &ev), 0);
	T_EQ(ev, HOST_C_MORE);
	/* one that came before the wait, too */
	T_OK(raise(SIGALRM));
	host_leave();
	up_enter(&hc);
	T_OK(raise(SIGALRM));
	T_EQ(host_wait_sock(&hc, ID(1), HOST_C_OUT, UINT64_MAX, &ev), EINTR);
	host_leave();
}
