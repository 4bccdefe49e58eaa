/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Signals: put off inside a call, never missed by a wait.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include <t.h>

#include "upcalls_test_double.h"

#define MS 1000000ull

static volatile int ran, ran_depth, ran_value, ran_order[8];
static volatile int ran_sig;
static sigjmp_buf away;

static void
setup(void)
{
	struct host_call hc = { .fd = -1 };

	setenv("STREAMS_DOMAIN", "private", 1);
	up_enter(&hc);
	host_leave();
}

static void
count(int sig)
{
	ran_order[ran & 7] = sig;
	ran++;
	ran_sig = sig;
	ran_depth = (int)host_tls.depth;
}

static void
count_info(int sig, siginfo_t *info, void *uc)
{
	count(sig);
	ran_value = info->si_value.sival_int;
	T_EQ(info->si_code, SI_QUEUE);
	T_EQ(info->si_pid, getpid());
	T_NOTNULL(uc);
}

static void
install(int sig, void (*fn)(int), int flags)
{
	struct sigaction sa = { .sa_handler = fn, .sa_flags = flags };

	T_EQ(host_sigaction(sig, &sa, NULL), 0);
}

static bool
blocked(int sig)
{
	sigset_t set;

	T_OK(sigprocmask(SIG_BLOCK, NULL, &set));
	return sigismember(&set, sig);
}

T_CASE(outside_a_call_the_handler_runs_at_once)
{
	setup();
	install(SIGUSR1, count, 0);
	T_OK(raise(SIGUSR1));
	T_EQ(ran, 1);
	T_EQ(ran_sig, SIGUSR1);
	T_FALSE(blocked(SIGUSR1));
}

T_CASE(before_any_attach_it_runs_too)
{
	setenv("STREAMS_DOMAIN", "private", 1);
	install(SIGUSR1, count, 0);
	T_OK(raise(SIGUSR1));
	T_EQ(ran, 1);
	T_NULL(host_domain);
	setup();
	T_OK(raise(SIGUSR1));
	T_EQ(ran, 2);
}

T_CASE(inside_a_call_it_is_put_off_until_the_end)
{
	struct host_call hc = { .fd = -1 }, nested = { .fd = -1 };

	setup();
	install(SIGUSR1, count, 0);
	install(SIGUSR2, count, 0);
	up_enter(&hc);
	T_OK(raise(SIGUSR1));
	T_OK(raise(SIGUSR2));
	T_OK(raise(SIGUSR1)); /* merges, as pending ones do */
	T_EQ(ran, 0);
	up_enter(&nested);
	host_leave();
	T_EQ(ran, 0);
	host_leave();
	T_EQ(ran, 2);
	T_EQ(ran_depth, 0);
	T_FALSE(blocked(SIGUSR1));
	T_FALSE(blocked(SIGUSR2));
	T_EQ(host_tls.sig_saved, 0);
}

T_CASE(a_signal_put_off_keeps_its_siginfo)
{
	struct sigaction sa = { .sa_sigaction = count_info,
		.sa_flags = SA_SIGINFO };
	struct host_call hc = { .fd = -1 };

	setup();
	T_EQ(host_sigaction(SIGRTMIN + 1, &sa, NULL), 0);
	up_enter(&hc);
	T_OK(sigqueue(getpid(), SIGRTMIN + 1,
		(union sigval){ .sival_int = 1 }));
	T_OK(sigqueue(getpid(), SIGRTMIN + 1,
		(union sigval){ .sival_int = 2 }));
	T_EQ(ran, 0);
	host_leave();
	T_EQ(ran, 2);
	T_EQ(ran_value, 2);
}

static void
leave_by_jump(int sig)
{
	ran++;
	siglongjmp(away, 1);
}

T_CASE(a_jump_out_of_a_put_off_handler_is_outside_the_call)
{
	struct host_call hc = { .fd = -1 };

	setup();
	install(SIGUSR1, leave_by_jump, 0);
	if (sigsetjmp(away, 1) == 0) {
		up_enter(&hc);
		T_OK(raise(SIGUSR1));
		T_EQ(ran, 0);
		host_leave();
		T_FAIL("the handler did not jump");
	}
	T_EQ(ran, 1);
	T_EQ(host_tls.depth, 0);
	T_FALSE(blocked(SIGUSR1));
}

/* ---------------------------------------------------------------- waits */

struct victim {
	str_a32 *word;
	int fd;		/* wait on this carrier instead */
	int rounds;
	bool jump, restart;
	str_a32 round;
	struct str_thread *_Atomic th;
};

static void *
victim_main(void *arg)
{
	struct victim *v = arg;
	struct host_call hc = { .fd = v->fd };
	uint32_t ev;

	for (int i = 0; i < v->rounds; i++) {
		up_enter(&hc);
		str_store_rel(&v->th, host_self());
		str_store_rel(&v->round, (uint32_t)i + 1);
		for (int err = 0; err != EINTR;)
			err = v->fd >= 0 ?
				host_wait_carrier(&hc, UINT64_MAX, &ev) :
				host_wait(&hc, v->word, str_load(v->word),
					UINT64_MAX);
		T_EQ(host_interrupted(&hc),
			v->restart ? HOST_SIG_RESTART : HOST_SIG_INTR);
		host_resample(&hc);
		T_EQ(host_interrupted(&hc), HOST_SIG_NONE);
		T_EQ(host_tls.depth, 1);
		T_EQ(str_load(&host_self()->state), STR_THR_RUN);
		host_leave();
	}
	return NULL;
}

/* One signal for each round, at all possible moments; none is missed. */
static void
storm(struct victim *v)
{
	static str_a32 *word;
	pthread_t id;
	volatile unsigned spin;

	if (word == NULL)
		word = up_alloc(64);
	v->word = word;
	T_EQ(pthread_create(&id, NULL, victim_main, v), 0);
	for (int i = 1; i <= v->rounds; i++) {
		while (str_load_acq(&v->round) < (uint32_t)i)
			;
		for (spin = (unsigned)(t_rand() % 3000); spin > 0; spin--)
			;
		T_EQ(pthread_kill(id, SIGUSR1), 0);
	}
	T_EQ(pthread_join(id, NULL), 0);
	T_EQ(ran, v->rounds);
}

T_CASE_TIMEOUT(no_wait_on_a_word_misses_a_signal, 60)
{
	struct victim v = { .fd = -1, .rounds = 3000 };

	setup();
	install(SIGUSR1, count, 0);
	storm(&v);
}

T_CASE_TIMEOUT(nor_one_with_sa_restart, 60)
{
	struct victim v = { .fd = -1, .rounds = 3000, .restart = true };

	setup();
	install(SIGUSR1, count, SA_RESTART);
	storm(&v);
}

T_CASE_TIMEOUT(no_wait_on_a_carrier_misses_a_signal, 60)
{
	struct victim v = { .rounds = 3000 };
	struct host_carrier c[2];
	int fd[2];

	setup();
	install(SIGUSR1, count, 0);
	T_EQ(host_carrier_pair(0, fd, c), 0);
	v.fd = fd[0];
	storm(&v);
	T_EQ(str_load(&host_priv_page->bell_waiters), 0);
}

T_CASE(one_without_sa_restart_among_others_interrupts)
{
	struct host_call hc = { .fd = -1 };
	str_a32 *word;

	setup();
	word = up_alloc(64);
	install(SIGUSR1, count, SA_RESTART);
	install(SIGUSR2, count, 0);
	up_enter(&hc);
	T_OK(raise(SIGUSR2));
	T_OK(raise(SIGUSR1));
	T_EQ(host_wait(&hc, word, 0, UINT64_MAX), EINTR);
	T_EQ(ran, 2);
	T_EQ(host_interrupted(&hc), HOST_SIG_INTR);
	host_resample(&hc);
	T_OK(raise(SIGUSR1));
	T_EQ(host_wait(&hc, word, str_load(word), UINT64_MAX), EINTR);
	T_EQ(host_interrupted(&hc), HOST_SIG_RESTART);
	host_leave();
}

T_CASE(a_short_wait_keeps_handlers_off)
{
	struct host_call hc = { .fd = -1 };
	str_a32 *word;

	setup();
	word = up_alloc(64);
	install(SIGUSR1, count, 0);
	up_enter(&hc);
	T_OK(raise(SIGUSR1));
	T_EQ(host_wait(NULL, word, 0, MS), ETIMEDOUT);
	T_EQ(ran, 0);
	T_EQ(str_load(word), 0); /* a lock's word is not touched */
	host_leave();
	T_EQ(ran, 1);
}

static void
alarm_soon(void)
{
	struct itimerspec its = { .it_value = { 0, 5000000 } };
	struct sigevent se = { .sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGUSR1 };
	timer_t id;

	T_OK(timer_create(CLOCK_MONOTONIC, &se, &id));
	T_OK(timer_settime(id, 0, &its, NULL));
}

static void
jump_case(int fd, str_a32 *word)
{
	struct host_call hc = { .fd = fd };
	uint32_t ev;

	install(SIGUSR1, leave_by_jump, 0);
	ran = 0;
	if (sigsetjmp(away, 1) == 0) {
		up_enter(&hc);
		str_store(&host_self()->asleep_on, 4711ull);
		alarm_soon();
		if (fd >= 0)
			(void)host_wait_carrier(&hc, UINT64_MAX, &ev);
		else
			(void)host_wait(&hc, word, 0, UINT64_MAX);
		T_FAIL("the handler did not jump");
	}
	T_EQ(ran, 1);
	T_EQ(host_tls.depth, 0);
	T_NULL(host_tls.sleep_word);
	T_EQ(str_load(&host_self()->state), STR_THR_RUN);
	T_EQ((int)str_load(&host_self()->asleep_on), 0);
	T_EQ(str_load(&host_priv_page->bell_waiters), 0);
	T_FALSE(blocked(SIGUSR1));
	T_FALSE(blocked(SIGUSR2));
}

T_CASE(a_jump_out_of_a_wait_leaves_nothing_behind)
{
	struct host_carrier c[2];
	struct host_call hc = { .fd = -1 };
	str_a32 *word;
	int fd[2];

	setup();
	word = up_alloc(64);
	jump_case(-1, word);
	T_EQ(host_carrier_pair(0, fd, c), 0);
	jump_case(fd[0], NULL);
	/* and the next call is like the first */
	up_enter(&hc);
	T_EQ(host_wait(&hc, word, str_load(word), MS), ETIMEDOUT);
	host_leave();
}

static str_a32 *nested_word;

static void
call_in_handler(int sig)
{
	struct host_call hc = { .fd = -1 };

	ran++;
	up_enter(&hc);
	T_EQ(host_tls.depth, 1);
	T_EQ(host_wait(&hc, nested_word, 0, MS), ETIMEDOUT);
	host_leave();
}

T_CASE(a_handler_in_a_wait_may_make_calls)
{
	struct host_call hc = { .fd = -1 };
	str_a32 *word;

	setup();
	word = up_alloc(64);
	nested_word = word + 1;
	install(SIGUSR1, call_in_handler, 0);
	up_enter(&hc);
	alarm_soon();
	T_EQ(host_wait(&hc, word, 0, UINT64_MAX), EINTR);
	T_EQ(ran, 1);
	T_EQ(host_tls.depth, 1);
	host_leave();
}

static volatile pid_t forked;

static void
fork_in_handler(int sig)
{
	forked = fork();
}

T_CASE(a_handler_in_a_wait_may_fork)
{
	struct host_call hc = { .fd = -1 };
	uint32_t parent;
	str_a32 *word;
	int status;

	setup();
	word = up_alloc(64);
	install(SIGUSR1, fork_in_handler, 0);
	up_enter(&hc);
	parent = host_self_tag();
	alarm_soon();
	T_EQ(host_wait(&hc, word, 0, UINT64_MAX), EINTR);
	T_EQ(host_tls.depth, 1);
	T_TRUE(host_self() != NULL);
	if (forked == 0) {
		T_NE(host_self_tag(), parent);
		host_leave();
		_exit(0);
	}
	T_EQ(host_self_tag(), parent);
	T_OK(waitpid(forked, &status, 0));
	T_EQ(status, 0);
	host_leave();
}

/* -------------------------------------------------------------- actions */

T_CASE(the_old_action_is_told_as_it_was_given)
{
	struct sigaction sa = { .sa_handler = count,
		.sa_flags = SA_RESTART | SA_RESETHAND }, old;

	setup();
	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIGUSR2);
	sigaddset(&sa.sa_mask, SIGSEGV);
	T_EQ(host_sigaction(SIGUSR1, &sa, &old), 0);
	T_TRUE(old.sa_handler == SIG_DFL);
	T_EQ(host_sigaction(SIGUSR1, NULL, &old), 0);
	T_TRUE(old.sa_handler == count);
	T_EQ(old.sa_flags, SA_RESTART | (int)SA_RESETHAND);
	T_TRUE(sigismember(&old.sa_mask, SIGUSR2));
	T_TRUE(sigismember(&old.sa_mask, SIGSEGV));
	T_FALSE(sigismember(&old.sa_mask, SIGTERM));
	/* for the fault handler in front as well */
	T_EQ(host_sigaction(SIGBUS, NULL, &old), 0);
	sa.sa_handler = SIG_IGN;
	sa.sa_flags = 0;
	T_EQ(host_sigaction(SIGUSR1, &sa, &sa), 0);
	T_TRUE(sa.sa_handler == count);
	T_EQ(host_sigaction(SIGUSR1, NULL, &old), 0);
	T_TRUE(old.sa_handler == SIG_IGN);
	T_OK(raise(SIGUSR1));
}

T_CASE(resethand_happens_when_the_handler_runs)
{
	struct host_call hc = { .fd = -1 };
	struct sigaction old;

	setup();
	install(SIGUSR1, count, SA_RESETHAND);
	up_enter(&hc);
	T_OK(raise(SIGUSR1));
	T_EQ(host_sigaction(SIGUSR1, NULL, &old), 0);
	T_TRUE(old.sa_handler == count);
	host_leave();
	T_EQ(ran, 1);
	T_EQ(host_sigaction(SIGUSR1, NULL, &old), 0);
	T_TRUE(old.sa_handler == SIG_DFL);
}

static void
note_mask(int sig)
{
	ran++;
	ran_value = blocked(sig) | blocked(SIGUSR2) << 1;
}

T_CASE(the_handler_runs_with_the_mask_asked_for)
{
	struct sigaction sa = { .sa_handler = note_mask };
	struct host_call hc = { .fd = -1 };

	setup();
	sigaddset(&sa.sa_mask, SIGUSR2);
	T_EQ(host_sigaction(SIGUSR1, &sa, NULL), 0);
	T_OK(raise(SIGUSR1));
	T_EQ(ran_value, 3);
	sigemptyset(&sa.sa_mask);
	sa.sa_flags = SA_NODEFER;
	T_EQ(host_sigaction(SIGUSR1, &sa, NULL), 0);
	up_enter(&hc);
	T_OK(raise(SIGUSR1));
	host_leave();
	T_EQ(ran, 2);
	T_EQ(ran_value, 0);
}

T_CASE(impossible_actions_are_einval)
{
	struct sigaction sa = { .sa_handler = count };

	setup();
	T_EQ(host_sigaction(0, &sa, NULL), EINVAL);
	T_EQ(host_sigaction(65, &sa, NULL), EINVAL);
	T_EQ(host_sigaction(32, &sa, NULL), EINVAL);
	T_EQ(host_sigaction(SIGKILL, &sa, NULL), EINVAL);
	T_EQ(host_sigaction(SIGSTOP, &sa, NULL), EINVAL);
	T_EQ(host_sigaction(SIGKILL, NULL, &sa), 0);
}

T_CASE(masks_never_hold_the_fault_signals)
{
	sigset_t all, buf;
	const sigset_t *s;

	sigfillset(&all);
	s = host_sigmask_filter(SIG_BLOCK, &all, &buf);
	T_FALSE(sigismember(s, SIGSEGV));
	T_FALSE(sigismember(s, SIGBUS));
	T_TRUE(sigismember(s, SIGTERM));
	T_TRUE(sigismember(s, SIGRTMAX));
	T_TRUE(host_sigmask_filter(SIG_UNBLOCK, &all, &buf) == &all);
	T_NULL(host_sigmask_filter(SIG_BLOCK, NULL, &buf));
}

/* --------------------------------------------------------------- faults */

static int
status_of(void (*fn)(void))
{
	int status;
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		fn();
		_exit(77);
	}
	T_OK(waitpid(pid, &status, 0));
	return status;
}

static volatile int *volatile wild = (int *)8;

static void
fault(void)
{
	*wild = 1;
}

static void
fault_in_call(void)
{
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	*wild = 1;
}

static void
kill_segv(void)
{
	(void)kill(getpid(), SIGSEGV);
}

static void
exit_42(int sig)
{
	_exit(42);
}

static void
fault_handled(void)
{
	install(SIGSEGV, exit_42, 0);
	fault();
}

static void
fault_in_call_handled(void)
{
	install(SIGSEGV, exit_42, 0);
	fault_in_call();
}

static void
fault_ignored(void)
{
	install(SIGSEGV, SIG_IGN, 0);
	kill_segv(); /* is ignored */
	fault();     /* cannot be */
}

static void
fault_once(void)
{
	install(SIGSEGV, count, SA_RESETHAND);
	fault(); /* returns into the fault, which then is fatal */
}

T_CASE(faults_elsewhere_do_what_they_always_did)
{
	setup();
	install(SIGSEGV, SIG_DFL, 0);
	T_EQ(WTERMSIG(status_of(fault)), SIGSEGV);
	T_EQ(WTERMSIG(status_of(fault_in_call)), SIGSEGV);
	T_EQ(WTERMSIG(status_of(kill_segv)), SIGSEGV);
	T_EQ(WEXITSTATUS(status_of(fault_handled)), 42);
	T_EQ(WEXITSTATUS(status_of(fault_in_call_handled)), 42);
	T_EQ(WTERMSIG(status_of(fault_ignored)), SIGSEGV);
	T_EQ(WTERMSIG(status_of(fault_once)), SIGSEGV);
}

static void
fault_jump(int sig)
{
	siglongjmp(away, 1);
}

T_CASE(a_program_may_jump_out_of_its_own_faults)
{
	unsigned char buf[8];

	setup();
	install(SIGSEGV, fault_jump, 0);
	for (int i = 0; i < 3; i++)
		if (sigsetjmp(away, 1) == 0) {
			fault();
			T_FAIL("no fault");
		}
	T_EQ(host_copyin(NULL, buf, 8), EFAULT);
}

/* -------------------------------------------------------------- posting */

static void
sigpipe_default(void)
{
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	host_signal_self(SIGPIPE);
	str_store(up_word(UP_USER), 1ull); /* still alive */
	host_leave();
}

T_CASE(sigpipe_comes_at_the_end_of_the_call)
{
	struct host_call hc = { .fd = -1 };

	setup();
	install(SIGPIPE, SIG_DFL, 0);
	T_EQ(WTERMSIG(status_of(sigpipe_default)), SIGPIPE);
	T_EQ((int)*up_word(UP_USER), 1);
	install(SIGPIPE, count, 0);
	up_enter(&hc);
	host_signal_self(SIGPIPE);
	T_EQ(ran, 0);
	host_leave();
	T_EQ(ran, 1);
	install(SIGPIPE, SIG_IGN, 0);
	up_enter(&hc);
	host_signal_self(SIGPIPE);
	host_leave();
	T_EQ(ran, 1);
}

T_CASE(a_signal_is_posted_to_a_process)
{
	pid_t pid;

	setup();
	install(SIGUSR1, count, 0);
	T_EQ(host_signal_post((uint32_t)getpid(), SIGUSR1, NULL), 0);
	T_EQ(ran, 1);
	pid = T_OK(fork());
	if (pid == 0)
		_exit(0);
	T_OK(waitpid(pid, NULL, 0));
	T_EQ(host_signal_post((uint32_t)pid, SIGUSR1, NULL), ESRCH);
	T_EQ(host_signal_post(0, SIGUSR1, NULL), ESRCH);
	T_EQ(host_signal_post(0xffffffff, SIGUSR1, NULL), ESRCH);
}

static void
panic(void)
{
	struct host_call hc = { .fd = -1 };

	install(SIGABRT, SIG_IGN, 0);
	T_OK(dup2(T_OK(open("/dev/null", O_WRONLY)), 2));
	up_enter(&hc);
	host_panic("on purpose", __FILE__, __LINE__);
}

T_CASE(a_panic_is_an_abort)
{
	setup();
	T_EQ(WTERMSIG(status_of(panic)), SIGABRT);
}
