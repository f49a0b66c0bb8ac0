#!/usr/bin/env bash
# Prepare this checkout: system packages (installed through apt when root, named otherwise) and .venv.
#
#   tools/setup.sh            what `make build`, `make demo` and `make test` need
#   tools/setup.sh --lint     also clang-format, clang-tidy and type checkers, for `make tidy`, `make typecheck` and CI
#   tools/setup.sh --bench    also the rivals that bench/run.py compares with, into .venv
#
# Does nothing, in a few hundredths of a second, when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."
VENV=${VENV:-.venv}

lint=''
bench=''
for word in "$@"; do
    case $word in
    --lint) lint=1 ;;
    --bench) bench=1 ;;
    *) echo "setup.sh: unknown option $word" >&2; exit 2 ;;
    esac
done

say() { printf 'setup: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# --- system packages: a list of what is missing, found by looking for the thing itself ---

python_ok() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }
find_python() {
    local p
    for p in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python3.10 /usr/bin/python3; do
        if python_ok "$p"; then command -v "$p"; return; fi
    done
    return 1
}
python_headers() {
    "$1" -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'
}
library() { # a static library the C++ compiler finds
    [ "$(g++ -print-file-name="$1" 2>/dev/null)" != "$1" ]
}
llvm_found() { # the version has to have its static libraries too
    local c
    for c in llvm-config-22 llvm-config-19; do
        if have "$c" && "$c" --link-static --libs core >/dev/null 2>&1; then return; fi
    done
    return 1
}
fuzzer_found() { # tools/fuzz.sh
    have clang && [ -e "$(clang -print-runtime-dir)/libclang_rt.fuzzer-$(uname -m).a" ]
}
apt_has() { have apt-cache && apt-cache show "$1" >/dev/null 2>&1; }

missing_packages() {
    local python
    have gcc || echo gcc
    have g++ || echo g++
    have make || echo make
    have flock || echo util-linux
    if python=$(find_python); then
        "$python" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
        python_headers "$python" || echo python3-dev
    else
        echo python3 python3-dev python3-venv
    fi
    if have g++; then
        library libz.a || echo zlib1g-dev
        library libzstd.a || echo libzstd-dev
    else
        echo zlib1g-dev libzstd-dev
    fi
    if ! llvm_found; then
        if ! have apt-cache || apt_has llvm-22-dev; then echo llvm-22-dev; else echo llvm-19-dev; fi
    fi
    if [ -n "$lint" ]; then
        have clang-format-14 || echo clang-format-14
        have clang-tidy-14 || echo clang-tidy-14
        fuzzer_found || echo clang libclang-rt-14-dev
    fi
}

packages() {
    local missing
    missing=$(missing_packages | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" != 0 ] || ! have apt-get; then
        say "these are missing (names of Debian's packages): $missing"
        have apt-get && say "install them with: sudo apt-get install $missing"
        exit 1
    fi
    say "installing $missing"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    missing=$(missing_packages | tr '\n' ' ') # the lists may be new: is there an LLVM 22?
    # shellcheck disable=SC2086
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
    missing=$(missing_packages | tr '\n' ' ')
    if [ -n "$missing" ]; then say "still missing after apt-get install: $missing"; exit 1; fi
}

# --- .venv ---

python_packages() { # NAME REQUIREMENTS-FILE
    local stamp
    stamp=$VENV/.setup-$1
    cmp -s "$2" "$stamp" && return
    say "installing $2 into $VENV"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2"
    cp "$2" "$stamp"
}

# The stamp holds the words this was called with: probing takes longer than the rest of a `make build`.
done_already() { [ -x "$VENV/bin/python" ] && [ "$VENV/.setup-packages${lint:+-lint}" -nt tools/setup.sh ]; }

if ! done_already; then
    packages
    if ! [ -x "$VENV/bin/python" ] || ! python_ok "$VENV/bin/python"; then
        python=$(find_python)
        say "creating $VENV with $("$python" -V), $python"
        "$python" -m venv --clear "$VENV"
    fi
    touch "$VENV/.setup-packages${lint:+-lint}"
fi
python_packages dev tools/requirements.txt
[ -z "$lint" ] || python_packages lint tools/requirements-lint.txt
[ -z "$bench" ] || python_packages bench tools/requirements-bench.txt
