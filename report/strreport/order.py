# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The order of implementations, wherever they are listed."""

# The order of curves, tables and legends.
ORDER = ("pipe-streams", "fifo-streams", "pipe-streams-msg",
         "pipe-streams-nullmod", "ring",
         "tcp-xtios", "tcp-sockets", "tcp-sockets-nice", "sctp-xti",
         "udp-xtios", "udp-xti", "udp-xti-out", "udp-xti-in",
         "udp-sockets", "udp-sockets-nice",
         "wire-socket-out", "wire-socket-in", "wire-raw-out", "wire-raw-in",
         "wire-packet-out", "wire-packet-in", "wire-tun-out", "wire-tun-in",
         "udp-sockets-netns", "ticotsord", "ticlts",
         "raw-xti", "raw-sockets", "pipe-linux", "fifo-linux",
         "unix-stream", "unix-seqpacket", "unix-dgram",
         "pipe-streams-hold", "pipe-streams-mread", "pipe-streams-rfill",
         "pipe-streams-srvmod", "pipe-streams-service",
         "perftest", "perftestn", "pipe-lis")


def ordered(names):
    names = set(names)
    return [n for n in ORDER if n in names] + sorted(names - set(ORDER))
