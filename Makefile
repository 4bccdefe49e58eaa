# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Fast-STREAMS authors
#
# Short names for what the project is asked most often; Meson does the work.
#
#	make build	the libraries and tools, build/release
#	make bench	measure, and write out/report/index.html; a point that
#			fails is missing there, and make fails
#	make check	every test that is not a stress test
#	make stress	the long ones
#	make asan tsan	the tests again, under the sanitizers
#	make install	to PREFIX, below DESTDIR.  The build directory remembers
#			PREFIX; the first one is /usr/local.  Configuration files
#			that were edited stay.
#	make uninstall	takes away what make install has put there: in PREFIX if
#			that is given, else everywhere

PREFIX ?=
BENCH_ARGS ?=
WERROR ?= false
VENV = build/venv
STRBENCH = build/release/bench/strbench

export STRBENCH_PYTHON = $(CURDIR)/$(VENV)/bin/python

SETUP = -Dwerror=$(WERROR)
CONFIGURE = scripts/configure.sh
SANITIZE = -Dassertions=true -Db_lundef=false
# The runtime takes down its signal stack when a thread ends, and finds the
# marks of frames there that a cancellation went through without clearing.
ASAN = ASAN_OPTIONS=use_sigaltstack=0:$$ASAN_OPTIONS
# Its runtime sets handlers before it is ready for calls of instrumented code,
# which our sigaction() is.
TSAN_OFF = segv sigbus abort sigill sigfpe
# Now and then it does not like where the kernel has put a program.
TSAN_FORK = die_after_fork=0 # a child of threads has its timers, too
# streamsd, and what a test leaves behind, have nobody who reads what they say.
TSAN_LOG = $(CURDIR)/build/tsan/reports
TSAN = TSAN_OPTIONS="$(TSAN_OFF:%=handle_%=0) use_sigaltstack=0 $(TSAN_FORK) \
	log_path=$(TSAN_LOG)/of $$TSAN_OPTIONS" \
	setarch -R
# What the tests need; Meson 1.7 and later leave it out of `all'.
TESTS = all meson-test-prereq
NOT_C = --no-suite stress --no-suite lint --no-suite models --no-suite report

all: build

build: deps-build release
bench: deps-bench build/release/build.ninja
	@ninja -C build/release --quiet measuring
	@mkdir -p out
	@rm -f out/bench.json
	@$(STRBENCH) run --json out/bench.json $(BENCH_ARGS); status=$$?; \
	test -s out/bench.json && \
	$(STRBENCH) report out/bench.json -o out/report && \
	echo 'The report is out/report/index.html' && exit $$status
# Packages are fetched while the compiler works; and many tests mostly wait.  A
# loaded machine may take a multiple of the time that Meson allows a program.
check: deps-check build/release/build.ninja
	@scripts/deps.sh python & python=$$!; \
	ninja -C build/release --quiet $(TESTS); status=$$?; \
	wait $$python && test $$status = 0
	@scripts/check.py build/release --no-suite stress \
		--timeout-multiplier 3 --num-processes $$(($$(nproc) + 1))
stress: deps-check release
	@ninja -C build/release --quiet $(TESTS)
	@scripts/check.py build/release --suite stress
asan: deps-check build/asan/build.ninja
	@ninja -C build/asan --quiet $(TESTS)
	@$(ASAN) scripts/check.py build/asan -t 5 $(NOT_C) --no-suite no-asan
tsan: deps-check build/tsan/build.ninja
	@ninja -C build/tsan --quiet $(TESTS)
	@rm -rf $(TSAN_LOG) && mkdir $(TSAN_LOG)
	@$(TSAN) scripts/check.py build/tsan -t 10 $(NOT_C) --no-suite no-tsan; \
		status=$$?; cat $(TSAN_LOG)/* >&2 2>/dev/null && exit 1; \
		exit $$status
install: deps-build release
	meson install -C build/release --no-rebuild
	@cat build/release/meson-logs/install-conf.txt \
		build/release/meson-logs/install-log.txt \
		>>build/release/installed.txt
	@sed -n 's/^# edited: //p' build/release/meson-logs/install-conf.txt
uninstall:
	@scripts/uninstall.py build/release $(PREFIX)
clean:
	rm -rf build out

release: build/release/build.ninja
	@$(CONFIGURE) build/release '$(PREFIX)'
	@ninja -C build/release --quiet

build/release/build.ninja:
	$(CONFIGURE) build/release '$(PREFIX)' $(SETUP)
build/asan/build.ninja:
	$(CONFIGURE) build/asan '$(PREFIX)' $(SETUP) $(SANITIZE) \
		-Db_sanitize=address,undefined
build/tsan/build.ninja:
	$(CONFIGURE) build/tsan '$(PREFIX)' $(SETUP) $(SANITIZE) \
		-Db_sanitize=thread

deps-%:
	@scripts/deps.sh $*

.NOTPARALLEL:
.PHONY: all build bench check stress asan tsan install uninstall clean \
	release
