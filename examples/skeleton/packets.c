/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The table of a worker that has pipe-packet only: for the test.
 */
#include "transport.h"

extern const struct transport pipe_packet;

const struct transport *const transports[] = {
	&pipe_packet,
	NULL,
};
