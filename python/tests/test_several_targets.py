"""Several targets of the same rows: one budget, one charge, all or nothing."""

import json
import math
import pickle

import numpy as np
import pytest

import dpgp

LIMITS = [(0.0, 10.0), (15.0, 35.0)]
#: The mu of epsilon 1 and delta 1e-6, of mpmath.
MU = 0.236704380663


def rows(seed, number=1500):
    generator = np.random.default_rng(seed)
    X = generator.uniform(0.0, 10.0, (number, 1))
    truth = np.column_stack([5.0 + 3.0 * np.sin(X[:, 0]), 20.0 + X[:, 0]])
    return X, truth, truth + 0.5 * generator.standard_normal((number, 2))


def regressor(private, **more):
    options = dict(epsilon=1.0, delta=1e-6, target_bounds=LIMITS, private=private, noise_sd=0.5)
    box = dict(input_bounds=(0.0, 10.0)) if private == "records" else {}
    return dpgp.DPGPRegressor(**(options | box | more))


@pytest.mark.parametrize("private", ["records", "targets"])
def test_targets_share_one_budget(private):
    X, truth, Y = rows(1)
    fitted = regressor(private, budget=(1.0, 1e-6)).fit(X, Y)
    mean, std, low, high = fitted.predict(X, return_std=True, return_interval=0.9)
    assert mean.shape == std.shape == low.shape == high.shape == Y.shape
    releases = [json.loads(release.text) for release in fitted.release_]
    found = [part.get("certificate", part) for part in releases]
    account = [part.get("all_releases") for part in found]
    assert [one["releases"] for one in account] == [2, 2]
    assert all(MU * 0.9999 < one["mu"] <= MU * (1.0 + 1e-9) for one in account)
    for certificate in fitted.certificate_:
        assert certificate["together"]["answers"] == ["y0", "y1"] and certificate["together"]["epsilon"] == 1.0
    # Both mus are the same, and so is their epsilon: of mpmath .688910831, rounded down.
    assert [one["epsilon"] for one in fitted.certificate_] == [0.68891, 0.68891]
    with pytest.raises(dpgp.LedgerError, match="100.0 % of the budget"):
        regressor(private, target_bounds=LIMITS[0], epsilon=0.1).fit(X, Y[:, 0])


def test_the_errors_of_both_are_small():
    """On average over 20 releases, half of the spread of each target."""
    X, truth, Y = rows(2)
    errors = []
    for _ in range(20):
        fitted = regressor("records", ledger=False).fit(X, Y)
        errors.append(np.sqrt(np.mean((fitted.predict(X) - truth) ** 2, axis=0)))
    assert (np.mean(errors, axis=0) < 0.5 * np.std(truth, axis=0)).all()


@pytest.mark.parametrize("private", ["records", "targets"])
def test_all_targets_are_charged_or_none(private):
    X, _, Y = rows(3)
    with pytest.raises(dpgp.LedgerError, match="Nothing was released"):
        regressor(private, budget=(0.9, 1e-6)).fit(X, Y)
    # The whole budget is left.
    regressor(private, target_bounds=LIMITS[0], epsilon=0.9, budget=(0.9, 1e-6)).fit(X, Y[:, 0])


@pytest.mark.parametrize("private", ["records", "targets"])
def test_a_fit_that_was_interrupted_is_not_charged_again(private, monkeypatch):
    X, _, Y = rows(4)
    estimator = regressor(private, budget=(1.0, 1e-6))
    told = []

    def warn(release):
        told.append(release.text)
        if len(told) == 2:
            raise UserWarning("as an error")

    with monkeypatch.context() as patched:
        patched.setattr(dpgp.Release, "warn", warn)
        with pytest.raises(UserWarning, match="as an error"):
            estimator.fit(X, Y)
    again = estimator.fit(X, Y)
    assert [release.text for release in again.release_] == told


def test_names_come_from_a_table():
    pandas = pytest.importorskip("pandas")
    X, _, Y = rows(5, number=300)
    fitted = regressor("records", ledger=False).fit(pandas.DataFrame(X, columns=["age"]), pandas.DataFrame(Y, columns=["pulse", "age"]))
    assert 'target = "pulse"' in fitted.spec_[0] and 'target = "y1"' in fitted.spec_[1]
    assert list(fitted.feature_names_in_) == ["age"]
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(pandas.DataFrame(X, columns=["age"])), fitted.predict(pandas.DataFrame(X, columns=["age"])))
    assert fitted.score(pandas.DataFrame(X, columns=["age"]), Y) == np.mean(
        [part.score(pandas.DataFrame(X, columns=["age"]), Y[:, place]) for place, part in enumerate(fitted.estimators_)]
    )


def test_targets_have_their_own_noise():
    X, _, Y = rows(10, number=300)
    fitted = regressor("records", ledger=False, noise_sd=[0.5, 2.0]).fit(X, Y)
    found = [float(spec.split("noise_variance = ")[1].splitlines()[0]) for spec in fitted.spec_]
    np.testing.assert_allclose(found, [(2.0 * 0.5 / 10.0) ** 2, (2.0 * 2.0 / 20.0) ** 2])


def test_a_fit_of_one_target_forgets_the_others():
    X, _, Y = rows(6, number=300)
    estimator = regressor("records", ledger=False).fit(X, Y)
    estimator.set_params(target_bounds=LIMITS[0]).fit(X, Y[:, 0])
    assert estimator.predict(X).shape == (300,) and not hasattr(estimator, "estimators_")


def test_a_baseline_of_several_targets_is_not_private():
    X, truth, Y = rows(7)
    fitted = regressor("records", epsilon=math.inf).fit(X, Y)
    assert np.sqrt(np.mean((fitted.predict(X) - truth) ** 2)) < 0.3
    with pytest.raises(dpgp.DPGPError, match="not private"):
        fitted.release_[0].write("r.json")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (dict(target_bounds=[(0, 1), (0, 1), (0, 1)]), "target_bounds is for 3 targets, but y has 2 targets"),
        (dict(noise_sd=[1.0, 1.0, 1.0]), "noise_sd is for 3 targets, but y has 2 targets"),
        (dict(allow_caveats=True), "no joint guarantee"),
        (dict(epsilon=-1.0), "epsilon"),
        (dict(delta=2.0), "delta"),
    ],
)
def test_what_is_wrong_is_told(more, message):
    X, _, Y = rows(8, number=300)
    with pytest.raises(dpgp.InputError, match=message):
        regressor("records", **more).fit(X, Y)


def test_one_target_among_several_has_its_own_draws():
    X, _, Y = rows(9, number=300)
    fitted = regressor("records", ledger=False).fit(X, Y)
    with pytest.raises(dpgp.InputError, match=r"estimators_\[place\].sample"):
        fitted.sample(X)
    assert fitted.estimators_[1].sample(X, 3, random_state=0).shape == (300, 3)
