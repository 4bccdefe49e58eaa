/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * hub - channels on lines: a multiplexing driver, and how programs set it up.
 *
 * A program opens hub, and says which channel of which line it wants by
 * HUB_BIND.  A line is a stream that was linked below hub.  Both ends of the
 * line have a hub, and the same channel numbers.
 */
#ifndef HUB_H
#define HUB_H

#define HUBIOC ('h' << 8)
#define HUB_BIND (HUBIOC | 1) /* struct hubbind; I_STR */

struct hubbind {
	int hb_line; /* what I_LINK or I_PLINK returned */
	int hb_chan; /* 0 to 255 */
};

#endif
