/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The Stream head's calls: what libstreams makes of read(2), putmsg(2),
 * ioctl(2) and poll(2).
 *
 * Every function is called between host_enter() and host_leave(), with the
 * caller's host_call.  Pointers named `u...' are the application's and may be
 * bad: they are reached through host_copyin() and host_copyout() only.
 * Return values: a count or value >= 0, or minus an errno.
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

/* Open flags as the executive sees them in host_call.fflags. */
#define STR_O_NONBLOCK 04000
#define STR_O_EXCL 0200 /* of an open; not kept */

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
#define STR_POLLMSG 0x400u
#define STR_POLL_READ \
	(STR_POLLIN | STR_POLLPRI | STR_POLLRDNORM | STR_POLLRDBAND)
#define STR_POLL_WRITE (STR_POLLOUT | STR_POLLWRNORM | STR_POLLWRBAND)

/*
 * str_head_read - read(2).  0: end of file.
 * str_head_readv: the caller has checked the vector (total <= SSIZE_MAX).
 */
long str_head_read(struct str_head *sd, struct host_call *hc, void *ubuf,
	size_t len);
/* The case that matters most has a header of its own: head/fast.h. */
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
 * For a library that speaks a protocol of primitives, numbers at the start of
 * M_PROTO messages, and must leave what it did not ask for to be found by
 * others.  High priority messages are passed over.
 * Return: as str_head_getmsg(), or -ENOMSG: the first message is not wanted,
 * -EMSGSIZE: its control part has more room than @ctl, ctl.len says how much;
 * -EAGAIN; -ENXIO: hung up and nothing left.  @prim is set unless it is one of
 * the last two.
 */
struct str_getprim {
	struct str_strbuf ctl, data; /* in: maxlen, buf; out: len */
	uint32_t want;	/* bit per primitive, STR_PRIM_DATA for data alone */
	uint32_t nowait; /* as if O_NONBLOCK were set */
	int32_t prim;	/* out: STR_PRIM_NONE: data alone */
};
#define STR_PRIM_DATA (1u << 31)
#define STR_PRIM_NONE (-1)
#define STR_PRIM_ODD (-2) /* what has no number, or one that has no bit */
/* T_DISCON_IND: it is the last message, and senders want to know of it even
 * when others stand before it: they compare hq->ended and hq->cpos */
#define STR_PRIM_END 13
long str_head_getprim(struct str_head *sd, struct host_call *hc,
	struct str_getprim *gp);
/* str_head_ioctl_str - I_STR that no signal ends. */
long str_head_ioctl_str(struct str_head *sd, struct host_call *hc,
	unsigned long arg);
/*
 * str_head_user - two words that belong to the stream, 0 at first, for
 * whatever library is on it in all processes.
 */
str_a32 *str_head_user(struct str_head *sd);
/* str_head_local - has it a driver of which STR_D_LOCAL says that it is none? */
bool str_head_local(struct str_head *sd);

/* str_head_ioctl - ioctl(2).  @arg is a value or a user address. */
long str_head_ioctl(struct str_head *sd, struct host_call *hc,
	unsigned long cmd, unsigned long arg);

/* str_head_events - poll events that hold now; never blocks, no locks.
 * str_head_events_as - for an open file with @fflags: one that has a FIFO open
 * for one side is not told of the other. */
uint32_t str_head_events(struct str_head *sd);
uint32_t str_head_events_as(struct str_head *sd, uint32_t fflags);

/*
 * Polling.  A poller arms the events it will sleep for, executes
 * host_fence_heavy(), looks once more at str_head_events(), and sleeps on
 * the carrier: one token then comes when such an event occurs.  Tokens are
 * taken out with str_head_drain() by the poller that saw one, which rings
 * those for whom they were too; spurious ones are harmless.
 */
void str_head_arm(struct str_head *sd, uint32_t events);
/* @pollers: they as well, of whom it is not known where they sleep. */
void str_head_drain(struct str_head *sd, int fd, bool pollers);
/*
 * Processes outside the domain that have a descriptor of @sd's end.
 * str_head_leave - one is about to, by exec: what is written at the other end
 * goes to it, and what it writes comes there.  @fd: a descriptor of @sd's, and
 * @peer_fd of the other end's, or -1; @used: as its standard input or output,
 * else it is asked later whether a member reads there.  Context: inside a call on @sd.
 * str_head_left - how often an end has left of which the other end is not held
 * by the process that left it.  str_head_send_left - descriptor @fd of @sd's is
 * held here: what such an end has unread is sent.
 * str_head_closing - descriptor @fd of @sd's is about to be closed: what the
 * other end has unread is sent, as far as there is room.
 * str_head_noroom - has @sd's other end no room, as far as known?
 * str_head_room - there may be, says the kernel of @fd, a descriptor of @sd's.
 * str_head_stuffed - is @sd's carrier readable for what must wait in it?
 */
void str_head_leave(struct str_head *sd, int fd, int peer_fd, bool used);
uint64_t str_head_left(void);
bool str_head_send_left(struct str_head *sd, int fd);
void str_head_closing(struct str_head *sd, int fd);
bool str_head_noroom(struct str_head *sd);
void str_head_room(struct str_head *sd, struct host_call *hc);
bool str_head_stuffed(struct str_head *sd);
/* str_head_pending - is there any message? */
bool str_head_pending(struct str_head *sd);

/*
 * str_head_poll_wait - sleep until an event of @events (or ERR, HUP) may
 * hold on this one stream: poll(2) on a single descriptor, with the cheap
 * first stage.  Returns 0, -EINTR, -ETIMEDOUT.
 */
int str_head_poll_wait(struct str_head *sd, struct host_call *hc,
	uint32_t events, uint64_t deadline);

/*
 * str_sched_run_head - run the service procedures that are enabled on @sd's
 * stream: before a poller sleeps.  Return: true when there were any.
 */
bool str_sched_run_head(struct str_head *sd, struct host_call *hc);

/* str_head_lost - does @sd's carrier show a hang-up that is none?  The end of
 * the pair it was connected to is gone, but something else holds the other
 * end.  Then it is no use to sleep on it: the bell rings instead. */
bool str_head_lost(struct str_head *sd);

/* str_head_stale - was it asked for that a caller looks at the carrier? */
bool str_head_stale(struct str_head *sd);
/* str_head_look - consult the carrier: hang-up of the other end. */
int str_head_look(struct str_head *sd, struct host_call *hc);

/*
 * str_head_released - the caller has closed a descriptor of @sd, or handed
 * it on: sleepers at the other end shall look whether it was the last.
 * @peer_fd: a descriptor of the other end in this process, or -1.
 */
void str_head_released(struct str_head *sd, int peer_fd);

/*
 * Sockets that drivers have: core/sock.  str_head_sock - the id of @sd's, or
 * 0.  str_head_watch - tell of what comes at it from now on, in
 * str_sock_gather().  str_sock_flush - this thread is about to sleep, or to
 * leave: send what it has gathered.
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
 * Open files.  str_file_flags - the status flags and access mode shared by all
 * who hold @f: O_ACCMODE, O_NONBLOCK, O_ASYNC.  The word after it is the
 * generation of the memory (str_file_gen()), which changes when the file is
 * closed for good; both words stay readable for ever.
 */
str_a32 *str_file_flags(struct str_file *f);
uint32_t str_file_gen(struct str_file *f);
struct str_head *str_file_head(struct str_file *f);
void str_file_carrier(struct str_file *f, struct host_carrier *ret);
/* The open file that stands on @c, or NULL. */
struct str_file *str_file_lookup(const struct host_carrier *c);

/*
 * str_file_released - a descriptor of @f, of generation @gen, has been closed,
 * or handed on: if it was the last, close the file, and the stream with its
 * last file; or wait for who is at it.  The caller was inside the head before
 * the descriptor was closed.
 * For carriers of kind OPEN; pipes' ends go through str_head_released().
 */
void str_file_released(struct str_file *f, uint32_t gen,
	struct host_call *hc);

/*
 * str_head_enter - the call that has begun is on @sd
 * @fflags: from str_file_flags(); @gen: str_file_gen() when it was looked up
 *
 * Return: false when the file is gone, by a close in another thread.  From
 * here to host_leave() the stream's memory stays what it is.
 */
STR_INLINE bool
str_head_enter(struct str_head *sd, const str_a32 *fflags, uint32_t gen)
{
	str_store_rel(&host_self()->inside, (uint64_t)(uintptr_t)sd);
	host_fence_light();
	return str_likely(str_load_acq(&fflags[1]) == gen);
}

/*
 * Opening.  @c is a fresh carrier of kind OPEN that the caller holds; with
 * success it stands under *ret.  @oflags as open(2)'s.  Blocking opens end
 * with EINTR.  All return 0 or a positive errno.
 *
 * str_dev_open  - minor @minor of driver @drv; @clone: CLONEOPEN, the minor is
 *                 the driver's to choose.  ENXIO no such driver or minor.
 * str_fifo_open - the FIFO with this key (st_dev of a path and what its inode
 *                 and its birth make, or STR_FIFO_DEV and a minor): POSIX open semantics.
 * str_half_open - half a pipe, to be joined with another half by I_PIPE
 * str_name_open - what is attached to the file @dev, @ino, made at the time
 *                 @born (0: not known); ENOENT: nothing is.
 *                 With connld on top: the near end of a new pipe.
 */
#define STR_FIFO_DEV UINT64_MAX
#define STR_FIFO_ANY UINT64_MAX /* with it: a FIFO of one's own */
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
 * Names.  str_name_count - how many are attached, 0 mostly: no lock, no call.
 * str_name_is - is a Stream attached to that file?  The caller need be no member.
 * str_name_recorded_count, str_name_recorded - the same of a domain whose file is
 * read; hints, for what was read may have changed.
 * str_name_attach - attach @sd to the file @dev, @ino, @born; @path, for people and
 * tools.  EBUSY: something is.  str_name_detach: <str/host.h>.
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
/* What kind of thing it is: for fstat. */
#define STR_KIND_PIPE 0u
#define STR_KIND_FIFO 1u
#define STR_KIND_DEV 2u
uint32_t str_head_kind(struct str_head *sd, uint64_t *ret_dev);

/*
 * str_head_pipe_size - F_GETPIPE_SZ: bytes that a pipe or FIFO holds, the high
 * water mark of what is written at @sd
 * str_head_pipe_resize - F_SETPIPE_SZ: at least @size, in both directions
 * Context: inside a call on @sd.
 * Return: the size; minus EBADF: neither pipe nor FIFO; EINVAL, EPERM: too
 * much; EBUSY: less than there is in it.
 */
long str_head_pipe_size(struct str_head *sd);
long str_head_pipe_resize(struct str_head *sd, struct host_call *hc,
	uint64_t size);

/*
 * str_sig_async - O_ASYNC: signal @sig (0: SIGPOLL) for process @id, or minus a
 * process group, when there is something to read, or room again, or an end
 * @fd: what a handler is told in si_fd.
 * Lasts until str_sig_async_end(), the end of the process, or of the head.
 * Context: inside a call on @sd.  Return: 0, ESRCH, EAGAIN (no memory).
 */
int str_sig_async(struct str_head *sd, int32_t id, int sig, int fd);
void str_sig_async_end(struct str_head *sd, int32_t id);
/* Facts for fstat: creation time in ns of host_now(), bytes to read. */
uint64_t str_head_nbytes(struct str_head *sd);
struct str_head *str_head_peer(struct str_head *sd);
/*
 * str_pipe_pair_gone - the carrier that pipe(2) made for @sd has no holder any
 * more, and the caller knows.
 */
void str_pipe_pair_gone(struct str_head *sd);
/* The open file that pipe(2) made of the other end. */
struct str_file *str_head_peer_file(struct str_head *sd);

#endif
