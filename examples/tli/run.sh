#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
#
# phone and phoned, built in this directory, over ticotsord and over TCP.

set -eu
./phoned ticotsord phone 2 >ready &
server=$!
trap 'kill $server 2>/dev/null || :' EXIT
until grep -q . ready; do kill -0 $server; done
test "$(./phone ticotsord phone alice)" = 4711
test "$(./phone ticotsord phone zoe)" = unknown
wait $server

rm ready
./phoned tcp 127.0.0.1.0.0 1 >ready &
server=$!
until grep -q . ready 2>/dev/null; do kill -0 $server; done
test "$(./phone tcp $(cat ready) bert)" = 0815
wait $server
