# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Run the tests of the report and say so in TAP.

The report needs the packages of report/requirements.txt.  They are looked
for in the python that runs this, in $STRBENCH_PYTHON and in build/venv;
where none has them, all is skipped with the reason.
"""

import importlib.util
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
PACKAGES = ("matplotlib", "jinja2", "markupsafe")


class Tap(unittest.TestResult):
    """One line per test; what failed, as comments."""

    count = 0

    def line(self, ok, test, note=""):
        self.count += 1
        name = test.id().partition(".")[2]
        print(f"{'' if ok else 'not '}ok {self.count} - {name}{note}",
              flush=True)

    def trouble(self, test, error):
        self.line(False, test)
        for line in self._exc_info_to_string(error, test).splitlines():
            print(f"# {line}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line(True, test)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.trouble(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.trouble(test, error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line(True, test, f" # SKIP {reason}")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.trouble(subtest, error)


def missing():
    return [p for p in PACKAGES if importlib.util.find_spec(p) is None]


def elsewhere():
    """Another python that may have the packages; not tried yet."""
    tried = os.environ.get("STRREPORT_TRIED", "").split(os.pathsep)
    for path in (os.environ.get("STRBENCH_PYTHON", ""),
                 os.path.join(TOP, "build", "venv", "bin", "python")):
        if path and path not in tried and os.access(path, os.X_OK):
            os.environ["STRREPORT_TRIED"] = os.pathsep.join([*tried, path])
            return path
    return None


def main():
    absent = missing()
    if absent:
        other = elsewhere()
        if other:
            os.execv(other, [other, os.path.abspath(__file__)])
        print(f"1..0 # SKIP no {', '.join(absent)}: "
              f"report/requirements.txt is not installed", flush=True)
        return 0
    sys.dont_write_bytecode = True
    sys.path[:0] = [HERE, os.path.dirname(HERE)]
    suite = unittest.defaultTestLoader.loadTestsFromNames(
        ["test_report", "test_page", "test_everyday"])
    result = Tap()
    suite.run(result)
    print(f"1..{result.count}", flush=True)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
