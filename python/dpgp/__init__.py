"""Differentially private Gaussian processes.

``DPGPRegressor``, ``DPGPClassifier`` and ``DPDensity`` follow the conventions of scikit-learn. ``Moments`` sums rows in batches
and on many machines. ``run`` and ``results`` return the tables of the shipped experiments, and ``audit`` attacks a mechanism
from its outputs. All of them use the library behind the ``dpgp`` command: sums agree to the last bit, and noise and ledgers are the
same.
"""

from ._core import __version__
from .audits import audit
from .classifier import DPGPClassifier
from .density import DPDensity
from .errors import BudgetError, DPGPError, InputError, LedgerError
from .experiments import experiments, results, run
from .moments import Moments
from .regressor import DPGPRegressor
from .release import Predictions, Release

__all__ = [
    "BudgetError",
    "DPDensity",
    "DPGPClassifier",
    "DPGPError",
    "DPGPRegressor",
    "InputError",
    "LedgerError",
    "Moments",
    "Predictions",
    "Release",
    "__version__",
    "audit",
    "experiments",
    "results",
    "run",
]
