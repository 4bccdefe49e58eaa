# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Numbers and names as the reader sees them."""

NONE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"

MODES = {"split": "two CPUs", "same": "one CPU"}

# Short enough for the end of a curve.
LABELS = {
    "pipe-streams": "STREAMS",
    "pipe-streams-msg": "STREAMS putmsg",
    "pipe-streams-nullmod": "STREAMS+nullmod",
    "pipe-streams-hold": "hold",
    "pipe-streams-mread": "M_READ",
    "pipe-streams-rfill": "read fill",
    "pipe-streams-srvmod": "srvmod, deferred",
    "pipe-streams-service": "service, eager",
    "pipe-linux": "Linux pipe",
    "pipe-lis": "LiS",
    "unix-stream": "UNIX stream",
    "unix-seqpacket": "UNIX seqpacket",
    "ring": "bare ring",
    "tcp-sockets": "Sockets (N)",
    "tcp-sockets-nice": "Sockets (A)",
    "tcp-xtios": "XTIoS",
    "udp-sockets": "Sockets (N)",
    "udp-sockets-nice": "Sockets (A)",
    "udp-xtios": "XTIoS",
    "unix-dgram": "UNIX datagram",
    "sctp-xti": "SCTP XTI",
    "udp-xti": "XTI",
    "udp-xti-out": "XTI to socket",
    "udp-xti-in": "socket to XTI",
    "udp-sockets-netns": "Sockets",
    "wire-socket-out": "sockets, out",
    "wire-socket-in": "sockets, in",
    "wire-raw-out": "raw, out",
    "wire-raw-in": "raw, in",
    "wire-packet-out": "packet, out",
    "wire-packet-in": "packet, in",
    "wire-tun-out": "TUN, out",
    "wire-tun-in": "TUN, in",
    "perftest": "perftest",
    "perftestn": "perftestn",
}


def mode(name):
    return MODES.get(name, name)


def label(name):
    return LABELS.get(name, name)


def integer(value):
    return NONE if value is None else f"{value:,.0f}"


def size(value):
    """A message size in words."""
    return f"{value:,} byte{'s' if value != 1 else ''}"


def plain(value):
    """As many digits as the number has."""
    return f"{value:.6g}"


def factor(value):
    """A ratio with about three figures."""
    if value is None:
        return NONE
    if value >= 99.95:
        return f"{value:,.0f}"
    if value >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.0995 else figures(value, 2)


def signed_percent(ratio):
    """1.25 -> +25 %."""
    if ratio is None:
        return NONE
    value = round((ratio - 1) * 100)
    sign = "+" if value > 0 else MINUS if value < 0 else "\N{PLUS-MINUS SIGN}"
    return f"{sign}{abs(value):,}\N{NO-BREAK SPACE}%"


def figures(value, digits=3):
    """@digits significant figures without an exponent."""
    if value is None:
        return NONE
    if value == 0:
        return "0"
    power = int(f"{value:.{digits - 1}e}".partition("e")[2])
    text = f"{abs(value):,.{min(max(0, digits - 1 - power), 9)}f}"
    return (MINUS if value < 0 else "") + text


def ns(value):
    """A duration given in ns, in the unit that suits it."""
    if value is None:
        return NONE
    for limit, scale, unit in ((1e3, 1, "ns"), (1e6, 1e3, "µs"),
                               (1e9, 1e6, "ms")):
        if abs(value) < limit * 0.9995:
            return f"{figures(value / scale)}\N{NO-BREAK SPACE}{unit}"
    return f"{figures(value / 1e9)}\N{NO-BREAK SPACE}s"


def join(parts):
    parts = list(parts)
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]
