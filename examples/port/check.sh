#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
#
# The exchange and its callers, each a process of its own; then once more
# after one of them has been killed in the middle.

set -e
dir=$(mktemp -d)
STREAMS_MODULE_PATH=${STREAMS_MODULE_PATH:-$PWD}
STREAMS_DOMAIN=${STREAMS_DOMAIN:-$dir/domain}
export STREAMS_MODULE_PATH STREAMS_DOMAIN
server=
trap 'test -z "$server" || kill $server 2>/dev/null; rm -rf $dir' EXIT

start()
{
	mkfifo $dir/up$1
	./exchd $dir/exch >$dir/up$1 &
	server=$!
	read ready <$dir/up$1
	test "$ready" = ready
}

pair()
{
	./call $dir/exch hear $1 $2 &
	hear=$!
	until ./call $dir/exch list | grep -q "^$1:"; do
		kill -0 $hear
	done
	./call $dir/exch talk $1 $2 >$dir/talk$1
	wait $hear
	test "$(cat $dir/talk$1)" = "the other side heard $2"
}

./frtry
start 1
pair 1 2000
pair 7 200 & other=$!
pair 8 200
wait $other
test "$(./call $dir/exch list)" = "1:2
7:2
8:2"

# a talker with nobody at the other side, killed; the others do not mind
./call $dir/exch talk 9 1000000 >/dev/null &
victim=$!
pair 2 200
kill -9 $victim
wait $victim || true
pair 3 500

# a server that was killed leaves its name; the next one takes it
kill -9 $server
wait $server || true
start 2
pair 1 300
./call $dir/exch stop
wait $server
server=
test ! -e $dir/exch
echo "the exchange has worked"
