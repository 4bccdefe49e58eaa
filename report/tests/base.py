# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""What the tests share; every input is synthetic."""

import contextlib
import functools
import io
import json
import os
import tempfile
import unittest

import synthetic

from strreport import load, page
from strreport.__main__ import main

HERE = os.path.dirname(os.path.abspath(__file__))
SMALL = os.path.join(HERE, "fixtures", "synthetic-small.json")


def small():
    with open(SMALL, encoding="utf-8") as stream:
        return json.load(stream)


@functools.cache
def complete():
    """The complete synthetic result, and the files of its report."""
    with tempfile.TemporaryDirectory(prefix="strreport-") as where:
        path = os.path.join(where, "in.json")
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(synthetic.complete(), stream)
        data = load.load([path])
    return data, page.build(data)


class Base(unittest.TestCase):
    def setUp(self):
        self._directory = tempfile.TemporaryDirectory(prefix="strreport-")
        self.addCleanup(self._directory.cleanup)
        self.dir = self._directory.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def put(self, name, content):
        """A file holding text, or an object as JSON; returns its path."""
        with open(self.path(name), "w", encoding="utf-8") as stream:
            stream.write(content if isinstance(content, str)
                         else json.dumps(content))
        return self.path(name)

    def load(self, content, **options):
        return load.load([self.put("in.json", content)], **options)

    def run_main(self, *arguments, program=main):
        """(exit status, standard output, standard error)"""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = program([str(a) for a in arguments])
            except SystemExit as leave:
                status = leave.code
        return status, out.getvalue(), err.getvalue()

    def refused(self, *arguments):
        """The message of a run that must fail with 1 and write nothing."""
        out = self.path("refused")
        status, _, err = self.run_main(*arguments, "-o", out)
        self.assertEqual(status, 1, err)
        self.assertTrue(err.startswith("strreport: "), err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertFalse(os.path.exists(out))
        return err
