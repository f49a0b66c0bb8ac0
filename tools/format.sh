#!/usr/bin/env bash
# clang-format over all C files, or those given, in place; with --check, say which differ and exit 1.
#
#   tools/format.sh [--check] [FILE or FOLDER ...]
#
# Version 14 only, since each version formats a little differently; without it a check is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
check=
if [ "${1:-}" = --check ]; then check=1; shift; fi
[ $# -gt 0 ] || set -- src tests include bench
tool=
for name in clang-format-14 clang-format; do
    if "$name" --version 2>/dev/null | grep -q 'version 14\.'; then tool=$name; break; fi
done
if [ -z "$tool" ]; then
    echo "format: no clang-format 14 (tools/setup.sh --lint installs it); skipped" >&2
    [ -n "$check" ] && [ -z "${CI:-}" ] && exit 0
    exit 1
fi
files() { find "$@" -name '*.[ch]' -print0 2>/dev/null || true; }
if [ -n "$check" ]; then
    # clang-format lists each place; the names of the files are enough.
    differ=$(files "$@" | xargs -0 -r -n 8 -P "$(nproc)" "$tool" --dry-run 2>&1 |
        sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: warning:.*/  \1/p' | sort -u)
    if [ -n "$differ" ]; then
        printf 'format: not in the form of .clang-format; run `make format`:\n%s\n' "$differ" >&2
        exit 1
    fi
else
    files "$@" | xargs -0 -r -n 8 -P "$(nproc)" "$tool" -i
fi
