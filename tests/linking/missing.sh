#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
#
# missing.sh WHAT - in the place of a test that needs a library that is not here
echo "1..0 # SKIP there is no $1 to build against"
