/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Another user against a domain: docs/security.md, "Other users".
 *
 * The victim's processes use all that has an address: a reader that is asleep
 * and is interrupted by a handler, streams that are opened and closed,
 * descriptors that are passed, endpoints over sockets of the system, which
 * streamsd is told of anew each time when it was killed.  The attacker is a
 * process of another user in the same network namespace.  It knows every name
 * in /proc/net/unix, present and past, tries to bind it, sends descriptors and
 * letters to it, connects to it, and tries to remove or replace its file.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xti.h>

/* Names that XTI and the harness both have. */
#undef T_NULL
#undef T_UNUSED

#include <t.h>

#define VICTIM 1000u
#define ATTACKER 65534u
#define SECONDS 6
#define NAMES 4096
#define ROLES 6

/* What all processes of a case see. */
static struct board {
	volatile int stop, over, abstract, paths; /* names that were seen */
	volatile int bound, reached, received, removed, tries;
	volatile int interrupted, kills;
	volatile uint64_t sent, read, passed, got, opens, datagrams;
} *board;

static char home[64];

static void
cleanup(void)
{
	char cmd[256];

	snprintf(cmd, sizeof cmd, "rm -rf %s", home);
	if (home[0] != '\0')
		(void)!system(cmd);
}

static void
loopback_up(void)
{
	struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int s = T_OK(socket(AF_INET, SOCK_DGRAM, 0));

	T_OK(ioctl(s, SIOCSIFFLAGS, &ifr));
	T_OK(close(s));
}

/* In a network namespace where all names are the victim's. */
static void
begin(void)
{
	if (geteuid() != 0)
		T_SKIP("only root can be two users");
	if (unshare(CLONE_NEWNET) != 0)
		T_SKIP("no network namespace: %s", strerror(errno));
	loopback_up();
	board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_TRUE(board != MAP_FAILED);
	snprintf(home, sizeof home, "/tmp/attack-%d", getpid());
	T_OK(mkdir(home, 0700));
	t_at_end(cleanup);
	T_OK(chown(home, VICTIM, VICTIM));
	T_OK(setenv("XDG_RUNTIME_DIR", home, 1));
}

/* How fast the victim and the killer go: nothing is waited for. */
static void
pace(unsigned us)
{
	(void)usleep(us); /* lint-ok: it is the load */
}

/* A child that is @uid for good. */
static pid_t
as(uid_t uid, void (*fn)(void))
{
	pid_t pid = T_OK(fork());

	if (pid != 0)
		return pid;
	if (setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0)
		_exit(77);
	if (uid == VICTIM && access(getenv("STREAMS_DAEMON"), X_OK) != 0)
		_exit(78);
	fn();
	_exit(0);
}

static void
child_ok(pid_t pid)
{
	int status;

	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		T_SKIP("this namespace has not both users");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 78)
		T_SKIP("another user cannot execute streamsd from here");
	T_EQ(status, 0);
}

static int
has_ended(pid_t pid)
{
	siginfo_t si = {0};

	return waitid(P_PID, pid, &si, WEXITED | WNOHANG | WNOWAIT) != 0 ||
		si.si_pid != 0;
}

/* ---------------------------------------------------------------- victims */

static int spx[2], fifo;

static void
spx_pair(void)
{
	struct strfdinsert fi;
	char token[sizeof(int)];

	spx[0] = T_OK(open("/dev/spx", O_RDWR));
	spx[1] = T_OK(open("/dev/spx", O_RDWR));
	memset(&fi, 0, sizeof fi);
	fi.ctlbuf.buf = token;
	fi.ctlbuf.len = sizeof token;
	fi.databuf.len = -1;
	fi.fildes = spx[1];
	T_OK(ioctl(spx[0], I_FDINSERT, &fi));
}

/* Numbered records; now and then so late that the reader sleeps deeply. */
static void
writer(void)
{
	for (uint64_t i = 1; !board->stop; i++) {
		T_EQ(write(spx[0], &i, sizeof i), (ssize_t)sizeof i);
		board->sent = i;
		pace(i % 8 == 0 ? 70000 : 1000);
	}
}

static void
on_alarm(int sig)
{
	(void)sig;
}

static void
reader(void)
{
	struct sigaction sa = {.sa_handler = on_alarm};
	struct itimerval it = {{0, 7000}, {0, 7000}};
	uint64_t i = 0, v;
	ssize_t n;

	T_OK(sigaction(SIGALRM, &sa, NULL));
	T_OK(setitimer(ITIMER_REAL, &it, NULL));
	while (!board->over || i < board->sent) {
		n = read(spx[1], &v, sizeof v);
		if (n == -1 && errno == EINTR) {
			board->interrupted++;
			continue;
		}
		T_EQ(n, (ssize_t)sizeof v);
		T_EQ(v, ++i);
		board->read = i;
	}
}

/* Streams that come and go, so that addresses do. */
static void
opener(void)
{
	char buf[8];
	int fd;

	while (!board->stop) {
		fd = T_OK(open("/dev/echo", O_RDWR));
		T_EQ(write(fd, "there", 5), 5);
		T_EQ(read(fd, buf, sizeof buf), 5);
		T_OK(close(fd));
		board->opens++;
		pace(500);
	}
}

static void
passer(void)
{
	for (uint64_t i = 1; !board->stop; i++) {
		int fd = T_OK((int)syscall(SYS_memfd_create, "n", 0));

		T_EQ(write(fd, &i, sizeof i), (ssize_t)sizeof i);
		while (ioctl(fifo, I_SENDFD, fd) != 0) {
			T_EQ(errno, EAGAIN);
			pace(1000);
		}
		T_OK(close(fd));
		board->passed = i;
		pace(2000);
	}
}

static void
taker(void)
{
	struct strrecvfd r;
	uint64_t i = 0, v;

	while (!board->over || i < board->passed) {
		if (ioctl(fifo, I_RECVFD, &r) != 0) {
			T_EQ(errno, EAGAIN);
			pace(1000);
			continue;
		}
		T_EQ(pread(r.fd, &v, sizeof v, 0), (ssize_t)sizeof v);
		T_EQ(v, ++i);
		T_OK(close(r.fd));
		board->got = i;
	}
}

/* What streamsd has a descriptor of, and is told of by letters. */
static void
endpoint(void)
{
	struct sockaddr_in sin[2];
	struct t_unitdata out, in;
	struct t_bind ret;
	uint64_t v, w;
	int fd[2], flags;

	for (int i = 0; i < 2; i++) {
		fd[i] = t_open("/dev/udp", O_RDWR, NULL);
		T_GE(fd[i], 0);
		memset(&sin[i], 0, sizeof sin[i]);
		memset(&ret, 0, sizeof ret);
		ret.addr.maxlen = sizeof sin[i];
		ret.addr.buf = &sin[i];
		T_EQ(t_bind(fd[i], NULL, &ret), 0);
		sin[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	for (v = 1; !board->stop; v++) {
		memset(&out, 0, sizeof out);
		out.addr.buf = &sin[1];
		out.addr.len = sizeof sin[1];
		out.udata.buf = (char *)&v;
		out.udata.len = sizeof v;
		T_EQ(t_sndudata(fd[0], &out), 0);
		memset(&in, 0, sizeof in);
		in.udata.buf = (char *)&w;
		in.udata.maxlen = sizeof w;
		T_EQ(t_rcvudata(fd[1], &in, &flags), 0);
		T_EQ(w, v);
		board->datagrams = v;
		pace(3000);
	}
}

/* Kill every streamsd of this user. */
static int
kill_streamsd(void)
{
	DIR *d = opendir("/proc");
	char path[300], comm[32];
	struct dirent *e;
	struct stat st;
	int n = 0, fd;

	T_NOTNULL(d);
	while ((e = readdir(d)) != NULL) {
		memset(comm, 0, sizeof comm);
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%s/comm", e->d_name);
		fd = open(path, O_RDONLY);
		if (fd < 0)
			continue;
		(void)!read(fd, comm, sizeof comm - 1);
		if (strncmp(comm, "streamsd", 8) == 0 &&
		    fstat(fd, &st) == 0 && st.st_uid == VICTIM)
			n += kill(atoi(e->d_name), SIGKILL) == 0;
		(void)close(fd);
	}
	if (d != NULL)
		closedir(d);
	return n;
}

static void
victim(void)
{
	static void (*const role[ROLES])(void) = {writer, opener, passer,
		endpoint, reader, taker};
	pid_t pid[ROLES];
	int i;

	spx_pair();
	fifo = T_OK(open("/dev/fifo.7", O_RDWR | O_NONBLOCK));
	for (i = 0; i < ROLES; i++)
		if ((pid[i] = T_OK(fork())) == 0) {
			role[i]();
			_exit(0);
		}
	for (i = 0; i < SECONDS * 1000 / 300; i++) {
		pace(300000);
		board->kills += kill_streamsd();
	}
	board->stop = 1;
	for (i = 0; i < ROLES; i++) {
		if (i == 4)
			board->over = 1;
		child_ok(pid[i]);
	}
}

/* --------------------------------------------------------------- attacker */

static struct name {
	struct sockaddr_un sun;
	socklen_t len;
	int trap; /* a socket that we have there, or -1 */
} known[NAMES];
static int nknown;

static void
learn(const char *text)
{
	struct name *n = &known[nknown];

	if (nknown == NAMES || strlen(text) > sizeof n->sun.sun_path - 1)
		return;
	n->sun.sun_family = AF_UNIX;
	strcpy(n->sun.sun_path, text);
	n->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
		strlen(text));
	if (text[0] == '@') {
		for (size_t i = 0; i < strlen(text); i++)
			if (n->sun.sun_path[i] == '@')
				n->sun.sun_path[i] = '\0';
	} else {
		n->len++;
	}
	for (int i = 0; i < nknown; i++)
		if (known[i].len == n->len &&
		    memcmp(&known[i].sun, &n->sun, n->len) == 0)
			return;
	n->trap = -1;
	nknown++;
	if (text[0] == '@')
		board->abstract++;
	else
		board->paths++;
}

static void
learn_all(void)
{
	FILE *f = fopen("/proc/net/unix", "r");
	char line[512], path[256];

	T_NOTNULL(f);
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %255s", path) == 1)
			learn(path);
	(void)fclose(f);
}

/* A letter, a packet with a descriptor, a token: all kinds, all lengths. */
static void
reach(const struct name *n)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} u = {.h = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	uint64_t text[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	struct iovec iov = {text, 8 * (1 + (size_t)board->tries % 8)};
	struct msghdr m = {.msg_name = (void *)(uintptr_t)&n->sun,
		.msg_namelen = n->len, .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u};
	int s = socket(AF_UNIX, SOCK_DGRAM, 0), zero = 0;

	memcpy(CMSG_DATA(&u.h), &zero, sizeof zero);
	board->reached += sendmsg(s, &m, MSG_DONTWAIT) >= 0 ||
		errno == EAGAIN ||
		connect(s, (const void *)&n->sun, n->len) == 0;
	(void)close(s);
}

/* Is what we have bound sent something? */
static void
spring(struct name *n)
{
	char buf[4096];

	if (n->trap >= 0 &&
	    recv(n->trap, buf, sizeof buf, MSG_DONTWAIT) >= 0)
		board->received++;
}

static void
replace(const struct name *n)
{
	char dir[200], other[210];
	char *slash;

	strcpy(dir, n->sun.sun_path); /* empty: an abstract name */
	slash = strrchr(dir, '/');
	if (slash == NULL)
		return;
	board->removed += unlink(dir) == 0;
	board->removed += chmod(dir, 0777) == 0;
	*slash = '\0';
	snprintf(other, sizeof other, "%s-", dir);
	board->removed += rename(dir, other) == 0;
	board->removed += rmdir(dir) == 0;
	board->reached += open(dir, O_RDONLY | O_DIRECTORY) >= 0;
}

static void
attack(void)
{
	while (!board->stop) {
		learn_all();
		for (int i = 0; i < nknown && !board->stop; i++) {
			struct name *n = &known[i];

			board->tries++;
			spring(n);
			if (n->trap >= 0)
				continue;
			n->trap = socket(AF_UNIX, SOCK_DGRAM, 0);
			if (n->trap >= 0 && bind(n->trap, (void *)&n->sun,
					n->len) == 0) {
				board->bound++;
				continue;
			}
			(void)close(n->trap);
			n->trap = -1;
			reach(n);
			replace(n);
		}
	}
}

T_CASE_TIMEOUT(another_user_reaches_nothing_and_nothing_is_lost, 60)
{
	pid_t a, v;

	begin();
	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	v = as(VICTIM, victim);
	a = as(ATTACKER, attack);
	T_SOON(board->stop || has_ended(v), 4000 * SECONDS);
	if (!board->stop)
		child_ok(v);
	child_ok(a);
	printf("# bound %d, received there %d, reached %d, removed %d\n",
		board->bound, board->received, board->reached, board->removed);
	(void)fflush(stdout);
	T_EQ(board->bound, 0);
	T_EQ(board->received, 0);
	T_EQ(board->reached, 0);
	T_EQ(board->removed, 0);
	T_EQ(board->abstract, 0);
	child_ok(v);
	printf("# %d names, %d tries; %d records, %d descriptors, %d opens, %d "
		"datagrams, %d kills, %d interrupts\n", board->paths,
		board->tries, (int)board->read, (int)board->got,
		(int)board->opens, (int)board->datagrams, board->kills,
		board->interrupted);
	/* there was something to attack, and it went on */
	T_GT(board->paths, 4);
	T_GT(board->tries, 100);
	T_GT(board->kills, 4);
	T_GT(board->interrupted, 10);
	T_GT(board->read, 100u);
	T_EQ(board->read, board->sent);
	T_GT(board->got, 50u);
	T_EQ(board->got, board->passed);
	T_GT(board->opens, 50u);
	T_GT(board->datagrams, 20u);
}

/* ------------------------------------------------------------- afterwards */

static void
die(void)
{
	spx_pair();
	board->sent = 1;
	reader();
}

/* Names in @path, which it appends to. */
static int
names_in(char *path, size_t size, const char *prefix)
{
	struct dirent *e;
	DIR *d = opendir(path);
	size_t len = strlen(path);
	int n = 0;

	while (d != NULL && (e = readdir(d)) != NULL)
		if (strncmp(e->d_name, prefix, strlen(prefix)) == 0 &&
		    e->d_name[0] != '.') {
			snprintf(path + len, size - len, "/%s", e->d_name);
			n++;
		}
	if (d != NULL)
		closedir(d);
	return n;
}

static void
again(void)
{
	char c;

	spx_pair();
	T_EQ(write(spx[0], "x", 1), 1);
	T_EQ(read(spx[1], &c, 1), 1);
}

T_CASE_TIMEOUT(what_a_crash_leaves_is_out_of_reach_and_goes_with_the_next, 60)
{
	char path[300], left[300];
	pid_t v;
	int status;

	begin();
	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	v = as(VICTIM, die);
	T_SOON(board->sent != 0 || has_ended(v), 10000);
	if (board->sent == 0)
		child_ok(v);
	T_EQ(board->sent, 1u);
	pace(200000); /* it is asleep, and has a bell */
	T_OK(kill(v, SIGSTOP));
	T_GT(kill_streamsd(), 0);
	T_OK(kill(v, SIGKILL));
	T_EQ(waitpid(v, &status, 0), v);
	snprintf(path, sizeof path, "%s/streams", home);
	T_EQ(names_in(path, sizeof path, "streams-sock-"), 1);
	strcpy(left, path);
	T_GE(names_in(path, sizeof path, ""), 2);
	/* the attacker can do nothing with it: the bare names, too */
	learn(path);
	v = T_OK(fork());
	if (v == 0) {
		T_OK(setresuid(ATTACKER, ATTACKER, ATTACKER));
		T_ERR(bind(socket(AF_UNIX, SOCK_DGRAM, 0),
			(void *)&known[0].sun, known[0].len), EACCES);
		reach(&known[0]);
		replace(&known[0]);
		_exit(0);
	}
	child_ok(v);
	T_EQ(board->reached, 0);
	T_EQ(board->removed, 0);
	/* a killed process keeps its lock until it has ended */
	T_SOON((child_ok(as(VICTIM, again)), access(left, F_OK) != 0), 10000);
	snprintf(path, sizeof path, "%s/streams", home);
	T_SOON(access(path, F_OK) != 0, 10000);
}
