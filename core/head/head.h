/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The Stream head's calls, by which libstreams implements read(2), putmsg(2),
 * ioctl(2) and poll(2).
 *
 * Unless its comment says otherwise, a function is called between host_enter()
 * and host_leave(), with the caller's host_call if it takes one, and returns a
 * count or value >= 0, or minus an errno.  Pointers named `u...' are the
 * application's and may be bad: they are reached through host_copyin() and
 * host_copyout() only.
 */
#ifndef STR_HEAD_H
#define STR_HEAD_H

#include <str/host.h>

struct str_head;
struct str_plumb;
struct str_file;

/* Equal in layout to struct strbuf, struct iovec, struct strpmsg. */
struct str_strbuf {
	int maxlen;
	int len;
	void *buf;
};
struct str_iov {
	void *base;
	size_t len;
};

/* Open flags in host_call.fflags. */
#define STR_O_NONBLOCK 04000
#define STR_O_EXCL 0200 /* only for an open; not stored */

/* Events, equal in value to <poll.h>. */
#define STR_POLLIN 0x001u
#define STR_POLLPRI 0x002u
#define STR_POLLOUT 0x004u
#define STR_POLLERR 0x008u
#define STR_POLLHUP 0x010u
#define STR_POLLNVAL 0x020u
#define STR_POLLRDNORM 0x040u
#define STR_POLLRDBAND 0x080u
#define STR_POLLWRNORM 0x100u
#define STR_POLLWRBAND 0x200u
#define STR_POLLPLAIN 0x10000u /* of str_head_events_for(): the kernel's pipe
				* has events, too; not for users */
#define STR_POLLMSG 0x400u
#define STR_POLLRDHUP 0x2000u
#define STR_POLL_READ \
	(STR_POLLIN | STR_POLLPRI | STR_POLLRDNORM | STR_POLLRDBAND)
#define STR_POLL_WRITE (STR_POLLOUT | STR_POLLWRNORM | STR_POLLWRBAND)

/*
 * str_head_read - read(2).  0: end of file.
 * str_head_readv: the caller has checked the vector (total <= SSIZE_MAX).
 */
long str_head_read(struct str_head *sd, struct host_call *hc, void *ubuf,
	size_t len);
/* head/fast.h has the fast path for the most important case. */
long str_head_readv(struct str_head *sd, struct host_call *hc,
	const struct str_iov *iov, int n);

/* str_head_write - write(2); raises SIGPIPE itself with -EPIPE. */
long str_head_write(struct str_head *sd, struct host_call *hc,
	const void *ubuf, size_t len);
long str_head_writev(struct str_head *sd, struct host_call *hc,
	const struct str_iov *iov, int n);

/*
 * str_head_putmsg - putmsg(2) when @band is -1, else putpmsg(2).
 * str_head_getmsg - getmsg(2) when @uband is NULL, else getpmsg(2).
 * @uctl, @udata: struct strbuf of the caller or NULL.
 */
long str_head_putmsg(struct str_head *sd, struct host_call *hc,
	const struct str_strbuf *uctl, const struct str_strbuf *udata,
	int band, int flags);
long str_head_getmsg(struct str_head *sd, struct host_call *hc,
	struct str_strbuf *uctl, struct str_strbuf *udata, int *uband,
	int *uflags);

/*
 * str_head_getprim - take the first message if it is one that is wanted
 *
 * For a library whose protocol consists of primitives (numbers at the start of
 * M_PROTO messages) and that must leave other messages on the queue.  High
 * priority messages are skipped.
 * Return: as str_head_getmsg(), or -ENOMSG: the first message is not wanted,
 * -EMSGSIZE: its control part is longer than gp->ctl.maxlen, and gp->ctl.len is
 * its length; -EAGAIN; -ENXIO: hung up and no message left.  gp->prim is set if
 * the result is >= 0, -ENOMSG or -EMSGSIZE.
 */
struct str_getprim {
	struct str_strbuf ctl, data; /* in: maxlen, buf; out: len */
	uint32_t want;	/* bit per primitive, STR_PRIM_DATA for data alone; ~0:
			 * any message, STR_PRIM_ODD too */
	uint32_t nowait; /* as if O_NONBLOCK were set */
	int32_t prim;	/* out: STR_PRIM_NONE: data alone */
};
#define STR_PRIM_DATA (1u << 31)
#define STR_PRIM_NONE (-1)
#define STR_PRIM_ODD (-2) /* no number, or a number without a bit */
/* T_DISCON_IND: the last message.  Senders must notice it even when other
 * messages are before it: they compare hq->ended and hq->cpos */
#define STR_PRIM_END 13
/* T_ORDREL_IND: the peer sends nothing more */
#define STR_PRIM_RELEASE 23
long str_head_getprim(struct str_head *sd, struct host_call *hc,
	struct str_getprim *gp);
/* str_head_ioctl_str - I_STR that signals do not end. */
long str_head_ioctl_str(struct str_head *sd, struct host_call *hc,
	unsigned long arg);
/*
 * str_head_user - two words of the stream, initially 0, for the library that
 * uses the stream in all processes.
 */
str_a32 *str_head_user(struct str_head *sd);
/*
 * Sockets.  A stream that a library has made a socket (STR_SHUT_SOCK) has the
 * events of Linux's sockets: POLLIN and POLLRDHUP at the end of what can be
 * received, POLLOUT when nothing can be sent any more, POLLHUP when both hold,
 * and POLLERR while there is an error that the program has not been told.  A
 * T_ORDREL_IND that arrives ends receiving, a T_DISCON_IND of the connection
 * both; its reason is the error.
 *
 * str_head_shut - clear and set STR_SHUT_*; threads that wait look again
 * str_head_shut_error - the error becomes @err, 0: none.  Return: the error
 * before.
 * Locks: none.  Crash: an end of which a killed thread has brought only the
 * message is readable, without POLLRDHUP.
 */
#define STR_SHUT_SOCK 1u
#define STR_SHUT_READ 2u
#define STR_SHUT_WRITE 4u
void str_head_shut(struct str_head *sd, uint32_t clear, uint32_t set);
uint32_t str_head_shut_error(struct str_head *sd, uint32_t err);
/* str_head_is_socket - has it been made a socket? */
bool str_head_is_socket(struct str_head *sd);
/* str_head_local - has @sd a driver with STR_D_LOCAL, below which no stream is
 * linked? */
bool str_head_local(struct str_head *sd);

/* str_head_ioctl - ioctl(2).  @arg is a value or a user address. */
long str_head_ioctl(struct str_head *sd, struct host_call *hc,
	unsigned long cmd, unsigned long arg);

/*
 * str_head_events - the poll events that hold now.  Waits for no event, but may
 * wait for a plumber: it takes q_klock, and a claim.
 * str_head_events_as - for an open file with @fflags: if it has a FIFO open for
 * one side only, events of the other side are not reported.
 * str_head_events_for - the same; the caller needs those of @want only, and
 * errors and hang-up.
 */
uint32_t str_head_events(struct str_head *sd);
uint32_t str_head_events_as(struct str_head *sd, uint32_t fflags);
uint32_t str_head_events_for(struct str_head *sd, uint32_t fflags,
	uint32_t want);

/*
 * Polling.  A poller arms the events it will sleep for, executes
 * host_fence_heavy(), looks once more at str_head_events(), and sleeps on
 * the carrier: one token then comes when such an event occurs.  The poller that
 * saw a token takes it out with str_head_drain(), which rings the bells of the
 * other sleepers for which it was meant; spurious tokens are harmless.
 */
void str_head_arm(struct str_head *sd, uint32_t events);
/* @pollers: ring also pollers, whose place of sleep is not recorded. */
void str_head_drain(struct str_head *sd, int fd, bool pollers);
/*
 * Processes outside the domain that have a descriptor of @sd's end.
 * str_head_leave - a process outside is about to get a descriptor, by exec.
 * @fd: a descriptor of @sd's, and @peer_fd of the other end's, or -1.  @used:
 * the program gets it as its standard input, output or error: from now on
 * members exchange data with the program through the socket.  Otherwise a
 * writer checks later whether a member reads there.
 * Context: inside a call on @sd.
 * str_head_left - a number that changes when data waits at such an end that
 * another process must send (str_outside_left()).
 * str_head_send_left - this process holds descriptor @fd of @sd's: send the
 * data that such an end has not read.  Return: true: none is left there.
 * str_head_closing - descriptor @fd of @sd's is about to be closed: send the
 * data that the other end has not read, as far as there is room.
 * str_head_noroom - is the socket of @sd's other end full, as far as known?
 * str_head_room - the kernel reports room for @fd, a descriptor of @sd's.
 * str_head_stuffed - is @sd's carrier readable because of data that must wait
 * in it?
 */
void str_head_leave(struct str_head *sd, int fd, int peer_fd, bool used);
uint64_t str_head_left(void);
bool str_head_send_left(struct str_head *sd, int fd);
void str_head_closing(struct str_head *sd, int fd);
bool str_head_noroom(struct str_head *sd);
void str_head_room(struct str_head *sd, struct host_call *hc);
bool str_head_stuffed(struct str_head *sd);
/*
 * A pipe becomes PLAIN before a process outside gets one of its descriptors:
 * docs/plain.md.  End 1 writes into the kernel's pipe, end 0 reads from it.
 * str_plain_begin - make @sd's pipe PLAIN, if it is not, and move the data that
 * waits at end 0 into the kernel's pipe.
 * @sock: a descriptor of @sd's carrier.  @spare: the number of a kernel's pipe
 * that has never been used, or 0.  *ret_both: a descriptor of both sides
 * of the kernel's pipe, which the caller closes after it has opened the side
 * that it needs.
 * Context: inside a call on @sd; sleeps for at most 100 ms.
 * Crash: the pipe is PLAIN or not; data that was accepted stays.
 * Return: 0; ENOSYS: it cannot be PLAIN, data passes through the carrier.
 * str_plain_number - of the kernel's pipe; 0: it has none; STR_PLAIN_NOT: it
 * never will.
 * str_plain_find - can this process open the kernel's pipe?  @sock: as above.
 * str_plain_keep - the caller is about to use the kernel's pipe at @sd's end:
 * the other end's holders keep their side of it open from now on.  Return: 0, or
 * an errno: it is not to be used.
 * str_plain_settle - called before str_plain_keep(): set the flag of both ends,
 * because a process may have been killed between the two.
 * str_plain_open - a descriptor of @sd's side of the kernel's pipe, or minus an
 * errno.
 * str_plain_refuse - a descriptor of the pipe is passed to an unknown process,
 * or a program outside gets an end in the other direction: it will not become
 * PLAIN.  Without effect if it is.
 * str_head_plain - is it PLAIN?  str_plain_is - is @fd its kernel's pipe?
 * str_plain_writes - is @sd the end that writes?
 */
int str_plain_begin(struct str_head *sd, int sock, uint64_t spare,
	int *ret_both);
uint64_t str_plain_number(struct str_head *sd);
bool str_plain_find(struct str_head *sd, int sock);
int str_plain_keep(struct str_head *sd, int sock);
void str_plain_settle(struct str_head *sd);
int str_plain_open(struct str_head *sd, bool nonblock);
void str_plain_refuse(struct str_head *sd);
bool str_head_plain(struct str_head *sd);
bool str_plain_is(struct str_head *sd, int fd);
bool str_plain_writes(struct str_head *sd);
/* str_head_pending - is there any message to read?  Those that wait for memory
 * do not count. */
bool str_head_pending(struct str_head *sd);

/*
 * str_head_poll_wait - sleep until an event of @events (or ERR, HUP) may
 * hold on this one stream: poll(2) on a single descriptor.  With an event of
 * STR_POLL_WRITE it waits for room, else for something to read.
 * Return: 0: look again; -EINTR, -ETIMEDOUT, -EBADF.
 */
int str_head_poll_wait(struct str_head *sd, struct host_call *hc,
	uint32_t events, uint64_t deadline);

/*
 * str_sched_run_head - run the service procedures that are enabled on @sd's
 * stream: before a poller sleeps.  Return: true when there were any.
 */
bool str_sched_run_head(struct str_head *sd, struct host_call *hc);

/*
 * str_head_transit - the writers of @sd's pipe or FIFO are gone: may a module,
 * or a thread inside the stream, still hold a message that they wrote?
 * Examine the head queue once more after this call.
 * @tr: zero at the first call that one read makes
 * Return: 0: no; EAGAIN: look again; EINTR; EBADF: the stream was freed, and
 * the caller must not use @sd.
 */
struct str_transit {
	uint64_t reaped; /* host_now() time until which it waits for reapers */
	unsigned waits;
};
int str_head_transit(struct str_head *sd, struct host_call *hc,
	struct str_transit *tr);

/* str_head_lost - must a hang-up of @sd's carrier be ignored?  The connected
 * socket is closed, but the other end has another holder.  Then a thread cannot
 * sleep on the carrier: the bell rings instead. */
bool str_head_lost(struct str_head *sd);

/* str_head_stale - has a look at the carrier been requested? */
bool str_head_stale(struct str_head *sd);
/* str_head_look - look at the carrier: has the other end hung up? */
int str_head_look(struct str_head *sd, struct host_call *hc);

/*
 * str_head_dropped - the caller has closed a descriptor of @sd: threads that
 * sleep there look whether it was theirs.
 */
void str_head_dropped(struct str_head *sd);
/*
 * str_head_released - the caller has closed a descriptor of @sd, or handed
 * it on: sleepers at the other end check whether it was the last.
 * @peer_fd: a descriptor of the other end in this process, or -1.
 */
void str_head_released(struct str_head *sd, int peer_fd);

/*
 * Sockets of drivers: core/sock.
 * str_head_sock - the id of @sd's socket, or 0.
 * str_head_watch - report its events from now on, in str_sock_gather().
 * str_sock_flush - this thread is about to sleep, or to leave: send the data
 * that it has gathered.
 */
uint64_t str_head_sock(struct str_head *sd);
void str_head_watch(struct str_head *sd);
void str_sock_flush_slow(struct host_call *hc);

STR_INLINE void
str_sock_flush(struct host_call *hc)
{
	if (str_unlikely(host_tls.nsoon != 0))
		str_sock_flush_slow(hc);
}

/*
 * Open files. str_file_flags - the status flags and access mode shared by all
 * holders of @f: O_ACCMODE, O_NONBLOCK, O_ASYNC.  The word after it is the
 * generation of the memory (str_file_gen()), which changes when the file is
 * closed for good; both words stay readable for ever.
 */
str_a32 *str_file_flags(struct str_file *f);
uint32_t str_file_gen(struct str_file *f);
struct str_head *str_file_head(struct str_file *f);
void str_file_carrier(struct str_file *f, struct host_carrier *ret);
/* The open file whose carrier is @c, or NULL. */
struct str_file *str_file_lookup(const struct host_carrier *c);
/* Does the directory in the file @df of a domain have an open file over @c?  A
 * hint, for what was read may have changed. */
bool str_file_recorded(const struct host_file *df,
	const struct host_carrier *c);

/*
 * str_file_released - a descriptor of @f, of generation @gen, has been closed,
 * or handed on: if it was the last, close the file, and the stream with its
 * last file; or wait for the thread that is closing it.  The caller was inside
 * the head before the descriptor was closed.
 * For carriers of kind OPEN; pipes' ends go through str_head_released().
 */
void str_file_released(struct str_file *f, uint32_t gen,
	struct host_call *hc);

/*
 * str_file_ended - the same, without asking the kernel, if no other process has
 * ever had the descriptor, and it was the last
 * @kept: the carrier still exists, with its address: another open file will use
 * it.
 * Return: false: another thread was first: call str_file_released(), and do not
 * use the carrier again.
 */
bool str_file_ended(struct str_file *f, uint32_t gen, bool kept,
	struct host_call *hc);

/*
 * str_head_enter - the call that has begun is on @sd
 * @id: from str_file_flags(): id[0] the open flags of the file, id[1] its
 * generation; @gen: str_file_gen() when it was looked up
 *
 * Return: false when the file is gone, by a close in another thread.  From here
 * to host_leave() the stream's memory is not freed.
 */
STR_INLINE bool
str_head_enter(struct str_head *sd, const str_a32 *id, uint32_t gen)
{
	str_store_rel(&host_self()->inside, (uint64_t)(uintptr_t)sd);
	host_fence_light();
	return str_likely(str_load_acq(&id[1]) == gen);
}

/*
 * Opening. @c is a fresh carrier of kind OPEN that the caller holds; after
 * success it is the carrier of *ret. @oflags as open(2)'s.  Blocking opens end
 * with EINTR.  All return 0 or a positive errno.
 *
 * str_dev_open  - minor @minor of driver @drv; @clone: CLONEOPEN, the minor is
 *                 the driver's to choose.  ENXIO no such driver or minor.
 * str_fifo_open - the FIFO with this key (st_dev of a path and what its inode
 *                 and its birth make, or STR_FIFO_DEV and a minor): POSIX open semantics.
 * str_half_open - half a pipe, to be joined with another half by I_PIPE
 * str_name_open - the stream attached to the file @dev, @ino, made at the time
 *                 @born (0: not known); ENOENT: none is.
 *                 With connld on top: the near end of a new pipe.
 */
#define STR_FIFO_DEV UINT64_MAX
#define STR_FIFO_ANY UINT64_MAX /* with it: a new unshared FIFO */
int str_dev_open(struct host_call *hc, const char *drv, uint32_t minor,
	bool clone, int oflags, const struct host_carrier *c,
	struct str_file **ret);
int str_fifo_open(struct host_call *hc, uint64_t dev, uint64_t ino, int oflags,
	const struct host_carrier *c, struct str_file **ret);
int str_half_open(struct host_call *hc, int oflags,
	const struct host_carrier *c, struct str_file **ret);
int str_name_open(struct host_call *hc, uint64_t dev, uint64_t ino,
	uint64_t born, int oflags, const struct host_carrier *c,
	struct str_file **ret);

/*
 * Names.
 * str_name_count - the number of attached names, usually 0; takes no lock.
 * str_name_is - is a Stream attached to that file?  The caller need be no member.
 * str_name_recorded_count,
 * str_name_recorded - the same for a domain whose file is read and not mapped;
 * hints, because the data may have changed.
 * str_name_attach - attach @sd to the file @dev, @ino, @born.  streamsd opens
 * the file by @path, to notice when it is removed; tools display it.  EBUSY: a
 * stream is attached already. str_name_detach: <str/host.h>.
 */
uint64_t str_name_count(void);
bool str_name_is(uint64_t dev, uint64_t ino, uint64_t born);
uint64_t str_name_recorded_count(const struct host_file *df);
bool str_name_recorded(const struct host_file *df, uint64_t dev, uint64_t ino,
	uint64_t born);
int str_name_attach(struct str_head *sd, struct host_call *hc, uint64_t dev,
	uint64_t ino, uint64_t born, const char *path);

/* Identity. */
int str_pipe_create(const struct host_carrier c[2],
	struct str_plumb **ret_pipe);
struct str_head *str_pipe_end(struct str_plumb *pl, int end);
struct str_file *str_pipe_file(struct str_plumb *pl, int end);
/* The kind of the stream, for fstat. */
#define STR_KIND_PIPE 0u
#define STR_KIND_FIFO 1u
#define STR_KIND_DEV 2u
uint32_t str_head_kind(struct str_head *sd, uint64_t *ret_dev);

/*
 * str_head_pipe_size - F_GETPIPE_SZ: capacity of a pipe or FIFO: the high water
 * mark of data written at @sd
 * str_head_pipe_resize - F_SETPIPE_SZ: at least @size, in both directions
 * Context: inside a call on @sd.
 * Return: the size; minus EBADF: neither pipe nor FIFO; EINVAL, EPERM: too
 * large; EBUSY: less than the queued data.
 */
long str_head_pipe_size(struct str_head *sd);
long str_head_pipe_resize(struct str_head *sd, struct host_call *hc,
	uint64_t size);

/*
 * str_sig_async - O_ASYNC: signal @sig (0: SIGPOLL) for process @id, or minus a
 * process group, when there is data to read, room again, an error or a hang-up
 * @fd: si_fd of the signal.
 * Lasts until str_sig_async_end(), the end of the process, or of the head.
 * Context: inside a call on @sd.
 * Return: 0, ESRCH, EAGAIN (no memory).
 */
int str_sig_async(struct str_head *sd, int32_t id, int sig, int fd);
void str_sig_async_end(struct str_head *sd, int32_t id);
/* str_head_nbytes - bytes to read: FIONREAD */
uint64_t str_head_nbytes(struct str_head *sd);
struct str_head *str_head_peer(struct str_head *sd);
/*
 * str_pipe_pair_gone - the caller knows that the carrier that pipe(2) made for
 * @sd has no holder any more: close @sd's end, unless another open file, a name
 * or a descriptor in flight holds it.
 */
void str_pipe_pair_gone(struct str_head *sd);
/*
 * str_pipe_ended - the same: this process has closed the last descriptor of
 * @sd's end, and no other process ever had one
 * Return: CLOSED_END: this call closed the end; CLOSED_BOTH: the other end was
 * closed, too, and the pipe has been freed; CLOSED_NOT: otherwise, also if a
 * thread is still inside a call on the pipe.
 */
enum str_closed { STR_CLOSED_NOT, STR_CLOSED_END, STR_CLOSED_BOTH };
enum str_closed str_pipe_ended(struct str_head *sd);
/* The open file that pipe(2) made of the other end. */
struct str_file *str_head_peer_file(struct str_head *sd);

#endif
