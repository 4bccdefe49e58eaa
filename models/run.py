#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""Check the Promela models of this folder with spin.

Purpose.  A model carries its own list of cases in its leading comment:

	@check NAME FLAGS...		must be searched completely, no error
	@find NAME KIND FLAGS...	must end in an error of that KIND

A `check` is the protocol; a `find` is the protocol with one step broken, or
a claim that some state is never reached.  The second sort exists because a
model that cannot fail proves nothing.  KIND is `assert` (optionally
`assert=TEXT`, TEXT being part of the assertion that must be violated) or
`deadlock` (spin's invalid end state).

Each case is translated with `spin -a`, compiled in a directory of its own
and searched exhaustively.  A search that was cut short, by depth or memory,
counts as failed in both sorts.

Exit: 0 as expected, 1 not, 2 usage, 77 spin or the compiler is missing.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SKIP = 77
CASE = re.compile(r"^ \* @(check|find)\s+(\S+)(.*)$")
MEMORY_MB = 1500
DEPTH = 2000000
SHALLOW = 20000		# enough for nearly all, and quickly made ready


class Broken(Exception):
    """The case could not be searched; this is never what was expected."""


def cases(path):
    """The cases a model declares: (sort, name, kind, flags)."""
    out = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = CASE.match(line)
            if m is None:
                continue
            sort, name, words = m.group(1), m.group(2), m.group(3).split()
            kind = words.pop(0) if sort == "find" else ""
            out.append((sort, name, kind, words))
    return out


def tool(cmd, where):
    p = subprocess.run(cmd, cwd=where, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, check=False)
    return p.returncode, p.stdout


def pan(where, depth):
    rc, text = tool(["./pan", "-m%d" % depth, "-w20", "-n"], where)
    if "State-vector" not in text:
        raise Broken("the verifier did not finish:\n" + text)
    return text


def search(path, flags, where):
    """Run one exhaustive search; return pan's output."""
    for f in os.listdir(HERE):
        if f.endswith(".pml"):
            shutil.copy(os.path.join(HERE, f), where)
    rc, text = tool(["spin"] + flags + ["-a", os.path.basename(path)], where)
    if rc != 0 or not os.path.exists(os.path.join(where, "pan.c")):
        raise Broken("spin -a failed:\n" + text)
    # Most searches are over sooner than an optimized verifier is compiled, and
    # the longest take a few seconds.
    # SAFETY: every property here is an assertion or a state without exit.
    rc, text = tool([os.environ.get("CC_MODELS", "gcc"), "-O0", "-w",
                     "-DSAFETY", "-DNOCLAIM",
                     "-DMEMLIM=%d" % MEMORY_MB, "-o", "pan", "pan.c"], where)
    if rc != 0:
        raise Broken("compiling the verifier failed:\n" + text)
    text = pan(where, SHALLOW)
    if "search depth too small" in text:
        text = pan(where, DEPTH)
    return text


def verdict(text):
    """What pan found: '' or the text of the error."""
    m = re.search(r"^pan:\d+: (.*)$", text, re.M)
    if m is not None:
        return m.group(1)
    m = re.search(r"errors: (\d+)", text)
    if m is None:
        raise Broken("no verdict:\n" + text)
    if m.group(1) != "0":
        raise Broken("error of unknown sort:\n" + text)
    for bad in ("search depth too small", "Search not completed",
                "out of memory", "hashtable full"):
        if bad in text:
            raise Broken("incomplete search (%s):\n%s" % (bad, text))
    return ""


def of_kind(found, kind):
    if kind == "deadlock":
        return found.startswith("invalid end state")
    if not found.startswith("assertion violated"):
        return False
    return kind == "assert" or kind.split("=", 1)[1] in found.replace(" ", "")


def run(path, case, verbose):
    sort, name, kind, flags = case
    label = "%s %s" % (os.path.basename(path)[:-4], name)
    # Below the build directory in a build; nothing is left behind.
    where = tempfile.mkdtemp(prefix="model-", dir=os.environ.get("MODELS_DIR"))
    try:
        text = search(path, flags, where)
        found = verdict(text)
        states = re.search(r"(\d+) states, stored", text)
        size = states.group(1) if states else "?"
        if verbose:
            print(text)
        if sort == "check" and found:
            print("not ok: %s: %s" % (label, found))
            _, trail = tool(["spin"] + flags + ["-t", "-p", "-g",
                            os.path.basename(path)], where)
            print(trail[-12000:])
            return False
        if sort == "find" and not of_kind(found, kind):
            print("not ok: %s: expected %s, found %s" %
                  (label, kind, found or "no error in %s states" % size))
            return False
        print("ok: %s: %s states%s" %
              (label, size, ", found: " + found if found else ""))
        return True
    except Broken as e:
        print("not ok: %s: %s" % (label, e))
        return False
    finally:
        shutil.rmtree(where, ignore_errors=True)


def main():
    ap = argparse.ArgumentParser(description="check the Promela models")
    ap.add_argument("--list", action="store_true",
                    help="print `model case` lines and stop")
    ap.add_argument("-v", "--verbose", action="store_true",
                    help="show the verifier's output")
    ap.add_argument("model", nargs="?", help="a model, e.g. sleep.pml")
    ap.add_argument("case", nargs="*", help="cases; all when none is named")
    args = ap.parse_args()

    models = [args.model] if args.model else sorted(
        f for f in os.listdir(HERE) if f.endswith(".pml"))
    todo = []
    for m in models:
        path = os.path.join(HERE, os.path.basename(m))
        if not os.path.exists(path):
            ap.error("no model %s" % m)
        known = cases(path)
        missing = set(args.case) - {c[1] for c in known}
        if missing:
            ap.error("%s has no case %s" % (m, ", ".join(sorted(missing))))
        todo += [(path, c) for c in known
                 if not args.case or c[1] in args.case]
    if args.list:
        for path, c in todo:
            print(os.path.basename(path)[:-4], c[1])
        return 0
    for need in ("spin", os.environ.get("CC_MODELS", "gcc")):
        if shutil.which(need) is None:
            print("skip: %s is not installed" % need)
            return SKIP
    good = [run(path, c, args.verbose) for path, c in todo]
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
