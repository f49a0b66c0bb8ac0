#!/usr/bin/env bash
# The tests where mistakes show: asserts on, warnings of the C compiler are errors, then
#   build-asan   address and undefined-behaviour sanitizers, failing allocator and tiny limits (PS_HOSTILE):
#                the C tests, then the Python tests with the sanitizers loaded into Python, and a short torture
#   build-tsan   thread sanitizer: the C tests, the Python tests of threads and processes
#   build-fuzz   libFuzzer for a short while (tools/fuzz.sh)
set -euo pipefail
cd "$(dirname "$0")/.."
VENV=${VENV:-.venv}
export PESTLE_VERIFY=1
export UBSAN_OPTIONS=print_stacktrace=1

common="--werror -Dbuildtype=debugoptimized -Doptimization=1"
c_tests="$VENV/bin/meson test --no-rebuild --quiet --print-errorlogs -t 5 -C"

echo "hostile: C tests, address and undefined-behaviour sanitizers" >&2
# shellcheck disable=SC2086
tools/build.sh build-asan $common -Db_sanitize=address,undefined -Dhostile=true
ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1 $c_tests build-asan

folders=
for folder in tests/py tests/reject; do
    if [ -n "$(find "$folder" -name 'test_*.py' -print -quit 2>/dev/null)" ]; then folders="$folders $folder"; fi
done
if [ -n "$folders" ]; then
    echo "hostile: Python tests, address and undefined-behaviour sanitizers" >&2
    package=build-asan/package/pestle
    rm -rf build-asan/package
    mkdir -p $package
    ln -s "$PWD"/python/pestle/* "$PWD"/build-asan/*.so $package/
    # Python itself leaks on purpose, and its own allocator would hide overruns. Tests may ask for
    # PESTLE_HOSTILE to do fewer rounds.
    # shellcheck disable=SC2086
    LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
        PYTHONDONTWRITEBYTECODE=1 PESTLE_HOSTILE=1 PYTHONPATH="$PWD/build-asan/package" \
        "$VENV/bin/python" -m pytest -q -p no:cacheprovider -o timeout=600 $folders
fi

echo "hostile: short torture, address and undefined-behaviour sanitizers" >&2
LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH="$PWD/build-asan/package" "$VENV/bin/python" tests/torture/torture.py --short

echo "hostile: C tests and threads of Python, thread sanitizer" >&2
# shellcheck disable=SC2086
tools/build.sh build-tsan $common -Db_sanitize=thread
# gcc's TSan cannot place its shadow when addresses are randomised widely (newer kernels): switch that off.
here="setarch $(uname -m) --addr-no-randomize"
# shellcheck disable=SC2086
TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 $here $c_tests build-tsan --suite unit
package=build-tsan/package/pestle
rm -rf build-tsan/package build-tsan/race.*
mkdir -p $package
ln -s "$PWD"/python/pestle/* "$PWD"/build-tsan/*.so $package/
# Reports go to files, since pytest and the tests' own processes would swallow them. Signals wait under TSan until a system
# call, which rules out the tests of interrupts.
LD_PRELOAD=$(gcc -print-file-name=libtsan.so) PYTHONDONTWRITEBYTECODE=1 PESTLE_HOSTILE=1 \
    TSAN_OPTIONS="log_path=$PWD/build-tsan/race:second_deadlock_stack=1:die_after_fork=0" \
    PYTHONPATH="$PWD/build-tsan/package" $here "$VENV/bin/python" -m pytest -q -p no:cacheprovider -o timeout=600 \
    tests/py/test_threads.py tests/py/test_processes.py
if compgen -G "build-tsan/race.*" >/dev/null; then
    cat build-tsan/race.* >&2
    exit 1
fi

tools/fuzz.sh "${FUZZ_SECONDS:-15}"
