"""Tests of the estimators: predictions, refusals and charges."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from conftest import PUBLIC, Rows

import dpgp
from dpgp.release import softmax_means


@pytest.fixture(scope="module")
def fitted(rows):
    # The ledger is of no interest here.
    return dpgp.DPGPRegressor(**PUBLIC, ledger=False).fit(rows.X, rows.y)


def test_intervals_hold_the_truth(rows):
    """On average over 5 releases. In one release all errors have one cause, its noise: coverage has a standard deviation of .03."""
    points = Rows(400, seed=2).X
    truth = Rows.truth(points)
    coverages = []
    for _ in range(5):
        released = dpgp.DPGPRegressor(**PUBLIC, ledger=False).fit(rows.X, rows.y)
        mean, low, high = released.predict(points, return_interval=0.9)
        assert np.sqrt(np.mean((mean - truth) ** 2)) < 0.15
        coverages.append(np.mean((low <= truth) & (truth <= high)))
    # Measured over 40 releases: .936 +- .030.
    assert np.mean(coverages) > 0.85


def test_intervals_are_those_of_the_standard_deviations(rows, fitted):
    points = Rows(400, seed=2).X
    mean, std, low, high = fitted.predict(points, return_std=True, return_interval=0.9)
    np.testing.assert_allclose(high - mean, 1.6448536269514722 * std)
    drawn = fitted.sample(points, n_samples=400, random_state=1)
    np.testing.assert_allclose(drawn.std(axis=1), std, rtol=0.3)


def test_the_certificate_says_what_was_asked_for(fitted):
    assert (fitted.certificate_["epsilon"], fitted.certificate_["delta"]) == (1.0, 1e-6)
    assert fitted.certificate_["delta_exact"] <= 1e-6
    assert "record" in fitted.certificate_["text"]
    assert any("without a ledger" in line for line in fitted.release_.json["not_covered"])


def test_a_fit_that_was_kept_predicts_the_same(rows, fitted):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(rows.X[:9]), fitted.predict(rows.X[:9]))


def test_the_ledger_counts_fits_and_refuses(rows):
    regressor = dpgp.DPGPRegressor(**PUBLIC, budget=(1.2, 1e-6))
    first = regressor.fit(rows.X, rows.y)
    assert first.release_.json["all_releases"]["releases"] == 1
    with pytest.raises(dpgp.BudgetError):
        regressor.fit(rows.X[::-1], rows.y[::-1])


@pytest.mark.parametrize("additive", [None, True])
@pytest.mark.parametrize("binary", [2, 4])
def test_inputs_of_two_values_are_predicted(binary, additive):
    """Guard against rows at the ends of the bounds that are taken for others: means were off by a quarter to a half."""
    generator = np.random.default_rng(2)
    X = generator.uniform(0.0, 1.0, (20_000, 4))
    X[:, :binary] = X[:, :binary].round()
    truth = 100.0 + 3.0 * X[:, 0]
    settings = dict(epsilon=1000.0, delta=1e-6, target_bounds=(80.0, 200.0), input_bounds=(0.0, 1.0), ledger=False, additive=additive)
    with pytest.warns(UserWarning):
        fitted = dpgp.DPGPRegressor(**settings).fit(X, truth + generator.normal(0.0, 9.0, 20_000))
    assert np.sqrt(np.mean((fitted.predict(X[:500]) - truth[:500]) ** 2)) < 1.5


@pytest.mark.parametrize("missing", ["epsilon", "delta", "input_bounds", "target_bounds"])
def test_public_numbers_are_never_guessed(rows, missing):
    # Public inputs have no bounds.
    if missing != "input_bounds":
        with pytest.raises(TypeError, match=missing):
            dpgp.DPGPRegressor(**{name: value for name, value in PUBLIC.items() if name != missing})
    with pytest.raises(dpgp.InputError):
        dpgp.DPGPRegressor(**{**PUBLIC, missing: None}, ledger=False).fit(rows.X, rows.y)


def test_nothing_is_released_without_a_state_folder(rows, monkeypatch):
    for name in ("DPGP_STATE", "XDG_STATE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(dpgp.LedgerError, match="DPGP_STATE"):
        dpgp.DPGPRegressor(**PUBLIC).fit(rows.X, rows.y)


def test_classes_are_told_apart(rows):
    labels = np.where(Rows.truth(rows.X) > 0.5, "high", "low")
    public = {name: value for name, value in PUBLIC.items() if name != "target_bounds"}
    classifier = dpgp.DPGPClassifier(**public, classes=["low", "high"], ledger=False).fit(rows.X, labels)
    assert classifier.score(rows.X, labels) > 0.9
    found = classifier.predict_proba(rows.X[:100])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.min() >= 0.0 and set(classifier.sample(rows.X[:5]).ravel()) <= {"low", "high"}
    with pytest.raises(dpgp.InputError, match="both be numbers or both be words"):
        classifier.fit(rows.X, rows.y)


@pytest.mark.parametrize("classes", [["low", "high"], ["low", "high", "none"]])
@pytest.mark.parametrize("missing", ["refuse", "drop"])
def test_a_label_that_is_no_class_is_no_error(rows, classes, missing):
    """Guards against an oracle: leave out a class, and an error tells whether any row has it."""
    labels = np.where(Rows.truth(rows.X) > 0.5, "high", "low").astype(object)
    public = {name: value for name, value in PUBLIC.items() if name not in ("target_bounds", "lengthscale")}
    for change in ({}, {7: "other"}, {7: 3}):
        for row, label in change.items():
            labels[row] = label
        number = dict(rows=20_000) if missing == "drop" else {}
        classifier = dpgp.DPGPClassifier(**public, classes=classes, missing=missing, ledger=False, lengthscale=2.0, **number)
        assert classifier.fit(rows.X, labels).score(rows.X, labels) > 0.6


SEVERAL = dict(epsilon=1.0, delta=1e-6, input_bounds=[(-10.0, 10.0), (-1.0, 1.0)], classes=["a", "b", "c"])


def three_classes(rows):
    """Three sectors of an ellipse. One label in twenty is any."""
    generator = np.random.default_rng(5)
    X = generator.uniform(-1.0, 1.0, (rows, 2)) * [10.0, 1.0]
    truth = np.array(["a", "b", "c"])[np.digitize(np.arctan2(X[:, 1], X[:, 0] / 10.0), [-1.0, 1.0])]
    return X, truth, np.where(generator.random(rows) < 0.05, generator.choice(["a", "b", "c"], rows), truth)


def test_several_classes_share_one_release():
    X, truth, labels = three_classes(10_000)
    classifier = dpgp.DPGPClassifier(**SEVERAL, ledger=False).fit(X, labels)
    # Measured over 40 releases: .983 +- .004. The largest class has a share of .34.
    assert classifier.score(X, truth) > 0.9
    found = classifier.predict_proba(X[:200])
    assert found.shape == (200, 3) and found.min() >= 0.0
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert classifier.decision_function(X[:5]).shape == (5, 3)
    assert set(classifier.sample(X[:50], 20).ravel()) <= {"a", "b", "c"}
    certificate = classifier.certificate_
    assert certificate["epsilon"] == 1.0 and certificate["delta_exact"] <= 1e-6 and "one record" in certificate["text"]
    assert np.array_equal(pickle.loads(pickle.dumps(classifier)).predict_proba(X[:200]), found)
    assert any("several rows of one person" in limit for limit in certificate["not_covered"])
    assert np.array_equal(dpgp.Release(classifier.release_.text).predict_proba(X[:200]), found)
    with pytest.raises(dpgp.InputError, match="predict_proba"):
        classifier.release_.predict(X[:2])


def test_several_classes_are_charged_once(tmp_path):
    X, _, labels = three_classes(500)
    path = tmp_path / "classes.ledger"
    dpgp.DPGPClassifier(**SEVERAL, ledger=path, budget=(1.1, 1e-5)).fit(X, labels)
    assert path.read_text().count("[[release]]") == 1
    with pytest.raises(dpgp.BudgetError):
        dpgp.DPGPClassifier(**SEVERAL, ledger=path).fit(X, labels)


@pytest.mark.parametrize(
    "settings, words",
    [
        (dict(classes=[0, 1, 2]), "both be numbers or both be words"),
        (dict(classes=["a", "b", "b"]), "different"),
        (dict(classes=["a"]), "two or more"),
        (dict(additive=True), "two classes only"),
        (dict(kernel="eq = { variance = 1.0, lengthscale = 1.0 }"), "two classes only"),
        (dict(lengthscale=0.01), "more than 1000 inducing inputs"),
        (dict(lengthscale=[1.0, 1.0, 1.0]), "one for each of 2 inputs"),
        (dict(lengthscale=-1.0), "above 0"),
        (dict(epsilon=0.0), "epsilon"),
    ],
)
def test_what_several_classes_refuse(settings, words):
    X, _, labels = three_classes(100)
    with pytest.raises(dpgp.InputError, match=words):
        dpgp.DPGPClassifier(**SEVERAL | settings, ledger=False).fit(X, labels)


def test_rows_without_a_class_are_dropped():
    X, truth, labels = three_classes(10_000)
    labels = labels.astype(object)
    labels[::7] = None
    with pytest.raises(dpgp.InputError, match="a label in y is missing"):
        dpgp.DPGPClassifier(**SEVERAL, ledger=False).fit(X, labels)
    fitted = dpgp.DPGPClassifier(**SEVERAL, ledger=False, missing="drop").fit(X, labels)
    assert fitted.score(X, truth) > 0.9


def test_probabilities_are_means_of_the_softmax():
    """Of two classes it is that of the logistic function of the difference, which is normal: integrated on a fine grid."""
    means, sds = np.array([[0.0, 0.0], [1.0, -1.0], [0.5, 2.0]]), np.array([[1.0, 2.0], [0.3, 0.4], [3.0, 0.0]])
    z = np.linspace(-8.0, 8.0, 4001)
    weights = np.exp(-0.5 * z**2)
    difference = (means[:, 0] - means[:, 1])[:, None] + np.hypot(sds[:, 0], sds[:, 1])[:, None] * z
    expected = (weights / (1.0 + np.exp(-difference))).sum(axis=1) / weights.sum()
    # The spread of a mean over 128 pairs is below .02.
    np.testing.assert_allclose(softmax_means(means, sds)[:, 0], expected, atol=0.04)
    exact = np.exp(means) / np.exp(means).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(softmax_means(means, 0.0 * sds), exact, rtol=1e-12)


def test_a_density_is_one_over_the_box(rows):
    X = np.column_stack([rows.X[:, 0], rows.X[:, 0] ** 2 / 10.0])
    density = dpgp.DPDensity(epsilon=1.0, delta=1e-6, input_bounds=(0.0, 10.0), bins=(10, 5)).fit(X)
    assert density.density_.min() >= 0.0
    assert density.density_.sum() * 1.0 * 2.0 == pytest.approx(1.0)
    counts, _, _ = np.histogram2d(X[:, 0], X[:, 1], bins=(10, 5), range=[(0, 10), (0, 10)])
    assert np.abs(density.density_ - counts / counts.sum() / 2.0).max() < 0.002
    drawn = density.sample(1000, random_state=1)
    assert np.isfinite(density.score_samples(drawn)).all() and drawn.shape == (1000, 2)
    assert density.predict([[11.0, 1.0]])[0] == 0.0


def test_many_inputs_are_a_sum_of_functions():
    generator = np.random.default_rng(1)
    X = generator.uniform(0.0, 1.0, (3000, 6))
    regressor = dpgp.DPGPRegressor(
        epsilon=5.0, delta=1e-6, input_bounds=[(0.0, 1.0)] * 6, target_bounds=(-1.0, 1.0), ledger=False
    ).fit(X, np.cos(3.0 * X[:, 0]))
    assert regressor.score(X, np.cos(3.0 * X[:, 0])) > 0.5


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_a_fit(rows):
    many = np.tile(rows.X, (200, 1))
    y = np.tile(rows.y, 200)
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    begun = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            dpgp.DPGPRegressor(**PUBLIC).fit(many, y)
    assert time.monotonic() - begun < 5.0


def test_python_goes_on_while_rows_are_summed(rows):
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.monotonic()
    dpgp.DPGPRegressor(**PUBLIC, ledger=False).fit(rows.X, rows.y)
    seconds = time.monotonic() - begun
    done.set()
    thread.join()
    assert len([at for at in ticks if at >= begun]) > 10 * min(seconds, 1.0)


def test_many_rows_show_a_function_that_varies_fast():
    """With many rows no lengthscale has to be known: this one is a twelfth of the default. Sums of waves err by nearly the
    standard deviation of the function, 2.8."""
    draw = np.random.default_rng(5)
    x = draw.uniform(0.0, 24.0, (30_000, 1))

    def mean(x):
        return 18.0 + 4.0 * np.sin(np.pi * x[:, 0])

    y = mean(x) + draw.uniform(-13.0, 13.0, len(x))
    at = np.linspace(0.3, 23.7, 300)[:, None]
    errors, covered = [], []
    for _ in range(5):
        fitted = dpgp.DPGPRegressor(epsilon=1.0, delta=1e-6, input_bounds=(0.0, 24.0), target_bounds=(0.0, 60.0), ledger=False).fit(x, y)
        found, low, high = fitted.predict(at, return_interval=0.9)
        errors.append(np.sqrt(np.mean((found - mean(at)) ** 2)))
        covered.append(np.mean((low <= mean(at)) & (mean(at) <= high)))
        assert np.mean(high - low) < 8.0 * errors[-1]
    assert np.mean(errors) < 1.2 and np.mean(covered) > 0.75, (errors, covered)
