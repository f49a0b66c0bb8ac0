#!/usr/bin/env bash
# clang-tidy over the C files of src/, with asserts on; every warning is an error. Checks: .clang-tidy. Tests are
# left to the sanitizers: there the analyser mostly finds that a failed check does not end the test.
#
#   tools/tidy.sh BUILD_DIR [FILE ...]
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1; shift
tool=
for name in clang-tidy-14 clang-tidy; do
    if command -v "$name" >/dev/null; then tool=$name; break; fi
done
if [ -z "$tool" ]; then echo "tidy: no clang-tidy; tools/setup.sh --lint installs it" >&2; exit 1; fi

# Known to the build, so that the compile command is known: the rest would be guessed.
list() {
    if [ $# -gt 0 ]; then printf '%s\n' "$@"; else cut -d' ' -f2 "$dir/sources.txt" | grep '^src/'; fi
}
# The largest first, so that the processors finish together. gcc's own options mean nothing to clang.
list "$@" | xargs -r ls -S | tr '\n' '\0' | xargs -0 -r -n 1 -P "$(nproc)" \
    "$tool" -p "$dir" --quiet --warnings-as-errors='*' \
    --extra-arg=-UNDEBUG --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unused-command-line-argument 2>&1 |
    { grep -vE '^[0-9]+ warnings? (generated|treated as errors?)|^Suppressed|^Use -header-filter|^$' || true; }
