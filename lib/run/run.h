/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * libstrrun: private header.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <str/annot.h>

#include "area.h"

#define RUN_NFD 1024 /* descriptors from here on are never carried */

/*
 * Variables.  The hot ones (STR_HOT_DATA), and after them what is known of the
 * lowest descriptors, lie in one page, so that a forked child that writes to them
 * copies one page.  The large ones lie in the file, so that the dynamic linker
 * makes no mapping for them.  The linker puts sections in the order in which it
 * meets them: end.c comes first, and has no large variable.
 */

/* The kind of a descriptor; from RUN_END on: index of an end. */
enum { RUN_COUNTING, RUN_NEVER, RUN_END };

/* What the reader knows of the kernel's pipe. */
enum run_kernel {
	RUN_EMPTY,   /* it has no bytes, while ASLEEP is not set */
	RUN_SLEPT,   /* it was empty when the reader set ASLEEP */
	RUN_UNKNOWN  /* it may have bytes from before STREAM */
};

/* How long a call looks at the ring before it sleeps (word.h). */
struct run_look {
	uint32_t time; /* ticks */
	uint32_t skipped, skip;
};

/* Sleeps of a reader that waits for more bytes. */
struct run_nap {
	uint32_t skip; /* reads until the next one */
	uint32_t lost; /* that brought nothing, one after the other */
	bool slow; /* the writer has another CPU, and is slow */
};

/* An end that this process holds and that is ready for the ring. */
struct run_end {
	struct run_pipe *p; /* NULL: unused */
	unsigned char *ring;
	uint64_t id, epoch;
	bool reads;
	uint8_t kernel;	   /* reader: an enum run_kernel */
	bool got;	   /* reader: bytes have come since it was SLEPT */
	struct run_look look;
	struct run_nap nap;
	uint32_t gather;   /* reader: ticks for which it lets few bytes become more */
	uint32_t seen;	   /* position of the other side, when last looked at */
	uint32_t calls, next; /* writer: calls, and the one that tries next */
	uint64_t checked;  /* writer: time of the last look for the reader */
};

extern bool run_on;		      /* this process is under strrun */
extern bool run_inside;	      /* a call uses a ring */
extern bool run_ending;	      /* this process ends: no more rings */
extern uint32_t run_armed;	      /* number of ends in use */
/* What is known of a descriptor. */
struct run_fd {
	uint8_t kind;
	uint8_t shift; /* doublings of the limit of calls */
	uint16_t calls;
};
extern struct run_fd run_fds[RUN_NFD];

/* The next definitions of two calls. */
ssize_t run_next_read(int fd, void *buf, size_t len);
ssize_t run_next_write(int fd, const void *buf, size_t len);
/* The next definition of @name; never NULL. */
void *run_find_next(void **cache, const char *name);

STR_INLINE void *
run_next(void **cache, const char *name)
{
	void *p = __atomic_load_n(cache, __ATOMIC_RELAXED);

	return str_likely(p != NULL) ? p : run_find_next(cache, name);
}

/* Find the next definitions of what most forked children call. */
void run_find_common(void);

#define NEXT(name) \
	((__typeof__(&name))run_next(&next_##name, #name))
#define NEXT_SLOT(name) static void *next_##name STR_HOT_DATA

/* ---------------------------------------------------------------- area.c */
/* Map the area.  False: this process is not under strrun, or cannot be. */
bool run_attach(void);
extern struct run_area *run_map; /* NULL: not mapped */
/* The number of @p's inode in the area. */
STR_INLINE uint64_t *
run_id(const struct run_pipe *p)
{
	return &run_map->id[p - run_map->pipe];
}
/* The ring of @p, mapped; NULL. */
unsigned char *run_ring(struct run_pipe *p);
/* The record of the pipe with inode @id on the device @dev; NULL. */
struct run_pipe *run_find(uint64_t id, uint64_t dev);
/* Is this process in the list of @p's holders? */
bool run_is_holder(const struct run_pipe *p);
/* Only the process that has taken a record makes it BUSY.  One that is killed
 * leaves it to the next.  False: another process has it. */
bool run_take(struct run_pipe *p);
void run_untake(struct run_pipe *p);
/* A new pipe with inode @id, held by this process. */
void run_record(uint64_t id, uint64_t dev);
void run_unfit(struct run_pipe *p, enum run_count why);
void run_count(enum run_count what);
void run_off(void);
/* This process has nothing of the area any more. */
void run_detach(void);
/* Every process that this one makes will hold the pipes that this one does. */
void run_fork_begin(void);
/* In the parent: the child has made the entries, or will. */
void run_fork_leave(void);
/* In the parent, after this: there is no child. */
void run_fork_failed(void);
void run_fork_child(void);
/* The process @pid has been made; 0: none has. */
void run_fork_made(pid_t pid);
/* Look at all descriptors once, so that inherited pipes are known. */
void run_know_held(void);
/* Does this process hold any pipe that has a record? */
bool run_holds_any(void);
/* The pipes that a next image inherits (@exec), or all, get @why. */
void run_unfit_held(bool exec, enum run_count why);

/* ---------------------------------------------------------------- scan.c */
/* Call @f for each descriptor of @pid (0: this process) that is a pipe;
 * false: they cannot be listed. @mode: S_IRUSR, S_IWUSR. */
typedef void run_seen(void *arg, int fd, uint64_t id, unsigned mode);
bool run_scan(pid_t pid, run_seen *f, void *arg);
/*
 * Scans are paid for by calls: a process with N pipes has N reasons for scans of
 * N descriptors.  Has this process made enough calls for another scan?  run_earn:
 * it has made @calls more.  A scan that is necessary is made without asking.
 */
bool run_may_scan(void);
void run_earn(uint32_t calls);
/*
 * Mark the pipes that this process holds: no process carries them.  For one that
 * cannot tell the area of its children.  Needs no memory and no descriptor.
 */
void run_mark_all(void);
bool run_is_marked(int fd);
/* Are the reader of @p and this process its only holders?  @fd: our end. */
bool run_two_only(struct run_pipe *p, int fd);

/* ----------------------------------------------------------------- end.c */
/* @fd has made enough calls: its kind from now on. */
unsigned run_consider(int fd, bool writes);
#define RUN_ENDS 32
extern struct run_end run_ends[RUN_ENDS];

STR_INLINE struct run_end *
run_end(unsigned kind)
{
	return &run_ends[kind - RUN_END];
}

/* Descriptors of @e: again COUNTING, or NEVER. */
void run_disarm(struct run_end *e, bool never);
bool run_upgrade(struct run_end *e, struct run_pipe *p, int fd);
/* Each writer looks for its reader before its next write. */
void run_look_again(void);

/* ---------------------------------------------------------------- ring.c */
ssize_t run_ring_read(struct run_end *e, int fd, void *buf, size_t len);
ssize_t run_ring_write(struct run_end *e, int fd, const void *buf, size_t len);

/* ---------------------------------------------------------------- wait.c */
/* Yield the CPU, for the other side of a pipe.  False: not now, because yields
 * have taken too long lately (host/user/way.h); sleep. */
bool run_give_way(void);
/* While a call waits it holds the signals of the program, but not those of
 * fault.c, so that it sees each one that comes. */
struct run_held {
	uint64_t mask; /* the program's */
	bool on;
};
void run_hold(struct run_held *h);
enum run_came {
	RUN_NONE,
	RUN_RESTARTS, /* a call of the kernel's would be restarted now */
	RUN_ENDS_CALL /* or would end with EINTR */
};
/* If signals have come, or if @release, end the hold: their handlers run. */
enum run_came run_let(struct run_held *h, bool release);
void run_sleep_ms(void);
/* POLLERR and POLLHUP of @fd after at most @ms milliseconds. */
short run_events(int fd, int ms);
/* Has the last reader closed the pipe of the writer's @fd? */
bool run_is_gone(int fd);
/* Number of bytes in the kernel's pipe; -1. */
int run_unread(int fd);
/* Wait until the reader has made room, or signals have come.  @fd: the
 * writer's; *ret_gone: the reader has ended.  Locks: @h holds the signals; it does
 * so afterwards if none has come. */
enum run_came run_wait_room(struct run_end *e, struct run_pipe *p,
	uint64_t tail, int fd, struct run_held *h, bool *ret_gone);
void run_wake_writer(struct run_pipe *p);
#define RUN_ENOUGH 16384u /* bytes for which no reader waits for more */
/* The writer needs some time to write more.  If the ring does not have the @len
 * bytes that the reader wants, nor enough of them: sleep until it has many, at most
 * half a millisecond, unless such sleeps have not been worth it. */
void run_nap(struct run_end *e, struct run_pipe *p, size_t len);
/* The ring has few bytes, and had the position @tail: look or sleep a while. */
void run_gather(struct run_end *e, struct run_pipe *p, uint64_t tail,
	size_t len);
void run_end_nap(struct run_pipe *p);
/* The writer has written: end a sleep of the reader's for more bytes? */
STR_INLINE void
run_wrote(struct run_pipe *p, uint32_t tail)
{
	if (str_unlikely(__atomic_load_n(&p->fill, __ATOMIC_SEQ_CST) != 0) &&
		tail - (uint32_t)__atomic_load_n(&p->head, __ATOMIC_SEQ_CST) >=
			RUN_PLENTY)
		run_end_nap(p);
}
/* Wait while the other side moves the ring, or until signals have come. */
enum run_came run_wait_move(const struct run_end *e, struct run_pipe *p, int fd,
	uint64_t state, struct run_held *h);
/* Wait until the reader is in no read of the kernel's pipe, at most 50 ms. */
void run_wait_read(struct run_pipe *p);
/* Wait until the writer has woken this reader; false: the writer is gone. */
bool run_wait_woken(struct run_pipe *p, int fd);

/* --------------------------------------------------------------- fault.c */
extern bool run_caught; /* SIGSEGV and SIGBUS come to us first */
/* Bad addresses in copies are noticed from now on.  False: they cannot be. */
bool run_fault_begin(void);
/* The program's actions are the kernel's again: no pipe is carried any more. */
void run_fault_end(void);
/* host/user/copy_x86_64.S, copy.c: 0 or EFAULT.  The area has a word for what
 * processors can. */
int host_copyin(const void *uaddr, void *addr, size_t len) STR_MUST_CHECK;
int host_copyout(const void *addr, void *uaddr, size_t len) STR_MUST_CHECK;
void host_copy_init(uint32_t *known);

/* -------------------------------------------------------------- settle.c */
/* Let the kernel's pipe carry the data of @fd, of all descriptors. */
void run_settle_fd(int fd, bool never, enum run_count why);
void run_settle_all(enum run_count why);
void run_settle(struct run_end *e, bool never, enum run_count why);
char *run_decimal(char text[16], unsigned v);
/* The name in /proc of this process's @fd. */
char *run_fd_path(char path[40], int fd);
/* Each fd below RUN_NFD: the file under it changes. */
void run_forget(int fd);

/* -------------------------------------------------------------- answer.c */
/* Has strinsert asked a reader for something? */
STR_INLINE bool
run_is_asked(void)
{
	return run_map != NULL && (__atomic_load_n(&run_map->ask.state,
		__ATOMIC_RELAXED) & 0xff) == RUN_ASK_ASKED;
}
/* If it has asked this process, whose @fd is about to be read, answer.  Return:
 * a signal has come meanwhile that ends a read with EINTR. */
bool run_answer(int fd);
/* Has an epoll instance got @fd?  Then it would not notice a change. */
extern bool run_watched[RUN_NFD];

/* --------------------------------------------------------------- stdio.c */
/* Let stdio call read() and write() of this library.  False: it cannot. */
bool run_stdio(void);

/* --------------------------------------------------------------- image.c */
enum run_image {
	RUN_IMAGE_NONE,	   /* exec will fail */
	RUN_IMAGE_MEMBER,
	RUN_IMAGE_STATIC,  /* outside, the environment stays as it is */
	RUN_IMAGE_FOREIGN  /* outside, must not be preloaded */
};
/* @text: the value of RUN_VAR by which this process finds the area. */
void run_value_set(const char *text);
/* What will the program @path be? @envp: its environment. @members: those of the
 * area; NULL. */
enum run_image run_image(const char *path, char *const *envp,
	uint64_t *members);
/* What does @envp make of a program that can become a member? */
enum run_image run_will_join(char *const *envp);
/* Open @name in a directory of PATH; the path in @path of size PATH_MAX. */
const char *run_search(const char *name, char *path);
/* @envp without this library; *ret: memory to be freed by run_env_free(). */
struct run_env {
	char **v;
	size_t size;
};
char *const *run_env_without(char *const *envp, struct run_env *e);
void run_env_free(struct run_env *e);

#endif
