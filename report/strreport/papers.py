# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""The measurements published in 2007 and 2008 (report/data)."""

import csv
import os
from dataclasses import dataclass

from .load import ReportError

DATA = os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "data", "papers-raw.csv")


@dataclass
class Table:
    """One table of the pipe paper: a distribution on a host."""

    number: int
    distribution: str
    kernel: str
    host: str
    rates: dict     # implementation -> {size: writes per second}

    @property
    def name(self):
        return f"{self.distribution}, {self.host}"

    @property
    def improvement(self):
        """{size: STREAMS over Linux pipe}."""
        ours, theirs = self.rates["pipe-streams"], self.rates["pipe-linux"]
        return {s: ours[s] / theirs[s] for s in sorted(ours) if s in theirs}


def tables(path=DATA):
    found = {}
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                if row["paper"] != "pipe":
                    continue
                number = int(row["table"])
                table = found.setdefault(number, Table(
                    number, row["distribution"], row["kernel"],
                    row["host"], {}))
                table.rates.setdefault(row["implementation"], {})[
                    int(row["message_bytes"])] = \
                    float(row["tx_messages_per_test"])
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
