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
# report/requirements.txt pins; where they cannot be fetched, build/venv has
# Debian's, and without those the report has tables and no charts.  Measuring
# needs none of them.
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
	need musl-tools have musl-gcc
	need mandoc have mandoc
	need iproute2 have ip
	need libevent-dev pkg-config --exists libevent
	need libuv1-dev pkg-config --exists libuv
	need libglib2.0-dev pkg-config --exists glib-2.0
	if [ -e models/meson.build ]; then
		need spin have spin
	fi
	;;
*)
	echo "usage: $0 build|check|bench|python" >&2
	exit 2
	;;
esac

as_root=
if [ "$(id -u)" -ne 0 ]; then
	as_root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
apt_install() {
	${as_root:+sudo -n} apt-get install -y --no-install-recommends "$@"
}

if [ -n "$missing" ]; then
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
	if ! apt_install $missing >"$log" 2>&1; then
		{ ${as_root:+sudo -n} apt-get update && apt_install $missing
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
	log=build/python.log
	mkdir -p build
	rm -rf build/venv
	if python3 -m venv build/venv >"$log" 2>&1 &&
	    build/venv/bin/python -m pip install --quiet --no-input \
	    --retries 1 --timeout 15 --prefer-binary \
	    --disable-pip-version-check -r "$wanted" >>"$log" 2>&1; then
		cp "$wanted" build/venv/requirements.txt
		exit 0
	fi
	tail -1 "$log"
	rm -rf build/venv
	# The system's python, of which Debian's packages are; not one of a
	# version manager's.
	python=/usr/bin/python3
	[ -x "$python" ] || python=python3
	report='import jinja2, matplotlib'
	"$python" -c "$report" 2>/dev/null ||
	    apt_install python3-matplotlib python3-jinja2 >>"$log" 2>&1 || true
	if "$python" -c "$report" 2>/dev/null; then
		echo "They cannot be fetched; Debian's are taken instead"
	else
		echo "They cannot be fetched ($log): the report will have" \
		    "tables and no charts"
	fi
	"$python" -m venv --without-pip --system-site-packages build/venv
fi
