#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
#
# configure.sh DIR PREFIX [OPTION...] - configure a build directory, or move
# one that is configured to another prefix.  An empty prefix leaves it where
# it is; a new directory gets /usr/local.
#
# Libraries go where the compiler says that this system has them.  Meson asks
# dpkg-architecture, which a minimal Debian has not, and then takes lib64,
# where neither ldconfig nor pkg-config looks.
set -eu

dir=$1 prefix=$2
shift 2

# clang has no -print-multiarch since version 17; the name of its target is the
# directory's but for the vendor.
libdir() {
	multiarch=$(${CC:-cc} -print-multiarch 2>/dev/null) ||
		multiarch=$(${CC:-cc} -dumpmachine 2>/dev/null |
			sed 's/-pc-\|-unknown-/-/')
	if [ -n "$multiarch" ] && [ -d "/usr/lib/$multiarch" ]; then
		echo "--libdir=lib/$multiarch"
	fi
}

if [ ! -e "$dir/build.ninja" ]; then
	exec meson setup --prefix "${prefix:-/usr/local}" $(libdir) "$@" "$dir"
elif [ -n "$prefix" ]; then
	now=$(meson introspect --buildoptions "$dir" | python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
	if [ "$now" != "$prefix" ]; then
		exec meson configure --prefix "$prefix" "$dir"
	fi
fi
