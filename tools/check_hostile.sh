#!/usr/bin/env bash
# The tests where mistakes show: asserts on, warnings of the C compiler are errors, then
#   build-asan   address and undefined-behaviour sanitizers, failing allocator and tiny limits (PS_HOSTILE):
#                the C tests, then the Python tests with the sanitizers loaded into Python, and a short torture
#   build-tsan   thread sanitizer: the C tests, the Python tests of threads and processes
#   build-fuzz   libFuzzer for a short while (tools/fuzz.sh)
#
#   tools/check_hostile.sh [asan] [tsan] [fuzz]     only these
#       FUZZ_SECONDS=15     for each fuzzer
#       LLVM_LIBRARY=...    a libpestle_llvm.so of the same sources for build-tsan, which saves a build of it: races
#                           between LLVM's callers are not seen then. ASan always has its own, with the failing allocator
set -euo pipefail
cd "$(dirname "$0")/.."
VENV=${VENV:-.venv}
export PESTLE_VERIFY=1
export UBSAN_OPTIONS=print_stacktrace=1

common="--werror -Dbuildtype=debugoptimized -Doptimization=1"
c_tests="$VENV/bin/meson test --no-rebuild --quiet --print-errorlogs -t 5 -C"
pytest="$VENV/bin/python -m pytest -q -p no:cacheprovider -o timeout=600"

say() { printf '   hostile: %s (after %d s)\n' "$*" $SECONDS >&2; }

# DIR SANITIZER COMMAND ...: with the package of that build, and the sanitizer's library in Python from the start.
in_python() {
    local build=$PWD/$1 library
    library=$(gcc -print-file-name="lib$2.so")
    shift 2
    rm -rf "$build/package"
    mkdir -p "$build/package/pestle"
    ln -s "$PWD"/python/pestle/* "${llvm:-$build/libpestle_llvm.so}" "$build/package/pestle/"
    ln "$build"/_pestle.*.so "$build/package/pestle/" # hard: it looks for the other where it really is
    env LD_PRELOAD="$library" PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$build/package" "$@"
}

# Python itself leaks on purpose, and its own allocator would hide overruns. Left out: what runs many programs and finds
# wrong answers rather than wrong accesses, and what needs a wheel; and forks while threads compile, as gcc's ASan does not keep
# its allocator whole for the child, which then waits for ever (they run without it, and under TSan).
asan() {
    say "C tests, address and undefined-behaviour sanitizers"
    # shellcheck disable=SC2086
    tools/build.sh build-asan $common -Db_sanitize=address,undefined -Dhostile=true
    ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1 $c_tests build-asan
    export ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc
    say "Python tests, address and undefined-behaviour sanitizers"
    # shellcheck disable=SC2086
    in_python build-asan asan $pytest tests/py tests/reject --ignore tests/py/test_wheel.py \
        --ignore tests/py/test_torture.py --ignore tests/py/test_reproducible.py \
        -k "not test_random_programs and not test_fork_while_threads and not (test_too_large and expanded)"
    say "short torture, address and undefined-behaviour sanitizers"
    in_python build-asan asan "$VENV/bin/python" tests/torture/torture.py --short \
        allocations python-allocations files directories kills crowd interrupts
}

# gcc's TSan cannot place its shadow when addresses are randomised widely (newer kernels), so that is switched off. Reports
# of Python go to files, since pytest and the tests' own processes would swallow them. Signals wait under TSan until a
# system call, which rules out the tests of interrupts.
tsan() {
    local here llvm=
    here="setarch $(uname -m) --addr-no-randomize"
    if [ -n "${LLVM_LIBRARY:-}" ]; then llvm=$(realpath "$LLVM_LIBRARY"); fi
    say "C tests, thread sanitizer"
    # shellcheck disable=SC2086
    tools/build.sh build-tsan $common -Db_sanitize=thread ${llvm:+-Dllvm_library=$llvm}
    rm -f build-tsan/race.*
    # shellcheck disable=SC2086
    TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 $here $c_tests build-tsan --suite unit
    say "threads and processes of Python, thread sanitizer"
    export TSAN_OPTIONS="log_path=$PWD/build-tsan/race:second_deadlock_stack=1:die_after_fork=0:suppressions=$PWD/tools/tsan.supp"
    local status=0
    # shellcheck disable=SC2086
    in_python build-tsan tsan $here $pytest tests/py/test_threads.py tests/py/test_processes.py || status=1
    if compgen -G "build-tsan/race.*" >/dev/null; then
        cat build-tsan/race.* >&2
        status=1
    fi
    return $status
}

fuzz() { tools/fuzz.sh "${FUZZ_SECONDS:-15}"; }

# Each in a shell of its own, so that what it exports stays there.
[ $# -gt 0 ] || set -- asan tsan fuzz
for part in "$@"; do
    case $part in
    asan | tsan | fuzz) ("$part") ;;
    *) echo "check_hostile.sh: unknown part $part" >&2; exit 2 ;;
    esac
done
say "done"
