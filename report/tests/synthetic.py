# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Made-up results for tests and for work on the page's looks.

Nothing here was measured: delays follow simple formulas, the spread is a
fixed pattern, and the machine says that it is synthetic.
"""

import json
import sys

SIZES = [2 ** e for e in range(15)]

# implementation: {mode: (ns per message, ns per byte, extra above 4 KiB,
# voluntary switches per 1,000 messages)}
SHAPES = {
    "pipe-streams": {"split": (30, 0.028, 0, 0.02),
                     "same": (22, 0.07, 0, 0.9)},
    "pipe-streams-msg": {"split": (62, 0.03, 0, 0.03),
                         "same": (55, 0.072, 0, 1.1)},
    "pipe-streams-nullmod": {"split": (71, 0.031, 0, 0.03),
                             "same": (60, 0.073, 0, 1.2)},
    "ring": {"split": (24, 0.02, 0, 0.01), "same": (14, 0.061, 0, 0.5)},
    "pipe-linux": {"split": (255, 0.05, 0.17, 40),
                   "same": (470, 0.33, 0.05, 180)},
    "unix-stream": {"split": (690, 0.11, 0.1, 55),
                    "same": (820, 0.3, 0.1, 120)},
    "unix-seqpacket": {"split": (760, 0.12, 0.1, 90),
                       "same": (880, 0.31, 0.1, 160)},
}
FACTORS = {"pipe-streams": 1.0, "pipe-streams-hold": 1.08,
           "pipe-streams-mread": 0.97, "pipe-streams-rfill": 1.02,
           "pipe-streams-srvmod": 0.52, "pipe-streams-service": 0.11}
TRIPS = {"pipe-linux": {"split": 47000, "same": 4400},
         "unix-stream": {"split": 49000, "same": 8600},
         "unix-seqpacket": {"split": 49500, "same": 8900},
         "pipe-streams": {"split": 260, "same": 4700},
         "ring": {"split": 190, "same": 4100}}
NETS = {
    "tcp": {"tcp-xtios": {"split": (150, 0.09, 0, 2), "same": (180, 0.1, 0, 4)},
            "tcp-sockets": {"split": (620, 0.1, 0, 60),
                            "same": (640, 0.11, 0, 500)},
            "tcp-sockets-nice": {"split": (600, 0.1, 0, 40),
                                 "same": (480, 0.13, 0, 8)}},
    "udp": {"udp-xti": {"split": (120, 0.04, 0, 1), "same": (130, 0.08, 0, 2)},
            "udp-xtios": {"split": (300, 0.1, 0, 3), "same": (420, 0.12, 0, 5)},
            "udp-sockets": {"split": (1400, 0.11, 0, 90),
                            "same": (1500, 0.12, 0, 400)},
            "udp-sockets-nice": {"split": (1300, 0.11, 0, 90),
                                 "same": (9000, 0.5, 0, 10)}},
    "wire": {"udp-xti-out": {"split": (700, 0.11, 0, 20),
                             "same": (500, 0.12, 0, 40)},
             "udp-xti-in": {"split": (1300, 0.11, 0, 20),
                            "same": (1100, 0.12, 0, 40)},
             "udp-sockets": {"split": (1400, 0.11, 0, 90),
                             "same": (1500, 0.12, 0, 400)}},
    "netns": {"wire-socket-out": {"split": (900, 0.5, 0, 20),
                                  "same": (1000, 0.6, 0, 40)},
              "wire-packet-in": {"split": (9000, 2, 0, 20),
                                 "same": (14000, 3, 0, 40)},
              "udp-sockets-netns": {"split": (1800, 1, 0, 90),
                                    "same": (2000, 1.2, 0, 400)}},
    "loopback": {"ticotsord": {"split": (60, 0.03, 0, 1),
                               "same": (70, 0.08, 0, 2)},
                 "ticlts": {"split": (110, 0.03, 0, 1),
                            "same": (120, 0.08, 0, 2)},
                 "unix-stream": {"split": (690, 0.11, 0.1, 55),
                                 "same": (820, 0.3, 0.1, 120)},
                 "unix-dgram": {"split": (950, 0.12, 0.1, 300),
                                "same": (900, 0.3, 0.1, 250)}},
}
NET_TRIPS = {"tcp-sockets": {"split": 50000, "same": 9600},
             "tcp-xtios": {"split": 52000, "same": 10400},
             "udp-sockets": {"split": 49000, "same": 8000},
             "udp-xti": {"split": 2100, "same": 6100},
             "udp-xtios": {"split": 60000, "same": 8800},
             "udp-sockets-netns": {"split": 60000, "same": 9000},
             "wire-packet-out": {"split": 90000, "same": 27000},
             "unix-stream": {"split": 40000, "same": 5000},
             "unix-dgram": {"split": 40000, "same": 5000},
             "ticotsord": {"split": 1400, "same": 4200},
             "ticlts": {"split": 2400, "same": 4600}}
# implementation: {mode: (messages per second, of them with (A))}, two sizes
NICE = {"pipe-streams": {"split": (3e7, 0.97), "same": (2e7, 0.9)},
        "pipe-linux": {"split": (2e6, 1), "same": (1e6, 1.2)},
        "udp-xti": {"split": (8e6, 0.99), "same": (4e6, 0.05)},
        "udp-xtios": {"split": (9e5, 0.6), "same": (4e5, 0.86)},
        "sctp-xti": {"split": (7e6, 0.8), "same": (3e6, 0.7)},
        "udp-sockets": {"split": (5e5, 1), "same": (4e5, 0)}}
RIPPLE = (1.0, 1.06, 0.95, 1.03, 0.98)


def delay(name, mode, size):
    fixed, per_byte, extra, _ = SHAPES[name][mode]
    wave = RIPPLE[(size.bit_length() + len(name)) % len(RIPPLE)]
    return (fixed + per_byte * size + extra * max(0, size - 4096)) * wave


def _rated(suite, name, mode, size, rate, per_thousand, cpus):
    return {
        "suite": suite, "implementation": name, "mode": mode,
        "message_bytes": size, "tx_per_s": round(rate),
        "rx_per_s": round(rate),
        "samples": [round(rate * f) for f in (0.96, 1.0, 1.03)],
        "voluntary_switches_per_s": rate * per_thousand / 1000,
        "cpu_ns_per_message": 1e9 / rate * cpus,
    }


def complete():
    runs = []
    for mode, cpus in (("split", 1.9), ("same", 1.0)):
        for name, shape in SHAPES.items():
            for size in SIZES:
                runs.append(_rated("pipe", name, mode, size,
                                   1e9 / delay(name, mode, size),
                                   shape[mode][3], cpus))
        for name, factor in FACTORS.items():
            for size in SIZES[::2]:
                rate = 1e9 / delay("pipe-streams", mode, size) * factor
                runs.append(_rated("ablation", name, mode, size, rate,
                                   950 if factor < 0.5 else 0.9, cpus))
        for name, factor in (("perftest", 0.3), ("perftestn", 1)):
            for size in SIZES[:13]:
                rate = 1e9 / delay("pipe-linux", mode, size) / factor
                runs.append(_rated("perftest", name, mode, size, rate, 30,
                                   cpus))
        for name, base in TRIPS.items():
            for size in (1, 1024):
                for state, slow in (("warm", 1), ("idle", 1.6)):
                    p50 = base[mode] * slow + size * 0.4
                    if name in ("pipe-streams", "ring") and slow > 1:
                        p50 = 52000 + size
                    runs.append({
                        "suite": "rtt", "implementation": name,
                        "mode": mode, "message_bytes": size,
                        "state": state, "p50_ns": p50,
                        "p99_ns": p50 * 1.7})
        for suite, shapes in NETS.items():
            for name, shape in shapes.items():
                fixed, per_byte, extra, switches = shape[mode]
                for size in SIZES:
                    run = _rated(suite, name, mode, size, 1e9 / (
                        fixed + per_byte * size
                        + extra * max(0, size - 4096)), switches, cpus)
                    run["rx_samples"] = run["samples"]
                    if name.startswith("udp-sockets"):
                        run["tx_per_s"] *= 1.25
                        run["samples"] = [run["tx_per_s"]] * 3
                    runs.append(run)
        for name, by_mode in NICE.items():
            for size in (1, 4096):
                rate, part = by_mode[mode]
                rate /= 1 if size == 1 else 4
                for suffix, value in (("", rate), ("-nice", rate * part)):
                    runs.append({
                        "suite": "nice", "implementation": name + suffix,
                        "mode": mode, "message_bytes": size,
                        "tx_per_s": rate, "rx_per_s": value,
                        "rx_samples": [value] * 3})
        for name, base in NET_TRIPS.items():
            for size in (1, 1024):
                for state, slow in (("warm", 1), ("idle", 1.6)):
                    p50 = base[mode] * slow + size * 0.4 - 0.4
                    runs.append({
                        "suite": "netrtt", "implementation": name,
                        "mode": mode, "message_bytes": size,
                        "state": state, "p50_ns": p50,
                        "p99_ns": p50 * 1.7})
        if mode == "same":
            for name, p50 in (("pipe-linux", 1500.0),
                              ("pipe-streams", 4500.0)):
                runs.append({"suite": "open", "implementation": name,
                             "mode": mode, "message_bytes": 1,
                             "p50_ns": p50, "p99_ns": p50 * 2,
                             "samples": [p50]})
        runs.append({"suite": "idle", "implementation": "pipe-streams",
                     "mode": mode, "message_bytes": 64, "seconds": 10.0,
                     "reader_switches": 0.0, "writer_switches": 0.0,
                     "poller_switches": 0.0})
    return {
        "schema": 1,
        "machine": {
            "hostname": "synthetic", "cpu_model": "Synthetic processor, "
            "not a measurement", "cpus": 2, "kernel": "0.0.0-synthetic",
            "virtualization": "none", "build_id": "synthetic",
            "memory_bytes": 2 ** 34, "governor": "performance",
            "cpus_used": [0, 1],
            "load_average": [0.25, 0.1, 0.0],
        },
        "command": ["strbench", "run"], "partial": False, "errors": [],
        "skipped": [{"implementation": "sctp-xti",
                     "reason": "no such device (synthetic)"}],
        "settings": {"seconds": 0.25, "warmup_seconds": 0.1, "repeat": 3},
        "runs": runs,
    }


if __name__ == "__main__":
    json.dump(complete(), sys.stdout, indent=1)
    print()
