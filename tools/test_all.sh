#!/usr/bin/env bash
# The Python tests on every interpreter from 3.10 on that is found: in PATH, and under pyenv.
#
#   tools/test_all.sh BUILD_DIR [WORD FOR PYTEST ...]
#
# PYTHONS="3.12 3.13" chooses among them. Each interpreter has a build folder and an environment of its own, build-py3.12.1 and .venv-py3.12.1. The code
# generator does not depend on Python: all take BUILD_DIR's.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1; shift
library=$PWD/$dir/libpestle_llvm.so
folders=()
for folder in tests/py tests/reject tests/diff; do
    if [ -d "$folder" ]; then folders+=("$folder"); fi
done

# `version path` of each; one that stands in several places is taken once.
interpreters() {
    local p
    { for minor in 10 11 12 13 14; do type -aP "python3.$minor" || true; done
      type -aP python3 || true
      ls "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3 2>/dev/null || true; } |
        while read -r p; do
            "$p" -c 'import sys, platform as p
if sys.version_info >= (3, 10): print(p.python_version(), sys._base_executable)' 2>/dev/null || true
        done | sort -u -V -k1,1 | { if [ -n "${PYTHONS:-}" ]; then grep -E "^(${PYTHONS// /|})"; else cat; fi; }
}

failed=
while read -r version python; do
    printf '\n== Python %s\n' "$version" >&2
    export VENV=.venv-py$version
    if PYTHON=$python tools/setup.sh &&
        tools/build.sh --install "build-py$version" -Dbuildtype=release -Doptimization=2 -Dpython.install_env=venv \
            -Dtests=false -Dllvm_library="$library" &&
        PESTLE_VERIFY=1 "$VENV/bin/python" -m pytest -q -p no:cacheprovider "$@" "${folders[@]}" </dev/null
    then continue; fi
    failed="$failed $version"
done < <(interpreters)
if [ -n "$failed" ]; then echo "test-all: failed with Python$failed" >&2; exit 1; fi
