"""scikit-learn's own checks, and what of them privacy does not allow."""

import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import dpgp

NO_DEFAULT = "epsilon, delta and bounds have no defaults: a guessed one would be a promise that nobody made"
CLASSES = "the classes are named in public and never read off y; these data have others"
NOISE = "what is released has noise of the operating system, so that no two fits agree"

REGRESSOR = dpgp.DPGPRegressor(
    epsilon=8.0, delta=1e-9, input_bounds=(-5.0, 5.0), target_bounds=(-5.0, 5.0), lengthscale=20.0, ledger=False
)
CLASSIFIER = dpgp.DPGPClassifier(
    epsilon=8.0, delta=1e-9, input_bounds=(-5.0, 5.0), classes=(0, 1), lengthscale=20.0, ledger=False
)
DENSITY = dpgp.DPDensity(epsilon=8.0, delta=1e-9, input_bounds=(-5.0, 5.0), bins=2, ledger=False)

EXEMPT = {}


@pytest.mark.parametrize("estimator", [REGRESSOR, CLASSIFIER, DENSITY], ids=lambda estimator: type(estimator).__name__)
def test_it_is_an_estimator_of_scikit_learn(estimator):
    exempt = EXEMPT.get(type(estimator).__name__, {})
    done = check_estimator(estimator, expected_failed_checks=exempt, on_fail=None, on_skip=None)
    failed = {check["check_name"]: check["exception"] for check in done if check["status"] == "failed"}
    assert not failed


def test_clones_have_the_same_parameters():
    assert clone(REGRESSOR).get_params() == REGRESSOR.get_params()
