/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * poll(2) on Streams and other descriptors together.
 *
 * A poll without a Stream is passed to the kernel unchanged.  Otherwise the
 * events of Streams are read from the domain, those of other descriptors from
 * the kernel.  To sleep, every Stream is armed, then checked again, and then
 * the kernel polls the other descriptors and the carriers; a token or a hang-up
 * in a carrier means that its Stream must be checked.
 *
 * Tokens.  A poller that finds its event leaves the token in the carrier, so
 * that other threads that sleep on the same carrier find it too.  It is drained
 * before this process arms that Stream again, and by a thread that wakes
 * without an event.
 *
 * For one Stream, one direction and no mask the head's own sleep is used, whose
 * first stage is cheaper.  Many Streams that are polled again and again are kept
 * between the calls: pollkeep.c.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <str/tli.h>

#include "call.h"
#include "epollset.h"
#include "pollset.h"
#include "sys.h"

#define ALWAYS (STR_POLLERR | STR_POLLHUP | STR_POLLNVAL)

/* -------------------------------------------------------------- the set */

int
poll_set_alloc(struct poll_set *s, size_t n)
{
	char *p;
	long r;

	s->n = (unsigned)n;
	s->nstream = 0;
	s->block = NULL;
	if (n <= POLL_FEW) {
		s->u = s->few_u;
		s->k = s->few_k;
		s->word = s->few_word;
		return 0;
	}
	s->size = n * (2 * sizeof *s->u + sizeof *s->word) +
		SLEEP_ROOM * sizeof *s->k;
	r = sys_call6(SYS_mmap, NULL, s->size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r < 0 && r > -4096)
		return ENOMEM;
	p = (char *)r;
	s->block = p;
	s->word = (uintptr_t *)(void *)p;
	s->u = (struct pollfd *)(void *)(p + n * sizeof *s->word);
	s->k = s->u + n;
	return 0;
}

void
poll_set_free(struct poll_set *s)
{
	if (s->block != NULL)
		(void)sys_call2(SYS_munmap, s->block, s->size);
	s->block = NULL;
}

unsigned
poll_set_words(struct poll_set *s)
{
	s->nstream = 0;
	for (unsigned i = 0; i < s->n; i++) {
		s->word[i] = s->u[i].fd >= 0 ? fd_word_of(s->u[i].fd) : FD_NOT;
		if (s->word[i] != FD_NOT)
			s->nstream++;
	}
	return s->nstream;
}

static struct fd_rec *
rec_at(const struct poll_set *s, unsigned i)
{
	uintptr_t v = s->word[i];

	return (v & 1) == 0 ? (struct fd_rec *)v : NULL;
}

static struct ep *
ep_at(const struct poll_set *s, unsigned i)
{
	uintptr_t v = s->word[i];

	return (v & 1) != 0 && v != FD_NOT ? (struct ep *)(v - 1) : NULL;
}

uint32_t
poll_set_events(const struct poll_set *s, unsigned i)
{
	uint32_t want = (uint32_t)(uint16_t)s->u[i].events | ALWAYS;

	return fd_events_for(rec_at(s, i), STR_POLLNVAL, want) & want;
}

/* Streams that are ready now. */
static int
streams_ready(struct poll_set *s)
{
	int n = 0;

	for (unsigned i = 0; i < s->n; i++) {
		uint32_t ev = 0;

		if (rec_at(s, i) != NULL)
			ev = poll_set_events(s, i);
		else if (ep_at(s, i) != NULL && (s->u[i].events & POLLIN) &&
			 ep_ready(ep_at(s, i)))
			ev = POLLIN;
		s->u[i].revents = (short)ev;
		n += ev != 0;
	}
	return n;
}

void
poll_set_kernel(struct poll_set *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		s->k[i] = s->u[i];
		s->k[i].revents = 0;
		if (rec_at(s, i) == NULL)
			continue;
		s->k[i].events = POLLIN | POLLRDHUP;
		if (str_unlikely(fd_outside_full(rec_at(s, i))))
			s->k[i].events |= s->u[i].events & POLLOUT;
		if (str_unlikely(fd_lost(rec_at(s, i))))
			s->k[i].fd = -1; /* the bell will ring */
	}
}

/*
 * Combine the kernel's events with the Streams' events now.  Return: number of
 * ready descriptors.
 */
int
poll_set_heard(struct poll_set *s, struct host_call *hc)
{
	int n = 0;

	for (unsigned i = 0; i < s->n; i++) {
		struct fd_rec *r = rec_at(s, i);
		short re = s->k[i].revents;
		uint32_t ev = (uint32_t)(uint16_t)re;

		if (r != NULL && (re & POLLNVAL)) {
			ev = POLLNVAL;
		} else if (r != NULL) {
			if (re & (POLLHUP | POLLRDHUP | POLLERR)) {
				fd_look(r, hc, s->u[i].fd);
			}
			if (re & POLLOUT)
				fd_outside_room(r, hc, s->u[i].fd);
			ev = poll_set_events(s, i);
			if (re & POLLIN) {
				if (ev == 0)
					fd_drain(r, s->u[i].fd, STR_POLL_READ);
				else
					str_store(&r->token, 1u);
				/* perhaps it was bytes from outside */
				if (ev == 0)
					ev = poll_set_events(s, i);
			}
		} else if (ep_at(s, i) != NULL && ev == 0 &&
			   (s->u[i].events & POLLIN) && ep_ready(ep_at(s, i))) {
			ev = POLLIN;
		}
		s->u[i].revents = (short)ev;
		n += ev != 0;
	}
	return n;
}

/* Do not wait. */
static int
poll_now(struct poll_set *s, struct host_call *hc, int ready)
{
	struct timespec none = {0, 0};
	long ret;

	poll_set_kernel(s);
	if (ready != 0 && s->nstream == s->n)
		return ready;
	ret = sys_call5(SYS_ppoll, s->k, s->n, &none, NULL, SYS_SIGSET);
	if (ret < 0)
		return (int)ret;
	return poll_set_heard(s, hc);
}

static void
arm_all(struct poll_set *s, struct host_call *hc)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct fd_rec *r = rec_at(s, i);

		if (ep_at(s, i) != NULL)
			ep_arm(ep_at(s, i), hc);
		if (r == NULL)
			continue;
		if (str_load(&r->token) != 0) {
			str_store(&r->token, 0u);
			fd_drain(r, s->u[i].fd, STR_POLL_READ);
		}
		fd_arm(r, hc, s->u[i].fd, (uint32_t)(uint16_t)s->u[i].events);
	}
}

/* The end of the sleep for which arm_all() was called. */
static void
awake(struct poll_set *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (ep_at(s, i) != NULL)
			ep_awake(ep_at(s, i));
	sleep_end();
}

/* One sleep.  Return: as poll_set_wait(), -EAGAIN: nothing yet. */
static int
poll_sleep(struct poll_set *s, struct host_call *hc)
{
	struct sleep_set set = {s->k, s->n, s->deadline, s->mask};
	bool rung;
	int n;

	sleep_begin();
	arm_all(s, hc);
	host_fence_heavy(); /* pairs with the waker's light fence */
	n = streams_ready(s);
	if (n == 0) {
		poll_set_kernel(s);
		n = sleep_poll(hc, &set, &rung);
		awake(s);
		if (n < 0)
			return n;
		n = poll_set_heard(s, hc);
		if (n != 0)
			return n;
		return s->deadline != UINT64_MAX && host_now() >= s->deadline
			       ? 0
			       : -EAGAIN;
	}
	awake(s);
	return poll_now(s, hc, n);
}

/* Is there a cheaper way to wait for this set? */
static bool
alone(const struct poll_set *s)
{
	uint32_t ev = (uint32_t)(uint16_t)s->u[0].events;

	return s->n == 1 && rec_at(s, 0) != NULL && s->mask == NULL &&
	       !fd_outside_full(rec_at(s, 0)) &&
	       ((ev & STR_POLL_READ) != 0) != ((ev & STR_POLL_WRITE) != 0) &&
	       (ev & ~(STR_POLLIN | STR_POLLRDNORM | STR_POLLOUT |
			     STR_POLLWRNORM)) == 0;
}

/* Would the head's sleep for @events end at once? */
static bool
seems_ready(struct str_head *sd, uint32_t events)
{
	return (events & STR_POLL_READ) != 0 ? str_head_pending(sd) :
		(str_head_events(sd) & STR_POLL_WRITE) != 0;
}

/*
 * One Stream, one direction.  Return: -EAGAIN: this sleep is of no use.  It would
 * end at once, because there is another event, such as a message of high
 * priority, or room in a FIFO that is open for reading only; or the Stream is a
 * socket, and the wait is for room.
 */
static int
wait_alone(struct poll_set *s, struct host_call *hc)
{
	struct fd_rec *r = rec_at(s, 0);
	uint32_t ev, events = (uint32_t)(uint16_t)s->u[0].events;
	uint64_t was;
	int err = -EBADF;

	hc->fd = s->u[0].fd;
	for (;;) {
		struct str_head *sd = fd_inside(r, &was);
		bool other = false;

		/* such a sleep does not notice a socket's end */
		if (sd != NULL && (events & STR_POLL_WRITE) != 0 &&
			str_head_is_socket(sd)) {
			fd_outside(was);
			return -EAGAIN;
		}
		if (sd != NULL) {
			err = str_head_poll_wait(sd, hc, events, s->deadline);
			other = seems_ready(sd, events);
		}
		fd_outside(was);
		ev = poll_set_events(s, 0);
		if (err == -EBADF)
			ev = STR_POLLNVAL;
		s->u[0].revents = (short)ev;
		if (ev != 0)
			return 1;
		if (err == -ETIMEDOUT)
			return 0;
		if (err == -EINTR || host_interrupted(hc) != HOST_SIG_NONE)
			return -EINTR;
		if (other)
			return -EAGAIN;
	}
}

/*
 * Hang-ups are in the carriers; a thread that does not sleep on them checks
 * them.
 */
static void
look(struct poll_set *s, struct host_call *hc, bool all)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct fd_rec *r = rec_at(s, i);

		if (r == NULL || (!all && !str_head_stale(str_load(&r->sd))))
			continue;
		fd_look(r, hc, s->u[i].fd);
	}
}

/* Handle the events of sockets below these Streams. */
static void
sockets(struct poll_set *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (rec_at(s, i) != NULL)
			fd_watch(rec_at(s, i));
	(void)str_sock_gather();
}

int
poll_set_wait(struct poll_set *s, struct host_call *hc)
{
	int n;

	/* a thread that sleeps on one Stream checks its socket itself */
	if (str_unlikely(str_sock_any()) && (s->deadline == 0 || !alone(s)))
		sockets(s);
	look(s, hc, false);
	n = streams_ready(s);
	if (n == 0 && s->deadline == 0) {
		look(s, hc, true);
		n = streams_ready(s);
	}
	if (n != 0 || (s->deadline == 0 && s->mask == NULL))
		return poll_now(s, hc, n);
	n = alone(s) ? wait_alone(s, hc) : -EAGAIN;
	while (n == -EAGAIN)
		n = poll_sleep(s, hc);
	return n;
}

/* -------------------------------------------------------------- the call */

static uint64_t
later(uint64_t ns)
{
	uint64_t now = host_now();

	return ns >= UINT64_MAX - now ? UINT64_MAX : now + ns;
}

int
poll_deadline(const struct timespec *uts, uint64_t *ret_deadline)
{
	struct timespec ts;

	*ret_deadline = UINT64_MAX;
	if (uts == NULL)
		return 0;
	if (host_copyin(uts, &ts, sizeof ts) != 0)
		return EFAULT;
	if (ts.tv_sec < 0 || ts.tv_nsec < 0 || ts.tv_nsec > 999999999)
		return EINVAL;
	if (ts.tv_sec == 0 && ts.tv_nsec == 0)
		*ret_deadline = 0;
	else if (ts.tv_sec < 1000000000)
		*ret_deadline = later((uint64_t)ts.tv_sec * 1000000000u +
				      (uint64_t)ts.tv_nsec);
	return 0;
}

static void
cancelled(void *s)
{
	poll_set_free(s);
}

/* With the set filled: into the executive. */
static int
poll_enter(struct poll_set *s)
{
	struct host_call hc = {.fd = -1, .flags = HOST_CALL_CANCEL};
	int ret = -host_enter(&hc);

	if (ret != 0)
		return ret;
	hc.mask = s->mask;
	if (s->block == NULL) {
		ret = poll_set_wait(s, &hc);
	} else {
		pthread_cleanup_push(cancelled, s);
		ret = poll_set_wait(s, &hc);
		pthread_cleanup_pop(0);
	}
	host_leave();
	return ret;
}

/*
 * Are there Streams among @ufds?  Then *ret is what poll(2) returns, and the
 * answer is true.
 */
static bool
poll_streams(struct pollfd *ufds, nfds_t n, uint64_t deadline,
	const sigset_t *mask, int *ret)
{
	struct poll_set s;
	sigset_t filtered;

	if (n >= POLL_KEEP && mask == NULL &&
		poll_kept(ufds, n, deadline, ret))
		return true;
	s.deadline = deadline;
	s.mask = NULL;
	if (mask != NULL) {
		sigset_t copy;

		if (host_copyin(mask, &copy, 8) != 0)
			return false;
		s.mask = host_sigmask_filter(SIG_SETMASK, &copy, &filtered);
	}
	if (poll_set_alloc(&s, n) != 0)
		return false; /* the kernel has no memory for it either */
	if (host_copyin(ufds, s.u, n * sizeof *ufds) != 0 ||
		poll_set_words(&s) == 0) {
		poll_set_free(&s);
		return false;
	}
	if (n >= POLL_KEEP && mask == NULL)
		poll_keep(&s);
	*ret = poll_enter(&s);
	exit_look();
	if (*ret >= 0 && host_copyout(s.u, ufds, n * sizeof *ufds) != 0)
		*ret = -EFAULT;
	poll_set_free(&s);
	*ret = (int)call_value(*ret);
	return true;
}

/* The kernel refuses more descriptors than may be open. */
static bool
worth_a_look(nfds_t n)
{
	return n != 0 && n <= (nfds_t)FD_MAX && fd_possible();
}

STR_EXPORT int
poll(struct pollfd *fds, nfds_t n, int ms)
{
	uint64_t deadline = UINT64_MAX;
	int ret;

	pthread_testcancel();
	if (!worth_a_look(n))
		return REAL(poll)(fds, n, ms);
	if (ms >= 0)
		deadline = ms == 0 ? 0 : later((uint64_t)ms * 1000000u);
	if (poll_streams(fds, n, deadline, NULL, &ret))
		return ret;
	return REAL(poll)(fds, n, ms);
}

STR_EXPORT int
ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts,
	const sigset_t *mask)
{
	uint64_t deadline;
	sigset_t buf;
	int ret;

	pthread_testcancel();
	if (worth_a_look(n)) {
		ret = poll_deadline(ts, &deadline);
		/* the C library reads the time itself */
		if (ret == EFAULT)
			return fail(EFAULT);
		if (ret == 0 && poll_streams(fds, n, deadline, mask, &ret))
			return ret;
	}
	return REAL(ppoll)(fds, n, ts,
		mask != NULL ? host_sigmask_filter(SIG_SETMASK, mask, &buf)
			     : NULL);
}

int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *ts,
	const sigset_t *mask, size_t room);

STR_EXPORT int
__poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room)
{
	/* the next one knows how to complain */
	if (room / sizeof *fds < n)
		return REAL(__poll_chk)(fds, n, ms, room);
	return poll(fds, n, ms);
}

STR_EXPORT int
__ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *ts,
	const sigset_t *mask, size_t room)
{
	if (room / sizeof *fds < n)
		return REAL(__ppoll_chk)(fds, n, ts, mask, room);
	return ppoll(fds, n, ts, mask);
}

/* ------------------------------------------------------ the end of sockets */

_Static_assert(STRM_SHUT_SOCK == STR_SHUT_SOCK &&
		       STRM_SHUT_READ == STR_SHUT_READ &&
		       STRM_SHUT_WRITE == STR_SHUT_WRITE,
	"one set");

STR_EXPORT void
strm_shut(int fd, uint32_t clear, uint32_t set)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;

	if (r == NULL || call_begin(&hc, r, fd, 0) != 0)
		return;
	str_head_shut(hc.head, clear, set);
	host_leave();
}

STR_EXPORT int
strm_error(const struct strm_id *id, int err)
{
	return (int)str_head_shut_error(id->head, (uint32_t)err);
}
