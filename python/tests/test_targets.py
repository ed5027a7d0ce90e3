"""Tests of releases that hide targets, of public inputs."""

import csv
import io
import json
import pickle
import warnings

import numpy as np
import pytest

import dpgp

PUBLIC = dict(epsilon=1.0, delta=1e-5, target_bounds=(0.0, 40.0), private="targets")


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(3)
    X = generator.uniform(0.0, 10.0, (400, 2))
    truth = 20.0 + 8.0 * np.sin(X[:, 0] / 2.0) + 0.5 * X[:, 1]
    return X, truth, truth + generator.standard_normal(400)


@pytest.fixture(scope="module")
def fitted(rows, tmp_path_factory):
    return dpgp.DPGPRegressor(**PUBLIC, ledger=False).fit(rows[0], rows[2])


def test_predictions_hold_the_truth(rows):
    """On average over 20 releases. In one release all errors have one cause, its noise: coverage has a standard deviation of .09."""
    X, truth, y = rows
    error = lambda found: np.sqrt(np.mean((found - truth) ** 2))
    errors, coverages = [], []
    for _ in range(20):
        released = dpgp.DPGPRegressor(**PUBLIC, ledger=False).fit(X, y)
        mean, low, high = released.predict(X, return_interval=0.9)
        errors.append(error(mean))
        coverages.append(np.mean((low <= truth) & (truth <= high)))
    # Measured over 60 releases: errors 3.12 +- .73, coverages .936 +- .092. The limits are more than five standard errors away.
    assert np.mean(errors) < 4.0 < error(np.mean(truth))
    assert np.mean(coverages) > 0.8


def test_the_certificate_states_what_is_private(fitted):
    assert "one target changes by <= 40.0" in fitted.certificate_["text"]
    assert fitted.certificate_["epsilon"] == 1.0 and fitted.certificate_["delta_exact"] <= 1e-5
    assert "no ledger" in fitted.certificate_["ledger"]


def test_a_release_predicts_what_the_command_predicts(rows, command, tmp_path):
    """To the last bit at the points of the release, which the command has computed, and as often as it is read."""
    X, _, y = rows
    fitted = dpgp.DPGPRegressor(**PUBLIC).fit(X, y)
    written = list(csv.DictReader(io.StringIO(fitted.release_.json["predictions"])))
    points = np.array([[float(row["x0"]), float(row["x1"])] for row in written])
    np.testing.assert_array_equal(points, X)
    found = fitted.release_.predict(points)
    for column, numbers in [("private_mean", found.mean), ("gp_sd", found.gp_sd), ("noise_sd", found.noise_sd)]:
        assert [float(row[column]) for row in written] == numbers.tolist()
    fitted.release_.write("release.json")
    for again in (dpgp.Release.read("release.json"), pickle.loads(pickle.dumps(fitted)).release_):
        np.testing.assert_array_equal(again.predict(points).mean, found.mean)
    with pytest.raises(FileExistsError):
        fitted.release_.write("release.json")
    fitted.release_.write_predictions("p.csv")
    assert "all 5 checks hold" in command("verify", "p.csv.certificate.json", "p.csv").stdout

    # The command knows the same rows, and counts both releases.
    (tmp_path / "spec.toml").write_text(fitted.spec_)
    with (tmp_path / "rows.csv").open("w") as file:
        file.write("x0,x1,y\n" + "".join(f"{a!r},{b!r},{c!r}\n" for (a, b), c in zip(X.tolist(), y.tolist())))
    command("predict", "spec.toml", "--grid", "x0=1..9:3,x1=2", "--out", "q.csv", "--quiet")
    certificate = json.loads((tmp_path / "q.csv.certificate.json").read_text())
    assert certificate["all_releases"]["releases"] == 2
    assert certificate["guarantee"] == fitted.certificate_["text"]


def test_the_ledger_counts_and_refuses(rows):
    X, _, y = rows
    regressor = dpgp.DPGPRegressor(**PUBLIC, budget=(1.2, 1e-5)).fit(X, y)
    assert "one of 1" in regressor.certificate_["ledger"]
    kept = regressor.predict(X[:3])
    with pytest.raises(dpgp.BudgetError):
        regressor.fit(X[::-1], y[::-1])
    np.testing.assert_array_equal(regressor.predict(X[:3]), kept)


def test_words_and_missing_cells(rows):
    pandas = pytest.importorskip("pandas")
    X, _, y = rows
    frame = pandas.DataFrame({"dose": X[:, 0], "sex": np.where(X[:, 1] > 5.0, "F", "M")})
    y = pandas.Series(y, name="effect")
    settings = PUBLIC | dict(encode={"sex": ["F", "M"]}, ledger=False)
    fitted = dpgp.DPGPRegressor(**settings).fit(frame, y)
    assert 'target = "effect"' in fitted.spec_ and np.isfinite(fitted.predict(frame[:2])).all()
    frame.loc[3, "sex"] = "X"
    # Inputs are public, so that the message may name what they hold.
    with pytest.raises(dpgp.InputError, match="sex"):
        dpgp.DPGPRegressor(**settings).fit(frame, y)
    frame.loc[3, "sex"] = None
    with pytest.raises(dpgp.InputError):
        dpgp.DPGPRegressor(**settings).fit(frame, y)
    dpgp.DPGPRegressor(**settings, missing="drop").fit(frame, y)
    # Not where the target is missing: the message says nothing of which.
    y[7] = np.nan
    with pytest.raises(dpgp.InputError) as raised:
        dpgp.DPGPRegressor(**settings, missing="drop").fit(frame, y)
    assert str(raised.value).startswith("y lacks a target") and "7" not in str(raised.value) and "8" not in str(raised.value)


@pytest.mark.parametrize("private", ["targets", "records"])
def test_a_baseline_is_not_private_and_cannot_be_written(rows, private, state):
    X, truth, y = rows
    bounds = {} if private == "targets" else {"input_bounds": (0.0, 10.0)}
    regressor = dpgp.DPGPRegressor(**PUBLIC | {"epsilon": float("inf"), "private": private}, budget=(1.0, 1e-5), **bounds)
    with pytest.warns(UserWarning, match="not private"):
        regressor.fit(X, y)
    assert np.sqrt(np.mean((regressor.predict(X) - truth) ** 2)) < 0.5
    assert regressor.certificate_["text"].startswith("none") and regressor.certificate_["epsilon"] == float("inf")
    again = pickle.loads(pickle.dumps(regressor))
    for release in (regressor.release_, again.release_):
        with pytest.raises(dpgp.InputError, match="not private"):
            release.write("release.json")
        with pytest.raises(dpgp.InputError, match="not private"):
            release.write_predictions("p.csv")
        # Not by another way, either: nothing in it claims to be private.
        assert "-DP" not in release.text and "-DP" not in pickle.dumps(release).decode(errors="ignore")
        with pytest.raises(dpgp.InputError, match="not private"):
            dpgp.Release(release.text)
    assert not list(state.glob("**/*.ledger.toml"))


@pytest.mark.parametrize("private", ["targets", "records"])
def test_where_warnings_are_errors_the_same_fit_is_charged_once(rows, private):
    X, _, y = rows
    bounds = {} if private == "targets" else {"input_bounds": (0.0, 10.0)}
    regressor = dpgp.DPGPRegressor(**PUBLIC | {"epsilon": 20.0, "private": private}, **bounds)
    texts = set()
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match="above 10"):
                regressor.fit(X, y)
        texts.add(regressor.release_.text)
    assert len(texts) == 1 and "one of 1" in regressor.certificate_["ledger"]


def test_noise_in_units_of_the_target(rows):
    fitted = dpgp.DPGPRegressor(**PUBLIC, noise_sd=5.0, ledger=False).fit(rows[0], rows[2])
    assert "noise_variance = 0.0625\n" in fitted.spec_
    with pytest.raises(dpgp.InputError, match="noise_sd"):
        dpgp.DPGPRegressor(**PUBLIC, noise_sd=0.0, ledger=False).fit(rows[0], rows[2])


def test_a_release_is_drawn(rows, fitted):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    image = fitted.release_.plot()
    assert (image.get_xlabel(), image.get_ylabel()) == ("x0", "x1")
    line = dpgp.DPGPRegressor(**PUBLIC, ledger=False).fit(rows[0][:, :1], rows[2]).release_.plot(level=0.9)
    assert line.get_legend_handles_labels()[1] == ["90% of the function", "mean"]
    sums = dpgp.DPGPRegressor(**PUBLIC | {"private": "records"}, input_bounds=(0.0, 10.0), ledger=False).fit(rows[0], rows[2])
    assert sums.release_.plot(image) is image
    with pytest.raises(dpgp.InputError, match="this release cannot be drawn"):
        dpgp.DPDensity(epsilon=1.0, delta=1e-6, input_bounds=(0.0, 10.0), bins=4, ledger=False).fit(rows[0][:, :1]).release_.plot()


@pytest.mark.parametrize(
    "changed, says",
    [
        ({"private": "inputs"}, 'private must be "records" or "targets"'),
        ({"rows": 400}, "rows is for"),
        ({"epsilon": None}, "epsilon must be a finite number"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": "1"}, "epsilon must be a finite number"),
        ({"budget": 1.0}, "budget must be (epsilon, delta)"),
        ({"encode": {"x0": {"a", "b"}}}, "encode must be a dictionary"),
        ({"target_bounds": None}, "set target_bounds from public knowledge"),
        ({"target_bounds": (5.0, 1.0)}, "low < high"),
        ({"delta": 0.1}, "delta"),
        ({"noise_variance": -1.0}, "noise_variance"),
        ({"lengthscale": [1.0, 2.0, 3.0]}, "lengthscale must be"),
        ({"lengthscale": -1.0}, "lengthscale"),
        ({"kernel": "linear = { variance = 1.0 }"}, "kernel"),
        ({"input_bounds": [(0.0, 1.0)] * 3}, "input_bounds is for 3 inputs"),
    ],
)
def test_mistakes_are_named_and_cost_nothing(rows, changed, says, state):
    with pytest.raises(dpgp.InputError) as raised:
        dpgp.DPGPRegressor(**PUBLIC | changed).fit(rows[0], rows[2])
    assert says in str(raised.value)
    assert not list(state.glob("**/*.ledger.toml"))


def test_another_model_is_refused(rows, fitted):
    with pytest.raises(dpgp.InputError, match="only with the model that it was designed for"):
        fitted.release_.predict(rows[0][:2], noise_variance=0.5)
    with pytest.raises(dpgp.InputError, match="only a release that hides targets"):
        dpgp.Release('{"guarantee": {}, "model": {}}').write_predictions("p.csv")
