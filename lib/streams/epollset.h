/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#ifndef STREAMS_EPOLLSET_H
#define STREAMS_EPOLLSET_H

#include "fd.h"

/*
 * For poll(2) on an epoll descriptor: in a call, without the lock.
 * ep_awake: the thread that called ep_arm() does not sleep any more.
 */
bool ep_ready(struct ep *ep);
void ep_arm(struct ep *ep, struct host_call *hc);
void ep_awake(struct ep *ep);

#endif
