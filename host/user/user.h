/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the user host offers to the library that wraps the system calls, over
 * and above <str/host.h>.
 */
#ifndef HOST_USER_H
#define HOST_USER_H

#include <signal.h>
#include <str/host.h>

/* host_attach_error - why the last attach failed, in words; "" if none did. */
const char *host_attach_error(void);
/* host_domain_path - file of the domain, "fd:N", or "" when not attached. */
const char *host_domain_path(void);

/*
 * host_domain_exit - the process ends: give back its slots; the last member
 * of a named domain takes the name away.  Called at exit, by the caller that set
 * host_exit_by_caller before the first attach, else by the host itself.
 */
void host_domain_exit(void);
extern bool host_exit_by_caller;

/*
 * host_user_lock - until host_user_unlock() no other thread attaches to a domain,
 * or changes the user.  Context: not within a call; the caller may be in a
 * handler.  Return: true: the caller unlocks; false: it is locked by this
 * thread already, whose handler this is, or need not be.
 */
bool host_user_lock(void);
void host_user_unlock(void);

/*
 * host_leave_begin - this process is about to have another user and leaves
 * its domain.  Locks: host_user_lock().  Return: 0; EAGAIN when another thread is in a call.  The caller
 * closes its Streams then, as one of the domain, in which no other thread of
 * this process can begin a call.
 * host_leave_end - it is no member; a thread that needs a domain attaches to
 * that of the user whom the process has then.
 */
int host_leave_begin(void);
void host_leave_end(void);
extern uint32_t host_left; /* how often */

/*
 * host_timer_hold - wait until the helper thread runs no timer, and let it
 * begin none: the process ends in order.  host_timer_release - go on.
 */
void host_timer_hold(void);
void host_timer_release(void);

/*
 * host_fault_rows - a fault at &at + at goes on at &to + to, for @n rows that
 * stay where they are.  x86_64 alone; one caller.
 */
struct host_fault_row {
	int32_t at, to;
};
void host_fault_rows(const struct host_fault_row *row, size_t n);

/*
 * host_fd_is_ours - is @fd one of the host's hidden descriptors?  Wrappers
 * that close or replace descriptors skip these.
 * host_fd_protect - move @fd to a high, close-on-exec number.  Return: the
 * new number, @fd itself when there is none.
 */
bool host_fd_is_ours(int fd);
int host_fd_protect(int fd);

/*
 * host_sigaction - sigaction() with the trampoline between the kernel and
 * the handler.  Return: 0 or errno.
 */
int host_sigaction(int sig, const struct sigaction *act,
	struct sigaction *old);
/* host_siginfo_told - make what another member's host_signal_post() told what
 * the program shall see. */
void host_siginfo_told(siginfo_t *info);
/*
 * host_sigmask_filter - what to give the kernel instead of @set, so that
 * SIGSEGV and SIGBUS are never blocked.  @buf is room for the answer.  @set
 * may be NULL.  @how as for sigprocmask(); SIG_SETMASK for sets without.
 */
const sigset_t *host_sigmask_filter(int how, const sigset_t *set,
	sigset_t *buf);

/*
 * host_sigset_get - copy the caller's @set, of which only the kernel's 8 bytes
 * need to be there.  Return: 0 or EFAULT.
 */
int host_sigset_get(const sigset_t *set, sigset_t *ret_set);

/*
 * host_exec_begin - this thread is about to exec: its image goes away even
 * though its pid stays.  host_exec_failed - it did not.
 */
void host_exec_begin(void);
void host_exec_failed(void);

/*
 * Up-call: run the timers due at @now.  Return: when the next one is due,
 * UINT64_MAX if there is none.
 */
uint64_t str_timer_run(uint64_t now);

#endif
