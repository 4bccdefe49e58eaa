#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
#
# deps.sh build|check|bench|python - see to it that what a target needs is
# there; python is the packages of Python alone, which check does without, for
# it has them made while the compiler works.
#
# Silent and quick when it is.  Else Debian packages are installed, as root or
# through sudo without a password; where that is not possible, the command to
# run is printed.  Python packages go to build/venv, at the versions that
# report/requirements.txt pins.
set -eu
cd "$(dirname "$0")/.."

missing=
need() {	# package, command that succeeds when it is there
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}
have() {
	command -v "$1"
}
compiles() {
	echo "$1" | "$2" -x "$3" -fsyntax-only -
}

need gcc have cc
need libc6-dev compiles '#include <stdio.h>' cc c
need meson have meson
need ninja-build have ninja
need pkg-config have pkg-config
need python3 have python3
need libjansson-dev pkg-config --exists 'jansson >= 2.10'
case $1 in
build|python)
	;;
bench)
	need python3-venv python3 -c 'import ensurepip, venv'
	;;
check)
	need python3-venv python3 -c 'import ensurepip, venv'
	need g++ compiles '#include <cstddef>' c++ c++
	need binutils have nm
	need mandoc have mandoc
	need iproute2 have ip
	if [ -e models/meson.build ]; then
		need spin have spin
	fi
	;;
*)
	echo "usage: $0 build|check|bench|python" >&2
	exit 2
	;;
esac

if [ -n "$missing" ]; then
	as_root=
	if [ "$(id -u)" -ne 0 ]; then
		as_root=sudo
	fi
	install="$as_root apt-get install -y --no-install-recommends$missing"
	log=build/deps.log
	mkdir -p build
	if ! have apt-get >/dev/null || { [ -n "$as_root" ] &&
	    ! sudo -n true 2>/dev/null; }; then
		echo "Cannot install packages here. Please run:" >&2
		echo "    $install" >&2
		exit 1
	fi
	echo "Installing:$missing"
	export DEBIAN_FRONTEND=noninteractive
	if ! ${as_root:+sudo -n} $(echo "$install" | sed 's/^sudo//') \
	    >"$log" 2>&1; then
		{ ${as_root:+sudo -n} apt-get update &&
		    ${as_root:+sudo -n} $(echo "$install" | sed 's/^sudo//')
		} >"$log" 2>&1 || {
			tail -5 "$log" >&2
			echo "This failed ($log):" >&2
			echo "    $install" >&2
			exit 1
		}
	fi
fi

# The stamp is a copy of what was installed, written last.
wanted=report/requirements.txt
if { [ "$1" = bench ] || [ "$1" = python ]; } && [ -e "$wanted" ] &&
    ! { cmp -s "$wanted" build/venv/requirements.txt &&
    build/venv/bin/python -c '' 2>/dev/null; }; then
	echo "Installing Python packages into build/venv"
	rm -rf build/venv
	python3 -m venv build/venv
	build/venv/bin/python -m pip install --quiet --no-input \
	    --prefer-binary --disable-pip-version-check -r "$wanted"
	cp "$wanted" build/venv/requirements.txt
fi
