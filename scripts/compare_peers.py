"""Runs both sides of `scripts/compare-peers` in turn and prints the tables: compare_peers.py PROGRAM ROUNDS THREADS..."""

import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

# Each work item, its title, and whether it is too long for more than one round.
WORKS = [
    ("cloak-300-10-10", "cloaking, log det, n = 300, t = 100", False),
    ("cloak-1000-15-15", "cloaking, log det, n = 1000, t = 225", False),
    ("cloak-5000-20-25", "cloaking, log det, n = 5000, t = 500", True),
    ("sums-1000000", "sums A and B, n = 1,000,000, m = 256, d = 2", False),
    ("gp-2000", "exact regression, n = 2000, 500 predictions with variances", False),
    ("rough-2000", "as above, with a tenth of the lengthscale (not low rank)", False),
    ("pld-1000", "loss distribution, 1,000 steps at rate 0.01, noise 1", False),
    ("pld-10000", "loss distribution, 10,000 steps at rate 0.001, noise 0.6", False),
    ("renyi-1000", "Rényi, 1,000 steps at rate 0.01, noise 1", False),
    ("renyi-10000", "Rényi, 10,000 steps at rate 0.001, noise 0.6", False),
    ("noise-100000", "whole numbers with Gaussian noise, 100,000 draws", False),
    ("dgemm-2000", "product of matrices, 2000 x 2000", False),
    ("syrk-2000", "product of a matrix and its transpose, 2000 x 2000", False),
]
PACKAGES = ["numpy", "scipy", "scikit-learn", "GPy", "dp-accounting", "opendp"]


def lines(command, threads):
    variables = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"]
    environment = os.environ | {variable: threads for variable in variables}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.stderr:
        print(done.stderr.strip(), file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def version(package):
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return None


def measure(program, rounds, threads, works):
    """Seconds and values by work item and peer; None stands for dpgp."""
    found = {}
    script = str(Path(__file__).with_name("peers.py"))
    for turn in range(rounds):
        for work, _, long in works:
            if long and turn > 0:
                continue
            ours = lines([program] + [work] * (1 if long else 2), threads)[-1:]
            theirs = lines([sys.executable, script, work], threads)
            if work in ("gp-2000", "rough-2000"):
                theirs += lines([sys.executable, script, f"{work}:GPy"], threads)
            for line in ours + theirs:
                found.setdefault((work, line.get("peer")), []).append((line["seconds"], line["value"]))
    return found


def median(found, work, peer):
    return [statistics.median(column) for column in zip(*found[work, peer])]


def shown(seconds):
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def table(found, threads, works):
    print(f"## {threads} thread{'s' if threads != '1' else ''} on both sides\n")
    print("| work | peer | peer's time | here | ratio | value there | value here |")
    print("|---|---|---|---|---|---|---|")
    for work, title, _ in works:
        for peer in [p for w, p in found if w == work and p and (work, None) in found]:
            (theirs, value), (ours, own) = median(found, work, peer), median(found, work, None)
            ratio = f"{theirs / ours:.2f}"
            print(f"| {title} | {peer} | {shown(theirs)} | {shown(ours)} | {ratio} | {value:.6g} | {own:.6g} |")
    if ("dgemm-2000", "NumPy") in found:
        speed = 1e6 * 256**2 / median(found, "sums-1000000", None)[0] / 1e9
        peak = median(found, "dgemm-2000", "NumPy")[1]
        print(f"\ndpgp's sums, counted as n m^2 with all exponentials: {speed:.0f} GFLOP/s, {100 * speed / peak:.0f} % of NumPy's")
        print("matrix product in the same run.\n")


def main():
    program, rounds, threads = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    print("# Performance compared with other packages\n")
    print(f"Written by `scripts/compare-peers` on {time.strftime('%Y-%m-%d')}: medians of {rounds} interleaved rounds")
    print("(a single round for long runs), after one warm-up run.\n")
    print(f"Processor: {processor()}, {os.cpu_count()} cores.")
    print(f"Versions: {', '.join(filter(None, map(version, PACKAGES)))}.\n")
    for number in threads:
        works = [work for work in WORKS if number == threads[0] or not work[2]]
        table(measure(program, rounds, number, works), number, works)
    print("A ratio above 1 means that dpgp is faster. The values show that both sides do the same work. They are the mean log noise")
    print("variance over the directions, the sum of A plus the trace of B, divided by n, the sum of the predictions, epsilon, the")
    print("noise standard deviation divided by its target, and 1e9 operations a second. The product with the transpose is counted")
    print("as a full product, although half of it suffices. dpgp's noise is a rounded Gaussian, and the peer's is discrete. The peer")
    print("of cloaking is a dense interior point method in NumPy with the same mathematics (`scripts/peers.py`).")


if __name__ == "__main__":
    main()
