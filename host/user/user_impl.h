/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Common definitions of host/user.
 *
 * Objects. `host_priv' is one page, wiped by the kernel at fork, with the data
 * of this process that its children must not inherit: its identity, its locks,
 * the state of its helper thread.  A zeroed page is its initial state, so a
 * child never finds a lock that a thread of the parent has taken. `host_shared'
 * lies at the end of the domain's header. `host_tpriv' is the data of one
 * attached thread.
 */
#ifndef HOST_USER_IMPL_H
#define HOST_USER_IMPL_H

#include <signal.h>

#include "sys.h"
#include "user.h"

/* A lock between the threads of this process.  0, 1 taken, 2 contended. */
struct host_plock {
	str_a32 word;
};

struct host_priv {
	volatile uint32_t identity; /* 0 = fork made a new process */
	uint32_t proc;		    /* [attach] our process slot */
	struct host_plock attach;   /* attaching, slots */
	struct host_plock action;   /* signal actions */
	struct host_plock diag;     /* the netlink socket */
	struct host_plock bell;     /* the bell; inside of attach */
	struct host_plock image;    /* mapping images; inside of attach */
	struct host_plock sock;	    /* HOST_FD_SOCKS */
	struct host_plock line;	    /* HOST_FD_LINE; outside of bell */
	struct host_plock sockdir;  /* opening it; inside of attach and bell */
	str_a32 sockdir_up;	    /* the directory was checked: sockdir.c */
	uint32_t sockdir_warned;    /* that failure was reported */
	struct host_plock timer;    /* the one below */
	str_a32 timer_up;	    /* [timer] the thread for timers runs */
	str_a32 bell_up;	    /* this process has made its bell */
	str_a32 bell_waiters;	    /* BELL_RINGING | threads polling it */
	struct host_plock daemon;   /* HOST_FD_DAEMON and the three below */
	str_a64 daemon_word;	    /* [A] daemon of that descriptor */
	uint64_t daemon_dev, daemon_ino;
	uint32_t daemon_warned;	    /* that there is none */
	str_a32 leaving;	    /* [attach] thread that changes the user */
	struct host_plock spare;    /* spare carriers; inside of attach */
	str_a32 spares;		    /* [spare] their number: spare.c */
	/* [attach] kin.c */
	uint64_t proc_start, proc_image; /* of this process; 0: unknown */
	bool pidns_is_known;		 /* it is the domain's */
};
extern struct host_priv *_Atomic host_priv_page;

#define HOST_NCHILD 64u /* children that streamsd has not taken yet */

/* Data of the host that all members share. */
struct host_shared {
	str_a64 created;       /* [I] CLOCK_REALTIME seconds, for humans */
	str_a64 ticks;	       /* [A] host_ticks() in a millisecond: clock.c */
	str_a32 copies;	       /* [A] methods of copying: copy_x86_64.c */
	char dir[96];	       /* [I] the socket directory: sockdir.c */
	uint32_t dir_in_base;  /* [I] it lies beside the named domains */
	str_a32 dir_made;      /* [A] it may exist */
	str_a64 sock_seq;      /* [A] the last name used in it */
	str_a64 daemon;	       /* [A] streamsd's process: daemon.c */
	str_a64 daemon_asked;  /* [A] host_now() of the last host_daemon() */
	str_a64 daemon_retry;  /* [A] no start before that host_now() */
	str_a64 daemon_begun;  /* [A] host_now() of host_daemon_begin()'s last */
	str_a32 daemon_err;    /* [A] why */
	str_a32 daemon_fails;  /* [A] failed starts in succession */
	str_a32 daemon_asks;   /* [A] HOST_ASK_*, what its bell rings for */
	str_a32 daemon_soon;   /* [A] 1: a change since the last sweep began */
	str_a64 sock_epoch;    /* [A] counts the keepers of sockets: sock.c */
	str_a64 sock_name;     /* [A] the keeper's socket for letters */
	str_a32 sock_closed;   /* [A] counts sockets that were closed */
	str_a32 sock_awake;    /* [A] streamsd checks sockets in 1 ms, or has
				* been asked to */
	str_a32 daemon_deaths; /* [A] kills during a start, in a row */
	str_a32 notices;       /* [A] 1: streamsd gives them without a cause */
	str_a32 sock_round;    /* [A] number of the round: keep.c */
	str_a64 timer_until;   /* [A] when timers are looked at: timer.c */
	str_a32 timer_word;    /* [A] changes when that is too late */
	str_a32 sock_keeper;   /* [A] process with the keeper of the last
			        * round */
	str_a32 sock_nap;      /* [A] 0, or 1 + letters since the keeper dozed
				* off: keep.c */
	str_a32 child[HOST_NCHILD]; /* [A] pids, 0: free: host_daemon_news() */
};
#define HOST_SHARED_OFF (STR_HDR_SIZE - 8192)
_Static_assert(sizeof(struct host_shared) <= 512, "the images lie behind it");

/* Text that says why streamsd does not run; "" if it does, or may: daemon.c.
 * Lies behind struct host_images. */
#define HOST_WHY_OFF (HOST_SHARED_OFF + 3072)
#define HOST_WHY 1024u

/*
 * Slots of threads for normal use, which are backed when they are needed; a few
 * more are for reaping, and the last one is lent to str_region_init().
 */
#define HOST_THREADS (STR_NTHREAD - 9u)
#define HOST_THREADS_FIRST 16u /* slots that are backed from the beginning */
int host_threads_commit(uint32_t n); /* commit.c */
int host_header_back(int fd);	/* of the new domain @fd */

/* A bit for each index of a socket that streamsd has a descriptor of. */
#define HOST_KEPT_OFF (STR_HDR_SIZE - 4096)
_Static_assert(HOST_NSOCK / 8 <= 4096, "they have a page");

STR_INLINE struct host_shared *
host_shared(struct str_domain *d)
{
	return (struct host_shared *)(void *)((char *)d + HOST_SHARED_OFF);
}

struct host_tpriv {
	uint64_t saved;	  /* [O] bit sig-1: deferred, siginfo below */
	uint64_t self;	  /* [O] bit sig-1: host_signal_self() */
	siginfo_t info[64];
	struct host_tls *tls;	  /* [I] its owner's */
	struct host_tpriv *next;  /* [attach] */
};
extern STR_TLS struct host_tpriv *host_tpriv;

/* Set while this thread polls its process's bell, see bell.c. */
extern STR_TLS uint32_t host_bell_waiting;

#define HOST_PROC_EXIT 2u /* str_proc.flags: it is about to exit */
#define HOST_CODE_GAP (64ull << 20) /* code window below the domain */

struct stat;

/* timer.c */
void host_timer_help(void);
void host_timer_end(void);

/* domain.c */
int host_domain_attach(void);	   /* [attach] held, signals blocked */
int host_domain_check_ns(void);
int host_domain_fd(void);
bool host_domain_is(int fd);
/* A core file does not contain the domain, except in debug builds. */
#ifdef STR_DEBUG
#define HOST_DOMAIN_DUMP MADV_DODUMP
#else
#define HOST_DOMAIN_DUMP MADV_DONTDUMP
#endif
int host_domain_stat(int fd, struct stat *st);
/* host_outside_put() for the kernel's pipe of a PLAIN pipe. */
long host_plain_put(int fd, const void *buf, size_t len);
/* Send a token, which is marked by the descriptor @with. */
long host_marked_send(int fd, int with);
/* Check a domain's file, and read its trusted part and its names. */
int host_domain_check(int fd, const char *what, struct host_file *ret_file);
bool host_file_read(const struct host_file *df, uint64_t off, void *to,
	size_t n);
/* Call @fn with the file of the domain that this process could join, without
 * joining.  Return: result of @fn; false: there is none. errno is preserved. */
bool host_peek(bool (*fn)(const struct host_file *df, void *arg), void *arg);
int host_domain_build(int fd);
int host_domain_map(int fd, const char *what);
int host_domain_join(void);
/* Map @size bytes at @at, and lock only used pages.  Return: 0; EEXIST:
 * something is mapped there; or another errno.  host_map_again - map @fd, of the
 * domain at @at, in its place: the same pages, so a failure does no harm. */
int host_map(uint64_t at, uint64_t size, int prot, int flags, int fd);
void host_map_again(void *at, uint64_t size, int fd);
void host_domain_unmap(void);
uint64_t host_ns_now(const char *name);
uint64_t host_ns_inode(const char *name);
void host_ns_keep(bool on);
/* ids.c: which processes trust each other. */
struct host_ids {
	uint32_t gid;
	uint64_t permitted; /* capabilities */
	uint64_t userns;    /* the user namespace's inode; 0: unknown */
};
void host_ids_write(struct str_domain *d);
int host_ids_numbered(void);
int host_ids_single(void);
int host_ids_fit(const struct host_ids *of, const char *what);
bool host_uid_known(unsigned uid);
extern bool host_uid_every;
bool host_uid_mine(unsigned uid);
/*
 * trust.c. host_trust_open() opens @path, unless another user may have chosen
 * it: a file for reading; HOST_TRUST_EXEC: a file, by O_PATH; HOST_TRUST_DIR: a
 * directory, by O_PATH.  HOST_TRUST_CHOSEN: the path comes from the
 * environment.
 * @why, @len: buffer for the reason of a failure Return: 0 and a descriptor
 * with close-on-exec; EACCES: another user may have chosen it, or it is not a
 * file; EINVAL: not an absolute path; or the errno of open(2).
 * host_trust_library() is the library's own file; NULL: unknown.
 */
#define HOST_TRUST_CHOSEN 1u
#define HOST_TRUST_EXEC 2u
#define HOST_TRUST_DIR 4u
int host_trust_open(const char *path, unsigned how, int *ret_fd, char *why,
	size_t len);
const char *host_trust_library(void);
void host_trust_tell(const char *path, const char *why); /* if host_verbose() */
bool host_verbose(void); /* STREAMS_VERBOSE */
/* Advice for errors about a directory or file. */
#define HOST_ELSEWHERE "; set XDG_RUNTIME_DIR to a directory of yours with " \
	"mode 0700, or STREAMS_DOMAIN to a path, or to private"
void host_attach_report(void);
void host_attached(void);
void host_domain_resign(void);
bool host_domain_mine(void);	/* its owner is the effective user */
int host_fail(int err, const char *fmt, ...) STR_PRINTF(2, 3);
int host_fail_file(int err, const char *what);
const char *host_words(int err, char *buf, size_t size);

/* name.c */
struct host_name {
	char dir[512];	/* "" unless the directory is one of ours */
	char path[768];
	char name[129];	/* in that directory, the first part of it */
	int fd;		/* "fd:N", or -1 */
	bool private;	/* make an anonymous one */
	bool place;	/* the directory is that of place.c */
};
int host_name_resolve(struct host_name *ret_name);
int host_name_mkdir(struct host_name *n);
/* The directory of named domains; it need not exist. */
int host_name_base(char *buf, size_t size);
/* Return: 0 or the errno of mkdir(2). */
int host_name_base_make(const char *base);
int host_dir_make(const char *path);
bool host_dir_mend(const char *path);

/* holder.c */
/* A duplicate of another process's descriptor of the socket @c, taken without
 * its help; minus an errno: there is none, or the system does not permit it. */
int host_holder_take(const struct host_carrier *c);

/* place.c */
#define HOST_PLACE 64u /* bytes of a path */
int host_place_find(char path[HOST_PLACE]);
int host_place_make(char path[HOST_PLACE]);
void host_name_rmdir(const char *dir); /* if it is empty */

/* named.c */
int host_named_attach(struct host_name *n);
/* Remove domains in @dir that crashes in ended network namespaces have left. */
void host_named_sweep(const char *dir);
/* Does @fn return true for one of the names in @path?  Without malloc(). */
bool host_dir_find(const char *path, bool (*fn)(const char *name, void *arg),
	void *arg);
void host_named_forked(void);	/* a lock of its own for a child */
void host_named_exit(void);
void host_named_forget(void);	/* this process is no member any more */
bool host_named(void);		/* the domain has a name */
bool host_named_forsaken(void);
bool host_named_alone(void);
bool host_named_wires(void);
/*
 * The last result of host_carrier_alive() was a guess, because the kernel gave
 * no answer.
 */
extern bool host_carrier_unsure;
const char *host_named_dir(void); /* ours, that goes with the name; or "" */
void host_named_dir_set(const char *dir);

/* fd.c */
enum host_fd {
	HOST_FD_DOMAIN, HOST_FD_BELL, HOST_FD_DIAG, HOST_FD_DAEMON,
	HOST_FD_SOCKS, /* epoll: sock.c */
	HOST_FD_SOCKDIR, /* sockdir.c */
	HOST_FD_LINE, /* to the keeper: pass.c */
	HOST_FD_MARK, /* of tokens: carrier.c */
	HOST_FD_NAME, /* ends that are attached to names: fattach */
	HOST_FD_NAME_END = HOST_FD_NAME + 16,
	HOST_FD_SPARE = HOST_FD_NAME_END, /* spare.c */
	HOST_FD_SPARE_END = HOST_FD_SPARE + 16,
	HOST_NFD = HOST_FD_SPARE_END
};
int host_fd_get(enum host_fd which);
void host_fd_note(enum host_fd which, int fd);
int host_fd_hide(enum host_fd which, int fd, bool cloexec);
void host_fd_drop(enum host_fd which);
int host_fd_copy(enum host_fd which, int fd);
/* The cookie of the socket @fd.  Return: 0, EBADF, ENOTSOCK. */
int host_fd_cookie(int fd, uint64_t *ret);

/*
 * spare.c.  host_spare_keep - @fd, of a stream with the carrier @c that no other
 * process can hold, is about to be closed: keep the carrier for the next stream
 * of this process, if there is room.  It was made with O_NONBLOCK: @nonblock.
 * @mate: of a pipe, the cookie of the other end's carrier; else 0.
 * Then, when the close has been done, the caller calls one of the next two.
 * host_spare_ready - the stream of the spare @cookie has ended.
 * host_spare_forget - the carrier @cookie is no spare, and neither is its mate:
 * close both.
 * host_spare_shared - another process is about to get descriptors: close the
 * spares whose streams have not ended.
 * host_spare_take - a spare with a free number and the flags @oflags, O_CLOEXEC
 * and O_NONBLOCK; false: there is none.  host_spare_take_pair - the same for a
 * pipe.  host_spare_hold - close all, and keep and give none until
 * host_spare_release().  host_spare_close - only close all.
 */
bool host_spare_keep(int fd, const struct host_carrier *c, uint64_t mate,
	bool nonblock);
void host_spare_ready(uint64_t cookie);
void host_spare_forget(uint64_t cookie);
void host_spare_shared(void);
bool host_spare_take(int oflags, int *ret_fd, struct host_carrier *ret_c);
bool host_spare_take_pair(int oflags, int ret_fd[2],
	struct host_carrier ret_c[2]);
void host_spare_hold(void);
void host_spare_release(void);
void host_spare_close(void);

/* proc.c */
char *host_digits(char *to, unsigned v);
void host_proc_start(int pid, uint64_t *ret_start, uint64_t *ret_image,
	bool *ret_dead);
bool host_task_dead(int pid, int tid);
bool host_task_stopped(int pid, int tid);

/*
 * kin.c.  host_kin_fork - before a fork, host_kin_child - in the child.
 * host_kin_start - the start time and image of this process, if they are known
 * without asking /proc; host_kin_told - /proc was asked.
 * host_kin_here - is it certain that this thread, which made the socket @fd, is
 * in the namespaces of the domain?  host_kin_is_here - it is, by
 * host_domain_check_ns(). host_kin_forget - another domain.  Locks: attach.
 */
void host_kin_fork(void);
void host_kin_child(void);
bool host_kin_start(uint64_t *ret_start, uint64_t *ret_image);
void host_kin_told(uint64_t start, uint64_t image);
bool host_kin_here(int fd);
void host_kin_is_here(int fd);
void host_kin_forget(void);

/* slot.c */
void host_slot_exit(void);
bool host_members_recorded(const struct host_file *df);
int host_slot_alone(void);	/* leave.c calls it */
bool host_proc_alive(uint32_t idx, uint32_t gen, uint32_t pid);
void host_reap_scan(void);
void host_reap_ended(uint32_t idx, uint32_t gen, uint32_t pid);
bool host_reap_next(uint32_t *at);

/*
 * daemon.c.  What streamsd is asked for.  A ring without one does nothing.
 */
#define HOST_ASK_MEMBER 1u /* host_daemon_member() */
#define HOST_ASK_EXEC 2u   /* one is about to exec */
#define HOST_ASK_SOCK 4u   /* str_sock_serve() has work */
#define HOST_ASK_LOOK 8u   /* host_daemon_look() */
#define HOST_ASK_NOTICE 16u /* threads rely on notices: notice.c */
#define HOST_ASK_CHILD 32u /* host_daemon_news() */
#define HOST_ASK_SOON 64u  /* host_daemon_soon() */
extern bool host_is_daemon;
extern bool host_daemon_comes; /* this process will be streamsd */
bool host_daemon_claim(void);
bool host_daemon_resign(uint64_t asked);
bool host_daemon_begin(void);
uint32_t host_daemon_pid(void);
void host_daemon_tell(uint32_t ask);
/* host_daemon_member - this process has attached. @fd: a datagram socket */
void host_daemon_member(int fd);
/*
 * host_daemon_news - tell streamsd about the process @pid, which has descriptors
 * of this process and may never make a call.  Async-signal-safe; keeps errno.
 * host_daemon_children - in streamsd: call @fn with each pid that has come.
 */
void host_daemon_news(uint32_t pid);
void host_daemon_children(void (*fn)(uint32_t pid));
/* spawn.c */
void host_daemon_environment(void); /* [attach] held */
extern bool host_daemon_verbose; /* host_verbose() at that time */
/* Start the program.  One thread of the domain at a time. @wait: wait until it
 * has reported that it runs.  Return: 0, else an errno, with a text in
 * *ret_why. */
int host_daemon_spawn(bool wait, const char **ret_why);
const char *host_daemon_why(void); /* in words; daemon.c */
/* crash.c, where there are crash points */
bool host_crash_env(const char *name, char *buf, size_t size);
/* Before a sleep: a further descriptor to poll, or -1; and the latest time of
 * the next check, because streamsd is needed and cannot be started now. */
int host_daemon_watch(uint64_t *ret_again);
void host_daemon_dies(void);
void host_daemon_ended(void);	/* after it, when that was readable */

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/*
 * notice.c.  host_waitv() is futex_waitv(2) on words that processes share; it
 * may only be called if host_waitv_usable().
 */
struct host_waitv {
	uint64_t val, addr;
	uint32_t flags, reserved;
};
struct timespec;
bool host_waitv_usable(void);
void host_waitv_forget(void); /* it was refused */
long host_waitv(const struct host_waitv *v, unsigned n,
	const struct timespec *until);
void host_notice_want(void);
bool host_notice_over(const struct host_notice *n);
bool host_notice_lives(uint32_t slot, uint32_t pid);
bool host_notice_ends(uint32_t slot);
void host_look_ring(struct str_proc *p);
void host_notice_offer(void);	/* streamsd only, as the next one */
void host_notice_withdraw(void);

/* priv.c */
bool host_plock_try(struct host_plock *l);
void host_plock_lock(struct host_plock *l);
void host_plock_unlock(struct host_plock *l);
struct host_priv *host_priv(void); /* NULL: no memory */

/* fault.c, signal.c */
extern const char host_copy_begin[], host_copy_end[], host_copy_fault[];
void host_fault_init(void);
void host_trampoline(int sig, siginfo_t *info, void *ucontext);
bool host_signal_ignored(int sig);
int host_sigaction_raw(int sig, void (*fn)(int, siginfo_t *, void *),
	unsigned long flags, uint64_t mask);
bool host_fault_fixup(const void *addr, void *ucontext);
void host_sig_block(uint64_t *ret_old);
void host_sig_restore(const uint64_t *old);
void host_wait_abandon(void);	/* a handler is about to run in a wait */

/* sockdir.c */
struct msghdr;
struct sockaddr_un;
/*
 * Report that the file system of the directory is full: @err.  Return: ENOSR.
 */
int host_sockdir_full(int err);
void host_sockdir_choose(struct host_shared *s);
int host_sockdir_bind(int fd, uint64_t *ret_number);
long host_sockdir_send(int fd, uint64_t number, struct msghdr *m, bool sure);
long host_sockdir_connect(int fd, uint64_t number, bool sure);
void host_sockdir_unlink(uint64_t number);
uint64_t host_sockdir_number(const struct sockaddr_un *sun, uint32_t len);
void host_sockdir_exit(void);
void host_sockdir_sweep(const char *base);
void host_sockdir_tidy(void);

/*
 * carrier.c. host_dgram_send() sends @m to the socket called @number; @sure: it
 * has a content. host_creds_want() enables the senders' credentials on the
 * bound socket @fd. host_creds_put() writes the caller's, as control data; it
 * returns their size. host_creds_ours() says whether a process of this user has
 * sent the received message.
 */
int host_dgram_send(uint64_t number, struct msghdr *m, bool sure);
void host_creds_want(int fd);
/* The errno of a call for which a socket cannot be made because of @err. */
int host_carrier_err(int err);
size_t host_creds_put(void *room);
bool host_creds_ours(struct msghdr *m);

/*
 * pass.c: many descriptors in one datagram with @text, sent to the keeper,
 * whose socket is called @number. host_fds_recv() waits; *ret_lost: only the first *ret_n of
 * the sent ones could be received.  Return: bytes of text from a process of
 * this user, or minus an errno, with no descriptors.
 */
#define HOST_FDS 253u /* the system allows no more */
int host_fds_send(uint64_t number, const void *text, size_t len, const int *fd,
	unsigned n);
long host_fds_recv(int via, void *text, size_t size, int fd[HOST_FDS],
	unsigned *ret_n, bool *ret_lost);

/*
 * pass.c.  host_fd_pass() sends a duplicate of descriptor @fd to the carrier
 * @to, of kind OPEN, under the number @id.  Return: 0, EBADF, EAGAIN (queue
 * full), ECONNREFUSED, EACCES (the socket directory is not trustworthy).
 * host_fd_take() takes the descriptor @id out of the queue of the carrier @via;
 * those before it are closed.  Return: 0, ENOENT, EMFILE.
 */
int host_fd_pass(const struct host_carrier *to, int fd, uint64_t id);
int host_fd_take(int via, uint64_t id, int *ret_fd);

/* bell.c */
int host_bell_open(void);	/* its descriptor, or -1 */
bool host_bell_enter(void);
void host_bell_leave(bool rung);
void host_bell_ring_proc(struct str_proc *p);
void host_bell_gone(void);	/* remove this process's name */

/* modload_image.c */
int host_images_attach(void);	/* [attach] the domain is mapped */
void host_images_detach(void);
void host_images_forked(void);
bool host_images_fault(const void *addr, uintptr_t ip);

/* code.c, clock.c, fence.c, copy */
int host_code_init(uint64_t base);
/* Make all slots, for images.  Return: 0, ENOMEM.  Locks: [attach] or [image] */
int host_code_all(void);
void host_code_fini(uint64_t base);
void host_clock_init(str_a64 *known); /* the rate; 0: not yet */
void host_clock_refine(void);
/* cred.c.  host_cred_learn - the process attaches: its ids stay the same until
 * it calls host_cred_vary(), before it changes one. */
void host_cred_learn(void);
void host_cred_vary(void);

bool host_fence_init(void);
void host_park(void);
void host_unpark(void);
void host_copy_init(str_a32 *known); /* the processor; 0: not yet */

#endif
