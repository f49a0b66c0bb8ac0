#!/usr/bin/env bash
# libFuzzer on what reads untrusted or damaged input: the text form of the IR, the ELF loader, files of the cache.
#
#   tools/fuzz.sh [SECONDS] [TARGET ...]     SECONDS for each of fuzz-ir, fuzz-elf, fuzz-object (default 60)
#
# Inputs that reached new code stay in build-fuzz/corpus; a finding is left in build-fuzz as crash-*, and status is 1.
# Run `build-fuzz/fuzz-ir FILE` to repeat it. Seeds: the pass tests, and objects that ps-run of BUILD compiles, if built.
set -euo pipefail
cd "$(dirname "$0")/.."
VENV=${VENV:-.venv}
BUILD=${BUILD:-build}
seconds=${1:-60}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- fuzz-ir fuzz-elf fuzz-object
if ! echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d || !n; }' |
    clang -x c - -fsanitize=fuzzer,address -o /dev/null 2>/dev/null; then
    echo "fuzz: no clang with libFuzzer; skipped" >&2
    [ -z "${CI:-}" ] && exit 0
    exit 1
fi

CC=clang CFLAGS=-Wno-unknown-warning-option tools/build.sh build-fuzz -Dbuildtype=debugoptimized -Doptimization=1 -Db_sanitize=address,undefined \
    -Dhostile=true -Dfuzz=true -Dtests=false -Dpython=disabled -Dllvm=disabled

corpus=build-fuzz/corpus
mkdir -p $corpus/fuzz-ir $corpus/fuzz-elf $corpus/fuzz-object
"$VENV/bin/python" - "$BUILD" $corpus <<'PYTHON'
import pathlib, subprocess, sys, tempfile
build, corpus = map(pathlib.Path, sys.argv[1:])
modules = set()
for path in sorted(pathlib.Path("tests/passes").rglob("*.ps")):
    block = []
    for line in path.read_text().splitlines() + ["# run:"]:
        if line.startswith("#"):
            modules.add("\n".join(block[next((i for i, l in enumerate(block) if l.startswith(("func", "source", "checked"))), 0):]))
            block = []
        else:
            block.append(line)
for i, text in enumerate(sorted(m for m in modules if "func @main" in m)):
    (corpus / "fuzz-ir" / f"seed-{i}").write_text(text + "\n")
if (build / "ps-run").exists():
    with tempfile.TemporaryDirectory() as cache:
        for seed in sorted((corpus / "fuzz-ir").glob("seed-*"))[:40]:
            count = seed.read_text().split("(", 1)[1].split(")")[0].count(":")
            arguments = [["3"] * n for n in range(4)] + [["zeros(4)"] * n for n in range(1, 4)]
            for some in arguments:
                subprocess.run([build / "ps-run", "-compile", "-cache", seed, *some], capture_output=True, timeout=60,
                               env={"PESTLE_CACHE_DIR": cache, "PESTLE_LLVM_LIBRARY": str(build / "libpestle_llvm.so")})
        for path in pathlib.Path(cache).iterdir():
            data = path.read_bytes()[:-40]  # without checksum and key
            (corpus / "fuzz-object" / ("seed-" + path.name[:8])).write_bytes(data)
            (corpus / "fuzz-elf" / ("seed-" + path.name[:8])).write_bytes(data[data.find(b"\x7fELF"):])
PYTHON

status=0
for target in "$@"; do
    echo "fuzz: $target, $seconds s" >&2
    log=build-fuzz/$target.log
    if ! ASAN_OPTIONS=detect_stack_use_after_return=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
        build-fuzz/"$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=20000 -print_final_stats=1 \
        -artifact_prefix=build-fuzz/crash-"$target"- $corpus/"$target" >"$log" 2>&1; then
        tail -40 "$log" >&2
        status=1
    fi
    grep -E "number_of_executed_units|new_units_added" "$log" >&2 || true
done
exit $status
