/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Interface of the user host for the library that wraps the system calls, in
 * addition to <str/host.h>.
 */
#ifndef HOST_USER_H
#define HOST_USER_H

#include <signal.h>
#include <str/host.h>

/*
 * host_attach_error - text with the reason why the last attach failed; "" if
 * none did.
 */
const char *host_attach_error(void);
/* host_domain_path - file of the domain, "fd:N", or "" when not attached. */
const char *host_domain_path(void);

/*
 * host_domain_exit - the process ends: free its slots; the last member of a
 * named domain removes the name.  Called at exit, by the host itself
 * unless a program or library defines host_exit_by_caller as true.
 */
void host_domain_exit(void);
extern bool host_exit_by_caller;

/*
 * pthread_atfork() and atexit() are functions in this image, at its end.  What
 * they call is in the C library, so that the start of a program needs no page
 * of this image for them.
 */
extern void *__dso_handle STR_HIDDEN;
int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *);
int __cxa_atexit(void (*)(void *), void *, void *);

/*
 * host_user_lock - until host_user_unlock() no other thread attaches to a domain,
 * or changes the user.  Context: not within a call; the caller may be in a
 * handler.
 * Return: true: the caller unlocks; false: this is a handler of the thread
 * that has the lock, or no lock is needed.
 */
bool host_user_lock(void);
void host_user_unlock(void);

/*
 * host_leave_begin - this process is about to have another user and leaves
 * its domain.  Locks: host_user_lock().  Return: 0; EAGAIN when another thread
 * is in a call.  The caller then closes its Streams, as a member of the domain;
 * no other thread of this process can begin a call meanwhile. host_leave_end -
 * the process is not a member any more; a thread that needs a domain attaches
 * to that of the new user.
 */
int host_leave_begin(void);
void host_leave_end(void);
extern uint32_t host_left; /* how often */

/*
 * host_timer_serve - for streamsd: start the thread for timers, unless it runs
 * host_timer_hold - wait until the thread for timers runs none, and prevent new
 * ones, because the process is ending.
 * host_timer_release - allow timers again.
 */
void host_timer_serve(void);
void host_timer_hold(void);
void host_timer_release(void);

/*
 * host_fault_rows - after a fault at &at + at continue at &to + to, for @n
 * rows, which must remain valid. x86_64 only; one caller.
 */
struct host_fault_row {
	int32_t at, to;
};
void host_fault_rows(const struct host_fault_row *row, size_t n);

/*
 * host_fd_is_ours - is @fd one of the host's hidden descriptors?  Wrappers
 * that close or replace descriptors skip these.
 * host_fd_protect - move @fd to a high, close-on-exec number.
 * Return: the new number; @fd itself if there is none.
 */
bool host_fd_is_ours(int fd);
/* The same for the kernel's pipes of PLAIN pipes: the lowest hidden descriptor
 * from @from on, or -1; and move it away. */
bool host_plain_hidden(int fd);
int host_plain_hidden_from(int from);
void host_plain_hidden_move(int fd);
int host_fd_protect(int fd);

/*
 * host_sigaction - sigaction() with the trampoline between the kernel and
 * the handler.  Return: 0 or errno.
 */
int host_sigaction(int sig, const struct sigaction *act,
	struct sigaction *old);
/* host_siginfo_told - convert the siginfo from another member's
 * host_signal_post() to its final form. */
void host_siginfo_told(siginfo_t *info);
/*
 * host_sigmask_filter - the mask for the kernel instead of @set, so that
 * SIGSEGV and SIGBUS are never blocked. @buf is room for the result. @set may
 * be NULL. @how as for sigprocmask(); SIG_SETMASK for sets of other calls.
 */
const sigset_t *host_sigmask_filter(int how, const sigset_t *set,
	sigset_t *buf);

/*
 * host_sigset_get - copy the caller's @set, of which only the kernel's 8 bytes
 * need to exist.
 * Return: 0 or EFAULT.
 */
int host_sigset_get(const sigset_t *set, sigset_t *ret_set);

/*
 * host_exec_begin - this thread is about to exec: its image ends although its
 * pid stays.
 * host_exec_failed - the exec failed.
 */
void host_exec_begin(void);
void host_exec_failed(void);

/*
 * Up-call: run the timers due at @now.  Return: when the next one is due,
 * UINT64_MAX if there is none.
 */
uint64_t str_timer_run(uint64_t now);
/* Up-call: when the next one is due; it may have been cancelled. */
uint64_t str_timer_next(void);

#endif
