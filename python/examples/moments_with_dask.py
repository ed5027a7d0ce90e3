"""Sum rows on the workers of a Dask cluster, and release all of them once.

    python moments_with_dask.py

Each worker sums its own rows. It sends exact sums, which are as private as the rows. DPGP_STATE must name a folder with the same key
wherever rows are summed, so that the ledger can identify them.
"""

import numpy as np

import dpgp

SPEC = """
experiment.title = "moments on many machines"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = -1.5, high = 1.5, scale = 1.5 }
model = { noise_variance = 0.1, kernel.eq = { variance = 1.0, lengthscale = 2.0 } }
task.surface = {}
privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic", mechanism.moments = { target_bound = 1.0, domain = [[0.0, 10.0]] } }
"""


def rows(part):
    """Make the rows of one part. In practice, read them from a file that the worker can access."""
    generator = np.random.default_rng(part)
    x = generator.uniform(0.0, 10.0, 5000)
    return {"x": x, "y": np.sin(x) + 0.1 * generator.standard_normal(5000)}


def sums(part):
    """Return the exact sums of one part. This runs on a worker."""
    return dpgp.Moments(SPEC, name=f"part {part}").add(rows(part), n_jobs=1).to_bytes()


def main(parts=6):
    from dask.distributed import Client, LocalCluster, as_completed

    total = dpgp.Moments(SPEC)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        for _, data in as_completed(client.map(sums, range(parts)), with_results=True):
            total.merge(dpgp.Moments.from_bytes(SPEC, data))
    release = total.release()
    print(release.certificate["text"])
    return total, release


if __name__ == "__main__":
    main()
