#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
#
# phone and phoned, built in this directory, over ticotsord and over TCP.

set -eu
trap 'kill ${!-} 2>/dev/null || :' EXIT
./phoned ticotsord phone 2 >ready &
until test -s ready; do kill -0 $!; done
test "$(./phone ticotsord phone alice)" = 4711
test "$(./phone ticotsord phone zoe)" = unknown
wait $!

rm ready
./phoned tcp 127.0.0.1.0.0 1 >ready &
until test -s ready; do kill -0 $!; done
test "$(./phone tcp $(cat ready) bert)" = 0815
wait $!
