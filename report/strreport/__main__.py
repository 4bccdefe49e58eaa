# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""python -m strreport FILE... -o DIR"""

import argparse
import os
import sys
import tempfile

from .load import ReportError, load


def write_all(directory, files):
    """Put @files into @directory, each complete or not at all.

    The page is written last, so that it never names a chart that is not
    there yet.
    """
    try:
        os.makedirs(directory, exist_ok=True)
        for name in sorted(files, key=lambda n: (n == "index.html", n)):
            handle, temporary = tempfile.mkstemp(dir=directory,
                                                 prefix=".strreport-")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as stream:
                    stream.write(files[name])
                os.chmod(temporary, 0o644)
                os.replace(temporary, os.path.join(directory, name))
            except BaseException:
                os.unlink(temporary)
                raise
    except OSError as error:
        raise ReportError(f"{directory}: cannot write the report: "
                          f"{error.strerror}") from error


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="strreport", description="Turn results of strbench into a page "
        "with charts (index.html, SVG) and tables (CSV).",
        epilog="Exit status: 0, 1 when the input is refused or the output "
        "cannot be written, 2 for a usage error.")
    parser.add_argument("file", nargs="+", metavar="FILE",
                        help="JSON written by strbench run; several files "
                        "of one host and build count as repetitions")
    parser.add_argument("-o", "--output", required=True, metavar="DIR",
                        help="directory for the report, made if missing")
    parser.add_argument("--force", action="store_true",
                        help="mix files of different hosts or builds")
    options = parser.parse_args(argv)
    try:
        data = load(options.file, options.force)
        if os.path.exists(options.output) \
                and not os.path.isdir(options.output):
            raise ReportError(f"{options.output}: cannot write the report: "
                              f"not a directory")
        try:
            from . import page
        except ImportError as error:
            # Measuring has taken its time: what can be shown is shown.
            from . import plain
            write_all(options.output, plain.build(data))
            print(f"strreport: no {error.name}: tables and no charts; "
                  "install python3-matplotlib and python3-jinja2, or "
                  "report/requirements.txt", file=sys.stderr)
        else:
            write_all(options.output, page.build(data))
    except ReportError as error:
        print(f"strreport: {error}", file=sys.stderr)
        return 1
    print(os.path.join(options.output, "index.html"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
