"""Sum the rows of a Spark frame, and release all of them once.

    python moments_with_spark.py

mapInArrow passes Arrow batches to each executor, which sums them in place. It sends exact sums, which are as private as the rows.
DPGP_STATE must name a folder with the same key wherever rows are summed, so that the ledger can identify them.
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


def rows(count=30_000):
    """Make example rows."""
    generator = np.random.default_rng(1)
    x = generator.uniform(0.0, 10.0, count)
    return {"x": x, "y": np.sin(x) + 0.1 * generator.standard_normal(count)}


def sums_of(spec):
    """Return a function that turns the batches of a partition into one row, their exact sums. It runs on an executor."""

    def sums(batches):
        import pyarrow

        import dpgp

        moments = dpgp.Moments(spec)
        for batch in batches:
            moments.add(batch, n_jobs=1)
        if moments.rows:
            yield pyarrow.RecordBatch.from_pydict({"sums": [moments.to_bytes()]})

    return sums


def main():
    import pandas
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("dpgp").config("spark.ui.enabled", "false")
    # This example runs on one machine.
    spark = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    try:
        frame = spark.createDataFrame(pandas.DataFrame(rows())).repartition(4)
        parts = frame.mapInArrow(sums_of(SPEC), "sums binary").collect()
    finally:
        spark.stop()
    total = dpgp.Moments(SPEC)
    for part in parts:
        total.merge(dpgp.Moments.from_bytes(SPEC, bytes(part.sums)))
    release = total.release()
    print(release.certificate["text"])
    return total, release


if __name__ == "__main__":
    main()
