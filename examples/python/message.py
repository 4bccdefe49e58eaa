#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
"""A message through a STREAMS pipe, by ctypes: no extension module."""

import ctypes
import os

lib = ctypes.CDLL('libstreams.so.1', use_errno=True)


class strbuf(ctypes.Structure):     # <stropts.h>
    _fields_ = [('maxlen', ctypes.c_int), ('len', ctypes.c_int),
                ('buf', ctypes.c_char_p)]


def call(function, *args):
    if function(*args) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


fd = (ctypes.c_int * 2)()
call(lib.pipe, fd)
control, data = strbuf(0, 4, b'ctl!'), strbuf(0, 5, b'hello')
call(lib.putmsg, fd[0], ctypes.byref(control), ctypes.byref(data), 0)

text = [ctypes.create_string_buffer(64) for _ in range(2)]
parts = [strbuf(64, 0, ctypes.cast(t, ctypes.c_char_p)) for t in text]
call(lib.getmsg, fd[1], *map(ctypes.byref, parts),
     ctypes.byref(ctypes.c_int()))
print(*(t[:p.len].decode() for t, p in zip(text, parts)))
for f in fd:
    call(lib.close, f)
