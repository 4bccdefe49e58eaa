#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
#
# The commands of docs/tutorial.md that watch streams, in a domain of their own.

set -eu
dir=$(mktemp -d)
STREAMS_DOMAIN=$dir/domain
export STREAMS_DOMAIN
trap 'kill ${!-} 2>/dev/null || :; rm -rf $dir packets' EXIT

./stuck &
until strtop -1aw | grep "writer asleep"; do :; done
strtop -1
strtop -1aw
kill $!

strtap -i lo -c 1 >packets &
until strtop -1al | grep " ip "; do :; done
./packet
wait $!
cat packets
grep -q '127.0.0.1.* > 127.0.0.1' packets
