# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""What the rules share: the list of them, the tree, and C without comments."""

import glob
import os
import re
import subprocess

RULES = []
NOT_OURS = {'.git', 'build', 'out', '__pycache__', '.cache', 'node_modules'}


class Skip(Exception):
    """The subject of a rule does not exist."""


def rule(function):
    """Register a rule; its docstring is the sentence it proves."""
    RULES.append(function)
    return function


class Tree:
    """The sources and what was built from them."""

    def __init__(self, root, build):
        self.root = os.path.abspath(root)
        self.build = os.path.abspath(build)
        self._files = None

    def files(self, *suffixes, under=('',)):
        """Paths relative to the root, by ending, below any of the folders."""
        if self._files is None:
            self._files = sorted(self._walk())
        return [f for f in self._files
                if f.endswith(suffixes or ('',)) and f.startswith(tuple(under))]

    def _walk(self):
        for folder, dirs, names in os.walk(self.root):
            dirs[:] = [d for d in dirs if d not in NOT_OURS and
                       not os.path.exists(os.path.join(
                           folder, d, 'meson-private'))]
            for n in names:
                path = os.path.join(folder, n)
                if os.path.isfile(path) and not os.path.islink(path):
                    yield os.path.relpath(path, self.root)

    def path(self, name):
        return os.path.join(self.root, name)

    def text(self, name):
        with open(self.path(name), encoding='utf-8', errors='replace') as f:
            return f.read()

    def objects(self, folder):
        """What was built in a folder: its library, else its objects.

        Other archives there are made for tests, with what only tests have.
        """
        if not self.files('.c', under=(folder + '/',)):
            raise Skip(f'no sources in {folder}')
        found = glob.glob(f'{self.build}/{folder}/lib{folder}.a') or [
            o for o in glob.glob(f'{self.build}/{folder}/**/*.o',
                                 recursive=True)
            if not re.search(r'_test\b', o)]
        if not found:  # part of another folder's library
            for lib in glob.glob(f'{self.build}/*/lib*.a.p'):
                if os.path.basename(lib) == \
                        f'lib{os.path.basename(os.path.dirname(lib))}.a.p':
                    found += glob.glob(f'{lib}/.._{folder}_*.o')
        if not found:
            raise Skip(f'nothing built in {folder}')
        return sorted(found)


def output(*command):
    """What a tool writes; its failure is ours."""
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          env=dict(os.environ, LC_ALL='C')).stdout


def without_comments(text, strings=False):
    """C with comments blanked, and strings if asked; lines stay lines."""
    def blank(m):
        s = m[0]
        if s[0] in '"\'':
            return s if not strings else s[0] + ' ' * (len(s) - 2) + s[0]
        return re.sub(r'[^\n]', ' ', s)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'
                  r"'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)


def search(tree, names, pattern, code_only=True):
    """Where a pattern occurs, as "file:line: text"."""
    found = []
    for name in names:
        text = tree.text(name)
        original = text.splitlines()
        if code_only:
            text = without_comments(text, strings=True)
        for n, line in enumerate(text.splitlines(), 1):
            if re.search(pattern, line) and 'lint-ok:' not in original[n - 1]:
                found.append(f'{name}:{n}: {original[n - 1].strip()}')
    return found
