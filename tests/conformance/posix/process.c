/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Pipes across fork(), exec and posix_spawn(): who holds an end, and that the
 * new image, linked like its parent, finds the stream in its descriptors.
 */
#include "posix.h"

#include <sys/wait.h>

#include <spawn.h>

/* exec the helper; the arguments are strings */
#define p_exec(...) \
	p_exec_v((char *[]){ (char *)(uintptr_t)p_helper_path, __VA_ARGS__, \
		NULL })

static void
p_exec_v(char **argv)
{
	execv(argv[0], argv);
	p_die("exec of %s", argv[0]);
}

#define ARG(s) ((char[]){ s })

static char *
number(char buf[12], int n)
{
	snprintf(buf, 12, "%d", n);
	return buf;
}

/* POSIX fork(): the child's descriptors refer to the same descriptions */
T_CASE(a_child_reads_what_the_parent_writes)
{
	int fd[2];
	char buf[8];
	pid_t pid;

	p_pipe(fd);
	pid = fork();
	if (pid == 0) {
		T_OK(close(fd[1]));
		T_EQ(p_read_all(fd[0], buf, 8), 5u);
		T_MEM(buf, "hello", 5);
		_exit(0);
	}
	T_OK(close(fd[0]));
	T_EQ(write(fd[1], "hello", 5), 5);
	T_OK(close(fd[1]));
	T_TRUE(p_exited(pid, 0));
}

T_CASE(a_parent_reads_what_the_child_writes)
{
	int fd[2];
	char buf[8];
	pid_t pid;

	p_pipe(fd);
	pid = fork();
	if (pid == 0) {
		T_OK(close(fd[0]));
		T_EQ(write(fd[1], "hello", 5), 5);
		_exit(0);
	}
	T_OK(close(fd[1]));
	T_EQ(p_read_all(fd[0], buf, 8), 5u);
	T_MEM(buf, "hello", 5);
	T_TRUE(p_exited(pid, 0));
}

T_CASE(what_was_written_before_fork_is_read_once)
{
	int fd[2];
	char c;
	pid_t pid;

	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	p_nonblock(fd[0], 1);
	pid = fork();
	if (pid == 0) {
		T_EQ(read(fd[0], &c, 1), 1);
		T_ERR(read(fd[0], &c, 1), EAGAIN);
		_exit(0);
	}
	T_TRUE(p_exited(pid, 0));
	T_ERR(read(fd[0], &c, 1), EAGAIN);
}

/* POSIX read(): end of file is when no process has it open for writing */
T_CASE(end_of_file_waits_for_every_process_that_holds_the_writer)
{
	int fd[2], hold[2];
	char c;
	pid_t pid[5];

	p_pipe(fd);
	p_kernel_pipe(hold);
	for (int i = 0; i < 5; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			close(hold[1]);
			(void)!read(hold[0], &c, 1);
			_exit(0);
		}
	}
	T_OK(close(fd[1]));
	p_nonblock(fd[0], 1);
	for (int i = 0; i < 5; i++) {
		T_ERR(read(fd[0], &c, 1), EAGAIN);
		T_EQ(p_ready(fd[0], POLLIN, 0), 0);
		if (i < 4) {
			T_OK(kill(pid[i], SIGKILL));
			p_wait(pid[i], P_MS_LONG);
		}
	}
	T_OK(close(hold[1]));
	T_EQ(p_ready(fd[0], POLLIN, P_MS_LONG) & POLLHUP, POLLHUP);
	T_EQ(read(fd[0], &c, 1), 0);
	T_TRUE(p_exited(pid[4], 0));
}

/* POSIX _exit(): "all of the file descriptors ... are closed"; SIGKILL too */
T_CASE(a_killed_writer_is_an_end_of_file)
{
	static const int how[] = { SIGKILL, SIGTERM, SIGSEGV, 0 };
	struct p_call c;
	int fd[2];
	char b;
	pid_t pid;

	for (int i = 0; i < 4; i++) {
		p_pipe(fd);
		pid = fork();
		if (pid == 0) {
			signal(SIGSEGV, SIG_DFL);
			T_EQ(write(fd[1], "x", 1), 1);
			if (how[i] == 0)
				_exit(0);
			for (;;)
				pause();
		}
		T_OK(close(fd[1]));
		T_EQ(read(fd[0], &b, 1), 1);
		p_call(&c, P_READ, fd[0], &b, 1);
		if (how[i] != 0) {
			T_TRUE(p_call_blocks(&c));
			T_OK(kill(pid, how[i]));
		}
		T_TRUE(p_call_returns(&c, P_MS_LONG));
		T_EQ(c.ret, 0);
		T_NE(p_wait(pid, P_MS_LONG), -1);
		T_OK(close(fd[0]));
	}
}

T_CASE(a_killed_reader_gives_EPIPE_to_the_writer_that_waits)
{
	struct p_call c;
	int fd[2];
	pid_t pid;

	signal(SIGPIPE, SIG_IGN);
	p_pipe(fd);
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	T_OK(close(fd[0]));
	p_fill(fd[1]);
	p_call(&c, P_WRITE, fd[1], "x", 1);
	T_TRUE(p_call_blocks(&c));
	T_OK(kill(pid, SIGKILL));
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, -1);
	T_EQ(c.err, EPIPE);
	T_NE(p_wait(pid, P_MS_LONG), -1);
}

/* a writer that never waits must learn it too */
T_CASE(a_killed_reader_gives_EPIPE_to_a_writer_that_never_fills_the_pipe)
{
	double end = p_ms() + P_MS_LONG;
	ssize_t n = 1;
	int fd[2];
	pid_t pid;

	signal(SIGPIPE, SIG_IGN);
	p_pipe(fd);
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	T_OK(close(fd[0]));
	T_EQ(write(fd[1], "x", 1), 1);
	T_OK(kill(pid, SIGKILL));
	T_NE(p_wait(pid, P_MS_LONG), -1);
	while (n == 1 && p_ms() < end) {
		n = write(fd[1], "x", 1);
		p_pause(5);
	}
	T_EQ(n, -1);
	T_EQ(errno, EPIPE);
}

T_CASE(a_grandchild_of_an_exited_child_keeps_the_pipe_alive)
{
	int fd[2], go[2];
	char c;
	pid_t pid;

	p_pipe(fd);
	p_kernel_pipe(go);
	pid = fork();
	if (pid == 0) {
		if (fork() != 0)
			_exit(0);
		T_EQ(read(go[0], &c, 1), 1);
		T_EQ(write(fd[1], "g", 1), 1);
		_exit(0);
	}
	T_OK(close(fd[1]));
	T_TRUE(p_exited(pid, 0));
	T_EQ(p_ready(fd[0], POLLIN, 0), 0);
	T_EQ(write(go[1], "x", 1), 1);
	T_EQ(read(fd[0], &c, 1), 1);
	T_EQ(c, 'g');
	T_EQ(read(fd[0], &c, 1), 0);
}

/*
 * Fork while another thread is in the middle of a call on the pipe.  SIGCHLD is
 * blocked: while glibc 2.41 blocks it in the thread that forks, the kernel gives
 * it to the writer, whose call then returns early, although the signal is
 * ignored.
 */
T_CASE(fork_during_traffic_of_a_thread_leaves_both_sides_working)
{
	char *big = malloc(P_BIG);
	static char buf[65536];
	struct p_call c;
	int fd[2], own[2];
	size_t got = 0;
	sigset_t set;
	ssize_t n;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	T_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	p_pipe(fd);
	p_pipe(own);
	p_pattern(big, P_BIG, 0);
	p_call(&c, P_WRITE, fd[1], big, P_BIG);
	for (int i = 0; got < P_BIG; i++) {
		n = read(fd[0], buf, sizeof(buf));
		T_GT(n, 0);
		T_EQ(p_pattern_ok(buf, (size_t)n, got), (size_t)n);
		got += (size_t)n;
		if (i % 8 != 0 || i > 200)
			continue;
		pid = fork();
		if (pid == 0) {
			T_EQ(write(own[1], "abc", 3), 3);
			T_EQ(read(own[0], buf, 3), 3);
			_exit(0);
		}
		T_TRUE(p_exited(pid, 0));
	}
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, (long)P_BIG);
	free(big);
}

T_CASE(a_pipe_made_in_a_child_works_there)
{
	pid_t pid;

	p_warm_up();
	pid = fork();
	if (pid == 0) {
		int fd[2];

		p_pipe(fd);
		T_EQ(write(fd[1], "x", 1), 1);
		T_EQ(p_drain(fd[0]), 1u);
		pid = fork();
		if (pid == 0) {
			T_EQ(write(fd[1], "y", 1), 1);
			_exit(0);
		}
		T_TRUE(p_exited(pid, 0));
		T_EQ(p_drain(fd[0]), 1u);
		_exit(0);
	}
	T_TRUE(p_exited(pid, 0));
}

/* a first pipe made on both sides of a fork, by processes that had none */
T_CASE(parent_and_child_may_each_make_their_first_pipe)
{
	int fd[2];
	pid_t pid = fork();

	p_pipe(fd);
	T_EQ(write(fd[1], "xx", 2), 2);
	T_EQ(p_drain(fd[0]), 2u);
	if (pid == 0)
		_exit(0);
	T_TRUE(p_exited(pid, 0));
}

/*
 * POSIX exec: "File descriptors open in the calling process image shall
 * remain open in the new process image", here as 0 and 1.
 */
T_CASE(an_execed_program_copies_its_input_to_its_output)
{
	static char buf[200000], out[200000];
	int in[2], res[2];
	pid_t pid, feeder;

	p_pipe(in);
	p_pipe(res);
	pid = fork();
	if (pid == 0) {
		T_EQ(dup2(in[0], 0), 0);
		T_EQ(dup2(res[1], 1), 1);
		close_range(3, ~0u, 0);
		p_exec(ARG("cat"));
	}
	T_OK(close(in[0]));
	T_OK(close(res[1]));
	p_pattern(buf, sizeof(buf), 0);
	feeder = fork();
	if (feeder == 0) {
		close(res[0]);
		T_EQ(p_write_all(in[1], buf, sizeof(buf)), 0);
		_exit(0);
	}
	T_OK(close(in[1]));
	T_EQ(p_read_all(res[0], out, sizeof(out)), sizeof(out));
	T_EQ(p_pattern_ok(out, sizeof(out), 0), sizeof(out));
	T_EQ(read(res[0], out, 1), 0);
	T_TRUE(p_exited(feeder, 0));
	T_TRUE(p_exited(pid, 0));
}

T_CASE(an_execed_program_finds_what_was_written_before)
{
	int in[2], res[2];
	char buf[32];
	pid_t pid;

	p_pipe(in);
	p_pipe(res);
	T_EQ(write(in[1], "before", 6), 6);
	pid = fork();
	if (pid == 0) {
		T_EQ(dup2(in[0], 0), 0);
		T_EQ(dup2(res[1], 1), 1);
		close_range(3, ~0u, 0);
		p_exec(ARG("cat"));
	}
	T_OK(close(res[1]));
	T_EQ(read(res[0], buf, 32), 6);
	T_MEM(buf, "before", 6);
	T_EQ(write(in[1], "after", 5), 5);
	T_EQ(read(res[0], buf, 32), 5);
	T_MEM(buf, "after", 5);
	T_OK(close(in[1]));
	T_OK(close(in[0]));
	T_EQ(read(res[0], buf, 32), 0);
	T_TRUE(p_exited(pid, 0));
}

T_CASE(an_execed_program_sees_a_pipe_and_its_flags)
{
	char a[12];
	int fd[2];
	pid_t pid;

	p_pipe(fd);
	p_nonblock(fd[0], 1);
	pid = fork();
	if (pid == 0)
		p_exec(ARG("is-nonblocking-pipe"), number(a, fd[0]));
	T_TRUE(p_exited(pid, 0));
}

/* POSIX exec: descriptors with FD_CLOEXEC are closed, all others stay */
T_CASE(exec_closes_what_has_FD_CLOEXEC)
{
	char a[12], b[12];
	int fd[2];
	char c;
	pid_t pid;

	T_EQ(pipe2(fd, O_CLOEXEC), 0);
	T_OK(fcntl(fd[0], F_SETFD, 0));
	pid = fork();
	if (pid == 0)
		p_exec(ARG("open-and-closed"), number(a, fd[0]),
			number(b, fd[1]));
	T_TRUE(p_exited(pid, 0));
	T_OK(close(fd[1]));
	T_EQ(read(fd[0], &c, 1), 0);
}

T_CASE(exec_with_FD_CLOEXEC_is_an_end_of_file_for_the_reader)
{
	int fd[2], hold[2];
	char c;
	pid_t pid;

	T_EQ(pipe2(fd, O_CLOEXEC), 0);
	p_kernel_pipe(hold);
	pid = fork();
	if (pid == 0) {
		T_EQ(write(fd[1], "x", 1), 1);
		dup2(hold[0], 0);
		close(hold[0]);
		close(hold[1]);
		p_exec(ARG("until-eof"));
	}
	T_OK(close(fd[1]));
	T_EQ(read(fd[0], &c, 1), 1);
	T_EQ(p_ready(fd[0], POLLIN, P_MS_LONG) & POLLHUP, POLLHUP);
	T_EQ(read(fd[0], &c, 1), 0);
	T_OK(close(hold[1]));
	T_TRUE(p_exited(pid, 0));
}

/* ... an execed holder that never touches its end keeps it open */
T_CASE(an_end_that_an_execed_program_holds_is_still_open)
{
	int fd[2], hold[2];
	char c;
	pid_t pid;

	p_pipe(fd);
	p_kernel_pipe(hold);
	pid = fork();
	if (pid == 0) {
		dup2(hold[0], 0);
		close(hold[0]);
		close(hold[1]);
		close(fd[0]);
		p_exec(ARG("until-eof"));
	}
	T_OK(close(fd[1]));
	T_EQ(p_ready(fd[0], POLLIN, 150), 0);
	T_OK(close(hold[1]));
	T_EQ(p_ready(fd[0], POLLIN, P_MS_LONG) & POLLHUP, POLLHUP);
	T_EQ(read(fd[0], &c, 1), 0);
	T_TRUE(p_exited(pid, 0));
}

/* POSIX exec: on failure the process goes on as it was */
T_CASE(a_failed_exec_changes_nothing)
{
	char *argv[] = { ARG("nobody"), NULL };
	int fd[2];

	T_EQ(pipe2(fd, O_CLOEXEC), 0);
	T_EQ(write(fd[1], "x", 1), 1);
	T_ERR(execv("/nonexistent/program", argv), ENOENT);
	T_EQ(fcntl(fd[1], F_GETFD), FD_CLOEXEC);
	T_EQ(write(fd[1], "y", 1), 1);
	T_EQ(p_drain(fd[0]), 2u);
}

T_CASE(every_member_of_the_exec_family_hands_the_pipe_on)
{
	char *argv[] = { ARG("helper"), ARG("hello"), NULL };
	char buf[8];
	int fd[2];
	pid_t pid;

	for (int i = 0; i < 6; i++) {
		p_pipe(fd);
		pid = fork();
		if (pid == 0) {
			T_EQ(dup2(fd[1], 1), 1);
			switch (i) {
			case 0:
				execv(p_helper_path, argv);
				break;
			case 1:
				execve(p_helper_path, argv, environ);
				break;
			case 2:
				execvp(p_helper_path, argv);
				break;
			case 3:
				execl(p_helper_path, "h", "hello",
					(char *)NULL);
				break;
			case 4:
				execle(p_helper_path, "h", "hello",
					(char *)NULL, environ);
				break;
			case 5:
				execlp(p_helper_path, "h", "hello",
					(char *)NULL);
				break;
			}
			_exit(1);
		}
		T_OK(close(fd[1]));
		T_EQ(p_read_all(fd[0], buf, 8), 5u);
		T_MEM(buf, "hello", 5);
		T_OK(close(fd[0]));
		T_TRUE(p_exited(pid, 0));
	}
}

T_CASE(vfork_and_exec_hand_the_pipe_on)
{
	int in[2], res[2];
	char *volatile arg = ARG("cat");
	char buf[8];
	pid_t pid;

	T_EQ(pipe2(in, O_CLOEXEC), 0);
	T_EQ(pipe2(res, O_CLOEXEC), 0);
	pid = vfork();
	if (pid == 0) {
		if (dup2(in[0], 0) != 0 || dup2(res[1], 1) != 1)
			_exit(1);
		execl(p_helper_path, "helper", arg, (char *)NULL);
		_exit(2);
	}
	T_OK(close(in[0]));
	T_OK(close(res[1]));
	T_EQ(write(in[1], "v", 1), 1);
	T_EQ(read(res[0], buf, 8), 1);
	T_OK(close(in[1]));
	T_EQ(read(res[0], buf, 8), 0);
	T_TRUE(p_exited(pid, 0));
}

/* POSIX posix_spawn(): file actions in the order they were added */
T_CASE(posix_spawn_with_file_actions_hands_the_pipe_on)
{
	char *argv[] = { ARG("helper"), ARG("cat"), NULL };
	posix_spawn_file_actions_t fa;
	int in[2], res[2];
	char buf[8];
	pid_t pid;

	T_EQ(pipe2(in, O_CLOEXEC), 0);
	T_EQ(pipe2(res, O_CLOEXEC), 0);
	T_EQ(posix_spawn_file_actions_init(&fa), 0);
	T_EQ(posix_spawn_file_actions_adddup2(&fa, in[0], 0), 0);
	T_EQ(posix_spawn_file_actions_adddup2(&fa, res[1], 1), 0);
	T_EQ(posix_spawn_file_actions_addclose(&fa, in[1]), 0);
	T_EQ(posix_spawn(&pid, p_helper_path, &fa, NULL, argv, environ), 0);
	T_EQ(posix_spawn_file_actions_destroy(&fa), 0);
	T_OK(close(in[0]));
	T_OK(close(res[1]));
	T_EQ(write(in[1], "spawn", 5), 5);
	T_EQ(read(res[0], buf, 8), 5);
	T_MEM(buf, "spawn", 5);
	T_OK(close(in[1]));
	T_EQ(read(res[0], buf, 8), 0);
	T_TRUE(p_exited(pid, 0));
}

/* ... dup2 of a number onto itself clears FD_CLOEXEC (Issue 8) */
T_CASE(posix_spawn_keeps_what_dup2_names_twice)
{
	char a[12], b[12];
	char *argv[] = { ARG("helper"), ARG("open-and-closed"), NULL, NULL,
		NULL };
	posix_spawn_file_actions_t fa;
	int fd[2];
	pid_t pid;

	T_EQ(pipe2(fd, O_CLOEXEC), 0);
	argv[2] = number(a, fd[0]);
	argv[3] = number(b, fd[1]);
	T_EQ(posix_spawn_file_actions_init(&fa), 0);
	T_EQ(posix_spawn_file_actions_adddup2(&fa, fd[0], fd[0]), 0);
	T_EQ(posix_spawnp(&pid, p_helper_path, &fa, NULL, argv, environ), 0);
	T_EQ(posix_spawn_file_actions_destroy(&fa), 0);
	T_TRUE(p_exited(pid, 0));
}

/* a pipeline, each stage execed: what a shell makes of a | b | c | d */
T_CASE(a_pipeline_of_execed_programs_carries_everything)
{
	static char buf[300000], out[300000];
	int first[2], fd[2], prev;
	pid_t pid[4], feeder;

	p_pipe(first);
	prev = first[0];
	for (int i = 0; i < 4; i++) {
		p_pipe(fd);
		pid[i] = fork();
		if (pid[i] == 0) {
			dup2(prev, 0);
			dup2(fd[1], 1);
			close_range(3, ~0u, 0);
			p_exec(ARG("cat"));
		}
		T_OK(close(prev));
		T_OK(close(fd[1]));
		prev = fd[0];
	}
	p_pattern(buf, sizeof(buf), 0);
	feeder = fork();
	if (feeder == 0) {
		close(prev);
		T_EQ(p_write_all(first[1], buf, sizeof(buf)), 0);
		_exit(0);
	}
	T_OK(close(first[1]));
	T_EQ(p_read_all(prev, out, sizeof(out)), sizeof(out));
	T_EQ(p_pattern_ok(out, sizeof(out), 0), sizeof(out));
	T_EQ(read(prev, out, 1), 0);
	T_TRUE(p_exited(feeder, 0));
	for (int i = 0; i < 4; i++)
		T_TRUE(p_exited(pid[i], 0));
}

/* `yes | head': the last stage goes, the first dies of SIGPIPE */
T_CASE(the_first_stage_of_a_pipeline_dies_of_SIGPIPE_when_the_last_leaves)
{
	int fd[2], status;
	char buf[100];
	pid_t pid;

	p_pipe(fd);
	pid = fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		dup2(fd[1], 1);
		close_range(3, ~0u, 0);
		p_exec(ARG("yes"));
	}
	T_OK(close(fd[1]));
	T_GT(read(fd[0], buf, sizeof(buf)), 0);
	T_OK(close(fd[0]));
	status = p_wait(pid, P_MS_LONG);
	T_TRUE(WIFSIGNALED(status));
	T_EQ(WTERMSIG(status), SIGPIPE);
}
