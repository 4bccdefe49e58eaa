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
    "fifo-streams": "STREAMS FIFO",
    "fifo-linux": "Linux FIFO",
    "raw-sockets": "raw socket",
    "raw-xti": "XTI, raw IP",
    "unix-stream": "UNIX stream",
    "unix-seqpacket": "UNIX seqpacket",
    "unix-dgram": "UNIX datagram",
    "ring": "bare ring",
    "tcp-sockets": "TCP socket",
    "tcp-sockets-nice": "socket, nice",
    "tcp-xtios": "XTI, kernel TCP",
    "udp-sockets": "UDP socket",
    "udp-sockets-nice": "socket, nice",
    "udp-xtios": "XTI, kernel UDP",
    "udp-xti": "XTI, native UDP",
    "sctp-xti": "XTI, SCTP",
    "udp-xti-out": "to a socket",
    "udp-xti-in": "from a socket",
    "udp-sockets-netns": "UDP socket",
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

# In a table there is room for what an implementation is.
NAMES = {
    "pipe-streams": "STREAMS pipe",
    "pipe-streams-msg": "STREAMS pipe with putmsg",
    "pipe-streams-nullmod": "STREAMS pipe with nullmod",
    "pipe-streams-hold": "hold (write coalescing)",
    "pipe-streams-mread": "M_READ (read notification)",
    "pipe-streams-rfill": "read fill",
    "pipe-streams-srvmod": "srvmod, deferred service",
    "pipe-streams-service": "srvmod, eager service",
    "unix-stream": "UNIX stream socket",
    "unix-seqpacket": "UNIX seqpacket socket",
    "unix-dgram": "UNIX datagram socket",
    "tcp-sockets-nice": "TCP socket with nice",
    "tcp-xtios": "kernel TCP through XTI",
    "udp-sockets-nice": "UDP socket with nice",
    "udp-xtios": "kernel UDP through XTI",
    "udp-xti": "native UDP through XTI",
    "raw-xti": "native raw IP through XTI",
    "udp-xti-out": "native UDP sent to a plain socket",
    "udp-xti-in": "native UDP received from a plain socket",
    "udp-sockets-netns": "UDP socket",
    "ticotsord": "ticotsord (connections)",
    "ticlts": "ticlts (datagrams)",
    "wire-socket-out": "native UDP sent by kernel sockets",
    "wire-socket-in": "native UDP received by kernel sockets",
    "wire-raw-out": "native UDP sent by a raw wire",
    "wire-raw-in": "native UDP received by a raw wire",
    "wire-packet-out": "native UDP sent by a packet wire",
    "wire-packet-in": "native UDP received by a packet wire",
    "wire-tun-out": "native UDP sent by a TUN wire",
    "wire-tun-in": "native UDP received by a TUN wire",
}


def mode(name):
    return MODES.get(name, name)


def label(name):
    return LABELS.get(name, name)


def name(implementation):
    """What an implementation is, in words."""
    return NAMES.get(implementation, label(implementation))


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


def times(value):
    """A ratio as a multiple: 11.0×."""
    return NONE if value is None else factor(value) + "\N{MULTIPLICATION SIGN}"


def sizes(chosen, measured):
    """Message sizes in words: neighbours of @measured become a range."""
    runs = []
    for one in sorted(chosen):
        before = [m for m in measured if m < one]
        if runs and before and runs[-1][1] == max(before):
            runs[-1][1] = one
        else:
            runs.append([one, one])
    parts = [f"{a:,}" if a == b else f"{a:,} to {b:,}" for a, b in runs]
    return join(parts) + (" byte" if runs == [[1, 1]] else " bytes")


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


def short(value, unit=""):
    """Three figures and a prefix: 25.3 M, 1.20 GB/s."""
    for scale, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= scale * 0.9995:
            return f"{figures(value / scale)}\N{NO-BREAK SPACE}{prefix}{unit}"
    return f"{figures(value)}\N{NO-BREAK SPACE}{unit}".rstrip()


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
