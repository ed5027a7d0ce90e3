"""Times one work here and in another package, one right after the other and on the same number of threads."""
import json
import os
import subprocess
import sys

# Beside the project's `target`, where `cargo build --release --example peers` puts it.
OURS = os.environ.get("DPGP_PEERS", "../../target/release/examples/peers")


def run(command, threads):
    variables = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "TF_NUM_INTRAOP_THREADS"]
    environment = os.environ | {variable: str(threads) for variable in variables} | {"TF_NUM_INTEROP_THREADS": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


cell = json.load(sys.stdin)["cell"]
here = run([OURS, cell["work"]], cell["threads"])
there = run([sys.executable, "works.py", cell["work"], cell["peer"]], cell["threads"])
difference = abs(here["value"] - there["value"]) / abs(there["value"])
if difference > cell["tolerance"]:
    sys.exit(f"not the same work: {here['value']} here, {there['value']} there")
times = {"here": 1000 * here["seconds"], "there": 1000 * there["seconds"]}
print(json.dumps(times | {"ratio": there["seconds"] / here["seconds"], "difference": difference}))
