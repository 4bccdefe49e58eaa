/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Signal actions and masks.
 *
 * Every handler is called by the host's trampoline, and no mask blocks the two
 * signals that report a bad address; the kernel does all the rest.
 */
#include <errno.h>
#include <signal.h>

#include "call.h"

STR_EXPORT STR_START_TEXT int
sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction in, out;
	int err;

	if (!fd_possible())
		err = host_sigaction(sig, act, old);
	else if (act != NULL && host_copyin(act, &in, sizeof in) != 0)
		err = EFAULT;
	else
		err = host_sigaction(sig, act != NULL ? &in : NULL,
			old != NULL ? &out : NULL);
	/* as in the kernel, the action has changed by then */
	if (err == 0 && old != NULL && fd_possible())
		err = host_copyout(&out, old, sizeof out);
	return err != 0 ? fail(err) : 0;
}

/* Signals for which siginterrupt() asked that calls end. */
static str_a64 interrupts STR_HOT_DATA;

typedef void handler(int);

STR_START_TEXT static handler *
action_handler(int sig, handler *fn, int flags)
{
	struct sigaction sa = {.sa_flags = flags}, old;
	int err;

	if (fn == SIG_ERR)
		err = EINVAL;
	else {
		sa.sa_handler = fn;
		(void)sigemptyset(&sa.sa_mask);
		if (!(flags & SA_NODEFER) && sig >= 1 && sig <= 64)
			(void)sigaddset(&sa.sa_mask, sig);
		err = host_sigaction(sig, &sa, &old);
	}
	if (err != 0) {
		errno = err;
		return SIG_ERR;
	}
	return old.sa_handler;
}

/* BSD: the action stays, calls go on unless siginterrupt() said otherwise */
STR_EXPORT STR_START_TEXT handler *
signal(int sig, handler *fn)
{
	bool intr = sig >= 1 && sig <= 64 &&
		    (str_load(&interrupts) >> (sig - 1) & 1) != 0;

	return action_handler(sig, fn, intr ? 0 : SA_RESTART);
}

handler *bsd_signal(int sig, handler *fn);
handler *ssignal(int sig, handler *fn);
handler *sysv_signal(int sig, handler *fn);
handler *__sysv_signal(int sig, handler *fn);

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

/* System V: once, unmasked, and calls end */
STR_EXPORT handler *
sysv_signal(int sig, handler *fn)
{
	return action_handler(sig, fn, (int)SA_RESETHAND | SA_NODEFER);
}

/* what signal() is under strict standards */
STR_EXPORT handler *
__sysv_signal(int sig, handler *fn)
{
	return sysv_signal(sig, fn);
}

STR_EXPORT int
siginterrupt(int sig, int flag)
{
	struct sigaction sa;
	int err;

	if (sig < 1 || sig > 64)
		return fail(EINVAL);
	err = host_sigaction(sig, NULL, &sa);
	if (err != 0)
		return fail(err);
	if (flag) {
		(void)str_or(&interrupts, (uint64_t)1 << (sig - 1));
		sa.sa_flags &= ~SA_RESTART;
	} else {
		(void)str_and(&interrupts, ~((uint64_t)1 << (sig - 1)));
		sa.sa_flags |= SA_RESTART;
	}
	err = host_sigaction(sig, &sa, NULL);
	return err != 0 ? fail(err) : 0;
}

/* ------------------------------------------------------------ System V's */

#ifndef SIG_HOLD
#define SIG_HOLD ((handler *)2)
#endif

static bool
hold(int sig, int how)
{
	sigset_t set, old;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, sig);
	if (sigprocmask(how, &set, &old) != 0)
		return false;
	return sigismember(&old, sig) == 1;
}

handler *sigset(int sig, handler *fn);

/* sigset - as signal(), and the signal is not held afterwards */
STR_EXPORT handler *
sigset(int sig, handler *fn)
{
	struct sigaction sa;
	handler *old;
	bool held;

	if (sig < 1 || sig > 64 || fn == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	if (fn == SIG_HOLD) {
		int err = host_sigaction(sig, NULL, &sa);

		if (err != 0) {
			errno = err;
			return SIG_ERR;
		}
		return hold(sig, SIG_BLOCK) ? SIG_HOLD : sa.sa_handler;
	}
	old = action_handler(sig, fn, 0);
	if (old == SIG_ERR)
		return old;
	held = hold(sig, SIG_UNBLOCK);
	return held ? SIG_HOLD : old;
}

/* ----------------------------------------------------------------- masks */

/*
 * Which of the two signals the program has blocked, although they never are:
 * bit 0 SIGSEGV, bit 1 SIGBUS.  So a mask reads back as it was set.
 */
static STR_TLS uint32_t believed;

static uint32_t
front_bits(const sigset_t *set)
{
	return (sigismember(set, SIGSEGV) == 1 ? 1u : 0) |
	       (sigismember(set, SIGBUS) == 1 ? 2u : 0);
}

static void
believed_change(int how, const sigset_t *set)
{
	if (how == SIG_BLOCK)
		believed |= front_bits(set);
	else if (how == SIG_UNBLOCK)
		believed &= ~front_bits(set);
	else
		believed = front_bits(set);
}

/* @next is sigprocmask() or pthread_sigmask(). */
static int
mask_change(int (*next)(int, const sigset_t *, sigset_t *), int how,
	const sigset_t *set, sigset_t *old)
{
	uint32_t was = believed;
	sigset_t buf, copy;
	int ret;

	/* @old may be the same; the C library reads @set itself */
	if (set != NULL && host_sigset_get(set, &copy) != 0)
		return EFAULT;
	ret = next(how, set != NULL ?
		host_sigmask_filter(how, &copy, &buf) : NULL, old);
	if (ret != 0)
		return ret;
	if (set != NULL)
		believed_change(how, &copy);
	if (old != NULL && (was & 1))
		(void)sigaddset(old, SIGSEGV);
	if (old != NULL && (was & 2))
		(void)sigaddset(old, SIGBUS);
	return 0;
}

STR_EXPORT int
sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	int ret = mask_change(REAL(sigprocmask), how, set, old);

	return ret > 0 ? fail(ret) : ret;
}

STR_EXPORT int
pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return mask_change(REAL(pthread_sigmask), how, set, old);
}

STR_EXPORT int
sigsuspend(const sigset_t *set)
{
	sigset_t buf;

	return REAL(sigsuspend)(host_sigmask_filter(SIG_SETMASK, set, &buf));
}

/* ----------------------------------------------------- signals waited for */

STR_EXPORT int
sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *ts)
{
	int sig = REAL(sigtimedwait)(set, info, ts);

	if (sig > 0 && info != NULL)
		host_siginfo_told(info);
	return sig;
}

STR_EXPORT int
sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	int sig = REAL(sigwaitinfo)(set, info);

	if (sig > 0 && info != NULL)
		host_siginfo_told(info);
	return sig;
}
