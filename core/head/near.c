/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Which process watches a socket below a stream at which threads wait.
 *
 * If nearly all input comes from within the domain, the driver says that the
 * socket is *near*: streamsd watches it, and the threads sleep as at any other
 * stream.  Otherwise the process of the threads watches it.  A thread that waits
 * for many streams makes the sockets below them near where the driver permits
 * it (str_sock_leave).
 *
 * End. streamsd stops watching as soon as it finds that the socket is not near
 * any more.  A thread that sleeps at this one stream needs no wake: after 20 ms
 * at most it watches the socket itself.  One that waits for many arms the
 * stream's item, executes a full fence, and then checks whether the socket is
 * near; ksock_near() clears the flag, executes a full fence, and reports an
 * event of all armed items, those with EPOLLEXCLUSIVE, too.  If the report left
 * one of these out, its process would rely on another process to watch the
 * socket. But that process may be busy when data comes, and then does not wait
 * for it.
 */
#include "core.h"
#include "sock/table.h"
#include "watch.h"

/* May a thread at the stream leave the socket to streamsd? */
bool
str_sock_near(uint64_t id)
{
	struct str_ksock *ks = str_ksock_at(id);

	return ks != NULL && (str_load(&ks->flags) &
		(KF_NEAR | KF_BLOCKED | KF_CONNECTING)) == KF_NEAR;
}

static void
not_near(struct str_head *sd)
{
	str_fence_full(); /* KF_NEAR is stored, then rwant loaded */
	if ((str_load(&sd->hq.rwant) & STR_WANT_WATCH) != 0)
		str_watch_again(sd, &sd->hq.rwant);
}

void
ksock_near(ksock_t *ks, int yes)
{
	struct str_plumb *pl = str_load(&ks->home);

	if (yes) {
		flag(ks, KF_NEAR, KF_MAYNEAR);
		if (pl != NULL)
			str_sock_changed(pl);
	} else if ((str_load(&ks->flags) & (KF_NEAR | KF_MAYNEAR)) != 0 &&
		(str_and(&ks->flags, ~(KF_NEAR | KF_MAYNEAR)) & KF_NEAR) != 0 &&
		pl != NULL) {
		not_near(&pl->head[0]);
	}
}

void
ksock_may_be_near(ksock_t *ks)
{
	flag(ks, KF_MAYNEAR, 0);
}

/*
 * The caller waits for many streams, and has armed this one.  If the driver
 * permits it (ksock_may_be_near()), leave the watching of the socket to streamsd.
 */
bool
str_sock_leave(uint64_t id)
{
	struct str_ksock *ks = str_ksock_at(id);

	if (ks != NULL && (str_load(&ks->flags) & KF_MAYNEAR) != 0)
		ksock_near(ks, 1);
	return str_sock_near(id);
}
