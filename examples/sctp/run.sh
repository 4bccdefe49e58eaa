#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
#
# The programs of docs/sctp.md, in a domain of their own.

set -eu
dir=$(mktemp -d)
STREAMS_DOMAIN=$dir/domain
export STREAMS_DOMAIN
trap 'kill $! 2>/dev/null || :; rm -rf $dir' EXIT

./server 5000 >$dir/server &
until grep -q ready $dir/server; do kill -0 $!; done
strtop -1al | grep -q sctp
./client 5000
wait $!
cat $dir/server
