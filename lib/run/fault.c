/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Bad addresses in read(2) and write(2) on a carried pipe.
 *
 * The kernel answers them by EFAULT.  So the copies between a ring and the
 * program's memory may fault: the handler for SIGSEGV and SIGBUS that is set
 * with the first carried pipe lets such a copy return an error, and then the
 * kernel makes the call.  No other fault is changed: the program's own handler,
 * or the end of the process, follows as without us.
 *
 * The program does not see our handler: what it sets is kept in `theirs', and
 * called from ours.  It cannot block the two signals meanwhile.  If it ignores one,
 * no pipe of the process is carried from then on.
 *
 * On other machines than x86-64 the kernel copies (host/user/copy.c).
 */
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "run.h"
#include "sys.h"

typedef void handler(int);

extern const char host_copy_begin[] STR_HIDDEN, host_copy_end[] STR_HIDDEN,
	host_copy_fault[] STR_HIDDEN;

static const int signals[] = {SIGSEGV, SIGBUS};
#define SIGNALS (sizeof signals / sizeof *signals)

bool run_caught STR_HOT_DATA;
static bool never STR_HOT_DATA;
static struct sigaction theirs[SIGNALS] STR_LARGE_DATA;

NEXT_SLOT(sigaction);

static unsigned
index_of(int sig)
{
	return sig == SIGSEGV ? 0 : 1;
}

/* Does the thread continue after a copy that has failed? */
static bool
fix(void *context)
{
#if defined(__x86_64__)
	ucontext_t *uc = context;
	uintptr_t ip = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];

	if (ip < (uintptr_t)host_copy_begin || ip >= (uintptr_t)host_copy_end)
		return false;
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)host_copy_fault;
	return true;
#else
	(void)context;
	return false;
#endif
}

static void
on_fault(int sig, siginfo_t *info, void *context)
{
	struct sigaction *to = &theirs[index_of(sig)], now;
	bool raised = info->si_code > 0; /* by the processor */

	if (raised && fix(context))
		return;
	now = *to;
	if (now.sa_handler == SIG_DFL) {
		/* the instruction is executed again, and ends the process */
		(void)NEXT(sigaction)(sig, &now, NULL);
		if (!raised)
			(void)sys_call3(SYS_tgkill, sys_call1(SYS_getpid, 0),
				sys_call1(SYS_gettid, 0), sig);
		return;
	}
	if ((now.sa_flags & (int)SA_RESETHAND) != 0)
		to->sa_handler = SIG_DFL;
	if ((now.sa_flags & SA_SIGINFO) != 0)
		now.sa_sigaction(sig, info, context);
	else
		now.sa_handler(sig);
}

static void
strip(sigset_t *set)
{
	for (unsigned i = 0; i < SIGNALS; i++)
		(void)sigdelset(set, signals[i]);
}

static bool
has_ours(const sigset_t *set)
{
	return sigismember(set, SIGSEGV) == 1 || sigismember(set, SIGBUS) == 1;
}

/* Let the kernel call ours for @sig, by the rules of the program's. */
static void
install(int sig)
{
	struct sigaction sa = theirs[index_of(sig)];

	sa.sa_sigaction = on_fault;
	sa.sa_flags = (sa.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
	strip(&sa.sa_mask);
	(void)NEXT(sigaction)(sig, &sa, NULL);
}

bool
run_fault_begin(void)
{
	uint64_t blocked = 0;
	sigset_t set;

	if (run_caught || never)
		return run_caught;
	(void)sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked,
		SYS_SIGSET);
	(void)sigemptyset(&set);
	memcpy(&set, &blocked, sizeof blocked);
	for (unsigned i = 0; i < SIGNALS; i++)
		if (NEXT(sigaction)(signals[i], NULL, &theirs[i]) != 0 ||
				theirs[i].sa_handler == SIG_IGN)
			never = true;
	if (never || has_ours(&set))
		return false;
	run_caught = true;
	for (unsigned i = 0; i < SIGNALS; i++)
		install(signals[i]);
	host_copy_init(&run_map->cpu);
	return true;
}

void
run_fault_end(void)
{
	never = true;
	if (!run_caught)
		return;
	run_settle_all(RUN_CALL);
	run_caught = false;
	for (unsigned i = 0; i < SIGNALS; i++)
		(void)NEXT(sigaction)(signals[i], &theirs[i], NULL);
}

/* ------------------------------------------------- what the program calls */

static bool
is_ours(int sig)
{
	return run_caught && (sig == SIGSEGV || sig == SIGBUS);
}

STR_EXPORT int
sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction was;

	if (is_ours(sig) && act != NULL && act->sa_handler == SIG_IGN)
		run_fault_end();
	if (!is_ours(sig))
		return NEXT(sigaction)(sig, act, old);
	was = theirs[index_of(sig)];
	if (act != NULL) {
		theirs[index_of(sig)] = *act;
		install(sig);
	}
	if (old != NULL)
		*old = was;
	return 0;
}

/* Rare ones: the signals are the program's alone from then on.  The compiler
 * calls some of them deprecated where they are used. */
#define SETS(type, name, arg) \
	type name(int sig, arg x); \
	NEXT_SLOT(name); \
	STR_EXPORT type \
	name(int sig, arg x) \
	{ \
		if (is_ours(sig)) \
			run_fault_end(); \
		return ((type (*)(int, arg))run_next(&next_##name, #name))( \
			sig, x); \
	}
SETS(handler *, sysv_signal, handler *)
SETS(handler *, __sysv_signal, handler *)
SETS(handler *, sigset, handler *)
SETS(int, siginterrupt, int)

NEXT_SLOT(signal);

STR_EXPORT handler *
signal(int sig, handler *fn)
{
	struct sigaction sa = {.sa_handler = fn, .sa_flags = SA_RESTART}, old;

	if (!is_ours(sig))
		return NEXT(signal)(sig, fn);
	(void)sigaddset(&sa.sa_mask, sig);
	(void)sigaction(sig, &sa, &old);
	return old.sa_handler;
}

handler *bsd_signal(int sig, handler *fn);
handler *ssignal(int sig, handler *fn);

STR_EXPORT handler *
bsd_signal(int sig, handler *fn)
{
	return signal(sig, fn);
}

STR_EXPORT handler *
ssignal(int sig, handler *fn)
{
	return signal(sig, fn);
}

int sigignore(int sig);
NEXT_SLOT(sigignore);

STR_EXPORT int
sigignore(int sig)
{
	if (is_ours(sig))
		run_fault_end();
	return ((int (*)(int))run_next(&next_sigignore, "sigignore"))(sig);
}

/* A fault whose signal is blocked ends the process. */
static const sigset_t *
without_ours(int how, const sigset_t *set, sigset_t *copy)
{
	if (!run_caught || set == NULL || how == SIG_UNBLOCK || !has_ours(set))
		return set;
	*copy = *set;
	strip(copy);
	return copy;
}

NEXT_SLOT(sigprocmask);

STR_EXPORT int
sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;

	return NEXT(sigprocmask)(how, without_ours(how, set, &copy), old);
}

NEXT_SLOT(pthread_sigmask);

STR_EXPORT int
pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;

	return NEXT(pthread_sigmask)(how, without_ours(how, set, &copy), old);
}
