/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Who holds a Stream: duplicates, children, other programs, receivers of a
 * descriptor.  All hold the same Stream, and it ends with the last of them.
 */
#include "st.h"

#include <spawn.h>
#include <sys/socket.h>

extern char **environ;

/* dup(2): both numbers name one Stream */
ST_ANY_CASE(a_duplicate_is_the_same_stream)
{
	int fd[2], d;

	st_pipe(t, fd);
	d = T_OK(dup(fd[0]));
	T_EQ(isastream(d), 1);
	T_OK(ioctl(d, I_PUSH, "nullmod"));
	T_EQ(ioctl(fd[0], I_FIND, "nullmod"), 1);
	T_OK(ioctl(d, I_SRDOPT, RMSGN));
	T_EQ(st_put(d, "by", "d", 0), 0);
	T_EQ(st_put(fd[0], "by", "fd", 0), 0);
	ST_GOT(fd[1], "by", "d");
	ST_GOT(fd[1], "by", "fd");
}

/* close(2): the Stream is hung up with its last descriptor, not before */
ST_CASE(the_last_duplicate_hangs_up)
{
	char c;
	int fd[2], d;

	st_pipe(t, fd);
	st_nonblock(fd[1]);
	d = T_OK(dup(fd[0]));
	T_OK(close(fd[0]));
	T_ERR(read(fd[1], &c, 1), EAGAIN);
	ST_WRITES(d, "x");
	ST_READS(fd[1], 1, "x");
	T_OK(close(d));
	T_SOON(read(fd[1], &c, 1) == 0, 2000);
}

/* dup2(2) onto an end closes it */
ST_CASE(dup2_over_an_end_hangs_it_up)
{
	char c;
	int fd[2], null;

	st_pipe(t, fd);
	null = T_OK(open("/dev/null", O_RDWR));
	T_EQ(dup2(null, fd[0]), fd[0]);
	T_EQ(read(fd[1], &c, 1), 0);
	T_EQ(isastream(fd[0]), 0);
	T_ERR(st_put(fd[0], "x", NULL, 0), ENOSTR);
}

/* dup2(2) of an end onto any number makes that number a Stream */
ST_ANY_CASE(dup2_makes_any_number_a_stream)
{
	int fd[2], n;

	st_pipe(t, fd);
	n = T_OK(open("/dev/null", O_RDWR));
	T_EQ(isastream(n), 0);
	T_EQ(dup2(fd[0], n), n);
	T_EQ(isastream(n), 1);
	T_EQ(st_put(n, "via", NULL, 0), 0);
	ST_GOT(fd[1], "via", NULL);
}

/* A number that is reused is what it was reused for. */
ST_ANY_CASE(a_reused_number_is_not_a_stream_any_more)
{
	struct st_msg m;
	int fd[2], n;

	st_pipe(t, fd);
	T_EQ(isastream(fd[0]), 1);
	T_OK(close(fd[0]));
	n = T_OK(open("/dev/null", O_RDWR));
	if (n != fd[0])
		n = T_OK(dup2(n, fd[0]));
	T_EQ(isastream(n), 0);
	T_ERR(st_get(n, &m, 0), ENOSTR);
	T_ERR(ioctl(n, I_NREAD, &m.band), ENOTTY);
	T_EQ(write(n, "x", 1), 1);
}

/* fcntl(2) F_DUPFD_CLOEXEC, F_GETFD as for every descriptor */
ST_ANY_CASE(fcntl_duplicates_a_stream)
{
	int fd[2], d;

	st_pipe(t, fd);
	d = T_OK(fcntl(fd[0], F_DUPFD_CLOEXEC, 50));
	T_GE(d, 50);
	T_EQ(fcntl(d, F_GETFD), FD_CLOEXEC);
	T_EQ(isastream(d), 1);
	T_EQ(st_put(d, "x", NULL, 0), 0);
	ST_GOT(fd[1], "x", NULL);
}

/* O_NONBLOCK belongs to the open file, which duplicates share */
ST_ANY_CASE(duplicates_share_nonblock)
{
	char c;
	int fd[2], d;

	st_pipe(t, fd);
	d = T_OK(dup(fd[1]));
	st_nonblock(d);
	T_TRUE(T_OK(fcntl(fd[1], F_GETFL)) & O_NONBLOCK);
	T_ERR(read(fd[1], &c, 1), EAGAIN);
}

/* The access mode of a pipe end is O_RDWR: "both directions". */
ST_CASE(both_ends_are_open_for_reading_and_writing)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(T_OK(fcntl(fd[0], F_GETFL)) & O_ACCMODE, O_RDWR);
	T_EQ(T_OK(fcntl(fd[1], F_GETFL)) & O_ACCMODE, O_RDWR);
}

/* fork(2): parent and child talk */
ST_CASE(a_child_talks_with_its_parent)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0) {
		T_OK(close(fd[0]));
		for (int i = 0; i < 100; i++) {
			ST_GOT(fd[1], "ping", "data");
			T_EQ(st_put(fd[1], NULL, "pong", 0), 0);
		}
		_exit(0);
	}
	T_OK(close(fd[1]));
	for (int i = 0; i < 100; i++) {
		T_EQ(st_put(fd[0], "ping", "data", 0), 0);
		ST_GOT(fd[0], NULL, "pong");
	}
	st_reap(pid);
}

/* fork(2), exit(2): the death of the last holder hangs up */
ST_CASE(the_exit_of_the_last_holder_hangs_up)
{
	char c;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0) {
		ST_WRITES(fd[0], "x");
		_exit(0);
	}
	T_OK(close(fd[0]));
	ST_READS(fd[1], 1, "x");
	T_EQ(read(fd[1], &c, 1), 0);
	st_reap(pid);
}

/* kill(2): so does a violent one, soon */
ST_CASE(the_killing_of_the_last_holder_hangs_up)
{
	struct st_msg m;
	int fd[2];
	pid_t pid, reader;

	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0)
		for (;;)
			pause();
	T_OK(close(fd[0]));
	reader = st_fork();
	if (reader == 0) {
		T_EQ(st_get(fd[1], &m, 0), 0);
		T_EQ(m.data_len, 0);
		_exit(0);
	}
	st_wait_asleep(reader);
	T_OK(kill(pid, SIGKILL));
	T_EQ(waitpid(pid, NULL, 0), pid);
	st_reap(reader);
}

/* fork(2): a child that holds an end keeps it open */
ST_ANY_CASE(a_child_keeps_an_end_open)
{
	int fd[2], *go = st_shared(sizeof *go);
	pid_t pid;

	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0) {
		T_SOON(__atomic_load_n(go, __ATOMIC_ACQUIRE) == 1, 4000);
		ST_WRITES(fd[0], "from the child");
		_exit(0);
	}
	T_OK(close(fd[0]));
	st_nonblock(fd[1]);
	T_ERR(read(fd[1], &(char){ 0 }, 1), EAGAIN);
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	T_SOON(st_queued(fd[1]) == 1, 2000);
	ST_READS(fd[1], 100, "from the child");
	st_reap(pid);
}

/* exec(2): an inherited end is a Stream in the new program */
ST_ANY_CASE(an_end_is_a_stream_in_an_execed_program)
{
	int fd[2];

	st_pipe(t, fd);
	st_reap(st_helper("isastream", fd[0], fd[1]));
}

/* exec(2): it sends messages with bands */
ST_ANY_CASE(an_execed_program_sends_messages)
{
	struct st_msg m;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	pid = st_helper("putpmsg", fd[0], fd[0]);
	T_EQ(st_getp(fd[1], &m, 0, MSG_ANY), 0);
	ST_IS(&m, "helper", "says");
	T_EQ(m.band, 7);
	st_reap(pid);
}

/* exec(2): it pushes and pops */
ST_CASE(an_execed_program_pushes_and_pops)
{
	int fd[2];

	st_pipe(t, fd);
	st_reap(st_helper("push", fd[0], fd[0]));
	T_EQ(ioctl(fd[0], I_FIND, "nullmod"), 1);
	ST_WRITES(fd[0], "x");
	ST_READS(fd[1], 1, "x");
	st_reap(st_helper("pop", fd[0], fd[0]));
	T_EQ(ioctl(fd[0], I_LIST, NULL), 0);
}

/* exec(2): a conversation with a program that reads and writes */
ST_CASE(an_execed_program_echoes)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	pid = st_helper("echo", fd[1], fd[1]);
	T_OK(close(fd[1]));
	for (int i = 0; i < 100; i++) {
		ST_WRITES(fd[0], "echo this");
		ST_READS(fd[0], 9, "echo this");
	}
	T_OK(close(fd[0]));
	st_reap(pid);
}

/* exec(2): what was queued before waits for the new program */
ST_CASE(queued_data_survives_exec)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	ST_WRITES(fd[0], "before");
	pid = st_helper("echo", fd[1], fd[1]);
	T_OK(close(fd[1]));
	ST_READS(fd[0], 6, "before");
	T_OK(close(fd[0]));
	st_reap(pid);
}

/* exec(2): close-on-exec closes, and hangs up */
ST_CASE(close_on_exec_hangs_up)
{
	char c;
	int fd[2], other[2];
	pid_t pid;

	st_pipe(t, fd);
	st_pipe_more(other);
	T_OK(fcntl(fd[0], F_SETFD, FD_CLOEXEC));
	pid = st_helper("hold", other[0], other[0]);
	T_OK(close(fd[0]));
	T_EQ(read(fd[1], &c, 1), 0);
	T_OK(kill(pid, SIGKILL));
	T_EQ(waitpid(pid, NULL, 0), pid);
}

/* posix_spawn(3): as fork and exec */
ST_CASE(a_spawned_program_inherits_a_stream)
{
	posix_spawn_file_actions_t fa;
	char *args[] = { (char[]){ "helper" }, NULL };
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	T_EQ(posix_spawn_file_actions_init(&fa), 0);
	T_EQ(posix_spawn_file_actions_adddup2(&fa, fd[1], 0), 0);
	T_EQ(posix_spawn_file_actions_adddup2(&fa, fd[1], 1), 0);
	T_EQ(posix_spawn_file_actions_addclose(&fa, fd[0]), 0);
	T_EQ(posix_spawn_file_actions_addclose(&fa, fd[1]), 0);
	T_OK(setenv("ST_HELPER", "echo", 1));
	T_EQ(posix_spawn(&pid, "/proc/self/exe", &fa, NULL, args, environ), 0);
	T_OK(unsetenv("ST_HELPER"));
	posix_spawn_file_actions_destroy(&fa);
	T_OK(close(fd[1]));
	ST_WRITES(fd[0], "spawned");
	ST_READS(fd[0], 7, "spawned");
	T_OK(close(fd[0]));
	st_reap(pid);
}

static void
send_fd(int sock, int fd)
{
	char c = 'x', ctl[CMSG_SPACE(sizeof fd)];
	struct iovec iov = { &c, 1 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = ctl, .msg_controllen = sizeof ctl };
	struct cmsghdr *cm = CMSG_FIRSTHDR(&mh);

	memset(ctl, 0, sizeof ctl);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(cm), &fd, sizeof fd);
	T_EQ(sendmsg(sock, &mh, 0), 1);
}

static int
receive_fd(int sock)
{
	char c, ctl[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &c, 1 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = ctl, .msg_controllen = sizeof ctl };
	int fd;

	T_EQ(recvmsg(sock, &mh, 0), 1);
	T_NOTNULL(CMSG_FIRSTHDR(&mh));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&mh)), sizeof fd);
	return fd;
}

/* unix(7) SCM_RIGHTS: the receiver holds the same Stream */
ST_CASE(a_passed_end_is_the_same_stream)
{
	struct st_msg m;
	int fd[2], sv[2];
	pid_t pid;

	st_pipe(t, fd);
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	pid = st_fork();
	if (pid == 0) {
		int e;

		T_OK(close(fd[0]));
		T_OK(close(fd[1]));
		e = receive_fd(sv[1]);
		T_EQ(isastream(e), 1);
		ST_GOT(e, "for", "you");
		T_OK(ioctl(e, I_PUSH, "srvmod"));
		T_EQ(st_putp(e, "thank", "you", 3, MSG_BAND), 0);
		T_EQ(st_get(e, &m, 0), 0);	/* until the other closes */
		T_EQ(m.data_len, 0);
		_exit(0);
	}
	T_EQ(st_put(fd[0], "for", "you", 0), 0);
	send_fd(sv[0], fd[1]);
	T_OK(close(fd[1]));
	T_EQ(st_getp(fd[0], &m, 0, MSG_ANY), 0);
	ST_IS(&m, "thank", "you");
	T_EQ(m.band, 3);
	T_OK(close(fd[0]));
	st_reap(pid);
}

/* An end inside a socket is held, though by no process. */
ST_CASE(an_end_on_its_way_is_not_hung_up)
{
	char c;
	int fd[2], sv[2], e;

	st_pipe(t, fd);
	st_nonblock(fd[0]);
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	send_fd(sv[0], fd[1]);
	T_OK(close(fd[1]));
	T_ERR(read(fd[0], &c, 1), EAGAIN);
	ST_WRITES(fd[0], "wait for it");
	e = receive_fd(sv[1]);
	ST_READS(e, 100, "wait for it");
	send_fd(sv[0], e);
	T_OK(close(e));
	T_OK(close(sv[0]));
	T_OK(close(sv[1]));
	T_SOON(read(fd[0], &c, 1) == 0, 2000);
}

/* Several processes may write one end: messages stay whole. */
ST_ANY_CASE(messages_of_several_writers_do_not_mix)
{
	enum { WRITERS = 4, EACH = 100 };
	int fd[2], next[WRITERS] = { 0 };
	pid_t pid[WRITERS];
	struct st_msg m;

	st_pipe(t, fd);
	st_marks(fd[1], 2000, 500);
	for (int w = 0; w < WRITERS; w++) {
		pid[w] = st_fork();
		if (pid[w] != 0)
			continue;
		for (int i = 0; i < EACH; i++) {
			char ctl[2] = { (char)('A' + w), 0 };
			char data[64];

			memset(data, 'a' + i % 26, sizeof data);
			data[10 + w * 7 + i % 13] = '\0';
			T_EQ(st_put(fd[0], ctl, data, 0), 0);
		}
		_exit(0);
	}
	for (int i = 0; i < WRITERS * EACH; i++) {
		int w, n;

		T_EQ(st_get(fd[1], &m, 0), 0);
		T_EQ(m.ctl_len, 1);
		w = m.ctl[0] - 'A';
		T_TRUE(w >= 0 && w < WRITERS);
		n = next[w]++;
		T_EQ(m.data_len, 10 + w * 7 + n % 13);
		for (int k = 0; k < m.data_len; k++)
			T_EQ(m.data[k], 'a' + n % 26);
	}
	for (int w = 0; w < WRITERS; w++)
		st_reap(pid[w]);
}

/* Several readers: each message goes to exactly one. */
ST_CASE(each_message_has_one_reader)
{
	enum { READERS = 3, ALL = 300 };
	int fd[2], *seen = st_shared(ALL * sizeof *seen);
	pid_t pid[READERS];

	st_pipe(t, fd);
	for (int r = 0; r < READERS; r++) {
		pid[r] = st_fork();
		if (pid[r] != 0)
			continue;
		T_OK(close(fd[0]));
		for (;;) {
			struct st_msg m;
			int n;

			T_EQ(st_get(fd[1], &m, 0), 0);
			if (m.data_len != (int)sizeof n)
				break;
			memcpy(&n, m.data, sizeof n);
			T_TRUE(n >= 0 && n < ALL);
			__atomic_add_fetch(&seen[n], 1, __ATOMIC_RELAXED);
		}
		_exit(0);
	}
	for (int i = 0; i < ALL; i++) {
		struct strbuf d = { 0, sizeof i, (char *)&i };

		T_EQ(putmsg(fd[0], NULL, &d, 0), 0);
	}
	T_OK(close(fd[0]));
	for (int r = 0; r < READERS; r++)
		st_reap(pid[r]);
	for (int i = 0; i < ALL; i++)
		T_EQ(seen[i], 1);
}
