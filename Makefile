# Pestle: the commands of a working day. Each does what it needs first, and nothing twice.
#
#   make demo      build, run the examples, say where the pictures are
#   make test      build and run all tests
#   make help      the rest

BUILD     ?= build
BUILDTYPE ?= release
VENV      ?= .venv
PY        := $(VENV)/bin/python
# Extra words for pytest: make test ARGS="-k atomics -x"
ARGS      ?=
# A libpestle_llvm.so of the same sources for `make wheel` and check-hostile, which then build none: CI's
LLVM_LIBRARY ?=
# The files and folders of tests among them, which stand in for all tests
PATHS      = $(wildcard $(filter tests/% %.py,$(subst ::, ,$(ARGS))))

export VENV LLVM_LIBRARY
.DEFAULT_GOAL := help
.PHONY: help setup build demo check test test-all test-debian test-torch wheel wheel-test typecheck bench tidy check-hostile torture fuzz format clean

help:
	@sed -n 's/^#\.//p' Makefile

#.  make build          set up, compile, install into $(VENV); BUILD=dir BUILDTYPE=debugoptimized
setup:
	@tools/setup.sh

build: setup
	@tools/build.sh --install $(BUILD) -Dbuildtype=$(BUILDTYPE) -Doptimization=2 -Dpython.install_env=venv

#.  make demo           build and run examples/demo.py
demo: build
	@$(PY) examples/demo.py

#.  make check          C only: layers, format, unit tests, pass tests; seconds
check: build
	@$(PY) tools/check_layers.py
	@$(PY) tools/gen_docs.py --check
	@$(VENV)/bin/meson test -C $(BUILD) --no-rebuild --quiet --print-errorlogs
	@tools/format.sh --check

#.  make test           check, then the Python tests; ARGS="-k word -x" goes to pytest
test: check
	@PESTLE_VERIFY=1 $(PY) -m pytest -q $(ARGS) $(if $(PATHS),,$(wildcard tests/py tests/reject tests/diff))

#.  make test-all       the Python tests on every Python from 3.10 on that is found here
test-all: build
	@tools/test_all.sh $(BUILD) $(ARGS)

#.  make test-debian    arrays of other libraries: Debian's Python, torch and numpy, the oldest supported
test-debian: build
	@tools/test_interop.sh debian $(BUILD) $(ARGS)

#.  make test-torch     the same with the newest torch, jax, ... of PyPI in .venv-torch (5 GB)
test-torch: build
	@tools/test_interop.sh torch $(BUILD) $(ARGS)

#.  make bench          install rivals into $(VENV) and compare; only on a machine that is otherwise idle
bench: build
	@tools/setup.sh --bench
	@$(PY) bench/run.py $(ARGS)

#.  make wheel          a wheel for $(VENV)'s Python into dist/
wheel: setup
	@PATH="$(abspath $(VENV))/bin:$$PATH" $(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps \
	    --no-build-isolation --wheel-dir dist $(if $(LLVM_LIBRARY),\
	    --config-settings=setup-args=-Dllvm_library=$(abspath $(LLVM_LIBRARY)) --config-settings=build-dir=$(BUILD)-wheel-ci,\
	    --config-settings=build-dir=$(BUILD)-wheel) .

#.  make wheel-test     the wheel in an environment without LLVM, numpy or torch
wheel-test: build wheel
	@PESTLE_TEST_WHEEL=1 $(PY) -m pytest -q tests/py/test_wheel.py

#.  make typecheck      mypy and pyright over examples/ and tests/typing/, with the installed stubs
typecheck: build
	@tools/setup.sh --lint
	@$(PY) -m mypy
	@$(PY) -m basedpyright --pythonpath $(PY) --warnings

#.  make tidy           clang-tidy and gcc -fanalyzer over all C files, warnings are errors
tidy: build
	@tools/setup.sh --lint
	@$(PY) tools/tidy.py $(BUILD)

#.  make check-hostile  tests with ASan, UBSan and a failing allocator; threads with TSan; a little fuzzing; PARTS=asan
check-hostile: setup
	@tools/check_hostile.sh $(PARTS)

#.  make torture        failing allocations, damaged caches, kills, crowds, forks: minutes; ARGS="--seed 5 kills files"
torture: build
	@$(PY) tests/torture/torture.py $(ARGS)

#.  make fuzz           libFuzzer on the IR's text, the loader, files of the cache; FUZZ_SECONDS=60 for each
FUZZ_SECONDS ?= 60
fuzz: setup
	@tools/fuzz.sh $(FUZZ_SECONDS)

#.  make format         clang-format all C files in place, or FILES="src/ir tests/unit/test_x.c"
format:
	@tools/format.sh $(FILES)

#.  make clean          remove build folders (not $(VENV))
clean:
	rm -rf build build-* dist
