"""Run the checks of scikit-learn, except those that privacy does not allow."""

import warnings

import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import dpgp

#: The property of privacy that forbids a check.
CLASSES = "which classes occur may be private: they are named, never read off y, and these data have others"

# Points of the checks lie about 0 and about 100: none is predicted where none can be known.
REGRESSOR = dpgp.DPGPRegressor(
    epsilon=8.0, delta=1e-9, input_bounds=(-5.0, 110.0), target_bounds=(-5.0, 5.0), lengthscale=200.0, additive=True, ledger=False
)
TARGETS = dpgp.DPGPRegressor(epsilon=8.0, delta=1e-9, target_bounds=(-5.0, 5.0), private="targets", ledger=False)
CLASSIFIER = dpgp.DPGPClassifier(
    epsilon=8.0, delta=1e-9, input_bounds=(-5.0, 110.0), classes=(0, 1), lengthscale=200.0, additive=True, ledger=False
)
# One check has ten rows, all of one class. At epsilon = 8, noise hid it in 8 of 150 fits; at 80 it is a sixth of that noise.
SEVERAL = dpgp.DPGPClassifier(
    epsilon=80.0, delta=1e-9, input_bounds=(-5.0, 110.0), classes=(0, 1, 2), lengthscale=200.0, ledger=False
)
DENSITY = dpgp.DPDensity(epsilon=8.0, delta=1e-9, input_bounds=(-5.0, 5.0), bins=2, ledger=False)

LABELS = "which labels occur is private, so none is an error"

#: The exempt checks of an estimator, by what is private, its name, or its number of classes.
EXEMPT = {
    "targets": {"check_regressors_no_decision_function": "a public input that copies the private target would publish it"},
    "DPDensity": {"check_estimators_empty_data_messages": "whether there is one record or none is private"},
    2: {
        "check_classifiers_regression_target": LABELS,
        "check_classifier_not_supporting_multiclass": LABELS,
        "check_classifiers_classes": CLASSES,
    },
    3: {
        "check_classifiers_regression_target": LABELS,
        "check_classifiers_classes": CLASSES,
        "check_classifiers_train": CLASSES,
        "check_decision_proba_consistency": CLASSES,
        "check_dtype_object": CLASSES,
        "check_fit2d_1sample": "more than two classes are for at most nine inputs",
    },
}


@pytest.fixture
def few_releases(monkeypatch):
    """Reuse one release for all fits of rows with the same columns, because conventions do not depend on noise. Of several classes, reuse
    that of the same rows: which class is predicted depends on them."""
    kept, drawn = {}, dpgp.Moments.release

    def release(moments, **asked):
        rows = moments.to_bytes() if "task.dirichlet" in moments._spec else b""
        key = (*moments.columns, rows)
        if key not in kept:
            kept[key] = drawn(moments, **asked)
        return kept[key]

    monkeypatch.setattr(dpgp.Moments, "release", release)
    hidden, drawn_targets = [], dpgp.DPGPRegressor._release_targets

    def release_targets(regressor, core):
        found = next((pair for pair in hidden if pair[0].is_same(core)), None)
        hidden.extend([] if found else [drawn_targets(regressor, core)])
        return found or hidden[-1]

    monkeypatch.setattr(dpgp.DPGPRegressor, "_release_targets", release_targets)


@pytest.mark.parametrize("estimator", [REGRESSOR, TARGETS, CLASSIFIER, SEVERAL, DENSITY], ids=["records", "targets", "classes", "several", "density"])
def test_it_is_an_estimator_of_scikit_learn(estimator, few_releases):
    names = [getattr(estimator, "private", None), type(estimator).__name__, len(getattr(estimator, "classes", ()))]
    exempt = next((EXEMPT[name] for name in names if name in EXEMPT), {})
    done = check_estimator(estimator, expected_failed_checks=exempt, on_fail=None, on_skip=None)
    failed = {check["check_name"]: check["exception"] for check in done if check["status"] == "failed"}
    assert not failed
    # An exemption that is not needed is none.
    assert {check["check_name"] for check in done if check["status"] == "xfail"} == set(exempt)


def test_clones_have_the_same_parameters():
    assert clone(REGRESSOR).get_params() == REGRESSOR.get_params()


def test_a_transformer_that_learns_from_private_rows_is_named():
    import numpy as np
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    generator = np.random.default_rng(1)
    X, y = generator.uniform(-5.0, 5.0, (300, 1)), generator.uniform(-5.0, 5.0, 300)
    with pytest.warns(UserWarning, match="StandardScaler before this DPGPRegressor learns from rows that are private"):
        make_pipeline(StandardScaler(), clone(REGRESSOR)).fit(X, y)
    for pipeline in (make_pipeline(FunctionTransformer(np.abs), clone(REGRESSOR)), make_pipeline(StandardScaler(), clone(TARGETS))):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            pipeline.fit(X, y)
        assert not any("learns from rows" in str(warning.message) for warning in told)
