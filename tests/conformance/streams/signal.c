/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Signals: I_SETSIG, I_GETSIG, I_ESETSIG, I_EGETSIG, M_SIG and M_PCSIG.
 * The text is streamio(7I), strsignal in the SVR4 texts of M_SIG(9), and POSIX
 * ioctl().
 */
#include "st.h"

#include <asm/sockios.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

static volatile sig_atomic_t polls, urgs, usrs;

static void
count(int sig)
{
	if (sig == SIGPOLL)
		polls++;
	else if (sig == SIGURG)
		urgs++;
	else
		usrs++;
}

static void
handlers(void)
{
	struct sigaction sa = { .sa_handler = count };

	T_OK(sigaction(SIGPOLL, &sa, NULL));
	T_OK(sigaction(SIGURG, &sa, NULL));
	T_OK(sigaction(SIGUSR1, &sa, NULL));
	signal(SIGPIPE, SIG_IGN);
}

static void
begin(struct t *t, int fd[2], int events)
{
	st_pipe(t, fd);
	handlers();
	T_OK(ioctl(fd[1], I_SETSIG, events));
}

/* I_GETSIG: "returns the events ... currently registered" */
ST_ANY_CASE(i_getsig_gives_what_i_setsig_set)
{
	int fd[2], v = -1;

	begin(t, fd, S_INPUT | S_HANGUP);
	T_EQ(ioctl(fd[1], I_GETSIG, &v), 0);
	T_EQ(v, S_INPUT | S_HANGUP);
	T_OK(ioctl(fd[1], I_SETSIG, S_HIPRI));
	T_EQ(ioctl(fd[1], I_GETSIG, &v), 0);
	T_EQ(v, S_HIPRI);
}

/* I_SETSIG: "zero ... deregister"; I_GETSIG: "EINVAL not registered" */
ST_ANY_CASE(i_setsig_of_zero_ends_a_registration)
{
	int fd[2], v;

	begin(t, fd, S_INPUT);
	T_OK(ioctl(fd[1], I_SETSIG, 0));
	T_ERR(ioctl(fd[1], I_GETSIG, &v), EINVAL);
	T_ERR(ioctl(fd[1], I_SETSIG, 0), EINVAL);
	ST_WRITES(fd[0], "x");
	T_EQ(polls, 0);
}

/* I_SETSIG: every event may be asked for */
ST_ANY_CASE(i_setsig_takes_all_events)
{
	int fd[2], v = 0;

	begin(t, fd, 0x3ff);
	T_EQ(ioctl(fd[1], I_GETSIG, &v), 0);
	T_EQ(v, 0x3ff);
}

/* I_SETSIG S_INPUT: "any message other than M_PCPROTO has arrived" */
ST_ANY_CASE(s_input_signals_data)
{
	int fd[2];

	begin(t, fd, S_INPUT);
	ST_WRITES(fd[0], "x");
	T_SOON(polls == 1, 2000);
}

/* The same for a message through putmsg(), and one with control only */
ST_ANY_CASE(s_input_signals_control_messages)
{
	int fd[2];

	begin(t, fd, S_INPUT);
	T_EQ(st_put(fd[0], "c", NULL, 0), 0);
	T_SOON(polls == 1, 2000);
	ST_GOT(fd[1], "c", NULL);
	T_EQ(st_put(fd[0], "c", "d", 0), 0);
	T_SOON(polls == 2, 2000);
}

/* I_SETSIG S_INPUT: bands are no exception */
ST_ANY_CASE(s_input_signals_bands)
{
	int fd[2];

	begin(t, fd, S_INPUT);
	T_EQ(st_putp(fd[0], NULL, "b", 3, MSG_BAND), 0);
	T_SOON(polls == 1, 2000);
}

/* I_SETSIG S_INPUT: "other than M_PCPROTO" */
ST_ANY_CASE(s_input_does_not_signal_high_priority)
{
	int fd[2];

	begin(t, fd, S_INPUT);
	T_EQ(st_put(fd[0], "hi", NULL, RS_HIPRI), 0);
	T_EQ(polls, 0);
}

/* I_SETSIG S_RDNORM: ordinary messages */
ST_ANY_CASE(s_rdnorm_signals_band_zero_only)
{
	int fd[2];

	begin(t, fd, S_RDNORM);
	T_EQ(st_putp(fd[0], NULL, "b", 3, MSG_BAND), 0);
	T_EQ(st_put(fd[0], "hi", NULL, RS_HIPRI), 0);
	T_EQ(polls, 0);
	T_EQ(st_putp(fd[0], NULL, "n", 0, MSG_BAND), 0);
	T_SOON(polls == 1, 2000);
}

/* I_SETSIG S_RDBAND: bands above 0 */
ST_ANY_CASE(s_rdband_signals_bands_only)
{
	int fd[2];

	begin(t, fd, S_RDBAND);
	ST_WRITES(fd[0], "x");
	T_EQ(polls, 0);
	T_EQ(st_putp(fd[0], NULL, "b", 3, MSG_BAND), 0);
	T_SOON(polls == 1, 2000);
	T_EQ(urgs, 0);
}

/* I_SETSIG S_BANDURG: "SIGURG is generated instead of SIGPOLL" */
ST_ANY_CASE(s_bandurg_makes_it_sigurg)
{
	int fd[2];

	begin(t, fd, S_RDBAND | S_BANDURG | S_INPUT);
	T_EQ(st_putp(fd[0], NULL, "b", 3, MSG_BAND), 0);
	T_SOON(urgs == 1, 2000);
	T_EQ(polls, 0);
	ST_WRITES(fd[0], "x");
	T_SOON(polls == 1, 2000);
	T_EQ(urgs, 1);
}

/* I_SETSIG S_HIPRI */
ST_ANY_CASE(s_hipri_signals_high_priority)
{
	int fd[2];

	begin(t, fd, S_HIPRI);
	ST_WRITES(fd[0], "x");
	T_EQ(polls, 0);
	T_EQ(st_put(fd[0], "hi", NULL, RS_HIPRI), 0);
	T_SOON(polls == 1, 2000);
}

/* SVR4: one signal when a message comes first, none for those behind it */
ST_ANY_CASE(messages_behind_the_first_do_not_signal)
{
	int fd[2];

	begin(t, fd, S_INPUT);
	for (int i = 0; i < 10; i++)
		ST_WRITES(fd[0], "x");
	T_SOON(polls == 1, 2000);
	ST_READS(fd[1], 3, "xxx");
	ST_WRITES(fd[0], "x");
	T_EQ(polls, 1);
}

/* ... and again once the queue has been drained */
ST_ANY_CASE(after_the_queue_was_empty_the_next_message_signals)
{
	int fd[2];

	begin(t, fd, S_INPUT);
	for (int i = 1; i <= 20; i++) {
		ST_WRITES(fd[0], "x");
		T_SOON(polls == i, 2000);
		ST_READS(fd[1], 3, "x");
	}
}

/* SVR4: the first of each band */
ST_ANY_CASE(each_band_has_a_first_message)
{
	int fd[2];

	begin(t, fd, S_RDBAND);
	T_EQ(st_putp(fd[0], NULL, "a", 3, MSG_BAND), 0);
	T_SOON(polls == 1, 2000);
	T_EQ(st_putp(fd[0], NULL, "b", 3, MSG_BAND), 0);
	T_EQ(polls, 1);
	T_EQ(st_putp(fd[0], NULL, "c", 9, MSG_BAND), 0);
	T_SOON(polls == 2, 2000);
}

/* What waited before the registration is not new */
ST_ANY_CASE(what_waits_already_does_not_signal)
{
	int fd[2];

	st_pipe(t, fd);
	handlers();
	ST_WRITES(fd[0], "old");
	T_OK(ioctl(fd[1], I_SETSIG, S_INPUT));
	T_EQ(polls, 0);
	ST_READS(fd[1], 10, "old");
	ST_WRITES(fd[0], "new");
	T_SOON(polls == 1, 2000);
}

/* I_SETSIG S_INPUT through modules, with and without a service procedure */
ST_ANY_CASE(data_that_came_through_modules_signals)
{
	int fd[2];

	begin(t, fd, S_INPUT);
	T_OK(ioctl(fd[1], I_PUSH, "nullmod"));
	T_OK(ioctl(fd[1], I_PUSH, "srvmod"));
	ST_WRITES(fd[0], "x");
	T_SOON(st_revents(fd[1], POLLIN) == POLLIN && polls == 1, 2000);
}

/* I_SETSIG S_OUTPUT: "the write queue ... is no longer full" */
ST_CASE(s_output_signals_room_after_a_refusal)
{
	int fd[2];

	st_pipe(t, fd);
	handlers();
	st_nonblock(fd[0]);
	st_marks(fd[1], 100, 10);
	T_OK(ioctl(fd[0], I_SETSIG, S_OUTPUT));
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	T_EQ(polls, 0);
	T_ERR(write(fd[0], "y", 1), EAGAIN);
	T_EQ(polls, 0);
	T_OK(ioctl(fd[1], I_FLUSH, FLUSHR));
	T_SOON(polls == 1, 2000);
	ST_WRITES(fd[0], "y");
	ST_READS(fd[1], 5, "y");
	T_EQ(polls, 1);
}

/* The same when a read makes the room, and a module stands between */
ST_CASE(s_output_signals_room_behind_a_module)
{
	char buf[300];
	int fd[2];

	st_pipe(t, fd);
	handlers();
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	st_nonblock(fd[0]);
	st_marks(fd[1], 100, 10);
	T_OK(ioctl(fd[0], I_SETSIG, S_OUTPUT));
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	T_ERR(st_put(fd[0], NULL, "y", 0), EAGAIN);
	T_EQ(read(fd[1], buf, sizeof buf), 200);
	T_SOON(polls == 1, 2000);
}

/* I_CANPUT asks for it, too, as canput() does */
ST_CASE(s_output_signals_after_i_canput_said_no)
{
	char buf[300];
	int fd[2];

	st_pipe(t, fd);
	handlers();
	st_marks(fd[1], 100, 10);
	T_OK(ioctl(fd[0], I_SETSIG, S_OUTPUT));
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	T_EQ(ioctl(fd[0], I_CANPUT, 0), 0);
	T_EQ(read(fd[1], buf, sizeof buf), 200);
	T_SOON(polls == 1, 2000);
}

/* I_SETSIG S_WRBAND: "a priority band ... is no longer full" */
ST_CASE(s_wrband_signals_room_in_a_band)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	handlers();
	st_nonblock(fd[0]);
	st_marks(fd[1], 100, 10);
	T_OK(ioctl(fd[0], I_SETSIG, S_WRBAND));
	T_EQ(st_putn(fd[0], 4, 200, 'x'), 0);
	T_ERR(st_putn(fd[0], 4, 5, 'x'), EAGAIN);
	T_EQ(polls, 0);
	T_EQ(st_get(fd[1], &m, 0), 0);
	T_SOON(polls == 1, 2000);
}

/* I_SETSIG S_ERROR: "an M_ERROR message has reached the stream head" */
ST_ANY_CASE(s_error_signals_an_error)
{
	int fd[2];

	begin(t, fd, S_ERROR);
	st_break(fd[1], TM_IOC_RDERR, EPROTO);
	T_SOON(polls == 1, 2000);
}

/* I_SETSIG S_HANGUP: "an M_HANGUP message has reached the stream head" */
ST_ANY_CASE(s_hangup_signals_a_hang_up)
{
	int fd[2];

	begin(t, fd, S_HANGUP);
	st_break(fd[1], TM_IOC_HANGUP, 0);
	T_SOON(polls == 1, 2000);
}

/* A pipe is hung up when its other end is closed */
ST_CASE(s_hangup_signals_that_the_other_end_is_closed)
{
	int fd[2];

	begin(t, fd, S_HANGUP);
	T_OK(close(fd[0]));
	T_SOON((st_revents(fd[1], 0), polls == 1), 2000);
}

/* I_SETSIG S_MSG: a signal message with SIGPOLL */
ST_ANY_CASE(s_msg_signals_sigpoll_messages)
{
	int fd[2];

	begin(t, fd, S_MSG);
	T_OK(ioctl(fd[1], I_PUSH, "testmod"));
	T_EQ(st_str_long(fd[1], TM_IOC_PSIGNAL, SIGPOLL), 0);
	T_SOON(polls == 1, 2000);
	T_EQ(st_str_long(fd[1], TM_IOC_NSIGNAL, SIGPOLL), 0);
	T_SOON(polls == 2, 2000);
}

/* M_SIG: "when it reaches the front of the stream head read queue" */
ST_ANY_CASE(a_queued_signal_message_waits_for_its_turn)
{
	int fd[2];

	begin(t, fd, S_MSG);
	T_OK(ioctl(fd[1], I_PUSH, "testmod"));
	ST_WRITES(fd[0], "first");
	T_EQ(st_str_long(fd[1], TM_IOC_NSIGNAL, SIGPOLL), 0);
	ST_WRITES(fd[0], "second");
	T_EQ(polls, 0);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGN));
	ST_READS(fd[1], 3, "fir");
	T_EQ(polls, 0);
	ST_READS(fd[1], 3, "st");
	T_SOON(polls == 1, 2000);
	ST_READS(fd[1], 10, "second");
	T_EQ(polls, 1);
}

/* The same when getmsg() takes what is before it, or a flush does */
ST_ANY_CASE(a_queued_signal_message_counts_after_getmsg)
{
	int fd[2];

	begin(t, fd, S_MSG);
	T_OK(ioctl(fd[1], I_PUSH, "testmod"));
	T_EQ(st_put(fd[0], "c", "d", 0), 0);
	T_EQ(st_str_long(fd[1], TM_IOC_NSIGNAL, SIGPOLL), 0);
	T_EQ(polls, 0);
	ST_GOT(fd[1], "c", "d");
	T_SOON(polls == 1, 2000);
	T_EQ(st_queued(fd[1]), 0);
}

/* M_PCSIG does not wait */
ST_ANY_CASE(a_priority_signal_message_overtakes_data)
{
	int fd[2];

	begin(t, fd, S_MSG);
	T_OK(ioctl(fd[1], I_PUSH, "testmod"));
	ST_WRITES(fd[0], "data");
	T_EQ(st_str_long(fd[1], TM_IOC_PSIGNAL, SIGPOLL), 0);
	T_SOON(polls == 1, 2000);
	ST_READS(fd[1], 10, "data");
}

/* M_SIG: other signals are for the process group of the Stream */
ST_ANY_CASE(signal_messages_go_to_the_owner)
{
	int fd[2], me = getpid(), v = 0;

	st_pipe(t, fd);
	handlers();
	T_OK(ioctl(fd[1], I_PUSH, "testmod"));
	T_EQ(ioctl(fd[1], SIOCSPGRP, &me), 0);
	T_EQ(ioctl(fd[1], SIOCGPGRP, &v), 0);
	T_EQ(v, me);
	T_EQ(st_str_long(fd[1], TM_IOC_PSIGNAL, SIGUSR1), 0);
	T_SOON(usrs == 1, 2000);
	T_EQ(st_str_long(fd[1], TM_IOC_NSIGNAL, SIGUSR1), 0);
	T_SOON(usrs == 2, 2000);
}

/* FIOSETOWN: minus a group means all of it */
ST_ANY_CASE(the_owner_may_be_a_process_group)
{
	int fd[2], v, *got = st_shared(sizeof *got);
	pid_t pid;

	st_pipe(t, fd);
	handlers();
	T_OK(setpgid(0, 0) == 0 || errno == EPERM ? 0 : -1);
	pid = st_fork();
	if (pid == 0) {
		*got = 1;
		T_SOON(usrs == 1, 4000);
		_exit(0);
	}
	T_SOON(*got == 1, 4000);
	T_OK(ioctl(fd[1], I_PUSH, "testmod"));
	v = -getpgrp();
	T_EQ(ioctl(fd[1], FIOSETOWN, &v), 0);
	v = 0;
	T_EQ(ioctl(fd[1], FIOGETOWN, &v), 0);
	T_EQ(v, -getpgrp());
	T_EQ(st_str_long(fd[1], TM_IOC_PSIGNAL, SIGUSR1), 0);
	T_SOON(usrs == 1, 2000);
	st_reap(pid);
}

/* FIOSETOWN of 0: none again */
ST_ANY_CASE(the_owner_can_be_taken_back)
{
	int fd[2], v = getpid();

	st_pipe(t, fd);
	handlers();
	T_OK(ioctl(fd[1], I_PUSH, "testmod"));
	T_EQ(ioctl(fd[1], FIOSETOWN, &v), 0);
	v = 0;
	T_EQ(ioctl(fd[1], FIOSETOWN, &v), 0);
	v = 7;
	T_EQ(ioctl(fd[1], FIOGETOWN, &v), 0);
	T_EQ(v, 0);
	T_EQ(st_str_long(fd[1], TM_IOC_PSIGNAL, SIGUSR1), 0);
	T_EQ(usrs, 0);
}

/* I_SETSIG is per process: each has its own events */
ST_ANY_CASE(each_process_has_its_own_registration)
{
	int fd[2], v, *step = st_shared(sizeof *step);
	pid_t pid;

	begin(t, fd, S_INPUT);
	pid = st_fork();
	if (pid == 0) {
		polls = 0;
		/* "the calling process": a child is another one */
		T_ERR(ioctl(fd[1], I_GETSIG, &v), EINVAL);
		T_OK(ioctl(fd[1], I_SETSIG, S_INPUT | S_HIPRI));
		*step = 1;
		T_SOON(polls == 2, 4000);
		_exit(0);
	}
	T_SOON(*step == 1, 4000);
	T_EQ(ioctl(fd[1], I_GETSIG, &v), 0);
	T_EQ(v, S_INPUT);
	ST_WRITES(fd[0], "x");
	T_SOON(polls == 1, 2000);
	T_SOON(st_asleep(pid), 2000);
	T_EQ(st_put(fd[0], "hi", NULL, RS_HIPRI), 0);
	st_reap(pid);
	T_EQ(polls, 1);
}

/* Registrations of ended processes, more than are removed at once */
ST_ANY_CASE(many_dead_processes_take_no_signal_from_a_living_one)
{
	int fd[2], i;
	pid_t pid[40];

	begin(t, fd, S_INPUT); /* the oldest registration: the last one */
	for (i = 0; i < 40; i++) {
		pid[i] = st_fork();
		if (pid[i] == 0) {
			T_OK(ioctl(fd[1], I_SETSIG, S_INPUT));
			T_OK(kill(getpid(), SIGKILL));
		}
	}
	for (i = 0; i < 40; i++)
		T_EQ(waitpid(pid[i], NULL, 0), pid[i]);
	ST_WRITES(fd[0], "x");
	T_SOON(polls == 1, 2000);
}

/* A registration dies with its process */
ST_ANY_CASE(a_dead_process_is_not_signalled)
{
	int fd[2];
	struct strsigset ss = { 0, 0 };
	pid_t pid;

	st_pipe(t, fd);
	handlers();
	pid = st_fork();
	if (pid == 0) {
		T_OK(ioctl(fd[1], I_SETSIG, S_INPUT));
		_exit(0);
	}
	st_reap(pid);
	ss.ss_pid = pid;
	ST_WRITES(fd[0], "x");
	T_ERR(ioctl(fd[1], I_EGETSIG, &ss), EINVAL);
	T_EQ(polls, 0);
	ST_READS(fd[1], 4, "x");
}

/* SVR4: closing ends the registration of the process that closes */
ST_ANY_CASE(closing_ends_the_registration)
{
	int fd[2], d;

	begin(t, fd, S_INPUT);
	d = T_OK(dup(fd[1]));
	T_OK(close(fd[1]));
	T_ERR(ioctl(d, I_SETSIG, 0), EINVAL);
	ST_WRITES(fd[0], "x");
	T_EQ(polls, 0);
}

/* I_ESETSIG: "the process identified by ss_pid" */
ST_ANY_CASE(another_process_can_be_registered)
{
	struct strsigset ss = { 0, S_INPUT };
	int fd[2], *step = st_shared(sizeof *step);
	pid_t pid;

	st_pipe(t, fd);
	handlers();
	pid = st_fork();
	if (pid == 0) {
		T_TRUE(st_revents(fd[1], 0) >= 0);
		*step = 1;
		T_SOON(polls == 1, 4000);
		_exit(0);
	}
	T_SOON(*step == 1, 4000);
	ss.ss_pid = pid;
	T_EQ(ioctl(fd[1], I_ESETSIG, &ss), 0);
	ss.ss_events = 0;
	T_EQ(ioctl(fd[1], I_EGETSIG, &ss), 0);
	T_EQ(ss.ss_events, S_INPUT);
	ST_WRITES(fd[0], "x");
	st_reap(pid);
	T_EQ(polls, 0);
}

/* I_ESETSIG: minus a process group */
ST_ANY_CASE(a_process_group_can_be_registered)
{
	struct strsigset ss = { 0, S_INPUT };
	int fd[2];

	st_pipe(t, fd);
	handlers();
	T_OK(setpgid(0, 0) == 0 || errno == EPERM ? 0 : -1);
	ss.ss_pid = -getpgrp();
	T_EQ(ioctl(fd[1], I_ESETSIG, &ss), 0);
	ST_WRITES(fd[0], "x");
	T_SOON(polls == 1, 2000);
	ss.ss_events = 0;
	T_EQ(ioctl(fd[1], I_ESETSIG, &ss), 0);
	T_ERR(ioctl(fd[1], I_EGETSIG, &ss), EINVAL);
}

/* ss_pid 0 is the caller, and the same registration as I_SETSIG's */
ST_ANY_CASE(no_pid_means_the_caller)
{
	struct strsigset ss = { 0, S_INPUT | S_ERROR };
	int fd[2], v = 0;

	st_pipe(t, fd);
	handlers();
	T_EQ(ioctl(fd[1], I_ESETSIG, &ss), 0);
	T_EQ(ioctl(fd[1], I_GETSIG, &v), 0);
	T_EQ(v, S_INPUT | S_ERROR);
	ss.ss_pid = getpid();
	ss.ss_events = 0;
	T_EQ(ioctl(fd[1], I_EGETSIG, &ss), 0);
	T_EQ(ss.ss_events, S_INPUT | S_ERROR);
}

/* A signal ends a call that waits, unless its handler restarts calls */
ST_ANY_CASE(a_signal_of_one_stream_interrupts_a_wait_on_another)
{
	struct st_msg m;
	int fd[2], other[2];
	pid_t pid;

	st_pipe(t, fd);
	st_pipe_more(other);
	pid = st_fork();
	if (pid == 0) {
		handlers();
		T_OK(ioctl(fd[1], I_SETSIG, S_INPUT));
		T_ERR(st_get(other[1], &m, 0), EINTR);
		_exit(0);
	}
	st_wait_asleep(pid);
	ST_WRITES(fd[0], "x");
	st_reap(pid);
}

/* Many processes write: the first message signals once */
ST_ANY_CASE(concurrent_writers_signal_at_least_once)
{
	enum { WRITERS = 4, EACH = 200 };
	pid_t pid[WRITERS];
	char buf[64];
	int fd[2], left = WRITERS * EACH;

	begin(t, fd, S_INPUT);
	st_nonblock(fd[1]);
	for (int i = 0; i < WRITERS; i++) {
		pid[i] = st_fork();
		for (int k = 0; pid[i] == 0 && k < EACH; k++)
			ST_WRITES(fd[0], "x");
		if (pid[i] == 0)
			_exit(0);
	}
	/* a reader that only reads when told must see them all */
	while (left > 0) {
		ssize_t n;

		T_SOON(polls > 0, 4000);
		polls = 0;
		while ((n = read(fd[1], buf, sizeof buf)) > 0)
			left -= (int)n;
		T_EQ(errno, EAGAIN);
	}
	for (int i = 0; i < WRITERS; i++)
		st_reap(pid[i]);
}

/* ------------------------------------- what a handler with SA_SIGINFO is told */

static volatile sig_atomic_t told, told_sig, told_code, told_err;
static volatile long told_band;

static void
hear(int sig, siginfo_t *si, void *uc)
{
	T_NOTNULL(uc);
	told_sig = sig;
	told_code = si->si_code;
	told_err = si->si_errno;
	told_band = si->si_band;
	told++;
}

static void
listen_for(struct t *t, int fd[2], int events)
{
	struct sigaction sa = { .sa_sigaction = hear, .sa_flags = SA_SIGINFO };

	st_pipe(t, fd);
	T_OK(sigaction(SIGPOLL, &sa, NULL));
	T_OK(sigaction(SIGURG, &sa, NULL));
	T_OK(ioctl(fd[1], I_SETSIG, events));
}

#define ST_TOLD(sig, code, err, band) do {				\
	T_SOON(told == 1, 2000);					\
	T_EQ(told_sig, sig);						\
	T_EQ(told_code, code);						\
	T_EQ(told_err, err);						\
	T_EQ(told_band, band);						\
	told = 0;							\
} while (0)

/* siginfo: POLL_IN "data input available", si_band its band */
ST_ANY_CASE(siginfo_says_that_data_came)
{
	int fd[2];

	listen_for(t, fd, S_INPUT);
	ST_WRITES(fd[0], "x");
	ST_TOLD(SIGPOLL, POLL_IN, 0, 0);
}

/* ... "band event": the band of the message */
ST_ANY_CASE(siginfo_says_which_band)
{
	int fd[2];

	listen_for(t, fd, S_RDBAND);
	T_EQ(st_putp(fd[0], NULL, "b", 200, MSG_BAND), 0);
	ST_TOLD(SIGPOLL, POLL_IN, 0, 200);
	T_OK(ioctl(fd[1], I_SETSIG, S_RDBAND | S_BANDURG));
	T_EQ(st_putp(fd[0], NULL, "c", 7, MSG_BAND), 0);
	ST_TOLD(SIGURG, POLL_IN, 0, 7);
}

/* siginfo: POLL_PRI "high priority input available" */
ST_ANY_CASE(siginfo_says_high_priority)
{
	int fd[2];

	listen_for(t, fd, S_HIPRI);
	T_EQ(st_put(fd[0], "hi", NULL, RS_HIPRI), 0);
	ST_TOLD(SIGPOLL, POLL_PRI, 0, 0);
}

/* siginfo: POLL_MSG "input message available", of a signal message */
ST_ANY_CASE(siginfo_says_signal_message)
{
	int fd[2];

	listen_for(t, fd, S_MSG);
	T_OK(ioctl(fd[1], I_PUSH, "testmod"));
	T_EQ(st_str_long(fd[1], TM_IOC_PSIGNAL, SIGPOLL), 0);
	ST_TOLD(SIGPOLL, POLL_MSG, 0, 0);
}

/* siginfo: POLL_ERR "I/O error", with which one in si_errno */
ST_ANY_CASE(siginfo_says_which_error)
{
	int fd[2];

	listen_for(t, fd, S_ERROR);
	st_break(fd[1], TM_IOC_RDERR, EPROTO);
	ST_TOLD(SIGPOLL, POLL_ERR, EPROTO, 0);
}

/* siginfo: POLL_HUP "device disconnected" */
ST_ANY_CASE(siginfo_says_hang_up)
{
	int fd[2];

	listen_for(t, fd, S_HANGUP);
	st_break(fd[1], TM_IOC_HANGUP, 0);
	ST_TOLD(SIGPOLL, POLL_HUP, 0, 0);
}

/* siginfo: POLL_OUT "output buffers available" */
ST_CASE(siginfo_says_room)
{
	int fd[2];

	listen_for(t, fd, 0x3ff);
	T_OK(ioctl(fd[1], I_SETSIG, 0));
	st_nonblock(fd[0]);
	st_marks(fd[1], 100, 10);
	T_OK(ioctl(fd[0], I_SETSIG, S_OUTPUT | S_WRBAND));
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	T_ERR(write(fd[0], "y", 1), EAGAIN);
	T_OK(ioctl(fd[1], I_FLUSH, FLUSHR));
	ST_TOLD(SIGPOLL, POLL_OUT, 0, 0);
	T_EQ(st_putn(fd[0], 5, 200, 'x'), 0);
	T_ERR(st_putn(fd[0], 5, 5, 'x'), EAGAIN);
	T_OK(ioctl(fd[1], I_FLUSH, FLUSHR));
	ST_TOLD(SIGPOLL, POLL_OUT, 0, 5);
}

/* Another process is told the same */
ST_ANY_CASE(siginfo_reaches_another_process)
{
	int fd[2], *step = st_shared(sizeof *step);
	sigset_t set, old;
	siginfo_t si;
	pid_t pid;

	listen_for(t, fd, S_HIPRI);
	T_OK(ioctl(fd[1], I_SETSIG, 0));
	pid = st_fork();
	if (pid == 0) {
		T_OK(ioctl(fd[1], I_SETSIG, S_RDBAND | S_HIPRI));
		*step = 1;
		ST_TOLD(SIGPOLL, POLL_IN, 0, 3);
		sigemptyset(&set);
		sigaddset(&set, SIGPOLL);
		T_OK(sigprocmask(SIG_BLOCK, &set, &old));
		*step = 2;
		T_EQ(sigwaitinfo(&set, &si), SIGPOLL);
		T_EQ(si.si_code, POLL_PRI);
		T_EQ(si.si_errno, 0);
		T_EQ(told, 0);
		_exit(0);
	}
	T_SOON(*step == 1, 4000);
	T_EQ(st_putp(fd[0], NULL, "b", 3, MSG_BAND), 0);
	T_SOON(*step == 2, 4000);
	T_EQ(st_put(fd[0], "hi", NULL, RS_HIPRI), 0);
	st_reap(pid);
}
