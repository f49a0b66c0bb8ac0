"""Pestle beside its peers and hand-written C, in one run:  python bench/run.py [SYSTEM ...]

Systems that are not installed are left out. Writes bench/results/table.md and bench/results/plot.png. The figures mean
something on an idle machine only; quote ratios.
"""

import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results")
SYSTEMS = ["pestle", "quadrants", "taichi", "numba"]


def measure(system, phase, env):
    run = subprocess.run(
        [sys.executable, os.path.join(HERE, "measure.py"), system, phase], capture_output=True, text=True, env=env
    )
    lines = [line for line in run.stdout.splitlines() if line.startswith("RESULT ")]
    if not lines:
        print(f"{system} {phase}: {run.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return json.loads(lines[0][7:])


def wall(args, env):
    start = time.perf_counter()
    subprocess.run([sys.executable, *args], env=env, capture_output=True, check=False)
    return 1e3 * (time.perf_counter() - start)


def processes(system, env):
    """Medians, in ms beyond a process that imports numpy: cold (empty cache) and warm; and what lies in them."""
    script = [os.path.join(HERE, "measure.py"), system, "first"]
    found = {"cold": [], "warm": [], "import": [], "first launch, cold": [], "first launch, warm": []}
    for _ in range(5):
        cache = tempfile.mkdtemp()
        here = dict(env, PESTLE_CACHE_DIR=cache, BENCH_CACHE=cache)
        found["cold"].append(wall(script, here) - wall(["-c", "import numpy"], here))
        found["warm"].append(wall(script, here) - wall(["-c", "import numpy"], here))
        warm = measure(system, "first", here)
        shutil.rmtree(cache)
        os.mkdir(cache)
        cold = measure(system, "first", here)
        shutil.rmtree(cache)
        if warm and cold:
            found["import"].append(warm["import"])
            found["first launch, warm"].append(warm["first launch"])
            found["first launch, cold"].append(cold["first launch"])
    return {name: statistics.median(values) for name, values in found.items() if values}


def ratios(found):
    return {name: figures["ratio"] for name, figures in (found or {}).items()}


def collect(systems):
    env = dict(os.environ, OPENBLAS_CORETYPE="", ENABLE_TAICHI_HEADER_PRINT="0", ENABLE_QUADRANTS_HEADER_PRINT="0")
    found = {}
    for system in systems:
        print(f"measuring {system} ...", flush=True)
        found[system] = {
            "process, ms": processes(system, env),
            "launch, ns": measure(system, "launch", env) or {},
            "loops, time / C": ratios(measure(system, "speed", env)),
            "hard loops, time / C": ratios(measure(system, "hard", env) if system != "numba" else None),
        }
    return found


def table(found):
    systems = list(found)
    lines = ["| | " + " | ".join(systems) + " |", "|---|" + "---:|" * len(systems)]
    for group in found[systems[0]]:
        lines.append(f"| **{group}** |" + " |" * len(systems))
        for row in {name: None for system in systems for name in found[system][group]}:
            cells = [found[system][group].get(row) for system in systems]
            text = ["-" if c is None else f"{c:,.2f}" if c < 10 else f"{c:,.0f}" for c in cells]
            lines.append(f"| {row} | " + " | ".join(text) + " |")
    return "\n".join(lines) + "\n"


def plot(found, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(15, 4.5), constrained_layout=True)
    titles = ["start of a process (ms, less is better)", "one launch (ns, less is better)", "loops (time / hand-written C)"]
    for axis, group, title in zip(axes, ["process, ms", "launch, ns", "loops, time / C"], titles):
        rows = list(found[next(iter(found))][group])
        width = 0.8 / len(found)
        for k, (system, values) in enumerate(found.items()):
            axis.bar([i + k * width for i in range(len(rows))], [values[group].get(r, 0) for r in rows], width, label=system)
        axis.set_xticks([i + 0.4 - width / 2 for i in range(len(rows))], rows, rotation=30, ha="right")
        axis.set_yscale("log")
        axis.set_title(title)
        axis.spines[["top", "right"]].set_visible(False)
    axes[2].axhline(1, color="black", linewidth=0.8)
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=130)


def main():
    wanted = sys.argv[1:] or [s for s in SYSTEMS if importlib.util.find_spec(s)]
    os.makedirs(RESULTS, exist_ok=True)
    found = collect(wanted)
    text = table(found)
    print(text)
    with open(os.path.join(RESULTS, "table.md"), "w") as file:
        file.write(text)
    with open(os.path.join(RESULTS, "figures.json"), "w") as file:
        json.dump(found, file, indent=1)
    plot(found, os.path.join(RESULTS, "plot.png"))
    print(f"wrote {os.path.relpath(RESULTS)}/table.md and plot.png")


if __name__ == "__main__":
    main()
