# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""What is compared with what."""

from dataclasses import dataclass, field

from . import stats


@dataclass(frozen=True)
class Pair:
    """A comparison of two implementations of one suite."""

    over: str
    under: str
    what: str = ""
    # Ours over what the kernel has; else something else is learnt.
    kernel: bool = True


@dataclass(frozen=True)
class Part:
    """A suite, and what its charts are drawn against."""

    suite: str
    title: str
    base: str
    over: str                   # the base, in the words of a chart's title
    pairs: tuple
    paper: str | None = None
    against: dict = field(default_factory=dict, hash=False)


PIPES = Part("pipe", "Pipes", "pipe-linux", "the Linux pipe", (
    Pair("pipe-streams", "pipe-linux", "read and write"),
    Pair("pipe-streams-msg", "unix-seqpacket", "messages with boundaries"),
    Pair("pipe-streams-nullmod", "pipe-linux", "with one module pushed"),
    Pair("pipe-streams", "unix-stream", "read and write"),
    Pair("pipe-streams", "ring", "the share of what two copies allow",
         False),
))

NICE = "sender at nice −20, receiver at 19"

PARTS = (
    Part("tcp", "TCP", "tcp-sockets", "a TCP socket", (
        Pair("tcp-xtios", "tcp-sockets", "/dev/tcp"),
        Pair("tcp-xtios", "tcp-sockets-nice", NICE),
        Pair("tcp-sockets-nice", "tcp-sockets", NICE, False),
    ), "tcp-sctp"),
    Part("udp", "UDP", "udp-sockets", "a UDP socket", (
        Pair("udp-xti", "udp-sockets", "/dev/udp2, in memory"),
        Pair("udp-xtios", "udp-sockets", "/dev/udp"),
        Pair("udp-xtios", "udp-sockets-nice", NICE),
        Pair("udp-sockets-nice", "udp-sockets", NICE, False),
    ), "udp"),
    Part("loopback", "Loopback transports", "unix-stream", "UNIX sockets", (
        Pair("ticotsord", "unix-stream"),
        Pair("ticlts", "unix-dgram"),
    ), None, {"ticlts": "unix-dgram"}),
    Part("wire", "Native UDP and a socket", "udp-sockets", "a UDP socket", (
        Pair("udp-xti-out", "udp-sockets"),
        Pair("udp-xti-in", "udp-sockets"),
    )),
    Part("netns", "UDP between two network namespaces", "udp-sockets-netns",
         "a UDP socket", tuple(
             Pair(f"wire-{kind}-{way}", "udp-sockets-netns")
             for kind in ("socket", "raw", "packet", "tun")
             for way in ("out", "in"))),
)

# Round trips: ours, and what the kernel has for the same purpose.
NET_TRIPS = {"tcp-xtios": "tcp-sockets", "udp-xti": "udp-sockets",
             "udp-xtios": "udp-sockets", "ticotsord": "unix-stream",
             "ticlts": "unix-dgram",
             **{p.over: p.under for part in PARTS for p in part.pairs
                if part.suite == "netns"}}


@dataclass(frozen=True)
class Card:
    """A comparison of the first screen, of the page and of README."""

    title: str
    suite: str
    over: str
    under: str
    ours: str
    kernel: str


CARDS = (
    Card("Pipes", "pipe", "pipe-streams", "pipe-linux",
         "STREAMS pipe", "the kernel’s pipe"),
    Card("Messages", "pipe", "pipe-streams-msg", "unix-seqpacket",
         "putmsg on a STREAMS pipe", "a UNIX seqpacket socket"),
    Card("UDP", "udp", "udp-xti", "udp-sockets",
         "native UDP through XTI", "a UDP socket"),
    Card("TCP", "tcp", "tcp-xtios", "tcp-sockets",
         "the kernel’s TCP through XTI", "a TCP socket"),
    Card("Loopback", "loopback", "ticotsord", "unix-stream",
         "ticotsord through XTI", "a UNIX stream socket"),
)


def ratios(data, part):
    """[(pair, {mode: Ratio})] for what was measured."""
    rows = []
    for pair in part.pairs:
        found = {m: r for m in data.modes(part.suite)
                 if (r := stats.ratio(data, part.suite, pair.over,
                                      pair.under, m))}
        if found:
            rows.append((pair, found))
    return rows


def groups(data):
    """[(part, [(pair, {mode: Ratio})])] for what was measured."""
    return [(part, rows) for part in (PIPES, *PARTS)
            if (rows := ratios(data, part))]


def cards(data):
    """[(card, {mode: Ratio})] for what was measured."""
    found = []
    for card in CARDS:
        by_mode = {m: r for m in data.modes(card.suite)
                   if (r := stats.ratio(data, card.suite, card.over,
                                        card.under, m))}
        if by_mode:
            found.append((card, by_mode))
    return found
