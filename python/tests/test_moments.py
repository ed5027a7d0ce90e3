"""Guards against sums that differ from those of the command in any bit."""

import json
import pickle

import numpy as np
import pytest

import dpgp

SPEC = """
experiment.title = "moments of rows"
data = { source.csv.path = "rows.csv", inputs = ["x0", "x1"], target = "y" }
normalise.bounds = { low = -2.0, high = 3.0, scale = 2.5 }
model = { noise_variance = 0.1, kernel.eq = { variance = 1.0, lengthscale = 2.0 } }
task.surface = {}
privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic", mechanism.moments = { target_bound = 1.0, domain = [[0.0, 10.0], [0.0, 10.0]] } }
"""

SUMS = """
experiment.title = "sums of rows"
data = { source.csv.path = "rows.csv", inputs = ["x0", "x1"], target = "y" }
normalise.bounds = { low = -2.0, high = 3.0, scale = 2.5 }
model = { noise_variance = 0.1, kernel.eq = { variance = 1.0, lengthscale = 2.0 } }
task.surface.inducing = [{ from = 0.0, to = 10.0, points = 3 }, { from = 0.0, to = 10.0, points = 3 }]
task.surface.posterior = { regularisation = "tight", correction = "first-order" }
privacy.epsilon = 1.0
privacy.delta = 1e-6
privacy.calibration = "analytic"
privacy.mechanism.sums = { target_bound = 1.0, features = "trivial", sensitivity = "exact", split = 1.0 }
"""


def facts(data):
    """Return all fields except names and sizes of files, and the checksum, which depends on them. Only files have lines of text."""
    value = json.loads(data)
    del value["checksum"]
    value["identity"].pop("lines", None)
    value["files"] = [file["rows"] for file in value["files"]]
    return value


def batches(rows):
    table = np.column_stack([rows.X, rows.y])
    return table[:7], table[7:18_000], table[18_000:]


@pytest.mark.parametrize("spec", [SPEC, SUMS], ids=["moments", "sums"])
def test_the_sums_of_batches_are_those_of_the_command(rows, command, tmp_path, spec):
    (tmp_path / "spec.toml").write_text(spec)
    rows.csv(tmp_path / "rows.csv")
    command("stats", "spec.toml", "rows.csv", "--out", "rows.stats")
    moments = dpgp.Moments(spec)
    for batch in batches(rows):
        moments.add(batch)
    assert facts(moments.to_bytes()) == facts((tmp_path / "rows.stats").read_bytes())


def test_merged_sums_are_those_of_all_rows(rows, command, tmp_path):
    whole = dpgp.Moments(SPEC).add(np.column_stack([rows.X, rows.y]))
    parts = [dpgp.Moments(SPEC).add(batch) for batch in batches(rows)]
    parts = [dpgp.Moments.from_bytes(SPEC, part.to_bytes()) for part in parts]
    merged = dpgp.Moments(SPEC).merge(*reversed(parts))
    assert facts(merged.to_bytes())["part"] == facts(whole.to_bytes())["part"]
    assert facts(pickle.loads(pickle.dumps(merged)).to_bytes()) == facts(merged.to_bytes())
    # The command takes them on.
    (tmp_path / "spec.toml").write_text(SPEC)
    (tmp_path / "merged.stats").write_bytes(merged.to_bytes())
    said = command("stats", "spec.toml", "--add", "merged.stats", "--for-holder", "--format", "json").stdout
    assert json.loads(said)["rows"] == len(rows.y)
    with pytest.raises(dpgp.InputError, match="same rows"):
        merged.merge(dpgp.Moments(SPEC).add(batches(rows)[0]))


def test_rows_count_in_the_ledger_of_the_command(rows, command, tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC)
    rows.csv(tmp_path / "rows.csv")
    command("stats", "spec.toml", "rows.csv", "--release", "first.json", "--budget-epsilon", 2, "--budget-delta", 1e-6)
    second = dpgp.Moments(SPEC).add({"x0": rows.X[:, 0], "x1": rows.X[:, 1], "y": rows.y}).release()
    assert second.json["all_releases"]["releases"] == 2
    with pytest.raises(dpgp.BudgetError) as raised:
        dpgp.Moments(SPEC).add(np.column_stack([rows.X, rows.y])).release(epsilon=1.9)
    refused = command("stats", "spec.toml", "rows.csv", "--release", "third.json", "--epsilon", 1.9, succeeds=False)
    # Python names its own argument in place of the option.
    assert refused.stderr.strip().replace("--other-people", "other_people=True") == f"error: {raised.value}"


def test_all_columns_of_a_table_say_which_rows_they_are(command, tmp_path):
    """Compare with the command, for specs that read different columns of one frame with words and missing cells."""
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    generator = np.random.default_rng(5)
    table = {name: np.round(generator.uniform(0.0, 10.0, 300), 3) for name in ("x0", "x1", "y", "a", "b", "c")}
    frame = pandas.DataFrame(table)
    frame["who"] = [f"Person {number % 70}" if number % 9 else None for number in range(300)]
    frame["gap"] = np.where(np.arange(300) % 7 == 0, np.nan, np.arange(300))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    other = SPEC.replace('["x0", "x1"], target = "y"', '["a", "b"], target = "c"')
    (tmp_path / "other.toml").write_text(other)
    releases = lambda moments: moments.release(epsilon=0.1).json["all_releases"]["releases"]
    assert releases(dpgp.Moments(SPEC).add(frame)) == 1
    assert releases(dpgp.Moments(other).add(polars.from_pandas(frame))) == 2
    assert releases(dpgp.Moments(other).add(frame.to_dict("list"))) == 3
    command("stats", "other.toml", "rows.csv", "--out", "rows.stats")
    by_command, by_frame = (facts(data)["identity"] for data in ((tmp_path / "rows.stats").read_bytes(), dpgp.Moments(other).add(frame).to_bytes()))
    assert by_command == by_frame


def test_a_column_more_or_less_is_no_new_budget(rows):
    """Guard against rows that a ledger does not recognise by a single column of a fit."""
    X, y = rows.X[:500], rows.y[:500]
    budget = dict(epsilon=1.0, delta=1e-6, budget=(1.2, 1e-6), target_bounds=(-2.0, 3.0), lengthscale=2.0)
    fit = lambda X, y: dpgp.DPGPRegressor(**budget, input_bounds=(0.0, 10.0)).fit(X, y)
    fit(X, y)
    others = [
        (np.column_stack([X, np.full(500, 0.3)]), y),
        (np.column_stack([X[:, 0], X[:, 0]]), y),
        (X[:, :1], y),
        (X[:, 1:], y),
        (X[::2, :1], y[::2]),
        (X, np.where(y > 0.5, 1.0, 0.0)),
        (12.0 * X, y),
        (y[:, None], X[:, 0]),
        (X.astype("float32")[:, :1], y.astype("float32")),
        (np.vstack([X, X[:30] + 0.001])[:, :1], np.append(y, y[:30])),
    ]
    for X_, y_ in others:
        with pytest.raises(dpgp.BudgetError):
            fit(X_, y_)
    # Another guarantee cannot be counted with it, and is refused, too.
    with pytest.raises(dpgp.LedgerError):
        dpgp.DPDensity(epsilon=1.0, delta=1e-6, budget=(1.2, 1e-6), input_bounds=(0.0, 10.0), bins=5).fit(X[:, :1])


def test_predictions_are_those_of_the_command(rows, command, tmp_path):
    release = dpgp.Moments(SPEC, ledger=False).add(np.column_stack([rows.X, rows.y])).release()
    release.write(tmp_path / "release.json")
    points = rows.X[:50]
    lines = ["x0,x1"] + [f"{a!r},{b!r}" for a, b in points.tolist()]
    (tmp_path / "grid.csv").write_text("\n".join(lines) + "\n")
    kernel = 'matern = { smoothness = "3/2", variance = 0.5, lengthscales = [2.0] }'
    for options, asked in [((), {}), (("--kernel", kernel), {"kernel": kernel})]:
        said = command("predict", "--from", "release.json", "--at", "grid.csv", "--format", "json", *options)
        told = json.loads(said.stdout)["predictions"]
        found = release.predict(points, **asked)
        low, high = found.interval(0.95)
        assert [row["private_mean"] for row in told] == found.mean.tolist()
        assert [row["noise_sd"] for row in told] == found.noise_sd.tolist()
        np.testing.assert_allclose([row["low"] for row in told], low, rtol=1e-12, atol=1e-12)


def test_tables_of_all_kinds_are_the_same_rows(rows):
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = {"y": rows.y, "other": rows.y, "x1": rows.X[:, 1].copy(), "x0": rows.X[:, 0].copy()}
    whole = facts(dpgp.Moments(SPEC).add(np.column_stack([rows.X, rows.y])).to_bytes())
    table = pyarrow.table(columns)
    tables = [columns, pandas.DataFrame(columns), polars.DataFrame(columns), table, table.to_batches()[0]]
    # A frame is known by all its columns, whatever kind it is; what is summed is the same as of an array without the other one.
    known = facts(dpgp.Moments(SPEC).add(columns).to_bytes())
    assert known.pop("identity") != whole["identity"]
    assert known == {name: value for name, value in whole.items() if name != "identity"}
    known = facts(dpgp.Moments(SPEC).add(columns).to_bytes())
    for table in tables:
        assert facts(dpgp.Moments(SPEC).add(table).to_bytes()) == known, type(table)
    for array in [np.asfortranarray(np.column_stack([rows.X, rows.y])), np.column_stack([rows.X, rows.y])[::1]]:
        assert facts(dpgp.Moments(SPEC).add(array).to_bytes()) == whole, array.flags


@pytest.mark.parametrize(
    "batch, said",
    [
        ({"x0": [1.0, float("nan")], "x1": [1.0, 2.0], "y": [1.0, 2.0]}, "rows: row 2, column \"x0\""),
        ({"x0": [1.0], "x1": [1.0, 2.0], "y": [1.0, 2.0]}, "differ in length"),
        ({"x0": [1.0], "x1": [1.0]}, "no column 'y'"),
        ({"x0": ["a secret"], "x1": [1.0], "y": [1.0]}, "a cell is not a number"),
        (np.zeros((3, 2)), "2 columns, but the spec sums 3"),
        (np.zeros(3), "Expected 2D array"),
    ],
)
def test_wrong_rows_are_refused(batch, said):
    moments = dpgp.Moments(SPEC).add(np.ones((4, 3)))
    before = moments.to_bytes()
    with pytest.raises(dpgp.InputError) as raised:
        moments.add(batch)
    assert said in str(raised.value) and "secret" not in str(raised.value)
    assert moments.to_bytes() == before


def test_a_wrong_spec_has_the_words_of_the_command(command, tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC.replace("low = -2.0", "low = 5.0"))
    (tmp_path / "rows.csv").write_text("x0,x1,y\n1,1,1\n")
    with pytest.raises(dpgp.InputError) as raised:
        dpgp.Moments("spec.toml")
    said = command("stats", "spec.toml", "rows.csv", "--out", "rows.stats", succeeds=False).stderr
    assert said.strip() == f"error: {raised.value}".strip()
