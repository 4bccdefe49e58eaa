/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * pipe-packet: the kernel's pipe in packet mode, which keeps records of at
 * most 4,096 bytes.  Greater ones come in several reads, as a byte stream.
 */
#include "transport.h"

#include <fcntl.h>
#include <unistd.h>

static int
packet_open(struct channel *channel, int two_way)
{
	int out[2], back[2] = {-1, -1};

	if (pipe2(out, O_DIRECT) != 0)
		return -1;
	if (two_way && pipe2(back, O_DIRECT) != 0) {
		(void)close(out[0]);
		(void)close(out[1]);
		return -1;
	}
	channel_set_fds(channel, back[0], out[1], out[0], back[1]);
	return 0;
}

extern const struct transport pipe_packet;
const struct transport pipe_packet = {
	.name = "pipe-packet",
	.open = packet_open,
	.keep = channel_keep_fds,
	.send = end_send_all,
	.recv = end_recv_all,
	.hang_up = end_close_fds,
};
