# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The measurements published in 2007 and 2008 (report/data)."""

import csv
import os
from dataclasses import dataclass

from .load import ReportError

DATA = os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "data", "papers-raw.csv")


# paper: (seconds of a test, the column that counts, ours, the kernel's).
# netperf's tests lasted ten seconds and printed messages per test.
PAPERS = {
    "pipe": (1, "tx_messages_per_test", "pipe-streams", "pipe-linux"),
    "tcp-sctp": (10, "rx_messages_per_test", "tcp-xtios", "tcp-sockets"),
    "udp": (10, "rx_messages_per_test", "udp-xtios", "udp-sockets"),
}


@dataclass
class Table:
    """One table of a paper: a distribution on a host."""

    number: int
    distribution: str
    kernel: str
    host: str
    rates: dict     # implementation -> {size: messages per second}
    over: str = "pipe-streams"
    under: str = "pipe-linux"

    @property
    def name(self):
        return f"{self.distribution}, {self.host}"

    @property
    def improvement(self):
        """{size: STREAMS over what the kernel has}."""
        ours, theirs = self.rates[self.over], self.rates[self.under]
        return {s: ours[s] / theirs[s] for s in sorted(ours) if s in theirs}


def tables(path=DATA, paper="pipe"):
    found = {}
    seconds, column, over, under = PAPERS[paper]
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                if row["paper"] != paper:
                    continue
                number = int(row["table"])
                table = found.setdefault(number, Table(
                    number, row["distribution"], row["kernel"],
                    row["host"], {}, over, under))
                table.rates.setdefault(row["implementation"], {})[
                    int(row["message_bytes"])] = \
                    float(row[column]) / seconds
    except (OSError, KeyError, ValueError) as error:
        raise ReportError(f"{path}: {error}") from error
    return [found[n] for n in sorted(found)]


def shared_columns(all_tables, implementation):
    """Groups of tables whose figures for @implementation are the same."""
    groups = {}
    for table in all_tables:
        rates = table.rates.get(implementation)
        if rates:
            groups.setdefault(tuple(sorted(rates.items())),
                              []).append(table)
    return [g for g in groups.values() if len(g) > 1]
