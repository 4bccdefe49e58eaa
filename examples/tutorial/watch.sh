#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
#
# The commands of docs/tutorial.md that watch streams, in a domain of their own.

set -eu
dir=$(mktemp -d)
writer= tap=
STREAMS_DOMAIN=$dir/domain
export STREAMS_DOMAIN
trap 'for p in $writer $tap; do kill $p 2>/dev/null || :; done
	rm -rf $dir' EXIT

# until a command succeeds; the test ends what takes too long
until_ok()
{
	until "$@" >/dev/null 2>&1; do
		kill -0 $$
	done
}

./stuck &
writer=$!
until_ok sh -c 'strtop -1aw | grep -q "writer asleep"'
strtop -1
strtop -1aw
kill $writer
writer=

strtap -i lo -c 1 >$dir/packets &
tap=$!
until_ok sh -c 'strtop -1al | grep -q " ip "'
./packet
wait $tap
tap=
cat $dir/packets
grep -q '127.0.0.1.* > 127.0.0.1' $dir/packets
