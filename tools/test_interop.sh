#!/usr/bin/env bash
# The tests of arrays that come from other libraries, where those libraries are.
#
#   tools/test_interop.sh debian BUILD_DIR [WORD FOR PYTEST ...]
#       Debian's Python with Debian's torch and numpy, the oldest that are supported; installed through apt when root
#   tools/test_interop.sh torch BUILD_DIR [WORD FOR PYTEST ...]
#       the newest torch, numpy, jax, Arrow and ml_dtypes of PyPI (5 GB) in .venv-torch
#
# Both take BUILD_DIR's code generator, which does not depend on Python. What pip and the loader find in the environment
# (PIP_*, LD_LIBRARY_PATH) holds here too.
set -euo pipefail
cd "$(dirname "$0")/.."
what=$1 dir=$2
shift 2
tests=(tests/py/test_interop*.py tests/py/test_arrays.py)

say() { printf 'test-%s: %s\n' "$what" "$*" >&2; }

requirements() { # FILE: what it names is in $VENV
    cmp -s "$1" "$VENV/.setup-interop" && return
    say "installing $1 into $VENV"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r "$1"
    cp "$1" "$VENV/.setup-interop"
}

debian_packages() {
    /usr/bin/python3 -c 'import numpy' 2>/dev/null || echo python3-numpy
    /usr/bin/python3 -c 'import torch' 2>/dev/null || echo python3-torch
    /usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
    [ -e "$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] || echo python3-dev
}

debian() {
    local missing
    if ! /usr/bin/python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
        say "/usr/bin/python3 is missing or older than 3.10"
        exit 1
    fi
    missing=$(debian_packages | tr '\n' ' ')
    if [ -n "$missing" ]; then
        if [ "$(id -u)" != 0 ]; then
            say "these are missing; install them with: sudo apt-get install $missing"
            exit 1
        fi
        say "installing $missing"
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq
        # shellcheck disable=SC2086
        apt-get install -y -qq --no-install-recommends $missing >/dev/null
    fi
    export VENV=.venv-debian
    [ -x $VENV/bin/python ] || /usr/bin/python3 -m venv --system-site-packages $VENV
    requirements tools/requirements-debian.txt
    tools/build.sh --install build-debian -Dbuildtype=release -Doptimization=2 -Dpython.install_env=venv \
        -Dtests=false -Dllvm_library="$PWD/$dir/libpestle_llvm.so"
}

torch() {
    local python=${VENV:-.venv}/bin/python package
    export VENV=.venv-torch
    [ -x $VENV/bin/python ] || "$python" -m venv $VENV
    requirements tools/requirements-torch.txt
    package=$dir/package/pestle # the Python is the build's, so its extension module will do
    rm -rf "$dir/package"
    mkdir -p "$package"
    ln -s "$PWD"/python/pestle/* "$PWD/$dir"/*.so "$package/"
    export PYTHONPATH="$PWD/$dir/package" PYTHONDONTWRITEBYTECODE=1
}

"$what"
say "$("$VENV/bin/python" -W ignore -c 'import torch, numpy, sys
print(f"Python {sys.version.split()[0]}, torch {torch.__version__}, numpy {numpy.__version__}")')"
PESTLE_VERIFY=1 "$VENV/bin/python" -m pytest -q -p no:cacheprovider "$@" "${tests[@]}"
