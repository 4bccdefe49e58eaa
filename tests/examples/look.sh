#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
#
# What docs/porting.md types, in the directory where examples/port was built.

set -e
dir=$(mktemp -d)
tracer= caller=
STREAMS_DOMAIN=$dir/domain
export STREAMS_DOMAIN
trap 'for p in $tracer $caller; do kill $p 2>/dev/null || :; done
	rm -rf $dir' EXIT

# until a command succeeds; meson ends what takes too long
until_ok()
{
	until "$@" >/dev/null 2>&1; do
		kill -0 $$
	done
}

# a stream that is stuck; it also keeps the domain, and what is set in it
./frtry stuck &
caller=$!
until_ok sh -c 'strtop -1aw | grep -q "writer asleep"'

# names and autopush
cat >$dir/streams.conf <<'EOF'
dev	/dev/trunk	hub	clone
EOF
export STREAMS_CONF=$dir/streams.conf
strsetup -f $STREAMS_CONF
strconf /dev/trunk
strsetup -l /dev/trunk /dev/streams/clone/loop
test "$(strconf /dev/trunk)" = hub
unset STREAMS_CONF # it has no /dev/sad
autopush -s -M loop -m 11 frame
test "$(strconf -t /dev/streams/loop/11)" = frame
autopush -r -M loop -m 11

autopush -s -M loop -m 11 frame
autopush -g -M loop -m 11
strconf /dev/streams/loop/11
autopush -r -M loop -m 11

# trace messages: 26226 is 0x6672, the module's number
str-strace -n -o $dir/trace 26226 all 1 &
tracer=$!
until_ok sh -c 'strtop -1al | grep -q log'
until_ok sh -c "./frtry && grep -q 'of a frame given up' $dir/trace"


# what it looks like
strinfo -m
strtop -1aw
strtop -1al
scls -l frame
strtop -1aw | grep -q 'full'
