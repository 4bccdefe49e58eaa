/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Signals: the trampoline between the kernel and the program's handlers.
 *
 * Inside a call (depth > 0) no handler runs: the trampoline saves the siginfo,
 * blocks the signal in the interrupted context, so that further ones stay in
 * the kernel, and returns. host_leave() queues the signal to the thread again
 * and unblocks it.  So siglongjmp() cannot leave a critical section unfinished,
 * and a handler may itself make calls.  Outside a call the trampoline counts
 * the signal, undoes a wait in progress, and runs the handler.
 *
 * Faults that the processor raises are never deferred.
 *
 * The siginfo of SIGPOLL cannot be sent in its final form, because the kernel
 * refuses a positive si_code to another process.  So it is sent as SI_SIGIO,
 * with code and error in si_errno, and the trampoline stores them in the right
 * fields.
 *
 * `action' contains the program's action; the kernel's action is the
 * trampoline, with the program's flags and TRAMPOLINE_MASK.  When the handler
 * really runs, the program's mask (without SIGSEGV and SIGBUS) is set here, and
 * SA_RESETHAND is carried out.
 *
 * Locks. [action] one writer, signals blocked.  The trampoline reads without a
 * lock: a writer fills the unused entry and then changes `turn', so neither a
 * reader nor a forked child ever waits.
 */
#include <string.h>

#include "user_impl.h"

#define K_RESTORER 0x04000000ul
#define BIT(sig) (1ull << ((sig) - 1))
#define SYNC_MASK (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | \
	BIT(SIGTRAP) | BIT(SIGSYS))
#define FRONT_MASK (BIT(SIGSEGV) | BIT(SIGBUS))
#define LIBC_MASK (BIT(32) | BIT(33)) /* the C library's own */
/* No handler interrupts the trampoline: its last step sets the mask for the
 * program's handler. */
#define TRAMPOLINE_MASK (~LIBC_MASK)
/* The data of host_signal_post() is sent in si_errno, see there. */
#define TOLD 0x53540000u
#define TOLD_MASK 0xffff0000u

/* The kernel's struct. */
struct ksigaction {
	void *handler;
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

struct action {
	str_a32 turn; /* low bit: which of the two is valid */
	uint32_t pad;
	struct {
		str_a64 handler, flags, mask; /* set by the program */
	} v[2];
};

/* A consistent copy of an action. */
struct action_now {
	uint64_t handler, flags, mask;
};

static struct action actions[65];

#if defined(__x86_64__)
void host_sigreturn(void);
#endif

static int
kernel_action(int sig, const struct ksigaction *act, struct ksigaction *old)
{
	return -(int)sys_call4(SYS_rt_sigaction, sig, act, old, SYS_SIGSET);
}

static int
kernel_set(int sig, void *handler, unsigned long flags, uint64_t mask,
	struct ksigaction *old)
{
	struct ksigaction k = { handler, flags, NULL, mask };

#if defined(__x86_64__)
	k.flags |= K_RESTORER;
	k.restorer = host_sigreturn;
#else
	k.flags &= ~K_RESTORER;
#endif
	return kernel_action(sig, &k, old);
}

static void
action_store(int sig, uint64_t handler, uint64_t flags, uint64_t mask)
{
	struct action *a = &actions[sig];
	uint32_t turn = str_load(&a->turn) + 1;

	str_store(&a->v[turn & 1].handler, handler);
	str_store(&a->v[turn & 1].flags, flags);
	str_store(&a->v[turn & 1].mask, mask);
	str_store_rel(&a->turn, turn);
}

static void
action_load(int sig, struct action_now *ret)
{
	struct action *a = &actions[sig];
	uint32_t turn;

	do {
		turn = str_load_acq(&a->turn);
		ret->handler = str_load_acq(&a->v[turn & 1].handler);
		ret->flags = str_load_acq(&a->v[turn & 1].flags);
		ret->mask = str_load_acq(&a->v[turn & 1].mask);
	} while (str_load(&a->turn) != turn);
}

static uint64_t
set_get(const sigset_t *set)
{
	uint64_t v;

	memcpy(&v, set, sizeof v);
	return v;
}

/* Block all signals that may be blocked, for a short time. */
void
host_sig_block(uint64_t *ret_old)
{
	uint64_t all = ~(SYNC_MASK | LIBC_MASK);

	sys_sigmask(SIG_BLOCK, &all, ret_old);
}

void
host_sig_restore(const uint64_t *old)
{
	sys_sigmask(SIG_SETMASK, old, NULL);
}

/*
 * The caller's memory may end after the kernel's part of @set, which has 8
 * bytes.  Before there is a domain, bad memory has no fault handler: then an
 * invalid call of the kernel tests @set, because the kernel reads the set
 * before it refuses the value of `how'.
 */
int
host_sigset_get(const sigset_t *set, sigset_t *ret_set)
{
	uint64_t v = 0;
	int err;

	if (host_domain != NULL) {
		err = host_copyin(set, &v, sizeof v);
	} else {
		err = -(int)sys_call4(SYS_rt_sigprocmask, -1, set, NULL,
			SYS_SIGSET);
		if (err == EINVAL) {
			err = 0;
			v = set_get(set);
		}
	}
	(void)sigemptyset(ret_set);
	memcpy(ret_set, &v, sizeof v);
	return err;
}

const sigset_t *
host_sigmask_filter(int how, const sigset_t *set, sigset_t *buf)
{
	uint64_t v;

	/* the kernel returns the error for an unreadable set */
	if (set == NULL || how == SIG_UNBLOCK ||
	    host_sigset_get(set, buf) != 0)
		return set;
	v = set_get(buf) & ~FRONT_MASK;
	memcpy(buf, &v, sizeof v);
	return buf;
}

/* ------------------------------------------------------------ trampoline */

/* Make the kernel carry out the default action when the trampoline returns. */
static void
default_action(int sig, siginfo_t *info, bool sync)
{
	(void)kernel_set(sig, SIG_DFL, 0, 0, NULL);
	if (!sync) /* a fault repeats by itself */
		(void)sys_call4(SYS_rt_tgsigqueueinfo, sys_getpid(),
			sys_gettid(), sig, info);
}

static void
action_reset(int sig)
{
	struct host_priv *pv = host_priv_page;

	if (pv == NULL)
		return;
	host_plock_lock(&pv->action);
	action_store(sig, 0, 0, 0);
	if (!(BIT(sig) & FRONT_MASK))
		(void)kernel_set(sig, SIG_DFL, 0, 0, NULL);
	host_plock_unlock(&pv->action);
}

static void
put_off(int sig, siginfo_t *info, void *ucontext)
{
	ucontext_t *uc = ucontext;
	uint64_t mask = set_get(&uc->uc_sigmask) | BIT(sig);

	memcpy(&uc->uc_sigmask, &mask, sizeof mask);
	host_tpriv->info[sig - 1] = *info;
	host_tpriv->saved |= BIT(sig);
	host_tls.sig_saved++;
}

/*
 * Queue the deferred signals to this thread again; signals are blocked.
 * Return: the signals that put_off() has blocked, which must be unblocked.
 */
static uint64_t
queue_again(void)
{
	struct host_tpriv *tp = host_tpriv;
	uint64_t saved = tp->saved, self = tp->self;

	tp->saved = tp->self = 0;
	host_tls.sig_saved = 0;
	for (int sig = 1; sig <= 64; sig++) {
		if (saved & BIT(sig))
			(void)sys_call4(SYS_rt_tgsigqueueinfo, sys_getpid(),
				sys_gettid(), sig, &tp->info[sig - 1]);
		if (self & BIT(sig))
			(void)sys_call3(SYS_tgkill, sys_getpid(),
				sys_gettid(), sig);
	}
	return saved;
}

/*
 * Set the mask for the handler of @sig.  A call may have ended just before this
 * signal came, with others deferred: those are queued again, and run here
 * before the handler unless @act blocks them; the context to which the handler
 * returns does not block them any more.
 */
static void
mask_for_handler(int sig, const struct action_now *act, ucontext_t *uc)
{
	uint64_t mask = set_get(&uc->uc_sigmask);

	if (host_tls.sig_saved != 0) {
		mask &= ~queue_again();
		memcpy(&uc->uc_sigmask, &mask, sizeof mask);
	}
	mask |= act->mask & ~FRONT_MASK;
	if (!(act->flags & SA_NODEFER))
		mask |= BIT(sig);
	sys_sigmask(SIG_SETMASK, &mask, NULL);
}

void
host_trampoline(int sig, siginfo_t *info, void *ucontext)
{
	bool sync = (BIT(sig) & SYNC_MASK) && info->si_code > 0;
	struct action_now act;
	uint32_t depth;

	host_siginfo_told(info);
	if (sync && (BIT(sig) & FRONT_MASK) &&
	    host_fault_fixup(info->si_addr, ucontext))
		return;
	action_load(sig, &act);
	if (act.handler == (uint64_t)(uintptr_t)SIG_IGN && !sync)
		return;
	if (act.handler == (uint64_t)(uintptr_t)SIG_DFL ||
	    act.handler == (uint64_t)(uintptr_t)SIG_IGN) {
		default_action(sig, info, sync);
		return;
	}
	if (host_tls.depth > 0 && !sync && host_tpriv != NULL) {
		put_off(sig, info, ucontext);
		return;
	}
	depth = host_tls.depth;
	host_tls.sig_seq++;
	if (!(act.flags & SA_RESTART))
		host_tls.sig_norestart = host_tls.sig_seq;
	host_wait_abandon();
	if (act.flags & SA_RESETHAND)
		action_reset(sig);
	str_barrier();
	host_tls.depth = 0;
	str_barrier();
	mask_for_handler(sig, &act, ucontext);
	if (act.flags & SA_SIGINFO)
		((void (*)(int, siginfo_t *, void *))(uintptr_t)act.handler)(
			sig, info, ucontext);
	else
		((void (*)(int))(uintptr_t)act.handler)(sig);
	host_tls.depth = depth;
}

void
host_leave_slow(void)
{
	uint64_t old;

	host_sig_block(&old);
	old &= ~queue_again(); /* the handlers run on this return */
	host_sig_restore(&old);
}

/* --------------------------------------------------------------- actions */

/* Install the trampoline for @sig, with the program's action behind it. */
static void
front_init(int sig)
{
	struct ksigaction k;

	if (kernel_action(sig, NULL, &k) != 0 ||
	    k.handler == (void *)host_trampoline)
		return;
	action_store(sig, (uint64_t)(uintptr_t)k.handler, k.flags, k.mask);
	(void)kernel_set(sig, (void *)host_trampoline,
		(k.flags & ~(unsigned long)SA_RESETHAND) | SA_SIGINFO |
			SA_ONSTACK,
		TRAMPOLINE_MASK, NULL);
}

void
host_fault_init(void)
{
	struct host_priv *pv = host_priv_page;

	host_plock_lock(&pv->action);
	front_init(SIGSEGV);
	front_init(SIGBUS);
	host_plock_unlock(&pv->action);
}

STR_START_TEXT static void
action_report(int sig, const struct ksigaction *k, struct sigaction *old)
{
	struct action_now act = { (uint64_t)(uintptr_t)k->handler, k->flags,
		k->mask };

	if (k->handler == (void *)host_trampoline)
		action_load(sig, &act);
	memset(old, 0, sizeof *old);
	old->sa_flags = (int)(act.flags & ~K_RESTORER);
	old->sa_handler = (void (*)(int))(uintptr_t)act.handler;
	memcpy(&old->sa_mask, &act.mask, sizeof act.mask);
}

static bool
is_plain(const struct sigaction *act)
{
	return act->sa_handler == SIG_DFL || act->sa_handler == SIG_IGN;
}

static int
action_set(int sig, const struct sigaction *act, struct ksigaction *was)
{
	uint64_t mask = set_get(&act->sa_mask);
	uint64_t handler = (uint64_t)(uintptr_t)act->sa_handler;
	unsigned long flags = (unsigned long)(unsigned)act->sa_flags;
	bool plain = is_plain(act);
	int err;

	if (plain && !(BIT(sig) & FRONT_MASK)) {
		err = kernel_set(sig, (void *)act->sa_handler, flags, mask, was);
		if (err == 0)
			action_store(sig, 0, 0, 0);
		return err;
	}
	action_store(sig, handler, flags, mask);
	flags &= ~(unsigned long)SA_RESETHAND;
	if (plain)
		flags |= SA_ONSTACK;
	return kernel_set(sig, (void *)host_trampoline, flags | SA_SIGINFO,
		TRAMPOLINE_MASK, was);
}

/*
 * Without the lock: replace an action that is not the trampoline by one that
 * needs none either.  The kernel does so at once.  If another thread installs
 * the trampoline in between, its action stays in `actions', where nothing reads
 * it as long as the kernel's action is another one.  False: the lock is needed.
 */
STR_START_TEXT static bool
action_exchange(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct ksigaction k;

	if ((BIT(sig) & FRONT_MASK) || (act != NULL && !is_plain(act)) ||
	    kernel_action(sig, NULL, &k) != 0 ||
	    k.handler == (void *)host_trampoline)
		return false;
	if (act != NULL && kernel_set(sig, (void *)act->sa_handler,
		(unsigned long)(unsigned)act->sa_flags, set_get(&act->sa_mask),
		&k) != 0)
		return false;
	if (old != NULL)
		action_report(sig, &k, old);
	return true;
}

STR_START_TEXT int
host_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction copy = { .sa_handler = SIG_DFL };
	struct host_priv *pv;
	struct ksigaction k, was;
	uint64_t mask;
	int err;

	if (sig < 1 || sig > 64 || (BIT(sig) & LIBC_MASK) ||
	    (act != NULL && (sig == SIGKILL || sig == SIGSTOP)))
		return EINVAL;
	if (act != NULL)
		copy = *act; /* @old may be the same */
	if (action_exchange(sig, act != NULL ? &copy : NULL, old))
		return 0;
	pv = host_priv();
	if (pv == NULL)
		return ENOMEM;
	host_sig_block(&mask);
	host_plock_lock(&pv->action);
	err = kernel_action(sig, NULL, &k);
	if (err == 0 && old != NULL)
		action_report(sig, &k, old);
	if (err == 0 && act != NULL)
		err = action_set(sig, &copy, &was);
	/* action_exchange() of another thread may have come before */
	if (err == 0 && act != NULL && old != NULL &&
	    was.handler != (void *)host_trampoline)
		action_report(sig, &was, old);
	host_plock_unlock(&pv->action);
	host_sig_restore(&mask);
	return err;
}

/* ------------------------------------------------------------- for core */

int
host_signal_post(uint32_t pid, int sig, const struct host_siginfo *si)
{
	siginfo_t info;

	/* minus a group; 0 and -1 would signal many more processes */
	if (pid == 0 || pid == UINT32_MAX)
		return ESRCH;
	if (si == NULL || sig == 0 || (int)pid < 0)
		return -(int)sys_call2(SYS_kill, (int)pid, sig);
	memset(&info, 0, sizeof info);
	info.si_signo = sig;
	info.si_code = SI_SIGIO;
	info.si_errno = (int)(TOLD | (unsigned)(si->code & 0xff) << 8 |
		(unsigned)(si->err & 0xff));
	info.si_band = si->band;
	info.si_fd = si->fd;
	return -(int)sys_call3(SYS_rt_sigqueueinfo, (int)pid, sig, &info);
}

/* host_signal_ignored - does the caller ignore or block @sig? */
bool
host_signal_ignored(int sig)
{
	struct ksigaction k;
	uint64_t mask = 0;

	sys_sigmask(SIG_BLOCK, NULL, &mask);
	return (mask & BIT(sig)) != 0 || (kernel_action(sig, NULL, &k) == 0 &&
		k.handler == (void *)SIG_IGN);
}

void
host_siginfo_told(siginfo_t *info)
{
	unsigned v = (unsigned)info->si_errno;

	if (info->si_code != SI_SIGIO || (v & TOLD_MASK) != TOLD)
		return;
	info->si_code = (int)(v >> 8 & 0xff);
	info->si_errno = (int)(v & 0xff);
}

void
host_signal_self(int sig)
{
	if (sig < 1 || sig > 64 || host_tpriv == NULL)
		return;
	host_tpriv->self |= BIT(sig);
	host_tls.sig_saved++;
}
