#!/usr/bin/env bash
# Configure when needed, compile, and with --install put the package into .venv.
#
#   tools/build.sh [--install] DIR [MESON OPTION ...]
#
# Configures again when the options or the list of C files differ from last time. One build at a time in
# a DIR: a second one waits.
set -euo pipefail
cd "$(dirname "$0")/.."
VENV=$(realpath -s "${VENV:-.venv}")
export PATH="$VENV/bin:$PATH" # meson, ninja and the python they run

install=
if [ "$1" = --install ]; then install=1; shift; fi
dir=$1; shift
mkdir -p "$dir"
exec 9>"$dir/.lock"
flock 9

setup() { meson setup "$@" >"$dir/.setup.log" 2>&1 || { cat "$dir/.setup.log" >&2; exit 1; }; }
build_files_changed() { [ -n "$(find meson.build meson.options tests/meson.build -newer "$dir/build.ninja")" ]; }

options="$*"
if [ ! -f "$dir/build.ninja" ] || [ "$options" != "$(cat "$dir/.options" 2>/dev/null)" ]; then
    rm -rf "$dir/meson-private" "$dir/meson-info" "$dir/build.ninja"
    # shellcheck disable=SC2086
    setup "$dir" $options
    grep WARNING "$dir/.setup.log" >&2 || true
    printf '%s' "$options" >"$dir/.options"
elif ! python tools/list_sources.py --compare "$dir/sources.txt" || build_files_changed; then
    setup --reconfigure "$dir"
    # Its time stamp stays when its content does.
    touch "$dir/build.ninja"
fi

ninja -C "$dir" --quiet -k 0 # as much as can be: others may be at work in another folder
if [ -n "$install" ]; then python tools/install_dev.py "$dir"; fi
