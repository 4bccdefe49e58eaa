/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * How a thread in epoll_wait() waits for the items of an instance that has only
 * Streams: it looks for a moment, and then sleeps at the watcher.  epoll.c has
 * the theory.
 */
#include "epitem.h"
#include "sock/sock.h"

#define SPIN_US 20u
#define FEW     32u /* items that a thread that spins checks each time */
/* pause instructions between two looks at the same word: about a microsecond */
#define SPIN_PAUSES 24u

/* Does the other side of the stream that was ready last run on this CPU? */
static bool
is_near(struct ep_wait *w)
{
	struct ep *ep = w->ep;
	struct fd_guard g;
	bool yes = false;

	fd_lock(&g);
	if (str_load(&ep->npend) != 0) {
		struct ep_item *it = str_container(
			ep->pend.prev, struct ep_item, link);

		yes = str_watch_cpu(str_load(&it->rec->sd)) == host_cpu();
	}
	fd_unlock(&g);
	return yes;
}

/*
 * Look for a moment whether a Stream becomes ready: that costs less than a
 * wake-up, and while the items are not armed it costs their writers nothing.
 * After an unsuccessful attempt this is not tried for a while.
 */
void
ep_spin(struct ep_wait *w)
{
	struct ep *ep = w->ep;
	struct str_watch *watch = str_load(&ep->watch);
	uint64_t start = host_ticks();
	uint64_t most = SPIN_US * host_ticks_per_ms / 1000;
	uint32_t n = str_load(&ep->rest);
	bool near;

	if (watch == NULL || str_load(&ep->n) == str_load(&ep->nslow))
		return;
	if (n != 0) {
		str_store(&ep->rest, n - 1);
		return;
	}
	near = is_near(w);
	if (near && !host_give_way())
		return;
	ep_take(w, str_load(&ep->npend) > FEW ? EP_REST : EP_GLANCE);
	while (w->n == 0 && !w->fault && host_tls.sig_saved == 0 &&
		host_interrupted(w->hc) == HOST_SIG_NONE &&
		host_ticks() - start < most) {
		if (near) {
			if (!host_give_way())
				break;
			near = false;
		}
		for (unsigned i = 0; i < SPIN_PAUSES; i++)
			str_cpu_relax();
		if (str_load(&watch->some) != 0 || str_load(&ep->npend) != 0)
			ep_take(w, EP_GLANCE);
	}
	if (w->n != 0) {
		str_store(&ep->vain, 0u);
		return;
	}
	n = str_load(&ep->vain) % 32 * 2 + 1;
	str_store(&ep->vain, n);
	str_store(&ep->rest, n);
}

/*
 * Stage 1, for an instance that has only Streams.  Return: 0: check again;
 * -EINTR; -ETIMEDOUT: no wake in 20 ms, or until the deadline; -EAGAIN: this
 * stage is not possible.
 */
int
ep_sleep_near(struct ep_wait *w, uint64_t deadline, const sigset_t *mask)
{
	struct ep *ep = w->ep;
	struct str_watch *watch = str_load(&ep->watch);
	uint64_t most = EP_NEAR_NS, at = 0;
	uint32_t word;

	if (mask != NULL || watch == NULL || str_load(&ep->mixed) ||
		str_load(&ep->nslow) != 0 || host_sock_watching())
		return -EAGAIN;
	str_sock_flush(w->hc);
	word = str_load_acq(&watch->word);
	ep_take(w, EP_REST);
	if (w->n != 0 || w->fault)
		return 0;
	if (deadline != UINT64_MAX) {
		at = host_now();
		most = deadline > at ? STR_MIN(deadline - at, most) : 0;
	}
	if (!str_watch_sleep(watch))
		return 0;
	STR_CRASH_POINT("epoll:asleep");
	return -host_wait(w->hc, &watch->word, word, most);
}
